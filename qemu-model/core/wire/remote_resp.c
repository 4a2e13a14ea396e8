/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Responder of a connection to another process: checks what comes, and executes
 * requests in order, one at a time. What comes while the first cannot go on
 * waits (remote_backlog.c); the peer keeps to the window, so that is bounded.
 */
#include "wire_int.h"

void erdma_responder_stop(ErdmaRemote *r)
{
    if (r->rx_state != ERDMA_RX_STOPPED) {
        erdma_exec_state(r, ERDMA_RX_STOPPED);
    }
    erdma_backlog_drop(r);
}

/* ---- checks ---- */

static bool responder_opcode_valid(uint8_t opcode)
{
    switch (opcode) {
    case ERDMA_OP_WRITE:
    case ERDMA_OP_WRITE_IMM:
    case ERDMA_OP_SEND:
    case ERDMA_OP_SEND_IMM:
    case ERDMA_OP_SEND_INV:
    case ERDMA_OP_READ:
    case ERDMA_OP_READ_INV:
    case ERDMA_OP_ATOMIC_CAS:
    case ERDMA_OP_ATOMIC_FAA:
        return true;
    default:
        return false;
    }
}

static const char *responder_check_length(ErdmaWire *w, const WireRequest *req,
                                          const WirePayload *p)
{
    unsigned long long length = le64toh(req->length);
    bool read = req->opcode == ERDMA_OP_READ ||
                req->opcode == ERDMA_OP_READ_INV;

    if (length > ERDMA_LIMIT_MESSAGE) {
        return erdma_wire_wrong(w, "REQUEST: length is %llu, expected at most "
                                "%llu", length, ERDMA_LIMIT_MESSAGE);
    }
    if (p->bytes > length ||
        (p->kind == WIRE_BYTES && p->size > WIRE_SMALL)) {
        return erdma_wire_wrong(w, "REQUEST: payload has %llu bytes, expected "
                                "at most %llu, and %u as bytes",
                                (unsigned long long)p->bytes, length,
                                WIRE_SMALL);
    }
    if (!erdma_op_pulls(req->opcode)) {
        return NULL;
    }
    if (p->kind != WIRE_NONE) {
        return erdma_wire_wrong(w, "REQUEST: opcode %u has payload of kind %u,"
                                " expected none", req->opcode, p->kind);
    }
    if (!read && length != sizeof(uint64_t)) {
        return erdma_wire_wrong(w, "REQUEST: length of an atomic is %llu, "
                                "expected %zu", length, sizeof(uint64_t));
    }
    return NULL;
}

static const char *responder_check(ErdmaWire *w, const WireRequest *req,
                                   const WirePayload *p)
{
    if (!responder_opcode_valid(req->opcode)) {
        return erdma_wire_wrong(w, "REQUEST: opcode is %u, expected a SEND, "
                                "WRITE, READ or atomic", req->opcode);
    }
    if (req->zero || req->flags & ~(WIRE_SOLICITED | WIRE_ACK_REQUESTED)) {
        return erdma_wire_wrong(w, "REQUEST: flags are 0x%x and 0x%x, expected "
                                "no other than 0x%x and 0", req->flags,
                                le16toh(req->zero),
                                WIRE_SOLICITED | WIRE_ACK_REQUESTED);
    }
    return responder_check_length(w, req, p);
}

/* Is @req the next one, and within the window? */
static const char *responder_check_seq(const ErdmaRemote *r,
                                       const WireRequest *req)
{
    uint32_t seq = le32toh(req->seq);

    if (seq != r->rx_next) {
        return erdma_wire_wrong(r->wire, "REQUEST: seq is %u, expected %u",
                                seq, r->rx_next);
    }
    if (r->rx_next - r->rx_acked >= WIRE_WINDOW) {
        return erdma_wire_wrong(r->wire, "REQUEST: seq is %u, expected less "
                                "than %u before an ACK", seq,
                                r->rx_acked + WIRE_WINDOW);
    }
    return NULL;
}

/* ---- messages ---- */

static const char *responder_defer(ErdmaRemote *r, const WireMsg *m)
{
    uint32_t used = erdma_backlog_used(r);

    if (used + m->len > WIRE_WINDOW_BYTES) {
        return erdma_wire_wrong(r->wire, "REQUEST: message has %u bytes, "
                                "expected %u at most in a window of %u",
                                m->len, WIRE_WINDOW_BYTES - used,
                                WIRE_WINDOW_BYTES);
    }
    if (!erdma_backlog_add(r, m)) {
        erdma_peer_info(r->qp->core, "QP %u: connection given up: requests of "
                        "QPs that post no receive take %u bytes, expected at "
                        "most %u", r->qp->qpn, r->wire->backlog_bytes,
                        ERDMA_LIMIT_BACKLOG);
        erdma_remote_lose(r);
    }
    return NULL;
}

/* What a message led to is done; ACKs follow at the end of the input */
static const char *responder_finish(ErdmaRemote *r)
{
    if (erdma_remote_connected(r)) {
        erdma_wire_todo(r);
    }
    return NULL;
}

const char *erdma_responder_on_request(ErdmaRemote *r, const WireMsg *m,
                                       ErdmaBudget *b)
{
    WireRequest req;
    WirePayload p;
    const char *wrong = erdma_payload_parse(r->wire, m, &p);

    memcpy(&req, m->data, sizeof(req));
    if (!wrong) {
        wrong = responder_check(r->wire, &req, &p);
    }
    if (!wrong) {
        wrong = responder_check_seq(r, &req);
    }
    if (wrong) {
        return wrong;
    }
    r->rx_next++;
    if (req.flags & WIRE_ACK_REQUESTED) {
        r->rx_ack_requested = r->rx_next;
    }
    if (r->rx_state == ERDMA_RX_STOPPED) {
        return NULL;
    }
    if (r->rx_state == ERDMA_RX_PENDING || erdma_backlog_used(r)) {
        return responder_defer(r, m);
    }
    if (erdma_exec_begin(r, m, &p, b) == ERDMA_STEP_HOLD) {
        return responder_defer(r, m);
    }
    return responder_finish(r);
}

/* A request is PENDING, and it @pulls or not */
static bool responder_pending(const ErdmaRemote *r, bool pulls, __le32 seq)
{
    return r->rx_state == ERDMA_RX_PENDING &&
           erdma_op_pulls(r->in.opcode) == pulls &&
           le32toh(seq) == r->rx_done;
}

const char *erdma_responder_on_data(ErdmaRemote *r, const WireValue *v,
                                    const WireMsg *m, ErdmaBudget *b)
{
    WirePayload p;
    const char *wrong = erdma_payload_parse(r->wire, m, &p);

    if (wrong || r->rx_state == ERDMA_RX_STOPPED) {
        return wrong;
    }
    if (!responder_pending(r, false, v->seq) ||
        le64toh(v->value) != r->in_done || !p.bytes ||
        !erdma_credit_take(&r->push_credit, p.bytes)) {
        return erdma_wire_wrong(r->wire, "PUSH_DATA: %llu bytes at %llu of "
                                "request %u, expected granted data at %llu of "
                                "request %u", (unsigned long long)p.bytes,
                                (unsigned long long)le64toh(v->value),
                                le32toh(v->seq),
                                (unsigned long long)r->in_done, r->rx_done);
    }
    if (erdma_remote_connected(r)) {    /* not lost while it granted more */
        erdma_exec_more(r, &p, b);
    }
    return responder_finish(r);
}

const char *erdma_responder_on_credit(ErdmaRemote *r, const WireValue *v,
                                      ErdmaBudget *b)
{
    uint64_t limit = le64toh(v->value);
    uint64_t least = (r->read_limit > r->in_done ? r->read_limit :
                                                   r->in_done) + 1;

    if (r->rx_state == ERDMA_RX_STOPPED) {
        return NULL;
    }
    if (!responder_pending(r, true, v->seq) || limit < least ||
        limit > r->in.length) {
        return erdma_wire_wrong(r->wire, "READ_CREDIT: end is %llu of request "
                                "%u, expected %llu..%llu of a READ, request %u",
                                (unsigned long long)limit, le32toh(v->seq),
                                (unsigned long long)least,
                                (unsigned long long)r->in.length, r->rx_done);
    }
    r->read_limit = limit;
    if (erdma_exec_more(r, NULL, b) == ERDMA_STEP_MORE &&
        erdma_remote_connected(r) && r->in_done < limit) {
        erdma_qp_schedule(r->qp);
    }
    return responder_finish(r);
}

/* ---- turns ---- */

/* A READ that has credit: it goes on without a message */
static bool responder_can_go_on(const ErdmaRemote *r)
{
    return r->rx_state == ERDMA_RX_PENDING &&
           erdma_op_pulls(r->in.opcode) && r->in_done < r->read_limit;
}

bool erdma_responder_run(ErdmaRemote *r, ErdmaBudget *b)
{
    WireMsg m;

    if (erdma_remote_connected(r) && responder_can_go_on(r)) {
        erdma_exec_more(r, NULL, b);
    }
    while (erdma_remote_connected(r) && r->rx_state == ERDMA_RX_IDLE &&
           erdma_backlog_begin(r, &m)) {
        WirePayload p;
        ErdmaStep step;

        erdma_payload_parse(r->wire, &m, &p);
        if (!b->steps || !b->bytes || (b->whole && p.cost > b->bytes)) {
            erdma_backlog_end(r, &m, false);
            return true;
        }
        b->steps--;
        step = erdma_exec_begin(r, &m, &p, b);
        erdma_backlog_end(r, &m, step != ERDMA_STEP_HOLD);
        if (step == ERDMA_STEP_HOLD) {
            return false;
        }
    }
    return erdma_remote_connected(r) && responder_can_go_on(r);
}
