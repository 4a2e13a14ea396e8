// SPDX-License-Identifier: GPL-2.0-or-later
/* What each command demands and returns. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "diag_abi.h"
#include "erdma/erdma_hw.h"

#define PAGE 4096
#define KERNEL_ADDRESS 0xffff888000000000ULL

static uint8_t buf[ERDMA_DIAG_LIST_MAX_BYTES];

/* ---- INFO ---- */

static bool terminated(const uint8_t *s, size_t len)
{
	return memchr(s, 0, len);
}

static bool info_is_plausible(void)
{
	struct erdma_diag_info i;

	memset(&i, 0xff, sizeof(i));
	i.size = sizeof(i);
	i.flags = 0;
	EXPECT(!call(node, ERDMA_DIAG_INFO, &i), "info");
	EXPECT(i.abi_cmds == 0xff, "commands %#llx", (unsigned long long)i.abi_cmds);
	EXPECT(i.abi_objs == 0x1fe && i.abi_rings == 0x7e, "objects or rings");
	EXPECT(i.abi_debug_cats == ERDMA_DIAG_CAT_COUNT, "categories %u", i.abi_debug_cats);
	EXPECT(terminated(i.driver_version, sizeof(i.driver_version)) && i.driver_version[0],
	       "driver version");
	EXPECT(terminated(i.ib_name, sizeof(i.ib_name)) && i.ib_name[0], "RDMA name");
	EXPECT(terminated(i.netdev, sizeof(i.netdev)) && i.netdev_ifindex, "interface");
	EXPECT(terminated(i.pci, sizeof(i.pci)) && strlen((char *)i.pci) == 12, "PCI address");
	EXPECT(i.pci_vendor == 0x1ded && i.pci_device == 0x107f, "PCI ids");
	EXPECT(i.max_qp && i.max_cq && i.max_mr && i.max_pd && i.max_cqe, "limits");
	EXPECT(i.n_eq == i.vectors + 1, "%u EQs on %u vectors", i.n_eq, i.vectors);
	EXPECT(i.reg_version && i.bar0_len >= ERDMA_BAR0_MIN_SIZE, "registers");
	EXPECT(i.abi_flags & ERDMA_DIAG_ABI_LIST_HW, "flags");
	EXPECT(i.probed_ns && i.probed_ns < i.time_mono_ns, "time of the probe");
	EXPECT(!i.last_loss == !i.lost_ns, "loss %u", i.last_loss);
	EXPECT(i.max_send_sge == 6 && i.max_recv_sge == 1 && i.max_inline && i.max_ird &&
	       i.max_ord && i.max_private_data && i.page_sizes & 4096, "effective limits");
	EXPECT(i.mtu_device || i.mtu_status, "MTU of the device is neither known nor refused");
	EXPECT(i.time_mono_ns && i.time_real_ns > 1000000000ULL * 1600000000ULL, "clocks");
	return true;
}

/* ---- LIST ---- */

static bool list_of_unknown_objects(void)
{
	static const uint32_t objs[] = { 0, 9, 10, 64, 0x80000000, 0xffffffff };

	for (unsigned int i = 0; i < sizeof(objs) / sizeof(objs[0]); i++) {
		struct erdma_diag_list arg = { .obj = objs[i] };
		int err = list(node, &arg, buf, sizeof(buf));

		EXPECT(err == EOPNOTSUPP, "object type %u: %s", objs[i], strerror(err));
	}
	return true;
}

static bool list_into_too_small_buffer(void)
{
	const uint32_t want = 8 + sizeof(struct erdma_diag_eq);

	for (uint32_t len = 0; len < want; len++) {
		struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_EQ };
		int err = list(node, &arg, buf, len);

		EXPECT(err == EMSGSIZE, "%u bytes: %s", len, strerror(err));
		EXPECT(arg.out_len == want && arg.size == sizeof(arg), "needed size %u", arg.out_len);
		EXPECT(!arg.out_count, "%u records", arg.out_count);
	}
	return true;
}

static bool list_pages_are_complete(void)
{
	struct erdma_diag_list all = { .obj = ERDMA_DIAG_OBJ_EQ };
	struct erdma_diag_list one = { .obj = ERDMA_DIAG_OBJ_EQ };
	const uint32_t len = 8 + sizeof(struct erdma_diag_eq);
	uint8_t small[8 + sizeof(struct erdma_diag_eq)];
	uint32_t n = 0;

	EXPECT(!list(node, &all, buf, sizeof(buf)) && !all.more, "list of all");
	EXPECT(all.out_count >= 3 && all.out_len == all.out_count * len, "%u EQs in %u bytes",
	       all.out_count, all.out_len);
	do {
		EXPECT(!list(node, &one, small, sizeof(small)), "page %u", n);
		EXPECT(one.out_count == 1 && one.out_len == len, "page %u", n);
		EXPECT(!memcmp(small, buf + n * len, 12), "page %u is another EQ", n);
		one.start_id = one.next_id;
		n++;
	} while (one.more && n < 100);
	EXPECT(n == all.out_count, "%u pages for %u EQs", n, all.out_count);
	return true;
}

static bool list_beyond_last_id(void)
{
	struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_QP, .start_id = 0xffffffff };

	EXPECT(!list(node, &arg, NULL, 0), "empty list needs no buffer");
	EXPECT(!arg.out_count && !arg.out_len && !arg.more, "not empty");
	return true;
}

static bool list_into_bad_buffer(void)
{
	static const uint64_t bad[] = { 0, 1, KERNEL_ADDRESS, 0xfffffffffffff000ULL };

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_EQ };
		int err = list(node, &arg, (void *)(uintptr_t)bad[i], 4096);

		EXPECT(err == EFAULT, "buffer at %#llx: %s", (unsigned long long)bad[i],
		       strerror(err));
		EXPECT(!arg.out_len && !arg.out_count, "something was returned");
	}
	return true;
}

static bool list_into_half_a_buffer(void)
{
	uint8_t *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
	struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_EQ };

	EXPECT(page != MAP_FAILED && !munmap(page + PAGE, PAGE), "mmap");
	EXPECT(list(node, &arg, page + PAGE - 200, 4096) == EFAULT, "hole behind 200 bytes");
	munmap(page, PAGE);
	return true;
}

static bool list_writes_only_what_it_reports(void)
{
	struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_CMDQ };

	memset(buf, 0xa5, sizeof(buf));
	EXPECT(!list(node, &arg, buf, sizeof(buf)), "list");
	EXPECT(arg.out_len == 8 + sizeof(struct erdma_diag_cmdq), "%u bytes", arg.out_len);
	for (uint32_t i = arg.out_len; i < sizeof(buf); i++)
		EXPECT(buf[i] == 0xa5, "byte %u was written", i);
	return true;
}

static bool list_with_more_room_than_limit(void)
{
	struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_EQ };

	EXPECT(!list(node, &arg, buf, 0xffffffff), "4 GiB of room are not an error");
	EXPECT(arg.out_count >= 3 && !arg.more, "%u records", arg.out_count);
	return true;
}

/* ---- CONTEXT ---- */

static bool context_of_unknown_ids(void)
{
	static const struct {
		uint32_t obj, id;
		int want;
	} cases[] = {
		{ 0, 0, EOPNOTSUPP }, { 9, 0, EOPNOTSUPP }, { 0xffffffff, 0, EOPNOTSUPP },
		{ ERDMA_DIAG_OBJ_QP, 0, ENOENT }, { ERDMA_DIAG_OBJ_QP, 0xffffffff, ENOENT },
		{ ERDMA_DIAG_OBJ_CQ, 0, ENOENT }, { ERDMA_DIAG_OBJ_CQ, 0x100000, ENOENT },
		{ ERDMA_DIAG_OBJ_EQ, 33, ENOENT }, { ERDMA_DIAG_OBJ_EQ, 31, ENOENT },
		{ ERDMA_DIAG_OBJ_EQ, 0xffffffff, ENOENT }, { ERDMA_DIAG_OBJ_CMDQ, 1, ENOENT },
		{ ERDMA_DIAG_OBJ_MR, 0xfffff, ENOENT }, { ERDMA_DIAG_OBJ_MR, 0xffffffff, ENOENT },
		{ ERDMA_DIAG_OBJ_PD, 0x1ffff, ENOENT }, { ERDMA_DIAG_OBJ_PD, 0xffffffff, ENOENT },
		{ ERDMA_DIAG_OBJ_CTX, 0, ENOENT }, { ERDMA_DIAG_OBJ_CTX, 0xffffffff, ENOENT },
		{ ERDMA_DIAG_OBJ_CM_ID, 0, ENOENT }, { ERDMA_DIAG_OBJ_CM_ID, 0xffffffff, ENOENT },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct erdma_diag_context arg = {
			.size = sizeof(arg), .obj = cases[i].obj, .id = cases[i].id,
			.buf = (uintptr_t)buf, .buf_len = sizeof(buf),
		};
		int err = call(node, ERDMA_DIAG_CONTEXT, &arg);

		EXPECT(err == cases[i].want, "object type %u id %u: %s", cases[i].obj, cases[i].id,
		       strerror(err));
	}
	return true;
}

static bool context_into_too_small_buffer(void)
{
	for (uint32_t hw = 0; hw < 2; hw++) {
		uint32_t want = 8 + sizeof(struct erdma_diag_cmdq) +
				hw * (8 + sizeof(struct erdma_diag_hw));

		for (uint32_t len = 0; len <= want; len++) {
			struct erdma_diag_context arg = {
				.size = sizeof(arg), .flags = hw, .obj = ERDMA_DIAG_OBJ_CMDQ,
				.buf = (uintptr_t)buf, .buf_len = len,
			};
			int err = call(node, ERDMA_DIAG_CONTEXT, &arg);

			EXPECT(err == (len < want ? EMSGSIZE : 0), "%u bytes: %s", len, strerror(err));
			EXPECT(arg.out_len == want, "needed size %u", arg.out_len);
		}
	}
	return true;
}

static bool context_into_bad_buffer(void)
{
	struct erdma_diag_context arg = {
		.size = sizeof(arg), .obj = ERDMA_DIAG_OBJ_CMDQ, .buf = KERNEL_ADDRESS,
		.buf_len = 4096,
	};

	EXPECT(call(node, ERDMA_DIAG_CONTEXT, &arg) == EFAULT, "kernel address");
	arg.buf = 0;
	EXPECT(call(node, ERDMA_DIAG_CONTEXT, &arg) == EFAULT, "no buffer");
	EXPECT(!arg.out_len && !arg.time_ns, "something was returned");
	return true;
}

/* The device's view comes, or the reason why not. */
static bool context_asks_device(void)
{
	struct erdma_diag_info info = { .size = sizeof(info) };
	const struct erdma_diag_hw *hw;
	struct erdma_diag_context arg;

	EXPECT(!call(node, ERDMA_DIAG_INFO, &info), "info");
	for (uint32_t id = 0; id <= ERDMA_DIAG_EQ_AEQ; id += ERDMA_DIAG_EQ_AEQ) {
		arg = (struct erdma_diag_context){
			.size = sizeof(arg), .flags = ERDMA_DIAG_CONTEXT_HW,
			.obj = ERDMA_DIAG_OBJ_EQ, .id = id, .buf = (uintptr_t)buf,
			.buf_len = sizeof(buf),
		};
		EXPECT(!call(node, ERDMA_DIAG_CONTEXT, &arg), "EQ %u", id);
		hw = find_record(buf, arg.out_len, ERDMA_DIAG_REC_EQ_HW);
		EXPECT(hw, "no record of the device");
		if (info.abi_flags & ERDMA_DIAG_ABI_HW_CONTEXT)
			EXPECT(!hw->status && hw->len == 56, "EQ %u: status %u", id, hw->status);
		else
			EXPECT(hw->status == EOPNOTSUPP && !hw->len, "EQ %u: status %u", id,
			       hw->status);
	}
	return true;
}

/* ---- RING_READ ---- */

static int ring_read(struct erdma_diag_ring_read *arg, uint32_t len)
{
	arg->size = sizeof(*arg);
	arg->buf = (uintptr_t)buf;
	arg->buf_len = len;
	return call(node, ERDMA_DIAG_RING_READ, arg);
}

static bool ring_read_of_unknown_rings(void)
{
	static const struct {
		uint32_t ring, id;
		int want;
	} cases[] = {
		{ 0, 0, EOPNOTSUPP }, { 7, 0, EOPNOTSUPP }, { 0xffffffff, 0, EOPNOTSUPP },
		{ ERDMA_DIAG_RING_SQ, 0, ENOENT }, { ERDMA_DIAG_RING_SQ, 0xffffffff, ENOENT },
		{ ERDMA_DIAG_RING_RQ, 0xfffff, ENOENT }, { ERDMA_DIAG_RING_CQ, 0, ENOENT },
		{ ERDMA_DIAG_RING_EQ, 31, ENOENT }, { ERDMA_DIAG_RING_EQ, 33, ENOENT },
		{ ERDMA_DIAG_RING_EQ, 0xffffffff, ENOENT }, { ERDMA_DIAG_RING_CMDQ_SQ, 1, ENOENT },
		{ ERDMA_DIAG_RING_CMDQ_CQ, 1, ENOENT },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct erdma_diag_ring_read arg = {
			.ring = cases[i].ring, .id = cases[i].id, .count = 1,
		};
		int err = ring_read(&arg, sizeof(buf));

		EXPECT(err == cases[i].want, "ring %u id %u: %s", cases[i].ring, cases[i].id,
		       strerror(err));
	}
	return true;
}

static bool ring_read_count_above_depth(void)
{
	struct erdma_diag_ring_read arg = {
		.ring = ERDMA_DIAG_RING_EQ, .id = ERDMA_DIAG_EQ_AEQ,
	};
	uint32_t depth;

	EXPECT(!ring_read(&arg, 0), "no entries need no buffer");
	depth = arg.out_depth;
	EXPECT(depth && arg.out_entry_size == 16 && !arg.out_count, "geometry");
	arg.count = depth;
	EXPECT(!ring_read(&arg, sizeof(buf)) && arg.out_count == depth, "the whole ring");
	arg.count = depth + 1;
	EXPECT(ring_read(&arg, sizeof(buf)) == EINVAL, "one more");
	arg.count = 0xffffffff;
	EXPECT(ring_read(&arg, sizeof(buf)) == EINVAL, "as many as can be");
	return true;
}

static bool ring_read_into_too_small_buffer(void)
{
	for (uint32_t len = 0; len < 64; len++) {
		struct erdma_diag_ring_read arg = { .ring = ERDMA_DIAG_RING_CMDQ_CQ, .count = 2 };
		int err = ring_read(&arg, len);

		EXPECT(err == EMSGSIZE, "%u bytes: %s", len, strerror(err));
		EXPECT(arg.out_entry_size == 32 && !arg.out_count, "entry size not returned");
	}
	return true;
}

static bool ring_read_reduces_first(void)
{
	struct erdma_diag_ring_read a = { .ring = ERDMA_DIAG_RING_CMDQ_SQ, .first = 511, .count = 1 };
	struct erdma_diag_ring_read b = { .ring = ERDMA_DIAG_RING_CMDQ_SQ, .first = 0xffffffff,
					  .count = 1 };
	uint8_t entry[32];

	EXPECT(!ring_read(&a, 32) && a.out_depth == 512, "last entry");
	memcpy(entry, buf, 32);
	EXPECT(!ring_read(&b, 32) && !memcmp(entry, buf, 32), "index modulo the depth");
	return true;
}

/* The newest command stands where PI says, with the header of its slot. */
static bool ring_read_shows_commands(void)
{
	struct erdma_diag_ring_read arg = { .ring = ERDMA_DIAG_RING_CMDQ_SQ };
	uint64_t hdr;

	EXPECT(!ring_read(&arg, 0) && arg.out_flags & ERDMA_DIAG_RING_PI, "PI is known");
	arg.first = arg.out_pi - 4;
	arg.count = 4;
	EXPECT(!ring_read(&arg, sizeof(buf)), "newest command");
	memcpy(&hdr, buf, 8);
	EXPECT((hdr & 0xffff) == (arg.out_pi & 0xffff) && (hdr >> 52 & 7) == 3,
	       "header %#llx, PI %u", (unsigned long long)hdr, arg.out_pi);
	return true;
}

/* ---- DEBUG ---- */

static int debug_set(uint32_t mask, uint32_t level, uint32_t ms, struct erdma_diag_debug *arg)
{
	memset(arg, 0, sizeof(*arg));
	arg->size = sizeof(*arg);
	arg->flags = ERDMA_DIAG_DEBUG_SET;
	arg->mask = mask;
	arg->level = level;
	arg->duration_ms = ms;
	return call(node, ERDMA_DIAG_DEBUG, arg);
}

static bool debug_judges_arguments(void)
{
	struct erdma_diag_debug d;

	EXPECT(debug_set(0, 0, 0, &d) == EINVAL, "no category");
	EXPECT(debug_set(1 << ERDMA_DIAG_CAT_COUNT, 0, 0, &d) == EOPNOTSUPP, "unknown category");
	EXPECT(debug_set(0x80000001, 0, 0, &d) == EOPNOTSUPP, "unknown and known category");
	EXPECT(debug_set(1, ERDMA_DIAG_LEVEL_COUNT, 0, &d) == EINVAL, "unknown level");
	EXPECT(debug_set(1, 1, ERDMA_DIAG_DEBUG_MAX_MS + 1, &d) == EINVAL, "too long");
	return true;
}

static bool debug_set_is_seen_and_expires(void)
{
	const uint32_t qp = 1 << ERDMA_DIAG_CAT_QP;
	struct erdma_diag_debug d, get = { .size = sizeof(get) };

	EXPECT(!debug_set(qp, ERDMA_DIAG_LEVEL_DBG, 300, &d), "set");
	EXPECT(d.out_level[ERDMA_DIAG_CAT_QP] == ERDMA_DIAG_LEVEL_DBG, "answer of set");
	EXPECT(d.out_left_ms[ERDMA_DIAG_CAT_QP] && d.out_left_ms[ERDMA_DIAG_CAT_QP] <= 1000,
	       "%u ms left", d.out_left_ms[ERDMA_DIAG_CAT_QP]);
	EXPECT(d.out_count == ERDMA_DIAG_CAT_COUNT, "%u categories", d.out_count);
	for (int i = 0; i < 50; i++) {
		usleep(100000);
		EXPECT(!call(node, ERDMA_DIAG_DEBUG, &get), "get");
		if (get.out_level[ERDMA_DIAG_CAT_QP] == get.out_default[ERDMA_DIAG_CAT_QP])
			break;
	}
	EXPECT(get.out_level[ERDMA_DIAG_CAT_QP] == get.out_default[ERDMA_DIAG_CAT_QP],
	       "did not expire");
	return true;
}

/* ---- RECOVER ---- */

static int recover(uint32_t obj, uint32_t id, struct erdma_diag_recover *arg)
{
	*arg = (struct erdma_diag_recover){ .size = sizeof(*arg), .obj = obj, .id = id };
	arg->out_flags = arg->out_events = arg->out_delivered = UINT32_MAX;
	return call(node, ERDMA_DIAG_RECOVER, arg);
}

static bool recover_judges_arguments(void)
{
	struct erdma_diag_recover r;

	for (uint32_t obj = 0; obj < 64; obj++)
		if (obj != ERDMA_DIAG_OBJ_EQ && obj != ERDMA_DIAG_OBJ_CQ)
			EXPECT(recover(obj, 1, &r) == EOPNOTSUPP, "object type %u", obj);
	EXPECT(recover(0x10000 + ERDMA_DIAG_OBJ_EQ, 1, &r) == EOPNOTSUPP, "absurd object type");
	EXPECT(recover(ERDMA_DIAG_OBJ_EQ, 31, &r) == ENOENT, "vector that does not exist");
	EXPECT(recover(ERDMA_DIAG_OBJ_EQ, ERDMA_DIAG_EQ_COUNT, &r) == ENOENT, "EQ 33");
	EXPECT(recover(ERDMA_DIAG_OBJ_EQ, UINT32_MAX, &r) == ENOENT, "absurd EQ");
	EXPECT(recover(ERDMA_DIAG_OBJ_CQ, 0, &r) == ENOENT, "CQ 0");
	EXPECT(recover(ERDMA_DIAG_OBJ_CQ, UINT32_MAX, &r) == ENOENT, "absurd CQ");
	EXPECT(r.out_flags == UINT32_MAX && r.out_events == UINT32_MAX, "argument of a failure");
	return true;
}

/* A device that works has nothing that waits, and works on */
static bool recover_of_what_works_changes_nothing(void)
{
	static const uint32_t eqs[] = { ERDMA_DIAG_EQ_CMDQ, ERDMA_DIAG_EQ_CEQ(1), ERDMA_DIAG_EQ_AEQ };
	struct erdma_diag_recover r;
	struct own_qp own;

	EXPECT(own_qp_open(&own), "no QP");
	for (unsigned int i = 0; i < 3 * 100; i++) {
		EXPECT(!recover(ERDMA_DIAG_OBJ_EQ, eqs[i % 3], &r), "EQ %u", eqs[i % 3]);
		EXPECT(r.out_flags == ERDMA_DIAG_RECOVER_RUNG, "flags %#x", r.out_flags);
		EXPECT(eqs[i % 3] == ERDMA_DIAG_EQ_CMDQ || !r.out_events, "%u events", r.out_events);
	}
	EXPECT(!recover(ERDMA_DIAG_OBJ_CQ, own.cqn, &r), "own CQ");
	EXPECT(!r.out_flags && !r.out_events && !r.out_delivered, "CQ that was never armed: %#x",
	       r.out_flags);
	own_qp_close(&own);
	EXPECT(own_qp_open(&own), "no QP afterwards");
	own_qp_close(&own);
	return true;
}

/* ---- objects of this process ---- */

static bool own_qp_is_listed(void)
{
	struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_QP };
	const struct erdma_diag_qp *qp;
	struct own_qp own;

	EXPECT(own_qp_open(&own), "no QP");
	arg.start_id = own.qpn;
	EXPECT(!list(node, &arg, buf, 8 + sizeof(*qp)), "list");
	qp = find_record(buf, arg.out_len, ERDMA_DIAG_REC_QP);
	EXPECT(qp && qp->qpn == own.qpn, "another QP");
	EXPECT(!qp->owner.kernel && qp->owner.pid == (uint32_t)getpid(), "pid %u", qp->owner.pid);
	EXPECT(!strcmp((char *)qp->owner.comm, "diag_abi"), "comm %s", qp->owner.comm);
	EXPECT(qp->send_cqn == own.cqn && qp->recv_cqn == own.cqn, "CQs");
	EXPECT(qp->state == ERDMA_QPS_IDLE && !qp->family, "not idle");
	EXPECT(qp->sq.depth == own.sq_depth, "depth %u", qp->sq.depth);
	EXPECT(qp->sq.dma && qp->sq.dbrec_dma, "no bus addresses for root");
	EXPECT(qp->sq.valid == (ERDMA_DIAG_Q_PI | ERDMA_DIAG_Q_DBREC), "indices %#x", qp->sq.valid);
	own_qp_close(&own);
	EXPECT(!list(node, &arg, buf, sizeof(buf)) && !arg.out_count, "still listed");
	return true;
}

/* Receives need no connection: what was posted is in the ring. */
static bool own_rq_is_read(void)
{
	struct erdma_diag_ring_read arg = { .ring = ERDMA_DIAG_RING_RQ };
	const struct erdma_rqe *rqe = (const void *)buf;
	struct own_qp own;

	EXPECT(own_qp_open(&own), "no QP");
	EXPECT(own_qp_post(&own, 5), "post");
	arg.id = own.qpn;
	arg.count = 5;
	EXPECT(!ring_read(&arg, sizeof(buf)), "read");
	EXPECT(arg.out_flags & ERDMA_DIAG_RING_PI && arg.out_pi == 5, "PI %u, flags %#x",
	       arg.out_pi, arg.out_flags);
	EXPECT(!(arg.out_flags & ERDMA_DIAG_RING_HIDDEN), "hidden from root");
	for (int i = 0; i < 5; i++)
		EXPECT(rqe[i].qe_idx == i + 1 && rqe[i].qpn == own.qpn && rqe[i].length == 64U + i &&
		       rqe[i].stag, "entry %d: index %u, QP %u, %u bytes", i, rqe[i].qe_idx,
		       rqe[i].qpn, rqe[i].length);
	own_qp_close(&own);
	return true;
}

/* A user CQ larger than a chunk of the kernel's copy. */
static bool own_cq_is_read_whole(void)
{
	struct erdma_diag_ring_read arg = { .ring = ERDMA_DIAG_RING_CQ };
	struct own_qp own;
	int err;

	EXPECT(own_qp_open(&own), "no QP");
	arg.id = own.cqn;
	EXPECT(!ring_read(&arg, 0) && arg.out_depth >= 4096, "depth %u", arg.out_depth);
	EXPECT(!(arg.out_flags & (ERDMA_DIAG_RING_PI | ERDMA_DIAG_RING_CI)), "indices known");
	arg.first = 17;
	arg.count = arg.out_depth;
	memset(buf, 0xa5, sizeof(buf));
	err = ring_read(&arg, sizeof(buf));
	EXPECT(!err && arg.out_count == arg.out_depth, "%u entries: %s", arg.out_count,
	       strerror(err));
	for (uint32_t i = 0; i < arg.out_count * 32; i++)
		EXPECT(!buf[i], "byte %u of an unused ring", i);
	own_qp_close(&own);
	return true;
}

static bool own_contexts_join_both_views(void)
{
	struct erdma_diag_info info = { .size = sizeof(info) };
	struct erdma_diag_context arg = {
		.size = sizeof(arg), .flags = ERDMA_DIAG_CONTEXT_HW, .obj = ERDMA_DIAG_OBJ_QP,
		.buf = (uintptr_t)buf, .buf_len = sizeof(buf),
	};
	const struct erdma_resp_qpc *qpc;
	const struct erdma_diag_hw *hw;
	struct own_qp own;

	EXPECT(!call(node, ERDMA_DIAG_INFO, &info), "info");
	EXPECT(own_qp_open(&own), "no QP");
	arg.id = own.qpn;
	EXPECT(!call(node, ERDMA_DIAG_CONTEXT, &arg), "context");
	EXPECT(find_record(buf, arg.out_len, ERDMA_DIAG_REC_QP), "driver's view");
	hw = find_record(buf, arg.out_len, ERDMA_DIAG_REC_QP_HW);
	EXPECT(hw, "device's view");
	if (info.abi_flags & ERDMA_DIAG_ABI_HW_CONTEXT) {
		qpc = (const void *)hw->data;
		EXPECT(!hw->status && hw->len == sizeof(*qpc), "status %u", hw->status);
		EXPECT(qpc->send_cqn == own.cqn, "the device says CQ %u", qpc->send_cqn);
		EXPECT(qpc->sq_addr, "no address for root");
	}
	own_qp_close(&own);
	return true;
}

static bool info_counts_objects(void)
{
	struct erdma_diag_info before = { .size = sizeof(before) }, with = { .size = sizeof(with) };
	struct erdma_diag_info after = { .size = sizeof(after) };
	struct own_qp own;

	EXPECT(!call(node, ERDMA_DIAG_INFO, &before), "before");
	EXPECT(own_qp_open(&own), "no QP");
	EXPECT(!call(node, ERDMA_DIAG_INFO, &with), "with");
	own_qp_close(&own);
	EXPECT(!call(node, ERDMA_DIAG_INFO, &after), "after");
	EXPECT(with.n_qp == before.n_qp + 1 && with.n_cq == before.n_cq + 1 &&
	       with.n_pd == before.n_pd + 1 && with.n_mr == before.n_mr + 1 &&
	       with.n_ctx == before.n_ctx + 1, "qp %u cq %u pd %u mr %u ctx %u", with.n_qp,
	       with.n_cq, with.n_pd, with.n_mr, with.n_ctx);
	EXPECT(after.n_qp == before.n_qp && after.n_mr == before.n_mr &&
	       after.n_ctx == before.n_ctx, "not given back");
	return true;
}

const struct tap_test object_tests[] = {
	{ "info_is_plausible", info_is_plausible },
	{ "info_counts_objects", info_counts_objects },
	{ "list_of_unknown_objects", list_of_unknown_objects },
	{ "list_into_too_small_buffer", list_into_too_small_buffer },
	{ "list_pages_are_complete", list_pages_are_complete },
	{ "list_beyond_last_id", list_beyond_last_id },
	{ "list_into_bad_buffer", list_into_bad_buffer },
	{ "list_into_half_a_buffer", list_into_half_a_buffer },
	{ "list_writes_only_what_it_reports", list_writes_only_what_it_reports },
	{ "list_with_more_room_than_limit", list_with_more_room_than_limit },
	{ "context_of_unknown_ids", context_of_unknown_ids },
	{ "context_into_too_small_buffer", context_into_too_small_buffer },
	{ "context_into_bad_buffer", context_into_bad_buffer },
	{ "context_asks_device", context_asks_device },
	{ "ring_read_of_unknown_rings", ring_read_of_unknown_rings },
	{ "ring_read_count_above_depth", ring_read_count_above_depth },
	{ "ring_read_into_too_small_buffer", ring_read_into_too_small_buffer },
	{ "ring_read_reduces_first", ring_read_reduces_first },
	{ "ring_read_shows_commands", ring_read_shows_commands },
	{ "debug_judges_arguments", debug_judges_arguments },
	{ "recover_judges_arguments", recover_judges_arguments },
	{ "recover_of_what_works_changes_nothing", recover_of_what_works_changes_nothing },
	{ "debug_set_is_seen_and_expires", debug_set_is_seen_and_expires },
	{ "own_qp_is_listed", own_qp_is_listed },
	{ "own_rq_is_read", own_rq_is_read },
	{ "own_cq_is_read_whole", own_cq_is_read_whole },
	{ "own_contexts_join_both_views", own_contexts_join_both_views },
};

const int n_object_tests = sizeof(object_tests) / sizeof(object_tests[0]);
