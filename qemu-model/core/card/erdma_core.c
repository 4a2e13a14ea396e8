/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A card: configuration, life, turns, timer. */
#include <stdlib.h>

#include "core_int.h"

/* ---- configuration ---- */

void erdma_core_config_init(ErdmaConfig *cfg)
{
    *cfg = (ErdmaConfig) {
        .bar0_size = 16 * 1024 * 1024,
        .vectors = ERDMA_MAX_VECTORS,
        .version = ERDMA_VERSION_2,
        .fw_version = 0x00000225,
        .flags = ERDMA_FLAG_EXT_DB | ERDMA_FLAG_MTT_VA | ERDMA_FLAG_QUERY_QC |
                 ERDMA_FLAG_ATOMIC,
        .max_mr_size = 31,
        .max_recv_wr = ERDMA_MAX_RECV_WR_LOG,
        .max_cqe = ERDMA_MAX_CQE_LOG,
        .max_ah = 10,
        .max_gid = 4,
        .max_mw = 0,
        .qblock = 64,
        .default_cc = ERDMA_CC_CUBIC,
        .local_dma_key = 0xffffff00,
        .grp_num = 0,
        .hold_ns = 10ull * 1000000000,
    };
}

static const char *check_identity(const ErdmaConfig *cfg)
{
    static const uint8_t none[6];

    if (!memcmp(cfg->mac, none, sizeof(none))) {
        return "mac is not set: it must be that of the paired network adapter";
    }
    if (cfg->mac[0] & 1) {
        return "mac is a multicast address";
    }
    if (!cfg->version) {
        return "version 0 means that the function is not usable";
    }
    return NULL;
}

static const char *check_shape(const ErdmaConfig *cfg)
{
    if (cfg->bar0_size < ERDMA_BAR0_MIN_SIZE ||
        cfg->bar0_size > ERDMA_LIMIT_BAR0_SIZE ||
        cfg->bar0_size & (cfg->bar0_size - 1)) {
        return "bar0_size must be a power of two from 512 KiB to 256 MiB";
    }
    if ((cfg->flags & ERDMA_FLAG_EXT_DB) && !erdma_db_context_count(cfg)) {
        return "flag ext-db needs a bar0_size of at least 1 MiB";
    }
    if (cfg->vectors < 2 || cfg->vectors > ERDMA_MAX_VECTORS) {
        return "vectors must be 2 to 32";
    }
    if (cfg->grp_num > ERDMA_LIMIT_GRP_NUM) {
        return "grp_num must be 0 to 24";
    }
    if (!cfg->hold_ns || cfg->hold_ns > ERDMA_LIMIT_HOLD_NS) {
        return "hold time must be more than 0 and at most one hour";
    }
    return NULL;
}

static const char *check_limits(const ErdmaConfig *cfg)
{
    uint32_t mrs = 2u * cfg->qblock * ERDMA_QPS_PER_QBLOCK;

    if (cfg->qblock < 1 || cfg->qblock > ERDMA_MAX_QBLOCK) {
        return "qblock must be 1 to 512";
    }
    if (cfg->max_recv_wr > ERDMA_MAX_RECV_WR_LOG) {
        return "max_recv_wr is a power of two of at most 15";
    }
    if (cfg->max_cqe > ERDMA_MAX_CQE_LOG) {
        return "max_cqe is a power of two of at most 20";
    }
    if (cfg->max_mr_size < ERDMA_LIMIT_PAGE_SHIFT_MIN ||
        cfg->max_mr_size > ERDMA_LIMIT_MR_SIZE_LOG) {
        return "max_mr_size is a power of two from 12 to 36";
    }
    if (cfg->max_ah > 31 || cfg->max_gid > 15 || cfg->max_mw > 31) {
        return "max_ah and max_mw are powers of two of at most 31, max_gid 15";
    }
    if (cfg->default_cc >= ERDMA_CC_COUNT) {
        return "default_cc must be 0 to 4";
    }
    if (ERDMA_GET(ERDMA_STAG_INDEX, cfg->local_dma_key) < mrs) {
        return "local_dma_key could be the key of a memory region";
    }
    return NULL;
}

const char *erdma_core_config_check(const ErdmaConfig *cfg)
{
    const char *wrong = check_identity(cfg);

    if (!wrong) {
        wrong = check_shape(cfg);
    }
    return wrong ? wrong : check_limits(cfg);
}

/* ---- life ---- */

static bool alloc_tables(ErdmaCore *c)
{
    uint32_t qps = (uint32_t)c->cfg.qblock * ERDMA_QPS_PER_QBLOCK;

    c->db_ctx_limit = erdma_db_context_count(&c->cfg);
    c->db_ctx = calloc(c->db_ctx_limit + 1, sizeof(*c->db_ctx));
    return c->db_ctx && erdma_table_init(&c->qps, qps) &&
           erdma_table_init(&c->cqs, 2 * qps) &&
           erdma_table_init(&c->mrs, 2 * qps);
}

static void free_tables(ErdmaCore *c)
{
    erdma_table_free(&c->qps);
    erdma_table_free(&c->cqs);
    erdma_table_free(&c->mrs);
    free(c->db_ctx);
    free(c);
}

ErdmaCore *erdma_core_new(const ErdmaConfig *cfg, const ErdmaOps *ops,
                          void *opaque, ErdmaFabric *fabric)
{
    ErdmaCore *c = calloc(1, sizeof(*c));

    if (!c) {
        return NULL;
    }
    c->cfg = *cfg;
    c->ops = ops;
    c->opaque = opaque;
    c->fabric = fabric;
    c->log_level = ERDMA_LOG_INFO;
    erdma_list_init(&c->run);
    erdma_list_init(&c->held);
    erdma_list_init(&c->watched);
    erdma_list_init(&c->parked);
    if (!alloc_tables(c)) {
        free_tables(c);
        return NULL;
    }
    fabric->cards++;
    erdma_core_reset(c);
    return c;
}

void erdma_core_free(ErdmaCore *c)
{
    if (c) {
        erdma_core_quiesce(c);
        erdma_fault_free(c);
        c->fabric->cards--;
        free_tables(c);
    }
}

void erdma_core_set_log_level(ErdmaCore *c, ErdmaLogLevel level)
{
    c->log_level = level;
}

/* Everything stops before this returns: no DMA, no interrupt, no timer */
void erdma_core_quiesce(ErdmaCore *c)
{
    uint32_t i;
    void *p;

    c->ready = false;
    erdma_fault_forget(c);
    for (i = 0; (p = erdma_table_next(&c->qps, &i)); i++) {
        erdma_qp_destroy(p);
    }
    for (i = 0; (p = erdma_table_next(&c->cqs, &i)); i++) {
        erdma_cq_destroy(p);
    }
    for (i = 0; (p = erdma_table_next(&c->mrs, &i)); i++) {
        erdma_mr_deregister(c, i);
    }
    for (i = 0; i < ERDMA_MAX_VECTORS; i++) {
        erdma_eq_stop(&c->eq[i]);
    }
    erdma_eq_stop(&c->aeq);
    memset(c->db_ctx, 0, c->db_ctx_limit * sizeof(*c->db_ctx));
    c->db_ctx_used = 0;
    c->db_ctx_next = 0;
    memset(&c->cmdq, 0, sizeof(c->cmdq));
    erdma_core_update_timer(c);
}

/* ---- BAR0 ---- */

uint64_t erdma_core_mmio_read(ErdmaCore *c, uint64_t offset, unsigned size)
{
    uint64_t value;

    c->n.mmio_reads++;
    if (erdma_fault_at(c, ERDMA_POINT_REGISTER | ERDMA_POINT_REMOVE) &&
        erdma_fault_register(c, offset, size, &value)) {
        return value;
    }
    if (offset >= ERDMA_REG_SPACE || !size) {
        return 0;               /* doorbell pages are write-only */
    }
    return erdma_reg_read(c, offset, size);
}

void erdma_core_mmio_write(ErdmaCore *c, uint64_t offset, uint64_t value,
                           unsigned size)
{
    c->n.mmio_writes++;
    if (offset >= c->cfg.bar0_size) {
        return;
    }
    if (erdma_fault_at(c, ERDMA_POINT_REGISTER | ERDMA_POINT_REMOVE) &&
        erdma_fault_deaf(c)) {
        return;
    }
    if (offset < ERDMA_REG_SPACE) {
        erdma_reg_write(c, offset, value, size);
    } else {
        erdma_doorbell_write(c, offset, value, size);
    }
}

void erdma_irq(ErdmaCore *c, unsigned vector)
{
    if (erdma_fault_at(c, ERDMA_POINT_IRQ) && erdma_fault_irq(c, vector)) {
        return;
    }
    erdma_irq_send(c, vector);
}

void erdma_irq_send(ErdmaCore *c, unsigned vector)
{
    c->n.irqs++;
    c->ops->irq(c->opaque, vector);
}

/* Messages count as packets of one MTU each, an empty one as one (14) */
uint64_t erdma_packets(const ErdmaCore *c, uint64_t bytes)
{
    return bytes ? (bytes + c->mtu - 1) / c->mtu : 1;
}

/* ---- turns ---- */

void erdma_core_kick(ErdmaCore *c)
{
    if (!c->kicked) {
        c->kicked = true;
        c->ops->kick(c->opaque);
    }
}

/* QPs take turns; each gets a slice, all together a bounded amount */
static void run_queue_pairs(ErdmaCore *c)
{
    uint64_t bytes = ERDMA_LIMIT_RUN_BYTES;
    uint32_t steps = ERDMA_LIMIT_RUN_WQES;
    ErdmaLink *link;

    while (bytes && steps && (link = erdma_list_first(&c->run))) {
        const ErdmaBudget slice = {
            .bytes = bytes < ERDMA_LIMIT_SLICE_BYTES ? bytes :
                     ERDMA_LIMIT_SLICE_BYTES,
            .steps = steps < ERDMA_LIMIT_SLICE_WQES ? steps :
                     ERDMA_LIMIT_SLICE_WQES,
        };
        ErdmaBudget b = slice;

        erdma_list_del(link);
        erdma_qp_work(ERDMA_ENTRY(link, ErdmaQp, run_link), &b);
        bytes -= slice.bytes - b.bytes;
        steps -= slice.steps == b.steps ? 1 : slice.steps - b.steps;
    }
}

void erdma_core_run(ErdmaCore *c)
{
    c->kicked = false;
    if (c->faults) {
        erdma_fault_run(c);
    }
    erdma_cmdq_run(c);
    run_queue_pairs(c);
    if (erdma_list_first(&c->run)) {
        erdma_core_kick(c);
    }
}

/* ---- timer ---- */

static uint64_t first_held(const ErdmaCore *c)
{
    const ErdmaLink *link = erdma_list_first(&c->held);

    return link ? ERDMA_ENTRY(link, ErdmaQp, hold_link)->hold_deadline : 0;
}

static uint64_t first_watched(const ErdmaCore *c)
{
    const ErdmaLink *link = erdma_list_first(&c->watched);

    return link ? erdma_remote_deadline(link) : 0;
}

static uint64_t first_parked(const ErdmaCore *c)
{
    const ErdmaLink *link = erdma_list_first(&c->parked);
    uint64_t until = link ? ERDMA_ENTRY(link, ErdmaQp, gate.link)->gate.until :
                            0;

    return until == UINT64_MAX ? 0 : until;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return !a || (b && b < a) ? b : a;
}

/* Deadlines of a list are all the same time away, or in order: first is first */
void erdma_core_update_timer(ErdmaCore *c)
{
    uint64_t deadline = earlier(first_held(c), first_watched(c));

    deadline = earlier(deadline, first_parked(c));
    deadline = earlier(deadline, erdma_fault_deadline(c));
    if (deadline != c->timer) {
        c->timer = deadline;
        c->ops->set_timer(c->opaque, deadline);
    }
}

/* One that is early costs a look at the lists, one per message costs more */
void erdma_core_timer_by(ErdmaCore *c, uint64_t deadline)
{
    if (!c->timer || c->timer > deadline) {
        c->timer = deadline;
        c->ops->set_timer(c->opaque, deadline);
    }
}

static void expire_held(ErdmaCore *c, uint64_t now)
{
    ErdmaLink *link;

    for (unsigned i = 0; i < ERDMA_LIMIT_TIMEOUTS &&
         (link = erdma_list_first(&c->held)); i++) {
        ErdmaQp *qp = ERDMA_ENTRY(link, ErdmaQp, hold_link);

        if (qp->hold_deadline > now) {
            break;
        }
        erdma_qp_hold_expired(qp);
    }
}

static void expire_watched(ErdmaCore *c, uint64_t now)
{
    ErdmaLink *link;

    for (unsigned i = 0; i < ERDMA_LIMIT_TIMEOUTS &&
         (link = erdma_list_first(&c->watched)); i++) {
        if (erdma_remote_deadline(link) > now) {
            break;
        }
        erdma_remote_expired(erdma_remote_watched(link));
    }
}

void erdma_core_timer(ErdmaCore *c)
{
    uint64_t now = c->ops->now(c->opaque);

    c->timer = 0;
    erdma_fault_timer(c, now);
    erdma_gate_timer(c, now);
    expire_held(c, now);
    expire_watched(c, now);
    erdma_core_update_timer(c);
}

/* ---- counters ---- */

void erdma_core_counters(const ErdmaCore *c, ErdmaCounters *out)
{
    *out = c->n;
    out->qps = c->qps.count;
    out->cqs = c->cqs.count;
    out->mrs = c->mrs.count;
    out->db_contexts = c->db_ctx_used;
    out->eqs = 0;
    for (unsigned i = 0; i < ERDMA_MAX_VECTORS; i++) {
        out->eqs += c->eq[i].live;
    }
    out->eqs += c->aeq.live;
    out->ready = c->ready;
}
