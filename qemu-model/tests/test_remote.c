/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cards of different processes: work in flight, order, loss. The suite as a
 * whole runs over wires too (--wire); this is what only wires have.
 */
#include <stdlib.h>

#include "drv.h"
#include "wire_msg.h"

#define SECOND  1000000000ull
#define MIB     (1u << 20)

static const WireMode modes[] = { WIRE_MODE_SHARED, WIRE_MODE_BYTES };

static WireEnd *a_end(Scene *s)
{
    return &s->bed.wire[0].end[0];
}

static WireEnd *b_end(Scene *s)
{
    return &s->bed.wire[0].end[1];
}

/* Messages of @type that wait at this end; 0: of any */
static unsigned waiting(const WireEnd *e, unsigned type)
{
    unsigned n = 0;
    WireHdr h;

    for (size_t at = 0; at + sizeof(h) <= e->len; at += le32toh(h.len)) {
        memcpy(&h, e->buf + at, sizeof(h));
        n += !type || h.type == type;
    }
    return n;
}

static Scene *slow_scene(WireMode mode, uint64_t size, bool connected)
{
    Scene *s = scene_new_wired(mode, size, connected, NULL);

    s->bed.slow = true;
    return s;
}

static void settle(Scene *s)
{
    s->bed.slow = false;
    bed_run(&s->bed);
}

/* Everything that is on its way one way, once */
static void to_b(Scene *s)
{
    wire_end_deliver(b_end(s));
}

static void to_a(Scene *s)
{
    wire_end_deliver(a_end(s));
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

static bool works(Scene *s, Qp *a, Qp *b)
{
    Wr wr = scene_send(s, 0, 100);
    Wc wc;

    qp_recv(b, s->bbuf, 100, s->bkey);
    qp_send(a, &wr);
    bed_run(&s->bed);
    return cq_poll(a->scq, &wc) && !wc.syndrome && wc.qpn == a->qpn &&
           cq_poll(b->rcq, &wc) && !wc.syndrome && wc.qpn == b->qpn;
}

/* Two more queue pairs between the same cards work */
static bool anew(Scene *s)
{
    Qp a, b;

    qp_init(&a, s->a, &s->acq, QUEUE_KERNEL);
    qp_init(&b, s->b, &s->bcq, QUEUE_KERNEL);
    qp_connect(&a, &b);
    bed_run(&s->bed);
    return works(s, &a, &b);
}

/* ---- data ---- */

static const uint8_t moving[] = {
    ERDMA_OP_WRITE, ERDMA_OP_WRITE_IMM, ERDMA_OP_SEND, ERDMA_OP_SEND_IMM,
    ERDMA_OP_READ,
};

static void move(Scene *s, uint8_t opcode, uint32_t len)
{
    bool receives = opcode != ERDMA_OP_WRITE && opcode != ERDMA_OP_READ;
    Wr wr = scene_write(s, 0, 64, len);
    uint8_t *to = opcode == ERDMA_OP_READ ? scene_a(s, 0) : scene_b(s, 0);
    uint8_t *from = opcode == ERDMA_OP_READ ? scene_b(s, 0) : scene_a(s, 0);
    Wc wc;

    if (opcode == ERDMA_OP_READ) {
        wr = scene_read(s, 64, 0, len);
    }
    wr.opcode = opcode;
    wr.imm = 0x12345678;
    memset(to, 0x5a, len + 128);
    pattern(from, len, len + opcode);
    if (receives) {
        scene_recv(s, 64, len);
    }
    qp_send(&s->aqp, &wr);
    bed_run(&s->bed);
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
    Scene *s = scene_new_wired(mode, 7 * MIB, true, NULL);
    unsigned n = fake_default_mode == MAP_DIRECT ? 18 : 16;

    a_end(s)->piece = b_end(s)->piece = piece;
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < sizeof(moving); k++) {
            move(s, moving[k], sizes[i]);
        }
    }
    CHECK(!a_end(s)->broken && !b_end(s)->broken);
    scene_free(s);
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
            Scene *s = scene_new_wired(modes[k], 8192, true, NULL);

            a_end(s)->piece = b_end(s)->piece = pieces[i];
            for (unsigned n = 0; n < sizeof(moving); n++) {
                move(s, moving[n], 600);
            }
            scene_free(s);
        }
    }
}

TEST_OWN_WIRES(atomics_cross)
{
    for (unsigned k = 0; k < 2; k++) {
        Scene *s = scene_new_wired(modes[k], 4096, true, NULL);
        Wr wr = scene_write(s, 0, 8, 8);
        uint64_t v = 5;

        memcpy(scene_b(s, 8), &v, 8);
        wr.opcode = ERDMA_OP_ATOMIC_FAA;
        wr.swap_add = 10;
        qp_send(&s->aqp, &wr);
        wr.opcode = ERDMA_OP_ATOMIC_CAS;
        wr.compare = 15;
        wr.swap_add = 99;
        wr.sge[0].addr += 8;
        qp_send(&s->aqp, &wr);
        bed_run(&s->bed);
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        CHECK_EQ(*(uint64_t *)scene_a(s, 0), 5);
        CHECK_EQ(*(uint64_t *)scene_a(s, 8), 15);
        CHECK_EQ(*(uint64_t *)scene_b(s, 8), 99);
        scene_free(s);
    }
}

TEST_OWN_WIRES(shared_payload_is_copied_once)
{
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, MIB, true, NULL);
    Wr wr = scene_write(s, 0, 0, MIB);

    if (fake_default_mode != MAP_SHORT) {
        b_end(s)->most = a_end(s)->most = 0;
        qp_send(&s->aqp, &wr);
        bed_run(&s->bed);
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        CHECK_EQ(b_end(s)->pulled, MIB);
        CHECK(b_end(s)->most < 256);    /* a range, not the payload */
        CHECK(a_end(s)->most < 256);
    }
    scene_free(s);
}

TEST_OWN_WIRES(memory_shared_in_part_crosses_in_both_ways)
{
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, MIB, true, NULL);
    uint32_t cut[] = { 0, 1, 4096, 5000, 100000, 700000 };

    for (unsigned i = 0; i < 6; i++) {
        s->a->h->private_from = s->abuf + cut[i];
        s->b->h->private_from = s->bbuf + cut[i];
        s->a->h->private_len = s->b->h->private_len = 90000 + i;
        for (unsigned k = 0; k < sizeof(moving); k++) {
            move(s, moving[k], MIB - 200);
        }
    }
    scene_free(s);
}

TEST_OWN_WIRES(payload_that_is_not_where_the_peer_says_fails_one_connection)
{
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr wr = scene_write(s, 0, 0, 4096), after = scene_write(s, 0, 4096, 64);

    b_end(s)->other_host = NULL;        /* as if unplugged */
    qp_post(&s->aqp, &wr);
    qp_post(&s->aqp, &after);
    qp_ring(&s->aqp);
    bed_run(&s->bed);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SEND_BOUNDS);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    expect_no_aeqe(s->b);
    CHECK(is_fill(scene_b(s, 4096), 64, 0xa5)); /* not executed */
    CHECK(!b_end(s)->broken);
    CHECK(anew(s));
    scene_free(s);

    s = scene_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    wr = scene_read(s, 0, 0, 4096);
    a_end(s)->other_host = NULL;
    qp_send(&s->aqp, &wr);
    bed_run(&s->bed);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RECV_BOUNDS);
    CHECK(!a_end(s)->broken);
    CHECK(anew(s));
    scene_free(s);
}

/* ---- latency, window, order ---- */

TEST_OWN_WIRES(small_message_leaves_in_the_doorbell_and_is_answered_at_once)
{
    Scene *s = slow_scene(WIRE_MODE_SHARED, 4096, true);
    Wr wr = scene_send(s, 0, 64);
    unsigned kicks = s->a->f.kicks + s->b->f.kicks;

    scene_recv(s, 0, 64);
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
    scene_free(s);
}

TEST_OWN_WIRES(window_bounds_what_is_in_flight_and_one_ack_answers_all)
{
    Scene *s = slow_scene(WIRE_MODE_SHARED, 65536, true);

    for (unsigned i = 0; i < 100; i++) {
        Wr wr = scene_write(s, i * 64, i * 64, 64);

        qp_post(&s->aqp, &wr);
    }
    qp_ring(&s->aqp);
    bed_run(&s->bed);
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), WIRE_WINDOW);
    to_b(s);
    CHECK_EQ(waiting(a_end(s), 0), 1);
    to_a(s);
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), 100 - WIRE_WINDOW);
    settle(s);
    for (unsigned i = 0; i < 100; i++) {
        Wc wc = cq_expect(&s->acq);

        CHECK_EQ(wc.syndrome, 0);
        CHECK_EQ(wc.qe_idx, 2 * i);
    }
    CHECK(is_pattern(scene_b(s, 0), 6400, 1));
    scene_free(s);
}

/* A list of many ranges makes messages long before there are many */
TEST_OWN_WIRES(window_is_bounded_in_bytes_too)
{
    Scene *s = slow_scene(WIRE_MODE_SHARED, MIB, true);
    uint64_t page[128];
    MrOpt o = {
        .index = 50, .pd = PD, .rights = ALL_RIGHTS, .va = 0,
        .len = 128 * 4096, .page = page, .npages = 128, .level = 1,
    };
    Wr wr = scene_write(s, 0, 0, 128 * 4096);

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
    bed_run(&s->bed);
    CHECK(b_end(s)->len <= WIRE_WINDOW_BYTES);
    CHECK(waiting(b_end(s), WIRE_REQUEST) < 60);
    settle(s);
    for (unsigned i = 0; i < 60; i++) {
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    }
    CHECK(is_pattern(scene_a(s, 0), 128 * 4096, 1));
    CHECK(!memcmp(scene_b(s, 0), scene_a(s, 4096), 4096));
    scene_free(s);
}

TEST_OWN_WIRES(kinds_of_requests_stay_in_order_in_one_window)
{
    for (unsigned k = 0; k < 2; k++) {
        Scene *s = scene_new_wired(modes[k], MIB, true, NULL);
        uint16_t at[30];
        Wr wr;

        for (unsigned i = 0; i < 30; i++) {
            uint32_t len = i % 7 ? 64 : 30000;

            switch (i % 4) {
            case 0:
                wr = scene_write(s, i * 1000, i * 1000, len);
                break;
            case 1:
                wr = scene_read(s, 500000 + i * 1000, i * 1000, len);
                break;
            case 2:
                wr = scene_send(s, i * 1000, len);
                scene_recv(s, 600000, 30000);
                break;
            default:
                wr = scene_write(s, 0, 800000, 8);
                wr.opcode = ERDMA_OP_ATOMIC_FAA;
                break;
            }
            at[i] = qp_post(&s->aqp, &wr);
        }
        qp_ring(&s->aqp);
        bed_run(&s->bed);
        for (unsigned i = 0; i < 30; i++) {
            Wc wc = cq_expect(&s->acq);

            CHECK_EQ(wc.syndrome, 0);
            CHECK_EQ(wc.qe_idx, at[i]);
            CHECK_EQ(wc.opcode, i % 4 == 0 ? ERDMA_OP_WRITE :
                     i % 4 == 1 ? ERDMA_OP_READ :
                     i % 4 == 2 ? ERDMA_OP_SEND : ERDMA_OP_ATOMIC_FAA);
        }
        scene_free(s);
    }
}

TEST_OWN_WIRES(fenced_request_waits_for_reads_and_atomics_only)
{
    Scene *s = slow_scene(WIRE_MODE_SHARED, 8192, true);
    Wr write = scene_write(s, 0, 0, 64), read = scene_read(s, 64, 0, 64);

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
    scene_free(s);
}

TEST_OWN_WIRES(local_requests_wait_until_nothing_is_in_flight)
{
    Scene *s = slow_scene(WIRE_MODE_SHARED, 8192, true);
    Wr write = scene_write(s, 0, 0, 64), reg = { .opcode = ERDMA_OP_REG_MR };
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
    scene_free(s);
}

TEST_OWN_WIRES(read_that_invalidates_keeps_the_next_request_back)
{
    Scene *s = slow_scene(WIRE_MODE_SHARED, 8192, true);
    Wr write = scene_write(s, 0, 0, 64), read = scene_read(s, 64, 0, 64);

    read.opcode = ERDMA_OP_READ_INV;
    read.imm = htole32(0x123400);
    qp_post(&s->aqp, &read);
    qp_post(&s->aqp, &write);
    qp_ring(&s->aqp);
    CHECK_EQ(waiting(b_end(s), WIRE_REQUEST), 1);
    settle(s);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SEND_STAG);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    scene_free(s);
}

/* ---- errors ---- */

TEST_OWN_WIRES(local_error_ends_after_what_was_in_flight_before_it)
{
    Scene *s = slow_scene(WIRE_MODE_SHARED, 8192, true);
    Wr good = scene_write(s, 0, 0, 64), bad = good;

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
    scene_free(s);
}

TEST_OWN_WIRES(malformed_request_ends_after_what_was_in_flight_before_it)
{
    Scene *s = slow_scene(WIRE_MODE_SHARED, 8192, true);
    Wr good = scene_write(s, 0, 0, 64), bad = good;

    bad.length_delta = 1;
    qp_post(&s->aqp, &good);
    qp_post(&s->aqp, &bad);
    qp_ring(&s->aqp);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    settle(s);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SQE_FORMAT);
    scene_free(s);
}

TEST_OWN_WIRES(refused_request_stops_both_ends_and_what_follows_is_not_executed)
{
    static const uint8_t ops[] = {
        ERDMA_OP_WRITE, ERDMA_OP_READ, ERDMA_OP_ATOMIC_FAA,
    };

    for (unsigned i = 0; i < 3; i++) {
        Scene *s = slow_scene(WIRE_MODE_SHARED, 8192, true);
        Wr good = scene_write(s, 0, 0, 64), bad = good;
        Wr after = scene_write(s, 0, 4096, 64);

        bad.opcode = ops[i];
        bad.rkey ^= 0x10000;
        bad.sge[0].len = 8;
        scene_recv(s, 0, 64);
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
        CHECK(is_fill(scene_b(s, 4096), 64, 0xa5));
        CHECK(!a_end(s)->broken && !b_end(s)->broken);
        CHECK(anew(s));
        scene_free(s);
    }
}

TEST_OWN_WIRES(receive_too_small_is_an_error_of_both_ends)
{
    Scene *s = scene_new_wired(WIRE_MODE_BYTES, 8192, true, NULL);
    Wr wr = scene_send(s, 0, 1000);

    scene_recv(s, 0, 999);
    qp_send(&s->aqp, &wr);
    bed_run(&s->bed);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_GENERAL_ERR);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_RECV_BOUNDS);
    CHECK(anew(s));
    scene_free(s);
}

/* ---- holding ---- */

TEST_OWN_WIRES(sends_wait_for_receives_at_the_other_process)
{
    for (unsigned k = 0; k < 2; k++) {
        Scene *s = scene_new_wired(modes[k], 65536, true, NULL);

        for (unsigned i = 0; i < 70; i++) {
            Wr wr = scene_send(s, i * 600, i % 2 ? 500 : 50);

            qp_post(&s->aqp, &wr);
        }
        qp_ring(&s->aqp);
        bed_run(&s->bed);
        CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
        for (unsigned i = 0; i < 70; i++) {
            Wc wc;

            bed_advance(&s->bed, 5 * SECOND);   /* each counts anew */
            memset(scene_b(s, 0), 0, 600);
            scene_recv(s, 0, 600);
            bed_run(&s->bed);
            wc = cq_expect(&s->bcq);
            CHECK_EQ(wc.syndrome, 0);
            CHECK_EQ(wc.size, i % 2 ? 500 : 50);
            CHECK(!memcmp(scene_b(s, 0), scene_a(s, i * 600), wc.size));
            CHECK_EQ(cq_expect(&s->acq).qe_idx, i);
            CHECK(!cq_poll(&s->acq, &wc));
        }
        scene_free(s);
    }
}

TEST_OWN_WIRES(what_follows_a_send_that_waits_does_not_overtake_it)
{
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr send = scene_send(s, 0, 64), write = scene_write(s, 0, 4096, 64);

    qp_send(&s->aqp, &send);
    qp_send(&s->aqp, &write);
    bed_run(&s->bed);
    CHECK(is_fill(scene_b(s, 4096), 64, 0xa5));
    scene_recv(s, 0, 64);
    bed_run(&s->bed);
    CHECK(is_pattern(scene_b(s, 4096), 64, 1));
    CHECK_EQ(cq_expect(&s->acq).opcode, ERDMA_OP_SEND);
    CHECK_EQ(cq_expect(&s->acq).opcode, ERDMA_OP_WRITE);
    scene_free(s);
}

TEST_OWN_WIRES(receive_doorbell_answers_what_waited_on_the_spot)
{
    Scene *s = slow_scene(WIRE_MODE_SHARED, 8192, true);
    Wr wr = scene_send(s, 0, 64);

    qp_send(&s->aqp, &wr);
    to_b(s);
    CHECK_EQ(a_end(s)->len, 0);
    scene_recv(s, 0, 64);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, 0);
    CHECK_EQ(waiting(a_end(s), WIRE_ACK), 1);
    scene_free(s);
}

TEST_OWN_WIRES(receiver_that_never_is_ready_ends_the_oldest_after_the_hold_time)
{
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr wr = scene_send(s, 0, 64);
    uint64_t start = s->a->h->now;

    qp_post(&s->aqp, &wr);
    qp_post(&s->aqp, &wr);
    qp_post(&s->aqp, &wr);
    qp_ring(&s->aqp);
    bed_run(&s->bed);
    CHECK_EQ(s->a->f.timer, start + 10 * SECOND);
    bed_advance(&s->bed, 10 * SECOND - 1);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    bed_advance(&s->bed, 1);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    CHECK_EQ(counters(s->a).retry_exceeded, 1);
    /* what the dead one had sent reaches no receive posted later */
    scene_recv(s, 0, 64);
    bed_run(&s->bed);
    CHECK(!cq_poll(&s->bcq, &(Wc) { 0 }));
    expect_no_aeqe(s->b);
    CHECK(anew(s));
    scene_free(s);
}

TEST_OWN_WIRES(silent_process_ends_the_oldest_after_the_hold_time)
{
    static const uint8_t ops[] = {
        ERDMA_OP_WRITE, ERDMA_OP_READ, ERDMA_OP_ATOMIC_FAA, ERDMA_OP_SEND,
    };

    for (unsigned i = 0; i < 4; i++) {
        Scene *s = slow_scene(WIRE_MODE_SHARED, 8192, true);
        Wr wr = scene_write(s, 0, 0, 8);

        wr.opcode = ops[i];
        qp_send(&s->aqp, &wr);
        bed_advance(&s->bed, 10 * SECOND - 1);
        CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
        bed_advance(&s->bed, 1);
        CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
        /* answers that come too late are nobody's */
        scene_recv(s, 0, 64);
        settle(s);
        CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
        CHECK(!a_end(s)->broken && !b_end(s)->broken);
        scene_free(s);
    }
}

TEST_OWN_WIRES(timer_is_not_set_for_each_message_and_ends)
{
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    Wr wr = scene_write(s, 0, 0, 64);
    uint64_t timer;

    qp_send(&s->aqp, &wr);
    timer = s->a->f.timer;
    for (unsigned i = 0; i < 50; i++) {
        bed_advance(&s->bed, 1000);
        qp_send(&s->aqp, &wr);
        CHECK_EQ(s->a->f.timer, timer);
    }
    bed_advance(&s->bed, 10 * SECOND);
    CHECK_EQ(s->a->f.timer, 0);
    CHECK_EQ(s->b->f.timer, 0);
    CHECK_EQ(counters(s->a).retry_exceeded, 0);
    for (unsigned i = 0; i < 51; i++) {
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    }
    scene_free(s);
}

TEST_OWN_WIRES(timer_that_fires_early_waits_for_the_rest)
{
    Scene *s = slow_scene(WIRE_MODE_SHARED, 8192, true);
    Wr wr = scene_write(s, 0, 0, 64);

    qp_send(&s->aqp, &wr);
    bed_advance(&s->bed, 6 * SECOND);
    to_b(s);
    to_a(s);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    qp_send(&s->aqp, &wr);              /* due at 16 s */
    bed_advance(&s->bed, 4 * SECOND);   /* the timer of the first */
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    bed_advance(&s->bed, 6 * SECOND - 1);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    bed_advance(&s->bed, 1);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    scene_free(s);
}

/* ---- finding each other ---- */

TEST_OWN_WIRES(both_ends_may_become_rts_at_once)
{
    Scene *s = slow_scene(WIRE_MODE_SHARED, 8192, false);

    qp_connect(&s->aqp, &s->bqp);
    CHECK_EQ(waiting(a_end(s), WIRE_OFFER), 1);
    CHECK_EQ(waiting(b_end(s), WIRE_OFFER), 1);
    settle(s);
    CHECK(works(s, &s->aqp, &s->bqp));
    CHECK(!a_end(s)->broken && !b_end(s)->broken);
    scene_free(s);
}

TEST_OWN_WIRES(work_is_held_until_the_other_process_is_there)
{
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, 8192, false, NULL);
    Wr wr = scene_send(s, 0, 64);

    kill_wire(s);
    CHECK_EQ(qp_rts(&s->aqp, &s->bqp, 7, false), 0);
    qp_send(&s->aqp, &wr);
    bed_advance(&s->bed, 5 * SECOND);
    CHECK_EQ(qp_rts(&s->bqp, &s->aqp, 7, true), 0);
    bed_advance(&s->bed, 4 * SECOND);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    new_wire(s);
    scene_recv(s, 0, 64);
    bed_run(&s->bed);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, 0);
    scene_free(s);
}

TEST_OWN_WIRES(other_process_that_never_comes_costs_the_hold_time)
{
    Scene *s = scene_new_wired(WIRE_MODE_SHARED, 8192, false, NULL);
    Wr wr = scene_send(s, 0, 64);

    CHECK_EQ(qp_rts(&s->aqp, &s->bqp, 7, false), 0);
    qp_send(&s->aqp, &wr);
    bed_advance(&s->bed, 10 * SECOND);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    scene_free(s);
}

TEST_OWN_WIRES(queue_pair_that_was_withdrawn_is_not_found)
{
    Scene *s = slow_scene(WIRE_MODE_SHARED, 8192, false);
    Wr wr = scene_send(s, 0, 64);

    CHECK_EQ(qp_rts(&s->aqp, &s->bqp, 7, true), 0);
    CHECK_EQ(qp_destroy(&s->aqp), 0);
    CHECK_EQ(qp_rts(&s->bqp, &s->aqp, 7, false), 0);
    qp_send(&s->bqp, &wr);
    settle(s);
    bed_advance(&s->bed, 10 * SECOND);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_RETRY_EXC);
    CHECK(!a_end(s)->broken && !b_end(s)->broken);
    scene_free(s);
}

TEST_OWN_WIRES(offer_accepted_after_its_queue_pair_has_gone_is_closed)
{
    Scene *s = slow_scene(WIRE_MODE_SHARED, 8192, false);
    Wr wr = scene_send(s, 0, 64);

    CHECK_EQ(qp_rts(&s->bqp, &s->aqp, 7, false), 0);
    qp_send(&s->bqp, &wr);
    CHECK_EQ(qp_rts(&s->aqp, &s->bqp, 7, true), 0);
    to_b(s);                            /* accepted there, work sent */
    CHECK_EQ(waiting(a_end(s), WIRE_ACCEPT), 1);
    CHECK_EQ(qp_destroy(&s->aqp), 0);
    settle(s);
    bed_advance(&s->bed, 10 * SECOND);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_RETRY_EXC);
    CHECK(!a_end(s)->broken && !b_end(s)->broken);
    CHECK(anew(s));
    scene_free(s);
}

TEST_OWN_WIRES(cards_of_one_process_find_each_other_without_the_wire)
{
    Bed b;
    Scene s = { 0 };
    WirePair pair;
    ErdmaFabric *other = erdma_fabric_new();

    bed_init_wired(&b, 2, 2, NULL, WIRE_MODE_OFF);
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
    bed_free(&b);
    erdma_fabric_free(other);
}

/* ---- three processes ---- */

typedef struct Trio {
    Bed bed;
    Cq cq[3];
    Qp qp[3][3];                /* [i][k]: of card i, to card k */
    uint64_t buf[3];
    uint32_t key[3];
} Trio;

static Trio *trio_new(WireMode mode)
{
    Trio *t = calloc(1, sizeof(*t));

    bed_init_wired(&t->bed, 3, 3, NULL, mode);
    for (unsigned i = 0; i < 3; i++) {
        Card *c = &t->bed.card[i];

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
    bed_run(&t->bed);
    return t;
}

static void trio_free(Trio *t)
{
    bed_free(&t->bed);
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
            Card *c = &t->bed.card[to];
            Wc wc;

            trio_send(t, from, to);
            bed_run(&t->bed);
            CHECK_EQ(cq_expect(&t->cq[from]).syndrome, 0);
            wc = cq_expect(&t->cq[to]);
            CHECK_EQ(wc.syndrome, 0);
            CHECK_EQ(wc.qpn, t->qp[to][from].qpn);
            CHECK(!memcmp(fake_ptr(c->h, t->buf[to] + 30000, 2000),
                          fake_ptr(t->bed.card[from].h, t->buf[from] + 1000,
                                   2000), 2000));
        }
        trio_free(t);
    }
}

TEST_OWN_WIRES(process_that_dies_leaves_the_connection_of_the_others)
{
    Trio *t = trio_new(WIRE_MODE_SHARED);

    t->bed.slow = true;
    trio_send(t, 0, 1);
    trio_send(t, 0, 2);
    wire_pair_free(&t->bed.wire[0]);            /* 0-1 */
    t->bed.slow = false;
    bed_run(&t->bed);
    CHECK_EQ(cq_expect(&t->cq[0]).qpn, t->qp[0][2].qpn);
    CHECK_EQ(cq_expect(&t->cq[2]).syndrome, 0);
    CHECK(!cq_poll(&t->cq[0], &(Wc) { 0 }));
    bed_advance(&t->bed, 10 * SECOND);
    CHECK_EQ(cq_expect(&t->cq[0]).syndrome, ERDMA_WC_RETRY_EXC);
    trio_send(t, 2, 0);
    bed_run(&t->bed);
    CHECK_EQ(cq_expect(&t->cq[2]).syndrome, 0);
    CHECK_EQ(cq_expect(&t->cq[0]).syndrome, 0);
    trio_free(t);
}
