/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers, reset, INIT (2.2 to 2.4); configuration. */
#include <stdlib.h>

#include "guest.h"

TEST(version_is_what_was_configured_and_not_zero)
{
    Hosts b;

    hosts_init(&b, 1, 1);
    CHECK_EQ(card_read32(&b.card[0], ERDMA_REG_VERSION), 0x02000000);
    CHECK_EQ(erdma_core_mmio_read(b.card[0].core, 3, 1), 0x02);
    hosts_free(&b);
}

TEST(proto_says_iwarp)
{
    Hosts b;

    hosts_init(&b, 1, 1);
    CHECK_EQ(card_read32(&b.card[0], ERDMA_REG_PROTO), ERDMA_PROTO_IWARP);
    hosts_free(&b);
}

static void grp_24(ErdmaConfig *cfg)
{
    cfg->grp_num = 24;
}

TEST(grp_num_is_what_was_configured)
{
    Hosts b;

    hosts_init_cfg(&b, 1, 1, grp_24);
    CHECK_EQ(card_read32(&b.card[0], ERDMA_REG_GRP_NUM), 24);
    hosts_free(&b);
}

TEST(unlisted_registers_and_doorbell_pages_read_zero)
{
    static const uint64_t off[] = {
        0x050, 0x058, 0x0b0, 0x0b8, 0x0e8, 0x100, 0x200, 0x300,
        0xff8, 0x1000, 0x5f000, 0x61000, 0x79000, 0x80000, 0xfffff8,
        0x1000000, UINT64_MAX - 7,
    };
    Hosts b;

    hosts_init(&b, 1, 1);
    for (unsigned i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
        CHECK_EQ(erdma_core_mmio_read(b.card[0].core, off[i], 8), 0);
    }
    CHECK_EQ(card_read32(&b.card[0], 0x004), 0);
    CHECK_EQ(card_read32(&b.card[0], 0x008), 0);
    CHECK_EQ(card_read32(&b.card[0], ERDMA_REG_CTRL), 0);
    hosts_free(&b);
}

TEST(narrow_and_wide_reads_show_the_same_bytes)
{
    Hosts b;
    ErdmaCore *c;
    uint64_t wide;

    hosts_init(&b, 1, 1);
    c = b.card[0].core;
    wide = erdma_core_mmio_read(c, ERDMA_REG_MAC_LO, 8);
    for (unsigned i = 0; i < 8; i++) {
        CHECK_EQ(erdma_core_mmio_read(c, ERDMA_REG_MAC_LO + i, 1),
                 wide >> (8 * i) & 0xff);
    }
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(erdma_core_mmio_read(c, ERDMA_REG_MAC_LO + 2 * i, 2),
                 wide >> (16 * i) & 0xffff);
    }
    hosts_free(&b);
}

TEST(queue_registers_read_back_until_reset)
{
    static const uint32_t off[] = {
        ERDMA_REG_CMDQ_SQ_BASE_LO, ERDMA_REG_CMDQ_SQ_BASE_HI,
        ERDMA_REG_CMDQ_CQ_BASE_LO, ERDMA_REG_CMDQ_CQ_BASE_HI,
        ERDMA_REG_CMDQ_DEPTH, ERDMA_REG_CMDQ_EQ_DEPTH,
        ERDMA_REG_CMDQ_EQ_BASE_LO, ERDMA_REG_CMDQ_EQ_BASE_HI,
        ERDMA_REG_AEQ_BASE_LO, ERDMA_REG_AEQ_BASE_HI, ERDMA_REG_AEQ_DEPTH,
    };
    Hosts b;

    hosts_init(&b, 1, 1);
    for (unsigned i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
        CHECK_EQ(card_read32(&b.card[0], off[i]), 0);
        card_write32(&b.card[0], off[i], 0x11110000 + off[i]);
    }
    for (unsigned i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
        CHECK_EQ(card_read32(&b.card[0], off[i]), 0x11110000 + off[i]);
    }
    card_write64(&b.card[0], ERDMA_REG_AEQ_DBREC, 0x123456789abcdef0);
    CHECK_EQ(card_read32(&b.card[0], ERDMA_REG_AEQ_DBREC + 4), 0x12345678);
    card_write32(&b.card[0], ERDMA_REG_CTRL, ERDMA_CTRL_RESET);
    for (unsigned i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
        CHECK_EQ(card_read32(&b.card[0], off[i]), 0);
    }
    CHECK_EQ(card_read32(&b.card[0], ERDMA_REG_AEQ_DBREC), 0);
    hosts_free(&b);
}

TEST(registers_take_only_their_own_width)
{
    Hosts b;
    Card *c;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    card_write32(c, ERDMA_REG_AEQ_DBREC, 0xffffffff);
    card_write32(c, ERDMA_REG_AEQ_DBREC + 4, 0xffffffff);
    CHECK_EQ(erdma_core_mmio_read(c->core, ERDMA_REG_AEQ_DBREC, 8), 0);
    card_write64(c, ERDMA_REG_CMDQ_SQ_BASE_LO, UINT64_MAX);
    CHECK_EQ(card_read32(c, ERDMA_REG_CMDQ_SQ_BASE_LO), 0);
    erdma_core_mmio_write(c->core, ERDMA_REG_CMDQ_DEPTH, 0xff, 1);
    erdma_core_mmio_write(c->core, ERDMA_REG_CMDQ_DEPTH + 2, 0xff, 4);
    CHECK_EQ(card_read32(c, ERDMA_REG_CMDQ_DEPTH), 0);
    CHECK(counters(c).guest_errors >= 5);
    hosts_free(&b);
}

TEST(read_only_registers_ignore_writes)
{
    static const uint32_t off[] = {
        ERDMA_REG_VERSION, ERDMA_REG_PROTO, ERDMA_REG_STATUS,
        ERDMA_REG_MAC_LO, ERDMA_REG_MAC_HI, ERDMA_REG_GRP_NUM,
        ERDMA_REG_ST_RX_BYTES,
    };
    Hosts b;

    hosts_init(&b, 1, 1);
    for (unsigned i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
        uint32_t before = card_read32(&b.card[0], off[i]);

        card_write32(&b.card[0], off[i], 0xdeadbeef);
        CHECK_EQ(card_read32(&b.card[0], off[i]), before);
    }
    hosts_free(&b);
}

TEST(nothing_is_latched_before_init)
{
    Hosts b;
    Card *c;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    c->f.record = true;
    card_write32(c, ERDMA_REG_CMDQ_SQ_BASE_LO, RAM_BASE);
    card_write32(c, ERDMA_REG_CMDQ_DEPTH, 512);
    card_write64(c, ERDMA_REG_CMDQ_SQ_DB, 4);
    card_write64(c, ERDMA_REG_CMDQ_CQ_DB, ERDMA_CQ_DB_ARM | 5);
    hosts_run(&b);
    CHECK_EQ(c->f.events, 0);
    CHECK_EQ(c->h->reads + c->h->maps, 0);
    CHECK(!counters(c).ready);
    hosts_free(&b);
}

TEST(init_sets_init_done)
{
    Hosts b;

    hosts_init(&b, 1, 1);
    CHECK_EQ(card_read32(&b.card[0], ERDMA_REG_STATUS), 0);
    card_start(&b.card[0], 4);
    CHECK_EQ(card_read32(&b.card[0], ERDMA_REG_STATUS),
             ERDMA_STATUS_INIT_DONE);
    CHECK(counters(&b.card[0]).ready);
    hosts_free(&b);
}

static bool init_with(uint32_t off, uint32_t value)
{
    Hosts b;
    bool done;

    hosts_init(&b, 1, 1);
    card_start(&b.card[0], 4);
    card_write32(&b.card[0], off, value);
    card_write32(&b.card[0], ERDMA_REG_CTRL, ERDMA_CTRL_INIT);
    done = card_read32(&b.card[0], ERDMA_REG_STATUS) & ERDMA_STATUS_INIT_DONE;
    CHECK_EQ(done, counters(&b.card[0]).ready);
    CHECK(done || counters(&b.card[0]).guest_errors == 1);
    hosts_free(&b);
    return done;
}

TEST(init_refuses_depths_that_are_no_ring)
{
    static const uint32_t reg[] = {
        ERDMA_REG_CMDQ_DEPTH, ERDMA_REG_CMDQ_EQ_DEPTH, ERDMA_REG_AEQ_DEPTH,
    };
    static const uint32_t bad[] = { 0, 3, 511, 0x10000, 0x80000000, ~0u };

    for (unsigned i = 0; i < 3; i++) {
        for (unsigned k = 0; k < 6; k++) {
            CHECK(!init_with(reg[i], bad[k]));
        }
        CHECK(init_with(reg[i], 64));
    }
}

TEST(init_refuses_bases_that_are_not_aligned)
{
    CHECK(!init_with(ERDMA_REG_CMDQ_SQ_BASE_LO, 0x1010));
    CHECK(!init_with(ERDMA_REG_CMDQ_CQ_BASE_LO, 0x1010));
    CHECK(!init_with(ERDMA_REG_CMDQ_EQ_BASE_LO, 0x1008));
    CHECK(!init_with(ERDMA_REG_AEQ_BASE_LO, 0x1008));
}

TEST(reset_clears_init_done_and_sets_reset_done)
{
    Hosts b;

    hosts_init(&b, 1, 1);
    card_start(&b.card[0], 4);
    card_write32(&b.card[0], ERDMA_REG_CTRL, ERDMA_CTRL_RESET);
    CHECK_EQ(card_read32(&b.card[0], ERDMA_REG_STATUS),
             ERDMA_STATUS_RESET_DONE);
    hosts_free(&b);
}

TEST(function_level_reset_is_the_power_on_state)
{
    Hosts b;

    hosts_init(&b, 1, 1);
    card_start(&b.card[0], 4);
    erdma_core_reset(b.card[0].core);
    CHECK_EQ(card_read32(&b.card[0], ERDMA_REG_STATUS), 0);
    CHECK_EQ(card_read32(&b.card[0], ERDMA_REG_CMDQ_DEPTH), 0);
    hosts_free(&b);
}

TEST(reset_destroys_every_object)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    struct erdma_cmd_ext_db db = { .mask = htole32(7) };
    ErdmaCounters n;

    CHECK_EQ(CMD_COMMON(s->a, ERDMA_CMD_ALLOC_DB, db), 0);
    n = counters(s->a);
    CHECK_EQ(n.qps, 2);
    CHECK_EQ(n.cqs, 2);
    CHECK_EQ(n.mrs, 2);
    CHECK_EQ(n.eqs, 4);
    CHECK_EQ(n.db_contexts, 1);
    card_write32(s->a, ERDMA_REG_CTRL, ERDMA_CTRL_RESET);
    n = counters(s->a);
    CHECK_EQ(n.qps + n.cqs + n.mrs + n.eqs + n.db_contexts, 0);
    CHECK_EQ(n.commands + n.cqes + n.irqs, 0);
    fixture_free(s);
}

TEST(init_while_running_drops_all_old_state)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    Wr wr = fixture_write(s, 0, 2048, 64);

    card_start(s->a, 4);
    CHECK_EQ(counters(s->a).qps, 0);
    CHECK_EQ(counters(s->a).eqs, 2);
    qp_send(&s->aqp, &wr);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    CHECK_EQ(counters(s->a).doorbells_dropped, 1);
    CHECK_EQ(eq_create(s->a, 1, 12), 0);
    fixture_free(s);
}

TEST(traffic_counters_are_registers_too)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    Wr wr = fixture_write(s, 0, 0, 4000);

    qp_send(&s->aqp, &wr);
    CHECK_EQ(card_read32(s->a, ERDMA_REG_ST_TSO_IN_PKTS), 1);
    CHECK_EQ(card_read32(s->a, ERDMA_REG_ST_TSO_OUT_PKTS), 3);
    CHECK_EQ(card_read32(s->a, ERDMA_REG_ST_TSO_OUT_BYTES), 4000);
    CHECK_EQ(card_read32(s->b, ERDMA_REG_ST_RX_PKTS), 3);
    CHECK_EQ(erdma_core_mmio_read(s->b->core, ERDMA_REG_ST_RX_BYTES, 8), 4000);
    CHECK_EQ(card_read32(s->b, ERDMA_REG_ST_RX_DROP_PKTS), 0);
    fixture_free(s);
}

TEST(every_register_offset_and_size_is_survived)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    for (unsigned size = 1; size <= 8; size *= 2) {
        for (uint64_t off = 0; off < 0x1008; off++) {
            erdma_core_mmio_read(s->a->core, off, size);
            if (off != ERDMA_REG_CTRL) {
                erdma_core_mmio_write(s->a->core, off, UINT64_MAX, size);
            }
        }
    }
    erdma_core_mmio_write(s->a->core, s->a->cfg.bar0_size, 1, 8);
    erdma_core_mmio_write(s->a->core, UINT64_MAX, 1, 1);
    erdma_core_mmio_read(s->a->core, UINT64_MAX, 1);
    fixture_free(s);
}

/* ---- configuration ---- */

TEST(recommended_configuration_needs_only_a_mac)
{
    ErdmaConfig cfg;

    erdma_core_config_init(&cfg);
    CHECK(strstr(erdma_core_config_check(&cfg), "mac is not set"));
    cfg.mac[5] = 1;
    CHECK(!erdma_core_config_check(&cfg));
    CHECK_EQ(cfg.bar0_size, 16 << 20);
    CHECK_EQ(cfg.vectors, 32);
    CHECK_EQ(cfg.flags, 0xe8);
    CHECK_EQ(cfg.hold_ns, 10000000000ull);
}

typedef struct Refusal {
    void (*tweak)(ErdmaConfig *cfg);
    const char *word;
} Refusal;

#define REFUSE(name, body) static void name(ErdmaConfig *c) { body; }
REFUSE(bad_mac, c->mac[0] = 1)
REFUSE(bad_version, c->version = 0)
REFUSE(bad_bar_small, c->bar0_size = 0x40000)
REFUSE(bad_bar_odd, c->bar0_size = 0x180000)
REFUSE(bad_bar_big, c->bar0_size = 0x20000000)
REFUSE(bad_bar_flag, c->bar0_size = 0x80000)
REFUSE(bad_vectors_1, c->vectors = 1)
REFUSE(bad_vectors_33, c->vectors = 33)
REFUSE(bad_qblock_0, c->qblock = 0)
REFUSE(bad_qblock_513, c->qblock = 513)
REFUSE(bad_recv, c->max_recv_wr = 16)
REFUSE(bad_cqe, c->max_cqe = 21)
REFUSE(bad_mr_size, c->max_mr_size = 40)
REFUSE(bad_cc, c->default_cc = 5)
REFUSE(bad_key, c->local_dma_key = 0x1ff00)
REFUSE(bad_grp, c->grp_num = 25)
REFUSE(bad_hold, c->hold_ns = 0)
REFUSE(bad_gid, c->max_gid = 16)

TEST(unusable_configuration_is_refused_with_a_sentence)
{
    static const Refusal r[] = {
        { bad_mac, "multicast" }, { bad_version, "version" },
        { bad_bar_small, "bar0_size" }, { bad_bar_odd, "bar0_size" },
        { bad_bar_big, "bar0_size" }, { bad_bar_flag, "ext-db" },
        { bad_vectors_1, "vectors" }, { bad_vectors_33, "vectors" },
        { bad_qblock_0, "qblock" }, { bad_qblock_513, "qblock" },
        { bad_recv, "max_recv_wr" }, { bad_cqe, "max_cqe" },
        { bad_mr_size, "max_mr_size" }, { bad_cc, "default_cc" },
        { bad_key, "local_dma_key" }, { bad_grp, "grp_num" },
        { bad_hold, "hold" }, { bad_gid, "max_gid" },
    };

    for (unsigned i = 0; i < sizeof(r) / sizeof(r[0]); i++) {
        ErdmaConfig cfg;
        const char *text;

        erdma_core_config_init(&cfg);
        cfg.mac[5] = 1;
        r[i].tweak(&cfg);
        text = erdma_core_config_check(&cfg);
        CHECK(text);
        CHECK(strstr(text, r[i].word));
    }
}

static void everything_at_its_limit(ErdmaConfig *cfg)
{
    cfg->bar0_size = 256u << 20;
    cfg->qblock = 512;
    cfg->max_mr_size = 39;
    cfg->grp_num = 24;
}

TEST(largest_configuration_works)
{
    Hosts b;

    hosts_init_cfg(&b, 1, 1, everything_at_its_limit);
    card_up(&b.card[0], 4, 31);
    hosts_free(&b);
}
