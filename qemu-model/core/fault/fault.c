/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults: things that go wrong on purpose, one per line of text
 * (fault_parse.c). Each place where one can strike asks first whether any fault
 * is about that place (erdma_fault_at()); only then is a fault looked for.
 *
 * Chance is a generator of its own per fault, with a seed: the same test sees
 * the same accidents. What they do to the card is in fault_strike.c, what they
 * add in fault_flood.c; what comes later waits in fault_delay.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fault.h"
#include "show.h"

/* ---- life ---- */

static bool fault_spent(const Fault *f)
{
    return f->over || (fault_has(f, KEY_COUNT) && f->action != ACT_FLOOD &&
                       f->hits >= f->v[KEY_COUNT]);
}

void erdma_fault_update(ErdmaCore *c)
{
    const uint32_t meter = c->points & ERDMA_POINT_METER;

    c->points = meter;
    for (unsigned i = 0; i < c->faults->count; i++) {
        const Fault *f = &c->faults->fault[i];

        if (!fault_spent(f) && !(f->action == ACT_FLOOD && !f->left)) {
            c->points |= f->points;
        }
    }
    if (erdma_delay_keeps_order(c)) {
        c->points |= ERDMA_POINT_CQE;
    }
    if (c->faults->command_open) {
        c->points |= ERDMA_POINT_CMDQ;
    }
    if (erdma_core_silent(c)) {
        c->points |= ERDMA_POINT_SILENT;
    }
    erdma_delay_set_timer(c);
}

/* Something was in the way and is not any more: let all go on that it held */
static void fault_resume(ErdmaCore *c)
{
    ErdmaQp *qp;
    uint32_t i;

    erdma_shaper_release_all(c);
    if (!c->ready) {
        return;
    }
    for (i = 0; i < ERDMA_MAX_VECTORS; i++) {
        erdma_eq_release(c, &c->eq[i]);
    }
    erdma_eq_release(c, &c->aeq);
    for (i = 0; (qp = erdma_table_next(&c->qps, &i)); i++) {
        if (qp->state == ERDMA_QPS_RTS) {
            erdma_qp_wake(qp);
            if (qp->transport) {
                qp->transport->recv_posted(qp);
            }
        }
    }
    erdma_kick(c, &c->cmdq.kick);
    erdma_kick(c, &c->faults->flood);
}

static void fault_drop(ErdmaCore *c, unsigned i)
{
    ErdmaFaults *fs = c->faults;

    erdma_info(c, "fault %u is over after %llu hits: %s", fs->fault[i].id,
               (unsigned long long)fs->fault[i].hits, fs->fault[i].line);
    fs->count--;
    memmove(&fs->fault[i], &fs->fault[i + 1],
            (fs->count - i) * sizeof(fs->fault[0]));
}

static void fault_changed(ErdmaCore *c)
{
    c->hooks_epoch++;
    erdma_fault_update(c);
    fault_resume(c);
}

void erdma_fault_expire(ErdmaCore *c, Fault *f)
{
    erdma_info(c, "fault %u ends after %llu hits: %s", f->id,
               (unsigned long long)f->hits, f->line);
    f->ends = 0;
    f->over = true;
    fault_changed(c);
}

static void fault_start_flood(ErdmaCore *c, Fault *f)
{
    f->left = fault_has(f, KEY_COUNT) ? f->v[KEY_COUNT] : 4096;
    erdma_kick(c, &c->faults->flood);
}

static void fault_pull_out(ErdmaCore *c, Fault *f)
{
    f->hits++;
    c->gone = true;
    c->power->off(c);
    if (c->ops->unplug) {
        c->ops->unplug(c->opaque);
    }
}

static bool fault_have_set(ErdmaCore *c)
{
    if (!c->faults) {
        c->faults = calloc(1, sizeof(*c->faults));
        if (c->faults) {
            c->faults->next_id = 1;
            erdma_kick_init(&c->faults->flood, erdma_flood_run);
            erdma_delay_init(c);
            c->hooks = &erdma_fault_hooks;
        }
    }
    return c->faults != NULL;
}

bool erdma_core_fault_add(ErdmaCore *c, const char *line, uint32_t *id,
                          char *why, size_t len)
{
    Fault new = { 0 }, *f;

    if (!erdma_fault_parse(line, &new, why, len)) {
        return false;
    }
    if (!fault_have_set(c)) {
        snprintf(why, len, "not enough memory");
        return false;
    }
    if (c->faults->count == ERDMA_LIMIT_FAULTS) {
        snprintf(why, len, "there are %u faults already; clear one first",
                 ERDMA_LIMIT_FAULTS);
        return false;
    }
    f = &c->faults->fault[c->faults->count++];
    *f = new;
    f->id = *id = c->faults->next_id++;
    c->hooks_epoch++;
    /* a generator that starts at 0 stays there */
    f->random = (fault_has(f, KEY_SEED) ? f->v[KEY_SEED] : 1) *
                0x9e3779b97f4a7c15ull ^ 0xd1b54a32d192ed03ull;
    f->random = f->random ? f->random : 1;
    if (f->action == ACT_STALL || f->action == ACT_CUT ||
        f->action == ACT_ONES) {
        uint64_t ns = erdma_fault_time(f);

        f->ends = ns ? c->ops->now(c->opaque) + ns : 0;
    }
    erdma_info(c, "fault %u: %s", f->id, f->line);
    if (f->action == ACT_FLOOD) {
        fault_start_flood(c, f);
    } else if (f->action == ACT_REMOVE) {
        fault_pull_out(c, f);
    }
    erdma_fault_update(c);
    return true;
}

static bool fault_read_id(const char *which, uint32_t *id)
{
    uint64_t v = 0;

    if (!*which) {
        return false;
    }
    for (; *which; which++) {
        if (*which < '0' || *which > '9' || v > UINT32_MAX) {
            return false;
        }
        v = v * 10 + (*which - '0');
    }
    *id = v;
    return v <= UINT32_MAX;
}

bool erdma_core_fault_clear(ErdmaCore *c, const char *which, char *why,
                            size_t len)
{
    bool all = !strcmp(which, "all");
    uint32_t id = 0;

    if (!all && !fault_read_id(which, &id)) {
        snprintf(why, len, "'%.40s' is neither the number of a fault nor "
                 "\"all\"", which);
        return false;
    }
    for (unsigned i = c->faults ? c->faults->count : 0; i--;) {
        if (!all && c->faults->fault[i].id != id) {
            continue;
        }
        if (c->faults->fault[i].points & ERDMA_POINT_RESET) {
            c->faults->silent_until = 0;
        }
        if (c->faults->fault[i].action == ACT_REMOVE) {
            c->gone = false;            /* plugged in again, just powered */
            c->power->on(c);
        }
        fault_drop(c, i);
        if (!all) {
            fault_changed(c);
            return true;
        }
    }
    if (all && c->faults) {
        fault_changed(c);
    }
    if (!all) {
        snprintf(why, len, "there is no fault %u", id);
    }
    return all;
}

bool erdma_core_silent(const ErdmaCore *c)
{
    uint64_t until = c->faults ? c->faults->silent_until : 0;

    return c->gone || (until && c->ops->now(c->opaque) < until);
}

void erdma_fault_free(ErdmaCore *c)
{
    free(c->faults);
    c->faults = NULL;
    c->points = 0;
}

/* ---- choosing ---- */

uint64_t erdma_fault_random(Fault *f)
{
    f->random ^= f->random >> 12;
    f->random ^= f->random << 25;
    f->random ^= f->random >> 27;
    return f->random * 0x2545f4914f6cdd1dull;
}

uint64_t erdma_fault_time(const Fault *f)
{
    return fault_has(f, KEY_MS) ? f->v[KEY_MS] * 1000000 :
           fault_has(f, KEY_US) ? f->v[KEY_US] * 1000 : 0;
}

/* A selector that the thing does not have leaves it alone */
static bool fault_is_about(const Fault *f, uint32_t point, const FaultTarget *t)
{
    uint32_t select = f->given & KEYS_WHICH;

    if (!(f->points & point) || f->action == ACT_FLOOD || f->over) {
        return false;
    }
    if (!select) {
        return true;
    }
    if (!t || (select & ~t->has)) {
        return false;
    }
    for (unsigned key = 0; key <= KEY_OFFSET; key++) {
        if ((select & (1u << key)) && f->v[key] != t->v[key]) {
            return false;
        }
    }
    return true;
}

static bool fault_strikes(Fault *f)
{
    f->seen++;
    if (fault_spent(f) || f->seen <= f->v[KEY_AFTER]) {
        return false;
    }
    return !fault_has(f, KEY_PROB) ||
           erdma_fault_random(f) >> 32 < f->v[KEY_PROB];
}

static void fault_count_hit(ErdmaCore *c, Fault *f)
{
    f->hits++;
    c->n.faults++;
    erdma_info(c, "fault %u strikes, hit %llu: %s", f->id,
               (unsigned long long)f->hits, f->line);
    if (fault_spent(f)) {
        erdma_fault_update(c);
    }
}

Fault *erdma_fault_find(ErdmaCore *c, uint32_t point, const FaultTarget *t)
{
    for (unsigned i = 0; i < c->faults->count; i++) {
        Fault *f = &c->faults->fault[i];

        if (fault_is_about(f, point, t)) {
            return f;
        }
    }
    return NULL;
}

Fault *erdma_fault_hit(ErdmaCore *c, uint32_t point, const FaultTarget *t)
{
    for (unsigned i = 0; i < c->faults->count; i++) {
        Fault *f = &c->faults->fault[i];

        if (fault_is_about(f, point, t) && fault_strikes(f)) {
            fault_count_hit(c, f);
            return f;
        }
    }
    return NULL;
}

/* ---- looking ---- */

void erdma_show_faults(const Show *s)
{
    const ErdmaFaults *fs = s->core->faults;

    show_list(s, NULL);
    for (unsigned i = 0; fs && i < fs->count; i++) {
        const Fault *f = &fs->fault[i];

        show_begin(s, NULL);
        show_number(s, "id", f->id);
        show_text(s, "line", f->line);
        show_number(s, "seen", f->seen);
        show_number(s, "hits", f->hits);
        show_flag(s, "spent",
                  f->action == ACT_FLOOD ? !f->left : fault_spent(f));
        show_end(s);
    }
    show_list_end(s);
}
