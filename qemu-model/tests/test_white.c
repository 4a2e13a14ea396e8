/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Claims that would take hours to reach from outside: the inside is set up. */
#include <stdlib.h>

#include "core_int.h"
#include "guest.h"

/* A ring of which the pass before this one left the slots from @pi on */
static void prime(FakeHost *h, uint64_t ring, uint32_t depth, uint32_t pi)
{
    for (uint32_t i = 0; i < depth; i++) {
        uint8_t *cqe = fake_ptr(h, ring + i * 32, 32);
        bool old = i >= (pi & (depth - 1));

        *cqe = erdma_ring_owner(pi, depth) != old ? 0x80 : 0;
    }
}

TEST(arm_of_a_cq_beyond_2_to_the_24_completions_compares_24_bits)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    ErdmaCq *cq = erdma_cq_get(s->a->core, s->acq.cqn);

    cq->pi = s->acq.ci = 0x5ffffff;
    prime(s->a->h, s->acq.addr, 1024, cq->pi);
    for (unsigned i = 0; i < 3; i++) {
        cq_arm(&s->acq, false);
        CHECK_EQ(s->a->f.irqs[1], i);
        qp_send(&s->aqp, &(Wr) { .opcode = ERDMA_OP_WRITE });
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        CHECK_EQ(s->a->f.irqs[1], i + 1);
        CHECK(eq_poll(s->a, &s->a->eq[1], NULL, NULL));
        ceq_arm(s->a, 1);
    }
    fixture_free(s);
}

TEST(completion_index_wraps_at_32_bits)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    ErdmaCq *cq = erdma_cq_get(s->a->core, s->acq.cqn);

    cq->pi = s->acq.ci = UINT32_MAX - 2;
    prime(s->a->h, s->acq.addr, 1024, cq->pi);
    for (unsigned i = 0; i < 6; i++) {
        qp_send(&s->aqp, &(Wr) { .opcode = ERDMA_OP_WRITE });
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    }
    fixture_free(s);
}

TEST(command_completion_index_wraps_at_32_bits)
{
    Hosts b;
    Card *c;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    card_start(c, 4);
    c->core->cmdq.cq_pi = c->cq_ci = UINT32_MAX - 2;
    prime(c->h, c->cq, c->depth, c->cq_ci);
    for (unsigned i = 0; i < 6; i++) {
        card_arm_cmd(c);
        CHECK_EQ(c->f.irqs[0], i);
        CHECK_EQ(card_cmd(c, 0, 0, NULL, 8, NULL, NULL), 0);
        CHECK_EQ(c->f.irqs[0], i + 1);
        CHECK(eq_poll(c, &c->eq[0], NULL, NULL));
        ceq_arm(c, 0);
    }
    hosts_free(&b);
}

TEST(queue_pair_needs_less_than_a_kilobyte)
{
    CHECK(sizeof(ErdmaQp) + sizeof(void *) <= 1024);
    CHECK(sizeof(ErdmaMr) <= 256);
    CHECK(sizeof(ErdmaCq) <= 256);
}

TEST(table_finds_what_was_put_and_nothing_else)
{
    ErdmaTable t;
    int x, y;
    uint32_t n;

    CHECK(erdma_table_init(&t, 1500));
    CHECK(erdma_table_put(&t, 0, &x));
    CHECK(erdma_table_put(&t, 1499, &y));
    CHECK(!erdma_table_put(&t, 1500, &x));
    CHECK(erdma_table_get(&t, 0) == &x);
    CHECK(erdma_table_get(&t, 1499) == &y);
    CHECK(!erdma_table_get(&t, 1));
    CHECK(!erdma_table_get(&t, 700));
    CHECK(!erdma_table_get(&t, 1500));
    CHECK(!erdma_table_get(&t, UINT32_MAX));
    n = 1;
    CHECK(erdma_table_next(&t, &n) == &y);
    CHECK_EQ(n, 1499);
    n = 1500;
    CHECK(!erdma_table_next(&t, &n));
    erdma_table_remove(&t, 1499);
    erdma_table_remove(&t, 1499);
    CHECK_EQ(t.count, 1);
    erdma_table_free(&t);
}
