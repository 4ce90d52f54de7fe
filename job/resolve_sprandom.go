package job

// mostSPROP is the over-provisioning from which the model of sprandom has no write amplification left.
const mostSPROP = 0.5 / 0.3

// sprandom sets what sprandom=1 implies, and refuses what does not go with it.
func (r *resolver) sprandom() {
	j := r.j
	if !j.Sprandom {
		r.without("sprandom=1", "spr_op", "spr_num_regions", "spr_cs")
		return
	}
	if !j.RW.Write || !j.RW.Random {
		r.errorf("sprandom=1 needs random writes")
	}
	if j.IsSet("random_generator") && j.RandomGenerator != "lfsr" {
		r.errorf("sprandom=1 needs random_generator=lfsr, its default")
	}
	if j.IsSet("norandommap") && !j.NoRandomMap {
		r.errorf("sprandom=1 needs norandommap=1, its default")
	}
	if j.RandomDistribution[Write].Kind != "random" {
		r.errorf("sprandom=1 chooses the offsets itself: random_distribution has no place")
	}
	if j.NrFiles > 1 || len(j.Filenames) > 1 {
		r.errorf("sprandom=1 needs one file")
	}
	if j.SPRNumRegions < 1 {
		r.errorf("spr_num_regions: want 1 at least, got %d", j.SPRNumRegions)
	}
	if !(j.SPROP > 0 && j.SPROP < mostSPROP) {
		r.errorf("spr_op: want above 0 and below %.2f, got %v", mostSPROP, j.SPROP)
	}
	j.RandomGenerator, j.NoRandomMap = "lfsr", true
}
