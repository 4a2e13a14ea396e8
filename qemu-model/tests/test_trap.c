/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Appendix B, traps for model writers, by number. Those of the PCI glue (32,
 * 34, and the bus-master part of 39) are tested there as well.
 */
#include <stdlib.h>

#include "guest.h"

#define SECOND  1000000000ull

static void nop(Qp *qp)
{
    qp_send(qp, &(Wr) { .opcode = ERDMA_OP_WRITE });
}

TEST(trap_01_first_event_ever_raises_the_message)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    card_arm_cmd(s->a);
    CHECK_EQ(qp_modify(&s->aqp, 9), 22);
    CHECK_EQ(s->a->f.irqs[0], 1);
    cq_arm(&s->acq, false);
    nop(&s->aqp);
    CHECK_EQ(s->a->f.irqs[1], 1);
    fixture_free(s);
}

TEST(trap_02_arm_checks_the_producer_index_at_once)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    /* command CQ */
    s->a->cq_ci--;
    card_arm_cmd(s->a);
    s->a->cq_ci++;
    CHECK_EQ(s->a->f.irqs[0], 1);
    CHECK(eq_poll(s->a, &s->a->eq[0], NULL, NULL));
    /* CQ */
    nop(&s->aqp);
    cq_arm(&s->acq, false);
    CHECK_EQ(s->a->f.irqs[1], 1);
    /* EQ */
    ceq_arm(s->a, 1);
    CHECK_EQ(s->a->f.irqs[1], 2);
    fixture_free(s);
}

TEST(trap_03_no_interrupt_on_an_arm_when_nothing_is_new)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    card_arm_cmd(s->a);
    cq_arm(&s->acq, false);
    for (unsigned i = 0; i < 32; i++) {
        ceq_arm(s->a, i % 3);
        aeq_arm(s->a);
    }
    CHECK_EQ(s->a->f.irqs_total, 0);
    fixture_free(s);
}

TEST(trap_04_event_indices_are_16_bits_and_entries_modulo_depth)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    for (unsigned i = 0; i < 65536 + 10; i++) {
        cq_arm(&s->acq, false);
        nop(&s->aqp);
        cq_expect(&s->acq);
        CHECK(eq_poll(s->a, &s->a->eq[1], NULL, NULL));
        ceq_arm(s->a, 1);
        CHECK_EQ(s->a->f.irqs[1], i + 1);
    }
    fixture_free(s);
}

TEST(trap_05_owner_bit_starts_at_1)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    uint64_t *eqe = fake_ptr(s->a->h, s->a->eq[1].addr, 8);

    CHECK_EQ(*(uint8_t *)fake_ptr(s->a->h, s->a->cq, 1) >> 7, 1);
    cq_arm(&s->acq, false);
    nop(&s->aqp);
    CHECK_EQ(be32toh(cq_entry(&s->acq, 0)->hdr) >> 31, 1);
    CHECK_EQ(le64toh(*eqe) >> 31 & 1, 1);
    fixture_free(s);
}

TEST(trap_06_completions_are_big_endian_events_are_not)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    const uint8_t *cqe, *eqe;

    cq_arm(&s->acq, false);
    nop(&s->aqp);
    cqe = (const uint8_t *)cq_entry(&s->acq, 0);
    CHECK_EQ(cqe[0], 0x80);
    CHECK_EQ(cqe[11], s->aqp.qpn);
    eqe = fake_ptr(s->a->h, s->a->eq[1].addr, 16);
    CHECK_EQ(eqe[0], s->acq.cqn);
    CHECK_EQ(eqe[3], 0x80);
    fixture_free(s);
}

TEST(trap_07_command_completion_carries_the_start_of_its_slot)
{
    Hosts b;
    Card *c;
    struct erdma_cqe cqe;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    card_start(c, 4);
    for (unsigned i = 0; i < 5; i++) {
        card_post_cmd(c, 1, ERDMA_CMD_QUERY_FW_INFO, NULL, 8);
    }
    card_ring_cmd(c);
    for (unsigned i = 0; i < 5; i++) {
        CHECK(card_poll_cmd(c, &cqe));
        CHECK_EQ(be32toh(cqe.qe_idx), 4 * i);
    }
    hosts_free(&b);
}

TEST(trap_08_two_slot_sizes_and_stale_bytes_behind_the_request)
{
    /* a 64-byte slot followed by stale bytes that look like an extension */
    Hosts b;
    Card *c;
    Cq cq;
    Qp qp;
    QpOpt o = {
        .kind = QUEUE_KERNEL, .sq_depth = 64, .rq_depth = 64,
        .scq = &cq, .rcq = &cq,
    };

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    card_up(c, 2, 1);
    cq_init(&cq, c, 64, 1);
    memset(fake_ptr(c->h, c->sq, 4096), 0xff, 4096);
    CHECK_EQ(qp_try(&qp, c, &o), 0);
    /* inline entries 1 to 3 do not exist there */
    o.kind = QUEUE_INLINE;
    o.sq_depth = 256;
    CHECK_EQ(qp_try(&qp, c, &o), ERDMA_CMD_EINVAL);
    o.kind = QUEUE_TABLE;
    CHECK_EQ(qp_try(&qp, c, &o), 0);
    hosts_free(&b);
}

/* All that appendix B, 9 lists, with either filling of what is undefined */
static void undefined_bytes(uint8_t garbage)
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 8192, NULL);
    struct erdma_cmd_query stats;
    uint32_t key;
    Cq cq;

    s->a->garbage = s->b->garbage = garbage;
    cq_init(&cq, s->a, 64, 1);                  /* CFG2 is all ones */
    qp_init(&s->aqp, s->a, &s->acq, QUEUE_KERNEL);
    qp_init(&s->bqp, s->b, &s->bcq, QUEUE_INLINE);
    qp_connect(&s->aqp, &s->bqp);
    key = mr_dma(s->b, PD, ALL_RIGHTS);
    mr_frmr(s->b, 16, NULL);
    memset(&stats, garbage, sizeof(stats));
    stats.target = htole64(fake_alloc(s->a->h, 256));
    stats.length = htole32(256);
    CHECK_EQ(CMD_COMMON(s->a, ERDMA_CMD_GET_STATS, stats), 0);
    qp_send(&s->aqp, &(Wr) {
        .opcode = ERDMA_OP_WRITE, .raddr = s->bbuf, .rkey = key, .nsge = 1,
        .sge = { { s->abuf, 100, s->akey } },
    });
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_CLOSING), 0);
    CHECK_EQ(qp_modify(&s->bqp, ERDMA_QPS_ERROR), 0);
    fixture_free(s);
}

TEST(trap_09_undefined_bytes_are_never_looked_at)
{
    undefined_bytes(0x00);
    undefined_bytes(0xff);
    undefined_bytes(0x5a);
}

TEST(trap_10_of_two_regions_with_valid_0_only_the_dma_one_is_usable)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    uint32_t dma = mr_dma(s->b, PD, ALL_RIGHTS);
    uint32_t frmr = mr_frmr(s->b, 16, NULL);
    Wr wr = fixture_write(s, 0, 0, 64);

    wr.rkey = dma;
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    wr.rkey = frmr;
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RECV_STAG);
    fixture_free(s);
}

TEST(trap_11_one_page_cq_ignores_level_and_qp_obeys_it)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    QpOpt o = {
        .kind = QUEUE_TABLE, .sq_depth = 64, .rq_depth = 64,
        .scq = &s->acq, .rcq = &s->acq,
    };
    Cq cq;
    Qp qp;

    cq_init_user(&cq, s->a, 64, 1);             /* MTT_CNT 1, LEVEL 1 */
    o.scq = &cq;
    qp_init_opt(&qp, s->a, &o);                 /* table of one entry */
    qp_init(&s->bqp, s->b, &s->bcq, QUEUE_KERNEL);
    qp_connect(&qp, &s->bqp);
    nop(&qp);
    CHECK_EQ(cq_expect(&cq).syndrome, 0);
    cq_free(&cq);
    fixture_free(s);
}

TEST(trap_12_kernel_queues_need_not_be_aligned_to_their_page)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    CHECK(s->acq.addr % (32u << 20));
    CHECK(s->aqp.sq_page[0] % (1u << 20));
    for (unsigned i = 0; i < 3000; i++) {
        nop(&s->aqp);
        CHECK_EQ(cq_expect(&s->acq).qe_idx, i);
    }
    fixture_free(s);
}

TEST(trap_13_page_shift_of_a_region_is_the_plain_logarithm)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);
    uint64_t page[3];
    MrOpt o = {
        .index = 300, .pd = PD, .rights = ALL_RIGHTS, .va = 0,
        .len = 3 * 8192, .page_shift = 13, .page = page, .npages = 3,
    };
    Wr wr = fixture_write(s, 0, 0, 3 * 8192);

    for (unsigned i = 0; i < 3; i++) {
        page[i] = s->bbuf + (2 - i) * 16384;
    }
    CHECK_EQ(mr_reg_opt(s->b, &o), 0);
    wr.raddr = 0;
    wr.rkey = 300 << 8;
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK(!memcmp(fixture_b(s, 16384), fixture_a(s, 8192), 8192));
    fixture_free(s);
}

TEST(trap_14_send_completion_has_all_16_bits_of_the_first_block)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_write(s, 0, 0, 8);          /* 2 blocks in a ring of 256 */

    for (unsigned i = 0; i < 40000; i++) {
        qp_send(&s->aqp, &wr);
        CHECK_EQ(cq_expect(&s->acq).qe_idx, 2 * i & 0xffff);
    }
    fixture_free(s);
}

TEST(trap_15_one_completion_per_receive_in_order)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    for (unsigned i = 0; i < 1000; i++) {
        Wr wr = fixture_send(s, 0, i % 64);
        Wc wc;

        fixture_recv(s, 0, 64);
        qp_send(&s->aqp, &wr);
        wc = cq_expect(&s->bcq);
        CHECK_EQ(wc.qe_idx, i);
        CHECK_EQ(wc.size, i % 64);
        CHECK(!cq_poll(&s->bcq, &wc));
        cq_expect(&s->acq);
    }
    fixture_free(s);
}

TEST(trap_16_immediate_bytes_come_out_reversed)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_write(s, 0, 0, 8);

    wr.opcode = ERDMA_OP_WRITE_IMM;
    memcpy(&wr.imm, "\x11\x22\x33\x44", 4);
    fixture_recv(s, 0, 64);
    qp_send(&s->aqp, &wr);
    CHECK(!memcmp(&cq_entry(&s->bcq, 0)->imm, "\x44\x33\x22\x11", 4));
    fixture_free(s);
}

TEST(trap_17_receive_of_send_imm_is_12_and_of_write_imm_is_5)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_send(s, 0, 8);

    fixture_recv(s, 0, 64);
    fixture_recv(s, 0, 64);
    wr.opcode = ERDMA_OP_SEND_IMM;
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->bcq).opcode, 12);
    wr = fixture_write(s, 0, 0, 8);
    wr.opcode = ERDMA_OP_WRITE_IMM;
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->bcq).opcode, 5);
    fixture_free(s);
}

TEST(trap_18_errors_and_flushes_complete_even_if_unsignaled)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_write(s, 0, 0, 8);

    wr.unsignaled = true;
    wr.rkey ^= 1;
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RECV_STAG);
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    fixture_free(s);
}

TEST(trap_19_no_completion_carries_an_opcode_above_18)
{
    for (unsigned op = 0; op < 32; op++) {
        Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
        Wr wr = fixture_write(s, 0, 0, 8);
        uint64_t *hdr;

        qp_post(&s->aqp, &wr);
        qp_post(&s->aqp, &wr);
        for (unsigned i = 0; i < 2; i++) {
            hdr = qp_block(&s->aqp, 2 * i);
            *hdr &= ~htole64(ERDMA_SQE_HDR_OPCODE);
            *hdr |= htole64((uint64_t)op << 27);
            /* the first fails for sure, the second is flushed */
            *hdr ^= htole64(i ? 0 : 1ull << 32);
        }
        qp_ring(&s->aqp);
        for (unsigned i = 0; i < 2; i++) {
            CHECK_EQ(cq_expect(&s->acq).opcode, op < 19 ? op : 0);
        }
        fixture_free(s);
    }
}

TEST(trap_20_upper_bits_of_the_receive_doorbell_are_garbage)
{
    Fixture *s = fixture_new(2, QUEUE_INLINE, 4096);
    Wr wr = fixture_send(s, 0, 8);

    for (unsigned i = 0; i < 200; i++) {
        qp_post_recv(&s->bqp, s->bbuf, 64, s->bkey);
        card_write64(s->b, s->bqp.rq_db, (uint64_t)s->bqp.qpn << 32 |
                     (i * 0x9e3779b9u & 0xffff0000) | s->bqp.rq_pi);
        qp_send(&s->aqp, &wr);
        CHECK_EQ(cq_expect(&s->bcq).qe_idx, i);
    }
    CHECK_EQ(counters(s->b).doorbells_dropped, 0);
    fixture_free(s);
}

TEST(trap_21_unused_ranges_and_lengths_hold_stale_data)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_write(s, 0, 0, 8);
    struct erdma_sqe_atomic *a;
    uint16_t index;

    /* a full old request lies under the new one with a single range */
    s->a->garbage = 0x7f;
    for (unsigned i = 0; i < 300; i++) {
        qp_send(&s->aqp, &wr);
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    }
    wr.opcode = ERDMA_OP_ATOMIC_FAA;
    for (unsigned i = 0; i < 3; i++) {
        static const uint32_t garbage[] = { 0, 8, 0xffffffff };

        index = qp_post(&s->aqp, &wr);
        a = qp_block(&s->aqp, index + 1);
        ((struct erdma_sge *)(void *)a)->length = htole32(garbage[i]);
        qp_ring(&s->aqp);
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    }
    fixture_free(s);
}

TEST(trap_22_read_has_its_local_side_in_the_fixed_part)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_read(s, 256, 512, 64);

    pattern(fixture_b(s, 512), 64, 3);
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK(is_pattern(fixture_a(s, 256), 64, 3));
    fixture_free(s);
}

TEST(trap_23_requests_and_inline_data_wrap_at_the_end_of_the_ring)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    uint8_t data[96];
    Wr wr = fixture_write(s, 0, 0, 0);

    wr.is_inline = true;
    wr.data = data;
    wr.data_len = 96;
    for (unsigned i = 0; i < 253; i++) {
        nop(&s->aqp);
        cq_expect(&s->acq);
    }
    for (unsigned i = 0; i < 200; i++) {
        nop(&s->aqp);
        cq_expect(&s->acq);
        pattern(data, 96, i);
        qp_send(&s->aqp, &wr);          /* 4 blocks at every position */
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        CHECK(is_pattern(fixture_b(s, 0), 96, i));
    }
    fixture_free(s);
}

TEST(trap_24_many_queues_share_one_doorbell_address)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Qp a[5], b[5];

    for (unsigned i = 0; i < 5; i++) {
        qp_init(&a[i], s->a, &s->acq, QUEUE_KERNEL);
        qp_init(&b[i], s->b, &s->bcq, QUEUE_KERNEL);
        qp_connect(&a[i], &b[i]);
    }
    for (unsigned i = 5; i-- > 0;) {
        CHECK_EQ(a[i].sq_db, ERDMA_DB_KERNEL_SQ);
        nop(&a[i]);
        CHECK_EQ(cq_expect(&s->acq).qpn, a[i].qpn);
    }
    fixture_free(s);
}

TEST(trap_25_consumer_index_of_an_arm_is_no_flow_control)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    cq_arm(&s->acq, false);
    for (unsigned i = 0; i < 5000; i++) {       /* ring of 1024, no more arms */
        nop(&s->aqp);
        CHECK_EQ(cq_expect(&s->acq).qe_idx, i);
    }
    expect_no_aeqe(s->a);
    fixture_free(s);
}

TEST(trap_26_early_sends_of_the_passive_side_are_held)
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, NULL);
    Wr wr = {
        .opcode = ERDMA_OP_SEND, .nsge = 1,
        .sge = { { s->bbuf, 64, s->bkey } },
    };

    qp_recv(&s->aqp, s->abuf, 64, s->akey);
    CHECK_EQ(qp_rts(&s->bqp, &s->aqp, 4444, false), 0);
    qp_send(&s->bqp, &wr);
    hosts_run(&s->hosts);
    CHECK(!cq_poll(&s->bcq, &(Wc) { 0 }));
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    hosts_advance(&s->hosts, 5 * SECOND);
    CHECK_EQ(qp_rts(&s->aqp, &s->bqp, 4444, true), 0);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, 0);
    expect_no_timer(s->b);
    fixture_free(s);
}

TEST_ONE_PROCESS(trap_27_sequence_numbers_count_the_reply_that_is_sent_afterwards)
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, NULL);
    struct erdma_cmd_modify_qp req = qp_rts_cmd(&s->bqp, &s->aqp, 4, false);

    /* a passive side that forgot its 28 bytes is never found */
    req.send_nxt = htole32(le32toh(req.send_nxt) - 28);
    CHECK_EQ(CMD_RDMA(s->b, ERDMA_CMD_MODIFY_QP, req), 0);
    CHECK_EQ(qp_rts(&s->aqp, &s->bqp, 4, true), 0);
    nop(&s->aqp);
    hosts_run(&s->hosts);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    CHECK(strstr(s->a->f.last_log, "sequence numbers"));
    fixture_free(s);
}

TEST(trap_28_error_from_any_state_and_repeated_is_a_success)
{
    for (unsigned from = 0; from < ERDMA_QPS_COUNT; from++) {
        Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, NULL);

        if (from >= ERDMA_QPS_RTS) {
            CHECK_EQ(qp_rts(&s->aqp, &s->bqp, 4, true), 0);
        }
        if (from != ERDMA_QPS_RTS) {
            CHECK_EQ(qp_modify(&s->aqp, from), 0);
        }
        CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_ERROR), 0);
        CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_ERROR), 0);
        CHECK_EQ(qp_destroy(&s->aqp), 0);
        fixture_free(s);
    }
}

TEST(trap_29_closing_flushes_like_error)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_send(s, 0, 8);                /* held: no receive */

    qp_send(&s->aqp, &wr);
    qp_recv(&s->aqp, s->abuf, 64, s->akey);
    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_CLOSING), 0);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    CHECK_EQ(cq_expect(&s->acq).qtype, ERDMA_CQE_QTYPE_RQ);
    fixture_free(s);
}

TEST(trap_30_late_requests_are_flushed_on_their_doorbell_alone)
{
    for (unsigned state = ERDMA_QPS_CLOSING; state < ERDMA_QPS_COUNT;
         state++) {
        Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
        Wr wr = fixture_read(s, 0, 0, 8);
        Wc wc;

        CHECK_EQ(qp_modify(&s->aqp, state), 0);
        for (unsigned i = 0; i < 3; i++) {
            qp_send(&s->aqp, &wr);
            wc = cq_expect(&s->acq);
            CHECK_EQ(wc.syndrome, ERDMA_WC_FLUSHED);
            CHECK_EQ(wc.opcode, ERDMA_OP_READ);
            CHECK_EQ(wc.qe_idx, 2 * i);
            qp_recv(&s->aqp, 0, 0, 0);
            wc = cq_expect(&s->acq);
            CHECK_EQ(wc.syndrome, ERDMA_WC_FLUSHED);
            CHECK_EQ(wc.qe_idx, i);
        }
        fixture_free(s);
    }
}

TEST(trap_31_reset_stops_everything_inside_the_write)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 9 << 20);
    Wr wr = fixture_write(s, 0, 0, 9 << 20), held = fixture_send(s, 0, 8);

    qp_send(&s->aqp, &wr);
    s->a->f.kicked = false;
    erdma_core_run(s->a->core);                 /* in the middle of it */
    qp_send(&s->bqp, &held);
    card_arm_cmd(s->a);
    cq_arm(&s->acq, false);
    s->a->f.record = s->b->f.record = true;
    s->a->h->maps = s->a->h->reads = 0;
    card_write32(s->a, ERDMA_REG_CTRL, ERDMA_CTRL_RESET);
    CHECK_EQ(card_read32(s->a, ERDMA_REG_STATUS), ERDMA_STATUS_RESET_DONE);
    expect_no_timer(s->a);
    erdma_core_run(s->a->core);
    erdma_core_timer(s->a->core);
    hosts_run(&s->hosts);
    qp_ring(&s->aqp);
    card_arm_cmd(s->a);
    ceq_arm(s->a, 1);
    CHECK_EQ(s->a->f.events, 0);
    CHECK_EQ(s->a->h->maps + s->a->h->reads, 0);
    CHECK_EQ(s->b->f.events, 0);
    fixture_free(s);
}

TEST(trap_31_init_and_reset_repeat_with_new_addresses)
{
    Hosts b;

    hosts_init(&b, 1, 1);
    for (unsigned i = 0; i < 50; i++) {
        card_up(&b.card[0], i & 1 ? 2 : 4, 31);
        CHECK_EQ(card_cmd(&b.card[0], 0, 0, NULL, 8, NULL, NULL), 0);
        card_write32(&b.card[0], ERDMA_REG_CTRL, ERDMA_CTRL_RESET);
        CHECK_EQ(b.card[0].f.irqs_total, 0);
        if (b.host[0].next - RAM_BASE > RAM_SIZE / 2) {
            b.host[0].next = RAM_BASE;
        }
    }
    hosts_free(&b);
}

TEST(trap_33_vector_0_is_silent_before_init)
{
    Hosts b;
    Card *c;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    aeq_arm(c);
    card_write64(c, ERDMA_REG_AEQ_DB, ERDMA_EQ_DB_ARM | 5);
    for (unsigned i = 0; i < 32; i++) {
        card_write64(c, ERDMA_REG_EQ_DB(i), ERDMA_EQ_DB_ARM | 5);
    }
    card_write64(c, ERDMA_REG_CMDQ_CQ_DB, ERDMA_CQ_DB_ARM | 5);
    card_write64(c, ERDMA_REG_CMDQ_SQ_DB, 8);
    hosts_run(&b);
    CHECK_EQ(c->f.irqs_total, 0);
    CHECK_EQ(counters(c).doorbells_dropped, 36);
    hosts_free(&b);
}

TEST(trap_35_index_0_is_usable)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    MrOpt o = {
        .index = 0, .pd = PD, .rights = ALL_RIGHTS, .va = s->bbuf,
        .len = 4096, .page = &s->bbuf, .npages = 1,
    };
    Wr wr = fixture_write(s, 0, 0, 64);

    CHECK_EQ(mr_reg_opt(s->b, &o), 0);
    wr.rkey = 0;
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK_EQ(mr_dereg(s->b, 0), 0);
    fixture_free(s);
}

TEST(trap_36_local_dma_key_works_on_every_pd)
{
    for (uint32_t pd = 1; pd < 0x100000; pd = pd * 7 + 1) {
        Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
        QpOpt o = {
            .kind = QUEUE_KERNEL, .sq_depth = 64, .rq_depth = 64, .pd = pd,
            .scq = &s->acq, .rcq = &s->acq,
        };
        Wr wr = fixture_send(s, 0, 64);

        qp_init_opt(&s->aqp, s->a, &o);
        qp_init_opt(&s->bqp, s->a, &o);
        qp_connect(&s->aqp, &s->bqp);
        wr.sge[0].key = s->a->cfg.local_dma_key;
        qp_recv(&s->bqp, s->bbuf, 64, s->a->cfg.local_dma_key);
        qp_send(&s->aqp, &wr);
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        CHECK(is_pattern(fixture_b(s, 0), 64, 1));
        fixture_free(s);
    }
}

/*
 * The asker may poll with interrupts off, so nothing that needs a turn of the
 * main loop may stand before the answer: not other commands, not a transfer.
 */
TEST_ONE_PROCESS(trap_37_address_handle_commands_are_answered_inside_the_doorbell)
{
    static const uint8_t op[] = { ERDMA_CMD_CREATE_AH, ERDMA_CMD_DESTROY_AH };
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 9 << 20);
    Wr wr = fixture_write(s, 0, 0, 9 << 20);
    struct erdma_cqe cqe;
    unsigned irqs;

    qp_send(&s->aqp, &wr);
    CHECK(s->a->f.kicked);                      /* busy with that */
    irqs = s->a->f.irqs_total;
    for (unsigned i = 0; i < 200; i++) {
        uint16_t index;

        for (unsigned k = 0; k < i % 32; k++) {
            card_post_cmd(s->a, 1, ERDMA_CMD_QUERY_FW_INFO, NULL, 8);
        }
        index = card_post_cmd(s->a, 0, op[i & 1], NULL, 8);
        card_ring_cmd(s->a);
        for (unsigned k = 0; k < i % 32; k++) {
            CHECK(card_poll_cmd(s->a, &cqe));
        }
        CHECK(card_poll_cmd(s->a, &cqe));
        CHECK_EQ(be32toh(cqe.qe_idx), index);
        CHECK_EQ(ERDMA_GET(ERDMA_CQE_OPCODE, be32toh(cqe.hdr)), op[i & 1]);
    }
    CHECK_EQ(s->a->f.irqs_total, irqs);
    fixture_free(s);
}

TEST(trap_38_every_command_is_answered)
{
    Hosts b;
    Card *c;
    uint32_t seed = 7;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    card_start(c, 4);
    for (unsigned i = 0; i < 3000; i++) {
        uint8_t req[128];
        unsigned op = i % 24;

        for (unsigned k = 0; k < sizeof(req); k++) {
            seed = seed * 1664525 + 1013904223;
            req[k] = seed >> 24;
        }
        /* card_cmd() fails if there is no answer */
        card_cmd(c, i / 24 % 3, op, req, sizeof(req), NULL, NULL);
    }
    CHECK_EQ(counters(c).commands, 3000);
    hosts_free(&b);
}

TEST(trap_39_bus_master_off_stops_all_dma)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_write(s, 0, 0, 64);

    s->a->f.record = s->b->f.record = true;
    s->a->f.bus_master = false;
    qp_send(&s->aqp, &wr);
    card_ring_cmd(s->a);
    hosts_run(&s->hosts);
    for (unsigned i = 0; i < s->a->f.events; i++) {
        CHECK_EQ(s->a->f.event[i].kind, EV_IRQ);
    }
    CHECK_EQ(s->b->f.events, 0);
    fixture_free(s);
}

TEST(trap_40_doorbells_of_objects_that_do_not_exist_are_dropped_silently)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    card_write64(s->a, ERDMA_DB_KERNEL_SQ, 0x0000777700000006);
    card_write64(s->a, ERDMA_DB_KERNEL_SQ, UINT64_MAX);
    card_write64(s->a, ERDMA_DB_RQ_BASE, 0x0000777700000001);
    card_write64(s->a, ERDMA_DB_RQ_BASE, UINT64_MAX);
    card_write64(s->a, ERDMA_DB_CQ_BASE, 0x03007777A0000045);
    card_write64(s->a, ERDMA_DB_CQ_BASE, 0);
    CHECK_EQ(counters(s->a).doorbells_dropped, 6);
    CHECK_EQ(counters(s->a).guest_errors, 0);
    CHECK_EQ(s->a->f.log_lines[ERDMA_LOG_GUEST_ERROR], 0);
    fixture_free(s);
}
