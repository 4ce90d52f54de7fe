package job

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
)

// maxPattern is fio's limit of a pattern's length in bytes.
const maxPattern = 128 << 20

// offsetFormat is the length of what %o stands for, in bytes.
const offsetFormat = 8

const wantPattern = `decimal numbers, 0x hexadecimal bytes, "text", 'file name' or %o, one after the other`

// DecodeOption reads a pattern: strings in double quotes, file names in single quotes, decimal numbers (little endian,
// as short as they fit), hexadecimal bytes behind 0x, and for verify patterns %o, all joined.
func (p *Pattern) DecodeOption(d *Decl, text string, _ int) error {
	var out Pattern
	for rest := text; rest != ""; {
		var part []byte
		var err error
		switch {
		case rest[0] == '"':
			part, rest, err = quoted(rest)
		case rest[0] == '\'':
			part, rest, err = patternFile(rest)
		case strings.HasPrefix(rest, "%o") && d.Name != "buffer_pattern":
			out.Formats = append(out.Formats, PatternFormat{Kind: 'o', Offset: len(out.Bytes)})
			part, rest = make([]byte, offsetFormat), rest[len("%o"):]
		default:
			part, rest, err = patternNumber(rest)
		}
		if err != nil {
			return fmt.Errorf("pattern %q: %w", abbreviate(text), err)
		}
		out.Bytes = append(out.Bytes, part...)
		if len(out.Bytes) > maxPattern {
			return badValue(abbreviate(text), "a pattern of at most %d bytes", maxPattern)
		}
	}
	if len(out.Bytes) == 0 {
		return badValue(abbreviate(text), "%s", wantPattern)
	}
	*p = out
	return nil
}

func quoted(s string) (part []byte, rest string, err error) {
	end := strings.IndexByte(s[1:], s[0])
	if end < 0 {
		return nil, "", badValue(s, "a closing %c", s[0])
	}
	return []byte(s[1 : 1+end]), s[end+2:], nil
}

// patternFile reads what a file name in single quotes stands for.
func patternFile(s string) (part []byte, rest string, err error) {
	name, rest, err := quoted(s)
	if err != nil {
		return nil, "", err
	}
	f, err := os.Open(string(name))
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	part, err = io.ReadAll(io.LimitReader(f, maxPattern))
	return part, rest, err
}

func patternNumber(s string) (part []byte, rest string, err error) {
	if len(s) > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		return hexBytes(s)
	}
	end := 0
	if s[0] == '-' || s[0] == '+' {
		end++
	}
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		if len(s) > end+1 && s[end] == '0' && (s[end+1]|0x20) == 'x' && end > 0 {
			break // the next hexadecimal number starts here
		}
		end++
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(s[:end], "+"), 10, 64)
	if err != nil || n > math.MaxInt32 || n < math.MinInt32 {
		return nil, "", badValue(s, "%s", wantPattern)
	}
	for u := uint32(n); u != 0; u >>= 8 {
		part = append(part, byte(u))
	}
	if n == 0 {
		part = []byte{0}
	}
	return part, s[end:], nil
}

// hexBytes reads 0x and hexadecimal digits, two a byte; of an odd number the first digit is a byte alone, as in fio.
func hexBytes(s string) (part []byte, rest string, err error) {
	end := 2
	for end < len(s) && isHex(s[end]) {
		end++
	}
	if end < len(s) && (s[end]|0x20) == 'x' && s[end-1] == '0' {
		end-- // 0xff0x14 are two numbers
	}
	digits := s[2:end]
	if digits == "" {
		return nil, "", badValue(s, "hexadecimal digits after 0x")
	}
	if len(digits)%2 == 1 {
		digits = "0" + digits
	}
	for i := 0; i < len(digits); i += 2 {
		two := digits[i : i+2]
		b, err := strconv.ParseUint(two, 16, 8)
		if err != nil {
			return nil, "", err
		}
		part = append(part, byte(b))
	}
	return part, s[end:], nil
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}
