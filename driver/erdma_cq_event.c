// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Events of completion queues: which of them reach the consumer, and as what
 * (docs/erdma-hardware.md, sections 7.2 and 8.5).
 */
#include "erdma.h"

/*
 * Events an application gets for one content of its doorbell record. An arm is
 * one event at most, and changes the record; the index in it has 8 bits.
 */
#define CQ_EVENTS_PER_ARM	256

/*
 * Did the application arm the CQ, and is this not an event too many for it? The
 * core queues each event until the application takes it, without a limit.
 */
static bool cq_user_expects_event(struct erdma_cq *cq)
{
	u64 rec;

	if (!erdma_dbrec_read(cq->user.dbrec_page, cq->user.dbrec_va, &rec) ||
	    !FIELD_GET(ERDMA_CQ_DB_ARM, rec) || FIELD_GET(ERDMA_CQ_DB_CQN, rec) != cq->cqn)
		return false;
	if (rec != READ_ONCE(cq->event_of)) {
		WRITE_ONCE(cq->event_of, rec);
		atomic_set(&cq->user.events_of_arm, 0);
	}
	return atomic_add_unless(&cq->user.events_of_arm, 1, CQ_EVENTS_PER_ARM);
}

static bool cq_expects_event(struct erdma_cq *cq)
{
	if (!rdma_is_kernel_res(&cq->ibcq.res))
		return cq_user_expects_event(cq);
	WRITE_ONCE(cq->event_of, READ_ONCE(cq->kernel.arm));
	/* What the consumer prepared before it armed is there, see cq_arm() */
	return smp_load_acquire(&cq->kernel.notify);
}

/**
 * erdma_cq_notify - something can be polled that the device did not announce
 * @cq: CQ, held; of an application: nothing happens
 *
 * Context: any.
 */
void erdma_cq_notify(struct erdma_cq *cq)
{
	/* Who never armed it polls by himself and may have no handler to call */
	if (!rdma_is_kernel_res(&cq->ibcq.res) || !READ_ONCE(cq->kernel.notify))
		return;
	if (cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
}

/**
 * erdma_cq_deliver - notify the consumer of completions
 * @cq: CQ, held
 *
 * The event is counted before the consumer is notified: what it arms next must
 * carry the new sequence number.
 *
 * Context: any.
 * Return: false if nobody asked for an event.
 */
bool erdma_cq_deliver(struct erdma_cq *cq)
{
	if (!cq_expects_event(cq))
		return false;
	atomic_inc(&cq->cmdsn);
	atomic64_inc(&cq->events);
	if (cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	return true;
}

/**
 * erdma_cq_event - a CEQ named this CQ (8.5)
 * @dev: device
 * @cqn: number, need not exist
 *
 * An event that nobody asked for does nothing: a consumer that never armed need
 * not be ready for one, and an application's events use memory until it takes
 * them.
 *
 * Context: any.
 * Return: false if there is no such CQ, or nobody asked for an event.
 */
bool erdma_cq_event(struct erdma_dev *dev, u32 cqn)
{
	struct erdma_cq *cq = erdma_cq_get(dev, cqn);
	bool expected;

	if (!cq)
		return false;
	expected = erdma_cq_deliver(cq);
	erdma_cq_put(cq);
	return expected;
}

/* A CQ is broken once. Return: false if it was before. */
static bool cq_report_broken(struct erdma_cq *cq)
{
	struct ib_event event = {
		.device = cq->ibcq.device,
		.event = IB_EVENT_CQ_ERR,
		.element.cq = &cq->ibcq,
	};

	if (atomic_xchg(&cq->broken, 1))
		return false;
	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
	return true;
}

/**
 * erdma_cq_async_event - the AEQ named this CQ (7.2)
 * @dev: device
 * @cqn: number, need not exist
 * @type: enum erdma_ae_type
 *
 * Further events than the first one are only counted.
 *
 * Context: any.
 * Return: false if there is no such CQ.
 */
bool erdma_cq_async_event(struct erdma_dev *dev, u32 cqn, u32 type)
{
	struct erdma_cq *cq = erdma_cq_get(dev, cqn);

	if (!cq)
		return false;
	atomic_inc(&cq->async_events);
	if (cq_report_broken(cq))
		erdma_dbg(dev, CQ, ERR, "cq %u: asynchronous event, type %u\n", cqn, type);
	erdma_cq_put(cq);
	return true;
}

/**
 * erdma_cq_hidden - the next completion has a wrong owner bit, and hides all later ones
 * @cq: CQ, held
 *
 * Context: any.
 */
void erdma_cq_hidden(struct erdma_cq *cq)
{
	struct erdma_dev *dev = dev_of(cq->ibcq.device);

	if (!cq_report_broken(cq))
		return;
	erdma_stat_inc(&dev->stats, ERDMA_STAT_CQ_HIDDEN);
	erdma_dbg(dev, CQ, ERR, "cq %u: a completion has a wrong owner bit\n", cq->cqn);
}
