/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults: things that go wrong on purpose, one per line of text
 * (fault_parse.c). Each place where one can strike asks first whether any fault
 * is about that place (erdma_fault_at()); only then is this file entered.
 *
 * Chance is a generator of its own per fault, with a seed: the same test sees
 * the same accidents. What comes later waits in fault_delay.c; what stands
 * between a QP and the network is in gate.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fault.h"
#include "show.h"

/* ---- life ---- */

static bool spent(const Fault *f)
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

        if (!spent(f) && !(f->action == ACT_FLOOD && !f->left)) {
            c->points |= f->points;
        }
    }
    if (erdma_delay_keeps_order(c)) {
        c->points |= ERDMA_POINT_CQE;
    }
}

/* Something was in the way and is not any more: let all go on that it held */
static void set_going(ErdmaCore *c)
{
    ErdmaQp *qp;
    uint32_t i;

    erdma_gate_unpark_all(c);
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
    erdma_core_kick(c);
}

static void drop_fault(ErdmaCore *c, unsigned i)
{
    ErdmaFaults *fs = c->faults;

    erdma_info(c, "fault %u is over after %llu hits: %s", fs->fault[i].id,
               (unsigned long long)fs->fault[i].hits, fs->fault[i].line);
    fs->count--;
    memmove(&fs->fault[i], &fs->fault[i + 1],
            (fs->count - i) * sizeof(fs->fault[0]));
}

static void changed(ErdmaCore *c)
{
    c->faults->epoch++;
    erdma_fault_update(c);
    set_going(c);
    erdma_core_update_timer(c);
}

void erdma_fault_expire(ErdmaCore *c, Fault *f)
{
    erdma_info(c, "fault %u ends after %llu hits: %s", f->id,
               (unsigned long long)f->hits, f->line);
    f->ends = 0;
    f->over = true;
    changed(c);
}

static void start_flood(ErdmaCore *c, Fault *f)
{
    f->left = fault_has(f, KEY_COUNT) ? f->v[KEY_COUNT] : 4096;
    erdma_core_kick(c);
}

static void pull_out(ErdmaCore *c, Fault *f)
{
    f->hits++;
    c->gone = true;
    erdma_core_quiesce(c);
    if (c->ops->unplug) {
        c->ops->unplug(c->opaque);
    }
}

static bool have_faults(ErdmaCore *c)
{
    if (!c->faults) {
        c->faults = calloc(1, sizeof(*c->faults));
        if (c->faults) {
            c->faults->next_id = 1;
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
    if (!have_faults(c)) {
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
    c->faults->epoch++;
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
        start_flood(c, f);
    } else if (f->action == ACT_REMOVE) {
        pull_out(c, f);
    }
    erdma_fault_update(c);
    erdma_core_update_timer(c);
    return true;
}

static bool read_id(const char *which, uint32_t *id)
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

    if (!all && !read_id(which, &id)) {
        snprintf(why, len, "'%.40s' is neither the number of a fault nor "
                 "\"all\"", which);
        return false;
    }
    for (unsigned i = c->faults ? c->faults->count : 0; i--;) {
        if (!all && c->faults->fault[i].id != id) {
            continue;
        }
        if (c->faults->fault[i].action == ACT_REMOVE) {
            c->gone = false;            /* back in its slot, just powered */
            erdma_core_reset(c);
        }
        drop_fault(c, i);
        if (!all) {
            changed(c);
            return true;
        }
    }
    if (all && c->faults) {
        changed(c);
    }
    if (!all) {
        snprintf(why, len, "there is no fault %u", id);
    }
    return all;
}

bool erdma_core_removed(const ErdmaCore *c)
{
    return c->gone;
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
static bool is_about(const Fault *f, uint32_t point, const FaultTarget *t)
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

static bool strikes(Fault *f)
{
    f->seen++;
    if (spent(f) || f->seen <= f->v[KEY_AFTER]) {
        return false;
    }
    return !fault_has(f, KEY_PROB) ||
           erdma_fault_random(f) >> 32 < f->v[KEY_PROB];
}

static void count_hit(ErdmaCore *c, Fault *f)
{
    f->hits++;
    c->n.faults++;
    erdma_info(c, "fault %u strikes, hit %llu: %s", f->id,
               (unsigned long long)f->hits, f->line);
    if (spent(f)) {
        erdma_fault_update(c);
    }
}

Fault *erdma_fault_find(ErdmaCore *c, uint32_t point, const FaultTarget *t)
{
    for (unsigned i = 0; i < c->faults->count; i++) {
        Fault *f = &c->faults->fault[i];

        if (is_about(f, point, t)) {
            return f;
        }
    }
    return NULL;
}

Fault *erdma_fault_hit(ErdmaCore *c, uint32_t point, const FaultTarget *t)
{
    for (unsigned i = 0; i < c->faults->count; i++) {
        Fault *f = &c->faults->fault[i];

        if (is_about(f, point, t) && strikes(f)) {
            count_hit(c, f);
            return f;
        }
    }
    return NULL;
}

static void select_by(FaultTarget *t, FaultKey key, uint32_t value)
{
    t->has |= 1u << key;
    t->v[key] = value;
}

/* ---- changing an entry ---- */

/* The value a field gets: the one given, or any */
static uint64_t wanted(Fault *f, FaultKey key)
{
    return f->v[key] == UINT64_MAX ? erdma_fault_random(f) : f->v[key];
}

static uint32_t put_byte(uint32_t word, unsigned shift, uint64_t value)
{
    return (word & ~(0xffu << shift)) | (uint32_t)(value & 0xff) << shift;
}

/* No field was named: one bit anywhere but the owner bit, which is bit 31 */
static void flip_bit(Fault *f, uint32_t *words, unsigned n, unsigned owner)
{
    unsigned bit = erdma_fault_random(f) % (n * 32 - 1);

    if (bit >= owner) {
        bit++;
    }
    words[bit / 32] ^= 1u << bit % 32;
}

static void corrupt_cqe(Fault *f, struct erdma_cqe *cqe, unsigned *flags)
{
    uint32_t hdr = be32toh(cqe->hdr);

    if (!(f->given & KEYS_FIELD)) {
        uint32_t words[sizeof(*cqe) / 4];

        memcpy(words, cqe, sizeof(words));
        words[0] = be32toh(words[0]);
        flip_bit(f, words, sizeof(*cqe) / 4, 31);
        words[0] = htobe32(words[0]);
        memcpy(cqe, words, sizeof(words));
        return;
    }
    if (fault_has(f, KEY_OWNER)) {
        *flags |= ERDMA_ENTRY_WRONG_OWNER;
    }
    if (fault_has(f, KEY_STATUS)) {
        hdr = put_byte(hdr, 0, wanted(f, KEY_STATUS));
    }
    if (fault_has(f, KEY_SYNDROME)) {
        hdr = put_byte(hdr, 0, wanted(f, KEY_SYNDROME));
    }
    if (fault_has(f, KEY_KIND)) {
        hdr = put_byte(hdr, 8, wanted(f, KEY_KIND));
    }
    if (fault_has(f, KEY_TYPE)) {
        hdr = put_byte(hdr, 16, wanted(f, KEY_TYPE));
    }
    cqe->hdr = htobe32(hdr);
    if (fault_has(f, KEY_INDEX)) {
        cqe->qe_idx = htobe32(wanted(f, KEY_INDEX));
    }
    if (fault_has(f, KEY_NUMBER)) {
        cqe->qpn = htobe32(wanted(f, KEY_NUMBER));
    }
    if (fault_has(f, KEY_SIZE)) {
        cqe->size = htobe32(wanted(f, KEY_SIZE));
    }
    if (fault_has(f, KEY_IMM)) {
        cqe->imm = htobe32(wanted(f, KEY_IMM));
    }
    for (unsigned i = 0; i < 2; i++) {
        if (fault_has(f, KEY_RESP0 + i)) {
            uint64_t v = wanted(f, KEY_RESP0 + i);

            cqe->resp[2 * i] = htobe32(v);
            cqe->resp[2 * i + 1] = htobe32(v >> 32);
        }
    }
}

static void corrupt_event(Fault *f, bool aeqe, uint64_t *word0,
                          unsigned *flags)
{
    if (!(f->given & KEYS_FIELD)) {
        uint32_t words[2] = { *word0, *word0 >> 32 };

        flip_bit(f, words, 2, 31);
        *word0 = words[0] | (uint64_t)words[1] << 32;
    }
    if (fault_has(f, KEY_OWNER)) {
        *flags |= ERDMA_ENTRY_WRONG_OWNER;
    }
    if (fault_has(f, KEY_NUMBER)) {
        uint64_t v = wanted(f, KEY_NUMBER);

        *word0 = aeqe ? (uint32_t)*word0 | v << 32 :
                 (*word0 & ~ERDMA_CEQE_CQN) | ERDMA_PREP(ERDMA_CEQE_CQN, v);
    }
    if (fault_has(f, KEY_INDEX)) {
        *word0 = (*word0 & ~ERDMA_CEQE_PI) |
                 ERDMA_PREP(ERDMA_CEQE_PI, wanted(f, KEY_INDEX));
    }
    if (fault_has(f, KEY_TYPE)) {
        *word0 = (*word0 & ~(uint64_t)ERDMA_AEQE_TYPE) |
                 ERDMA_PREP(ERDMA_AEQE_TYPE, wanted(f, KEY_TYPE) & 0xff);
    }
}

/* ---- places ---- */

static uint64_t later(ErdmaCore *c, const Fault *f)
{
    return c->ops->now(c->opaque) + erdma_fault_time(f);
}

bool erdma_fault_command(ErdmaCore *c, const ErdmaCmd *cmd,
                         struct erdma_cqe *cqe, unsigned *flags)
{
    FaultTarget t = { 0 };
    Delayed d = { .kind = LATER_COMMAND };
    Fault *f;

    select_by(&t, KEY_OPCODE, cmd->submod << 8 | cmd->opcode);
    f = erdma_fault_hit(c, ERDMA_POINT_COMMAND, &t);
    if (!f) {
        return false;
    }
    switch (f->action) {
    case ACT_DROP:
        return true;
    case ACT_DUPLICATE:
        erdma_cmdq_write(c, cqe, 0);
        return false;
    case ACT_DELAY:
        d.deadline = later(c, f);
        d.flags = fault_has(f, KEY_OVERTAKE) ? ERDMA_ENTRY_OVERTAKE : 0;
        d.cqe = *cqe;
        if (!erdma_delay(c, &d)) {
            return false;
        }
        c->faults->command_open |= !fault_has(f, KEY_OVERTAKE);
        return true;
    default:
        corrupt_cqe(f, cqe, flags);
        return false;
    }
}

void erdma_fault_magic(ErdmaCore *c, const ErdmaCmd *cmd,
                       struct erdma_resp_hdr *hdr)
{
    FaultTarget t = { 0 };
    Fault *f;

    select_by(&t, KEY_OPCODE, cmd->submod << 8 | cmd->opcode);
    f = erdma_fault_hit(c, ERDMA_POINT_MAGIC, &t);
    if (f) {
        uint16_t magic = f->v[KEY_MAGIC];

        if (f->v[KEY_MAGIC] == UINT64_MAX) {
            magic = (uint16_t)~ERDMA_RESP_MAGIC;
        }
        hdr->magic = htole16(magic);
    }
}

bool erdma_fault_cqe(ErdmaCq *cq, struct erdma_cqe *cqe, unsigned *flags)
{
    ErdmaCore *c = cq->core;
    uint64_t behind = erdma_delay_last(c, LATER_CQE, cq->cqn);
    FaultTarget t = { 0 };
    Delayed d = { .kind = LATER_CQE, .number = cq->cqn, .flags = *flags };
    Fault *f;

    select_by(&t, KEY_CQN, cq->cqn);
    select_by(&t, KEY_QPN, be32toh(cqe->qpn));
    select_by(&t, KEY_OPCODE, ERDMA_GET(ERDMA_CQE_OPCODE, be32toh(cqe->hdr)));
    f = erdma_fault_hit(c, ERDMA_POINT_CQE, &t);
    if (f && f->action == ACT_DROP) {
        return true;
    }
    if (f && f->action == ACT_CORRUPT) {
        corrupt_cqe(f, cqe, flags);
        d.flags = *flags;
    }
    d.cqe = *cqe;
    if (f && f->action == ACT_DELAY) {
        d.deadline = later(c, f);
        d.deadline = d.deadline > behind ? d.deadline : behind;
        d.flags |= fault_has(f, KEY_OVERTAKE) ? ERDMA_ENTRY_OVERTAKE : 0;
        return erdma_delay(c, &d);
    }
    if (behind) {                       /* completions keep their order */
        d.deadline = behind;
        return erdma_delay(c, &d);
    }
    if (f && f->action == ACT_DUPLICATE) {
        erdma_cq_write(cq, cqe, *flags);
    }
    return false;
}

static uint32_t event_point(const ErdmaCore *c, const ErdmaEq *eq)
{
    return eq == &c->aeq ? ERDMA_POINT_AEQE :
           eq == &c->eq[0] ? ERDMA_POINT_CMDEQE : ERDMA_POINT_CEQE;
}

static void event_target(const ErdmaCore *c, const ErdmaEq *eq, uint64_t word0,
                         FaultTarget *t)
{
    if (eq == &c->aeq) {
        bool cq = ERDMA_GET(ERDMA_AEQE_TYPE, word0) == ERDMA_AE_CQ_ERR;

        select_by(t, cq ? KEY_CQN : KEY_QPN, word0 >> 32);
    } else {
        select_by(t, KEY_EQN, eq - c->eq);
        select_by(t, KEY_CQN, ERDMA_GET(ERDMA_CEQE_CQN, word0));
    }
}

bool erdma_fault_event(ErdmaCore *c, ErdmaEq *eq, uint64_t *word0,
                       uint64_t word1, unsigned *flags)
{
    Delayed d = {
        .kind = LATER_EVENT,
        .number = eq == &c->aeq ? AEQ_NUMBER : eq - c->eq,
        .word = { *word0, word1 },
    };
    FaultTarget t = { 0 };
    Fault *f;

    event_target(c, eq, *word0, &t);
    f = erdma_fault_hit(c, event_point(c, eq), &t);
    if (!f) {
        return false;
    }
    switch (f->action) {
    case ACT_DROP:
        return true;
    case ACT_DUPLICATE:
        erdma_eq_write(c, eq, *word0, word1, 0);
        return false;
    case ACT_DELAY:
        d.deadline = later(c, f);
        return erdma_delay(c, &d);
    default:
        corrupt_event(f, eq == &c->aeq, word0, flags);
        return false;
    }
}

bool erdma_fault_irq(ErdmaCore *c, unsigned vector)
{
    Delayed d = { .kind = LATER_IRQ, .number = vector };
    FaultTarget t = { 0 };
    Fault *f;

    select_by(&t, KEY_VECTOR, vector);
    f = erdma_fault_hit(c, ERDMA_POINT_IRQ, &t);
    if (!f) {
        return false;
    }
    switch (f->action) {
    case ACT_DROP:
        return true;
    case ACT_DELAY:
        d.deadline = later(c, f);
        return erdma_delay(c, &d);
    default:
        d.deadline = c->ops->now(c->opaque);    /* two messages, not one */
        erdma_delay(c, &d);
        return false;
    }
}

/* Asked for each piece in which a message is moved */
ErdmaFate erdma_fault_payload(const ErdmaQp *qp)
{
    FaultTarget t = { 0 };
    Fault *f;

    select_by(&t, KEY_QPN, qp->qpn);
    f = erdma_fault_hit(qp->core, ERDMA_POINT_PAYLOAD, &t);
    if (!f) {
        return ERDMA_FATE_GOOD;
    }
    qp->core->faults->spoil = erdma_fault_random(f);
    return f->action == ACT_DROP ? ERDMA_FATE_LOST : ERDMA_FATE_SPOILT;
}

/* One bit of it */
void erdma_fault_spoil(const ErdmaQp *qp, uint8_t *dst, uint64_t n)
{
    uint64_t random = qp->core->faults->spoil;

    dst[(random >> 3) % n] ^= 1u << random % 8;
}

/* ---- what stands still ---- */

static bool stalls(ErdmaCore *c, uint32_t point, const FaultTarget *t)
{
    Fault *f = erdma_fault_find(c, point, t);

    if (f) {
        f->hits++;
    }
    return f != NULL;
}

bool erdma_fault_stalls_eq(ErdmaCore *c, const ErdmaEq *eq)
{
    FaultTarget t = { 0 };

    if (eq == &c->aeq) {
        return stalls(c, ERDMA_POINT_AEQ, &t);
    }
    select_by(&t, KEY_EQN, eq - c->eq);
    return eq != &c->eq[0] && stalls(c, ERDMA_POINT_CEQ, &t);
}

bool erdma_fault_stalls_cmdq(ErdmaCore *c)
{
    return c->faults && (c->faults->command_open ||
                         (erdma_fault_at(c, ERDMA_POINT_CMDQ) &&
                          stalls(c, ERDMA_POINT_CMDQ, NULL)));
}

bool erdma_fault_stalls_rq(const ErdmaQp *qp)
{
    FaultTarget t = { 0 };

    select_by(&t, KEY_QPN, qp->qpn);
    return stalls(qp->core, ERDMA_POINT_RQ, &t);
}

bool erdma_fault_cuts(const ErdmaQp *qp)
{
    FaultTarget t = { 0 };

    select_by(&t, KEY_QPN, qp->qpn);
    return stalls(qp->core, ERDMA_POINT_NETWORK, &t);
}

/* ---- registers ---- */

static uint64_t cut_to(uint64_t value, unsigned size)
{
    return size >= 8 ? value : value & ((1ull << size * 8) - 1);
}

bool erdma_fault_register(ErdmaCore *c, uint64_t offset, unsigned size,
                          uint64_t *value)
{
    FaultTarget t = { 0 };
    Fault *f;

    if (c->gone) {
        *value = cut_to(UINT64_MAX, size);
        return true;
    }
    select_by(&t, KEY_OFFSET, offset);
    f = erdma_fault_hit(c, ERDMA_POINT_REGISTER, &t);
    if (!f) {
        return false;
    }
    *value = f->action == ACT_ONES ? UINT64_MAX :
             fault_has(f, KEY_VALUE) ? f->v[KEY_VALUE] :
             erdma_fault_random(f);
    *value = cut_to(*value, size);
    return true;
}

bool erdma_fault_deaf(ErdmaCore *c)
{
    const Fault *f;

    if (c->gone) {
        return true;
    }
    f = erdma_fault_find(c, ERDMA_POINT_REGISTER, NULL);
    return f && f->action == ACT_ONES;
}

/* ---- floods ---- */

static uint32_t named(const Fault *f, FaultKey key, uint32_t otherwise)
{
    return fault_has(f, key) ? f->v[key] : otherwise;
}

/* An object that nobody has: numbers end below */
#define NOBODY  0xfffffu

static bool flood_cq(ErdmaCore *c, Fault *f)
{
    ErdmaCq *cq = erdma_cq_get(c, f->v[KEY_CQN]);
    struct erdma_cqe cqe = { 0 };

    if (!cq || cq->broken) {
        return false;
    }
    cqe.hdr = htobe32(ERDMA_PREP(ERDMA_CQE_OPCODE, ERDMA_OP_SEND));
    cqe.qe_idx = htobe32(erdma_fault_random(f));
    cqe.qpn = htobe32(named(f, KEY_QPN, NOBODY));
    erdma_cq_write(cq, &cqe, 0);
    return true;
}

/* One more of it; false: no room, or nothing there to be flooded */
static bool flood_one(ErdmaCore *c, Fault *f)
{
    switch (f->points) {
    case ERDMA_POINT_CMDQ:
        return erdma_eq_write(c, &c->eq[0],
                              ERDMA_PREP(ERDMA_CEQE_PI,
                                         (uint64_t)c->cmdq.cq_pi), 0, 0);
    case ERDMA_POINT_CEQ:
        return erdma_eq_write(c, &c->eq[named(f, KEY_EQN, 1)],
                              ERDMA_PREP(ERDMA_CEQE_CQN, (uint64_t)
                                         named(f, KEY_CQN, NOBODY)), 0, 0);
    case ERDMA_POINT_AEQ:
        return erdma_eq_write(c, &c->aeq,
                              ERDMA_PREP(ERDMA_AEQE_TYPE,
                                         named(f, KEY_TYPE, 0)) |
                              (uint64_t)named(f, KEY_QPN, NOBODY) << 32,
                              0, 0);
    case ERDMA_POINT_CQ:
        return flood_cq(c, f);
    default:
        erdma_irq_send(c, named(f, KEY_VECTOR, 0));
        return true;
    }
}

/*
 * True: there is more to do soon. Without room the doorbell that makes room
 * asks for the next turn. Interrupts merge if they come together, so one a turn.
 */
static bool flood(ErdmaCore *c, Fault *f)
{
    unsigned budget = f->points == ERDMA_POINT_IRQ ? 1 : ERDMA_LIMIT_FLOOD;

    while (f->left && budget && flood_one(c, f)) {
        f->left--;
        f->hits++;
        c->n.faults++;
        budget--;
    }
    return f->left && !budget;
}

void erdma_fault_run(ErdmaCore *c)
{
    bool more = false;

    if (!c->ready) {
        return;
    }
    for (unsigned i = 0; i < c->faults->count; i++) {
        Fault *f = &c->faults->fault[i];

        if (f->action == ACT_FLOOD && f->left) {
            more |= flood(c, f);
            if (!f->left) {
                erdma_fault_update(c);
            }
        }
    }
    if (more) {
        erdma_core_kick(c);
    }
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
        show_flag(s, "spent", f->action == ACT_FLOOD ? !f->left : spent(f));
        show_end(s);
    }
    show_list_end(s);
}
