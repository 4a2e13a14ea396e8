// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Queues: wrapping, full, bad requests, completion events.
 */
#include <linux/delay.h>

#include "kverbs.h"

#define DEPTH		16
#define BLOCKS		64	/* of a send queue of that depth: 6 SGEs need 4 */
#define MANY_BLOCKS	70000	/* the device's 16-bit producer index wraps */

static void sges(struct kv_side *s, struct ib_sge *sge, int count)
{
	int i;

	for (i = 0; i < count; i++)
		sge[i] = (struct ib_sge){ s->dma + i * 100, 10 + i, s->pd->local_dma_lkey };
}

/* Its @count pieces arrived one behind the other */
static bool gathered(struct kv_pair *p, int count)
{
	u32 at = 0;
	int i;

	for (i = 0; i < count; i++) {
		if (memcmp(p->a.buf + i * 100, p->b.buf + at, 10 + i))
			return false;
		at += 10 + i;
	}
	return true;
}

/* Every third is not signaled */
static bool one_of_many(struct kv_pair *p, struct ib_sge *sge, u32 i, bool signaled)
{
	struct ib_send_wr wr = {
		.wr_id = i,
		.sg_list = sge,
		.num_sge = i % KV_MAX_SGE + 1,
		.opcode = IB_WR_SEND,
		.send_flags = signaled ? IB_SEND_SIGNALED : 0,
	};
	struct kv_side *a = &p->a, *b = &p->b;
	struct ib_wc wc = {};
	u32 len = 0;
	int k, err;

	for (k = 0; k < wr.num_sge; k++) {
		len += sge[k].length;
		a->buf[k * 100] = i + k;
	}
	memset(b->buf, 0, 256);
	err = kv_post_recv(b, i, 0, 256);
	if (err)
		return kv_check(!err, "receive %u: %d", i, err);
	err = ib_post_send(a->id->qp, &wr, NULL);
	if (err)
		return kv_check(!err, "send %u: %d", i, err);
	if (kv_get_wc(b->rcq, &wc) != 1 || wc.status || wc.wr_id != i || wc.byte_len != len)
		return kv_check(false, "%u: received %llu, status %d, length %u", i, wc.wr_id,
				wc.status, wc.byte_len);
	if (signaled && (kv_get_wc(a->scq, &wc) != 1 || wc.status || wc.wr_id != i))
		return kv_check(false, "%u: sent %llu, status %d", i, wc.wr_id, wc.status);
	return gathered(p, wr.num_sge) || kv_check(false, "%u: other data", i);
}

void kv_wrap(struct ib_device *dev)
{
	struct kv_pair *p = kv_open(DEPTH, IB_SIGNAL_REQ_WR, true);
	struct ib_sge sge[KV_MAX_SGE];
	u32 i, blocks = 0;

	if (!p)
		return;
	kv_fill(p->a.buf, 1000, 1);
	sges(&p->a, sge, KV_MAX_SGE);
	for (i = 0; blocks < MANY_BLOCKS; i++) {
		if (!one_of_many(p, sge, i, i % 3))
			break;
		blocks += DIV_ROUND_UP(16 + 16 * (i % KV_MAX_SGE + 1), 32);
	}
	kv_check(blocks >= MANY_BLOCKS, "%u", blocks);
	kv_check(one_of_many(p, sge, i, true), "the last one");
	kv_close(p);
}

/* Posts until it is refused; returns how many were not */
static int fill_sends(struct kv_side *s, u64 first)
{
	int n;

	for (n = 0; n < 4 * BLOCKS; n++)
		if (kv_post_send(s, IB_WR_SEND, first + n, 8, 0, 0))
			break;
	return n;
}

void kv_full(struct ib_device *dev)
{
	struct kv_pair *p = kv_open(DEPTH, IB_SIGNAL_REQ_WR, true);
	struct ib_send_wr wr = { .wr_id = 1, .opcode = IB_WR_SEND };
	const struct ib_send_wr *bad = NULL;
	int i, n, err = 0;
	struct ib_wc wc;

	if (!p)
		return;
	/* Without receives they stay */
	n = fill_sends(&p->a, 1000);
	kv_check(n == BLOCKS, "%d", n);
	err = ib_post_send(p->a.id->qp, &wr, &bad);
	kv_check(err == -ENOMEM && bad == &wr, "%d", err);

	for (n = 0; n < BLOCKS; n++) {
		err = kv_post_recv(&p->b, 2000 + n, 0, 64);
		if (err)
			break;
	}
	kv_check(err == -ENOMEM, "%d", err);
	kv_check(n >= DEPTH, "%d", n);
	for (i = 0; i < n; i++)
		kv_good(p->b.rcq, 2000 + i, IB_WC_RECV, &wc);
	for (; i < BLOCKS; i++) {
		kv_check(!kv_post_recv(&p->b, 2000 + i, 0, 64), "receive %d", i);
		kv_good(p->b.rcq, 2000 + i, IB_WC_RECV, &wc);
	}
	/* None was signaled: nothing shows the driver that there is room */
	err = kv_post_send(&p->a, IB_WR_SEND, 1, 8, IB_SEND_SIGNALED, 0);
	kv_check(err == -ENOMEM, "%d", err);
	kv_close(p);
}

static void refuse(struct kv_side *s, struct ib_send_wr wr, int want, const char *what)
{
	const struct ib_send_wr *bad = NULL;
	int err;

	err = ib_post_send(s->id->qp, &wr, &bad);
	kv_check(err == want, "%s: %d", what, err);
	kv_check(bad == &wr, "%s", what);
}

void kv_refused(struct ib_device *dev)
{
	struct kv_pair *p = kv_open(DEPTH, IB_SIGNAL_REQ_WR, true);
	struct ib_send_wr wr = { .wr_id = 1, .opcode = IB_WR_SEND };
	struct ib_rdma_wr read = { .wr = { .opcode = IB_WR_RDMA_READ } };
	struct ib_sge sge[KV_MAX_SGE + 1];
	const struct ib_recv_wr *bad = NULL;
	struct ib_recv_wr recv = { .sg_list = sge, .num_sge = 2 };
	struct ib_wc wc;
	int err;

	if (!p)
		return;
	sges(&p->a, sge, ARRAY_SIZE(sge));
	wr.sg_list = sge;
	wr.num_sge = KV_MAX_SGE + 1;
	refuse(&p->a, wr, -EINVAL, "too many SGEs");
	wr.num_sge = -1;
	refuse(&p->a, wr, -EINVAL, "-1 SGEs");
	wr.num_sge = 0;
	wr.opcode = 77;
	refuse(&p->a, wr, -EOPNOTSUPP, "unknown opcode");
	wr.opcode = IB_WR_SEND;
	wr.num_sge = 1;
	wr.send_flags = IB_SEND_INLINE;
	sge[0].length = KV_MAX_INLINE + 1;
	refuse(&p->a, wr, -EINVAL, "too much inline data");
	sge[0].length = ~0u;
	refuse(&p->a, wr, -EINVAL, "4 GB of inline data");

	read.wr.sg_list = sge;
	read.wr.num_sge = 2;
	err = ib_post_send(p->a.id->qp, &read.wr, NULL);
	kv_check(err == -EINVAL, "read into two SGEs: %d", err);
	err = ib_post_recv(p->a.id->qp, &recv, &bad);
	kv_check(err == -EINVAL && bad == &recv, "receive into two SGEs: %d", err);
	kv_check(!ib_post_send(p->a.id->qp, NULL, NULL), "no request is fine");
	kv_check(!ib_post_recv(p->a.id->qp, NULL, NULL), "no request is fine");

	/* They left nothing behind in the queues */
	kv_check(!kv_post_recv(&p->b, 2, 0, 64), "receive");
	kv_check(!kv_post_send(&p->a, IB_WR_SEND, 3, 8, IB_SEND_SIGNALED, 0), "send");
	kv_good(p->a.scq, 3, IB_WC_SEND, &wc);
	kv_good(p->b.rcq, 2, IB_WC_RECV, &wc);
	kv_check(!ib_poll_cq(p->a.scq, 1, &wc), "request %llu", wc.wr_id);
	kv_check(!ib_poll_cq(p->a.rcq, 1, &wc), "request %llu", wc.wr_id);
	kv_close(p);
}

void kv_chain(struct ib_device *dev)
{
	struct kv_pair *p = kv_open(DEPTH, IB_SIGNAL_REQ_WR, true);
	struct ib_send_wr wr[3] = {
		{ .next = &wr[1], .wr_id = 71, .opcode = IB_WR_SEND,
		  .send_flags = IB_SEND_SIGNALED },
		{ .next = &wr[2], .wr_id = 72, .opcode = IB_WR_SEND,
		  .send_flags = IB_SEND_SIGNALED },
		{ .wr_id = 73, .opcode = 99 },
	};
	const struct ib_send_wr *bad = NULL;
	struct ib_wc wc;
	int err;

	if (!p)
		return;
	kv_check(!kv_post_recv(&p->b, 81, 0, 8), "receive");
	kv_check(!kv_post_recv(&p->b, 82, 0, 8), "receive");
	err = ib_post_send(p->a.id->qp, wr, &bad);
	kv_check(err == -EOPNOTSUPP && bad == &wr[2], "%d", err);
	kv_good(p->a.scq, 71, IB_WC_SEND, &wc);
	kv_good(p->a.scq, 72, IB_WC_SEND, &wc);
	kv_good(p->b.rcq, 81, IB_WC_RECV, &wc);
	kv_good(p->b.rcq, 82, IB_WC_RECV, &wc);
	kv_check(!ib_poll_cq(p->a.scq, 1, &wc), "request %llu", wc.wr_id);
	kv_close(p);
}

/* ---- events ------------------------------------------------------------- */

void kv_armed(struct ib_device *dev)
{
	const int arm = IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS;
	struct kv_pair *p = kv_open(64, IB_SIGNAL_REQ_WR, true);
	struct kv_side *b;
	struct ib_wc wc;
	int i, n = 0;

	if (!p)
		return;
	b = &p->b;
	for (i = 0; i < 40; i++) {
		kv_check(!kv_post_recv(b, i, 0, 64), "receive %d", i);
		kv_check(!ib_req_notify_cq(b->rcq, arm), "round %d: nothing to miss", i);
		kv_check(!kv_post_send(&p->a, IB_WR_SEND, i, 8, IB_SEND_SIGNALED, 0), "send %d", i);
		n++;
		kv_check(kv_events(b, n), "round %d: %d of %d", i, atomic_read(&b->events), n);
		/* Behind a completion that nobody polled: reported, and an event */
		kv_check(ib_req_notify_cq(b->rcq, arm) == 1, "round %d", i);
		n++;
		kv_check(kv_events(b, n), "round %d: %d of %d", i, atomic_read(&b->events), n);
		kv_good(b->rcq, i, IB_WC_RECV, &wc);
		kv_good(p->a.scq, i, IB_WC_SEND, &wc);
	}
	kv_close(p);
}

/* Its consumer gets the event, and polls only when it has held the completion long enough */
void kv_untaken(struct ib_device *dev)
{
	struct kv_pair *p = kv_open(DEPTH, IB_SIGNAL_REQ_WR, true);
	struct ib_wc wc;

	if (!p)
		return;
	kv_check(!kv_post_recv(&p->b, 1, 0, 64), "receive");
	kv_check(!ib_req_notify_cq(p->b.rcq, IB_CQ_NEXT_COMP), "arm");
	kv_check(!kv_post_send(&p->a, IB_WR_SEND, 2, 8, IB_SEND_SIGNALED, 0), "send");
	kv_good(p->a.scq, 2, IB_WC_SEND, &wc);
	kv_check(kv_events(&p->b, 1), "%d", atomic_read(&p->b.events));
	msleep(kv_hold_ms());
	kv_good(p->b.rcq, 1, IB_WC_RECV, &wc);
	/* As long without anything to take */
	msleep(kv_hold_ms());
	kv_close(p);
}

void kv_solicited(struct ib_device *dev)
{
	struct kv_pair *p = kv_open(64, IB_SIGNAL_REQ_WR, true);
	struct kv_side *a, *b;
	struct ib_wc wc;
	int i;

	if (!p)
		return;
	a = &p->a;
	b = &p->b;
	for (i = 0; i < 5; i++) {
		kv_check(!kv_post_recv(b, 1, 0, 64), "receive");
		kv_check(!kv_post_recv(b, 2, 0, 64), "receive");
		kv_check(!ib_req_notify_cq(b->rcq, IB_CQ_SOLICITED), "arm");
		kv_check(!kv_post_send(a, IB_WR_SEND, 1, 8, IB_SEND_SIGNALED, 0), "send");
		kv_good(b->rcq, 1, IB_WC_RECV, &wc);
		msleep(20);
		kv_check(kv_events(b, i), "%d of %d", atomic_read(&b->events), i);
		kv_check(!kv_post_send(a, IB_WR_SEND, 2, 8, IB_SEND_SIGNALED | IB_SEND_SOLICITED,
				       0), "send");
		kv_good(b->rcq, 2, IB_WC_RECV, &wc);
		kv_check(kv_events(b, i + 1), "%d of %d", atomic_read(&b->events), i + 1);
		kv_good(a->scq, 1, IB_WC_SEND, &wc);
		kv_good(a->scq, 2, IB_WC_SEND, &wc);
	}
	kv_close(p);
}
