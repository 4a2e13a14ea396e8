/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Doorbell pages of user contexts (2.7): which exist, who has them. What a
 * write into one means is known to doorbell.c.
 */
#include "core_int.h"

uint32_t erdma_db_context_count(const ErdmaConfig *cfg)
{
    uint32_t pages = (cfg->bar0_size >> ERDMA_DB_PAGE_SHIFT) -
                     ERDMA_DB_EXT_FIRST_PAGE;
    uint32_t most = UINT16_MAX + 1 - ERDMA_DB_EXT_FIRST_PAGE;

    if (!(cfg->flags & ERDMA_FLAG_EXT_DB)) {
        return 0;
    }
    return (pages < most ? pages : most) / ERDMA_DB_PAGES;
}

bool erdma_db_context(const ErdmaCore *c, uint32_t page, unsigned kind,
                      uint32_t *ctx)
{
    uint32_t n;

    if (page < ERDMA_DB_EXT_FIRST_PAGE) {
        return false;
    }
    n = page - ERDMA_DB_EXT_FIRST_PAGE;
    *ctx = n / ERDMA_DB_PAGES;
    return n % ERDMA_DB_PAGES == kind && *ctx < c->db_ctx_limit &&
           c->db_ctx[*ctx].used;
}

/* Pages that were not asked for are reported as 0 but belong to the context */
unsigned erdma_db_alloc(ErdmaCore *c, uint32_t mask, uint64_t *resp)
{
    uint32_t ctx = c->db_ctx_next;

    if (!(mask & (ERDMA_EXT_DB_SQ | ERDMA_EXT_DB_RQ | ERDMA_EXT_DB_CQ))) {
        return ERDMA_CMD_EINVAL;
    }
    if (c->db_ctx_used == c->db_ctx_limit) {
        erdma_guest_error(c, "ALLOC_DB: %u contexts in use, expected fewer",
                          c->db_ctx_limit);
        return ERDMA_CMD_ENOMEM;
    }
    while (c->db_ctx[ctx].used) {
        ctx = (ctx + 1) % c->db_ctx_limit;
    }
    c->db_ctx[ctx].used = true;
    c->db_ctx_used++;
    c->db_ctx_next = (ctx + 1) % c->db_ctx_limit;
    *resp = 0;
    if (mask & ERDMA_EXT_DB_SQ) {
        *resp |= ERDMA_PREP(ERDMA_ALLOC_DB_SDB,
                            (uint64_t)erdma_db_page(ctx, ERDMA_DB_SDB));
    }
    if (mask & ERDMA_EXT_DB_RQ) {
        *resp |= ERDMA_PREP(ERDMA_ALLOC_DB_RDB,
                            (uint64_t)erdma_db_page(ctx, ERDMA_DB_RDB));
    }
    if (mask & ERDMA_EXT_DB_CQ) {
        *resp |= ERDMA_PREP(ERDMA_ALLOC_DB_CDB,
                            (uint64_t)erdma_db_page(ctx, ERDMA_DB_CDB));
    }
    return ERDMA_CMD_OK;
}

unsigned erdma_db_release(ErdmaCore *c, const struct erdma_cmd_ext_db *cmd)
{
    const uint16_t page[ERDMA_DB_PAGES] = {
        [ERDMA_DB_SDB] = le16toh(cmd->sdb),
        [ERDMA_DB_RDB] = le16toh(cmd->rdb),
        [ERDMA_DB_CDB] = le16toh(cmd->cdb),
    };
    uint32_t mask = le32toh(cmd->mask);
    const uint32_t bit[ERDMA_DB_PAGES] = {
        ERDMA_EXT_DB_SQ, ERDMA_EXT_DB_RQ, ERDMA_EXT_DB_CQ,
    };
    uint32_t ctx = 0, found = UINT32_MAX;

    for (unsigned kind = 0; kind < ERDMA_DB_PAGES; kind++) {
        if (!(mask & bit[kind])) {
            continue;
        }
        if (!erdma_db_context(c, page[kind], kind, &ctx) ||
            (found != UINT32_MAX && found != ctx)) {
            erdma_guest_error(c,
                              "FREE_DB: page %u, expected an allocated one of "
                              "one context",
                              page[kind]);
            return ERDMA_CMD_ENOENT;
        }
        found = ctx;
    }
    if (found == UINT32_MAX) {
        return ERDMA_CMD_EINVAL;
    }
    if (c->db_ctx[found].users) {
        return ERDMA_CMD_EBUSY;
    }
    c->db_ctx[found].used = false;
    c->db_ctx_used--;
    return ERDMA_CMD_OK;
}

void erdma_db_drop(ErdmaCore *c, uint64_t offset, uint64_t value)
{
    c->n.doorbells_dropped++;
    erdma_trace(c, "doorbell 0x%llx at 0x%llx dropped",
                (unsigned long long)value, (unsigned long long)offset);
}
