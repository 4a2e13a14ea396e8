// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A look at the CQs every now and then, for what the device does wrong and no
 * interrupt shows: a completion event that got lost, and a completion that hides
 * itself and all later ones behind a wrong owner bit.
 *
 * What a CQ was armed with says which completion was to raise the event: the one at
 * its CI (docs/erdma-hardware.md, section 8.5). An application's is in its doorbell
 * record, its completions are in the ring that it shares with the device. All of
 * that is read once and bounded; a wrong guess costs an event more than necessary,
 * which every consumer has to expect.
 */
#include <linux/delay.h>
#include <rdma/ib_umem.h>

#include "erdma.h"

#define CQS_PER_LOOK	1024	/* 10,000 CQs are looked at within a second */
#define CQ_RECOVER_MS	20	/* for an event that is on its way */

/* What the CQ was armed with last; false if it never was */
static bool cq_read_arm(const struct erdma_cq *cq, u64 *arm)
{
	if (rdma_is_kernel_res(&cq->ibcq.res))
		*arm = READ_ONCE(cq->kernel.arm);
	else if (!erdma_dbrec_read(cq->user.dbrec_page, cq->user.dbrec_va, arm))
		return false;
	return FIELD_GET(ERDMA_CQ_DB_ARM, *arm) && FIELD_GET(ERDMA_CQ_DB_CQN, *arm) == cq->cqn;
}

/* Has the device written entry number @ci? Low 24 bits of the number are enough. */
static bool cq_is_written(const struct erdma_cq *cq, u32 ci, u32 *hdr)
{
	u32 slot = erdma_ring_slot(ci, cq->depth);
	__be32 word;

	if (rdma_is_kernel_res(&cq->ibcq.res))
		word = READ_ONCE(cq->kernel.buf[slot].hdr);
	else if (ib_umem_copy_from(&word, cq->user.mtt.umem,
				   slot * ERDMA_CQE_SIZE + offsetof(struct erdma_cqe, hdr),
				   sizeof(word)))
		return false;
	*hdr = be32_to_cpu(word);
	return FIELD_GET(ERDMA_CQE_OWNER, *hdr) == erdma_ring_owner(ci, cq->depth);
}

/*
 * Should there have been an event since this arm? A solicited event is due for an
 * error only, as far as can be seen here: that a request asked for it is not in its
 * completion (8.2).
 */
static bool cq_lacks_event(const struct erdma_cq *cq, u64 arm)
{
	u32 hdr;

	if (arm == READ_ONCE(cq->event_of))
		return false;
	if (!cq_is_written(cq, FIELD_GET(ERDMA_CQ_DB_CI, arm), &hdr))
		return false;
	return !FIELD_GET(ERDMA_CQ_DB_SOL, arm) || FIELD_GET(ERDMA_CQE_SYNDROME, hdr);
}

/*
 * Entries are written in order, so one that is missing between two that are there has
 * the wrong owner bit. The entry before shows that the ring did not come round.
 */
static bool cq_hides(const struct erdma_cq *cq, u32 ci)
{
	u32 hdr;

	if (cq->depth < 4 || !cq_is_written(cq, ci + 1, &hdr))
		return false;
	dma_rmb(); /* what is written last is looked at first */
	return !cq_is_written(cq, ci, &hdr) && cq_is_written(cq, ci - 1, &hdr);
}

static bool cq_repeat_event(struct erdma_cq *cq)
{
	struct erdma_dev *dev = dev_of(cq->ibcq.device);
	bool expected;

	/* Consumers schedule softirqs, which nobody would run at the end of this */
	local_bh_disable();
	expected = erdma_cq_deliver(cq);
	local_bh_enable();
	if (!expected)
		return false;
	erdma_stat_inc(&dev->stats, ERDMA_STAT_CEQ_LOST_EVENTS);
	erdma_dbg(dev, CQ, INFO, "cq %u: a completion event got lost\n", cq->cqn);
	return true;
}

/* An event that is on its way is not lost: its interrupt may be */
static bool cq_has_quiet_eq(const struct erdma_cq *cq)
{
	const struct erdma_dev *dev = dev_of(cq->ibcq.device);
	u32 n = cq->eqn - 1;

	return n >= dev->n_comp_eqs || !dev->comp_eqs[n].eq.waiting;
}

/**
 * erdma_cq_look - is a CQ as it should be?
 * @cq: CQ, held
 *
 * What two looks in a row see counts: the consumer gets the event that was lost. An
 * owner bit cannot be mended: the consumer is notified, once, that the CQ is broken.
 * It may arm the CQ again and again at that place, so only the place is compared.
 *
 * Context: process; one caller at a time.
 * Return: true if it found what the next look has to judge, or what it mended.
 */
bool erdma_cq_look(struct erdma_cq *cq)
{
	u64 before = cq->look.arm;
	bool hidden = cq->look.hidden;
	u32 ci = cq->look.ci;
	bool known;
	u64 arm;

	cq->look.arm = 0;
	cq->look.hidden = false;
	if (!cq_read_arm(cq, &arm))
		return false;
	cq->look.ci = rdma_is_kernel_res(&cq->ibcq.res) ? READ_ONCE(cq->kernel.ci) :
							   FIELD_GET(ERDMA_CQ_DB_CI, arm);
	cq->look.hidden = cq_hides(cq, cq->look.ci);
	known = hidden && cq->look.ci == ci;
	if (cq->look.hidden && known)
		erdma_cq_hidden(cq);
	if (!cq_has_quiet_eq(cq) || !cq_lacks_event(cq, arm))
		return cq->look.hidden && !known;
	cq->look.arm = arm;
	if (before == arm)
		cq_repeat_event(cq);
	return true;
}

/* Armed, without an event since */
static bool cq_is_armed(const struct erdma_cq *cq, u64 *arm)
{
	return cq_read_arm(cq, arm) && *arm != READ_ONCE(cq->event_of);
}

/**
 * erdma_cq_recover - deliver the completion event that a CQ lacks, by request
 * @cq: CQ, held
 * @armed: set: the CQ is armed, and no event came since
 *
 * Who asks knows more than erdma_cq_look(): the queue's interrupt may be lost, and any
 * completion is good enough for a CQ that is armed for solicited ones.
 *
 * Context: process; sleeps for CQ_RECOVER_MS if an event seems to be missing. May run
 * while erdma_cq_look() does: the worst is an event more than necessary.
 * Return: true if the consumer got an event.
 */
bool erdma_cq_recover(struct erdma_cq *cq, bool *armed)
{
	u64 before, arm;
	u32 hdr;

	*armed = cq_is_armed(cq, &before);
	if (!*armed || !cq_is_written(cq, FIELD_GET(ERDMA_CQ_DB_CI, before), &hdr))
		return false;
	msleep(CQ_RECOVER_MS);
	return cq_is_armed(cq, &arm) && arm == before && cq_repeat_event(cq);
}

/* Is there something to be looked at, or to be forgotten? */
static bool cq_is_worth_a_look(struct erdma_ref *ref)
{
	const struct erdma_cq *cq = container_of(ref, struct erdma_cq, ref);
	u64 arm;

	return erdma_cq_is_awaited(cq) &&
	       (cq_read_arm(cq, &arm) || cq->look.arm || cq->look.hidden);
}

/**
 * erdma_cqs_look - look at some of the CQs
 * @dev: device, whose completion EQs were looked at just before
 *
 * Costs a kernel consumer's CQ that is armed two loads, an application's a copy from its
 * doorbell record and one or two from its ring. CQs that are not armed are passed over
 * without being held, and all of them if nobody can wait for an event.
 *
 * Context: process; one caller at a time.
 * Return: true if erdma_cq_look() does for one of them; erdma_dev.cq_walk.next is 0 if they
 * were the last.
 */
bool erdma_cqs_look(struct erdma_dev *dev)
{
	struct erdma_ref *refs[ERDMA_OBJTAB_SOME];
	u32 end = dev->cq_walk.seen + CQS_PER_LOOK;
	struct erdma_cq *cq;
	bool found = false;
	u32 i, n;

	if (!atomic_read(&dev->n_cq_awaited)) {
		dev->cq_walk = (struct erdma_objtab_walk){};
		return false;
	}
	do {
		n = erdma_objtab_get_some(&dev->cqs, &dev->cq_walk, cq_is_worth_a_look, refs);
		for (i = 0; i < n; i++) {
			cq = container_of(refs[i], struct erdma_cq, ref);
			found |= erdma_cq_look(cq);
			erdma_cq_put(cq);
		}
		cond_resched();
	} while (dev->cq_walk.next && dev->cq_walk.seen < end);
	return found;
}
