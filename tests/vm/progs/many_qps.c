// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * many_qps COUNT: opens COUNT queue pairs on the first RDMA device, prints
 * "open" and keeps them until there is something on its standard input, or its end.
 *
 * Each has its own send and receive queue; 64 share a completion queue.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <infiniband/verbs.h>

enum { QPS_PER_CQ = 64 };

static int fail(const char *what, int n)
{
	fprintf(stderr, "%s (number %d): %s\n", what, n, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0, cqs = (count + QPS_PER_CQ - 1) / QPS_PER_CQ;
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && *list ? ibv_open_device(*list) : NULL;
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	struct ibv_qp **qp = calloc((size_t)count, sizeof(*qp));
	struct ibv_cq **cq = calloc((size_t)cqs, sizeof(*cq));
	char c;

	if (count < 1 || !pd || !qp || !cq)
		return fail("no device, or no COUNT", count);
	for (int i = 0; i < cqs; i++) {
		cq[i] = ibv_create_cq(context, 16 * QPS_PER_CQ, NULL, NULL, 0);
		if (!cq[i])
			return fail("ibv_create_cq", i);
	}
	for (int i = 0; i < count; i++) {
		struct ibv_qp_init_attr attr = {
			.qp_type = IBV_QPT_RC, .send_cq = cq[i / QPS_PER_CQ],
			.recv_cq = cq[i / QPS_PER_CQ],
			.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		};

		qp[i] = ibv_create_qp(pd, &attr);
		if (!qp[i])
			return fail("ibv_create_qp", i);
	}
	puts("open");
	fflush(stdout);
	if (read(0, &c, 1) < 0)
		return fail("standard input", 0);
	for (int i = 0; i < count; i++) {
		if (ibv_destroy_qp(qp[i]))
			return fail("ibv_destroy_qp", i);
	}
	puts("closed");
	return 0;
}
