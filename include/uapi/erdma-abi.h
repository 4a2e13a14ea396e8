/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause */
/*
 * Driver-private parts of the uverbs commands: what the stock provider
 * (liberdma of rdma-core) exchanges with the kernel, ABI version 1
 * (docs/erdma-hardware.md, section 13). Little-endian hosts; every structure
 * is 8-byte aligned.
 */
#ifndef ERDMA_ABI_USER_H
#define ERDMA_ABI_USER_H

#include <linux/types.h>

#define ERDMA_ABI_VERSION 1

struct erdma_ureq_create_cq {
	__aligned_u64 db_record_va;	/* 8-byte doorbell record */
	__aligned_u64 qbuf_va;		/* ring, 4 KiB aligned */
	__u32 qbuf_len;			/* bytes */
	__u32 rsvd0;
};

struct erdma_uresp_create_cq {
	__u32 cq_id;			/* CQN */
	__u32 num_cqe;			/* depth */
};

struct erdma_ureq_create_qp {
	__aligned_u64 db_record_va;	/* two records: SQ at +0, RQ at +8 */
	__aligned_u64 qbuf_va;
	__u32 qbuf_len;
	__u32 rsvd0;
};

struct erdma_uresp_create_qp {
	__u32 qp_id;			/* QPN */
	__u32 num_sqe;			/* SQ depth in WQEBBs */
	__u32 num_rqe;			/* RQ depth */
	__u32 rq_offset;		/* bytes from qbuf_va */
};

struct erdma_uresp_alloc_ctx {
	__u32 dev_id;			/* PCI device id */
	__u32 pad;
	__u32 sdb_type;			/* 0: SQ doorbell at (QPN mod 32) * 128 */
	__u32 sdb_offset;
	__aligned_u64 sdb;		/* mmap offsets of the doorbell pages */
	__aligned_u64 rdb;
	__aligned_u64 cdb;
};

#endif /* ERDMA_ABI_USER_H */
