package run

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"fiord/report"
)

// IdleProfile asks for a measurement of how idle the CPUs are while the jobs run (--idle-prof).
type IdleProfile struct {
	PerCPU  bool     // each CPU in the report, not only all of them together
	Command []string // starts a process that calls IdleProbe with its standard input and output
}

// idleMeter measures with the help of another process, so that its threads, which may wait for a CPU for long, hold up
// neither the collector nor the scheduler of the process with the jobs.
type idleMeter struct {
	perCPU bool
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	ready  idleReady

	mu   sync.Mutex
	last *report.Idle // after the end
}

// startIdle starts the other process and waits until it has found out how long its unit of work takes. Nil without p.
func startIdle(p *IdleProfile) (*idleMeter, error) {
	if p == nil {
		return nil, nil
	}
	m := &idleMeter{perCPU: p.PerCPU, cmd: exec.Command(p.Command[0], p.Command[1:]...)}
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a SIGINT of the terminal is not for it
	var stderr strings.Builder
	m.cmd.Stderr = &stderr
	var err error
	if m.in, err = m.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("idle-prof: %w", err)
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("idle-prof: %w", err)
	}
	m.out = newLines(out)
	if err := m.cmd.Start(); err != nil {
		return nil, fmt.Errorf("idle-prof: %w", err)
	}
	if err := m.answer(&m.ready); err != nil {
		m.close()
		return nil, fmt.Errorf("idle-prof: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return m, nil
}

// newLines reads lines as long as those of a machine with thousands of CPUs.
func newLines(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	return s
}

// begin starts the measurement.
func (m *idleMeter) begin() {
	if m != nil {
		_, _ = io.WriteString(m.in, idleStart) // a dead process is noticed by read
	}
}

// read is what was measured since begin, or in all once it has ended; nil where nothing is.
func (m *idleMeter) read() (*report.Idle, error) {
	if m == nil {
		return nil, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last != nil {
		return m.last, nil
	}
	if _, err := io.WriteString(m.in, idleRead); err != nil {
		return nil, fmt.Errorf("idle-prof: %w", err)
	}
	var c idleCounts
	if err := m.answer(&c); err != nil {
		return nil, fmt.Errorf("idle-prof: %w", err)
	}
	return m.ready.result(&c, m.perCPU), nil
}

// end takes the last measurement and ends the other process.
func (m *idleMeter) end() error {
	if m == nil {
		return nil
	}
	last, err := m.read()
	m.mu.Lock()
	m.last = last
	m.mu.Unlock()
	m.close()
	return err
}

func (m *idleMeter) close() {
	_ = m.in.Close() // its standard input ends, and so does the process
	_ = m.cmd.Wait()
}

// answer reads one line.
func (m *idleMeter) answer(into any) error {
	if !m.out.Scan() {
		if err := m.out.Err(); err != nil {
			return err
		}
		return io.ErrUnexpectedEOF
	}
	return json.Unmarshal(m.out.Bytes(), into)
}

// CalibrateIdle finds out how long a unit of work of --idle-prof takes on this machine, and measures nothing.
func CalibrateIdle(p *IdleProfile) (*report.Idle, error) {
	m, err := startIdle(p)
	if err != nil {
		return nil, err
	}
	m.close()
	mean, dev := m.ready.unit()
	return &report.Idle{UnitMean: mean, UnitStdDev: dev}, nil
}

// unit are mean and deviation of the time of a unit over the CPUs, in microseconds.
func (r *idleReady) unit() (mean, dev float64) {
	n := float64(len(r.UnitUs))
	for _, us := range r.UnitUs {
		mean += us / n
	}
	for _, us := range r.UnitUs {
		dev += (us - mean) * (us - mean)
	}
	if n < 2 {
		return mean, 0
	}
	return mean, math.Sqrt(dev / (n - 1))
}

// result is how much of their time the CPUs spent on units of work, in percent.
func (r *idleReady) result(c *idleCounts, perCPU bool) *report.Idle {
	mean, dev := r.unit()
	out := &report.Idle{UnitMean: mean, UnitStdDev: dev}
	for i, n := range c.Units {
		share := 0.0
		if c.Us > 0 {
			share = 100 * float64(n) * mean / c.Us
		}
		out.System += share / float64(len(c.Units))
		if perCPU {
			out.PerCPU = append(out.PerCPU, share)
			out.CPUs = append(out.CPUs, r.CPUs[i])
		}
	}
	return out
}
