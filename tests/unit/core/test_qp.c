/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queue pairs: creation, states, errors, flushing (section 11). */
#include <stdlib.h>

#include "limits.h"
#include "guest.h"

static QpOpt small(Fixture *s)
{
    return (QpOpt) {
        .kind = QUEUE_KERNEL, .sq_depth = 64, .rq_depth = 64,
        .scq = &s->acq, .rcq = &s->acq,
    };
}

/* ---- creation ---- */

TEST(numbers_of_queue_pairs_are_1_to_limit)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    QpOpt o = small(s);
    Qp qp;

    o.qpn = 65535;
    CHECK_EQ(qp_try(&qp, s->a, &o), 0);
    CHECK_EQ(qp_try(&qp, s->a, &o), ERDMA_CMD_EEXIST);
    o.qpn = 65536;
    CHECK_EQ(qp_try(&qp, s->a, &o), ERDMA_CMD_EINVAL);
    o.qpn = 0xfffff;
    CHECK_EQ(qp_try(&qp, s->a, &o), ERDMA_CMD_EINVAL);
    fixture_free(s);
}

TEST(queue_pair_needs_its_completion_queues)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    QpOpt o = small(s);
    Cq none = { .cqn = 0xffffff };
    Qp qp;

    o.scq = &none;
    CHECK_EQ(qp_try(&qp, s->a, &o), ERDMA_CMD_ENOENT);
    o = small(s);
    o.rcq = &none;
    CHECK_EQ(qp_try(&qp, s->a, &o), ERDMA_CMD_ENOENT);
    none.cqn = 0;
    CHECK_EQ(qp_try(&qp, s->a, &o), ERDMA_CMD_ENOENT);
    fixture_free(s);
}

static unsigned odd_create(Fixture *s,
                           void (*spoil)(struct erdma_cmd_create_qp *req))
{
    struct erdma_cmd_create_qp req = { 0 };

    req.cfg0 = htole32(ERDMA_PREP(ERDMA_CREATE_QP_SQ_DEPTH, 6) | 77);
    req.cfg1 = htole32(ERDMA_PREP(ERDMA_CREATE_QP_RQ_DEPTH, 6) | PD);
    req.sq_cfg = htole32(ERDMA_PREP(ERDMA_CREATE_QP_PAGE, 8) | s->acq.cqn);
    req.rq_cfg = req.sq_cfg;
    req.sq_addr = htole64(RAM_BASE);
    req.rq_addr = htole64(RAM_BASE + 4096);
    req.sq_mtt = req.rq_mtt = htole32(ERDMA_PREP(ERDMA_CREATE_QP_MTT_CNT, 1));
    spoil(&req);
    return CMD_RDMA(s->a, ERDMA_CMD_CREATE_QP, req);
}

#define SPOIL(name, body) \
    static void name(struct erdma_cmd_create_qp *r) { body; }
SPOIL(nothing_wrong, (void)r)
SPOIL(sq_too_deep, r->cfg0 = htole32(16u << 20 | 77))
SPOIL(sq_way_too_deep, r->cfg0 = htole32(4095u << 20 | 77))
SPOIL(rq_too_deep, r->cfg1 = htole32(16u << 20))
SPOIL(no_pages, r->sq_mtt = 0)
SPOIL(no_rq_pages, r->rq_mtt = 0)
SPOIL(five_inline, r->rq_mtt = htole32(5 << 1))
SPOIL(offset_outside, r->sq_mtt |= htole32(0xfffff000))
SPOIL(misaligned, r->rq_addr = htole64(RAM_BASE + 8))
SPOIL(sq_table_not_there, r->sq_addr = htole64(8);
      r->sq_mtt = htole32(1 << 1 | 1))
SPOIL(rq_table_not_there, r->rq_addr = htole64(8);
      r->rq_mtt = htole32(1 << 1 | 1))

TEST(create_qp_refuses_what_cannot_be)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    CHECK_EQ(odd_create(s, sq_too_deep), 22);
    CHECK_EQ(odd_create(s, sq_way_too_deep), 22);
    CHECK_EQ(odd_create(s, rq_too_deep), 22);
    CHECK_EQ(odd_create(s, no_pages), 22);
    CHECK_EQ(odd_create(s, no_rq_pages), 22);
    CHECK_EQ(odd_create(s, five_inline), 22);
    CHECK_EQ(odd_create(s, offset_outside), 22);
    CHECK_EQ(odd_create(s, misaligned), 22);
    CHECK_EQ(odd_create(s, sq_table_not_there), 14);
    CHECK_EQ(odd_create(s, rq_table_not_there), 14);
    CHECK_EQ(counters(s->a).qps, 2);
    CHECK_EQ(odd_create(s, nothing_wrong), 0);
    fixture_free(s);
}

TEST(receive_depth_is_limited_by_the_capability)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    QpOpt o = small(s);
    Qp qp;

    o.rq_depth = 32768;
    CHECK_EQ(qp_try(&qp, s->a, &o), 0);
    fixture_free(s);
}

TEST(cookie_is_unique_among_live_queue_pairs)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    CHECK(s->aqp.cookie != s->bqp.cookie);
    CHECK(s->aqp.cookie != 0);
    fixture_free(s);
}

TEST(number_of_a_destroyed_queue_pair_is_free_at_once)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    QpOpt o = small(s);
    Wr wr = fixture_write(s, 0, 0, 64);

    o.qpn = s->aqp.qpn;
    CHECK_EQ(qp_destroy(&s->aqp), 0);
    CHECK_EQ(qp_destroy(&s->aqp), ERDMA_CMD_ENOENT);
    qp_init_opt(&s->aqp, s->a, &o);
    qp_init(&s->bqp, s->b, &s->bcq, QUEUE_KERNEL);
    qp_connect(&s->aqp, &s->bqp);
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).qe_idx, 0);
    fixture_free(s);
}

/* ---- states ---- */

TEST(unknown_queue_pair_and_state_are_refused)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    Qp none = s->aqp;

    none.qpn = 4000;
    CHECK_EQ(qp_modify(&none, ERDMA_QPS_ERROR), ERDMA_CMD_ENOENT);
    CHECK_EQ(qp_reflush(&none), ERDMA_CMD_ENOENT);
    CHECK_EQ(qp_modify(&s->aqp, 6), ERDMA_CMD_EINVAL);
    CHECK_EQ(qp_modify(&s->aqp, 255), ERDMA_CMD_EINVAL);
    fixture_free(s);
}

TEST(stopped_queue_pair_never_becomes_rts_again)
{
    for (unsigned state = ERDMA_QPS_CLOSING; state <= ERDMA_QPS_ERROR;
         state++) {
        Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

        CHECK_EQ(qp_modify(&s->aqp, state), 0);
        CHECK_EQ(qp_rts(&s->aqp, &s->bqp, 1234, true), ERDMA_CMD_EINVAL);
        fixture_free(s);
    }
}

TEST(rts_is_entered_once)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    CHECK_EQ(qp_rts(&s->aqp, &s->bqp, 1234, true), ERDMA_CMD_EINVAL);
    fixture_free(s);
}

TEST(closing_and_terminate_need_a_connection)
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, NULL);

    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_CLOSING), ERDMA_CMD_EINVAL);
    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_TERMINATE), ERDMA_CMD_EINVAL);
    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_RTR), 0);
    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_CLOSING), ERDMA_CMD_EINVAL);
    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_ERROR), 0);
    fixture_free(s);
}

TEST(driver_may_stop_what_the_device_has_stopped_already)
{
    for (unsigned state = ERDMA_QPS_CLOSING; state <= ERDMA_QPS_ERROR;
         state++) {
        Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
        Wr wr = fixture_write(s, 0, 0, 64);

        wr.sge[0].key = 0;
        qp_send(&s->aqp, &wr);
        expect_aeqe(s->a, ERDMA_AE_QP_FATAL, s->aqp.qpn);
        CHECK_EQ(qp_modify(&s->aqp, state), 0);
        CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_ERROR), 0);
        fixture_free(s);
    }
}

/* ---- requests of an idle queue pair ---- */

TEST(doorbells_of_an_idle_queue_pair_are_remembered)
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, NULL);
    Wr wr = fixture_send(s, 0, 64);

    fixture_recv(s, 0, 64);
    qp_send(&s->aqp, &wr);
    qp_send(&s->aqp, &wr);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    fixture_recv(s, 64, 64);
    qp_connect(&s->aqp, &s->bqp);
    hosts_run(&s->hosts);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        CHECK_EQ(cq_expect(&s->bcq).syndrome, 0);
    }
    fixture_free(s);
}

TEST(requests_of_a_queue_pair_that_never_connected_are_flushed)
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, NULL);
    Wr wr = fixture_send(s, 0, 64);

    qp_send(&s->aqp, &wr);
    qp_recv(&s->aqp, s->abuf, 64, s->akey);
    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_ERROR), 0);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    expect_no_aeqe(s->a);
    fixture_free(s);
}

/* ---- flushing ---- */

/* Post something of each size that will not be executed: no peer yet */
static Fixture *loaded(unsigned sends, unsigned recvs, uint16_t *index)
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, NULL);

    for (unsigned i = 0; i < sends; i++) {
        Wr wr = i & 1 ? fixture_read(s, 0, 0, 64) : fixture_send(s, 0, 64);

        wr.nsge = i % 4 == 2 ? 6 : 1;
        for (unsigned k = 1; k < wr.nsge; k++) {
            wr.sge[k] = (Sge) { s->abuf, 1, s->akey };
        }
        wr.unsignaled = i % 3 != 0;
        index[i] = qp_send(&s->aqp, &wr);
    }
    for (unsigned i = 0; i < recvs; i++) {
        qp_recv(&s->aqp, s->abuf, 64, s->akey);
    }
    return s;
}

static void expect_flushed(Fixture *s, unsigned sends, unsigned recvs,
                           const uint16_t *index)
{
    for (unsigned i = 0; i < sends + recvs; i++) {
        Wc wc = cq_expect(&s->acq);

        CHECK_EQ(wc.syndrome, ERDMA_WC_FLUSHED);
        CHECK_EQ(wc.qpn, s->aqp.qpn);
        if (i < sends) {
            CHECK_EQ(wc.qtype, ERDMA_CQE_QTYPE_SQ);
            CHECK_EQ(wc.opcode, i & 1 ? ERDMA_OP_READ : ERDMA_OP_SEND);
            CHECK_EQ(wc.qe_idx, index[i]);
        } else {
            CHECK_EQ(wc.qtype, ERDMA_CQE_QTYPE_RQ);
            CHECK_EQ(wc.opcode, ERDMA_OP_RECV);
            CHECK_EQ(wc.qe_idx, i - sends);
        }
    }
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
}

static void flush_from(unsigned state)
{
    uint16_t index[20];
    Fixture *s = loaded(20, 7, index);

    if (state != ERDMA_QPS_ERROR) {
        CHECK_EQ(qp_rts(&s->aqp, &s->bqp, 1, true), 0);
    }
    CHECK_EQ(qp_modify(&s->aqp, state), 0);
    expect_flushed(s, 20, 7, index);
    expect_no_aeqe(s->a);
    CHECK_EQ(s->a->f.timer, 0);
    fixture_free(s);
}

TEST(error_flushes_both_queues_before_the_command_completes)
{
    flush_from(ERDMA_QPS_ERROR);
}

TEST(terminate_flushes_both_queues)
{
    flush_from(ERDMA_QPS_TERMINATE);
}

TEST(fatal_error_completes_earlier_requests_first_and_flushes_later_ones)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr good = fixture_write(s, 0, 0, 64), bad = good;
    uint64_t w;
    Wc wc;

    bad.sge[0].key ^= 1;
    bad.unsignaled = true;
    qp_recv(&s->aqp, s->abuf, 64, s->akey);
    qp_post(&s->aqp, &good);
    qp_post(&s->aqp, &bad);
    qp_post(&s->aqp, &good);
    qp_ring(&s->aqp);
    wc = cq_expect(&s->acq);
    CHECK_EQ(wc.syndrome, 0);
    wc = cq_expect(&s->acq);
    CHECK_EQ(wc.syndrome, ERDMA_WC_SEND_STAG);
    CHECK_EQ(wc.qe_idx, 2);
    wc = cq_expect(&s->acq);
    CHECK_EQ(wc.syndrome, ERDMA_WC_FLUSHED);
    CHECK_EQ(wc.qe_idx, 4);
    wc = cq_expect(&s->acq);
    CHECK_EQ(wc.qtype, ERDMA_CQE_QTYPE_RQ);
    CHECK(eq_poll(s->a, &s->a->aeq, &w, NULL));
    CHECK_EQ(w & 0xff, 0);
    CHECK_EQ(w >> 32, s->aqp.qpn);
    CHECK_EQ(s->a->f.irqs[0], 1);
    fixture_free(s);
}

TEST(refused_request_stops_the_responder_and_flushes_it)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr bad = fixture_read(s, 0, 0, 64);

    bad.rkey ^= 1;
    fixture_recv(s, 0, 64);
    qp_send(&s->aqp, &bad);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RECV_STAG);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_FLUSHED);
    expect_aeqe(s->b, ERDMA_AE_ACCESS_ERR, s->bqp.qpn);
    expect_aeqe(s->a, ERDMA_AE_QP_FATAL, s->aqp.qpn);
    /* later requests flush on their doorbell alone */
    fixture_recv(s, 0, 64);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_FLUSHED);
    fixture_free(s);
}

TEST(flush_of_a_full_deep_ring_is_bounded_per_turn)
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, NULL);
    QpOpt o = small(s);
    Wr wr = { .opcode = ERDMA_OP_WRITE };
    Cq cq;

    cq_init(&cq, s->a, 65536, 1);
    o.scq = o.rcq = &cq;
    o.sq_depth = o.rq_depth = 32768;
    qp_init_opt(&s->aqp, s->a, &o);
    for (unsigned i = 0; i < 32768; i++) {
        qp_post(&s->aqp, &wr);
        qp_post_recv(&s->aqp, 0, 0, 0);
    }
    qp_ring(&s->aqp);
    qp_ring_recv(&s->aqp);
    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_ERROR), 0);
    /* The other commands of this entry into the card have their steps, too */
    CHECK(counters(s->a).cqes <= ERDMA_LIMIT_ENTRY_STEPS - ERDMA_LIMIT_COMMANDS);
    CHECK(s->a->f.kicked);
    hosts_run(&s->hosts);
    for (unsigned i = 0; i < 65536; i++) {
        CHECK_EQ(cq_expect(&cq).qe_idx, i & 0x7fff);
    }
    fixture_free(s);
}

TEST(nothing_is_flushed_twice)
{
    uint16_t index[5];
    Fixture *s = loaded(5, 5, index);

    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_ERROR), 0);
    expect_flushed(s, 5, 5, index);
    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_ERROR), 0);
    CHECK_EQ(qp_reflush(&s->aqp), 0);
    qp_ring(&s->aqp);
    qp_ring_recv(&s->aqp);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    fixture_free(s);
}

/* ---- REFLUSH ---- */

TEST(reflush_flushes_what_no_doorbell_announced)
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, NULL);
    Wr wr = fixture_send(s, 0, 64);

    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_ERROR), 0);
    qp_post(&s->aqp, &wr);
    qp_post_recv(&s->aqp, s->abuf, 64, s->akey);
    CHECK_EQ(qp_reflush(&s->aqp), 0);
    CHECK_EQ(cq_expect(&s->acq).opcode, ERDMA_OP_SEND);
    CHECK_EQ(cq_expect(&s->acq).opcode, ERDMA_OP_RECV);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    fixture_free(s);
}

TEST(reflush_with_older_indices_changes_nothing)
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, NULL);
    Wr wr = fixture_send(s, 0, 64);
    Qp old = s->aqp;

    qp_send(&s->aqp, &wr);
    qp_recv(&s->aqp, s->abuf, 64, s->akey);
    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_ERROR), 0);
    cq_expect(&s->acq);
    cq_expect(&s->acq);
    CHECK_EQ(qp_reflush(&old), 0);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).qe_idx, 1);
    fixture_free(s);
}

TEST(reflush_with_older_indices_does_not_shorten_a_flush_under_way)
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, NULL);
    QpOpt o = small(s);
    Cq cq;
    Qp old;

    cq_init(&cq, s->a, 16384, 1);
    o.scq = o.rcq = &cq;
    o.rq_depth = 16384;
    qp_init_opt(&s->aqp, s->a, &o);
    for (unsigned i = 0; i < 16384; i++) {
        qp_post_recv(&s->aqp, 0, 0, 0);
        if (i == 13000) {
            old = s->aqp;
        }
    }
    qp_ring_recv(&s->aqp);
    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_ERROR), 0);
    CHECK(counters(s->a).cqes < 10000);
    CHECK_EQ(qp_reflush(&old), 0);
    hosts_run(&s->hosts);
    CHECK_EQ(counters(s->a).cqes, 16384);
    fixture_free(s);
}

TEST(reflush_of_a_working_queue_pair_is_refused)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    CHECK_EQ(qp_reflush(&s->aqp), ERDMA_CMD_EINVAL);
    fixture_free(s);
}

/* 15.8 */
TEST(draining_sequence_of_a_kernel_consumer_flushes_its_markers)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr marker = { .opcode = ERDMA_OP_WRITE, .unsignaled = true };

    fixture_recv(s, 0, 64);
    CHECK_EQ(qp_modify(&s->bqp, ERDMA_QPS_CLOSING), 0);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_FLUSHED);
    CHECK_EQ(qp_reflush(&s->bqp), 0);
    CHECK_EQ(qp_modify(&s->bqp, ERDMA_QPS_ERROR), 0);
    qp_send(&s->bqp, &marker);
    CHECK_EQ(qp_reflush(&s->bqp), 0);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_FLUSHED);
    qp_recv(&s->bqp, 0, 0, 0);
    CHECK_EQ(qp_reflush(&s->bqp), 0);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, ERDMA_WC_FLUSHED);
    CHECK(!cq_poll(&s->bcq, &(Wc) { 0 }));
    CHECK_EQ(qp_destroy(&s->bqp), 0);
    CHECK_EQ(cq_destroy(&s->bcq), 0);
    fixture_free(s);
}

/* ---- doorbells that say too much ---- */

TEST(send_index_beyond_the_ring_stops_the_queue_pair)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_write(s, 0, 0, 64);

    qp_post(&s->aqp, &wr);
    card_write64(s->a, s->aqp.sq_db, sq_db_value(&s->aqp, 257));
    expect_aeqe(s->a, ERDMA_AE_QP_FATAL, s->aqp.qpn);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    qp_ring(&s->aqp);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    fixture_free(s);
}

TEST(receive_index_beyond_the_ring_stops_the_queue_pair)
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, NULL);

    card_write64(s->b, s->bqp.rq_db, rq_db_value(&s->bqp, 129));
    expect_aeqe(s->b, ERDMA_AE_RQ_ERR, s->bqp.qpn);
    CHECK_EQ(qp_rts(&s->bqp, &s->aqp, 1, false), ERDMA_CMD_EINVAL);
    fixture_free(s);
}

TEST(index_that_goes_back_is_ignored)
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, NULL);
    Wr wr = fixture_write(s, 0, 0, 64);

    qp_send(&s->aqp, &wr);
    qp_send(&s->aqp, &wr);
    card_write64(s->a, s->aqp.sq_db, sq_db_value(&s->aqp, 2));
    qp_connect(&s->aqp, &s->bqp);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).qe_idx, 0);
    CHECK_EQ(cq_expect(&s->acq).qe_idx, 2);
    fixture_free(s);
}

TEST(full_ring_is_legal)
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, NULL);
    Wr wr = { .opcode = ERDMA_OP_WRITE };

    for (unsigned i = 0; i < 256; i++) {
        qp_send(&s->aqp, &wr);
    }
    for (unsigned i = 0; i < 128; i++) {
        qp_recv(&s->aqp, 0, 0, 0);
    }
    expect_no_aeqe(s->a);
    qp_connect(&s->aqp, &s->bqp);
    hosts_run(&s->hosts);
    for (unsigned i = 0; i < 256; i++) {
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    }
    fixture_free(s);
}

/* ---- destroy ---- */

TEST(destroyed_queue_pair_writes_nothing_more)
{
    uint16_t index[9];
    Fixture *s = loaded(9, 9, index);

    s->a->f.record = true;
    CHECK_EQ(qp_destroy(&s->aqp), 0);
    s->a->f.record = false;
    for (unsigned i = 0; i < s->a->f.events; i++) {     /* its completion */
        CHECK(s->a->f.event[i].addr - s->a->cq < s->a->depth * 32);
    }
    hosts_run(&s->hosts);
    hosts_advance(&s->hosts, 20000000000ull);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    qp_ring(&s->aqp);
    CHECK_EQ(counters(s->a).doorbells_dropped, 1);
    fixture_free(s);
}

TEST_ONE_PROCESS(connected_queue_pair_can_be_destroyed_in_the_middle_of_a_message)
{
    for (unsigned who = 0; who < 2; who++) {
        Fixture *s = fixture_new(2, QUEUE_KERNEL, 9 << 20);
        Wr wr = fixture_write(s, 0, 0, 9 << 20);

        qp_send(&s->aqp, &wr);
        s->a->f.kicked = false;
        erdma_core_run(s->a->core);
        CHECK_EQ(qp_destroy(who ? &s->bqp : &s->aqp), 0);
        hosts_run(&s->hosts);
        CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
        hosts_advance(&s->hosts, 10000000001ull);
        if (who) {
            CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
        }
        CHECK(is_fill(fixture_b(s, 8 << 20), 4096, 0xa5));
        fixture_free(s);
    }
}

TEST(waiting_error_event_goes_with_its_queue_pair)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    uint64_t next = s->a->h->next;
    Qp *qp = calloc(4097, sizeof(*qp));

    for (unsigned i = 0; i < 4097; i++) {
        QpOpt o = {
            .kind = QUEUE_KERNEL, .sq_depth = 4, .rq_depth = 1,
            .scq = &s->acq, .rcq = &s->acq,
        };

        s->a->h->next = next;   /* their rings may be one and the same */
        qp_init_opt(&qp[i], s->a, &o);
        card_write64(s->a, qp[i].rq_db, rq_db_value(&qp[i], 7));
    }
    CHECK_EQ(counters(s->a).aeqes, 4097);
    CHECK_EQ(qp_destroy(&qp[4096]), 0);
    for (unsigned i = 0; i < 4096; i++) {
        expect_aeqe(s->a, ERDMA_AE_RQ_ERR, qp[i].qpn);
    }
    aeq_arm(s->a);
    expect_no_aeqe(s->a);
    free(qp);
    fixture_free(s);
}
