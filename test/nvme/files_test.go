package nvme

import (
	"os"
	"path/filepath"
	"testing"

	"fiord/test/nvme/plan"
)

// jobFiles runs what users run first: whole job files, one for each thing that the engine does. What the emulated drive
// lacks has to be said.
func (s *suite) jobFiles(t *testing.T) {
	for name, test := range map[string]func(*testing.T, plan.Result){
		"ways":               fine,
		"protected-extended": fine,
		"protected-separate": fine,
		"ranges":             fine,
		"modes":              says("the drive has no write uncorrectable command"),
		"placement":          says("placement"),
		"scsi":               says("bsg"),
	} {
		text, err := os.ReadFile(filepath.Join("testdata", name+".fio"))
		if err != nil {
			t.Fatal(err)
		}
		s.file("/jobs/"+name+".fio", string(text))
		s.add(name+".fio", 60, test, "/bin/fiord", "/jobs/"+name+".fio")
	}
}
