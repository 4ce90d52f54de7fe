// Package plan is what the host and the guest of the NVMe tests tell each other: the host what to set up and run, the
// guest what came of it.
package plan

// Path is where the guest finds its Plan, as JSON.
const Path = "/plan.json"

// Ready is the line that the guest sends before its Results, once all is set up.
const Ready = "ready"

// Plan is what the guest does.
type Plan struct {
	Modules []Module
	Drives  []Drive
	NullBlk []NullBlk
	Steps   []Step
}

// Module is a kernel module; they are loaded in order.
type Module struct{ File, Params string }

// Drive is a controller with one namespace. The guest binds them one after the other, so that numbers never swap.
type Drive struct{ PCI, Generic string }

// NullBlk is a null_blk device and its settings in configfs.
type NullBlk struct {
	Name     string
	Settings map[string]string
}

// Step is one program to run, or without Args only its Actions.
type Step struct {
	Name    string
	Args    []string
	Dir     string   // where it runs; empty: /tmp
	LimitS  int      // after so many seconds the program is killed
	Before  []Action // done before the program starts
	Actions []Action // done in order while it runs
	Read    []string // files whose contents are wanted afterwards
}

// Action is something done to the machine: it waits for what it is to wait for, then writes.
type Action struct {
	Printed    bool   // wait until the program has printed something
	Path, Text string // what is written where, such as to a file of sysfs; without Path nothing
	Appears    string // wait for this path to be there, afterwards
	Vanishes   string // or for this one not to be
}

// Result is what came of a Step.
type Result struct {
	Name           string
	Exit           int // -1: killed
	Stdout, Stderr string
	Millis         int64
	Errors         []string          // of Actions, and of starting and ending the program
	Files          map[string]string // contents of Read
}
