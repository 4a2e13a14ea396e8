// SPDX-License-Identifier: GPL-2.0-or-later
/* Records of the driver and contexts of the device to facts. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "erdma/erdma_field.h"
#include "erdma/erdma_hw.h"
#include "erdma/erdma_names.h"
#include "erdma/erdma_ring.h"

#include "decode.h"
#include "schema.h"

/**
 * errno_name - symbolic name of an error number
 * @err: positive error number
 *
 * Return: "ENOENT" and the like.
 */
const char *errno_name(int err)
{
	const char *name = strerrorname_np(err);

	return name ? name : "EUNKNOWN";
}

/**
 * eq_name - how users call an event queue
 * @eqn: ERDMA_DIAG_EQ_*
 * @buf: room for the name
 *
 * Return: "cmdq", "aeq" or the number.
 */
const char *eq_name(uint32_t eqn, char buf[16])
{
	if (eqn == ERDMA_DIAG_EQ_CMDQ)
		return "cmdq";
	if (eqn == ERDMA_DIAG_EQ_AEQ)
		return "aeq";
	snprintf(buf, 16, "%u", eqn);
	return buf;
}

static const char *qp_type_name(uint32_t type)
{
	switch (type) {		/* enum ib_qp_type, also IB_UVERBS_QPT_* */
	case 1:
		return "GSI";
	case 2:
		return "RC";
	case 3:
		return "UC";
	case 4:
		return "UD";
	}
	return NULL;
}

static void set_nonzero(struct obj *o, unsigned int field, uint64_t v)
{
	if (v)
		obj_u64(o, field, v);
}

/* A time stamp of the past as an age; the clocks may differ by a little */
static void set_age(struct obj *o, unsigned int field, uint64_t now, uint64_t then)
{
	if (then && now)
		obj_u64(o, field, now > then ? now - then : 0);
}

static void set_addr(struct obj *o, unsigned int addr, unsigned int port, const uint8_t *ip,
		     uint16_t number)
{
	decode_ipv4(o, addr, ip);
	obj_u64(o, port, number);
}

/* A process that ended, or of another PID namespace, has no number */
static void set_owner(struct obj *o, unsigned int pid, unsigned int comm, unsigned int kernel,
		      const struct erdma_diag_owner *owner)
{
	obj_u64(o, kernel, owner->kernel);
	if (owner->pid)
		obj_u64(o, pid, owner->pid);
	else if (!owner->kernel)
		obj_missing(o, pid, V_UNKNOWN);
	if (owner->comm[0])
		obj_strn(o, comm, owner->comm, sizeof(owner->comm));
	else
		obj_missing(o, comm, V_UNKNOWN);
}

static void set_index(struct obj *o, unsigned int field, const struct erdma_diag_queue *q,
		      uint32_t valid, uint32_t index)
{
	if (q->valid & valid)
		obj_u64(o, field, index);
	else
		obj_missing(o, field, V_UNKNOWN);
}

/* Fields of a work queue, in the numbering of one schema */
struct queue_fields {
	unsigned int depth;
	unsigned int pi;
	unsigned int ci;
	unsigned int used;
};

static void set_queue(struct obj *o, const struct queue_fields *f,
		      const struct erdma_diag_queue *q)
{
	const uint32_t both = ERDMA_DIAG_Q_PI | ERDMA_DIAG_Q_CI;
	uint32_t used = erdma_ring_used16(q->pi, q->ci);

	obj_u64(o, f->depth, q->depth);
	set_index(o, f->pi, q, ERDMA_DIAG_Q_PI, q->pi);
	set_index(o, f->ci, q, ERDMA_DIAG_Q_CI, q->ci);
	if ((q->valid & both) == both && used <= q->depth)
		obj_u64(o, f->used, used);
	else
		obj_missing(o, f->used, V_UNKNOWN);
}

static const char *qp_role(const struct erdma_diag_qp *qp)
{
	return qp->flags & ERDMA_DIAG_QP_ACTIVE ? "active" :
	       qp->flags & ERDMA_DIAG_QP_PASSIVE ? "passive" : NULL;
}

/**
 * decode_qp_stopped - did the device stop a QP, as far as the driver knows?
 * @qp: record
 *
 * An asynchronous event that names a QP means that the device stopped it,
 * whatever its type. A QP that the driver itself stopped needs no such news.
 *
 * Return: 1: it did, 0: it did not; -1: only the device knows.
 */
int decode_qp_stopped(const struct erdma_diag_qp *qp)
{
	if (qp->flags & ERDMA_DIAG_QP_FATAL || qp->async_events)
		return 1;
	return qp->state == ERDMA_QPS_IDLE || qp->state == ERDMA_QPS_RTR ||
	       qp->state == ERDMA_QPS_RTS ? -1 : 0;
}

/**
 * decode_qp_flushing - do the flush flags of a QP's context say that it is stopped?
 * @buf: response of QUERY_QPC
 * @len: its bytes
 *
 * Return: true if it is.
 */
bool decode_qp_flushing(const void *buf, size_t len)
{
	const uint8_t *p = buf;

	return len >= sizeof(struct erdma_resp_qpc) &&
	       (p[offsetof(struct erdma_resp_qpc, sq_in_flush)] ||
		p[offsetof(struct erdma_resp_qpc, rq_in_flush)]);
}

/**
 * decode_qp_row - facts of a QP for a list
 * @o: object of schema_qp_list
 * @qp: record
 * @now_ns: CLOCK_MONOTONIC of the driver's host, 0 if unknown
 */
void decode_qp_row(struct obj *o, const struct erdma_diag_qp *qp, uint64_t now_ns)
{
	static const struct queue_fields sq = { QL_SQ_DEPTH, QL_SQ_PI, QL_SQ_CI, QL_SQ_USED };
	static const struct queue_fields rq = { QL_RQ_DEPTH, QL_RQ_PI, QL_RQ_CI, QL_RQ_USED };

	obj_u64(o, QL_QPN, qp->qpn);
	decode_name(o, QL_TYPE, qp_type_name(qp->type), qp->type);
	decode_name(o, QL_STATE, erdma_name_qp_state(qp->state), qp->state);
	if (decode_qp_stopped(qp) >= 0)
		obj_u64(o, QL_STOPPED, (uint64_t)decode_qp_stopped(qp));
	else
		obj_missing(o, QL_STOPPED, V_UNKNOWN);
	if (qp->family == AF_INET) {
		obj_str(o, QL_FAMILY, "ipv4");
		set_addr(o, QL_PEER_ADDR, QL_PEER_PORT, qp->daddr, qp->dport);
		set_addr(o, QL_LOCAL_ADDR, QL_LOCAL_PORT, qp->saddr, qp->sport);
	}
	if (qp_role(qp))
		obj_str(o, QL_ROLE, qp_role(qp));
	set_queue(o, &sq, &qp->sq);
	set_queue(o, &rq, &qp->rq);
	obj_u64(o, QL_SEND_CQN, qp->send_cqn);
	obj_u64(o, QL_RECV_CQN, qp->recv_cqn);
	obj_u64(o, QL_PDN, qp->pdn);
	set_age(o, QL_AGE, now_ns, qp->created_ns);
	set_age(o, QL_STATE_AGE, now_ns, qp->state_ns);
	obj_u64(o, QL_ASYNC, qp->async_events);
	if (qp->async_events)
		decode_name(o, QL_LAST_ASYNC, erdma_name_ae_type(qp->last_ae_type),
			    qp->last_ae_type);
	set_owner(o, QL_PID, QL_COMM, QL_KERNEL, &qp->owner);
}

static const char *notify_name(uint32_t notify)
{
	static const char *const names[] = { "none", "next", "solicited" };

	return notify < 3 ? names[notify] : NULL;
}

/* The CI of the last arm is the only hint a user CQ leaves (8.6) */
static void set_armed_ci(struct obj *o, unsigned int field, const struct erdma_diag_cq *cq)
{
	const struct erdma_diag_queue *q = &cq->cq;

	if (q->valid & ERDMA_DIAG_Q_DBREC && q->dbrec & ERDMA_CQ_DB_ARM)
		obj_u64(o, field, ERDMA_GET(ERDMA_CQ_DB_CI, q->dbrec));
	else if (!(q->valid & ERDMA_DIAG_Q_DBREC) && !cq->owner.kernel)
		obj_missing(o, field, V_UNKNOWN);
}

/* Applications arm without the driver */
static void set_arms(struct obj *o, unsigned int count, unsigned int notify,
		     const struct erdma_diag_cq *cq)
{
	if (!cq->owner.kernel) {
		obj_missing(o, count, V_UNKNOWN);
		obj_missing(o, notify, V_UNKNOWN);
		return;
	}
	obj_u64(o, count, cq->arm_count);
	decode_name(o, notify, notify_name(cq->notify), cq->notify);
}

/**
 * decode_cq_row - facts of a CQ for a list
 * @o: object of schema_cq_list
 * @cq: record
 * @now_ns: as in decode_qp_row()
 */
void decode_cq_row(struct obj *o, const struct erdma_diag_cq *cq, uint64_t now_ns)
{
	obj_u64(o, CL_CQN, cq->cqn);
	obj_u64(o, CL_EQN, cq->eqn);
	obj_u64(o, CL_VECTOR, cq->comp_vector);
	obj_u64(o, CL_MSIX, cq->eqn);
	obj_u64(o, CL_DEPTH, cq->cq.depth);
	set_index(o, CL_CI, &cq->cq, ERDMA_DIAG_Q_CI, cq->cq.ci);
	set_armed_ci(o, CL_ARMED_CI, cq);
	obj_u64(o, CL_CMDSN, cq->cmdsn);
	set_arms(o, CL_ARM_COUNT, CL_NOTIFY, cq);
	obj_u64(o, CL_EVENTS, cq->events);
	obj_u64(o, CL_ASYNC, cq->async_events);
	set_age(o, CL_AGE, now_ns, cq->created_ns);
	set_owner(o, CL_PID, CL_COMM, CL_KERNEL, &cq->owner);
}

/* A fact that older drivers do not have */
static void set_later(struct obj *o, unsigned int field, uint64_t v, bool has)
{
	if (has)
		obj_u64(o, field, v);
	else
		obj_missing(o, field, V_UNKNOWN);
}

#define EQ_HAS(member, len)								\
	((len) >= offsetof(struct erdma_diag_eq, member) + sizeof(__u64))

/**
 * decode_eq_row - facts of an EQ for a list
 * @o: object of schema_eq_list
 * @eq: record
 * @len: its bytes: an older driver has fewer
 */
void decode_eq_row(struct obj *o, const struct erdma_diag_eq *eq, size_t len)
{
	char name[16];
	unsigned int i;

	obj_str(o, EL_EQ, eq_name(eq->eqn, name));
	obj_u64(o, EL_EQN, eq->eqn);
	/* Completion EQ n: MSI-X vector n, completion vector n - 1 of the verbs */
	if (eq->eqn != ERDMA_DIAG_EQ_CMDQ && eq->eqn != ERDMA_DIAG_EQ_AEQ)
		obj_u64(o, EL_COMP_VECTOR, eq->eqn - 1);
	obj_u64(o, EL_VECTOR, eq->vector);
	obj_u64(o, EL_IRQ, eq->irq);
	obj_u64(o, EL_DEPTH, eq->eq.depth);
	set_index(o, EL_CI, &eq->eq, ERDMA_DIAG_Q_CI, eq->eq.ci);
	obj_u64(o, EL_EVENTS, eq->events);
	obj_u64(o, EL_INTERRUPTS, eq->interrupts);
	set_later(o, EL_SERVED, eq->served, EQ_HAS(served, len));
	set_later(o, EL_LOST_IRQS, eq->lost_irqs, EQ_HAS(lost_irqs, len));
	obj_u64(o, EL_NOTIFIES, eq->notifies);
	obj_u64(o, EL_UNKNOWN, eq->unknown);
	for (i = 0; eq->eqn == ERDMA_DIAG_EQ_AEQ && i <= ERDMA_AE_COUNT; i++)
		obj_u64(o, EL_BY_TYPE0 + i, eq->by_type[i]);
}

/* ---- sides of info ------------------------------------------------------ */

struct side_queue {
	struct queue_fields q;
	unsigned int dbrec;
	unsigned int addr;
	unsigned int dbrec_addr;
	unsigned int page_size;
	unsigned int pages;
};

static void set_memory(struct obj *o, const struct side_queue *f,
		       const struct erdma_diag_queue *q)
{
	if (q->valid & ERDMA_DIAG_Q_DBREC)
		obj_u64(o, f->dbrec, q->dbrec);
	set_nonzero(o, f->addr, q->dma);
	set_nonzero(o, f->dbrec_addr, q->dbrec_dma);
	if (q->page_shift && q->page_shift < 64)
		obj_u64(o, f->page_size, 1ULL << q->page_shift);
	set_nonzero(o, f->pages, q->page_cnt);
}

static const struct side_queue qp_side_sq = {
	{ QS_SQ_DEPTH, QS_SQ_PI, QS_SQ_CI, QS_SQ_USED }, QS_SQ_DBREC, QS_SQ_ADDR,
	QS_SQ_DBREC_ADDR, QS_SQ_PAGE_SIZE, QS_SQ_PAGES,
};

static const struct side_queue qp_side_rq = {
	{ QS_RQ_DEPTH, QS_RQ_PI, QS_RQ_CI, QS_RQ_USED }, QS_RQ_DBREC, QS_RQ_ADDR,
	QS_RQ_DBREC_ADDR, QS_RQ_PAGE_SIZE, QS_RQ_PAGES,
};

static void qp_driver_identity(struct obj *o, const struct erdma_diag_qp *qp)
{
	decode_name(o, QS_TYPE, qp_type_name(qp->type), qp->type);
	decode_name(o, QS_STATE, erdma_name_qp_state(qp->state), qp->state);
	if (qp_role(qp))
		obj_str(o, QS_ROLE, qp_role(qp));
	obj_word(o, QS_FLAGS, NULL);
	if (qp->flags & ERDMA_DIAG_QP_SIG_ALL)
		obj_word(o, QS_FLAGS, "signal-all");
	if (qp->flags & ERDMA_DIAG_QP_DB_ASSOC)
		obj_word(o, QS_FLAGS, "own-doorbell-pages");
	obj_u64(o, QS_PDN, qp->pdn);
	obj_u64(o, QS_SEND_CQN, qp->send_cqn);
	obj_u64(o, QS_RECV_CQN, qp->recv_cqn);
	obj_u64(o, QS_COOKIE, qp->cookie);
	if (qp->family != AF_INET)
		return;
	obj_u64(o, QS_PEER_COOKIE, qp->peer_cookie);
	set_addr(o, QS_LOCAL_ADDR, QS_LOCAL_PORT, qp->saddr, qp->sport);
	set_addr(o, QS_PEER_ADDR, QS_PEER_PORT, qp->daddr, qp->dport);
	decode_name(o, QS_CC, erdma_name_cc(qp->cc), qp->cc);
}

/**
 * decode_qp_driver - driver side of a QP
 * @o: object of schema_qp_side
 * @qp: record
 * @now_ns: as in decode_qp_row()
 */
void decode_qp_driver(struct obj *o, const struct erdma_diag_qp *qp, uint64_t now_ns)
{
	qp_driver_identity(o, qp);
	set_queue(o, &qp_side_sq.q, &qp->sq);
	set_memory(o, &qp_side_sq, &qp->sq);
	set_queue(o, &qp_side_rq.q, &qp->rq);
	set_memory(o, &qp_side_rq, &qp->rq);
	set_nonzero(o, QS_SDB, qp->sdb);
	set_nonzero(o, QS_RDB, qp->rdb);
	obj_u64(o, QS_MAX_SEND_WR, qp->max_send_wr);
	obj_u64(o, QS_MAX_RECV_WR, qp->max_recv_wr);
	obj_u64(o, QS_MAX_SEND_SGE, qp->max_send_sge);
	obj_u64(o, QS_MAX_INLINE, qp->max_inline);
	set_age(o, QS_AGE, now_ns, qp->created_ns);
	set_age(o, QS_STATE_AGE, now_ns, qp->state_ns);
	obj_u64(o, QS_ASYNC, qp->async_events);
	if (qp->async_events)
		decode_name(o, QS_LAST_ASYNC, erdma_name_ae_type(qp->last_ae_type),
			    qp->last_ae_type);
	set_owner(o, QS_PID, QS_COMM, QS_KERNEL, &qp->owner);
}

/**
 * decode_cq_driver - driver side of a CQ
 * @o: object of schema_cq_side
 * @cq: record
 * @now_ns: as in decode_qp_row()
 */
void decode_cq_driver(struct obj *o, const struct erdma_diag_cq *cq, uint64_t now_ns)
{
	static const struct side_queue mem = {
		{ 0 }, CS_DBREC, CS_ADDR, CS_DBREC_ADDR, CS_PAGE_SIZE, CS_PAGES,
	};

	obj_u64(o, CS_EQN, cq->eqn);
	obj_u64(o, CS_VECTOR, cq->comp_vector);
	obj_u64(o, CS_DEPTH, cq->cq.depth);
	if (cq->cq.valid & ERDMA_DIAG_Q_PI)
		obj_u64(o, CS_PI, cq->cq.pi);
	set_index(o, CS_CI, &cq->cq, ERDMA_DIAG_Q_CI, cq->cq.ci);
	set_armed_ci(o, CS_ARMED_CI, cq);
	set_arms(o, CS_ARM_COUNT, CS_NOTIFY, cq);
	obj_u64(o, CS_CMDSN, cq->cmdsn);
	obj_u64(o, CS_EVENTS, cq->events);
	obj_u64(o, CS_ASYNC, cq->async_events);
	set_memory(o, &mem, &cq->cq);
	set_nonzero(o, CS_CDB, cq->cdb);
	set_age(o, CS_AGE, now_ns, cq->created_ns);
	set_owner(o, CS_PID, CS_COMM, CS_KERNEL, &cq->owner);
}

/**
 * decode_eq_driver - driver side of an EQ
 * @o: object of schema_eq_side
 * @eq: record
 * @len: as in decode_eq_row()
 */
void decode_eq_driver(struct obj *o, const struct erdma_diag_eq *eq, size_t len)
{
	unsigned int i;

	obj_u64(o, ES_VECTOR, eq->vector);
	obj_u64(o, ES_IRQ, eq->irq);
	obj_u64(o, ES_DEPTH, eq->eq.depth);
	if (eq->eq.valid & ERDMA_DIAG_Q_PI)
		obj_u64(o, ES_PI, eq->eq.pi);
	set_index(o, ES_CI, &eq->eq, ERDMA_DIAG_Q_CI, eq->eq.ci);
	obj_u64(o, ES_EVENTS, eq->events);
	obj_u64(o, ES_INTERRUPTS, eq->interrupts);
	set_later(o, ES_SERVED, eq->served, EQ_HAS(served, len));
	set_later(o, ES_LOST_IRQS, eq->lost_irqs, EQ_HAS(lost_irqs, len));
	obj_u64(o, ES_NOTIFIES, eq->notifies);
	obj_u64(o, ES_UNKNOWN, eq->unknown);
	for (i = 0; eq->eqn == ERDMA_DIAG_EQ_AEQ && i <= ERDMA_AE_COUNT; i++)
		obj_u64(o, ES_BY_TYPE0 + i, eq->by_type[i]);
	if (eq->eq.valid & ERDMA_DIAG_Q_DBREC)
		obj_u64(o, ES_DBREC, eq->eq.dbrec);
	set_nonzero(o, ES_ADDR, eq->eq.dma);
	set_nonzero(o, ES_DBREC_ADDR, eq->eq.dbrec_dma);
}

#define QPC(m)	MEMBER(erdma_resp_qpc, m)

static const struct bits qpc_bits[] = {
	{ QS_SQ_ENABLED, QPC(sq.status) },
	{ QS_SQ_PAGE_OFF, QPC(sq.page_off) },
	{ QS_SQ_PAGE_SIZE, QPC(sq.page_size), 0, X_PAGE },
	{ QS_SQ_DEPTH, QPC(sq.depth), 0, X_LOG2 },
	{ QS_SQ_PI, QPC(sq.hw_pi) },
	{ QS_SQ_CI, QPC(sq.hw_ci) },
	{ QS_RQ_ENABLED, QPC(rq.status) },
	{ QS_RQ_PAGE_OFF, QPC(rq.page_off) },
	{ QS_RQ_PAGE_SIZE, QPC(rq.page_size), 0, X_PAGE },
	{ QS_RQ_DEPTH, QPC(rq.depth), 0, X_LOG2 },
	{ QS_RQ_PI, QPC(rq.hw_pi) },
	{ QS_RQ_CI, QPC(rq.hw_ci) },
	{ QS_SQ_LAST, QPC(last_sqe) },
	{ QS_RQ_LAST, QPC(last_rqe) },
	{ QS_SQ_CQES, QPC(sq_cqes) },
	{ QS_RQ_CQES, QPC(rq_cqes) },
	{ QS_TX_PKTS, QPC(tx_pkts) },
	{ QS_RX_PKTS, QPC(rx_pkts) },
	{ QS_RX_ERR_DROPS, QPC(rx_err_drops) },
	{ QS_RX_INV_DROPS, QPC(rx_inv_drops) },
	{ QS_TIMEOUTS, QPC(rto_count) },
	{ QS_REMOTE_QPN, QPC(remote_qpn), .flags = BITS_IF_SET },
	{ QS_PDN, QPC(pd) },
	{ QS_SQ_FW_PI, QPC(fw_sq_pi) },
	{ QS_SQ_FW_CI, QPC(fw_sq_ci) },
	{ QS_RQ_FW_CI, QPC(fw_rq_ci) },
	{ QS_SQ_FLUSHING, QPC(sq_in_flush) },
	{ QS_RQ_FLUSHING, QPC(rq_in_flush) },
	{ QS_SQ_FLUSHED, QPC(sq_flushed_pi), .flags = BITS_IF_SET },
	{ QS_RQ_FLUSHED, QPC(rq_flushed_pi), .flags = BITS_IF_SET },
	{ QS_SEND_CQN, QPC(send_cqn) },
	{ QS_RECV_CQN, QPC(recv_cqn) },
	{ QS_SQ_ADDR, QPC(sq_addr), .flags = BITS_IF_SET },
	{ QS_RQ_ADDR, QPC(rq_addr), .flags = BITS_IF_SET },
	{ QS_SQ_DBREC_ADDR, QPC(sq_dbrec_addr), .flags = BITS_IF_SET },
	{ QS_RQ_DBREC_ADDR, QPC(rq_dbrec_addr), .flags = BITS_IF_SET },
	{ QS_SQ_DBREC, QPC(sq_dbrec), .flags = BITS_IF_SET },
	{ QS_RQ_DBREC, QPC(rq_dbrec), .flags = BITS_IF_SET },
	{ QS_LOCAL_ADDR, QPC(sip), 0, X_IPV4, BITS_IF_SET },
	{ QS_PEER_ADDR, QPC(dip), 0, X_IPV4, BITS_IF_SET },
	{ QS_LOCAL_PORT, QPC(sport), .flags = BITS_BE | BITS_IF_SET },
	{ QS_PEER_PORT, QPC(dport), .flags = BITS_BE | BITS_IF_SET },
};

/**
 * decode_qp_device - device side of a QP
 * @o: object of schema_qp_side
 * @buf: response of QUERY_QPC
 * @len: its bytes
 */
void decode_qp_device(struct obj *o, const void *buf, size_t len)
{
	DECODE(o, qpc_bits, buf, len);
	obj_bytes(o, QS_RAW, buf, len);
}

#define CQC(m)	MEMBER(erdma_resp_cqc, m)

static const struct bits cqc_bits[] = {
	{ CS_PI, CQC(pi) },
	{ CS_ENABLED, CQC(enabled) },
	{ CS_DEPTH, CQC(depth), 0, X_LOG2 },
	{ CS_OWNER, CQC(owner) },
	{ CS_OOO_DBS, CQC(ooo_dbs) },
	{ CS_DUP_DBS, CQC(dup_dbs) },
	{ CS_ADDR, CQC(addr), .flags = BITS_IF_SET },
	{ CS_DBREC, CQC(dbrec), .flags = BITS_IF_SET },
};

static const char *bad_db_name(__u32 kind)
{
	return kind == 0 ? "duplicate" : kind == 1 ? "out-of-order" : NULL;
}

static const struct bits cqc_bad_db[] = {
	{ CS_BAD_DB, CQC(bad_db_type), 0, X_NAME, .name = bad_db_name },
	{ CS_BAD_DB_CI, CQC(bad_db_ci) },
};

/**
 * decode_cq_device - device side of a CQ
 * @o: object of schema_cq_side
 * @buf: response of QUERY_CQC
 * @len: its bytes
 */
void decode_cq_device(struct obj *o, const void *buf, size_t len)
{
	DECODE(o, cqc_bits, buf, len);
	if (obj_get_u64(o, CS_OOO_DBS, 0) || obj_get_u64(o, CS_DUP_DBS, 0))
		DECODE(o, cqc_bad_db, buf, len);
	obj_bytes(o, CS_RAW, buf, len);
}

#define EQC(m)	MEMBER(erdma_resp_eqc, m)

/* Head is where the device writes, tail what was reported as consumed */
static const struct bits eqc_bits[] = {
	{ ES_DEPTH, EQC(depth) },
	{ ES_VECTOR, EQC(vector) },
	{ ES_SUPPRESSED, EQC(suppressed) },
	{ ES_TAIL_OWNER, EQC(tail_owner) },
	{ ES_HEAD_OWNER, EQC(head_owner) },
	{ ES_OVERFLOW, EQC(overflow) },
	{ ES_PI, EQC(head) },
	{ ES_CI, EQC(tail) },
	{ ES_ADDR, EQC(addr), .flags = BITS_IF_SET },
	{ ES_DB_ADDR, EQC(db_addr), .flags = BITS_IF_SET },
	{ ES_DBREC, EQC(dbrec), .flags = BITS_IF_SET },
};

/**
 * decode_eq_device - device side of an EQ
 * @o: object of schema_eq_side
 * @buf: response of QUERY_EQC
 * @len: its bytes
 */
void decode_eq_device(struct obj *o, const void *buf, size_t len)
{
	DECODE(o, eqc_bits, buf, len);
	obj_bytes(o, ES_RAW, buf, len);
}

/* ---- device, command queue ---------------------------------------------- */

static void set_caps(struct obj *o, const struct erdma_diag_info *info)
{
	uint32_t bit, flags = (uint32_t)ERDMA_GET(ERDMA_CAP0_FLAGS, info->cap0);

	obj_word(o, DI_CAPS, NULL);
	for (bit = 1; bit < 0x100; bit <<= 1)
		if (flags & bit && erdma_name_cap_flag(bit))
			obj_word(o, DI_CAPS, erdma_name_cap_flag(bit));
		else if (flags & bit)
			obj_word(o, DI_CAPS, pool_printf(o->pool, "unknown-0x%02x", bit));
	obj_u64(o, DI_CAP0, info->cap0);
	obj_u64(o, DI_CAP1, info->cap1);
	decode_name(o, DI_CC, erdma_name_cc(info->cc_default), info->cc_default);
	set_nonzero(o, DI_LOCAL_DMA_KEY, ERDMA_GET(ERDMA_CAP1_LOCAL_DMA_KEY, info->cap1));
}

static void set_bit_words(struct obj *o, unsigned int field, uint64_t bits,
			  const char *const *names, size_t n)
{
	size_t i;

	obj_word(o, field, NULL);
	for (i = 0; i < 64; i++)
		if (bits >> i & 1)
			obj_word(o, field, i < n && names[i] ? names[i] :
				 pool_printf(o->pool, "%zu", i));
}

static void set_abi(struct obj *o, const struct erdma_diag_info *info)
{
	static const char *const calls[] = { "info", "list", "context", "ring-read", "debug",
					     "log", "snapshot", "recover" };
	static const char *const objs[] = { NULL, "qp", "cq", "eq", "cmdq", "mr", "pd", "ctx", "cm" };
	static const char *const rings[] = { NULL, "sq", "rq", "cq", "eq", "cmdq-sq", "cmdq-cq" };

	set_bit_words(o, DI_ABI_CMDS, info->abi_cmds, calls, COUNT_OF(calls));
	set_bit_words(o, DI_ABI_OBJS, info->abi_objs, objs, COUNT_OF(objs));
	set_bit_words(o, DI_ABI_RINGS, info->abi_rings, rings, COUNT_OF(rings));
	obj_u64(o, DI_HW_CONTEXT, !!(info->abi_flags & ERDMA_DIAG_ABI_HW_CONTEXT));
	obj_u64(o, DI_DEBUG_CATS, info->abi_debug_cats);
	obj_u64(o, DI_DEBUG_LEVELS, info->abi_debug_levels);
}

static void set_limits(struct obj *o, const struct erdma_diag_info *info)
{
	obj_u64(o, DI_QP_USED, info->n_qp);
	obj_u64(o, DI_QP_MAX, info->max_qp);
	obj_u64(o, DI_CQ_USED, info->n_cq);
	obj_u64(o, DI_CQ_MAX, info->max_cq);
	obj_u64(o, DI_MR_USED, info->n_mr);
	obj_u64(o, DI_MR_MAX, info->max_mr);
	obj_u64(o, DI_PD_USED, info->n_pd);
	obj_u64(o, DI_PD_MAX, info->max_pd);
	obj_u64(o, DI_CTX_USED, info->n_ctx);
	obj_u64(o, DI_CTX_MAX, info->max_ctx);
	obj_u64(o, DI_MAX_CQE, info->max_cqe);
	obj_u64(o, DI_MAX_SEND_WR, info->max_send_wr);
	obj_u64(o, DI_MAX_RECV_WR, info->max_recv_wr);
	obj_u64(o, DI_MAX_MR_SIZE, info->max_mr_size);
}

/* An older driver has none of these: a device without limits has no such structure */
static void set_more_limits(struct obj *o, const struct erdma_diag_info *info)
{
	if (!info->max_send_sge)
		return;
	obj_u64(o, DI_MAX_SEND_SGE, info->max_send_sge);
	obj_u64(o, DI_MAX_RECV_SGE, info->max_recv_sge);
	obj_u64(o, DI_MAX_READ_SGE, info->max_read_sge);
	obj_u64(o, DI_MAX_INLINE, info->max_inline);
	obj_u64(o, DI_MAX_IRD, info->max_ird);
	obj_u64(o, DI_MAX_ORD, info->max_ord);
	obj_u64(o, DI_MAX_FRMR_PAGES, info->max_frmr_pages);
	obj_u64(o, DI_MAX_PRIVATE_DATA, info->max_private_data);
	obj_u64(o, DI_PAGE_SIZES, info->page_sizes);
}

static void set_peaks(struct obj *o, const struct erdma_diag_info *info)
{
	if (info->size <= offsetof(struct erdma_diag_info, peak_ctx))
		return;
	obj_u64(o, DI_QP_PEAK, info->peak_qp);
	obj_u64(o, DI_CQ_PEAK, info->peak_cq);
	obj_u64(o, DI_MR_PEAK, info->peak_mr);
	obj_u64(o, DI_PD_PEAK, info->peak_pd);
	obj_u64(o, DI_CTX_PEAK, info->peak_ctx);
}

/* Since when it is there, and what became of the one before */
static void set_life(struct obj *o, const struct erdma_diag_info *info)
{
#define LOSS_WORD(id, word)	[id] = word,
	static const char *const losses[] = { ERDMA_DIAG_LOSSES(LOSS_WORD) };
	uint64_t now = info->time_mono_ns;

	if (!info->probed_ns)
		return;
	obj_u64(o, DI_UP, now > info->probed_ns ? now - info->probed_ns : 0);
	obj_u64(o, DI_GENERATION, info->generation);
	if (info->last_loss == ERDMA_DIAG_LOSS_NONE)
		return;
	decode_name(o, DI_LAST_LOSS, info->last_loss < COUNT_OF(losses) ?
		    losses[info->last_loss] : NULL, info->last_loss);
	obj_u64(o, DI_LOST_AGE, now > info->lost_ns ? now - info->lost_ns : 0);
}

/* What the device was asked to use, and whether it does */
static void set_mtu(struct obj *o, const struct erdma_diag_info *info)
{
	obj_u64(o, DI_MTU, info->mtu);
	set_nonzero(o, DI_MTU_DEVICE, info->mtu_device);
	set_nonzero(o, DI_MTU_ASKED, info->mtu_asked);
	if (info->mtu_asked && info->mtu_status)
		obj_str(o, DI_MTU_ERROR, errno_name((int)info->mtu_status));
	if (info->size <= offsetof(struct erdma_diag_info, mtu_failures))
		obj_missing(o, DI_MTU_FAILURES, V_UNKNOWN);
	set_nonzero(o, DI_MTU_FAILURES, info->mtu_failures);
	set_age(o, DI_MTU_AGE, info->time_mono_ns, info->mtu_ns);
}

static void set_function(struct obj *o, const struct erdma_diag_info *info)
{
	obj_strn(o, DI_PCI, info->pci, sizeof(info->pci));
	obj_strf(o, DI_PCI_ID, "%04x:%04x", info->pci_vendor, info->pci_device);
	obj_u64(o, DI_PCI_REV, info->pci_rev);
	if (info->numa_node >= 0)
		obj_u64(o, DI_NUMA, (uint32_t)info->numa_node);
	obj_u64(o, DI_VECTORS, info->vectors);
	obj_u64(o, DI_N_EQ, info->n_eq);
	obj_u64(o, DI_BAR0, info->bar0_len);
	obj_u64(o, DI_REG_VERSION, info->reg_version);
	obj_u64(o, DI_REG_STATUS, info->reg_status);
	obj_word(o, DI_REG_STATUS_WORDS, NULL);
	if (info->reg_status & ERDMA_STATUS_RESET_DONE)
		obj_word(o, DI_REG_STATUS_WORDS, "reset-done");
	if (info->reg_status & ERDMA_STATUS_INIT_DONE)
		obj_word(o, DI_REG_STATUS_WORDS, "init-done");
	if (info->reg_status & ERDMA_STATUS_SUSPEND)
		obj_word(o, DI_REG_STATUS_WORDS, "suspend");
	decode_name(o, DI_PROTO, info->proto == ERDMA_PROTO_IWARP ? "iWARP" :
		    info->proto == ERDMA_PROTO_ROCEV2 ? "RoCEv2" : NULL, info->proto);
}

/**
 * decode_info - facts of a device
 * @o: object of schema_dev_info
 * @info: what the driver says
 */
void decode_info(struct obj *o, const struct erdma_diag_info *info)
{
	const uint8_t *guid = (const uint8_t *)&info->node_guid;
	const uint8_t *mac = info->mac;

	obj_strn(o, DI_DRIVER_VERSION, info->driver_version, sizeof(info->driver_version));
	obj_strf(o, DI_FW, "%u.%u.%u", (uint32_t)ERDMA_GET(ERDMA_FW_MAJOR, info->fw_version),
		 (uint32_t)ERDMA_GET(ERDMA_FW_MEDIUM, info->fw_version),
		 (uint32_t)ERDMA_GET(ERDMA_FW_MINOR, info->fw_version));
	obj_u64(o, DI_FW_RAW, info->fw_version);
	obj_strf(o, DI_NODE_GUID, "%02x%02x:%02x%02x:%02x%02x:%02x%02x", guid[0], guid[1],
		 guid[2], guid[3], guid[4], guid[5], guid[6], guid[7]);
	set_function(o, info);
	if (info->netdev[0])
		obj_strn(o, DI_NETDEV, info->netdev, sizeof(info->netdev));
	set_nonzero(o, DI_IFINDEX, info->netdev_ifindex);
	obj_strf(o, DI_MAC, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
		 mac[4], mac[5]);
	set_life(o, info);
	set_mtu(o, info);
	obj_str(o, DI_LINK, info->link_up ? "up" : "down");
	if (!info->link_up && info->netdev_flags & ERDMA_DIAG_NETDEV_UP)
		obj_word(o, DI_LINK_REASON, "no-carrier");
	set_caps(o, info);
	set_limits(o, info);
	set_more_limits(o, info);
	set_peaks(o, info);
	set_abi(o, info);
}

static const char *cmdq_state_name(uint32_t state)
{
	static const char *const names[] = { "down", "polling", "running", "dead" };

	return state < 4 ? names[state] : NULL;
}

/**
 * decode_cmdq - facts of the command queue
 * @o: object of schema_cmdq_info
 * @cmdq: record
 */
void decode_cmdq(struct obj *o, const struct erdma_diag_cmdq *cmdq)
{
	uint32_t busy = cmdq->in_flight + cmdq->quarantined;

	decode_name(o, MI_STATE, cmdq_state_name(cmdq->state), cmdq->state);
	obj_u64(o, MI_CREDITS, cmdq->credits);
	obj_u64(o, MI_IN_FLIGHT, cmdq->in_flight);
	obj_u64(o, MI_FREE, cmdq->credits > busy ? cmdq->credits - busy : 0);
	obj_u64(o, MI_QUARANTINED, cmdq->quarantined);
	obj_u64(o, MI_MAX_IN_FLIGHT, cmdq->max_in_flight);
	if (cmdq->in_flight)
		obj_u64(o, MI_OLDEST, cmdq->oldest_ns);
	obj_u64(o, MI_SUBMITTED, cmdq->submitted);
	obj_u64(o, MI_COMPLETED, cmdq->completed);
	obj_u64(o, MI_FAILED, cmdq->failed);
	obj_u64(o, MI_TIMEOUTS, cmdq->timeouts);
	obj_u64(o, MI_LATE, cmdq->late);
	obj_u64(o, MI_LOST_IRQS, cmdq->lost_irqs);
	obj_u64(o, MI_BAD_CQES, cmdq->bad_cqes);
	obj_u64(o, MI_SLOT, cmdq->slot_wqebbs);
	obj_u64(o, MI_SQ_DEPTH, cmdq->sq.depth);
	if (cmdq->sq.valid & ERDMA_DIAG_Q_PI)
		obj_u64(o, MI_SQ_PI, cmdq->sq.pi);
	if (cmdq->sq.valid & ERDMA_DIAG_Q_CI)
		obj_u64(o, MI_SQ_CI, cmdq->sq.ci);
	if (cmdq->sq.valid & ERDMA_DIAG_Q_DBREC)
		obj_u64(o, MI_SQ_DBREC, cmdq->sq.dbrec);
	set_nonzero(o, MI_SQ_ADDR, cmdq->sq.dma);
	obj_u64(o, MI_CQ_DEPTH, cmdq->cq.depth);
	if (cmdq->cq.valid & ERDMA_DIAG_Q_CI)
		obj_u64(o, MI_CQ_CI, cmdq->cq.ci);
	if (cmdq->cq.valid & ERDMA_DIAG_Q_DBREC)
		obj_u64(o, MI_CQ_DBREC, cmdq->cq.dbrec);
	set_nonzero(o, MI_CQ_ADDR, cmdq->cq.dma);
}
