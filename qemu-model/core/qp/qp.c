/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queue pairs: life, states, doorbells (section 11). Their turns: qp_run.c. */
#include <stdlib.h>

#include "core_int.h"

/* ---- life ---- */

static void qp_sq_spec(const struct erdma_cmd_create_qp *cmd, bool extended,
                       ErdmaQueueSpec *spec)
{
    uint32_t mtt = le32toh(cmd->sq_mtt);

    spec->depth_log = ERDMA_GET(ERDMA_CREATE_QP_SQ_DEPTH, le32toh(cmd->cfg0));
    spec->page_shift = 12 + ERDMA_GET(ERDMA_CREATE_QP_PAGE,
                                      le32toh(cmd->sq_cfg));
    spec->mtt_cnt = ERDMA_GET(ERDMA_CREATE_QP_MTT_CNT, mtt);
    spec->first_off = mtt & ERDMA_CREATE_QP_OFFSET;
    spec->table = mtt & ERDMA_CREATE_QP_LEVEL;      /* LEVEL alone decides */
    spec->addr = le64toh(cmd->sq_addr);
    spec->inline_cnt = extended ? ERDMA_INLINE_MTT_CNT : 1;
    for (unsigned i = 0; i < 3; i++) {
        spec->inline_page[i] = le64toh(cmd->sq_page[i]);
    }
}

static void qp_rq_spec(const struct erdma_cmd_create_qp *cmd, bool extended,
                       ErdmaQueueSpec *spec)
{
    uint32_t mtt = le32toh(cmd->rq_mtt);

    spec->depth_log = ERDMA_GET(ERDMA_CREATE_QP_RQ_DEPTH, le32toh(cmd->cfg1));
    spec->page_shift = 12 + ERDMA_GET(ERDMA_CREATE_QP_PAGE,
                                      le32toh(cmd->rq_cfg));
    spec->mtt_cnt = ERDMA_GET(ERDMA_CREATE_QP_MTT_CNT, mtt);
    spec->first_off = mtt & ERDMA_CREATE_QP_OFFSET;
    spec->table = mtt & ERDMA_CREATE_QP_LEVEL;
    spec->addr = le64toh(cmd->rq_addr);
    spec->inline_cnt = extended ? ERDMA_INLINE_MTT_CNT : 1;
    for (unsigned i = 0; i < 3; i++) {
        spec->inline_page[i] = le64toh(cmd->rq_page[i]);
    }
}

static unsigned qp_bind_queues(ErdmaQp *qp,
                               const struct erdma_cmd_create_qp *cmd,
                               bool extended)
{
    ErdmaCore *c = qp->core;
    ErdmaQueueSpec spec;
    unsigned err;

    qp_sq_spec(cmd, extended, &spec);
    if (spec.depth_log > ERDMA_LIMIT_QP_DEPTH_LOG) {
        return ERDMA_CMD_EINVAL;
    }
    err = erdma_queue_setup(c, &qp->sq, &spec);
    if (err) {
        return err;
    }
    qp_rq_spec(cmd, extended, &spec);
    err = spec.depth_log > c->cfg.max_recv_wr ? ERDMA_CMD_EINVAL :
          erdma_queue_setup(c, &qp->rq, &spec);
    if (err) {
        erdma_queue_release(c, &qp->sq);
    }
    return err;
}

/* Both pages must be of one context (2.7) */
static bool qp_bind_doorbells(ErdmaQp *qp,
                              const struct erdma_cmd_create_qp *cmd,
                              bool extended)
{
    uint32_t cfg = le32toh(cmd->db_cfg);
    uint32_t rq_ctx;

    if (!extended || !(le32toh(cmd->sq_cfg) & ERDMA_CREATE_QP_DB_ASSOC)) {
        return true;
    }
    qp->db_assoc = true;
    return erdma_db_context(qp->core, ERDMA_GET(ERDMA_CREATE_QP_SQ_DB, cfg),
                            ERDMA_DB_SDB, &qp->db_ctx) &&
           erdma_db_context(qp->core, ERDMA_GET(ERDMA_CREATE_QP_RQ_DB, cfg),
                            ERDMA_DB_RDB, &rq_ctx) &&
           rq_ctx == qp->db_ctx;
}

static void qp_fill(ErdmaQp *qp, const struct erdma_cmd_create_qp *cmd)
{
    uint32_t sq_cfg = le32toh(cmd->sq_cfg);
    uint32_t rq_cfg = le32toh(cmd->rq_cfg);

    qp->pd = ERDMA_GET(ERDMA_CREATE_QP_PD, le32toh(cmd->cfg1));
    qp->sq_addr = le64toh(cmd->sq_addr);
    qp->rq_addr = le64toh(cmd->rq_addr);
    qp->sq_dbrec = le64toh(cmd->sq_dbrec);
    qp->rq_dbrec = le64toh(cmd->rq_dbrec);
    qp->state = ERDMA_QPS_IDLE;
    qp->cookie = qp->qpn;
    qp->scq = erdma_cq_get(qp->core, ERDMA_GET(ERDMA_CREATE_QP_CQN, sq_cfg));
    qp->rcq = erdma_cq_get(qp->core, ERDMA_GET(ERDMA_CREATE_QP_CQN, rq_cfg));
    qp->kernel = ERDMA_GET(ERDMA_CREATE_QP_PAGE, sq_cfg) ==
                 ERDMA_KERNEL_QP_PAGE_CODE &&
                 ERDMA_GET(ERDMA_CREATE_QP_PAGE, rq_cfg) ==
                 ERDMA_KERNEL_QP_PAGE_CODE;
}

static unsigned qp_build(ErdmaQp *qp, const struct erdma_cmd_create_qp *cmd,
                         bool extended)
{
    ErdmaCore *c = qp->core;
    unsigned err;

    qp_fill(qp, cmd);
    if (!qp->scq || !qp->rcq) {
        erdma_guest_error(c, "CREATE_QP %u: CQNs %u and %u, expected two that "
                          "exist", qp->qpn, (unsigned)
                          ERDMA_GET(ERDMA_CREATE_QP_CQN, le32toh(cmd->sq_cfg)),
                          (unsigned)ERDMA_GET(ERDMA_CREATE_QP_CQN,
                                              le32toh(cmd->rq_cfg)));
        return ERDMA_CMD_ENOENT;
    }
    if (!qp_bind_doorbells(qp, cmd, extended)) {
        erdma_guest_error(c, "CREATE_QP %u: pages %u and %u, expected SDB and "
                          "RDB of one context", qp->qpn, (unsigned)
                          ERDMA_GET(ERDMA_CREATE_QP_SQ_DB,
                                    le32toh(cmd->db_cfg)), (unsigned)
                          ERDMA_GET(ERDMA_CREATE_QP_RQ_DB,
                                    le32toh(cmd->db_cfg)));
        return ERDMA_CMD_EINVAL;
    }
    if (qp->db_assoc) {
        qp->kernel = false;
    }
    err = qp_bind_queues(qp, cmd, extended);
    if (err) {
        return err;
    }
    if (!erdma_table_put(&c->qps, qp->qpn, qp)) {
        erdma_queue_release(c, &qp->sq);
        erdma_queue_release(c, &qp->rq);
        return ERDMA_CMD_ENOMEM;
    }
    return ERDMA_CMD_OK;
}

unsigned erdma_qp_create(ErdmaCore *c, const struct erdma_cmd_create_qp *cmd,
                         bool extended, uint64_t *cookie)
{
    uint32_t qpn = ERDMA_GET(ERDMA_CREATE_QP_QPN, le32toh(cmd->cfg0));
    ErdmaQp *qp;
    unsigned err;

    if (!qpn || qpn >= c->qps.limit) {
        erdma_guest_error(c, "CREATE_QP: QPN %u, expected 1 to %u", qpn,
                          c->qps.limit - 1);
        return ERDMA_CMD_EINVAL;
    }
    if (erdma_qp_get(c, qpn)) {
        return ERDMA_CMD_EEXIST;
    }
    qp = calloc(1, sizeof(*qp));
    if (!qp) {
        return ERDMA_CMD_ENOMEM;
    }
    qp->core = c;
    qp->qpn = qpn;
    err = qp_build(qp, cmd, extended);
    if (err) {
        free(qp);
        return err;
    }
    qp->scq->users++;
    qp->rcq->users++;
    if (qp->db_assoc) {
        c->db_ctx[qp->db_ctx].users++;
    }
    *cookie = qp->cookie;
    return ERDMA_CMD_OK;
}

/* Leave the network and all waiting; the rings stay as they are */
static void qp_detach(ErdmaQp *qp)
{
    if (qp->state == ERDMA_QPS_RTS) {
        erdma_match_disconnect(qp);
    }
    erdma_qp_unhold(qp);
    erdma_list_del(&qp->run_link);
    erdma_timer_cancel(&qp->shaper.timer);
    qp->active = false;
    qp->recv.taken = false;
    qp->inflight = 0;           /* to be flushed with the rest */
    qp->pulls = 0;
}

void erdma_qp_destroy(ErdmaQp *qp)
{
    ErdmaCore *c = qp->core;

    qp_detach(qp);
    erdma_event_cancel(&qp->event);
    qp->scq->users--;
    qp->rcq->users--;
    if (qp->db_assoc) {
        c->db_ctx[qp->db_ctx].users--;
    }
    erdma_queue_release(c, &qp->sq);
    erdma_queue_release(c, &qp->rq);
    erdma_table_remove(&c->qps, qp->qpn);
    free(qp);
}

/* ---- states ---- */

static void qp_stop(ErdmaQp *qp, uint8_t state)
{
    ErdmaBudget b = { .steps = ERDMA_LIMIT_FLUSH };

    qp_detach(qp);
    qp->state = state;
    erdma_qp_work(qp, &b);
}

void erdma_qp_fatal(ErdmaQp *qp, enum erdma_ae_type type)
{
    if (!erdma_qp_stopped(qp)) {
        qp_stop(qp, ERDMA_QPS_ERROR);
        erdma_aeq_post(qp->core, &qp->event, type, qp->qpn);
    }
}

static unsigned qp_to_rts(ErdmaQp *qp, const struct erdma_cmd_modify_qp *cmd)
{
    if (qp->state > ERDMA_QPS_RTR) {
        erdma_guest_error(qp->core,
                          "QP %u: RTS from %s, expected from IDLE or RTR",
                          qp->qpn, erdma_name_qp_state(qp->state));
        return ERDMA_CMD_EINVAL;
    }
    qp->conn.cc = ERDMA_GET(ERDMA_MODIFY_QP_CC, le32toh(cmd->cfg));
    qp->conn.cookie = le32toh(cmd->cookie);
    qp->conn.dip = cmd->dip;
    qp->conn.sip = cmd->sip;
    qp->conn.sport = cmd->sport;
    qp->conn.dport = cmd->dport;
    qp->conn.send_nxt = le32toh(cmd->send_nxt);
    qp->conn.recv_nxt = le32toh(cmd->recv_nxt);
    qp->state = ERDMA_QPS_RTS;
    erdma_match_connect(qp);
    erdma_qp_wake(qp);
    return ERDMA_CMD_OK;
}

static unsigned qp_to_stopped(ErdmaQp *qp, uint8_t state)
{
    if (!erdma_qp_stopped(qp)) {
        if (qp->state != ERDMA_QPS_RTS && state != ERDMA_QPS_ERROR) {
            return ERDMA_CMD_EINVAL;
        }
        qp_stop(qp, state);
    } else if (state > qp->state) {
        qp->state = state;      /* ERROR is never taken back */
    }
    return ERDMA_CMD_OK;
}

unsigned erdma_qp_modify(ErdmaQp *qp, const struct erdma_cmd_modify_qp *cmd)
{
    uint32_t state = ERDMA_GET(ERDMA_MODIFY_QP_STATE, le32toh(cmd->cfg));

    switch (state) {
    case ERDMA_QPS_IDLE:
    case ERDMA_QPS_RTR:
        if (qp->state > state) {
            return ERDMA_CMD_EINVAL;
        }
        qp->state = state;
        return ERDMA_CMD_OK;
    case ERDMA_QPS_RTS:
        return qp_to_rts(qp, cmd);
    case ERDMA_QPS_CLOSING:
    case ERDMA_QPS_TERMINATE:
    case ERDMA_QPS_ERROR:
        return qp_to_stopped(qp, state);
    default:
        erdma_guest_error(qp->core, "QP %u: state %u, expected 0 to %u",
                          qp->qpn, state, ERDMA_QPS_ERROR);
        return ERDMA_CMD_EINVAL;
    }
}

/* Does @pi add to @old, seen from @ci, and stay inside the ring? */
static bool qp_advances(uint16_t pi, uint16_t old, uint16_t ci, uint32_t depth)
{
    uint32_t used = erdma_ring_used16(pi, ci);

    return used <= depth && used >= erdma_ring_used16(old, ci);
}

/* Indices older than what the doorbells said change nothing */
unsigned erdma_qp_reflush(ErdmaQp *qp, uint16_t sq_pi, uint16_t rq_pi)
{
    ErdmaBudget b = { .steps = ERDMA_LIMIT_FLUSH };

    if (!erdma_qp_stopped(qp)) {
        return ERDMA_CMD_EINVAL;
    }
    if (qp_advances(sq_pi, qp->sq_pi, qp->sq_ci, qp->sq.depth)) {
        qp->sq_pi = sq_pi;
    }
    if (qp_advances(rq_pi, qp->rq_pi, qp->rq_ci, qp->rq.depth)) {
        qp->rq_pi = rq_pi;
    }
    erdma_qp_work(qp, &b);
    return ERDMA_CMD_OK;
}

/* ---- doorbells ---- */

/*
 * May @pi replace @old? Not if it goes back, nor if that is more than the ring
 * holds, which is fatal for the QP (9.1).
 */
static bool qp_index_fits(ErdmaQp *qp, const char *what, uint16_t pi,
                          uint16_t old, uint16_t ci, uint32_t depth,
                          enum erdma_ae_type type)
{
    if (erdma_ring_used16(pi, ci) <= depth) {
        return qp_advances(pi, old, ci, depth);
    }
    erdma_guest_error(qp->core, "QP %u: %s index %u, expected %u to %u",
                      qp->qpn, what, pi, ci, (ci + depth) & 0xffff);
    erdma_qp_fatal(qp, type);
    return false;
}

void erdma_qp_sq_doorbell(ErdmaQp *qp, uint16_t pi)
{
    if (qp_index_fits(qp, "send", pi, qp->sq_pi, qp->sq_ci, qp->sq.depth,
                      ERDMA_AE_QP_FATAL)) {
        qp->sq_pi = pi;
        if (!qp->active && qp->sq_next != pi) {
            erdma_qp_unhold(qp);        /* peer lost: now a request waits */
        }
        erdma_qp_work_now(qp);
    }
}

void erdma_qp_rq_doorbell(ErdmaQp *qp, uint16_t pi)
{
    if (!qp_index_fits(qp, "receive", pi, qp->rq_pi, qp->rq_ci,
                       qp->rq.depth, ERDMA_AE_RQ_ERR)) {
        return;
    }
    qp->rq_pi = pi;
    if (erdma_qp_stopped(qp)) {
        erdma_qp_work_now(qp);
    } else if (qp->transport) {
        qp->transport->recv_posted(qp);
    }
}
