package run

import "fiord/engines"

// comparesAt reports whether the device itself compares what is read back (verify_mode=compare).
func comparesAt(e engines.Engine) bool {
	c, ok := e.(engines.Comparer)
	return ok && c.Compares()
}

// expect fills the buffer of a check with what must be on the device, which then compares it. A block that was trimmed is
// read and looked at as ever: fio has the device compare it with what was there before.
func (v *verifier) expect(u *engines.IO, x *verifiedIO) {
	if !v.compare || x.trimmed {
		return
	}
	b := v.checks.block(u, x, u.Buf)
	v.scheme.Fill(b)
	u.Compare = true
}
