#include "go_asm.h"
#include "textflag.h"

#define SYS_IO_URING_ENTER 426

// func runBurst(b *burst)
//
// The kernel leaves all registers alone but AX, CX and R11. Plain stores will do for the shared words: the tail is read
// by the call that this thread makes itself, and this processor moves no store before earlier loads.
TEXT ·runBurst(SB), NOSPLIT, $0-8
	MOVQ b+0(FP), AX
	MOVL burst_fd(AX), DI
	MOVL burst_n(AX), SI
	MOVL burst_wait(AX), DX
	MOVL burst_flags(AX), R10
	XORL R8, R8
	XORL R9, R9
	MOVQ burst_cqes(AX), BX
	MOVL burst_mask(AX), R12
	SHLL $4, R12              // of offsets
	MOVL burst_tail(AX), R13
	MOVL burst_head(AX), R14
	MOVQ burst_rounds(AX), R15
	MOVQ AX, X0
	MOVQ burst_kTail(AX), X1
	MOVQ burst_kCQTail(AX), X2
	MOVQ burst_kCQHead(AX), X3
	MOVL burst_want(AX), X4

round:
	ADDL SI, R13
	MOVQ X1, CX
	MOVL R13, (CX)
	MOVL $SYS_IO_URING_ENTER, AX
	SYSCALL
	CMPL AX, SI
	JNE  end
	MOVQ X2, CX
	MOVL (CX), CX
	SUBL R14, CX
	CMPL CX, SI
	JNE  end

	MOVL X4, R11
	MOVL R14, CX
	SHLL $4, CX
result:
	ANDL R12, CX
	CMPL R11, 8(BX)(CX*1)
	JNE  odd
	ADDL $16, CX
	DECL AX
	JNZ  result

	ADDL SI, R14
	MOVQ X3, CX
	MOVL R14, (CX)
	DECQ R15
	JNZ  round
	MOVL SI, AX
	JMP  end

odd:
	MOVL SI, AX

end:
	MOVQ X0, CX
	MOVL AX, burst_got(CX)
	MOVL R13, burst_tail(CX)
	MOVL R14, burst_head(CX)
	MOVQ R15, burst_rounds(CX)
	RET
