package test

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
)

// pureJobs are runs in which something besides the report might be said.
var pureJobs = []struct {
	name, args string
	status     int
	docs       int // 0: one or more
}{
	{"good", "--name=j --rw=write --bs=4k --size=64k", 0, 1},
	{"layout", "--name=j --rw=read --bs=4k --size=64k", 0, 1},
	{"cpuio", "--name=j --ioengine=cpuio --cpuload=10 --time_based --runtime=20ms", 0, 1},
	{"a note", "--name=j --ioengine=sync --iodepth=8 --rw=read --bs=4k --size=64k", 0, 1},
	{"no such file", "--name=j --rw=read --bs=4k --size=64k --filename=/dev/null/x", 1, 1},
	{"not to be created", "--name=j --rw=read --bs=4k --size=64k --filename=x --allow_file_create=0", 1, 1},
	{"no space", "--name=j --rw=write --bs=4k --size=64k --filename=/dev/full", 1, 1},
	{"errors passed over", "--name=j --rw=write --bs=4k --size=64k --filename=/dev/full --continue_on_error=all --ignore_error=,ENOSPC", 0, 1},
	{"one of two fails", "--name=a --rw=read --bs=4k --size=64k --name=b --rw=read --bs=4k --size=64k --filename=/dev/null/x", 1, 1},
	{"exec_prerun", "--name=j --rw=write --bs=4k --size=64k --exec_prerun=echo", 0, 1},
	{"stats off", "--name=j --rw=write --bs=4k --size=64k --stats=0", 0, 1},
	{"status interval", "--name=j --ioengine=null --rw=read --bs=4k --size=1g --time_based --runtime=250ms --rate_iops=1000 --status-interval=50ms", 0, 0},
	{"json+", "--output-format=json+ --name=j --rw=randrw --bs=4k --size=64k", 0, 1},
	{"repeated options", "--name=j --rw=write --bs=8k --bs=4k --rw=read --size=1m --size=64k", 0, 1},
}

// TestPureJSON wants nothing but JSON documents on standard output whatever happens, nothing on standard error of a run that
// succeeds, and no key twice in an object.
func TestPureJSON(t *testing.T) {
	for _, c := range pureJobs {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out := fiord(t, t.TempDir(), append([]string{"--output-format=json"}, strings.Fields(c.args)...)...)
			if out.status != c.status {
				t.Errorf("status %d, want %d: %s", out.status, c.status, out.stderr)
			}
			if said := len(out.stderr) > 0; said != (c.status != 0) {
				t.Errorf("status %d, standard error: %q", out.status, out.stderr)
			}
			n := pureDocuments(t, out.stdout)
			if n == 0 || c.docs != 0 && n != c.docs {
				t.Errorf("%d documents, want %d", n, c.docs)
			}
			if c.status != 0 && bytes.Contains(out.stdout, []byte(`"fiord"`)) {
				t.Error("the document of a failed run has keys of its own")
			}
		})
	}
}

// pureDocuments reads the documents of text, of which nothing else may be in it, and counts them.
func pureDocuments(t *testing.T, text []byte) (n int) {
	t.Helper()
	if !bytes.HasPrefix(text, []byte("{\n")) || !bytes.HasSuffix(text, []byte("\n}\n")) {
		t.Errorf("not a document alone: %.80q ... %.20q", text, text[max(0, len(text)-20):])
	}
	docs := json.NewDecoder(bytes.NewReader(text))
	for {
		err := uniqueKeys(docs)
		if err == io.EOF {
			return n
		}
		if err != nil {
			t.Fatalf("document %d: %v", n+1, err)
		}
		n++
	}
}

// doubleKey is the error of an object with one key twice.
type doubleKey string

func (k doubleKey) Error() string { return "key twice: " + string(k) }

// uniqueKeys reads one value.
func uniqueKeys(d *json.Decoder) error {
	tok, err := d.Token()
	if err != nil {
		return err
	}
	open, ok := tok.(json.Delim)
	if !ok {
		return nil
	}
	var keys []string
	for d.More() {
		if open == '{' {
			tok, err := d.Token()
			if err != nil {
				return err
			}
			key := tok.(string)
			if slices.Contains(keys, key) {
				return doubleKey(key)
			}
			keys = append(keys, key)
		}
		if err := uniqueKeys(d); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// TestPureJSONOnFullDisk is the same on a file system that runs full, in the layout, in the job and in its logs.
func TestPureJSONOnFullDisk(t *testing.T) {
	for _, c := range []struct {
		name, args string
		status     int
	}{
		{"layout", "--rw=read --size=1m --fallocate=none", 1},
		{"write", "--rw=write --size=1m --fallocate=none", 1},
		{"passed over", "--rw=write --size=1m --fallocate=none --continue_on_error=write --ignore_error=,ENOSPC", 0},
		{"fill_device", "--rw=write --size=1m --fallocate=none --fill_device=1", 0},
		{"io_uring", "--rw=randwrite --size=1m --fallocate=none --ioengine=io_uring --iodepth=8", 1},
		{"logs", "--ioengine=null --rw=read --size=64m --write_lat_log=x", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			smallFileSystem(t, dir)
			out := fiord(t, dir, append(strings.Fields("--output-format=json --name=j --bs=4k"), strings.Fields(c.args)...)...)
			if out.status != c.status || (len(out.stderr) > 0) != (c.status != 0) {
				t.Errorf("status %d, want %d, standard error: %q", out.status, c.status, out.stderr)
			}
			if n := pureDocuments(t, out.stdout); n != 1 {
				t.Errorf("%d documents", n)
			}
		})
	}
}
