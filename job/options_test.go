package job

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestOptionDeclarations walks every declaration: the kind is known, the default parses, help is one sentence.
func TestOptionDeclarations(t *testing.T) {
	table, err := OptionTable()
	if err != nil {
		t.Fatal(err)
	}
	var o Options
	if err := table.Defaults(&o); err != nil {
		t.Error(err)
	}
	for _, d := range table.All() {
		if d.Help == "" || strings.Contains(d.Help, "\n") {
			t.Errorf("%s: help %q", d.Name, d.Help)
		}
		if d.Group == "" {
			t.Errorf("%s: no group", d.Name)
		}
		if d.Parent != "" && table.Lookup(d.Parent) == nil {
			t.Errorf("%s: parent %q is no option", d.Name, d.Parent)
		}
		if d.Inverse != "" && table.Lookup(d.Inverse) == nil {
			t.Errorf("%s: inverse %q is no option", d.Name, d.Inverse)
		}
		for _, v := range d.Vals {
			if d.Kind != KindEnum {
				continue
			}
			if err := table.Set(&o, d, v, true, 1024); err != nil {
				t.Errorf("%s=%s: %v", d.Name, v, err)
			}
		}
	}
}

// TestOptionTableAgreesWithFio compares names, aliases, ranges, defaults and values with fio 3.42's table.
func TestOptionTableAgreesWithFio(t *testing.T) {
	table, err := OptionTable()
	if err != nil {
		t.Fatal(err)
	}
	fio := loadFioTable(t)
	if got, want := len(table.All()), len(fio.Options)+reflect.TypeFor[OwnOptions]().NumField(); got != want {
		t.Errorf("%d options, want %d: fio's and fiord's own", got, want)
	}
	for i, o := range fio.Options {
		d := table.Lookup(o.Name)
		if d == nil {
			t.Errorf("%s: not declared", o.Name)
			continue
		}
		if d.Name != o.Name {
			t.Errorf("%s: declared as alias of %s", o.Name, d.Name)
		}
		if i < len(table.All()) && table.All()[i].Name != o.Name {
			t.Errorf("place %d: %s, fio has %s", i, table.All()[i].Name, o.Name)
		}
		if o.Alias != "" && !slices.Contains(d.Aliases, o.Alias) || o.Alias == "" && len(d.Aliases) > 0 {
			t.Errorf("%s: aliases %v, fio has %q", o.Name, d.Aliases, o.Alias)
		}
		if d.Default != o.Default {
			t.Errorf("%s: default %q, fio has %q", o.Name, d.Default, o.Default)
		}
		if d.Parent != o.Parent {
			t.Errorf("%s: parent %q, fio has %q", o.Name, d.Parent, o.Parent)
		}
		if d.Inverse != o.Inverse {
			t.Errorf("%s: inverse %q, fio has %q", o.Name, d.Inverse, o.Inverse)
		}
		if d.Prio != o.ParsePriority {
			t.Errorf("%s: priority %d, fio has %d", o.Name, d.Prio, o.ParsePriority)
		}
		if d.PerDir != o.PerDirection && o.PerDirection && o.Name != "rwmixwrite" {
			t.Errorf("%s: per direction %v, fio has %v", o.Name, d.PerDir, o.PerDirection)
		}
		if (d.Kind == KindFlag) != (o.Kind == "flag") || (d.Kind == KindBool) != (o.Kind == "bool") {
			t.Errorf("%s: kind %s, fio has %s", o.Name, d.Kind, o.Kind)
		}
		compareLimits(t, d, o)
		var values []string
		for _, v := range o.Values {
			values = append(values, v.Name)
		}
		if o.Name != "ioengine" && !slices.Equal(d.Vals, values) {
			t.Errorf("%s: values %v, fio has %v", o.Name, d.Vals, values)
		}
	}
}

// compareLimits compares limits, but for those that the type implies.
func compareLimits(t *testing.T, d *Decl, o fioOption) {
	t.Helper()
	if d.Kind == KindBool {
		return
	}
	if min, ok := o.Min.(float64); ok && (!d.HasMin || d.Min != min) {
		t.Errorf("%s: min %v %v, fio has %v", o.Name, d.HasMin, d.Min, min)
	}
	if max, ok := o.Max.(float64); ok && max < 1<<32-1 && (!d.HasMax || d.Max != max) {
		t.Errorf("%s: max %v %v, fio has %v", o.Name, d.HasMax, d.Max, max)
	}
}
