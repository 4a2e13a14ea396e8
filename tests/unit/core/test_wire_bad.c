/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a process must not say, field by field, and that saying it costs its
 * connections and nothing else.
 */
#include "peer_fixture.h"

#define SECOND  1000000000ull

/* ---- what it must not say ---- */

typedef struct Bad {
    const char *name;
    void (*state)(PeerFixture *l);
    void (*say)(PeerFixture *l);
    const char *why;            /* part of the reason that is given */
} Bad;

static void say_header(PeerFixture *l, uint32_t len, uint8_t type, uint8_t kind,
                       uint16_t zero)
{
    uint8_t all[64] = { 0 };
    WireHdr h = PEER_HDR(type, len, l->id, l->gen);

    h.kind = kind;
    h.zero = htole16(zero);
    memcpy(all, &h, sizeof(h));
    peer_feed(l, all, sizeof(all));
}

static void say_ranges(PeerFixture *l, unsigned n, uint32_t len, unsigned extra)
{
    static WireRange range[WIRE_MAX_RANGES + 1];
    WireRequest r = peer_request(l, 0, ERDMA_OP_WRITE, 1u << 30);

    for (unsigned i = 0; i < n; i++) {
        range[i] = (WireRange) {
            .len = htole32(len), .region = htole32(FAKE_REGION),
        };
    }
    peer_send_payload(l, r, WIRE_RANGES, range, n * sizeof(range[0]) + extra);
}

static void say_many(PeerFixture *l, unsigned n, uint32_t len)
{
    for (unsigned i = 0; i < n && !l->e->broken; i++) {
        peer_send_payload(l, peer_request(l, i, ERDMA_OP_SEND, len), WIRE_BYTES,
                          peer_junk, len);
    }
}

static void say_many_ranges(PeerFixture *l)
{
    static WireRange range[WIRE_MAX_RANGES];

    for (unsigned i = 0; i < WIRE_MAX_RANGES; i++) {
        range[i].len = htole32(1);
    }
    for (unsigned i = 0; i < 10 && !l->e->broken; i++) {
        peer_send_payload(l, peer_request(l, i, ERDMA_OP_SEND, 1000),
                          WIRE_RANGES, range, sizeof(range));
    }
}

#define SAY(name, body) static void name(PeerFixture *l) { body; }
#define WITH(r, change) \
    WireRequest r = peer_request(l, 0, ERDMA_OP_WRITE, 64); \
    change; peer_send_payload(l, r, WIRE_BYTES, peer_junk, 64)

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

SAY(hello_twice, WireHello h = peer_hello(); peer_feed(l, &h, sizeof(h)))

SAY(seq_ahead, WITH(r, r.seq = htole32(1)))
SAY(seq_behind, WITH(r, r.seq = htole32(-1)))
SAY(op_reg_mr, WITH(r, r.opcode = ERDMA_OP_REG_MR))
SAY(op_local_inv, WITH(r, r.opcode = ERDMA_OP_LOCAL_INV))
SAY(op_recv, WITH(r, r.opcode = ERDMA_OP_RECV))
SAY(op_high, WITH(r, r.opcode = 255))
SAY(flags_unknown, WITH(r, r.flags = 4))
SAY(request_zero, WITH(r, r.zero = htole16(1)))
SAY(longer_than_a_message, WITH(r, r.length = htole64((1ull << 31) + 1)))
SAY(length_wraps, WITH(r, r.length = htole64(UINT64_MAX)))
SAY(payload_beyond_length, WITH(r, r.length = htole64(63)))
SAY(read_with_payload, WITH(r, r.opcode = ERDMA_OP_READ))
SAY(atomic_of_4, WireRequest r = peer_request(l, 0, ERDMA_OP_ATOMIC_FAA, 4);
    peer_send_request(l, r))
SAY(atomic_of_16, WireRequest r = peer_request(l, 0, ERDMA_OP_ATOMIC_CAS, 16);
    peer_send_request(l, r))
SAY(request_of_many_bytes,
    peer_send_payload(l, peer_request(l, 0, ERDMA_OP_WRITE, 300), WIRE_BYTES,
                      peer_junk, 257))
SAY(kind_unknown,
    peer_send_payload(l, peer_request(l, 0, ERDMA_OP_WRITE, 64), 3, peer_junk,
                      64))
SAY(kind_none_with_payload,
    peer_send_payload(l, peer_request(l, 0, ERDMA_OP_WRITE, 64), WIRE_NONE,
                      peer_junk, 64))
SAY(kind_bytes_without,
    peer_send_payload(l, peer_request(l, 0, ERDMA_OP_WRITE, 64), WIRE_BYTES,
                      peer_junk, 0))
SAY(kind_ranges_without,
    peer_send_payload(l, peer_request(l, 0, ERDMA_OP_WRITE, 64), WIRE_RANGES,
                      peer_junk, 0))
SAY(range_torn, say_ranges(l, 1, 8, 1))
SAY(range_empty, say_ranges(l, 2, 0, 0))
SAY(ranges_too_many, say_ranges(l, WIRE_MAX_RANGES + 1, 1, 0))
SAY(ranges_too_long, say_ranges(l, 2, WIRE_STEP_BYTES / 2 + 1, 0))
SAY(range_huge, say_ranges(l, 1, 0xffffffff, 0))
SAY(ranges_wrap, say_ranges(l, 2, 0x80000000, 0))
SAY(window_overrun, say_many(l, WIRE_WINDOW + 1, 8))

SAY(ack_nothing, peer_send_ack(l, WIRE_ACK, 0, 0))
SAY(ack_beyond, peer_send_ack(l, WIRE_ACK, 2, 0))
SAY(ack_far, peer_send_ack(l, WIRE_ACK, 0x80000000, 0))
SAY(ack_syndrome, peer_send_ack(l, WIRE_ACK, 1, 1))
SAY(ack_one, peer_send_ack(l, WIRE_ACK, 1, 0))
SAY(nak_none, peer_send_ack(l, WIRE_NAK, 0, 0))
SAY(nak_flushed, peer_send_ack(l, WIRE_NAK, 0, ERDMA_WC_FLUSHED))
SAY(nak_high, peer_send_ack(l, WIRE_NAK, 0, ERDMA_WC_COUNT))
SAY(nak_huge, peer_send_ack(l, WIRE_NAK, 0, 0x100))
SAY(nak_beyond, peer_send_ack(l, WIRE_NAK, 1, 1))
SAY(old_value, peer_send_value(l, WIRE_ATOMIC, 0, 1))
SAY(old_value_beyond, peer_send_value(l, WIRE_ATOMIC, 1, 1))
SAY(value_zero, WireValue v = peer_value(l, WIRE_ATOMIC, 0, 1); v.zero = 1;
    peer_feed(l, &v, sizeof(v)))

SAY(push_credit_0, peer_send_value(l, WIRE_PUSH_CREDIT, 0, 0))
SAY(push_credit_1, peer_send_value(l, WIRE_PUSH_CREDIT, 0, 1))
SAY(push_credit_twice, peer_send_value(l, WIRE_PUSH_CREDIT, 0, 1000);
    peer_send_value(l, WIRE_PUSH_CREDIT, 0, 1000))
SAY(push_credit_back, peer_send_value(l, WIRE_PUSH_CREDIT, 0, 1000);
    peer_send_value(l, WIRE_PUSH_CREDIT, 0, 999))
SAY(push_credit_over,
    peer_send_value(l, WIRE_PUSH_CREDIT, 0, PEER_LONG / 4 + 1))
SAY(push_credit_seq, peer_send_value(l, WIRE_PUSH_CREDIT, 1, 1000))

SAY(read_data_offset, peer_send_data(l, WIRE_READ_DATA, 0, 1, 63))
SAY(read_data_long, peer_send_data(l, WIRE_READ_DATA, 0, 0, 65))
SAY(read_data_seq, peer_send_data(l, WIRE_READ_DATA, 1, 0, 64))
SAY(read_data_64, peer_send_data(l, WIRE_READ_DATA, 0, 0, 64))
SAY(read_data_empty, peer_send_data(l, WIRE_READ_DATA, 0, 0, 0))
SAY(read_data_over, peer_send_data(l, WIRE_READ_DATA, 0, 0, PEER_LONG / 4 + 1))
SAY(read_data_skips, peer_send_data(l, WIRE_READ_DATA, 0, 100, 100))
SAY(read_data_chunk,
    peer_send_data(l, WIRE_READ_DATA, 0, 0, WIRE_CHUNK_BYTES + 1))

SAY(push_data_64, peer_send_data(l, WIRE_PUSH_DATA, 0, 0, 64))
SAY(push_data_seq, peer_send_data(l, WIRE_PUSH_DATA, 1, 0, 64))
SAY(push_data_skips, peer_send_data(l, WIRE_PUSH_DATA, 0, 1, 64))
SAY(push_data_empty, peer_send_data(l, WIRE_PUSH_DATA, 0, 0, 0))
SAY(push_data_over, peer_send_data(l, WIRE_PUSH_DATA, 0, 0, PEER_LONG / 4 + 1))
SAY(push_data_again, peer_send_data(l, WIRE_PUSH_DATA, 0, 0, PEER_LONG / 4);
    peer_send_data(l, WIRE_PUSH_DATA, 0, PEER_LONG / 4, 1))

SAY(read_credit_0, peer_send_value(l, WIRE_READ_CREDIT, 0, 0))
SAY(read_credit_1, peer_send_value(l, WIRE_READ_CREDIT, 0, 1))
SAY(read_credit_seq, peer_send_value(l, WIRE_READ_CREDIT, 1, 100))
SAY(read_credit_over,
    peer_send_value(l, WIRE_READ_CREDIT, 0, PEER_LONG / 4 + 1))
SAY(read_credit_twice, peer_send_value(l, WIRE_READ_CREDIT, 0, 100);
    peer_send_value(l, WIRE_READ_CREDIT, 0, 100))

#define ROW(state, say, why) \
    { #say " when " #state, peer_##state, say, why }

static const Bad bad[] = {
    ROW(idle, len_small, "length of message"),
    ROW(idle, len_none, "length of message"),
    ROW(idle, len_large, "length of message"),
    ROW(idle, len_huge, "length of message"), ROW(idle, type_none, "type"),
    ROW(idle, type_last, "type"), ROW(idle, type_high, "type"),
    ROW(idle, close_long, "size"), ROW(idle, close_kind, "expected 0"),
    ROW(idle, close_zero, "expected 0"), ROW(idle, offer_short, "size"),
    ROW(idle, offer_long, "size"), ROW(idle, accept_short, "size"),
    ROW(idle, request_short, "size"), ROW(idle, push_data_short, "size"),
    ROW(idle, push_credit_long, "size"), ROW(idle, read_data_short, "size"),
    ROW(idle, read_credit_short, "size"), ROW(idle, atomic_long, "size"),
    ROW(idle, ack_short, "size"), ROW(idle, nak_long, "size"),
    ROW(idle, hello_twice, "second HELLO"),
    ROW(idle, seq_ahead, "REQUEST: seq is"),
    ROW(idle, seq_behind, "REQUEST: seq is"), ROW(idle, op_reg_mr, "opcode is"),
    ROW(idle, op_local_inv, "opcode is"), ROW(idle, op_recv, "opcode is"),
    ROW(idle, op_high, "opcode is"), ROW(idle, flags_unknown, "flags are"),
    ROW(idle, request_zero, "flags are"),
    ROW(idle, longer_than_a_message, "length is"),
    ROW(idle, length_wraps, "length is"),
    ROW(idle, payload_beyond_length, "payload has"),
    ROW(idle, read_with_payload, "has payload of kind"),
    ROW(idle, atomic_of_4, "length of an atomic"),
    ROW(idle, atomic_of_16, "length of an atomic"),
    ROW(idle, request_of_many_bytes, "payload has"),
    ROW(idle, kind_unknown, "kind is 3"),
    ROW(idle, kind_none_with_payload, "kind NONE"),
    ROW(idle, kind_bytes_without, "0 bytes"),
    ROW(idle, kind_ranges_without, "ranges take"),
    ROW(idle, range_torn, "ranges take"), ROW(idle, range_empty, "range is 0"),
    ROW(idle, ranges_too_many, "ranges take"),
    ROW(idle, ranges_too_long, "ranges have"),
    ROW(idle, range_huge, "ranges have"), ROW(idle, ranges_wrap, "ranges have"),
    ROW(idle, window_overrun, "before an ACK"),
    ROW(idle, say_many_ranges, "in a window"),
    ROW(pushed, window_overrun, "REQUEST: seq is 0"),
    ROW(idle, ack_one, "in flight"), ROW(idle, ack_nothing, "ACK: seq is 0"),
    ROW(wrote, ack_nothing, "ACK: seq is 0"),
    ROW(wrote, ack_beyond, "in flight"), ROW(wrote, ack_far, "in flight"),
    ROW(wrote, ack_syndrome, "syndrome is 1"),
    ROW(reads, ack_one, "data or credit"),
    ROW(atomic, ack_one, "data or credit"),
    ROW(pushes, ack_one, "data or credit"), ROW(wrote, nak_none, "syndrome"),
    ROW(wrote, nak_flushed, "syndrome"), ROW(wrote, nak_high, "syndrome"),
    ROW(wrote, nak_huge, "syndrome"), ROW(wrote, nak_beyond, "in flight"),
    ROW(reads, nak_beyond, "in flight"), ROW(idle, old_value, "in flight"),
    ROW(wrote, old_value, "expected an atomic"),
    ROW(reads, old_value, "expected an atomic"),
    ROW(atomic, old_value_beyond, "in flight"),
    ROW(atomic, value_zero, "reserved field"),
    ROW(wrote, push_credit_1, "PUSH_CREDIT: end"),
    ROW(reads, push_credit_1, "PUSH_CREDIT: end"),
    ROW(pushes, push_credit_0, "PUSH_CREDIT: end"),
    ROW(pushes, push_credit_twice, "PUSH_CREDIT: end"),
    ROW(pushes, push_credit_back, "PUSH_CREDIT: end"),
    ROW(pushes, push_credit_over, "PUSH_CREDIT: end"),
    ROW(pushes, push_credit_seq, "in flight"),
    ROW(idle, read_data_64, "in flight"),
    ROW(wrote, read_data_64, "granted data"),
    ROW(atomic, read_data_empty, "granted data"),
    ROW(reads, read_data_offset, "granted data"),
    ROW(reads, read_data_long, "granted data"),
    ROW(reads, read_data_seq, "in flight"),
    ROW(read_asked, read_data_empty, "granted data"),
    ROW(read_asked, read_data_over, "granted data"),
    ROW(read_asked, read_data_skips, "granted data"),
    ROW(read_asked, read_data_chunk, "expected 1.."),
    ROW(idle, push_data_64, "granted data"),
    ROW(read_from, push_data_64, "granted data"),
    ROW(pushed, push_data_seq, "granted data"),
    ROW(pushed, push_data_skips, "granted data"),
    ROW(pushed, push_data_empty, "granted data"),
    ROW(pushed, push_data_over, "granted data"),
    ROW(pushed, push_data_again, "granted data"),
    ROW(idle, read_credit_1, "READ_CREDIT: end"),
    ROW(pushed, read_credit_1, "READ_CREDIT: end"),
    ROW(read_from, read_credit_0, "READ_CREDIT: end"),
    ROW(read_from, read_credit_seq, "READ_CREDIT: end"),
    ROW(read_from, read_credit_over, "READ_CREDIT: end"),
    ROW(read_from, read_credit_twice, "READ_CREDIT: end"),
};

/* A QP of the other card waits: the broken wire is nothing to it */
static void check_swallows(PeerFixture *l)
{
    struct erdma_cmd_modify_qp rts = qp_rts_cmd(&l->s->bqp, &l->s->aqp, 99,
                                                false);
    WireOffer o = {
        .h = PEER_HDR(WIRE_OFFER, sizeof(o), PEER_ID, PEER_GEN),
        .sip = rts.dip, .dip = rts.sip, .sport = rts.dport,
        .dport = rts.sport, .cookie = rts.cookie,
        .peer_cookie = htole32(l->s->bqp.cookie), .send_nxt = rts.recv_nxt,
        .recv_nxt = rts.send_nxt,
    };
    WireHello h = peer_hello();
    WirePair pair = { 0 };

    CHECK_EQ(CMD_RDMA(l->s->b, ERDMA_CMD_MODIFY_QP, rts), 0);
    peer_feed(l, &o, sizeof(o));
    CHECK_EQ(l->e->len, 0);
    pair.end[0].other = &pair.end[1];
    pair.end[0].wire = erdma_wire_new(l->s->hosts.fabric, &fake_wire_ops,
                                      &pair.end[0]);
    wire_end_feed(&pair.end[0], &h, sizeof(h));
    wire_end_feed(&pair.end[0], &o, sizeof(o));
    wire_end_deliver(&pair.end[0]);
    CHECK_EQ(pair.end[1].len, sizeof(h) + sizeof(o) + sizeof(WireAccept));
    wire_pair_free(&pair);
}

/* The stream is over and its QP has lost its peer; card and guest have not */
static void check_broken(PeerFixture *l, const Bad *b)
{
    Wr wr = fixture_send(l->s, 0, 8);
    WireHello h = peer_hello();
    bool retry = false;
    Wc wc;

    if (!l->e->broken || !strstr(l->e->why, b->why)) {
        tap_fail(__FILE__, __LINE__, "%s: %s, not \"%s\"", b->name,
                 l->e->broken ? l->e->why : "accepted", b->why);
    }
    peer_feed(l, &h, sizeof(h));
    CHECK_EQ(l->e->len, 0);             /* swallowed */
    check_swallows(l);
    qp_send(&l->s->aqp, &wr);
    hosts_advance(&l->s->hosts, 10 * SECOND);
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
        PeerFixture *l = peer_connected();

        bad[i].state(l);
        CHECK(!l->e->broken);
        bad[i].say(l);
        check_broken(l, &bad[i]);
        peer_free(l);
    }
}
