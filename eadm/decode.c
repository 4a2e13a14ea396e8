// SPDX-License-Identifier: GPL-2.0-or-later
/* Entries of queue pairs, completion queues and event queues to facts. */
#include <stdio.h>
#include <string.h>

#include "erdma/erdma_field.h"
#include "erdma/erdma_hw.h"
#include "erdma/erdma_names.h"

#include "decode.h"
#include "schema.h"

/**
 * get_le - little-endian number
 * @p: bytes, in any alignment
 * @size: their number, at most 8
 *
 * Return: the number.
 */
uint64_t get_le(const void *p, size_t size)
{
	const uint8_t *b = p;
	uint64_t v = 0;

	while (size--)
		v = v << 8 | b[size];
	return v;
}

/**
 * get_be - big-endian number
 * @p: bytes, in any alignment
 * @size: their number, at most 8
 *
 * Return: the number.
 */
uint64_t get_be(const void *p, size_t size)
{
	const uint8_t *b = p;
	uint64_t v = 0;

	while (size--)
		v = v << 8 | *b++;
	return v;
}

/**
 * decode_name - set a word for a code
 * @o: object
 * @field: field
 * @name: word, a constant, or NULL if the code has none
 * @code: code
 */
void decode_name(struct obj *o, unsigned int field, const char *name, uint32_t code)
{
	if (name)
		obj_const(o, field, name);
	else
		obj_strf(o, field, "unknown-%u", code);
}

/**
 * ipv4_text - an IPv4 address
 * @addr: four bytes in network order; 240.0.0.0/8 are pseudonyms of a snapshot file
 * @text: filled
 */
void ipv4_text(const void *addr, char text[INET_ADDRSTRLEN])
{
	const uint8_t *b = addr;
	unsigned int i;

	if (b[0] == 240) {
		snprintf(text, INET_ADDRSTRLEN, "ip-%u",
			 (unsigned int)(b[1] << 16 | b[2] << 8 | b[3]));
		return;
	}
	/* Long lists have two in each row */
	for (i = 0; i < 4; i++) {
		if (b[i] > 99)
			*text++ = (char)('0' + b[i] / 100);
		if (b[i] > 9)
			*text++ = (char)('0' + b[i] / 10 % 10);
		*text++ = (char)('0' + b[i] % 10);
		*text++ = i < 3 ? '.' : '\0';
	}
}

/**
 * decode_ipv4 - set an IPv4 address
 * @o: object
 * @field: field
 * @addr: as for ipv4_text()
 */
void decode_ipv4(struct obj *o, unsigned int field, const void *addr)
{
	char text[INET_ADDRSTRLEN];

	ipv4_text(addr, text);
	obj_str(o, field, text);
}

/**
 * decode_rights - set the words of access rights
 * @o: object
 * @field: field
 * @rights: ERDMA_RIGHT_*
 */
void decode_rights(struct obj *o, unsigned int field, uint32_t rights)
{
	static const struct {
		uint32_t bit;
		const char *word;
	} words[] = {
		{ ERDMA_RIGHT_LOCAL_READ, "local-read" },
		{ ERDMA_RIGHT_LOCAL_WRITE, "local-write" },
		{ ERDMA_RIGHT_REMOTE_READ, "remote-read" },
		{ ERDMA_RIGHT_REMOTE_WRITE, "remote-write" },
		{ ERDMA_RIGHT_REMOTE_ATOMIC, "remote-atomic" },
	};
	size_t i;

	obj_word(o, field, NULL);
	for (i = 0; i < COUNT_OF(words); i++)
		if (rights & words[i].bit)
			obj_word(o, field, words[i].word);
}

/**
 * hide_keys - mark keys and addresses that the kernel zeroed as withheld
 * @o: object
 *
 * A withheld key must not look like key 0.
 */
void hide_keys(struct obj *o)
{
	unsigned int i;
	struct obj *s;

	for (i = 0; i < o->schema->n_fields; i++) {
		if (o->v[i].kind == V_LIST)
			for (s = o->v[i].l->first; s; s = s->next)
				hide_keys(s);
		if (!(o->schema->fields[i].flags & F_KEY))
			continue;
		if (o->v[i].kind == V_WORDS || (o->v[i].kind == V_U64 && !o->v[i].u))
			o->v[i].kind = V_WITHHELD;
	}
}

/**
 * hide_addresses - mark addresses of a context as withheld
 * @o: object of a schema of a side
 * @device: the device's side
 */
void hide_addresses(struct obj *o, bool device)
{
	unsigned int i, flags;

	for (i = 0; i < o->schema->n_fields; i++) {
		flags = o->schema->fields[i].flags;
		if (flags & F_KEY && (device ? flags & F_DEVICE : !(flags & F_NO_DRIVER)))
			obj_missing(o, i, V_WITHHELD);
	}
}

static void set_bits(struct obj *o, const struct bits *b, uint64_t v, const uint8_t *at)
{
	switch (b->xform) {
	case X_NUM:
	case X_UNIT:
		obj_u64(o, b->field, v);
		break;
	case X_PLUS1:
		obj_u64(o, b->field, v + 1);
		break;
	case X_LOG2:
		obj_u64(o, b->field, v < 64 ? 1ULL << v : 0);
		break;
	case X_PAGE:
		obj_u64(o, b->field, v < 52 ? 4096ULL << v : 0);
		break;
	case X_NAME:
		decode_name(o, b->field, b->name((uint32_t)v), (uint32_t)v);
		break;
	case X_IPV4:
		decode_ipv4(o, b->field, at);
		break;
	}
}

/**
 * decode_bits - set fields from a structure
 * @o: object
 * @t: where the fields are
 * @n: entries of @t
 * @buf: structure; fields that are not inside stay unknown
 * @len: its bytes
 */
void decode_bits(struct obj *o, const struct bits *t, size_t n, const void *buf, size_t len)
{
	const uint8_t *at;
	uint64_t v;

	for (; n; n--, t++) {
		if (t->off + t->size > len)
			continue;
		at = (const uint8_t *)buf + t->off;
		v = t->flags & BITS_BE ? get_be(at, t->size) : get_le(at, t->size);
		if (t->mask)
			v = t->xform == X_UNIT ? v & t->mask : ERDMA_GET(t->mask, v);
		if (v || !(t->flags & BITS_IF_SET))
			set_bits(o, t, v, at);
	}
}

/* ---- send queue entries ------------------------------------------------- */

static const struct bits sqe_hdr[] = {
	{ W_PI_AFTER, 0, 8, ERDMA_SQE_HDR_PI },
	{ W_OPCODE, 0, 8, ERDMA_SQE_HDR_OPCODE, X_NAME, .name = erdma_name_wr_opcode },
	{ W_OPCODE_NUM, 0, 8, ERDMA_SQE_HDR_OPCODE },
	{ W_QPN, 0, 8, ERDMA_SQE_HDR_QPN },
	{ W_WQEBBS, 0, 8, ERDMA_SQE_HDR_WQEBBS, X_PLUS1 },
	{ W_SGL_LEN, 0, 8, ERDMA_SQE_HDR_SGL_LEN },
};

static const struct bits sqe_write[] = {
	{ W_LENGTH, MEMBER(erdma_sqe_write, length) },
	{ W_RKEY, MEMBER(erdma_sqe_write, rkey) },
	{ W_REMOTE_ADDR, offsetof(struct erdma_sqe_write, raddr_lo), 8 },
};

static const struct bits sqe_write_imm[] = {
	{ W_IMM, MEMBER(erdma_sqe_write, imm), .flags = BITS_BE },
};

static const struct bits sqe_send[] = {
	{ W_LENGTH, MEMBER(erdma_sqe_send, length) },
};

static const struct bits sqe_send_imm[] = {
	{ W_IMM, MEMBER(erdma_sqe_send, imm), .flags = BITS_BE },
};

static const struct bits sqe_send_inv[] = {
	{ W_INV_STAG, MEMBER(erdma_sqe_send, inv_stag) },
};

/* The fixed part is the local side, the SGE the remote one (9.3) */
static const struct bits sqe_read[] = {
	{ W_LENGTH, MEMBER(erdma_sqe_read, length) },
	{ W_LKEY, MEMBER(erdma_sqe_read, lkey) },
	{ W_LOCAL_ADDR, offsetof(struct erdma_sqe_read, laddr_lo), 8 },
	{ W_REMOTE_ADDR, MEMBER(erdma_sqe_read, remote.addr) },
	{ W_REMOTE_LEN, MEMBER(erdma_sqe_read, remote.length) },
	{ W_RKEY, MEMBER(erdma_sqe_read, remote.key) },
};

static const struct bits sqe_read_inv[] = {
	{ W_INV_STAG, MEMBER(erdma_sqe_read, inv_stag) },
};

/* The remote length is never written (9.3) */
static const struct bits sqe_atomic[] = {
	{ W_REMOTE_ADDR, MEMBER(erdma_sqe_atomic, remote.addr) },
	{ W_RKEY, MEMBER(erdma_sqe_atomic, remote.key) },
	{ W_LOCAL_ADDR, MEMBER(erdma_sqe_atomic, local.addr) },
	{ W_LOCAL_LEN, MEMBER(erdma_sqe_atomic, local.length) },
	{ W_LKEY, MEMBER(erdma_sqe_atomic, local.key) },
	{ W_LENGTH, MEMBER(erdma_sqe_atomic, local.length) },
};

static const struct bits sqe_cas[] = {
	{ W_SWAP, MEMBER(erdma_sqe_atomic, swap_add) },
	{ W_COMPARE, MEMBER(erdma_sqe_atomic, compare) },
};

static const struct bits sqe_faa[] = {
	{ W_ADD, MEMBER(erdma_sqe_atomic, swap_add) },
};

static const struct bits sqe_reg_mr[] = {
	{ W_IOVA, MEMBER(erdma_sqe_reg_mr, iova) },
	{ W_LENGTH, MEMBER(erdma_sqe_reg_mr, length) },
	{ W_STAG, MEMBER(erdma_sqe_reg_mr, stag) },
	{ W_PAGE_CNT, MEMBER(erdma_sqe_reg_mr, attr), ERDMA_SQE_REG_MR_PAGE_CNT },
};

static const struct bits sqe_local_inv[] = {
	{ W_STAG, MEMBER(erdma_sqe_local_inv, stag) },
};

static void wqe_flags(struct obj *o, uint64_t hdr)
{
	obj_word(o, W_FLAGS, NULL);
	if (ERDMA_GET(ERDMA_SQE_HDR_CE, hdr))
		obj_word(o, W_FLAGS, "CE");
	if (ERDMA_GET(ERDMA_SQE_HDR_SE, hdr))
		obj_word(o, W_FLAGS, "SE");
	if (ERDMA_GET(ERDMA_SQE_HDR_FENCE, hdr))
		obj_word(o, W_FLAGS, "FENCE");
	if (ERDMA_GET(ERDMA_SQE_HDR_INLINE, hdr))
		obj_word(o, W_FLAGS, "INLINE");
	if (ERDMA_GET(ERDMA_SQE_HDR_DWQE, hdr))
		obj_word(o, W_FLAGS, "DWQE");
}

/* SGL or inline data of a WRITE or SEND, from @off on */
static void wqe_payload(struct obj *o, uint64_t hdr, const uint8_t *buf, size_t len, size_t off)
{
	uint64_t n = ERDMA_GET(ERDMA_SQE_HDR_SGL_LEN, hdr);
	struct obj *s;

	/* Less than a block: the rest was withheld */
	if (len < off || len < ERDMA_WQEBB_SIZE)
		return;
	if (ERDMA_GET(ERDMA_SQE_HDR_INLINE, hdr)) {
		if (n > ERDMA_MAX_INLINE || n > len - off)
			obj_word(o, W_PROBLEMS, "inline data longer than the request");
		obj_bytes(o, W_INLINE, buf + off, n < len - off ? n : len - off);
		return;
	}
	if (n > ERDMA_MAX_SEND_SGE || n * sizeof(struct erdma_sge) > len - off)
		obj_word(o, W_PROBLEMS, "more SGEs than the request has room for");
	for (; n && len - off >= sizeof(struct erdma_sge); n--, off += sizeof(struct erdma_sge)) {
		s = obj_new(o->pool, &schema_sge);
		obj_u64(s, S_ADDR, get_le(buf + off, 8));
		obj_u64(s, S_LENGTH, get_le(buf + off + 8, 4));
		obj_u64(s, S_KEY, get_le(buf + off + 12, 4));
		list_add(obj_list(o, W_SGL), s);
	}
}

static void wqe_reg_mr(struct obj *o, const uint8_t *buf, size_t len)
{
	const size_t inline_at = sizeof(struct erdma_sqe_reg_mr);
	uint32_t attr, kind;
	uint64_t i, pages;

	DECODE(o, sqe_reg_mr, buf, len);
	if (len < inline_at)
		return;
	attr = (uint32_t)get_le(buf + offsetof(struct erdma_sqe_reg_mr, attr), 4);
	decode_rights(o, W_RIGHTS, attr);
	kind = ERDMA_GET(ERDMA_SQE_REG_MR_KIND, attr);
	decode_name(o, W_KIND, kind == ERDMA_REG_MR_INLINE ? "inline" :
		    kind == ERDMA_REG_MR_TABLE ? "of-the-region" : NULL, kind);
	if (kind != ERDMA_REG_MR_INLINE)
		return;
	pages = ERDMA_GET(ERDMA_SQE_REG_MR_PAGE_CNT, attr);
	if (pages > ERDMA_INLINE_MTT_CNT || inline_at + 8 * pages > len)
		obj_word(o, W_PROBLEMS, "more inline pages than the request has room for");
	for (i = 0; i < pages && i < ERDMA_INLINE_MTT_CNT && inline_at + 8 * (i + 1) <= len; i++)
		obj_word(o, W_PAGES, pool_printf(o->pool, "0x%016llx", (unsigned long long)
						 get_le(buf + inline_at + 8 * i, 8)));
}

static void wqe_body(struct obj *o, uint64_t hdr, const uint8_t *buf, size_t len)
{
	switch (ERDMA_GET(ERDMA_SQE_HDR_OPCODE, hdr)) {
	case ERDMA_OP_WRITE_IMM:
		DECODE(o, sqe_write_imm, buf, len);
		/* fall through */
	case ERDMA_OP_WRITE:
		DECODE(o, sqe_write, buf, len);
		wqe_payload(o, hdr, buf, len, sizeof(struct erdma_sqe_write));
		break;
	case ERDMA_OP_SEND_IMM:
		DECODE(o, sqe_send, buf, len);
		DECODE(o, sqe_send_imm, buf, len);
		wqe_payload(o, hdr, buf, len, sizeof(struct erdma_sqe_send));
		break;
	case ERDMA_OP_SEND_INV:
		DECODE(o, sqe_send_inv, buf, len);
		/* fall through */
	case ERDMA_OP_SEND:
		DECODE(o, sqe_send, buf, len);
		wqe_payload(o, hdr, buf, len, sizeof(struct erdma_sqe_send));
		break;
	case ERDMA_OP_READ_INV:
		DECODE(o, sqe_read_inv, buf, len);
		/* fall through */
	case ERDMA_OP_READ:
		DECODE(o, sqe_read, buf, len);
		break;
	case ERDMA_OP_ATOMIC_CAS:
		DECODE(o, sqe_cas, buf, len);
		DECODE(o, sqe_atomic, buf, len);
		break;
	case ERDMA_OP_ATOMIC_FAA:
		DECODE(o, sqe_faa, buf, len);
		DECODE(o, sqe_atomic, buf, len);
		break;
	case ERDMA_OP_REG_MR:
		wqe_reg_mr(o, buf, len);
		break;
	case ERDMA_OP_LOCAL_INV:
		DECODE(o, sqe_local_inv, buf, len);
		break;
	default:
		obj_word(o, W_PROBLEMS, "this opcode cannot be posted");
	}
}

/**
 * decode_wqe - facts of a work request
 * @o: object of schema_wqe
 * @buf: the request, already unwrapped from the ring
 * @len: its bytes: WQEBBs times 32
 */
void decode_wqe(struct obj *o, const void *buf, size_t len)
{
	uint64_t hdr;

	if (len < 8)
		return;
	hdr = get_le(buf, 8);
	DECODE(o, sqe_hdr, buf, len);
	wqe_flags(o, hdr);
	wqe_body(o, hdr, buf, len);
}

/* ---- receive queue entries ---------------------------------------------- */

static const struct bits rqe_bits[] = {
	{ R_QE_IDX, MEMBER(erdma_rqe, qe_idx) },
	{ R_QPN, MEMBER(erdma_rqe, qpn) },
	{ R_LENGTH, MEMBER(erdma_rqe, length) },
};

/* Stale without an SGE (9.5) */
static const struct bits rqe_sge[] = {
	{ R_ADDR, MEMBER(erdma_rqe, addr) },
	{ R_LKEY, MEMBER(erdma_rqe, stag) },
};

/**
 * decode_rqe - facts of a receive request
 * @o: object of schema_rqe
 * @buf: entry
 * @len: its bytes
 */
void decode_rqe(struct obj *o, const void *buf, size_t len)
{
	DECODE(o, rqe_bits, buf, len);
	if (obj_get_u64(o, R_LENGTH, 0))
		DECODE(o, rqe_sge, buf, len);
}

/* ---- completions -------------------------------------------------------- */

static const char *qtype_name(__u32 qtype)
{
	switch (qtype) {
	case ERDMA_CQE_QTYPE_SQ:
		return "SQ";
	case ERDMA_CQE_QTYPE_RQ:
		return "RQ";
	case ERDMA_CQE_QTYPE_CMDQ:
		return "CMDQ";
	}
	return NULL;
}

static const struct bits cqe_bits[] = {
	{ C_OWNER, MEMBER(erdma_cqe, hdr), ERDMA_CQE_OWNER, .flags = BITS_BE },
	{ C_OPCODE, MEMBER(erdma_cqe, hdr), ERDMA_CQE_OPCODE, X_NAME, BITS_BE,
	  erdma_name_wr_opcode },
	{ C_OPCODE_NUM, MEMBER(erdma_cqe, hdr), ERDMA_CQE_OPCODE, .flags = BITS_BE },
	{ C_QTYPE, MEMBER(erdma_cqe, hdr), ERDMA_CQE_QTYPE, X_NAME, BITS_BE, qtype_name },
	{ C_SYNDROME, MEMBER(erdma_cqe, hdr), ERDMA_CQE_SYNDROME, X_NAME, BITS_BE,
	  erdma_name_syndrome },
	{ C_SYNDROME_NUM, MEMBER(erdma_cqe, hdr), ERDMA_CQE_SYNDROME, .flags = BITS_BE },
	{ C_QE_IDX, MEMBER(erdma_cqe, qe_idx), 0xffff, .flags = BITS_BE },
	{ C_QPN, MEMBER(erdma_cqe, qpn), 0xfffff, .flags = BITS_BE },
	{ C_SIZE, MEMBER(erdma_cqe, size), .flags = BITS_BE },
	{ C_RC, MEMBER(erdma_cqe, rc), .flags = BITS_BE | BITS_IF_SET },
};

/* The device turns the four immediate bytes round (8.2) */
static const struct bits cqe_imm[] = {
	{ C_IMM, MEMBER(erdma_cqe, imm) },
};

static const struct bits cqe_inv[] = {
	{ C_INV_STAG, MEMBER(erdma_cqe, imm), .flags = BITS_BE },
};

/**
 * decode_cqe - facts of a completion
 * @o: object of schema_cqe
 * @buf: entry
 * @len: its bytes
 */
void decode_cqe(struct obj *o, const void *buf, size_t len)
{
	uint32_t syndrome;

	DECODE(o, cqe_bits, buf, len);
	syndrome = (uint32_t)obj_get_u64(o, C_SYNDROME_NUM, 0);
	if (syndrome && erdma_text_syndrome(syndrome))
		obj_str(o, C_TEXT, erdma_text_syndrome(syndrome));
	switch (obj_get_u64(o, C_OPCODE_NUM, 0)) {
	case ERDMA_OP_RECV_WRITE_IMM:
	case ERDMA_OP_RECV_SEND_IMM:
		DECODE(o, cqe_imm, buf, len);
		break;
	case ERDMA_OP_RECV_INV:
		DECODE(o, cqe_inv, buf, len);
		break;
	}
}

/* ---- events ------------------------------------------------------------- */

static const struct bits ceqe_bits[] = {
	{ E_OWNER, MEMBER(erdma_ceqe, data), ERDMA_CEQE_OWNER },
	{ E_CQN, MEMBER(erdma_ceqe, data), ERDMA_CEQE_CQN },
	{ E_PI, MEMBER(erdma_ceqe, data), ERDMA_CEQE_PI },
	{ E_DB, MEMBER(erdma_ceqe, data), ERDMA_CEQE_DB },
};

/**
 * decode_ceqe - facts of a completion event
 * @o: object of schema_ceqe
 * @buf: entry
 * @len: its bytes
 */
void decode_ceqe(struct obj *o, const void *buf, size_t len)
{
	DECODE(o, ceqe_bits, buf, len);
}

static const struct bits aeqe_bits[] = {
	{ A_OWNER, MEMBER(erdma_aeqe, hdr), ERDMA_AEQE_OWNER },
	{ A_TYPE, MEMBER(erdma_aeqe, hdr), ERDMA_AEQE_TYPE, X_NAME, .name = erdma_name_ae_type },
	{ A_TYPE_NUM, MEMBER(erdma_aeqe, hdr), ERDMA_AEQE_TYPE },
	{ A_SUBTYPE, MEMBER(erdma_aeqe, hdr), ERDMA_AEQE_SUBTYPE },
	{ A_DATA, MEMBER(erdma_aeqe, data) },
};

/**
 * decode_aeqe - facts of an asynchronous event
 * @o: object of schema_aeqe
 * @buf: entry
 * @len: its bytes
 */
void decode_aeqe(struct obj *o, const void *buf, size_t len)
{
	static const struct bits qpn[] = { { A_QPN, MEMBER(erdma_aeqe, object) } };
	static const struct bits cqn[] = { { A_CQN, MEMBER(erdma_aeqe, object) } };
	const char *text;
	uint32_t type;

	DECODE(o, aeqe_bits, buf, len);
	type = (uint32_t)obj_get_u64(o, A_TYPE_NUM, 0);
	if (type == ERDMA_AE_CQ_ERR)
		DECODE(o, cqn, buf, len);
	else
		DECODE(o, qpn, buf, len);
	text = erdma_text_ae_type(type);
	obj_str(o, A_TEXT, text ? text : "reserved type, handled like a fatal error");
}
