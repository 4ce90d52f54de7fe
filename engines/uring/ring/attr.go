package ring

import "unsafe"

// AttrPI is struct io_uring_attr_pi, which an entry with IORING_RW_ATTR_FLAG_PI points to.
type AttrPI struct {
	Flags  uint16 // IO_INTEGRITY_CHK_*
	AppTag uint16
	Len    uint32 // bytes of protection information at Addr
	Addr   uint64
	Seed   uint64 // reference tag of the first block
	_      uint64
}

var _ [32]byte = [unsafe.Sizeof(AttrPI{})]byte{}

// Flags of AttrPI, since Linux 6.14.
const (
	IO_INTEGRITY_CHK_GUARD  = 1 << 0
	IO_INTEGRITY_CHK_REFTAG = 1 << 1
	IO_INTEGRITY_CHK_APPTAG = 1 << 2
)
