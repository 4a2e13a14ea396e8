/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands that go on: an interval after the other until somebody has enough, and devices that
 * are lost and replaced meanwhile.
 */
#ifndef EADM_LIVE_H
#define EADM_LIVE_H

#include "cmd.h"

/**
 * enum live_event - why a wait is over
 * @LIVE_TICK: the next interval begins
 * @LIVE_RESIZED: the terminal has another size
 * @LIVE_KEY: there is something to read on standard input
 * @LIVE_NEWS: a recorder has an entry that was not read, or a device is gone
 * @LIVE_DONE: there were as many intervals as were asked for, or the time is over
 * @LIVE_INTERRUPTED: a signal asks for the end
 * @LIVE_CLOSED: nobody reads standard output any more
 */
enum live_event {
	LIVE_TICK,
	LIVE_RESIZED,
	LIVE_KEY,
	LIVE_NEWS,
	LIVE_DONE,
	LIVE_INTERRUPTED,
	LIVE_CLOSED,
};

/**
 * struct live_dev - a device that is looked at again and again
 * @next: next one
 * @name: name of the RDMA device
 * @dev: what is known of it; NULL: it is gone
 * @priv: of the command
 */
struct live_dev {
	struct live_dev *next;
	char name[DEV_NAME_LEN];
	struct dev *dev;
	void *priv;
};

/**
 * struct live - a command that goes on
 * @c: run
 * @interval_ns: time between two readings
 * @count: intervals wanted, 0: no limit
 * @done: intervals that are over
 * @begun: there was an interval
 * @keys: standard input is looked at
 * @nodes: so are the nodes of the devices
 * @next_ns: when the next interval begins
 * @end_ns: when the time is over, 0: never
 * @base: memory in front of the devices
 * @mark: memory behind the devices; what comes later is that of one interval
 * @devs: devices
 */
struct live {
	struct ctx *c;
	uint64_t interval_ns;
	uint32_t count;
	uint32_t done;
	bool begun;
	bool keys;
	bool nodes;
	uint64_t next_ns;
	uint64_t end_ns;
	struct pool_block *base;
	struct pool_block *mark;
	struct live_dev *devs;
};

int live_options(struct ctx *c, const struct args *a, uint64_t *ms, uint32_t *count);
int live_begin(struct live *l, struct ctx *c, uint64_t ms, uint32_t count);
int live_find(struct live *l, unsigned int flags);
enum live_event live_wait(struct live *l);
int live_ended(struct live *l, enum live_event why);
void live_next(struct live *l, unsigned int flags);
void live_gone(struct live *l, struct live_dev *d);
int live_emit(struct live *l);
void live_end(struct live *l, void (*drop)(void *priv));

#endif /* EADM_LIVE_H */
