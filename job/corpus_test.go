package job

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// differences are corpus files whose verdict differs from fio's on purpose; each is a row of docs/differences.md.
var differences = map[string]string{
	"xfstests__ext4_304-L32/env": "numjobs=4*2 without parentheses: fio reads 4 and drops the rest",
}

// TestCorpus loads public job files and compares with what fio 3.42 said of them: accepted or not, and how many
// sections and jobs, with and without the variables they need.
func TestCorpus(t *testing.T) {
	data, err := os.ReadFile("testdata/corpus/expected.tsv")
	if err != nil {
		t.Fatal(err)
	}
	engines := fakeEngines(t)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	for _, line := range lines[1:] {
		col := strings.Split(line, "\t")
		name, env := col[0], col[5]
		t.Run(name, func(t *testing.T) {
			checkCorpus(t, engines, name, name, "", col[1], col[2], col[3])
		})
		if col[6] != "" {
			t.Run(name+"/env", func(t *testing.T) {
				checkCorpus(t, engines, name+"/env", name, env, col[6], col[7], col[8])
			})
		}
	}
}

func checkCorpus(t *testing.T, engines []EngineDecl, row, name, env, rc, sections, jobs string) {
	vars := make(map[string]string)
	for _, pair := range strings.Fields(env) {
		key, value, _ := strings.Cut(pair, "=")
		vars[key] = value
	}
	l := &Loader{Engines: engines, ParseOnly: true, Env: func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}}
	l.AddFile(filepath.Join("testdata/corpus", name+".fio"))
	got, _, _, err := l.Load()
	if reason := differences[row]; reason != "" {
		if (err == nil) == (rc == "0") {
			t.Errorf("listed as a difference (%s), but agrees", reason)
		}
		return
	}
	if (err == nil) != (rc == "0") {
		t.Fatalf("fio exits with %s, fiord says %v", rc, err)
	}
	if err != nil {
		return
	}
	// The expected counts were taken from --showcmd, where a name option looks like one more job.
	gotSections, gotJobs := countCommand(l.ShowCmd())
	if want, _ := strconv.Atoi(sections); gotSections != want {
		t.Errorf("sections: got %d, want %d", gotSections, want)
	}
	if want, _ := strconv.Atoi(jobs); gotJobs != want {
		t.Errorf("jobs: got %d, want %d", gotJobs, want)
	}
	for _, j := range got {
		if j.set["name"] {
			return
		}
	}
	if want, _ := strconv.Atoi(jobs); len(got) != want {
		t.Errorf("loaded jobs: got %d, want %d", len(got), want)
	}
}

// countCommand counts the jobs of a --showcmd line, apart and with numjobs.
func countCommand(cmd string) (sections, jobs int) {
	def, cur := 1, 0
	for _, word := range strings.Fields(cmd) {
		if strings.HasPrefix(word, "--name=") {
			sections, jobs = sections+1, jobs+cur
			cur = def
		}
		if n, ok := strings.CutPrefix(word, "--numjobs="); ok {
			num, _ := strconv.Atoi(n)
			if cur == 0 {
				def = num
			} else {
				cur = num
			}
		}
	}
	return sections, jobs + cur
}
