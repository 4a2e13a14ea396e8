// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Details of QPs, CQs and MRs for "rdma resource show -dd", and the device's own
 * contexts of QPs and CQs for its "-r". No keys and no addresses in details: they
 * are not restricted to administrators. Of user contexts, PDs and cm_ids the core shows
 * what it knows: for the former it has no question to the driver, and what a cm_id
 * refers to is not held while it asks.
 *
 * The core holds the memory of the object it asks about, and untracks a region
 * before it takes it from the driver. Of QPs and CQs it depends on the kernel:
 * many destroy first and untrack afterwards, so that what the object points to can
 * be freed already. Its own reference says whether it is, and keeps it.
 *
 * A listing of many QPs has details only of those that had asynchronous events: they are
 * few, and the ones that are looked for. The core fills messages of one page and,
 * for each, walks all QPs from the first one on: with 10,000 QPs that is nine tenths
 * of the work, and with details of all there are four times as many messages. What is
 * more than nearly free is shown of a QP that is asked for alone.
 */
#include <linux/capability.h>
#include <linux/user_namespace.h>

#include <net/netlink.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>

#include "erdma/erdma_names.h"
#include "erdma_diag_int.h"

#define LIST_DETAILS_MAX	1024	/* QPs of all of which a listing has details */

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

/* Does the core list many objects? It asks for a single one by another message. */
static bool restrack_is_listing(const struct sk_buff *msg)
{
	return nlmsg_hdr(msg)->nlmsg_flags & NLM_F_MULTI;
}

/**
 * struct restrack_sq - requests in flight of a kernel send queue
 * @first: opcode of the oldest one, enum erdma_wr_opcode
 * @last: of the newest one
 * @count: requests; @first and @last have a meaning if there are any
 */
struct restrack_sq {
	u32 first;
	u32 last;
	u32 count;
};

static u32 restrack_sqe_opcode(const struct erdma_qp *qp, u16 at)
{
	const u8 *sqe = qp->ksq.buf;

	sqe += (size_t)erdma_ring_slot(at, qp->sq_depth) * ERDMA_WQEBB_SIZE;
	return FIELD_GET(ERDMA_SQE_HDR_OPCODE, le64_to_cpu(READ_ONCE(*(const __le64 *)sqe)));
}

/*
 * By the driver's own records of where requests begin, at most a ring of them. No lock:
 * who posts should not wait for somebody who looks, and what moves is a moment old anyway.
 */
static void restrack_walk_sq(const struct erdma_qp *qp, struct restrack_sq *out)
{
	const struct erdma_kqueue *sq = &qp->ksq;
	u16 at = READ_ONCE(sq->ci), used = READ_ONCE(sq->pi) - at, last = at;
	u16 blocks;

	*out = (struct restrack_sq) { .first = restrack_sqe_opcode(qp, at) };
	for (; used; used -= min(used, blocks)) {
		blocks = READ_ONCE(sq->blocks[erdma_ring_slot(at, qp->sq_depth)]);
		if (!blocks)
			break;
		last = at;
		at += blocks;
		out->count++;
	}
	out->last = restrack_sqe_opcode(qp, last);
}

/* What is in flight. What it asks the device to do is for administrators, as in the node. */
static int restrack_put_in_flight(struct sk_buff *msg, struct erdma_qp *qp)
{
	struct restrack_sq sq;
	u16 n_recv;

	if (qp->is_user)	/* only the application knows */
		return 0;
	restrack_walk_sq(qp, &sq);
	n_recv = READ_ONCE(qp->krq.pi) - READ_ONCE(qp->krq.ci);
	if (rdma_nl_put_driver_u32(msg, "sq_in_flight", sq.count) ||
	    rdma_nl_put_driver_u32(msg, "rq_in_flight", n_recv))
		return -EMSGSIZE;
	if (!sq.count || !ns_capable_noaudit(&init_user_ns, CAP_NET_ADMIN))
		return 0;
	if (restrack_put_name(msg, "sq_first", erdma_name_wr_opcode(sq.first), sq.first) ||
	    restrack_put_name(msg, "sq_last", erdma_name_wr_opcode(sq.last), sq.last))
		return -EMSGSIZE;
	return 0;
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
	if (restrack_put_queue(msg, &q, "rq_depth", "rq_pi", "rq_ci"))
		return -EMSGSIZE;
	return restrack_put_in_flight(msg, qp);
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

static bool restrack_is_one_of_many(const struct sk_buff *msg, struct ib_qp *ibqp)
{
	return atomic_read(&dev_of(ibqp->device)->n_qp) > LIST_DETAILS_MAX &&
	       restrack_is_listing(msg);
}

/* Not inline: nothing is saved and restored for a QP of which there is nothing to say */
static noinline int restrack_describe_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct erdma_qp *qp = restrack_get_qp(ibqp);
	struct nlattr *table;
	int ret = -EMSGSIZE;

	if (!qp)
		return 0;
	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (table)
		ret = restrack_put_qp(msg, qp);
	erdma_qp_put(qp);
	return restrack_end(msg, table, ret);
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
	if (restrack_is_one_of_many(msg, ibqp) && !atomic_read(&qp_of(ibqp)->async_events))
		return 0;
	return restrack_describe_qp(msg, ibqp);
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

/* ---- raw contexts ----------------------------------------------------------- */

static bool restrack_exists(struct erdma_dev *dev, u32 obj, u32 id)
{
	struct erdma_qp *qp = obj == ERDMA_DIAG_OBJ_QP ? erdma_qp_get(dev, id) : NULL;
	struct erdma_cq *cq = obj == ERDMA_DIAG_OBJ_CQ ? erdma_cq_get(dev, id) : NULL;

	if (qp)
		erdma_qp_put(qp);
	if (cq)
		erdma_cq_put(cq);
	return qp || cq;
}

/*
 * One command each: the core asks for them for administrators only, one after the
 * other. An object that has gone since is skipped.
 */
static int restrack_put_raw(struct sk_buff *msg, struct erdma_dev *dev, u32 obj, u32 id)
{
	struct erdma_diag_hw hw = {};
	int ret;

	ret = erdma_diag_raw_hw(dev, obj, id, &hw);
	if (ret && !restrack_exists(dev, obj, id))
		return -EAGAIN;
	if (ret)
		return ret;
	return nla_put(msg, RDMA_NLDEV_ATTR_RES_RAW, hw.len, hw.data);
}

/**
 * erdma_fill_res_qp_entry_raw - fill_res_qp_entry_raw of struct ib_device_ops
 * @msg: netlink message
 * @ibqp: its memory is held by the core; may be in destruction
 *
 * Context: process; sends a command.
 * Return: 0; -EMSGSIZE; -EAGAIN: it is being destroyed; see erdma_diag_raw_hw().
 */
int erdma_fill_res_qp_entry_raw(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct erdma_qp *qp = restrack_get_qp(ibqp);
	u32 qpn;

	if (!qp)
		return -EAGAIN;
	/* Not held while the device is asked: destruction would wait */
	qpn = qp->qpn;
	erdma_qp_put(qp);
	return restrack_put_raw(msg, dev_of(ibqp->device), ERDMA_DIAG_OBJ_QP, qpn);
}

/**
 * erdma_fill_res_cq_entry_raw - fill_res_cq_entry_raw of struct ib_device_ops
 * @msg: netlink message
 * @ibcq: its memory is held by the core; may be in destruction
 *
 * Context: process; sends a command.
 * Return: see erdma_fill_res_qp_entry_raw().
 */
int erdma_fill_res_cq_entry_raw(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct erdma_cq *cq = restrack_get_cq(ibcq);
	u32 cqn;

	if (!cq)
		return -EAGAIN;
	cqn = cq->cqn;
	erdma_cq_put(cq);
	return restrack_put_raw(msg, dev_of(ibcq->device), ERDMA_DIAG_OBJ_CQ, cqn);
}
