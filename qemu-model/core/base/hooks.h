/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the card asks faults and meters at the places where one can strike. What
 * a fault is inside: fault.h.
 */
#ifndef ERDMA_FAULT_INT_H
#define ERDMA_FAULT_INT_H

#include "qp_int.h"

typedef struct ErdmaCmd ErdmaCmd;

/* ---- faults (fault*.c), meters (shaper.c) ---- */

/* Where faults strike. ErdmaCore.points has those with a fault, mostly none. */
enum {
    ERDMA_POINT_COMMAND = 1 << 0,
    ERDMA_POINT_MAGIC = 1 << 1,         /* of a response in memory */
    ERDMA_POINT_CQE = 1 << 2,
    ERDMA_POINT_CEQE = 1 << 3,
    ERDMA_POINT_AEQE = 1 << 4,
    ERDMA_POINT_CMDEQE = 1 << 5,
    ERDMA_POINT_EVENTS =
        ERDMA_POINT_CEQE | ERDMA_POINT_AEQE | ERDMA_POINT_CMDEQE,
    ERDMA_POINT_IRQ = 1 << 6,
    ERDMA_POINT_PAYLOAD = 1 << 7,       /* bytes being written */
    ERDMA_POINT_MESSAGE = 1 << 8,       /* a request about to start */
    ERDMA_POINT_CMDQ = 1 << 9,
    ERDMA_POINT_SQ = 1 << 10,
    ERDMA_POINT_RQ = 1 << 11,
    ERDMA_POINT_CEQ = 1 << 12,
    ERDMA_POINT_AEQ = 1 << 13,
    ERDMA_POINT_CQ = 1 << 14,
    ERDMA_POINT_REGISTER = 1 << 15,
    ERDMA_POINT_NETWORK = 1 << 16,      /* link down, silent peer */
    ERDMA_POINT_LOSS = 1 << 17,
    ERDMA_POINT_LATENCY = 1 << 18,
    ERDMA_POINT_REMOVE = 1 << 19,
    ERDMA_POINT_METER = 1 << 20,        /* not a fault: a limit is set */
    ERDMA_POINT_TWICE = 1 << 21,        /* a request that has arrived */
    ERDMA_POINT_GATES =
        ERDMA_POINT_MESSAGE | ERDMA_POINT_SQ | ERDMA_POINT_NETWORK |
        ERDMA_POINT_LOSS | ERDMA_POINT_LATENCY | ERDMA_POINT_METER,
};

typedef struct ErdmaFaults ErdmaFaults;

#define erdma_fault_at(c, point) \
    __builtin_expect(((c)->points & (point)) != 0, 0)

/* Each stands behind erdma_fault_at(). True: a fault took it over. */
bool erdma_fault_command(ErdmaCore *c, const ErdmaCmd *cmd,
                         struct erdma_cqe *cqe, unsigned *flags);
bool erdma_fault_cqe(ErdmaCq *cq, struct erdma_cqe *cqe, unsigned *flags);
bool erdma_fault_event(ErdmaCore *c, ErdmaEq *eq, uint64_t *word0,
                       uint64_t word1, unsigned *flags);
bool erdma_fault_irq(ErdmaCore *c, unsigned vector);
void erdma_fault_magic(ErdmaCore *c, const ErdmaCmd *cmd,
                       struct erdma_resp_hdr *hdr);
/* Bytes are about to be written to memory of @qp: what becomes of them? */
typedef enum ErdmaFate {
    ERDMA_FATE_GOOD,
    ERDMA_FATE_LOST,            /* not to be written */
    ERDMA_FATE_SPOILT,          /* erdma_fault_spoil() them afterwards */
} ErdmaFate;
ErdmaFate erdma_fault_payload(const ErdmaQp *qp);
void erdma_fault_spoil(const ErdmaQp *qp, uint8_t *dst, uint64_t n);
bool erdma_fault_stalls_eq(ErdmaCore *c, const ErdmaEq *eq);
bool erdma_fault_stalls_cmdq(ErdmaCore *c);
bool erdma_fault_stalls_rq(const ErdmaQp *qp);
/* Nothing passes between @qp and its peer */
bool erdma_fault_cuts(const ErdmaQp *qp);
/* A SEND or WRITE came to @qp: shall it come once more? */
bool erdma_fault_again(const ErdmaQp *qp);
/* False: reads as usual. Else *@value. */
bool erdma_fault_register(ErdmaCore *c, uint64_t offset, unsigned size,
                          uint64_t *value);
/* The card does not react to writes */
bool erdma_fault_deaf(ErdmaCore *c);
/* What is due: floods, things that were delayed */
void erdma_fault_run(ErdmaCore *c);
void erdma_fault_timer(ErdmaCore *c, uint64_t now);
/* When the timer is needed next, 0 = never */
uint64_t erdma_fault_deadline(const ErdmaCore *c);
/* Objects are gone: nothing of them may come later */
void erdma_fault_forget(ErdmaCore *c);
void erdma_fault_forget_cq(ErdmaCq *cq);
void erdma_fault_free(ErdmaCore *c);

typedef enum ErdmaPass {
    ERDMA_PASS,                 /* go */
    ERDMA_PASS_PARK,            /* the QP is parked; it will be scheduled */
    ERDMA_PASS_HOLD,            /* as if the peer were not there */
    ERDMA_PASS_LOST,            /* given up: retry exceeded */
} ErdmaPass;

/* May the active request of @qp go on the network now? */
ErdmaPass erdma_gate(ErdmaQp *qp);
void erdma_gate_unpark(ErdmaQp *qp);
void erdma_gate_unpark_all(ErdmaCore *c);
void erdma_gate_timer(ErdmaCore *c, uint64_t now);

#endif /* ERDMA_FAULT_INT_H */
