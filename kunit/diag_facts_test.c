// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* LIST with the device's view; a dead command queue; interrupts per EQ; INFO's later fields */
#include "diag_setup.h"
#include "suites.h"

#define QP_REC (sizeof(struct erdma_diag_rec) + sizeof(struct erdma_diag_qp))
#define HW_REC (sizeof(struct erdma_diag_rec) + sizeof(struct erdma_diag_hw))

/**
 * struct listed - what a call of LIST brought
 * @arg: argument
 * @buf: records
 * @ret: of the handler
 */
struct listed {
	struct erdma_diag_list arg;
	u8 *buf;
	int ret;
};

/* As the dispatcher does it: copy out, call again */
static void list_hw(struct kunit *test, struct listed *l, u32 obj, u32 budget_ms)
{
	struct erdma_diag_req *req = &setup_of(test)->req;

	l->buf = kunit_kzalloc(test, BUF_LEN, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, l->buf);
	l->arg = (struct erdma_diag_list){
		.flags = ERDMA_DIAG_LIST_HW, .obj = obj, .hw_budget_ms = budget_ms,
	};
	req->arg = &l->arg;
	req->cursor = 0;
	req->copied = 0;
	do {
		req->chunk_len = 0;
		l->ret = erdma_diag_handle_list(setup_of(test)->f->dev, req);
		memcpy(l->buf + req->copied, req->chunk, req->chunk_len);
		req->copied += req->chunk_len;
	} while (l->ret == ERDMA_DIAG_MORE);
}

static void answer_qpc(struct fake_dev *f, const struct fake_cmd *cmd, struct fake_answer *a)
{
	struct erdma_resp_qpc *qpc = fake_virt(le64_to_cpup((__le64 *)(cmd->slot + 16)));

	qpc->hdr.magic = cpu_to_le16(ERDMA_RESP_MAGIC);
	qpc->hdr.index = *(__le32 *)(cmd->slot + 12);
	qpc->remote_qpn = *(__le32 *)(cmd->slot + 12);
}

static void each_object_comes_with_the_devices_view(struct kunit *test)
{
	const struct erdma_diag_rec *rec;
	const struct erdma_diag_hw *hw;
	struct listed l;
	u32 at = 0;
	int i;

	setup_of(test)->f->dev->attrs.flags = ERDMA_FLAG_QUERY_QC;
	setup_of(test)->f->answer = answer_qpc;
	list_hw(test, &l, ERDMA_DIAG_OBJ_QP, 10000);
	KUNIT_ASSERT_EQ(test, l.ret, 0);
	KUNIT_EXPECT_EQ(test, l.arg.out_count, N_QPS);
	KUNIT_EXPECT_EQ(test, l.arg.out_hw, N_QPS);
	KUNIT_ASSERT_EQ(test, l.arg.out_len, N_QPS * (QP_REC + HW_REC));
	for (i = 0; i < N_QPS; i++, at += HW_REC) {
		rec = (const void *)(l.buf + at);
		KUNIT_EXPECT_EQ(test, rec->type, ERDMA_DIAG_REC_QP);
		at += QP_REC;
		rec = (const void *)(l.buf + at);
		KUNIT_EXPECT_EQ(test, rec->type, ERDMA_DIAG_REC_QP_HW);
		hw = (const void *)(rec + 1);
		KUNIT_EXPECT_EQ(test, hw->status, 0);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(((struct erdma_resp_qpc *)hw->data)->remote_qpn),
				diag_qpns[i]);
	}
	diag_expect_no_reference_left(test);
}

static void objects_beyond_the_time_come_without(struct kunit *test)
{
	struct listed l;

	setup_of(test)->f->dev->attrs.flags = ERDMA_FLAG_QUERY_QC;
	setup_of(test)->f->hold = true;
	list_hw(test, &l, ERDMA_DIAG_OBJ_QP, FAKE_SHORT_MS);
	KUNIT_ASSERT_EQ(test, l.ret, 0);
	KUNIT_EXPECT_EQ(test, l.arg.out_count, N_QPS);
	KUNIT_EXPECT_EQ(test, l.arg.out_hw, 1);
	KUNIT_EXPECT_EQ(test, l.arg.out_len, N_QPS * QP_REC + HW_REC);
	KUNIT_EXPECT_EQ(test, ((struct erdma_diag_hw *)(l.buf + QP_REC + 8))->status, ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, setup_of(test)->f->total, 1);
	KUNIT_EXPECT_NE(test, setup_of(test)->f->dev->cmdq.state, ERDMA_DIAG_CMDQ_DEAD);
}

static void both_records_or_none_fit_the_buffer(struct kunit *test)
{
	struct listed l;

	setup_of(test)->req.buf_len = 2 * (QP_REC + HW_REC) - 1;
	list_hw(test, &l, ERDMA_DIAG_OBJ_QP, 10000);
	KUNIT_EXPECT_EQ(test, l.ret, 0);
	KUNIT_EXPECT_EQ(test, l.arg.out_len, QP_REC + HW_REC);
	KUNIT_EXPECT_EQ(test, l.arg.more, 1);
	KUNIT_EXPECT_EQ(test, l.arg.next_id, diag_qpns[1]);
	setup_of(test)->req.buf_len = QP_REC + HW_REC - 1;
	list_hw(test, &l, ERDMA_DIAG_OBJ_QP, 10000);
	KUNIT_EXPECT_EQ(test, l.ret, -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, l.arg.out_len, QP_REC + HW_REC);
}

static void device_is_not_asked_about_what_it_has_no_context_of(struct kunit *test)
{
	struct listed l;

	setup_of(test)->f->dev->attrs.flags = ERDMA_FLAG_QUERY_QC;
	setup_of(test)->pd.ibpd.res.kern_name = "kunit";
	erdma_ref_init(&setup_of(test)->pd.ref);
	fake_publish(&setup_of(test)->f->dev->pds, 3, &setup_of(test)->pd.ref);
	list_hw(test, &l, ERDMA_DIAG_OBJ_PD, 10000);
	KUNIT_EXPECT_EQ(test, l.ret, 0);
	KUNIT_EXPECT_EQ(test, l.arg.out_count, 1);
	KUNIT_EXPECT_EQ(test, l.arg.out_hw, 0);
	KUNIT_EXPECT_EQ(test, setup_of(test)->f->total, 0);
}

static void device_is_not_asked_for_others(struct kunit *test)
{
	struct listed l;

	setup_of(test)->f->dev->attrs.flags = ERDMA_FLAG_QUERY_QC;
	setup_of(test)->req.who = &diag_nobody;
	list_hw(test, &l, ERDMA_DIAG_OBJ_QP, 10000);
	KUNIT_EXPECT_EQ(test, l.ret, 0);
	KUNIT_EXPECT_EQ(test, l.arg.out_count, 0);
	KUNIT_EXPECT_EQ(test, setup_of(test)->f->total, 0);
}

/* ---- command queue, event queues ----------------------------------------- */

static const struct erdma_diag_rec *context(struct kunit *test, u32 obj, u32 id)
{
	struct erdma_diag_context arg = { .obj = obj, .id = id };
	struct erdma_diag_req *req = &setup_of(test)->req;

	req->arg = &arg;
	req->chunk_len = 0;
	KUNIT_EXPECT_EQ(test, erdma_diag_handle_context(setup_of(test)->f->dev, req), 0);
	return (const void *)req->chunk;
}

static void dead_queue_says_which_command_showed_it(struct kunit *test)
{
	const struct erdma_diag_rec *rec = context(test, ERDMA_DIAG_OBJ_CMDQ, 0);
	const struct erdma_diag_cmdq *out = (const void *)(rec + 1);
	struct fake_dev *f = setup_of(test)->f;
	int i;

	KUNIT_EXPECT_EQ(test, out->dead_reason, ERDMA_DIAG_DEAD_NOT);
	KUNIT_EXPECT_EQ(test, out->dead_ns, 0ULL);
	f->hold = true;
	f->dev->cmdq.timeout_ms = FAKE_SHORT_MS;
	for (i = 0; i < ERDMA_CMDQ_MAX_STUCK; i++)
		fake_exec_short(f);
	context(test, ERDMA_DIAG_OBJ_CMDQ, 0);
	KUNIT_EXPECT_EQ(test, out->state, ERDMA_DIAG_CMDQ_DEAD);
	KUNIT_EXPECT_EQ(test, out->dead_reason, ERDMA_DIAG_DEAD_NO_ANSWER);
	KUNIT_EXPECT_EQ(test, out->dead_submod, ERDMA_SUBMOD_RDMA);
	KUNIT_EXPECT_EQ(test, out->dead_opcode, ERDMA_CMD_QUERY_QPC);
	KUNIT_EXPECT_NE(test, out->dead_ns, 0ULL);
	KUNIT_EXPECT_STREQ(test, (const char *)out->dead_caller.comm, current->comm);
	/* Later deaths change nothing */
	erdma_cmdq_kill(&f->dev->cmdq);
	context(test, ERDMA_DIAG_OBJ_CMDQ, 0);
	KUNIT_EXPECT_EQ(test, out->dead_reason, ERDMA_DIAG_DEAD_NO_ANSWER);
	setup_of(test)->req.who = &diag_nobody;
	context(test, ERDMA_DIAG_OBJ_CMDQ, 0);
	KUNIT_EXPECT_EQ(test, rec->flags & ERDMA_DIAG_REC_F_HIDDEN, ERDMA_DIAG_REC_F_HIDDEN);
	KUNIT_EXPECT_EQ(test, out->dead_caller.comm[0], 0);
	KUNIT_EXPECT_EQ(test, out->dead_opcode, ERDMA_CMD_QUERY_QPC);
}

static void queue_of_a_lost_device_names_no_command(struct kunit *test)
{
	const struct erdma_diag_rec *rec = context(test, ERDMA_DIAG_OBJ_CMDQ, 0);
	const struct erdma_diag_cmdq *out = (const void *)(rec + 1);

	erdma_cmdq_kill(&setup_of(test)->f->dev->cmdq);
	context(test, ERDMA_DIAG_OBJ_CMDQ, 0);
	KUNIT_EXPECT_EQ(test, out->dead_reason, ERDMA_DIAG_DEAD_LOST);
	KUNIT_EXPECT_EQ(test, out->dead_caller.comm[0], 0);
	KUNIT_EXPECT_EQ(test, out->dead_waited_ms, 0);
}

/* Both handlers run at each interrupt of vector 0 */
static void interrupts_of_a_shared_vector_are_separate(struct kunit *test)
{
	const struct erdma_diag_rec *rec = context(test, ERDMA_DIAG_OBJ_EQ, ERDMA_DIAG_EQ_AEQ);
	struct erdma_eq *aeq = &setup_of(test)->f->dev->aeq;
	const struct erdma_diag_eq *out = (const void *)(rec + 1);
	struct erdma_aeqe *entry = aeq->buf;

	erdma_async_eq_irq(setup_of(test)->f->dev);
	context(test, ERDMA_DIAG_OBJ_EQ, ERDMA_DIAG_EQ_AEQ);
	KUNIT_EXPECT_EQ(test, out->interrupts, 1ULL);
	KUNIT_EXPECT_EQ(test, out->served, 0ULL);
	entry->object = cpu_to_le32(999);
	entry->hdr = cpu_to_le32(FIELD_PREP(ERDMA_AEQE_OWNER, erdma_ring_owner(0, aeq->depth)));
	erdma_async_eq_irq(setup_of(test)->f->dev);
	context(test, ERDMA_DIAG_OBJ_EQ, ERDMA_DIAG_EQ_AEQ);
	KUNIT_EXPECT_EQ(test, out->interrupts, 2ULL);
	KUNIT_EXPECT_EQ(test, out->served, 1ULL);
	KUNIT_EXPECT_EQ(test, out->lost_irqs, 0ULL);
}

static void lost_interrupts_are_counted_per_queue(struct kunit *test)
{
	const struct erdma_diag_rec *rec = context(test, ERDMA_DIAG_OBJ_EQ, ERDMA_DIAG_EQ_AEQ);
	struct erdma_eq *aeq = &setup_of(test)->f->dev->aeq;
	const struct erdma_diag_eq *out = (const void *)(rec + 1);
	struct erdma_aeqe *entry = aeq->buf;

	entry->hdr = cpu_to_le32(FIELD_PREP(ERDMA_AEQE_OWNER, erdma_ring_owner(0, aeq->depth)));
	erdma_eq_look(aeq);
	KUNIT_EXPECT_TRUE(test, erdma_eq_look(aeq));
	context(test, ERDMA_DIAG_OBJ_EQ, ERDMA_DIAG_EQ_AEQ);
	KUNIT_EXPECT_EQ(test, out->lost_irqs, 1ULL);
}

/* ---- INFO ---------------------------------------------------------------- */

static void info(struct kunit *test, struct erdma_diag_info *arg)
{
	memset(arg, 0xff, sizeof(*arg));
	setup_of(test)->req.arg = arg;
	erdma_diag_handle_info(setup_of(test)->f->dev, &setup_of(test)->req);
}

static void info_shows_losses(struct kunit *test)
{
	struct diag_setup *s = setup_of(test);
	struct erdma_diag_info arg;

	s->f->dev->probed_ns = 100;
	info(test, &arg);
	KUNIT_EXPECT_EQ(test, arg.probed_ns, 100ULL);
	KUNIT_EXPECT_EQ(test, arg.generation, 0);
	KUNIT_EXPECT_EQ(test, arg.last_loss, ERDMA_DIAG_LOSS_NONE);
	KUNIT_EXPECT_EQ(test, arg.lost_ns, 0ULL);
	s->adapter.generation = 2;
	s->adapter.reason = ERDMA_LOST_QP_STOP;
	s->adapter.lost_ns = 50;
	info(test, &arg);
	KUNIT_EXPECT_EQ(test, arg.generation, 2);
	KUNIT_EXPECT_EQ(test, arg.last_loss, ERDMA_DIAG_LOSS_QP_STOP);
	KUNIT_EXPECT_EQ(test, arg.lost_ns, 50ULL);
	/* Of this device itself, before it is replaced */
	s->f->dev->lost = ERDMA_LOST_PCI_ERROR;
	s->f->dev->lost_ns = 200;
	info(test, &arg);
	KUNIT_EXPECT_EQ(test, arg.last_loss, ERDMA_DIAG_LOSS_PCI_ERROR);
	KUNIT_EXPECT_EQ(test, arg.lost_ns, 200ULL);
}

static void info_shows_the_last_mtu(struct kunit *test)
{
	struct erdma_dev *dev = setup_of(test)->f->dev;
	struct erdma_diag_info arg;

	dev->mtu = 1500;
	dev->mtu_cmd.mtu = 9000;
	dev->mtu_cmd.err = EIO;
	dev->mtu_cmd.failures = 3;
	dev->mtu_cmd.ns = 77;
	info(test, &arg);
	KUNIT_EXPECT_EQ(test, arg.mtu_device, 1500);
	KUNIT_EXPECT_EQ(test, arg.mtu_asked, 9000);
	KUNIT_EXPECT_EQ(test, arg.mtu_status, EIO);
	KUNIT_EXPECT_EQ(test, arg.mtu_failures, 3);
	KUNIT_EXPECT_EQ(test, arg.mtu_ns, 77ULL);
}

static void info_has_the_limits_that_are_enforced(struct kunit *test)
{
	struct erdma_diag_info arg;

	info(test, &arg);
	KUNIT_EXPECT_EQ(test, arg.max_send_sge, 6);
	KUNIT_EXPECT_EQ(test, arg.max_recv_sge, 1);
	KUNIT_EXPECT_EQ(test, arg.max_read_sge, ERDMA_MAX_READ_SGE);
	KUNIT_EXPECT_EQ(test, arg.max_inline, ERDMA_MAX_INLINE);
	KUNIT_EXPECT_EQ(test, arg.max_private_data, 255);
	KUNIT_EXPECT_EQ(test, arg.page_sizes, (u64)ERDMA_PAGE_SIZE_CAP);
}

static void info_says_why_the_port_is_down(struct kunit *test)
{
	static const u32 flags[] = { 0, ERDMA_DIAG_NETDEV_CARRIER, ERDMA_DIAG_NETDEV_UP,
				     ERDMA_DIAG_NETDEV_UP | ERDMA_DIAG_NETDEV_CARRIER };
	struct net_device *netdev = kunit_kzalloc(test, sizeof(*netdev), GFP_KERNEL);
	struct erdma_dev *dev = setup_of(test)->f->dev;
	struct erdma_diag_info arg;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, netdev);
	dev_net_set(netdev, &init_net);
	dev->netdev = netdev;
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		assign_bit(__LINK_STATE_START, &netdev->state, flags[i] & ERDMA_DIAG_NETDEV_UP);
		assign_bit(__LINK_STATE_NOCARRIER, &netdev->state,
			   !(flags[i] & ERDMA_DIAG_NETDEV_CARRIER));
		info(test, &arg);
		KUNIT_EXPECT_EQ(test, arg.netdev_flags, flags[i]);
		KUNIT_EXPECT_EQ(test, arg.link_up, i == ARRAY_SIZE(flags) - 1 ? 1U : 0U);
	}
	dev->netdev = NULL;
	info(test, &arg);
	KUNIT_EXPECT_EQ(test, arg.netdev_flags, 0U);
	KUNIT_EXPECT_EQ(test, arg.link_up, 0U);
}

static void info_has_the_most_objects_at_a_time(struct kunit *test)
{
	struct erdma_dev *dev = setup_of(test)->f->dev;
	struct erdma_diag_info arg;
	int ids[3], i;

	/* The fake device took all numbers once, to make its table */
	dev->pds.ids.peak = 0;
	info(test, &arg);
	KUNIT_EXPECT_EQ(test, arg.peak_pd, 0);
	for (i = 0; i < ARRAY_SIZE(ids); i++)
		ids[i] = erdma_idtab_alloc(&dev->pds.ids);
	for (i = 0; i < ARRAY_SIZE(ids); i++)
		erdma_idtab_free(&dev->pds.ids, ids[i]);
	info(test, &arg);
	KUNIT_EXPECT_EQ(test, arg.n_pd, 0);
	KUNIT_EXPECT_EQ(test, arg.peak_pd, 3);
	/* Fewer do not lower it */
	erdma_idtab_free(&dev->pds.ids, erdma_idtab_alloc(&dev->pds.ids));
	info(test, &arg);
	KUNIT_EXPECT_EQ(test, arg.peak_pd, 3);
}

static struct kunit_case facts_cases[] = {
	KUNIT_CASE(each_object_comes_with_the_devices_view),
	KUNIT_CASE(objects_beyond_the_time_come_without),
	KUNIT_CASE(both_records_or_none_fit_the_buffer),
	KUNIT_CASE(device_is_not_asked_about_what_it_has_no_context_of),
	KUNIT_CASE(device_is_not_asked_for_others),
	KUNIT_CASE(dead_queue_says_which_command_showed_it),
	KUNIT_CASE(queue_of_a_lost_device_names_no_command),
	KUNIT_CASE(interrupts_of_a_shared_vector_are_separate),
	KUNIT_CASE(lost_interrupts_are_counted_per_queue),
	KUNIT_CASE(info_shows_losses),
	KUNIT_CASE(info_shows_the_last_mtu),
	KUNIT_CASE(info_has_the_limits_that_are_enforced),
	KUNIT_CASE(info_has_the_most_objects_at_a_time),
	KUNIT_CASE(info_says_why_the_port_is_down),
	{}
};

struct kunit_suite erdma_diag_facts_suite = {
	.name = "erdma_diag_facts",
	.init = diag_setup_init,
	.exit = diag_setup_exit,
	.test_cases = facts_cases,
};
