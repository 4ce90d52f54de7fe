package scsi

import "unsafe"

// Command is struct bsg_uring_cmd of linux/bsg.h: a command in an io_uring entry. Addresses are of user space.
type Command struct {
	Request        uint64 // the command block
	RequestLen     uint32
	Protocol       uint32 // 0: SCSI
	Subprotocol    uint32 // 0: a SCSI command
	MaxResponseLen uint32
	Response       uint64 // sense data
	DoutXferp      uint64 // data for the disk
	DoutXferLen    uint32
	DoutIovecCount uint32
	DinXferp       uint64 // data from the disk
	DinXferLen     uint32
	DinIovecCount  uint32
	TimeoutMs      uint32
	_              [12]byte
}

// At takes the bytes of an io_uring entry as a command.
func At(b *[80]byte) *Command { return (*Command)(unsafe.Pointer(b)) }

// SG_IO is the ioctl that sends a Request and waits for it.
const SG_IO = 0x2285

// Request is struct sg_io_v4 of linux/bsg.h.
type Request struct {
	Guard                                                int32 // 'Q'
	Protocol, Subprotocol, RequestLen                    uint32
	Request, RequestTag                                  uint64
	RequestAttr, RequestPriority                         uint32
	RequestExtra, MaxResponseLen                         uint32
	Response                                             uint64
	DoutIovecCount, DoutXferLen                          uint32
	DinIovecCount, DinXferLen                            uint32
	DoutXferp, DinXferp                                  uint64
	Timeout, Flags                                       uint32
	UserPtr                                              uint64
	SpareIn, DriverStatus, TransportStatus, DeviceStatus uint32
	RetryDelay, Info, Duration, ResponseLen              uint32
	DinResid, DoutResid                                  int32
	GeneratedTag                                         uint64
	SpareOut, _                                          uint32
}

var (
	_ [80]byte  = [unsafe.Sizeof(Command{})]byte{}
	_ [160]byte = [unsafe.Sizeof(Request{})]byte{}
)
