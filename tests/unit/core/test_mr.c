/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory regions: shapes, translation, checks (section 10). */
#include <stdlib.h>

#include "guest.h"

/* Write from a's buffer through @rkey at @raddr of b; the syndrome */
static unsigned write_to(Fixture *s, uint32_t rkey, uint64_t raddr,
                         uint32_t len)
{
    Wr wr = fixture_write(s, 0, 0, len);

    wr.raddr = raddr;
    wr.rkey = rkey;
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    return cq_expect(&s->acq).syndrome;
}

/* Pages of @size bytes, never neighbours, aligned to their size */
static void lone_pages(Card *c, uint64_t *page, unsigned n, uint64_t size)
{
    for (unsigned i = 0; i < n; i++) {
        uint64_t at = (c->h->next + size - 1) & ~(size - 1);

        fake_alloc(c->h, at - c->h->next + size);
        fake_alloc(c->h, 4096);
        page[i] = at;
    }
}

/* Region over scattered pages, written whole, compared page by page */
static void through(unsigned level, unsigned shift, unsigned npages,
                    uint64_t base_off, bool version1)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 1 << 20);
    uint64_t size = 1ull << shift;
    uint64_t *page = calloc(npages, sizeof(*page));
    uint64_t va = 0x7f0000000000 + base_off, len = npages * size - base_off;
    MrOpt o = {
        .index = 500, .pd = PD, .rights = ALL_RIGHTS, .va = va, .len = len,
        .page_shift = shift, .level = level, .page = page, .npages = npages,
        .version1 = version1,
    };
    uint8_t *copy = malloc(len);

    lone_pages(s->b, page, npages, size);
    CHECK_EQ(mr_reg_opt(s->b, &o), 0);
    for (uint64_t done = 0; done < len; done += 700000) {
        uint32_t n = len - done < 700000 ? len - done : 700000;

        pattern(fixture_a(s, 0), n, done);
        CHECK_EQ(write_to(s, 500 << 8, va + done, n), 0);
        memcpy(copy + done, fixture_a(s, 0), n);
    }
    for (uint64_t off = 0; off < len; off++) {
        uint64_t pos = base_off + off;

        CHECK_EQ(*(uint8_t *)fake_ptr(s->b->h, page[pos / size] + pos % size,
                                      1), copy[off]);
    }
    free(copy);
    free(page);
    fixture_free(s);
}

TEST(level_0_region_of_four_pages_translates)
{
    through(0, 12, 4, 0, false);
}

TEST(region_may_start_inside_its_first_page)
{
    through(0, 12, 4, 1234, false);
}

TEST(level_1_region_translates)
{
    through(1, 12, 200, 77, false);
}

TEST(level_1_region_of_version_1_translates)
{
    through(1, 12, 70, 4095, true);
}

TEST(level_2_region_translates)
{
    through(2, 12, 600, 0, true);
}

TEST(level_3_region_translates)
{
    through(3, 12, 600, 100, true);
}

TEST(region_of_64_kib_pages_translates)
{
    through(1, 16, 10, 50000, false);
}

TEST(region_of_one_2_mib_page_translates)
{
    through(0, 21, 1, 0x12345, false);
}

TEST(neighbouring_pages_are_mapped_in_one_piece)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 1 << 20);
    Wr wr = fixture_write(s, 0, 0, 1 << 20);

    if (fake_default_mode == MAP_SHORT || fake_wire_mode == WIRE_MODE_BYTES) {
        fixture_free(s);
        return;
    }
    s->a->h->maps = s->b->h->maps = 0;
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    /* one map of each side per slice, and the completion */
    CHECK(s->a->h->maps <= 3);
    CHECK(s->b->h->maps <= 2);
    fixture_free(s);
}

/* ---- checks ---- */

TEST(first_and_last_byte_are_inside_and_the_next_is_not)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);

    CHECK_EQ(write_to(s, s->bkey, s->bbuf, 8192), 0);
    CHECK_EQ(write_to(s, s->bkey, s->bbuf + 8191, 1), 0);
    CHECK_EQ(write_to(s, s->bkey, s->bbuf + 8191, 2), ERDMA_WC_RECV_BOUNDS);
    fixture_free(s);
}

static unsigned remote_error(uint32_t key_xor, int64_t off, uint32_t len)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    unsigned syndrome = write_to(s, s->bkey ^ key_xor, s->bbuf + off, len);

    CHECK(is_fill(fixture_b(s, 0), 8192, 0xa5));
    fixture_free(s);
    return syndrome;
}

TEST(address_before_the_region_is_refused)
{
    CHECK_EQ(remote_error(0, -1, 2), ERDMA_WC_RECV_BOUNDS);
}

TEST(address_after_the_region_is_refused)
{
    CHECK_EQ(remote_error(0, 8193, 1), ERDMA_WC_RECV_BOUNDS);
}

TEST(address_wrap_is_refused)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);

    CHECK_EQ(write_to(s, s->bkey, UINT64_MAX - 3, 8), ERDMA_WC_RECV_WRAP);
    fixture_free(s);
}

TEST(wrong_key_byte_is_refused)
{
    CHECK_EQ(remote_error(1, 0, 8), ERDMA_WC_RECV_STAG);
}

TEST(unknown_index_is_refused)
{
    CHECK_EQ(remote_error(0x00500000, 0, 8), ERDMA_WC_RECV_STAG);
    CHECK_EQ(remote_error(0xffffff00, 0, 8), ERDMA_WC_RECV_STAG);
}

TEST(other_protection_domain_is_refused)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    MrOpt o = {
        .index = 500, .pd = PD + 1, .rights = ALL_RIGHTS, .va = s->bbuf,
        .len = 4096, .page = &s->bbuf, .npages = 1,
    };

    CHECK_EQ(mr_reg_opt(s->b, &o), 0);
    CHECK_EQ(write_to(s, 500 << 8, s->bbuf, 8), ERDMA_WC_RECV_PD);
    fixture_free(s);
}

/* One operation against regions with all rights but @missing on one side */
static unsigned without(uint8_t opcode, uint32_t missing, bool local)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    uint32_t rights = ALL_RIGHTS & ~missing;
    Wr wr = fixture_write(s, 0, 0, 8);
    unsigned syndrome;

    wr.opcode = opcode;
    if (local) {
        wr.sge[0].key = mr_reg(s->a, s->abuf, s->abuf, 8192, rights);
        fixture_recv(s, 0, 4096);
    } else {
        wr.rkey = mr_reg(s->b, s->bbuf, s->bbuf, 8192, rights);
        qp_recv(&s->bqp, s->bbuf, 4096, wr.rkey);
    }
    qp_send(&s->aqp, &wr);
    syndrome = cq_expect(&s->acq).syndrome;
    fixture_free(s);
    return syndrome;
}

TEST(write_needs_remote_write_at_its_target)
{
    CHECK_EQ(without(ERDMA_OP_WRITE, ERDMA_RIGHT_REMOTE_WRITE, false),
             ERDMA_WC_RECV_RIGHTS);
    CHECK_EQ(without(ERDMA_OP_WRITE, ERDMA_RIGHT_LOCAL_WRITE |
                     ERDMA_RIGHT_REMOTE_READ | ERDMA_RIGHT_REMOTE_ATOMIC,
                     false), 0);
}

TEST(read_needs_remote_read_at_its_source)
{
    CHECK_EQ(without(ERDMA_OP_READ, ERDMA_RIGHT_REMOTE_READ, false),
             ERDMA_WC_RECV_RIGHTS);
    CHECK_EQ(without(ERDMA_OP_READ, ALL_RIGHTS & ~ERDMA_RIGHT_REMOTE_READ,
                     false), 0);
}

TEST(read_sink_needs_local_or_remote_write)
{
    CHECK_EQ(without(ERDMA_OP_READ, ERDMA_RIGHT_LOCAL_WRITE, true), 0);
    CHECK_EQ(without(ERDMA_OP_READ, ERDMA_RIGHT_REMOTE_WRITE, true), 0);
    CHECK_EQ(without(ERDMA_OP_READ, ERDMA_RIGHT_REMOTE_WRITE |
                     ERDMA_RIGHT_LOCAL_WRITE, true), ERDMA_WC_SEND_RIGHTS);
}

TEST(atomic_needs_remote_atomic_at_its_target)
{
    CHECK_EQ(without(ERDMA_OP_ATOMIC_FAA, ERDMA_RIGHT_REMOTE_ATOMIC, false),
             ERDMA_WC_RECV_RIGHTS);
    CHECK_EQ(without(ERDMA_OP_ATOMIC_CAS, ALL_RIGHTS &
                     ~ERDMA_RIGHT_REMOTE_ATOMIC, false), 0);
}

TEST(atomic_result_needs_local_write)
{
    CHECK_EQ(without(ERDMA_OP_ATOMIC_FAA, ERDMA_RIGHT_LOCAL_WRITE, true),
             ERDMA_WC_SEND_RIGHTS);
}

TEST(receive_buffer_needs_local_write)
{
    CHECK_EQ(without(ERDMA_OP_SEND, ERDMA_RIGHT_LOCAL_WRITE, false),
             ERDMA_WC_GENERAL_ERR);
    CHECK_EQ(without(ERDMA_OP_SEND, ALL_RIGHTS & ~ERDMA_RIGHT_LOCAL_WRITE,
                     false), 0);
}

TEST(source_of_a_send_needs_no_right_at_all)
{
    CHECK_EQ(without(ERDMA_OP_SEND, ALL_RIGHTS, true), 0);
}

/* ---- local errors ---- */

static unsigned local_error(uint32_t key_xor, int64_t off, uint32_t len)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    Wr wr = fixture_write(s, 0, 0, len);
    unsigned syndrome;

    wr.sge[0].key ^= key_xor;
    wr.sge[0].addr += off;
    qp_send(&s->aqp, &wr);
    syndrome = cq_expect(&s->acq).syndrome;
    expect_aeqe(s->a, ERDMA_AE_QP_FATAL, s->aqp.qpn);
    expect_no_aeqe(s->b);
    fixture_free(s);
    return syndrome;
}

TEST(local_errors_have_their_own_syndromes)
{
    CHECK_EQ(local_error(1, 0, 8), ERDMA_WC_SEND_STAG);
    CHECK_EQ(local_error(0, 8190, 8), ERDMA_WC_SEND_BOUNDS);
    CHECK_EQ(local_error(0, -4, 8), ERDMA_WC_SEND_BOUNDS);
}

TEST(local_wrap_and_pd_are_distinguished)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    Wr wr = fixture_write(s, 0, 0, 8);

    wr.sge[0].addr = UINT64_MAX - 3;
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SEND_WRAP);
    fixture_free(s);

    s = fixture_new(2, QUEUE_KERNEL, 8192);
    wr = fixture_write(s, 0, 0, 8);
    wr.sge[0].key = mr_dma(s->a, PD + 7, ALL_RIGHTS);
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SEND_PD);
    fixture_free(s);
}

/* ---- special regions ---- */

TEST(dma_region_covers_all_bus_addresses)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    uint32_t key = mr_dma(s->b, PD, ALL_RIGHTS);

    CHECK_EQ(write_to(s, key, s->bbuf + 100, 5000), 0);
    CHECK(is_pattern(fixture_b(s, 100), 5000, 1));
    CHECK_EQ(write_to(s, key, UINT64_MAX - 3, 8), ERDMA_WC_RECV_WRAP);
    fixture_free(s);
}

TEST(dma_region_still_has_rights)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    uint32_t key = mr_dma(s->b, PD, ERDMA_RIGHT_LOCAL_WRITE);

    CHECK_EQ(write_to(s, key, s->bbuf, 8), ERDMA_WC_RECV_RIGHTS);
    fixture_free(s);
}

static unsigned use_local_dma_key(QueueKind kind, bool remote)
{
    Fixture *s = fixture_new(2, kind, 8192);
    Wr wr = fixture_write(s, 0, 0, 8);
    unsigned syndrome;

    if (remote) {
        wr.rkey = s->b->cfg.local_dma_key;
    } else {
        wr.sge[0].key = s->a->cfg.local_dma_key;
    }
    qp_send(&s->aqp, &wr);
    syndrome = cq_expect(&s->acq).syndrome;
    fixture_free(s);
    return syndrome;
}

TEST(local_dma_key_is_for_kernel_queue_pairs_only)
{
    CHECK_EQ(use_local_dma_key(QUEUE_KERNEL, false), 0);
    CHECK_EQ(use_local_dma_key(QUEUE_INLINE, false), ERDMA_WC_SEND_STAG);
    CHECK_EQ(use_local_dma_key(QUEUE_TABLE, false), ERDMA_WC_SEND_STAG);
}

TEST(local_dma_key_is_refused_as_a_remote_key)
{
    CHECK_EQ(use_local_dma_key(QUEUE_KERNEL, true), ERDMA_WC_RECV_STAG);
}

/* ---- registering ---- */

TEST(reg_mr_refuses_what_cannot_be)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    const uint64_t p[4] = { RAM_BASE, RAM_BASE, RAM_BASE, RAM_BASE };
    const MrOpt bad[] = {
        { .index = 131072, .len = 1, .page = p, .npages = 1 },
        { .index = 0xfffff, .len = 1, .page = p, .npages = 1 },
        { .index = 9, .type = 3, .len = 1, .page = p, .npages = 1 },
        { .index = 9, .len = 4097, .page = p, .npages = 1 },
        { .index = 9, .va = 1, .len = 4096, .page = p, .npages = 1 },
        { .index = 9, .len = 1, .page = p, .npages = 0 },
        { .index = 9, .len = 5 * 4096, .page = p, .npages = 5 },
        { .index = 9, .len = 1, .page = p, .npages = 1, .page_shift = 11 },
        { .index = 9, .len = 1, .page = p, .npages = 1, .page_shift = 31 },
        { .index = 9, .len = 1, .table = RAM_BASE, .npages = 1, .level = 2 },
        { .index = 9, .len = 1, .table = RAM_BASE, .npages = 1,
          .version1 = true },
        { .index = 9, .len = 4097, .table = RAM_BASE, .npages = 1, .level = 1,
          .version1 = true },
        { .index = 9, .va = 1, .len = 4096, .table = RAM_BASE, .npages = 1,
          .level = 1, .version1 = true },
        { .index = 9, .len = 513 * 513 * 4096ull, .table = RAM_BASE,
          .npages = 513 * 513, .level = 2, .version1 = true },
        { .index = 9, .len = 1ull << 32, .table = RAM_BASE, .level = 1,
          .npages = 1 << 20, .version1 = true },
        { .index = 9, .va = UINT64_MAX - 100, .len = 4096, .page = p,
          .npages = 2 },
        { .index = 9, .type = ERDMA_MR_FRMR, .level = 0, .page = p,
          .npages = 1 },
        { .index = 9, .type = ERDMA_MR_FRMR, .level = 1, .table = RAM_BASE,
          .npages = 524289 },
    };

    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (mr_reg_opt(s->a, &bad[i]) != ERDMA_CMD_EINVAL) {
            tap_fail(__FILE__, __LINE__, "case %u", i);
        }
    }
    CHECK_EQ(counters(s->a).mrs, 2);
    fixture_free(s);
}

static void no_mtt_va(ErdmaConfig *cfg)
{
    cfg->flags &= ~ERDMA_FLAG_MTT_VA;
}

TEST(scattered_tables_need_the_flag)
{
    Fixture *s = fixture_new_cfg(1, QUEUE_KERNEL, 4096, no_mtt_va);
    MrOpt o = {
        .index = 9, .len = 1, .table = RAM_BASE, .npages = 1, .level = 2,
        .version1 = true,
    };

    CHECK_EQ(mr_reg_opt(s->a, &o), ERDMA_CMD_EINVAL);
    fixture_free(s);
}

TEST(index_in_use_is_not_replaced)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    MrOpt o = {
        .index = s->bkey >> 8, .pd = PD, .rights = 0, .va = 0, .len = 4096,
        .page = &s->bbuf, .npages = 1,
    };

    CHECK_EQ(mr_reg_opt(s->b, &o), ERDMA_CMD_EEXIST);
    CHECK_EQ(write_to(s, s->bkey, s->bbuf, 8), 0);
    fixture_free(s);
}

TEST(deregistered_key_is_dead)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);

    CHECK_EQ(mr_dereg(s->b, s->bkey), 0);
    CHECK_EQ(mr_dereg(s->b, s->bkey), ERDMA_CMD_ENOENT);
    CHECK_EQ(write_to(s, s->bkey, s->bbuf, 8), ERDMA_WC_RECV_STAG);
    fixture_free(s);
}

TEST(index_can_be_used_again_at_once)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    MrOpt o = {
        .index = s->bkey >> 8, .pd = PD, .rights = ALL_RIGHTS,
        .va = 0x1000, .len = 4096, .page = &s->bbuf, .npages = 1,
    };

    CHECK_EQ(mr_dereg(s->b, s->bkey), 0);
    CHECK_EQ(mr_reg_opt(s->b, &o), 0);
    CHECK_EQ(write_to(s, s->bkey, 0x1ff8, 8), 0);
    CHECK(is_pattern(fixture_b(s, 4088), 8, 1));
    fixture_free(s);
}

/* ---- large regions ---- */

static void largest_regions(ErdmaConfig *cfg)
{
    cfg->max_mr_size = 39;
}

/* 512 GiB of 4 KiB pages: the last one, through tables that hold no other */
TEST(last_page_of_the_largest_region_translates)
{
    Fixture *s = fixture_new_cfg(2, QUEUE_KERNEL, 8192, largest_regions);
    uint64_t len = 1ull << 39, top = fake_zalloc(s->b->h, 4096);
    uint64_t middle = fake_zalloc(s->b->h, 4096);
    uint64_t leaf = fake_zalloc(s->b->h, 4096);
    MrOpt o = {
        .index = 500, .pd = PD, .rights = ALL_RIGHTS, .va = 0x7f0000000000,
        .len = len, .page_shift = 12, .level = 3, .table = top,
        .npages = 1u << 27, .version1 = true,
    };

    *(uint64_t *)fake_ptr(s->b->h, top + 511 * 8, 8) = htole64(middle);
    *(uint64_t *)fake_ptr(s->b->h, middle + 511 * 8, 8) = htole64(leaf);
    *(uint64_t *)fake_ptr(s->b->h, leaf + 511 * 8, 8) = htole64(s->bbuf);
    CHECK_EQ(mr_reg_opt(s->b, &o), 0);
    CHECK_EQ(write_to(s, 500 << 8, o.va + len - 64, 64), 0);
    CHECK(is_pattern(fixture_b(s, 4096 - 64), 64, 1));
    CHECK_EQ(write_to(s, 500 << 8, o.va + len - 63, 64),
             ERDMA_WC_RECV_BOUNDS);
    fixture_free(s);
}

TEST(region_of_more_pages_than_three_levels_hold_is_refused)
{
    Fixture *s = fixture_new_cfg(2, QUEUE_KERNEL, 8192, largest_regions);
    MrOpt o = {
        .index = 500, .pd = PD, .rights = ALL_RIGHTS, .va = 0x7f0000000800,
        .len = 1ull << 39, .page_shift = 12, .level = 3,
        .table = fake_zalloc(s->b->h, 4096), .npages = (1u << 27) + 1,
        .version1 = true,
    };

    CHECK_EQ(mr_reg_opt(s->b, &o), ERDMA_CMD_EINVAL);
    fixture_free(s);
}

/* ---- length of version 0 (10.3) ---- */

static void big_regions(ErdmaConfig *cfg)
{
    cfg->max_mr_size = 36;
}

TEST(true_length_is_recovered_from_the_page_count)
{
    Fixture *s = fixture_new_cfg(2, QUEUE_KERNEL, 8192, big_regions);
    uint64_t page[5] = { 0, 0, 0, 0, s->bbuf };
    /* an exact 4 GiB region of 1 GiB pages that begins inside a page */
    MrOpt o = {
        .index = 500, .pd = PD, .rights = ALL_RIGHTS, .va = 0x10000040,
        .len = 0, .page_shift = 30, .level = 1, .page = page, .npages = 5,
    };

    CHECK_EQ(mr_reg_opt(s->b, &o), 0);
    CHECK_EQ(write_to(s, 500 << 8, 0x100000000, 64), 0);
    CHECK_EQ(write_to(s, 500 << 8, 0x110000040, 1), ERDMA_WC_RECV_BOUNDS);
    CHECK(is_pattern(fixture_b(s, 0), 64, 1));
    fixture_free(s);
}

TEST(region_above_the_advertised_size_is_refused)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    uint64_t page[5] = { 0, 0, 0, 0, s->bbuf };
    MrOpt o = {
        .index = 500, .pd = PD, .rights = ALL_RIGHTS, .va = 0x10000040,
        .len = 0, .page_shift = 30, .level = 1, .page = page, .npages = 5,
    };

    CHECK_EQ(mr_reg_opt(s->b, &o), ERDMA_CMD_EINVAL);
    fixture_free(s);
}

/* ---- tables that are not there ---- */

TEST(unreadable_translation_table_is_an_address_violation)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    MrOpt o = {
        .index = 500, .pd = PD, .rights = ALL_RIGHTS, .va = 0, .len = 40960,
        .table = 0x1000, .npages = 10, .level = 1,
    };

    CHECK_EQ(mr_reg_opt(s->b, &o), 0);
    CHECK_EQ(write_to(s, 500 << 8, 4096, 8), ERDMA_WC_RECV_BOUNDS);
    fixture_free(s);
}

TEST(unused_slot_of_a_top_table_is_an_address_violation)
{
    for (unsigned level = 2; level <= 3; level++) {
        Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
        MrOpt o = {
            .index = 500, .pd = PD, .rights = ALL_RIGHTS, .va = 0,
            .len = 40960, .table = fake_zalloc(s->b->h, 4096), .npages = 10,
            .level = level, .version1 = true,
        };

        CHECK_EQ(mr_reg_opt(s->b, &o), 0);
        CHECK_EQ(write_to(s, 500 << 8, 4096, 8), ERDMA_WC_RECV_BOUNDS);
        fixture_free(s);
    }
}

TEST(payload_that_is_not_memory_is_an_address_violation)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 16384);

    fake_hole(s->b->h, s->bbuf + 4096, 4096);
    CHECK_EQ(write_to(s, s->bkey, s->bbuf, 16384), ERDMA_WC_RECV_BOUNDS);
    CHECK(is_pattern(fixture_b(s, 0), 4096, 1));
    expect_aeqe(s->b, ERDMA_AE_ACCESS_ERR, s->bqp.qpn);
    fixture_free(s);
}

TEST(local_payload_that_is_not_memory_is_an_address_violation)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 16384);

    fake_hole(s->a->h, s->abuf + 4096, 4096);
    CHECK_EQ(write_to(s, s->bkey, s->bbuf, 16384), ERDMA_WC_SEND_BOUNDS);
    expect_aeqe(s->a, ERDMA_AE_QP_FATAL, s->aqp.qpn);
    expect_no_aeqe(s->b);
    fixture_free(s);
}
