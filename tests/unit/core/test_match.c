/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding the peer among many, some of which a guest made to be in the way. */
#include <stdio.h>
#include <stdlib.h>

#include "core_int.h"
#include "guest.h"

/* Queue pairs of card a that wait with equal 4-tuples */
typedef struct Crowd {
    Fixture *s;
    unsigned n;
    Qp *qp;
} Crowd;

static Crowd crowd_new(Fixture *s, unsigned n)
{
    Crowd c = { .s = s, .n = n, .qp = calloc(n, sizeof(Qp)) };

    for (unsigned i = 0; i < n; i++) {
        QpOpt o = {
            .kind = QUEUE_INLINE, .sq_depth = 64, .rq_depth = 64,
            .scq = &s->acq, .rcq = &s->acq,
        };

        qp_init_opt(&c.qp[i], s->a, &o);
    }
    return c;
}

static void crowd_free(Crowd *c)
{
    free(c->qp);
    fixture_free(c->s);
}

/* RTS with @cookie as the peer's */
static void crowd_wait(Crowd *c, unsigned i, uint32_t cookie)
{
    struct erdma_cmd_modify_qp req = qp_rts_cmd(&c->qp[i], &c->s->bqp, 999,
                                                true);

    req.cookie = htole32(cookie);
    CHECK_EQ(CMD_RDMA(c->s->a, ERDMA_CMD_MODIFY_QP, req), 0);
}

static unsigned longest_chain(const ErdmaFabric *f)
{
    unsigned longest = 0;

    for (unsigned i = 0; i < ERDMA_FABRIC_BUCKETS; i++) {
        const ErdmaLink *head = &f->waiting[i];
        unsigned n = 0;

        for (const ErdmaLink *l = head->next; l != head; l = l->next) {
            n++;
        }
        longest = n > longest ? n : longest;
    }
    return longest;
}

TEST_OWN_WIRES(waiting_queue_pairs_with_equal_addresses_are_spread)
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, NULL);
    Crowd c = crowd_new(s, 800);
    Wr wr = fixture_write(s, 0, 0, 64);

    for (unsigned i = 0; i < c.n; i++) {
        crowd_wait(&c, i, 0x1000 + 7 * i);
    }
    CHECK(longest_chain(s->hosts.fabric) < 12);
    /* and those who belong together find each other behind them */
    CHECK_EQ(qp_rts(&s->aqp, &s->bqp, 999, true), 0);
    CHECK_EQ(qp_rts(&s->bqp, &s->aqp, 999, false), 0);
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    crowd_free(&c);
}

/* The guest picks cookies so that all are in one bucket */
TEST_OWN_WIRES(search_for_the_peer_is_bounded_and_spends_the_budget)
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, NULL);
    Crowd c = crowd_new(s, 300);
    ErdmaFabric *f = s->hosts.fabric;

    for (unsigned i = 0; i < c.n; i++) {
        crowd_wait(&c, i, 0xffff ^ c.qp[i].qpn);
    }
    CHECK_EQ(longest_chain(f), c.n);
    /* one more: it looked at some, and each was a step */
    CHECK(ERDMA_LIMIT_ENTRY_STEPS - f->steps.left >= 64);
    CHECK(ERDMA_LIMIT_ENTRY_STEPS - f->steps.left < 100);
    crowd_free(&c);
}

TEST_OWN_WIRES(cookies_that_do_not_agree_are_reported_with_their_values)
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, NULL);
    struct erdma_cmd_modify_qp req = qp_rts_cmd(&s->aqp, &s->bqp, 999, true);
    char expected[64];

    CHECK_EQ(qp_rts(&s->bqp, &s->aqp, 999, false), 0);
    req.cookie ^= htole32(0x40);
    CHECK_EQ(CMD_RDMA(s->a, ERDMA_CMD_MODIFY_QP, req), 0);
    snprintf(expected, sizeof(expected), "0x%x, expected 0x%x",
             le32toh(req.cookie), s->bqp.cookie);
    CHECK(strstr(s->a->f.last_log, "cookies"));
    CHECK(strstr(s->a->f.last_log, expected));
    fixture_free(s);
}
