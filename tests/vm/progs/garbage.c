// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Throws garbage at a diagnostics node and checks the rules of its ABI:
 * garbage NODE [TEST]
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"
#include "uapi/erdma_diag.h"

static int fd;
static const char *node;

static const size_t size_of[ERDMA_DIAG_CMD_COUNT] = {
	sizeof(struct erdma_diag_info), sizeof(struct erdma_diag_list),
	sizeof(struct erdma_diag_context), sizeof(struct erdma_diag_ring_read),
	sizeof(struct erdma_diag_debug), sizeof(struct erdma_diag_log),
	sizeof(struct erdma_diag_snapshot), sizeof(struct erdma_diag_recover),
};

static unsigned long command(unsigned int nr)
{
	return _IO(ERDMA_DIAG_IOC_TYPE, nr);
}

/* The errno of one call, 0 for success. */
static int call(unsigned long cmd, void *arg)
{
	errno = 0;
	return ioctl(fd, cmd, arg) ? errno : 0;
}

static bool unknown_numbers(void)
{
	uint32_t arg[1024] = { 64 };

	for (unsigned int nr = ERDMA_DIAG_CMD_COUNT; nr < 256; nr++) {
		int err = call(command(nr), arg);

		EXPECT(err == ENOTTY, "number %u: %s", nr, strerror(err));
	}
	for (unsigned int nr = 0; nr < ERDMA_DIAG_CMD_COUNT; nr++) {
		EXPECT(call(_IOC(_IOC_READ, ERDMA_DIAG_IOC_TYPE, nr, 8), arg) == ENOTTY,
		       "number %u with a direction", nr);
		EXPECT(call(_IO(0x6b, nr), arg) == ENOTTY, "number %u of another type", nr);
	}
	return true;
}

static bool bad_pointers(void)
{
	for (unsigned int nr = 0; nr < ERDMA_DIAG_CMD_COUNT; nr++) {
		EXPECT(call(command(nr), NULL) == EFAULT, "command %u: %s", nr, strerror(errno));
		EXPECT(call(command(nr), (void *)-4096L) == EFAULT, "command %u: %s", nr,
		       strerror(errno));
	}
	return true;
}

static bool sizes(void)
{
	static uint8_t arg[8192];

	for (unsigned int nr = 0; nr < ERDMA_DIAG_CMD_COUNT; nr++) {
		uint32_t size;

		for (size = 0; size < 8; size++) {
			memset(arg, 0, sizeof(arg));
			memcpy(arg, &size, 4);
			EXPECT(call(command(nr), arg) == EINVAL, "command %u, size %u: %s", nr, size,
			       strerror(errno));
		}
		for (size = 4097; size < 6000; size += 700) {
			memset(arg, 0, sizeof(arg));
			memcpy(arg, &size, 4);
			EXPECT(call(command(nr), arg) == E2BIG, "command %u, size %u: %s", nr, size,
			       strerror(errno));
		}
		/* A newer caller: the unknown tail must be zero. */
		size = (uint32_t)size_of[nr] + 64;
		memset(arg, 0, sizeof(arg));
		memcpy(arg, &size, 4);
		arg[size - 1] = 1;
		EXPECT(call(command(nr), arg) == E2BIG, "command %u, tail set: %s", nr,
		       strerror(errno));
		arg[size - 1] = 0;
		EXPECT(call(command(nr), arg) != E2BIG, "command %u, tail clear", nr);
	}
	return true;
}

static bool flags(void)
{
	for (unsigned int nr = 0; nr < ERDMA_DIAG_CMD_COUNT; nr++) {
		uint32_t arg[1024] = { (uint32_t)size_of[nr], 0x80000000 };

		EXPECT(call(command(nr), arg) == EOPNOTSUPP, "command %u: %s", nr, strerror(errno));
	}
	return true;
}

static bool info_of_every_size(void)
{
	for (uint32_t size = 8; size <= sizeof(struct erdma_diag_info) + 64; size++) {
		uint8_t arg[4096];
		uint32_t known;
		int err;

		memset(arg, 0, size);
		memset(arg + size, 0x5a, sizeof(arg) - size);
		memcpy(arg, &size, 4);
		err = call(ERDMA_DIAG_INFO, arg);
		EXPECT(!err || err == EINVAL, "size %u: %s", size, strerror(err));
		for (size_t i = size; i < sizeof(arg); i++)
			EXPECT(arg[i] == 0x5a, "size %u: byte %zu was written", size, i);
		memcpy(&known, arg, 4);
		EXPECT(err || known == sizeof(struct erdma_diag_info), "size %u: kernel says %u", size,
		       known);
	}
	return true;
}

static bool objects_that_do_not_exist(void)
{
	uint8_t buf[4096];

	for (uint32_t obj = 1; obj <= 3; obj++) {
		struct erdma_diag_context c = {
			.size = sizeof(c), .obj = obj, .id = 0xfffffff, .buf = (uintptr_t)buf,
			.buf_len = sizeof(buf),
		};

		EXPECT(call(ERDMA_DIAG_CONTEXT, &c) == ENOENT, "object type %u: %s", obj,
		       strerror(errno));
	}
	for (uint32_t ring = 1; ring <= 4; ring++) {
		struct erdma_diag_ring_read r = {
			.size = sizeof(r), .ring = ring, .id = 0xfffffff, .count = 1,
			.buf = (uintptr_t)buf, .buf_len = sizeof(buf),
		};

		EXPECT(call(ERDMA_DIAG_RING_READ, &r) == ENOENT, "ring type %u: %s", ring,
		       strerror(errno));
	}
	return true;
}

static bool counts_of_ring_read(void)
{
	static uint8_t buf[1 << 20];
	struct erdma_diag_ring_read r = {
		.size = sizeof(r), .ring = ERDMA_DIAG_RING_EQ, .id = ERDMA_DIAG_EQ_AEQ,
	};
	uint32_t depth;

	EXPECT(!call(ERDMA_DIAG_RING_READ, &r), "count 0: %s", strerror(errno));
	depth = r.out_depth;
	EXPECT(depth && !r.out_count, "depth %u, count %u", depth, r.out_count);
	r.buf = (uintptr_t)buf;
	r.buf_len = sizeof(buf);
	r.count = depth + 1;
	EXPECT(call(ERDMA_DIAG_RING_READ, &r) == EINVAL, "depth + 1: %s", strerror(errno));
	r.count = 0xffffffff;
	EXPECT(call(ERDMA_DIAG_RING_READ, &r) == EINVAL, "2^32 - 1: %s", strerror(errno));
	r.count = depth;
	r.buf_len = 15;
	EXPECT(call(ERDMA_DIAG_RING_READ, &r) == EMSGSIZE, "small buffer: %s", strerror(errno));
	r.buf_len = sizeof(buf);
	r.first = 0xfffffff0;
	EXPECT(!call(ERDMA_DIAG_RING_READ, &r), "whole ring: %s", strerror(errno));
	EXPECT(r.out_count == depth, "%u of %u entries", r.out_count, depth);
	r.buf = 8;
	EXPECT(call(ERDMA_DIAG_RING_READ, &r) == EFAULT, "buffer at 8: %s", strerror(errno));
	return true;
}

/* Anything at all: no call may hang, crash, or return something else than 0 or -1. */
static bool random_arguments(void)
{
	static uint8_t buf[65536];

	srandom(20240607);
	for (int i = 0; i < 200000; i++) {
		unsigned int nr = (unsigned int)random() % ERDMA_DIAG_CMD_COUNT;
		uint32_t arg[1024];
		int ret;

		for (size_t k = 0; k < size_of[nr] / 4 + 2; k++)
			arg[k] = random() % 4 ? (uint32_t)random() % 64 : (uint32_t)random() << 1;
		arg[0] = (uint32_t)size_of[nr];
		if (nr == 4)
			arg[1] = 0;		/* do not change the levels */
		if (random() % 2)
			arg[1] = 0;
		if (random() % 2 && (nr == 1 || nr == 2))
			memcpy(&arg[4], &(uint64_t){ (uintptr_t)buf }, 8);
		if (random() % 2 && nr == 3)
			memcpy(&arg[6], &(uint64_t){ (uintptr_t)buf }, 8);
		ret = ioctl(fd, command(nr), arg);
		EXPECT(ret == 0 || ret == -1, "command %u returned %d", nr, ret);
		EXPECT(!ret || errno != ETIMEDOUT, "command %u timed out", nr);
	}
	return true;
}

static bool other_calls(void)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char c = 0;

	EXPECT(write(fd, &c, 1) < 0, "write succeeded");
	EXPECT(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED, "mmap succeeded");
	EXPECT(poll(&p, 1, 0) >= 0, "poll: %s", strerror(errno));
	return true;
}

static bool many_openers(void)
{
	int fds[200];
	int n;

	for (n = 0; n < 200; n++) {
		struct erdma_diag_info info = { .size = sizeof(info) };

		fds[n] = open(node, O_RDWR | O_CLOEXEC);
		if (fds[n] < 0)
			break;
		EXPECT(!ioctl(fds[n], ERDMA_DIAG_INFO, &info), "INFO of opener %d: %s", n,
		       strerror(errno));
	}
	for (int i = 0; i < n; i++)
		close(fds[i]);
	EXPECT(n >= 16, "only %d openers at once", n);
	return true;
}

static const struct tap_test tests[] = {
	{ "unknown command numbers", unknown_numbers },
	{ "bad pointers", bad_pointers },
	{ "sizes of every command", sizes },
	{ "unknown flags", flags },
	{ "info of every size", info_of_every_size },
	{ "objects that do not exist", objects_that_do_not_exist },
	{ "counts of a ring read", counts_of_ring_read },
	{ "200000 random calls", random_arguments },
	{ "write, mmap and poll", other_calls },
	{ "200 openers at once", many_openers },
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	node = argc > 1 ? argv[1] : "/dev/erdma/diag0";
	fd = open(node, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		fprintf(stderr, "%s: %s\n", node, strerror(errno));
		return 1;
	}
	return tap_run(tests, sizeof(tests) / sizeof(tests[0]), argc > 2 ? argv[2] : NULL);
}
