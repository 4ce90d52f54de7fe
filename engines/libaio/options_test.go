package libaio

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"fiord/job"
)

// TestOptions holds the options to fio's list, those that are embedded included.
func TestOptions(t *testing.T) {
	table, err := job.Declare(Driver().Options())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range table.All() {
		got = append(got, d.Name)
	}
	want := []string{"userspace_reap", "nowait", "libaio_vectored", "cmdprio_percentage", "cmdprio_class", "cmdprio_hint",
		"cmdprio", "cmdprio_bssplit"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if d := table.Lookup("libaio_vectored"); d.Kind != job.KindBool {
		t.Errorf("libaio_vectored is a %s", d.Kind)
	}
}
