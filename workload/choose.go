package workload

// serviceShift: an uneven choice draws from 1024 numbers for each file.
const serviceShift = 10

// nextFile chooses the file of the next I/O and opens it if need be.
func (g *Generator) nextFile() (int, Verdict) {
	if g.filesDone >= len(g.files) {
		return 0, End
	}
	if g.current >= 0 {
		if f := &g.files[g.current]; f.open && !f.closing {
			if g.service == serveSequential {
				return g.current, Issue
			}
			if g.serviceLeft > 0 {
				g.serviceLeft--
				return g.current, Issue
			}
		}
	}
	for {
		var i int
		var v Verdict
		if g.service == serveRoundRobin || g.service == serveSequential {
			i, v = g.nextInTurn()
		} else {
			i, v = g.nextAtRandom()
		}
		switch v {
		case Issue:
			g.current, g.serviceLeft = i, g.serviceNr-1
			return i, Issue
		case End:
			g.current = -1
			return 0, End
		}
		if g.inflight > 0 {
			return 0, Wait
		}
		// Nothing in flight could free a place among the open files: fio tries again at once.
	}
}

// nextInTurn goes round the files. It waits when the file whose turn it is would be one open file too many.
func (g *Generator) nextInTurn() (int, Verdict) {
	for first := g.nextIndex; ; {
		i := g.nextIndex
		if g.nextIndex++; g.nextIndex >= len(g.files) {
			g.nextIndex = 0
		}
		if f := &g.files[i]; !f.done {
			if !f.open {
				if g.filesOpen >= g.openFiles {
					return 0, Wait
				}
				if !g.openFile(i) {
					return 0, End
				}
			}
			if !f.closing {
				return i, Issue
			}
		}
		if g.nextIndex == first {
			return 0, End
		}
	}
}

// nextAtRandom draws a file, evenly or not, until one can be used.
func (g *Generator) nextAtRandom() (int, Verdict) {
	if !g.anyUsable() {
		if g.inflight > 0 {
			return 0, Wait
		}
		return 0, End
	}
	for {
		var i uint64
		if g.service == serveRandom {
			i = min(g.fileRand.Below(uint64(len(g.files))), uint64(len(g.files)-1))
		} else {
			i = g.fileSkew.next() >> serviceShift
		}
		f := &g.files[i]
		if f.done {
			continue
		}
		if !f.open {
			if g.filesOpen >= g.openFiles {
				return 0, Wait
			}
			if !g.openFile(int(i)) {
				return 0, End
			}
		}
		if !f.closing {
			return int(i), Issue
		}
	}
}

// anyUsable reports whether a draw can end: some file is neither done nor about to close.
func (g *Generator) anyUsable() bool {
	for i := range g.files {
		if f := &g.files[i]; !f.done && !f.closing {
			return true
		}
	}
	return false
}

func (g *Generator) openFile(i int) bool {
	if g.events != nil {
		if err := g.events.OpenFile(i); err != nil {
			g.err = err
			return false
		}
	}
	f := &g.files[i]
	g.startOver(f)
	f.open = true
	g.filesOpen++
	g.chooseFast()
	return g.err == nil
}

// abandon gives up the file that had no I/O left: it closes once nothing of it is in flight, and is done for this pass
// unless files are picked unevenly, where it starts over.
func (g *Generator) abandon(i int) {
	g.giveUp(i)
	f := &g.files[i]
	if g.service == serveSkewed {
		g.startOver(f)
		return
	}
	f.done = true
	g.filesDone++
}

// giveUp closes file i, at once if nothing of it can be in flight.
func (g *Generator) giveUp(i int) {
	g.startClosing(i)
	if g.files[i].refs == 0 && (g.tracked || !g.async && !g.overlapped) {
		g.closeFile(i)
	}
}

func (g *Generator) startClosing(i int) {
	if g.closer != nil && !g.files[i].closing {
		g.closer.ClosingFile(i)
	}
	g.files[i].closing = true
	g.fast, g.spent = fastNone, false
}

func (g *Generator) closeFile(i int) {
	f := &g.files[i]
	f.open, f.closing = false, false
	g.filesOpen--
	if g.events != nil {
		if err := g.events.CloseFile(i); err != nil && g.err == nil {
			g.err = err
		}
	}
}

// Drained says that nothing is in flight any more: files that were given up close now. The caller says so at the end of
// each pass, before the syncs of end_fsync.
func (g *Generator) Drained() {
	for i := range g.files {
		if f := &g.files[i]; f.open && f.closing {
			f.refs = 0
			g.closeFile(i)
		}
	}
	g.inflight = 0
}

// Close tells the events to close every file that is still open, in order. Nothing may be in flight.
func (g *Generator) Close() {
	for i := range g.files {
		if f := &g.files[i]; f.open {
			g.startClosing(i)
			f.refs = 0
			g.closeFile(i)
		}
	}
	g.inflight = 0
}
