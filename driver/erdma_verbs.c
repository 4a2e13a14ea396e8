// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Device and port attributes, protection domains, user contexts with their
 * doorbell pages and doorbell records (docs/erdma-hardware.md, sections 2.7,
 * 6.4, 12.2, 13.2 and 13.6).
 */
#include <linux/capability.h>
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <rdma/ib_umem.h>
#include <rdma/uverbs_ioctl.h>

#include "erdma.h"
#include "uapi/erdma-abi.h"

static_assert(sizeof(struct erdma_uresp_alloc_ctx) == 40);
static_assert(sizeof(struct erdma_ureq_create_cq) == 24);
static_assert(sizeof(struct erdma_uresp_create_cq) == 8);
static_assert(sizeof(struct erdma_ureq_create_qp) == 24);
static_assert(sizeof(struct erdma_uresp_create_qp) == 16);

/* ---- numbers ------------------------------------------------------------ */

/**
 * erdma_idtab_init - start handing out numbers
 * @tab: to initialise
 * @first: first number handed out
 * @min: lowest number
 * @max: highest number; below @min: there are none
 */
void erdma_idtab_init(struct erdma_idtab *tab, u32 first, u32 min, u32 max)
{
	ida_init(&tab->ida);
	spin_lock_init(&tab->lock);
	tab->min = min;
	tab->max = max;
	tab->next = first;
	atomic_set(&tab->used, 0);
}

/**
 * erdma_idtab_exit - forget all numbers
 * @tab: not usable afterwards
 */
void erdma_idtab_exit(struct erdma_idtab *tab)
{
	ida_destroy(&tab->ida);
}

/**
 * erdma_idtab_alloc - take the next free number (section 6.4)
 * @tab: numbers
 *
 * The search starts behind the number handed out last, so that a number rests
 * as long as possible before it is used again, and wraps to the lowest one.
 *
 * Context: may sleep.
 * Return: number; -ENOSPC: all are in use; -ENOMEM.
 */
int erdma_idtab_alloc(struct erdma_idtab *tab)
{
	u32 start = READ_ONCE(tab->next);
	int id;

	if (tab->max < tab->min)
		return -ENOSPC;
	if (start < tab->min || start > tab->max)
		start = tab->min;

	id = ida_alloc_range(&tab->ida, start, tab->max, GFP_KERNEL);
	if (id == -ENOSPC && start > tab->min)
		id = ida_alloc_range(&tab->ida, tab->min, start - 1, GFP_KERNEL);
	if (id < 0)
		return id;

	spin_lock(&tab->lock);
	tab->next = id + 1;
	spin_unlock(&tab->lock);
	atomic_inc(&tab->used);
	return id;
}

/**
 * erdma_idtab_free - give a number back
 * @tab: numbers
 * @id: from erdma_idtab_alloc()
 */
void erdma_idtab_free(struct erdma_idtab *tab, u32 id)
{
	ida_free(&tab->ida, id);
	atomic_dec(&tab->used);
}

/* ---- helpers of all verbs ----------------------------------------------- */

/**
 * erdma_copy_ureq - fetch the driver's part of a uverbs request (section 13)
 * @udata: of the command
 * @req: destination
 * @size: bytes of the request as we know it
 *
 * A newer provider may send more, as long as the rest is zero.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: too short, or something we do not know; -EFAULT.
 */
int erdma_copy_ureq(struct ib_udata *udata, void *req, size_t size)
{
	if (udata->inlen < size)
		return -EINVAL;
	if (udata->inlen > size && !ib_is_udata_cleared(udata, size, udata->inlen - size))
		return -EINVAL;
	return ib_copy_from_udata(req, udata, size);
}

/* ---- device and port ---------------------------------------------------- */

static u64 fw_version(const struct erdma_dev *dev)
{
	u32 version = dev->attrs.fw_version;

	/* Providers print three groups of 16 bits (13.7) */
	return (u64)FIELD_GET(ERDMA_FW_MAJOR, version) << 32 |
	       FIELD_GET(ERDMA_FW_MEDIUM, version) << 16 |
	       FIELD_GET(ERDMA_FW_MINOR, version);
}

/**
 * erdma_query_device - ib_device_ops.query_device (limits: section 6.4)
 * @ibdev: device
 * @attr: filled
 * @udata: empty
 *
 * Return: 0; -EINVAL: driver-private data, there is none.
 */
int erdma_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		       struct ib_udata *udata)
{
	struct erdma_dev *dev = to_edev(ibdev);
	const struct erdma_attrs *a = &dev->attrs;

	if (udata->inlen || udata->outlen)
		return -EINVAL;

	memset(attr, 0, sizeof(*attr));
	attr->fw_ver = fw_version(dev);
	attr->sys_image_guid = ibdev->node_guid;
	attr->vendor_id = ERDMA_PCI_VENDOR_ID;
	attr->vendor_part_id = ERDMA_PCI_DEVICE_ID;
	attr->hw_ver = dev->pdev->revision;

	attr->max_mr_size = a->max_mr_size;
	attr->page_size_cap = ERDMA_PAGE_SIZE_CAP;
	attr->max_qp = a->max_qp ? a->max_qp - 1 : 0;
	attr->max_qp_wr = min(a->max_send_wr, a->max_recv_wr);
	attr->max_send_sge = ERDMA_MAX_SEND_SGE;
	attr->max_recv_sge = ERDMA_MAX_RECV_SGE;
	attr->max_sge_rd = ERDMA_MAX_READ_SGE;
	attr->max_cq = a->max_cq ? a->max_cq - 1 : 0;
	attr->max_cqe = a->max_cqe;
	attr->max_mr = a->max_mr;
	attr->max_mw = a->max_mw;
	attr->max_pd = ERDMA_MAX_PD;
	attr->max_qp_rd_atom = ERDMA_MAX_ORD;
	attr->max_qp_init_rd_atom = ERDMA_MAX_IRD;
	attr->max_res_rd_atom = ERDMA_MAX_IRD * attr->max_qp;
	attr->max_fast_reg_page_list_len = ERDMA_FRMR_PAGES_REPORTED;

	attr->device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	attr->atomic_cap = a->flags & ERDMA_FLAG_ATOMIC ? IB_ATOMIC_GLOB : IB_ATOMIC_NONE;
	return 0;
}

/**
 * erdma_get_dev_fw_str - ib_device_ops.get_dev_fw_str
 * @ibdev: device
 * @str: IB_FW_VERSION_NAME_MAX bytes
 */
void erdma_get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	u32 version = to_edev(ibdev)->attrs.fw_version;

	snprintf(str, IB_FW_VERSION_NAME_MAX, "%u.%u.%u",
		 (u32)FIELD_GET(ERDMA_FW_MAJOR, version),
		 (u32)FIELD_GET(ERDMA_FW_MEDIUM, version),
		 (u32)FIELD_GET(ERDMA_FW_MINOR, version));
}

/*
 * Paravirtual interfaces often do not know their speed, and ib_get_eth_speed()
 * says so in the log each time. Anybody may query a port.
 */
static bool port_speed_known(struct net_device *netdev)
{
	struct ethtool_link_ksettings ks;
	bool known;

	rtnl_lock();
	known = netdev->reg_state == NETREG_REGISTERED &&
		!__ethtool_get_link_ksettings(netdev, &ks) &&
		ks.base.speed != (u32)SPEED_UNKNOWN;
	rtnl_unlock();
	return known;
}

/**
 * erdma_query_port - ib_device_ops.query_port (section 12.2)
 * @ibdev: device
 * @port: 1
 * @attr: filled from the paired network interface
 *
 * Context: may sleep; takes rtnl.
 * Return: 0.
 */
int erdma_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr)
{
	struct net_device *netdev = READ_ONCE(to_edev(ibdev)->netdev);

	memset(attr, 0, sizeof(*attr));
	attr->gid_tbl_len = 1;
	attr->max_msg_sz = U32_MAX;
	attr->port_cap_flags = IB_PORT_CM_SUP | IB_PORT_DEVICE_MGMT_SUP;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = IB_MTU_1024;
	attr->active_width = IB_WIDTH_1X;
	attr->active_speed = IB_SPEED_SDR;
	attr->state = IB_PORT_DOWN;
	attr->phys_state = IB_PORT_PHYS_STATE_DISABLED;
	if (!netdev)
		return 0;

	attr->active_mtu = ib_mtu_int_to_enum(READ_ONCE(netdev->mtu));
	if (port_speed_known(netdev))
		ib_get_eth_speed(ibdev, port, &attr->active_speed, &attr->active_width);
	if (netif_running(netdev) && netif_carrier_ok(netdev)) {
		attr->state = IB_PORT_ACTIVE;
		attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	}
	return 0;
}

/**
 * erdma_get_port_immutable - ib_device_ops.get_port_immutable
 * @ibdev: device
 * @port: 1
 * @immutable: filled
 *
 * Return: 0.
 */
int erdma_get_port_immutable(struct ib_device *ibdev, u32 port,
			     struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = 1;
	immutable->core_cap_flags = RDMA_CORE_PORT_IWARP;
	return 0;
}

/**
 * erdma_query_gid - ib_device_ops.query_gid
 * @ibdev: device
 * @port: 1
 * @index: 0
 * @gid: MAC address of the paired interface, by which the connection manager
 *	 recognises the device
 *
 * Return: 0.
 */
int erdma_query_gid(struct ib_device *ibdev, u32 port, int index, union ib_gid *gid)
{
	struct erdma_dev *dev = to_edev(ibdev);
	struct net_device *netdev = READ_ONCE(dev->netdev);

	memset(gid, 0, sizeof(*gid));
	memcpy(gid->raw, netdev ? netdev->dev_addr : dev->attrs.mac, ETH_ALEN);
	return 0;
}

/* ---- protection domains ------------------------------------------------- */

/**
 * erdma_alloc_pd - ib_device_ops.alloc_pd
 * @ibpd: to fill
 * @udata: unused
 *
 * The device learns the number with the objects that carry it.
 *
 * Return: 0; -ENOSPC; -ENOMEM.
 */
int erdma_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct erdma_dev *dev = to_edev(ibpd->device);
	int id = erdma_idtab_alloc(&dev->pd_ids);

	if (id < 0) {
		erdma_stat_inc(&dev->stats, ERDMA_STAT_ALLOC_PD_FAILED);
		return id;
	}
	to_epd(ibpd)->pdn = id;
	erdma_stat_inc(&dev->stats, ERDMA_STAT_ALLOC_PD);
	return 0;
}

/**
 * erdma_dealloc_pd - ib_device_ops.dealloc_pd
 * @ibpd: unused by now, the core counts
 * @udata: unused
 *
 * Return: 0.
 */
int erdma_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct erdma_dev *dev = to_edev(ibpd->device);

	erdma_idtab_free(&dev->pd_ids, to_epd(ibpd)->pdn);
	erdma_stat_inc(&dev->stats, ERDMA_STAT_DEALLOC_PD);
	return 0;
}

/* ---- doorbell pages ------------------------------------------------------ */

static bool db_page_ok(const struct erdma_dev *dev, u16 page)
{
	u64 end = ((u64)page + 1) << ERDMA_DB_PAGE_SHIFT;

	return page >= ERDMA_DB_EXT_FIRST_PAGE && end <= dev->mmio.len;
}

/* Doorbell pages of a new context (2.7); the page numbers are not trusted */
static int ctx_alloc_db(struct erdma_dev *dev, struct erdma_ucontext *ctx)
{
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

	err = erdma_cmd_alloc_db(dev, &ctx->db);
	if (err)
		return -EIO;
	if (db_page_ok(dev, ctx->db.sdb) && db_page_ok(dev, ctx->db.rdb) &&
	    db_page_ok(dev, ctx->db.cdb)) {
		ctx->db.valid = true;
		return 0;
	}

	erdma_dbg(dev, CTX, ERR, "device gave doorbell pages %u, %u, %u outside BAR0\n",
		  ctx->db.sdb, ctx->db.rdb, ctx->db.cdb);
	erdma_cmd_free_db(dev, &ctx->db);
	return -EIO;
}

static void ctx_free_db(struct erdma_dev *dev, struct erdma_ucontext *ctx)
{
	/* Lost pages are the device's; there is nothing of ours to keep */
	if (ctx->db.valid && erdma_cmd_free_db(dev, &ctx->db))
		erdma_dbg(dev, CTX, ERR, "doorbell pages %u, %u, %u were not freed\n",
			  ctx->db.sdb, ctx->db.rdb, ctx->db.cdb);
}

static struct rdma_user_mmap_entry *ctx_add_page(struct erdma_ucontext *ctx, u16 page)
{
	struct erdma_dev *dev = to_edev(ctx->ibucontext.device);
	struct erdma_mmap_entry *entry;
	int err;

	entry = kzalloc(sizeof(*entry), GFP_KERNEL);
	if (!entry)
		return ERR_PTR(-ENOMEM);
	entry->phys = dev->mmio.phys + ((phys_addr_t)page << ERDMA_DB_PAGE_SHIFT);
	err = rdma_user_mmap_entry_insert(&ctx->ibucontext, &entry->rdma, PAGE_SIZE);
	if (err) {
		kfree(entry);
		return ERR_PTR(err);
	}
	return &entry->rdma;
}

/* RQ doorbells go to the page "cdb" and CQ doorbells to "rdb" (2.7) */
static int ctx_add_pages(struct erdma_ucontext *ctx)
{
	int err;

	ctx->sdb = ctx_add_page(ctx, ctx->db.sdb);
	if (IS_ERR(ctx->sdb))
		return PTR_ERR(ctx->sdb);
	ctx->rdb = ctx_add_page(ctx, ctx->db.cdb);
	if (IS_ERR(ctx->rdb)) {
		err = PTR_ERR(ctx->rdb);
		goto err_sdb;
	}
	ctx->cdb = ctx_add_page(ctx, ctx->db.rdb);
	if (IS_ERR(ctx->cdb)) {
		err = PTR_ERR(ctx->cdb);
		goto err_rdb;
	}
	return 0;

err_rdb:
	rdma_user_mmap_entry_remove(ctx->rdb);
err_sdb:
	rdma_user_mmap_entry_remove(ctx->sdb);
	return err;
}

static void ctx_remove_pages(struct erdma_ucontext *ctx)
{
	rdma_user_mmap_entry_remove(ctx->cdb);
	rdma_user_mmap_entry_remove(ctx->rdb);
	rdma_user_mmap_entry_remove(ctx->sdb);
}

/* ---- user contexts ------------------------------------------------------- */

static int ctx_respond(const struct erdma_ucontext *ctx, struct ib_udata *udata)
{
	struct erdma_uresp_alloc_ctx resp = {
		.dev_id = ERDMA_PCI_DEVICE_ID,
		.sdb = rdma_user_mmap_get_offset(ctx->sdb),
		.rdb = rdma_user_mmap_get_offset(ctx->rdb),
		.cdb = rdma_user_mmap_get_offset(ctx->cdb),
	};

	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

static int ctx_init(struct erdma_dev *dev, struct erdma_ucontext *ctx, struct ib_udata *udata)
{
	int err;

	if (udata->outlen < sizeof(struct erdma_uresp_alloc_ctx))
		return -EINVAL;
	mutex_init(&ctx->dbrec_lock);
	INIT_LIST_HEAD(&ctx->dbrec_pages);

	err = ctx_alloc_db(dev, ctx);
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

/**
 * erdma_alloc_ucontext - ib_device_ops.alloc_ucontext (section 13.2)
 * @ibctx: to fill
 * @udata: where the response goes, at least 40 bytes
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: no room for the response; -EPERM: the device has no
 * doorbell pages per context and the caller lacks CAP_SYS_RAWIO; -EIO: the
 * device gave no doorbell pages; -ENOMEM; -EFAULT.
 */
int erdma_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata)
{
	struct erdma_ucontext *ctx = to_ectx(ibctx);
	struct erdma_dev *dev = to_edev(ibctx->device);
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
	erdma_dbg(dev, CTX, INFO, "context refused: %pe\n", ERR_PTR(err));
	return err;
}

/* Pages of kept memory (erdma_keep_memory()) outlive the context */
static void dbrec_orphan(struct erdma_ucontext *ctx)
{
	struct erdma_dbrec_page *page, *next;

	list_for_each_entry_safe(page, next, &ctx->dbrec_pages, list) {
		list_del_init(&page->list);
		page->ctx = NULL;
	}
}

/**
 * erdma_dealloc_ucontext - ib_device_ops.dealloc_ucontext
 * @ibctx: all its objects are gone, nothing is mapped any more
 *
 * Context: may sleep.
 */
void erdma_dealloc_ucontext(struct ib_ucontext *ibctx)
{
	struct erdma_ucontext *ctx = to_ectx(ibctx);
	struct erdma_dev *dev = to_edev(ibctx->device);

	ctx_remove_pages(ctx);
	ctx_free_db(dev, ctx);
	dbrec_orphan(ctx);
	mutex_destroy(&ctx->dbrec_lock);
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
	struct erdma_dev *dev = to_edev(ibctx->device);
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
	erdma_dbg(dev, CTX, INFO, "mmap of offset %#lx refused: %pe\n",
		  vma->vm_pgoff << PAGE_SHIFT, ERR_PTR(err));
	return err;
}

/**
 * erdma_mmap_free - ib_device_ops.mmap_free
 * @entry: removed, and no process has the page mapped
 */
void erdma_mmap_free(struct rdma_user_mmap_entry *entry)
{
	kfree(container_of(entry, struct erdma_mmap_entry, rdma));
}

/* ---- doorbell records ----------------------------------------------------- */

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
	page->umem = ib_umem_get(ctx->ibucontext.device, va, PAGE_SIZE, 0);
	if (IS_ERR(page->umem)) {
		struct erdma_dbrec_page *err = ERR_CAST(page->umem);

		kfree(page);
		return err;
	}
	page->ctx = ctx;
	page->va = va;
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
		*dma = sg_dma_address(page->umem->sgt_append.sgt.sgl) + offset;
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
