// SPDX-License-Identifier: GPL-2.0-or-later
/* Rates of two contexts. Most of their counts have 16 bits, and go round within a second. */
#include <string.h>

#include "top.h"

/**
 * rate_unwrap - how far a count of 16 bits went
 * @delta: difference over the whole time, modulo 2^16
 * @span_ns: that time
 * @burst: difference over a time in which it cannot have gone round
 * @burst_ns: that time
 *
 * Return: of the values that fit @delta the one that is nearest to the pace of @burst.
 */
uint64_t rate_unwrap(uint16_t delta, uint64_t span_ns, uint64_t burst, uint64_t burst_ns)
{
	double expected = burst_ns ? (double)burst * (double)span_ns / (double)burst_ns : 0;

	if (expected <= delta)
		return delta;
	return delta + 65536 * (uint64_t)((expected - delta) / 65536 + 0.5);
}

/**
 * rate_set - a rate
 * @r: rates
 * @which: which one
 * @delta: what was counted
 * @ns: within this time
 */
void rate_set(struct top_rates *r, enum top_rate which, double delta, uint64_t ns)
{
	if (!ns)
		return;
	r->known |= 1U << which;
	r->v[which] = delta * 1e9 / (double)ns;
}

static const struct {
	enum top_rate rate;
	size_t at;
} counts[] = {
	{ RATE_TX, offsetof(struct card_qp, tx_pkts) },
	{ RATE_RX, offsetof(struct card_qp, rx_pkts) },
	{ RATE_SENDS, offsetof(struct card_qp, sq_cqes) },
	{ RATE_RECVS, offsetof(struct card_qp, rq_cqes) },
};

/* How far a count went from one context to another, modulo 2^16 */
static uint16_t went(const struct top_view *from, const struct top_view *to, size_t at)
{
	uint16_t a, b;

	memcpy(&a, (const char *)&from->card + at, sizeof(a));
	memcpy(&b, (const char *)&to->card + at, sizeof(b));
	return (uint16_t)(b - a);
}

/**
 * rates_between - rates of two contexts
 * @r: rates; those that contexts have are set
 * @from: older context
 * @to: newer context
 * @soon: one so soon after @to that no count goes round; the same as @to if none went round
 *	since @from either
 * @later: one a little later, ditto: the pace until @soon shows how often counts went round
 *	until here, and the pace until here how often they did since @from
 */
void rates_between(struct top_rates *r, const struct top_view *from, const struct top_view *to,
		   const struct top_view *soon, const struct top_view *later)
{
	uint64_t span = to->ns - from->ns, burst = soon->ns - to->ns, pause = later->ns - to->ns;
	const struct card_qp *a = &from->card, *b = &to->card;
	uint16_t drops = (uint16_t)(b->rx_err_drops - a->rx_err_drops);
	uint64_t n;
	size_t i;

	for (i = 0; i < COUNT_OF(counts); i++) {
		n = rate_unwrap(went(to, later, counts[i].at), pause, went(to, soon, counts[i].at),
				burst);
		n = rate_unwrap(went(from, to, counts[i].at), span, n, pause);
		rate_set(r, counts[i].rate, (double)n, span);
	}
	drops = (uint16_t)(drops + b->rx_inv_drops - a->rx_inv_drops);
	rate_set(r, RATE_DROPS, drops, span);
	/* A count of 32 bits that went down was reset */
	if (b->timeouts >= a->timeouts)
		rate_set(r, RATE_TIMEOUTS, b->timeouts - a->timeouts, span);
	else
		r->known &= ~(1U << RATE_TIMEOUTS);
}
