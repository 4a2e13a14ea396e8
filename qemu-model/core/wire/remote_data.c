/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Payload of messages. Memory that the other process can read is named and
 * pulled by the receiver straight to where it belongs: one copy. The rest, and
 * what is small, is in the message.
 */
#include "wire_int.h"

/* ---- reading ---- */

/*
 * To read a piece costs at least as much as a page, which may have to be read
 * from a disk: a peer may name a megabyte byte by byte.
 */
#define PIECE_BYTES     4096u

static const char *sum_ranges(WirePayload *p)
{
    if (!p->size || p->size % sizeof(WireRange) ||
        p->size / sizeof(WireRange) > WIRE_MAX_RANGES) {
        return "number of ranges";
    }
    for (uint32_t at = 0; at < p->size; at += sizeof(WireRange)) {
        WireRange range;
        uint32_t len;

        memcpy(&range, p->data + at, sizeof(range));
        len = le32toh(range.len);
        if (!len) {
            return "empty range";
        }
        p->bytes += len;
        p->cost += len < PIECE_BYTES ? PIECE_BYTES : len;
    }
    return p->bytes > WIRE_STEP_BYTES ? "too much in one message" : NULL;
}

const char *erdma_payload_parse(const WireMsg *m, WirePayload *p)
{
    p->kind = m->h.kind;
    p->data = m->data + m->fixed;
    p->size = m->len - m->fixed;
    p->bytes = p->cost = 0;
    switch (p->kind) {
    case WIRE_NONE:
        return p->size ? "payload of no kind" : NULL;
    case WIRE_BYTES:
        p->bytes = p->cost = p->size;
        return !p->size || p->size > WIRE_CHUNK_BYTES ? "number of bytes" :
                                                        NULL;
    case WIRE_RANGES:
        return sum_ranges(p);
    default:
        return "kind of payload";
    }
}

/* @n bytes out of the other process' memory, mostly as they are */
static bool pull(ErdmaWire *w, ErdmaCursor *dst, uint32_t region,
                 uint64_t offset, void *to, uint64_t n)
{
    ErdmaFate fate = ERDMA_FATE_GOOD;

    if (erdma_fault_at(dst->qp->core, ERDMA_POINT_PAYLOAD)) {
        fate = erdma_fault_payload(dst->qp);
    }
    if (fate == ERDMA_FATE_LOST) {
        return true;
    }
    if (!w->ops->pull(w->opaque, region, offset, to, n)) {
        return false;
    }
    if (fate == ERDMA_FATE_SPOILT) {
        erdma_fault_spoil(dst->qp, to, n);
    }
    return true;
}

static bool place_range(ErdmaWire *w, ErdmaCursor *dst, const WireRange *range)
{
    uint64_t offset = le64toh(range->offset);
    uint64_t left = le32toh(range->len);

    if (left > UINT64_MAX - offset) {
        return false;
    }
    while (left) {
        uint64_t n;
        void *to = erdma_cursor_peek(dst, left, &n);

        if (!to || !pull(w, dst, le32toh(range->region), offset, to, n)) {
            return false;
        }
        erdma_cursor_pass(dst, n);
        offset += n;
        left -= n;
    }
    return true;
}

bool erdma_payload_place(ErdmaWire *w, ErdmaCursor *dst, const WirePayload *p)
{
    bool ok = true;

    if (p->kind == WIRE_BYTES) {
        ErdmaCursor src;

        erdma_cursor_buffer(&src, p->data, p->size, 0);
        return erdma_copy(dst, &src, p->size) == p->size;
    }
    for (uint32_t at = 0; ok && at < p->size; at += sizeof(WireRange)) {
        WireRange range;

        memcpy(&range, p->data + at, sizeof(range));
        ok = place_range(w, dst, &range);
    }
    erdma_cursor_unmap(dst);
    return ok;
}

/* ---- writing ---- */

/* One more piece of shared memory; true if it went into the last range */
static bool extends(const WireRange *last, uint32_t region, uint64_t offset)
{
    return le32toh(last->region) == region &&
           le64toh(last->offset) + le32toh(last->len) == offset;
}

static void add_range(uint8_t *out, WirePayload *p, uint32_t region,
                      uint64_t offset, uint32_t len)
{
    WireRange range = {
        .offset = htole64(offset), .len = htole32(len),
        .region = htole32(region),
    };

    if (p->size) {
        WireRange last;

        memcpy(&last, out + p->size - sizeof(last), sizeof(last));
        if (extends(&last, region, offset)) {
            range.offset = last.offset;
            range.len = htole32(le32toh(last.len) + len);
            p->size -= sizeof(last);
        }
    }
    memcpy(out + p->size, &range, sizeof(range));
    p->size += sizeof(range);
    p->bytes += len;
}

/* Until the message is full or memory comes that is not shared */
static void build_ranges(ErdmaCore *c, ErdmaCursor *src, uint64_t left,
                         uint8_t *out, WirePayload *p)
{
    while (left && p->size < WIRE_MAX_RANGES * sizeof(WireRange)) {
        uint64_t len, offset;
        uint32_t region;
        void *at = erdma_cursor_peek(src, left, &len);

        if (!at || !c->ops->share ||
            !c->ops->share(c->opaque, at, &len, &region, &offset) || !len) {
            break;
        }
        len = len < left ? len : left;
        add_range(out, p, region, offset, len);
        erdma_cursor_pass(src, len);
        left -= len;
    }
    if (p->size) {
        p->kind = WIRE_RANGES;
    }
}

void erdma_payload_build(ErdmaCore *c, ErdmaCursor *src, uint64_t left,
                         uint32_t copy, uint8_t *out, WirePayload *p)
{
    ErdmaCursor dst;

    *p = (WirePayload) { .kind = WIRE_NONE, .data = out };
    if (left > WIRE_SMALL) {
        build_ranges(c, src, left < WIRE_STEP_BYTES ? left : WIRE_STEP_BYTES,
                     out, p);
        if (p->size || src->fault || !copy) {
            erdma_cursor_unmap(src);
            return;
        }
    }
    left = left <= WIRE_SMALL || left < copy ? left : copy;
    erdma_cursor_buffer(&dst, out, left, 0);
    if (left && erdma_copy(&dst, src, left) == left) {
        p->kind = WIRE_BYTES;
        p->size = p->bytes = left;
    }
}

bool erdma_payload_send(ErdmaRemote *r, uint8_t type, uint32_t seq,
                        uint64_t offset, const WirePayload *p)
{
    uint8_t *out = r->wire->fabric->scratch;
    WireValue v = {
        .h = WIRE_HDR(type, sizeof(v) + p->size, r->peer_id, r->peer_gen),
        .seq = htole32(seq), .value = htole64(offset),
    };

    v.h.kind = p->kind;
    memcpy(out, &v, sizeof(v));
    return erdma_wire_send(r->wire, out, sizeof(v) + p->size);
}

/* ---- credit ---- */

/*
 * Bytes that are not shared wait in the buffers of a stream, so no more is
 * asked for than this, for one QP and for all of a wire.
 */
#define ASK_QP      (2ull << 20)
#define ASK_WIRE    (8ull << 20)

/* Ask for @bytes more */
static void ask(ErdmaAsk *a, uint64_t bytes)
{
    ErdmaRemote *r = a->remote;
    WireValue v = {
        .h = WIRE_HDR(a->type, sizeof(v), r->peer_id, r->peer_gen),
        .seq = htole32(a->seq), .value = htole64(a->limit + bytes),
    };

    a->limit += bytes;
    r->wire->asked += bytes;
    if (a->type == WIRE_PUSH_CREDIT) {
        r->rx_told = a->seq;    /* this says that all before are done */
    }
    erdma_wire_send(r->wire, &v, sizeof(v));
}

void erdma_ask_more(ErdmaAsk *a)
{
    ErdmaWire *w = a->remote->wire;
    uint64_t open = a->limit - a->got, left = a->length - a->limit, room;

    if (!w || !left || open > ASK_QP / 2 || erdma_link_used(&a->link)) {
        return;
    }
    left = left < ASK_QP - open ? left : ASK_QP - open;
    room = ASK_WIRE - w->asked;
    if (room < left && room < WIRE_STEP_BYTES) {
        erdma_list_add_tail(&w->askers, &a->link);
        return;
    }
    ask(a, left < room ? left : room);
}

/* Room became free */
static void next_asker(ErdmaWire *w)
{
    ErdmaLink *link;

    while (ASK_WIRE - w->asked >= WIRE_STEP_BYTES &&
           (link = erdma_list_first(&w->askers))) {
        erdma_list_del(link);
        erdma_ask_more(ERDMA_ENTRY(link, ErdmaAsk, link));
    }
}

void erdma_ask_begin(ErdmaAsk *a, uint32_t seq, uint64_t got, uint64_t length)
{
    a->seq = seq;
    a->got = a->limit = got;
    a->length = length;
    erdma_ask_more(a);
}

bool erdma_ask_got(ErdmaAsk *a, uint64_t bytes)
{
    ErdmaWire *w = a->remote->wire;

    if (bytes > a->limit - a->got) {
        return false;
    }
    a->got += bytes;
    w->asked -= bytes;
    erdma_ask_more(a);
    next_asker(w);
    return true;
}

void erdma_ask_end(ErdmaAsk *a)
{
    ErdmaWire *w = a->remote->wire;

    erdma_list_del(&a->link);
    if (w) {
        w->asked -= a->limit - a->got;
    }
    a->got = a->limit = a->length = 0;
    if (w && !w->broken) {
        next_asker(w);
    }
}
