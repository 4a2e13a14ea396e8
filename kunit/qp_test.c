// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Who may connect a QP, from where, and fatal events: erdma_cm_access.c, erdma_qp_fatal.c
 * (docs/connections.md)
 */
#include <linux/netdevice.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <net/net_namespace.h>
#include <rdma/rdma_cm.h>

#include "erdma_cm.h"
#include "fake_dev.h"
#include "suites.h"

#define QPN 5

/**
 * struct qp_test - a QP in a table
 * @dev: device, as far as it is needed here
 * @qp: the QP
 * @other: a QP of the kernel
 * @events: what its consumer got
 * @works: how often its work ran
 * @dumps: how often the state of the device was written down
 */
struct qp_test {
	struct erdma_dev dev;
	struct erdma_qp qp;
	struct ib_qp other;
	int events;
	int works;
	int dumps;
};

static void consumer(struct ib_event *event, void *context)
{
	struct qp_test *t = context;

	t->events += event->event == IB_EVENT_QP_FATAL && event->element.qp == &t->qp.ibqp;
}

static void count_work(struct work_struct *work)
{
	container_of(work, struct qp_test, qp.fatal_work)->works++;
}

static void count_dump(struct work_struct *work)
{
	container_of(work, struct qp_test, dev.coredump_work)->dumps++;
}

static int qp_test_init(struct kunit *test)
{
	struct qp_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	spin_lock_init(&t->dev.lost_lock);
	spin_lock_init(&t->dev.ep_lock);
	init_rwsem(&t->qp.state_lock);
	erdma_debug_init(&t->dev.dbg);
	t->qp.dev = &t->dev;
	t->qp.qpn = QPN;
	erdma_ref_init(&t->qp.ref);
	INIT_WORK(&t->qp.fatal_work, count_work);
	INIT_WORK(&t->dev.coredump_work, count_dump);
	t->qp.ibqp.event_handler = consumer;
	t->qp.ibqp.qp_context = t;
	t->dev.reflusher = alloc_workqueue("erdma-kunit", WQ_UNBOUND, 0);
	if (!t->dev.reflusher)
		return -ENOMEM;
	test->priv = t;
	if (fake_objtab_init(&t->dev.qps))
		return -ENOMEM;
	fake_publish(&t->dev.qps, QPN, &t->qp.ref);
	return 0;
}

static void qp_test_exit(struct kunit *test)
{
	struct qp_test *t = test->priv;

	if (!t)
		return;
	destroy_workqueue(t->dev.reflusher);
	fake_objtab_exit(&t->dev.qps);
	erdma_debug_exit(&t->dev.dbg);
}

static void qp_of_an_application_belongs_to_its_process(struct kunit *test)
{
	struct qp_test *t = test->priv;
	struct erdma_qp *qp = &t->qp;

	qp->is_user = true;
	qp->owner = task_tgid(current);
	KUNIT_EXPECT_TRUE(test, erdma_qp_is_owned(qp, NULL));
	qp->owner = task_tgid(current->group_leader->parent);
	KUNIT_EXPECT_FALSE(test, erdma_qp_is_owned(qp, NULL));
}

/* Only the kernel creates QPs through ids */
static void qp_of_an_application_is_not_for_ids_with_a_qp(struct kunit *test)
{
	struct qp_test *t = test->priv;
	struct erdma_qp *qp = &t->qp;

	qp->is_user = true;
	qp->owner = task_tgid(current);
	KUNIT_EXPECT_FALSE(test, erdma_qp_is_owned(qp, &qp->ibqp));
	KUNIT_EXPECT_FALSE(test, erdma_qp_is_owned(qp, &t->other));
}

static void qp_of_the_kernel_belongs_to_its_id(struct kunit *test)
{
	struct qp_test *t = test->priv;

	KUNIT_EXPECT_TRUE(test, erdma_qp_is_owned(&t->qp, &t->qp.ibqp));
	KUNIT_EXPECT_FALSE(test, erdma_qp_is_owned(&t->qp, &t->other));
	KUNIT_EXPECT_FALSE(test, erdma_qp_is_owned(&t->qp, NULL));
}

static void *zeroed(struct kunit *test, size_t size)
{
	void *p = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, p);
	return p;
}

static void id_of_another_net_namespace_is_refused(struct kunit *test)
{
	struct qp_test *t = test->priv;
	struct rdma_cm_id *rdma_id = zeroed(test, sizeof(*rdma_id));
	struct iw_cm_id *id = zeroed(test, sizeof(*id));

	t->dev.netdev = zeroed(test, sizeof(*t->dev.netdev));
	dev_net_set(t->dev.netdev, &init_net);
	id->device = &t->dev.ibdev;
	id->context = rdma_id;
	rdma_id->device = id->device;
	rdma_id->route.addr.dev_addr.net = &init_net;
	KUNIT_EXPECT_TRUE(test, erdma_cm_same_net(&t->dev, id));
	/* Only its address is looked at */
	rdma_id->route.addr.dev_addr.net = zeroed(test, sizeof(struct net));
	KUNIT_EXPECT_FALSE(test, erdma_cm_same_net(&t->dev, id));
}

/* An id that is not rdma_cm's shows nothing of what it may */
static void id_of_another_device_is_refused(struct kunit *test)
{
	struct qp_test *t = test->priv;
	struct rdma_cm_id *rdma_id = zeroed(test, sizeof(*rdma_id));
	struct iw_cm_id *id = zeroed(test, sizeof(*id));

	t->dev.netdev = zeroed(test, sizeof(*t->dev.netdev));
	dev_net_set(t->dev.netdev, &init_net);
	rdma_id->route.addr.dev_addr.net = &init_net;
	rdma_id->qp = &t->qp.ibqp;
	id->device = &t->dev.ibdev;
	KUNIT_EXPECT_FALSE(test, erdma_cm_same_net(&t->dev, id));
	KUNIT_EXPECT_FALSE(test, erdma_cm_owns_qp(id, &t->qp));
	id->context = rdma_id;
	KUNIT_EXPECT_FALSE(test, erdma_cm_same_net(&t->dev, id));
	KUNIT_EXPECT_FALSE(test, erdma_cm_owns_qp(id, &t->qp));
	rdma_id->device = id->device;
	KUNIT_EXPECT_TRUE(test, erdma_cm_same_net(&t->dev, id));
	KUNIT_EXPECT_TRUE(test, erdma_cm_owns_qp(id, &t->qp));
}

static void fatal_events_are_reported_once(struct kunit *test)
{
	struct qp_test *t = test->priv;
	int i;

	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, erdma_qp_async_event(&t->dev, QPN, i));
	flush_workqueue(t->dev.reflusher);
	KUNIT_EXPECT_EQ(test, t->events, 1);
	KUNIT_EXPECT_EQ(test, t->works, 1);
	KUNIT_EXPECT_EQ(test, t->dumps, 1);
	KUNIT_EXPECT_EQ(test, t->dev.coredump_qpn, QPN);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->qp.async_events), 3);
	KUNIT_EXPECT_EQ(test, t->qp.last_ae_type, 2);
	KUNIT_EXPECT_EQ(test, kref_read(&t->qp.ref.count), 1);
}

/* Nor is an end that the consumer knows of reported again when the device is lost */
static void lost_device_reports_each_qp_once(struct kunit *test)
{
	struct qp_test *t = test->priv;
	int i;

	t->qp.is_user = true;	/* nothing to flush */
	for (i = 0; i < 2; i++) {
		erdma_qp_device_lost(&t->qp);
		KUNIT_EXPECT_EQ(test, t->events, 1);
		KUNIT_EXPECT_EQ(test, t->qp.state, ERDMA_QPS_ERROR);
	}
	erdma_qp_async_event(&t->dev, QPN, 0);
	flush_workqueue(t->dev.reflusher);
	KUNIT_EXPECT_EQ(test, t->events, 1);
	KUNIT_EXPECT_EQ(test, t->works, 0);
}

static void qp_that_left_the_table_gets_no_work(struct kunit *test)
{
	struct qp_test *t = test->priv;

	erdma_objtab_withdraw(&t->dev.qps, QPN);
	KUNIT_EXPECT_FALSE(test, erdma_qp_async_event(&t->dev, QPN, 0));
	flush_workqueue(t->dev.reflusher);
	KUNIT_EXPECT_EQ(test, t->events + t->works, 0);
}

static void query_says_err_before_the_work_ran(struct kunit *test)
{
	struct qp_test *t = test->priv;
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	t->qp.state = ERDMA_QPS_RTS;
	KUNIT_EXPECT_EQ(test, erdma_query_qp(&t->qp.ibqp, &attr, 0, &init), 0);
	KUNIT_EXPECT_EQ(test, (int)attr.qp_state, (int)IB_QPS_RTS);
	erdma_qp_async_event(&t->dev, QPN, 0);
	KUNIT_EXPECT_EQ(test, erdma_query_qp(&t->qp.ibqp, &attr, 0, &init), 0);
	KUNIT_EXPECT_EQ(test, (int)attr.qp_state, (int)IB_QPS_ERR);
}

static const struct {
	enum erdma_qp_state state;
	enum ib_qp_state reported;
} query_cases[] = {
	{ ERDMA_QPS_IDLE, IB_QPS_INIT },
	{ ERDMA_QPS_RTR, IB_QPS_RTR },
	{ ERDMA_QPS_RTS, IB_QPS_RTS },
	{ ERDMA_QPS_CLOSING, IB_QPS_ERR },
	{ ERDMA_QPS_TERMINATE, IB_QPS_ERR },
	{ ERDMA_QPS_ERROR, IB_QPS_ERR },
};

static void query_reports_each_state(struct kunit *test)
{
	struct qp_test *t = test->priv;
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;
	int i;

	static_assert(ARRAY_SIZE(query_cases) == ERDMA_QPS_COUNT);
	for (i = 0; i < ARRAY_SIZE(query_cases); i++) {
		t->qp.state = query_cases[i].state;
		KUNIT_EXPECT_EQ(test, erdma_query_qp(&t->qp.ibqp, &attr, 0, &init), 0);
		KUNIT_EXPECT_EQ(test, (int)attr.qp_state, (int)query_cases[i].reported);
		KUNIT_EXPECT_EQ(test, (int)attr.cur_qp_state, (int)query_cases[i].reported);
	}
}

static void query_has_what_the_qp_was_made_with(struct kunit *test)
{
	static struct ib_cq scq, rcq;
	struct qp_test *t = test->priv;
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	t->qp.cap = (struct ib_qp_cap){ .max_send_wr = 16, .max_recv_wr = 32, .max_send_sge = 3,
					.max_recv_sge = 1, .max_inline_data = 64 };
	t->qp.sig_all = true;
	t->qp.ibqp.qp_type = IB_QPT_RC;
	t->qp.ibqp.qp_context = t;
	t->qp.ibqp.send_cq = &scq;
	t->qp.ibqp.recv_cq = &rcq;
	memset(&attr, 0xff, sizeof(attr));
	memset(&init, 0xff, sizeof(init));
	KUNIT_EXPECT_EQ(test, erdma_query_qp(&t->qp.ibqp, &attr, 0, &init), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&attr.cap, &t->qp.cap, sizeof(attr.cap)), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&init.cap, &t->qp.cap, sizeof(init.cap)), 0);
	KUNIT_EXPECT_EQ(test, (int)init.sq_sig_type, (int)IB_SIGNAL_ALL_WR);
	KUNIT_EXPECT_EQ(test, (int)init.qp_type, (int)IB_QPT_RC);
	KUNIT_EXPECT_PTR_EQ(test, init.qp_context, (void *)t);
	KUNIT_EXPECT_PTR_EQ(test, init.send_cq, &scq);
	KUNIT_EXPECT_PTR_EQ(test, init.recv_cq, &rcq);
	KUNIT_EXPECT_EQ(test, attr.port_num, 1);
	/* What has no meaning here holds nothing of the caller's memory */
	KUNIT_EXPECT_EQ(test, attr.dest_qp_num, 0);
	KUNIT_EXPECT_EQ(test, attr.pkey_index, 0);
	KUNIT_EXPECT_EQ(test, init.create_flags, 0);
}

/* The application sees @attr, two fields of @init, and has asked for nothing */
static void query_for_nothing_has_what_is_read(struct kunit *test)
{
	static const struct ib_qp_cap cap = { .max_send_wr = 16, .max_recv_wr = 32,
					      .max_send_sge = 3, .max_recv_sge = 1,
					      .max_inline_data = 64 };
	struct ib_qp_attr attr, want = { .qp_state = IB_QPS_RTS, .cur_qp_state = IB_QPS_RTS };
	struct qp_test *t = test->priv;
	struct ib_qp_init_attr init;

	t->qp.is_user = true;
	t->qp.cap = cap;
	t->qp.state = ERDMA_QPS_RTS;
	memset(&attr, 0xff, sizeof(attr));
	memset(&init, 0xff, sizeof(init));
	KUNIT_EXPECT_EQ(test, erdma_query_qp(&t->qp.ibqp, &attr, 0, &init), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&attr, &want, sizeof(attr)), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&init.cap, &cap, sizeof(cap)), 0);
	KUNIT_EXPECT_EQ(test, (int)init.sq_sig_type, (int)IB_SIGNAL_REQ_WR);

	/* Whatever else is asked for, there is everything */
	KUNIT_EXPECT_EQ(test, erdma_query_qp(&t->qp.ibqp, &attr, IB_QP_STATE, &init), 0);
	KUNIT_EXPECT_EQ(test, attr.port_num, 1);
	KUNIT_EXPECT_EQ(test, (int)attr.path_mtu, (int)IB_MTU_1024);
	KUNIT_EXPECT_EQ(test, memcmp(&attr.cap, &cap, sizeof(cap)), 0);
}

static struct kunit_case qp_cases[] = {
	KUNIT_CASE(qp_of_an_application_belongs_to_its_process),
	KUNIT_CASE(qp_of_an_application_is_not_for_ids_with_a_qp),
	KUNIT_CASE(qp_of_the_kernel_belongs_to_its_id),
	KUNIT_CASE(id_of_another_net_namespace_is_refused),
	KUNIT_CASE(id_of_another_device_is_refused),
	KUNIT_CASE(fatal_events_are_reported_once),
	KUNIT_CASE(lost_device_reports_each_qp_once),
	KUNIT_CASE(qp_that_left_the_table_gets_no_work),
	KUNIT_CASE(query_says_err_before_the_work_ran),
	KUNIT_CASE(query_reports_each_state),
	KUNIT_CASE(query_for_nothing_has_what_is_read),
	KUNIT_CASE(query_has_what_the_qp_was_made_with),
	{}
};

struct kunit_suite erdma_qp_suite = {
	.name = "erdma_qp",
	.init = qp_test_init,
	.exit = qp_test_exit,
	.test_cases = qp_cases,
};
