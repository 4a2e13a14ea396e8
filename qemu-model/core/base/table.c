/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers to objects: two levels, the second allocated where objects are. */
#include <stdlib.h>

#include "core_int.h"

#define CHUNK_SHIFT 9
#define CHUNK_SIZE  (1u << CHUNK_SHIFT)

static uint32_t table_chunks(const ErdmaTable *t)
{
    return (t->limit + CHUNK_SIZE - 1) >> CHUNK_SHIFT;
}

bool erdma_table_init(ErdmaTable *t, uint32_t limit)
{
    t->limit = limit;
    t->count = 0;
    t->chunk = calloc(table_chunks(t), sizeof(*t->chunk));
    return t->chunk != NULL;
}

void erdma_table_free(ErdmaTable *t)
{
    if (t->chunk) {
        for (uint32_t i = 0; i < table_chunks(t); i++) {
            free(t->chunk[i]);
        }
        free(t->chunk);
        t->chunk = NULL;
    }
}

void *erdma_table_get(const ErdmaTable *t, uint32_t number)
{
    void **chunk;

    if (number >= t->limit) {
        return NULL;
    }
    chunk = t->chunk[number >> CHUNK_SHIFT];
    return chunk ? chunk[number & (CHUNK_SIZE - 1)] : NULL;
}

bool erdma_table_put(ErdmaTable *t, uint32_t number, void *object)
{
    void ***chunk;

    if (number >= t->limit) {
        return false;
    }
    chunk = &t->chunk[number >> CHUNK_SHIFT];
    if (!*chunk) {
        *chunk = calloc(CHUNK_SIZE, sizeof(**chunk));
        if (!*chunk) {
            return false;
        }
    }
    (*chunk)[number & (CHUNK_SIZE - 1)] = object;
    t->count++;
    return true;
}

void erdma_table_remove(ErdmaTable *t, uint32_t number)
{
    if (erdma_table_get(t, number)) {
        t->chunk[number >> CHUNK_SHIFT][number & (CHUNK_SIZE - 1)] = NULL;
        t->count--;
    }
}

void *erdma_table_next(const ErdmaTable *t, uint32_t *number)
{
    if (!t->count) {
        return NULL;
    }
    for (uint32_t i = *number; i < t->limit; i++) {
        void **chunk = t->chunk[i >> CHUNK_SHIFT];

        if (!chunk) {
            i |= CHUNK_SIZE - 1;
        } else if (chunk[i & (CHUNK_SIZE - 1)]) {
            *number = i;
            return chunk[i & (CHUNK_SIZE - 1)];
        }
    }
    return NULL;
}
