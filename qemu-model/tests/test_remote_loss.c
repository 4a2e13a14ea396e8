/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Other processes that die, hang or come again, in every state of the work
 * between them; and how much they may make a process keep.
 */
#include <stdlib.h>

#include "drv.h"
#include "wire_msg.h"

#define SECOND  1000000000ull
#define MIB     (1u << 20)
#define REQUESTS 9u

/* What takes more than one message */
static uint32_t big(WireMode mode)
{
    return mode == WIRE_MODE_SHARED ? MIB + 10000 : 150000;
}

static WireEnd *a_end(Scene *s)
{
    return &s->bed.wire[0].end[0];
}

static WireEnd *b_end(Scene *s)
{
    return &s->bed.wire[0].end[1];
}

static void kill_wire(Scene *s)
{
    wire_pair_free(&s->bed.wire[0]);
    s->bed.wires = 0;
}

static void new_wire(Scene *s)
{
    s->bed.wires = 1;
    bed_join(&s->bed, 0, 0, 1);
    bed_deliver(&s->bed);
}

/* Two more queue pairs between the same cards work */
static bool anew(Scene *s)
{
    Wr wr = scene_send(s, 0, 5000);
    Wc wc;
    Qp a, b;

    qp_init(&a, s->a, &s->acq, QUEUE_KERNEL);
    qp_init(&b, s->b, &s->bcq, QUEUE_KERNEL);
    qp_connect(&a, &b);
    qp_recv(&b, s->bbuf, 5000, s->bkey);
    qp_send(&a, &wr);
    bed_run(&s->bed);
    return cq_poll(&s->acq, &wc) && !wc.syndrome && wc.qpn == a.qpn &&
           cq_poll(&s->bcq, &wc) && !wc.syndrome && wc.qpn == b.qpn;
}

/* ---- a bit of everything, cut at any message ---- */

static void post_all(Scene *s)
{
    uint32_t size = s->size;
    Wr wr[REQUESTS] = {
        scene_send(s, 0, 64), scene_write(s, 0, 0, size),
        scene_send(s, 0, 2000), scene_read(s, 0, 0, size),
        scene_write(s, 0, 64, 8), scene_send(s, 0, size),
        scene_read(s, 0, 0, 100), scene_write(s, 0, 0, 4096),
        scene_send(s, 0, 0),
    };

    wr[4].opcode = ERDMA_OP_ATOMIC_FAA;
    wr[7].opcode = ERDMA_OP_WRITE_IMM;
    for (unsigned i = 0; i < 5; i++) {
        scene_recv(s, 0, size);
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

static void run_cards(Scene *s)
{
    for (unsigned i = 0; i < 2; i++) {
        FakeCard *f = &s->bed.card[i].f;

        if (f->kicked) {
            f->kicked = false;
            erdma_core_run(f->core);
        }
    }
}

/* @n messages, each followed by a turn; false: came to rest before */
static bool deliver_some(Scene *s, unsigned n)
{
    for (unsigned i = 0; i < n;) {
        unsigned before = i;

        i += wire_end_deliver_one(a_end(s));
        if (i < n) {
            i += wire_end_deliver_one(b_end(s));
        }
        run_cards(s);
        if (i == before && !s->a->f.kicked && !s->b->f.kicked) {
            return false;
        }
    }
    return true;
}

typedef struct Ends {
    unsigned good, retry, flushed, other;
} Ends;

static Ends ends(Cq *cq, uint32_t qtype)
{
    Ends n = { 0 };
    Wc wc;

    while (cq_poll(cq, &wc)) {
        if (wc.qtype != qtype) {
            continue;
        }
        switch (wc.syndrome) {
        case ERDMA_WC_SUCCESS:
            CHECK(!n.retry && !n.flushed);
            n.good++;
            break;
        case ERDMA_WC_RETRY_EXC:
            CHECK(!n.flushed);
            n.retry++;
            break;
        case ERDMA_WC_FLUSHED:
            n.flushed++;
            break;
        default:
            n.other++;
            break;
        }
    }
    return n;
}

typedef enum Death { DIES, STOPS_READING, LIES, DRIVER_STOPS, DEATHS } Death;

static void die(Scene *s, Death how)
{
    static const uint8_t junk[64] = { 0xff, 0xff, 0xff, 0xff };

    switch (how) {
    case DIES:
        kill_wire(s);
        break;
    case STOPS_READING:
        a_end(s)->refuse = b_end(s)->refuse = true;
        break;
    case LIES:
        a_end(s)->len = b_end(s)->len = 0;
        wire_end_feed(a_end(s), junk, sizeof(junk));
        wire_end_feed(b_end(s), junk, sizeof(junk));
        break;
    default:
        CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_CLOSING), 0);
        CHECK_EQ(qp_modify(&s->bqp, ERDMA_QPS_CLOSING), 0);
        break;
    }
    s->bed.slow = false;
    bed_run(&s->bed);
}

static void check_after(Scene *s, Death how)
{
    Ends a, b;

    bed_advance(&s->bed, 10 * SECOND);
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
    bed_advance(&s->bed, 10 * SECOND);
    expect_no_timer(s->a);
    expect_no_timer(s->b);
    CHECK_EQ(s->a->f.kicked + s->b->f.kicked, 0);
}

/* False: the work was done before */
static bool cut_at(WireMode mode, unsigned n, Death how)
{
    Scene *s = scene_new_wired(mode, big(mode), true, NULL);
    bool more;

    s->bed.slow = true;
    post_all(s);
    more = deliver_some(s, n);
    die(s, how);
    check_after(s, how);
    if (s->bed.wires) {
        kill_wire(s);
    }
    new_wire(s);
    CHECK(anew(s));
    scene_free(s);
    return more;
}

static void cut_everywhere(WireMode mode, Death how)
{
    unsigned step = fake_default_mode == MAP_DIRECT ? 1 : 7, n = how % step;

    while (cut_at(mode, n, how)) {
        n += step;
        CHECK(n < 10000);
    }
    CHECK(n > 12);
}

TEST_OWN_WIRES(process_that_dies_at_any_message_costs_its_connections)
{
    cut_everywhere(WIRE_MODE_SHARED, DIES);
    cut_everywhere(WIRE_MODE_BYTES, DIES);
}

TEST_OWN_WIRES(process_that_stops_reading_at_any_message_costs_its_connections)
{
    cut_everywhere(WIRE_MODE_SHARED, STOPS_READING);
    cut_everywhere(WIRE_MODE_BYTES, STOPS_READING);
}

TEST_OWN_WIRES(process_that_lies_at_any_message_costs_its_connections)
{
    cut_everywhere(WIRE_MODE_SHARED, LIES);
    cut_everywhere(WIRE_MODE_BYTES, LIES);
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
                Scene *s = scene_new_wired(mode, big(mode), true, NULL);
                WireEnd *e = &s->bed.wire[0].end[end];

                e->refuse_at = e->sends + 1 + n;
                s->bed.slow = true;
                post_all(s);
                deliver_some(s, 100000);
                all = e->sends > all ? e->sends : all;
                s->bed.slow = false;
                bed_run(&s->bed);
                kill_wire(s);
                check_after(s, DIES);
                scene_free(s);
            }
        }
    }
}

/* ---- the driver hears of it first ---- */

TEST_OWN_WIRES(flush_takes_what_is_in_flight_and_late_answers_are_nobodys)
{
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr wr = scene_write(s, 0, 0, 64);

    s->bed.slow = true;
    for (unsigned i = 0; i < 80; i++) {
        qp_post(&s->aqp, &wr);
    }
    qp_ring(&s->aqp);
    wire_end_deliver(b_end(s));                 /* done there, not told here */
    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_ERROR), 0);
    for (unsigned i = 0; i < 80; i++) {
        Wc wc = cq_expect(&s->acq);

        CHECK_EQ(wc.syndrome, ERDMA_WC_FLUSHED);
        CHECK_EQ(wc.qe_idx, 2 * i);
    }
    qp_post(&s->aqp, &wr);
    CHECK_EQ(qp_reflush(&s->aqp), 0);
    CHECK_EQ(cq_expect(&s->acq).qe_idx, 160);
    s->bed.slow = false;
    bed_run(&s->bed);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    CHECK(!a_end(s)->broken && !b_end(s)->broken);
    expect_no_timer(s->a);
    scene_free(s);
}

TEST_OWN_WIRES(peer_that_stops_leaves_work_held_until_the_driver_stops_too)
{
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr wr = scene_send(s, 0, 64);

    qp_send(&s->aqp, &wr);                      /* no receive */
    CHECK_EQ(qp_modify(&s->bqp, ERDMA_QPS_CLOSING), 0);
    qp_send(&s->aqp, &wr);                      /* no peer */
    bed_advance(&s->bed, 9 * SECOND);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_CLOSING), 0);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    bed_advance(&s->bed, 10 * SECOND);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    expect_no_timer(s->a);
    scene_free(s);
}

/* Nobody else tells one that only receives: a dead process sends no FIN */
TEST_OWN_WIRES(process_that_dies_fails_those_who_only_receive)
{
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);

    scene_recv(s, 0, 64);
    kill_wire(s);
    bed_advance(&s->bed, 9 * SECOND);
    CHECK(!cq_poll(&s->bcq, &(Wc) { 0 }));
    bed_advance(&s->bed, 2 * SECOND);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_FLUSHED);
    expect_aeqe(s->b, ERDMA_AE_QP_FATAL, s->bqp.qpn);
    bed_advance(&s->bed, 10 * SECOND);
    expect_no_timer(s->a);
    expect_no_timer(s->b);
    scene_free(s);
}

TEST_OWN_WIRES(peer_that_stopped_is_noticed_by_the_next_send)
{
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr wr = scene_send(s, 0, 64);

    CHECK_EQ(qp_destroy(&s->bqp), 0);
    bed_run(&s->bed);
    CHECK_EQ(s->a->f.timer, 0);
    qp_send(&s->aqp, &wr);
    bed_advance(&s->bed, 10 * SECOND);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    scene_free(s);
}

TEST_OWN_WIRES(completed_work_is_told_before_the_queue_pair_goes)
{
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr wr = scene_send(s, 0, 64);

    s->bed.slow = true;
    scene_recv(s, 0, 64);
    qp_send(&s->aqp, &wr);
    wire_end_deliver(b_end(s));
    CHECK_EQ(qp_destroy(&s->bqp), 0);
    wire_end_deliver(a_end(s));
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    scene_free(s);
}

/* One input: the peer's SEND is done, then an answer stops the QP */
TEST_OWN_WIRES(completed_work_is_told_by_a_queue_pair_that_stops_itself)
{
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    uint32_t key = mr_reg(s->b, s->bbuf, s->bbuf, 4096, ALL_RIGHTS);
    Wr wr = scene_send(s, 0, 64);
    Wr read = {
        .opcode = ERDMA_OP_READ, .sge = { { s->bbuf, 64, key } }, .nsge = 1,
        .raddr = s->abuf, .rkey = s->akey,
    };

    scene_recv(s, 4096, 64);
    s->bed.slow = true;
    qp_send(&s->bqp, &read);
    qp_send(&s->aqp, &wr);
    wire_end_deliver(a_end(s));
    CHECK_EQ(mr_dereg(s->b, key), 0);
    wire_end_deliver(b_end(s));
    s->bed.slow = false;
    bed_run(&s->bed);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, 0);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_SEND_STAG);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    scene_free(s);
}

TEST_OWN_WIRES(reset_with_work_in_flight_ends_it_inside_the_write)
{
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr wr = scene_write(s, 0, 0, 4096);

    s->bed.slow = true;
    qp_send(&s->aqp, &wr);
    CHECK(s->a->f.timer);
    card_write32(s->a, ERDMA_REG_CTRL, ERDMA_CTRL_RESET);
    CHECK_EQ(s->a->f.timer, 0);
    s->a->f.record = true;
    s->bed.slow = false;
    bed_run(&s->bed);
    bed_advance(&s->bed, 20 * SECOND);
    CHECK_EQ(s->a->f.events, 0);
    CHECK(!a_end(s)->broken && !b_end(s)->broken);
    scene_free(s);
}

/* ---- coming again ---- */

TEST_OWN_WIRES(new_process_with_the_same_addresses_connects_anew)
{
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
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
        bed_run(&s->bed);
        qp_recv(&s->bqp, s->bbuf, 64, s->bkey);
        qp_send(&a, &(Wr) { .opcode = ERDMA_OP_SEND });
        bed_run(&s->bed);
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        CHECK_EQ(cq_expect(&s->bcq).syndrome, 0);
    }
    scene_free(s);
}

/* What was meant for a queue pair that has gone does not reach its successor */
TEST_OWN_WIRES(stale_messages_do_not_reach_a_new_queue_pair_of_the_same_number)
{
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr wr = scene_send(s, 0, 64);
    uint32_t qpn = s->bqp.qpn;
    QpOpt o = {
        .sq_depth = 64, .rq_depth = 64, .scq = &s->bcq, .rcq = &s->bcq,
        .qpn = qpn,
    };
    Qp a;

    s->bed.slow = true;
    for (unsigned i = 0; i < 10; i++) {
        qp_send(&s->aqp, &wr);
    }
    CHECK_EQ(qp_destroy(&s->bqp), 0);
    qp_init_opt(&s->bqp, s->b, &o);
    qp_init(&a, s->a, &s->acq, QUEUE_KERNEL);
    qp_connect(&a, &s->bqp);
    for (unsigned i = 0; i < 10; i++) {
        scene_recv(s, 0, 64);
    }
    s->bed.slow = false;
    bed_run(&s->bed);
    CHECK(!cq_poll(&s->bcq, &(Wc) { 0 }));
    qp_send(&a, &wr);
    bed_run(&s->bed);
    CHECK_EQ(cq_expect(&s->acq).qpn, a.qpn);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, 0);
    CHECK(!cq_poll(&s->bcq, &(Wc) { 0 }));
    CHECK(!a_end(s)->broken && !b_end(s)->broken);
    scene_free(s);
}

/* ---- how much is kept and done ---- */

static void deliver_all(WireEnd *e)
{
    while (wire_end_deliver(e)) {
    }
}

/* Bytes that were asked for wait in the stream; not all that there is */
TEST_OWN_WIRES(unshared_payload_in_the_stream_is_bounded_for_one_and_for_all)
{
    Scene *s = scene_new_wired(WIRE_MODE_BYTES, 8 * MIB, true, NULL);
    Qp a[8], b[8];

    for (unsigned i = 0; i < 8; i++) {
        qp_init(&a[i], s->a, &s->acq, QUEUE_KERNEL);
        qp_init(&b[i], s->b, &s->bcq, QUEUE_KERNEL);
        qp_connect(&a[i], &b[i]);
    }
    bed_run(&s->bed);
    for (unsigned read = 0; read < 2; read++) {
        WireEnd *e = read ? a_end(s) : b_end(s);
        Wr wr = scene_write(s, 0, 0, 8 * MIB);

        wr.opcode = read ? ERDMA_OP_READ : ERDMA_OP_WRITE;
        e->most = 0;
        qp_send(&s->aqp, &wr);
        bed_run(&s->bed);
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        CHECK(e->most < 2 * MIB + 100000);
        e->most = 0;
        s->bed.slow = true;
        for (unsigned i = 0; i < 8; i++) {
            qp_send(&a[i], &wr);
        }
        deliver_all(b_end(s));          /* requests */
        deliver_all(a_end(s));          /* credit, or "ask me" */
        if (read) {
            deliver_all(b_end(s));
        }
        bed_run(&s->bed);
        CHECK(e->len > 4 * MIB);
        CHECK(e->len < 8 * MIB + 100000);
        s->bed.slow = false;
        bed_run(&s->bed);
        for (unsigned i = 0; i < 8; i++) {
            CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        }
        CHECK(e->most < 8 * MIB + 100000);
    }
    scene_free(s);
}

/* A connection that ends gives back what it had asked for */
TEST_OWN_WIRES(bytes_asked_for_by_connections_that_end_are_free_for_others)
{
    Scene *s = scene_new_wired(WIRE_MODE_BYTES, 8 * MIB, true, NULL);
    Wr wr = scene_write(s, 0, 0, 8 * MIB);

    for (unsigned i = 0; i < 20; i++) {
        Qp a, b;

        qp_init(&a, s->a, &s->acq, QUEUE_KERNEL);
        qp_init(&b, s->b, &s->bcq, QUEUE_KERNEL);
        qp_connect(&a, &b);
        bed_run(&s->bed);
        s->bed.slow = true;
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
        s->bed.slow = false;
        bed_run(&s->bed);
    }
    ends(&s->acq, ERDMA_CQE_QTYPE_SQ);
    wr.opcode = ERDMA_OP_WRITE;
    qp_send(&s->aqp, &wr);
    bed_run(&s->bed);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    wr.opcode = ERDMA_OP_READ;
    qp_send(&s->aqp, &wr);
    bed_run(&s->bed);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    scene_free(s);
}

TEST_OWN_WIRES(one_input_does_a_bounded_amount_of_work)
{
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, MIB, true, NULL);
    Wr wr = scene_write(s, 0, 0, MIB);

    if (fake_default_mode != MAP_SHORT) {
        s->bed.slow = true;
        for (unsigned i = 0; i < 20; i++) {
            qp_post(&s->aqp, &wr);
        }
        qp_ring(&s->aqp);
        bed_run(&s->bed);
        wire_end_deliver(b_end(s));
        CHECK_EQ(b_end(s)->pulled, 4 * MIB);
        CHECK(b_end(s)->again);
        s->bed.slow = false;
        bed_run(&s->bed);
        CHECK_EQ(b_end(s)->pulled, 20 * MIB);
        CHECK(!b_end(s)->again);
    }
    scene_free(s);
}

TEST_OWN_WIRES(work_that_waited_is_done_in_turns_of_bounded_size)
{
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, MIB, true, NULL);
    Wr wr = scene_send(s, 0, MIB);

    if (fake_default_mode != MAP_SHORT) {
        for (unsigned i = 0; i < 20; i++) {
            qp_post(&s->aqp, &wr);
        }
        qp_ring(&s->aqp);
        bed_run(&s->bed);
        for (unsigned i = 0; i < 20; i++) {
            qp_post_recv(&s->bqp, s->bbuf, MIB, s->bkey);
        }
        qp_ring_recv(&s->bqp);
        CHECK_EQ(b_end(s)->pulled, 0);  /* not on the processor that rang */
        CHECK(s->b->f.kicked);
        s->b->f.kicked = false;
        erdma_core_run(s->b->core);
        CHECK_EQ(b_end(s)->pulled, 4 * MIB);
        bed_run(&s->bed);
        for (unsigned i = 0; i < 20; i++) {
            CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        }
    }
    scene_free(s);
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
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, 65536, true, NULL);
    unsigned n = 560, good = 0;
    Wc wc;
    Qp *a = many_qps(s->a, &s->acq, n), *b = many_qps(s->b, &s->bcq, n);
    Wr wr = scene_send(s, 0, 256);

    for (unsigned i = 0; i < n; i++) {
        qp_connect(&a[i], &b[i]);
        for (unsigned k = 0; k < 64; k++) {
            qp_post(&a[i], &wr);
        }
        qp_ring(&a[i]);
        bed_run(&s->bed);
    }
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < 64; k++) {
            qp_post_recv(&b[i], s->bbuf, 256, s->bkey);
        }
        qp_ring_recv(&b[i]);
        bed_run(&s->bed);
        for (unsigned k = 0; k < 64 && cq_poll(&s->acq, &wc); k++) {
            CHECK_EQ(wc.syndrome, 0);
            good++;
            CHECK_EQ(cq_expect(&s->bcq).syndrome, 0);
        }
    }
    CHECK_EQ(good, 512 * 64);           /* 32 KiB each in 16 MiB */
    for (unsigned i = 0; i < 20; i++) {
        bed_advance(&s->bed, SECOND);
    }
    CHECK_EQ(counters(s->a).retry_exceeded, n - 512);
    while (cq_poll(&s->acq, &wc)) {
    }
    /* there is room again */
    qp_send(&s->aqp, &wr);
    bed_run(&s->bed);
    scene_recv(s, 0, 256);
    bed_run(&s->bed);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, 0);
    free(a);
    free(b);
    scene_free(s);
}

TEST_OWN_WIRES(hundreds_of_connections_share_a_wire_and_its_end)
{
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, 65536, true, NULL);
    unsigned n = 700;
    Qp *a = many_qps(s->a, &s->acq, n), *b = many_qps(s->b, &s->bcq, n);
    Wr wr = scene_send(s, 0, 300);
    unsigned good = 0;
    Wc wc;

    for (unsigned i = 0; i < n; i++) {
        qp_connect(&a[i], &b[n - 1 - i]);
    }
    bed_run(&s->bed);
    for (unsigned i = 0; i < n; i++) {
        qp_recv(&b[n - 1 - i], s->bbuf, 300, s->bkey);
        qp_send(&a[i], &wr);
        bed_run(&s->bed);
        CHECK_EQ(cq_expect(&s->acq).qpn, a[i].qpn);
        CHECK_EQ(cq_expect(&s->bcq).qpn, b[n - 1 - i].qpn);
    }
    s->bed.slow = true;
    for (unsigned i = 0; i < n; i++) {
        qp_send(&a[i], &wr);
    }
    kill_wire(s);
    for (unsigned i = 0; i < 20; i++) {
        bed_advance(&s->bed, SECOND);
    }
    while (cq_poll(&s->acq, &wc)) {
        CHECK_EQ(wc.syndrome, ERDMA_WC_RETRY_EXC);
        good++;
    }
    CHECK_EQ(good, n);
    expect_no_timer(s->a);
    free(a);
    free(b);
    scene_free(s);
}

/* ---- memory that changes under a message ---- */

static void goes_on(Scene *s)
{
    s->bed.slow = false;
    bed_run(&s->bed);
}

/* Its memory is the guest's again: what it holds now is not for the peer */
TEST_OWN_WIRES(data_of_a_queue_pair_that_was_destroyed_is_not_delivered)
{
    for (unsigned i = 0; i < 3; i++) {
        Scene *s = scene_new_wired(WIRE_MODE_SHARED, 2 * MIB, true, NULL);
        Wr wr = scene_send(s, 0, i == 2 ? 2 * MIB : 4096);
        Qp other;

        wr.opcode = i == 1 ? ERDMA_OP_SEND_IMM : ERDMA_OP_SEND;
        scene_recv(s, 0, 2 * MIB);
        s->bed.slow = true;
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
        memset(scene_a(s, 0), 0xee, 4096);
        goes_on(s);
        CHECK(!cq_poll(&s->bcq, &(Wc) { 0 }));
        expect_no_aeqe(s->b);
        CHECK(!a_end(s)->broken && !b_end(s)->broken);
        CHECK_EQ(qp_modify(&s->bqp, ERDMA_QPS_CLOSING), 0);
        CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_FLUSHED);
        if (i == 1) {
            CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
        }
        CHECK(anew(s));
        scene_free(s);
    }
}

TEST_OWN_WIRES(data_granted_by_a_queue_pair_that_was_destroyed_is_not_read)
{
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr wr = scene_read(s, 0, 0, 4096);

    s->bed.slow = true;
    qp_send(&s->aqp, &wr);
    wire_end_deliver(b_end(s));
    CHECK_EQ(qp_destroy(&s->bqp), 0);
    memset(scene_b(s, 0), 0xee, 4096);
    goes_on(s);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    bed_advance(&s->bed, 10 * SECOND);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    CHECK(!a_end(s)->broken && !b_end(s)->broken);
    scene_free(s);
}

TEST_OWN_WIRES(table_of_the_living_that_cannot_be_read_costs_the_connection)
{
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr wr = scene_write(s, 0, 0, 4096);

    b_end(s)->other_alive = NULL;
    qp_send(&s->aqp, &wr);
    bed_run(&s->bed);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    bed_advance(&s->bed, 10 * SECOND);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    scene_free(s);
}

/* As many connections as the table has room for */
TEST_OWN_WIRES(queue_pairs_beyond_the_table_find_no_peer)
{
    static uint32_t table[2];
    Bed b;
    Cq cq;
    Qp qp[3];
    WirePair pair;
    ErdmaFabric *other = erdma_fabric_new();

    bed_init_wired(&b, 1, 1, NULL, WIRE_MODE_OFF);
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
    bed_free(&b);
    erdma_fabric_free(other);
    CHECK(!table[0]);
}

static Scene *streaming(uint8_t opcode, unsigned messages)
{
    Scene *s = scene_new_wired(WIRE_MODE_BYTES, 8 * MIB, true, NULL);
    Wr wr = scene_write(s, 0, 0, 8 * MIB);

    wr.opcode = opcode;
    scene_recv(s, 0, 8 * MIB);
    s->bed.slow = true;
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
        Scene *s = streaming(ops[i], 5);

        CHECK_EQ(mr_dereg(s->b, s->bkey), 0);
        goes_on(s);
        CHECK_EQ(cq_expect(&s->acq).syndrome, i == 1 ? ERDMA_WC_GENERAL_ERR :
                                              ERDMA_WC_RECV_STAG);
        CHECK_EQ(cq_expect(&s->bcq).syndrome, i == 1 ? ERDMA_WC_RECV_STAG :
                                              ERDMA_WC_FLUSHED);
        CHECK(!a_end(s)->broken && !b_end(s)->broken);
        scene_free(s);
    }
}

TEST_OWN_WIRES(region_deregistered_at_the_requester_ends_a_stream)
{
    static const uint8_t ops[] = {
        ERDMA_OP_WRITE, ERDMA_OP_SEND, ERDMA_OP_READ,
    };

    for (unsigned i = 0; i < 3; i++) {
        Scene *s = streaming(ops[i], 5);

        CHECK_EQ(mr_dereg(s->a, s->akey), 0);
        goes_on(s);
        CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SEND_STAG);
        expect_no_aeqe(s->b);
        CHECK(!a_end(s)->broken && !b_end(s)->broken);
        scene_free(s);
    }
}

TEST_OWN_WIRES(rings_changed_under_a_stream_change_nothing)
{
    Scene *s = streaming(ERDMA_OP_SEND, 5);

    memset(qp_block(&s->aqp, 0), 0xff, 32);
    memset(qp_rqe(&s->bqp, 0), 0xff, 32);
    goes_on(s);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK_EQ(cq_expect(&s->bcq).size, 8 * MIB);
    CHECK(is_pattern(scene_b(s, 0), 8 * MIB, 1));
    scene_free(s);
}
