/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cards of different processes: data, and how they find each other. The suite
 * as a whole runs over wires too (--wire); this is what only wires have.
 */
#include <stdlib.h>

#include "two_hosts.h"

/* ---- data ---- */

static const uint8_t moving[] = {
    ERDMA_OP_WRITE, ERDMA_OP_WRITE_IMM, ERDMA_OP_SEND, ERDMA_OP_SEND_IMM,
    ERDMA_OP_READ,
};

static void move(Fixture *s, uint8_t opcode, uint32_t len)
{
    bool receives = opcode != ERDMA_OP_WRITE && opcode != ERDMA_OP_READ;
    Wr wr = fixture_write(s, 0, 64, len);
    uint8_t *to = opcode == ERDMA_OP_READ ? fixture_a(s, 0) : fixture_b(s, 0);
    uint8_t *from = opcode == ERDMA_OP_READ ? fixture_b(s, 0) : fixture_a(s, 0);
    Wc wc;

    if (opcode == ERDMA_OP_READ) {
        wr = fixture_read(s, 64, 0, len);
    }
    wr.opcode = opcode;
    wr.imm = 0x12345678;
    memset(to, 0x5a, len + 128);
    pattern(from, len, len + opcode);
    if (receives) {
        fixture_recv(s, 64, len);
    }
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    wc = cq_expect(&s->acq);
    CHECK_EQ(wc.syndrome, 0);
    CHECK_EQ(wc.size, len);
    CHECK(is_pattern(to + 64, len, len + opcode));
    CHECK(is_fill(to, 64, 0x5a));
    CHECK(is_fill(to + 64 + len, 64, 0x5a));
    if (receives) {
        wc = cq_expect(&s->bcq);
        CHECK_EQ(wc.syndrome, 0);
        CHECK_EQ(wc.size, len);
    }
    CHECK(!cq_poll(&s->bcq, &wc));
}

static void move_all(WireMode mode, size_t piece)
{
    static const uint32_t sizes[] = {
        0, 1, 2, 8, 255, 256, 257, 4095, 4096, 4097, 65535, 65536, 65537,
        MIB - 1, MIB, MIB + 1, 3 * MIB + 17, 6 * MIB,
    };
    Fixture *s = fixture_new_wired(mode, 7 * MIB, true, NULL);
    unsigned n = fake_default_mode == MAP_DIRECT ? 18 : 16;

    a_end(s)->piece = b_end(s)->piece = piece;
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < sizeof(moving); k++) {
            move(s, moving[k], sizes[i]);
        }
    }
    CHECK(!a_end(s)->broken && !b_end(s)->broken);
    fixture_free(s);
}

TEST_OWN_WIRES(every_operation_of_any_size_crosses_with_shared_memory)
{
    move_all(WIRE_MODE_SHARED, 0);
}

TEST_OWN_WIRES(every_operation_of_any_size_crosses_as_bytes)
{
    move_all(WIRE_MODE_BYTES, 0);
}

TEST_OWN_WIRES(stream_may_be_split_anywhere)
{
    static const size_t pieces[] = { 1, 7, 16, 33 };

    for (unsigned i = 0; i < 4; i++) {
        for (unsigned k = 0; k < 2; k++) {
            Fixture *s = fixture_new_wired(modes[k], 8192, true, NULL);

            a_end(s)->piece = b_end(s)->piece = pieces[i];
            for (unsigned n = 0; n < sizeof(moving); n++) {
                move(s, moving[n], 600);
            }
            fixture_free(s);
        }
    }
}

TEST_OWN_WIRES(atomics_cross)
{
    for (unsigned k = 0; k < 2; k++) {
        Fixture *s = fixture_new_wired(modes[k], 4096, true, NULL);
        Wr wr = fixture_write(s, 0, 8, 8);
        uint64_t v = 5;

        memcpy(fixture_b(s, 8), &v, 8);
        wr.opcode = ERDMA_OP_ATOMIC_FAA;
        wr.swap_add = 10;
        qp_send(&s->aqp, &wr);
        wr.opcode = ERDMA_OP_ATOMIC_CAS;
        wr.compare = 15;
        wr.swap_add = 99;
        wr.sge[0].addr += 8;
        qp_send(&s->aqp, &wr);
        hosts_run(&s->hosts);
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        CHECK_EQ(*(uint64_t *)fixture_a(s, 0), 5);
        CHECK_EQ(*(uint64_t *)fixture_a(s, 8), 15);
        CHECK_EQ(*(uint64_t *)fixture_b(s, 8), 99);
        fixture_free(s);
    }
}

TEST_OWN_WIRES(shared_payload_is_copied_once)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, MIB, true, NULL);
    Wr wr = fixture_write(s, 0, 0, MIB);

    if (fake_default_mode != MAP_SHORT) {
        b_end(s)->most = a_end(s)->most = 0;
        qp_send(&s->aqp, &wr);
        hosts_run(&s->hosts);
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        CHECK_EQ(b_end(s)->pulled, MIB);
        CHECK(b_end(s)->most < 256);    /* a range, not the payload */
        CHECK(a_end(s)->most < 256);
    }
    fixture_free(s);
}

TEST_OWN_WIRES(memory_shared_in_part_crosses_in_both_ways)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, MIB, true, NULL);
    uint32_t cut[] = { 0, 1, 4096, 5000, 100000, 700000 };

    for (unsigned i = 0; i < 6; i++) {
        s->a->h->private_from = s->abuf + cut[i];
        s->b->h->private_from = s->bbuf + cut[i];
        s->a->h->private_len = s->b->h->private_len = 90000 + i;
        for (unsigned k = 0; k < sizeof(moving); k++) {
            move(s, moving[k], MIB - 200);
        }
    }
    fixture_free(s);
}

TEST_OWN_WIRES(payload_that_is_not_where_the_peer_says_fails_one_connection)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr wr = fixture_write(s, 0, 0, 4096), after = fixture_write(s, 0, 4096, 64);

    b_end(s)->other_host = NULL;        /* as if unplugged */
    qp_post(&s->aqp, &wr);
    qp_post(&s->aqp, &after);
    qp_ring(&s->aqp);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SEND_BOUNDS);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    expect_no_aeqe(s->b);
    CHECK(is_fill(fixture_b(s, 4096), 64, 0xa5)); /* not executed */
    CHECK(!b_end(s)->broken);
    CHECK(anew(s, 100));
    fixture_free(s);

    s = fixture_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    wr = fixture_read(s, 0, 0, 4096);
    a_end(s)->other_host = NULL;
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RECV_BOUNDS);
    CHECK(!a_end(s)->broken);
    CHECK(anew(s, 100));
    fixture_free(s);
}

/* ---- finding each other ---- */

TEST_OWN_WIRES(both_ends_may_become_rts_at_once)
{
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, 8192, false);

    qp_connect(&s->aqp, &s->bqp);
    CHECK_EQ(waiting(a_end(s), WIRE_OFFER), 1);
    CHECK_EQ(waiting(b_end(s), WIRE_OFFER), 1);
    settle(s);
    CHECK(works(s, &s->aqp, &s->bqp, 100));
    CHECK(!a_end(s)->broken && !b_end(s)->broken);
    fixture_free(s);
}

TEST_OWN_WIRES(work_is_held_until_the_other_process_is_there)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 8192, false, NULL);
    Wr wr = fixture_send(s, 0, 64);

    kill_wire(s);
    CHECK_EQ(qp_rts(&s->aqp, &s->bqp, 7, false), 0);
    qp_send(&s->aqp, &wr);
    hosts_advance(&s->hosts, 5 * SECOND);
    CHECK_EQ(qp_rts(&s->bqp, &s->aqp, 7, true), 0);
    hosts_advance(&s->hosts, 4 * SECOND);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    new_wire(s);
    fixture_recv(s, 0, 64);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, 0);
    fixture_free(s);
}

TEST_OWN_WIRES(other_process_that_never_comes_costs_the_hold_time)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 8192, false, NULL);
    Wr wr = fixture_send(s, 0, 64);

    CHECK_EQ(qp_rts(&s->aqp, &s->bqp, 7, false), 0);
    qp_send(&s->aqp, &wr);
    hosts_advance(&s->hosts, 10 * SECOND);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    fixture_free(s);
}

TEST_OWN_WIRES(queue_pair_that_was_withdrawn_is_not_found)
{
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, 8192, false);
    Wr wr = fixture_send(s, 0, 64);

    CHECK_EQ(qp_rts(&s->aqp, &s->bqp, 7, true), 0);
    CHECK_EQ(qp_destroy(&s->aqp), 0);
    CHECK_EQ(qp_rts(&s->bqp, &s->aqp, 7, false), 0);
    qp_send(&s->bqp, &wr);
    settle(s);
    hosts_advance(&s->hosts, 10 * SECOND);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_RETRY_EXC);
    CHECK(!a_end(s)->broken && !b_end(s)->broken);
    fixture_free(s);
}

TEST_OWN_WIRES(offer_accepted_after_its_queue_pair_has_gone_is_closed)
{
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, 8192, false);
    Wr wr = fixture_send(s, 0, 64);

    CHECK_EQ(qp_rts(&s->bqp, &s->aqp, 7, false), 0);
    qp_send(&s->bqp, &wr);
    CHECK_EQ(qp_rts(&s->aqp, &s->bqp, 7, true), 0);
    to_b(s);                            /* accepted there, work sent */
    CHECK_EQ(waiting(a_end(s), WIRE_ACCEPT), 1);
    CHECK_EQ(qp_destroy(&s->aqp), 0);
    settle(s);
    hosts_advance(&s->hosts, 10 * SECOND);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_RETRY_EXC);
    CHECK(!a_end(s)->broken && !b_end(s)->broken);
    CHECK(anew(s, 100));
    fixture_free(s);
}

TEST_OWN_WIRES(cards_of_one_process_find_each_other_without_the_wire)
{
    Hosts b;
    Fixture s = { 0 };
    WirePair pair;
    ErdmaFabric *other = erdma_fabric_new();

    hosts_init_wired(&b, 2, 2, NULL, WIRE_MODE_OFF);
    wire_pair_init(&pair, b.fabric, &b.host[0], other, &b.host[1]);
    while (wire_end_deliver(&pair.end[0]) || wire_end_deliver(&pair.end[1])) {
    }
    for (unsigned i = 0; i < 2; i++) {
        card_up(&b.card[i], 4, 2);
    }
    cq_init(&s.acq, &b.card[0], 64, 1);
    cq_init(&s.bcq, &b.card[1], 64, 1);
    qp_init(&s.aqp, &b.card[0], &s.acq, QUEUE_KERNEL);
    qp_init(&s.bqp, &b.card[1], &s.bcq, QUEUE_KERNEL);
    qp_connect(&s.aqp, &s.bqp);
    /* the first one was offered, nothing else was said */
    CHECK_EQ(waiting(&pair.end[1], WIRE_OFFER), 1);
    qp_recv(&s.bqp, 0, 0, 0);
    qp_send(&s.aqp, &(Wr) { .opcode = ERDMA_OP_SEND });
    CHECK_EQ(cq_expect(&s.acq).syndrome, 0);
    CHECK_EQ(waiting(&pair.end[1], 0), 1);
    wire_pair_free(&pair);
    hosts_free(&b);
    erdma_fabric_free(other);
}

/* ---- three processes ---- */

typedef struct Trio {
    Hosts hosts;
    Cq cq[3];
    Qp qp[3][3];                /* [i][k]: of card i, to card k */
    uint64_t buf[3];
    uint32_t key[3];
} Trio;

static Trio *trio_new(WireMode mode)
{
    Trio *t = calloc(1, sizeof(*t));

    hosts_init_wired(&t->hosts, 3, 3, NULL, mode);
    for (unsigned i = 0; i < 3; i++) {
        Card *c = &t->hosts.card[i];

        card_up(c, 4, 2);
        cq_init(&t->cq[i], c, 256, 1);
        t->buf[i] = fake_alloc(c->h, 65536);
        t->key[i] = mr_reg(c, t->buf[i], t->buf[i], 65536, ALL_RIGHTS);
        pattern(fake_ptr(c->h, t->buf[i], 65536), 65536, i);
        for (unsigned k = 0; k < 3; k++) {
            if (k != i) {
                qp_init(&t->qp[i][k], c, &t->cq[i], QUEUE_KERNEL);
            }
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned k = i + 1; k < 3; k++) {
            qp_connect(&t->qp[i][k], &t->qp[k][i]);
        }
    }
    hosts_run(&t->hosts);
    return t;
}

static void trio_free(Trio *t)
{
    hosts_free(&t->hosts);
    free(t);
}

static void trio_send(Trio *t, unsigned from, unsigned to)
{
    Wr wr = {
        .opcode = ERDMA_OP_SEND, .nsge = 1,
        .sge = { { t->buf[from] + 1000, 2000, t->key[from] } },
    };

    qp_recv(&t->qp[to][from], t->buf[to] + 30000, 2000, t->key[to]);
    qp_send(&t->qp[from][to], &wr);
}

TEST_OWN_WIRES(three_processes_are_connected_in_pairs)
{
    for (unsigned m = 0; m < 2; m++) {
        Trio *t = trio_new(modes[m]);

        for (unsigned i = 0; i < 6; i++) {
            unsigned from = i % 3, to = (from + 1 + i / 3) % 3;
            Card *c = &t->hosts.card[to];
            Wc wc;

            trio_send(t, from, to);
            hosts_run(&t->hosts);
            CHECK_EQ(cq_expect(&t->cq[from]).syndrome, 0);
            wc = cq_expect(&t->cq[to]);
            CHECK_EQ(wc.syndrome, 0);
            CHECK_EQ(wc.qpn, t->qp[to][from].qpn);
            CHECK(!memcmp(fake_ptr(c->h, t->buf[to] + 30000, 2000),
                          fake_ptr(t->hosts.card[from].h, t->buf[from] + 1000,
                                   2000), 2000));
        }
        trio_free(t);
    }
}

TEST_OWN_WIRES(process_that_dies_leaves_the_connection_of_the_others)
{
    Trio *t = trio_new(WIRE_MODE_SHARED);

    t->hosts.slow = true;
    trio_send(t, 0, 1);
    trio_send(t, 0, 2);
    wire_pair_free(&t->hosts.wire[0]);            /* 0-1 */
    t->hosts.slow = false;
    hosts_run(&t->hosts);
    CHECK_EQ(cq_expect(&t->cq[0]).qpn, t->qp[0][2].qpn);
    CHECK_EQ(cq_expect(&t->cq[2]).syndrome, 0);
    CHECK(!cq_poll(&t->cq[0], &(Wc) { 0 }));
    hosts_advance(&t->hosts, 10 * SECOND);
    CHECK_EQ(cq_expect(&t->cq[0]).syndrome, ERDMA_WC_RETRY_EXC);
    trio_send(t, 2, 0);
    hosts_run(&t->hosts);
    CHECK_EQ(cq_expect(&t->cq[2]).syndrome, 0);
    CHECK_EQ(cq_expect(&t->cq[0]).syndrome, 0);
    trio_free(t);
}
