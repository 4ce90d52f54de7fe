package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A sample is one run of one program.
type sample struct {
	values map[measure]float64
	// User and system time per I/O of the jobs, in ns; 0 where there is no report.
	user, system float64
}

// execute runs a program on so many CPUs, the last ones of the machine. taskset would do the same.
func execute(cores int, bin string, args []string) (stdout []byte, wall time.Duration, use *syscall.Rusage, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, some unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return nil, 0, nil, err
	}
	for cpu := len(all)*64 - 1; cpu >= 0 && some.Count() < max(cores, 1); cpu-- {
		if all.IsSet(cpu) {
			some.Set(cpu)
		}
	}
	if err := unix.SchedSetaffinity(0, &some); err != nil {
		return nil, 0, nil, err
	}
	defer func() { err = errors.Join(err, unix.SchedSetaffinity(0, &all)) }()
	cmd := exec.Command(bin, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	start := time.Now()
	stdout, err = cmd.Output()
	wall = time.Since(start)
	if err != nil {
		return nil, 0, nil, fmt.Errorf("%s %s: %w: %s", bin, strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return stdout, wall, cmd.ProcessState.SysUsage().(*syscall.Rusage), nil
}

// runJob runs the case on fiord or fio and reads the report.
func runJob(c *benchCase, bin string, fio bool, file string, seconds int) (sample, error) {
	args := []string{"--name=bench", "--output-format=json", "--thread", "--randrepeat=0"}
	if !c.fixed {
		args = append(args, "--time_based", "--runtime="+strconv.Itoa(seconds))
	}
	out, wall, use, err := execute(c.cores, bin, append(args, c.args(fio, file)...))
	if err != nil {
		return sample{}, err
	}
	var doc struct{ Jobs []jobReport }
	at := bytes.IndexByte(out, '{') // fio may print notes before the document
	if at < 0 {
		return sample{}, fmt.Errorf("%s: no JSON in the output", bin)
	}
	if err := json.Unmarshal(out[at:], &doc); err != nil {
		return sample{}, fmt.Errorf("%s: %w", bin, err)
	}
	s := summarise(doc.Jobs)
	if s.values[byIOPS] == 0 {
		return sample{}, fmt.Errorf("%s did no I/O", bin)
	}
	s.values[byWall] = float64(wall) / 1e6
	s.values[byMemory] = float64(use.Maxrss) / 1024
	return s, nil
}

// jobReport is what is read of a job in the report.
type jobReport struct {
	Read, Write, Trim struct {
		IOPS   float64
		IOs    float64 `json:"total_ios"`
		ClatNs struct {
			Percentile map[string]float64
		} `json:"clat_ns"`
	}
	Runtime float64 `json:"job_runtime"` // ms
	User    float64 `json:"usr_cpu"`     // percent
	System  float64 `json:"sys_cpu"`
}

// summarise adds the jobs up; latencies are the mean of the jobs'.
func summarise(jobs []jobReport) sample {
	s := sample{values: map[measure]float64{}}
	var ios, user, system float64
	for _, j := range jobs {
		s.values[byIOPS] += j.Read.IOPS + j.Write.IOPS + j.Trim.IOPS
		ios += j.Read.IOs + j.Write.IOs + j.Trim.IOs
		user += j.User / 100 * j.Runtime * 1e6
		system += j.System / 100 * j.Runtime * 1e6
		p := j.Read.ClatNs.Percentile
		s.values[byMedian] += p["50.000000"] / float64(len(jobs))
		s.values[by99] += p["99.000000"] / float64(len(jobs))
	}
	if ios > 0 {
		s.user, s.system = user/ios, system/ios
		s.values[byCPU] = s.user + s.system
	}
	return s
}

// runPeak runs the case on fiord peak or t/io_uring and takes the median of the seconds. On a shared machine the highest
// moves more, as one good second is enough.
func runPeak(c *benchCase, bin string, fio bool, file string) (sample, error) {
	args := c.args(fio, file)
	if !fio {
		args = append([]string{"peak"}, args...)
	}
	out, _, _, err := execute(c.cores, bin, args)
	if err != nil {
		return sample{}, err
	}
	list, err := rates(out)
	if err != nil {
		return sample{}, fmt.Errorf("%s: %w", bin, err)
	}
	return sample{values: map[measure]float64{bySecond: median(list)}}, nil
}

// rates are those of the lines that both programs print once a second.
func rates(out []byte) ([]float64, error) {
	var list []float64
	for line := range strings.Lines(string(out)) {
		text, ok := strings.CutPrefix(line, "IOPS=")
		if !ok {
			continue
		}
		text, _, _ = strings.Cut(text, ",")
		v, err := scaled(text)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	if len(list) == 0 {
		return nil, errors.New("no line of a second in the output")
	}
	return list, nil
}

// scaled reads a number with the suffix that both programs use.
func scaled(text string) (float64, error) {
	scale := 1.0
	switch {
	case strings.HasSuffix(text, "K"):
		scale = 1e3
	case strings.HasSuffix(text, "M"):
		scale = 1e6
	}
	v, err := strconv.ParseFloat(strings.TrimRight(text, "KM"), 64)
	return v * scale, err
}
