/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests that came while the first could not go on wait here, as they came.
 * The peer sends no more than its window, and a wire no more than
 * ERDMA_LIMIT_BACKLOG together.
 */
#include <assert.h>
#include <stdlib.h>

#include "wire_int.h"

#define BACKLOG_FIRST   4096u   /* bytes of the first allocation */

/* Make room for @len more bytes at the end; false: there is none */
static bool backlog_make_room(ErdmaRemote *r, uint32_t len)
{
    ErdmaBacklog *q = &r->backlog;
    uint32_t used = erdma_backlog_used(r);
    uint32_t size = q->size ? q->size : BACKLOG_FIRST;
    uint8_t *buf = q->buf;

    while (size < used + len) {
        size *= 2;
    }
    if (size != q->size) {
        if (size - q->size > ERDMA_LIMIT_BACKLOG - r->wire->backlog_bytes) {
            return false;
        }
        buf = calloc(1, size);
        if (!buf) {
            return false;
        }
        r->wire->backlog_bytes += size - q->size;
    }
    if (q->end + len > q->size) {
        if (used) {
            memmove(buf, q->buf + q->first, used);
        }
        q->first = 0;
        q->end = used;
    }
    if (buf != q->buf) {
        free(q->buf);
        q->buf = buf;
        q->size = size;
    }
    return true;
}

bool erdma_backlog_add(ErdmaRemote *r, const WireMsg *m)
{
    ErdmaBacklog *q = &r->backlog;

    assert(!q->pinned);
    if (!backlog_make_room(r, m->len)) {
        return false;
    }
    memcpy(q->buf + q->end, m->data, m->len);
    q->end += m->len;
    return true;
}

/* Nothing refers to the buffer and nothing is in it */
static void backlog_free(ErdmaBacklog *q)
{
    if (!q->pinned) {
        free(q->buf);
        q->buf = NULL;
    }
}

void erdma_backlog_drop(ErdmaRemote *r)
{
    ErdmaBacklog *q = &r->backlog;

    if (q->size) {
        r->wire->backlog_bytes -= q->size;
        q->size = q->first = q->end = 0;
        backlog_free(q);
    }
}

bool erdma_backlog_begin(ErdmaRemote *r, WireMsg *m)
{
    ErdmaBacklog *q = &r->backlog;

    if (q->first == q->end) {
        return false;
    }
    m->data = q->buf + q->first;
    memcpy(&m->h, m->data, sizeof(m->h));
    m->len = le32toh(m->h.len);
    m->fixed = sizeof(WireRequest);
    q->pinned = true;
    return true;
}

void erdma_backlog_end(ErdmaRemote *r, const WireMsg *m, bool executed)
{
    ErdmaBacklog *q = &r->backlog;

    q->pinned = false;
    if (!q->size) {                     /* dropped meanwhile */
        backlog_free(q);
    } else if (executed) {
        q->first += m->len;
        if (q->first == q->end) {
            erdma_backlog_drop(r);
        }
    }
}
