// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of rules and its sentences. */
#include <ctype.h>

#include "rules.h"
#include "unit.h"

static void names_are_unique_words(void **state)
{
	const char *s;
	size_t i;

	(void)state;
	for (i = 0; i < RULE_COUNT; i++) {
		assert_ptr_equal(rule_called(rules[i].name), &rules[i]);
		for (s = rules[i].name; *s; s++)
			assert_true(islower((unsigned char)*s) || *s == '-');
	}
	assert_null(rule_called("card"));
	assert_null(rule_called(""));
}

/* One sentence: a capital or a full stop within would make it two */
static void sentences_are_one_each(void **state)
{
	size_t i, n;

	(void)state;
	for (i = 0; i < RULE_COUNT; i++) {
		n = strlen(rules[i].sentence);
		assert_true(n > 10 && rules[i].sentence[n - 1] != '.');
		assert_true(strlen(rules[i].next) > 4);
		n = strlen(rules[i].text);
		assert_int_equal(rules[i].text[n - 1], '.');
	}
}

static void braces_are_closed(void **state)
{
	const char *s, *part[2];
	size_t i, k;
	int open;

	(void)state;
	for (i = 0; i < RULE_COUNT; i++) {
		part[0] = rules[i].sentence;
		part[1] = rules[i].next;
		for (k = 0; k < 2; k++) {
			for (s = part[k], open = 0; *s; s++) {
				open += (*s == '{') - (*s == '}');
				assert_true(open == 0 || (open == 1 && (*s == '{' || islower(*s))));
			}
			assert_int_equal(open, 0);
		}
	}
}

static void words_are_replaced(void **state)
{
	static const struct rule_word words[] = {
		{ "n", "3" }, { "qp", "qp 17" }, { "who", NULL },
	};

	(void)state;
	assert_string_equal(rule_fill(&test_pool, "{n} of {qp}: {who}, {none}", words, 3),
			    "3 of qp 17: ?, ?");
	assert_string_equal(rule_fill(&test_pool, "plain", words, 3), "plain");
	assert_string_equal(rule_fill(&test_pool, "", words, 0), "");
	assert_string_equal(rule_fill(&test_pool, "{n", words, 3), "{n");
	assert_string_equal(rule_fill(&test_pool, "{q}{n}{nn}", words, 3), "?3?");
}

int unit_rules(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(names_are_unique_words),
		TEST(sentences_are_one_each),
		TEST(braces_are_closed),
		TEST(words_are_replaced),
	};

	return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
