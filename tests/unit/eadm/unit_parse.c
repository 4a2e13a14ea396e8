// SPDX-License-Identifier: GPL-2.0-or-later
/* What users write; tables that must be complete. */
#include <errno.h>

#include "cmd.h"
#include "counters.h"
#include "unit.h"

static void numbers(void **state)
{
	uint32_t v;

	(void)state;
	assert_true(parse_u32("17", &v) && v == 17);
	assert_true(parse_u32("0x1f", &v) && v == 31);
	assert_true(parse_u32("010", &v) && v == 10);
	assert_true(parse_u32("4294967295", &v) && v == UINT32_MAX);
	assert_false(parse_u32("4294967296", &v));
	assert_false(parse_u32("99999999999999999999999", &v));
	assert_false(parse_u32("", &v));
	assert_false(parse_u32("-1", &v));
	assert_false(parse_u32("+1", &v));
	assert_false(parse_u32(" 1", &v));
	assert_false(parse_u32("1 ", &v));
	assert_false(parse_u32("17x", &v));
	assert_false(parse_u32("0x", &v));
}

static void ranges(void **state)
{
	uint32_t a, b;

	(void)state;
	assert_true(parse_range("5-8", &a, &b) && a == 5 && b == 8);
	assert_true(parse_range("7", &a, &b) && a == 7 && b == 7);
	assert_true(parse_range("0x10-0x1f", &a, &b) && a == 16 && b == 31);
	assert_false(parse_range("8-5", &a, &b));
	assert_false(parse_range("5-", &a, &b));
	assert_false(parse_range("-5", &a, &b));
	assert_false(parse_range("5-6-7", &a, &b));
	assert_false(parse_range("1-4294967296", &a, &b));
}

static void sets_of_numbers(void **state)
{
	char *v[] = { "5,8-12", "0x20", "7,7" }, *bad[] = { "1,x" }, *gap[] = { "1,,2" };
	const char *what;
	struct id_set s;

	(void)state;
	assert_true(parse_ids(&test_pool, v, 3, &s, &what));
	assert_int_equal(s.n, 5);
	assert_true(s.r[0].single);
	assert_int_equal(s.r[1].first, 8);
	assert_int_equal(s.r[1].last, 12);
	assert_false(s.r[1].single);
	assert_int_equal(s.r[2].first, 32);
	assert_false(parse_ids(&test_pool, bad, 1, &s, &what));
	assert_string_equal(what, "x");
	assert_true(parse_ids(&test_pool, gap, 1, &s, &what));
	bad[0] = ",1";
	assert_false(parse_ids(&test_pool, bad, 1, &s, &what));
	bad[0] = "1,";
	assert_false(parse_ids(&test_pool, bad, 1, &s, &what));
	bad[0] = "";
	assert_false(parse_ids(&test_pool, bad, 1, &s, &what));
}

static void durations(void **state)
{
	uint64_t ms;

	(void)state;
	assert_true(parse_duration("5", &ms) && ms == 5000);
	assert_true(parse_duration("0.5", &ms) && ms == 500);
	assert_true(parse_duration("500ms", &ms) && ms == 500);
	assert_true(parse_duration("90s", &ms) && ms == 90000);
	assert_true(parse_duration("10m", &ms) && ms == 600000);
	assert_true(parse_duration("2h", &ms) && ms == 7200000);
	assert_false(parse_duration("0", &ms));
	assert_false(parse_duration("0.0001", &ms));
	assert_false(parse_duration("", &ms));
	assert_false(parse_duration("-5s", &ms));
	assert_false(parse_duration("5d", &ms));
	assert_false(parse_duration("inf", &ms));
	assert_false(parse_duration("nan", &ms));
	assert_false(parse_duration("1e300", &ms));
	assert_false(parse_duration("0x10", &ms));
}

static void event_queues_and_peers(void **state)
{
	uint32_t eqn, port;
	bool have_port;
	char addr[46];

	(void)state;
	assert_true(parse_eq("aeq", &eqn) && eqn == 32);
	assert_true(parse_eq("cmdq", &eqn) && eqn == 0);
	assert_true(parse_eq("3", &eqn) && eqn == 3);
	assert_false(parse_eq("ceq3", &eqn));
	assert_true(parse_peer("10.0.0.7", addr, &port, &have_port) && !have_port);
	assert_true(parse_peer("10.0.0.7:80", addr, &port, &have_port) && have_port && port == 80);
	assert_string_equal(addr, "10.0.0.7");
	assert_false(parse_peer("10.0.0.7:", addr, &port, &have_port));
	assert_false(parse_peer("10.0.0.7:65536", addr, &port, &have_port));
	assert_false(parse_peer("host", addr, &port, &have_port));
	assert_false(parse_peer("11111111111111111111111111111111111111111111111111", addr, &port,
				&have_port));
}

static void exit_status_of_errors(void **state)
{
	(void)state;
	assert_int_equal(exit_of_errno(ENOENT), 3);
	assert_int_equal(exit_of_errno(ENODEV), 3);
	assert_int_equal(exit_of_errno(EPERM), 4);
	assert_int_equal(exit_of_errno(EACCES), 4);
	assert_int_equal(exit_of_errno(ENOTTY), 6);
	assert_int_equal(exit_of_errno(EOPNOTSUPP), 6);
	assert_int_equal(exit_of_errno(E2BIG), 6);
	assert_int_equal(exit_of_errno(ETIMEDOUT), 8);
	assert_int_equal(exit_of_errno(EINTR), 130);
	assert_int_equal(exit_of_errno(EIO), 1);
	assert_int_equal(exit_of_errno(EPROTO), 1);
}

static void exit_status_of_a_run(void **state)
{
	struct ctx c = { 0 };

	(void)state;
	assert_int_equal(ctx_exit(&c), 0);
	ctx_note(&c, "NOTE", NULL, "only a note");
	assert_int_equal(ctx_exit(&c), 0);
	ctx_problem(&c, EPERM, "x", NULL, "one");
	ctx_problem(&c, ENOENT, "y", NULL, "two");
	assert_int_equal(ctx_exit(&c), 4);
	c.good = 1;
	assert_int_equal(ctx_exit(&c), 7);
	pool_free(&c.pool);
}

static void groups_of_counters(void **state)
{
	(void)state;
	assert_string_equal(counter_group("tx_bytes"), "traffic");
	assert_string_equal(counter_group("rx_disable_drops"), "traffic");
	assert_string_equal(counter_group("cmdq_late"), "cmdq");
	assert_string_equal(counter_group("aeq_cq_err"), "events");
	assert_string_equal(counter_group("ceq_events"), "events");
	assert_string_equal(counter_group("cm_connect"), "cm");
	assert_string_equal(counter_group("reg_user_mr_failed"), "verbs");
	assert_string_equal(counter_group("mmap_failed"), "verbs");
	assert_string_equal(counter_group("something"), "other");
	assert_true(counter_is_error("rx_disable_drops"));
	assert_true(counter_is_error("create_qp_failed"));
	assert_true(counter_is_error("cmdq_timeouts"));
	assert_true(counter_is_error("aeq_qp_fatal"));
	assert_true(counter_is_error("aeq_other"));
	assert_false(counter_is_error("tx_bytes"));
	assert_false(counter_is_error("create_qp"));
	/* Not in the list: nothing is concluded from the name */
	assert_string_equal(counter_group("tx_something"), "other");
	assert_false(counter_is_error("something_failed"));
}

static void names_of_other_drivers(void **state)
{
	static const char *const same[][2] = {
		{ "tx_reqs_cnt", "tx_reqs" }, { "tx_packets_cnt", "tx_pkts" },
		{ "tx_bytes_cnt", "tx_bytes" }, { "tx_disable_drop_cnt", "tx_disable_drops" },
		{ "tx_bps_limit_drop_cnt", "tx_bps_limit_drops" },
		{ "rx_pps_limit_drop_cnt", "rx_pps_limit_drops" },
		{ "rx_packets_cnt", "rx_pkts" }, { "connect_timeout_cnt", "cm_connect_timeouts" },
		{ "listen_success_cnt", "cm_listen" }, { "verbs_create_qp_cnt", "create_qp" },
		{ "hw_tx_bytes_cnt", "tx_bytes" }, { "hw_disable_drop_cnt", "tx_disable_drops" },
		{ "verbs_reg_usr_mr_cnt", "reg_user_mr" },
		/* Sums have no name of ours */
		{ "listen_create_cnt", "listen_create" }, { "cmdq_comp_cnt", "cmdq_comp" },
	};
	char out[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		assert_true(counter_canonical(same[i][0], out, sizeof(out)));
		assert_string_equal(out, same[i][1]);
	}
	assert_false(counter_canonical("tx_bytes", out, sizeof(out)));
	assert_string_equal(out, "tx_bytes");
}

/* The names are those that exporters look for, and nothing is made up */
static void counters_of_the_vendor(void **state)
{
	const struct vendor_counter *v, *w;
	size_t i, j, zero = 0;
	char group[16];
	int n;

	(void)state;
	for (i = 0; (v = vendor_counter(i)); i++) {
		assert_int_equal(strcmp(v->name + strlen(v->name) - 4, "_cnt"), 0);
		for (j = 0; j < i; j++)
			assert_string_not_equal(vendor_counter(j)->name, v->name);
		w = vendor_find(v->name);
		assert_ptr_equal(w, v);
		for (n = 0; n < 2 && v->from[n]; n++)
			assert_string_not_equal(counter_group(v->from[n]), "other");
		zero += !v->from[0];
		snprintf(group, sizeof(group), "%s", v->group ? v->group : "");
		assert_int_equal(!v->from[0], *group != 0);
	}
	assert_int_equal(i, 55);
	assert_int_equal(zero, 1);
	assert_null(vendor_find("tx_bytes"));
}

static void nearest_words(void **state)
{
	static const char *const words[] = { "list", "info", "dump", "stat", "debug-level" };

	(void)state;
	assert_string_equal(nearest_word(&test_pool, "lst", words, 5), "did you mean 'list'?");
	assert_string_equal(nearest_word(&test_pool, "dmup", words, 5), "did you mean 'dump'?");
	assert_string_equal(nearest_word(&test_pool, "debug", words, 5),
			    "did you mean 'debug-level'?");
	assert_null(nearest_word(&test_pool, "xyzzy", words, 5));
	assert_null(nearest_word(&test_pool, "", words, 0));
}

static void commands_by_their_words(void **state)
{
	(void)state;
	assert_string_equal(cmd_find("list", "qp")->object, "qp");
	assert_null(cmd_find("list", NULL));
	assert_null(cmd_find("list", "q"));
	assert_null(cmd_find("lis", "qp"));
	assert_string_equal(cmd_find("ver", NULL)->verb, "ver");
	assert_non_null(cmd_find("stat", "tx_bytes"));
}

static void table_of_commands_is_complete(void **state)
{
	const struct opt_def *o;
	const struct cmd *cmd;

	(void)state;
	for (cmd = cmd_table; cmd->verb; cmd++) {
		assert_non_null(cmd->help);
		assert_non_null(cmd->operands);
		assert_non_null(cmd->section);
		assert_non_null(cmd->run);
		assert_ptr_equal(cmd_find(cmd->verb, cmd->object), cmd);
		for (o = cmd->opts; o && o->name; o++)
			assert_non_null(o->help);
	}
}

/* No two fields of a schema with the same key, none without, none half made */
static void schemas_are_complete(void **state)
{
	const struct schema *s;
	const struct field *f;
	unsigned int n = 0, i, k;

	(void)state;
	while ((s = schema_next(&n))) {
		for (i = 0; i < s->n_fields; i++) {
			f = &s->fields[i];
			assert_non_null(f->key);
			assert_non_null(f->label);
			for (k = 0; k < i; k++)
				assert_string_not_equal(f->key, s->fields[k].key);
			if (f->type == T_OBJ)
				assert_non_null(f->sub);
		}
		for (i = 0; i < s->n_cols; i++) {
			assert_in_range(s->cols[i].a, s->cols[i].more ? 0 : 1, s->n_fields);
			assert_in_range(s->cols[i].b, 0, s->n_fields);
			assert_true(!s->cols[i].b == !s->cols[i].sep);
		}
	}
	assert_true(n >= 30);
}

static void fields_by_name(void **state)
{
	(void)state;
	assert_int_equal(schema_field(&schema_qp_list, "qpn"), QL_QPN);
	assert_int_equal(schema_field(&schema_qp_list, "owner.comm"), QL_COMM);
	assert_int_equal(schema_field(&schema_qp_list, "COMM"), QL_COMM);
	assert_int_equal(schema_field(&schema_qp_list, "peer"), QL_PEER_ADDR);
	assert_int_equal(schema_field(&schema_qp_list, "nonsense"), -1);
}

int unit_parse(void)
{
	const struct CMUnitTest tests[] = {
		TEST(numbers), TEST(ranges), TEST(sets_of_numbers), TEST(durations),
		TEST(event_queues_and_peers), TEST(exit_status_of_errors),
		TEST(exit_status_of_a_run), TEST(groups_of_counters), TEST(names_of_other_drivers), TEST(counters_of_the_vendor),
		TEST(nearest_words), TEST(commands_by_their_words),
		TEST(table_of_commands_is_complete), TEST(schemas_are_complete),
		TEST(fields_by_name),
	};

	return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
