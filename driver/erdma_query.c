// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Attributes of the device and of its port (docs/erdma-hardware.md, sections 6.4,
 * 12.2 and 13.7).
 */
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <linux/sysfs.h>

#include "compat/compat_rdma.h"
#include "erdma.h"

static u64 fw_version_of(const struct erdma_dev *dev)
{
	u32 version = dev->attrs.fw_version;

	/* Providers print three groups of 16 bits (13.7) */
	return (u64)FIELD_GET(ERDMA_FW_MAJOR, version) << 32 |
	       FIELD_GET(ERDMA_FW_MEDIUM, version) << 16 |
	       FIELD_GET(ERDMA_FW_MINOR, version);
}

/**
 * erdma_has_local_dma_key - is there one key for all of memory? (6.5)
 * @attrs: limits
 *
 * A key with an index of memory regions could be that of a region. Such a key is
 * not used, and the index is not handed out.
 *
 * Return: true if kernel consumers may use it.
 */
bool erdma_has_local_dma_key(const struct erdma_attrs *attrs)
{
	return FIELD_GET(ERDMA_STAG_INDEX, attrs->local_dma_key) >= attrs->max_mr;
}

/**
 * erdma_query_device - ib_device_ops.query_device (limits: section 6.4)
 * @ibdev: device
 * @attr: filled
 * @udata: empty; NULL when a newer core asks for itself
 *
 * Return: 0; -EINVAL: driver-private data, there is none.
 */
int erdma_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		       struct ib_udata *udata)
{
	struct erdma_dev *dev = dev_of(ibdev);
	const struct erdma_attrs *a = &dev->attrs;

	if (udata && (udata->inlen || udata->outlen))
		return -EINVAL;

	memset(attr, 0, sizeof(*attr));
	attr->fw_ver = fw_version_of(dev);
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
	attr->max_mr = a->max_mr - !erdma_has_local_dma_key(a);
	attr->max_pd = ERDMA_MAX_PD;
	attr->max_qp_rd_atom = ERDMA_MAX_ORD;
	attr->max_qp_init_rd_atom = ERDMA_MAX_IRD;
	attr->max_res_rd_atom = ERDMA_MAX_IRD * attr->max_qp;
	attr->max_fast_reg_page_list_len = ERDMA_FRMR_PAGES_REPORTED;

	attr->device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS;
	if (erdma_has_local_dma_key(a))
		erdma_set_local_dma_lkey(attr);
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
	u32 version = dev_of(ibdev)->attrs.fw_version;

	snprintf(str, IB_FW_VERSION_NAME_MAX, "%u.%u.%u",
		 (u32)FIELD_GET(ERDMA_FW_MAJOR, version),
		 (u32)FIELD_GET(ERDMA_FW_MEDIUM, version),
		 (u32)FIELD_GET(ERDMA_FW_MINOR, version));
}

/* ---- what monitors look for beside the counters ------------------------------- */

static ssize_t hw_rev_show(struct device *device, struct device_attribute *attr, char *buf)
{
	struct erdma_dev *dev = rdma_device_to_drv_device(device, struct erdma_dev, ibdev);

	return sysfs_emit(buf, "%#x\n", dev->pdev->revision);
}
static DEVICE_ATTR_RO(hw_rev);

static ssize_t hca_type_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", "eRDMA");
}
static DEVICE_ATTR_RO(hca_type);

/* node_exporter up to 1.9 ignores a device that has none */
static ssize_t board_id_show(struct device *device, struct device_attribute *attr, char *buf)
{
	struct erdma_dev *dev = rdma_device_to_drv_device(device, struct erdma_dev, ibdev);

	return sysfs_emit(buf, "%04x:%04x\n", dev->pdev->vendor, dev->pdev->device);
}
static DEVICE_ATTR_RO(board_id);

static struct attribute *erdma_attrs_of_device[] = {
	&dev_attr_hw_rev.attr,
	&dev_attr_hca_type.attr,
	&dev_attr_board_id.attr,
	NULL
};

/* Files in /sys/class/infiniband/NAME */
const struct attribute_group erdma_attr_group = {
	.attrs = erdma_attrs_of_device,
};

/*
 * Paravirtual interfaces often do not know their speed, and ib_get_eth_speed()
 * says so in the log each time. Anybody may query a port.
 */
static bool port_speed_is_known(struct net_device *netdev)
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
	struct net_device *netdev = READ_ONCE(dev_of(ibdev)->netdev);

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
	if (port_speed_is_known(netdev))
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
	struct erdma_dev *dev = dev_of(ibdev);
	struct net_device *netdev = READ_ONCE(dev->netdev);

	memset(gid, 0, sizeof(*gid));
	memcpy(gid->raw, netdev ? netdev->dev_addr : dev->attrs.mac, ETH_ALEN);
	return 0;
}
