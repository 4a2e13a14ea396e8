// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts to text and JSON. */
#include "cmd.h"
#include "emit.h"
#include "unit.h"

static const char *text_of(enum field_type type, struct val v, bool exact)
{
	return value_text(&test_pool, type, &v, exact);
}

#define U(n)	((struct val){ .kind = V_U64, .u = (n) })
#define D(n)	((struct val){ .kind = V_DBL, .d = (n) })

static void text_of_sizes(void **state)
{
	(void)state;
	assert_string_equal(text_of(T_SIZE, U(0), false), "0");
	assert_string_equal(text_of(T_SIZE, U(1000), false), "1000");
	assert_string_equal(text_of(T_SIZE, U(4096), false), "4Ki");
	assert_string_equal(text_of(T_SIZE, U(4097), false), "4097");
	assert_string_equal(text_of(T_SIZE, U(16 << 20), false), "16Mi");
	assert_string_equal(text_of(T_SIZE, U(1ULL << 31), false), "2Gi");
	assert_string_equal(text_of(T_SIZE, U(4096), true), "4096");
}

static void text_of_durations(void **state)
{
	(void)state;
	assert_string_equal(text_of(T_NS, U(1500), false), "1us");
	assert_string_equal(text_of(T_NS, U(850000000), false), "850ms");
	assert_string_equal(text_of(T_NS, U(9700000000), false), "9.7s");
	assert_string_equal(text_of(T_NS, U(723000000000), false), "12m03s");
	assert_string_equal(text_of(T_NS, U(18720000000000), false), "5h12m");
	assert_string_equal(text_of(T_NS, U(273600000000000), false), "3d04h");
	assert_string_equal(text_of(T_NS, U(9700000001), true), "9.700000001s");
}

static void text_of_rates(void **state)
{
	(void)state;
	assert_string_equal(text_of(T_RATE, D(0), false), "0");
	assert_string_equal(text_of(T_RATE, D(12.34), false), "12.3");
	assert_string_equal(text_of(T_RATE, D(9999), false), "9999");
	assert_string_equal(text_of(T_RATE, D(133900), false), "133.9K");
	assert_string_equal(text_of(T_RATE, D(4902000), false), "4.9M");
	assert_string_equal(text_of(T_RATE, D(12345678), false), "12.3M");
	assert_string_equal(text_of(T_RATE, D(7268500000.0), false), "7.3G");
	assert_string_equal(text_of(T_RATE, D(12345678), true), "12345678.000");
}

static void text_of_hex_and_words(void **state)
{
	struct obj *o = obj_new(&test_pool, &schema_wqe);

	(void)state;
	assert_string_equal(text_of(T_HEX, U(0x2a), false), "0x2a");
	assert_string_equal(text_of(T_HEX32, U(0x2a), false), "0x0000002a");
	assert_string_equal(text_of(T_HEX64, U(~0ULL), false), "0xffffffffffffffff");
	assert_string_equal(text_of(T_U64, U(~0ULL), false), "18446744073709551615");
	assert_string_equal(text_of(T_BOOL, U(1), false), "yes");
	obj_word(o, W_FLAGS, NULL);
	assert_string_equal(text_of(T_WORDS, *obj_val(o, W_FLAGS), false), "");
	obj_word(o, W_FLAGS, "CE");
	obj_word(o, W_FLAGS, "SE");
	assert_string_equal(text_of(T_WORDS, *obj_val(o, W_FLAGS), false), "CE,SE");
}

/* ---- documents ---------------------------------------------------------- */

static char *out_text;
static size_t out_len;

static struct ctx new_ctx(const char *verb, const char *object)
{
	struct ctx c = { .cmd = cmd_find(verb, object) };

	free(out_text);
	out_text = NULL;
	source_init(&c.src, &c.pool);
	c.out = open_memstream(&out_text, &out_len);
	return c;
}

static const char *emitted(struct ctx *c)
{
	emit_document(c);
	fclose(c->out);
	pool_free(&c->pool);
	return out_text;
}

static struct obj *qp_object(struct ctx *c, uint64_t qpn)
{
	struct obj *o = obj_new(&c->pool, &schema_qp_list);

	obj_str(o, QL_DEV, "erdma_0");
	obj_u64(o, QL_QPN, qpn);
	obj_str(o, QL_PEER_ADDR, "10.0.0.7");
	obj_u64(o, QL_PEER_PORT, 80);
	obj_u64(o, QL_AGE, 1);
	ctx_add(c, o);
	return o;
}

static void json_nests_keys_and_leaves_out_unknowns(void **state)
{
	struct ctx c = new_ctx("list", "qp");

	(void)state;
	c.opt.format = FMT_JSON;
	qp_object(&c, 17);
	assert_string_equal(emitted(&c),
		"{\"schema\":\"eadm.qp.list/2\",\"ok\":true,\"exit\":0,"
		"\"source\":{\"kind\":\"none\"},\"warnings\":[],"
		"\"data\":[{\"dev\":\"erdma_0\",\"qpn\":17,"
		"\"peer\":{\"addr\":\"10.0.0.7\",\"port\":80},\"age_ns\":1}]}\n");
}

static void json_keeps_all_64_bits(void **state)
{
	struct ctx c = new_ctx("list", "cq");
	struct obj *o = obj_new(&c.pool, &schema_cq_list);

	(void)state;
	c.opt.format = FMT_JSON;
	obj_u64(o, CL_EVENTS, ~0ULL);
	obj_u64(o, CL_CQN, 5);
	ctx_add(&c, o);
	assert_non_null(strstr(emitted(&c), "{\"cqn\":5,\"events\":18446744073709551615}"));
	c = new_ctx("list", "cq");
	o = obj_new(&c.pool, &schema_cq_list);
	c.opt.format = FMT_JSON;
	c.opt.u64_string = true;
	obj_u64(o, CL_EVENTS, ~0ULL);
	obj_u64(o, CL_CQN, 5);
	ctx_add(&c, o);
	assert_non_null(strstr(emitted(&c), "{\"cqn\":5,\"events\":\"18446744073709551615\"}"));
}

static void json_of_a_failure(void **state)
{
	struct ctx c = new_ctx("list", "qp");

	(void)state;
	c.opt.format = FMT_JSON;
	ctx_problem(&c, 2, "erdma_0/qp/99", "do this", "no queue pair %d", 99);
	assert_string_equal(emitted(&c),
		"{\"schema\":\"eadm.error/2\",\"ok\":false,\"exit\":3,"
		"\"error\":{\"code\":\"ENOENT\",\"object\":\"erdma_0/qp/99\","
		"\"text\":\"no queue pair 99\",\"hint\":\"do this\"},\"warnings\":[]}\n");
}

static void json_of_a_partial_result(void **state)
{
	struct ctx c = new_ctx("list", "qp");
	const char *s;

	(void)state;
	c.opt.format = FMT_JSON;
	qp_object(&c, 17);
	ctx_problem(&c, 1, "erdma_1", NULL, "denied");
	s = emitted(&c);
	assert_non_null(strstr(s, "\"ok\":true,\"exit\":7"));
	assert_non_null(strstr(s, "{\"code\":\"EPERM\",\"object\":\"erdma_1\",\"text\":\"denied\"}"));
}

static void json_lines(void **state)
{
	struct ctx c = new_ctx("list", "qp");

	(void)state;
	c.opt.format = FMT_JSONL;
	qp_object(&c, 17);
	qp_object(&c, 18);
	ctx_note(&c, "NOTE", NULL, "by the way");
	assert_string_equal(emitted(&c),
		"{\"schema\":\"eadm.qp.list/2\",\"dev\":\"erdma_0\",\"qpn\":17,"
		"\"peer\":{\"addr\":\"10.0.0.7\",\"port\":80},\"age_ns\":1}\n"
		"{\"schema\":\"eadm.qp.list/2\",\"dev\":\"erdma_0\",\"qpn\":18,"
		"\"peer\":{\"addr\":\"10.0.0.7\",\"port\":80},\"age_ns\":1}\n"
		"{\"schema\":\"eadm.warning/2\","
		"\"warning\":{\"code\":\"NOTE\",\"text\":\"by the way\"}}\n");
}

static void table_is_as_wide_as_its_content(void **state)
{
	struct ctx c = new_ctx("list", "qp");

	(void)state;
	c.opt.columns = "dev,qpn,PEER,sq.pi";
	qp_object(&c, 17);
	qp_object(&c, 123456);
	assert_string_equal(emitted(&c),
		"DEV      QPN     PEER         sq.pi\n"
		"erdma_0  17      10.0.0.7:80\n"
		"erdma_0  123456  10.0.0.7:80\n");
}

/* Why a value is not there is shown, once for both parts of a cell */
static void missing_values(void **state)
{
	struct ctx c = new_ctx("list", "qp");
	struct obj *o = obj_new(&test_pool, &schema_qp_list);

	(void)state;
	c.opt.columns = "qpn,pid,comm,sq,rq,peer";
	c.opt.no_header = true;
	obj_u64(o, QL_QPN, 1);
	obj_missing(o, QL_QPN, V_UNKNOWN);
	obj_missing(o, QL_PID, V_WITHHELD);
	obj_missing(o, QL_COMM, V_UNASKED);
	obj_missing(o, QL_SQ_USED, V_UNKNOWN);
	obj_u64(o, QL_SQ_DEPTH, 16);
	obj_missing(o, QL_RQ_USED, V_UNKNOWN);
	obj_missing(o, QL_RQ_DEPTH, V_UNKNOWN);
	obj_missing(o, QL_PEER_PORT, V_UNKNOWN);
	ctx_add(&c, o);
	assert_false(obj_has(o, QL_PID));
	assert_true(obj_applies(o, QL_PID));
	assert_false(obj_applies(o, QL_PEER_ADDR));
	assert_string_equal(emitted(&c), "1  hidden  -  ?/16  ?\n");
}

static void table_without_heading(void **state)
{
	struct ctx c = new_ctx("list", "qp");

	(void)state;
	c.opt.columns = "qpn,dev";
	c.opt.no_header = true;
	qp_object(&c, 1);
	assert_string_equal(emitted(&c), "1  erdma_0\n");
}

static void sorting_keeps_equal_objects_in_order(void **state)
{
	struct list l = { 0 };
	struct obj *o;
	uint64_t i;

	(void)state;
	for (i = 0; i < 6; i++) {
		o = obj_new(&test_pool, &schema_qp_list);
		obj_u64(o, QL_QPN, i);
		if (i != 3)
			obj_u64(o, QL_PID, i % 2);
		list_add(&l, o);
	}
	list_sort(&l, QL_PID, true);
	has_num(l.first, QL_QPN, 1);
	has_num(l.first->next, QL_QPN, 5);
	has_num(l.first->next->next, QL_QPN, 0);
	has_num(l.last, QL_QPN, 3);
	assert_int_equal(l.n, 6);
}

static int emit_end(void **state)
{
	(void)state;
	free(out_text);
	out_text = NULL;
	return 0;
}

int unit_emit(void)
{
	const struct CMUnitTest tests[] = {
		TEST(text_of_sizes), TEST(text_of_durations), TEST(text_of_rates),
		TEST(text_of_hex_and_words), TEST(json_nests_keys_and_leaves_out_unknowns),
		TEST(json_keeps_all_64_bits), TEST(json_of_a_failure),
		TEST(json_of_a_partial_result), TEST(json_lines),
		TEST(missing_values), TEST(table_is_as_wide_as_its_content), TEST(table_without_heading),
		TEST(sorting_keeps_equal_objects_in_order),
	};

	return cmocka_run_group_tests_name("emit", tests, NULL, emit_end);
}
