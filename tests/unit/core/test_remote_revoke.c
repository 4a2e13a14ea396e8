/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that a message names, and that is the guest's again before or while
 * the other process copies it: its queue pair is gone, or its region is revoked.
 */
#include "two_hosts.h"

#define LEN     4096u           /* of a message: ranges, not bytes */
#define IOVA    0x10000u

/* ---- ways to take memory back ---- */

/* A region of card a that can be invalidated and mapped anew, over abuf */
static uint32_t map_frmr(Fixture *s, uint32_t key)
{
    Wr reg = {
        .opcode = ERDMA_OP_REG_MR, .raddr = IOVA, .rkey = key | 1,
        .rights = ALL_RIGHTS, .npages = 2,
        .page = { s->abuf, s->abuf + 4096 }, .sge = { { .len = 8192 } },
    };

    qp_send(&s->aqp, &reg);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    return key | 1;
}

typedef struct Region {
    Fixture *s;
    Qp other;                   /* of card a, without a peer */
    uint32_t key;
} Region;

static Region region_new(Fixture *s)
{
    Region r = { .s = s };

    r.key = map_frmr(s, mr_frmr(s->a, 4, NULL));
    qp_init(&r.other, s->a, &s->acq, QUEUE_KERNEL);
    CHECK_EQ(qp_rts(&r.other, &r.other, 9, true), 0);
    return r;
}

static void by_dereg(Region *r)
{
    CHECK_EQ(mr_dereg(r->s->a, r->key), 0);
}

static void by_local_inv(Region *r)
{
    Wr inv = { .opcode = ERDMA_OP_LOCAL_INV, .rkey = r->key };

    qp_send(&r->other, &inv);
    CHECK_EQ(cq_expect(&r->s->acq).syndrome, 0);
}

static void by_reg_mr(Region *r)
{
    Wr reg = {
        .opcode = ERDMA_OP_REG_MR, .raddr = IOVA, .rkey = r->key,
        .rights = ALL_RIGHTS, .npages = 2,
        .page = { r->s->abuf + 8192, r->s->abuf + 12288 },
        .sge = { { .len = 8192 } },
    };

    qp_send(&r->other, &reg);
    CHECK_EQ(cq_expect(&r->s->acq).syndrome, 0);
}

/* A SEND_INV of card b arrives at another queue pair of the same PD */
static void by_remote_inv(Region *r)
{
    Fixture *s = r->s;
    Wr wr = fixture_send(s, 0, 0);
    Qp a, b;

    qp_init(&a, s->a, &s->acq, QUEUE_KERNEL);
    qp_init(&b, s->a, &s->acq, QUEUE_KERNEL);
    qp_connect(&a, &b);
    qp_recv(&b, s->abuf, 64, s->akey);
    wr.opcode = ERDMA_OP_SEND_INV;
    wr.imm = htole32(r->key);
    wr.nsge = 0;
    qp_send(&a, &wr);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
}

static void (*const ways[])(Region *r) = {
    by_dereg, by_local_inv, by_reg_mr, by_remote_inv,
};

static const uint8_t pushes[] = { ERDMA_OP_WRITE, ERDMA_OP_SEND };

static Fixture *waiting_fixture(void)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 16384, true, NULL);

    fixture_recv(s, 0, LEN);
    return s;
}

static void send_region(Region *r, uint8_t opcode)
{
    Wr wr = fixture_write(r->s, 0, 0, LEN);

    wr.opcode = opcode;
    wr.sge[0].addr = IOVA;
    wr.sge[0].key = r->key;
    r->s->hosts.slow = true;
    qp_send(&r->s->aqp, &wr);
}

/* ---- before it is copied ---- */

TEST_OWN_WIRES(memory_of_a_queue_pair_that_is_gone_is_not_copied)
{
    for (unsigned i = 0; i < 2; i++) {
        Fixture *s = waiting_fixture();
        Wr wr = fixture_write(s, 0, 0, LEN);

        wr.opcode = pushes[i];
        s->hosts.slow = true;
        qp_send(&s->aqp, &wr);
        CHECK_EQ(qp_destroy(&s->aqp), 0);
        settle(s);
        CHECK_EQ(b_end(s)->pulls, 0);
        CHECK(is_fill(fixture_b(s, 0), LEN, 0xa5));
        CHECK(!cq_poll(&s->bcq, &(Wc) { 0 }));
        CHECK(!a_end(s)->broken && !b_end(s)->broken);
        fixture_free(s);
    }
}

TEST_OWN_WIRES(memory_granted_by_a_queue_pair_that_is_gone_is_not_copied)
{
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, 8192, true);
    Wr wr = fixture_read(s, 0, 0, LEN);

    memset(fixture_a(s, 0), 0x5a, LEN);
    qp_send(&s->aqp, &wr);
    to_b(s);
    CHECK_EQ(qp_destroy(&s->bqp), 0);
    settle(s);
    CHECK_EQ(a_end(s)->pulls, 0);
    CHECK(is_fill(fixture_a(s, 0), LEN, 0x5a));
    fixture_free(s);
}

TEST_OWN_WIRES(memory_of_a_region_revoked_by_its_guest_is_not_copied)
{
    for (unsigned way = 0; way < 4; way++) {
        for (unsigned i = 0; i < 2; i++) {
            Fixture *s = waiting_fixture();
            Region r = region_new(s);

            send_region(&r, pushes[i]);
            ways[way](&r);
            memset(fixture_a(s, 0), 0xee, LEN);
            settle(s);
            CHECK_EQ(b_end(s)->pulls, 0);
            CHECK(is_fill(fixture_b(s, 0), LEN, 0xa5));
            CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SEND_STAG);
            CHECK(!cq_poll(&s->bcq, &(Wc) { 0 }));
            CHECK(!a_end(s)->broken && !b_end(s)->broken);
            CHECK(anew(s, LEN));
            fixture_free(s);
        }
    }
}

TEST_OWN_WIRES(data_granted_from_a_region_that_was_revoked_fails_the_read)
{
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, 8192, true);
    Wr wr = fixture_read(s, 0, 0, LEN);

    memset(fixture_a(s, 0), 0x5a, LEN);
    qp_send(&s->aqp, &wr);
    to_b(s);
    CHECK_EQ(mr_dereg(s->b, s->bkey), 0);
    settle(s);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RECV_STAG);
    CHECK(is_fill(fixture_a(s, 0), LEN, 0x5a));
    CHECK(!a_end(s)->broken && !b_end(s)->broken);
    fixture_free(s);
}

/* ---- while it is copied ---- */

/* What follows from these hooks is not delivered inside of them */
static void pull_revokes(WireEnd *e)
{
    Region *r = e->on_pull_arg;

    r->s->hosts.slow = true;
    by_dereg(r);
}

static void pull_destroys(WireEnd *e)
{
    Qp *qp = e->on_pull_arg;

    qp->card->hosts->slow = true;
    CHECK_EQ(qp_destroy(qp), 0);
}

TEST_OWN_WIRES(region_revoked_while_it_is_copied_fails_the_request)
{
    for (unsigned i = 0; i < 2; i++) {
        Fixture *s = waiting_fixture();
        Region r = region_new(s);

        send_region(&r, pushes[i]);
        b_end(s)->on_pull = pull_revokes;
        b_end(s)->on_pull_arg = &r;
        settle(s);                      /* until the hook */
        settle(s);
        CHECK(b_end(s)->pulls);
        CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SEND_STAG);
        CHECK(!cq_poll(&s->bcq, &(Wc) { 0 }));
        CHECK(!a_end(s)->broken && !b_end(s)->broken);
        fixture_free(s);
    }
}

TEST_OWN_WIRES(queue_pair_destroyed_while_its_data_is_copied_delivers_nothing)
{
    Fixture *s = waiting_fixture();
    Wr wr = fixture_send(s, 0, LEN);

    s->hosts.slow = true;
    qp_send(&s->aqp, &wr);
    b_end(s)->on_pull = pull_destroys;
    b_end(s)->on_pull_arg = &s->aqp;
    settle(s);                      /* until the hook */
    settle(s);
    CHECK(b_end(s)->pulls);
    CHECK(!cq_poll(&s->bcq, &(Wc) { 0 }));
    CHECK(!a_end(s)->broken && !b_end(s)->broken);
    fixture_free(s);
}

TEST_OWN_WIRES(queue_pair_destroyed_while_it_is_read_completes_no_read)
{
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, 8192, true);
    Wr wr = fixture_read(s, 0, 0, LEN);

    qp_send(&s->aqp, &wr);
    a_end(s)->on_pull = pull_destroys;
    a_end(s)->on_pull_arg = &s->bqp;
    settle(s);                      /* until the hook */
    settle(s);
    CHECK(a_end(s)->pulls);
    CHECK(!cq_poll(&s->acq, &(Wc) { 0 }));
    hosts_advance(&s->hosts, 10 * SECOND);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_RETRY_EXC);
    fixture_free(s);
}

/* ---- nothing else is refused ---- */

TEST_OWN_WIRES(region_that_is_mapped_anew_is_good_again)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 16384, true, NULL);
    Region r = region_new(s);

    for (unsigned i = 0; i < 20; i++) {
        memset(fixture_a(s, 0), i, LEN);
        send_region(&r, ERDMA_OP_WRITE);
        settle(s);
        CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
        CHECK(is_fill(fixture_b(s, 0), LEN, i));
        by_local_inv(&r);
        r.key = map_frmr(s, r.key & ~0xffu);
    }
    fixture_free(s);
}

/* Another region of the card is revoked: no matter */
TEST_OWN_WIRES(region_that_is_revoked_is_no_matter_to_others)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 16384, true, NULL);
    Region one = region_new(s), two = region_new(s);

    send_region(&two, ERDMA_OP_WRITE);
    settle(s);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    send_region(&one, ERDMA_OP_WRITE);
    by_local_inv(&two);
    by_dereg(&two);
    settle(s);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    fixture_free(s);
}

/* One WRITE out of two regions whose memory has no gap between them */
TEST_OWN_WIRES(neighbours_of_two_regions_are_compared_each)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 16384, true, NULL);
    uint32_t one = mr_reg(s->a, s->abuf, s->abuf, LEN, ALL_RIGHTS);
    uint32_t two = mr_reg(s->a, s->abuf + LEN, s->abuf + LEN, LEN, ALL_RIGHTS);
    Wr wr = fixture_write(s, 0, 0, LEN);

    wr.nsge = 2;
    wr.sge[0].key = one;
    wr.sge[1] = (Sge) { s->abuf + LEN, LEN, two };
    qp_send(&s->aqp, &wr);
    hosts_run(&s->hosts);
    CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
    s->hosts.slow = true;
    qp_send(&s->aqp, &wr);
    CHECK_EQ(mr_dereg(s->a, one), 0);
    settle(s);
    CHECK_EQ(cq_expect(&s->acq).syndrome, ERDMA_WC_SEND_STAG);
    fixture_free(s);
}

/* Half of the table is for regions; what is of others goes as bytes */
TEST_OWN_WIRES(regions_beyond_the_table_are_not_named)
{
    Fixture *s = fixture_new_wired(WIRE_MODE_SHARED, 8192, true, NULL);
    const unsigned slots = sizeof(s->hosts.alive[0]) / sizeof(uint32_t) / 2;
    Wr wr = fixture_write(s, 0, 0, LEN);
    uint32_t key[3000];

    CHECK(slots < 2000);
    for (unsigned round = 0; round < 2; round++) {
        unsigned long pulls = 0;

        for (unsigned i = 0; i < slots + 20; i++) {
            key[i] = mr_reg(s->a, s->abuf, s->abuf, 8192, ALL_RIGHTS);
            wr.sge[0].key = key[i];
            pulls = b_end(s)->pulls;
            qp_send(&s->aqp, &wr);
            hosts_run(&s->hosts);
            CHECK_EQ(cq_expect(&s->acq).syndrome, 0);
            CHECK((b_end(s)->pulls > pulls) == (i < slots));
        }
        for (unsigned i = 0; i < slots + 20; i++) {
            CHECK_EQ(mr_dereg(s->a, key[i]), 0);
        }
    }
    fixture_free(s);
}
