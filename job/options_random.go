package job

// RandomOptions says where random I/O goes.
type RandomOptions struct {
	RandRepeat           bool                 `fio:"randrepeat" alias:"allrandrepeat" def:"1" parent:"rw" group:"io/random" help:"Seed random generators the same way each run so that patterns repeat; on by default"`
	RandSeed             uint64               `fio:"randseed" def:"0x89" parent:"rw" group:"io/random" help:"Seed number for the random generators; default 0x89"`
	NoRandomMap          bool                 `fio:"norandommap" parent:"rw" flag:"1" group:"io/random" help:"Do not track which blocks were visited, so random offsets may repeat or be missed"`
	SoftRandomMap        bool                 `fio:"softrandommap" def:"0" parent:"norandommap" group:"io/random" help:"Carry on without the random block map if memory for it cannot be allocated"`
	Sprandom             bool                 `fio:"sprandom" def:"0" parent:"rw" group:"io/random" help:"Precondition an SSD to its random-write steady state in one pass over its capacity"`
	SPRNumRegions        int                  `fio:"spr_num_regions" def:"100" parent:"sprandom" group:"io/random" help:"Number of regions sprandom splits the device into; default 100"`
	SPROP                float64              `fio:"spr_op" def:"0.15" items:"1" parent:"sprandom" group:"io/random" help:"SSD over-provisioning ratio assumed by sprandom, between 0 and 1; default 0.15"`
	SPRCS                uint64               `fio:"spr_cs" def:"0" parent:"sprandom" group:"io/random" help:"Device cache size in bytes assumed by sprandom; default 0"`
	RandomGenerator      string               `fio:"random_generator" def:"tausworthe" vals:"tausworthe|lfsr|tausworthe64" group:"io/random" help:"Source of random offsets: tausworthe (default), lfsr or tausworthe64"`
	RandomDistribution   PerDir[Distribution] `fio:"random_distribution" def:"random" vals:"random|zipf|pareto|normal|zoned|zoned_abs|sequence" group:"io/random" help:"How random offsets are spread, such as random (default), zipf, pareto or zoned"`
	RandomSequenceStride bool                 `fio:"random_sequence_stride" def:"0" group:"io/random" help:"Move the sequence distribution forward by its length after each full cycle"`
	PercentageRandom     PerDir[int]          `fio:"percentage_random" inverse:"percentage_sequential" def:"100,100,100" max:"100" group:"io/random" help:"Share of a random workload that is truly random, per direction; default 100"`
	PercentageSequential Deprecated           `fio:"percentage_sequential" group:"io/random" deprecated:"hard" help:"Obsolete setting that is no longer supported; see percentage_random"`
}
