// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Recorders (erdma_rec*.c) and ERDMA_DIAG_LOG (erdma_diag_log.c) */
#include <linux/delay.h>
#include <linux/kthread.h>

#include "diag_setup.h"
#include "erdma_rec_int.h"
#include "suites.h"

#define CMD_DEPTH	256
#define N_WRITERS	8
#define N_WRITES	2000

static int rec_test_init(struct kunit *test)
{
	int ret = diag_setup_init(test);
	struct erdma_dev *dev;

	if (ret)
		return ret;
	dev = setup_of(test)->f->dev;
	dev->rec = erdma_rec_create();
	return dev->rec ? 0 : -ENOMEM;
}

static void rec_test_exit(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	if (f && f->dev) {
		erdma_rec_put(f->dev->rec);
		f->dev->rec = NULL;
	}
	diag_setup_exit(test);
}

static struct erdma_rec *rec_of(struct kunit *test)
{
	return setup_of(test)->f->dev->rec;
}

/* A command that took @us microseconds and was answered with @syndrome */
static void record(struct erdma_rec *rec, u32 object, u8 syndrome, u64 us)
{
	struct erdma_cmd_result res = {
		.outcome = ERDMA_CMD_ANSWERED,
		.syndrome = syndrome,
		.submit_ns = 1000000,
		.answer_ns = 1000000 + us * NSEC_PER_USEC,
	};

	erdma_rec_cmd(rec, ERDMA_SUBMOD_RDMA, ERDMA_CMD_CREATE_QP, object,
		      NULL, syndrome ? -EIO : 0, &res);
}

static void record_unanswered(struct erdma_rec *rec, u32 object)
{
	struct erdma_cmd_result res = {
		.outcome = ERDMA_CMD_UNANSWERED,
		.submit_ns = 1000000,
	};

	erdma_rec_cmd(rec, ERDMA_SUBMOD_RDMA, ERDMA_CMD_CREATE_QP, object, NULL, -ETIMEDOUT,
		      &res);
}

/* A region of the kernel was deregistered */
static void record_key(struct erdma_rec *rec, u32 stag)
{
	const struct erdma_rec_key key = { .stag = stag, .pdn = 5, .type = ERDMA_MR_FRMR };
	const struct erdma_cmd_result res = { .outcome = ERDMA_CMD_ANSWERED, .answer_ns = 77 };

	erdma_rec_cmd(rec, ERDMA_SUBMOD_RDMA, ERDMA_CMD_DEREG_MR,
		      FIELD_GET(ERDMA_STAG_INDEX, stag), &key, -EIO, &res);
}

/* ---- rings -------------------------------------------------------------- */

static void empty_recorder_has_nothing(struct kunit *test)
{
	struct erdma_rec_found found;
	u32 kind;

	for (kind = 1; kind < ERDMA_DIAG_LOG_COUNT; kind++) {
		KUNIT_EXPECT_FALSE(test, erdma_rec_find(rec_of(test), kind, 0, &found));
		KUNIT_EXPECT_EQ(test, found.lost, 0ULL);
		KUNIT_EXPECT_NE(test, erdma_rec_entry_size(kind), 0U);
	}
	KUNIT_EXPECT_EQ(test, erdma_rec_entry_size(0), 0U);
	KUNIT_EXPECT_EQ(test, erdma_rec_entry_size(ERDMA_DIAG_LOG_COUNT), 0U);
	KUNIT_EXPECT_EQ(test, erdma_rec_entry_size(U32_MAX), 0U);
}

static void no_recorder_is_no_crash(struct kunit *test)
{
	erdma_rec_put(setup_of(test)->f->dev->rec);
	setup_of(test)->f->dev->rec = NULL;
	record(NULL, 1, 0, 1);
	erdma_rec_fail(NULL, ERDMA_DIAG_VERB_REG_MR, 0, -EIO);
	record_key(NULL, 1);
	erdma_rec_link(NULL, ERDMA_DIAG_LINK_UP, 1500, 0);
	erdma_rec_reset(NULL, ERDMA_DIAG_RESET_LOST, "of a test", 0);
	erdma_rec_event(setup_of(test)->f->dev, ERDMA_AE_QP_FATAL, 0, 1, 0);
	KUNIT_EXPECT_PTR_EQ(test, erdma_rec_get(NULL), (struct erdma_rec *)NULL);
}

static void recorders_that_are_off_record_nothing(struct kunit *test)
{
	struct erdma_rec *rec = rec_of(test);
	struct erdma_rec_found found;
	u32 kind;

	erdma_rec_enabled = false;
	record(rec, 1, 22, 1);
	erdma_rec_fail(rec, ERDMA_DIAG_VERB_REG_MR, 0, -EIO);
	record_key(rec, 1);
	erdma_rec_link(rec, ERDMA_DIAG_LINK_UP, 1500, 0);
	erdma_rec_reset(rec, ERDMA_DIAG_RESET_RECOVERED, "of a test", 0);
	erdma_rec_event(setup_of(test)->f->dev, ERDMA_AE_QP_FATAL, 0, 1, 0);
	erdma_rec_enabled = true;
	for (kind = 1; kind < ERDMA_DIAG_LOG_COUNT; kind++)
		KUNIT_EXPECT_FALSE_MSG(test, erdma_rec_find(rec, kind, 0, &found), "kind %u", kind);
	/* What the driver does by it goes on */
	KUNIT_EXPECT_EQ(test, rec->generation, 1U);
}

static void entry_says_what_and_who(struct kunit *test)
{
	struct erdma_rec_found found;

	record(rec_of(test), 77, 22, 5);
	KUNIT_ASSERT_TRUE(test, erdma_rec_find(rec_of(test), ERDMA_DIAG_LOG_CMD, 0, &found));
	KUNIT_EXPECT_EQ(test, found.seq, 0ULL);
	KUNIT_EXPECT_EQ(test, found.entry.head.seq, 0ULL);
	KUNIT_EXPECT_EQ(test, found.entry.cmd.object, 77U);
	KUNIT_EXPECT_EQ(test, found.entry.cmd.opcode, (u32)ERDMA_CMD_CREATE_QP);
	KUNIT_EXPECT_EQ(test, found.entry.cmd.syndrome, 22U);
	KUNIT_EXPECT_EQ(test, found.entry.cmd.err, (u32)EIO);
	KUNIT_EXPECT_EQ(test, found.entry.cmd.outcome, (u32)ERDMA_DIAG_CMD_ANSWERED);
	KUNIT_EXPECT_EQ(test, found.entry.cmd.answer_ns - found.entry.cmd.submit_ns, 5000ULL);
	KUNIT_EXPECT_EQ(test, found.owner.tid, task_pid_nr(current));
	KUNIT_EXPECT_STREQ(test, (char *)found.entry.head.owner.comm, current->comm);
}

static void full_ring_loses_the_oldest_and_says_so(struct kunit *test)
{
	struct erdma_rec_found found;
	u64 seq = 0;
	u32 i;

	for (i = 0; i < CMD_DEPTH + 10; i++)
		record(rec_of(test), i, 0, 1);
	KUNIT_ASSERT_TRUE(test, erdma_rec_find(rec_of(test), ERDMA_DIAG_LOG_CMD, 3, &found));
	KUNIT_EXPECT_EQ(test, found.seq, 10ULL);
	KUNIT_EXPECT_EQ(test, found.lost, 7ULL);

	for (i = 0; erdma_rec_find(rec_of(test), ERDMA_DIAG_LOG_CMD, seq, &found); i++) {
		KUNIT_EXPECT_EQ(test, found.seq, 10ULL + i);
		KUNIT_EXPECT_EQ(test, found.entry.cmd.object, 10 + i);
		KUNIT_EXPECT_EQ(test, found.lost, i ? 0ULL : 10ULL);
		seq = found.seq + 1;
	}
	KUNIT_EXPECT_EQ(test, i, (u32)CMD_DEPTH);
	KUNIT_EXPECT_EQ(test, found.seq, CMD_DEPTH + 10ULL);
	KUNIT_EXPECT_EQ(test, erdma_rec_end(rec_of(test), ERDMA_DIAG_LOG_CMD), CMD_DEPTH + 10ULL);
}

/* ---- commands ----------------------------------------------------------- */

static void first_failures_outlive_later_commands(struct kunit *test)
{
	struct erdma_rec_found found;
	u64 seq = 0;
	u32 i, n = 0, objects[2] = {};

	for (i = 0; i < 40; i++)
		record(rec_of(test), i, 0, 1);
	record(rec_of(test), 1000, 5, 1);
	for (i = 0; i < 2 * CMD_DEPTH; i++)
		record(rec_of(test), i, i % 7 ? 0 : 5, 1);
	record_unanswered(rec_of(test), 2000);
	for (i = 0; i < 2 * CMD_DEPTH; i++)
		record(rec_of(test), i, 0, 1);

	while (erdma_rec_find(rec_of(test), ERDMA_DIAG_LOG_CMD_FIRST, seq, &found)) {
		KUNIT_EXPECT_EQ(test, found.lost, 0ULL);
		seq = found.seq + 1;
		if (++n % ERDMA_REC_FREEZE == 0 && n <= 2 * ERDMA_REC_FREEZE)
			objects[n / ERDMA_REC_FREEZE - 1] = found.entry.cmd.object;
		if (n == 1) {
			KUNIT_EXPECT_EQ(test, found.entry.cmd.object, 41U - ERDMA_REC_FREEZE);
			KUNIT_EXPECT_EQ(test, found.entry.cmd.cmd_seq, 41ULL - ERDMA_REC_FREEZE);
		}
	}
	KUNIT_EXPECT_EQ(test, n, 2U * ERDMA_REC_FREEZE);
	KUNIT_EXPECT_EQ(test, objects[0], 1000U);
	KUNIT_EXPECT_EQ(test, objects[1], 2000U);
}

/* Who may ask may give the device one millisecond: that is not what led to a failure */
static void query_in_a_hurry_is_no_first_failure(struct kunit *test)
{
	struct fake_dev *f = setup_of(test)->f;
	struct erdma_debug *dbg = &f->dev->dbg;
	struct erdma_rec *rec = rec_of(test);
	struct erdma_resp_qpc qpc;
	u8 syndrome;

	f->hold = true;
	KUNIT_EXPECT_EQ(test, erdma_exec_query(f->dev, ERDMA_SUBMOD_RDMA, ERDMA_CMD_QUERY_QPC, 1,
					       &qpc, sizeof(qpc), &syndrome, FAKE_SHORT_MS),
			-ETIMEDOUT);
	KUNIT_EXPECT_NE(test, erdma_rec_end(rec, ERDMA_DIAG_LOG_CMD), 0ULL);
	KUNIT_EXPECT_EQ(test, erdma_rec_end(rec, ERDMA_DIAG_LOG_CMD_FIRST), 0ULL);
	KUNIT_EXPECT_EQ(test, atomic64_read(&dbg->printed), 0LL);

	/* With the time that is usual for it, it is */
	KUNIT_EXPECT_EQ(test, erdma_exec_query(f->dev, ERDMA_SUBMOD_RDMA, ERDMA_CMD_QUERY_QPC, 1,
					       &qpc, sizeof(qpc), &syndrome, 0), -ETIMEDOUT);
	KUNIT_EXPECT_NE(test, erdma_rec_end(rec, ERDMA_DIAG_LOG_CMD_FIRST), 0ULL);
	KUNIT_EXPECT_EQ(test, atomic64_read(&dbg->printed), 1LL);
}

static void key_is_recorded_with_its_command(struct kunit *test)
{
	const struct erdma_diag_log_key *key;
	struct erdma_rec_found found;

	record(rec_of(test), 0x13, 0, 1);
	KUNIT_EXPECT_FALSE(test, erdma_rec_find(rec_of(test), ERDMA_DIAG_LOG_KEY, 0, &found));
	record_key(rec_of(test), 0x1334);
	KUNIT_ASSERT_TRUE(test, erdma_rec_find(rec_of(test), ERDMA_DIAG_LOG_KEY, 0, &found));
	key = &found.entry.key;
	KUNIT_EXPECT_EQ(test, key->head.seq, 0ULL);
	KUNIT_EXPECT_EQ(test, key->head.time_ns, 77ULL);
	KUNIT_EXPECT_EQ(test, key->stag, 0x1334U);
	KUNIT_EXPECT_EQ(test, key->index, 0x13U);
	KUNIT_EXPECT_EQ(test, key->pdn, 5U);
	KUNIT_EXPECT_EQ(test, key->type, (u32)ERDMA_MR_FRMR);
	KUNIT_EXPECT_EQ(test, key->err, (u32)EIO);
	KUNIT_EXPECT_EQ(test, found.owner.tid, task_pid_nr(current));
	KUNIT_EXPECT_STREQ(test, (char *)key->head.owner.comm, current->comm);
	KUNIT_ASSERT_TRUE(test, erdma_rec_find(rec_of(test), ERDMA_DIAG_LOG_CMD, 1, &found));
	KUNIT_EXPECT_EQ(test, found.entry.cmd.opcode, (u32)ERDMA_CMD_DEREG_MR);
	KUNIT_EXPECT_EQ(test, found.entry.cmd.object, 0x13U);
}

static void times_are_counted_by_opcode(struct kunit *test)
{
	static const u64 us[] = { 0, 1, 3, 4, 1000, ~0ULL >> 20 };
	static const u32 bucket[] = { 0, 1, 2, 3, 10, ERDMA_DIAG_LOG_BUCKETS - 1 };
	const struct erdma_diag_log_cmd_time *row;
	struct erdma_rec_found found;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(us); i++)
		record(rec_of(test), 1, i == 2 ? 5 : 0, us[i]);
	record_unanswered(rec_of(test), 1);
	KUNIT_ASSERT_TRUE(test, erdma_rec_find(rec_of(test), ERDMA_DIAG_LOG_CMD_TIME, 0, &found));
	row = &found.entry.cmd_time;
	KUNIT_EXPECT_EQ(test, found.lost, 0ULL);
	KUNIT_EXPECT_EQ(test, row->opcode, (u32)ERDMA_CMD_CREATE_QP);
	KUNIT_EXPECT_EQ(test, row->count, (u64)ARRAY_SIZE(us));
	KUNIT_EXPECT_EQ(test, row->failed, 1ULL);
	KUNIT_EXPECT_EQ(test, row->max_ns, us[5] * NSEC_PER_USEC);
	for (i = 0; i < ARRAY_SIZE(bucket); i++)
		KUNIT_EXPECT_EQ(test, row->bucket[bucket[i]], 1U);
	KUNIT_EXPECT_FALSE(test, erdma_rec_find(rec_of(test), ERDMA_DIAG_LOG_CMD_TIME,
						found.seq + 1, &found));
}

/* ---- failures of verbs -------------------------------------------------- */

static void failure_names_the_command_that_failed(struct kunit *test)
{
	const struct erdma_diag_log_fail *fail;
	struct erdma_rec_found found;

	record(rec_of(test), 9, 12, 1);
	record(rec_of(test), 9, 0, 1);
	erdma_rec_fail(rec_of(test), ERDMA_DIAG_VERB_REG_MR, 9, -EIO);
	KUNIT_ASSERT_TRUE(test, erdma_rec_find(rec_of(test), ERDMA_DIAG_LOG_FAIL, 0, &found));
	fail = &found.entry.fail;
	KUNIT_EXPECT_EQ(test, fail->err, (u32)EIO);
	KUNIT_EXPECT_EQ(test, fail->cmd, 1U);
	KUNIT_EXPECT_EQ(test, fail->opcode, (u32)ERDMA_CMD_CREATE_QP);
	KUNIT_EXPECT_EQ(test, fail->syndrome, 12U);

	/* An errno that no command gives is not put down to one */
	erdma_rec_fail(rec_of(test), ERDMA_DIAG_VERB_MMAP, 0, -EINVAL);
	KUNIT_ASSERT_TRUE(test, erdma_rec_find(rec_of(test), ERDMA_DIAG_LOG_FAIL, 1, &found));
	KUNIT_EXPECT_EQ(test, found.entry.fail.cmd, 0U);
}

/* A call that the driver refused is not put down to the command of a call of before */
static void failure_names_no_command_of_another_verb(struct kunit *test)
{
	struct erdma_rec_found found;
	u32 i;

	record(rec_of(test), 9, 12, 1);
	for (i = 0; i < 8; i++)
		record(rec_of(test), 9, 0, 1);
	erdma_rec_fail(rec_of(test), ERDMA_DIAG_VERB_REG_MR, 9, -EIO);
	KUNIT_ASSERT_TRUE(test, erdma_rec_find(rec_of(test), ERDMA_DIAG_LOG_FAIL, 0, &found));
	KUNIT_EXPECT_EQ(test, found.entry.fail.cmd, 0U);
	KUNIT_EXPECT_EQ(test, found.entry.fail.syndrome, 0U);
}

static void failure_replaces_that_of_the_same_verb(struct kunit *test)
{
	struct erdma_rec_found found;
	u32 i;

	erdma_rec_fail(rec_of(test), ERDMA_DIAG_VERB_REG_MR, 0, -ENOMEM);
	for (i = 0; i < 200; i++)
		erdma_rec_fail(rec_of(test), ERDMA_DIAG_VERB_CREATE_QP, i, -EINVAL);
	KUNIT_ASSERT_TRUE(test, erdma_rec_find(rec_of(test), ERDMA_DIAG_LOG_FAIL, 0, &found));
	KUNIT_EXPECT_EQ(test, found.entry.fail.verb, (u32)ERDMA_DIAG_VERB_REG_MR);
	KUNIT_EXPECT_EQ(test, found.entry.fail.count, 1U);
	KUNIT_ASSERT_TRUE(test, erdma_rec_find(rec_of(test), ERDMA_DIAG_LOG_FAIL, 1, &found));
	KUNIT_EXPECT_EQ(test, found.entry.fail.verb, (u32)ERDMA_DIAG_VERB_CREATE_QP);
	KUNIT_EXPECT_EQ(test, found.entry.fail.object, 199U);
	KUNIT_EXPECT_EQ(test, found.entry.fail.count, 200U);
	KUNIT_EXPECT_EQ(test, found.lost, 199ULL);
	KUNIT_EXPECT_FALSE(test, erdma_rec_find(rec_of(test), ERDMA_DIAG_LOG_FAIL,
						found.seq + 1, &found));
}

/* ---- the others --------------------------------------------------------- */

static void event_has_the_owner_of_its_object(struct kunit *test)
{
	struct diag_setup *s = setup_of(test);
	struct erdma_rec_found found;

	s->qp[0]->maker = (struct erdma_rec_owner){ .uid = KUIDT_INIT(1234), .pid = 4321,
						    .comm = "maker" };
	erdma_rec_event(s->f->dev, ERDMA_AE_QP_FATAL, 3, diag_qpns[0], 5);
	erdma_rec_event(s->f->dev, ERDMA_AE_CQ_ERR, 0, 500, 0);
	KUNIT_ASSERT_TRUE(test, erdma_rec_find(rec_of(test), ERDMA_DIAG_LOG_EVENT, 0, &found));
	KUNIT_EXPECT_EQ(test, found.entry.head.owner.pid, 4321U);
	KUNIT_EXPECT_STREQ(test, (char *)found.entry.head.owner.comm, "maker");
	KUNIT_EXPECT_EQ(test, found.entry.event.known, 1U);
	KUNIT_EXPECT_EQ(test, found.entry.event.subtype, 3U);
	KUNIT_EXPECT_EQ(test, found.entry.event.data, 5U);
	KUNIT_ASSERT_TRUE(test, erdma_rec_find(rec_of(test), ERDMA_DIAG_LOG_EVENT, 1, &found));
	KUNIT_EXPECT_EQ(test, found.entry.event.known, 0U);
	KUNIT_EXPECT_EQ(test, found.entry.event.obj, (u32)ERDMA_DIAG_OBJ_CQ);
	KUNIT_EXPECT_EQ(test, found.entry.head.owner.kernel, 1U);
	diag_expect_no_reference_left(test);
}

static void recovery_begins_a_generation(struct kunit *test)
{
	static const u32 generations[] = { 0, 0, 1 };
	struct erdma_rec_found found;
	u32 i;

	erdma_rec_reset(rec_of(test), ERDMA_DIAG_RESET_LOST, "of a test", 0);
	erdma_rec_reset(rec_of(test), ERDMA_DIAG_RESET_RECOVERED, "of a test", 0);
	erdma_rec_reset(rec_of(test), ERDMA_DIAG_RESET_FAILED, "of a test", -ENXIO);
	for (i = 0; i < ARRAY_SIZE(generations); i++) {
		KUNIT_ASSERT_TRUE(test, erdma_rec_find(rec_of(test), ERDMA_DIAG_LOG_RESET, i,
						       &found));
		KUNIT_EXPECT_EQ(test, found.entry.reset.generation, generations[i]);
		KUNIT_EXPECT_STREQ(test, (char *)found.entry.reset.reason, "of a test");
	}
	KUNIT_EXPECT_EQ(test, found.entry.reset.err, (u32)ENXIO);
}

static void debug_message_is_cut_and_loses_its_newline(struct kunit *test)
{
	struct erdma_dev *dev = setup_of(test)->f->dev;
	struct erdma_rec_found found;

	erdma_dbg(dev, QP, DBG, "not enabled\n");
	erdma_dbg(dev, QP, ERR, "of a test, number %d\n", 5);
	erdma_dbg(dev, QP, ERR, "of a test, long: %0200d\n", 5);
	KUNIT_ASSERT_TRUE(test, erdma_rec_find(rec_of(test), ERDMA_DIAG_LOG_DEBUG, 0, &found));
	KUNIT_EXPECT_STREQ(test, (char *)found.entry.debug.text, "of a test, number 5");
	KUNIT_EXPECT_EQ(test, found.entry.debug.category, (u32)ERDMA_DIAG_CAT_QP);
	KUNIT_ASSERT_TRUE(test, erdma_rec_find(rec_of(test), ERDMA_DIAG_LOG_DEBUG, 1, &found));
	KUNIT_EXPECT_EQ(test, strnlen(found.entry.debug.text, ERDMA_DIAG_LOG_TEXT_LEN),
			(size_t)ERDMA_DIAG_LOG_TEXT_LEN - 1);
	KUNIT_EXPECT_FALSE(test, erdma_rec_find(rec_of(test), ERDMA_DIAG_LOG_DEBUG, 2, &found));
}

struct writers {
	struct erdma_rec *rec;
	atomic_t left;
};

static int write_many(void *arg)
{
	struct writers *w = arg;
	u32 i;

	for (i = 0; i < N_WRITES; i++)
		record(w->rec, i, 0, i);
	atomic_dec(&w->left);
	return 0;
}

static void writers_at_once_lose_nothing(struct kunit *test)
{
	struct writers w = { .rec = rec_of(test), .left = ATOMIC_INIT(N_WRITERS) };
	struct erdma_rec_found found;
	u64 seq = 0, read = 0, lost = 0;
	int i;

	for (i = 0; i < N_WRITERS; i++)
		KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(write_many, &w, "rec-writer")));
	while (atomic_read(&w.left) || erdma_rec_end(w.rec, ERDMA_DIAG_LOG_CMD) > seq) {
		if (!erdma_rec_find(w.rec, ERDMA_DIAG_LOG_CMD, seq, &found)) {
			cond_resched();
			continue;
		}
		KUNIT_EXPECT_EQ(test, found.entry.head.seq, found.seq);
		KUNIT_EXPECT_EQ(test, found.entry.cmd.answer_ns - found.entry.cmd.submit_ns,
				(u64)found.entry.cmd.object * NSEC_PER_USEC);
		KUNIT_EXPECT_STREQ(test, (char *)found.entry.head.owner.comm, "rec-writer");
		lost += found.lost;
		read++;
		seq = found.seq + 1;
	}
	KUNIT_EXPECT_EQ(test, read + lost, (u64)N_WRITERS * N_WRITES);
	KUNIT_ASSERT_TRUE(test, erdma_rec_find(w.rec, ERDMA_DIAG_LOG_CMD_TIME, 0, &found));
	KUNIT_EXPECT_EQ(test, found.entry.cmd_time.count, (u64)N_WRITERS * N_WRITES);
}

/* ---- ERDMA_DIAG_LOG ----------------------------------------------------- */

static int call_log(struct kunit *test, struct erdma_diag_log *arg)
{
	struct diag_setup *s = setup_of(test);

	s->req.arg = arg;
	s->req.cursor = 0;
	s->req.ident = 0;
	s->req.chunk_len = 0;
	s->req.copied = 0;
	return erdma_diag_handle_log(s->f->dev, &s->req);
}

static void log_continues_where_it_stopped(struct kunit *test)
{
	const u32 len = sizeof(struct erdma_diag_rec) + sizeof(struct erdma_diag_log_cmd);
	struct erdma_diag_log arg = { .kind = ERDMA_DIAG_LOG_CMD };
	struct diag_setup *s = setup_of(test);
	const struct erdma_diag_rec *rec = (void *)s->req.chunk;
	u32 i;

	for (i = 0; i < CMD_DEPTH + 4; i++)
		record(rec_of(test), i, 0, 1);
	s->req.buf_len = 10 * len + 8;
	s->req.chunk_size = s->req.buf_len;
	KUNIT_ASSERT_EQ(test, call_log(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_count, 10U);
	KUNIT_EXPECT_EQ(test, arg.out_len, 10 * len);
	KUNIT_EXPECT_EQ(test, arg.out_lost, 4ULL);
	KUNIT_EXPECT_EQ(test, arg.out_next, 14ULL);
	KUNIT_EXPECT_EQ(test, arg.out_more, 1U);
	KUNIT_EXPECT_EQ(test, rec->len, len);
	KUNIT_EXPECT_EQ(test, rec->type, (u16)ERDMA_DIAG_REC_LOG(ERDMA_DIAG_LOG_CMD));

	arg.seq = CMD_DEPTH;
	KUNIT_ASSERT_EQ(test, call_log(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_count, 4U);
	KUNIT_EXPECT_EQ(test, arg.out_lost, 0ULL);
	KUNIT_EXPECT_EQ(test, arg.out_more, 0U);
	KUNIT_EXPECT_EQ(test, arg.out_next, CMD_DEPTH + 4ULL);

	arg.seq = arg.out_next;
	KUNIT_ASSERT_EQ(test, call_log(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_count, 0U);
	arg.seq = ERDMA_DIAG_LOG_END;
	KUNIT_ASSERT_EQ(test, call_log(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_next, CMD_DEPTH + 4ULL);
	arg.seq = CMD_DEPTH + 5;
	KUNIT_EXPECT_EQ(test, call_log(test, &arg), -EINVAL);
}

static void log_without_room_says_how_much(struct kunit *test)
{
	struct erdma_diag_log arg = { .kind = ERDMA_DIAG_LOG_LINK };
	struct diag_setup *s = setup_of(test);

	s->req.buf_len = sizeof(struct erdma_diag_rec) + sizeof(struct erdma_diag_log_link) - 1;
	s->req.chunk_size = s->req.buf_len;
	KUNIT_EXPECT_EQ(test, call_log(test, &arg), 0);
	erdma_rec_link(rec_of(test), ERDMA_DIAG_LINK_UP, 1500, 0);
	KUNIT_EXPECT_EQ(test, call_log(test, &arg), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, arg.out_len, s->req.buf_len + 1);
	s->req.buf_len++;
	s->req.chunk_size = s->req.buf_len;
	KUNIT_EXPECT_EQ(test, call_log(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_count, 1U);
}

static void log_of_an_unknown_kind(struct kunit *test)
{
	struct erdma_diag_log arg = {};

	KUNIT_EXPECT_EQ(test, call_log(test, &arg), -EOPNOTSUPP);
	arg.kind = ERDMA_DIAG_LOG_COUNT;
	KUNIT_EXPECT_EQ(test, call_log(test, &arg), -EOPNOTSUPP);
	arg.kind = U32_MAX;
	KUNIT_EXPECT_EQ(test, call_log(test, &arg), -EOPNOTSUPP);
}

/* A position for poll() is one behind what was returned last */
static void log_remembers_the_position_of_the_file(struct kunit *test)
{
	struct erdma_diag_log arg = { .kind = ERDMA_DIAG_LOG_LINK };
	struct diag_setup *s = setup_of(test);
	struct erdma_diag_file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	s->req.file = file;
	erdma_rec_link(rec_of(test), ERDMA_DIAG_LINK_UP, 1500, 0);
	KUNIT_ASSERT_EQ(test, call_log(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, atomic64_read(&file->next[ERDMA_DIAG_LOG_LINK]), 2);
	KUNIT_EXPECT_EQ(test, atomic64_read(&file->next[ERDMA_DIAG_LOG_CMD]), 0);
}

static void write_one_of_a_user(struct kunit *test, kuid_t uid)
{
	struct erdma_rec_owner owner = { .uid = uid, .pid = 4321, .comm = "somebody" };
	struct erdma_diag_log_key key = { .stag = 0x1234, .index = 0x12 };

	erdma_rec_add(rec_of(test), ERDMA_DIAG_LOG_KEY, &owner, &key);
}

static void log_shows_ones_own_without_keys(struct kunit *test)
{
	struct erdma_diag_who who = { .opener = current_cred() };
	struct erdma_diag_who admin = diag_admin, locked_down = diag_locked_down;
	struct erdma_diag_log arg = { .kind = ERDMA_DIAG_LOG_KEY };
	struct diag_setup *s = setup_of(test);
	const struct erdma_diag_rec *rec = (void *)s->req.chunk;
	const struct erdma_diag_log_key *key = (void *)(rec + 1);

	write_one_of_a_user(test, KUIDT_INIT(12345));
	write_one_of_a_user(test, current_uid());
	record_key(rec_of(test), 0x1334);

	s->req.who = &who;
	KUNIT_ASSERT_EQ(test, call_log(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_count, 1U);
	KUNIT_EXPECT_EQ(test, arg.out_next, 3ULL);
	KUNIT_EXPECT_EQ(test, arg.out_lost, 0ULL);
	KUNIT_EXPECT_EQ(test, key->head.seq, 1ULL);
	KUNIT_EXPECT_EQ(test, key->stag, 0U);
	KUNIT_EXPECT_EQ(test, key->index, 0x12U);
	KUNIT_EXPECT_EQ(test, rec->flags, (u16)ERDMA_DIAG_REC_F_HIDDEN);

	admin.opener = current_cred();
	s->req.who = &admin;
	KUNIT_ASSERT_EQ(test, call_log(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_count, 3U);
	KUNIT_EXPECT_EQ(test, key->stag, 0x1234U);
	KUNIT_EXPECT_EQ(test, rec->flags, (u16)0);

	locked_down.opener = current_cred();
	s->req.who = &locked_down;
	KUNIT_ASSERT_EQ(test, call_log(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_count, 3U);
	KUNIT_EXPECT_EQ(test, key->stag, 0U);
}

static void log_of_the_device_is_for_everybody(struct kunit *test)
{
	struct erdma_diag_who who = { .opener = current_cred() };
	struct erdma_dev *dev = setup_of(test)->f->dev;
	struct erdma_diag_log arg = { .kind = ERDMA_DIAG_LOG_LINK };

	erdma_rec_link(rec_of(test), ERDMA_DIAG_LINK_UP, 1500, 0);
	erdma_dbg(dev, QP, ERR, "of a test\n");
	setup_of(test)->req.who = &who;
	KUNIT_ASSERT_EQ(test, call_log(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_count, 1U);
	arg.kind = ERDMA_DIAG_LOG_DEBUG;
	KUNIT_ASSERT_EQ(test, call_log(test, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_count, 0U);
}

static struct kunit_case rec_cases[] = {
	KUNIT_CASE(empty_recorder_has_nothing),
	KUNIT_CASE(no_recorder_is_no_crash),
	KUNIT_CASE(recorders_that_are_off_record_nothing),
	KUNIT_CASE(entry_says_what_and_who),
	KUNIT_CASE(full_ring_loses_the_oldest_and_says_so),
	KUNIT_CASE(first_failures_outlive_later_commands),
	KUNIT_CASE(query_in_a_hurry_is_no_first_failure),
	KUNIT_CASE(key_is_recorded_with_its_command),
	KUNIT_CASE(times_are_counted_by_opcode),
	KUNIT_CASE(failure_names_the_command_that_failed),
	KUNIT_CASE(failure_names_no_command_of_another_verb),
	KUNIT_CASE(failure_replaces_that_of_the_same_verb),
	KUNIT_CASE(event_has_the_owner_of_its_object),
	KUNIT_CASE(recovery_begins_a_generation),
	KUNIT_CASE(debug_message_is_cut_and_loses_its_newline),
	KUNIT_CASE(writers_at_once_lose_nothing),
	KUNIT_CASE(log_continues_where_it_stopped),
	KUNIT_CASE(log_without_room_says_how_much),
	KUNIT_CASE(log_of_an_unknown_kind),
	KUNIT_CASE(log_remembers_the_position_of_the_file),
	KUNIT_CASE(log_shows_ones_own_without_keys),
	KUNIT_CASE(log_of_the_device_is_for_everybody),
	{}
};

struct kunit_suite erdma_rec_suite = {
	.name = "erdma_rec",
	.init = rec_test_init,
	.exit = rec_test_exit,
	.test_cases = rec_cases,
};
