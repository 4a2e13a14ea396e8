/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the model: objects of a card and the calls between its files.
 *
 * Sections refer to docs/erdma-hardware.md. Nothing in here trusts the guest:
 * a value is copied out of guest memory or a register once, bounded, then
 * used. Host pointers to guest memory never outlive the function that mapped
 * them.
 */
#ifndef ERDMA_CORE_INT_H
#define ERDMA_CORE_INT_H

#include <endian.h>
#include <stdarg.h>
#include <string.h>

#include "erdma/erdma_field.h"
#include "erdma/erdma_hw.h"
#include "erdma/erdma_names.h"
#include "erdma/erdma_ring.h"
#include "erdma_core.h"
#include "limits.h"

#define ERDMA_ENTRY(link, type, member) \
    ((type *)((char *)(link) - offsetof(type, member)))

typedef struct ErdmaQp ErdmaQp;
typedef struct ErdmaRemote ErdmaRemote;
typedef struct ErdmaTransport ErdmaTransport;

/* ---- lists: circular, a link that is on no list has next == NULL ---- */

typedef struct ErdmaLink {
    struct ErdmaLink *next, *prev;
} ErdmaLink;

static inline void erdma_list_init(ErdmaLink *head)
{
    head->next = head->prev = head;
}

static inline bool erdma_link_used(const ErdmaLink *link)
{
    return link->next != NULL;
}

static inline ErdmaLink *erdma_list_first(const ErdmaLink *head)
{
    return head->next == head ? NULL : head->next;
}

static inline void erdma_list_add_tail(ErdmaLink *head, ErdmaLink *link)
{
    link->next = head;
    link->prev = head->prev;
    head->prev->next = link;
    head->prev = link;
}

static inline void erdma_list_del(ErdmaLink *link)
{
    if (link->next) {
        link->prev->next = link->next;
        link->next->prev = link->prev;
        link->next = link->prev = NULL;
    }
}

/* ---- table.c: number -> object, O(1), memory only where objects are ---- */

typedef struct ErdmaTable {
    void ***chunk;
    uint32_t limit;             /* numbers 0..limit-1 */
    uint32_t count;             /* objects now */
} ErdmaTable;

bool erdma_table_init(ErdmaTable *t, uint32_t limit);
void erdma_table_free(ErdmaTable *t);
void *erdma_table_get(const ErdmaTable *t, uint32_t number);
bool erdma_table_put(ErdmaTable *t, uint32_t number, void *object);
void erdma_table_remove(ErdmaTable *t, uint32_t number);
/* Next object at or after *@number, which is set to its number; NULL: none */
void *erdma_table_next(const ErdmaTable *t, uint32_t *number);

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

/* enum erdma_cmd_status; on failure nothing is kept */
unsigned erdma_queue_setup(ErdmaCore *c, ErdmaQueue *q,
                           const ErdmaQueueSpec *spec);
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

typedef struct ErdmaEq {
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
} ErdmaEq;

void erdma_eq_init(ErdmaEq *eq, uint64_t base, uint32_t depth, unsigned vector,
                   uint64_t dbrec);
void erdma_eq_stop(ErdmaEq *eq);
/* Write an entry if there is room, without an event that waits; false: none */
bool erdma_eq_write(ErdmaCore *c, ErdmaEq *eq, uint64_t word0, uint64_t word1,
                    unsigned flags);
/* Deliver events that waited, as far as there is room */
void erdma_eq_release(ErdmaCore *c, ErdmaEq *eq);
/* Write the event, or keep it until there is room; a waiting one stays as is */
void erdma_eq_post(ErdmaCore *c, ErdmaEq *eq, ErdmaEvent *ev, uint64_t word0,
                   uint64_t word1);
void erdma_eq_doorbell(ErdmaCore *c, ErdmaEq *eq, uint64_t value);
void erdma_event_cancel(ErdmaEvent *ev);
void erdma_aeq_post(ErdmaCore *c, ErdmaEvent *ev, enum erdma_ae_type type,
                    uint32_t object);

/* ---- doorbell pages of a user context (doorbell.c) ---- */

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
uint32_t erdma_db_context_count(const ErdmaConfig *cfg);
unsigned erdma_db_alloc(ErdmaCore *c, uint32_t mask, uint64_t *resp);
unsigned erdma_db_release(ErdmaCore *c, const struct erdma_cmd_ext_db *cmd);

/* ---- completion queues (cq.c) ---- */

typedef struct ErdmaCq {
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
} ErdmaCq;

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

void erdma_cq_post(ErdmaCq *cq, const ErdmaWc *wc);
/* The end of erdma_cq_post(): put a finished entry into the ring */
void erdma_cq_write(ErdmaCq *cq, struct erdma_cqe *cqe, unsigned flags);
void erdma_cq_doorbell(ErdmaCq *cq, uint64_t value);
unsigned erdma_cq_create(ErdmaCore *c, const struct erdma_cmd_create_cq *cmd);
void erdma_cq_destroy(ErdmaCq *cq);

/* ---- memory regions (mr.c) ---- */

typedef struct ErdmaMr {
    uint32_t index;
    uint8_t key;
    uint8_t type;               /* enum erdma_mr_type */
    bool valid;
    uint8_t rights;             /* ERDMA_RIGHT_* */
    uint8_t page_shift;
    uint8_t level;              /* 0: page[], 1..3: page[0] is the top table */
    uint8_t mtt_shift;          /* log2 of the slots of a table page */
    uint32_t pd;
    uint32_t capacity;          /* FRMR: entries the table has room for */
    uint64_t base;              /* START_VA or iova */
    uint64_t length;
    uint64_t npages;
    uint64_t page[ERDMA_INLINE_MTT_CNT];
    uint64_t frmr_table;
    /* last entry used, to spare a read of the table */
    bool hot;
    uint64_t hot_index, hot_entry;
} ErdmaMr;

typedef struct ErdmaRegMr {
    uint64_t iova;
    uint32_t length;
    uint32_t stag;
    uint32_t npages;
    uint8_t rights;
    uint8_t kind;               /* enum erdma_reg_mr_kind */
    uint64_t page[ERDMA_INLINE_MTT_CNT];
} ErdmaRegMr;

/* A range named by the guest */
typedef struct ErdmaSpan {
    uint64_t va;
    uint64_t len;
    uint32_t key;
} ErdmaSpan;

/* What is wrong with an access, in the order of the syndromes of 8.4 */
typedef enum ErdmaAccess {
    ERDMA_ACCESS_OK,
    ERDMA_ACCESS_STAG,
    ERDMA_ACCESS_BOUNDS,
    ERDMA_ACCESS_RIGHTS,
    ERDMA_ACCESS_PD,
    ERDMA_ACCESS_WRAP,
} ErdmaAccess;

static inline uint8_t erdma_access_send(ErdmaAccess a)
{
    return a ? ERDMA_WC_SEND_STAG + (a - ERDMA_ACCESS_STAG) : 0;
}

static inline uint8_t erdma_access_recv(ErdmaAccess a)
{
    return a ? ERDMA_WC_RECV_STAG + (a - ERDMA_ACCESS_STAG) : 0;
}

/* Translation entries read from guest memory; lives for one copy */
typedef struct ErdmaXlate {
    uint64_t first;
    uint32_t count;
    bool leaf_valid;
    uint64_t leaf_index, leaf_addr;
    uint64_t entry[ERDMA_LIMIT_MTT_FETCH];
} ErdmaXlate;

/* How a QP reaches memory by a key; mr == NULL: the local DMA key */
typedef struct ErdmaReach {
    ErdmaMr *mr;
} ErdmaReach;

/* May @qp access @span? @need: any of these rights. */
ErdmaAccess erdma_mr_check(const ErdmaQp *qp, const ErdmaSpan *span,
                           uint8_t need, bool remote, ErdmaReach *reach);
/*
 * Bus address of @va, which was checked, and how many bytes up to @want follow
 * it in one piece. False: a table cannot be read.
 */
bool erdma_mr_extent(ErdmaCore *c, ErdmaMr *mr, ErdmaXlate *x, uint64_t va,
                     uint64_t want, uint64_t *bus, uint64_t *len);
unsigned erdma_mr_register(ErdmaCore *c, const struct erdma_cmd_reg_mr *cmd);
unsigned erdma_mr_deregister(ErdmaCore *c, uint32_t index);
/* REG_MR work request; enum erdma_wc_syndrome */
uint8_t erdma_mr_fast_register(const ErdmaQp *qp, const ErdmaRegMr *reg);
/* Invalidate for @qp; false if the key is not a valid FRMR of its PD */
bool erdma_mr_invalidate(const ErdmaQp *qp, uint32_t stag);

/* ---- work requests (wqe.c) ---- */

/* A decoded send request: nothing of it is read from the guest again */
typedef struct ErdmaReq {
    uint8_t opcode;
    uint8_t wqebbs;
    uint8_t nlocal;
    bool ce, se, is_inline, fence;
    uint32_t imm;               /* immediate, or STag to invalidate */
    uint64_t length;            /* bytes to move */
    ErdmaSpan local[ERDMA_MAX_SEND_SGE];
    ErdmaSpan remote;
    uint64_t swap_add, compare;
    union {
        uint8_t data[ERDMA_MAX_INLINE];
        ErdmaRegMr reg;
    };
} ErdmaReq;

/* Decode @sqe, whose first @blocks blocks are there. Syndrome, 0 = good. */
uint8_t erdma_wqe_decode(const ErdmaQp *qp, uint16_t index, const uint8_t *sqe,
                         ErdmaReq *req);
/* Opcode a completion may carry: 8.3 */
uint8_t erdma_wqe_cqe_opcode(uint8_t opcode);

/* ---- queue pairs (qp.c, exec.c) ---- */

/* The peer's oldest receive, once it was read; consumed at the end */
typedef struct ErdmaRecv {
    bool taken;
    ErdmaSpan span;
} ErdmaRecv;

typedef struct ErdmaConn {
    uint32_t cookie;            /* the peer's */
    uint32_t sip, dip;          /* network order, as given */
    uint16_t sport, dport;
    uint32_t send_nxt, recv_nxt;
    uint8_t cc;
} ErdmaConn;

/* What stands between a request and the network (gate.c) */
typedef struct ErdmaGate {
    ErdmaLink link;             /* on ErdmaCore.parked */
    uint64_t until;             /* UINT64_MAX: until somebody says so */
    uint8_t passed;             /* what the active request has behind it */
    bool twice;                 /* it arrives for the second time */
    uint8_t attempts;           /* how often it was lost */
    uint64_t lost;              /* packets of it to be sent again */
    uint16_t late_pi, late_next;        /* latency: who has waited; who will */
    uint32_t late_epoch;        /* of the faults that late_pi is about */
    uint64_t bytes_at, messages_at;     /* meters: when the next may start */
    uint32_t timeouts;          /* A.1 */
} ErdmaGate;

struct ErdmaQp {
    ErdmaCore *core;
    uint32_t qpn, pd, cookie;
    uint8_t state;              /* enum erdma_qp_state */
    bool kernel;                /* 6.5 */
    bool db_assoc;
    uint32_t db_ctx;
    ErdmaQueue sq, rq;
    ErdmaCq *scq, *rcq;
    uint64_t sq_addr, rq_addr, sq_dbrec, rq_dbrec;
    uint16_t sq_pi, sq_ci, rq_pi, rq_ci;
    uint16_t sq_next;           /* not executed yet; from sq_ci: in flight */
    ErdmaConn conn;
    const ErdmaTransport *transport;    /* NULL: no peer found yet */
    ErdmaQp *peer;              /* in this process */
    ErdmaRemote *remote;        /* what other processes know of this QP */
    ErdmaLink fabric_link;      /* waiting for the peer */
    ErdmaLink run_link;         /* has work for erdma_core_run() */
    ErdmaLink hold_link;        /* waits for the peer, until hold_deadline */
    uint64_t hold_deadline;
    ErdmaEvent event;           /* asynchronous event */
    ErdmaGate gate;
    /* the request in execution */
    bool active;
    bool barrier;               /* the newest in flight must end first */
    uint8_t inflight;           /* requests between sq_ci and sq_next */
    uint8_t pulls;              /* READs and atomics of them */
    uint8_t bad;                /* syndrome of the decoder */
    uint64_t done;              /* bytes moved */
    ErdmaReq req;
    ErdmaRecv recv;             /* receive at the peer it goes to */
    /* diagnostics, A.1 */
    uint16_t last_sqe, last_rqe, sq_cqes, rq_cqes, tx_pkts, rx_pkts;
    uint16_t rx_err_drops;
};

/* What one call may do; counts down */
typedef struct ErdmaBudget {
    uint64_t bytes;
    uint32_t steps;
    bool whole;                 /* do not start what cannot be finished */
} ErdmaBudget;

static inline bool erdma_qp_stopped(const ErdmaQp *qp)
{
    return qp->state >= ERDMA_QPS_CLOSING;
}

unsigned erdma_qp_create(ErdmaCore *c, const struct erdma_cmd_create_qp *cmd,
                         bool extended, uint64_t *cookie);
void erdma_qp_destroy(ErdmaQp *qp);
unsigned erdma_qp_modify(ErdmaQp *qp, const struct erdma_cmd_modify_qp *cmd);
unsigned erdma_qp_reflush(ErdmaQp *qp, uint16_t sq_pi, uint16_t rq_pi);
void erdma_qp_sq_doorbell(ErdmaQp *qp, uint16_t pi);
void erdma_qp_rq_doorbell(ErdmaQp *qp, uint16_t pi);
/* The device found an error: stop, flush, tell */
void erdma_qp_fatal(ErdmaQp *qp, enum erdma_ae_type type);
/* Do what there is to do; schedules the QP if the budget ends first */
void erdma_qp_work(ErdmaQp *qp, ErdmaBudget *b);
/* The same with the budget of a doorbell write */
void erdma_qp_work_now(ErdmaQp *qp);
void erdma_qp_schedule(ErdmaQp *qp);
/* Something the QP waited for happened */
void erdma_qp_wake(ErdmaQp *qp);
void erdma_qp_hold(ErdmaQp *qp);
void erdma_qp_unhold(ErdmaQp *qp);
void erdma_qp_hold_expired(ErdmaQp *qp);
/* The process of the peer has gone, or lied: it will never say anything more */
void erdma_qp_bereft(ErdmaQp *qp);
void erdma_qp_post_recv_wc(ErdmaQp *qp, ErdmaWc *wc);

/* True if the budget ended before the work (exec.c) */
bool erdma_sq_exec(ErdmaQp *qp, ErdmaBudget *b);
/* Rights the local side of a request needs, any of them */
uint8_t erdma_req_local_rights(const ErdmaReq *req);
/* Count a finished request on the card of one of its ends */
void erdma_req_account(ErdmaCore *c, uint8_t opcode, uint64_t length,
                       bool requester);

/* What its completion needs to know of a request */
typedef struct ErdmaEnd {
    uint8_t opcode, wqebbs;
    bool ce;
    uint64_t length;
} ErdmaEnd;

/* Oldest request ends with @syndrome; an error stops the QP */
void erdma_sq_finish(ErdmaQp *qp, const ErdmaEnd *end, uint8_t syndrome);
void erdma_sq_post_wc(ErdmaQp *qp, uint8_t opcode, uint8_t syndrome,
                      uint32_t size);

/* ---- moving bytes (copy.c) ---- */

typedef struct ErdmaCursor {
    const ErdmaQp *qp;          /* whose keys these are */
    const ErdmaSpan *span;
    unsigned nspans;
    uint8_t need;               /* rights, any of */
    bool remote, write;
    uint64_t pos;               /* in span[0] */
    uint64_t bus, bus_len;      /* known address, not mapped yet */
    uint8_t *host;              /* mapped, not used yet */
    uint64_t host_len;
    void *map;
    uint64_t map_len;
    ErdmaAccess fault;
    bool reach_valid;
    ErdmaReach reach;
    ErdmaXlate xlate;
} ErdmaCursor;

void erdma_cursor_spans(ErdmaCursor *cur, const ErdmaQp *qp,
                        const ErdmaSpan *span, unsigned nspans, uint8_t need,
                        bool remote, bool write, uint64_t skip);
void erdma_cursor_buffer(ErdmaCursor *cur, const void *data, uint64_t len,
                         uint64_t skip);
/* Next bytes, at most @want, not yet passed; NULL sets fault */
void *erdma_cursor_peek(ErdmaCursor *cur, uint64_t want, uint64_t *len);
void erdma_cursor_pass(ErdmaCursor *cur, uint64_t len);
/* Map @len bytes in one piece at the cursor; NULL sets fault */
void *erdma_cursor_map(ErdmaCursor *cur, uint64_t len);
void erdma_cursor_unmap(ErdmaCursor *cur);
/* Bytes copied; less than @len: one of the cursors has a fault */
uint64_t erdma_copy(ErdmaCursor *dst, ErdmaCursor *src, uint64_t len);

/* ---- receiving side (resp.c) ---- */

typedef enum ErdmaStep {
    ERDMA_STEP_DONE,            /* request finished, syndrome set */
    ERDMA_STEP_MORE,            /* budget used up */
    ERDMA_STEP_HOLD,            /* peer not ready */
    ERDMA_STEP_SENT,            /* in flight, the next one may follow */
    ERDMA_STEP_WAIT,            /* the end of what is in flight wakes it */
    ERDMA_STEP_PARK,            /* its time has not come */
} ErdmaStep;

/* Oldest posted receive; false with *@syndrome 0: there is none */
bool erdma_resp_take(ErdmaQp *peer, ErdmaRecv *recv, uint8_t *syndrome);
/* Complete the receive for @req; false if that failed and stopped the peer */
bool erdma_resp_complete(ErdmaQp *peer, const ErdmaReq *req);
/* The oldest receive is bad: completion with @syndrome, peer stops */
void erdma_resp_recv_error(ErdmaQp *peer, uint8_t syndrome);
/* The request was refused: peer stops */
void erdma_resp_refuse(ErdmaQp *peer, uint8_t syndrome);
/* Moves data to the requester (READ, atomics), not from it */
bool erdma_op_pulls(uint8_t opcode);
/* Goes to memory that the request names: WRITE, WRITE_IMM */
bool erdma_op_writes(uint8_t opcode);
/*
 * Where the bytes of a SEND or WRITE go, checked; syndrome of the requester.
 * The peer was told if it is not 0.
 */
uint8_t erdma_resp_target(ErdmaQp *peer, const ErdmaReq *req,
                          const ErdmaRecv *recv, ErdmaSpan *span);
/* Cursor there, after @done bytes */
void erdma_resp_cursor(ErdmaCursor *cur, const ErdmaQp *peer,
                       const ErdmaReq *req, const ErdmaSpan *span,
                       uint64_t done);
/* That cursor met memory that is not there; syndrome of the requester */
uint8_t erdma_resp_fault(ErdmaQp *peer, const ErdmaReq *req, ErdmaAccess dst);
/* Read, change and write 8 bytes with one host instruction */
ErdmaAccess erdma_resp_atomic(ErdmaQp *peer, const ErdmaReq *req,
                              uint64_t *old);
/*
 * Have what a SEND or WRITE must have before its first byte: rights of a
 * WRITE_IMM, then a receive. DONE: go on, or failed if *@syndrome.
 */
ErdmaStep erdma_resp_begin(ErdmaQp *peer, const ErdmaReq *req, ErdmaRecv *recv,
                           uint8_t *syndrome);

/* ---- fabric (net.c) ---- */

/*
 * How a QP reaches its peer: another card of this process (local.c), or a card
 * of another one (remote.c). All that leads to a completion (decode, local
 * checks, order, flush, timers) is common, and resp.c is the receiving side.
 */
struct ErdmaTransport {
    /* The QP leaves RTS or is destroyed: forget it, tell the peer's side */
    void (*disconnect)(ErdmaQp *qp);
    /* Advance the active request; *@syndrome is its end if DONE */
    ErdmaStep (*step)(ErdmaQp *qp, ErdmaBudget *b, uint8_t *syndrome);
    /* Work of the QP that is not in its send queue; true: more is left */
    bool (*work)(ErdmaQp *qp, ErdmaBudget *b);
    /* Receives were posted: wake a peer that waits for them */
    void (*recv_posted)(ErdmaQp *qp);
};

#define ERDMA_FABRIC_BUCKETS    1024u

struct ErdmaFabric {
    uint32_t cards;
    /* QPs in RTS that have no peer yet, by 4-tuple */
    ErdmaLink waiting[ERDMA_FABRIC_BUCKETS];
    /* other processes (wire.c, remote.c) */
    ErdmaLink wires;            /* ErdmaWire.link */
    uint8_t *scratch;           /* one message being built */
    ErdmaRemote **id;           /* what peers may name */
    uint32_t ids, ids_used;     /* slots; of them in use or freed before */
    uint32_t *free_id;          /* stack of those freed */
    uint32_t free_ids;
    uint32_t generation;
    uint32_t *alive;            /* by id: its generation; others read it */
    uint32_t alive_slots, alive_region;
    struct ErdmaFlight *spare;  /* records of requests, to be used again */
    unsigned spares;
};

/* The QP became RTS: find its peer, or wait for it */
void erdma_net_connect(ErdmaQp *qp);
/* It leaves RTS or is destroyed */
void erdma_net_disconnect(ErdmaQp *qp);
/*
 * The QP that waits for this other end, no longer waiting; NULL: none. @seeker
 * is the other end if it is of this process.
 */
ErdmaQp *erdma_net_match(ErdmaFabric *f, const ErdmaConn *conn,
                         uint32_t cookie, const ErdmaQp *seeker);

extern const ErdmaTransport erdma_transport_local;
ErdmaStep erdma_local_step(ErdmaQp *qp, ErdmaBudget *b, uint8_t *syndrome);

/* ---- other processes (remote.c) ---- */

/* Tell all other processes that the QP waits */
void erdma_remote_offer(ErdmaQp *qp);
void erdma_remote_forget(ErdmaQp *qp);
/* Nothing was heard of the oldest request in flight for the hold time */
void erdma_remote_expired(ErdmaRemote *r);
uint64_t erdma_remote_deadline(const ErdmaLink *link);
ErdmaRemote *erdma_remote_watched(ErdmaLink *link);
void erdma_remote_fabric_free(ErdmaFabric *f);

/* ---- command queue (cmdq.c, cmd.c, cmd_query.c) ---- */

typedef struct ErdmaCmdq {
    uint64_t sq_base, cq_base;
    uint32_t depth;
    uint16_t sq_pi, sq_ci;
    uint32_t cq_pi;
    bool armed;
    ErdmaEvent event;
} ErdmaCmdq;

typedef struct ErdmaCmd {
    uint8_t slot[ERDMA_SQE_MAX_SIZE];   /* zero behind the slot's end */
    uint32_t bytes;             /* size of the slot */
    uint8_t submod, opcode;
    uint64_t resp0, resp1;
} ErdmaCmd;

void erdma_cmdq_doorbell(ErdmaCore *c, uint64_t value);
void erdma_cmdq_arm(ErdmaCore *c, uint64_t value);
/* Execute what was posted, bounded */
void erdma_cmdq_run(ErdmaCore *c);
/* Put a finished completion into the command CQ */
void erdma_cmdq_write(ErdmaCore *c, struct erdma_cqe *cqe, unsigned flags);
/* enum erdma_cmd_status */
unsigned erdma_cmd_execute(ErdmaCore *c, ErdmaCmd *cmd);
unsigned erdma_cmd_query_device(ErdmaCore *c, ErdmaCmd *cmd);
unsigned erdma_cmd_query_fw(ErdmaCore *c, ErdmaCmd *cmd);
unsigned erdma_cmd_get_stats(ErdmaCore *c, ErdmaCmd *cmd);
unsigned erdma_cmd_query_qpc(ErdmaCore *c, ErdmaCmd *cmd);
unsigned erdma_cmd_query_cqc(ErdmaCore *c, ErdmaCmd *cmd);
unsigned erdma_cmd_query_eqc(ErdmaCore *c, ErdmaCmd *cmd);
unsigned erdma_cmd_set_ext_attr(ErdmaCore *c, ErdmaCmd *cmd);
unsigned erdma_cmd_get_ext_attr(ErdmaCore *c, ErdmaCmd *cmd);

/* ---- faults (fault.c, fault_delay.c), meters (gate.c) ---- */

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

/* ---- the card (erdma_core.c, regs.c) ---- */

/* Register contents as the guest wrote them; latched by INIT */
typedef struct ErdmaRegs {
    uint32_t status;
    uint32_t sq_lo, sq_hi, cq_lo, cq_hi, cmdq_depth;
    uint32_t eq_lo, eq_hi, eq_depth;
    uint32_t aeq_lo, aeq_hi, aeq_depth;
    uint64_t sq_dbrec, cq_dbrec, eq_dbrec, aeq_dbrec;
} ErdmaRegs;

struct ErdmaCore {
    ErdmaConfig cfg;
    const ErdmaOps *ops;
    void *opaque;
    ErdmaFabric *fabric;
    ErdmaLogLevel log_level;

    ErdmaRegs regs;
    bool ready;                 /* INIT done */
    bool kicked;                /* a run was asked for and did not start */
    ErdmaCmdq cmdq;
    ErdmaEq eq[ERDMA_MAX_VECTORS];      /* 0: command EQ, n: CEQ n */
    ErdmaEq aeq;

    ErdmaTable qps, cqs, mrs;
    uint32_t queue_pages;       /* page addresses kept, all queues */
    ErdmaDbContext *db_ctx;
    uint32_t db_ctx_limit, db_ctx_used, db_ctx_next;

    ErdmaLink run;              /* ErdmaQp.run_link */
    ErdmaLink held;             /* ErdmaQp.hold_link, oldest first */
    ErdmaLink watched;          /* ErdmaRemote.watch_link, oldest first */
    ErdmaLink parked;           /* ErdmaGate.link, earliest first */
    uint64_t timer;             /* deadline last given to ops->set_timer() */

    uint32_t points;            /* ERDMA_POINT_* that are watched */
    ErdmaFaults *faults;        /* NULL until the first one */
    bool gone;                  /* pulled out of its slot */
    ErdmaLimits limit;
    uint64_t bytes_at, messages_at;     /* meters of the card */

    uint32_t mtu;
    uint8_t retrans;
    uint32_t ext_mask;
    uint8_t ext_delack;

    uint64_t log_second;
    uint32_t log_lines;
    ErdmaCounters n;
};

/* Drop all objects and the bootstrap queues; registers stay */
void erdma_core_quiesce(ErdmaCore *c);
void erdma_core_kick(ErdmaCore *c);
void erdma_core_update_timer(ErdmaCore *c);
/* Be called at @deadline or before */
void erdma_core_timer_by(ErdmaCore *c, uint64_t deadline);
uint64_t erdma_reg_read(ErdmaCore *c, uint64_t offset, unsigned size);
void erdma_reg_write(ErdmaCore *c, uint64_t offset, uint64_t value,
                     unsigned size);
void erdma_doorbell_write(ErdmaCore *c, uint64_t offset, uint64_t value,
                          unsigned size);
/* Unknown or not allowed: normal, counted, never an error (15.5) */
void erdma_doorbell_drop(ErdmaCore *c, uint64_t offset, uint64_t value);
void erdma_irq(ErdmaCore *c, unsigned vector);
/* The same past all faults */
void erdma_irq_send(ErdmaCore *c, unsigned vector);
uint64_t erdma_packets(const ErdmaCore *c, uint64_t bytes);

static inline ErdmaQp *erdma_qp_get(const ErdmaCore *c, uint32_t qpn)
{
    return erdma_table_get(&c->qps, qpn);
}

static inline ErdmaCq *erdma_cq_get(const ErdmaCore *c, uint32_t cqn)
{
    return erdma_table_get(&c->cqs, cqn);
}

/* ---- guest memory (dma.c) ---- */

bool erdma_dma_read(ErdmaCore *c, uint64_t addr, void *dst, size_t len);
bool erdma_dma_write(ErdmaCore *c, uint64_t addr, const void *src, size_t len);
/*
 * Write an entry so that its first @head bytes (4 or 8), which hold the owner
 * bit, become visible after the rest (3.3).
 */
bool erdma_dma_publish(ErdmaCore *c, uint64_t addr, const void *entry,
                       size_t len, size_t head);

/* ---- messages (log.c) ---- */

void erdma_log(ErdmaCore *c, ErdmaLogLevel level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void erdma_guest_error(ErdmaCore *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* What a peer may cause any number of times */
void erdma_peer_info(ErdmaCore *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#define erdma_info(c, ...) do { \
    if ((c)->log_level >= ERDMA_LOG_INFO) { \
        erdma_log((c), ERDMA_LOG_INFO, __VA_ARGS__); \
    } \
} while (0)

#define erdma_trace(c, ...) do { \
    if (__builtin_expect((c)->log_level >= ERDMA_LOG_TRACE, 0)) { \
        erdma_log((c), ERDMA_LOG_TRACE, __VA_ARGS__); \
    } \
} while (0)

#endif /* ERDMA_CORE_INT_H */
