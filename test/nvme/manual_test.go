package nvme

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"fiord/test/nvme/plan"
)

var (
	runtimes  = regexp.MustCompile(`(runtime|ramp_time)=\d+`)
	redirects = regexp.MustCompile(`^echo (\S+) > (\S+)$`)
)

// block is a fenced piece of the manual.
type block struct {
	kind  string
	line  int // of its first line
	lines []string
}

// blocks are the fenced pieces of a page.
func blocks(page string) []block {
	var all []block
	inside := false
	for i, line := range strings.Split(page, "\n") {
		kind, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && !inside:
			all = append(all, block{kind: kind, line: i + 2})
			inside = true
		case fence:
			inside = false
		case inside:
			all[len(all)-1].lines = append(all[len(all)-1].lines, line)
		}
	}
	return all
}

// manual runs every command of docs/nvme.md, and its job file, but not for as long as it says.
func (s *suite) manual(t *testing.T) {
	page, err := os.ReadFile("../../docs/nvme.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, b := range blocks(string(page)) {
		switch b.kind {
		case "sh":
			for i, line := range b.lines {
				s.command(t, fmt.Sprintf("docs/nvme.md:%d", b.line+i), line)
				commands++
			}
		case "ini":
			name := "/" + strings.TrimPrefix(b.lines[0], "# ")
			s.file(name, runtimes.ReplaceAllString(strings.Join(b.lines, "\n"), "$1=1")+"\n")
			s.add(fmt.Sprintf("docs/nvme.md:%d %s", b.line, name), 60, fine, "/bin/fiord", name)
			commands++
		}
	}
	if commands < 20 {
		t.Errorf("%d commands in docs/nvme.md", commands)
	}
}

// command adds one line of a shell.
func (s *suite) command(t *testing.T, at, line string) {
	if path, ok := strings.CutPrefix(line, "cat "); ok {
		s.add(at+" "+line, 10, func(t *testing.T, r plan.Result) {
			fine(t, r)
			if strings.TrimSpace(r.Files[path]) == "" {
				t.Errorf("%s is empty", path)
			}
		}).Read = []string{path}
		return
	}
	if m := redirects.FindStringSubmatch(line); m != nil {
		s.add(at+" "+line, 10, fine).Actions = []plan.Action{{Path: m[2], Text: m[1]}}
		return
	}
	words := strings.Fields(runtimes.ReplaceAllString(line, "$1=1"))
	if words[0] != "fiord" {
		t.Fatalf("%s: no command that the test knows: %s", at, line)
	}
	words[0] = "/bin/fiord"
	s.add(at+" "+line, 60, fine, words...)
}
