/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Three connections between two processes, anything posted at both ends in any
 * order, and one of the processes dies at any moment: nobody may wait for ever.
 * --seeds=N: so many sequences.
 */
#include <stdlib.h>

#include "two_hosts.h"

#define PAIRS       3u
#define ENDS        (2 * PAIRS)
#define STEPS       80u
#define BUFFER      65536u
#define RQ_MAX      60u         /* posted in all: no ring wraps */
#define SQ_MAX      56u

typedef struct End {
    Qp *qp;
    uint64_t own, peer;         /* buffers */
    uint32_t own_key, peer_key;
    unsigned recvs, ended;      /* posted; with a completion */
} End;

typedef struct Chaos {
    Fixture *s;
    uint32_t seed;
    Cq cq[2];
    Qp qp[ENDS];
    End end[ENDS];
} Chaos;

static unsigned seeds = 200;

static bool option_seeds(const char *value)
{
    char *end;

    seeds = strtoul(value, &end, 10);
    return seeds && !*end;
}

__attribute__((constructor)) static void seeds_register(void)
{
    tap_option("--seeds=", option_seeds);
}

static uint32_t any(Chaos *c, uint32_t n)
{
    c->seed = c->seed * 1664525 + 1013904223;
    return (c->seed >> 8) % n;
}

static Chaos *chaos_new(uint32_t seed)
{
    Chaos *c = calloc(1, sizeof(*c));
    Fixture *s = fixture_new_wired(modes[seed % 2], BUFFER, false, NULL);

    c->s = s;
    c->seed = seed * 7919;
    cq_init(&c->cq[0], s->a, 1024, 1);
    cq_init(&c->cq[1], s->b, 1024, 1);
    for (unsigned i = 0; i < ENDS; i++) {
        bool b = i % 2;

        qp_init(&c->qp[i], b ? s->b : s->a, &c->cq[i % 2], QUEUE_KERNEL);
        c->end[i] = (End) {
            .qp = &c->qp[i],
            .own = b ? s->bbuf : s->abuf, .own_key = b ? s->bkey : s->akey,
            .peer = b ? s->abuf : s->bbuf, .peer_key = b ? s->akey : s->bkey,
        };
    }
    for (unsigned i = 0; i < ENDS; i += 2) {
        qp_connect(&c->qp[i], &c->qp[i + 1]);
    }
    hosts_run(&s->hosts);
    s->hosts.slow = true;
    a_end(s)->keep = any(c, 2);
    b_end(s)->keep = any(c, 2);
    return c;
}

static void chaos_free(Chaos *c)
{
    cq_free(&c->cq[0]);
    cq_free(&c->cq[1]);
    fixture_free(c->s);
    free(c);
}

static void post_send(Chaos *c, End *e)
{
    static const uint8_t ops[] = {
        ERDMA_OP_SEND, ERDMA_OP_SEND, ERDMA_OP_SEND_IMM, ERDMA_OP_WRITE,
        ERDMA_OP_WRITE_IMM, ERDMA_OP_READ, ERDMA_OP_ATOMIC_FAA,
    };
    Wr wr = {
        .opcode = ops[any(c, sizeof(ops))], .nsge = 1,
        .unsignaled = any(c, 2), .solicited = !any(c, 4), .fence = !any(c, 4),
        .sge = { { e->own, any(c, 4) ? any(c, 500) : any(c, BUFFER),
                   e->own_key } },
        .raddr = e->peer, .rkey = e->peer_key,
    };

    if (wr.opcode == ERDMA_OP_ATOMIC_FAA) {
        wr.sge[0].len = 8;
    }
    if (e->qp->sq_pi < SQ_MAX) {
        qp_post(e->qp, &wr);
        if (any(c, 3)) {
            qp_ring(e->qp);
        }
    }
}

static void post_recv(End *e)
{
    if (e->recvs < RQ_MAX) {
        qp_recv(e->qp, e->own, BUFFER, e->own_key);
        e->recvs++;
    }
}

static void take_completions(Chaos *c)
{
    Wc wc;

    for (unsigned i = 0; i < 2; i++) {
        while (cq_poll(&c->cq[i], &wc)) {
            for (unsigned k = i; k < ENDS; k += 2) {
                c->end[k].ended += wc.qpn == c->qp[k].qpn &&
                                   wc.qtype == ERDMA_CQE_QTYPE_RQ;
            }
        }
    }
}

static void run_one(Card *card)
{
    if (card->f.kicked) {
        card->f.kicked = false;
        erdma_core_run(card->core);
    }
}

static void step(Chaos *c)
{
    Hosts *hosts = &c->s->hosts;
    End *e = &c->end[any(c, ENDS)];
    WireEnd *w = &hosts->wire[0].end[any(c, 2)];

    switch (any(c, 8)) {
    case 0:
    case 1:
    case 2:
        post_send(c, e);
        break;
    case 3:
        post_recv(e);
        break;
    case 4:
        wire_end_deliver(w);
        break;
    case 5:
        wire_end_deliver_one(w);
        break;
    case 6:
        run_one(any(c, 2) ? c->s->a : c->s->b);
        break;
    default:
        hosts_advance(hosts, any(c, 200) * (SECOND / 1000));
        break;
    }
}

static void check_all_ended(Chaos *c)
{
    c->s->hosts.slow = false;
    for (unsigned i = 0; i < 3; i++) {
        hosts_run(&c->s->hosts);
        hosts_advance(&c->s->hosts, 11 * SECOND);
    }
    take_completions(c);
    for (unsigned i = 0; i < ENDS; i++) {
        CHECK_EQ(c->end[i].ended, c->end[i].recvs);
    }
    expect_no_timer(c->s->a);
    expect_no_timer(c->s->b);
}

TEST_OWN_WIRES(process_that_dies_leaves_nobody_waiting)
{
    for (uint32_t n = 1; n <= seeds; n++) {
        Chaos *c = chaos_new(n);

        for (unsigned i = any(c, STEPS); i; i--) {
            step(c);
        }
        for (unsigned i = 0; i < ENDS; i++) {   /* each waits for something */
            if (!c->end[i].recvs || any(c, 2)) {
                post_recv(&c->end[i]);
            }
        }
        kill_wire(c->s);
        if (any(c, 2)) {
            post_send(c, &c->end[any(c, ENDS)]);
        }
        check_all_ended(c);
        chaos_free(c);
    }
}
