/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults of what the card reports: completions, events, interrupts. */
#include <stdlib.h>

#include "guest_fault.h"

/* One WRITE of the fixture; not polled */
static void write_once(Fixture *s)
{
    Wr wr = fixture_write(s, 0, 0, 64);

    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
}

static bool completed(Fixture *s)
{
    Wc wc;

    return cq_poll(&s->acq, &wc);
}

/* The next entry as it is, without the checks of cq_poll() */
static Wc raw(Fixture *s)
{
    struct erdma_cqe *cqe = cq_entry(&s->acq, s->acq.ci++);
    uint32_t hdr = be32toh(cqe->hdr);

    return (Wc) {
        .opcode = ERDMA_GET(ERDMA_CQE_OPCODE, hdr),
        .qtype = ERDMA_GET(ERDMA_CQE_QTYPE, hdr),
        .syndrome = ERDMA_GET(ERDMA_CQE_SYNDROME, hdr),
        .qe_idx = be32toh(cqe->qe_idx), .qpn = be32toh(cqe->qpn),
        .imm = be32toh(cqe->imm), .size = be32toh(cqe->size),
    };
}

/* ---- completions ---- */

TEST(dropped_cqe_leaves_the_ring_as_it_is)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fault(s->a, "drop cqe count=1");
    write_once(s);
    CHECK(!completed(s));
    write_once(s);
    CHECK_EQ(cq_expect(&s->acq).qe_idx, 2);     /* a WRITE has two blocks */
    CHECK_EQ(counters(s->a).faults, 1);
    fixture_free(s);
}

/* Each selector: the one that fits strikes, the other does not */
static void selects(const char *hit, const char *miss, bool (*seen)(Fixture *))
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fault(s->a, miss);
    CHECK(seen(s));
    CHECK_EQ(counters(s->a).faults, 0);
    faults_over(s->a);
    fault(s->a, hit);
    CHECK(!seen(s));
    CHECK_EQ(counters(s->a).faults, 1);
    fixture_free(s);
}

static bool see_cqe(Fixture *s)
{
    write_once(s);
    return completed(s);
}

static bool see_event(Fixture *s)
{
    bool seen;

    cq_arm(&s->acq, false);
    write_once(s);
    seen = eq_poll(s->a, &s->a->eq[1], NULL, NULL);
    ceq_arm(s->a, 1);
    cq_expect(&s->acq);
    return seen;
}

static bool see_irq(Fixture *s)
{
    unsigned before = s->a->f.irqs[1];

    see_event(s);
    return s->a->f.irqs[1] > before;
}

static bool see_aeqe(Fixture *s)
{
    Wr wr = fixture_write(s, 0, 0, 64);
    bool seen;

    wr.sge[0].key ^= 0xff;
    qp_send(&s->aqp, &wr);
    seen = eq_poll(s->a, &s->a->aeq, NULL, NULL);
    aeq_arm(s->a);
    return seen;
}

static bool see_command(Fixture *s)
{
    struct erdma_cmd_query req = { 0 };
    struct erdma_cqe cqe;

    card_post_cmd(s->a, ERDMA_SUBMOD_COMMON, ERDMA_CMD_QUERY_FW_INFO, &req,
                  sizeof(req));
    card_ring_cmd(s->a);
    return card_poll_cmd(s->a, &cqe);
}

TEST(faults_select_by_queue_pair)
{
    selects("drop cqe qpn=1", "drop cqe qpn=2", see_cqe);
}

TEST(faults_select_by_completion_queue)
{
    selects("drop cqe cqn=1", "drop cqe cqn=2", see_cqe);
    selects("drop ceqe cqn=1", "drop ceqe cqn=2", see_event);
}

TEST(faults_select_by_opcode)
{
    selects("drop cqe opcode=rdma_write", "drop cqe opcode=send", see_cqe);
    selects("drop command opcode=query_fw_info",
            "drop command opcode=create_qp", see_command);
}

TEST(faults_select_by_event_queue)
{
    selects("drop ceqe eqn=1", "drop ceqe eqn=2", see_event);
}

TEST(faults_select_by_kind_of_event)
{
    selects("drop event", "drop aeqe", see_event);
    selects("drop ceqe", "drop command-event", see_event);
}

TEST(faults_select_by_vector)
{
    selects("drop irq vector=1", "drop irq vector=2", see_irq);
}

TEST(faults_select_asynchronous_events_by_queue_pair)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fault(s->a, "drop aeqe qpn=1");
    CHECK(!see_aeqe(s));
    CHECK_EQ(counters(s->a).faults, 1);
    fixture_free(s);
    s = fixture_new(1, QUEUE_KERNEL, 4096);
    fault(s->a, "drop aeqe qpn=2");
    CHECK(see_aeqe(s));
    fixture_free(s);
}

/* An event about a CQ has no QPN, not even 0 */
TEST(faults_leave_alone_what_does_not_have_the_selected_number)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fault(s->a, "drop aeqe qpn=0");
    fake_hole(s->a->h, s->acq.addr, 1024 * 32);
    write_once(s);
    expect_aeqe(s->a, ERDMA_AE_CQ_ERR, s->acq.cqn);
    fake_fill_holes(s->a->h);
    fixture_free(s);
}

TEST(fault_waits_for_its_turn_and_ends_after_its_count)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    static const bool arrives[] = { true, true, false, false, true, true };

    fault(s->a, "drop cqe after=2 count=2");
    for (unsigned i = 0; i < 6; i++) {
        CHECK_EQ(see_cqe(s), arrives[i]);
    }
    CHECK_EQ(counters(s->a).faults, 2);
    fixture_free(s);
}

static uint64_t drops(const char *line)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    uint64_t pattern_of_hits = 0;

    fault(s->a, line);
    for (unsigned i = 0; i < 64; i++) {
        pattern_of_hits |= (uint64_t)!see_cqe(s) << i;
    }
    fixture_free(s);
    return pattern_of_hits;
}

TEST(chance_repeats_itself_and_depends_on_the_seed)
{
    uint64_t some = drops("drop cqe prob=0.5");
    unsigned many = __builtin_popcountll(drops("drop cqe prob=0.25 seed=3"));

    CHECK(some != 0 && some != UINT64_MAX);
    CHECK_EQ(drops("drop cqe prob=0.5"), some);
    CHECK_EQ(drops("drop cqe prob=0.5 seed=1"), some);
    CHECK(drops("drop cqe prob=0.5 seed=2") != some);
    CHECK(drops("drop cqe prob=0.5 seed=0") != 0);
    CHECK(many > 6 && many < 28);
    CHECK_EQ(drops("drop cqe prob=0"), 0);
    CHECK_EQ(drops("drop cqe prob=1"), UINT64_MAX);
}

TEST(first_fault_that_strikes_is_the_only_one)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fault(s->a, "drop cqe count=1");
    fault(s->a, "corrupt cqe syndrome=7 count=1");
    CHECK(!see_cqe(s));
    write_once(s);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 7);
    CHECK(see_cqe(s));
    fixture_free(s);
}

TEST(duplicate_cqe_comes_twice)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    Wc one, two;

    fault(s->a, "duplicate cqe count=1");
    write_once(s);
    one = cq_expect(&s->acq);
    two = cq_expect(&s->acq);
    CHECK_EQ(one.qe_idx, two.qe_idx);
    CHECK(!completed(s));
    CHECK(see_cqe(s));
    fixture_free(s);
}

TEST(delayed_cqe_comes_later_and_later_ones_wait_behind_it)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fault(s->a, "delay cqe ms=5 count=1");
    write_once(s);
    write_once(s);
    CHECK(!completed(s));
    hosts_advance(&s->hosts, 4 * MS);
    CHECK(!completed(s));
    hosts_advance(&s->hosts, 1 * MS);
    CHECK_EQ(cq_expect(&s->acq).qe_idx, 0);
    CHECK_EQ(cq_expect(&s->acq).qe_idx, 2);
    CHECK(see_cqe(s));
    CHECK_EQ(s->a->f.timer, 0);
    fixture_free(s);
}

TEST(delayed_cqe_can_be_overtaken)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fault(s->a, "delay cqe ms=5 count=1 overtake");
    write_once(s);
    write_once(s);
    CHECK_EQ(cq_expect(&s->acq).qe_idx, 2);
    hosts_advance(&s->hosts, 5 * MS);
    CHECK_EQ(cq_expect(&s->acq).qe_idx, 0);
    fixture_free(s);
}

/* 8.5: the event comes with the entry, not before it */
TEST(delayed_cqe_raises_its_event_when_it_comes)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fault(s->a, "delay cqe ms=5 count=1");
    cq_arm(&s->acq, false);
    write_once(s);
    CHECK_EQ(s->a->f.irqs[1], 0);
    hosts_advance(&s->hosts, 5 * MS);
    CHECK_EQ(s->a->f.irqs[1], 1);
    fixture_free(s);
}

/* Not even to the next queue of that number */
TEST(delayed_cqe_of_a_destroyed_queue_never_comes)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    Cq cq, next;
    Qp one, two;
    Wc wc;
    Wr wr = { .opcode = ERDMA_OP_WRITE };

    cq_init(&cq, s->a, 64, 1);
    qp_init(&one, s->a, &cq, QUEUE_KERNEL);
    qp_init(&two, s->a, &cq, QUEUE_KERNEL);
    qp_connect(&one, &two);
    fault(s->a, "delay cqe ms=5");
    qp_send(&one, &wr);
    CHECK_EQ(qp_destroy(&one), 0);
    CHECK_EQ(qp_destroy(&two), 0);
    CHECK_EQ(cq_destroy(&cq), 0);
    memset(fake_ptr(s->a->h, cq.addr, 64 * 32), 0x77, 64 * 32);
    s->a->next_cqn = cq.cqn;
    cq_init(&next, s->a, 64, 1);
    CHECK_EQ(next.cqn, cq.cqn);
    hosts_advance(&s->hosts, 100 * MS);
    CHECK(is_fill(fake_ptr(s->a->h, cq.addr, 64 * 32), 64 * 32, 0x77));
    CHECK(!cq_poll(&next, &wc));
    CHECK_EQ(cq_destroy(&next), 0);
    cq_free(&next);
    cq_free(&cq);
    fixture_free(s);
}

TEST(reset_forgets_what_was_delayed)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    uint8_t *ring = fake_ptr(s->a->h, s->acq.addr, 64);

    fault(s->a, "delay cqe ms=5");
    write_once(s);
    memset(ring, 0x77, 64);
    card_write32(s->a, ERDMA_REG_CTRL, ERDMA_CTRL_RESET);
    hosts_advance(&s->hosts, 100 * MS);
    CHECK(is_fill(ring, 64, 0x77));
    CHECK_EQ(s->a->f.irqs_total, 0);
    fixture_free(s);
}

TEST(next_driver_gets_nothing_of_what_was_delayed)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    struct erdma_cqe cqe;
    uint64_t irqs;

    fault(s->a, "delay irq ms=5");
    fault(s->a, "delay command ms=5 overtake");
    CHECK(!see_irq(s));
    CHECK(!see_command(s));
    card_write32(s->a, ERDMA_REG_CTRL, ERDMA_CTRL_RESET);
    faults_over(s->a);
    card_up(s->a, 4, 2);
    irqs = s->a->f.irqs_total;
    hosts_advance(&s->hosts, 100 * MS);
    CHECK(!card_poll_cmd(s->a, &cqe));
    CHECK_EQ(s->a->f.irqs_total, irqs);
    fixture_free(s);
}

TEST(number_of_delayed_things_is_bounded)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    unsigned now = 0, late = 0;

    fault(s->a, "delay cqe ms=5 overtake");
    for (unsigned i = 0; i < 300; i++) {
        write_once(s);
        now += completed(s);
    }
    CHECK_EQ(now, 300 - 256);
    hosts_advance(&s->hosts, 5 * MS);
    hosts_advance(&s->hosts, 0);
    while (completed(s)) {
        late++;
    }
    CHECK_EQ(late, 256);
    fixture_free(s);
}

TEST(corrupt_cqe_has_the_field_it_was_given)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    Wc wc;

    fault(s->a, "corrupt cqe syndrome=77 count=1");
    fault(s->a, "corrupt cqe type=200 count=1");
    fault(s->a, "corrupt cqe kind=9 count=1");
    fault(s->a, "corrupt cqe number=0xfffff count=1");
    fault(s->a, "corrupt cqe size=12345 count=1");
    fault(s->a, "corrupt cqe imm=99 count=1");
    fault(s->a, "hostile-index cqe value=0x12345 count=1");
    fault(s->a, "hostile-index cqe count=1");
    for (unsigned i = 0; i < 8; i++) {
        write_once(s);
    }
    CHECK_EQ(raw(s).syndrome, 77);
    CHECK_EQ(raw(s).opcode, 200);
    CHECK_EQ(raw(s).qtype, 9);
    wc = raw(s);
    CHECK_EQ(wc.qpn, 0xfffff);
    CHECK_EQ(wc.size, 64);
    CHECK_EQ(raw(s).size, 12345);
    CHECK_EQ(raw(s).imm, 99);
    CHECK_EQ(raw(s).qe_idx, 0x12345);
    CHECK_EQ(raw(s).qe_idx, 0xffffffff);
    CHECK(see_cqe(s));
    fixture_free(s);
}

/* Without a field: one bit, never the owner bit */
TEST(corrupt_cqe_differs_in_one_bit)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fault(s->a, "corrupt cqe");
    for (unsigned i = 0; i < 200; i++) {
        struct erdma_cqe good = {
            .qe_idx = htobe32((uint16_t)s->aqp.sq_pi),
            .qpn = htobe32(1), .size = htobe32(64),
        };
        unsigned bits = 0;
        uint8_t bad[32];

        good.hdr = htobe32(erdma_ring_owner(i, 1024) ? ERDMA_CQE_OWNER : 0);
        write_once(s);
        memcpy(bad, cq_entry(&s->acq, i), 32);
        for (unsigned k = 0; k < 32; k++) {
            bits += __builtin_popcount(bad[k] ^ ((uint8_t *)&good)[k]);
        }
        CHECK_EQ(bits, 1);
        raw(s);
    }
    fixture_free(s);
}

/* The slot is used up, and nobody sees it */
TEST(cqe_with_the_wrong_owner_is_not_seen)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fault(s->a, "wrong-owner cqe count=1");
    write_once(s);
    write_once(s);
    CHECK(!completed(s));
    s->acq.ci++;
    CHECK_EQ(cq_expect(&s->acq).qe_idx, 2);
    fixture_free(s);
}

/* ---- events and interrupts ---- */

TEST(duplicate_event_comes_twice)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    uint64_t one, two;

    fault(s->a, "duplicate ceqe");
    cq_arm(&s->acq, false);
    write_once(s);
    CHECK(eq_poll(s->a, &s->a->eq[1], &one, NULL));
    CHECK(eq_poll(s->a, &s->a->eq[1], &two, NULL));
    CHECK_EQ(one, two);
    CHECK(!eq_poll(s->a, &s->a->eq[1], NULL, NULL));
    CHECK_EQ(s->a->f.irqs[1], 1);
    fixture_free(s);
}

TEST(delayed_event_comes_later)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fault(s->a, "delay event us=500");
    CHECK(!see_event(s));
    hosts_advance(&s->hosts, MS / 2);
    CHECK(eq_poll(s->a, &s->a->eq[1], NULL, NULL));
    CHECK_EQ(s->a->f.irqs[1], 1);
    fixture_free(s);
}

/* Of what was delayed that is due first which waits the shortest, not the longest */
TEST(what_is_due_first_comes_first)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fault(s->a, "delay irq ms=3 count=1");
    CHECK(!see_irq(s));
    fault(s->a, "delay cqe us=500 overtake count=1");
    write_once(s);
    CHECK(!completed(s));
    hosts_advance(&s->hosts, MS / 2);
    CHECK(completed(s));
    CHECK_EQ(s->a->f.irqs[1], 0);
    hosts_advance(&s->hosts, 3 * MS - MS / 2);
    CHECK_EQ(s->a->f.irqs[1], 1);
    fixture_free(s);
}

/* CI 7, PI 0: to arm the CQ is an event */
static void arm_unseen(Cq *cq)
{
    cq->ci = 7;
    cq_arm(cq, false);
}

TEST(delayed_event_waits_on_while_the_queue_is_full)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    Cq late, now;
    uint64_t w;

    CHECK_EQ(eq_create(s->a, 3, 0), 0);
    cq_init(&late, s->a, 64, 3);
    cq_init(&now, s->a, 64, 3);
    fault(s->a, "delay ceqe us=500 count=1");
    arm_unseen(&late);
    arm_unseen(&now);
    hosts_advance(&s->hosts, MS / 2);
    CHECK(eq_poll(s->a, &s->a->eq[3], &w, NULL));
    CHECK_EQ(ERDMA_GET(ERDMA_CEQE_CQN, w), now.cqn);
    ceq_arm(s->a, 3);
    CHECK(!eq_poll(s->a, &s->a->eq[3], &w, NULL));
    hosts_advance(&s->hosts, MS);
    CHECK(eq_poll(s->a, &s->a->eq[3], &w, NULL));
    CHECK_EQ(ERDMA_GET(ERDMA_CEQE_CQN, w), late.cqn);
    fixture_free(s);
}

/* Without a field: one bit, never the owner bit */
TEST(corrupt_event_differs_in_one_bit)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    for (unsigned i = 1; i <= 100; i++) {
        uint64_t good = ERDMA_PREP(ERDMA_CEQE_CQN, s->acq.cqn) |
                        ERDMA_PREP(ERDMA_CEQE_PI, i), w;
        uint32_t id = fault(s->a, "corrupt ceqe");

        cq_arm(&s->acq, false);
        write_once(s);
        CHECK(eq_poll(s->a, &s->a->eq[1], &w, NULL));
        CHECK_EQ(__builtin_popcountll((w ^ good) & ~ERDMA_CEQE_OWNER), 1);
        fault_over(s->a, id);
        ceq_arm(s->a, 1);
        cq_expect(&s->acq);
    }
    fixture_free(s);
}

TEST(corrupt_events_have_the_field_they_were_given)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    uint64_t w;

    fault(s->a, "hostile-index ceqe value=0xabcde count=1");
    fault(s->a, "corrupt ceqe index=0x654321 count=1");
    cq_arm(&s->acq, false);
    write_once(s);
    cq_arm(&s->acq, false);
    write_once(s);
    CHECK(eq_poll(s->a, &s->a->eq[1], &w, NULL));
    CHECK_EQ(ERDMA_GET(ERDMA_CEQE_CQN, w), 0xabcde);
    CHECK(eq_poll(s->a, &s->a->eq[1], &w, NULL));
    CHECK_EQ(ERDMA_GET(ERDMA_CEQE_CQN, w), s->acq.cqn);
    CHECK_EQ(ERDMA_GET(ERDMA_CEQE_PI, w), 0x654321);
    fault(s->a, "corrupt aeqe type=250");
    see_aeqe(s);
    CHECK_EQ(ERDMA_GET(ERDMA_AEQE_TYPE, *(uint32_t *)
                       fake_ptr(s->a->h, s->a->aeq.addr, 16)), 250);
    fixture_free(s);
}

TEST(event_with_the_wrong_owner_is_not_seen)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fault(s->a, "wrong-owner event count=1");
    CHECK(!see_event(s));
    s->a->eq[1].ci++;
    ceq_arm(s->a, 1);
    CHECK(see_event(s));
    fixture_free(s);
}

TEST(delayed_interrupt_comes_later)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fault(s->a, "delay irq ms=3 count=1");
    CHECK(!see_irq(s));
    hosts_advance(&s->hosts, 3 * MS);
    CHECK_EQ(s->a->f.irqs[1], 1);
    CHECK(see_irq(s));
    fixture_free(s);
}

TEST(duplicate_interrupt_comes_twice)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fault(s->a, "duplicate irq count=1");
    CHECK(see_irq(s));
    hosts_advance(&s->hosts, 0);
    CHECK_EQ(s->a->f.irqs[1], 2);
    fixture_free(s);
}

TEST(lost_interrupt_is_made_up_for_by_the_next_arming)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fault(s->a, "drop irq vector=1 count=1");
    cq_arm(&s->acq, false);
    write_once(s);
    CHECK_EQ(s->a->f.irqs[1], 0);
    ceq_arm(s->a, 1);                   /* CI says: not seen */
    CHECK_EQ(s->a->f.irqs[1], 1);
    fixture_free(s);
}

/* ---- commands ---- */

TEST(dropped_command_completion_leaves_the_ring_as_it_is)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fault(s->a, "drop command count=1");
    CHECK(!see_command(s));
    CHECK(see_command(s));
    CHECK_EQ(counters(s->a).commands_failed, 0);
    fixture_free(s);
}

TEST(delayed_command_holds_up_later_ones)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    struct erdma_cqe cqe;
    uint64_t before = counters(s->a).commands;

    fault(s->a, "delay command ms=50 count=1");
    CHECK(!see_command(s));
    CHECK(!see_command(s));
    CHECK_EQ(counters(s->a).commands, before + 1);
    hosts_advance(&s->hosts, 50 * MS);
    CHECK_EQ(counters(s->a).commands, before + 2);
    CHECK(card_poll_cmd(s->a, &cqe));
    CHECK(card_poll_cmd(s->a, &cqe));
    fixture_free(s);
}

TEST(delayed_command_can_be_overtaken)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    struct erdma_cqe cqe;
    uint16_t first = s->a->sq_pi;

    fault(s->a, "delay command ms=50 count=1 overtake");
    CHECK(!see_command(s));
    CHECK(see_command(s));
    hosts_advance(&s->hosts, 50 * MS);
    CHECK(card_poll_cmd(s->a, &cqe));
    CHECK_EQ(be32toh(cqe.qe_idx), first);
    fixture_free(s);
}

TEST(duplicate_command_completion_comes_twice)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    struct erdma_cqe cqe;

    fault(s->a, "duplicate command count=1");
    CHECK(see_command(s));
    CHECK(card_poll_cmd(s->a, &cqe));
    CHECK(!card_poll_cmd(s->a, &cqe));
    fixture_free(s);
}

TEST(corrupt_command_completion_has_the_field_it_was_given)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    struct erdma_cmd_query req = { 0 };
    struct erdma_cqe cqe;

    fault(s->a, "corrupt command status=95 count=1");
    fault(s->a, "hostile-index command value=0x7777 count=1");
    fault(s->a, "corrupt command resp0=0x1122334455667788 count=1");
    fault(s->a, "corrupt command type=9 count=1");
    fault(s->a, "corrupt command kind=1 count=1");
    fault(s->a, "corrupt command owner count=1");
    for (unsigned i = 0; i < 6; i++) {
        card_post_cmd(s->a, ERDMA_SUBMOD_COMMON, ERDMA_CMD_QUERY_FW_INFO, &req,
                      sizeof(req));
    }
    card_ring_cmd(s->a);
    CHECK(card_poll_cmd(s->a, &cqe));
    CHECK_EQ(be32toh(cqe.hdr) & 0xff, 95);
    CHECK(card_poll_cmd(s->a, &cqe));
    CHECK_EQ(be32toh(cqe.qe_idx), 0x7777);
    CHECK(card_poll_cmd(s->a, &cqe));
    CHECK_EQ(be32toh(cqe.resp[0]), 0x55667788);
    CHECK_EQ(be32toh(cqe.resp[1]), 0x11223344);
    CHECK(card_poll_cmd(s->a, &cqe));
    CHECK_EQ(ERDMA_GET(ERDMA_CQE_OPCODE, be32toh(cqe.hdr)), 9);
    CHECK(card_poll_cmd(s->a, &cqe));
    CHECK_EQ(ERDMA_GET(ERDMA_CQE_QTYPE, be32toh(cqe.hdr)), 1);
    CHECK(!card_poll_cmd(s->a, &cqe));
    fixture_free(s);
}

static uint16_t magic_of_stats(Fixture *s)
{
    uint64_t target = fake_zalloc(s->a->h, 256);
    struct erdma_cmd_query req = {
        .target = htole64(target), .length = htole32(256),
    };

    CHECK_EQ(CMD_COMMON(s->a, ERDMA_CMD_GET_STATS, req), 0);
    return le16toh(*(uint16_t *)fake_ptr(s->a->h, target, 2));
}

TEST(corrupt_magic_is_in_the_response)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fault(s->a, "corrupt command magic opcode=query_qpc");
    CHECK_EQ(magic_of_stats(s), ERDMA_RESP_MAGIC);
    fault(s->a, "corrupt command magic opcode=get_stats count=1");
    CHECK(magic_of_stats(s) != ERDMA_RESP_MAGIC);
    CHECK_EQ(magic_of_stats(s), ERDMA_RESP_MAGIC);
    fault(s->a, "corrupt command magic=0x1234 count=1");
    CHECK_EQ(magic_of_stats(s), 0x1234);
    fixture_free(s);
}

/* ---- without a fault ---- */

TEST(faults_that_are_about_something_else_change_nothing)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fault(s->a, "drop cqe qpn=999");
    fault(s->a, "drop irq vector=30");
    fault(s->a, "drop command opcode=reg_mr");
    fault(s->a, "drop event count=0");
    fault(s->a, "corrupt payload qpn=999");
    CHECK(see_cqe(s));
    CHECK(see_irq(s));
    CHECK(see_command(s));
    CHECK(is_pattern(fixture_b(s, 0), 64, 1));
    CHECK_EQ(counters(s->a).faults, 0);
    fixture_free(s);
}
