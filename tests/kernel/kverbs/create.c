// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Objects of a kernel consumer, one by one: each is made and destroyed; and each
 * is made while the first, the second, ... of its allocations fails.
 */
#include <linux/sched.h>

#include "kverbs.h"

#define MAX_POINTS	1000
#define LARGE_PAGES	(512 * 64)	/* a table of two levels */

/**
 * struct objects - what there is of a consumer's objects
 * @dev: their device
 * @pd: made before the others, which need it
 * @cq: likewise
 * @made: the object of the kind in question
 */
struct objects {
	struct ib_device *dev;
	struct ib_pd *pd;
	struct ib_cq *cq;
	void *made;
};

/**
 * struct kind - a kind of object
 * @name: in words
 * @create: sets objects.made or returns an error
 * @destroy: of objects.made
 */
struct kind {
	const char *name;
	int (*create)(struct objects *o);
	void (*destroy)(struct objects *o);
};

static int made(struct objects *o, void *object)
{
	if (IS_ERR(object))
		return PTR_ERR(object);
	o->made = object;
	return 0;
}

static int pd_create(struct objects *o)
{
	return made(o, ib_alloc_pd(o->dev, 0));
}

static int dma_pd_create(struct objects *o)
{
	return made(o, ib_alloc_pd(o->dev, IB_PD_UNSAFE_GLOBAL_RKEY));
}

static void pd_destroy(struct objects *o)
{
	ib_dealloc_pd(o->made);
}

static int cq_create(struct objects *o)
{
	return made(o, ib_alloc_cq(o->dev, NULL, 256, 0, IB_POLL_WORKQUEUE));
}

static void cq_destroy(struct objects *o)
{
	ib_free_cq(o->made);
}

static int qp_create(struct objects *o)
{
	struct ib_qp_init_attr attr = {
		.send_cq = o->cq,
		.recv_cq = o->cq,
		.qp_type = IB_QPT_RC,
		.cap = {
			.max_send_wr = 64,
			.max_recv_wr = 64,
			.max_send_sge = KV_MAX_SGE,
			.max_recv_sge = 1,
			.max_inline_data = KV_MAX_INLINE,
		},
	};

	return made(o, ib_create_qp(o->pd, &attr));
}

static void qp_destroy(struct objects *o)
{
	ib_destroy_qp(o->made);
}

static int mr_create(struct objects *o)
{
	return made(o, ib_alloc_mr(o->pd, IB_MR_TYPE_MEM_REG, 16));
}

static int large_mr_create(struct objects *o)
{
	return made(o, ib_alloc_mr(o->pd, IB_MR_TYPE_MEM_REG, LARGE_PAGES));
}

static void mr_destroy(struct objects *o)
{
	ib_dereg_mr(o->made);
}

static int no_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	return 0;
}

static int listener_create(struct objects *o)
{
	struct rdma_cm_id *id = kv_bound_id(no_event, NULL, 0);
	int err;

	if (IS_ERR(id))
		return PTR_ERR(id);
	err = rdma_listen(id, 4);
	if (err)
		rdma_destroy_id(id);
	return err ?: made(o, id);
}

static void listener_destroy(struct objects *o)
{
	rdma_destroy_id(o->made);
}

static const struct kind kinds[] = {
	{ "PD", pd_create, pd_destroy },
	{ "PD with a key for all of memory", dma_pd_create, pd_destroy },
	{ "CQ", cq_create, cq_destroy },
	{ "QP", qp_create, qp_destroy },
	{ "MR", mr_create, mr_destroy },
	{ "large MR", large_mr_create, mr_destroy },
	{ "listener", listener_create, listener_destroy },
};

typedef void (*kind_body)(const struct kind *kind, struct objects *o);

static void visit_kinds(struct ib_device *dev, kind_body body)
{
	struct objects o = { .dev = dev };
	int i;

	o.pd = ib_alloc_pd(dev, 0);
	if (!kv_check(!IS_ERR(o.pd), "%d", PTR_ERR_OR_ZERO(o.pd)))
		return;
	o.cq = ib_alloc_cq(dev, NULL, 256, 0, IB_POLL_WORKQUEUE);
	if (kv_check(!IS_ERR(o.cq), "%d", PTR_ERR_OR_ZERO(o.cq))) {
		for (i = 0; i < ARRAY_SIZE(kinds); i++)
			body(&kinds[i], &o);
		ib_free_cq(o.cq);
	}
	ib_dealloc_pd(o.pd);
}

static void create_once(const struct kind *kind, struct objects *o)
{
	int err = kind->create(o);

	if (kv_check(!err, "%s: %d", kind->name, err))
		kind->destroy(o);
}

/* Also what makes objects while commands fail, refused by the device */
void kv_create(struct ib_device *dev)
{
	visit_kinds(dev, create_once);
}

#ifdef CONFIG_FAULT_INJECTION

/* Return: whether the @nth fault point of it was reached */
static bool create_with_fault(const struct kind *kind, struct objects *o, u32 nth, u32 *failed)
{
	u32 left;
	int err;

	WRITE_ONCE(current->fail_nth, nth);
	err = kind->create(o);
	left = READ_ONCE(current->fail_nth);
	WRITE_ONCE(current->fail_nth, 0);

	if (err)
		(*failed)++;
	else
		kind->destroy(o);
	kv_check(!err || !left, "%s: %d without a fault", kind->name, err);
	return !left;
}

static void create_each_point(const struct kind *kind, struct objects *o)
{
	u32 n = 1, failed = 0;

	while (n < MAX_POINTS && create_with_fault(kind, o, n, &failed))
		n++;
	kv_check(n < MAX_POINTS, "%s: more than %u points", kind->name, n);
	kv_say("# %s: %u points, %u failed it\n", kind->name, n - 1, failed);
}

void kv_ladder(struct ib_device *dev)
{
	visit_kinds(dev, create_each_point);
}

#else

void kv_ladder(struct ib_device *dev)
{
	kv_say("# this kernel injects no faults\n");
	kv_create(dev);
}

#endif
