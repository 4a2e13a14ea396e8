/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes to facts. The bytes come from rings and replies that anybody may have
 * written: nothing here reads outside the buffer it was given.
 */
#ifndef EADM_DECODE_H
#define EADM_DECODE_H

#include <netinet/in.h>
#include <linux/types.h>

#include "model.h"
#include "uapi/erdma_diag.h"

/**
 * enum xform - what a masked number means
 * @X_NUM: as it is
 * @X_PLUS1: counted from 0
 * @X_LOG2: exponent of two
 * @X_PAGE: exponent, 0 = 4096
 * @X_UNIT: in place: not shifted down
 * @X_NAME: code with a word
 * @X_IPV4: network order
 */
enum xform {
	X_NUM,
	X_PLUS1,
	X_LOG2,
	X_PAGE,
	X_UNIT,
	X_NAME,
	X_IPV4,
};

#define BITS_BE		(1 << 0)	/* big endian */
#define BITS_IF_SET	(1 << 1)	/* a fact only if not zero */

/**
 * struct bits - where a field of a schema is in a structure
 * @field: field of the schema
 * @off: byte offset
 * @size: bytes, 1 to 8
 * @mask: bits, 0 = all
 * @xform: enum xform
 * @flags: BITS_*
 * @name: X_NAME: code to word
 */
struct bits {
	unsigned int field;
	unsigned int off;
	unsigned int size;
	uint64_t mask;
	enum xform xform;
	unsigned int flags;
	const char *(*name)(__u32 code);
};

#define MEMBER(st, m)	offsetof(struct st, m), sizeof(((struct st *)NULL)->m)

uint64_t get_le(const void *p, size_t size);
uint64_t get_be(const void *p, size_t size);
void decode_bits(struct obj *o, const struct bits *t, size_t n, const void *buf, size_t len);
void decode_name(struct obj *o, unsigned int field, const char *name, uint32_t code);
void decode_rights(struct obj *o, unsigned int field, uint32_t rights);
void ipv4_text(const void *addr, char text[INET_ADDRSTRLEN]);
void decode_ipv4(struct obj *o, unsigned int field, const void *addr);
void hide_keys(struct obj *o);
void hide_addresses(struct obj *o, bool device);
#define DECODE(o, table, buf, len) \
	decode_bits(o, table, sizeof(table) / sizeof((table)[0]), buf, len)

/* Ring entries */
void decode_wqe(struct obj *o, const void *buf, size_t len);
void decode_rqe(struct obj *o, const void *buf, size_t len);
void decode_cqe(struct obj *o, const void *buf, size_t len);
void decode_cmd_cqe(struct obj *o, const void *buf, size_t len);
void decode_ceqe(struct obj *o, const void *buf, size_t len);
void decode_aeqe(struct obj *o, const void *buf, size_t len);
void decode_cmd(struct obj *o, const void *buf, size_t len);

/* Entries of the recorders */
struct rec;
const char *log_kind_name(uint32_t kind);
const char *log_verb_name(uint32_t verb);
void decode_log(struct obj *o, uint32_t kind, const struct rec *rec, uint64_t wall_ns);

/* Records of the driver and contexts of the device */
void decode_info(struct obj *o, const struct erdma_diag_info *info);
void decode_qp_row(struct obj *o, const struct erdma_diag_qp *qp, uint64_t now_ns);
int decode_qp_stopped(const struct erdma_diag_qp *qp);
bool decode_qp_flushing(const void *buf, size_t len);
void decode_cq_row(struct obj *o, const struct erdma_diag_cq *cq, uint64_t now_ns);
void decode_eq_row(struct obj *o, const struct erdma_diag_eq *eq, size_t len);
void decode_qp_driver(struct obj *o, const struct erdma_diag_qp *qp, uint64_t now_ns);
void decode_cq_driver(struct obj *o, const struct erdma_diag_cq *cq, uint64_t now_ns);
void decode_eq_driver(struct obj *o, const struct erdma_diag_eq *eq, size_t len);
void decode_qp_device(struct obj *o, const void *buf, size_t len);
void decode_cq_device(struct obj *o, const void *buf, size_t len);
void decode_eq_device(struct obj *o, const void *buf, size_t len);
void decode_cmdq(struct obj *o, const struct erdma_diag_cmdq *cmdq);

const char *eq_name(uint32_t eqn, char buf[16]);
const char *errno_name(int err);

#endif /* EADM_DECODE_H */
