/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libFuzzer on the core: two cards, of one process or of two that are joined by
 * a wire, two connected QPs, and an input that is a list of what the guest,
 * the other process, or whoever runs the card does next. Built with make fuzz.
 *
 * Each step begins with one byte, its kind; see step(). Numbers are little
 * endian; what is missing at the end of the input reads as zero.
 */
#include <stdlib.h>
#include <string.h>

#include "erdma/erdma_field.h"
#include "erdma/erdma_hw.h"
#include "fakewire.h"
#include "input.h"
#include "wire_msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);

/* What one input frees stays in quarantine till its end, and fits the cache */
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=8:malloc_context_size=8";
}

#define CARDS   2u
#define DEPTH   16u             /* entries of every ring */
#define PD      3u

/* Pages of a card, in its quarter of RAM */
enum {
    P_CMD_SQ, P_CMD_CQ, P_CMD_EQ, P_AEQ, P_CEQ, P_CQ, P_SQ, P_RQ, P_TABLE,
    P_DATA, P_COUNT = 64
};

typedef struct Sim {
    FakeHost *host;
    FakeCard card[CARDS];
    ErdmaFabric *fabric[CARDS]; /* of each card, may be the same */
    bool wired;
    WirePair wire;
    uint16_t cmd_pi[CARDS], sq_pi[CARDS], rq_pi[CARDS];
} Sim;

static uint64_t page(unsigned card, unsigned n)
{
    return RAM_BASE + (card * P_COUNT + n) * 4096ull;
}

static void wr(Sim *s, unsigned card, uint64_t off, uint64_t v, unsigned size)
{
    erdma_core_mmio_write(s->card[card].core, off, v, size);
}

static void wr_base(Sim *s, unsigned card, uint32_t lo, uint32_t hi,
                    unsigned n)
{
    wr(s, card, hi, page(card, n) >> 32, 4);
    wr(s, card, lo, page(card, n), 4);
}

static void start(Sim *s, unsigned card)
{
    wr_base(s, card, ERDMA_REG_AEQ_BASE_LO, ERDMA_REG_AEQ_BASE_HI, P_AEQ);
    wr(s, card, ERDMA_REG_AEQ_DEPTH, DEPTH, 4);
    wr_base(s, card, ERDMA_REG_CMDQ_SQ_BASE_LO, ERDMA_REG_CMDQ_SQ_BASE_HI,
            P_CMD_SQ);
    wr(s, card, ERDMA_REG_CMDQ_DEPTH, DEPTH, 4);
    wr_base(s, card, ERDMA_REG_CMDQ_CQ_BASE_LO, ERDMA_REG_CMDQ_CQ_BASE_HI,
            P_CMD_CQ);
    wr_base(s, card, ERDMA_REG_CMDQ_EQ_BASE_LO, ERDMA_REG_CMDQ_EQ_BASE_HI,
            P_CMD_EQ);
    wr(s, card, ERDMA_REG_CMDQ_EQ_DEPTH, DEPTH, 4);
    wr(s, card, ERDMA_REG_CTRL, ERDMA_CTRL_INIT, 4);
    s->cmd_pi[card] = s->sq_pi[card] = s->rq_pi[card] = 0;
}

static void command(Sim *s, unsigned card, unsigned submod, unsigned op,
                    const void *req, size_t len)
{
    uint8_t *slot = fake_ptr(s->host, page(card, P_CMD_SQ) +
                             s->cmd_pi[card] % DEPTH * 32, 128);
    uint64_t hdr;

    memcpy(slot + 8, (const uint8_t *)req + 8, len - 8);
    s->cmd_pi[card] += 4;
    hdr = ERDMA_PREP(ERDMA_CMD_HDR_PI, (uint64_t)s->cmd_pi[card]) |
          ERDMA_PREP(ERDMA_CMD_HDR_OPCODE, (uint64_t)op) |
          ERDMA_PREP(ERDMA_CMD_HDR_SUBMOD, (uint64_t)submod) |
          ERDMA_PREP(ERDMA_CMD_HDR_WQEBBS, 3ull);
    memcpy(slot, &hdr, 8);
    wr(s, card, ERDMA_REG_CMDQ_SQ_DB, s->cmd_pi[card], 8);
}

static void create_objects(Sim *s, unsigned card, unsigned kernel)
{
    uint64_t *table = fake_ptr(s->host, page(card, P_TABLE), 4096);
    struct erdma_cmd_create_eq eq = {
        .addr = page(card, P_CEQ), .vector = 1, .eqn = 1, .depth = 4,
        .type = ERDMA_EQ_CEQ,
    };
    struct erdma_cmd_create_cq cq = {
        .cfg0 = 4u << 24 | 13u << 20 | 1, .cfg1 = 1u << 16 | 1,
        .addr_lo = page(card, P_CQ), .addr_hi = page(card, P_CQ) >> 32,
    };
    struct erdma_cmd_create_qp qp = {
        .cfg0 = 4u << 20 | 1, .cfg1 = 4u << 20 | PD,
        .sq_cfg = (kernel ? 8u : 0) << 28 | 1, .rq_cfg = (kernel ? 8u : 0) <<
                                                         28 | 1,
        .sq_mtt = 2, .rq_mtt = 2, .sq_addr = page(card, P_SQ),
        .rq_addr = page(card, P_RQ),
    };
    struct erdma_cmd_reg_mr mr = {
        .cfg0 = 1u << 31 | 1, .cfg1 = PD << 12 | ERDMA_RIGHT_ALL,
        .size = 16 * 4096, .cfg2 = 12u << 27 | 1u << 20 | 16,
    };

    for (unsigned i = 0; i < 16; i++) {
        table[i] = page(card, P_DATA + (i ^ 3));
    }
    mr.page[0] = page(card, P_TABLE);
    command(s, card, 1, ERDMA_CMD_CREATE_EQ, &eq, sizeof(eq));
    command(s, card, 0, ERDMA_CMD_CREATE_CQ, &cq, sizeof(cq));
    command(s, card, 0, ERDMA_CMD_CREATE_QP, &qp, sizeof(qp));
    command(s, card, 0, ERDMA_CMD_REG_MR, &mr, sizeof(mr));
    mr.cfg0 = 2;
    mr.cfg1 = PD << 12 | ERDMA_MR_FRMR << 6 | ERDMA_RIGHT_ALL;
    command(s, card, 0, ERDMA_CMD_REG_MR, &mr, sizeof(mr));
}

static void connect_qp(Sim *s, unsigned card, uint32_t qpn)
{
    struct erdma_cmd_modify_qp rts = {
        .cfg = (uint32_t)ERDMA_QPS_RTS << 24 | (qpn & 0xfffff), .cookie = 1,
        .sport = 1 + card, .dport = 2 - card,
    };

    command(s, card, 0, ERDMA_CMD_MODIFY_QP, &rts, sizeof(rts));
}

/* ---- steps ---- */

static void step_mmio(Sim *s, Input *in, unsigned card)
{
    uint64_t off = take(in, 3);
    unsigned size = 1u << take(in, 1) % 4;

    wr(s, card, off, take(in, 8), size);
    erdma_core_mmio_read(s->card[card].core, off, size);
}

static void step_doorbell(Sim *s, Input *in, unsigned card)
{
    static const uint32_t at[] = {
        ERDMA_DB_KERNEL_SQ, ERDMA_DB_RQ_BASE, ERDMA_DB_CQ_BASE,
        ERDMA_REG_AEQ_DB, ERDMA_REG_EQ_DB(0), ERDMA_REG_EQ_DB(1),
        ERDMA_REG_CMDQ_CQ_DB, 0x80000, 0x81000, 0x82000,
    };
    unsigned which = take(in, 1) % (sizeof(at) / sizeof(at[0]));

    wr(s, card, at[which], take(in, 4) | take(in, 1) << 32, 8);
}

static void step_memory(Sim *s, Input *in, unsigned card)
{
    unsigned n = take(in, 1) % P_COUNT, off = take(in, 2) % 4096;
    unsigned len = take(in, 1);

    if (len > 4096 - off) {
        len = 4096 - off;
    }
    take_bytes(in, fake_ptr(s->host, page(card, n) + off, len), len);
}

static void step_command(Sim *s, Input *in, unsigned card)
{
    uint8_t req[128] = { 0 };
    unsigned which = take(in, 1), len = take(in, 1) % 121;

    take_bytes(in, req + 8, len);
    command(s, card, which >> 7, which & 31, req, sizeof(req));
}

static void step_send(Sim *s, Input *in, unsigned card)
{
    uint64_t flags = take(in, 3);
    unsigned blocks = take(in, 1) % 4 + 1, len = take(in, 1) % 121;
    uint8_t wqe[128] = { 0 };
    uint64_t hdr;

    take_bytes(in, wqe + 8, len);
    hdr = (flags & 0xff) << 24 | (flags >> 8 & 0xff) << 16 |
          (flags >> 16 & 0xff) << 56 | (uint64_t)(blocks - 1) << 52 |
          1ull << 32 | (uint16_t)(s->sq_pi[card] + blocks);
    memcpy(wqe, &hdr, 8);
    for (unsigned i = 0; i < blocks; i++) {
        memcpy(fake_ptr(s->host, page(card, P_SQ) +
                        (s->sq_pi[card] + i) % DEPTH * 32, 32), wqe + i * 32,
               32);
    }
    s->sq_pi[card] += blocks;
    wr(s, card, ERDMA_DB_KERNEL_SQ, 1ull << 32 | s->sq_pi[card], 8);
}

static void step_recv(Sim *s, Input *in, unsigned card)
{
    struct erdma_rqe rqe = { .qpn = 1, .qe_idx = s->rq_pi[card] + 1 };

    rqe.addr = take(in, 3);
    rqe.length = take(in, 3);
    rqe.stag = take(in, 1) << 8;
    memcpy(fake_ptr(s->host, page(card, P_RQ) + s->rq_pi[card] % DEPTH * 32,
                    32), &rqe, 32);
    s->rq_pi[card]++;
    wr(s, card, ERDMA_DB_RQ_BASE, 1ull << 32 | s->rq_pi[card], 8);
}

static void cut_wire(Sim *s)
{
    if (s->wired) {
        wire_pair_free(&s->wire);
        s->wired = false;
    }
}

static void join_wire(Sim *s)
{
    if (!s->wired && s->fabric[0] != s->fabric[1]) {
        wire_pair_init(&s->wire, s->fabric[0], s->host, s->fabric[1], s->host);
        s->wire.end[0].keep = s->wire.end[1].keep = true;
        s->wired = true;
    }
}

/* What the surroundings do with a wire: bring bytes, end it when it broke */
static bool move_wire(Sim *s)
{
    bool moved = false;

    for (unsigned i = 0; s->wired && i < 2; i++) {
        moved |= wire_end_deliver(&s->wire.end[i]) ||
                 wire_end_settle(&s->wire.end[i]);
        if (s->wire.end[0].broken || s->wire.end[1].broken) {
            cut_wire(s);
        }
    }
    return moved;
}

static void run(Sim *s)
{
    bool busy = true;

    for (unsigned turn = 0; turn < 64 && busy; turn++) {
        busy = move_wire(s);
        for (unsigned i = 0; i < CARDS; i++) {
            FakeCard *f = &s->card[i];

            if (f->kicked) {
                f->kicked = false;
                busy = true;
                erdma_core_run(f->core);
            }
            if (f->timer && f->timer <= s->host->now) {
                f->timer = 0;
                busy = true;
                erdma_core_timer(f->core);
            }
        }
    }
}

/* A message whose header is right and whose body is not, or not quite */
static void step_message(Sim *s, Input *in, unsigned card)
{
    uint8_t msg[512] = { 0 };
    WireHdr hdr = { .type = take(in, 1), .kind = take(in, 1) };
    unsigned len;

    hdr.id = take(in, 1);
    hdr.gen = take(in, 1);
    len = sizeof(hdr) + take(in, 1);
    hdr.len = len;
    take_bytes(in, msg + sizeof(hdr), len - sizeof(hdr));
    memcpy(msg, &hdr, sizeof(hdr));
    if (s->wired && !s->wire.end[card].broken) {
        wire_end_feed(&s->wire.end[card], msg, len);
        move_wire(s);
    }
}

/* What another process or the host's socket can do */
static void step_wire(Sim *s, Input *in, unsigned card)
{
    WireEnd *e = &s->wire.end[card];
    uint8_t raw[256];
    unsigned len;

    switch (take(in, 1) % 8) {
    case 0:
        step_message(s, in, card);
        break;
    case 1:
        len = take(in, 1);
        take_bytes(in, raw, len);
        if (s->wired && !e->broken) {
            wire_end_feed(e, raw, len);
        }
        break;
    case 2:
        e->stuck ^= true;
        break;
    case 3:
        e->piece = take(in, 2);
        break;
    case 4:
        e->refuse ^= true;
        break;
    case 5:
        s->host->shared ^= true;
        break;
    case 6:
        cut_wire(s);
        break;
    default:
        join_wire(s);
        move_wire(s);
        break;
    }
}

static void step_odd(Sim *s, Input *in, unsigned card)
{
    unsigned what = take(in, 1);

    if (what & 128) {
        step_wire(s, in, card);
        return;
    }
    if (what & 64) {
        step_monitor(s->card[card].core, in);
        return;
    }
    switch (what % 8) {
    case 0:
        erdma_core_reset(s->card[card].core);
        break;
    case 1:
        start(s, card);
        create_objects(s, card, 1);
        connect_qp(s, card, 1);
        break;
    case 2:
        s->card[card].bus_master ^= true;
        break;
    case 3:
        fake_fill_holes(s->host);
        break;
    case 4:
        if (s->host->holes < MAX_HOLES) {
            fake_hole(s->host, page(take(in, 1) % CARDS, take(in, 1) %
                                     P_COUNT) + take(in, 2) % 4096,
                      take(in, 2) + 1);
        }
        break;
    case 5:
        connect_qp(s, card, take(in, 1));
        break;
    case 6:
        s->host->mode = (MapMode)(take(in, 1) % 3);
        break;
    default:
        s->host->now += take(in, 5);
        break;
    }
}

static void step(Sim *s, Input *in)
{
    unsigned kind = take(in, 1), card = kind >> 7;

    switch (kind % 8) {
    case 0:
        step_mmio(s, in, card);
        break;
    case 1:
        step_doorbell(s, in, card);
        break;
    case 2:
        step_memory(s, in, card);
        break;
    case 3:
        step_command(s, in, card);
        break;
    case 4:
        step_send(s, in, card);
        break;
    case 5:
        step_recv(s, in, card);
        break;
    case 6:
        step_odd(s, in, card);
        break;
    default:
        run(s);
        break;
    }
    if (s->host->open_maps) {
        abort();
    }
}

/* First byte of an input: where it begins */
enum {
    START_EMPTY = 1,            /* no objects */
    START_ALONE = 2,            /* not connected */
    START_USER = 4,             /* user queues */
    START_ONES = 8,             /* memory is all ones */
    START_DIRECT = 16,          /* direct-WQE groups */
    START_VERBOSE = 32,         /* every message is formatted */
    START_WIRED = 64,           /* cards of two processes */
    START_SHARED = 128,         /* that share memory */
};

/* Memory of all zeros, and of all ones: only what was touched is wiped */
static FakeHost *fresh_host(bool ones)
{
    static FakeHost host[2];

    if (!host[ones].ram) {
        fake_host_init(&host[ones]);
    }
    fake_host_wipe(&host[ones], ones ? 0xff : 0);
    return &host[ones];
}

/* Fabrics outlive their cards, and must be as new without them */
static void join(Sim *s, unsigned flags)
{
    static ErdmaFabric *fabric[CARDS];

    for (unsigned i = 0; i < CARDS; i++) {
        if (!fabric[i]) {
            fabric[i] = erdma_fabric_new();
        }
        s->fabric[i] = fabric[flags & START_WIRED ? i : 0];
    }
    s->host->shared = flags & START_SHARED;
    s->wired = false;
    join_wire(s);
}

static void begin(Sim *s, unsigned flags)
{
    ErdmaConfig cfg;

    s->host = fresh_host(flags & START_ONES);
    s->host->mode = MAP_BOUNCE;
    join(s, flags);
    erdma_core_config_init(&cfg);
    cfg.mac[5] = 1;
    cfg.bar0_size = 1 << 20;
    cfg.qblock = 1;
    cfg.max_mr_size = 36;
    cfg.grp_num = flags & START_DIRECT ? 24 : 0;
    for (unsigned i = 0; i < CARDS; i++) {
        fake_card_init(&s->card[i], s->host);
        s->card[i].core = erdma_core_new(&cfg, &fake_ops, &s->card[i],
                                         s->fabric[i]);
        erdma_core_set_log_level(s->card[i].core, flags & START_VERBOSE ?
                                 ERDMA_LOG_TRACE : ERDMA_LOG_GUEST_ERROR);
        start(s, i);
        if (!(flags & START_EMPTY)) {
            create_objects(s, i, !(flags & START_USER));
        }
    }
    if (!(flags & START_ALONE)) {
        connect_qp(s, 0, 1);
        connect_qp(s, 1, 1);
        move_wire(s);
        move_wire(s);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Sim sim;
    Input in = { data, data + size };
    unsigned flags = take(&in, 1);

    begin(&sim, flags);
    for (unsigned n = 0; n < 512 && in.p < in.end; n++) {
        step(&sim, &in);
    }
    run(&sim);
    if (size & 1) {                     /* a process dies, or its cards go */
        cut_wire(&sim);
    }
    for (unsigned i = 0; i < CARDS; i++) {
        erdma_core_free(sim.card[i].core);
    }
    cut_wire(&sim);
    return 0;                           /* the fabrics are empty again */
}
