/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rings of 32-byte entries in guest memory: SQ, RQ and CQ (5.2.2, 5.2.4).
 *
 * The page table is read once, when the queue is created, so that finding an
 * entry later costs no guest access and cannot go wrong. A contiguous queue,
 * whatever its page size, keeps its base only.
 */
#include <stdlib.h>

#include "core_int.h"

#define ENTRY_SIZE  32u

/* Page addresses as the guest gave them; enum erdma_cmd_status */
static unsigned queue_read_pages(ErdmaCore *c, const ErdmaQueueSpec *spec,
                                 uint64_t *page, uint32_t n)
{
    if (spec->table) {
        if (!erdma_dma_read(c, spec->addr, page, n * sizeof(*page))) {
            erdma_guest_error(c, "queue page table at 0x%llx is not memory",
                              (unsigned long long)spec->addr);
            return ERDMA_CMD_EFAULT;
        }
        for (uint32_t i = 0; i < n; i++) {
            page[i] = le64toh(page[i]);
        }
    } else {
        page[0] = spec->addr;
        for (uint32_t i = 1; i < n; i++) {
            page[i] = spec->inline_page[i - 1];
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (page[i] % ENTRY_SIZE ||
            page[i] > UINT64_MAX - (1ull << spec->page_shift)) {
            erdma_guest_error(c,
                              "queue page %u: address 0x%llx, expected a "
                              "multiple of 32",
                              i, (unsigned long long)page[i]);
            return ERDMA_CMD_EINVAL;
        }
    }
    return ERDMA_CMD_OK;
}

static bool queue_is_contiguous(const ErdmaQueueSpec *spec,
                                const uint64_t *page, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        if (page[i] != page[i - 1] + (1ull << spec->page_shift)) {
            return false;
        }
    }
    return true;
}

unsigned erdma_queue_setup(ErdmaCore *c, ErdmaQueue *q,
                           const ErdmaQueueSpec *spec)
{
    uint64_t bytes = ((uint64_t)ENTRY_SIZE << spec->depth_log) +
                     spec->first_off;
    uint64_t need = (bytes + (1ull << spec->page_shift) - 1) >>
                    spec->page_shift;
    uint64_t *page;
    unsigned err;

    if (!spec->mtt_cnt || need > spec->mtt_cnt ||
        spec->first_off % ENTRY_SIZE ||
        (!spec->table && spec->mtt_cnt > spec->inline_cnt)) {
        erdma_guest_error(c,
                          "queue of %llu bytes: %u pages are not enough or not "
                          "given",
                          (unsigned long long)bytes, spec->mtt_cnt);
        return ERDMA_CMD_EINVAL;
    }
    if (need > ERDMA_LIMIT_QUEUE_PAGES - c->queue_pages) {
        return ERDMA_CMD_ENOMEM;
    }
    page = calloc(need, sizeof(*page));
    if (!page) {
        return ERDMA_CMD_ENOMEM;
    }
    err = queue_read_pages(c, spec, page, need);
    if (err) {
        free(page);
        return err;
    }
    q->depth = 1u << spec->depth_log;
    q->first_off = spec->first_off;
    q->page_shift = spec->page_shift;
    if (queue_is_contiguous(spec, page, need)) {
        q->base = page[0] + spec->first_off;
        q->page = NULL;
        q->npages = 0;
        free(page);
    } else {
        q->page = page;
        q->npages = need;
        c->queue_pages += need;
    }
    return ERDMA_CMD_OK;
}

void erdma_queue_release(ErdmaCore *c, ErdmaQueue *q)
{
    c->queue_pages -= q->npages;
    free(q->page);
    q->page = NULL;
    q->npages = 0;
}

uint32_t erdma_queue_locate(const ErdmaQueue *q, uint32_t index,
                            uint64_t *addr)
{
    uint32_t slot = erdma_ring_slot(index, q->depth);
    uint32_t to_end = q->depth - slot;
    uint64_t off, in_page, left;

    if (!q->page) {
        *addr = q->base + (uint64_t)slot * ENTRY_SIZE;
        return to_end;
    }
    off = q->first_off + (uint64_t)slot * ENTRY_SIZE;
    in_page = off & ((1ull << q->page_shift) - 1);
    *addr = q->page[off >> q->page_shift] + in_page;
    left = ((1ull << q->page_shift) - in_page) / ENTRY_SIZE;
    return left < to_end ? left : to_end;
}

bool erdma_queue_read(ErdmaCore *c, const ErdmaQueue *q, uint32_t index,
                      uint32_t n, void *dst)
{
    while (n) {
        uint64_t addr;
        uint32_t run = erdma_queue_locate(q, index, &addr);

        if (run > n) {
            run = n;
        }
        if (!erdma_dma_read(c, addr, dst, (size_t)run * ENTRY_SIZE)) {
            return false;
        }
        dst = (uint8_t *)dst + (size_t)run * ENTRY_SIZE;
        index += run;
        n -= run;
    }
    return true;
}
