/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Other processes that die, hang or come again, in every state of the work
 * between them.
 */
#include "two_hosts.h"

#define REQUESTS 9u

/* What takes more than one message */
static uint32_t big(WireMode mode)
{
    return mode == WIRE_MODE_SHARED ? MIB + 10000 : 150000;
}

/* ---- a bit of everything, cut at any message ---- */

static void post_all(Fixture *s)
{
    uint32_t size = s->size;
    Wr wr[REQUESTS] = {
        fixture_send(s, 0, 64), fixture_write(s, 0, 0, size),
        fixture_send(s, 0, 2000), fixture_read(s, 0, 0, size),
        fixture_write(s, 0, 64, 8), fixture_send(s, 0, size),
        fixture_read(s, 0, 0, 100), fixture_write(s, 0, 0, 4096),
        fixture_send(s, 0, 0),
    };

    wr[4].opcode = ERDMA_OP_ATOMIC_FAA;
    wr[7].opcode = ERDMA_OP_WRITE_IMM;
    for (unsigned i = 0; i < 5; i++) {
        fixture_recv(s, 0, size);
    }
    for (unsigned i = 0; i < REQUESTS; i++) {
        qp_post(&s->aqp, &wr[i]);
    }
    qp_ring(&s->aqp);
    /* and the other way */
    for (unsigned i = 0; i < 3; i++) {
        Wr back = {
            .opcode = ERDMA_OP_WRITE, .nsge = 1,
            .sge = { { s->bbuf, 1000 * i, s->bkey } },
            .raddr = s->abuf, .rkey = s->akey,
        };

        qp_post(&s->bqp, &back);
    }
    qp_ring(&s->bqp);
}

typedef enum Cut { PROCESS_ENDS, STOPS_READING, BREAKS_RULES, DRIVER_STOPS } Cut;

static void cut_by(Fixture *s, Cut how)
{
    static const uint8_t junk[64] = { 0xff, 0xff, 0xff, 0xff };

    switch (how) {
    case PROCESS_ENDS:
        kill_wire(s);
        break;
    case STOPS_READING:
        a_end(s)->refuse = b_end(s)->refuse = true;
        break;
    case BREAKS_RULES:
        a_end(s)->len = b_end(s)->len = 0;
        wire_end_feed(a_end(s), junk, sizeof(junk));
        wire_end_feed(b_end(s), junk, sizeof(junk));
        break;
    default:
        CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_CLOSING), 0);
        CHECK_EQ(qp_modify(&s->bqp, ERDMA_QPS_CLOSING), 0);
        break;
    }
    s->hosts.slow = false;
    hosts_run(&s->hosts);
}

static void check_after(Fixture *s, Cut how)
{
    Ends a, b;

    hosts_advance(&s->hosts, 10 * SECOND);
    a = ends(&s->acq, ERDMA_CQE_QTYPE_SQ);
    CHECK_EQ(a.good + a.retry + a.flushed, REQUESTS);
    CHECK_EQ(a.other, 0);
    CHECK(how == DRIVER_STOPS ? !a.retry : a.retry <= 1);
    CHECK(a.retry || how == DRIVER_STOPS || a.good == REQUESTS);
    b = ends(&s->bcq, ERDMA_CQE_QTYPE_SQ);
    CHECK_EQ(b.other, 0);
    if (how == DRIVER_STOPS) {
        CHECK_EQ(b.good + b.flushed, 3);
    }
    hosts_advance(&s->hosts, 10 * SECOND);
    expect_no_timer(s->a);
    expect_no_timer(s->b);
    CHECK_EQ(s->a->f.kicked + s->b->f.kicked, 0);
}

/* False: the work was done before */
static bool cut_at(WireMode mode, unsigned n, Cut how)
{
    Fixture *s = fixture_new_wired(mode, big(mode), true, NULL);
    bool more;

    s->hosts.slow = true;
    post_all(s);
    more = deliver_some(s, n);
    cut_by(s, how);
    check_after(s, how);
    if (s->hosts.wires) {
        kill_wire(s);
    }
    new_wire(s);
    CHECK(anew(s, 5000));
    fixture_free(s);
    return more;
}

static void cut_everywhere(WireMode mode, Cut how)
{
    unsigned step = fake_default_mode == MAP_DIRECT ? 1 : 7, n = how % step;

    while (cut_at(mode, n, how)) {
        n += step;
        CHECK(n < 10000);
    }
    CHECK(n > 12);
}

TEST_OWN_WIRES(process_that_ends_at_any_message_costs_its_connections)
{
    cut_everywhere(WIRE_MODE_SHARED, PROCESS_ENDS);
    cut_everywhere(WIRE_MODE_BYTES, PROCESS_ENDS);
}

TEST_OWN_WIRES(process_that_stops_reading_at_any_message_costs_its_connections)
{
    cut_everywhere(WIRE_MODE_SHARED, STOPS_READING);
    cut_everywhere(WIRE_MODE_BYTES, STOPS_READING);
}

TEST_OWN_WIRES(process_that_breaks_rules_at_any_message_costs_its_connections)
{
    cut_everywhere(WIRE_MODE_SHARED, BREAKS_RULES);
    cut_everywhere(WIRE_MODE_BYTES, BREAKS_RULES);
}

TEST_OWN_WIRES(driver_that_stops_at_any_message_flushes)
{
    cut_everywhere(WIRE_MODE_SHARED, DRIVER_STOPS);
    cut_everywhere(WIRE_MODE_BYTES, DRIVER_STOPS);
}

/* The send that fails may be any one, deep inside whatever sends it */
TEST_OWN_WIRES(send_that_fails_anywhere_breaks_the_wire_once)
{
    unsigned step = fake_default_mode == MAP_DIRECT ? 1 : 5;

    for (unsigned m = 0; m < 2; m++) {
        for (unsigned end = 0; end < 2; end++) {
            unsigned long n = 0, all = 1;

            for (; n < all; n += step) {
                WireMode mode = m ? WIRE_MODE_SHARED : WIRE_MODE_BYTES;
                Fixture *s = fixture_new_wired(mode, big(mode), true, NULL);
                WireEnd *e = &s->hosts.wire[0].end[end];

                e->refuse_at = e->sends + 1 + n;
                s->hosts.slow = true;
                post_all(s);
                deliver_some(s, 100000);
                all = e->sends > all ? e->sends : all;
                s->hosts.slow = false;
                hosts_run(&s->hosts);
                kill_wire(s);
                check_after(s, PROCESS_ENDS);
                fixture_free(s);
            }
        }
    }
}

/* ---- the driver hears of it first ---- */

TEST_OWN_WIRES(flush_takes_what_is_in_flight_and_late_answers_are_nobodys)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr wr = fixture_write(s, 0, 0, 64);

    s->hosts.slow = true;
    for (unsigned i = 0; i < 80; i++) {
        qp_post(&s->aqp, &wr);
    }
    qp_ring(&s->aqp);
    wire_end_deliver(b_end(s));         /* done there, not acknowledged */
    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_ERROR), 0);
    for (unsigned i = 0; i < 80; i++) {
        Wc wc = cq_expect(&s->acq);

        CHECK_EQ(wc.syndrome, ERDMA_WC_FLUSHED);
        CHECK_EQ(wc.qe_idx, 2 * i);
    }
    qp_post(&s->aqp, &wr);
    CHECK_EQ(qp_reflush(&s->aqp), 0);
    CHECK_EQ(cq_expect(&s->acq).qe_idx, 160);
    s->hosts.slow = false;
    hosts_run(&s->hosts);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    CHECK(!a_end(s)->broken && !b_end(s)->broken);
    expect_no_timer(s->a);
    fixture_free(s);
}

TEST_OWN_WIRES(peer_that_stops_leaves_work_held_until_the_driver_stops_too)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr wr = fixture_send(s, 0, 64);

    qp_send(&s->aqp, &wr);                      /* no receive */
    CHECK_EQ(qp_modify(&s->bqp, ERDMA_QPS_CLOSING), 0);
    qp_send(&s->aqp, &wr);                      /* no peer */
    hosts_advance(&s->hosts, 9 * SECOND);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_CLOSING), 0);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    hosts_advance(&s->hosts, 10 * SECOND);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    expect_no_timer(s->a);
    fixture_free(s);
}

/* Nothing else reaches one that only receives: a dead process sends no FIN */
TEST_OWN_WIRES(process_that_dies_fails_those_who_only_receive)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);

    fixture_recv(s, 0, 64);
    kill_wire(s);
    hosts_advance(&s->hosts, 9 * SECOND);
    CHECK(!cq_poll(&s->bcq, &(Wc) { 0 }));
    hosts_advance(&s->hosts, 2 * SECOND);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_FLUSHED);
    expect_aeqe(s->b, ERDMA_AE_QP_FATAL, s->bqp.qpn);
    hosts_advance(&s->hosts, 10 * SECOND);
    expect_no_timer(s->a);
    expect_no_timer(s->b);
    fixture_free(s);
}

/* The death is noticed by who sends, or the last words were nonsense */
TEST_OWN_WIRES(wire_that_breaks_fails_those_who_only_receive)
{
    for (unsigned how = 0; how < 2; how++) {
        Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
        Wr wr = fixture_send(s, 0, 64);
        uint8_t nonsense[64] = { 0 };
        Qp a, b;

        qp_init(&a, s->a, &s->acq, QUEUE_KERNEL);
        qp_init(&b, s->b, &s->bcq, QUEUE_KERNEL);
        qp_connect(&a, &b);
        hosts_run(&s->hosts);
        fixture_recv(s, 0, 64);
        if (how) {
            wire_end_feed(b_end(s), nonsense, sizeof(nonsense));
            wire_end_deliver(b_end(s));
        } else {
            b_end(s)->refuse = true;
            qp_send(&b, &wr);
        }
        CHECK(b_end(s)->broken);
        kill_wire(s);
        hosts_advance(&s->hosts, 11 * SECOND);
        CHECK_EQ(ends(&s->bcq, ERDMA_CQE_QTYPE_RQ).flushed, 1);
        expect_aeqe(s->b, ERDMA_AE_QP_FATAL, s->bqp.qpn);
        hosts_advance(&s->hosts, 10 * SECOND);
        expect_no_timer(s->b);
        fixture_free(s);
    }
}

TEST_OWN_WIRES(peer_that_stopped_is_noticed_by_the_next_send)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr wr = fixture_send(s, 0, 64);

    CHECK_EQ(qp_destroy(&s->bqp), 0);
    hosts_run(&s->hosts);
    CHECK_EQ(s->a->f.timer, 0);
    qp_send(&s->aqp, &wr);
    hosts_advance(&s->hosts, 10 * SECOND);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    fixture_free(s);
}

TEST_OWN_WIRES(completed_work_is_acknowledged_before_the_queue_pair_goes)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr wr = fixture_send(s, 0, 64);

    s->hosts.slow = true;
    fixture_recv(s, 0, 64);
    qp_send(&s->aqp, &wr);
    wire_end_deliver(b_end(s));
    CHECK_EQ(qp_destroy(&s->bqp), 0);
    wire_end_deliver(a_end(s));
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    fixture_free(s);
}

/* One input: the peer's SEND is done, then an answer stops the QP */
TEST_OWN_WIRES(completed_work_is_acknowledged_by_a_queue_pair_that_stops_itself)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    uint32_t key = mr_reg(s->b, s->bbuf, s->bbuf, 4096, ALL_RIGHTS);
    Wr wr = fixture_send(s, 0, 64);
    Wr read = {
        .opcode = ERDMA_OP_READ, .sge = { { s->bbuf, 64, key } }, .nsge = 1,
        .raddr = s->abuf, .rkey = s->akey,
    };

    fixture_recv(s, 4096, 64);
    s->hosts.slow = true;
    qp_send(&s->bqp, &read);
    qp_send(&s->aqp, &wr);
    wire_end_deliver(a_end(s));
    CHECK_EQ(mr_dereg(s->b, key), 0);
    wire_end_deliver(b_end(s));
    s->hosts.slow = false;
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, 0);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_SEND_STAG);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    fixture_free(s);
}

TEST_OWN_WIRES(reset_with_work_in_flight_ends_it_inside_the_write)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr wr = fixture_write(s, 0, 0, 4096);

    s->hosts.slow = true;
    qp_send(&s->aqp, &wr);
    CHECK(s->a->f.timer);
    card_write32(s->a, ERDMA_REG_CTRL, ERDMA_CTRL_RESET);
    CHECK_EQ(s->a->f.timer, 0);
    s->a->f.record = true;
    s->hosts.slow = false;
    hosts_run(&s->hosts);
    hosts_advance(&s->hosts, 20 * SECOND);
    CHECK_EQ(s->a->f.events, 0);
    CHECK(!a_end(s)->broken && !b_end(s)->broken);
    fixture_free(s);
}

/* ---- coming again ---- */

TEST_OWN_WIRES(new_process_with_the_same_addresses_connects_anew)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Qp a;

    for (unsigned i = 0; i < 3; i++) {
        kill_wire(s);
        erdma_core_reset(s->b->core);           /* a new machine boots */
        card_up(s->b, 4, 2);
        s->b->next_cqn = s->b->next_qpn = s->b->next_mr = 1;
        cq_init(&s->bcq, s->b, 64, 1);
        s->bkey = mr_reg(s->b, s->bbuf, s->bbuf, 8192, ALL_RIGHTS);
        new_wire(s);
        qp_init(&a, s->a, &s->acq, QUEUE_KERNEL);
        qp_init(&s->bqp, s->b, &s->bcq, QUEUE_KERNEL);
        CHECK_EQ(qp_rts(&s->bqp, &a, 40000, false), 0);
        CHECK_EQ(qp_rts(&a, &s->bqp, 40000, true), 0);
        hosts_run(&s->hosts);
        qp_recv(&s->bqp, s->bbuf, 64, s->bkey);
        qp_send(&a, &(Wr) { .opcode = ERDMA_OP_SEND });
        hosts_run(&s->hosts);
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        CHECK_EQ(cq_expect(&s->bcq).syndrome, 0);
    }
    fixture_free(s);
}

/* What was meant for a queue pair that has gone does not reach its successor */
TEST_OWN_WIRES(stale_messages_do_not_reach_a_new_queue_pair_of_the_same_number)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr wr = fixture_send(s, 0, 64);
    uint32_t qpn = s->bqp.qpn;
    QpOpt o = {
        .sq_depth = 64, .rq_depth = 64, .scq = &s->bcq, .rcq = &s->bcq,
        .qpn = qpn,
    };
    Qp a;

    s->hosts.slow = true;
    for (unsigned i = 0; i < 10; i++) {
        qp_send(&s->aqp, &wr);
    }
    CHECK_EQ(qp_destroy(&s->bqp), 0);
    qp_init_opt(&s->bqp, s->b, &o);
    qp_init(&a, s->a, &s->acq, QUEUE_KERNEL);
    qp_connect(&a, &s->bqp);
    for (unsigned i = 0; i < 10; i++) {
        fixture_recv(s, 0, 64);
    }
    s->hosts.slow = false;
    hosts_run(&s->hosts);
    CHECK(!cq_poll(&s->bcq, &(Wc) { 0 }));
    qp_send(&a, &wr);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).qpn, a.qpn);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, 0);
    CHECK(!cq_poll(&s->bcq, &(Wc) { 0 }));
    CHECK(!a_end(s)->broken && !b_end(s)->broken);
    fixture_free(s);
}
