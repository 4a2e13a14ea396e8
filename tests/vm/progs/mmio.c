// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes to a card's BAR 0 from user space.
 *
 * mmio price PCI-ADDRESS		ns per 8-byte write to a reserved register
 * mmio garbage PCI-ADDRESS SEED COUNT	random accesses everywhere in the BAR
 * mmio doorbells PCI-ADDRESS SEED COUNT	random accesses to doorbell pages only
 *
 * The last two are for tests: whatever a guest writes, the card must survive
 * it. The function registers hold addresses that the card writes to, so only the
 * doorbells may get garbage while a driver relies on its memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RESERVED_REGISTER	0xff8
#define DOORBELLS		0x1000		/* above the function registers */
#define FIXED_MAP		0x80000		/* its end */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void price(volatile uint8_t *bar)
{
	enum { COUNT = 2000000 };
	uint64_t begin, end;

	begin = now_ns();
	for (int i = 0; i < COUNT; i++)
		*(volatile uint64_t *)(bar + RESERVED_REGISTER) = 0;
	end = now_ns();
	printf("%.1f\n", (double)(end - begin) / COUNT);
}

static void access_once(volatile uint8_t *bar, size_t at, uint64_t value, int kind)
{
	switch (kind) {
	case 0: bar[at] = (uint8_t)value; break;
	case 1: *(volatile uint16_t *)(bar + (at & ~1ul)) = (uint16_t)value; break;
	case 2: *(volatile uint32_t *)(bar + (at & ~3ul)) = (uint32_t)value; break;
	case 3: *(volatile uint64_t *)(bar + (at & ~7ul)) = value; break;
	case 4: (void)bar[at]; break;
	case 5: (void)*(volatile uint32_t *)(bar + (at & ~3ul)); break;
	default: (void)*(volatile uint64_t *)(bar + (at & ~7ul)); break;
	}
}

static void garbage(volatile uint8_t *bar, size_t from, size_t len, unsigned int seed, long count)
{
	srandom(seed);
	for (long i = 0; i < count; i++) {
		/* Mostly registers and doorbell pages, some of everything else. */
		size_t end = random() % 4 ? FIXED_MAP : len;
		size_t at = from + (size_t)random() % (end - from);
		uint64_t value = (uint64_t)random() << 33 ^ (uint64_t)random() << 11 ^ (uint64_t)random();

		if (random() % 3 == 0)
			value &= 0x0000000f0000ffff;	/* small numbers hit live objects */
		access_once(bar, at, value, (int)(random() % 7));
	}
}

int main(int argc, char **argv)
{
	char path[256];
	struct stat st;
	uint8_t *bar;
	int fd;

	if (argc < 3) {
		fprintf(stderr, "usage: %s price|garbage|doorbells PCI-ADDRESS [SEED COUNT]\n", argv[0]);
		return 2;
	}
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/resource0", argv[2]);
	fd = open(path, O_RDWR | O_SYNC);
	if (fd < 0 || fstat(fd, &st)) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 1;
	}
	bar = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (bar == MAP_FAILED) {
		fprintf(stderr, "mmap %s: %s\n", path, strerror(errno));
		return 1;
	}
	if (!strcmp(argv[1], "price"))
		price(bar);
	else
		garbage(bar, strcmp(argv[1], "garbage") ? DOORBELLS : 0, (size_t)st.st_size, argc > 3 ? (unsigned int)atoi(argv[3]) : 1,
			argc > 4 ? atol(argv[4]) : 100000);
	return 0;
}
