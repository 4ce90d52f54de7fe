package report

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// jsonText writes JSON in fio's layout, which line-oriented scripts rely on: two blanks a level, a blank on both sides
// of the colon, one value a line also in lists, the closing bracket alone, and floats with six decimals.
type jsonText struct {
	buf   bytes.Buffer
	depth int
	any   bool // the object or list being written has an entry
}

// object writes an object whose entries fill makes. The key is empty inside a list and at the top.
func (t *jsonText) object(key string, fill func()) { t.nest(key, '{', '}', fill) }

// list writes a list; fill adds its values with empty keys.
func (t *jsonText) list(key string, fill func()) { t.nest(key, '[', ']', fill) }

func (t *jsonText) nest(key string, open, closing byte, fill func()) {
	if t.depth > 0 {
		t.key(key)
	}
	t.buf.WriteByte(open)
	t.buf.WriteByte('\n')
	t.depth++
	t.any = false
	fill()
	t.depth--
	t.any = true
	t.buf.WriteByte('\n')
	t.indent()
	t.buf.WriteByte(closing)
}

// key begins the next entry.
func (t *jsonText) key(key string) {
	if t.any {
		t.buf.WriteString(",\n")
	}
	t.any = true
	t.indent()
	if key != "" {
		t.quote(key)
		t.buf.WriteString(" : ")
	}
}

func (t *jsonText) indent() {
	for range t.depth {
		t.buf.WriteString("  ")
	}
}

// quote writes s as a JSON string: angle brackets and ampersands stay as they are, bad UTF-8 is replaced.
func (t *jsonText) quote(s string) {
	if plain(s) {
		t.buf.WriteByte('"')
		t.buf.WriteString(s)
		t.buf.WriteByte('"')
		return
	}
	enc := json.NewEncoder(&t.buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("report: a string is not encodable: " + err.Error()) // cannot happen: the buffer takes everything
	}
	t.buf.Truncate(t.buf.Len() - 1) // the line end that Encode adds
}

// plain reports whether s is the same in JSON, as nearly all keys are.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

func (t *jsonText) text(key, v string) {
	t.key(key)
	t.quote(v)
}

func (t *jsonText) count(key string, v uint64) {
	t.key(key)
	t.buf.WriteString(strconv.FormatUint(v, 10))
}

func (t *jsonText) integer(key string, v int64) {
	t.key(key)
	t.buf.WriteString(strconv.FormatInt(v, 10))
}

func (t *jsonText) float(key string, v float64) {
	t.key(key)
	t.buf.WriteString(strconv.FormatFloat(finite(v), 'f', 6, 64))
}

func (t *jsonText) counts(key string, values []uint64) {
	t.list(key, func() {
		for _, v := range values {
			t.count("", v)
		}
	})
}

func (t *jsonText) texts(key string, values []string) {
	t.list(key, func() {
		for _, v := range values {
			t.text("", v)
		}
	})
}

// floats writes an object of one float a name.
func (t *jsonText) floats(key string, names []string, values []float64) {
	t.object(key, func() {
		for i, v := range values {
			t.float(names[i], v)
		}
	})
}
