/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Doorbell pages: legacy, extended, direct (2.5 to 2.7, 9.6, 9.7). */
#include <stdlib.h>

#include "guest.h"

typedef struct Pages {
    uint16_t sdb, rdb, cdb;
} Pages;

static unsigned alloc_db(Card *c, uint32_t mask, Pages *p)
{
    struct erdma_cmd_ext_db req = { .mask = htole32(mask) };
    uint64_t resp = 0;
    unsigned err = card_cmd(c, 1, ERDMA_CMD_ALLOC_DB, &req, sizeof(req), &resp,
                            NULL);

    p->sdb = ERDMA_GET(ERDMA_ALLOC_DB_SDB, resp);
    p->rdb = ERDMA_GET(ERDMA_ALLOC_DB_RDB, resp);
    p->cdb = ERDMA_GET(ERDMA_ALLOC_DB_CDB, resp);
    CHECK_EQ(resp >> 16 & 0xffff, 0);
    return err;
}

static unsigned free_db(Card *c, uint32_t mask, Pages p)
{
    struct erdma_cmd_ext_db req = {
        .mask = htole32(mask), .rdb = htole16(p.rdb), .sdb = htole16(p.sdb),
        .cdb = htole16(p.cdb),
    };

    return CMD_COMMON(c, ERDMA_CMD_FREE_DB, req);
}

static unsigned user_cq(Card *c, uint32_t cqn, uint32_t page, Cq *cq)
{
    struct erdma_cmd_create_cq req = { 0 };

    *cq = (Cq) {
        .card = c, .cqn = cqn, .depth = 64, .eqn = 1,
        .addr = fake_zalloc(c->h, 2048),
    };
    req.cfg0 = htole32(ERDMA_PREP(ERDMA_CREATE_CQ_DEPTH, 6) | cqn);
    req.addr_lo = htole32(cq->addr);
    req.addr_hi = htole32(cq->addr >> 32);
    req.cfg1 = htole32(ERDMA_PREP(ERDMA_CREATE_CQ_MTT_CNT, 1) |
                       ERDMA_CREATE_CQ_DB_ASSOC | 1);
    req.cfg2 = htole32(page);
    return CMD_RDMA(c, ERDMA_CMD_CREATE_CQ, req);
}

/* A context with a CQ and a QP of numbers @cqn and @qpn, connected */
typedef struct Ctx {
    Pages p;
    Cq cq;
    Qp qp, peer;
} Ctx;

static void ctx_init(Fixture *s, Ctx *x, uint32_t qpn, uint32_t cqn)
{
    QpOpt o = { .kind = QUEUE_INLINE, .sq_depth = 64, .rq_depth = 64 };

    CHECK_EQ(alloc_db(s->a, 7, &x->p), 0);
    CHECK_EQ(user_cq(s->a, cqn, x->p.cdb, &x->cq), 0);
    o.qpn = qpn;
    o.scq = o.rcq = &x->cq;
    o.db_assoc = true;
    o.sdb = x->p.sdb;
    o.rdb = x->p.rdb;
    o.cdb = x->p.cdb;
    qp_init_opt(&x->qp, s->a, &o);
    qp_init(&x->peer, s->b, &s->bcq, QUEUE_KERNEL);
    qp_connect(&x->qp, &x->peer);
}

static Wr nop(void)
{
    return (Wr) { .opcode = ERDMA_OP_WRITE };
}

/* The stock driver's crosswise mapping */
static uint64_t cq_db_address(const Ctx *x)
{
    return x->p.rdb * 4096ull + x->cq.cqn % 512 * 8;
}

static uint64_t cq_db_value(const Ctx *x)
{
    return ERDMA_CQ_DB_ARM | (uint64_t)x->cq.cqn << 32 | x->cq.ci;
}

TEST(context_gets_three_pages_of_its_own)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    Pages p[3];

    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQ(alloc_db(s->a, 7, &p[i]), 0);
        CHECK(p[i].sdb >= 0x80 && p[i].rdb >= 0x80 && p[i].cdb >= 0x80);
        CHECK(p[i].sdb != p[i].rdb && p[i].rdb != p[i].cdb);
        CHECK(p[i].cdb < 4096);
    }
    CHECK(p[0].sdb != p[1].sdb && p[1].cdb != p[2].sdb);
    fixture_free(s);
}

TEST(contexts_end_when_bar0_is_used_up)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    Pages p, first;
    unsigned n = 1;

    CHECK_EQ(alloc_db(s->a, 7, &first), 0);
    while (!alloc_db(s->a, 7, &p)) {
        CHECK((p.cdb + 1u) * 4096 <= s->a->cfg.bar0_size);
        n++;
    }
    CHECK_EQ(n, (4096 - 128) / 3);
    CHECK_EQ(free_db(s->a, 7, first), 0);
    CHECK_EQ(alloc_db(s->a, 7, &p), 0);
    CHECK_EQ(p.sdb, first.sdb);
    fixture_free(s);
}

TEST(only_allocated_pages_can_be_freed)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    Pages p, q, mixed;

    CHECK_EQ(alloc_db(s->a, 0, &p), ERDMA_CMD_EINVAL);
    CHECK_EQ(alloc_db(s->a, 7, &p), 0);
    CHECK_EQ(alloc_db(s->a, 7, &q), 0);
    mixed = p;
    mixed.cdb = q.cdb;
    CHECK_EQ(free_db(s->a, 7, mixed), ERDMA_CMD_ENOENT);
    CHECK_EQ(free_db(s->a, 0, p), ERDMA_CMD_EINVAL);
    CHECK_EQ(free_db(s->a, 7, (Pages) { 0, 0, 0 }), ERDMA_CMD_ENOENT);
    CHECK_EQ(free_db(s->a, 7, (Pages) { 0xffff, 0xffff, 0xffff }),
             ERDMA_CMD_ENOENT);
    CHECK_EQ(free_db(s->a, 7, p), 0);
    CHECK_EQ(free_db(s->a, 7, p), ERDMA_CMD_ENOENT);
    fixture_free(s);
}

TEST(pages_in_use_are_not_freed)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Ctx x;

    ctx_init(s, &x, 50, 60);
    CHECK_EQ(free_db(s->a, 7, x.p), ERDMA_CMD_EBUSY);
    CHECK_EQ(qp_destroy(&x.qp), 0);
    CHECK_EQ(free_db(s->a, 7, x.p), ERDMA_CMD_EBUSY);
    CHECK_EQ(cq_destroy(&x.cq), 0);
    CHECK_EQ(free_db(s->a, 7, x.p), 0);
    fixture_free(s);
}

TEST(objects_bind_only_to_pages_of_one_live_context)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    Pages p, q;
    QpOpt o = {
        .kind = QUEUE_INLINE, .sq_depth = 64, .rq_depth = 64,
        .scq = &s->acq, .rcq = &s->acq, .db_assoc = true,
    };
    Cq cq;
    Qp qp;

    CHECK_EQ(alloc_db(s->a, 7, &p), 0);
    CHECK_EQ(alloc_db(s->a, 7, &q), 0);
    CHECK_EQ(user_cq(s->a, 70, p.rdb, &cq), ERDMA_CMD_EINVAL);
    CHECK_EQ(user_cq(s->a, 70, 0x79, &cq), ERDMA_CMD_EINVAL);
    CHECK_EQ(user_cq(s->a, 70, 0xffff, &cq), ERDMA_CMD_EINVAL);
    CHECK_EQ(user_cq(s->a, 70, p.cdb, &cq), 0);
    o.sdb = p.sdb;
    o.rdb = q.rdb;
    CHECK_EQ(qp_try(&qp, s->a, &o), ERDMA_CMD_EINVAL);
    o.rdb = p.cdb;
    CHECK_EQ(qp_try(&qp, s->a, &o), ERDMA_CMD_EINVAL);
    o.rdb = p.rdb;
    CHECK_EQ(qp_try(&qp, s->a, &o), 0);
    fixture_free(s);
}

/* ---- ringing ---- */

TEST(extended_pages_work_as_the_stock_driver_maps_them)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = nop();
    Ctx x;

    ctx_init(s, &x, 50, 60);
    qp_send(&x.qp, &wr);
    CHECK_EQ(cq_expect(&x.cq).syndrome, 0);
    card_write64(s->a, cq_db_address(&x), cq_db_value(&x));
    qp_recv(&x.qp, 0, 0, 0);
    wr.opcode = ERDMA_OP_SEND;
    qp_send(&x.peer, &wr);
    CHECK_EQ(cq_expect(&x.cq).opcode, ERDMA_OP_RECV);
    CHECK_EQ(s->a->f.irqs[1], 1);
    CHECK_EQ(counters(s->a).doorbells_dropped, 0);
    fixture_free(s);
}

TEST(extended_pages_work_uncrossed_too)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = nop();
    Ctx x;

    ctx_init(s, &x, 50, 60);
    x.qp.rq_db = x.p.rdb * 4096ull + 50 * 32;
    qp_recv(&x.qp, 0, 0, 0);
    card_write64(s->a, x.p.cdb * 4096ull + 60 * 8, cq_db_value(&x));
    wr.opcode = ERDMA_OP_SEND;
    qp_send(&x.peer, &wr);
    CHECK_EQ(cq_expect(&x.cq).opcode, ERDMA_OP_RECV);
    CHECK_EQ(s->a->f.irqs[1], 1);
    fixture_free(s);
}

TEST(kind_follows_from_offset_and_owner_not_from_bit_31)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Ctx x;
    ErdmaCounters n;

    ctx_init(s, &x, 50, 60);
    qp_post_recv(&x.qp, 0, 0, 0);
    /* garbage with bit 31 set in the receive doorbell */
    card_write64(s->a, x.qp.rq_db, 50ull << 32 | 0xffff0000 | 1);
    n = counters(s->a);
    CHECK_EQ(n.doorbells_rq, 1);
    CHECK_EQ(n.doorbells_cq, 0);
    CHECK_EQ(n.doorbells_dropped, 0);
    fixture_free(s);
}

TEST(bit_31_decides_when_both_kinds_are_possible)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Ctx x;

    ctx_init(s, &x, 512, 512);  /* both at page offset 0 */
    qp_post_recv(&x.qp, 0, 0, 0);
    card_write64(s->a, x.p.cdb * 4096ull, 512ull << 32 | 1);
    CHECK_EQ(counters(s->a).doorbells_rq, 1);
    card_write64(s->a, x.p.rdb * 4096ull, 512ull << 32 | ERDMA_CQ_DB_ARM);
    CHECK_EQ(counters(s->a).doorbells_cq, 1);
    fixture_free(s);
}

/* Write @value at @offset: must change nothing but the drop counter */
static void expect_drop(Fixture *s, uint64_t offset, uint64_t value)
{
    ErdmaCounters before = counters(s->a), after;

    card_write64(s->a, offset, value);
    after = counters(s->a);
    CHECK_EQ(after.doorbells_dropped, before.doorbells_dropped + 1);
    CHECK_EQ(after.doorbells_sq, before.doorbells_sq);
    CHECK_EQ(after.doorbells_rq, before.doorbells_rq);
    CHECK_EQ(after.doorbells_cq, before.doorbells_cq);
    CHECK_EQ(after.cqes, before.cqes);
}

TEST(one_process_cannot_ring_for_another)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = nop();
    Ctx x, y;

    ctx_init(s, &x, 50, 60);
    ctx_init(s, &y, 51, 61);
    qp_post(&x.qp, &wr);
    qp_post_recv(&x.qp, 0, 0, 0);
    expect_drop(s, y.p.sdb * 4096ull + 50 % 32 * 128, sq_db_value(&x.qp, 1));
    expect_drop(s, y.p.cdb * 4096ull + 50 * 32, rq_db_value(&x.qp, 1));
    expect_drop(s, y.p.rdb * 4096ull + 60 * 8, cq_db_value(&x));
    expect_drop(s, x.p.cdb * 4096ull + 50 % 32 * 128, sq_db_value(&x.qp, 1));
    /* nor through the pages of the kernel */
    expect_drop(s, ERDMA_DB_KERNEL_SQ, sq_db_value(&x.qp, 1));
    expect_drop(s, ERDMA_DB_RQ_BASE, rq_db_value(&x.qp, 1));
    expect_drop(s, ERDMA_DB_CQ_BASE, cq_db_value(&x));
    fixture_free(s);
}

TEST(process_cannot_ring_for_the_kernel)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = nop();
    Ctx x;

    ctx_init(s, &x, 50, 60);
    qp_post(&s->aqp, &wr);
    expect_drop(s, x.p.sdb * 4096ull, sq_db_value(&s->aqp, 1));
    expect_drop(s, x.p.cdb * 4096ull + s->aqp.qpn * 32,
                rq_db_value(&s->aqp, 1));
    expect_drop(s, x.p.rdb * 4096ull + s->acq.cqn * 8,
                ERDMA_CQ_DB_ARM | (uint64_t)s->acq.cqn << 32);
    fixture_free(s);
}

TEST(freed_pages_are_dead)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Pages p;

    CHECK_EQ(alloc_db(s->a, 7, &p), 0);
    CHECK_EQ(free_db(s->a, 7, p), 0);
    expect_drop(s, p.sdb * 4096ull, sq_db_value(&s->aqp, 1));
    expect_drop(s, p.rdb * 4096ull, UINT64_MAX);
    expect_drop(s, 0xfff000, UINT64_MAX);
    fixture_free(s);
}

TEST(doorbells_are_single_8_byte_writes)
{
    static const uint64_t off[] = {
        ERDMA_DB_KERNEL_SQ, ERDMA_DB_RQ_BASE, ERDMA_DB_CQ_BASE, 0x80000,
    };
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    uint64_t dropped = 0;

    for (unsigned i = 0; i < 4; i++) {
        for (unsigned size = 1; size <= 4; size *= 2) {
            erdma_core_mmio_write(s->a->core, off[i],
                                  sq_db_value(&s->aqp, 1), size);
            dropped++;
        }
        erdma_core_mmio_write(s->a->core, off[i] + 4, 0, 8);
        dropped++;
    }
    CHECK_EQ(counters(s->a).doorbells_dropped, dropped);
    CHECK_EQ(counters(s->a).doorbells_sq, 0);
    fixture_free(s);
}

TEST(legacy_apertures_take_any_aligned_offset)
{
    static const uint64_t off[] = { 0x1000, 0x1008, 0x33330, 0x60ff8 };
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = nop();

    for (unsigned i = 0; i < 4; i++) {
        qp_post(&s->aqp, &wr);
        card_write64(s->a, off[i], sq_db_value(&s->aqp, s->aqp.sq_pi));
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    }
    qp_post_recv(&s->bqp, 0, 0, 0);
    card_write64(s->b, 0x78ff8, rq_db_value(&s->bqp, 1));
    CHECK_EQ(counters(s->b).doorbells_rq, 1);
    card_write64(s->b, 0x7fff8, (uint64_t)s->bcq.cqn << 32 | ERDMA_CQ_DB_ARM);
    CHECK_EQ(counters(s->b).doorbells_cq, 1);
    fixture_free(s);
}

/* ---- direct WQE (9.7) ---- */

TEST(direct_requests_are_dropped_and_the_ordinary_doorbell_works)
{
    Fixture *s = fixture_new(2, QUEUE_TABLE, 4096);
    Wr wr = nop();
    uint64_t hdr;

    qp_post(&s->aqp, &wr);
    memcpy(&hdr, qp_block(&s->aqp, 0), 8);
    expect_drop(s, s->aqp.sq_db + 128, hdr | ERDMA_SQE_HDR_DWQE);
    qp_ring(&s->aqp);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    fixture_free(s);
}

static void groups(ErdmaConfig *cfg)
{
    cfg->grp_num = 24;
}

static void groups_6(ErdmaConfig *cfg)
{
    cfg->grp_num = 6;
}

/* Does an ordinary doorbell at this offset of the SQ space ring? */
static bool rings(void (*tweak)(ErdmaConfig *cfg), uint64_t offset)
{
    Fixture *s = fixture_new_cfg(2, QUEUE_TABLE, 4096, tweak);
    Wr wr = nop();
    bool rang;
    Wc wc;

    qp_post(&s->aqp, &wr);
    card_write64(s->a, offset, sq_db_value(&s->aqp, 1));
    rang = cq_poll(&s->acq, &wc);
    CHECK_EQ(counters(s->a).doorbells_dropped, !rang);
    fixture_free(s);
    return rang;
}

TEST(page_type_doorbell_pages_decode)
{
    CHECK(rings(groups, 0x1000));
    CHECK(rings(groups, 0x1000 + 63 * 4096 + 31 * 128));
    CHECK(rings(groups_6, 0x1000 + 14 * 4096 + 5 * 128));
}

TEST(entry_type_doorbell_pages_decode)
{
    CHECK(rings(groups, 0x1000 + 64 * 4096));
    CHECK(rings(groups, 0x1000 + 93 * 4096 + 15 * 256));
    CHECK(rings(groups_6, 0x1000 + 15 * 4096 + 256));
}

TEST(kernel_doorbell_page_works_with_credit_groups)
{
    CHECK(rings(groups, ERDMA_DB_KERNEL_SQ));
    CHECK(rings(groups, ERDMA_DB_KERNEL_SQ + 3 * 128));
}

TEST(payload_of_direct_requests_is_never_taken_for_a_doorbell)
{
    for (uint64_t off = 8; off < 128; off += 8) {
        CHECK(!rings(groups, 0x1000 + off));
        CHECK(!rings(groups, 0x1000 + 64 * 4096 + 128 + off));
    }
    CHECK(!rings(groups, 0x1000 + 64 * 4096 + 128));
}
