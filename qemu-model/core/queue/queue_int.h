/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rings in guest memory: queues, what the card writes into event queues and
 * completion queues, and the doorbell pages through which the guest answers.
 */
#ifndef ERDMA_QUEUE_INT_H
#define ERDMA_QUEUE_INT_H

#include "base_int.h"

/* ---- queue.c: a ring in guest memory, its pages resolved at creation ---- */

typedef struct ErdmaQueue {
    uint64_t base;              /* of entry 0, if contiguous (page == NULL) */
    uint64_t *page;             /* bus address of each page otherwise */
    uint32_t npages;
    uint32_t first_off;         /* of entry 0 in page[0] */
    uint32_t depth;             /* entries of 32 bytes, power of two */
    uint8_t page_shift;
} ErdmaQueue;

typedef struct ErdmaQueueSpec {
    uint32_t depth_log;
    uint32_t page_shift;
    uint32_t mtt_cnt;
    uint32_t first_off;
    bool table;                 /* addr is the table, not the first page */
    uint64_t addr;
    uint64_t inline_page[3];    /* entries 1..3 if not table */
    uint32_t inline_cnt;        /* how many of addr and inline_page exist */
} ErdmaQueueSpec;

/* enum erdma_cmd_status; on failure nothing is allocated */
unsigned erdma_queue_setup(ErdmaCore *c, ErdmaQueue *q,
                           const ErdmaQueueSpec *spec);
/* Free what erdma_queue_setup() allocated; guest memory is not touched */
void erdma_queue_release(ErdmaCore *c, ErdmaQueue *q);
/* Bus address of entry @index modulo depth; returns entries in one piece */
uint32_t erdma_queue_locate(const ErdmaQueue *q, uint32_t index,
                            uint64_t *addr);
/* Copy @n entries out, around the end of the ring if need be */
bool erdma_queue_read(ErdmaCore *c, const ErdmaQueue *q, uint32_t index,
                      uint32_t n, void *dst);

/* ---- events and event queues (eq.c) ---- */

/*
 * One event that may have to wait for room in its EQ. Embedded in the object it
 * is about, so holding events back needs no memory (7.5).
 */
typedef struct ErdmaEvent {
    ErdmaLink link;             /* on ErdmaEq.held */
    uint64_t word0, word1;      /* little-endian content without owner bit */
} ErdmaEvent;

struct ErdmaEq {
    bool live;
    bool armed;
    bool overflowed;            /* an event had to wait since creation */
    uint8_t vector;
    uint32_t depth;
    uint64_t base;
    uint64_t dbrec;
    uint16_t pi, ci;
    uint32_t users;             /* CQs that report here */
    ErdmaLink held;             /* ErdmaEvent.link */
};

/* A ring of @depth entries at bus address @base, empty, armed (7.4) */
void erdma_eq_init(ErdmaEq *eq, uint64_t base, uint32_t depth, unsigned vector,
                   uint64_t dbrec);
/* No events any more; those that wait for room are dropped */
void erdma_eq_stop(ErdmaEq *eq);
/* Write an entry if there is room, without an event that waits; false: none */
bool erdma_eq_write(ErdmaCore *c, ErdmaEq *eq, uint64_t word0, uint64_t word1,
                    unsigned flags);
/* Deliver events that waited, as far as there is room */
void erdma_eq_release(ErdmaCore *c, ErdmaEq *eq);
/* Write the event, or keep it until there is room; a waiting one stays as is */
void erdma_eq_post(ErdmaCore *c, ErdmaEq *eq, ErdmaEvent *ev, uint64_t word0,
                   uint64_t word1);
/* The guest took events, and may have armed the queue (7.3, 7.4) */
void erdma_eq_doorbell(ErdmaCore *c, ErdmaEq *eq, uint64_t value);
/* If @ev waits for room, it is not delivered: its object goes */
void erdma_event_cancel(ErdmaEvent *ev);
/* Asynchronous event @type about QPN or CQN @object (7.2) */
void erdma_aeq_post(ErdmaCore *c, ErdmaEvent *ev, enum erdma_ae_type type,
                    uint32_t object);

/* ---- doorbell pages of a user context (db_pages.c) ---- */

typedef struct ErdmaDbContext {
    bool used;
    uint32_t users;             /* QPs and CQs bound to it */
} ErdmaDbContext;

/* The three pages of context n are FIRST + 3n, + 1, + 2 */
enum { ERDMA_DB_SDB, ERDMA_DB_RDB, ERDMA_DB_CDB, ERDMA_DB_PAGES };

static inline uint32_t erdma_db_page(uint32_t ctx, unsigned kind)
{
    return ERDMA_DB_EXT_FIRST_PAGE + ctx * ERDMA_DB_PAGES + kind;
}

/* Context whose page of this kind is @page; false if there is none */
bool erdma_db_context(const ErdmaCore *c, uint32_t page, unsigned kind,
                      uint32_t *ctx);
/* How many contexts have room in BAR0; 0: not announced */
uint32_t erdma_db_context_count(const ErdmaConfig *cfg);
/* ALLOC_DB (5.3.7): pages of @mask; enum erdma_cmd_status */
unsigned erdma_db_alloc(ErdmaCore *c, uint32_t mask, uint64_t *resp);
/* FREE_DB (5.3.7); enum erdma_cmd_status */
unsigned erdma_db_release(ErdmaCore *c, const struct erdma_cmd_ext_db *cmd);

/* A doorbell unknown or not allowed: normal, counted, never an error (15.5) */
void erdma_db_drop(ErdmaCore *c, uint64_t offset, uint64_t value);

/* ---- completion queues (cq.c) ---- */

struct ErdmaCq {
    ErdmaCore *core;
    uint32_t cqn;
    ErdmaQueue q;
    ErdmaEq *eq;
    uint64_t dbrec;
    uint32_t pi;                /* 32-bit, free-running */
    uint32_t users;             /* QP queues that report here */
    bool armed, armed_solicited;
    bool broken;                /* the ring cannot be reached by DMA */
    bool rung;                  /* db_idx is valid */
    bool db_assoc;
    uint32_t db_ctx;
    ErdmaEvent event;           /* completion event */
    ErdmaEvent error;           /* CQ error */
    /* diagnostics, A.2 */
    uint8_t db_idx;
    uint8_t bad_db_type;
    uint32_t bad_db_ci;
    uint8_t ooo_dbs, dup_dbs;
};

typedef struct ErdmaWc {
    uint8_t opcode;             /* enum erdma_wr_opcode */
    uint8_t qtype;              /* enum erdma_cqe_qtype */
    uint8_t syndrome;           /* enum erdma_wc_syndrome */
    bool solicited;
    uint16_t qe_idx;
    uint32_t qpn;
    uint32_t imm;               /* as a number: LE in the work request */
    uint32_t size;
} ErdmaWc;

/* How an entry is written, and what is known about it */
enum {
    ERDMA_ENTRY_WRONG_OWNER = 1,    /* on purpose, by a fault */
    ERDMA_ENTRY_SOLICITED = 2,
    ERDMA_ENTRY_OVERTAKE = 4,       /* later ones need not wait for it */
};

/* Complete a request or receive; an event, if the CQ is armed for it (8.5) */
void erdma_cq_post(ErdmaCq *cq, const ErdmaWc *wc);
/* The end of erdma_cq_post(): put a finished entry into the ring */
void erdma_cq_write(ErdmaCq *cq, struct erdma_cqe *cqe, unsigned flags);
/* The guest took completions up to an index, and may have armed the CQ (8.5) */
void erdma_cq_doorbell(ErdmaCq *cq, uint64_t value);
/* CREATE_CQ (5.2.2); enum erdma_cmd_status */
unsigned erdma_cq_create(ErdmaCore *c, const struct erdma_cmd_create_cq *cmd);
/* No QP uses @cq any more; it is freed */
void erdma_cq_destroy(ErdmaCq *cq);

/* ---- command queue (cmdq.c) ---- */

typedef struct ErdmaCmdq {
    uint64_t sq_base, cq_base;
    uint32_t depth;
    uint16_t sq_pi, sq_ci;
    uint32_t cq_pi;
    bool armed;
    ErdmaEvent event;
    ErdmaKick kick;             /* commands are left */
    /* Executes @cmd; enum erdma_cmd_status. Registered by the card. */
    unsigned (*execute)(ErdmaCore *c, ErdmaCmd *cmd);
} ErdmaCmdq;

struct ErdmaCmd {
    uint8_t request[ERDMA_SQE_MAX_SIZE];        /* zero behind its end */
    uint32_t bytes;             /* size of its slots in the ring */
    uint8_t submod, opcode;
    uint64_t resp0, resp1;
};

/* Once, at creation of the card */
void erdma_cmdq_register(ErdmaCore *c,
                         unsigned (*execute)(ErdmaCore *c, ErdmaCmd *cmd));
/* Rings at these bus addresses, @depth blocks and completions, empty (2.4) */
void erdma_cmdq_start(ErdmaCore *c, uint64_t sq_base, uint64_t cq_base,
                      uint32_t depth);
/* Back to none; what was posted is not executed */
void erdma_cmdq_stop(ErdmaCore *c);
/* Commands are posted up to a PI; executed at once, bounded (4.3) */
void erdma_cmdq_doorbell(ErdmaCore *c, uint64_t value);
/* One event for the next completion, or for one not seen yet (4.6) */
void erdma_cmdq_arm(ErdmaCore *c, uint64_t value);
/* Put a finished completion into the command CQ; @flags: ERDMA_ENTRY_* */
void erdma_cmdq_write(ErdmaCore *c, struct erdma_cqe *cqe, unsigned flags);

#endif /* ERDMA_QUEUE_INT_H */
