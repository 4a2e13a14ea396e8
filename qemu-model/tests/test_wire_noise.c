/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Garbage on a wire does no harm.
 */
#include "peer_fixture.h"

#define SECOND  1000000000ull

/* ---- garbage ---- */

static uint32_t rnd(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* Every byte of the fixed part of every message, in every state */
TEST_OWN_WIRES(any_byte_of_any_message_may_be_wrong)
{
    static void (*const states[])(PeerFixture *l) = {
        peer_idle, peer_wrote, peer_reads, peer_atomic, peer_pushes,
        peer_read_asked, peer_pushed, peer_read_from,
    };
    static const uint8_t flips[] = { 0xff, 0x01, 0x80 };
    unsigned step = fake_default_mode == MAP_DIRECT ? 2 : 11;

    for (unsigned s = 0; s < 8; s++) {
        for (unsigned n = s % step; n < 64 * 3; n += step) {
            PeerFixture *l = peer_connected();
            uint8_t msg[3][64];
            WireRequest r = peer_request(l, s >= 6, ERDMA_OP_WRITE, 100);
            WireValue v = peer_value(l, s == 2 || s == 5 ? WIRE_READ_DATA :
                                     s == 3 ? WIRE_ATOMIC :
                                     s == 6 ? WIRE_PUSH_DATA :
                                     WIRE_PUSH_CREDIT, 0,
                                     s == 4 || s == 7 ? 1000 : 0);
            WireAck a = peer_ack(l, n % 2 ? WIRE_ACK : WIRE_NAK, n % 2,
                                 n % 2 ? 0 : 1);

            memset(msg, 0, sizeof(msg));
            memcpy(msg[0], &r, sizeof(r));
            memcpy(msg[1], &v, sizeof(v));
            memcpy(msg[2], &a, sizeof(a));
            states[s](l);
            for (unsigned k = 0; k < 3 && !l->e->broken; k++) {
                uint32_t len = k == 0 ? sizeof(r) : k == 1 ? sizeof(v) :
                                                             sizeof(a);

                msg[k][n / 3] ^= flips[n % 3];
                peer_feed(l, msg[k], len);
                l->e->len = 0;
            }
            hosts_run(&l->s->hosts);
            hosts_advance(&l->s->hosts, 20 * SECOND);
            expect_no_timer(l->s->a);
            peer_free(l);
        }
    }
}

static void random_message(PeerFixture *l, uint32_t *seed)
{
    static const uint32_t size[] = { 40, 44, 24, 16, 64, 32, 32, 32, 32, 32,
                                     24, 24 };
    uint8_t msg[400];
    unsigned type = rnd(seed) % 12, extra = 0;
    WireHdr h = PEER_HDR(type + 1, size[type], l->id, l->gen);

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
    peer_feed(l, msg, size[type] + extra);
}

TEST_OWN_WIRES(random_messages_do_no_harm)
{
    for (uint32_t n = 1; n <= 400; n++) {
        uint32_t seed = n * 7919;
        PeerFixture *l = peer_connected();

        for (unsigned i = 0; i < 40 && !l->e->broken; i++) {
            Wr wr = fixture_read(l->s, 0, 0, rnd(&seed) % 600);

            if (rnd(&seed) % 4 == 0) {
                wr.opcode = rnd(&seed) % 2 ? ERDMA_OP_READ : ERDMA_OP_SEND;
                qp_send(&l->s->aqp, &wr);
            }
            if (rnd(&seed) % 4 == 0) {
                qp_recv(&l->s->aqp, l->s->abuf, 600, l->s->akey);
            }
            random_message(l, &seed);
            hosts_run(&l->s->hosts);
        }
        hosts_advance(&l->s->hosts, 20 * SECOND);
        expect_no_timer(l->s->a);
        peer_free(l);
    }
}

/* Real conversations with some bytes flipped */
static void spoilt_conversation(WireMode mode, uint32_t seed)
{
    Fixture *s = fixture_new_wired(mode, 65536, true, NULL);
    uint64_t canary = fake_alloc(s->b->h, 4096);
    Wc wc;

    s->hosts.slow = true;
    for (unsigned i = 0; i < 20; i++) {
        Wr wr = fixture_write(s, rnd(&seed) % 20000, rnd(&seed) % 20000,
                              rnd(&seed) % 20000);

        wr.opcode = rnd(&seed) % 8;
        if (wr.opcode == ERDMA_OP_RECV) {
            wr.opcode = ERDMA_OP_READ;
        }
        qp_send(&s->aqp, &wr);
        fixture_recv(s, 0, 30000);
        for (unsigned n = rnd(&seed) % 6; n; n--) {
            WireEnd *e = &s->hosts.wire[0].end[rnd(&seed) % 2];

            if (e->len && rnd(&seed) % 4 == 0) {
                e->buf[rnd(&seed) % e->len] ^= 1u << rnd(&seed) % 8;
            }
            wire_end_deliver(e);
            hosts_run(&s->hosts);
        }
    }
    hosts_run(&s->hosts);
    hosts_advance(&s->hosts, 20 * SECOND);
    expect_no_timer(s->a);
    expect_no_timer(s->b);
    while (cq_poll(&s->acq, &wc) || cq_poll(&s->bcq, &wc)) {
    }
    CHECK(is_fill(fake_ptr(s->b->h, canary, 4096), 4096, 0xa5));
    fixture_free(s);
}

TEST_OWN_WIRES(spoilt_conversations_do_no_harm)
{
    for (uint32_t n = 1; n <= 300; n++) {
        spoilt_conversation(n % 2 ? WIRE_MODE_SHARED : WIRE_MODE_BYTES,
                            n * 104729);
    }
}
