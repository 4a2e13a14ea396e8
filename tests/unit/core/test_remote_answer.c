/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ACKs that are coalesced, and those that are not. */
#include "two_hosts.h"
#include "peer_fixture.h"

static Fixture *lingering_fixture(void)
{
    Fixture *s = slow_fixture(WIRE_MODE_SHARED, 65536, true);

    a_end(s)->keep = b_end(s)->keep = true;
    return s;
}

static void post(Fixture *s, bool unsignaled)
{
    Wr wr = fixture_write(s, 0, 0, 8);

    wr.unsignaled = unsignaled;
    qp_send(&s->aqp, &wr);
}

static void post_back(Fixture *s)
{
    Wr wr = {
        .opcode = ERDMA_OP_WRITE, .nsge = 1, .sge = { { s->bbuf, 8, s->bkey } },
        .raddr = s->abuf, .rkey = s->akey,
    };

    qp_send(&s->bqp, &wr);
}

/* Two turns, as a ping and a pong */
static void ping_pong(Fixture *s)
{
    for (unsigned i = 0; i < 2; i++) {
        post(s, false);
        to_b(s);
        post_back(s);
        to_a(s);
    }
}

TEST_OWN_WIRES(answer_that_somebody_waits_for_goes_at_once)
{
    Fixture *s = lingering_fixture();

    post(s, false);
    to_b(s);
    CHECK_EQ(waiting(a_end(s), WIRE_ACK), 1);
    CHECK(!b_end(s)->lingers);
    settle(s);
    fixture_free(s);
}

/* What is in flight before it is nobody's business */
TEST_OWN_WIRES(request_says_that_the_guest_waits_for_it)
{
    Fixture *s = lingering_fixture();

    post(s, true);
    to_b(s);
    CHECK_EQ(waiting(a_end(s), WIRE_ACK), 1);   /* on its way for long */
    post(s, false);
    to_b(s);
    CHECK_EQ(waiting(a_end(s), WIRE_ACK), 2);
    settle(s);
    fixture_free(s);
}

/* Its window would be full, and it would be nobody's fault */
TEST_OWN_WIRES(peer_that_never_waits_is_answered_all_the_same)
{
    PeerFixture *l = peer_connected();
    unsigned answered = 0;

    l->e->keep = true;
    for (unsigned i = 0; i < 2 * WIRE_WINDOW; i++) {
        peer_send_request(l, peer_request(l, i, ERDMA_OP_WRITE, 0));
        CHECK(!l->e->broken);
        answered += peer_receive(l, NULL, 0) == WIRE_ACK;
    }
    CHECK_EQ(answered, 2 * WIRE_WINDOW / 32);
    peer_free(l);
}

/* The data of a READ acknowledged what the peer waited for */
TEST_OWN_WIRES(answer_behind_a_read_may_wait)
{
    Fixture *s = lingering_fixture();
    Wr read = fixture_read(s, 0, 64, 8), write = fixture_write(s, 0, 0, 8);

    write.unsignaled = true;
    qp_post(&s->aqp, &read);
    qp_post(&s->aqp, &write);
    qp_ring(&s->aqp);
    to_b(s);
    CHECK_EQ(waiting(a_end(s), WIRE_READ_DATA), 1);
    to_a(s);
    to_b(s);                                    /* the WRITE waited for it */
    CHECK_EQ(waiting(a_end(s), WIRE_ACK), 0);
    CHECK(b_end(s)->lingers);
    CHECK(wire_end_settle(b_end(s)));
    CHECK_EQ(waiting(a_end(s), WIRE_ACK), 1);
    settle(s);
    CHECK_EQ(ends(&s->acq, ERDMA_CQE_QTYPE_SQ).good, 1);
    fixture_free(s);
}

TEST_OWN_WIRES(answers_go_along_when_two_take_turns)
{
    Fixture *s = lingering_fixture();

    ping_pong(s);
    post(s, false);
    to_b(s);
    CHECK_EQ(waiting(a_end(s), 0), 0);          /* it waits for the pong */
    CHECK(b_end(s)->lingers);
    post_back(s);
    CHECK_EQ(waiting(a_end(s), WIRE_REQUEST), 1);
    CHECK_EQ(waiting(a_end(s), WIRE_ACK), 1);
    to_a(s);
    CHECK_EQ(ends(&s->acq, ERDMA_CQE_QTYPE_SQ).good, 3);
    settle(s);
    fixture_free(s);
}

/* The pong comes later than the answer can wait: no more waiting for it */
TEST_OWN_WIRES(answer_that_waited_in_vain_does_not_wait_again)
{
    Fixture *s = lingering_fixture();

    ping_pong(s);
    post(s, false);
    to_b(s);
    CHECK(wire_end_settle(b_end(s)));
    CHECK_EQ(waiting(a_end(s), WIRE_ACK), 1);
    post_back(s);
    to_a(s);
    CHECK_EQ(ends(&s->acq, ERDMA_CQE_QTYPE_SQ).good, 3);
    post(s, false);
    to_b(s);
    CHECK_EQ(waiting(a_end(s), WIRE_ACK), 1);
    settle(s);
    fixture_free(s);
}

/* The first is answered, because others may wait behind it; then one of 32 */
TEST_OWN_WIRES(stream_that_nobody_waits_for_is_answered_now_and_then)
{
    Fixture *s = lingering_fixture();
    unsigned acks = 0;

    for (unsigned i = 0; i < 20; i++) {
        Wr wr = fixture_write(s, 0, 0, 8);

        wr.unsignaled = true;
        for (unsigned k = 0; k < 16; k++) {
            qp_post(&s->aqp, &wr);
        }
        qp_ring(&s->aqp);
        while (wire_end_deliver(b_end(s))) {
            acks += waiting(a_end(s), WIRE_ACK);
            to_a(s);
        }
    }
    CHECK(acks >= 10);
    CHECK(acks <= 21);
    post(s, false);
    settle(s);
    CHECK_EQ(ends(&s->acq, ERDMA_CQE_QTYPE_SQ).good, 1);
    CHECK_EQ(counters(s->a).retry_exceeded, 0);
    fixture_free(s);
}

TEST_OWN_WIRES(answer_that_waits_goes_with_its_connection)
{
    Fixture *s = lingering_fixture();

    ping_pong(s);
    post(s, false);
    to_b(s);
    CHECK_EQ(qp_destroy(&s->bqp), 0);   /* acknowledges before it closes */
    to_a(s);
    CHECK_EQ(ends(&s->acq, ERDMA_CQE_QTYPE_SQ).good, 3);
    settle(s);
    fixture_free(s);

    s = lingering_fixture();                    /* the peer goes first */
    ping_pong(s);
    post(s, false);
    to_b(s);
    CHECK_EQ(qp_destroy(&s->aqp), 0);
    to_b(s);
    CHECK_EQ(qp_destroy(&s->bqp), 0);
    CHECK(wire_end_settle(b_end(s)));
    CHECK_EQ(waiting(a_end(s), WIRE_ACK), 0);
    settle(s);
    fixture_free(s);

    s = lingering_fixture();
    ping_pong(s);
    post(s, false);
    to_b(s);
    kill_wire(s);
    wire_end_settle(b_end(s));
    hosts_advance(&s->hosts, 11 * SECOND);
    CHECK_EQ(ends(&s->acq, ERDMA_CQE_QTYPE_SQ).retry, 1);
    fixture_free(s);
}
