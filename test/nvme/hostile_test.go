package nvme

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"fiord/test/nvme/plan"
)

// The drives of the hostile machine, by their number.
const (
	faulty        = iota // fails reads of badRead and writes of badWrite
	resetting            // whose controller is reset
	removed              // taken away
	removedPolled        // taken away while it is polled
	removedBlock         // taken away under the block layer
	slow                 // so that commands time out
	protected            // takes no writes
	healthy
)

const badRead, badWrite = 1 << 20, 2 << 20

var hostileDrives = []drive{
	faulty: {size: 256, props: lba4k, faults: fmt.Sprintf("[inject-error]\nevent = \"read_aio\"\nerrno = \"5\"\nsector = \"%d\"\n\n"+
		"[inject-error]\nevent = \"write_aio\"\nerrno = \"5\"\nsector = \"%d\"\n", badRead/512, badWrite/512)},
	resetting:     {size: 64, props: lba4k},
	removed:       {size: 64, props: lba4k},
	removedPolled: {size: 64, props: lba4k},
	removedBlock:  {size: 64, props: lba4k},
	slow:          {size: 64, props: lba4k, back: ",throttling.iops-total=10"},
	protected:     {size: 64, props: lba4k, back: ",readonly=on"},
	healthy:       {size: 64, props: lba4k},
}

// fails wants one failed job with one of the errors, and a text that says why. I/Os that fail count as issued but move
// nothing, and there are at most as many as were in flight.
func fails(text string, depth uint64, errors ...int) func(*testing.T, plan.Result) {
	return func(t *testing.T, r plan.Result) {
		t.Helper()
		says(text)(t, r)
		j := parse(t, r).Jobs[0]
		if !slices.Contains(errors, j.Error) || r.Exit != 1 {
			t.Errorf("error %d (%#x), exit %d; want one of %d and 1", j.Error, j.Error, r.Exit, errors)
		}
		ios, bytes := j.Read.IOs+j.Write.IOs, j.Read.Bytes+j.Write.Bytes
		if failed := ios - bytes/4096; bytes%4096 != 0 || failed == 0 || failed > depth {
			t.Errorf("%d I/Os of 4096 bytes, %d bytes: %d that failed, want 1 to %d", ios, bytes, failed, depth)
		}
	}
}

// Errors of jobs: those of Linux, and of the drive as far as it answers.
const (
	eintr, eio, efault, enodev, enodata, eopnotsupp = 4, 5, 14, 19, 61, 95
	writeFault, unrecovered                         = 0x280, 0x281
)

// faults are I/Os that the drive itself cannot do.
func (s *suite) faults() {
	args := []string{"--bs=4k", "--size=4m", "--iodepth=4"}
	read, write := append(args[:3:3], "--name=r", "--rw=read"), append(args[:3:3], "--name=w", "--rw=write")
	s.fiord("read fault", faulty, fails("unrecovered read error (sct=0x02; sc=0x81): read offset=1048576", 4, unrecovered), read...)
	s.fiord("write fault", faulty, fails("write fault (sct=0x02; sc=0x80): write offset=2097152", 4, writeFault), write...)
	// As with fio, no drive's own error is one to go on after.
	s.fiord("read fault, going on", faulty, fails("read offset=1048576", 4, unrecovered), append(read, "--continue_on_error=all")...)
	for _, engine := range []string{"io_uring", "libaio", "psync"} {
		s.block("read fault, "+engine, faulty, engine, fails("read offset=1048576", 4, enodata), read...)
		s.block("write fault, "+engine, faulty, engine, fails("write offset=2097152", 4, enodata), write...)
	}
}

// overflows are rings that are smaller than what is in flight.
func (s *suite) overflows() {
	small := []string{"--sq_entries=4", "--cq_entries=4", "--iodepth=64", "--bs=4k", "--size=1m", "--name=r", "--rw=randread"}
	all := done(4096, map[string]counts{"r": {reads: 256}})
	s.fiord("tiny completion queue", healthy, all, small...)
	s.fiord("tiny completion queue, polled", healthy, all, append(small, "--hipri")...)
	s.fiord("tiny completion queue, thread", healthy, all, append(small, "--sqthread_poll")...)
	s.fiord("tiny completion queue, no deferral", healthy, all, append(small, "--defer_taskrun=0")...)
	s.block("tiny completion queue, block layer", healthy, "io_uring", all, small...)
}

// readOnly is a drive that takes no writes.
func (s *suite) readOnly() {
	s.fiord("writing to what is protected", protected, fails("write fault", 1, writeFault), "--name=w", "--rw=write", "--bs=4k", "--size=1m")
	s.fiord("reading what is protected", protected, fine, "--name=r", "--rw=read", "--bs=4k", "--size=1m")
}

// timeouts are commands that take longer than the kernel waits. It resets the controller then, and gives up what was in
// flight; Linux 6.12 fails with EFAULT what it still had to send.
func (s *suite) timeouts() {
	wait := []plan.Action{{Path: "/sys/block/nvme5n1/queue/io_timeout", Text: "1000"}}
	args := []string{"--bs=4k", "--size=8m", "--iodepth=32", "--name=r", "--rw=randread"}
	s.fiord("command timeout", slow, fails("nterrupted system call", 32, eintr, efault), args...).Before = wait
	s.fiord("command timeout of registered buffers", slow, fails("nterrupted system call", 32, eintr, efault),
		append(args, "--fixedbufs", "--registerfiles")...).Before = wait
}

// unpolled takes the poll queues away.
func (s *suite) unpolled() {
	s.step("no more poll queues", 10).Actions = []plan.Action{
		{Path: "/sys/module/nvme/parameters/poll_queues", Text: "0"},
		{Path: "/sys/bus/pci/drivers/nvme/unbind", Text: pci(healthy), Vanishes: "/dev/ng7n1"},
		{Path: "/sys/bus/pci/drivers/nvme/bind", Text: pci(healthy), Appears: "/dev/ng7n1"},
	}
	args := []string{"--name=r", "--rw=randread", "--bs=4k", "--size=1m"}
	s.fiord("polling without poll queues", healthy, says("no poll queues"), append(args, "--hipri")...)
	s.block("polling without poll queues, block layer", healthy, "io_uring", fails("peration not supported", 1, eopnotsupp),
		append(args, "--hipri")...)
	s.fiord("interrupts without poll queues", healthy, fine, args...)
}

// goesOn wants a job that was not disturbed.
func goesOn(t *testing.T, r plan.Result) {
	t.Helper()
	fine(t, r)
	j := parse(t, r).Jobs[0]
	if j.Error != 0 || j.Read.IOs == 0 {
		t.Errorf("error %d after %d reads", j.Error, j.Read.IOs)
	}
	checkBytes(t, j, 4096)
}

// trouble are drives and controllers that go away in the middle, once the job has printed its first interim report.
func (s *suite) trouble() {
	long := []string{"--name=r", "--rw=randread", "--bs=4k", "--size=32m", "--iodepth=16", "--time_based", "--runtime=4", "--status-interval=1"}
	remove := func(drive int) []plan.Action {
		return []plan.Action{{Printed: true, Path: "/sys/bus/pci/devices/" + pci(drive) + "/remove", Text: "1"}}
	}
	reset := []plan.Action{{Printed: true, Path: "/sys/class/nvme/nvme1/reset_controller", Text: "1"}}
	// The driver lets a controller that answers finish what is in flight before it is reset.
	s.fiord("controller reset", resetting, goesOn, long...).Actions = reset
	s.fiord("controller reset under a submission thread", resetting, goesOn, append(long, "--sqthread_poll")...).Actions = reset
	s.fiord("after the resets", resetting, fine, "--name=r", "--rw=randread", "--bs=4k", "--size=1m")
	gone := fails("No such device", 16, enodev)
	s.fiord("drive removed", removed, gone, long...).Actions = remove(removed)
	s.fiord("polled drive removed", removedPolled, gone, append(long, "--hipri", "--fixedbufs")...).Actions = remove(removedPolled)
	s.block("drive removed, block layer", removedBlock, "io_uring", fails("", 16, enodev, eio), long...).Actions = remove(removedBlock)
	s.fiord("no drive any more", removed, says("/dev/ng2n1"), "--name=r", "--rw=read", "--bs=4k", "--size=1m")
}

// TestHostile has drives and rings that fail in the middle.
func TestHostile(t *testing.T) {
	need(t)
	s := newSuite(t, hostileDrives)
	s.faults()
	s.overflows()
	s.readOnly()
	s.timeouts()
	s.unpolled()
	s.trouble()
	s.run(t, 10*time.Minute)
}
