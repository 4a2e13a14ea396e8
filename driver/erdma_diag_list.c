// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * ERDMA_DIAG_LIST and ERDMA_DIAG_CONTEXT: records of many objects, and everything
 * about one.
 */
#include <linux/jiffies.h>
#include <linux/sched/signal.h>

#include "erdma_diag_int.h"

/* ---- LIST ---------------------------------------------------------------- */

static void list_begin(struct erdma_diag_req *req)
{
	struct erdma_diag_list *arg = req->arg;

	req->cursor = arg->start_id + 1ULL;
	req->deadline = jiffies + msecs_to_jiffies(arg->hw_budget_ms);
	arg->out_len = 0;
	arg->out_count = 0;
	arg->next_id = 0;
	arg->more = 0;
	arg->out_hw = 0;
}

/* How long the device may take for the next object; 0: it is not asked */
static u32 list_hw_ms(const struct erdma_diag_req *req, const struct erdma_diag_object_ops *ops)
{
	const struct erdma_diag_list *arg = req->arg;

	if (!(arg->flags & ERDMA_DIAG_LIST_HW) || !ops->hw_rec)
		return 0;
	return erdma_diag_hw_left(req);
}

/* Where the next @len bytes go, NULL: there is no room now */
static void *list_slot(const struct erdma_diag_req *req, u32 room, u32 len)
{
	if (len > room - req->chunk_len || len > req->chunk_size - req->chunk_len)
		return NULL;
	return req->chunk + req->chunk_len;
}

/* The object is in the chunk, and so is what the device says of it */
static void list_take(struct erdma_dev *dev, struct erdma_diag_req *req,
		      const struct erdma_diag_object_ops *ops, u32 id, u32 hw_ms)
{
	struct erdma_diag_list *arg = req->arg;
	u32 len = erdma_diag_object_len(ops);

	if (hw_ms) {
		erdma_diag_object_fill_hw(dev, req, ops, arg->obj, id, hw_ms,
					  (void *)(req->chunk + req->chunk_len + len));
		len += sizeof(struct erdma_diag_hw_rec);
		arg->out_hw++;
	}
	req->chunk_len += len;
	arg->out_len += len;
	arg->out_count++;
}

/* There is no room for @len bytes of an object in the user's buffer */
static int list_is_full(struct erdma_diag_list *arg, u32 id, u32 len)
{
	arg->next_id = id;
	arg->more = 1;
	if (arg->out_count)
		return 0;
	arg->out_len = len;
	return -EMSGSIZE;
}

static int list_fill(struct erdma_dev *dev, struct erdma_diag_req *req,
		     const struct erdma_diag_object_ops *ops, const struct erdma_diag_who *who)
{
	struct erdma_diag_list *arg = req->arg;
	u32 room = min_t(u32, req->buf_len, ERDMA_DIAG_LIST_MAX_BYTES) - req->copied;
	struct erdma_diag_object_rec *slot, spare;
	u32 len, found, hw_ms;
	u64 id;

	for (id = req->cursor - 1; id <= U32_MAX; id++) {
		found = id;
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		if (!ops->next(dev, &found))
			return 0;
		id = found;
		hw_ms = list_hw_ms(req, ops);
		len = erdma_diag_object_len(ops) + (hw_ms ? sizeof(struct erdma_diag_hw_rec) : 0);
		slot = list_slot(req, room, len);
		if (erdma_diag_object_fill(dev, who, ops, found, slot ?: &spare))
			continue;	/* gone, or not the caller's business */
		if (len > room - req->chunk_len)
			return list_is_full(arg, found, len);
		req->cursor = id + 1;
		if (!slot)
			return ERDMA_DIAG_MORE;
		list_take(dev, req, ops, found, hw_ms);
		req->cursor++;
		if (hw_ms)
			return ERDMA_DIAG_MORE;
	}
	return 0;
}

/**
 * erdma_diag_handle_list - ERDMA_DIAG_LIST
 * @dev: device
 * @req: struct erdma_diag_list; the cursor is the next id plus one
 *
 * Objects the caller may not see are left out. After each question to the device the
 * dispatcher lets go of the adapter: a removal waits for one of them.
 *
 * Return: 0, ERDMA_DIAG_MORE, or -errno.
 */
int erdma_diag_handle_list(struct erdma_dev *dev, struct erdma_diag_req *req)
{
	struct erdma_diag_list *arg = req->arg;
	const struct erdma_diag_object_ops *ops = erdma_diag_object_find(arg->obj);
	struct erdma_diag_who who = *req->who;
	struct erdma_diag_known known = {};
	int ret;

	if (!ops)
		return -EOPNOTSUPP;
	if (!req->cursor)
		list_begin(req);
	who.known = &known;
	ret = list_fill(dev, req, ops, &who);
	erdma_diag_forget_owner(&known);
	return ret;
}

/* ---- CONTEXT ------------------------------------------------------------- */

/**
 * erdma_diag_handle_context - ERDMA_DIAG_CONTEXT
 * @dev: device
 * @req: struct erdma_diag_context
 *
 * Return: 0 or -errno.
 */
int erdma_diag_handle_context(struct erdma_dev *dev, struct erdma_diag_req *req)
{
	struct erdma_diag_context *arg = req->arg;
	const struct erdma_diag_object_ops *ops = erdma_diag_object_find(arg->obj);
	struct erdma_diag_object_rec rec;
	bool hw;
	u32 len;
	int ret;

	if (!ops)
		return -EOPNOTSUPP;
	ret = erdma_diag_object_fill(dev, req->who, ops, arg->id, &rec);
	if (ret)
		return ret;

	hw = arg->flags & ERDMA_DIAG_CONTEXT_HW && ops->hw_rec;
	len = rec.hdr.len;
	arg->out_len = len + (hw ? sizeof(struct erdma_diag_hw_rec) : 0);
	arg->time_ns = ktime_get_ns();
	if (arg->out_len > req->chunk_size)
		return -EMSGSIZE;

	memcpy(req->chunk, &rec, len);
	if (hw)
		erdma_diag_object_fill_hw(dev, req, ops, arg->obj, arg->id, ERDMA_DIAG_HW_MS,
					  (void *)(req->chunk + len));
	req->chunk_len = arg->out_len;
	return 0;
}
