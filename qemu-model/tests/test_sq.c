/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Send rings: wrapping, signaling, malformed requests (9.1 to 9.3). */
#include <stdlib.h>

#include "guest.h"

static unsigned run(Qp *qp, const Wr *wr)
{
    qp_send(qp, wr);
    hosts_run(qp->card->hosts);
    return cq_expect(qp->scq).syndrome;
}

/* ---- rings ---- */

static Wr five_blocks_in_turn(Fixture *s, unsigned i)
{
    static const uint8_t text[96] = "inline";
    Wr wr = fixture_write(s, i * 64, i * 64, 64);

    switch (i % 5) {
    case 0:                     /* 2 blocks */
        break;
    case 1:                     /* 4 blocks */
        wr.nsge = 6;
        for (unsigned k = 0; k < 6; k++) {
            wr.sge[k] = (Sge) { s->abuf + i * 64 + k * 8, 8, s->akey };
        }
        break;
    case 2:                     /* 3 blocks */
        wr.is_inline = true;
        wr.data = text;
        wr.data_len = 40;
        break;
    case 3:                     /* 1 block */
        wr.nsge = 0;
        break;
    default:
        wr.opcode = ERDMA_OP_READ;
        break;
    }
    return wr;
}

static void wrap_sq(QueueKind kind, uint32_t depth)
{
    Fixture *s = fixture_new(2, kind, 65536);
    QpOpt o = {
        .kind = kind, .sq_depth = depth, .rq_depth = depth,
        .scq = &s->acq, .rcq = &s->acq,
    };

    qp_init_opt(&s->aqp, s->a, &o);
    o.scq = o.rcq = &s->bcq;
    qp_init_opt(&s->bqp, s->b, &o);
    qp_connect(&s->aqp, &s->bqp);
    for (unsigned i = 0; i < 500; i++) {
        Wr wr = five_blocks_in_turn(s, i);
        uint16_t index;
        Wc wc;

        index = qp_send(&s->aqp, &wr);
        wc = cq_expect(&s->acq);
        CHECK_EQ(wc.syndrome, 0);
        CHECK_EQ(wc.qe_idx, index);
        CHECK_EQ(wc.opcode, wr.opcode);
        if (i % 5 < 2) {
            CHECK(!memcmp(fixture_b(s, i * 64), fixture_a(s, i * 64), 48));
        }
    }
    fixture_free(s);
}

TEST(requests_of_all_sizes_wrap_around_a_small_ring)
{
    wrap_sq(QUEUE_KERNEL, 8);
}

TEST(requests_of_all_sizes_cross_scattered_pages)
{
    wrap_sq(QUEUE_INLINE, 512);
    wrap_sq(QUEUE_TABLE, 1024);
}

TEST(sixteen_bit_indices_wrap_in_the_deepest_rings)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);
    QpOpt o = {
        .kind = QUEUE_TABLE, .sq_depth = 32768, .rq_depth = 32768,
        .scq = &s->acq, .rcq = &s->acq,
    };
    Wr wr = fixture_send(s, 0, 16);

    qp_init_opt(&s->aqp, s->a, &o);
    o.scq = o.rcq = &s->bcq;
    qp_init_opt(&s->bqp, s->b, &o);
    qp_connect(&s->aqp, &s->bqp);
    for (unsigned i = 0; i < 66000; i++) {
        Wc wc;

        fixture_recv(s, 0, 64);
        qp_send(&s->aqp, &wr);
        wc = cq_expect(&s->acq);
        CHECK_EQ(wc.syndrome, 0);
        CHECK_EQ(wc.qe_idx, i & 0xffff);
        wc = cq_expect(&s->bcq);
        CHECK_EQ(wc.qe_idx, i & 0xffff);
    }
    fixture_free(s);
}

TEST(post_list_of_one_doorbell_completes_in_order)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);
    uint16_t index[100];

    for (unsigned i = 0; i < 100; i++) {
        Wr wr = five_blocks_in_turn(s, i);

        index[i] = qp_post(&s->aqp, &wr);
    }
    qp_ring(&s->aqp);
    hosts_run(&s->hosts);
    for (unsigned i = 0; i < 100; i++) {
        Wc wc = cq_expect(&s->acq);

        CHECK_EQ(wc.syndrome, 0);
        CHECK_EQ(wc.qe_idx, index[i]);
    }
    fixture_free(s);
}

TEST(unsignaled_requests_write_no_completion)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_write(s, 0, 0, 64);

    wr.unsignaled = true;
    for (unsigned i = 0; i < 4; i++) {
        qp_send(&s->aqp, &wr);
    }
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    wr.unsignaled = false;
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).qe_idx, 8);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    fixture_free(s);
}

/* ---- malformed requests ---- */

static unsigned spoil(uint64_t clear, uint64_t set)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_write(s, 0, 0, 64);
    uint16_t index = qp_post(&s->aqp, &wr);
    uint64_t *hdr = qp_block(&s->aqp, index);
    unsigned syndrome;
    Wc wc;

    *hdr = htole64((le64toh(*hdr) & ~clear) | set);
    qp_ring(&s->aqp);
    wc = cq_expect(&s->acq);
    CHECK_EQ(wc.qe_idx, 0);
    syndrome = wc.syndrome;
    expect_aeqe(s->a, ERDMA_AE_QP_FATAL, s->aqp.qpn);
    expect_no_aeqe(s->b);
    fixture_free(s);
    return syndrome;
}

TEST(request_that_is_none_is_malformed)
{
    for (unsigned op = 0; op < 32; op++) {
        bool none = (op >= 4 && op <= 8) || (op >= 10 && op <= 12) || op > 18;

        if (none) {
            CHECK_EQ(spoil(ERDMA_SQE_HDR_OPCODE, (uint64_t)op << 27),
                     ERDMA_WC_SQE_FORMAT);
        }
    }
}

TEST(request_of_another_queue_pair_or_index_is_malformed)
{
    CHECK_EQ(spoil(ERDMA_SQE_HDR_QPN, 5ull << 32), ERDMA_WC_SQE_FORMAT);
    CHECK_EQ(spoil(ERDMA_SQE_HDR_PI, 77), ERDMA_WC_SQE_FORMAT);
}

TEST(request_with_more_blocks_than_posted_is_malformed)
{
    for (uint64_t n = 2; n < 8; n++) {
        CHECK_EQ(spoil(ERDMA_SQE_HDR_WQEBBS, n << 52), ERDMA_WC_SQE_FORMAT);
    }
}

static unsigned odd(uint8_t opcode, int blocks, int length)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_write(s, 0, 0, 64);
    unsigned syndrome;

    wr.opcode = opcode;
    wr.blocks_delta = blocks;
    wr.length_delta = length;
    wr.npages = 1;
    fixture_recv(s, 0, 128);
    syndrome = run(&s->aqp, &wr);
    fixture_free(s);
    return syndrome;
}

TEST(request_with_too_few_blocks_is_malformed)
{
    CHECK_EQ(odd(ERDMA_OP_WRITE, -1, 0), ERDMA_WC_SQE_FORMAT);
    CHECK_EQ(odd(ERDMA_OP_READ, -1, 0), ERDMA_WC_SQE_FORMAT);
    CHECK_EQ(odd(ERDMA_OP_ATOMIC_CAS, -1, 0), ERDMA_WC_SQE_FORMAT);
    CHECK_EQ(odd(ERDMA_OP_REG_MR, -1, 0), ERDMA_WC_SQE_FORMAT);
}

TEST(total_length_must_be_the_sum)
{
    CHECK_EQ(odd(ERDMA_OP_WRITE, 0, 1), ERDMA_WC_SQE_FORMAT);
    CHECK_EQ(odd(ERDMA_OP_SEND, 0, -1), ERDMA_WC_SQE_FORMAT);
}

TEST(spare_blocks_are_stepped_over)
{
    CHECK_EQ(odd(ERDMA_OP_WRITE, 2, 0), 0);
    CHECK_EQ(odd(ERDMA_OP_SEND, 3, 0), 0);
}

TEST(unreadable_send_ring_is_malformed)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_write(s, 0, 0, 64);

    fake_hole(s->a->h, s->aqp.sq_page[0], 4096);
    CHECK_EQ(run(&s->aqp, &wr), ERDMA_WC_SQE_FORMAT);
    expect_aeqe(s->a, ERDMA_AE_QP_FATAL, s->aqp.qpn);
    fixture_free(s);
}

TEST(message_above_2_gib_is_malformed)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_write(s, 0, 0, 0x80000001);

    CHECK_EQ(run(&s->aqp, &wr), ERDMA_WC_SQE_FORMAT);
    fixture_free(s);
}

TEST(overlapping_buffers_are_copied_as_memmove_does)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 1 << 17);
    Wr wr = fixture_write(s, 0, 0, 30000);
    uint8_t *want = malloc(30000);

    memcpy(want, fixture_a(s, 0), 30000);
    wr.raddr = s->abuf + 10;
    wr.rkey = s->akey;
    CHECK_EQ(run(&s->aqp, &wr), 0);
    if (fake_default_mode != MAP_SHORT) {
        CHECK(!memcmp(fixture_a(s, 10), want, 30000));
    }
    free(want);
    fixture_free(s);
}
