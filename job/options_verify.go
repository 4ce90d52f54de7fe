package job

// VerifyOptions says how data is checked and trimmed.
type VerifyOptions struct {
	Verify                string     `fio:"verify" def:"0" vals:"0|md5|crc64|crc32|crc32c-intel|crc32c|crc16|crc7|sha1|sha256|sha512|sha3-224|sha3-256|sha3-384|sha3-512|xxhash|meta|pattern|pattern_hdr|null" group:"io/verify" help:"Checksum or pattern method used to validate written data; off by default"`
	DoVerify              bool       `fio:"do_verify" def:"1" parent:"verify" group:"io/verify" help:"Run the verification pass after writing when verify is set; on by default"`
	VerifyPolicy          string     `fio:"verify_policy" def:"completed" vals:"completed|fsynced" parent:"verify" group:"io/verify" help:"Writes to check after a saved state is loaded: completed (default) or fsync-covered"`
	Verifysort            Deprecated `fio:"verifysort" group:"io/verify" deprecated:"soft" help:"Obsolete setting for ordering verify reads; accepted but ignored"`
	VerifysortNr          Deprecated `fio:"verifysort_nr" group:"io/verify" deprecated:"soft" help:"Obsolete count of verify reads to sort; accepted but ignored"`
	VerifyInterval        int        `fio:"verify_interval" min:"96" parent:"verify" group:"io/verify" help:"Bytes covered by each verification header; defaults to the block size"`
	VerifyOffset          int        `fio:"verify_offset" min:"48" parent:"verify" group:"io/verify" help:"Byte position within the block at which the verification header is placed"`
	VerifyPattern         Pattern    `fio:"verify_pattern" parent:"verify" group:"io/verify" help:"Bytes, string or format used to fill blocks for verification"`
	VerifyPatternInterval int        `fio:"verify_pattern_interval" def:"0" parent:"verify" group:"io/verify" help:"Regenerate the verify pattern every so many bytes; 0 (default) disables it"`
	VerifyFatal           bool       `fio:"verify_fatal" def:"0" parent:"verify" group:"io/verify" help:"End the job on the first verification failure; off by default"`
	VerifyDump            bool       `fio:"verify_dump" def:"0" parent:"verify" group:"io/verify" help:"Save the expected and actual block contents to files when verification fails"`
	VerifyAsync           int        `fio:"verify_async" def:"0" parent:"verify" group:"io/verify" help:"Number of helper threads that perform verification; 0 (default) does it inline"`
	VerifyBacklog         uint64     `fio:"verify_backlog" parent:"verify" group:"io/verify" help:"Start verifying once this many blocks are written, not only at the end"`
	VerifyBacklogBatch    int        `fio:"verify_backlog_batch" parent:"verify" group:"io/verify" help:"Number of blocks to check per backlog round; defaults to verify_backlog"`
	VerifyAsyncCPUs       CPUSet     `fio:"verify_async_cpus" parent:"verify_async" group:"io/verify" help:"CPUs on which the async verification threads may run"`
	ExperimentalVerify    bool       `fio:"experimental_verify" parent:"verify" group:"io/verify" help:"Verify by replaying the workload in place of keeping a record of each write"`
	VerifyStateLoad       bool       `fio:"verify_state_load" parent:"verify" group:"io/verify" help:"Load a saved write state so that only blocks known to be written are checked"`
	VerifyStateSave       bool       `fio:"verify_state_save" def:"1" parent:"verify" group:"io/verify" help:"Save the write state when the job ends, for a later verify run; on by default"`
	VerifyWriteSequence   bool       `fio:"verify_write_sequence" def:"1" parent:"verify" group:"io/verify" help:"Check the write sequence number kept in each header; on by default"`
	VerifyHeaderSeed      bool       `fio:"verify_header_seed" def:"1" parent:"verify" group:"io/verify" help:"Check the random seed stored in each verify header; on by default"`
	TrimPercentage        int        `fio:"trim_percentage" def:"0" min:"0" max:"100" parent:"verify" group:"io/trim" help:"Percentage of verify blocks to trim; default 0"`
	TrimVerifyZero        bool       `fio:"trim_verify_zero" def:"1" parent:"trim_percentage" group:"io/trim" help:"Expect trimmed blocks to read back as zeroes; on by default"`
	TrimBacklog           uint64     `fio:"trim_backlog" parent:"trim_percentage" group:"io/trim" help:"Begin trimming once this many blocks have been written"`
	TrimBacklogBatch      int        `fio:"trim_backlog_batch" parent:"trim_percentage" group:"io/trim" help:"Number of blocks to trim in each backlog round; defaults to trim_backlog"`
}
