/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the other headers of the inside stand on: tables of objects, and the
 * types that are named before they are defined.
 */
#ifndef ERDMA_BASE_INT_H
#define ERDMA_BASE_INT_H

#include "erdma/erdma_field.h"
#include "erdma/erdma_hw.h"
#include "erdma/erdma_names.h"
#include "erdma/erdma_ring.h"
#include "erdma_core.h"
#include "limits.h"
#include "sched.h"

typedef struct ErdmaCmd ErdmaCmd;
typedef struct ErdmaCq ErdmaCq;
typedef struct ErdmaEq ErdmaEq;
typedef struct ErdmaFaults ErdmaFaults;
typedef struct ErdmaQp ErdmaQp;
typedef struct ErdmaRemote ErdmaRemote;
typedef struct ErdmaTransport ErdmaTransport;

/* ---- table.c: number -> object, O(1), memory only where objects are ---- */

typedef struct ErdmaTable {
    void ***chunk;
    uint32_t limit;             /* numbers 0..limit-1 */
    uint32_t count;             /* objects now */
} ErdmaTable;

/* Numbers 0 to @limit - 1, none in use; false: no memory */
bool erdma_table_init(ErdmaTable *t, uint32_t limit);
/* Free the table, not the objects; one that was never set up, too */
void erdma_table_free(ErdmaTable *t);
/* Object of @number; NULL: none, or no such number */
void *erdma_table_get(const ErdmaTable *t, uint32_t number);
/* @number has no object yet; false: no memory, or no such number */
bool erdma_table_put(ErdmaTable *t, uint32_t number, void *object);
/* No matter whether @number has an object */
void erdma_table_remove(ErdmaTable *t, uint32_t number);
/* Next object at or after *@number, which is set to its number; NULL: none */
void *erdma_table_next(const ErdmaTable *t, uint32_t *number);

#endif /* ERDMA_BASE_INT_H */
