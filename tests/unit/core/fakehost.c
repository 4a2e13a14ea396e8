/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sanitizer/asan_interface.h>

#include "fakehost.h"

MapMode fake_default_mode = MAP_DIRECT;

/* Maps that a core has open at a time; it needs two or three */
#define MAX_MAPS    16

/* A map: where it is, and with bouncing the copy that the card sees */
typedef struct Map {
    uint64_t addr;
    uint64_t len;
    bool is_write;
    uint8_t *ram;
    uint8_t *copy;              /* or @ram; NULL: this entry is free */
    uint8_t *before;            /* reading: what the copy was at first */
} Map;

static Map maps[MAX_MAPS];

/* RAM of ended hosts, to be used again: it costs more than most cases */
static uint8_t *spare_ram[4];

static void die(const char *what)
{
    fprintf(stderr, "fakehost: %s\n", what);
    abort();
}

/* ---- copies for bouncing ---- */

/*
 * Small copies come from a ring of slots that are poisoned apart from the
 * bytes in use: an access one byte outside, or after the unmap, is reported as
 * one to malloc()ed memory would be, for a tenth of the time. Larger ones are
 * malloc()ed.
 */
#define SLOT_SIZE   512u
#define SLOT_MAX    (SLOT_SIZE - 64)
#define SLOTS       128u

static _Alignas(64) uint8_t slot[SLOTS][SLOT_SIZE];
static bool slot_used[SLOTS];
static unsigned next_slot;

static uint8_t *copy_new(const uint8_t *src, uint64_t len)
{
    uint8_t *copy = NULL;

    if (len <= SLOT_MAX) {
        for (unsigned i = 0; i < SLOTS && !copy; i++) {
            unsigned n = next_slot++ % SLOTS;

            if (!slot_used[n]) {
                slot_used[n] = true;
                ASAN_POISON_MEMORY_REGION(slot[n], SLOT_SIZE);
                copy = slot[n] + 32;
            }
        }
    }
    if (copy) {
        ASAN_UNPOISON_MEMORY_REGION(copy, len);
    } else {
        copy = malloc(len);
        if (!copy) {
            die("no memory");
        }
    }
    memcpy(copy, src, len);
    return copy;
}

static void copy_free(uint8_t *copy)
{
    uintptr_t at = (uintptr_t)copy - (uintptr_t)slot;

    if (at < sizeof(slot)) {
        unsigned n = at / SLOT_SIZE;

        ASAN_POISON_MEMORY_REGION(slot[n], SLOT_SIZE);
        slot_used[n] = false;
    } else {
        free(copy);
    }
}

/* ---- life ---- */

static void touch(FakeHost *h, const uint8_t *ram, uint64_t len)
{
    uint64_t first = ram - h->ram;

    for (uint64_t n = first / 4096; len && n <= (first + len - 1) / 4096;
         n++) {
        h->dirty[n] = true;
    }
}

static void start(FakeHost *h)
{
    h->next = RAM_BASE;
    h->now = 1000000000ull;
    h->mode = fake_default_mode;
    h->holes = 0;
    h->open_maps = 0;
    h->maps = h->reads = h->writes = 0;
}

void fake_host_init(FakeHost *h)
{
    memset(h, 0, sizeof(*h));
    for (unsigned i = 0; i < 4 && !h->ram; i++) {
        h->ram = spare_ram[i];
        spare_ram[i] = NULL;
    }
    if (!h->ram) {
        h->ram = malloc(RAM_SIZE);
    }
    if (!h->ram) {
        die("no memory");
    }
    memset(h->dirty, true, sizeof(h->dirty));
    start(h);
}

void fake_host_wipe(FakeHost *h, uint8_t fill)
{
    for (uint64_t n = 0; n < RAM_SIZE / 4096; n++) {
        if (h->dirty[n] || h->fill != fill) {
            memset(h->ram + n * 4096, fill, 4096);
        }
    }
    memset(h->dirty, false, sizeof(h->dirty));
    h->fill = fill;
    start(h);
}

void fake_card_init(FakeCard *card, FakeHost *h)
{
    memset(card, 0, offsetof(FakeCard, event));
    card->host = h;
    card->bus_master = true;
}

void fake_host_free(FakeHost *h)
{
    for (unsigned i = 0; i < 4 && h->ram; i++) {
        if (!spare_ram[i]) {
            spare_ram[i] = h->ram;
            h->ram = NULL;
        }
    }
    free(h->ram);
    h->ram = NULL;
}

uint64_t fake_alloc(FakeHost *h, uint64_t len)
{
    uint64_t addr = h->next;

    len = (len + 4095) & ~4095ull;
    if (len > RAM_BASE + RAM_SIZE - addr) {
        die("out of fake RAM");
    }
    h->next += len;
    memset(fake_ptr(h, addr, len), 0xa5, len);
    return addr;
}

uint64_t fake_zalloc(FakeHost *h, uint64_t len)
{
    uint64_t addr = fake_alloc(h, len);

    memset(fake_ptr(h, addr, len), 0, len);
    return addr;
}

void *fake_ptr(FakeHost *h, uint64_t addr, uint64_t len)
{
    if (addr < RAM_BASE || addr - RAM_BASE > RAM_SIZE ||
        len > RAM_SIZE - (addr - RAM_BASE)) {
        die("a test touches what is not RAM");
    }
    touch(h, h->ram + (addr - RAM_BASE), len);
    return h->ram + (addr - RAM_BASE);
}

void fake_hole(FakeHost *h, uint64_t addr, uint64_t len)
{
    if (h->holes == MAX_HOLES) {
        die("too many holes");
    }
    h->hole[h->holes++] = (Hole) { addr, len };
}

void fake_fill_holes(FakeHost *h)
{
    h->holes = 0;
}

/* Bytes of RAM from @addr on, up to @len */
static uint64_t reachable(FakeCard *card, uint64_t addr, uint64_t len)
{
    FakeHost *h = card->host;

    if (!card->bus_master || addr < RAM_BASE || addr - RAM_BASE >= RAM_SIZE) {
        return 0;
    }
    if (len > RAM_SIZE - (addr - RAM_BASE)) {
        len = RAM_SIZE - (addr - RAM_BASE);
    }
    for (unsigned i = 0; i < h->holes; i++) {
        const Hole *o = &h->hole[i];

        if (addr >= o->addr && addr - o->addr < o->len) {
            return 0;
        }
        if (addr < o->addr && len > o->addr - addr) {
            len = o->addr - addr;
        }
    }
    return len;
}

static void record(FakeCard *card, int kind, uint64_t addr, uint64_t len)
{
    if (card->record && card->events < MAX_EVENTS) {
        card->event[card->events++] = (FakeEvent) { kind, addr, len };
    }
}

static void *op_map(void *opaque, uint64_t addr, uint64_t *len, bool is_write)
{
    FakeCard *card = opaque;
    FakeHost *h = card->host;
    unsigned i = 0;
    Map *m;

    if (!*len) {
        die("map of nothing");
    }
    *len = reachable(card, addr, *len);
    if (!*len) {
        return NULL;
    }
    if (h->mode == MAP_SHORT && *len > MAP_SHORT_MAX) {
        *len = MAP_SHORT_MAX;
    }
    while (i < MAX_MAPS && maps[i].copy) {
        i++;
    }
    if (i == MAX_MAPS) {
        die("too many maps");
    }
    m = &maps[i];
    h->open_maps++;
    h->maps++;
    m->addr = addr;
    m->len = *len;
    m->is_write = is_write;
    m->ram = h->ram + (addr - RAM_BASE);
    m->copy = m->ram;
    m->before = NULL;
    if (h->mode != MAP_DIRECT) {
        m->copy = copy_new(m->ram, m->len);
        m->before = is_write ? NULL : copy_new(m->ram, m->len);
    } else if (is_write) {
        touch(h, m->ram, m->len);
    }
    return m->copy;
}

static void op_unmap(void *opaque, void *host, uint64_t len, bool is_write,
                     uint64_t done)
{
    FakeCard *card = opaque;
    unsigned i = 0;
    Map *m;

    while (i < MAX_MAPS && (maps[i].copy != host || maps[i].len != len ||
                            maps[i].is_write != is_write)) {
        i++;
    }
    if (!host || i == MAX_MAPS || done > len) {
        die("unmap does not fit its map");
    }
    m = &maps[i];
    if (m->copy != m->ram) {
        if (is_write) {
            memcpy(m->ram, m->copy, done);
            touch(card->host, m->ram, done);
        } else if (memcmp(m->before, m->copy, len)) {
            die("a map for reading was written");
        }
        if (m->before) {
            copy_free(m->before);
        }
        copy_free(m->copy);
    }
    if (is_write && done) {
        record(card, EV_WRITE, m->addr, done);
    }
    card->host->open_maps--;
    m->copy = NULL;
}

static bool op_read(void *opaque, uint64_t addr, void *dst, size_t len)
{
    FakeCard *card = opaque;

    card->host->reads++;
    if (reachable(card, addr, len) < len) {
        return false;
    }
    memcpy(dst, card->host->ram + (addr - RAM_BASE), len);
    return true;
}

static bool op_write(void *opaque, uint64_t addr, const void *src, size_t len)
{
    FakeCard *card = opaque;

    card->host->writes++;
    if (reachable(card, addr, len) < len) {
        return false;
    }
    memcpy(card->host->ram + (addr - RAM_BASE), src, len);
    touch(card->host, card->host->ram + (addr - RAM_BASE), len);
    record(card, EV_WRITE, addr, len);
    return true;
}

/* Else @len is cut where private memory begins */
static bool is_private(const FakeHost *h, uint64_t addr, uint64_t *len)
{
    if (addr >= h->private_from && addr - h->private_from < h->private_len) {
        return true;
    }
    if (h->private_len && addr < h->private_from &&
        *len > h->private_from - addr) {
        *len = h->private_from - addr;
    }
    return false;
}

static bool op_share(void *opaque, const void *host, uint64_t *len,
                     uint32_t *region, uint64_t *offset)
{
    FakeHost *h = ((FakeCard *)opaque)->host;
    const uint8_t *p = host;

    for (const Map *b = maps; b < maps + MAX_MAPS; b++) {
        if (b->copy && p >= b->copy && p < b->copy + b->len) {
            if (!h->shared || b->ram < h->ram || b->ram >= h->ram + RAM_SIZE) {
                return false;
            }
            if (is_private(h, b->ram + (p - b->copy) - h->ram + RAM_BASE,
                           len)) {
                return false;
            }
            if (*len > (uint64_t)(b->copy + b->len - p)) {
                die("a range to share is longer than its map");
            }
            *region = FAKE_REGION;
            *offset = b->ram + (p - b->copy) - h->ram;
            h->shares++;
            return true;
        }
    }
    die("a range to share is not mapped");
    return false;
}

static void op_irq(void *opaque, unsigned vector)
{
    FakeCard *card = opaque;

    if (vector >= 32) {
        die("interrupt vector out of range");
    }
    card->irqs[vector]++;
    card->irqs_total++;
    record(card, EV_IRQ, vector, 0);
}

static void op_kick(void *opaque)
{
    FakeCard *card = opaque;

    card->kicked = true;
    card->kicks++;
}

static void op_set_timer(void *opaque, uint64_t deadline)
{
    ((FakeCard *)opaque)->timer = deadline;
}

static uint64_t op_now(void *opaque)
{
    return ((FakeCard *)opaque)->host->now;
}

static void op_unplug(void *opaque)
{
    ((FakeCard *)opaque)->unplugs++;
}

static void op_log(void *opaque, ErdmaLogLevel level, const char *text)
{
    static int show = -1;
    FakeCard *card = opaque;

    if (show < 0) {
        show = getenv("ERDMA_TEST_LOG") != NULL;
    }
    card->log_lines[level]++;
    snprintf(card->last_log, sizeof(card->last_log), "%s", text);
    if (strchr(text, '\n')) {
        die("newline in a log text");
    }
    if (show) {
        fprintf(stderr, "  [%d] %s\n", level, text);
    }
}

const ErdmaOps fake_ops = {
    .map = op_map,
    .unmap = op_unmap,
    .read = op_read,
    .write = op_write,
    .irq = op_irq,
    .kick = op_kick,
    .set_timer = op_set_timer,
    .now = op_now,
    .share = op_share,
    .unplug = op_unplug,
    .log = op_log,
};
