// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Memory of objects whose end the device did not confirm. It may go on reading
 * and writing it until it is reset, so until then nobody else may have it.
 */
#include <linux/pci.h>
#include <linux/slab.h>

#include "erdma.h"

/**
 * struct erdma_kept - what is needed to free the memory of one object
 * @list: in erdma_dev.kept
 * @keeper: kind of object
 * @object: copy of the object, which itself is gone
 */
struct erdma_kept {
	struct list_head list;
	const struct erdma_keeper *keeper;
	u64 object[];
};

/**
 * erdma_keep_memory - does the device possibly still use an object's memory?
 * @dev: device
 * @keeper: kind of object
 * @object: the object; a copy of it is kept
 * @id: its number, for the message
 * @err: result of the command that took the object away from the device
 *
 * Destroying an object always completes. But a device that did not confirm it
 * may go on using the object's memory until it is reset, which removal does:
 * then erdma_kept_free() frees it. If there is no memory to remember it by, it
 * is lost: better than overwritten. The *_failed counters tell how many objects
 * that were.
 *
 * Context: may sleep.
 * Return: true if the caller must not free the memory.
 */
bool erdma_keep_memory(struct erdma_dev *dev, const struct erdma_keeper *keeper,
		       const void *object, u32 id, int err)
{
	struct erdma_kept *kept;

	if (!err)
		return false;
	kept = kmalloc(struct_size(kept, object, DIV_ROUND_UP(keeper->size, sizeof(u64))),
		       GFP_KERNEL);
	dev_err_ratelimited(&dev->pdev->dev,
			    "%s %u: the device did not confirm its end (%pe), memory is %s\n",
			    keeper->name, id, ERR_PTR(err),
			    kept ? "kept until it is reset" : "lost");
	if (!kept)
		return true;
	kept->keeper = keeper;
	memcpy(kept->object, object, keeper->size);
	mutex_lock(&dev->kept_lock);
	list_add(&kept->list, &dev->kept);
	mutex_unlock(&dev->kept_lock);
	return true;
}

/**
 * erdma_kept_free - free what erdma_keep_memory() kept
 * @dev: device, which was reset; nobody has objects of it any more
 *
 * Context: may sleep.
 */
void erdma_kept_free(struct erdma_dev *dev)
{
	struct erdma_kept *kept, *next;

	list_for_each_entry_safe(kept, next, &dev->kept, list) {
		list_del(&kept->list);
		kept->keeper->free(dev, kept->object);
		kfree(kept);
	}
}
