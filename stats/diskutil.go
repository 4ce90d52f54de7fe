package stats

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"fiord/internal/sysfs"
)

// DiskUtil watches the block devices below the files of a run. Its methods may be called from several goroutines.
type DiskUtil struct {
	sys sysfs.FS
	now func() time.Time

	mu      sync.Mutex
	started bool
	disks   []*watched
	known   map[[2]uint32]*watched // by device number; nil where there is no disk
}

// watched is one disk: its counters as last read, and what they have grown by since the start.
type watched struct {
	disk   sysfs.Disk
	at     time.Time
	last   sysfs.Stat
	valid  bool // last has been read
	grown  sysfs.Stat
	spent  time.Duration
	slaves []*watched
}

// NewDiskUtil makes a DiskUtil that watches nothing yet.
func NewDiskUtil() *DiskUtil { return newDiskUtil(sysfs.FS{}, time.Now) }

func newDiskUtil(sys sysfs.FS, now func() time.Time) *DiskUtil {
	return &DiskUtil{sys: sys, now: now, known: map[[2]uint32]*watched{}}
}

// Add watches the disk below a file, which need not exist yet, or the block device that path is. Files on no disk, and
// character devices, sockets and pipes, are passed over.
//
// A symbolic link stands for itself, as in fio: below it is the disk of its folder.
func (u *DiskUtil) Add(path string) {
	if dev, ok := deviceOf(path, os.Lstat); ok {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.addDevice(dev)
	}
}

// deviceOf is the number of the block device that path is or lies on.
func deviceOf(path string, stat func(string) (os.FileInfo, error)) (dev uint64, ok bool) {
	info, err := stat(path)
	if err != nil {
		info, err = os.Stat(filepath.Dir(path))
	}
	if err != nil {
		return 0, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFBLK:
		return st.Rdev, true
	case syscall.S_IFCHR, syscall.S_IFIFO, syscall.S_IFSOCK:
		return 0, false
	}
	return st.Dev, true
}

// numbers splits a dev_t as the kernel packs it for user space.
func numbers(dev uint64) (major, minor uint32) {
	return uint32(dev>>32)&^0xfff | uint32(dev>>8)&0xfff, uint32(dev>>12)&^0xff | uint32(dev)&0xff
}

func (u *DiskUtil) addDevice(dev uint64) {
	major, minor := numbers(dev)
	key := [2]uint32{major, minor}
	if _, ok := u.known[key]; ok {
		return
	}
	u.known[key] = nil
	if disk, err := u.sys.Disk(major, minor); err == nil {
		u.known[key] = u.watch(disk)
	}
}

// watch adds a disk and those that it is built of, each once; fio lists the disk before its slaves.
func (u *DiskUtil) watch(disk sysfs.Disk) *watched {
	for _, w := range u.disks {
		if w.disk.Name == disk.Name {
			return w
		}
	}
	w := &watched{disk: disk}
	u.disks = append(u.disks, w)
	if u.started {
		u.look(w)
	}
	slaves, _ := u.sys.Slaves(disk) // without them there is still the disk
	for _, s := range slaves {
		w.slaves = append(w.slaves, u.watch(s))
	}
	return w
}

// Start begins to count.
func (u *DiskUtil) Start() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.started = true
	for _, w := range u.disks {
		*w = watched{disk: w.disk, slaves: w.slaves}
		u.look(w)
	}
}

// Update reads the counters. It must be called at least once an hour or so, because some of them have 32 bits.
func (u *DiskUtil) Update() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.started {
		for _, w := range u.disks {
			u.look(w)
		}
	}
}

// look reads one disk's counters and adds their growth. A disk that cannot be read, because it has gone, stays as it
// is.
func (u *DiskUtil) look(w *watched) {
	st, err := u.sys.Stat(w.disk)
	if err != nil {
		return
	}
	now := u.now()
	if w.valid {
		w.grow(&st)
		w.spent += now.Sub(w.at)
	}
	w.last, w.at, w.valid = st, now, true
}

func (w *watched) grow(st *sysfs.Stat) {
	g, l := &w.grown, &w.last
	for d := range 2 {
		g.IOs[d] += st.IOs[d] - l.IOs[d]
		g.Merges[d] += st.Merges[d] - l.Merges[d]
		g.Sectors[d] += st.Sectors[d] - l.Sectors[d]
		g.Ticks[d] += since(st.Ticks[d], l.Ticks[d])
	}
	g.IOTicks += since(st.IOTicks, l.IOTicks)
	g.InQueue += since(st.InQueue, l.InQueue)
}

// since is how far a time counter has come from old. The kernel prints these as 32-bit numbers, which wrap.
func since(now, old uint64) uint64 {
	if now < old && old < 1<<32 {
		return 1<<32 + now - old
	}
	return now - old
}

// Result reads the counters once more and gives what each disk did since Start, in the order in which the disks were
// added.
func (u *DiskUtil) Result() []Disk {
	u.Update()
	u.mu.Lock()
	defer u.mu.Unlock()
	out := make([]Disk, 0, len(u.disks))
	for _, w := range u.disks {
		d := w.result()
		for _, s := range w.slaves {
			d.Slaves = append(d.Slaves, s.result())
		}
		if len(d.Slaves) > 0 {
			d.Agg = aggregate(d.Slaves)
		}
		out = append(out, d)
	}
	return out
}

func (w *watched) result() Disk {
	g := &w.grown
	d := Disk{Name: w.disk.Name, IOs: g.IOs, Merges: g.Merges, Sectors: g.Sectors, Ticks: g.Ticks, InQueue: g.InQueue,
		IOTicks: g.IOTicks, Ms: uint64(w.spent / time.Millisecond)}
	if d.Ms > 0 {
		d.Util = min(100*float64(d.IOTicks)/float64(d.Ms), 100)
	}
	return d
}

// aggregate sums the slaves up; the busiest of them sets the utilisation.
func aggregate(slaves []Disk) *DiskAgg {
	a := &DiskAgg{SlaveCount: len(slaves)}
	for i := range slaves {
		s := &slaves[i]
		add(a.IOs[:], s.IOs[:])
		add(a.Merges[:], s.Merges[:])
		add(a.Sectors[:], s.Sectors[:])
		add(a.Ticks[:], s.Ticks[:])
		a.InQueue += s.InQueue
		a.IOTicks += s.IOTicks
		a.MaxUtil = max(a.MaxUtil, s.Util)
	}
	return a
}

// SetScheduler makes the disks below the files use an I/O scheduler (ioscheduler). Files on no disk are passed over.
// The notes tell of disks that have no schedulers.
func (u *DiskUtil) SetScheduler(name string, paths []string) (notes []string, err error) {
	for _, path := range paths {
		dev, ok := deviceOf(path, os.Stat)
		if !ok {
			continue
		}
		disk, err := u.sys.Disk(numbers(dev))
		if err != nil {
			continue
		}
		set, err := u.sys.SetScheduler(disk, name)
		if err != nil {
			return notes, err
		}
		if !set {
			notes = append(notes, fmt.Sprintf("ioscheduler: %s has no schedulers to choose from", disk.Name))
		}
	}
	return notes, nil
}
