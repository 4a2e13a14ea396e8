// SPDX-License-Identifier: GPL-2.0-or-later
/* The fields of the structures of a snapshot. Padding is a field, too. */
#include "erdma/erdma_hw.h"
#include "erdma/erdma_snapshot.h"
#include "uapi/erdma_diag.h"

#include "layout.h"

#define WIDTH(s, m)	sizeof(((struct s *)0)->m)
#define ONE(s, m, c)	{ offsetof(struct s, m), WIDTH(s, m), 1, c }
#define BYTES(s, m, c)	{ offsetof(struct s, m), 1, WIDTH(s, m), c }	/* no number */
#define MANY(s, m, c)	{ offsetof(struct s, m), WIDTH(s, m[0]), WIDTH(s, m) / WIDTH(s, m[0]), c }

#define OWNER_AT(s, o)							\
	ONE(s, o.pid, FC_PID), ONE(s, o.kernel, FC_PLAIN), MANY(s, o.comm, FC_COMM)

#define MORE_AT(s, o)							\
	ONE(s, o.flags, FC_PLAIN), ONE(s, o.rsvd, FC_PLAIN), ONE(s, o.cgroup_id, FC_PID)

#define OWNER(s)	OWNER_AT(s, owner)
#define OWNER_MORE(s)	MORE_AT(s, owner_more)

#define LOG_HEAD(s)							\
	ONE(s, head.seq, FC_PLAIN), ONE(s, head.time_ns, FC_PLAIN), OWNER_AT(s, head.owner)

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
	OWNER_MORE(erdma_diag_qp),
	ONE(erdma_diag_qp, peer_mss, FC_PLAIN),
	ONE(erdma_diag_qp, ctx, FC_PLAIN),
	ONE(erdma_diag_qp, res_id, FC_PLAIN),
	ONE(erdma_diag_qp, rsvd, FC_PLAIN),
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
	OWNER_MORE(erdma_diag_cq),
	ONE(erdma_diag_cq, ctx, FC_PLAIN),
	ONE(erdma_diag_cq, res_id, FC_PLAIN),
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
	ONE(erdma_diag_eq, served, FC_PLAIN),
	ONE(erdma_diag_eq, lost_irqs, FC_PLAIN),
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
	ONE(erdma_diag_cmdq, dead_reason, FC_PLAIN),
	ONE(erdma_diag_cmdq, dead_submod, FC_PLAIN),
	ONE(erdma_diag_cmdq, dead_opcode, FC_PLAIN),
	ONE(erdma_diag_cmdq, dead_waited_ms, FC_PLAIN),
	ONE(erdma_diag_cmdq, dead_ns, FC_PLAIN),
	OWNER_AT(erdma_diag_cmdq, dead_caller),
	MORE_AT(erdma_diag_cmdq, dead_caller_more),
};

static const struct layout_field mr_fields[] = {
	ONE(erdma_diag_mr, index, FC_PLAIN),
	ONE(erdma_diag_mr, lkey, FC_KEY),
	ONE(erdma_diag_mr, rkey, FC_KEY),
	ONE(erdma_diag_mr, pdn, FC_PLAIN),
	ONE(erdma_diag_mr, type, FC_PLAIN),
	ONE(erdma_diag_mr, flags, FC_PLAIN),
	ONE(erdma_diag_mr, access, FC_PLAIN),
	ONE(erdma_diag_mr, rights, FC_PLAIN),
	ONE(erdma_diag_mr, iova, FC_PLACE),
	ONE(erdma_diag_mr, length, FC_PLAIN),
	ONE(erdma_diag_mr, addr, FC_PLACE),
	ONE(erdma_diag_mr, page_shift, FC_PLAIN),
	ONE(erdma_diag_mr, page_cnt, FC_PLAIN),
	ONE(erdma_diag_mr, mtt_level, FC_PLAIN),
	ONE(erdma_diag_mr, mtt_tables, FC_PLAIN),
	ONE(erdma_diag_mr, mtt_bytes, FC_PLAIN),
	ONE(erdma_diag_mr, max_pages, FC_PLAIN),
	ONE(erdma_diag_mr, ctx, FC_PLAIN),
	ONE(erdma_diag_mr, res_id, FC_PLAIN),
	ONE(erdma_diag_mr, rsvd, FC_PLAIN),
	ONE(erdma_diag_mr, dma, FC_ADDR),
	ONE(erdma_diag_mr, created_ns, FC_PLAIN),
	OWNER(erdma_diag_mr),
	OWNER_MORE(erdma_diag_mr),
};

static const struct layout_field pd_fields[] = {
	ONE(erdma_diag_pd, pdn, FC_PLAIN),
	ONE(erdma_diag_pd, ctx, FC_PLAIN),
	ONE(erdma_diag_pd, n_qp, FC_PLAIN),
	ONE(erdma_diag_pd, n_mr, FC_PLAIN),
	ONE(erdma_diag_pd, res_id, FC_PLAIN),
	ONE(erdma_diag_pd, rsvd, FC_PLAIN),
	ONE(erdma_diag_pd, created_ns, FC_PLAIN),
	OWNER(erdma_diag_pd),
	OWNER_MORE(erdma_diag_pd),
};

static const struct layout_field ctx_fields[] = {
	ONE(erdma_diag_ctx, id, FC_PLAIN),
	ONE(erdma_diag_ctx, flags, FC_PLAIN),
	ONE(erdma_diag_ctx, sq_page, FC_PLAIN),
	ONE(erdma_diag_ctx, rq_page, FC_PLAIN),
	ONE(erdma_diag_ctx, cq_page, FC_PLAIN),
	ONE(erdma_diag_ctx, res_id, FC_PLAIN),
	ONE(erdma_diag_ctx, n_pd, FC_PLAIN),
	ONE(erdma_diag_ctx, n_mr, FC_PLAIN),
	ONE(erdma_diag_ctx, n_cq, FC_PLAIN),
	ONE(erdma_diag_ctx, n_qp, FC_PLAIN),
	ONE(erdma_diag_ctx, created_ns, FC_PLAIN),
	OWNER(erdma_diag_ctx),
	OWNER_MORE(erdma_diag_ctx),
};

static const struct layout_field cm_fields[] = {
	ONE(erdma_diag_cm_id, id, FC_PLAIN),
	ONE(erdma_diag_cm_id, state, FC_PLAIN),
	ONE(erdma_diag_cm_id, qpn, FC_PLAIN),
	ONE(erdma_diag_cm_id, listener, FC_PLAIN),
	ONE(erdma_diag_cm_id, backlog, FC_PLAIN),
	ONE(erdma_diag_cm_id, n_waiting, FC_PLAIN),
	ONE(erdma_diag_cm_id, flags, FC_PLAIN),
	ONE(erdma_diag_cm_id, family, FC_PLAIN),
	ONE(erdma_diag_cm_id, sport, FC_PLAIN),
	ONE(erdma_diag_cm_id, dport, FC_PLAIN),
	ONE(erdma_diag_cm_id, rsvd, FC_PLAIN),
	MANY(erdma_diag_cm_id, saddr, FC_IP),
	MANY(erdma_diag_cm_id, daddr, FC_IP),
	ONE(erdma_diag_cm_id, peer_cookie, FC_PLAIN),
	ONE(erdma_diag_cm_id, ird, FC_PLAIN),
	ONE(erdma_diag_cm_id, ord, FC_PLAIN),
	ONE(erdma_diag_cm_id, left_ms, FC_PLAIN),
	ONE(erdma_diag_cm_id, created_ns, FC_PLAIN),
	ONE(erdma_diag_cm_id, state_ns, FC_PLAIN),
	OWNER(erdma_diag_cm_id),
	OWNER_MORE(erdma_diag_cm_id),
};

/* ---- entries of the recorders ------------------------------------------------ */

static const struct layout_field log_cmd_fields[] = {
	LOG_HEAD(erdma_diag_log_cmd),
	ONE(erdma_diag_log_cmd, cmd_seq, FC_PLAIN),
	ONE(erdma_diag_log_cmd, submit_ns, FC_PLAIN),
	ONE(erdma_diag_log_cmd, answer_ns, FC_PLAIN),
	ONE(erdma_diag_log_cmd, submod, FC_PLAIN),
	ONE(erdma_diag_log_cmd, opcode, FC_PLAIN),
	ONE(erdma_diag_log_cmd, object, FC_PLAIN),
	ONE(erdma_diag_log_cmd, outcome, FC_PLAIN),
	ONE(erdma_diag_log_cmd, syndrome, FC_PLAIN),
	ONE(erdma_diag_log_cmd, err, FC_PLAIN),
};

static const struct layout_field log_cmd_time_fields[] = {
	LOG_HEAD(erdma_diag_log_cmd_time),
	ONE(erdma_diag_log_cmd_time, submod, FC_PLAIN),
	ONE(erdma_diag_log_cmd_time, opcode, FC_PLAIN),
	ONE(erdma_diag_log_cmd_time, count, FC_PLAIN),
	ONE(erdma_diag_log_cmd_time, failed, FC_PLAIN),
	ONE(erdma_diag_log_cmd_time, sum_ns, FC_PLAIN),
	ONE(erdma_diag_log_cmd_time, max_ns, FC_PLAIN),
	MANY(erdma_diag_log_cmd_time, bucket, FC_PLAIN),
};

static const struct layout_field log_event_fields[] = {
	LOG_HEAD(erdma_diag_log_event),
	ONE(erdma_diag_log_event, type, FC_PLAIN),
	ONE(erdma_diag_log_event, subtype, FC_PLAIN),
	ONE(erdma_diag_log_event, object, FC_PLAIN),
	ONE(erdma_diag_log_event, obj, FC_PLAIN),
	ONE(erdma_diag_log_event, data, FC_PLAIN),
	ONE(erdma_diag_log_event, known, FC_PLAIN),
};

static const struct layout_field log_cm_fields[] = {
	LOG_HEAD(erdma_diag_log_cm),
	ONE(erdma_diag_log_cm, stage, FC_PLAIN),
	ONE(erdma_diag_log_cm, flags, FC_PLAIN),
	ONE(erdma_diag_log_cm, err, FC_PLAIN),
	ONE(erdma_diag_log_cm, qpn, FC_PLAIN),
	ONE(erdma_diag_log_cm, family, FC_PLAIN),
	ONE(erdma_diag_log_cm, sport, FC_PLAIN),
	ONE(erdma_diag_log_cm, dport, FC_PLAIN),
	MANY(erdma_diag_log_cm, saddr, FC_IP),
	MANY(erdma_diag_log_cm, daddr, FC_IP),
	ONE(erdma_diag_log_cm, cookie, FC_PLAIN),
	ONE(erdma_diag_log_cm, peer_cookie, FC_PLAIN),
	ONE(erdma_diag_log_cm, peer_cc, FC_PLAIN),
	ONE(erdma_diag_log_cm, pdata_len, FC_PLAIN),
	MANY(erdma_diag_log_cm, rsvd, FC_PLAIN),
	MANY(erdma_diag_log_cm, stage_us, FC_PLAIN),
};

static const struct layout_field log_fail_fields[] = {
	LOG_HEAD(erdma_diag_log_fail),
	ONE(erdma_diag_log_fail, verb, FC_PLAIN),
	ONE(erdma_diag_log_fail, err, FC_PLAIN),
	ONE(erdma_diag_log_fail, object, FC_PLAIN),
	ONE(erdma_diag_log_fail, count, FC_PLAIN),
	ONE(erdma_diag_log_fail, cmd, FC_PLAIN),
	ONE(erdma_diag_log_fail, submod, FC_PLAIN),
	ONE(erdma_diag_log_fail, opcode, FC_PLAIN),
	ONE(erdma_diag_log_fail, syndrome, FC_PLAIN),
};

static const struct layout_field log_key_fields[] = {
	LOG_HEAD(erdma_diag_log_key),
	ONE(erdma_diag_log_key, stag, FC_KEY),
	ONE(erdma_diag_log_key, index, FC_PLAIN),
	ONE(erdma_diag_log_key, pdn, FC_PLAIN),
	ONE(erdma_diag_log_key, type, FC_PLAIN),
	ONE(erdma_diag_log_key, err, FC_PLAIN),
	ONE(erdma_diag_log_key, rsvd, FC_PLAIN),
};

static const struct layout_field log_reset_fields[] = {
	LOG_HEAD(erdma_diag_log_reset),
	ONE(erdma_diag_log_reset, event, FC_PLAIN),
	ONE(erdma_diag_log_reset, generation, FC_PLAIN),
	ONE(erdma_diag_log_reset, err, FC_PLAIN),
	ONE(erdma_diag_log_reset, rsvd, FC_PLAIN),
	MANY(erdma_diag_log_reset, reason, FC_PLAIN),
};

static const struct layout_field log_link_fields[] = {
	LOG_HEAD(erdma_diag_log_link),
	ONE(erdma_diag_log_link, event, FC_PLAIN),
	ONE(erdma_diag_log_link, mtu, FC_PLAIN),
	ONE(erdma_diag_log_link, err, FC_PLAIN),
	ONE(erdma_diag_log_link, rsvd, FC_PLAIN),
};

/* A message names anything: addresses, too */
static const struct layout_field log_debug_fields[] = {
	LOG_HEAD(erdma_diag_log_debug),
	ONE(erdma_diag_log_debug, category, FC_PLAIN),
	ONE(erdma_diag_log_debug, level, FC_PLAIN),
	MANY(erdma_diag_log_debug, text, FC_DATA),
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
	BYTES(erdma_diag_info, node_guid, FC_MAC),
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
	ONE(erdma_diag_info, probed_ns, FC_PLAIN),
	ONE(erdma_diag_info, lost_ns, FC_PLAIN),
	ONE(erdma_diag_info, generation, FC_PLAIN),
	ONE(erdma_diag_info, last_loss, FC_PLAIN),
	ONE(erdma_diag_info, mtu_device, FC_PLAIN),
	ONE(erdma_diag_info, mtu_asked, FC_PLAIN),
	ONE(erdma_diag_info, mtu_status, FC_PLAIN),
	ONE(erdma_diag_info, mtu_failures, FC_PLAIN),
	ONE(erdma_diag_info, mtu_ns, FC_PLAIN),
	ONE(erdma_diag_info, max_send_sge, FC_PLAIN),
	ONE(erdma_diag_info, max_recv_sge, FC_PLAIN),
	ONE(erdma_diag_info, max_read_sge, FC_PLAIN),
	ONE(erdma_diag_info, max_inline, FC_PLAIN),
	ONE(erdma_diag_info, max_ird, FC_PLAIN),
	ONE(erdma_diag_info, max_ord, FC_PLAIN),
	ONE(erdma_diag_info, max_frmr_pages, FC_PLAIN),
	ONE(erdma_diag_info, max_private_data, FC_PLAIN),
	ONE(erdma_diag_info, page_sizes, FC_PLAIN),
	ONE(erdma_diag_info, peak_qp, FC_PLAIN),
	ONE(erdma_diag_info, peak_cq, FC_PLAIN),
	ONE(erdma_diag_info, peak_mr, FC_PLAIN),
	ONE(erdma_diag_info, peak_pd, FC_PLAIN),
	ONE(erdma_diag_info, peak_ctx, FC_PLAIN),
	ONE(erdma_diag_info, netdev_flags, FC_PLAIN),
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

#define LOG(kind, l)	{ ERDMA_DIAG_REC_LOG(ERDMA_DIAG_LOG_##kind), l }

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
	{ ERDMA_DIAG_REC_MR, LAYOUT(erdma_diag_mr, mr_fields) },
	{ ERDMA_DIAG_REC_PD, LAYOUT(erdma_diag_pd, pd_fields) },
	{ ERDMA_DIAG_REC_CTX, LAYOUT(erdma_diag_ctx, ctx_fields) },
	{ ERDMA_DIAG_REC_CM_ID, LAYOUT(erdma_diag_cm_id, cm_fields) },
	LOG(CMD, LAYOUT(erdma_diag_log_cmd, log_cmd_fields)),
	LOG(CMD_FIRST, LAYOUT(erdma_diag_log_cmd, log_cmd_fields)),
	LOG(CMD_TIME, LAYOUT(erdma_diag_log_cmd_time, log_cmd_time_fields)),
	LOG(EVENT, LAYOUT(erdma_diag_log_event, log_event_fields)),
	LOG(CM, LAYOUT(erdma_diag_log_cm, log_cm_fields)),
	LOG(FAIL, LAYOUT(erdma_diag_log_fail, log_fail_fields)),
	LOG(KEY, LAYOUT(erdma_diag_log_key, log_key_fields)),
	LOG(RESET, LAYOUT(erdma_diag_log_reset, log_reset_fields)),
	LOG(LINK, LAYOUT(erdma_diag_log_link, log_link_fields)),
	LOG(DEBUG, LAYOUT(erdma_diag_log_debug, log_debug_fields)),
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
