package cli

import (
	"bytes"
	"errors"
	"testing"
)

// TestVisible prints messages with bytes from files: a terminal gets to see them and does not obey them.
func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"a \"b\" \\ \té\n  c":     "a \"b\" \\ \té\n  c",
		"\x1b[31mred\x07":         `\x1b[31mred\a`,
		"\xff\xfe=\x01":           `\xff\xfe=\x01`,
		"\ufeff[a] \u202e \u0085": `\ufeff[a] \u202e \u0085`,
		"\ufffd\r":                "\ufffd\\r",
	} {
		var w bytes.Buffer
		complain(&w, errors.New(text))
		complain(&w, usagef(text, "x"))
		printNotes(&w, []string{text})
		complainLine(&w, text)
		want = "fiord: " + want + "\nfiord: x\n  " + want + "\nfiord: note: " + want + "\nfiord: " + want + "\n"
		if w.String() != want {
			t.Errorf("%q:\n%q\nwant\n%q", text, w.String(), want)
		}
	}
}
