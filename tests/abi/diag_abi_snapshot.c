// SPDX-License-Identifier: GPL-2.0-or-later
/* ERDMA_DIAG_SNAPSHOT: rules, and an own QP with all that belongs to it. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "diag_abi.h"
#include "erdma/erdma_hw.h"

static uint8_t buf[1 << 20];

static int snapshot(int fd, struct erdma_diag_snapshot *arg, uint32_t room)
{
	arg->size = sizeof(*arg);
	arg->buf = (uintptr_t)buf;
	arg->buf_len = room;
	return call(fd, ERDMA_DIAG_SNAPSHOT, arg);
}

static bool budget_is_for_those_who_ask(void)
{
	static const uint32_t bad[] = { 0, ERDMA_DIAG_LIST_HW_MAX_MS + 1, 0xffffffff };
	struct erdma_diag_snapshot arg = { .obj = ERDMA_DIAG_OBJ_CMDQ, .hw_budget_ms = 1 };

	EXPECT(snapshot(node, &arg, sizeof(buf)) == EINVAL, "a budget without the flag");
	arg.flags = ERDMA_DIAG_SNAPSHOT_HW;
	EXPECT(!snapshot(node, &arg, sizeof(buf)), "1 ms");
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		arg.hw_budget_ms = bad[i];
		EXPECT(snapshot(node, &arg, sizeof(buf)) == EINVAL, "%u ms", bad[i]);
	}
	return true;
}

static bool unknown_objects(void)
{
	struct erdma_diag_snapshot arg = {};

	for (uint32_t obj = 0; obj < 300; obj++) {
		if (obj >= ERDMA_DIAG_OBJ_QP && obj <= ERDMA_DIAG_OBJ_CMDQ)
			continue;
		arg.obj = obj;
		EXPECT(snapshot(node, &arg, sizeof(buf)) == EOPNOTSUPP, "object type %u", obj);
	}
	arg.id = 0xfffffff0;
	for (uint32_t obj = ERDMA_DIAG_OBJ_QP; obj <= ERDMA_DIAG_OBJ_CMDQ; obj++) {
		arg.obj = obj;
		EXPECT(snapshot(node, &arg, sizeof(buf)) == ENOENT, "object type %u", obj);
	}
	return true;
}

/* Records follow each other to the end, and there are as many as the call says */
static bool records_add_up(const struct erdma_diag_snapshot *arg)
{
	const struct erdma_diag_rec *rec;
	uint32_t at, n = 0;

	for (at = 0; at < arg->out_len; at += rec->len, n++) {
		rec = (const void *)(buf + at);
		EXPECT(rec->len >= sizeof(*rec) && rec->len % 8 == 0 &&
		       rec->len <= arg->out_len - at, "record at %u has %u bytes", at, rec->len);
	}
	EXPECT(n == arg->out_count, "%u records, the call says %u", n, arg->out_count);
	return true;
}

static bool command_queue_is_whole(void)
{
	struct erdma_diag_snapshot arg = {
		.flags = ERDMA_DIAG_SNAPSHOT_RINGS, .obj = ERDMA_DIAG_OBJ_CMDQ,
	};

	memset(buf, 0xa5, sizeof(buf));
	EXPECT(!snapshot(node, &arg, sizeof(buf)), "snapshot");
	EXPECT(records_add_up(&arg), "records");
	EXPECT(buf[arg.out_len] == 0xa5, "more was written than reported");
	/* The queue, two EQs; the rings of the queue, those of the EQs */
	EXPECT(arg.out_count >= 7, "%u records", arg.out_count);
	EXPECT(find_record(buf, arg.out_len, ERDMA_DIAG_REC_CMDQ), "no queue");
	EXPECT(arg.out_start_ns && arg.out_start_ns <= arg.out_end_ns, "times");
	return true;
}

static bool numbers_go_up(void)
{
	struct erdma_diag_snapshot arg = { .obj = ERDMA_DIAG_OBJ_CMDQ };
	uint64_t before;

	EXPECT(!snapshot(node, &arg, sizeof(buf)), "snapshot");
	before = arg.out_seq;
	EXPECT(!snapshot(node, &arg, sizeof(buf)) && arg.out_seq > before, "%llu after %llu",
	       (unsigned long long)arg.out_seq, (unsigned long long)before);
	return true;
}

static bool too_small_buffers(void)
{
	struct erdma_diag_snapshot arg = {
		.flags = ERDMA_DIAG_SNAPSHOT_RINGS, .obj = ERDMA_DIAG_OBJ_CMDQ,
	};
	uint32_t need;

	EXPECT(snapshot(node, &arg, 0) == EMSGSIZE, "no room");
	need = arg.out_len;
	EXPECT(snapshot(node, &arg, need - 1) == EMSGSIZE && arg.out_len == need, "one byte less");
	EXPECT(!snapshot(node, &arg, need) && arg.out_len == need, "%u bytes", need);
	arg.buf_len = need;
	arg.buf = (uintptr_t)-4096L;
	EXPECT(call(node, ERDMA_DIAG_SNAPSHOT, &arg) == EFAULT, "kernel address");
	return true;
}

/* The part of a ring that has its first entry */
static const struct erdma_diag_ring_part *find_ring(uint32_t len, uint32_t ring, uint32_t id)
{
	const struct erdma_diag_ring_part *part;
	const struct erdma_diag_rec *rec;
	uint32_t at;

	for (at = 0; at < len; at += rec->len) {
		rec = (const void *)(buf + at);
		part = (const void *)(rec + 1);
		if (rec->type == ERDMA_DIAG_REC_RING && part->ring == ring && part->id == id)
			return part;
	}
	return NULL;
}

static bool own_rings_are_there(const struct erdma_diag_snapshot *arg, const struct own_qp *own)
{
	const struct erdma_diag_ring_part *rq = find_ring(arg->out_len, ERDMA_DIAG_RING_RQ,
							  own->qpn);
	const struct erdma_diag_ring_part *cq = find_ring(arg->out_len, ERDMA_DIAG_RING_CQ,
							  own->cqn);
	const struct erdma_rqe *rqe;

	EXPECT(find_ring(arg->out_len, ERDMA_DIAG_RING_SQ, own->qpn), "no send queue");
	EXPECT(rq && !rq->status && rq->flags & ERDMA_DIAG_RING_PI && rq->pi == 3,
	       "receive queue");
	rqe = (const void *)(rq + 1);
	for (int i = 0; i < 3; i++)
		EXPECT(rqe[i].qpn == own->qpn && rqe[i].length == 64U + i, "entry %d", i);
	/* 4,096 entries and more of 32 bytes: several parts */
	EXPECT(cq && cq->depth > cq->count && cq->count * 32 == ERDMA_DIAG_RING_PART_BYTES,
	       "completion queue");
	return true;
}

static bool own_qp_with_all_that_belongs_to_it(void)
{
	struct erdma_diag_snapshot arg = {
		.flags = ERDMA_DIAG_SNAPSHOT_RINGS | ERDMA_DIAG_SNAPSHOT_HW,
		.obj = ERDMA_DIAG_OBJ_QP, .hw_budget_ms = 10000,
	};
	const struct erdma_diag_qp *qp;
	const struct erdma_diag_cq *cq;
	const struct erdma_diag_eq *eq;
	struct own_qp own;
	bool good;

	EXPECT(own_qp_open(&own) && own_qp_post(&own, 3), "no QP");
	arg.id = own.qpn;
	EXPECT(!snapshot(node, &arg, sizeof(buf)), "snapshot");
	EXPECT(records_add_up(&arg), "records");
	qp = find_record(buf, arg.out_len, ERDMA_DIAG_REC_QP);
	cq = find_record(buf, arg.out_len, ERDMA_DIAG_REC_CQ);
	eq = find_record(buf, arg.out_len, ERDMA_DIAG_REC_EQ);
	EXPECT(qp && qp->qpn == own.qpn, "QP");
	EXPECT(cq && cq->cqn == own.cqn, "CQ");
	EXPECT(eq && eq->eqn == cq->eqn, "EQ");
	EXPECT(find_record(buf, arg.out_len, ERDMA_DIAG_REC_QP_HW) &&
	       find_record(buf, arg.out_len, ERDMA_DIAG_REC_CQ_HW) &&
	       find_record(buf, arg.out_len, ERDMA_DIAG_REC_EQ_HW), "contexts of the device");
	good = own_rings_are_there(&arg, &own);
	/* Nothing moves in a QP that is not connected */
	EXPECT(!arg.out_torn, "torn: %#x", arg.out_torn);
	own_qp_close(&own);
	EXPECT(snapshot(node, &arg, sizeof(buf)) == ENOENT, "still there");
	return good;
}

static bool nobody_gets_records_of_the_device_only(void)
{
	struct erdma_diag_snapshot arg = {
		.flags = ERDMA_DIAG_SNAPSHOT_RINGS, .obj = ERDMA_DIAG_OBJ_CMDQ,
	};
	const struct erdma_diag_ring_part *part;

	EXPECT(!snapshot(node, &arg, sizeof(buf)), "snapshot");
	EXPECT(records_add_up(&arg), "records");
	for (uint32_t ring = ERDMA_DIAG_RING_CMDQ_SQ; ring <= ERDMA_DIAG_RING_CMDQ_CQ; ring++) {
		part = find_ring(arg.out_len, ring, 0);
		EXPECT(part && part->status == EPERM && !part->count, "ring %u", ring);
	}
	return true;
}

static bool others_rings_are_withheld(void)
{
	return as_nobody(nobody_gets_records_of_the_device_only);
}

const struct tap_test snapshot_tests[] = {
	{ "snapshot_budget_is_for_those_who_ask", budget_is_for_those_who_ask },
	{ "snapshot_of_unknown_objects", unknown_objects },
	{ "snapshot_of_the_command_queue", command_queue_is_whole },
	{ "snapshot_numbers_go_up", numbers_go_up },
	{ "snapshot_into_too_small_buffers", too_small_buffers },
	{ "snapshot_of_an_own_qp", own_qp_with_all_that_belongs_to_it },
	{ "snapshot_by_nobody", others_rings_are_withheld },
};

const int n_snapshot_tests = sizeof(snapshot_tests) / sizeof(snapshot_tests[0]);
