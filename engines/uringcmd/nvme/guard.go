package nvme

import "hash/crc64"

// crc64NVMe is the table of the 64-bit guard: the polynomial AD93D23594C93659h, reflected.
var crc64NVMe = crc64.MakeTable(0x9A6C9329AC4BC9B5)

// CRC64 is the 64-bit guard of p behind data that gave crc; 0 starts.
func CRC64(crc uint64, p []byte) uint64 { return crc64.Update(crc, crc64NVMe, p) }

// crc16 are the tables of the 16-bit guard, the T10 polynomial 8BB7h: table k is for a byte with k more behind it.
var crc16 = makeCRC16()

func makeCRC16() *[8][256]uint16 {
	var t [8][256]uint16
	for i := range 256 {
		crc := uint16(i) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x8bb7
			} else {
				crc <<= 1
			}
		}
		t[0][i] = crc
	}
	for k := 1; k < len(t); k++ {
		for i := range 256 {
			prev := t[k-1][i]
			t[k][i] = prev<<8 ^ t[0][prev>>8]
		}
	}
	return &t
}

// CRC16 is the 16-bit guard of p behind data that gave crc; 0 starts.
func CRC16(crc uint16, p []byte) uint16 {
	t := crc16
	for len(p) >= 8 {
		crc = t[7][p[0]^byte(crc>>8)] ^ t[6][p[1]^byte(crc)] ^ t[5][p[2]] ^ t[4][p[3]] ^ t[3][p[4]] ^ t[2][p[5]] ^
			t[1][p[6]] ^ t[0][p[7]]
		p = p[8:]
	}
	for _, b := range p {
		crc = crc<<8 ^ t[0][byte(crc>>8)^b]
	}
	return crc
}
