/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wires in memory: what another process would be to a fabric. Each end has the
 * bytes that came and were not taken yet. Nothing moves by itself.
 */
#ifndef ERDMA_FAKEWIRE_H
#define ERDMA_FAKEWIRE_H

#include "fakehost.h"

/* How cards on different hosts reach each other, in all tests */
typedef enum WireMode {
    WIRE_MODE_OFF,              /* one fabric, no wires */
    WIRE_MODE_SHARED,           /* a fabric per card; RAM is shared */
    WIRE_MODE_BYTES,            /* nothing is shared */
} WireMode;

extern WireMode fake_wire_mode;

typedef struct WireEnd {
    ErdmaWire *wire;            /* NULL: freed */
    struct WireEnd *other;
    FakeHost *other_host;       /* whose RAM is pulled from */
    const uint32_t *other_alive;        /* and its fabric's table */
    size_t alive_len;
    uint8_t *buf;               /* came, not taken */
    size_t len, cap;
    bool keep;                  /* sends with later wait as long as they may, */
    bool lingers;               /* and answers, too */
    uint8_t *later;             /* sent from here with later */
    size_t later_len;
    unsigned long laters;       /* sends with later */
    size_t piece;               /* largest piece given at once; 0: any */
    bool stuck;                 /* nothing is delivered */
    bool refuse;                /* the next send fails */
    bool again;                 /* more work was announced */
    bool broken;
    char why[160];
    unsigned long refuse_at;    /* this one; 0: none */
    unsigned long sends, pulls;
    void (*on_pull)(struct WireEnd *e);     /* after the next pull, once */
    void *on_pull_arg;
    uint64_t pulled;
    size_t most;                /* highest len */
} WireEnd;

typedef struct WirePair {
    WireEnd end[2];
} WirePair;

/* Both ends; @a, @b: the fabrics, @ah, @bh: hosts of their cards */
void wire_pair_init(WirePair *p, ErdmaFabric *a, FakeHost *ah, ErdmaFabric *b,
                    FakeHost *bh);
/* The process at this end dies: the other sees its wire end */
void wire_pair_free(WirePair *p);
/* Give what came to this end; true if anything moved */
bool wire_end_deliver(WireEnd *e);
/* One message of it */
bool wire_end_deliver_one(WireEnd *e);
/* As if @data had come from the other end */
void wire_end_feed(WireEnd *e, const void *data, size_t len);

/* The moment that answers wait is over; false: none waited */
bool wire_end_settle(WireEnd *e);

extern const ErdmaWireOps fake_wire_ops;

#endif /* ERDMA_FAKEWIRE_H */
