package job

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// decodeOption sets one option over the defaults and returns its field.
func decodeOption(t *testing.T, name, value string) (any, error) {
	t.Helper()
	table, err := OptionTable()
	if err != nil {
		t.Fatal(err)
	}
	var o Options
	if err := table.Defaults(&o); err != nil {
		t.Fatal(err)
	}
	d := table.Lookup(name)
	if d == nil {
		t.Fatalf("no option %s", name)
	}
	err = table.Set(&o, d, value, true, 1024)
	return d.field(reflect.ValueOf(&o).Elem()).Interface(), err
}

func TestDecodeOption(t *testing.T) {
	zipf := Distribution{Kind: "zipf", Param: 1.2, Center: 0.5}
	tests := []struct {
		name, value string
		want        any
	}{
		{"size", "50%", Size{50, Percent}},
		{"size", "3z", Size{3, Zones}},
		{"size", "1g", Size{1 << 30, Bytes}},
		{"filesize", "4k", SizeRange{Low: 4096, High: 4096}},
		{"filesize", "8k-4k", SizeRange{Low: 4096, High: 8192}},
		{"startdelay", "5-10", TimeRange{5 * time.Second, 10 * time.Second}},
		{"startdelay", "5", TimeRange{5 * time.Second, 5 * time.Second}},
		{"bs", "4k,8k", PerDir[uint64]{4096, 8192, 8192}},
		{"bs", ",8k", PerDir[uint64]{4096, 8192, 8192}},
		{"bs", "1k,", PerDir[uint64]{1024, 4096, 4096}},
		{"bs", "1k,,16k", PerDir[uint64]{1024, 4096, 16384}},
		{"bs", "4k-8k", PerDir[uint64]{4096, 8192, 8192}},
		{"bs", "(4k-1k)", PerDir[uint64]{3072, 3072, 3072}},
		{"bsrange", "4k-16k", PerDir[Range]{{4096, 16384}, {4096, 16384}, {4096, 16384}}},
		{"bsrange", "16k:4k,1k-2k", PerDir[Range]{{4096, 16384}, {1024, 2048}, {1024, 2048}}},
		{"bssplit", "4k/50:8k/50", PerDir[BSSplit]{{{4096, 50}, {8192, 50}}, {{4096, 50}, {8192, 50}}, {{4096, 50}, {8192, 50}}}},
		{"bssplit", "4k/60:8k:1k,2k", PerDir[BSSplit]{{{8192, 20}, {1024, 20}, {4096, 60}}, {{2048, 100}}, {{2048, 100}}}},
		{"rw", "randread:8", RWMode{Read: true, Random: true, SeqNr: 8, Text: "randread"}},
		{"rw", "write:-4k", RWMode{Write: true, SeqNr: 1, SeqAdd: -4096, Text: "write"}},
		{"rw", "readwrite", RWMode{Read: true, Write: true, SeqNr: 1, Text: "rw"}},
		{"rw", "randtrimwrite", RWMode{Write: true, Trim: true, TrimWrite: true, Random: true, SeqNr: 1, Text: "randtrimwrite"}},
		{"rw", "trim", RWMode{Trim: true, SeqNr: 1, Text: "trim"}},
		{"random_distribution", "zipf:1.2:0.5", PerDir[Distribution]{zipf, zipf, zipf}},
		{"random_distribution", "zoned:60/10:40/90,100/50", PerDir[Distribution]{
			{Kind: "zoned", Center: -1, Zones: []Zone{{AccessPercent: 60, SizePercent: 10}, {AccessPercent: 40, SizePercent: 90}}},
			{Kind: "zoned", Center: -1, Zones: []Zone{{AccessPercent: 100, SizePercent: 50}}},
			{Kind: "zoned", Center: -1, Zones: []Zone{{AccessPercent: 100, SizePercent: 50}}}}},
		{"file_service_type", "random:4", FileService{Kind: "random", N: 4}},
		{"file_service_type", "gauss:2", FileService{Kind: "normal", N: 1, Param: 2, Center: -1}},
		{"file_service_type", "zipf", FileService{Kind: "zipf", N: 1, Param: 1.1, Center: -1}},
		{"sync_file_range", "wait_before,write:8", SyncRange{Flags: 3, Every: 8}},
		{"sync_file_range", "wait_after", SyncRange{Flags: 4, Every: 1}},
		{"write_bw_log", "foo", LogName{On: true, Prefix: "foo"}},
		{"cpus_allowed", "3,0-1", CPUSet{0, 1, 3}},
		{"plids", "7,2-3,2", IntList{2, 2, 3, 7}},
		{"replay_skip", "read,sync", DirSet{true, false, false, true}},
		{"replay_skip", "write,trim", DirSet{false, true, true, false}},
		{"ignore_error", "EIO:ENOSPC,0x1,EDEADLOCK:-4", IgnoreErrors{{5, 28}, {1}, {35, 4}}},
		{"steadystate", "iops:10%", SteadyState{Kind: "iops", Limit: 10, Percent: true}},
		{"steadystate", "bw_slope:1k", SteadyState{Kind: "bw_slope", Limit: 1024}},
		{"steadystate", "lat:2ms", SteadyState{Kind: "lat", Limit: 2000}},
		{"steadystate", "iops:4.5", SteadyState{Kind: "iops", Limit: 4.5}},
		{"buffer_pattern", `"ab"0xff1-100`, Pattern{Bytes: []byte{'a', 'b', 0x0f, 0xf1, 0x9c, 0xff, 0xff, 0xff}}},
		{"verify_pattern", `%o0xDE"x"0`, Pattern{Bytes: []byte{0, 0, 0, 0, 0, 0, 0, 0, 0xde, 'x', 0}, Formats: []PatternFormat{{'o', 0}}}},
		{"verify_pattern", "0xff0x14", Pattern{Bytes: []byte{0xff, 0x14}}},
		{"verify_pattern", "120x1", Pattern{Bytes: []byte{12, 1}}},
		{"percentile_list", "99.9:50", []float64{99.9, 50}},
		{"latency_percentile", "(100/4)", 25.0},
		{"runtime", "1m", time.Minute},
		{"thinktime", "2ms", 2000},
		{"thinktime_iotime", "2", 2000000},
		{"max_latency", "5ms", PerDir[uint64]{5000, 5000, 5000}},
		{"nice", "-5", -5},
		{"direct", "0x1", true},
		{"direct", "00", false},
		{"iodepth", "1k", 1024},
		{"mem", "mmap:/x", "mmap:/x"},
	}
	for _, tt := range tests {
		got, err := decodeOption(t, tt.name, tt.value)
		if err != nil {
			t.Errorf("%s=%s: %v", tt.name, tt.value, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s=%s (-want +got):\n%s", tt.name, tt.value, diff)
		}
	}
}

func TestDecodeOptionRefuses(t *testing.T) {
	long := strings.Repeat("1:", 21) + "1"
	tests := []struct{ name, value, want string }{
		{"size", "101%", "a percentage from 0 to 100"},
		{"size", "-4k", "a size not below 0"},
		{"size", "1.5z", "a whole number of zones"},
		{"size", "4q", "optional k, m, g"},
		{"filesize", "0", "a number not below 1"},
		{"filesize", "1-2-3", "a size or a range"},
		{"filesize", "50%", "a percentage does not apply"},
		{"startdelay", "1-2-3", "a time or a range"},
		{"startdelay", "5q", "a time"},
		{"bs", "0", "a number not below 1"},
		{"bs", "4k,junk", "optional k, m, g"},
		{"bs", "1,2,3,4", "at most 3 values"},
		{"bs", ",,", "per direction"},
		{"bs", "", "per direction"},
		{"bsrange", "4k", "a range low-high"},
		{"bsrange", "0-4k", "a number not below 1"},
		{"bsrange", "4k-q", "optional k, m, g"},
		{"bssplit", "4k/60:8k/50", "at most 100"},
		{"bssplit", "0/60", "block sizes above 0"},
		{"bssplit", "4k/101", "a percentage from 0 to 100"},
		{"bssplit", "1,2,3,4", "at most 3 lists"},
		{"bssplit", "-1", "not below 0"},
		{"bssplit", strings.Repeat("4k/1:", 70), "at most 64 entries"},
		{"rw", "sideways", "one of read, write"},
		{"rw", "randread:0", "from 1 to 4294967295"},
		{"rw", "read:q", "optional k, m, g"},
		{"random_distribution", "flat", "one of random"},
		{"random_distribution", "random:1", "nothing after random"},
		{"random_distribution", "zipf:1", "a theta other than 1"},
		{"random_distribution", "zipf:x", "a number after zipf:"},
		{"random_distribution", "zipf:2:3", "a centre from 0 to 1"},
		{"random_distribution", "pareto:2", "a power above 0"},
		{"random_distribution", "normal:100", "a deviation"},
		{"random_distribution", "zoned:60/10", "add up to 100, not 60"},
		{"random_distribution", "zoned:160/10", "access percentages up to 100"},
		{"random_distribution", "zoned:100/150", "a percentage from 0 to 100"},
		{"random_distribution", "zoned_abs:100/q", "a size after the slash"},
		{"random_distribution", "zoned:1,2,3,4", "at most 3 lists"},
		{"random_distribution", "sequence", "block numbers"},
		{"random_distribution", "sequence:-1", "a block number"},
		{"random_distribution", "sequence:" + strings.Repeat("1,", 70), "at most 64 numbers"},
		{"file_service_type", "best", "one of random"},
		{"file_service_type", "random:0", "at least 1"},
		{"file_service_type", "pareto:7", "a power above 0"},
		{"sync_file_range", "sometimes", "one of wait_before"},
		{"sync_file_range", "write:0", "at least 1"},
		{"cpus_allowed", "3-1", "ascending ranges"},
		{"cpus_allowed", "1,x", "ascending ranges"},
		{"plids", "0-200", "at most 128 numbers"},
		{"replay_skip", "both", "read, write, trim or sync"},
		{"ignore_error", "EFOO", "an error name"},
		{"ignore_error", "1,2,3,4", "at most 3 lists"},
		{"steadystate", "iops", "then a colon and the limit"},
		{"steadystate", "iops:x%", "a limit after the colon"},
		{"buffer_pattern", "%o", "decimal numbers"},
		{"buffer_pattern", `"abc`, "a closing"},
		{"buffer_pattern", `""`, "decimal numbers"},
		{"buffer_pattern", "0x", "decimal numbers"},
		{"buffer_pattern", "99999999999", "decimal numbers"},
		{"percentile_list", "101", "a number from 0 to 100"},
		{"percentile_list", long, "at most 20 numbers"},
		{"percentile_list", "nan", "numbers separated by colons"},
		{"latency_percentile", "1:2", "one number"},
		{"runtime", "5q", "a time"},
		{"direct", "2", "0 or 1"},
		{"direct", "yes", "0 or 1"},
		{"group_reporting", "7", "no value, 0 or 1"},
		{"iodepth", "0", "a number not below 1"},
		{"iodepth", "-1", "a number not below 1"},
		{"iodepth", "4294967296", "a number up to 4294967295"},
		{"fsync", "-1", "a number not below 0"},
		{"rwmixread", "101", "a number from 0 to 100"},
		{"nice", "-21", "a number from -20 to 19"},
		{"description", "", "a value"},
		{"mem", "malloc:x", "one of malloc"},
		{"verify", "foo", "one of 0, md5"},
		{"filename", strings.Repeat("x", 5000), "fewer than 4096 bytes"},
	}
	for _, tt := range tests {
		_, err := decodeOption(t, tt.name, tt.value)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !errors.Is(err, ErrBadValue) {
			t.Errorf("%s=%s: got %v, want a bad value with %q", tt.name, abbreviate(tt.value), err, tt.want)
		}
	}
}

func TestPatternFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pattern")
	if err := os.WriteFile(path, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := decodeOption(t, "buffer_pattern", "'"+path+"'0x21")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Pattern{Bytes: []byte("hello!")}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := decodeOption(t, "buffer_pattern", "'"+path+".missing'"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func TestDeclareRefuses(t *testing.T) {
	tests := []struct {
		v    any
		want string
	}{
		{Options{}, "want a pointer to a struct"},
		{nil, "want a pointer to a struct"},
		{&struct {
			A chan int `fio:"a"`
		}{}, "no decoder"},
		{&struct {
			A int `fio:"a" min:"x"`
		}{}, "tag min"},
		{&struct {
			A int `fio:"a" max:"x"`
		}{}, "tag max"},
		{&struct {
			A int `fio:"a" prio:"x"`
		}{}, "tag prio"},
		{&struct {
			A int `fio:"a" unit:"h"`
		}{}, "want us or s"},
		{&struct {
			A time.Duration `fio:"a"`
		}{}, "needs the tag unit"},
		{&struct {
			a int `fio:"a"`
		}{}, "must be exported"},
		{&struct {
			A int `fio:"a"`
			B int `fio:"b" alias:"a"`
		}{}, "declared twice"},
		{&struct {
			A []string `fio:"a"`
		}{}, "no decoder"},
	}
	for _, tt := range tests {
		if _, err := Declare(tt.v); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Declare(%T): got %v, want %q", tt.v, err, tt.want)
		}
	}
}

// sized has options in integers of all widths, as engines declare them.
type sized struct {
	A       int32   `fio:"a" def:"-1"`
	B       uint8   `fio:"b" vals:"1|2"`
	C       uint64  `fio:"c" alias:"cc|ccc"`
	D       string  `fio:"d" def:"" vals:"x|y"`
	E       float64 `fio:"e" min:"-1" max:"1"`
	F       int64   `fio:"f" unit:"us"`
	skipped int
}

func TestTableSet(t *testing.T) {
	var s sized
	s.skipped = 1
	table, err := Declare(&s)
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Defaults(&s); err != nil {
		t.Fatal(err)
	}
	for _, set := range [][2]string{{"b", "2"}, {"ccc", "1t"}, {"d", "y"}, {"e", "-0.5"}, {"f", "1ms"}} {
		if err := table.Set(&s, table.Lookup(set[0]), set[1], true, 1024); err != nil {
			t.Error(err)
		}
	}
	want := sized{A: -1, B: 2, C: 1 << 40, D: "y", E: -0.5, F: 1000, skipped: 1}
	if s != want {
		t.Errorf("got %+v, want %+v", s, want)
	}
	for _, set := range [][2]string{{"a", "-2"}, {"a", "3000000000"}, {"b", "3"}, {"b", "300"}, {"c", "-1"}, {"e", "2"}, {"f", "x"}} {
		if err := table.Set(&s, table.Lookup(set[0]), set[1], true, 1024); !errors.Is(err, ErrBadValue) {
			t.Errorf("%s=%s: %v", set[0], set[1], err)
		}
	}
	if err := table.Set(&s, table.Lookup("a"), "", false, 1024); !errors.Is(err, ErrNeedsValue) {
		t.Errorf("no value: %v", err)
	}
	if err := table.Set(&Options{}, table.Lookup("a"), "1", true, 1024); err == nil {
		t.Error("a foreign struct was accepted")
	}
}
