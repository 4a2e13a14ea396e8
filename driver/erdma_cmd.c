// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * One function per device command: build the request, send it, decode the
 * answer (docs/erdma-hardware.md, sections 5 and 6).
 *
 * All of them sleep; none is called with a spinlock held. Unless said otherwise
 * they return 0, -EIO if the device refused, -ETIMEDOUT if it did not answer
 * in time, -ENODEV if the command queue is dead. Those that give the device
 * something of ours also report the outcome, which the error does not show.
 */
#include <linux/device.h>
#include <linux/jiffies.h>
#include <linux/log2.h>

#include "erdma.h"
#include "erdma/erdma_names.h"
#include "erdma_trace.h"

#define STATS_PAUSE_MS	30000	/* after a GET_STATS that was not answered */
#define STATS_MAX_STUCK	(ERDMA_CMDQ_SLOTS / 4)	/* readers leave the other contexts alone */
#define MAX_MR_SIZE_LOG		43	/* page counts stay far below 32 bits */

#define CMD_ID(submod, opcode)	((submod) << 8 | (opcode))

/*
 * How long to wait for an answer, if it is not what is usual for commands that make
 * and destroy objects (ERDMA_CMDQ_TIMEOUT_MS, 0 here). None of these makes the command
 * queue dead, and none holds memory that somebody waits for.
 */
static u32 cmd_limit(u8 submod, u8 opcode)
{
	switch (CMD_ID(submod, opcode)) {
	case CMD_ID(ERDMA_SUBMOD_RDMA, ERDMA_CMD_REFLUSH):	/* a failure ends the device */
	case CMD_ID(ERDMA_SUBMOD_COMMON, ERDMA_CMD_CONF_MTU):	/* repeated */
		return 5000;
	case CMD_ID(ERDMA_SUBMOD_COMMON, ERDMA_CMD_GET_STATS):	/* readers should not hang */
	case CMD_ID(ERDMA_SUBMOD_COMMON, ERDMA_CMD_QUERY_EQC):
	case CMD_ID(ERDMA_SUBMOD_RDMA, ERDMA_CMD_QUERY_QPC):
	case CMD_ID(ERDMA_SUBMOD_RDMA, ERDMA_CMD_QUERY_CQC):
		return 2000;
	default:
		return 0;
	}
}

static const char *cmd_name(u8 submod, u8 opcode)
{
	return erdma_name_cmd(submod, opcode) ?: "command";
}

/* The time for a command and its context is over */
static void cmd_report_late(struct erdma_dev *dev, u8 submod, u8 opcode,
			    const struct erdma_cmd_result *res)
{
	u32 limit = cmd_limit(submod, opcode) ?: dev->cmdq.timeout_ms;

	if (res->outcome == ERDMA_CMD_NOT_SENT)
		erdma_dbg(dev, CMDQ, ERR, "%s: no free command context within %u ms, %u of %u commands in flight\n",
			  cmd_name(submod, opcode), limit, READ_ONCE(dev->cmdq.in_flight),
			  ERDMA_CMDQ_SLOTS);
	else
		erdma_dbg(dev, CMDQ, ERR, "%s was not answered within %u ms\n",
			  cmd_name(submod, opcode), limit);
}

static void cmd_report(struct erdma_dev *dev, u8 submod, u8 opcode, int err,
		       const struct erdma_cmd_result *res)
{
	if (!err)
		erdma_dbg(dev, CMDQ, TRACE, "%s done\n", cmd_name(submod, opcode));
	else if (err == -EIO)
		erdma_dbg(dev, CMDQ, ERR, "%s refused, syndrome %u\n", cmd_name(submod, opcode),
			  res->syndrome);
	else if (err == -ENODEV) /* said once when the queue died */
		erdma_dbg(dev, CMDQ, DBG, "%s failed, command queue is dead\n",
			  cmd_name(submod, opcode));
	else if (err == -ETIMEDOUT)
		cmd_report_late(dev, submod, opcode, res);
	else
		erdma_dbg(dev, CMDQ, ERR, "%s failed: %pe\n", cmd_name(submod, opcode),
			  ERR_PTR(err));
}

/* @object: number of what the command is about, @key: what it ends, for the recorder */
static int cmd_exec(struct erdma_dev *dev, u8 submod, u8 opcode, u32 object,
		    const struct erdma_rec_key *key, const void *req, size_t size,
		    struct erdma_cmd_result *res)
{
	struct erdma_cmd_result unwanted;
	int err;

	res = res ?: &unwanted;
	err = erdma_cmdq_exec(&dev->cmdq, submod, opcode, req, size, res,
			      cmd_limit(submod, opcode));
	erdma_rec_cmd(dev->rec, submod, opcode, object, key, err, res);
	trace_erdma_cmd(dev, submod, opcode, object, err, res);
	cmd_report(dev, submod, opcode, err, res);
	return err;
}

#define cmd_rdma(dev, opcode, object, req, res) \
	cmd_exec(dev, ERDMA_SUBMOD_RDMA, opcode, object, NULL, &(req), sizeof(req), res)
#define cmd_common(dev, opcode, object, req, res) \
	cmd_exec(dev, ERDMA_SUBMOD_COMMON, opcode, object, NULL, &(req), sizeof(req), res)

/**
 * erdma_parse_caps - limits from the capability words
 * @attrs: limits and flags are filled, the rest is left alone
 * @cap0: first word of QUERY_DEVICE
 * @cap1: second word
 *
 * Section 6. Logarithms beyond what the other fields and the driver can express
 * are cut to that. Pure.
 *
 * Return: 0; -EINVAL: the device offers no queue pairs.
 */
int erdma_parse_caps(struct erdma_attrs *attrs, u64 cap0, u64 cap1)
{
	u32 qblocks = min_t(u32, FIELD_GET(ERDMA_CAP1_QBLOCK, cap1), ERDMA_MAX_QBLOCK);
	u32 mr_log = min_t(u32, FIELD_GET(ERDMA_CAP0_MAX_MR_SIZE, cap0), MAX_MR_SIZE_LOG);
	u32 wr_log = min_t(u32, FIELD_GET(ERDMA_CAP0_MAX_RECV_WR, cap0), ERDMA_MAX_RECV_WR_LOG);
	u32 cqe_log = min_t(u32, FIELD_GET(ERDMA_CAP0_MAX_CQE, cap0), ERDMA_MAX_CQE_LOG);

	if (!qblocks)
		return -EINVAL;

	attrs->cap0 = cap0;
	attrs->cap1 = cap1;
	attrs->flags = FIELD_GET(ERDMA_CAP0_FLAGS, cap0);
	attrs->max_qp = qblocks * ERDMA_QPS_PER_QBLOCK;
	attrs->max_cq = 2 * attrs->max_qp;
	attrs->max_mr = 2 * attrs->max_qp;
	attrs->max_cqe = 1U << cqe_log;
	attrs->max_send_wr = ERDMA_MAX_SEND_WR;
	attrs->max_recv_wr = 1U << wr_log;
	attrs->max_mr_size = 1ULL << mr_log;
	attrs->local_dma_key = FIELD_GET(ERDMA_CAP1_LOCAL_DMA_KEY, cap1);
	attrs->cc = FIELD_GET(ERDMA_CAP1_DEFAULT_CC, cap1);
	return 0;
}

/**
 * erdma_exec_query_device - QUERY_DEVICE (5.2.1)
 * @dev: device
 * @cap0: first capability word
 * @cap1: second capability word
 *
 * Return: see the top of this file.
 */
int erdma_exec_query_device(struct erdma_dev *dev, u64 *cap0, u64 *cap1)
{
	struct erdma_cmd_result res;
	__le64 req = 0;
	int err;

	err = cmd_rdma(dev, ERDMA_CMD_QUERY_DEVICE, 0, req, &res);
	*cap0 = res.resp[0];
	*cap1 = res.resp[1];
	return err;
}

/**
 * erdma_exec_query_fw - QUERY_FW_INFO (5.3.3)
 * @dev: device
 * @fw_version: see ERDMA_FW_MAJOR and its neighbours
 *
 * Return: see the top of this file.
 */
int erdma_exec_query_fw(struct erdma_dev *dev, u32 *fw_version)
{
	struct erdma_cmd_result res;
	__le64 req = 0;
	int err;

	err = cmd_common(dev, ERDMA_CMD_QUERY_FW_INFO, 0, req, &res);
	*fw_version = FIELD_GET(ERDMA_FW_VERSION, res.resp[0]);
	return err;
}

/**
 * erdma_exec_conf_device - CONF_DEVICE: configure the host's page size (5.3.6)
 * @dev: device with FLAGS.EXT_DB
 *
 * Return: see the top of this file.
 */
int erdma_exec_conf_device(struct erdma_dev *dev)
{
	struct erdma_cmd_conf_device req = {};

	req.cfg = cpu_to_le32(ERDMA_CONF_PAGE_ENABLE |
			      FIELD_PREP(ERDMA_CONF_PAGE_SHIFT, PAGE_SHIFT));
	return cmd_common(dev, ERDMA_CMD_CONF_DEVICE, 0, req, NULL);
}

/**
 * erdma_exec_conf_mtu - CONF_MTU (5.3.4)
 * @dev: device
 * @mtu: of the network interface, bytes
 *
 * Return: see the top of this file. Failure is not fatal for anything.
 */
int erdma_exec_conf_mtu(struct erdma_dev *dev, u32 mtu)
{
	struct erdma_cmd_conf_mtu req = {};

	req.mtu = cpu_to_le32(mtu);
	return cmd_common(dev, ERDMA_CMD_CONF_MTU, mtu, req, NULL);
}

/**
 * erdma_exec_create_eq - CREATE_EQ for a completion EQ (5.3.1)
 * @dev: device
 * @ceq: ring and number
 * @outcome: set to what became of the command
 *
 * Return: see the top of this file.
 */
int erdma_exec_create_eq(struct erdma_dev *dev, const struct erdma_ceq *ceq,
			 enum erdma_cmd_outcome *outcome)
{
	struct erdma_cmd_create_eq req = {};
	struct erdma_cmd_result res;
	int err;

	req.addr = cpu_to_le64(ceq->eq.dma);
	req.vector = ceq->eqn;
	req.eqn = ceq->eqn;
	req.depth = ilog2(ceq->eq.depth);
	req.type = ERDMA_EQ_CEQ;
	req.dbrec_lo = cpu_to_le32(lower_32_bits(ceq->eq.dbrec_dma));
	req.dbrec_hi = cpu_to_le32(upper_32_bits(ceq->eq.dbrec_dma));
	err = cmd_common(dev, ERDMA_CMD_CREATE_EQ, ceq->eqn, req, &res);
	*outcome = res.outcome;
	return err;
}

/**
 * erdma_exec_destroy_eq - DESTROY_EQ for a completion EQ (5.3.2)
 * @dev: device
 * @ceq: number; its handler is gone
 *
 * Return: see the top of this file. On failure the device may still own the ring.
 */
int erdma_exec_destroy_eq(struct erdma_dev *dev, const struct erdma_ceq *ceq)
{
	struct erdma_cmd_destroy_eq req = {};

	req.vector = ceq->eqn;
	req.eqn = ceq->eqn;
	req.type = ERDMA_EQ_CEQ;
	return cmd_common(dev, ERDMA_CMD_DESTROY_EQ, ceq->eqn, req, NULL);
}

/**
 * erdma_exec_alloc_db - ALLOC_DB: doorbell pages of a user context (5.3.7)
 * @dev: device with FLAGS.EXT_DB
 * @db: page indices, not checked against the size of BAR0
 *
 * Return: see the top of this file.
 */
int erdma_exec_alloc_db(struct erdma_dev *dev, struct erdma_db_pages *db)
{
	struct erdma_cmd_ext_db req = {};
	struct erdma_cmd_result res;
	int err;

	req.mask = cpu_to_le32(ERDMA_EXT_DB_ALL);
	err = cmd_common(dev, ERDMA_CMD_ALLOC_DB, 0, req, &res);
	if (err)
		return err;
	db->sdb = FIELD_GET(ERDMA_ALLOC_DB_SDB, res.resp[0]);
	db->rdb = FIELD_GET(ERDMA_ALLOC_DB_RDB, res.resp[0]);
	db->cdb = FIELD_GET(ERDMA_ALLOC_DB_CDB, res.resp[0]);
	db->valid = true;
	return 0;
}

/**
 * erdma_exec_free_db - FREE_DB (5.3.7)
 * @dev: device with FLAGS.EXT_DB
 * @db: pages of erdma_exec_alloc_db(), mapped by nobody any more
 * @mask: which of them, ERDMA_EXT_DB_*; numbers of the others are not sent
 *
 * Return: see the top of this file.
 */
int erdma_exec_free_db(struct erdma_dev *dev, const struct erdma_db_pages *db, u32 mask)
{
	struct erdma_cmd_ext_db req = {};

	req.mask = cpu_to_le32(mask);
	if (mask & ERDMA_EXT_DB_SQ)
		req.sdb = cpu_to_le16(db->sdb);
	if (mask & ERDMA_EXT_DB_RQ)
		req.rdb = cpu_to_le16(db->rdb);
	if (mask & ERDMA_EXT_DB_CQ)
		req.cdb = cpu_to_le16(db->cdb);
	return cmd_common(dev, ERDMA_CMD_FREE_DB, 0, req, NULL);
}

/**
 * erdma_exec_create_cq - CREATE_CQ (5.2.2)
 * @dev: device
 * @cqn: number
 * @depth: CQEs, a power of two
 * @eqn: completion EQ, 1..31
 * @mem: ring, zeroed
 * @db: doorbell pages of the owner; not valid for kernel CQs
 * @outcome: set to what became of the command
 *
 * Return: see the top of this file.
 */
int erdma_exec_create_cq(struct erdma_dev *dev, u32 cqn, u32 depth, u32 eqn,
			 const struct erdma_queue_mem *mem, const struct erdma_db_pages *db,
			 enum erdma_cmd_outcome *outcome)
{
	struct erdma_cmd_create_cq req = {};
	struct erdma_cmd_result res;
	u32 cfg1;
	int err;

	cfg1 = FIELD_PREP(ERDMA_CREATE_CQ_MTT_CNT, mem->page_cnt) |
	       FIELD_PREP(ERDMA_CREATE_CQ_LEVEL, mem->level) |
	       FIELD_PREP(ERDMA_CREATE_CQ_EQN, eqn);
	if (db->valid) {
		cfg1 |= ERDMA_CREATE_CQ_DB_ASSOC;
		req.cfg2 = cpu_to_le32(FIELD_PREP(ERDMA_CREATE_CQ_DB, db->cdb));
	}
	req.cfg0 = cpu_to_le32(FIELD_PREP(ERDMA_CREATE_CQ_DEPTH, ilog2(depth)) |
			       FIELD_PREP(ERDMA_CREATE_CQ_PAGE, mem->page_code) |
			       FIELD_PREP(ERDMA_CREATE_CQ_CQN, cqn));
	req.addr_lo = cpu_to_le32(lower_32_bits(mem->addr));
	req.addr_hi = cpu_to_le32(upper_32_bits(mem->addr));
	req.cfg1 = cpu_to_le32(cfg1);
	req.dbrec = cpu_to_le64(mem->dbrec);
	req.first_off = cpu_to_le32(mem->first_off);
	err = cmd_rdma(dev, ERDMA_CMD_CREATE_CQ, cqn, req, &res);
	*outcome = res.outcome;
	return err;
}

/**
 * erdma_exec_destroy_cq - DESTROY_CQ (5.2.3)
 * @dev: device
 * @cqn: number
 *
 * Return: see the top of this file. On failure the device may still own the ring.
 */
int erdma_exec_destroy_cq(struct erdma_dev *dev, u32 cqn)
{
	struct erdma_cmd_destroy_cq req = {};

	req.cqn = cpu_to_le32(cqn);
	return cmd_rdma(dev, ERDMA_CMD_DESTROY_CQ, cqn, req, NULL);
}

/* One ring of CREATE_QP; SQ and RQ use the same masks (5.2.4) */
struct qp_ring {
	u32 cfg;
	u32 mtt;
	u64 addr;
	u64 page[3];
	u64 dbrec;
};

static void qp_ring_fill_kernel(struct qp_ring *ring, const struct erdma_kqueue *q)
{
	ring->cfg = FIELD_PREP(ERDMA_CREATE_QP_PAGE, ERDMA_KERNEL_QP_PAGE_CODE);
	ring->mtt = FIELD_PREP(ERDMA_CREATE_QP_MTT_CNT, 1);
	ring->addr = q->dma;
	ring->dbrec = q->dbrec_dma;
}

static void qp_ring_fill_user(struct qp_ring *ring, const struct erdma_mtt *mtt, u64 dbrec)
{
	u32 i;

	ring->cfg = FIELD_PREP(ERDMA_CREATE_QP_PAGE, mtt->page_shift - ERDMA_DB_PAGE_SHIFT);
	ring->mtt = (mtt->first_off & ERDMA_CREATE_QP_OFFSET) |
		    FIELD_PREP(ERDMA_CREATE_QP_MTT_CNT, mtt->page_cnt) |
		    FIELD_PREP(ERDMA_CREATE_QP_LEVEL, mtt->level);
	ring->addr = mtt->level ? mtt->top_dma : mtt->inline_page[0];
	for (i = 1; !mtt->level && i < mtt->page_cnt && i < ERDMA_INLINE_MTT_CNT; i++)
		ring->page[i - 1] = mtt->inline_page[i];
	ring->dbrec = dbrec;
}

static void cmd_fill_qp_rings(struct erdma_cmd_create_qp *req, const struct qp_ring *sq,
			      const struct qp_ring *rq)
{
	int i;

	req->sq_cfg = cpu_to_le32(sq->cfg);
	req->rq_cfg = cpu_to_le32(rq->cfg);
	req->sq_addr = cpu_to_le64(sq->addr);
	req->rq_addr = cpu_to_le64(rq->addr);
	req->sq_mtt = cpu_to_le32(sq->mtt);
	req->rq_mtt = cpu_to_le32(rq->mtt);
	req->sq_dbrec = cpu_to_le64(sq->dbrec);
	req->rq_dbrec = cpu_to_le64(rq->dbrec);
	for (i = 0; i < 3; i++) {
		req->sq_page[i] = cpu_to_le64(sq->page[i]);
		req->rq_page[i] = cpu_to_le64(rq->page[i]);
	}
}

/**
 * erdma_exec_create_qp - CREATE_QP (5.2.4)
 * @dev: device
 * @qp: complete but for its cookie: numbers, depths, rings, CQs, PD
 * @cookie: the QP's cookie for connection set-up
 * @outcome: set to what became of the command
 *
 * Return: see the top of this file.
 */
int erdma_exec_create_qp(struct erdma_dev *dev, const struct erdma_qp *qp, u32 *cookie,
			 enum erdma_cmd_outcome *outcome)
{
	struct erdma_cmd_create_qp req = {};
	struct qp_ring sq = {}, rq = {};
	struct erdma_cmd_result res;
	int err;

	if (qp->is_user) {
		qp_ring_fill_user(&sq, &qp->user_sq, qp->dbrec_dma);
		qp_ring_fill_user(&rq, &qp->user_rq, qp->dbrec_dma + ERDMA_DBREC_SIZE);
	} else {
		qp_ring_fill_kernel(&sq, &qp->ksq);
		qp_ring_fill_kernel(&rq, &qp->krq);
	}
	if (qp->is_user && qp->db.valid) {
		sq.cfg |= ERDMA_CREATE_QP_DB_ASSOC;
		req.db_cfg = cpu_to_le32(FIELD_PREP(ERDMA_CREATE_QP_SQ_DB, qp->db.sdb) |
					 FIELD_PREP(ERDMA_CREATE_QP_RQ_DB, qp->db.rdb));
	}
	sq.cfg |= FIELD_PREP(ERDMA_CREATE_QP_CQN, qp->scq->cqn);
	rq.cfg |= FIELD_PREP(ERDMA_CREATE_QP_CQN, qp->rcq->cqn);
	req.cfg0 = cpu_to_le32(FIELD_PREP(ERDMA_CREATE_QP_SQ_DEPTH, ilog2(qp->sq_depth)) |
			       FIELD_PREP(ERDMA_CREATE_QP_QPN, qp->qpn));
	req.cfg1 = cpu_to_le32(FIELD_PREP(ERDMA_CREATE_QP_RQ_DEPTH, ilog2(qp->rq_depth)) |
			       FIELD_PREP(ERDMA_CREATE_QP_PD, qp->pd->pdn));
	cmd_fill_qp_rings(&req, &sq, &rq);

	err = cmd_rdma(dev, ERDMA_CMD_CREATE_QP, qp->qpn, req, &res);
	*cookie = FIELD_GET(ERDMA_CREATE_QP_RESP_COOKIE, res.resp[0]);
	*outcome = res.outcome;
	return err;
}

/**
 * erdma_exec_destroy_qp - DESTROY_QP (5.2.5)
 * @dev: device
 * @qpn: number
 *
 * Return: see the top of this file. On failure the device may still own the rings.
 */
int erdma_exec_destroy_qp(struct erdma_dev *dev, u32 qpn)
{
	struct erdma_cmd_destroy_qp req = {};

	req.qpn = cpu_to_le32(qpn);
	return cmd_rdma(dev, ERDMA_CMD_DESTROY_QP, qpn, req, NULL);
}

/**
 * erdma_exec_modify_qp - MODIFY_QP, iWARP form (5.2.6)
 * @dev: device
 * @qpn: number
 * @state: new state
 * @conn: connection, needed for ERDMA_QPS_RTS and ignored else
 * @res: what became of the command; may be NULL
 *
 * Return: see the top of this file; -EINVAL: RTS without a connection.
 */
int erdma_exec_modify_qp(struct erdma_dev *dev, u32 qpn, enum erdma_qp_state state,
			 const struct erdma_conn *conn, struct erdma_cmd_result *res)
{
	struct erdma_cmd_modify_qp req = {};
	u32 cfg;

	cfg = FIELD_PREP(ERDMA_MODIFY_QP_STATE, state) | FIELD_PREP(ERDMA_MODIFY_QP_QPN, qpn);
	if (state == ERDMA_QPS_RTS) {
		if (!conn)
			return -EINVAL;
		cfg |= FIELD_PREP(ERDMA_MODIFY_QP_CC, conn->cc);
		req.cookie = cpu_to_le32(conn->peer_cookie);
		req.dip = conn->dip;
		req.sip = conn->sip;
		req.sport = conn->sport;
		req.dport = conn->dport;
		req.send_nxt = cpu_to_le32(conn->send_nxt);
		req.recv_nxt = cpu_to_le32(conn->recv_nxt);
	}
	req.cfg = cpu_to_le32(cfg);
	return cmd_rdma(dev, ERDMA_CMD_MODIFY_QP, qpn, req, res);
}

/**
 * erdma_exec_reflush - REFLUSH: newest producer indices of a stopped QP (5.2.8)
 * @dev: device
 * @qpn: number
 * @sq_pi: SQ producer index, WQEBBs
 * @rq_pi: RQ producer index, RQEs
 * @res: what became of the command; may be NULL
 *
 * Return: see the top of this file.
 */
int erdma_exec_reflush(struct erdma_dev *dev, u32 qpn, u16 sq_pi, u16 rq_pi,
		       struct erdma_cmd_result *res)
{
	struct erdma_cmd_reflush req = {};

	req.qpn = cpu_to_le32(qpn);
	req.sq_pi = cpu_to_le32(sq_pi);
	req.rq_pi = cpu_to_le32(rq_pi);
	return cmd_rdma(dev, ERDMA_CMD_REFLUSH, qpn, req, res);
}

/*
 * Where the pages are. Tables of several levels need VERSION 1 (10.4). The others carry
 * the low 32 bits of the length: of 4 GiB and more, which are few large pages, the device
 * finds the rest by their number (10.3).
 */
static u32 cmd_fill_mr_pages(struct erdma_cmd_reg_mr *req, const struct erdma_mr_spec *spec)
{
	int i;

	if (spec->level < 2) {
		for (i = 0; i < (spec->level ? 1 : ERDMA_INLINE_MTT_CNT); i++)
			req->page[i] = cpu_to_le64(spec->page[i]);
		return 0;
	}
	req->v1.table = cpu_to_le64(spec->page[0]);
	req->v1.size_hi = cpu_to_le32(upper_32_bits(spec->len));
	req->v1.page_cnt_hi = cpu_to_le32(spec->page_cnt >> 20);
	return FIELD_PREP(ERDMA_REG_MR_MTT_PAGE, PAGE_SHIFT - ERDMA_DB_PAGE_SHIFT);
}

/**
 * erdma_exec_reg_mr - REG_MR (5.2.9)
 * @dev: device
 * @spec: region
 * @res: set to what became of the command
 *
 * Return: see the top of this file; -EINVAL: more pages than the layout can say.
 */
int erdma_exec_reg_mr(struct erdma_dev *dev, const struct erdma_mr_spec *spec,
		      struct erdma_cmd_result *res)
{
	struct erdma_cmd_reg_mr req = {};
	u32 shift = spec->page_shift;
	u32 cfg0, cfg2;

	if (spec->level < 2 && spec->page_cnt > FIELD_MAX(ERDMA_REG_MR_PAGE_CNT)) {
		*res = (struct erdma_cmd_result){};
		return -EINVAL;
	}

	cfg0 = FIELD_PREP(ERDMA_REG_MR_VERSION, spec->level >= 2) |
	       FIELD_PREP(ERDMA_REG_MR_KEY, spec->key) |
	       FIELD_PREP(ERDMA_REG_MR_INDEX, spec->index);
	if (spec->type == ERDMA_MR_NORMAL) {
		cfg0 |= ERDMA_REG_MR_VALID;
		req.start_va = cpu_to_le64(spec->va);
		req.size = cpu_to_le32(lower_32_bits(spec->len));
	} else if (spec->type == ERDMA_MR_DMA) {
		shift = 31; /* what devices have always been sent */
	}
	cfg2 = cmd_fill_mr_pages(&req, spec) |
	       FIELD_PREP(ERDMA_REG_MR_PAGE_SHIFT, shift) |
	       FIELD_PREP(ERDMA_REG_MR_LEVEL, spec->level) |
	       FIELD_PREP(ERDMA_REG_MR_PAGE_CNT,
			  spec->page_cnt & FIELD_MAX(ERDMA_REG_MR_PAGE_CNT));
	req.cfg0 = cpu_to_le32(cfg0);
	req.cfg1 = cpu_to_le32(FIELD_PREP(ERDMA_REG_MR_PD, spec->pdn) |
			       FIELD_PREP(ERDMA_REG_MR_TYPE, spec->type) |
			       (spec->rights & ERDMA_REG_MR_RIGHTS));
	req.cfg2 = cpu_to_le32(cfg2);
	return cmd_rdma(dev, ERDMA_CMD_REG_MR, spec->index, req, res);
}

/**
 * erdma_exec_dereg_mr - DEREG_MR (5.2.10)
 * @dev: device
 * @key: current key, and what the recorder keeps of the region
 *
 * Return: see the top of this file. On failure the device may still use the memory.
 */
int erdma_exec_dereg_mr(struct erdma_dev *dev, const struct erdma_rec_key *key)
{
	u32 index = FIELD_GET(ERDMA_STAG_INDEX, key->stag);
	struct erdma_cmd_dereg_mr req = {};

	req.cfg = cpu_to_le32(FIELD_PREP(ERDMA_DEREG_MR_KEY, FIELD_GET(ERDMA_STAG_KEY, key->stag)) |
			      FIELD_PREP(ERDMA_DEREG_MR_INDEX, index));
	return cmd_exec(dev, ERDMA_SUBMOD_RDMA, ERDMA_CMD_DEREG_MR, index, key, &req, sizeof(req),
			NULL);
}

/*
 * Copies a response. Its length is in units that nobody knows (14): the buffer was
 * zeroed, and has always the same size.
 * Return: 0; -EBADMSG: it is none, of another version, or of another object.
 */
static int resp_buf_read(const struct erdma_resp_buf *buf, u32 index, void *to, size_t len)
{
	const struct erdma_resp_hdr *hdr = to;

	memcpy(to, buf->virt, min_t(size_t, len, ERDMA_RESP_BUF_SIZE));
	if (le16_to_cpu(hdr->magic) == ERDMA_RESP_MAGIC && hdr->version == ERDMA_RESP_VERSION &&
	    le32_to_cpu(hdr->index) == index)
		return 0;
	memset(to, 0, len);
	return -EBADMSG;
}

/**
 * erdma_exec_query - a query whose response comes by DMA (14, appendix A)
 * @dev: device
 * @submod: enum erdma_submod
 * @opcode: GET_STATS, QUERY_QPC, QUERY_CQC or QUERY_EQC
 * @index: object
 * @buf: zeroed, then filled with the response after success
 * @len: bytes of @buf, at least those of the header, at most ERDMA_RESP_BUF_SIZE are filled
 * @syndrome: device status, 0 if it did not refuse
 * @timeout_ms: 0 = what is usual for this query
 *
 * A query that is not answered retains its DMA buffer (256 bytes) in the command
 * queue until the answer comes or the device is reset.
 *
 * Return: see the top of this file; -EBADMSG: no valid response header, or that of
 * another object; -ENOMEM.
 */
int erdma_exec_query(struct erdma_dev *dev, u8 submod, u8 opcode, u32 index,
		     void *buf, size_t len, u8 *syndrome, u32 timeout_ms)
{
	u32 limit = cmd_limit(submod, opcode);
	struct erdma_cmd_query req = {};
	struct erdma_cmd_result res;
	struct erdma_resp_buf *mem;
	int err;

	memset(buf, 0, len);
	*syndrome = 0;
	mem = erdma_resp_buf_alloc(dev->response_pool);
	if (!mem)
		return -ENOMEM;

	req.index = cpu_to_le32(index);
	req.target = cpu_to_le64(mem->dma);
	req.length = cpu_to_le32(ERDMA_RESP_BUF_SIZE);
	err = erdma_cmdq_exec_buf(&dev->cmdq, submod, opcode, &req, sizeof(req), &res,
				  timeout_ms ?: limit, &mem);
	res.hurried = timeout_ms && timeout_ms < limit;
	erdma_rec_cmd(dev->rec, submod, opcode, index, NULL, err, &res);
	trace_erdma_cmd(dev, submod, opcode, index, err, &res);
	*syndrome = res.syndrome;
	if (!err)
		err = resp_buf_read(mem, index, buf, len);
	/* NULL: the device may still write it, the queue has it */
	erdma_resp_buf_free(mem);
	if (err == -ETIMEDOUT && !res.hurried)
		cmd_report_late(dev, submod, opcode, &res);
	else if (err)
		erdma_dbg(dev, CMDQ, DBG, "%s of %u failed: %pe, syndrome %u\n",
			  erdma_name_cmd(submod, opcode) ?: "query", index, ERR_PTR(err),
			  res.syndrome);
	return err;
}

/* Everybody may read counters: that must not use up what commands need */
static bool stats_may_ask(struct erdma_dev *dev)
{
	if (READ_ONCE(dev->cmdq.quarantined) >= STATS_MAX_STUCK)
		return false;
	return !dev->stats_paused || time_after(jiffies, dev->stats_resume);
}

/**
 * erdma_exec_get_stats - GET_STATS (5.3.5)
 * @dev: device
 * @out: zeroed, then filled with the counters after success
 *
 * After a GET_STATS that was not answered none is sent for 30 seconds.
 *
 * Context: process; serialised by the caller.
 * Return: see erdma_exec_query(); -EBUSY: not now.
 */
int erdma_exec_get_stats(struct erdma_dev *dev, struct erdma_resp_stats *out)
{
	u8 syndrome;
	int err;

	memset(out, 0, sizeof(*out));
	if (!stats_may_ask(dev))
		return -EBUSY;
	err = erdma_exec_query(dev, ERDMA_SUBMOD_COMMON, ERDMA_CMD_GET_STATS, 0, out,
			       sizeof(*out), &syndrome, 0);
	dev->stats_paused = err == -ETIMEDOUT;
	dev->stats_resume = jiffies + msecs_to_jiffies(STATS_PAUSE_MS);
	return err;
}
