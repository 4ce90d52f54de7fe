package job

// ranges checks num_range: how many ranges a trim has.
func (r *resolver) ranges() {
	j := r.j
	switch n := j.NumRange; {
	case n < 1 && j.set["num_range"]:
		r.errorf("num_range=%d: want 1 to 256", n)
	case n <= 1:
	case j.RW.TrimWrite:
		r.errorf("num_range=%d: a job that trims and writes the same blocks has one range a trim", n)
	case !j.RW.Trim:
		r.warnf("num_range=%d has no effect: the job does not trim", n)
	case !r.traits.MultiRange:
		r.errorf("num_range=%d: trims of ioengine %s have one range; those of io_uring_cmd can have several", n, j.IOEngine)
	case j.ZoneMode == "zbd":
		r.errorf("num_range=%d: a trim of zonemode=zbd resets one zone", n)
	case j.SerializeOverlap:
		r.errorf("num_range=%d: serialize_overlap knows one range of an I/O", n)
	case j.ReadIolog != "":
		r.warnf("num_range=%d has no effect: trims come from the log, one range each", n)
	}
}

// placement settles the interface of data placement and checks what goes with it. It leaves Dataplacement none, fdp or
// streams; FDP is the older name of dataplacement=fdp.
func (r *resolver) placement() {
	j := r.j
	if j.FDP {
		if j.set["dataplacement"] && j.Dataplacement != "fdp" {
			r.errorf("fdp=1 and dataplacement=%s exclude each other", j.Dataplacement)
			return
		}
		j.Dataplacement = "fdp"
	}
	if j.Dataplacement == "none" {
		r.without("dataplacement", "plids", "plid_select", "dp_scheme")
		return
	}
	switch {
	case !r.traits.Placement:
		r.errorf("dataplacement=%s: writes of ioengine %s carry no placement identifier; those of io_uring_cmd do", j.Dataplacement,
			j.IOEngine)
	case j.Dataplacement == "streams" && len(j.PLIDs) == 0:
		r.errorf("dataplacement=streams needs plids, the numbers of the streams")
	case j.PLIDSelect == "scheme" && j.DPScheme == "":
		r.errorf("plid_select=scheme needs dp_scheme, the file with the scheme")
	case j.PLIDSelect != "scheme" && j.DPScheme != "":
		r.warnf("dp_scheme has no effect without plid_select=scheme")
	case !j.RW.Write && j.ReadIolog == "":
		r.warnf("dataplacement=%s has no effect: the job does not write", j.Dataplacement)
	}
}
