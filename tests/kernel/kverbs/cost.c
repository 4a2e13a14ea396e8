// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The data path between marks of tools/plugin, which counts its instructions in a VM.
 * Completions are polled when all of them are there.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "kverbs.h"
#include "mark.h"

#define ROUNDS		12
#define BATCH		32	/* requests of a section */
#define LEN		64
#define WAIT_MS		5	/* the device has long carried them out */

/* Sections; those of tests/vm/progs/verbs_cost.c have lower numbers */
enum kv_cost {
	COST_POST_SEND = 101,
	COST_POLL_SEND,
	COST_POST_RECV,
	COST_POLL_RECV,
};

static int post_writes(struct kv_pair *p)
{
	int i, err = 0;

	for (i = 0; i < BATCH && !err; i++)
		err = kv_post_rdma(&p->a, IB_WR_RDMA_WRITE, i, LEN, p->b.mr, IB_SEND_SIGNALED);
	return err;
}

static int post_receives(struct kv_pair *p)
{
	int i, err = 0;

	for (i = 0; i < BATCH && !err; i++)
		err = kv_post_recv(&p->b, i, 0, LEN);
	return err;
}

static int post_sends(struct kv_pair *p)
{
	int i, err = 0;

	for (i = 0; i < BATCH && !err; i++)
		err = kv_post_send(&p->a, IB_WR_SEND, i, LEN, IB_SEND_SIGNALED, 0);
	return err;
}

/* Takes BATCH completions, at most @num at a time; returns how many were good and in order */
static int poll_all(struct ib_cq *cq, struct ib_wc *wc, int num)
{
	int i, n, seen = 0, good = 0;

	while (seen < BATCH) {
		n = ib_poll_cq(cq, num, wc);
		if (n <= 0)
			break;
		for (i = 0; i < n; i++)
			good += wc[i].status == IB_WC_SUCCESS && wc[i].wr_id == seen + i;
		seen += n;
	}
	return good;
}

static bool one_round(struct kv_pair *p, struct ib_wc *wc, bool warm)
{
	int err, sent, received;

	mark_begin(warm ? COST_POST_SEND : 0);
	err = post_writes(p);
	mark_end();
	if (!kv_check(!err, "write: %d", err))
		return false;
	msleep(WAIT_MS);
	mark_begin(warm ? COST_POLL_SEND : 0);
	sent = poll_all(p->a.scq, wc, 1);
	mark_end();

	mark_begin(warm ? COST_POST_RECV : 0);
	err = post_receives(p);
	mark_end();
	if (!kv_check(!err, "receive: %d", err))
		return false;
	err = post_sends(p);
	if (!kv_check(!err, "send: %d", err))
		return false;
	msleep(WAIT_MS);
	mark_begin(warm ? COST_POLL_RECV : 0);
	received = poll_all(p->b.rcq, wc, BATCH / 2);
	mark_end();

	return kv_check(sent == BATCH && received == BATCH, "%d and %d of %d completions", sent,
			received, BATCH) &&
	       kv_check(poll_all(p->a.scq, wc, BATCH) == BATCH, "sends");
}

void kv_cost(struct ib_device *dev)
{
	struct kv_pair *p = kv_open(2 * BATCH, IB_SIGNAL_REQ_WR, true);
	struct ib_wc *wc = kcalloc(BATCH, sizeof(*wc), GFP_KERNEL), reg;
	int i;

	if (!p || !kv_check(wc, "no memory"))
		goto out;
	if (!kv_check(!kv_post_reg(&p->b, 5, 0, KV_BUF_SIZE, IB_ACCESS_REMOTE_WRITE |
				   IB_ACCESS_LOCAL_WRITE), "register") ||
	    !kv_good(p->b.scq, 5, IB_WC_REG_MR, &reg))
		goto out;
	/* The first round fills caches */
	for (i = 0; i <= ROUNDS; i++)
		if (!one_round(p, wc, i))
			goto out;
	kv_say("# cost %d post_send %d\n", COST_POST_SEND, BATCH);
	kv_say("# cost %d poll_send %d\n", COST_POLL_SEND, BATCH);
	kv_say("# cost %d post_recv %d\n", COST_POST_RECV, BATCH);
	kv_say("# cost %d poll_recv %d\n", COST_POLL_RECV, BATCH);
out:
	kfree(wc);
	kv_close(p);
}
