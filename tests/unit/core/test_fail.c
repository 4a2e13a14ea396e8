/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that is missing on either side, host memory that runs out. */
#include <stdlib.h>

#include "guest.h"

/* ---- the host's memory: the linker sends calloc() here ---- */

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

static int fail_after = -1;

void *__wrap_calloc(size_t n, size_t size)
{
    if (fail_after >= 0 && fail_after-- == 0) {
        return NULL;
    }
    return __real_calloc(n, size);
}

TEST(card_that_cannot_be_allocated_is_not_half_there)
{
    ErdmaFabric *fabric = erdma_fabric_new();
    FakeHost host;
    FakeCard card = { .host = &host };
    ErdmaConfig cfg;
    unsigned failed = 0;
    ErdmaCore *core;

    fake_host_init(&host);
    erdma_core_config_init(&cfg);
    cfg.mac[5] = 1;
    for (int n = 0;; n++) {
        fail_after = n;
        core = erdma_core_new(&cfg, &fake_ops, &card, fabric);
        fail_after = -1;
        if (core) {
            break;
        }
        failed++;
    }
    CHECK_EQ(failed, 5);
    erdma_core_free(core);
    fail_after = 0;
    CHECK(!erdma_fabric_new());
    fail_after = -1;
    erdma_fabric_free(fabric);
    fake_host_free(&host);
}

/* Send @len bytes at @req again and again, each allocation failing once */
static void ladder(Card *c, unsigned op, const void *req, size_t len)
{
    for (int n = 0; n < 10; n++) {
        unsigned err;

        fail_after = n;
        err = card_cmd(c, 0, op, req, len, NULL, NULL);
        fail_after = -1;
        if (!err) {
            CHECK(n > 0);
            return;
        }
        CHECK_EQ(err, ERDMA_CMD_ENOMEM);
    }
    tap_fail(__FILE__, __LINE__, "never succeeded");
}

TEST(commands_fail_cleanly_when_memory_runs_out)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    uint64_t table = fake_zalloc(s->a->h, 4096), *t;
    struct erdma_cmd_create_cq cq = { 0 };
    struct erdma_cmd_create_qp qp = { 0 };
    struct erdma_cmd_reg_mr mr = { 0 };

    t = fake_ptr(s->a->h, table, 4096);
    t[0] = htole64(RAM_BASE + 8192);
    t[1] = htole64(RAM_BASE);
    cq.cfg0 = htole32(7u << 24 | 60000);
    cq.cfg1 = htole32(2u << 16 | 1 << 15 | 1);
    cq.addr_lo = htole32(table);
    cq.first_off = htole32(4096);
    ladder(s->a, ERDMA_CMD_CREATE_CQ, &cq, sizeof(cq));
    qp.cfg0 = htole32(8u << 20 | 50000);
    qp.cfg1 = htole32(8u << 20 | PD);
    qp.sq_cfg = qp.rq_cfg = htole32(s->acq.cqn);
    qp.sq_mtt = qp.rq_mtt = htole32(2 << 1 | 1);
    qp.sq_addr = qp.rq_addr = htole64(table);
    ladder(s->a, ERDMA_CMD_CREATE_QP, &qp, sizeof(qp));
    mr.cfg0 = htole32(1u << 31 | 90000);
    mr.cfg2 = htole32(12u << 27 | 1);
    ladder(s->a, ERDMA_CMD_REG_MR, &mr, sizeof(mr));
    CHECK_EQ(counters(s->a).qps, 3);
    CHECK_EQ(counters(s->a).cqs, 3);
    CHECK_EQ(counters(s->a).mrs, 3);
    fixture_free(s);
}

/* ---- the guests' memory ---- */

static unsigned hole_under(uint8_t opcode, bool local, unsigned *recv)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);
    Wr wr = fixture_write(s, 0, 0, 20000);
    unsigned syndrome;
    Wc wc;

    wr.opcode = opcode;
    fixture_recv(s, 0, 20000);
    if (local) {
        fake_hole(s->a->h, s->abuf + 8192, 4096);
    } else {
        fake_hole(s->b->h, s->bbuf + 8192, 4096);
    }
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    syndrome = cq_expect(&s->acq).syndrome;
    *recv = cq_poll(&s->bcq, &wc) ? wc.syndrome : 99;
    fixture_free(s);
    return syndrome;
}

TEST(missing_memory_is_blamed_on_its_side)
{
    unsigned recv;

    CHECK_EQ(hole_under(ERDMA_OP_WRITE, true, &recv), ERDMA_WC_SEND_BOUNDS);
    CHECK_EQ(recv, 99);
    CHECK_EQ(hole_under(ERDMA_OP_WRITE, false, &recv), ERDMA_WC_RECV_BOUNDS);
    CHECK_EQ(recv, ERDMA_WC_FLUSHED);
    CHECK_EQ(hole_under(ERDMA_OP_WRITE_IMM, false, &recv),
             ERDMA_WC_RECV_BOUNDS);
    CHECK_EQ(recv, ERDMA_WC_FLUSHED);
    CHECK_EQ(hole_under(ERDMA_OP_SEND, true, &recv), ERDMA_WC_SEND_BOUNDS);
    CHECK_EQ(recv, 99);
    CHECK_EQ(hole_under(ERDMA_OP_SEND, false, &recv), ERDMA_WC_GENERAL_ERR);
    CHECK_EQ(recv, ERDMA_WC_RECV_BOUNDS);
    CHECK_EQ(hole_under(ERDMA_OP_READ, true, &recv), ERDMA_WC_SEND_BOUNDS);
    CHECK_EQ(recv, 99);
    CHECK_EQ(hole_under(ERDMA_OP_READ, false, &recv), ERDMA_WC_RECV_BOUNDS);
    CHECK_EQ(recv, ERDMA_WC_FLUSHED);
}

TEST(atomic_on_what_is_not_memory_fails)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);
    Wr wr = fixture_write(s, 0, 8192, 8);

    wr.opcode = ERDMA_OP_ATOMIC_FAA;
    fake_hole(s->b->h, s->bbuf + 8192, 4096);
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RECV_BOUNDS);
    fixture_free(s);
}

TEST(atomic_across_a_page_of_another_place_fails)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);
    uint64_t page[2] = { s->bbuf + 4, s->bbuf + 8192 };
    MrOpt o = {
        .index = 77, .pd = PD, .rights = ALL_RIGHTS, .va = 0, .len = 8192,
        .page = page, .npages = 2,
    };
    Wr wr = fixture_write(s, 0, 0, 8);

    /* entries that are not aligned to their page: nothing lines up */
    CHECK_EQ(mr_reg_opt(s->b, &o), 0);
    wr.opcode = ERDMA_OP_ATOMIC_FAA;
    wr.rkey = 77 << 8;
    wr.raddr = 8;
    qp_send(&s->aqp, &wr);
    if (fake_default_mode == MAP_DIRECT) {
        CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RECV_BOUNDS);
    }
    fixture_free(s);
}

TEST(missing_upper_table_of_level_3_is_an_address_violation)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    uint64_t top = fake_zalloc(s->b->h, 4096);
    MrOpt o = {
        .index = 500, .pd = PD, .rights = ALL_RIGHTS, .va = 0, .len = 40960,
        .table = top, .npages = 10, .level = 3, .version1 = true,
    };
    Wr wr = fixture_write(s, 0, 0, 64);

    *(uint64_t *)fake_ptr(s->b->h, top, 8) = htole64(0x1000);
    CHECK_EQ(mr_reg_opt(s->b, &o), 0);
    wr.rkey = 500 << 8;
    wr.raddr = 0;
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RECV_BOUNDS);
    fixture_free(s);
}

TEST(entry_at_the_end_of_the_address_space_is_an_address_violation)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    uint64_t page[2] = { ~0ull << 12, ~0ull << 11 };

    for (unsigned i = 0; i < 2; i++) {
        MrOpt o = {
            .index = 77 + i, .pd = PD, .rights = ALL_RIGHTS, .va = 0,
            .len = 4096, .page = page + i, .npages = 1,
        };
        Wr wr = fixture_write(s, 0, 0, 4096);

        CHECK_EQ(mr_reg_opt(s->b, &o), 0);
        qp_init(&s->aqp, s->a, &s->acq, QUEUE_KERNEL);
        qp_init(&s->bqp, s->b, &s->bcq, QUEUE_KERNEL);
        qp_connect(&s->aqp, &s->bqp);
        wr.rkey = (77 + i) << 8;
        wr.raddr = 0;
        qp_send(&s->aqp, &wr);
        CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RECV_BOUNDS);
    }
    fixture_free(s);
}

/* ---- resuming in the middle of a list of ranges ---- */

TEST(gathering_goes_on_after_a_turn_ended_inside_any_range)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 9500000);
    Wr wr = fixture_write(s, 0, 0, 0);
    uint32_t at = 0;

    wr.nsge = 6;
    for (unsigned i = 0; i < 6; i++) {
        wr.sge[i] = (Sge) { s->abuf + i * 1500000 + i, 1400000 + i * 1000,
                            s->akey };
    }
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    for (unsigned i = 0; i < 6; i++) {
        CHECK(!memcmp(fixture_b(s, at), fixture_a(s, i * 1500000 + i),
                      wr.sge[i].len));
        at += wr.sge[i].len;
    }
    CHECK_EQ(fixture_b(s, at)[0], 0xa5);
    fixture_free(s);
}

TEST(reset_drops_events_that_wait_for_room)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    Cq cq[3];

    CHECK_EQ(eq_create(s->a, 3, 0), 0);
    for (unsigned i = 0; i < 3; i++) {
        cq_init(&cq[i], s->a, 64, 3);
        cq[i].ci = 1;
        cq_arm(&cq[i], false);
    }
    card_write32(s->a, ERDMA_REG_CTRL, ERDMA_CTRL_RESET);
    card_up(s->a, 4, 3);
    ceq_arm(s->a, 3);
    CHECK_EQ(s->a->f.irqs[3], 1);       /* the one before the reset */
    fixture_free(s);
}

TEST(large_slots_are_stepped_over)
{
    Hosts b;
    Card *c;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    card_start(c, 4);
    c->blocks = 8;
    for (unsigned i = 0; i < 100; i++) {
        CHECK_EQ(card_cmd(c, 1, ERDMA_CMD_QUERY_FW_INFO, NULL, 8, NULL, NULL),
                 0);
    }
    hosts_free(&b);
}

TEST(slot_that_would_wrap_is_refused)
{
    Hosts b;
    Card *c;
    struct erdma_cqe cqe;
    uint64_t hdr;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    card_start(c, 4);
    for (unsigned i = 0; i < 127; i++) {
        CHECK_EQ(card_cmd(c, 1, ERDMA_CMD_QUERY_FW_INFO, NULL, 8, NULL, NULL),
                 0);
    }
    hdr = 516ull | 1ull << 24 | 2ull << 16 | 7ull << 52;
    hdr = htole64(hdr);
    memcpy(fake_ptr(c->h, c->sq + 508 * 32, 8), &hdr, 8);
    card_write64(c, ERDMA_REG_CMDQ_SQ_DB, 516);
    CHECK(card_poll_cmd(c, &cqe));
    CHECK_EQ(be32toh(cqe.hdr) & 0xff, ERDMA_CMD_EINVAL);
    hosts_free(&b);
}

TEST(freed_context_in_the_middle_is_found_again)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    struct erdma_cmd_ext_db all = { .mask = htole32(7) }, one = all;
    uint64_t resp;

    while (!CMD_COMMON(s->a, ERDMA_CMD_ALLOC_DB, all)) {
    }
    one.sdb = htole16(0x80 + 300);
    one.rdb = htole16(0x80 + 301);
    one.cdb = htole16(0x80 + 302);
    CHECK_EQ(CMD_COMMON(s->a, ERDMA_CMD_FREE_DB, one), 0);
    CHECK_EQ(card_cmd(s->a, 1, ERDMA_CMD_ALLOC_DB, &all, sizeof(all), &resp,
                      NULL), 0);
    CHECK_EQ(resp & 0xffff, 0x80 + 300);
    fixture_free(s);
}

/* ---- wires ---- */

/* Work both ways, some of it waiting for receives; what completed well */
static unsigned wired_work(Fixture *s)
{
    Wr send = fixture_send(s, 0, 300), read = fixture_read(s, 0, 0, 5000);
    unsigned good = 0;
    Wc wc;

    for (unsigned i = 0; i < 4; i++) {
        qp_post(&s->aqp, &send);
        qp_post(&s->aqp, &read);
    }
    qp_ring(&s->aqp);
    hosts_run(&s->hosts);
    for (unsigned i = 0; i < 4; i++) {
        fixture_recv(s, 0, 300);
        hosts_run(&s->hosts);
    }
    hosts_advance(&s->hosts, 20000000000ull);
    for (unsigned i = 0; i < 8; i++) {
        wc = cq_expect(&s->acq);        /* each ends, whatever is missing */
        CHECK(!wc.syndrome || wc.syndrome == ERDMA_WC_RETRY_EXC ||
              wc.syndrome == ERDMA_WC_FLUSHED);
        good += !wc.syndrome;
    }
    CHECK(!cq_poll(&s->acq, &wc));
    return good;
}

TEST_OWN_WIRES(memory_that_is_missing_for_a_wire_costs_connections_only)
{
    for (unsigned mode = 1; mode <= 2; mode++) {
        unsigned good = 0, bad = 0;

        for (int n = 0; n < 20; n++) {
            Fixture *s = fixture_new_wired((WireMode)mode, 8192, false, NULL);

            fail_after = n;
            qp_connect(&s->aqp, &s->bqp);
            good = wired_work(s);
            fail_after = -1;
            bad += good < 8;
            expect_no_timer(s->a);
            expect_no_timer(s->b);
            fixture_free(s);
        }
        CHECK_EQ(good, 8);
        CHECK(bad);
    }
}

TEST_OWN_WIRES(wire_that_cannot_be_allocated_is_not_half_there)
{
    for (int n = 0; n < 2; n++) {
        ErdmaFabric *f = erdma_fabric_new();
        WireEnd e = { 0 };

        fail_after = n;
        CHECK(!erdma_wire_new(f, &fake_wire_ops, &e));
        fail_after = -1;
        CHECK_EQ(e.sends, 0);
        erdma_fabric_free(f);
    }
}
