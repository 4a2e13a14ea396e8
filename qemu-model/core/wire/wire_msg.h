/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages on a wire between two processes. Little endian, natural alignment,
 * no padding; docs/model-notes.md has the same as a table.
 *
 * id and gen of the header name the connection as its receiver knows it, only
 * in an offer as its sender does. An id with another gen than the present one
 * is stale: the message is dropped, which is normal.
 */
#ifndef ERDMA_WIRE_MSG_H
#define ERDMA_WIRE_MSG_H

#include <linux/types.h>

#include "erdma_core.h"

#define ERDMA_WIRE_MAGIC        0x3157414d44526445ull   /* "EdRDMAW1" */
#define ERDMA_WIRE_VERSION      3u

typedef enum WireType {
    WIRE_HELLO = 1,             /* first message, once */
    WIRE_OFFER,                 /* a QP looks for its other end */
    WIRE_ACCEPT,                /* the sender has that end */
    WIRE_CLOSE,                 /* the sender's end is gone */
    WIRE_REQUEST,
    WIRE_PUSH_DATA,             /* requester: more payload of a request */
    WIRE_PUSH_CREDIT,           /* responder: send payload up to there */
    WIRE_READ_DATA,             /* responder: payload of a READ */
    WIRE_READ_CREDIT,           /* requester: send payload up to there */
    WIRE_ATOMIC,                /* responder: the old value */
    WIRE_ACK,                   /* responder: all before seq are done */
    WIRE_NAK,                   /* responder: the same, and seq failed */
    WIRE_TYPES
} WireType;

typedef enum WireKind {
    WIRE_NONE,                  /* no payload here */
    WIRE_BYTES,
    WIRE_RANGES,                /* of the sender's shared memory */
} WireKind;

typedef struct WireHdr {
    __le32 len;                 /* of the message, this header included */
    __u8 type;
    __u8 kind;
    __le16 zero;
    __le32 id, gen;
} WireHdr;

/* Limits are those of the sender as a receiver of requests */
typedef struct WireHello {
    WireHdr h;
    __le64 magic;
    __le32 version;
    __le32 window;              /* requests per QP without ACK */
    __le32 window_bytes;        /* their messages together */
    __le32 message_max;
    __le32 alive_len;           /* bytes of the table of slots; 0: no table */
    __le32 alive_region;        /* where: generation of each slot */
} WireHello;

typedef struct WireOffer {
    WireHdr h;
    __be32 sip, dip;
    __be16 sport, dport;
    __le32 cookie, peer_cookie;
    __le32 send_nxt, recv_nxt;
} WireOffer;

typedef struct WireAccept {
    WireHdr h;
    __le32 id, gen;             /* of the sender's end */
} WireAccept;

/* kind NONE with length: the payload comes when the responder asks */
typedef struct WireRequest {
    WireHdr h;
    __le32 seq;
    __u8 opcode;                /* enum erdma_wr_opcode */
    __u8 flags;
    __le16 zero;
    __le32 imm;
    __le32 rkey;
    __le64 rva;
    __le64 length;
    __le64 swap_add, compare;
} WireRequest;

#define WIRE_SOLICITED          1u
#define WIRE_ACK_REQUESTED      2u

/* DATA: offset, payload follows; CREDIT: end; ATOMIC: old value */
typedef struct WireValue {
    WireHdr h;
    __le32 seq;
    __le32 zero;
    __le64 value;
} WireValue;

typedef struct WireAck {
    WireHdr h;
    __le32 seq;
    __le32 syndrome;            /* of a NAK */
} WireAck;

/*
 * A piece of the sender's shared memory. It may be used while slot @slot of the
 * sender's table holds @gen: a memory region has a slot of its own, which
 * changes when its key is revoked.
 */
typedef struct WireRange {
    __le64 offset;
    __le32 len;
    __le32 region;
    __le32 slot;                /* WIRE_NO_SLOT: nothing to compare */
    __le32 gen;
} WireRange;

#define WIRE_NO_SLOT            UINT32_MAX

_Static_assert(sizeof(WireHdr) == 16, "wire layout");
_Static_assert(sizeof(WireHello) == 48, "wire layout");
_Static_assert(sizeof(WireOffer) == 44, "wire layout");
_Static_assert(sizeof(WireAccept) == 24, "wire layout");
_Static_assert(sizeof(WireRequest) == 64, "wire layout");
_Static_assert(sizeof(WireValue) == 32, "wire layout");
_Static_assert(sizeof(WireAck) == 24, "wire layout");
_Static_assert(sizeof(WireRange) == 24, "wire layout");

/* ---- limits, part of the version; but each HELLO says its own window ---- */

#define WIRE_WINDOW             192u            /* requests */
#define WIRE_WINDOW_BYTES       (64u * 1024)    /* of their messages */
#define WIRE_SMALL              256u    /* payload that never is ranges */
#define WIRE_MAX_RANGES         512u    /* of one message */
#define WIRE_STEP_BYTES         (1u << 20)      /* payload of one message */
#define WIRE_CHUNK_BYTES        (64u * 1024)    /* of that as bytes */

#define WIRE_REQUEST_MAX \
    (sizeof(WireRequest) + WIRE_MAX_RANGES * sizeof(WireRange))

_Static_assert(WIRE_WINDOW <= UINT8_MAX, "ErdmaQp.inflight counts to it");
_Static_assert(WIRE_REQUEST_MAX <= WIRE_WINDOW_BYTES, "one request must fit");
_Static_assert(sizeof(WireValue) + WIRE_CHUNK_BYTES <= ERDMA_WIRE_MESSAGE_MAX &&
               WIRE_REQUEST_MAX <= ERDMA_WIRE_MESSAGE_MAX, "message size");

#endif /* ERDMA_WIRE_MSG_H */
