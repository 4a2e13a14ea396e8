/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Marks around what insn_count.c is to count, for programs and modules of a guest.
 *
 * A mark is an 8-byte NOP whose displacement says which: it does nothing where nobody
 * looks, and the plugin finds it when QEMU translates it. A section is announced by the
 * bits of its number, so that one copy of a loop can measure many things.
 */
#ifndef ERDMA_MARK_H
#define ERDMA_MARK_H

#define MARK_MAGIC	0x7e3da500	/* all but the last two bits of the displacement */
#define MARK_CODE	0x3
#define MARK_TAG_BITS	16

enum mark {
	MARK_ZERO,	/* the next bit of the section's number, the highest one first */
	MARK_ONE,
	MARK_BEGIN,	/* behind this instruction counting begins */
	MARK_END,	/* before this one it ends */
};

/* nopl displacement(%rax,%rax,1); assemblers use it with 0. %code: an operand */
#define MARK_OPCODE	{ 0x0f, 0x1f, 0x84, 0x00 }
#define MARK_ASM(code)	".byte 0x0f, 0x1f, 0x84, 0x00\n\t.long %c[" code "]\n\t"
#define mark(number) \
	__asm__ __volatile__(MARK_ASM("code") : : [code] "i" (MARK_MAGIC | (number)) : "memory")

static inline void mark_tag(unsigned int tag)
{
	unsigned int bit;

	for (bit = 1u << (MARK_TAG_BITS - 1); bit; bit >>= 1) {
		if (tag & bit)
			mark(MARK_ONE);
		else
			mark(MARK_ZERO);
	}
}

static inline void mark_begin(unsigned int tag)
{
	mark_tag(tag);
	mark(MARK_BEGIN);
}

static inline void mark_end(void)
{
	mark(MARK_END);
}

#endif
