/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The surroundings of a card, faked: RAM with holes, interrupts, kicks, a
 * clock. Several cards may share one host (two cards in a VM) or have one each.
 */
#ifndef ERDMA_FAKEHOST_H
#define ERDMA_FAKEHOST_H

#include "erdma_core.h"

#define RAM_BASE    0x40000000ull
#ifndef RAM_SIZE
#define RAM_SIZE    (24u * 1024 * 1024)
#endif
#define MAX_HOLES   8
#define MAX_EVENTS  4096
#define FAKE_REGION 7u          /* number of the RAM, if it is shared */
#define FAKE_ALIVE  8u          /* of the table of living QPs */

/* How ops->map behaves */
typedef enum MapMode {
    MAP_DIRECT,                 /* a pointer into RAM */
    MAP_BOUNCE,                 /* an exact-size copy: ASan sees overruns */
    MAP_SHORT,                  /* as bounce, at most MAP_SHORT_MAX bytes */
} MapMode;
#define MAP_SHORT_MAX   24

typedef struct Hole {
    uint64_t addr, len;
} Hole;

typedef struct FakeHost {
    uint8_t *ram;
    uint64_t next;              /* bump allocator */
    uint64_t now;
    MapMode mode;
    bool shared;                /* other processes can read the RAM, */
    uint64_t private_from, private_len; /* but not this, by bus address */
    unsigned long shares;
    Hole hole[MAX_HOLES];
    unsigned holes;
    unsigned open_maps;
    unsigned long maps, reads, writes;
    uint8_t fill;               /* what RAM was wiped with */
    bool dirty[RAM_SIZE / 4096];
} FakeHost;

/* What the guest could observe, in order */
typedef struct FakeEvent {
    enum { EV_WRITE, EV_IRQ } kind;
    uint64_t addr;              /* or vector */
    uint64_t len;
} FakeEvent;

typedef struct FakeCard {
    FakeHost *host;
    ErdmaCore *core;
    bool bus_master;
    bool kicked;
    unsigned kicks;
    uint64_t timer;
    unsigned irqs[32];
    unsigned irqs_total;
    unsigned unplugs;
    unsigned log_lines[3];
    char last_log[256];
    bool record;
    unsigned events;
    FakeEvent event[MAX_EVENTS];    /* last: see fake_card_init() */
} FakeCard;

extern MapMode fake_default_mode;
extern const ErdmaOps fake_ops;

void fake_host_init(FakeHost *h);
void fake_host_free(FakeHost *h);
/* As new, with all RAM @fill; costs what was touched since the last time */
void fake_host_wipe(FakeHost *h, uint8_t fill);
/* A card of @h without a core yet */
void fake_card_init(FakeCard *card, FakeHost *h);
/* @len bytes, page aligned; filled with garbage, as real memory is */
uint64_t fake_alloc(FakeHost *h, uint64_t len);
uint64_t fake_zalloc(FakeHost *h, uint64_t len);
void *fake_ptr(FakeHost *h, uint64_t addr, uint64_t len);
void fake_hole(FakeHost *h, uint64_t addr, uint64_t len);
void fake_fill_holes(FakeHost *h);

#endif /* ERDMA_FAKEHOST_H */
