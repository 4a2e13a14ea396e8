/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transport between cards of one process: data goes straight from the memory of
 * one QP's card to that of the other's.
 *
 * A step moves what the budget allows and may be followed, any time later, by
 * another one, so keys are checked again on each. The peer is only completed or
 * stopped, never executed from here: no recursion.
 */
#include "core_int.h"

/* Bytes for this step; false: budget used up before the end */
static bool local_move(ErdmaQp *qp, ErdmaBudget *b, ErdmaCursor *dst,
                       ErdmaCursor *src)
{
    uint64_t left = qp->req.length - qp->done;
    uint64_t n = left < b->bytes ? left : b->bytes;
    uint64_t done = erdma_copy(dst, src, n);

    qp->done += done;
    b->bytes -= done;
    return done == left;
}

static ErdmaStep local_push_data(ErdmaQp *qp, ErdmaQp *peer, ErdmaBudget *b,
                                 uint8_t *syndrome)
{
    const ErdmaReq *req = &qp->req;
    ErdmaCursor src, dst;
    ErdmaSpan span;

    *syndrome = erdma_recv_target(peer, req, &qp->recv, &span);
    if (*syndrome) {
        return ERDMA_STEP_DONE;
    }
    erdma_recv_cursor(&dst, peer, req, &span, qp->done);
    if (req->is_inline) {
        erdma_cursor_buffer(&src, req->data, req->length, qp->done);
    } else {
        erdma_cursor_spans(&src, qp, req->local, req->nlocal,
                           ERDMA_RIGHT_LOCAL_READ, false, false, qp->done);
    }
    if (local_move(qp, b, &dst, &src)) {
        return ERDMA_STEP_DONE;
    }
    if (!src.fault && !dst.fault) {
        return ERDMA_STEP_MORE;
    }
    *syndrome = src.fault ? erdma_access_send(src.fault) :
                            erdma_recv_fault(peer, req, dst.fault);
    return ERDMA_STEP_DONE;
}

/* SEND and WRITE, all kinds */
static ErdmaStep local_push(ErdmaQp *qp, ErdmaQp *peer, ErdmaBudget *b,
                            uint8_t *syndrome)
{
    ErdmaStep begin = erdma_recv_begin(peer, &qp->req, &qp->recv, syndrome);

    if (begin != ERDMA_STEP_DONE || *syndrome) {
        return begin;
    }
    if (qp->req.length) {
        ErdmaStep step = local_push_data(qp, peer, b, syndrome);

        if (step != ERDMA_STEP_DONE || *syndrome) {
            return step;
        }
    }
    if (qp->recv.taken && !erdma_recv_complete(peer, &qp->req)) {
        *syndrome = ERDMA_WC_GENERAL_ERR;
    }
    return ERDMA_STEP_DONE;
}

/* READ: data comes from the peer, its queues are not involved */
static ErdmaStep local_pull(ErdmaQp *qp, ErdmaQp *peer, ErdmaBudget *b,
                            uint8_t *syndrome)
{
    const ErdmaReq *req = &qp->req;
    ErdmaCursor src, dst;
    ErdmaReach reach;
    ErdmaAccess a;

    if (!req->length) {
        return ERDMA_STEP_DONE;
    }
    a = erdma_mr_check(peer, &req->remote, ERDMA_RIGHT_REMOTE_READ, true,
                       &reach);
    if (!a) {
        erdma_cursor_spans(&src, peer, &req->remote, 1,
                           ERDMA_RIGHT_REMOTE_READ, true, false, qp->done);
        erdma_cursor_spans(&dst, qp, req->local, req->nlocal,
                           erdma_req_local_rights(req), false, true, qp->done);
        if (local_move(qp, b, &dst, &src)) {
            return ERDMA_STEP_DONE;
        }
        if (!src.fault && !dst.fault) {
            return ERDMA_STEP_MORE;
        }
        if (dst.fault) {
            *syndrome = erdma_access_send(dst.fault);
            return ERDMA_STEP_DONE;
        }
        a = src.fault;
    }
    *syndrome = erdma_access_recv(a);
    erdma_recv_refuse(peer, *syndrome);
    return ERDMA_STEP_DONE;
}

static ErdmaStep local_atomic(ErdmaQp *qp, ErdmaQp *peer, uint8_t *syndrome)
{
    ErdmaCursor src, dst;
    uint64_t old = 0;
    ErdmaAccess a = erdma_recv_atomic(peer, &qp->req, &old);

    if (a) {
        *syndrome = erdma_access_recv(a);
        erdma_recv_refuse(peer, *syndrome);
        return ERDMA_STEP_DONE;
    }
    erdma_cursor_buffer(&src, &old, sizeof(old), 0);
    erdma_cursor_spans(&dst, qp, qp->req.local, 1, ERDMA_RIGHT_LOCAL_WRITE,
                       false, true, 0);
    erdma_copy(&dst, &src, sizeof(old));
    *syndrome = erdma_access_send(dst.fault);
    return ERDMA_STEP_DONE;
}

static ErdmaStep local_step(ErdmaQp *qp, ErdmaBudget *b, uint8_t *syndrome)
{
    ErdmaQp *peer = qp->peer;
    ErdmaStep step;

    if (!peer || (erdma_fault_at(peer->core, ERDMA_POINT_NETWORK) &&
                  erdma_fault_cuts(peer))) {
        return ERDMA_STEP_HOLD;
    }
    switch (qp->req.opcode) {
    case ERDMA_OP_READ:
    case ERDMA_OP_READ_INV:
        step = local_pull(qp, peer, b, syndrome);
        break;
    case ERDMA_OP_ATOMIC_CAS:
    case ERDMA_OP_ATOMIC_FAA:
        step = local_atomic(qp, peer, syndrome);
        break;
    default:
        step = local_push(qp, peer, b, syndrome);
        break;
    }
    if (step == ERDMA_STEP_DONE && !*syndrome) {
        peer->rx_pkts++;
        erdma_req_account(peer->core, qp->req.opcode, qp->req.length, false);
    }
    return step;
}

/* ---- the transport ---- */

/*
 * The other end is not stopped: its host learns from TCP. Work it still has is
 * held and times out unless that happens first (12.7).
 */
static void local_disconnect(ErdmaQp *qp)
{
    ErdmaQp *peer = qp->peer;

    if (peer) {
        peer->peer = NULL;
        qp->peer = NULL;
    }
}

static bool local_work(ErdmaQp *qp, ErdmaBudget *b)
{
    (void)qp;
    (void)b;
    return false;
}

/* A peer that waits for receives goes on at once: we are its network */
static void local_recv_posted(ErdmaQp *qp)
{
    ErdmaQp *peer = qp->peer;

    if (peer && erdma_timer_armed(&peer->hold)) {
        erdma_qp_unhold(peer);
        erdma_qp_work_now(peer);
    }
}

const ErdmaTransport erdma_transport_local = {
    .disconnect = local_disconnect,
    .step = local_step,
    .work = local_work,
    .recv_posted = local_recv_posted,
    .copies = true,
};
