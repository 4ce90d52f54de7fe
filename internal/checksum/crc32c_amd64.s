#include "textflag.h"

// func fold(p *byte, blocks, lines int, k *[4]uint64) uint32
// Needs AVX512F, VPCLMULQDQ and SSE4.2.
TEXT ·fold(SB), NOSPLIT, $64-36
	MOVQ p+0(FP), SI
	MOVQ blocks+8(FP), CX
	MOVQ lines+16(FP), BX
	MOVQ k+24(FP), DX
	VBROADCASTI32X4 (DX), Z8   // by four registers
	VBROADCASTI32X4 16(DX), Z9 // by one

	MOVL      $-1, AX
	VMOVD     AX, X10
	VPXORQ    (SI), Z10, Z0
	VMOVDQU64 64(SI), Z1
	VMOVDQU64 128(SI), Z2
	VMOVDQU64 192(SI), Z3
	ADDQ      $256, SI
	DECQ      CX
	JZ        done

loop:
	VPCLMULQDQ $0x00, Z8, Z0, Z4
	VPCLMULQDQ $0x00, Z8, Z1, Z5
	VPCLMULQDQ $0x00, Z8, Z2, Z6
	VPCLMULQDQ $0x00, Z8, Z3, Z7
	VPCLMULQDQ $0x11, Z8, Z0, Z0
	VPCLMULQDQ $0x11, Z8, Z1, Z1
	VPCLMULQDQ $0x11, Z8, Z2, Z2
	VPCLMULQDQ $0x11, Z8, Z3, Z3
	VPTERNLOGQ $0x96, (SI), Z4, Z0
	VPTERNLOGQ $0x96, 64(SI), Z5, Z1
	VPTERNLOGQ $0x96, 128(SI), Z6, Z2
	VPTERNLOGQ $0x96, 192(SI), Z7, Z3
	ADDQ       $256, SI
	DECQ       CX
	JNZ        loop

done:
	VPCLMULQDQ $0x00, Z9, Z0, Z4
	VPCLMULQDQ $0x11, Z9, Z0, Z0
	VPTERNLOGQ $0x96, Z4, Z0, Z1
	VPCLMULQDQ $0x00, Z9, Z1, Z4
	VPCLMULQDQ $0x11, Z9, Z1, Z1
	VPTERNLOGQ $0x96, Z4, Z1, Z2
	VPCLMULQDQ $0x00, Z9, Z2, Z4
	VPCLMULQDQ $0x11, Z9, Z2, Z2
	VPTERNLOGQ $0x96, Z4, Z2, Z3
	TESTQ      BX, BX
	JZ         last

line:
	VPCLMULQDQ $0x00, Z9, Z3, Z4
	VPCLMULQDQ $0x11, Z9, Z3, Z3
	VPTERNLOGQ $0x96, (SI), Z4, Z3
	ADDQ       $64, SI
	DECQ       BX
	JNZ        line

last:
	VMOVDQU64  Z3, fold-64(SP)
	VZEROUPPER
	XORL       AX, AX
	CRC32Q     fold-64(SP), AX
	CRC32Q     fold-56(SP), AX
	CRC32Q     fold-48(SP), AX
	CRC32Q     fold-40(SP), AX
	CRC32Q     fold-32(SP), AX
	CRC32Q     fold-24(SP), AX
	CRC32Q     fold-16(SP), AX
	CRC32Q     fold-8(SP), AX
	MOVL       AX, ret+32(FP)
	RET

// func words(crc uint32, p *byte, n int) uint32
// Needs SSE4.2.
TEXT ·words(SB), NOSPLIT, $0-28
	MOVL crc+0(FP), AX
	MOVQ p+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ CX, BX
	ANDQ $7, BX
	SHRQ $3, CX
	JZ   bytes

eight:
	CRC32Q (SI), AX
	ADDQ   $8, SI
	DECQ   CX
	JNZ    eight

bytes:
	TESTQ  $4, BX
	JZ     ones
	CRC32L (SI), AX
	ADDQ   $4, SI

ones:
	ANDQ $3, BX
	JZ   end

one:
	CRC32B (SI), AX
	INCQ   SI
	DECQ   BX
	JNZ    one

end:
	MOVL AX, ret+24(FP)
	RET
