package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseNodes(t *testing.T) {
	online := []int{0, 2, 3, 6}
	for _, c := range []struct {
		text string
		want []int // nil: an error
	}{
		{"0", []int{0}}, {"3,0", []int{0, 3}}, {"2-3", []int{2, 3}}, {"all", online}, {"!2-3", []int{0, 6}}, {"+1,3", []int{2, 6}},
		{"!+0", []int{2, 3, 6}}, {"1", nil}, {"0-2", nil}, {"+4", nil}, {"!all", nil}, {"", nil}, {"a", nil}, {"3-2", nil},
		{"0,", nil}, {"5000", nil}, {"!!0", nil},
	} {
		got, err := ParseNodes(c.text, online)
		if (err != nil) != (c.want == nil) {
			t.Errorf("%q: %v, %v; want %v", c.text, got, err, c.want)
		} else if diff := cmp.Diff(c.want, got); err == nil && diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

func TestParseMemPolicy(t *testing.T) {
	for _, c := range []struct {
		text string
		want MemPolicy // zero: an error
	}{
		{"default", MemPolicy{"default", ""}}, {"local", MemPolicy{"local", ""}}, {"prefer:1", MemPolicy{"prefer", "1"}},
		{"bind:0-1,3", MemPolicy{"bind", "0-1,3"}}, {"interleave", MemPolicy{"interleave", "all"}},
		{"interleave:0", MemPolicy{"interleave", "0"}}, {"local:0", MemPolicy{}}, {"prefer", MemPolicy{}}, {"prefer:0-1", MemPolicy{}},
		{"bind", MemPolicy{}}, {"bind:", MemPolicy{}}, {"near", MemPolicy{}}, {"bind:x", MemPolicy{}}, {"", MemPolicy{}},
		{"default:", MemPolicy{}},
	} {
		got, err := ParseMemPolicy(c.text)
		if bad := c.want == (MemPolicy{}); bad != (err != nil) || !bad && got != c.want {
			t.Errorf("%q: %+v, %v; want %+v", c.text, got, err, c.want)
		}
	}
}

func FuzzParseNodes(f *testing.F) {
	for _, seed := range []string{"0-1", "!+0,2", "all", "+", "1-0", "99999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		nodes, err := ParseNodes(text, []int{0, 2})
		for _, n := range nodes {
			if err == nil && n != 0 && n != 2 {
				t.Errorf("%q: node %d is not there", text, n)
			}
		}
	})
}
