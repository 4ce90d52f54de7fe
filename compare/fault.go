package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// fault is what is wrong with a document, and in which line.
type fault struct {
	line int // the first is 1
	what string
}

func (f *fault) Error() string { return fmt.Sprintf("line %d: %s", f.line, f.what) }

// faultOf puts an error of package json, which speaks of Go's types, into words about the report. Text is what was decoded.
func faultOf(err error, text []byte) error {
	at := func(offset int64, what string) error {
		end := max(0, min(int(offset), len(text)))
		return &fault{line: 1 + bytes.Count(text[:end], []byte("\n")), what: what}
	}
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrong):
		key := wrong.Field
		if key == "" {
			key = "the document"
		}
		want, got := kind(wrong.Type), wrong.Value
		number, isNumber := strings.CutPrefix(got, "number ")
		switch {
		case isNumber && want == "a number":
			return at(wrong.Offset, fmt.Sprintf("%s: %s is out of range", key, number))
		case isNumber:
			got = number
		case got == "bool":
			got = "true or false"
		default:
			got = article(got)
		}
		return at(wrong.Offset, fmt.Sprintf("%s: want %s, got %s", key, want, got))
	case errors.As(err, &syntax):
		return at(syntax.Offset, "no JSON: "+syntax.Error())
	}
	return err
}

// kind is what JSON calls a value that goes into a t.
func kind(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Int:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "an array"
	}
	return "an object"
}

func article(noun string) string {
	if strings.HasPrefix(noun, "a") || strings.HasPrefix(noun, "o") { // array, object
		return "an " + noun
	}
	return "a " + noun
}
