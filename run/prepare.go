package run

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"fiord/engines"
	"fiord/internal/sys"
	"fiord/iolog"
	"fiord/job"
	"fiord/run/layout"
	"fiord/workload"
)

// prepare does everything between the start of the thread and the first I/O, in fio's order, and reports whether the job
// can run.
func (w *worker) prepare() bool {
	steps := []func() error{
		w.credentials, w.affinity, w.numa, w.lockMemory, w.openReplay, w.autoNUMA, w.priority, w.buffers, w.contents, w.lateLayout,
		w.openEngine, w.niceness, w.scheduler, w.generator, w.lockFiles, w.verification, w.stepIn, w.preRun, w.preRead, w.gather,
		w.openTrace, // from where its times count
	}
	for _, step := range steps {
		err := step()
		if err != nil && !errors.Is(err, layout.ErrStopped) {
			w.failErr(err, "setup")
		}
		if err != nil || w.st.Error != 0 || w.stopping() {
			return false
		}
	}
	return w.set != nil
}

func (w *worker) credentials() error {
	if w.job.Comm != "" {
		if err := sys.SetComm(w.job.Comm); err != nil {
			return fmt.Errorf("comm=%s: %w", w.job.Comm, err)
		}
	}
	if w.job.IsSet("gid") {
		if err := sys.SetGID(w.job.GID); err != nil {
			return fmt.Errorf("gid=%d: %w", w.job.GID, err)
		}
	}
	if w.job.IsSet("uid") {
		if err := sys.SetUID(w.job.UID); err != nil {
			return fmt.Errorf("uid=%d: %w", w.job.UID, err)
		}
	}
	return nil
}

// affinity binds the thread to the job's CPUs; with the policy split each clone gets one of them.
func (w *worker) affinity() error {
	cpus := []int(w.job.CPUsAllowed)
	if w.job.IsSet("cpumask") {
		cpus = maskCPUs(w.job.CPUMask)
	}
	if len(cpus) == 0 {
		return nil
	}
	if w.job.CPUsAllowedPolicy == "split" {
		cpus = cpus[(w.job.Number-1)%len(cpus):][:1]
	}
	if err := sys.SetAffinity(cpus); err != nil {
		return fmt.Errorf("bind to CPUs %v: %w", cpus, err)
	}
	return nil
}

// maskCPUs lists the CPUs of a bit mask.
func maskCPUs(mask uint64) []int {
	var cpus []int
	for i := range 64 {
		if mask&(1<<i) != 0 {
			cpus = append(cpus, i)
		}
	}
	return cpus
}

func (w *worker) lockMemory() error {
	if w.job.LockMem == 0 {
		return nil
	}
	locked, err := sys.LockMemory(w.job.LockMem)
	if err != nil {
		return fmt.Errorf("lockmem=%d: %w", w.job.LockMem, err)
	}
	w.locked = locked
	return nil
}

func (w *worker) priority() error {
	if !w.job.IsSet("prio") && !w.job.IsSet("prioclass") && !w.job.IsSet("priohint") {
		return nil
	}
	w.ioprio = sys.IOPrioValue(w.job.PrioClass, w.job.Prio, w.job.PrioHint)
	w.st.IOPrio = w.ioprio
	if err := sys.SetIOPrio(w.ioprio); err != nil {
		return fmt.Errorf("set I/O priority class %d level %d: %w", w.job.PrioClass, w.job.Prio, err)
	}
	return nil
}

func (w *worker) niceness() error {
	if w.job.Nice == 0 {
		return nil
	}
	if err := sys.SetNice(w.job.Nice); err != nil {
		return fmt.Errorf("nice=%d: %w", w.job.Nice, err)
	}
	return nil
}

// ioBytes is about what each I/O takes of memory besides its buffer, in bytes.
const ioBytes = 256

// buffers allocates all I/Os and the memory of their buffers.
func (w *worker) buffers() error {
	depth := w.job.IODepth
	if w.drv.Traits.Sync && !offloaded(w.job) {
		depth = 1
	}
	if have, err := sys.PhysicalMemory(); err == nil && uint64(depth) > have/ioBytes {
		return fmt.Errorf("iodepth=%d: more than the memory of this machine can hold: %w", depth, syscall.ENOMEM)
	}
	size := w.bufferSize()
	if hi, _ := bits.Mul64(size, 2*uint64(depth)); hi != 0 {
		return fmt.Errorf("iodepth=%d: buffers of %d bytes: %w", depth, size, syscall.ENOMEM)
	}
	var arena []byte
	if w.needsData() {
		if err := w.newArena(depth, size); err != nil {
			return err
		}
		arena = w.arena.Mem
	}
	w.loop.init(w, depth, int(size), arena)
	return nil
}

// newArena allocates depth buffers of size bytes.
func (w *worker) newArena(depth int, size uint64) error {
	align := 0
	if w.job.Direct || w.job.IomemAlign > 0 || w.drv.Traits.Raw || w.drv.Traits.MemAlign {
		align = w.job.IomemAlign
	}
	a, err := sys.NewArena(w.job.Mem, int(size)*depth, align, w.job.HugepageSize, w.job.MemFile)
	if err != nil {
		return fmt.Errorf("allocate %d buffers of %d bytes (mem=%s): %w", depth, size, w.job.Mem, err)
	}
	w.arena = a
	return nil
}

// bufferSize is the largest transfer that needs a buffer.
func (w *worker) bufferSize() uint64 {
	size := max(w.job.MaxBS[job.Read], w.job.MaxBS[job.Write])
	if w.job.RW.TrimWrite {
		size = max(size, w.job.MaxBS[job.Trim])
	}
	return (size + 511) &^ 511
}

// needsData reports whether the job moves data at all.
func (w *worker) needsData() bool {
	return !w.drv.Traits.NoIO && (w.job.RW.Read || w.job.RW.Write)
}

// openEngine opens the engine with all buffers in place.
func (w *worker) openEngine() error {
	if w.drv.Traits.Sync && w.job.IODepth > 1 && !offloaded(w.job) {
		w.r.note("%s: ioengine %s is synchronous, iodepth %d is capped at 1", w.job.Name, w.drv.Name, w.job.IODepth)
	}
	if err := w.newEngine(); err != nil {
		return err
	}
	if p, ok := w.eng.(engines.Priorities); ok {
		for d := range w.prios {
			w.prios[d] = p.Priorities(job.Dir(d))
			w.watched = w.watched || w.prios[d] != nil
		}
		w.initHists()
	}
	return nil
}

// newEngine opens the engine with the buffers and files there are.
func (w *worker) newEngine() error {
	l := &w.loop
	if offloaded(w.job) {
		return w.openOffload()
	}
	var files []*engines.File
	if w.set != nil {
		files = w.set.Files
	}
	eng, err := w.drv.Open(&engines.Worker{
		Job: w.job, Depth: len(l.ios), MaxBatch: l.batchMax, IOs: l.ios, Arena: l.arena, Files: files,
		Notice: func(format string, args ...any) { w.r.note(w.job.Name+": "+format, args...) },
	}, w.job.Engine)
	if err != nil {
		return fmt.Errorf("ioengine %s: %w", w.drv.Name, err)
	}
	if w.drv.Banner != nil {
		w.r.print(w.drv.Banner(w.job))
	}
	w.eng = eng
	w.doer = engines.Inner(eng)
	if w.set != nil {
		w.attach()
	}
	return nil
}

// scheduler switches the I/O scheduler of the devices below the job's files.
func (w *worker) scheduler() error {
	if w.job.IOScheduler == "" || w.set == nil || w.drv.Traits.Diskless {
		return nil
	}
	paths := make([]string, len(w.set.Files))
	for i, f := range w.set.Files {
		paths[i] = f.Name
	}
	notes, err := w.r.disks.SetScheduler(w.job.IOScheduler, paths)
	for _, n := range notes {
		w.r.note("%s: %s", w.job.Name, n)
	}
	return err
}

// lateLayout lays the files out on the worker's own thread, with create_serialize=0: before the engine is opened, as
// engines keep something for each file.
func (w *worker) lateLayout() error {
	if w.set == nil {
		w.enter(stateSettingUp)
		w.layOut()
	}
	return nil
}

// attach lets the engine open the job's files itself if it does that.
func (w *worker) attach() {
	if w.doer != nil {
		w.set.Attach(w.doer)
		return
	}
	w.set.Attach(w.eng)
}

func (w *worker) generator() error {
	if w.set == nil || len(w.set.Files) == 0 {
		return nil // stopped while laying out, or nothing to do
	}
	files := make([]workload.File, len(w.set.Files))
	for i, f := range w.set.Files {
		files[i] = workload.File{Offset: f.Offset, Length: f.Length, Size: f.Size, Name: f.Name}
	}
	cfg := workload.Config{Job: w.job, Files: files, TotalSize: w.set.TotalSize, IOSize: w.set.IOSize, Events: w,
		Memory: w.mapMemory}
	w.rate = newRates(w)
	w.think = newThink(w)
	if w.rate != nil {
		cfg.Pace = w.rate.pace
	}
	if w.zones != nil {
		cfg.Zones = w.zones
	}
	w.flow.join()
	if w.replay != nil {
		w.replay.begin()
		return nil
	}
	if w.drv.Traits.NoIO {
		reads := *w.job // whatever rw says, fio counts what moves no data as reads
		reads.RW = job.RWMode{Read: true, SeqNr: 1, Text: "read"}
		cfg.Job = &reads
	}
	gen, err := workload.New(cfg)
	if err != nil {
		return err
	}
	w.gen = gen
	w.ranger = w.newRanger()
	w.total.Store(gen.Remaining())
	if w.job.FillDevice && w.set.FillSize > 0 {
		w.total.Store(w.set.FillSize)
	}
	return nil
}

// verification prepares what a job with verify= needs: buffers and files are there.
func (w *worker) verification() error {
	if w.vfy == nil || w.gen == nil {
		return nil
	}
	if w.vfy.keep && w.vfy.readsBack() && w.job.IOSize.Value == 0 {
		w.total.Store(2 * w.gen.Remaining()) // all of it is read back
	}
	return w.vfy.start()
}

// contents fills the buffers of a writing job. fio fills the buffer first that it uses last.
func (w *worker) contents() error {
	if !w.job.RW.Write || w.arena == nil {
		return nil
	}
	for _, u := range slices.Backward(w.loop.ios) {
		w.filler.Init(w.loop.full(u))
		if w.vfy != nil && !w.vfy.scheme.Checks() {
			w.vfy.scheme.Prefill(w.loop.full(u))
		}
	}
	w.loop.refill = w.filler.Refills()
	w.loop.scramble = w.filler.PerIO() && !w.loop.refill
	return nil
}

// openTrace starts the log of write_iolog.
func (w *worker) openTrace() error {
	if w.job.WriteIolog == "" || w.set == nil {
		return nil
	}
	t, err := iolog.NewTrace(w.job.WriteIolog)
	if err != nil {
		return err
	}
	w.trace = t
	for _, f := range w.set.Files {
		t.Add(f.Name)
	}
	return nil
}

func (w *worker) preRun() error { return w.shell(w.job.ExecPrerun, "prerun") }

// shell runs exec_prerun or exec_postrun; its output goes to NAME.MODE.txt as with fio.
func (w *worker) shell(cmd, mode string) error {
	if cmd == "" {
		return nil
	}
	path := fmt.Sprintf("%s.%s.txt", w.job.Name, mode)
	out, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("exec_%s: %w", mode, err)
	}
	defer out.Close()
	w.r.print(fmt.Sprintf("%s: output of %s goes to %s", w.job.Name, mode, path))
	c := exec.Command("/bin/sh", "-c", cmd)
	c.Stdout, c.Stderr = out, out
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := sys.StartProgram(c); err != nil {
		return fmt.Errorf("exec_%s %q: %w", mode, cmd, err)
	}
	if err := w.waitShell(c); err != nil {
		return fmt.Errorf("exec_%s %q: %w", mode, cmd, err)
	}
	return nil
}

// waitShell waits for the command, and ends it with all that it started when the job is asked to stop.
func (w *worker) waitShell(c *exec.Cmd) error {
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	asked := w.stopping() // then the job is over, and this is its exec_postrun
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-look.C:
			if !asked && w.stopping() {
				_ = syscall.Kill(-c.Process.Pid, syscall.SIGTERM)
				<-ended
				return nil
			}
		}
	}
}

func (w *worker) preRead() error {
	if !w.job.PreRead || w.set == nil {
		return nil
	}
	w.enter(statePreReading)
	return w.set.PreRead()
}
