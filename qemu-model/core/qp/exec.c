/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Execution of send queues (9.8): fetch, decode, local checks, completion.
 *
 * One request of a QP is in execution at a time. With a peer in another process
 * it may leave others in flight behind it, sq_ci to sq_next; they end in order.
 * What must not overtake or be overtaken waits until none is.
 */
#include "core_int.h"

/* Blocks of the ring copied ahead; good for one call */
typedef struct Window {
    uint16_t first;
    uint32_t blocks;
    uint8_t data[ERDMA_LIMIT_FETCH * ERDMA_WQEBB_SIZE];
} Window;

/* The head request's blocks, or NULL if the ring cannot be read */
static const uint8_t *exec_fetch(ErdmaQp *qp, Window *w)
{
    uint32_t have = erdma_ring_used16(qp->sq_pi, qp->sq_next);
    uint32_t need = have < ERDMA_SQE_MAX_WQEBBS ? have : ERDMA_SQE_MAX_WQEBBS;
    uint16_t off = qp->sq_next - w->first;

    if (off + need > w->blocks) {
        w->blocks = have < ERDMA_LIMIT_FETCH ? have : ERDMA_LIMIT_FETCH;
        w->first = qp->sq_next;
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
static uint8_t exec_start(ErdmaQp *qp, Window *w)
{
    const uint8_t *sqe = exec_fetch(qp, w);
    uint8_t syndrome;

    qp->active = true;
    qp->done = 0;
    qp->recv.taken = false;
    qp->shaper.passed = 0;
    qp->shaper.attempts = 0;
    qp->shaper.twice = false;
    if (!sqe) {
        erdma_guest_error(qp->core, "QP %u: send queue at %u is not memory",
                          qp->qpn, qp->sq_next);
        qp->req.opcode = ERDMA_OP_WRITE;
        qp->req.wqebbs = 1;
        return ERDMA_WC_SQE_FORMAT;
    }
    syndrome = erdma_wqe_decode(qp, qp->sq_next, sqe, &qp->req);
    if (syndrome) {
        erdma_guest_error(qp->core, "QP %u: send request at %u: %s", qp->qpn,
                          qp->sq_next, erdma_name_syndrome(syndrome));
    }
    erdma_trace(qp->core, "QP %u: %u at %u, %llu bytes", qp->qpn,
                qp->req.opcode, qp->sq_next,
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

static uint8_t exec_check_local(const ErdmaQp *qp)
{
    const ErdmaReq *req = &qp->req;
    uint8_t need = erdma_req_local_rights(req);
    ErdmaReach reach;

    for (unsigned i = 0; i < req->nlocal; i++) {
        ErdmaAccess a = erdma_mr_check(qp, &req->local[i], need, false,
                                       &reach);

        if (a) {
            erdma_guest_error(qp->core,
                              "QP %u: local key 0x%x, 0x%llx + %llu: %s",
                              qp->qpn, req->local[i].key,
                              (unsigned long long)req->local[i].va,
                              (unsigned long long)req->local[i].len,
                              erdma_name_syndrome(erdma_access_send(a)));
            return erdma_access_send(a);
        }
    }
    return 0;
}

/* Must what is in flight end before the active request begins? */
static bool exec_is_fenced(const ErdmaQp *qp)
{
    if (qp->bad || qp->barrier) {
        return true;
    }
    switch (qp->req.opcode) {
    case ERDMA_OP_REG_MR:
    case ERDMA_OP_LOCAL_INV:
        return true;
    case ERDMA_OP_SEND_INV:     /* may invalidate what is being read */
        return qp->pulls;
    default:
        return qp->req.fence && qp->pulls;
    }
}

/* Faults and meters in front of the network; false: @step is what happens */
static bool exec_admit(ErdmaQp *qp, ErdmaStep *step, uint8_t *syndrome)
{
    switch (erdma_shaper_admit(qp)) {
    case ERDMA_PASS:
        return true;
    case ERDMA_PASS_PARK:
        *step = ERDMA_STEP_PARK;
        return false;
    case ERDMA_PASS_HOLD:
        *step = ERDMA_STEP_HOLD;
        return false;
    default:
        *syndrome = ERDMA_WC_RETRY_EXC;
        *step = ERDMA_STEP_DONE;
        return false;
    }
}

/* A fault lets the request arrive a second time; it is begun anew then */
static bool exec_repeats(ErdmaQp *qp)
{
    ErdmaQp *peer = qp->peer;

    if (!peer || !erdma_fault_at(peer->core, ERDMA_POINT_TWICE) ||
        qp->shaper.twice || erdma_op_pulls(qp->req.opcode) ||
        !erdma_fault_again(peer)) {
        return false;
    }
    qp->shaper.twice = true;
    qp->done = 0;
    qp->recv.taken = false;
    return true;
}

/* Advance the active request */
static ErdmaStep exec_active(ErdmaQp *qp, ErdmaBudget *b, uint8_t *syndrome)
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
    *syndrome = exec_check_local(qp);
    if (*syndrome) {
        return ERDMA_STEP_DONE;
    }
    if (b->whole && qp->transport && qp->transport->copies &&
        qp->req.length - qp->done > b->bytes) {
        return ERDMA_STEP_MORE;
    }
    if (!qp->transport) {
        return ERDMA_STEP_HOLD;
    }
    if (erdma_fault_at(qp->core, ERDMA_POINT_SHAPER) &&
        !exec_admit(qp, &step, syndrome)) {
        return step;
    }
    step = qp->transport->step(qp, b, syndrome);
    if (step == ERDMA_STEP_DONE && !*syndrome && exec_repeats(qp)) {
        return ERDMA_STEP_MORE;
    }
    if (step == ERDMA_STEP_DONE && !*syndrome &&
        qp->req.opcode == ERDMA_OP_READ_INV &&
        !erdma_mr_invalidate(qp, qp->req.imm)) {
        *syndrome = ERDMA_WC_SEND_STAG;
    }
    return step;
}

static void exec_finish(ErdmaQp *qp, uint8_t syndrome)
{
    ErdmaEnd end = {
        .opcode = qp->req.opcode, .wqebbs = qp->req.wqebbs,
        .ce = qp->req.ce, .length = qp->req.length,
    };

    qp->active = false;
    qp->recv.taken = false;
    erdma_sq_finish(qp, &end, syndrome);
    qp->sq_next = qp->sq_ci;
}

/* The active request is in flight: its end is known to the transport */
static void exec_leave(ErdmaQp *qp)
{
    uint32_t left = erdma_ring_used16(qp->sq_pi, qp->sq_next);

    qp->sq_next += qp->req.wqebbs < left ? qp->req.wqebbs : left;
    qp->barrier = qp->req.opcode == ERDMA_OP_READ_INV;
    qp->active = false;
}

bool erdma_sq_exec(ErdmaQp *qp, ErdmaBudget *b)
{
    Window w;

    w.first = 0;
    w.blocks = 0;
    while (qp->state == ERDMA_QPS_RTS &&
           (qp->active || qp->sq_next != qp->sq_pi)) {
        uint8_t syndrome;
        ErdmaStep step = ERDMA_STEP_DONE;

        if (!b->steps) {
            return true;
        }
        b->steps--;
        if (!qp->active) {
            qp->bad = exec_start(qp, &w);
        }
        if (qp->inflight && exec_is_fenced(qp)) {
            return false;
        }
        syndrome = qp->bad;
        if (!syndrome) {
            step = exec_active(qp, b, &syndrome);
        }
        if (syndrome && qp->inflight) {
            qp->bad = syndrome; /* errors keep the order too */
            return false;
        }
        switch (step) {
        case ERDMA_STEP_HOLD:
            if (!qp->inflight) {        /* else the oldest has its own time */
                erdma_qp_hold(qp);
            }
            return false;
        case ERDMA_STEP_PARK:
            return false;
        case ERDMA_STEP_MORE:
            return true;
        case ERDMA_STEP_SENT:
            exec_leave(qp);
            break;
        case ERDMA_STEP_WAIT:
            return false;
        case ERDMA_STEP_DONE:
            exec_finish(qp, syndrome);
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

void erdma_req_account(ErdmaCore *c, uint8_t opcode, uint64_t length,
                       bool requester)
{
    bool pull = erdma_op_pulls(opcode);
    uint64_t pkts = erdma_packets(c, length);

    if (opcode == ERDMA_OP_REG_MR || opcode == ERDMA_OP_LOCAL_INV) {
        return;
    }
    if (requester) {
        c->n.tx_reqs++;
    }
    if (pull) {                 /* request one way, data the other */
        c->n.rx_pkts += requester ? pkts : 1;
        c->n.tx_pkts += requester ? 1 : pkts;
    }
    if (pull == requester) {
        c->n.rx_bytes += length;
    } else {
        c->n.tx_bytes += length;
    }
    if (!pull && requester) {
        c->n.tx_pkts += pkts;
    } else if (!pull) {
        c->n.rx_pkts += pkts;
    }
}

void erdma_sq_finish(ErdmaQp *qp, const ErdmaEnd *end, uint8_t syndrome)
{
    uint32_t used = erdma_ring_used16(qp->sq_pi, qp->sq_ci);
    uint32_t blocks = end->wqebbs < used ? end->wqebbs : used;

    if (syndrome) {
        erdma_sq_post_wc(qp, end->opcode, syndrome, 0);
    } else {
        erdma_req_account(qp->core, end->opcode, end->length, true);
        qp->tx_pkts++;
        if (end->ce) {
            erdma_sq_post_wc(qp, end->opcode, ERDMA_WC_SUCCESS, end->length);
        }
    }
    qp->last_sqe = qp->sq_ci;
    qp->sq_ci += blocks;
    if (syndrome) {
        erdma_qp_fatal(qp, ERDMA_AE_QP_FATAL);
    }
}
