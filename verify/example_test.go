package verify_test

import (
	"fmt"

	"fiord/job"
	"fiord/verify"
)

func Example() {
	l := job.Loader{Engines: []job.EngineDecl{{Name: "psync"}}}
	l.AddText("job.fio", "[v]\nrw=write\nbs=4k\nsize=4k\nverify=crc32c\n")
	jobs, _, _, err := l.Load()
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := verify.New(jobs[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	b := &verify.Block{Buf: make([]byte, 4096), File: "disk", Seed: 42}
	s.Fill(b)
	b.Buf[100] ^= 1
	s.Check(b, func(f *verify.Failure) { fmt.Println(f.Name, f.Kind == verify.BadChecksum, f.Offset, f.Length) })
	// Output: crc32c true 0 4096
}
