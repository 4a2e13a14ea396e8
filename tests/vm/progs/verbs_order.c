// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * In which order do requests to connect arrive? verbs_order ADDRESS PORT CONNECTIONS ROUNDS
 *
 * In each round so many ids connect, one after the other, without waiting for an answer; each
 * request carries its number. All are rejected. Prints how many rounds there were in order.
 * Programs with several queue pairs rely on it: perftest gives credit to the other end's
 * queue pair with the same number.
 */
#include <stdio.h>
#include <stdlib.h>

#include "rdma_ids.h"
#include "rdma_pair.h"

#define MOST	64

static const char *address, *port;
static struct ibv_qp *qps[MOST];
static int connections;

static void connect_all(struct rdma_cm_id **ids)
{
	for (int i = 0; i < connections; i++) {
		ids[i] = resolved_id(address, port);
		if (!qps[i])
			qps[i] = new_qp(ids[i]->verbs);
	}
	for (int i = 0; i < connections; i++) {
		struct rdma_conn_param param = param_of(qps[i]->qp_num);
		uint8_t number = (uint8_t)i;

		param.private_data = &number;
		param.private_data_len = sizeof(number);
		if (rdma_connect(ids[i], &param))
			die("rdma_connect");
	}
}

/* Are the requests in the order of their numbers? */
static bool reject_all(struct rdma_cm_id *listener)
{
	bool in_order = true;

	for (int i = 0; i < connections; i++) {
		struct rdma_cm_event *e = next_event(listener->channel);
		struct rdma_cm_id *id;

		if (!e || e->event != RDMA_CM_EVENT_CONNECT_REQUEST ||
		    !e->param.conn.private_data_len)
			die("no request");
		in_order &= *(const uint8_t *)e->param.conn.private_data == i;
		id = e->id;
		rdma_ack_cm_event(e);
		if (rdma_reject(id, NULL, 0))
			die("rdma_reject");
		rdma_destroy_id(id);
	}
	return in_order;
}

static void end_all(struct rdma_cm_id **ids)
{
	for (int i = 0; i < connections; i++) {
		struct rdma_event_channel *channel = ids[i]->channel;

		want(ids[i], RDMA_CM_EVENT_REJECTED);
		rdma_destroy_id(ids[i]);
		rdma_destroy_event_channel(channel);
	}
}

int main(int argc, char **argv)
{
	int rounds = argc == 5 ? atoi(argv[4]) : 0, good = 0;
	struct rdma_cm_id *ids[MOST], *listener;

	connections = rounds > 0 ? atoi(argv[3]) : 0;
	if (connections < 1 || connections > MOST) {
		fprintf(stderr, "usage: see verbs_order.c\n");
		return 1;
	}
	address = argv[1];
	port = argv[2];
	listener = bound_id(address, port);
	if (rdma_listen(listener, MOST))
		die("rdma_listen");
	for (int i = 0; i < rounds; i++) {
		connect_all(ids);
		good += reject_all(listener);
		end_all(ids);
	}
	printf("%d of %d in order\n", good, rounds);
	return 0;
}
