/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Payload from guest buffer to guest buffer with one copy.
 *
 * A cursor walks a list of ranges named by keys. It translates as far as bus
 * addresses are contiguous, maps that, and copies straight between two maps.
 * Maps are given back before the call ends; no pointer outlives a call.
 */
#include "core_int.h"

static void copy_init_cursor(ErdmaCursor *cur)
{
    cur->qp = NULL;
    cur->span = NULL;
    cur->nspans = 0;
    cur->bus_len = 0;
    cur->host = NULL;
    cur->host_len = 0;
    cur->map = NULL;
    cur->fault = ERDMA_ACCESS_OK;
    cur->reach_valid = false;
    cur->xlate.first = 0;
    cur->xlate.count = 0;
    cur->xlate.leaf_valid = false;
}

void erdma_cursor_spans(ErdmaCursor *cur, const ErdmaQp *qp,
                        const ErdmaSpan *span, unsigned nspans, uint8_t need,
                        bool remote, bool write, uint64_t skip)
{
    copy_init_cursor(cur);
    while (nspans && skip >= span->len) {
        skip -= span->len;
        span++;
        nspans--;
    }
    cur->qp = qp;
    cur->span = span;
    cur->nspans = nspans;
    cur->pos = skip;
    cur->need = need;
    cur->remote = remote;
    cur->write = write;
}

void erdma_cursor_buffer(ErdmaCursor *cur, const void *data, uint64_t len,
                         uint64_t skip)
{
    copy_init_cursor(cur);
    cur->host = (uint8_t *)data + skip;
    cur->host_len = len - skip;
}

void erdma_cursor_unmap(ErdmaCursor *cur)
{
    if (cur->map) {
        ErdmaCore *c = cur->qp->core;
        uint64_t done = cur->host - (uint8_t *)cur->map;

        c->ops->unmap(c->opaque, cur->map, cur->map_len, cur->write, done);
        cur->map = NULL;
        /* what was mapped and not used is known by address again */
        cur->bus -= cur->host_len;
        cur->bus_len += cur->host_len;
        cur->host_len = 0;
    }
}

/* Check the next range and find where its next bytes are */
static bool copy_locate(ErdmaCursor *cur, uint64_t want)
{
    ErdmaCore *c = cur->qp->core;

    while (cur->nspans && cur->pos == cur->span->len) {
        cur->span++;
        cur->nspans--;
        cur->pos = 0;
        cur->reach_valid = false;
        cur->xlate.count = 0;
        cur->xlate.leaf_valid = false;
    }
    if (!cur->nspans) {
        cur->fault = ERDMA_ACCESS_BOUNDS;
        return false;
    }
    if (!cur->reach_valid) {
        cur->fault = erdma_mr_check(cur->qp, cur->span, cur->need, cur->remote,
                                    &cur->reach);
        if (cur->fault) {
            return false;
        }
        cur->reach_valid = true;
    }
    if (want > cur->span->len - cur->pos) {
        want = cur->span->len - cur->pos;
    }
    if (!erdma_mr_extent(c, cur->reach.mr, &cur->xlate,
                         cur->span->va + cur->pos, want, &cur->bus,
                         &cur->bus_len)) {
        cur->fault = ERDMA_ACCESS_BOUNDS;
        return false;
    }
    cur->pos += cur->bus_len;
    return true;
}

/* Have at least one mapped byte, at most @want */
static bool copy_fill(ErdmaCursor *cur, uint64_t want)
{
    ErdmaCore *c;
    uint64_t len;

    if (!cur->qp) {
        cur->fault = ERDMA_ACCESS_BOUNDS;   /* end of a buffer cursor */
        return false;
    }
    c = cur->qp->core;
    erdma_cursor_unmap(cur);
    if (!cur->bus_len && !copy_locate(cur, want)) {
        return false;
    }
    len = cur->bus_len < want ? cur->bus_len : want;
    cur->map_len = len;
    cur->map = c->ops->map(c->opaque, cur->bus, &cur->map_len, cur->write);
    if (!cur->map) {
        erdma_guest_error(c, "QP %u: payload at 0x%llx is not memory",
                          cur->qp->qpn, (unsigned long long)cur->bus);
        cur->fault = ERDMA_ACCESS_BOUNDS;
        return false;
    }
    cur->host = cur->map;
    cur->host_len = cur->map_len < len ? cur->map_len : len;
    cur->bus += cur->host_len;
    cur->bus_len -= cur->host_len;
    return true;
}

void *erdma_cursor_peek(ErdmaCursor *cur, uint64_t want, uint64_t *len)
{
    if (!cur->host_len && !copy_fill(cur, want)) {
        return NULL;
    }
    *len = cur->host_len < want ? cur->host_len : want;
    return cur->host;
}

void erdma_cursor_pass(ErdmaCursor *cur, uint64_t len)
{
    cur->host += len;
    cur->host_len -= len;
}

void *erdma_cursor_map(ErdmaCursor *cur, uint64_t len)
{
    void *p;

    if (!cur->host_len && !copy_fill(cur, len)) {
        return NULL;
    }
    if (cur->host_len < len) {
        cur->fault = ERDMA_ACCESS_BOUNDS;
        return NULL;
    }
    p = cur->host;
    cur->host += len;
    cur->host_len -= len;
    return p;
}

static void copy_put(ErdmaCursor *dst, const uint8_t *src, uint64_t n)
{
    ErdmaFate fate = ERDMA_FATE_GOOD;

    if (dst->qp && erdma_fault_at(dst->qp->core, ERDMA_POINT_PAYLOAD)) {
        fate = erdma_fault_payload(dst->qp);
    }
    if (fate != ERDMA_FATE_LOST) {
        memmove(dst->host, src, n);     /* one buffer may be both */
    }
    if (fate == ERDMA_FATE_SPOILT) {
        erdma_fault_spoil(dst->qp, dst->host, n);
    }
}

uint64_t erdma_copy(ErdmaCursor *dst, ErdmaCursor *src, uint64_t len)
{
    uint64_t done = 0;

    while (done < len) {
        uint64_t n = len - done;

        if ((!src->host_len && !copy_fill(src, n)) ||
            (!dst->host_len && !copy_fill(dst, n))) {
            break;
        }
        n = n < src->host_len ? n : src->host_len;
        n = n < dst->host_len ? n : dst->host_len;
        copy_put(dst, src->host, n);
        src->host += n;
        src->host_len -= n;
        dst->host += n;
        dst->host_len -= n;
        done += n;
    }
    erdma_cursor_unmap(src);
    erdma_cursor_unmap(dst);
    return done;
}
