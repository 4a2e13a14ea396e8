/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults: what a fault is once its line was understood (fault_parse.c), and
 * what the files of this folder share. The other folders ask through hooks.h.
 */
#ifndef ERDMA_FAULT_H
#define ERDMA_FAULT_H

#include "core_int.h"

typedef enum FaultAction {
    ACT_DROP,
    ACT_DELAY,
    ACT_DUPLICATE,
    ACT_CORRUPT,
    ACT_STALL,
    ACT_FLOOD,
    ACT_CUT,                    /* link down, silent peer */
    ACT_LOSS,
    ACT_LATENCY,
    ACT_ONES,
    ACT_REMOVE,
} FaultAction;

/* The words with "=" (or alone) that may follow; bit number and index */
typedef enum FaultKey {
    /* which */
    KEY_QPN, KEY_CQN, KEY_EQN, KEY_VECTOR, KEY_OPCODE, KEY_OFFSET,
    /* when */
    KEY_AFTER, KEY_COUNT, KEY_PROB, KEY_SEED,
    /* how */
    KEY_MS, KEY_US, KEY_OVERTAKE, KEY_VALUE,
    /* what of an entry is changed */
    KEY_STATUS, KEY_SYNDROME, KEY_KIND, KEY_TYPE, KEY_INDEX, KEY_NUMBER,
    KEY_SIZE, KEY_IMM, KEY_RESP0, KEY_RESP1, KEY_MAGIC, KEY_OWNER,
    /* which packets */
    KEY_MINLEN,
    KEY_TOTAL,
} FaultKey;

#define KEYS_WHICH  0x0000003fu
#define KEYS_WHEN   0x000003c0u
#define KEYS_FIELD  0x03ffc000u

/* A probability is a number of 2^32-nds; all of them is "always" */
#define FAULT_ALWAYS    (1ull << 32)

typedef struct Fault {
    uint32_t id;
    char line[ERDMA_LIMIT_FAULT_LINE];
    FaultAction action;
    uint32_t points;            /* ERDMA_POINT_* */
    uint32_t given;             /* bit per FaultKey */
    uint64_t v[KEY_TOTAL];
    uint64_t random;
    uint64_t seen, hits;        /* things it was about; those it struck */
    uint64_t ends;              /* time at which it is over, 0 = never */
    bool over;                  /* that time was */
    uint64_t left;              /* flood: entries still to be written */
} Fault;

/* Something the card does later */
typedef struct Delayed {
    enum { LATER_COMMAND, LATER_CQE, LATER_EVENT, LATER_IRQ } kind;
    uint64_t deadline;
    uint32_t number;            /* CQN, EQN, vector */
    uint8_t flags;              /* ERDMA_ENTRY_* */
    union {
        struct erdma_cqe cqe;
        uint64_t word[2];
    };
} Delayed;

struct ErdmaFaults {
    uint32_t next_id;
    unsigned count, waiting;
    Fault fault[ERDMA_LIMIT_FAULTS];
    Delayed delayed[ERDMA_LIMIT_DELAYED];
    ErdmaTimerQueue late;       /* @next alone */
    ErdmaTimer next;            /* earliest end of a fault or of a delay */
    ErdmaKick flood;            /* entries of a flood are left */
    bool command_open;          /* a delayed one: the queue stands still */
    uint64_t silent_until;      /* the card is not ready after a reset */
    uint64_t spoil;             /* where the next piece of payload breaks */
    uint64_t crowded;           /* not delayed for want of room */
};

#define AEQ_NUMBER  UINT32_MAX

static inline bool fault_has(const Fault *f, FaultKey key)
{
    return f->given & (1u << key);
}

/* Fills @f, zeroed; false: @why says which word is wrong and what is allowed */
bool erdma_fault_parse(const char *line, Fault *f, char *why, size_t len);

/* What a thing is, for the selectors of faults */
typedef struct FaultTarget {
    uint32_t has;               /* bit per FaultKey of KEYS_WHICH */
    uint32_t v[KEY_OFFSET + 1];
} FaultTarget;

/* First fault of @point that strikes; counts. NULL: none. */
Fault *erdma_fault_hit(ErdmaCore *c, uint32_t point, const FaultTarget *t);
/* The same without counting or chance: is there one in force? */
Fault *erdma_fault_find(ErdmaCore *c, uint32_t point, const FaultTarget *t);
/* Next number of the generator of @f: the same for the same seed */
uint64_t erdma_fault_random(Fault *f);
/* Nanoseconds that a delay, a latency or a duration is long */
uint64_t erdma_fault_time(const Fault *f);
/* A fault came to its end by itself: it is listed, but strikes no more */
void erdma_fault_expire(ErdmaCore *c, Fault *f);
/* Which points are watched, and when the next thing is due */
void erdma_fault_update(ErdmaCore *c);

/* fault_strike.c: what is registered with the first fault */
extern const ErdmaHooks erdma_fault_hooks;
/* ErdmaHooks.free */
void erdma_fault_free(ErdmaCore *c);

/* fault_flood.c: write what floods have left, as far as there is room */
void erdma_flood_run(ErdmaCore *c);

/* ---- fault_delay.c ---- */

/* Once, when the card gets its set of faults */
void erdma_delay_init(ErdmaCore *c);
/* Do @d at its deadline. False: no room, do it now. */
bool erdma_delay(ErdmaCore *c, const Delayed *d);
/* Of this kind and number: the latest deadline, 0 = nothing waits */
uint64_t erdma_delay_last(const ErdmaCore *c, unsigned kind, uint32_t number);
/* Completions wait, and later ones have to wait behind them */
bool erdma_delay_keeps_order(const ErdmaCore *c);
/* Have the timer at the next end or deadline */
void erdma_delay_set_timer(ErdmaCore *c);
/* All that waits is gone; what waits of this CQ is gone */
void erdma_delay_forget(ErdmaCore *c);
void erdma_delay_forget_cq(ErdmaCq *cq);

#endif /* ERDMA_FAULT_H */
