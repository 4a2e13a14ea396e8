// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* RESET of kernel QPs: erdma_qp_reset.c (docs/erdma-hardware.md, section 11.1) */
#include <linux/platform_device.h>
#include <linux/slab.h>

#include "fake_dev.h"
#include "suites.h"

#define CAP0		0x00041400A80F0A1FULL	/* appendix D */
#define CAP1		0xFFFFFF0010400000ULL
#define CQN		7
#define CQ_DEPTH	64
#define AEQ_DEPTH	16
#define DEPTH		16	/* of the QP's queues */

/**
 * struct reset_setup - a QP of the kernel on a fake device
 * @pd: its domain
 * @cq: CQ of both queues
 * @qp: the QP
 * @dbrec: of the CQ
 * @fatal: fatal events of the QP
 * @loses: loses the device when it gets CREATE_QP
 * @refused: command that the device refuses, 0: none
 * @pi: next completion the device writes
 * @wc: room for completions
 */
struct reset_setup {
	struct erdma_pd pd;
	struct erdma_cq cq;
	struct erdma_qp qp;
	__le64 dbrec;
	int fatal;
	bool loses;
	u8 refused;
	u32 pi;
	struct ib_wc wc[2 * DEPTH];
};

static struct reset_setup *setup_of(struct kunit *test)
{
	return fake_of(test)->owner;
}

static u8 opcode_of(const struct fake_cmd *cmd)
{
	return FIELD_GET(ERDMA_CMD_HDR_OPCODE, le64_to_cpup((__le64 *)cmd->slot));
}

/* Cookies are numbers of commands, so that each QP has its own */
static void answer(struct fake_dev *f, const struct fake_cmd *cmd, struct fake_answer *a)
{
	struct reset_setup *s = f->owner;

	if (opcode_of(cmd) == s->refused)
		a->syndrome = ERDMA_CMD_EINVAL;
	if (opcode_of(cmd) != ERDMA_CMD_CREATE_QP)
		return;
	a->resp[0] = FIELD_PREP(ERDMA_CREATE_QP_RESP_COOKIE, f->total);
	if (s->loses)
		WRITE_ONCE(f->dev->lost, ERDMA_LOST_SUSPEND);
}

static void on_qp_event(struct ib_event *event, void *context)
{
	((struct reset_setup *)context)->fatal += event->event == IB_EVENT_QP_FATAL;
}

static int setup_cq(struct kunit *test, struct reset_setup *s)
{
	struct erdma_cq *cq = &s->cq;

	cq->cqn = CQN;
	cq->depth = CQ_DEPTH;
	erdma_ref_init(&cq->ref);
	spin_lock_init(&cq->kernel.lock);
	INIT_LIST_HEAD(&cq->kernel.queues);
	cq->kernel.buf = kunit_kzalloc(test, CQ_DEPTH * ERDMA_CQE_SIZE, GFP_KERNEL);
	if (!cq->kernel.buf)
		return -ENOMEM;
	cq->kernel.dbrec = &s->dbrec;
	cq->ibcq.device = &fake_of(test)->dev->ibdev;
	fake_publish(&fake_of(test)->dev->cqs, CQN, &cq->ref);
	return 0;
}

static int setup_qp(struct kunit *test, struct reset_setup *s)
{
	struct ib_qp_init_attr attr = {
		.qp_type = IB_QPT_RC,
		.cap = {
			.max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
		.send_cq = &s->cq.ibcq,
		.recv_cq = &s->cq.ibcq,
	};
	struct erdma_dev *dev = fake_of(test)->dev;

	s->pd.ibpd.device = &dev->ibdev;
	s->qp.ibqp.device = &dev->ibdev;
	s->qp.ibqp.pd = &s->pd.ibpd;
	s->qp.ibqp.event_handler = on_qp_event;
	s->qp.ibqp.qp_context = s;
	return erdma_create_qp(&s->qp.ibqp, &attr, NULL);
}

static void no_coredump(struct work_struct *work)
{
}

static int setup_device(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_dev *dev = f->dev;
	int err;

	spin_lock_init(&dev->ep_lock);
	INIT_LIST_HEAD(&dev->deferred);
	mutex_init(&dev->deferred_lock);
	INIT_WORK(&dev->coredump_work, no_coredump);
	dev->mmio.bar = (void __iomem *)kunit_kzalloc(test, ERDMA_BAR0_MIN_SIZE, GFP_KERNEL);
	dev->reflusher = alloc_workqueue("erdma_kunit", WQ_UNBOUND, 0);
	if (!dev->mmio.bar || !dev->reflusher)
		return -ENOMEM;
	err = erdma_parse_caps(&dev->attrs, CAP0, CAP1);
	return err ?: erdma_eq_init(&dev->aeq, &f->platform->dev, dev->dbrec_pool, &dev->mmio,
				    AEQ_DEPTH, ERDMA_REG_AEQ_DB);
}

static int reset_test_init(struct kunit *test)
{
	struct reset_setup *s = fake_init_owner(test, sizeof(*s));

	if (!s)
		return -ENOMEM;
	fake_of(test)->answer = answer;
	return setup_device(test) ?: setup_cq(test, s) ?: setup_qp(test, s);
}

static void reset_test_exit(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_dev *dev;

	if (!f || !f->owner)
		return;
	dev = f->dev;
	if (dev->lost)
		dev->lost = ERDMA_LOST_NOT;	/* nobody stops it here */
	setup_of(test)->refused = 0;
	if (setup_of(test)->qp.dev)
		erdma_destroy_qp(&setup_of(test)->qp.ibqp, NULL);
	if (dev->reflusher)
		destroy_workqueue(dev->reflusher);
	if (dev->aeq.buf)
		erdma_eq_exit(&dev->aeq, &f->platform->dev, dev->dbrec_pool);
	fake_exit(test);
}

static int modify(struct reset_setup *s, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };

	return erdma_modify_qp(&s->qp.ibqp, &attr, IB_QP_STATE, NULL);
}

static enum ib_qp_state state_of(struct reset_setup *s)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	erdma_query_qp(&s->qp.ibqp, &attr, IB_QP_STATE, &init);
	return attr.qp_state;
}

static int post_recv(struct reset_setup *s, u64 wr_id)
{
	const struct ib_recv_wr *bad;
	struct ib_recv_wr wr = { .wr_id = wr_id };

	return erdma_post_recv(&s->qp.ibqp, &wr, &bad);
}

static int post_send(struct reset_setup *s, u64 wr_id)
{
	const struct ib_send_wr *bad;
	struct ib_send_wr wr = { .wr_id = wr_id, .opcode = IB_WR_SEND };

	return erdma_post_send(&s->qp.ibqp, &wr, &bad);
}

static int poll(struct reset_setup *s)
{
	return erdma_poll_cq(&s->cq.ibcq, ARRAY_SIZE(s->wc), s->wc);
}

/* Receives, then ERR, then a send */
static void use_and_stop(struct kunit *test)
{
	struct reset_setup *s = setup_of(test);
	int i;

	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, post_recv(s, 100 + i), 0);
	KUNIT_ASSERT_EQ(test, modify(s, IB_QPS_ERR), 0);
	KUNIT_ASSERT_EQ(test, post_send(s, 200), 0);
	KUNIT_ASSERT_EQ(test, (u32)s->qp.krq.pi, 3);
	KUNIT_ASSERT_EQ(test, (u32)s->qp.ksq.pi, 1);
}

/* Opcode of the @n-th last command */
static u8 newest(struct kunit *test, u32 n)
{
	struct fake_dev *f = fake_of(test);

	return f->n_cmds < n ? 0xff : opcode_of(&f->cmds[f->n_cmds - n]);
}

static u32 count_cmds(struct kunit *test, u8 opcode)
{
	struct fake_dev *f = fake_of(test);
	u32 i, n = 0;

	for (i = 0; i < f->n_cmds; i++)
		n += opcode_of(&f->cmds[i]) == opcode;
	return n;
}

static void expect_found(struct kunit *test)
{
	struct erdma_qp *qp = &setup_of(test)->qp;
	struct erdma_qp *found = erdma_qp_get(qp->dev, qp->qpn);

	KUNIT_EXPECT_PTR_EQ(test, found, qp);
	if (found)
		erdma_qp_put(found);
}

static void expect_fresh(struct kunit *test)
{
	struct erdma_qp *qp = &setup_of(test)->qp;

	KUNIT_EXPECT_EQ(test, state_of(setup_of(test)), IB_QPS_INIT);
	KUNIT_EXPECT_FALSE(test, qp->stopped);
	KUNIT_EXPECT_EQ(test, (u32)qp->ksq.pi, 0);
	KUNIT_EXPECT_EQ(test, (u32)qp->ksq.ci, 0);
	KUNIT_EXPECT_EQ(test, (u32)qp->krq.pi, 0);
	KUNIT_EXPECT_EQ(test, (u32)qp->krq.ci, 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(*qp->ksq.dbrec), 0ULL);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(*qp->krq.dbrec), 0ULL);
	KUNIT_EXPECT_PTR_EQ(test, memchr_inv(qp->ksq.buf, 0, DEPTH * ERDMA_WQEBB_SIZE), NULL);
	KUNIT_EXPECT_PTR_EQ(test, memchr_inv(qp->krq.buf, 0, DEPTH * ERDMA_RQE_SIZE), NULL);
	KUNIT_EXPECT_PTR_EQ(test, memchr_inv(qp->ksq.blocks, 0, DEPTH), NULL);
	expect_found(test);
	KUNIT_EXPECT_EQ(test, post_send(setup_of(test), 1), -ENOTCONN);
}

static void expect_in_error(struct kunit *test)
{
	struct erdma_qp *qp = &setup_of(test)->qp;

	KUNIT_EXPECT_EQ(test, state_of(setup_of(test)), IB_QPS_ERR);
	KUNIT_EXPECT_TRUE(test, qp->stopped);
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->resetting), 0);
	expect_found(test);
}

/* ---- what it does -------------------------------------------------------------- */

static void reset_begins_anew(struct kunit *test)
{
	struct reset_setup *s = setup_of(test);
	u32 qpn = s->qp.qpn, cookie = s->qp.cookie;

	use_and_stop(test);
	KUNIT_ASSERT_EQ(test, modify(s, IB_QPS_RESET), 0);
	KUNIT_EXPECT_EQ(test, newest(test, 2), ERDMA_CMD_DESTROY_QP);
	KUNIT_EXPECT_EQ(test, newest(test, 1), ERDMA_CMD_CREATE_QP);
	KUNIT_EXPECT_EQ(test, s->qp.qpn, qpn);
	KUNIT_EXPECT_NE(test, s->qp.cookie, cookie);
	expect_fresh(test);
	KUNIT_EXPECT_EQ(test, poll(s), 0);
	KUNIT_EXPECT_EQ(test, post_recv(s, 1), 0);
	KUNIT_EXPECT_EQ(test, s->fatal, 0);
}

static void reset_of_a_qp_that_was_never_used(struct kunit *test)
{
	struct reset_setup *s = setup_of(test);

	KUNIT_ASSERT_EQ(test, post_recv(s, 1), 0);
	KUNIT_ASSERT_EQ(test, modify(s, IB_QPS_RESET), 0);
	/* The device need not be asked to stop it */
	KUNIT_EXPECT_EQ(test, count_cmds(test, ERDMA_CMD_MODIFY_QP), 0);
	expect_fresh(test);
}

static void qp_that_was_reset_is_connected_again(struct kunit *test)
{
	const struct erdma_conn conn = { .sport = cpu_to_be16(1), .dport = cpu_to_be16(2) };
	struct reset_setup *s = setup_of(test);
	int i;

	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, erdma_qp_to_rts(&s->qp, &conn), 0);
		KUNIT_EXPECT_EQ(test, state_of(s), IB_QPS_RTS);
		KUNIT_EXPECT_EQ(test, post_send(s, i), 0);
		/* Also without being stopped before */
		KUNIT_EXPECT_EQ(test, modify(s, IB_QPS_RESET), 0);
		KUNIT_EXPECT_FALSE(test, s->qp.connected);
		/* It may have an endpoint */
		KUNIT_EXPECT_PTR_EQ(test, s->qp.ep, NULL);
	}
}

/* A completion that the device wrote before would complete a request of today */
static void completions_of_before_disappear(struct kunit *test)
{
	struct reset_setup *s = setup_of(test);
	struct erdma_cqe *cqe = s->cq.kernel.buf;

	use_and_stop(test);
	cqe->qpn = cpu_to_be32(s->qp.qpn);
	cqe->hdr = cpu_to_be32(FIELD_PREP(ERDMA_CQE_OWNER, erdma_ring_owner(0, CQ_DEPTH)) |
			       FIELD_PREP(ERDMA_CQE_OPCODE, ERDMA_OP_RECV) |
			       FIELD_PREP(ERDMA_CQE_QTYPE, ERDMA_CQE_QTYPE_RQ));
	KUNIT_ASSERT_EQ(test, modify(s, IB_QPS_RESET), 0);
	KUNIT_ASSERT_EQ(test, post_recv(s, 1), 0);
	KUNIT_EXPECT_EQ(test, poll(s), 0);
}

/* Its provider would go on where its rings were */
static void qp_of_an_application_is_not_reset(struct kunit *test)
{
	struct reset_setup *s = setup_of(test);

	use_and_stop(test);
	s->qp.is_user = true;
	KUNIT_EXPECT_EQ(test, modify(s, IB_QPS_RESET), -EINVAL);
	KUNIT_EXPECT_EQ(test, state_of(s), IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, count_cmds(test, ERDMA_CMD_DESTROY_QP), 0);
	s->qp.is_user = false;
}

/* ---- events -------------------------------------------------------------------- */

static void put_event(struct kunit *test, u32 i)
{
	struct erdma_eq *eq = &fake_of(test)->dev->aeq;
	struct erdma_aeqe *aeqe = eq->buf + i * ERDMA_EQE_SIZE;

	aeqe->object = cpu_to_le32(setup_of(test)->qp.qpn);
	aeqe->hdr = cpu_to_le32(FIELD_PREP(ERDMA_AEQE_OWNER, erdma_ring_owner(i, eq->depth)) |
				FIELD_PREP(ERDMA_AEQE_TYPE, ERDMA_AE_QP_FATAL));
}

/* The number is the same: what the device wrote before must not end the QP of today */
static void event_of_before_does_not_end_the_qp(struct kunit *test)
{
	struct reset_setup *s = setup_of(test);

	use_and_stop(test);
	put_event(test, 0);
	KUNIT_ASSERT_EQ(test, modify(s, IB_QPS_RESET), 0);
	erdma_async_eq_irq(fake_of(test)->dev);
	flush_workqueue(fake_of(test)->dev->reflusher);
	KUNIT_EXPECT_EQ(test, s->fatal, 0);
	expect_fresh(test);
	/* A new one does */
	put_event(test, 1);
	erdma_async_eq_irq(fake_of(test)->dev);
	KUNIT_EXPECT_EQ(test, s->fatal, 1);
	KUNIT_EXPECT_EQ(test, state_of(s), IB_QPS_ERR);
}

static void qp_that_the_device_stopped_is_reset(struct kunit *test)
{
	struct reset_setup *s = setup_of(test);

	put_event(test, 0);
	erdma_async_eq_irq(fake_of(test)->dev);
	KUNIT_ASSERT_EQ(test, state_of(s), IB_QPS_ERR);
	KUNIT_ASSERT_EQ(test, modify(s, IB_QPS_RESET), 0);
	expect_fresh(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->qp.async_events), 0);
	/* An event for each time that the device stops it */
	put_event(test, 1);
	erdma_async_eq_irq(fake_of(test)->dev);
	KUNIT_EXPECT_EQ(test, s->fatal, 2);
}

/* ---- failures ------------------------------------------------------------------- */

static void refuse_reset(struct kunit *test, u8 opcode)
{
	use_and_stop(test);
	setup_of(test)->refused = opcode;
	KUNIT_EXPECT_EQ(test, modify(setup_of(test), IB_QPS_RESET), -EIO);
	expect_in_error(test);
	setup_of(test)->refused = 0;
}

static void qp_that_the_device_does_not_destroy_stays_in_error(struct kunit *test)
{
	struct reset_setup *s = setup_of(test);
	struct fake_dev *f = fake_of(test);

	refuse_reset(test, ERDMA_CMD_DESTROY_QP);
	KUNIT_EXPECT_TRUE(test, s->qp.at_device);
	/* What was posted is not forgotten: the device is asked to flush it */
	KUNIT_EXPECT_EQ(test, (u32)s->qp.krq.pi, 3);
	flush_delayed_work(&s->qp.reflush_timer);
	KUNIT_EXPECT_EQ(test, newest(test, 1), ERDMA_CMD_REFLUSH);
	KUNIT_EXPECT_EQ(test, modify(s, IB_QPS_RESET), 0);
	expect_fresh(test);
	KUNIT_EXPECT_EQ(test, f->dev->lost, ERDMA_LOST_NOT);
}

static void qp_that_the_device_does_not_create_flushes_by_itself(struct kunit *test)
{
	struct reset_setup *s = setup_of(test);
	struct fake_dev *f = fake_of(test);

	refuse_reset(test, ERDMA_CMD_CREATE_QP);
	KUNIT_EXPECT_FALSE(test, s->qp.at_device);
	KUNIT_EXPECT_EQ(test, post_recv(s, 300), 0);
	KUNIT_EXPECT_EQ(test, post_send(s, 301), 0);
	flush_delayed_work(&s->qp.reflush_timer);
	KUNIT_ASSERT_EQ(test, poll(s), 2);
	KUNIT_EXPECT_EQ(test, s->wc[0].wr_id, 301ULL);
	KUNIT_EXPECT_EQ(test, s->wc[1].wr_id, 300ULL);
	KUNIT_EXPECT_EQ(test, s->wc[1].status, IB_WC_WR_FLUSH_ERR);
	/* There is nothing that could be destroyed, or flushed */
	KUNIT_EXPECT_EQ(test, newest(test, 1), ERDMA_CMD_CREATE_QP);
	KUNIT_EXPECT_EQ(test, f->dev->lost, ERDMA_LOST_NOT);
	KUNIT_EXPECT_EQ(test, modify(s, IB_QPS_RESET), 0);
	expect_fresh(test);
	KUNIT_EXPECT_EQ(test, count_cmds(test, ERDMA_CMD_DESTROY_QP), 1);
}

static void qp_that_the_device_does_not_have_is_destroyed_without_it(struct kunit *test)
{
	struct reset_setup *s = setup_of(test);

	refuse_reset(test, ERDMA_CMD_CREATE_QP);
	erdma_destroy_qp(&s->qp.ibqp, NULL);
	s->qp.dev = NULL;
	KUNIT_EXPECT_EQ(test, count_cmds(test, ERDMA_CMD_DESTROY_QP), 1);
	KUNIT_EXPECT_TRUE(test, list_empty(&fake_of(test)->dev->deferred));
}

static void lost_device_resets_no_qp(struct kunit *test)
{
	struct reset_setup *s = setup_of(test);

	use_and_stop(test);
	erdma_reflush_cancel(&s->qp);
	fake_of(test)->dev->lost = ERDMA_LOST_SUSPEND;
	KUNIT_EXPECT_EQ(test, modify(s, IB_QPS_RESET), -ENODEV);
	KUNIT_EXPECT_EQ(test, count_cmds(test, ERDMA_CMD_DESTROY_QP), 0);
	KUNIT_EXPECT_EQ(test, (u32)s->qp.krq.pi, 3);
	expect_in_error(test);
}

/* The work that stops QPs did not find it */
static void device_that_is_lost_meanwhile_stops_the_qp(struct kunit *test)
{
	struct reset_setup *s = setup_of(test);

	use_and_stop(test);
	s->loses = true;
	KUNIT_EXPECT_EQ(test, modify(s, IB_QPS_RESET), -ENODEV);
	KUNIT_EXPECT_EQ(test, s->fatal, 1);
	expect_in_error(test);
	erdma_reflush_cancel(&s->qp);
}

static void second_reset_at_a_time_is_refused(struct kunit *test)
{
	struct reset_setup *s = setup_of(test);

	use_and_stop(test);
	atomic_set(&s->qp.resetting, 1);
	KUNIT_EXPECT_EQ(test, modify(s, IB_QPS_RESET), -EBUSY);
	KUNIT_EXPECT_EQ(test, count_cmds(test, ERDMA_CMD_DESTROY_QP), 0);
	atomic_set(&s->qp.resetting, 0);
	KUNIT_EXPECT_EQ(test, modify(s, IB_QPS_RESET), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->qp.resetting), 0);
}

static struct kunit_case reset_cases[] = {
	KUNIT_CASE(reset_begins_anew),
	KUNIT_CASE(reset_of_a_qp_that_was_never_used),
	KUNIT_CASE(qp_that_was_reset_is_connected_again),
	KUNIT_CASE(completions_of_before_disappear),
	KUNIT_CASE(qp_of_an_application_is_not_reset),
	KUNIT_CASE(event_of_before_does_not_end_the_qp),
	KUNIT_CASE(qp_that_the_device_stopped_is_reset),
	KUNIT_CASE(qp_that_the_device_does_not_destroy_stays_in_error),
	KUNIT_CASE(qp_that_the_device_does_not_create_flushes_by_itself),
	KUNIT_CASE(qp_that_the_device_does_not_have_is_destroyed_without_it),
	KUNIT_CASE(lost_device_resets_no_qp),
	KUNIT_CASE(device_that_is_lost_meanwhile_stops_the_qp),
	KUNIT_CASE(second_reset_at_a_time_is_refused),
	{}
};

struct kunit_suite erdma_qp_reset_suite = {
	.name = "erdma_qp_reset",
	.init = reset_test_init,
	.exit = reset_test_exit,
	.test_cases = reset_cases,
};
