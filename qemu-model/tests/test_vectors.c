/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Appendix D of the reference, each value as the card sees or writes it. */
#include <stdlib.h>

#include "guest.h"

static void flags_a8(ErdmaConfig *cfg)
{
    cfg->flags = 0xa8;
}

static uint64_t slot_header(Card *c, uint16_t index)
{
    uint64_t hdr;

    memcpy(&hdr, fake_ptr(c->h, c->sq + index % c->depth * 32, 8), 8);
    return le64toh(hdr);
}

/* Post a literal header at an index and see that the card takes it */
TEST(vector_command_headers)
{
    Hosts b;
    Card *c;
    struct erdma_cmd_create_eq eq = { 0 };
    struct erdma_cmd_create_cq cq = { 0 };

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    card_start(c, 2);
    card_post_cmd(c, 1, ERDMA_CMD_CREATE_EQ, &eq, sizeof(eq));
    CHECK_EQ(slot_header(c, 0), 0x0010000001000002);
    hosts_free(&b);

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    card_start(c, 4);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQ(card_cmd(c, 1, ERDMA_CMD_QUERY_FW_INFO, NULL, 8, NULL, NULL),
                 0);
    }
    card_post_cmd(c, 0, ERDMA_CMD_CREATE_CQ, &cq, sizeof(cq));
    /* the vector has context 5; ours counts slots */
    CHECK_EQ(slot_header(c, 8), 0x003000020004000C);
    hosts_free(&b);
}

TEST(vector_command_completion)
{
    Hosts b;
    Card *c;
    Cq cq;
    struct erdma_cqe *cqe;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    card_up(c, 4, 1);
    c->next_cqn = 0x12;
    cq_init(&cq, c, 64, 1);
    cqe = fake_ptr(c->h, c->cq + 32, 32);
    CHECK_EQ(be32toh(cqe->hdr), 0x80040200);
    CHECK_EQ(be32toh(cqe->qe_idx), 4);
    hosts_free(&b);
}

TEST(vector_capability_words)
{
    static const uint8_t bytes[16] = {
        0xa8, 0x0f, 0x0a, 0x1f, 0x00, 0x04, 0x14, 0x00,
        0x10, 0x40, 0x00, 0x00, 0xff, 0xff, 0xff, 0x00,
    };
    Hosts b;
    uint64_t r0, r1;

    hosts_init_cfg(&b, 1, 1, flags_a8);
    card_start(&b.card[0], 4);
    CHECK_EQ(card_cmd(&b.card[0], 0, ERDMA_CMD_QUERY_DEVICE, NULL, 8, &r0,
                      &r1), 0);
    CHECK_EQ(r0, 0x00041400A80F0A1F);
    CHECK_EQ(r1, 0xFFFFFF0010400000);
    CHECK(!memcmp(fake_ptr(b.card[0].h, b.card[0].cq + 8, 16), bytes, 16));
    hosts_free(&b);
}

/* The literal words of CREATE_CQ make CQ 0x12 of 64 entries on EQ 1 */
TEST(vector_create_cq_words)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    uint64_t page = fake_zalloc(s->a->h, 4096);
    struct erdma_cmd_create_cq req = {
        .cfg0 = htole32(0x06000012), .cfg1 = htole32(0x00010001),
        .addr_lo = htole32(page), .addr_hi = htole32(page >> 32),
    };
    Cq cq = { .card = s->a, .cqn = 0x12, .depth = 64, .addr = page };
    Qp qp;

    CHECK_EQ(CMD_RDMA(s->a, ERDMA_CMD_CREATE_CQ, req), 0);
    qp_init(&qp, s->a, &cq, QUEUE_KERNEL);
    CHECK_EQ(qp_modify(&qp, ERDMA_QPS_ERROR), 0);
    cq.eqn = 1;
    cq_arm(&cq, false);
    for (unsigned i = 0; i < 65; i++) {
        qp_recv(&qp, 0, 0, 0);
        CHECK_EQ(cq_expect(&cq).syndrome, ERDMA_WC_FLUSHED);
    }
    CHECK_EQ(s->a->f.irqs[1], 1);
    fixture_free(s);
}

/*
 * The literal words of CREATE_QP and MODIFY_QP: QP 0x2A, SQ of 512 blocks in 4
 * inline pages, RQ of 128, PD 3, CQ 0x12, doorbell pages
 */
TEST(vector_create_and_modify_qp_words)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);
    struct erdma_cmd_ext_db db = { .mask = htole32(7) };
    struct erdma_cmd_create_qp req = { 0 };
    struct erdma_cmd_modify_qp rts;
    uint64_t resp;
    Qp qp = { .card = s->a, .qpn = 0x2a, .kind = QUEUE_INLINE,
              .sq_depth = 512, .rq_depth = 128, .scq = &s->acq };
    Wr wr;

    s->a->next_cqn = 0x12;
    cq_init(&s->acq, s->a, 1024, 1);
    CHECK_EQ(card_cmd(s->a, 1, ERDMA_CMD_ALLOC_DB, &db, sizeof(db), &resp,
                      NULL), 0);
    CHECK_EQ(resp, 0x0081008200000080);
    for (unsigned i = 0; i < 4; i++) {
        qp.sq_page[i] = fake_zalloc(s->a->h, 8192);
    }
    qp.rq_page[0] = fake_zalloc(s->a->h, 4096);
    req.cfg0 = htole32(0x0090002A);
    req.cfg1 = htole32(0x00700003);
    req.sq_cfg = htole32(0x02000012);
    req.rq_cfg = htole32(0x12);
    req.sq_mtt = htole32(0x00000008);
    req.rq_mtt = htole32(0x00000002);
    req.sq_addr = htole64(qp.sq_page[0]);
    for (unsigned i = 0; i < 3; i++) {
        req.sq_page[i] = htole64(qp.sq_page[i + 1]);
    }
    req.rq_addr = htole64(qp.rq_page[0]);
    req.db_cfg = htole32(0x00800081);
    CHECK_EQ(card_cmd(s->a, 0, ERDMA_CMD_CREATE_QP, &req, sizeof(req), &resp,
                      NULL), 0);
    CHECK_EQ(resp, 0x2a);
    qp.cookie = resp;
    qp.sq_db = 0x80000 + 0x2a % 32 * 128;
    qp_init(&s->bqp, s->b, &s->bcq, QUEUE_KERNEL);
    rts = qp_rts_cmd(&qp, &s->bqp, 77, true);
    CHECK_EQ(le32toh(rts.cfg), 0x0210002A);
    CHECK_EQ(qp_rts(&s->bqp, &qp, 77, false), 0);
    CHECK_EQ(CMD_RDMA(s->a, ERDMA_CMD_MODIFY_QP, rts), 0);
    for (unsigned i = 0; i < 300; i++) {
        wr = fixture_write(s, i * 8, i * 8, 8);
        qp_send(&qp, &wr);
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    }
    fixture_free(s);
}

TEST(vector_reg_mr_words)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    struct erdma_cmd_reg_mr req = {
        .cfg0 = htole32(0x80000007), .cfg1 = htole32(0x0000303C),
        .cfg2 = htole32(0x60000002), .start_va = htole64(0x7000),
        .size = htole32(8192),
    };
    Wr wr = fixture_write(s, 0, 0, 8192);

    req.page[0] = htole64(s->bbuf + 4096);
    req.page[1] = htole64(s->bbuf);
    CHECK_EQ(CMD_RDMA(s->b, ERDMA_CMD_REG_MR, req), 0);
    wr.rkey = 7 << 8;
    wr.raddr = 0x7000;
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK(!memcmp(fixture_b(s, 4096), fixture_a(s, 0), 4096));
    CHECK(!memcmp(fixture_b(s, 0), fixture_a(s, 4096), 4096));
    wr.opcode = ERDMA_OP_ATOMIC_FAA;
    wr.sge[0].len = 8;
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RECV_RIGHTS);
    fixture_free(s);
}

TEST(vector_mac_registers)
{
    Hosts b;

    hosts_init(&b, 1, 1);
    CHECK_EQ(card_read32(&b.card[0], ERDMA_REG_MAC_LO), 0x3E123456);
    CHECK_EQ(card_read32(&b.card[0], ERDMA_REG_MAC_HI), 0x00000016);
    hosts_free(&b);
}

TEST(vector_eq_doorbell)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    for (unsigned i = 0; i < 0x1003; i++) {
        cq_arm(&s->acq, false);
        qp_send(&s->aqp, &(Wr) { .opcode = ERDMA_OP_WRITE });
        cq_expect(&s->acq);
        CHECK(eq_poll(s->a, &s->a->eq[1], NULL, NULL));
        if (i < 0x1002) {
            ceq_arm(s->a, 1);
        }
    }
    card_write64(s->a, ERDMA_REG_EQ_DB(1), 0x80001003);
    CHECK_EQ(counters(s->a).guest_errors, 0);
    CHECK_EQ(s->a->f.irqs[1], 0x1003);
    fixture_free(s);
}

TEST(vector_cq_doorbell_and_event)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    uint64_t w0, w1;
    Cq cq;
    Qp qp;

    s->a->next_cqn = 0x12;
    cq_init(&cq, s->a, 128, 1);
    qp_init(&qp, s->a, &cq, QUEUE_KERNEL);
    CHECK_EQ(qp_modify(&qp, ERDMA_QPS_ERROR), 0);
    for (unsigned i = 0; i < 0x45; i++) {
        qp_recv(&qp, 0, 0, 0);
    }
    card_write64(s->a, 0x79000, 0x03000012A0000045);
    CHECK_EQ(s->a->f.irqs[1], 0);
    qp_recv(&qp, 0, 0, 0);
    CHECK(eq_poll(s->a, &s->a->eq[1], &w0, &w1));
    CHECK_EQ(w0, 0x0000004680000012);
    CHECK_EQ(w1, 0);
    fixture_free(s);
}

TEST(vector_queue_pair_doorbells)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    QpOpt o = {
        .kind = QUEUE_KERNEL, .sq_depth = 64, .rq_depth = 64, .qpn = 0x2a,
        .scq = &s->acq, .rcq = &s->acq,
    };
    Wr wr = fixture_write(s, 0, 0, 8);
    Qp qp;

    qp_init_opt(&qp, s->a, &o);
    CHECK_EQ(qp_modify(&qp, ERDMA_QPS_ERROR), 0);
    for (unsigned i = 0; i < 3; i++) {
        qp_post(&qp, &wr);
    }
    card_write64(s->a, 0x5f000, 0x0000002A00000006);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQ(cq_expect(&s->acq).qe_idx, 2 * i);
    }
    card_write64(s->a, 0x61000, 0x0000002A00000001);
    CHECK_EQ(cq_expect(&s->acq).qtype, ERDMA_CQE_QTYPE_RQ);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    fixture_free(s);
}

/* A QP of that number whose first request has the literal header */
TEST(vector_send_request_headers)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    QpOpt o = {
        .kind = QUEUE_KERNEL, .sq_depth = 64, .rq_depth = 64, .qpn = 0x2a,
        .scq = &s->acq, .rcq = &s->acq,
    };
    Wr wr = { .opcode = ERDMA_OP_SEND, .is_inline = true, .data = "hello",
              .data_len = 5 };
    uint64_t hdr;

    qp_init_opt(&s->aqp, s->a, &o);
    qp_init(&s->bqp, s->b, &s->bcq, QUEUE_KERNEL);
    qp_connect(&s->aqp, &s->bqp);
    fixture_recv(s, 0, 64);
    qp_send(&s->aqp, &wr);
    memcpy(&hdr, qp_block(&s->aqp, 0), 8);
    CHECK_EQ(le64toh(hdr), 0x0500002A12400001);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK(!memcmp(fixture_b(s, 0), "hello", 5));
    wr = fixture_write(s, 0, 0, 3);
    qp_post(&s->aqp, &(Wr) { .opcode = ERDMA_OP_WRITE });
    qp_post(&s->aqp, &(Wr) { .opcode = ERDMA_OP_WRITE });
    qp_post(&s->aqp, &(Wr) { .opcode = ERDMA_OP_WRITE });
    qp_ring(&s->aqp);
    wr.nsge = 2;
    wr.sge[1] = wr.sge[0];
    qp_send(&s->aqp, &wr);
    memcpy(&hdr, qp_block(&s->aqp, 4), 8);
    CHECK_EQ(le64toh(hdr), 0x0210002A00400006);
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    }
    fixture_free(s);
}

TEST(vector_reg_mr_request_attributes)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 16384);
    uint32_t stag = mr_frmr(s->a, 16, NULL) | 1;
    Wr wr = {
        .opcode = ERDMA_OP_REG_MR, .rkey = stag, .raddr = 0,
        .sge = { { 0, 12288, 0 } }, .npages = 3,
        .page = { s->abuf, s->abuf + 4096, s->abuf + 8192 },
        .rights = ALL_RIGHTS & ~ERDMA_RIGHT_REMOTE_ATOMIC,
    };
    struct erdma_sqe_reg_mr *r;
    uint16_t index = qp_send(&s->aqp, &wr);

    r = qp_block(&s->aqp, index);
    CHECK_EQ(le32toh(r->attr), 0x0000303C);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    fixture_free(s);
}

TEST(vector_completion_headers)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_send(s, 0, 8);

    wr.opcode = ERDMA_OP_SEND_IMM;
    fixture_recv(s, 0, 64);
    qp_send(&s->aqp, &wr);
    CHECK_EQ(be32toh(cq_entry(&s->bcq, 0)->hdr), 0x800C0100);
    cq_expect(&s->acq);
    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_ERROR), 0);
    wr.opcode = ERDMA_OP_SEND;
    qp_send(&s->aqp, &wr);
    CHECK_EQ(be32toh(cq_entry(&s->acq, 1)->hdr), 0x8002000F);
    fixture_free(s);
}

TEST(vector_immediate_bytes)
{
    static const uint8_t wr_bytes[4] = { 0x11, 0x22, 0x33, 0x44 };
    static const uint8_t cqe_bytes[4] = { 0x44, 0x33, 0x22, 0x11 };
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_send(s, 0, 8);

    wr.opcode = ERDMA_OP_SEND_IMM;
    memcpy(&wr.imm, wr_bytes, 4);
    fixture_recv(s, 0, 64);
    qp_send(&s->aqp, &wr);
    CHECK(!memcmp(&cq_entry(&s->bcq, 0)->imm, cqe_bytes, 4));
    fixture_free(s);
}
