/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests in flight come from one pool: who gets how many. */
#include <stdlib.h>

#include "core_int.h"
#include "two_hosts.h"

#define BUSY    170u            /* times the window: nearly the whole pool */
#define LATE    30u

static Qp *share_qps(Card *c, Cq *cq, unsigned n)
{
    Qp *qp = calloc(n, sizeof(*qp));

    for (unsigned i = 0; i < n; i++) {
        QpOpt o = {
            .kind = QUEUE_INLINE, .sq_depth = 512, .rq_depth = 64, .scq = cq,
            .rcq = cq,
        };

        qp_init_opt(&qp[i], c, &o);
    }
    return qp;
}

static void share_post(Qp *qp, unsigned n)
{
    Wr wr = { .opcode = ERDMA_OP_WRITE, .unsignaled = true };

    while (n--) {
        qp_post(qp, &wr);
    }
    qp_ring(qp);
}

static unsigned share_inflight(const Qp *qp)
{
    return erdma_qp_get(qp->card->core, qp->qpn)->inflight;
}

/* Work is posted anew as fast as it ends */
static void share_refill(Qp *qp)
{
    const ErdmaQp *q = erdma_qp_get(qp->card->core, qp->qpn);

    while (erdma_ring_used16(qp->sq_pi, q->sq_ci) < 440) {
        share_post(qp, 1);
    }
}

/*
 * Queue pairs that always have work fill the pool; others come later. When each
 * of the busy ones had its requests acknowledged once, the late ones have more
 * than one in flight.
 */
TEST_OWN_WIRES(busy_queue_pairs_leave_a_share_of_the_pool_to_late_ones)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 65536, true, NULL);
    Qp *a = share_qps(s->a, &s->acq, BUSY + LATE);
    Qp *b = share_qps(s->b, &s->bcq, BUSY + LATE);
    unsigned i, k;

    for (i = 0; i < BUSY + LATE; i++) {
        qp_connect(&a[i], &b[i]);
    }
    hosts_run(&s->hosts);
    s->hosts.slow = true;
    for (i = 0; i < BUSY; i++) {
        share_post(&a[i], WIRE_WINDOW + 20);
    }
    hosts_run(&s->hosts);
    CHECK_EQ(share_inflight(&a[BUSY - 1]), WIRE_WINDOW);
    for (; i < BUSY + LATE; i++) {
        share_post(&a[i], 150);
    }
    hosts_run(&s->hosts);
    CHECK_EQ(share_inflight(&a[BUSY + LATE - 1]), 1);
    for (k = 0; k < 45; k++) {          /* each at most 1024 requests */
        wire_end_deliver(b_end(s));
        to_a(s);
        hosts_run(&s->hosts);
        for (i = 0; i < BUSY; i++) {
            share_refill(&a[i]);
        }
    }
    for (i = BUSY; i < BUSY + LATE; i++) {
        CHECK(share_inflight(&a[i]) > 20);
    }
    CHECK(s->hosts.more[0]->flights <= ERDMA_LIMIT_FLIGHTS);
    settle(s);
    CHECK_EQ(counters(s->a).cqes_error, 0);
    free(a);
    free(b);
    fixture_free(s);
}
