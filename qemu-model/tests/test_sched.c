/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns, timers, and the budget that all work of one entry shares. */
#include "core_int.h"
#include "guest.h"

#define QPS     6u
#define DEPTH   4096u

/* Six QPs with 4096 receives each, all on one CQ */
typedef struct Full {
    Fixture *s;
    Cq cq;
    Qp qp[QPS];
} Full;

static void full_init(Full *f)
{
    QpOpt o = {
        .kind = QUEUE_KERNEL, .sq_depth = 64, .rq_depth = DEPTH,
        .scq = &f->cq, .rcq = &f->cq,
    };

    f->s = fixture_new_idle(1, QUEUE_KERNEL, 4096, NULL);
    cq_init(&f->cq, f->s->a, 32768, 1);
    for (unsigned i = 0; i < QPS; i++) {
        qp_init_opt(&f->qp[i], f->s->a, &o);
        for (unsigned k = 0; k < DEPTH; k++) {
            qp_post_recv(&f->qp[i], 0, 0, 0);
        }
        qp_ring_recv(&f->qp[i]);
    }
}

static void full_expect_all_flushed(Full *f)
{
    unsigned seen[QPS] = { 0 };

    hosts_run(&f->s->hosts);
    for (unsigned i = 0; i < QPS * DEPTH; i++) {
        Wc wc = cq_expect(&f->cq);
        unsigned k = 0;

        CHECK_EQ(wc.syndrome, ERDMA_WC_FLUSHED);
        while (k < QPS && f->qp[k].qpn != wc.qpn) {
            k++;
        }
        CHECK(k < QPS);
        CHECK_EQ(wc.qe_idx, seen[k]);
        seen[k]++;
    }
    CHECK(!cq_poll(&f->cq, &(Wc) { 0 }));
}

TEST(commands_of_one_doorbell_share_a_budget_of_flushes)
{
    struct erdma_cmd_modify_qp req;
    struct erdma_cqe cqe;
    Full f;
    Card *c;

    full_init(&f);
    c = f.s->a;
    for (unsigned i = 0; i < QPS; i++) {
        req = qp_rts_cmd(&f.qp[i], &f.qp[i], 1, true);
        req.cfg = htole32(ERDMA_PREP(ERDMA_MODIFY_QP_QPN, f.qp[i].qpn) |
                          ERDMA_PREP(ERDMA_MODIFY_QP_STATE, ERDMA_QPS_ERROR));
        card_post_cmd(c, ERDMA_SUBMOD_RDMA, ERDMA_CMD_MODIFY_QP, &req,
                      sizeof(req));
    }
    card_ring_cmd(c);
    CHECK(counters(c).cqes >= DEPTH);
    CHECK(counters(c).cqes <= ERDMA_LIMIT_ENTRY_STEPS);
    CHECK(c->f.kicked);
    full_expect_all_flushed(&f);
    for (unsigned i = 0; i < QPS; i++) {
        CHECK(card_poll_cmd(c, &cqe));
        CHECK_EQ(ERDMA_GET(ERDMA_CQE_SYNDROME, be32toh(cqe.hdr)), 0);
    }
    fixture_free(f.s);
}

TEST(requests_timed_out_together_share_a_budget_of_flushes)
{
    Full f;
    Card *c;

    full_init(&f);
    c = f.s->a;
    for (unsigned i = 0; i < QPS; i++) {
        CHECK_EQ(qp_rts(&f.qp[i], &f.s->aqp, 100 + i, true), 0);
        qp_send(&f.qp[i], &(Wr) { .opcode = ERDMA_OP_WRITE });
    }
    CHECK(c->f.timer);
    c->h->now = c->f.timer;
    c->f.timer = 0;
    erdma_core_timer(c->core);
    CHECK(counters(c).cqes >= DEPTH);
    CHECK(counters(c).cqes <= ERDMA_LIMIT_ENTRY_STEPS + QPS);
    CHECK(c->f.timer && c->f.timer <= c->h->now);
    hosts_advance(&f.s->hosts, 0);
    CHECK_EQ(counters(c).retry_exceeded, QPS);
    CHECK_EQ(counters(c).cqes, QPS * (DEPTH + 1));
    fixture_free(f.s);
}

TEST(one_run_flushes_no_more_than_its_budget)
{
    Full f;
    Card *c;

    full_init(&f);
    c = f.s->a;
    for (unsigned i = 0; i < QPS; i++) {
        CHECK_EQ(qp_modify(&f.qp[i], ERDMA_QPS_ERROR), 0);
    }
    while (c->f.kicked) {
        uint64_t before = counters(c).cqes;

        c->f.kicked = false;
        erdma_core_run(c->core);
        CHECK(counters(c).cqes - before <= ERDMA_LIMIT_ENTRY_STEPS);
    }
    full_expect_all_flushed(&f);
    fixture_free(f.s);
}

/* ---- kicks and timers by themselves ---- */

static char called[16];
static unsigned ncalled;
static ErdmaKick kick[3];
static ErdmaTimerQueue queue;
static ErdmaTimer timer[3];

static void note(char ch)
{
    CHECK(ncalled < sizeof(called) - 1);
    called[ncalled++] = ch;
    called[ncalled] = '\0';
}

static void kick_greedy(ErdmaCore *c)
{
    note('g');
    while (erdma_sched_spend(c->fabric, 1)) {
    }
    erdma_kick(c, &kick[0]);
}

static void kick_again(ErdmaCore *c)
{
    note('a');
    erdma_kick(c, &kick[1]);
}

static void kick_once(ErdmaCore *c)
{
    (void)c;
    note('o');
}

TEST(who_spends_everything_comes_last_in_the_next_run)
{
    Hosts b;
    ErdmaCore *c;

    hosts_init(&b, 1, 1);
    c = b.card[0].core;
    ncalled = 0;
    erdma_kick_init(&kick[0], kick_greedy);
    erdma_kick_init(&kick[1], kick_again);
    erdma_kick_init(&kick[2], kick_once);
    erdma_kick(c, &kick[0]);
    erdma_kick(c, &kick[1]);
    erdma_kick(c, &kick[2]);
    erdma_kick(c, &kick[2]);
    erdma_core_run(c);
    CHECK(!strcmp(called, "g"));
    erdma_core_run(c);
    CHECK(!strcmp(called, "gaog"));
    erdma_kick_cancel(&kick[0]);
    erdma_core_run(c);
    CHECK(!strcmp(called, "gaoga"));
    CHECK(b.card[0].f.kicked);
    erdma_kick_cancel(&kick[1]);
    hosts_run(&b);
    CHECK(!strcmp(called, "gaoga"));
    hosts_free(&b);
}

static void timer_note(ErdmaCore *c, ErdmaTimer *t)
{
    (void)c;
    CHECK(!erdma_timer_armed(t));
    note('0' + (t - timer));
}

TEST(timers_expire_in_order_and_the_earliest_is_set)
{
    Hosts b;
    FakeCard *f;
    ErdmaCore *c;

    hosts_init(&b, 1, 1);
    f = &b.card[0].f;
    c = b.card[0].core;
    ncalled = 0;
    memset(timer, 0, sizeof(timer));
    erdma_timer_queue_init(c, &queue, timer_note);
    b.host[0].now = 1000;
    erdma_timer_arm(c, &queue, &timer[0], UINT64_MAX);
    CHECK_EQ(f->timer, 0);
    erdma_timer_arm(c, &queue, &timer[1], 5000);
    erdma_timer_arm(c, &queue, &timer[2], 3000);
    CHECK_EQ(f->timer, 3000);
    CHECK(erdma_timer_first(&queue) == &timer[2]);
    erdma_timer_arm(c, &queue, &timer[0], 4000);
    erdma_timer_cancel(&timer[2]);
    hosts_advance(&b, 2000);              /* early: nothing is due */
    CHECK_EQ(ncalled, 0);
    CHECK_EQ(f->timer, 4000);
    hosts_advance(&b, 2000);
    CHECK(!strcmp(called, "01"));
    CHECK_EQ(f->timer, 0);
    CHECK(!erdma_timer_first(&queue));
    hosts_free(&b);
}
