/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakewire.h"

WireMode fake_wire_mode = WIRE_MODE_OFF;

static void die(const char *what)
{
    fprintf(stderr, "fakewire: %s\n", what);
    abort();
}

void wire_end_feed(WireEnd *e, const void *data, size_t len)
{
    if (e->len + len > e->cap) {
        e->cap = 2 * (e->len + len);
        e->buf = realloc(e->buf, e->cap);
        if (!e->buf) {
            die("no memory");
        }
    }
    memcpy(e->buf + e->len, data, len);
    e->len += len;
    if (e->len > e->most) {
        e->most = e->len;
    }
}

static void let_go(WireEnd *e)
{
    if (e->other && e->later_len) {
        wire_end_feed(e->other, e->later, e->later_len);
    }
    free(e->later);
    e->later = NULL;
    e->later_len = 0;
}

static void keep(WireEnd *e, const void *data, size_t len)
{
    e->later = realloc(e->later, e->later_len + len);
    if (!e->later) {
        die("no memory");
    }
    memcpy(e->later + e->later_len, data, len);
    e->later_len += len;
}

static bool op_send(void *opaque, const void *data, size_t len, bool later)
{
    WireEnd *e = opaque;

    if (e->broken) {
        die("send on a broken wire");
    }
    e->sends++;
    if (e->refuse || e->sends == e->refuse_at) {
        return false;
    }
    e->laters += later;
    if (later && e->keep) {
        keep(e, data, len);
        return true;
    }
    let_go(e);
    if (e->other) {
        wire_end_feed(e->other, data, len);
    }
    return true;
}

static bool op_pull(void *opaque, uint32_t region, uint64_t offset, void *dst,
                    size_t len)
{
    WireEnd *e = opaque;

    if (e->broken) {
        die("pull on a broken wire");
    }
    if (region == FAKE_ALIVE && e->other_alive) {
        if (offset > e->alive_len || len > e->alive_len - offset) {
            return false;
        }
        memcpy(dst, (const uint8_t *)e->other_alive + offset, len);
        return true;
    }
    if (!e->other_host || region != FAKE_REGION || offset > RAM_SIZE ||
        len > RAM_SIZE - offset) {
        return false;
    }
    e->pulls++;
    e->pulled += len;
    memcpy(dst, e->other_host->ram + offset, len);
    if (e->on_pull) {
        void (*hook)(WireEnd *e) = e->on_pull;

        e->on_pull = NULL;
        hook(e);
    }
    return true;
}

static void op_broken(void *opaque, const char *why)
{
    WireEnd *e = opaque;

    if (e->broken) {
        die("a wire broke twice");
    }
    e->broken = true;
    snprintf(e->why, sizeof(e->why), "%s", why);
}

static bool op_linger(void *opaque)
{
    WireEnd *e = opaque;

    e->lingers |= e->keep;
    return e->keep;
}

bool wire_end_settle(WireEnd *e)
{
    bool lingers = e->lingers;

    e->lingers = false;
    if (lingers && e->wire) {
        erdma_wire_settle(e->wire);
    }
    return lingers;
}

const ErdmaWireOps fake_wire_ops = {
    .send = op_send,
    .pull = op_pull,
    .linger = op_linger,
    .broken = op_broken,
};

void wire_pair_init(WirePair *p, ErdmaFabric *a, FakeHost *ah, ErdmaFabric *b,
                    FakeHost *bh)
{
    memset(p, 0, sizeof(*p));
    p->end[0].other = &p->end[1];
    p->end[1].other = &p->end[0];
    p->end[0].other_host = bh;
    p->end[1].other_host = ah;
    p->end[0].wire = erdma_wire_new(a, &fake_wire_ops, &p->end[0]);
    p->end[1].wire = erdma_wire_new(b, &fake_wire_ops, &p->end[1]);
}

void wire_pair_free(WirePair *p)
{
    for (unsigned i = 0; i < 2; i++) {
        erdma_wire_free(p->end[i].wire);
        p->end[i].wire = NULL;
        free(p->end[i].buf);
        free(p->end[i].later);
        p->end[i].buf = p->end[i].later = NULL;
        p->end[i].later_len = 0;
        p->end[i].len = p->end[i].cap = 0;
    }
}

/* In a buffer of exactly its size: ASan sees a read beyond */
static size_t give(WireEnd *e, size_t len)
{
    uint8_t *copy = malloc(len);
    size_t used;

    memcpy(copy, e->buf, len);
    let_go(e);
    used = erdma_wire_input(e->wire, copy, len, &e->again);
    if (used > len) {
        die("more input used than there was");
    }
    free(copy);
    return used;
}

static void drop(WireEnd *e, size_t used)
{
    memmove(e->buf, e->buf + used, e->len - used);
    e->len -= used;
}

bool wire_end_deliver(WireEnd *e)
{
    size_t len = e->piece && e->piece < e->len ? e->piece : e->len;
    size_t used = 0;

    if (!e->wire || e->stuck || !e->len) {
        return false;
    }
    used = give(e, len);
    while (!used && len < e->len) {     /* the piece ends inside a message */
        len = len + e->piece < e->len ? len + e->piece : e->len;
        used = give(e, len);
    }
    drop(e, used);
    return used;
}

bool wire_end_deliver_one(WireEnd *e)
{
    uint32_t len;

    if (!e->wire || e->len < sizeof(len)) {
        return false;
    }
    memcpy(&len, e->buf, sizeof(len));
    if (le32toh(len) > e->len) {
        die("half a message");
    }
    drop(e, give(e, le32toh(len)));
    return true;
}
