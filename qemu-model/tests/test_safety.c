/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Order of what the guest sees (3.3), what changes under a message, size, and
 * messages to the host. Faults that other models had are in test_cve.c.
 */
#include <stdlib.h>

#include "guest.h"

#define SECOND  1000000000ull

static bool inside(const FakeEvent *e, uint64_t addr, uint64_t len)
{
    return e->kind == EV_WRITE && e->addr >= addr && e->addr < addr + len;
}

/* ---- order ---- */

TEST(payload_then_completion_then_event_then_interrupt)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 8192);
    Wr wr = fixture_send(s, 0, 3000);
    unsigned stage = 0;

    fixture_recv(s, 4096, 4096);
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
    fixture_free(s);
}

/* When an entry cannot be mapped whole, its owner word is written last */
TEST(owner_word_is_written_last)
{
    Fixture *s;
    const FakeEvent *e;
    MapMode mode = fake_default_mode;

    fake_default_mode = MAP_SHORT;
    s = fixture_new(1, QUEUE_KERNEL, 8192);
    fake_default_mode = mode;
    s->a->f.record = true;
    qp_send(&s->aqp, &(Wr) { .opcode = ERDMA_OP_WRITE });
    CHECK_EQ(s->a->f.events, 2);
    e = s->a->f.event;
    CHECK_EQ(e[0].addr, s->acq.addr + 4);
    CHECK_EQ(e[0].len, 28);
    CHECK_EQ(e[1].addr, s->acq.addr);
    CHECK_EQ(e[1].len, 4);
    fixture_free(s);
}

/* ---- things that change under a suspended message ---- */

static Fixture *suspended(uint8_t opcode)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 9 << 20);
    Wr wr = fixture_write(s, 0, 0, 9 << 20);

    wr.opcode = opcode;
    fixture_recv(s, 0, 9 << 20);
    qp_send(&s->aqp, &wr);
    s->a->f.kicked = false;
    erdma_core_run(s->a->core);
    CHECK(s->a->f.kicked);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    return s;
}

TEST_ONE_PROCESS(region_deregistered_under_a_message_stops_it)
{
    Fixture *s = suspended(ERDMA_OP_WRITE);

    CHECK_EQ(mr_dereg(s->b, s->bkey), 0);
    s->b->f.record = true;
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RECV_STAG);
    for (unsigned i = 0; i < s->b->f.events; i++) {
        CHECK(!inside(&s->b->f.event[i], s->bbuf, 9 << 20));
    }
    fixture_free(s);
}

TEST_ONE_PROCESS(local_region_deregistered_under_a_message_stops_it)
{
    Fixture *s = suspended(ERDMA_OP_READ);

    CHECK_EQ(mr_dereg(s->a, s->akey), 0);
    s->a->f.record = true;
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SEND_STAG);
    for (unsigned i = 0; i < s->a->f.events; i++) {
        CHECK(!inside(&s->a->f.event[i], s->abuf, 9 << 20));
    }
    fixture_free(s);
}

TEST_ONE_PROCESS(request_changed_under_a_message_changes_nothing)
{
    Fixture *s = suspended(ERDMA_OP_SEND);

    memset(qp_block(&s->aqp, 0), 0xff, 32);
    memset(qp_rqe(&s->bqp, 0), 0xff, 32);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK_EQ(cq_expect(&s->bcq).size, 9 << 20);
    CHECK(is_pattern(fixture_b(s, 0), 9 << 20, 1));
    fixture_free(s);
}

TEST_ONE_PROCESS(stopping_either_end_under_a_message_ends_it)
{
    Fixture *s = suspended(ERDMA_OP_SEND);

    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_ERROR), 0);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    CHECK(!cq_poll(&s->bcq, &(Wc) { 0 }));
    fixture_free(s);

    s = suspended(ERDMA_OP_SEND);
    CHECK_EQ(qp_modify(&s->bqp, ERDMA_QPS_ERROR), 0);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_FLUSHED);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    hosts_advance(&s->hosts, 10 * SECOND);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    fixture_free(s);
}

/* ---- size ---- */

TEST(ten_thousand_queue_pairs_fit_and_all_work)
{
    enum { N = 5000 };
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
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
    fixture_free(s);
}

/* ---- messages to the host ---- */

TEST(guest_cannot_flood_the_log)
{
    Hosts b;
    Card *c;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    for (unsigned i = 0; i < 10000; i++) {
        card_write32(c, ERDMA_REG_VERSION, 1);
    }
    CHECK_EQ(counters(c).guest_errors, 10000);
    CHECK(c->f.log_lines[ERDMA_LOG_GUEST_ERROR] <= 20);
    b.host[0].now += SECOND;
    card_write32(c, ERDMA_REG_VERSION, 1);
    CHECK(c->f.log_lines[ERDMA_LOG_GUEST_ERROR] >= 2);
    hosts_free(&b);
}

TEST(log_level_decides_what_is_logged)
{
    Hosts b;
    Card *c;

    hosts_init(&b, 1, 1);
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
    hosts_free(&b);
}
