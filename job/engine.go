package job

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// applyEngine decodes the options that fio's table does not have.
func (l *Loader) applyEngine(j *Job, s *section, opts []rawOption) error {
	if len(opts) == 0 && (s.global() || l.ParseOnly) {
		if !s.global() {
			if err := l.loadEngine(j); err != nil {
				l.warn(j, err)
			}
		}
		return nil
	}
	if err := l.loadEngine(j); err != nil {
		return &ParseError{File: s.file, Line: s.line, Section: s.name, Option: "ioengine", Err: err}
	}
	t, err := l.engineTable(j.EngineDoc)
	if err != nil {
		return err
	}
	if t != nil {
		sortByPrio(opts, t)
	}
	var errs []error
	for _, o := range opts {
		var d *Decl
		if t != nil {
			d = t.Lookup(o.name)
		}
		err := error(nil)
		if d == nil {
			err = l.unknownOption(o.name, j)
		} else {
			err = l.setEngineOption(j, d, o.value, o.given)
		}
		if err != nil {
			errs = append(errs, placed(o, s.name, err))
		}
	}
	return errors.Join(errs...)
}

func (l *Loader) setEngineOption(j *Job, d *Decl, value string, given bool) error {
	t, err := l.engineTable(j.EngineDoc)
	if err != nil {
		return err
	}
	if err := l.deprecated(d); err != nil {
		return err
	}
	// Engine options do not see kb_base, in fio either.
	if err := t.Set(j.Engine, d, value, given, 1024); err != nil {
		return err
	}
	j.record(d, value, given)
	return nil
}

// engineTable declares an engine's options once; nil when it has none.
func (l *Loader) engineTable(e *EngineDecl) (*Table, error) {
	if e == nil || e.Options == nil {
		return nil, nil
	}
	if t, ok := l.tables[e.Name]; ok {
		return t, nil
	}
	t, err := Declare(e.Options())
	if err != nil {
		return nil, fmt.Errorf("engine %s: %w", e.Name, err)
	}
	l.tables[e.Name] = t
	return t, nil
}

// loadEngine finds the job's engine and makes its options struct: the one the job has when the type is the same, a copy
// of what [global] set when that is, else the defaults.
func (l *Loader) loadEngine(j *Job) error {
	decl, err := l.findEngine(j.IOEngine)
	if err != nil {
		return err
	}
	template := j.Engine
	if template == nil && j != l.def {
		template = l.def.Engine
	}
	shared := j.EngineDoc == decl && j != l.def && j.Engine == l.def.Engine
	if j.EngineDoc == decl && !shared {
		return nil
	}
	j.EngineDoc, j.Engine = decl, nil
	t, err := l.engineTable(decl)
	if err != nil || t == nil {
		return err
	}
	fresh := decl.Options()
	if template != nil && reflect.TypeOf(template) == reflect.TypeOf(fresh) {
		reflect.ValueOf(fresh).Elem().Set(reflect.ValueOf(template).Elem())
	} else if err := t.Defaults(fresh); err != nil {
		return err
	}
	j.Engine = fresh
	return nil
}

func (l *Loader) findEngine(name string) (*EngineDecl, error) {
	var names []string
	for i := range l.Engines {
		e := &l.Engines[i]
		if e.Name == name || contains(e.Aliases, name) {
			if e.External {
				return nil, fmt.Errorf("%w: %s: %s", ErrUnknownEngine, name, e.Missing)
			}
			return e, nil
		}
	}
	for _, e := range l.Engines {
		if !e.External {
			names = append(append(names, e.Name), e.Aliases...)
		}
	}
	if path, ok := strings.CutPrefix(name, "external:"); ok || strings.HasPrefix(name, "external") {
		return nil, fmt.Errorf("%w: external engine %q: shared objects cannot be loaded into a static binary",
			ErrUnknownEngine, path)
	}
	if near := Nearest(name, names); near != "" {
		return nil, fmt.Errorf("%w: %s: did you mean %q?", ErrUnknownEngine, name, near)
	}
	return nil, fmt.Errorf("%w: %s", ErrUnknownEngine, name)
}
