/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Garbage with fixed seeds: registers, rings, commands, whole scripts. What is
 * checked is that the card survives, gives every map back, keeps its word about
 * bounded turns, and works after a reset.
 */
#include <stdlib.h>

#include "guest.h"

typedef struct Rng {
    uint64_t x;
} Rng;

static uint32_t rnd(Rng *r)
{
    r->x ^= r->x << 13;
    r->x ^= r->x >> 7;
    r->x ^= r->x << 17;
    return r->x >> 16;
}

static uint64_t rnd64(Rng *r)
{
    return (uint64_t)rnd(r) << 32 | rnd(r);
}

/* A number that is more often interesting than not */
static uint64_t odd_number(Rng *r)
{
    switch (rnd(r) % 8) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX;
    case 2:
        return 1ull << rnd(r) % 64;
    case 3:
        return (1ull << rnd(r) % 64) - 1;
    case 4:
        return RAM_BASE + rnd(r) % RAM_SIZE;
    case 5:
        return (RAM_BASE + rnd(r) % RAM_SIZE) & ~4095ull;
    case 6:
        return rnd(r) % 512;
    default:
        return rnd64(r);
    }
}

static void works_after_reset(Hosts *b)
{
    for (unsigned i = 0; i < b->cards; i++) {
        Card *c = &b->card[i];

        c->h->next = RAM_BASE;
        fake_fill_holes(c->h);
        c->f.bus_master = true;
        card_write32(c, ERDMA_REG_CTRL, ERDMA_CTRL_RESET);
        c->f.kicked = false;
        card_up(c, 4, 2);
        CHECK_EQ(card_cmd(c, 0, 0, NULL, 8, NULL, NULL), 0);
    }
}

static void settle(Hosts *b, Rng *r)
{
    for (unsigned i = 0; i < 50; i++) {
        for (unsigned k = 0; k < b->cards; k++) {
            if (b->card[k].f.kicked) {
                b->card[k].f.kicked = false;
                erdma_core_run(b->card[k].core);
            }
            CHECK_EQ(b->card[k].h->open_maps, 0);
        }
    }
    if (rnd(r) % 4 == 0) {
        hosts_advance(b, rnd(r));
    }
}

/* ---- registers and doorbells ---- */

static uint64_t fuzz_offset(Rng *r)
{
    switch (rnd(r) % 5) {
    case 0:
        return rnd(r) % 0x400;
    case 1:
        return (rnd(r) % 0x1000) & ~7u;
    case 2:
        return 0x1000 + (rnd(r) % 0x7f000 & ~7u);
    case 3:
        return 0x80000 + (rnd(r) % 0x10000 & ~7u);
    default:
        return rnd64(r) & 0x1ffffff;
    }
}

TEST(fuzz_registers_and_doorbells)
{
    for (unsigned seed = 1; seed <= 5; seed++) {
        Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);
        Rng r = { seed * 0x9e3779b97f4a7c15ull };

        for (unsigned i = 0; i < 6000; i++) {
            Card *c = &s->hosts.card[rnd(&r) % 2];
            uint64_t off = fuzz_offset(&r), v = odd_number(&r);
            unsigned size = 1u << (rnd(&r) & 1 ? 3 : rnd(&r) % 4);

            if (rnd(&r) % 2) {
                v = (v & ~(0xfffull << 32)) | (uint64_t)(rnd(&r) % 4) << 32;
            }
            if (off == ERDMA_REG_CTRL && rnd(&r) % 16) {
                continue;
            }
            erdma_core_mmio_read(c->core, off, size);
            erdma_core_mmio_write(c->core, off, v, size);
            settle(&s->hosts, &r);
        }
        works_after_reset(&s->hosts);
        fixture_free(s);
    }
}

/* ---- rings ---- */

static void spoil_ring(Rng *r, void *p, size_t len)
{
    for (unsigned n = 1 + rnd(r) % 6; n; n--) {
        ((uint8_t *)p)[rnd(r) % len] = rnd(r);
    }
}

static Wr any_wr(Fixture *s, Rng *r)
{
    static const uint8_t ops[] = { 0, 1, 2, 3, 9, 13, 14, 15, 16, 17, 18 };
    Wr wr = fixture_write(s, rnd(r) % 65536, rnd(r) % 65536, rnd(r) % 70000);

    wr.opcode = ops[rnd(r) % sizeof(ops)];
    wr.nsge = rnd(r) % 7;
    for (unsigned i = 0; i < wr.nsge; i++) {
        wr.sge[i] = (Sge) {
            s->abuf + rnd(r) % 65536, rnd(r) % 5000,
            rnd(r) % 8 ? s->akey : rnd(r),
        };
    }
    if (rnd(r) % 16 == 0) {
        wr.raddr = odd_number(r);
    }
    wr.unsignaled = rnd(r) & 1;
    wr.solicited = rnd(r) & 1;
    wr.npages = rnd(r) % 5;
    wr.imm = rnd(r);
    if (rnd(r) % 4 == 0) {
        wr.is_inline = true;
        wr.data = fixture_a(s, 0);
        wr.data_len = rnd(r) % 97;
    }
    return wr;
}

TEST(fuzz_work_requests)
{
    for (unsigned seed = 1; seed <= 2000; seed++) {
        static Fixture *s;
        Rng r = { seed * 0x9e3779b97f4a7c15ull };
        Wc wc;

        if (seed % 50 == 1) {
            if (s) {
                fixture_free(s);
            }
            s = fixture_new(seed & 2 ? 1 : 2, QUEUE_KERNEL, 65536);
        }
        qp_init(&s->aqp, s->a, &s->acq, rnd(&r) % 3);
        qp_init(&s->bqp, s->b, &s->bcq, rnd(&r) % 3);
        qp_connect(&s->aqp, &s->bqp);
        for (unsigned i = 0; i < 10; i++) {
            Wr wr = any_wr(s, &r);
            uint16_t at = qp_post(&s->aqp, &wr);

            if (rnd(&r) % 4 == 0) {
                spoil_ring(&r, qp_block(&s->aqp, at + rnd(&r) % 2), 32);
            }
            fixture_recv(s, rnd(&r) % 65536, rnd(&r) % 40000);
            if (rnd(&r) % 8 == 0) {
                spoil_ring(&r, qp_rqe(&s->bqp, s->bqp.rq_pi - 1), 32);
            }
            qp_ring(&s->aqp);
            settle(&s->hosts, &r);
            while (cq_poll(&s->acq, &wc) || cq_poll(&s->bcq, &wc)) {
            }
        }
        s->a->h->next = s->b->h->next = RAM_BASE + (20u << 20);
        if (seed % 50 == 0 && seed == 2000) {
            fixture_free(s);
            s = NULL;
        }
    }
}

/* ---- commands ---- */

static void fuzz_command(Card *c, Rng *r)
{
    uint8_t req[128];
    unsigned submod = rnd(r) % 2, op = rnd(r) % 18;

    for (unsigned i = 0; i < sizeof(req); i += 8) {
        uint64_t v = odd_number(r);

        memcpy(req + i, &v, 8);
    }
    if (rnd(r) % 2) {           /* a small number of an object */
        uint32_t n = rnd(r) % 8;

        memcpy(req + 8, &n, 4);
    }
    if (op == ERDMA_CMD_MODIFY_QP && submod == 0) {
        uint32_t cfg = (rnd(r) % 7) << 24 | rnd(r) % 8;

        memcpy(req + 8, &cfg, 4);
    }
    card_cmd(c, submod, op, req, sizeof(req), NULL, NULL);
}

TEST(fuzz_commands)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);
        Rng r = { seed * 0x2545f4914f6cdd1dull };

        for (unsigned i = 0; i < 1000; i++) {
            Card *c = &s->hosts.card[rnd(&r) % 2];

            if (counters(c).ready) {
                fuzz_command(c, &r);
            }
            if (rnd(&r) % 4 == 0) {
                card_write64(c, ERDMA_DB_KERNEL_SQ, (uint64_t)(rnd(&r) % 8) <<
                             32 | rnd(&r) % 64);
                card_write64(c, ERDMA_DB_RQ_BASE, (uint64_t)(rnd(&r) % 8) <<
                             32 | rnd(&r) % 64);
            }
            settle(&s->hosts, &r);
        }
        works_after_reset(&s->hosts);
        fixture_free(s);
    }
}

/* ---- life: everything at once, in any order ---- */

static void random_act(Fixture *s, Rng *r, Qp *qp, bool *live)
{
    unsigned i = rnd(r) % 4, peer = i ^ 1;
    Card *c = i & 1 ? s->b : s->a;
    Cq *cq = i & 1 ? &s->bcq : &s->acq;
    Wr wr = any_wr(s, r);

    if (!live[i]) {
        qp_init(&qp[i], c, cq, rnd(r) % 3);
        live[i] = true;
        return;
    }
    switch (rnd(r) % 16) {
    case 0:
        CHECK_EQ(qp_destroy(&qp[i]), 0);
        live[i] = false;
        break;
    case 1:
        qp_modify(&qp[i], rnd(r) % 6);
        break;
    case 2:
    case 3:
        if (live[peer]) {
            qp_rts(&qp[i], &qp[peer], 1000 + i / 2, i & 1);
        }
        break;
    case 4:
        qp_reflush(&qp[i]);
        break;
    case 5:
        cq_arm(cq, rnd(r) & 1);
        break;
    case 6:
        ceq_arm(c, 1 + rnd(r) % 2);
        break;
    case 7:
        hosts_advance(&s->hosts, (uint64_t)rnd(r) * 4);
        break;
    case 8:
    case 9:
    case 10:
        qp_recv(&qp[i], s->bbuf + rnd(r) % 65536, rnd(r) % 40000,
                i & 1 ? s->bkey : s->akey);
        break;
    default:
        qp_send(&qp[i], &wr);
        break;
    }
}

TEST(fuzz_lives_of_queue_pairs)
{
    for (unsigned seed = 1; seed <= 40; seed++) {
        Fixture *s = fixture_new(1 + seed % 2, QUEUE_KERNEL, 131072);
        Rng r = { seed * 0xd1342543de82ef95ull };
        Qp qp[4];
        bool live[4] = { false };
        uint64_t next = s->a->h->next, next_b = s->b->h->next;
        Wc wc;

        for (unsigned i = 0; i < 500; i++) {
            s->b->h->next = next_b + (i % 16) * 131072;
            s->a->h->next = next + (i % 16) * 131072;
            random_act(s, &r, qp, live);
            settle(&s->hosts, &r);
            while (cq_poll(&s->acq, &wc) || cq_poll(&s->bcq, &wc)) {
            }
        }
        works_after_reset(&s->hosts);
        fixture_free(s);
    }
}
