package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// fileSize is the size of the files and devices that cases work on.
const fileSize = 64 << 20

// places are the files and devices that cases work on, made when first asked for.
type places struct {
	made map[place]string
	errs map[place]error
	undo []func()
}

// get is the file or device of p.
func (s *places) get(p place) (string, error) {
	if p == nothing {
		return "", nil
	}
	if s.made == nil {
		s.made, s.errs = map[place]string{}, map[place]error{}
	}
	if s.made[p] == "" && s.errs[p] == nil {
		s.made[p], s.errs[p] = s.make(p)
	}
	return s.made[p], s.errs[p]
}

func (s *places) make(p place) (string, error) {
	switch p {
	case disk:
		return s.file(os.TempDir())
	case memory:
		return s.file("/dev/shm")
	}
	backing, err := s.file("/dev/shm")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("losetup", "--find", "--show", "--direct-io=off", backing).Output()
	if err != nil {
		return "", fmt.Errorf("no loop device: %w", err)
	}
	dev := strings.TrimSpace(string(out))
	s.undo = append(s.undo, func() { _ = exec.Command("losetup", "--detach", dev).Run() })
	return dev, nil
}

// file makes a file of random contents in a directory of its own.
func (s *places) file(dir string) (string, error) {
	dir, err := os.MkdirTemp(dir, "fiord-bench-")
	if err != nil {
		return "", err
	}
	s.undo = append(s.undo, func() { os.RemoveAll(dir) })
	name := filepath.Join(dir, "data")
	f, err := os.Create(name)
	if err != nil {
		return "", err
	}
	// In small pieces: the peak memory of a program counts what its parent had when it started it.
	_, err = io.CopyN(f, rand.Reader, fileSize)
	return name, errors.Join(err, f.Sync(), f.Close())
}

// close removes what was made, the last first.
func (s *places) close() {
	for i := len(s.undo) - 1; i >= 0; i-- {
		s.undo[i]()
	}
}
