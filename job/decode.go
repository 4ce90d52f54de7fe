package job

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Set decodes text into the option's field of the struct that structPtr points to, which must be of the type that was
// declared. given is false for an option without a value, as flags may be.
func (t *Table) Set(structPtr any, d *Decl, text string, given bool, kbBase int) error {
	v := reflect.ValueOf(structPtr)
	if v.Kind() != reflect.Pointer || v.Elem().Type() != t.typ {
		return fmt.Errorf("option %q: want a *%v, got %T", d.Name, t.typ, structPtr)
	}
	return d.set(d.field(v.Elem()), text, given, kbBase)
}

// Defaults sets every option that declares a default.
func (t *Table) Defaults(structPtr any) error {
	for _, d := range t.decls {
		if d.Default == "" {
			continue // none, or an empty string, which is the zero value
		}
		if err := t.Set(structPtr, d, d.Default, true, 1024); err != nil {
			return fmt.Errorf("default of %s: %w", d.Name, err)
		}
	}
	return nil
}

// isDefault reports whether the option has its default value in the struct.
func (t *Table) isDefault(structPtr any, d *Decl) bool {
	def := reflect.New(d.typ)
	if d.Default != "" {
		if err := d.set(def.Elem(), d.Default, true, 1024); err != nil {
			return false
		}
	}
	return reflect.DeepEqual(d.field(reflect.ValueOf(structPtr).Elem()).Interface(), def.Elem().Interface())
}

func (d *Decl) set(v reflect.Value, text string, given bool, kbBase int) error {
	if d.Kind == KindDeprecated {
		return nil
	}
	if !given {
		switch {
		case d.Kind == KindFlag:
			v.SetBool(true)
			return nil
		case v.Type() == reflect.TypeFor[LogName]():
			v.Set(reflect.ValueOf(LogName{On: true}))
			return nil
		}
		return fmt.Errorf("%w: %s", ErrNeedsValue, d.Allowed())
	}
	if d.MaxLen > 0 && len(text) >= d.MaxLen {
		return badValue(abbreviate(text), "fewer than %d bytes", d.MaxLen)
	}
	if s, ok := v.Addr().Interface().(Decoder); ok {
		return s.DecodeOption(d, strings.TrimSpace(text), kbBase)
	}
	switch target := v.Addr().Interface().(type) {
	case *PerDir[BSSplit]:
		return decodeBSSplits(target, strings.TrimSpace(text), kbBase)
	case *PerDir[Distribution]:
		return decodeDistributions(target, d, strings.TrimSpace(text), kbBase)
	}
	if d.PerDir {
		return d.setPerDir(v, text, kbBase)
	}
	return d.setScalar(v, text, kbBase)
}

func abbreviate(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}

// setPerDir reads up to three values for read, write and trim. An empty value leaves its direction as it was; the last
// value given goes for the directions after it, unless a separator follows it.
func (d *Decl) setPerDir(v reflect.Value, text string, kbBase int) error {
	parts := splitDirs(strings.TrimSpace(text), d.Kind == KindRange)
	if len(parts) > NDirs+1 || len(parts) == NDirs+1 && parts[NDirs] != "" {
		return badValue(text, "at most %d values: read,write,trim", NDirs)
	}
	any := false
	for i, part := range parts[:min(len(parts), NDirs)] {
		if part == "" {
			continue
		}
		any = true
		if err := d.setScalar(v.Index(i), part, kbBase); err != nil {
			return err
		}
		if i == len(parts)-1 {
			for j := i + 1; j < NDirs; j++ {
				v.Index(j).Set(v.Index(i))
			}
		}
	}
	if !any {
		return badValue(text, "%s, per direction as read,write,trim", d.Allowed())
	}
	return nil
}

// splitDirs splits at commas; where there are none and the values are no ranges, at colons or hyphens, which fio takes
// as well. Parentheses are left whole.
func splitDirs(text string, ranges bool) []string {
	seps := []byte{','}
	if !ranges {
		seps = []byte{',', ':', '-'}
	}
	for _, sep := range seps {
		if parts := splitOutside(text, sep); len(parts) > 1 {
			return parts
		}
	}
	return []string{text}
}

// splitOutside splits at sep where it is outside of parentheses and not the first byte of a part, unless it is a comma.
func splitOutside(text string, sep byte) []string {
	var parts []string
	depth, start := 0, 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == sep && depth == 0 && (sep == ',' || i > start):
			parts = append(parts, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	return append(parts, strings.TrimSpace(text[start:]))
}

func (d *Decl) setScalar(v reflect.Value, text string, kbBase int) error {
	if dec, ok := v.Addr().Interface().(Decoder); ok {
		return dec.DecodeOption(d, text, kbBase)
	}
	switch d.Kind {
	case KindString, KindEnum:
		return d.setString(v, text)
	case KindBool, KindFlag:
		return d.setBool(v, text)
	case KindFloatList:
		return d.setFloats(v, text)
	case KindTime:
		return d.setTime(v, text)
	}
	return d.setInt(v, text, kbBase)
}

func (d *Decl) setString(v reflect.Value, text string) error {
	s := strings.TrimSpace(text)
	if s == "" {
		return badValue(text, "a value")
	}
	if d.Kind == KindEnum {
		base, rest, hasRest := strings.Cut(s, ":")
		if !contains(d.Vals, base) || hasRest && (d.Name != "mem" || !strings.HasPrefix(base, "mmap") || rest == "") {
			return badValue(text, "%s", d.Allowed())
		}
	}
	v.SetString(s)
	return nil
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

func (d *Decl) setBool(v reflect.Value, text string) error {
	digits, base := strings.TrimSpace(text), 10
	if hex, ok := strings.CutPrefix(strings.ToLower(digits), "0x"); ok {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n > 1 {
		return badValue(text, "%s", d.Allowed())
	}
	v.SetBool(n == 1)
	return nil
}

func (d *Decl) setInt(v reflect.Value, text string, kbBase int) error {
	n, err := ParseBytes(text, kbBase)
	if err != nil {
		return err
	}
	if err := d.inLimits(float64(n), text); err != nil {
		return err
	}
	if len(d.Vals) > 0 && !contains(d.Vals, strconv.FormatInt(n, 10)) {
		return badValue(text, "one of %s", strings.Join(d.Vals, ", "))
	}
	return storeInt(v, n, text)
}

// inLimits checks a number against min and max; a number may be below 0 only where min says so.
func (d *Decl) inLimits(n float64, text string) error {
	switch {
	case d.HasDefault && text == d.Default: // some engines' defaults are -1
	case d.HasMin && n < d.Min, d.HasMax && n > d.Max, !d.HasMin && n < 0:
		limits := d.limits()
		if !d.HasMin && !d.HasMax {
			limits = "a number not below 0"
		}
		return badValue(text, "%s", limits)
	}
	return nil
}

// storeInt stores n in an integer field of any width. int fields are fio's 32-bit integers.
func storeInt(v reflect.Value, n int64, text string) error {
	if v.CanUint() {
		if n < 0 || v.OverflowUint(uint64(n)) {
			return badValue(text, "a number from 0 to %d", ^uint64(0)>>(64-v.Type().Bits()))
		}
		v.SetUint(uint64(n))
		return nil
	}
	const maxInt = 1<<32 - 1
	if v.OverflowInt(n) || v.Kind() == reflect.Int && n > maxInt {
		return badValue(text, "a number up to %d", int64(maxInt))
	}
	v.SetInt(n)
	return nil
}

func (d *Decl) setTime(v reflect.Value, text string) error {
	t, err := ParseTime(text, d.Unit)
	if err != nil {
		return err
	}
	if v.Type() == durationType {
		v.SetInt(int64(t))
		return nil
	}
	return storeInt(v, t.Microseconds(), text)
}

func (d *Decl) setFloats(v reflect.Value, text string) error {
	var list []float64
	for _, part := range strings.Split(strings.TrimSpace(text), ":") {
		f, err := parseFloat(part)
		if err != nil {
			return badValue(text, "numbers separated by colons")
		}
		if err := d.inLimits(f, text); err != nil {
			return err
		}
		list = append(list, f)
	}
	if v.Kind() == reflect.Float64 {
		if len(list) > 1 {
			return badValue(text, "one number")
		}
		v.SetFloat(list[0])
		return nil
	}
	if d.Items > 0 && len(list) > d.Items {
		return badValue(text, "at most %d numbers", d.Items)
	}
	v.Set(reflect.ValueOf(list))
	return nil
}

// parseFloat reads a floating number or arithmetic in parentheses.
func parseFloat(text string) (float64, error) {
	s := strings.TrimSpace(text)
	if strings.HasPrefix(s, "(") {
		n, err := evaluate(s, false)
		return n.f, err
	}
	if strings.ContainsAny(s, "xXpP_nN") { // Go's hexadecimal, inf and nan are no numbers here
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(s, 64)
}
