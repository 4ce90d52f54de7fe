package test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tally is what a report says of the I/O that was done.
type tally struct {
	Read, Write, Trim struct {
		Bytes uint64 `json:"io_bytes"`
		IOs   uint64 `json:"total_ios"`
	}
}

// tallyOf reads the only job of a JSON report; fio may print notes before it.
func tallyOf(t *testing.T, who string, out outcome) tally {
	t.Helper()
	if out.status != 0 {
		t.Fatalf("%s: status %d\n%s%s", who, out.status, out.stdout, out.stderr)
	}
	var r struct{ Jobs []tally }
	text := out.stdout[max(bytes.IndexByte(out.stdout, '{'), 0):]
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&r); err != nil || len(r.Jobs) != 1 {
		t.Fatalf("%s: %d jobs, %v\n%s", who, len(r.Jobs), err, out.stdout)
	}
	return r.Jobs[0]
}

// TestReplayInterop lets each program replay what the other has recorded: as many I/Os and bytes as the recorded job did,
// in every direction. Logs of version 2, which no program writes any more, are those of version 3 without time stamps.
func TestReplayInterop(t *testing.T) {
	fio := findFio(t)
	programs := map[string]func(dir string, args ...string) outcome{
		"fio":   func(dir string, args ...string) outcome { return command(t, dir, os.Environ(), fio, args...) },
		"fiord": func(dir string, args ...string) outcome { return fiord(t, dir, args...) },
	}
	for _, job := range []string{
		"--rw=randrw --rwmixread=40 --bsrange=4k-16k --size=1m --ioengine=psync --fsync=8",
		"--rw=rw --nrfiles=3 --bs=4k --size=384k --ioengine=psync",
		"--rw=write --bssplit=4k/60:8k/40 --size=512k --ioengine=libaio --iodepth=8 --loops=2",
		"--rw=randread --bs=2k --size=256k --ioengine=psync --openfiles=1 --nrfiles=4 --file_service_type=random",
	} {
		for writer, record := range programs {
			for reader, replay := range programs {
				t.Run(strings.Fields(job)[0]+" from "+writer+" to "+reader, func(t *testing.T) {
					dir := t.TempDir()
					args := append(strings.Fields(job), "--name=j", "--write_iolog=log", "--output-format=json")
					want := tallyOf(t, writer, record(dir, args...))
					if want.Read.IOs+want.Write.IOs == 0 {
						t.Fatal("nothing recorded")
					}
					again := []string{"--name=r", "--rw=rw", "--ioengine=psync", "--replay_no_stall=1", "--output-format=json"}
					got := tallyOf(t, reader, replay(dir, append(again, "--read_iolog=log")...))
					if d := cmp.Diff(want, got); d != "" {
						t.Errorf("version 3 (-recorded +replayed):\n%s", d)
					}
					old(t, dir)
					got = tallyOf(t, reader, replay(dir, append(again, "--read_iolog=log2")...))
					if d := cmp.Diff(want, got); d != "" {
						t.Errorf("version 2 (-recorded +replayed):\n%s", d)
					}
				})
			}
		}
	}
}

// old writes the log of version 3 as one of version 2.
func old(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	lines := withoutTimes(string(text))
	if lines[0] != "fio version 3 iolog" {
		t.Fatalf("the log starts with %q", lines[0])
	}
	lines[0] = "fio version 2 iolog"
	if err := os.WriteFile(filepath.Join(dir, "log2"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}
