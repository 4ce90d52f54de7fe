// Command bench runs the same jobs on fiord and on fio, interleaved, and prints IOPS and their ratio.
//
//	bench FIORD
//
// FIO names the fio binary (default: fio from PATH); without one only fiord is measured. ROUNDS is how often each case is
// run (default 3) and SECONDS how long (default 1). Both programs run on one core.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"
)

// cases are the jobs, as options of both programs.
var cases = []struct {
	name string
	args string
}{
	{"null, QD 1", "--ioengine=null --rw=randread --norandommap --size=1g"},
	{"null, QD 1, random map", "--ioengine=null --rw=randread --size=1g"},
	{"null, QD 32, batch 16", "--ioengine=null --rw=randread --norandommap --size=1g --iodepth=32 --iodepth_batch=16 " +
		"--iodepth_batch_complete_min=16"},
	{"io_uring /dev/null, QD 128, batch 32", "--ioengine=io_uring --rw=randwrite --norandommap --bs=512 --size=1g " +
		"--filename=/dev/null --filesize=1g --iodepth=128 --iodepth_batch=32 --iodepth_batch_complete_min=32 --registerfiles --nonvectored=1"},
	{"verified writes, crc32c, 4k", memory + "--verify=crc32c --do_verify=0 --bs=4k"},
	{"writes and checked reads, crc32c, 4k", memory + "--verify=crc32c --verify_backlog=1024 --bs=4k"},
	{"writes and checked reads, md5, 64k", memory + "--verify=md5 --verify_backlog=64 --bs=64k"},
}

// memory are the options of jobs on a file in memory.
const memory = "--ioengine=psync --rw=write --size=64m --directory=/dev/shm --unlink=1 --verify_state_save=0 "

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bench FIORD")
		os.Exit(2)
	}
	if err := bench(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(fiord string) error {
	fio := os.Getenv("FIO")
	if fio == "" {
		fio = "fio"
	}
	fio, err := exec.LookPath(fio)
	if err != nil {
		fmt.Println("no fio in PATH: fiord alone")
		fio = ""
	}
	t := tablewriter.NewTable(os.Stdout, tablewriter.WithHeaderAutoFormat(tw.Off))
	t.Header("case", "fiord kIOPS", "fio kIOPS", "ratio", "lowest", "highest")
	for _, c := range cases {
		row, err := compare(fiord, fio, c.name, strings.Fields(c.args))
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if err := t.Append(row); err != nil {
			return err
		}
	}
	return t.Render()
}

// compare runs one case on both, in turns.
func compare(fiord, fio, name string, args []string) ([]string, error) {
	var ours, theirs, ratios []float64
	for range number("ROUNDS", 3) {
		a, err := iops(fiord, args)
		if err != nil {
			return nil, err
		}
		ours = append(ours, a)
		if fio == "" {
			continue
		}
		b, err := iops(fio, args)
		if err != nil {
			return nil, err
		}
		theirs, ratios = append(theirs, b), append(ratios, a/b)
	}
	row := []string{name, kilo(median(ours)), "-", "-", "-", "-"}
	if fio != "" {
		row = []string{name, kilo(median(ours)), kilo(median(theirs)), fmt.Sprintf("%.2f", median(ratios)),
			fmt.Sprintf("%.2f", slices.Min(ratios)), fmt.Sprintf("%.2f", slices.Max(ratios))}
	}
	return row, nil
}

// iops runs a job for a moment and reads its IOPS from the JSON report.
func iops(bin string, args []string) (float64, error) {
	all := append([]string{"--name=bench", "--output-format=json", "--time_based", "--thread", "--cpus_allowed=" + strconv.Itoa(runtime.NumCPU()-1),
		"--runtime=" + strconv.Itoa(number("SECONDS", 1))}, args...)
	cmd := exec.Command(bin, all...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %s", bin, err, strings.TrimSpace(errs.String()))
	}
	var doc struct {
		Jobs []map[string]json.RawMessage
	}
	// fio may print notes before the document.
	start := bytes.IndexByte(out, '{')
	if start < 0 {
		return 0, errors.New("no JSON in the output")
	}
	if err := json.Unmarshal(out[start:], &doc); err != nil {
		return 0, err
	}
	total := 0.0
	for _, j := range doc.Jobs {
		for _, dir := range []string{"read", "write"} {
			var d struct{ IOPS float64 }
			if err := json.Unmarshal(j[dir], &d); err != nil {
				return 0, err
			}
			total += d.IOPS
		}
	}
	if total == 0 {
		return 0, fmt.Errorf("%s did no I/O", bin)
	}
	return total, nil
}

func number(env string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(env)); err == nil && n > 0 {
		return n
	}
	return otherwise
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

func kilo(v float64) string { return fmt.Sprintf("%.0f", v/1000) }
