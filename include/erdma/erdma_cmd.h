/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Commands and the responses some of them get by DMA: sections 4, 5 and 14,
 * appendix A. Included through erdma_hw.h.
 */
#ifndef ERDMA_CMD_H
#define ERDMA_CMD_H

#include "erdma_reg.h"

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
#define ERDMA_RESP_VERSION		0

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
#define ERDMA_EXT_DB_ALL		ERDMA_MASK(2, 0)
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

/* A.4 SET_EXT_ATTR; @mask: ERDMA_EXT_ATTR_* that the request is about */
struct erdma_cmd_set_ext_attr {
	__le64 hdr;
	__le32 mask;
	__u8 delayed_ack;
	__u8 enable;
	__le16 rsvd;
};
ERDMA_SIZE_IS(struct erdma_cmd_set_ext_attr, 16);
#define ERDMA_EXT_ATTR_DELAYED_ACK	ERDMA_MASK(0, 0)
#define ERDMA_EXT_ATTR_LEGACY_MODE	ERDMA_MASK(2, 2)

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

/* A.4 GET_EXT_ATTR, INDEX 0 */
struct erdma_resp_ext_attr {
	struct erdma_resp_hdr hdr;
	__le32 capabilities;		/* ERDMA_EXT_ATTR_* */
	__le32 attributes;
	__u8 delayed_ack;
	__u8 rsvd[7];
};
ERDMA_SIZE_IS(struct erdma_resp_ext_attr, 32);

#endif /* ERDMA_CMD_H */
