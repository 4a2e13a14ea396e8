/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the core costs by itself, beside plain memcpy in the same process:
 * guest memory is a pointer, interrupts are nothing. First two queue pairs of
 * one card, then two cards with a wire in memory between them. make core-bench
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "erdma/erdma_field.h"
#include "erdma/erdma_hw.h"
#include "erdma_core.h"
#include <endian.h>
#include <string.h>

#define BASE    0x100000000ull
#define SIZE    (64ull << 20)

typedef struct Host {
    uint8_t *ram;
    bool kicked;
    uint64_t next;
} Host;

static void *op_map(void *opaque, uint64_t addr, uint64_t *len, bool w)
{
    Host *h = opaque;

    (void)w;
    if (addr < BASE || addr - BASE >= SIZE) {
        return NULL;
    }
    if (*len > SIZE - (addr - BASE)) {
        *len = SIZE - (addr - BASE);
    }
    return h->ram + (addr - BASE);
}

static void op_unmap(void *opaque, void *host, uint64_t len, bool w,
                     uint64_t done)
{
    (void)opaque, (void)host, (void)len, (void)w, (void)done;
}

static bool op_read(void *opaque, uint64_t addr, void *dst, size_t len)
{
    memcpy(dst, ((Host *)opaque)->ram + (addr - BASE), len);
    return true;
}

static bool op_write(void *opaque, uint64_t addr, const void *src, size_t len)
{
    memcpy(((Host *)opaque)->ram + (addr - BASE), src, len);
    return true;
}

static void op_irq(void *opaque, unsigned vector)
{
    (void)opaque, (void)vector;
}

static void op_kick(void *opaque)
{
    ((Host *)opaque)->kicked = true;
}

static void op_timer(void *opaque, uint64_t t)
{
    (void)opaque, (void)t;
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static uint64_t op_now(void *opaque)
{
    (void)opaque;
    return now_ns();
}

static bool op_share(void *opaque, const void *p, uint64_t *len,
                     uint32_t *region, uint64_t *offset)
{
    (void)len;
    *region = 0;
    *offset = (const uint8_t *)p - ((Host *)opaque)->ram;
    return true;
}

static const ErdmaOps ops = {
    .map = op_map, .unmap = op_unmap, .read = op_read, .write = op_write,
    .irq = op_irq, .kick = op_kick, .set_timer = op_timer, .now = op_now,
    .share = op_share,
};

static Host host;

typedef struct Side {
    ErdmaCore *core;
    uint64_t cmd_sq, cmd_cq;
    uint16_t cmd_pi;
    ErdmaWire *wire;
    struct Side *other;
    uint8_t in[1 << 18];
    size_t len;
} Side;

/* Queue pair n is of side[n - 1] */
static Side sides[2], *side[2];

static bool wire_send(void *opaque, const void *data, size_t len, bool later)
{
    Side *to = ((Side *)opaque)->other;

    (void)later;
    if (len > sizeof(to->in) - to->len) {
        return false;
    }
    memcpy(to->in + to->len, data, len);
    to->len += len;
    return true;
}

static bool wire_pull(void *opaque, uint32_t region, uint64_t offset,
                      void *dst, size_t len)
{
    (void)opaque, (void)region;
    memcpy(dst, host.ram + offset, len);
    return true;
}

static void wire_broken(void *opaque, const char *why)
{
    (void)opaque;
    fprintf(stderr, "wire broken: %s\n", why);
    exit(1);
}

static const ErdmaWireOps wire_ops = {
    .send = wire_send, .pull = wire_pull, .broken = wire_broken,
};

static void deliver(void)
{
    for (unsigned i = 0; sides[0].len || sides[1].len; i ^= 1) {
        Side *s = &sides[i];
        bool again;
        size_t used = erdma_wire_input(s->wire, s->in, s->len, &again);

        memmove(s->in, s->in + used, s->len - used);
        s->len -= used;
    }
}

static void settle(void)
{
    deliver();
    while (host.kicked) {
        host.kicked = false;
        erdma_core_run(side[0]->core);
        if (side[1] != side[0]) {
            erdma_core_run(side[1]->core);
        }
        deliver();
    }
}

static uint64_t take(uint64_t len)
{
    uint64_t addr = host.next;

    host.next += (len + 4095) & ~4095ull;
    return addr;
}

static void *at(uint64_t addr)
{
    return host.ram + (addr - BASE);
}

static void wr32(Side *s, uint32_t off, uint32_t v)
{
    erdma_core_mmio_write(s->core, off, v, 4);
}

static void cmd(Side *s, unsigned submod, unsigned op, const void *req,
                size_t len)
{
    uint8_t *slot = at(s->cmd_sq + s->cmd_pi % 512 * 32);
    uint64_t hdr;

    memcpy(slot + 8, (const uint8_t *)req + 8, len - 8);
    s->cmd_pi += 4;
    hdr = ERDMA_PREP(ERDMA_CMD_HDR_PI, (uint64_t)s->cmd_pi) |
          ERDMA_PREP(ERDMA_CMD_HDR_OPCODE, (uint64_t)op) |
          ERDMA_PREP(ERDMA_CMD_HDR_SUBMOD, (uint64_t)submod) | 3ull << 52;
    memcpy(slot, &hdr, 8);
    erdma_core_mmio_write(s->core, ERDMA_REG_CMDQ_SQ_DB, s->cmd_pi, 8);
    if (be32toh(((struct erdma_cqe *)at(s->cmd_cq + (s->cmd_pi / 4 - 1) % 512 *
                                        32))->hdr) & 0xff) {
        fprintf(stderr, "command %u/%u failed\n", submod, op);
        exit(1);
    }
}

static void bring_up(Side *s, ErdmaFabric *fabric)
{
    ErdmaConfig cfg;
    uint64_t eq = take(65536);
    struct erdma_cmd_create_eq ceq = { .vector = 1, .eqn = 1, .depth = 12,
                                       .type = 1 };

    erdma_core_config_init(&cfg);
    cfg.mac[5] = 1;
    s->core = erdma_core_new(&cfg, &ops, &host, fabric);
    s->cmd_sq = take(16384);
    s->cmd_cq = take(16384);
    wr32(s, ERDMA_REG_CMDQ_SQ_BASE_HI, s->cmd_sq >> 32);
    wr32(s, ERDMA_REG_CMDQ_SQ_BASE_LO, s->cmd_sq);
    wr32(s, ERDMA_REG_CMDQ_CQ_BASE_HI, s->cmd_cq >> 32);
    wr32(s, ERDMA_REG_CMDQ_CQ_BASE_LO, s->cmd_cq);
    wr32(s, ERDMA_REG_CMDQ_DEPTH, 512);
    wr32(s, ERDMA_REG_CMDQ_EQ_BASE_HI, eq >> 32);
    wr32(s, ERDMA_REG_CMDQ_EQ_BASE_LO, eq);
    wr32(s, ERDMA_REG_CMDQ_EQ_DEPTH, 128);
    wr32(s, ERDMA_REG_AEQ_BASE_HI, eq >> 32);
    wr32(s, ERDMA_REG_AEQ_BASE_LO, eq + 4096);
    wr32(s, ERDMA_REG_AEQ_DEPTH, 128);
    wr32(s, ERDMA_REG_CTRL, ERDMA_CTRL_INIT);
    ceq.addr = take(65536);
    cmd(s, 1, ERDMA_CMD_CREATE_EQ, &ceq, sizeof(ceq));
}

/* Region of scattered (reversed) or contiguous 4 KiB pages, va = addr */
static void reg_mr(Side *s, uint32_t index, uint64_t addr, uint64_t len,
                   bool scatter)
{
    uint32_t n = len / 4096;
    uint64_t table = take(n * 8), *t = at(table);
    struct erdma_cmd_reg_mr req = {
        .cfg0 = 1u << 31 | index, .cfg1 = 3 << 12 | ERDMA_RIGHT_ALL,
        .start_va = addr, .size = len, .cfg2 = 12u << 27 | 1 << 20 | n,
    };

    for (uint32_t i = 0; i < n; i++) {
        t[i] = addr + (scatter ? i ^ 1 : i) * 4096ull;
    }
    req.page[0] = table;
    cmd(s, 0, ERDMA_CMD_REG_MR, &req, sizeof(req));
}

static uint64_t sq[3], rq[3];
static uint16_t pi[3], rpi[3];

static void make_qp(uint32_t qpn)
{
    struct erdma_cmd_create_qp req = { 0 };

    sq[qpn] = take(32768);
    rq[qpn] = take(32768);
    req.cfg0 = 10u << 20 | qpn;
    req.cfg1 = 10u << 20 | 3;
    req.sq_cfg = req.rq_cfg = 8u << 28 | 1;
    req.sq_mtt = req.rq_mtt = 2;
    req.sq_addr = sq[qpn];
    req.rq_addr = rq[qpn];
    cmd(side[qpn - 1], 0, ERDMA_CMD_CREATE_QP, &req, sizeof(req));
}

static void rts(uint32_t qpn)
{
    struct erdma_cmd_modify_qp req = {
        .cfg = 2u << 24 | qpn, .cookie = 3 - qpn, .send_nxt = 0, .recv_nxt = 0,
        .sport = qpn, .dport = 3 - qpn,
    };

    cmd(side[qpn - 1], 0, ERDMA_CMD_MODIFY_QP, &req, sizeof(req));
}

static void post(uint32_t len, uint64_t src, uint64_t dst, bool send)
{
    uint64_t hdr = 1ull << 32 | (send ? 2ull : 0) << 27 | 1ull << 22 |
                   1ull << 56 | (send ? 0ull : 1) << 52;
    uint8_t *b0 = at(sq[1] + pi[1] % 1024 * 32);
    struct erdma_sge sge = { src, len, 1 << 8 };

    if (send) {
        struct erdma_sqe_send w = { .length = len };

        memcpy(b0 + 8, (uint8_t *)&w + 8, 8);
        memcpy(b0 + 16, &sge, 16);
        pi[1] += 1;
    } else {
        struct erdma_sqe_write w = { .length = len, .rkey = 2 << 8,
                                     .raddr_lo = dst, .raddr_hi = dst >> 32 };

        memcpy(b0 + 8, (uint8_t *)&w + 8, 24);
        memcpy(at(sq[1] + (pi[1] + 1) % 1024 * 32), &sge, 16);
        pi[1] += 2;
    }
    hdr |= pi[1];
    memcpy(b0, &hdr, 8);
    erdma_core_mmio_write(side[0]->core, ERDMA_DB_KERNEL_SQ,
                          1ull << 32 | pi[1], 8);
    settle();
}

static void post_recv(uint64_t addr, uint32_t len)
{
    struct erdma_rqe r = { .qe_idx = rpi[2] + 1, .qpn = 2, .addr = addr,
                           .length = len, .stag = 2 << 8 };

    memcpy(at(rq[2] + rpi[2] % 1024 * 32), &r, 32);
    rpi[2]++;
    erdma_core_mmio_write(side[1]->core, ERDMA_DB_RQ_BASE,
                          2ull << 32 | rpi[2], 8);
}

static double gbps(uint64_t bytes, uint64_t ns)
{
    return (double)bytes / ns;
}

static void make_cq(Side *s)
{
    uint64_t ring = take(32768);
    struct erdma_cmd_create_cq cq = {
        .cfg0 = 10u << 24 | 13 << 20 | 1, .cfg1 = 1 << 16 | 1,
        .addr_lo = ring, .addr_hi = ring >> 32,
    };

    cmd(s, 0, ERDMA_CMD_CREATE_CQ, &cq, sizeof(cq));
}

static void one_card(void)
{
    side[0] = side[1] = &sides[0];
    bring_up(&sides[0], erdma_fabric_new());
    make_cq(&sides[0]);
}

static void two_cards(void)
{
    ErdmaFabric *f[2] = { erdma_fabric_new(), erdma_fabric_new() };

    memset(sides, 0, sizeof(sides));
    for (unsigned i = 0; i < 2; i++) {
        side[i] = &sides[i];
        sides[i].other = &sides[!i];
        bring_up(&sides[i], f[i]);
        make_cq(&sides[i]);
    }
    for (unsigned i = 0; i < 2; i++) {
        sides[i].wire = erdma_wire_new(f[i], &wire_ops, &sides[i]);
    }
    deliver();
}

static void connect_both(void)
{
    memset(pi, 0, sizeof(pi));
    memset(rpi, 0, sizeof(rpi));
    make_qp(1);
    make_qp(2);
    rts(1);
    rts(2);
    settle();
}

static void dereg(Side *s, uint32_t index)
{
    struct erdma_cmd_dereg_mr d = { .cfg = index };

    cmd(s, 0, ERDMA_CMD_DEREG_MR, &d, sizeof(d));
}

static void large(uint64_t a, uint64_t b)
{
    static const uint32_t sizes[] = { 4096, 65536, 1 << 20, 8 << 20 };

    for (unsigned i = 0; i < 4; i++) {
        uint64_t total = 2ull << 30, n = total / sizes[i], copy, t;

        t = now_ns();
        for (uint64_t k = 0; k < n; k++) {
            memcpy(at(b), at(a), sizes[i]);
            __asm__ volatile("" ::: "memory");
        }
        copy = now_ns() - t;
        t = now_ns();
        for (uint64_t k = 0; k < n; k++) {
            post(sizes[i], a, b, false);
        }
        t = now_ns() - t;
        printf("  write %8u B: %6.2f GB/s, memcpy %6.2f GB/s, %3.0f %%\n",
               sizes[i], gbps(total, t), gbps(total, copy), 100.0 * copy / t);
    }
}

static void small(uint64_t a, uint64_t b)
{
    for (unsigned i = 0; i < 2; i++) {
        uint64_t n = 2000000, t = now_ns();

        for (uint64_t k = 0; k < n; k++) {
            if (i) {
                post_recv(b, 64);
            }
            post(i ? 64 : 2, a, b, i);
        }
        t = now_ns() - t;
        printf("  %s: %.0f ns each\n", i ? "send 64 B with receive" :
               "write 2 B", (double)t / n);
    }
}

static void measure(void)
{
    uint64_t a = take(8 << 20), b = take(8 << 20);

    connect_both();
    for (unsigned scatter = 0; scatter < 2; scatter++) {
        if (scatter) {
            dereg(side[0], 1);
            dereg(side[1], 2);
        }
        reg_mr(side[0], 1, a, 8 << 20, scatter);
        reg_mr(side[1], 2, b, 8 << 20, scatter);
        printf("%s pages\n", scatter ? "scattered" : "neighbouring");
        large(a, b);
        small(a, b);
    }
}

int main(void)
{
    host.ram = aligned_alloc(1 << 21, SIZE);
    memset(host.ram, 1, SIZE);
    host.next = BASE;
    one_card();
    measure();
    printf("over a wire:\n");
    two_cards();
    measure();
    return 0;
}
