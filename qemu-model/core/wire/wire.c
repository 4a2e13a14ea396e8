/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A wire: life, framing, dispatch.
 *
 * Fields are copied out of the input once, each is checked, and ids only lead
 * through a table to connections of this very wire. What a peer that follows
 * the format cannot send breaks the wire.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "wire_int.h"

/* Work of one input; the rest is offered again */
#define WIRE_INPUT_BYTES    (4ull << 20)
#define WIRE_INPUT_MESSAGES 1024u

/* ---- out ---- */

/* The other process sends nothing any more, no CLOSE of its QPs either */
static void wire_lose_all(ErdmaWire *w)
{
    ErdmaLink *link;

    while ((link = erdma_list_first(&w->remotes))) {
        ErdmaRemote *r = ERDMA_ENTRY(link, ErdmaRemote, wire_link);
        ErdmaQp *qp = r->qp;

        erdma_remote_lose(r);
        if (qp) {
            erdma_qp_peer_lost(qp);
        }
    }
}

const char *erdma_wire_wrong(ErdmaWire *w, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(w->why, sizeof(w->why), fmt, ap);
    va_end(ap);
    return w->why;
}

void erdma_wire_break(ErdmaWire *w, const char *why)
{
    if (w->broken) {
        return;
    }
    w->broken = true;
    wire_lose_all(w);
    if (w->ops->broken) {
        w->ops->broken(w->opaque, why);
    }
}

static bool wire_send(ErdmaWire *w, const void *data, size_t len, bool later)
{
    if (!w->broken && !w->ops->send(w->opaque, data, len, later)) {
        erdma_wire_break(w, "the other end does not read what is sent");
    }
    return !w->broken;
}

bool erdma_wire_send(ErdmaWire *w, const void *data, size_t len)
{
    return wire_send(w, data, len, false);
}

bool erdma_wire_send_later(ErdmaWire *w, const void *data, size_t len)
{
    return wire_send(w, data, len, true);
}

void erdma_wire_todo(ErdmaRemote *r)
{
    if (!erdma_link_used(&r->todo_link)) {
        erdma_list_add_tail(&r->wire->todo, &r->todo_link);
    }
}

static void wire_send_hello(ErdmaWire *w)
{
    WireHello hello = {
        .h = WIRE_HDR(WIRE_HELLO, sizeof(hello), 0, 0),
        .magic = htole64(ERDMA_WIRE_MAGIC),
        .version = htole32(ERDMA_WIRE_VERSION),
        .window = htole32(WIRE_WINDOW),
        .window_bytes = htole32(WIRE_WINDOW_BYTES),
        .message_max = htole32(ERDMA_WIRE_MESSAGE_MAX),
        .alive_len = htole32(w->fabric->alive_slots * sizeof(uint32_t)),
        .alive_region = htole32(w->fabric->alive_region),
    };

    erdma_wire_send(w, &hello, sizeof(hello));
}

/* ---- in ---- */

typedef struct WireFormat {
    const char *name;
    uint8_t fixed;              /* bytes before the payload */
    bool more;                  /* payload may follow */
} WireFormat;

static const WireFormat wire_format[WIRE_TYPES] = {
    [WIRE_HELLO] = { "HELLO", sizeof(WireHello), false },
    [WIRE_OFFER] = { "OFFER", sizeof(WireOffer), false },
    [WIRE_ACCEPT] = { "ACCEPT", sizeof(WireAccept), false },
    [WIRE_CLOSE] = { "CLOSE", sizeof(WireHdr), false },
    [WIRE_REQUEST] = { "REQUEST", sizeof(WireRequest), true },
    [WIRE_PUSH_DATA] = { "PUSH_DATA", sizeof(WireValue), true },
    [WIRE_PUSH_CREDIT] = { "PUSH_CREDIT", sizeof(WireValue), false },
    [WIRE_READ_DATA] = { "READ_DATA", sizeof(WireValue), true },
    [WIRE_READ_CREDIT] = { "READ_CREDIT", sizeof(WireValue), false },
    [WIRE_ATOMIC] = { "ATOMIC", sizeof(WireValue), false },
    [WIRE_ACK] = { "ACK", sizeof(WireAck), false },
    [WIRE_NAK] = { "NAK", sizeof(WireAck), false },
};

static const char *wire_check_limits(ErdmaWire *w, const WireHello *hello)
{
    uint32_t message_max = le32toh(hello->message_max);

    if (!w->window || w->window_bytes < WIRE_REQUEST_MAX ||
        message_max < ERDMA_WIRE_MESSAGE_MAX) {
        return erdma_wire_wrong(w, "HELLO: limits are %u requests, %u bytes "
                                "and messages of %u, expected at least 1, %zu "
                                "and %u", w->window, w->window_bytes,
                                message_max, WIRE_REQUEST_MAX,
                                ERDMA_WIRE_MESSAGE_MAX);
    }
    return NULL;
}

static const char *wire_on_hello(ErdmaWire *w, const WireMsg *m)
{
    WireHello hello;
    const char *wrong;

    memcpy(&hello, m->data, sizeof(hello));
    if (w->hello) {
        return erdma_wire_wrong(w, "second HELLO, expected one");
    }
    if (le64toh(hello.magic) != ERDMA_WIRE_MAGIC) {
        return erdma_wire_wrong(w, "HELLO: magic is 0x%llx, expected 0x%llx",
                                (unsigned long long)le64toh(hello.magic),
                                ERDMA_WIRE_MAGIC);
    }
    if (le32toh(hello.version) != ERDMA_WIRE_VERSION) {
        return erdma_wire_wrong(w, "HELLO: version is %u, expected %u",
                                le32toh(hello.version), ERDMA_WIRE_VERSION);
    }
    w->window = le32toh(hello.window);
    w->window_bytes = le32toh(hello.window_bytes);
    w->alive_len = le32toh(hello.alive_len);
    w->alive_region = le32toh(hello.alive_region);
    wrong = wire_check_limits(w, &hello);
    if (wrong) {
        return wrong;
    }
    if (w->window > WIRE_WINDOW) {
        w->window = WIRE_WINDOW;
    }
    w->hello = true;
    erdma_remote_offer_all(w);
    return NULL;
}

static const char *wire_on_value(ErdmaRemote *r, const WireMsg *m,
                                 ErdmaBudget *b)
{
    WireValue v;

    memcpy(&v, m->data, sizeof(v));
    if (v.zero) {
        return erdma_wire_wrong(r->wire, "%s: reserved field is 0x%x, expected "
                                "0", wire_format[m->h.type].name,
                                le32toh(v.zero));
    }
    switch (m->h.type) {
    case WIRE_PUSH_DATA:
        return erdma_responder_on_data(r, &v, m, b);
    case WIRE_PUSH_CREDIT:
        return erdma_requester_on_credit(r, &v, b);
    case WIRE_READ_DATA:
        return erdma_requester_on_data(r, &v, m, b);
    case WIRE_READ_CREDIT:
        return erdma_responder_on_credit(r, &v, b);
    default:
        return erdma_requester_on_atomic(r, &v);
    }
}

static const char *wire_on_ack(ErdmaRemote *r, const WireMsg *m)
{
    WireAck ack;

    memcpy(&ack, m->data, sizeof(ack));
    return m->h.type == WIRE_ACK ? erdma_requester_on_ack(r, &ack) :
                                   erdma_requester_on_nak(r, &ack);
}

/* A message for a connection */
static const char *wire_on_remote(ErdmaWire *w, const WireMsg *m,
                                  ErdmaBudget *b)
{
    ErdmaRemote *r = erdma_id_target(w, &m->h);
    const char *wrong = NULL;

    if (!r) {
        return NULL;            /* stale */
    }
    erdma_remote_get(r);
    switch (m->h.type) {
    case WIRE_CLOSE:
        erdma_remote_lose(r);
        break;
    case WIRE_REQUEST:
        wrong = erdma_responder_on_request(r, m, b);
        break;
    case WIRE_ACK:
    case WIRE_NAK:
        wrong = wire_on_ack(r, m);
        break;
    default:
        wrong = wire_on_value(r, m, b);
        break;
    }
    erdma_remote_put(r);
    return wrong;
}

/* Type, size and reserved fields of the header; sets m->fixed */
static const char *wire_check_header(ErdmaWire *w, WireMsg *m)
{
    const WireFormat *f;

    if (!m->h.type || m->h.type >= WIRE_TYPES) {
        return erdma_wire_wrong(w, "type of message is %u, expected 1..%u",
                                m->h.type, WIRE_TYPES - 1);
    }
    f = &wire_format[m->h.type];
    m->fixed = f->fixed;
    if (m->len < m->fixed || (m->len > m->fixed && !f->more)) {
        return erdma_wire_wrong(w, "%s: size of message is %u, expected %s%u",
                                f->name, m->len, f->more ? "at least " : "",
                                m->fixed);
    }
    if (m->h.zero || (m->h.kind && !f->more)) {
        return erdma_wire_wrong(w, "%s: kind is %u and reserved field 0x%x, "
                                "expected 0", f->name, m->h.kind,
                                le16toh(m->h.zero));
    }
    if (!w->hello && m->h.type != WIRE_HELLO) {
        return erdma_wire_wrong(w, "first message is %s, expected HELLO",
                                f->name);
    }
    return NULL;
}

/* NULL, or what breaks the wire */
static const char *wire_dispatch(ErdmaWire *w, WireMsg *m, ErdmaBudget *b)
{
    const char *wrong = wire_check_header(w, m);

    if (wrong) {
        return wrong;
    }
    switch (m->h.type) {
    case WIRE_HELLO:
        return wire_on_hello(w, m);
    case WIRE_OFFER: {
        WireOffer offer;

        memcpy(&offer, m->data, sizeof(offer));
        erdma_remote_on_offer(w, &offer);
        return NULL;
    }
    case WIRE_ACCEPT: {
        WireAccept accept;

        memcpy(&accept, m->data, sizeof(accept));
        erdma_remote_on_accept(w, &accept);
        return NULL;
    }
    default:
        return wire_on_remote(w, m, b);
    }
}

/* Is a whole message there? Malformed lengths break the wire. */
static bool wire_next(ErdmaWire *w, const uint8_t *data, size_t len,
                      WireMsg *m)
{
    if (w->broken || len < sizeof(m->h)) {
        return false;
    }
    memcpy(&m->h, data, sizeof(m->h));
    m->data = data;
    m->len = le32toh(m->h.len);
    if (m->len < sizeof(m->h) || m->len > ERDMA_WIRE_MESSAGE_MAX) {
        erdma_wire_break(w, erdma_wire_wrong(w, "length of message is %u, "
                                             "expected %zu..%u", m->len,
                                             sizeof(m->h),
                                             ERDMA_WIRE_MESSAGE_MAX));
        return false;
    }
    return m->len <= len;
}

/* All send their ACKs; those go on at once for which there is budget */
static void wire_do_todo(ErdmaWire *w)
{
    ErdmaBudget b = { .bytes = WIRE_INPUT_BYTES, .steps = WIRE_INPUT_MESSAGES };
    ErdmaLink *link;

    while ((link = erdma_list_first(&w->todo))) {
        ErdmaRemote *r = ERDMA_ENTRY(link, ErdmaRemote, todo_link);

        erdma_list_del(link);
        erdma_remote_get(r);
        erdma_remote_todo(r, &b);
        erdma_remote_put(r);
    }
}

size_t erdma_wire_input(ErdmaWire *w, const void *data, size_t len,
                        bool *again)
{
    ErdmaBudget b = { .bytes = WIRE_INPUT_BYTES, .steps = WIRE_INPUT_MESSAGES };
    const uint8_t *p = data;
    size_t used = 0;
    WireMsg m;

    *again = false;
    erdma_sched_enter(w->fabric);
    while (wire_next(w, p + used, len - used, &m)) {
        const char *wrong;

        if (!b.steps || !b.bytes) {
            *again = true;
            break;
        }
        b.steps--;
        wrong = wire_dispatch(w, &m, &b);
        used += m.len;
        if (wrong) {
            erdma_wire_break(w, wrong);
        }
    }
    wire_do_todo(w);
    return w->broken ? len : used;
}

/* ---- life ---- */

ErdmaWire *erdma_wire_new(ErdmaFabric *f, const ErdmaWireOps *ops,
                          void *opaque)
{
    ErdmaWire *w;

    f->remote_ops = &erdma_remote_ops;
    if (!f->scratch) {
        f->scratch = calloc(1, ERDMA_WIRE_MESSAGE_MAX);
    }
    w = f->scratch ? calloc(1, sizeof(*w)) : NULL;
    if (!w) {
        return NULL;
    }
    w->fabric = f;
    w->ops = ops;
    w->opaque = opaque;
    erdma_list_init(&w->remotes);
    erdma_list_init(&w->todo);
    erdma_list_init(&w->lingering);
    erdma_list_init(&w->credit_waiters);
    erdma_list_add_tail(&f->wires, &w->link);
    wire_send_hello(w);
    return w;
}

void erdma_wire_settle(ErdmaWire *w)
{
    ErdmaLink *link;

    while ((link = erdma_list_first(&w->lingering))) {
        ErdmaRemote *r = ERDMA_ENTRY(link, ErdmaRemote, linger_link);

        erdma_list_del(link);
        erdma_remote_get(r);
        erdma_ack_linger_over(r);
        erdma_remote_put(r);
    }
}

void erdma_wire_free(ErdmaWire *w)
{
    if (!w) {
        return;
    }
    w->broken = true;           /* nothing is sent any more */
    wire_lose_all(w);
    erdma_list_del(&w->link);
    free(w);
}
