/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause */
/*
 * Driver-private parts of the uverbs commands: what the stock provider
 * (liberdma of rdma-core) exchanges with the kernel, ABI version 1
 * (docs/erdma-hardware.md, section 13). Only the layout is the ABI, the names are
 * ours. Little-endian hosts; every structure is 8-byte aligned.
 */
#ifndef ERDMA_UAPI_ABI_H
#define ERDMA_UAPI_ABI_H

#include <linux/types.h>

#define ERDMA_ABI_VERSION 1

struct erdma_abi_create_cq {
	__aligned_u64 dbrec_addr;	/* 8-byte doorbell record */
	__aligned_u64 ring_addr;	/* ring, 4 KiB aligned */
	__u32 ring_bytes;
	__u32 rsvd;
};

struct erdma_abi_create_cq_resp {
	__u32 cqn;
	__u32 depth;			/* CQEs */
};

struct erdma_abi_create_qp {
	__aligned_u64 dbrec_addr;	/* two records: SQ at +0, RQ at +8 */
	__aligned_u64 ring_addr;	/* SQ, then RQ; 4 KiB aligned */
	__u32 ring_bytes;
	__u32 rsvd;
};

struct erdma_abi_create_qp_resp {
	__u32 qpn;
	__u32 sq_depth;			/* WQEBBs */
	__u32 rq_depth;			/* RQEs */
	__u32 rq_start;			/* bytes from ring_addr */
};

struct erdma_abi_context_resp {
	__u32 pci_device;		/* PCI device id */
	__u32 rsvd;
	__u32 sq_db_kind;		/* 0: SQ doorbell at (QPN mod 32) * 128 */
	__u32 sq_db_start;
	__aligned_u64 sq_db_page;	/* mmap offsets of the doorbell pages */
	__aligned_u64 rq_db_page;
	__aligned_u64 cq_db_page;
};

#endif /* ERDMA_UAPI_ABI_H */
