/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a fault makes late: entries and interrupts that wait for their time; and
 * faults whose own time is over. A bounded number; what finds no room is not
 * late.
 */
#include "fault.h"

void erdma_delay_set_timer(ErdmaCore *c)
{
    ErdmaFaults *fs = c->faults;
    uint64_t next = UINT64_MAX;

    for (unsigned i = 0; i < fs->waiting; i++) {
        if (fs->delayed[i].deadline < next) {
            next = fs->delayed[i].deadline;
        }
    }
    for (unsigned i = 0; i < fs->count; i++) {
        uint64_t ends = fs->fault[i].ends;

        if (ends && ends < next) {
            next = ends;
        }
    }
    if (next == UINT64_MAX) {
        erdma_timer_cancel(&fs->next);
    } else {
        erdma_timer_arm(c, &fs->late, &fs->next, next);
    }
}

bool erdma_delay(ErdmaCore *c, const Delayed *d)
{
    ErdmaFaults *fs = c->faults;

    if (fs->waiting == ERDMA_LIMIT_DELAYED) {
        fs->crowded++;
        return false;
    }
    fs->delayed[fs->waiting++] = *d;
    erdma_fault_update(c);
    return true;
}

uint64_t erdma_delay_last(const ErdmaCore *c, unsigned kind, uint32_t number)
{
    const ErdmaFaults *fs = c->faults;
    uint64_t last = 0;

    for (unsigned i = 0; i < fs->waiting; i++) {
        const Delayed *d = &fs->delayed[i];

        if (d->kind == kind && d->number == number && d->deadline > last &&
            !(d->flags & ERDMA_ENTRY_OVERTAKE)) {
            last = d->deadline;
        }
    }
    return last;
}

bool erdma_delay_keeps_order(const ErdmaCore *c)
{
    for (unsigned i = 0; i < c->faults->waiting; i++) {
        if (c->faults->delayed[i].kind == LATER_CQE &&
            !(c->faults->delayed[i].flags & ERDMA_ENTRY_OVERTAKE)) {
            return true;
        }
    }
    return false;
}

static void delay_take_out(ErdmaFaults *fs, unsigned i)
{
    fs->waiting--;
    memmove(&fs->delayed[i], &fs->delayed[i + 1],
            (fs->waiting - i) * sizeof(fs->delayed[0]));
}

static void delay_deliver_event(ErdmaCore *c, Delayed *d, uint64_t now)
{
    ErdmaEq *eq = d->number == AEQ_NUMBER ? &c->aeq : &c->eq[d->number];

    if (eq->live && !erdma_eq_write(c, eq, d->word[0], d->word[1], 0)) {
        d->deadline = now + 1000000;    /* full: a little later still */
        erdma_delay(c, d);
    }
}

static void delay_deliver(ErdmaCore *c, Delayed *d, uint64_t now)
{
    ErdmaCq *cq;

    switch (d->kind) {
    case LATER_COMMAND:
        if (!(d->flags & ERDMA_ENTRY_OVERTAKE)) {
            c->faults->command_open = false;
        }
        erdma_cmdq_write(c, &d->cqe, d->flags);
        erdma_kick(c, &c->cmdq.kick);
        break;
    case LATER_CQE:
        cq = erdma_cq_get(c, d->number);
        if (cq) {
            erdma_cq_write(cq, &d->cqe, d->flags);
        }
        break;
    case LATER_EVENT:
        delay_deliver_event(c, d, now);
        break;
    case LATER_IRQ:
        erdma_irq_send(c, d->number);
        break;
    }
}

/* The one that is due first, of equals the oldest; false: none is due */
static bool delay_take_due(ErdmaFaults *fs, uint64_t now, Delayed *out)
{
    unsigned first = 0;

    for (unsigned i = 1; i < fs->waiting; i++) {
        if (fs->delayed[i].deadline < fs->delayed[first].deadline) {
            first = i;
        }
    }
    if (!fs->waiting || fs->delayed[first].deadline > now) {
        return false;
    }
    *out = fs->delayed[first];
    delay_take_out(fs, first);
    return true;
}

static void delay_end_faults(ErdmaCore *c, uint64_t now)
{
    ErdmaFaults *fs = c->faults;

    for (unsigned i = 0; i < fs->count; i++) {
        if (fs->fault[i].ends && fs->fault[i].ends <= now) {
            erdma_fault_expire(c, &fs->fault[i]);
        }
    }
}

static void delay_expire(ErdmaCore *c, ErdmaTimer *t)
{
    uint64_t now = c->ops->now(c->opaque);
    Delayed d;

    (void)t;
    for (unsigned i = 0; i < ERDMA_LIMIT_TIMEOUTS &&
         erdma_sched_spend(c->fabric, 1) && delay_take_due(c->faults, now, &d);
         i++) {
        delay_deliver(c, &d, now);
    }
    delay_end_faults(c, now);
    erdma_fault_update(c);
}

void erdma_delay_init(ErdmaCore *c)
{
    erdma_timer_queue_init(c, &c->faults->late, delay_expire);
}

void erdma_delay_forget(ErdmaCore *c)
{
    c->faults->waiting = 0;
    c->faults->command_open = false;
    erdma_kick_cancel(&c->faults->flood);
    erdma_fault_update(c);
}

void erdma_delay_forget_cq(ErdmaCq *cq)
{
    ErdmaFaults *fs = cq->core->faults;

    for (unsigned i = fs->waiting; i--;) {
        if (fs->delayed[i].kind == LATER_CQE &&
            fs->delayed[i].number == cq->cqn) {
            delay_take_out(fs, i);
        }
    }
}
