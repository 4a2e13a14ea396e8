// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * churn ADDRESS KIND COUNT: makes and destroys COUNT objects of a kind, pd cq qp mr or
 * connection (both ends here). Prints "KIND made N, failed N, in N ms".
 *
 * A connection may be ended by an event while it is made: that counts as failed. A pd, cq,
 * qp or mr may not: exit status 1.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rdma_pair.h"

#define MR_LEN	65536

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static void *memory;
static const char *address;

static int fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	return -1;
}

static int make_pd(void)
{
	struct ibv_pd *one = ibv_alloc_pd(context);

	return one && !ibv_dealloc_pd(one) ? 0 : fail("pd");
}

static int make_cq(void)
{
	struct ibv_cq *one = ibv_create_cq(context, 64, NULL, NULL, 0);

	return one && !ibv_req_notify_cq(one, 0) && !ibv_destroy_cq(one) ? 0 : fail("cq");
}

static int make_qp(void)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *one = ibv_create_qp(pd, &attr);

	return one && !ibv_destroy_qp(one) ? 0 : fail("qp");
}

static int make_mr(void)
{
	struct ibv_mr *one = ibv_reg_mr(pd, memory, MR_LEN, IBV_ACCESS_LOCAL_WRITE);

	return one && !ibv_dereg_mr(one) ? 0 : fail("mr");
}

static int make_connection(void)
{
	struct pair_options o = { .address_b = address, .send_wr = 4, .recv_wr = 4 };
	struct pair p;
	int ret = pair_open(&p, &o);

	pair_close(&p);
	return ret ? 1 : 0;
}

static const struct kind {
	const char *name;
	int (*make)(void);	/* 0, 1: ended meanwhile, -1: wrong */
} kinds[] = {
	{ "pd", make_pd }, { "cq", make_cq }, { "qp", make_qp }, { "mr", make_mr },
	{ "connection", make_connection },
};

static int setup(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	context = list && *list ? ibv_open_device(*list) : NULL;
	pd = context ? ibv_alloc_pd(context) : NULL;
	cq = pd ? ibv_create_cq(context, 64, NULL, NULL, 0) : NULL;
	memory = aligned_alloc(4096, MR_LEN);
	if (!cq || !memory)
		return fail("no device");
	memset(memory, 1, MR_LEN);
	return 0;
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int churn(const struct kind *kind, int count)
{
	int made = 0, failed = 0;
	long begin = now_ms();

	for (int i = 0; i < count; i++) {
		int ret = kind->make();

		if (ret < 0) {
			fprintf(stderr, "%s %d of %d\n", kind->name, i, count);
			return 1;
		}
		made += !ret;
		failed += ret;
	}
	printf("%s made %d, failed %d, in %ld ms\n", kind->name, made, failed, now_ms() - begin);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 4 || setup())
		return 2;
	address = argv[1];
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(argv[2], kinds[i].name))
			return churn(&kinds[i], atoi(argv[3]));
	fprintf(stderr, "no kind %s\n", argv[2]);
	return 2;
}
