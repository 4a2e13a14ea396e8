/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wires: what a good peer says, how a wire begins, and who is meant.
 */
#include "peer_fixture.h"

/* ---- what a good peer says there: the states are what they seem ---- */

#define GOOD(name, state, body) \
    TEST_OWN_WIRES(name) \
    { \
        PeerFixture *l = peer_connected(); \
        peer_##state(l); \
        body \
        peer_free(l); \
    }

GOOD(ack_ends_a_write, wrote, {
    WireAck a = peer_ack(l, WIRE_ACK, 1, 0);
    peer_feed(l, &a, sizeof(a));
    peer_done(l, 0);
})

GOOD(nak_ends_a_write, wrote, {
    WireAck a = peer_ack(l, WIRE_NAK, 0, ERDMA_WC_RECV_PD);
    peer_feed(l, &a, sizeof(a));
    peer_done(l, ERDMA_WC_RECV_PD);
    CHECK_EQ(peer_receive(l, NULL, 0), WIRE_CLOSE);
})

GOOD(read_data_ends_a_read, reads, {
    WireValue v = peer_value(l, WIRE_READ_DATA, 0, 0);
    peer_feed_with(l, &v, sizeof(v), WIRE_BYTES, peer_junk, 64);
    peer_done(l, 0);
})

GOOD(old_value_ends_an_atomic, atomic, {
    WireValue v = peer_value(l, WIRE_ATOMIC, 0, 0x1122);
    peer_feed(l, &v, sizeof(v));
    peer_done(l, 0);
    CHECK_EQ(*(uint64_t *)fixture_a(l->s, 0), 0x1122);
})

GOOD(credit_brings_the_data_of_a_write, pushes, {
    WireValue v = peer_value(l, WIRE_PUSH_CREDIT, 0, 1000);
    WireValue d;
    WireAck a = peer_ack(l, WIRE_ACK, 1, 0);
    peer_feed(l, &v, sizeof(v));
    CHECK_EQ(peer_receive(l, &d, sizeof(d)), WIRE_PUSH_DATA);
    CHECK_EQ(le32toh(d.h.len), sizeof(d) + 1000);
    v = peer_value(l, WIRE_PUSH_CREDIT, 0, PEER_LONG / 4);
    peer_feed(l, &v, sizeof(v));
    CHECK_EQ(peer_receive(l, &d, sizeof(d)), WIRE_PUSH_DATA);
    CHECK_EQ(le64toh(d.value), 1000);
    peer_feed(l, &a, sizeof(a));
    peer_done(l, 0);
})

GOOD(data_asked_for_ends_a_read, read_asked, {
    WireValue v = peer_value(l, WIRE_READ_DATA, 0, 0);
    peer_feed_with(l, &v, sizeof(v), WIRE_BYTES, peer_junk, 20000);
    v = peer_value(l, WIRE_READ_DATA, 0, 20000);
    peer_feed_with(l, &v, sizeof(v), WIRE_BYTES, peer_junk,
                   PEER_LONG / 4 - 20000);
    peer_done(l, 0);
})

GOOD(data_asked_for_ends_a_write_of_the_peer, pushed, {
    WireValue v = peer_value(l, WIRE_PUSH_DATA, 0, 0);
    WireAck a;
    peer_feed_with(l, &v, sizeof(v), WIRE_BYTES, peer_junk, PEER_LONG / 4);
    CHECK_EQ(peer_receive(l, &a, sizeof(a)), WIRE_ACK);
    CHECK_EQ(le32toh(a.seq), 1);
})

GOOD(credit_brings_the_data_of_a_read_of_the_peer, read_from, {
    WireValue v = peer_value(l, WIRE_READ_CREDIT, 0, PEER_LONG / 4);
    peer_feed(l, &v, sizeof(v));
    CHECK_EQ(peer_receive(l, &v, sizeof(v)), WIRE_READ_DATA);
    CHECK_EQ(le32toh(v.h.len), sizeof(v) + PEER_LONG / 4);
    CHECK_EQ(peer_receive(l, NULL, 0), 0);
})

GOOD(close_is_said_when_the_queue_pair_goes, idle, {
    WireHdr h;
    CHECK_EQ(qp_destroy(&l->s->aqp), 0);
    CHECK_EQ(peer_receive(l, &h, sizeof(h)), WIRE_CLOSE);
    CHECK_EQ(le32toh(h.id), PEER_ID);
    CHECK_EQ(le32toh(h.gen), PEER_GEN);
})

GOOD(nothing_is_said_to_a_peer_that_closed, idle, {
    WireHdr h = PEER_HDR(WIRE_CLOSE, sizeof(h), l->id, l->gen);
    Wr wr = fixture_send(l->s, 0, 8);
    peer_feed(l, &h, sizeof(h));
    qp_send(&l->s->aqp, &wr);
    CHECK_EQ(qp_destroy(&l->s->aqp), 0);
    CHECK_EQ(peer_receive(l, NULL, 0), 0);
    CHECK(!l->e->broken);
})

/* ---- hello ---- */

static void bad_hello(void (*spoil)(WireHello *h), const char *why)
{
    PeerFixture *l = peer_new(false);
    WireHello h = peer_hello();

    CHECK_EQ(qp_rts(&l->s->aqp, &l->s->bqp, 7, true), 0);
    spoil(&h);
    peer_feed(l, &h, sizeof(h));
    CHECK(l->e->broken);
    CHECK(strstr(l->e->why, why));
    CHECK_EQ(peer_receive(l, NULL, 0), 0);     /* nothing was offered to it */
    peer_free(l);
}

#define SPOIL(name, body) static void name(WireHello *h) { body; }
SPOIL(other_magic, h->magic ^= 1)
SPOIL(version_0, h->version = 0)
SPOIL(version_old, h->version = htole32(2))
SPOIL(no_window, h->window = 0)
SPOIL(few_bytes, h->window_bytes = htole32(8000))
SPOIL(small_messages, h->message_max = htole32(65536))
SPOIL(with_kind, h->h.kind = 1)
SPOIL(not_hello, h->h.type = WIRE_CLOSE; h->h.len = htole32(16))

TEST_OWN_WIRES(hello_of_another_kind_is_refused)
{
    bad_hello(other_magic, "magic is");
    bad_hello(version_0, "version is 0, expected 3");
    bad_hello(version_old, "version is 2, expected 3");
    bad_hello(no_window, "limits");
    bad_hello(few_bytes, "limits");
    bad_hello(small_messages, "limits");
    bad_hello(with_kind, "kind is 1");
    bad_hello(not_hello, "first message is CLOSE");
}

TEST_OWN_WIRES(window_of_the_peer_is_respected)
{
    PeerFixture *l = peer_new(false);
    WireHello h = peer_hello();
    Wr wr = fixture_write(l->s, 0, 0, 64);
    WireOffer o, m;
    unsigned n = 0;

    h.window = htole32(3);
    peer_feed(l, &h, sizeof(h));
    o = peer_offered(l);
    m = peer_mirror(&o);
    peer_feed(l, &m, sizeof(m));
    CHECK_EQ(peer_receive(l, NULL, 0), WIRE_ACCEPT);
    for (unsigned i = 0; i < 10; i++) {
        qp_send(&l->s->aqp, &wr);
    }
    while (peer_receive(l, NULL, 0) == WIRE_REQUEST) {
        n++;
    }
    CHECK_EQ(n, 3);
    peer_free(l);
}

TEST_OWN_WIRES(nothing_is_offered_before_the_hello)
{
    PeerFixture *l = peer_new(false);
    WireHello h = peer_hello();

    CHECK_EQ(qp_rts(&l->s->aqp, &l->s->bqp, 7, true), 0);
    CHECK_EQ(peer_receive(l, NULL, 0), 0);
    peer_feed(l, &h, sizeof(h));
    CHECK_EQ(peer_receive(l, NULL, 0), WIRE_OFFER);
    CHECK_EQ(peer_receive(l, NULL, 0), 0);
    peer_free(l);
}

/* ---- ids ---- */

TEST_OWN_WIRES(messages_for_other_ids_and_generations_are_dropped)
{
    PeerFixture *l = peer_connected();
    uint32_t id = l->id, gen = l->gen;

    peer_wrote(l);
    for (unsigned i = 0; i < 6; i++) {
        static const uint32_t ids[] = { 0, 1, 63, 64, 1 << 20, 0xffffffff };
        WireHdr close = PEER_HDR(WIRE_CLOSE, sizeof(close), ids[i],
                                 gen + (ids[i] == id));

        l->id = ids[i];
        l->gen = gen + (l->id == id);
        peer_send_ack(l, WIRE_ACK, 1, 0);
        peer_send_ack(l, WIRE_NAK, 0, 1);
        peer_feed(l, &close, sizeof(close));
        peer_send_payload(l, peer_request(l, 0, ERDMA_OP_WRITE, 64), WIRE_BYTES,
                          peer_junk, 64);
        CHECK(!l->e->broken);
        CHECK_EQ(peer_receive(l, NULL, 0), 0);
        CHECK(!cq_poll(&l->s->acq, &(Wc) { 0 }));
    }
    l->id = id;
    l->gen = gen;
    peer_send_ack(l, WIRE_ACK, 1, 0);
    peer_done(l, 0);
    peer_free(l);
}

/* Another process knows the numbers, but it is not the peer */
TEST_OWN_WIRES(messages_from_another_wire_are_dropped)
{
    PeerFixture *l = peer_connected();
    WirePair pair = { 0 };
    WireHello h = peer_hello();
    WireAck a = peer_ack(l, WIRE_ACK, 1, 0);
    WireAccept accept = { .h = PEER_HDR(WIRE_ACCEPT, sizeof(accept), l->id,
                                        l->gen), .id = htole32(1) };
    WireEnd *keep = l->e, *said = l->out;

    pair.end[0].other = &pair.end[1];
    pair.end[0].wire = erdma_wire_new(l->s->hosts.fabric, &fake_wire_ops,
                                      &pair.end[0]);
    l->e = &pair.end[0];
    l->out = &pair.end[1];
    CHECK_EQ(peer_receive(l, NULL, 0), WIRE_HELLO);
    peer_feed(l, &h, sizeof(h));
    l->out = said;
    peer_wrote(l);
    l->out = &pair.end[1];
    peer_feed(l, &a, sizeof(a));
    CHECK(!cq_poll(&l->s->acq, &(Wc) { 0 }));
    peer_feed(l, &accept, sizeof(accept));   /* it is taken: no, thanks */
    CHECK_EQ(peer_receive(l, NULL, 0), WIRE_CLOSE);
    CHECK(!pair.end[0].broken);
    l->e = keep;
    l->out = said;
    peer_feed(l, &a, sizeof(a));
    peer_done(l, 0);
    wire_pair_free(&pair);
    peer_free(l);
}

TEST_OWN_WIRES(accept_of_what_was_not_offered_is_closed)
{
    PeerFixture *l = peer_new(true);
    WireAccept a = { .h = PEER_HDR(WIRE_ACCEPT, sizeof(a), 3, 4),
                     .id = htole32(50), .gen = htole32(60) };
    WireHdr h;

    peer_feed(l, &a, sizeof(a));
    CHECK_EQ(peer_receive(l, &h, sizeof(h)), WIRE_CLOSE);
    CHECK_EQ(le32toh(h.id), 50);
    CHECK_EQ(le32toh(h.gen), 60);
    peer_free(l);
}

TEST_OWN_WIRES(offer_that_fits_nobody_is_not_answered)
{
    PeerFixture *l = peer_new(true);
    WireOffer o = peer_offered(l);
    unsigned lines;

    for (unsigned field = 0; field < 8; field++) {
        WireOffer m = peer_mirror(&o);
        __le32 *part[] = {
            &m.sip, &m.dip, (__le32 *)(void *)&m.sport, &m.cookie,
            &m.peer_cookie, &m.send_nxt, &m.recv_nxt,
        };

        if (field < 7) {
            *part[field] ^= htole32(0x100);
        } else {
            m = o;                      /* itself, not its mirror */
        }
        peer_feed(l, &m, sizeof(m));
        CHECK_EQ(peer_receive(l, NULL, 0), 0);
    }
    /* and it cannot fill the log */
    lines = l->s->a->f.log_lines[ERDMA_LOG_INFO];
    for (unsigned i = 0; i < 1000; i++) {
        WireOffer m = peer_mirror(&o);

        m.cookie = 0;
        peer_feed(l, &m, sizeof(m));
    }
    CHECK(l->s->a->f.log_lines[ERDMA_LOG_INFO] - lines < 50);
    CHECK(!l->e->broken);
    peer_free(l);
}

/* ---- how much work a peer may make ---- */

TEST_OWN_WIRES(payload_named_byte_by_byte_is_worked_on_in_turns)
{
    static WireRange range[WIRE_MAX_RANGES];
    PeerFixture *l = peer_connected();
    const unsigned messages = 20, all = messages * WIRE_MAX_RANGES;

    for (unsigned i = 0; i < WIRE_MAX_RANGES; i++) {
        range[i] = (WireRange) {
            .len = htole32(1), .region = htole32(FAKE_REGION),
        };
    }
    for (unsigned i = 0; i < messages; i++) {
        WireRequest r = peer_request(l, i, ERDMA_OP_WRITE, WIRE_MAX_RANGES);

        r.h.len = htole32(sizeof(r) + sizeof(range));
        r.h.kind = WIRE_RANGES;
        wire_end_feed(l->e, &r, sizeof(r));
        wire_end_feed(l->e, range, sizeof(range));
    }
    wire_end_deliver(l->e);
    CHECK(l->e->pulls <= all / 5);
    CHECK(l->e->again);
    while (l->e->again) {
        wire_end_deliver(l->e);
    }
    CHECK_EQ(l->e->pulls, all);
    CHECK(!l->e->broken);
    peer_free(l);
}
