package nvme

import (
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

// archive writes the guest's first file system: a cpio archive in the format that the kernel reads.
type archive struct {
	w    io.Writer
	n    int
	ino  int
	dirs map[string]bool
	err  error
}

func newArchive(w io.Writer) *archive {
	return &archive{w: w, dirs: map[string]bool{".": true, "/": true}}
}

func (a *archive) write(b []byte) {
	if a.err == nil {
		_, a.err = a.w.Write(b)
		a.n += len(b)
	}
}

func (a *archive) pad() { a.write(make([]byte, -a.n&3)) }

// entry adds a file, folder or node. rdev is the number of a character device, major<<8 | minor.
func (a *archive) entry(name string, mode, rdev int, content []byte) {
	name = strings.TrimPrefix(name, "/")
	a.ino++
	a.write(fmt.Appendf(nil, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", a.ino, mode, 0, 0, 1, 0,
		len(content), 0, 0, rdev>>8, rdev&0xff, len(name)+1, 0))
	a.write(append([]byte(name), 0))
	a.pad()
	a.write(content)
	a.pad()
}

func (a *archive) dir(name string) {
	if a.dirs[name] {
		return
	}
	a.dir(path.Dir(name))
	a.dirs[name] = true
	a.entry(name, 0o40755, 0, nil)
}

// file adds a program or data.
func (a *archive) file(name string, content []byte) {
	a.dir(path.Dir(name))
	a.entry(name, 0o100755, 0, content)
}

// copy adds a file of the host.
func (a *archive) copy(name, from string) {
	b, err := os.ReadFile(from)
	if err != nil && a.err == nil {
		a.err = err
	}
	a.file(name, b)
}

// close ends the archive.
func (a *archive) close() error {
	a.entry("TRAILER!!!", 0, 0, nil)
	return a.err
}
