/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fixture of two processes. */
#include "two_hosts.h"

const WireMode modes[2] = { WIRE_MODE_SHARED, WIRE_MODE_BYTES };

WireEnd *a_end(Fixture *s)
{
    return &s->hosts.wire[0].end[0];
}

WireEnd *b_end(Fixture *s)
{
    return &s->hosts.wire[0].end[1];
}

unsigned waiting(const WireEnd *e, unsigned type)
{
    unsigned n = 0;
    WireHdr h;

    for (size_t at = 0; at + sizeof(h) <= e->len; at += le32toh(h.len)) {
        memcpy(&h, e->buf + at, sizeof(h));
        n += !type || h.type == type;
    }
    return n;
}

Fixture *slow_fixture(WireMode mode, uint64_t size, bool connected)
{
    Fixture *s = fixture_new_wired(mode, size, connected, NULL);

    s->hosts.slow = true;
    return s;
}

void settle(Fixture *s)
{
    s->hosts.slow = false;
    hosts_run(&s->hosts);
}

void to_b(Fixture *s)
{
    wire_end_deliver(b_end(s));
}

void to_a(Fixture *s)
{
    wire_end_deliver(a_end(s));
}

void deliver_all(WireEnd *e)
{
    while (wire_end_deliver(e)) {
    }
}

static void run_cards(Fixture *s)
{
    for (unsigned i = 0; i < 2; i++) {
        FakeCard *f = &s->hosts.card[i].f;

        if (f->kicked) {
            f->kicked = false;
            erdma_core_run(f->core);
        }
    }
}

bool deliver_some(Fixture *s, unsigned n)
{
    for (unsigned i = 0; i < n;) {
        unsigned before = i;

        i += wire_end_deliver_one(a_end(s));
        if (i < n) {
            i += wire_end_deliver_one(b_end(s));
        }
        run_cards(s);
        if (i == before && !s->a->f.kicked && !s->b->f.kicked) {
            return false;
        }
    }
    return true;
}

void kill_wire(Fixture *s)
{
    wire_pair_free(&s->hosts.wire[0]);
    s->hosts.wires = 0;
}

void new_wire(Fixture *s)
{
    s->hosts.wires = 1;
    hosts_join(&s->hosts, 0, 0, 1);
    hosts_deliver(&s->hosts);
}

bool works(Fixture *s, Qp *a, Qp *b, uint32_t len)
{
    Wr wr = fixture_send(s, 0, len);
    Wc wc;

    qp_recv(b, s->bbuf, len, s->bkey);
    qp_send(a, &wr);
    hosts_run(&s->hosts);
    return cq_poll(a->scq, &wc) && !wc.syndrome && wc.qpn == a->qpn &&
           cq_poll(b->rcq, &wc) && !wc.syndrome && wc.qpn == b->qpn;
}

bool anew(Fixture *s, uint32_t len)
{
    Qp a, b;

    qp_init(&a, s->a, &s->acq, QUEUE_KERNEL);
    qp_init(&b, s->b, &s->bcq, QUEUE_KERNEL);
    qp_connect(&a, &b);
    hosts_run(&s->hosts);
    return works(s, &a, &b, len);
}

Ends ends(Cq *cq, uint32_t qtype)
{
    Ends n = { 0 };
    Wc wc;

    while (cq_poll(cq, &wc)) {
        if (wc.qtype != qtype) {
            continue;
        }
        switch (wc.syndrome) {
        case ERDMA_WC_SUCCESS:
            CHECK(!n.retry && !n.flushed);
            n.good++;
            break;
        case ERDMA_WC_RETRY_EXC:
            CHECK(!n.flushed);
            n.retry++;
            break;
        case ERDMA_WC_FLUSHED:
            n.flushed++;
            break;
        default:
            n.other++;
            break;
        }
    }
    return n;
}
