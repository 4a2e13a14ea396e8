/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A test bed: two connected sides with a region each, and short forms of verbs. */
#ifndef BED_H
#define BED_H

#include "rdma_pair.h"
#include "tap.h"

#define ALL_RIGHTS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | \
			 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

struct bed {
	struct pair p;
	struct region a, b;
};

bool bed_open(struct bed *t, size_t len, struct pair_options o);
void bed_close(struct bed *t);
/* Runs @body on an open bed; always closes it. */
bool with_bed(size_t len, struct pair_options o, bool (*body)(struct bed *t));

struct ibv_sge sge_of(const struct region *r, size_t at, size_t len);
struct ibv_send_wr signaled(enum ibv_wr_opcode opcode, uint64_t id, struct ibv_sge *list, int num);
struct ibv_send_wr one_sided(enum ibv_wr_opcode opcode, uint64_t id, struct ibv_sge *list, int num,
			     const struct region *remote, size_t at);
bool post_recv(struct pair_side *s, struct ibv_sge sge, uint64_t id);
bool post(struct pair_side *s, struct ibv_send_wr wr);

/* The next completion of a side is this one and went well. */
bool done(struct pair_side *s, uint64_t id, enum ibv_wc_opcode opcode, struct ibv_wc *out);
/* The next completion of a side is this one and failed so. */
bool failed(struct pair_side *s, uint64_t id, enum ibv_wc_status status);

/* The addresses: PASSIVE[,ACTIVE]; without the latter active is NULL. */
void bed_set_addresses(const char *text);
const char *bed_passive(void);
const char *bed_active(void);

/* main() of a program: PASSIVE[,ACTIVE] addresses, then a pattern of test names. */
int bed_main(int argc, char **argv, const struct tap_test *tests, int count);

#endif
