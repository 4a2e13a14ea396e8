/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What other processes may name, and whether it is still there.
 *
 * A connected QP has an id, and its generation is in slot id of a table that
 * others can read. A memory region gets a slot of the same table, from its end
 * downwards, when its memory is first named in a message; the generation in it
 * changes whenever the key of the region is revoked. All generations of a
 * fabric differ.
 */
#include <stdlib.h>

#include "wire_int.h"

#define MAX_IDS     (1u << 20)
#define MIN_IDS     64u

/* ---- the table ---- */

void erdma_fabric_share(ErdmaFabric *f, void *host, size_t len,
                        uint32_t region)
{
    size_t slots = len / sizeof(*f->alive);

    f->alive = host;
    f->alive_slots = slots < MAX_IDS ? slots : MAX_IDS;
    f->alive_region = region;
}

/* Seen by other processes before anything that follows */
static void id_publish(ErdmaFabric *f, uint32_t slot, uint32_t gen)
{
    if (f->alive) {
        __atomic_store_n(&f->alive[slot], htole32(gen), __ATOMIC_SEQ_CST);
    }
}

static uint32_t id_generation(ErdmaFabric *f)
{
    if (!++f->generation) {
        f->generation++;                /* 0 in the table means: none */
    }
    return f->generation;
}

static bool id_table_full(const ErdmaFabric *f)
{
    return f->alive && f->ids_used + f->mr_slots_used == f->alive_slots;
}

bool erdma_id_valid(const ErdmaWire *w, uint32_t slot, uint32_t gen)
{
    uint64_t offset = (uint64_t)slot * sizeof(uint32_t);
    uint32_t now;

    if (!w->alive_len) {
        return true;
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return offset < w->alive_len &&
           w->ops->pull(w->opaque, w->alive_region, offset, &now,
                        sizeof(now)) && le32toh(now) == gen;
}

/* ---- ids of QPs ---- */

static bool id_grow(ErdmaFabric *f)
{
    uint32_t n = f->ids ? 2 * f->ids : MIN_IDS;
    ErdmaRemote **id;
    uint32_t *free_id;

    if (n > MAX_IDS) {
        return false;
    }
    id = calloc(n, sizeof(*id));
    free_id = calloc(n, sizeof(*free_id));
    if (!id || !free_id) {
        free(id);
        free(free_id);
        return false;
    }
    if (f->ids) {
        memcpy(id, f->id, f->ids * sizeof(*id));
        memcpy(free_id, f->free_id, f->free_ids * sizeof(*free_id));
    }
    free(f->id);
    free(f->free_id);
    f->id = id;
    f->free_id = free_id;
    f->ids = n;
    return true;
}

bool erdma_id_alloc(ErdmaFabric *f, ErdmaRemote *r)
{
    if (!f->free_ids && (id_table_full(f) ||
                         (f->ids_used == f->ids && !id_grow(f)))) {
        return false;
    }
    r->id = f->free_ids ? f->free_id[--f->free_ids] : f->ids_used++;
    r->gen = id_generation(f);
    f->id[r->id] = r;
    id_publish(f, r->id, r->gen);
    return true;
}

void erdma_id_free(ErdmaFabric *f, ErdmaRemote *r)
{
    id_publish(f, r->id, 0);
    f->id[r->id] = NULL;
    f->free_id[f->free_ids++] = r->id;
}

ErdmaRemote *erdma_id_find(ErdmaFabric *f, __le32 id, __le32 gen)
{
    uint32_t n = le32toh(id);
    ErdmaRemote *r = n < f->ids_used ? f->id[n] : NULL;

    return r && r->gen == le32toh(gen) ? r : NULL;
}

ErdmaRemote *erdma_id_target(ErdmaWire *w, const WireHdr *h)
{
    ErdmaRemote *r = erdma_id_find(w->fabric, h->id, h->gen);

    return r && r->wire == w ? r : NULL;
}

/* ---- slots of memory regions ---- */

/* Room in the stack of freed slots for one more that will be freed */
static bool id_mr_grow(ErdmaFabric *f)
{
    uint32_t n = f->mr_slots ? 2 * f->mr_slots : MIN_IDS;
    uint32_t *stack;

    if (f->mr_slots_used < f->mr_slots) {
        return true;
    }
    stack = calloc(n, sizeof(*stack));
    if (!stack) {
        return false;
    }
    if (f->mr_frees) {
        memcpy(stack, f->mr_free, f->mr_frees * sizeof(*stack));
    }
    free(f->mr_free);
    f->mr_free = stack;
    f->mr_slots = n;
    return true;
}

/* Half of the table at most: QPs must find room, regions may do without */
static bool id_mr_alloc(ErdmaFabric *f, ErdmaMr *mr)
{
    if (f->mr_frees) {
        mr->slot = f->mr_free[--f->mr_frees];
    } else if (f->mr_slots_used < f->alive_slots / 2 && !id_table_full(f) &&
               id_mr_grow(f)) {
        mr->slot = f->alive_slots - ++f->mr_slots_used;
    } else {
        return false;
    }
    mr->slot_gen = id_generation(f);
    id_publish(f, mr->slot, mr->slot_gen);
    return true;
}

bool erdma_id_grant(ErdmaFabric *f, ErdmaMr *mr, WireRange *range)
{
    if (!mr || !f->alive) {
        range->slot = htole32(WIRE_NO_SLOT);
        range->gen = 0;
        return true;
    }
    if (!mr->slot_gen && !id_mr_alloc(f, mr)) {
        return false;
    }
    range->slot = htole32(mr->slot);
    range->gen = htole32(mr->slot_gen);
    return true;
}

void erdma_id_mr_revoked(ErdmaFabric *f, ErdmaMr *mr)
{
    if (mr->slot_gen) {
        mr->slot_gen = id_generation(f);
        id_publish(f, mr->slot, mr->slot_gen);
    }
}

void erdma_id_mr_gone(ErdmaFabric *f, ErdmaMr *mr)
{
    if (mr->slot_gen) {
        id_publish(f, mr->slot, 0);
        f->mr_free[f->mr_frees++] = mr->slot;
        mr->slot_gen = 0;
    }
}

void erdma_id_fabric_free(ErdmaFabric *f)
{
    free(f->id);
    free(f->free_id);
    free(f->mr_free);
}
