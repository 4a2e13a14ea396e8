// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * many_pairs ADDRESS PORT COUNT: opens COUNT connections between itself and a process of its
 * own, prints "open PID" and keeps them until there is something on its standard input, or its
 * end. PID has the active ends.
 *
 * Each end has two completion queues of its own: it costs whoever looks at it as many queries
 * as a queue pair can.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rdma_ids.h"
#include "rdma_pair.h"

enum { DEPTH = 4, BACKLOG = 16 };

static void make_qp(struct rdma_cm_id *id)
{
	static struct ibv_pd *pd;
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = ibv_create_cq(id->verbs, DEPTH, NULL, NULL, 0),
		.recv_cq = ibv_create_cq(id->verbs, DEPTH, NULL, NULL, 0),
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	if (!pd)
		pd = ibv_alloc_pd(id->verbs);
	if (!pd || !attr.send_cq || !attr.recv_cq || rdma_create_qp(id, pd, &attr))
		die("a queue pair");
}

/* The other process waits for it */
static void signal_byte(int fd)
{
	if (write(fd, "", 1) != 1)
		die("write");
}

/* False: the other process has ended */
static bool wait_byte(int fd)
{
	char c;

	return read(fd, &c, 1) == 1;
}

static void take_request(struct rdma_cm_id *id)
{
	struct rdma_conn_param param;

	make_qp(id);
	param = param_of(id->qp->qp_num);
	if (rdma_accept(id, &param))
		die("rdma_accept");
}

/* Its end is that of the other process */
static void serve(char **argv, int count, int to, int from)
{
	struct rdma_cm_id *listener = bound_id(argv[1], argv[2]);
	struct rdma_cm_event *e;
	int established = 0;

	if (rdma_listen(listener, BACKLOG))
		die("rdma_listen");
	signal_byte(to);
	while (established < count) {
		e = next_event(listener->channel);
		if (!e)
			die("no event");
		if (e->event == RDMA_CM_EVENT_CONNECT_REQUEST)
			take_request(e->id);
		else if (e->event == RDMA_CM_EVENT_ESTABLISHED)
			established++;
		else
			die(rdma_event_str(e->event));
		rdma_ack_cm_event(e);
	}
	signal_byte(to);
	wait_byte(from);
	exit(0);
}

static void connect_one(char **argv)
{
	struct rdma_cm_id *id = resolved_id(argv[1], argv[2]);
	struct rdma_conn_param param;

	make_qp(id);
	param = param_of(id->qp->qp_num);
	if (rdma_connect(id, &param))
		die("rdma_connect");
	want(id, RDMA_CM_EVENT_ESTABLISHED);
}

int main(int argc, char **argv)
{
	int count = argc == 4 ? atoi(argv[3]) : 0, there[2], back[2];
	pid_t server;

	if (count < 1) {
		fprintf(stderr, "usage: many_pairs ADDRESS PORT COUNT\n");
		return 2;
	}
	if (pipe(there) || pipe(back))
		die("pipe");
	server = fork();
	if (server < 0)
		die("fork");
	if (!server) {
		close(there[1]);
		close(back[0]);
		serve(argv, count, back[1], there[0]);
	}
	close(there[0]);
	close(back[1]);
	if (!wait_byte(back[0]))
		return 1;
	for (int i = 0; i < count; i++)
		connect_one(argv);
	if (!wait_byte(back[0]))
		return 1;
	printf("open %d\n", getpid());
	fflush(stdout);
	wait_byte(STDIN_FILENO);
	close(there[1]);
	waitpid(server, NULL, 0);
	return 0;
}
