// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Lost completion events and completions that hide others: erdma_cq_look.c */
#include <linux/io.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#include "fake_dev.h"
#include "suites.h"

#define CQN	7
#define DEPTH	64
#define DBREC	0x10000		/* where the application has its doorbell records */

/**
 * struct look_setup - a CQ and its ring
 * @cq: in f->dev->cqs
 * @ring: entries, written by the device
 * @bar: doorbells
 * @dbrec: doorbell record, first word of a page
 * @page: of @dbrec, if an application has it
 * @sg: of @ring, likewise
 * @umem: likewise
 * @notified: calls of the completion handler
 * @failed: calls of the event handler
 */
struct look_setup {
	struct erdma_cq cq;
	struct erdma_cqe *ring;
	u64 *bar;
	__le64 *dbrec;
	struct erdma_dbrec_page page;
	struct scatterlist sg;
	struct ib_umem umem;
	u32 notified;
	u32 failed;
};

static struct look_setup *setup_of(struct kunit *test)
{
	return fake_of(test)->owner;
}

static u64 stat_of(struct kunit *test, enum erdma_sw_stat stat)
{
	return atomic64_read(&fake_of(test)->dev->stats.v[stat]);
}

static void on_completion(struct ib_cq *ibcq, void *context)
{
	((struct look_setup *)context)->notified++;
}

static void on_event(struct ib_event *event, void *context)
{
	((struct look_setup *)context)->failed += event->event == IB_EVENT_CQ_ERR;
}

static int look_test_init(struct kunit *test)
{
	struct look_setup *s = fake_init_owner(test, sizeof(*s));
	struct erdma_cq *cq;

	if (!s)
		return -ENOMEM;
	s->ring = kunit_kzalloc(test, DEPTH * ERDMA_CQE_SIZE, GFP_KERNEL);
	s->bar = kunit_kzalloc(test, ERDMA_BAR0_MIN_SIZE, GFP_KERNEL);
	s->dbrec = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	if (!s->ring || !s->bar || !s->dbrec)
		return -ENOMEM;
	fake_of(test)->dev->mmio.bar = (void __iomem *)s->bar;
	cq = &s->cq;
	cq->cqn = CQN;
	cq->eqn = 1;
	cq->depth = DEPTH;
	erdma_ref_init(&cq->ref);
	spin_lock_init(&cq->kernel.lock);
	cq->kernel.buf = s->ring;
	cq->kernel.dbrec = s->dbrec;
	cq->ibcq.device = &fake_of(test)->dev->ibdev;
	cq->ibcq.comp_handler = on_completion;
	cq->ibcq.event_handler = on_event;
	cq->ibcq.cq_context = s;
	fake_publish(&fake_of(test)->dev->cqs, CQN, &cq->ref);
	atomic_set(&fake_of(test)->dev->n_cq_awaited, 1);
	return 0;
}

/* The CQ is an application's, with the same ring */
static void give_to_application(struct look_setup *s)
{
	sg_init_one(&s->sg, s->ring, DEPTH * ERDMA_CQE_SIZE);
	s->umem.length = DEPTH * ERDMA_CQE_SIZE;
	s->umem.sgt_append.sgt.sgl = &s->sg;
	s->umem.sgt_append.sgt.nents = 1;
	s->umem.sgt_append.sgt.orig_nents = 1;
	s->page.words = s->dbrec;
	s->page.va = DBREC;
	memset(&s->cq.user, 0, sizeof(s->cq.user));
	s->cq.user.mtt.umem = &s->umem;
	s->cq.user.dbrec_page = &s->page;
	s->cq.user.dbrec_va = DBREC;
	s->cq.ibcq.res.user = true;
}

/* As the application does it: it has seen everything before @ci */
static void arm(struct look_setup *s, u32 ci, u64 flags)
{
	*s->dbrec = cpu_to_le64(ERDMA_CQ_DB_ARM | FIELD_PREP(ERDMA_CQ_DB_CQN, CQN) |
				FIELD_PREP(ERDMA_CQ_DB_CI, ci & 0xffffff) | flags);
}

/* The device writes entry number @i */
static void put_entry(struct look_setup *s, u32 i, u32 syndrome)
{
	s->ring[erdma_ring_slot(i, DEPTH)].hdr =
		cpu_to_be32(FIELD_PREP(ERDMA_CQE_OWNER, erdma_ring_owner(i, DEPTH)) |
			    FIELD_PREP(ERDMA_CQE_SYNDROME, syndrome));
}

static void look(struct kunit *test, int times)
{
	while (times--)
		erdma_cqs_look(fake_of(test)->dev);
}

/* ---- lost events ---------------------------------------------------------- */

static void event_that_got_lost_is_delivered_once(struct kunit *test)
{
	struct look_setup *s = setup_of(test);
	u32 round;

	for (round = 1; round < 4; round++) {
		erdma_req_notify_cq(&s->cq.ibcq, IB_CQ_NEXT_COMP);
		look(test, 4);
		put_entry(s, round - 1, 0);
		s->notified = 0;
		/* It may be on its way */
		look(test, 1);
		KUNIT_EXPECT_EQ(test, s->notified, 0);
		look(test, 8);
		KUNIT_EXPECT_EQ(test, s->notified, 1);
		KUNIT_EXPECT_EQ(test, stat_of(test, ERDMA_STAT_CEQ_LOST_EVENTS), (u64)round);
		KUNIT_EXPECT_EQ(test, atomic_read(&s->cq.cmdsn), (int)round);
		s->cq.kernel.ci = round;
	}
	KUNIT_EXPECT_EQ(test, kref_read(&s->cq.ref.count), 1);
}

static void event_that_came_is_not_repeated(struct kunit *test)
{
	struct look_setup *s = setup_of(test);

	erdma_req_notify_cq(&s->cq.ibcq, IB_CQ_NEXT_COMP);
	put_entry(s, 0, 0);
	KUNIT_EXPECT_TRUE(test, erdma_cq_event(fake_of(test)->dev, CQN));
	look(test, 10);
	KUNIT_EXPECT_EQ(test, s->notified, 1);
	KUNIT_EXPECT_EQ(test, stat_of(test, ERDMA_STAT_CEQ_LOST_EVENTS), 0ULL);
}

static void cq_that_nobody_armed_is_left_alone(struct kunit *test)
{
	struct look_setup *s = setup_of(test);

	put_entry(s, 0, 0);
	look(test, 10);
	give_to_application(s);
	look(test, 10);
	/* Armed, as far as somebody else's record says */
	arm(s, 0, FIELD_PREP(ERDMA_CQ_DB_CQN, 0x100));
	look(test, 10);
	KUNIT_EXPECT_EQ(test, s->notified, 0);
}

/* Its interrupt got lost, or the CPU is busy: that is found in another way */
static void event_that_waits_in_its_queue_is_not_lost(struct kunit *test)
{
	struct erdma_dev *dev = fake_of(test)->dev;
	struct look_setup *s = setup_of(test);

	dev->n_comp_eqs = 1;
	dev->comp_eqs[0].eq.waiting = true;
	erdma_req_notify_cq(&s->cq.ibcq, IB_CQ_NEXT_COMP);
	put_entry(s, 0, 0);
	look(test, 10);
	KUNIT_EXPECT_EQ(test, s->notified, 0);
	dev->comp_eqs[0].eq.waiting = false;
	look(test, 6);
	KUNIT_EXPECT_EQ(test, s->notified, 1);
	dev->n_comp_eqs = 0;
}

/* Its indices are those of its last arm, with 24 bits */
static void application_gets_its_lost_event(struct kunit *test)
{
	static const u32 indices[] = { 0, 5, DEPTH - 1, DEPTH, 3 * DEPTH + 1, 0xffffff };
	struct look_setup *s = setup_of(test);
	int i;

	give_to_application(s);
	for (i = 0; i < ARRAY_SIZE(indices); i++) {
		put_entry(s, indices[i] - DEPTH, 0);
		arm(s, indices[i], FIELD_PREP(ERDMA_CQ_DB_IDX, i));
		look(test, 6);
		KUNIT_EXPECT_EQ(test, s->notified, i);
		put_entry(s, indices[i], 0);
		look(test, 6);
		KUNIT_EXPECT_EQ(test, s->notified, i + 1);
	}
	KUNIT_EXPECT_EQ(test, stat_of(test, ERDMA_STAT_CEQ_LOST_EVENTS), (u64)i);
}

static void arm_for_solicited_waits_for_what_can_be_known(struct kunit *test)
{
	struct look_setup *s = setup_of(test);

	give_to_application(s);
	arm(s, 0, ERDMA_CQ_DB_SOL);
	put_entry(s, 0, 0);
	look(test, 10);
	KUNIT_EXPECT_EQ(test, s->notified, 0);
	put_entry(s, 0, ERDMA_WC_FLUSHED);
	look(test, 10);
	KUNIT_EXPECT_EQ(test, s->notified, 1);
}

/* Those that are not armed are passed over, however many they are */
static void armed_cq_among_many_is_looked_at(struct kunit *test)
{
	struct erdma_dev *dev = fake_of(test)->dev;
	struct look_setup *s = setup_of(test);
	struct erdma_cq *cq;
	u32 i;

	for (i = 1; i <= FAKE_NUMBERS; i++) {
		if (i == CQN)
			continue;
		cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, cq);
		cq->cqn = i;
		cq->ibcq.device = &dev->ibdev;
		erdma_ref_init(&cq->ref);
		fake_publish(&dev->cqs, i, &cq->ref);
	}
	KUNIT_EXPECT_FALSE(test, erdma_cqs_look(dev));
	KUNIT_EXPECT_EQ(test, dev->cq_walk.next, 0);
	erdma_req_notify_cq(&s->cq.ibcq, IB_CQ_NEXT_COMP);
	put_entry(s, 0, 0);
	look(test, 2);
	KUNIT_EXPECT_EQ(test, s->notified, 1);
	KUNIT_EXPECT_EQ(test, kref_read(&s->cq.ref.count), 1);
}

/* A program without a channel for events polls: there is nobody to be woken */
static void cq_without_a_channel_is_not_looked_at(struct kunit *test)
{
	struct erdma_ucontext *ctx = fake_context(test);
	struct erdma_dev *dev = fake_of(test)->dev;
	struct look_setup *s = setup_of(test);

	give_to_application(s);
	s->cq.ctx = ctx;
	s->cq.ibcq.cq_context = NULL;
	put_entry(s, 0, 0);
	arm(s, 0, 0);
	KUNIT_EXPECT_FALSE(test, erdma_cqs_look(dev));
	KUNIT_EXPECT_EQ(test, s->cq.look.arm, 0ULL);
	s->cq.ibcq.cq_context = s;
	KUNIT_EXPECT_TRUE(test, erdma_cqs_look(dev));

	/* Nobody has one */
	s->cq.look.arm = 0;
	atomic_set(&dev->n_cq_awaited, 0);
	dev->cq_walk.next = 3;
	KUNIT_EXPECT_FALSE(test, erdma_cqs_look(dev));
	KUNIT_EXPECT_EQ(test, dev->cq_walk.next, 0);
	KUNIT_EXPECT_EQ(test, s->cq.look.arm, 0ULL);
}

/* What was seen before an application stopped to wait is not one of two looks in a row later */
static void cq_that_is_not_armed_any_more_is_forgotten(struct kunit *test)
{
	struct look_setup *s = setup_of(test);

	give_to_application(s);
	put_entry(s, 0, 0);
	arm(s, 0, 0);
	look(test, 1);
	KUNIT_EXPECT_NE(test, s->cq.look.arm, 0ULL);
	*s->dbrec = 0;
	look(test, 1);
	KUNIT_EXPECT_EQ(test, s->cq.look.arm, 0ULL);
	arm(s, 0, 0);
	look(test, 1);
	KUNIT_EXPECT_EQ(test, s->notified, 0);
	look(test, 1);
	KUNIT_EXPECT_EQ(test, s->notified, 1);
}

static void event_that_is_missing_asks_for_a_second_look(struct kunit *test)
{
	struct erdma_dev *dev = fake_of(test)->dev;
	struct look_setup *s = setup_of(test);

	erdma_req_notify_cq(&s->cq.ibcq, IB_CQ_NEXT_COMP);
	KUNIT_EXPECT_FALSE(test, erdma_cqs_look(dev));
	put_entry(s, 0, 0);
	KUNIT_EXPECT_TRUE(test, erdma_cqs_look(dev));
	KUNIT_EXPECT_TRUE(test, erdma_cqs_look(dev));
	KUNIT_EXPECT_EQ(test, s->notified, 1);
	KUNIT_EXPECT_FALSE(test, erdma_cqs_look(dev));
}

static void nothing(struct work_struct *work)
{
}

static void arming_by_the_kernel_ends_the_rare_looks(struct kunit *test)
{
	struct erdma_dev *dev = fake_of(test)->dev;

	dev->eq_watcher = alloc_workqueue("erdma_kunit", WQ_UNBOUND, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev->eq_watcher);
	INIT_DELAYED_WORK(&dev->eq_look, nothing);
	queue_delayed_work(dev->eq_watcher, &dev->eq_look, msecs_to_jiffies(1000));
	dev->eq_idle = true;
	erdma_req_notify_cq(&setup_of(test)->cq.ibcq, IB_CQ_NEXT_COMP);
	KUNIT_EXPECT_FALSE(test, dev->eq_idle);
	KUNIT_EXPECT_LE(test, (long)(dev->eq_look.timer.expires - jiffies),
			(long)msecs_to_jiffies(50));
	cancel_delayed_work_sync(&dev->eq_look);
	destroy_workqueue(dev->eq_watcher);
}

/* ---- completions that hide others -------------------------------------------- */

static void completion_with_a_wrong_owner_bit_breaks_the_cq_once(struct kunit *test)
{
	struct look_setup *s = setup_of(test);
	int i;

	for (i = 0; i < 5; i++)
		put_entry(s, i, 0);
	s->cq.kernel.ci = 5;
	erdma_req_notify_cq(&s->cq.ibcq, IB_CQ_NEXT_COMP);
	look(test, 10);
	KUNIT_EXPECT_EQ(test, s->failed, 0);
	put_entry(s, 6, 0);
	look(test, 10);
	KUNIT_EXPECT_EQ(test, s->failed, 1);
	KUNIT_EXPECT_EQ(test, stat_of(test, ERDMA_STAT_CQ_HIDDEN), 1ULL);
	/* There is no more to be known about it */
	KUNIT_EXPECT_FALSE(test, erdma_cqs_look(fake_of(test)->dev));
}

/* It finds nothing, and arms again, and again there is an event */
static void application_is_notified_of_a_hidden_completion(struct kunit *test)
{
	struct look_setup *s = setup_of(test);
	int i;

	give_to_application(s);
	put_entry(s, 1, 0);
	for (i = 0; i < 10; i++) {
		arm(s, 0, FIELD_PREP(ERDMA_CQ_DB_IDX, i));
		look(test, 2);
	}
	KUNIT_EXPECT_EQ(test, s->failed, 1);
	KUNIT_EXPECT_EQ(test, stat_of(test, ERDMA_STAT_CQ_HIDDEN), 1ULL);
}

/* It polls and never arms again: where it is, nobody else knows */
static void application_that_polls_on_has_no_hidden_completion(struct kunit *test)
{
	struct look_setup *s = setup_of(test);
	u32 i;

	give_to_application(s);
	arm(s, 5, 0);
	for (i = 0; i < 5 * DEPTH; i++) {
		put_entry(s, i, 0);
		look(test, 4);
	}
	KUNIT_EXPECT_EQ(test, s->failed, 0);
}

static struct kunit_case cq_look_cases[] = {
	KUNIT_CASE(event_that_got_lost_is_delivered_once),
	KUNIT_CASE(event_that_came_is_not_repeated),
	KUNIT_CASE(cq_that_nobody_armed_is_left_alone),
	KUNIT_CASE(event_that_waits_in_its_queue_is_not_lost),
	KUNIT_CASE(application_gets_its_lost_event),
	KUNIT_CASE(arm_for_solicited_waits_for_what_can_be_known),
	KUNIT_CASE(armed_cq_among_many_is_looked_at),
	KUNIT_CASE(cq_without_a_channel_is_not_looked_at),
	KUNIT_CASE(cq_that_is_not_armed_any_more_is_forgotten),
	KUNIT_CASE(event_that_is_missing_asks_for_a_second_look),
	KUNIT_CASE(arming_by_the_kernel_ends_the_rare_looks),
	KUNIT_CASE(completion_with_a_wrong_owner_bit_breaks_the_cq_once),
	KUNIT_CASE(application_is_notified_of_a_hidden_completion),
	KUNIT_CASE(application_that_polls_on_has_no_hidden_completion),
	{}
};

struct kunit_suite erdma_cq_look_suite = {
	.name = "erdma_cq_look",
	.init = look_test_init,
	.exit = fake_exit,
	.test_cases = cq_look_cases,
};
