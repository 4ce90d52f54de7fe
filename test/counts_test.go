package test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// counts is what a job did, by direction.
type counts struct {
	Job                       string
	Error                     int
	Reads, Writes, Trims      uint64
	ReadB, WrittenB, TrimmedB uint64
}

// counted reads the counts of a JSON report, whatever text a fio put before it.
func counted(t *testing.T, out outcome) []counts {
	t.Helper()
	text := out.stdout
	if i := bytes.IndexByte(text, '{'); i > 0 {
		text = text[i:]
	}
	type side struct {
		Bytes uint64 `json:"io_bytes"`
		IOs   uint64 `json:"total_ios"`
	}
	var doc struct {
		Jobs []struct {
			Name              string `json:"jobname"`
			Error             int    `json:"error"`
			Read, Write, Trim side
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatalf("report is no JSON: %v\n%s\n%s", err, out.stdout, out.stderr)
	}
	var list []counts
	for _, j := range doc.Jobs {
		list = append(list, counts{j.Name, j.Error, j.Read.IOs, j.Write.IOs, j.Trim.IOs, j.Read.Bytes, j.Write.Bytes, j.Trim.Bytes})
	}
	return list
}

// sizes returns the sizes of all files under dir.
func sizes(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	found := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		st, err := e.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		found[name] = st.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// countJobs are fixed pieces of work: what is done does not depend on time or speed.
var countJobs = []struct{ name, args string }{
	{"read", "--name=j --rw=read --bs=4k --size=1m"},
	{"write", "--name=j --rw=write --bs=4k --size=1m"},
	{"randread", "--name=j --rw=randread --bs=4k --size=1m"},
	{"randwrite", "--name=j --rw=randwrite --bs=4k --size=1m"},
	{"rw all read", "--name=j --rw=rw --rwmixread=100 --bs=8k --size=1m"},
	{"rw all written", "--name=j --rw=randrw --rwmixwrite=100 --bs=8k --size=1m"},
	{"default block size", "--name=j --rw=write --size=100k"},
	{"odd size", "--name=j --rw=write --bs=4k --size=1000003"},
	{"size no multiple", "--name=j --rw=read --bs=64k --size=1000k"},
	{"bs per direction", "--name=j --rw=write --bs=4k,16k --size=1m"},
	{"bsrange of one", "--name=j --rw=write --bsrange=8k-8k --size=1m"},
	{"bssplit of one", "--name=j --rw=randread --bssplit=16k/100 --size=1m"},
	{"several files", "--name=j --rw=write --bs=4k --size=1m --nrfiles=4"},
	{"several files read", "--name=j --rw=randread --bs=4k --size=1m --nrfiles=8 --openfiles=3"},
	{"filesize", "--name=j --rw=write --bs=4k --filesize=256k --nrfiles=3"},
	{"sequential files", "--name=j --rw=write --bs=4k --size=512k --nrfiles=4 --file_service_type=sequential"},
	{"file list", "--name=j --rw=write --bs=4k --size=512k --filename=a:b:c"},
	{"io_size less", "--name=j --rw=write --bs=4k --size=1m --io_size=256k"},
	{"io_size more", "--name=j --rw=randread --bs=4k --size=256k --io_size=1m"},
	{"offset", "--name=j --rw=write --bs=4k --size=512k --offset=256k"},
	{"offset percent", "--name=j --rw=read --bs=4k --filesize=1m --size=50% --offset=50%"},
	{"offset increment", "--name=j --rw=write --bs=4k --size=256k --offset_increment=256k --numjobs=3 --filename=shared"},
	{"number_ios", "--name=j --rw=randwrite --bs=4k --size=1m --number_ios=17"},
	{"numjobs", "--name=j --rw=write --bs=4k --size=256k --numjobs=3"},
	{"numjobs grouped", "--name=j --rw=randwrite --bs=4k --size=256k --numjobs=3 --group_reporting"},
	{"loops", "--name=j --rw=read --bs=4k --size=128k --loops=3"},
	{"two jobs", "--name=a --rw=write --bs=4k --size=128k --name=b --rw=read --bs=8k --size=256k"},
	{"stonewall", "--filename=f --size=256k --name=a --rw=write --bs=4k --name=b --stonewall --rw=read --bs=8k"},
	{"fsync", "--name=j --rw=write --bs=4k --size=256k --fsync=8 --end_fsync=1"},
	{"overwrite", "--name=j --rw=randwrite --bs=4k --size=256k --overwrite=1"},
	{"fallocate none", "--name=j --rw=write --bs=4k --size=256k --io_size=64k --fallocate=none"},
	{"fallocate truncate", "--name=j --rw=write --bs=4k --size=256k --io_size=64k --fallocate=truncate"},
	{"skip", "--name=j --rw=read:4k --bs=4k --size=256k"},
	{"strided", "--name=j --rw=read --bs=4k --size=1m --zonemode=strided --zonesize=64k --zoneskip=64k"},
	{"libaio", "--name=j --ioengine=libaio --iodepth=8 --rw=randwrite --bs=4k --size=1m"},
	{"sync", "--name=j --ioengine=sync --rw=write --bs=4k --size=256k"},
	{"mmap", "--name=j --ioengine=mmap --rw=write --bs=4k --size=256k"},
	{"null", "--name=j --ioengine=null --iodepth=4 --rw=randread --bs=4k --size=1m"},
	{"unlink", "--name=j --rw=write --bs=4k --size=64k --unlink=1"},
	{"create_only", "--name=j --rw=read --bs=4k --size=64k --create_only=1"},
	{"directory", "--name=j --rw=write --bs=4k --size=64k --directory=. --filename_format=x.$jobname.$filenum --nrfiles=2"},
}

// TestSameWork holds fiord against a real fio: the same number of I/Os and bytes in each direction, files of the same
// sizes, the same keys, the same status; and what must hold of any report: that groups are the sums of their jobs, too. The
// cases leave out what depends on random numbers, which older versions of fio draw otherwise.
func TestSameWork(t *testing.T) {
	fio := findFio(t)
	for _, c := range countJobs {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"--output-format=json"}, strings.Fields(c.args)...)
			there, here := t.TempDir(), t.TempDir()
			want := command(t, there, os.Environ(), fio, args...)
			args[0] = "--output-format=json,normal"
			got := fiord(t, here, args...)
			if got.status != want.status {
				t.Fatalf("status %d, fio %d\nfiord: %s\nfio: %s", got.status, want.status, got.stderr, want.stderr)
			}
			document, text := documentAndText(t, got.stdout)
			got.stdout = document
			groupsAddUp(t, document, text)
			if diff := cmp.Diff(counted(t, want), counted(t, got)); diff != "" {
				t.Errorf("counts (-fio +fiord):\n%s", diff)
			}
			if diff := cmp.Diff(sizes(t, there), sizes(t, here)); diff != "" {
				t.Errorf("file sizes (-fio +fiord):\n%s", diff)
			}
			samePaths(t, want.stdout, got.stdout)
			invariants(t, got.stdout, strings.Contains(c.args, "sync"))
			if len(got.stderr) > 0 && got.status == 0 {
				t.Errorf("standard error of a good run: %s", got.stderr)
			}
		})
	}
}
