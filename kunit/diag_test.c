// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The diagnostics dispatcher, its rights, and the hiding of secrets in rings.
 * What needs user memory is tested from user space: tests/abi/.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>

#include "erdma_diag_int.h"
#include "suites.h"

static const struct erdma_diag_who nobody;
static const struct erdma_diag_who admin = { .net_admin = true, .secrets = true };
static const struct erdma_diag_who debugger = { .ptrace = true };

struct cmd_case {
	const char *name;
	unsigned int cmd;
	u32 size;
	u32 first;	/* of the first version */
};

static void cmd_desc(const struct cmd_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

static const struct cmd_case cmd_cases[] = {
	{ "info", ERDMA_DIAG_INFO, 456, 344 },
	{ "list", ERDMA_DIAG_LIST, 56, 48 },
	{ "context", ERDMA_DIAG_CONTEXT, 40, 40 },
	{ "ring_read", ERDMA_DIAG_RING_READ, 72, 72 },
	{ "debug", ERDMA_DIAG_DEBUG, 136, 136 },
	{ "log", ERDMA_DIAG_LOG, 64, 64 },
	{ "snapshot", ERDMA_DIAG_SNAPSHOT, 72, 72 },
	{ "recover", ERDMA_DIAG_RECOVER, 32, 32 },
};

KUNIT_ARRAY_PARAM(cmd, cmd_cases, cmd_desc);

static void command_is_found(struct kunit *test)
{
	const struct cmd_case *c = test->param_value;
	const struct erdma_diag_op *op = erdma_diag_find_op(c->cmd);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, op);
	KUNIT_EXPECT_EQ(test, op->cmd, c->cmd);
	KUNIT_EXPECT_EQ(test, op->size, c->size);
	/* The first version's size; it may never grow */
	KUNIT_EXPECT_EQ(test, op->min_size, c->first);
}

static void every_other_number_is_rejected(struct kunit *test)
{
	unsigned int nr;

	for (nr = ERDMA_DIAG_CMD_COUNT; nr < 256; nr++)
		KUNIT_EXPECT_TRUE(test, !erdma_diag_find_op(_IO(ERDMA_DIAG_IOC_TYPE, nr)));
}

/* Type, direction and size bits count, not just the number */
static void near_misses_are_rejected(struct kunit *test)
{
	const struct cmd_case *c = test->param_value;
	int bit;

	for (bit = 0; bit < 32; bit++) {
		unsigned int other = c->cmd ^ BIT(bit);

		if (bit >= _IOC_TYPESHIFT || _IOC_NR(other) >= ERDMA_DIAG_CMD_COUNT)
			KUNIT_EXPECT_TRUE(test, !erdma_diag_find_op(other));
	}
}

static void sizes_up_to_the_limit_are_accepted(struct kunit *test)
{
	const struct cmd_case *c = test->param_value;
	const struct erdma_diag_op *op = erdma_diag_find_op(c->cmd);
	u32 size;

	for (size = 0; size < c->first; size++)
		KUNIT_EXPECT_EQ(test, erdma_diag_check_size(op, size), -EINVAL);
	for (; size <= c->size + 64; size++)
		KUNIT_EXPECT_EQ(test, erdma_diag_check_size(op, size), 0);
	KUNIT_EXPECT_EQ(test, erdma_diag_check_size(op, ERDMA_DIAG_MAX_SIZE), 0);
	KUNIT_EXPECT_EQ(test, erdma_diag_check_size(op, ERDMA_DIAG_MAX_SIZE + 1), -E2BIG);
	KUNIT_EXPECT_EQ(test, erdma_diag_check_size(op, U32_MAX), -E2BIG);
}

/* A page of zeros is a valid argument for every command */
static int check_flags(const struct erdma_diag_op *op, u32 flags, const struct erdma_diag_who *who)
{
	union {
		u32 words[128];
		struct erdma_diag_list list;
		struct erdma_diag_snapshot snapshot;
	} arg = { .words = { 0, flags } };

	/* What LIST and SNAPSHOT want to know with their flags */
	if (op->cmd == ERDMA_DIAG_LIST && flags == ERDMA_DIAG_LIST_HW)
		arg.list.hw_budget_ms = 1;
	if (op->cmd == ERDMA_DIAG_SNAPSHOT && flags == ERDMA_DIAG_SNAPSHOT_HW)
		arg.snapshot.hw_budget_ms = 1;
	return erdma_diag_check_arg(op, &arg, who);
}

static void unknown_flags_are_refused(struct kunit *test)
{
	const struct cmd_case *c = test->param_value;
	const struct erdma_diag_op *op = erdma_diag_find_op(c->cmd);
	int bit;

	KUNIT_EXPECT_EQ(test, check_flags(op, 0, &admin), 0);
	for (bit = 0; bit < 32; bit++)
		KUNIT_EXPECT_EQ(test, check_flags(op, BIT(bit), &admin),
				op->flags & BIT(bit) ? 0 : -EOPNOTSUPP);
}

static void known_flags_are_the_documented_ones(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, erdma_diag_find_op(ERDMA_DIAG_INFO)->flags, 0);
	KUNIT_EXPECT_EQ(test, erdma_diag_find_op(ERDMA_DIAG_LIST)->flags, ERDMA_DIAG_LIST_HW);
	KUNIT_EXPECT_EQ(test, erdma_diag_find_op(ERDMA_DIAG_CONTEXT)->flags, ERDMA_DIAG_CONTEXT_HW);
	KUNIT_EXPECT_EQ(test, erdma_diag_find_op(ERDMA_DIAG_RING_READ)->flags, 0);
	KUNIT_EXPECT_EQ(test, erdma_diag_find_op(ERDMA_DIAG_DEBUG)->flags, ERDMA_DIAG_DEBUG_SET);
	KUNIT_EXPECT_EQ(test, erdma_diag_find_op(ERDMA_DIAG_SNAPSHOT)->flags,
			ERDMA_DIAG_SNAPSHOT_HW | ERDMA_DIAG_SNAPSHOT_RINGS);
	KUNIT_EXPECT_EQ(test, erdma_diag_find_op(ERDMA_DIAG_RECOVER)->flags, 0);
}

static void reserved_fields_must_be_zero(struct kunit *test)
{
	struct erdma_diag_list list = { .rsvd = 1 };
	struct erdma_diag_ring_read ring = { .rsvd = 0x80000000 };
	struct erdma_diag_snapshot snapshot = { .rsvd = 1 };

	KUNIT_EXPECT_EQ(test, erdma_diag_check_arg(erdma_diag_find_op(ERDMA_DIAG_LIST), &list,
						   &admin), -EINVAL);
	KUNIT_EXPECT_EQ(test, erdma_diag_check_arg(erdma_diag_find_op(ERDMA_DIAG_RING_READ), &ring,
						   &admin), -EINVAL);
	KUNIT_EXPECT_EQ(test, erdma_diag_check_arg(erdma_diag_find_op(ERDMA_DIAG_SNAPSHOT),
						   &snapshot, &admin), -EINVAL);
}

static void time_for_the_device_is_bounded(struct kunit *test)
{
	const struct erdma_diag_op *op = erdma_diag_find_op(ERDMA_DIAG_LIST);
	static const u32 bad[] = { 0, ERDMA_DIAG_LIST_HW_MAX_MS + 1, U32_MAX };
	struct erdma_diag_list arg = { .hw_budget_ms = 1 };
	int i;

	KUNIT_EXPECT_EQ(test, erdma_diag_check_arg(op, &arg, &admin), -EINVAL);
	arg.flags = ERDMA_DIAG_LIST_HW;
	KUNIT_EXPECT_EQ(test, erdma_diag_check_arg(op, &arg, &admin), 0);
	arg.hw_budget_ms = ERDMA_DIAG_LIST_HW_MAX_MS;
	KUNIT_EXPECT_EQ(test, erdma_diag_check_arg(op, &arg, &admin), 0);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		arg.hw_budget_ms = bad[i];
		KUNIT_EXPECT_EQ(test, erdma_diag_check_arg(op, &arg, &admin), -EINVAL);
	}
}

static void debug_without_set_takes_nothing(struct kunit *test)
{
	const struct erdma_diag_op *op = erdma_diag_find_op(ERDMA_DIAG_DEBUG);
	struct erdma_diag_debug args[] = { { .mask = 1 }, { .level = 1 }, { .duration_ms = 1 } };
	int i;

	for (i = 0; i < ARRAY_SIZE(args); i++) {
		KUNIT_EXPECT_EQ(test, erdma_diag_check_arg(op, &args[i], &admin), -EINVAL);
		args[i].flags = ERDMA_DIAG_DEBUG_SET;
		KUNIT_EXPECT_EQ(test, erdma_diag_check_arg(op, &args[i], &admin), 0);
	}
}

static void only_admin_may_set(struct kunit *test)
{
	const struct erdma_diag_op *op = erdma_diag_find_op(ERDMA_DIAG_DEBUG);

	KUNIT_EXPECT_EQ(test, check_flags(op, ERDMA_DIAG_DEBUG_SET, &nobody), -EPERM);
	KUNIT_EXPECT_EQ(test, check_flags(op, ERDMA_DIAG_DEBUG_SET, &debugger), -EPERM);
	KUNIT_EXPECT_EQ(test, check_flags(op, ERDMA_DIAG_DEBUG_SET, &admin), 0);
	KUNIT_EXPECT_EQ(test, check_flags(op, 0, &nobody), 0);
}

/* ---- rights ------------------------------------------------------------- */

struct may_case {
	const char *name;
	const struct erdma_diag_who *who;
	enum erdma_diag_scope scope;
	u8 allowed;		/* bit n: enum erdma_diag_rel n */
};

#define REL(name) BIT(ERDMA_DIAG_REL_##name)
#define REL_ALL (REL(DEVICE) | REL(KERNEL) | REL(SELF) | REL(USER) | REL(OTHER))

static const struct may_case may_cases[] = {
	{ "admin_open", &admin, ERDMA_DIAG_SCOPE_OPEN, REL_ALL },
	{ "admin_metadata", &admin, ERDMA_DIAG_SCOPE_METADATA, REL_ALL },
	{ "admin_content", &admin, ERDMA_DIAG_SCOPE_CONTENT, REL_ALL },
	{ "admin_set", &admin, ERDMA_DIAG_SCOPE_SET, REL_ALL },
	{ "debugger_open", &debugger, ERDMA_DIAG_SCOPE_OPEN, REL_ALL },
	{ "debugger_metadata", &debugger, ERDMA_DIAG_SCOPE_METADATA,
	  REL(DEVICE) | REL(SELF) | REL(USER) },
	{ "debugger_content", &debugger, ERDMA_DIAG_SCOPE_CONTENT,
	  REL(SELF) | REL(USER) | REL(OTHER) },
	{ "debugger_set", &debugger, ERDMA_DIAG_SCOPE_SET, 0 },
	{ "nobody_open", &nobody, ERDMA_DIAG_SCOPE_OPEN, REL_ALL },
	{ "nobody_metadata", &nobody, ERDMA_DIAG_SCOPE_METADATA,
	  REL(DEVICE) | REL(SELF) | REL(USER) },
	{ "nobody_content", &nobody, ERDMA_DIAG_SCOPE_CONTENT, REL(SELF) },
	{ "nobody_set", &nobody, ERDMA_DIAG_SCOPE_SET, 0 },
};

static void may_desc(const struct may_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(may, may_cases, may_desc);

static void rights_follow_the_table(struct kunit *test)
{
	const struct may_case *c = test->param_value;
	int rel;

	for (rel = ERDMA_DIAG_REL_DEVICE; rel <= ERDMA_DIAG_REL_OTHER; rel++)
		KUNIT_EXPECT_EQ(test, erdma_diag_is_allowed(c->who, c->scope, rel),
				!!(c->allowed & BIT(rel)));
}

/* What is in a record for @who about the owner of @res; false: nobody knows it */
static bool fill_for(const struct erdma_diag_who *who, struct rdma_restrack_entry *res,
		     struct erdma_diag_owner *owner, struct erdma_diag_owner_more *more)
{
	struct erdma_diag_origin origin;

	memset(owner, 0, sizeof(*owner));
	memset(more, 0, sizeof(*more));
	if (erdma_diag_origin_of_res(res, &origin))
		return false;
	erdma_diag_fill_owner(who, &origin, owner, more);
	erdma_diag_put_origin(&origin);
	return true;
}

static bool fill(struct rdma_restrack_entry *res, struct erdma_diag_owner *owner,
		 struct erdma_diag_owner_more *more)
{
	return fill_for(&nobody, res, owner, more);
}

/* Of an object that the core tracks */
static struct rdma_restrack_entry tracked(struct task_struct *task)
{
	struct rdma_restrack_entry res = { .user = true, .task = task };

	kref_init(&res.kref);
	return res;
}

static void kernel_object_belongs_to_the_kernel(struct kunit *test)
{
	struct rdma_restrack_entry res = { .kern_name = "ib_srp" };
	struct erdma_diag_owner_more more;
	struct erdma_diag_owner owner;

	KUNIT_EXPECT_EQ(test, erdma_diag_relation(&nobody, &res), ERDMA_DIAG_REL_KERNEL);
	KUNIT_ASSERT_TRUE(test, fill(&res, &owner, &more));
	KUNIT_EXPECT_EQ(test, owner.kernel, 1);
	KUNIT_EXPECT_EQ(test, owner.pid, 0);
	KUNIT_EXPECT_STREQ(test, (char *)owner.comm, "ib_srp");
	KUNIT_EXPECT_EQ(test, more.flags, 0);
}

static void long_module_name_is_cut(struct kunit *test)
{
	struct rdma_restrack_entry res = { .kern_name = "a_module_with_quite_a_name" };
	struct erdma_diag_owner_more more;
	struct erdma_diag_owner owner;

	KUNIT_ASSERT_TRUE(test, fill(&res, &owner, &more));
	KUNIT_EXPECT_STREQ(test, (char *)owner.comm, "a_module_with_q");
}

static void own_object_is_self(struct kunit *test)
{
	struct rdma_restrack_entry res = tracked(current);
	const struct erdma_diag_who who = { .opener = current_cred() };
	struct erdma_diag_owner_more more;
	struct erdma_diag_owner owner;

	KUNIT_EXPECT_EQ(test, erdma_diag_relation(&who, &res), ERDMA_DIAG_REL_SELF);
	KUNIT_ASSERT_TRUE(test, fill(&res, &owner, &more));
	KUNIT_EXPECT_EQ(test, owner.kernel, 0);
	KUNIT_EXPECT_EQ(test, owner.pid, current->tgid);
	KUNIT_EXPECT_STREQ(test, (char *)owner.comm, current->comm);
	KUNIT_EXPECT_EQ(test, more.flags, 0);
	if (IS_ENABLED(CONFIG_CGROUPS))
		KUNIT_EXPECT_NE(test, more.cgroup_id, 0ULL);
	KUNIT_EXPECT_EQ(test, kref_read(&res.kref), 1);
}

/* The core has put its reference of the process, or has none yet */
static void object_that_is_not_tracked_is_nobodys(struct kunit *test)
{
	struct rdma_restrack_entry res = { .user = true, .task = current };
	const struct erdma_diag_who who = { .opener = current_cred() };
	struct erdma_diag_owner_more more;
	struct erdma_diag_owner owner;

	KUNIT_EXPECT_FALSE(test, fill(&res, &owner, &more));
	KUNIT_EXPECT_EQ(test, erdma_diag_relation(&who, &res), ERDMA_DIAG_REL_OTHER);
}

static int ends(void *unused)
{
	while (!kthread_should_stop())
		usleep_range(100, 200);
	return 0;
}

static void owner_that_ended_is_said_to_have(struct kunit *test)
{
	struct task_struct *task = kthread_create(ends, NULL, "erdma-kunit-end");
	struct erdma_diag_owner_more more;
	struct rdma_restrack_entry res;
	struct erdma_diag_owner owner;

	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	wake_up_process(task);
	res = tracked(task);
	KUNIT_EXPECT_TRUE(test, fill(&res, &owner, &more));
	KUNIT_EXPECT_EQ(test, more.flags, 0);
	kthread_stop(task);
	KUNIT_EXPECT_TRUE(test, fill(&res, &owner, &more));
	KUNIT_EXPECT_EQ(test, more.flags, ERDMA_DIAG_OWNER_EXITED);
	KUNIT_EXPECT_EQ(test, more.cgroup_id, 0ULL);
	put_task_struct(task);
}

/* What is remembered of one process is not said of the next, whatever the order */
static void owner_of_before_is_not_mistaken_for_another(struct kunit *test)
{
	struct rdma_restrack_entry mine = tracked(current), other = tracked(&init_task);
	struct erdma_diag_known known = {};
	const struct erdma_diag_who who = { .opener = current_cred(), .known = &known };
	unsigned int users = refcount_read(&current->usage);
	struct erdma_diag_owner_more more, alone;
	struct erdma_diag_owner owner;
	int i;

	KUNIT_ASSERT_TRUE(test, fill(&mine, &owner, &alone));
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_TRUE(test, fill_for(&who, &mine, &owner, &more));
		KUNIT_EXPECT_EQ(test, owner.pid, current->tgid);
		KUNIT_EXPECT_STREQ(test, (char *)owner.comm, current->comm);
		KUNIT_EXPECT_EQ(test, more.cgroup_id, alone.cgroup_id);
		KUNIT_EXPECT_EQ(test, erdma_diag_relation(&who, &mine), ERDMA_DIAG_REL_SELF);
		if (!i)
			continue;	/* the same once more: it is remembered */
		KUNIT_EXPECT_TRUE(test, fill_for(&who, &other, &owner, &more));
		KUNIT_EXPECT_EQ(test, owner.pid, 0);
		KUNIT_EXPECT_EQ(test, owner.comm[0], 0);
		KUNIT_EXPECT_EQ(test, erdma_diag_relation(&who, &other), ERDMA_DIAG_REL_USER);
	}
	erdma_diag_forget_owner(&known);
	KUNIT_EXPECT_PTR_EQ(test, known.task, (struct task_struct *)NULL);
	KUNIT_EXPECT_EQ(test, refcount_read(&current->usage), users);
}

static void owner_that_nobody_knows_is_not_the_kernel(struct kunit *test)
{
	struct erdma_diag_owner_more more = {};
	struct erdma_diag_owner owner = {};
	struct erdma_diag_origin origin;

	erdma_diag_origin_of_task(NULL, &origin);
	erdma_diag_fill_owner(&nobody, &origin, &owner, &more);
	KUNIT_EXPECT_EQ(test, owner.kernel, 0);
	KUNIT_EXPECT_EQ(test, more.flags, ERDMA_DIAG_OWNER_UNKNOWN);
	KUNIT_EXPECT_FALSE(test, erdma_diag_may_see(&nobody, &origin));
	KUNIT_EXPECT_TRUE(test, erdma_diag_may_see(&admin, &origin));
}

/* A file that somebody else opened makes even own objects foreign */
static void foreign_file_shows_nothing(struct kunit *test)
{
	struct rdma_restrack_entry res = tracked(current);
	struct erdma_diag_who who = {};
	struct cred *cred = prepare_creds();

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, cred);
	cred->uid = KUIDT_INIT(65534);
	cred->euid = KUIDT_INIT(65534);
	who.opener = cred;
	KUNIT_EXPECT_EQ(test, erdma_diag_relation(&who, &res), ERDMA_DIAG_REL_OTHER);
	abort_creds(cred);
}

/* The core dump: a worker has credentials like root's processes, whose keys it must not write */
static void caller_without_a_file_owns_nothing(struct kunit *test)
{
	struct rdma_restrack_entry mine = tracked(current), other = tracked(&init_task);
	const struct erdma_diag_who who = { .net_admin = true };

	KUNIT_EXPECT_EQ(test, erdma_diag_relation(&who, &mine), ERDMA_DIAG_REL_OTHER);
	KUNIT_EXPECT_EQ(test, erdma_diag_relation(&who, &other), ERDMA_DIAG_REL_OTHER);
	KUNIT_EXPECT_EQ(test, erdma_diag_user_relation(&who, current_uid()),
			ERDMA_DIAG_REL_OTHER);
}

/* It is on the stack: what was there before counts for nothing */
static void caller_begins_with_nothing_found_out(struct kunit *test)
{
	struct file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);
	struct erdma_diag_who who;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	file->f_cred = current_cred();
	memset(&who, 0xff, sizeof(who));
	erdma_diag_who_init(&who, file);
	KUNIT_EXPECT_PTR_EQ(test, who.opener, current_cred());
	KUNIT_EXPECT_PTR_EQ(test, who.known, (struct erdma_diag_known *)NULL);
}

/* A process without memory (or not dumpable) is not open to its user */
static void undumpable_process_is_not_self(struct kunit *test)
{
	struct rdma_restrack_entry res = tracked(&init_task);
	const struct erdma_diag_who who = { .opener = current_cred() };

	KUNIT_EXPECT_EQ(test, erdma_diag_relation(&who, &res), ERDMA_DIAG_REL_USER);
}

/* ---- secrets in rings --------------------------------------------------- */

#define MASK_QPN 0x2A

static u64 sqe_hdr(u32 pi_after, u32 blocks, u32 op)
{
	return FIELD_PREP(ERDMA_SQE_HDR_PI, pi_after) |
	       FIELD_PREP(ERDMA_SQE_HDR_WQEBBS, blocks - 1) |
	       FIELD_PREP(ERDMA_SQE_HDR_OPCODE, op) |
	       FIELD_PREP(ERDMA_SQE_HDR_QPN, MASK_QPN);
}

static void sq_keeps_headers_and_lengths_only(struct kunit *test)
{
	const struct erdma_diag_mask mask = {
		.ring = ERDMA_DIAG_RING_SQ, .depth = 8, .qpn = MASK_QPN,
	};
	struct erdma_sqe_write write = {
		.hdr = cpu_to_le64(sqe_hdr(8, 2, ERDMA_OP_WRITE)),
		.imm = cpu_to_be32(0x11223344),
		.length = cpu_to_le32(4096),
		.rkey = cpu_to_le32(0x700),
		.raddr_lo = cpu_to_le32(0x1000),
		.raddr_hi = cpu_to_le32(0x7f00),
		.rsvd = cpu_to_le32(0xdeadbeef),
	}, want = { .hdr = write.hdr, .length = write.length };
	u8 ring[2][32], zero[32] = {};

	memcpy(ring[0], &write, 32);
	memset(ring[1], 0x5a, 32);
	erdma_diag_mask_entries(&mask, ring, 6, 2);
	KUNIT_EXPECT_EQ(test, memcmp(ring[0], &want, 32), 0);
	KUNIT_EXPECT_EQ(test, memcmp(ring[1], zero, 32), 0);
}

struct hide_case {
	const char *name;
	u64 hdr;
	bool keep_hdr;
	bool keep_len;
};

/* All in slot 6 of a ring of 8 */
static const struct hide_case hide_cases[] = {
	{ "send", 7 | 2ULL << 27 | (u64)MASK_QPN << 32, true, true },
	{ "reg_mr_length_is_elsewhere", 7 | 14ULL << 27 | (u64)MASK_QPN << 32, true, false },
	{ "local_inv", 7 | 15ULL << 27 | (u64)MASK_QPN << 32, true, false },
	{ "atomic", 7 | 17ULL << 27 | (u64)MASK_QPN << 32, true, false },
	{ "second_pass", 15 | 2ULL << 27 | (u64)MASK_QPN << 32, true, true },
	{ "wrong_place", 6 | 2ULL << 27 | (u64)MASK_QPN << 32, false, false },
	{ "wrong_qpn", 7 | 2ULL << 27 | (u64)(MASK_QPN + 1) << 32, false, false },
	{ "too_many_blocks", 11 | 4ULL << 52 | 2ULL << 27 | (u64)MASK_QPN << 32, false, false },
	{ "an_address", 0x00007f1234567890, false, false },
};

static void hide_desc(const struct hide_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(hide, hide_cases, hide_desc);

static void sq_block_is_shown_only_if_a_header(struct kunit *test)
{
	const struct erdma_diag_mask mask = {
		.ring = ERDMA_DIAG_RING_SQ, .depth = 8, .qpn = MASK_QPN,
	};
	const struct hide_case *c = test->param_value;
	u8 entry[32], want[32] = {};

	memset(entry, 0x5a, 32);
	*(__le64 *)entry = cpu_to_le64(c->hdr);
	if (c->keep_hdr)
		memcpy(want, entry, 8);
	if (c->keep_len)
		memcpy(want + 12, entry + 12, 4);
	erdma_diag_mask_entries(&mask, entry, 6, 1);
	KUNIT_EXPECT_EQ(test, memcmp(entry, want, 32), 0);
}

static void rq_loses_address_and_key(struct kunit *test)
{
	const struct erdma_diag_mask mask = { .ring = ERDMA_DIAG_RING_RQ, .depth = 8 };
	struct erdma_rqe rqe = {
		.qe_idx = cpu_to_le16(3),
		.qpn = cpu_to_le32(MASK_QPN),
		.addr = cpu_to_le64(0x7f0000001000),
		.length = cpu_to_le32(64),
		.stag = cpu_to_le32(0x700),
		.rsvd1 = cpu_to_le64(~0ULL),
	}, want = { .qe_idx = rqe.qe_idx, .qpn = rqe.qpn, .length = rqe.length };

	erdma_diag_mask_entries(&mask, &rqe, 2, 1);
	KUNIT_EXPECT_EQ(test, memcmp(&rqe, &want, 32), 0);
}

/* The word is a key only in the receive of a SEND_INV */
static void cq_loses_invalidated_key_only(struct kunit *test)
{
	const struct erdma_diag_mask mask = { .ring = ERDMA_DIAG_RING_CQ, .depth = 8 };
	struct erdma_cqe cqe[2] = {
		{ .hdr = cpu_to_be32(ERDMA_OP_RECV_INV << 16), .imm = cpu_to_be32(0x700),
		  .size = cpu_to_be32(5) },
		{ .hdr = cpu_to_be32(ERDMA_OP_RECV_SEND_IMM << 16), .imm = cpu_to_be32(0x11) },
	};

	erdma_diag_mask_entries(&mask, cqe, 0, 2);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(cqe[0].imm), 0);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(cqe[0].size), 5);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(cqe[1].imm), 0x11);
}

static void command_rings_keep_headers_only(struct kunit *test)
{
	struct erdma_diag_mask mask = {
		.ring = ERDMA_DIAG_RING_CMDQ_SQ, .depth = ERDMA_CMDQ_DEPTH,
	};
	u8 entry[2][32], want[32] = {};

	memset(entry, 0x5a, sizeof(entry));
	memset(want, 0x5a, 8);
	/* Slot 3 is inside of the first command's four blocks, slot 4 begins one */
	erdma_diag_mask_entries(&mask, entry, 3, 2);
	KUNIT_EXPECT_EQ(test, memcmp(entry[1], want, 32), 0);
	memset(want, 0, 8);
	KUNIT_EXPECT_EQ(test, memcmp(entry[0], want, 32), 0);

	mask.ring = ERDMA_DIAG_RING_CMDQ_CQ;
	memset(entry, 0x5a, sizeof(entry));
	memset(want, 0x5a, 8);
	erdma_diag_mask_entries(&mask, entry, 0, 1);
	KUNIT_EXPECT_EQ(test, memcmp(entry[0], want, 32), 0);
}

static void event_entries_are_left_alone(struct kunit *test)
{
	const struct erdma_diag_mask mask = { .ring = ERDMA_DIAG_RING_EQ, .depth = 8 };
	u8 entry[2][16], want[2][16];

	memset(entry, 0x5a, sizeof(entry));
	memset(want, 0x5a, sizeof(want));
	erdma_diag_mask_entries(&mask, entry, 0, 2);
	KUNIT_EXPECT_EQ(test, memcmp(entry, want, sizeof(want)), 0);
}

static struct kunit_case diag_cases[] = {
	KUNIT_CASE_PARAM(command_is_found, cmd_gen_params),
	KUNIT_CASE(every_other_number_is_rejected),
	KUNIT_CASE_PARAM(near_misses_are_rejected, cmd_gen_params),
	KUNIT_CASE_PARAM(sizes_up_to_the_limit_are_accepted, cmd_gen_params),
	KUNIT_CASE_PARAM(unknown_flags_are_refused, cmd_gen_params),
	KUNIT_CASE(known_flags_are_the_documented_ones),
	KUNIT_CASE(reserved_fields_must_be_zero),
	KUNIT_CASE(time_for_the_device_is_bounded),
	KUNIT_CASE(debug_without_set_takes_nothing),
	KUNIT_CASE(only_admin_may_set),
	KUNIT_CASE_PARAM(rights_follow_the_table, may_gen_params),
	KUNIT_CASE(kernel_object_belongs_to_the_kernel),
	KUNIT_CASE(long_module_name_is_cut),
	KUNIT_CASE(own_object_is_self),
	KUNIT_CASE(object_that_is_not_tracked_is_nobodys),
	KUNIT_CASE(owner_that_ended_is_said_to_have),
	KUNIT_CASE(owner_of_before_is_not_mistaken_for_another),
	KUNIT_CASE(owner_that_nobody_knows_is_not_the_kernel),
	KUNIT_CASE(foreign_file_shows_nothing),
	KUNIT_CASE(caller_without_a_file_owns_nothing),
	KUNIT_CASE(caller_begins_with_nothing_found_out),
	KUNIT_CASE(undumpable_process_is_not_self),
	KUNIT_CASE(sq_keeps_headers_and_lengths_only),
	KUNIT_CASE_PARAM(sq_block_is_shown_only_if_a_header, hide_gen_params),
	KUNIT_CASE(rq_loses_address_and_key),
	KUNIT_CASE(cq_loses_invalidated_key_only),
	KUNIT_CASE(command_rings_keep_headers_only),
	KUNIT_CASE(event_entries_are_left_alone),
	{}
};

struct kunit_suite erdma_diag_suite = {
	.name = "erdma_diag",
	.test_cases = diag_cases,
};
