// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Doorbell records of applications (docs/erdma-hardware.md, section 13.6).
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include "compat/compat_rdma.h"
#include "erdma.h"

/**
 * erdma_dbrec_init - prepare a context for doorbell records
 * @ctx: context
 *
 * Context: process.
 */
void erdma_dbrec_init(struct erdma_ucontext *ctx)
{
	mutex_init(&ctx->dbrec_lock);
	INIT_LIST_HEAD(&ctx->dbrec_pages);
}

/**
 * erdma_dbrec_exit - the context ends
 * @ctx: context; all its objects are destroyed
 *
 * Pages of memory whose free is deferred (erdma_defer_free()) outlive it.
 *
 * Context: process.
 */
void erdma_dbrec_exit(struct erdma_ucontext *ctx)
{
	struct erdma_dbrec_page *page, *next;

	list_for_each_entry_safe(page, next, &ctx->dbrec_pages, list) {
		list_del_init(&page->list);
		page->ctx = NULL;
	}
	mutex_destroy(&ctx->dbrec_lock);
}

/* After fork() the same address can be another page */
static struct erdma_dbrec_page *dbrec_find(struct erdma_ucontext *ctx, u64 va)
{
	struct erdma_dbrec_page *page;

	lockdep_assert_held(&ctx->dbrec_lock);
	list_for_each_entry(page, &ctx->dbrec_pages, list) {
		if (page->va == va && page->umem->owning_mm == current->mm)
			return page;
	}
	return NULL;
}

static struct erdma_dbrec_page *dbrec_pin(struct erdma_ucontext *ctx, u64 va)
{
	struct erdma_dbrec_page *page;

	page = kzalloc(sizeof(*page), GFP_KERNEL);
	if (!page)
		return ERR_PTR(-ENOMEM);
	page->umem = erdma_umem_get(ctx->ibucontext.device, va, PAGE_SIZE, 0);
	if (IS_ERR(page->umem)) {
		struct erdma_dbrec_page *err = ERR_CAST(page->umem);

		kfree(page);
		return err;
	}
	page->ctx = ctx;
	page->va = va;
	/* Doorbells are of 64 bits: no kernel of ours has high memory */
	page->words = page_address(sg_page(erdma_umem_sgl(page->umem)));
	list_add(&page->list, &ctx->dbrec_pages);
	return page;
}

/**
 * erdma_dbrec_map - make doorbell records of an application known to the device
 * @ctx: context
 * @va: user address of the first record
 * @len: bytes, a multiple of 8
 * @dma: set to the bus address
 *
 * The whole page is pinned once, however many records lie in it (13.6).
 *
 * Context: may sleep, in the process that owns @va.
 * Return: page to give to erdma_dbrec_unmap(); -EINVAL: misaligned, or not
 * inside one page; -ENOMEM; -EFAULT: no such memory.
 */
struct erdma_dbrec_page *erdma_dbrec_map(struct erdma_ucontext *ctx, u64 va,
					 u32 len, dma_addr_t *dma)
{
	struct erdma_dbrec_page *page;
	u32 offset = offset_in_page(va);

	if (!IS_ALIGNED(va, ERDMA_DBREC_SIZE) || !len || len > PAGE_SIZE - offset)
		return ERR_PTR(-EINVAL);

	mutex_lock(&ctx->dbrec_lock);
	page = dbrec_find(ctx, va - offset);
	if (!page)
		page = dbrec_pin(ctx, va - offset);
	if (!IS_ERR(page)) {
		page->refs++;
		*dma = sg_dma_address(erdma_umem_sgl(page->umem)) + offset;
	}
	mutex_unlock(&ctx->dbrec_lock);
	return page;
}

/**
 * erdma_dbrec_unmap - undo erdma_dbrec_map()
 * @page: what it returned
 *
 * Context: may sleep. After the end of its context: serialised by the caller.
 */
void erdma_dbrec_unmap(struct erdma_dbrec_page *page)
{
	struct erdma_ucontext *ctx = page->ctx;

	if (ctx)
		mutex_lock(&ctx->dbrec_lock);
	if (!--page->refs) {
		list_del(&page->list);
		ib_umem_release(page->umem);
		kfree(page);
	}
	if (ctx)
		mutex_unlock(&ctx->dbrec_lock);
}

/**
 * erdma_dbrec_retain - the device may go on using an object with these records
 * @page: of the object, whose context still exists
 *
 * The doorbell pages of the context are not given to another one then.
 *
 * Context: any.
 */
void erdma_dbrec_retain(struct erdma_dbrec_page *page)
{
	WRITE_ONCE(page->ctx->retained, true);
}

/**
 * erdma_dbrec_read - the newest content of a doorbell record
 * @page: of erdma_dbrec_map(), or NULL
 * @va: user address of the record
 * @value: set
 *
 * The application writes it at any time: it is read once, whole.
 *
 * Context: any.
 * Return: false if there is none.
 */
bool erdma_dbrec_read(const struct erdma_dbrec_page *page, u64 va, u64 *value)
{
	if (!page || va < page->va || va - page->va > PAGE_SIZE - sizeof(*value) ||
	    !IS_ALIGNED(va, sizeof(*value)))
		return false;
	*value = le64_to_cpu(READ_ONCE(page->words[(va - page->va) / sizeof(*value)]));
	return true;
}
