/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where faults strike: each call stands at one place of the card, behind
 * erdma_fault_at(), and says what becomes of the thing that is about to happen
 * there.
 */
#include "fault.h"

static void strike_select(FaultTarget *t, FaultKey key, uint32_t value)
{
    t->has |= 1u << key;
    t->v[key] = value;
}

static FaultTarget strike_by_qpn(const ErdmaQp *qp)
{
    FaultTarget t = { 0 };

    strike_select(&t, KEY_QPN, qp->qpn);
    return t;
}

/* ---- changing an entry ---- */

/* The value a field gets: the one given, or any */
static uint64_t strike_value(Fault *f, FaultKey key)
{
    return f->v[key] == UINT64_MAX ? erdma_fault_random(f) : f->v[key];
}

static uint32_t strike_put_byte(uint32_t word, unsigned shift, uint64_t value)
{
    return (word & ~(0xffu << shift)) | (uint32_t)(value & 0xff) << shift;
}

/* No field was named: one bit anywhere but the owner bit, which is bit 31 */
static void strike_flip_bit(Fault *f, uint32_t *words, unsigned n,
                            unsigned owner)
{
    unsigned bit = erdma_fault_random(f) % (n * 32 - 1);

    if (bit >= owner) {
        bit++;
    }
    words[bit / 32] ^= 1u << bit % 32;
}

static void strike_corrupt_cqe(Fault *f, struct erdma_cqe *cqe, unsigned *flags)
{
    uint32_t hdr = be32toh(cqe->hdr);

    if (!(f->given & KEYS_FIELD)) {
        uint32_t words[sizeof(*cqe) / 4];

        memcpy(words, cqe, sizeof(words));
        words[0] = be32toh(words[0]);
        strike_flip_bit(f, words, sizeof(*cqe) / 4, 31);
        words[0] = htobe32(words[0]);
        memcpy(cqe, words, sizeof(words));
        return;
    }
    if (fault_has(f, KEY_OWNER)) {
        *flags |= ERDMA_ENTRY_WRONG_OWNER;
    }
    if (fault_has(f, KEY_STATUS)) {
        hdr = strike_put_byte(hdr, 0, strike_value(f, KEY_STATUS));
    }
    if (fault_has(f, KEY_SYNDROME)) {
        hdr = strike_put_byte(hdr, 0, strike_value(f, KEY_SYNDROME));
    }
    if (fault_has(f, KEY_KIND)) {
        hdr = strike_put_byte(hdr, 8, strike_value(f, KEY_KIND));
    }
    if (fault_has(f, KEY_TYPE)) {
        hdr = strike_put_byte(hdr, 16, strike_value(f, KEY_TYPE));
    }
    cqe->hdr = htobe32(hdr);
    if (fault_has(f, KEY_INDEX)) {
        cqe->qe_idx = htobe32(strike_value(f, KEY_INDEX));
    }
    if (fault_has(f, KEY_NUMBER)) {
        cqe->qpn = htobe32(strike_value(f, KEY_NUMBER));
    }
    if (fault_has(f, KEY_SIZE)) {
        cqe->size = htobe32(strike_value(f, KEY_SIZE));
    }
    if (fault_has(f, KEY_IMM)) {
        cqe->imm = htobe32(strike_value(f, KEY_IMM));
    }
    for (unsigned i = 0; i < 2; i++) {
        if (fault_has(f, KEY_RESP0 + i)) {
            uint64_t v = strike_value(f, KEY_RESP0 + i);

            cqe->resp[2 * i] = htobe32(v);
            cqe->resp[2 * i + 1] = htobe32(v >> 32);
        }
    }
}

static void strike_corrupt_event(Fault *f, bool aeqe, uint64_t *word0,
                                 unsigned *flags)
{
    if (!(f->given & KEYS_FIELD)) {
        uint32_t words[2] = { *word0, *word0 >> 32 };

        strike_flip_bit(f, words, 2, 31);
        *word0 = words[0] | (uint64_t)words[1] << 32;
    }
    if (fault_has(f, KEY_OWNER)) {
        *flags |= ERDMA_ENTRY_WRONG_OWNER;
    }
    if (fault_has(f, KEY_NUMBER)) {
        uint64_t v = strike_value(f, KEY_NUMBER);

        *word0 = aeqe ? (uint32_t)*word0 | v << 32 :
                 (*word0 & ~ERDMA_CEQE_CQN) | ERDMA_PREP(ERDMA_CEQE_CQN, v);
    }
    if (fault_has(f, KEY_INDEX)) {
        *word0 = (*word0 & ~ERDMA_CEQE_PI) |
                 ERDMA_PREP(ERDMA_CEQE_PI, strike_value(f, KEY_INDEX));
    }
    if (fault_has(f, KEY_TYPE)) {
        *word0 = (*word0 & ~(uint64_t)ERDMA_AEQE_TYPE) |
                 ERDMA_PREP(ERDMA_AEQE_TYPE, strike_value(f, KEY_TYPE) & 0xff);
    }
}

/* ---- places ---- */

static uint64_t strike_later(ErdmaCore *c, const Fault *f)
{
    return c->ops->now(c->opaque) + erdma_fault_time(f);
}

static bool strike_command(ErdmaCore *c, const ErdmaCmd *cmd,
                         struct erdma_cqe *cqe, unsigned *flags)
{
    FaultTarget t = { 0 };
    Delayed d = { .kind = LATER_COMMAND };
    Fault *f;

    strike_select(&t, KEY_OPCODE, cmd->submod << 8 | cmd->opcode);
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
        d.deadline = strike_later(c, f);
        d.flags = fault_has(f, KEY_OVERTAKE) ? ERDMA_ENTRY_OVERTAKE : 0;
        d.cqe = *cqe;
        if (!erdma_delay(c, &d)) {
            return false;
        }
        c->faults->command_open |= !fault_has(f, KEY_OVERTAKE);
        erdma_fault_update(c);
        return true;
    default:
        strike_corrupt_cqe(f, cqe, flags);
        return false;
    }
}

static void strike_response(ErdmaCore *c, const ErdmaCmd *cmd,
                       struct erdma_resp_hdr *hdr)
{
    FaultTarget t = { 0 };
    Fault *f;

    strike_select(&t, KEY_OPCODE, cmd->submod << 8 | cmd->opcode);
    f = erdma_fault_hit(c, ERDMA_POINT_MAGIC, &t);
    if (f) {
        uint16_t magic = f->v[KEY_MAGIC];

        if (f->v[KEY_MAGIC] == UINT64_MAX) {
            magic = (uint16_t)~ERDMA_RESP_MAGIC;
        }
        hdr->magic = htole16(magic);
    }
}

static bool strike_cqe(ErdmaCq *cq, struct erdma_cqe *cqe, unsigned *flags)
{
    ErdmaCore *c = cq->core;
    uint64_t behind = erdma_delay_last(c, LATER_CQE, cq->cqn);
    FaultTarget t = { 0 };
    Delayed d = { .kind = LATER_CQE, .number = cq->cqn, .flags = *flags };
    Fault *f;

    strike_select(&t, KEY_CQN, cq->cqn);
    strike_select(&t, KEY_QPN, be32toh(cqe->qpn));
    strike_select(&t, KEY_OPCODE,
                  ERDMA_GET(ERDMA_CQE_OPCODE, be32toh(cqe->hdr)));
    f = erdma_fault_hit(c, ERDMA_POINT_CQE, &t);
    if (f && f->action == ACT_DROP) {
        return true;
    }
    if (f && f->action == ACT_CORRUPT) {
        strike_corrupt_cqe(f, cqe, flags);
        d.flags = *flags;
    }
    d.cqe = *cqe;
    if (f && f->action == ACT_DELAY) {
        d.deadline = strike_later(c, f);
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

static uint32_t strike_event_point(const ErdmaCore *c, const ErdmaEq *eq)
{
    return eq == &c->aeq ? ERDMA_POINT_AEQE :
           eq == &c->eq[0] ? ERDMA_POINT_CMDEQE : ERDMA_POINT_CEQE;
}

static void strike_event_target(const ErdmaCore *c, const ErdmaEq *eq,
                                uint64_t word0, FaultTarget *t)
{
    if (eq == &c->aeq) {
        bool cq = ERDMA_GET(ERDMA_AEQE_TYPE, word0) == ERDMA_AE_CQ_ERR;

        strike_select(t, cq ? KEY_CQN : KEY_QPN, word0 >> 32);
    } else {
        strike_select(t, KEY_EQN, eq - c->eq);
        strike_select(t, KEY_CQN, ERDMA_GET(ERDMA_CEQE_CQN, word0));
    }
}

static bool strike_event(ErdmaCore *c, ErdmaEq *eq, uint64_t *word0,
                       uint64_t word1, unsigned *flags)
{
    Delayed d = {
        .kind = LATER_EVENT,
        .number = eq == &c->aeq ? AEQ_NUMBER : eq - c->eq,
        .word = { *word0, word1 },
    };
    FaultTarget t = { 0 };
    Fault *f;

    strike_event_target(c, eq, *word0, &t);
    f = erdma_fault_hit(c, strike_event_point(c, eq), &t);
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
        d.deadline = strike_later(c, f);
        return erdma_delay(c, &d);
    default:
        strike_corrupt_event(f, eq == &c->aeq, word0, flags);
        return false;
    }
}

static bool strike_irq(ErdmaCore *c, unsigned vector)
{
    Delayed d = { .kind = LATER_IRQ, .number = vector };
    FaultTarget t = { 0 };
    Fault *f;

    strike_select(&t, KEY_VECTOR, vector);
    f = erdma_fault_hit(c, ERDMA_POINT_IRQ, &t);
    if (!f) {
        return false;
    }
    switch (f->action) {
    case ACT_DROP:
        return true;
    case ACT_DELAY:
        d.deadline = strike_later(c, f);
        return erdma_delay(c, &d);
    default:
        d.deadline = c->ops->now(c->opaque);    /* two messages, not one */
        erdma_delay(c, &d);
        return false;
    }
}

/* Asked for each piece in which a message is moved */
static ErdmaFate strike_payload(const ErdmaQp *qp)
{
    FaultTarget t = { 0 };
    Fault *f;

    strike_select(&t, KEY_QPN, qp->qpn);
    f = erdma_fault_hit(qp->core, ERDMA_POINT_PAYLOAD, &t);
    if (!f) {
        return ERDMA_FATE_GOOD;
    }
    qp->core->faults->spoil = erdma_fault_random(f);
    return f->action == ACT_DROP ? ERDMA_FATE_LOST : ERDMA_FATE_SPOILT;
}

/* One bit of it */
static void strike_spoil(const ErdmaQp *qp, uint8_t *dst, uint64_t n)
{
    uint64_t random = qp->core->faults->spoil;

    dst[(random >> 3) % n] ^= 1u << random % 8;
}

/* ---- what stands still ---- */

static bool strike_stalls(ErdmaCore *c, uint32_t point, const FaultTarget *t)
{
    Fault *f = erdma_fault_find(c, point, t);

    if (f) {
        f->hits++;
    }
    return f != NULL;
}

static bool strike_eq_stalled(ErdmaCore *c, const ErdmaEq *eq)
{
    FaultTarget t = { 0 };

    if (eq == &c->aeq) {
        return strike_stalls(c, ERDMA_POINT_AEQ, &t);
    }
    strike_select(&t, KEY_EQN, eq - c->eq);
    return eq != &c->eq[0] && strike_stalls(c, ERDMA_POINT_CEQ, &t);
}

static bool strike_cmdq_stalled(ErdmaCore *c)
{
    return c->faults->command_open || strike_stalls(c, ERDMA_POINT_CMDQ, NULL);
}

static bool strike_rq_stalled(const ErdmaQp *qp)
{
    FaultTarget t = { 0 };

    strike_select(&t, KEY_QPN, qp->qpn);
    return strike_stalls(qp->core, ERDMA_POINT_RQ, &t);
}

static bool strike_sq_stalled(const ErdmaQp *qp)
{
    FaultTarget t = strike_by_qpn(qp);

    return strike_stalls(qp->core, ERDMA_POINT_SQ, &t);
}

/* ---- the network ---- */

static bool strike_cuts(const ErdmaQp *qp)
{
    FaultTarget t = strike_by_qpn(qp);

    return strike_stalls(qp->core, ERDMA_POINT_NETWORK, &t);
}

static bool strike_repeats(const ErdmaQp *qp)
{
    FaultTarget t = strike_by_qpn(qp);

    return erdma_fault_hit(qp->core, ERDMA_POINT_TWICE, &t);
}

static bool strike_waits(const ErdmaQp *qp, uint32_t point, uint64_t *ns)
{
    FaultTarget t = strike_by_qpn(qp);
    Fault *f = erdma_fault_hit(qp->core, point, &t);

    if (f) {
        *ns = erdma_fault_time(f);
    }
    return f != NULL;
}

static bool strike_delays(const ErdmaQp *qp, uint64_t *ns)
{
    return strike_waits(qp, ERDMA_POINT_MESSAGE, ns);
}

static bool strike_latency(const ErdmaQp *qp, uint64_t *ns)
{
    return strike_waits(qp, ERDMA_POINT_LATENCY, ns);
}

/* How many of @n packets are lost: each drawn; of many, the expected number */
static uint64_t strike_draw_lost(Fault *f, uint64_t n)
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

/*
 * Packets of the active request with so many bytes or more: of those that are
 * full, all or none. An empty message is one packet.
 */
static uint64_t strike_long_packets(const ErdmaQp *qp, uint64_t minlen)
{
    uint64_t mtu = qp->core->mtu, length = qp->req.length, last = length % mtu;

    return (mtu >= minlen ? length / mtu : 0) +
           ((last || !length) && last >= minlen);
}

static uint64_t strike_loses(const ErdmaQp *qp, uint64_t packets, uint64_t *ns)
{
    FaultTarget t = strike_by_qpn(qp);
    Fault *f = erdma_fault_find(qp->core, ERDMA_POINT_LOSS, &t);
    uint64_t lost, some;

    if (f && fault_has(f, KEY_MINLEN)) {
        some = strike_long_packets(qp, f->v[KEY_MINLEN]);
        packets = packets < some ? packets : some;
    }
    lost = f ? strike_draw_lost(f, packets) : 0;
    if (lost) {
        f->hits++;
        qp->core->n.faults++;
        *ns = erdma_fault_time(f);
    }
    return lost;
}

/* ---- registers, reset ---- */

static uint64_t strike_cut_to(uint64_t value, unsigned size)
{
    return size >= 8 ? value : value & ((1ull << size * 8) - 1);
}

static bool strike_register_read(ErdmaCore *c, uint64_t offset, unsigned size,
                                 uint64_t *value)
{
    FaultTarget t = { 0 };
    Fault *f;

    if (erdma_core_silent(c)) {
        *value = strike_cut_to(UINT64_MAX, size);
        return true;
    }
    strike_select(&t, KEY_OFFSET, offset);
    f = erdma_fault_hit(c, ERDMA_POINT_REGISTER, &t);
    if (!f) {
        return false;
    }
    *value = f->action == ACT_ONES ? UINT64_MAX :
             fault_has(f, KEY_VALUE) ? f->v[KEY_VALUE] :
             erdma_fault_random(f);
    *value = strike_cut_to(*value, size);
    return true;
}

static bool strike_writes_ignored(ErdmaCore *c)
{
    const Fault *f;

    if (erdma_core_silent(c)) {
        return true;
    }
    f = erdma_fault_find(c, ERDMA_POINT_REGISTER, NULL);
    return f && f->action == ACT_ONES;
}

/* Each reset begins the time anew */
static void strike_was_reset(ErdmaCore *c)
{
    const Fault *f = erdma_fault_hit(c, ERDMA_POINT_RESET, NULL);

    if (f) {
        c->faults->silent_until = c->ops->now(c->opaque) + erdma_fault_time(f);
        erdma_fault_update(c);
    }
}

/* ---- what is registered ---- */

/* Floods go on */
static void strike_eq_room(ErdmaCore *c)
{
    erdma_kick(c, &c->faults->flood);
}

const ErdmaHooks erdma_fault_hooks = {
    .command = strike_command,
    .response = strike_response,
    .cmdq_stalled = strike_cmdq_stalled,
    .cqe = strike_cqe,
    .event = strike_event,
    .eq_stalled = strike_eq_stalled,
    .eq_room = strike_eq_room,
    .irq = strike_irq,
    .was_reset = strike_was_reset,
    .register_read = strike_register_read,
    .writes_ignored = strike_writes_ignored,
    .payload = strike_payload,
    .spoil = strike_spoil,
    .rq_stalled = strike_rq_stalled,
    .sq_stalled = strike_sq_stalled,
    .cuts = strike_cuts,
    .repeats = strike_repeats,
    .delays = strike_delays,
    .latency = strike_latency,
    .loses = strike_loses,
    .started = strike_eq_room,
    .forget = erdma_delay_forget,
    .forget_cq = erdma_delay_forget_cq,
    .free = erdma_fault_free,
};
