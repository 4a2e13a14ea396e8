// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Deferred free: memory of objects whose destruction the device did not confirm,
 * whether or not it got the command. The device may go on reading and writing it
 * until it is reset, so until then nobody else may have it. The same is true of
 * their numbers, and of the numbers by which they refer to other objects: a lost QP
 * must not find itself in somebody else's protection domain.
 */
#include <linux/pci.h>
#include <linux/slab.h>

#include "erdma.h"

/**
 * struct erdma_deferred - what is needed to free the memory of one object
 * @list: in erdma_dev.deferred
 * @kind: kind of object
 * @object: copy of the object, which itself is gone
 */
struct erdma_deferred {
	struct list_head list;
	const struct erdma_free_kind *kind;
	u64 object[];
};

/**
 * erdma_defer_free - defer the free of an object's memory if the device may use it
 * @dev: device
 * @kind: kind of object
 * @object: the object; a copy of it is retained
 * @id: its number, for the message
 * @err: result of the command that took the object away from the device
 *
 * Destroying an object always completes. But a device that did not confirm it
 * may go on using the object's memory until it is reset, which removal does:
 * then erdma_free_deferred() frees it. If there is no memory to remember it by, it
 * is leaked: better than overwritten. The *_failed counters say how many objects
 * that were.
 *
 * A lost device confirms nothing. This waits until it is stopped and uses nothing:
 * the consumer's own buffers, which he frees next, among it.
 *
 * Context: may sleep.
 * Return: true if the free is deferred, and the number stays taken; false: the
 * caller frees both.
 */
bool erdma_defer_free(struct erdma_dev *dev, const struct erdma_free_kind *kind,
		      const void *object, u32 id, int err)
{
	struct erdma_deferred *deferred;

	if (!err || erdma_lost_wait_stopped(dev))
		return false;
	deferred = kmalloc(struct_size(deferred, object, DIV_ROUND_UP(kind->size, sizeof(u64))),
			   GFP_KERNEL);
	erdma_dbg(dev, CMDQ, ERR, "%s %u: the device did not confirm its destruction (%pe), memory is %s\n",
		  kind->name, id, ERR_PTR(err),
		  deferred ? "retained until the device is reset" : "leaked");
	if (!deferred)
		return true;
	deferred->kind = kind;
	memcpy(deferred->object, object, kind->size);
	mutex_lock(&dev->deferred_lock);
	list_add(&deferred->list, &dev->deferred);
	mutex_unlock(&dev->deferred_lock);
	return true;
}

/**
 * erdma_free_deferred - free what erdma_defer_free() retained
 * @dev: device, which was reset; nobody has objects of it any more
 *
 * Numbers are forgotten with their tables.
 *
 * Context: may sleep.
 */
void erdma_free_deferred(struct erdma_dev *dev)
{
	struct erdma_deferred *deferred, *next;

	list_for_each_entry_safe(deferred, next, &dev->deferred, list) {
		list_del(&deferred->list);
		deferred->kind->free(dev, deferred->object);
		kfree(deferred);
	}
}
