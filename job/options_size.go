package job

// SizeOptions says how much I/O there is and in which blocks.
type SizeOptions struct {
	Size            Size            `fio:"size" group:"io" help:"Region size per job, in bytes or as a percentage; also bounds total I/O by default"`
	IOSize          Size            `fio:"io_size" alias:"io_limit" group:"io" help:"Total bytes to transfer, when that should differ from size"`
	FillDevice      bool            `fio:"fill_device" alias:"fill_fs" def:"0" group:"file" help:"Keep writing sequentially until the target reports it is out of space"`
	FileSize        SizeRange       `fio:"filesize" min:"1" group:"file" help:"Size of each file in bytes, or a range from which sizes are drawn at random"`
	FileAppend      bool            `fio:"file_append" def:"0" group:"file" help:"Begin I/O at the current end of each regular file"`
	Offset          Size            `fio:"offset" alias:"fileoffset" def:"0" group:"io" help:"Where in the file I/O starts, in bytes or as a percentage; default 0"`
	OffsetAlign     int             `fio:"offset_align" def:"0" group:"io" help:"Align a percentage-based offset to this many bytes; 0 uses the minimum block size"`
	OffsetIncrement Size            `fio:"offset_increment" def:"0" parent:"offset" group:"io" help:"Shift the start offset of each successive clone by this much; default 0"`
	NumberIOs       uint64          `fio:"number_ios" def:"0" group:"io" help:"Stop the job after this many I/Os if no other limit ends it sooner"`
	NumRange        int             `fio:"num_range" def:"1" max:"256" group:"io" help:"How many ranges each trim command carries; default 1"`
	BS              PerDir[uint64]  `fio:"bs" alias:"blocksize" def:"4096" min:"1" parent:"rw" group:"io" help:"Block size in bytes for I/O units, optionally per read,write,trim; default 4096"`
	BA              PerDir[uint64]  `fio:"ba" alias:"blockalign" min:"1" parent:"rw" group:"io" help:"Byte boundary for random offsets, per direction; defaults to the minimum block size"`
	BSRange         PerDir[Range]   `fio:"bsrange" alias:"blocksize_range" min:"1" parent:"rw" group:"io" help:"Pick each block size from a minimum-maximum range, optionally per direction"`
	BSSplit         PerDir[BSSplit] `fio:"bssplit" parent:"rw" group:"io" help:"Mix of block sizes with percentages, written as size/percent:size/percent"`
	BSUnaligned     bool            `fio:"bs_unaligned" alias:"blocksize_unaligned" parent:"rw" flag:"1" group:"io" help:"Allow any byte length within the block size range, even if not sector aligned"`
	BSIsSeqRand     bool            `fio:"bs_is_seq_rand" def:"0" parent:"blocksize" group:"io" help:"Use the read block size for sequential I/O and the write block size for random I/O"`
}
