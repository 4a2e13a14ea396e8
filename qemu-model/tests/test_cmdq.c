/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command queue (section 4) and the simple commands (5.3). */
#include <stdlib.h>

#include "guest.h"

static void both_sizes(void (*fn)(Card *c))
{
    for (uint32_t blocks = 2; blocks <= 4; blocks += 2) {
        Hosts b;

        hosts_init(&b, 1, 1);
        card_start(&b.card[0], blocks);
        fn(&b.card[0]);
        hosts_free(&b);
    }
}

static unsigned query_device(Card *c, uint64_t *r0, uint64_t *r1)
{
    return card_cmd(c, 0, ERDMA_CMD_QUERY_DEVICE, NULL, 8, r0, r1);
}

static void thousand_commands(Card *c)
{
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t r0, r1;

        CHECK_EQ(query_device(c, &r0, &r1), 0);
        CHECK_EQ(r0 & 0xff, 31);
    }
    CHECK_EQ(counters(c).commands, 1000);
}

/* card_cmd() checks owner bit, index, order and opcode of each */
TEST(thousand_commands_wrap_all_rings_with_either_slot_size)
{
    both_sizes(thousand_commands);
}

TEST(index_of_completion_runs_through_16_bits)
{
    Hosts b;
    Card *c;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    card_start(c, 4);
    for (unsigned i = 0; i < 70000 / 4; i++) {
        CHECK_EQ(query_device(c, NULL, NULL), 0);
    }
    CHECK(c->sq_pi != (uint16_t)(70000 / 4));
    hosts_free(&b);
}

static void unknown_opcodes(Card *c)
{
    for (unsigned submod = 0; submod < 4; submod++) {
        for (unsigned op = 0; op < 256; op++) {
            bool hole = op == 7 || op == 10 || op == 13;

            if ((submod == 0 && op <= 17 && !hole) ||
                (submod == 1 && op <= 11)) {
                continue;
            }
            CHECK_EQ(card_cmd(c, submod, op, NULL, 8, NULL, NULL),
                     ERDMA_CMD_ENOTSUPP);
        }
    }
}

TEST(unknown_opcode_is_answered_with_an_error)
{
    both_sizes(unknown_opcodes);
}

TEST(rocev2_commands_are_refused_in_iwarp_mode)
{
    static const unsigned op[] = {
        ERDMA_CMD_SET_GID, ERDMA_CMD_CREATE_AH, ERDMA_CMD_DESTROY_AH,
        ERDMA_CMD_QUERY_QP,
    };
    Hosts b;

    hosts_init(&b, 1, 1);
    card_start(&b.card[0], 4);
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(card_cmd(&b.card[0], 0, op[i], NULL, 8, NULL, NULL),
                 ERDMA_CMD_ENOTSUPP);
    }
    hosts_free(&b);
}

static void no_flags(ErdmaConfig *cfg)
{
    cfg->flags = 0;
}

TEST(commands_need_the_flag_that_announces_them)
{
    Hosts b;
    Card *c;

    hosts_init_cfg(&b, 1, 1, no_flags);
    c = &b.card[0];
    card_start(c, 4);
    CHECK_EQ(card_cmd(c, 0, ERDMA_CMD_QUERY_QPC, NULL, 8, NULL, NULL), 95);
    CHECK_EQ(card_cmd(c, 0, ERDMA_CMD_QUERY_CQC, NULL, 8, NULL, NULL), 95);
    CHECK_EQ(card_cmd(c, 1, ERDMA_CMD_QUERY_EQC, NULL, 8, NULL, NULL), 95);
    CHECK_EQ(card_cmd(c, 1, ERDMA_CMD_CONF_DEVICE, NULL, 8, NULL, NULL), 95);
    CHECK_EQ(card_cmd(c, 1, ERDMA_CMD_ALLOC_DB, NULL, 8, NULL, NULL), 95);
    CHECK_EQ(card_cmd(c, 1, ERDMA_CMD_FREE_DB, NULL, 8, NULL, NULL), 95);
    hosts_free(&b);
}

TEST(slots_of_both_sizes_may_be_mixed)
{
    Hosts b;
    Card *c;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    card_start(c, 4);
    for (unsigned i = 0; i < 300; i++) {
        c->blocks = i % 3 ? 4 : 2;
        if (c->sq_pi % c->depth + c->blocks > c->depth) {
            c->blocks = c->depth - c->sq_pi % c->depth;
        }
        CHECK_EQ(query_device(c, NULL, NULL), 0);
    }
    hosts_free(&b);
}

TEST(several_commands_of_one_doorbell_complete_in_order)
{
    Hosts b;
    Card *c;
    uint16_t index[128];
    struct erdma_cqe cqe;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    card_start(c, 4);
    for (unsigned i = 0; i < 128; i++) {
        index[i] = card_post_cmd(c, i & 1, i & 1 ? ERDMA_CMD_QUERY_FW_INFO :
                                 ERDMA_CMD_QUERY_DEVICE, NULL, 8);
    }
    card_ring_cmd(c);
    hosts_run(&b);
    for (unsigned i = 0; i < 128; i++) {
        CHECK(card_poll_cmd(c, &cqe));
        CHECK_EQ(be32toh(cqe.qe_idx), index[i]);
        CHECK_EQ(ERDMA_GET(ERDMA_CQE_OPCODE, be32toh(cqe.hdr)),
                 i & 1 ? ERDMA_CMD_QUERY_FW_INFO : ERDMA_CMD_QUERY_DEVICE);
    }
    CHECK(!card_poll_cmd(c, &cqe));
    hosts_free(&b);
}

TEST(long_command_lists_are_done_in_bounded_turns)
{
    Hosts b;
    Card *c;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    card_start(c, 4);
    for (unsigned i = 0; i < 128; i++) {
        card_post_cmd(c, 1, ERDMA_CMD_QUERY_FW_INFO, NULL, 8);
    }
    card_ring_cmd(c);
    CHECK(counters(c).commands < 128);
    CHECK(c->f.kicked);
    hosts_run(&b);
    CHECK_EQ(counters(c).commands, 128);
    hosts_free(&b);
}

TEST(failed_command_has_no_response)
{
    Hosts b;
    struct erdma_cqe cqe;

    hosts_init(&b, 1, 1);
    card_start(&b.card[0], 4);
    card_post_cmd(&b.card[0], 3, 99, NULL, 8);
    card_ring_cmd(&b.card[0]);
    CHECK(card_poll_cmd(&b.card[0], &cqe));
    for (unsigned i = 0; i < 6; i++) {
        CHECK_EQ(cqe.resp[i], 0);
    }
    CHECK_EQ(counters(&b.card[0]).commands_failed, 1);
    hosts_free(&b);
}

/* ---- slots that make no sense: answered, never fatal ---- */

static unsigned odd_header(uint64_t clear, uint64_t set)
{
    Hosts b;
    Card *c;
    struct erdma_cqe cqe;
    uint64_t *hdr;
    unsigned status;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    card_start(c, 4);
    card_post_cmd(c, 1, ERDMA_CMD_QUERY_FW_INFO, NULL, 8);
    hdr = fake_ptr(c->h, c->sq, 8);
    *hdr = (*hdr & ~clear) | set;
    card_ring_cmd(c);
    CHECK(card_poll_cmd(c, &cqe));
    status = ERDMA_GET(ERDMA_CQE_SYNDROME, be32toh(cqe.hdr));
    CHECK_EQ(query_device(c, NULL, NULL), 0);
    hosts_free(&b);
    return status;
}

TEST(slot_larger_than_what_was_posted_is_refused)
{
    CHECK_EQ(odd_header(ERDMA_CMD_HDR_WQEBBS, 7ull << 52), ERDMA_CMD_EINVAL);
}

TEST(slot_whose_index_is_not_its_own_is_refused)
{
    CHECK_EQ(odd_header(ERDMA_CMD_HDR_PI, 0x1234), ERDMA_CMD_EINVAL);
}

TEST(slot_too_short_for_its_command_is_refused)
{
    Hosts b;
    Card *c;
    struct erdma_cmd_reg_mr req = { 0 };

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    card_start(c, 4);
    c->blocks = 1;
    CHECK_EQ(CMD_RDMA(c, ERDMA_CMD_REG_MR, req), ERDMA_CMD_EINVAL);
    CHECK_EQ(query_device(c, NULL, NULL), 0);
    hosts_free(&b);
}

TEST(command_doorbell_beyond_the_ring_is_ignored)
{
    Hosts b;
    Card *c;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    card_start(c, 4);
    card_write64(c, ERDMA_REG_CMDQ_SQ_DB, 513);
    card_write64(c, ERDMA_REG_CMDQ_SQ_DB, 0xffff);
    CHECK_EQ(counters(c).commands, 0);
    CHECK_EQ(counters(c).guest_errors, 2);
    CHECK_EQ(query_device(c, NULL, NULL), 0);
    hosts_free(&b);
}

TEST(upper_bits_of_the_command_doorbell_are_ignored)
{
    Hosts b;
    Card *c;
    struct erdma_cqe cqe;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    card_start(c, 4);
    card_post_cmd(c, 1, ERDMA_CMD_QUERY_FW_INFO, NULL, 8);
    card_write64(c, ERDMA_REG_CMDQ_SQ_DB, 0xabcdef1234560004);
    CHECK(card_poll_cmd(c, &cqe));
    hosts_free(&b);
}

TEST(unreadable_command_ring_is_answered_with_an_error)
{
    Hosts b;
    Card *c;
    struct erdma_cqe cqe;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    card_start(c, 4);
    card_post_cmd(c, 1, ERDMA_CMD_QUERY_FW_INFO, NULL, 8);
    fake_hole(c->h, c->sq, 4096);
    card_ring_cmd(c);
    CHECK(card_poll_cmd(c, &cqe));
    CHECK_EQ(ERDMA_GET(ERDMA_CQE_SYNDROME, be32toh(cqe.hdr)),
             ERDMA_CMD_EFAULT);
    fake_fill_holes(c->h);
    CHECK_EQ(query_device(c, NULL, NULL), 0);
    hosts_free(&b);
}

TEST(unreachable_command_cq_is_survived)
{
    Hosts b;
    Card *c;
    struct erdma_cqe cqe;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    card_start(c, 4);
    fake_hole(c->h, c->cq, 4096);
    card_post_cmd(c, 1, ERDMA_CMD_QUERY_FW_INFO, NULL, 8);
    card_ring_cmd(c);
    CHECK(!card_poll_cmd(c, &cqe));
    CHECK(counters(c).guest_errors);
    hosts_free(&b);
}

/* ---- events (4.6) ---- */

static void no_event_before_arm(Card *c)
{
    for (unsigned i = 0; i < 5; i++) {
        CHECK_EQ(query_device(c, NULL, NULL), 0);
    }
    CHECK_EQ(c->f.irqs_total, 0);
    CHECK(!eq_poll(c, &c->eq[0], NULL, NULL));
}

TEST(commands_before_the_first_arm_raise_no_event)
{
    both_sizes(no_event_before_arm);
}

static void armed_event(Card *c)
{
    uint64_t w;

    CHECK_EQ(query_device(c, NULL, NULL), 0);
    card_arm_cmd(c);
    CHECK_EQ(c->f.irqs[0], 0);
    CHECK_EQ(query_device(c, NULL, NULL), 0);
    CHECK_EQ(c->f.irqs[0], 1);
    CHECK(eq_poll(c, &c->eq[0], &w, NULL));
    CHECK_EQ(ERDMA_GET(ERDMA_CEQE_CQN, w), 0);
    CHECK_EQ(ERDMA_GET(ERDMA_CEQE_PI, w), 2);
    /* one-shot */
    CHECK_EQ(query_device(c, NULL, NULL), 0);
    CHECK_EQ(c->f.irqs[0], 1);
    CHECK(!eq_poll(c, &c->eq[0], &w, NULL));
}

TEST(armed_command_cq_raises_one_event)
{
    both_sizes(armed_event);
}

TEST(probe_sequence_of_15_1_ends_with_events_flowing)
{
    Hosts b;
    Card *c;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    card_up(c, 4, 31);
    CHECK_EQ(c->f.irqs_total, 0);
    card_arm_cmd(c);
    CHECK_EQ(c->f.irqs_total, 0);
    for (unsigned i = 1; i < 300; i++) {
        CHECK_EQ(query_device(c, NULL, NULL), 0);
        CHECK_EQ(c->f.irqs[0], i);
        CHECK(eq_poll(c, &c->eq[0], NULL, NULL));
        card_arm_cmd(c);
        ceq_arm(c, 0);
        aeq_arm(c);
        CHECK_EQ(c->f.irqs[0], i);
    }
    hosts_free(&b);
}

/* ---- simple commands ---- */

TEST(conf_mtu_changes_how_packets_are_counted)
{
    Fixture *s = fixture_new(2, QUEUE_KERNEL, 16384);
    struct erdma_cmd_conf_mtu mtu = { .mtu = htole32(9000) };
    Wr wr = fixture_write(s, 0, 0, 9001);

    CHECK_EQ(CMD_COMMON(s->a, ERDMA_CMD_CONF_MTU, mtu), 0);
    qp_send(&s->aqp, &wr);
    CHECK_EQ(counters(s->a).tx_pkts, 2);
    CHECK_EQ(counters(s->b).rx_pkts, 7);
    fixture_free(s);
}

TEST(conf_device_accepts_4k_pages_only)
{
    Hosts b;
    struct erdma_cmd_conf_device req = { 0 };

    hosts_init(&b, 1, 1);
    card_start(&b.card[0], 4);
    req.cfg = htole32(ERDMA_CONF_PAGE_ENABLE | 12);
    CHECK_EQ(CMD_COMMON(&b.card[0], ERDMA_CMD_CONF_DEVICE, req), 0);
    req.cfg = htole32(ERDMA_CONF_PAGE_ENABLE | 16);
    CHECK_EQ(CMD_COMMON(&b.card[0], ERDMA_CMD_CONF_DEVICE, req),
             ERDMA_CMD_EINVAL);
    hosts_free(&b);
}

TEST(retransmission_number_is_1_to_255)
{
    Hosts b;
    struct erdma_cmd_set_retrans req = { 0 };

    hosts_init(&b, 1, 1);
    card_start(&b.card[0], 2);
    CHECK_EQ(CMD_COMMON(&b.card[0], ERDMA_CMD_SET_RETRANS_NUM, req), 22);
    req.count = htole32(255);
    CHECK_EQ(CMD_COMMON(&b.card[0], ERDMA_CMD_SET_RETRANS_NUM, req), 0);
    req.count = htole32(256);
    CHECK_EQ(CMD_COMMON(&b.card[0], ERDMA_CMD_SET_RETRANS_NUM, req), 22);
    hosts_free(&b);
}

TEST(firmware_version_is_what_was_configured)
{
    Hosts b;
    uint64_t r0 = 0;

    hosts_init(&b, 1, 1);
    card_start(&b.card[0], 2);
    CHECK_EQ(card_cmd(&b.card[0], 1, ERDMA_CMD_QUERY_FW_INFO, NULL, 8, &r0,
                      NULL), 0);
    CHECK_EQ(r0, 0x225);
    hosts_free(&b);
}
