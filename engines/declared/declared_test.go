package declared

import (
	"slices"
	"testing"

	"fiord/job"
)

func TestDrivers(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range Drivers() {
		if d.Name == "" || d.Doc == "" || d.Missing == "" || d.Open != nil || seen[d.Name] {
			t.Errorf("%s: declared twice, without a text, or with an Open", d.Name)
		}
		seen[d.Name] = true
		if d.Options == nil {
			continue
		}
		table, err := job.Declare(d.Options())
		if err != nil {
			t.Errorf("%s: %v", d.Name, err)
			continue
		}
		if len(table.All()) == 0 {
			t.Errorf("%s: an options struct without options", d.Name)
		}
		for _, o := range table.All() {
			if o.Help == "" {
				t.Errorf("%s: option %s has no help", d.Name, o.Name)
			}
		}
	}
}

// TestExternal holds the engines that a default build of fio lacks apart from the others.
func TestExternal(t *testing.T) {
	want := []string{"dev-dax", "dfs", "gfapi", "gfapi_async", "ime_aio", "ime_psync", "ime_psyncv", "libblkio",
		"libcufile", "libhdfs", "libhipfile", "libiscsi", "libpmem", "libzbc", "nbd", "nfs", "rados", "rbd", "rdma",
		"solarisaio", "windowsaio", "xnvme"}
	var got []string
	for _, d := range Drivers() {
		if d.External {
			got = append(got, d.Name)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("external engines are %v, want %v", got, want)
	}
}
