// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Entries of rings in a file of pseudonyms. Each kind of entry has a table of what is
 * left of it; all other bytes become zero: data of requests, immediates, blocks in which
 * no request begins.
 */
#include <stdlib.h>
#include <string.h>

#include "erdma/erdma_field.h"
#include "erdma/erdma_hw.h"
#include "erdma/erdma_ring.h"
#include "uapi/erdma_diag.h"

#include "decode.h"
#include "redact_int.h"
#include "ring.h"

#define ENTRY_MAX	(ERDMA_SQE_MAX_WQEBBS * 2 * ERDMA_WQEBB_SIZE)

/**
 * struct left - bytes of an entry that are left, or get a pseudonym
 * @off: where
 * @size: bytes: of keys 4, of addresses 8, of IP addresses 4
 * @cls: FC_PLAIN, FC_KEY, FC_ADDR, FC_IP
 * @key: FC_ADDR: where the key of its region is; 0: it has none
 * @be: a key is big endian
 */
struct left {
	uint8_t off;
	uint8_t size;
	uint8_t cls;
	uint8_t key;
	bool be;
};

#define SIZE(s, m)	sizeof(((struct s *)0)->m)
#define KEEP(s, m)	{ offsetof(struct s, m), SIZE(s, m), FC_PLAIN }
#define KEY(s, m)	{ offsetof(struct s, m), 4, FC_KEY }
#define KEY_BE(s, m)	{ offsetof(struct s, m), 4, FC_KEY, .be = true }
#define ADDR(s, m)	{ offsetof(struct s, m), 8, FC_ADDR }
#define ADDR_IN(s, m, k) { offsetof(struct s, m), 8, FC_ADDR, offsetof(struct s, k) }
#define IP(s, m)	{ offsetof(struct s, m), 4, FC_IP }

/**
 * struct entry - an entry while it is copied
 * @r: redaction
 * @in: its bytes
 * @out: what is left, zero at first
 * @len: bytes
 */
struct entry {
	struct redact *r;
	const uint8_t *in;
	uint8_t *out;
	size_t len;
};

static void put_number(uint8_t *p, uint64_t v, size_t size, bool be)
{
	size_t i;

	for (i = 0; i < size; i++, v >>= 8)
		p[be ? size - 1 - i : i] = (uint8_t)v;
}

static void copy_key(const struct entry *e, size_t off, bool be)
{
	uint32_t key = (uint32_t)(be ? get_be(e->in + off, 4) : get_le(e->in + off, 4));

	put_number(e->out + off, redact_key(e->r, key), 4, be);
}

/* @key: where it is, or 0 */
static void copy_addr(const struct entry *e, size_t off, size_t key)
{
	uint32_t k = key ? (uint32_t)get_le(e->in + key, 4) : 0;

	put_number(e->out + off, redact_addr(e->r, get_le(e->in + off, 8), k), 8, false);
}

static void copy_places(const struct entry *e, const struct left *p, size_t n)
{
	for (; n; n--, p++) {
		if (p->off + p->size > e->len || (size_t)p->key + 4 > e->len)
			continue;
		memcpy(e->out + p->off, e->in + p->off, p->size);
		if (p->cls == FC_KEY)
			copy_key(e, p->off, p->be);
		else if (p->cls == FC_ADDR)
			copy_addr(e, p->off, p->key);
		else if (p->cls == FC_IP)
			redact_ip(e->r, e->out + p->off);
	}
}

#define COPY(e, table)	copy_places(e, table, sizeof(table) / sizeof((table)[0]))

/* ---- requests of queue pairs ------------------------------------------------ */

static const struct left any_request[] = { { 0, 8, FC_PLAIN } };

static const struct left sqe_write[] = {
	KEEP(erdma_sqe_write, length), KEY(erdma_sqe_write, rkey),
	ADDR_IN(erdma_sqe_write, raddr_lo, rkey),
};

static const struct left sqe_send[] = { KEEP(erdma_sqe_send, length) };
static const struct left sqe_send_inv[] = { KEY(erdma_sqe_send, inv_stag) };

static const struct left sqe_read[] = {
	KEEP(erdma_sqe_read, length), KEY(erdma_sqe_read, lkey),
	ADDR_IN(erdma_sqe_read, laddr_lo, lkey), ADDR_IN(erdma_sqe_read, remote.addr, remote.key),
	KEEP(erdma_sqe_read, remote.length), KEY(erdma_sqe_read, remote.key),
};

static const struct left sqe_read_inv[] = { KEY(erdma_sqe_read, inv_stag) };

static const struct left sqe_atomic[] = {
	ADDR_IN(erdma_sqe_atomic, remote.addr, remote.key), KEY(erdma_sqe_atomic, remote.key),
	ADDR_IN(erdma_sqe_atomic, local.addr, local.key), KEEP(erdma_sqe_atomic, local.length),
	KEY(erdma_sqe_atomic, local.key),
};

static const struct left sqe_reg_mr[] = {
	ADDR_IN(erdma_sqe_reg_mr, iova, stag), KEEP(erdma_sqe_reg_mr, length),
	KEY(erdma_sqe_reg_mr, stag), KEEP(erdma_sqe_reg_mr, attr),
};

static const struct left sqe_local_inv[] = { KEY(erdma_sqe_local_inv, stag) };

/* An SGL from @off on; inline data is not left */
static void copy_sgl(const struct entry *e, size_t off)
{
	uint64_t hdr = get_le(e->in, 8), n = ERDMA_GET(ERDMA_SQE_HDR_SGL_LEN, hdr);

	if (ERDMA_GET(ERDMA_SQE_HDR_INLINE, hdr))
		return;
	for (; n && off + sizeof(struct erdma_sge) <= e->len; n--, off += sizeof(struct erdma_sge)) {
		copy_addr(e, off, off + offsetof(struct erdma_sge, key));
		memcpy(e->out + off + offsetof(struct erdma_sge, length),
		       e->in + off + offsetof(struct erdma_sge, length), 4);
		copy_key(e, off + offsetof(struct erdma_sge, key), false);
	}
}

static void copy_pages(const struct entry *e, size_t off, size_t n)
{
	for (; n && off + 8 <= e->len; n--, off += 8)
		copy_addr(e, off, 0);
}

static void copy_sqe(const struct entry *e)
{
	COPY(e, any_request);
	switch (ERDMA_GET(ERDMA_SQE_HDR_OPCODE, get_le(e->in, 8))) {
	case ERDMA_OP_WRITE:
	case ERDMA_OP_WRITE_IMM:
		COPY(e, sqe_write);
		copy_sgl(e, sizeof(struct erdma_sqe_write));
		break;
	case ERDMA_OP_SEND_INV:
		COPY(e, sqe_send_inv);
		/* fall through */
	case ERDMA_OP_SEND:
	case ERDMA_OP_SEND_IMM:
		COPY(e, sqe_send);
		copy_sgl(e, sizeof(struct erdma_sqe_send));
		break;
	case ERDMA_OP_READ_INV:
		COPY(e, sqe_read_inv);
		/* fall through */
	case ERDMA_OP_READ:
		COPY(e, sqe_read);
		break;
	case ERDMA_OP_ATOMIC_CAS:
	case ERDMA_OP_ATOMIC_FAA:
		COPY(e, sqe_atomic);
		break;
	case ERDMA_OP_REG_MR:
		COPY(e, sqe_reg_mr);
		copy_pages(e, sizeof(struct erdma_sqe_reg_mr), ERDMA_INLINE_MTT_CNT);
		break;
	case ERDMA_OP_LOCAL_INV:
		COPY(e, sqe_local_inv);
		break;
	}
}

static const struct left rqe[] = {
	KEEP(erdma_rqe, qe_idx), KEEP(erdma_rqe, qpn), ADDR_IN(erdma_rqe, addr, stag),
	KEEP(erdma_rqe, length), KEY(erdma_rqe, stag),
};

static void copy_rqe(const struct entry *e)
{
	COPY(e, rqe);
}

/* ---- commands --------------------------------------------------------------- */

static const struct left create_qp[] = {
	KEEP(erdma_cmd_create_qp, cfg0), KEEP(erdma_cmd_create_qp, cfg1),
	KEEP(erdma_cmd_create_qp, sq_cfg), KEEP(erdma_cmd_create_qp, rq_cfg),
	ADDR(erdma_cmd_create_qp, sq_addr), ADDR(erdma_cmd_create_qp, rq_addr),
	KEEP(erdma_cmd_create_qp, sq_mtt), KEEP(erdma_cmd_create_qp, rq_mtt),
	ADDR(erdma_cmd_create_qp, sq_dbrec), ADDR(erdma_cmd_create_qp, rq_dbrec),
	ADDR(erdma_cmd_create_qp, sq_page[0]), ADDR(erdma_cmd_create_qp, sq_page[1]),
	ADDR(erdma_cmd_create_qp, sq_page[2]), ADDR(erdma_cmd_create_qp, rq_page[0]),
	ADDR(erdma_cmd_create_qp, rq_page[1]), ADDR(erdma_cmd_create_qp, rq_page[2]),
	KEEP(erdma_cmd_create_qp, db_cfg), KEEP(erdma_cmd_create_qp, cfg2),
};

static const struct left destroy_qp[] = { KEEP(erdma_cmd_destroy_qp, qpn) };

static const struct left modify_qp[] = {
	KEEP(erdma_cmd_modify_qp, cfg), KEEP(erdma_cmd_modify_qp, cookie),
	IP(erdma_cmd_modify_qp, dip), IP(erdma_cmd_modify_qp, sip),
	KEEP(erdma_cmd_modify_qp, sport), KEEP(erdma_cmd_modify_qp, dport),
	KEEP(erdma_cmd_modify_qp, send_nxt), KEEP(erdma_cmd_modify_qp, recv_nxt),
};

static const struct left create_cq[] = {
	KEEP(erdma_cmd_create_cq, cfg0), ADDR(erdma_cmd_create_cq, addr_lo),
	KEEP(erdma_cmd_create_cq, cfg1), ADDR(erdma_cmd_create_cq, dbrec),
	KEEP(erdma_cmd_create_cq, first_off), KEEP(erdma_cmd_create_cq, cfg2),
};

static const struct left destroy_cq[] = { KEEP(erdma_cmd_destroy_cq, cqn) };

static const struct left reflush[] = {
	KEEP(erdma_cmd_reflush, qpn), KEEP(erdma_cmd_reflush, sq_pi),
	KEEP(erdma_cmd_reflush, rq_pi),
};

static const struct left reg_mr[] = {
	KEEP(erdma_cmd_reg_mr, cfg0), KEEP(erdma_cmd_reg_mr, cfg1),
	ADDR(erdma_cmd_reg_mr, start_va), KEEP(erdma_cmd_reg_mr, size),
	KEEP(erdma_cmd_reg_mr, cfg2),
};

static const struct left reg_mr_v1[] = {
	ADDR(erdma_cmd_reg_mr, v1.table), KEEP(erdma_cmd_reg_mr, v1.size_hi),
	KEEP(erdma_cmd_reg_mr, v1.page_cnt_hi),
};

static const struct left dereg_mr[] = { KEEP(erdma_cmd_dereg_mr, cfg) };

static const struct left create_eq[] = {
	ADDR(erdma_cmd_create_eq, addr), KEEP(erdma_cmd_create_eq, vector),
	KEEP(erdma_cmd_create_eq, eqn), KEEP(erdma_cmd_create_eq, depth),
	KEEP(erdma_cmd_create_eq, type), ADDR(erdma_cmd_create_eq, dbrec_lo),
};

static const struct left destroy_eq[] = {
	KEEP(erdma_cmd_destroy_eq, vector), KEEP(erdma_cmd_destroy_eq, eqn),
	KEEP(erdma_cmd_destroy_eq, type),
};

static const struct left conf_mtu[] = { KEEP(erdma_cmd_conf_mtu, mtu) };

static const struct left query[] = {
	KEEP(erdma_cmd_query, index), ADDR(erdma_cmd_query, target),
	KEEP(erdma_cmd_query, length),
};

static const struct left conf_device[] = { KEEP(erdma_cmd_conf_device, cfg) };

static const struct left ext_db[] = {
	KEEP(erdma_cmd_ext_db, mask), KEEP(erdma_cmd_ext_db, rdb), KEEP(erdma_cmd_ext_db, sdb),
	KEEP(erdma_cmd_ext_db, cdb),
};

static const struct left set_retrans[] = { KEEP(erdma_cmd_set_retrans, count) };

static const struct left set_ext_attr[] = {
	KEEP(erdma_cmd_set_ext_attr, mask), KEEP(erdma_cmd_set_ext_attr, delayed_ack),
	KEEP(erdma_cmd_set_ext_attr, enable),
};

#define CMD(m, op, t)	{ ERDMA_SUBMOD_##m, ERDMA_CMD_##op, t, sizeof(t) / sizeof((t)[0]) }

static const struct {
	uint32_t submod;
	uint32_t opcode;
	const struct left *p;
	size_t n;
} cmds[] = {
	CMD(RDMA, CREATE_QP, create_qp),
	CMD(RDMA, DESTROY_QP, destroy_qp),
	CMD(RDMA, MODIFY_QP, modify_qp),
	CMD(RDMA, CREATE_CQ, create_cq),
	CMD(RDMA, DESTROY_CQ, destroy_cq),
	CMD(RDMA, REFLUSH, reflush),
	CMD(RDMA, REG_MR, reg_mr),
	CMD(RDMA, DEREG_MR, dereg_mr),
	CMD(RDMA, QUERY_QPC, query),
	CMD(RDMA, QUERY_CQC, query),
	CMD(COMMON, CREATE_EQ, create_eq),
	CMD(COMMON, DESTROY_EQ, destroy_eq),
	CMD(COMMON, CONF_MTU, conf_mtu),
	CMD(COMMON, GET_STATS, query),
	CMD(COMMON, CONF_DEVICE, conf_device),
	CMD(COMMON, QUERY_EQC, query),
	CMD(COMMON, SET_RETRANS_NUM, set_retrans),
	CMD(COMMON, ALLOC_DB, ext_db),
	CMD(COMMON, FREE_DB, ext_db),
	CMD(COMMON, SET_EXT_ATTR, set_ext_attr),
};

/* The byte of a key that is chosen at random: its other bits are the number of the region */
static void drop_key_byte(const struct entry *e, size_t off, uint32_t mask)
{
	put_number(e->out + off, get_le(e->out + off, 4) & ~mask, 4, false);
}

/* Pages, or a table and the upper parts of two numbers */
static void copy_reg_mr(const struct entry *e)
{
	uint32_t cfg0;

	if (e->len < sizeof(struct erdma_cmd_reg_mr))
		return;
	cfg0 = (uint32_t)get_le(e->in + offsetof(struct erdma_cmd_reg_mr, cfg0), 4);
	if (ERDMA_GET(ERDMA_REG_MR_VERSION, cfg0))
		COPY(e, reg_mr_v1);
	else
		copy_pages(e, offsetof(struct erdma_cmd_reg_mr, page), ERDMA_INLINE_MTT_CNT);
	drop_key_byte(e, offsetof(struct erdma_cmd_reg_mr, cfg0), ERDMA_REG_MR_KEY);
}

static void copy_cmd(const struct entry *e)
{
	uint64_t hdr = get_le(e->in, 8);
	uint32_t submod = (uint32_t)ERDMA_GET(ERDMA_CMD_HDR_SUBMOD, hdr);
	uint32_t opcode = (uint32_t)ERDMA_GET(ERDMA_CMD_HDR_OPCODE, hdr);
	size_t i;

	COPY(e, any_request);
	for (i = 0; i < sizeof(cmds) / sizeof(cmds[0]); i++)
		if (cmds[i].submod == submod && cmds[i].opcode == opcode)
			copy_places(e, cmds[i].p, cmds[i].n);
	if (submod != ERDMA_SUBMOD_RDMA)
		return;
	if (opcode == ERDMA_CMD_REG_MR)
		copy_reg_mr(e);
	else if (opcode == ERDMA_CMD_DEREG_MR)
		drop_key_byte(e, offsetof(struct erdma_cmd_dereg_mr, cfg), ERDMA_DEREG_MR_KEY);
}

/* ---- completions and events ------------------------------------------------- */

static const struct left cqe[] = {
	KEEP(erdma_cqe, hdr), KEEP(erdma_cqe, qe_idx), KEEP(erdma_cqe, qpn),
	KEEP(erdma_cqe, size), KEEP(erdma_cqe, rc),
};

static const struct left cqe_inv[] = { KEY_BE(erdma_cqe, imm) };

static void copy_cqe(const struct entry *e)
{
	uint32_t hdr = (uint32_t)get_be(e->in, 4);

	COPY(e, cqe);
	if (ERDMA_GET(ERDMA_CQE_OPCODE, hdr) == ERDMA_OP_RECV_INV)
		COPY(e, cqe_inv);
}

/* What a response means depends on the command */
static const struct left cmd_cqe[] = { KEEP(erdma_cqe, hdr), KEEP(erdma_cqe, qe_idx) };

static void copy_cmd_cqe(const struct entry *e)
{
	COPY(e, cmd_cqe);
}

static const struct left ceqe[] = { KEEP(erdma_ceqe, data) };

static void copy_ceqe(const struct entry *e)
{
	COPY(e, ceqe);
}

static const struct left aeqe[] = {
	KEEP(erdma_aeqe, hdr), KEEP(erdma_aeqe, object), KEEP(erdma_aeqe, data),
};

static void copy_aeqe(const struct entry *e)
{
	COPY(e, aeqe);
}

/* ---- rings ------------------------------------------------------------------ */

typedef void (*copy_fn)(const struct entry *e);

static void copy_entries(struct redact *r, const struct ring *in, copy_fn copy, uint8_t *out)
{
	struct entry e = { .r = r, .len = in->entry_size };
	uint32_t slot;

	for (slot = 0; slot < in->depth; slot++) {
		e.in = in->data + (size_t)slot * in->entry_size;
		e.out = out + (size_t)slot * in->entry_size;
		copy(&e);
	}
}

static void put_blocks(const struct ring *in, uint32_t slot, uint32_t blocks, const uint8_t *from,
		       uint8_t *out)
{
	uint32_t i;

	for (i = 0; i < blocks; i++)
		memcpy(out + (size_t)erdma_ring_slot(slot + i, in->depth) * in->entry_size,
		       from + (size_t)i * in->entry_size, in->entry_size);
}

/* Blocks of the request that begins in a slot, 0 if none does */
static uint32_t request_at(const struct ring *in, const struct req_format *f, uint32_t slot)
{
	uint64_t hdr = get_le(in->data + (size_t)slot * in->entry_size, 8);
	uint32_t index = (uint32_t)(hdr - ERDMA_GET(f->blocks_mask, hdr) - 1) & 0xffff;

	return erdma_ring_slot(index, in->depth) == slot ? req_header(in, f, index) : 0;
}

/* Requests that say themselves where they end; what none has is of requests before them */
static void copy_requests(struct redact *r, const struct ring *in, const struct req_format *f,
			  copy_fn copy, uint8_t *out)
{
	uint8_t from[ENTRY_MAX], to[ENTRY_MAX];
	uint32_t slot, blocks;

	for (slot = 0; slot < in->depth; slot += blocks ? blocks : 1) {
		blocks = request_at(in, f, slot);
		if (!blocks || (size_t)blocks * in->entry_size > sizeof(from))
			continue;
		ring_copy(in, slot, blocks, from);
		memset(to, 0, sizeof(to));
		copy(&(struct entry){ r, from, to, (size_t)blocks * in->entry_size });
		put_blocks(in, slot, blocks, to, out);
	}
}

static struct req_format format_of(const struct redact *r, uint32_t ring, uint32_t id)
{
	uint32_t slot = redact_slot_wqebbs(r);

	if (ring == ERDMA_DIAG_RING_SQ)
		return (struct req_format){ .blocks_mask = ERDMA_SQE_HDR_WQEBBS,
					    .id_mask = ERDMA_SQE_HDR_QPN,
					    .id = ERDMA_PREP(ERDMA_SQE_HDR_QPN, id) };
	return (struct req_format){ .blocks_mask = ERDMA_CMD_HDR_WQEBBS,
				    .id_mask = slot ? ERDMA_CMD_HDR_WQEBBS : 0,
				    .id = slot ? ERDMA_PREP(ERDMA_CMD_HDR_WQEBBS, slot - 1) : 0 };
}

static copy_fn copy_of(uint32_t ring, uint32_t id)
{
	switch (ring) {
	case ERDMA_DIAG_RING_RQ:
		return copy_rqe;
	case ERDMA_DIAG_RING_CQ:
		return copy_cqe;
	case ERDMA_DIAG_RING_CMDQ_CQ:
		return copy_cmd_cqe;
	case ERDMA_DIAG_RING_EQ:
		return id == ERDMA_DIAG_EQ_AEQ ? copy_aeqe : copy_ceqe;
	}
	return NULL;
}

static void copy_ring(struct redact *r, uint32_t ring, uint32_t id, const struct ring *in,
		      uint8_t *out)
{
	struct req_format f = format_of(r, ring, id);
	copy_fn copy = copy_of(ring, id);

	if (copy)
		copy_entries(r, in, copy, out);
	else if (ring == ERDMA_DIAG_RING_SQ)
		copy_requests(r, in, &f, copy_sqe, out);
	else if (ring == ERDMA_DIAG_RING_CMDQ_SQ)
		copy_requests(r, in, &f, copy_cmd, out);
}

/**
 * redact_ring - entries of a ring without what the file is not to show
 * @r: redaction, not of REDACT_FULL, which has no rings; NULL: nothing is done
 * @ring: ERDMA_DIAG_RING_*
 * @id: whose
 * @data: entries from slot 0, changed
 * @depth: their number, a power of two
 * @entry_size: bytes of each
 *
 * Records of regions come before: addresses become places in them. Without memory
 * nothing is left.
 */
void redact_ring(struct redact *r, uint32_t ring, uint32_t id, uint8_t *data, uint32_t depth,
		 uint32_t entry_size)
{
	size_t bytes = (size_t)depth * entry_size;
	uint8_t *copied;

	if (redact_level(r) == REDACT_NONE)
		return;
	copied = malloc(bytes);
	if (copied)
		memcpy(copied, data, bytes);
	memset(data, 0, bytes);
	if (copied && entry_size >= sizeof(uint64_t))
		copy_ring(r, ring, id, &(struct ring){ .data = copied, .depth = depth,
						       .entry_size = entry_size }, data);
	free(copied);
}
