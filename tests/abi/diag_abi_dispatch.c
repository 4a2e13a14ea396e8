// SPDX-License-Identifier: GPL-2.0-or-later
/* Rules that hold for every command: numbers, sizes, flags, pointers. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "diag_abi.h"

#define PAGE 4096
#define KERNEL_ADDRESS ((void *)0xffff888000000000)

static bool valid_arguments_are_accepted(void)
{
	union argument arg;

	for (int i = 0; i < N_COMMANDS; i++) {
		valid_argument(&commands[i], &arg);
		EXPECT(!call(node, commands[i].cmd, &arg), "%s", commands[i].name);
		EXPECT(arg.head.size == commands[i].size, "%s reports size %u", commands[i].name,
		       arg.head.size);
	}
	return true;
}

static bool all_256_numbers(void)
{
	union argument arg = {};

	for (unsigned int nr = ERDMA_DIAG_CMD_COUNT; nr < 256; nr++) {
		int err = call(node, _IO(ERDMA_DIAG_IOC_TYPE, nr), &arg);

		EXPECT(err == ENOTTY, "number %u: %s", nr, strerror(err));
	}
	return true;
}

static bool other_type_bytes(void)
{
	union argument arg = {};

	for (unsigned int type = 0; type < 256; type++) {
		/* Type 0 has generic file ioctls that succeed, 'T' some that fail oddly */
		if (type == ERDMA_DIAG_IOC_TYPE || !type)
			continue;
		for (unsigned int nr = 0; nr < ERDMA_DIAG_CMD_COUNT; nr++)
			EXPECT(call(node, _IO(type, nr), &arg), "type %#x number %u", type, nr);
	}
	return true;
}

static bool direction_and_size_bits_count(void)
{
	union argument arg;

	for (int i = 0; i < N_COMMANDS; i++) {
		for (unsigned int dir = 0; dir < 4; dir++) {
			for (unsigned int size = 0; size < 0x4000; size += 0x155) {
				unsigned int cmd = _IOC(dir, ERDMA_DIAG_IOC_TYPE, i, size);
				int err;

				if (cmd == commands[i].cmd)
					continue;
				valid_argument(&commands[i], &arg);
				err = call(node, cmd, &arg);
				EXPECT(err == ENOTTY, "%#x: %s", cmd, strerror(err));
			}
		}
	}
	return true;
}

static bool too_small_sizes(void)
{
	union argument arg;

	for (int i = 0; i < N_COMMANDS; i++) {
		for (uint32_t size = 0; size < commands[i].first; size++) {
			int err;

			valid_argument(&commands[i], &arg);
			arg.head.size = size;
			err = call(node, commands[i].cmd, &arg);
			EXPECT(err == EINVAL, "%s size %u: %s", commands[i].name, size, strerror(err));
		}
	}
	return true;
}

/* Callers of the first version and of every one since get what they know */
static bool sizes_since_the_first_version(void)
{
	union argument arg;

	for (int i = 0; i < N_COMMANDS; i++) {
		for (uint32_t size = commands[i].first; size < commands[i].size; size++) {
			int err;

			valid_argument(&commands[i], &arg);
			memset(arg.bytes + size, 0xa5, commands[i].size - size);
			arg.head.size = size;
			err = call(node, commands[i].cmd, &arg);
			EXPECT(!err, "%s size %u: %s", commands[i].name, size, strerror(err));
			for (uint32_t j = size; j < commands[i].size; j++)
				EXPECT(arg.bytes[j] == 0xa5, "%s size %u: byte %u was written",
				       commands[i].name, size, j);
		}
	}
	return true;
}

static bool larger_sizes_with_zero_tail(void)
{
	union argument arg;

	for (int i = 0; i < N_COMMANDS; i++) {
		for (uint32_t more = 0; more <= 64; more++) {
			int err;

			valid_argument(&commands[i], &arg);
			arg.head.size = commands[i].size + more;
			err = call(node, commands[i].cmd, &arg);
			EXPECT(!err, "%s size +%u: %s", commands[i].name, more, strerror(err));
			EXPECT(arg.head.size == commands[i].size, "%s reports size %u",
			       commands[i].name, arg.head.size);
		}
		valid_argument(&commands[i], &arg);
		arg.head.size = PAGE;
		EXPECT(!call(node, commands[i].cmd, &arg), "%s size of a page", commands[i].name);
	}
	return true;
}

static bool larger_sizes_with_unknown_tail(void)
{
	union argument arg;

	for (int i = 0; i < N_COMMANDS; i++) {
		for (uint32_t more = 1; more <= 64; more++) {
			int err;

			valid_argument(&commands[i], &arg);
			arg.head.size = commands[i].size + more;
			arg.bytes[commands[i].size + more - 1] = 1;
			err = call(node, commands[i].cmd, &arg);
			EXPECT(err == E2BIG, "%s size +%u: %s", commands[i].name, more, strerror(err));
		}
	}
	return true;
}

static bool absurd_sizes(void)
{
	static const uint32_t sizes[] = { PAGE + 1, 2 * PAGE, 0x7fffffff, 0x80000000, 0xffffffff };
	union argument arg;

	for (int i = 0; i < N_COMMANDS; i++) {
		for (unsigned int j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
			int err;

			valid_argument(&commands[i], &arg);
			arg.head.size = sizes[j];
			err = call(node, commands[i].cmd, &arg);
			EXPECT(err == E2BIG, "%s size %u: %s", commands[i].name, sizes[j],
			       strerror(err));
		}
	}
	return true;
}

/* What lies behind the kernel's structure belongs to the caller. */
static bool tail_is_not_written(void)
{
	union argument arg;

	for (int i = 0; i < N_COMMANDS; i++) {
		valid_argument(&commands[i], &arg);
		memset(arg.bytes + commands[i].size, 0xa5, 64);
		EXPECT(!call(node, commands[i].cmd, &arg), "%s", commands[i].name);
		for (int j = 0; j < 64; j++)
			EXPECT(arg.bytes[commands[i].size + j] == 0xa5, "%s byte +%d",
			       commands[i].name, j);
	}
	return true;
}

static bool unknown_flags(void)
{
	union argument arg;

	for (int i = 0; i < N_COMMANDS; i++) {
		for (int bit = 0; bit < 32; bit++) {
			uint32_t flag = 1U << bit;
			int err;

			valid_argument(&commands[i], &arg);
			arg.head.flags = flag;
			if (commands[i].cmd == ERDMA_DIAG_DEBUG && flag == ERDMA_DIAG_DEBUG_SET) {
				arg.debug.mask = 1;
				arg.debug.level = ERDMA_DIAG_LEVEL_ERR;
			}
			if (commands[i].cmd == ERDMA_DIAG_LIST && flag == ERDMA_DIAG_LIST_HW)
				arg.list.hw_budget_ms = 1000;
			if (commands[i].cmd == ERDMA_DIAG_SNAPSHOT && flag == ERDMA_DIAG_SNAPSHOT_HW)
				arg.snapshot.hw_budget_ms = 1000;
			err = call(node, commands[i].cmd, &arg);
			EXPECT(err == (flag & commands[i].flags ? 0 : EOPNOTSUPP),
			       "%s flag %#x: %s", commands[i].name, flag, strerror(err));
		}
	}
	return true;
}

static bool reserved_fields(void)
{
	union argument arg;

	for (int bit = 0; bit < 32; bit++) {
		valid_argument(&commands[1], &arg);
		arg.list.rsvd = 1U << bit;
		EXPECT(call(node, ERDMA_DIAG_LIST, &arg) == EINVAL, "list bit %d", bit);
		valid_argument(&commands[3], &arg);
		arg.ring.rsvd = 1U << bit;
		EXPECT(call(node, ERDMA_DIAG_RING_READ, &arg) == EINVAL, "ring_read bit %d", bit);
		valid_argument(&commands[5], &arg);
		arg.log.rsvd = 1U << bit;
		EXPECT(call(node, ERDMA_DIAG_LOG, &arg) == EINVAL, "log bit %d", bit);
		valid_argument(&commands[6], &arg);
		arg.snapshot.rsvd = 1U << bit;
		EXPECT(call(node, ERDMA_DIAG_SNAPSHOT, &arg) == EINVAL, "snapshot bit %d", bit);
		valid_argument(&commands[7], &arg);
		arg.recover.rsvd = 1U << bit;
		EXPECT(call(node, ERDMA_DIAG_RECOVER, &arg) == EINVAL, "recover bit %d", bit);
	}
	return true;
}

/* Two pages, the second one not there; the argument ends at the hole or in it. */
static bool argument_at_a_hole(void)
{
	uint8_t *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
	union argument arg;

	EXPECT(page != MAP_FAILED && !munmap(page + PAGE, PAGE), "mmap");
	for (int i = 0; i < N_COMMANDS; i++) {
		uint32_t size = commands[i].size;

		valid_argument(&commands[i], &arg);
		memcpy(page + PAGE - size, &arg, size);
		EXPECT(!call(node, commands[i].cmd, page + PAGE - size), "%s fits", commands[i].name);
		for (uint32_t cut = 4; cut < size; cut += 4) {
			memcpy(page + PAGE - size + cut, &arg, size - cut);
			EXPECT(call(node, commands[i].cmd, page + PAGE - size + cut) == EFAULT,
			       "%s without its last %u bytes", commands[i].name, cut);
		}
	}
	munmap(page, PAGE);
	return true;
}

static bool bad_argument_pointers(void)
{
	void *bad[] = { NULL, (void *)1, KERNEL_ADDRESS, (void *)-1L, (void *)-4096L };

	for (int i = 0; i < N_COMMANDS; i++)
		for (unsigned int j = 0; j < sizeof(bad) / sizeof(bad[0]); j++)
			EXPECT(call(node, commands[i].cmd, bad[j]) == EFAULT, "%s at %p",
			       commands[i].name, bad[j]);
	return true;
}

static bool read_only_argument(void)
{
	union argument *arg = mmap(NULL, sizeof(*arg), PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EXPECT(arg != MAP_FAILED, "mmap");
	for (int i = 0; i < N_COMMANDS; i++) {
		mprotect(arg, sizeof(*arg), PROT_READ | PROT_WRITE);
		valid_argument(&commands[i], arg);
		mprotect(arg, sizeof(*arg), PROT_READ);
		EXPECT(call(node, commands[i].cmd, arg) == EFAULT, "%s", commands[i].name);
	}
	munmap(arg, sizeof(*arg));
	return true;
}

static bool unaligned_argument(void)
{
	uint8_t buf[sizeof(struct erdma_diag_info) + 8];
	union argument arg;

	for (int i = 0; i < N_COMMANDS; i++) {
		for (int off = 1; off < 8; off++) {
			valid_argument(&commands[i], &arg);
			memcpy(buf + off, &arg, commands[i].size);
			EXPECT(!call(node, commands[i].cmd, buf + off), "%s at +%d",
			       commands[i].name, off);
		}
	}
	return true;
}

/* ioctl() is the only way in, poll() says when */
static bool no_other_file_operation(void)
{
	char c;

	EXPECT(read(node, &c, 1) < 0 && errno == EINVAL, "read: %s", strerror(errno));
	EXPECT(lseek(node, 0, SEEK_SET) < 0 && errno == ESPIPE, "lseek: %s", strerror(errno));
	EXPECT(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, node, 0) == MAP_FAILED && errno == ENODEV,
	       "mmap: %s", strerror(errno));
	int fd = open(node_path, O_RDWR | O_CLOEXEC);

	EXPECT(fd >= 0, "open for writing: %s", strerror(errno));
	EXPECT(write(fd, "x", 1) < 0 && errno == EINVAL, "write: %s", strerror(errno));
	close(fd);
	return true;
}

static volatile int alarms;

static void on_alarm(int sig)
{
	(void)sig;
	alarms++;
}

/* Signals do not change what a call returns. */
static bool signal_storm(void)
{
	struct itimerval fast = { { 0, 200 }, { 0, 200 } }, off = {};
	struct sigaction sa = { .sa_handler = on_alarm };	/* no SA_RESTART */
	union argument arg;
	int err = 0, i;

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &fast, NULL);
	for (i = 0; i < 20000 && !err && (i < 2000 || alarms < 50); i++) {
		valid_argument(&commands[i % N_COMMANDS], &arg);
		err = call(node, commands[i % N_COMMANDS].cmd, &arg);
	}
	setitimer(ITIMER_REAL, &off, NULL);
	EXPECT(!err, "call %d: %s", i, strerror(err));
	EXPECT(alarms, "no signal came");
	return true;
}

/* Where the kernel may write whatever the random length says: a guard follows. */
static void aim_at(const struct command *c, union argument *arg, uint64_t to)
{
	if (c->cmd == ERDMA_DIAG_LIST)
		arg->list.buf = to;
	if (c->cmd == ERDMA_DIAG_CONTEXT)
		arg->context.buf = to;
	if (c->cmd == ERDMA_DIAG_RING_READ)
		arg->ring.buf = to;
	if (c->cmd == ERDMA_DIAG_LOG)
		arg->log.buf = to;
	if (c->cmd == ERDMA_DIAG_SNAPSHOT)
		arg->snapshot.buf = to;
}

/* Arguments with random bytes and a right size: any answer but a crash. */
static bool random_arguments(void)
{
	uint8_t *guarded = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	union argument arg;

	EXPECT(guarded != MAP_FAILED && !mprotect(guarded + PAGE, PAGE, PROT_NONE), "mmap");
	srandom(1);
	for (int i = 0; i < 20000; i++) {
		const struct command *c = &commands[random() % N_COMMANDS];

		valid_argument(c, &arg);
		for (int n = random() % 6; n >= 0; n--)
			arg.bytes[8 + random() % (c->size - 8)] = random();
		aim_at(c, &arg, (uintptr_t)guarded + random() % PAGE);
		call(node, c->cmd, &arg);
	}
	munmap(guarded, 2 * PAGE);
	valid_argument(&commands[0], &arg);
	EXPECT(!call(node, ERDMA_DIAG_INFO, &arg), "the node does not answer any more");
	return true;
}

const struct tap_test dispatch_tests[] = {
	{ "valid_arguments_are_accepted", valid_arguments_are_accepted },
	{ "all_256_numbers", all_256_numbers },
	{ "other_type_bytes", other_type_bytes },
	{ "direction_and_size_bits_count", direction_and_size_bits_count },
	{ "too_small_sizes", too_small_sizes },
	{ "sizes_since_the_first_version", sizes_since_the_first_version },
	{ "larger_sizes_with_zero_tail", larger_sizes_with_zero_tail },
	{ "larger_sizes_with_unknown_tail", larger_sizes_with_unknown_tail },
	{ "absurd_sizes", absurd_sizes },
	{ "tail_is_not_written", tail_is_not_written },
	{ "unknown_flags", unknown_flags },
	{ "reserved_fields", reserved_fields },
	{ "argument_at_a_hole", argument_at_a_hole },
	{ "bad_argument_pointers", bad_argument_pointers },
	{ "read_only_argument", read_only_argument },
	{ "unaligned_argument", unaligned_argument },
	{ "no_other_file_operation", no_other_file_operation },
	{ "signal_storm", signal_storm },
	{ "random_arguments", random_arguments },
};

const int n_dispatch_tests = sizeof(dispatch_tests) / sizeof(dispatch_tests[0]);
