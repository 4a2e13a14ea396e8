/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of the guest that work requests name: regions, their translation, and
 * moving bytes from one to another.
 */
#ifndef ERDMA_MR_INT_H
#define ERDMA_MR_INT_H

#include "base_int.h"

/* ---- memory regions (mr.c) ---- */

typedef struct ErdmaMr {
    uint32_t index;
    uint8_t key;
    uint8_t type;               /* enum erdma_mr_type */
    bool valid;
    uint8_t rights;             /* ERDMA_RIGHT_* */
    uint8_t page_shift;
    uint8_t level;              /* 0: page[], 1..3: page[0] is the top table */
    uint8_t mtt_shift;          /* log2 of the entries of a table page */
    uint32_t pd;
    uint32_t capacity;          /* FRMR: entries the table has room for */
    uint64_t base;              /* START_VA or iova */
    uint64_t length;
    uint64_t npages;
    uint64_t page[ERDMA_INLINE_MTT_CNT];
    uint64_t frmr_table;
    /* last entry used, to spare a read of the table */
    bool hot;
    uint64_t hot_index, hot_entry;
    /* where other processes see that the key is revoked (remote_id.c) */
    uint32_t slot, slot_gen;    /* slot_gen 0: no slot yet */
} ErdmaMr;

typedef struct ErdmaRegMr {
    uint64_t iova;
    uint32_t length;
    uint32_t stag;
    uint32_t npages;
    uint8_t rights;
    uint8_t kind;               /* enum erdma_reg_mr_kind */
    uint64_t page[ERDMA_INLINE_MTT_CNT];
} ErdmaRegMr;

/* A range named by the guest */
typedef struct ErdmaSpan {
    uint64_t va;
    uint64_t len;
    uint32_t key;
} ErdmaSpan;

/* What is wrong with an access, in the order of the syndromes of 8.4 */
typedef enum ErdmaAccess {
    ERDMA_ACCESS_OK,
    ERDMA_ACCESS_STAG,
    ERDMA_ACCESS_BOUNDS,
    ERDMA_ACCESS_RIGHTS,
    ERDMA_ACCESS_PD,
    ERDMA_ACCESS_WRAP,
} ErdmaAccess;

static inline uint8_t erdma_access_send(ErdmaAccess a)
{
    return a ? ERDMA_WC_SEND_STAG + (a - ERDMA_ACCESS_STAG) : 0;
}

static inline uint8_t erdma_access_recv(ErdmaAccess a)
{
    return a ? ERDMA_WC_RECV_STAG + (a - ERDMA_ACCESS_STAG) : 0;
}

/* Translation entries read from guest memory; lives for one copy */
typedef struct ErdmaXlate {
    uint64_t first;
    uint32_t count;
    bool leaf_valid;
    uint64_t leaf_index, leaf_addr;
    uint64_t entry[ERDMA_LIMIT_MTT_FETCH];
} ErdmaXlate;

/* How a QP reaches memory by a key; mr == NULL: the local DMA key */
typedef struct ErdmaReach {
    ErdmaMr *mr;
} ErdmaReach;

/* May @qp access @span? @need: any of these rights. */
ErdmaAccess erdma_mr_check(const ErdmaQp *qp, const ErdmaSpan *span,
                           uint8_t need, bool remote, ErdmaReach *reach);
/*
 * Bus address of @va, which was checked, and how many bytes up to @want follow
 * it in one piece. False: a table cannot be read.
 */
bool erdma_mr_extent(ErdmaCore *c, ErdmaMr *mr, ErdmaXlate *x, uint64_t va,
                     uint64_t want, uint64_t *bus, uint64_t *len);
/* REG_MR (5.2.9); enum erdma_cmd_status */
unsigned erdma_mr_register(ErdmaCore *c, const struct erdma_cmd_reg_mr *cmd);
/* DEREG_MR (5.2.10), also of a region in use: each step checks its key again */
unsigned erdma_mr_deregister(ErdmaCore *c, uint32_t index);
/* REG_MR work request; enum erdma_wc_syndrome */
uint8_t erdma_mr_fast_register(const ErdmaQp *qp, const ErdmaRegMr *reg);
/* Invalidate for @qp; false if the key is not a valid FRMR of its PD */
bool erdma_mr_invalidate(const ErdmaQp *qp, uint32_t stag);

/* ---- moving bytes (copy.c) ---- */

typedef struct ErdmaCursor {
    const ErdmaQp *qp;          /* whose keys these are */
    const ErdmaSpan *span;
    unsigned nspans;
    uint8_t need;               /* rights, any of */
    bool remote, write;
    uint64_t pos;               /* in span[0] */
    uint64_t bus, bus_len;      /* known address, not mapped yet */
    uint8_t *host;              /* mapped, not used yet */
    uint64_t host_len;
    void *map;
    uint64_t map_len;
    ErdmaAccess fault;
    bool reach_valid;
    ErdmaReach reach;
    ErdmaXlate xlate;
} ErdmaCursor;

/*
 * Begin at byte @skip of @nspans ranges at @span, which must stay. Keys are
 * those of @qp, checked for any right of @need, as a peer's access if @remote.
 */
void erdma_cursor_spans(ErdmaCursor *cur, const ErdmaQp *qp,
                        const ErdmaSpan *span, unsigned nspans, uint8_t need,
                        bool remote, bool write, uint64_t skip);
/* Begin at byte @skip of @len bytes of the host at @data */
void erdma_cursor_buffer(ErdmaCursor *cur, const void *data, uint64_t len,
                         uint64_t skip);
/* Next bytes, at most @want, not yet passed; NULL sets fault */
void *erdma_cursor_peek(ErdmaCursor *cur, uint64_t want, uint64_t *len);
/* @len bytes of what was peeked at are done */
void erdma_cursor_pass(ErdmaCursor *cur, uint64_t len);
/* Map @len bytes in one piece at the cursor; NULL sets fault */
void *erdma_cursor_map(ErdmaCursor *cur, uint64_t len);
/* Unmap what is mapped; before each return from the core */
void erdma_cursor_unmap(ErdmaCursor *cur);
/* Bytes copied; less than @len: one of the cursors has a fault */
uint64_t erdma_copy(ErdmaCursor *dst, ErdmaCursor *src, uint64_t len);

#endif /* ERDMA_MR_INT_H */
