/* SPDX-License-Identifier: GPL-2.0-or-later */
/* GET_STATS (14) and the queries of appendix A. */
#include <stdlib.h>

#include "guest.h"

/* Query into a fresh buffer; its address */
static void *query(Card *c, unsigned submod, unsigned op, uint32_t index,
                   uint32_t length, unsigned *err)
{
    struct erdma_cmd_query req;
    uint64_t target = fake_alloc(c->h, 4096);

    memset(&req, 0xff, sizeof(req));
    req.index = htole32(index);
    req.target = htole64(target);
    req.length = htole32(length);
    *err = card_cmd(c, submod, op, &req, sizeof(req), NULL, NULL);
    return fake_ptr(c->h, target, 4096);
}

static void check_hdr(const struct erdma_resp_hdr *h, uint32_t index,
                      size_t size)
{
    CHECK_EQ(le16toh(h->magic), ERDMA_RESP_MAGIC);
    CHECK_EQ(h->version, 0);
    CHECK_EQ(h->length, size - sizeof(*h));
    CHECK_EQ(le32toh(h->index), index);
    CHECK(is_fill((const uint8_t *)h + size, 64, 0xa5));
}

TEST(get_stats_writes_the_counters)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    Wr wr = fixture_write(s, 0, 0, 5000);
    struct erdma_resp_stats *r;
    unsigned err;

    qp_send(&s->aqp, &wr);
    r = query(s->a, 1, ERDMA_CMD_GET_STATS, 0xabcd, 256, &err);
    CHECK_EQ(err, 0);
    check_hdr(&r->hdr, 0xabcd, sizeof(*r));
    CHECK_EQ(r->hdr.length, 88);
    CHECK_EQ(le64toh(r->tx_reqs), 1);
    CHECK_EQ(le64toh(r->tx_pkts), 4);
    CHECK_EQ(le64toh(r->tx_bytes), 5000);
    CHECK_EQ(le64toh(r->tx_disable_drops), 0);
    r = query(s->b, 1, ERDMA_CMD_GET_STATS, 0, 256, &err);
    CHECK_EQ(le64toh(r->rx_pkts), 4);
    CHECK_EQ(le64toh(r->rx_bytes), 5000);
    fixture_free(s);
}

TEST(response_never_exceeds_its_length_field)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    uint8_t *p;
    unsigned err;

    p = query(s->a, 1, ERDMA_CMD_GET_STATS, 0, 20, &err);
    CHECK_EQ(err, 0);
    CHECK_EQ(p[0], 0x66);
    CHECK(is_fill(p + 20, 200, 0xa5));
    p = query(s->a, 1, ERDMA_CMD_GET_STATS, 0, 0, &err);
    CHECK_EQ(err, 0);
    CHECK(is_fill(p, 200, 0xa5));
    fixture_free(s);
}

TEST(response_buffer_that_is_not_memory_fails_the_command)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    struct erdma_cmd_query req = {
        .target = htole64(UINT64_MAX - 50), .length = htole32(256),
    };

    CHECK_EQ(CMD_COMMON(s->a, ERDMA_CMD_GET_STATS, req), ERDMA_CMD_EFAULT);
    req.target = htole64(0x1000);
    CHECK_EQ(CMD_COMMON(s->a, ERDMA_CMD_GET_STATS, req), ERDMA_CMD_EFAULT);
    fixture_free(s);
}

TEST(query_qpc_shows_the_queue_pair)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    Wr wr = fixture_write(s, 0, 0, 64);
    struct erdma_resp_qpc *r;
    unsigned err;

    qp_send(&s->aqp, &wr);
    qp_send(&s->aqp, &wr);
    qp_recv(&s->aqp, s->abuf, 64, s->akey);
    r = query(s->a, 0, ERDMA_CMD_QUERY_QPC, s->aqp.qpn, 256, &err);
    CHECK_EQ(err, 0);
    check_hdr(&r->hdr, s->aqp.qpn, sizeof(*r));
    CHECK_EQ(r->sq.status, 1);
    CHECK_EQ(r->sq.depth, 8);
    CHECK_EQ(r->sq.page_size, 8);
    CHECK_EQ(r->rq.depth, 7);
    CHECK_EQ(le16toh(r->sq.hw_pi), 4);
    CHECK_EQ(le16toh(r->sq.hw_ci), 4);
    CHECK_EQ(le16toh(r->rq.hw_pi), 1);
    CHECK_EQ(le16toh(r->rq.hw_ci), 0);
    CHECK_EQ(le16toh(r->last_sqe), 2);
    CHECK_EQ(le16toh(r->sq_cqes), 2);
    CHECK_EQ(le16toh(r->tx_pkts), 2);
    CHECK_EQ(le32toh(r->remote_qpn), s->bqp.qpn);
    CHECK_EQ(le32toh(r->pd), PD);
    CHECK_EQ(r->sq_in_flush, 0);
    CHECK_EQ(le32toh(r->send_cqn), s->acq.cqn);
    CHECK_EQ(le32toh(r->recv_cqn), s->acq.cqn);
    CHECK_EQ(le64toh(r->sq_addr), s->aqp.sq_page[0]);
    CHECK_EQ(le64toh(r->rq_addr), s->aqp.rq_page[0]);
    CHECK_EQ(be32toh(r->sip), 0x0a000001);
    CHECK_EQ(be32toh(r->dip), 0x0a000002);
    CHECK_EQ(be16toh(r->dport), 18515);
    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_ERROR), 0);
    r = query(s->a, 0, ERDMA_CMD_QUERY_QPC, s->aqp.qpn, 256, &err);
    CHECK_EQ(r->sq_in_flush, 1);
    CHECK_EQ(le16toh(r->rq_flushed_pi), 1);
    query(s->a, 0, ERDMA_CMD_QUERY_QPC, 9999, 256, &err);
    CHECK_EQ(err, ERDMA_CMD_ENOENT);
    fixture_free(s);
}

TEST(query_cqc_shows_the_completion_queue)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    Wr wr = { .opcode = ERDMA_OP_WRITE };
    struct erdma_resp_cqc *r;
    unsigned err;

    for (unsigned i = 0; i < 5; i++) {
        qp_send(&s->aqp, &wr);
    }
    r = query(s->a, 0, ERDMA_CMD_QUERY_CQC, s->acq.cqn, 256, &err);
    CHECK_EQ(err, 0);
    check_hdr(&r->hdr, s->acq.cqn, sizeof(*r));
    CHECK_EQ(le32toh(r->pi), 5);
    CHECK_EQ(r->enabled, 1);
    CHECK_EQ(r->depth, 10);
    CHECK_EQ(r->owner, 1);
    CHECK_EQ(le64toh(r->addr), s->acq.addr);
    query(s->a, 0, ERDMA_CMD_QUERY_CQC, 9999, 256, &err);
    CHECK_EQ(err, ERDMA_CMD_ENOENT);
    r = query(s->a, 0, ERDMA_CMD_QUERY_CQC, 0, 256, &err);
    CHECK_EQ(err, 0);
    CHECK_EQ(r->depth, 9);
    CHECK_EQ(le32toh(r->pi), s->a->cq_ci - 1);
    fixture_free(s);
}

TEST(bad_arm_doorbells_are_honoured_and_counted)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    Wr wr = { .opcode = ERDMA_OP_WRITE };
    struct erdma_resp_cqc *r;
    unsigned err;

    cq_arm(&s->acq, false);
    s->acq.idx--;
    cq_arm(&s->acq, false);             /* duplicate */
    r = query(s->a, 0, ERDMA_CMD_QUERY_CQC, s->acq.cqn, 256, &err);
    CHECK_EQ(r->dup_dbs, 1);
    CHECK_EQ(r->bad_db_type, 0);
    s->acq.idx += 7;
    cq_arm(&s->acq, false);             /* out of order */
    r = query(s->a, 0, ERDMA_CMD_QUERY_CQC, s->acq.cqn, 256, &err);
    CHECK_EQ(r->ooo_dbs, 1);
    CHECK_EQ(r->bad_db_type, 1);
    qp_send(&s->aqp, &wr);
    CHECK_EQ(s->a->f.irqs[1], 1);
    fixture_free(s);
}

TEST(query_eqc_shows_all_kinds_of_event_queues)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    struct erdma_resp_eqc *r;
    unsigned err;

    cq_arm(&s->acq, false);
    qp_send(&s->aqp, &(Wr) { .opcode = ERDMA_OP_WRITE });
    r = query(s->a, 1, ERDMA_CMD_QUERY_EQC, ERDMA_EQC_INDEX_CEQ(1), 256, &err);
    CHECK_EQ(err, 0);
    check_hdr(&r->hdr, 2, sizeof(*r));
    CHECK_EQ(le16toh(r->depth), 4096);
    CHECK_EQ(le16toh(r->vector), 1);
    CHECK_EQ(r->suppressed, 1);
    CHECK_EQ(le32toh(r->head), 1);
    CHECK_EQ(le32toh(r->tail), 0);
    CHECK_EQ(le64toh(r->addr), s->a->eq[1].addr);
    CHECK_EQ(le64toh(r->db_addr), 0x108);
    r = query(s->a, 1, ERDMA_CMD_QUERY_EQC, ERDMA_EQC_INDEX_AEQ, 256, &err);
    CHECK_EQ(le64toh(r->addr), s->a->aeq.addr);
    CHECK_EQ(le64toh(r->db_addr), ERDMA_REG_AEQ_DB);
    r = query(s->a, 1, ERDMA_CMD_QUERY_EQC, ERDMA_EQC_INDEX_CMDQ, 256, &err);
    CHECK_EQ(le64toh(r->addr), s->a->eq[0].addr);
    query(s->a, 1, ERDMA_CMD_QUERY_EQC, 10, 256, &err);
    CHECK_EQ(err, ERDMA_CMD_ENOENT);
    query(s->a, 1, ERDMA_CMD_QUERY_EQC, 0xffffffff, 256, &err);
    CHECK_EQ(err, ERDMA_CMD_ENOENT);
    fixture_free(s);
}

TEST(extended_attributes_remember_the_delayed_ack_count)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    uint8_t req[16] = { 0 };
    uint8_t *p;
    unsigned err;

    req[8] = 1;
    req[12] = 9;
    CHECK_EQ(CMD_COMMON(s->a, ERDMA_CMD_SET_EXT_ATTR, req), 0);
    p = query(s->a, 1, ERDMA_CMD_GET_EXT_ATTR, 0, 256, &err);
    CHECK_EQ(err, 0);
    CHECK_EQ(p[20], 1);
    CHECK_EQ(p[24], 9);
    req[8] = 4;
    req[13] = 1;
    CHECK_EQ(CMD_COMMON(s->a, ERDMA_CMD_SET_EXT_ATTR, req),
             ERDMA_CMD_ENOTSUPP);
    fixture_free(s);
}
