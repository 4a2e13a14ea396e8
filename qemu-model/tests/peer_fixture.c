/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A wire whose other end is the test: making one, the messages of a good peer,
 * and the states in which a bad one may say something.
 */
#include <stdlib.h>

#include "peer_fixture.h"

uint8_t peer_junk[70000];

void peer_feed(PeerFixture *l, const void *msg, size_t len)
{
    wire_end_feed(l->e, msg, len);
    wire_end_deliver(l->e);
}

/* Next message that was said; its type, 0: none */
unsigned peer_receive(PeerFixture *l, void *msg, size_t len)
{
    WireHdr h;
    size_t n;

    if (l->out->len < sizeof(h)) {
        return 0;
    }
    memcpy(&h, l->out->buf, sizeof(h));
    n = le32toh(h.len);
    CHECK(n >= sizeof(h) && n <= l->out->len);
    if (msg) {
        memset(msg, 0, len);
        memcpy(msg, l->out->buf, n < len ? n : len);
    }
    memmove(l->out->buf, l->out->buf + n, l->out->len - n);
    l->out->len -= n;
    return h.type;
}

WireHello peer_hello(void)
{
    return (WireHello) {
        .h = PEER_HDR(WIRE_HELLO, sizeof(WireHello), 0, 0),
        .magic = htole64(ERDMA_WIRE_MAGIC),
        .version = htole32(ERDMA_WIRE_VERSION),
        .window = htole32(WIRE_WINDOW),
        .window_bytes = htole32(WIRE_WINDOW_BYTES),
        .message_max = htole32(ERDMA_WIRE_MESSAGE_MAX),
    };
}

/* @hello: say it */
PeerFixture *peer_new(bool hello)
{
    PeerFixture *l = calloc(1, sizeof(*l));
    WireHello h = peer_hello(), theirs;

    l->s = fixture_new_wired(WIRE_MODE_OFF, 65536, false, NULL);
    l->e = &l->pair.end[0];
    l->out = &l->pair.end[1];
    l->e->other = l->out;
    l->e->other_host = l->s->b->h;
    l->e->wire = erdma_wire_new(l->s->hosts.fabric, &fake_wire_ops, l->e);
    CHECK(l->e->wire);
    CHECK_EQ(peer_receive(l, &theirs, sizeof(theirs)), WIRE_HELLO);
    CHECK(!memcmp(&theirs, &h, sizeof(h)));
    if (hello) {
        peer_feed(l, &h, sizeof(h));
        CHECK(!l->e->broken);
    }
    return l;
}

void peer_free(PeerFixture *l)
{
    wire_pair_free(&l->pair);
    fixture_free(l->s);
    free(l);
}

/* The QP becomes RTS and the test takes the part of its peer */
WireOffer peer_mirror(const WireOffer *o)
{
    WireOffer m = {
        .h = PEER_HDR(WIRE_OFFER, sizeof(m), PEER_ID, PEER_GEN),
        .sip = o->dip, .dip = o->sip, .sport = o->dport, .dport = o->sport,
        .cookie = o->peer_cookie, .peer_cookie = o->cookie,
        .send_nxt = o->recv_nxt, .recv_nxt = o->send_nxt,
    };

    return m;
}

WireOffer peer_offered(PeerFixture *l)
{
    WireOffer o;

    CHECK_EQ(qp_rts(&l->s->aqp, &l->s->bqp, 7, true), 0);
    CHECK_EQ(peer_receive(l, &o, sizeof(o)), WIRE_OFFER);
    l->id = le32toh(o.h.id);
    l->gen = le32toh(o.h.gen);
    return o;
}

PeerFixture *peer_connected(void)
{
    PeerFixture *l = peer_new(true);
    WireOffer o = peer_offered(l), m = peer_mirror(&o);
    WireAccept a;

    peer_feed(l, &m, sizeof(m));
    CHECK_EQ(peer_receive(l, &a, sizeof(a)), WIRE_ACCEPT);
    CHECK_EQ(le32toh(a.h.id), PEER_ID);
    CHECK_EQ(le32toh(a.h.gen), PEER_GEN);
    CHECK_EQ(le32toh(a.id), l->id);
    CHECK_EQ(le32toh(a.gen), l->gen);
    return l;
}

/* ---- messages of a good peer, made by hand ---- */

WireRequest peer_request(PeerFixture *l, uint32_t seq, uint8_t opcode,
                         uint64_t len)
{
    return (WireRequest) {
        .h = PEER_HDR(WIRE_REQUEST, sizeof(WireRequest), l->id, l->gen),
        .seq = htole32(seq), .opcode = opcode, .length = htole64(len),
        .rkey = htole32(l->s->akey), .rva = htole64(l->s->abuf),
    };
}

WireValue peer_value(PeerFixture *l, uint8_t type, uint32_t seq, uint64_t v)
{
    return (WireValue) {
        .h = PEER_HDR(type, sizeof(WireValue), l->id, l->gen),
        .seq = htole32(seq), .value = htole64(v),
    };
}

WireAck peer_ack(PeerFixture *l, uint8_t type, uint32_t seq, uint32_t syndrome)
{
    return (WireAck) {
        .h = PEER_HDR(type, sizeof(WireAck), l->id, l->gen),
        .seq = htole32(seq), .syndrome = htole32(syndrome),
    };
}

/* @msg with payload behind it */
void peer_feed_with(PeerFixture *l, void *msg, size_t fixed, uint8_t kind,
                   const void *data, size_t len)
{
    uint8_t *all = malloc(fixed + len);
    WireHdr h;

    memcpy(&h, msg, sizeof(h));
    h.len = htole32(fixed + len);
    h.kind = kind;
    memcpy(all, msg, fixed);
    memcpy(all, &h, sizeof(h));
    if (len) {
        memcpy(all + fixed, data, len);
    }
    peer_feed(l, all, fixed + len);
    free(all);
}

/* ---- states to be in ---- */

/* Requests of the QP under test */
static void sends(PeerFixture *l, uint8_t opcode, uint32_t len)
{
    Wr wr = fixture_write(l->s, 0, 0, len);
    WireRequest r;

    wr.opcode = opcode;
    qp_send(&l->s->aqp, &wr);
    CHECK_EQ(peer_receive(l, &r, sizeof(r)), WIRE_REQUEST);
    CHECK_EQ(r.opcode, opcode);
    CHECK_EQ(le64toh(r.length), len);
}

/* Nothing is under way */
void peer_idle(PeerFixture *l)
{
    (void)l;
}

void peer_wrote(PeerFixture *l)
{
    sends(l, ERDMA_OP_WRITE, 64);
}

void peer_reads(PeerFixture *l)
{
    sends(l, ERDMA_OP_READ, 64);
}

void peer_atomic(PeerFixture *l)
{
    sends(l, ERDMA_OP_ATOMIC_FAA, 8);
}

/* It waits for credit */
void peer_pushes(PeerFixture *l)
{
    sends(l, ERDMA_OP_WRITE, PEER_LONG / 4);
}

/* It gave credit */
void peer_read_asked(PeerFixture *l)
{
    WireValue v = peer_value(l, WIRE_READ_DATA, 0, 0);

    sends(l, ERDMA_OP_READ, PEER_LONG / 4);
    peer_feed(l, &v, sizeof(v));
    CHECK_EQ(peer_receive(l, &v, sizeof(v)), WIRE_READ_CREDIT);
    CHECK_EQ(le64toh(v.value), PEER_LONG / 4);
}

/* Requests to the QP under test: it gave credit */
void peer_pushed(PeerFixture *l)
{
    WireRequest r = peer_request(l, 0, ERDMA_OP_WRITE, PEER_LONG / 4);
    WireValue v;

    peer_feed(l, &r, sizeof(r));
    CHECK_EQ(peer_receive(l, &v, sizeof(v)), WIRE_PUSH_CREDIT);
    CHECK_EQ(le64toh(v.value), PEER_LONG / 4);
}

/* It waits for credit */
void peer_read_from(PeerFixture *l)
{
    WireRequest r = peer_request(l, 0, ERDMA_OP_READ, PEER_LONG / 4);
    WireValue v;

    peer_feed(l, &r, sizeof(r));
    CHECK_EQ(peer_receive(l, &v, sizeof(v)), WIRE_READ_DATA);
    CHECK_EQ(le32toh(v.h.len), sizeof(v));
}

void peer_done(PeerFixture *l, uint8_t syndrome)
{
    CHECK(!l->e->broken);
    CHECK_EQ(cq_expect(&l->s->acq).syndrome, syndrome);
}

/* ---- saying something, good or bad ---- */

void peer_send_request(PeerFixture *l, WireRequest r)
{
    peer_feed(l, &r, sizeof(r));
}

void peer_send_payload(PeerFixture *l, WireRequest r, uint8_t kind,
                       const void *data, size_t len)
{
    peer_feed_with(l, &r, sizeof(r), kind, data, len);
}

void peer_send_value(PeerFixture *l, uint8_t type, uint32_t seq, uint64_t v)
{
    WireValue m = peer_value(l, type, seq, v);

    peer_feed(l, &m, sizeof(m));
}

void peer_send_data(PeerFixture *l, uint8_t type, uint32_t seq, uint64_t offset,
                  size_t len)
{
    WireValue m = peer_value(l, type, seq, offset);

    peer_feed_with(l, &m, sizeof(m), len ? WIRE_BYTES : WIRE_NONE,
                  peer_junk, len);
}

void peer_send_ack(PeerFixture *l, uint8_t type, uint32_t seq,
                   uint32_t syndrome)
{
    WireAck m = peer_ack(l, type, seq, syndrome);

    peer_feed(l, &m, sizeof(m));
}
