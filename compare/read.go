package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxReport is the size, in bytes, beyond which a file is taken for no report.
const maxReport = 1 << 30

// ErrNoReport is returned for a file that holds no JSON report.
var ErrNoReport = errors.New("holds no JSON report with jobs")

// Read reads the report of one run. What stands before and behind the document is passed over, as notes of fio do. Of
// several documents, which --status-interval leaves, the last counts: it is of the whole run. A document that is cut short
// is an error, because what it lacks cannot be told from what was not measured.
func Read(name string, r io.Reader) (*Run, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxReport+1))
	if err != nil {
		return nil, fmt.Errorf("report %s: %w", name, err)
	}
	if len(text) > maxReport {
		return nil, fmt.Errorf("report %s: larger than %d bytes", name, maxReport)
	}
	doc, err := lastDocument(text)
	if err != nil {
		return nil, fmt.Errorf("report %s: %w", name, err)
	}
	run, err := doc.run()
	if err != nil {
		return nil, fmt.Errorf("report %s: %w", name, err)
	}
	run.Name = name
	return run, nil
}

// lastDocument finds the last document among other text. A document begins with a brace at the beginning of a line.
func lastDocument(text []byte) (*document, error) {
	if bytes.IndexByte(text, 0) >= 0 {
		return nil, ErrNoReport // no text: a data file or a device, given by mistake
	}
	var last *document
	var bad error
	// A brace that begins no document costs a look at all that follows, so there is an end to how much is looked at for nothing.
	left := 1<<20 + 8*len(text)
	line := 0 // lines before text
	for len(text) > 0 && left > 0 {
		before := text
		if text[0] == '{' {
			doc, rest, looked, err := cutDocument(text)
			if doc == nil {
				left -= looked
			}
			if err == nil {
				if doc != nil {
					last, bad = doc, nil // what was in the way before was text with a brace
				}
				text = rest
				line += bytes.Count(before[:len(before)-len(text)], []byte("\n"))
				continue
			}
			bad = err
			if f, ok := err.(*fault); ok {
				f.line += line
			}
		}
		_, text, _ = bytes.Cut(text, []byte("\n"))
		line++
	}
	switch {
	case bad != nil:
		return nil, bad
	case last == nil:
		return nil, ErrNoReport
	}
	return last, nil
}

// cutDocument reads the document that text begins with, and returns what is behind it and how many bytes it has looked at.
// The document is nil, without an error, where the text is no report at all.
func cutDocument(text []byte) (doc *document, rest []byte, looked int, err error) {
	strict, n, whole := toJSON(text)
	isReport := bytes.Contains(text[:n], []byte(`"fio version"`)) || bytes.Contains(text[:n], []byte(`"jobs"`))
	_, line, _ := bytes.Cut(text, []byte("\n"))
	if !whole {
		if isReport {
			return nil, nil, n, errors.New("the last document is cut short")
		}
		return nil, line, n, nil
	}
	doc = new(document)
	if err := json.Unmarshal(strict, doc); err != nil {
		if isReport {
			return nil, nil, n, faultOf(err, strict)
		}
		return nil, line, n, nil
	}
	if doc.Jobs == nil && doc.Clients == nil {
		return nil, text[n:], n, nil
	}
	return doc, text[n:], n, nil
}

// toJSON copies the object that text begins with, up to its closing brace, and says how long it was and whether the brace
// was there. Outside of strings, fio's numbers that JSON does not have, such as -nan, become null.
func toJSON(text []byte) (strict []byte, n int, whole bool) {
	depth := 0
	for n < len(text) {
		c := text[n]
		switch {
		case c == '"':
			end := stringEnd(text, n)
			strict = append(strict, text[n:end]...)
			n = end
			continue
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case isWord(c):
			end := n
			for end < len(text) && isWord(text[end]) {
				end++
			}
			strict = append(strict, number(text[n:end])...)
			n = end
			continue
		}
		strict = append(strict, c)
		n++
		if depth == 0 {
			return strict, n, true
		}
	}
	return strict, n, false
}

// stringEnd is where the string that begins at from ends, its closing quote counted in.
func stringEnd(text []byte, from int) int {
	for i := from + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// isWord reports whether c belongs to a number or to one of the words nan, inf, true, false and null.
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.'
}

func number(word []byte) []byte {
	switch string(bytes.ToLower(bytes.TrimLeft(word, "+-"))) {
	case "nan", "inf", "infinity":
		return []byte("null")
	}
	return word
}
