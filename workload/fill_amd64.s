#include "textflag.h"

// func fillWide(p *byte, blocks int, words *[16]uint64, by uint64)
// Needs AVX512F and AVX512DQ.
TEXT ·fillWide(SB), NOSPLIT, $0-32
	MOVQ         p+0(FP), DI
	MOVQ         blocks+8(FP), CX
	MOVQ         words+16(FP), SI
	VPBROADCASTQ by+24(FP), Z2
	VMOVDQU64    (SI), Z0
	VMOVDQU64    64(SI), Z1

loop:
	VMOVDQU64 Z0, (DI)
	VMOVDQU64 Z1, 64(DI)
	VPMULLQ   Z2, Z0, Z0
	VPMULLQ   Z2, Z1, Z1
	ADDQ      $128, DI
	DECQ      CX
	JNZ       loop

	VMOVDQU64 Z0, (SI)
	VZEROUPPER
	RET
