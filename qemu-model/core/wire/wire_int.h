/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cards of other processes: what the files of this folder share.
 *
 *   wire.c            life of a wire, framing, dispatch
 *   remote.c          connections: references, states, offers
 *   remote_id.c       ids of QPs, slots of regions, the table others read
 *   remote_flight.c   requester: records of requests in flight, their share
 *   remote_req.c      requester: sending, messages of the responder
 *   remote_resp.c     responder: checks, order
 *   remote_exec.c     responder: execution of one request
 *   remote_backlog.c  responder: requests that cannot be executed yet
 *   remote_ack.c      responder: acknowledgements, coalesced
 *   remote_data.c     payload into and out of messages
 *   remote_credit.c   payload granted to a peer, bounded
 *
 * A send that fails breaks the wire before it returns: all connections of the
 * wire have lost their peer then. Whatever completes a request may stop the QP,
 * and whatever stops the QP closes its connection. So after each of these the
 * caller looks at ErdmaRemote.state; the memory itself stays, because every
 * entry into this folder holds a reference.
 *
 * Threads: none; one call at a time for all cards of a fabric (erdma_core.h).
 */
#ifndef ERDMA_WIRE_INT_H
#define ERDMA_WIRE_INT_H

#include "core_int.h"
#include "wire_msg.h"

/* A request in flight: what its end needs. From a pool of the fabric. */
typedef struct ErdmaFlight {
    struct ErdmaFlight *next;   /* newer */
    uint8_t opcode, wqebbs, nlocal;
    bool ce;
    uint32_t imm;
    uint32_t size;              /* of its message, bytes */
    uint64_t length;
    uint64_t done;              /* bytes of payload that were moved */
    ErdmaSpan local[ERDMA_MAX_SEND_SGE];
} ErdmaFlight;

/* Payload of one request that its sender may send, and how much of it came */
typedef struct ErdmaCredit {
    ErdmaLink link;             /* ErdmaWire.credit_waiters */
    ErdmaRemote *remote;
    uint8_t type;               /* of the message that grants */
    uint32_t seq;
    uint64_t received, limit, length;   /* bytes from the first */
} ErdmaCredit;

/*
 * Requests that came and cannot be executed yet, as messages. While @pinned a
 * message in @buf is in execution: dropping the rest leaves @buf until its end.
 */
typedef struct ErdmaBacklog {
    uint8_t *buf;
    uint32_t size, first, end;  /* bytes; size 0: nothing is accounted */
    bool pinned;
} ErdmaBacklog;

/*
 * Life of a connection. Which members are valid is checked at each transition
 * (remote.c), and so is the transition.
 */
typedef enum ErdmaRemoteState {
    ERDMA_REMOTE_OFFERED,       /* QP, no wire: looks for the other end */
    ERDMA_REMOTE_CONNECTED,     /* QP and wire */
    ERDMA_REMOTE_CLOSING,       /* wire, no QP: the request in execution stopped
                                   it, and is to be answered before the CLOSE */
    ERDMA_REMOTE_LOST,          /* QP, no wire: peer lost */
    ERDMA_REMOTE_CLOSED,        /* neither: only references are left */
    ERDMA_REMOTE_STATES
} ErdmaRemoteState;

/* What the responder does with the request at rx_done */
typedef enum ErdmaRxState {
    ERDMA_RX_IDLE,              /* it did not come or was not begun */
    ERDMA_RX_EXECUTING,         /* inside remote_exec.c */
    ERDMA_RX_PENDING,           /* it was begun and waits for data or credit */
    ERDMA_RX_STOPPED,           /* failed, or peer lost: no request any more */
    ERDMA_RX_STATES
} ErdmaRxState;

/*
 * A QP as other processes know it. References: one of the QP until it leaves
 * RTS, and one of each entry into this folder that is under way.
 */
struct ErdmaRemote {
    uint32_t refs;
    ErdmaRemoteState state;
    ErdmaQp *qp;
    ErdmaWire *wire;
    uint32_t id, gen;
    uint32_t peer_id, peer_gen;
    ErdmaLink wire_link;        /* ErdmaWire.remotes */
    ErdmaLink todo_link;        /* ErdmaWire.todo */
    ErdmaLink linger_link;      /* ErdmaWire.lingering */
    /* requester: tx_acked..tx_seq are in flight */
    ErdmaFlight *oldest, *newest;
    uint32_t tx_seq, tx_acked;
    uint32_t tx_bytes;          /* of messages in flight */
    uint32_t tx_later;          /* requests coalesced since the last send */
    uint32_t tx_signaled;       /* requests in flight to be completed */
    uint64_t push_limit;        /* credit for the oldest, bytes */
    ErdmaCredit read_credit;
    ErdmaTimer watch;           /* on ErdmaCore.watched: for the oldest */
    /* responder: rx_done..rx_next came and are not done */
    ErdmaRxState rx_state;
    uint32_t rx_next, rx_done;
    uint32_t rx_acked;          /* requests the peer knows to be done */
    uint32_t rx_ack_requested;  /* it waits for an ACK of so many */
    bool rx_since_tx;           /* a request was done since one was sent */
    uint8_t turns;              /* of a ping-pong, see ack_ping_pong() */
    ErdmaReq in;                /* the request at rx_done, once begun */
    uint64_t in_done;           /* bytes of it */
    uint64_t read_limit;        /* credit for its data, bytes */
    ErdmaRecv in_recv;
    ErdmaCredit push_credit;
    ErdmaBacklog backlog;
};

struct ErdmaWire {
    ErdmaFabric *fabric;
    const ErdmaWireOps *ops;
    void *opaque;
    ErdmaLink link;             /* ErdmaFabric.wires */
    ErdmaLink remotes;          /* ErdmaRemote.wire_link */
    ErdmaLink todo;             /* ErdmaRemote.todo_link */
    ErdmaLink lingering;        /* ErdmaRemote.linger_link */
    ErdmaLink credit_waiters;   /* ErdmaCredit.link */
    uint64_t granted;           /* bytes the peer may send and did not */
    uint32_t backlog_bytes;     /* of all its connections */
    uint32_t window, window_bytes;      /* the peer's */
    uint32_t alive_len, alive_region;   /* the peer's table, bytes */
    bool hello, broken;
    char why[160];              /* what was wrong with a message */
};

/* A received message, whole, its fixed part checked for size */
typedef struct WireMsg {
    const uint8_t *data;
    uint32_t len;
    uint32_t fixed;             /* bytes before the payload */
    WireHdr h;
} WireMsg;

/* ---- wire.c ---- */

#define WIRE_HDR(type_, size_, id_, gen_) { \
    .len = htole32(size_), .type = (type_), .id = htole32(id_), \
    .gen = htole32(gen_) }

/*
 * Append @len bytes at @data, one message, to the stream; what was coalesced
 * goes with it. False: the wire is broken, now or before, and all connections
 * of @w have lost their peer.
 */
bool erdma_wire_send(ErdmaWire *w, const void *data, size_t len);
/* The same for a message that may be coalesced with later ones */
bool erdma_wire_send_later(ErdmaWire *w, const void *data, size_t len);
/*
 * The peer violated the format or does not read. @why, one line, is reported
 * to the surroundings. All connections of @w lose their peer. Once.
 */
void erdma_wire_break(ErdmaWire *w, const char *why);
/*
 * A sentence with field, value and what was expected, for erdma_wire_break().
 * Valid until the next call for @w; handlers return it.
 */
const char *erdma_wire_wrong(ErdmaWire *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* @r is CONNECTED: its ACKs and requests follow at the end of this input */
void erdma_wire_todo(ErdmaRemote *r);

/* ---- remote.c ---- */

extern const ErdmaTransport erdma_transport_remote;
/* What the queue pairs of a fabric that has wires call */
extern const ErdmaRemoteOps erdma_remote_ops;

/* A reference; @r */
ErdmaRemote *erdma_remote_get(ErdmaRemote *r);
/* Give it back; the last one frees @r, which is CLOSED by then */
void erdma_remote_put(ErdmaRemote *r);
/* True while @r has both a QP in RTS and a wire */
static inline bool erdma_remote_connected(const ErdmaRemote *r)
{
    return r->state == ERDMA_REMOTE_CONNECTED;
}
/* Offer all QPs without a peer over @w, which was just opened */
void erdma_remote_offer_all(ErdmaWire *w);
/* Handlers of OFFER and ACCEPT; what fits no QP is not an error */
void erdma_remote_on_offer(ErdmaWire *w, const WireOffer *o);
void erdma_remote_on_accept(ErdmaWire *w, const WireAccept *a);
/*
 * Peer lost: leave the wire and stop the responder. The QP, if there is one,
 * keeps its requests in flight until their deadline. CONNECTED becomes LOST,
 * CLOSING becomes CLOSED.
 */
void erdma_remote_lose(ErdmaRemote *r);
/* CLOSING, and the request is answered: CLOSE to the peer, then CLOSED */
void erdma_remote_close(ErdmaRemote *r);
/* End of an input: send ACKs, let the QP work with @b, or schedule it */
void erdma_remote_todo(ErdmaRemote *r, ErdmaBudget *b);

/* ---- remote_id.c ---- */

/* ErdmaRemoteOps */
void erdma_id_mr_revoked(ErdmaFabric *f, ErdmaMr *mr);
void erdma_id_mr_gone(ErdmaFabric *f, ErdmaMr *mr);

/* Give @r an id and a generation. False: out of memory or of slots. */
bool erdma_id_alloc(ErdmaFabric *f, ErdmaRemote *r);
/* Others see that the QP is gone before anything that follows */
void erdma_id_free(ErdmaFabric *f, ErdmaRemote *r);
/* NULL: no such id, or of another generation */
ErdmaRemote *erdma_id_find(ErdmaFabric *f, __le32 id, __le32 gen);
/* The connection of @w that the header names; NULL: stale */
ErdmaRemote *erdma_id_target(ErdmaWire *w, const WireHdr *h);
/*
 * Fill in slot and generation of the region that a range is of. @mr NULL: the
 * local DMA key, which has none. False: no slot is left, so the memory cannot
 * be named in a message.
 */
bool erdma_id_grant(ErdmaFabric *f, ErdmaMr *mr, WireRange *range);
/* Does @slot of the peer's table hold @gen? True if the peer has no table. */
bool erdma_id_valid(const ErdmaWire *w, uint32_t slot, uint32_t gen);
/* Free the tables; the fabric has no cards and no connections left */
void erdma_id_fabric_free(ErdmaFabric *f);

/* ---- remote_flight.c ---- */

/* May @r have one more request in flight, as far as the pool is concerned? */
bool erdma_flight_room(const ErdmaRemote *r);
/* A record, to be given to one of the next two; NULL: out of memory */
ErdmaFlight *erdma_flight_new(ErdmaFabric *f);
void erdma_flight_free(ErdmaFabric *f, ErdmaFlight *flight);
/* @flight is the newest in flight now; its time starts if it is the oldest */
void erdma_flight_add(ErdmaRemote *r, ErdmaFlight *flight);
/* Free the records of what is in flight; the QP flushes the requests */
void erdma_flight_drop(ErdmaRemote *r);
/* The peer did something: the oldest, if any, has the whole hold time again */
void erdma_flight_progress(ErdmaRemote *r);
/*
 * Complete the oldest with @syndrome. With an error the QP is stopped and @r is
 * CLOSED when this returns.
 */
void erdma_flight_end(ErdmaRemote *r, uint8_t syndrome);
/* Free the pool; nothing is in flight */
void erdma_flight_fabric_free(ErdmaFabric *f);

/*
 * ---- remote_req.c ----
 * Handlers of messages return NULL, or erdma_wire_wrong() for what a peer that
 * follows the format cannot have sent.
 */

/* ErdmaTransport.step */
ErdmaStep erdma_requester_step(ErdmaQp *qp, ErdmaBudget *b, uint8_t *syndrome);
/* Send the payload that was granted, within @b; true: more is left */
bool erdma_requester_pump(ErdmaRemote *r, ErdmaBudget *b);
const char *erdma_requester_on_ack(ErdmaRemote *r, const WireAck *ack);
const char *erdma_requester_on_nak(ErdmaRemote *r, const WireAck *nak);
const char *erdma_requester_on_atomic(ErdmaRemote *r, const WireValue *v);
const char *erdma_requester_on_credit(ErdmaRemote *r, const WireValue *v,
                                      ErdmaBudget *b);
const char *erdma_requester_on_data(ErdmaRemote *r, const WireValue *v,
                                    const WireMsg *m, ErdmaBudget *b);

/* ---- remote_resp.c; handlers as above ---- */

const char *erdma_responder_on_request(ErdmaRemote *r, const WireMsg *m,
                                       ErdmaBudget *b);
const char *erdma_responder_on_data(ErdmaRemote *r, const WireValue *v,
                                    const WireMsg *m, ErdmaBudget *b);
const char *erdma_responder_on_credit(ErdmaRemote *r, const WireValue *v,
                                      ErdmaBudget *b);
/* Execute what waits, within @b; true: more is left and can be done */
bool erdma_responder_run(ErdmaRemote *r, ErdmaBudget *b);
/* Peer lost, or a request failed: drop the backlog, execute nothing more */
void erdma_responder_stop(ErdmaRemote *r);

/* ---- remote_exec.c ---- */

typedef struct WirePayload {
    uint8_t kind;               /* WireKind */
    const uint8_t *data;
    uint32_t size;              /* in the message, bytes */
    uint64_t bytes;             /* of payload */
    uint64_t cost;              /* of moving it, in bytes of a budget */
} WirePayload;

/* Checked change of ErdmaRemote.rx_state */
void erdma_exec_state(ErdmaRemote *r, ErdmaRxState next);
/*
 * Begin the request @m, with its payload @p. HOLD: there is no receive for it
 * yet, nothing has changed. MORE: it is PENDING, or the peer is lost. DONE: it
 * was answered, and if it failed the responder is STOPPED.
 */
ErdmaStep erdma_exec_begin(ErdmaRemote *r, const WireMsg *m,
                           const WirePayload *p, ErdmaBudget *b);
/* Go on with the PENDING one: payload @p of a push, or NULL for a READ */
ErdmaStep erdma_exec_more(ErdmaRemote *r, const WirePayload *p,
                          ErdmaBudget *b);

/* ---- remote_backlog.c ---- */

/* Append @m; false: no room, of which the window is no cause */
bool erdma_backlog_add(ErdmaRemote *r, const WireMsg *m);
/*
 * The oldest message, to be executed where it is: nothing may be added until
 * erdma_backlog_end(). False: there is none.
 */
bool erdma_backlog_begin(ErdmaRemote *r, WireMsg *m);
/* The message was @executed, or stays the oldest */
void erdma_backlog_end(ErdmaRemote *r, const WireMsg *m, bool executed);
/* Forget all messages; @r still has its wire */
void erdma_backlog_drop(ErdmaRemote *r);
static inline uint32_t erdma_backlog_used(const ErdmaRemote *r)
{
    return r->backlog.end - r->backlog.first;
}

/* ---- remote_ack.c ---- */

/* Acknowledge all that is done, if the peer does not know it yet */
void erdma_ack_now(ErdmaRemote *r);
/* The same, but it may wait a moment for a request that goes the same way */
void erdma_ack_soon(ErdmaRemote *r);
/* The moment is over */
void erdma_ack_linger_over(ErdmaRemote *r);
/* A request of this end was sent */
void erdma_ack_request_sent(ErdmaRemote *r);
/* The request at rx_done is done */
void erdma_ack_request_done(ErdmaRemote *r);
/* A message that acknowledges all that is done is being sent */
void erdma_ack_implied(ErdmaRemote *r);
/* The request at rx_done failed with @syndrome; all before it are done */
void erdma_ack_nak(ErdmaRemote *r, uint8_t syndrome);

/* ---- remote_data.c ---- */

/* How the payload of a message got to its place */
typedef enum ErdmaPlaced {
    ERDMA_PLACED,
    ERDMA_PLACED_FAULT,         /* the cursor's fault, or, if it has none, the
                                   peer's memory cannot be read */
    ERDMA_PLACED_REVOKED,       /* the peer's region is revoked */
    ERDMA_PLACED_DEAD,          /* the peer's QP is gone */
} ErdmaPlaced;

/* Take @p out of @m, which came over @w; NULL or what is wrong with it */
const char *erdma_payload_parse(ErdmaWire *w, const WireMsg *m,
                                WirePayload *p);
/*
 * Describe at most @left bytes at the cursor: as ranges if they are shared,
 * else at most @copy of them as bytes, or none. Sets the cursor's fault. @out
 * has room for a largest message behind its fixed part.
 */
void erdma_payload_build(ErdmaCore *c, ErdmaCursor *src, uint64_t left,
                         uint32_t copy, uint8_t *out, WirePayload *p);
/*
 * Move @p to the cursor. Ranges are used only if the peer's QP and regions were
 * valid before and after they were copied.
 */
ErdmaPlaced erdma_payload_place(ErdmaRemote *r, ErdmaCursor *dst,
                                const WirePayload *p);
/* Send @p, which was built behind a WireValue in the scratch; false: lost */
bool erdma_payload_send(ErdmaRemote *r, uint8_t type, uint32_t seq,
                        uint64_t offset, const WirePayload *p);

/* ---- remote_credit.c ---- */

/* The first @received bytes of @length are there: grant more */
void erdma_credit_begin(ErdmaCredit *a, uint32_t seq, uint64_t received,
                        uint64_t length);
/* @bytes came of what was granted. False: more came, nothing has changed. */
bool erdma_credit_take(ErdmaCredit *a, uint64_t bytes);
/* Nothing more is to come; what was granted is free for others */
void erdma_credit_end(ErdmaCredit *a);

#endif /* ERDMA_WIRE_INT_H */
