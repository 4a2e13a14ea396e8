/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Elastic RDMA Adapter: registers, commands, queue entries.
 *
 * Facts only. Section numbers refer to docs/erdma-hardware.md. Everything the
 * host writes for the device is little endian; completion entries are big
 * endian per 32-bit word. Bits that are not named here are reserved: written
 * as zero, never looked at.
 *
 * The driver uses FIELD_PREP()/FIELD_GET() on these masks; everybody else uses
 * ERDMA_PREP()/ERDMA_GET() of erdma_field.h.
 */
#ifndef ERDMA_HW_H
#define ERDMA_HW_H

#include <linux/types.h>

#define ERDMA_MASK(h, l)	(((0xffffffffU) >> (31 - (h))) & ((0xffffffffU) << (l)))
#define ERDMA_MASK64(h, l)	(((0xffffffffffffffffULL) >> (63 - (h))) & \
				 ((0xffffffffffffffffULL) << (l)))

#ifdef __cplusplus
#define ERDMA_SIZE_IS(type, size) \
	static_assert(sizeof(type) == (size), #type)
#else
#define ERDMA_SIZE_IS(type, size) \
	_Static_assert(sizeof(type) == (size), #type)
#endif

/* ---- 1. PCI function ---------------------------------------------------- */

#define ERDMA_PCI_VENDOR_ID		0x1ded
#define ERDMA_PCI_DEVICE_ID		0x107f
#define ERDMA_PCI_CLASS			0x028000	/* network controller, other */
#define ERDMA_BAR_REGS			0
#define ERDMA_BAR_MSIX			2
#define ERDMA_BAR_COUNT			2
#define ERDMA_BAR_SET			0x5		/* exactly {BAR0, BAR2} */
#define ERDMA_MAX_VECTORS		32
#define ERDMA_MAX_CEQS			31		/* CEQ n uses vector n, n = 1..31 */
#define ERDMA_VECTOR_COMMON		0		/* command EQ and AEQ */

/* ---- 2. BAR0 ------------------------------------------------------------ */

/* 2.2 registers; RO, WO as software uses them; 32 bits unless said otherwise */
#define ERDMA_REG_VERSION		0x000	/* RO, 0 = function not usable */
#define ERDMA_REG_PROTO			0x00c	/* RO, enum erdma_proto */
#define ERDMA_REG_CTRL			0x010	/* WO, written as a whole */
#define   ERDMA_CTRL_RESET		ERDMA_MASK(0, 0)
#define   ERDMA_CTRL_INIT		ERDMA_MASK(1, 1)
#define ERDMA_REG_STATUS		0x014	/* RO */
#define   ERDMA_STATUS_RESET_DONE	ERDMA_MASK(0, 0)
#define   ERDMA_STATUS_INIT_DONE	ERDMA_MASK(1, 1)
#define   ERDMA_STATUS_SUSPEND		ERDMA_MASK(2, 2)
#define ERDMA_REG_MAC_LO		0x018	/* RO, octets 2..5, octet 2 on top */
#define ERDMA_REG_MAC_HI		0x01c	/* RO, octets 0..1 in [15:0] */
#define ERDMA_REG_CMDQ_SQ_BASE_LO	0x020	/* WO */
#define ERDMA_REG_CMDQ_SQ_BASE_HI	0x024	/* WO, written before _LO */
#define ERDMA_REG_CMDQ_CQ_BASE_LO	0x028	/* WO */
#define ERDMA_REG_CMDQ_CQ_BASE_HI	0x02c	/* WO */
#define ERDMA_REG_CMDQ_DEPTH		0x030	/* WO, SQ WQEBBs and CQ CQEs */
#define ERDMA_REG_CMDQ_EQ_DEPTH		0x034	/* WO */
#define ERDMA_REG_CMDQ_EQ_BASE_LO	0x038	/* WO */
#define ERDMA_REG_CMDQ_EQ_BASE_HI	0x03c	/* WO */
#define ERDMA_REG_AEQ_BASE_LO		0x040	/* WO */
#define ERDMA_REG_AEQ_BASE_HI		0x044	/* WO */
#define ERDMA_REG_AEQ_DEPTH		0x048	/* WO */
#define ERDMA_REG_GRP_NUM		0x04c	/* RO, direct-WQE groups; 0..3 = off */
#define ERDMA_REG_AEQ_DB		0x050	/* WO, 64 bits */
#define ERDMA_REG_QBLK_NUM		0x058	/* never used */
#define ERDMA_REG_RES_CNT		0x05c	/* never used */
#define ERDMA_REG_CMDQ_SQ_DBREC		0x060	/* WO, 64 bits */
#define ERDMA_REG_CMDQ_CQ_DBREC		0x068	/* WO, 64 bits */
#define ERDMA_REG_CMDQ_EQ_DBREC		0x070	/* WO, 64 bits */
#define ERDMA_REG_AEQ_DBREC		0x078	/* WO, 64 bits */
#define ERDMA_REG_ST_TSO_IN_PKTS	0x080	/* RO, 64 bits, as all counters */
#define ERDMA_REG_ST_TSO_OUT_PKTS	0x088
#define ERDMA_REG_ST_TSO_OUT_BYTES	0x090
#define ERDMA_REG_ST_TX_DROP_PKTS	0x098
#define ERDMA_REG_ST_TX_BPS_DROP_PKTS	0x0a0
#define ERDMA_REG_ST_TX_PPS_DROP_PKTS	0x0a8
#define ERDMA_REG_ST_RX_PKTS		0x0c0
#define ERDMA_REG_ST_RX_BYTES		0x0c8
#define ERDMA_REG_ST_RX_DROP_PKTS	0x0d0
#define ERDMA_REG_ST_RX_BPS_DROP_PKTS	0x0d8
#define ERDMA_REG_ST_RX_PPS_DROP_PKTS	0x0e0
#define ERDMA_REG_EQ_DB(n)		(0x100 + 8 * (n))	/* WO, 64 bits; 0 = command EQ */
#define ERDMA_REG_CMDQ_SQ_DB		0x200	/* WO, 64 bits */
#define ERDMA_REG_CMDQ_CQ_DB		0x300	/* WO, 64 bits */
#define ERDMA_REG_SPACE			0x1000

enum erdma_proto {
	ERDMA_PROTO_IWARP		= 0,
	ERDMA_PROTO_ROCEV2		= 1,
};

/* 2.3; LE reading of the bytes 00 00 00 02 */
#define ERDMA_VERSION_2			0x02000000U

/* 2.1 doorbell apertures */
#define ERDMA_DB_PAGE_SHIFT		12
#define ERDMA_DB_PAGE_SIZE		(1U << ERDMA_DB_PAGE_SHIFT)
#define ERDMA_DB_SQ_BASE		0x01000
#define ERDMA_DB_SQ_SIZE		0x60000
#define ERDMA_DB_RQ_BASE		0x61000
#define ERDMA_DB_RQ_SIZE		0x18000
#define ERDMA_DB_CQ_BASE		0x79000
#define ERDMA_DB_CQ_SIZE		0x07000
#define ERDMA_DB_KERNEL_SQ		0x5f000
#define ERDMA_DB_EXT_BASE		0x80000
#define ERDMA_DB_EXT_FIRST_PAGE		(ERDMA_DB_EXT_BASE >> ERDMA_DB_PAGE_SHIFT)
#define ERDMA_BAR0_MIN_SIZE		0x80000

/* 13.5 offset of a queue's doorbell inside a user page */
#define ERDMA_SQ_DB_SLOTS		32
#define ERDMA_SQ_DB_STRIDE		128
#define ERDMA_RQ_DB_SLOTS		128
#define ERDMA_RQ_DB_STRIDE		32
#define ERDMA_CQ_DB_SLOTS		512
#define ERDMA_CQ_DB_STRIDE		8

/* ---- entry sizes, limits (Appendix C) ----------------------------------- */

#define ERDMA_WQEBB_SHIFT		5
#define ERDMA_WQEBB_SIZE		32
#define ERDMA_RQE_SHIFT			5
#define ERDMA_RQE_SIZE			32
#define ERDMA_CQE_SHIFT			5
#define ERDMA_CQE_SIZE			32
#define ERDMA_EQE_SHIFT			4
#define ERDMA_EQE_SIZE			16
#define ERDMA_DBREC_SIZE		8
#define ERDMA_SQE_MAX_WQEBBS		4
#define ERDMA_SQE_MAX_SIZE		128
#define ERDMA_MAX_SEND_WR		8192
#define ERDMA_MAX_QUEUE_DEPTH		32768	/* SQ in WQEBBs, RQ in RQEs */
#define ERDMA_MAX_SEND_SGE		6
#define ERDMA_MAX_RECV_SGE		1
#define ERDMA_MAX_READ_SGE		1
#define ERDMA_MAX_INLINE		96
#define ERDMA_MAX_ORD			128
#define ERDMA_MAX_IRD			128
#define ERDMA_MAX_PD			131072
#define ERDMA_MAX_CONTEXTS		131072
#define ERDMA_MAX_FRMR_PAGES		524288
#define ERDMA_FRMR_PAGES_REPORTED	512
#define ERDMA_PAGE_SIZE_CAP		0x7ffff000ULL
#define ERDMA_QPS_PER_QBLOCK		1024
#define ERDMA_MAX_QBLOCK		512
#define ERDMA_MAX_RECV_WR_LOG		15
#define ERDMA_MAX_CQE_LOG		20

#define ERDMA_CMDQ_SLOTS		128
#define ERDMA_CMDQ_SLOT_WQEBBS		4	/* 2 on kernels <= 6.4 */
#define ERDMA_CMDQ_DEPTH		(ERDMA_CMDQ_SLOTS * ERDMA_CMDQ_SLOT_WQEBBS)
#define ERDMA_CMDQ_EQ_DEPTH		128
#define ERDMA_EQ_DEPTH			4096
#define ERDMA_EQ_BUDGET			16	/* entries per handler run */
#define ERDMA_CMDQ_TIMEOUT_MS		15000
#define ERDMA_INIT_POLLS		500
#define ERDMA_INIT_POLL_MS		20
#define ERDMA_REFLUSH_DELAY_US		100

/* ---- 4. Command queue --------------------------------------------------- */

/* 4.2 request header, first 8 bytes of a slot */
#define ERDMA_CMD_HDR_PI		ERDMA_MASK64(15, 0)	/* SQ PI after this slot */
#define ERDMA_CMD_HDR_OPCODE		ERDMA_MASK64(23, 16)
#define ERDMA_CMD_HDR_SUBMOD		ERDMA_MASK64(25, 24)
#define ERDMA_CMD_HDR_CTX		ERDMA_MASK64(47, 32)
#define ERDMA_CMD_HDR_WQEBBS		ERDMA_MASK64(54, 52)	/* slot size - 1 */

enum erdma_submod {
	ERDMA_SUBMOD_RDMA		= 0,
	ERDMA_SUBMOD_COMMON		= 1,
};

/* 5.1, sub-module RDMA */
enum erdma_cmd_rdma {
	ERDMA_CMD_QUERY_DEVICE		= 0,
	ERDMA_CMD_CREATE_QP		= 1,
	ERDMA_CMD_DESTROY_QP		= 2,
	ERDMA_CMD_MODIFY_QP		= 3,
	ERDMA_CMD_CREATE_CQ		= 4,
	ERDMA_CMD_DESTROY_CQ		= 5,
	ERDMA_CMD_REFLUSH		= 6,
	ERDMA_CMD_REG_MR		= 8,
	ERDMA_CMD_DEREG_MR		= 9,
	ERDMA_CMD_QUERY_QPC		= 11,	/* FLAGS.QUERY_QC */
	ERDMA_CMD_QUERY_CQC		= 12,	/* FLAGS.QUERY_QC */
	ERDMA_CMD_SET_GID		= 14,	/* RoCEv2 */
	ERDMA_CMD_CREATE_AH		= 15,	/* RoCEv2 */
	ERDMA_CMD_DESTROY_AH		= 16,	/* RoCEv2 */
	ERDMA_CMD_QUERY_QP		= 17,	/* RoCEv2 */
};

/* 5.1, sub-module COMMON */
enum erdma_cmd_common {
	ERDMA_CMD_CREATE_EQ		= 0,
	ERDMA_CMD_DESTROY_EQ		= 1,
	ERDMA_CMD_QUERY_FW_INFO		= 2,
	ERDMA_CMD_CONF_MTU		= 3,
	ERDMA_CMD_GET_STATS		= 4,
	ERDMA_CMD_CONF_DEVICE		= 5,	/* FLAGS.EXT_DB */
	ERDMA_CMD_QUERY_EQC		= 6,	/* FLAGS.QUERY_QC */
	ERDMA_CMD_SET_RETRANS_NUM	= 7,
	ERDMA_CMD_ALLOC_DB		= 8,	/* FLAGS.EXT_DB */
	ERDMA_CMD_FREE_DB		= 9,	/* FLAGS.EXT_DB */
	ERDMA_CMD_SET_EXT_ATTR		= 10,
	ERDMA_CMD_GET_EXT_ATTR		= 11,
};

/* 4.5, natural (errno-like) syndromes of the model; drivers look for 0 only */
enum erdma_cmd_status {
	ERDMA_CMD_OK			= 0,
	ERDMA_CMD_ENOENT		= 2,
	ERDMA_CMD_EIO			= 5,
	ERDMA_CMD_ENOMEM		= 12,
	ERDMA_CMD_EFAULT		= 14,
	ERDMA_CMD_EBUSY			= 16,
	ERDMA_CMD_EEXIST		= 17,
	ERDMA_CMD_EINVAL		= 22,
	ERDMA_CMD_ENOTSUPP		= 95,
};

/* 5.2.2 */
struct erdma_cmd_create_cq {
	__le64 hdr;
	__le32 cfg0;
#define ERDMA_CREATE_CQ_DEPTH		ERDMA_MASK(31, 24)	/* log2 */
#define ERDMA_CREATE_CQ_PAGE		ERDMA_MASK(23, 20)	/* 4096 << code */
#define ERDMA_CREATE_CQ_CQN		ERDMA_MASK(19, 0)
	__le32 addr_lo;
	__le32 addr_hi;
	__le32 cfg1;
#define ERDMA_CREATE_CQ_MTT_CNT		ERDMA_MASK(31, 16)
#define ERDMA_CREATE_CQ_LEVEL		ERDMA_MASK(15, 15)
#define ERDMA_CREATE_CQ_DB_ASSOC	ERDMA_MASK(11, 11)
#define ERDMA_CREATE_CQ_EQN		ERDMA_MASK(9, 0)
	__le64 dbrec;
	__le32 first_off;
	__le32 cfg2;
#define ERDMA_CREATE_CQ_DB		ERDMA_MASK(15, 0)	/* page index, if DB_ASSOC */
};
ERDMA_SIZE_IS(struct erdma_cmd_create_cq, 40);

#define ERDMA_KERNEL_CQ_PAGE_CODE	13	/* one 32 MiB "page" */
#define ERDMA_KERNEL_QP_PAGE_CODE	8	/* one 1 MiB "page" */
#define ERDMA_USER_QP_PAGE_CODE_MAX	7

/* 5.2.3 */
struct erdma_cmd_destroy_cq {
	__le64 hdr;
	__le32 cqn;
	__le32 rsvd;
};
ERDMA_SIZE_IS(struct erdma_cmd_destroy_cq, 16);

/* 5.2.4; kernels <= 6.4 send only the first ERDMA_CREATE_QP_SHORT bytes */
struct erdma_cmd_create_qp {
	__le64 hdr;
	__le32 cfg0;
#define ERDMA_CREATE_QP_SQ_DEPTH	ERDMA_MASK(31, 20)	/* log2, WQEBBs */
#define ERDMA_CREATE_QP_QPN		ERDMA_MASK(19, 0)
	__le32 cfg1;
#define ERDMA_CREATE_QP_RQ_DEPTH	ERDMA_MASK(31, 20)	/* log2, RQEs */
#define ERDMA_CREATE_QP_PD		ERDMA_MASK(19, 0)
	__le32 sq_cfg;
	__le32 rq_cfg;
#define ERDMA_CREATE_QP_PAGE		ERDMA_MASK(31, 28)	/* 4096 << code */
#define ERDMA_CREATE_QP_DB_ASSOC	ERDMA_MASK(25, 25)	/* sq_cfg only */
#define ERDMA_CREATE_QP_CQN		ERDMA_MASK(23, 0)
	__le64 sq_addr;
	__le64 rq_addr;
	__le32 sq_mtt;
	__le32 rq_mtt;
#define ERDMA_CREATE_QP_OFFSET		ERDMA_MASK(31, 12)	/* in place: bytes */
#define ERDMA_CREATE_QP_MTT_CNT		ERDMA_MASK(11, 1)
#define ERDMA_CREATE_QP_LEVEL		ERDMA_MASK(0, 0)
	__le64 sq_dbrec;
	__le64 rq_dbrec;
	__le64 sq_page[3];		/* entries 1..3 if LEVEL = 0 and MTT_CNT > 1 */
	__le64 rq_page[3];
	__le32 db_cfg;
#define ERDMA_CREATE_QP_SQ_DB		ERDMA_MASK(31, 16)	/* if DB_ASSOC */
#define ERDMA_CREATE_QP_RQ_DB		ERDMA_MASK(15, 0)
	__le32 cfg2;
#define ERDMA_CREATE_QP_TYPE		ERDMA_MASK(3, 0)	/* RoCEv2 only */
};
ERDMA_SIZE_IS(struct erdma_cmd_create_qp, 120);
#define ERDMA_CREATE_QP_SHORT		64
#define ERDMA_INLINE_MTT_CNT		4

#define ERDMA_CREATE_QP_RESP_COOKIE	ERDMA_MASK64(31, 0)	/* in RESP0 */

/* 5.2.5 */
struct erdma_cmd_destroy_qp {
	__le64 hdr;
	__le32 qpn;
	__le32 rsvd;
};
ERDMA_SIZE_IS(struct erdma_cmd_destroy_qp, 16);

/* 5.2.6, iWARP form */
struct erdma_cmd_modify_qp {
	__le64 hdr;
	__le32 cfg;
#define ERDMA_MODIFY_QP_STATE		ERDMA_MASK(31, 24)	/* enum erdma_qp_state */
#define ERDMA_MODIFY_QP_CC		ERDMA_MASK(23, 20)	/* enum erdma_cc */
#define ERDMA_MODIFY_QP_QPN		ERDMA_MASK(19, 0)
	__le32 cookie;
	__be32 dip;
	__be32 sip;
	__be16 sport;
	__be16 dport;
	__le32 send_nxt;
	__le32 recv_nxt;
	__le32 rsvd;
};
ERDMA_SIZE_IS(struct erdma_cmd_modify_qp, 40);

enum erdma_cc {
	ERDMA_CC_NEWRENO		= 0,
	ERDMA_CC_CUBIC			= 1,
	ERDMA_CC_HPCC_RTT		= 2,
	ERDMA_CC_HPCC_ECN		= 3,
	ERDMA_CC_HPCC_INT		= 4,
	ERDMA_CC_COUNT			= 5,
};

/* 5.2.8 */
struct erdma_cmd_reflush {
	__le64 hdr;
	__le32 qpn;
	__le32 sq_pi;			/* 16 significant bits */
	__le32 rq_pi;			/* 16 significant bits */
	__le32 rsvd;
};
ERDMA_SIZE_IS(struct erdma_cmd_reflush, 24);

/* 5.2.9 */
struct erdma_cmd_reg_mr {
	__le64 hdr;
	__le32 cfg0;
#define ERDMA_REG_MR_VALID		ERDMA_MASK(31, 31)
#define ERDMA_REG_MR_VERSION		ERDMA_MASK(30, 28)
#define ERDMA_REG_MR_KEY		ERDMA_MASK(27, 20)
#define ERDMA_REG_MR_INDEX		ERDMA_MASK(19, 0)
	__le32 cfg1;
#define ERDMA_REG_MR_PD			ERDMA_MASK(31, 12)
#define ERDMA_REG_MR_TYPE		ERDMA_MASK(7, 6)	/* enum erdma_mr_type */
#define ERDMA_REG_MR_RIGHTS		ERDMA_MASK(5, 1)	/* ERDMA_RIGHT_* >> 1 */
	__le64 start_va;		/* normal MRs only */
	__le32 size;			/* normal MRs only, low 32 bits */
	__le32 cfg2;
#define ERDMA_REG_MR_PAGE_SHIFT		ERDMA_MASK(31, 27)	/* plain log2 */
#define ERDMA_REG_MR_MTT_PAGE		ERDMA_MASK(26, 24)	/* VERSION 1: 4096 << code */
#define ERDMA_REG_MR_LEVEL		ERDMA_MASK(21, 20)	/* 0..3 */
#define ERDMA_REG_MR_PAGE_CNT		ERDMA_MASK(19, 0)	/* low 20 bits */
	union {
		__le64 page[4];		/* LEVEL 0: pages; LEVEL >= 1: page[0] = table */
		struct {
			__le64 table;
			__le32 size_hi;		/* VERSION 1 */
			__le32 page_cnt_hi;	/* VERSION 1, bits [31:20] of the count */
			__le64 rsvd[2];
		} v1;
	};
};
ERDMA_SIZE_IS(struct erdma_cmd_reg_mr, 64);

enum erdma_mr_type {
	ERDMA_MR_NORMAL			= 0,
	ERDMA_MR_FRMR			= 1,
	ERDMA_MR_DMA			= 2,
};

/* Rights at their bit numbers in CFG1 and in the REG_MR work request */
#define ERDMA_RIGHT_REMOTE_ATOMIC	ERDMA_MASK(1, 1)
#define ERDMA_RIGHT_LOCAL_READ		ERDMA_MASK(2, 2)
#define ERDMA_RIGHT_LOCAL_WRITE		ERDMA_MASK(3, 3)
#define ERDMA_RIGHT_REMOTE_READ		ERDMA_MASK(4, 4)
#define ERDMA_RIGHT_REMOTE_WRITE	ERDMA_MASK(5, 5)
#define ERDMA_RIGHT_ALL			ERDMA_MASK(5, 1)

/* 5.2.10 */
struct erdma_cmd_dereg_mr {
	__le64 hdr;
	__le32 cfg;
#define ERDMA_DEREG_MR_KEY		ERDMA_MASK(27, 20)
#define ERDMA_DEREG_MR_INDEX		ERDMA_MASK(19, 0)
	__le32 rsvd;
};
ERDMA_SIZE_IS(struct erdma_cmd_dereg_mr, 16);

/* 5.3.1, 5.3.2 */
struct erdma_cmd_create_eq {
	__le64 hdr;
	__le64 addr;
	__u8 vector;
	__u8 eqn;
	__u8 depth;			/* log2 */
	__u8 type;			/* enum erdma_eq_type */
	__le32 dbrec_lo;
	__le32 dbrec_hi;
	__le32 rsvd;
};
ERDMA_SIZE_IS(struct erdma_cmd_create_eq, 32);

enum erdma_eq_type {
	ERDMA_EQ_AEQ			= 0,
	ERDMA_EQ_CEQ			= 1,
};

struct erdma_cmd_destroy_eq {
	__le64 hdr;
	__le64 rsvd;
	__u8 vector;
	__u8 eqn;
	__u8 rsvd1;
	__u8 type;
	__le32 rsvd2;
};
ERDMA_SIZE_IS(struct erdma_cmd_destroy_eq, 24);

/* 5.3.3, response RESP0 */
#define ERDMA_FW_VERSION		ERDMA_MASK64(31, 0)
#define ERDMA_FW_MAJOR			ERDMA_MASK(23, 16)
#define ERDMA_FW_MEDIUM			ERDMA_MASK(15, 8)
#define ERDMA_FW_MINOR			ERDMA_MASK(7, 0)

/* 5.3.4 */
struct erdma_cmd_conf_mtu {
	__le64 hdr;
	__le32 mtu;
	__le32 rsvd;
};
ERDMA_SIZE_IS(struct erdma_cmd_conf_mtu, 16);

/* 5.3.5, also QUERY_QPC, QUERY_CQC, QUERY_EQC (appendix A) */
struct erdma_cmd_query {
	__le64 hdr;
	__le32 rsvd;
	__le32 index;
	__le64 target;			/* bus address, 256-byte aligned */
	__le32 length;			/* ERDMA_RESP_BUF_SIZE */
	__le32 rsvd1;
};
ERDMA_SIZE_IS(struct erdma_cmd_query, 32);
#define ERDMA_RESP_BUF_SIZE		256
#define ERDMA_RESP_MAGIC		0x5566

/* 5.3.6 */
struct erdma_cmd_conf_device {
	__le64 hdr;
	__le32 cfg;
#define ERDMA_CONF_PAGE_ENABLE		ERDMA_MASK(31, 31)
#define ERDMA_CONF_PAGE_SHIFT		ERDMA_MASK(4, 0)
	__le32 rsvd[5];
};
ERDMA_SIZE_IS(struct erdma_cmd_conf_device, 32);

/* 5.3.7 */
struct erdma_cmd_ext_db {
	__le64 hdr;
	__le32 mask;
#define ERDMA_EXT_DB_SQ			ERDMA_MASK(0, 0)
#define ERDMA_EXT_DB_RQ			ERDMA_MASK(1, 1)
#define ERDMA_EXT_DB_CQ			ERDMA_MASK(2, 2)
	__le16 rdb;			/* FREE_DB only */
	__le16 sdb;
	__le16 rsvd;
	__le16 cdb;
	__le32 rsvd1[3];
};
ERDMA_SIZE_IS(struct erdma_cmd_ext_db, 32);
#define ERDMA_ALLOC_DB_SDB		ERDMA_MASK64(15, 0)	/* in RESP0 */
#define ERDMA_ALLOC_DB_CDB		ERDMA_MASK64(47, 32)
#define ERDMA_ALLOC_DB_RDB		ERDMA_MASK64(63, 48)

/* A.4 SET_RETRANS_NUM */
struct erdma_cmd_set_retrans {
	__le64 hdr;
	__le32 count;			/* 1..255 */
	__le32 rsvd;
};
ERDMA_SIZE_IS(struct erdma_cmd_set_retrans, 16);

/* ---- 6. Capability words ------------------------------------------------ */

#define ERDMA_CAP0_MAX_MR_SIZE		ERDMA_MASK64(7, 0)	/* log2, bytes */
#define ERDMA_CAP0_MAX_AH		ERDMA_MASK64(15, 8)	/* log2 */
#define ERDMA_CAP0_MAX_RECV_WR		ERDMA_MASK64(23, 16)	/* log2 */
#define ERDMA_CAP0_FLAGS		ERDMA_MASK64(31, 24)	/* ERDMA_FLAG_* */
#define ERDMA_CAP0_MAX_CQE		ERDMA_MASK64(47, 40)	/* log2 */
#define ERDMA_CAP0_MAX_GID		ERDMA_MASK64(51, 48)	/* log2 */
#define ERDMA_CAP1_MAX_MW		ERDMA_MASK64(7, 0)	/* log2 */
#define ERDMA_CAP1_QBLOCK		ERDMA_MASK64(27, 16)	/* linear */
#define ERDMA_CAP1_DEFAULT_CC		ERDMA_MASK64(31, 28)
#define ERDMA_CAP1_LOCAL_DMA_KEY	ERDMA_MASK64(63, 32)

#define ERDMA_FLAG_EXT_DB		ERDMA_MASK(3, 3)
#define ERDMA_FLAG_IPV6			ERDMA_MASK(4, 4)
#define ERDMA_FLAG_MTT_VA		ERDMA_MASK(5, 5)
#define ERDMA_FLAG_QUERY_QC		ERDMA_MASK(6, 6)
#define ERDMA_FLAG_ATOMIC		ERDMA_MASK(7, 7)

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

/* ---- 14. Statistics and appendix A: responses by DMA -------------------- */

struct erdma_resp_hdr {
	__le16 magic;			/* ERDMA_RESP_MAGIC */
	__u8 version;
	__u8 length;
	__le32 index;
	__le64 rsvd;
};
ERDMA_SIZE_IS(struct erdma_resp_hdr, 16);

struct erdma_resp_stats {
	struct erdma_resp_hdr hdr;
	__le64 tx_reqs;
	__le64 tx_pkts;
	__le64 tx_bytes;
	__le64 tx_disable_drops;
	__le64 tx_bps_drops;
	__le64 tx_pps_drops;
	__le64 rx_pkts;
	__le64 rx_bytes;
	__le64 rx_disable_drops;
	__le64 rx_bps_drops;
	__le64 rx_pps_drops;
};
ERDMA_SIZE_IS(struct erdma_resp_stats, 104);
#define ERDMA_HW_STATS_COUNT		11

/* A.1 */
struct erdma_qpc_queue {
	__u8 status;			/* 1 = enabled */
	__u8 page_off;
	__u8 page_size;
	__u8 depth;			/* log2 */
	__le16 hw_pi;
	__le16 hw_ci;
};
ERDMA_SIZE_IS(struct erdma_qpc_queue, 8);

struct erdma_resp_qpc {
	struct erdma_resp_hdr hdr;
	struct erdma_qpc_queue sq;
	struct erdma_qpc_queue rq;
	__le16 last_sqe;
	__le16 last_rqe;
	__le16 sq_cqes;
	__le16 rq_cqes;
	__le16 tx_pkts;
	__le16 rx_pkts;
	__le16 rx_err_drops;
	__le16 rx_inv_drops;
	__le32 rto_count;
	__le32 remote_qpn;
	__le32 pd;
	__le16 fw_sq_pi;
	__le16 fw_sq_ci;
	__le16 fw_rq_ci;
	__u8 sq_in_flush;
	__u8 rq_in_flush;
	__le16 sq_flushed_pi;
	__le16 rq_flushed_pi;
	__le32 send_cqn;
	__le32 recv_cqn;
	__le64 sq_addr;
	__le64 rq_addr;
	__le64 sq_dbrec_addr;
	__le64 rq_dbrec_addr;
	__le64 sq_dbrec;
	__le64 rq_dbrec;
	__be32 sip;
	__be32 dip;
	__be16 sport;
	__be16 dport;
	__le32 rsvd;
};
ERDMA_SIZE_IS(struct erdma_resp_qpc, 144);

/* A.2 */
struct erdma_resp_cqc {
	struct erdma_resp_hdr hdr;
	__le32 pi;
	__u8 enabled;
	__u8 depth;			/* log2 */
	__u8 owner;
	__u8 bad_db_type;		/* 0 duplicate, 1 out of order */
	__le32 bad_db_ci;
	__u8 ooo_dbs;
	__u8 dup_dbs;
	__le16 rsvd;
	__le64 addr;
	__le64 dbrec;
};
ERDMA_SIZE_IS(struct erdma_resp_cqc, 48);

/* A.3; INDEX 0 = AEQ, 1 = command EQ, n + 1 = CEQ n */
struct erdma_resp_eqc {
	struct erdma_resp_hdr hdr;
	__le16 depth;
	__le16 vector;
	__u8 suppressed;
	__u8 tail_owner;
	__u8 head_owner;
	__u8 overflow;
	__le32 head;
	__le32 tail;
	__le64 addr;
	__le64 db_addr;
	__le64 dbrec;
};
ERDMA_SIZE_IS(struct erdma_resp_eqc, 56);
#define ERDMA_EQC_INDEX_AEQ		0
#define ERDMA_EQC_INDEX_CMDQ		1
#define ERDMA_EQC_INDEX_CEQ(n)		((n) + 1)	/* CEQ n, n >= 1 */

#endif /* ERDMA_HW_H */
