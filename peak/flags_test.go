package peak

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestParse(t *testing.T) {
	with := func(set func(*Config)) *Config {
		c := Defaults()
		c.Files = []string{"f"}
		set(&c)
		return &c
	}
	for _, c := range []struct {
		line string
		want *Config
	}{
		{"f", with(func(*Config) {})},
		{"-d64 -s 16 -c8 -b512 -n2 f", with(func(c *Config) { c.Depth, c.Submit, c.Complete, c.BlockSize, c.Threads = 64, 16, 8, 512, 2 })},
		{"f -p0 -B0 -F0 -O0 -R0 -X0", with(func(c *Config) {
			c.Polled, c.FixedBufs, c.RegisterFiles, c.Direct, c.Random, c.RegisterRing = false, false, false, false, false, false
		})},
		{"-t1 -T2000000000 -r5 -u1 -P1 -e1 f", with(func(c *Config) {
			c.Latency, c.TSCRate, c.Seconds, c.Passthrough, c.Place, c.Restrict = true, 2e9, 5, true, true, true
		})},
		{"-V1 -H huge -- f -x", with(func(c *Config) { c.Vectored, c.Hugetlb, c.Files = true, "huge", []string{"f", "-x"} })},
		{"-d4 f", with(func(c *Config) { c.Depth, c.Submit, c.Complete = 4, 4, 4 })},
		{"-s0 -c0 f", with(func(c *Config) { c.Submit, c.Complete = 1, 1 })},
		{"--output-format=json f g", with(func(c *Config) { c.Format, c.Files = "json", []string{"f", "g"} })},
		{"--output-format json f", with(func(c *Config) { c.Format = "json" })},
		{"-a1 f", with(func(c *Config) {
			c.AIO, c.Polled, c.FixedBufs, c.RegisterFiles, c.RegisterRing = true, false, false, false, false
		})},
		{"-N1 f", with(func(c *Config) { c.Nop, c.Polled = true, false })},
		{"-a1 -B1 -p1 f", with(func(c *Config) {
			c.AIO, c.Polled, c.FixedBufs, c.RegisterFiles, c.RegisterRing = true, false, false, false, false
			c.notes = []string{"-p1 has no effect: native AIO has none of it", "-B1 has no effect: native AIO has none of it"}
		})},
		{"-S1 -d8 f", with(func(c *Config) {
			c.Sync, c.FixedBufs, c.RegisterFiles, c.RegisterRing, c.Depth, c.Submit, c.Complete = true, false, false, false, 1, 1, 1
			c.notes = []string{"-d has no effect: preadv2 reads one block at a time"}
		})},
	} {
		got, err := Parse(strings.Fields(c.line))
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		if d := cmp.Diff(c.want, got, cmp.AllowUnexported(Config{}), cmpopts.IgnoreFields(Config{}, "given")); d != "" {
			t.Errorf("%s (-want +got)\n%s", c.line, d)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"", "no file or device given"}, {"-N1", "no file or device given"},
		{"-d0 f", `-d: want a whole number from 1 to 32768, got "0"`},
		{"-d 40000 f", `-d: want a whole number from 1 to 32768, got "40000"`},
		{"-b4k f", `-b: want a whole number from 1 to 1073741824, got "4k"`},
		{"-n0 f", `-n: want a whole number from 1 to 1024, got "0"`},
		{"-s-1 f", `-s: want a whole number from 0 to 32768, got "-1"`},
		{"-p2 f", `-p: want 0 or 1, got "2"`}, {"-u yes f", `-u: want 0 or 1, got "yes"`},
		{"-r1.5 f", `-r: want a whole number from 0 to 1073741824, got "1.5"`},
		{"-T0 f", `-T: want ticks a second, got "0"`},
		{"-Z1 f", `unknown flag "-Z"`}, {"-d", "-d: want a value"}, {"-Z", `unknown flag "-Z"`}, {"--json f", `unknown flag "--json"`},
		{"-D1 f", "-D: fio 3.42 has dropped it, and so has fiord"},
		{"--output-format=xml f", `--output-format: want text or json, got "xml"`},
		{"-a1 -S1 f", "-a1 and -S1 exclude each other"}, {"-u1 -N1 f", "-N1 and -u1 exclude each other"},
		{"-a1 -N1 f", "-N1 and -a1 exclude each other"},
		{"-d1024 -b16777216 f", "-B1: 17179869184 bytes of buffers for each thread; the kernel registers at most 1073741824: give -B0, or less of -d or -b"},
	} {
		_, err := Parse(strings.Fields(c.line))
		if err == nil || err.Error() != c.want {
			t.Errorf("%q: error %v, want %s", c.line, err, c.want)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, line := range []string{"-h", "-?", "--help", "-d4 -h"} {
		if _, err := Parse(strings.Fields(line)); !errors.Is(err, ErrHelp) {
			t.Errorf("%s: %v", line, err)
		}
	}
	var b strings.Builder
	if err := Usage(&b); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/usage.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestLatencyText has the widths and units of t/io_uring's table.
func TestLatencyText(t *testing.T) {
	list := make([]uint64, len(percentiles))
	for i := range list {
		list[i] = uint64(2001 + 7000*i)
	}
	small := make([]uint64, len(percentiles))
	for i := range small {
		small[i] = uint64(700 + i)
	}
	got := latencyText(list) + latencyText(small) + latencyText(nil)
	want := `    percentiles (usec):
     |  1.0000th=[    3],  5.0000th=[   10], 10.0000th=[   17],
     | 20.0000th=[   24], 30.0000th=[   31], 40.0000th=[   38],
     | 50.0000th=[   45], 60.0000th=[   52], 70.0000th=[   59],
     | 80.0000th=[   66], 90.0000th=[   73], 95.0000th=[   80],
     | 99.0000th=[   87], 99.5000th=[   94], 99.9000th=[  101],
     | 99.9500th=[  108], 99.9900th=[  115]
    percentiles (nsec):
     |  1.0000th=[  700],  5.0000th=[  701], 10.0000th=[  702],
     | 20.0000th=[  703], 30.0000th=[  704], 40.0000th=[  705],
     | 50.0000th=[  706], 60.0000th=[  707], 70.0000th=[  708],
     | 80.0000th=[  709], 90.0000th=[  710], 95.0000th=[  711],
     | 99.0000th=[  712], 99.5000th=[  713], 99.9000th=[  714],
     | 99.9500th=[  715], 99.9900th=[  716]
    no latencies measured
`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestRates(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 100_000: "100000", 100_001: "100.00K", 1_000_000: "1000.00K", 2_530_000: "2.53M"} {
		if got := rate(n); got != want {
			t.Errorf("rate %d: %s, want %s", n, got, want)
		}
	}
	for n, want := range map[uint64]string{0: "0MiB/s", 2000 << 20: "2000MiB/s", 2048 << 20: "2.00GiB/s", 7 << 30: "7.00GiB/s"} {
		if got := bandwidth(n); got != want {
			t.Errorf("bandwidth %d: %s, want %s", n, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{"", "-d64 f", "-u1 -O0 -p0 /dev/ng0n1", "-- -x", "--output-format=json f", "-H", "-T9 -t1 f", "-a1 -d3 f", "-"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		c, err := Parse(strings.Fields(line))
		if err != nil {
			return
		}
		if c.Depth < 1 || c.Submit < 1 || c.Submit > c.Depth || c.Complete < 1 || c.Complete > c.Depth || c.Threads < 1 || c.BlockSize < 1 || len(c.Files) == 0 {
			t.Errorf("%q: %+v", line, c)
		}
	})
}
