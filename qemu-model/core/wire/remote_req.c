/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requester of a connection to another process: a window of requests in flight.
 *
 * The responder answers in order, and every answer says that all requests
 * before the one it names are done. So it is always about the oldest in flight.
 */
#include <stdlib.h>

#include "wire_int.h"

#define MAX_SPARES  4096u
/* Requests of a QP that wait for company: then the peer gets to work */
#define LATER_MAX   32u

/* ---- the window ---- */

static ErdmaFlight *flight_new(ErdmaFabric *f)
{
    ErdmaFlight *flight = f->spare;

    if (flight) {
        f->spare = flight->next;
        f->spares--;
    } else {
        flight = calloc(1, sizeof(*flight));
    }
    f->flights += flight != NULL;
    return flight;
}

static void flight_free(ErdmaFabric *f, ErdmaFlight *flight)
{
    f->flights--;
    if (f->spares < MAX_SPARES) {
        flight->next = f->spare;
        f->spare = flight;
        f->spares++;
    } else {
        free(flight);
    }
}

/* The peer has the whole hold time again for the oldest, if there is one */
static void progress(ErdmaRemote *r)
{
    ErdmaCore *c = r->qp->core;

    erdma_timer_cancel(&r->watch);
    if (r->oldest) {
        erdma_timer_arm(c, &c->watched, &r->watch,
                        c->ops->now(c->opaque) + c->cfg.hold_ns);
    }
}

void erdma_req_drop(ErdmaRemote *r)
{
    while (r->oldest) {
        ErdmaFlight *next = r->oldest->next;

        flight_free(r->qp->core->fabric, r->oldest);
        r->oldest = next;
    }
    erdma_timer_cancel(&r->watch);
}

/* The oldest ends. With an error @r is gone when this returns. */
static void end_oldest(ErdmaRemote *r, uint8_t syndrome)
{
    ErdmaQp *qp = r->qp;
    ErdmaFlight *f = r->oldest;
    ErdmaEnd end = {
        .opcode = f->opcode, .wqebbs = f->wqebbs, .ce = f->ce,
        .length = f->length,
    };

    r->tx_bytes -= f->size;
    r->tx_signaled -= f->ce;
    r->tx_acked++;
    r->push_limit = 0;
    r->oldest = f->next;
    qp->inflight--;
    qp->pulls -= erdma_op_pulls(f->opcode);
    flight_free(qp->core->fabric, f);
    erdma_sq_finish(qp, &end, syndrome);
}

/* The oldest ended well: what is behind it has the whole time */
static void end_good(ErdmaRemote *r)
{
    end_oldest(r, 0);
    progress(r);
}

/* Nothing was received for the oldest request in flight for the hold time */
static void req_expired(ErdmaCore *c, ErdmaTimer *t)
{
    ErdmaRemote *r = ERDMA_ENTRY(t, ErdmaRemote, watch);
    ErdmaQp *qp = r->qp;

    (void)c;
    qp->core->n.retry_exceeded++;
    erdma_info(qp->core, "QP %u: peer did not answer, request %u given up",
               qp->qpn, qp->sq_ci);
    end_oldest(r, ERDMA_WC_RETRY_EXC);
}

void erdma_remote_register(ErdmaCore *c)
{
    erdma_timer_queue_init(c, &c->watched, req_expired);
}

/* ---- sending ---- */

static void source(const ErdmaQp *qp, const ErdmaFlight *f, ErdmaCursor *src)
{
    erdma_cursor_spans(src, qp, f->local, f->nlocal, ERDMA_RIGHT_LOCAL_READ,
                       false, false, f->done);
}

/* Payload that goes with the request; syndrome */
static uint8_t first_payload(ErdmaQp *qp, uint8_t *out, WirePayload *p)
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

static void remember(ErdmaRemote *r, ErdmaFlight *f, const WirePayload *p,
                     uint32_t size)
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
    r->tx_bytes += size;
    r->tx_signaled += req->ce;
    r->tx_seq++;
    r->qp->pulls += erdma_op_pulls(req->opcode);
    r->qp->inflight++;
    f->next = NULL;
    if (r->oldest) {
        r->newest->next = f;
        r->newest = f;
    } else {
        r->oldest = r->newest = f;
        progress(r);
    }
}

/*
 * Does somebody wait for the answer: the guest, or the requests behind it, which
 * wait for company or find the window full?
 */
static bool wants_answer(const ErdmaRemote *r, uint32_t size)
{
    return r->qp->req.ce || !r->qp->inflight || !((r->tx_seq + 1) % LATER_MAX) ||
           r->tx_bytes + size > r->wire->window_bytes / 2;
}

static uint32_t build(ErdmaRemote *r, uint8_t *out, const WirePayload *p)
{
    const ErdmaReq *req = &r->qp->req;
    WireRequest msg = {
        .h = WIRE_HDR(WIRE_REQUEST, sizeof(msg) + p->size, r->peer_id,
                      r->peer_gen),
        .seq = htole32(r->tx_seq), .opcode = req->opcode,
        .flags = (req->se ? WIRE_SOLICITED : 0) |
                 (wants_answer(r, sizeof(msg) + p->size) ? WIRE_ANSWER : 0),
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
    return sizeof(msg) + p->size;
}

/*
 * May the active request wait for company? While others of this QP are in
 * flight their answer comes, and what waits goes when it does (Nagle). What
 * somebody waits for at either end goes at once.
 */
static bool may_wait(const ErdmaRemote *r)
{
    const ErdmaReq *req = &r->qp->req;

    return r->qp->inflight && r->tx_later < LATER_MAX && !req->se &&
           !(req->ce && !r->tx_signaled);
}

static bool send_request(ErdmaRemote *r, const void *msg, uint32_t size)
{
    if (may_wait(r)) {
        r->tx_later++;
        return erdma_wire_send_later(r->wire, msg, size);
    }
    r->tx_later = 0;
    return erdma_wire_send(r->wire, msg, size);
}

ErdmaStep erdma_req_step(ErdmaQp *qp, ErdmaBudget *b, uint8_t *syndrome)
{
    const ErdmaStep blocked = qp->inflight ? ERDMA_STEP_WAIT :
                                             ERDMA_STEP_HOLD;
    ErdmaFabric *fabric = qp->core->fabric;
    ErdmaRemote *r = qp->remote;
    ErdmaFlight *f;
    WirePayload p;
    uint32_t size;

    (void)b;
    if (!r->wire || qp->inflight >= r->wire->window ||
        (qp->inflight && fabric->flights >= ERDMA_LIMIT_FLIGHTS)) {
        return blocked;
    }
    *syndrome = first_payload(qp, fabric->scratch + sizeof(WireRequest), &p);
    if (*syndrome) {
        return ERDMA_STEP_DONE;
    }
    size = build(r, fabric->scratch, &p);
    f = r->tx_bytes + size <= r->wire->window_bytes ? flight_new(fabric) :
                                                      NULL;
    if (!f) {
        return blocked;
    }
    if (!send_request(r, fabric->scratch, size)) {
        flight_free(fabric, f);
        return blocked;
    }
    remember(r, f, &p, size);
    erdma_resp_turn(r);
    if (!r->tx_later) {
        erdma_resp_tell(r);             /* it goes at the same time */
    }
    return ERDMA_STEP_SENT;
}

bool erdma_req_pump(ErdmaRemote *r, ErdmaBudget *b)
{
    ErdmaQp *qp = r->qp;
    ErdmaFlight *f;

    if (!r->push_limit || !r->wire) {
        return false;
    }
    f = r->oldest;
    while (f->done < r->push_limit) {
        ErdmaCursor src;
        WirePayload p;

        if (!b->bytes) {
            return true;
        }
        source(qp, f, &src);
        erdma_payload_build(qp->core, &src, r->push_limit - f->done,
                            WIRE_CHUNK_BYTES, qp->core->fabric->scratch +
                            sizeof(WireValue), &p);
        if (src.fault) {
            end_oldest(r, erdma_access_send(src.fault));
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

/* ---- answers ---- */

/* All before @seq are done, and @seq is in flight unless it is an ack */
static const char *done_before(ErdmaRemote *r, uint32_t seq, bool ack)
{
    uint32_t n = seq - r->tx_acked;

    if (n > r->qp->inflight || (!ack && n == r->qp->inflight)) {
        return "answer to no request";
    }
    for (uint32_t i = 0; i < n; i++) {
        const ErdmaFlight *f = r->oldest;

        if (erdma_op_pulls(f->opcode) || f->done < f->length) {
            return "end of a request whose data did not go";
        }
        end_oldest(r, 0);
    }
    if (n) {
        progress(r);
    }
    return NULL;
}

static const char *oldest_is(ErdmaRemote *r, __le32 seq, ErdmaFlight **f)
{
    const char *wrong = done_before(r, le32toh(seq), false);

    erdma_wire_todo(r);
    if (!wrong) {
        *f = r->oldest;
    }
    return wrong;
}

const char *erdma_req_on_ack(ErdmaRemote *r, const WireAck *ack)
{
    if (ack->syndrome || le32toh(ack->seq) == r->tx_acked) {
        return "ack that says nothing";
    }
    erdma_wire_todo(r);
    return done_before(r, le32toh(ack->seq), true);
}

const char *erdma_req_on_nak(ErdmaRemote *r, const WireAck *nak)
{
    uint32_t syndrome = le32toh(nak->syndrome);
    ErdmaFlight *f;
    const char *wrong;

    if (!syndrome || syndrome >= ERDMA_WC_COUNT ||
        syndrome == ERDMA_WC_FLUSHED) {
        return "syndrome";
    }
    wrong = oldest_is(r, nak->seq, &f);
    if (!wrong) {
        end_oldest(r, syndrome);
    }
    return wrong;
}

const char *erdma_req_on_atomic(ErdmaRemote *r, const WireValue *v)
{
    ErdmaCursor src, dst;
    ErdmaFlight *f;
    const char *wrong = oldest_is(r, v->seq, &f);
    uint64_t old = le64toh(v->value);

    if (wrong) {
        return wrong;
    }
    if (f->opcode != ERDMA_OP_ATOMIC_CAS && f->opcode != ERDMA_OP_ATOMIC_FAA) {
        return "old value for another request";
    }
    erdma_cursor_buffer(&src, &old, sizeof(old), 0);
    erdma_cursor_spans(&dst, r->qp, f->local, 1, ERDMA_RIGHT_LOCAL_WRITE,
                       false, true, 0);
    erdma_copy(&dst, &src, sizeof(old));
    if (dst.fault) {
        end_oldest(r, erdma_access_send(dst.fault));
    } else {
        end_good(r);
    }
    return NULL;
}

const char *erdma_req_on_credit(ErdmaRemote *r, const WireValue *v,
                                ErdmaBudget *b)
{
    ErdmaFlight *f;
    const char *wrong = oldest_is(r, v->seq, &f);
    uint64_t limit = le64toh(v->value);

    if (wrong) {
        return wrong;
    }
    if (erdma_op_pulls(f->opcode) || limit > f->length || limit <= f->done ||
        limit <= r->push_limit) {
        return "credit";
    }
    r->push_limit = limit;
    progress(r);
    if (erdma_req_pump(r, b)) {
        erdma_qp_schedule(r->qp);
    }
    return NULL;
}

static bool is_read(const ErdmaFlight *f)
{
    return f->opcode == ERDMA_OP_READ || f->opcode == ERDMA_OP_READ_INV;
}

/* The first may come unasked and may be empty, the others not */
static bool was_asked(ErdmaRemote *r, const ErdmaFlight *f,
                      const WirePayload *p)
{
    if (r->read_ask.length) {
        return p->bytes && erdma_ask_got(&r->read_ask, p->bytes);
    }
    return p->bytes <= f->length;
}

static void read_done(ErdmaRemote *r, const ErdmaFlight *f)
{
    bool ok = f->opcode != ERDMA_OP_READ_INV ||
              erdma_mr_invalidate(r->qp, f->imm);

    erdma_ask_end(&r->read_ask);
    if (ok) {
        end_good(r);
    } else {
        end_oldest(r, ERDMA_WC_SEND_STAG);
    }
}

const char *erdma_req_on_data(ErdmaRemote *r, const WireValue *v,
                              const WireMsg *m, ErdmaBudget *b)
{
    ErdmaFlight *f;
    ErdmaCursor dst;
    WirePayload p;
    const char *wrong = erdma_payload_parse(m, &p);

    if (!wrong) {
        wrong = oldest_is(r, v->seq, &f);
    }
    if (wrong) {
        return wrong;
    }
    if (!is_read(f) || le64toh(v->value) != f->done || !was_asked(r, f, &p)) {
        return "data that was not asked for";
    }
    if (!r->wire) {
        return NULL;            /* lost while it asked for more */
    }
    erdma_budget_take(b, p.cost);
    if (p.bytes) {
        erdma_cursor_spans(&dst, r->qp, f->local, f->nlocal,
                           ERDMA_RIGHT_LOCAL_WRITE | ERDMA_RIGHT_REMOTE_WRITE,
                           false, true, f->done);
        if (!erdma_payload_place(r->wire, &dst, &p)) {
            end_oldest(r, dst.fault ? erdma_access_send(dst.fault) :
                                      ERDMA_WC_RECV_BOUNDS);
            return NULL;
        }
    }
    if (p.kind == WIRE_RANGES && !erdma_remote_alive(r)) {
        erdma_remote_lose(r);
        return NULL;
    }
    f->done += p.bytes;
    if (f->done == f->length) {
        read_done(r, f);
    } else if (!r->read_ask.length) {
        progress(r);
        erdma_ask_begin(&r->read_ask, r->tx_acked, f->done, f->length);
    } else {
        progress(r);
    }
    return NULL;
}
