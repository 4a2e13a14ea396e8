/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event queues (section 7). */
#include <stdlib.h>

#include "guest.h"

/* Make CQ @cq report one event to its CEQ */
static void one_event(Fixture *s)
{
    Wr wr = { .opcode = ERDMA_OP_WRITE };

    cq_arm(&s->acq, false);
    qp_send(&s->aqp, &wr);
    cq_expect(&s->acq);
}

TEST(event_queue_is_born_armed)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    one_event(s);
    CHECK_EQ(s->a->f.irqs[1], 1);
    fixture_free(s);
}

TEST(message_disarms_the_event_queue)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    for (unsigned i = 0; i < 5; i++) {
        one_event(s);
    }
    CHECK_EQ(s->a->f.irqs[1], 1);
    for (unsigned i = 0; i < 5; i++) {
        CHECK(eq_poll(s->a, &s->a->eq[1], NULL, NULL));
    }
    CHECK(!eq_poll(s->a, &s->a->eq[1], NULL, NULL));
    fixture_free(s);
}

TEST(arming_with_unseen_entries_raises_at_once_and_stays_disarmed)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    one_event(s);
    one_event(s);
    CHECK(eq_poll(s->a, &s->a->eq[1], NULL, NULL));
    ceq_arm(s->a, 1);
    CHECK_EQ(s->a->f.irqs[1], 2);
    one_event(s);
    CHECK_EQ(s->a->f.irqs[1], 2);
    fixture_free(s);
}

TEST(arming_with_nothing_new_is_silent)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    for (unsigned i = 0; i < 100; i++) {
        ceq_arm(s->a, 1);
        ceq_arm(s->a, 0);
        aeq_arm(s->a);
    }
    CHECK_EQ(s->a->f.irqs_total, 0);
    one_event(s);
    CHECK(eq_poll(s->a, &s->a->eq[1], NULL, NULL));
    ceq_arm(s->a, 1);
    CHECK_EQ(s->a->f.irqs[1], 1);
    one_event(s);
    CHECK_EQ(s->a->f.irqs[1], 2);
    fixture_free(s);
}

TEST(doorbell_without_arm_only_moves_the_index)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    one_event(s);
    one_event(s);
    card_write64(s->a, ERDMA_REG_EQ_DB(1), 1);
    CHECK_EQ(s->a->f.irqs[1], 1);
    one_event(s);
    CHECK_EQ(s->a->f.irqs[1], 1);
    fixture_free(s);
}

static void run_events(unsigned depth_log, unsigned count)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    uint64_t w;

    CHECK_EQ(eq_create(s->a, 5, depth_log), 0);
    cq_init(&s->acq, s->a, 64, 5);
    qp_init(&s->aqp, s->a, &s->acq, QUEUE_KERNEL);
    qp_init(&s->bqp, s->a, &s->bcq, QUEUE_KERNEL);
    qp_connect(&s->aqp, &s->bqp);
    for (unsigned i = 0; i < count; i++) {
        one_event(s);
        CHECK_EQ(s->a->f.irqs[5], i + 1);
        CHECK(eq_poll(s->a, &s->a->eq[5], &w, NULL));
        CHECK_EQ(ERDMA_GET(ERDMA_CEQE_CQN, w), s->acq.cqn);
        CHECK_EQ(ERDMA_GET(ERDMA_CEQE_PI, w), (i + 1) & 0xffffff);
        ceq_arm(s->a, 5);
    }
    fixture_free(s);
}

TEST(owner_bit_of_events_flips_on_every_pass)
{
    run_events(4, 100);
}

TEST(consumer_index_of_events_wraps_at_16_bits)
{
    run_events(8, 70000);
}

TEST(deepest_event_queue_wraps)
{
    run_events(15, 70000);
}

/* ---- overflow (7.5) ---- */

#define MANY 40

TEST(events_wait_for_room_and_none_is_lost)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    Cq cq[MANY];
    Qp qp[MANY], peer[MANY];
    Wr wr = { .opcode = ERDMA_OP_WRITE };
    bool seen[MANY] = { false };
    uint64_t w;
    unsigned got = 0;

    CHECK_EQ(eq_create(s->a, 3, 3), 0);
    for (unsigned i = 0; i < MANY; i++) {
        cq_init(&cq[i], s->a, 64, 3);
        qp_init(&qp[i], s->a, &cq[i], QUEUE_KERNEL);
        qp_init(&peer[i], s->a, &s->bcq, QUEUE_KERNEL);
        qp_connect(&qp[i], &peer[i]);
        cq_arm(&cq[i], false);
        qp_send(&qp[i], &wr);
    }
    for (unsigned turn = 0; turn < MANY && got < MANY; turn++) {
        while (eq_poll(s->a, &s->a->eq[3], &w, NULL)) {
            unsigned n = ERDMA_GET(ERDMA_CEQE_CQN, w) - cq[0].cqn;

            CHECK(n < MANY && !seen[n]);
            seen[n] = true;
            got++;
        }
        ceq_arm(s->a, 3);
    }
    CHECK_EQ(got, MANY);
    CHECK(s->a->f.irqs[3] >= 2);
    fixture_free(s);
}

TEST(full_event_queue_never_overwrites_an_unseen_entry)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    CHECK_EQ(eq_create(s->a, 3, 2), 0);
    cq_init(&s->acq, s->a, 64, 3);
    qp_init(&s->aqp, s->a, &s->acq, QUEUE_KERNEL);
    qp_init(&s->bqp, s->a, &s->bcq, QUEUE_KERNEL);
    qp_connect(&s->aqp, &s->bqp);
    for (unsigned i = 0; i < 12; i++) {
        one_event(s);
    }
    for (unsigned i = 0; i < 4; i++) {
        CHECK(eq_poll(s->a, &s->a->eq[3], NULL, NULL));
    }
    CHECK(!eq_poll(s->a, &s->a->eq[3], NULL, NULL));
    /* the one event that had to wait comes with the doorbell */
    ceq_arm(s->a, 3);
    CHECK(eq_poll(s->a, &s->a->eq[3], NULL, NULL));
    CHECK(!eq_poll(s->a, &s->a->eq[3], NULL, NULL));
    fixture_free(s);
}

TEST(destroyed_cq_takes_its_waiting_event_along)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    Cq cq;

    CHECK_EQ(eq_create(s->a, 3, 0), 0);
    cq_init(&cq, s->a, 64, 3);
    for (unsigned i = 0; i < 3; i++) {
        cq.ci = 7;              /* PI is 0: each arm is an event */
        cq_arm(&cq, false);
    }
    CHECK_EQ(cq_destroy(&cq), 0);
    CHECK(eq_poll(s->a, &s->a->eq[3], NULL, NULL));
    ceq_arm(s->a, 3);
    CHECK(!eq_poll(s->a, &s->a->eq[3], NULL, NULL));
    fixture_free(s);
}

TEST(consumer_index_outside_the_ring_is_ignored)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    one_event(s);
    card_write64(s->a, ERDMA_REG_EQ_DB(1), 2 | ERDMA_EQ_DB_ARM);
    card_write64(s->a, ERDMA_REG_EQ_DB(1), 0x8000 | ERDMA_EQ_DB_ARM);
    CHECK_EQ(s->a->f.irqs[1], 1);
    CHECK_EQ(counters(s->a).guest_errors, 2);
    CHECK(eq_poll(s->a, &s->a->eq[1], NULL, NULL));
    ceq_arm(s->a, 1);
    one_event(s);
    CHECK_EQ(s->a->f.irqs[1], 2);
    fixture_free(s);
}

TEST(command_eq_and_aeq_share_vector_0_but_not_arming)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr bad = fixture_send(s, 0, 64);

    card_arm_cmd(s->a);
    CHECK_EQ(qp_modify(&s->aqp, 0), ERDMA_CMD_EINVAL);
    CHECK_EQ(s->a->f.irqs[0], 1);
    bad.sge[0].key = 0xdead00;
    qp_send(&s->aqp, &bad);
    CHECK_EQ(s->a->f.irqs[0], 2);       /* the AEQ was still armed */
    expect_aeqe(s->a, ERDMA_AE_QP_FATAL, s->aqp.qpn);
    fixture_free(s);
}

/* ---- commands ---- */

static unsigned create(Card *c, unsigned eqn, unsigned vector, unsigned depth,
                       unsigned type, uint64_t addr)
{
    struct erdma_cmd_create_eq req = {
        .addr = htole64(addr), .vector = vector, .eqn = eqn, .depth = depth,
        .type = type,
    };

    return CMD_COMMON(c, ERDMA_CMD_CREATE_EQ, req);
}

static void four_vectors(ErdmaConfig *cfg)
{
    cfg->vectors = 4;
}

TEST(create_eq_refuses_what_cannot_be)
{
    Hosts b;
    Card *c;

    hosts_init_cfg(&b, 1, 1, four_vectors);
    c = &b.card[0];
    card_start(c, 4);
    CHECK_EQ(create(c, 0, 0, 12, 1, RAM_BASE), 22);
    CHECK_EQ(create(c, 4, 4, 12, 1, RAM_BASE), 22);
    CHECK_EQ(create(c, 255, 1, 12, 1, RAM_BASE), 22);
    CHECK_EQ(create(c, 1, 200, 12, 1, RAM_BASE), 22);
    CHECK_EQ(create(c, 1, 1, 16, 1, RAM_BASE), 22);
    CHECK_EQ(create(c, 1, 1, 255, 1, RAM_BASE), 22);
    CHECK_EQ(create(c, 1, 1, 12, 0, RAM_BASE), 22);
    CHECK_EQ(create(c, 1, 1, 12, 1, RAM_BASE + 8), 22);
    CHECK_EQ(create(c, 3, 3, 12, 1, RAM_BASE), 0);
    CHECK_EQ(create(c, 3, 3, 12, 1, RAM_BASE), 17);
    hosts_free(&b);
}

static unsigned destroy(Card *c, unsigned eqn)
{
    struct erdma_cmd_destroy_eq req;

    memset(&req, 0xff, sizeof(req));
    req.eqn = eqn;
    req.vector = eqn;
    req.type = ERDMA_EQ_CEQ;
    return CMD_COMMON(c, ERDMA_CMD_DESTROY_EQ, req);
}

TEST(event_queue_in_use_is_not_destroyed)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    CHECK_EQ(destroy(s->a, 1), ERDMA_CMD_EBUSY);
    CHECK_EQ(qp_destroy(&s->aqp), 0);
    CHECK_EQ(cq_destroy(&s->acq), 0);
    CHECK_EQ(destroy(s->a, 1), 0);
    CHECK_EQ(destroy(s->a, 1), ERDMA_CMD_ENOENT);
    CHECK_EQ(destroy(s->a, 0), ERDMA_CMD_ENOENT);
    CHECK_EQ(destroy(s->a, 200), ERDMA_CMD_ENOENT);
    ceq_arm(s->a, 1);
    CHECK_EQ(eq_create(s->a, 1, 12), 0);
    fixture_free(s);
}

TEST(unreachable_event_queue_is_survived)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fake_hole(s->a->h, s->a->eq[1].addr, 65536);
    one_event(s);
    CHECK_EQ(s->a->f.irqs[1], 1);
    CHECK(counters(s->a).guest_errors);
    fixture_free(s);
}

TEST(doorbell_of_an_event_queue_that_is_not_there_is_dropped)
{
    Hosts b;

    hosts_init(&b, 1, 1);
    card_start(&b.card[0], 4);
    for (unsigned i = 1; i < 32; i++) {
        card_write64(&b.card[0], ERDMA_REG_EQ_DB(i), ERDMA_EQ_DB_ARM | 1);
    }
    CHECK_EQ(counters(&b.card[0]).doorbells_dropped, 31);
    CHECK_EQ(b.card[0].f.irqs_total, 0);
    hosts_free(&b);
}
