// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Commands and interrupts that get lost, and a command queue that dies: erdma_cmdq.c */
#include "cmdq_setup.h"
#include "suites.h"

/* ---- lost commands -------------------------------------------------------- */

/* More than there are contexts, over the life of a host */
static void two_hundred_lost_commands_cost_nothing(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_cmdq *q = queue_of(test);
	int i, j;

	erdma_cmdq_start_events(q);
	for (i = 0; i < 200; i++) {
		f->hold = true;
		KUNIT_ASSERT_EQ(test, fake_exec_for(f, NULL, 1), -ETIMEDOUT);
		f->hold = false;
		for (j = 0; j < 20; j++)
			KUNIT_ASSERT_EQ(test, fake_exec(f, 0, NULL), 0);
	}
	for (i = 0; i < ERDMA_CMDQ_SLOTS; i++)
		KUNIT_ASSERT_EQ(test, fake_exec(f, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, q->state, ERDMA_DIAG_CMDQ_RUN);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_LOST), 200ULL);
	KUNIT_EXPECT_EQ(test, q->quarantined, 0);
	KUNIT_EXPECT_EQ(test, q->in_flight, 0);
	KUNIT_EXPECT_EQ(test, q->credits.count, (unsigned int)ERDMA_CMDQ_SLOTS);
}

/* The position is another command's by then, and the context may be */
static void answer_to_a_lost_command_is_nobodys(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct fake_cmd lost;
	int i;

	erdma_cmdq_start_events(queue_of(test));
	f->hold = true;
	KUNIT_ASSERT_EQ(test, fake_exec_for(f, NULL, 1), -ETIMEDOUT);
	f->hold = false;
	lost = f->cmds[0];
	for (i = 0; i < ERDMA_CMDQ_SLOTS; i++)
		KUNIT_ASSERT_EQ(test, fake_exec(f, 0, NULL), 0);
	KUNIT_ASSERT_EQ(test, stat(f, ERDMA_STAT_CMDQ_LOST), 1ULL);
	fake_write_cqe(f, f->cq_pi, lost.index, 0);
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_BAD_CQES), 1ULL);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_LATE), 0ULL);
	KUNIT_EXPECT_EQ(test, queue_of(test)->credits.count, (unsigned int)ERDMA_CMDQ_SLOTS);
}

/* The device may write it in a year: it is nobody else's until the reset */
static void buffer_of_a_lost_command_is_retained(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_cmdq *q = queue_of(test);
	struct erdma_resp_stats stats;
	int i;

	erdma_cmdq_start_events(q);
	f->hold = true;
	KUNIT_ASSERT_EQ(test, erdma_exec_get_stats(f->dev, &stats), -ETIMEDOUT);
	f->hold = false;
	KUNIT_EXPECT_TRUE(test, list_empty(&q->lost_bufs));
	for (i = 0; i < ERDMA_CMDQ_SLOTS; i++)
		KUNIT_ASSERT_EQ(test, fake_exec(f, 0, NULL), 0);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&q->lost_bufs));
}

static void timeout_quarantines_slot(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_cmdq *q = queue_of(test);

	f->hold = true;
	erdma_cmdq_start_events(q);
	KUNIT_EXPECT_EQ(test, fake_exec_short(f), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, q->quarantined, 1);
	KUNIT_EXPECT_EQ(test, q->in_flight, 1);
	KUNIT_EXPECT_EQ(test, q->credits.count, ERDMA_CMDQ_SLOTS - 1U);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_TIMEOUTS), 1ULL);
	KUNIT_EXPECT_EQ(test, q->state, ERDMA_DIAG_CMDQ_RUN);
}

static void timeout_quarantines_slot_when_polling(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	f->hold = true;
	KUNIT_EXPECT_EQ(test, fake_exec_short(f), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, queue_of(test)->quarantined, 1);
	KUNIT_EXPECT_EQ(test, queue_of(test)->state, ERDMA_DIAG_CMDQ_POLL);
}

static void short_timeouts_do_not_kill_queue(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	int i;

	f->hold = true;
	erdma_cmdq_start_events(queue_of(test));
	for (i = 0; i < 3 * ERDMA_CMDQ_MAX_STUCK; i++)
		KUNIT_ASSERT_EQ(test, fake_exec_short(f), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, queue_of(test)->state, ERDMA_DIAG_CMDQ_RUN);
	fake_answer_all(f);
	fake_settle(f);
	KUNIT_EXPECT_EQ(test, queue_of(test)->quarantined, 0);
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), 0);
}

/* A device that drops one query and answers everything else stays usable */
static void one_dropped_query_does_not_kill_queue(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	int i;

	erdma_cmdq_start_events(queue_of(test));
	f->hold = true;
	KUNIT_ASSERT_EQ(test, fake_exec_short(f), -ETIMEDOUT);
	f->hold = false;
	for (i = 0; i < 2 * ERDMA_CMDQ_SLOTS; i++)
		KUNIT_ASSERT_EQ(test, fake_exec(f, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, queue_of(test)->state, ERDMA_DIAG_CMDQ_RUN);
}

/* ---- how long who waits ------------------------------------------------------ */

static int ask_stats(struct erdma_dev *dev)
{
	struct erdma_resp_stats out;

	return erdma_exec_get_stats(dev, &out);
}

static int ask_context(struct erdma_dev *dev, u8 submod, u8 opcode)
{
	u8 out[ERDMA_RESP_BUF_SIZE], syndrome;

	return erdma_exec_query(dev, submod, opcode, 1, out, sizeof(out), &syndrome, 0);
}

static int ask_qpc(struct erdma_dev *dev)
{
	return ask_context(dev, ERDMA_SUBMOD_RDMA, ERDMA_CMD_QUERY_QPC);
}

static int ask_cqc(struct erdma_dev *dev)
{
	return ask_context(dev, ERDMA_SUBMOD_RDMA, ERDMA_CMD_QUERY_CQC);
}

static int ask_eqc(struct erdma_dev *dev)
{
	return ask_context(dev, ERDMA_SUBMOD_COMMON, ERDMA_CMD_QUERY_EQC);
}

static int set_mtu(struct erdma_dev *dev)
{
	return erdma_exec_conf_mtu(dev, 1500);
}

static int reflush(struct erdma_dev *dev)
{
	return erdma_exec_reflush(dev, 1, 0, 0, NULL);
}

/**
 * struct kind - a command with a limit of its own
 * @exec: executes it
 * @ms: limit
 * @dev: device
 * @work: a thread
 * @ret: what @exec returned
 * @took: jiffies
 */
struct kind {
	int (*exec)(struct erdma_dev *dev);
	unsigned int ms;
	struct erdma_dev *dev;
	struct work_struct work;
	int ret;
	unsigned long took;
};

static void run_kind(struct work_struct *work)
{
	struct kind *k = container_of(work, struct kind, work);
	unsigned long begin = jiffies;

	k->ret = k->exec(k->dev);
	k->took = jiffies - begin;
}

/* None of them shows that the device is dead, and nobody waits as long as for an object */
static void each_kind_of_command_has_its_time(struct kunit *test)
{
	static const struct kind all[] = {
		{ ask_stats, 2000 }, { ask_qpc, 2000 }, { ask_cqc, 2000 }, { ask_eqc, 2000 },
		{ set_mtu, 5000 }, { reflush, 5000 },
	};
	struct kind *k = kunit_kzalloc(test, sizeof(all), GFP_KERNEL);
	struct erdma_cmdq *q = queue_of(test);
	int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, k);
	memcpy(k, all, sizeof(all));
	fake_of(test)->hold = true;
	q->timeout_ms = 30000;
	erdma_cmdq_start_events(q);
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		k[i].dev = fake_of(test)->dev;
		INIT_WORK(&k[i].work, run_kind);
		queue_work(system_unbound_wq, &k[i].work);
	}
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		flush_work(&k[i].work);
		KUNIT_EXPECT_EQ(test, k[i].ret, -ETIMEDOUT);
		KUNIT_EXPECT_GE(test, k[i].took + 1, msecs_to_jiffies(k[i].ms));
		KUNIT_EXPECT_LT(test, k[i].took, msecs_to_jiffies(3 * k[i].ms));
	}
	KUNIT_EXPECT_EQ(test, q->stuck, 0);
	KUNIT_EXPECT_EQ(test, q->state, ERDMA_DIAG_CMDQ_RUN);
}

/* ---- lost and empty events ------------------------------------------------- */

/*
 * By two looks, 50 ms apart, and not when the waiter gives up. A busy host makes some of
 * the tries late, so the quickest counts: looks every 100 ms would take 200 each time.
 */
static void lost_interrupt_is_found(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	unsigned long begin, took, quickest = ULONG_MAX;
	u64 i;

	f->late = true;
	f->mute = true;
	erdma_cmdq_start_events(queue_of(test));
	for (i = 1; i <= 30 && quickest >= msecs_to_jiffies(150); i++) {
		begin = jiffies;
		KUNIT_ASSERT_EQ(test, fake_exec_for(f, NULL, 5 * FAKE_TIMEOUT_MS), 0);
		took = jiffies - begin;
		KUNIT_EXPECT_GE(test, took + 2, msecs_to_jiffies(100));
		quickest = min(quickest, took);
		KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_LOST_IRQS), i);
	}
	KUNIT_EXPECT_LT(test, quickest, msecs_to_jiffies(150));
	KUNIT_EXPECT_GE(test, f->lost, 1U);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_TIMEOUTS), 0ULL);
}

static void interrupts_work_again_after_a_lost_one(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	int i;

	f->late = true;
	f->mute = true;
	erdma_cmdq_start_events(queue_of(test));
	KUNIT_ASSERT_EQ(test, fake_exec(f, 0, NULL), 0);
	f->mute = false;
	for (i = 0; i < 10; i++)
		KUNIT_ASSERT_EQ(test, fake_exec(f, 0, NULL), 0);
	KUNIT_EXPECT_LE(test, stat(f, ERDMA_STAT_CMDQ_LOST_IRQS), 2ULL);
}

static void command_after_an_event_without_completion_gets_one(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	f->late = true;
	erdma_cmdq_start_events(queue_of(test));
	fake_event(f);
	fake_settle(f);
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_LOST_IRQS), 0ULL);
}

/* As if each arm showed the device that we have not seen what it wrote (4.6) */
static void events_without_completions_do_not_go_on_for_ever(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct crowd c;
	u64 armed;
	int i;

	f->hold = true;
	erdma_cmdq_start_events(queue_of(test));
	crowd_start(test, &c, 1);
	KUNIT_EXPECT_TRUE(test, cmdq_gets_in_flight(f, 1));
	armed = stat(f, ERDMA_STAT_CMDQ_ARMS);
	for (i = 0; i < 300; i++) {
		fake_event(f);
		fake_settle(f);
	}
	armed = stat(f, ERDMA_STAT_CMDQ_ARMS) - armed;
	KUNIT_EXPECT_GT(test, armed, 1ULL);
	KUNIT_EXPECT_LT(test, armed, 100ULL);
	fake_answer_all(f);
	KUNIT_EXPECT_EQ(test, crowd_wait(&c, 0), 1);
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), 0);
}

/* ---- a queue that dies ----------------------------------------------------- */

static u32 deaths;

static void count_death(struct erdma_cmdq *q, const char *why)
{
	lockdep_assert_held(&q->lock);
	deaths++;
}

static void death_is_reported_once(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	int i;

	deaths = 0;
	queue_of(test)->on_dead = count_death;
	queue_of(test)->timeout_ms = FAKE_SHORT_MS;
	f->hold = true;
	erdma_cmdq_start_events(queue_of(test));
	for (i = 0; i < ERDMA_CMDQ_MAX_STUCK; i++) {
		KUNIT_EXPECT_EQ(test, deaths, 0);
		fake_exec_short(f);
	}
	KUNIT_EXPECT_EQ(test, deaths, 1);
	fake_exec_short(f);
	erdma_cmdq_kill(queue_of(test));
	KUNIT_EXPECT_EQ(test, deaths, 1);
}

static void who_kills_the_queue_is_not_notified(struct kunit *test)
{
	deaths = 0;
	queue_of(test)->on_dead = count_death;
	erdma_cmdq_kill(queue_of(test));
	KUNIT_EXPECT_EQ(test, deaths, 0);
}

/* Somebody still waits for the oldest when the ring comes round: there is no place for more */
static void device_that_overtakes_its_oldest_command_kills_queue(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_cmdq *q = queue_of(test);
	struct crowd c;
	int i;

	f->hold = true;
	erdma_cmdq_start_events(q);
	crowd_start(test, &c, 1);
	KUNIT_EXPECT_TRUE(test, cmdq_gets_in_flight(f, 1));
	f->hold = false;
	for (i = 1; i < ERDMA_CMDQ_SLOTS; i++)
		KUNIT_ASSERT_EQ(test, fake_exec(f, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, q->state, ERDMA_DIAG_CMDQ_RUN);
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), -ENODEV);
	KUNIT_EXPECT_EQ(test, q->state, ERDMA_DIAG_CMDQ_DEAD);
	KUNIT_EXPECT_EQ(test, q->death.reason, (u32)ERDMA_DIAG_DEAD_OVERTAKEN);
	KUNIT_EXPECT_EQ(test, crowd_wait(&c, -ENODEV), 1);
}

/* Not one in a row counts as evidence, but nothing is left to send a command with */
static void queue_without_a_context_left_is_dead(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_cmdq *q = queue_of(test);
	int i;

	f->hold = true;
	erdma_cmdq_start_events(q);
	for (i = 0; i < ERDMA_CMDQ_SLOTS; i++) {
		KUNIT_ASSERT_EQ(test, q->state, ERDMA_DIAG_CMDQ_RUN);
		KUNIT_ASSERT_EQ(test, fake_exec_for(f, NULL, 1), -ETIMEDOUT);
	}
	KUNIT_EXPECT_EQ(test, q->state, ERDMA_DIAG_CMDQ_DEAD);
	KUNIT_EXPECT_EQ(test, q->death.reason, (u32)ERDMA_DIAG_DEAD_NO_CONTEXT);
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), -ENODEV);
}

static void full_timeouts_in_a_row_kill_queue(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	int i;

	queue_of(test)->timeout_ms = FAKE_SHORT_MS;
	f->hold = true;
	erdma_cmdq_start_events(queue_of(test));
	for (i = 0; i < ERDMA_CMDQ_MAX_STUCK; i++) {
		KUNIT_EXPECT_EQ(test, queue_of(test)->state, ERDMA_DIAG_CMDQ_RUN);
		KUNIT_EXPECT_EQ(test, fake_exec_short(f), -ETIMEDOUT);
	}
	KUNIT_EXPECT_EQ(test, queue_of(test)->state, ERDMA_DIAG_CMDQ_DEAD);
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), -ENODEV);
	KUNIT_EXPECT_EQ(test, f->total, ERDMA_CMDQ_MAX_STUCK);
}

/* Nor for the first one */
static void device_that_left_is_noticed_while_waiting(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	unsigned long end = jiffies + msecs_to_jiffies(3 * FAKE_TIMEOUT_MS);
	struct erdma_cmd_result res;

	f->hold = true;
	f->unplugged = true;
	KUNIT_EXPECT_EQ(test, fake_exec_for(f, &res, 5 * FAKE_TIMEOUT_MS), -ENODEV);
	KUNIT_EXPECT_EQ(test, res.outcome, ERDMA_CMD_UNANSWERED);
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, end));
	KUNIT_EXPECT_EQ(test, queue_of(test)->state, ERDMA_DIAG_CMDQ_DEAD);
}

static void device_that_left_is_noticed_while_waiting_for_an_interrupt(struct kunit *test)
{
	erdma_cmdq_start_events(queue_of(test));
	device_that_left_is_noticed_while_waiting(test);
}

/* It left the bus: nobody needs to wait for three more time-outs */
static void registers_of_this_kill_queue(struct kunit *test, u32 value)
{
	struct fake_dev *f = fake_of(test);

	f->hold = true;
	erdma_cmdq_start_events(queue_of(test));
	f->regs[ERDMA_REG_STATUS / 4] = value;
	KUNIT_ASSERT_EQ(test, fake_exec_short(f), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, queue_of(test)->state, ERDMA_DIAG_CMDQ_RUN);
	f->regs[ERDMA_REG_VERSION / 4] = value;
	KUNIT_ASSERT_EQ(test, fake_exec_short(f), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, queue_of(test)->state, ERDMA_DIAG_CMDQ_DEAD);
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), -ENODEV);
}

static void registers_of_ones_kill_queue(struct kunit *test)
{
	registers_of_this_kill_queue(test, U32_MAX);
}

static void registers_of_zeros_kill_queue(struct kunit *test)
{
	registers_of_this_kill_queue(test, 0);
}

/* Its registers may read as anything */
static void empty_slot_kills_queue(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	f->hold = true;
	erdma_cmdq_start_events(queue_of(test));
	f->unplugged = true;
	KUNIT_ASSERT_EQ(test, fake_exec_short(f), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, queue_of(test)->state, ERDMA_DIAG_CMDQ_DEAD);
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), -ENODEV);
}

static void kill_wakes_waiters_at_once(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	unsigned long end = jiffies + 5 * msecs_to_jiffies(FAKE_TIMEOUT_MS);
	struct crowd c;

	f->hold = true;
	erdma_cmdq_start_events(queue_of(test));
	crowd_start(test, &c, ERDMA_CMDQ_SLOTS + 5);
	KUNIT_EXPECT_TRUE(test, cmdq_gets_in_flight(f, ERDMA_CMDQ_SLOTS));
	erdma_cmdq_kill(queue_of(test));
	KUNIT_EXPECT_EQ(test, crowd_wait(&c, -ENODEV), ERDMA_CMDQ_SLOTS + 5);
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, end));
	KUNIT_EXPECT_EQ(test, queue_of(test)->state, ERDMA_DIAG_CMDQ_DEAD);
}

static void dead_queue_refuses_commands(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	u32 writes;

	erdma_cmdq_kill(queue_of(test));
	writes = f->writes;
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), -ENODEV);
	erdma_cmdq_start_events(queue_of(test));
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), -ENODEV);
	KUNIT_EXPECT_EQ(test, f->writes, writes);
	KUNIT_EXPECT_EQ(test, queue_of(test)->state, ERDMA_DIAG_CMDQ_DEAD);
}

static void answer_after_kill_is_harmless(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct crowd c;

	f->hold = true;
	erdma_cmdq_start_events(queue_of(test));
	crowd_start(test, &c, ERDMA_CMDQ_SLOTS);
	KUNIT_EXPECT_TRUE(test, cmdq_gets_in_flight(f, ERDMA_CMDQ_SLOTS));
	erdma_cmdq_kill(queue_of(test));
	fake_answer_all(f);
	fake_settle(f);
	crowd_wait(&c, -ENODEV);
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), -ENODEV);
}

static struct kunit_case cmdq_lost_cases[] = {
	KUNIT_CASE(two_hundred_lost_commands_cost_nothing),
	KUNIT_CASE(answer_to_a_lost_command_is_nobodys),
	KUNIT_CASE(buffer_of_a_lost_command_is_retained),
	KUNIT_CASE(timeout_quarantines_slot),
	KUNIT_CASE(timeout_quarantines_slot_when_polling),
	KUNIT_CASE(short_timeouts_do_not_kill_queue),
	KUNIT_CASE(one_dropped_query_does_not_kill_queue),
	KUNIT_CASE(each_kind_of_command_has_its_time),
	KUNIT_CASE(lost_interrupt_is_found),
	KUNIT_CASE(interrupts_work_again_after_a_lost_one),
	KUNIT_CASE(command_after_an_event_without_completion_gets_one),
	KUNIT_CASE(events_without_completions_do_not_go_on_for_ever),
	KUNIT_CASE(death_is_reported_once),
	KUNIT_CASE(who_kills_the_queue_is_not_notified),
	KUNIT_CASE(device_that_overtakes_its_oldest_command_kills_queue),
	KUNIT_CASE(queue_without_a_context_left_is_dead),
	KUNIT_CASE(full_timeouts_in_a_row_kill_queue),
	KUNIT_CASE(device_that_left_is_noticed_while_waiting),
	KUNIT_CASE(device_that_left_is_noticed_while_waiting_for_an_interrupt),
	KUNIT_CASE(registers_of_ones_kill_queue),
	KUNIT_CASE(registers_of_zeros_kill_queue),
	KUNIT_CASE(empty_slot_kills_queue),
	KUNIT_CASE(kill_wakes_waiters_at_once),
	KUNIT_CASE(dead_queue_refuses_commands),
	KUNIT_CASE(answer_after_kill_is_harmless),
	{}
};

struct kunit_suite erdma_cmdq_lost_suite = {
	.name = "erdma_cmdq_lost",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = cmdq_lost_cases,
};
