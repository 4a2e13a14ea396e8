/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A wire whose other end is the test: making one, the messages of a good peer,
 * and the states in which a bad one may say something.
 */
#include <stdlib.h>

#include "lab.h"

uint8_t lab_junk[70000];

void lab_feed(Lab *l, const void *msg, size_t len)
{
    wire_end_feed(l->e, msg, len);
    wire_end_deliver(l->e);
}

/* Next message that was said; its type, 0: none */
unsigned lab_heard(Lab *l, void *msg, size_t len)
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

WireHello lab_hello(void)
{
    return (WireHello) {
        .h = LAB_HDR(WIRE_HELLO, sizeof(WireHello), 0, 0),
        .magic = htole64(ERDMA_WIRE_MAGIC),
        .version = htole32(ERDMA_WIRE_VERSION),
        .window = htole32(WIRE_WINDOW),
        .window_bytes = htole32(WIRE_WINDOW_BYTES),
        .message_max = htole32(ERDMA_WIRE_MESSAGE_MAX),
    };
}

/* @hello: say it */
Lab *lab_new(bool hello)
{
    Lab *l = calloc(1, sizeof(*l));
    WireHello h = lab_hello(), theirs;

    l->s = scene_new_wired(WIRE_MODE_OFF, 65536, false, NULL);
    l->e = &l->pair.end[0];
    l->out = &l->pair.end[1];
    l->e->other = l->out;
    l->e->other_host = l->s->b->h;
    l->e->wire = erdma_wire_new(l->s->bed.fabric, &fake_wire_ops, l->e);
    CHECK(l->e->wire);
    CHECK_EQ(lab_heard(l, &theirs, sizeof(theirs)), WIRE_HELLO);
    CHECK(!memcmp(&theirs, &h, sizeof(h)));
    if (hello) {
        lab_feed(l, &h, sizeof(h));
        CHECK(!l->e->broken);
    }
    return l;
}

void lab_free(Lab *l)
{
    wire_pair_free(&l->pair);
    scene_free(l->s);
    free(l);
}

/* The QP becomes RTS and the test takes the part of its peer */
WireOffer lab_mirror(const WireOffer *o)
{
    WireOffer m = {
        .h = LAB_HDR(WIRE_OFFER, sizeof(m), LAB_ID, LAB_GEN),
        .sip = o->dip, .dip = o->sip, .sport = o->dport, .dport = o->sport,
        .cookie = o->peer_cookie, .peer_cookie = o->cookie,
        .send_nxt = o->recv_nxt, .recv_nxt = o->send_nxt,
    };

    return m;
}

WireOffer lab_offered(Lab *l)
{
    WireOffer o;

    CHECK_EQ(qp_rts(&l->s->aqp, &l->s->bqp, 7, true), 0);
    CHECK_EQ(lab_heard(l, &o, sizeof(o)), WIRE_OFFER);
    l->id = le32toh(o.h.id);
    l->gen = le32toh(o.h.gen);
    return o;
}

Lab *lab_connected(void)
{
    Lab *l = lab_new(true);
    WireOffer o = lab_offered(l), m = lab_mirror(&o);
    WireAccept a;

    lab_feed(l, &m, sizeof(m));
    CHECK_EQ(lab_heard(l, &a, sizeof(a)), WIRE_ACCEPT);
    CHECK_EQ(le32toh(a.h.id), LAB_ID);
    CHECK_EQ(le32toh(a.h.gen), LAB_GEN);
    CHECK_EQ(le32toh(a.id), l->id);
    CHECK_EQ(le32toh(a.gen), l->gen);
    return l;
}

/* ---- messages of a good peer, made by hand ---- */

WireRequest lab_request(Lab *l, uint32_t seq, uint8_t opcode, uint64_t len)
{
    return (WireRequest) {
        .h = LAB_HDR(WIRE_REQUEST, sizeof(WireRequest), l->id, l->gen),
        .seq = htole32(seq), .opcode = opcode, .length = htole64(len),
        .rkey = htole32(l->s->akey), .rva = htole64(l->s->abuf),
    };
}

WireValue lab_value(Lab *l, uint8_t type, uint32_t seq, uint64_t v)
{
    return (WireValue) {
        .h = LAB_HDR(type, sizeof(WireValue), l->id, l->gen),
        .seq = htole32(seq), .value = htole64(v),
    };
}

WireAck lab_ack(Lab *l, uint8_t type, uint32_t seq, uint32_t syndrome)
{
    return (WireAck) {
        .h = LAB_HDR(type, sizeof(WireAck), l->id, l->gen),
        .seq = htole32(seq), .syndrome = htole32(syndrome),
    };
}

/* @msg with payload behind it */
void lab_feed_with(Lab *l, void *msg, size_t fixed, uint8_t kind,
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
    lab_feed(l, all, fixed + len);
    free(all);
}

/* ---- states to be in ---- */

/* Requests of the QP under test */
static void sends(Lab *l, uint8_t opcode, uint32_t len)
{
    Wr wr = scene_write(l->s, 0, 0, len);
    WireRequest r;

    wr.opcode = opcode;
    qp_send(&l->s->aqp, &wr);
    CHECK_EQ(lab_heard(l, &r, sizeof(r)), WIRE_REQUEST);
    CHECK_EQ(r.opcode, opcode);
    CHECK_EQ(le64toh(r.length), len);
}

/* Nothing is under way */
void lab_idle(Lab *l)
{
    (void)l;
}

void lab_wrote(Lab *l)
{
    sends(l, ERDMA_OP_WRITE, 64);
}

void lab_reads(Lab *l)
{
    sends(l, ERDMA_OP_READ, 64);
}

void lab_atomic(Lab *l)
{
    sends(l, ERDMA_OP_ATOMIC_FAA, 8);
}

/* It waits for credit */
void lab_pushes(Lab *l)
{
    sends(l, ERDMA_OP_WRITE, LAB_LONG / 4);
}

/* It gave credit */
void lab_read_asked(Lab *l)
{
    WireValue v = lab_value(l, WIRE_READ_DATA, 0, 0);

    sends(l, ERDMA_OP_READ, LAB_LONG / 4);
    lab_feed(l, &v, sizeof(v));
    CHECK_EQ(lab_heard(l, &v, sizeof(v)), WIRE_READ_CREDIT);
    CHECK_EQ(le64toh(v.value), LAB_LONG / 4);
}

/* Requests to the QP under test: it gave credit */
void lab_pushed(Lab *l)
{
    WireRequest r = lab_request(l, 0, ERDMA_OP_WRITE, LAB_LONG / 4);
    WireValue v;

    lab_feed(l, &r, sizeof(r));
    CHECK_EQ(lab_heard(l, &v, sizeof(v)), WIRE_PUSH_CREDIT);
    CHECK_EQ(le64toh(v.value), LAB_LONG / 4);
}

/* It waits for credit */
void lab_read_from(Lab *l)
{
    WireRequest r = lab_request(l, 0, ERDMA_OP_READ, LAB_LONG / 4);
    WireValue v;

    lab_feed(l, &r, sizeof(r));
    CHECK_EQ(lab_heard(l, &v, sizeof(v)), WIRE_READ_DATA);
    CHECK_EQ(le32toh(v.h.len), sizeof(v));
}

void lab_done(Lab *l, uint8_t syndrome)
{
    CHECK(!l->e->broken);
    CHECK_EQ(cq_expect(&l->s->acq).syndrome, syndrome);
}

/* ---- saying something, good or bad ---- */

void lab_say_request(Lab *l, WireRequest r)
{
    lab_feed(l, &r, sizeof(r));
}

void lab_say_payload(Lab *l, WireRequest r, uint8_t kind, const void *data,
                     size_t len)
{
    lab_feed_with(l, &r, sizeof(r), kind, data, len);
}

void lab_say_value(Lab *l, uint8_t type, uint32_t seq, uint64_t v)
{
    WireValue m = lab_value(l, type, seq, v);

    lab_feed(l, &m, sizeof(m));
}

void lab_say_data(Lab *l, uint8_t type, uint32_t seq, uint64_t offset,
                  size_t len)
{
    WireValue m = lab_value(l, type, seq, offset);

    lab_feed_with(l, &m, sizeof(m), len ? WIRE_BYTES : WIRE_NONE,
                  lab_junk, len);
}

void lab_say_ack(Lab *l, uint8_t type, uint32_t seq, uint32_t syndrome)
{
    WireAck m = lab_ack(l, type, seq, syndrome);

    lab_feed(l, &m, sizeof(m));
}
