/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Completion queues (section 8). */
#include <stdlib.h>

#include "guest.h"

/* A request that completes without touching memory */
static void nop(Qp *qp)
{
    Wr wr = { .opcode = ERDMA_OP_WRITE };

    qp_send(qp, &wr);
}

static unsigned events(Fixture *s)
{
    unsigned n = 0;

    while (eq_poll(s->a, &s->a->eq[1], NULL, NULL)) {
        n++;
    }
    ceq_arm(s->a, 1);
    return n;
}

TEST(completion_says_who_what_where)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_write(s, 0, 0, 100);
    Wc wc;

    qp_send(&s->aqp, &wr);
    wc = cq_expect(&s->acq);
    CHECK_EQ(wc.opcode, ERDMA_OP_WRITE);
    CHECK_EQ(wc.qtype, ERDMA_CQE_QTYPE_SQ);
    CHECK_EQ(wc.syndrome, 0);
    CHECK_EQ(wc.qe_idx, 0);
    CHECK_EQ(wc.qpn, s->aqp.qpn);
    CHECK_EQ(wc.size, 100);
    CHECK_EQ(cq_entry(&s->acq, 0)->rsvd[0], 0);
    CHECK_EQ(cq_entry(&s->acq, 0)->rsvd[1], 0);
    CHECK_EQ(cq_entry(&s->acq, 0)->rc, 0);
    CHECK_EQ(cq_entry(&s->acq, 0)->imm, 0);
    fixture_free(s);
}

static void wrap_cq(uint32_t depth, bool user)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    Cq cq;
    Qp qp;

    if (user) {
        cq_init_user(&cq, s->a, depth, 1);
    } else {
        cq_init(&cq, s->a, depth, 1);
    }
    qp_init(&qp, s->a, &cq, QUEUE_KERNEL);
    qp_init(&s->bqp, s->a, &s->bcq, QUEUE_KERNEL);
    qp_connect(&qp, &s->bqp);
    for (unsigned i = 0; i < 5 * depth + 3; i++) {
        nop(&qp);
        CHECK_EQ(cq_expect(&cq).qe_idx, i & 0xffff);
        CHECK(!cq_poll(&cq, &(Wc) { 0 }));
    }
    cq_free(&cq);
    fixture_free(s);
}

TEST(owner_bit_of_completions_flips_on_every_pass)
{
    wrap_cq(16, false);
}

TEST(completion_queue_of_one_entry_works)
{
    wrap_cq(1, false);
}

TEST(scattered_completion_queue_wraps)
{
    wrap_cq(512, true);
}

TEST(one_page_user_completion_queue_wraps)
{
    wrap_cq(64, true);
}

/* ---- creation ---- */

typedef struct CqReq {
    uint32_t cqn, depth, page, cnt, level, eqn, off;
    uint64_t addr;
} CqReq;

static unsigned create(Card *c, const CqReq *r)
{
    struct erdma_cmd_create_cq req = { 0 };

    req.cfg0 = htole32(ERDMA_PREP(ERDMA_CREATE_CQ_DEPTH, r->depth) |
                       ERDMA_PREP(ERDMA_CREATE_CQ_PAGE, r->page) |
                       ERDMA_PREP(ERDMA_CREATE_CQ_CQN, r->cqn));
    req.addr_lo = htole32(r->addr);
    req.addr_hi = htole32(r->addr >> 32);
    req.cfg1 = htole32(ERDMA_PREP(ERDMA_CREATE_CQ_MTT_CNT, r->cnt) |
                       ERDMA_PREP(ERDMA_CREATE_CQ_LEVEL, r->level) |
                       ERDMA_PREP(ERDMA_CREATE_CQ_EQN, r->eqn));
    req.first_off = htole32(r->off);
    return CMD_RDMA(c, ERDMA_CMD_CREATE_CQ, req);
}

TEST(create_cq_refuses_what_cannot_be)
{
    static const struct {
        CqReq r;
        unsigned err;
    } bad[] = {
        { { 0, 6, 0, 1, 0, 1, 0, RAM_BASE }, 22 },
        { { 0xfffff, 6, 0, 1, 0, 1, 0, RAM_BASE }, 22 },
        { { 900, 21, 15, 1, 0, 1, 0, RAM_BASE }, 22 },
        { { 900, 255, 15, 1, 0, 1, 0, RAM_BASE }, 22 },
        { { 900, 6, 0, 0, 0, 1, 0, RAM_BASE }, 22 },
        { { 900, 8, 0, 1, 0, 1, 0, RAM_BASE }, 22 },    /* needs 2 pages */
        { { 900, 7, 0, 1, 0, 1, 4096, RAM_BASE }, 22 },
        { { 900, 6, 0, 1, 0, 1, 0xffffffe0, RAM_BASE }, 22 },
        { { 900, 6, 0, 1, 0, 1, 8, RAM_BASE }, 22 },
        { { 900, 6, 0, 1, 0, 1, 0, RAM_BASE + 8 }, 22 },
        { { 900, 6, 0, 1, 0, 1, 0, ~0ull << 12 }, 22 },
        { { 900, 6, 0, 1, 0, 0, 0, RAM_BASE }, 2 },
        { { 900, 6, 0, 1, 0, 9, 0, RAM_BASE }, 2 },
        { { 900, 6, 0, 1, 0, 1023, 0, RAM_BASE }, 2 },
        { { 900, 8, 0, 2, 1, 1, 0, 0x1000 }, 14 },      /* table not RAM */
        { { 1, 6, 0, 1, 0, 1, 0, RAM_BASE }, 17 },
    };
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (create(s->a, &bad[i].r) != bad[i].err) {
            tap_fail(__FILE__, __LINE__, "case %u", i);
        }
    }
    CHECK_EQ(counters(s->a).cqs, 2);
    fixture_free(s);
}

TEST(offset_in_the_first_page_is_honoured)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    uint64_t page = fake_zalloc(s->a->h, 16384);
    CqReq r = { 50, 6, 2, 1, 1, 1, 0x2000, page };
    Cq cq = { .card = s->a, .cqn = 50, .depth = 64, .addr = page + 0x2000 };
    Qp qp;

    CHECK_EQ(create(s->a, &r), 0);
    qp_init(&qp, s->a, &cq, QUEUE_KERNEL);
    CHECK_EQ(qp_modify(&qp, ERDMA_QPS_ERROR), 0);
    nop(&qp);
    CHECK_EQ(cq_expect(&cq).syndrome, ERDMA_WC_FLUSHED);
    fixture_free(s);
}

TEST(completion_queue_in_use_is_not_destroyed)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    CHECK_EQ(cq_destroy(&s->acq), ERDMA_CMD_EBUSY);
    CHECK_EQ(qp_destroy(&s->aqp), 0);
    CHECK_EQ(cq_destroy(&s->acq), 0);
    CHECK_EQ(cq_destroy(&s->acq), ERDMA_CMD_ENOENT);
    fixture_free(s);
}

/* ---- arming (8.5) ---- */

TEST(arm_is_one_shot)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    cq_arm(&s->acq, false);
    CHECK_EQ(events(s), 0);
    nop(&s->aqp);
    nop(&s->aqp);
    CHECK_EQ(events(s), 1);
    CHECK_EQ(s->a->f.irqs[1], 1);
    fixture_free(s);
}

TEST(unarmed_cq_raises_no_event)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    nop(&s->aqp);
    CHECK_EQ(events(s), 0);
    fixture_free(s);
}

TEST(arm_with_unseen_completions_raises_at_once)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    uint64_t w;

    nop(&s->aqp);
    cq_arm(&s->acq, false);
    CHECK(eq_poll(s->a, &s->a->eq[1], &w, NULL));
    CHECK(w & ERDMA_CEQE_DB);
    CHECK_EQ(ERDMA_GET(ERDMA_CEQE_PI, w), 1);
    cq_expect(&s->acq);
    cq_arm(&s->acq, false);
    CHECK_EQ(events(s), 0);
    nop(&s->aqp);
    CHECK(eq_poll(s->a, &s->a->eq[1], &w, NULL));
    CHECK(!(w & ERDMA_CEQE_DB));
    fixture_free(s);
}

TEST(solicited_arm_waits_for_a_solicited_message)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_send(s, 0, 16);
    uint64_t w;

    for (unsigned i = 0; i < 3; i++) {
        fixture_recv(s, 64 * i, 64);
    }
    cq_arm(&s->bcq, true);
    qp_send(&s->aqp, &wr);
    CHECK(!eq_poll(s->b, &s->b->eq[2], &w, NULL));
    wr.solicited = true;
    qp_send(&s->aqp, &wr);
    CHECK(eq_poll(s->b, &s->b->eq[2], &w, NULL));
    /* at the sender it means nothing */
    cq_expect(&s->acq);
    cq_expect(&s->acq);
    cq_arm(&s->acq, true);
    qp_send(&s->aqp, &wr);
    CHECK_EQ(events(s), 0);
    fixture_free(s);
}

TEST(error_counts_as_solicited)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    fixture_recv(s, 0, 64);
    cq_arm(&s->bcq, true);
    CHECK_EQ(qp_modify(&s->bqp, ERDMA_QPS_ERROR), 0);
    CHECK(eq_poll(s->b, &s->b->eq[2], NULL, NULL));
    fixture_free(s);
}

TEST(later_solicited_arm_does_not_take_an_arm_for_any_back)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    cq_arm(&s->acq, false);
    cq_arm(&s->acq, true);
    nop(&s->aqp);
    CHECK_EQ(events(s), 1);
    fixture_free(s);
}

TEST(later_arm_for_any_widens_a_solicited_one)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    cq_arm(&s->acq, true);
    cq_arm(&s->acq, false);
    nop(&s->aqp);
    CHECK_EQ(events(s), 1);
    fixture_free(s);
}

TEST(arm_for_any_after_an_event_starts_afresh)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    cq_arm(&s->acq, false);
    nop(&s->aqp);
    CHECK_EQ(events(s), 1);
    cq_expect(&s->acq);
    cq_arm(&s->acq, true);
    nop(&s->aqp);
    CHECK_EQ(events(s), 0);
    fixture_free(s);
}

TEST(arm_compares_24_bits)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    nop(&s->aqp);
    cq_expect(&s->acq);
    s->acq.ci = 0x5000001;      /* the same in 24 bits */
    cq_arm(&s->acq, false);
    CHECK_EQ(events(s), 0);
    s->acq.ci = 0x5000000;
    cq_arm(&s->acq, false);
    CHECK_EQ(events(s), 1);
    fixture_free(s);
}

TEST(events_of_two_cqs_go_to_their_own_vectors)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    Wr wr = fixture_send(s, 0, 8);

    fixture_recv(s, 0, 64);
    cq_arm(&s->acq, false);
    cq_arm(&s->bcq, false);
    qp_send(&s->aqp, &wr);
    CHECK_EQ(s->a->f.irqs[1], 1);
    CHECK_EQ(s->a->f.irqs[2], 1);
    CHECK_EQ(s->a->f.irqs_total, 2);
    fixture_free(s);
}

/* ---- a ring that is gone ---- */

TEST(unreachable_completion_queue_is_reported_once)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    fake_hole(s->a->h, s->acq.addr, 4096);
    nop(&s->aqp);
    nop(&s->aqp);
    expect_aeqe(s->a, ERDMA_AE_CQ_ERR, s->acq.cqn);
    expect_no_aeqe(s->a);
    CHECK_EQ(s->a->f.irqs[0], 1);
    fixture_free(s);
}

TEST(full_completion_queue_is_never_an_error)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Cq cq;
    Qp qp;

    cq_init(&cq, s->a, 4, 1);
    qp_init(&qp, s->a, &cq, QUEUE_KERNEL);
    qp_init(&s->bqp, s->b, &s->bcq, QUEUE_KERNEL);
    qp_connect(&qp, &s->bqp);
    for (unsigned i = 0; i < 64; i++) {
        nop(&qp);
    }
    expect_no_aeqe(s->a);
    CHECK_EQ(counters(s->a).cqes, 64);
    fixture_free(s);
}
