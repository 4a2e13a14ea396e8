/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakehost.h"

MapMode fake_default_mode = MAP_DIRECT;

/* A bounced map: the copy, and where it goes */
typedef struct Bounce {
    uint64_t addr;
    uint64_t len;
    bool is_write;
    uint8_t *ram;
    uint8_t *copy;
    uint8_t *before;            /* what the copy was at first */
    struct Bounce *next;
} Bounce;

static Bounce *bounces;

/* RAM of ended hosts, to be used again: it costs more than most cases */
static uint8_t *spare_ram[4];

static void die(const char *what)
{
    fprintf(stderr, "fakehost: %s\n", what);
    abort();
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
    h->next = RAM_BASE;
    h->now = 1000000000ull;
    h->mode = fake_default_mode;
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
    Bounce *b;

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
    h->open_maps++;
    h->maps++;
    b = malloc(sizeof(*b));
    memset(b, 0, sizeof(*b));
    b->addr = addr;
    b->len = *len;
    b->is_write = is_write;
    b->ram = h->ram + (addr - RAM_BASE);
    b->copy = b->ram;
    if (h->mode != MAP_DIRECT) {
        b->copy = malloc(*len);
        memcpy(b->copy, b->ram, *len);
        b->before = malloc(*len);
        memcpy(b->before, b->ram, *len);
    }
    b->next = bounces;
    bounces = b;
    return b->copy;
}

static void op_unmap(void *opaque, void *host, uint64_t len, bool is_write,
                     uint64_t done)
{
    FakeCard *card = opaque;
    Bounce **p = &bounces, *b;

    while (*p && (*p)->copy != host) {
        p = &(*p)->next;
    }
    b = *p;
    if (!b || b->len != len || b->is_write != is_write || done > len) {
        die("unmap does not fit its map");
    }
    *p = b->next;
    if (b->copy != b->ram) {
        if (is_write) {
            memcpy(b->ram, b->copy, done);
        } else if (memcmp(b->before, b->copy, len)) {
            die("a map for reading was written");
        }
        free(b->before);
        free(b->copy);
    }
    if (is_write && done) {
        record(card, EV_WRITE, b->addr, done);
    }
    card->host->open_maps--;
    free(b);
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

    for (const Bounce *b = bounces; b; b = b->next) {
        if (p >= b->copy && p < b->copy + b->len) {
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

static void op_log(void *opaque, ErdmaLogLevel level, const char *text)
{
    FakeCard *card = opaque;

    card->log_lines[level]++;
    snprintf(card->last_log, sizeof(card->last_log), "%s", text);
    if (strchr(text, '\n')) {
        die("newline in a log text");
    }
    if (getenv("ERDMA_TEST_LOG")) {
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
    .log = op_log,
};
