// SPDX-License-Identifier: GPL-2.0-or-later
/* Rates of counts that go round, and whose turn it is to be asked about. */
#include "unit.h"

#include "top.h"

#define SECOND	1000000000ULL

static void counts_that_went_round_are_made_good(void **state)
{
	static const struct {
		uint16_t delta;
		uint64_t span;
		uint64_t burst;
		uint64_t burst_ns;
		uint64_t want;
	} cases[] = {
		{ 100, SECOND, 0, 0, 100 },			/* no second context */
		{ 100, SECOND, 0, SECOND / 200, 100 },		/* it stands still */
		{ 1000000 & 0xffff, SECOND, 5000, SECOND / 200, 1000000 },
		{ 1000000 & 0xffff, SECOND, 5100, SECOND / 200, 1000000 },	/* not quite even */
		{ 13000000 & 0xffff, SECOND, 65000, SECOND / 200, 13000000 },
		{ 65535, SECOND, 1, SECOND, 65535 },		/* below what is known */
		{ 0, 10 * SECOND, 656, SECOND / 1000, 6553600 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT_OF(cases); i++)
		assert_int_equal(rate_unwrap(cases[i].delta, cases[i].span, cases[i].burst,
					     cases[i].burst_ns), cases[i].want);
}

/* The slowest hundredth does not count, less than one command of a hundred is none */
static void percentile_is_the_bound_of_its_bucket(void **state)
{
	struct top_times before = { .bucket = { [3] = 500 } }, now = before;

	(void)state;
	now.max_ns = SECOND;
	assert_int_equal(times_p99(&before, &now), 0);
	now.bucket[3] += 198;
	now.bucket[10] = 2;
	assert_int_equal(times_p99(&before, &now), 8000);
	now.bucket[10]++;
	assert_int_equal(times_p99(&before, &now), 1024000);
	now.max_ns = 700000;
	assert_int_equal(times_p99(&before, &now), 700000);
	now.bucket[3] = 499;
	assert_int_equal(times_p99(&before, &now), 0);
}

static void rates_go_over_the_end_of_16_bits(void **state)
{
	struct top_view a = { .ns = SECOND, .card = { .tx_pkts = 65000, .timeouts = 9 } };
	struct top_view b = { .ns = 3 * SECOND, .card = { .tx_pkts = 464, .timeouts = 13,
							  .rx_err_drops = 2, .rx_inv_drops = 4 } };
	struct top_rates r = { 0 };

	(void)state;
	rates_between(&r, &a, &b, &b, &b);
	assert_int_equal(r.v[RATE_TX], 500);
	assert_int_equal(r.v[RATE_RX], 0);
	assert_int_equal(r.v[RATE_TIMEOUTS], 2);
	assert_int_equal(r.v[RATE_DROPS], 3);
	rates_between(&r, &b, &a, &a, &a);
	assert_false(r.known >> RATE_TIMEOUTS & 1);	/* 32 bits that went down were reset */
}

/* The first pace is a tenth too high; the second one, that of twenty times the time, is not */
static void two_paces_are_better_than_one(void **state)
{
	const uint64_t ms = 1000000;
	struct top_view from = { .ns = 0 }, to = { .ns = SECOND };
	struct top_view soon = { .ns = SECOND + 5 * ms }, later = { .ns = SECOND + 100 * ms };
	struct top_rates r = { 0 };

	(void)state;
	to.card.tx_pkts = 3000000 & 0xffff;
	soon.card.tx_pkts = (3000000 + 16500) & 0xffff;
	later.card.tx_pkts = (3000000 + 300000) & 0xffff;
	rates_between(&r, &from, &to, &soon, &later);
	assert_int_equal(r.v[RATE_TX], 3000000);
	rates_between(&r, &from, &to, &soon, &soon);
	assert_int_not_equal(r.v[RATE_TX], 3000000);
}

/* How often each of @n is asked about in so many rounds of @limit */
static void turns(unsigned int *count, size_t n, size_t busy, uint32_t limit, unsigned int rounds)
{
	struct top_qp *qp = calloc(n, sizeof(*qp));
	unsigned int round;
	size_t i;

	assert_non_null(qp);
	for (i = 0; i < busy; i++)
		qp[i].moving = true;
	for (round = 1; round <= rounds; round++) {
		assert_true(choose_asked(qp, n, limit) <= limit);
		for (i = 0; i < n; i++)
			if (qp[i].wanted) {
				qp[i].asked_ns = round;
				count[i]++;
			}
	}
	free(qp);
}

static void few_are_all_asked_about(void **state)
{
	unsigned int count[10] = { 0 }, i;

	(void)state;
	turns(count, 10, 4, 16, 3);
	for (i = 0; i < 10; i++)
		assert_int_equal(count[i], 3);
}

static void busy_ones_are_asked_about_always_and_others_in_turn(void **state)
{
	unsigned int count[1000] = { 0 }, i;

	(void)state;
	turns(count, 1000, 20, 69, 60);		/* 49 of 980 others a round: 3 times each */
	for (i = 0; i < 20; i++)
		assert_int_equal(count[i], 60);
	for (i = 20; i < 1000; i++)
		assert_int_equal(count[i], 3);
}

static void a_quarter_is_for_others_although_all_are_busy(void **state)
{
	unsigned int count[1000] = { 0 }, i;

	(void)state;
	turns(count, 1000, 900, 100, 12);	/* 75 busy ones and 25 others a round */
	for (i = 0; i < 900; i++)
		assert_int_equal(count[i], 1);
	for (i = 900; i < 1000; i++)
		assert_int_equal(count[i], 3);
}

static void budget_follows_what_a_question_costs(void **state)
{
	struct top_budget b = { .interval_ns = SECOND };
	uint32_t first = budget_limit(&b), i;

	(void)state;
	assert_true(first >= 16 && first <= 1024);
	for (i = 0; i < 50; i++)
		budget_learn(&b, 100, 100 * 60000, 0);
	assert_int_equal(budget_limit(&b), 99);		/* 6 ms of a second by 60 us */
	for (i = 0; i < 50; i++)
		budget_learn(&b, 0, 0, 3000000);	/* the rest takes half of it */
	assert_int_equal(budget_limit(&b), 49);
	for (i = 0; i < 50; i++)
		budget_learn(&b, 0, 0, SECOND);
	assert_int_equal(budget_limit(&b), 16);		/* everybody's turn comes */
}

int unit_top(void)
{
	const struct CMUnitTest tests[] = {
		TEST(counts_that_went_round_are_made_good),
		TEST(percentile_is_the_bound_of_its_bucket),
		TEST(rates_go_over_the_end_of_16_bits),
		TEST(two_paces_are_better_than_one),
		TEST(few_are_all_asked_about),
		TEST(busy_ones_are_asked_about_always_and_others_in_turn),
		TEST(a_quarter_is_for_others_although_all_are_busy),
		TEST(budget_follows_what_a_question_costs),
	};

	return cmocka_run_group_tests_name("top", tests, NULL, NULL);
}
