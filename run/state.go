package run

import (
	"sync/atomic"

	"fiord/job"
)

// state is where a job is in its life, in fio's order: everything from stateExited on has ended.
type state uint32

const (
	stateNotCreated state = iota
	stateCreated
	stateInitialized
	stateRamp
	stateSettingUp
	stateRunning
	statePreReading
	stateVerifying
	stateFsyncing
	stateFinishing
	stateExited
	stateReaped
)

// letter is what the status line shows of a job in the state: capitals for sequential work, small letters for random.
func (s state) letter(j *job.Job) byte {
	switch s {
	case stateNotCreated:
		return 'P'
	case stateCreated:
		return 'C'
	case stateInitialized, stateSettingUp:
		return 'I'
	case stateRamp:
		return '/'
	case stateRunning:
		return workLetter(j)
	case statePreReading:
		return 'p'
	case stateVerifying:
		return 'V'
	case stateFsyncing:
		return 'F'
	case stateFinishing:
		return 'f'
	case stateExited:
		return 'E'
	}
	return '_'
}

// workLetter is the letter of a running job.
func workLetter(j *job.Job) byte {
	c := byte('D')
	switch {
	case j.RW.Read && j.RW.Write && j.RWMixRead == 100, j.RW.Read && !j.RW.Write:
		c = 'R'
	case j.RW.Read && j.RW.Write && j.RWMixRead == 0, j.RW.Write && !j.RW.Read:
		c = 'W'
	case j.RW.Read && j.RW.Write:
		c = 'M'
	}
	if j.RW.Random {
		c += 'a' - 'A'
	}
	return c
}

// published is what a worker lets the helper see while it runs. The worker stores it once in a while, never per I/O; the
// padding keeps two workers off one cache line.
type published struct {
	_                [64]byte
	state            atomic.Uint32
	stop             atomic.Bool   // end in order
	yields           atomic.Bool   // the worker yields when the runtime asks it to
	want             atomic.Uint32 // a generation: the helper wants a copy of the statistics
	epoch            atomic.Int64  // clock.Now when the measured part began; 0 before
	bytes            [job.NDirs]atomic.Uint64
	ios              [job.NDirs]atomic.Uint64
	open             atomic.Int32  // files open
	total            atomic.Uint64 // bytes one pass is to move, for the estimate of the end
	latSum, latCount atomic.Uint64 // completion latencies, for steadystate=lat
	rampDone         atomic.Bool   // the helper saw the end of a ramp_size
	_                [64]byte
}

func (p *published) enter(s state)  { p.state.Store(uint32(s)) }
func (p *published) get() state     { return state(p.state.Load()) }
func (p *published) terminate()     { p.stop.Store(true) }
func (p *published) stopping() bool { return p.stop.Load() }
