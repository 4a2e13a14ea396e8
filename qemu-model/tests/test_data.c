/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each request does to memory and completions (9.3, 9.8). */
#include <stdlib.h>

#include "guest.h"

static unsigned run(Qp *qp, const Wr *wr)
{
    qp_send(qp, wr);
    hosts_run(qp->card->hosts);
    return cq_expect(qp->scq).syndrome;
}

/* ---- WRITE ---- */

static void write_sizes(unsigned cards, QueueKind kind)
{
    static const uint32_t size[] = {
        1, 2, 64, 4095, 4096, 4097, 65536, 65537, 1000003, 2 << 20,
    };
    Fixture *s = fixture_new(cards, kind, (2 << 20) + 64);

    for (unsigned i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
        Wr wr = fixture_write(s, 17, 33, size[i]);

        pattern(fixture_a(s, 17), size[i], i);
        memset(fixture_b(s, 0), 0xa5, 33);
        fixture_b(s, 33)[size[i]] = 0xa5;
        CHECK_EQ(run(&s->aqp, &wr), 0);
        CHECK(is_pattern(fixture_b(s, 33), size[i], i));
        CHECK(is_fill(fixture_b(s, 0), 33, 0xa5));
        CHECK_EQ(fixture_b(s, 33)[size[i]], 0xa5);
    }
    fixture_free(s);
}

TEST(write_of_any_size_between_two_cards)
{
    write_sizes(2, QUEUE_KERNEL);
}

TEST(write_of_any_size_between_two_queue_pairs_of_one_card)
{
    write_sizes(1, QUEUE_KERNEL);
}

TEST(write_of_any_size_with_user_queues)
{
    write_sizes(2, QUEUE_INLINE);
}

TEST(write_is_invisible_to_the_receiver)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_write(s, 0, 0, 64);

    fixture_recv(s, 1024, 64);
    CHECK_EQ(run(&s->aqp, &wr), 0);
    CHECK(!cq_poll(&s->bcq, &(Wc) { 0 }));
    fixture_free(s);
}

TEST(write_gathers_six_ranges)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);
    Wr wr = fixture_write(s, 0, 0, 0);
    uint32_t at = 0;

    wr.nsge = 6;
    for (unsigned i = 0; i < 6; i++) {
        wr.sge[i] = (Sge) { s->abuf + i * 9000, 100 + i * 1500, s->akey };
    }
    CHECK_EQ(run(&s->aqp, &wr), 0);
    for (unsigned i = 0; i < 6; i++) {
        CHECK(
            !memcmp(fixture_b(s, at), fixture_a(s, i * 9000), 100 + i * 1500));
        at += 100 + i * 1500;
    }
    CHECK_EQ(fixture_b(s, at)[0], 0xa5);
    fixture_free(s);
}

TEST(ranges_of_zero_bytes_are_skipped_unchecked)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_write(s, 0, 0, 0);

    wr.nsge = 3;
    wr.sge[0] = (Sge) { 0xdead, 0, 0xdead };
    wr.sge[1] = (Sge) { s->abuf, 32, s->akey };
    wr.sge[2] = (Sge) { 0xbeef, 0, 0xbeef };
    CHECK_EQ(run(&s->aqp, &wr), 0);
    CHECK(is_pattern(fixture_b(s, 0), 32, 1));
    fixture_free(s);
}

TEST(seven_ranges_are_malformed)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_write(s, 0, 0, 0);
    struct erdma_sqe_write *w;
    uint16_t index;

    wr.nsge = 6;
    for (unsigned i = 0; i < 6; i++) {
        wr.sge[i] = (Sge) { s->abuf, 1, s->akey };
    }
    index = qp_post(&s->aqp, &wr);
    w = qp_block(&s->aqp, index);
    w->hdr += htole64(1ull << 56);
    qp_ring(&s->aqp);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SQE_FORMAT);
    fixture_free(s);
}

/* Of a SEND all seven would fit into its blocks */
TEST(seven_ranges_of_a_send_are_malformed)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_send(s, 0, 8);

    fixture_recv(s, 0, 4096);
    wr.nsge = 7;
    for (unsigned i = 0; i < 7; i++) {
        wr.sge[i] = (Sge) { s->abuf, 8, s->akey };
    }
    CHECK_EQ(run(&s->aqp, &wr), ERDMA_WC_SQE_FORMAT);
    fixture_free(s);
}

/* ---- inline ---- */

static void inline_sizes(uint8_t opcode)
{
    Fixture *s = fixture_new(2, QUEUE_INLINE, 4096);
    uint8_t data[96];

    for (unsigned len = 0; len <= 96; len++) {
        Wr wr = fixture_write(s, 0, 100, 0);

        pattern(data, len, len);
        memset(fixture_b(s, 0), 0xa5, 300);
        wr.opcode = opcode;
        wr.is_inline = true;
        wr.data = data;
        wr.data_len = len;
        fixture_recv(s, 100, 200);
        CHECK_EQ(run(&s->aqp, &wr), 0);
        CHECK(is_pattern(fixture_b(s, 100), len, len));
        CHECK(is_fill(fixture_b(s, 100 + len), 100, 0xa5));
    }
    fixture_free(s);
}

TEST(inline_write_of_0_to_96_bytes)
{
    inline_sizes(ERDMA_OP_WRITE);
}

TEST(inline_send_of_0_to_96_bytes)
{
    inline_sizes(ERDMA_OP_SEND);
}

TEST(more_than_96_inline_bytes_are_malformed)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    uint8_t data[112] = { 0 };
    Wr wr = fixture_write(s, 0, 0, 0);

    wr.opcode = ERDMA_OP_SEND;
    wr.is_inline = true;
    wr.data = data;
    wr.data_len = 97;
    CHECK_EQ(run(&s->aqp, &wr), ERDMA_WC_SQE_FORMAT);
    fixture_free(s);
}

TEST(inline_flag_is_ignored_where_it_means_nothing)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_read(s, 0, 0, 64);
    struct erdma_sqe_read *r;
    uint16_t index = qp_post(&s->aqp, &wr);

    pattern(fixture_b(s, 0), 64, 4);
    r = qp_block(&s->aqp, index);
    r->hdr |= htole64(ERDMA_SQE_HDR_INLINE);
    qp_ring(&s->aqp);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK(is_pattern(fixture_a(s, 0), 64, 4));
    fixture_free(s);
}

/* ---- SEND ---- */

TEST(send_fills_one_receive_after_the_other)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);

    for (unsigned i = 0; i < 10; i++) {
        fixture_recv(s, i * 1024, 1024);
    }
    for (unsigned i = 0; i < 10; i++) {
        Wr wr = fixture_send(s, i * 100, 90 + i);
        Wc wc;

        CHECK_EQ(run(&s->aqp, &wr), 0);
        wc = cq_expect(&s->bcq);
        CHECK_EQ(wc.opcode, ERDMA_OP_RECV);
        CHECK_EQ(wc.qtype, ERDMA_CQE_QTYPE_RQ);
        CHECK_EQ(wc.qe_idx, i);
        CHECK_EQ(wc.size, 90 + i);
        CHECK_EQ(wc.qpn, s->bqp.qpn);
        CHECK_EQ(wc.imm, 0);
        CHECK(!memcmp(fixture_b(s, i * 1024), fixture_a(s, i * 100), 90 + i));
        CHECK_EQ(fixture_b(s, i * 1024)[90 + i], 0xa5);
    }
    fixture_free(s);
}

TEST(send_of_nothing_consumes_a_receive)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = { .opcode = ERDMA_OP_SEND };

    qp_recv(&s->bqp, 0, 0, 0);
    CHECK_EQ(run(&s->aqp, &wr), 0);
    CHECK_EQ(cq_expect(&s->bcq).size, 0);
    fixture_free(s);
}

TEST(keys_of_an_empty_message_are_not_checked)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_write(s, 0, 0, 0);

    wr.nsge = 0;
    wr.rkey = 0xdeadbeef;
    wr.raddr = UINT64_MAX;
    CHECK_EQ(run(&s->aqp, &wr), 0);
    wr = fixture_read(s, 0, 0, 0);
    wr.rkey = 0xdeadbeef;
    wr.sge[0].key = 0xdeadbeef;
    CHECK_EQ(run(&s->aqp, &wr), 0);
    wr = (Wr) { .opcode = ERDMA_OP_SEND };
    qp_recv(&s->bqp, 1, 100, 0xdeadbeef);
    CHECK_EQ(run(&s->aqp, &wr), 0);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, 0);
    fixture_free(s);
}

TEST(message_of_exactly_the_buffer_fits_and_one_byte_more_does_not)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_send(s, 0, 256);

    fixture_recv(s, 0, 256);
    fixture_recv(s, 0, 255);
    fixture_recv(s, 0, 256);
    CHECK_EQ(run(&s->aqp, &wr), 0);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, 0);
    CHECK_EQ(run(&s->aqp, &wr), ERDMA_WC_GENERAL_ERR);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_RECV_BOUNDS);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_FLUSHED);
    expect_aeqe(s->b, ERDMA_AE_RQ_ERR, s->bqp.qpn);
    expect_aeqe(s->a, ERDMA_AE_QP_FATAL, s->aqp.qpn);
    fixture_free(s);
}

static unsigned bad_recv(uint32_t key_xor, int64_t off)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_send(s, 0, 64);
    Wc wc;

    qp_recv(&s->bqp, s->bbuf + off, 64, s->bkey ^ key_xor);
    CHECK_EQ(run(&s->aqp, &wr), ERDMA_WC_GENERAL_ERR);
    wc = cq_expect(&s->bcq);
    CHECK_EQ(wc.opcode, ERDMA_OP_RECV);
    CHECK_EQ(wc.qe_idx, 0);
    expect_aeqe(s->b, ERDMA_AE_RQ_ERR, s->bqp.qpn);
    expect_aeqe(s->a, ERDMA_AE_QP_FATAL, s->aqp.qpn);
    fixture_free(s);
    return wc.syndrome;
}

TEST(bad_receive_is_reported_at_the_receiver)
{
    CHECK_EQ(bad_recv(1, 0), ERDMA_WC_RECV_STAG);
    CHECK_EQ(bad_recv(0, 4090), ERDMA_WC_RECV_BOUNDS);
    CHECK_EQ(bad_recv(0, -8 - (int64_t)RAM_BASE), ERDMA_WC_RECV_BOUNDS);
}

static unsigned spoiled_rqe(unsigned off, uint8_t value)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_send(s, 0, 64);
    unsigned syndrome;

    qp_post_recv(&s->bqp, s->bbuf, 64, s->bkey);
    ((uint8_t *)qp_rqe(&s->bqp, 0))[off] ^= value;
    qp_ring_recv(&s->bqp);
    CHECK_EQ(run(&s->aqp, &wr), ERDMA_WC_GENERAL_ERR);
    syndrome = cq_expect(&s->bcq).syndrome;
    fixture_free(s);
    return syndrome;
}

TEST(receive_with_another_index_or_owner_is_malformed)
{
    CHECK_EQ(spoiled_rqe(0, 2), ERDMA_WC_RQE_FORMAT);
    CHECK_EQ(spoiled_rqe(4, 1), ERDMA_WC_RQE_FORMAT);
}

TEST(unreadable_receive_ring_is_malformed)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_send(s, 0, 64);

    fixture_recv(s, 0, 64);
    fake_hole(s->b->h, s->bqp.rq_page[0], 4096);
    CHECK_EQ(run(&s->aqp, &wr), ERDMA_WC_GENERAL_ERR);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_RQE_FORMAT);
    fixture_free(s);
}

TEST(receive_completion_is_written_before_the_senders)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    Wr wr = fixture_send(s, 0, 64);
    Qp qp;
    Wc wc;

    qp_init(&s->aqp, s->a, &s->acq, QUEUE_KERNEL);
    qp_init(&qp, s->a, &s->acq, QUEUE_KERNEL);
    qp_connect(&s->aqp, &qp);
    qp_recv(&qp, s->bbuf, 64, s->bkey);
    qp_send(&s->aqp, &wr);
    wc = cq_expect(&s->acq);
    CHECK_EQ(wc.qpn, qp.qpn);
    wc = cq_expect(&s->acq);
    CHECK_EQ(wc.qpn, s->aqp.qpn);
    fixture_free(s);
}

/* ---- immediates ---- */

TEST(write_with_immediate_consumes_a_receive_but_not_its_buffer)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    Wr wr = fixture_write(s, 0, 4096, 500);
    Wc wc;

    wr.opcode = ERDMA_OP_WRITE_IMM;
    wr.imm = htole32(0x01020304);
    qp_recv(&s->bqp, 0xdead, 1, 0xdead);
    CHECK_EQ(run(&s->aqp, &wr), 0);
    wc = cq_expect(&s->bcq);
    CHECK_EQ(wc.opcode, ERDMA_OP_RECV_WRITE_IMM);
    CHECK_EQ(wc.imm, 0x01020304);
    CHECK_EQ(wc.size, 500);
    CHECK(is_pattern(fixture_b(s, 4096), 500, 1));
    fixture_free(s);
}

TEST(refused_write_with_immediate_leaves_the_receive_for_the_flush)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    Wr wr = fixture_write(s, 0, 8000, 500);

    wr.opcode = ERDMA_OP_WRITE_IMM;
    fixture_recv(s, 0, 64);
    CHECK_EQ(run(&s->aqp, &wr), ERDMA_WC_RECV_BOUNDS);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_FLUSHED);
    expect_aeqe(s->b, ERDMA_AE_ACCESS_ERR, s->bqp.qpn);
    fixture_free(s);
}

TEST(refused_write_with_immediate_does_not_wait_for_a_receive)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    Wr wr = fixture_write(s, 0, 8000, 500);

    wr.opcode = ERDMA_OP_WRITE_IMM;
    CHECK_EQ(run(&s->aqp, &wr), ERDMA_WC_RECV_BOUNDS);
    fixture_free(s);
}

/* ---- READ ---- */

TEST(read_of_any_size)
{
    static const uint32_t size[] = { 1, 4096, 100000, 2 << 20 };
    Fixture *s = fixture_new(2, QUEUE_KERNEL, (2 << 20) + 4096);

    for (unsigned i = 0; i < 4; i++) {
        Wr wr = fixture_read(s, 100, 200, size[i]);
        Wc wc;

        pattern(fixture_b(s, 200), size[i], i + 5);
        fixture_a(s, 100)[size[i]] = 0x77;
        qp_send(&s->aqp, &wr);
        hosts_run(&s->hosts);
        wc = cq_expect(&s->acq);
        CHECK_EQ(wc.opcode, ERDMA_OP_READ);
        CHECK_EQ(wc.syndrome, 0);
        CHECK_EQ(wc.size, size[i]);
        CHECK(is_pattern(fixture_a(s, 100), size[i], i + 5));
        CHECK_EQ(fixture_a(s, 100)[size[i]], 0x77);
    }
    CHECK(!cq_poll(&s->bcq, &(Wc) { 0 }));
    fixture_free(s);
}

/* ---- atomics ---- */

static uint64_t *target(Fixture *s)
{
    return (uint64_t *)(void *)fixture_b(s, 64);
}

static uint64_t *result(Fixture *s)
{
    return (uint64_t *)(void *)fixture_a(s, 128);
}

static Wr atomic(Fixture *s, uint8_t op, uint64_t swap_add, uint64_t compare)
{
    Wr wr = fixture_write(s, 128, 64, 8);

    wr.opcode = op;
    wr.swap_add = swap_add;
    wr.compare = compare;
    return wr;
}

TEST(compare_and_swap_swaps_only_if_equal)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = atomic(s, ERDMA_OP_ATOMIC_CAS, 99, 7);
    Wc wc;

    *target(s) = 7;
    qp_send(&s->aqp, &wr);
    wc = cq_expect(&s->acq);
    CHECK_EQ(wc.opcode, ERDMA_OP_ATOMIC_CAS);
    CHECK_EQ(wc.syndrome, 0);
    CHECK_EQ(wc.size, 8);
    CHECK_EQ(*target(s), 99);
    CHECK_EQ(*result(s), 7);
    CHECK_EQ(run(&s->aqp, &wr), 0);
    CHECK_EQ(*target(s), 99);
    CHECK_EQ(*result(s), 99);
    fixture_free(s);
}

TEST(fetch_and_add_adds_and_wraps)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = atomic(s, ERDMA_OP_ATOMIC_FAA, 3, 0);

    *target(s) = UINT64_MAX - 1;
    CHECK_EQ(run(&s->aqp, &wr), 0);
    CHECK_EQ(*target(s), 1);
    CHECK_EQ(*result(s), UINT64_MAX - 1);
    fixture_free(s);
}

TEST(misaligned_atomic_is_an_address_violation)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = atomic(s, ERDMA_OP_ATOMIC_FAA, 3, 0);

    wr.raddr += 4;
    CHECK_EQ(run(&s->aqp, &wr), ERDMA_WC_RECV_BOUNDS);
    expect_aeqe(s->b, ERDMA_AE_ACCESS_ERR, s->bqp.qpn);
    fixture_free(s);
}

TEST(atomic_result_shorter_than_8_bytes_is_an_address_violation)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = atomic(s, ERDMA_OP_ATOMIC_FAA, 3, 0);

    *target(s) = 5;
    wr.sge[0].len = 7;
    CHECK_EQ(run(&s->aqp, &wr), ERDMA_WC_SEND_BOUNDS);
    CHECK_EQ(*target(s), 5);
    fixture_free(s);
}

TEST(atomic_outside_its_region_changes_nothing)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = atomic(s, ERDMA_OP_ATOMIC_FAA, 3, 0);

    wr.raddr = s->bbuf + 4096;
    CHECK_EQ(run(&s->aqp, &wr), ERDMA_WC_RECV_BOUNDS);
    fixture_free(s);
}

/* ---- work in turns ---- */

TEST(small_messages_are_done_inside_the_doorbell_write)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);
    Wr wr = fixture_write(s, 0, 0, 32768);

    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK(!s->a->f.kicked);
    fixture_free(s);
}

TEST_ONE_PROCESS(large_message_is_left_to_turns_of_bounded_size)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 9 << 20);
    Wr wr = fixture_write(s, 0, 0, 9 << 20);
    unsigned turns = 0;

    qp_send(&s->aqp, &wr);
    CHECK(s->a->f.kicked);
    CHECK(is_fill(fixture_b(s, 0), 4096, 0xa5));
    while (s->a->f.kicked) {
        s->a->f.kicked = false;
        erdma_core_run(s->a->core);
        turns++;
        if (turns == 1) {
            CHECK(is_pattern(fixture_b(s, 0), 4 << 20, 1));
            CHECK(is_fill(fixture_b(s, 4 << 20), 4096, 0xa5));
        }
    }
    CHECK_EQ(turns, 3);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK(is_pattern(fixture_b(s, 0), 9 << 20, 1));
    fixture_free(s);
}

TEST_ONE_PROCESS(queue_pairs_take_turns)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8 << 20);
    Wr big = fixture_write(s, 0, 0, 8 << 20), small = fixture_write(s, 0, 0, 8);
    Cq cq;
    Qp qp, peer;

    cq_init(&cq, s->a, 128, 1);
    qp_init(&qp, s->a, &cq, QUEUE_KERNEL);
    qp_init(&peer, s->b, &s->bcq, QUEUE_KERNEL);
    qp_connect(&qp, &peer);
    qp_send(&s->aqp, &big);
    for (unsigned i = 0; i < 65; i++) {
        qp_post(&qp, &small);
    }
    qp_ring(&qp);
    s->a->f.kicked = false;
    erdma_core_run(s->a->core);
    for (unsigned i = 0; i < 65; i++) {
        CHECK_EQ(cq_expect(&cq).syndrome, 0);
    }
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    fixture_free(s);
}

TEST(statistics_count_both_ends_of_every_kind)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);
    Wr w = fixture_write(s, 0, 0, 3000), r = fixture_read(s, 0, 0, 1501);
    Wr a = atomic(s, ERDMA_OP_ATOMIC_FAA, 1, 0);
    ErdmaCounters na, nb;

    CHECK_EQ(run(&s->aqp, &w), 0);
    CHECK_EQ(run(&s->aqp, &r), 0);
    CHECK_EQ(run(&s->aqp, &a), 0);
    na = counters(s->a);
    nb = counters(s->b);
    CHECK_EQ(na.tx_reqs, 3);
    CHECK_EQ(na.tx_bytes, 3000);
    CHECK_EQ(na.tx_pkts, 2 + 1 + 1);
    CHECK_EQ(na.rx_bytes, 1501 + 8);
    CHECK_EQ(na.rx_pkts, 2 + 1);
    CHECK_EQ(nb.rx_bytes, 3000);
    CHECK_EQ(nb.rx_pkts, 2 + 1 + 1);
    CHECK_EQ(nb.tx_bytes, 1501 + 8);
    CHECK_EQ(nb.tx_pkts, 2 + 1);
    CHECK_EQ(nb.tx_reqs, 0);
    fixture_free(s);
}
