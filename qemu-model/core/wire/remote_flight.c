/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests in flight: records from a pool, each QP's share of it, and the time
 * that the peer has for the oldest.
 */
#include <stdlib.h>

#include "wire_int.h"

#define FLIGHT_SPARES   4096u   /* free records, for the next requests */

/* ---- the pool ---- */

/*
 * One is always allowed, so that no QP waits for another. Half of the pool is
 * for who comes first; beyond it each QP with requests in flight has the same
 * share, so that busy ones give way to others as their requests end.
 */
bool erdma_flight_room(const ErdmaRemote *r)
{
    const ErdmaFabric *f = r->qp->core->fabric;

    if (!r->qp->inflight) {
        return true;
    }
    return f->flights < ERDMA_LIMIT_FLIGHTS / 2 ||
           (f->flights < ERDMA_LIMIT_FLIGHTS &&
            r->qp->inflight < ERDMA_LIMIT_FLIGHTS / f->busy);
}

ErdmaFlight *erdma_flight_new(ErdmaFabric *f)
{
    ErdmaFlight *flight = f->spare;

    if (flight) {
        f->spare = flight->next;
        f->spares--;
    } else {
        flight = calloc(1, sizeof(*flight));
    }
    f->flights += flight != NULL;
    return flight;
}

void erdma_flight_free(ErdmaFabric *f, ErdmaFlight *flight)
{
    f->flights--;
    if (f->spares < FLIGHT_SPARES) {
        flight->next = f->spare;
        f->spare = flight;
        f->spares++;
    } else {
        free(flight);
    }
}

void erdma_flight_fabric_free(ErdmaFabric *f)
{
    while (f->spare) {
        ErdmaFlight *next = f->spare->next;

        free(f->spare);
        f->spare = next;
    }
}

/* ---- the list of a connection ---- */

void erdma_flight_progress(ErdmaRemote *r)
{
    ErdmaCore *c = r->qp->core;

    erdma_timer_cancel(&r->watch);
    if (r->oldest) {
        erdma_timer_arm(c, &c->watched, &r->watch,
                        c->ops->now(c->opaque) + c->cfg.hold_ns);
    }
}

void erdma_flight_add(ErdmaRemote *r, ErdmaFlight *flight)
{
    flight->next = NULL;
    r->qp->pulls += erdma_op_pulls(flight->opcode);
    r->qp->inflight++;
    r->tx_bytes += flight->size;
    r->tx_signaled += flight->ce;
    r->tx_seq++;
    if (r->oldest) {
        r->newest->next = flight;
        r->newest = flight;
    } else {
        r->oldest = r->newest = flight;
        r->qp->core->fabric->busy++;
        erdma_flight_progress(r);
    }
}

/* The oldest is in flight no more */
static void flight_remove(ErdmaRemote *r)
{
    ErdmaFabric *fabric = r->qp->core->fabric;
    ErdmaFlight *f = r->oldest;

    r->oldest = f->next;
    fabric->busy -= !r->oldest;
    erdma_flight_free(fabric, f);
}

void erdma_flight_drop(ErdmaRemote *r)
{
    while (r->oldest) {
        flight_remove(r);
    }
    erdma_timer_cancel(&r->watch);
}

void erdma_flight_end(ErdmaRemote *r, uint8_t syndrome)
{
    ErdmaQp *qp = r->qp;
    const ErdmaFlight *f = r->oldest;
    ErdmaEnd end = {
        .opcode = f->opcode, .wqebbs = f->wqebbs, .ce = f->ce,
        .length = f->length,
    };

    r->tx_bytes -= f->size;
    r->tx_signaled -= f->ce;
    r->tx_acked++;
    r->push_limit = 0;
    qp->inflight--;
    qp->pulls -= erdma_op_pulls(f->opcode);
    flight_remove(r);
    erdma_sq_finish(qp, &end, syndrome);
}

/* ---- the time of the oldest ---- */

/* The peer did not acknowledge it in the hold time */
static void flight_expired(ErdmaCore *c, ErdmaTimer *t)
{
    ErdmaRemote *r = ERDMA_ENTRY(t, ErdmaRemote, watch);
    ErdmaQp *qp = r->qp;

    c->n.retry_exceeded++;
    erdma_info(c, "QP %u: peer did not acknowledge, request %u given up",
               qp->qpn, qp->sq_ci);
    erdma_remote_get(r);
    erdma_flight_end(r, ERDMA_WC_RETRY_EXC);
    erdma_remote_put(r);
}

void erdma_remote_register(ErdmaCore *c)
{
    erdma_timer_queue_init(c, &c->watched, flight_expired);
}
