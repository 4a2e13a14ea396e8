// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Objects that are destroyed while "rdma resource show" looks: erdma_restrack.c */
#include <net/netlink.h>

#include "diag_setup.h"
#include "suites.h"

static int restrack_init(struct kunit *test)
{
	int i, ret = diag_setup_init(test);
	struct diag_setup *s;

	if (ret)
		return ret;
	s = setup_of(test);
	for (i = 0; i < N_QPS; i++)
		s->qp[i]->ibqp.device = &s->f->dev->ibdev;
	s->cq->ibcq.device = &s->f->dev->ibdev;
	return 0;
}

static struct sk_buff *message(struct kunit *test, u32 room)
{
	struct sk_buff *msg = nlmsg_new(room, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, msg);
	return msg;
}

/* Bytes that describe a QP in a message with these flags: NLM_F_MULTI in a listing */
static u32 bytes_of_qp_in(struct kunit *test, struct erdma_qp *qp, int flags)
{
	struct sk_buff *msg = message(test, NLMSG_DEFAULT_SIZE);
	u32 len;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, nlmsg_put(msg, 0, 0, 0, 0, flags));
	len = msg->len;
	KUNIT_EXPECT_EQ(test, erdma_fill_res_qp_entry(msg, &qp->ibqp), 0);
	len = msg->len - len;
	nlmsg_free(msg);
	return len;
}

static u32 bytes_of_qp(struct kunit *test, struct erdma_qp *qp)
{
	return bytes_of_qp_in(test, qp, 0);
}

static u32 bytes_of_cq(struct kunit *test, struct erdma_cq *cq)
{
	struct sk_buff *msg = message(test, NLMSG_DEFAULT_SIZE);
	u32 len;

	KUNIT_EXPECT_EQ(test, erdma_fill_res_cq_entry(msg, &cq->ibcq), 0);
	len = msg->len;
	nlmsg_free(msg);
	return len;
}

static void live_objects_are_described(struct kunit *test)
{
	struct diag_setup *s = setup_of(test);

	KUNIT_EXPECT_GT(test, bytes_of_qp(test, s->qp[0]), NLA_HDRLEN);
	KUNIT_EXPECT_GT(test, bytes_of_cq(test, s->cq), NLA_HDRLEN);
	diag_expect_no_reference_left(test);
}

/* What erdma_destroy_qp() does first; rings and CQs may be gone after that */
static void qp_in_destruction_is_not_looked_at(struct kunit *test)
{
	struct diag_setup *s = setup_of(test);
	struct erdma_qp *qp = s->qp[0];

	erdma_objtab_publish(&s->f->dev->qps, qp->qpn, NULL);
	qp->scq = NULL;
	qp->rcq = NULL;
	KUNIT_EXPECT_EQ(test, bytes_of_qp(test, qp), 0);
	diag_expect_no_reference_left(test);
}

static void qp_whose_number_is_anothers_is_not_looked_at(struct kunit *test)
{
	struct diag_setup *s = setup_of(test);

	erdma_objtab_publish(&s->f->dev->qps, s->qp[0]->qpn, &s->qp[1]->ref);
	KUNIT_EXPECT_EQ(test, bytes_of_qp(test, s->qp[0]), 0);
	diag_expect_no_reference_left(test);
}

static void cq_in_destruction_is_not_looked_at(struct kunit *test)
{
	struct diag_setup *s = setup_of(test);

	erdma_objtab_publish(&s->f->dev->cqs, s->cq->cqn, NULL);
	KUNIT_EXPECT_EQ(test, bytes_of_cq(test, s->cq), 0);
	diag_expect_no_reference_left(test);
}

/* The core's work for a listing grows with the square of what one QP takes */
static void long_listing_goes_without_details(struct kunit *test)
{
	struct diag_setup *s = setup_of(test);
	atomic_t *n_qp = &s->f->dev->n_qp;
	int before = atomic_read(n_qp);

	atomic_set(n_qp, 1024);
	KUNIT_EXPECT_GT(test, bytes_of_qp_in(test, s->qp[0], NLM_F_MULTI), NLA_HDRLEN);
	atomic_set(n_qp, 1025);
	KUNIT_EXPECT_EQ(test, bytes_of_qp_in(test, s->qp[0], NLM_F_MULTI), 0);
	KUNIT_EXPECT_GT(test, bytes_of_qp_in(test, s->qp[0], 0), NLA_HDRLEN);
	atomic_set(n_qp, before);
	diag_expect_no_reference_left(test);
}

/* A message that is nearly full has nothing of the object in it, and no reference is left */
static void full_message_gets_no_part(struct kunit *test)
{
	struct diag_setup *s = setup_of(test);
	struct sk_buff *msg = message(test, NLMSG_DEFAULT_SIZE);
	u32 len;

	skb_put_zero(msg, skb_tailroom(msg) - 64);
	len = msg->len;
	KUNIT_EXPECT_EQ(test, erdma_fill_res_qp_entry(msg, &s->qp[0]->ibqp), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, erdma_fill_res_cq_entry(msg, &s->cq->ibcq), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, msg->len, len);
	diag_expect_no_reference_left(test);
	nlmsg_free(msg);
}

static struct kunit_case restrack_cases[] = {
	KUNIT_CASE(live_objects_are_described),
	KUNIT_CASE(qp_in_destruction_is_not_looked_at),
	KUNIT_CASE(qp_whose_number_is_anothers_is_not_looked_at),
	KUNIT_CASE(cq_in_destruction_is_not_looked_at),
	KUNIT_CASE(long_listing_goes_without_details),
	KUNIT_CASE(full_message_gets_no_part),
	{}
};

struct kunit_suite erdma_restrack_suite = {
	.name = "erdma_restrack",
	.init = restrack_init,
	.exit = diag_setup_exit,
	.test_cases = restrack_cases,
};
