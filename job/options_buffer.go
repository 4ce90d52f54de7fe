package job

// BufferOptions says what the buffers hold.
type BufferOptions struct {
	ZeroBuffers                bool    `fio:"zero_buffers" flag:"1" group:"io/io_buf" help:"Fill write buffers with zeroes rather than random data"`
	RefillBuffers              bool    `fio:"refill_buffers" flag:"1" group:"io/io_buf" help:"Generate fresh buffer contents for every write"`
	ScrambleBuffers            bool    `fio:"scramble_buffers" def:"1" group:"io/io_buf" help:"Slightly alter buffers between writes to defeat simple dedupe; on by default"`
	BufferPattern              Pattern `fio:"buffer_pattern" group:"io/io_buf" help:"Fill write buffers with this repeated string, number or file content"`
	BufferCompressPercentage   int     `fio:"buffer_compress_percentage" min:"0" max:"100" group:"io/io_buf" help:"Target percentage by which write buffers can be compressed"`
	BufferCompressChunk        int     `fio:"buffer_compress_chunk" def:"512" parent:"buffer_compress_percentage" group:"io/io_buf" help:"Size in bytes of the units that mix random and compressible data; default 512"`
	DedupePercentage           int     `fio:"dedupe_percentage" min:"0" max:"100" group:"io/io_buf" help:"Percentage of written buffers that duplicate other buffers"`
	DedupeGlobal               bool    `fio:"dedupe_global" def:"0" group:"io/io_buf" help:"Share duplicate buffers between all jobs that set this; off by default"`
	DedupeMode                 string  `fio:"dedupe_mode" def:"repeat" vals:"repeat|working_set" parent:"dedupe_percentage" group:"io/io_buf" help:"Take duplicates from earlier writes (repeat, default) or from a working_set"`
	DedupeWorkingSetPercentage int     `fio:"dedupe_working_set_percentage" def:"5" min:"0" max:"100" parent:"dedupe_percentage" group:"io/io_buf" help:"Dedupe working set as a percentage of the file size; default 5"`
}
