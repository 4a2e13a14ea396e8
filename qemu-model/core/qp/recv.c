/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The receiving side of a request, whatever transport brought it. */
#include "core_int.h"

/* The oldest receive; false: it is none */
static bool recv_read(ErdmaQp *peer, struct erdma_rqe *rqe)
{
    if (!erdma_queue_read(peer->core, &peer->rq, peer->rq_ci, 1, rqe)) {
        erdma_guest_error(peer->core, "QP %u: receive at %u cannot be read, "
                          "expected it in memory", peer->qpn, peer->rq_ci);
        return false;
    }
    if (le16toh(rqe->qe_idx) != (uint16_t)(peer->rq_ci + 1) ||
        le32toh(rqe->qpn) != peer->qpn) {
        erdma_guest_error(peer->core, "QP %u: receive at %u: index %u, QPN %u, "
                          "expected %u, %u", peer->qpn, peer->rq_ci,
                          le16toh(rqe->qe_idx), le32toh(rqe->qpn),
                          (uint16_t)(peer->rq_ci + 1), peer->qpn);
        return false;
    }
    return true;
}

bool erdma_recv_take(ErdmaQp *peer, ErdmaRecv *recv, uint8_t *syndrome)
{
    struct erdma_rqe rqe;

    *syndrome = 0;
    if (peer->rq_ci == peer->rq_pi) {
        return false;
    }
    if (erdma_fault_at(peer->core, ERDMA_POINT_RQ) &&
        peer->core->hooks->rq_stalled(peer)) {
        return false;
    }
    if (!recv_read(peer, &rqe)) {
        *syndrome = ERDMA_WC_RQE_FORMAT;
        return false;
    }
    recv->span.va = le64toh(rqe.addr);
    recv->span.len = le32toh(rqe.length);
    recv->span.key = le32toh(rqe.stag);
    recv->taken = true;
    return true;
}

void erdma_recv_error(ErdmaQp *peer, uint8_t syndrome)
{
    ErdmaWc wc = {
        .opcode = ERDMA_OP_RECV,
        .syndrome = syndrome,
    };

    erdma_guest_error(peer->core, "QP %u: receive %u failed: %s", peer->qpn,
                      peer->rq_ci, erdma_name_syndrome(syndrome));
    peer->rx_err_drops++;
    erdma_qp_post_recv_wc(peer, &wc);
    erdma_qp_fatal(peer, ERDMA_AE_RQ_ERR);
}

void erdma_recv_refuse(ErdmaQp *peer, uint8_t syndrome)
{
    erdma_guest_error(peer->core, "QP %u: refused remote access: %s",
                      peer->qpn, erdma_name_syndrome(syndrome));
    peer->rx_err_drops++;
    erdma_qp_fatal(peer, ERDMA_AE_ACCESS_ERR);
}

static uint8_t recv_opcode(uint8_t opcode)
{
    switch (opcode) {
    case ERDMA_OP_SEND_IMM:
        return ERDMA_OP_RECV_SEND_IMM;
    case ERDMA_OP_SEND_INV:
        return ERDMA_OP_RECV_INV;
    case ERDMA_OP_WRITE_IMM:
        return ERDMA_OP_RECV_WRITE_IMM;
    default:
        return ERDMA_OP_RECV;
    }
}

bool erdma_recv_complete(ErdmaQp *peer, const ErdmaReq *req)
{
    ErdmaWc wc = {
        .opcode = recv_opcode(req->opcode),
        .solicited = req->se,
        .size = req->length,
        .imm = req->opcode == ERDMA_OP_SEND ? 0 : req->imm,
    };

    if (req->opcode == ERDMA_OP_SEND_INV &&
        !erdma_mr_invalidate(peer, req->imm)) {
        erdma_recv_error(peer, ERDMA_WC_RECV_STAG);
        return false;
    }
    erdma_qp_post_recv_wc(peer, &wc);
    return true;
}

bool erdma_op_pulls(uint8_t opcode)
{
    switch (opcode) {
    case ERDMA_OP_READ:
    case ERDMA_OP_READ_INV:
    case ERDMA_OP_ATOMIC_CAS:
    case ERDMA_OP_ATOMIC_FAA:
        return true;
    default:
        return false;
    }
}

bool erdma_op_writes(uint8_t opcode)
{
    return opcode == ERDMA_OP_WRITE || opcode == ERDMA_OP_WRITE_IMM;
}

uint8_t erdma_recv_target(ErdmaQp *peer, const ErdmaReq *req,
                          const ErdmaRecv *recv, ErdmaSpan *span)
{
    ErdmaReach reach;
    ErdmaAccess a;

    if (erdma_op_writes(req->opcode)) {
        *span = req->remote;
        a = erdma_mr_check(peer, span, ERDMA_RIGHT_REMOTE_WRITE, true, &reach);
        if (a) {
            erdma_recv_refuse(peer, erdma_access_recv(a));
        }
        return erdma_access_recv(a);
    }
    *span = recv->span;
    if (span->len < req->length) {
        erdma_recv_error(peer, ERDMA_WC_RECV_BOUNDS);
        return ERDMA_WC_GENERAL_ERR;
    }
    span->len = req->length;
    a = erdma_mr_check(peer, span, ERDMA_RIGHT_LOCAL_WRITE, false, &reach);
    if (a) {
        erdma_recv_error(peer, erdma_access_recv(a));
        return ERDMA_WC_GENERAL_ERR;
    }
    return 0;
}

void erdma_recv_cursor(ErdmaCursor *cur, const ErdmaQp *peer,
                       const ErdmaReq *req, const ErdmaSpan *span,
                       uint64_t done)
{
    erdma_cursor_spans(cur, peer, span, 1, ERDMA_RIGHT_LOCAL_WRITE |
                       ERDMA_RIGHT_REMOTE_WRITE, erdma_op_writes(req->opcode),
                       true, done);
}

uint8_t erdma_recv_fault(ErdmaQp *peer, const ErdmaReq *req, ErdmaAccess dst)
{
    if (erdma_op_writes(req->opcode)) {
        erdma_recv_refuse(peer, erdma_access_recv(dst));
        return erdma_access_recv(dst);
    }
    erdma_recv_error(peer, erdma_access_recv(dst));
    return ERDMA_WC_GENERAL_ERR;
}

ErdmaStep erdma_recv_begin(ErdmaQp *peer, const ErdmaReq *req, ErdmaRecv *recv,
                           uint8_t *syndrome)
{
    ErdmaSpan span;
    uint8_t bad;

    /* A refused WRITE_IMM does not wait for a receive first */
    if (req->opcode == ERDMA_OP_WRITE_IMM && req->length) {
        *syndrome = erdma_recv_target(peer, req, recv, &span);
        if (*syndrome) {
            return ERDMA_STEP_DONE;
        }
    }
    if (req->opcode == ERDMA_OP_WRITE || recv->taken ||
        erdma_recv_take(peer, recv, &bad)) {
        return ERDMA_STEP_DONE;
    }
    if (!bad) {
        return ERDMA_STEP_HOLD;
    }
    erdma_recv_error(peer, bad);
    *syndrome = ERDMA_WC_GENERAL_ERR;
    return ERDMA_STEP_DONE;
}

/*
 * One atomic operation of the host. KVM guests use such operations too, and so
 * do TCG guests, unless they can have only one processor: QEMU translates
 * locked instructions to plain loads and stores then, and what is added here
 * between these two is lost.
 */
static uint64_t recv_atomic_op(uint64_t *target, const ErdmaReq *req)
{
    if (req->opcode == ERDMA_OP_ATOMIC_CAS) {
        uint64_t old = req->compare;

        __atomic_compare_exchange_n(target, &old, req->swap_add, false,
                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        return old;
    }
    return __atomic_fetch_add(target, req->swap_add, __ATOMIC_SEQ_CST);
}

ErdmaAccess erdma_recv_atomic(ErdmaQp *peer, const ErdmaReq *req,
                              uint64_t *old)
{
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
        *old = recv_atomic_op(target, req);
    }
    erdma_cursor_unmap(&cur);
    return cur.fault;
}
