package run

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"fiord/engines"
	"fiord/engines/libaio"
	"fiord/engines/psync"
	"fiord/engines/uring"
)

// damage is what a medium does to a block after it has been written. old is what was there before.
type damage struct {
	name string
	do   func(f *os.File, off int64, new, old []byte) error
}

func put(f *os.File, data []byte, off int64) error {
	_, err := f.WriteAt(data, off)
	return err
}

var damages = []damage{
	{"bit flipped", func(f *os.File, off int64, new, _ []byte) error {
		new[len(new)-100] ^= 1
		return put(f, new, off)
	}},
	{"zeroed", func(f *os.File, off int64, new, _ []byte) error { return put(f, make([]byte, len(new)), off) }},
	{"stale", func(f *os.File, off int64, _, old []byte) error { return put(f, old, off) }},
	{"torn", func(f *os.File, off int64, new, old []byte) error {
		return put(f, old[len(new)/2:], off+int64(len(new)/2))
	}},
	{"misdirected", func(f *os.File, off int64, new, _ []byte) error {
		return put(f, new, off-int64(len(new)))
	}},
	{"swapped", func(f *os.File, off int64, new, _ []byte) error {
		other := make([]byte, len(new))
		if _, err := f.ReadAt(other, off-int64(len(new))); err != nil {
			return err
		}
		if err := put(f, new, off-int64(len(new))); err != nil {
			return err
		}
		return put(f, other, off)
	}},
	{"trimmed", func(f *os.File, off int64, new, _ []byte) error {
		return syscall.Fallocate(int(f.Fd()), punchHole, off, int64(len(new)))
	}},
	{"cut off", func(f *os.File, off int64, _, _ []byte) error { return f.Truncate(off) }},
}

// vandal is an engine that damages the block at an offset as soon as it has been written, once.
type vandal struct {
	engines.Engine
	hurt func(u *engines.IO)
}

func (v *vandal) Reap(done []*engines.IO, least int, wait time.Duration) (int, error) {
	n, err := v.Engine.Reap(done, least, wait)
	for _, u := range done[:n] {
		v.hurt(u)
	}
	return n, err
}

// syncVandal is the same of an engine that does its I/O at once.
type syncVandal struct {
	engines.SyncEngine
	hurt func(u *engines.IO)
}

func (v *syncVandal) Do(u *engines.IO) {
	v.SyncEngine.Do(u)
	v.hurt(u)
}

// vandalise makes a driver of d whose engine does the damages to the blocks of the file at targets, of which before is the
// old contents.
func vandalise(t *testing.T, d *engines.Driver, targets map[int64]damage, before []byte) *engines.Driver {
	c := *d
	hurt := func(u *engines.IO) {
		dmg, ok := targets[u.Offset]
		if !ok || u.Op != engines.Write || u.Errno != 0 {
			return
		}
		f, err := os.OpenFile(u.File.Name, os.O_RDWR, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		fresh := make([]byte, len(u.Buf))
		if _, err := f.ReadAt(fresh, u.Offset); err != nil {
			t.Error(err)
		}
		if err := dmg.do(f, u.Offset, fresh, before[u.Offset:u.Offset+int64(len(fresh))]); err != nil {
			t.Error(err)
		}
	}
	c.Open = func(w *engines.Worker, options any) (engines.Engine, error) {
		e, err := d.Open(w, options)
		if err != nil {
			return nil, err
		}
		if s := engines.Inner(e); s != nil {
			return engines.Adapt(&syncVandal{s, hurt}, w.Depth), nil
		}
		return &vandal{e, hurt}, nil
	}
	return &c
}

// damageBlocks and damageBS are the size of the file that is damaged. A damage hits one block of it or that and the one
// before, so every third is one that may be hit.
const (
	damageBlocks = 24
	damageBS     = 4096
)

// verifyOnce runs a job over the file and returns its error number and what it said.
func verifyOnce(t *testing.T, drivers []*engines.Driver, path, options string) (int, []string) {
	t.Helper()
	g := &rig{drivers: drivers}
	g.cfg.AuxPath = filepath.Dir(path)
	g.load(t, fmt.Sprintf("[v]\nfilename=%s\nsize=%d\nbs=%d\n%s\n", path, damageBlocks*damageBS, damageBS,
		strings.ReplaceAll(options, " ", "\n")))
	res, err := Run(g.cfg)
	if err != nil {
		t.Fatal(err)
	}
	return res.Jobs[0].Error, g.warned
}

// damageTypes are the types with the pattern that they need, and the one of the generation before.
var damageTypes = []struct{ now, before string }{
	{"verify=md5", "verify=md5"}, {"verify=crc64", "verify=crc64"}, {"verify=crc32", "verify=crc32"},
	{"verify=crc32c", "verify=crc32c"}, {"verify=crc16", "verify=crc16"}, {"verify=crc7", "verify=crc7"},
	{"verify=xxhash", "verify=xxhash"}, {"verify=sha1", "verify=sha1"}, {"verify=sha256", "verify=sha256"},
	{"verify=sha512", "verify=sha512"}, {"verify=sha3-224", "verify=sha3-224"}, {"verify=sha3-256", "verify=sha3-256"},
	{"verify=sha3-384", "verify=sha3-384"}, {"verify=sha3-512", "verify=sha3-512"}, {"verify=meta", "verify=meta"},
	{"verify=pattern_hdr verify_pattern=0x1234%o", "verify=pattern_hdr verify_pattern=0x99"},
	{"verify=pattern_hdr verify_pattern=0x1234", "verify=pattern_hdr verify_pattern=0x1234"},
	{"verify=pattern verify_pattern=0x1234%o", "verify=pattern verify_pattern=0x99"},
	{"verify=pattern verify_pattern=0x1234", "verify=pattern verify_pattern=0x1234"},
}

// blind are the kinds of damage that a type cannot find, with the reason.
var blind = map[string]struct{ why, damages string }{
	"verify=meta": {"it looks at the header alone, and what it says holds of these blocks", "bit flipped, torn"},
	"verify=pattern_hdr verify_pattern=0x1234": {"every block holds the same pattern behind its header", "torn"},
	"verify=pattern verify_pattern=0x1234": {"every block is like every other, and like what was there before",
		"stale, torn, misdirected, swapped"},
}

// seesDamage reports whether the type can find the damage.
func seesDamage(typ, damage string) bool {
	return !strings.Contains(blind[typ].damages, damage)
}

// TestDamage damages one block of a job right after it was written, in every way, and wants every type to find it: with
// engines that are synchronous and not, with and without verify_async and verify_backlog. Without damage nothing is found.
func TestDamage(t *testing.T) {
	type way struct {
		driver  *engines.Driver
		options string
	}
	ways := []way{
		{libaio.Driver(), "ioengine=libaio iodepth=32"},
		{uring.Driver(), "ioengine=io_uring iodepth=32 verify_backlog=4 verify_async=2"},
	}
	for _, d := range []*engines.Driver{psyncDriver(), uring.Driver()} {
		for _, depth := range []string{" iodepth=1", " iodepth=32"} {
			for _, check := range []string{"", " verify_async=2", " verify_backlog=4"} {
				ways = append(ways, way{d, "ioengine=" + d.Name + depth + check})
			}
		}
	}
	if testing.Short() {
		ways = ways[:3]
	}
	for _, way := range ways {
		t.Run(way.options, func(t *testing.T) {
			if way.driver.Probe != nil {
				if err := way.driver.Probe(); err != nil {
					t.Skip(err)
				}
			}
			for _, typ := range damageTypes {
				damageType(t, way.driver, way.options, typ.now, typ.before)
			}
		})
	}
}

func psyncDriver() *engines.Driver {
	for _, d := range psync.Drivers() {
		if d.Name == "psync" {
			return d
		}
	}
	return nil
}

func damageType(t *testing.T, d *engines.Driver, way, now, before string) {
	path := filepath.Join(t.TempDir(), "data")
	older := func() []byte {
		if e, said := verifyOnce(t, []*engines.Driver{d}, path, "rw=randwrite randseed=99 do_verify=0 "+before+" "+way); e != 0 {
			t.Fatalf("%s: error %d: %q", before, e, said)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	old := older()
	if e, said := verifyOnce(t, []*engines.Driver{d}, path, "rw=randwrite "+now+" "+way); e != 0 || len(said) > 0 {
		t.Errorf("%s without damage: error %d: %q", now, e, said)
	}
	for _, targets := range damageTargets(now, way) {
		if err := os.WriteFile(path, old, 0o600); err != nil {
			t.Fatal(err)
		}
		e, said := verifyOnce(t, []*engines.Driver{vandalise(t, d, targets, old)}, path, "rw=write continue_on_error=verify "+now+" "+way)
		for at, dmg := range targets {
			if dmg.name == "misdirected" {
				at -= damageBS // which has the contents of the one behind
			}
			found := slices.ContainsFunc(said, func(line string) bool { return strings.Contains(line, fmt.Sprintf("block: offset=%d,", at)) })
			if cut := dmg.name == "cut off"; !cut && !found || cut && e == 0 && !found { // a read of nothing is an I/O error
				t.Errorf("%s, %s: error %d, said %q", now, dmg.name, e, said)
			}
		}
	}
}

// damageTargets are the damages that the type can find, by the place of the block, for one run each. Cutting off the file
// comes alone.
func damageTargets(typ, way string) []map[int64]damage {
	several, cut := map[int64]damage{}, map[int64]damage{}
	for i, dmg := range damages {
		switch {
		case !seesDamage(typ, dmg.name):
		case dmg.name == "misdirected" && strings.Contains(way, "backlog"):
			// the block that is overwritten may have been checked before
		case dmg.name == "cut off":
			cut[(damageBlocks-1)*damageBS] = dmg
		default:
			several[int64(3*i+1)*damageBS] = dmg
		}
	}
	return []map[int64]damage{several, cut}
}
