// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* CQs of kernel consumers on a fake device: events, polling, purging (erdma_cq*.c) */
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

#include "fake_dev.h"
#include "suites.h"

#define CQN	7
#define DEPTH	512	/* several turns with interrupts off */
#define QPN	5
#define ROOM	4096	/* of a receive */

/**
 * struct cq_setup - a CQ and a QP that has posted requests
 * @cq: in f->dev->cqs
 * @qp: in f->dev->qps
 * @wr_id: of the requests
 * @room: of receives, by slot
 * @blocks: of the sends
 * @bar: doorbells
 * @dbrec: of the CQ
 * @notified: calls of the completion handler
 * @failed: calls of the event handler
 * @pi: next entry the device writes
 */
struct cq_setup {
	struct erdma_cq cq;
	struct erdma_qp qp;
	u64 wr_id[DEPTH];
	u32 room[DEPTH];
	u8 blocks[DEPTH];
	u64 *bar;
	__le64 dbrec;
	u32 notified;
	u32 failed;
	u32 pi;
};

static struct cq_setup *setup_of(struct kunit *test)
{
	return fake_of(test)->owner;
}

static void on_completion(struct ib_cq *ibcq, void *context)
{
	((struct cq_setup *)context)->notified++;
}

static void on_event(struct ib_event *event, void *context)
{
	((struct cq_setup *)context)->failed++;
}

static int setup_cq(struct kunit *test, struct cq_setup *s)
{
	struct erdma_cq *cq = &s->cq;
	struct fake_dev *f = fake_of(test);

	cq->cqn = CQN;
	cq->depth = DEPTH;
	erdma_ref_init(&cq->ref);
	spin_lock_init(&cq->kernel.lock);
	INIT_LIST_HEAD(&cq->kernel.queues);
	cq->kernel.buf = kunit_kzalloc(test, DEPTH * ERDMA_CQE_SIZE, GFP_KERNEL);
	if (!cq->kernel.buf)
		return -ENOMEM;
	cq->kernel.dbrec = &s->dbrec;
	cq->ibcq.device = &f->dev->ibdev;
	cq->ibcq.comp_handler = on_completion;
	cq->ibcq.event_handler = on_event;
	cq->ibcq.cq_context = s;
	fake_publish(&f->dev->cqs, CQN, &cq->ref);
	return 0;
}

static int setup_qp(struct kunit *test, struct cq_setup *s)
{
	struct erdma_qp *qp = &s->qp;

	qp->dev = fake_of(test)->dev;
	qp->qpn = QPN;
	qp->rq_depth = DEPTH;
	qp->scq = &s->cq;
	qp->rcq = &s->cq;
	erdma_ref_init(&qp->ref);
	spin_lock_init(&qp->krq.lock);
	qp->krq.wr_id = s->wr_id;
	qp->krq.room = s->room;
	qp->krq.pi = DEPTH;
	qp->sq_depth = DEPTH;
	spin_lock_init(&qp->ksq.lock);
	qp->ksq.wr_id = s->wr_id;
	qp->ksq.blocks = s->blocks;
	fake_publish(&qp->dev->qps, QPN, &qp->ref);
	return 0;
}

static int cq_test_init(struct kunit *test)
{
	struct cq_setup *s = fake_init_owner(test, sizeof(*s));
	int i;

	if (!s)
		return -ENOMEM;
	for (i = 0; i < DEPTH; i++) {
		s->wr_id[i] = 1000 + i;
		s->room[i] = ROOM;
	}
	s->bar = kunit_kzalloc(test, ERDMA_BAR0_MIN_SIZE, GFP_KERNEL);
	if (!s->bar)
		return -ENOMEM;
	fake_of(test)->dev->mmio.bar = (void __iomem *)s->bar;
	return setup_cq(test, s) ?: setup_qp(test, s);
}

/* The device completes request @index of a QP */
static void complete_request(struct cq_setup *s, u32 qpn, u32 index, u32 opcode, u32 qtype)
{
	struct erdma_cqe *cqe = &s->cq.kernel.buf[erdma_ring_slot(s->pi, DEPTH)];

	cqe->qe_idx = cpu_to_be32(index);
	cqe->qpn = cpu_to_be32(qpn);
	cqe->hdr = cpu_to_be32(FIELD_PREP(ERDMA_CQE_OWNER, erdma_ring_owner(s->pi, DEPTH)) |
			       FIELD_PREP(ERDMA_CQE_OPCODE, opcode) |
			       FIELD_PREP(ERDMA_CQE_QTYPE, qtype));
	s->pi++;
}

static void complete_recv(struct cq_setup *s, u32 qpn, u32 index, u32 opcode)
{
	complete_request(s, qpn, index, opcode, ERDMA_CQE_QTYPE_RQ);
}

/* ---- events -------------------------------------------------------------- */

static void event_for_a_cq_that_was_never_armed_does_nothing(struct kunit *test)
{
	struct cq_setup *s = setup_of(test);
	struct erdma_dev *dev = fake_of(test)->dev;

	KUNIT_EXPECT_FALSE(test, erdma_cq_event(dev, CQN));
	KUNIT_EXPECT_EQ(test, s->notified, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->cq.cmdsn), 0);
	KUNIT_EXPECT_EQ(test, atomic64_read(&s->cq.events), 0);

	erdma_req_notify_cq(&s->cq.ibcq, IB_CQ_NEXT_COMP);
	KUNIT_EXPECT_TRUE(test, erdma_cq_event(dev, CQN));
	/* Two arms may be two events: one that is not expected is harmless now */
	KUNIT_EXPECT_TRUE(test, erdma_cq_event(dev, CQN));
	KUNIT_EXPECT_EQ(test, s->notified, 2);
	KUNIT_EXPECT_EQ(test, kref_read(&s->cq.ref.count), 1);
}

/* A CQ of an application, whose doorbell record is the first word of a page */
static __le64 *make_user_cq(struct kunit *test, struct cq_setup *s)
{
	struct erdma_dbrec_page *page = kunit_kzalloc(test, sizeof(*page), GFP_KERNEL);
	__le64 *record = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, page);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, record);
	page->words = record;
	page->va = 0x10000;
	memset(&s->cq.user, 0, sizeof(s->cq.user));
	s->cq.user.dbrec_page = page;
	s->cq.user.dbrec_va = 0x10000;
	s->cq.ibcq.res.user = true;
	return record;
}

static void flood_for_an_application_is_cut(struct kunit *test)
{
	const u64 armed = ERDMA_CQ_DB_ARM | FIELD_PREP(ERDMA_CQ_DB_CQN, CQN);
	struct erdma_dev *dev = fake_of(test)->dev;
	struct cq_setup *s = setup_of(test);
	__le64 *record = make_user_cq(test, s);
	int i, arm;

	KUNIT_EXPECT_FALSE(test, erdma_cq_event(dev, CQN));
	/* What was there before the provider wrote to it */
	*record = cpu_to_le64(armed + FIELD_PREP(ERDMA_CQ_DB_CQN, 1));
	KUNIT_EXPECT_FALSE(test, erdma_cq_event(dev, CQN));
	KUNIT_EXPECT_EQ(test, s->notified, 0);

	for (arm = 0; arm < 3; arm++) {
		*record = cpu_to_le64(armed | FIELD_PREP(ERDMA_CQ_DB_IDX, arm));
		for (i = 0; i < 10000; i++)
			erdma_cq_event(dev, CQN);
		KUNIT_EXPECT_EQ(test, s->notified, (arm + 1) * 256);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&s->cq.cmdsn), 3 * 256);
	KUNIT_EXPECT_EQ(test, kref_read(&s->cq.ref.count), 1);
}

static void cq_breaks_once(struct kunit *test)
{
	struct cq_setup *s = setup_of(test);
	int i;

	for (i = 0; i < 1000; i++)
		KUNIT_EXPECT_TRUE(test, erdma_cq_async_event(fake_of(test)->dev, CQN,
							     ERDMA_AE_CQ_ERR));
	KUNIT_EXPECT_EQ(test, s->failed, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->cq.async_events), 1000);
	KUNIT_EXPECT_EQ(test, kref_read(&s->cq.ref.count), 1);
}

/* ---- polling -------------------------------------------------------------- */

static void whole_ring_is_polled_in_one_call(struct kunit *test)
{
	struct ib_wc *wc = kunit_kzalloc(test, DEPTH * sizeof(*wc), GFP_KERNEL);
	struct cq_setup *s = setup_of(test);
	int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, wc);
	for (i = 0; i < DEPTH; i++)
		complete_recv(s, QPN, i, ERDMA_OP_RECV);
	KUNIT_ASSERT_EQ(test, erdma_poll_cq(&s->cq.ibcq, DEPTH, wc), DEPTH);
	for (i = 0; i < DEPTH; i++)
		KUNIT_EXPECT_EQ(test, wc[i].wr_id, 1000 + i);
	KUNIT_EXPECT_EQ(test, erdma_poll_cq(&s->cq.ibcq, 1, wc), 0);
	KUNIT_EXPECT_EQ(test, kref_read(&s->qp.ref.count), 1);
}

/* Entries that fit nothing hide none behind them */
static void completion_behind_nonsense_is_found(struct kunit *test)
{
	struct cq_setup *s = setup_of(test);
	struct ib_wc wc;
	int i;

	for (i = 0; i < DEPTH - 1; i++)
		complete_recv(s, QPN + 1, i, ERDMA_OP_RECV);
	complete_recv(s, QPN, 0, ERDMA_OP_RECV);
	KUNIT_ASSERT_EQ(test, erdma_poll_cq(&s->cq.ibcq, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 1000ULL);
	KUNIT_EXPECT_EQ(test, s->cq.kernel.ci, DEPTH);
}

/* An index out of a completion never leads to a request that is not in flight */
static void send_that_was_not_posted_is_not_completed(struct kunit *test)
{
	/* Before the oldest, inside of one, one whose blocks are too many, behind the newest */
	static const u16 bad[] = { 0xffff, 1, 2, 3, 7, 8, DEPTH - 1 };
	struct cq_setup *s = setup_of(test);
	struct ib_wc wc;
	int i;

	memset(s->blocks, 1, sizeof(s->blocks));
	s->qp.ksq.ci = 2;
	s->qp.ksq.pi = 7;
	s->blocks[2] = 6;
	s->blocks[3] = 0;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		complete_request(s, QPN, bad[i], ERDMA_OP_SEND, ERDMA_CQE_QTYPE_SQ);
		KUNIT_EXPECT_EQ(test, erdma_poll_cq(&s->cq.ibcq, 1, &wc), 0);
		KUNIT_EXPECT_EQ(test, s->qp.ksq.ci, 2);
	}
	s->blocks[2] = 5;
	complete_request(s, QPN, 2, ERDMA_OP_SEND, ERDMA_CQE_QTYPE_SQ);
	KUNIT_EXPECT_EQ(test, erdma_poll_cq(&s->cq.ibcq, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 1002ULL);
	KUNIT_EXPECT_EQ(test, s->qp.ksq.ci, 7);
}

static void receive_out_of_order_is_not_completed(struct kunit *test)
{
	static const u16 bad[] = { 1, DEPTH - 1, DEPTH, 0xffff };
	struct cq_setup *s = setup_of(test);
	struct ib_wc wc;
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		complete_recv(s, QPN, bad[i], ERDMA_OP_RECV);
		KUNIT_EXPECT_EQ(test, erdma_poll_cq(&s->cq.ibcq, 1, &wc), 0);
		KUNIT_EXPECT_EQ(test, s->qp.krq.ci, 0);
	}
}

/* Its CQs know when it goes away, this one does not */
static void qp_of_another_cq_is_not_looked_at(struct kunit *test)
{
	struct cq_setup *s = setup_of(test);
	struct erdma_cq *others = kunit_kzalloc(test, sizeof(*others), GFP_KERNEL);
	struct ib_wc wc;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, others);
	s->qp.scq = others;
	s->qp.rcq = others;
	complete_recv(s, QPN, 0, ERDMA_OP_RECV);
	KUNIT_EXPECT_EQ(test, erdma_poll_cq(&s->cq.ibcq, 1, &wc), 0);
	KUNIT_EXPECT_TRUE(test, !s->cq.kernel.last_qp);
	KUNIT_EXPECT_EQ(test, s->cq.kernel.ci, 1);
}

/* A new QP can have the number of one that is freed */
static void qp_that_goes_away_is_forgotten(struct kunit *test)
{
	struct cq_setup *s = setup_of(test);
	struct ib_wc wc;

	erdma_flush_add_qp(&s->qp);
	complete_recv(s, QPN, 0, ERDMA_OP_RECV);
	KUNIT_ASSERT_EQ(test, erdma_poll_cq(&s->cq.ibcq, 1, &wc), 1);
	KUNIT_EXPECT_PTR_EQ(test, s->cq.kernel.last_qp, &s->qp);
	erdma_objtab_withdraw(&s->qp.dev->qps, QPN);
	erdma_flush_remove_qp(&s->qp);
	complete_recv(s, QPN, 1, ERDMA_OP_RECV);
	KUNIT_EXPECT_EQ(test, erdma_poll_cq(&s->cq.ibcq, 1, &wc), 0);
}

/* More completions than receives: the slot is that of one which is over */
static void receive_that_was_not_posted_is_not_completed(struct kunit *test)
{
	struct cq_setup *s = setup_of(test);
	struct ib_wc wc;

	s->qp.krq.pi = 1;
	complete_recv(s, QPN, 0, ERDMA_OP_RECV);
	KUNIT_ASSERT_EQ(test, erdma_poll_cq(&s->cq.ibcq, 1, &wc), 1);
	complete_recv(s, QPN, 1, ERDMA_OP_RECV);
	KUNIT_EXPECT_EQ(test, erdma_poll_cq(&s->cq.ibcq, 1, &wc), 0);
	KUNIT_EXPECT_EQ(test, s->qp.krq.ci, 1);
}

/* The lock of the queue's own CQ protects its index */
static void completion_in_the_other_cq_of_a_qp_is_none(struct kunit *test)
{
	struct cq_setup *s = setup_of(test);
	struct erdma_cq *others = kunit_kzalloc(test, sizeof(*others), GFP_KERNEL);
	struct ib_wc wc;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, others);
	memset(s->blocks, 1, sizeof(s->blocks));
	s->qp.ksq.pi = 8;
	s->qp.scq = others;
	complete_request(s, QPN, 0, ERDMA_OP_SEND, ERDMA_CQE_QTYPE_SQ);
	KUNIT_EXPECT_EQ(test, erdma_poll_cq(&s->cq.ibcq, 1, &wc), 0);
	KUNIT_EXPECT_EQ(test, s->qp.ksq.ci, 0);
	s->qp.scq = &s->cq;
	s->qp.rcq = others;
	complete_recv(s, QPN, 0, ERDMA_OP_RECV);
	KUNIT_EXPECT_EQ(test, erdma_poll_cq(&s->cq.ibcq, 1, &wc), 0);
	KUNIT_EXPECT_EQ(test, s->qp.krq.ci, 0);
}

/* One that has both kinds in a CQ knows by the operation which it is */
static void operation_of_the_other_queue_is_no_success(struct kunit *test)
{
	static const u8 sends[] = { ERDMA_OP_WRITE, ERDMA_OP_READ, ERDMA_OP_SEND,
				    ERDMA_OP_SEND_IMM, ERDMA_OP_WRITE_IMM, ERDMA_OP_SEND_INV,
				    ERDMA_OP_REG_MR, ERDMA_OP_LOCAL_INV, ERDMA_OP_READ_INV,
				    ERDMA_OP_ATOMIC_CAS, ERDMA_OP_ATOMIC_FAA };
	static const u8 recvs[] = { ERDMA_OP_RECV, ERDMA_OP_RECV_WRITE_IMM, ERDMA_OP_RECV_INV,
				    ERDMA_OP_RECV_SEND_IMM };
	struct cq_setup *s = setup_of(test);
	struct ib_wc wc;
	int i;

	memset(s->blocks, 1, sizeof(s->blocks));
	s->qp.ksq.pi = DEPTH;
	for (i = 0; i < ARRAY_SIZE(sends); i++) {
		complete_recv(s, QPN, i, sends[i]);
		KUNIT_ASSERT_EQ(test, erdma_poll_cq(&s->cq.ibcq, 1, &wc), 1);
		KUNIT_EXPECT_EQ(test, wc.status, IB_WC_GENERAL_ERR);
		KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_RECV);
		complete_request(s, QPN, i, sends[i], ERDMA_CQE_QTYPE_SQ);
		KUNIT_ASSERT_EQ(test, erdma_poll_cq(&s->cq.ibcq, 1, &wc), 1);
		KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	}
	s->qp.krq.ci = 0;
	s->qp.ksq.ci = 0;
	for (i = 0; i < ARRAY_SIZE(recvs); i++) {
		complete_request(s, QPN, i, recvs[i], ERDMA_CQE_QTYPE_SQ);
		KUNIT_ASSERT_EQ(test, erdma_poll_cq(&s->cq.ibcq, 1, &wc), 1);
		KUNIT_EXPECT_EQ(test, wc.status, IB_WC_GENERAL_ERR);
		KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_SEND);
		KUNIT_EXPECT_EQ(test, wc.wc_flags, 0);
		complete_recv(s, QPN, i, recvs[i]);
		KUNIT_ASSERT_EQ(test, erdma_poll_cq(&s->cq.ibcq, 1, &wc), 1);
		KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	}
}

static void complete_recv_of(struct cq_setup *s, u32 index, u32 opcode, u32 size)
{
	s->cq.kernel.buf[erdma_ring_slot(s->pi, DEPTH)].size = cpu_to_be32(size);
	complete_recv(s, QPN, index, opcode);
}

/* A consumer would read behind its buffer what the device says is there */
static void receive_longer_than_its_buffer_is_no_success(struct kunit *test)
{
	static const u32 sizes[] = { 0, ROOM, ROOM + 1, U32_MAX };
	static const u8 ops[] = { ERDMA_OP_RECV, ERDMA_OP_RECV_INV, ERDMA_OP_RECV_SEND_IMM };
	struct cq_setup *s = setup_of(test);
	u32 i, k, n = 0;
	struct ib_wc wc;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		for (k = 0; k < ARRAY_SIZE(sizes); k++) {
			complete_recv_of(s, n++, ops[i], sizes[k]);
			KUNIT_ASSERT_EQ(test, erdma_poll_cq(&s->cq.ibcq, 1, &wc), 1);
			KUNIT_EXPECT_EQ(test, wc.status,
					sizes[k] > ROOM ? IB_WC_GENERAL_ERR : IB_WC_SUCCESS);
			KUNIT_EXPECT_EQ(test, wc.byte_len, min_t(u32, sizes[k], ROOM));
		}
	}
	/* The bytes of a write are where the peer wrote them */
	complete_recv_of(s, n, ERDMA_OP_RECV_WRITE_IMM, ROOM + 1);
	KUNIT_ASSERT_EQ(test, erdma_poll_cq(&s->cq.ibcq, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.byte_len, ROOM + 1U);
}

static u64 failures_of(struct kunit *test, u32 syndrome)
{
	static const enum erdma_sw_stat stat[ERDMA_WC_COUNT] = {
#define BY_CAUSE(id, name, group, error, text) \
		[ERDMA_##id] = ERDMA_STAT_##id,
		ERDMA_WC_COUNTERS(BY_CAUSE)
	};

	return atomic64_read(&fake_of(test)->dev->stats.v[stat[syndrome]]);
}

static void internal_opcode_is_no_success(struct kunit *test)
{
	static const u8 opcodes[] = { 7, 8, 10, 11, ERDMA_OP_COUNT, 255 };
	struct cq_setup *s = setup_of(test);
	struct ib_wc wc;
	int i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		complete_recv(s, QPN, i, opcodes[i]);
		KUNIT_ASSERT_EQ(test, erdma_poll_cq(&s->cq.ibcq, 1, &wc), 1);
		KUNIT_EXPECT_EQ(test, wc.status, IB_WC_GENERAL_ERR);
		KUNIT_EXPECT_EQ(test, wc.wr_id, 1000ULL + i);
	}
	KUNIT_EXPECT_EQ(test, failures_of(test, ERDMA_WC_GENERAL_ERR), (u64)ARRAY_SIZE(opcodes));
}

/* Each cause has its counter; what is unknown is a general error */
static void failures_are_counted_by_cause(struct kunit *test)
{
	struct cq_setup *s = setup_of(test);
	struct ib_wc wc;
	u32 syndrome;

	for (syndrome = 0; syndrome < 256; syndrome++) {
		complete_recv(s, QPN, syndrome, ERDMA_OP_RECV);
		s->cq.kernel.buf[syndrome].hdr |= cpu_to_be32(FIELD_PREP(ERDMA_CQE_SYNDROME,
									 syndrome));
		KUNIT_ASSERT_EQ(test, erdma_poll_cq(&s->cq.ibcq, 1, &wc), 1);
		KUNIT_EXPECT_EQ(test, wc.status == IB_WC_SUCCESS, !syndrome);
	}
	for (syndrome = ERDMA_WC_GENERAL_ERR + 1; syndrome < ERDMA_WC_COUNT; syndrome++)
		KUNIT_EXPECT_EQ(test, failures_of(test, syndrome), 1ULL);
	KUNIT_EXPECT_EQ(test, failures_of(test, ERDMA_WC_GENERAL_ERR), 256ULL - 16);
}

/* ---- purging -------------------------------------------------------------- */

static void purge_reaches_the_whole_ring_and_nobody_else(struct kunit *test)
{
	struct cq_setup *s = setup_of(test);
	struct ib_wc wc;
	int i;

	/* Over the end of the ring */
	s->cq.kernel.ci = DEPTH - 3;
	s->pi = DEPTH - 3;
	for (i = 0; i < DEPTH - 1; i++)
		complete_recv(s, QPN + 1, i, ERDMA_OP_RECV);
	complete_recv(s, QPN, 0, ERDMA_OP_RECV);
	erdma_cq_purge(&s->cq, QPN + 1);
	for (i = 0; i < DEPTH; i++)
		KUNIT_EXPECT_EQ(test, be32_to_cpu(s->cq.kernel.buf[i].qpn),
				i == DEPTH - 4 ? QPN : 0);
	KUNIT_ASSERT_EQ(test, erdma_poll_cq(&s->cq.ibcq, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 1000ULL);
}

static void purge_ends_with_a_ring_that_is_written_meanwhile(struct kunit *test)
{
	struct cq_setup *s = setup_of(test);
	int i;

	/* Indices near the end of their 32 bits, every entry valid */
	s->cq.kernel.ci = U32_MAX - 10;
	s->pi = s->cq.kernel.ci;
	for (i = 0; i < DEPTH; i++)
		complete_recv(s, QPN, i, ERDMA_OP_RECV);
	erdma_cq_purge(&s->cq, QPN);
	for (i = 0; i < DEPTH; i++)
		KUNIT_EXPECT_EQ(test, s->cq.kernel.buf[i].qpn, 0);
}

static struct kunit_case cq_cases[] = {
	KUNIT_CASE(event_for_a_cq_that_was_never_armed_does_nothing),
	KUNIT_CASE(flood_for_an_application_is_cut),
	KUNIT_CASE(cq_breaks_once),
	KUNIT_CASE(whole_ring_is_polled_in_one_call),
	KUNIT_CASE(completion_behind_nonsense_is_found),
	KUNIT_CASE(send_that_was_not_posted_is_not_completed),
	KUNIT_CASE(receive_out_of_order_is_not_completed),
	KUNIT_CASE(receive_that_was_not_posted_is_not_completed),
	KUNIT_CASE(completion_in_the_other_cq_of_a_qp_is_none),
	KUNIT_CASE(operation_of_the_other_queue_is_no_success),
	KUNIT_CASE(receive_longer_than_its_buffer_is_no_success),
	KUNIT_CASE(qp_of_another_cq_is_not_looked_at),
	KUNIT_CASE(qp_that_goes_away_is_forgotten),
	KUNIT_CASE(internal_opcode_is_no_success),
	KUNIT_CASE(failures_are_counted_by_cause),
	KUNIT_CASE(purge_reaches_the_whole_ring_and_nobody_else),
	KUNIT_CASE(purge_ends_with_a_ring_that_is_written_meanwhile),
	{}
};

struct kunit_suite erdma_cq_suite = {
	.name = "erdma_cq",
	.init = cq_test_init,
	.exit = fake_exit,
	.test_cases = cq_cases,
};
