/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much another process may make this one keep and do; memory that changes
 * under a message.
 */
#include <stdlib.h>

#include "two_hosts.h"

/* ---- how much is stored and done ---- */

/* Bytes that were asked for wait in the stream; not all that there is */
TEST_OWN_WIRES(unshared_payload_in_the_stream_is_bounded_for_one_and_for_all)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_BYTES, 8 * MIB, true, NULL);
    Qp a[8], b[8];

    for (unsigned i = 0; i < 8; i++) {
        qp_init(&a[i], s->a, &s->acq, QUEUE_KERNEL);
        qp_init(&b[i], s->b, &s->bcq, QUEUE_KERNEL);
        qp_connect(&a[i], &b[i]);
    }
    hosts_run(&s->hosts);
    for (unsigned read = 0; read < 2; read++) {
        WireEnd *e = read ? a_end(s) : b_end(s);
        Wr wr = fixture_write(s, 0, 0, 8 * MIB);

        wr.opcode = read ? ERDMA_OP_READ : ERDMA_OP_WRITE;
        e->most = 0;
        qp_send(&s->aqp, &wr);
        hosts_run(&s->hosts);
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        CHECK(e->most < 2 * MIB + 100000);
        e->most = 0;
        s->hosts.slow = true;
        for (unsigned i = 0; i < 8; i++) {
            qp_send(&a[i], &wr);
        }
        deliver_all(b_end(s));          /* requests */
        deliver_all(a_end(s));          /* credit, or "ask me" */
        if (read) {
            deliver_all(b_end(s));
        }
        hosts_run(&s->hosts);
        CHECK(e->len > 4 * MIB);
        CHECK(e->len < 8 * MIB + 100000);
        s->hosts.slow = false;
        hosts_run(&s->hosts);
        for (unsigned i = 0; i < 8; i++) {
            CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        }
        CHECK(e->most < 8 * MIB + 100000);
    }
    fixture_free(s);
}

/* A connection that ends gives back what it had asked for */
TEST_OWN_WIRES(bytes_asked_for_by_connections_that_end_are_free_for_others)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_BYTES, 8 * MIB, true, NULL);
    Wr wr = fixture_write(s, 0, 0, 8 * MIB);

    for (unsigned i = 0; i < 20; i++) {
        Qp a, b;

        qp_init(&a, s->a, &s->acq, QUEUE_KERNEL);
        qp_init(&b, s->b, &s->bcq, QUEUE_KERNEL);
        qp_connect(&a, &b);
        hosts_run(&s->hosts);
        s->hosts.slow = true;
        wr.opcode = i % 2 ? ERDMA_OP_WRITE : ERDMA_OP_READ;
        qp_send(&a, &wr);
        for (unsigned n = 0; n < 3; n++) {
            wire_end_deliver_one(b_end(s));
            wire_end_deliver_one(a_end(s));
        }
        if (i % 3) {
            CHECK_EQ(qp_destroy(&a), 0);
            CHECK_EQ(qp_destroy(&b), 0);
        } else {
            CHECK_EQ(qp_modify(&b, ERDMA_QPS_ERROR), 0);
        }
        s->hosts.slow = false;
        hosts_run(&s->hosts);
    }
    ends(&s->acq, ERDMA_CQE_QTYPE_SQ);
    wr.opcode = ERDMA_OP_WRITE;
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    wr.opcode = ERDMA_OP_READ;
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    fixture_free(s);
}

TEST_OWN_WIRES(one_input_does_a_bounded_amount_of_work)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, MIB, true, NULL);
    Wr wr = fixture_write(s, 0, 0, MIB);

    if (fake_default_mode != MAP_SHORT) {
        s->hosts.slow = true;
        for (unsigned i = 0; i < 20; i++) {
            qp_post(&s->aqp, &wr);
        }
        qp_ring(&s->aqp);
        hosts_run(&s->hosts);
        wire_end_deliver(b_end(s));
        CHECK_EQ(b_end(s)->pulled, 4 * MIB);
        CHECK(b_end(s)->again);
        s->hosts.slow = false;
        hosts_run(&s->hosts);
        CHECK_EQ(b_end(s)->pulled, 20 * MIB);
        CHECK(!b_end(s)->again);
    }
    fixture_free(s);
}

TEST_OWN_WIRES(work_that_waited_is_done_in_turns_of_bounded_size)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, MIB, true, NULL);
    Wr wr = fixture_send(s, 0, MIB);

    if (fake_default_mode != MAP_SHORT) {
        for (unsigned i = 0; i < 20; i++) {
            qp_post(&s->aqp, &wr);
        }
        qp_ring(&s->aqp);
        hosts_run(&s->hosts);
        for (unsigned i = 0; i < 20; i++) {
            qp_post_recv(&s->bqp, s->bbuf, MIB, s->bkey);
        }
        qp_ring_recv(&s->bqp);
        CHECK_EQ(b_end(s)->pulled, 0);  /* not on the processor that rang */
        CHECK(s->b->f.kicked);
        s->b->f.kicked = false;
        erdma_core_run(s->b->core);
        CHECK_EQ(b_end(s)->pulled, 4 * MIB);
        hosts_run(&s->hosts);
        for (unsigned i = 0; i < 20; i++) {
            CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        }
    }
    fixture_free(s);
}

static Qp *many_qps(Card *c, Cq *cq, unsigned n)
{
    Qp *qp = calloc(n, sizeof(*qp));

    for (unsigned i = 0; i < n; i++) {
        QpOpt o = {
            .kind = QUEUE_INLINE, .sq_depth = 64, .rq_depth = 64, .scq = cq,
            .rcq = cq,
        };

        qp_init_opt(&qp[i], c, &o);
    }
    return qp;
}

/* Peers that send without end, to QPs that never post a receive */
TEST_OWN_WIRES(what_waits_for_receives_is_bounded_for_all)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 65536, true, NULL);
    unsigned n = 560, good = 0;
    Wc wc;
    Qp *a = many_qps(s->a, &s->acq, n), *b = many_qps(s->b, &s->bcq, n);
    Wr wr = fixture_send(s, 0, 256);

    for (unsigned i = 0; i < n; i++) {
        qp_connect(&a[i], &b[i]);
        for (unsigned k = 0; k < 64; k++) {
            qp_post(&a[i], &wr);
        }
        qp_ring(&a[i]);
        hosts_run(&s->hosts);
    }
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < 64; k++) {
            qp_post_recv(&b[i], s->bbuf, 256, s->bkey);
        }
        qp_ring_recv(&b[i]);
        hosts_run(&s->hosts);
        for (unsigned k = 0; k < 64 && cq_poll(&s->acq, &wc); k++) {
            CHECK_EQ(wc.syndrome, 0);
            good++;
            CHECK_EQ(cq_expect(&s->bcq).syndrome, 0);
        }
    }
    CHECK_EQ(good, 512 * 64);           /* 32 KiB each in 16 MiB */
    for (unsigned i = 0; i < 20; i++) {
        hosts_advance(&s->hosts, SECOND);
    }
    CHECK_EQ(counters(s->a).retry_exceeded, n - 512);
    while (cq_poll(&s->acq, &wc)) {
    }
    /* there is room again */
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    fixture_recv(s, 0, 256);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, 0);
    free(a);
    free(b);
    fixture_free(s);
}

/* A peer that never answers, and a guest that has work for it in all its QPs */
TEST_OWN_WIRES(requests_in_flight_are_bounded_for_all_and_nobody_is_left_out)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 65536, true, NULL);
    unsigned n = 530;
    Qp *a = many_qps(s->a, &s->acq, n), *b = many_qps(s->b, &s->bcq, n);
    Wr wr = { .opcode = ERDMA_OP_WRITE, .unsignaled = true };

    for (unsigned i = 0; i < n; i++) {
        qp_connect(&a[i], &b[i]);
    }
    hosts_run(&s->hosts);
    s->hosts.slow = true;
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < 64; k++) {
            qp_post(&a[i], &wr);
        }
        qp_ring(&a[i]);
    }
    hosts_run(&s->hosts);
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), 512 * 64 + (n - 512));
    CHECK_EQ(counters(s->a).held, 0);
    settle(s);
    CHECK_EQ(counters(s->a).tx_reqs, n * 64);
    CHECK_EQ(counters(s->a).cqes_error, 0);
    free(a);
    free(b);
    fixture_free(s);
}

/*
 * Many connections have work that waited for one message of each, and all of
 * these come at once: more than the turn may do.
 */
TEST_OWN_WIRES(work_that_waited_behind_a_message_is_done_for_all_connections)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_BYTES, 200000, true, NULL);
    unsigned n = 22, writes = 60;
    Qp *a = many_qps(s->a, &s->acq, n), *b = many_qps(s->b, &s->bcq, n);
    Wr large = fixture_send(s, 0, 150000);
    Wr small = { .opcode = ERDMA_OP_WRITE, .unsignaled = true };

    for (unsigned i = 0; i < n; i++) {
        qp_connect(&a[i], &b[i]);
        qp_recv(&b[i], s->bbuf, 150000, s->bkey);
    }
    hosts_run(&s->hosts);
    s->hosts.slow = true;
    large.unsignaled = true;
    for (unsigned i = 0; i < n; i++) {
        qp_post(&a[i], &large);
        for (unsigned k = 0; k < writes; k++) {
            qp_post(&a[i], &small);
        }
        qp_ring(&a[i]);
    }
    hosts_run(&s->hosts);
    deliver_all(b_end(s));              /* requests */
    deliver_all(a_end(s));              /* credit */
    hosts_run(&s->hosts);
    settle(s);                          /* data */
    CHECK_EQ(counters(s->a).tx_reqs, n * (1 + writes));
    free(a);
    free(b);
    fixture_free(s);
}

TEST_OWN_WIRES(hundreds_of_connections_share_a_wire_and_its_end)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 65536, true, NULL);
    unsigned n = 700;
    Qp *a = many_qps(s->a, &s->acq, n), *b = many_qps(s->b, &s->bcq, n);
    Wr wr = fixture_send(s, 0, 300);
    unsigned good = 0;
    Wc wc;

    for (unsigned i = 0; i < n; i++) {
        qp_connect(&a[i], &b[n - 1 - i]);
    }
    hosts_run(&s->hosts);
    for (unsigned i = 0; i < n; i++) {
        qp_recv(&b[n - 1 - i], s->bbuf, 300, s->bkey);
        qp_send(&a[i], &wr);
        hosts_run(&s->hosts);
        CHECK_EQ(cq_expect(&s->acq).qpn, a[i].qpn);
        CHECK_EQ(cq_expect(&s->bcq).qpn, b[n - 1 - i].qpn);
    }
    s->hosts.slow = true;
    for (unsigned i = 0; i < n; i++) {
        qp_send(&a[i], &wr);
    }
    kill_wire(s);
    for (unsigned i = 0; i < 20; i++) {
        hosts_advance(&s->hosts, SECOND);
    }
    while (cq_poll(&s->acq, &wc)) {
        CHECK_EQ(wc.syndrome, ERDMA_WC_RETRY_EXC);
        good++;
    }
    CHECK_EQ(good, n);
    expect_no_timer(s->a);
    free(a);
    free(b);
    fixture_free(s);
}

/* ---- memory that changes under a message ---- */

static void goes_on(Fixture *s)
{
    s->hosts.slow = false;
    hosts_run(&s->hosts);
}

/* Its memory is the guest's again: what it holds now is not for the peer */
TEST_OWN_WIRES(data_of_a_queue_pair_that_was_destroyed_is_not_delivered)
{
    for (unsigned i = 0; i < 3; i++) {
        Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 2 * MIB, true, NULL);
        Wr wr = fixture_send(s, 0, i == 2 ? 2 * MIB : 4096);
        Qp other;

        wr.opcode = i == 1 ? ERDMA_OP_SEND_IMM : ERDMA_OP_SEND;
        fixture_recv(s, 0, 2 * MIB);
        s->hosts.slow = true;
        qp_send(&s->aqp, &wr);
        if (i == 1) {
            CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_ERROR), 0);
        } else {
            CHECK_EQ(qp_destroy(&s->aqp), 0);
        }
        /* another one has its id, not its generation */
        if (i) {
            qp_init(&other, s->a, &s->acq, QUEUE_KERNEL);
            CHECK_EQ(qp_rts(&other, &s->bqp, 9, true), 0);
        }
        memset(fixture_a(s, 0), 0xee, 4096);
        goes_on(s);
        CHECK(!cq_poll(&s->bcq, &(Wc) { 0 }));
        expect_no_aeqe(s->b);
        CHECK(!a_end(s)->broken && !b_end(s)->broken);
        CHECK_EQ(qp_modify(&s->bqp, ERDMA_QPS_CLOSING), 0);
        CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_FLUSHED);
        if (i == 1) {
            CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
        }
        CHECK(anew(s, 5000));
        fixture_free(s);
    }
}

TEST_OWN_WIRES(data_granted_by_a_queue_pair_that_was_destroyed_is_not_read)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr wr = fixture_read(s, 0, 0, 4096);

    s->hosts.slow = true;
    qp_send(&s->aqp, &wr);
    wire_end_deliver(b_end(s));
    CHECK_EQ(qp_destroy(&s->bqp), 0);
    memset(fixture_b(s, 0), 0xee, 4096);
    goes_on(s);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    hosts_advance(&s->hosts, 10 * SECOND);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    CHECK(!a_end(s)->broken && !b_end(s)->broken);
    fixture_free(s);
}

TEST_OWN_WIRES(table_of_the_living_that_cannot_be_read_costs_the_connection)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr wr = fixture_write(s, 0, 0, 4096);

    b_end(s)->other_alive = NULL;
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    hosts_advance(&s->hosts, 10 * SECOND);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    fixture_free(s);
}

/* As many connections as the table has room for */
TEST_OWN_WIRES(queue_pairs_beyond_the_table_find_no_peer)
{
    static uint32_t table[2];
    Hosts b;
    Cq cq;
    Qp qp[3];
    WirePair pair;
    ErdmaFabric *other = erdma_fabric_new();

    hosts_init_wired(&b, 1, 1, NULL, WIRE_MODE_OFF);
    memset(table, 0, sizeof(table));
    erdma_fabric_share(b.fabric, table, sizeof(table), FAKE_ALIVE);
    wire_pair_init(&pair, b.fabric, &b.host[0], other, &b.host[0]);
    while (wire_end_deliver(&pair.end[0]) || wire_end_deliver(&pair.end[1])) {
    }
    card_up(&b.card[0], 4, 2);
    cq_init(&cq, &b.card[0], 64, 1);
    for (unsigned i = 0; i < 3; i++) {
        qp_init(&qp[i], &b.card[0], &cq, QUEUE_KERNEL);
        CHECK_EQ(qp_rts(&qp[i], &qp[i], 7 + i, true), 0);
    }
    CHECK(le32toh(table[0]) && le32toh(table[1]));
    CHECK(table[0] != table[1]);
    CHECK_EQ(pair.end[1].len, 2 * sizeof(WireOffer));
    CHECK_EQ(qp_destroy(&qp[1]), 0);
    CHECK(table[0] && !table[1]);
    wire_pair_free(&pair);
    hosts_free(&b);
    erdma_fabric_free(other);
    CHECK(!table[0]);
}

static Fixture *streaming(uint8_t opcode, unsigned messages)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_BYTES, 8 * MIB, true, NULL);
    Wr wr = fixture_write(s, 0, 0, 8 * MIB);

    wr.opcode = opcode;
    fixture_recv(s, 0, 8 * MIB);
    s->hosts.slow = true;
    qp_send(&s->aqp, &wr);
    CHECK(deliver_some(s, messages));
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    return s;
}

TEST_OWN_WIRES(region_deregistered_at_the_responder_ends_a_stream)
{
    static const uint8_t ops[] = {
        ERDMA_OP_WRITE, ERDMA_OP_SEND, ERDMA_OP_READ,
    };

    for (unsigned i = 0; i < 3; i++) {
        Fixture *s = streaming(ops[i], 5);

        CHECK_EQ(mr_dereg(s->b, s->bkey), 0);
        goes_on(s);
        CHECK_EQ(cq_expect(&s->acq).syndrome, i == 1 ? ERDMA_WC_GENERAL_ERR :
                                              ERDMA_WC_RECV_STAG);
        CHECK_EQ(cq_expect(&s->bcq).syndrome, i == 1 ? ERDMA_WC_RECV_STAG :
                                              ERDMA_WC_FLUSHED);
        CHECK(!a_end(s)->broken && !b_end(s)->broken);
        fixture_free(s);
    }
}

TEST_OWN_WIRES(region_deregistered_at_the_requester_ends_a_stream)
{
    static const uint8_t ops[] = {
        ERDMA_OP_WRITE, ERDMA_OP_SEND, ERDMA_OP_READ,
    };

    for (unsigned i = 0; i < 3; i++) {
        Fixture *s = streaming(ops[i], 5);

        CHECK_EQ(mr_dereg(s->a, s->akey), 0);
        goes_on(s);
        CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SEND_STAG);
        expect_no_aeqe(s->b);
        CHECK(!a_end(s)->broken && !b_end(s)->broken);
        fixture_free(s);
    }
}

TEST_OWN_WIRES(rings_changed_under_a_stream_change_nothing)
{
    Fixture *s = streaming(ERDMA_OP_SEND, 5);

    memset(qp_block(&s->aqp, 0), 0xff, 32);
    memset(qp_rqe(&s->bqp, 0), 0xff, 32);
    goes_on(s);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK_EQ(cq_expect(&s->bcq).size, 8 * MIB);
    CHECK(is_pattern(fixture_b(s, 0), 8 * MIB, 1));
    fixture_free(s);
}
