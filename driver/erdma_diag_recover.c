// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* ERDMA_DIAG_RECOVER: the driver's cure for lost interrupts and events, by request */
#include "erdma_diag_int.h"

static int recover_eq(struct erdma_dev *dev, struct erdma_diag_recover *arg)
{
	struct erdma_eq *eq = erdma_diag_find_eq(dev, arg->id);
	s64 events, unknown;

	if (!eq)
		return -ENOENT;
	erdma_eq_recover(dev, eq, &events, &unknown);
	arg->out_flags = ERDMA_DIAG_RECOVER_RUNG;
	arg->out_events = events;
	arg->out_delivered = events - unknown;
	erdma_dbg(dev, DIAG, INFO, "eq %u: %u events handled by request\n", arg->id,
		  arg->out_events);
	return 0;
}

static int recover_cq(struct erdma_dev *dev, struct erdma_diag_recover *arg)
{
	struct erdma_cq *cq = erdma_cq_get(dev, arg->id);
	bool armed;

	if (!cq)
		return -ENOENT;
	arg->out_delivered = erdma_cq_recover(cq, &armed);
	arg->out_flags = armed ? ERDMA_DIAG_RECOVER_ARMED : 0;
	erdma_cq_put(cq);
	erdma_dbg(dev, DIAG, INFO, "cq %u: %u events delivered by request\n", arg->id,
		  arg->out_delivered);
	return 0;
}

/**
 * erdma_diag_handle_recover - ERDMA_DIAG_RECOVER
 * @dev: device
 * @req: struct erdma_diag_recover; the dispatcher checked the right to set
 *
 * Context: process; sleeps for about 20 ms if a CQ lacks an event.
 * Return: 0; -ENODEV: the device is lost; -EOPNOTSUPP: such objects have nothing that
 * can be recovered; -ENOENT: no such object.
 */
int erdma_diag_handle_recover(struct erdma_dev *dev, struct erdma_diag_req *req)
{
	struct erdma_diag_recover *arg = req->arg;

	if (erdma_is_lost(dev))
		return -ENODEV;
	arg->out_flags = 0;
	arg->out_events = 0;
	arg->out_delivered = 0;
	switch (arg->obj) {
	case ERDMA_DIAG_OBJ_EQ:
		return recover_eq(dev, arg);
	case ERDMA_DIAG_OBJ_CQ:
		return recover_cq(dev, arg);
	default:
		return -EOPNOTSUPP;
	}
}
