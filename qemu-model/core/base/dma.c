/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The doors to guest memory, apart from the payload (copy.c). */
#include "core_int.h"

bool erdma_dma_read(ErdmaCore *c, uint64_t addr, void *dst, size_t len)
{
    return len <= UINT64_MAX - addr &&
           c->ops->read(c->opaque, addr, dst, len);
}

bool erdma_dma_write(ErdmaCore *c, uint64_t addr, const void *src, size_t len)
{
    return len <= UINT64_MAX - addr &&
           c->ops->write(c->opaque, addr, src, len);
}

static bool dma_publish_slow(ErdmaCore *c, uint64_t addr, const uint8_t *entry,
                             size_t len, size_t head)
{
    if (!erdma_dma_write(c, addr + head, entry + head, len - head)) {
        return false;
    }
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return erdma_dma_write(c, addr, entry, head);
}

bool erdma_dma_publish(ErdmaCore *c, uint64_t addr, const void *entry,
                       size_t len, size_t head)
{
    uint64_t got = len;
    uint8_t *p;

    if (len > UINT64_MAX - addr) {
        return false;
    }
    p = c->ops->map(c->opaque, addr, &got, true);
    if (!p) {
        return false;
    }
    if (got < len || (uintptr_t)p % head) {
        c->ops->unmap(c->opaque, p, got, true, 0);
        return dma_publish_slow(c, addr, entry, len, head);
    }
    memcpy(p + head, (const uint8_t *)entry + head, len - head);
    if (head == sizeof(uint64_t)) {
        uint64_t word;

        memcpy(&word, entry, sizeof(word));
        __atomic_store_n((uint64_t *)p, word, __ATOMIC_RELEASE);
    } else {
        uint32_t word;

        memcpy(&word, entry, sizeof(word));
        __atomic_store_n((uint32_t *)p, word, __ATOMIC_RELEASE);
    }
    c->ops->unmap(c->opaque, p, got, true, len);
    return true;
}
