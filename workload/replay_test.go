package workload

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fiord/job"
)

// sequenceCase is one line of a cases.tsv: a fio command line whose I/O was recorded.
type sequenceCase struct {
	name string
	args []string
	dir  string
}

// readCases reads the recorded cases of a folder of testdata.
func readCases(t *testing.T, dir string) []sequenceCase {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", dir, "cases.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []sequenceCase
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		f := strings.Split(line, "\t")
		cases = append(cases, sequenceCase{name: f[0], args: strings.Fields(f[3]), dir: dir})
	}
	return cases
}

// recorded reads the log of a case without its first line and the time stamps.
func (c sequenceCase) recorded(t *testing.T) []string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", c.dir, c.name+".iolog.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for s := bufio.NewScanner(z); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines[1:]
}

// names are the files that a command line works on: filename, or the default names of job number num.
func names(j *job.Job) []string {
	if j.Filename != "" {
		return strings.Split(j.Filename, ":")
	}
	var list []string
	for i := range j.NrFiles {
		list = append(list, fmt.Sprintf("%s.%d.%d", j.Name, j.SubJob, i))
	}
	return list
}

// lay works out the ranges of a job's files as fio does for files that do not exist yet: what the layout does for real.
func lay(j *job.Job) Config {
	cfg := Config{Job: j}
	p := newPlan(j, 1)
	list := names(j)
	n := uint64(len(list))
	each := j.Size.Value / n
	extra := (j.Size.Value - each*n) / p.leastBS
	sizes := StreamRand(j, FileSizeStream)
	for _, name := range list {
		f := File{Name: name, Offset: int64(j.Offset.Value + uint64(j.SubJob)*j.OffsetIncrement.Value)}
		if j.Offset.Kind == job.Percent {
			f.Offset = 0
		}
		length := each
		inRange := length >= j.FileSize.Low && length <= j.FileSize.High
		switch fs := j.FileSize; {
		case fs.Low < fs.High && inRange:
		case fs.Low > 0 && fs.Low == fs.High:
			length = fs.Low - uint64(f.Offset)
		case fs.Low > 0:
			length = fs.Low + sizes.Below(fs.High-fs.Low)
			length -= length%p.leastBS + uint64(f.Offset)
		case extra > 0:
			extra--
			length += p.leastBS
		}
		if j.Size.Kind == job.Percent && j.Size.Value > 0 {
			length = (length + uint64(f.Offset)) * j.Size.Value / 100
		}
		f.Length = int64(length)
		f.Size = f.Offset + f.Length
		cfg.Files = append(cfg.Files, f)
		if j.IOSize.Kind == job.Percent && j.IOSize.Value > 0 {
			length = length * j.IOSize.Value / 100
		}
		cfg.TotalSize += length
	}
	if j.Size.Kind == job.Bytes && j.Size.Value > 0 {
		cfg.TotalSize = min(cfg.TotalSize, j.Size.Value)
	}
	cfg.IOSize = cfg.TotalSize
	if j.IOSize.Kind == job.Bytes && j.IOSize.Value > 0 {
		cfg.IOSize = j.IOSize.Value
	}
	return cfg
}

// player runs a generator as a job with an engine that completes at once would, and writes the log.
type player struct {
	cfg   Config
	lines []string
	open  []bool
}

func (p *player) OpenFile(i int) error {
	p.open[i] = true
	p.log(i, "open")
	return nil
}

func (p *player) CloseFile(i int) error {
	p.open[i] = false
	return nil
}

func (p *player) ClosingFile(i int) { p.log(i, "close") }

func (p *player) log(i int, what string) {
	p.lines = append(p.lines, p.cfg.Files[i].Name+" "+what)
}

func (p *player) issue(r Req) {
	p.log(r.File, fmt.Sprintf("%s %d %d", r.Op, r.Offset, r.Len))
}

// endSync is fio's end_fsync: files that are closed are opened for it.
func (p *player) endSync(g *Generator) {
	for i, open := range p.open {
		if !open {
			p.log(i, "open")
		}
		p.issue(g.SyncReq(i))
		if !open {
			p.log(i, "close")
		}
	}
}

// play runs all passes of a job; of one that goes by time, until there are most lines. depth is how many I/Os stay in
// flight; batch above 0 uses Fill.
func play(t *testing.T, cfg Config, depth, batch, most int) []string {
	t.Helper()
	p := &player{cfg: cfg, open: make([]bool, len(cfg.Files))}
	cfg.Events = p
	for i := range cfg.Files {
		p.log(i, "add")
	}
	g, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var moved uint64
	for loop := 1; ; {
		before := moved
		var inflight []int
		reqs := make([]Req, max(batch, 1))
		for {
			n, v := 1, Issue
			if batch > 0 {
				n, v = g.Fill(reqs)
			} else {
				v = g.Next(&reqs[0])
			}
			if v == Wait && len(inflight) == 0 {
				t.Fatal("Wait with nothing in flight")
			}
			if v == End || cfg.Job.TimeBased && len(p.lines) >= most {
				break
			}
			if v == Issue {
				for _, r := range reqs[:n] {
					p.issue(r)
					moved += uint64(r.Len)
					inflight = append(inflight, r.File)
				}
			}
			for len(inflight) > 0 && (v == Wait || len(inflight) >= depth) {
				g.Completed(inflight[0])
				inflight = inflight[1:]
				v = Issue
			}
		}
		for _, f := range inflight {
			g.Completed(f)
		}
		g.Drained()
		if cfg.Job.EndFsync {
			p.endSync(g)
		}
		if moved == before || cfg.Job.TimeBased && len(p.lines) >= most {
			break
		}
		if cfg.Job.TimeBased {
			// another pass
		} else if loop < cfg.Job.Loops {
			loop++
		} else if !g.More(moved) {
			break
		}
		g.NextPass()
	}
	g.Close()
	return p.lines
}

// TestRecordedSequences plays every recorded job and compares each line of its I/O log: file, action, offset, length, and
// the order in which files are opened and closed.
func TestRecordedSequences(t *testing.T) {
	for _, dir := range []string{"sequences", "more"} {
		for _, c := range readCases(t, dir) {
			t.Run(dir+"/"+c.name, func(t *testing.T) {
				if strings.HasPrefix(c.name, "verify-") {
					t.Skip("reading back for verification is not the generator's")
				}
				log := c.recorded(t)
				for _, j := range loadJobs(t, c.args) {
					comparePlays(t, j, log)
				}
			})
		}
	}
}

// comparePlays plays one job through Next and through Fill, and compares with the job's lines of the log.
func comparePlays(t *testing.T, j *job.Job, log []string) {
	t.Helper()
	cfg := lay(j)
	var want []string
	for _, l := range log {
		name, _, _ := strings.Cut(l, " ")
		if slices.ContainsFunc(cfg.Files, func(f File) bool { return f.Name == name }) {
			want = append(want, l)
		}
	}
	depth := 1
	if isAsync(j) {
		depth = j.IODepth
	}
	for _, batch := range []int{0, 7} {
		got := play(t, cfg, depth, batch, len(want))
		if j.TimeBased { // the recording ends where the time was up, then closes the files
			for strings.HasSuffix(want[len(want)-1], " close") {
				want = want[:len(want)-1]
			}
			got = got[:min(len(got), len(want))]
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s, batches of %d: sequence differs (-fio +fiord):\n%s", j.Name, batch, firstDifference(want, got))
		}
	}
}

func isAsync(j *job.Job) bool { p := newPlan(j, 1); return p.async }

// firstDifference shows the lines around the first one that differs.
func firstDifference(want, got []string) string {
	i := 0
	for i < len(want) && i < len(got) && want[i] == got[i] {
		i++
	}
	around := func(l []string) []string { return l[max(min(i-2, len(l)), 0):min(i+6, len(l))] }
	return fmt.Sprintf("line %d of %d (fiord has %d)\n%s", i+1, len(want), len(got), cmp.Diff(around(want), around(got)))
}
