package job

// ZoneOptions says how zones and data placement are used.
type ZoneOptions struct {
	ZoneMode             string  `fio:"zonemode" def:"none" vals:"none|strided|zbd" group:"io/zone" help:"How zones are handled: none (default), strided or zbd"`
	ZoneSize             uint64  `fio:"zonesize" def:"0" group:"io/zone" help:"Bytes to transfer per zone before skipping (strided), or size of one zone (zbd)"`
	ZoneCapacity         uint64  `fio:"zonecapacity" def:"0" group:"io/zone" help:"Usable bytes per zone for zbd mode on a regular device; defaults to the zone size"`
	ZoneRange            uint64  `fio:"zonerange" def:"0" group:"io/zone" help:"Size in bytes of one zone in strided mode"`
	ZoneSkip             Size    `fio:"zoneskip" def:"0" group:"io/zone" help:"Bytes to jump over after each zone, in zbd mode by sequential I/O and in whole zones"`
	ReadBeyondWP         bool    `fio:"read_beyond_wp" def:"0" group:"io" help:"In zbd mode, let reads go past the write pointer of a zone; off by default"`
	MaxOpenZones         int     `fio:"max_open_zones" def:"0" max:"4096" group:"io" help:"Limit on zones open for writing across all jobs; 0 uses the device limit"`
	JobMaxOpenZones      int     `fio:"job_max_open_zones" def:"0" max:"4096" group:"io" help:"Limit on zones this job may have open for writing; 0 (default) sets no limit"`
	IgnoreZoneLimits     bool    `fio:"ignore_zone_limits" def:"0" group:"io" help:"Disregard the open zone limit reported by the device; off by default"`
	ZoneResetThreshold   float64 `fio:"zone_reset_threshold" min:"0" max:"1" items:"1" group:"io/zone" help:"Written fraction, 0 to 1, above which periodic zone resets begin"`
	ZoneResetFrequency   float64 `fio:"zone_reset_frequency" min:"0" max:"1" items:"1" group:"io/zone" help:"Zone resets issued per write once over the threshold, from 0 to 1"`
	RecoverZBDWriteError bool    `fio:"recover_zbd_write_error" group:"io/zone" help:"Realign write pointers after failed zone writes so that later writes can go on"`
	WriteZoneRemainder   bool    `fio:"write_zone_remainder" group:"io/zone" help:"Fill the small leftover at a zone end with a write rather than a zone finish"`
	FDP                  bool    `fio:"fdp" def:"0" group:"io" help:"Use NVMe Flexible Data Placement for writes; off by default"`
	Dataplacement        string  `fio:"dataplacement" alias:"data_placement" def:"none" vals:"none|fdp|streams" group:"io" help:"Placement directive attached to writes: none (default), fdp or streams"`
	PLIDSelect           string  `fio:"plid_select" alias:"fdp_pli_select" def:"roundrobin" vals:"random|roundrobin|scheme" group:"io" help:"How the next placement ID is chosen: random, roundrobin (default) or scheme"`
	PLIDs                IntList `fio:"plids" alias:"fdp_pli" group:"io" help:"Placement IDs or indices this job may use, as comma-separated values or ranges"`
	DPScheme             string  `fio:"dp_scheme" maxlen:"4096" group:"io" help:"File that maps offset ranges to placement IDs, used when plid_select is scheme"`
}
