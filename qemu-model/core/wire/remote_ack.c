/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Acknowledgements. A request says whether its ACK is requested; an ACK that is
 * not may wait for the next that is, for a request that goes the same way, or
 * for half a millisecond, and is coalesced with it.
 */
#include "wire_int.h"

/* So many requests are acknowledged at the latest, requested or not */
#define ACK_COALESCED_MAX   32u
/* Requests that went back and forth before the next is expected to */
#define ACK_PING_PONG       2u

void erdma_ack_implied(ErdmaRemote *r)
{
    r->rx_acked = r->rx_done;
}

/* Does the peer wait for an ACK that was not sent? */
static bool ack_due(const ErdmaRemote *r)
{
    return (int32_t)(r->rx_ack_requested - r->rx_acked) > 0;
}

void erdma_ack_now(ErdmaRemote *r)
{
    erdma_list_del(&r->linger_link);
    if (r->wire && r->rx_acked != r->rx_done) {
        WireAck ack = {
            .h = WIRE_HDR(WIRE_ACK, sizeof(ack), r->peer_id, r->peer_gen),
            .seq = htole32(r->rx_done),
        };

        erdma_ack_implied(r);
        erdma_wire_send(r->wire, &ack, sizeof(ack));
    }
}

/* The ends take turns: a request of this end is near, and the ACK goes along */
static bool ack_ping_pong(const ErdmaRemote *r)
{
    return r->turns == ACK_PING_PONG;
}

void erdma_ack_request_sent(ErdmaRemote *r)
{
    if (r->rx_since_tx && r->turns < ACK_PING_PONG) {
        r->turns++;
    }
    r->rx_since_tx = false;
}

void erdma_ack_request_done(ErdmaRemote *r)
{
    r->rx_done++;
    if (r->rx_since_tx) {
        r->turns = 0;
    }
    r->rx_since_tx = true;
    if (erdma_op_pulls(r->in.opcode)) {
        erdma_ack_implied(r);           /* by the data */
    }
}

void erdma_ack_soon(ErdmaRemote *r)
{
    uint32_t unacked = r->rx_done - r->rx_acked;
    ErdmaWire *w = r->wire;

    if (!w || !unacked || unacked >= ACK_COALESCED_MAX ||
        (ack_due(r) && !ack_ping_pong(r)) || !w->ops->linger ||
        !w->ops->linger(w->opaque)) {
        erdma_ack_now(r);
    } else if (!erdma_link_used(&r->linger_link)) {
        erdma_list_add_tail(&w->lingering, &r->linger_link);
    }
}

void erdma_ack_linger_over(ErdmaRemote *r)
{
    if (ack_due(r)) {
        r->turns = 0;           /* no request came for it to go along with */
    }
    erdma_ack_now(r);
}

void erdma_ack_nak(ErdmaRemote *r, uint8_t syndrome)
{
    WireAck nak = {
        .h = WIRE_HDR(WIRE_NAK, sizeof(nak), r->peer_id, r->peer_gen),
        .seq = htole32(r->rx_done), .syndrome = htole32(syndrome),
    };

    erdma_ack_implied(r);
    if (r->wire) {
        erdma_wire_send(r->wire, &nak, sizeof(nak));
    }
}
