/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is busy now: queue pairs from one interval to the next, how often the device may be asked
 * about them, and sums of them.
 */
#ifndef EADM_TOP_H
#define EADM_TOP_H

#include "card.h"
#include "counter_set.h"
#include "live.h"

/**
 * enum top_rate - rates, in the order of the fields of schema_top_row
 * @RATE_TX_BITS: bits sent, of a device
 * @RATE_RX_BITS: bits received, of a device
 * @RATE_TX: packets sent
 * @RATE_RX: packets received
 * @RATE_SENDS: completions of sends
 * @RATE_RECVS: completions of receives
 * @RATE_POSTS: blocks and receives that were posted
 * @RATE_TIMEOUTS: retransmission timeouts
 * @RATE_DROPS: packets dropped
 * @RATE_EVENTS: completion events
 * @RATE_CMDS: commands
 * @RATE_COUNT: their number
 */
enum top_rate {
	RATE_TX_BITS, RATE_RX_BITS, RATE_TX, RATE_RX, RATE_SENDS, RATE_RECVS, RATE_POSTS,
	RATE_TIMEOUTS, RATE_DROPS, RATE_EVENTS, RATE_CMDS,
	RATE_COUNT
};

/**
 * struct top_rates - some of them
 * @known: bit n: rate n is known
 * @v: per second
 */
struct top_rates {
	uint32_t known;
	double v[RATE_COUNT];
};

#define NO_PACKETS	UINT64_MAX

/*
 * A count of 16 bits may have gone round if there were more packets: half of 2^16, because the
 * counters may be a little older than the contexts
 */
#define ROUND_PACKETS	32768

/* Fewer than @limit packets in between, as far as is known */
static inline bool few_packets(uint64_t from, uint64_t to, uint64_t limit)
{
	return from != NO_PACKETS && to != NO_PACKETS && to >= from && to - from < limit;
}

/**
 * struct top_view - a queue pair's context at one time
 * @ns: CLOCK_MONOTONIC, 0: there is none yet
 * @packets: sent and received by the device until then; NO_PACKETS: not known
 * @card: context
 */
struct top_view {
	uint64_t ns;
	uint64_t packets;
	struct card_qp card;
};

/**
 * struct top_qp - a queue pair
 * @qp: record of the driver
 * @ns: when that was read
 * @view: newest context
 * @next: the first one of this interval, until it is known whether counts went round
 * @soon: one soon after @next
 * @rates: newest rates
 * @rates_ns: when the context's were measured, 0: not yet
 * @asked_ns: when the device was last asked, 0: not yet
 * @wanted: the device is to be asked in this interval
 * @again: ... and more often: counts may have gone round since @view
 * @posting: its owner posted between the last two listings
 * @moving: the device did something for it between the last two contexts
 * @guess: counts may have gone round: the rates are estimates
 */
struct top_qp {
	struct erdma_diag_qp qp;
	uint64_t ns;
	struct top_view view;
	struct top_view next;
	struct top_view soon;
	struct top_rates rates;
	uint64_t rates_ns;
	uint64_t asked_ns;
	bool wanted;
	bool again;
	bool posting;
	bool moving;
	bool guess;
};

/**
 * struct top_budget - how many contexts an interval may have
 * @interval_ns: its length
 * @ask_ns: CPU time of one question
 * @rest_ns: CPU time of everything else
 */
struct top_budget {
	uint64_t interval_ns;
	uint64_t ask_ns;
	uint64_t rest_ns;
};

/**
 * struct top_times - times of a device's commands, of all opcodes
 * @known: they could be read
 * @bucket: as in struct erdma_diag_log_cmd_time
 * @max_ns: of the slowest
 */
struct top_times {
	bool known;
	uint64_t bucket[ERDMA_DIAG_LOG_BUCKETS];
	uint64_t max_ns;
};

/**
 * struct top_dev - a device
 * @qp: queue pairs by number
 * @n: their number
 * @cap: room
 * @counters: of the port
 * @rates: of the device
 * @packets: that it ever sent and received; NO_PACKETS: not known
 * @calm: so few of them within the interval that no count of 16 bits went round
 * @listed_ns: when the queue pairs were last listed, 0: not yet
 * @listed_packets: @packets at that time
 * @asked: questions in this interval
 * @call_ns: longest call with questions in this interval
 * @silent: the device did not answer in time
 * @qps: queue pairs of another driver's device, -1: not known
 * @times: of commands
 * @has_times: the driver records them
 * @p99_ns: what 99 of 100 commands of this interval took at most, 0: there was none
 */
struct top_dev {
	struct top_qp *qp;
	size_t n;
	size_t cap;
	struct counter_set counters;
	struct top_rates rates;
	uint64_t packets;
	bool calm;
	uint64_t listed_ns;
	uint64_t listed_packets;
	uint32_t asked;
	uint64_t call_ns;
	bool silent;
	long qps;
	struct top_times times;
	bool has_times;
	uint64_t p99_ns;
};

/**
 * enum top_by - what a row is
 * @BY_DEV: a device
 * @BY_QP: a queue pair
 * @BY_PID: a process, or a part of the kernel
 * @BY_CGROUP: a control group
 */
enum top_by { BY_DEV, BY_QP, BY_PID, BY_CGROUP };

/**
 * struct top_names - names of control groups
 * @next: next one
 * @id: number
 * @path: path below the root of the tree
 */
struct top_names {
	struct top_names *next;
	uint64_t id;
	char path[PROC_CGROUP_LEN];
};

/**
 * struct top - one run
 * @live: intervals
 * @by: rows
 * @sort: --sort or NULL
 * @max_rows: rows at most, 0: no limit
 * @list_ns: CPU time of the last listing
 * @ask_ns: CPU time of the questions of this interval
 * @asked: their number
 * @budget: of questions
 * @names: control groups
 * @said: notes that were given
 */
struct top {
	struct live live;
	enum top_by by;
	const char *sort;
	size_t max_rows;
	uint64_t list_ns;
	uint64_t ask_ns;
	uint32_t asked;
	struct top_budget budget;
	struct top_names *names;
	unsigned int said;
};

/* top_ask.c */
uint32_t budget_limit(const struct top_budget *b);
void budget_learn(struct top_budget *b, uint32_t asked, uint64_t ask_ns, uint64_t rest_ns);
uint32_t choose_asked(struct top_qp *qp, size_t n, uint32_t limit);

/* top_rate.c */
uint64_t rate_unwrap(uint16_t delta, uint64_t span_ns, uint64_t burst, uint64_t burst_ns);
void rates_between(struct top_rates *r, const struct top_view *from, const struct top_view *to,
		   const struct top_view *soon, const struct top_view *later);
void rate_set(struct top_rates *r, enum top_rate which, double delta, uint64_t ns);

/* top_cmd.c */
uint64_t times_p99(const struct top_times *before, const struct top_times *now);
void top_times(struct top *t, struct dev *dev, struct top_dev *td);

/* top_read.c */
int top_read(struct top *t, struct live_dev *d);
bool top_can_ask(const struct top *t, const struct dev *dev);
void top_dev_drop(void *priv);

/* top_qps.c */
int top_list(struct top *t, struct dev *dev, struct top_dev *td);
int top_ask(struct top *t, struct dev *dev, struct top_dev *td);

/* top_rows.c */
void top_rows(struct top *t);

#endif /* EADM_TOP_H */
