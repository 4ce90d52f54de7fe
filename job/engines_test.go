package job

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// fioOption is one option of fio's own table, as testdata/options.json has it.
type fioOption struct {
	Name, Kind, Alias, Inverse, Default, Parent string
	Min, Max                                    any
	ParsePriority                               int `json:"parse_priority"`
	Maxlen                                      int
	MaxItems                                    int  `json:"max_items"`
	PerDirection                                bool `json:"per_direction"`
	Active                                      bool
	If                                          []string
	Elsewhere                                   string
	Values                                      []struct{ Name string }
	Engines                                     []string
}

type fioTable struct {
	Options       []fioOption
	EngineOptions []fioOption `json:"engine_options"`
	Engines       []struct {
		Name    string
		Built   bool
		Flags   []string
		Options []string
	}
}

func loadFioTable(t testing.TB) fioTable {
	t.Helper()
	data, err := os.ReadFile("testdata/options.json")
	if err != nil {
		t.Fatal(err)
	}
	var table fioTable
	if err := json.Unmarshal(data, &table); err != nil {
		t.Fatal(err)
	}
	return table
}

// fakeEngines declares the engines of a default fio build with structs made from fio's own table; the others are
// external.
func fakeEngines(t testing.TB) []EngineDecl {
	t.Helper()
	table := loadFioTable(t)
	var decls []EngineDecl
	for _, e := range table.Engines {
		d := EngineDecl{Name: e.Name, Doc: "made up for the test", Traits: Traits{
			Sync:     slices.Contains(e.Flags, "FIO_SYNCIO"),
			Diskless: slices.Contains(e.Flags, "FIO_DISKLESSIO"),
			NoExtend: slices.Contains(e.Flags, "FIO_NOEXTEND"),
			Pipe:     slices.Contains(e.Flags, "FIO_PIPEIO"),
			Raw:      slices.Contains(e.Flags, "FIO_RAWIO"),
			Atomic:   slices.Contains(e.Flags, "FIO_ATOMICWRITES"),
		}}
		if e.Name == "libaio" {
			d.Aliases = []string{"aio", "linuxaio"}
		}
		if !e.Built {
			d.External, d.Missing = true, "not part of a default build"
		}
		if typ := fakeStruct(table, e.Name); typ.NumField() > 0 {
			d.Options = func() any { return reflect.New(typ).Interface() }
		}
		decls = append(decls, d)
	}
	return decls
}

func fakeStruct(table fioTable, engine string) reflect.Type {
	var fields []reflect.StructField
	for i, o := range table.EngineOptions {
		if !slices.Contains(o.Engines, engine) || !o.Active {
			continue
		}
		typ := map[string]reflect.Type{"int32": reflect.TypeFor[int](), "int64": reflect.TypeFor[uint64](),
			"bool": reflect.TypeFor[bool](), "flag": reflect.TypeFor[bool]()}[o.Kind]
		if typ == nil {
			typ = reflect.TypeFor[string]()
		}
		tag := fmt.Sprintf("fio:%q help:%q", o.Name, "made up")
		if o.Alias != "" {
			tag += fmt.Sprintf(" alias:%q", o.Alias)
		}
		if o.Default != "" {
			tag += fmt.Sprintf(" def:%q", o.Default)
		}
		if o.Kind == "flag" {
			tag += ` flag:"1"`
		}
		if o.Kind == "enum" && len(o.Values) > 0 {
			var names []string
			for _, v := range o.Values {
				names = append(names, v.Name)
			}
			tag += fmt.Sprintf(" vals:%q", strings.Join(names, "|"))
		}
		fields = append(fields, reflect.StructField{Name: "F" + strconv.Itoa(i), Type: typ, Tag: reflect.StructTag(tag)})
	}
	return reflect.StructOf(fields)
}

// loadText loads job file text with the fake engines.
func loadText(t testing.TB, l *Loader, text string) ([]*Job, []string, error) {
	t.Helper()
	if l.Engines == nil {
		l.Engines = fakeEngines(t)
	}
	l.AddText("test.fio", text)
	jobs, _, warnings, err := l.Load()
	return jobs, warnings, err
}

// valueOf is the struct behind an engine's options.
func valueOf(options any) reflect.Value { return reflect.ValueOf(options).Elem() }
