/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects chosen by their owner, peer or state instead of their number. */
#ifndef EADM_FILTER_H
#define EADM_FILTER_H

#include "cmd.h"

/**
 * struct filter - what a wanted object is like
 * @state: state of a QP, or NULL
 * @comm: pattern of the owner's name, or NULL
 * @by_pid: @pid counts
 * @pid: owner
 * @by_peer: @addr counts
 * @by_port: @port counts, too
 * @addr: address of the peer
 * @port: port of the peer
 */
struct filter {
	const char *state;
	const char *comm;
	bool by_pid;
	uint32_t pid;
	bool by_peer;
	bool by_port;
	char addr[46];
	uint32_t port;
};

/**
 * struct choice - the objects that a command line means
 * @ids: numbers
 * @f: what they are like, if @by_filter
 * @by_filter: options choose; @ids, if there are any, limit them
 * @devs: DEVS_*, which devices it is about
 */
struct choice {
	struct id_set ids;
	struct filter f;
	bool by_filter;
	unsigned int devs;
};

int filter_parse(struct ctx *c, const struct args *a, struct filter *f);
bool filter_wants(const struct filter *f, const struct obj *row);
int choice_parse(struct ctx *c, const struct args *a, const char *kind, struct choice *choice);
int each_chosen(struct ctx *c, struct dev *dev, enum target t, const struct choice *choice,
		int (*fn)(struct ctx *c, struct dev *dev, uint32_t id, void *arg), void *arg);
void note_no_match(struct ctx *c, const struct choice *choice);

#endif /* EADM_FILTER_H */
