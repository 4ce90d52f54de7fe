package environ

import (
	"encoding/binary"
	"strconv"

	"fiord/internal/sysfs"
)

// lbaFormat is the format of a namespace's blocks as the drive itself tells, with its number; nothing where it may not be
// asked. The layout is that of the NVM command set's identify namespace data.
func (g *gatherer) lbaFormat(path string) []sysfs.Fact {
	const formats, flbas, dps, table = 25, 26, 29, 128
	b, err := g.identify(path)
	if err != nil || len(b) < 4096 {
		return nil
	}
	index := int(b[flbas] & 0xf)
	if b[formats] >= 16 {
		index |= int(b[flbas]>>5&3) << 4
	}
	entry := b[table+4*index:]
	if entry[2] < 9 || entry[2] > 31 {
		return nil // not an active namespace
	}
	return []sysfs.Fact{
		count("lba_format", uint64(index)),
		count("lba_data_bytes", 1<<entry[2]),
		count("lba_metadata_bytes", uint64(binary.LittleEndian.Uint16(entry))),
		count("lba_extended", uint64(b[flbas]>>4&1)),
		count("pi_type", uint64(b[dps]&7)),
	}
}

func count(name string, n uint64) sysfs.Fact {
	return sysfs.Fact{Name: name, Text: strconv.FormatUint(n, 10), Number: true}
}
