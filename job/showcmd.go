package job

import "strings"

// commandLine collects what --showcmd prints of one job file: a fio command line that means the same.
type commandLine struct{ b strings.Builder }

// begin appends the start of a section.
func (c *commandLine) begin(s *section) {
	if c.b.Len() == 0 {
		c.b.WriteString("fio ")
	}
	if !s.global() {
		c.b.WriteString("--name=" + s.name + " ")
	}
}

// add appends what the section set. A [global] one repeats the settings of those before it, as in fio.
func (c *commandLine) add(j *Job) {
	for _, o := range j.Given {
		c.b.WriteString(ShowSetting(o))
	}
}

func (c *commandLine) String() string { return c.b.String() + "\n" }

// ShowSetting is an option as --showcmd prints it, with the space that follows.
func ShowSetting(s Setting) string {
	switch {
	case s.Flag:
		return "--" + s.Name + " "
	case s.Name == "description":
		return "--" + s.Name + `="` + s.Value + `" `
	}
	return "--" + s.Name + "=" + s.Value + " "
}

// ShowCmd is what --showcmd prints for the files that Load read: one line a file. After an error the last line ends with
// the name of the section that it is in.
func (l *Loader) ShowCmd() string { return strings.Join(l.commands, "") }
