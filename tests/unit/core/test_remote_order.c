/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cards of different processes: work in flight, its order, its errors, and work
 * that waits for the other end.
 */
#include "two_hosts.h"
#include "guest_fault.h"

/* ---- latency, window, order ---- */

TEST_OWN_WIRES(small_message_leaves_in_the_doorbell_and_is_answered_at_once)
{
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, 4096, true);
    Wr wr = fixture_send(s, 0, 64);
    unsigned kicks = s->a->f.kicks + s->b->f.kicks;

    fixture_recv(s, 0, 64);
    qp_send(&s->aqp, &wr);
    CHECK_EQ(waiting(b_end(s), 0), 1);
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), 1);
    to_b(s);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, 0);
    CHECK_EQ(waiting(a_end(s), 0), 1);
    CHECK_EQ(waiting(a_end(s), WIRE_ACK), 1);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    to_a(s);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK_EQ(s->a->f.kicks + s->b->f.kicks, kicks);
    CHECK_EQ(a_end(s)->len + b_end(s)->len, 0);
    fixture_free(s);
}

/* Its send queue holds more than the window */
static Fixture *deep_fixture(void)
{
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, 65536, false);
    QpOpt o = {
        .kind = QUEUE_KERNEL, .sq_depth = 512, .rq_depth = 128,
        .scq = &s->acq, .rcq = &s->acq,
    };

    CHECK_EQ(qp_destroy(&s->aqp), 0);
    qp_init_opt(&s->aqp, s->a, &o);
    qp_connect(&s->aqp, &s->bqp);
    settle(s);
    s->hosts.slow = true;
    return s;
}

TEST_OWN_WIRES(window_bounds_what_is_in_flight_and_one_ack_answers_all)
{
    Fixture *s = deep_fixture();
    const unsigned n = WIRE_WINDOW + 4;

    for (unsigned i = 0; i < n; i++) {
        Wr wr = fixture_write(s, i * 64, i * 64, 64);

        qp_post(&s->aqp, &wr);
    }
    qp_ring(&s->aqp);
    hosts_run(&s->hosts);
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), WIRE_WINDOW);
    to_b(s);
    CHECK_EQ(waiting(a_end(s), 0), 1);
    to_a(s);
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), n - WIRE_WINDOW);
    settle(s);
    for (unsigned i = 0; i < n; i++) {
        Wc wc = cq_expect(&s->acq);

        CHECK_EQ(wc.syndrome, 0);
        CHECK_EQ(wc.qe_idx, 2 * i);
    }
    CHECK(is_pattern(fixture_b(s, 0), n * 64, 1));
    fixture_free(s);
}

static void post_write(Fixture *s, unsigned i, bool unsignaled)
{
    Wr wr = fixture_write(s, i * 64, i * 64, 64);

    wr.unsignaled = unsignaled;
    qp_send(&s->aqp, &wr);
}

/* One system call for many: while an answer is awaited, who is in no hurry */
TEST_OWN_WIRES(requests_are_coalesced_while_an_answer_is_to_come)
{
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, 65536, true);
    WireEnd *a = a_end(s);

    a->keep = true;
    post_write(s, 0, true);
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), 1);   /* nothing in flight */
    for (unsigned i = 1; i <= 20; i++) {
        post_write(s, i, true);
    }
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), 1);
    CHECK_EQ(a->laters, 20);
    to_b(s);
    to_a(s);                                        /* the answer */
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), 20);
    CHECK_EQ(a->later_len, 0);
    settle(s);
    CHECK(is_pattern(fixture_b(s, 0), 21 * 64, 1));
    fixture_free(s);
}

TEST_OWN_WIRES(many_requests_do_not_wait_to_be_coalesced)
{
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, 65536, true);

    a_end(s)->keep = true;
    for (unsigned i = 0; i <= 32; i++) {
        post_write(s, i, true);
    }
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), 1);
    post_write(s, 33, true);                        /* there is work to do */
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), 34);
    post_write(s, 34, true);                        /* counted anew */
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), 34);
    settle(s);
    CHECK(is_pattern(fixture_b(s, 0), 35 * 64, 1));
    fixture_free(s);
}

/* The first completion that is wanted, and what wakes the other side */
TEST_OWN_WIRES(requests_that_somebody_waits_for_go_at_once)
{
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, 65536, true);
    Wr wr;

    a_end(s)->keep = true;
    post_write(s, 0, true);
    post_write(s, 1, true);
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), 1);
    post_write(s, 2, false);
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), 3);
    post_write(s, 3, false);                        /* one is awaited already */
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), 3);
    fixture_recv(s, 0, 64);
    wr = fixture_send(s, 0, 64);
    wr.solicited = true;
    qp_send(&s->aqp, &wr);
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), 5);
    settle(s);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    }
    s->hosts.slow = true;
    post_write(s, 4, true);
    post_write(s, 5, false);                        /* none is awaited now */
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), 2);
    settle(s);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    fixture_free(s);
}

/* The end of a connection is said at once, behind what waited */
TEST_OWN_WIRES(what_waits_to_be_coalesced_goes_before_the_end)
{
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, 65536, true);

    a_end(s)->keep = true;
    post_write(s, 0, true);
    post_write(s, 1, true);
    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_ERROR), 0);
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), 2);
    CHECK_EQ(waiting(b_end(s), WIRE_CLOSE), 1);
    settle(s);
    fixture_free(s);
}

/* A list of many ranges makes messages long before there are many */
TEST_OWN_WIRES(window_is_bounded_in_bytes_too)
{
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, MIB, true);
    uint64_t page[128];
    MrOpt o = {
        .index = 50, .pd = PD, .rights = ALL_RIGHTS, .va = 0,
        .len = 128 * 4096, .page = page, .npages = 128, .level = 1,
    };
    Wr wr = fixture_write(s, 0, 0, 128 * 4096);

    for (unsigned i = 0; i < 128; i++) {
        page[i] = s->abuf + (i ^ 1) * 4096;
    }
    CHECK_EQ(mr_reg_opt(s->a, &o), 0);
    wr.sge[0].addr = 0;
    wr.sge[0].key = 50 << 8;
    for (unsigned i = 0; i < 60; i++) {
        qp_post(&s->aqp, &wr);
    }
    qp_ring(&s->aqp);
    hosts_run(&s->hosts);
    CHECK(b_end(s)->len <= WIRE_WINDOW_BYTES);
    CHECK(waiting(b_end(s), WIRE_REQUEST) < 60);
    settle(s);
    for (unsigned i = 0; i < 60; i++) {
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    }
    CHECK(is_pattern(fixture_a(s, 0), 128 * 4096, 1));
    CHECK(!memcmp(fixture_b(s, 0), fixture_a(s, 4096), 4096));
    fixture_free(s);
}

TEST_OWN_WIRES(kinds_of_requests_stay_in_order_in_one_window)
{
    for (unsigned k = 0; k < 2; k++) {
        Fixture *s = fixture_new_wired(modes[k], MIB, true, NULL);
        uint16_t at[30];
        Wr wr;

        for (unsigned i = 0; i < 30; i++) {
            uint32_t len = i % 7 ? 64 : 30000;

            switch (i % 4) {
            case 0:
                wr = fixture_write(s, i * 1000, i * 1000, len);
                break;
            case 1:
                wr = fixture_read(s, 500000 + i * 1000, i * 1000, len);
                break;
            case 2:
                wr = fixture_send(s, i * 1000, len);
                fixture_recv(s, 600000, 30000);
                break;
            default:
                wr = fixture_write(s, 0, 800000, 8);
                wr.opcode = ERDMA_OP_ATOMIC_FAA;
                break;
            }
            at[i] = qp_post(&s->aqp, &wr);
        }
        qp_ring(&s->aqp);
        hosts_run(&s->hosts);
        for (unsigned i = 0; i < 30; i++) {
            Wc wc = cq_expect(&s->acq);

            CHECK_EQ(wc.syndrome, 0);
            CHECK_EQ(wc.qe_idx, at[i]);
            CHECK_EQ(wc.opcode, i % 4 == 0 ? ERDMA_OP_WRITE :
                     i % 4 == 1 ? ERDMA_OP_READ :
                     i % 4 == 2 ? ERDMA_OP_SEND : ERDMA_OP_ATOMIC_FAA);
        }
        fixture_free(s);
    }
}

TEST_OWN_WIRES(fenced_request_waits_for_reads_and_atomics_only)
{
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, 8192, true);
    Wr write = fixture_write(s, 0, 0, 64), read = fixture_read(s, 64, 0, 64);

    qp_post(&s->aqp, &write);
    write.fence = true;
    qp_post(&s->aqp, &write);           /* no read before it */
    qp_post(&s->aqp, &read);
    qp_post(&s->aqp, &write);
    qp_ring(&s->aqp);
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), 3);
    to_b(s);
    to_a(s);
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), 1);
    settle(s);
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    }
    fixture_free(s);
}

TEST_OWN_WIRES(local_requests_wait_until_nothing_is_in_flight)
{
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, 8192, true);
    Wr write = fixture_write(s, 0, 0, 64), reg = { .opcode = ERDMA_OP_REG_MR };
    uint32_t key = mr_frmr(s->a, 4, NULL);

    reg.raddr = 0x1000;
    reg.sge[0].len = 4096;
    reg.rkey = key | 1;
    reg.npages = 1;
    reg.page[0] = s->abuf;
    reg.rights = ALL_RIGHTS;
    qp_post(&s->aqp, &write);
    qp_post(&s->aqp, &reg);
    qp_post(&s->aqp, &write);
    qp_ring(&s->aqp);
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), 1);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    to_b(s);
    to_a(s);
    CHECK_EQ(cq_expect(&s->acq).opcode, ERDMA_OP_WRITE);
    CHECK_EQ(cq_expect(&s->acq).opcode, ERDMA_OP_REG_MR);
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), 1);
    settle(s);
    CHECK_EQ(cq_expect(&s->acq).opcode, ERDMA_OP_WRITE);
    fixture_free(s);
}

TEST_OWN_WIRES(read_that_invalidates_keeps_the_next_request_back)
{
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, 8192, true);
    Wr write = fixture_write(s, 0, 0, 64), read = fixture_read(s, 64, 0, 64);

    read.opcode = ERDMA_OP_READ_INV;
    read.imm = htole32(0x123400);
    qp_post(&s->aqp, &read);
    qp_post(&s->aqp, &write);
    qp_ring(&s->aqp);
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), 1);
    settle(s);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SEND_STAG);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    fixture_free(s);
}

/* ---- errors ---- */

TEST_OWN_WIRES(local_error_ends_after_what_was_in_flight_before_it)
{
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, 8192, true);
    Wr good = fixture_write(s, 0, 0, 64), bad = good;

    bad.sge[0].key ^= 0x10000;
    for (unsigned i = 0; i < 5; i++) {
        qp_post(&s->aqp, &good);
    }
    qp_post(&s->aqp, &bad);
    qp_post(&s->aqp, &good);
    qp_ring(&s->aqp);
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), 5);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    settle(s);
    for (unsigned i = 0; i < 5; i++) {
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    }
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SEND_STAG);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    expect_aeqe(s->a, ERDMA_AE_QP_FATAL, s->aqp.qpn);
    fixture_free(s);
}

TEST_OWN_WIRES(malformed_request_ends_after_what_was_in_flight_before_it)
{
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, 8192, true);
    Wr good = fixture_write(s, 0, 0, 64), bad = good;

    bad.length_delta = 1;
    qp_post(&s->aqp, &good);
    qp_post(&s->aqp, &bad);
    qp_ring(&s->aqp);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    settle(s);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SQE_FORMAT);
    fixture_free(s);
}

/*
 * The link goes down between two requests, and nobody answers any more: the one
 * that is in flight fails, in its own words, and the other is flushed whole.
 */
TEST_OWN_WIRES(request_held_behind_one_in_flight_does_not_end_in_its_place)
{
    static const uint8_t data[64];
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, 8192, true);
    Wr first = fixture_write(s, 0, 0, 64);
    Wr second = {
        .opcode = ERDMA_OP_SEND, .is_inline = true, .data = data,
        .data_len = sizeof(data),
    };
    uint16_t one = qp_send(&s->aqp, &first), two;
    Wc wc;

    fault(s->a, "link down");
    two = qp_send(&s->aqp, &second);
    hosts_advance(&s->hosts, 11 * SECOND);      /* both had the same time */
    wc = cq_expect(&s->acq);
    CHECK_EQ(wc.syndrome, ERDMA_WC_RETRY_EXC);
    CHECK_EQ(wc.opcode, ERDMA_OP_WRITE);
    CHECK_EQ(wc.qe_idx, one);
    wc = cq_expect(&s->acq);
    CHECK_EQ(wc.syndrome, ERDMA_WC_FLUSHED);
    CHECK_EQ(wc.opcode, ERDMA_OP_SEND);
    CHECK_EQ(wc.qe_idx, two);
    CHECK(!cq_poll(&s->acq, &wc));
    CHECK_EQ(counters(s->a).retry_exceeded, 1);
    fixture_free(s);
}

TEST_OWN_WIRES(request_given_up_behind_one_in_flight_is_given_up_once)
{
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, 8192, true);
    Wr wr = fixture_write(s, 0, 0, 64);

    qp_send(&s->aqp, &wr);
    fault(s->a, "loss prob=1 us=1");
    qp_send(&s->aqp, &wr);
    for (unsigned i = 0; i < 100; i++) {
        hosts_advance(&s->hosts, MS);
    }
    CHECK_EQ(counters(s->a).retry_exceeded, 1);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    faults_over(s->a);                      /* too late for it */
    settle(s);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    CHECK_EQ(counters(s->a).retry_exceeded, 1);
    fixture_free(s);
}

TEST_OWN_WIRES(refused_request_stops_both_ends_and_what_follows_is_not_executed)
{
    static const uint8_t ops[] = {
        ERDMA_OP_WRITE, ERDMA_OP_READ, ERDMA_OP_ATOMIC_FAA,
    };

    for (unsigned i = 0; i < 3; i++) {
        Fixture *s = slow_fixture(WIRE_MODE_SHARED, 8192, true);
        Wr good = fixture_write(s, 0, 0, 64), bad = good;
        Wr after = fixture_write(s, 0, 4096, 64);

        bad.opcode = ops[i];
        bad.rkey ^= 0x10000;
        bad.sge[0].len = 8;
        fixture_recv(s, 0, 64);
        qp_post(&s->aqp, &good);
        qp_post(&s->aqp, &bad);
        qp_post(&s->aqp, &after);
        qp_ring(&s->aqp);
        settle(s);
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RECV_STAG);
        CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
        CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
        CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_FLUSHED);
        expect_aeqe(s->b, ERDMA_AE_ACCESS_ERR, s->bqp.qpn);
        expect_aeqe(s->a, ERDMA_AE_QP_FATAL, s->aqp.qpn);
        CHECK(is_fill(fixture_b(s, 4096), 64, 0xa5));
        CHECK(!a_end(s)->broken && !b_end(s)->broken);
        CHECK(anew(s, 100));
        fixture_free(s);
    }
}

TEST_OWN_WIRES(receive_too_small_is_an_error_of_both_ends)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_BYTES, 8192, true, NULL);
    Wr wr = fixture_send(s, 0, 1000);

    fixture_recv(s, 0, 999);
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_GENERAL_ERR);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_RECV_BOUNDS);
    CHECK(anew(s, 100));
    fixture_free(s);
}

/* ---- holding ---- */

TEST_OWN_WIRES(sends_wait_for_receives_at_the_other_process)
{
    for (unsigned k = 0; k < 2; k++) {
        Fixture *s = fixture_new_wired(modes[k], 65536, true, NULL);

        for (unsigned i = 0; i < 70; i++) {
            Wr wr = fixture_send(s, i * 600, i % 2 ? 500 : 50);

            qp_post(&s->aqp, &wr);
        }
        qp_ring(&s->aqp);
        hosts_run(&s->hosts);
        CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
        for (unsigned i = 0; i < 70; i++) {
            Wc wc;

            hosts_advance(&s->hosts, 5 * SECOND);   /* each counts anew */
            memset(fixture_b(s, 0), 0, 600);
            fixture_recv(s, 0, 600);
            hosts_run(&s->hosts);
            wc = cq_expect(&s->bcq);
            CHECK_EQ(wc.syndrome, 0);
            CHECK_EQ(wc.size, i % 2 ? 500 : 50);
            CHECK(!memcmp(fixture_b(s, 0), fixture_a(s, i * 600), wc.size));
            CHECK_EQ(cq_expect(&s->acq).qe_idx, i);
            CHECK(!cq_poll(&s->acq, &wc));
        }
        fixture_free(s);
    }
}

TEST_OWN_WIRES(what_follows_a_send_that_waits_does_not_overtake_it)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr send = fixture_send(s, 0, 64), write = fixture_write(s, 0, 4096, 64);

    qp_send(&s->aqp, &send);
    qp_send(&s->aqp, &write);
    hosts_run(&s->hosts);
    CHECK(is_fill(fixture_b(s, 4096), 64, 0xa5));
    fixture_recv(s, 0, 64);
    hosts_run(&s->hosts);
    CHECK(is_pattern(fixture_b(s, 4096), 64, 1));
    CHECK_EQ(cq_expect(&s->acq).opcode, ERDMA_OP_SEND);
    CHECK_EQ(cq_expect(&s->acq).opcode, ERDMA_OP_WRITE);
    fixture_free(s);
}

TEST_OWN_WIRES(receive_doorbell_answers_what_waited_on_the_spot)
{
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, 8192, true);
    Wr wr = fixture_send(s, 0, 64);

    qp_send(&s->aqp, &wr);
    to_b(s);
    CHECK_EQ(a_end(s)->len, 0);
    fixture_recv(s, 0, 64);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, 0);
    CHECK_EQ(waiting(a_end(s), WIRE_ACK), 1);
    fixture_free(s);
}

TEST_OWN_WIRES(receiver_that_never_is_ready_ends_the_oldest_after_the_hold_time)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr wr = fixture_send(s, 0, 64);
    uint64_t start = s->a->h->now;

    qp_post(&s->aqp, &wr);
    qp_post(&s->aqp, &wr);
    qp_post(&s->aqp, &wr);
    qp_ring(&s->aqp);
    hosts_run(&s->hosts);
    CHECK_EQ(s->a->f.timer, start + 10 * SECOND);
    hosts_advance(&s->hosts, 10 * SECOND - 1);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    hosts_advance(&s->hosts, 1);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    CHECK_EQ(counters(s->a).retry_exceeded, 1);
    /* what the dead one had sent reaches no receive posted later */
    fixture_recv(s, 0, 64);
    hosts_run(&s->hosts);
    CHECK(!cq_poll(&s->bcq, &(Wc) { 0 }));
    expect_no_aeqe(s->b);
    CHECK(anew(s, 100));
    fixture_free(s);
}

TEST_OWN_WIRES(silent_process_ends_the_oldest_after_the_hold_time)
{
    static const uint8_t ops[] = {
        ERDMA_OP_WRITE, ERDMA_OP_READ, ERDMA_OP_ATOMIC_FAA, ERDMA_OP_SEND,
    };

    for (unsigned i = 0; i < 4; i++) {
        Fixture *s = slow_fixture(WIRE_MODE_SHARED, 8192, true);
        Wr wr = fixture_write(s, 0, 0, 8);

        wr.opcode = ops[i];
        qp_send(&s->aqp, &wr);
        hosts_advance(&s->hosts, 10 * SECOND - 1);
        CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
        hosts_advance(&s->hosts, 1);
        CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
        /* answers that come too late are nobody's */
        fixture_recv(s, 0, 64);
        settle(s);
        CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
        CHECK(!a_end(s)->broken && !b_end(s)->broken);
        fixture_free(s);
    }
}

TEST_OWN_WIRES(timer_is_not_set_for_each_message_and_ends)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr wr = fixture_write(s, 0, 0, 64);
    uint64_t timer;

    qp_send(&s->aqp, &wr);
    timer = s->a->f.timer;
    for (unsigned i = 0; i < 50; i++) {
        hosts_advance(&s->hosts, 1000);
        qp_send(&s->aqp, &wr);
        CHECK_EQ(s->a->f.timer, timer);
    }
    hosts_advance(&s->hosts, 10 * SECOND);
    CHECK_EQ(s->a->f.timer, 0);
    CHECK_EQ(s->b->f.timer, 0);
    CHECK_EQ(counters(s->a).retry_exceeded, 0);
    for (unsigned i = 0; i < 51; i++) {
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    }
    fixture_free(s);
}

TEST_OWN_WIRES(timer_that_fires_early_waits_for_the_rest)
{
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, 8192, true);
    Wr wr = fixture_write(s, 0, 0, 64);

    qp_send(&s->aqp, &wr);
    hosts_advance(&s->hosts, 6 * SECOND);
    to_b(s);
    to_a(s);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    qp_send(&s->aqp, &wr);              /* due at 16 s */
    hosts_advance(&s->hosts, 4 * SECOND);   /* the timer of the first */
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    hosts_advance(&s->hosts, 6 * SECOND - 1);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    hosts_advance(&s->hosts, 1);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    fixture_free(s);
}
