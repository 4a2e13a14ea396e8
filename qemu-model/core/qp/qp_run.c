/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns of queue pairs: executing, flushing (11.5), and waiting for the peer
 * (12.6).
 */
#include "core_int.h"

/* Between two tries to send what waits for a silent peer */
#define HELD_RETRANSMIT_NS  (400 * 1000000ull)

/* ---- turns ---- */

void erdma_qp_schedule(ErdmaQp *qp)
{
    ErdmaCore *c = qp->core;

    if (!erdma_link_used(&qp->run_link)) {
        erdma_list_add_tail(&c->qp_run, &qp->run_link);
    }
    erdma_kick(c, &c->qp_kick);
}

/* Oldest send request, flushed */
static void qp_run_flush_send(ErdmaQp *qp)
{
    uint32_t used = erdma_ring_used16(qp->sq_pi, qp->sq_ci);
    uint32_t blocks = 1;
    uint64_t addr, hdr = 0;

    erdma_queue_locate(&qp->sq, qp->sq_ci, &addr);
    if (erdma_dma_read(qp->core, addr, &hdr, sizeof(hdr))) {
        hdr = le64toh(hdr);
        blocks = ERDMA_GET(ERDMA_SQE_HDR_WQEBBS, hdr) + 1;
    }
    erdma_sq_post_wc(qp, ERDMA_GET(ERDMA_SQE_HDR_OPCODE, hdr),
                     ERDMA_WC_FLUSHED, 0);
    qp->sq_ci += blocks < used ? blocks : used;
}

void erdma_qp_post_recv_wc(ErdmaQp *qp, ErdmaWc *wc)
{
    wc->qtype = ERDMA_CQE_QTYPE_RQ;
    wc->qe_idx = qp->rq_ci;     /* qe_idx of the RQE - 1 */
    wc->qpn = qp->qpn;
    qp->last_rqe = qp->rq_ci;
    qp->rq_cqes++;
    qp->rq_ci++;
    erdma_cq_post(qp->rcq, wc);
}

/* True if the budget ended before the queues were empty */
static bool qp_run_flush(ErdmaQp *qp, ErdmaBudget *b)
{
    while (qp->sq_ci != qp->sq_pi || qp->rq_ci != qp->rq_pi) {
        if (!b->steps || !erdma_sched_spend(qp->core->fabric, 1)) {
            return true;
        }
        b->steps--;
        if (qp->sq_ci != qp->sq_pi) {
            qp_run_flush_send(qp);
        } else {
            ErdmaWc wc = {
                .opcode = ERDMA_OP_RECV,
                .syndrome = ERDMA_WC_FLUSHED,
            };

            erdma_qp_post_recv_wc(qp, &wc);
        }
    }
    return false;
}

void erdma_qp_work(ErdmaQp *qp, ErdmaBudget *b)
{
    bool more = false;

    if (erdma_qp_stopped(qp)) {
        more = qp_run_flush(qp, b);
    } else if (qp->state == ERDMA_QPS_RTS) {
        if (qp->transport) {
            more = qp->transport->work(qp, b);
        }
        if (qp->state == ERDMA_QPS_RTS &&
            !erdma_timer_armed(&qp->hold) &&
            !erdma_timer_armed(&qp->shaper.timer)) {
            more |= erdma_sq_exec(qp, b);
        }
    }
    if (more) {
        erdma_qp_schedule(qp);
    }
}

void erdma_qp_work_now(ErdmaQp *qp)
{
    ErdmaBudget b = {
        .bytes = ERDMA_LIMIT_DOORBELL_BYTES,
        .steps = erdma_qp_stopped(qp) ? ERDMA_LIMIT_FLUSH :
                                        ERDMA_LIMIT_DOORBELL_WQES,
        .whole = true,
    };

    if (!erdma_link_used(&qp->run_link)) {
        erdma_qp_work(qp, &b);
    }
}

/* QPs take turns; each gets a slice, all together a bounded amount */
static void qp_run_all(ErdmaCore *c)
{
    uint64_t bytes = ERDMA_LIMIT_RUN_BYTES;
    uint32_t steps = ERDMA_LIMIT_RUN_WQES;
    ErdmaLink *link;

    while (bytes && steps && erdma_sched_can_spend(c->fabric) &&
           (link = erdma_list_first(&c->qp_run))) {
        const ErdmaBudget slice = {
            .bytes = bytes < ERDMA_LIMIT_SLICE_BYTES ? bytes :
                     ERDMA_LIMIT_SLICE_BYTES,
            .steps = steps < ERDMA_LIMIT_SLICE_WQES ? steps :
                     ERDMA_LIMIT_SLICE_WQES,
        };
        ErdmaBudget b = slice;

        erdma_list_del(link);
        erdma_qp_work(ERDMA_ENTRY(link, ErdmaQp, run_link), &b);
        bytes -= slice.bytes - b.bytes;
        steps -= slice.steps == b.steps ? 1 : slice.steps - b.steps;
    }
    if (erdma_list_first(&c->qp_run)) {
        erdma_kick(c, &c->qp_kick);
    }
}

void erdma_qp_wake(ErdmaQp *qp)
{
    erdma_qp_unhold(qp);
    if (qp->state == ERDMA_QPS_RTS &&
        (qp->active || qp->sq_next != qp->sq_pi)) {
        erdma_qp_schedule(qp);
    }
}

/* ---- waiting for the peer (12.6) ---- */

static bool qp_run_is_cut(const ErdmaQp *qp)
{
    return erdma_fault_at(qp->core, ERDMA_POINT_NETWORK) &&
           erdma_fault_cuts(qp);
}

/* Nothing of what the QP sends arrives; a peer without receives takes it */
static bool qp_run_path_is_silent(const ErdmaQp *qp)
{
    return !qp->peer || qp_run_is_cut(qp) || qp_run_is_cut(qp->peer);
}

/* How often the request that is held was sent in vain */
static uint32_t qp_run_sent_in_vain(const ErdmaQp *qp)
{
    const ErdmaCore *c = qp->core;
    uint64_t left, now = c->ops->now(c->opaque);

    if (!erdma_timer_armed(&qp->hold) || !qp->hold_silent) {
        return 0;
    }
    left = qp->hold.deadline > now ? qp->hold.deadline - now : 0;
    return (c->cfg.hold_ns - left) / HELD_RETRANSMIT_NS;
}

uint32_t erdma_qp_timeouts(const ErdmaQp *qp)
{
    return qp->shaper.timeouts + qp_run_sent_in_vain(qp);
}

void erdma_qp_hold(ErdmaQp *qp)
{
    ErdmaCore *c = qp->core;

    if (!erdma_timer_armed(&qp->hold)) {
        qp->hold_silent = qp->active && qp_run_path_is_silent(qp);
        erdma_timer_arm(c, &c->held, &qp->hold,
                        c->ops->now(c->opaque) + c->cfg.hold_ns);
        c->n.held++;
    }
}

void erdma_qp_unhold(ErdmaQp *qp)
{
    if (erdma_timer_armed(&qp->hold)) {
        qp->shaper.timeouts += qp_run_sent_in_vain(qp);
        erdma_timer_cancel(&qp->hold);
        erdma_sched_update_timer(qp->core);
    }
}

/*
 * No FIN comes from a process that died, and a QP that only receives has
 * nothing that could time out: it is given the hold time, then it fails.
 */
void erdma_qp_peer_lost(ErdmaQp *qp)
{
    if (qp->state == ERDMA_QPS_RTS && !qp->active && qp->sq_ci == qp->sq_pi) {
        erdma_qp_hold(qp);
    }
}

static void qp_run_hold_expired(ErdmaCore *c, ErdmaTimer *t)
{
    ErdmaQp *qp = ERDMA_ENTRY(t, ErdmaQp, hold);
    ErdmaEnd end = { .opcode = qp->req.opcode, .wqebbs = qp->req.wqebbs };

    c->n.retry_exceeded++;
    if (qp->hold_silent) {
        qp->shaper.timeouts += c->cfg.hold_ns / HELD_RETRANSMIT_NS;
    }
    if (!qp->active) {          /* see erdma_qp_peer_lost() */
        erdma_info(c, "QP %u: peer lost", qp->qpn);
        erdma_qp_fatal(qp, ERDMA_AE_QP_FATAL);
        return;
    }
    erdma_info(c, "QP %u: peer did not answer, request %u given up",
               qp->qpn, qp->sq_ci);
    erdma_sq_finish(qp, &end, ERDMA_WC_RETRY_EXC);
}

/* ---- the card's ---- */

void erdma_qp_register(ErdmaCore *c)
{
    erdma_list_init(&c->qp_run);
    erdma_kick_init(&c->qp_kick, qp_run_all);
    erdma_timer_queue_init(c, &c->held, qp_run_hold_expired);
}
