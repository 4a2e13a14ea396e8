// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Details of QPs, CQs and MRs for "rdma resource show -dd". No keys and no
 * addresses: this is not restricted to administrators.
 *
 * The core holds the memory of the object it asks about, and untracks a region
 * before it takes it from the driver. Of QPs and CQs it depends on the kernel:
 * many destroy first and untrack afterwards, so that what the object points to can
 * be freed already. Its own reference says whether it is, and keeps it.
 *
 * A listing of many QPs goes without details. The core fills messages of one page and,
 * for each, walks all QPs from the first one on: with 10,000 QPs that is nine tenths
 * of the work, and with details there are four times as many messages.
 */
#include <net/netlink.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>

#include "erdma/erdma_names.h"
#include "erdma_diag_int.h"

#define LIST_DETAILS_MAX	1024	/* QPs of which a listing has details */

static int restrack_put_name(struct sk_buff *msg, const char *key, const char *name, u32 code)
{
	if (name)
		return rdma_nl_put_driver_string(msg, key, name);
	return rdma_nl_put_driver_u32(msg, key, code);
}

/* The keys of one queue: three literals, so that they can be searched for */
static int restrack_put_queue(struct sk_buff *msg, const struct erdma_diag_queue *q,
			      const char *depth, const char *pi, const char *ci)
{
	if (rdma_nl_put_driver_u32(msg, depth, q->depth))
		return -EMSGSIZE;
	if (q->valid & ERDMA_DIAG_Q_PI && rdma_nl_put_driver_u32(msg, pi, q->pi))
		return -EMSGSIZE;
	if (q->valid & ERDMA_DIAG_Q_CI && rdma_nl_put_driver_u32(msg, ci, q->ci))
		return -EMSGSIZE;
	return 0;
}

static int restrack_put_conn(struct sk_buff *msg, struct erdma_qp *qp)
{
	u32 peer = 0, cc = 0;
	bool connected;

	/* Held during device commands: do not wait for the device */
	if (!down_read_trylock(&qp->state_lock))
		return 0;
	connected = qp->connected;
	if (connected) {
		peer = qp->conn.peer_cookie;
		cc = qp->conn.cc;
	}
	up_read(&qp->state_lock);

	if (!connected)
		return 0;
	if (rdma_nl_put_driver_u32_hex(msg, "peer_cookie", peer))
		return -EMSGSIZE;
	return restrack_put_name(msg, "cc", erdma_name_cc(cc), cc);
}

static int restrack_put_qp(struct sk_buff *msg, struct erdma_qp *qp)
{
	u32 state = READ_ONCE(qp->state);
	struct erdma_diag_queue q;

	if (restrack_put_name(msg, "state", erdma_name_qp_state(state), state) ||
	    rdma_nl_put_driver_u32_hex(msg, "cookie", qp->cookie) ||
	    restrack_put_conn(msg, qp) ||
	    rdma_nl_put_driver_u32(msg, "send_cqn", qp->scq->cqn) ||
	    rdma_nl_put_driver_u32(msg, "recv_cqn", qp->rcq->cqn) ||
	    rdma_nl_put_driver_u32(msg, "async_events", atomic_read(&qp->async_events)))
		return -EMSGSIZE;

	erdma_diag_fill_sq(qp, &q);
	if (restrack_put_queue(msg, &q, "sq_depth", "sq_pi", "sq_ci"))
		return -EMSGSIZE;
	erdma_diag_fill_rq(qp, &q);
	return restrack_put_queue(msg, &q, "rq_depth", "rq_pi", "rq_ci");
}

static int restrack_put_cq(struct sk_buff *msg, struct erdma_cq *cq)
{
	struct erdma_diag_queue q;

	erdma_diag_fill_cq(cq, &q);
	if (restrack_put_queue(msg, &q, "depth", "pi", "ci") ||
	    rdma_nl_put_driver_u32(msg, "cqn", cq->cqn) ||
	    rdma_nl_put_driver_u32(msg, "eqn", cq->eqn) ||
	    rdma_nl_put_driver_u32(msg, "cmdsn", atomic_read(&cq->cmdsn)) ||
	    rdma_nl_put_driver_u64(msg, "events", atomic64_read(&cq->events)) ||
	    rdma_nl_put_driver_u32(msg, "async_events", atomic_read(&cq->async_events)))
		return -EMSGSIZE;
	if (!erdma_diag_cq_is_user(cq) &&
	    rdma_nl_put_driver_u32(msg, "arm_count", READ_ONCE(cq->kernel.arm_count)))
		return -EMSGSIZE;
	return 0;
}

static int restrack_put_mr(struct sk_buff *msg, struct erdma_mr *mr)
{
	if (restrack_put_name(msg, "mr_type", erdma_name_mr_type(mr->type), mr->type) ||
	    rdma_nl_put_driver_u32(msg, "index", mr->index) ||
	    rdma_nl_put_driver_u32_hex(msg, "rights", mr->rights))
		return -EMSGSIZE;
	if (mr->type == ERDMA_MR_DMA)
		return 0;
	if (rdma_nl_put_driver_u32(msg, "page_shift", mr->mtt.page_shift) ||
	    rdma_nl_put_driver_u32(msg, "pages", mr->mtt.page_cnt) ||
	    rdma_nl_put_driver_u32(msg, "mtt_level", mr->mtt.level))
		return -EMSGSIZE;
	return 0;
}

/* Ends the table, NULL if there was no room for it; not a part of it is sent */
static int restrack_end(struct sk_buff *msg, struct nlattr *table, int ret)
{
	if (!ret)
		nla_nest_end(msg, table);
	else if (table)
		nla_nest_cancel(msg, table);
	return ret;
}

/* erdma_qp_put() it; NULL: it is being destroyed, whoever has its number now */
static struct erdma_qp *restrack_get_qp(struct ib_qp *ibqp)
{
	struct erdma_qp *qp = erdma_qp_get(dev_of(ibqp->device), qp_of(ibqp)->qpn);

	if (!qp || qp == qp_of(ibqp))
		return qp;
	erdma_qp_put(qp);
	return NULL;
}

/* erdma_cq_put() it; NULL: as above */
static struct erdma_cq *restrack_get_cq(struct ib_cq *ibcq)
{
	struct erdma_cq *cq = erdma_cq_get(dev_of(ibcq->device), cq_of(ibcq)->cqn);

	if (!cq || cq == cq_of(ibcq))
		return cq;
	erdma_cq_put(cq);
	return NULL;
}

/* Is it one of many QPs that the core lists? It asks for a single one by another message. */
static bool restrack_is_one_of_many(const struct sk_buff *msg, struct ib_qp *ibqp)
{
	return atomic_read(&dev_of(ibqp->device)->n_qp) > LIST_DETAILS_MAX &&
	       nlmsg_hdr(msg)->nlmsg_flags & NLM_F_MULTI;
}

/**
 * erdma_fill_res_qp_entry - fill_res_qp_entry of struct ib_device_ops
 * @msg: netlink message
 * @ibqp: its memory is held by the core; may be in destruction
 *
 * Return: 0 or -EMSGSIZE.
 */
int erdma_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct nlattr *table;
	struct erdma_qp *qp;
	int ret = -EMSGSIZE;

	if (restrack_is_one_of_many(msg, ibqp))
		return 0;
	qp = restrack_get_qp(ibqp);
	if (!qp)
		return 0;
	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (table)
		ret = restrack_put_qp(msg, qp);
	erdma_qp_put(qp);
	return restrack_end(msg, table, ret);
}

/**
 * erdma_fill_res_cq_entry - fill_res_cq_entry of struct ib_device_ops
 * @msg: netlink message
 * @ibcq: its memory is held by the core; may be in destruction
 *
 * Return: 0 or -EMSGSIZE.
 */
int erdma_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct erdma_cq *cq = restrack_get_cq(ibcq);
	struct nlattr *table;
	int ret = -EMSGSIZE;

	if (!cq)
		return 0;
	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (table)
		ret = restrack_put_cq(msg, cq);
	erdma_cq_put(cq);
	return restrack_end(msg, table, ret);
}

/**
 * erdma_fill_res_mr_entry - fill_res_mr_entry of struct ib_device_ops
 * @msg: netlink message
 * @ibmr: held by the core, which untracks it before it is destroyed
 *
 * Return: 0 or -EMSGSIZE.
 */
int erdma_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);

	return restrack_end(msg, table, table ? restrack_put_mr(msg, mr_of(ibmr)) : -EMSGSIZE);
}
