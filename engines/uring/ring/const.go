package ring

// Flags of io_uring_setup. Since Linux 5.1 where nothing else is said.
const (
	IORING_SETUP_IOPOLL         = 1 << 0  // completions are polled for
	IORING_SETUP_SQPOLL         = 1 << 1  // a kernel thread takes the entries
	IORING_SETUP_SQ_AFF         = 1 << 2  // SQThreadCPU is valid
	IORING_SETUP_CQSIZE         = 1 << 3  // CQEntries is valid; 5.5
	IORING_SETUP_CLAMP          = 1 << 4  // sizes are cut to the limit; 5.6
	IORING_SETUP_ATTACH_WQ      = 1 << 5  // 5.6
	IORING_SETUP_R_DISABLED     = 1 << 6  // starts disabled; 5.10
	IORING_SETUP_SUBMIT_ALL     = 1 << 7  // a bad entry does not end the batch; 5.18
	IORING_SETUP_COOP_TASKRUN   = 1 << 8  // no interrupt for task work; 5.19
	IORING_SETUP_TASKRUN_FLAG   = 1 << 9  // IORING_SQ_TASKRUN tells of task work; 5.19
	IORING_SETUP_SQE128         = 1 << 10 // 5.19
	IORING_SETUP_CQE32          = 1 << 11 // 5.19
	IORING_SETUP_SINGLE_ISSUER  = 1 << 12 // one thread only; 6.0
	IORING_SETUP_DEFER_TASKRUN  = 1 << 13 // task work waits for an enter with GETEVENTS; 6.1
	IORING_SETUP_NO_MMAP        = 1 << 14 // 6.5
	IORING_SETUP_REGISTERED_FD  = 1 << 15 // IORING_SETUP_REGISTERED_FD_ONLY; 6.5
	IORING_SETUP_NO_SQARRAY     = 1 << 16 // entries are taken in ring order; 6.6
	IORING_SETUP_HYBRID_IOPOLL  = 1 << 17 // sleep half of the expected time, then poll; 6.13
	IORING_SETUP_CQE_MIXED      = 1 << 18 // 6.18
	IORING_SETUP_SQE_MIXED      = 1 << 19 // 6.19
	IORING_FEAT_SINGLE_MMAP     = 1 << 0  // both rings lie in one mapping; 5.4
	IORING_FEAT_NODROP          = 1 << 1  // completions that do not fit are kept; 5.5
	IORING_FEAT_SUBMIT_STABLE   = 1 << 2  // 5.5
	IORING_FEAT_RW_CUR_POS      = 1 << 3  // 5.6
	IORING_FEAT_FAST_POLL       = 1 << 5  // 5.7
	IORING_FEAT_SQPOLL_NONFIXED = 1 << 7  // SQPOLL without registered files; 5.11
	IORING_FEAT_EXT_ARG         = 1 << 8  // enter takes a timeout; 5.11
	IORING_FEAT_NATIVE_WORKERS  = 1 << 9  // 5.12
	IORING_FEAT_RSRC_TAGS       = 1 << 10 // 5.13
	IORING_FEAT_CQE_SKIP        = 1 << 11 // 5.17
	IORING_FEAT_REG_REG_RING    = 1 << 13 // 6.3
	IORING_FEAT_MIN_TIMEOUT     = 1 << 15 // 6.12
	IORING_FEAT_RW_ATTR         = 1 << 16 // protection information; 6.14
	IORING_FEAT_NO_IOWAIT       = 1 << 17 // 6.15
)

// Flags of io_uring_enter.
const (
	IORING_ENTER_GETEVENTS       = 1 << 0
	IORING_ENTER_SQ_WAKEUP       = 1 << 1
	IORING_ENTER_SQ_WAIT         = 1 << 2 // 5.10
	IORING_ENTER_EXT_ARG         = 1 << 3 // 5.11
	IORING_ENTER_REGISTERED_RING = 1 << 4 // 5.18
	IORING_ENTER_ABS_TIMER       = 1 << 5 // 6.12
	IORING_ENTER_EXT_ARG_REG     = 1 << 6 // 6.13
	IORING_ENTER_NO_IOWAIT       = 1 << 7 // waiting is not counted as I/O wait; 6.15
)

// Words of the shared rings.
const (
	IORING_SQ_NEED_WAKEUP = 1 << 0 // the kernel thread sleeps
	IORING_SQ_CQ_OVERFLOW = 1 << 1 // completions wait for room; 5.8
	IORING_SQ_TASKRUN     = 1 << 2 // task work waits for an enter; 5.19
)

// Offsets of the mappings.
const (
	IORING_OFF_SQ_RING = 0
	IORING_OFF_CQ_RING = 0x8000000
	IORING_OFF_SQES    = 0x10000000
)

// Flags of an SQE.
const (
	IOSQE_FIXED_FILE       = 1 << 0
	IOSQE_IO_DRAIN         = 1 << 1
	IOSQE_IO_LINK          = 1 << 2
	IOSQE_IO_HARDLINK      = 1 << 3
	IOSQE_ASYNC            = 1 << 4 // 5.6
	IOSQE_BUFFER_SELECT    = 1 << 5 // 5.7
	IOSQE_CQE_SKIP_SUCCESS = 1 << 6 // 5.17
)

// Flags of single operations.
const (
	IORING_FSYNC_DATASYNC    = 1 << 0
	IORING_URING_CMD_FIXED   = 1 << 0 // 6.1
	IORING_RW_ATTR_FLAG_PI   = 1 << 0 // 6.14
	IORING_NOP_INJECT_RESULT = 1 << 0 // Len comes back as the result; 6.10
	IORING_NOP_FILE          = 1 << 1 // look the file up; 6.13
	IORING_NOP_FIXED_FILE    = 1 << 2 // it is a registered one; 6.13
	IORING_NOP_FIXED_BUFFER  = 1 << 3 // look the registered buffer up; 6.13
	BLOCK_URING_CMD_DISCARD  = 0x1200 // _IO(0x12, 0); 6.12
	RWF_NOWAIT               = 0x08   // 4.14
	RWF_ATOMIC               = 0x40   // 6.11
	RWF_DONTCACHE            = 0x80   // 6.14
)

// Operations. Since Linux 5.1 where nothing else is said.
const (
	IORING_OP_NOP             = 0
	IORING_OP_READV           = 1
	IORING_OP_WRITEV          = 2
	IORING_OP_FSYNC           = 3
	IORING_OP_READ_FIXED      = 4
	IORING_OP_WRITE_FIXED     = 5
	IORING_OP_SYNC_FILE_RANGE = 8  // 5.2
	IORING_OP_READ            = 22 // 5.6
	IORING_OP_WRITE           = 23 // 5.6
	IORING_OP_URING_CMD       = 46 // 5.19
	IORING_OP_READV_FIXED     = 60 // 6.15
)

// Operations of io_uring_register.
const (
	IORING_REGISTER_BUFFERS              = 0
	IORING_UNREGISTER_BUFFERS            = 1
	IORING_REGISTER_FILES                = 2
	IORING_UNREGISTER_FILES              = 3
	IORING_REGISTER_FILES_UPDATE         = 6  // 5.5
	IORING_REGISTER_PROBE                = 8  // 5.6
	IORING_REGISTER_RESTRICTIONS         = 11 // 5.10
	IORING_REGISTER_ENABLE_RINGS         = 12 // 5.10
	IORING_REGISTER_RING_FDS             = 20 // 5.18
	IORING_UNREGISTER_RING_FDS           = 21 // 5.18
	IORING_REGISTER_MEM_REGION           = 34 // 6.13
	IORING_MEM_REGION_TYPE_USER          = 1
	IORING_MEM_REGION_REG_WAIT_ARG       = 1
	IORING_REG_WAIT_TS                   = 1 // regWait.Timeout is valid
	IO_URING_OP_SUPPORTED                = 1
	ioringRegisteredFileNone       int32 = -1 // an empty slot of the file table
)

// Limits of the kernel.
const (
	MaxEntries    = 32768
	MaxCQEntries  = 2 * MaxEntries
	MaxBuffers    = 16384   // registered buffers
	MaxBufferSize = 1 << 30 // bytes of one registered buffer
)
