package all

import (
	"strings"
	"testing"

	"fiord/engines"
	"fiord/job"
)

func TestDrivers(t *testing.T) {
	for _, d := range Drivers() {
		t.Run(d.Name, func(t *testing.T) {
			if d.Doc == "" {
				t.Error("no description")
			}
			if d.Open == nil && d.Missing == "" {
				t.Error("neither Open nor a reason why it is missing")
			}
			if d.Options == nil {
				return
			}
			if _, err := job.Declare(d.Options()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDriversSharingAName(t *testing.T) {
	for _, list := range [][]*engines.Driver{
		{{Name: "a"}, {Name: "a"}},
		{{Name: "a", Aliases: []string{"b"}}, {Name: "b"}},
	} {
		func() {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.Contains(text, list[1].Name) {
					t.Errorf("panicked with %q, want the name in it", text)
				}
			}()
			unique(list)
		}()
	}
	if got := unique([]*engines.Driver{{Name: "a"}, {Name: "b"}}); len(got) != 2 {
		t.Errorf("a list without doubles came back as %v", got)
	}
}
