// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Command transport against a fake device: erdma_cmdq.c */
#include <linux/delay.h>
#include <linux/slab.h>

#include "fake_dev.h"
#include "suites.h"

static u64 stat(struct fake_dev *f, enum erdma_sw_stat s)
{
	return atomic64_read(&f->dev->stats.v[s]);
}

static struct erdma_cmdq *queue_of(struct kunit *test)
{
	return &fake_of(test)->dev->cmdq;
}

/* Until the driver did something in another context; ASSERT on the result */
static bool comes_true(bool (*fn)(struct fake_dev *f), struct fake_dev *f)
{
	int i;

	for (i = 0; i < 2000; i++) {
		if (fn(f))
			return true;
		usleep_range(500, 1000);
	}
	return false;
}

/* ---- one command --------------------------------------------------------- */

static void polled_command_succeeds(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	KUNIT_EXPECT_EQ(test, queue_of(test)->state, ERDMA_DIAG_CMDQ_POLL);
	KUNIT_EXPECT_EQ(test, fake_exec(f, ERDMA_CMD_QUERY_DEVICE, NULL), 0);
	KUNIT_EXPECT_EQ(test, f->total, 1);
	KUNIT_EXPECT_EQ(test, f->arms, 0);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_SUBMITTED), 1ULL);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_COMPLETED), 1ULL);
}

static void interrupted_command_succeeds(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	erdma_cmdq_start_events(queue_of(test));
	KUNIT_EXPECT_EQ(test, queue_of(test)->state, ERDMA_DIAG_CMDQ_RUN);
	KUNIT_EXPECT_EQ(test, fake_exec(f, ERDMA_CMD_QUERY_DEVICE, NULL), 0);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_LOST_IRQS), 0ULL);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_EVENTS), 1ULL);
}

/* The first arm carries the CI that polling reached (4.6) */
static void first_arm_carries_true_ci(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	int i;

	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, fake_exec(f, 0, NULL), 0);
	erdma_cmdq_start_events(queue_of(test));
	KUNIT_EXPECT_EQ(test, f->arms, 1);
	KUNIT_EXPECT_EQ(test, FIELD_GET(ERDMA_CQ_DB_CI, f->last_arm), 3ULL);
	KUNIT_EXPECT_EQ(test, FIELD_GET(ERDMA_CQ_DB_ARM, f->last_arm), 1ULL);
	KUNIT_EXPECT_EQ(test, FIELD_GET(ERDMA_CQ_DB_SOL, f->last_arm), 0ULL);
	KUNIT_EXPECT_EQ(test, FIELD_GET(ERDMA_CQ_DB_CQN, f->last_arm), 0ULL);
}

static void every_event_advances_cmdsn(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	int i;

	erdma_cmdq_start_events(queue_of(test));
	for (i = 1; i <= 6; i++) {
		KUNIT_ASSERT_EQ(test, fake_exec(f, 0, NULL), 0);
		fake_settle(f);
		KUNIT_EXPECT_EQ(test, FIELD_GET(ERDMA_CQ_DB_CMDSN, f->last_arm), i & 3ULL);
		KUNIT_EXPECT_EQ(test, FIELD_GET(ERDMA_CQ_DB_IDX, f->last_arm), (u64)i);
		KUNIT_EXPECT_EQ(test, FIELD_GET(ERDMA_CQ_DB_CI, f->last_arm), (u64)i);
	}
}

static void record_holds_last_doorbell(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	KUNIT_ASSERT_EQ(test, fake_exec(f, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpup(fake_virt(f->wide[ERDMA_REG_CMDQ_SQ_DBREC / 8])),
			f->wide[ERDMA_REG_CMDQ_SQ_DB / 8]);
	erdma_cmdq_start_events(queue_of(test));
	KUNIT_EXPECT_EQ(test, le64_to_cpup(fake_virt(f->wide[ERDMA_REG_CMDQ_CQ_DBREC / 8])),
			f->last_arm);
}

static void response_words_are_returned(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_cmd_result res;

	f->default_answer.resp[0] = 0x00041400A80F0A1FULL;
	f->default_answer.resp[1] = 0xFFFFFF0010400000ULL;
	KUNIT_ASSERT_EQ(test, fake_exec(f, ERDMA_CMD_QUERY_DEVICE, &res), 0);
	KUNIT_EXPECT_EQ(test, res.resp[0], 0x00041400A80F0A1FULL);
	KUNIT_EXPECT_EQ(test, res.resp[1], 0xFFFFFF0010400000ULL);
	KUNIT_EXPECT_EQ(test, res.syndrome, 0);
}

static void syndrome_becomes_eio(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_cmd_result res;

	f->default_answer.syndrome = ERDMA_CMD_EINVAL;
	f->default_answer.resp[0] = 0x1234;
	KUNIT_EXPECT_EQ(test, fake_exec(f, ERDMA_CMD_CREATE_QP, &res), -EIO);
	KUNIT_EXPECT_EQ(test, res.syndrome, ERDMA_CMD_EINVAL);
	KUNIT_EXPECT_EQ(test, res.resp[0], 0ULL);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_FAILED), 1ULL);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_COMPLETED), 0ULL);
}

static void failure_leaves_queue_usable(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	f->default_answer.syndrome = 255;
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), -EIO);
	f->default_answer.syndrome = 0;
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, queue_of(test)->in_flight, 0);
}

/* Header of appendix D; the rest of the slot is the body and then zero (4.3) */
static void slot_is_header_body_zeros(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	u8 req[24], want[FAKE_SLOT_BYTES] = {};
	int i;

	for (i = 0; i < 2; i++)		/* the vector's slot is at index 8 */
		KUNIT_ASSERT_EQ(test, fake_exec(f, 0, NULL), 0);
	memset(req, 0xa5, sizeof(req));
	memset(queue_of(test)->sq, 0xff, ERDMA_CMDQ_DEPTH * ERDMA_WQEBB_SIZE);
	KUNIT_ASSERT_EQ(test, erdma_cmdq_exec(queue_of(test), ERDMA_SUBMOD_RDMA,
					      ERDMA_CMD_CREATE_CQ, req, sizeof(req), NULL,
					      FAKE_TIMEOUT_MS), 0);
	memcpy(want, fake_last_slot(f), 8);
	memset(want + 8, 0xa5, 16);
	KUNIT_EXPECT_EQ(test, memcmp(fake_last_slot(f), want, FAKE_SLOT_BYTES), 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpup((__le64 *)want) & ~ERDMA_CMD_HDR_CTX,
			0x003000050004000CULL & ~ERDMA_CMD_HDR_CTX);
	KUNIT_EXPECT_LT(test, FIELD_GET(ERDMA_CMD_HDR_CTX, le64_to_cpup((__le64 *)want)),
			(u64)ERDMA_CMDQ_SLOTS);
}

static void largest_request_fills_the_slot(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	u8 req[FAKE_SLOT_BYTES];

	memset(req, 0x3c, sizeof(req));
	KUNIT_ASSERT_EQ(test, erdma_cmdq_exec(queue_of(test), ERDMA_SUBMOD_COMMON,
					      ERDMA_CMD_GET_STATS, req, sizeof(req), NULL,
					      FAKE_TIMEOUT_MS), 0);
	KUNIT_EXPECT_EQ(test, memcmp(fake_last_slot(f) + 8, req + 8, sizeof(req) - 8), 0);
}

static void rings_are_written_to_the_registers(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_cmdq *q = queue_of(test);

	KUNIT_EXPECT_EQ(test, f->regs[ERDMA_REG_CMDQ_SQ_BASE_LO / 4], lower_32_bits(q->sq_dma));
	KUNIT_EXPECT_EQ(test, f->regs[ERDMA_REG_CMDQ_CQ_BASE_LO / 4], lower_32_bits(q->cq_dma));
	KUNIT_EXPECT_EQ(test, f->regs[ERDMA_REG_CMDQ_EQ_BASE_LO / 4], lower_32_bits(q->eq.dma));
	KUNIT_EXPECT_EQ(test, f->regs[ERDMA_REG_CMDQ_DEPTH / 4], ERDMA_CMDQ_DEPTH);
	KUNIT_EXPECT_EQ(test, f->regs[ERDMA_REG_CMDQ_EQ_DEPTH / 4], ERDMA_CMDQ_EQ_DEPTH);
	KUNIT_EXPECT_EQ(test, f->wide[ERDMA_REG_CMDQ_EQ_DBREC / 8], (u64)q->eq.dbrec_dma);
}

/* ---- many commands ------------------------------------------------------- */

static void ring_wraps_in_poll_mode(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	int i;

	for (i = 0; i < 3 * ERDMA_CMDQ_SLOTS + 5; i++)
		KUNIT_ASSERT_EQ(test, fake_exec(f, i & 0xff, NULL), 0);
	KUNIT_EXPECT_EQ(test, f->total, 3 * ERDMA_CMDQ_SLOTS + 5);
	KUNIT_EXPECT_EQ(test, queue_of(test)->max_in_flight, 1);
}

/* 1200 completions pass the CQ (512) twice and the EQ (128) nine times */
static void rings_wrap_with_interrupts(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	int i;

	erdma_cmdq_start_events(queue_of(test));
	for (i = 0; i < 1200; i++)
		KUNIT_ASSERT_EQ(test, fake_exec(f, i & 0xff, NULL), 0);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_COMPLETED), 1200ULL);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_LOST_IRQS), 0ULL);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_BAD_CQES), 0ULL);
}

static void sq_index_survives_16_bit_wrap(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	int i;

	f->sq_ci = 0xfff0;
	queue_of(test)->sq_pi = 0xfff0;
	for (i = 0; i < 10; i++)
		KUNIT_ASSERT_EQ(test, fake_exec(f, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, queue_of(test)->sq_pi, 0xfff0 + 40 - 0x10000);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_BAD_CQES), 0ULL);
}

/* Both readings of 4.4 are allowed: free-running and wrapped at the depth */
static void wrapped_sq_index_is_understood(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	f->sq_ci = 0x8000;
	queue_of(test)->sq_pi = 0x8000;
	f->hold = true;
	KUNIT_ASSERT_EQ(test, fake_exec_short(f), -ETIMEDOUT);
	f->cmds[0].index %= ERDMA_CMDQ_DEPTH;
	fake_answer_all(f);
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_LATE), 1ULL);
}

struct worker {
	struct work_struct work;
	struct fake_dev *f;
	u32 timeout_ms;
	int ret;
};

static void worker_run(struct work_struct *work)
{
	struct worker *w = container_of(work, struct worker, work);
	__le64 req = 0;

	w->ret = erdma_cmdq_exec(&w->f->dev->cmdq, ERDMA_SUBMOD_RDMA, ERDMA_CMD_DESTROY_CQ, &req,
				 sizeof(req), NULL, w->timeout_ms);
}

struct crowd {
	struct workqueue_struct *wq;
	struct worker *workers;
	int n;
};

/* n commands at the same time, each in a thread of its own */
static void crowd_start(struct kunit *test, struct crowd *c, int n)
{
	int i;

	c->n = n;
	c->workers = kunit_kzalloc(test, n * sizeof(*c->workers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, c->workers);
	c->wq = alloc_workqueue("erdma_kunit", WQ_UNBOUND, 256);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, c->wq);
	for (i = 0; i < n; i++) {
		INIT_WORK(&c->workers[i].work, worker_run);
		c->workers[i].f = fake_of(test);
		c->workers[i].timeout_ms = 5 * FAKE_TIMEOUT_MS;
		c->workers[i].ret = 1;
		queue_work(c->wq, &c->workers[i].work);
	}
}

/* Return: how many of them ended with @want */
static int crowd_wait(struct crowd *c, int want)
{
	int i, count = 0;

	destroy_workqueue(c->wq);
	for (i = 0; i < c->n; i++)
		count += c->workers[i].ret == want;
	return count;
}

static bool all_slots_taken(struct fake_dev *f)
{
	return READ_ONCE(f->dev->cmdq.in_flight) == ERDMA_CMDQ_SLOTS;
}

static void slots_are_all_usable_at_once(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct crowd c;

	f->hold = true;
	erdma_cmdq_start_events(queue_of(test));
	crowd_start(test, &c, ERDMA_CMDQ_SLOTS + 10);
	KUNIT_EXPECT_TRUE(test, comes_true(all_slots_taken, f));
	fake_answer_all(f);
	KUNIT_EXPECT_EQ(test, crowd_wait(&c, 0), ERDMA_CMDQ_SLOTS + 10);
	KUNIT_EXPECT_EQ(test, queue_of(test)->max_in_flight, ERDMA_CMDQ_SLOTS);
	KUNIT_EXPECT_EQ(test, queue_of(test)->in_flight, 0);
	KUNIT_EXPECT_EQ(test, queue_of(test)->credits.count, (unsigned int)ERDMA_CMDQ_SLOTS);
}

static void without_credit_command_times_out(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct crowd c;

	f->hold = true;
	erdma_cmdq_start_events(queue_of(test));
	crowd_start(test, &c, ERDMA_CMDQ_SLOTS);
	KUNIT_EXPECT_TRUE(test, comes_true(all_slots_taken, f));
	KUNIT_EXPECT_EQ(test, fake_exec_short(f), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, f->total, ERDMA_CMDQ_SLOTS);
	KUNIT_EXPECT_EQ(test, queue_of(test)->quarantined, 0);
	fake_answer_all(f);
	KUNIT_EXPECT_EQ(test, crowd_wait(&c, 0), ERDMA_CMDQ_SLOTS);
	KUNIT_EXPECT_EQ(test, queue_of(test)->credits.count, (unsigned int)ERDMA_CMDQ_SLOTS);
}

/* ---- what goes wrong ----------------------------------------------------- */

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

static void late_answer_frees_slot(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_cmdq *q = queue_of(test);

	f->hold = true;
	erdma_cmdq_start_events(q);
	KUNIT_ASSERT_EQ(test, fake_exec_short(f), -ETIMEDOUT);
	fake_answer_all(f);
	fake_settle(f);
	KUNIT_EXPECT_EQ(test, q->quarantined, 0);
	KUNIT_EXPECT_EQ(test, q->in_flight, 0);
	KUNIT_EXPECT_EQ(test, q->credits.count, (unsigned int)ERDMA_CMDQ_SLOTS);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_LATE), 1ULL);
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), 0);
}

/* The late answer must not be taken for the answer of a newer command */
static void late_answer_is_not_mixed_up(struct kunit *test)
{
	const struct fake_answer late = { .resp = { 0xbad } };
	struct fake_dev *f = fake_of(test);
	struct erdma_cmd_result res;

	f->hold = true;
	erdma_cmdq_start_events(queue_of(test));
	KUNIT_ASSERT_EQ(test, fake_exec_short(f), -ETIMEDOUT);
	f->hold = false;
	f->default_answer.resp[0] = 0x600d;
	fake_answer_cmd(f, 0, &late);
	KUNIT_ASSERT_EQ(test, fake_exec(f, 0, &res), 0);
	KUNIT_EXPECT_EQ(test, res.resp[0], 0x600dULL);
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

/* It left the bus: nobody needs to wait for three more time-outs */
static void registers_of_ones_kill_queue(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	f->hold = true;
	erdma_cmdq_start_events(queue_of(test));
	f->regs[ERDMA_REG_STATUS / 4] = U32_MAX;
	KUNIT_ASSERT_EQ(test, fake_exec_short(f), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, queue_of(test)->state, ERDMA_DIAG_CMDQ_RUN);
	f->regs[ERDMA_REG_VERSION / 4] = U32_MAX;
	KUNIT_ASSERT_EQ(test, fake_exec_short(f), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, queue_of(test)->state, ERDMA_DIAG_CMDQ_DEAD);
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), -ENODEV);
}

/* Its registers may read as anything, also as zeros */
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

static void lost_interrupt_is_found(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	f->mute = true;
	erdma_cmdq_start_events(queue_of(test));
	KUNIT_EXPECT_EQ(test, fake_exec_short(f), 0);
	KUNIT_EXPECT_GE(test, f->lost, 1U);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_LOST_IRQS), 1ULL);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_TIMEOUTS), 0ULL);
}

static void interrupts_work_again_after_a_lost_one(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	int i;

	f->mute = true;
	erdma_cmdq_start_events(queue_of(test));
	KUNIT_ASSERT_EQ(test, fake_exec_short(f), 0);
	f->mute = false;
	for (i = 0; i < 10; i++)
		KUNIT_ASSERT_EQ(test, fake_exec(f, 0, NULL), 0);
	KUNIT_EXPECT_LE(test, stat(f, ERDMA_STAT_CMDQ_LOST_IRQS), 2ULL);
}

struct bad_cqe {
	const char *name;
	u32 index;
};

static void bad_cqe_desc(const struct bad_cqe *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

/* Nothing is open but slot 0 */
static const struct bad_cqe bad_cqes[] = {
	{ "slot_not_open", 4 },
	{ "inside_of_a_slot", 1 },
	{ "last_slot", ERDMA_CMDQ_DEPTH - 4 },
	{ "producer_index_instead_of_start", 0x10004 },
	{ "garbage", 0xfffffffe },
};

KUNIT_ARRAY_PARAM(bad_cqe, bad_cqes, bad_cqe_desc);

static void bad_index_is_refused(struct kunit *test)
{
	const struct bad_cqe *c = test->param_value;
	struct fake_dev *f = fake_of(test);

	f->hold = true;
	KUNIT_ASSERT_EQ(test, fake_exec_short(f), -ETIMEDOUT);
	fake_write_cqe(f, f->cq_pi, c->index, 0);
	f->hold = false;
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_BAD_CQES), 1ULL);
	KUNIT_EXPECT_EQ(test, queue_of(test)->quarantined, 1);
}

static void double_answer_is_refused(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	KUNIT_ASSERT_EQ(test, fake_exec(f, 0, NULL), 0);
	fake_answer_cmd(f, 0, NULL);
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_BAD_CQES), 1ULL);
	KUNIT_EXPECT_EQ(test, queue_of(test)->credits.count, (unsigned int)ERDMA_CMDQ_SLOTS);
}

/* An entry with the owner bit of the other pass is not there yet */
static void wrong_owner_bit_is_not_an_answer(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	f->hold = true;
	fake_write_cqe(f, ERDMA_CMDQ_DEPTH, 0, 0);
	KUNIT_EXPECT_EQ(test, fake_exec_short(f), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, queue_of(test)->cq_ci, 0);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_BAD_CQES), 0ULL);
}

/* The device can write the SQ: what it says there must not be believed */
static void context_in_ring_memory_is_not_trusted(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_cmdq *q = queue_of(test);

	f->hold = true;
	KUNIT_ASSERT_EQ(test, fake_exec_short(f), -ETIMEDOUT);
	memset(q->sq, 0xff, ERDMA_CMDQ_DEPTH * ERDMA_WQEBB_SIZE);
	fake_answer_all(f);
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, q->quarantined, 0);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_BAD_CQES), 0ULL);
}

static void event_without_completion_keeps_queue_armed(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

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
	u64 armed;
	int i;

	erdma_cmdq_start_events(queue_of(test));
	armed = stat(f, ERDMA_STAT_CMDQ_ARMS);
	for (i = 0; i < 300; i++) {
		fake_event(f);
		fake_settle(f);
	}
	armed = stat(f, ERDMA_STAT_CMDQ_ARMS) - armed;
	KUNIT_EXPECT_GT(test, armed, 1ULL);
	KUNIT_EXPECT_LT(test, armed, 100ULL);
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), 0);
}

static void kill_wakes_waiters_at_once(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	unsigned long end = jiffies + 5 * msecs_to_jiffies(FAKE_TIMEOUT_MS);
	struct crowd c;

	f->hold = true;
	erdma_cmdq_start_events(queue_of(test));
	crowd_start(test, &c, ERDMA_CMDQ_SLOTS + 5);
	KUNIT_EXPECT_TRUE(test, comes_true(all_slots_taken, f));
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
	KUNIT_EXPECT_TRUE(test, comes_true(all_slots_taken, f));
	erdma_cmdq_kill(queue_of(test));
	fake_answer_all(f);
	fake_settle(f);
	crowd_wait(&c, -ENODEV);
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, NULL), -ENODEV);
}

static struct kunit_case cmdq_cases[] = {
	KUNIT_CASE(polled_command_succeeds),
	KUNIT_CASE(interrupted_command_succeeds),
	KUNIT_CASE(first_arm_carries_true_ci),
	KUNIT_CASE(every_event_advances_cmdsn),
	KUNIT_CASE(record_holds_last_doorbell),
	KUNIT_CASE(response_words_are_returned),
	KUNIT_CASE(syndrome_becomes_eio),
	KUNIT_CASE(failure_leaves_queue_usable),
	KUNIT_CASE(slot_is_header_body_zeros),
	KUNIT_CASE(largest_request_fills_the_slot),
	KUNIT_CASE(rings_are_written_to_the_registers),
	KUNIT_CASE(ring_wraps_in_poll_mode),
	KUNIT_CASE(rings_wrap_with_interrupts),
	KUNIT_CASE(sq_index_survives_16_bit_wrap),
	KUNIT_CASE(wrapped_sq_index_is_understood),
	KUNIT_CASE(slots_are_all_usable_at_once),
	KUNIT_CASE(without_credit_command_times_out),
	KUNIT_CASE(timeout_quarantines_slot),
	KUNIT_CASE(timeout_quarantines_slot_when_polling),
	KUNIT_CASE(late_answer_frees_slot),
	KUNIT_CASE(late_answer_is_not_mixed_up),
	KUNIT_CASE(short_timeouts_do_not_kill_queue),
	KUNIT_CASE(full_timeouts_in_a_row_kill_queue),
	KUNIT_CASE(registers_of_ones_kill_queue),
	KUNIT_CASE(empty_slot_kills_queue),
	KUNIT_CASE(one_dropped_query_does_not_kill_queue),
	KUNIT_CASE(lost_interrupt_is_found),
	KUNIT_CASE(interrupts_work_again_after_a_lost_one),
	KUNIT_CASE_PARAM(bad_index_is_refused, bad_cqe_gen_params),
	KUNIT_CASE(double_answer_is_refused),
	KUNIT_CASE(wrong_owner_bit_is_not_an_answer),
	KUNIT_CASE(context_in_ring_memory_is_not_trusted),
	KUNIT_CASE(event_without_completion_keeps_queue_armed),
	KUNIT_CASE(events_without_completions_do_not_go_on_for_ever),
	KUNIT_CASE(kill_wakes_waiters_at_once),
	KUNIT_CASE(dead_queue_refuses_commands),
	KUNIT_CASE(answer_after_kill_is_harmless),
	{}
};

struct kunit_suite erdma_cmdq_suite = {
	.name = "erdma_cmdq",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = cmdq_cases,
};
