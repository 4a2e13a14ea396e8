/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cards of other processes: what wire.c and the remote files share.
 *
 *   wire.c         life of a wire, framing, dispatch
 *   remote.c       ids, offers, connections
 *   remote_req.c   requester: window, answers
 *   remote_resp.c  responder: order, backlog
 *   remote_data.c  payload into and out of messages, credit for it
 *
 * A send that fails breaks the wire on the spot: all its connections are lost
 * before the call returns. So after every send ErdmaRemote.wire may be NULL,
 * and after everything that may stop a QP its ErdmaRemote may be gone.
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
    uint32_t size;              /* of its message */
    uint64_t length;
    uint64_t done;              /* payload that is over */
    ErdmaSpan local[ERDMA_MAX_SEND_SGE];
} ErdmaFlight;

/* Payload that was asked for and has not come yet */
typedef struct ErdmaAsk {
    ErdmaLink link;             /* ErdmaWire.askers */
    ErdmaRemote *remote;
    uint8_t type;               /* of the credit message */
    uint32_t seq;
    uint64_t got, limit, length;
} ErdmaAsk;

/* Requests that came and cannot be executed yet, as messages */
typedef struct ErdmaBacklog {
    uint8_t *buf;
    uint32_t size, first, end;
} ErdmaBacklog;

/* A QP as other processes know it: offered, connected or lost */
struct ErdmaRemote {
    ErdmaQp *qp;
    ErdmaWire *wire;            /* NULL: offered or lost */
    uint32_t id, gen;
    uint32_t peer_id, peer_gen;
    ErdmaLink wire_link;        /* ErdmaWire.remotes */
    ErdmaLink todo_link;        /* ErdmaWire.todo */
    ErdmaLink linger_link;      /* ErdmaWire.lingering */
    /* requester: tx_acked..tx_seq are in flight */
    ErdmaFlight *oldest, *newest;
    uint32_t tx_seq, tx_acked;
    uint32_t tx_bytes;
    uint32_t tx_later;          /* sent with later, since one was not */
    uint32_t tx_signaled;       /* in flight, with a completion wanted */
    uint64_t push_limit;        /* the oldest was asked for up to there */
    ErdmaAsk read_ask;
    ErdmaTimer watch;           /* on ErdmaCore.watched */
    /* responder: rx_done..rx_next came and are not done */
    uint32_t rx_next, rx_done;
    uint32_t rx_told;           /* what the peer knows of rx_done */
    uint32_t rx_asked;          /* it waits to be told so much */
    bool heard;                 /* a request, since we sent one */
    uint8_t turns;              /* requests back and forth, see talks() */
    bool in_active;             /* in is under way */
    bool serving;               /* inside remote_resp.c */
    bool deaf;                  /* refused one: nothing more is executed */
    ErdmaReq in;
    uint64_t in_done;
    uint64_t read_limit;        /* may be sent up to there */
    ErdmaRecv in_recv;
    ErdmaAsk push_ask;
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
    ErdmaLink askers;           /* ErdmaAsk.link */
    uint64_t asked;             /* bytes that were asked for and did not come */
    uint32_t kept;              /* bytes of all backlogs */
    uint32_t window, window_bytes;      /* the peer's */
    uint32_t alive_len, alive_region;
    bool hello, broken;
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

/* False: broken, now or before */
bool erdma_wire_send(ErdmaWire *w, const void *data, size_t len);
/* ErdmaWireOps.send with @later */
bool erdma_wire_send_later(ErdmaWire *w, const void *data, size_t len);
void erdma_wire_break(ErdmaWire *w, const char *why);
/* Acks and new requests of @r follow at the end of this input */
void erdma_wire_todo(ErdmaRemote *r);

/* ---- remote.c ---- */

extern const ErdmaTransport erdma_transport_remote;
extern const ErdmaRemoteOps erdma_remote_ops;

/* The connection that the header names; NULL: stale */
ErdmaRemote *erdma_remote_find(ErdmaWire *w, const WireHdr *h);
void erdma_remote_offer_all(ErdmaWire *w);
void erdma_remote_on_offer(ErdmaWire *w, const WireOffer *o);
void erdma_remote_on_accept(ErdmaWire *w, const WireAccept *a);
/*
 * Was the peer's QP there until now? Asked after memory it named was copied: if
 * so, its guest had not got the memory back yet.
 */
bool erdma_remote_alive(const ErdmaRemote *r);
/* The peer is gone; the QP stays and does not know */
void erdma_remote_lose(ErdmaRemote *r);
/* Say what is to be said and go on, at the end of an input */
void erdma_remote_todo(ErdmaRemote *r, ErdmaBudget *b);
void erdma_remote_free(ErdmaRemote *r);

/* ---- remote_req.c; handlers: NULL or what is malformed ---- */

ErdmaStep erdma_req_step(ErdmaQp *qp, ErdmaBudget *b, uint8_t *syndrome);
/* Forget what is in flight: the QP flushes it */
void erdma_req_drop(ErdmaRemote *r);
/* Send what the peer asked for; true: more is left */
bool erdma_req_pump(ErdmaRemote *r, ErdmaBudget *b);
const char *erdma_req_on_ack(ErdmaRemote *r, const WireAck *ack);
const char *erdma_req_on_nak(ErdmaRemote *r, const WireAck *nak);
const char *erdma_req_on_atomic(ErdmaRemote *r, const WireValue *v);
const char *erdma_req_on_credit(ErdmaRemote *r, const WireValue *v,
                                ErdmaBudget *b);
const char *erdma_req_on_data(ErdmaRemote *r, const WireValue *v,
                              const WireMsg *m, ErdmaBudget *b);

/* ---- remote_resp.c ---- */

const char *erdma_resp_on_request(ErdmaRemote *r, const WireMsg *m,
                                  ErdmaBudget *b);
const char *erdma_resp_on_data(ErdmaRemote *r, const WireValue *v,
                               const WireMsg *m, ErdmaBudget *b);
const char *erdma_resp_on_credit(ErdmaRemote *r, const WireValue *v,
                                 ErdmaBudget *b);
/* Execute what waits; true: more is left and can be done */
bool erdma_resp_run(ErdmaRemote *r, ErdmaBudget *b);
/* Tell what is done and was not told */
void erdma_resp_tell(ErdmaRemote *r);
/* The same, but it may wait a moment for a request that goes the same way */
void erdma_resp_tell_soon(ErdmaRemote *r);
/* A request of ours goes */
void erdma_resp_turn(ErdmaRemote *r);
/* The moment is over */
void erdma_resp_settle(ErdmaRemote *r);
/* Forget what came: the peer is gone */
void erdma_resp_drop(ErdmaRemote *r);

/* ---- remote_data.c ---- */

typedef struct WirePayload {
    uint8_t kind;               /* WireKind */
    const uint8_t *data;
    uint32_t size;              /* in the message */
    uint64_t bytes;             /* that it stands for */
    uint64_t cost;              /* of moving it, in bytes of a budget */
} WirePayload;

/* NULL or what is malformed */
const char *erdma_payload_parse(const WireMsg *m, WirePayload *p);
/*
 * Describe at most @left bytes at the cursor: as ranges if they are shared,
 * else at most @copy of them as bytes, or none. Sets the cursor's fault.
 */
void erdma_payload_build(ErdmaCore *c, ErdmaCursor *src, uint64_t left,
                         uint32_t copy, uint8_t *out, WirePayload *p);
/* Move it to the cursor. False: dst->fault, or else memory that is not there */
bool erdma_payload_place(ErdmaWire *w, ErdmaCursor *dst, const WirePayload *p);
/* Send @p, which was built behind a WireValue in the scratch */
bool erdma_payload_send(ErdmaRemote *r, uint8_t type, uint32_t seq,
                        uint64_t offset, const WirePayload *p);

/* The first @got bytes of @length are there; asks for more */
void erdma_ask_begin(ErdmaAsk *a, uint32_t seq, uint64_t got, uint64_t length);
/* @bytes came. False: more than was asked for */
bool erdma_ask_got(ErdmaAsk *a, uint64_t bytes);
void erdma_ask_more(ErdmaAsk *a);
void erdma_ask_end(ErdmaAsk *a);

#endif /* ERDMA_WIRE_INT_H */
