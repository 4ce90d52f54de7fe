package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// shape is the form of a JSON value: keys in order and kinds, without values.
type shape struct {
	key  string
	kind string // object, list, string, int, float, bool, null
	kids []*shape
}

// shapesOf reads the shapes of all documents of text: there are several with --status-interval.
func shapesOf(text []byte) ([]*shape, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var docs []*shape
	for d.More() {
		s, err := readShape(d, "")
		if err != nil {
			return nil, err
		}
		docs = append(docs, s)
	}
	return docs, nil
}

func readShape(d *json.Decoder, key string) (*shape, error) {
	tok, err := d.Token()
	if err != nil {
		return nil, err
	}
	s := &shape{key: key}
	switch v := tok.(type) {
	case json.Delim:
		s.kind = "object"
		if v == '[' {
			s.kind = "list"
		}
		return s, readKids(d, s)
	case json.Number:
		s.kind = "int"
		if strings.ContainsAny(v.String(), ".eE") {
			s.kind = "float"
		}
	case string:
		s.kind = "string"
	case bool:
		s.kind = "bool"
	default:
		s.kind = "null"
	}
	return s, nil
}

func readKids(d *json.Decoder, s *shape) error {
	for i := 0; d.More(); i++ {
		key := fmt.Sprintf("[%d]", i)
		if s.kind == "object" {
			tok, err := d.Token()
			if err != nil {
				return err
			}
			key = tok.(string)
		}
		kid, err := readShape(d, key)
		if err != nil {
			return err
		}
		s.kids = append(s.kids, kid)
	}
	_, err := d.Token() // the closing delimiter
	return err
}

// prune drops what depends on the machine or on time, fiord's own keys, and keys that an object has already, as fio's
// options have when they are given twice.
func (s *shape) prune() {
	var kids []*shape
	seen := map[string]bool{}
	for _, k := range s.kids {
		if seen[k.key] {
			continue
		}
		seen[k.key] = true
		switch k.key {
		case "fiord", "disk_util":
			continue
		case "data": // of steadystate: one number a second
			k.kids = nil
		}
		k.prune()
		kids = append(kids, k)
	}
	s.kids = kids
}

// text writes the shape as an indented tree. A subtree that stood before is written as its place, which keeps the text
// short: the directions of a job are mostly alike, and so are the jobs.
func (s *shape) text() string {
	var b strings.Builder
	seen := map[string]string{}
	var write func(s *shape, path string, depth int)
	write = func(s *shape, path string, depth int) {
		indent := strings.Repeat(" ", depth)
		if len(s.kids) == 0 {
			fmt.Fprintf(&b, "%s%s %s\n", indent, s.key, s.kind)
			return
		}
		whole := s.flat()
		if at, ok := seen[whole]; ok {
			fmt.Fprintf(&b, "%s%s = %s\n", indent, s.key, at)
			return
		}
		seen[whole] = path
		fmt.Fprintf(&b, "%s%s %s\n", indent, s.key, s.kind)
		for _, k := range s.kids {
			write(k, path+"/"+k.key, depth+1)
		}
	}
	for _, k := range s.kids {
		write(k, k.key, 0)
	}
	return b.String()
}

// flat is all of the shape below its own key.
func (s *shape) flat() string {
	var b strings.Builder
	b.WriteString(s.kind)
	b.WriteByte('{')
	for _, k := range s.kids {
		fmt.Fprintf(&b, "%q:%s,", k.key, k.flat())
	}
	b.WriteByte('}')
	return b.String()
}
