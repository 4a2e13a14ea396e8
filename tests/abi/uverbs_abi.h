/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of the uverbs ABI as one header defines it. Included by two
 * translation units, each after another header. The names differ, so each line has
 * ours, then the provider's; OWN() or SYSTEM() takes its column.
 */
#ifndef UVERBS_ABI_H
#define UVERBS_ABI_H

#include <stddef.h>

struct abi_field {
	const char *name;
	size_t offset;
	size_t size;
};

#define ABI_MEMBER(name, type, field)					\
	{ name, offsetof(struct type, field), sizeof(((struct type *)0)->field) }
#define ABI_SIZE(name, type) { name, 0, sizeof(struct type) }

/* S(our type, provider's type), F(our type, field, provider's type, field) */
#define OWN_S(own, system) ABI_SIZE(#own, own)
#define OWN_F(own, field, system, system_field) ABI_MEMBER(#own "." #field, own, field)
#define SYSTEM_S(own, system) ABI_SIZE(#own, system)
#define SYSTEM_F(own, field, system, system_field)			\
	ABI_MEMBER(#own "." #field, system, system_field)

#define ABI_FIELDS(S, F)						\
	S(erdma_abi_create_cq, erdma_ureq_create_cq),			\
	F(erdma_abi_create_cq, dbrec_addr, erdma_ureq_create_cq, db_record_va), \
	F(erdma_abi_create_cq, ring_addr, erdma_ureq_create_cq, qbuf_va), \
	F(erdma_abi_create_cq, ring_bytes, erdma_ureq_create_cq, qbuf_len), \
	F(erdma_abi_create_cq, rsvd, erdma_ureq_create_cq, rsvd0),	\
	S(erdma_abi_create_cq_resp, erdma_uresp_create_cq),		\
	F(erdma_abi_create_cq_resp, cqn, erdma_uresp_create_cq, cq_id),	\
	F(erdma_abi_create_cq_resp, depth, erdma_uresp_create_cq, num_cqe), \
	S(erdma_abi_create_qp, erdma_ureq_create_qp),			\
	F(erdma_abi_create_qp, dbrec_addr, erdma_ureq_create_qp, db_record_va), \
	F(erdma_abi_create_qp, ring_addr, erdma_ureq_create_qp, qbuf_va), \
	F(erdma_abi_create_qp, ring_bytes, erdma_ureq_create_qp, qbuf_len), \
	F(erdma_abi_create_qp, rsvd, erdma_ureq_create_qp, rsvd0),	\
	S(erdma_abi_create_qp_resp, erdma_uresp_create_qp),		\
	F(erdma_abi_create_qp_resp, qpn, erdma_uresp_create_qp, qp_id),	\
	F(erdma_abi_create_qp_resp, sq_depth, erdma_uresp_create_qp, num_sqe), \
	F(erdma_abi_create_qp_resp, rq_depth, erdma_uresp_create_qp, num_rqe), \
	F(erdma_abi_create_qp_resp, rq_start, erdma_uresp_create_qp, rq_offset), \
	S(erdma_abi_context_resp, erdma_uresp_alloc_ctx),		\
	F(erdma_abi_context_resp, pci_device, erdma_uresp_alloc_ctx, dev_id), \
	F(erdma_abi_context_resp, rsvd, erdma_uresp_alloc_ctx, pad),	\
	F(erdma_abi_context_resp, sq_db_kind, erdma_uresp_alloc_ctx, sdb_type), \
	F(erdma_abi_context_resp, sq_db_start, erdma_uresp_alloc_ctx, sdb_offset), \
	F(erdma_abi_context_resp, sq_db_page, erdma_uresp_alloc_ctx, sdb), \
	F(erdma_abi_context_resp, rq_db_page, erdma_uresp_alloc_ctx, rdb), \
	F(erdma_abi_context_resp, cq_db_page, erdma_uresp_alloc_ctx, cdb)

extern const struct abi_field system_abi[];
extern const int n_system_abi, system_abi_version;

#endif
