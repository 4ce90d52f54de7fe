package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/olekukonko/tablewriter"
)

// result is what is read of a report.
type result struct {
	Jobs []struct {
		Read struct {
			IOBytes uint64 `json:"io_bytes"`
			IOs     uint64 `json:"total_ios"`
			Runtime uint64 `json:"runtime"` // ms
		} `json:"read"`
	} `json:"jobs"`
}

// measure runs a case and returns its mean over the run.
func measure(program, dir string, c rateCase, seconds int) (float64, error) {
	args := append(strings.Fields(c.Options), "--name=rate", "--ioengine=psync", "--rw=randread", "--bs=4k", "--size=64m",
		"--filename=data", "--time_based=1", fmt.Sprintf("--runtime=%d", seconds), "--output-format=json", "--output=out")
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s: %s: %w\n%s", program, c.Name, err, text)
	}
	text, err := os.ReadFile(dir + "/out")
	if err != nil {
		return 0, err
	}
	at := strings.IndexByte(string(text), '{') // fio may print notes before the document
	if at < 0 {
		return 0, fmt.Errorf("%s: %s: no report: %q", program, c.Name, text)
	}
	var r result
	if err := json.Unmarshal(text[at:], &r); err != nil {
		return 0, fmt.Errorf("%s: %s: %w", program, c.Name, err)
	}
	if len(r.Jobs) != 1 || r.Jobs[0].Read.Runtime == 0 {
		return 0, fmt.Errorf("%s: %s: no job in the report", program, c.Name)
	}
	read := &r.Jobs[0].Read
	n := read.IOs
	if c.Bytes {
		n = read.IOBytes
	}
	return float64(n) * 1000 / float64(read.Runtime), nil
}

// show prints the table: rates in I/Os, or MiB, for each second.
func show(rows []row) error {
	t := tablewriter.NewWriter(os.Stdout)
	t.Header("rate", "asked", "fiord", "error %", "fio", "error %")
	for _, r := range rows {
		value := func(v float64) string {
			if r.Bytes {
				return fmt.Sprintf("%.2f MiB/s", v/(1<<20))
			}
			return fmt.Sprintf("%.1f IOPS", v)
		}
		line := []string{r.Name, value(r.Want), value(r.Fiord), fmt.Sprintf("%+.2f", r.FiordErr), "-", "-"}
		if r.Fio != nil {
			line[4], line[5] = value(*r.Fio), fmt.Sprintf("%+.2f", *r.FioErr)
		}
		if err := t.Append(line); err != nil {
			return err
		}
	}
	return t.Render()
}
