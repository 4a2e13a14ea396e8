// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mark_known: sections of which everybody knows how many instructions they have. Prints
 * "cost TAG known_INSTRUCTIONS 1" for each.
 */
#include <stdio.h>

#include "mark.h"

#define ROUNDS	5	/* an interrupt in all of them is not to be expected */

#define BEGIN_END	[begin] "i" (MARK_MAGIC | MARK_BEGIN), [end] "i" (MARK_MAGIC | MARK_END)

/* mov, then a thousand times dec and jnz */
static void loop(unsigned int tag)
{
	unsigned int n;

	mark_tag(tag);
	__asm__ __volatile__(MARK_ASM("begin") "mov $1000, %0\n1:\tdec %0\n\tjnz 1b\n\t"
			     MARK_ASM("end") : "=r" (n) : BEGIN_END : "cc");
}

/* One instruction, however often it repeats itself, between two others */
static void repeated(unsigned int tag)
{
	static char buf[4096];
	void *to = buf;
	unsigned long n;

	mark_tag(tag);
	__asm__ __volatile__(MARK_ASM("begin") "mov $4096, %k1\n\trep stosb\n\tnop\n\t"
			     MARK_ASM("end") : "+D" (to), "=&c" (n) : "a" (1), BEGIN_END
			     : "memory");
}

int main(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		loop(1);
		repeated(2);
	}
	puts("cost 1 known_2001 1\ncost 2 known_3 1");
	return 0;
}
