/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A card: life, and the entries of the scheduler. */
#include <stdlib.h>

#include "core_int.h"

/* ---- life ---- */

static bool core_alloc_tables(ErdmaCore *c)
{
    uint32_t qps = (uint32_t)c->cfg.qblock * ERDMA_QPS_PER_QBLOCK;

    c->db_ctx_limit = erdma_db_context_count(&c->cfg);
    c->db_ctx = calloc(c->db_ctx_limit + 1, sizeof(*c->db_ctx));
    return c->db_ctx && erdma_table_init(&c->qps, qps) &&
           erdma_table_init(&c->cqs, 2 * qps) &&
           erdma_table_init(&c->mrs, 2 * qps);
}

static void core_free_tables(ErdmaCore *c)
{
    erdma_table_free(&c->qps);
    erdma_table_free(&c->cqs);
    erdma_table_free(&c->mrs);
    free(c->db_ctx);
    free(c);
}

static const ErdmaPower core_power = {
    .off = erdma_core_quiesce,
    .on = erdma_core_reset,
};

/* Who has work for the scheduler */
static void core_register(ErdmaCore *c)
{
    erdma_sched_init(c);
    erdma_cmdq_register(c, erdma_cmd_execute);
    erdma_remote_register(c);
    erdma_qp_register(c);
    erdma_shaper_register(c);
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
    c->power = &core_power;
    core_register(c);
    if (!core_alloc_tables(c)) {
        core_free_tables(c);
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
        if (c->hooks) {
            c->hooks->free(c);
        }
        c->fabric->cards--;
        core_free_tables(c);
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
    if (c->hooks) {
        c->hooks->forget(c);
    }
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
    erdma_cmdq_stop(c);
    erdma_sched_update_timer(c);
}

/* ---- turns ---- */

void erdma_core_run(ErdmaCore *c)
{
    erdma_sched_enter(c->fabric);
    erdma_sched_run(c);
}

void erdma_core_timer(ErdmaCore *c)
{
    erdma_sched_enter(c->fabric);
    erdma_sched_timer(c);
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
