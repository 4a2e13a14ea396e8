/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Responder of a connection to another process: requests in order, one at a
 * time. What comes while the first cannot go on waits as it came; the peer
 * keeps to the window, so that is bounded.
 */
#include <stdlib.h>

#include "wire_int.h"

#define BACKLOG_FIRST   4096u   /* bytes */
/* So many requests are not kept without an answer, wanted or not */
#define LINGER_MAX      32u
/* Requests that went back and forth before the next is expected to */
#define TALK_TURNS      2u

/* ---- backlog ---- */

static void backlog_free(ErdmaRemote *r)
{
    ErdmaBacklog *q = &r->backlog;

    if (q->size) {
        r->wire->kept -= q->size;
        free(q->buf);
        memset(q, 0, sizeof(*q));
    }
}

/* Room for @len more bytes at the end; at most the window is kept */
static bool backlog_room(ErdmaRemote *r, uint32_t len)
{
    ErdmaBacklog *q = &r->backlog;
    uint32_t used = q->end - q->first;
    uint32_t size = q->size ? q->size : BACKLOG_FIRST;
    uint8_t *buf = q->buf;

    while (size < used + len) {
        size *= 2;
    }
    if (size != q->size) {
        if (size - q->size > ERDMA_LIMIT_BACKLOG - r->wire->kept) {
            return false;
        }
        buf = calloc(1, size);
        if (!buf) {
            return false;
        }
        r->wire->kept += size - q->size;
    }
    if (q->end + len > q->size) {
        if (used) {
            memmove(buf, q->buf + q->first, used);
        }
        q->first = 0;
        q->end = used;
    }
    if (buf != q->buf) {
        free(q->buf);
        q->buf = buf;
        q->size = size;
    }
    return true;
}

static const char *backlog_add(ErdmaRemote *r, const WireMsg *m)
{
    ErdmaBacklog *q = &r->backlog;

    if (q->end - q->first + m->len > WIRE_WINDOW_BYTES) {
        return "more requests than the window holds";
    }
    if (!backlog_room(r, m->len)) {
        erdma_peer_info(r->qp->core, "QP %u: no room for requests of its peer, "
                        "which does not wait for receives", r->qp->qpn);
        erdma_remote_lose(r);
        return NULL;
    }
    memcpy(q->buf + q->end, m->data, m->len);
    q->end += m->len;
    return NULL;
}

static bool backlog_first(const ErdmaBacklog *q, WireMsg *m)
{
    if (q->first == q->end) {
        return false;
    }
    m->data = q->buf + q->first;
    memcpy(&m->h, m->data, sizeof(m->h));
    m->len = le32toh(m->h.len);
    m->fixed = sizeof(WireRequest);
    return true;
}

static void backlog_pop(ErdmaRemote *r, uint32_t len)
{
    ErdmaBacklog *q = &r->backlog;

    if (q->end) {               /* it may have been dropped meanwhile */
        q->first += len;
        if (q->first == q->end) {
            backlog_free(r);
        }
    }
}

/* ---- answers ---- */

/* The peer knows of all that is done: what was sent says so */
static void told(ErdmaRemote *r)
{
    r->rx_told = r->rx_done;
}

/* Does it wait for what it does not know? */
static bool wanted(const ErdmaRemote *r)
{
    return (int32_t)(r->rx_asked - r->rx_told) > 0;
}

void erdma_resp_tell(ErdmaRemote *r)
{
    erdma_list_del(&r->linger_link);
    if (r->wire && r->rx_told != r->rx_done) {
        WireAck ack = {
            .h = WIRE_HDR(WIRE_ACK, sizeof(ack), r->peer_id, r->peer_gen),
            .seq = htole32(r->rx_done),
        };

        told(r);
        erdma_wire_send(r->wire, &ack, sizeof(ack));
    }
}

/* The two ends take turns: what we send next goes soon, and takes the answer */
static bool talks(const ErdmaRemote *r)
{
    return r->turns == TALK_TURNS;
}

void erdma_resp_turn(ErdmaRemote *r)
{
    if (r->heard && r->turns < TALK_TURNS) {
        r->turns++;
    }
    r->heard = false;
}

void erdma_resp_tell_soon(ErdmaRemote *r)
{
    uint32_t untold = r->rx_done - r->rx_told;
    ErdmaWire *w = r->wire;

    if (!w || !untold || untold >= LINGER_MAX ||
        (wanted(r) && !talks(r)) || !w->ops->linger ||
        !w->ops->linger(w->opaque)) {
        erdma_resp_tell(r);
    } else if (!erdma_link_used(&r->linger_link)) {
        erdma_list_add_tail(&w->lingering, &r->linger_link);
    }
}

void erdma_resp_settle(ErdmaRemote *r)
{
    if (wanted(r)) {
        r->turns = 0;           /* it waited for nothing */
    }
    erdma_resp_tell(r);
}

static void send_nak(ErdmaRemote *r, uint8_t syndrome)
{
    WireAck nak = {
        .h = WIRE_HDR(WIRE_NAK, sizeof(nak), r->peer_id, r->peer_gen),
        .seq = htole32(r->rx_done), .syndrome = htole32(syndrome),
    };

    told(r);
    if (r->wire) {
        erdma_wire_send(r->wire, &nak, sizeof(nak));
    }
}

void erdma_resp_drop(ErdmaRemote *r)
{
    r->in_active = false;
    backlog_free(r);
}

/* The QP was stopped by what it executed */
static void bury(ErdmaRemote *r)
{
    if (r->wire) {
        WireHdr h = WIRE_HDR(WIRE_CLOSE, sizeof(h), r->peer_id, r->peer_gen);

        erdma_resp_tell(r);
        if (r->wire) {
            erdma_wire_send(r->wire, &h, sizeof(h));
        }
    }
    erdma_remote_lose(r);
    erdma_remote_free(r);
}

/* The request under way ends; @r may be gone when this returns */
static void end_request(ErdmaRemote *r, uint8_t syndrome)
{
    r->in_active = false;
    erdma_ask_end(&r->push_ask);
    if (syndrome) {
        send_nak(r, syndrome);
        r->deaf = true;
        erdma_resp_drop(r);
    } else {
        r->rx_done++;
        if (r->heard) {
            r->turns = 0;
        }
        r->heard = true;
        if (erdma_op_pulls(r->in.opcode)) {
            told(r);            /* by the data */
        }
        if (r->qp) {
            r->qp->rx_pkts++;
            erdma_req_account(r->qp->core, r->in.opcode, r->in.length, false);
        }
    }
    if (!r->qp) {
        bury(r);
    }
}

/* ---- execution ---- */

/* SEND and WRITE: payload goes where it belongs; syndrome */
static uint8_t place(ErdmaRemote *r, const WirePayload *p)
{
    ErdmaQp *qp = r->qp;
    ErdmaCursor dst;
    ErdmaSpan span;
    uint8_t syndrome = erdma_resp_target(qp, &r->in, &r->in_recv, &span);

    if (syndrome) {
        return syndrome;
    }
    erdma_resp_cursor(&dst, qp, &r->in, &span, r->in_done);
    if (!erdma_payload_place(r->wire, &dst, p)) {
        return dst.fault ? erdma_resp_fault(qp, &r->in, dst.fault) :
                           ERDMA_WC_SEND_BOUNDS;
    }
    r->in_done += p->bytes;
    return 0;
}

static ErdmaStep push(ErdmaRemote *r, const WirePayload *p, ErdmaBudget *b,
                      uint8_t *syndrome)
{
    ErdmaStep step = erdma_resp_begin(r->qp, &r->in, &r->in_recv, syndrome);

    if (step != ERDMA_STEP_DONE || *syndrome) {
        return step;
    }
    if (r->in.length) {
        *syndrome = place(r, p);
        erdma_budget_take(b, p->cost);
        if (*syndrome) {
            return ERDMA_STEP_DONE;
        }
        if (p->kind == WIRE_RANGES && !erdma_remote_alive(r)) {
            erdma_remote_lose(r);       /* nobody knows what was copied */
            return ERDMA_STEP_MORE;
        }
    }
    if (r->in_done < r->in.length) {
        if (!r->in_active) {
            r->in_active = true;
            erdma_ask_begin(&r->push_ask, r->rx_done, r->in_done,
                            r->in.length);
        }
        return ERDMA_STEP_MORE;
    }
    if (r->in_recv.taken && !erdma_resp_complete(r->qp, &r->in)) {
        *syndrome = ERDMA_WC_GENERAL_ERR;
    }
    return ERDMA_STEP_DONE;
}

/*
 * A fault lets what came in one message arrive a second time. If that cannot be
 * finished at once, once was enough.
 */
static void push_again(ErdmaRemote *r, const WirePayload *p, ErdmaBudget *b)
{
    uint8_t syndrome = 0;

    if (r->in_active || p->bytes != r->in.length ||
        !erdma_fault_again(r->qp)) {
        return;
    }
    r->in_done = 0;
    r->in_recv.taken = false;
    push(r, p, b, &syndrome);
}

/* Answer of a READ: at once what can be named or is small, then as asked */
static bool send_data(ErdmaRemote *r, uint64_t left, uint32_t copy,
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
    told(r);
    if (!erdma_payload_send(r, WIRE_READ_DATA, r->rx_done, r->in_done, &p)) {
        return false;
    }
    r->in_done += p.bytes;
    erdma_budget_take(b, p.bytes);
    return true;
}

static ErdmaStep read_step(ErdmaRemote *r, ErdmaBudget *b, uint8_t *syndrome)
{
    ErdmaReach reach;
    ErdmaAccess a = r->in.length ?
        erdma_mr_check(r->qp, &r->in.remote, ERDMA_RIGHT_REMOTE_READ, true,
                       &reach) : ERDMA_ACCESS_OK;
    bool sent = true;

    if (!a && !r->in_active) {
        r->in_active = true;
        sent = send_data(r, r->in.length, 0, b, &a);
    }
    while (!a && sent && r->in_done < r->read_limit && b->bytes) {
        sent = send_data(r, r->read_limit - r->in_done, WIRE_CHUNK_BYTES, b,
                         &a);
    }
    if (a) {
        *syndrome = erdma_access_recv(a);
        erdma_resp_refuse(r->qp, *syndrome);
        return ERDMA_STEP_DONE;
    }
    return sent && r->in_done == r->in.length ? ERDMA_STEP_DONE :
                                                ERDMA_STEP_MORE;
}

static ErdmaStep atomic(ErdmaRemote *r, uint8_t *syndrome)
{
    uint64_t old = 0;
    ErdmaAccess a = erdma_resp_atomic(r->qp, &r->in, &old);
    WireValue v = {
        .h = WIRE_HDR(WIRE_ATOMIC, sizeof(v), r->peer_id, r->peer_gen),
        .seq = htole32(r->rx_done), .value = htole64(old),
    };

    if (a) {
        *syndrome = erdma_access_recv(a);
        erdma_resp_refuse(r->qp, *syndrome);
    } else {
        erdma_wire_send(r->wire, &v, sizeof(v));
    }
    return ERDMA_STEP_DONE;
}

/* Go on with the request under way. DONE: it ended and @r may be gone. */
static ErdmaStep execute(ErdmaRemote *r, const WirePayload *p, ErdmaBudget *b)
{
    uint8_t syndrome = 0;
    ErdmaStep step;

    r->serving = true;
    switch (r->in.opcode) {
    case ERDMA_OP_READ:
    case ERDMA_OP_READ_INV:
        step = read_step(r, b, &syndrome);
        break;
    case ERDMA_OP_ATOMIC_CAS:
    case ERDMA_OP_ATOMIC_FAA:
        step = atomic(r, &syndrome);
        break;
    default:
        step = push(r, p, b, &syndrome);
        if (step == ERDMA_STEP_DONE && !syndrome && r->qp &&
            erdma_fault_at(r->qp->core, ERDMA_POINT_TWICE)) {
            push_again(r, p, b);
        }
        break;
    }
    r->serving = false;
    if (step == ERDMA_STEP_DONE) {
        end_request(r, syndrome);
    }
    return step;
}

/* ---- requests ---- */

static bool opcode_valid(uint8_t opcode)
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

static const char *request_wrong(const WireRequest *req, const WirePayload *p)
{
    uint64_t length = le64toh(req->length);

    if (!opcode_valid(req->opcode)) {
        return "operation";
    }
    if (req->zero || req->flags & ~(WIRE_SOLICITED | WIRE_ANSWER)) {
        return "field that must be 0";
    }
    if (length > ERDMA_LIMIT_MESSAGE || p->bytes > length ||
        (p->kind == WIRE_BYTES && p->size > WIRE_SMALL)) {
        return "length of a request";
    }
    if (erdma_op_pulls(req->opcode)) {
        bool read = req->opcode == ERDMA_OP_READ ||
                    req->opcode == ERDMA_OP_READ_INV;

        if (p->kind != WIRE_NONE || (!read && length != sizeof(uint64_t))) {
            return "length of a request";
        }
    }
    return NULL;
}

static void load(ErdmaRemote *r, const WireMsg *m)
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
    r->in_active = false;
    r->read_limit = 0;
}

/* Begin a request that was found good. HOLD: as if it had not come. */
static ErdmaStep begin(ErdmaRemote *r, const WireMsg *m, const WirePayload *p,
                       ErdmaBudget *b)
{
    if (erdma_fault_at(r->qp->core, ERDMA_POINT_NETWORK) &&
        erdma_fault_cuts(r->qp)) {
        return ERDMA_STEP_HOLD;
    }
    load(r, m);
    return execute(r, p, b);
}

const char *erdma_resp_on_request(ErdmaRemote *r, const WireMsg *m,
                                  ErdmaBudget *b)
{
    ErdmaQp *qp = r->qp;
    WireRequest req;
    WirePayload p;
    const char *wrong = erdma_payload_parse(m, &p);

    memcpy(&req, m->data, sizeof(req));
    if (!wrong) {
        wrong = request_wrong(&req, &p);
    }
    if (wrong) {
        return wrong;
    }
    if (le32toh(req.seq) != r->rx_next ||
        r->rx_next - r->rx_told >= WIRE_WINDOW) {
        return "number of a request";
    }
    r->rx_next++;
    if (req.flags & WIRE_ANSWER) {
        r->rx_asked = r->rx_next;
    }
    if (r->deaf) {
        return NULL;
    }
    if (r->in_active || r->backlog.end) {
        return backlog_add(r, m);
    }
    if (begin(r, m, &p, b) == ERDMA_STEP_HOLD) {
        return backlog_add(r, m);
    }
    if (qp->remote == r && r->wire) {
        erdma_wire_todo(r);
    }
    return NULL;
}

const char *erdma_resp_on_data(ErdmaRemote *r, const WireValue *v,
                               const WireMsg *m, ErdmaBudget *b)
{
    ErdmaQp *qp = r->qp;
    WirePayload p;
    const char *wrong = erdma_payload_parse(m, &p);

    if (wrong || r->deaf) {
        return wrong;
    }
    if (!r->in_active || erdma_op_pulls(r->in.opcode) ||
        le32toh(v->seq) != r->rx_done || le64toh(v->value) != r->in_done ||
        !p.bytes || !erdma_ask_got(&r->push_ask, p.bytes)) {
        return "data that was not asked for";
    }
    if (r->wire) {
        execute(r, &p, b);
    }
    if (qp->remote == r && r->wire) {
        erdma_wire_todo(r);
    }
    return NULL;
}

const char *erdma_resp_on_credit(ErdmaRemote *r, const WireValue *v,
                                 ErdmaBudget *b)
{
    uint64_t limit = le64toh(v->value);
    ErdmaQp *qp = r->qp;

    if (r->deaf) {
        return NULL;
    }
    if (!r->in_active || !erdma_op_pulls(r->in.opcode) ||
        le32toh(v->seq) != r->rx_done || limit <= r->in_done ||
        limit <= r->read_limit || limit > r->in.length) {
        return "credit";
    }
    r->read_limit = limit;
    if (execute(r, NULL, b) == ERDMA_STEP_MORE && r->in_done < limit) {
        erdma_qp_schedule(qp);
    }
    if (qp->remote == r && r->wire) {
        erdma_wire_todo(r);
    }
    return NULL;
}

/* ---- turns ---- */

/* A request that moves data of its own accord */
static bool can_go_on(const ErdmaRemote *r)
{
    return r->in_active && erdma_op_pulls(r->in.opcode) &&
           r->in_done < r->read_limit;
}

bool erdma_resp_run(ErdmaRemote *r, ErdmaBudget *b)
{
    ErdmaQp *qp = r->qp;
    WireMsg m;

    if (can_go_on(r)) {
        execute(r, NULL, b);
    }
    while (qp->remote == r && r->wire && !r->in_active &&
           backlog_first(&r->backlog, &m)) {
        WirePayload p;

        erdma_payload_parse(&m, &p);
        if (!b->steps || !b->bytes || (b->whole && p.cost > b->bytes)) {
            return true;
        }
        b->steps--;
        if (begin(r, &m, &p, b) == ERDMA_STEP_HOLD) {
            return false;
        }
        if (qp->remote == r) {
            backlog_pop(r, m.len);
        }
    }
    return qp->remote == r && r->wire && can_go_on(r);
}
