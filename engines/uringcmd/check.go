package uringcmd

import (
	"errors"
	"fmt"

	"fiord/engines"
	"fiord/engines/uringcmd/nvme"
	"fiord/job"
)

// does reports whether the job has I/O of the direction.
func does(j *job.Job, d job.Dir) bool {
	return [...]bool{j.RW.Read, j.RW.Write, j.RW.Trim}[d]
}

// moves reports whether commands of the direction carry data.
func (d *device) moves(dir job.Dir, j *job.Job, o *Options) bool {
	if !does(j, dir) || dir == job.Trim {
		return false
	}
	if dir == job.Read {
		return true
	}
	shares, err := o.writeModes()
	if err != nil {
		return true
	}
	for _, s := range shares {
		if nvme.MovesData(s.opcode) {
			return true
		}
	}
	return false
}

// check refuses a job that does not fit the namespace or asks for what its controller lacks.
func (d *device) check(j *job.Job, o *Options) error {
	for dir := range job.NDirs {
		if !does(j, job.Dir(dir)) {
			continue
		}
		if err := d.checkDir(job.Dir(dir), j, o); err != nil {
			return fmt.Errorf("%s: %w", d.path, err)
		}
	}
	if err := d.checkCommands(j, o); err != nil {
		return fmt.Errorf("%s: %w", d.path, err)
	}
	return nil
}

// checkDir checks the block sizes of one direction.
func (d *device) checkDir(dir job.Dir, j *job.Job, o *Options) error {
	block, lo, hi := uint64(d.fmt.Block), j.MinBS[dir], j.MaxBS[dir]
	if lo%block != 0 || hi%block != 0 {
		if !d.fmt.Extended {
			return fmt.Errorf("the block size must be a multiple of the drive's %d bytes", block)
		}
		hint := ""
		if lo == hi && lo%uint64(d.fmt.Data) == 0 {
			hint = fmt.Sprintf("; did you mean bs=%d?", lo/uint64(d.fmt.Data)*block)
		}
		return fmt.Errorf("the block size must be a multiple of %d bytes, %d of data and %d of metadata%s", block, d.fmt.Data, d.fmt.Meta, hint)
	}
	if ba := j.BA[dir]; ba != 0 && uint64(ba)%block != 0 {
		return fmt.Errorf("blockalign=%d: must be a multiple of the drive's %d bytes", ba, block)
	}
	if dir == job.Trim && j.ZoneMode == "zbd" {
		return nil // a reset of the zone
	}
	if dir == job.Trim {
		if most := uint64(d.ctrl.MaxRange); most != 0 && hi/block > most {
			return fmt.Errorf("a trim of %d bytes: the drive deallocates at most %d blocks at once", hi, most)
		}
		if hi/block > 1<<32-1 {
			return fmt.Errorf("a trim of %d bytes: one range has at most 2^32-1 blocks", hi)
		}
		return d.checkRanges(hi/block, j.NumRange)
	}
	if hi/block > nvme.MaxBlocks {
		return fmt.Errorf("a block size of %d: one command has at most %d blocks of %d bytes", hi, nvme.MaxBlocks, block)
	}
	if most := d.ctrl.MaxTransfer; most != 0 && hi > most && d.moves(dir, j, o) {
		return fmt.Errorf("a block size of %d: the drive takes at most %d bytes in one command (MDTS)", hi, most)
	}
	need := hi / block * uint64(d.fmt.Meta)
	if d.fmt.Extended {
		need = 0
	}
	if need > uint64(max(o.MdPerIOSize, 0)) && d.moves(dir, j, o) {
		return fmt.Errorf("md_per_io_size=%d: %d bytes are needed, %d for each block of %d", o.MdPerIOSize, need, d.fmt.Meta, block)
	}
	return nil
}

// checkRanges checks a trim of up to n ranges (num_range) of up to so many blocks each.
func (d *device) checkRanges(blocks uint64, n int) error {
	if n <= 1 {
		return nil
	}
	if most := d.ctrl.MaxRanges; most != 0 && n > most {
		return fmt.Errorf("num_range=%d: the drive deallocates at most %d ranges at once", n, most)
	}
	if most := d.ctrl.MaxRangesTotal; most != 0 && blocks*uint64(n) > most {
		return fmt.Errorf("num_range=%d: the drive deallocates at most %d blocks at once, in all ranges", n, most)
	}
	return nil
}

// checkCommands checks that the controller has the commands that the job sends, and takes them at this length.
func (d *device) checkCommands(j *job.Job, o *Options) error {
	c := &d.ctrl
	if d.ns.ReadOnly && (j.RW.Write || j.RW.Trim) {
		return errors.New("the namespace is write protected")
	}
	if j.RW.Trim && j.ZoneMode != "zbd" && !c.DSM {
		return errors.New("the drive has no dataset management command, which trims are")
	}
	if d.fmt.Extended && d.fmt.PI.Type != 0 && j.Verify != "" && j.Verify != "0" && j.Verify != "none" {
		return errors.New("verify does not go with protection information in extended blocks, which would be part of the data")
	}
	if o.VerifyMode == "compare" && !c.Compare {
		return errors.New("verify_mode=compare: the drive has no compare command")
	}
	if o.VerifyMode == "compare" && d.fmt.PI.Type != 0 && o.PIAct {
		return errors.New("verify_mode=compare: a drive cannot compare with protection information that it would make itself: pi_act=0")
	}
	if err := d.checkPlacement(j); err != nil {
		return err
	}
	shares, err := o.writeModes()
	if err != nil {
		return err
	}
	if (len(shares) > 1 || shares[0].opcode != nvme.OpWrite) && !j.RW.Write {
		return fmt.Errorf("write_mode=%s: the job does not write", o.WriteMode)
	}
	for _, s := range shares {
		has, most, name := true, uint64(0), ""
		switch s.opcode {
		case nvme.OpWriteZeroes:
			has, most, name = c.WriteZeroes, c.MaxZeroes, "write zeroes"
		case nvme.OpWriteUncor:
			has, most, name = c.WriteUncor, c.MaxUncor, "write uncorrectable"
		case nvme.OpVerify:
			has, most, name = c.Verify, c.MaxVerify, "verify"
		}
		if !has {
			return fmt.Errorf("write_mode=%s: the drive has no %s command", o.WriteMode, name)
		}
		if hi := j.MaxBS[job.Write]; most != 0 && hi > most {
			return fmt.Errorf("a block size of %d: the drive takes at most %d bytes in one %s command", hi, most, name)
		}
	}
	return nil
}

// checkFile checks the range of the job in a file.
func (d *device) checkFile(f *engines.File) error {
	if block := int64(d.fmt.Block); f.Offset%block != 0 {
		return fmt.Errorf("%s: offset %d: must be a multiple of the drive's %d bytes", d.path, f.Offset, block)
	}
	return nil
}
