/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory regions: registration, checks, translation (section 10).
 *
 * Tables stay in guest memory and are read when needed, a run of entries at a
 * time: registering a region of any size costs the host one ErdmaMr.
 */
#include <stdlib.h>

#include "core_int.h"

/* ---- registration ---- */

static uint64_t mr_page_size(const ErdmaMr *mr)
{
    return 1ull << mr->page_shift;
}

/* Most entries a table of this shape can hold */
static uint64_t mr_table_capacity(const ErdmaMr *mr)
{
    switch (mr->level) {
    case 0:
        return ERDMA_INLINE_MTT_CNT;
    case 1:
        return UINT32_MAX;
    default:
        return 1ull << (mr->mtt_shift * mr->level);
    }
}

/*
 * True length: VERSION 0 carries its low 32 bits only, the page count says
 * the rest (10.3). False: no length fits the page count.
 */
static bool mr_true_length(ErdmaMr *mr, uint32_t size)
{
    uint64_t off = mr->base & (mr_page_size(mr) - 1);
    uint64_t room = mr->npages << mr->page_shift;
    uint64_t most, len;

    if (room < off || room - off < size) {
        return false;
    }
    most = room - off;
    len = size + ((most - size) & ~0xffffffffull);
    if (len > size && most - len >= mr_page_size(mr)) {
        len = size;
    }
    mr->length = len;
    return true;
}

static bool mr_normal_valid(const ErdmaCore *c, const ErdmaMr *mr)
{
    uint64_t off = mr->base & (mr_page_size(mr) - 1);

    if (mr->npages > mr_table_capacity(mr) ||
        mr->length > 1ull << c->cfg.max_mr_size ||
        mr->length > UINT64_MAX - mr->base) {
        return false;
    }
    return mr->npages >= (off + mr->length + mr_page_size(mr) - 1) >>
                         mr->page_shift;
}

static bool mr_fill_normal(const ErdmaCore *c, ErdmaMr *mr,
                           const struct erdma_cmd_reg_mr *cmd, unsigned version)
{
    uint32_t cfg2 = le32toh(cmd->cfg2);

    mr->valid = ERDMA_GET(ERDMA_REG_MR_VALID, le32toh(cmd->cfg0));
    mr->level = ERDMA_GET(ERDMA_REG_MR_LEVEL, cfg2);
    mr->base = le64toh(cmd->start_va);
    mr->npages = ERDMA_GET(ERDMA_REG_MR_PAGE_CNT, cfg2);
    if (mr->level >= 2 &&
        (version != 1 || !(c->cfg.flags & ERDMA_FLAG_MTT_VA))) {
        return false;
    }
    if (version == 1) {
        if (mr->level == 0) {
            return false;       /* SIZE_HI would overlay an entry */
        }
        mr->mtt_shift = 12 + ERDMA_GET(ERDMA_REG_MR_MTT_PAGE, cfg2) - 3;
        mr->npages |= (uint64_t)(le32toh(cmd->v1.page_cnt_hi) & 0xfff) << 20;
        mr->length = le32toh(cmd->size) |
                     (uint64_t)le32toh(cmd->v1.size_hi) << 32;
        mr->page[0] = le64toh(cmd->v1.table);
    } else {
        if (!mr_true_length(mr, le32toh(cmd->size))) {
            return false;
        }
        for (unsigned i = 0; i < ERDMA_INLINE_MTT_CNT; i++) {
            mr->page[i] = le64toh(cmd->page[i]);
        }
    }
    return mr_normal_valid(c, mr);
}

static bool mr_fill_frmr(ErdmaMr *mr, const struct erdma_cmd_reg_mr *cmd)
{
    uint32_t cfg2 = le32toh(cmd->cfg2);

    mr->capacity = ERDMA_GET(ERDMA_REG_MR_PAGE_CNT, cfg2);
    mr->frmr_table = le64toh(cmd->page[0]);
    return ERDMA_GET(ERDMA_REG_MR_LEVEL, cfg2) == 1 &&
           mr->capacity <= ERDMA_MAX_FRMR_PAGES;
}

static bool mr_fill(const ErdmaCore *c, ErdmaMr *mr,
                    const struct erdma_cmd_reg_mr *cmd)
{
    unsigned version = ERDMA_GET(ERDMA_REG_MR_VERSION, le32toh(cmd->cfg0));

    if (mr->type == ERDMA_MR_DMA) {
        mr->valid = true;       /* although VALID = 0, 5.2.9 */
        return true;
    }
    if (version > 1 || mr->page_shift < ERDMA_LIMIT_PAGE_SHIFT_MIN ||
        mr->page_shift > ERDMA_LIMIT_PAGE_SHIFT_MAX) {
        return false;
    }
    switch (mr->type) {
    case ERDMA_MR_NORMAL:
        return mr_fill_normal(c, mr, cmd, version);
    case ERDMA_MR_FRMR:
        return mr_fill_frmr(mr, cmd);
    default:
        return false;
    }
}

unsigned erdma_mr_register(ErdmaCore *c, const struct erdma_cmd_reg_mr *cmd)
{
    uint32_t cfg0 = le32toh(cmd->cfg0);
    uint32_t cfg1 = le32toh(cmd->cfg1);
    uint32_t index = ERDMA_GET(ERDMA_REG_MR_INDEX, cfg0);
    ErdmaMr *mr;

    if (index >= c->mrs.limit) {
        erdma_guest_error(c, "REG_MR: index %u, expected 0 to %u", index,
                          c->mrs.limit - 1);
        return ERDMA_CMD_EINVAL;
    }
    if (erdma_table_get(&c->mrs, index)) {
        return ERDMA_CMD_EEXIST;
    }
    mr = calloc(1, sizeof(*mr));
    if (!mr) {
        return ERDMA_CMD_ENOMEM;
    }
    mr->index = index;
    mr->key = ERDMA_GET(ERDMA_REG_MR_KEY, cfg0);
    mr->type = ERDMA_GET(ERDMA_REG_MR_TYPE, cfg1);
    mr->pd = ERDMA_GET(ERDMA_REG_MR_PD, cfg1);
    mr->rights = (cfg1 & ERDMA_REG_MR_RIGHTS) | ERDMA_RIGHT_LOCAL_READ;
    mr->page_shift = ERDMA_GET(ERDMA_REG_MR_PAGE_SHIFT, le32toh(cmd->cfg2));
    if (!mr_fill(c, mr, cmd)) {
        erdma_guest_error(c, "REG_MR: index %u, type %u: %llu pages of 2^%u "
                          "at level %u do not fit %llu bytes or the device",
                          index, mr->type, (unsigned long long)mr->npages,
                          mr->page_shift, mr->level,
                          (unsigned long long)mr->length);
        free(mr);
        return ERDMA_CMD_EINVAL;
    }
    if (!erdma_table_put(&c->mrs, index, mr)) {
        free(mr);
        return ERDMA_CMD_ENOMEM;
    }
    return ERDMA_CMD_OK;
}

/* By index: the key may be newer than any the device saw (5.2.10) */
unsigned erdma_mr_deregister(ErdmaCore *c, uint32_t index)
{
    ErdmaMr *mr = erdma_table_get(&c->mrs, index);

    if (!mr) {
        return ERDMA_CMD_ENOENT;
    }
    erdma_table_remove(&c->mrs, index);
    if (mr->slot_gen) {
        c->fabric->remote_ops->mr_gone(c->fabric, mr);
    }
    free(mr);
    return ERDMA_CMD_OK;
}

/* ---- checks ---- */

static ErdmaMr *mr_lookup(const ErdmaCore *c, uint32_t stag)
{
    ErdmaMr *mr = erdma_table_get(&c->mrs, ERDMA_GET(ERDMA_STAG_INDEX, stag));

    return mr && mr->key == ERDMA_GET(ERDMA_STAG_KEY, stag) ? mr : NULL;
}

ErdmaAccess erdma_mr_check(const ErdmaQp *qp, const ErdmaSpan *span,
                           uint8_t need, bool remote, ErdmaReach *reach)
{
    const ErdmaCore *c = qp->core;
    ErdmaMr *mr = NULL;

    if (span->key != c->cfg.local_dma_key || remote || !qp->kernel) {
        mr = mr_lookup(c, span->key);
        if (!mr || !mr->valid) {
            return ERDMA_ACCESS_STAG;
        }
        if (mr->pd != qp->pd) {
            return ERDMA_ACCESS_PD;
        }
        if (!(mr->rights & need)) {
            return ERDMA_ACCESS_RIGHTS;
        }
    }
    if (span->len > UINT64_MAX - span->va) {
        return ERDMA_ACCESS_WRAP;
    }
    if (mr && mr->type != ERDMA_MR_DMA &&
        (span->va < mr->base || span->va - mr->base > mr->length ||
         span->len > mr->length - (span->va - mr->base))) {
        return ERDMA_ACCESS_BOUNDS;
    }
    reach->mr = mr;
    return ERDMA_ACCESS_OK;
}

/* What other processes were offered of @mr is not to be used any more */
static void mr_revoke(ErdmaCore *c, ErdmaMr *mr)
{
    mr->valid = false;
    if (mr->slot_gen) {
        c->fabric->remote_ops->mr_revoked(c->fabric, mr);
    }
}

bool erdma_mr_invalidate(const ErdmaQp *qp, uint32_t stag)
{
    ErdmaMr *mr = mr_lookup(qp->core, stag);

    if (!mr || mr->type != ERDMA_MR_FRMR || !mr->valid || mr->pd != qp->pd) {
        return false;
    }
    mr_revoke(qp->core, mr);
    return true;
}

/* REG_MR work request (10.6); syndrome */
uint8_t erdma_mr_fast_register(const ErdmaQp *qp, const ErdmaRegMr *reg)
{
    ErdmaMr *mr = erdma_table_get(&qp->core->mrs,
                                  ERDMA_GET(ERDMA_STAG_INDEX, reg->stag));
    uint64_t off, room;

    if (!mr || mr->type != ERDMA_MR_FRMR) {
        return ERDMA_WC_SEND_STAG;
    }
    if (mr->pd != qp->pd) {
        return ERDMA_WC_SEND_PD;
    }
    off = reg->iova & (mr_page_size(mr) - 1);
    room = (uint64_t)reg->npages << mr->page_shift;
    if (room < off || room - off < reg->length ||
        (reg->kind == ERDMA_REG_MR_TABLE && reg->npages > mr->capacity) ||
        (reg->kind == ERDMA_REG_MR_INLINE &&
         reg->npages > ERDMA_INLINE_MTT_CNT)) {
        return ERDMA_WC_SQE_FORMAT;
    }
    if (reg->length > UINT64_MAX - reg->iova) {
        return ERDMA_WC_SEND_WRAP;
    }
    if (mr->valid) {
        mr_revoke(qp->core, mr);
    }
    mr->key = ERDMA_GET(ERDMA_STAG_KEY, reg->stag);
    mr->base = reg->iova;
    mr->length = reg->length;
    mr->rights = reg->rights | ERDMA_RIGHT_LOCAL_READ;
    mr->npages = reg->npages;
    mr->hot = false;
    if (reg->kind == ERDMA_REG_MR_TABLE) {
        mr->level = 1;
        mr->page[0] = mr->frmr_table;
    } else {
        mr->level = 0;
        memcpy(mr->page, reg->page, sizeof(mr->page));
    }
    mr->valid = true;
    return ERDMA_WC_SUCCESS;
}

/* ---- translation ---- */

static bool mr_read_entry(ErdmaCore *c, uint64_t table, uint64_t at,
                         uint64_t *value)
{
    uint64_t raw;

    if (!erdma_dma_read(c, table + at * sizeof(raw), &raw, sizeof(raw))) {
        return false;
    }
    *value = le64toh(raw);
    return true;
}

/* Table page that holds entry @index of a level 2 or 3 region, or 0 */
static uint64_t mr_leaf(ErdmaCore *c, const ErdmaMr *mr, ErdmaXlate *x,
                        uint64_t index)
{
    uint64_t leaf_index = index >> mr->mtt_shift;
    uint64_t mask = (1ull << mr->mtt_shift) - 1;
    uint64_t table = mr->page[0];

    if (x->leaf_valid && x->leaf_index == leaf_index) {
        return x->leaf_addr;
    }
    if (mr->level == 3 &&
        (!mr_read_entry(c, table, leaf_index >> mr->mtt_shift, &table) ||
         !table)) {
        return 0;
    }
    if (!mr_read_entry(c, table,
                       mr->level == 3 ? leaf_index & mask : leaf_index,
                       &table)) {
        return 0;
    }
    x->leaf_valid = true;
    x->leaf_index = leaf_index;
    x->leaf_addr = table;
    return table;
}

/* Read up to @want entries from @index on */
static bool mr_fetch(ErdmaCore *c, ErdmaMr *mr, ErdmaXlate *x, uint64_t index,
                     uint64_t want)
{
    uint64_t at = index;
    uint64_t table = mr->page[0];
    uint64_t n = mr->npages - index;

    if (mr->level >= 2) {
        at = index & ((1ull << mr->mtt_shift) - 1);
        table = mr_leaf(c, mr, x, index);
        if (n > (1ull << mr->mtt_shift) - at) {
            n = (1ull << mr->mtt_shift) - at;
        }
        if (!table) {
            return false;
        }
    }
    n = n < want ? n : want;
    n = n < ERDMA_LIMIT_MTT_FETCH ? n : ERDMA_LIMIT_MTT_FETCH;
    if (!erdma_dma_read(c, table + at * 8, x->entry, n * 8)) {
        x->count = 0;
        return false;
    }
    x->first = index;
    x->count = n;
    mr->hot = true;
    mr->hot_index = index;
    mr->hot_entry = x->entry[0];
    return true;
}

/* Entry @index; @want: how many from here on will be asked for */
static bool mr_entry(ErdmaCore *c, ErdmaMr *mr, ErdmaXlate *x, uint64_t index,
                     uint64_t want, uint64_t *value)
{
    if (index >= mr->npages) {
        return false;
    }
    if (mr->level == 0) {
        if (index >= ERDMA_INLINE_MTT_CNT) {
            return false;
        }
        *value = mr->page[index];
        return true;
    }
    if (index - x->first < x->count) {
        *value = le64toh(x->entry[index - x->first]);
        return true;
    }
    if (want == 1 && mr->hot && mr->hot_index == index) {
        *value = le64toh(mr->hot_entry);
        return true;
    }
    if (!mr_fetch(c, mr, x, index, want)) {
        return false;
    }
    *value = le64toh(x->entry[0]);
    return true;
}

bool erdma_mr_extent(ErdmaCore *c, ErdmaMr *mr, ErdmaXlate *x, uint64_t va,
                     uint64_t want, uint64_t *bus, uint64_t *len)
{
    uint64_t psize, pos, index, in_page, pages, next;

    if (!mr || mr->type == ERDMA_MR_DMA) {
        *bus = va;
        *len = want;
        return true;
    }
    psize = mr_page_size(mr);
    pos = va - mr->base + (mr->base & (psize - 1));
    index = pos >> mr->page_shift;
    in_page = pos & (psize - 1);
    pages = (in_page + want + psize - 1) >> mr->page_shift;
    if (!mr_entry(c, mr, x, index, pages, &next) ||
        next > UINT64_MAX - psize) {
        return false;
    }
    *bus = next + in_page;
    *len = psize - in_page;
    while (*len < want) {
        uint64_t expected = next + psize;

        index++;
        pages--;
        if (!mr_entry(c, mr, x, index, pages, &next) || next != expected ||
            next > UINT64_MAX - psize) {
            break;
        }
        *len += psize;
    }
    if (*len > want) {
        *len = want;
    }
    return true;
}
