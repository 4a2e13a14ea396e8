// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * User contexts and their doorbell pages (docs/erdma-hardware.md, sections 2.7
 * and 13.2).
 */
#include <linux/bitmap.h>
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "erdma.h"
#include "uapi/erdma-abi.h"

/* ---- doorbell pages ------------------------------------------------------ */

#define DB_PAGES	3	/* of a context */

static bool db_page_is_valid(const struct erdma_dev *dev, u16 page)
{
	u64 end = ((u64)page + 1) << ERDMA_DB_PAGE_SHIFT;

	return page >= ERDMA_DB_EXT_FIRST_PAGE && end <= dev->mmio.len;
}

/* Which pages of an answer can be doorbell pages of a context: ERDMA_EXT_DB_* */
static u32 db_valid(const struct erdma_dev *dev, const struct erdma_db_pages *db)
{
	u32 mask = 0;

	if (db_page_is_valid(dev, db->sdb))
		mask |= ERDMA_EXT_DB_SQ;
	if (db_page_is_valid(dev, db->rdb))
		mask |= ERDMA_EXT_DB_RQ;
	if (db_page_is_valid(dev, db->cdb))
		mask |= ERDMA_EXT_DB_CQ;
	return mask;
}

/**
 * erdma_db_init - no doorbell page is in use
 * @dev: device
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int erdma_db_init(struct erdma_dev *dev)
{
	spin_lock_init(&dev->db_lock);
	/* The device names them with 16 bits */
	dev->db_used = bitmap_zalloc(U16_MAX + 1, GFP_KERNEL);
	return dev->db_used ? 0 : -ENOMEM;
}

/**
 * erdma_db_exit - undo erdma_db_init()
 * @dev: device without contexts; its reset takes back what is left
 */
void erdma_db_exit(struct erdma_dev *dev)
{
	bitmap_free(dev->db_used);
	dev->db_used = NULL;
}

/* Pages of a context can be the same (2.7): each of those in @mask once. Return: how many */
static int db_list(const struct erdma_db_pages *db, u32 mask, u16 *pages)
{
	int n = 0;

	if (mask & ERDMA_EXT_DB_SQ)
		pages[n++] = db->sdb;
	if (mask & ERDMA_EXT_DB_RQ && !(n && db->rdb == pages[0]))
		pages[n++] = db->rdb;
	if (mask & ERDMA_EXT_DB_CQ && !(n && db->cdb == pages[0]) &&
	    !(n && db->cdb == pages[n - 1]))
		pages[n++] = db->cdb;
	return n;
}

/* All pages in @mask or none; false: one of them is of another context */
static bool db_take(struct erdma_dev *dev, const struct erdma_db_pages *db, u32 mask)
{
	u16 pages[DB_PAGES];
	int i, n = db_list(db, mask, pages);

	for (i = 0; i < n; i++)
		if (test_and_set_bit(pages[i], dev->db_used))
			goto err_taken;
	return true;

err_taken:
	while (i--)
		clear_bit(pages[i], dev->db_used);
	return false;
}

/*
 * Takes the pages in @mask back before the device may give them to the next context.
 * Return: false: it did not confirm that it has them.
 */
static bool db_give_back(struct erdma_dev *dev, const struct erdma_db_pages *db, u32 mask)
{
	u16 pages[DB_PAGES];
	int i, n = db_list(db, mask, pages);

	for (i = 0; i < n; i++)
		clear_bit(pages[i], dev->db_used);
	if (!erdma_exec_free_db(dev, db, mask))
		return true;
	for (i = 0; i < n; i++)
		set_bit(pages[i], dev->db_used);
	return false;
}

/*
 * The pages of a context that ended are for the next one, which then needs no command to
 * begin. They stay taken: no other context may be given them. Nobody has them mapped, and no
 * queue is rung by them.
 */
static bool db_put_spare(struct erdma_dev *dev, const struct erdma_db_pages *db)
{
	bool put;

	spin_lock(&dev->db_lock);
	put = !dev->db_spare.valid;
	if (put)
		dev->db_spare = *db;
	spin_unlock(&dev->db_lock);
	return put;
}

/* Return: false: there are none */
static bool db_take_spare(struct erdma_dev *dev, struct erdma_db_pages *db)
{
	if (erdma_is_lost(dev))
		return false;
	spin_lock(&dev->db_lock);
	*db = dev->db_spare;
	dev->db_spare.valid = false;
	spin_unlock(&dev->db_lock);
	return db->valid;
}

/*
 * An answer with a page that cannot be. Those in @mask can be, and nobody had them: they
 * are given back alone, as a device may refuse to free what it never had. Without its
 * confirmation they stay taken, as those of a context do. If one of them is of another
 * context, FREE_DB would take it from there: then none is given back, and the device has
 * lost the others until it is reset.
 */
static void db_refuse(struct erdma_dev *dev, const struct erdma_db_pages *db, u32 mask)
{
	if (!mask || !db_take(dev, db, mask))
		return;
	if (!db_give_back(dev, db, mask))
		erdma_dbg(dev, CTX, ERR, "valid ones of doorbell pages %u, %u, %u were not freed\n",
			  db->sdb, db->rdb, db->cdb);
}

/**
 * erdma_ucontext_alloc_db - doorbell pages of a new context (2.7)
 * @dev: device, whose page numbers are not trusted
 * @ctx: context
 *
 * Pages of another context are refused: whoever had them could ring its queues. They
 * are not given back, as FREE_DB would take them from it. Of an answer with a page that
 * is none of a context, the device gets back those that can be.
 *
 * Context: may sleep.
 * Return: 0; -EPERM: there are only those of everybody; -EIO: none, or none to be used.
 */
int erdma_ucontext_alloc_db(struct erdma_dev *dev, struct erdma_ucontext *ctx)
{
	u32 valid;
	int err;

	if (!(dev->attrs.flags & ERDMA_FLAG_EXT_DB)) {
		/* Everybody shares three pages and can ring everybody's queues */
		if (!capable(CAP_SYS_RAWIO))
			return -EPERM;
		ctx->db.sdb = ERDMA_DB_SQ_BASE >> ERDMA_DB_PAGE_SHIFT;
		ctx->db.rdb = ERDMA_DB_CQ_BASE >> ERDMA_DB_PAGE_SHIFT;
		ctx->db.cdb = ERDMA_DB_RQ_BASE >> ERDMA_DB_PAGE_SHIFT;
		return 0;
	}

	if (db_take_spare(dev, &ctx->db))
		return 0;
	err = erdma_exec_alloc_db(dev, &ctx->db);
	if (err)
		return -EIO;
	valid = db_valid(dev, &ctx->db);
	if (valid != ERDMA_EXT_DB_ALL) {
		erdma_dbg(dev, CTX, ERR, "doorbell pages are %u, %u, %u, expected %u to %llu\n",
			  ctx->db.sdb, ctx->db.rdb, ctx->db.cdb, ERDMA_DB_EXT_FIRST_PAGE,
			  (u64)(dev->mmio.len >> ERDMA_DB_PAGE_SHIFT) - 1);
		db_refuse(dev, &ctx->db, valid);
		goto err_none;
	}
	if (!db_take(dev, &ctx->db, ERDMA_EXT_DB_ALL)) {
		erdma_dbg(dev, CTX, ERR, "doorbell pages are %u, %u, %u, expected none of another context\n",
			  ctx->db.sdb, ctx->db.rdb, ctx->db.cdb);
		goto err_none;
	}
	return 0;

err_none:
	ctx->db = (struct erdma_db_pages){};
	return -EIO;
}

/*
 * Pages whose release was not confirmed are the device's; there is nothing of ours
 * to retain but their numbers. It must not give them to another process while they
 * ring a QP or CQ of this one; nor may we.
 */
static void ctx_free_db(struct erdma_dev *dev, struct erdma_ucontext *ctx)
{
	if (!ctx->db.valid)
		return;
	if (READ_ONCE(ctx->retained) || (!db_put_spare(dev, &ctx->db) &&
					 !db_give_back(dev, &ctx->db, ERDMA_EXT_DB_ALL)))
		erdma_dbg(dev, CTX, ERR, "doorbell pages %u, %u, %u were not freed\n",
			  ctx->db.sdb, ctx->db.rdb, ctx->db.cdb);
}

static int ctx_add_page(struct erdma_ucontext *ctx, struct erdma_mmap_entry *entry, u16 page)
{
	struct erdma_dev *dev = dev_of(ctx->ibucontext.device);

	entry->phys = dev->mmio.phys + ((phys_addr_t)page << ERDMA_DB_PAGE_SHIFT);
	return rdma_user_mmap_entry_insert(&ctx->ibucontext, &entry->rdma, PAGE_SIZE);
}

/*
 * RQ doorbells go to the page "db.cdb" and CQ doorbells to "db.rdb" (2.7).
 *
 * The entries are part of the context, so nothing is to be done when the core has dropped
 * the last reference to one of them, and there is no mmap_free(). It must have done so before
 * it frees the context. The last step of dropping it, rdma_user_mmap_entry_free(), takes
 * the entry out of ib_ucontext.mmap_xa and looks at ib_ucontext.device: for the core itself
 * an entry never outlives its context, on all kernels from 5.5 on. References beside ours
 * are of mappings and of erdma_mmap():
 *
 *  - a file that is closed has no mappings any more: each of them holds the file;
 *  - a device that goes away waits for calls (disassociate_srcu), then
 *    uverbs_user_mmap_disassociate() zaps all mappings and drops what they hold, and only
 *    then dealloc_ucontext() is called. Later mappings and copies of a mapping get no entry.
 *
 * What is still in mmap_xa after dealloc_ucontext() is a warning of the core.
 */
static int ctx_add_pages(struct erdma_ucontext *ctx)
{
	int err;

	err = ctx_add_page(ctx, &ctx->sq_page, ctx->db.sdb);
	if (err)
		return err;
	err = ctx_add_page(ctx, &ctx->rq_page, ctx->db.cdb);
	if (err)
		goto err_sq_page;
	err = ctx_add_page(ctx, &ctx->cq_page, ctx->db.rdb);
	if (err)
		goto err_rq_page;
	return 0;

err_rq_page:
	rdma_user_mmap_entry_remove(&ctx->rq_page.rdma);
err_sq_page:
	rdma_user_mmap_entry_remove(&ctx->sq_page.rdma);
	return err;
}

static void ctx_remove_pages(struct erdma_ucontext *ctx)
{
	rdma_user_mmap_entry_remove(&ctx->cq_page.rdma);
	rdma_user_mmap_entry_remove(&ctx->rq_page.rdma);
	rdma_user_mmap_entry_remove(&ctx->sq_page.rdma);
}

/* ---- user contexts ------------------------------------------------------- */

static int ctx_respond(const struct erdma_ucontext *ctx, struct ib_udata *udata)
{
	struct erdma_abi_context_resp resp = {
		.pci_device = ERDMA_PCI_DEVICE_ID,
		.sq_db_page = rdma_user_mmap_get_offset(&ctx->sq_page.rdma),
		.rq_db_page = rdma_user_mmap_get_offset(&ctx->rq_page.rdma),
		.cq_db_page = rdma_user_mmap_get_offset(&ctx->cq_page.rdma),
	};

	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

/* Pages and response; undone by ctx_exit_pages() */
static int ctx_init_pages(struct erdma_dev *dev, struct erdma_ucontext *ctx,
			  struct ib_udata *udata)
{
	int err;

	err = erdma_ucontext_alloc_db(dev, ctx);
	if (err)
		return err;
	err = ctx_add_pages(ctx);
	if (err)
		goto err_free_db;
	err = ctx_respond(ctx, udata);
	if (err)
		goto err_remove_pages;
	return 0;

err_remove_pages:
	ctx_remove_pages(ctx);
err_free_db:
	ctx_free_db(dev, ctx);
	return err;
}

static void ctx_exit_pages(struct erdma_dev *dev, struct erdma_ucontext *ctx)
{
	ctx_remove_pages(ctx);
	ctx_free_db(dev, ctx);
}

static int ctx_init(struct erdma_dev *dev, struct erdma_ucontext *ctx, struct ib_udata *udata)
{
	int err;

	if (udata->outlen < sizeof(struct erdma_abi_context_resp))
		return -EINVAL;
	erdma_dbrec_init(ctx);
	erdma_ref_init(&ctx->ref);
	ctx->created = get_jiffies_64();
	err = erdma_objtab_alloc(&dev->ctxs);
	if (err < 0)
		return err;
	ctx->id = err;
	err = ctx_init_pages(dev, ctx, udata);
	if (err)
		erdma_objtab_free(&dev->ctxs, ctx->id);
	else
		erdma_objtab_publish(&dev->ctxs, ctx->id, &ctx->ref);
	return err;
}

/**
 * erdma_alloc_ucontext - ib_device_ops.alloc_ucontext (section 13.2)
 * @ibctx: to fill
 * @udata: where the response goes, at least 40 bytes
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: no room for the response; -EPERM: the device has no
 * doorbell pages per context and the caller lacks CAP_SYS_RAWIO; -EIO: the
 * device gave no doorbell pages, or those of another context; -ENOMEM; -EFAULT.
 */
int erdma_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata)
{
	struct erdma_ucontext *ctx = ucontext_of(ibctx);
	struct erdma_dev *dev = dev_of(ibctx->device);
	int err = -ENOMEM;

	if (atomic_inc_return(&dev->n_ctx) > ERDMA_MAX_CONTEXTS)
		goto err_count;
	err = ctx_init(dev, ctx, udata);
	if (err)
		goto err_count;

	erdma_stat_inc(&dev->stats, ERDMA_STAT_ALLOC_UCTX);
	erdma_dbg(dev, CTX, INFO, "context opened, doorbell pages sq %u rq %u cq %u\n",
		  ctx->db.sdb, ctx->db.cdb, ctx->db.rdb);
	return 0;

err_count:
	atomic_dec(&dev->n_ctx);
	erdma_stat_inc(&dev->stats, ERDMA_STAT_ALLOC_UCTX_FAILED);
	erdma_rec_fail(dev->rec, ERDMA_DIAG_VERB_ALLOC_CTX, 0, err);
	erdma_dbg(dev, CTX, INFO, "context refused: %pe\n", ERR_PTR(err));
	return err;
}

/**
 * erdma_dealloc_ucontext - ib_device_ops.dealloc_ucontext
 * @ibctx: all its objects are gone, nothing is mapped any more
 *
 * Context: may sleep.
 */
void erdma_dealloc_ucontext(struct ib_ucontext *ibctx)
{
	struct erdma_ucontext *ctx = ucontext_of(ibctx);
	struct erdma_dev *dev = dev_of(ibctx->device);

	erdma_objtab_withdraw(&dev->ctxs, ctx->id);
	erdma_ref_end(&ctx->ref);
	ctx_exit_pages(dev, ctx);
	erdma_dbrec_exit(ctx);
	erdma_objtab_free(&dev->ctxs, ctx->id);
	atomic_dec(&dev->n_ctx);
	erdma_stat_inc(&dev->stats, ERDMA_STAT_DEALLOC_UCTX);
	erdma_dbg(dev, CTX, INFO, "context closed, doorbell pages sq %u rq %u cq %u\n",
		  ctx->db.sdb, ctx->db.cdb, ctx->db.rdb);
}

/**
 * erdma_disassociate_ucontext - ib_device_ops.disassociate_ucontext
 * @ibctx: context of a device that goes away
 *
 * The core replaces the doorbell pages by zero pages and destroys the objects.
 * Having this function says that we can cope.
 */
void erdma_disassociate_ucontext(struct ib_ucontext *ibctx)
{
}

/**
 * erdma_mmap - ib_device_ops.mmap: one doorbell page (section 13.2)
 * @ibctx: context
 * @vma: one page at an offset that erdma_alloc_ucontext() returned
 *
 * Return: 0; -EINVAL: no such offset, or not exactly one shared page.
 */
int erdma_mmap(struct ib_ucontext *ibctx, struct vm_area_struct *vma)
{
	struct erdma_dev *dev = dev_of(ibctx->device);
	struct rdma_user_mmap_entry *rdma;
	struct erdma_mmap_entry *entry;
	int err = -EINVAL;

	/* Checks length, offset and VM_SHARED */
	rdma = rdma_user_mmap_entry_get(ibctx, vma);
	if (!rdma)
		goto err_count;
	entry = container_of(rdma, struct erdma_mmap_entry, rdma);
	err = rdma_user_mmap_io(ibctx, vma, PHYS_PFN(entry->phys), PAGE_SIZE,
				pgprot_device(vma->vm_page_prot), rdma);
	rdma_user_mmap_entry_put(rdma);
	if (!err)
		return 0;

err_count:
	erdma_stat_inc(&dev->stats, ERDMA_STAT_MMAP_FAILED);
	erdma_rec_fail(dev->rec, ERDMA_DIAG_VERB_MMAP, 0, err);
	erdma_dbg(dev, CTX, INFO, "mmap of offset %#lx refused: %pe\n",
		  vma->vm_pgoff << PAGE_SHIFT, ERR_PTR(err));
	return err;
}
