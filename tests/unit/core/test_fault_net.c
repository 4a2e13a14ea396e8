/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults of queues, payload, network and registers; meters. */
#include <stdlib.h>

#include "guest_fault.h"

#define SECOND  (1000 * MS)

static void send_write(Fixture *s, uint32_t len)
{
    Wr wr = fixture_write(s, 0, 0, len);

    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
}

static bool completed(Fixture *s)
{
    Wc wc;

    return cq_poll(&s->acq, &wc);
}

/* ---- payload ---- */

TEST(corrupt_payload_differs_in_one_bit)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);
    unsigned bits = 0;

    fault(s->b, "corrupt payload qpn=1 count=1");
    send_write(s, 65536);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    for (unsigned i = 0; i < 65536; i++) {
        bits += __builtin_popcount(fixture_a(s, 0)[i] ^ fixture_b(s, 0)[i]);
    }
    CHECK_EQ(bits, 1);
    send_write(s, 65536);
    CHECK(is_pattern(fixture_b(s, 0), 65536, 1));
    fixture_free(s);
}

TEST(dropped_payload_never_arrives_and_succeeds)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    memset(fixture_b(s, 0), 0x11, 4096);
    fault(s->b, "drop payload");
    send_write(s, 4096);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK(is_fill(fixture_b(s, 0), 4096, 0x11));
    fixture_free(s);
}

TEST(duplicate_payload_takes_two_receives)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = fixture_send(s, 0, 64);

    fault(s->b, "duplicate payload qpn=1 count=1");
    fixture_recv(s, 0, 64);
    fixture_recv(s, 64, 64);
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->bcq).qe_idx, 0);
    CHECK_EQ(cq_expect(&s->bcq).qe_idx, 1);
    CHECK(is_pattern(fixture_b(s, 64), 64, 1));
    CHECK(completed(s));
    CHECK(!completed(s));
    fixture_free(s);
}

TEST(delayed_payload_goes_later)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    fault(s->a, "delay payload ms=7 count=1");
    memset(fixture_b(s, 0), 0x11, 4096);
    send_write(s, 64);
    send_write(s, 64);
    hosts_advance(&s->hosts, 6 * MS);
    CHECK(is_fill(fixture_b(s, 0), 64, 0x11));
    CHECK(!completed(s));
    hosts_advance(&s->hosts, MS);
    CHECK(is_pattern(fixture_b(s, 0), 64, 1));
    CHECK(completed(s) && completed(s));
    fixture_free(s);
}

/* ---- queues ---- */

TEST(stalled_command_queue_goes_on_when_it_is_over)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    struct erdma_cmd_query req = { 0 };
    struct erdma_cqe cqe;
    uint32_t id = fault(s->a, "stall cmdq");

    for (unsigned i = 0; i < 3; i++) {
        card_post_cmd(s->a, ERDMA_SUBMOD_COMMON, ERDMA_CMD_QUERY_FW_INFO, &req,
                      sizeof(req));
        card_ring_cmd(s->a);
    }
    hosts_advance(&s->hosts, 20 * SECOND);
    CHECK(!card_poll_cmd(s->a, &cqe));
    fault_over(s->a, id);
    for (unsigned i = 0; i < 3; i++) {
        CHECK(card_poll_cmd(s->a, &cqe));
    }
    fixture_free(s);
}

TEST(stall_ends_by_itself_after_its_time)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    struct erdma_cmd_query req = { 0 };
    struct erdma_cqe cqe;

    fault(s->a, "stall cmdq ms=30");
    card_post_cmd(s->a, ERDMA_SUBMOD_COMMON, ERDMA_CMD_QUERY_FW_INFO, &req,
                  sizeof(req));
    card_ring_cmd(s->a);
    hosts_advance(&s->hosts, 29 * MS);
    CHECK(!card_poll_cmd(s->a, &cqe));
    hosts_advance(&s->hosts, MS);
    CHECK(card_poll_cmd(s->a, &cqe));
    CHECK_EQ(s->a->f.timer, 0);
    fixture_free(s);
}

TEST(stalled_send_queue_stands_still_and_flushes)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    uint32_t id = fault(s->a, "stall sq qpn=1");

    send_write(s, 64);
    hosts_advance(&s->hosts, 100 * SECOND);
    CHECK(!completed(s));
    fault_over(s->a, id);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    fault(s->a, "stall sq qpn=2");
    send_write(s, 64);
    CHECK(completed(s));
    fault(s->a, "stall sq");
    send_write(s, 64);
    CHECK(!completed(s));
    CHECK_EQ(qp_modify(&s->aqp, ERDMA_QPS_ERROR), 0);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_FLUSHED);
    fixture_free(s);
}

TEST(stalled_receive_queue_holds_the_sender)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    uint32_t id = fault(s->b, "stall rq");
    Wr wr = fixture_send(s, 0, 64);

    fixture_recv(s, 0, 64);
    qp_send(&s->aqp, &wr);
    hosts_advance(&s->hosts, SECOND);
    CHECK(!completed(s));
    fault_over(s->b, id);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    fixture_free(s);
}

TEST(stalled_event_queue_delivers_when_it_is_over)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    uint32_t id = fault(s->a, "stall ceq eqn=1");
    Wr wr = fixture_write(s, 0, 0, 64);

    cq_arm(&s->acq, false);
    send_write(s, 64);
    CHECK(!eq_poll(s->a, &s->a->eq[1], NULL, NULL));
    ceq_arm(s->a, 1);
    CHECK_EQ(s->a->f.irqs[1], 0);
    fault_over(s->a, id);
    CHECK(eq_poll(s->a, &s->a->eq[1], NULL, NULL));
    CHECK_EQ(s->a->f.irqs[1], 1);
    id = fault(s->a, "stall aeq");
    wr.sge[0].key ^= 0xff;
    qp_send(&s->aqp, &wr);
    expect_no_aeqe(s->a);
    fault_over(s->a, id);
    expect_aeqe(s->a, ERDMA_AE_QP_FATAL, 1);
    fixture_free(s);
}

TEST(flooded_event_queue_is_filled_never_overrun)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    unsigned n = 0;
    uint64_t w;

    fault(s->a, "flood ceq eqn=2 count=10000");
    hosts_run(&s->hosts);
    for (unsigned i = 0; i < 4096; i++) {
        CHECK(eq_poll(s->a, &s->a->eq[2], &w, NULL));
        CHECK_EQ(ERDMA_GET(ERDMA_CEQE_CQN, w), 0xfffff);
    }
    CHECK(!eq_poll(s->a, &s->a->eq[2], NULL, NULL));
    do {
        ceq_arm(s->a, 2);
        hosts_run(&s->hosts);
        while (eq_poll(s->a, &s->a->eq[2], NULL, NULL)) {
            n++;
        }
    } while (n < 10000 - 4096 && s->a->f.irqs[2] < 1000);
    CHECK_EQ(n, 10000 - 4096);
    ceq_arm(s->a, 2);
    hosts_run(&s->hosts);
    CHECK(!eq_poll(s->a, &s->a->eq[2], NULL, NULL));
    fixture_free(s);
}

TEST(floods_of_other_queues)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    uint64_t w;

    fault(s->a, "flood aeq qpn=77 type=4 count=3");
    fault(s->a, "flood aeq cqn=5 count=1");
    fault(s->a, "flood aeq cqn=6 type=0 count=1");
    fault(s->a, "flood cmdq count=2");
    fault(s->a, "flood cq cqn=1 count=5");
    fault(s->a, "flood irq vector=1 count=6");
    hosts_run(&s->hosts);
    for (unsigned i = 0; i < 3; i++) {
        expect_aeqe(s->a, 4, 77);
    }
    expect_aeqe(s->a, ERDMA_AE_CQ_ERR, 5);
    expect_aeqe(s->a, ERDMA_AE_QP_FATAL, 6);
    expect_no_aeqe(s->a);
    CHECK(eq_poll(s->a, &s->a->eq[0], &w, NULL));
    CHECK(eq_poll(s->a, &s->a->eq[0], &w, NULL));
    CHECK(!eq_poll(s->a, &s->a->eq[0], &w, NULL));
    for (unsigned i = 0; i < 5; i++) {
        struct erdma_cqe *cqe = cq_entry(&s->acq, s->acq.ci++);

        CHECK_EQ(be32toh(cqe->qpn), 0xfffff);
    }
    CHECK(!completed(s));
    CHECK_EQ(s->a->f.irqs[1], 6);
    send_write(s, 64);
    CHECK(completed(s));
    fixture_free(s);
}

TEST(flood_of_what_does_not_exist_ends_quietly)
{
    Hosts b;

    hosts_init(&b, 1, 1);
    fault(&b.card[0], "flood ceq eqn=7");
    fault(&b.card[0], "flood cq cqn=99");
    fault(&b.card[0], "flood aeq");
    hosts_run(&b);
    card_up(&b.card[0], 4, 1);
    hosts_run(&b);
    CHECK_EQ(b.card[0].f.irqs[1], 0);
    hosts_free(&b);
}

/* ---- network ---- */

TEST(nothing_passes_while_the_link_is_down)
{
    for (unsigned side = 0; side < 2; side++) {
        Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
        uint32_t id = fault(side ? s->b : s->a, "link down");

        memset(fixture_b(s, 0), 0x11, 64);
        send_write(s, 64);
        hosts_advance(&s->hosts, SECOND);
        CHECK(!completed(s));
        CHECK(is_fill(fixture_b(s, 0), 64, 0x11));
        fault_over(side ? s->b : s->a, id);
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        CHECK(is_pattern(fixture_b(s, 0), 64, 1));
        fixture_free(s);
    }
}

/* 12.6: what is held too long ends with syndrome 16 */
TEST(link_that_stays_down_ends_requests)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    fault(s->b, "link down");
    send_write(s, 64);
    hosts_advance(&s->hosts, 11 * SECOND);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    fixture_free(s);
}

TEST(link_comes_back_by_itself)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    fault(s->b, "link down ms=500");
    send_write(s, 64);
    hosts_advance(&s->hosts, 499 * MS);
    CHECK(!completed(s));
    hosts_advance(&s->hosts, MS);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    fixture_free(s);
}

TEST(silent_peer_concerns_its_queue_pair_only)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Qp other, peer;
    Wr wr = { .opcode = ERDMA_OP_WRITE };

    qp_init(&other, s->a, &s->acq, QUEUE_KERNEL);
    qp_init(&peer, s->b, &s->bcq, QUEUE_KERNEL);
    qp_connect(&other, &peer);
    fault(s->a, "silent peer qpn=1");
    send_write(s, 64);
    CHECK(!completed(s));
    qp_send(&other, &wr);
    CHECK_EQ(cq_expect(&s->acq).qpn, other.qpn);
    /* and nothing comes from it either */
    wr = (Wr) { .opcode = ERDMA_OP_WRITE };
    qp_send(&s->bqp, &wr);
    CHECK(!cq_poll(&s->bcq, &(Wc) { 0 }));
    hosts_advance(&s->hosts, 11 * SECOND);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    fixture_free(s);
}

TEST(latency_moves_all_that_was_rung_together)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    fault(s->a, "latency us=100");
    for (unsigned i = 0; i < 5; i++) {
        send_write(s, 64);
    }
    CHECK(!completed(s));
    hosts_advance(&s->hosts, 99000);
    CHECK(!completed(s));
    hosts_advance(&s->hosts, 1000);
    CHECK(completed(s));                /* the first was alone when it began */
    CHECK(!completed(s));
    hosts_advance(&s->hosts, 100000);
    for (unsigned i = 0; i < 4; i++) {
        CHECK(completed(s));
    }
    faults_over(s->a);
    send_write(s, 64);
    CHECK(completed(s));
    fixture_free(s);
}

/* Indices of an earlier fault mean nothing to a later one */
TEST(latency_begins_anew_with_each_fault)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    uint32_t id = fault(s->a, "latency us=100");

    send_write(s, 64);
    hosts_advance(&s->hosts, 100000);
    CHECK(completed(s));
    fault_over(s->a, id);
    for (unsigned i = 0; i < 32700; i++) {
        send_write(s, 64);
        CHECK(completed(s));
    }
    fault(s->a, "latency us=100");
    for (unsigned i = 0; i < 100; i++) {
        send_write(s, 64);
        CHECK(!completed(s));
        hosts_advance(&s->hosts, 100000);
        CHECK(completed(s));
    }
    fixture_free(s);
}

TEST(lost_packets_are_sent_again)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);
    unsigned late = 0;

    fault(s->a, "loss prob=0.2");
    for (unsigned i = 0; i < 50; i++) {
        send_write(s, 1000);
        for (unsigned n = 0; !completed(s); n++) {
            CHECK(n < 25);
            late++;
            hosts_advance(&s->hosts, MS);
        }
    }
    CHECK(late > 3 && late < 25);
    CHECK_EQ(counters(s->a).tx_lost, late);
    CHECK_EQ(counters(s->a).retry_exceeded, 0);
    fixture_free(s);
}

/* 1.4 million packets: all of them but a few in the first attempt */
TEST(loss_of_many_packets_is_as_expected)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4u << 20);
    unsigned n = 0;

    fault(s->a, "loss prob=0.1 us=50");
    send_write(s, 4u << 20);
    while (!completed(s)) {
        CHECK(++n < 24);
        hosts_advance(&s->hosts, 50000);
    }
    CHECK(n >= 2 && n <= 8);
    CHECK(counters(s->a).tx_lost > 250 && counters(s->a).tx_lost < 370);
    CHECK(is_pattern(fixture_b(s, 0), 4u << 20, 1));
    fixture_free(s);
}

/* A path that is too narrow: MTU 1500 here, and packets of 1460 get through */
TEST(long_packets_get_lost_and_short_ones_do_not)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);
    uint32_t id = fault(s->a, "loss prob=1 minlen=1461");

    for (unsigned n = 0; n <= 1460; n += 365) {
        send_write(s, n);
        CHECK(completed(s));
    }
    CHECK_EQ(counters(s->a).tx_lost, 0);
    send_write(s, 1461);
    CHECK(!completed(s));
    CHECK_EQ(counters(s->a).tx_lost, 1);
    hosts_advance(&s->hosts, MS);
    CHECK_EQ(counters(s->a).tx_lost, 2);
    fault_over(s->a, id);
    CHECK(completed(s));
    /* Of this one the last packet is short */
    fault(s->a, "loss prob=1 minlen=1461");
    send_write(s, 3 * 1500 + 1460);
    CHECK(!completed(s));
    CHECK_EQ(counters(s->a).tx_lost, 2 + 3);
    faults_over(s->a);
    CHECK(completed(s));
    /* None is longer than the MTU */
    fault(s->a, "loss prob=1 minlen=1501");
    send_write(s, 65536);
    CHECK(completed(s));
    CHECK_EQ(counters(s->a).tx_lost, 2 + 3);
    fixture_free(s);
}

TEST(loss_of_everything_exceeds_the_retries)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    struct erdma_cmd_set_retrans req = { .count = htole32(5) };

    CHECK_EQ(CMD_COMMON(s->a, ERDMA_CMD_SET_RETRANS_NUM, req), 0);
    fault(s->a, "loss prob=1 qpn=1");
    send_write(s, 64);
    for (unsigned i = 0; i < 5; i++) {
        CHECK(!completed(s));
        hosts_advance(&s->hosts, MS);
    }
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    expect_aeqe(s->a, ERDMA_AE_QP_FATAL, 1);
    CHECK_EQ(counters(s->a).retry_exceeded, 1);
    fixture_free(s);
}

/* A.1, offset 48: of the first QP of the first card */
static uint32_t timeouts(Fixture *s)
{
    uint64_t target = fake_zalloc(s->a->h, 256);
    struct erdma_cmd_query req = {
        .index = htole32(1), .target = htole64(target), .length = htole32(256),
    };
    uint32_t n;

    CHECK_EQ(CMD_RDMA(s->a, ERDMA_CMD_QUERY_QPC, req), 0);
    memcpy(&n, fake_ptr(s->a->h, target + 48, 4), 4);
    return le32toh(n);
}

TEST(losses_are_counted_in_the_context_of_the_queue_pair)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    fault(s->a, "loss prob=1");
    send_write(s, 64);
    hosts_advance(&s->hosts, MS);
    faults_over(s->a);
    CHECK(completed(s));
    CHECK_EQ(timeouts(s), 2);
    fixture_free(s);
}

static void repeats_what_is_not_acknowledged(bool at_peer)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    fault(at_peer ? s->b : s->a, "silent peer");
    send_write(s, 64);
    hosts_advance(&s->hosts, SECOND / 10 * 3);
    CHECK_EQ(timeouts(s), 0);
    for (unsigned i = 0; i < 5; i++) {
        hosts_advance(&s->hosts, SECOND / 10 * 4);
        CHECK_EQ(timeouts(s), i + 1);
    }
    faults_over(at_peer ? s->b : s->a);
    CHECK(completed(s));
    hosts_advance(&s->hosts, 20 * SECOND);
    CHECK_EQ(timeouts(s), 5);

    fault(at_peer ? s->b : s->a, "silent peer");
    send_write(s, 64);
    for (unsigned i = 0; i < 24; i++) {
        hosts_advance(&s->hosts, SECOND / 10 * 4);
        CHECK(!completed(s));
        CHECK_EQ(timeouts(s), 5 + i + 1);
    }
    hosts_advance(&s->hosts, SECOND / 10 * 4);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    CHECK_EQ(timeouts(s), 5 + 25);
    fixture_free(s);
}

TEST(silent_peer_gets_retransmissions)
{
    repeats_what_is_not_acknowledged(false);
}

/* On a wire the request is in flight: the sender knows of no reason */
TEST_ONE_PROCESS(silent_peer_in_the_same_process_gets_retransmissions)
{
    repeats_what_is_not_acknowledged(true);
}

TEST(missing_receive_is_no_retransmission)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    Wr wr = { .opcode = ERDMA_OP_SEND };

    qp_send(&s->aqp, &wr);
    for (unsigned i = 0; i < 24; i++) {
        hosts_advance(&s->hosts, SECOND / 10 * 4);
        CHECK(!completed(s));
    }
    CHECK_EQ(timeouts(s), 0);
    hosts_advance(&s->hosts, SECOND);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    CHECK_EQ(timeouts(s), 0);
    fixture_free(s);
}

TEST(destroying_a_parked_queue_pair_is_clean)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);

    fault(s->a, "latency ms=5");
    send_write(s, 64);
    CHECK_EQ(qp_destroy(&s->aqp), 0);
    hosts_advance(&s->hosts, SECOND);
    CHECK(!completed(s));
    fixture_free(s);
}

/* ---- registers and the card ---- */

TEST(registers_read_all_ones_and_ignore_writes)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    uint32_t id = fault(s->a, "registers all-ones");

    CHECK_EQ(card_read32(s->a, ERDMA_REG_VERSION), 0xffffffff);
    CHECK_EQ(erdma_core_mmio_read(s->a->core, ERDMA_REG_STATUS, 1), 0xff);
    CHECK_EQ(erdma_core_mmio_read(s->a->core, 0x80, 8), UINT64_MAX);
    card_write32(s->a, ERDMA_REG_CTRL, ERDMA_CTRL_RESET);
    send_write(s, 64);
    CHECK(!completed(s));
    fault_over(s->a, id);
    CHECK_EQ(card_read32(s->a, ERDMA_REG_STATUS) & ERDMA_STATUS_INIT_DONE,
             ERDMA_STATUS_INIT_DONE);
    qp_ring(&s->aqp);
    CHECK(completed(s));
    fixture_free(s);
}

TEST(card_is_silent_until_a_reset_is_over)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    uint32_t id = fault(s->a, "delay reset ms=10 count=2");

    card_write32(s->a, ERDMA_REG_CTRL, ERDMA_CTRL_RESET);
    CHECK(!erdma_core_silent(s->a->core));
    for (unsigned i = 0; i < 2; i++) {
        erdma_core_reset(s->a->core);
        CHECK(erdma_core_silent(s->a->core));
        hosts_advance(&s->hosts, 9 * MS);
        CHECK_EQ(card_read32(s->a, ERDMA_REG_VERSION), 0xffffffff);
        card_write32(s->a, ERDMA_REG_CTRL, ERDMA_CTRL_INIT);
        hosts_advance(&s->hosts, MS);
        CHECK(!erdma_core_silent(s->a->core));
        CHECK_EQ(card_read32(s->a, ERDMA_REG_STATUS), 0);
    }
    erdma_core_reset(s->a->core);
    CHECK(!erdma_core_silent(s->a->core));
    fault_over(s->a, id);
    id = fault(s->a, "delay reset ms=10");
    erdma_core_reset(s->a->core);
    fault_over(s->a, id);
    CHECK(!erdma_core_silent(s->a->core));
    CHECK_EQ(card_read32(s->a, ERDMA_REG_STATUS), 0);
    fixture_free(s);
}

TEST(one_register_can_lie)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fault(s->a, "corrupt register offset=0x14 value=0 count=2");
    CHECK_EQ(card_read32(s->a, ERDMA_REG_STATUS), 0);
    CHECK(card_read32(s->a, ERDMA_REG_VERSION) != 0);
    CHECK_EQ(card_read32(s->a, ERDMA_REG_STATUS), 0);
    CHECK(card_read32(s->a, ERDMA_REG_STATUS) != 0);
    fault(s->a, "registers all-ones offset=0");
    CHECK_EQ(card_read32(s->a, ERDMA_REG_VERSION), 0xffffffff);
    CHECK(card_read32(s->a, ERDMA_REG_STATUS) != 0xffffffff);
    send_write(s, 64);
    CHECK(completed(s));
    fixture_free(s);
}

TEST(register_lies_differently_each_time_without_a_value)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    uint32_t real = card_read32(s->a, ERDMA_REG_VERSION), one, two;

    fault(s->a, "corrupt register offset=0 count=2");
    one = card_read32(s->a, ERDMA_REG_VERSION);
    two = card_read32(s->a, ERDMA_REG_VERSION);
    CHECK(one != two && one != real && two != real);
    CHECK_EQ(card_read32(s->a, ERDMA_REG_VERSION), real);
    fixture_free(s);
}

TEST(removed_card_is_silent_and_comes_back_empty)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 4096);
    uint8_t *ring = fake_ptr(s->a->h, s->acq.addr, 64);
    uint32_t id;

    fault(s->a, "latency ms=1");
    send_write(s, 64);
    id = fault(s->a, "remove");
    CHECK_EQ(s->a->f.unplugs, 1);
    memset(ring, 0x77, 64);
    CHECK_EQ(card_read32(s->a, ERDMA_REG_VERSION), 0xffffffff);
    card_write32(s->a, ERDMA_REG_CTRL, ERDMA_CTRL_INIT);
    qp_ring(&s->aqp);
    card_ring_cmd(s->a);
    hosts_advance(&s->hosts, SECOND);
    CHECK(is_fill(ring, 64, 0x77));
    CHECK_EQ(counters(s->a).qps, 0);
    fault_over(s->a, id);
    CHECK_EQ(card_read32(s->a, ERDMA_REG_STATUS), 0);
    CHECK(card_read32(s->a, ERDMA_REG_VERSION) != 0xffffffff);
    card_up(s->a, 4, 2);
    fixture_free(s);
}

/* A reset by the guest ends nothing: faults are ours */
TEST(faults_outlive_a_reset)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fault(s->a, "corrupt register offset=0 value=5");
    card_write32(s->a, ERDMA_REG_CTRL, ERDMA_CTRL_RESET);
    CHECK_EQ(card_read32(s->a, ERDMA_REG_VERSION), 5);
    erdma_core_reset(s->a->core);
    CHECK_EQ(card_read32(s->a, ERDMA_REG_VERSION), 5);
    fixture_free(s);
}

/* ---- meters ---- */

/* Requests of @len bytes finished in @ms milliseconds, 1 ms at a time */
static unsigned finished(Fixture *s, uint32_t len, unsigned ms)
{
    unsigned n = 0;

    for (unsigned i = 0; i < 40; i++) {
        send_write(s, len);
    }
    for (unsigned i = 0; i < ms; i++) {
        hosts_advance(&s->hosts, MS);
        while (completed(s)) {
            n++;
        }
    }
    return n;
}

TEST(meters_limit_bytes_and_messages)
{
    static const ErdmaLimits limits[] = {
        { .bytes = 1000000 },           /* 1000 bytes in 1 ms */
        { .qp_bytes = 1000000 },
        { .messages = 250 },            /* one in 4 ms */
        { .qp_messages = 250 },
    };

    for (unsigned i = 0; i < 4; i++) {
        Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);
        unsigned n;

        erdma_core_set_limits(s->a->core, &limits[i]);
        n = finished(s, 4000, 40);
        CHECK(n >= 10 && n <= 12);
        CHECK((counters(s->a).metered_bytes > 0) == (i < 2));
        CHECK((counters(s->a).metered_messages > 0) == (i >= 2));
        erdma_core_set_limits(s->a->core, &(ErdmaLimits) { 0 });
        hosts_run(&s->hosts);
        while (completed(s)) {
            n++;
        }
        CHECK_EQ(n, 40);                /* nothing was lost */
        fixture_free(s);
    }
}

/* Section 14: what waited is counted as the limiter's */
TEST(meters_show_in_statistics_and_registers)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);
    uint64_t target = fake_zalloc(s->a->h, 256);
    struct erdma_cmd_query req = {
        .target = htole64(target), .length = htole32(256),
    };
    uint64_t bps, pps;

    erdma_core_set_limits(s->a->core, &(ErdmaLimits) { .bytes = 1000000 });
    finished(s, 4000, 10);
    erdma_core_set_limits(s->a->core, &(ErdmaLimits) { .messages = 100 });
    finished(s, 1, 20);
    CHECK_EQ(CMD_COMMON(s->a, ERDMA_CMD_GET_STATS, req), 0);
    memcpy(&bps, fake_ptr(s->a->h, target + 48, 8), 8);
    memcpy(&pps, fake_ptr(s->a->h, target + 56, 8), 8);
    CHECK(le64toh(bps) > 0 && le64toh(pps) > 0);
    CHECK_EQ(card_read32(s->a, ERDMA_REG_ST_TX_BPS_DROP_PKTS), le64toh(bps));
    CHECK_EQ(card_read32(s->a, ERDMA_REG_ST_TX_PPS_DROP_PKTS), le64toh(pps));
    fixture_free(s);
}

TEST(meter_of_the_card_is_shared_and_that_of_a_queue_pair_is_not)
{
    for (unsigned shared = 0; shared < 2; shared++) {
        Fixture *s = fixture_new(2, QUEUE_KERNEL, 65536);
        ErdmaLimits l = { 0 };
        unsigned n = 0;
        Qp other, peer;
        Wc wc;

        qp_init(&other, s->a, &s->acq, QUEUE_KERNEL);
        qp_init(&peer, s->b, &s->bcq, QUEUE_KERNEL);
        qp_connect(&other, &peer);
        *(shared ? &l.messages : &l.qp_messages) = 1000;
        erdma_core_set_limits(s->a->core, &l);
        for (unsigned i = 0; i < 100; i++) {
            Wr wr = { .opcode = ERDMA_OP_WRITE };

            qp_send(&s->aqp, &wr);
            qp_send(&other, &wr);
        }
        for (unsigned i = 0; i < 50; i++) {
            hosts_advance(&s->hosts, MS);
        }
        while (cq_poll(&s->acq, &wc)) {
            n++;
        }
        CHECK(shared ? n >= 50 && n <= 53 : n >= 100 && n <= 106);
        fixture_free(s);
    }
}
