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
static bool move(ErdmaQp *qp, ErdmaBudget *b, ErdmaCursor *dst,
                 ErdmaCursor *src)
{
    uint64_t left = qp->req.length - qp->done;
    uint64_t n = left < b->bytes ? left : b->bytes;
    uint64_t done = erdma_copy(dst, src, n);

    qp->done += done;
    b->bytes -= done;
    return done == left;
}

/* Where the bytes of a SEND or WRITE go; syndrome of the requester */
static uint8_t push_target(ErdmaQp *qp, ErdmaQp *peer, ErdmaSpan *span)
{
    ErdmaReach reach;
    ErdmaAccess a;

    if (qp->req.opcode == ERDMA_OP_WRITE ||
        qp->req.opcode == ERDMA_OP_WRITE_IMM) {
        *span = qp->req.remote;
        a = erdma_mr_check(peer, span, ERDMA_RIGHT_REMOTE_WRITE, true, &reach);
        if (a) {
            erdma_resp_refuse(peer, erdma_access_recv(a));
        }
        return erdma_access_recv(a);
    }
    *span = qp->recv.span;
    if (span->len < qp->req.length) {
        erdma_resp_recv_error(peer, ERDMA_WC_RECV_BOUNDS);
        return ERDMA_WC_GENERAL_ERR;
    }
    span->len = qp->req.length;
    a = erdma_mr_check(peer, span, ERDMA_RIGHT_LOCAL_WRITE, false, &reach);
    if (a) {
        erdma_resp_recv_error(peer, erdma_access_recv(a));
        return ERDMA_WC_GENERAL_ERR;
    }
    return 0;
}

/* A cursor met memory that is not there; syndrome of the requester */
static uint8_t push_fault(ErdmaQp *qp, ErdmaQp *peer, ErdmaAccess src,
                          ErdmaAccess dst)
{
    if (src) {
        return erdma_access_send(src);
    }
    if (qp->req.opcode == ERDMA_OP_WRITE ||
        qp->req.opcode == ERDMA_OP_WRITE_IMM) {
        erdma_resp_refuse(peer, erdma_access_recv(dst));
        return erdma_access_recv(dst);
    }
    erdma_resp_recv_error(peer, erdma_access_recv(dst));
    return ERDMA_WC_GENERAL_ERR;
}

static ErdmaStep push_data(ErdmaQp *qp, ErdmaQp *peer, ErdmaBudget *b,
                           uint8_t *syndrome)
{
    const ErdmaReq *req = &qp->req;
    ErdmaCursor src, dst;
    ErdmaSpan span;

    *syndrome = push_target(qp, peer, &span);
    if (*syndrome) {
        return ERDMA_STEP_DONE;
    }
    erdma_cursor_spans(&dst, peer, &span, 1, ERDMA_RIGHT_LOCAL_WRITE |
                       ERDMA_RIGHT_REMOTE_WRITE,
                       req->opcode == ERDMA_OP_WRITE ||
                       req->opcode == ERDMA_OP_WRITE_IMM, true, qp->done);
    if (req->is_inline) {
        erdma_cursor_buffer(&src, req->data, req->length, qp->done);
    } else {
        erdma_cursor_spans(&src, qp, req->local, req->nlocal,
                           ERDMA_RIGHT_LOCAL_READ, false, false, qp->done);
    }
    if (move(qp, b, &dst, &src)) {
        return ERDMA_STEP_DONE;
    }
    if (!src.fault && !dst.fault) {
        return ERDMA_STEP_MORE;
    }
    *syndrome = push_fault(qp, peer, src.fault, dst.fault);
    return ERDMA_STEP_DONE;
}

/* SEND and WRITE, all kinds */
static ErdmaStep push(ErdmaQp *qp, ErdmaQp *peer, ErdmaBudget *b,
                      uint8_t *syndrome)
{
    bool takes_receive = qp->req.opcode != ERDMA_OP_WRITE;
    ErdmaSpan span;

    /* A refused WRITE_IMM does not wait for a receive first */
    if (qp->req.opcode == ERDMA_OP_WRITE_IMM && qp->req.length) {
        *syndrome = push_target(qp, peer, &span);
        if (*syndrome) {
            return ERDMA_STEP_DONE;
        }
    }
    if (takes_receive && !qp->recv.taken) {
        uint8_t bad;

        if (!erdma_resp_take(peer, &qp->recv, &bad)) {
            if (!bad) {
                return ERDMA_STEP_HOLD;
            }
            erdma_resp_recv_error(peer, bad);
            *syndrome = ERDMA_WC_GENERAL_ERR;
            return ERDMA_STEP_DONE;
        }
    }
    if (qp->req.length) {
        ErdmaStep step = push_data(qp, peer, b, syndrome);

        if (step != ERDMA_STEP_DONE || *syndrome) {
            return step;
        }
    }
    if (takes_receive && !erdma_resp_complete(peer, &qp->req)) {
        *syndrome = ERDMA_WC_GENERAL_ERR;
    }
    return ERDMA_STEP_DONE;
}

/* READ: data comes from the peer, its queues are not involved */
static ErdmaStep pull(ErdmaQp *qp, ErdmaQp *peer, ErdmaBudget *b,
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
        if (move(qp, b, &dst, &src)) {
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
    erdma_resp_refuse(peer, *syndrome);
    return ERDMA_STEP_DONE;
}

static uint64_t atomic_op(uint64_t *target, const ErdmaReq *req)
{
    if (req->opcode == ERDMA_OP_ATOMIC_CAS) {
        uint64_t old = req->compare;

        __atomic_compare_exchange_n(target, &old, req->swap_add, false,
                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        return old;
    }
    return __atomic_fetch_add(target, req->swap_add, __ATOMIC_SEQ_CST);
}

/* Read, change and write the peer's 8 bytes with one host instruction */
static ErdmaAccess atomic_target(ErdmaQp *qp, ErdmaQp *peer, uint64_t *old)
{
    const ErdmaReq *req = &qp->req;
    ErdmaCursor cur;
    ErdmaReach reach;
    ErdmaAccess a;
    uint64_t *target;

    a = erdma_mr_check(peer, &req->remote, ERDMA_RIGHT_REMOTE_ATOMIC, true,
                       &reach);
    if (a) {
        return a;
    }
    if (req->remote.va % sizeof(*target)) {
        return ERDMA_ACCESS_BOUNDS;
    }
    erdma_cursor_spans(&cur, peer, &req->remote, 1, ERDMA_RIGHT_REMOTE_ATOMIC,
                       true, true, 0);
    target = erdma_cursor_map(&cur, sizeof(*target));
    if (target && (uintptr_t)target % sizeof(*target)) {
        cur.fault = ERDMA_ACCESS_BOUNDS;
    } else if (target) {
        *old = atomic_op(target, req);
    }
    erdma_cursor_unmap(&cur);
    return cur.fault;
}

static ErdmaStep atomic(ErdmaQp *qp, ErdmaQp *peer, uint8_t *syndrome)
{
    ErdmaCursor src, dst;
    uint64_t old = 0;
    ErdmaAccess a = atomic_target(qp, peer, &old);

    if (a) {
        *syndrome = erdma_access_recv(a);
        erdma_resp_refuse(peer, *syndrome);
        return ERDMA_STEP_DONE;
    }
    erdma_cursor_buffer(&src, &old, sizeof(old), 0);
    erdma_cursor_spans(&dst, qp, qp->req.local, 1, ERDMA_RIGHT_LOCAL_WRITE,
                       false, true, 0);
    erdma_copy(&dst, &src, sizeof(old));
    *syndrome = erdma_access_send(dst.fault);
    return ERDMA_STEP_DONE;
}

ErdmaStep erdma_local_step(ErdmaQp *qp, ErdmaBudget *b, uint8_t *syndrome)
{
    ErdmaQp *peer = qp->peer;
    ErdmaStep step;

    if (!peer) {
        return ERDMA_STEP_HOLD;
    }
    switch (qp->req.opcode) {
    case ERDMA_OP_READ:
    case ERDMA_OP_READ_INV:
        step = pull(qp, peer, b, syndrome);
        break;
    case ERDMA_OP_ATOMIC_CAS:
    case ERDMA_OP_ATOMIC_FAA:
        step = atomic(qp, peer, syndrome);
        break;
    default:
        step = push(qp, peer, b, syndrome);
        break;
    }
    if (step == ERDMA_STEP_DONE && !*syndrome) {
        peer->rx_pkts++;
        erdma_req_account(peer->core, &qp->req, false);
    }
    return step;
}
