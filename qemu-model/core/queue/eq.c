/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event queues: command EQ, AEQ and CEQs (section 7). */
#include "core_int.h"

void erdma_eq_init(ErdmaEq *eq, uint64_t base, uint32_t depth, unsigned vector,
                   uint64_t dbrec)
{
    memset(eq, 0, sizeof(*eq));
    eq->base = base;
    eq->depth = depth;
    eq->vector = vector;
    eq->dbrec = dbrec;
    eq->armed = true;           /* born armed, 7.4 */
    eq->live = true;
    erdma_list_init(&eq->held);
}

void erdma_eq_stop(ErdmaEq *eq)
{
    if (eq->live) {
        ErdmaLink *link;

        while ((link = erdma_list_first(&eq->held))) {
            erdma_list_del(link);
        }
        eq->live = false;
    }
}

/* Is there room for one more? A stalled queue has none. */
static bool eq_is_full(ErdmaCore *c, const ErdmaEq *eq)
{
    if (erdma_fault_at(c, ERDMA_POINT_CEQ | ERDMA_POINT_AEQ) &&
        c->hooks->eq_stalled(c, eq)) {
        return true;
    }
    return erdma_ring_used16(eq->pi, eq->ci) >= eq->depth;
}

static void eq_write_entry(ErdmaCore *c, ErdmaEq *eq, uint64_t word0,
                           uint64_t word1, unsigned flags)
{
    bool owner = erdma_ring_owner(eq->pi, eq->depth);
    uint64_t entry[2] = {
        htole64(word0 & ~ERDMA_CEQE_OWNER), htole64(word1),
    };
    uint32_t slot = erdma_ring_slot(eq->pi, eq->depth);

    if (owner != !!(flags & ERDMA_ENTRY_WRONG_OWNER)) {
        entry[0] |= htole64(ERDMA_CEQE_OWNER);
    }
    if (!erdma_dma_publish(c, eq->base + (uint64_t)slot * ERDMA_EQE_SIZE,
                           entry, sizeof(entry), sizeof(entry[0]))) {
        erdma_guest_error(c, "event queue of vector %u: entry %u at 0x%llx is "
                          "not writable memory", eq->vector, slot,
                          (unsigned long long)eq->base +
                          slot * ERDMA_EQE_SIZE);
    }
    eq->pi++;
}

/* One message per arming (7.4) */
static void eq_notify(ErdmaCore *c, ErdmaEq *eq)
{
    if (eq->armed) {
        eq->armed = false;
        erdma_irq(c, eq->vector);
    }
}

bool erdma_eq_write(ErdmaCore *c, ErdmaEq *eq, uint64_t word0, uint64_t word1,
                    unsigned flags)
{
    if (!eq->live || eq_is_full(c, eq)) {
        return false;
    }
    eq_write_entry(c, eq, word0, word1, flags);
    eq_notify(c, eq);
    return true;
}

void erdma_eq_post(ErdmaCore *c, ErdmaEq *eq, ErdmaEvent *ev, uint64_t word0,
                   uint64_t word1)
{
    unsigned flags = 0;

    if (!eq->live || erdma_link_used(&ev->link)) {
        return;
    }
    if (erdma_fault_at(c, ERDMA_POINT_EVENTS) &&
        c->hooks->event(c, eq, &word0, word1, &flags)) {
        return;
    }
    if (!erdma_eq_write(c, eq, word0, word1, flags)) {
        eq->overflowed = true;
        ev->word0 = word0;
        ev->word1 = word1;
        erdma_list_add_tail(&eq->held, &ev->link);
    }
}

void erdma_event_cancel(ErdmaEvent *ev)
{
    erdma_list_del(&ev->link);
}

/* True: some were delivered */
static bool eq_release_held(ErdmaCore *c, ErdmaEq *eq)
{
    bool any = false;
    ErdmaLink *link;

    while ((link = erdma_list_first(&eq->held)) && !eq_is_full(c, eq)) {
        const ErdmaEvent *ev = ERDMA_ENTRY(link, ErdmaEvent, link);

        erdma_list_del(link);
        eq_write_entry(c, eq, ev->word0, ev->word1, 0);
        any = true;
    }
    return any;
}

void erdma_eq_release(ErdmaCore *c, ErdmaEq *eq)
{
    if (eq->live && eq_release_held(c, eq)) {
        eq_notify(c, eq);
    }
}

void erdma_eq_doorbell(ErdmaCore *c, ErdmaEq *eq, uint64_t value)
{
    uint16_t ci = ERDMA_GET(ERDMA_EQ_DB_CI, value) & ERDMA_EQ_CI_MASK;

    if (erdma_ring_used16(eq->pi, ci) > erdma_ring_used16(eq->pi, eq->ci)) {
        erdma_guest_error(c, "event queue of vector %u: consumer index %u "
                          "is not between %u and %u", eq->vector, ci, eq->ci,
                          eq->pi);
        return;
    }
    eq->ci = ci;
    eq_release_held(c, eq);
    if (erdma_fault_at(c, ERDMA_POINT_CEQ | ERDMA_POINT_AEQ |
                       ERDMA_POINT_CMDQ)) {
        c->hooks->eq_room(c);
    }
    if (value & ERDMA_EQ_DB_ARM) {
        eq->armed = true;
        if (eq->pi != eq->ci) {
            eq_notify(c, eq);
        }
    }
}

void erdma_aeq_post(ErdmaCore *c, ErdmaEvent *ev, enum erdma_ae_type type,
                    uint32_t object)
{
    const char *name = erdma_name_ae_type(type);

    erdma_info(c, "asynchronous event %s, object %u", name ? name : "?",
               object);
    c->n.aeqes++;
    erdma_eq_post(c, &c->aeq, ev,
                  ERDMA_PREP(ERDMA_AEQE_TYPE, type) | (uint64_t)object << 32,
                  0);
}
