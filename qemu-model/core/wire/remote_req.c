/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requester of a connection to another process: sends requests within the
 * peer's window, completes them as the responder answers.
 *
 * The responder answers in order, and every message of it says that all
 * requests before the one it names are done. So it is about the oldest.
 */
#include "wire_int.h"

/* Requests of a QP that are coalesced: then the peer gets to work */
#define REQUESTER_COALESCED_MAX     32u

/* ---- sending ---- */

/* Payload that goes with the request; syndrome */
static uint8_t requester_payload(ErdmaQp *qp, uint8_t *out, WirePayload *p)
{
    const ErdmaReq *req = &qp->req;
    ErdmaCursor src;

    *p = (WirePayload) { .kind = WIRE_NONE };
    if (!req->length || erdma_op_pulls(req->opcode)) {
        return 0;
    }
    if (req->is_inline) {
        erdma_cursor_buffer(&src, req->data, req->length, 0);
    } else {
        erdma_cursor_spans(&src, qp, req->local, req->nlocal,
                           ERDMA_RIGHT_LOCAL_READ, false, false, 0);
    }
    erdma_payload_build(qp->core, &src, req->length, 0, out, p);
    return erdma_access_send(src.fault);
}

/*
 * Is an ACK needed before others would bring it along? By the guest, or by the
 * requests behind this one, which are coalesced or find the window full.
 */
static bool requester_needs_ack(const ErdmaRemote *r, uint32_t size)
{
    return r->qp->req.ce || !r->qp->inflight ||
           !((r->tx_seq + 1) % REQUESTER_COALESCED_MAX) ||
           r->tx_bytes + size > r->wire->window_bytes / 2;
}

/* The message of the active request at @out, payload @p behind it; its size */
static uint32_t requester_build(ErdmaRemote *r, uint8_t *out,
                                const WirePayload *p)
{
    const ErdmaReq *req = &r->qp->req;
    const uint32_t size = sizeof(WireRequest) + p->size;
    WireRequest msg = {
        .h = WIRE_HDR(WIRE_REQUEST, size, r->peer_id, r->peer_gen),
        .seq = htole32(r->tx_seq), .opcode = req->opcode,
        .flags = (req->se ? WIRE_SOLICITED : 0) |
                 (requester_needs_ack(r, size) ? WIRE_ACK_REQUESTED : 0),
        .imm = htole32(req->imm), .length = htole64(req->length),
    };

    msg.h.kind = p->kind;
    if (erdma_op_pulls(req->opcode) || erdma_op_writes(req->opcode)) {
        msg.rkey = htole32(req->remote.key);
        msg.rva = htole64(req->remote.va);
    }
    if (req->opcode == ERDMA_OP_ATOMIC_CAS ||
        req->opcode == ERDMA_OP_ATOMIC_FAA) {
        msg.swap_add = htole64(req->swap_add);
        msg.compare = req->opcode == ERDMA_OP_ATOMIC_CAS ?
                      htole64(req->compare) : 0;
    }
    memcpy(out, &msg, sizeof(msg));
    return size;
}

/*
 * May the active request be coalesced with later ones? While others of this QP
 * are in flight their ACK comes, and what was coalesced goes when it does
 * (Nagle). What an application waits for at either end goes at once.
 */
static bool requester_may_wait(const ErdmaRemote *r)
{
    const ErdmaReq *req = &r->qp->req;

    return r->qp->inflight && r->tx_later < REQUESTER_COALESCED_MAX &&
           !req->se && !(req->ce && !r->tx_signaled);
}

static bool requester_send(ErdmaRemote *r, const void *msg, uint32_t size)
{
    if (requester_may_wait(r)) {
        r->tx_later++;
        return erdma_wire_send_later(r->wire, msg, size);
    }
    r->tx_later = 0;
    return erdma_wire_send(r->wire, msg, size);
}

/* The active request was sent: what its end needs */
static void requester_record(ErdmaRemote *r, ErdmaFlight *f,
                             const WirePayload *p, uint32_t size)
{
    const ErdmaReq *req = &r->qp->req;

    f->opcode = req->opcode;
    f->wqebbs = req->wqebbs;
    f->nlocal = req->nlocal;
    f->ce = req->ce;
    f->imm = req->imm;
    f->size = size;
    f->length = req->length;
    f->done = p->bytes;
    memcpy(f->local, req->local, req->nlocal * sizeof(req->local[0]));
    erdma_flight_add(r, f);
}

/* A record for a request of @size bytes; NULL: not now */
static ErdmaFlight *requester_flight(ErdmaRemote *r, uint32_t size)
{
    if (r->tx_bytes + size > r->wire->window_bytes) {
        return NULL;
    }
    return erdma_flight_new(r->qp->core->fabric);
}

ErdmaStep erdma_requester_step(ErdmaQp *qp, ErdmaBudget *b, uint8_t *syndrome)
{
    const ErdmaStep blocked = qp->inflight ? ERDMA_STEP_WAIT :
                                             ERDMA_STEP_HOLD;
    ErdmaFabric *fabric = qp->core->fabric;
    ErdmaRemote *r = qp->remote;
    ErdmaFlight *f;
    WirePayload p;
    uint32_t size;

    (void)b;
    if (!erdma_remote_connected(r) || qp->inflight >= r->wire->window ||
        !erdma_flight_room(r)) {
        return blocked;
    }
    *syndrome = requester_payload(qp, fabric->scratch + sizeof(WireRequest),
                                  &p);
    if (*syndrome) {
        return ERDMA_STEP_DONE;
    }
    size = requester_build(r, fabric->scratch, &p);
    f = requester_flight(r, size);
    if (!f) {
        return blocked;
    }
    if (!requester_send(r, fabric->scratch, size)) {
        erdma_flight_free(fabric, f);
        return blocked;
    }
    requester_record(r, f, &p, size);
    erdma_ack_request_sent(r);
    if (!r->tx_later) {
        erdma_ack_now(r);               /* it goes at the same time */
    }
    return ERDMA_STEP_SENT;
}

bool erdma_requester_pump(ErdmaRemote *r, ErdmaBudget *b)
{
    ErdmaQp *qp = r->qp;
    ErdmaFlight *f;

    if (!erdma_remote_connected(r) || !r->push_limit) {
        return false;
    }
    f = r->oldest;
    while (f->done < r->push_limit) {
        ErdmaCursor src;
        WirePayload p;

        if (!b->bytes) {
            return true;
        }
        erdma_cursor_spans(&src, qp, f->local, f->nlocal,
                           ERDMA_RIGHT_LOCAL_READ, false, false, f->done);
        erdma_payload_build(qp->core, &src, r->push_limit - f->done,
                            WIRE_CHUNK_BYTES, qp->core->fabric->scratch +
                            sizeof(WireValue), &p);
        if (src.fault) {
            erdma_flight_end(r, erdma_access_send(src.fault));
            return false;
        }
        if (!erdma_payload_send(r, WIRE_PUSH_DATA, r->tx_acked, f->done, &p)) {
            return false;
        }
        f->done += p.bytes;
        erdma_budget_take(b, p.bytes);
    }
    return false;
}

/* ---- what the responder says ---- */

/*
 * Complete all before @seq. What follows must be in flight itself, unless the
 * message is an ACK.
 */
static const char *requester_complete_to(ErdmaRemote *r, const char *message,
                                         uint32_t seq, bool ack)
{
    uint32_t n = seq - r->tx_acked;

    if (n > r->qp->inflight || (!ack && n == r->qp->inflight)) {
        return erdma_wire_wrong(r->wire, "%s: seq is %u, expected one of %u "
                                "requests in flight from %u", message, seq,
                                r->qp->inflight, r->tx_acked);
    }
    for (uint32_t i = 0; i < n; i++) {
        const ErdmaFlight *f = r->oldest;

        if (erdma_op_pulls(f->opcode) || f->done < f->length) {
            return erdma_wire_wrong(r->wire, "%s: seq is %u, expected data or "
                                    "credit for request %u first", message,
                                    seq, r->tx_acked);
        }
        erdma_flight_end(r, 0);
    }
    if (n) {
        erdma_flight_progress(r);
    }
    return NULL;
}

/* All before @seq are done, and @seq is the oldest: *@f */
static const char *requester_take_oldest(ErdmaRemote *r, const char *message,
                                         __le32 seq, ErdmaFlight **f)
{
    const char *wrong = requester_complete_to(r, message, le32toh(seq), false);

    erdma_wire_todo(r);
    if (!wrong) {
        *f = r->oldest;
    }
    return wrong;
}

/* The oldest ended well: what is behind it has the whole time */
static void requester_end_good(ErdmaRemote *r)
{
    erdma_flight_end(r, 0);
    erdma_flight_progress(r);
}

const char *erdma_requester_on_ack(ErdmaRemote *r, const WireAck *ack)
{
    if (ack->syndrome) {
        return erdma_wire_wrong(r->wire, "ACK: syndrome is %u, expected 0",
                                le32toh(ack->syndrome));
    }
    if (le32toh(ack->seq) == r->tx_acked) {
        return erdma_wire_wrong(r->wire, "ACK: seq is %u, expected more than "
                                "was acknowledged", r->tx_acked);
    }
    erdma_wire_todo(r);
    return requester_complete_to(r, "ACK", le32toh(ack->seq), true);
}

const char *erdma_requester_on_nak(ErdmaRemote *r, const WireAck *nak)
{
    uint32_t syndrome = le32toh(nak->syndrome);
    ErdmaFlight *f;
    const char *wrong;

    if (!syndrome || syndrome >= ERDMA_WC_COUNT ||
        syndrome == ERDMA_WC_FLUSHED) {
        return erdma_wire_wrong(r->wire, "NAK: syndrome is %u, expected 1..%u "
                                "but %u", syndrome, ERDMA_WC_COUNT - 1,
                                ERDMA_WC_FLUSHED);
    }
    wrong = requester_take_oldest(r, "NAK", nak->seq, &f);
    if (!wrong) {
        erdma_flight_end(r, syndrome);
    }
    return wrong;
}

const char *erdma_requester_on_atomic(ErdmaRemote *r, const WireValue *v)
{
    ErdmaCursor src, dst;
    ErdmaFlight *f;
    const char *wrong = requester_take_oldest(r, "ATOMIC", v->seq, &f);
    uint64_t old = le64toh(v->value);

    if (wrong) {
        return wrong;
    }
    if (f->opcode != ERDMA_OP_ATOMIC_CAS && f->opcode != ERDMA_OP_ATOMIC_FAA) {
        return erdma_wire_wrong(r->wire, "ATOMIC: request %u has opcode %u, "
                                "expected an atomic", le32toh(v->seq),
                                f->opcode);
    }
    erdma_cursor_buffer(&src, &old, sizeof(old), 0);
    erdma_cursor_spans(&dst, r->qp, f->local, 1, ERDMA_RIGHT_LOCAL_WRITE,
                       false, true, 0);
    erdma_copy(&dst, &src, sizeof(old));
    if (dst.fault) {
        erdma_flight_end(r, erdma_access_send(dst.fault));
    } else {
        requester_end_good(r);
    }
    return NULL;
}

const char *erdma_requester_on_credit(ErdmaRemote *r, const WireValue *v,
                                      ErdmaBudget *b)
{
    ErdmaFlight *f;
    const char *wrong = requester_take_oldest(r, "PUSH_CREDIT", v->seq, &f);
    uint64_t limit = le64toh(v->value);

    if (wrong) {
        return wrong;
    }
    if (erdma_op_pulls(f->opcode) || limit > f->length || limit <= f->done ||
        limit <= r->push_limit) {
        return erdma_wire_wrong(r->wire, "PUSH_CREDIT: end is %llu, expected "
                                "more than %llu of the %llu bytes of a push",
                                (unsigned long long)limit,
                                (unsigned long long)(r->push_limit > f->done ?
                                                     r->push_limit : f->done),
                                (unsigned long long)(erdma_op_pulls(f->opcode) ?
                                                     0 : f->length));
    }
    r->push_limit = limit;
    erdma_flight_progress(r);
    if (erdma_requester_pump(r, b)) {
        erdma_qp_schedule(r->qp);
    }
    return NULL;
}

/* ---- data of a READ ---- */

static bool requester_reads(const ErdmaFlight *f)
{
    return f->opcode == ERDMA_OP_READ || f->opcode == ERDMA_OP_READ_INV;
}

/* The first may come without credit and may be empty, the others not */
static bool requester_granted(ErdmaRemote *r, const ErdmaFlight *f,
                              const WirePayload *p)
{
    if (r->read_credit.length) {
        return p->bytes && erdma_credit_take(&r->read_credit, p->bytes);
    }
    return p->bytes <= f->length;
}

/* The data is where it belongs */
static void requester_read_done(ErdmaRemote *r, const ErdmaFlight *f)
{
    bool ok = f->opcode != ERDMA_OP_READ_INV ||
              erdma_mr_invalidate(r->qp, f->imm);

    erdma_credit_end(&r->read_credit);
    if (ok) {
        requester_end_good(r);
    } else {
        erdma_flight_end(r, ERDMA_WC_SEND_STAG);
    }
}

/* Move @p to the memory of the READ; false: that ended it, or the connection */
static bool requester_place(ErdmaRemote *r, const ErdmaFlight *f,
                            const WirePayload *p)
{
    ErdmaCursor dst;

    erdma_cursor_spans(&dst, r->qp, f->local, f->nlocal,
                       ERDMA_RIGHT_LOCAL_WRITE | ERDMA_RIGHT_REMOTE_WRITE,
                       false, true, f->done);
    switch (erdma_payload_place(r, &dst, p)) {
    case ERDMA_PLACED_FAULT:
        erdma_flight_end(r, dst.fault ? erdma_access_send(dst.fault) :
                                        ERDMA_WC_RECV_BOUNDS);
        return false;
    case ERDMA_PLACED_REVOKED:
        erdma_flight_end(r, ERDMA_WC_RECV_STAG);
        return false;
    case ERDMA_PLACED_DEAD:
        erdma_remote_lose(r);
        return false;
    default:
        return true;
    }
}

const char *erdma_requester_on_data(ErdmaRemote *r, const WireValue *v,
                                    const WireMsg *m, ErdmaBudget *b)
{
    ErdmaFlight *f;
    WirePayload p;
    const char *wrong = erdma_payload_parse(r->wire, m, &p);

    if (!wrong) {
        wrong = requester_take_oldest(r, "READ_DATA", v->seq, &f);
    }
    if (wrong) {
        return wrong;
    }
    if (!requester_reads(f) || le64toh(v->value) != f->done ||
        !requester_granted(r, f, &p)) {
        return erdma_wire_wrong(r->wire, "READ_DATA: %llu bytes at %llu of "
                                "request %u, opcode %u, expected granted data "
                                "of a READ at %llu",
                                (unsigned long long)p.bytes,
                                (unsigned long long)le64toh(v->value),
                                le32toh(v->seq), f->opcode,
                                (unsigned long long)f->done);
    }
    if (!erdma_remote_connected(r)) {
        return NULL;            /* lost while it granted more */
    }
    erdma_budget_take(b, p.cost);
    if (p.bytes && !requester_place(r, f, &p)) {
        return NULL;
    }
    f->done += p.bytes;
    if (f->done == f->length) {
        requester_read_done(r, f);
        return NULL;
    }
    erdma_flight_progress(r);
    if (!r->read_credit.length) {
        erdma_credit_begin(&r->read_credit, r->tx_acked, f->done, f->length);
    }
    return NULL;
}
