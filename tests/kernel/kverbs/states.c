// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * QPs that stop: what they flush, and that nothing is left behind.
 */
#include <linux/delay.h>

#include "kverbs.h"

static int modify(struct kv_side *s, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };

	return ib_modify_qp(s->id->qp, &attr, IB_QP_STATE);
}

void kv_unconnected(struct ib_device *dev)
{
	struct kv_pair *p = kv_open(64, IB_SIGNAL_REQ_WR, false);
	struct kv_side *a;
	struct ib_wc wc;
	int i, err;

	if (!p)
		return;
	a = &p->a;
	kv_check(kv_qp_state(a) == IB_QPS_INIT, "%d", kv_qp_state(a));
	err = kv_post_send(a, IB_WR_SEND, 1, 8, 0, 0);
	kv_check(err == -ENOTCONN, "%d", err);
	for (i = 0; i < 5; i++)
		kv_check(!kv_post_recv(a, i, 0, 8), "receive %d", i);
	/* Only the connection manager can do that */
	err = modify(a, IB_QPS_RTS);
	kv_check(err == -EINVAL, "%d", err);
	/* There is nothing to drain */
	kv_check(!modify(a, IB_QPS_SQD), "SQD");
	kv_check(kv_qp_state(a) == IB_QPS_INIT, "%d", kv_qp_state(a));

	kv_check(!modify(a, IB_QPS_ERR), "error state");
	kv_check(kv_qp_state(a) == IB_QPS_ERR, "%d", kv_qp_state(a));
	/* There is no way back but RESET */
	err = modify(a, IB_QPS_INIT);
	kv_check(err == -EINVAL, "%d", err);
	kv_check(kv_qp_state(a) == IB_QPS_ERR, "%d", kv_qp_state(a));
	for (i = 0; i < 5; i++)
		kv_fails(a->rcq, i, IB_WC_WR_FLUSH_ERR, &wc);
	for (i = 0; i < 50; i++) {
		kv_check(!kv_post_send(a, IB_WR_SEND, 100 + i, 8, 0, 0), "send %d", i);
		kv_check(!kv_post_recv(a, 200 + i, 0, 8), "receive %d", i);
	}
	for (i = 0; i < 50; i++) {
		kv_fails(a->scq, 100 + i, IB_WC_WR_FLUSH_ERR, &wc);
		kv_fails(a->rcq, 200 + i, IB_WC_WR_FLUSH_ERR, &wc);
	}
	kv_close(p);
}

/* ---- RESET --------------------------------------------------------------- */

static void expect_nothing(struct ib_cq *cq)
{
	struct ib_wc wc;
	int n = ib_poll_cq(cq, 1, &wc);

	kv_check(!n, "%d completions, request %llu", n, wc.wr_id);
}

/* Twice around the queues: whoever goes on where the QP was before finds nothing */
static void exchange(struct kv_pair *p)
{
	struct ib_wc wc;
	int i;

	for (i = 0; i < 150; i++) {
		kv_check(!kv_post_recv(&p->b, i, 0, 8), "receive %d", i);
		kv_check(!kv_post_recv(&p->a, i, 0, 8), "receive %d", i);
		kv_check(!kv_post_send(&p->a, IB_WR_SEND, i, 8, 0, 0), "send %d", i);
		kv_check(!kv_post_send(&p->b, IB_WR_SEND, i, 8, 0, 0), "send %d", i);
		if (!kv_good(p->a.scq, i, IB_WC_SEND, &wc) ||
		    !kv_good(p->b.scq, i, IB_WC_SEND, &wc) ||
		    !kv_good(p->a.rcq, i, IB_WC_RECV, &wc) ||
		    !kv_good(p->b.rcq, i, IB_WC_RECV, &wc))
			return;
	}
}

static void expect_reset(struct kv_side *a)
{
	int err = modify(a, IB_QPS_RESET);

	kv_check(!err, "%d", err);
	kv_check(kv_qp_state(a) == IB_QPS_INIT, "%d", kv_qp_state(a));
	err = kv_post_send(a, IB_WR_SEND, 1, 8, 0, 0);
	kv_check(err == -ENOTCONN, "%d", err);
	expect_nothing(a->scq);
	expect_nothing(a->rcq);
}

/* What was posted before and after the end is not polled */
static void reset_after_connection(struct kv_pair *p, bool in_rts)
{
	struct kv_side *a = &p->a;
	int i;

	for (i = 0; i < 20; i++)
		kv_check(!kv_post_recv(a, 300 + i, 0, 8), "receive %d", i);
	if (!in_rts) {
		rdma_disconnect(a->id);
		kv_check(kv_qp_state(a) == IB_QPS_ERR, "%d", kv_qp_state(a));
		for (i = 0; i < 20; i++)
			kv_check(!kv_post_send(a, IB_WR_SEND, 400 + i, 8, 0, 0), "send %d", i);
		msleep(20);
	}
	expect_reset(a);
}

void kv_reset(struct ib_device *dev)
{
	struct kv_pair *p = kv_open(64, IB_SIGNAL_ALL_WR, false);
	struct kv_side *a;
	int i, err;

	if (!p)
		return;
	a = &p->a;
	/* Never connected; ERR; RESET; then as if it were new */
	for (i = 0; i < 5; i++)
		kv_check(!kv_post_recv(a, i, 0, 8), "receive %d", i);
	kv_check(!modify(a, IB_QPS_ERR), "error state");
	kv_check(!kv_post_send(a, IB_WR_SEND, 100, 8, 0, 0), "send");
	expect_reset(a);
	err = kv_connect(p);
	kv_check(!err, "%d", err);
	for (i = 0; !err && i < 4; i++) {
		exchange(p);
		reset_after_connection(p, i % 2);
		err = kv_connect_again(p);
		kv_check(!err, "%d", err);
	}
	if (!err)
		exchange(p);
	kv_close(p);
}

void kv_owner(struct ib_device *dev)
{
	struct kv_pair *p = kv_open(16, IB_SIGNAL_REQ_WR, false);
	u32 foreign = kv_foreign_qpn();
	int err;

	if (!p)
		return;
	err = kv_connect_as(p, p->a.id->qp->qp_num);
	kv_check(err == -EPERM, "%d", err);
	if (foreign) {
		err = kv_connect_as(p, foreign);
		kv_check(err == -EPERM, "%d", err);
	}
	msleep(kv_hold_ms());
	kv_check(kv_qp_state(&p->a) == IB_QPS_INIT, "%d", kv_qp_state(&p->a));
	kv_close(p);
}

void kv_disconnect(struct ib_device *dev)
{
	struct kv_pair *p = kv_open(64, IB_SIGNAL_ALL_WR, true);
	unsigned long end;
	struct kv_side *a;
	struct ib_wc wc;
	int i;

	if (!p)
		return;
	a = &p->a;
	/* Without receives they stay */
	for (i = 0; i < 20; i++)
		kv_check(!kv_post_send(a, IB_WR_SEND, i, 8, 0, 0), "send %d", i);
	msleep(20);
	kv_check(!ib_poll_cq(a->scq, 1, &wc), "request %llu", wc.wr_id);
	rdma_disconnect(a->id);
	kv_check(kv_qp_state(a) == IB_QPS_ERR, "%d", kv_qp_state(a));
	for (i = 0; i < 20; i++)
		kv_fails(a->scq, i, IB_WC_WR_FLUSH_ERR, &wc);
	kv_check(!kv_post_send(a, IB_WR_SEND, 77, 8, 0, 0), "send");
	kv_fails(a->scq, 77, IB_WC_WR_FLUSH_ERR, &wc);

	end = jiffies + msecs_to_jiffies(kv_patience_ms());
	while (kv_qp_state(&p->b) != IB_QPS_ERR && time_before(jiffies, end))
		msleep(20);
	kv_check(kv_qp_state(&p->b) == IB_QPS_ERR, "%d", kv_qp_state(&p->b));
	for (i = 0; i < 2; i++)
		kv_check(!modify(a, IB_QPS_ERR), "error state again");

	/* Destroyed at once: nothing of it may come later */
	for (i = 0; i < 30; i++) {
		kv_check(!kv_post_send(a, IB_WR_SEND, i, 8, 0, 0), "send %d", i);
		kv_check(!kv_post_recv(a, i, 0, 8), "receive %d", i);
	}
	kv_close(p);
}

void kv_destroy(struct ib_device *dev)
{
	struct kv_pair *p;
	int i, k;

	for (i = 0; i < 20; i++) {
		p = kv_open(64, IB_SIGNAL_ALL_WR, true);
		if (!p)
			return;
		/* A peer may be gone half way through: what counts is the end */
		for (k = 0; k < 40; k++) {
			kv_post_recv(&p->b, k, 0, 8);
			kv_post_recv(&p->a, k, 0, 8);
			kv_post_send(&p->a, IB_WR_SEND, k, 8, 0, 0);
			kv_post_send(&p->b, IB_WR_SEND, k, 8, 0, 0);
		}
		kv_close(p);
	}
}

/* ---- draining ----------------------------------------------------------- */

/**
 * struct counted - counts its completions
 * @cqe: of the requests
 * @flushed: with that status
 * @others: with another
 */
struct counted {
	struct ib_cqe cqe;
	int flushed;
	int others;
};

static void count_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct counted *c = container_of(wc->wr_cqe, struct counted, cqe);

	if (wc->status == IB_WC_WR_FLUSH_ERR)
		c->flushed++;
	else
		c->others++;
}

static void drain_one(struct ib_pd *pd, struct ib_cq *cq)
{
	struct counted c = { .cqe.done = count_wc };
	struct ib_recv_wr wr = { .wr_cqe = &c.cqe };
	struct ib_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IB_QPT_RC,
		.cap = {
			.max_send_wr = 64,
			.max_recv_wr = 64,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	struct ib_qp *qp;
	int i;

	qp = ib_create_qp(pd, &attr);
	if (!kv_check(!IS_ERR(qp), "%d", PTR_ERR_OR_ZERO(qp)))
		return;
	for (i = 0; i < 60; i++)
		kv_check(!ib_post_recv(qp, &wr, NULL), "receive %d", i);
	ib_drain_qp(qp);
	kv_check(c.flushed == 60, "%d", c.flushed);
	kv_check(!c.others, "%d", c.others);
	ib_destroy_qp(qp);
}

static void drain_times(struct ib_device *dev, int times)
{
	struct ib_pd *pd;
	struct ib_cq *cq;
	int i;

	pd = ib_alloc_pd(dev, 0);
	if (!kv_check(!IS_ERR(pd), "%d", PTR_ERR_OR_ZERO(pd)))
		return;
	for (i = 0; i < times; i++) {
		cq = ib_alloc_cq(dev, NULL, 256, 0, i % 2 ? IB_POLL_SOFTIRQ : IB_POLL_WORKQUEUE);
		if (!kv_check(!IS_ERR(cq), "%d", PTR_ERR_OR_ZERO(cq)))
			break;
		drain_one(pd, cq);
		ib_free_cq(cq);
	}
	ib_dealloc_pd(pd);
}

void kv_drain(struct ib_device *dev)
{
	drain_times(dev, 10);
}

/* Good with a device that is lost meanwhile: it makes nothing new afterwards */
void kv_drain_once(struct ib_device *dev)
{
	drain_times(dev, 1);
}
