/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places of the card at which something may be made to go wrong. The lower
 * floors ask here; the fault folder registers the answers (ErdmaCore.hooks) and
 * sets in ErdmaCore.points where anybody wants to be asked. What a fault is:
 * fault.h.
 */
#ifndef ERDMA_HOOKS_H
#define ERDMA_HOOKS_H

#include "base_int.h"

/* Mostly none is set */
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
    ERDMA_POINT_RESET = 1 << 22,        /* the function was reset through PCI */
    ERDMA_POINT_SILENT = 1 << 23,       /* not a fault: it does not answer yet */
    ERDMA_POINT_BAR0 =
        ERDMA_POINT_REGISTER | ERDMA_POINT_REMOVE | ERDMA_POINT_SILENT,
    ERDMA_POINT_SHAPER =
        ERDMA_POINT_MESSAGE | ERDMA_POINT_SQ | ERDMA_POINT_NETWORK |
        ERDMA_POINT_LOSS | ERDMA_POINT_LATENCY | ERDMA_POINT_METER,
};

/* What becomes of payload that is about to be written */
typedef enum ErdmaFate {
    ERDMA_FATE_GOOD,
    ERDMA_FATE_LOST,            /* not to be written */
    ERDMA_FATE_SPOILT,          /* written, then erdma_fault_spoil() */
} ErdmaFate;

/*
 * Each is asked only while its point is set, except the four at the end, which
 * are called whenever hooks are registered. Where it returns bool and nothing
 * else is said, true means: a fault took the thing over, leave it.
 */
typedef struct ErdmaHooks {
    /* POINT_COMMAND: the completion @cqe of @cmd is about to be written */
    bool (*command)(ErdmaCore *c, const ErdmaCmd *cmd, struct erdma_cqe *cqe,
                    unsigned *flags);
    /* POINT_MAGIC: a response in memory is about to be written */
    void (*response)(ErdmaCore *c, const ErdmaCmd *cmd,
                     struct erdma_resp_hdr *hdr);
    /* POINT_CMDQ: no command is executed now */
    bool (*cmdq_stalled)(ErdmaCore *c);
    /* POINT_CQE */
    bool (*cqe)(ErdmaCq *cq, struct erdma_cqe *cqe, unsigned *flags);
    /* POINT_EVENTS; may change *@word0 and *@flags (ERDMA_ENTRY_*) */
    bool (*event)(ErdmaCore *c, ErdmaEq *eq, uint64_t *word0, uint64_t word1,
                  unsigned *flags);
    /* POINT_CEQ, POINT_AEQ: there is no room */
    bool (*eq_stalled)(ErdmaCore *c, const ErdmaEq *eq);
    /* POINT_CEQ, POINT_AEQ, POINT_CMDQ: the guest took events, there is room */
    void (*eq_room)(ErdmaCore *c);
    /* POINT_IRQ */
    bool (*irq)(ErdmaCore *c, unsigned vector);
    /* POINT_RESET */
    void (*was_reset)(ErdmaCore *c);
    /* POINT_BAR0: *@value is read in place of a register */
    bool (*register_read)(ErdmaCore *c, uint64_t offset, unsigned size,
                          uint64_t *value);
    /* The same points: the card does not react to writes */
    bool (*writes_ignored)(ErdmaCore *c);
    /* POINT_PAYLOAD: a piece of payload for memory of @qp */
    ErdmaFate (*payload)(const ErdmaQp *qp);
    /* Spoil the @n bytes at @dst that were written */
    void (*spoil)(const ErdmaQp *qp, uint8_t *dst, uint64_t n);
    /* POINT_RQ, POINT_SQ: as if nothing were posted */
    bool (*rq_stalled)(const ErdmaQp *qp);
    bool (*sq_stalled)(const ErdmaQp *qp);
    /* POINT_NETWORK: nothing passes between @qp and its peer */
    bool (*cuts)(const ErdmaQp *qp);
    /* POINT_TWICE: the SEND or WRITE that came to @qp shall come once more */
    bool (*repeats)(const ErdmaQp *qp);
    /* POINT_MESSAGE, POINT_LATENCY: the request waits *@ns */
    bool (*delays)(const ErdmaQp *qp, uint64_t *ns);
    bool (*latency)(const ErdmaQp *qp, uint64_t *ns);
    /*
     * POINT_LOSS: how many of @packets are lost. *@ns: after which time they
     * are sent again, 0 if the fault does not say.
     */
    uint64_t (*loses)(const ErdmaQp *qp, uint64_t packets, uint64_t *ns);

    /* INIT: the card works */
    void (*started)(ErdmaCore *c);
    /* Objects of the card are gone: nothing of them may come later */
    void (*forget)(ErdmaCore *c);
    void (*forget_cq)(ErdmaCq *cq);
    /* The card is freed */
    void (*free)(ErdmaCore *c);
} ErdmaHooks;

#endif /* ERDMA_HOOKS_H */
