/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Completion queues: entries, arming, events (section 8). */
#include <stdlib.h>

#include "core_int.h"

/* One event for the CQ's owner; disarms */
static void cq_raise_event(ErdmaCq *cq, bool by_doorbell)
{
    ErdmaCore *c = cq->core;
    uint64_t word = ERDMA_PREP(ERDMA_CEQE_CQN, (uint64_t)cq->cqn) |
                    ERDMA_PREP(ERDMA_CEQE_PI, (uint64_t)cq->pi);

    if (by_doorbell) {
        word |= ERDMA_CEQE_DB;
    }
    cq->armed = false;
    c->n.ceqes++;
    erdma_eq_post(c, cq->eq, &cq->event, word, 0);
}

/* All but the owner bit */
static void cq_fill_cqe(struct erdma_cqe *cqe, const ErdmaWc *wc)
{
    uint32_t hdr = ERDMA_PREP(ERDMA_CQE_OPCODE, wc->opcode) |
                   ERDMA_PREP(ERDMA_CQE_QTYPE, wc->qtype) |
                   ERDMA_PREP(ERDMA_CQE_SYNDROME, wc->syndrome);

    memset(cqe, 0, sizeof(*cqe));
    cqe->hdr = htobe32(hdr);
    cqe->qe_idx = htobe32(wc->qe_idx);
    cqe->qpn = htobe32(wc->qpn);
    cqe->imm = htobe32(wc->imm);
    cqe->size = htobe32(wc->size);
}

void erdma_cq_write(ErdmaCq *cq, struct erdma_cqe *cqe, unsigned flags)
{
    ErdmaCore *c = cq->core;
    bool owner = erdma_ring_owner(cq->pi, cq->q.depth);
    bool error = be32toh(cqe->hdr) & ERDMA_CQE_SYNDROME;
    uint64_t addr;

    if (cq->broken) {
        return;
    }
    cqe->hdr &= ~htobe32(ERDMA_CQE_OWNER);
    if (owner != !!(flags & ERDMA_ENTRY_WRONG_OWNER)) {
        cqe->hdr |= htobe32(ERDMA_CQE_OWNER);
    }
    erdma_queue_locate(&cq->q, cq->pi, &addr);
    if (!erdma_dma_publish(c, addr, cqe, sizeof(*cqe), sizeof(cqe->hdr))) {
        erdma_guest_error(c, "CQ %u: entry at 0x%llx is not writable memory",
                          cq->cqn, (unsigned long long)addr);
        cq->broken = true;
        erdma_aeq_post(c, &cq->error, ERDMA_AE_CQ_ERR, cq->cqn);
        return;
    }
    cq->pi++;
    c->n.cqes++;
    if (error) {
        c->n.cqes_error++;
    }
    if (cq->armed && (!cq->armed_solicited || error ||
                      flags & ERDMA_ENTRY_SOLICITED)) {
        cq_raise_event(cq, false);
    }
}

void erdma_cq_post(ErdmaCq *cq, const ErdmaWc *wc)
{
    unsigned flags = wc->solicited ? ERDMA_ENTRY_SOLICITED : 0;
    struct erdma_cqe cqe;

    cq_fill_cqe(&cqe, wc);
    if (erdma_fault_at(cq->core, ERDMA_POINT_CQE) &&
        cq->core->hooks->cqe(cq, &cqe, &flags)) {
        return;
    }
    erdma_cq_write(cq, &cqe, flags);
}

/* IDX counts arms; what it says about doorbells is only for A.2 */
static void cq_account_doorbell(ErdmaCq *cq, uint64_t value)
{
    uint8_t idx = ERDMA_GET(ERDMA_CQ_DB_IDX, value);
    uint8_t expected = cq->db_idx + 1;

    if (cq->rung && idx != expected) {
        cq->bad_db_ci = ERDMA_GET(ERDMA_CQ_DB_CI, value);
        cq->bad_db_type = idx != cq->db_idx;
        if (idx == cq->db_idx) {
            cq->dup_dbs++;
        } else {
            cq->ooo_dbs++;
        }
    }
    cq->rung = true;
    cq->db_idx = idx;
}

void erdma_cq_doorbell(ErdmaCq *cq, uint64_t value)
{
    uint32_t ci = ERDMA_GET(ERDMA_CQ_DB_CI, value);
    bool solicited = value & ERDMA_CQ_DB_SOL;

    cq_account_doorbell(cq, value);
    if (!(value & ERDMA_CQ_DB_ARM)) {
        return;
    }
    /* A second arm replaces the first, but "any" is never taken back */
    cq->armed_solicited = solicited && !(cq->armed && !cq->armed_solicited);
    cq->armed = true;
    if (erdma_ring_used24(cq->pi, ci)) {
        cq_raise_event(cq, true);
    }
}

/* MTT_CNT 1 means ADDR is the page, whatever LEVEL says (5.2.2) */
static void cq_queue_spec(const struct erdma_cmd_create_cq *cmd,
                          ErdmaQueueSpec *spec)
{
    uint32_t cfg0 = le32toh(cmd->cfg0);
    uint32_t cfg1 = le32toh(cmd->cfg1);

    memset(spec, 0, sizeof(*spec));
    spec->depth_log = ERDMA_GET(ERDMA_CREATE_CQ_DEPTH, cfg0);
    spec->page_shift = 12 + ERDMA_GET(ERDMA_CREATE_CQ_PAGE, cfg0);
    spec->mtt_cnt = ERDMA_GET(ERDMA_CREATE_CQ_MTT_CNT, cfg1);
    spec->table = spec->mtt_cnt > 1;
    spec->first_off = le32toh(cmd->first_off);
    spec->addr = le32toh(cmd->addr_lo) | (uint64_t)le32toh(cmd->addr_hi) << 32;
    spec->inline_cnt = 1;
}

static unsigned cq_fill(ErdmaCq *cq, const struct erdma_cmd_create_cq *cmd)
{
    ErdmaCore *c = cq->core;
    uint32_t cfg1 = le32toh(cmd->cfg1);
    uint32_t eqn = ERDMA_GET(ERDMA_CREATE_CQ_EQN, cfg1);
    ErdmaQueueSpec spec;

    if (!eqn || eqn >= ERDMA_MAX_VECTORS || !c->eq[eqn].live) {
        erdma_guest_error(c, "CREATE_CQ %u: EQN %u, expected one that exists",
                          cq->cqn, eqn);
        return ERDMA_CMD_ENOENT;
    }
    cq->eq = &c->eq[eqn];
    cq->dbrec = le64toh(cmd->dbrec);
    cq->db_assoc = cfg1 & ERDMA_CREATE_CQ_DB_ASSOC;
    if (cq->db_assoc &&
        !erdma_db_context(c, ERDMA_GET(ERDMA_CREATE_CQ_DB, le32toh(cmd->cfg2)),
                          ERDMA_DB_CDB, &cq->db_ctx)) {
        erdma_guest_error(c, "CREATE_CQ %u: page %u, expected an allocated CDB "
                          "page", cq->cqn, (unsigned)
                          ERDMA_GET(ERDMA_CREATE_CQ_DB, le32toh(cmd->cfg2)));
        return ERDMA_CMD_EINVAL;
    }
    cq_queue_spec(cmd, &spec);
    if (spec.depth_log > c->cfg.max_cqe) {
        erdma_guest_error(c, "CREATE_CQ %u: depth 2^%u, expected at most 2^%u",
                          cq->cqn, spec.depth_log, c->cfg.max_cqe);
        return ERDMA_CMD_EINVAL;
    }
    return erdma_queue_setup(c, &cq->q, &spec);
}

unsigned erdma_cq_create(ErdmaCore *c, const struct erdma_cmd_create_cq *cmd)
{
    uint32_t cqn = ERDMA_GET(ERDMA_CREATE_CQ_CQN, le32toh(cmd->cfg0));
    ErdmaCq *cq;
    unsigned err;

    if (!cqn || cqn >= c->cqs.limit) {
        erdma_guest_error(c, "CREATE_CQ: CQN %u, expected 1 to %u", cqn,
                          c->cqs.limit - 1);
        return ERDMA_CMD_EINVAL;
    }
    if (erdma_cq_get(c, cqn)) {
        return ERDMA_CMD_EEXIST;
    }
    cq = calloc(1, sizeof(*cq));
    if (!cq) {
        return ERDMA_CMD_ENOMEM;
    }
    cq->core = c;
    cq->cqn = cqn;
    err = cq_fill(cq, cmd);
    if (!err && !erdma_table_put(&c->cqs, cqn, cq)) {
        erdma_queue_release(c, &cq->q);
        err = ERDMA_CMD_ENOMEM;
    }
    if (err) {
        free(cq);
        return err;
    }
    cq->eq->users++;
    if (cq->db_assoc) {
        c->db_ctx[cq->db_ctx].users++;
    }
    return ERDMA_CMD_OK;
}

void erdma_cq_destroy(ErdmaCq *cq)
{
    ErdmaCore *c = cq->core;

    erdma_event_cancel(&cq->event);
    erdma_event_cancel(&cq->error);
    if (c->hooks) {
        c->hooks->forget_cq(cq);
    }
    cq->eq->users--;
    if (cq->db_assoc) {
        c->db_ctx[cq->db_ctx].users--;
    }
    erdma_queue_release(c, &cq->q);
    erdma_table_remove(&c->cqs, cq->cqn);
    free(cq);
}
