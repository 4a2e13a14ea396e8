/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ids of the RDMA connection manager and queue pairs, one by one, for test programs. What
 * fails ends the program with status 1 and a message.
 */
#ifndef RDMA_IDS_H
#define RDMA_IDS_H

#include <stdint.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

void die(const char *what);

/* The next event of the id's channel, which must be of this type; it is acknowledged. */
void want(struct rdma_cm_id *id, enum rdma_cm_event_type type);

/* With a channel of its own: ready to connect; bound. */
struct rdma_cm_id *resolved_id(const char *address, const char *port);
struct rdma_cm_id *bound_id(const char *address, const char *port);

/* A queue pair that no id knows, and how it is connected. */
struct ibv_qp *new_qp(struct ibv_context *verbs);
struct rdma_conn_param param_of(uint32_t qpn);

#endif
