/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A card with one QP and a wire whose other end is the test, which may say
 * anything there.
 */
#ifndef ERDMA_TESTS_PEER_FIXTURE_H
#define ERDMA_TESTS_PEER_FIXTURE_H

#include "guest.h"
#include "wire_msg.h"

#define PEER_ID     77u         /* of the QP that the test plays */
#define PEER_GEN    5u
/* Not in one message without shared memory */
#define PEER_LONG   200000u

/* A card with one QP, and what its wire said */
typedef struct PeerFixture {
    Fixture *s;                 /* only its card a is used */
    WireEnd *e;                 /* where the test feeds */
    WireEnd *out;               /* what was said, as bytes */
    ErdmaFabric *fabric;
    WirePair pair;
    uint32_t id, gen;           /* of the QP under test */
} PeerFixture;

#define PEER_HDR(type_, size_, id_, gen_) { \
    .len = htole32(size_), .type = (type_), .id = htole32(id_), \
    .gen = htole32(gen_) }

extern uint8_t peer_junk[70000];

/* @hello: say it */
PeerFixture *peer_new(bool hello);
/* The same with a peer that was found: the test */
PeerFixture *peer_connected(void);
void peer_free(PeerFixture *l);

void peer_feed(PeerFixture *l, const void *msg, size_t len);
/* @msg with payload behind it */
void peer_feed_with(PeerFixture *l, void *msg, size_t fixed, uint8_t kind,
                   const void *data, size_t len);
/* Next message that was said; its type, 0: none */
unsigned peer_receive(PeerFixture *l, void *msg, size_t len);

/* Messages of a good peer */
WireHello peer_hello(void);
WireOffer peer_offered(PeerFixture *l);
WireOffer peer_mirror(const WireOffer *o);
WireRequest peer_request(PeerFixture *l, uint32_t seq, uint8_t opcode,
                         uint64_t len);
WireValue peer_value(PeerFixture *l, uint8_t type, uint32_t seq, uint64_t v);
WireAck peer_ack(PeerFixture *l, uint8_t type, uint32_t seq, uint32_t syndrome);

/* States to be in */
void peer_idle(PeerFixture *l);
void peer_wrote(PeerFixture *l);
void peer_reads(PeerFixture *l);
void peer_atomic(PeerFixture *l);
void peer_pushes(PeerFixture *l);        /* it waits for credit */
void peer_read_asked(PeerFixture *l);    /* it gave credit */
void peer_pushed(PeerFixture *l);        /* a WRITE to it: it gave credit */
void peer_read_from(PeerFixture *l);     /* a READ of it: it waits for credit */

/* The request of the QP under test ended so, and the wire is whole */
void peer_done(PeerFixture *l, uint8_t syndrome);

void peer_send_request(PeerFixture *l, WireRequest r);
void peer_send_payload(PeerFixture *l, WireRequest r, uint8_t kind,
                       const void *data, size_t len);
void peer_send_value(PeerFixture *l, uint8_t type, uint32_t seq, uint64_t v);
void peer_send_data(PeerFixture *l, uint8_t type, uint32_t seq, uint64_t offset,
                  size_t len);
void peer_send_ack(PeerFixture *l, uint8_t type, uint32_t seq,
                   uint32_t syndrome);

#endif /* ERDMA_TESTS_PEER_FIXTURE_H */
