/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Responder: execution of the request at rx_done.
 *
 * What is executed may stop the QP. The connection is CLOSING then until the
 * request is answered, and the end of this file's work sends the CLOSE.
 */
#include <assert.h>

#include "wire_int.h"

/* ---- states ---- */

#define EXEC_BIT(state)     (1u << ERDMA_RX_##state)

/* Legal successors of each state */
static const uint8_t rexec_next[ERDMA_RX_STATES] = {
    [ERDMA_RX_IDLE] = EXEC_BIT(EXECUTING) | EXEC_BIT(STOPPED),
    [ERDMA_RX_EXECUTING] = EXEC_BIT(IDLE) | EXEC_BIT(PENDING) |
                           EXEC_BIT(STOPPED),
    [ERDMA_RX_PENDING] = EXEC_BIT(EXECUTING) | EXEC_BIT(STOPPED),
};

void erdma_exec_state(ErdmaRemote *r, ErdmaRxState next)
{
    assert(rexec_next[r->rx_state] & 1u << next);
    r->rx_state = next;
}

/* ---- SEND and WRITE ---- */

/*
 * Payload goes where it belongs; syndrome. If the peer's QP is gone so is the
 * connection, with syndrome 0.
 */
static uint8_t rexec_place(ErdmaRemote *r, const WirePayload *p)
{
    ErdmaQp *qp = r->qp;
    ErdmaCursor dst;
    ErdmaSpan span;
    uint8_t syndrome = erdma_recv_target(qp, &r->in, &r->in_recv, &span);

    if (syndrome) {
        return syndrome;
    }
    erdma_recv_cursor(&dst, qp, &r->in, &span, r->in_done);
    switch (erdma_payload_place(r, &dst, p)) {
    case ERDMA_PLACED_FAULT:
        return dst.fault ? erdma_recv_fault(qp, &r->in, dst.fault) :
                           ERDMA_WC_SEND_BOUNDS;
    case ERDMA_PLACED_REVOKED:
        erdma_peer_info(qp->core, "QP %u: peer revoked the memory region of "
                        "its request", qp->qpn);
        return ERDMA_WC_SEND_STAG;      /* the requester's own key */
    case ERDMA_PLACED_DEAD:
        erdma_remote_lose(r);
        return 0;
    default:
        r->in_done += p->bytes;
        return 0;
    }
}

/* @first: the request is being begun */
static ErdmaStep rexec_push(ErdmaRemote *r, const WirePayload *p, bool first,
                            ErdmaBudget *b, uint8_t *syndrome)
{
    ErdmaStep step = erdma_recv_begin(r->qp, &r->in, &r->in_recv, syndrome);

    if (step != ERDMA_STEP_DONE || *syndrome) {
        return step;
    }
    if (r->in.length) {
        *syndrome = rexec_place(r, p);
        erdma_budget_take(b, p->cost);
        if (*syndrome) {
            return ERDMA_STEP_DONE;
        }
        if (!erdma_remote_connected(r)) {
            return ERDMA_STEP_MORE;     /* it never ends */
        }
    }
    if (r->in_done < r->in.length) {
        if (first) {
            erdma_credit_begin(&r->push_credit, r->rx_done, r->in_done,
                               r->in.length);
        }
        return ERDMA_STEP_MORE;
    }
    if (r->in_recv.taken && !erdma_recv_complete(r->qp, &r->in)) {
        *syndrome = ERDMA_WC_GENERAL_ERR;
    }
    return ERDMA_STEP_DONE;
}

/*
 * A fault lets what came in one message arrive a second time. If that cannot be
 * finished at once, once was enough.
 */
static void rexec_push_again(ErdmaRemote *r, const WirePayload *p,
                             ErdmaBudget *b)
{
    uint8_t syndrome = 0;

    if (p->bytes != r->in.length || !erdma_fault_again(r->qp)) {
        return;
    }
    r->in_done = 0;
    r->in_recv.taken = false;
    rexec_push(r, p, true, b, &syndrome);
}

/* ---- READ and atomics ---- */

/* Data of a READ: at once what can be named or is small, then as granted */
static bool rexec_send_data(ErdmaRemote *r, uint64_t left, uint32_t copy,
                            ErdmaBudget *b, ErdmaAccess *a)
{
    ErdmaQp *qp = r->qp;
    ErdmaCursor src;
    WirePayload p;

    erdma_cursor_spans(&src, qp, &r->in.remote, 1, ERDMA_RIGHT_REMOTE_READ,
                       true, false, r->in_done);
    erdma_payload_build(qp->core, &src, left, copy,
                        qp->core->fabric->scratch + sizeof(WireValue), &p);
    *a = src.fault;
    if (*a) {
        return false;
    }
    erdma_ack_implied(r);
    if (!erdma_payload_send(r, WIRE_READ_DATA, r->rx_done, r->in_done, &p)) {
        return false;
    }
    r->in_done += p.bytes;
    erdma_budget_take(b, p.bytes);
    return true;
}

/* @first: the request is being begun */
static ErdmaStep rexec_read(ErdmaRemote *r, bool first, ErdmaBudget *b,
                            uint8_t *syndrome)
{
    ErdmaReach reach;
    ErdmaAccess a = r->in.length ?
        erdma_mr_check(r->qp, &r->in.remote, ERDMA_RIGHT_REMOTE_READ, true,
                       &reach) : ERDMA_ACCESS_OK;
    bool sent = true;

    if (!a && first) {
        sent = rexec_send_data(r, r->in.length, 0, b, &a);
    }
    while (!a && sent && r->in_done < r->read_limit && b->bytes) {
        sent = rexec_send_data(r, r->read_limit - r->in_done, WIRE_CHUNK_BYTES,
                               b, &a);
    }
    if (a) {
        *syndrome = erdma_access_recv(a);
        erdma_recv_refuse(r->qp, *syndrome);
        return ERDMA_STEP_DONE;
    }
    return sent && r->in_done == r->in.length ? ERDMA_STEP_DONE :
                                                ERDMA_STEP_MORE;
}

static ErdmaStep rexec_atomic(ErdmaRemote *r, uint8_t *syndrome)
{
    uint64_t old = 0;
    ErdmaAccess a = erdma_recv_atomic(r->qp, &r->in, &old);
    WireValue v = {
        .h = WIRE_HDR(WIRE_ATOMIC, sizeof(v), r->peer_id, r->peer_gen),
        .seq = htole32(r->rx_done), .value = htole64(old),
    };

    if (a) {
        *syndrome = erdma_access_recv(a);
        erdma_recv_refuse(r->qp, *syndrome);
    } else {
        erdma_wire_send(r->wire, &v, sizeof(v));
    }
    return ERDMA_STEP_DONE;
}

/* ---- one request ---- */

/* Out of EXECUTING, unless the connection was lost meanwhile */
static void rexec_leave(ErdmaRemote *r, ErdmaStep step)
{
    if (r->rx_state == ERDMA_RX_EXECUTING) {
        erdma_exec_state(r, step == ERDMA_STEP_MORE ? ERDMA_RX_PENDING :
                                                      ERDMA_RX_IDLE);
    }
}

/* The request has ended: ACK or NAK */
static void rexec_end(ErdmaRemote *r, uint8_t syndrome)
{
    erdma_credit_end(&r->push_credit);
    if (syndrome) {
        erdma_ack_nak(r, syndrome);
        erdma_responder_stop(r);
    } else {
        erdma_ack_request_done(r);
        if (r->qp) {
            r->qp->rx_pkts++;
            erdma_req_account(r->qp->core, r->in.opcode, r->in.length, false);
        }
    }
}

static ErdmaStep rexec_step(ErdmaRemote *r, const WirePayload *p, bool first,
                            ErdmaBudget *b)
{
    uint8_t syndrome = 0;
    ErdmaStep step;

    erdma_exec_state(r, ERDMA_RX_EXECUTING);
    switch (r->in.opcode) {
    case ERDMA_OP_READ:
    case ERDMA_OP_READ_INV:
        step = rexec_read(r, first, b, &syndrome);
        break;
    case ERDMA_OP_ATOMIC_CAS:
    case ERDMA_OP_ATOMIC_FAA:
        step = rexec_atomic(r, &syndrome);
        break;
    default:
        step = rexec_push(r, p, first, b, &syndrome);
        if (first && step == ERDMA_STEP_DONE && !syndrome && r->qp &&
            erdma_fault_at(r->qp->core, ERDMA_POINT_TWICE)) {
            rexec_push_again(r, p, b);
        }
        break;
    }
    rexec_leave(r, step);
    if (step == ERDMA_STEP_DONE) {
        rexec_end(r, syndrome);
    }
    if (r->state == ERDMA_REMOTE_CLOSING) {
        erdma_remote_close(r);
    }
    return step;
}

static void rexec_load(ErdmaRemote *r, const WireMsg *m)
{
    ErdmaReq *in = &r->in;
    WireRequest req;

    memcpy(&req, m->data, sizeof(req));
    in->opcode = req.opcode;
    in->se = req.flags & WIRE_SOLICITED;
    in->imm = le32toh(req.imm);
    in->length = le64toh(req.length);
    in->remote.va = le64toh(req.rva);
    in->remote.len = in->length;
    in->remote.key = le32toh(req.rkey);
    in->swap_add = le64toh(req.swap_add);
    in->compare = le64toh(req.compare);
    r->in_done = 0;
    r->in_recv.taken = false;
    r->read_limit = 0;
}

ErdmaStep erdma_exec_begin(ErdmaRemote *r, const WireMsg *m,
                           const WirePayload *p, ErdmaBudget *b)
{
    if (erdma_fault_at(r->qp->core, ERDMA_POINT_NETWORK) &&
        erdma_fault_cuts(r->qp)) {
        return ERDMA_STEP_HOLD;
    }
    rexec_load(r, m);
    return rexec_step(r, p, true, b);
}

ErdmaStep erdma_exec_more(ErdmaRemote *r, const WirePayload *p,
                          ErdmaBudget *b)
{
    return rexec_step(r, p, false, b);
}
