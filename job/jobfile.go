package job

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/ini.v1"
)

const (
	// maxLine is the longest option line, fio's. fio differs: it takes what follows as a line of its own.
	maxLine = 8191
	// maxFile bounds a job file with its includes, in bytes.
	maxFile = 64 << 20
	// maxIncludes bounds how deep include files nest.
	maxIncludes = 32
	// globalPrefix starts the name of a section that holds defaults.
	globalPrefix = "global"
)

// section is one section of a job file as written.
type section struct {
	name string
	file string
	line int
	opts []rawOption
}

func (s *section) global() bool { return strings.HasPrefix(s.name, globalPrefix) }

// rawOption is an option line as written, nothing expanded.
type rawOption struct {
	name, value string
	given       bool // it has a value, perhaps an empty one
	file        string
	line        int
}

// origin is the place of an option, for messages.
func (o rawOption) origin(section string) ParseError {
	return ParseError{File: o.file, Line: o.line, Section: section, Option: o.name}
}

// fileReader turns fio's job file syntax into a strict INI dialect, which ini.v1 then reads: sections are numbered, each
// key is unique and carries the place it was found at, and each value is fenced. Comments, includes and selection of
// sections are done here.
type fileReader struct {
	open  func(path string) (io.ReadCloser, error)
	stdin io.Reader
	only  []string // section names to keep; empty: all

	out      bytes.Buffer
	sections []*section
	files    []string // names that keys refer to by index
	keys     int
	size     int
	stack    []string // files being read, outermost first
	skipping bool
}

// readJobFile reads a job file and its includes. Sections come in order, repeated ones apart.
func readJobFile(r *fileReader, path string) ([]*section, error) {
	data, err := r.load(path)
	if err != nil {
		return nil, &ParseError{File: path, Err: err}
	}
	return r.parse(path, data)
}

func (r *fileReader) parse(name string, data []byte) ([]*section, error) {
	if err := r.lines(name, data); err != nil {
		return nil, err
	}
	return r.decode()
}

func (r *fileReader) load(path string) ([]byte, error) {
	in := io.NopCloser(r.stdin)
	if path != "-" {
		f, err := r.open(path)
		if err != nil {
			return nil, err
		}
		in = f
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, maxFile-int64(r.size)+1))
	if err != nil {
		return nil, err
	}
	if r.size += len(data); r.size > maxFile {
		return nil, fmt.Errorf("job file with its includes is larger than %d bytes", maxFile)
	}
	return data, nil
}

// lines passes over one file and writes the strict dialect.
func (r *fileReader) lines(file string, data []byte) error {
	nested := len(r.stack) > 0
	r.stack = append(r.stack, file)
	defer func() { r.stack = r.stack[:len(r.stack)-1] }()
	fileIndex := len(r.files)
	r.files = append(r.files, file)
	for n := 1; len(data) > 0; n++ {
		var raw []byte
		raw, data, _ = bytes.Cut(data, []byte("\n"))
		line := strings.TrimLeftFunc(string(raw), isBlank)
		nul := bytes.IndexByte(raw, 0) >= 0
		if !nul && (line == "" || line[0] == ';' || line[0] == '#') {
			continue
		}
		fail := func(err error) error {
			e := &ParseError{File: file, Line: n, Err: err}
			if len(r.sections) > 0 {
				e.Section = r.current().name
			}
			return e
		}
		if nul {
			return fail(fmt.Errorf("%w: the line holds a NUL byte", ErrSyntax))
		}
		line = stripEnd(line)
		var err error
		switch {
		case line[0] == '[' && nested:
			err = fmt.Errorf("%w: an included file holds options only, no section", ErrSyntax)
		case line[0] == '[':
			err = r.header(file, n, line)
		case r.skipping:
		case len(line) > maxLine:
			err = fmt.Errorf("%w: the line is longer than %d bytes", ErrSyntax, maxLine)
		case len(r.sections) == 0:
			err = fmt.Errorf("%w: option <%s> outside of a [section]", ErrSyntax, abbreviate(line))
		default:
			err = r.option(fileIndex, n, line)
		}
		var placed *ParseError
		if errors.As(err, &placed) {
			return err
		}
		if err != nil {
			return fail(err)
		}
	}
	return nil
}

func (r *fileReader) current() *section { return r.sections[len(r.sections)-1] }

// header begins a section, or a stretch to skip when it is not among the selected ones.
func (r *fileReader) header(file string, n int, line string) error {
	name := strings.TrimSuffix(line[1:], "]")
	if name == line[1:] {
		return fmt.Errorf("%w: section header %q lacks its closing ]", ErrSyntax, abbreviate(line))
	}
	if name == "" || len(name) > 255 {
		return fmt.Errorf("%w: a section name has 1 to 255 bytes", ErrSyntax)
	}
	s := &section{name: name, file: file, line: n}
	r.skipping = len(r.only) > 0 && !s.global() && !slices.Contains(r.only, name)
	if r.skipping {
		return nil
	}
	fmt.Fprintf(&r.out, "[%d]\n", len(r.sections))
	r.sections = append(r.sections, s)
	return nil
}

// option writes one option, or reads the file that include names.
func (r *fileReader) option(file, n int, line string) error {
	if rest, ok := strings.CutPrefix(line, "include"); ok && (rest == "" || strings.ContainsRune(" \t=", rune(rest[0]))) {
		return r.include(strings.TrimLeft(rest, " \t="))
	}
	name, value, given := strings.Cut(line, "=")
	fence := "!"
	if given {
		fence = "|" + value + "|"
	}
	r.keys++
	fmt.Fprintf(&r.out, "%d.%d.%d.%s=%s\n", r.keys, file, n, strconv.Quote(strings.TrimRightFunc(name, isBlank)), fence)
	return nil
}

// include reads a file in place: the path as it is, else relative to the file that names it.
func (r *fileReader) include(path string) error {
	if path == "" {
		return fmt.Errorf("%w: include names no file", ErrSyntax)
	}
	from := r.stack[len(r.stack)-1]
	data, err := r.load(path)
	if dir := filepath.Dir(from); err != nil && !filepath.IsAbs(path) && strings.Contains(from, "/") {
		beside := filepath.Join(dir, path)
		if data2, err2 := r.load(beside); err2 == nil {
			path, data, err = beside, data2, nil
		}
	}
	if err != nil {
		return fmt.Errorf("include %s: %w", path, err)
	}
	if slices.Contains(r.stack, path) || len(r.stack) >= maxIncludes {
		return fmt.Errorf("%w: include loop: %s -> %s", ErrSyntax, strings.Join(r.stack, " -> "), path)
	}
	return r.lines(path, data)
}

// decode reads the strict dialect and hands the options to their sections.
func (r *fileReader) decode() ([]*section, error) {
	file, err := ini.LoadSources(ini.LoadOptions{IgnoreInlineComment: true, IgnoreContinuation: true,
		PreserveSurroundedQuote: true, KeyValueDelimiters: "=", SkipUnrecognizableLines: false}, r.out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("read job file: %w", err)
	}
	for i, s := range r.sections {
		for _, key := range file.Section(strconv.Itoa(i)).Keys() {
			opt, err := r.decodeKey(key.Name(), key.Value())
			if err != nil {
				return nil, fmt.Errorf("read job file: %w", err)
			}
			s.opts = append(s.opts, opt)
		}
	}
	return r.sections, nil
}

func (r *fileReader) decodeKey(key, value string) (rawOption, error) {
	parts := strings.SplitN(key, ".", 4)
	if len(parts) != 4 {
		return rawOption{}, fmt.Errorf("key %q is damaged", key)
	}
	file, err1 := strconv.Atoi(parts[1])
	line, err2 := strconv.Atoi(parts[2])
	name, err3 := strconv.Unquote(parts[3])
	if err := errors.Join(err1, err2, err3); err != nil {
		return rawOption{}, err
	}
	opt := rawOption{name: name, file: r.files[file], line: line, given: value != "!"}
	if opt.given {
		opt.value = value[1 : len(value)-1]
	}
	return opt, nil
}

// isBlank tells what fio strips at the ends of a line: white space and control characters.
func isBlank(c rune) bool { return c <= ' ' || c == 0x7f }

// stripEnd cuts a comment off a line and the blanks before it.
func stripEnd(line string) string {
	if i := strings.IndexAny(line, ";#"); i >= 0 {
		line = line[:i]
	}
	return strings.TrimRightFunc(line, isBlank)
}

// openFile is the default of Loader.Open.
func openFile(path string) (io.ReadCloser, error) { return os.Open(path) }
