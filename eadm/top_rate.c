// SPDX-License-Identifier: GPL-2.0-or-later
/* Rates of two contexts. Most of their counts have 16 bits, and go round within a second. */
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
uint64_t rate_unwrap(uint16_t delta, uint64_t span_ns, uint16_t burst, uint64_t burst_ns)
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

static void set_16(struct top_rates *r, enum top_rate which, uint16_t from, uint16_t to,
		   uint16_t again, uint64_t span_ns, uint64_t burst_ns)
{
	uint16_t delta = (uint16_t)(to - from), burst = (uint16_t)(again - to);

	rate_set(r, which, (double)rate_unwrap(delta, span_ns, burst, burst_ns), span_ns);
}

/**
 * rates_between - rates of two contexts
 * @r: rates; those that contexts have are set
 * @from: older context
 * @to: newer context
 * @again: another one, soon after @to, if counts may have gone round between the two;
 *	else the same as @to
 */
void rates_between(struct top_rates *r, const struct top_view *from, const struct top_view *to,
		   const struct top_view *again)
{
	const struct card_qp *a = &from->card, *b = &to->card, *c = &again->card;
	uint64_t span = to->ns - from->ns, burst = again->ns - to->ns;
	uint16_t drops = (uint16_t)(b->rx_err_drops - a->rx_err_drops);

	drops = (uint16_t)(drops + b->rx_inv_drops - a->rx_inv_drops);
	set_16(r, RATE_TX, a->tx_pkts, b->tx_pkts, c->tx_pkts, span, burst);
	set_16(r, RATE_RX, a->rx_pkts, b->rx_pkts, c->rx_pkts, span, burst);
	set_16(r, RATE_SENDS, a->sq_cqes, b->sq_cqes, c->sq_cqes, span, burst);
	set_16(r, RATE_RECVS, a->rq_cqes, b->rq_cqes, c->rq_cqes, span, burst);
	rate_set(r, RATE_DROPS, drops, span);
	/* A count of 32 bits that went down was reset */
	if (b->timeouts >= a->timeouts)
		rate_set(r, RATE_TIMEOUTS, b->timeouts - a->timeouts, span);
	else
		r->known &= ~(1U << RATE_TIMEOUTS);
}
