// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* What verbs promise and refuse: states, limits, capabilities (docs/erdma-hardware.md, 6 and 11) */
#include "erdma/erdma_field.h"
#include "fake_dev.h"
#include "suites.h"

#define CAP0 0x00041400A80F0A1FULL	/* appendix D */
#define CAP1 0xFFFFFF0010400000ULL

static int verbs_test_init(struct kunit *test)
{
	int ret = fake_init(test);

	if (ret)
		return ret;
	return erdma_parse_caps(&fake_of(test)->dev->attrs, CAP0, CAP1);
}

/* ---- states --------------------------------------------------------------- */

static struct erdma_qp *new_qp(struct kunit *test, enum erdma_qp_state state)
{
	struct erdma_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, qp);
	qp->dev = fake_of(test)->dev;
	qp->ibqp.device = &qp->dev->ibdev;
	qp->qpn = 5;
	qp->state = state;
	init_rwsem(&qp->state_lock);
	spin_lock_init(&qp->ksq.lock);
	qp->ksq.dbrec = kunit_kzalloc(test, sizeof(*qp->ksq.dbrec), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, qp->ksq.dbrec);
	return qp;
}

#define SQ_DEPTH 16

static void give_send_ring(struct kunit *test, struct erdma_qp *qp)
{
	struct erdma_kqueue *sq = &qp->ksq;

	qp->sq_depth = SQ_DEPTH;
	sq->buf = kunit_kzalloc(test, SQ_DEPTH * ERDMA_WQEBB_SIZE, GFP_KERNEL);
	sq->wr_id = kunit_kzalloc(test, SQ_DEPTH * sizeof(*sq->wr_id), GFP_KERNEL);
	sq->blocks = kunit_kzalloc(test, SQ_DEPTH, GFP_KERNEL);
	sq->db = (void __iomem *)kunit_kzalloc(test, sizeof(u64), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, sq->buf);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, sq->wr_id);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, sq->blocks);
	KUNIT_ASSERT_TRUE(test, !!sq->db);
}

static void error_of_an_application_has_no_way_back(struct kunit *test)
{
	static const u8 states[] = { IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS };
	struct erdma_qp *qp = new_qp(test, ERDMA_QPS_ERROR);
	struct ib_qp_attr attr = {};
	int i;

	qp->is_user = true;
	for (i = 0; i < ARRAY_SIZE(states); i++) {
		attr.qp_state = states[i];
		KUNIT_EXPECT_EQ(test, erdma_modify_qp(&qp->ibqp, &attr, IB_QP_STATE, NULL),
				-EINVAL);
		KUNIT_EXPECT_EQ(test, qp->state, ERDMA_QPS_ERROR);
	}
	KUNIT_EXPECT_EQ(test, fake_of(test)->total, 0);
}

static void fresh_qp_may_be_initialised(struct kunit *test)
{
	static const u8 states[] = { IB_QPS_INIT, IB_QPS_RTR };
	struct erdma_qp *qp = new_qp(test, ERDMA_QPS_IDLE);
	struct ib_qp_attr attr = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(states); i++) {
		attr.qp_state = states[i];
		KUNIT_EXPECT_EQ(test, erdma_modify_qp(&qp->ibqp, &attr, IB_QP_STATE, NULL), 0);
	}
}

/* ---- limits --------------------------------------------------------------- */

static void take_all_numbers(struct erdma_objtab *tab)
{
	u32 i;

	for (i = 1; i <= FAKE_NUMBERS; i++)
		erdma_idtab_reserve(&tab->ids, i);
}

static void no_cqn_left_is_enomem(struct kunit *test)
{
	struct erdma_cq *cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);
	struct ib_cq_init_attr attr = { .cqe = 1 };
	struct erdma_dev *dev = fake_of(test)->dev;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, cq);
	cq->ibcq.device = &dev->ibdev;
	dev->n_comp_eqs = 1;
	take_all_numbers(&dev->cqs);
	KUNIT_EXPECT_EQ(test, erdma_create_cq(&cq->ibcq, &attr, NULL), -ENOMEM);
	KUNIT_EXPECT_EQ(test, fake_of(test)->total, 0);
}

static void no_qpn_left_is_enomem(struct kunit *test)
{
	struct erdma_cq *cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);
	struct erdma_qp *qp = new_qp(test, ERDMA_QPS_IDLE);
	struct ib_qp_init_attr attr = {
		.qp_type = IB_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1 },
	};
	struct erdma_dev *dev = fake_of(test)->dev;
	struct erdma_pd pd = {};

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, cq);
	attr.send_cq = &cq->ibcq;
	attr.recv_cq = &cq->ibcq;
	qp->ibqp.pd = &pd.ibpd;
	take_all_numbers(&dev->qps);
	KUNIT_EXPECT_EQ(test, erdma_create_qp(&qp->ibqp, &attr, NULL), -ENOMEM);
	KUNIT_EXPECT_EQ(test, fake_of(test)->total, 0);
}

static void regions_beyond_the_limits_are_refused(struct kunit *test)
{
	struct erdma_dev *dev = fake_of(test)->dev;
	u64 most = dev->attrs.max_mr_size;
	struct erdma_pd pd = {};

	pd.ibpd.device = &dev->ibdev;
	KUNIT_EXPECT_EQ(test, PTR_ERR(erdma_reg_user_mr(&pd.ibpd, 0, 0, 0, 0, NULL)),
			(long)-EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(erdma_reg_user_mr(&pd.ibpd, 0, most + 1, 0, 0, NULL)),
			(long)-EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(erdma_reg_user_mr(&pd.ibpd, 0, 4096, 0, IB_ACCESS_MW_BIND,
							NULL)), (long)-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, PTR_ERR(erdma_alloc_mr(&pd.ibpd, IB_MR_TYPE_MEM_REG, 0)),
			(long)-EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(erdma_alloc_mr(&pd.ibpd, IB_MR_TYPE_MEM_REG,
						     ERDMA_MAX_FRMR_PAGES + 1)), (long)-EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(erdma_alloc_mr(&pd.ibpd, IB_MR_TYPE_SG_GAPS, 1)),
			(long)-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, atomic_read(&dev->mrs.ids.used), 0);
	KUNIT_EXPECT_EQ(test, fake_of(test)->total, 0);
}

/* ---- capabilities ---------------------------------------------------------- */

static void query(struct kunit *test, u64 cap0, u64 cap1, struct ib_device_attr *attr)
{
	struct erdma_dev *dev = fake_of(test)->dev;
	struct ib_udata udata = {};

	KUNIT_ASSERT_EQ(test, erdma_parse_caps(&dev->attrs, cap0, cap1), 0);
	KUNIT_ASSERT_EQ(test, erdma_query_device(&dev->ibdev, attr, &udata), 0);
}

/* Number 0 is not handed out */
static void numbers_that_are_promised_are_there(struct kunit *test)
{
	struct ib_device_attr attr;

	query(test, CAP0, CAP1, &attr);
	KUNIT_EXPECT_EQ(test, attr.max_qp, 65535);
	KUNIT_EXPECT_EQ(test, attr.max_cq, 131071);
}

static void no_windows_are_promised(struct kunit *test)
{
	struct ib_device_attr attr;

	query(test, CAP0, CAP1 | ERDMA_PREP(ERDMA_CAP1_MAX_MW, 20), &attr);
	KUNIT_EXPECT_EQ(test, attr.max_mw, 0);
}

static void atomics_only_where_the_device_has_them(struct kunit *test)
{
	static const int all = IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC;
	const u64 without = CAP0 & ~ERDMA_PREP(ERDMA_CAP0_FLAGS, ERDMA_FLAG_ATOMIC);
	struct erdma_qp *qp = new_qp(test, ERDMA_QPS_RTS);
	struct erdma_dev *dev = fake_of(test)->dev;
	struct ib_sge sge = { .length = 8 };
	struct ib_atomic_wr wr = {
		.wr = { .opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .sg_list = &sge, .num_sge = 1 },
	};
	const struct ib_send_wr *bad;
	struct ib_device_attr attr;

	query(test, CAP0, CAP1, &attr);
	KUNIT_EXPECT_EQ(test, attr.atomic_cap, IB_ATOMIC_GLOB);
	KUNIT_EXPECT_EQ(test, erdma_mr_rights(dev, all),
			ERDMA_RIGHT_LOCAL_READ | ERDMA_RIGHT_REMOTE_READ |
			ERDMA_RIGHT_REMOTE_ATOMIC);

	query(test, without, CAP1, &attr);
	KUNIT_EXPECT_EQ(test, attr.atomic_cap, IB_ATOMIC_NONE);
	KUNIT_EXPECT_EQ(test, erdma_mr_rights(dev, all),
			ERDMA_RIGHT_LOCAL_READ | ERDMA_RIGHT_REMOTE_READ);
	KUNIT_EXPECT_EQ(test, erdma_post_send(&qp->ibqp, &wr.wr, &bad), -EOPNOTSUPP);
	KUNIT_EXPECT_PTR_EQ(test, bad, (const struct ib_send_wr *)&wr.wr);
}

/* The work request is another way to the rights of a region than the command */
static void fast_registration_grants_no_atomics_the_device_lacks(struct kunit *test)
{
	const u64 without = CAP0 & ~ERDMA_PREP(ERDMA_CAP0_FLAGS, ERDMA_FLAG_ATOMIC);
	struct erdma_qp *qp = new_qp(test, ERDMA_QPS_RTS);
	struct erdma_mr *mr = kunit_kzalloc(test, sizeof(*mr), GFP_KERNEL);
	struct ib_reg_wr wr = {
		.wr = { .opcode = IB_WR_REG_MR },
		.access = IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC,
	};
	const struct erdma_sqe_reg_mr *sqe;
	const struct ib_send_wr *bad;
	struct ib_device_attr attr;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	give_send_ring(test, qp);
	mr->type = ERDMA_MR_FRMR;
	mr->ibmr.device = qp->ibqp.device;
	wr.mr = &mr->ibmr;
	query(test, without, CAP1, &attr);
	KUNIT_ASSERT_EQ(test, erdma_post_send(&qp->ibqp, &wr.wr, &bad), 0);
	sqe = qp->ksq.buf;
	KUNIT_EXPECT_EQ(test, le32_to_cpu(sqe->attr) & ERDMA_SQE_REG_MR_RIGHTS,
			ERDMA_RIGHT_LOCAL_READ | ERDMA_RIGHT_REMOTE_READ);
}

static void request_with_fence_and_key_is_in_the_ring(struct kunit *test)
{
	struct erdma_qp *qp = new_qp(test, ERDMA_QPS_RTS);
	struct ib_sge sink = { .addr = 0x123456789000, .length = 100, .lkey = 0x4711 };
	struct ib_rdma_wr wr = {
		.wr = { .opcode = IB_WR_RDMA_READ_WITH_INV, .sg_list = &sink, .num_sge = 1,
			.send_flags = IB_SEND_FENCE | IB_SEND_SIGNALED },
	};
	const struct erdma_sqe_read *sqe;
	const struct ib_send_wr *bad;
	u64 hdr;

	give_send_ring(test, qp);
	KUNIT_ASSERT_EQ(test, erdma_post_send(&qp->ibqp, &wr.wr, &bad), 0);
	sqe = qp->ksq.buf;
	hdr = le64_to_cpu(sqe->hdr);
	KUNIT_EXPECT_EQ(test, ERDMA_GET(ERDMA_SQE_HDR_OPCODE, hdr), ERDMA_OP_READ_INV);
	KUNIT_EXPECT_EQ(test, ERDMA_GET(ERDMA_SQE_HDR_FENCE, hdr), 1);
	KUNIT_EXPECT_EQ(test, ERDMA_GET(ERDMA_SQE_HDR_SE, hdr), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(sqe->inv_stag), 0x4711);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(sqe->length), 100);
}

static void expect_refused(struct kunit *test, struct erdma_qp *qp, const struct ib_send_wr *wr)
{
	const struct ib_send_wr *bad = NULL;

	KUNIT_EXPECT_EQ(test, erdma_post_send(&qp->ibqp, wr, &bad), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, bad, wr);
}

static void requests_without_sense_are_refused(struct kunit *test)
{
	struct erdma_qp *qp = new_qp(test, ERDMA_QPS_RTS);
	struct erdma_mr *mr = kunit_kzalloc(test, sizeof(*mr), GFP_KERNEL);
	struct ib_sge sge = { .length = 7 };
	struct ib_atomic_wr atomic = {
		.wr = { .opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .sg_list = &sge, .num_sge = 1 },
	};
	struct ib_reg_wr reg = { .wr = { .opcode = IB_WR_REG_MR } };
	const struct ib_recv_wr *bad_recv = NULL;
	struct ib_recv_wr recv = {};

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	give_send_ring(test, qp);
	expect_refused(test, qp, &atomic.wr);
	sge.length = 8;
	atomic.wr.num_sge = 2;
	expect_refused(test, qp, &atomic.wr);
	/* Not made for fast registration */
	mr->type = ERDMA_MR_NORMAL;
	mr->ibmr.device = qp->ibqp.device;
	reg.mr = &mr->ibmr;
	expect_refused(test, qp, &reg.wr);
	/* The queues of an application are in its memory */
	qp->is_user = true;
	expect_refused(test, qp, &atomic.wr);
	KUNIT_EXPECT_EQ(test, erdma_post_recv(&qp->ibqp, &recv, &bad_recv), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, bad_recv, (const struct ib_recv_wr *)&recv);
	KUNIT_EXPECT_EQ(test, qp->ksq.pi, 0);
}

static void empty_list_posts_nothing(struct kunit *test)
{
	struct erdma_qp *qp = new_qp(test, ERDMA_QPS_RTS);
	const struct ib_send_wr *bad_send = NULL;
	const struct ib_recv_wr *bad_recv = NULL;

	give_send_ring(test, qp);
	spin_lock_init(&qp->krq.lock);
	KUNIT_EXPECT_EQ(test, erdma_post_send(&qp->ibqp, NULL, &bad_send), 0);
	KUNIT_EXPECT_EQ(test, erdma_post_recv(&qp->ibqp, NULL, &bad_recv), 0);
	KUNIT_EXPECT_NULL(test, bad_send);
	KUNIT_EXPECT_NULL(test, bad_recv);
	KUNIT_EXPECT_EQ(test, qp->ksq.pi, 0);
	KUNIT_EXPECT_EQ(test, qp->krq.pi, 0);
}

/* Key 0 is what a device without one says */
static void local_dma_key_that_could_be_a_region_is_not_used(struct kunit *test)
{
	static const u32 bad[] = { 0, 0x100, 131071 << 8 };
	static const u32 good[] = { 131072 << 8, 0xffffff00, 0xffffffff };
	struct ib_device_attr attr;
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		query(test, CAP0, (u32)CAP1 | (u64)bad[i] << 32, &attr);
		KUNIT_EXPECT_EQ(test, attr.kernel_cap_flags & IBK_LOCAL_DMA_LKEY, 0);
		KUNIT_EXPECT_EQ(test, attr.max_mr, 131071);
	}
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		query(test, CAP0, (u32)CAP1 | (u64)good[i] << 32, &attr);
		KUNIT_EXPECT_NE(test, attr.kernel_cap_flags & IBK_LOCAL_DMA_LKEY, 0);
		KUNIT_EXPECT_EQ(test, attr.max_mr, 131072);
	}
}

static void doorbell_pages_are_not_shared(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, erdma_page_size_fits(4096));
	KUNIT_EXPECT_FALSE(test, erdma_page_size_fits(16384));
	KUNIT_EXPECT_FALSE(test, erdma_page_size_fits(65536));
}

static struct kunit_case verbs_cases[] = {
	KUNIT_CASE(error_of_an_application_has_no_way_back),
	KUNIT_CASE(fresh_qp_may_be_initialised),
	KUNIT_CASE(no_cqn_left_is_enomem),
	KUNIT_CASE(no_qpn_left_is_enomem),
	KUNIT_CASE(regions_beyond_the_limits_are_refused),
	KUNIT_CASE(numbers_that_are_promised_are_there),
	KUNIT_CASE(no_windows_are_promised),
	KUNIT_CASE(atomics_only_where_the_device_has_them),
	KUNIT_CASE(fast_registration_grants_no_atomics_the_device_lacks),
	KUNIT_CASE(request_with_fence_and_key_is_in_the_ring),
	KUNIT_CASE(requests_without_sense_are_refused),
	KUNIT_CASE(empty_list_posts_nothing),
	KUNIT_CASE(local_dma_key_that_could_be_a_region_is_not_used),
	KUNIT_CASE(doorbell_pages_are_not_shared),
	{}
};

struct kunit_suite erdma_verbs_suite = {
	.name = "erdma_verbs",
	.init = verbs_test_init,
	.exit = fake_exit,
	.test_cases = verbs_cases,
};
