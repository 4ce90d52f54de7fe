package scsi

import (
	"fmt"
	"strings"
)

// Status is the second word of a completion: the disk's status in bits 0 to 7, the driver's in 8 to 15, the host's in 16 to
// 23, and the length of the sense data in 24 to 31.
type Status uint32

// Device is the status of the disk.
func (s Status) Device() uint8 { return uint8(s) }

// Host is the status of the host adapter.
func (s Status) Host() uint8 { return uint8(s >> 16) }

// Met is the disk's status of a prefetch whose blocks all fit into its cache: a success.
const Met = 0x04

var deviceNames = map[uint8]string{
	0x02: "check condition", 0x04: "condition met", 0x08: "busy", 0x18: "reservation conflict", 0x28: "task set full",
	0x30: "ACA active", 0x40: "task aborted",
}

// SenseSize is room for sense data.
const SenseSize = 64

var keyNames = [16]string{"no sense", "recovered error", "not ready", "medium error", "hardware error", "illegal request",
	"unit attention", "data protect", "blank check", "vendor specific", "copy aborted", "aborted command", "", "volume overflow",
	"miscompare", "completed"}

// additionalNames are additional sense codes with their qualifiers, those that I/O meets.
var additionalNames = map[uint16]string{
	0x0401: "becoming ready", 0x0c00: "write error", 0x1100: "unrecovered read error", 0x1d00: "miscompare during verify",
	0x2000: "invalid command operation code", 0x2100: "logical block address out of range", 0x2400: "invalid field in command block",
	0x2600: "invalid field in parameter list", 0x2700: "write protected", 0x2900: "power on or reset", 0x3a00: "medium not present",
}

// Describe says what a status means, with the sense data where the disk gave some.
func Describe(s Status, sense []byte) string {
	var parts []string
	if d := s.Device(); d != 0 {
		name := deviceNames[d]
		if name == "" {
			name = "unknown status"
		}
		parts = append(parts, fmt.Sprintf("SCSI status: %s (%#02x)", name, d))
	}
	if h := s.Host(); h != 0 {
		parts = append(parts, fmt.Sprintf("host status: %#02x", h))
	}
	if s.Device() == 0x02 {
		if text := describeSense(sense); text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf("status %#x", uint32(s))
	}
	return strings.Join(parts, ", ")
}

// describeSense reads sense data of either format; empty when there are none.
func describeSense(b []byte) string {
	if len(b) < 14 {
		return ""
	}
	var key uint8
	var code uint16
	switch b[0] & 0x7f {
	case 0x70, 0x71: // fixed
		key, code = b[2]&0xf, uint16(b[12])<<8|uint16(b[13])
	case 0x72, 0x73: // descriptors
		key, code = b[1]&0xf, uint16(b[2])<<8|uint16(b[3])
	default:
		return ""
	}
	text := keyNames[key]
	if name := additionalNames[code]; name != "" {
		text += ", " + name
	}
	return fmt.Sprintf("%s (key %#x, asc %#02x, ascq %#02x)", text, key, code>>8, code&0xff)
}
