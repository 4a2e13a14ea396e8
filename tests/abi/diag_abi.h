/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the parts of diag_abi: the node, one call, a child without rights. */
#ifndef DIAG_ABI_H
#define DIAG_ABI_H

#include <stddef.h>
#include <stdint.h>

#include "uapi/erdma_diag.h"
#include "tap.h"

#define NOBODY 65534

/* One line per test; the tables are in the .c files. */
extern const struct tap_test dispatch_tests[], object_tests[], memory_tests[], rights_tests[],
	log_tests[], snapshot_tests[];
extern const int n_dispatch_tests, n_object_tests, n_memory_tests, n_rights_tests, n_log_tests,
	n_snapshot_tests;

struct command {
	const char *name;
	unsigned int cmd;
	uint32_t size;
	uint32_t first;		/* size of the first version */
	uint32_t flags;		/* known bits */
};

#define N_COMMANDS 8
extern const struct command commands[N_COMMANDS];

/* Largest argument, and room for a longer one from the future. */
union argument {
	struct {
		uint32_t size;
		uint32_t flags;
	} head;
	struct erdma_diag_info info;
	struct erdma_diag_list list;
	struct erdma_diag_context context;
	struct erdma_diag_ring_read ring;
	struct erdma_diag_debug debug;
	struct erdma_diag_log log;
	struct erdma_diag_snapshot snapshot;
	struct erdma_diag_recover recover;
	uint8_t bytes[8192];
};

extern int node;		/* /dev/erdma/diag0, opened by root */
extern const char *node_path;

/* Returns 0 or the (positive) errno of the call. */
int call(int fd, unsigned int cmd, void *arg);
/* A valid argument of the command: nothing in it can be refused. */
void valid_argument(const struct command *c, union argument *arg);
int list(int fd, struct erdma_diag_list *arg, void *buf, uint32_t len);
const void *find_record(const void *buf, uint32_t len, int type);

/* Runs fn in a child that is nobody: 0 if it returned true. */
bool as_nobody(bool (*fn)(void));
/* The same, and nobody may open the node meanwhile. */
bool nobody_may(bool (*fn)(void));
bool in_child(bool (*fn)(void), bool drop);

/* A QP of this process. */
struct own_qp {
	uint32_t qpn;
	uint32_t cqn;
	uint32_t sq_depth;
	uint32_t lkey;		/* of its memory region */
	uint32_t rkey;
	uint64_t addr;		/* of its memory */
	uint64_t length;
	void *priv;
};

bool own_qp_open(struct own_qp *q);
bool own_qp_post(struct own_qp *q, int count);
void own_qp_close(struct own_qp *q);

#endif
