/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Floods: entries and interrupts that nobody asked for, as many as there is
 * room for, a bounded number at a time.
 */
#include "fault.h"

static uint32_t flood_number(const Fault *f, FaultKey key, uint32_t otherwise)
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
    cqe.qpn = htobe32(flood_number(f, KEY_QPN, NOBODY));
    erdma_cq_write(cq, &cqe, 0);
    return true;
}

/* An event of a CQ, if the line names one, else of a QP */
static bool flood_aeq(ErdmaCore *c, Fault *f)
{
    bool of_cq = fault_has(f, KEY_CQN);
    uint32_t type = flood_number(f, KEY_TYPE,
                                 of_cq ? ERDMA_AE_CQ_ERR : ERDMA_AE_QP_FATAL);
    uint64_t object = flood_number(f, of_cq ? KEY_CQN : KEY_QPN, NOBODY);

    return erdma_eq_write(c, &c->aeq, ERDMA_PREP(ERDMA_AEQE_TYPE, type) |
                          object << 32, 0, 0);
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
        return erdma_eq_write(c, &c->eq[flood_number(f, KEY_EQN, 1)],
                              ERDMA_PREP(ERDMA_CEQE_CQN,
                                         (uint64_t)flood_number(f, KEY_CQN,
                                                                NOBODY)),
                              0, 0);
    case ERDMA_POINT_AEQ:
        return flood_aeq(c, f);
    case ERDMA_POINT_CQ:
        return flood_cq(c, f);
    default:
        erdma_irq_send(c, flood_number(f, KEY_VECTOR, 0));
        return true;
    }
}

/*
 * True: there is more to do soon. Without room the doorbell that makes room
 * asks for the next turn. Interrupts that come together merge, so one a turn.
 */
static bool flood_some(ErdmaCore *c, Fault *f)
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

void erdma_flood_run(ErdmaCore *c)
{
    bool more = false;

    if (!c->ready) {
        return;
    }
    for (unsigned i = 0; i < c->faults->count; i++) {
        Fault *f = &c->faults->fault[i];

        if (f->action == ACT_FLOOD && f->left) {
            more |= flood_some(c, f);
            if (!f->left) {
                erdma_fault_update(c);
            }
        }
    }
    if (more) {
        erdma_kick(c, &c->faults->flood);
    }
}
