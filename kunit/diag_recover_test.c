// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* ERDMA_DIAG_RECOVER: erdma_diag_recover.c, erdma_eq_recover(), erdma_cq_recover() */
#include <linux/platform_device.h>

#include "diag_setup.h"
#include "suites.h"

#define CQ_CI	40	/* of the CQ of the setup */

static u32 notified;

static void on_completion(struct ib_cq *ibcq, void *context)
{
	notified++;
}

static void put_cqe(struct kunit *test, u32 i)
{
	struct erdma_cq *cq = setup_of(test)->cq;

	cq->kernel.buf[erdma_ring_slot(i, cq->depth)].hdr =
		cpu_to_be32(FIELD_PREP(ERDMA_CQE_OWNER, erdma_ring_owner(i, cq->depth)));
}

/* The setup, and completion EQ 1; the CQ has a handler, and got CQ_CI completions */
static int recover_test_init(struct kunit *test)
{
	int ret = diag_setup_init(test);
	struct erdma_ceq *ceq;
	struct erdma_dev *dev;
	struct diag_setup *s;
	u32 i;

	if (ret)
		return ret;
	s = setup_of(test);
	dev = s->f->dev;
	ceq = &dev->comp_eqs[0];
	ceq->dev = dev;
	ceq->eqn = 1;
	ret = erdma_eq_init(&ceq->eq, &s->f->platform->dev, dev->dbrec_pool, &dev->mmio, 256,
			    ERDMA_REG_EQ_DB(1));
	if (ret)
		return ret;
	ceq->ready = true;
	dev->n_comp_eqs = 1;
	s->cq->ibcq.device = &dev->ibdev;
	s->cq->ibcq.comp_handler = on_completion;
	for (i = 0; i < CQ_CI; i++)
		put_cqe(test, i);
	notified = 0;
	return 0;
}

static void recover_test_exit(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	if (f && f->dev->n_comp_eqs)
		erdma_eq_exit(&f->dev->comp_eqs[0].eq, &f->platform->dev, f->dev->dbrec_pool);
	if (f)
		f->dev->n_comp_eqs = 0;
	diag_setup_exit(test);
}

/* A call, with a value in each field that it has to set */
static int recover(struct kunit *test, u32 obj, u32 id, struct erdma_diag_recover *arg)
{
	struct diag_setup *s = setup_of(test);

	*arg = (struct erdma_diag_recover){ .obj = obj, .id = id, .out_flags = U32_MAX,
					    .out_events = U32_MAX, .out_delivered = U32_MAX };
	s->req.arg = arg;
	return erdma_diag_handle_recover(s->f->dev, &s->req);
}

/* The device writes entry number @i of completion EQ 1 */
static void put_ceqe(struct kunit *test, u32 i, u32 cqn)
{
	struct erdma_eq *eq = &setup_of(test)->f->dev->comp_eqs[0].eq;
	struct erdma_ceqe *entry = eq->buf + erdma_ring_slot(i, eq->depth) * ERDMA_EQE_SIZE;

	entry->data = cpu_to_le64(FIELD_PREP(ERDMA_CEQE_CQN, cqn) |
				  FIELD_PREP(ERDMA_CEQE_OWNER, erdma_ring_owner(i, eq->depth)));
}

static u64 ceq_doorbell(struct kunit *test)
{
	return setup_of(test)->f->wide[ERDMA_REG_EQ_DB(1) / 8];
}

static void arm_cq(struct kunit *test, u64 flags)
{
	struct erdma_cq *cq = setup_of(test)->cq;

	cq->kernel.arm = ERDMA_CQ_DB_ARM | FIELD_PREP(ERDMA_CQ_DB_CQN, cq->cqn) |
			 FIELD_PREP(ERDMA_CQ_DB_CI, CQ_CI) | flags;
	cq->kernel.notify = 1;
}

/* ---- refusals ------------------------------------------------------------- */

static void every_recovery_needs_the_right_to_set(struct kunit *test)
{
	const struct erdma_diag_op *op = erdma_diag_find_op(ERDMA_DIAG_RECOVER);
	static const struct erdma_diag_who debugger = { .ptrace = true };
	struct erdma_diag_recover arg = { .obj = ERDMA_DIAG_OBJ_EQ };

	KUNIT_EXPECT_EQ(test, erdma_diag_check_arg(op, &arg, &diag_nobody), -EPERM);
	KUNIT_EXPECT_EQ(test, erdma_diag_check_arg(op, &arg, &debugger), -EPERM);
	KUNIT_EXPECT_EQ(test, erdma_diag_check_arg(op, &arg, &diag_admin), 0);
	arg.rsvd = 1;
	KUNIT_EXPECT_EQ(test, erdma_diag_check_arg(op, &arg, &diag_admin), -EINVAL);
}

struct refused_case {
	const char *name;
	u32 obj;
	u32 id;
	int want;
};

static const struct refused_case refused_cases[] = {
	{ "no_object", 0, 0, -EOPNOTSUPP },
	{ "qp", ERDMA_DIAG_OBJ_QP, 1, -EOPNOTSUPP },
	{ "cmdq", ERDMA_DIAG_OBJ_CMDQ, 0, -EOPNOTSUPP },
	{ "object_absurd", ERDMA_DIAG_OBJ_EQ + 65536, 1, -EOPNOTSUPP },
	{ "eq_without_vector", ERDMA_DIAG_OBJ_EQ, 2, -ENOENT },
	{ "eq_behind_the_last", ERDMA_DIAG_OBJ_EQ, ERDMA_DIAG_EQ_COUNT, -ENOENT },
	{ "eq_absurd", ERDMA_DIAG_OBJ_EQ, U32_MAX, -ENOENT },
	{ "cq_0", ERDMA_DIAG_OBJ_CQ, 0, -ENOENT },
	{ "cq_absurd", ERDMA_DIAG_OBJ_CQ, U32_MAX, -ENOENT },
};

static void refused_desc(const struct refused_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(refused, refused_cases, refused_desc);

static void what_does_not_exist_is_not_recovered(struct kunit *test)
{
	const struct refused_case *c = test->param_value;
	struct erdma_diag_recover arg;

	KUNIT_EXPECT_EQ(test, recover(test, c->obj, c->id, &arg), c->want);
	KUNIT_EXPECT_EQ(test, ceq_doorbell(test), 0ULL);
}

static void lost_device_is_left_alone(struct kunit *test)
{
	struct erdma_diag_recover arg;

	put_ceqe(test, 0, 9);
	setup_of(test)->f->dev->lost = ERDMA_LOST_EQ_HIDDEN;
	KUNIT_EXPECT_EQ(test, recover(test, ERDMA_DIAG_OBJ_EQ, 1, &arg), -ENODEV);
	KUNIT_EXPECT_EQ(test, recover(test, ERDMA_DIAG_OBJ_CQ, 9, &arg), -ENODEV);
	KUNIT_EXPECT_EQ(test, ceq_doorbell(test), 0ULL);
}

/* ---- event queues ----------------------------------------------------------- */

static void queue_without_events_is_armed(struct kunit *test)
{
	struct erdma_eq *aeq = &setup_of(test)->f->dev->aeq;
	struct erdma_diag_recover arg;
	int i;

	/* Also one whose handler found nothing so often that it does not arm any more */
	for (i = 0; i < 200; i++) {
		setup_of(test)->f->wide[ERDMA_REG_AEQ_DB / 8] = 0;
		KUNIT_ASSERT_EQ(test, recover(test, ERDMA_DIAG_OBJ_EQ, ERDMA_DIAG_EQ_AEQ, &arg), 0);
		KUNIT_ASSERT_EQ(test, setup_of(test)->f->wide[ERDMA_REG_AEQ_DB / 8],
				(u64)ERDMA_EQ_DB_ARM);
	}
	KUNIT_EXPECT_EQ(test, arg.out_flags, ERDMA_DIAG_RECOVER_RUNG);
	KUNIT_EXPECT_EQ(test, arg.out_events, 0);
	KUNIT_EXPECT_EQ(test, arg.out_delivered, 0);
	KUNIT_EXPECT_EQ(test, atomic64_read(&aeq->notifies), 200);
}

static void events_that_wait_reach_their_consumer(struct kunit *test)
{
	struct erdma_diag_recover arg;

	arm_cq(test, 0);
	put_ceqe(test, 0, 9);
	put_ceqe(test, 1, 999);		/* which does not exist */
	KUNIT_ASSERT_EQ(test, recover(test, ERDMA_DIAG_OBJ_EQ, 1, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_flags, ERDMA_DIAG_RECOVER_RUNG);
	KUNIT_EXPECT_EQ(test, arg.out_events, 2);
	KUNIT_EXPECT_EQ(test, arg.out_delivered, 1);
	KUNIT_EXPECT_EQ(test, notified, 1);
	KUNIT_EXPECT_EQ(test, ceq_doorbell(test), (u64)ERDMA_EQ_DB_ARM | 2);
	KUNIT_ASSERT_EQ(test, recover(test, ERDMA_DIAG_OBJ_EQ, 1, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_events, 0);
	diag_expect_no_reference_left(test);
}

/* More than a handler takes at a time */
static void full_queue_is_drained(struct kunit *test)
{
	struct erdma_eq *eq = &setup_of(test)->f->dev->comp_eqs[0].eq;
	struct erdma_diag_recover arg;
	u32 i;

	for (i = 0; i < eq->depth; i++)
		put_ceqe(test, i, 999);
	KUNIT_ASSERT_EQ(test, recover(test, ERDMA_DIAG_OBJ_EQ, 1, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_events, eq->depth);
	KUNIT_EXPECT_EQ(test, arg.out_delivered, 0);
	KUNIT_EXPECT_EQ(test, ceq_doorbell(test), (u64)ERDMA_EQ_DB_ARM | eq->depth);
}

static void asynchronous_events_are_handled_too(struct kunit *test)
{
	struct erdma_eq *aeq = &setup_of(test)->f->dev->aeq;
	struct erdma_aeqe *entry = aeq->buf;
	struct erdma_diag_recover arg;

	entry->object = cpu_to_le32(9);
	entry->hdr = cpu_to_le32(FIELD_PREP(ERDMA_AEQE_OWNER, erdma_ring_owner(0, aeq->depth)) |
				 FIELD_PREP(ERDMA_AEQE_TYPE, ERDMA_AE_CQ_ERR));
	KUNIT_ASSERT_EQ(test, recover(test, ERDMA_DIAG_OBJ_EQ, ERDMA_DIAG_EQ_AEQ, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_events, 1);
	KUNIT_EXPECT_EQ(test, arg.out_delivered, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&setup_of(test)->cq->async_events), 1);
}

/* ---- completion queues -------------------------------------------------------- */

static void cq_that_is_not_armed_gets_no_event(struct kunit *test)
{
	struct erdma_diag_recover arg;

	put_cqe(test, CQ_CI);
	KUNIT_ASSERT_EQ(test, recover(test, ERDMA_DIAG_OBJ_CQ, 9, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_flags, 0);
	KUNIT_EXPECT_EQ(test, arg.out_delivered, 0);
	KUNIT_EXPECT_EQ(test, notified, 0);
}

static void armed_cq_without_a_completion_gets_no_event(struct kunit *test)
{
	struct erdma_diag_recover arg;

	arm_cq(test, 0);
	KUNIT_ASSERT_EQ(test, recover(test, ERDMA_DIAG_OBJ_CQ, 9, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_flags, ERDMA_DIAG_RECOVER_ARMED);
	KUNIT_EXPECT_EQ(test, arg.out_delivered, 0);
	KUNIT_EXPECT_EQ(test, notified, 0);
}

static void lost_event_is_delivered_once(struct kunit *test)
{
	struct diag_setup *s = setup_of(test);
	struct erdma_diag_recover arg;

	arm_cq(test, 0);
	put_cqe(test, CQ_CI);
	KUNIT_ASSERT_EQ(test, recover(test, ERDMA_DIAG_OBJ_CQ, 9, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_flags, ERDMA_DIAG_RECOVER_ARMED);
	KUNIT_EXPECT_EQ(test, arg.out_events, 0);
	KUNIT_EXPECT_EQ(test, arg.out_delivered, 1);
	KUNIT_EXPECT_EQ(test, notified, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->cq->cmdsn), 1);
	KUNIT_ASSERT_EQ(test, recover(test, ERDMA_DIAG_OBJ_CQ, 9, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_flags, 0);
	KUNIT_EXPECT_EQ(test, arg.out_delivered, 0);
	KUNIT_EXPECT_EQ(test, notified, 1);
	KUNIT_EXPECT_EQ(test, atomic64_read(&s->f->dev->stats.v[ERDMA_STAT_CEQ_LOST_EVENTS]), 1);
	diag_expect_no_reference_left(test);
}

/* Which completion is solicited cannot be seen: the request decides */
static void request_is_enough_for_an_arm_for_solicited(struct kunit *test)
{
	struct erdma_diag_recover arg;

	arm_cq(test, ERDMA_CQ_DB_SOL);
	put_cqe(test, CQ_CI);
	KUNIT_ASSERT_EQ(test, recover(test, ERDMA_DIAG_OBJ_CQ, 9, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.out_delivered, 1);
	KUNIT_EXPECT_EQ(test, notified, 1);
}

static struct kunit_case diag_recover_cases[] = {
	KUNIT_CASE(every_recovery_needs_the_right_to_set),
	KUNIT_CASE_PARAM(what_does_not_exist_is_not_recovered, refused_gen_params),
	KUNIT_CASE(lost_device_is_left_alone),
	KUNIT_CASE(queue_without_events_is_armed),
	KUNIT_CASE(events_that_wait_reach_their_consumer),
	KUNIT_CASE(full_queue_is_drained),
	KUNIT_CASE(asynchronous_events_are_handled_too),
	KUNIT_CASE(cq_that_is_not_armed_gets_no_event),
	KUNIT_CASE(armed_cq_without_a_completion_gets_no_event),
	KUNIT_CASE(lost_event_is_delivered_once),
	KUNIT_CASE(request_is_enough_for_an_arm_for_solicited),
	{}
};

struct kunit_suite erdma_diag_recover_suite = {
	.name = "erdma_diag_recover",
	.init = recover_test_init,
	.exit = recover_test_exit,
	.test_cases = diag_recover_cases,
};
