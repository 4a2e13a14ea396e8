/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kicks, timers and the budget of an entry into the core: sched.h. */
#include "core_int.h"

/* ---- kicks ---- */

void erdma_kick_init(ErdmaKick *k, void (*run)(ErdmaCore *c))
{
    *k = (ErdmaKick) { .run = run };
}

static void sched_ask(ErdmaCore *c)
{
    if (!c->sched.asked) {
        c->sched.asked = true;
        c->ops->kick(c->opaque);
    }
}

void erdma_kick(ErdmaCore *c, ErdmaKick *k)
{
    if (!erdma_link_used(&k->link)) {
        erdma_list_add_tail(&c->sched.kicked, &k->link);
    }
    sched_ask(c);
}

void erdma_kick_cancel(ErdmaKick *k)
{
    erdma_list_del(&k->link);
}

/*
 * Who kicks itself again goes to the end, and who found no budget stays in
 * front: each has its turn sooner or later.
 */
void erdma_sched_run(ErdmaCore *c)
{
    ErdmaLink *head = &c->sched.kicked;
    unsigned turns = 0;

    c->sched.asked = false;
    for (const ErdmaLink *l = head->next; l != head; l = l->next) {
        turns++;
    }
    while (turns-- && erdma_list_first(head) &&
           erdma_sched_can_spend(c->fabric)) {
        ErdmaKick *k = ERDMA_ENTRY(head->next, ErdmaKick, link);

        erdma_list_del(&k->link);
        k->run(c);
    }
    if (erdma_list_first(head)) {
        sched_ask(c);
    }
}

/* ---- timers ---- */

void erdma_timer_queue_init(ErdmaCore *c, ErdmaTimerQueue *q,
                            void (*expire)(ErdmaCore *c, ErdmaTimer *t))
{
    erdma_list_init(&q->armed);
    q->expire = expire;
    erdma_list_add_tail(c->sched.queues.next, &q->link);
}

static ErdmaTimer *sched_timer_of(ErdmaLink *link)
{
    return ERDMA_ENTRY(link, ErdmaTimer, link);
}

ErdmaTimer *erdma_timer_first(const ErdmaTimerQueue *q)
{
    ErdmaLink *link = erdma_list_first(&q->armed);

    return link ? sched_timer_of(link) : NULL;
}

static void sched_set_timer(ErdmaCore *c, uint64_t deadline)
{
    c->sched.deadline = deadline;
    c->ops->set_timer(c->opaque, deadline);
}

void erdma_timer_arm(ErdmaCore *c, ErdmaTimerQueue *q, ErdmaTimer *t,
                     uint64_t deadline)
{
    ErdmaLink *at;

    erdma_timer_cancel(t);
    at = q->armed.prev;
    while (at != &q->armed && sched_timer_of(at)->deadline > deadline) {
        at = at->prev;
    }
    t->deadline = deadline;
    erdma_list_add_tail(at->next, &t->link);
    if (deadline != UINT64_MAX &&
        (!c->sched.deadline || c->sched.deadline > deadline)) {
        sched_set_timer(c, deadline);
    }
}

void erdma_sched_update_timer(ErdmaCore *c)
{
    ErdmaLink *head = &c->sched.queues;
    uint64_t first = UINT64_MAX;

    for (ErdmaLink *l = head->next; l != head; l = l->next) {
        const ErdmaTimer *t =
            erdma_timer_first(ERDMA_ENTRY(l, ErdmaTimerQueue, link));

        if (t && t->deadline < first) {
            first = t->deadline;
        }
    }
    first = first == UINT64_MAX ? 0 : first;
    if (first != c->sched.deadline) {
        sched_set_timer(c, first);
    }
}

static void sched_expire(ErdmaCore *c, ErdmaTimerQueue *q, uint64_t now)
{
    ErdmaTimer *t;

    for (unsigned i = 0; i < ERDMA_LIMIT_TIMEOUTS &&
         (t = erdma_timer_first(q)) && t->deadline <= now; i++) {
        if (!erdma_sched_spend(c->fabric, 1)) {
            break;
        }
        erdma_timer_cancel(t);
        q->expire(c, t);
    }
}

/* What is left is due again at once */
void erdma_sched_timer(ErdmaCore *c)
{
    uint64_t now = c->ops->now(c->opaque);
    ErdmaLink *head = &c->sched.queues;

    c->sched.deadline = 0;
    for (ErdmaLink *l = head->next; l != head; l = l->next) {
        sched_expire(c, ERDMA_ENTRY(l, ErdmaTimerQueue, link), now);
    }
    erdma_sched_update_timer(c);
}

/* ---- life ---- */

void erdma_sched_init(ErdmaCore *c)
{
    erdma_list_init(&c->sched.kicked);
    erdma_list_init(&c->sched.queues);
}
