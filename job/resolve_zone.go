package job

// zonedDevice checks the options of a job with zonemode=zbd.
func (r *resolver) zonedDevice() {
	j := r.j
	if !j.CreateSerialize {
		r.errorf("zonemode=zbd and create_serialize=0 exclude each other")
	}
	if j.WriteZoneRemainder {
		if j.set["norandommap"] && !j.NoRandomMap {
			r.errorf("write_zone_remainder=1 requires norandommap=1")
		}
		j.NoRandomMap = true
	}
	if j.RecoverZBDWriteError && j.RW.Write {
		if !j.ContinueOnRead && !j.ContinueOnWrite && !j.ContinueOnVerify {
			r.errorf("recover_zbd_write_error requires continue_on_error")
		}
		if j.Verify != "0" && !r.traits.Sync {
			r.errorf("recover_zbd_write_error with verify needs a synchronous ioengine, not %s", j.IOEngine)
		}
	}
	verifies := j.Verify != "0"
	switch {
	case j.ExperimentalVerify:
		r.errorf("zonemode=zbd and experimental_verify exclude each other")
	case verifies && j.TrimPercentage > 0 && j.TrimBacklog > 0:
		r.errorf("zonemode=zbd and trim_percentage exclude each other: a trim empties a whole zone")
	case j.ReadIolog != "":
		r.errorf("zonemode=zbd and read_iolog exclude each other: a replay decides where its I/O goes")
	case j.IOSubmitMode == "offload":
		r.errorf("zonemode=zbd and io_submit_mode=offload exclude each other: writes to a zone must keep their order")
	}
}

// withoutZones names options that mean something to zoned devices only.
func (r *resolver) withoutZones() {
	r.without("zonemode=zbd", "zonecapacity", "read_beyond_wp", "max_open_zones", "job_max_open_zones", "ignore_zone_limits",
		"zone_reset_threshold", "zone_reset_frequency", "recover_zbd_write_error", "write_zone_remainder")
}
