// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Recorders of asynchronous events, deregistered keys, losses of the device, the
 * port, and debug messages.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "erdma.h"
#include "erdma_rec_int.h"

/* Whose QP or CQ it is. Return: false if there is none (any more). */
static bool event_owner(struct erdma_dev *dev, u32 obj, u32 id, struct erdma_rec_owner *owner)
{
	struct erdma_qp *qp;
	struct erdma_cq *cq;

	if (obj == ERDMA_DIAG_OBJ_CQ) {
		cq = erdma_cq_get(dev, id);
		if (!cq)
			return false;
		*owner = cq->maker;
		erdma_cq_put(cq);
		return true;
	}
	qp = erdma_qp_get(dev, id);
	if (!qp)
		return false;
	*owner = qp->maker;
	erdma_qp_put(qp);
	return true;
}

/**
 * erdma_rec_event - record an entry of the AEQ
 * @dev: device
 * @type: enum erdma_ae_type, as the device wrote it
 * @subtype: as the device wrote it
 * @object: QPN or CQN, need not exist
 * @data: as the device wrote it
 *
 * Context: any; before the consumer is notified, who may destroy the object then.
 */
void erdma_rec_event(struct erdma_dev *dev, u32 type, u32 subtype, u32 object, u32 data)
{
	struct erdma_diag_log_event entry = {
		.type = type,
		.subtype = subtype,
		.object = object,
		.obj = type == ERDMA_AE_CQ_ERR ? ERDMA_DIAG_OBJ_CQ : ERDMA_DIAG_OBJ_QP,
		.data = data,
	};
	struct erdma_rec_owner owner;

	if (!erdma_rec_is_on(dev->rec))
		return;
	entry.known = event_owner(dev, entry.obj, object, &owner);
	erdma_rec_add(dev->rec, ERDMA_DIAG_LOG_EVENT, entry.known ? &owner : NULL, &entry);
}

/**
 * erdma_rec_reset - record the loss of a device, or what followed
 * @rec: recorders; NULL: nothing happens
 * @event: ERDMA_DIAG_RESET_*; RECOVERED begins a new generation
 * @reason: of the latest loss, or of GAVE_UP; NULL without one
 * @err: of FAILED, else 0
 *
 * Context: any.
 */
void erdma_rec_reset(struct erdma_rec *rec, u32 event, const char *reason, int err)
{
	struct erdma_diag_log_reset entry = { .event = event, .err = -err };

	if (!rec)
		return;
	if (reason)
		strscpy(entry.reason, reason, sizeof(entry.reason));
	/* Only the work that recovers the device writes it */
	entry.generation = READ_ONCE(rec->generation);
	if (event == ERDMA_DIAG_RESET_RECOVERED)
		WRITE_ONCE(rec->generation, entry.generation + 1);
	erdma_rec_add(rec, ERDMA_DIAG_LOG_RESET, NULL, &entry);
}

/**
 * erdma_rec_link - record a change of the port or its MTU
 * @rec: recorders; NULL: nothing happens
 * @event: ERDMA_DIAG_LINK_*
 * @mtu: of the network interface
 * @err: of the command of MTU, else 0
 *
 * Context: any.
 */
void erdma_rec_link(struct erdma_rec *rec, u32 event, u32 mtu, int err)
{
	struct erdma_diag_log_link entry = { .event = event, .mtu = mtu, .err = -err };

	erdma_rec_add(rec, ERDMA_DIAG_LOG_LINK, NULL, &entry);
}

/**
 * erdma_rec_debug - record a debug message
 * @rec: recorders; NULL: nothing happens
 * @cat: ERDMA_DIAG_CAT_*
 * @level: ERDMA_DIAG_LEVEL_*
 * @fmt: message with newline
 * @args: its arguments
 *
 * Context: any.
 */
void erdma_rec_debug(struct erdma_rec *rec, u32 cat, u32 level, const char *fmt, va_list args)
{
	struct erdma_diag_log_debug entry = { .category = cat, .level = level };
	int len;

	if (!erdma_rec_is_on(rec))
		return;
	len = vscnprintf(entry.text, sizeof(entry.text), fmt, args);
	if (len && entry.text[len - 1] == '\n')
		entry.text[len - 1] = '\0';
	erdma_rec_add(rec, ERDMA_DIAG_LOG_DEBUG, NULL, &entry);
}
