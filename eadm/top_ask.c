// SPDX-License-Identifier: GPL-2.0-or-later
/* Whom the device is asked about in an interval, and how many, so that eadm stays unnoticed. */
#include <stdlib.h>

#include "top.h"

/*
 * A hundredth of a core is allowed. Interrupts of the command queue are on nobody's account, so
 * a part of it is left for them.
 */
#define ALLOWED_PER_MILLE	6
#define ASK_MIN			16	/* also on a slow host: everybody's turn comes */
#define ASK_MAX			1024
#define ASK_FIRST_NS		20000	/* a question's cost before one was measured */

/**
 * budget_limit - how many questions fit into an interval
 * @b: budget
 *
 * Return: their number.
 */
uint32_t budget_limit(const struct top_budget *b)
{
	uint64_t all = b->interval_ns / 1000 * ALLOWED_PER_MILLE;
	uint64_t left = all > b->rest_ns ? all - b->rest_ns : 0;
	uint64_t n = left / (b->ask_ns ? b->ask_ns : ASK_FIRST_NS);

	return n < ASK_MIN ? ASK_MIN : n > ASK_MAX ? ASK_MAX : (uint32_t)n;
}

/* Most of the old value: an interval may be disturbed */
static uint64_t blend(uint64_t old, uint64_t now)
{
	return old ? (3 * old + now) / 4 : now;
}

/**
 * budget_learn - what an interval has cost
 * @b: budget
 * @asked: number of questions
 * @ask_ns: CPU time of all of them
 * @rest_ns: CPU time of everything else
 */
void budget_learn(struct top_budget *b, uint32_t asked, uint64_t ask_ns, uint64_t rest_ns)
{
	if (asked)
		b->ask_ns = blend(b->ask_ns, ask_ns / asked + 1);
	b->rest_ns = blend(b->rest_ns, rest_ns);
}

static int by_age(const void *pa, const void *pb)
{
	const struct top_qp *a = *(struct top_qp *const *)pa, *b = *(struct top_qp *const *)pb;

	if (a->asked_ns != b->asked_ns)
		return a->asked_ns < b->asked_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* The oldest first; those that want a question, at most so many */
static uint32_t want_oldest(struct top_qp **of, size_t n, uint32_t limit)
{
	uint32_t i;

	qsort(of, n, sizeof(*of), by_age);
	for (i = 0; i < n && i < limit; i++)
		of[i]->wanted = true;
	return i;
}

/**
 * choose_asked - whom the device is asked about
 * @qp: queue pairs; their member wanted is set
 * @n: their number
 * @limit: at most so many
 *
 * Those that move are asked about in every interval, if all of them fit; a quarter is for the
 * others, whose turn comes round.
 *
 * Return: the number that is wanted.
 */
uint32_t choose_asked(struct top_qp *qp, size_t n, uint32_t limit)
{
	struct top_qp **of = malloc((n + 1) * sizeof(*of));
	size_t i, busy = 0, quiet = n;
	uint32_t got, others;

	if (!of)
		return 0;
	for (i = 0; i < n; i++) {
		qp[i].wanted = false;
		if (qp[i].posting || qp[i].moving)
			of[busy++] = &qp[i];
		else
			of[--quiet] = &qp[i];
	}
	others = n - busy < limit / 4 ? (uint32_t)(n - busy) : limit / 4;
	got = want_oldest(of, busy, limit - others);
	got += want_oldest(of + busy, n - busy, limit - got);
	free(of);
	return got;
}
