package zoned_test

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fiord/engines"
	"fiord/engines/all"
	"fiord/job"
	"fiord/workload"
	"fiord/zoned"
)

const mib = 1 << 20

// drive is a host-managed device in memory: zones of 1 MiB with a capacity of 768 KiB, the first one conventional. It
// refuses what such a device refuses.
type drive struct {
	mu      sync.Mutex
	zones   []engines.Zone
	model   engines.ZoneModel
	open    uint32 // its limit
	resets  int
	fail    map[string]error // requests that fail, by name
	tornWP  uint64           // write this much of the next write only, and fail it
	mostSet int              // most zones partly written at once
}

func newDrive(zones int) *drive {
	d := &drive{model: engines.HostManaged, fail: map[string]error{}}
	for i := range zones {
		z := engines.Zone{Start: uint64(i) * mib, WP: uint64(i) * mib, Length: mib, Capacity: 768 << 10, Type: engines.SequentialZone, Cond: engines.ZoneEmpty}
		if i == 0 {
			z.Type, z.Cond, z.Capacity = engines.ConventionalZone, engines.ZoneNoWP, mib
		}
		d.zones = append(d.zones, z)
	}
	return d
}

func (d *drive) ZoneModel(*engines.File) (engines.ZoneModel, error) { return d.model, d.fail["model"] }

func (d *drive) ZoneLimits(*engines.File) (open, active uint32, err error) {
	return d.open, 0, d.fail["limits"]
}

func (d *drive) ReportZones(_ *engines.File, from uint64, zones []engines.Zone) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return copy(zones, d.zones[from/mib:]), d.fail["report"]
}

func (d *drive) each(offset, length uint64, name string, do func(z *engines.Zone)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.fail[name]; err != nil {
		return err
	}
	for at := offset; at < offset+length; at += mib {
		do(&d.zones[at/mib])
	}
	return nil
}

func (d *drive) ResetZones(_ *engines.File, offset, length uint64) error {
	return d.each(offset, length, "reset", func(z *engines.Zone) {
		z.WP, z.Cond = z.Start, engines.ZoneEmpty
		d.resets++
	})
}

func (d *drive) FinishZones(_ *engines.File, offset, length uint64) error {
	return d.each(offset, length, "finish", func(z *engines.Zone) { z.Cond = engines.ZoneFull })
}

func (d *drive) FillZone(_ *engines.File, z *engines.Zone, length uint64, _ []byte) error {
	return d.each(z.Start, 1, "fill", func(have *engines.Zone) { have.WP += length })
}

// do is what the drive does with u.
func (d *drive) do(u *engines.IO) {
	d.mu.Lock()
	defer d.mu.Unlock()
	z := &d.zones[u.Offset/mib]
	n := uint64(len(u.Buf))
	at := uint64(u.Offset)
	u.Errno, u.Done = 0, len(u.Buf)
	switch {
	case z.Type == engines.ConventionalZone:
	case u.Op == engines.Read:
		if z.Cond != engines.ZoneFull && at+n > z.WP {
			u.Errno = syscall.ENODATA // this drive is strict
		}
	case u.Op == engines.Write:
		if at != z.WP || at+n > z.Start+z.Capacity || z.Cond == engines.ZoneFull {
			u.Errno = syscall.EIO
			break
		}
		if d.tornWP > 0 {
			z.WP += d.tornWP
			d.tornWP, u.Errno = 0, syscall.EIO
			break
		}
		z.WP += n
		z.Cond = engines.ZoneImpOpen
		if z.WP == z.Start+z.Capacity {
			z.Cond = engines.ZoneFull
		}
		open := 0
		for i := range d.zones {
			if d.zones[i].Cond == engines.ZoneImpOpen {
				open++
			}
		}
		d.mostSet = max(d.mostSet, open)
	}
	if u.Errno != 0 {
		u.Done = 0
	}
}

// load reads one job.
func load(t testing.TB, text string) *job.Job {
	t.Helper()
	text = "[j]\nioengine=psync\nfilename=/dev/drive\nzonemode=zbd\ndirect=1\n" + strings.ReplaceAll(text, " ", "\n") + "\n"
	var decls []job.EngineDecl
	for _, d := range all.Drivers() {
		decls = append(decls, d.Decl())
	}
	l := job.Loader{Engines: decls}
	l.AddText("test.fio", text)
	jobs, _, _, err := l.Load()
	if err != nil {
		t.Fatal(err)
	}
	return jobs[0]
}

// user is a job on a drive, with up to depth I/Os in flight.
type user struct {
	d     *drive
	z     *zoned.Job
	gen   *workload.Generator
	depth int
	queue []*engines.IO
	file  *engines.File

	log    []string
	resets int
	errs   int
	notes  []string
}

func newUser(t testing.TB, d *drive, r *zoned.Registry, text string, depth int) (*user, error) {
	j := load(t, text)
	w := &user{d: d, depth: depth, file: &engines.File{Name: "/dev/drive", Fd: -1, Kind: engines.Block}}
	w.z = zoned.New(zoned.Config{Job: j, Sync: depth == 1, Registry: r, Manager: d, Quiesce: w.drain,
		Resets: func() { w.resets++ }, Unverified: func() bool { return false },
		Note: func(format string, args ...any) { w.notes = append(w.notes, fmt.Sprintf(format, args...)) }})
	size := uint64(len(d.zones)) * mib
	zoneSize, err := w.z.Open(w.file, size)
	if err != nil {
		return nil, err
	}
	j.ZoneSize = zoneSize
	length := size - j.Offset.Value
	if j.Size.Value > 0 {
		length = j.Size.Value
	}
	at, n, err := w.z.Fit(w.file, j.Offset.Value, length, size)
	if err != nil {
		return nil, err
	}
	w.file.Size = int64(size)
	w.gen, err = workload.New(workload.Config{Job: j, Zones: w.z, TotalSize: length, IOSize: j.IOSize.Value,
		Files: []workload.File{{Offset: int64(at), Length: int64(n), Size: int64(size), Name: w.file.Name}}})
	return w, err
}

// drain ends all that is in flight, in order.
func (w *user) drain() bool {
	for len(w.queue) > 0 {
		w.reap()
	}
	return true
}

func (w *user) reap() {
	u := w.queue[0]
	w.queue = w.queue[1:]
	if w.z.Trims(u) {
		w.z.Trim(u)
	} else {
		w.d.do(u)
	}
	if u.Errno != 0 {
		w.errs++
	}
	w.z.Ended(u)
}

// run does a pass.
func (w *user) run() error {
	var r workload.Req
	for w.gen.Next(&r) == workload.Issue {
		u := &engines.IO{Op: r.Op, File: w.file, Offset: r.Offset, Len: r.Len}
		if r.Op != engines.Trim {
			u.Buf = make([]byte, r.Len)
		}
		w.log = append(w.log, fmt.Sprintf("%s %dk %dk", r.Op, r.Offset>>10, r.Len>>10))
		w.queue = append(w.queue, u)
		if len(w.queue) >= w.depth {
			w.reap()
		}
	}
	w.drain()
	return w.gen.Err()
}

func TestJobs(t *testing.T) {
	for _, c := range []struct {
		name, text string
		before     func(*drive)
		resets     int
		states     string // of the zones behind the conventional one
	}{
		{"write", "rw=write bs=64k offset=1m size=3m io_size=2m", nil, 0, "full full 512k"},
		{"write again", "rw=write bs=64k offset=1m size=2m", func(d *drive) {
			for i := 1; i < 4; i++ {
				d.zones[i].WP, d.zones[i].Cond = d.zones[i].Start+768<<10, engines.ZoneFull
			}
		}, 2, "full full full"},
		{"odd blocks leave a rest", "rw=write bs=100k offset=1m size=2m io_size=900k", nil, 0, "finished 200k 0k"},
		{"rest written", "rw=write bs=100k offset=1m size=2m io_size=900k write_zone_remainder=1", nil, 0, "full 200k 0k"},
		{"conventional zone", "rw=write bs=64k size=2m io_size=1m", nil, 0, "0k 0k 0k"},
		{"read of nothing", "rw=read bs=64k offset=1m size=3m", nil, 0, "0k 0k 0k"},
		{"random read", "rw=randread bs=64k offset=1m size=3m", func(d *drive) {
			d.zones[2].WP, d.zones[2].Cond = d.zones[2].Start+192<<10, engines.ZoneClosed
		}, 0, "0k 192k 0k"},
		{"random write", "rw=randwrite bs=64k offset=1m size=3m io_size=2304k norandommap", nil, -1, ""},
		{"resets", "rw=randwrite bs=64k offset=1m size=3m io_size=6m norandommap zone_reset_threshold=.4 zone_reset_frequency=.2", nil, -1, ""},
		{"mixed", "rw=randrw bs=64k offset=1m size=3m", nil, 0, ""},
		{"trim", "rw=randtrim bs=1m offset=1m size=3m", func(d *drive) {
			d.zones[3].WP, d.zones[3].Cond = d.zones[3].Start+64<<10, engines.ZoneClosed
		}, 1, "0k 0k 0k"},
		{"verify empties first", "rw=write bs=64k offset=1m size=2m verify=crc32c", func(d *drive) {
			d.zones[1].WP, d.zones[1].Cond = d.zones[1].Start+64<<10, engines.ZoneClosed
		}, 1, "full full 0k"},
		{"offline zone", "rw=randwrite bs=64k offset=1m size=3m io_size=1m norandommap", func(d *drive) {
			d.zones[2].Cond = engines.ZoneOffline
		}, 0, ""},
	} {
		for _, depth := range []int{1, 5} {
			t.Run(fmt.Sprint(c.name, " ", depth), func(t *testing.T) {
				d := newDrive(4)
				if c.before != nil {
					c.before(d)
				}
				w, err := newUser(t, d, &zoned.Registry{}, c.text, depth)
				if err != nil {
					t.Fatal(err)
				}
				if err := w.run(); err != nil {
					t.Fatal(err)
				}
				if w.errs > 0 {
					t.Errorf("%d errors", w.errs)
				}
				if c.resets >= 0 && (d.resets != c.resets || w.resets != c.resets) {
					t.Errorf("%d resets, %d counted, want %d", d.resets, w.resets, c.resets)
				}
				if c.resets < 0 && (d.resets == 0 || w.resets != d.resets) {
					t.Errorf("%d resets, %d counted", d.resets, w.resets)
				}
				if got := d.states(); c.states != "" && got != c.states {
					t.Errorf("zones are %s, want %s\n%s", got, c.states, strings.Join(w.log, "\n"))
				}
			})
		}
	}
}

// states are those of the zones with write pointers.
func (d *drive) states() string {
	var s []string
	for _, z := range d.zones[1:] {
		switch {
		case z.WP == z.Start+z.Capacity:
			s = append(s, "full")
		case z.Cond == engines.ZoneFull:
			s = append(s, "finished")
		default:
			s = append(s, fmt.Sprintf("%dk", (z.WP-z.Start)>>10))
		}
	}
	return strings.Join(s, " ")
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		text string
		open uint32
		most int
	}{
		{"max_open_zones=2", 0, 2}, {"max_open_zones=1", 4, 1}, {"", 3, 3}, {"ignore_zone_limits=1 max_open_zones=5", 3, 5},
		{"max_open_zones=4 job_max_open_zones=2", 0, 2},
	} {
		t.Run(c.text, func(t *testing.T) {
			d := newDrive(9)
			d.open = c.open
			w, err := newUser(t, d, &zoned.Registry{}, "rw=randwrite bs=64k offset=1m size=8m io_size=12m norandommap "+c.text, 4)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.run(); err != nil {
				t.Fatal(err)
			}
			if w.errs > 0 || d.mostSet != c.most {
				t.Errorf("%d errors, %d zones open at once, want %d", w.errs, d.mostSet, c.most)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	broken := fmt.Errorf("broken: %w", syscall.EIO)
	for _, c := range []struct {
		text   string
		before func(*drive)
		want   string
	}{
		{"rw=write bs=64k zonesize=2m", nil, "the zones of the device have 1048576 bytes"},
		{"rw=trim bs=64k", nil, "must be that of a zone"},
		{"rw=trim bs=1m bsrange=,,64k-1m", nil, "one block size"},
		{"rw=write bs=64k direct=0", nil, "direct=1"},
		{"rw=write bs=64k max_open_zones=5", func(d *drive) { d.open = 4 }, "at most 4"},
		{"rw=write bs=64k job_max_open_zones=1", nil, "max_open_zones"},
		{"rw=write bs=100 offset=1m size=1m", nil, "multiples of 512"},
		{"rw=read bs=64k offset=1m size=2m zoneskip=100k", nil, "multiple of the zones"},
		{"rw=write bs=64k offset=1100k size=64k", nil, "at least one zone"},
		{"rw=write bs=64k offset=1m size=512k", nil, "at least one zone"},
		{"rw=write bs=64k max_open_zones=1", func(d *drive) { d.zones[1].Cond, d.zones[2].Cond = engines.ZoneImpOpen, engines.ZoneExpOpen }, "more zones are open"},
		{"rw=write bs=64k", func(d *drive) { d.model = engines.NotZoned }, "zonesize"},
		{"rw=write bs=64k zonesize=1m zonecapacity=2m", func(d *drive) { d.model = engines.NotZoned }, "zonecapacity"},
		{"rw=write bs=64k zonesize=100m", func(d *drive) { d.model = engines.NotZoned }, "less than one zone"},
		{"rw=write bs=64k", func(d *drive) { d.fail["report"] = broken }, "broken"},
		{"rw=write bs=64k", func(d *drive) { d.fail["model"] = broken }, "broken"},
		{"rw=write bs=64k", func(d *drive) { d.fail["limits"] = broken }, "broken"},
		{"rw=write bs=64k", func(d *drive) { d.zones[2].Start++ }, "starts at"},
		{"rw=write bs=64k", func(d *drive) { d.zones[2].WP = 0 }, "write pointer"},
		{"rw=write bs=64k", func(d *drive) { d.zones[2].Capacity = 2 * mib }, "capacity"},
	} {
		t.Run(c.text+" "+c.want, func(t *testing.T) {
			d := newDrive(4)
			if c.before != nil {
				c.before(d)
			}
			if _, err := newUser(t, d, &zoned.Registry{}, c.text, 1); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestFailures has requests fail while a job runs.
func TestFailures(t *testing.T) {
	broken := fmt.Errorf("broken: %w", syscall.EIO)
	for _, c := range []struct{ text, what string }{
		{"rw=randwrite bs=64k offset=1m size=2m io_size=4m norandommap", "reset"},
		{"rw=write bs=100k offset=1m size=2m", "finish"},
		{"rw=write bs=64k offset=1m size=2m verify=crc32c", "reset"},
	} {
		d := newDrive(4)
		d.zones[1].WP = d.zones[1].Start + 64<<10
		d.fail[c.what] = broken
		w, err := newUser(t, d, &zoned.Registry{}, c.text, 2)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.run(); err == nil || !strings.Contains(err.Error(), "broken") {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// TestRecovery tears a write: the write pointer is found and the rest filled, so that the job goes on.
func TestRecovery(t *testing.T) {
	for _, depth := range []int{1, 3} {
		d := newDrive(4)
		d.tornWP = 16 << 10
		w, err := newUser(t, d, &zoned.Registry{}, "rw=write bs=64k offset=1m size=3m io_size=2m recover_zbd_write_error=1 continue_on_error=all", depth)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.run(); err != nil {
			t.Fatal(err)
		}
		if got := d.states(); w.errs > depth || got != "full full 512k" {
			t.Errorf("depth %d: %d errors, zones are %s %v", depth, w.errs, got, w.notes)
		}
	}
}

// TestShared has jobs on one drive at a time: no write may miss its write pointer, and no job may wait for ever.
func TestShared(t *testing.T) {
	for _, limit := range []string{"max_open_zones=3", "max_open_zones=6 job_max_open_zones=2", ""} {
		d, r := newDrive(9), &zoned.Registry{}
		var users []*user
		for i := range 4 {
			rw := []string{"randwrite", "randwrite", "randrw", "write"}[i]
			w, err := newUser(t, d, r, "rw="+rw+" bs=64k offset=1m size=8m io_size=10m norandommap "+limit, 1+i)
			if err != nil {
				t.Fatal(err)
			}
			users = append(users, w)
		}
		var all sync.WaitGroup
		for _, w := range users {
			all.Go(func() {
				if err := w.run(); err != nil {
					t.Error(err)
				}
				w.z.Close()
			})
		}
		all.Wait()
		for i, w := range users {
			if w.errs > 0 {
				t.Errorf("%q: job %d had %d errors", limit, i, w.errs)
			}
		}
	}
}

// TestOrder is one sequence in full: a limit of two zones, whose list is passed through in order.
func TestOrder(t *testing.T) {
	d := newDrive(4)
	w, err := newUser(t, d, &zoned.Registry{}, "rw=write bs=256k offset=1m size=3m max_open_zones=2", 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.run(); err != nil {
		t.Fatal(err)
	}
	want := []string{"write 1024k 256k", "write 1280k 256k", "write 1536k 256k", "write 2048k 256k", "write 2304k 256k",
		"write 2560k 256k", "write 3072k 256k", "write 3328k 256k", "write 3584k 256k"}
	if diff := cmp.Diff(want, w.log); diff != "" {
		t.Error(diff)
	}
}
