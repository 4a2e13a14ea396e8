// SPDX-License-Identifier: GPL-2.0-or-later
/* One reading of a device: counters, queue pairs, contexts. */
#include <errno.h>
#include <stdlib.h>

#include "top.h"

#define PORT	1

static const char *const drops[] = {
	"tx_disable_drops", "tx_bps_limit_drops", "tx_pps_limit_drops",
	"rx_disable_drops", "rx_bps_limit_drops", "rx_pps_limit_drops",
	/* Of other drivers */
	"rx_drops", "port_xmit_discards",
};

/* Of other drivers: what the InfiniBand specification has (in units of 4 bytes) comes last */
static const struct {
	const char *name;
	enum top_rate rate;
	unsigned int times;
} counts[] = {
	{ "tx_bytes", RATE_TX_BITS, 8 }, { "rx_bytes", RATE_RX_BITS, 8 },
	{ "tx_pkts", RATE_TX, 1 }, { "rx_pkts", RATE_RX, 1 },
	{ "ceq_events", RATE_EVENTS, 1 }, { "cmdq_completed", RATE_CMDS, 1 },
	{ "sent_bytes", RATE_TX_BITS, 8 }, { "rcvd_bytes", RATE_RX_BITS, 8 },
	{ "sent_pkts", RATE_TX, 1 }, { "rcvd_pkts", RATE_RX, 1 },
	{ "port_xmit_data", RATE_TX_BITS, 32 }, { "port_rcv_data", RATE_RX_BITS, 32 },
	{ "port_xmit_packets", RATE_TX, 1 }, { "port_rcv_packets", RATE_RX, 1 },
};

/* ---- counters ----------------------------------------------------------------- */

/* False if one of them does not have it, or if it went down: it was reset or wrapped */
static bool counter_delta(const struct counter_set *now, const struct counter_set *before,
			  const char *name, uint64_t *delta)
{
	const struct counter *a = counter_set_find(before, name), *b = counter_set_find(now, name);

	if (!a || !b || b->value < a->value)
		return false;
	*delta = b->value - a->value;
	return true;
}

static uint64_t all_packets(const struct counter_set *s)
{
	const struct counter *tx = counter_set_find(s, "tx_pkts"), *rx = counter_set_find(s, "rx_pkts");

	return tx && rx ? tx->value + rx->value : NO_PACKETS;
}

static void device_rates(struct top_dev *td, const struct counter_set *now)
{
	const struct counter_set *before = &td->counters;
	uint64_t span = now->time_ns - before->time_ns, delta, dropped = 0;
	bool know_drops = false;
	size_t i;

	td->rates.known = 0;
	for (i = 0; i < COUNT_OF(counts); i++)
		if (counter_delta(now, before, counts[i].name, &delta))
			rate_set(&td->rates, counts[i].rate, (double)delta * counts[i].times, span);
	for (i = 0; i < COUNT_OF(drops); i++)
		if (counter_delta(now, before, drops[i], &delta)) {
			know_drops = true;
			dropped += delta;
		}
	if (know_drops)
		rate_set(&td->rates, RATE_DROPS, (double)dropped, span);
}

static int read_counters(struct top *t, struct dev *dev, struct top_dev *td)
{
	uint64_t before = td->packets;
	struct counter_set now = { 0 };
	int ret;

	t->live.c->src.port_only = true;
	if (dev->state == DEV_OTHER)
		ret = counter_set_read_sum(&now, &t->live.c->src, dev);
	else
		ret = counter_set_read(&now, &t->live.c->src, dev, PORT);
	device_rates(td, &now);
	td->packets = all_packets(&now);
	td->calm = few_packets(before, td->packets, ROUND_PACKETS);
	counter_set_free(&td->counters);
	td->counters = now;
	return ret;
}

/* ---- queue pairs -------------------------------------------------------------- */

/**
 * top_can_ask - may the device be asked about queue pairs?
 * @t: run
 * @dev: open device
 *
 * Return: true if it answers, and nobody forbids it.
 */
bool top_can_ask(const struct top *t, const struct dev *dev)
{
	const uint64_t both = ERDMA_DIAG_ABI_HW_CONTEXT | ERDMA_DIAG_ABI_LIST_HW;

	return !t->live.c->opt.no_hw && (dev->info.abi_flags & both) == both;
}

/* A note is given once */
static bool say(struct top *t, unsigned int what)
{
	bool first = !(t->said & what);

	t->said |= what;
	return first;
}

#define SAID_NOT_ASKED	(1U << 0)
#define SAID_SILENT	(1U << 1)
#define SAID_HIDDEN	(1U << 2)

static void note_not_asked(struct top *t, const struct dev *dev)
{
	if (say(t, SAID_NOT_ASKED))
		ctx_note(t->live.c, "NOT_ASKED", dev_title(dev), "%s: of queue pairs there is only what "
			 "the driver sees posted",
			 t->live.c->opt.no_hw ? "the device is not asked" :
			 "the device does not answer questions about queue pairs");
}

static int read_qps(struct top *t, struct dev *dev, struct top_dev *td)
{
	bool first = !td->listed_ns;
	int ret = top_list(t, dev, td);

	if (ret)
		return ret;
	if (first && say(t, SAID_HIDDEN))
		note_hidden(t->live.c, dev, TARGET_QP, (uint32_t)td->n, dev->info.n_qp);
	if (!top_can_ask(t, dev)) {
		note_not_asked(t, dev);
		return 0;
	}
	ret = top_ask(t, dev, td);
	if (td->silent && say(t, SAID_SILENT))
		ctx_note(t->live.c, "SILENT", dev_title(dev), "the device does not answer in time: "
			 "'eadm why' looks for the reason");
	return ret;
}

/* How many queue pairs there are now */
static int read_info(struct top *t, struct dev *dev)
{
	if (dev->state != DEV_OK)
		return 0;
	dev->info.size = 0;
	return source_open_dev(&t->live.c->src, dev) == -ENODEV ? -ENODEV : 0;
}

/* ---- all of it ---------------------------------------------------------------- */

/**
 * top_dev_drop - forget a device
 * @priv: struct top_dev, or NULL
 */
void top_dev_drop(void *priv)
{
	struct top_dev *td = priv;

	if (td) {
		free(td->qp);
		counter_set_free(&td->counters);
	}
	free(td);
}

/* Of another driver's device there are numbers of objects; a row may have nothing else */
static int read_other(struct top *t, struct dev *dev, struct top_dev *td, int counted)
{
	struct dev_facts facts;

	td->qps = t->live.c->src.ops->facts(&t->live.c->src, dev, &facts) ? facts.n_qp : -1;
	return counted == -EOPNOTSUPP ? 0 : counted;
}

static struct top_dev *new_dev(void)
{
	struct top_dev *td = calloc(1, sizeof(*td));

	if (td)
		td->packets = NO_PACKETS;
	return td;
}

/**
 * top_read - look at a device
 * @t: run
 * @d: device; if it is gone this is noted
 *
 * Return: 0, or a negative error number after reporting it.
 */
int top_read(struct top *t, struct live_dev *d)
{
	struct top_dev *td = d->priv;
	int ret, counted;

	if (!d->dev)
		return 0;
	if (!td)
		td = d->priv = new_dev();
	if (!td)
		return ctx_problem(t->live.c, ENOMEM, NULL, NULL, "out of memory");
	counted = read_counters(t, d->dev, td);
	if (d->dev->state == DEV_OTHER)
		ret = read_other(t, d->dev, td, counted);
	else
		ret = t->by == BY_DEV ? read_info(t, d->dev) : read_qps(t, d->dev, td);
	if (!ret && t->by == BY_DEV && d->dev->state != DEV_OTHER) {
		ret = counted;
		top_times(t, d->dev, td);
	}
	if (ret == -ENODEV && t->live.done) {
		top_dev_drop(td);
		d->priv = NULL;
		live_gone(&t->live, d);
		return 0;
	}
	if (!ret)
		return 0;
	return ctx_call_failed(t->live.c, d->dev, ret,
			       t->by == BY_DEV ? TARGET_STAT : TARGET_DEV, 0);
}
