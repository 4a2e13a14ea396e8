/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fast registration (10.6) and invalidation. */
#include <stdlib.h>

#include "guest.h"

static Wr reg_wr(uint32_t stag, uint64_t iova, uint32_t len, uint32_t npages)
{
    return (Wr) {
        .opcode = ERDMA_OP_REG_MR, .rkey = stag, .raddr = iova,
        .sge = { { 0, len, 0 } }, .npages = npages, .rights = ALL_RIGHTS,
    };
}

static unsigned run(Qp *qp, const Wr *wr)
{
    qp_send(qp, wr);
    hosts_run(qp->card->hosts);
    return cq_expect(qp->scq).syndrome;
}

static unsigned invalidate(Qp *qp, uint32_t stag)
{
    Wr wr = { .opcode = ERDMA_OP_LOCAL_INV, .rkey = stag };

    return run(qp, &wr);
}

static unsigned write_to(Fixture *s, uint32_t rkey, uint64_t raddr,
                         uint32_t len)
{
    Wr wr = fixture_write(s, 0, 0, len);

    wr.raddr = raddr;
    wr.rkey = rkey;
    return run(&s->aqp, &wr);
}

/* Register b's buffer through an FRMR of b, inline pages */
static uint32_t frmr_on_b(Fixture *s, uint8_t key)
{
    uint32_t stag = mr_frmr(s->b, 64, NULL) | key;
    Wr wr = reg_wr(stag, 0x5000, 8192, 2);

    wr.page[0] = s->bbuf;
    wr.page[1] = s->bbuf + 4096;
    CHECK_EQ(run(&s->bqp, &wr), 0);
    return stag;
}

TEST(fast_registration_with_inline_pages_works)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    uint32_t stag = frmr_on_b(s, 0x42);

    CHECK_EQ(write_to(s, stag, 0x5000 + 100, 8000), 0);
    CHECK(is_pattern(fixture_b(s, 100), 8000, 1));
    fixture_free(s);
}

TEST(fast_registration_with_a_table_works)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);
    uint64_t table, *t;
    uint32_t stag = mr_frmr(s->b, 64, &table) | 7;
    Wr wr = reg_wr(stag, 0x123, 60000, 16);

    t = fake_ptr(s->b->h, table, 128);
    for (unsigned i = 0; i < 16; i++) {
        t[i] = htole64(s->bbuf + (15 - i) * 4096);
    }
    wr.table = true;
    CHECK_EQ(run(&s->bqp, &wr), 0);
    CHECK_EQ(write_to(s, stag, 0x123, 60000), 0);
    CHECK(!memcmp(fixture_b(s, 15 * 4096 + 0x123), fixture_a(s, 0),
                  4096 - 0x123));
    CHECK(!memcmp(fixture_b(s, 14 * 4096), fixture_a(s, 4096 - 0x123), 4096));
    fixture_free(s);
}

TEST(table_is_read_again_after_each_registration)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);
    uint64_t table, *t;
    uint32_t stag = mr_frmr(s->b, 64, &table);
    Wr wr = reg_wr(stag | 1, 0, 4096, 1);

    t = fake_ptr(s->b->h, table, 128);
    wr.table = true;
    for (unsigned i = 0; i < 4; i++) {
        t[0] = htole64(s->bbuf + i * 4096);
        wr.rkey = stag | (i + 1);
        CHECK_EQ(run(&s->bqp, &wr), 0);
        pattern(fixture_a(s, 0), 64, i);
        CHECK_EQ(write_to(s, stag | (i + 1), 0, 64), 0);
        CHECK(is_pattern(fixture_b(s, i * 4096), 64, i));
    }
    fixture_free(s);
}

TEST(inline_pages_survive_reuse_of_the_ring)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    uint32_t stag = frmr_on_b(s, 1);

    for (unsigned i = 0; i < 256; i++) {
        memset(qp_block(&s->bqp, i), 0xff, 32);
    }
    CHECK_EQ(write_to(s, stag, 0x5000, 64), 0);
    CHECK(is_pattern(fixture_b(s, 0), 64, 1));
    fixture_free(s);
}

TEST(fast_region_is_unusable_before_its_registration)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);

    CHECK_EQ(write_to(s, mr_frmr(s->b, 64, NULL), 0, 8), ERDMA_WC_RECV_STAG);
    fixture_free(s);
}

TEST(old_key_byte_dies_with_the_new_registration)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    uint32_t stag = frmr_on_b(s, 1);
    Wr wr = reg_wr((stag & ~0xffu) | 2, 0x5000, 4096, 1);

    wr.page[0] = s->bbuf;
    CHECK_EQ(run(&s->bqp, &wr), 0);
    CHECK_EQ(write_to(s, (stag & ~0xffu) | 2, 0x5000, 8), 0);
    CHECK_EQ(write_to(s, stag, 0x5000, 8), ERDMA_WC_RECV_STAG);
    fixture_free(s);
}

TEST(rights_are_those_of_the_work_request)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    uint32_t stag = mr_frmr(s->b, 64, NULL) | 9;
    Wr wr = reg_wr(stag, 0x5000, 4096, 1);

    wr.page[0] = s->bbuf;
    wr.rights = ERDMA_RIGHT_REMOTE_READ;
    CHECK_EQ(run(&s->bqp, &wr), 0);
    CHECK_EQ(write_to(s, stag, 0x5000, 8), ERDMA_WC_RECV_RIGHTS);
    fixture_free(s);
}

TEST(local_invalidate_ends_a_fast_region)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    uint32_t stag = frmr_on_b(s, 1);

    CHECK_EQ(invalidate(&s->bqp, stag), 0);
    CHECK_EQ(write_to(s, stag, 0x5000, 8), ERDMA_WC_RECV_STAG);
    fixture_free(s);
}

static unsigned bad_invalidate(bool normal, uint32_t key_xor, bool twice)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    uint32_t stag = frmr_on_b(s, 1);
    unsigned syndrome;

    if (twice) {
        CHECK_EQ(invalidate(&s->bqp, stag), 0);
    }
    syndrome = invalidate(&s->bqp, normal ? s->bkey : stag ^ key_xor);
    fixture_free(s);
    return syndrome;
}

TEST(invalidate_of_the_wrong_thing_is_an_error)
{
    CHECK_EQ(bad_invalidate(true, 0, false), ERDMA_WC_SEND_STAG);
    CHECK_EQ(bad_invalidate(false, 1, false), ERDMA_WC_SEND_STAG);
    CHECK_EQ(bad_invalidate(false, 0xff0000, false), ERDMA_WC_SEND_STAG);
    CHECK_EQ(bad_invalidate(false, 0, true), ERDMA_WC_SEND_STAG);
}

static unsigned bad_register(uint32_t iova, uint32_t len, uint32_t npages,
                             bool table, bool normal, uint32_t pd)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    uint32_t stag = normal ? s->bkey : mr_frmr(s->b, 16, NULL);
    Wr wr = reg_wr(stag, iova, len, npages);
    QpOpt o = {
        .kind = QUEUE_KERNEL, .sq_depth = 64, .rq_depth = 64, .pd = pd,
        .scq = &s->bcq, .rcq = &s->bcq,
    };
    Qp qp, other;
    unsigned syndrome;

    qp_init_opt(&qp, s->b, &o);
    qp_init(&other, s->a, &s->acq, QUEUE_KERNEL);
    qp_connect(&qp, &other);
    wr.table = table;
    syndrome = run(&qp, &wr);
    fixture_free(s);
    return syndrome;
}

TEST(fast_registration_is_checked)
{
    CHECK_EQ(bad_register(0, 4096, 1, false, false, PD), 0);
    CHECK_EQ(bad_register(0, 4097, 1, false, false, PD), ERDMA_WC_SQE_FORMAT);
    CHECK_EQ(bad_register(1, 4096, 1, false, false, PD), ERDMA_WC_SQE_FORMAT);
    CHECK_EQ(bad_register(0, 4096, 16, true, false, PD), 0);
    CHECK_EQ(bad_register(0, 4096, 17, true, false, PD), ERDMA_WC_SQE_FORMAT);
    CHECK_EQ(bad_register(0, 4096, 0xfffff, true, false, PD),
             ERDMA_WC_SQE_FORMAT);
    CHECK_EQ(bad_register(0, 4096, 1, false, true, PD), ERDMA_WC_SEND_STAG);
    CHECK_EQ(bad_register(0, 4096, 1, false, false, PD + 1),
             ERDMA_WC_SEND_PD);
}

/* ---- invalidation by the peer ---- */

static Wr send_inv(Fixture *s, uint32_t stag)
{
    Wr wr = fixture_send(s, 0, 16);

    wr.opcode = ERDMA_OP_SEND_INV;
    wr.imm = htole32(stag);
    return wr;
}

TEST(send_with_invalidate_ends_the_receivers_region)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    uint32_t stag = frmr_on_b(s, 0x33);
    Wr wr = send_inv(s, stag);
    Wc wc;

    fixture_recv(s, 0, 64);
    CHECK_EQ(run(&s->aqp, &wr), 0);
    wc = cq_expect(&s->bcq);
    CHECK_EQ(wc.opcode, ERDMA_OP_RECV_INV);
    CHECK_EQ(wc.imm, stag);
    CHECK_EQ(wc.size, 16);
    CHECK_EQ(write_to(s, stag, 0x5000, 8), ERDMA_WC_RECV_STAG);
    fixture_free(s);
}

TEST(send_with_invalidate_of_a_normal_region_ends_the_connection)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    Wr wr = send_inv(s, s->bkey);

    fixture_recv(s, 0, 64);
    fixture_recv(s, 0, 64);
    CHECK_EQ(run(&s->aqp, &wr), ERDMA_WC_GENERAL_ERR);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_RECV_STAG);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_FLUSHED);
    expect_aeqe(s->b, ERDMA_AE_RQ_ERR, s->bqp.qpn);
    fixture_free(s);
}

TEST(read_with_invalidate_ends_the_local_region_after_the_data)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    uint32_t stag = mr_frmr(s->a, 64, NULL) | 5;
    Wr reg = reg_wr(stag, 0x9000, 4096, 1), wr = fixture_read(s, 0, 0, 256);

    reg.page[0] = s->abuf;
    CHECK_EQ(run(&s->aqp, &reg), 0);
    pattern(fixture_b(s, 0), 256, 9);
    wr.opcode = ERDMA_OP_READ_INV;
    wr.sge[0].addr = 0x9000;
    wr.sge[0].key = stag;
    wr.imm = htole32(stag);
    CHECK_EQ(run(&s->aqp, &wr), 0);
    CHECK(is_pattern(fixture_a(s, 0), 256, 9));
    CHECK_EQ(run(&s->aqp, &wr), ERDMA_WC_SEND_STAG);
    fixture_free(s);
}

TEST(read_with_invalidate_of_the_wrong_key_is_an_error)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    Wr wr = fixture_read(s, 0, 0, 256);

    wr.opcode = ERDMA_OP_READ_INV;
    wr.imm = htole32(s->akey);
    CHECK_EQ(run(&s->aqp, &wr), ERDMA_WC_SEND_STAG);
    fixture_free(s);
}

TEST(fast_region_is_deregistered_like_any_other)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    uint32_t stag = frmr_on_b(s, 1);

    CHECK_EQ(mr_dereg(s->b, stag), 0);
    CHECK_EQ(write_to(s, stag, 0x5000, 8), ERDMA_WC_RECV_STAG);
    fixture_free(s);
}
