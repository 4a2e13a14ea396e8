/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue pairs: what is in their queues, what they do, and how they reach the
 * other end in this process or another.
 */
#ifndef ERDMA_QP_INT_H
#define ERDMA_QP_INT_H

#include "mr_int.h"
#include "queue_int.h"

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

/* ---- queue pairs (qp.c, qp_run.c, exec.c) ---- */

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

/* What stands between a request and the network (shaper.c) */
typedef struct ErdmaShaper {
    ErdmaTimer timer;           /* on ErdmaCore.parked */
    uint8_t passed;             /* what the active request has behind it */
    bool twice;                 /* it arrives for the second time */
    uint8_t attempts;           /* how often it was lost */
    uint64_t lost;              /* packets of it to be sent again */
    uint16_t late_pi, late_next;        /* latency: who has waited; who will */
    uint32_t late_epoch;        /* ErdmaCore.hooks_epoch late_pi is about */
    uint64_t bytes_at, messages_at;     /* meters: when the next may start */
    uint32_t timeouts;          /* A.1 */
} ErdmaShaper;

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
    ErdmaLink match_link;       /* waiting for the peer, by all that agrees */
    ErdmaLink tuple_link;       /* the same, by 4-tuple alone */
    ErdmaLink run_link;         /* has work for erdma_core_run() */
    ErdmaTimer hold;            /* on ErdmaCore.held: waits for the peer */
    bool hold_silent;           /* nothing of what it sends arrives meanwhile */
    ErdmaEvent event;           /* asynchronous event */
    ErdmaShaper shaper;
    /* the request in execution */
    bool active;
    bool barrier;               /* the newest in flight must end first */
    uint8_t inflight;           /* requests between sq_ci and sq_next */
    uint8_t pulls;              /* READs and atomics of them */
    uint8_t bad;                /* syndrome it is to end with, in its turn */
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

static inline void erdma_budget_take(ErdmaBudget *b, uint64_t bytes)
{
    b->bytes -= bytes < b->bytes ? bytes : b->bytes;
}

static inline bool erdma_qp_stopped(const ErdmaQp *qp)
{
    return qp->state >= ERDMA_QPS_CLOSING;
}

/*
 * CREATE_QP (5.2.4): state IDLE. @extended: the request has its long form.
 * *@cookie: to be given to the peer. enum erdma_cmd_status.
 */
unsigned erdma_qp_create(ErdmaCore *c, const struct erdma_cmd_create_qp *cmd,
                         bool extended, uint64_t *cookie);
/* Without completions for what is queued (5.2.5); @qp is freed */
void erdma_qp_destroy(ErdmaQp *qp);
/* MODIFY_QP (5.2.6, 11.2); stopping flushes. enum erdma_cmd_status. */
unsigned erdma_qp_modify(ErdmaQp *qp, const struct erdma_cmd_modify_qp *cmd);
/* REFLUSH (5.2.8): flush up to these indices. enum erdma_cmd_status. */
unsigned erdma_qp_reflush(ErdmaQp *qp, uint16_t sq_pi, uint16_t rq_pi);
/* Requests are posted up to @pi (9.1); executed or flushed at once, bounded */
void erdma_qp_sq_doorbell(ErdmaQp *qp, uint16_t pi);
/* Receives are posted up to @pi; a peer that waits for one goes on */
void erdma_qp_rq_doorbell(ErdmaQp *qp, uint16_t pi);
/* The device found an error: stop, flush, report @type */
void erdma_qp_fatal(ErdmaQp *qp, enum erdma_ae_type type);
/* Do what there is to do; schedules the QP if the budget ends first */
void erdma_qp_work(ErdmaQp *qp, ErdmaBudget *b);
/* The same with the budget of a doorbell write */
void erdma_qp_work_now(ErdmaQp *qp);
/* Have erdma_qp_work() called by a later run */
void erdma_qp_schedule(ErdmaQp *qp);
/* Something the QP waited for happened */
void erdma_qp_wake(ErdmaQp *qp);
/*
 * Wait for the peer up to ErdmaConfig.hold_ns; then the request fails (12.6).
 * Unless the peer is there and has no receive for it, it is sent again meanwhile.
 */
void erdma_qp_hold(ErdmaQp *qp);
/* Retransmissions of all requests (A.1) */
uint32_t erdma_qp_timeouts(const ErdmaQp *qp);
/* Wait no longer; nothing is executed from here */
void erdma_qp_unhold(ErdmaQp *qp);
/* The process of the peer ended or broke the wire's rules: no answer comes */
void erdma_qp_peer_lost(ErdmaQp *qp);
/* Once, at creation of the card */
void erdma_qp_register(ErdmaCore *c);
/* Complete the oldest receive; fills queue, index and QPN of @wc */
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
/* Completion of the oldest request; it stays the oldest */
void erdma_sq_post_wc(ErdmaQp *qp, uint8_t opcode, uint8_t syndrome,
                      uint32_t size);

/* ---- receiving side (recv.c) ---- */

typedef enum ErdmaStep {
    ERDMA_STEP_DONE,            /* request finished, syndrome set */
    ERDMA_STEP_MORE,            /* budget used up */
    ERDMA_STEP_HOLD,            /* peer not ready */
    ERDMA_STEP_SENT,            /* in flight, the next one may follow */
    ERDMA_STEP_WAIT,            /* the end of what is in flight wakes it */
    ERDMA_STEP_PARK,            /* its time has not come */
} ErdmaStep;

/*
 * Of all these: @peer is the QP that receives, in RTS. A syndrome is of enum
 * erdma_wc_syndrome and is the requester's; what fails has stopped @peer with
 * its own completion and event before the call returns. Section 8.4 has the
 * syndromes, 9.8 and 12 the order.
 */

/* Oldest posted receive; false with *@syndrome 0: there is none */
bool erdma_recv_take(ErdmaQp *peer, ErdmaRecv *recv, uint8_t *syndrome);
/* Complete the receive for @req; false if that failed and stopped the peer */
bool erdma_recv_complete(ErdmaQp *peer, const ErdmaReq *req);
/* The oldest receive is bad: completion with @syndrome, peer stops */
void erdma_recv_error(ErdmaQp *peer, uint8_t syndrome);
/* The request was refused with @syndrome: peer stops */
void erdma_recv_refuse(ErdmaQp *peer, uint8_t syndrome);
/* Moves data to the requester (READ, atomics), not from it */
bool erdma_op_pulls(uint8_t opcode);
/* Goes to memory that the request names: WRITE, WRITE_IMM */
bool erdma_op_writes(uint8_t opcode);
/*
 * Where the bytes of a SEND or WRITE go, checked; syndrome. If it is not 0 the
 * peer was stopped.
 */
uint8_t erdma_recv_target(ErdmaQp *peer, const ErdmaReq *req,
                          const ErdmaRecv *recv, ErdmaSpan *span);
/* Cursor there, after @done bytes */
void erdma_recv_cursor(ErdmaCursor *cur, const ErdmaQp *peer,
                       const ErdmaReq *req, const ErdmaSpan *span,
                       uint64_t done);
/* That cursor met memory that is not there; syndrome */
uint8_t erdma_recv_fault(ErdmaQp *peer, const ErdmaReq *req, ErdmaAccess dst);
/*
 * Read, change and write 8 bytes with one atomic operation of the host. It is
 * atomic towards other cards and other processes. It is atomic towards
 * processors of the peer's guest only if these use atomic operations of the
 * host as well: with KVM they do, with TCG unless the guest can have only one
 * processor (recv.c).
 */
ErdmaAccess erdma_recv_atomic(ErdmaQp *peer, const ErdmaReq *req,
                              uint64_t *old);
/*
 * Have what a SEND or WRITE must have before its first byte: rights of a
 * WRITE_IMM, then a receive. DONE: go on, or failed if *@syndrome.
 */
ErdmaStep erdma_recv_begin(ErdmaQp *peer, const ErdmaReq *req, ErdmaRecv *recv,
                           uint8_t *syndrome);

/* ---- fabric (match.c) ---- */

/*
 * How a QP reaches its peer: another card of this process (transport_local.c),
 * or a card of another one (wire/). All that leads to a completion (decode,
 * local checks, order, flush, timers) is common, and recv.c is the receiving
 * side.
 */
struct ErdmaTransport {
    /* The QP leaves RTS or is destroyed: forget it, also at the peer */
    void (*disconnect)(ErdmaQp *qp);
    /* Advance the active request; *@syndrome is its end if DONE */
    ErdmaStep (*step)(ErdmaQp *qp, ErdmaBudget *b, uint8_t *syndrome);
    /* Work of the QP that is not in its send queue; true: more is left */
    bool (*work)(ErdmaQp *qp, ErdmaBudget *b);
    /* Receives were posted: wake a peer that waits for them */
    void (*recv_posted)(ErdmaQp *qp);
    /* step() copies payload: a message is begun only if the budget holds it */
    bool copies;
};

/* Other processes, as queue pairs see them; registered with the first wire */
typedef struct ErdmaRemoteOps {
    /* Offer @qp, which waits for its peer, to all other processes */
    void (*offer)(ErdmaQp *qp);
    /*
     * @qp, which has a connection, leaves RTS or found a peer in this process:
     * close it. What it had in flight is not completed from here.
     */
    void (*forget)(ErdmaQp *qp);
    /*
     * The key of @mr, which has a slot, is revoked: other processes use nothing
     * they were offered of it and did not have yet. They see that before the
     * guest can learn that this returned.
     */
    void (*mr_revoked)(ErdmaFabric *f, ErdmaMr *mr);
    /* The same, and @mr is being freed */
    void (*mr_gone)(ErdmaFabric *f, ErdmaMr *mr);
    /* Free what the fabric holds for connections; none is left */
    void (*fabric_free)(ErdmaFabric *f);
} ErdmaRemoteOps;

/* ---- shaper.c ---- */

typedef enum ErdmaPass {
    ERDMA_PASS,                 /* go */
    ERDMA_PASS_PARK,            /* the QP is parked; it will be scheduled */
    ERDMA_PASS_HOLD,            /* as if the peer were not there */
    ERDMA_PASS_LOST,            /* given up: retry exceeded */
} ErdmaPass;

/* May the active request of @qp go on the network now? */
ErdmaPass erdma_shaper_admit(ErdmaQp *qp);
/* All that are parked ask again */
void erdma_shaper_release_all(ErdmaCore *c);
/* Once, at creation of the card */
void erdma_shaper_register(ErdmaCore *c);

#define ERDMA_FABRIC_BUCKETS    16384u

struct ErdmaFabric {
    uint32_t cards;
    ErdmaSteps steps;           /* that this entry may still spend */
    /* QPs in RTS that have no peer yet: by all that must agree, by 4-tuple */
    ErdmaLink waiting[ERDMA_FABRIC_BUCKETS];
    ErdmaLink tuples[ERDMA_FABRIC_BUCKETS];
    /* other processes (wire/) */
    const ErdmaRemoteOps *remote_ops;   /* NULL: there are none */
    ErdmaLink wires;            /* ErdmaWire.link */
    uint8_t *scratch;           /* one message being built */
    ErdmaRemote **id;           /* what peers may name */
    uint32_t ids, ids_used;     /* room; ids in use or freed before */
    uint32_t *free_id;          /* stack of those freed */
    uint32_t free_ids;
    uint32_t mr_slots, mr_slots_used;   /* of memory regions; as above */
    uint32_t *mr_free;          /* stack of those freed */
    uint32_t mr_frees;
    uint32_t generation;        /* the last one given */
    uint32_t *alive;            /* by slot: its generation; others read it */
    uint32_t alive_slots, alive_region;
    struct ErdmaFlight *spare;  /* records of requests, to be used again */
    unsigned spares;
    uint32_t flights;           /* records in use */
    uint32_t busy;              /* QPs that use any */
};

/* ---- the budget of an entry (sched.h) ---- */

/* Start of an entry into the core: ERDMA_LIMIT_ENTRY_STEPS may be spent */
static inline void erdma_sched_enter(ErdmaFabric *f)
{
    f->steps.left = ERDMA_LIMIT_ENTRY_STEPS;
}

/*
 * Spend @steps. False: fewer are left and nothing was spent; the caller stops
 * here and has the rest done by a later entry (erdma_kick()).
 */
static inline bool erdma_sched_spend(ErdmaFabric *f, uint32_t steps)
{
    if (f->steps.left < steps) {
        return false;
    }
    f->steps.left -= steps;
    return true;
}

/* Is anything left to be spent? */
static inline bool erdma_sched_can_spend(const ErdmaFabric *f)
{
    return f->steps.left != 0;
}

/* The QP became RTS: find its peer, or wait for it (12.5) */
void erdma_match_connect(ErdmaQp *qp);
/* It leaves RTS or is destroyed: it waits no longer and has no peer */
void erdma_match_disconnect(ErdmaQp *qp);
/*
 * The QP that waits for the end @conn with @cookie, no longer waiting; NULL:
 * none among those it looked at, whose number is bounded. @seeker is the other
 * end if it is of this process.
 */
ErdmaQp *erdma_match_find(ErdmaFabric *f, const ErdmaConn *conn,
                          uint32_t cookie, const ErdmaQp *seeker);
/* Does @qp wait for its peer? */
static inline bool erdma_match_waits(const ErdmaQp *qp)
{
    return erdma_link_used(&qp->match_link);
}
/* It waits no longer */
void erdma_match_remove(ErdmaQp *qp);

extern const ErdmaTransport erdma_transport_local;

#endif /* ERDMA_QP_INT_H */
