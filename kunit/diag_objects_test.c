// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* LIST, CONTEXT and INFO on a fake device: erdma_diag_list.c, _objects.c, _hw.c, _info.c */
#include "diag_setup.h"
#include "suites.h"

static int list(struct kunit *test, struct erdma_diag_list *arg)
{
	struct erdma_diag_req *req = &setup_of(test)->req;

	req->arg = arg;
	req->cursor = 0;
	req->copied = 0;
	req->chunk_len = 0;
	return erdma_diag_handle_list(setup_of(test)->f->dev, req);
}

static int context(struct kunit *test, struct erdma_diag_context *arg)
{
	setup_of(test)->req.arg = arg;
	setup_of(test)->req.chunk_len = 0;
	return erdma_diag_handle_context(setup_of(test)->f->dev, &setup_of(test)->req);
}

static const void *record(struct kunit *test, u32 at)
{
	return setup_of(test)->req.chunk + at;
}

/* ---- LIST ---------------------------------------------------------------- */

#define QP_REC (sizeof(struct erdma_diag_rec) + sizeof(struct erdma_diag_qp))

static void list_is_ascending_and_complete(struct kunit *test)
{
	struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_QP };
	const struct erdma_diag_rec *rec;
	const struct erdma_diag_qp *qp;
	int i;

	KUNIT_ASSERT_EQ(test, list(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_count, N_QPS);
	KUNIT_EXPECT_EQ(test, arg.out_len, N_QPS * QP_REC);
	KUNIT_EXPECT_EQ(test, arg.more, 0);
	for (i = 0; i < N_QPS; i++) {
		rec = record(test, i * QP_REC);
		qp = (const void *)(rec + 1);
		KUNIT_EXPECT_EQ(test, rec->len, QP_REC);
		KUNIT_EXPECT_EQ(test, rec->len % 8, 0);
		KUNIT_EXPECT_EQ(test, rec->type, ERDMA_DIAG_REC_QP);
		KUNIT_EXPECT_EQ(test, rec->flags, 0);
		KUNIT_EXPECT_EQ(test, qp->qpn, diag_qpns[i]);
	}
	diag_expect_no_reference_left(test);
}

static void list_starts_at_cursor(struct kunit *test)
{
	struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_QP, .start_id = 3 };

	KUNIT_ASSERT_EQ(test, list(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_count, 1);
	KUNIT_EXPECT_EQ(test, ((const struct erdma_diag_qp *)record(test, 8))->qpn, 700);

	arg.start_id = 701;
	KUNIT_ASSERT_EQ(test, list(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_count, 0);
	arg.start_id = U32_MAX;
	KUNIT_ASSERT_EQ(test, list(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_count, 0);
	KUNIT_EXPECT_EQ(test, arg.more, 0);
}

static void list_pages_through_small_buffer(struct kunit *test)
{
	struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_QP };

	setup_of(test)->req.buf_len = 2 * QP_REC + 7;
	KUNIT_ASSERT_EQ(test, list(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_count, 2);
	KUNIT_EXPECT_EQ(test, arg.more, 1);
	KUNIT_EXPECT_EQ(test, arg.next_id, 700);
	arg.start_id = arg.next_id;
	KUNIT_ASSERT_EQ(test, list(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_count, 1);
	KUNIT_EXPECT_EQ(test, arg.more, 0);
}

static void list_in_tiny_buffer_reports_size(struct kunit *test)
{
	struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_QP };

	setup_of(test)->req.buf_len = QP_REC - 1;
	KUNIT_EXPECT_EQ(test, list(test, &arg), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, arg.out_len, QP_REC);
	KUNIT_EXPECT_EQ(test, arg.out_count, 0);
}

/* The dispatcher copies a chunk out and calls again */
static void list_continues_after_each_chunk(struct kunit *test)
{
	struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_QP };
	struct erdma_diag_req *req = &setup_of(test)->req;
	const struct erdma_diag_qp *qp;
	int i;

	req->chunk_size = QP_REC + 10;
	KUNIT_ASSERT_EQ(test, list(test, &arg), ERDMA_DIAG_MORE);
	for (i = 0; i < N_QPS; i++) {
		KUNIT_EXPECT_EQ(test, req->chunk_len, QP_REC);
		qp = record(test, 8);
		KUNIT_EXPECT_EQ(test, qp->qpn, diag_qpns[i]);
		req->copied += req->chunk_len;
		req->chunk_len = 0;
		if (i < N_QPS - 1)
			KUNIT_ASSERT_EQ(test, erdma_diag_handle_list(setup_of(test)->f->dev, req),
					i < N_QPS - 2 ? ERDMA_DIAG_MORE : 0);
	}
	KUNIT_EXPECT_EQ(test, arg.out_count, N_QPS);
}

static void list_hides_others_from_nobody(struct kunit *test)
{
	struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_QP };

	setup_of(test)->req.who = &diag_nobody;
	KUNIT_ASSERT_EQ(test, list(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_count, 0);
	arg.obj = ERDMA_DIAG_OBJ_CQ;
	KUNIT_ASSERT_EQ(test, list(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_count, 0);
	diag_expect_no_reference_left(test);
}

static void list_of_eqs_has_only_existing_ones(struct kunit *test)
{
	struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_EQ };
	const struct erdma_diag_eq *eq = record(test, 8);

	KUNIT_ASSERT_EQ(test, list(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_count, 2);
	KUNIT_EXPECT_EQ(test, eq->eqn, ERDMA_DIAG_EQ_CMDQ);
	KUNIT_EXPECT_EQ(test, eq->eq.depth, ERDMA_CMDQ_EQ_DEPTH);
	eq = record(test, 8 + 8 + sizeof(*eq));
	KUNIT_EXPECT_EQ(test, eq->eqn, ERDMA_DIAG_EQ_AEQ);
	KUNIT_EXPECT_EQ(test, eq->vector, 0);
	KUNIT_EXPECT_EQ(test, eq->eq.depth, 64);
}

static void unknown_object_type_is_refused(struct kunit *test)
{
	struct erdma_diag_list arg = {};
	struct erdma_diag_context ctx = {};
	u32 obj;

	for (obj = 0; obj < 300; obj++) {
		if (obj >= ERDMA_DIAG_OBJ_QP && obj <= ERDMA_DIAG_OBJ_CM_ID)
			continue;
		arg.obj = obj;
		ctx.obj = obj;
		KUNIT_EXPECT_EQ(test, list(test, &arg), -EOPNOTSUPP);
		KUNIT_EXPECT_EQ(test, context(test, &ctx), -EOPNOTSUPP);
	}
}

/* ---- CONTEXT ------------------------------------------------------------- */

static void qp_record_shows_what_driver_knows(struct kunit *test)
{
	struct erdma_diag_context arg = { .obj = ERDMA_DIAG_OBJ_QP, .id = 2 };
	static const u8 saddr[4] = { 10, 0, 0, 1 }, daddr[4] = { 10, 0, 0, 2 };
	struct erdma_qp *qp = setup_of(test)->qp[1];
	const struct erdma_diag_qp *out = record(test, 8);

	qp->state = ERDMA_QPS_RTS;
	qp->connected = true;
	qp->conn = (struct erdma_conn){
		.sip = cpu_to_be32(0x0a000001), .dip = cpu_to_be32(0x0a000002),
		.sport = cpu_to_be16(4711), .dport = cpu_to_be16(18515),
		.peer_cookie = 77, .mss = 1460, .cc = ERDMA_CC_HPCC_RTT, .passive = true,
	};
	qp->ksq.pi = 0xfffe;
	qp->ksq.ci = 0xfff0;
	qp->sig_all = true;
	KUNIT_ASSERT_EQ(test, context(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_len, QP_REC);
	KUNIT_EXPECT_EQ(test, out->qpn, 2);
	KUNIT_EXPECT_EQ(test, out->pdn, 3);
	KUNIT_EXPECT_EQ(test, out->state, ERDMA_QPS_RTS);
	KUNIT_EXPECT_EQ(test, out->send_cqn, 9);
	KUNIT_EXPECT_EQ(test, out->flags, ERDMA_DIAG_QP_PASSIVE | ERDMA_DIAG_QP_SIG_ALL);
	KUNIT_EXPECT_EQ(test, out->peer_cookie, 77);
	KUNIT_EXPECT_EQ(test, out->peer_mss, 1460);
	KUNIT_EXPECT_EQ(test, out->cc, ERDMA_CC_HPCC_RTT);
	KUNIT_EXPECT_EQ(test, out->sport, 4711);
	KUNIT_EXPECT_EQ(test, out->dport, 18515);
	KUNIT_EXPECT_EQ(test, memcmp(out->saddr, saddr, 4), 0);
	KUNIT_EXPECT_EQ(test, memcmp(out->daddr, daddr, 4), 0);
	KUNIT_EXPECT_EQ(test, out->sq.pi, 0xfffe);
	KUNIT_EXPECT_EQ(test, out->sq.ci, 0xfff0);
	KUNIT_EXPECT_EQ(test, out->sq.valid, ERDMA_DIAG_Q_PI | ERDMA_DIAG_Q_CI);
	KUNIT_EXPECT_EQ(test, out->sq.dma, 0x111000ULL);
	KUNIT_EXPECT_EQ(test, out->owner.kernel, 1);
	KUNIT_EXPECT_STREQ(test, (const char *)out->owner.comm, "kunit");
	diag_expect_no_reference_left(test);
}

static void qp_record_says_that_the_device_stopped_it(struct kunit *test)
{
	struct erdma_diag_context arg = { .obj = ERDMA_DIAG_OBJ_QP, .id = 2 };
	struct erdma_qp *qp = setup_of(test)->qp[1];
	const struct erdma_diag_qp *out = record(test, 8);

	KUNIT_ASSERT_EQ(test, context(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, out->flags & ERDMA_DIAG_QP_FATAL, 0);
	qp->fatal = true;
	KUNIT_ASSERT_EQ(test, context(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, out->flags & ERDMA_DIAG_QP_FATAL, ERDMA_DIAG_QP_FATAL);
}

static void unconnected_qp_has_no_addresses(struct kunit *test)
{
	struct erdma_diag_context arg = { .obj = ERDMA_DIAG_OBJ_QP, .id = 1 };
	const struct erdma_diag_qp *out = record(test, 8);

	setup_of(test)->f->dev->attrs.cc = ERDMA_CC_CUBIC;
	setup_of(test)->qp[0]->conn.sip = cpu_to_be32(0x01020304);
	KUNIT_ASSERT_EQ(test, context(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, out->family, 0);
	KUNIT_EXPECT_EQ(test, out->saddr[0], 0);
	KUNIT_EXPECT_EQ(test, out->cc, ERDMA_CC_CUBIC);
}

/* The lock is held during device commands: rather torn than stuck */
static void busy_qp_is_read_torn(struct kunit *test)
{
	struct erdma_diag_context arg = { .obj = ERDMA_DIAG_OBJ_QP, .id = 1 };
	const struct erdma_diag_rec *rec = record(test, 0);

	down_write(&setup_of(test)->qp[0]->state_lock);
	KUNIT_EXPECT_EQ(test, context(test, &arg), 0);
	up_write(&setup_of(test)->qp[0]->state_lock);
	KUNIT_EXPECT_EQ(test, rec->flags, ERDMA_DIAG_REC_F_TORN);
}

static void bus_addresses_are_hidden_under_lockdown(struct kunit *test)
{
	struct erdma_diag_context arg = { .obj = ERDMA_DIAG_OBJ_QP, .id = 1 };
	const struct erdma_diag_rec *rec = record(test, 0);
	const struct erdma_diag_qp *out = record(test, 8);

	setup_of(test)->req.who = &diag_locked_down;
	KUNIT_ASSERT_EQ(test, context(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, rec->flags, ERDMA_DIAG_REC_F_HIDDEN);
	KUNIT_EXPECT_EQ(test, out->sq.dma, 0ULL);
	KUNIT_EXPECT_EQ(test, out->sq.dbrec_dma, 0ULL);
	KUNIT_EXPECT_EQ(test, out->sq.depth, SQ_DEPTH);
}

struct id_case {
	const char *name;
	u32 obj;
	u32 id;
	int want;
	int nobody_want;
};

static void id_desc(const struct id_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

static const struct id_case id_cases[] = {
	{ "qp", ERDMA_DIAG_OBJ_QP, 700, 0, -EPERM },
	{ "qp_0", ERDMA_DIAG_OBJ_QP, 0, -ENOENT, -ENOENT },
	{ "qp_in_hole", ERDMA_DIAG_OBJ_QP, 3, -ENOENT, -ENOENT },
	{ "qp_max", ERDMA_DIAG_OBJ_QP, U32_MAX, -ENOENT, -ENOENT },
	{ "cq", ERDMA_DIAG_OBJ_CQ, 9, 0, -EPERM },
	{ "cq_0", ERDMA_DIAG_OBJ_CQ, 0, -ENOENT, -ENOENT },
	{ "cmdq", ERDMA_DIAG_OBJ_CMDQ, 0, 0, 0 },
	{ "cmdq_1", ERDMA_DIAG_OBJ_CMDQ, 1, -ENOENT, -ENOENT },
	{ "eq_cmdq", ERDMA_DIAG_OBJ_EQ, ERDMA_DIAG_EQ_CMDQ, 0, 0 },
	{ "eq_absent", ERDMA_DIAG_OBJ_EQ, 1, -ENOENT, -ENOENT },
	{ "eq_last_ceq", ERDMA_DIAG_OBJ_EQ, 31, -ENOENT, -ENOENT },
	{ "eq_aeq", ERDMA_DIAG_OBJ_EQ, ERDMA_DIAG_EQ_AEQ, 0, 0 },
	{ "eq_33", ERDMA_DIAG_OBJ_EQ, 33, -ENOENT, -ENOENT },
	{ "eq_max", ERDMA_DIAG_OBJ_EQ, U32_MAX, -ENOENT, -ENOENT },
};

KUNIT_ARRAY_PARAM(id, id_cases, id_desc);

static void context_judges_ids_and_rights(struct kunit *test)
{
	const struct id_case *c = test->param_value;
	struct erdma_diag_context arg = { .obj = c->obj, .id = c->id };

	KUNIT_EXPECT_EQ(test, context(test, &arg), c->want);
	setup_of(test)->req.who = &diag_nobody;
	KUNIT_EXPECT_EQ(test, context(test, &arg), c->nobody_want);
	diag_expect_no_reference_left(test);
}

static void context_in_small_buffer_reports_size(struct kunit *test)
{
	struct erdma_diag_context arg = { .obj = ERDMA_DIAG_OBJ_QP, .id = 1 };

	setup_of(test)->req.chunk_size = QP_REC - 1;
	KUNIT_EXPECT_EQ(test, context(test, &arg), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, arg.out_len, QP_REC);
	arg.flags = ERDMA_DIAG_CONTEXT_HW;
	setup_of(test)->req.chunk_size = QP_REC + 279;
	KUNIT_EXPECT_EQ(test, context(test, &arg), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, arg.out_len, QP_REC + 280);
	/* The device was not bothered */
	KUNIT_EXPECT_EQ(test, setup_of(test)->f->total, 0);
}

static void cq_record_shows_arms_and_ci(struct kunit *test)
{
	struct erdma_diag_context arg = { .obj = ERDMA_DIAG_OBJ_CQ, .id = 9 };
	const struct erdma_diag_cq *out = record(test, 8);

	KUNIT_ASSERT_EQ(test, context(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, out->eqn, 3);
	KUNIT_EXPECT_EQ(test, out->comp_vector, 2);
	KUNIT_EXPECT_EQ(test, out->cq.ci, 40);
	KUNIT_EXPECT_EQ(test, out->cq.valid & ERDMA_DIAG_Q_PI, 0);
	KUNIT_EXPECT_EQ(test, out->arm_count, 5);
}

static void cmdq_record_counts(struct kunit *test)
{
	struct erdma_diag_context arg = { .obj = ERDMA_DIAG_OBJ_CMDQ };
	const struct erdma_diag_cmdq *out = record(test, 8);
	struct fake_dev *f = setup_of(test)->f;

	KUNIT_ASSERT_EQ(test, fake_exec(f, 0, NULL), 0);
	f->hold = true;
	KUNIT_ASSERT_EQ(test, fake_exec_short(f), -ETIMEDOUT);
	KUNIT_ASSERT_EQ(test, context(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, out->state, ERDMA_DIAG_CMDQ_POLL);
	KUNIT_EXPECT_EQ(test, out->credits, ERDMA_CMDQ_SLOTS);
	KUNIT_EXPECT_EQ(test, out->submitted, 2ULL);
	KUNIT_EXPECT_EQ(test, out->completed, 1ULL);
	KUNIT_EXPECT_EQ(test, out->timeouts, 1ULL);
	KUNIT_EXPECT_EQ(test, out->quarantined, 1);
	/* What nobody answered is between CI and PI */
	KUNIT_EXPECT_EQ(test, out->sq.pi, 8);
	KUNIT_EXPECT_EQ(test, out->sq.ci, 4);
	KUNIT_EXPECT_EQ(test, out->cq.ci, 1);
}

/* ---- the device's view --------------------------------------------------- */

static const struct erdma_diag_hw *hw_context(struct kunit *test, u32 obj, u32 id)
{
	struct erdma_diag_context arg = { .flags = ERDMA_DIAG_CONTEXT_HW, .obj = obj, .id = id };
	const struct erdma_diag_rec *rec = record(test, 0);

	KUNIT_EXPECT_EQ(test, context(test, &arg), 0);
	rec = record(test, rec->len);
	KUNIT_EXPECT_EQ(test, rec->len, 280);
	return (const void *)(rec + 1);
}

static void device_without_queries_is_not_asked(struct kunit *test)
{
	const struct erdma_diag_hw *hw = hw_context(test, ERDMA_DIAG_OBJ_QP, 1);

	KUNIT_EXPECT_EQ(test, hw->status, EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, hw->len, 0);
	KUNIT_EXPECT_EQ(test, setup_of(test)->f->total, 0);
}

static void answer_qpc(struct fake_dev *f, const struct fake_cmd *cmd, struct fake_answer *a)
{
	struct erdma_resp_qpc *qpc = fake_virt(le64_to_cpup((__le64 *)(cmd->slot + 16)));

	qpc->hdr.magic = cpu_to_le16(ERDMA_RESP_MAGIC);
	qpc->hdr.index = *(__le32 *)(cmd->slot + 12);
	qpc->remote_qpn = *(__le32 *)(cmd->slot + 12);
	qpc->sq_addr = cpu_to_le64(0x111000);
	qpc->rq_addr = cpu_to_le64(0x222000);
	qpc->sq_dbrec_addr = cpu_to_le64(0x333000);
	qpc->rq_dbrec_addr = cpu_to_le64(0x444000);
	qpc->sq_dbrec = cpu_to_le64(0x555);
}

static void device_context_is_returned(struct kunit *test)
{
	const struct erdma_resp_qpc *qpc;
	const struct erdma_diag_hw *hw;

	setup_of(test)->f->dev->attrs.flags = ERDMA_FLAG_QUERY_QC;
	setup_of(test)->f->answer = answer_qpc;
	hw = hw_context(test, ERDMA_DIAG_OBJ_QP, 700);
	qpc = (const void *)hw->data;
	KUNIT_EXPECT_EQ(test, hw->status, 0);
	KUNIT_EXPECT_EQ(test, hw->len, sizeof(*qpc));
	KUNIT_EXPECT_EQ(test, le32_to_cpu(qpc->remote_qpn), 700);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(qpc->sq_addr), 0x111000ULL);
	KUNIT_EXPECT_EQ(test, atomic_read(&setup_of(test)->diag.hw_credits), ERDMA_DIAG_HW_CREDITS);
}

static void answer_other_qpc(struct fake_dev *f, const struct fake_cmd *cmd,
			     struct fake_answer *a)
{
	struct erdma_resp_qpc *qpc = fake_virt(le64_to_cpup((__le64 *)(cmd->slot + 16)));

	answer_qpc(f, cmd, a);
	le32_add_cpu(&qpc->hdr.index, 1);
}

static void device_context_of_another_object_is_none(struct kunit *test)
{
	static const u8 zero[sizeof_field(struct erdma_diag_hw, data)];
	const struct erdma_diag_hw *hw;

	setup_of(test)->f->dev->attrs.flags = ERDMA_FLAG_QUERY_QC;
	setup_of(test)->f->answer = answer_other_qpc;
	hw = hw_context(test, ERDMA_DIAG_OBJ_QP, 700);
	KUNIT_EXPECT_EQ(test, hw->status, EBADMSG);
	KUNIT_EXPECT_EQ(test, hw->len, 0);
	KUNIT_EXPECT_EQ(test, memcmp(hw->data, zero, sizeof(zero)), 0);
}

static void device_context_without_addresses_under_lockdown(struct kunit *test)
{
	const struct erdma_resp_qpc *qpc;

	setup_of(test)->f->dev->attrs.flags = ERDMA_FLAG_QUERY_QC;
	setup_of(test)->f->answer = answer_qpc;
	setup_of(test)->req.who = &diag_locked_down;
	qpc = (const void *)hw_context(test, ERDMA_DIAG_OBJ_QP, 700)->data;
	KUNIT_EXPECT_EQ(test, le32_to_cpu(qpc->remote_qpn), 700);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(qpc->sq_addr), 0ULL);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(qpc->rq_addr), 0ULL);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(qpc->sq_dbrec_addr), 0ULL);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(qpc->rq_dbrec_addr), 0ULL);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(qpc->sq_dbrec), 0x555ULL);
}

static void refused_query_reports_syndrome(struct kunit *test)
{
	const struct erdma_diag_hw *hw;

	setup_of(test)->f->dev->attrs.flags = ERDMA_FLAG_QUERY_QC;
	setup_of(test)->f->default_answer.syndrome = ERDMA_CMD_ENOENT;
	hw = hw_context(test, ERDMA_DIAG_OBJ_CQ, 9);
	KUNIT_EXPECT_EQ(test, hw->status, EIO);
	KUNIT_EXPECT_EQ(test, hw->syndrome, ERDMA_CMD_ENOENT);
	KUNIT_EXPECT_EQ(test, hw->len, 0);
}

/* One numbering for users, another one for the device (A.3) */
static void eq_numbers_are_translated(struct kunit *test)
{
	struct fake_dev *f = setup_of(test)->f;
	const __le32 *index;

	f->dev->attrs.flags = ERDMA_FLAG_QUERY_QC;
	f->answer = answer_qpc;
	f->dev->n_comp_eqs = 2;
	f->dev->comp_eqs[1].ready = true;
	f->dev->comp_eqs[1].eq = f->dev->aeq;
	hw_context(test, ERDMA_DIAG_OBJ_EQ, ERDMA_DIAG_EQ_AEQ);
	index = fake_last_slot(f) + 12;
	KUNIT_EXPECT_EQ(test, le32_to_cpu(*index), 0);
	hw_context(test, ERDMA_DIAG_OBJ_EQ, ERDMA_DIAG_EQ_CMDQ);
	index = fake_last_slot(f) + 12;
	KUNIT_EXPECT_EQ(test, le32_to_cpu(*index), 1);
	hw_context(test, ERDMA_DIAG_OBJ_EQ, ERDMA_DIAG_EQ_CEQ(2));
	index = fake_last_slot(f) + 12;
	KUNIT_EXPECT_EQ(test, le32_to_cpu(*index), 3);
}

/* Slots lost to a silent device must stay for those who need them */
static void stuck_device_is_not_asked_again(struct kunit *test)
{
	struct fake_dev *f = setup_of(test)->f;
	u32 total, i;

	f->dev->attrs.flags = ERDMA_FLAG_QUERY_QC;
	f->hold = true;
	for (i = 0; i < ERDMA_DIAG_HW_MAX_STUCK; i++)
		KUNIT_ASSERT_EQ(test, fake_exec_short(f), -ETIMEDOUT);
	total = f->total;
	KUNIT_EXPECT_EQ(test, hw_context(test, ERDMA_DIAG_OBJ_QP, 1)->status, EBUSY);
	KUNIT_EXPECT_EQ(test, f->total, total);
	KUNIT_EXPECT_EQ(test, f->dev->cmdq.state, ERDMA_DIAG_CMDQ_POLL);
}

static void exhausted_budget_is_busy(struct kunit *test)
{
	setup_of(test)->f->dev->attrs.flags = ERDMA_FLAG_QUERY_QC;
	atomic_set(&setup_of(test)->diag.hw_credits, 0);
	KUNIT_EXPECT_EQ(test, hw_context(test, ERDMA_DIAG_OBJ_QP, 1)->status, EBUSY);
	KUNIT_EXPECT_EQ(test, setup_of(test)->f->total, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&setup_of(test)->diag.hw_credits), 0);
}

/* ---- INFO ---------------------------------------------------------------- */

static void info(struct kunit *test, struct erdma_diag_info *arg)
{
	memset(arg, 0xff, sizeof(*arg));
	setup_of(test)->req.arg = arg;
	erdma_diag_handle_info(setup_of(test)->f->dev, &setup_of(test)->req);
}

static void info_lists_capabilities_and_identity(struct kunit *test)
{
	struct erdma_dev *dev = setup_of(test)->f->dev;
	struct erdma_diag_info arg;

	erdma_parse_caps(&dev->attrs, 0x00041400A80F0A1FULL, 0xFFFFFF0010400000ULL);
	info(test, &arg);
	KUNIT_EXPECT_EQ(test, arg.flags, 0);
	KUNIT_EXPECT_EQ(test, arg.abi_cmds, 0xffULL);
	KUNIT_EXPECT_EQ(test, arg.abi_objs, 0x1feULL);
	KUNIT_EXPECT_EQ(test, arg.abi_rings, 0x7eULL);
	KUNIT_EXPECT_EQ(test, arg.abi_flags, 0x7feULL << 32 | ERDMA_DIAG_ABI_LIST_HW);
	KUNIT_EXPECT_EQ(test, arg.abi_debug_cats, ERDMA_DIAG_CAT_COUNT);
	KUNIT_EXPECT_STREQ(test, (char *)arg.pci, "0000:00:05.0");
	KUNIT_EXPECT_EQ(test, arg.pci_vendor, 0x1ded);
	KUNIT_EXPECT_EQ(test, arg.cap1, 0xFFFFFF0010400000ULL);
	KUNIT_EXPECT_EQ(test, arg.n_eq, 2);
	KUNIT_EXPECT_EQ(test, arg.netdev[0], 0);
	KUNIT_EXPECT_EQ(test, arg.netdev_ifindex, 0);

	dev->attrs.flags |= ERDMA_FLAG_QUERY_QC;
	info(test, &arg);
	KUNIT_EXPECT_EQ(test, arg.abi_flags,
			0x7feULL << 32 | ERDMA_DIAG_ABI_HW_CONTEXT | ERDMA_DIAG_ABI_LIST_HW);
}

static void info_hides_local_dma_key(struct kunit *test)
{
	struct erdma_diag_info arg;

	erdma_parse_caps(&setup_of(test)->f->dev->attrs, 0x00041400A80F0A1FULL,
			 0xFFFFFF0010400000ULL);
	setup_of(test)->req.who = &diag_nobody;
	info(test, &arg);
	KUNIT_EXPECT_EQ(test, arg.cap1, 0x10400000ULL);
}

static struct kunit_case objects_cases[] = {
	KUNIT_CASE(list_is_ascending_and_complete),
	KUNIT_CASE(list_starts_at_cursor),
	KUNIT_CASE(list_pages_through_small_buffer),
	KUNIT_CASE(list_in_tiny_buffer_reports_size),
	KUNIT_CASE(list_continues_after_each_chunk),
	KUNIT_CASE(list_hides_others_from_nobody),
	KUNIT_CASE(list_of_eqs_has_only_existing_ones),
	KUNIT_CASE(unknown_object_type_is_refused),
	KUNIT_CASE(qp_record_shows_what_driver_knows),
	KUNIT_CASE(qp_record_says_that_the_device_stopped_it),
	KUNIT_CASE(unconnected_qp_has_no_addresses),
	KUNIT_CASE(busy_qp_is_read_torn),
	KUNIT_CASE(bus_addresses_are_hidden_under_lockdown),
	KUNIT_CASE_PARAM(context_judges_ids_and_rights, id_gen_params),
	KUNIT_CASE(context_in_small_buffer_reports_size),
	KUNIT_CASE(cq_record_shows_arms_and_ci),
	KUNIT_CASE(cmdq_record_counts),
	KUNIT_CASE(device_without_queries_is_not_asked),
	KUNIT_CASE(device_context_is_returned),
	KUNIT_CASE(device_context_of_another_object_is_none),
	KUNIT_CASE(device_context_without_addresses_under_lockdown),
	KUNIT_CASE(refused_query_reports_syndrome),
	KUNIT_CASE(eq_numbers_are_translated),
	KUNIT_CASE(stuck_device_is_not_asked_again),
	KUNIT_CASE(exhausted_budget_is_busy),
	KUNIT_CASE(info_lists_capabilities_and_identity),
	KUNIT_CASE(info_hides_local_dma_key),
	{}
};

struct kunit_suite erdma_diag_objects_suite = {
	.name = "erdma_diag_objects",
	.init = diag_setup_init,
	.exit = diag_setup_exit,
	.test_cases = objects_cases,
};
