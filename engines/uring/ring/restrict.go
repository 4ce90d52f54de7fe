package ring

import (
	"fmt"
	"syscall"
	"unsafe"

	"fiord/internal/feature"
)

// Kinds of a Restriction.
const (
	IORING_RESTRICTION_REGISTER_OP       = 0 // Value is an operation of io_uring_register that is allowed; 5.10
	IORING_RESTRICTION_SQE_OP            = 1 // Value is an operation that is allowed; 5.10
	IORING_RESTRICTION_SQE_FLAGS_ALLOWED = 2 // Value are IOSQE flags that are allowed; 5.10
)

// Restriction is struct io_uring_restriction: one thing that a restricted ring may still do.
type Restriction struct {
	Opcode uint16 // IORING_RESTRICTION_*
	Value  uint8
	_      uint8
	_      [3]uint32
}

var _ [16]byte = [unsafe.Sizeof(Restriction{})]byte{}

// restrict limits a ring that is still disabled to what list allows, once it is enabled.
func (r *Ring) restrict(list []Restriction) error {
	if len(list) == 0 {
		return nil
	}
	_, errno := r.k.Register(r.fd, IORING_REGISTER_RESTRICTIONS, unsafe.Pointer(&list[0]), uint32(len(list)))
	switch {
	case errno == 0:
		return nil
	case errno == syscall.EINVAL && !feature.AtLeast(5, 10):
		return &feature.Error{Name: "restricted rings", Since: "5.10", Err: errno}
	}
	return fmt.Errorf("io_uring: restricting the ring: %w", errno)
}
