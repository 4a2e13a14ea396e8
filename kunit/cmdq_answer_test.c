// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* What an answer to a command is, and whose: erdma_cmdq.c */
#include "cmdq_setup.h"
#include "erdma/erdma_field.h"
#include "suites.h"

/* ---- the outcome ---------------------------------------------------------- */

static void answered_whatever_the_status(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_cmd_result res;

	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, &res), 0);
	KUNIT_EXPECT_EQ(test, res.outcome, ERDMA_CMD_ANSWERED);
	f->default_answer.syndrome = ERDMA_CMD_EINVAL;
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, &res), -EIO);
	KUNIT_EXPECT_EQ(test, res.outcome, ERDMA_CMD_ANSWERED);
	KUNIT_EXPECT_FALSE(test, erdma_cmd_may_still_run(res.outcome));
}

static void unanswered_when_the_time_is_over(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_cmd_result res;

	f->hold = true;
	KUNIT_EXPECT_EQ(test, fake_exec_for(f, &res, FAKE_SHORT_MS), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, res.outcome, ERDMA_CMD_UNANSWERED);
	KUNIT_EXPECT_TRUE(test, erdma_cmd_may_still_run(res.outcome));
}

static void not_sent_to_a_dead_queue(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_cmd_result res;

	erdma_cmdq_kill(queue_of(test));
	KUNIT_EXPECT_EQ(test, fake_exec(f, 0, &res), -ENODEV);
	KUNIT_EXPECT_EQ(test, res.outcome, ERDMA_CMD_NOT_SENT);
	KUNIT_EXPECT_FALSE(test, erdma_cmd_may_still_run(res.outcome));
	KUNIT_EXPECT_EQ(test, f->total, 0);
}

/* -ENODEV as well, but these the device has */
static void unanswered_when_the_queue_dies(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct crowd c;
	int i;

	f->hold = true;
	erdma_cmdq_start_events(queue_of(test));
	crowd_start(test, &c, 5);
	KUNIT_EXPECT_TRUE(test, cmdq_gets_in_flight(f, 5));
	erdma_cmdq_kill(queue_of(test));
	KUNIT_EXPECT_EQ(test, crowd_wait(&c, -ENODEV), 5);
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, c.workers[i].res.outcome, ERDMA_CMD_UNANSWERED);
}

/* -ETIMEDOUT as well, but this one the device never saw */
static void not_sent_without_a_free_context(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_cmd_result res;
	struct crowd c;

	f->hold = true;
	erdma_cmdq_start_events(queue_of(test));
	crowd_start(test, &c, ERDMA_CMDQ_SLOTS);
	KUNIT_EXPECT_TRUE(test, cmdq_gets_in_flight(f, ERDMA_CMDQ_SLOTS));
	KUNIT_EXPECT_EQ(test, fake_exec_for(f, &res, FAKE_SHORT_MS), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, res.outcome, ERDMA_CMD_NOT_SENT);
	fake_answer_all(f);
	KUNIT_EXPECT_EQ(test, crowd_wait(&c, 0), ERDMA_CMDQ_SLOTS);
}

/* ---- which answer is whose ------------------------------------------------ */

struct wrong_cqe {
	const char *name;
	u32 wrong;
};

static void wrong_cqe_desc(const struct wrong_cqe *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

static const struct wrong_cqe wrong_cqes[] = {
	{ "other_opcode", ERDMA_PREP(ERDMA_CQE_OPCODE, 1) },
	{ "opcode_zero", ERDMA_PREP(ERDMA_CQE_OPCODE, ERDMA_CMD_DESTROY_CQ) },
	{ "send_queue", ERDMA_PREP(ERDMA_CQE_QTYPE, ERDMA_CQE_QTYPE_CMDQ) },
	{ "unknown_kind", ERDMA_PREP(ERDMA_CQE_QTYPE, 0xff) },
};

KUNIT_ARRAY_PARAM(wrong_cqe, wrong_cqes, wrong_cqe_desc);

/* An answer of another opcode or kind at the position of a command: not its own */
static void answer_must_fit_the_command(struct kunit *test)
{
	const struct wrong_cqe *c = test->param_value;
	const struct fake_answer foreign = { .wrong = c->wrong, .resp = { 0xbad } };
	struct fake_dev *f = fake_of(test);
	struct crowd crowd;

	erdma_cmdq_start_events(queue_of(test));
	f->hold = true;
	f->default_answer.resp[0] = 0x600d;
	crowd_start(test, &crowd, 1);
	KUNIT_EXPECT_TRUE(test, cmdq_gets_in_flight(f, 1));
	fake_answer_cmd(f, 0, &foreign);
	fake_settle(f);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_BAD_CQES), 1ULL);
	KUNIT_EXPECT_EQ(test, queue_of(test)->in_flight, 1);
	fake_answer_cmd(f, 0, NULL);
	KUNIT_EXPECT_EQ(test, crowd_wait(&crowd, 0), 1);
	KUNIT_EXPECT_EQ(test, crowd.workers[0].res.resp[0], 0x600dULL);
}

static void answer_without_echo(struct fake_dev *f, const struct fake_cmd *cmd,
				struct fake_answer *a)
{
	u64 hdr = le64_to_cpup((__le64 *)cmd->slot);

	a->wrong = FIELD_PREP(ERDMA_CQE_OPCODE, FIELD_GET(ERDMA_CMD_HDR_OPCODE, hdr)) |
		   FIELD_PREP(ERDMA_CQE_QTYPE, ERDMA_CQE_QTYPE_CMDQ);
}

/* Nothing ever depended on these fields: a device may not fill them in */
static void device_that_echoes_nothing_is_understood(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	int i;

	f->answer = answer_without_echo;
	KUNIT_EXPECT_EQ(test, fake_exec(f, ERDMA_CMD_DESTROY_CQ, NULL), 0);
	erdma_cmdq_start_events(queue_of(test));
	for (i = 0; i < 10; i++)
		KUNIT_ASSERT_EQ(test, fake_exec(f, i, NULL), 0);
	KUNIT_EXPECT_EQ(test, stat(f, ERDMA_STAT_CMDQ_BAD_CQES), 0ULL);
}

static void late_answer_frees_context(struct kunit *test)
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

static struct kunit_case cmdq_answer_cases[] = {
	KUNIT_CASE(answered_whatever_the_status),
	KUNIT_CASE(unanswered_when_the_time_is_over),
	KUNIT_CASE(not_sent_to_a_dead_queue),
	KUNIT_CASE(unanswered_when_the_queue_dies),
	KUNIT_CASE(not_sent_without_a_free_context),
	KUNIT_CASE_PARAM(answer_must_fit_the_command, wrong_cqe_gen_params),
	KUNIT_CASE(device_that_echoes_nothing_is_understood),
	KUNIT_CASE(late_answer_frees_context),
	KUNIT_CASE(late_answer_is_not_mixed_up),
	KUNIT_CASE_PARAM(bad_index_is_refused, bad_cqe_gen_params),
	KUNIT_CASE(double_answer_is_refused),
	KUNIT_CASE(wrong_owner_bit_is_not_an_answer),
	KUNIT_CASE(context_in_ring_memory_is_not_trusted),
	{}
};

struct kunit_suite erdma_cmdq_answer_suite = {
	.name = "erdma_cmdq_answer",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = cmdq_answer_cases,
};
