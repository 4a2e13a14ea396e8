/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Entries of event, completion, send and receive queues; keys; QP states:
 * sections 7 to 11. Included through erdma_hw.h.
 */
#ifndef ERDMA_QUEUE_H
#define ERDMA_QUEUE_H

#include "erdma_reg.h"

/* ---- 7. Event queues ---------------------------------------------------- */

/* 7.2 completion event; entries of the command EQ look alike, CQN 0 */
struct erdma_ceqe {
	__le64 data;
#define ERDMA_CEQE_CQN			ERDMA_MASK64(19, 0)
#define ERDMA_CEQE_OWNER		ERDMA_MASK64(31, 31)
#define ERDMA_CEQE_PI			ERDMA_MASK64(55, 32)
#define ERDMA_CEQE_DB			ERDMA_MASK64(63, 63)	/* caused by the arm doorbell */
	__le64 rsvd;
};
ERDMA_SIZE_IS(struct erdma_ceqe, 16);

struct erdma_aeqe {
	__le32 hdr;
#define ERDMA_AEQE_OWNER		ERDMA_MASK(31, 31)
#define ERDMA_AEQE_TYPE			ERDMA_MASK(23, 16)	/* enum erdma_ae_type */
#define ERDMA_AEQE_SUBTYPE		ERDMA_MASK(7, 0)
	__le32 object;			/* QPN, or CQN for ERDMA_AE_CQ_ERR */
	__le32 data;
	__le32 rsvd;
};
ERDMA_SIZE_IS(struct erdma_aeqe, 16);

enum erdma_ae_type {
	ERDMA_AE_QP_FATAL		= 0,
	ERDMA_AE_RQ_ERR			= 1,
	ERDMA_AE_ACCESS_ERR		= 2,
	ERDMA_AE_CQ_ERR			= 3,
	ERDMA_AE_OTHER			= 4,
	ERDMA_AE_COUNT			= 5,
};

/* 7.3 EQ doorbell; the CI wraps at 2^16 */
#define ERDMA_EQ_DB_CI			ERDMA_MASK64(23, 0)
#define ERDMA_EQ_DB_ARM			ERDMA_MASK64(31, 31)
#define ERDMA_EQ_CI_MASK		0xffffU

/* ---- 8. Completion queues ----------------------------------------------- */

/* 8.2 and 4.4 */
struct erdma_cqe {
	__be32 hdr;
#define ERDMA_CQE_OWNER			ERDMA_MASK(31, 31)
#define ERDMA_CQE_OPCODE		ERDMA_MASK(23, 16)	/* enum erdma_wr_opcode */
#define ERDMA_CQE_QTYPE			ERDMA_MASK(15, 8)	/* enum erdma_cqe_qtype */
#define ERDMA_CQE_SYNDROME		ERDMA_MASK(7, 0)	/* enum erdma_wc_syndrome */
	__be32 qe_idx;			/* command CQE: SQ index of the slot's first WQEBB */
	union {
		struct {
			__be32 qpn;
			__be32 imm;		/* or invalidated STag */
			__be32 size;
			__be32 rsvd[2];
			__be32 rc;
		};
		__be32 resp[6];		/* command CQE: RESP0 lo, hi, RESP1 lo, hi, 0, 0 */
	};
};
ERDMA_SIZE_IS(struct erdma_cqe, 32);

enum erdma_cqe_qtype {
	ERDMA_CQE_QTYPE_SQ		= 0,
	ERDMA_CQE_QTYPE_RQ		= 1,
	ERDMA_CQE_QTYPE_CMDQ		= 2,
};

/* 8.3 the same numbers in work requests and completions */
enum erdma_wr_opcode {
	ERDMA_OP_WRITE			= 0,
	ERDMA_OP_READ			= 1,
	ERDMA_OP_SEND			= 2,
	ERDMA_OP_SEND_IMM		= 3,
	ERDMA_OP_RECV			= 4,	/* receive of a SEND */
	ERDMA_OP_RECV_WRITE_IMM		= 5,	/* receive of WRITE with immediate */
	ERDMA_OP_RECV_INV		= 6,	/* receive of SEND with invalidate */
	ERDMA_OP_REQ_ERR		= 7,
	ERDMA_OP_READ_RESP		= 8,
	ERDMA_OP_WRITE_IMM		= 9,
	ERDMA_OP_RECV_ERR		= 10,
	ERDMA_OP_INVALIDATE		= 11,
	ERDMA_OP_RECV_SEND_IMM		= 12,	/* receive of SEND with immediate */
	ERDMA_OP_SEND_INV		= 13,
	ERDMA_OP_REG_MR			= 14,
	ERDMA_OP_LOCAL_INV		= 15,
	ERDMA_OP_READ_INV		= 16,
	ERDMA_OP_ATOMIC_CAS		= 17,
	ERDMA_OP_ATOMIC_FAA		= 18,
	ERDMA_OP_COUNT			= 19,
};

/* 8.4 */
enum erdma_wc_syndrome {
	ERDMA_WC_SUCCESS		= 0,
	ERDMA_WC_GENERAL_ERR		= 1,
	ERDMA_WC_RQE_FORMAT		= 2,
	ERDMA_WC_RECV_STAG		= 3,
	ERDMA_WC_RECV_BOUNDS		= 4,
	ERDMA_WC_RECV_RIGHTS		= 5,
	ERDMA_WC_RECV_PD		= 6,
	ERDMA_WC_RECV_WRAP		= 7,
	ERDMA_WC_SQE_FORMAT		= 8,
	ERDMA_WC_ORD			= 9,
	ERDMA_WC_SEND_STAG		= 10,
	ERDMA_WC_SEND_BOUNDS		= 11,
	ERDMA_WC_SEND_RIGHTS		= 12,
	ERDMA_WC_SEND_PD		= 13,
	ERDMA_WC_SEND_WRAP		= 14,
	ERDMA_WC_FLUSHED		= 15,
	ERDMA_WC_RETRY_EXC		= 16,
	ERDMA_WC_COUNT			= 17,
};

/* 8.5 and 4.6 arm doorbell */
#define ERDMA_CQ_DB_CI			ERDMA_MASK64(23, 0)
#define ERDMA_CQ_DB_CMDSN		ERDMA_MASK64(29, 28)
#define ERDMA_CQ_DB_SOL			ERDMA_MASK64(30, 30)
#define ERDMA_CQ_DB_ARM			ERDMA_MASK64(31, 31)
#define ERDMA_CQ_DB_CQN			ERDMA_MASK64(55, 32)
#define ERDMA_CQ_DB_IDX			ERDMA_MASK64(63, 56)
#define ERDMA_CQ_CI_MASK		0xffffffU

/* ---- 9. Queue pairs and work requests ----------------------------------- */

/* 9.2 SQE header; 9.4 the SQ doorbell has the same layout, QPN and PI only */
#define ERDMA_SQE_HDR_PI		ERDMA_MASK64(15, 0)	/* SQ PI after this request */
#define ERDMA_SQE_HDR_CE		ERDMA_MASK64(22, 22)
#define ERDMA_SQE_HDR_SE		ERDMA_MASK64(23, 23)
#define ERDMA_SQE_HDR_FENCE		ERDMA_MASK64(24, 24)
#define ERDMA_SQE_HDR_INLINE		ERDMA_MASK64(25, 25)
#define ERDMA_SQE_HDR_DWQE		ERDMA_MASK64(26, 26)
#define ERDMA_SQE_HDR_OPCODE		ERDMA_MASK64(31, 27)
#define ERDMA_SQE_HDR_QPN		ERDMA_MASK64(51, 32)
#define ERDMA_SQE_HDR_WQEBBS		ERDMA_MASK64(54, 52)	/* blocks - 1 */
#define ERDMA_SQE_HDR_SGL_LEN		ERDMA_MASK64(63, 56)	/* SGEs, or inline bytes */

struct erdma_sge {
	__le64 addr;
	__le32 length;
	__le32 key;
};
ERDMA_SIZE_IS(struct erdma_sge, 16);

/* WRITE, WRITE_IMM: 32 bytes, then SGL or inline data */
struct erdma_sqe_write {
	__le64 hdr;
	__be32 imm;			/* raw network-order bytes */
	__le32 length;
	__le32 rkey;
	__le32 raddr_lo;
	__le32 raddr_hi;
	__le32 rsvd;
};
ERDMA_SIZE_IS(struct erdma_sqe_write, 32);

/* SEND, SEND_IMM, SEND_INV on RC: 16 bytes, then SGL or inline data */
struct erdma_sqe_send {
	__le64 hdr;
	union {
		__be32 imm;
		__le32 inv_stag;
	};
	__le32 length;
};
ERDMA_SIZE_IS(struct erdma_sqe_send, 16);

/* READ, READ_INV: the fixed part is the local side, the SGE the remote one */
struct erdma_sqe_read {
	__le64 hdr;
	__le32 inv_stag;		/* READ_INV: local STag */
	__le32 length;
	__le32 lkey;
	__le32 laddr_lo;
	__le32 laddr_hi;
	__le32 rsvd;
	struct erdma_sge remote;
};
ERDMA_SIZE_IS(struct erdma_sqe_read, 48);

/* ATOMIC_CAS, ATOMIC_FAA */
struct erdma_sqe_atomic {
	__le64 hdr;
	__le64 rsvd;
	__le64 swap_add;		/* CAS: swap value; FAA: value to add */
	__le64 compare;			/* CAS only */
	struct erdma_sge remote;	/* length is not written by software */
	struct erdma_sge local;
};
ERDMA_SIZE_IS(struct erdma_sqe_atomic, 64);

/* REG_MR: 32 bytes, then up to four inline page addresses */
struct erdma_sqe_reg_mr {
	__le64 hdr;
	__le64 iova;
	__le32 length;
	__le32 stag;			/* with its new key byte */
	__le32 attr;
#define ERDMA_SQE_REG_MR_PAGE_CNT	ERDMA_MASK(31, 12)
#define ERDMA_SQE_REG_MR_KIND		ERDMA_MASK(7, 6)	/* enum erdma_reg_mr_kind */
#define ERDMA_SQE_REG_MR_RIGHTS		ERDMA_MASK(5, 1)
	__le32 rsvd;
};
ERDMA_SIZE_IS(struct erdma_sqe_reg_mr, 32);

enum erdma_reg_mr_kind {
	ERDMA_REG_MR_INLINE		= 0,	/* page addresses follow */
	ERDMA_REG_MR_TABLE		= 1,	/* table of the REG_MR command */
};

struct erdma_sqe_local_inv {
	__le64 hdr;
	__le32 rsvd[3];
	__le32 stag;
	__le64 rsvd1;
};
ERDMA_SIZE_IS(struct erdma_sqe_local_inv, 32);

/* 9.5 */
struct erdma_rqe {
	__le16 qe_idx;			/* PI after posting; first RQE: 1 */
	__le16 rsvd;
	__le32 qpn;
	__le64 rsvd1;
	__le64 addr;
	__le32 length;
	__le32 stag;
};
ERDMA_SIZE_IS(struct erdma_rqe, 32);

#define ERDMA_RQ_DB_PI			ERDMA_MASK64(15, 0)
#define ERDMA_RQ_DB_QPN			ERDMA_MASK64(63, 32)

/* ---- 10. STags ---------------------------------------------------------- */

#define ERDMA_STAG_KEY			ERDMA_MASK(7, 0)
#define ERDMA_STAG_INDEX		ERDMA_MASK(31, 8)

/* ---- 11.1 QP states, iWARP mode ----------------------------------------- */

enum erdma_qp_state {
	ERDMA_QPS_IDLE			= 0,
	ERDMA_QPS_RTR			= 1,
	ERDMA_QPS_RTS			= 2,
	ERDMA_QPS_CLOSING		= 3,
	ERDMA_QPS_TERMINATE		= 4,
	ERDMA_QPS_ERROR			= 5,
	ERDMA_QPS_COUNT			= 6,
};

#endif /* ERDMA_QUEUE_H */
