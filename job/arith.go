package job

import (
	"math"
	"strconv"
	"strings"
)

// number is a value of arithmetic: an integer as long as only integers took part, as in fio.
type number struct {
	i     int64
	f     float64
	float bool
	units bool // a suffix took part, so no unit is implied
}

func intNumber(i int64) number     { return number{i: i, f: float64(i)} }
func floatNumber(f float64) number { return number{f: f, float: true} }

func (n number) overflow() bool {
	return n.float && (math.IsNaN(n.f) || math.Abs(n.f) >= math.MaxInt64)
}

// round is the integer value, cut towards zero.
func (n number) round() int64 {
	if n.float {
		return int64(n.f)
	}
	return n.i
}

// scale multiplies by an integer, going over to float when the integer would overflow.
func (n number) scale(by int64) number {
	r := floatNumber(n.f * float64(by))
	if !n.float {
		if i, ok := mulInt64(n.i, by); ok {
			r = intNumber(i)
		}
	}
	r.units = n.units
	return r
}

// evaluate computes an expression in parentheses: + - * / % ^, unary minus, nested parentheses and suffixes. A suffix
// binds looser than * and tighter than +, so (1+4*4k) is 1 + 16k. With times, suffixes are those of times, in
// microseconds; else those of sizes, always with k = 1024 and kib = 1000.
func evaluate(s string, times bool) (number, error) {
	p := &arith{src: s, rest: s, times: times}
	n, ok := p.expression(0)
	p.space()
	if !ok || p.rest != "" {
		return number{}, badValue(s, "arithmetic such as (4*16k): + - * / %% ^, numbers with suffixes, balanced parentheses, no division by 0")
	}
	if n.overflow() || p.wrapped {
		return number{}, numberError(errOverflow, s, "")
	}
	n.units = p.units
	return n, nil
}

type arith struct {
	src, rest string
	times     bool
	units     bool
	wrapped   bool
	depth     int
}

// Binding strengths, weakest first.
const (
	bindSum = iota + 1
	bindSuffix
	bindProduct
	bindPower
	bindModulo
	bindMinus
)

// maxDepth bounds nesting so that hostile input cannot exhaust the stack.
const maxDepth = 200

func (p *arith) space() { p.rest = strings.TrimLeft(p.rest, " \t") }

func (p *arith) expression(min int) (number, bool) {
	if p.depth++; p.depth > maxDepth {
		return number{}, false
	}
	defer func() { p.depth-- }()
	left, ok := p.operand()
	for ok {
		p.space()
		if p.rest == "" {
			return left, true
		}
		if mult, n, isSuffix := p.suffix(); isSuffix {
			if min > bindSuffix {
				return left, true
			}
			p.rest, p.units = p.rest[n:], true
			left, ok = p.apply('*', left, mult)
			continue
		}
		op, bind := p.rest[0], binding(p.rest[0])
		if bind == 0 || bind < min {
			return left, true
		}
		p.rest = p.rest[1:]
		next := bind + 1
		if op == '^' {
			next = bind
		}
		var right number
		if right, ok = p.expression(next); ok {
			left, ok = p.apply(op, left, right)
		}
	}
	return left, ok
}

func binding(op byte) int {
	switch op {
	case '+', '-':
		return bindSum
	case '*', '/':
		return bindProduct
	case '^':
		return bindPower
	case '%':
		return bindModulo
	}
	return 0
}

func (p *arith) operand() (number, bool) {
	p.space()
	if p.rest == "" {
		return number{}, false
	}
	switch c := p.rest[0]; c {
	case '(':
		p.rest = p.rest[1:]
		n, ok := p.expression(0)
		p.space()
		if !ok || !strings.HasPrefix(p.rest, ")") {
			return n, false
		}
		p.rest = p.rest[1:]
		return n, true
	case '-':
		p.rest = p.rest[1:]
		n, ok := p.expression(bindMinus)
		if !ok {
			return n, false
		}
		return p.apply('*', n, intNumber(-1))
	}
	return p.literal()
}

// literal reads a decimal, hexadecimal or floating number.
func (p *arith) literal() (number, bool) {
	s := p.rest
	if len(s) > 1 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		end := 2
		for end < len(s) && strings.IndexByte("0123456789abcdefABCDEF", s[end]) >= 0 {
			end++
		}
		i, err := strconv.ParseInt(s[2:end], 16, 64)
		p.rest = s[end:]
		return intNumber(i), err == nil
	}
	end, isFloat := 0, false
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.') {
		isFloat = isFloat || s[end] == '.'
		end++
	}
	if exp := exponent(s[end:]); end > 0 && exp > 0 {
		end, isFloat = end+exp, true
	}
	p.rest = s[end:]
	if isFloat {
		f, err := strconv.ParseFloat(s[:end], 64)
		return floatNumber(f), err == nil
	}
	i, err := strconv.ParseInt(s[:end], 10, 64)
	return intNumber(i), err == nil
}

// exponent is the length of an exponent such as e-3 at the start of s, 0 when there is none.
func exponent(s string) int {
	if s == "" || s[0] != 'e' && s[0] != 'E' {
		return 0
	}
	end := 1
	if end < len(s) && (s[end] == '-' || s[end] == '+') {
		end++
	}
	start := end
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	if end == start {
		return 0
	}
	return end
}

// suffix looks at a unit at the front and gives its factor and length.
func (p *arith) suffix() (number, int, bool) {
	end := 0
	for end < len(p.rest) && (p.rest[end]|0x20 >= 'a' && p.rest[end]|0x20 <= 'z') {
		end++
	}
	if end == 0 {
		return number{}, 0, false
	}
	s := strings.ToLower(p.rest[:end])
	if p.times {
		unit, ok := timeSuffix(s)
		return intNumber(unit.Microseconds()), end, ok
	}
	mult, ok := byteSuffix(s, 1024)
	return intNumber(mult), end, ok
}

func (p *arith) apply(op byte, a, b number) (number, bool) {
	if a.float || b.float {
		return applyFloat(op, a.f, b.f)
	}
	fits := true
	var i int64
	switch op {
	case '+':
		i, fits = addInt64(a.i, b.i)
	case '-':
		i = a.i - b.i
		fits = (i < a.i) == (b.i > 0)
	case '*':
		i, fits = mulInt64(a.i, b.i)
	case '/', '%':
		if b.i == 0 {
			return number{}, false
		}
		if op == '/' {
			i = a.i / b.i
		} else {
			i = a.i % b.i
		}
	case '^':
		if b.i < 0 {
			return applyFloat(op, a.f, b.f)
		}
		i, fits = powInt64(a.i, b.i)
	}
	p.wrapped = p.wrapped || !fits
	return intNumber(i), true
}

func applyFloat(op byte, a, b float64) (number, bool) {
	switch op {
	case '+':
		return floatNumber(a + b), true
	case '-':
		return floatNumber(a - b), true
	case '*':
		return floatNumber(a * b), true
	case '/':
		return floatNumber(a / b), b != 0
	case '^':
		return floatNumber(math.Pow(a, b)), true
	}
	return number{}, false // modulo of a fraction
}

func powInt64(base, exp int64) (int64, bool) {
	switch {
	case exp == 0 || base == 1:
		return 1, true
	case base == 0:
		return 0, true
	case base == -1:
		return 1 - 2*(exp&1), true
	case exp > 64:
		return 0, false
	}
	r, ok := int64(1), true
	for ; exp > 0 && ok; exp-- {
		r, ok = mulInt64(r, base)
	}
	return r, ok
}
