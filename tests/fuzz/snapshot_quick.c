// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The same as snapshot_fuzz.c without libFuzzer, for every test run: files with a few
 * changed bytes, by a fixed seed.
 *
 *	snapshot-quick TIMES FILE...
 */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MAX_INPUT	16384

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t rnd(void)
{
	static uint64_t x = 0x9e3779b97f4a7c15ULL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (uint32_t)(x >> 16);
}

static size_t read_file(const char *path, uint8_t *bytes)
{
	FILE *f = fopen(path, "re");
	size_t n;

	if (!f)
		err(1, "%s", path);
	n = fread(bytes, 1, SIZE_MAX_INPUT, f);
	fclose(f);
	if (!n)
		errx(1, "%s is empty", path);
	return n;
}

/* A value that is more often interesting than not, of one to eight bytes */
static void change(uint8_t *bytes, size_t size)
{
	static const uint64_t values[] = { 0, 1, 8, 0x7fffffff, 0x80000000, 0xffff, UINT64_MAX };
	uint64_t v = rnd() % 2 ? values[rnd() % (sizeof(values) / sizeof(values[0]))] : rnd();
	size_t len = (size_t)1 << rnd() % 4, at = rnd() % size & ~(len - 1);

	memcpy(bytes + at, &v, len < size - at ? len : size - at);
}

int main(int argc, char **argv)
{
	static uint8_t bytes[SIZE_MAX_INPUT];
	long i, times;
	size_t size;
	unsigned int n;

	if (argc < 3)
		errx(2, "snapshot-quick TIMES FILE...");
	times = strtol(argv[1], NULL, 10);
	for (i = 0; i < times; i++) {
		size = read_file(argv[2 + i % (argc - 2)], bytes);
		for (n = rnd() % 5; n; n--)
			change(bytes, size);
		if (rnd() % 8 == 0)
			size = 1 + rnd() % size;
		bytes[size - 1] = (uint8_t)rnd();
		LLVMFuzzerTestOneInput(bytes, size);
	}
	printf("%ld files\n", times);
	return 0;
}
