// SPDX-License-Identifier: GPL-2.0-or-later
/* ERDMA_DIAG_LOG and poll(): rules, and what one's own commands leave behind. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diag_abi.h"

#define CMD_DEPTH 256

static uint8_t buf[ERDMA_DIAG_LIST_MAX_BYTES];

static struct erdma_diag_log log_arg(uint32_t kind, uint64_t seq, uint32_t len)
{
	return (struct erdma_diag_log){
		.size = sizeof(struct erdma_diag_log), .kind = kind, .seq = seq,
		.buf = (uintptr_t)buf, .buf_len = len,
	};
}

static uint64_t end_of(int fd, uint32_t kind)
{
	struct erdma_diag_log arg = log_arg(kind, ERDMA_DIAG_LOG_END, 0);

	return call(fd, ERDMA_DIAG_LOG, &arg) ? 0 : arg.out_next;
}

/* A QP that comes and goes: some commands, one deregistered key */
static bool make_commands(int n)
{
	struct own_qp own;

	while (n--) {
		if (!own_qp_open(&own))
			return false;
		own_qp_close(&own);
	}
	return true;
}

static bool log_of_unknown_kinds(void)
{
	static const uint32_t kinds[] = { 0, ERDMA_DIAG_LOG_COUNT, 31, 32, 255, 0xffffffff };

	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct erdma_diag_log arg = log_arg(kinds[i], 0, sizeof(buf));

		EXPECT(call(node, ERDMA_DIAG_LOG, &arg) == EOPNOTSUPP, "kind %u", kinds[i]);
	}
	return true;
}

static bool info_names_the_kinds(void)
{
	struct erdma_diag_info info = { .size = sizeof(info) };

	EXPECT(!call(node, ERDMA_DIAG_INFO, &info), "info");
	for (uint32_t kind = 1; kind < ERDMA_DIAG_LOG_COUNT; kind++) {
		struct erdma_diag_log arg = log_arg(kind, 0, sizeof(buf));

		EXPECT(info.abi_flags & ERDMA_DIAG_ABI_LOG(kind), "kind %u", kind);
		EXPECT(!call(node, ERDMA_DIAG_LOG, &arg), "log %u", kind);
	}
	return true;
}

static bool log_beyond_the_end(void)
{
	for (uint32_t kind = 1; kind < ERDMA_DIAG_LOG_COUNT; kind++) {
		struct erdma_diag_log arg = log_arg(kind, ERDMA_DIAG_LOG_END - 1, sizeof(buf));

		EXPECT(call(node, ERDMA_DIAG_LOG, &arg) == EINVAL, "kind %u", kind);
		arg = log_arg(kind, ERDMA_DIAG_LOG_END, sizeof(buf));
		EXPECT(!call(node, ERDMA_DIAG_LOG, &arg) && !arg.out_count && !arg.out_lost,
		       "the end of kind %u", kind);
	}
	return true;
}

static bool log_into_too_small_buffer(void)
{
	const uint32_t need = 8 + sizeof(struct erdma_diag_log_cmd);
	struct erdma_diag_log arg;
	int err;

	EXPECT(make_commands(1), "no QP");
	for (uint32_t len = 0; len < need; len++) {
		arg = log_arg(ERDMA_DIAG_LOG_CMD, 0, len);
		err = call(node, ERDMA_DIAG_LOG, &arg);
		EXPECT(err == EMSGSIZE && arg.out_len == need, "%u bytes: %s, needed %u", len,
		       strerror(err), arg.out_len);
	}
	arg = log_arg(ERDMA_DIAG_LOG_CMD, 0, need);
	EXPECT(!call(node, ERDMA_DIAG_LOG, &arg) && arg.out_count == 1 && arg.out_more, "one");
	return true;
}

static bool log_into_bad_buffer(void)
{
	struct erdma_diag_log arg = log_arg(ERDMA_DIAG_LOG_CMD, 0, sizeof(buf));

	EXPECT(make_commands(1), "no QP");
	arg.buf = 0;
	EXPECT(call(node, ERDMA_DIAG_LOG, &arg) == EFAULT, "NULL");
	arg.buf = 0xffff888000000000ULL;
	EXPECT(call(node, ERDMA_DIAG_LOG, &arg) == EFAULT, "kernel address");
	return true;
}

static bool log_writes_only_what_it_reports(void)
{
	struct erdma_diag_log arg = log_arg(ERDMA_DIAG_LOG_CMD, 0, 5000);

	EXPECT(make_commands(8), "no QP");
	memset(buf, 0xa5, sizeof(buf));
	EXPECT(!call(node, ERDMA_DIAG_LOG, &arg) && arg.out_len && arg.out_len <= 5000, "log");
	for (uint32_t i = arg.out_len; i < sizeof(buf); i++)
		EXPECT(buf[i] == 0xa5, "byte %u behind %u", i, arg.out_len);
	return true;
}

/* Entries one by one, without a hole, until the end that was there before */
static bool log_in_parts_is_complete(void)
{
	const struct erdma_diag_log_cmd *cmd;
	struct erdma_diag_log arg;
	uint64_t end, seq;

	EXPECT(make_commands(10), "no QP");
	end = end_of(node, ERDMA_DIAG_LOG_CMD);
	seq = end > 30 ? end - 30 : 0;
	while (seq < end) {
		arg = log_arg(ERDMA_DIAG_LOG_CMD, seq, 8 + sizeof(*cmd));
		EXPECT(!call(node, ERDMA_DIAG_LOG, &arg) && arg.out_count == 1, "entry %llu",
		       (unsigned long long)seq);
		cmd = find_record(buf, arg.out_len, ERDMA_DIAG_REC_LOG(ERDMA_DIAG_LOG_CMD));
		EXPECT(cmd && cmd->head.seq == seq && !arg.out_lost, "another entry");
		EXPECT(arg.out_next == seq + 1, "next is %llu", (unsigned long long)arg.out_next);
		seq++;
	}
	return true;
}

static bool slow_reader_learns_what_it_lost(void)
{
	uint64_t begin = end_of(node, ERDMA_DIAG_LOG_CMD);
	struct erdma_diag_log arg;
	uint64_t end;

	EXPECT(make_commands(80), "no QP");
	end = end_of(node, ERDMA_DIAG_LOG_CMD);
	EXPECT(end > begin + CMD_DEPTH, "too few commands");
	arg = log_arg(ERDMA_DIAG_LOG_CMD, begin, sizeof(buf));
	EXPECT(!call(node, ERDMA_DIAG_LOG, &arg), "log");
	EXPECT(arg.out_lost && arg.out_lost + arg.out_count == arg.out_next - begin,
	       "%llu lost, %u read", (unsigned long long)arg.out_lost, arg.out_count);
	EXPECT(arg.out_count <= CMD_DEPTH, "%u entries", arg.out_count);
	return true;
}

static bool own_command_is_recorded(void)
{
	uint64_t begin = end_of(node, ERDMA_DIAG_LOG_CMD);
	const struct erdma_diag_log_cmd *cmd;
	struct erdma_diag_log arg;
	struct own_qp own;
	bool found = false;

	EXPECT(own_qp_open(&own), "no QP");
	arg = log_arg(ERDMA_DIAG_LOG_CMD, begin, sizeof(buf));
	EXPECT(!call(node, ERDMA_DIAG_LOG, &arg), "log");
	for (uint32_t at = 0; at < arg.out_len; at += 8 + sizeof(*cmd)) {
		cmd = (const void *)(buf + at + 8);
		if (cmd->head.owner.pid != (uint32_t)getpid() || cmd->opcode != 1 || cmd->submod ||
		    cmd->object != own.qpn)
			continue;
		found = true;
		EXPECT(cmd->outcome == ERDMA_DIAG_CMD_ANSWERED && !cmd->err && cmd->submit_ns &&
		       cmd->answer_ns >= cmd->submit_ns, "outcome %u", cmd->outcome);
		EXPECT(!strcmp((const char *)cmd->head.owner.comm, "diag_abi"), "name %s",
		       cmd->head.owner.comm);
	}
	own_qp_close(&own);
	EXPECT(found, "CREATE_QP of %u is not there", own.qpn);
	return true;
}

/* ---- poll() ------------------------------------------------------------- */

static short polled(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) < 0 ? -1 : p.revents;
}

static bool poll_waits_for_what_was_asked_for(void)
{
	int fd = open(node_path, O_RDONLY | O_CLOEXEC);
	struct erdma_diag_log arg;

	EXPECT(fd >= 0, "open");
	EXPECT(make_commands(1) && !polled(fd, 0), "readable, and asked for nothing");
	end_of(fd, ERDMA_DIAG_LOG_KEY);
	EXPECT(!polled(fd, 0), "readable at the end");
	EXPECT(make_commands(1), "no QP");
	EXPECT(polled(fd, 0) == POLLIN, "not readable");
	EXPECT(polled(fd, 0) == POLLIN, "not readable a second time");
	arg = log_arg(ERDMA_DIAG_LOG_KEY, 0, sizeof(buf));
	EXPECT(!call(fd, ERDMA_DIAG_LOG, &arg) && arg.out_count, "log");
	EXPECT(!polled(fd, 0), "readable after it was read");
	close(fd);
	return true;
}

static int waiter;

static bool wait_for_an_entry(void)
{
	return polled(waiter, 20000) == POLLIN;
}

static bool poll_wakes_who_waits(void)
{
	pid_t pid;

	waiter = open(node_path, O_RDONLY | O_CLOEXEC);
	EXPECT(waiter >= 0, "open");
	end_of(waiter, ERDMA_DIAG_LOG_KEY);
	pid = fork();
	if (!pid) {
		usleep(300000);
		_exit(!make_commands(1));
	}
	EXPECT(pid > 0 && wait_for_an_entry(), "nobody woke us");
	close(waiter);
	return true;
}

/* ---- rights ------------------------------------------------------------- */

static bool see_own_only(void)
{
	const struct erdma_diag_log_key *key;
	struct erdma_diag_log arg;
	int fd = open(node_path, O_RDONLY | O_CLOEXEC);
	__u64 first;

	/* Earlier entries are of other processes of the same user */
	EXPECT(fd >= 0, "no node");
	first = end_of(fd, ERDMA_DIAG_LOG_KEY);
	EXPECT(make_commands(1), "no QP");
	arg = log_arg(ERDMA_DIAG_LOG_KEY, first, sizeof(buf));
	EXPECT(!call(fd, ERDMA_DIAG_LOG, &arg) && arg.out_count, "no key");
	for (uint32_t at = 0; at < arg.out_len; at += 8 + sizeof(*key)) {
		const struct erdma_diag_rec *rec = (const void *)(buf + at);

		key = (const void *)(rec + 1);
		EXPECT(key->head.owner.pid == (uint32_t)getpid(), "pid %u", key->head.owner.pid);
		EXPECT(!key->stag && rec->flags & ERDMA_DIAG_REC_F_HIDDEN, "a key is shown");
	}
	arg = log_arg(ERDMA_DIAG_LOG_DEBUG, 0, sizeof(buf));
	EXPECT(!call(fd, ERDMA_DIAG_LOG, &arg) && !arg.out_count, "debug messages are shown");
	arg = log_arg(ERDMA_DIAG_LOG_RESET, 0, sizeof(buf));
	EXPECT(!call(fd, ERDMA_DIAG_LOG, &arg) && arg.out_count, "no PROBED");
	return true;
}

static bool nobody_sees_own_entries_only(void)
{
	struct erdma_diag_log arg = log_arg(ERDMA_DIAG_LOG_KEY, 0, sizeof(buf));
	const struct erdma_diag_log_key *key;
	bool good;

	EXPECT(make_commands(1), "no QP");
	EXPECT(!call(node, ERDMA_DIAG_LOG, &arg) && arg.out_count, "no key");
	key = find_record(buf, arg.out_len, ERDMA_DIAG_REC_LOG(ERDMA_DIAG_LOG_KEY));
	EXPECT(key && key->stag >> 8 == key->index, "root does not see the key");
	EXPECT(!chmod(node_path, 0666), "chmod");
	good = as_nobody(see_own_only);
	chmod(node_path, 0600);
	return good;
}

static bool see_roots_file_empty(void)
{
	struct erdma_diag_log arg = log_arg(ERDMA_DIAG_LOG_CMD, 0, sizeof(buf));

	EXPECT(!call(node, ERDMA_DIAG_LOG, &arg) && !arg.out_count, "%u entries", arg.out_count);
	return true;
}

static bool roots_file_shows_nobody_no_entry(void)
{
	EXPECT(make_commands(1), "no QP");
	return as_nobody(see_roots_file_empty);
}

static uint64_t first_of_parent;

static bool see_no_pid(void)
{
	struct erdma_diag_log arg = log_arg(ERDMA_DIAG_LOG_KEY, first_of_parent, sizeof(buf));
	const struct erdma_diag_log_key *key;

	EXPECT(!call(node, ERDMA_DIAG_LOG, &arg) && arg.out_count, "no key");
	key = find_record(buf, arg.out_len, ERDMA_DIAG_REC_LOG(ERDMA_DIAG_LOG_KEY));
	EXPECT(key && !key->head.owner.pid && !key->head.owner.comm[0], "pid %u of another namespace",
	       key->head.owner.pid);
	/* This process has a number here, and is known by it */
	first_of_parent = arg.out_next;
	EXPECT(make_commands(1), "no QP");
	arg = log_arg(ERDMA_DIAG_LOG_KEY, first_of_parent, sizeof(buf));
	EXPECT(!call(node, ERDMA_DIAG_LOG, &arg) && arg.out_count, "no key of this process");
	key = find_record(buf, arg.out_len, ERDMA_DIAG_REC_LOG(ERDMA_DIAG_LOG_KEY));
	EXPECT(key && key->head.owner.pid == (uint32_t)getpid(), "pid %u", key->head.owner.pid);
	return true;
}

static bool enter_pid_namespace(void)
{
	EXPECT(!unshare(CLONE_NEWPID), "unshare: %s", strerror(errno));
	return in_child(see_no_pid, false);
}

static bool pids_of_entries_are_translated(void)
{
	first_of_parent = end_of(node, ERDMA_DIAG_LOG_KEY);
	EXPECT(make_commands(1), "no QP");
	return in_child(enter_pid_namespace, false);
}

const struct tap_test log_tests[] = {
	{ "log_of_unknown_kinds", log_of_unknown_kinds },
	{ "info_names_the_kinds", info_names_the_kinds },
	{ "log_beyond_the_end", log_beyond_the_end },
	{ "log_into_too_small_buffer", log_into_too_small_buffer },
	{ "log_into_bad_buffer", log_into_bad_buffer },
	{ "log_writes_only_what_it_reports", log_writes_only_what_it_reports },
	{ "log_in_parts_is_complete", log_in_parts_is_complete },
	{ "slow_reader_learns_what_it_lost", slow_reader_learns_what_it_lost },
	{ "own_command_is_recorded", own_command_is_recorded },
	{ "poll_waits_for_what_was_asked_for", poll_waits_for_what_was_asked_for },
	{ "poll_wakes_who_waits", poll_wakes_who_waits },
	{ "nobody_sees_own_entries_only", nobody_sees_own_entries_only },
	{ "roots_file_shows_nobody_no_entry", roots_file_shows_nobody_no_entry },
	{ "pids_of_entries_are_translated", pids_of_entries_are_translated },
};

const int n_log_tests = sizeof(log_tests) / sizeof(log_tests[0]);
