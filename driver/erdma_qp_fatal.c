// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * QPs that end without being asked to: the device stopped one, or the device is
 * lost (docs/erdma-hardware.md, section 7.2). The consumer gets one event per QP.
 */
#include "erdma.h"
#include "erdma/erdma_names.h"

/**
 * erdma_qp_fatal_work - end a QP that the device stopped
 * @work: erdma_qp.fatal_work
 *
 * The connection is over, whether or not the device confirms that it stopped.
 *
 * Context: process; takes state_lock, then erdma_ep.lock.
 */
void erdma_qp_fatal_work(struct work_struct *work)
{
	struct erdma_qp *qp = container_of(work, struct erdma_qp, fatal_work);

	erdma_qp_stop(qp, ERDMA_QPS_ERROR);
	erdma_cm_disconnect_qp(qp, false);
}

static void qp_report_fatal(struct erdma_qp *qp)
{
	struct ib_event event = {
		.device = &qp->dev->ibdev,
		.event = IB_EVENT_QP_FATAL,
		.element.qp = &qp->ibqp,
	};

	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

/*
 * Takes a reference; @first: no event named the QP before. The work is queued
 * under the lock of the table, so none is queued for a QP that left it.
 */
static struct erdma_qp *qp_get_fatal(struct erdma_dev *dev, u32 qpn, bool *first)
{
	struct erdma_qp *qp;
	unsigned long flags;

	spin_lock_irqsave(&dev->qps.lock, flags);
	qp = erdma_qp_find(dev, qpn);
	if (qp) {
		erdma_qp_hold(qp);
		*first = !qp->fatal;
		WRITE_ONCE(qp->fatal, true);
		if (*first) {
			queue_work(dev->reflusher, &qp->fatal_work);
			erdma_coredump_qp(dev, qpn);
		}
	}
	spin_unlock_irqrestore(&dev->qps.lock, flags);
	return qp;
}

/**
 * erdma_qp_async_event - the AEQ named this QP (7.2)
 * @dev: device
 * @qpn: number, need not exist
 * @type: enum erdma_ae_type
 *
 * Whatever the type, the device has stopped the QP. The consumer gets one
 * event; work stops the QP for the driver and ends its connection.
 *
 * Context: any.
 * Return: false if there is no such QP.
 */
bool erdma_qp_async_event(struct erdma_dev *dev, u32 qpn, u32 type)
{
	struct erdma_qp *qp;
	bool first;

	qp = qp_get_fatal(dev, qpn, &first);
	if (!qp)
		return false;
	WRITE_ONCE(qp->last_ae_type, type);
	atomic_inc(&qp->async_events);
	erdma_dbg(dev, QP, INFO, "qp %u: asynchronous event, %s\n", qpn,
		  erdma_name_ae_type(type) ?: "unknown type");
	if (first)
		qp_report_fatal(qp);
	erdma_qp_put(qp);
	return true;
}

/**
 * erdma_qp_device_lost - end a QP whose device is stopped
 * @qp: in any state
 *
 * Ends its connection, reports the fatal event unless that was done before.
 * Consumers of kernel CQs are notified of the flush completions, now and after
 * each later post.
 *
 * Context: may sleep; takes state_lock, then erdma_ep.lock.
 */
void erdma_qp_device_lost(struct erdma_qp *qp)
{
	struct erdma_dev *dev = qp->dev;
	bool first;

	spin_lock_irq(&dev->qps.lock);
	first = !qp->fatal;
	WRITE_ONCE(qp->fatal, true);
	spin_unlock_irq(&dev->qps.lock);

	erdma_qp_mark_stopped(qp);
	erdma_cm_disconnect_qp(qp, false);
	if (first)
		qp_report_fatal(qp);
}
