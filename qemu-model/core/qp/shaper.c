/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands between a request and the network: meters, and the faults that
 * make a network slow, lossy or silent. None of it is entered while no limit
 * and no such fault is set.
 *
 * A QP that has to wait is parked: it is on a list by time, and is executed by
 * nobody until then. Its request stays the active one and remembers what it has
 * behind it, so nothing is waited for or drawn twice.
 */
#include "core_int.h"

/* What ErdmaShaper.passed remembers */
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

/* ---- parking ---- */

static ErdmaPass shaper_park(ErdmaQp *qp, uint64_t until)
{
    erdma_timer_arm(qp->core, &qp->core->parked, &qp->shaper.timer, until);
    return ERDMA_PASS_PARK;
}

static ErdmaPass shaper_park_for(ErdmaQp *qp, uint64_t ns)
{
    return shaper_park(qp, qp->core->ops->now(qp->core->opaque) + ns);
}

/* The time of a parked QP has come: it asks again, and may be parked anew */
static void shaper_release(ErdmaCore *c, ErdmaTimer *t)
{
    ErdmaQp *qp = ERDMA_ENTRY(t, ErdmaQp, shaper.timer);

    (void)c;
    qp->shaper.late_pi = qp->shaper.late_next;
    erdma_qp_schedule(qp);
}

void erdma_shaper_release_all(ErdmaCore *c)
{
    ErdmaTimer *t;

    while ((t = erdma_timer_first(&c->parked))) {
        erdma_timer_cancel(t);
        shaper_release(c, t);
    }
}

/* ---- faults ---- */

static bool shaper_passes_delay(ErdmaQp *qp, ErdmaPass *pass)
{
    uint64_t ns;

    qp->shaper.passed |= PASSED_DELAY;
    if (!qp->core->hooks->delays(qp, &ns)) {
        return true;
    }
    *pass = shaper_park_for(qp, ns);
    return false;
}

/*
 * All that was rung by now may go a while from now: the way is long, but it is
 * not narrow.
 */
static bool shaper_passes_latency(ErdmaQp *qp, ErdmaPass *pass)
{
    ErdmaShaper *s = &qp->shaper;
    uint16_t ahead = s->late_pi - qp->sq_next;
    uint64_t ns;

    if ((s->late_epoch == qp->core->hooks_epoch && ahead &&
         ahead <= qp->sq.depth) || !qp->core->hooks->latency(qp, &ns)) {
        s->passed |= PASSED_LATENCY;
        return true;
    }
    s->late_next = qp->sq_pi;
    s->late_epoch = qp->core->hooks_epoch;
    *pass = shaper_park_for(qp, ns);
    return false;
}

/* What was lost is sent again after a while, at most as SET_RETRANS_NUM says */
static bool shaper_passes_loss(ErdmaQp *qp, ErdmaPass *pass)
{
    ErdmaCore *c = qp->core;
    ErdmaShaper *s = &qp->shaper;
    uint64_t ns;

    s->lost = c->hooks->loses(qp, s->attempts ? s->lost :
                              erdma_packets(c, qp->req.length), &ns);
    if (!s->lost) {
        s->passed |= PASSED_LOSS;
        return true;
    }
    c->n.tx_lost += s->lost;
    s->timeouts++;
    if (s->attempts == c->retrans) {
        c->n.retry_exceeded++;
        erdma_info(c, "QP %u: lost %u times, request %u given up", qp->qpn,
                   s->attempts + 1u, qp->sq_next);
        *pass = ERDMA_PASS_LOST;
        return false;
    }
    s->attempts++;
    *pass = shaper_park_for(qp, ns ? ns : RETRANSMIT_NS);
    return false;
}

/* ---- meters ---- */

/* 0: go now. Else the time at which there is room. */
static uint64_t shaper_meter_wait(uint64_t at, uint64_t rate, uint64_t now)
{
    return rate && at > now + BURST_NS ? at - BURST_NS : 0;
}

static void shaper_meter_take(uint64_t *at, uint64_t rate, uint64_t now,
                       uint64_t amount)
{
    if (rate) {
        unsigned __int128 ns = (unsigned __int128)amount * 1000000000u / rate;
        uint64_t most = ERDMA_LIMIT_HOLD_NS;

        *at = (*at > now ? *at : now) + (ns < most ? (uint64_t)ns : most);
    }
}

static uint64_t shaper_later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool shaper_passes_meters(ErdmaQp *qp, ErdmaPass *pass)
{
    ErdmaCore *c = qp->core;
    const ErdmaLimits *l = &c->limit;
    uint64_t now = c->ops->now(c->opaque);
    uint64_t bytes = shaper_later(
        shaper_meter_wait(c->bytes_at, l->bytes, now),
        shaper_meter_wait(qp->shaper.bytes_at, l->qp_bytes, now));
    uint64_t messages = shaper_later(
        shaper_meter_wait(c->messages_at, l->messages, now),
        shaper_meter_wait(qp->shaper.messages_at, l->qp_messages, now));

    if (bytes || messages) {
        if (bytes >= messages) {
            c->n.metered_bytes++;
        } else {
            c->n.metered_messages++;
        }
        *pass = shaper_park(qp, shaper_later(bytes, messages));
        return false;
    }
    shaper_meter_take(&c->bytes_at, l->bytes, now, qp->req.length);
    shaper_meter_take(&qp->shaper.bytes_at, l->qp_bytes, now, qp->req.length);
    shaper_meter_take(&c->messages_at, l->messages, now, 1);
    shaper_meter_take(&qp->shaper.messages_at, l->qp_messages, now, 1);
    qp->shaper.passed |= PASSED_METERS;
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
    erdma_shaper_release_all(c);
}

/* ---- the shaper ---- */

ErdmaPass erdma_shaper_admit(ErdmaQp *qp)
{
    const ErdmaHooks *hooks = qp->core->hooks;
    uint32_t points = qp->core->points;
    uint8_t passed = qp->shaper.passed;
    ErdmaPass pass = ERDMA_PASS;

    if (points & ERDMA_POINT_SQ && hooks->sq_stalled(qp)) {
        return shaper_park(qp, UINT64_MAX);
    }
    if (points & ERDMA_POINT_NETWORK && hooks->cuts(qp)) {
        return ERDMA_PASS_HOLD;
    }
    if (points & ERDMA_POINT_MESSAGE && !(passed & PASSED_DELAY) &&
        !shaper_passes_delay(qp, &pass)) {
        return pass;
    }
    if (points & ERDMA_POINT_LATENCY && !(passed & PASSED_LATENCY) &&
        !shaper_passes_latency(qp, &pass)) {
        return pass;
    }
    if (points & ERDMA_POINT_LOSS && !(passed & PASSED_LOSS) &&
        !shaper_passes_loss(qp, &pass)) {
        return pass;
    }
    if (points & ERDMA_POINT_METER && !(passed & PASSED_METERS) &&
        !shaper_passes_meters(qp, &pass)) {
        return pass;
    }
    return pass;
}

void erdma_shaper_register(ErdmaCore *c)
{
    erdma_timer_queue_init(c, &c->parked, shaper_release);
}
