/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Doorbell pages: legacy apertures (2.6), direct-WQE slots (9.7) and the pages
 * of user contexts (2.7). The value says which queue, the address only what
 * kind of doorbell and who may ring it.
 */
#include "core_int.h"

/* ---- the three kinds ---- */

/* May @qp or @cq with these properties be rung from page @ctx (-1: legacy)? */
static bool doorbell_allowed(bool assoc, uint32_t db_ctx, int64_t ctx)
{
    return assoc ? ctx == db_ctx : ctx < 0;
}

static void doorbell_ring_sq(ErdmaCore *c, uint64_t offset, uint64_t value,
                             int64_t ctx)
{
    ErdmaQp *qp = erdma_qp_get(c, ERDMA_GET(ERDMA_SQE_HDR_QPN, value));

    if (!qp || !doorbell_allowed(qp->db_assoc, qp->db_ctx, ctx)) {
        erdma_db_drop(c, offset, value);
        return;
    }
    c->n.doorbells_sq++;
    erdma_qp_sq_doorbell(qp, ERDMA_GET(ERDMA_SQE_HDR_PI, value));
}

static ErdmaQp *doorbell_qp(ErdmaCore *c, uint64_t value, int64_t ctx)
{
    ErdmaQp *qp = erdma_qp_get(c, ERDMA_GET(ERDMA_RQ_DB_QPN, value));

    return qp && doorbell_allowed(qp->db_assoc, qp->db_ctx, ctx) ? qp : NULL;
}

static ErdmaCq *doorbell_cq(ErdmaCore *c, uint64_t value, int64_t ctx)
{
    ErdmaCq *cq = erdma_cq_get(c, ERDMA_GET(ERDMA_CQ_DB_CQN, value));

    return cq && doorbell_allowed(cq->db_assoc, cq->db_ctx, ctx) ? cq : NULL;
}

static void doorbell_ring_rq(ErdmaCore *c, uint64_t offset, uint64_t value,
                             ErdmaQp *qp)
{
    if (!qp) {
        erdma_db_drop(c, offset, value);
        return;
    }
    c->n.doorbells_rq++;
    /* bits 31:16 are garbage */
    erdma_qp_rq_doorbell(qp, ERDMA_GET(ERDMA_RQ_DB_PI, value));
}

static void doorbell_ring_cq(ErdmaCore *c, uint64_t offset, uint64_t value,
                             ErdmaCq *cq)
{
    if (!cq) {
        erdma_db_drop(c, offset, value);
        return;
    }
    c->n.doorbells_cq++;
    erdma_cq_doorbell(cq, value);
}

/*
 * RDB and CDB of a context are one window: the stock driver maps them crosswise
 * (2.7). Page offset and owner say which kind a write is.
 */
static void doorbell_ring_crossed(ErdmaCore *c, uint64_t offset, uint64_t value,
                                  uint32_t ctx)
{
    uint32_t in_page = offset % ERDMA_DB_PAGE_SIZE;
    ErdmaQp *qp = doorbell_qp(c, value, ctx);
    ErdmaCq *cq = doorbell_cq(c, value, ctx);

    if (qp && in_page != qp->qpn % ERDMA_RQ_DB_SLOTS * ERDMA_RQ_DB_STRIDE) {
        qp = NULL;
    }
    if (cq && in_page != cq->cqn % ERDMA_CQ_DB_SLOTS * ERDMA_CQ_DB_STRIDE) {
        cq = NULL;
    }
    if (cq && (!qp || value & ERDMA_CQ_DB_ARM)) {
        doorbell_ring_cq(c, offset, value, cq);
    } else {
        doorbell_ring_rq(c, offset, value, qp);
    }
}

static void doorbell_ring_extended(ErdmaCore *c, uint64_t offset,
                                   uint64_t value)
{
    uint32_t page = offset >> ERDMA_DB_PAGE_SHIFT;
    unsigned kind = (page - ERDMA_DB_EXT_FIRST_PAGE) % ERDMA_DB_PAGES;
    uint32_t ctx;

    if (!erdma_db_context(c, page, kind, &ctx)) {
        erdma_db_drop(c, offset, value);
    } else if (kind == ERDMA_DB_SDB) {
        doorbell_ring_sq(c, offset, value, ctx);
    } else {
        doorbell_ring_crossed(c, offset, value, ctx);
    }
}

/*
 * Direct WQE (9.7): the request is in the ring as well and an ordinary doorbell
 * follows, so what is written into direct slots is dropped. With credit groups
 * configured the slots are laid out over the pages; payload words in them must
 * not be taken for doorbells.
 */
static bool doorbell_is_direct(const ErdmaCore *c, uint64_t offset,
                               uint64_t value)
{
    uint32_t page = (offset - ERDMA_DB_SQ_BASE) >> ERDMA_DB_PAGE_SHIFT;
    uint32_t groups = c->cfg.grp_num;
    uint32_t pages, entries, stride = ERDMA_SQ_DB_STRIDE;

    if (value & ERDMA_SQE_HDR_DWQE) {
        return true;
    }
    if (groups < 4) {
        return false;
    }
    if (groups >= 24) {
        pages = 64;
        entries = 31;
    } else {
        entries = 4 * groups / 3;
        pages = 4 * groups - entries - 1;
    }
    if (page >= pages && page < pages + entries &&
        offset - offset % ERDMA_DB_PAGE_SIZE != ERDMA_DB_KERNEL_SQ) {
        stride = 2 * ERDMA_SQ_DB_STRIDE;    /* one ordinary, one direct slot */
    }
    return offset % stride != 0;
}

void erdma_doorbell_write(ErdmaCore *c, uint64_t offset, uint64_t value,
                          unsigned size)
{
    if (size != 8 || offset % 8 || !c->ready) {
        erdma_db_drop(c, offset, value);
    } else if (offset >= ERDMA_DB_EXT_BASE) {
        doorbell_ring_extended(c, offset, value);
    } else if (offset >= ERDMA_DB_CQ_BASE) {
        doorbell_ring_cq(c, offset, value, doorbell_cq(c, value, -1));
    } else if (offset >= ERDMA_DB_RQ_BASE) {
        doorbell_ring_rq(c, offset, value, doorbell_qp(c, value, -1));
    } else if (doorbell_is_direct(c, offset, value)) {
        erdma_db_drop(c, offset, value);
    } else {
        doorbell_ring_sq(c, offset, value, -1);
    }
}
