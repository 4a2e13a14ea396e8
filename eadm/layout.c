// SPDX-License-Identifier: GPL-2.0-or-later
/* The fields of the structures of a snapshot. Padding is a field, too. */
#include "erdma/erdma_hw.h"
#include "erdma/erdma_snapshot.h"
#include "uapi/erdma_diag.h"

#include "layout.h"

#define WIDTH(s, m)	sizeof(((struct s *)0)->m)
#define ONE(s, m, c)	{ offsetof(struct s, m), WIDTH(s, m), 1, c }
#define MANY(s, m, c)	{ offsetof(struct s, m), WIDTH(s, m[0]), WIDTH(s, m) / WIDTH(s, m[0]), c }

#define OWNER(s)							\
	ONE(s, owner.pid, FC_PID), ONE(s, owner.kernel, FC_PLAIN),	\
	MANY(s, owner.comm, FC_COMM)

/* What a doorbell record holds are numbers and indices, no address */
#define QUEUE(s, q)							\
	ONE(s, q.depth, FC_PLAIN), ONE(s, q.pi, FC_PLAIN),		\
	ONE(s, q.ci, FC_PLAIN), ONE(s, q.valid, FC_PLAIN),		\
	ONE(s, q.page_shift, FC_PLAIN), ONE(s, q.page_cnt, FC_PLAIN),	\
	ONE(s, q.dma, FC_ADDR), ONE(s, q.dbrec_dma, FC_ADDR),		\
	ONE(s, q.dbrec, FC_PLAIN)

static const struct layout_field qp_fields[] = {
	ONE(erdma_diag_qp, qpn, FC_PLAIN),
	ONE(erdma_diag_qp, pdn, FC_PLAIN),
	ONE(erdma_diag_qp, type, FC_PLAIN),
	ONE(erdma_diag_qp, state, FC_PLAIN),
	ONE(erdma_diag_qp, send_cqn, FC_PLAIN),
	ONE(erdma_diag_qp, recv_cqn, FC_PLAIN),
	ONE(erdma_diag_qp, flags, FC_PLAIN),
	ONE(erdma_diag_qp, cookie, FC_PLAIN),
	ONE(erdma_diag_qp, peer_cookie, FC_PLAIN),
	ONE(erdma_diag_qp, cc, FC_PLAIN),
	ONE(erdma_diag_qp, family, FC_PLAIN),
	ONE(erdma_diag_qp, sport, FC_PLAIN),
	ONE(erdma_diag_qp, dport, FC_PLAIN),
	MANY(erdma_diag_qp, saddr, FC_IP),
	MANY(erdma_diag_qp, daddr, FC_IP),
	ONE(erdma_diag_qp, max_send_wr, FC_PLAIN),
	ONE(erdma_diag_qp, max_recv_wr, FC_PLAIN),
	ONE(erdma_diag_qp, max_send_sge, FC_PLAIN),
	ONE(erdma_diag_qp, max_inline, FC_PLAIN),
	ONE(erdma_diag_qp, sdb, FC_PLAIN),
	ONE(erdma_diag_qp, rdb, FC_PLAIN),
	QUEUE(erdma_diag_qp, sq),
	QUEUE(erdma_diag_qp, rq),
	ONE(erdma_diag_qp, created_ns, FC_PLAIN),
	ONE(erdma_diag_qp, state_ns, FC_PLAIN),
	ONE(erdma_diag_qp, async_events, FC_PLAIN),
	ONE(erdma_diag_qp, last_ae_type, FC_PLAIN),
	OWNER(erdma_diag_qp),
};

static const struct layout_field cq_fields[] = {
	ONE(erdma_diag_cq, cqn, FC_PLAIN),
	ONE(erdma_diag_cq, eqn, FC_PLAIN),
	ONE(erdma_diag_cq, comp_vector, FC_PLAIN),
	ONE(erdma_diag_cq, flags, FC_PLAIN),
	QUEUE(erdma_diag_cq, cq),
	ONE(erdma_diag_cq, arm_count, FC_PLAIN),
	ONE(erdma_diag_cq, cmdsn, FC_PLAIN),
	ONE(erdma_diag_cq, notify, FC_PLAIN),
	ONE(erdma_diag_cq, cdb, FC_PLAIN),
	ONE(erdma_diag_cq, created_ns, FC_PLAIN),
	ONE(erdma_diag_cq, events, FC_PLAIN),
	ONE(erdma_diag_cq, async_events, FC_PLAIN),
	ONE(erdma_diag_cq, rsvd, FC_PLAIN),
	OWNER(erdma_diag_cq),
};

static const struct layout_field eq_fields[] = {
	ONE(erdma_diag_eq, eqn, FC_PLAIN),
	ONE(erdma_diag_eq, vector, FC_PLAIN),
	ONE(erdma_diag_eq, irq, FC_PLAIN),
	ONE(erdma_diag_eq, flags, FC_PLAIN),
	QUEUE(erdma_diag_eq, eq),
	ONE(erdma_diag_eq, events, FC_PLAIN),
	ONE(erdma_diag_eq, interrupts, FC_PLAIN),
	ONE(erdma_diag_eq, notifies, FC_PLAIN),
	ONE(erdma_diag_eq, unknown, FC_PLAIN),
	MANY(erdma_diag_eq, by_type, FC_PLAIN),
};

static const struct layout_field cmdq_fields[] = {
	ONE(erdma_diag_cmdq, state, FC_PLAIN),
	ONE(erdma_diag_cmdq, credits, FC_PLAIN),
	ONE(erdma_diag_cmdq, in_flight, FC_PLAIN),
	ONE(erdma_diag_cmdq, quarantined, FC_PLAIN),
	ONE(erdma_diag_cmdq, max_in_flight, FC_PLAIN),
	ONE(erdma_diag_cmdq, slot_wqebbs, FC_PLAIN),
	QUEUE(erdma_diag_cmdq, sq),
	QUEUE(erdma_diag_cmdq, cq),
	ONE(erdma_diag_cmdq, submitted, FC_PLAIN),
	ONE(erdma_diag_cmdq, completed, FC_PLAIN),
	ONE(erdma_diag_cmdq, failed, FC_PLAIN),
	ONE(erdma_diag_cmdq, timeouts, FC_PLAIN),
	ONE(erdma_diag_cmdq, late, FC_PLAIN),
	ONE(erdma_diag_cmdq, lost_irqs, FC_PLAIN),
	ONE(erdma_diag_cmdq, bad_cqes, FC_PLAIN),
	ONE(erdma_diag_cmdq, oldest_ns, FC_PLAIN),
};

/* The bytes are the device's own, little endian: layout_of_context() */
static const struct layout_field hw_fields[] = {
	ONE(erdma_diag_hw, status, FC_PLAIN),
	ONE(erdma_diag_hw, syndrome, FC_PLAIN),
	ONE(erdma_diag_hw, len, FC_PLAIN),
	ONE(erdma_diag_hw, rsvd, FC_PLAIN),
	MANY(erdma_diag_hw, data, FC_PLAIN),
};

static const struct layout_field info_fields[] = {
	ONE(erdma_diag_info, size, FC_PLAIN),
	ONE(erdma_diag_info, flags, FC_PLAIN),
	ONE(erdma_diag_info, abi_cmds, FC_PLAIN),
	ONE(erdma_diag_info, abi_flags, FC_PLAIN),
	ONE(erdma_diag_info, abi_objs, FC_PLAIN),
	ONE(erdma_diag_info, abi_rings, FC_PLAIN),
	ONE(erdma_diag_info, abi_debug_cats, FC_PLAIN),
	ONE(erdma_diag_info, abi_debug_levels, FC_PLAIN),
	ONE(erdma_diag_info, ib_index, FC_PLAIN),
	ONE(erdma_diag_info, netdev_ifindex, FC_PLAIN),
	MANY(erdma_diag_info, driver_version, FC_PLAIN),
	MANY(erdma_diag_info, ib_name, FC_PLAIN),
	MANY(erdma_diag_info, netdev, FC_NAME),
	MANY(erdma_diag_info, pci, FC_PLAIN),
	ONE(erdma_diag_info, pci_vendor, FC_PLAIN),
	ONE(erdma_diag_info, pci_device, FC_PLAIN),
	ONE(erdma_diag_info, pci_rev, FC_PLAIN),
	ONE(erdma_diag_info, numa_node, FC_PLAIN),
	ONE(erdma_diag_info, vectors, FC_PLAIN),
	ONE(erdma_diag_info, proto, FC_PLAIN),
	ONE(erdma_diag_info, reg_version, FC_PLAIN),
	ONE(erdma_diag_info, reg_status, FC_PLAIN),
	ONE(erdma_diag_info, fw_version, FC_PLAIN),
	ONE(erdma_diag_info, bar0_len, FC_PLAIN),
	MANY(erdma_diag_info, mac, FC_MAC),
	ONE(erdma_diag_info, cc_default, FC_PLAIN),
	ONE(erdma_diag_info, node_guid, FC_MAC),
	ONE(erdma_diag_info, cap0, FC_PLAIN),
	ONE(erdma_diag_info, cap1, FC_PLAIN),
	ONE(erdma_diag_info, max_qp, FC_PLAIN),
	ONE(erdma_diag_info, max_cq, FC_PLAIN),
	ONE(erdma_diag_info, max_mr, FC_PLAIN),
	ONE(erdma_diag_info, max_pd, FC_PLAIN),
	ONE(erdma_diag_info, max_ctx, FC_PLAIN),
	ONE(erdma_diag_info, max_cqe, FC_PLAIN),
	ONE(erdma_diag_info, max_send_wr, FC_PLAIN),
	ONE(erdma_diag_info, max_recv_wr, FC_PLAIN),
	ONE(erdma_diag_info, max_mr_size, FC_PLAIN),
	ONE(erdma_diag_info, n_qp, FC_PLAIN),
	ONE(erdma_diag_info, n_cq, FC_PLAIN),
	ONE(erdma_diag_info, n_mr, FC_PLAIN),
	ONE(erdma_diag_info, n_pd, FC_PLAIN),
	ONE(erdma_diag_info, n_ctx, FC_PLAIN),
	ONE(erdma_diag_info, n_eq, FC_PLAIN),
	ONE(erdma_diag_info, mtu, FC_PLAIN),
	ONE(erdma_diag_info, link_up, FC_PLAIN),
	ONE(erdma_diag_info, time_mono_ns, FC_PLAIN),
	ONE(erdma_diag_info, time_real_ns, FC_PLAIN),
};

static const struct layout_field debug_fields[] = {
	ONE(erdma_diag_debug, size, FC_PLAIN),
	ONE(erdma_diag_debug, flags, FC_PLAIN),
	ONE(erdma_diag_debug, mask, FC_PLAIN),
	ONE(erdma_diag_debug, level, FC_PLAIN),
	ONE(erdma_diag_debug, duration_ms, FC_PLAIN),
	ONE(erdma_diag_debug, out_count, FC_PLAIN),
	MANY(erdma_diag_debug, out_level, FC_PLAIN),
	MANY(erdma_diag_debug, out_default, FC_PLAIN),
	MANY(erdma_diag_debug, out_left_ms, FC_PLAIN),
	ONE(erdma_diag_debug, out_suppressed, FC_PLAIN),
	ONE(erdma_diag_debug, out_printed, FC_PLAIN),
};

/* @buf is zero in a file. The entries follow the structure: they are the device's. */
static const struct layout_field ring_fields[] = {
	ONE(erdma_diag_ring_read, size, FC_PLAIN),
	ONE(erdma_diag_ring_read, flags, FC_PLAIN),
	ONE(erdma_diag_ring_read, ring, FC_PLAIN),
	ONE(erdma_diag_ring_read, id, FC_PLAIN),
	ONE(erdma_diag_ring_read, first, FC_PLAIN),
	ONE(erdma_diag_ring_read, count, FC_PLAIN),
	ONE(erdma_diag_ring_read, buf, FC_ADDR),
	ONE(erdma_diag_ring_read, buf_len, FC_PLAIN),
	ONE(erdma_diag_ring_read, out_entry_size, FC_PLAIN),
	ONE(erdma_diag_ring_read, out_count, FC_PLAIN),
	ONE(erdma_diag_ring_read, out_depth, FC_PLAIN),
	ONE(erdma_diag_ring_read, out_pi, FC_PLAIN),
	ONE(erdma_diag_ring_read, out_ci, FC_PLAIN),
	ONE(erdma_diag_ring_read, out_flags, FC_PLAIN),
	ONE(erdma_diag_ring_read, rsvd, FC_PLAIN),
	ONE(erdma_diag_ring_read, out_time_ns, FC_PLAIN),
};

/* ---- contexts of the device: classes matter, not the byte order ------------ */

#define PLAIN(s, from, to) \
	{ offsetof(struct s, from), 1, \
	  offsetof(struct s, to) + WIDTH(s, to) - offsetof(struct s, from), FC_PLAIN }

static const struct layout_field qpc_fields[] = {
	PLAIN(erdma_resp_qpc, hdr, recv_cqn),
	ONE(erdma_resp_qpc, sq_addr, FC_ADDR),
	ONE(erdma_resp_qpc, rq_addr, FC_ADDR),
	ONE(erdma_resp_qpc, sq_dbrec_addr, FC_ADDR),
	ONE(erdma_resp_qpc, rq_dbrec_addr, FC_ADDR),
	PLAIN(erdma_resp_qpc, sq_dbrec, rq_dbrec),
	{ offsetof(struct erdma_resp_qpc, sip), 1, 4, FC_IP },
	{ offsetof(struct erdma_resp_qpc, dip), 1, 4, FC_IP },
	PLAIN(erdma_resp_qpc, sport, dport),
};

static const struct layout_field cqc_fields[] = {
	PLAIN(erdma_resp_cqc, hdr, dup_dbs),
	ONE(erdma_resp_cqc, addr, FC_ADDR),
	ONE(erdma_resp_cqc, dbrec, FC_PLAIN),
};

static const struct layout_field eqc_fields[] = {
	PLAIN(erdma_resp_eqc, hdr, tail),
	ONE(erdma_resp_eqc, addr, FC_ADDR),
	ONE(erdma_resp_eqc, db_addr, FC_ADDR),
	ONE(erdma_resp_eqc, dbrec, FC_PLAIN),
};

#define LAYOUT(s, f)	{ sizeof(struct s), f, sizeof(f) / sizeof((f)[0]) }

static const struct {
	uint16_t type;
	struct layout l;
} records[] = {
	{ ERDMA_DIAG_REC_QP, LAYOUT(erdma_diag_qp, qp_fields) },
	{ ERDMA_DIAG_REC_CQ, LAYOUT(erdma_diag_cq, cq_fields) },
	{ ERDMA_DIAG_REC_EQ, LAYOUT(erdma_diag_eq, eq_fields) },
	{ ERDMA_DIAG_REC_CMDQ, LAYOUT(erdma_diag_cmdq, cmdq_fields) },
	{ ERDMA_DIAG_REC_QP_HW, LAYOUT(erdma_diag_hw, hw_fields) },
	{ ERDMA_DIAG_REC_CQ_HW, LAYOUT(erdma_diag_hw, hw_fields) },
	{ ERDMA_DIAG_REC_EQ_HW, LAYOUT(erdma_diag_hw, hw_fields) },
	{ ERDMA_SNAP_INFO, LAYOUT(erdma_diag_info, info_fields) },
	{ ERDMA_SNAP_DEBUG, LAYOUT(erdma_diag_debug, debug_fields) },
	{ ERDMA_SNAP_RING, LAYOUT(erdma_diag_ring_read, ring_fields) },
}, contexts[] = {
	{ ERDMA_DIAG_REC_QP_HW, LAYOUT(erdma_resp_qpc, qpc_fields) },
	{ ERDMA_DIAG_REC_CQ_HW, LAYOUT(erdma_resp_cqc, cqc_fields) },
	{ ERDMA_DIAG_REC_EQ_HW, LAYOUT(erdma_resp_eqc, eqc_fields) },
};

#define ARRAY_LEN(a)	(sizeof(a) / sizeof((a)[0]))

/**
 * layout_of_record - fields of the structure a record starts with
 * @type: ERDMA_DIAG_REC_* or ERDMA_SNAP_*
 *
 * Return: fields; NULL for lines, END and types without a table.
 */
const struct layout *layout_of_record(uint16_t type)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(records); i++)
		if (records[i].type == type)
			return &records[i].l;
	return NULL;
}

/**
 * layout_of_context - fields of the device's context in a record
 * @type: ERDMA_DIAG_REC_*_HW
 *
 * Return: fields of what is in struct erdma_diag_hw.data; NULL for other types.
 */
const struct layout *layout_of_context(uint16_t type)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(contexts); i++)
		if (contexts[i].type == type)
			return &contexts[i].l;
	return NULL;
}

static void swap_element(uint8_t *p, size_t width)
{
	uint8_t t;
	size_t i;

	for (i = 0; i < width / 2; i++) {
		t = p[i];
		p[i] = p[width - 1 - i];
		p[width - 1 - i] = t;
	}
}

/**
 * layout_swap - turn the bytes of each element round
 * @l: fields
 * @p: structure
 * @len: its bytes; it may be shorter or longer than @l knows
 *
 * Elements that are not there as a whole stay as they are.
 */
void layout_swap(const struct layout *l, uint8_t *p, size_t len)
{
	const struct layout_field *f;
	size_t i;

	for (f = l->f; f < l->f + l->n; f++)
		for (i = 0; i < f->count && f->off + (i + 1) * f->width <= len; i++)
			swap_element(p + f->off + i * f->width, f->width);
}
