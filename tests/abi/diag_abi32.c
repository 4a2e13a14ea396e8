// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The same ABI from a 32-bit program: sizes are asserted by the compiler, calls
 * go through compat_ioctl. Freestanding, as build machines have no 32-bit libc.
 */
#include <asm/unistd.h>

#include "uapi/erdma_diag.h"

_Static_assert(sizeof(void *) == 4, "not a 32-bit program");
_Static_assert(sizeof(struct erdma_diag_rec) == 8, "rec");
_Static_assert(sizeof(struct erdma_diag_owner) == 24, "owner");
_Static_assert(sizeof(struct erdma_diag_queue) == 48, "queue");
_Static_assert(sizeof(struct erdma_diag_owner_more) == 16, "owner_more");
_Static_assert(sizeof(struct erdma_diag_qp) == 280, "qp");
_Static_assert(sizeof(struct erdma_diag_cq) == 152, "cq");
_Static_assert(sizeof(struct erdma_diag_eq) == 176, "eq");
_Static_assert(sizeof(struct erdma_diag_cmdq) == 248, "cmdq");
_Static_assert(sizeof(struct erdma_diag_mr) == 152, "mr");
_Static_assert(sizeof(struct erdma_diag_pd) == 72, "pd");
_Static_assert(sizeof(struct erdma_diag_ctx) == 88, "ctx");
_Static_assert(sizeof(struct erdma_diag_cm_id) == 144, "cm_id");
_Static_assert(sizeof(struct erdma_diag_hw) == 272, "hw");
_Static_assert(sizeof(struct erdma_diag_info) == 456, "info");
_Static_assert(sizeof(struct erdma_diag_list) == 56, "list");
_Static_assert(sizeof(struct erdma_diag_context) == 40, "context");
_Static_assert(sizeof(struct erdma_diag_ring_read) == 72, "ring_read");
_Static_assert(sizeof(struct erdma_diag_debug) == 136, "debug");
_Static_assert(sizeof(struct erdma_diag_log) == 64, "log");
_Static_assert(sizeof(struct erdma_diag_recover) == 32, "recover");
_Static_assert(sizeof(struct erdma_diag_log_head) == 40, "log_head");
_Static_assert(sizeof(struct erdma_diag_log_cmd) == 88, "log_cmd");
_Static_assert(sizeof(struct erdma_diag_log_cmd_time) == 176, "log_cmd_time");
_Static_assert(sizeof(struct erdma_diag_log_event) == 64, "log_event");
_Static_assert(sizeof(struct erdma_diag_log_cm) == 152, "log_cm");
_Static_assert(sizeof(struct erdma_diag_log_fail) == 72, "log_fail");
_Static_assert(sizeof(struct erdma_diag_log_key) == 64, "log_key");
_Static_assert(sizeof(struct erdma_diag_log_reset) == 104, "log_reset");
_Static_assert(sizeof(struct erdma_diag_log_link) == 56, "log_link");
_Static_assert(sizeof(struct erdma_diag_log_debug) == 168, "log_debug");
_Static_assert(__builtin_offsetof(struct erdma_diag_info, mac) == 224, "info.mac");
_Static_assert(__builtin_offsetof(struct erdma_diag_ring_read, buf) == 24, "ring_read.buf");

#define EOPNOTSUPP 95
#define EMSGSIZE 90
#define EINVAL 22

static long sys3(long nr, long a, long b, long c)
{
	long ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory");
	return ret;
}

static int node;

static long call(unsigned int cmd, void *arg)
{
	return sys3(__NR_ioctl, node, cmd, (long)arg);
}

static void print(const char *s)
{
	long len = 0;

	while (s[len])
		len++;
	sys3(__NR_write, 1, (long)s, len);
}

#define TAP_PUT(text) print(text)
#include "tap.h"

static unsigned char buf[8192];

/* The compiler may call these. */
void *memset(void *to, int c, unsigned int n);
void *memset(void *to, int c, unsigned int n)
{
	volatile unsigned char *p = to;

	while (n--)
		*p++ = c;
	return to;
}

static bool test_info(void)
{
	struct erdma_diag_info i = { .size = sizeof(i) };

	return !call(ERDMA_DIAG_INFO, &i) && i.size == sizeof(i) && i.pci_vendor == 0x1ded &&
	       i.abi_cmds == 0xff && i.max_qp && i.time_real_ns;
}

static bool test_list(void)
{
	struct erdma_diag_list l = {
		.size = sizeof(l), .obj = ERDMA_DIAG_OBJ_EQ, .buf = (unsigned long)buf,
		.buf_len = sizeof(buf),
	};

	return !call(ERDMA_DIAG_LIST, &l) && l.out_count >= 3 &&
	       ((struct erdma_diag_rec *)buf)->len == 184;
}

static bool test_context(void)
{
	struct erdma_diag_context c = {
		.size = sizeof(c), .obj = ERDMA_DIAG_OBJ_CMDQ, .buf = (unsigned long)buf,
		.buf_len = sizeof(buf),
	};

	return !call(ERDMA_DIAG_CONTEXT, &c) && c.out_len == 256 && c.time_ns &&
	       ((struct erdma_diag_cmdq *)(buf + 8))->credits == 128;
}

static bool test_needed_size(void)
{
	struct erdma_diag_context c = { .size = sizeof(c), .obj = ERDMA_DIAG_OBJ_CMDQ };

	return call(ERDMA_DIAG_CONTEXT, &c) == -EMSGSIZE && c.out_len == 256;
}

static bool test_ring_read(void)
{
	struct erdma_diag_ring_read r = {
		.size = sizeof(r), .ring = ERDMA_DIAG_RING_CMDQ_SQ, .count = 4,
		.buf = (unsigned long)buf, .buf_len = sizeof(buf),
	};

	return !call(ERDMA_DIAG_RING_READ, &r) && r.out_count == 4 && r.out_depth == 512 &&
	       r.out_time_ns;
}

static bool test_debug(void)
{
	struct erdma_diag_debug d = { .size = sizeof(d) };

	return !call(ERDMA_DIAG_DEBUG, &d) && d.out_count == ERDMA_DIAG_CAT_COUNT;
}

static bool test_log(void)
{
	struct erdma_diag_log l = {
		.size = sizeof(l), .kind = ERDMA_DIAG_LOG_RESET, .buf = (unsigned long)buf,
		.buf_len = sizeof(buf),
	};

	return !call(ERDMA_DIAG_LOG, &l) && l.out_count && l.out_next >= l.out_count &&
	       ((struct erdma_diag_rec *)buf)->len == 112;
}

static bool test_snapshot(void)
{
	struct erdma_diag_snapshot s = {
		.size = sizeof(s), .obj = ERDMA_DIAG_OBJ_CMDQ, .buf = (unsigned long)buf,
		.buf_len = sizeof(buf),
	};

	return !call(ERDMA_DIAG_SNAPSHOT, &s) && s.out_count == 3 && s.out_len == 256 + 2 * 184 &&
	       s.out_seq && s.out_end_ns >= s.out_start_ns;
}

static bool test_recover(void)
{
	struct erdma_diag_recover r = {
		.size = sizeof(r), .obj = ERDMA_DIAG_OBJ_EQ, .id = ERDMA_DIAG_EQ_AEQ,
	};

	return !call(ERDMA_DIAG_RECOVER, &r) && r.out_flags == ERDMA_DIAG_RECOVER_RUNG;
}

static bool test_errors(void)
{
	struct erdma_diag_info i = { .size = 343 };	/* less than the first version */
	struct erdma_diag_list l = { .size = sizeof(l), .flags = 1U << 31 };

	return call(ERDMA_DIAG_INFO, &i) == -EINVAL && call(ERDMA_DIAG_LIST, &l) == -EOPNOTSUPP;
}

static const struct tap_test tests[] = {
	{ "32-bit info", test_info },
	{ "32-bit list", test_list },
	{ "32-bit context", test_context },
	{ "32-bit needed size", test_needed_size },
	{ "32-bit ring_read", test_ring_read },
	{ "32-bit debug", test_debug },
	{ "32-bit log", test_log },
	{ "32-bit snapshot", test_snapshot },
	{ "32-bit recover", test_recover },
	{ "32-bit errors", test_errors },
};

void _start(void);
void _start(void)
{
	node = sys3(__NR_open, (long)"/dev/erdma/diag0", 0, 0);
	if (node < 0) {
		print("Bail out! /dev/erdma/diag0 cannot be opened\n");
		sys3(__NR_exit, 1, 0, 0);
	}
	sys3(__NR_exit, tap_run(tests, sizeof(tests) / sizeof(tests[0]), NULL), 0, 0);
	__builtin_unreachable();
}
