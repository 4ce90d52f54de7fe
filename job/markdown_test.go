package job

import (
	"errors"
	"strings"
	"testing"
)

func TestWriteOptionsMarkdown(t *testing.T) {
	var b strings.Builder
	if err := WriteOptionsMarkdown(&b, fakeEngines(t)); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{
		"\n### bs\n\n", "- aliases: `blocksize`\n- type: int, per direction as `read,write,trim`\n- range: 1 or more\n- default: `4096`\n- refines: `rw`\n",
		"- range: -20 to 19\n", "- range: 0 to 100\n", "- range: 0 or 1\n", "- inverse of: `buffered`\n",
		"- status: deprecated: giving it is an error\n", "- status: deprecated: accepted with a notice",
		"- status: not implemented: block error percentiles are not built yet\n", "## Options of ioengine libaio\n",
		"The engine is not implemented: not part of a default build.\n", "- values: `none`, `file`, `block`, `char`\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q", want)
		}
	}
	table, err := OptionTable()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range table.All() {
		if !strings.Contains(got, "\n### "+d.Name+"\n") {
			t.Errorf("lacks %s", d.Name)
		}
	}
	if err := WriteOptionsMarkdown(&b, []EngineDecl{{Name: "x", Options: func() any { return 1 }}}); err == nil {
		t.Error("a bad engine is no error")
	}
	if err := WriteOptionsMarkdown(brokenWriter{}, nil); !errors.Is(err, errBroken) {
		t.Errorf("write error: %v", err)
	}
}

var errBroken = errors.New("broken")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }
