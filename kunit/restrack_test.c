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

	erdma_objtab_withdraw(&s->f->dev->qps, qp->qpn);
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

	erdma_objtab_withdraw(&s->f->dev->cqs, s->cq->cqn);
	KUNIT_EXPECT_EQ(test, bytes_of_cq(test, s->cq), 0);
	diag_expect_no_reference_left(test);
}

static void long_listing_has_details_of_qps_with_events(struct kunit *test)
{
	struct diag_setup *s = setup_of(test);
	atomic_t *n_qp = &s->f->dev->n_qp;
	int before = atomic_read(n_qp);

	atomic_set(n_qp, 1025);
	atomic_inc(&s->qp[1]->async_events);
	KUNIT_EXPECT_EQ(test, bytes_of_qp_in(test, s->qp[0], NLM_F_MULTI), 0);
	KUNIT_EXPECT_EQ(test, bytes_of_qp_in(test, s->qp[1], NLM_F_MULTI),
			bytes_of_qp_in(test, s->qp[1], 0));
	/* One that is being destroyed has none */
	erdma_objtab_withdraw(&s->f->dev->qps, s->qp[1]->qpn);
	KUNIT_EXPECT_EQ(test, bytes_of_qp_in(test, s->qp[1], NLM_F_MULTI), 0);
	atomic_set(n_qp, before);
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

/* ---- requests in flight ------------------------------------------------------ */

/* Value of a detail of a QP in a listing of few; NULL: there is none of this name */
static const struct nlattr *detail(struct kunit *test, struct sk_buff *msg, const char *name)
{
	struct ib_qp *ibqp = &setup_of(test)->qp[0]->ibqp;
	struct nlmsghdr *head = nlmsg_hdr(msg);
	const struct nlattr *attr;
	bool found = false;
	int rem;

	if (!msg->len) {
		head = nlmsg_put(msg, 0, 0, 0, 0, NLM_F_MULTI);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, head);
		KUNIT_ASSERT_EQ(test, erdma_fill_res_qp_entry(msg, ibqp), 0);
	}
	nla_for_each_nested(attr, (struct nlattr *)nlmsg_data(head), rem) {
		if (found && nla_type(attr) != RDMA_NLDEV_ATTR_DRIVER_PRINT_TYPE)
			return attr;
		found |= nla_type(attr) == RDMA_NLDEV_ATTR_DRIVER_STRING &&
			 !strcmp(nla_data(attr), name);
	}
	return NULL;
}

static void put_request(struct erdma_qp *qp, u32 at, u32 blocks, u32 opcode)
{
	__le64 *sqe = qp->ksq.buf + at % SQ_DEPTH * ERDMA_WQEBB_SIZE;

	*sqe = cpu_to_le64(FIELD_PREP(ERDMA_SQE_HDR_OPCODE, opcode));
	qp->ksq.blocks[at % SQ_DEPTH] = blocks;
}

static void requests_in_flight_are_counted_and_named(struct kunit *test)
{
	struct sk_buff *msg = message(test, NLMSG_DEFAULT_SIZE);
	struct erdma_qp *qp = setup_of(test)->qp[0];
	const struct nlattr *attr;

	qp->ksq.blocks = kunit_kzalloc(test, SQ_DEPTH, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, qp->ksq.blocks);
	/* Over the end of the ring and of the index */
	qp->ksq.ci = 65533;
	qp->ksq.pi = 4;
	put_request(qp, 65533, 2, ERDMA_OP_READ);
	put_request(qp, 65535, 4, ERDMA_OP_WRITE);
	put_request(qp, 3, 1, ERDMA_OP_SEND);
	qp->krq.ci = 65535;
	qp->krq.pi = 5;

	attr = detail(test, msg, "sq_in_flight");
	KUNIT_ASSERT_TRUE(test, attr);
	KUNIT_EXPECT_EQ(test, nla_get_u32(attr), 3U);
	attr = detail(test, msg, "rq_in_flight");
	KUNIT_ASSERT_TRUE(test, attr);
	KUNIT_EXPECT_EQ(test, nla_get_u32(attr), 6U);
	attr = detail(test, msg, "sq_first");
	KUNIT_ASSERT_TRUE(test, attr);
	KUNIT_EXPECT_STREQ(test, (const char *)nla_data(attr), "RDMA_READ");
	attr = detail(test, msg, "sq_last");
	KUNIT_ASSERT_TRUE(test, attr);
	KUNIT_EXPECT_STREQ(test, (const char *)nla_data(attr), "SEND");
	nlmsg_free(msg);
}

/* Records that make no sense end the walk, and the walk ends */
static void walk_of_the_send_queue_is_bounded(struct kunit *test)
{
	struct sk_buff *msg = message(test, NLMSG_DEFAULT_SIZE);
	struct erdma_qp *qp = setup_of(test)->qp[0];
	const struct nlattr *attr;

	qp->ksq.blocks = kunit_kzalloc(test, SQ_DEPTH, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, qp->ksq.blocks);
	qp->ksq.pi = 3;
	put_request(qp, 0, 1, ERDMA_OP_WRITE);
	attr = detail(test, msg, "sq_in_flight");	/* none starts at 1 */
	KUNIT_ASSERT_TRUE(test, attr);
	KUNIT_EXPECT_EQ(test, nla_get_u32(attr), 1U);
	nlmsg_free(msg);

	msg = message(test, NLMSG_DEFAULT_SIZE);
	put_request(qp, 1, 255, ERDMA_OP_WRITE);
	attr = detail(test, msg, "sq_in_flight");
	KUNIT_ASSERT_TRUE(test, attr);
	KUNIT_EXPECT_EQ(test, nla_get_u32(attr), 2U);
	nlmsg_free(msg);
}

static void idle_queue_has_no_first_request(struct kunit *test)
{
	struct sk_buff *msg = message(test, NLMSG_DEFAULT_SIZE);

	KUNIT_EXPECT_TRUE(test, detail(test, msg, "sq_in_flight"));
	KUNIT_EXPECT_FALSE(test, detail(test, msg, "sq_first"));
	KUNIT_EXPECT_FALSE(test, detail(test, msg, "sq_last"));
	nlmsg_free(msg);
}

/* A long one does not: long_listing_goes_without_details() */
static void short_listing_says_what_is_in_flight(struct kunit *test)
{
	struct diag_setup *s = setup_of(test);

	KUNIT_EXPECT_EQ(test, bytes_of_qp_in(test, s->qp[0], NLM_F_MULTI),
			bytes_of_qp_in(test, s->qp[0], 0));
}

/* ---- raw contexts -------------------------------------------------------------- */

static void answer_context(struct fake_dev *f, const struct fake_cmd *cmd, struct fake_answer *a)
{
	struct erdma_resp_hdr *hdr = fake_virt(le64_to_cpup((__le64 *)(cmd->slot + 16)));

	memset(hdr, 0x77, ERDMA_RESP_BUF_SIZE);
	hdr->magic = cpu_to_le16(ERDMA_RESP_MAGIC);
	hdr->version = ERDMA_RESP_VERSION;
	hdr->index = *(__le32 *)(cmd->slot + 12);
}

static void raw_context_is_that_of_the_device(struct kunit *test)
{
	struct sk_buff *msg = message(test, NLMSG_DEFAULT_SIZE);
	struct diag_setup *s = setup_of(test);
	const struct erdma_resp_qpc *qpc;
	const struct nlattr *attr = (void *)msg->data;

	s->f->dev->attrs.flags |= ERDMA_FLAG_QUERY_QC;
	s->f->answer = answer_context;
	KUNIT_ASSERT_EQ(test, erdma_fill_res_qp_entry_raw(msg, &s->qp[1]->ibqp), 0);
	KUNIT_ASSERT_EQ(test, nla_type(attr), RDMA_NLDEV_ATTR_RES_RAW);
	KUNIT_ASSERT_EQ(test, nla_len(attr), sizeof(*qpc));
	qpc = nla_data(attr);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(qpc->hdr.index), s->qp[1]->qpn);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(qpc->rto_count), 0x77777777);
	nlmsg_free(msg);

	msg = message(test, NLMSG_DEFAULT_SIZE);
	KUNIT_ASSERT_EQ(test, erdma_fill_res_cq_entry_raw(msg, &s->cq->ibcq), 0);
	attr = (void *)msg->data;
	KUNIT_EXPECT_EQ(test, nla_len(attr), sizeof(struct erdma_resp_cqc));
	diag_expect_no_reference_left(test);
	nlmsg_free(msg);
}

static void raw_context_that_cannot_be_had_is_an_error(struct kunit *test)
{
	struct sk_buff *msg = message(test, NLMSG_DEFAULT_SIZE);
	struct diag_setup *s = setup_of(test);

	s->f->dev->attrs.flags &= ~ERDMA_FLAG_QUERY_QC;
	KUNIT_EXPECT_EQ(test, erdma_fill_res_qp_entry_raw(msg, &s->qp[0]->ibqp), -EOPNOTSUPP);
	s->f->dev->attrs.flags |= ERDMA_FLAG_QUERY_QC;
	s->f->default_answer.syndrome = ERDMA_CMD_ENOENT;
	KUNIT_EXPECT_EQ(test, erdma_fill_res_qp_entry_raw(msg, &s->qp[0]->ibqp), -EIO);
	s->f->dev->cmdq.quarantined = ERDMA_DIAG_HW_MAX_STUCK;
	KUNIT_EXPECT_EQ(test, erdma_fill_res_cq_entry_raw(msg, &s->cq->ibcq), -EBUSY);
	s->f->dev->cmdq.quarantined = 0;
	erdma_objtab_withdraw(&s->f->dev->qps, s->qp[0]->qpn);
	KUNIT_EXPECT_EQ(test, erdma_fill_res_qp_entry_raw(msg, &s->qp[0]->ibqp), -EAGAIN);
	KUNIT_EXPECT_EQ(test, msg->len, 0);
	diag_expect_no_reference_left(test);
	nlmsg_free(msg);
}

static void answer_after_destruction(struct fake_dev *f, const struct fake_cmd *cmd,
				     struct fake_answer *a)
{
	struct diag_setup *s = f->owner;

	WRITE_ONCE(f->dev->qps.leaves[0][s->qp[0]->qpn], NULL);
	a->syndrome = ERDMA_CMD_ENOENT;
}

/* A listing goes on */
static void raw_context_of_a_qp_that_has_gone_meanwhile_is_skipped(struct kunit *test)
{
	struct sk_buff *msg = message(test, NLMSG_DEFAULT_SIZE);
	struct diag_setup *s = setup_of(test);

	s->f->dev->attrs.flags |= ERDMA_FLAG_QUERY_QC;
	s->f->answer = answer_after_destruction;
	KUNIT_EXPECT_EQ(test, erdma_fill_res_qp_entry_raw(msg, &s->qp[0]->ibqp), -EAGAIN);
	erdma_objtab_publish(&s->f->dev->qps, s->qp[0]->qpn, &s->qp[0]->ref);
	diag_expect_no_reference_left(test);
	nlmsg_free(msg);
}

static struct kunit_case restrack_cases[] = {
	KUNIT_CASE(live_objects_are_described),
	KUNIT_CASE(qp_in_destruction_is_not_looked_at),
	KUNIT_CASE(qp_whose_number_is_anothers_is_not_looked_at),
	KUNIT_CASE(cq_in_destruction_is_not_looked_at),
	KUNIT_CASE(long_listing_has_details_of_qps_with_events),
	KUNIT_CASE(long_listing_goes_without_details),
	KUNIT_CASE(full_message_gets_no_part),
	KUNIT_CASE(requests_in_flight_are_counted_and_named),
	KUNIT_CASE(walk_of_the_send_queue_is_bounded),
	KUNIT_CASE(idle_queue_has_no_first_request),
	KUNIT_CASE(short_listing_says_what_is_in_flight),
	KUNIT_CASE(raw_context_is_that_of_the_device),
	KUNIT_CASE(raw_context_that_cannot_be_had_is_an_error),
	KUNIT_CASE(raw_context_of_a_qp_that_has_gone_meanwhile_is_skipped),
	{}
};

struct kunit_suite erdma_restrack_suite = {
	.name = "erdma_restrack",
	.init = restrack_init,
	.exit = diag_setup_exit,
	.test_cases = restrack_cases,
};
