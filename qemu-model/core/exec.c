/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Execution of send queues (9.8): fetch, decode, local checks, completion.
 *
 * One request of a QP is in execution at a time, so requests complete in order
 * and FENCE, REG_MR and LOCAL_INV need nothing special.
 */
#include "core_int.h"

/* Blocks of the ring copied ahead; good for one call */
typedef struct Window {
    uint16_t first;
    uint32_t blocks;
    uint8_t data[ERDMA_LIMIT_FETCH * ERDMA_WQEBB_SIZE];
} Window;

/* The head request's blocks, or NULL if the ring cannot be read */
static const uint8_t *fetch(ErdmaQp *qp, Window *w)
{
    uint32_t have = erdma_ring_used16(qp->sq_pi, qp->sq_ci);
    uint32_t need = have < ERDMA_SQE_MAX_WQEBBS ? have : ERDMA_SQE_MAX_WQEBBS;
    uint16_t off = qp->sq_ci - w->first;

    if (off + need > w->blocks) {
        w->blocks = have < ERDMA_LIMIT_FETCH ? have : ERDMA_LIMIT_FETCH;
        w->first = qp->sq_ci;
        off = 0;
        if (!erdma_queue_read(qp->core, &qp->sq, w->first, w->blocks,
                              w->data)) {
            w->blocks = 0;
            return NULL;
        }
    }
    return w->data + off * ERDMA_WQEBB_SIZE;
}

/* Make the head request the active one; syndrome */
static uint8_t start(ErdmaQp *qp, Window *w)
{
    const uint8_t *sqe = fetch(qp, w);
    uint8_t syndrome;

    qp->active = true;
    qp->done = 0;
    qp->recv.taken = false;
    if (!sqe) {
        erdma_guest_error(qp->core, "QP %u: send queue cannot be read at %u",
                          qp->qpn, qp->sq_ci);
        qp->req.opcode = ERDMA_OP_WRITE;
        qp->req.wqebbs = 1;
        return ERDMA_WC_SQE_FORMAT;
    }
    syndrome = erdma_wqe_decode(qp, qp->sq_ci, sqe, &qp->req);
    if (syndrome) {
        erdma_guest_error(qp->core, "QP %u: malformed send request at %u",
                          qp->qpn, qp->sq_ci);
    }
    erdma_trace(qp->core, "QP %u: %u at %u, %llu bytes", qp->qpn,
                qp->req.opcode, qp->sq_ci,
                (unsigned long long)qp->req.length);
    return syndrome;
}

uint8_t erdma_req_local_rights(const ErdmaReq *req)
{
    switch (req->opcode) {
    case ERDMA_OP_READ:
    case ERDMA_OP_READ_INV:
        /* iWARP consumers may have registered either (10.5) */
        return ERDMA_RIGHT_LOCAL_WRITE | ERDMA_RIGHT_REMOTE_WRITE;
    case ERDMA_OP_ATOMIC_CAS:
    case ERDMA_OP_ATOMIC_FAA:
        return ERDMA_RIGHT_LOCAL_WRITE;
    default:
        return ERDMA_RIGHT_LOCAL_READ;
    }
}

static uint8_t check_local(const ErdmaQp *qp)
{
    const ErdmaReq *req = &qp->req;
    uint8_t need = erdma_req_local_rights(req);
    ErdmaReach reach;

    for (unsigned i = 0; i < req->nlocal; i++) {
        ErdmaAccess a = erdma_mr_check(qp, &req->local[i], need, false,
                                       &reach);

        if (a) {
            erdma_guest_error(qp->core, "QP %u: bad local key 0x%x or range",
                              qp->qpn, req->local[i].key);
            return erdma_access_send(a);
        }
    }
    return 0;
}

/* Advance the active request */
static ErdmaStep execute(ErdmaQp *qp, ErdmaBudget *b, uint8_t *syndrome)
{
    ErdmaStep step;

    switch (qp->req.opcode) {
    case ERDMA_OP_REG_MR:
        *syndrome = erdma_mr_fast_register(qp, &qp->req.reg);
        return ERDMA_STEP_DONE;
    case ERDMA_OP_LOCAL_INV:
        *syndrome = erdma_mr_invalidate(qp, qp->req.imm) ?
                    ERDMA_WC_SUCCESS : ERDMA_WC_SEND_STAG;
        return ERDMA_STEP_DONE;
    default:
        break;
    }
    *syndrome = check_local(qp);
    if (*syndrome) {
        return ERDMA_STEP_DONE;
    }
    if (b->whole && qp->req.length - qp->done > b->bytes) {
        return ERDMA_STEP_MORE;
    }
    step = qp->core->fabric->transport->step(qp, b, syndrome);
    if (step == ERDMA_STEP_DONE && !*syndrome &&
        qp->req.opcode == ERDMA_OP_READ_INV &&
        !erdma_mr_invalidate(qp, qp->req.imm)) {
        *syndrome = ERDMA_WC_SEND_STAG;
    }
    return step;
}

bool erdma_sq_exec(ErdmaQp *qp, ErdmaBudget *b)
{
    Window w;

    w.first = 0;
    w.blocks = 0;
    while (qp->state == ERDMA_QPS_RTS &&
           (qp->active || qp->sq_ci != qp->sq_pi)) {
        uint8_t syndrome = 0;
        ErdmaStep step = ERDMA_STEP_DONE;

        if (!b->steps) {
            return true;
        }
        b->steps--;
        if (!qp->active) {
            syndrome = start(qp, &w);
        }
        if (!syndrome) {
            step = execute(qp, b, &syndrome);
        }
        switch (step) {
        case ERDMA_STEP_HOLD:
            erdma_qp_hold(qp);
            return false;
        case ERDMA_STEP_MORE:
            return true;
        case ERDMA_STEP_DONE:
            erdma_sq_finish(qp, syndrome);
            break;
        }
    }
    return false;
}

void erdma_sq_post_wc(ErdmaQp *qp, uint8_t opcode, uint8_t syndrome,
                      uint32_t size)
{
    ErdmaWc wc = {
        .opcode = erdma_wqe_cqe_opcode(opcode),
        .qtype = ERDMA_CQE_QTYPE_SQ,
        .syndrome = syndrome,
        .qe_idx = qp->sq_ci,    /* first block, all 16 bits */
        .qpn = qp->qpn,
        .size = size,
    };

    qp->sq_cqes++;
    erdma_cq_post(qp->scq, &wc);
}

void erdma_req_account(ErdmaCore *c, const ErdmaReq *req, bool requester)
{
    bool pull;
    uint64_t pkts = erdma_packets(c, req->length);

    switch (req->opcode) {
    case ERDMA_OP_REG_MR:
    case ERDMA_OP_LOCAL_INV:
        return;
    case ERDMA_OP_READ:
    case ERDMA_OP_READ_INV:
    case ERDMA_OP_ATOMIC_CAS:
    case ERDMA_OP_ATOMIC_FAA:
        pull = true;
        break;
    default:
        pull = false;
        break;
    }
    if (requester) {
        c->n.tx_reqs++;
    }
    if (pull) {                 /* request one way, data the other */
        c->n.rx_pkts += requester ? pkts : 1;
        c->n.tx_pkts += requester ? 1 : pkts;
    }
    if (pull == requester) {
        c->n.rx_bytes += req->length;
    } else {
        c->n.tx_bytes += req->length;
    }
    if (!pull && requester) {
        c->n.tx_pkts += pkts;
    } else if (!pull) {
        c->n.rx_pkts += pkts;
    }
}

void erdma_sq_finish(ErdmaQp *qp, uint8_t syndrome)
{
    uint32_t used = erdma_ring_used16(qp->sq_pi, qp->sq_ci);
    uint32_t blocks = qp->req.wqebbs < used ? qp->req.wqebbs : used;

    if (syndrome) {
        erdma_sq_post_wc(qp, qp->req.opcode, syndrome, 0);
    } else {
        erdma_req_account(qp->core, &qp->req, true);
        qp->tx_pkts++;
        if (qp->req.ce) {
            erdma_sq_post_wc(qp, qp->req.opcode, ERDMA_WC_SUCCESS,
                             qp->req.length);
        }
    }
    qp->last_sqe = qp->sq_ci;
    qp->sq_ci += blocks;
    qp->active = false;
    qp->recv.taken = false;
    if (syndrome) {
        erdma_qp_fatal(qp, ERDMA_AE_QP_FATAL);
    }
}
