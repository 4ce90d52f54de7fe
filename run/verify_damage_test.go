package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// vandalise makes a driver of d whose engine does dmg to block n of the file, of which before is the old contents.
func vandalise(t *testing.T, d *engines.Driver, dmg damage, target int64, before []byte) *engines.Driver {
	c := *d
	hurt := func(u *engines.IO) {
		if u.Op != engines.Write || u.Offset != target || u.Errno != 0 {
			return
		}
		f, err := os.OpenFile(u.File.Name, os.O_RDWR, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		fresh := make([]byte, len(u.Buf))
		if _, err := f.ReadAt(fresh, target); err != nil {
			t.Error(err)
		}
		if err := dmg.do(f, target, fresh, before[target:target+int64(len(fresh))]); err != nil {
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

// damageBlocks and damageBS are the size of the file that is damaged, and target the block: the last one of all kinds of
// order, so that nothing is written behind it.
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
	{"verify=pattern verify_pattern=0x1234%o", "verify=pattern verify_pattern=0x99"},
}

// seesDamage reports whether the type can find the damage: verify=meta looks at headers alone.
func seesDamage(typ, damage string) bool {
	return !strings.HasPrefix(typ, "verify=meta") || damage != "bit flipped" && damage != "torn"
}

// TestDamage damages one block of a job right after it was written, in every way, and wants every type to find it: with
// engines that are synchronous and not, with and without verify_async and verify_backlog. Without damage nothing is found.
func TestDamage(t *testing.T) {
	ways := []struct {
		driver  *engines.Driver
		options string
	}{
		{psyncDriver(), "ioengine=psync"},
		{psyncDriver(), "ioengine=psync verify_async=2"},
		{psyncDriver(), "ioengine=psync verify_backlog=4"},
		{libaio.Driver(), "ioengine=libaio iodepth=32"},
		{uring.Driver(), "ioengine=io_uring iodepth=1"},
		{uring.Driver(), "ioengine=io_uring iodepth=32"},
		{uring.Driver(), "ioengine=io_uring iodepth=32 verify_async=2"},
		{uring.Driver(), "ioengine=io_uring iodepth=32 verify_backlog=4 verify_async=2"},
	}
	if testing.Short() {
		ways = ways[4:7]
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
	const target = (damageBlocks - 1) * damageBS
	for _, dmg := range damages {
		if !seesDamage(now, dmg.name) || dmg.name == "misdirected" && strings.Contains(way, "backlog") {
			continue // with a backlog the block that is overwritten may have been checked before
		}
		if err := os.WriteFile(path, old, 0o600); err != nil {
			t.Fatal(err)
		}
		e, said := verifyOnce(t, []*engines.Driver{vandalise(t, d, dmg, target, old)}, path, "rw=write "+now+" "+way)
		if e == 0 || len(said) == 0 && dmg.name != "cut off" { // a read of nothing is an I/O error
			t.Errorf("%s, %s: error %d, said %q", now, dmg.name, e, said)
		}
	}
}
