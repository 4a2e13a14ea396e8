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

static bool full(const ErdmaEq *eq)
{
    return erdma_ring_used16(eq->pi, eq->ci) >= eq->depth;
}

static void write_entry(ErdmaCore *c, ErdmaEq *eq, const ErdmaEvent *ev)
{
    uint64_t entry[2] = { htole64(ev->word0), htole64(ev->word1) };
    uint32_t slot = erdma_ring_slot(eq->pi, eq->depth);

    if (erdma_ring_owner(eq->pi, eq->depth)) {
        entry[0] |= htole64(ERDMA_CEQE_OWNER);
    }
    if (!erdma_dma_publish(c, eq->base + (uint64_t)slot * ERDMA_EQE_SIZE,
                           entry, sizeof(entry), sizeof(entry[0]))) {
        erdma_guest_error(c, "event queue of vector %u cannot be written",
                          eq->vector);
    }
    eq->pi++;
}

/* One message per arming (7.4) */
static void notify(ErdmaCore *c, ErdmaEq *eq)
{
    if (eq->armed) {
        eq->armed = false;
        erdma_irq(c, eq->vector);
    }
}

void erdma_eq_post(ErdmaCore *c, ErdmaEq *eq, ErdmaEvent *ev, uint64_t word0,
                   uint64_t word1)
{
    if (!eq->live || erdma_link_used(&ev->link)) {
        return;
    }
    ev->word0 = word0;
    ev->word1 = word1;
    if (full(eq)) {
        eq->overflowed = true;
        erdma_list_add_tail(&eq->held, &ev->link);
        return;
    }
    write_entry(c, eq, ev);
    notify(c, eq);
}

void erdma_event_cancel(ErdmaEvent *ev)
{
    erdma_list_del(&ev->link);
}

void erdma_eq_doorbell(ErdmaCore *c, ErdmaEq *eq, uint64_t value)
{
    uint16_t ci = ERDMA_GET(ERDMA_EQ_DB_CI, value) & ERDMA_EQ_CI_MASK;
    ErdmaLink *link;

    if (erdma_ring_used16(eq->pi, ci) > erdma_ring_used16(eq->pi, eq->ci)) {
        erdma_guest_error(c, "event queue of vector %u: consumer index %u "
                          "is not between %u and %u", eq->vector, ci, eq->ci,
                          eq->pi);
        return;
    }
    eq->ci = ci;
    while (!full(eq) && (link = erdma_list_first(&eq->held))) {
        erdma_list_del(link);
        write_entry(c, eq, ERDMA_ENTRY(link, ErdmaEvent, link));
    }
    if (value & ERDMA_EQ_DB_ARM) {
        eq->armed = true;
        if (eq->pi != eq->ci) {
            notify(c, eq);
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
