/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A wire: life, framing, dispatch.
 *
 * Fields are copied out of the input once, each is checked, and ids only lead
 * through a table to connections of this very wire. What a peer cannot have
 * meant breaks the wire.
 */
#include <stdlib.h>

#include "wire_int.h"

/* Work of one input; the rest is offered again */
#define INPUT_BYTES     (4ull << 20)
#define INPUT_MESSAGES  1024u

/* ---- out ---- */

/* The other process says nothing any more, also not that its QPs have gone */
static void lose_all(ErdmaWire *w)
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

void erdma_wire_break(ErdmaWire *w, const char *why)
{
    if (w->broken) {
        return;
    }
    w->broken = true;
    lose_all(w);
    if (w->ops->broken) {
        w->ops->broken(w->opaque, why);
    }
}

static bool wire_send(ErdmaWire *w, const void *data, size_t len, bool later)
{
    if (!w->broken && !w->ops->send(w->opaque, data, len, later)) {
        erdma_wire_break(w, "the other end does not read");
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

static bool say_hello(ErdmaWire *w)
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

    return erdma_wire_send(w, &hello, sizeof(hello));
}

/* ---- in ---- */

/* Size of the fixed part; *@more: payload may follow */
static uint32_t fixed_size(unsigned type, bool *more)
{
    *more = false;
    switch (type) {
    case WIRE_HELLO:
        return sizeof(WireHello);
    case WIRE_OFFER:
        return sizeof(WireOffer);
    case WIRE_ACCEPT:
        return sizeof(WireAccept);
    case WIRE_CLOSE:
        return sizeof(WireHdr);
    case WIRE_REQUEST:
        *more = true;
        return sizeof(WireRequest);
    case WIRE_PUSH_DATA:
    case WIRE_READ_DATA:
        *more = true;
        return sizeof(WireValue);
    case WIRE_PUSH_CREDIT:
    case WIRE_READ_CREDIT:
    case WIRE_ATOMIC:
        return sizeof(WireValue);
    case WIRE_ACK:
    case WIRE_NAK:
        return sizeof(WireAck);
    default:
        return 0;
    }
}

static const char *on_hello(ErdmaWire *w, const WireMsg *m)
{
    WireHello hello;

    memcpy(&hello, m->data, sizeof(hello));
    if (w->hello) {
        return "second hello";
    }
    if (le64toh(hello.magic) != ERDMA_WIRE_MAGIC) {
        return "not a card's wire";
    }
    if (le32toh(hello.version) != ERDMA_WIRE_VERSION) {
        return "another version of the wire";
    }
    w->window = le32toh(hello.window);
    w->window_bytes = le32toh(hello.window_bytes);
    w->alive_len = le32toh(hello.alive_len);
    w->alive_region = le32toh(hello.alive_region);
    if (!w->window || w->window_bytes < WIRE_REQUEST_MAX ||
        le32toh(hello.message_max) < ERDMA_WIRE_MESSAGE_MAX) {
        return "limits of the hello";
    }
    if (w->window > WIRE_WINDOW) {
        w->window = WIRE_WINDOW;
    }
    w->hello = true;
    erdma_remote_offer_all(w);
    return NULL;
}

static const char *on_value(ErdmaRemote *r, const WireMsg *m, ErdmaBudget *b)
{
    WireValue v;

    memcpy(&v, m->data, sizeof(v));
    if (v.zero) {
        return "field that must be 0";
    }
    switch (m->h.type) {
    case WIRE_PUSH_DATA:
        return erdma_resp_on_data(r, &v, m, b);
    case WIRE_PUSH_CREDIT:
        return erdma_req_on_credit(r, &v, b);
    case WIRE_READ_DATA:
        return erdma_req_on_data(r, &v, m, b);
    case WIRE_READ_CREDIT:
        return erdma_resp_on_credit(r, &v, b);
    default:
        return erdma_req_on_atomic(r, &v);
    }
}

static const char *on_ack(ErdmaRemote *r, const WireMsg *m)
{
    WireAck ack;

    memcpy(&ack, m->data, sizeof(ack));
    return m->h.type == WIRE_ACK ? erdma_req_on_ack(r, &ack) :
                                   erdma_req_on_nak(r, &ack);
}

/* A message for a connection */
static const char *on_remote(ErdmaWire *w, const WireMsg *m, ErdmaBudget *b)
{
    ErdmaRemote *r = erdma_remote_find(w, &m->h);

    if (!r) {
        return NULL;            /* stale */
    }
    switch (m->h.type) {
    case WIRE_CLOSE:
        erdma_remote_lose(r);
        return NULL;
    case WIRE_REQUEST:
        return erdma_resp_on_request(r, m, b);
    case WIRE_ACK:
    case WIRE_NAK:
        return on_ack(r, m);
    default:
        return on_value(r, m, b);
    }
}

static const char *dispatch(ErdmaWire *w, WireMsg *m, ErdmaBudget *b)
{
    bool more;

    m->fixed = fixed_size(m->h.type, &more);
    if (!m->fixed) {
        return "type of message";
    }
    if (m->len < m->fixed || (m->len > m->fixed && !more)) {
        return "size of message";
    }
    if (m->h.zero || (m->h.kind && !more)) {
        return "field that must be 0";
    }
    if (!w->hello && m->h.type != WIRE_HELLO) {
        return "no hello";
    }
    switch (m->h.type) {
    case WIRE_HELLO:
        return on_hello(w, m);
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
        return on_remote(w, m, b);
    }
}

/* Is a whole message there? Malformed lengths break the wire. */
static bool next_message(ErdmaWire *w, const uint8_t *data, size_t len,
                         WireMsg *m)
{
    if (w->broken || len < sizeof(m->h)) {
        return false;
    }
    memcpy(&m->h, data, sizeof(m->h));
    m->data = data;
    m->len = le32toh(m->h.len);
    if (m->len < sizeof(m->h) || m->len > ERDMA_WIRE_MESSAGE_MAX) {
        erdma_wire_break(w, "length of message");
        return false;
    }
    return m->len <= len;
}

/* All are told; those go on at once for which there is budget */
static void do_todo(ErdmaWire *w)
{
    ErdmaBudget b = { .bytes = INPUT_BYTES, .steps = INPUT_MESSAGES };
    ErdmaLink *link;

    while ((link = erdma_list_first(&w->todo))) {
        erdma_list_del(link);
        erdma_remote_todo(ERDMA_ENTRY(link, ErdmaRemote, todo_link), &b);
    }
}

size_t erdma_wire_input(ErdmaWire *w, const void *data, size_t len,
                        bool *again)
{
    ErdmaBudget b = { .bytes = INPUT_BYTES, .steps = INPUT_MESSAGES };
    const uint8_t *p = data;
    size_t used = 0;
    WireMsg m;

    *again = false;
    erdma_sched_enter(w->fabric);
    while (next_message(w, p + used, len - used, &m)) {
        const char *wrong;

        if (!b.steps || !b.bytes) {
            *again = true;
            break;
        }
        b.steps--;
        wrong = dispatch(w, &m, &b);
        used += m.len;
        if (wrong) {
            erdma_wire_break(w, wrong);
        }
    }
    do_todo(w);
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
    erdma_list_init(&w->askers);
    erdma_list_add_tail(&f->wires, &w->link);
    say_hello(w);
    return w;
}

void erdma_wire_settle(ErdmaWire *w)
{
    ErdmaLink *link;

    while ((link = erdma_list_first(&w->lingering))) {
        erdma_list_del(link);
        erdma_resp_settle(ERDMA_ENTRY(link, ErdmaRemote, linger_link));
    }
}

void erdma_wire_free(ErdmaWire *w)
{
    if (!w) {
        return;
    }
    w->broken = true;           /* nothing is sent any more */
    lose_all(w);
    erdma_list_del(&w->link);
    free(w);
}
