// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory regions, PDs, user contexts, connections; LIST with the device's view; owners. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "diag_abi.h"
#include "erdma/erdma_hw.h"

static uint8_t buf[ERDMA_DIAG_LIST_MAX_BYTES];

/* Objects of this process, or of another one for the eyes of nobody */
static struct own_qp own;

/* ---- LIST with ERDMA_DIAG_LIST_HW ---- */

static int list_hw(uint32_t obj, uint32_t flags, uint32_t ms, struct erdma_diag_list *arg)
{
	*arg = (struct erdma_diag_list){ .obj = obj, .flags = flags, .hw_budget_ms = ms };
	return list(node, arg, buf, sizeof(buf));
}

static bool list_hw_judges_its_time(void)
{
	struct erdma_diag_list arg;

	EXPECT(list_hw(ERDMA_DIAG_OBJ_EQ, 0, 1, &arg) == EINVAL, "time without the flag");
	EXPECT(list_hw(ERDMA_DIAG_OBJ_EQ, 1, 0, &arg) == EINVAL, "no time");
	EXPECT(list_hw(ERDMA_DIAG_OBJ_EQ, 1, ERDMA_DIAG_LIST_HW_MAX_MS + 1, &arg) == EINVAL,
	       "too much time");
	EXPECT(list_hw(ERDMA_DIAG_OBJ_EQ, 1, 0xffffffff, &arg) == EINVAL, "all the time");
	EXPECT(!list_hw(ERDMA_DIAG_OBJ_EQ, 1, ERDMA_DIAG_LIST_HW_MAX_MS, &arg), "the most");
	return true;
}

/* A caller of the first version cannot say how long */
static bool list_hw_of_the_first_version_is_refused(void)
{
	struct erdma_diag_list arg = {
		.size = 48, .flags = ERDMA_DIAG_LIST_HW, .obj = ERDMA_DIAG_OBJ_EQ,
		.buf = (uintptr_t)buf, .buf_len = sizeof(buf),
	};

	EXPECT(call(node, ERDMA_DIAG_LIST, &arg) == EINVAL, "flag without time");
	return true;
}

static bool list_hw_brings_pairs(void)
{
	struct erdma_diag_list arg;
	uint32_t at = 0, n = 0, last = 0;

	EXPECT(!list_hw(ERDMA_DIAG_OBJ_EQ, 1, 10000, &arg) && !arg.more, "list");
	EXPECT(arg.out_count >= 3 && arg.out_hw == arg.out_count, "%u EQs, %u of the device",
	       arg.out_count, arg.out_hw);
	for (; at < arg.out_len; n++) {
		const struct erdma_diag_rec *rec = (const void *)(buf + at);
		const struct erdma_diag_eq *eq = (const void *)(rec + 1);

		EXPECT(rec->type == ERDMA_DIAG_REC_EQ && (!n || eq->eqn > last), "record %u", n);
		last = eq->eqn;
		at += rec->len;
		rec = (const void *)(buf + at);
		EXPECT(rec->type == ERDMA_DIAG_REC_EQ_HW, "no second record of EQ %u", last);
		at += rec->len;
	}
	EXPECT(n == arg.out_count, "%u pairs", n);
	return true;
}

static bool list_hw_of_what_the_device_does_not_know(void)
{
	struct erdma_diag_list arg;

	EXPECT(own_qp_open(&own), "no QP");
	EXPECT(!list_hw(ERDMA_DIAG_OBJ_MR, 1, 1000, &arg), "list");
	own_qp_close(&own);
	EXPECT(arg.out_count && !arg.out_hw &&
	       arg.out_len == arg.out_count * (8 + sizeof(struct erdma_diag_mr)),
	       "%u regions, %u of the device", arg.out_count, arg.out_hw);
	return true;
}

/* ---- what a process has ---- */

static const void *record_of(int fd, uint32_t obj, uint32_t id, int type, uint16_t *flags)
{
	struct erdma_diag_context arg = {
		.size = sizeof(arg), .obj = obj, .id = id, .buf = (uintptr_t)buf,
		.buf_len = sizeof(buf),
	};
	const void *rec;

	if (call(fd, ERDMA_DIAG_CONTEXT, &arg))
		return NULL;
	rec = find_record(buf, arg.out_len, type);
	if (rec && flags)
		*flags = ((const struct erdma_diag_rec *)rec - 1)->flags;
	return rec;
}

static bool is_mine(const struct erdma_diag_owner *owner, const struct erdma_diag_owner_more *more)
{
	EXPECT(!owner->kernel && owner->pid == (uint32_t)getpid(), "pid %u", owner->pid);
	EXPECT(!strcmp((const char *)owner->comm, "diag_abi"), "comm %s", owner->comm);
	EXPECT(!more->flags && !more->rsvd, "flags %#x", more->flags);
	return true;
}

static bool own_region_is_described(void)
{
	const struct erdma_diag_mr *mr;
	bool good;

	EXPECT(own_qp_open(&own), "no QP");
	mr = record_of(node, ERDMA_DIAG_OBJ_MR, own.lkey >> 8, ERDMA_DIAG_REC_MR, NULL);
	EXPECT(mr, "no record");
	EXPECT(mr->lkey == own.lkey && mr->rkey == own.rkey, "keys %#x %#x", mr->lkey, mr->rkey);
	EXPECT(mr->index == own.lkey >> 8 && mr->type == ERDMA_MR_NORMAL, "type %u", mr->type);
	EXPECT(mr->iova == own.addr && mr->addr == own.addr && mr->length == own.length,
	       "%llu bytes at %#llx", (unsigned long long)mr->length,
	       (unsigned long long)mr->iova);
	EXPECT(mr->flags == ERDMA_DIAG_MR_USER && mr->access == 1 && mr->page_shift >= 12 &&
	       mr->page_cnt && mr->dma && mr->ctx && mr->created_ns, "flags %#x access %#x",
	       mr->flags, mr->access);
	good = is_mine(&mr->owner, &mr->owner_more);
	own_qp_close(&own);
	EXPECT(!record_of(node, ERDMA_DIAG_OBJ_MR, own.lkey >> 8, ERDMA_DIAG_REC_MR, NULL),
	       "still there");
	return good;
}

static bool own_pd_and_context_count(void)
{
	const struct erdma_diag_qp *qp;
	const struct erdma_diag_pd *pd;
	const struct erdma_diag_ctx *ctx;
	uint32_t pdn, id;
	bool good;

	EXPECT(own_qp_open(&own), "no QP");
	qp = record_of(node, ERDMA_DIAG_OBJ_QP, own.qpn, ERDMA_DIAG_REC_QP, NULL);
	EXPECT(qp && qp->ctx, "no context");
	pdn = qp->pdn;
	id = qp->ctx;
	pd = record_of(node, ERDMA_DIAG_OBJ_PD, pdn, ERDMA_DIAG_REC_PD, NULL);
	EXPECT(pd && pd->pdn == pdn && pd->ctx == id, "PD %u", pdn);
	EXPECT(pd->n_qp == 1 && pd->n_mr == 1, "%u QPs, %u regions", pd->n_qp, pd->n_mr);
	good = is_mine(&pd->owner, &pd->owner_more);
	ctx = record_of(node, ERDMA_DIAG_OBJ_CTX, id, ERDMA_DIAG_REC_CTX, NULL);
	EXPECT(ctx && ctx->id == id, "context %u", id);
	EXPECT(ctx->n_pd == 1 && ctx->n_mr == 1 && ctx->n_cq == 1 && ctx->n_qp == 1,
	       "pd %u mr %u cq %u qp %u", ctx->n_pd, ctx->n_mr, ctx->n_cq, ctx->n_qp);
	EXPECT(ctx->sq_page && ctx->rq_page && ctx->cq_page, "doorbell pages");
	good = good && is_mine(&ctx->owner, &ctx->owner_more);
	own_qp_close(&own);
	return good;
}

/* ---- rights ---- */

static const uint32_t kinds[][2] = {
	{ ERDMA_DIAG_OBJ_MR, ERDMA_DIAG_REC_MR }, { ERDMA_DIAG_OBJ_PD, ERDMA_DIAG_REC_PD },
	{ ERDMA_DIAG_OBJ_CTX, ERDMA_DIAG_REC_CTX },
};

static bool nothing_of_others(void)
{
	int fd = open(node_path, O_RDONLY | O_CLOEXEC);
	struct erdma_diag_context arg = {
		.size = sizeof(arg), .obj = ERDMA_DIAG_OBJ_MR, .id = own.lkey >> 8,
		.buf = (uintptr_t)buf, .buf_len = sizeof(buf),
	};

	EXPECT(fd >= 0, "open");
	for (unsigned int i = 0; i < 3; i++) {
		struct erdma_diag_list l = { .obj = kinds[i][0] };

		EXPECT(!list(fd, &l, buf, sizeof(buf)) && !l.out_count, "type %u: %u objects",
		       kinds[i][0], l.out_count);
	}
	EXPECT(call(fd, ERDMA_DIAG_CONTEXT, &arg) == EPERM, "context");
	return true;
}

static bool nobody_sees_no_region_of_others(void)
{
	bool good;

	EXPECT(own_qp_open(&own), "no QP");
	good = nobody_may(nothing_of_others);
	own_qp_close(&own);
	return good;
}

static bool own_without_keys(void)
{
	int fd = open(node_path, O_RDONLY | O_CLOEXEC);
	const struct erdma_diag_mr *mr;
	uint16_t flags = 0;

	EXPECT(fd >= 0 && own_qp_open(&own), "no QP");
	for (unsigned int i = 0; i < 3; i++) {
		struct erdma_diag_list l = { .obj = kinds[i][0] };

		EXPECT(!list(fd, &l, buf, sizeof(buf)) && l.out_count == 1, "type %u: %u objects",
		       kinds[i][0], l.out_count);
		EXPECT(find_record(buf, l.out_len, (int)kinds[i][1]), "no record");
	}
	mr = record_of(fd, ERDMA_DIAG_OBJ_MR, own.lkey >> 8, ERDMA_DIAG_REC_MR, &flags);
	EXPECT(mr && mr->length == own.length, "own region");
	EXPECT(!mr->lkey && !mr->rkey && !mr->dma, "keys %#x %#x", mr->lkey, mr->rkey);
	EXPECT(flags & ERDMA_DIAG_REC_F_HIDDEN, "not said");
	own_qp_close(&own);
	return true;
}

static bool nobody_sees_own_region_without_keys(void)
{
	return nobody_may(own_without_keys);
}

/* ---- owners ---- */

static bool look_from_net_namespace(void)
{
	const struct erdma_diag_qp *qp;

	EXPECT(!unshare(CLONE_NEWNET), "unshare: %s", strerror(errno));
	qp = record_of(node, ERDMA_DIAG_OBJ_QP, own.qpn, ERDMA_DIAG_REC_QP, NULL);
	EXPECT(qp && qp->owner_more.flags == ERDMA_DIAG_OWNER_NET_NS, "flags %#x",
	       qp ? qp->owner_more.flags : 0);
	return true;
}

static bool owner_in_another_net_namespace_is_said_to_be(void)
{
	bool good;

	EXPECT(own_qp_open(&own), "no QP");
	good = in_child(look_from_net_namespace, false);
	own_qp_close(&own);
	return good;
}

/* The files of a process that ended stay with its children: so do its objects */
static int go[2], at_end[2];

static void live_on_and_end(void)
{
	char c;

	if (read(go[0], &c, 1))
		_exit(1);
	_exit(0);
}

static bool make_and_end(void)
{
	EXPECT(own_qp_open(&own), "no QP");
	EXPECT(write(at_end[1], &own.qpn, 4) == 4, "pipe");
	if (!fork()) {
		close(go[1]);
		close(at_end[1]);
		live_on_and_end();
	}
	return true;
}

static bool owner_that_ended_is_said_to_have(void)
{
	const struct erdma_diag_qp *qp;
	uint32_t qpn = 0;
	bool good;

	EXPECT(!pipe(go) && !pipe(at_end), "pipe");
	EXPECT(in_child(make_and_end, false), "no object of another process");
	EXPECT(read(at_end[0], &qpn, 4) == 4, "pipe");
	qp = record_of(node, ERDMA_DIAG_OBJ_QP, qpn, ERDMA_DIAG_REC_QP, NULL);
	good = qp && qp->owner_more.flags == ERDMA_DIAG_OWNER_EXITED && !qp->owner.pid;
	if (!good)
		printf("# QP %u: flags %#x pid %u\n", qpn, qp ? qp->owner_more.flags : 0,
		       qp ? qp->owner.pid : 0);
	close(go[1]);
	for (int i = 0; i < 100 &&
	     record_of(node, ERDMA_DIAG_OBJ_QP, qpn, ERDMA_DIAG_REC_QP, NULL); i++)
		usleep(50000);
	close(go[0]);
	close(at_end[0]);
	close(at_end[1]);
	return good;
}

/* The number of a group is that of its directory */
static bool control_group_is_that_of_the_process(void)
{
	char line[256], path[300] = "";
	const struct erdma_diag_qp *qp;
	FILE *f = fopen("/proc/self/cgroup", "r");
	struct stat st;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "0::", 3))
			snprintf(path, sizeof(path), "/sys/fs/cgroup%.*s",
				 (int)strcspn(line + 3, "\n"), line + 3);
	if (f)
		fclose(f);
	EXPECT(own_qp_open(&own), "no QP");
	qp = record_of(node, ERDMA_DIAG_OBJ_QP, own.qpn, ERDMA_DIAG_REC_QP, NULL);
	EXPECT(qp, "no record");
	/* Without cgroup v2 mounted there is nothing to compare it with */
	if (path[0] && !access("/sys/fs/cgroup/cgroup.procs", F_OK) && !stat(path, &st))
		EXPECT(qp->owner_more.cgroup_id == st.st_ino, "group %llu, %s is %llu",
		       (unsigned long long)qp->owner_more.cgroup_id, path,
		       (unsigned long long)st.st_ino);
	else
		EXPECT(qp->owner_more.cgroup_id == 1 || !path[0], "group %llu is not the root",
		       (unsigned long long)qp->owner_more.cgroup_id);
	own_qp_close(&own);
	return true;
}

const struct tap_test memory_tests[] = {
	{ "list_hw_judges_its_time", list_hw_judges_its_time },
	{ "list_hw_of_the_first_version_is_refused", list_hw_of_the_first_version_is_refused },
	{ "list_hw_brings_pairs", list_hw_brings_pairs },
	{ "list_hw_of_what_the_device_does_not_know", list_hw_of_what_the_device_does_not_know },
	{ "own_region_is_described", own_region_is_described },
	{ "own_pd_and_context_count", own_pd_and_context_count },
	{ "nobody_sees_no_region_of_others", nobody_sees_no_region_of_others },
	{ "nobody_sees_own_region_without_keys", nobody_sees_own_region_without_keys },
	{ "owner_in_another_net_namespace_is_said_to_be",
	  owner_in_another_net_namespace_is_said_to_be },
	{ "owner_that_ended_is_said_to_have", owner_that_ended_is_said_to_have },
	{ "control_group_is_that_of_the_process", control_group_is_that_of_the_process },
};

const int n_memory_tests = sizeof(memory_tests) / sizeof(memory_tests[0]);
