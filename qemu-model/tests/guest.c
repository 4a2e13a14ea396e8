/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Beds, cards, commands, event queues. */
#include <stdlib.h>

#include "guest.h"

/* ---- hosts ---- */

static void set_mac(ErdmaConfig *cfg, unsigned n)
{
    static const uint8_t mac[6] = { 0x00, 0x16, 0x3e, 0x12, 0x34, 0x56 };

    memcpy(cfg->mac, mac, sizeof(mac));
    cfg->mac[5] += n;
}

void hosts_join(Hosts *b, unsigned n, unsigned i, unsigned k)
{
    WirePair *p = &b->wire[n];

    wire_pair_init(p, b->more[i], b->card[i].h, b->more[k], b->card[k].h);
    /* The suite as a whole also shows that nothing withheld is missed */
    p->end[0].keep = p->end[1].keep = fake_wire_mode != WIRE_MODE_OFF;
    CHECK(p->end[0].wire && p->end[1].wire);
    p->end[0].other_alive = b->alive[k];
    p->end[1].other_alive = b->alive[i];
    p->end[0].alive_len = p->end[1].alive_len = sizeof(b->alive[0]);
}

/* Each card is a process of its own */
static void join(Hosts *b)
{
    for (unsigned i = 0; i < b->cards; i++) {
        for (unsigned k = i + 1; k < b->cards; k++) {
            hosts_join(b, b->wires++, i, k);
        }
    }
    hosts_deliver(b);
}

void hosts_init_wired(Hosts *b, unsigned hosts, unsigned cards,
                      void (*tweak)(ErdmaConfig *cfg), WireMode mode)
{
    bool wired = mode != WIRE_MODE_OFF && hosts > 1;

    memset(b, 0, sizeof(*b));
    b->hosts = hosts;
    b->cards = cards;
    b->next_port = 40000;
    b->fabric = erdma_fabric_new();
    for (unsigned i = 0; i < hosts; i++) {
        fake_host_init(&b->host[i]);
        b->host[i].shared = mode == WIRE_MODE_SHARED;
    }
    for (unsigned i = 0; i < cards && wired; i++) {
        b->more[i] = i ? erdma_fabric_new() : b->fabric;
        erdma_fabric_share(b->more[i], b->alive[i], sizeof(b->alive[i]),
                           FAKE_ALIVE);
    }
    for (unsigned i = 0; i < cards; i++) {
        Card *c = &b->card[i];

        c->hosts = b;
        c->h = c->f.host = &b->host[i % hosts];
        c->f.bus_master = true;
        c->garbage = 0xff;
        c->next_qpn = 1;
        c->next_cqn = 1;
        c->next_mr = 1;
        erdma_core_config_init(&c->cfg);
        set_mac(&c->cfg, i);
        if (tweak) {
            tweak(&c->cfg);
        }
        CHECK(!erdma_core_config_check(&c->cfg));
        c->core = c->f.core = erdma_core_new(&c->cfg, &fake_ops, &c->f,
                                             wired ? b->more[i] : b->fabric);
        CHECK(c->core);
    }
    if (wired) {
        join(b);
    }
}

void hosts_init_cfg(Hosts *b, unsigned hosts, unsigned cards,
                    void (*tweak)(ErdmaConfig *cfg))
{
    hosts_init_wired(b, hosts, cards, tweak, fake_wire_mode);
}

void hosts_init(Hosts *b, unsigned hosts, unsigned cards)
{
    hosts_init_cfg(b, hosts, cards, NULL);
}

void hosts_free(Hosts *b)
{
    for (unsigned i = 0; i < b->cards; i++) {
        erdma_core_free(b->card[i].core);
    }
    for (unsigned i = 0; i < b->wires; i++) {
        wire_pair_free(&b->wire[i]);
    }
    for (unsigned i = 1; i < MAX_CARDS; i++) {
        erdma_fabric_free(b->more[i]);
    }
    erdma_fabric_free(b->fabric);
    for (unsigned i = 0; i < b->hosts; i++) {
        CHECK_EQ(b->host[i].open_maps, 0);
        fake_host_free(&b->host[i]);
    }
}

static bool deliver_once(Hosts *b)
{
    bool any = false;

    for (unsigned i = 0; i < b->wires; i++) {
        for (unsigned k = 0; k < 2; k++) {
            any |= wire_end_deliver(&b->wire[i].end[k]);
        }
    }
    for (unsigned i = 0; i < b->wires && !any; i++) {
        any |= wire_end_settle(&b->wire[i].end[0]);
        any |= wire_end_settle(&b->wire[i].end[1]);
    }
    return any;
}

void hosts_deliver(Hosts *b)
{
    for (unsigned turn = 0; turn < 1000000; turn++) {
        if (!deliver_once(b)) {
            return;
        }
    }
    tap_fail(__FILE__, __LINE__, "the wires never come to rest");
}

void hosts_run(Hosts *b)
{
    for (unsigned turn = 0; turn < 1000000; turn++) {
        bool any = !b->slow && deliver_once(b);

        for (unsigned i = 0; i < b->cards; i++) {
            if (b->card[i].f.kicked) {
                b->card[i].f.kicked = false;
                erdma_core_run(b->card[i].core);
                any = true;
            }
        }
        if (!any) {
            return;
        }
    }
    tap_fail(__FILE__, __LINE__, "the cards never come to rest");
}

void hosts_advance(Hosts *b, uint64_t ns)
{
    for (unsigned i = 0; i < b->hosts; i++) {
        b->host[i].now += ns;
    }
    for (unsigned turn = 0; turn < 10000; turn++) {
        bool any = false;

        for (unsigned i = 0; i < b->cards; i++) {
            FakeCard *f = &b->card[i].f;

            if (f->timer && f->timer <= f->host->now) {
                f->timer = 0;
                erdma_core_timer(f->core);
                any = true;
            }
        }
        if (!any) {
            hosts_run(b);
            return;
        }
    }
    tap_fail(__FILE__, __LINE__, "the timer never comes to rest");
}

ErdmaCounters counters(Card *c)
{
    ErdmaCounters n;

    erdma_core_counters(c->core, &n);
    return n;
}

/* ---- registers ---- */

void card_write32(Card *c, uint64_t off, uint32_t v)
{
    erdma_core_mmio_write(c->core, off, v, 4);
}

void card_write64(Card *c, uint64_t off, uint64_t v)
{
    erdma_core_mmio_write(c->core, off, v, 8);
    if (!c->hosts->slow) {
        hosts_deliver(c->hosts);
    }
}

uint32_t card_read32(Card *c, uint64_t off)
{
    return erdma_core_mmio_read(c->core, off, 4);
}

static void write_base(Card *c, uint32_t lo, uint64_t addr)
{
    card_write32(c, lo == ERDMA_REG_CMDQ_EQ_BASE_LO ?
                 ERDMA_REG_CMDQ_EQ_BASE_HI : lo + 4, addr >> 32);
    card_write32(c, lo, addr);
}

void card_start(Card *c, uint32_t blocks)
{
    c->blocks = blocks;
    c->depth = ERDMA_CMDQ_SLOTS * blocks;
    c->sq = fake_zalloc(c->h, c->depth * ERDMA_WQEBB_SIZE);
    c->cq = fake_zalloc(c->h, c->depth * ERDMA_CQE_SIZE);
    c->eq[0].depth = ERDMA_CMDQ_EQ_DEPTH;
    c->eq[0].addr = fake_zalloc(c->h, c->eq[0].depth * ERDMA_EQE_SIZE);
    c->aeq.depth = blocks == 2 ? 256 : 4096;
    c->aeq.addr = fake_zalloc(c->h, c->aeq.depth * ERDMA_EQE_SIZE);
    c->sq_pi = 0;
    c->cq_ci = 0;
    c->arm_sn = 0;
    c->eq[0].ci = 0;
    c->aeq.ci = 0;
    write_base(c, ERDMA_REG_AEQ_BASE_LO, c->aeq.addr);
    card_write32(c, ERDMA_REG_AEQ_DEPTH, c->aeq.depth);
    card_write64(c, ERDMA_REG_AEQ_DBREC, c->aeq.addr);
    write_base(c, ERDMA_REG_CMDQ_SQ_BASE_LO, c->sq);
    card_write32(c, ERDMA_REG_CMDQ_DEPTH, c->depth);
    card_write64(c, ERDMA_REG_CMDQ_SQ_DBREC, c->sq);
    write_base(c, ERDMA_REG_CMDQ_CQ_BASE_LO, c->cq);
    card_write64(c, ERDMA_REG_CMDQ_CQ_DBREC, c->cq);
    write_base(c, ERDMA_REG_CMDQ_EQ_BASE_LO, c->eq[0].addr);
    card_write32(c, ERDMA_REG_CMDQ_EQ_DEPTH, c->eq[0].depth);
    card_write64(c, ERDMA_REG_CMDQ_EQ_DBREC, c->eq[0].addr);
    card_write32(c, ERDMA_REG_CTRL, ERDMA_CTRL_INIT);
    CHECK(card_read32(c, ERDMA_REG_STATUS) & ERDMA_STATUS_INIT_DONE);
}

void card_up(Card *c, uint32_t blocks, unsigned ceqs)
{
    card_start(c, blocks);
    for (unsigned i = 1; i <= ceqs; i++) {
        CHECK_EQ(eq_create(c, i, blocks == 2 ? 8 : 12), 0);
    }
}

/* ---- commands ---- */

uint16_t card_post_cmd(Card *c, unsigned submod, unsigned opcode,
                       const void *req, size_t len)
{
    uint32_t bytes = c->blocks * ERDMA_WQEBB_SIZE;
    uint32_t slot = erdma_ring_slot(c->sq_pi, c->depth);
    uint8_t *p = fake_ptr(c->h, c->sq + slot * ERDMA_WQEBB_SIZE, bytes);
    uint16_t index = c->sq_pi;
    uint64_t hdr;

    if (len > bytes) {
        len = bytes;            /* an old driver knows no more */
    }
    memset(p, c->garbage, bytes);
    if (len > 8) {
        memcpy(p + 8, (const uint8_t *)req + 8, len - 8);
    }
    c->sq_pi += c->blocks;
    hdr = ERDMA_PREP(ERDMA_CMD_HDR_PI, c->sq_pi) |
          ERDMA_PREP(ERDMA_CMD_HDR_OPCODE, opcode) |
          ERDMA_PREP(ERDMA_CMD_HDR_SUBMOD, submod) |
          ERDMA_PREP(ERDMA_CMD_HDR_CTX, slot / c->blocks) |
          ERDMA_PREP(ERDMA_CMD_HDR_WQEBBS, c->blocks - 1);
    hdr = htole64(hdr);
    memcpy(p, &hdr, sizeof(hdr));
    return index;
}

void card_ring_cmd(Card *c)
{
    card_write64(c, ERDMA_REG_CMDQ_SQ_DB, c->sq_pi);
}

bool card_poll_cmd(Card *c, struct erdma_cqe *cqe)
{
    uint32_t slot = erdma_ring_slot(c->cq_ci, c->depth);

    memcpy(cqe, fake_ptr(c->h, c->cq + slot * ERDMA_CQE_SIZE, sizeof(*cqe)),
           sizeof(*cqe));
    if (ERDMA_GET(ERDMA_CQE_OWNER, be32toh(cqe->hdr)) !=
        erdma_ring_owner(c->cq_ci, c->depth)) {
        return false;
    }
    c->cq_ci++;
    return true;
}

unsigned card_cmd(Card *c, unsigned submod, unsigned opcode, const void *req,
                  size_t len, uint64_t *resp0, uint64_t *resp1)
{
    uint16_t index = card_post_cmd(c, submod, opcode, req, len);
    struct erdma_cqe cqe;
    uint32_t hdr;

    card_ring_cmd(c);
    if (!card_poll_cmd(c, &cqe)) {
        hosts_run(c->hosts);
        CHECK(card_poll_cmd(c, &cqe));
    }
    hdr = be32toh(cqe.hdr);
    CHECK_EQ(be32toh(cqe.qe_idx), index);
    CHECK_EQ(ERDMA_GET(ERDMA_CQE_OPCODE, hdr), opcode);
    CHECK_EQ(ERDMA_GET(ERDMA_CQE_QTYPE, hdr), ERDMA_CQE_QTYPE_CMDQ);
    if (resp0) {
        *resp0 = be32toh(cqe.resp[0]) | (uint64_t)be32toh(cqe.resp[1]) << 32;
    }
    if (resp1) {
        *resp1 = be32toh(cqe.resp[2]) | (uint64_t)be32toh(cqe.resp[3]) << 32;
    }
    CHECK_EQ(c->h->open_maps, 0);
    return ERDMA_GET(ERDMA_CQE_SYNDROME, hdr);
}

void card_arm_cmd(Card *c)
{
    uint64_t v = ERDMA_PREP(ERDMA_CQ_DB_CI, (uint64_t)c->cq_ci) |
                 ERDMA_PREP(ERDMA_CQ_DB_CMDSN, (uint64_t)c->arm_sn) |
                 ERDMA_CQ_DB_ARM |
                 ERDMA_PREP(ERDMA_CQ_DB_IDX, (uint64_t)c->arm_sn);

    c->arm_sn++;
    card_write64(c, ERDMA_REG_CMDQ_CQ_DB, v);
}

/* ---- event queues ---- */

unsigned eq_create(Card *c, unsigned eqn, unsigned depth_log)
{
    struct erdma_cmd_create_eq req = { 0 };
    Eq *eq = &c->eq[eqn % 32];
    uint64_t addr = fake_zalloc(c->h, (uint64_t)ERDMA_EQE_SIZE << depth_log);
    unsigned err;

    req.addr = htole64(addr);
    req.vector = eqn;
    req.eqn = eqn;
    req.depth = depth_log;
    req.type = ERDMA_EQ_CEQ;
    err = CMD_COMMON(c, ERDMA_CMD_CREATE_EQ, req);
    if (!err) {
        eq->addr = addr;
        eq->depth = 1u << depth_log;
        eq->ci = 0;
    }
    return err;
}

bool eq_poll(Card *c, Eq *eq, uint64_t *word0, uint64_t *word1)
{
    uint32_t slot = erdma_ring_slot(eq->ci, eq->depth);
    uint64_t w[2];

    memcpy(w, fake_ptr(c->h, eq->addr + slot * ERDMA_EQE_SIZE, sizeof(w)),
           sizeof(w));
    w[0] = le64toh(w[0]);
    if (ERDMA_GET(ERDMA_CEQE_OWNER, w[0]) !=
        erdma_ring_owner(eq->ci, eq->depth)) {
        return false;
    }
    eq->ci++;
    if (word0) {
        *word0 = w[0];
    }
    if (word1) {
        *word1 = le64toh(w[1]);
    }
    return true;
}

void ceq_arm(Card *c, unsigned eqn)
{
    card_write64(c, ERDMA_REG_EQ_DB(eqn), c->eq[eqn].ci | ERDMA_EQ_DB_ARM);
}

void aeq_arm(Card *c)
{
    card_write64(c, ERDMA_REG_AEQ_DB, c->aeq.ci | ERDMA_EQ_DB_ARM);
}

void expect_aeqe(Card *c, unsigned type, uint32_t object)
{
    uint64_t w;

    CHECK(eq_poll(c, &c->aeq, &w, NULL));
    CHECK_EQ(ERDMA_GET(ERDMA_AEQE_TYPE, (uint32_t)w), type);
    CHECK_EQ(w >> 32, object);
}

void expect_no_timer(Card *c)
{
    if (c->hosts->wires && c->f.timer) {
        c->f.timer = 0;
        erdma_core_timer(c->core);
    }
    CHECK_EQ(c->f.timer, 0);
}

void expect_no_aeqe(Card *c)
{
    CHECK(!eq_poll(c, &c->aeq, NULL, NULL));
}
