package job

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Kind says how an option's value is written.
type Kind string

// The kinds of option.
const (
	KindString     Kind = "string"
	KindEnum       Kind = "enum"       // one of Vals
	KindBool       Kind = "bool"       // 0 or 1
	KindFlag       Kind = "flag"       // nothing, 0 or 1
	KindInt        Kind = "int"        // number with unit suffix
	KindSize       Kind = "size"       // bytes, percent or zones
	KindTime       Kind = "time"       // number with time suffix
	KindRange      Kind = "range"      // low-high
	KindFloatList  Kind = "float list" // numbers separated by colons
	KindCustom     Kind = "custom"     // a syntax of its own
	KindDeprecated Kind = "deprecated"
)

// Decl is the declaration of one option, as a field's tags say it.
type Decl struct {
	Name       string
	Aliases    []string
	Inverse    string // option whose value is the opposite of this one
	Kind       Kind
	Type       string // the Go type of the field, without its package
	Help       string
	Default    string
	HasDefault bool
	Min, Max   float64 // valid when HasMin, HasMax
	HasMin     bool
	HasMax     bool
	Vals       []string
	Parent     string // option that this one refines; empty: none
	Group      string
	Unit       time.Duration // of a bare number in a time; 0: not a time
	Items      int           // most entries of a list; 0: no limit
	MaxLen     int           // most bytes of a string; 0: no limit
	Prio       int           // options of higher priority are parsed first
	PerDir     bool          // takes a value per direction: read,write,trim
	Deprecated string        // "hard": giving it is an error; "soft": it is noticed; empty: not deprecated
	Missing    string        // not empty: not implemented, and why

	index []int
	typ   reflect.Type
}

// Table is the options of one struct, in declaration order.
type Table struct {
	decls  []*Decl
	byName map[string]*Decl
	typ    reflect.Type
}

// Decoder is implemented by the pointer to a field type with a syntax of its own.
type Decoder interface {
	// DecodeOption reads the text into the receiver. Sizes follow kbBase, see ParseBytes.
	DecodeOption(d *Decl, text string, kbBase int) error
}

var (
	decoderType    = reflect.TypeFor[Decoder]()
	durationType   = reflect.TypeFor[time.Duration]()
	deprecatedType = reflect.TypeFor[Deprecated]()
)

// Declare reads the option declarations of the struct that structPtr points to. Embedded structs are entered in order;
// a field without a fio tag is no option. The tags:
//
//	fio         the option's name
//	alias       other names, separated by |
//	inverse     name of the option that means the opposite
//	def         default, in the option's own syntax
//	min max     inclusive limits of a number
//	items       most entries of a list
//	maxlen      most bytes of a string
//	unit        us or s: the value is a time, and what a bare number counts. A time.Duration holds the time; an integer
//	            holds microseconds in either case
//	vals        allowed values, separated by |
//	parent      option that this one refines
//	prio        parse priority, 0 when absent; higher comes first
//	flag        "1": a bool that may be given without a value
//	deprecated  hard or soft
//	missing     the option is declared but not implemented, and why
//	group       where help lists it
//	help        one sentence
//
// Field types: string, bool, integers, float64, time.Duration, []float64, Deprecated, PerDir of integers or of Range,
// and types that implement Decoder.
func Declare(structPtr any) (*Table, error) {
	t := reflect.TypeOf(structPtr)
	if t == nil || t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("declare options: want a pointer to a struct, got %T", structPtr)
	}
	table := &Table{byName: make(map[string]*Decl), typ: t.Elem()}
	if err := table.collect(t.Elem(), nil); err != nil {
		return nil, fmt.Errorf("declare options of %v: %w", t.Elem(), err)
	}
	return table, nil
}

// All lists the options in declaration order. The caller must not change them.
func (t *Table) All() []*Decl { return t.decls }

// Lookup finds an option by name or alias, nil when there is none.
func (t *Table) Lookup(name string) *Decl { return t.byName[name] }

func (t *Table) collect(typ reflect.Type, index []int) error {
	for i := range typ.NumField() {
		f := typ.Field(i)
		at := append(append([]int(nil), index...), i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct && f.Tag.Get("fio") == "" {
			if err := t.collect(f.Type, at); err != nil {
				return err
			}
			continue
		}
		if f.Tag.Get("fio") == "" {
			continue
		}
		d, err := newDecl(f, at)
		if err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		if err := t.add(d); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) add(d *Decl) error {
	for _, name := range append([]string{d.Name}, d.Aliases...) {
		if t.byName[name] != nil {
			return fmt.Errorf("option %q is declared twice", name)
		}
		t.byName[name] = d
	}
	t.decls = append(t.decls, d)
	return nil
}

func newDecl(f reflect.StructField, index []int) (*Decl, error) {
	tag := f.Tag
	d := &Decl{Name: tag.Get("fio"), Inverse: tag.Get("inverse"), Help: tag.Get("help"), Parent: tag.Get("parent"),
		Group: tag.Get("group"), Deprecated: tag.Get("deprecated"), Missing: tag.Get("missing"),
		index: index, typ: f.Type, Type: strings.TrimPrefix(strings.ReplaceAll(f.Type.String(), "job.", ""), "*")}
	if !f.IsExported() {
		return nil, fmt.Errorf("option %q: the field must be exported", d.Name)
	}
	d.Default, d.HasDefault = tag.Lookup("def")
	d.Aliases = splitTag(tag.Get("alias"))
	d.Vals = splitTag(tag.Get("vals"))
	var err error
	if d.Min, d.HasMin, err = tagNumber(tag, "min"); err != nil {
		return nil, err
	}
	if d.Max, d.HasMax, err = tagNumber(tag, "max"); err != nil {
		return nil, err
	}
	for name, field := range map[string]*int{"items": &d.Items, "maxlen": &d.MaxLen, "prio": &d.Prio} {
		if s, ok := tag.Lookup(name); ok {
			if *field, err = strconv.Atoi(s); err != nil {
				return nil, fmt.Errorf("tag %s: %w", name, err)
			}
		}
	}
	switch unit := tag.Get("unit"); unit {
	case "":
	case "us":
		d.Unit = time.Microsecond
	case "s":
		d.Unit = time.Second
	default:
		return nil, fmt.Errorf("tag unit: want us or s, got %q", unit)
	}
	d.Kind, d.PerDir, err = kindOf(d, tag.Get("flag") != "")
	return d, err
}

func splitTag(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "|")
}

func tagNumber(tag reflect.StructTag, name string) (float64, bool, error) {
	s, ok := tag.Lookup(name)
	if !ok {
		return 0, false, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, false, fmt.Errorf("tag %s: %w", name, err)
	}
	return f, true, nil
}

// kindOf derives the kind from the field's type and tags.
func kindOf(d *Decl, flag bool) (kind Kind, perDir bool, err error) {
	t := d.typ
	if t.Kind() == reflect.Array && t.Len() == NDirs && !reflect.PointerTo(t).Implements(decoderType) {
		perDir, t = true, t.Elem()
	}
	switch {
	case t == deprecatedType:
		return KindDeprecated, false, nil
	case t == reflect.TypeFor[Size]() || t == reflect.TypeFor[SizeRange]():
		return KindSize, perDir, nil
	case t == reflect.TypeFor[Range]():
		return KindRange, perDir, nil
	case t == durationType, t == reflect.TypeFor[TimeRange]():
		if d.Unit == 0 {
			return "", false, fmt.Errorf("option %q: a time needs the tag unit", d.Name)
		}
		return KindTime, perDir, nil
	case reflect.PointerTo(t).Implements(decoderType), isSplit(t):
		return KindCustom, perDir, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		if flag {
			return KindFlag, perDir, nil
		}
		return KindBool, perDir, nil
	case reflect.String:
		if len(d.Vals) > 0 {
			return KindEnum, perDir, nil
		}
		return KindString, perDir, nil
	case reflect.Float64:
		return KindFloatList, perDir, nil
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Float64 {
			return KindFloatList, perDir, nil
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if d.Unit != 0 {
			return KindTime, perDir, nil
		}
		return KindInt, perDir, nil
	}
	return "", false, fmt.Errorf("option %q: no decoder for type %v", d.Name, d.typ)
}

// isSplit tells the types whose per-direction lists have a grammar of their own.
func isSplit(t reflect.Type) bool {
	return t == reflect.TypeFor[BSSplit]() || t == reflect.TypeFor[Distribution]()
}

// field is the option's field in the struct that v is.
func (d *Decl) field(v reflect.Value) reflect.Value { return v.FieldByIndex(d.index) }

// Allowed says in words what values the option takes, for messages.
func (d *Decl) Allowed() string {
	if len(d.Vals) > 0 {
		return "one of " + strings.Join(d.Vals, ", ")
	}
	switch d.Kind {
	case KindBool:
		return "0 or 1"
	case KindFlag:
		return "no value, 0 or 1"
	case KindTime:
		return wantTime
	case KindInt, KindFloatList, KindSize:
		return d.limits()
	}
	return "a " + string(d.Kind)
}

func (d *Decl) limits() string {
	switch {
	case d.HasMin && d.HasMax:
		return fmt.Sprintf("a number from %s to %s", num(d.Min), num(d.Max))
	case d.HasMin:
		return fmt.Sprintf("a number not below %s", num(d.Min))
	case d.HasMax:
		return fmt.Sprintf("a number from 0 to %s", num(d.Max))
	}
	return "a number"
}

func num(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
