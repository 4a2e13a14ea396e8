// SPDX-License-Identifier: GPL-2.0-or-later
/* Adapters out of a scenario file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "uapi/erdma_diag.h"

#include "fake_diag.h"

struct fake {
	json_object *root;
};

/* ---- values ------------------------------------------------------------- */

static json_object *get(json_object *o, const char *key)
{
	json_object *v = NULL;

	return o && json_object_object_get_ex(o, key, &v) ? v : NULL;
}

const char *fake_string(json_object *o, const char *key)
{
	json_object *v = get(o, key);

	return v ? json_object_get_string(v) : NULL;
}

/* Numbers may be written as strings, for hex */
static uint64_t number(json_object *v)
{
	if (json_object_is_type(v, json_type_string))
		return strtoull(json_object_get_string(v), NULL, 0);
	/* json-c makes 0 of a negative one */
	if (json_object_get_int64(v) < 0)
		return (uint64_t)json_object_get_int64(v);
	return json_object_get_uint64(v);
}

uint64_t fake_number(json_object *o, const char *key, uint64_t otherwise)
{
	json_object *v = get(o, key);

	return v ? number(v) : otherwise;
}

int fake_errno(const char *name)
{
	int i;

	for (i = 1; i < 134; i++)
		if (strerrorname_np(i) && !strcmp(strerrorname_np(i), name))
			return i;
	fprintf(stderr, "scenario: no errno %s\n", name);
	exit(99);
}

static size_t from_hex(const char *s, uint8_t *out, size_t max)
{
	size_t n = 0;
	unsigned int v;

	while (*s && n < max) {
		if (*s == ' ') {
			s++;
			continue;
		}
		if (sscanf(s, "%2x", &v) != 1 || !s[1]) {
			fprintf(stderr, "scenario: bad hex '%s'\n", s);
			exit(99);
		}
		out[n++] = (uint8_t)v;
		s += 2;
	}
	return n;
}

/* ---- structures by name ------------------------------------------------- */

struct member {
	const char *name;
	size_t off;
	size_t size;
	int bytes;	/* text, or hex if it starts with "hex:" */
};

#define N(st, m)	{ #m, offsetof(struct st, m), sizeof(((struct st *)0)->m), 0 }
#define B(st, m)	{ #m, offsetof(struct st, m), sizeof(((struct st *)0)->m), 1 }
#define Q(st, q)	N(st, q.depth), N(st, q.pi), N(st, q.ci), N(st, q.valid),		\
			N(st, q.page_shift), N(st, q.page_cnt), N(st, q.dma),			\
			N(st, q.dbrec_dma), N(st, q.dbrec)
#define OWNER(st)	N(st, owner.pid), N(st, owner.kernel), B(st, owner.comm),		\
			N(st, owner_more.flags), N(st, owner_more.cgroup_id)

static const struct member info_members[] = {
	N(erdma_diag_info, abi_cmds), N(erdma_diag_info, abi_flags), N(erdma_diag_info, abi_objs),
	N(erdma_diag_info, abi_rings), N(erdma_diag_info, abi_debug_cats),
	N(erdma_diag_info, abi_debug_levels), N(erdma_diag_info, ib_index),
	N(erdma_diag_info, netdev_ifindex), B(erdma_diag_info, driver_version),
	B(erdma_diag_info, ib_name), B(erdma_diag_info, netdev), B(erdma_diag_info, pci),
	N(erdma_diag_info, pci_vendor), N(erdma_diag_info, pci_device),
	N(erdma_diag_info, pci_rev), N(erdma_diag_info, numa_node), N(erdma_diag_info, vectors),
	N(erdma_diag_info, proto), N(erdma_diag_info, reg_version),
	N(erdma_diag_info, reg_status), N(erdma_diag_info, fw_version),
	N(erdma_diag_info, bar0_len), B(erdma_diag_info, mac), N(erdma_diag_info, cc_default),
	B(erdma_diag_info, node_guid), N(erdma_diag_info, cap0), N(erdma_diag_info, cap1),
	N(erdma_diag_info, max_qp), N(erdma_diag_info, max_cq), N(erdma_diag_info, max_mr),
	N(erdma_diag_info, max_pd), N(erdma_diag_info, max_ctx), N(erdma_diag_info, max_cqe),
	N(erdma_diag_info, max_send_wr), N(erdma_diag_info, max_recv_wr),
	N(erdma_diag_info, max_mr_size), N(erdma_diag_info, n_qp), N(erdma_diag_info, n_cq),
	N(erdma_diag_info, n_mr), N(erdma_diag_info, n_pd), N(erdma_diag_info, n_ctx),
	N(erdma_diag_info, n_eq), N(erdma_diag_info, mtu), N(erdma_diag_info, link_up),
	N(erdma_diag_info, time_mono_ns), N(erdma_diag_info, time_real_ns),
	N(erdma_diag_info, probed_ns), N(erdma_diag_info, lost_ns),
	N(erdma_diag_info, generation), N(erdma_diag_info, last_loss),
	N(erdma_diag_info, mtu_device), N(erdma_diag_info, mtu_asked),
	N(erdma_diag_info, mtu_status), N(erdma_diag_info, mtu_failures),
	N(erdma_diag_info, mtu_ns), N(erdma_diag_info, max_send_sge),
	N(erdma_diag_info, max_recv_sge), N(erdma_diag_info, max_read_sge),
	N(erdma_diag_info, max_inline), N(erdma_diag_info, max_ird), N(erdma_diag_info, max_ord),
	N(erdma_diag_info, max_frmr_pages), N(erdma_diag_info, max_private_data),
	N(erdma_diag_info, page_sizes), N(erdma_diag_info, peak_qp), N(erdma_diag_info, peak_cq),
	N(erdma_diag_info, peak_mr), N(erdma_diag_info, peak_pd), N(erdma_diag_info, peak_ctx),
	N(erdma_diag_info, netdev_flags),
	{ 0 }
};

static const struct member qp_members[] = {
	N(erdma_diag_qp, qpn), N(erdma_diag_qp, pdn), N(erdma_diag_qp, type),
	N(erdma_diag_qp, state), N(erdma_diag_qp, send_cqn), N(erdma_diag_qp, recv_cqn),
	N(erdma_diag_qp, flags), N(erdma_diag_qp, cookie), N(erdma_diag_qp, peer_cookie),
	N(erdma_diag_qp, cc), N(erdma_diag_qp, family), N(erdma_diag_qp, sport),
	N(erdma_diag_qp, dport), B(erdma_diag_qp, saddr), B(erdma_diag_qp, daddr),
	N(erdma_diag_qp, max_send_wr), N(erdma_diag_qp, max_recv_wr),
	N(erdma_diag_qp, max_send_sge), N(erdma_diag_qp, max_inline), N(erdma_diag_qp, sdb),
	N(erdma_diag_qp, rdb), Q(erdma_diag_qp, sq), Q(erdma_diag_qp, rq),
	N(erdma_diag_qp, created_ns), N(erdma_diag_qp, state_ns), N(erdma_diag_qp, async_events),
	N(erdma_diag_qp, last_ae_type), OWNER(erdma_diag_qp), N(erdma_diag_qp, peer_mss), { 0 }
};

static const struct member cq_members[] = {
	N(erdma_diag_cq, cqn), N(erdma_diag_cq, eqn), N(erdma_diag_cq, comp_vector),
	Q(erdma_diag_cq, cq), N(erdma_diag_cq, arm_count), N(erdma_diag_cq, cmdsn),
	N(erdma_diag_cq, notify), N(erdma_diag_cq, cdb), N(erdma_diag_cq, created_ns),
	N(erdma_diag_cq, events), N(erdma_diag_cq, async_events), OWNER(erdma_diag_cq), { 0 }
};

static const struct member eq_members[] = {
	N(erdma_diag_eq, eqn), N(erdma_diag_eq, vector), N(erdma_diag_eq, irq),
	Q(erdma_diag_eq, eq), N(erdma_diag_eq, events), N(erdma_diag_eq, interrupts),
	N(erdma_diag_eq, notifies), N(erdma_diag_eq, unknown), N(erdma_diag_eq, by_type[0]),
	N(erdma_diag_eq, by_type[1]), N(erdma_diag_eq, by_type[2]), N(erdma_diag_eq, by_type[3]),
	N(erdma_diag_eq, by_type[4]), N(erdma_diag_eq, by_type[5]),
	N(erdma_diag_eq, served), N(erdma_diag_eq, lost_irqs), { 0 }
};

static const struct member cmdq_members[] = {
	N(erdma_diag_cmdq, state), N(erdma_diag_cmdq, credits), N(erdma_diag_cmdq, in_flight),
	N(erdma_diag_cmdq, quarantined), N(erdma_diag_cmdq, max_in_flight),
	N(erdma_diag_cmdq, slot_wqebbs), Q(erdma_diag_cmdq, sq), Q(erdma_diag_cmdq, cq),
	N(erdma_diag_cmdq, submitted), N(erdma_diag_cmdq, completed), N(erdma_diag_cmdq, failed),
	N(erdma_diag_cmdq, timeouts), N(erdma_diag_cmdq, late), N(erdma_diag_cmdq, lost_irqs),
	N(erdma_diag_cmdq, bad_cqes), N(erdma_diag_cmdq, oldest_ns),
	N(erdma_diag_cmdq, dead_reason), N(erdma_diag_cmdq, dead_submod),
	N(erdma_diag_cmdq, dead_opcode), N(erdma_diag_cmdq, dead_waited_ms),
	N(erdma_diag_cmdq, dead_ns), N(erdma_diag_cmdq, dead_caller.pid),
	B(erdma_diag_cmdq, dead_caller.comm), { 0 }
};

static const struct member mr_members[] = {
	N(erdma_diag_mr, index), N(erdma_diag_mr, lkey), N(erdma_diag_mr, rkey),
	N(erdma_diag_mr, pdn), N(erdma_diag_mr, type), N(erdma_diag_mr, flags),
	N(erdma_diag_mr, access), N(erdma_diag_mr, rights), N(erdma_diag_mr, iova),
	N(erdma_diag_mr, length), N(erdma_diag_mr, addr), N(erdma_diag_mr, page_shift),
	N(erdma_diag_mr, page_cnt), N(erdma_diag_mr, mtt_level), N(erdma_diag_mr, mtt_tables),
	N(erdma_diag_mr, mtt_bytes), N(erdma_diag_mr, max_pages), N(erdma_diag_mr, ctx),
	N(erdma_diag_mr, res_id), N(erdma_diag_mr, dma), N(erdma_diag_mr, created_ns),
	OWNER(erdma_diag_mr), { 0 }
};

static const struct member pd_members[] = {
	N(erdma_diag_pd, pdn), N(erdma_diag_pd, ctx), N(erdma_diag_pd, n_qp),
	N(erdma_diag_pd, n_mr), N(erdma_diag_pd, res_id), N(erdma_diag_pd, created_ns),
	OWNER(erdma_diag_pd), { 0 }
};

static const struct member ctx_members[] = {
	N(erdma_diag_ctx, id), N(erdma_diag_ctx, flags), N(erdma_diag_ctx, sq_page),
	N(erdma_diag_ctx, rq_page), N(erdma_diag_ctx, cq_page), N(erdma_diag_ctx, res_id),
	N(erdma_diag_ctx, n_pd), N(erdma_diag_ctx, n_mr), N(erdma_diag_ctx, n_cq),
	N(erdma_diag_ctx, n_qp), N(erdma_diag_ctx, created_ns), OWNER(erdma_diag_ctx), { 0 }
};

static const struct member cm_members[] = {
	N(erdma_diag_cm_id, id), N(erdma_diag_cm_id, state), N(erdma_diag_cm_id, qpn),
	N(erdma_diag_cm_id, listener), N(erdma_diag_cm_id, backlog),
	N(erdma_diag_cm_id, n_waiting), N(erdma_diag_cm_id, flags), N(erdma_diag_cm_id, family),
	N(erdma_diag_cm_id, sport), N(erdma_diag_cm_id, dport), B(erdma_diag_cm_id, saddr),
	B(erdma_diag_cm_id, daddr), N(erdma_diag_cm_id, peer_cookie), N(erdma_diag_cm_id, ird),
	N(erdma_diag_cm_id, ord), N(erdma_diag_cm_id, left_ms),
	N(erdma_diag_cm_id, created_ns), N(erdma_diag_cm_id, state_ns),
	OWNER(erdma_diag_cm_id), { 0 }
};

static const struct member list_out[] = {
	N(erdma_diag_list, out_len), N(erdma_diag_list, out_count), N(erdma_diag_list, next_id),
	N(erdma_diag_list, more), { 0 }
};

static const struct member context_out[] = { N(erdma_diag_context, out_len), { 0 } };

static const struct member ring_out[] = {
	N(erdma_diag_ring_read, out_entry_size), N(erdma_diag_ring_read, out_count),
	N(erdma_diag_ring_read, out_depth), N(erdma_diag_ring_read, out_pi),
	N(erdma_diag_ring_read, out_ci), N(erdma_diag_ring_read, out_flags), { 0 }
};

static const struct member log_out[] = {
	N(erdma_diag_log, out_next), N(erdma_diag_log, out_len), N(erdma_diag_log, out_count),
	N(erdma_diag_log, out_more), N(erdma_diag_log, out_lost), { 0 }
};

static const struct member recover_out[] = {
	N(erdma_diag_recover, out_flags), N(erdma_diag_recover, out_events),
	N(erdma_diag_recover, out_delivered), { 0 }
};

static const struct member debug_out[] = { N(erdma_diag_debug, out_count), { 0 } };

static void set_number(uint8_t *at, size_t size, uint64_t v)
{
	uint8_t v8 = (uint8_t)v;
	uint16_t v16 = (uint16_t)v;
	uint32_t v32 = (uint32_t)v;

	memcpy(at, size == 1 ? (void *)&v8 : size == 2 ? (void *)&v16 :
	       size == 4 ? (void *)&v32 : (void *)&v, size);
}

static void set_members(void *st, const struct member *m, json_object *o)
{
	const char *s;

	if (!o)
		return;
	json_object_object_foreach(o, key, v) {
		const struct member *f;

		for (f = m; f->name && strcmp(f->name, key); f++)
			;
		if (!f->name)
			continue;
		if (f->bytes) {
			s = json_object_get_string(v);
			if (!strncmp(s, "hex:", 4))
				from_hex(s + 4, (uint8_t *)st + f->off, f->size);
			else
				memcpy((uint8_t *)st + f->off, s, strnlen(s, f->size));
		} else {
			set_number((uint8_t *)st + f->off, f->size, number(v));
		}
	}
}

/* ---- records ------------------------------------------------------------ */

static const struct kind {
	const char *name;
	uint16_t type;
	uint16_t hw_type;
	size_t size;
	const struct member *members;
	const char *id;
} kinds[] = {
	[ERDMA_DIAG_OBJ_QP] = { "qp", ERDMA_DIAG_REC_QP, ERDMA_DIAG_REC_QP_HW,
				sizeof(struct erdma_diag_qp), qp_members, "qpn" },
	[ERDMA_DIAG_OBJ_CQ] = { "cq", ERDMA_DIAG_REC_CQ, ERDMA_DIAG_REC_CQ_HW,
				sizeof(struct erdma_diag_cq), cq_members, "cqn" },
	[ERDMA_DIAG_OBJ_EQ] = { "eq", ERDMA_DIAG_REC_EQ, ERDMA_DIAG_REC_EQ_HW,
				sizeof(struct erdma_diag_eq), eq_members, "eqn" },
	[ERDMA_DIAG_OBJ_CMDQ] = { "cmdq", ERDMA_DIAG_REC_CMDQ, 0,
				  sizeof(struct erdma_diag_cmdq), cmdq_members, "id" },
	[ERDMA_DIAG_OBJ_MR] = { "mr", ERDMA_DIAG_REC_MR, 0, sizeof(struct erdma_diag_mr),
				mr_members, "index" },
	[ERDMA_DIAG_OBJ_PD] = { "pd", ERDMA_DIAG_REC_PD, 0, sizeof(struct erdma_diag_pd),
				pd_members, "pdn" },
	[ERDMA_DIAG_OBJ_CTX] = { "ctx", ERDMA_DIAG_REC_CTX, 0, sizeof(struct erdma_diag_ctx),
				 ctx_members, "id" },
	[ERDMA_DIAG_OBJ_CM_ID] = { "cm", ERDMA_DIAG_REC_CM_ID, 0,
				   sizeof(struct erdma_diag_cm_id), cm_members, "id" },
};

static uint32_t put_record(uint8_t *to, uint16_t type, uint16_t flags, const void *body,
			   size_t size)
{
	struct erdma_diag_rec hdr = { (uint32_t)(sizeof(hdr) + ((size + 7) & ~7UL)), type, flags };

	memcpy(to, &hdr, sizeof(hdr));
	memcpy(to + sizeof(hdr), body, size);
	return hdr.len;
}

static uint32_t put_object(uint8_t *to, const struct kind *k, json_object *o)
{
	uint8_t body[1024] = { 0 };

	set_members(body, k->members, o);
	return put_record(to, k->type, (uint16_t)fake_number(o, "rec_flags", 0), body,
			  fake_number(o, "rec_size", k->size));
}

static uint32_t put_hw(uint8_t *to, const struct kind *k, json_object *hw)
{
	struct erdma_diag_hw rec = { 0 };
	const char *data = fake_string(hw, "data"), *err = fake_string(hw, "status");

	if (err)
		rec.status = (uint32_t)fake_errno(err);
	rec.syndrome = (uint32_t)fake_number(hw, "syndrome", 0);
	if (data)
		rec.len = (uint32_t)from_hex(data, rec.data, sizeof(rec.data));
	rec.len = (uint32_t)fake_number(hw, "len", rec.len);
	return put_record(to, k->hw_type, 0, &rec, sizeof(rec));
}

static json_object *find_object(json_object *adapter, const struct kind *k, uint32_t id)
{
	json_object *list = get(adapter, k->name), *o;
	size_t i;

	if (list && !json_object_is_type(list, json_type_array))
		return list;
	for (i = 0; list && i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		if (fake_number(o, k->id, 0) == id)
			return o;
	}
	return NULL;
}

/* ---- calls -------------------------------------------------------------- */

static int call_info(json_object *a, struct erdma_diag_info *info)
{
	struct erdma_diag_info full = { 0 };
	uint32_t size = info->size, known = (uint32_t)fake_number(a, "info_size", sizeof(full));

	if (size < 8)
		return -EINVAL;
	set_members(&full, info_members, get(a, "info"));
	memset((uint8_t *)&full + known, 0, sizeof(full) - known);
	full.size = known;
	memcpy(info, &full, size < sizeof(full) ? size : sizeof(full));
	return 0;
}

static int call_list(json_object *a, struct erdma_diag_list *l)
{
	const struct kind *k = &kinds[l->obj];
	json_object *list = get(a, k->name), *o;
	uint32_t page = (uint32_t)fake_number(a, "page", 1000), id;
	size_t i, n = list ? json_object_array_length(list) : 0;
	uint8_t rec[2048];
	uint32_t len;
	int hw;

	l->out_len = l->out_count = l->more = l->out_hw = 0;
	for (i = 0; i < n; i++) {
		o = json_object_array_get_idx(list, i);
		id = (uint32_t)fake_number(o, k->id, 0);
		if (id < l->start_id)
			continue;
		len = put_object(rec, k, o);
		hw = (l->flags & ERDMA_DIAG_LIST_HW) && get(o, "hw");
		if (hw)
			len += put_hw(rec + len, k, get(o, "hw"));
		if (l->out_count == page || l->out_len + len > l->buf_len) {
			l->more = 1;
			l->next_id = id;
			return l->out_count ? 0 : -EMSGSIZE;
		}
		memcpy((uint8_t *)(uintptr_t)l->buf + l->out_len, rec, len);
		l->out_len += len;
		l->out_count++;
		l->out_hw += hw;
	}
	return 0;
}

static int call_context(json_object *a, struct erdma_diag_context *c)
{
	const struct kind *k = &kinds[c->obj];
	json_object *o = find_object(a, k, c->id);
	uint8_t *buf = (uint8_t *)(uintptr_t)c->buf;

	if (!o)
		return -ENOENT;
	c->out_len = (uint32_t)fake_number(o, "needs", 0);
	if (c->out_len > c->buf_len)
		return -EMSGSIZE;
	c->out_len = fake_number(o, "no_record", 0) ? 0 : put_object(buf, k, o);
	if (c->flags & ERDMA_DIAG_CONTEXT_HW && get(o, "hw"))
		c->out_len += put_hw(buf + c->out_len, k, get(o, "hw"));
	c->time_ns = 1;
	return 0;
}

static json_object *find_ring(json_object *a, const struct erdma_diag_ring_read *r)
{
	json_object *rings = get(a, "rings"), *o;
	size_t i;

	for (i = 0; rings && i < json_object_array_length(rings); i++) {
		o = json_object_array_get_idx(rings, i);
		if (fake_number(o, "ring", 0) == r->ring && fake_number(o, "id", 0) == r->id)
			return o;
	}
	return NULL;
}

static json_object *went_on;

static void ring_numbers(json_object *o, struct erdma_diag_ring_read *r)
{
	uint64_t moves = fake_number(o, "moves", 0);

	r->out_entry_size = r->ring == ERDMA_DIAG_RING_EQ ? 16 : 32;
	r->out_depth = (uint32_t)fake_number(o, "depth", 0);
	r->out_flags = (uint32_t)fake_number(o, "flags", 0);
	if (get(o, "pi")) {
		r->out_pi = (uint32_t)fake_number(o, "pi", 0);
		r->out_flags |= ERDMA_DIAG_RING_PI;
	}
	if (get(o, "ci")) {
		r->out_ci = (uint32_t)fake_number(o, "ci", 0);
		r->out_flags |= ERDMA_DIAG_RING_CI;
	}
	/* A producer that goes round once between two calls, so many times */
	if (moves) {
		r->out_pi += (uint32_t)moves * r->out_depth;
		json_object_object_add(o, "moves", json_object_new_uint64(moves - 1));
	}
	/* One that goes on a little after the indices were asked for */
	if (fake_number(o, "goes_on", 0) && o == went_on)
		r->out_pi += (uint32_t)fake_number(o, "goes_on", 0);
	went_on = o;
	r->out_time_ns = 123456789;
}

static int call_ring(json_object *a, struct erdma_diag_ring_read *r)
{
	json_object *o = find_ring(a, r), *entries = get(o, "entries");
	uint8_t *to = (uint8_t *)(uintptr_t)r->buf;
	uint32_t i, slot;
	char key[16];

	if (!o)
		return -ENOENT;
	ring_numbers(o, r);
	r->out_count = 0;
	if ((uint64_t)r->count * r->out_entry_size > r->buf_len)
		return -EMSGSIZE;
	for (i = 0; i < r->count; i++) {
		slot = (r->first + i) & (r->out_depth - 1);
		memset(to, 0, r->out_entry_size);
		snprintf(key, sizeof(key), "%u", slot);
		if (entries && get(entries, key))
			from_hex(fake_string(entries, key), to, r->out_entry_size);
		to += r->out_entry_size;
	}
	r->out_count = r->count;
	return 0;
}

static int call_debug(json_object *a, struct erdma_diag_debug *d)
{
	json_object *dbg = get(a, "debug"), *level = get(dbg, "level"), *left = get(dbg, "left");
	uint32_t i, n = level ? (uint32_t)json_object_array_length(level) : 0;

	if (d->flags & ~(uint32_t)ERDMA_DIAG_DEBUG_SET)
		return -EOPNOTSUPP;
	for (i = 0; d->flags & ERDMA_DIAG_DEBUG_SET && i < n; i++)
		if (d->mask >> i & 1) {
			json_object_array_put_idx(level, i, json_object_new_int((int)d->level));
			json_object_array_put_idx(left, i,
						  json_object_new_int((int)d->duration_ms));
		}
	d->out_count = n;
	for (i = 0; i < n && i < ERDMA_DIAG_DEBUG_MAX_CATS; i++) {
		d->out_level[i] = (uint8_t)json_object_get_int(json_object_array_get_idx(level, i));
		d->out_default[i] = 1;
		d->out_left_ms[i] =
			(uint32_t)json_object_get_int(json_object_array_get_idx(left, i));
	}
	d->out_suppressed = fake_number(dbg, "suppressed", 0);
	d->out_printed = fake_number(dbg, "printed", 0);
	return 0;
}

/* A queue in which nothing waits, unless a rule says otherwise */
static int call_recover(json_object *a, struct erdma_diag_recover *r)
{
	if (r->obj != ERDMA_DIAG_OBJ_EQ && r->obj != ERDMA_DIAG_OBJ_CQ)
		return -EOPNOTSUPP;
	if (!find_object(a, &kinds[r->obj], r->id))
		return -ENOENT;
	r->out_flags = r->obj == ERDMA_DIAG_OBJ_EQ ? ERDMA_DIAG_RECOVER_RUNG : 0;
	r->out_events = 0;
	r->out_delivered = 0;
	return 0;
}

/* Entries of the kind, each with its bytes; those before the first one are lost */
static int call_log(json_object *a, struct erdma_diag_log *l)
{
	json_object *entries = get(a, "log"), *o;
	uint8_t *buf = (uint8_t *)(uintptr_t)l->buf, body[256];
	size_t i, n = entries ? json_object_array_length(entries) : 0, size;
	uint64_t seq, end = 0;

	l->out_len = l->out_count = l->out_more = 0;
	l->out_lost = 0;
	l->out_next = l->seq;
	for (i = 0; i < n; i++) {
		o = json_object_array_get_idx(entries, i);
		if (fake_number(o, "kind", 0) != l->kind)
			continue;
		size = from_hex(fake_string(o, "data"), body, sizeof(body));
		memcpy(&seq, body, sizeof(seq));
		end = seq + 1;
		if (seq < l->seq)
			continue;
		l->out_lost += seq - l->out_next;
		l->out_next = seq + 1;
		l->out_len += put_record(buf + l->out_len, ERDMA_DIAG_REC_LOG(l->kind),
					 (uint16_t)fake_number(o, "rec_flags", 0), body, size);
		l->out_count++;
	}
	/* As the driver: a number that no call gave */
	return l->seq > end ? -EINVAL : 0;
}

static int dispatch(json_object *a, unsigned int cmd, void *arg)
{
	switch (cmd) {
	case ERDMA_DIAG_INFO:
		return call_info(a, arg);
	case ERDMA_DIAG_LIST:
		return call_list(a, arg);
	case ERDMA_DIAG_CONTEXT:
		return call_context(a, arg);
	case ERDMA_DIAG_RING_READ:
		return call_ring(a, arg);
	case ERDMA_DIAG_DEBUG:
		return call_debug(a, arg);
	case ERDMA_DIAG_LOG:
		return call_log(a, arg);
	case ERDMA_DIAG_RECOVER:
		return call_recover(a, arg);
	}
	return -ENOTTY;
}

/* ---- rules: what goes wrong --------------------------------------------- */

struct call_desc {
	const char *name;
	uint64_t obj;
	uint64_t id;
	int hw;
	uint8_t *buf;
	const struct member *out;
};

static struct call_desc describe(unsigned int cmd, void *arg)
{
	struct erdma_diag_list *l = arg;
	struct erdma_diag_context *c = arg;
	struct erdma_diag_ring_read *r = arg;
	struct erdma_diag_log *g = arg;
	struct erdma_diag_recover *v = arg;

	switch (cmd) {
	case ERDMA_DIAG_LIST:
		return (struct call_desc){ "list", l->obj, l->start_id, (int)l->flags,
					   (uint8_t *)(uintptr_t)l->buf, list_out };
	case ERDMA_DIAG_CONTEXT:
		return (struct call_desc){ "context", c->obj, c->id, (int)c->flags,
					   (uint8_t *)(uintptr_t)c->buf, context_out };
	case ERDMA_DIAG_RING_READ:
		return (struct call_desc){ "ring", r->ring, r->id, 0,
					   (uint8_t *)(uintptr_t)r->buf, ring_out };
	case ERDMA_DIAG_DEBUG:
		return (struct call_desc){ "debug", 0, 0, 0, NULL, debug_out };
	case ERDMA_DIAG_LOG:
		return (struct call_desc){ "log", g->kind, g->seq, 0,
					   (uint8_t *)(uintptr_t)g->buf, log_out };
	case ERDMA_DIAG_RECOVER:
		return (struct call_desc){ "recover", v->obj, v->id, 0, NULL, recover_out };
	}
	return (struct call_desc){ "info", 0, 0, 0, NULL, NULL };
}

static json_object *find_rule(json_object *a, const struct call_desc *d)
{
	json_object *rules = get(a, "rules"), *r;
	size_t i;

	for (i = 0; rules && i < json_object_array_length(rules); i++) {
		r = json_object_array_get_idx(rules, i);
		if (!strcmp(fake_string(r, "call"), d->name) &&
		    fake_number(r, "obj", d->obj) == d->obj &&
		    fake_number(r, "id", d->id) == d->id &&
		    (!get(r, "hw") || d->hw))
			return r;
	}
	return NULL;
}

/* Each call, if $EADM_FAKE_CALLS is a file, is a line at its end: name, kind, number */
static void log_call(const struct call_desc *d)
{
	const char *path = getenv("EADM_FAKE_CALLS");
	FILE *out = path ? fopen(path, "ae") : NULL;

	if (!out)
		return;
	fprintf(out, "%s %llu %llu\n", d->name, (unsigned long long)d->obj,
		(unsigned long long)d->id);
	fclose(out);
}

int fake_call(struct fake *f, size_t n, unsigned int cmd, void *arg)
{
	struct call_desc d = describe(cmd, arg);
	json_object *a = fake_adapter(f, n), *rule = find_rule(a, &d);
	const char *err = fake_string(rule, "errno"), *poke = fake_string(rule, "poke");
	int ret;

	log_call(&d);
	if (fake_number(rule, "sleep_ms", 0))
		usleep((useconds_t)(1000 * fake_number(rule, "sleep_ms", 0)));
	if (err)
		return -fake_errno(err);
	ret = dispatch(a, cmd, arg);
	if (ret || !rule)
		return ret;
	set_members(arg, d.out ? d.out : info_members, get(rule, "set"));
	if (poke && d.buf)
		from_hex(poke, d.buf + fake_number(rule, "at", 0), 64);
	/* The rule may be another one from now on */
	if (fake_number(rule, "pass", 0))
		fake_next(f);
	return 0;
}

int fake_counters(json_object *dev, const char *member,
		  void (*fn)(void *arg, const char *name, uint64_t v), void *arg)
{
	const char *err = fake_string(dev, "counters_errno");
	json_object *list = get(dev, member), *c;
	uint64_t v;
	size_t i;

	for (i = 0; list && i < json_object_array_length(list); i++) {
		c = json_object_array_get_idx(list, i);
		v = number(json_object_array_get_idx(c, 1));
		fn(arg, json_object_get_string(json_object_array_get_idx(c, 0)), v);
		if (json_object_array_length(c) > 2)
			json_object_array_put_idx(c, 1, json_object_new_uint64(
				v + number(json_object_array_get_idx(c, 2))));
	}
	return err ? -fake_errno(err) : 0;
}

/* ---- scenarios ---------------------------------------------------------- */

/* Members of the next object of "then" replace those of the one that has it */
static void next_moment(json_object *o)
{
	json_object *list = get(o, "then"), *next;

	if (!list || !json_object_array_length(list))
		return;
	next = json_object_get(json_object_array_get_idx(list, 0));
	json_object_array_del_idx(list, 0, 1);
	json_object_object_foreach(next, key, v)
		json_object_object_add(o, key, json_object_get(v));
	json_object_put(next);
}

/* Time passes: of a device and of all its objects */
static void next_of_dev(json_object *a)
{
	size_t k;

	next_moment(a);
	json_object_object_foreach(a, key, v) {
		(void)key;
		for (k = 0; json_object_is_type(v, json_type_array) &&
		     k < json_object_array_length(v); k++)
			if (json_object_is_type(json_object_array_get_idx(v, k), json_type_object))
				next_moment(json_object_array_get_idx(v, k));
		if (json_object_is_type(v, json_type_object))
			next_moment(v);
	}
}

void fake_next(struct fake *f)
{
	json_object *a;
	size_t i;

	for (i = 0; (a = fake_adapter(f, i)); i++)
		next_of_dev(a);
	for (i = 0; (a = fake_other(f, i)); i++)
		next_of_dev(a);
}

struct fake *fake_parse(const char *text)
{
	struct fake *f = calloc(1, sizeof(*f));

	if (f)
		f->root = json_tokener_parse(text);
	if (!f || !f->root) {
		fprintf(stderr, "scenario: bad JSON\n");
		exit(99);
	}
	return f;
}

struct fake *fake_load(const char *path)
{
	struct fake *f = calloc(1, sizeof(*f));

	if (f)
		f->root = json_object_from_file(path);
	if (!f || !f->root) {
		fprintf(stderr, "scenario %s: %s\n", path, json_util_get_last_err());
		exit(99);
	}
	return f;
}

void fake_free(struct fake *f)
{
	json_object_put(f->root);
	free(f);
}

static json_object *member(struct fake *f, const char *key, size_t n)
{
	json_object *list = get(f->root, key);

	return list ? json_object_array_get_idx(list, n) : NULL;
}

json_object *fake_adapter(struct fake *f, size_t n)
{
	return member(f, "adapters", n);
}

json_object *fake_other(struct fake *f, size_t n)
{
	return member(f, "others", n);
}
