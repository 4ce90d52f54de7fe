// Command benchrate runs jobs with a rate on fiord and on fio, in turns, and prints how far each is from the rate that was
// asked for.
//
//	benchrate [flags] FIORD
//
// FIO names the fio binary (default: fio from PATH); without one fiord runs alone. The status is 1 when fiord is more than
// the limit off.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
)

// A rateCase is one job; want is in the unit of the figure it is measured by.
type rateCase struct {
	Name    string  `json:"name"`
	Options string  `json:"options"`
	Want    float64 `json:"asked"`
	Bytes   bool    `json:"bytes"` // asked is in bytes a second, not I/Os
}

// cases are each way to ask for a rate at three rates; poisson means I/Os at random times with the given mean. Of n such I/Os
// the square root of n is chance, the same in both programs as they draw the same numbers: 1.4 % in 5 s at 1000 a second.
var cases = []rateCase{
	{"rate 4m", "--rate=4m", 4 << 20, true},
	{"rate 40m", "--rate=40m", 40 << 20, true},
	{"rate 120m", "--rate=120m", 120 << 20, true},
	{"rate_iops 500", "--rate_iops=500", 500, false},
	{"rate_iops 5k", "--rate_iops=5000", 5000, false},
	{"rate_iops 30k", "--rate_iops=30000", 30000, false},
	{"poisson 1k", "--rate_iops=1000 --rate_process=poisson", 1000, false},
	{"poisson 5k", "--rate_iops=5000 --rate_process=poisson", 5000, false},
	{"poisson 30k", "--rate_iops=30000 --rate_process=poisson", 30000, false},
}

// A row is what came of a case.
type row struct {
	rateCase
	Fiord    float64  `json:"fiord"`
	FiordErr float64  `json:"fiord_error_percent"`
	Fio      *float64 `json:"fio,omitempty"`
	FioErr   *float64 `json:"fio_error_percent,omitempty"`
}

func main() {
	seconds := flag.Int("seconds", 5, "run time of each job")
	limit := flag.Float64("limit", 2, "largest error of fiord, in percent")
	dir := flag.String("dir", "/dev/shm", "folder for the test file; a tmpfs keeps the device out of the figures")
	out := flag.String("json", "", "file to write the figures to as JSON")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: benchrate [flags] FIORD")
		flag.PrintDefaults()
		os.Exit(2)
	}
	if err := bench(flag.Arg(0), *dir, *out, *seconds, *limit); err != nil {
		fmt.Fprintln(os.Stderr, "benchrate:", err)
		os.Exit(1)
	}
}

func bench(fiord, dir, out string, seconds int, limit float64) error {
	fiord, err := filepath.Abs(fiord)
	if err != nil {
		return err
	}
	fio := os.Getenv("FIO")
	if fio == "" {
		fio = "fio"
	}
	if fio, err = exec.LookPath(fio); err != nil {
		fmt.Fprintln(os.Stderr, "benchrate: no fio to compare with:", err)
		fio = ""
	}
	work, err := os.MkdirTemp(dir, "benchrate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	rows, err := measureAll(fiord, fio, work, seconds)
	if err != nil {
		return err
	}
	if err := show(rows); err != nil {
		return err
	}
	if out != "" {
		text, err := json.MarshalIndent(rows, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(out, append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	var worst error
	for _, r := range rows {
		if math.Abs(r.FiordErr) > limit {
			worst = errors.Join(worst, fmt.Errorf("%s: fiord is %+.2f %% off, want %g %% at most", r.Name, r.FiordErr, limit))
		}
	}
	return worst
}

func measureAll(fiord, fio, work string, seconds int) ([]row, error) {
	var rows []row
	for _, c := range cases {
		r := row{rateCase: c}
		var err error
		if r.Fiord, err = measure(fiord, work, c, seconds); err != nil {
			return nil, err
		}
		r.FiordErr = 100 * (r.Fiord/c.Want - 1)
		if fio != "" {
			v, err := measure(fio, work, c, seconds)
			if err != nil {
				return nil, err
			}
			off := 100 * (v/c.Want - 1)
			r.Fio, r.FioErr = &v, &off
		}
		rows = append(rows, r)
	}
	return rows, nil
}
