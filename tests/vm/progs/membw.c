// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints this machine's memcpy bandwidth in MB/s, copying 1 MiB at a time. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(void)
{
	enum { LEN = 1 << 20, BLOCKS = 64, ROUNDS = 40 };
	uint8_t *from = malloc((size_t)LEN * BLOCKS), *to = malloc((size_t)LEN * BLOCKS);
	struct timespec a, b;
	double seconds;

	if (!from || !to)
		return 1;
	memset(from, 1, (size_t)LEN * BLOCKS);
	memset(to, 2, (size_t)LEN * BLOCKS);
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (int r = 0; r < ROUNDS; r++)
		for (int i = 0; i < BLOCKS; i++)
			memcpy(to + (size_t)i * LEN, from + (size_t)((i * 37 + r) % BLOCKS) * LEN, LEN);
	clock_gettime(CLOCK_MONOTONIC, &b);
	seconds = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
	printf("%.0f\n", (double)LEN * BLOCKS * ROUNDS / seconds / 1e6 + (to[12345] == 99));
	return 0;
}
