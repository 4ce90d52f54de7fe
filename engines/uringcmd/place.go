package uringcmd

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"fiord/engines"
	"fiord/engines/uring/queue"
	"fiord/engines/uringcmd/nvme"
	"fiord/internal/sys"
	"fiord/job"
	"fiord/workload"
)

// mostIDs is how many placement identifiers a file uses where the job names none.
const mostIDs = 128

// placer chooses where writes are placed (dataplacement), as fio does: each write is given its number when it is first
// prepared, and keeps it.
type placer struct {
	job    *job.Job
	kind   nvme.Directive
	choose func(p *placer, u *engines.IO, ids *fileIDs) uint16
	files  []fileIDs      // by File.Index
	rand   *workload.Rand // of plid_select=random
	scheme []placement
	given  []bool   // by IO.Index
	number []uint16 // of the write that was given one
}

// fileIDs are the identifiers to use in one file, and which of them is next.
type fileIDs struct {
	ids  []uint16
	next int
}

// placement is a line of a scheme: writes from a byte up to another, not included, are placed by number.
type placement struct {
	from, to uint64
	number   uint16
}

// newPlacer prepares the placement of writes; nil: the job asks for none.
func newPlacer(w *engines.Worker) (*placer, error) {
	j := w.Job
	if !places(j) {
		return nil, nil
	}
	p := &placer{job: j, kind: nvme.DirectivePlacement, given: make([]bool, len(w.IOs)), number: make([]uint16, len(w.IOs))}
	if j.Dataplacement == "streams" {
		p.kind = nvme.DirectiveStreams
	}
	switch j.PLIDSelect {
	case "random":
		p.choose, p.rand = (*placer).atRandom, workload.StreamRand(j, workload.PlacementStream)
	case "scheme":
		p.choose = (*placer).byScheme
		var err error
		if p.scheme, err = readScheme(j.DPScheme); err != nil {
			return nil, fmt.Errorf("dp_scheme: %w", err)
		}
	default:
		p.choose = (*placer).inTurn
	}
	return p, nil
}

// places reports whether the job's writes are placed.
func places(j *job.Job) bool { return j.Dataplacement == "fdp" || j.Dataplacement == "streams" }

// add tells the identifiers of a file.
func (p *placer) add(index int, ids []uint16) {
	for index >= len(p.files) {
		p.files = append(p.files, fileIDs{})
	}
	p.files[index] = fileIDs{ids: ids}
}

// direct adds the directive to the command of u.
func (p *placer) direct(c *nvme.Command, u *engines.IO) {
	if !p.given[u.Index] {
		p.given[u.Index] = true
		p.number[u.Index] = p.choose(p, u, &p.files[u.File.Index])
	}
	c.Direct(p.kind, p.number[u.Index])
}

// done is called when u has completed.
func (p *placer) done(u *engines.IO) { p.given[u.Index] = false }

func (p *placer) inTurn(_ *engines.IO, f *fileIDs) uint16 {
	if f.next >= len(f.ids) {
		f.next = 0
	}
	f.next++
	return f.ids[f.next-1]
}

func (p *placer) atRandom(_ *engines.IO, f *fileIDs) uint16 {
	return f.ids[p.rand.Between(0, uint64(len(f.ids)-1))]
}

// byScheme is the number of the first line that has the place of the write, else 0.
func (p *placer) byScheme(u *engines.IO, _ *fileIDs) uint16 {
	at := uint64(u.Offset)
	for i := range p.scheme {
		if s := &p.scheme[i]; at >= s.from && at < s.to {
			return s.number
		}
	}
	return 0
}

// nextPass starts the random choices anew where the job repeats its random numbers.
func (p *placer) nextPass() {
	if p.rand != nil && p.job.RandRepeat && !p.job.IsSet("randseed") {
		p.rand = workload.StreamRand(p.job, workload.PlacementStream)
	}
}

// readScheme reads the file of dp_scheme: lines of "from,to,number".
func readScheme(path string) ([]placement, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var scheme []placement
	n := 0
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		n++
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		s, err := parsePlacement(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		scheme = append(scheme, s)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", path, n+1, err)
	}
	if len(scheme) == 0 {
		return nil, fmt.Errorf("%s: no line of the form from,to,number", path)
	}
	return scheme, nil
}

// parsePlacement reads one line. fio differs: it stops reading at a line that it cannot read, and after 32 lines.
func parsePlacement(text string) (placement, error) {
	bad := fmt.Errorf("want from,to,number (bytes, bytes, 0 to 65535), got %q", text)
	parts := strings.Split(text, ",")
	if len(parts) != 3 {
		return placement{}, bad
	}
	from, err1 := strconv.ParseUint(strings.TrimSpace(parts[0]), 10, 64)
	to, err2 := strconv.ParseUint(strings.TrimSpace(parts[1]), 10, 64)
	number, err3 := strconv.ParseUint(strings.TrimSpace(parts[2]), 10, 16)
	if err1 != nil || err2 != nil || err3 != nil {
		return placement{}, bad
	}
	return placement{from, to, uint16(number)}, nil
}

// identifiers are those that the job's writes to d may carry: streams as the job names them, placement identifiers of the
// reclaim unit handles that it names by their place, or of all of them.
func (s *system) identifiers(d *device, j *job.Job) ([]uint16, error) {
	if j.Dataplacement == "streams" {
		ids := make([]uint16, len(j.PLIDs))
		for i, n := range j.PLIDs {
			ids[i] = uint16(n)
		}
		return ids, nil
	}
	if d.null {
		return nil, errors.New("dataplacement=fdp: /dev/null has no reclaim unit handles")
	}
	need := mostIDs
	if len(j.PLIDs) > 0 {
		need = slices.Max(j.PLIDs) + 1
	}
	total, all, err := s.reclaimUnits(d, need)
	if err != nil {
		return nil, err
	}
	if total == 0 || len(all) == 0 {
		return nil, fmt.Errorf("dataplacement=fdp: %s has no reclaim unit handles: enable flexible data placement in its endurance group, and give the namespace handles when it is created",
			d.path)
	}
	if len(j.PLIDs) == 0 {
		return all, nil
	}
	ids := make([]uint16, len(j.PLIDs))
	for i, n := range j.PLIDs {
		if n >= len(all) {
			return nil, fmt.Errorf("plids: %d: %s has %d reclaim unit handles, numbered from 0", n, d.path, total)
		}
		ids[i] = all[n]
	}
	return ids, nil
}

// reclaimUnits asks the namespace for its reclaim unit handles: how many there are, and the identifiers of the first most.
func (s *system) reclaimUnits(d *device, most int) (int, []uint16, error) {
	fd, err := s.open(d.path, os.O_RDONLY, 0)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = s.close(fd) }()
	mem, err := sys.NewArena("malloc", nvme.ReclaimSize(most), 0, 0, "")
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = mem.Close() }()
	ask := func(size int) (int, []uint16, error) {
		c := nvme.ReclaimUnits(d.ns.NSID, queue.Addr(mem.Mem), size)
		status, errno := s.ioctl(fd, nvme.NVME_IOCTL_IO_CMD, unsafe.Pointer(&c))
		switch {
		case errno != 0:
			return 0, nil, fmt.Errorf("%s: status of the reclaim unit handles: %w", d.path, errno)
		case status != 0:
			return 0, nil, fmt.Errorf("dataplacement=fdp: %s does not tell its reclaim unit handles (%v): is flexible data placement enabled in its endurance group?",
				d.path, nvme.Status(status))
		}
		return nvme.ParseReclaimUnits(mem.Mem[:size])
	}
	total, _, err := ask(nvme.ReclaimSize(0))
	if err != nil || total == 0 {
		return 0, nil, err
	}
	return ask(nvme.ReclaimSize(min(total, most)))
}

// checkPlacement refuses a job that asks for a placement the controller does not know.
func (d *device) checkPlacement(j *job.Job) error {
	switch {
	case !places(j) || d.null:
		return nil
	case j.Dataplacement == "fdp" && !d.ctrl.Placement:
		return errors.New("dataplacement=fdp: the drive has no flexible data placement")
	case j.Dataplacement == "streams" && !d.ctrl.Directives:
		return errors.New("dataplacement=streams: the drive has no directives, and so no streams")
	}
	return nil
}
