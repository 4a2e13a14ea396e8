// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* ERDMA_DIAG_INFO and ERDMA_DIAG_DEBUG */
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <net/net_namespace.h>

#include "erdma_diag_int.h"
#include "erdma_recovery.h"

static_assert(ERDMA_DIAG_LOSS_NONE == (int)ERDMA_LOST_NOT);
static_assert(ERDMA_DIAG_LOSS_CMDQ_DEAD == (int)ERDMA_LOST_CMDQ_DEAD);
static_assert(ERDMA_DIAG_LOSS_QP_STOP == (int)ERDMA_LOST_QP_STOP);
static_assert(ERDMA_DIAG_LOSS_EQ_HIDDEN == (int)ERDMA_LOST_EQ_HIDDEN);
static_assert(ERDMA_DIAG_LOSS_PCI_ERROR == (int)ERDMA_LOST_PCI_ERROR);
static_assert(ERDMA_DIAG_LOSS_PCI_RESET == (int)ERDMA_LOST_PCI_RESET);
static_assert(ERDMA_DIAG_LOSS_SUSPEND == (int)ERDMA_LOST_SUSPEND);
static_assert(ERDMA_DIAG_LOSS_UNPLUGGED == (int)ERDMA_LOST_UNPLUGGED);
static_assert(ERDMA_DIAG_LOSS_UNPLUGGED + 1 == (int)ERDMA_LOST_COUNT);

static void info_fill_abi(const struct erdma_dev *dev, struct erdma_diag_info *info)
{
	u32 kind;

	info->abi_cmds = BIT(_IOC_NR(ERDMA_DIAG_INFO)) | BIT(_IOC_NR(ERDMA_DIAG_LIST)) |
			 BIT(_IOC_NR(ERDMA_DIAG_CONTEXT)) | BIT(_IOC_NR(ERDMA_DIAG_RING_READ)) |
			 BIT(_IOC_NR(ERDMA_DIAG_DEBUG)) | BIT(_IOC_NR(ERDMA_DIAG_LOG)) |
			 BIT(_IOC_NR(ERDMA_DIAG_SNAPSHOT)) | BIT(_IOC_NR(ERDMA_DIAG_RECOVER));
	info->abi_flags = ERDMA_DIAG_ABI_LIST_HW;
	if (erdma_diag_has_hw(dev))
		info->abi_flags |= ERDMA_DIAG_ABI_HW_CONTEXT;
	if (!READ_ONCE(erdma_rec_enabled))
		info->abi_flags |= ERDMA_DIAG_ABI_LOG_OFF;
	for (kind = 1; kind < ERDMA_DIAG_LOG_COUNT; kind++)
		info->abi_flags |= ERDMA_DIAG_ABI_LOG(kind);
	info->abi_objs = BIT(ERDMA_DIAG_OBJ_QP) | BIT(ERDMA_DIAG_OBJ_CQ) |
			 BIT(ERDMA_DIAG_OBJ_EQ) | BIT(ERDMA_DIAG_OBJ_CMDQ) |
			 BIT(ERDMA_DIAG_OBJ_MR) | BIT(ERDMA_DIAG_OBJ_PD) |
			 BIT(ERDMA_DIAG_OBJ_CTX) | BIT(ERDMA_DIAG_OBJ_CM_ID);
	info->abi_rings = BIT(ERDMA_DIAG_RING_SQ) | BIT(ERDMA_DIAG_RING_RQ) |
			  BIT(ERDMA_DIAG_RING_CQ) | BIT(ERDMA_DIAG_RING_EQ) |
			  BIT(ERDMA_DIAG_RING_CMDQ_SQ) | BIT(ERDMA_DIAG_RING_CMDQ_CQ);
	info->abi_debug_cats = ERDMA_DIAG_CAT_COUNT;
	info->abi_debug_levels = ERDMA_DIAG_LEVEL_COUNT;
}

static void info_fill_identity(struct erdma_dev *dev, struct erdma_diag_info *info)
{
	struct pci_dev *pdev = dev->pdev;

	strscpy(info->driver_version, ERDMA_DRV_VERSION, sizeof(info->driver_version));
	/* Not dev_name(): a rename frees that string */
	strscpy(info->ib_name, dev->ibdev.name, sizeof(info->ib_name));
	info->ib_index = dev->ibdev.index;
	info->node_guid = (__force u64)dev->ibdev.node_guid;
	strscpy(info->pci, pci_name(pdev), sizeof(info->pci));
	info->pci_vendor = pdev->vendor;
	info->pci_device = pdev->device;
	info->pci_rev = pdev->revision;
	info->numa_node = dev_to_node(&pdev->dev);
	info->vectors = dev->vectors;
}

/* Only what the caller's net namespace can see of it */
static void info_fill_netdev(const struct erdma_dev *dev, struct erdma_diag_info *info)
{
	const struct net_device *netdev = READ_ONCE(dev->netdev);

	if (!netdev)
		return;
	info->mtu = READ_ONCE(netdev->mtu);
	info->netdev_flags = (netif_running(netdev) ? ERDMA_DIAG_NETDEV_UP : 0) |
			     (netif_carrier_ok(netdev) ? ERDMA_DIAG_NETDEV_CARRIER : 0);
	info->link_up = info->netdev_flags == (ERDMA_DIAG_NETDEV_UP | ERDMA_DIAG_NETDEV_CARRIER);
	if (!net_eq(dev_net(netdev), current->nsproxy->net_ns))
		return;
	info->netdev_ifindex = netdev->ifindex;
	strscpy(info->netdev, netdev->name, sizeof(info->netdev));
}

static void info_fill_hardware(const struct erdma_dev *dev, const struct erdma_diag_who *who,
			       struct erdma_diag_info *info)
{
	const struct erdma_attrs *attrs = &dev->attrs;

	info->proto = dev->proto;
	info->reg_version = erdma_read32(&dev->mmio, ERDMA_REG_VERSION);
	info->reg_status = erdma_read32(&dev->mmio, ERDMA_REG_STATUS);
	info->fw_version = attrs->fw_version;
	info->bar0_len = dev->mmio.len;
	memcpy(info->mac, attrs->mac, sizeof(info->mac));
	info->cc_default = attrs->cc;
	info->cap0 = attrs->cap0;
	info->cap1 = attrs->cap1;
	if (!who->secrets)
		info->cap1 &= ~ERDMA_CAP1_LOCAL_DMA_KEY;
}

static void info_fill_limits(struct erdma_dev *dev, struct erdma_diag_info *info)
{
	const struct ib_device_attr *verbs = &dev->ibdev.attrs;

	info->max_qp = verbs->max_qp;
	info->max_cq = verbs->max_cq;
	info->max_mr = verbs->max_mr;
	info->max_pd = verbs->max_pd;
	info->max_ctx = ERDMA_MAX_CONTEXTS;
	info->max_cqe = verbs->max_cqe;
	info->max_send_wr = dev->attrs.max_send_wr;
	info->max_recv_wr = dev->attrs.max_recv_wr;
	info->max_mr_size = verbs->max_mr_size;

	info->n_qp = atomic_read(&dev->n_qp);
	info->n_cq = atomic_read(&dev->n_cq);
	info->n_mr = atomic_read(&dev->mrs.ids.used);
	info->n_pd = atomic_read(&dev->pds.ids.used);
	info->n_ctx = atomic_read(&dev->n_ctx);
	info->n_eq = dev->n_comp_eqs + 2;
}

static void info_fill_peaks(const struct erdma_dev *dev, struct erdma_diag_info *info)
{
	info->peak_qp = READ_ONCE(dev->qps.ids.peak);
	info->peak_cq = READ_ONCE(dev->cqs.ids.peak);
	info->peak_mr = READ_ONCE(dev->mrs.ids.peak);
	info->peak_pd = READ_ONCE(dev->pds.ids.peak);
	info->peak_ctx = READ_ONCE(dev->ctxs.ids.peak);
}

/* Of this device, else of the one before it */
static void info_fill_loss(const struct erdma_dev *dev, struct erdma_diag_info *info)
{
	const struct erdma_adapter *adapter = dev->adapter;

	info->probed_ns = READ_ONCE(dev->probed_ns);
	info->generation = READ_ONCE(adapter->generation);
	info->last_loss = READ_ONCE(dev->lost);
	info->lost_ns = READ_ONCE(dev->lost_ns);
	if (info->last_loss == ERDMA_DIAG_LOSS_NONE) {
		info->last_loss = READ_ONCE(adapter->reason);
		info->lost_ns = READ_ONCE(adapter->lost_ns);
	}
}

static void info_fill_mtu(const struct erdma_dev *dev, struct erdma_diag_info *info)
{
	info->mtu_device = READ_ONCE(dev->mtu);
	info->mtu_asked = READ_ONCE(dev->mtu_cmd.mtu);
	info->mtu_status = READ_ONCE(dev->mtu_cmd.err);
	info->mtu_failures = READ_ONCE(dev->mtu_cmd.failures);
	info->mtu_ns = READ_ONCE(dev->mtu_cmd.ns);
}

static void info_fill_effective(struct erdma_diag_info *info)
{
	info->max_send_sge = ERDMA_MAX_SEND_SGE;
	info->max_recv_sge = ERDMA_MAX_RECV_SGE;
	info->max_read_sge = ERDMA_MAX_READ_SGE;
	info->max_inline = ERDMA_MAX_INLINE;
	info->max_ird = ERDMA_MAX_IRD;
	info->max_ord = ERDMA_MAX_ORD;
	info->max_frmr_pages = ERDMA_FRMR_PAGES_REPORTED;
	info->max_private_data = ERDMA_MPA_MAX_PDATA;
	info->page_sizes = ERDMA_PAGE_SIZE_CAP;
}

/**
 * erdma_diag_handle_info - ERDMA_DIAG_INFO
 * @dev: device
 * @req: struct erdma_diag_info
 *
 * Return: 0.
 */
int erdma_diag_handle_info(struct erdma_dev *dev, struct erdma_diag_req *req)
{
	struct erdma_diag_info *info = req->arg;

	memset(info, 0, sizeof(*info));
	info_fill_abi(dev, info);
	info_fill_identity(dev, info);
	info_fill_netdev(dev, info);
	info_fill_hardware(dev, req->who, info);
	info_fill_limits(dev, info);
	info_fill_peaks(dev, info);
	info_fill_effective(info);
	info_fill_loss(dev, info);
	info_fill_mtu(dev, info);
	info->time_mono_ns = ktime_get_ns();
	info->time_real_ns = ktime_get_real_ns();
	return 0;
}

/**
 * erdma_diag_handle_debug - ERDMA_DIAG_DEBUG
 * @dev: device
 * @req: struct erdma_diag_debug; the dispatcher checked the right to set
 *
 * Return: 0 or -errno.
 */
int erdma_diag_handle_debug(struct erdma_dev *dev, struct erdma_diag_req *req)
{
	struct erdma_diag_debug *arg = req->arg;
	int ret;

	if (arg->flags & ERDMA_DIAG_DEBUG_SET) {
		ret = erdma_debug_set(&dev->dbg, arg->mask, arg->level, arg->duration_ms);
		if (ret)
			return ret;
	}
	erdma_debug_get(&dev->dbg, arg);
	return 0;
}
