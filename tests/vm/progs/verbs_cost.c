// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * verbs_cost ADDRESS BATCHES [OPERATION...]: does each operation on the control path many
 * times, each batch between marks of tools/plugin: in a VM with that plugin its
 * instructions are counted, elsewhere nothing happens.
 *
 * Prints "cost TAG OPERATION COUNT" for each: the number of its sections, and how often
 * the operation is done in one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <sys/mman.h>

#include "mark.h"
#include "rdma_pair.h"

#define PAGE		4096ul
#define MIB		(1ul << 20)
#define LARGE		(64 * MIB)
#define SETTLE_US	20000	/* what goes on after the last event of a connection */

/**
 * struct bench - what operations need
 * @listener: bound to the address of the device
 * @active: events of whom connects
 * @passive: events of @listener and whom it accepts
 * @to: address of @listener
 * @verbs: its device
 * @pd: for all QPs and regions
 * @cq: for all QPs
 * @memory: LARGE bytes of single pages
 */
struct bench {
	struct rdma_cm_id *listener;
	struct rdma_event_channel *active;
	struct rdma_event_channel *passive;
	struct sockaddr_in to;
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	char *memory;
};

static int fail(const char *what)
{
	fprintf(stderr, "verbs_cost: %s: %s\n", what, strerror(errno));
	return -1;
}

/* ---- objects -------------------------------------------------------------- */

static struct ibv_qp *new_qp(struct bench *b)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .send_cq = b->cq, .recv_cq = b->cq,
		.cap = { .max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	return ibv_create_qp(b->pd, &attr);
}

static int one_qp(struct bench *b)
{
	struct ibv_qp *qp = new_qp(b);

	return qp ? ibv_destroy_qp(qp) : -1;
}

static int one_cq(struct bench *b)
{
	struct ibv_cq *cq = ibv_create_cq(b->verbs, 256, NULL, NULL, 0);

	return cq ? ibv_destroy_cq(cq) : -1;
}

static int one_pd(struct bench *b)
{
	struct ibv_pd *pd = ibv_alloc_pd(b->verbs);

	return pd ? ibv_dealloc_pd(pd) : -1;
}

static int one_mr(struct bench *b, size_t len)
{
	struct ibv_mr *mr = ibv_reg_mr(b->pd, b->memory, len,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				       IBV_ACCESS_REMOTE_WRITE);

	return mr ? ibv_dereg_mr(mr) : -1;
}

static int one_mr_4k(struct bench *b)
{
	return one_mr(b, PAGE);
}

static int one_mr_1m(struct bench *b)
{
	return one_mr(b, MIB);
}

static int one_mr_64m(struct bench *b)
{
	return one_mr(b, LARGE);
}

static int one_context(struct bench *b)
{
	struct ibv_context *verbs = ibv_open_device(b->verbs->device);

	return verbs ? ibv_close_device(verbs) : -1;
}

static int one_query_device(struct bench *b)
{
	struct ibv_device_attr attr;

	return ibv_query_device(b->verbs, &attr);
}

/* ---- connections ----------------------------------------------------------- */

/**
 * struct link - one connection
 * @a: who connects
 * @b: whom the listener accepts
 * @qp_a: QP of @a, made before
 * @qp_b: QP of @b
 */
struct link {
	struct rdma_cm_id *a;
	struct rdma_cm_id *b;
	struct ibv_qp *qp_a;
	struct ibv_qp *qp_b;
};

static int want(struct rdma_event_channel *channel, enum rdma_cm_event_type type,
		struct rdma_cm_id **id)
{
	struct rdma_cm_event *e = next_event(channel);
	bool good = e && e->event == type;

	if (good && id)
		*id = e->id;
	if (e && !good)
		fprintf(stderr, "verbs_cost: event %s instead of %s\n", rdma_event_str(e->event),
			rdma_event_str(type));
	if (e)
		rdma_ack_cm_event(e);
	return good ? 0 : -1;
}

static int link_prepare(struct bench *b, struct link *l)
{
	memset(l, 0, sizeof(*l));
	l->qp_a = new_qp(b);
	l->qp_b = new_qp(b);
	if (!l->qp_a || !l->qp_b || rdma_create_id(b->active, &l->a, NULL, RDMA_PS_TCP))
		return fail("QPs and an id");
	if (rdma_resolve_addr(l->a, NULL, (struct sockaddr *)&b->to, 10000) ||
	    want(b->active, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) ||
	    rdma_resolve_route(l->a, 10000) ||
	    want(b->active, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL))
		return fail("the way to the listener");
	return 0;
}

static int link_up(struct bench *b, struct link *l)
{
	struct rdma_conn_param param = { .responder_resources = 16, .initiator_depth = 16 };

	param.qp_num = l->qp_a->qp_num;
	if (rdma_connect(l->a, &param) ||
	    want(b->passive, RDMA_CM_EVENT_CONNECT_REQUEST, &l->b))
		return fail("rdma_connect");
	param.qp_num = l->qp_b->qp_num;
	if (rdma_accept(l->b, &param) ||
	    want(b->active, RDMA_CM_EVENT_ESTABLISHED, NULL) ||
	    want(b->passive, RDMA_CM_EVENT_ESTABLISHED, NULL))
		return fail("rdma_accept");
	return 0;
}

static int link_down(struct bench *b, struct link *l)
{
	if (rdma_disconnect(l->a) ||
	    want(b->passive, RDMA_CM_EVENT_DISCONNECTED, NULL) ||
	    rdma_disconnect(l->b) ||
	    want(b->active, RDMA_CM_EVENT_DISCONNECTED, NULL))
		return fail("rdma_disconnect");
	usleep(SETTLE_US);
	return 0;
}

static void link_free(struct link *l)
{
	if (l->a)
		rdma_destroy_id(l->a);
	if (l->b)
		rdma_destroy_id(l->b);
	if (l->qp_a)
		ibv_destroy_qp(l->qp_a);
	if (l->qp_b)
		ibv_destroy_qp(l->qp_b);
}

/* Ids and QPs are made and destroyed outside of the section: connecting alone counts */
static int measure_connect(struct bench *b, unsigned int tag)
{
	struct link l;
	int ret;

	ret = link_prepare(b, &l);
	if (!ret) {
		mark_begin(tag);
		ret = link_up(b, &l);
		if (!ret)
			ret = link_down(b, &l);
		mark_end();
	}
	link_free(&l);
	return ret;
}

/* ---- measuring ------------------------------------------------------------- */

/**
 * struct op - an operation
 * @name: of it
 * @count: how often in one batch
 * @once: does it, 0 on success; NULL: measure_connect()
 */
static const struct op {
	const char *name;
	int count;
	int (*once)(struct bench *b);
} ops[] = {
	{ "pd", 20, one_pd },
	{ "cq", 10, one_cq },
	{ "qp", 10, one_qp },
	{ "mr_4k", 10, one_mr_4k },
	{ "mr_1m", 4, one_mr_1m },
	{ "mr_64m", 1, one_mr_64m },
	{ "context", 4, one_context },
	{ "query_device", 20, one_query_device },
	{ "connect", 1, NULL },
};

enum { OPS = sizeof(ops) / sizeof(ops[0]) };

static int measure(struct bench *b, const struct op *op, unsigned int tag)
{
	int ret = 0;

	if (!op->once)
		return measure_connect(b, tag);
	mark_begin(tag);
	for (int i = 0; i < op->count && !ret; i++)
		ret = op->once(b);
	mark_end();
	return ret ? fail(op->name) : 0;
}

static bool wanted(const char *name, char **names)
{
	if (!*names)
		return true;
	for (; *names; names++)
		if (!strcmp(*names, name))
			return true;
	return false;
}

/*
 * LARGE bytes of which no two pages are neighbours in memory: each second page of
 * what is touched in order goes to another mapping.
 */
static char *single_pages(void)
{
	const int prot = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
	char *mine = mmap(NULL, LARGE, prot, flags, -1, 0);
	char *others = mmap(NULL, LARGE, prot, flags, -1, 0);

	if (mine == MAP_FAILED || others == MAP_FAILED ||
	    madvise(mine, LARGE, MADV_NOHUGEPAGE) || madvise(others, LARGE, MADV_NOHUGEPAGE))
		return NULL;
	for (size_t i = 0; i < LARGE; i += PAGE)
		mine[i] = others[i] = 1;
	return mine;
}

static int prepare(struct bench *b, const char *address)
{
	b->to.sin_family = AF_INET;
	if (inet_pton(AF_INET, address, &b->to.sin_addr) != 1)
		return fail(address);
	b->active = rdma_create_event_channel();
	b->passive = rdma_create_event_channel();
	if (!b->active || !b->passive ||
	    rdma_create_id(b->passive, &b->listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(b->listener, (struct sockaddr *)&b->to) || rdma_listen(b->listener, 16))
		return fail("rdma_listen");
	b->to.sin_port = rdma_get_src_port(b->listener);
	b->verbs = b->listener->verbs;
	b->pd = ibv_alloc_pd(b->verbs);
	b->cq = ibv_create_cq(b->verbs, 1024, NULL, NULL, 0);
	b->memory = single_pages();
	return b->pd && b->cq && b->memory ? 0 : fail("PD, CQ and memory");
}

static void tidy(struct bench *b)
{
	ibv_destroy_cq(b->cq);
	ibv_dealloc_pd(b->pd);
	rdma_destroy_id(b->listener);
	rdma_destroy_event_channel(b->active);
	rdma_destroy_event_channel(b->passive);
}

int main(int argc, char **argv)
{
	int batches = argc > 2 ? atoi(argv[2]) : 0;
	struct bench b = {};

	if (batches < 1) {
		fprintf(stderr, "usage: %s ADDRESS BATCHES [OPERATION...]\n", argv[0]);
		return 2;
	}
	if (prepare(&b, argv[1]))
		return 1;
	for (unsigned int i = 0; i < OPS; i++) {
		if (!wanted(ops[i].name, argv + 3))
			continue;
		/* Number 0 is of no interest: the first batch fills caches */
		for (int n = 0; n <= batches; n++)
			if (measure(&b, &ops[i], n ? i + 1 : 0))
				return 1;
		printf("cost %u %s %d\n", i + 1, ops[i].name, ops[i].count);
	}
	tidy(&b);
	return 0;
}
