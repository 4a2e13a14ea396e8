/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A driver and its applications in miniature: what the card's tests are written
 * in. Hosts is a set of hosts and cards on one fabric.
 *
 * Requests are built over garbage, as real drivers leave it in slots.
 */
#ifndef ERDMA_TESTS_GUEST_H
#define ERDMA_TESTS_GUEST_H

#include <endian.h>
#include <string.h>

#include "erdma/erdma_field.h"
#include "erdma/erdma_hw.h"
#include "erdma/erdma_ring.h"
#include "fakehost.h"
#include "fakewire.h"
#include "tap.h"

/* TapCase.tag: not run again when each card is a process */
#define CASE_OWN_WIRES  1u
#define TEST_ONE_PROCESS(id) TEST_CASE(id, CASE_OWN_WIRES)  /* about one */
#define TEST_OWN_WIRES(id) TEST_CASE(id, CASE_OWN_WIRES)    /* has its own */

#define MAX_CARDS   3
#define PD          3u
#define ALL_RIGHTS  ERDMA_RIGHT_ALL

typedef struct Eq {
    uint64_t addr;
    uint32_t depth;
    uint16_t ci;
} Eq;

typedef struct Card {
    FakeCard f;
    FakeHost *h;
    ErdmaCore *core;
    ErdmaConfig cfg;
    struct Hosts *hosts;
    /* command queue */
    uint64_t sq, cq;
    uint32_t depth, blocks;     /* blocks per slot: 2 or 4 */
    uint16_t sq_pi;
    uint32_t cq_ci;
    uint8_t arm_sn;
    uint8_t garbage;            /* fills what a request leaves undefined */
    Eq eq[32];                  /* 0 = command EQ */
    Eq aeq;
    uint32_t next_qpn, next_cqn, next_mr;
} Card;

typedef struct Hosts {
    FakeHost host[MAX_CARDS];
    ErdmaFabric *fabric;        /* of the first card */
    ErdmaFabric *more[MAX_CARDS];       /* with wires: one per card */
    WirePair wire[MAX_CARDS];   /* between cards 0-1, 0-2, 1-2 */
    uint32_t alive[MAX_CARDS][2048];    /* what they show each other */
    unsigned wires;
    bool slow;                  /* wires deliver only on request */
    Card card[MAX_CARDS];
    unsigned hosts, cards;
    uint16_t next_port;
} Hosts;

typedef struct Cq {
    Card *card;
    uint32_t cqn, depth, eqn;
    uint64_t addr;              /* of a contiguous ring */
    uint64_t *page;             /* of a scattered one, 4 KiB pages */
    uint32_t ci;
    uint8_t idx, cmdsn;
} Cq;

typedef struct Wc {
    uint32_t opcode, qtype, syndrome, qe_idx, qpn, imm, size;
} Wc;

typedef enum QueueKind {
    QUEUE_KERNEL,               /* one contiguous "page" of 1 MiB */
    QUEUE_INLINE,               /* up to 4 scattered pages in the command */
    QUEUE_TABLE,                /* table of scattered pages */
} QueueKind;

typedef struct QpOpt {
    QueueKind kind;
    uint32_t sq_depth, rq_depth;
    uint32_t pd, qpn;
    Cq *scq, *rcq;
    bool db_assoc;
    uint16_t sdb, rdb, cdb;
} QpOpt;

typedef struct Qp {
    Card *card;
    uint32_t qpn, sq_depth, rq_depth, cookie;
    QueueKind kind;
    uint64_t sq_page[264], rq_page[264];
    uint32_t nsq, nrq;
    uint16_t sq_pi, rq_pi;
    Cq *scq, *rcq;
    uint64_t sq_db, rq_db;      /* where its doorbells are */
} Qp;

typedef struct Sge {
    uint64_t addr;
    uint32_t len;
    uint32_t key;
} Sge;

/* A send request in the words of a consumer */
typedef struct Wr {
    uint8_t opcode;
    bool unsignaled, solicited, fence, is_inline;
    uint32_t imm;               /* as the 4 bytes lie in memory, LE */
    uint64_t raddr;
    uint32_t rkey;
    Sge sge[8];
    unsigned nsge;
    const void *data;           /* inline */
    unsigned data_len;
    uint64_t swap_add, compare;
    /* REG_MR */
    uint64_t page[4];
    uint32_t npages;
    uint32_t rights;
    bool table;
    /* deliberate mistakes */
    int blocks_delta;
    int length_delta;
} Wr;

/* ---- hosts ---- */

void hosts_init(Hosts *b, unsigned hosts, unsigned cards);
void hosts_init_cfg(Hosts *b, unsigned hosts, unsigned cards,
                    void (*tweak)(ErdmaConfig *cfg));
/* The same with a wire between each two cards, unless @mode is OFF */
void hosts_init_wired(Hosts *b, unsigned hosts, unsigned cards,
                      void (*tweak)(ErdmaConfig *cfg), WireMode mode);
/* Wire number @n, between cards @i and @k */
void hosts_join(Hosts *b, unsigned n, unsigned i, unsigned k);
void hosts_free(Hosts *b);
/* Deliver all that is on the wires and all that follows from it */
void hosts_deliver(Hosts *b);
/* Let everything that was kicked run until nothing is left */
void hosts_run(Hosts *b);
void hosts_advance(Hosts *b, uint64_t ns);
ErdmaCounters counters(Card *c);

/* ---- card ---- */

void card_write32(Card *c, uint64_t off, uint32_t v);
void card_write64(Card *c, uint64_t off, uint64_t v);
uint32_t card_read32(Card *c, uint64_t off);
/* Registers and INIT only */
void card_start(Card *c, uint32_t blocks);
/* The same and @ceqs event queues */
void card_up(Card *c, uint32_t blocks, unsigned ceqs);
/* Post one command; not rung */
uint16_t card_post_cmd(Card *c, unsigned submod, unsigned opcode,
                       const void *req, size_t len);
void card_ring_cmd(Card *c);
/* Next command completion; false: none */
bool card_poll_cmd(Card *c, struct erdma_cqe *cqe);
/* Post, ring, wait: the syndrome */
unsigned card_cmd(Card *c, unsigned submod, unsigned opcode, const void *req,
                  size_t len, uint64_t *resp0, uint64_t *resp1);
void card_arm_cmd(Card *c);

#define CMD_RDMA(c, op, req) \
    card_cmd(c, ERDMA_SUBMOD_RDMA, op, &(req), sizeof(req), NULL, NULL)
#define CMD_COMMON(c, op, req) \
    card_cmd(c, ERDMA_SUBMOD_COMMON, op, &(req), sizeof(req), NULL, NULL)

unsigned eq_create(Card *c, unsigned eqn, unsigned depth_log);
/* Next event; false: none. @word1 may be NULL. */
bool eq_poll(Card *c, Eq *eq, uint64_t *word0, uint64_t *word1);
void ceq_arm(Card *c, unsigned eqn);
void aeq_arm(Card *c);

/* ---- objects ---- */

void cq_init(Cq *cq, Card *c, uint32_t depth, uint32_t eqn);
/* 4 KiB pages, scattered, by table */
void cq_init_user(Cq *cq, Card *c, uint32_t depth, uint32_t eqn);
void cq_free(Cq *cq);
unsigned cq_destroy(Cq *cq);
bool cq_poll(Cq *cq, Wc *wc);
/* Poll one that must be there */
Wc cq_expect(Cq *cq);
void cq_arm(Cq *cq, bool solicited);
struct erdma_cqe *cq_entry(Cq *cq, uint32_t index);

typedef struct MrOpt {
    uint32_t index, key, pd, rights, type;
    uint64_t va, len;
    unsigned page_shift;        /* 12 if 0 */
    unsigned level;
    const uint64_t *page;       /* entries */
    uint32_t npages;
    bool version1;
    uint64_t table;             /* used as is if not 0 */
} MrOpt;

/* Register as @o says; syndrome. Tables are built in guest memory. */
unsigned mr_reg_opt(Card *c, const MrOpt *o);
/* Contiguous buffer of @len bytes at bus address @addr, va = @va; the STag */
uint32_t mr_reg(Card *c, uint64_t va, uint64_t addr, uint64_t len,
                uint32_t rights);
uint32_t mr_dma(Card *c, uint32_t pd, uint32_t rights);
uint32_t mr_frmr(Card *c, uint32_t capacity, uint64_t *table);
unsigned mr_dereg(Card *c, uint32_t stag);

unsigned qp_try(Qp *qp, Card *c, const QpOpt *o);
void qp_init(Qp *qp, Card *c, Cq *cq, QueueKind kind);
void qp_init_opt(Qp *qp, Card *c, const QpOpt *o);
unsigned qp_destroy(Qp *qp);
unsigned qp_modify(Qp *qp, unsigned state);
unsigned qp_reflush(Qp *qp);
struct erdma_cmd_modify_qp qp_rts_cmd(const Qp *qp, const Qp *peer,
                                      uint16_t port, bool active);
unsigned qp_rts(Qp *qp, const Qp *peer, uint16_t port, bool active);
/* Both ends, passive first */
void qp_connect(Qp *active, Qp *passive);
/* Write the request into the ring; index of its first block */
uint16_t qp_post(Qp *qp, const Wr *wr);
void qp_ring(Qp *qp);
uint16_t qp_send(Qp *qp, const Wr *wr);         /* post and ring */
void qp_post_recv(Qp *qp, uint64_t addr, uint32_t len, uint32_t key);
void qp_ring_recv(Qp *qp);
void qp_recv(Qp *qp, uint64_t addr, uint32_t len, uint32_t key);
/* Bytes of the send ring at block @index */
void *qp_block(Qp *qp, uint16_t index);
void *qp_rqe(Qp *qp, uint16_t index);
uint64_t sq_db_value(const Qp *qp, uint16_t pi);
uint64_t rq_db_value(const Qp *qp, uint16_t pi);

/* ---- the usual fixture: two connected QPs with a buffer each ---- */

typedef struct Fixture {
    Hosts hosts;
    Card *a, *b;
    Cq acq, bcq;
    Qp aqp, bqp;
    uint64_t abuf, bbuf;        /* bus address == va */
    uint64_t size;
    uint32_t akey, bkey;
} Fixture;

/* @cards 1: both ends on one card; 2: two cards, two hosts */
Fixture *fixture_new(unsigned cards, QueueKind kind, uint64_t size);
Fixture *fixture_new_cfg(unsigned cards, QueueKind kind, uint64_t size,
                         void (*tweak)(ErdmaConfig *cfg));
/* Not connected yet */
Fixture *fixture_new_idle(unsigned cards, QueueKind kind, uint64_t size,
                          void (*tweak)(ErdmaConfig *cfg));
/* Two hosts, a process each, wires as @mode says; connected or not */
Fixture *fixture_new_wired(WireMode mode, uint64_t size, bool connected,
                           void (*tweak)(ErdmaConfig *cfg));
void fixture_free(Fixture *s);
uint8_t *fixture_a(Fixture *s, uint64_t off);
uint8_t *fixture_b(Fixture *s, uint64_t off);
Wr fixture_write(Fixture *s, uint64_t aoff, uint64_t boff, uint32_t len);
Wr fixture_send(Fixture *s, uint64_t aoff, uint32_t len);
Wr fixture_read(Fixture *s, uint64_t aoff, uint64_t boff, uint32_t len);
void fixture_recv(Fixture *s, uint64_t boff, uint32_t len);
void pattern(uint8_t *p, size_t len, unsigned seed);
bool is_pattern(const uint8_t *p, size_t len, unsigned seed);
bool is_fill(const uint8_t *p, size_t len, uint8_t value);
/* Both ends: AEQE with this type for the QP must be next */
void expect_aeqe(Card *c, unsigned type, uint32_t object);
void expect_no_aeqe(Card *c);
/* Nothing is waited for. With wires a timer may be early: then look again. */
void expect_no_timer(Card *c);

#endif /* ERDMA_TESTS_GUEST_H */
