/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Order of what the guest sees (3.3), and one case per fault class that other
 * device models had; the CVE they are known by is in the name.
 */
#include <stdlib.h>

#include "drv.h"

#define SECOND  1000000000ull

static bool inside(const FakeEvent *e, uint64_t addr, uint64_t len)
{
    return e->kind == EV_WRITE && e->addr >= addr && e->addr < addr + len;
}

/* ---- order ---- */

TEST(payload_then_completion_then_event_then_interrupt)
{
    Scene *s = scene_new(1, QUEUE_KERNEL, 8192);
    Wr wr = scene_send(s, 0, 3000);
    unsigned stage = 0;

    scene_recv(s, 4096, 4096);
    cq_arm(&s->bcq, false);
    s->a->f.record = true;
    qp_send(&s->aqp, &wr);
    for (unsigned i = 0; i < s->a->f.events; i++) {
        const FakeEvent *e = &s->a->f.event[i];
        unsigned is;

        if (inside(e, s->bbuf, 8192)) {
            is = 1;
        } else if (inside(e, s->bcq.addr, 32768)) {
            is = 2;
        } else if (inside(e, s->a->eq[2].addr, 65536)) {
            is = 3;
        } else if (e->kind == EV_IRQ) {
            CHECK_EQ(e->addr, 2);
            is = 4;
        } else {
            CHECK(inside(e, s->acq.addr, 32768));
            is = 5;                     /* the sender's, last */
        }
        CHECK(is == stage || is == stage + 1);
        stage = is;
    }
    CHECK_EQ(stage, 5);
    scene_free(s);
}

/* When an entry cannot be mapped whole, its owner word is written last */
TEST(owner_word_is_written_last)
{
    Scene *s;
    const FakeEvent *e;
    MapMode mode = fake_default_mode;

    fake_default_mode = MAP_SHORT;
    s = scene_new(1, QUEUE_KERNEL, 8192);
    fake_default_mode = mode;
    s->a->f.record = true;
    qp_send(&s->aqp, &(Wr) { .opcode = ERDMA_OP_WRITE });
    CHECK_EQ(s->a->f.events, 2);
    e = s->a->f.event;
    CHECK_EQ(e[0].addr, s->acq.addr + 4);
    CHECK_EQ(e[0].len, 28);
    CHECK_EQ(e[1].addr, s->acq.addr);
    CHECK_EQ(e[1].len, 4);
    scene_free(s);
}

/* ---- memory of the host ---- */

TEST(cve_2018_20123_cards_come_and_go_without_leaks)
{
    for (unsigned i = 0; i < 20; i++) {
        Scene *s = scene_new(2, i & 1 ? QUEUE_TABLE : QUEUE_KERNEL, 4096);
        Wr wr = scene_send(s, 0, 64);

        qp_send(&s->aqp, &wr);          /* held, with a timer */
        scene_free(s);                  /* LeakSanitizer looks at the rest */
    }
}

TEST(cve_2018_20124_number_of_ranges_is_checked)
{
    for (unsigned n = 7; n < 256; n++) {
        Scene *s = scene_new(2, QUEUE_KERNEL, 4096);
        Wr wr = scene_write(s, 0, 0, 8);
        uint64_t *hdr;

        qp_post(&s->aqp, &wr);
        hdr = qp_block(&s->aqp, 0);
        *hdr = htole64((le64toh(*hdr) & ~(0xffull << 56)) |
                       (uint64_t)n << 56);
        qp_ring(&s->aqp);
        CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SQE_FORMAT);
        scene_free(s);
        n += n < 20 ? 0 : 30;
    }
}

TEST(cve_2018_20125_page_counts_are_capped_before_allocating)
{
    Scene *s = scene_new(1, QUEUE_KERNEL, 4096);
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
    scene_free(s);
}

TEST(cve_2018_20126_failed_creation_leaves_nothing)
{
    Scene *s = scene_new(1, QUEUE_KERNEL, 4096);
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
    scene_free(s);
}

TEST(cve_2018_20191_every_page_can_be_read_and_written)
{
    Scene *s = scene_new(1, QUEUE_KERNEL, 4096);

    for (uint64_t off = 0x1000; off < s->a->cfg.bar0_size; off += 0x331) {
        for (unsigned size = 1; size <= 8; size *= 2) {
            CHECK_EQ(erdma_core_mmio_read(s->a->core, off, size), 0);
            erdma_core_mmio_write(s->a->core, off, UINT64_MAX, size);
        }
    }
    scene_free(s);
}

TEST(cve_2018_20216_garbage_rings_end)
{
    Scene *s = scene_new(2, QUEUE_KERNEL, 4096);
    unsigned n = 0;
    Wc wc;

    for (unsigned i = 0; i < 256; i++) {
        memset(qp_block(&s->aqp, i), i, 32);
    }
    card_write64(s->a, s->aqp.sq_db, sq_db_value(&s->aqp, 256));
    bed_run(&s->bed);
    while (cq_poll(&s->acq, &wc)) {
        n++;
    }
    CHECK(n >= 1 && n <= 256);
    scene_free(s);
}

TEST(cve_2021_3607_sizes_do_not_overflow)
{
    Scene *s = scene_new(1, QUEUE_KERNEL, 4096);
    struct erdma_cmd_create_cq req = { 0 };
    struct erdma_cmd_reg_mr mr = { 0 };

    req.cfg1 = htole32(0xffffu << 16 | 1u << 15 | 1);
    for (uint32_t depth = 0; depth < 256; depth++) {
        for (uint32_t code = 0; code < 16; code++) {
            req.cfg0 = htole32(depth << 24 | code << 20 | (2000 + depth * 16 +
                                                           code));
            req.first_off = htole32(0xffffffe0);
            CHECK(CMD_RDMA(s->a, ERDMA_CMD_CREATE_CQ, req));
        }
    }
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
    scene_free(s);
}

TEST(cve_2022_1050_nothing_works_before_init)
{
    Bed b;
    Card *c;

    bed_init(&b, 1, 1);
    c = &b.card[0];
    for (uint64_t off = 0x1000; off < 0x90000; off += 0x800) {
        card_write64(c, off, UINT64_MAX);
        card_write64(c, off, 0x0000000100000001);
    }
    erdma_core_run(c->core);
    erdma_core_timer(c->core);
    CHECK_EQ(c->h->maps + c->h->reads + c->h->writes, 0);
    CHECK_EQ(c->f.irqs_total, 0);
    bed_free(&b);
}

TEST(cve_2022_1050_queue_registers_do_not_move_live_queues)
{
    Scene *s = scene_new(1, QUEUE_KERNEL, 4096);

    card_write32(s->a, ERDMA_REG_CMDQ_SQ_BASE_LO, 0);
    card_write32(s->a, ERDMA_REG_CMDQ_CQ_BASE_HI, 0x1234);
    card_write32(s->a, ERDMA_REG_CMDQ_DEPTH, 4);
    card_write32(s->a, ERDMA_REG_AEQ_DEPTH, 1);
    for (unsigned i = 0; i < 600; i++) {
        CHECK_EQ(qp_modify(&s->aqp, 9), 22);
    }
    scene_free(s);
}

TEST(cve_2023_1544_page_index_stays_inside_its_table)
{
    Scene *s = scene_new(2, QUEUE_KERNEL, 65536);
    uint64_t page[2] = { s->bbuf, s->bbuf + 8192 };
    MrOpt o = {
        .index = 77, .pd = PD, .rights = ALL_RIGHTS, .va = 100,
        .len = 8000, .page = page, .npages = 2,
    };
    Wr wr = scene_write(s, 0, 0, 8000);

    CHECK_EQ(mr_reg_opt(s->b, &o), 0);
    wr.rkey = 77 << 8;
    wr.raddr = 100;
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    wr.raddr = 101;
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RECV_BOUNDS);
    scene_free(s);
}

TEST(cve_2021_20255_dma_to_what_is_not_ram_never_happens)
{
    Scene *s = scene_new(2, QUEUE_KERNEL, 4096);
    uint32_t key = mr_dma(s->b, PD, ALL_RIGHTS);
    Wr wr = scene_write(s, 0, 0, 64);

    wr.rkey = key;
    wr.raddr = 0xfe000000;              /* a BAR, its own perhaps */
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RECV_BOUNDS);
    scene_free(s);
}

/* ---- things that change under a suspended message ---- */

static Scene *suspended(uint8_t opcode)
{
    Scene *s = scene_new(2, QUEUE_KERNEL, 9 << 20);
    Wr wr = scene_write(s, 0, 0, 9 << 20);

    wr.opcode = opcode;
    scene_recv(s, 0, 9 << 20);
    qp_send(&s->aqp, &wr);
    s->a->f.kicked = false;
    erdma_core_run(s->a->core);
    CHECK(s->a->f.kicked);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    return s;
}

TEST_ONE_PROCESS(region_deregistered_under_a_message_stops_it)
{
    Scene *s = suspended(ERDMA_OP_WRITE);

    CHECK_EQ(mr_dereg(s->b, s->bkey), 0);
    s->b->f.record = true;
    bed_run(&s->bed);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RECV_STAG);
    for (unsigned i = 0; i < s->b->f.events; i++) {
        CHECK(!inside(&s->b->f.event[i], s->bbuf, 9 << 20));
    }
    scene_free(s);
}

TEST_ONE_PROCESS(local_region_deregistered_under_a_message_stops_it)
{
    Scene *s = suspended(ERDMA_OP_READ);

    CHECK_EQ(mr_dereg(s->a, s->akey), 0);
    s->a->f.record = true;
    bed_run(&s->bed);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SEND_STAG);
    for (unsigned i = 0; i < s->a->f.events; i++) {
        CHECK(!inside(&s->a->f.event[i], s->abuf, 9 << 20));
    }
    scene_free(s);
}

TEST_ONE_PROCESS(request_changed_under_a_message_changes_nothing)
{
    Scene *s = suspended(ERDMA_OP_SEND);

    memset(qp_block(&s->aqp, 0), 0xff, 32);
    memset(qp_rqe(&s->bqp, 0), 0xff, 32);
    bed_run(&s->bed);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK_EQ(cq_expect(&s->bcq).size, 9 << 20);
    CHECK(is_pattern(scene_b(s, 0), 9 << 20, 1));
    scene_free(s);
}

TEST_ONE_PROCESS(stopping_either_end_under_a_message_ends_it)
{
    Scene *s = suspended(ERDMA_OP_SEND);

    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_ERROR), 0);
    bed_run(&s->bed);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    CHECK(!cq_poll(&s->bcq, &(Wc) { 0 }));
    scene_free(s);

    s = suspended(ERDMA_OP_SEND);
    CHECK_EQ(qp_modify(&s->bqp, ERDMA_QPS_ERROR), 0);
    bed_run(&s->bed);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_FLUSHED);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    bed_advance(&s->bed, 10 * SECOND);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    scene_free(s);
}

/* ---- size ---- */

TEST(ten_thousand_queue_pairs_fit_and_all_work)
{
    enum { N = 5000 };
    Scene *s = scene_new(1, QUEUE_KERNEL, 4096);
    Qp *a = calloc(N, sizeof(*a)), *b = calloc(N, sizeof(*b));
    QpOpt o = {
        .kind = QUEUE_KERNEL, .sq_depth = 16, .rq_depth = 16,
        .scq = &s->acq, .rcq = &s->acq,
    };
    uint64_t next = s->a->h->next;

    for (unsigned i = 0; i < N; i++) {
        s->a->h->next = next;           /* rings are used one at a time */
        qp_init_opt(&a[i], s->a, &o);
        qp_init_opt(&b[i], s->a, &o);
    }
    for (unsigned i = 0; i < N; i++) {
        CHECK_EQ(qp_rts(&b[i], &a[i], 10000 + i, false), 0);
        CHECK_EQ(qp_rts(&a[i], &b[i], 10000 + i, true), 0);
    }
    CHECK_EQ(counters(s->a).qps, 2 * N + 2);
    for (unsigned i = 0; i < N; i++) {
        qp_send(&a[i], &(Wr) { .opcode = ERDMA_OP_WRITE });
        CHECK_EQ(cq_expect(&s->acq).qpn, a[i].qpn);
    }
    free(a);
    free(b);
    scene_free(s);
}

/* ---- messages to the host ---- */

TEST(guest_cannot_flood_the_log)
{
    Bed b;
    Card *c;

    bed_init(&b, 1, 1);
    c = &b.card[0];
    for (unsigned i = 0; i < 10000; i++) {
        card_write32(c, ERDMA_REG_VERSION, 1);
    }
    CHECK_EQ(counters(c).guest_errors, 10000);
    CHECK(c->f.log_lines[ERDMA_LOG_GUEST_ERROR] <= 20);
    b.host[0].now += SECOND;
    card_write32(c, ERDMA_REG_VERSION, 1);
    CHECK(c->f.log_lines[ERDMA_LOG_GUEST_ERROR] >= 2);
    bed_free(&b);
}

TEST(log_level_decides_what_is_told)
{
    Bed b;
    Card *c;

    bed_init(&b, 1, 1);
    c = &b.card[0];
    erdma_core_set_log_level(c->core, ERDMA_LOG_GUEST_ERROR);
    c->f.log_lines[ERDMA_LOG_INFO] = 0;
    card_start(c, 4);
    card_cmd(c, 0, 0, NULL, 8, NULL, NULL);
    CHECK_EQ(c->f.log_lines[ERDMA_LOG_INFO], 0);
    CHECK_EQ(c->f.log_lines[ERDMA_LOG_TRACE], 0);
    erdma_core_set_log_level(c->core, ERDMA_LOG_TRACE);
    card_cmd(c, 0, 0, NULL, 8, NULL, NULL);
    CHECK(c->f.log_lines[ERDMA_LOG_TRACE] > 0);
    bed_free(&b);
}
