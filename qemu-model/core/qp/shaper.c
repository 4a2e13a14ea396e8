/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands between a request and the network: meters, and the faults that
 * make a network slow, lossy or silent. None of it is entered while no limit and
 * no such fault is set.
 *
 * A QP that has to wait is parked: it is on a list by time, and is executed by
 * nobody until then. Its request stays the active one and remembers what it has
 * behind it, so nothing is waited for or drawn twice.
 */
#include "fault.h"

/* What ErdmaGate.passed remembers */
enum {
    PASSED_DELAY = 1,
    PASSED_LATENCY = 2,
    PASSED_LOSS = 4,
    PASSED_METERS = 8,
};

/* A meter lets this much time's worth through at once */
#define BURST_NS    1000000ull

/* How long a sender waits for an acknowledgement before it sends again */
#define RETRANSMIT_NS   1000000ull

static FaultTarget by_qpn(const ErdmaQp *qp)
{
    FaultTarget t = { .has = 1u << KEY_QPN };

    t.v[KEY_QPN] = qp->qpn;
    return t;
}

/* ---- parking ---- */

static ErdmaQp *parked_qp(ErdmaLink *link)
{
    return ERDMA_ENTRY(link, ErdmaQp, gate.link);
}

/* Mostly the latest of all: look for the place from the end */
static ErdmaPass park(ErdmaQp *qp, uint64_t until)
{
    ErdmaLink *head = &qp->core->parked, *at = head->prev;

    qp->gate.until = until;
    while (at != head && parked_qp(at)->gate.until > until) {
        at = at->prev;
    }
    erdma_list_add_tail(at->next, &qp->gate.link);
    erdma_core_update_timer(qp->core);
    return ERDMA_PASS_PARK;
}

static ErdmaPass park_for(ErdmaQp *qp, uint64_t ns)
{
    return park(qp, qp->core->ops->now(qp->core->opaque) + ns);
}

void erdma_gate_unpark(ErdmaQp *qp)
{
    if (erdma_link_used(&qp->gate.link)) {
        erdma_list_del(&qp->gate.link);
        qp->gate.late_pi = qp->gate.late_next;
        erdma_qp_schedule(qp);
    }
}

/* Each asks again whether it may, and is parked anew if not */
void erdma_gate_unpark_all(ErdmaCore *c)
{
    ErdmaLink *link;

    while ((link = erdma_list_first(&c->parked))) {
        erdma_gate_unpark(parked_qp(link));
    }
    erdma_core_update_timer(c);
}

void erdma_gate_timer(ErdmaCore *c, uint64_t now)
{
    ErdmaLink *link;

    for (unsigned i = 0; i < ERDMA_LIMIT_TIMEOUTS &&
         (link = erdma_list_first(&c->parked)); i++) {
        if (parked_qp(link)->gate.until > now) {
            break;
        }
        erdma_gate_unpark(parked_qp(link));
    }
}

/* ---- faults ---- */

static bool passes_delay(ErdmaQp *qp, ErdmaPass *pass)
{
    FaultTarget t = by_qpn(qp);
    Fault *f;

    qp->gate.passed |= PASSED_DELAY;
    f = erdma_fault_hit(qp->core, ERDMA_POINT_MESSAGE, &t);
    if (!f) {
        return true;
    }
    *pass = park_for(qp, erdma_fault_time(f));
    return false;
}

/*
 * All that was rung by now may go a while from now: the way is long, but it is
 * not narrow.
 */
static bool passes_latency(ErdmaQp *qp, ErdmaPass *pass)
{
    ErdmaGate *g = &qp->gate;
    FaultTarget t = by_qpn(qp);
    uint16_t ahead = g->late_pi - qp->sq_next;
    Fault *f;

    if (g->late_epoch == qp->core->faults->epoch && ahead &&
        ahead <= qp->sq.depth) {
        g->passed |= PASSED_LATENCY;
        return true;
    }
    f = erdma_fault_hit(qp->core, ERDMA_POINT_LATENCY, &t);
    if (!f) {
        g->passed |= PASSED_LATENCY;
        return true;
    }
    g->late_next = qp->sq_pi;
    g->late_epoch = qp->core->faults->epoch;
    *pass = park_for(qp, erdma_fault_time(f));
    return false;
}

/* How many of @n packets are lost: each drawn, or if many, as many as expected */
static uint64_t draw_lost(Fault *f, uint64_t n)
{
    uint64_t lost = 0;

    if (n > 64) {
        unsigned __int128 sum = (unsigned __int128)n * f->v[KEY_PROB];

        lost = sum >> 32;
        return lost + (erdma_fault_random(f) >> 32 < (uint32_t)sum);
    }
    while (n--) {
        lost += erdma_fault_random(f) >> 32 < f->v[KEY_PROB];
    }
    return lost;
}

/* What was lost is sent again after a while, as often as SET_RETRANS_NUM says */
static bool passes_loss(ErdmaQp *qp, ErdmaPass *pass)
{
    ErdmaCore *c = qp->core;
    ErdmaGate *g = &qp->gate;
    FaultTarget t = by_qpn(qp);
    Fault *f = erdma_fault_find(c, ERDMA_POINT_LOSS, &t);
    uint64_t ns;

    g->lost = !f ? 0 : draw_lost(f, g->attempts ? g->lost :
                                 erdma_packets(c, qp->req.length));
    if (!g->lost) {
        g->passed |= PASSED_LOSS;
        return true;
    }
    f->hits++;
    c->n.faults++;
    c->n.tx_lost += g->lost;
    g->timeouts++;
    if (g->attempts == c->retrans) {
        c->n.retry_exceeded++;
        erdma_info(c, "QP %u: lost %u times, request %u given up", qp->qpn,
                   g->attempts + 1u, qp->sq_next);
        *pass = ERDMA_PASS_LOST;
        return false;
    }
    g->attempts++;
    ns = erdma_fault_time(f);
    *pass = park_for(qp, ns ? ns : RETRANSMIT_NS);
    return false;
}

/* ---- meters ---- */

/* 0: go now. Else the time at which there is room. */
static uint64_t meter_wait(uint64_t at, uint64_t rate, uint64_t now)
{
    return rate && at > now + BURST_NS ? at - BURST_NS : 0;
}

static void meter_take(uint64_t *at, uint64_t rate, uint64_t now,
                       uint64_t amount)
{
    if (rate) {
        unsigned __int128 ns = (unsigned __int128)amount * 1000000000u / rate;
        uint64_t most = ERDMA_LIMIT_HOLD_NS;

        *at = (*at > now ? *at : now) + (ns < most ? (uint64_t)ns : most);
    }
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool passes_meters(ErdmaQp *qp, ErdmaPass *pass)
{
    ErdmaCore *c = qp->core;
    const ErdmaLimits *l = &c->limit;
    uint64_t now = c->ops->now(c->opaque);
    uint64_t bytes = later_of(
        meter_wait(c->bytes_at, l->bytes, now),
        meter_wait(qp->gate.bytes_at, l->qp_bytes, now));
    uint64_t messages = later_of(
        meter_wait(c->messages_at, l->messages, now),
        meter_wait(qp->gate.messages_at, l->qp_messages, now));

    if (bytes || messages) {
        if (bytes >= messages) {
            c->n.metered_bytes++;
        } else {
            c->n.metered_messages++;
        }
        *pass = park(qp, later_of(bytes, messages));
        return false;
    }
    meter_take(&c->bytes_at, l->bytes, now, qp->req.length);
    meter_take(&qp->gate.bytes_at, l->qp_bytes, now, qp->req.length);
    meter_take(&c->messages_at, l->messages, now, 1);
    meter_take(&qp->gate.messages_at, l->qp_messages, now, 1);
    qp->gate.passed |= PASSED_METERS;
    return true;
}

void erdma_core_set_limits(ErdmaCore *c, const ErdmaLimits *limits)
{
    c->limit = *limits;
    c->points &= ~ERDMA_POINT_METER;
    if (limits->bytes || limits->messages || limits->qp_bytes ||
        limits->qp_messages) {
        c->points |= ERDMA_POINT_METER;
    }
    c->bytes_at = c->messages_at = 0;
    erdma_gate_unpark_all(c);
}

void erdma_core_limits(const ErdmaCore *c, ErdmaLimits *out)
{
    *out = c->limit;
}

/* ---- the gate ---- */

static bool stalled(ErdmaQp *qp)
{
    FaultTarget t = by_qpn(qp);
    Fault *f = erdma_fault_find(qp->core, ERDMA_POINT_SQ, &t);

    if (f) {
        f->hits++;
    }
    return f != NULL;
}

ErdmaPass erdma_gate(ErdmaQp *qp)
{
    ErdmaCore *c = qp->core;
    ErdmaPass pass = ERDMA_PASS;

    if (erdma_fault_at(c, ERDMA_POINT_SQ) && stalled(qp)) {
        return park(qp, UINT64_MAX);
    }
    if (erdma_fault_at(c, ERDMA_POINT_NETWORK) && erdma_fault_cuts(qp)) {
        return ERDMA_PASS_HOLD;
    }
    if (erdma_fault_at(c, ERDMA_POINT_MESSAGE) &&
        !(qp->gate.passed & PASSED_DELAY) && !passes_delay(qp, &pass)) {
        return pass;
    }
    if (erdma_fault_at(c, ERDMA_POINT_LATENCY) &&
        !(qp->gate.passed & PASSED_LATENCY) && !passes_latency(qp, &pass)) {
        return pass;
    }
    if (erdma_fault_at(c, ERDMA_POINT_LOSS) &&
        !(qp->gate.passed & PASSED_LOSS) && !passes_loss(qp, &pass)) {
        return pass;
    }
    if (erdma_fault_at(c, ERDMA_POINT_METER) &&
        !(qp->gate.passed & PASSED_METERS) && !passes_meters(qp, &pass)) {
        return pass;
    }
    return pass;
}

bool erdma_fault_again(const ErdmaQp *qp)
{
    FaultTarget t = by_qpn(qp);

    return erdma_fault_hit(qp->core, ERDMA_POINT_TWICE, &t);
}
