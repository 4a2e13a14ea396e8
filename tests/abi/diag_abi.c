// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ABI of /dev/erdma/diagN, rule by rule (docs/abi.md): every test breaks
 * one rule and keeps all the others. Runs in a VM, as root.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "diag_abi.h"

/* What user space compiles, in case a compiler packs it otherwise. */
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
_Static_assert(sizeof(struct erdma_diag_ring_part) == 48, "ring_part");
_Static_assert(sizeof(struct erdma_diag_snapshot) == 72, "snapshot");
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

int list(int fd, struct erdma_diag_list *arg, void *buf, uint32_t len)
{
	arg->size = sizeof(*arg);
	arg->buf = (uintptr_t)buf;
	arg->buf_len = len;
	return call(fd, ERDMA_DIAG_LIST, arg);
}

const void *find_record(const void *buf, uint32_t len, int type)
{
	const struct erdma_diag_rec *rec;
	uint32_t at = 0;

	while (len - at >= sizeof(*rec)) {
		rec = (const void *)((const char *)buf + at);
		if (rec->len < sizeof(*rec) || rec->len > len - at)
			return NULL;
		if (rec->type == type)
			return rec + 1;
		at += rec->len;
	}
	return NULL;
}

bool in_child(bool (*fn)(void), bool drop)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (drop && (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY)))
			_exit(2);
		if (drop)
			prctl(PR_SET_DUMPABLE, 1);	/* as after a login */
		status = fn() ? 0 : 1;
		fflush(stdout);
		_exit(status);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return false;
	if (!WIFEXITED(status))
		printf("# child ended with wait status %#x\n", status);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

bool as_nobody(bool (*fn)(void))
{
	return in_child(fn, true);
}

/* In this order: rights come last, they open the node to others */
static struct tap_test *all_tests(int *n)
{
	const struct {
		const struct tap_test *tests;
		int n;
	} parts[] = {
		{ dispatch_tests, n_dispatch_tests }, { object_tests, n_object_tests },
		{ memory_tests, n_memory_tests }, { log_tests, n_log_tests },
		{ snapshot_tests, n_snapshot_tests }, { rights_tests, n_rights_tests },
	};
	struct tap_test *all = NULL;

	*n = 0;
	for (unsigned int i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		all = reallocarray(all, *n + parts[i].n, sizeof(*all));
		if (!all)
			exit(1);
		memcpy(all + *n, parts[i].tests, parts[i].n * sizeof(*all));
		*n += parts[i].n;
	}
	return all;
}

int main(int argc, char **argv)
{
	struct tap_test *all;
	int n;

	node = open(node_path, O_RDONLY | O_CLOEXEC);
	if (node < 0) {
		printf("Bail out! %s: %s\n", node_path, strerror(errno));
		return 1;
	}
	all = all_tests(&n);
	return tap_run(all, n, argc > 1 ? argv[1] : NULL);
}
