package sysfs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree makes folders, files and links (whose text begins with "-> ") below a temporary root.
func tree(t *testing.T, files map[string]string) FS {
	t.Helper()
	root := t.TempDir()
	for path, text := range files {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			err = os.Symlink(to, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return FS{Root: root}
}

func TestDisk(t *testing.T) {
	sys := tree(t, map[string]string{
		"dev/block/259:0":                      "-> ../../devices/pci/nvme0n1",
		"dev/block/259:1":                      "-> ../../devices/pci/nvme0n1/nvme0n1p1",
		"dev/block/253:0":                      "-> ../../devices/virtual/dm-0",
		"dev/block/253:1":                      "-> ../../devices/virtual/dm-1",
		"devices/pci/nvme0n1/queue/scheduler":  "[none] mq-deadline",
		"devices/pci/nvme0n1/nvme0n1p1/stat":   "",
		"devices/virtual/dm-0/queue/scheduler": "none",
		"devices/virtual/dm-0/slaves/one":      "-> ../../../pci/nvme0n1/nvme0n1p1",
		"devices/virtual/dm-1/slaves/none":     "-> ../../../pci/gone",
	})
	nvme := Disk{Name: "nvme0n1", Dir: filepath.Join(sys.Root, "devices/pci/nvme0n1")}
	for _, minor := range []uint32{0, 1} {
		got, err := sys.Disk(259, minor)
		if err != nil || got != nvme {
			t.Errorf("259:%d is %+v, %v, want %+v", minor, got, err, nvme)
		}
	}
	if _, err := sys.Disk(0, 30); !errors.Is(err, ErrNoDisk) {
		t.Errorf("0:30: error is %v, want ErrNoDisk", err)
	}
	dm, err := sys.Disk(253, 0)
	if err != nil {
		t.Fatal(err)
	}
	slaves, err := sys.Slaves(dm)
	if d := cmp.Diff([]Disk{nvme}, slaves); d != "" || err != nil {
		t.Errorf("slaves: %v (-want +got):\n%s", err, d)
	}
	if slaves, err := sys.Slaves(nvme); slaves != nil || err != nil {
		t.Errorf("slaves of a disk without: %v, %v", slaves, err)
	}
	broken, _ := sys.Disk(253, 1)
	if _, err := sys.Slaves(broken); err == nil {
		t.Error("a slave that leads nowhere is no error")
	}
	if set, err := sys.SetScheduler(nvme, "bfq"); set || err == nil {
		t.Errorf("scheduler that was not chosen: %v, %v", set, err)
	}
	if set, err := sys.SetScheduler(dm, "none"); set || err != nil {
		t.Errorf("disk without schedulers: %v, %v", set, err)
	}
	if set, err := sys.SetScheduler(broken, "none"); set || err != nil {
		t.Errorf("disk without a scheduler file: %v, %v", set, err)
	}
	if _, err := sys.Stat(nvme); err == nil {
		t.Error("no stat file is no error")
	}
}

func TestParseStat(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Stat
		ok         bool
	}{
		{"kernel 6", "54657 8560 2590202 17474 7257 27358 1911880 6914 3 9408 26252 7405 84 517888 1464 803 398\n",
			Stat{IOs: [2]uint64{54657, 7257}, Merges: [2]uint64{8560, 27358}, Sectors: [2]uint64{2590202, 1911880},
				Ticks: [2]uint64{17474, 6914}, IOTicks: 9408, InQueue: 26252}, true},
		{"kernel 4, negative in flight", "1 2 3 4 5 6 7 8 -1 9 10",
			Stat{IOs: [2]uint64{1, 5}, Merges: [2]uint64{2, 6}, Sectors: [2]uint64{3, 7}, Ticks: [2]uint64{4, 8}, IOTicks: 9,
				InQueue: 10}, true},
		{"short", "1 2 3", Stat{}, false},
		{"no number", "1 2 3 4 x 6 7 8 9 10 11", Stat{}, false},
		{"empty", "", Stat{}, false},
	} {
		got, err := parseStat(c.text)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("1 2 3 4 5 6 7 8 9 10 11\n")
	f.Add("18446744073709551616 0 0 0 0 0 0 0 0 0 0")
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := parseStat(text); err != nil && s != (Stat{}) {
			t.Errorf("%v with %v", s, err)
		}
	})
}
