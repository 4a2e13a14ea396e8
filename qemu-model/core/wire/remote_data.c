/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Payload of messages. Memory that the other process can read is named and
 * copied by the receiver straight to where it belongs: one copy. The rest, and
 * what is small, is in the message.
 *
 * Memory that a message names is the peer's guest's again once its QP is gone
 * or the key of the region is revoked, and both may happen before or while it is
 * copied. Either is in the peer's table before its guest knows of it: what was
 * valid there after the copy is the content that was meant.
 */
#include "wire_int.h"

/* ---- reading ---- */

/*
 * To read a piece costs at least as much as a page, which may have to be read
 * from a disk: a peer may name a megabyte byte by byte.
 */
#define PAYLOAD_PIECE   4096u

static const char *payload_sum_ranges(ErdmaWire *w, WirePayload *p)
{
    uint32_t n = p->size / sizeof(WireRange);

    if (!n || p->size % sizeof(WireRange) || n > WIRE_MAX_RANGES) {
        return erdma_wire_wrong(w, "payload: ranges take %u bytes, expected "
                                "1..%u of %zu", p->size, WIRE_MAX_RANGES,
                                sizeof(WireRange));
    }
    for (uint32_t at = 0; at < p->size; at += sizeof(WireRange)) {
        WireRange range;
        uint32_t len;

        memcpy(&range, p->data + at, sizeof(range));
        len = le32toh(range.len);
        if (!len) {
            return erdma_wire_wrong(w, "payload: length of a range is 0, "
                                    "expected at least 1");
        }
        p->bytes += len;
        p->cost += len < PAYLOAD_PIECE ? PAYLOAD_PIECE : len;
    }
    if (p->bytes > WIRE_STEP_BYTES) {
        return erdma_wire_wrong(w, "payload: ranges have %llu bytes, expected "
                                "at most %u", (unsigned long long)p->bytes,
                                WIRE_STEP_BYTES);
    }
    return NULL;
}

const char *erdma_payload_parse(ErdmaWire *w, const WireMsg *m,
                                WirePayload *p)
{
    p->kind = m->h.kind;
    p->data = m->data + m->fixed;
    p->size = m->len - m->fixed;
    p->bytes = p->cost = 0;
    switch (p->kind) {
    case WIRE_NONE:
        if (p->size) {
            return erdma_wire_wrong(w, "payload: %u bytes of kind NONE, "
                                    "expected 0", p->size);
        }
        return NULL;
    case WIRE_BYTES:
        p->bytes = p->cost = p->size;
        if (!p->size || p->size > WIRE_CHUNK_BYTES) {
            return erdma_wire_wrong(w, "payload: %u bytes, expected 1..%u",
                                    p->size, WIRE_CHUNK_BYTES);
        }
        return NULL;
    case WIRE_RANGES:
        return payload_sum_ranges(w, p);
    default:
        return erdma_wire_wrong(w, "payload: kind is %u, expected 0..%u",
                                p->kind, WIRE_RANGES);
    }
}

/* @n bytes out of the other process' memory, unless a fault changes them */
static bool payload_pull(ErdmaWire *w, ErdmaCursor *dst, uint32_t region,
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

static bool payload_place_range(ErdmaWire *w, ErdmaCursor *dst,
                                const WireRange *range)
{
    uint64_t offset = le64toh(range->offset);
    uint64_t left = le32toh(range->len);

    if (left > UINT64_MAX - offset) {
        return false;
    }
    while (left) {
        uint64_t n;
        void *to = erdma_cursor_peek(dst, left, &n);

        if (!to || !payload_pull(w, dst, le32toh(range->region), offset, to,
                                 n)) {
            return false;
        }
        erdma_cursor_pass(dst, n);
        offset += n;
        left -= n;
    }
    return true;
}

/* Are the regions that the ranges are of valid? Neighbours often share one. */
static bool payload_regions_valid(const ErdmaWire *w, const WirePayload *p)
{
    uint32_t slot = WIRE_NO_SLOT, gen = 0;

    for (uint32_t at = 0; at < p->size; at += sizeof(WireRange)) {
        WireRange range;

        memcpy(&range, p->data + at, sizeof(range));
        if (le32toh(range.slot) == slot && le32toh(range.gen) == gen) {
            continue;
        }
        slot = le32toh(range.slot);
        gen = le32toh(range.gen);
        if (slot != WIRE_NO_SLOT && !erdma_id_valid(w, slot, gen)) {
            return false;
        }
    }
    return true;
}

/* May the ranges be used, or have been used? */
static ErdmaPlaced payload_valid(const ErdmaRemote *r, const WirePayload *p)
{
    if (!erdma_id_valid(r->wire, r->peer_id, r->peer_gen)) {
        return ERDMA_PLACED_DEAD;
    }
    return payload_regions_valid(r->wire, p) ? ERDMA_PLACED :
                                               ERDMA_PLACED_REVOKED;
}

static bool payload_place_ranges(ErdmaWire *w, ErdmaCursor *dst,
                                 const WirePayload *p)
{
    bool ok = true;

    for (uint32_t at = 0; ok && at < p->size; at += sizeof(WireRange)) {
        WireRange range;

        memcpy(&range, p->data + at, sizeof(range));
        ok = payload_place_range(w, dst, &range);
    }
    erdma_cursor_unmap(dst);
    return ok;
}

ErdmaPlaced erdma_payload_place(ErdmaRemote *r, ErdmaCursor *dst,
                                const WirePayload *p)
{
    ErdmaPlaced before;

    if (p->kind != WIRE_RANGES) {
        ErdmaCursor src;

        erdma_cursor_buffer(&src, p->data, p->size, 0);
        return erdma_copy(dst, &src, p->size) == p->size ? ERDMA_PLACED :
                                                           ERDMA_PLACED_FAULT;
    }
    before = payload_valid(r, p);
    if (before != ERDMA_PLACED) {
        return before;
    }
    if (!payload_place_ranges(r->wire, dst, p)) {
        return ERDMA_PLACED_FAULT;
    }
    return payload_valid(r, p);
}

/* ---- writing ---- */

/* Does @range follow @last without a gap? */
static bool payload_extends(const WireRange *last, const WireRange *range)
{
    return last->region == range->region && last->slot == range->slot &&
           last->gen == range->gen &&
           le64toh(last->offset) + le32toh(last->len) == le64toh(range->offset);
}

static void payload_add_range(uint8_t *out, WirePayload *p, WireRange *range)
{
    p->bytes += le32toh(range->len);
    if (p->size) {
        WireRange last;

        memcpy(&last, out + p->size - sizeof(last), sizeof(last));
        if (payload_extends(&last, range)) {
            range->offset = last.offset;
            range->len = htole32(le32toh(last.len) + le32toh(range->len));
            p->size -= sizeof(last);
        }
    }
    memcpy(out + p->size, range, sizeof(*range));
    p->size += sizeof(*range);
}

/* Until the message is full or memory comes that cannot be named */
static void payload_build_ranges(ErdmaCore *c, ErdmaCursor *src, uint64_t left,
                                 uint8_t *out, WirePayload *p)
{
    while (left && p->size < WIRE_MAX_RANGES * sizeof(WireRange)) {
        uint64_t len, offset;
        uint32_t region;
        void *at = erdma_cursor_peek(src, left, &len);
        WireRange range;

        if (!at || !c->ops->share || !src->reach_valid ||
            !c->ops->share(c->opaque, at, &len, &region, &offset) || !len ||
            !erdma_id_grant(c->fabric, src->reach.mr, &range)) {
            break;
        }
        len = len < left ? len : left;
        range.offset = htole64(offset);
        range.len = htole32(len);
        range.region = htole32(region);
        payload_add_range(out, p, &range);
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
        payload_build_ranges(c, src, left < WIRE_STEP_BYTES ? left :
                             WIRE_STEP_BYTES, out, p);
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
