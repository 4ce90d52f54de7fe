package enginetest

import (
	"slices"
	"syscall"
	"time"

	"fiord/engines"
	"fiord/job"
)

// Script says how a Fake behaves. The zero Script is an engine that completes everything in order, in full, at the next
// Reap. I/Os are counted from 0 in the order in which they are accepted, all operations together.
type Script struct {
	Newest    bool                  // the latest I/O completes first
	Short     map[int]int           // bytes that the nth I/O moves
	Fail      map[int]syscall.Errno // errno of the nth I/O
	Late      map[int]int           // the nth I/O completes this many Reap calls later than the others would
	Lose      map[int]bool          // the nth I/O never completes
	Depth     int                   // most I/Os in flight; 0: no limit of its own
	PerSubmit int                   // most I/Os accepted in one Submit; 0: no limit
	PerReap   int                   // most I/Os handed back in one Reap; 0: no limit
	Busy      int                   // the first so many Submit calls accept nothing
	SubmitErr error                 // returned by the SubmitErrAt-th Submit call
	ReapErr   error                 // returned by the ReapErrAt-th Reap call

	SubmitErrAt, ReapErrAt int // from 0
}

// Record is one I/O that a Fake accepted.
type Record struct {
	Op     engines.Op
	File   string
	Offset int64
	Len    int
	Index  uint32
}

// Fake is a scripted engine on a clock of its own: a Reap that must wait moves that clock and returns, it never sleeps.
type Fake struct {
	Script
	Log             []Record      // every I/O accepted, in order
	Submits, Reaps  int           // calls so far
	Waited          time.Duration // time that Reap would have slept on I/O that never came
	Closed          bool
	ClosedInFlight  int // I/Os in flight at Close
	flight, scratch []pending
	next            int
}

type pending struct {
	u     *engines.IO
	nth   int
	ready int // number of the Reap call from which on it can be reaped
}

// NewFake makes a Fake that follows s.
func NewFake(s Script) *Fake { return &Fake{Script: s} }

// Driver wraps f for code that opens its engine by name. Every Open returns the same f.
func (f *Fake) Driver(name string, traits job.Traits) *engines.Driver {
	return &engines.Driver{Name: name, Doc: "A scripted engine for tests.", Traits: traits,
		Open: func(*engines.Worker, any) (engines.Engine, error) { return f, nil }}
}

// InFlight is how many I/Os were accepted and not yet handed back.
func (f *Fake) InFlight() int { return len(f.flight) }

// Submit accepts what the script lets it.
func (f *Fake) Submit(ios []*engines.IO) (int, error) {
	call := f.Submits
	f.Submits++
	if f.SubmitErr != nil && call == f.SubmitErrAt {
		return 0, f.SubmitErr
	}
	if call < f.Busy {
		return 0, nil
	}
	n := len(ios)
	if f.PerSubmit > 0 {
		n = min(n, f.PerSubmit)
	}
	if f.Depth > 0 {
		n = min(n, f.Depth-len(f.flight))
	}
	for _, u := range ios[:n] {
		name := ""
		if u.File != nil {
			name = u.File.Name
		}
		f.Log = append(f.Log, Record{u.Op, name, u.Offset, len(u.Buf), u.Index})
		p := pending{u: u, nth: f.next, ready: f.Reaps + f.Late[f.next]}
		f.next++
		f.flight = append(f.flight, p)
	}
	return n, nil
}

// Reap hands back what is ready. When it must wait, the clock of lateness jumps to the I/O that is due next.
func (f *Fake) Reap(done []*engines.IO, least int, wait time.Duration) (int, error) {
	call := f.Reaps
	f.Reaps++
	if f.ReapErr != nil && call == f.ReapErrAt {
		return 0, f.ReapErr
	}
	room := len(done)
	if f.PerReap > 0 {
		room = min(room, f.PerReap)
		least = min(least, room)
	}
	n := f.take(done[:room], call)
	for n < least {
		due := f.nextDue()
		if due < 0 || wait >= 0 && due > call {
			f.Waited += max(wait, 0)
			break
		}
		n += f.take(done[n:room], due)
	}
	return n, nil
}

// take moves what is ready at the given call from the flight to done.
func (f *Fake) take(done []*engines.IO, at int) int {
	if f.Newest {
		slices.Reverse(f.flight)
	}
	n := 0
	f.scratch = f.scratch[:0]
	for _, p := range f.flight {
		if n == len(done) || p.ready > at || f.Lose[p.nth] {
			f.scratch = append(f.scratch, p)
			continue
		}
		f.finish(p)
		done[n] = p.u
		n++
	}
	f.flight = append(f.flight[:0], f.scratch...)
	if f.Newest {
		slices.Reverse(f.flight)
	}
	return n
}

func (f *Fake) finish(p pending) {
	u := p.u
	u.Done, u.Errno = 0, f.Fail[p.nth]
	if u.Errno != 0 || !u.Op.IsData() {
		return
	}
	u.Done = len(u.Buf)
	if u.Op == engines.Trim {
		u.Done = u.Len
	}
	if short, ok := f.Short[p.nth]; ok {
		u.Done = min(short, u.Done)
	}
}

// nextDue is the earliest call at which some I/O is ready, or -1 when nothing will ever complete.
func (f *Fake) nextDue() int {
	due := -1
	for _, p := range f.flight {
		if !f.Lose[p.nth] && (due < 0 || p.ready < due) {
			due = p.ready
		}
	}
	return due
}

// Close notes what was in flight.
func (f *Fake) Close() error {
	f.Closed = true
	f.ClosedInFlight = len(f.flight)
	f.flight = nil
	return nil
}
