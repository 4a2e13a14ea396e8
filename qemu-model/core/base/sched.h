/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who works when. Owners register what they want to be called for, a kick or a
 * queue of timers; the scheduler does not know who they are.
 *
 * All work of one entry into the core (a register write, erdma_core_run(),
 * erdma_core_timer(), input of a wire) shares one budget of steps. Whoever loops
 * over something that a guest or a peer made long spends a step for each turn
 * and, when none is left, kicks itself and returns.
 *
 * No locks: all calls come from one thread at a time (erdma_core.h).
 */
#ifndef ERDMA_SCHED_H
#define ERDMA_SCHED_H

#include "list.h"

/* ---- the budget of an entry, shared by all cards of the fabric ---- */

typedef struct ErdmaSteps {
    uint32_t left;              /* of ERDMA_LIMIT_ENTRY_STEPS */
} ErdmaSteps;

/* ---- kicks: work for a fresh stack ---- */

typedef struct ErdmaKick {
    ErdmaLink link;             /* ErdmaSched.kicked */
    void (*run)(ErdmaCore *c);
} ErdmaKick;

/* To be called once, before anything else is done with @k */
void erdma_kick_init(ErdmaKick *k, void (*run)(ErdmaCore *c));
/* Have @k->run called once by a later erdma_core_run(); may be repeated */
void erdma_kick(ErdmaCore *c, ErdmaKick *k);
/* Take that back */
void erdma_kick_cancel(ErdmaKick *k);

/* ---- timers ---- */

/* Embedded in the object that waits; linked while it is armed */
typedef struct ErdmaTimer {
    ErdmaLink link;             /* ErdmaTimerQueue.armed */
    uint64_t deadline;          /* ns of ErdmaOps.now(); UINT64_MAX: never */
} ErdmaTimer;

/*
 * Timers of one kind, the earliest first. Arming looks for the place from the
 * end, so a queue is for timers that are mostly armed in the order of their
 * deadlines.
 */
typedef struct ErdmaTimerQueue {
    ErdmaLink link;             /* ErdmaSched.queues */
    ErdmaLink armed;            /* ErdmaTimer.link */
    void (*expire)(ErdmaCore *c, ErdmaTimer *t);    /* @t is disarmed */
} ErdmaTimerQueue;

/* Register @q for the life of the card; the last registered expires first */
void erdma_timer_queue_init(ErdmaCore *c, ErdmaTimerQueue *q,
                            void (*expire)(ErdmaCore *c, ErdmaTimer *t));
/* Arm @t, or arm it anew */
void erdma_timer_arm(ErdmaCore *c, ErdmaTimerQueue *q, ErdmaTimer *t,
                     uint64_t deadline);
/*
 * Disarm @t if it is armed. The timer of the surroundings is not set back: one
 * call that finds nothing due costs less than setting it for each message.
 */
static inline void erdma_timer_cancel(ErdmaTimer *t)
{
    erdma_list_del(&t->link);
}

static inline bool erdma_timer_armed(const ErdmaTimer *t)
{
    return erdma_link_used(&t->link);
}

/* Earliest of @q; NULL: none is armed */
ErdmaTimer *erdma_timer_first(const ErdmaTimerQueue *q);

/* ---- the scheduler of a card ---- */

typedef struct ErdmaSched {
    ErdmaLink kicked;           /* ErdmaKick.link, in order of their turns */
    ErdmaLink queues;           /* ErdmaTimerQueue.link */
    bool asked;                 /* ops->kick() was called and no run started */
    uint64_t deadline;          /* last given to ops->set_timer(); 0: none */
} ErdmaSched;

/* Once, at creation of the card, before all else of this header */
void erdma_sched_init(ErdmaCore *c);
/* Give each that was kicked its turn, as far as the budget of steps goes */
void erdma_sched_run(ErdmaCore *c);
/* Call those whose time has come, a bounded number */
void erdma_sched_timer(ErdmaCore *c);
/* Set the timer of the surroundings to the earliest deadline, or to never */
void erdma_sched_update_timer(ErdmaCore *c);

#endif /* ERDMA_SCHED_H */
