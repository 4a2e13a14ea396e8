// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Operations for faults.c: the creation of one object each, by a process. What it
 * needs is there before the fault is armed; the end of the try's process ends all.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "faults.h"
#include "fixture.h"

#define SMALL	4096u
#define LARGE	(4u << 20)	/* its table has two levels unless its pages are contiguous */

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static uint8_t *memory;
static struct pair pair;
static struct pair_options options;

/* ---- verbs ------------------------------------------------------------------- */

static struct ibv_device *first_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	return list ? *list : NULL;	/* the process ends soon */
}

static int context_prepare(void)
{
	return first_device() ? 0 : ENODEV;
}

static int context_run(void)
{
	struct ibv_device *dev = first_device();

	return dev && ibv_open_device(dev) ? 0 : ENOMEM;
}

static int pd_prepare(void)
{
	struct ibv_device *dev = first_device();

	context = dev ? ibv_open_device(dev) : NULL;
	return context ? 0 : ENODEV;
}

static int pd_run(void)
{
	pd = ibv_alloc_pd(context);
	return pd ? 0 : errno;
}

static int cq_prepare(void)
{
	return pd_prepare() || pd_run() ? EIO : 0;
}

static int cq_run(void)
{
	cq = ibv_create_cq(context, 256, NULL, NULL, 0);
	return cq ? 0 : errno;
}

static int qp_prepare(void)
{
	return cq_prepare() || cq_run() ? EIO : 0;
}

static int qp_run(void)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	return ibv_create_qp(pd, &attr) ? 0 : errno;
}

/* Pages are touched in an order that scatters them */
static int mr_prepare(void)
{
	if (cq_prepare())
		return EIO;
	memory = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise(memory, LARGE, MADV_NOHUGEPAGE))
		return errno;
	for (size_t first = 0; first < 2; first++)
		for (size_t at = first * SMALL; at < LARGE; at += 2 * SMALL)
			memory[at] = 1;
	return 0;
}

static int mr_small_run(void)
{
	return ibv_reg_mr(pd, memory, SMALL, ALL_RIGHTS) ? 0 : errno;
}

static int mr_large_run(void)
{
	return ibv_reg_mr(pd, memory + 100, LARGE - 100, IBV_ACCESS_LOCAL_WRITE) ? 0 : errno;
}

/* ---- connections --------------------------------------------------------------- */

static int listen_prepare(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET };

	if (inet_pton(AF_INET, arg1, &in.sin_addr) != 1)
		return EINVAL;
	options.address_b = arg1;
	pair.channel_b = rdma_create_event_channel();
	if (!pair.channel_b || rdma_create_id(pair.channel_b, &pair.listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(pair.listener, (struct sockaddr *)&in))
		return errno;
	return 0;
}

static int listen_run(void)
{
	return rdma_listen(pair.listener, 16) ? errno : 0;
}

static int connect_prepare(void)
{
	options.address_b = arg1;
	return -pair_prepare(&pair, &options);
}

static int connect_run(void)
{
	return pair_connect(&pair) ? errno : 0;
}

static int connect_settle(bool struck)
{
	(void)struck;
	return -pair_answer(&pair, &options) ? : -pair_accept(&pair) ? : -pair_established(&pair, &options);
}

static int accept_prepare(void)
{
	int err = connect_prepare();

	if (!err)
		err = connect_run();
	return err ? err : -pair_answer(&pair, &options);
}

static int accept_run(void)
{
	return -pair_accept(&pair);
}

static int accept_settle(bool struck)
{
	(void)struck;
	return -pair_established(&pair, &options);
}

const struct operation object_operations[] = {
	{ "create-context", 1, false, context_prepare, context_run, NULL, NULL },
	{ "create-pd", 1, false, pd_prepare, pd_run, NULL, NULL },
	{ "create-cq", 1, false, cq_prepare, cq_run, NULL, NULL },
	{ "create-qp", 1, false, qp_prepare, qp_run, NULL, NULL },
	{ "create-mr", 1, false, mr_prepare, mr_small_run, NULL, NULL },
	{ "create-mr-large", 1, false, mr_prepare, mr_large_run, NULL, NULL },
	{ "create-listener", 1, false, listen_prepare, listen_run, NULL, NULL },
	{ "connect", 1, false, connect_prepare, connect_run, connect_settle, NULL },
	{ "accept", 1, false, accept_prepare, accept_run, accept_settle, NULL },
	{ }
};
