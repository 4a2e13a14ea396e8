/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A wire whose other end is the test: what a process may say, what it must not,
 * and that saying it costs its connections and nothing else.
 */
#include <stdlib.h>

#include "drv.h"
#include "wire_msg.h"

#define SECOND  1000000000ull
#define PUPPET_ID   77u         /* of the QP that the test plays */
#define PUPPET_GEN  5u

/* A card with one QP, and what its wire said */
typedef struct Lab {
    Scene *s;                   /* only its card a is used */
    WireEnd *e;                 /* where the test feeds */
    WireEnd *out;               /* what was said, as bytes */
    ErdmaFabric *fabric;
    WirePair pair;
    uint32_t id, gen;           /* of the QP under test */
} Lab;

static void feed(Lab *l, const void *msg, size_t len)
{
    wire_end_feed(l->e, msg, len);
    wire_end_deliver(l->e);
}

/* Next message that was said; its type, 0: none */
static unsigned heard(Lab *l, void *msg, size_t len)
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

#define HDR(type_, size_, id_, gen_) { \
    .len = htole32(size_), .type = (type_), .id = htole32(id_), \
    .gen = htole32(gen_) }

static WireHello good_hello(void)
{
    return (WireHello) {
        .h = HDR(WIRE_HELLO, sizeof(WireHello), 0, 0),
        .magic = htole64(ERDMA_WIRE_MAGIC),
        .version = htole32(ERDMA_WIRE_VERSION),
        .window = htole32(WIRE_WINDOW),
        .window_bytes = htole32(WIRE_WINDOW_BYTES),
        .message_max = htole32(ERDMA_WIRE_MESSAGE_MAX),
    };
}

/* @hello: say it */
static Lab *lab_new(bool hello)
{
    Lab *l = calloc(1, sizeof(*l));
    WireHello h = good_hello(), theirs;

    l->s = scene_new_wired(WIRE_MODE_OFF, 65536, false, NULL);
    l->e = &l->pair.end[0];
    l->out = &l->pair.end[1];
    l->e->other = l->out;
    l->e->other_host = l->s->b->h;
    l->e->wire = erdma_wire_new(l->s->bed.fabric, &fake_wire_ops, l->e);
    CHECK(l->e->wire);
    CHECK_EQ(heard(l, &theirs, sizeof(theirs)), WIRE_HELLO);
    CHECK(!memcmp(&theirs, &h, sizeof(h)));
    if (hello) {
        feed(l, &h, sizeof(h));
        CHECK(!l->e->broken);
    }
    return l;
}

static void lab_free(Lab *l)
{
    wire_pair_free(&l->pair);
    scene_free(l->s);
    free(l);
}

/* The QP becomes RTS and the test takes the part of its peer */
static WireOffer mirror(const WireOffer *o)
{
    WireOffer m = {
        .h = HDR(WIRE_OFFER, sizeof(m), PUPPET_ID, PUPPET_GEN),
        .sip = o->dip, .dip = o->sip, .sport = o->dport, .dport = o->sport,
        .cookie = o->peer_cookie, .peer_cookie = o->cookie,
        .send_nxt = o->recv_nxt, .recv_nxt = o->send_nxt,
    };

    return m;
}

static WireOffer offered(Lab *l)
{
    WireOffer o;

    CHECK_EQ(qp_rts(&l->s->aqp, &l->s->bqp, 7, true), 0);
    CHECK_EQ(heard(l, &o, sizeof(o)), WIRE_OFFER);
    l->id = le32toh(o.h.id);
    l->gen = le32toh(o.h.gen);
    return o;
}

static Lab *lab_connected(void)
{
    Lab *l = lab_new(true);
    WireOffer o = offered(l), m = mirror(&o);
    WireAccept a;

    feed(l, &m, sizeof(m));
    CHECK_EQ(heard(l, &a, sizeof(a)), WIRE_ACCEPT);
    CHECK_EQ(le32toh(a.h.id), PUPPET_ID);
    CHECK_EQ(le32toh(a.h.gen), PUPPET_GEN);
    CHECK_EQ(le32toh(a.id), l->id);
    CHECK_EQ(le32toh(a.gen), l->gen);
    return l;
}

/* ---- messages of a good peer, made by hand ---- */

static WireRequest request(Lab *l, uint32_t seq, uint8_t opcode, uint64_t len)
{
    return (WireRequest) {
        .h = HDR(WIRE_REQUEST, sizeof(WireRequest), l->id, l->gen),
        .seq = htole32(seq), .opcode = opcode, .length = htole64(len),
        .rkey = htole32(l->s->akey), .rva = htole64(l->s->abuf),
    };
}

static WireValue value(Lab *l, uint8_t type, uint32_t seq, uint64_t v)
{
    return (WireValue) {
        .h = HDR(type, sizeof(WireValue), l->id, l->gen),
        .seq = htole32(seq), .value = htole64(v),
    };
}

static WireAck ack(Lab *l, uint8_t type, uint32_t seq, uint32_t syndrome)
{
    return (WireAck) {
        .h = HDR(type, sizeof(WireAck), l->id, l->gen),
        .seq = htole32(seq), .syndrome = htole32(syndrome),
    };
}

/* @msg with payload behind it */
static void feed_with(Lab *l, void *msg, size_t fixed, uint8_t kind,
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
    feed(l, all, fixed + len);
    free(all);
}


/* ---- states to be in ---- */

#define LONG    200000u         /* not in one message without shared memory */

/* Requests of the QP under test */
static void sends(Lab *l, uint8_t opcode, uint32_t len)
{
    Wr wr = scene_write(l->s, 0, 0, len);
    WireRequest r;

    wr.opcode = opcode;
    qp_send(&l->s->aqp, &wr);
    CHECK_EQ(heard(l, &r, sizeof(r)), WIRE_REQUEST);
    CHECK_EQ(r.opcode, opcode);
    CHECK_EQ(le64toh(r.length), len);
}

/* Nothing is under way */
static void idle(Lab *l)
{
    (void)l;
}

static void wrote(Lab *l)
{
    sends(l, ERDMA_OP_WRITE, 64);
}

static void reads(Lab *l)
{
    sends(l, ERDMA_OP_READ, 64);
}

static void atomic(Lab *l)
{
    sends(l, ERDMA_OP_ATOMIC_FAA, 8);
}

/* It waits for credit */
static void pushes(Lab *l)
{
    sends(l, ERDMA_OP_WRITE, LONG / 4);
}

/* It gave credit */
static void read_asked(Lab *l)
{
    WireValue v = value(l, WIRE_READ_DATA, 0, 0);

    sends(l, ERDMA_OP_READ, LONG / 4);
    feed(l, &v, sizeof(v));
    CHECK_EQ(heard(l, &v, sizeof(v)), WIRE_READ_CREDIT);
    CHECK_EQ(le64toh(v.value), LONG / 4);
}

/* Requests to the QP under test: it gave credit */
static void pushed(Lab *l)
{
    WireRequest r = request(l, 0, ERDMA_OP_WRITE, LONG / 4);
    WireValue v;

    feed(l, &r, sizeof(r));
    CHECK_EQ(heard(l, &v, sizeof(v)), WIRE_PUSH_CREDIT);
    CHECK_EQ(le64toh(v.value), LONG / 4);
}

/* It waits for credit */
static void read_from(Lab *l)
{
    WireRequest r = request(l, 0, ERDMA_OP_READ, LONG / 4);
    WireValue v;

    feed(l, &r, sizeof(r));
    CHECK_EQ(heard(l, &v, sizeof(v)), WIRE_READ_DATA);
    CHECK_EQ(le32toh(v.h.len), sizeof(v));
}

/* ---- what a good peer says there: the states are what they seem ---- */

static uint8_t junk[70000];

static void done(Lab *l, uint8_t syndrome)
{
    CHECK(!l->e->broken);
    CHECK_EQ(cq_expect(&l->s->acq).syndrome, syndrome);
}

#define GOOD(name, state, body) \
    TEST_OWN_WIRES(name) \
    { \
        Lab *l = lab_connected(); \
        state(l); \
        body \
        lab_free(l); \
    }

GOOD(ack_ends_a_write, wrote, {
    WireAck a = ack(l, WIRE_ACK, 1, 0);
    feed(l, &a, sizeof(a));
    done(l, 0);
})

GOOD(nak_ends_a_write, wrote, {
    WireAck a = ack(l, WIRE_NAK, 0, ERDMA_WC_RECV_PD);
    feed(l, &a, sizeof(a));
    done(l, ERDMA_WC_RECV_PD);
    CHECK_EQ(heard(l, NULL, 0), WIRE_CLOSE);
})

GOOD(read_data_ends_a_read, reads, {
    WireValue v = value(l, WIRE_READ_DATA, 0, 0);
    feed_with(l, &v, sizeof(v), WIRE_BYTES, junk, 64);
    done(l, 0);
})

GOOD(old_value_ends_an_atomic, atomic, {
    WireValue v = value(l, WIRE_ATOMIC, 0, 0x1122);
    feed(l, &v, sizeof(v));
    done(l, 0);
    CHECK_EQ(*(uint64_t *)scene_a(l->s, 0), 0x1122);
})

GOOD(credit_brings_the_data_of_a_write, pushes, {
    WireValue v = value(l, WIRE_PUSH_CREDIT, 0, 1000);
    WireValue d;
    WireAck a = ack(l, WIRE_ACK, 1, 0);
    feed(l, &v, sizeof(v));
    CHECK_EQ(heard(l, &d, sizeof(d)), WIRE_PUSH_DATA);
    CHECK_EQ(le32toh(d.h.len), sizeof(d) + 1000);
    v = value(l, WIRE_PUSH_CREDIT, 0, LONG / 4);
    feed(l, &v, sizeof(v));
    CHECK_EQ(heard(l, &d, sizeof(d)), WIRE_PUSH_DATA);
    CHECK_EQ(le64toh(d.value), 1000);
    feed(l, &a, sizeof(a));
    done(l, 0);
})

GOOD(data_asked_for_ends_a_read, read_asked, {
    WireValue v = value(l, WIRE_READ_DATA, 0, 0);
    feed_with(l, &v, sizeof(v), WIRE_BYTES, junk, 20000);
    v = value(l, WIRE_READ_DATA, 0, 20000);
    feed_with(l, &v, sizeof(v), WIRE_BYTES, junk, LONG / 4 - 20000);
    done(l, 0);
})

GOOD(data_asked_for_ends_a_write_of_the_peer, pushed, {
    WireValue v = value(l, WIRE_PUSH_DATA, 0, 0);
    WireAck a;
    feed_with(l, &v, sizeof(v), WIRE_BYTES, junk, LONG / 4);
    CHECK_EQ(heard(l, &a, sizeof(a)), WIRE_ACK);
    CHECK_EQ(le32toh(a.seq), 1);
})

GOOD(credit_brings_the_data_of_a_read_of_the_peer, read_from, {
    WireValue v = value(l, WIRE_READ_CREDIT, 0, LONG / 4);
    feed(l, &v, sizeof(v));
    CHECK_EQ(heard(l, &v, sizeof(v)), WIRE_READ_DATA);
    CHECK_EQ(le32toh(v.h.len), sizeof(v) + LONG / 4);
    CHECK_EQ(heard(l, NULL, 0), 0);
})

GOOD(close_is_said_when_the_queue_pair_goes, idle, {
    WireHdr h;
    CHECK_EQ(qp_destroy(&l->s->aqp), 0);
    CHECK_EQ(heard(l, &h, sizeof(h)), WIRE_CLOSE);
    CHECK_EQ(le32toh(h.id), PUPPET_ID);
    CHECK_EQ(le32toh(h.gen), PUPPET_GEN);
})

GOOD(nothing_is_said_to_a_peer_that_closed, idle, {
    WireHdr h = HDR(WIRE_CLOSE, sizeof(h), l->id, l->gen);
    Wr wr = scene_send(l->s, 0, 8);
    feed(l, &h, sizeof(h));
    qp_send(&l->s->aqp, &wr);
    CHECK_EQ(qp_destroy(&l->s->aqp), 0);
    CHECK_EQ(heard(l, NULL, 0), 0);
    CHECK(!l->e->broken);
})

/* ---- what it must not say ---- */

typedef struct Bad {
    const char *name;
    void (*state)(Lab *l);
    void (*say)(Lab *l);
    const char *why;            /* part of the reason that is given */
} Bad;

static void say_request(Lab *l, WireRequest r)
{
    feed(l, &r, sizeof(r));
}

static void say_payload(Lab *l, WireRequest r, uint8_t kind, const void *data,
                        size_t len)
{
    feed_with(l, &r, sizeof(r), kind, data, len);
}

static void say_value(Lab *l, uint8_t type, uint32_t seq, uint64_t v)
{
    WireValue m = value(l, type, seq, v);

    feed(l, &m, sizeof(m));
}

static void say_data(Lab *l, uint8_t type, uint32_t seq, uint64_t offset,
                     size_t len)
{
    WireValue m = value(l, type, seq, offset);

    feed_with(l, &m, sizeof(m), len ? WIRE_BYTES : WIRE_NONE, junk, len);
}

static void say_ack(Lab *l, uint8_t type, uint32_t seq, uint32_t syndrome)
{
    WireAck m = ack(l, type, seq, syndrome);

    feed(l, &m, sizeof(m));
}

static void say_header(Lab *l, uint32_t len, uint8_t type, uint8_t kind,
                       uint16_t zero)
{
    uint8_t all[64] = { 0 };
    WireHdr h = HDR(type, len, l->id, l->gen);

    h.kind = kind;
    h.zero = htole16(zero);
    memcpy(all, &h, sizeof(h));
    feed(l, all, sizeof(all));
}

static void say_ranges(Lab *l, unsigned n, uint32_t len, unsigned extra)
{
    static WireRange range[WIRE_MAX_RANGES + 1];
    WireRequest r = request(l, 0, ERDMA_OP_WRITE, 1u << 30);

    for (unsigned i = 0; i < n; i++) {
        range[i] = (WireRange) {
            .len = htole32(len), .region = htole32(FAKE_REGION),
        };
    }
    say_payload(l, r, WIRE_RANGES, range, n * sizeof(range[0]) + extra);
}

static void say_many(Lab *l, unsigned n, uint32_t len)
{
    for (unsigned i = 0; i < n && !l->e->broken; i++) {
        say_payload(l, request(l, i, ERDMA_OP_SEND, len), WIRE_BYTES, junk,
                    len);
    }
}

static void say_many_ranges(Lab *l)
{
    static WireRange range[WIRE_MAX_RANGES];

    for (unsigned i = 0; i < WIRE_MAX_RANGES; i++) {
        range[i].len = htole32(1);
    }
    for (unsigned i = 0; i < 10 && !l->e->broken; i++) {
        say_payload(l, request(l, i, ERDMA_OP_SEND, 1000), WIRE_RANGES, range,
                    sizeof(range));
    }
}

#define SAY(name, body) static void name(Lab *l) { body; }
#define WITH(r, change) WireRequest r = request(l, 0, ERDMA_OP_WRITE, 64); \
    change; say_payload(l, r, WIRE_BYTES, junk, 64)

SAY(len_small, say_header(l, 15, WIRE_CLOSE, 0, 0))
SAY(len_none, say_header(l, 0, WIRE_CLOSE, 0, 0))
SAY(len_large, say_header(l, ERDMA_WIRE_MESSAGE_MAX + 1, WIRE_REQUEST, 1, 0))
SAY(len_huge, say_header(l, 0xffffffff, WIRE_REQUEST, 1, 0))
SAY(type_none, say_header(l, 16, 0, 0, 0))
SAY(type_last, say_header(l, 16, WIRE_TYPES, 0, 0))
SAY(type_high, say_header(l, 16, 255, 0, 0))
SAY(close_long, say_header(l, 20, WIRE_CLOSE, 0, 0))
SAY(close_kind, say_header(l, 16, WIRE_CLOSE, 1, 0))
SAY(close_zero, say_header(l, 16, WIRE_CLOSE, 0, 1))
SAY(offer_short, say_header(l, 43, WIRE_OFFER, 0, 0))
SAY(offer_long, say_header(l, 45, WIRE_OFFER, 0, 0))
SAY(accept_short, say_header(l, 23, WIRE_ACCEPT, 0, 0))
SAY(request_short, say_header(l, 63, WIRE_REQUEST, 0, 0))
SAY(push_data_short, say_header(l, 31, WIRE_PUSH_DATA, 0, 0))
SAY(push_credit_long, say_header(l, 33, WIRE_PUSH_CREDIT, 0, 0))
SAY(read_data_short, say_header(l, 31, WIRE_READ_DATA, 0, 0))
SAY(read_credit_short, say_header(l, 31, WIRE_READ_CREDIT, 0, 0))
SAY(atomic_long, say_header(l, 40, WIRE_ATOMIC, 0, 0))
SAY(ack_short, say_header(l, 20, WIRE_ACK, 0, 0))
SAY(nak_long, say_header(l, 32, WIRE_NAK, 0, 0))

SAY(hello_twice, WireHello h = good_hello(); feed(l, &h, sizeof(h)))

SAY(seq_ahead, WITH(r, r.seq = htole32(1)))
SAY(seq_behind, WITH(r, r.seq = htole32(-1)))
SAY(op_reg_mr, WITH(r, r.opcode = ERDMA_OP_REG_MR))
SAY(op_local_inv, WITH(r, r.opcode = ERDMA_OP_LOCAL_INV))
SAY(op_recv, WITH(r, r.opcode = ERDMA_OP_RECV))
SAY(op_high, WITH(r, r.opcode = 255))
SAY(flags_unknown, WITH(r, r.flags = 2))
SAY(request_zero, WITH(r, r.zero = htole16(1)))
SAY(longer_than_a_message, WITH(r, r.length = htole64((1ull << 31) + 1)))
SAY(length_wraps, WITH(r, r.length = htole64(UINT64_MAX)))
SAY(payload_beyond_length, WITH(r, r.length = htole64(63)))
SAY(read_with_payload, WITH(r, r.opcode = ERDMA_OP_READ))
SAY(atomic_of_4, WireRequest r = request(l, 0, ERDMA_OP_ATOMIC_FAA, 4);
    say_request(l, r))
SAY(atomic_of_16, WireRequest r = request(l, 0, ERDMA_OP_ATOMIC_CAS, 16);
    say_request(l, r))
SAY(request_of_many_bytes,
    say_payload(l, request(l, 0, ERDMA_OP_WRITE, 300), WIRE_BYTES, junk, 257))
SAY(kind_unknown,
    say_payload(l, request(l, 0, ERDMA_OP_WRITE, 64), 3, junk, 64))
SAY(kind_none_with_payload,
    say_payload(l, request(l, 0, ERDMA_OP_WRITE, 64), WIRE_NONE, junk, 64))
SAY(kind_bytes_without,
    say_payload(l, request(l, 0, ERDMA_OP_WRITE, 64), WIRE_BYTES, junk, 0))
SAY(kind_ranges_without,
    say_payload(l, request(l, 0, ERDMA_OP_WRITE, 64), WIRE_RANGES, junk, 0))
SAY(range_torn, say_ranges(l, 1, 8, 1))
SAY(range_empty, say_ranges(l, 2, 0, 0))
SAY(ranges_too_many, say_ranges(l, WIRE_MAX_RANGES + 1, 1, 0))
SAY(ranges_too_long, say_ranges(l, 2, WIRE_STEP_BYTES / 2 + 1, 0))
SAY(range_huge, say_ranges(l, 1, 0xffffffff, 0))
SAY(ranges_wrap, say_ranges(l, 2, 0x80000000, 0))
SAY(window_overrun, say_many(l, WIRE_WINDOW + 1, 8))

SAY(ack_nothing, say_ack(l, WIRE_ACK, 0, 0))
SAY(ack_beyond, say_ack(l, WIRE_ACK, 2, 0))
SAY(ack_far, say_ack(l, WIRE_ACK, 0x80000000, 0))
SAY(ack_syndrome, say_ack(l, WIRE_ACK, 1, 1))
SAY(ack_one, say_ack(l, WIRE_ACK, 1, 0))
SAY(nak_none, say_ack(l, WIRE_NAK, 0, 0))
SAY(nak_flushed, say_ack(l, WIRE_NAK, 0, ERDMA_WC_FLUSHED))
SAY(nak_high, say_ack(l, WIRE_NAK, 0, ERDMA_WC_COUNT))
SAY(nak_huge, say_ack(l, WIRE_NAK, 0, 0x100))
SAY(nak_beyond, say_ack(l, WIRE_NAK, 1, 1))
SAY(old_value, say_value(l, WIRE_ATOMIC, 0, 1))
SAY(old_value_beyond, say_value(l, WIRE_ATOMIC, 1, 1))
SAY(value_zero, WireValue v = value(l, WIRE_ATOMIC, 0, 1); v.zero = 1;
    feed(l, &v, sizeof(v)))

SAY(push_credit_0, say_value(l, WIRE_PUSH_CREDIT, 0, 0))
SAY(push_credit_1, say_value(l, WIRE_PUSH_CREDIT, 0, 1))
SAY(push_credit_twice, say_value(l, WIRE_PUSH_CREDIT, 0, 1000);
    say_value(l, WIRE_PUSH_CREDIT, 0, 1000))
SAY(push_credit_back, say_value(l, WIRE_PUSH_CREDIT, 0, 1000);
    say_value(l, WIRE_PUSH_CREDIT, 0, 999))
SAY(push_credit_over, say_value(l, WIRE_PUSH_CREDIT, 0, LONG / 4 + 1))
SAY(push_credit_seq, say_value(l, WIRE_PUSH_CREDIT, 1, 1000))

SAY(read_data_offset, say_data(l, WIRE_READ_DATA, 0, 1, 63))
SAY(read_data_long, say_data(l, WIRE_READ_DATA, 0, 0, 65))
SAY(read_data_seq, say_data(l, WIRE_READ_DATA, 1, 0, 64))
SAY(read_data_64, say_data(l, WIRE_READ_DATA, 0, 0, 64))
SAY(read_data_empty, say_data(l, WIRE_READ_DATA, 0, 0, 0))
SAY(read_data_over, say_data(l, WIRE_READ_DATA, 0, 0, LONG / 4 + 1))
SAY(read_data_skips, say_data(l, WIRE_READ_DATA, 0, 100, 100))
SAY(read_data_chunk, say_data(l, WIRE_READ_DATA, 0, 0, WIRE_CHUNK_BYTES + 1))

SAY(push_data_64, say_data(l, WIRE_PUSH_DATA, 0, 0, 64))
SAY(push_data_seq, say_data(l, WIRE_PUSH_DATA, 1, 0, 64))
SAY(push_data_skips, say_data(l, WIRE_PUSH_DATA, 0, 1, 64))
SAY(push_data_empty, say_data(l, WIRE_PUSH_DATA, 0, 0, 0))
SAY(push_data_over, say_data(l, WIRE_PUSH_DATA, 0, 0, LONG / 4 + 1))
SAY(push_data_again, say_data(l, WIRE_PUSH_DATA, 0, 0, LONG / 4);
    say_data(l, WIRE_PUSH_DATA, 0, LONG / 4, 1))

SAY(read_credit_0, say_value(l, WIRE_READ_CREDIT, 0, 0))
SAY(read_credit_1, say_value(l, WIRE_READ_CREDIT, 0, 1))
SAY(read_credit_seq, say_value(l, WIRE_READ_CREDIT, 1, 100))
SAY(read_credit_over, say_value(l, WIRE_READ_CREDIT, 0, LONG / 4 + 1))
SAY(read_credit_twice, say_value(l, WIRE_READ_CREDIT, 0, 100);
    say_value(l, WIRE_READ_CREDIT, 0, 100))

#define ROW(state, say, why) { #say " when " #state, state, say, why }

static const Bad bad[] = {
    ROW(idle, len_small, "length of message"),
    ROW(idle, len_none, "length of message"),
    ROW(idle, len_large, "length of message"),
    ROW(idle, len_huge, "length of message"),
    ROW(idle, type_none, "type"), ROW(idle, type_last, "type"),
    ROW(idle, type_high, "type"),
    ROW(idle, close_long, "size"), ROW(idle, close_kind, "must be 0"),
    ROW(idle, close_zero, "must be 0"), ROW(idle, offer_short, "size"),
    ROW(idle, offer_long, "size"), ROW(idle, accept_short, "size"),
    ROW(idle, request_short, "size"), ROW(idle, push_data_short, "size"),
    ROW(idle, push_credit_long, "size"), ROW(idle, read_data_short, "size"),
    ROW(idle, read_credit_short, "size"), ROW(idle, atomic_long, "size"),
    ROW(idle, ack_short, "size"), ROW(idle, nak_long, "size"),
    ROW(idle, hello_twice, "second hello"),
    ROW(idle, seq_ahead, "number of a request"),
    ROW(idle, seq_behind, "number of a request"),
    ROW(idle, op_reg_mr, "operation"), ROW(idle, op_local_inv, "operation"),
    ROW(idle, op_recv, "operation"), ROW(idle, op_high, "operation"),
    ROW(idle, flags_unknown, "must be 0"), ROW(idle, request_zero, "must be"),
    ROW(idle, longer_than_a_message, "length of a request"),
    ROW(idle, length_wraps, "length of a request"),
    ROW(idle, payload_beyond_length, "length of a request"),
    ROW(idle, read_with_payload, "length of a request"),
    ROW(idle, atomic_of_4, "length of a request"),
    ROW(idle, atomic_of_16, "length of a request"),
    ROW(idle, request_of_many_bytes, "length of a request"),
    ROW(idle, kind_unknown, "kind of payload"),
    ROW(idle, kind_none_with_payload, "payload of no kind"),
    ROW(idle, kind_bytes_without, "number of bytes"),
    ROW(idle, kind_ranges_without, "number of ranges"),
    ROW(idle, range_torn, "number of ranges"),
    ROW(idle, range_empty, "empty range"),
    ROW(idle, ranges_too_many, "number of ranges"),
    ROW(idle, ranges_too_long, "too much in one"),
    ROW(idle, range_huge, "too much in one"),
    ROW(idle, ranges_wrap, "too much in one"),
    ROW(idle, window_overrun, "number of a request"),
    ROW(idle, say_many_ranges, "window"),
    ROW(pushed, window_overrun, "number of a request"),
    ROW(idle, ack_one, "no request"), ROW(idle, ack_nothing, "says nothing"),
    ROW(wrote, ack_nothing, "says nothing"), ROW(wrote, ack_beyond, "no requ"),
    ROW(wrote, ack_far, "no request"), ROW(wrote, ack_syndrome, "nothing"),
    ROW(reads, ack_one, "data did not go"),
    ROW(atomic, ack_one, "data did not go"),
    ROW(pushes, ack_one, "data did not go"),
    ROW(wrote, nak_none, "syndrome"), ROW(wrote, nak_flushed, "syndrome"),
    ROW(wrote, nak_high, "syndrome"), ROW(wrote, nak_huge, "syndrome"),
    ROW(wrote, nak_beyond, "no request"), ROW(reads, nak_beyond, "no request"),
    ROW(idle, old_value, "no request"), ROW(wrote, old_value, "old value"),
    ROW(reads, old_value, "old value"),
    ROW(atomic, old_value_beyond, "no request"),
    ROW(atomic, value_zero, "must be 0"),
    ROW(wrote, push_credit_1, "credit"), ROW(reads, push_credit_1, "credit"),
    ROW(pushes, push_credit_0, "credit"),
    ROW(pushes, push_credit_twice, "credit"),
    ROW(pushes, push_credit_back, "credit"),
    ROW(pushes, push_credit_over, "credit"),
    ROW(pushes, push_credit_seq, "no request"),
    ROW(idle, read_data_64, "no request"),
    ROW(wrote, read_data_64, "not asked for"),
    ROW(atomic, read_data_empty, "not asked for"),
    ROW(reads, read_data_offset, "not asked for"),
    ROW(reads, read_data_long, "not asked for"),
    ROW(reads, read_data_seq, "no request"),
    ROW(read_asked, read_data_empty, "not asked for"),
    ROW(read_asked, read_data_over, "not asked for"),
    ROW(read_asked, read_data_skips, "not asked for"),
    ROW(read_asked, read_data_chunk, "number of bytes"),
    ROW(idle, push_data_64, "not asked for"),
    ROW(read_from, push_data_64, "not asked for"),
    ROW(pushed, push_data_seq, "not asked for"),
    ROW(pushed, push_data_skips, "not asked for"),
    ROW(pushed, push_data_empty, "not asked for"),
    ROW(pushed, push_data_over, "not asked for"),
    ROW(pushed, push_data_again, "not asked for"),
    ROW(idle, read_credit_1, "credit"), ROW(pushed, read_credit_1, "credit"),
    ROW(read_from, read_credit_0, "credit"),
    ROW(read_from, read_credit_seq, "credit"),
    ROW(read_from, read_credit_over, "credit"),
    ROW(read_from, read_credit_twice, "credit"),
};

/* A QP of the other card waits: the broken wire is nothing to it */
static void check_swallows(Lab *l)
{
    struct erdma_cmd_modify_qp rts = qp_rts_cmd(&l->s->bqp, &l->s->aqp, 99,
                                                false);
    WireOffer o = {
        .h = HDR(WIRE_OFFER, sizeof(o), PUPPET_ID, PUPPET_GEN),
        .sip = rts.dip, .dip = rts.sip, .sport = rts.dport,
        .dport = rts.sport, .cookie = rts.cookie,
        .peer_cookie = htole32(l->s->bqp.cookie), .send_nxt = rts.recv_nxt,
        .recv_nxt = rts.send_nxt,
    };
    WireHello h = good_hello();
    WirePair pair = { 0 };

    CHECK_EQ(CMD_RDMA(l->s->b, ERDMA_CMD_MODIFY_QP, rts), 0);
    feed(l, &o, sizeof(o));
    CHECK_EQ(l->e->len, 0);
    pair.end[0].other = &pair.end[1];
    pair.end[0].wire = erdma_wire_new(l->s->bed.fabric, &fake_wire_ops,
                                      &pair.end[0]);
    wire_end_feed(&pair.end[0], &h, sizeof(h));
    wire_end_feed(&pair.end[0], &o, sizeof(o));
    wire_end_deliver(&pair.end[0]);
    CHECK_EQ(pair.end[1].len, sizeof(h) + sizeof(o) + sizeof(WireAccept));
    wire_pair_free(&pair);
}

/* The stream is over and its QP has lost its peer; card and guest have not */
static void check_broken(Lab *l, const Bad *b)
{
    Wr wr = scene_send(l->s, 0, 8);
    WireHello h = good_hello();
    bool retry = false;
    Wc wc;

    if (!l->e->broken || !strstr(l->e->why, b->why)) {
        tap_fail(__FILE__, __LINE__, "%s: %s, not \"%s\"", b->name,
                 l->e->broken ? l->e->why : "accepted", b->why);
    }
    feed(l, &h, sizeof(h));
    CHECK_EQ(l->e->len, 0);             /* swallowed */
    check_swallows(l);
    qp_send(&l->s->aqp, &wr);
    bed_advance(&l->s->bed, 10 * SECOND);
    while (cq_poll(&l->s->acq, &wc)) {
        retry |= wc.syndrome == ERDMA_WC_RETRY_EXC;
    }
    CHECK(retry);
    expect_no_timer(l->s->a);
    CHECK(card_read32(l->s->a, ERDMA_REG_STATUS) & ERDMA_STATUS_INIT_DONE);
}

TEST_OWN_WIRES(each_wrong_field_of_each_message_breaks_the_wire)
{
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        Lab *l = lab_connected();

        bad[i].state(l);
        CHECK(!l->e->broken);
        bad[i].say(l);
        check_broken(l, &bad[i]);
        lab_free(l);
    }
}

/* ---- hello ---- */

static void bad_hello(void (*spoil)(WireHello *h), const char *why)
{
    Lab *l = lab_new(false);
    WireHello h = good_hello();

    CHECK_EQ(qp_rts(&l->s->aqp, &l->s->bqp, 7, true), 0);
    spoil(&h);
    feed(l, &h, sizeof(h));
    CHECK(l->e->broken);
    CHECK(strstr(l->e->why, why));
    CHECK_EQ(heard(l, NULL, 0), 0);     /* nothing was offered to it */
    lab_free(l);
}

#define SPOIL(name, body) static void name(WireHello *h) { body; }
SPOIL(other_magic, h->magic ^= 1)
SPOIL(version_0, h->version = 0)
SPOIL(version_2, h->version = htole32(2))
SPOIL(no_window, h->window = 0)
SPOIL(few_bytes, h->window_bytes = htole32(8000))
SPOIL(small_messages, h->message_max = htole32(65536))
SPOIL(with_kind, h->h.kind = 1)
SPOIL(not_hello, h->h.type = WIRE_CLOSE; h->h.len = htole32(16))

TEST_OWN_WIRES(hello_of_another_kind_is_refused)
{
    bad_hello(other_magic, "not a card's wire");
    bad_hello(version_0, "version");
    bad_hello(version_2, "version");
    bad_hello(no_window, "limits");
    bad_hello(few_bytes, "limits");
    bad_hello(small_messages, "limits");
    bad_hello(with_kind, "must be 0");
    bad_hello(not_hello, "no hello");
}

TEST_OWN_WIRES(window_of_the_peer_is_kept)
{
    Lab *l = lab_new(false);
    WireHello h = good_hello();
    Wr wr = scene_write(l->s, 0, 0, 64);
    WireOffer o, m;
    unsigned n = 0;

    h.window = htole32(3);
    feed(l, &h, sizeof(h));
    o = offered(l);
    m = mirror(&o);
    feed(l, &m, sizeof(m));
    CHECK_EQ(heard(l, NULL, 0), WIRE_ACCEPT);
    for (unsigned i = 0; i < 10; i++) {
        qp_send(&l->s->aqp, &wr);
    }
    while (heard(l, NULL, 0) == WIRE_REQUEST) {
        n++;
    }
    CHECK_EQ(n, 3);
    lab_free(l);
}

TEST_OWN_WIRES(nothing_is_offered_before_the_hello)
{
    Lab *l = lab_new(false);
    WireHello h = good_hello();

    CHECK_EQ(qp_rts(&l->s->aqp, &l->s->bqp, 7, true), 0);
    CHECK_EQ(heard(l, NULL, 0), 0);
    feed(l, &h, sizeof(h));
    CHECK_EQ(heard(l, NULL, 0), WIRE_OFFER);
    CHECK_EQ(heard(l, NULL, 0), 0);
    lab_free(l);
}

/* ---- ids ---- */

TEST_OWN_WIRES(messages_for_other_ids_and_generations_are_dropped)
{
    Lab *l = lab_connected();
    uint32_t id = l->id, gen = l->gen;

    wrote(l);
    for (unsigned i = 0; i < 6; i++) {
        static const uint32_t ids[] = { 0, 1, 63, 64, 1 << 20, 0xffffffff };
        WireHdr close = HDR(WIRE_CLOSE, sizeof(close), ids[i],
                            gen + (ids[i] == id));

        l->id = ids[i];
        l->gen = gen + (l->id == id);
        say_ack(l, WIRE_ACK, 1, 0);
        say_ack(l, WIRE_NAK, 0, 1);
        feed(l, &close, sizeof(close));
        say_payload(l, request(l, 0, ERDMA_OP_WRITE, 64), WIRE_BYTES, junk,
                    64);
        CHECK(!l->e->broken);
        CHECK_EQ(heard(l, NULL, 0), 0);
        CHECK(!cq_poll(&l->s->acq, &(Wc) { 0 }));
    }
    l->id = id;
    l->gen = gen;
    say_ack(l, WIRE_ACK, 1, 0);
    done(l, 0);
    lab_free(l);
}

/* Another process knows the numbers, but it is not the peer */
TEST_OWN_WIRES(messages_from_another_wire_are_dropped)
{
    Lab *l = lab_connected();
    WirePair pair = { 0 };
    WireHello h = good_hello();
    WireAck a = ack(l, WIRE_ACK, 1, 0);
    WireAccept accept = { .h = HDR(WIRE_ACCEPT, sizeof(accept), l->id,
                                   l->gen), .id = htole32(1) };
    WireEnd *keep = l->e, *said = l->out;

    pair.end[0].other = &pair.end[1];
    pair.end[0].wire = erdma_wire_new(l->s->bed.fabric, &fake_wire_ops,
                                      &pair.end[0]);
    l->e = &pair.end[0];
    l->out = &pair.end[1];
    CHECK_EQ(heard(l, NULL, 0), WIRE_HELLO);
    feed(l, &h, sizeof(h));
    l->out = said;
    wrote(l);
    l->out = &pair.end[1];
    feed(l, &a, sizeof(a));
    CHECK(!cq_poll(&l->s->acq, &(Wc) { 0 }));
    feed(l, &accept, sizeof(accept));   /* it is taken: no, thanks */
    CHECK_EQ(heard(l, NULL, 0), WIRE_CLOSE);
    CHECK(!pair.end[0].broken);
    l->e = keep;
    l->out = said;
    feed(l, &a, sizeof(a));
    done(l, 0);
    wire_pair_free(&pair);
    lab_free(l);
}

TEST_OWN_WIRES(accept_of_what_was_not_offered_is_closed)
{
    Lab *l = lab_new(true);
    WireAccept a = { .h = HDR(WIRE_ACCEPT, sizeof(a), 3, 4),
                     .id = htole32(50), .gen = htole32(60) };
    WireHdr h;

    feed(l, &a, sizeof(a));
    CHECK_EQ(heard(l, &h, sizeof(h)), WIRE_CLOSE);
    CHECK_EQ(le32toh(h.id), 50);
    CHECK_EQ(le32toh(h.gen), 60);
    lab_free(l);
}

TEST_OWN_WIRES(offer_that_fits_nobody_is_not_answered)
{
    Lab *l = lab_new(true);
    WireOffer o = offered(l);
    unsigned lines;

    for (unsigned field = 0; field < 8; field++) {
        WireOffer m = mirror(&o);
        __le32 *part[] = {
            &m.sip, &m.dip, (__le32 *)(void *)&m.sport, &m.cookie,
            &m.peer_cookie, &m.send_nxt, &m.recv_nxt,
        };

        if (field < 7) {
            *part[field] ^= htole32(0x100);
        } else {
            m = o;                      /* itself, not its mirror */
        }
        feed(l, &m, sizeof(m));
        CHECK_EQ(heard(l, NULL, 0), 0);
    }
    /* and it cannot fill the log */
    lines = l->s->a->f.log_lines[ERDMA_LOG_INFO];
    for (unsigned i = 0; i < 1000; i++) {
        WireOffer m = mirror(&o);

        m.cookie = 0;
        feed(l, &m, sizeof(m));
    }
    CHECK(l->s->a->f.log_lines[ERDMA_LOG_INFO] - lines < 50);
    CHECK(!l->e->broken);
    lab_free(l);
}

/* ---- garbage ---- */

static uint32_t rnd(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* Every byte of the fixed part of every message, in every state */
TEST_OWN_WIRES(any_byte_of_any_message_may_be_wrong)
{
    static void (*const states[])(Lab *l) = {
        idle, wrote, reads, atomic, pushes, read_asked, pushed, read_from,
    };
    static const uint8_t flips[] = { 0xff, 0x01, 0x80 };
    unsigned step = fake_default_mode == MAP_DIRECT ? 2 : 11;

    for (unsigned s = 0; s < 8; s++) {
        for (unsigned n = s % step; n < 64 * 3; n += step) {
            Lab *l = lab_connected();
            uint8_t msg[3][64];
            WireRequest r = request(l, s >= 6, ERDMA_OP_WRITE, 100);
            WireValue v = value(l, s == 2 || s == 5 ? WIRE_READ_DATA :
                                s == 3 ? WIRE_ATOMIC :
                                s == 6 ? WIRE_PUSH_DATA : WIRE_PUSH_CREDIT, 0,
                                s == 4 || s == 7 ? 1000 : 0);
            WireAck a = ack(l, n % 2 ? WIRE_ACK : WIRE_NAK, n % 2, n % 2 ? 0 :
                            1);

            memset(msg, 0, sizeof(msg));
            memcpy(msg[0], &r, sizeof(r));
            memcpy(msg[1], &v, sizeof(v));
            memcpy(msg[2], &a, sizeof(a));
            states[s](l);
            for (unsigned k = 0; k < 3 && !l->e->broken; k++) {
                uint32_t len = k == 0 ? sizeof(r) : k == 1 ? sizeof(v) :
                                                             sizeof(a);

                msg[k][n / 3] ^= flips[n % 3];
                feed(l, msg[k], len);
                l->e->len = 0;
            }
            bed_run(&l->s->bed);
            bed_advance(&l->s->bed, 20 * SECOND);
            expect_no_timer(l->s->a);
            lab_free(l);
        }
    }
}

static void random_message(Lab *l, uint32_t *seed)
{
    static const uint32_t size[] = { 40, 44, 24, 16, 64, 32, 32, 32, 32, 32,
                                     24, 24 };
    uint8_t msg[400];
    unsigned type = rnd(seed) % 12, extra = 0;
    WireHdr h = HDR(type + 1, size[type], l->id, l->gen);

    if (type == 4 || type == 5 || type == 7) {
        h.kind = rnd(seed) % 3;
        extra = h.kind == WIRE_BYTES ? rnd(seed) % 256 + 1 :
                h.kind == WIRE_RANGES ? (rnd(seed) % 10 + 1) * 16 : 0;
        h.len = htole32(size[type] + extra);
    }
    for (unsigned i = 0; i < sizeof(msg); i++) {
        msg[i] = rnd(seed) % 3 ? 0 : rnd(seed);
    }
    memcpy(msg, &h, sizeof(h));
    if (type == 4) {
        msg[20] = rnd(seed) % 12;       /* opcode */
        memset(msg + 21, 0, 3);
        memset(msg + 45, 0, 3);         /* length */
        memset(msg + 16, 0, 4);
        msg[16] = rnd(seed) % 4;
    }
    feed(l, msg, size[type] + extra);
}

TEST_OWN_WIRES(random_messages_do_no_harm)
{
    for (uint32_t n = 1; n <= 400; n++) {
        uint32_t seed = n * 7919;
        Lab *l = lab_connected();

        for (unsigned i = 0; i < 40 && !l->e->broken; i++) {
            Wr wr = scene_read(l->s, 0, 0, rnd(&seed) % 600);

            if (rnd(&seed) % 4 == 0) {
                wr.opcode = rnd(&seed) % 2 ? ERDMA_OP_READ : ERDMA_OP_SEND;
                qp_send(&l->s->aqp, &wr);
            }
            if (rnd(&seed) % 4 == 0) {
                qp_recv(&l->s->aqp, l->s->abuf, 600, l->s->akey);
            }
            random_message(l, &seed);
            bed_run(&l->s->bed);
        }
        bed_advance(&l->s->bed, 20 * SECOND);
        expect_no_timer(l->s->a);
        lab_free(l);
    }
}

/* Real conversations with some bytes flipped */
static void spoilt_conversation(WireMode mode, uint32_t seed)
{
    Scene *s = scene_new_wired(mode, 65536, true, NULL);
    uint64_t canary = fake_alloc(s->b->h, 4096);
    Wc wc;

    s->bed.slow = true;
    for (unsigned i = 0; i < 20; i++) {
        Wr wr = scene_write(s, rnd(&seed) % 20000, rnd(&seed) % 20000,
                            rnd(&seed) % 20000);

        wr.opcode = rnd(&seed) % 8;
        if (wr.opcode == ERDMA_OP_RECV) {
            wr.opcode = ERDMA_OP_READ;
        }
        qp_send(&s->aqp, &wr);
        scene_recv(s, 0, 30000);
        for (unsigned n = rnd(&seed) % 6; n; n--) {
            WireEnd *e = &s->bed.wire[0].end[rnd(&seed) % 2];

            if (e->len && rnd(&seed) % 4 == 0) {
                e->buf[rnd(&seed) % e->len] ^= 1u << rnd(&seed) % 8;
            }
            wire_end_deliver(e);
            bed_run(&s->bed);
        }
    }
    bed_run(&s->bed);
    bed_advance(&s->bed, 20 * SECOND);
    expect_no_timer(s->a);
    expect_no_timer(s->b);
    while (cq_poll(&s->acq, &wc) || cq_poll(&s->bcq, &wc)) {
    }
    CHECK(is_fill(fake_ptr(s->b->h, canary, 4096), 4096, 0xa5));
    scene_free(s);
}

TEST_OWN_WIRES(spoilt_conversations_do_no_harm)
{
    for (uint32_t n = 1; n <= 300; n++) {
        spoilt_conversation(n % 2 ? WIRE_MODE_SHARED : WIRE_MODE_BYTES,
                            n * 104729);
    }
}
