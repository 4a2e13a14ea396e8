/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A card with one QP and a wire whose other end is the test, which may say
 * anything there.
 */
#ifndef ERDMA_TEST_LAB_H
#define ERDMA_TEST_LAB_H

#include "drv.h"
#include "wire_msg.h"

#define LAB_ID      77u         /* of the QP that the test plays */
#define LAB_GEN     5u
/* Not in one message without shared memory */
#define LAB_LONG    200000u

/* A card with one QP, and what its wire said */
typedef struct Lab {
    Scene *s;                   /* only its card a is used */
    WireEnd *e;                 /* where the test feeds */
    WireEnd *out;               /* what was said, as bytes */
    ErdmaFabric *fabric;
    WirePair pair;
    uint32_t id, gen;           /* of the QP under test */
} Lab;

#define LAB_HDR(type_, size_, id_, gen_) { \
    .len = htole32(size_), .type = (type_), .id = htole32(id_), \
    .gen = htole32(gen_) }

extern uint8_t lab_junk[70000];

/* @hello: say it */
Lab *lab_new(bool hello);
/* The same with a peer that was found: the test */
Lab *lab_connected(void);
void lab_free(Lab *l);

void lab_feed(Lab *l, const void *msg, size_t len);
/* @msg with payload behind it */
void lab_feed_with(Lab *l, void *msg, size_t fixed, uint8_t kind,
                   const void *data, size_t len);
/* Next message that was said; its type, 0: none */
unsigned lab_heard(Lab *l, void *msg, size_t len);

/* Messages of a good peer */
WireHello lab_hello(void);
WireOffer lab_offered(Lab *l);
WireOffer lab_mirror(const WireOffer *o);
WireRequest lab_request(Lab *l, uint32_t seq, uint8_t opcode, uint64_t len);
WireValue lab_value(Lab *l, uint8_t type, uint32_t seq, uint64_t v);
WireAck lab_ack(Lab *l, uint8_t type, uint32_t seq, uint32_t syndrome);

/* States to be in */
void lab_idle(Lab *l);
void lab_wrote(Lab *l);
void lab_reads(Lab *l);
void lab_atomic(Lab *l);
void lab_pushes(Lab *l);        /* it waits for credit */
void lab_read_asked(Lab *l);    /* it gave credit */
void lab_pushed(Lab *l);        /* a WRITE to it: it gave credit */
void lab_read_from(Lab *l);     /* a READ of it: it waits for credit */

/* The request of the QP under test ended so, and the wire is whole */
void lab_done(Lab *l, uint8_t syndrome);

void lab_say_request(Lab *l, WireRequest r);
void lab_say_payload(Lab *l, WireRequest r, uint8_t kind, const void *data,
                     size_t len);
void lab_say_value(Lab *l, uint8_t type, uint32_t seq, uint64_t v);
void lab_say_data(Lab *l, uint8_t type, uint32_t seq, uint64_t offset,
                  size_t len);
void lab_say_ack(Lab *l, uint8_t type, uint32_t seq, uint32_t syndrome);

#endif /* ERDMA_TEST_LAB_H */
