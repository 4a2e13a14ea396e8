// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Command transport against a fake device, as long as all goes well: erdma_cmdq.c */
#include "cmdq_setup.h"
#include "erdma/erdma_field.h"
#include "suites.h"

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

	f->late = true;
	erdma_cmdq_start_events(queue_of(test));
	KUNIT_EXPECT_EQ(test, queue_of(test)->state, ERDMA_DIAG_CMDQ_RUN);
	KUNIT_EXPECT_EQ(test, fake_exec(f, ERDMA_CMD_QUERY_DEVICE, NULL), 0);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_LOST_IRQS), 0ULL);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_EVENTS), 1ULL);
}

/* Nobody waits, so nobody needs an event: the CQ is not armed again */
static void command_answered_at_once_needs_no_event(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	u32 arms;
	int i;

	erdma_cmdq_start_events(queue_of(test));
	KUNIT_ASSERT_EQ(test, fake_exec(f, 0, NULL), 0);
	fake_settle(f);
	arms = f->arms;
	for (i = 0; i < 2 * ERDMA_CMDQ_SLOTS; i++)
		KUNIT_ASSERT_EQ(test, fake_exec(f, 0, NULL), 0);
	fake_settle(f);
	KUNIT_EXPECT_EQ(test, f->arms, arms);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_EVENTS), 1ULL);
	KUNIT_EXPECT_EQ(test, queue_of(test)->in_flight, 0);
	KUNIT_EXPECT_EQ(test, queue_of(test)->credits.count, (unsigned int)ERDMA_CMDQ_SLOTS);
}

static void refusal_at_once_is_one(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_cmd_result res;

	f->default_answer.syndrome = ERDMA_CMD_EINVAL;
	erdma_cmdq_start_events(queue_of(test));
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, &res), -EIO);
	KUNIT_EXPECT_EQ(test, res.syndrome, ERDMA_CMD_EINVAL);
	KUNIT_EXPECT_EQ(test, res.outcome, ERDMA_CMD_ANSWERED);
	KUNIT_EXPECT_EQ(test, queue_of(test)->credits.count, (unsigned int)ERDMA_CMDQ_SLOTS);
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

	f->late = true;
	erdma_cmdq_start_events(queue_of(test));
	/* Each command finds the CQ as the event before left it, and arms it */
	for (i = 0; i < 6; i++) {
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

	f->late = true;
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

static void slots_are_all_usable_at_once(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct crowd c;

	f->hold = true;
	erdma_cmdq_start_events(queue_of(test));
	crowd_start(test, &c, ERDMA_CMDQ_SLOTS + 10);
	KUNIT_EXPECT_TRUE(test, cmdq_gets_in_flight(f, ERDMA_CMDQ_SLOTS));
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
	KUNIT_EXPECT_TRUE(test, cmdq_gets_in_flight(f, ERDMA_CMDQ_SLOTS));
	KUNIT_EXPECT_EQ(test, fake_exec_short(f), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, f->total, ERDMA_CMDQ_SLOTS);
	KUNIT_EXPECT_EQ(test, queue_of(test)->quarantined, 0);
	fake_answer_all(f);
	KUNIT_EXPECT_EQ(test, crowd_wait(&c, 0), ERDMA_CMDQ_SLOTS);
	KUNIT_EXPECT_EQ(test, queue_of(test)->credits.count, (unsigned int)ERDMA_CMDQ_SLOTS);
}

static struct kunit_case cmdq_cases[] = {
	KUNIT_CASE(polled_command_succeeds),
	KUNIT_CASE(interrupted_command_succeeds),
	KUNIT_CASE(command_answered_at_once_needs_no_event),
	KUNIT_CASE(refusal_at_once_is_one),
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
	{}
};

struct kunit_suite erdma_cmdq_suite = {
	.name = "erdma_cmdq",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = cmdq_cases,
};
