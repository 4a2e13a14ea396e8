// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * diag_fuzz SECONDS SEED: random calls of the diagnostics node, by two processes.
 *
 * An argument is valid but for a few bytes, and often about an object that exists. What a
 * call may answer is anything; it must come back, and no byte that it returns may be part
 * of an address of the kernel. Prints "calls N, accepted N, bytes N"; 1 if an address was
 * found or the node does not answer any more.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "diag_abi.h"

#define FUZZERS		2
#define OUT_BYTES	(128 * 1024)
#define HW_ONE_IN	64	/* a question to the device takes a thousand times as long */
#define MAX_ID		64	/* of objects that may exist */

/* Of x86-64: direct map, vmalloc, vmemmap; text and modules */
#define KERNEL_LOW	0xffff800000000000ULL
#define KERNEL_LOW_END	0xfffffe8000000000ULL
#define KERNEL_TEXT	0xffffffff80000000ULL
#define KERNEL_TEXT_END	0xffffffffff000000ULL

struct tally {
	uint64_t calls;
	uint64_t accepted;
	uint64_t bytes;
	uint64_t found;
};

static uint8_t *out;

static bool is_kernel_address(uint64_t v)
{
	return (v >= KERNEL_LOW && v < KERNEL_LOW_END) ||
	       (v >= KERNEL_TEXT && v < KERNEL_TEXT_END);
}

/*
 * At every place where a record has 64 bits: all of them are aligned. At others the halves
 * of two neighbours would be read as one: the low 32 bits of a time look like the upper half
 * of an address for 32 us of every 4.3 s.
 */
static void scan(const uint8_t *p, size_t len, const char *what, struct tally *t)
{
	uint64_t v;

	for (size_t at = 0; at + sizeof(v) <= len; at += sizeof(v)) {
		memcpy(&v, p + at, sizeof(v));
		if (!is_kernel_address(v))
			continue;
		printf("# %s: %#llx at byte %zu\n", what, (unsigned long long)v, at);
		t->found++;
	}
	t->bytes += len;
}

/* Something about objects that there are */
static void choose(const struct command *c, union argument *arg)
{
	uint32_t id = random() % MAX_ID;

	switch (c->cmd) {
	case ERDMA_DIAG_LIST:
		arg->list.obj = random() % 10;
		arg->list.start_id = id;
		break;
	case ERDMA_DIAG_CONTEXT:
		arg->context.obj = random() % 10;
		arg->context.id = id;
		break;
	case ERDMA_DIAG_RING_READ:
		arg->ring.ring = random() % 8;
		arg->ring.id = id;
		arg->ring.count = random() % 80;
		arg->ring.first = random();
		break;
	case ERDMA_DIAG_LOG:
		arg->log.kind = random() % 12;
		break;
	case ERDMA_DIAG_SNAPSHOT:
		arg->snapshot.obj = random() % 10;
		arg->snapshot.id = id;
		arg->snapshot.flags = random() % 4 ? 0 : ERDMA_DIAG_SNAPSHOT_RINGS;
		break;
	case ERDMA_DIAG_RECOVER:
		arg->recover.obj = random() % 10;
		arg->recover.id = id;
		break;
	}
}

/* The flag that has the device asked: seldom, and not for long */
static void ask_device(const struct command *c, union argument *arg)
{
	if (random() % HW_ONE_IN)
		return;
	if (c->cmd == ERDMA_DIAG_LIST) {
		arg->list.flags = ERDMA_DIAG_LIST_HW;
		arg->list.hw_budget_ms = 1 + random() % 20;
	} else if (c->cmd == ERDMA_DIAG_CONTEXT) {
		arg->context.flags = ERDMA_DIAG_CONTEXT_HW;
	} else if (c->cmd == ERDMA_DIAG_SNAPSHOT) {
		arg->snapshot.flags |= ERDMA_DIAG_SNAPSHOT_HW;
		arg->snapshot.hw_budget_ms = 1 + random() % 20;
	}
}

/* Where records go: a mapping with a hole behind it, seldom nowhere */
static void aim(const struct command *c, union argument *arg)
{
	uint64_t to = random() % 50 ? (uintptr_t)out : (uint64_t)random() << 33;
	uint32_t room = random() % 4 ? OUT_BYTES : random() % (OUT_BYTES + 4096);

	switch (c->cmd) {
	case ERDMA_DIAG_LIST:
		arg->list.buf = to;
		arg->list.buf_len = room;
		break;
	case ERDMA_DIAG_CONTEXT:
		arg->context.buf = to;
		arg->context.buf_len = room;
		break;
	case ERDMA_DIAG_RING_READ:
		arg->ring.buf = to;
		arg->ring.buf_len = room;
		break;
	case ERDMA_DIAG_LOG:
		arg->log.buf = to;
		arg->log.buf_len = room;
		break;
	case ERDMA_DIAG_SNAPSHOT:
		arg->snapshot.buf = to;
		arg->snapshot.buf_len = room;
		break;
	}
}

static uint32_t out_len(const struct command *c, const union argument *arg)
{
	switch (c->cmd) {
	case ERDMA_DIAG_LIST:
		return arg->list.out_len;
	case ERDMA_DIAG_CONTEXT:
		return arg->context.out_len;
	case ERDMA_DIAG_RING_READ:
		return arg->ring.out_count * arg->ring.out_entry_size;
	case ERDMA_DIAG_LOG:
		return arg->log.out_len;
	case ERDMA_DIAG_SNAPSHOT:
		return arg->snapshot.out_len;
	default:
		return 0;
	}
}

/* Some bytes of the argument, sometimes its size, too */
static void spoil(const struct command *c, union argument *arg)
{
	if (random() % 3)
		return;
	for (int n = random() % 4; n >= 0; n--)
		arg->bytes[4 + random() % (c->size - 4)] = random();
	if (random() % 8 == 0)
		arg->head.size = random() % 5000;
}

static void one_call(struct tally *t)
{
	const struct command *c = &commands[random() % N_COMMANDS];
	unsigned int cmd = c->cmd;
	union argument arg;
	uint32_t len;

	valid_argument(c, &arg);
	choose(c, &arg);
	ask_device(c, &arg);
	spoil(c, &arg);
	aim(c, &arg);
	/* Levels stay as they are: messages would fill the log */
	if (c->cmd == ERDMA_DIAG_DEBUG)
		arg.head.flags &= ~ERDMA_DIAG_DEBUG_SET;
	if (random() % 200 == 0)
		cmd ^= 1U << random() % 32;
	t->calls++;
	if (ioctl(node, cmd, &arg) || cmd != c->cmd)
		return;
	t->accepted++;
	scan(arg.bytes, c->size, c->name, t);
	len = out_len(c, &arg);
	scan(out, len < OUT_BYTES ? len : OUT_BYTES, c->name, t);
}

static bool map_out(void)
{
	out = mmap(NULL, OUT_BYTES + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		   -1, 0);
	return out != MAP_FAILED && !munmap(out + OUT_BYTES, 4096);
}

/* In a process of its own: its result goes to @result */
static int fuzz(double seconds, unsigned int seed, struct tally *result)
{
	struct tally t = {};
	struct timespec now;
	time_t end;

	node = open(node_path, O_RDONLY | O_CLOEXEC);
	if (node < 0 || !map_out())
		return 1;
	srandom(seed);
	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec + (time_t)seconds;
	while (now.tv_sec < end) {
		for (int i = 0; i < 64; i++)
			one_call(&t);
		clock_gettime(CLOCK_MONOTONIC, &now);
	}
	*result = t;
	fflush(stdout);
	return t.found != 0;
}

static bool still_answers(void)
{
	struct erdma_diag_info info = { .size = sizeof(info) };

	node = open(node_path, O_RDONLY | O_CLOEXEC);
	return node >= 0 && !call(node, ERDMA_DIAG_INFO, &info);
}

int main(int argc, char **argv)
{
	struct tally *all = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				 -1, 0), sum = {};
	int bad = 0, status;
	pid_t pid[FUZZERS];

	if (argc != 3 || all == MAP_FAILED)
		return 2;
	for (int i = 0; i < FUZZERS; i++) {
		pid[i] = fork();
		if (!pid[i])
			_exit(fuzz(atof(argv[1]), (unsigned int)atoi(argv[2]) + i, &all[i]));
	}
	for (int i = 0; i < FUZZERS; i++) {
		bad |= pid[i] < 0 || waitpid(pid[i], &status, 0) != pid[i] || status;
		sum.calls += all[i].calls;
		sum.accepted += all[i].accepted;
		sum.bytes += all[i].bytes;
		sum.found += all[i].found;
	}
	printf("calls %llu, accepted %llu, bytes %llu, addresses %llu\n",
	       (unsigned long long)sum.calls, (unsigned long long)sum.accepted,
	       (unsigned long long)sum.bytes, (unsigned long long)sum.found);
	return bad || sum.found || !still_answers();
}
