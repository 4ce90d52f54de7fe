package ring

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

// TestLayoutIsTheKernels compares with testdata/abi.golden, which testdata/abi.c prints from the kernel's own header.
func TestLayoutIsTheKernels(t *testing.T) {
	var (
		sqe    SQE
		cqe    CQE
		cqe32  CQE32
		p      Params
		sqOff  SQOffsets
		cqOff  CQOffsets
		iov    Iovec
		arg    getEventsArg
		update rsrcUpdate
		op     probeOp
		table  probeTable
	)
	var b strings.Builder
	for _, f := range []struct {
		name string
		n    uintptr
	}{
		{"SQE", unsafe.Sizeof(sqe)},
		{"SQE.Opcode", unsafe.Offsetof(sqe.Opcode)},
		{"SQE.Flags", unsafe.Offsetof(sqe.Flags)},
		{"SQE.Ioprio", unsafe.Offsetof(sqe.Ioprio)},
		{"SQE.Fd", unsafe.Offsetof(sqe.Fd)},
		{"SQE.Off", unsafe.Offsetof(sqe.Off)},
		{"SQE.Addr", unsafe.Offsetof(sqe.Addr)},
		{"SQE.Len", unsafe.Offsetof(sqe.Len)},
		{"SQE.OpFlags", unsafe.Offsetof(sqe.OpFlags)},
		{"SQE.UserData", unsafe.Offsetof(sqe.UserData)},
		{"SQE.BufIndex", unsafe.Offsetof(sqe.BufIndex)},
		{"SQE.Personality", unsafe.Offsetof(sqe.Personality)},
		{"SQE.FileIndex", unsafe.Offsetof(sqe.FileIndex)},
		{"SQE.Addr3", unsafe.Offsetof(sqe.Addr3)},
		{"CQE", unsafe.Sizeof(cqe)},
		{"CQE.UserData", unsafe.Offsetof(cqe.UserData)},
		{"CQE.Res", unsafe.Offsetof(cqe.Res)},
		{"CQE.Flags", unsafe.Offsetof(cqe.Flags)},
		{"CQE32.Big", unsafe.Offsetof(cqe32.Big)},
		{"Params", unsafe.Sizeof(p)},
		{"Params.SQEntries", unsafe.Offsetof(p.SQEntries)},
		{"Params.CQEntries", unsafe.Offsetof(p.CQEntries)},
		{"Params.Flags", unsafe.Offsetof(p.Flags)},
		{"Params.SQThreadCPU", unsafe.Offsetof(p.SQThreadCPU)},
		{"Params.SQThreadIdle", unsafe.Offsetof(p.SQThreadIdle)},
		{"Params.Features", unsafe.Offsetof(p.Features)},
		{"Params.WQFd", unsafe.Offsetof(p.WQFd)},
		{"Params.SQOff", unsafe.Offsetof(p.SQOff)},
		{"Params.CQOff", unsafe.Offsetof(p.CQOff)},
		{"SQOffsets.Dropped", unsafe.Offsetof(sqOff.Dropped)},
		{"SQOffsets.Array", unsafe.Offsetof(sqOff.Array)},
		{"CQOffsets.Overflow", unsafe.Offsetof(cqOff.Overflow)},
		{"CQOffsets.CQEs", unsafe.Offsetof(cqOff.CQEs)},
		{"Iovec", unsafe.Sizeof(iov)},
		{"Iovec.Base", unsafe.Offsetof(iov.Base)},
		{"Iovec.Len", unsafe.Offsetof(iov.Len)},
		{"Timespec", unsafe.Sizeof(Timespec{})},
		{"getEventsArg", unsafe.Sizeof(arg)},
		{"getEventsArg.Sigmask", unsafe.Offsetof(arg.Sigmask)},
		{"getEventsArg.SigmaskSize", unsafe.Offsetof(arg.SigmaskSize)},
		{"getEventsArg.Timeout", unsafe.Offsetof(arg.Timeout)},
		{"rsrcUpdate", unsafe.Sizeof(update)},
		{"rsrcUpdate.Data", unsafe.Offsetof(update.Data)},
		{"probeOp", unsafe.Sizeof(op)},
		{"probeOp.Flags", unsafe.Offsetof(op.Flags)},
		{"probeTable.OpsLen", unsafe.Offsetof(table.OpsLen)},
		{"probeTable.Ops", unsafe.Offsetof(table.Ops)},
	} {
		fmt.Fprintf(&b, "%s %d\n", f.name, f.n)
	}
	want, err := os.ReadFile("testdata/abi.golden")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("layout differs from the kernel's (-kernel +fiord):\n%s", diff)
	}
	// The command bytes of a large entry begin where the kernel's cmd[] does, at addr3.
	big := new(SQE128)
	if got := uintptr(unsafe.Pointer(big.Command())) - uintptr(unsafe.Pointer(big)); got != unsafe.Offsetof(sqe.Addr3) {
		t.Errorf("command bytes at %d, want %d", got, unsafe.Offsetof(sqe.Addr3))
	}
}
