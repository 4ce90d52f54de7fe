package cli

import (
	"io"
	"os"
	"syscall"

	"golang.org/x/term"

	"fiord/engines"
	"fiord/internal/sys"
)

// Env is the process as a command sees it. Main fills it from the real one.
type Env struct {
	Args      []string // without the program's name
	LookupEnv func(name string) (string, bool)

	Stdin          io.Reader
	Stdout, Stderr io.Writer

	Open   func(path string) (io.ReadCloser, error)
	Create func(path string) (io.WriteCloser, error) // truncates

	// Terminal reports whether Stdout is a terminal, and Width how many columns it has (0: unknown).
	Terminal func() bool
	Width    func() int

	// Signals starts the delivery of SIGINT, SIGTERM and SIGUSR1, without echoes, and returns a function that ends it. Before that
	// the three have their default effect: an unfinished command line or job file can be broken off.
	Signals func() (<-chan os.Signal, func())
}

// Main runs the command line of this process with the given engines and returns the exit status: 0 when all went well,
// 1 for a command line or job file that is in error, else the number of jobs that failed (255 at most), plus 128 when a
// signal ended the run.
func Main(drivers ...*engines.Driver) int {
	if os.Getenv("GOTRACEBACK") == "" { // who sets it wants the stacks
		for _, s := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGABRT} {
			_ = sys.ResetSignal(s) // it fails for bad arguments alone
		}
	}
	return Run(osEnv(), drivers)
}

func osEnv() *Env {
	fd := int(os.Stdout.Fd())
	return &Env{
		Args:      os.Args[1:],
		LookupEnv: os.LookupEnv,
		Stdin:     os.Stdin,
		Stdout:    os.Stdout,
		Stderr:    os.Stderr,
		Open:      openFile,
		Create:    createFile,
		Terminal:  func() bool { return term.IsTerminal(fd) },
		Width: func() int {
			w, _, err := term.GetSize(fd)
			if err != nil {
				return 0
			}
			return w
		},
		Signals: osSignals,
	}
}

// createFile opens a report for writing alone: a named pipe then waits for its reader, who would come too late else, and a
// file that may be written but not read will do.
func createFile(path string) (io.WriteCloser, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// openFile opens a job file. A directory is refused here: its first read would fail with a less helpful message.
func openFile(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if st, err := f.Stat(); err == nil && st.IsDir() {
		f.Close()
		return nil, &os.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	}
	return f, nil
}
