/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * PCI function, registers, capability words, sizes and limits: sections 1, 2
 * and 6. Included through erdma_hw.h.
 */
#ifndef ERDMA_REG_H
#define ERDMA_REG_H

#include <linux/types.h>

#include "erdma_size.h"

#define ERDMA_MASK(h, l)	(((0xffffffffU) >> (31 - (h))) & ((0xffffffffU) << (l)))
#define ERDMA_MASK64(h, l)	(((0xffffffffffffffffULL) >> (63 - (h))) & \
				 ((0xffffffffffffffffULL) << (l)))

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

#endif /* ERDMA_REG_H */
