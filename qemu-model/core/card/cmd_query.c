/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands that query: capabilities, statistics, contexts (6, 14, A). */
#include "core_int.h"

unsigned erdma_cmd_query_device(ErdmaCore *c, ErdmaCmd *cmd)
{
    const ErdmaConfig *cfg = &c->cfg;

    cmd->resp0 =
        ERDMA_PREP(ERDMA_CAP0_MAX_MR_SIZE, (uint64_t)cfg->max_mr_size) |
        ERDMA_PREP(ERDMA_CAP0_MAX_AH, (uint64_t)cfg->max_ah) |
        ERDMA_PREP(ERDMA_CAP0_MAX_RECV_WR, (uint64_t)cfg->max_recv_wr) |
        ERDMA_PREP(ERDMA_CAP0_FLAGS, (uint64_t)cfg->flags) |
        ERDMA_PREP(ERDMA_CAP0_MAX_CQE, (uint64_t)cfg->max_cqe) |
        ERDMA_PREP(ERDMA_CAP0_MAX_GID, (uint64_t)cfg->max_gid);
    cmd->resp1 =
        ERDMA_PREP(ERDMA_CAP1_MAX_MW, (uint64_t)cfg->max_mw) |
        ERDMA_PREP(ERDMA_CAP1_QBLOCK, (uint64_t)cfg->qblock) |
        ERDMA_PREP(ERDMA_CAP1_DEFAULT_CC, (uint64_t)cfg->default_cc) |
        ERDMA_PREP(ERDMA_CAP1_LOCAL_DMA_KEY, (uint64_t)cfg->local_dma_key);
    return ERDMA_CMD_OK;
}

unsigned erdma_cmd_query_fw(ErdmaCore *c, ErdmaCmd *cmd)
{
    cmd->resp0 = ERDMA_PREP(ERDMA_FW_VERSION, (uint64_t)c->cfg.fw_version);
    return ERDMA_CMD_OK;
}

/* Send a response that begins with the common header, at most LENGTH bytes */
static unsigned query_respond(ErdmaCore *c, const ErdmaCmd *cmd,
                              struct erdma_resp_hdr *hdr, size_t size)
{
    const struct erdma_cmd_query *req = (const void *)cmd->request;
    uint32_t length = le32toh(req->length);

    hdr->magic = htole16(ERDMA_RESP_MAGIC);
    hdr->length = size - sizeof(*hdr);
    hdr->index = req->index;
    if (erdma_fault_at(c, ERDMA_POINT_MAGIC)) {
        c->hooks->response(c, cmd, hdr);
    }
    if (length < size) {
        size = length;
    }
    if (size && !erdma_dma_write(c, le64toh(req->target), hdr, size)) {
        erdma_guest_error(c, "response buffer at 0x%llx is not writable memory",
                          (unsigned long long)le64toh(req->target));
        return ERDMA_CMD_EFAULT;
    }
    return ERDMA_CMD_OK;
}

static uint32_t query_index(const ErdmaCmd *cmd)
{
    const struct erdma_cmd_query *req = (const void *)cmd->request;

    return le32toh(req->index);
}

unsigned erdma_cmd_get_stats(ErdmaCore *c, ErdmaCmd *cmd)
{
    struct erdma_resp_stats r = {
        .tx_reqs = htole64(c->n.tx_reqs),
        .tx_pkts = htole64(c->n.tx_pkts),
        .tx_bytes = htole64(c->n.tx_bytes),
        .tx_bps_drops = htole64(c->n.metered_bytes),
        .tx_pps_drops = htole64(c->n.metered_messages),
        .rx_pkts = htole64(c->n.rx_pkts),
        .rx_bytes = htole64(c->n.rx_bytes),
    };

    return query_respond(c, cmd, &r.hdr, sizeof(r));
}

static void query_fill_queue(struct erdma_qpc_queue *out, const ErdmaQueue *q,
                             uint16_t pi, uint16_t ci)
{
    out->status = 1;
    out->page_off = q->first_off >> ERDMA_LIMIT_PAGE_SHIFT_MIN;
    out->page_size = q->page_shift - ERDMA_LIMIT_PAGE_SHIFT_MIN;
    out->depth = __builtin_ctz(q->depth);
    out->hw_pi = htole16(pi);
    out->hw_ci = htole16(ci);
}

/* Content of a doorbell record: for the reader only, never acted on (3.4) */
static __le64 query_record(ErdmaCore *c, uint64_t addr)
{
    uint64_t value = 0;

    if (!erdma_dma_read(c, addr, &value, sizeof(value))) {
        return 0;
    }
    return value;
}

static void query_fill_qpc(ErdmaQp *qp, struct erdma_resp_qpc *r)
{
    ErdmaCore *c = qp->core;
    bool flushing = erdma_qp_stopped(qp);

    query_fill_queue(&r->sq, &qp->sq, qp->sq_pi, qp->sq_ci);
    query_fill_queue(&r->rq, &qp->rq, qp->rq_pi, qp->rq_ci);
    r->last_sqe = htole16(qp->last_sqe);
    r->last_rqe = htole16(qp->last_rqe);
    r->sq_cqes = htole16(qp->sq_cqes);
    r->rq_cqes = htole16(qp->rq_cqes);
    r->tx_pkts = htole16(qp->tx_pkts);
    r->rx_pkts = htole16(qp->rx_pkts);
    r->rx_err_drops = htole16(qp->rx_err_drops);
    r->rto_count = htole32(erdma_qp_timeouts(qp));
    r->remote_qpn = htole32(qp->conn.cookie);
    r->pd = htole32(qp->pd);
    r->fw_sq_pi = htole16(qp->sq_pi);
    r->fw_sq_ci = htole16(qp->sq_ci);
    r->fw_rq_ci = htole16(qp->rq_ci);
    r->sq_in_flush = flushing;
    r->rq_in_flush = flushing;
    r->sq_flushed_pi = flushing ? htole16(qp->sq_ci) : 0;
    r->rq_flushed_pi = flushing ? htole16(qp->rq_ci) : 0;
    r->send_cqn = htole32(qp->scq->cqn);
    r->recv_cqn = htole32(qp->rcq->cqn);
    r->sq_addr = htole64(qp->sq_addr);
    r->rq_addr = htole64(qp->rq_addr);
    r->sq_dbrec_addr = htole64(qp->sq_dbrec);
    r->rq_dbrec_addr = htole64(qp->rq_dbrec);
    r->sq_dbrec = query_record(c, qp->sq_dbrec);
    r->rq_dbrec = query_record(c, qp->rq_dbrec);
    r->sip = qp->conn.sip;
    r->dip = qp->conn.dip;
    r->sport = qp->conn.sport;
    r->dport = qp->conn.dport;
}

unsigned erdma_cmd_query_qpc(ErdmaCore *c, ErdmaCmd *cmd)
{
    struct erdma_resp_qpc r = { 0 };
    ErdmaQp *qp = erdma_qp_get(c, query_index(cmd));

    if (!qp) {
        return ERDMA_CMD_ENOENT;
    }
    query_fill_qpc(qp, &r);
    return query_respond(c, cmd, &r.hdr, sizeof(r));
}

/* INDEX 0: the command CQ */
static void query_fill_cmd_cqc(ErdmaCore *c, struct erdma_resp_cqc *r)
{
    r->pi = htole32(c->cmdq.cq_pi);
    r->enabled = 1;
    r->depth = __builtin_ctz(c->cmdq.depth);
    r->owner = erdma_ring_owner(c->cmdq.cq_pi, c->cmdq.depth);
    r->addr = htole64(c->cmdq.cq_base);
    r->dbrec = query_record(c, c->regs.cq_dbrec);
}

unsigned erdma_cmd_query_cqc(ErdmaCore *c, ErdmaCmd *cmd)
{
    struct erdma_resp_cqc r = { 0 };
    uint32_t cqn = query_index(cmd);
    ErdmaCq *cq = erdma_cq_get(c, cqn);
    uint64_t addr;

    if (!cqn) {
        query_fill_cmd_cqc(c, &r);
        return query_respond(c, cmd, &r.hdr, sizeof(r));
    }
    if (!cq) {
        return ERDMA_CMD_ENOENT;
    }
    erdma_queue_locate(&cq->q, 0, &addr);
    r.pi = htole32(cq->pi);
    r.enabled = !cq->broken;
    r.depth = __builtin_ctz(cq->q.depth);
    r.owner = erdma_ring_owner(cq->pi, cq->q.depth);
    r.bad_db_type = cq->bad_db_type;
    r.bad_db_ci = htole32(cq->bad_db_ci);
    r.ooo_dbs = cq->ooo_dbs;
    r.dup_dbs = cq->dup_dbs;
    r.addr = htole64(addr);
    r.dbrec = query_record(c, cq->dbrec);
    return query_respond(c, cmd, &r.hdr, sizeof(r));
}

unsigned erdma_cmd_query_eqc(ErdmaCore *c, ErdmaCmd *cmd)
{
    struct erdma_resp_eqc r = { 0 };
    uint32_t index = query_index(cmd);
    const ErdmaEq *eq = NULL;

    if (index == ERDMA_EQC_INDEX_AEQ) {
        eq = &c->aeq;
    } else if (index == ERDMA_EQC_INDEX_CMDQ) {
        eq = &c->eq[0];
    } else if (index <= ERDMA_EQC_INDEX_CEQ(ERDMA_MAX_CEQS)) {
        eq = &c->eq[index - ERDMA_EQC_INDEX_CEQ(0)];
    }
    if (!eq || !eq->live) {
        return ERDMA_CMD_ENOENT;
    }
    r.depth = htole16(eq->depth);
    r.vector = htole16(eq->vector);
    r.suppressed = !eq->armed;
    r.tail_owner = erdma_ring_owner(eq->ci, eq->depth);
    r.head_owner = erdma_ring_owner(eq->pi, eq->depth);
    r.overflow = eq->overflowed;
    r.head = htole32(eq->pi);
    r.tail = htole32(eq->ci);
    r.addr = htole64(eq->base);
    r.db_addr = htole64(index == ERDMA_EQC_INDEX_AEQ ? ERDMA_REG_AEQ_DB :
                        ERDMA_REG_EQ_DB(index - ERDMA_EQC_INDEX_CMDQ));
    r.dbrec = query_record(c, eq->dbrec);
    return query_respond(c, cmd, &r.hdr, sizeof(r));
}

/* ---- A.4 ---- */

/* Legacy mode connects without addresses: there is nobody to be found */
unsigned erdma_cmd_set_ext_attr(ErdmaCore *c, ErdmaCmd *cmd)
{
    const struct erdma_cmd_set_ext_attr *req = (const void *)cmd->request;
    uint32_t mask = le32toh(req->mask);

    if ((mask & ERDMA_EXT_ATTR_LEGACY_MODE) && req->enable) {
        return ERDMA_CMD_ENOTSUPP;
    }
    if (mask & ERDMA_EXT_ATTR_DELAYED_ACK) {
        c->ext_mask |= ERDMA_EXT_ATTR_DELAYED_ACK;
        c->ext_delack = req->delayed_ack;
    }
    return ERDMA_CMD_OK;
}

unsigned erdma_cmd_get_ext_attr(ErdmaCore *c, ErdmaCmd *cmd)
{
    struct erdma_resp_ext_attr r = {
        .capabilities = htole32(ERDMA_EXT_ATTR_DELAYED_ACK),
        .attributes = htole32(c->ext_mask),
        .delayed_ack = c->ext_delack,
    };

    return query_respond(c, cmd, &r.hdr, sizeof(r));
}
