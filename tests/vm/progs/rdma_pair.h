/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two connected queue pairs in one process, for test programs.
 *
 * iWARP devices connect only through the RDMA connection manager; both ends are
 * driven here from one thread by waiting for each event in turn. Every wait has
 * a limit.
 */
#ifndef RDMA_PAIR_H
#define RDMA_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#ifndef PAIR_WAIT_MS
#define PAIR_WAIT_MS	20000
#endif

struct pair_side {
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_comp_channel *events;
	struct ibv_cq *cq;		/* of both queues */
	struct ibv_qp *qp;
};

struct pair {
	struct rdma_event_channel *channel_a, *channel_b;
	struct rdma_cm_id *listener;
	struct pair_side a;		/* active: connects */
	struct pair_side b;		/* passive: listens */
};

struct pair_options {
	const char *address_a;		/* NULL: what routing says */
	const char *address_b;
	uint32_t send_wr, recv_wr, send_sge, inline_bytes;	/* 0: a default */
	bool all_signaled;
	const void *private_data;	/* of the request; up to 255 bytes */
	uint8_t private_len;
	bool reject;			/* the passive side rejects */
	uint8_t got_private[256];	/* what the passive side received */
	uint8_t got_private_len;
	int connect_status;		/* of the event that ended a failed connect */
	enum rdma_cm_event_type connect_event;
};

/* 0, or a negative errno after a message on stderr. */
int pair_open(struct pair *p, struct pair_options *o);
void pair_close(struct pair *p);
/* pair_open() step by step: all but the connection, the request, its other side, ... */
int pair_prepare(struct pair *p, struct pair_options *o);
int pair_connect(struct pair *p);
int pair_answer(struct pair *p, struct pair_options *o);
int pair_accept(struct pair *p);
int pair_established(struct pair *p, struct pair_options *o);

/* A region of memory of one side, registered. */
struct region {
	uint8_t *p;
	size_t len;
	struct ibv_mr *mr;
	void *map;
	size_t map_len;
};

/* @offset moves the start inside its first page. */
int region_new(struct region *r, struct pair_side *s, size_t len, size_t offset, int access);
void region_free(struct region *r);

/* A pattern that differs at every position and for every seed. */
void pattern_fill(void *p, size_t len, uint32_t seed);
bool pattern_is(const void *p, size_t len, uint32_t seed);

/* Waits for the next completion; false after PAIR_WAIT_MS. */
bool next_wc(struct ibv_cq *cq, struct ibv_wc *wc);

/* Takes and acknowledges one completion event; false after PAIR_WAIT_MS. */
bool next_cq_event(struct pair_side *s);

/* The next event of a connection manager channel; NULL after PAIR_WAIT_MS. */
struct rdma_cm_event *next_event(struct rdma_event_channel *channel);

#endif
