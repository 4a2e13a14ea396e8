/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of the uverbs ABI as one header defines it. Included by two
 * translation units, each after another header; ABI_TABLE is the table's name.
 */
#ifndef UVERBS_ABI_H
#define UVERBS_ABI_H

#include <stddef.h>

struct abi_field {
	const char *name;
	size_t offset;
	size_t size;
};

#define F(type, field)							\
	{ #type "." #field, offsetof(struct type, field),		\
	  sizeof(((struct type *)0)->field) }
#define S(type) { #type, 0, sizeof(struct type) }

#define ABI_FIELDS							\
	S(erdma_ureq_create_cq),					\
	F(erdma_ureq_create_cq, db_record_va),				\
	F(erdma_ureq_create_cq, qbuf_va),				\
	F(erdma_ureq_create_cq, qbuf_len),				\
	F(erdma_ureq_create_cq, rsvd0),					\
	S(erdma_uresp_create_cq),					\
	F(erdma_uresp_create_cq, cq_id),				\
	F(erdma_uresp_create_cq, num_cqe),				\
	S(erdma_ureq_create_qp),					\
	F(erdma_ureq_create_qp, db_record_va),				\
	F(erdma_ureq_create_qp, qbuf_va),				\
	F(erdma_ureq_create_qp, qbuf_len),				\
	F(erdma_ureq_create_qp, rsvd0),					\
	S(erdma_uresp_create_qp),					\
	F(erdma_uresp_create_qp, qp_id),				\
	F(erdma_uresp_create_qp, num_sqe),				\
	F(erdma_uresp_create_qp, num_rqe),				\
	F(erdma_uresp_create_qp, rq_offset),				\
	S(erdma_uresp_alloc_ctx),					\
	F(erdma_uresp_alloc_ctx, dev_id),				\
	F(erdma_uresp_alloc_ctx, pad),					\
	F(erdma_uresp_alloc_ctx, sdb_type),				\
	F(erdma_uresp_alloc_ctx, sdb_offset),				\
	F(erdma_uresp_alloc_ctx, sdb),					\
	F(erdma_uresp_alloc_ctx, rdb),					\
	F(erdma_uresp_alloc_ctx, cdb)

extern const struct abi_field system_abi[];
extern const int n_system_abi, system_abi_version;

#endif
