// SPDX-License-Identifier: GPL-2.0-or-later
/* Replies of the kernel, well-formed and not: records, lists, rings, netlink. */
#include <errno.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <rdma/rdma_netlink.h>

#include "source.h"
#include "unit.h"

/* ---- records ------------------------------------------------------------ */

static void records_in_order(void **state)
{
	size_t len;
	uint8_t *buf = hex("10000000 0100 0200 1122334455667788  08000000 0200 0000", &len);
	const char *why = NULL;
	uint32_t pos = 0;
	struct rec rec;

	(void)state;
	assert_int_equal(rec_next(buf, (uint32_t)len, &pos, &rec, &why), 1);
	assert_int_equal(rec.type, 1);
	assert_int_equal(rec.flags, 2);
	assert_int_equal(rec.len, 8);
	assert_int_equal(rec.body[0], 0x11);
	assert_int_equal(rec_next(buf, (uint32_t)len, &pos, &rec, &why), 1);
	assert_int_equal(rec.type, 2);
	assert_int_equal(rec.len, 0);
	assert_int_equal(rec_next(buf, (uint32_t)len, &pos, &rec, &why), 0);
}

static void records_with_hostile_lengths(void **state)
{
	static const char *const bad[] = {
		"00000000 0100 0000", "07000000 0100 0000", "04000000 0100 0000",
		"09000000 0100 0000 0000000000000000", "10000000 0100 0000",
		"10000000 0100 0000 00000000000000", "ffffffff 0100 0000 0000000000000000",
		"f8ffffff 0100 0000 0000000000000000", "10000000 01", "10",
	};
	const char *why;
	uint32_t pos;
	struct rec rec;
	size_t i, len;
	uint8_t *buf;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		buf = hex(bad[i], &len);
		pos = 0;
		why = NULL;
		assert_int_equal(rec_next(buf, (uint32_t)len, &pos, &rec, &why), -EPROTO);
		assert_non_null(why);
	}
}

static void records_of_unknown_type_are_skipped(void **state)
{
	size_t len;
	uint8_t *buf = hex("08000000 6300 0000  10000000 0200 0000 0500000000000000", &len);
	struct rec rec;
	uint32_t v;

	(void)state;
	assert_non_null(rec_find(buf, (uint32_t)len, 2, &rec));
	rec_copy(&rec, &v, sizeof(v));
	assert_int_equal(v, 5);
	assert_null(rec_find(buf, (uint32_t)len, 3, &rec));
}

/* An older driver sends less, a newer one more */
static void records_shorter_and_longer_than_known(void **state)
{
	size_t len;
	uint8_t *buf = hex("10000000 0100 0000 1100000022000000", &len);
	struct { uint32_t a, b, c, d; } out;
	struct rec rec;
	uint32_t one;

	(void)state;
	assert_non_null(rec_find(buf, (uint32_t)len, 1, &rec));
	rec_copy(&rec, &out, sizeof(out));
	assert_int_equal(out.b, 0x22);
	assert_int_equal(out.c, 0);
	assert_int_equal(out.d, 0);
	rec_copy(&rec, &one, sizeof(one));
	assert_int_equal(one, 0x11);
}

static void random_records(void **state)
{
	uint8_t *buf;
	const char *why;
	struct rec rec;
	uint32_t pos, len, i, n;

	(void)state;
	for (n = 0; n < 20000; n++) {
		len = next_random() % 80;
		buf = malloc(len ? len : 1);
		for (i = 0; i < len; i++)
			buf[i] = (uint8_t)(next_random() % 4 ? 0 : next_random() % 40);
		pos = 0;
		while (rec_next(buf, len, &pos, &rec, &why) == 1)
			assert_true(rec.body + rec.len <= buf + len);
		free(buf);
	}
}

/* ---- calls, on the fake node -------------------------------------------- */

static struct dev *open_scenario(struct source *src, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s.json", getenv("EADM_SCENARIOS"), name);
	setenv("EADM_SCENARIO", path, 1);
	source_init(src, &test_pool);
	assert_int_equal(src->ops->devices(src), 0);
	assert_non_null(src->devs);
	assert_int_equal(source_open_dev(src, src->devs), 0);
	return src->devs;
}

struct seen {
	uint32_t n;
	uint32_t first;
	uint32_t last;
};

static void see(void *arg, uint32_t id, const struct rec *rec)
{
	struct seen *s = arg;

	assert_int_equal(rec->type, ERDMA_DIAG_REC_QP);
	if (!s->n++)
		s->first = id;
	else
		assert_true(id > s->last);
	s->last = id;
}

static void list_comes_in_pages(void **state)
{
	struct seen s = { 0 };
	struct source src;
	struct dev *d = open_scenario(&src, "many");

	(void)state;
	assert_int_equal(source_list(&src, d, ERDMA_DIAG_OBJ_QP, 0, UINT32_MAX, see, &s), 0);
	assert_int_equal(s.n, 500);
	s = (struct seen){ 0 };
	assert_int_equal(source_list(&src, d, ERDMA_DIAG_OBJ_QP, 100, 249, see, &s), 0);
	assert_int_equal(s.n, 150);
	assert_int_equal(s.first, 100);
	assert_int_equal(s.last, 249);
	assert_true(source_close(&src));
}

static void list_replies_that_break_the_rules(void **state)
{
	static const struct {
		const char *scenario;
		uint32_t seen;
	} cases[] = {
		{ "list-too-long", 0 }, { "list-cut", 1 }, { "list-count", 3 }, { "list-loop", 3 },
		{ "rec-len-0", 0 }, { "rec-len-odd", 0 }, { "rec-len-huge", 0 },
	};
	struct source src;
	struct seen s;
	struct dev *d;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		s = (struct seen){ 0 };
		d = open_scenario(&src, cases[i].scenario);
		assert_int_equal(source_list(&src, d, ERDMA_DIAG_OBJ_QP, 0, UINT32_MAX, see, &s),
				 -EPROTO);
		assert_non_null(src.why);
		assert_int_equal(s.n, cases[i].seen);
		assert_true(source_close(&src));
	}
}

static void context_buffer_grows_on_request(void **state)
{
	struct source src;
	struct dev *d = open_scenario(&src, "big-context");
	const uint8_t *buf;
	struct rec rec;
	uint32_t len;

	(void)state;
	assert_int_equal(source_context(&src, d, ERDMA_DIAG_OBJ_QP, 17, true, &buf, &len), 0);
	assert_non_null(rec_find(buf, len, ERDMA_DIAG_REC_QP, &rec));
	assert_true(source_close(&src));
}

static void context_asks_the_device_only_if_allowed(void **state)
{
	struct source src;
	struct dev *d = open_scenario(&src, "basic");
	const uint8_t *buf;
	struct rec rec;
	uint32_t len;

	(void)state;
	assert_int_equal(source_context(&src, d, ERDMA_DIAG_OBJ_QP, 17, true, &buf, &len), 0);
	assert_non_null(rec_find(buf, len, ERDMA_DIAG_REC_QP_HW, &rec));
	assert_int_equal(source_context(&src, d, ERDMA_DIAG_OBJ_QP, 17, false, &buf, &len), 0);
	assert_null(rec_find(buf, len, ERDMA_DIAG_REC_QP_HW, &rec));
	src.no_hw = true;
	assert_int_equal(source_context(&src, d, ERDMA_DIAG_OBJ_QP, 17, true, &buf, &len), 0);
	assert_null(rec_find(buf, len, ERDMA_DIAG_REC_QP_HW, &rec));
	src.no_hw = false;
	d->info.abi_flags = 0;
	assert_int_equal(source_context(&src, d, ERDMA_DIAG_OBJ_QP, 17, true, &buf, &len), 0);
	assert_null(rec_find(buf, len, ERDMA_DIAG_REC_QP_HW, &rec));
	assert_true(source_close(&src));
}

static void ring_replies_that_break_the_rules(void **state)
{
	static const char *const cases[] = {
		"ring-depth-0", "ring-depth-odd", "ring-depth-huge", "ring-entry-size",
		"ring-count",
	};
	struct ring_data out;
	struct source src;
	struct dev *d;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		d = open_scenario(&src, cases[i]);
		assert_int_equal(source_ring(&src, d, ERDMA_DIAG_RING_SQ, 17, &out), -EPROTO);
		assert_non_null(src.why);
		assert_true(source_close(&src));
	}
}

static void ring_reports_how_far_it_moved(void **state)
{
	struct ring_data out;
	struct source src;
	struct dev *d = open_scenario(&src, "basic");

	(void)state;
	assert_int_equal(source_ring(&src, d, ERDMA_DIAG_RING_SQ, 18, &out), 0);
	assert_int_equal(out.depth, 16);
	assert_int_equal(out.pi, 6);
	assert_int_equal(out.ci, 1);
	assert_int_equal(out.moved, 0);
	assert_true(source_close(&src));
	d = open_scenario(&src, "goes-on");
	assert_int_equal(source_ring(&src, d, ERDMA_DIAG_RING_SQ, 17, &out), 0);
	assert_int_equal(out.pi, 20);
	assert_int_equal(out.moved, 3);
	assert_true(source_close(&src));
}

static void call_that_hangs_is_left_behind(void **state)
{
	/* the thread still sleeps, with its feet in the pool: both must stay */
	static struct pool left_behind;
	static struct source src;
	struct seen s = { 0 };
	struct dev *d = open_scenario(&src, "hangs");

	(void)state;
	src.timeout_ms = 30;
	assert_int_equal(source_list(&src, d, ERDMA_DIAG_OBJ_QP, 0, 9, see, &s), -ETIMEDOUT);
	assert_int_equal(source_list(&src, d, ERDMA_DIAG_OBJ_QP, 0, 9, see, &s), -ETIMEDOUT);
	assert_false(source_close(&src));
	left_behind = test_pool;
	assert_non_null(left_behind.blocks);
	test_pool = (struct pool){ NULL };
}

static void debug_reply_with_too_many_categories(void **state)
{
	struct erdma_diag_debug dbg = { 0 };
	struct source src;
	struct dev *d = open_scenario(&src, "debug-count");

	(void)state;
	assert_int_equal(source_debug(&src, d, &dbg), -EPROTO);
	assert_true(source_close(&src));
}

/* ---- netlink ------------------------------------------------------------ */

static struct nl_msg *new_msg(void)
{
	return nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET), 0);
}

static void netlink_device(void **state)
{
	struct nl_msg *m = new_msg();
	uint32_t index = 0;
	char name[8];

	(void)state;
	nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, 7);
	assert_int_equal(nl_parse_device(nlmsg_hdr(m), &index, name, sizeof(name)), -EPROTO);
	nla_put_u32(m, 4000, 1);	/* an attribute of the future */
	nla_put_string(m, RDMA_NLDEV_ATTR_DEV_NAME, "erdma_0123456789");
	assert_int_equal(nl_parse_device(nlmsg_hdr(m), &index, name, sizeof(name)), 0);
	assert_int_equal(index, 7);
	assert_string_equal(name, "erdma_0");
	nlmsg_free(m);
}

static void netlink_device_with_short_number(void **state)
{
	struct nl_msg *m = new_msg();
	uint32_t index;
	char name[8];

	(void)state;
	nla_put_u8(m, RDMA_NLDEV_ATTR_DEV_INDEX, 7);
	nla_put_string(m, RDMA_NLDEV_ATTR_DEV_NAME, "erdma_0");
	assert_int_equal(nl_parse_device(nlmsg_hdr(m), &index, name, sizeof(name)), -EPROTO);
	nlmsg_free(m);
}

/* No number is read past its attribute, and no name that does not end */
static void netlink_attributes_too_short(void **state)
{
	static const struct {
		int attr;
		int size;	/* 0: a name */
	} known[] = {
		{ RDMA_NLDEV_ATTR_DEV_INDEX, 4 }, { RDMA_NLDEV_ATTR_DEV_NAME, 0 },
		{ RDMA_NLDEV_ATTR_PORT_INDEX, 4 }, { RDMA_NLDEV_ATTR_NDEV_NAME, 0 },
		{ RDMA_NLDEV_ATTR_CHARDEV_NAME, 0 }, { RDMA_NLDEV_ATTR_CHARDEV, 8 },
		{ RDMA_NLDEV_ATTR_FW_VERSION, 0 }, { RDMA_NLDEV_ATTR_NODE_GUID, 8 },
		{ RDMA_NLDEV_ATTR_PORT_STATE, 1 }, { RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, 0 },
		{ RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, 8 }, { RDMA_NLDEV_ATTR_RES_LQPN, 4 },
		{ RDMA_NLDEV_ATTR_RES_TYPE, 1 }, { RDMA_NLDEV_ATTR_RES_STATE, 1 },
		{ RDMA_NLDEV_ATTR_RES_PDN, 4 }, { RDMA_NLDEV_ATTR_RES_PID, 4 },
		{ RDMA_NLDEV_ATTR_RES_KERN_NAME, 0 }, { RDMA_NLDEV_ATTR_RES_CQN, 4 },
		{ RDMA_NLDEV_ATTR_RES_CQE, 4 }, { RDMA_NLDEV_ATTR_RES_RQPN, 4 },
		{ RDMA_NLDEV_ATTR_RES_MRN, 4 }, { RDMA_NLDEV_ATTR_RES_MRLEN, 8 },
		{ RDMA_NLDEV_ATTR_RES_IOVA, 8 }, { RDMA_NLDEV_ATTR_RES_LKEY, 4 },
		{ RDMA_NLDEV_ATTR_RES_RKEY, 4 }, { RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 1 },
		{ RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, 0 },
		{ RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, 8 },
	};
	static const char data[8] = { 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x' };	/* no end */
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
	struct nl_msg *m;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		m = new_msg();
		nla_put(m, known[i].attr, known[i].size ? known[i].size - 1 : 8, data);
		assert_int_equal(nl_parse_attrs(nlmsg_hdr(m), tb), -EPROTO);
		nlmsg_free(m);
	}
}

static void netlink_node(void **state)
{
	struct nl_msg *m = new_msg();
	uint64_t rdev = 0;
	char name[32];

	(void)state;
	nla_put_string(m, RDMA_NLDEV_ATTR_CHARDEV_NAME, "erdma!diag0");
	assert_int_equal(nl_parse_chardev(nlmsg_hdr(m), name, sizeof(name), &rdev), -EPROTO);
	nla_put_u64(m, RDMA_NLDEV_ATTR_CHARDEV, 0xeb00);
	assert_int_equal(nl_parse_chardev(nlmsg_hdr(m), name, sizeof(name), &rdev), 0);
	assert_string_equal(name, "erdma!diag0");
	assert_int_equal(rdev, 0xeb00);
	nlmsg_free(m);
}

static void sum_up(void *arg, const char *name, uint64_t value)
{
	assert_int_equal(strncmp(name, "counter", 7), 0);
	*(uint64_t *)arg += value;
}

static void add_counter(struct nl_msg *m, const char *name, uint64_t v, int with_value)
{
	struct nlattr *e = nla_nest_start(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);

	nla_put_string(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name);
	if (with_value)
		nla_put_u64(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, v);
	nla_nest_end(m, e);
}

static void netlink_counters(void **state)
{
	struct nl_msg *m = new_msg();
	struct nlattr *table;
	uint64_t sum = 0;

	(void)state;
	assert_int_equal(nl_parse_counters(nlmsg_hdr(m), sum_up, &sum), -EPROTO);
	table = nla_nest_start(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	add_counter(m, "counter1", 1, 1);
	add_counter(m, "counter2", 0x100000000ULL, 1);
	nla_nest_end(m, table);
	assert_int_equal(nl_parse_counters(nlmsg_hdr(m), sum_up, &sum), 0);
	assert_int_equal(sum, 0x100000001ULL);
	nlmsg_free(m);
}

/* What was understood before is not lost */
static void netlink_counters_cut(void **state)
{
	struct nl_msg *m = new_msg();
	struct nlattr *table = nla_nest_start(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	uint64_t sum = 0;

	(void)state;
	add_counter(m, "counter1", 5, 1);
	add_counter(m, "counter2", 0, 0);
	nla_nest_end(m, table);
	assert_int_equal(nl_parse_counters(nlmsg_hdr(m), sum_up, &sum), -EPROTO);
	assert_int_equal(sum, 5);
	nlmsg_free(m);
}

/* ---- netlink, without the node ------------------------------------------- */

static void netlink_facts(void **state)
{
	struct dev_facts f = { .link = -1, .n_qp = -1, .n_cq = -1 };
	struct nl_msg *m = new_msg();
	struct nlattr *table, *e;

	(void)state;
	assert_int_equal(nl_parse_summary(nlmsg_hdr(m), &f), -EPROTO);
	nla_put_string(m, RDMA_NLDEV_ATTR_FW_VERSION, "1.2.3");
	nla_put_u64(m, RDMA_NLDEV_ATTR_NODE_GUID, 0x5254000000770101ULL);
	assert_int_equal(nl_parse_facts(nlmsg_hdr(m), &f), 0);
	assert_string_equal(f.fw, "1.2.3");
	assert_true(f.node_guid == 0x5254000000770101ULL);
	assert_int_equal(f.link, -1);
	nla_put_u8(m, RDMA_NLDEV_ATTR_PORT_STATE, 1);	/* DOWN */
	assert_int_equal(nl_parse_facts(nlmsg_hdr(m), &f), 0);
	assert_int_equal(f.link, 0);

	table = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_SUMMARY);
	e = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);
	nla_put_string(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, "qp");
	nla_put_u64(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, 5);
	nla_nest_end(m, e);
	nla_nest_end(m, table);
	assert_int_equal(nl_parse_summary(nlmsg_hdr(m), &f), 0);
	assert_int_equal(f.n_qp, 5);
	assert_int_equal(f.n_cq, -1);
	nlmsg_free(m);
}

static void netlink_namespaces(void **state)
{
	struct nl_msg *m = nlmsg_alloc_simple(0, 0);

	(void)state;
	assert_int_equal(nl_parse_exclusive(nlmsg_hdr(m)), -1);
	nla_put_u8(m, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 1);
	assert_int_equal(nl_parse_exclusive(nlmsg_hdr(m)), 0);
	nla_put_u8(m, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 0);
	assert_int_equal(nl_parse_exclusive(nlmsg_hdr(m)), 1);
	nlmsg_free(m);
}

static void keep_last(void *arg, const struct res *res)
{
	*(struct res *)arg = *res;
}

static void add_qp(struct nl_msg *m, int number, uint32_t pid)
{
	struct nlattr *e = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_QP_ENTRY);

	if (number >= 0)
		nla_put_u32(m, RDMA_NLDEV_ATTR_RES_LQPN, (uint32_t)number);
	nla_put_u8(m, RDMA_NLDEV_ATTR_RES_STATE, 3);
	if (pid)
		nla_put_u32(m, RDMA_NLDEV_ATTR_RES_PID, pid);
	else
		nla_put_string(m, RDMA_NLDEV_ATTR_RES_KERN_NAME, "nvme_rdma");
	nla_nest_end(m, e);
}

static void netlink_objects(void **state)
{
	struct nl_msg *m = new_msg();
	struct res res = { 0 };
	struct nlattr *table;

	(void)state;
	assert_int_equal(nl_parse_objects(nlmsg_hdr(m), RES_QP, keep_last, &res), -EPROTO);
	table = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_QP);
	add_qp(m, 17, 4711);
	nla_nest_end(m, table);
	assert_int_equal(nl_parse_objects(nlmsg_hdr(m), RES_QP, keep_last, &res), 0);
	assert_int_equal(res.id, 17);
	assert_int_equal(res.state, 3);
	assert_int_equal(res.pid, 4711);
	assert_int_equal(res.pdn, -1);
	/* Other objects are in another table */
	assert_int_equal(nl_parse_objects(nlmsg_hdr(m), RES_CQ, keep_last, &res), -EPROTO);
	nlmsg_free(m);
}

/* The core's number of a CQ is not the card's: that is among what the driver adds */
static void netlink_details(void **state)
{
	struct nl_msg *m = new_msg();
	struct nlattr *table = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_CQ);
	struct nlattr *e = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_CQ_ENTRY), *d;
	struct res res = { 0 };

	(void)state;
	nla_put_u32(m, RDMA_NLDEV_ATTR_RES_CQN, 1);
	nla_put_u32(m, RDMA_NLDEV_ATTR_RES_CQE, 63);
	nla_put_u32(m, RDMA_NLDEV_ATTR_RES_PID, 4711);
	d = nla_nest_start(m, RDMA_NLDEV_ATTR_DRIVER);
	nla_put_string(m, RDMA_NLDEV_ATTR_DRIVER_STRING, "eqn");
	nla_put_u32(m, RDMA_NLDEV_ATTR_DRIVER_U32, 2);
	nla_put_string(m, RDMA_NLDEV_ATTR_DRIVER_STRING, "cqn");
	nla_put_u32(m, RDMA_NLDEV_ATTR_DRIVER_U32, 5);
	nla_put(m, RDMA_NLDEV_ATTR_DRIVER_STRING, 5, "depth");	/* it does not end */
	nla_put_string(m, RDMA_NLDEV_ATTR_DRIVER_STRING, "cqn");
	nla_put_u8(m, RDMA_NLDEV_ATTR_DRIVER_U32, 7);		/* too short */
	nla_put_u32(m, RDMA_NLDEV_ATTR_DRIVER_U32, 6);
	nla_nest_end(m, d);
	nla_nest_end(m, e);
	nla_nest_end(m, table);
	assert_int_equal(nl_parse_objects(nlmsg_hdr(m), RES_CQ, keep_last, &res), 0);
	assert_int_equal(res.id, 6);	/* a name that does not end changes nothing */
	assert_int_equal(res.depth, 63);
	assert_int_equal(res.pid, 4711);
	nlmsg_free(m);

	m = new_msg();
	table = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_CQ);
	e = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_CQ_ENTRY);
	nla_put_u32(m, RDMA_NLDEV_ATTR_RES_CQN, 2);
	nla_nest_end(m, e);
	nla_nest_end(m, table);
	assert_int_equal(nl_parse_objects(nlmsg_hdr(m), RES_CQ, keep_last, &res), 0);
	assert_int_equal(res.id, -1);
	nlmsg_free(m);
}

/* Which driver a device is of, how many ports it has; of several, one that is active is enough */
static void netlink_other_drivers(void **state)
{
	struct dev_facts f = { .link = -1 };
	struct nl_msg *m = nlmsg_alloc_simple(0, 0);
	unsigned int ports = 1;
	int id = -1;

	(void)state;
	assert_int_equal(nl_parse_driver_id(nlmsg_hdr(m), &id), 0);
	assert_int_equal(id, -1);
	assert_int_equal(nl_parse_ports(nlmsg_hdr(m), &ports), 0);
	assert_int_equal(ports, 1);
	nla_put_u32(m, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, 14);
	nla_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 2);
	assert_int_equal(nl_parse_driver_id(nlmsg_hdr(m), &id), 0);
	assert_int_equal(id, 14);
	assert_int_equal(nl_parse_ports(nlmsg_hdr(m), &ports), 0);
	assert_int_equal(ports, 2);
	nla_put_u64(m, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, 18);
	assert_int_equal(nl_parse_driver_id(nlmsg_hdr(m), &id), 0);
	assert_int_equal(id, 18);
	nla_put_u8(m, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, 3);	/* no such length */
	assert_int_equal(nl_parse_driver_id(nlmsg_hdr(m), &id), 0);
	assert_int_equal(id, 18);

	nla_put_u8(m, RDMA_NLDEV_ATTR_PORT_STATE, 4);	/* ACTIVE */
	assert_int_equal(nl_parse_facts(nlmsg_hdr(m), &f), 0);
	nla_put_u8(m, RDMA_NLDEV_ATTR_PORT_STATE, 1);
	assert_int_equal(nl_parse_facts(nlmsg_hdr(m), &f), 0);
	assert_int_equal(f.link, 1);
	nlmsg_free(m);
}

/* A message with one region, which has these attributes; @mrn may be missing: -1 */
static struct nl_msg *region(int mrn, bool all)
{
	struct nl_msg *m = new_msg();
	struct nlattr *table = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_MR);
	struct nlattr *e = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_MR_ENTRY);

	if (mrn >= 0)
		nla_put_u32(m, RDMA_NLDEV_ATTR_RES_MRN, (uint32_t)mrn);
	nla_put_u64(m, RDMA_NLDEV_ATTR_RES_MRLEN, 1ULL << 33);
	if (all) {
		nla_put_u32(m, RDMA_NLDEV_ATTR_RES_LKEY, 0xffffffff);
		nla_put_u32(m, RDMA_NLDEV_ATTR_RES_RKEY, 0);
		nla_put_u64(m, RDMA_NLDEV_ATTR_RES_IOVA, 4096);
	}
	nla_nest_end(m, e);
	nla_nest_end(m, table);
	return m;
}

/* Keys are there for those who may see them */
static void netlink_regions(void **state)
{
	struct nl_msg *m = region(7, false);
	struct res res = { 0 };

	(void)state;
	assert_int_equal(nl_parse_objects(nlmsg_hdr(m), RES_MR, keep_last, &res), 0);
	assert_int_equal(res.core_id, 7);
	assert_int_equal(res.id, -1);
	assert_true(res.has_length && res.length == 1ULL << 33);
	assert_false(res.has_iova);
	assert_true(res.lkey == -1 && res.rkey == -1);
	nlmsg_free(m);
	m = region(8, true);
	assert_int_equal(nl_parse_objects(nlmsg_hdr(m), RES_MR, keep_last, &res), 0);
	assert_true(res.lkey == 0xffffffff && res.rkey == 0);
	assert_true(res.has_iova && res.iova == 4096);
	nlmsg_free(m);
	m = region(-1, true);
	assert_int_equal(nl_parse_objects(nlmsg_hdr(m), RES_MR, keep_last, &res), -EPROTO);
	nlmsg_free(m);
}

/* What was understood before is not lost */
static void netlink_objects_cut(void **state)
{
	struct nl_msg *m = new_msg();
	struct nlattr *table = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_QP);
	struct res res = { 0 };

	(void)state;
	add_qp(m, 18, 0);
	add_qp(m, -1, 0);
	nla_nest_end(m, table);
	assert_int_equal(nl_parse_objects(nlmsg_hdr(m), RES_QP, keep_last, &res), -EPROTO);
	assert_int_equal(res.id, 18);
	assert_int_equal(res.pid, 0);
	assert_string_equal(res.comm, "nvme_rdma");
	nlmsg_free(m);
}

static void ignore(void *arg, const char *name, uint64_t value)
{
	(void)arg;
	(void)name;
	(void)value;
}

static void netlink_random(void **state)
{
	struct dev_facts facts;
	struct nlmsghdr *h;
	struct res res;
	uint32_t n, i, len;
	uint8_t *buf;
	uint64_t v;
	uint32_t x;
	char s[8];

	(void)state;
	for (n = 0; n < 5000; n++) {
		len = NLMSG_HDRLEN + next_random() % 100;
		buf = malloc(len);
		for (i = 0; i < len; i++)
			buf[i] = (uint8_t)(next_random() % 3 ? next_random() % 90 : 0);
		h = (struct nlmsghdr *)buf;
		h->nlmsg_len = len;
		nl_parse_device(h, &x, s, sizeof(s));
		nl_parse_chardev(h, s, sizeof(s), &v);
		nl_parse_counters(h, ignore, NULL);
		nl_parse_facts(h, &facts);
		nl_parse_summary(h, &facts);
		nl_parse_exclusive(h);
		nl_parse_objects(h, n % 2 ? RES_QP : RES_CQ, keep_last, &res);
		free(buf);
	}
}

int unit_source(void)
{
	const struct CMUnitTest tests[] = {
		TEST(records_in_order), TEST(records_with_hostile_lengths),
		TEST(records_of_unknown_type_are_skipped),
		TEST(records_shorter_and_longer_than_known), TEST(random_records),
		TEST(list_comes_in_pages), TEST(list_replies_that_break_the_rules),
		TEST(context_buffer_grows_on_request),
		TEST(context_asks_the_device_only_if_allowed),
		TEST(ring_replies_that_break_the_rules), TEST(ring_reports_how_far_it_moved),
		TEST(call_that_hangs_is_left_behind), TEST(debug_reply_with_too_many_categories),
		TEST(netlink_device), TEST(netlink_device_with_short_number),
		TEST(netlink_attributes_too_short), TEST(netlink_node),
		TEST(netlink_counters), TEST(netlink_counters_cut), TEST(netlink_facts),
		TEST(netlink_namespaces),
		TEST(netlink_objects), TEST(netlink_details), TEST(netlink_other_drivers),
		TEST(netlink_regions), TEST(netlink_objects_cut), TEST(netlink_random),
	};

	return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
