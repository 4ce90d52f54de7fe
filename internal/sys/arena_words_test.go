package sys

import "testing"

func TestArenaWords(t *testing.T) {
	a, err := NewArena("malloc", 3<<20+4, 0, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	a.Touch()
	words := a.Words()
	if len(words) != 3<<17 {
		t.Fatalf("%d words in 3 MiB and 4 bytes, want %d", len(words), 3<<17)
	}
	words[0], words[len(words)-1] = 1, 2
	if a.Mem[0] != 1 && a.Mem[7] != 1 {
		t.Error("the words are not the arena's memory")
	}
	if err := a.Wipe(); err != nil {
		t.Fatal(err)
	}
	if words[0] != 0 || words[len(words)-1] != 0 {
		t.Errorf("words %d and %d after Wipe, want 0", words[0], words[len(words)-1])
	}
}
