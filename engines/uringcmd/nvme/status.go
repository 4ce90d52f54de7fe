package nvme

import (
	"fmt"
	"strings"
)

// Status is the status field of a completion as Linux hands it on: the code in bits 0 to 7, its type in 8 to 10, the
// retry delay in 11 and 12, "more" in 13, "do not retry" in 14.
type Status uint16

// Type is the status code type.
func (s Status) Type() uint8 { return uint8(s >> 8 & 7) }

// Code is the status code within its type.
func (s Status) Code() uint8 { return uint8(s) }

// Name is the status in words; empty when the specification gives it none.
func (s Status) Name() string {
	t, c := s.Type(), s.Code()
	if t == 7 {
		return "vendor specific"
	}
	return statusNames[uint16(t)<<8|uint16(c)]
}

// String is the name, the numbers and the flags.
func (s Status) String() string {
	var b strings.Builder
	name := s.Name()
	if name == "" {
		name = "unknown status"
	}
	fmt.Fprintf(&b, "%s (sct=%#02x; sc=%#02x", name, s.Type(), s.Code())
	if s&(1<<14) != 0 {
		b.WriteString("; do not retry")
	}
	b.WriteByte(')')
	return b.String()
}

// statusNames are the names of the status codes, by type<<8 | code: generic, command specific, media and data integrity,
// path related.
var statusNames = map[uint16]string{
	0x000: "success",
	0x001: "invalid command opcode",
	0x002: "invalid field in command",
	0x003: "command ID conflict",
	0x004: "data transfer error",
	0x005: "aborted because of power loss",
	0x006: "internal error",
	0x007: "aborted on request",
	0x008: "aborted because its queue was deleted",
	0x009: "aborted because a fused command failed",
	0x00a: "aborted because a fused command is missing",
	0x00b: "invalid namespace or format",
	0x00c: "command sequence error",
	0x00d: "invalid SGL segment descriptor",
	0x00e: "invalid number of SGL descriptors",
	0x00f: "invalid SGL data length",
	0x010: "invalid SGL metadata length",
	0x011: "invalid SGL descriptor type",
	0x012: "invalid use of the controller memory buffer",
	0x013: "invalid PRP offset",
	0x014: "atomic write unit exceeded",
	0x015: "operation denied",
	0x016: "invalid SGL offset",
	0x018: "host identifier in an inconsistent format",
	0x019: "keep alive timer expired",
	0x01a: "invalid keep alive timeout",
	0x01b: "aborted because of a preempt and abort",
	0x01c: "sanitize failed",
	0x01d: "sanitize in progress",
	0x01e: "invalid SGL data block granularity",
	0x01f: "command not supported for a queue in the controller memory buffer",
	0x020: "namespace is write protected",
	0x021: "command interrupted",
	0x022: "transient transport error",
	0x023: "prohibited by command and feature lockdown",
	0x024: "admin command media not ready",
	0x080: "LBA out of range",
	0x081: "capacity exceeded",
	0x082: "namespace not ready",
	0x083: "reservation conflict",
	0x084: "format in progress",
	0x085: "invalid value size",
	0x086: "invalid key size",
	0x087: "KV key does not exist",
	0x088: "unrecovered error",
	0x089: "key exists",

	0x100: "invalid completion queue",
	0x101: "invalid queue identifier",
	0x102: "invalid queue size",
	0x103: "abort command limit exceeded",
	0x105: "asynchronous event request limit exceeded",
	0x10a: "invalid format",
	0x10d: "feature identifier not saveable",
	0x10e: "feature not changeable",
	0x10f: "feature not namespace specific",
	0x115: "namespace insufficient capacity",
	0x116: "namespace identifier unavailable",
	0x118: "namespace already attached",
	0x119: "namespace is private",
	0x11a: "namespace not attached",
	0x11d: "device self-test in progress",
	0x129: "I/O command set not supported",
	0x12b: "I/O command set combination rejected",
	0x180: "conflicting attributes",
	0x181: "invalid protection information",
	0x182: "attempted write to a read only range",
	0x183: "command size limit exceeded",
	0x1b8: "zoned boundary error",
	0x1b9: "zone is full",
	0x1ba: "zone is read only",
	0x1bb: "zone is offline",
	0x1bc: "zone invalid write",
	0x1bd: "too many active zones",
	0x1be: "too many open zones",
	0x1bf: "invalid zone state transition",

	0x280: "write fault",
	0x281: "unrecovered read error",
	0x282: "end-to-end guard check error",
	0x283: "end-to-end application tag check error",
	0x284: "end-to-end reference tag check error",
	0x285: "compare failure",
	0x286: "access denied",
	0x287: "deallocated or unwritten logical block",
	0x288: "end-to-end storage tag check error",

	0x300: "internal path error",
	0x301: "asymmetric access persistent loss",
	0x302: "asymmetric access inaccessible",
	0x303: "asymmetric access transition",
	0x360: "controller pathing error",
	0x370: "host pathing error",
	0x371: "command aborted by host",
}
