package ring

import "unsafe"

// SQE is a submission queue entry of 64 bytes. Fields that the kernel has as unions carry the name of their first use.
type SQE struct {
	Opcode      uint8  // IORING_OP_*
	Flags       uint8  // IOSQE_*
	Ioprio      uint16 // I/O priority
	Fd          int32  // descriptor, or index of a registered file with IOSQE_FIXED_FILE
	Off         uint64 // offset in the file; cmd_op in its low half for IORING_OP_URING_CMD
	Addr        uint64 // buffer, or iovec array of the vectored operations
	Len         uint32 // bytes, or iovecs
	OpFlags     uint32 // rw_flags, fsync_flags, sync_range_flags, uring_cmd_flags, ...
	UserData    uint64 // comes back in the CQE
	BufIndex    uint16 // registered buffer
	Personality uint16
	FileIndex   uint32
	Addr3       uint64 // attr_ptr; start of the command bytes of a 64-byte IORING_OP_URING_CMD
	AttrMask    uint64 // attr_type_mask
}

// SQE128 is the entry of a ring with IORING_SETUP_SQE128. The 80 command bytes begin at SQE.Addr3.
type SQE128 struct {
	SQE
	more [64]byte
}

// Command is the 80 bytes of an IORING_OP_URING_CMD.
func (s *SQE128) Command() *[80]byte { return (*[80]byte)(unsafe.Pointer(&s.Addr3)) }

// CQE is a completion queue entry of 16 bytes.
type CQE struct {
	UserData uint64
	Res      int32  // result, or a negative errno
	Flags    uint32 // IORING_CQE_F_*
}

// CQE32 is the entry of a ring with IORING_SETUP_CQE32.
type CQE32 struct {
	CQE
	Big [2]uint64
}

// Params is struct io_uring_params: what io_uring_setup is asked for, and what it answers.
type Params struct {
	SQEntries    uint32
	CQEntries    uint32
	Flags        uint32 // IORING_SETUP_*
	SQThreadCPU  uint32
	SQThreadIdle uint32 // ms
	Features     uint32 // IORING_FEAT_*
	WQFd         uint32
	Resv         [3]uint32
	SQOff        SQOffsets
	CQOff        CQOffsets
}

// SQOffsets is struct io_sqring_offsets: where the words of the submission ring are in its mapping.
type SQOffsets struct {
	Head, Tail, RingMask, RingEntries, Flags, Dropped, Array, Resv1 uint32
	UserAddr                                                        uint64
}

// CQOffsets is struct io_cqring_offsets.
type CQOffsets struct {
	Head, Tail, RingMask, RingEntries, Overflow, CQEs, Flags, Resv1 uint32
	UserAddr                                                        uint64
}

// Iovec is struct iovec with the address as the kernel sees it.
type Iovec struct{ Base, Len uint64 }

// Timespec is struct __kernel_timespec.
type Timespec struct{ Sec, Nsec int64 }

// getEventsArg is struct io_uring_getevents_arg, the argument of an enter with IORING_ENTER_EXT_ARG.
type getEventsArg struct {
	Sigmask     uint64
	SigmaskSize uint32
	MinWaitUsec uint32 // since Linux 6.12
	Timeout     uint64 // address of a Timespec
}

// regWait is struct io_uring_reg_wait, an argument that lies in registered memory.
type regWait struct {
	Timeout     Timespec
	MinWaitUsec uint32
	Flags       uint32
	Sigmask     uint64
	SigmaskSize uint32
	_           [3]uint32
	_           [2]uint64
}

// regionDesc is struct io_uring_region_desc.
type regionDesc struct {
	UserAddr   uint64
	Size       uint64
	Flags      uint32
	ID         uint32
	MmapOffset uint64
	_          [4]uint64
}

// memRegionReg is struct io_uring_mem_region_reg.
type memRegionReg struct {
	RegionUptr uint64 // address of a regionDesc
	Flags      uint64
	_          [2]uint64
}

// rsrcUpdate is struct io_uring_rsrc_update.
type rsrcUpdate struct {
	Offset uint32
	Resv   uint32
	Data   uint64
}

// probeOp is struct io_uring_probe_op.
type probeOp struct {
	Op    uint8
	_     uint8
	Flags uint16 // IO_URING_OP_SUPPORTED
	_     uint32
}

// probeTable is struct io_uring_probe with room for every opcode there can be.
type probeTable struct {
	LastOp uint8
	OpsLen uint8
	_      uint16
	_      [3]uint32
	Ops    [256]probeOp
}

// The sizes the kernel expects.
var (
	_ [64]byte         = [unsafe.Sizeof(SQE{})]byte{}
	_ [128]byte        = [unsafe.Sizeof(SQE128{})]byte{}
	_ [16]byte         = [unsafe.Sizeof(CQE{})]byte{}
	_ [32]byte         = [unsafe.Sizeof(CQE32{})]byte{}
	_ [120]byte        = [unsafe.Sizeof(Params{})]byte{}
	_ [40]byte         = [unsafe.Sizeof(SQOffsets{})]byte{}
	_ [40]byte         = [unsafe.Sizeof(CQOffsets{})]byte{}
	_ [16]byte         = [unsafe.Sizeof(Iovec{})]byte{}
	_ [16]byte         = [unsafe.Sizeof(Timespec{})]byte{}
	_ [24]byte         = [unsafe.Sizeof(getEventsArg{})]byte{}
	_ [64]byte         = [unsafe.Sizeof(regWait{})]byte{}
	_ [64]byte         = [unsafe.Sizeof(regionDesc{})]byte{}
	_ [32]byte         = [unsafe.Sizeof(memRegionReg{})]byte{}
	_ [16]byte         = [unsafe.Sizeof(rsrcUpdate{})]byte{}
	_ [8]byte          = [unsafe.Sizeof(probeOp{})]byte{}
	_ [16 + 256*8]byte = [unsafe.Sizeof(probeTable{})]byte{}
)
