package stats

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fiord/internal/sysfs"

	"github.com/google/go-cmp/cmp"
)

// fakeSys is a sysfs with a disk sda that has a partition, a disk sdb, and a RAID md0 on both.
type fakeSys struct {
	t    *testing.T
	root string
	now  time.Time
}

func newFakeSys(t *testing.T) *fakeSys {
	f := &fakeSys{t: t, root: t.TempDir(), now: time.Unix(1000, 0)}
	for _, dir := range []string{"devices/sda/queue", "devices/sda/sda1", "devices/sdb/queue", "devices/md0/queue",
		"devices/md0/slaves", "dev/block"} {
		if err := os.MkdirAll(filepath.Join(f.root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"dev/block/8:0":           "../../devices/sda",
		"dev/block/8:1":           "../../devices/sda/sda1",
		"dev/block/8:16":          "../../devices/sdb",
		"dev/block/9:0":           "../../devices/md0",
		"devices/md0/slaves/sda1": "../../sda/sda1",
		"devices/md0/slaves/sdb":  "../../sdb",
	} {
		if err := os.Symlink(to, filepath.Join(f.root, link)); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// count writes a disk's counters: reads, their merges, sectors, ticks, the same of writes, ms in flight and in queue.
func (f *fakeSys) count(disk string, n ...uint64) {
	f.t.Helper()
	text := fmt.Sprintf("%8d %8d %8d %8d %8d %8d %8d %8d        3 %8d %8d 0 0 0 0\n", n[0], n[1], n[2], n[3], n[4], n[5], n[6],
		n[7], n[8], n[9])
	f.write("devices/"+disk+"/stat", text)
}

func (f *fakeSys) write(path, text string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.root, path), []byte(text), 0o666); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fakeSys) util() *DiskUtil {
	return newDiskUtil(sysfs.FS{Root: f.root}, func() time.Time { return f.now })
}

func dev(major, minor uint64) uint64 { return major<<8 | minor }

func TestDiskUtil(t *testing.T) {
	f := newFakeSys(t)
	f.count("sda", 100, 1, 800, 50, 200, 2, 1600, 60, 1<<32-100, 70)
	f.count("sdb", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	f.count("md0", 10, 0, 80, 0, 20, 0, 160, 0, 5, 5)
	u := f.util()
	u.addDevice(dev(9, 0))
	u.addDevice(dev(8, 1))
	u.addDevice(dev(0, 42)) // a file system on no device
	u.Start()
	f.now = f.now.Add(time.Second)
	f.count("sda", 110, 2, 880, 55, 220, 3, 1760, 64, 400, 90) // time in flight has passed 2^32
	u.Update()
	f.now = f.now.Add(time.Second)
	f.count("md0", 11, 0, 88, 0, 20, 0, 160, 0, 5005, 6)
	f.count("sdb", 4, 0, 32, 1, 0, 0, 0, 0, 200, 2)

	sda := Disk{Name: "sda", IOs: [2]uint64{10, 20}, Merges: [2]uint64{1, 1}, Sectors: [2]uint64{80, 160},
		Ticks: [2]uint64{5, 4}, InQueue: 20, IOTicks: 500, Ms: 2000, Util: 25}
	sdb := Disk{Name: "sdb", IOs: [2]uint64{4, 0}, Sectors: [2]uint64{32, 0}, Ticks: [2]uint64{1, 0}, InQueue: 2,
		IOTicks: 200, Ms: 2000, Util: 10}
	md0 := Disk{Name: "md0", IOs: [2]uint64{1, 0}, Sectors: [2]uint64{8, 0}, InQueue: 1, IOTicks: 5000, Ms: 2000, Util: 100,
		Slaves: []Disk{sda, sdb}, Agg: &DiskAgg{IOs: [2]uint64{14, 20}, Merges: [2]uint64{1, 1}, Sectors: [2]uint64{112, 160},
			Ticks: [2]uint64{6, 4}, InQueue: 22, IOTicks: 700, MaxUtil: 25, SlaveCount: 2}}
	if d := cmp.Diff([]Disk{md0, sda, sdb}, u.Result()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestDiskUtilGone reads a disk that vanishes, and one whose counters are not what they should be.
func TestDiskUtilGone(t *testing.T) {
	f := newFakeSys(t)
	f.count("sda", 1, 0, 8, 0, 0, 0, 0, 0, 0, 0)
	f.write("devices/sdb/stat", "1 2 x\n")
	u := f.util()
	u.addDevice(dev(8, 0))
	u.addDevice(dev(8, 16))
	u.Start()
	if err := os.RemoveAll(filepath.Join(f.root, "devices/sda")); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Disk{{Name: "sda"}, {Name: "sdb"}}, u.Result()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestDeviceOf(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	if err := os.WriteFile(there, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	want, ok := deviceOf(there, os.Lstat)
	if !ok {
		t.Fatal("a file has no device")
	}
	if got, ok := deviceOf(filepath.Join(dir, "to be made"), os.Lstat); !ok || got != want {
		t.Errorf("file to be made: %d, %v, want %d", got, ok, want)
	}
	for _, path := range []string{"/dev/null", filepath.Join(dir, "no", "such", "folder")} {
		if got, ok := deviceOf(path, os.Lstat); ok {
			t.Errorf("%s is on device %d", path, got)
		}
	}
	if major, minor := numbers(0x12345<<32 | 0xabc<<8 | 0x678<<20 | 0xef); major != 0x12abc || minor != 0x345678ef {
		t.Errorf("numbers: %#x, %#x", major, minor)
	}
	u := NewDiskUtil()
	u.Add(there)
	u.Add("/dev/null")
	u.Start()
	for _, d := range u.Result() {
		if d.Name == "" || d.Util > 100 {
			t.Errorf("%+v", d)
		}
	}
}

func TestSetScheduler(t *testing.T) {
	f := newFakeSys(t)
	u := f.util()
	disk, err := u.sys.Disk(8, 1)
	if err != nil {
		t.Fatal(err)
	}
	if set, err := u.sys.SetScheduler(disk, "none"); set || err != nil {
		t.Errorf("without a file: %v, %v", set, err)
	}
	f.write("devices/sda/queue/scheduler", "")
	if set, err := u.sys.SetScheduler(disk, "[bfq] none"); !set && err == nil {
		t.Errorf("accepted what the disk does not have: %v, %v", set, err)
	}
	if notes, err := u.SetScheduler("none", []string{"/dev/null"}); notes != nil || err != nil {
		t.Errorf("of a character device: %v, %v", notes, err)
	}
}
