// SPDX-License-Identifier: GPL-2.0-or-later
/* Ids of the RDMA connection manager and queue pairs, one by one. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rdma_ids.h"
#include "rdma_pair.h"

void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static struct sockaddr_in address_of(const char *text, const char *port)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(port)),
	};

	if (inet_pton(AF_INET, text, &in.sin_addr) != 1)
		die(text);
	return in;
}

static struct rdma_cm_id *new_id(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		die("rdma_create_id");
	return id;
}

void want(struct rdma_cm_id *id, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *e = next_event(id->channel);

	if (!e || e->event != type)
		die(e ? rdma_event_str(e->event) : "no event");
	rdma_ack_cm_event(e);
}

struct rdma_cm_id *resolved_id(const char *address, const char *port)
{
	struct sockaddr_in to = address_of(address, port);
	struct rdma_cm_id *id = new_id();

	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, PAIR_WAIT_MS))
		die("rdma_resolve_addr");
	want(id, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, PAIR_WAIT_MS))
		die("rdma_resolve_route");
	want(id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return id;
}

struct rdma_cm_id *bound_id(const char *address, const char *port)
{
	struct sockaddr_in in = address_of(address, port);
	struct rdma_cm_id *id = new_id();

	if (rdma_bind_addr(id, (struct sockaddr *)&in))
		die("rdma_bind_addr");
	return id;
}

/* A QP that no id knows */
struct ibv_qp *new_qp(struct ibv_context *verbs)
{
	struct ibv_pd *pd = ibv_alloc_pd(verbs);
	struct ibv_cq *cq = ibv_create_cq(verbs, 16, NULL, NULL, 0);
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = pd && cq ? ibv_create_qp(pd, &attr) : NULL;

	if (!qp)
		die("ibv_create_qp");
	return qp;
}

struct rdma_conn_param param_of(uint32_t qpn)
{
	return (struct rdma_conn_param){
		.qp_num = qpn, .responder_resources = 1, .initiator_depth = 1,
	};
}
