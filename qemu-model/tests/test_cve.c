/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One case per fault that other device models had, named after the CVE it is
 * known by, in the order of docs/qemu-model-safety.md. There, and in
 * mutations.txt, stands the check without which each of them fails.
 */
#include <stdlib.h>

#include "guest.h"

#define SECOND  1000000000ull

/* ---- faults of the model of another RDMA adapter ---- */

TEST(cve_2018_20123_cards_come_and_go_without_leaks)
{
    for (unsigned i = 0; i < 20; i++) {
        Fixture *s = fixture_new(2, i & 1 ? QUEUE_TABLE : QUEUE_KERNEL, 4096);
        Wr wr = fixture_send(s, 0, 64);

        qp_send(&s->aqp, &wr);          /* held, with a timer */
        fixture_free(s);                  /* LeakSanitizer looks at the rest */
    }
}

TEST(cve_2018_20124_number_of_ranges_is_checked)
{
    for (unsigned n = 7; n < 256; n++) {
        Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
        Wr wr = fixture_write(s, 0, 0, 8);
        uint64_t *hdr;

        qp_post(&s->aqp, &wr);
        hdr = qp_block(&s->aqp, 0);
        *hdr = htole64((le64toh(*hdr) & ~(0xffull << 56)) |
                       (uint64_t)n << 56);
        qp_ring(&s->aqp);
        CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SQE_FORMAT);
        fixture_free(s);
        n += n < 20 ? 0 : 30;
    }
}

/* One more than allowed fits into the four blocks of a send */
TEST(cve_2018_20124_seven_ranges_that_fit_are_too_many)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_send(s, 0, 8);

    wr.nsge = 7;
    for (unsigned i = 0; i < 7; i++) {
        wr.sge[i] = (Sge) { s->abuf + i * 8, 8, s->akey };
    }
    fixture_recv(s, 0, 4096);
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SQE_FORMAT);
    fixture_free(s);
}

TEST(cve_2018_20125_page_counts_are_capped_before_allocating)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    uint64_t table = fake_zalloc(s->a->h, 8192 * 8), *t;
    struct erdma_cmd_create_cq req = { 0 };
    unsigned n = 0, err;

    t = fake_ptr(s->a->h, table, 8192 * 8);
    for (unsigned i = 0; i < 8192; i++) {
        t[i] = htole64((i & 1) * 8192ull);      /* any guest can claim this */
    }
    req.cfg1 = htole32(8192u << 16 | 1u << 15 | 1);
    req.addr_lo = htole32(table);
    req.addr_hi = htole32(table >> 32);
    do {
        req.cfg0 = htole32(20u << 24 | (1000 + n));
        err = CMD_RDMA(s->a, ERDMA_CMD_CREATE_CQ, req);
        n++;
    } while (!err);
    CHECK_EQ(err, ERDMA_CMD_ENOMEM);
    CHECK(n <= 64 * 1024 * 1024 / 8 / 8192 + 1);
    card_write32(s->a, ERDMA_REG_CTRL, ERDMA_CTRL_RESET);
    card_up(s->a, 4, 1);
    CHECK_EQ(CMD_RDMA(s->a, ERDMA_CMD_CREATE_CQ, req), 0);
    fixture_free(s);
}

TEST(cve_2018_20125_a_page_count_of_0_is_refused)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    struct erdma_cmd_create_cq cq = { 0 };
    struct erdma_cmd_create_qp qp = { 0 };

    cq.cfg0 = htole32(4u << 24 | 1000);
    cq.cfg1 = htole32(1);
    cq.addr_lo = htole32(s->abuf);
    CHECK_EQ(CMD_RDMA(s->a, ERDMA_CMD_CREATE_CQ, cq), ERDMA_CMD_EINVAL);
    qp.cfg0 = htole32(4u << 20 | 1000);
    qp.cfg1 = htole32(4u << 20 | PD);
    qp.sq_cfg = qp.rq_cfg = htole32(s->acq.cqn);
    qp.sq_addr = qp.rq_addr = htole64(s->abuf);
    CHECK_EQ(CMD_RDMA(s->a, ERDMA_CMD_CREATE_QP, qp), ERDMA_CMD_EINVAL);
    fixture_free(s);
}

TEST(cve_2018_20126_failed_creation_leaves_nothing)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    ErdmaCounters before = counters(s->a), after;
    struct erdma_cmd_create_qp req = { 0 };
    uint64_t table = fake_zalloc(s->a->h, 4096), *t;

    /* a good scattered SQ and an RQ whose table is not there */
    t = fake_ptr(s->a->h, table, 4096);
    for (unsigned i = 0; i < 8; i++) {
        t[i] = htole64(RAM_BASE + (8 - i) * 8192);
    }
    req.cfg0 = htole32(10u << 20 | 99);
    req.cfg1 = htole32(10u << 20 | PD);
    req.sq_cfg = req.rq_cfg = htole32(s->acq.cqn);
    req.sq_mtt = req.rq_mtt = htole32(8 << 1 | 1);
    req.sq_addr = htole64(table);
    for (unsigned i = 0; i < 50; i++) {
        CHECK_EQ(CMD_RDMA(s->a, ERDMA_CMD_CREATE_QP, req), ERDMA_CMD_EFAULT);
    }
    after = counters(s->a);
    CHECK_EQ(after.qps, before.qps);
    req.rq_addr = htole64(table);
    CHECK_EQ(CMD_RDMA(s->a, ERDMA_CMD_CREATE_QP, req), 0);
    CHECK_EQ(cq_destroy(&s->acq), ERDMA_CMD_EBUSY);
    fixture_free(s);
}

TEST(cve_2018_20191_every_page_can_be_read_and_written)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    for (uint64_t off = 0x1000; off < s->a->cfg.bar0_size; off += 0x331) {
        for (unsigned size = 1; size <= 8; size *= 2) {
            CHECK_EQ(erdma_core_mmio_read(s->a->core, off, size), 0);
            erdma_core_mmio_write(s->a->core, off, UINT64_MAX, size);
        }
    }
    fixture_free(s);
}

TEST(cve_2018_20216_garbage_rings_end)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    unsigned n = 0;
    Wc wc;

    for (unsigned i = 0; i < 256; i++) {
        memset(qp_block(&s->aqp, i), i, 32);
    }
    card_write64(s->a, s->aqp.sq_db, sq_db_value(&s->aqp, 256));
    hosts_run(&s->hosts);
    while (cq_poll(&s->acq, &wc)) {
        n++;
    }
    CHECK(n >= 1 && n <= 256);
    fixture_free(s);
}

/* Rings that were memory when they were made, and are not any more */
TEST(cve_2018_20216_rings_that_cannot_be_read_end)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    struct erdma_cqe cqe;
    unsigned n = 0;
    Wc wc;

    for (unsigned i = 0; i < 8; i++) {
        Wr wr = fixture_write(s, 0, 0, 8);

        qp_post(&s->aqp, &wr);
        fixture_recv(s, 0, 8);
    }
    fake_hole(s->a->h, s->aqp.sq_page[0], 1 << 20);
    fake_hole(s->b->h, s->bqp.rq_page[0], 1 << 20);
    qp_ring(&s->aqp);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SQE_FORMAT);
    while (cq_poll(&s->acq, &wc)) {
        CHECK_EQ(wc.syndrome, ERDMA_WC_FLUSHED);
        n++;
    }
    CHECK_EQ(n, 15);                    /* blocks that are left of 8 * 2 */

    card_post_cmd(s->a, 1, ERDMA_CMD_QUERY_FW_INFO, NULL, 8);
    card_post_cmd(s->a, 1, ERDMA_CMD_QUERY_FW_INFO, NULL, 8);
    fake_hole(s->a->h, s->a->sq, 4096);
    card_ring_cmd(s->a);
    hosts_run(&s->hosts);
    CHECK(card_poll_cmd(s->a, &cqe));
    CHECK_EQ(be32toh(cqe.hdr) & 0xff, ERDMA_CMD_EFAULT);
    CHECK(!card_poll_cmd(s->a, &cqe));
    fixture_free(s);
}

/* A receive ring in a hole stops its QP, not the sender's list of peers */
TEST(cve_2018_20216_a_receive_that_cannot_be_read_ends)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_send(s, 0, 8);

    fixture_recv(s, 0, 8);
    fake_hole(s->b->h, s->bqp.rq_page[0], 1 << 20);
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_RQE_FORMAT);
    CHECK(cq_expect(&s->acq).syndrome);
    fixture_free(s);
}

/*
 * The host hands out less than was asked for, at any time: nobody computes an
 * address from the guest's length.
 */
TEST(cve_2021_3582_a_map_that_is_shorter_than_the_range_is_not_overrun)
{
    MapMode mode = fake_default_mode;
    Fixture *s;
    Wr wr;

    fake_default_mode = MAP_SHORT;      /* exact copies: ASan sees one byte */
    s = fixture_new(2, QUEUE_KERNEL, 65536);
    fake_default_mode = mode;
    pattern(fixture_a(s, 0), 60001, 1);
    wr = fixture_write(s, 0, 3, 60001);
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK(is_pattern(fixture_b(s, 3), 60001, 1));
    fixture_free(s);
}

/* A region whose last page is where RAM ends */
TEST(cve_2021_3582_a_range_beyond_the_end_of_ram_is_refused)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    uint64_t end = RAM_BASE + RAM_SIZE;
    uint64_t page[2] = { end - 4096, end };
    MrOpt o = {
        .index = 77, .pd = PD, .rights = ALL_RIGHTS, .va = 0, .len = 8192,
        .page = page, .npages = 2,
    };
    Wr wr = fixture_write(s, 0, 0, 8192);

    CHECK_EQ(mr_reg_opt(s->b, &o), 0);
    wr.rkey = 77 << 8;
    wr.raddr = 0;
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RECV_BOUNDS);
    fixture_free(s);
}

TEST(cve_2021_3607_sizes_do_not_overflow)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    struct erdma_cmd_create_cq req = { 0 };
    struct erdma_cmd_reg_mr mr = { 0 };
    uint64_t table = fake_zalloc(s->a->h, 65536 * 8), *t;

    /* a table in which any number of pages would be found */
    t = fake_ptr(s->a->h, table, 65536 * 8);
    for (unsigned i = 0; i < 65536; i++) {
        t[i] = htole64(RAM_BASE);
    }
    req.cfg1 = htole32(2u << 16 | 1u << 15 | 1);
    req.addr_lo = htole32(table);
    req.addr_hi = htole32(table >> 32);
    for (uint32_t depth = 0; depth < 256; depth++) {
        for (uint32_t code = 0; code < 16; code++) {
            req.cfg0 = htole32(depth << 24 | code << 20 | (2000 + depth * 16 +
                                                           code));
            req.first_off = htole32(0xffffffe0);
            CHECK(CMD_RDMA(s->a, ERDMA_CMD_CREATE_CQ, req));
        }
    }
    mr.v1.table = htole64(table);
    mr.cfg0 = htole32(0x90000009);              /* version 1 */
    for (uint32_t shift = 0; shift < 32; shift++) {
        for (uint32_t level = 0; level < 4; level++) {
            mr.cfg2 = htole32(shift << 27 | 7u << 24 | level << 20 | 0xfffff);
            mr.start_va = htole64(UINT64_MAX - shift);
            mr.size = htole32(UINT32_MAX);
            mr.v1.size_hi = htole32(UINT32_MAX);
            mr.v1.page_cnt_hi = htole32(UINT32_MAX);
            CHECK(CMD_RDMA(s->a, ERDMA_CMD_REG_MR, mr));
        }
    }
    /* enough pages, and an end beyond the last address */
    memset(&mr, 0, sizeof(mr));
    mr.cfg0 = htole32(9);
    mr.cfg2 = htole32(12u << 27 | 1u << 20 | 16);
    mr.page[0] = htole64(table);
    mr.start_va = htole64(UINT64_MAX - 4095);
    mr.size = htole32(4096);
    CHECK(CMD_RDMA(s->a, ERDMA_CMD_REG_MR, mr));
    mr.start_va = htole64(UINT64_MAX - 4096);
    mr.size = htole32(4096);
    CHECK_EQ(CMD_RDMA(s->a, ERDMA_CMD_REG_MR, mr), 0);
    fixture_free(s);
}

TEST(cve_2021_3608_only_what_was_mapped_is_unmapped)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    Wr wr = fixture_write(s, 0, 0, 8192);

    /* the source fails before the target was ever mapped, and the reverse */
    fake_hole(s->a->h, s->abuf, 8192);
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SEND_BOUNDS);
    CHECK_EQ(s->a->h->open_maps + s->b->h->open_maps, 0);
    fixture_free(s);

    s = fixture_new(2, QUEUE_KERNEL, 8192);
    fake_hole(s->b->h, s->bbuf + 4096, 4096);
    wr = fixture_write(s, 0, 0, 8192);
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RECV_BOUNDS);
    CHECK_EQ(s->a->h->open_maps + s->b->h->open_maps, 0);
    fixture_free(s);

    /* completions and events that cannot be written */
    s = fixture_new(2, QUEUE_KERNEL, 4096);
    fake_hole(s->a->h, s->acq.addr, 1 << 20);
    fake_hole(s->a->h, s->a->cq, 4096);
    fake_hole(s->a->h, s->a->aeq.addr, 4096);
    wr = fixture_write(s, 0, 0, 8);
    qp_send(&s->aqp, &wr);
    card_post_cmd(s->a, 1, ERDMA_CMD_QUERY_FW_INFO, NULL, 8);
    card_ring_cmd(s->a);
    hosts_run(&s->hosts);
    CHECK_EQ(s->a->h->open_maps + s->b->h->open_maps, 0);
    fixture_free(s);
}

TEST(cve_2022_1050_nothing_works_before_init)
{
    Hosts b;
    Card *c;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    aeq_arm(c);
    for (unsigned i = 0; i < 32; i++) {
        card_write64(c, ERDMA_REG_EQ_DB(i), ERDMA_EQ_DB_ARM | i);
    }
    CHECK_EQ(counters(c).doorbells_eq, 0);
    CHECK_EQ(counters(c).doorbells_dropped, 33);
    for (uint64_t off = 0x1000; off < 0x90000; off += 0x800) {
        card_write64(c, off, UINT64_MAX);
        card_write64(c, off, 0x0000000100000001);
    }
    erdma_core_run(c->core);
    erdma_core_timer(c->core);
    CHECK_EQ(c->h->maps + c->h->reads + c->h->writes, 0);
    CHECK_EQ(c->f.irqs_total, 0);
    hosts_free(&b);
}

TEST(cve_2022_1050_queue_registers_do_not_move_live_queues)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    card_write32(s->a, ERDMA_REG_CMDQ_SQ_BASE_LO, 0);
    card_write32(s->a, ERDMA_REG_CMDQ_CQ_BASE_HI, 0x1234);
    card_write32(s->a, ERDMA_REG_CMDQ_DEPTH, 4);
    card_write32(s->a, ERDMA_REG_AEQ_DEPTH, 1);
    for (unsigned i = 0; i < 600; i++) {
        CHECK_EQ(qp_modify(&s->aqp, 9), 22);
    }
    fixture_free(s);
}

TEST(cve_2023_1544_page_index_stays_inside_its_table)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);
    uint64_t page[2] = { s->bbuf, s->bbuf + 8192 };
    MrOpt o = {
        .index = 77, .pd = PD, .rights = ALL_RIGHTS, .va = 100,
        .len = 8000, .page = page, .npages = 2,
    };
    Wr wr = fixture_write(s, 0, 0, 8000);

    CHECK_EQ(mr_reg_opt(s->b, &o), 0);
    wr.rkey = 77 << 8;
    wr.raddr = 100;
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    wr.raddr = 101;
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RECV_BOUNDS);
    /* one page fewer than the length asks for, in both versions */
    o.npages = 1;
    for (unsigned v = 0; v < 2; v++) {
        o.index = 78 + v;
        o.version1 = v;
        o.level = v;
        o.va = 100;
        o.len = 8000;
        CHECK_EQ(mr_reg_opt(s->b, &o), ERDMA_CMD_EINVAL);
        o.va = 0;
        o.len = 4097;
        CHECK_EQ(mr_reg_opt(s->b, &o), ERDMA_CMD_EINVAL);
        o.len = 4096;
        CHECK_EQ(mr_reg_opt(s->b, &o), 0);
    }
    fixture_free(s);
}

/*
 * Without a number: indices in guest memory, "count - 1", signed counts. The
 * card's indices are its own; what the guest can write is a hint.
 */
TEST(no_cve_indices_in_guest_memory_are_hints)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    uint64_t rec = fake_zalloc(s->a->h, 4096);
    Wr wr = fixture_write(s, 0, 0, 8);
    Wc wc;

    /* doorbell records of the command queue, EQ and AEQ that say nonsense */
    memset(fake_ptr(s->a->h, rec, 4096), 0xff, 4096);
    card_write64(s->a, ERDMA_REG_CMDQ_SQ_DBREC, rec);
    card_write64(s->a, ERDMA_REG_CMDQ_CQ_DBREC, rec + 8);
    card_write64(s->a, ERDMA_REG_CMDQ_EQ_DBREC, rec + 16);
    card_write64(s->a, ERDMA_REG_AEQ_DBREC, rec + 24);
    CHECK_EQ(card_cmd(s->a, 1, ERDMA_CMD_QUERY_FW_INFO, NULL, 8, NULL, NULL),
             0);
    CHECK_EQ(counters(s->a).commands_failed, 0);

    /* index 0 - 1, and one more than the ring holds */
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    card_write64(s->a, s->aqp.sq_db, sq_db_value(&s->aqp, 0xffff));
    hosts_run(&s->hosts);
    CHECK(!cq_poll(&s->acq, &wc));
    card_write64(s->b, s->bqp.rq_db,
                 rq_db_value(&s->bqp, s->bqp.rq_depth + 1));
    hosts_run(&s->hosts);
    CHECK(!cq_poll(&s->bcq, &wc));
    expect_aeqe(s->a, ERDMA_AE_QP_FATAL, s->aqp.qpn);
    expect_aeqe(s->b, ERDMA_AE_RQ_ERR, s->bqp.qpn);
    fixture_free(s);
}

/* ---- faults of other models ---- */

TEST(cve_2021_20255_dma_to_what_is_not_ram_never_happens)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    uint32_t key = mr_dma(s->b, PD, ALL_RIGHTS);
    Wr wr = fixture_write(s, 0, 0, 64);

    wr.rkey = key;
    wr.raddr = 0xfe000000;              /* a BAR, its own perhaps */
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RECV_BOUNDS);
    fixture_free(s);
}

/* A descriptor that makes no progress ends the run */
TEST(cve_2021_20257_slots_that_lead_nowhere_are_stepped_over)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    struct erdma_cqe cqe;
    unsigned n = 0;

    /* a whole ring of zeros: no header says where the next slot is */
    memset(fake_ptr(s->a->h, s->a->sq, 4096), 0, 4096);
    s->a->sq_pi += 64;
    card_ring_cmd(s->a);
    hosts_run(&s->hosts);                   /* fails if it never ends */
    while (card_poll_cmd(s->a, &cqe)) {
        CHECK_EQ(be32toh(cqe.hdr) & 0xff, ERDMA_CMD_EINVAL);
        n++;
    }
    CHECK(n >= 1 && n <= 64);
    CHECK_EQ(card_cmd(s->a, 1, ERDMA_CMD_QUERY_FW_INFO, NULL, 8, NULL, NULL),
             0);
    fixture_free(s);
}

TEST(cve_2021_20257_empty_requests_and_their_flush_end)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    unsigned n = 0;
    Wc wc;

    for (unsigned i = 0; i < 200; i++) {
        qp_post(&s->aqp, &(Wr) { .opcode = ERDMA_OP_WRITE });
    }
    qp_ring(&s->aqp);
    hosts_run(&s->hosts);
    while (cq_poll(&s->acq, &wc)) {
        CHECK_EQ(wc.syndrome, 0);
        n++;
    }
    CHECK_EQ(n, 200);
    /* zeros, flushed: the header claims one block each */
    memset(qp_block(&s->aqp, 0), 0, 32 * 64);
    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_ERROR), 0);
    card_write64(s->a, s->aqp.sq_db,
                 sq_db_value(&s->aqp, s->aqp.sq_pi + 32));
    hosts_run(&s->hosts);
    for (n = 0; cq_poll(&s->acq, &wc); n++) {
        CHECK_EQ(wc.syndrome, ERDMA_WC_FLUSHED);
    }
    CHECK(n >= 1 && n <= 32);
    fixture_free(s);
}

/*
 * Subtract only after compare: a start behind the end leaves no room, not
 * nearly all of it. The region ends inside its page, so that nothing else
 * would refuse.
 */
TEST(cve_2024_3447_offsets_behind_the_end_do_not_underflow)
{
    static const struct {
        uint64_t off, len;
    } bad[] = {
        { 101, 1 }, { 200, 8 }, { 100, 1 }, { 4000, 96 }, { 8193, 1 },
        { UINT64_MAX - 0x40000000, 1 }, { 1ull << 32, 4 }, { 1ull << 63, 1 },
    };
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 16384);
    uint32_t key = mr_reg(s->b, s->bbuf, s->bbuf, 100, ALL_RIGHTS);

    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        Wr wr = fixture_write(s, 0, 0, bad[i].len);

        qp_init(&s->aqp, s->a, &s->acq, QUEUE_KERNEL);
        qp_init(&s->bqp, s->b, &s->bcq, QUEUE_KERNEL);
        qp_connect(&s->aqp, &s->bqp);
        wr.rkey = key;
        wr.raddr = s->bbuf + bad[i].off;
        pattern(fixture_a(s, 0), 4096, i);
        pattern(fixture_b(s, 0), 16384, 99);
        qp_send(&s->aqp, &wr);
        hosts_run(&s->hosts);
        CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RECV_BOUNDS);
        CHECK(is_pattern(fixture_b(s, 0), 16384, 99));
    }
    fixture_free(s);
}

/* Parts of a request that lie behind the blocks it has */
TEST(cve_2024_24474_parts_behind_the_end_of_a_request_are_refused)
{
    for (unsigned n = 1; n <= 6; n++) {
        Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
        Wr wr = fixture_write(s, 0, 0, 0);
        uint64_t *hdr;

        wr.nsge = n;
        for (unsigned i = 0; i < n; i++) {
            wr.sge[i] = (Sge) { s->abuf, 8, s->akey };
        }
        qp_post(&s->aqp, &wr);
        /* said to be one block long; what follows is there to be misread */
        hdr = qp_block(&s->aqp, 0);
        *hdr = htole64((le64toh(*hdr) & ~(0xfull << 52) & ~0xffffull) | 1);
        qp_ring(&s->aqp);
        hosts_run(&s->hosts);
        CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SQE_FORMAT);
        fixture_free(s);
    }
}

/* No length is believed, none is asserted */
TEST(cve_2020_11102_every_length_ends_in_a_completion)
{
    static const uint32_t lengths[] = {
        0, 1, 95, 96, 97, 255, 4096, 4097, 0x7fffffff, 0x80000000, 0x80000001,
        0xfffffff0, 0xffffffff,
    };
    static const uint8_t ops[] = {
        ERDMA_OP_WRITE, ERDMA_OP_WRITE_IMM, ERDMA_OP_SEND, ERDMA_OP_READ,
        ERDMA_OP_ATOMIC_FAA,
    };
    unsigned count = sizeof(lengths) / sizeof(lengths[0]);

    for (unsigned i = 0; i < count * sizeof(ops); i++) {
        uint32_t len = lengths[i / sizeof(ops)];
        Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
        Wr wr = fixture_write(s, 0, 0, len);
        Wc wc;

        wr.opcode = ops[i % sizeof(ops)];
        fixture_recv(s, 0, len);
        qp_send(&s->aqp, &wr);
        hosts_run(&s->hosts);
        wc = cq_expect(&s->acq);
        if (len > 4096 && wr.opcode != ERDMA_OP_ATOMIC_FAA) {
            CHECK(wc.syndrome);
        }
        if (len > 1u << 31 && wr.opcode == ERDMA_OP_WRITE) {
            CHECK_EQ(wc.syndrome, ERDMA_WC_SQE_FORMAT);
        }
        fixture_free(s);
    }
}

TEST(cve_2020_16092_inline_lengths_are_bounded)
{
    for (unsigned n = 0; n < 256; n++) {
        Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
        uint8_t data[128] = { 0 };
        Wr wr = {
            .opcode = ERDMA_OP_SEND, .is_inline = true, .data = data,
            .data_len = 96,
        };
        uint64_t *hdr;

        fixture_recv(s, 0, 4096);
        qp_post(&s->aqp, &wr);
        hdr = qp_block(&s->aqp, 0);
        *hdr = htole64((le64toh(*hdr) & ~(0xffull << 56)) |
                       (uint64_t)n << 56);
        *(uint32_t *)((uint8_t *)qp_block(&s->aqp, 0) + 12) = htole32(n);
        qp_ring(&s->aqp);
        hosts_run(&s->hosts);
        CHECK_EQ(cq_expect(&s->acq).syndrome,
                 n <= ERDMA_MAX_INLINE ? 0 : ERDMA_WC_SQE_FORMAT);
        fixture_free(s);
        n += n > 120 ? 16 : 0;
    }
}
