// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Event rings: erdma_eq.c (docs/erdma-hardware.md, section 7) */
#include <linux/delay.h>
#include <linux/platform_device.h>

#include "fake_dev.h"
#include "suites.h"

#define EQ_DEPTH 16

static int eq_test_init(struct kunit *test)
{
	struct fake_dev *f;
	int ret = fake_init(test);

	if (ret)
		return ret;
	f = fake_of(test);
	ret = erdma_eq_init(&f->dev->aeq, &f->platform->dev, f->dev->dbrec_pool, &f->dev->mmio,
			    EQ_DEPTH, ERDMA_REG_AEQ_DB);
	return ret;
}

static void eq_test_exit(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	if (!f)
		return;
	if (f->dev->aeq.buf)
		erdma_eq_exit(&f->dev->aeq, &f->platform->dev, f->dev->dbrec_pool);
	fake_exit(test);
}

static struct erdma_eq *eq_of(struct kunit *test)
{
	return &fake_of(test)->dev->aeq;
}

/* The device's entry number i */
static void put_entry(struct erdma_eq *eq, u32 i, u32 type, u32 object)
{
	struct erdma_aeqe *aeqe = eq->buf + erdma_ring_slot(i, eq->depth) * ERDMA_EQE_SIZE;

	aeqe->object = cpu_to_le32(object);
	aeqe->data = cpu_to_le32(~i);
	aeqe->rsvd = cpu_to_le32(i);
	aeqe->hdr = cpu_to_le32(FIELD_PREP(ERDMA_AEQE_OWNER, erdma_ring_owner(i, eq->depth)) |
				FIELD_PREP(ERDMA_AEQE_TYPE, type));
}

static void fresh_ring_has_no_entry(struct kunit *test)
{
	struct erdma_aeqe entry;

	KUNIT_EXPECT_FALSE(test, erdma_eq_next(eq_of(test), &entry));
	KUNIT_EXPECT_EQ(test, eq_of(test)->ci, 0);
}

static void entry_is_copied_whole(struct kunit *test)
{
	struct erdma_eq *eq = eq_of(test);
	struct erdma_aeqe entry;

	put_entry(eq, 0, ERDMA_AE_OTHER, 0x2a);
	KUNIT_ASSERT_TRUE(test, erdma_eq_next(eq, &entry));
	KUNIT_EXPECT_EQ(test, memcmp(&entry, eq->buf, sizeof(entry)), 0);
	KUNIT_EXPECT_FALSE(test, erdma_eq_next(eq, &entry));
	KUNIT_EXPECT_EQ(test, atomic64_read(&eq->events), 1);
}

static void entries_come_in_order_over_many_passes(struct kunit *test)
{
	struct erdma_eq *eq = eq_of(test);
	struct erdma_aeqe entry;
	u32 i;

	for (i = 0; i < 5 * EQ_DEPTH + 3; i++) {
		put_entry(eq, i, 0, i);
		KUNIT_ASSERT_TRUE(test, erdma_eq_next(eq, &entry));
		KUNIT_ASSERT_EQ(test, le32_to_cpu(entry.object), i);
		/* What is left of the pass before is not valid */
		KUNIT_ASSERT_FALSE(test, erdma_eq_next(eq, &entry));
	}
}

static void full_ring_is_drained(struct kunit *test)
{
	struct erdma_eq *eq = eq_of(test);
	struct erdma_aeqe entry;
	u32 i;

	for (i = 0; i < EQ_DEPTH; i++)
		put_entry(eq, i, 0, i);
	for (i = 0; i < EQ_DEPTH; i++)
		KUNIT_ASSERT_TRUE(test, erdma_eq_next(eq, &entry));
	KUNIT_EXPECT_FALSE(test, erdma_eq_next(eq, &entry));
}

static void doorbell_matches_vector(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_eq *eq = eq_of(test);

	eq->ci = 0x1003;
	erdma_eq_arm(eq);
	KUNIT_EXPECT_EQ(test, f->wide[ERDMA_REG_AEQ_DB / 8], 0x80001003ULL);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(*eq->dbrec), 0x80001003ULL);
	KUNIT_EXPECT_EQ(test, atomic64_read(&eq->notifies), 1);
}

/* Not at 2^24, although the field has 24 bits (3.1) */
static void doorbell_index_wraps_at_16_bits(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_eq *eq = eq_of(test);
	struct erdma_aeqe entry;

	eq->ci = 0xffff;
	put_entry(eq, 0xffff, 0, 1);
	KUNIT_ASSERT_TRUE(test, erdma_eq_next(eq, &entry));
	erdma_eq_arm(eq);
	KUNIT_EXPECT_EQ(test, f->wide[ERDMA_REG_AEQ_DB / 8], 0x80000000ULL);
	put_entry(eq, 0x10000, 0, 2);
	KUNIT_EXPECT_TRUE(test, erdma_eq_next(eq, &entry));
	KUNIT_EXPECT_EQ(test, le32_to_cpu(entry.object), 2);
}

static void handler_has_a_budget(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_eq big = {};
	u32 i;

	erdma_eq_exit(eq_of(test), &f->platform->dev, f->dev->dbrec_pool);
	KUNIT_ASSERT_EQ(test, erdma_eq_init(&big, &f->platform->dev, f->dev->dbrec_pool,
					    &f->dev->mmio, 64, ERDMA_REG_AEQ_DB), 0);
	f->dev->aeq = big;
	for (i = 0; i < ERDMA_EQ_BUDGET + 5; i++)
		put_entry(eq_of(test), i, ERDMA_AE_QP_FATAL, 1000 + i);
	erdma_async_eq_irq(f->dev);
	/* The doorbell shows the device what is left: it interrupts again */
	KUNIT_EXPECT_EQ(test, f->wide[ERDMA_REG_AEQ_DB / 8], 0x80000000ULL | ERDMA_EQ_BUDGET);
	erdma_async_eq_irq(f->dev);
	KUNIT_EXPECT_EQ(test, f->wide[ERDMA_REG_AEQ_DB / 8], 0x80000000ULL | (ERDMA_EQ_BUDGET + 5));
	KUNIT_EXPECT_EQ(test, atomic64_read(&eq_of(test)->interrupts), 2);
}

/* The device interrupts again after each doorbell whose CI is not its PI (7.4) */
static void entry_that_cannot_be_seen_is_no_interrupt_storm(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_eq *eq = eq_of(test);
	struct erdma_aeqe *aeqe = eq->buf;
	s64 rung;
	int i;

	put_entry(eq, 0, ERDMA_AE_QP_FATAL, 1000);
	aeqe->hdr ^= cpu_to_le32(ERDMA_AEQE_OWNER);
	for (i = 0; i < 1000; i++)
		erdma_async_eq_irq(f->dev);
	rung = atomic64_read(&eq->notifies);
	KUNIT_EXPECT_GT(test, rung, 1);
	KUNIT_EXPECT_LT(test, rung, 100);

	/* What can be seen again is taken, and asked for again */
	aeqe->hdr ^= cpu_to_le32(ERDMA_AEQE_OWNER);
	erdma_async_eq_irq(f->dev);
	KUNIT_EXPECT_EQ(test, atomic64_read(&eq->events), 1);
	KUNIT_EXPECT_EQ(test, atomic64_read(&eq->notifies), rung + 1);
	KUNIT_EXPECT_EQ(test, f->wide[ERDMA_REG_AEQ_DB / 8], 0x80000001ULL);
}

static void spurious_interrupt_only_arms(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	erdma_async_eq_irq(f->dev);
	KUNIT_EXPECT_EQ(test, atomic64_read(&eq_of(test)->events), 0);
	KUNIT_EXPECT_EQ(test, f->wide[ERDMA_REG_AEQ_DB / 8], 0x80000000ULL);
}

struct ae_case {
	const char *name;
	u32 type;
	u32 by_type;
	enum erdma_sw_stat stat;
};

static void ae_desc(const struct ae_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

static const struct ae_case ae_cases[] = {
	{ "qp_fatal", ERDMA_AE_QP_FATAL, 0, ERDMA_STAT_AEQ_QP_FATAL },
	{ "rq_err", ERDMA_AE_RQ_ERR, 1, ERDMA_STAT_AEQ_RQ_ERR },
	{ "access_err", ERDMA_AE_ACCESS_ERR, 2, ERDMA_STAT_AEQ_ACCESS_ERR },
	{ "cq_err", ERDMA_AE_CQ_ERR, 3, ERDMA_STAT_AEQ_CQ_ERR },
	{ "other", ERDMA_AE_OTHER, 4, ERDMA_STAT_AEQ_OTHER },
	{ "reserved_5", 5, 5, ERDMA_STAT_AEQ_OTHER },
	{ "reserved_255", 255, 5, ERDMA_STAT_AEQ_OTHER },
};

KUNIT_ARRAY_PARAM(ae, ae_cases, ae_desc);

/* Neither the type nor the object is believed to exist */
static void async_event_of_unknown_object_is_counted(struct kunit *test)
{
	const struct ae_case *c = test->param_value;
	struct fake_dev *f = fake_of(test);

	put_entry(eq_of(test), 0, c->type, 0xffffffff);
	erdma_async_eq_irq(f->dev);
	KUNIT_EXPECT_EQ(test, atomic64_read(&f->dev->stats.v[ERDMA_STAT_AEQ_EVENTS]), 1);
	KUNIT_EXPECT_EQ(test, atomic64_read(&f->dev->stats.v[c->stat]), 1);
	KUNIT_EXPECT_EQ(test, atomic64_read(&eq_of(test)->by_type[c->by_type]), 1);
	KUNIT_EXPECT_EQ(test, atomic64_read(&eq_of(test)->unknown), 1);
	KUNIT_EXPECT_EQ(test, atomic64_read(&f->dev->stats.v[ERDMA_STAT_AEQ_UNKNOWN]), 1);
}

static void completion_event_of_unknown_cq_is_refused(struct kunit *test)
{
	struct erdma_dev *dev = fake_of(test)->dev;

	KUNIT_EXPECT_FALSE(test, erdma_cq_event(dev, 0));
	KUNIT_EXPECT_FALSE(test, erdma_cq_event(dev, 0xfffff));
}

/* ---- lost interrupts -------------------------------------------------------- */

static void entry_that_nobody_takes_shows_a_lost_interrupt(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_eq *eq = eq_of(test);

	KUNIT_EXPECT_FALSE(test, erdma_eq_look(eq));
	put_entry(eq, 0, ERDMA_AE_OTHER, 1);
	KUNIT_EXPECT_FALSE(test, erdma_eq_look(eq));	/* perhaps it is on its way */
	KUNIT_EXPECT_EQ(test, atomic64_read(&eq->notifies), 0);
	KUNIT_EXPECT_TRUE(test, erdma_eq_look(eq));
	/* With the true index, so that the device interrupts at once (7.4) */
	KUNIT_EXPECT_EQ(test, f->wide[ERDMA_REG_AEQ_DB / 8], 0x80000000ULL);
	KUNIT_EXPECT_TRUE(test, erdma_eq_look(eq));	/* that one was lost, too */
	erdma_async_eq_irq(f->dev);
	KUNIT_EXPECT_EQ(test, atomic64_read(&eq->events), 1);
	KUNIT_EXPECT_FALSE(test, erdma_eq_look(eq));
}

static void busy_ring_has_lost_nothing(struct kunit *test)
{
	struct erdma_eq *eq = eq_of(test);
	struct erdma_aeqe entry;
	u32 i;

	for (i = 0; i < 100; i++) {
		put_entry(eq, i, ERDMA_AE_OTHER, 1);
		KUNIT_ASSERT_FALSE(test, erdma_eq_look(eq));
		KUNIT_ASSERT_TRUE(test, erdma_eq_next(eq, &entry));
	}
}

static void entry_behind_an_unwritten_one_shows_a_hidden_ring(struct kunit *test)
{
	struct erdma_eq *eq = eq_of(test);

	KUNIT_EXPECT_FALSE(test, erdma_eq_is_hidden(eq));
	put_entry(eq, 1, ERDMA_AE_OTHER, 1);
	KUNIT_EXPECT_FALSE(test, erdma_eq_is_hidden(eq));	/* once may be a coincidence */
	KUNIT_EXPECT_TRUE(test, erdma_eq_is_hidden(eq));
	put_entry(eq, 0, ERDMA_AE_OTHER, 1);
	KUNIT_EXPECT_FALSE(test, erdma_eq_is_hidden(eq));
}

/* ---- the watch: as long as there are CQs ---------------------------------------- */

/* No completion EQs; until watch_stop() */
static struct erdma_dev *watch_start(struct kunit *test)
{
	struct erdma_dev *dev = fake_of(test)->dev;

	dev->vectors = 1;
	KUNIT_ASSERT_EQ(test, erdma_comp_eqs_init(dev), 0);
	atomic_set(&dev->n_cq, 1);
	erdma_eqs_watch(dev);
	return dev;
}

static void watch_stop(struct erdma_dev *dev)
{
	atomic_set(&dev->n_cq, 0);
	erdma_comp_eqs_exit(dev);
}

static void expect_loss(struct kunit *test, struct erdma_dev *dev, enum erdma_lost_reason reason)
{
	int i;

	for (i = 0; i < 1000 && READ_ONCE(dev->lost) == ERDMA_LOST_NOT; i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, dev->lost, reason);
	/* The look that noticed may have put one more behind itself: the last one */
	flush_delayed_work(&dev->eq_look);
	flush_delayed_work(&dev->eq_look);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&dev->eq_look));
}

static void device_that_left_is_noticed_without_a_command(struct kunit *test)
{
	struct erdma_dev *dev = watch_start(test);

	fake_of(test)->unplugged = true;
	expect_loss(test, dev, ERDMA_LOST_UNPLUGGED);
	KUNIT_EXPECT_EQ(test, fake_of(test)->total, 0);
	watch_stop(dev);
}

static void events_that_hide_lose_the_device(struct kunit *test)
{
	struct erdma_dev *dev = watch_start(test);

	put_entry(eq_of(test), 1, ERDMA_AE_OTHER, 1);
	expect_loss(test, dev, ERDMA_LOST_EQ_HIDDEN);
	watch_stop(dev);
}

static void lost_interrupt_of_the_aeq_is_repeated(struct kunit *test)
{
	struct erdma_dev *dev = watch_start(test);
	int i;

	put_entry(eq_of(test), 0, ERDMA_AE_OTHER, 1);
	for (i = 0; i < 1000 && !atomic64_read(&eq_of(test)->lost_irqs); i++)
		msleep(20);
	KUNIT_EXPECT_GE(test, atomic64_read(&eq_of(test)->notifies), 1LL);
	watch_stop(dev);
	KUNIT_EXPECT_EQ(test, atomic64_read(&dev->stats.v[ERDMA_STAT_AEQ_LOST_IRQS]),
			atomic64_read(&eq_of(test)->lost_irqs));
}

static void nobody_looks_while_there_is_no_cq(struct kunit *test)
{
	struct erdma_dev *dev = watch_start(test);

	flush_delayed_work(&dev->eq_look);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&dev->eq_look));
	atomic_set(&dev->n_cq, 0);
	flush_delayed_work(&dev->eq_look);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&dev->eq_look));
	erdma_eqs_watch(dev);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&dev->eq_look));
	watch_stop(dev);
}

/* Begin with what is queued, at once; @ms: then the next one follows, on any host */
static void expect_next_look(struct kunit *test, struct erdma_dev *dev, unsigned int ms)
{
	unsigned long begin = jiffies, expires;

	flush_delayed_work(&dev->eq_look);
	expires = READ_ONCE(dev->eq_look.timer.expires);
	KUNIT_EXPECT_GE(test, (long)(expires - begin) + 1, (long)msecs_to_jiffies(ms));
	KUNIT_EXPECT_LE(test, (long)(expires - jiffies), (long)msecs_to_jiffies(ms));
}

/* The next look was queued for 50 ms after now, at most */
static void expect_look_soon(struct kunit *test, struct erdma_dev *dev)
{
	KUNIT_EXPECT_LE(test, (long)(READ_ONCE(dev->eq_look.timer.expires) - jiffies),
			(long)msecs_to_jiffies(50));
}

static struct erdma_dev *watch_start_idle(struct kunit *test)
{
	struct erdma_dev *dev = watch_start(test);

	while (READ_ONCE(dev->eq_looks) < 20)
		flush_delayed_work(&dev->eq_look);
	KUNIT_ASSERT_TRUE(test, READ_ONCE(dev->eq_idle));
	return dev;
}

static void lost_interrupts_are_looked_for_every_50_ms(struct kunit *test)
{
	struct erdma_dev *dev = watch_start(test);
	int i;

	expect_look_soon(test, dev);
	for (i = 0; i < 60; i++) {
		put_entry(eq_of(test), i, ERDMA_AE_OTHER, 1);
		erdma_async_eq_irq(dev);
		expect_next_look(test, dev, 50);
	}
	watch_stop(dev);
}

static void looks_become_rare_when_nothing_happens(struct kunit *test)
{
	struct erdma_dev *dev = watch_start(test);
	int i;

	for (i = 0; i < 15; i++)
		flush_delayed_work(&dev->eq_look);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(dev->eq_idle));
	while (READ_ONCE(dev->eq_looks) < 20)
		flush_delayed_work(&dev->eq_look);
	for (i = 0; i < 5; i++)
		expect_next_look(test, dev, 1000);
	/* Whether the device is there is looked at once a second, as before */
	fake_of(test)->unplugged = true;
	flush_delayed_work(&dev->eq_look);
	KUNIT_EXPECT_EQ(test, dev->lost, ERDMA_LOST_UNPLUGGED);
	watch_stop(dev);
}

static void completion_event_ends_the_rare_looks(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_dev *dev = watch_start_idle(test);
	struct erdma_ceq *ceq = &dev->comp_eqs[0];
	s64 events, unknown;

	ceq->dev = dev;
	ceq->eqn = 1;
	KUNIT_ASSERT_EQ(test, erdma_eq_init(&ceq->eq, &f->platform->dev, dev->dbrec_pool,
					    &dev->mmio, 256, ERDMA_REG_EQ_DB(1)), 0);
	dev->n_comp_eqs = 1;
	*(__le64 *)ceq->eq.buf = cpu_to_le64(FIELD_PREP(ERDMA_CEQE_OWNER,
							erdma_ring_owner(0, 256)));
	erdma_eq_recover(dev, &ceq->eq, &events, &unknown);
	KUNIT_EXPECT_EQ(test, events, 1LL);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(dev->eq_idle));
	expect_look_soon(test, dev);
	expect_next_look(test, dev, 50);
	dev->n_comp_eqs = 0;
	watch_stop(dev);
	erdma_eq_exit(&ceq->eq, &f->platform->dev, dev->dbrec_pool);
}

/* It is counted where it was handled, before the flag was seen */
static void async_event_ends_the_rare_looks(struct kunit *test)
{
	struct erdma_dev *dev = watch_start_idle(test);

	put_entry(eq_of(test), 0, ERDMA_AE_OTHER, 1);
	erdma_async_eq_irq(dev);
	expect_next_look(test, dev, 50);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(dev->eq_idle));
	watch_stop(dev);
}

static void new_cq_ends_the_rare_looks(struct kunit *test)
{
	struct erdma_dev *dev = watch_start_idle(test);

	erdma_eqs_watch(dev);
	expect_look_soon(test, dev);
	expect_next_look(test, dev, 50);
	watch_stop(dev);
}

static void interrupt_that_a_rare_look_misses_is_judged_soon(struct kunit *test)
{
	struct erdma_dev *dev = watch_start_idle(test);

	put_entry(eq_of(test), 0, ERDMA_AE_OTHER, 1);
	expect_next_look(test, dev, 50);
	flush_delayed_work(&dev->eq_look);
	KUNIT_EXPECT_GE(test, atomic64_read(&eq_of(test)->lost_irqs), 1LL);
	expect_next_look(test, dev, 50);
	watch_stop(dev);
}

static struct kunit_case eq_cases[] = {
	KUNIT_CASE(fresh_ring_has_no_entry),
	KUNIT_CASE(entry_is_copied_whole),
	KUNIT_CASE(entries_come_in_order_over_many_passes),
	KUNIT_CASE(full_ring_is_drained),
	KUNIT_CASE(doorbell_matches_vector),
	KUNIT_CASE(doorbell_index_wraps_at_16_bits),
	KUNIT_CASE(handler_has_a_budget),
	KUNIT_CASE(spurious_interrupt_only_arms),
	KUNIT_CASE(entry_that_cannot_be_seen_is_no_interrupt_storm),
	KUNIT_CASE_PARAM(async_event_of_unknown_object_is_counted, ae_gen_params),
	KUNIT_CASE(completion_event_of_unknown_cq_is_refused),
	KUNIT_CASE(entry_that_nobody_takes_shows_a_lost_interrupt),
	KUNIT_CASE(busy_ring_has_lost_nothing),
	KUNIT_CASE(entry_behind_an_unwritten_one_shows_a_hidden_ring),
	KUNIT_CASE(device_that_left_is_noticed_without_a_command),
	KUNIT_CASE(events_that_hide_lose_the_device),
	KUNIT_CASE(lost_interrupt_of_the_aeq_is_repeated),
	KUNIT_CASE(nobody_looks_while_there_is_no_cq),
	KUNIT_CASE(lost_interrupts_are_looked_for_every_50_ms),
	KUNIT_CASE(looks_become_rare_when_nothing_happens),
	KUNIT_CASE(completion_event_ends_the_rare_looks),
	KUNIT_CASE(async_event_ends_the_rare_looks),
	KUNIT_CASE(new_cq_ends_the_rare_looks),
	KUNIT_CASE(interrupt_that_a_rare_look_misses_is_judged_soon),
	{}
};

struct kunit_suite erdma_eq_suite = {
	.name = "erdma_eq",
	.init = eq_test_init,
	.exit = eq_test_exit,
	.test_cases = eq_cases,
};
