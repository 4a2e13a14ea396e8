/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding the peer, holding, retrying, peers that go (section 12). */
#include <stdlib.h>

#include "guest.h"

#define SECOND  1000000000ull

static bool delivered(Fixture *s)
{
    Wr wr = fixture_write(s, 0, 0, 64);
    Wc wc;

    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    return cq_poll(&s->acq, &wc) && !wc.syndrome;
}

/* ---- matching (12.5) ---- */

static bool matches(void (*spoil)(struct erdma_cmd_modify_qp *req))
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, NULL);
    struct erdma_cmd_modify_qp req = qp_rts_cmd(&s->aqp, &s->bqp, 999, true);
    bool found;

    CHECK_EQ(qp_rts(&s->bqp, &s->aqp, 999, false), 0);
    spoil(&req);
    CHECK_EQ(CMD_RDMA(s->a, ERDMA_CMD_MODIFY_QP, req), 0);
    found = delivered(s);
    fixture_free(s);
    return found;
}

#define SPOIL(name, body) \
    static void name(struct erdma_cmd_modify_qp *r) { body; }
SPOIL(as_is, (void)r)
SPOIL(other_cookie, r->cookie ^= htole32(1))
SPOIL(other_dip, r->dip ^= htobe32(1))
SPOIL(other_sip, r->sip ^= htobe32(1))
SPOIL(other_both_ips, r->sip ^= htobe32(7); r->dip ^= htobe32(7))
SPOIL(other_both_ports, r->sport ^= htobe16(1); r->dport ^= htobe16(1))
SPOIL(other_sport, r->sport ^= htobe16(1))
SPOIL(other_dport, r->dport ^= htobe16(1))
SPOIL(other_send_nxt, r->send_nxt ^= htole32(1))
SPOIL(other_recv_nxt, r->recv_nxt ^= htole32(1))

TEST(ends_match_by_addresses_cookies_and_sequence_numbers)
{
    CHECK(matches(as_is));
    CHECK(!matches(other_cookie));
    CHECK(!matches(other_dip));
    CHECK(!matches(other_sip));
    CHECK(!matches(other_both_ips));
    CHECK(!matches(other_both_ports));
    CHECK(!matches(other_sport));
    CHECK(!matches(other_dport));
    CHECK(!matches(other_send_nxt));
    CHECK(!matches(other_recv_nxt));
}

TEST(either_end_may_be_first)
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, NULL);

    CHECK_EQ(qp_rts(&s->aqp, &s->bqp, 5, true), 0);
    CHECK_EQ(qp_rts(&s->bqp, &s->aqp, 5, false), 0);
    CHECK(delivered(s));
    fixture_free(s);
}

TEST(queue_pair_is_never_its_own_peer)
{
    Fixture *s = fixture_new_idle(1, QUEUE_KERNEL, 4096, NULL);
    struct erdma_cmd_modify_qp req = qp_rts_cmd(&s->aqp, &s->aqp, 18515, true);
    Wr wr = fixture_write(s, 0, 0, 64);

    req.recv_nxt = req.send_nxt;
    CHECK_EQ(CMD_RDMA(s->a, ERDMA_CMD_MODIFY_QP, req), 0);
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    fixture_free(s);
}

TEST(many_connections_between_the_same_hosts_are_distinguished)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);
    Qp a[100], b[100];

    for (unsigned i = 0; i < 100; i++) {
        qp_init(&a[i], s->a, &s->acq, QUEUE_KERNEL);
        qp_init(&b[i], s->b, &s->bcq, QUEUE_KERNEL);
    }
    for (unsigned i = 0; i < 100; i++) {
        CHECK_EQ(qp_rts(&b[i], &a[i], 2000 + i, false), 0);
    }
    for (unsigned i = 100; i-- > 0;) {
        CHECK_EQ(qp_rts(&a[i], &b[i], 2000 + i, true), 0);
    }
    for (unsigned i = 0; i < 100; i++) {
        Wr wr = fixture_send(s, i, 8);

        qp_recv(&b[i], s->bbuf + i * 64, 64, s->bkey);
        qp_send(&a[i], &wr);
        CHECK_EQ(cq_expect(&s->bcq).qpn, b[i].qpn);
        CHECK_EQ(cq_expect(&s->acq).qpn, a[i].qpn);
    }
    fixture_free(s);
}

TEST(three_cards_of_one_fabric_reach_each_other)
{
    Hosts b;
    Cq cq[3];
    Qp qp[3][3];

    hosts_init(&b, 2, 3);
    for (unsigned i = 0; i < 3; i++) {
        card_up(&b.card[i], 4, 1);
        cq_init(&cq[i], &b.card[i], 64, 1);
        for (unsigned k = 0; k < 3; k++) {
            qp_init(&qp[i][k], &b.card[i], &cq[i], QUEUE_KERNEL);
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned k = i + 1; k < 3; k++) {
            Wr wr = { .opcode = ERDMA_OP_WRITE };

            qp_connect(&qp[i][k], &qp[k][i]);
            qp_send(&qp[i][k], &wr);
            qp_send(&qp[k][i], &wr);
            hosts_run(&b);
            CHECK_EQ(cq_expect(&cq[i]).qpn, qp[i][k].qpn);
            CHECK_EQ(cq_expect(&cq[k]).qpn, qp[k][i].qpn);
        }
    }
    hosts_free(&b);
}

/* ---- holding (12.6) ---- */

TEST(held_request_gives_up_after_the_hold_time)
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, NULL);
    Wr wr = fixture_write(s, 0, 0, 64);
    Wc wc;

    CHECK_EQ(qp_rts(&s->aqp, &s->bqp, 1, true), 0);
    qp_send(&s->aqp, &wr);
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    hosts_advance(&s->hosts, 10 * SECOND - 1);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    hosts_advance(&s->hosts, 1);
    wc = cq_expect(&s->acq);
    CHECK_EQ(wc.syndrome, ERDMA_WC_RETRY_EXC);
    CHECK_EQ(wc.qe_idx, 0);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    expect_aeqe(s->a, ERDMA_AE_QP_FATAL, s->aqp.qpn);
    CHECK_EQ(counters(s->a).held, 1);
    CHECK_EQ(counters(s->a).retry_exceeded, 1);
    expect_no_timer(s->a);
    fixture_free(s);
}

static void hold_one_ms(ErdmaConfig *cfg)
{
    cfg->hold_ns = 1000000;
}

TEST(hold_time_is_a_property)
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, hold_one_ms);
    Wr wr = fixture_write(s, 0, 0, 64);

    CHECK_EQ(qp_rts(&s->aqp, &s->bqp, 1, true), 0);
    qp_send(&s->aqp, &wr);
    hosts_advance(&s->hosts, 1000000);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    fixture_free(s);
}

TEST(local_errors_do_not_wait_for_the_peer)
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, NULL);
    Wr wr = fixture_write(s, 0, 0, 64);

    wr.sge[0].key ^= 1;
    CHECK_EQ(qp_rts(&s->aqp, &s->bqp, 1, true), 0);
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SEND_STAG);
    fixture_free(s);
}

TEST(oldest_of_many_held_requests_sets_the_timer)
{
    Fixture *s = fixture_new_idle(2, QUEUE_KERNEL, 4096, NULL);
    Wr wr = fixture_write(s, 0, 0, 64);
    Qp qp[200];
    uint64_t start = s->a->h->now;

    for (unsigned i = 0; i < 200; i++) {
        qp_init(&qp[i], s->a, &s->acq, QUEUE_KERNEL);
        CHECK_EQ(qp_rts(&qp[i], &s->bqp, 3000 + i, true), 0);
        qp_send(&qp[i], &wr);
        hosts_advance(&s->hosts, 1000);
    }
    CHECK_EQ(s->a->f.timer, start + 10 * SECOND);
    CHECK_EQ(qp_destroy(&qp[0]), 0);
    CHECK_EQ(s->a->f.timer, start + 10 * SECOND + 1000);
    hosts_advance(&s->hosts, 11 * SECOND);
    for (unsigned i = 1; i < 200; i++) {
        Wc wc = cq_expect(&s->acq);

        CHECK_EQ(wc.qpn, qp[i].qpn);
        CHECK_EQ(wc.syndrome, ERDMA_WC_RETRY_EXC);
    }
    expect_no_timer(s->a);
    fixture_free(s);
}

TEST(idle_cards_set_no_timer_and_ask_for_no_turn)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    unsigned kicks;

    CHECK(delivered(s));
    kicks = s->a->f.kicks + s->b->f.kicks;
    hosts_advance(&s->hosts, 100 * SECOND);
    CHECK_EQ(s->a->f.timer | s->b->f.timer, 0);
    CHECK_EQ(s->a->f.kicks + s->b->f.kicks, kicks);
    fixture_free(s);
}

/* ---- receiver not ready ---- */

TEST(send_without_a_receive_is_held_until_one_is_posted)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_send(s, 0, 64);

    qp_send(&s->aqp, &wr);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    hosts_advance(&s->hosts, 9 * SECOND);
    fixture_recv(s, 0, 64);
    /* on the spot: the receiver's doorbell is the sender's wire */
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK_EQ(cq_expect(&s->bcq).syndrome, 0);
    expect_no_timer(s->a);
    fixture_free(s);
}

TEST(receiver_never_ready_is_retry_exceeded_at_the_sender)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_send(s, 0, 64);

    qp_send(&s->aqp, &wr);
    hosts_advance(&s->hosts, 10 * SECOND);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    expect_no_aeqe(s->b);
    fixture_free(s);
}

TEST(hold_time_starts_again_with_each_request)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_send(s, 0, 64);

    qp_send(&s->aqp, &wr);
    qp_send(&s->aqp, &wr);
    hosts_advance(&s->hosts, 9 * SECOND);
    fixture_recv(s, 0, 64);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    hosts_advance(&s->hosts, 9 * SECOND);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    fixture_recv(s, 0, 64);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    fixture_free(s);
}

TEST(write_with_immediate_waits_for_a_receive_with_its_data)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_write(s, 0, 0, 64);

    wr.opcode = ERDMA_OP_WRITE_IMM;
    qp_send(&s->aqp, &wr);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    qp_recv(&s->bqp, 0, 0, 0);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK(is_pattern(fixture_b(s, 0), 64, 1));
    fixture_free(s);
}

TEST(requests_behind_a_held_one_wait_too)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_send(s, 0, 64), after = fixture_write(s, 0, 1024, 64);

    qp_send(&s->aqp, &wr);
    qp_send(&s->aqp, &after);
    hosts_run(&s->hosts);
    CHECK(is_fill(fixture_b(s, 1024), 64, 0xa5));
    fixture_recv(s, 0, 64);
    CHECK_EQ(cq_expect(&s->acq).opcode, ERDMA_OP_SEND);
    CHECK_EQ(cq_expect(&s->acq).opcode, ERDMA_OP_WRITE);
    fixture_free(s);
}

TEST(both_ends_may_wait_for_each_other)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 8192);
    Wr wr = fixture_send(s, 0, 64), back = {
        .opcode = ERDMA_OP_SEND, .nsge = 1,
        .sge = { { s->bbuf + 4096, 64, s->bkey } },
    };

    qp_send(&s->aqp, &wr);
    qp_send(&s->bqp, &back);
    fixture_recv(s, 0, 64);
    qp_recv(&s->aqp, s->abuf + 4096, 64, s->akey);
    hosts_run(&s->hosts);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        CHECK_EQ(cq_expect(&s->bcq).syndrome, 0);
    }
    fixture_free(s);
}

/* ---- peers that go (12.7) ---- */

static unsigned peer_goes(void (*go)(Fixture *s))
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_read(s, 0, 0, 64);
    unsigned syndrome;

    go(s);
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    hosts_advance(&s->hosts, 9 * SECOND);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    hosts_advance(&s->hosts, SECOND);
    syndrome = cq_expect(&s->acq).syndrome;
    fixture_free(s);
    return syndrome;
}

static void peer_closes(Fixture *s)
{
    CHECK_EQ(qp_modify(&s->bqp, ERDMA_QPS_CLOSING), 0);
}

static void peer_is_destroyed(Fixture *s)
{
    CHECK_EQ(qp_destroy(&s->bqp), 0);
}

static void peer_card_is_reset(Fixture *s)
{
    card_write32(s->b, ERDMA_REG_CTRL, ERDMA_CTRL_RESET);
}

static void peer_card_is_unplugged(Fixture *s)
{
    erdma_core_free(s->b->core);
    s->b->core = s->b->f.core = NULL;
    s->hosts.cards = 1;
    s->hosts.card[1].f.kicked = false;
}

TEST(work_for_a_peer_that_went_ends_after_the_hold_time)
{
    CHECK_EQ(peer_goes(peer_closes), ERDMA_WC_RETRY_EXC);
    CHECK_EQ(peer_goes(peer_is_destroyed), ERDMA_WC_RETRY_EXC);
    CHECK_EQ(peer_goes(peer_card_is_reset), ERDMA_WC_RETRY_EXC);
    CHECK_EQ(peer_goes(peer_card_is_unplugged), ERDMA_WC_RETRY_EXC);
}

TEST(normal_close_turns_held_work_into_flushes)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_read(s, 0, 0, 64);

    CHECK_EQ(qp_modify(&s->bqp, ERDMA_QPS_CLOSING), 0);
    qp_send(&s->aqp, &wr);
    hosts_advance(&s->hosts, SECOND);
    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_CLOSING), 0);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    expect_no_timer(s->a);
    expect_no_aeqe(s->a);
    fixture_free(s);
}

TEST(idle_survivor_is_left_alone)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    qp_recv(&s->aqp, s->abuf, 64, s->akey);
    CHECK_EQ(qp_modify(&s->bqp, ERDMA_QPS_ERROR), 0);
    hosts_advance(&s->hosts, 100 * SECOND);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    expect_no_aeqe(s->a);
    fixture_free(s);
}

TEST(late_comer_with_the_same_addresses_is_another_connection)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Qp again;

    CHECK_EQ(qp_destroy(&s->bqp), 0);
    qp_init(&again, s->b, &s->bcq, QUEUE_KERNEL);
    CHECK_EQ(qp_rts(&again, &s->aqp, 40000, false), 0);
    CHECK(!delivered(s));
    fixture_free(s);
}

TEST(bus_master_off_on_one_side_hurts_only_its_own_memory)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_write(s, 0, 0, 64);

    s->b->f.bus_master = false;
    qp_send(&s->aqp, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RECV_BOUNDS);
    fixture_free(s);
}
