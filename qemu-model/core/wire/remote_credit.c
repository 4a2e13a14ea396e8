/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Credit: payload that is not shared waits in the buffers of a stream, so its
 * receiver grants no more than this, to one QP and to all of a wire.
 */
#include "wire_int.h"

#define CREDIT_QP       (2ull << 20)    /* bytes */
#define CREDIT_WIRE     (8ull << 20)

/* Grant @bytes more */
static void credit_grant(ErdmaCredit *a, uint64_t bytes)
{
    ErdmaRemote *r = a->remote;
    WireValue v = {
        .h = WIRE_HDR(a->type, sizeof(v), r->peer_id, r->peer_gen),
        .seq = htole32(a->seq), .value = htole64(a->limit + bytes),
    };

    a->limit += bytes;
    r->wire->granted += bytes;
    if (a->type == WIRE_PUSH_CREDIT) {
        erdma_ack_implied(r);
    }
    erdma_wire_send(r->wire, &v, sizeof(v));
}

/* Grant what is useful and within the bounds, or wait for the wire's */
static void credit_more(ErdmaCredit *a)
{
    ErdmaWire *w = a->remote->wire;
    uint64_t open = a->limit - a->received, left = a->length - a->limit, room;

    if (!w || !left || open > CREDIT_QP / 2 || erdma_link_used(&a->link)) {
        return;
    }
    left = left < CREDIT_QP - open ? left : CREDIT_QP - open;
    room = CREDIT_WIRE - w->granted;
    if (room < left && room < WIRE_STEP_BYTES) {
        erdma_list_add_tail(&w->credit_waiters, &a->link);
        return;
    }
    credit_grant(a, left < room ? left : room);
}

/* There is room again */
static void credit_next(ErdmaWire *w)
{
    ErdmaLink *link;

    while (CREDIT_WIRE - w->granted >= WIRE_STEP_BYTES &&
           (link = erdma_list_first(&w->credit_waiters))) {
        erdma_list_del(link);
        credit_more(ERDMA_ENTRY(link, ErdmaCredit, link));
    }
}

void erdma_credit_begin(ErdmaCredit *a, uint32_t seq, uint64_t received,
                        uint64_t length)
{
    a->seq = seq;
    a->received = a->limit = received;
    a->length = length;
    credit_more(a);
}

bool erdma_credit_take(ErdmaCredit *a, uint64_t bytes)
{
    ErdmaWire *w = a->remote->wire;

    if (bytes > a->limit - a->received) {
        return false;
    }
    a->received += bytes;
    w->granted -= bytes;
    credit_more(a);
    credit_next(w);
    return true;
}

void erdma_credit_end(ErdmaCredit *a)
{
    ErdmaWire *w = a->remote->wire;

    erdma_list_del(&a->link);
    if (w) {
        w->granted -= a->limit - a->received;
    }
    a->received = a->limit = a->length = 0;
    if (w && !w->broken) {
        credit_next(w);
    }
}
