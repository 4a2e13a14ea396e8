// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The network interface the adapter belongs to: pairing by permanent MAC
 * address, MTU and link changes (docs/erdma-hardware.md, section 12.2).
 *
 * The interface is held from pairing until removal, so everybody may use
 * erdma_dev.netdev without a lock while the device exists. When the interface
 * goes away or leaves the initial network namespace, the driver is unbound from
 * the adapter and probed again: the probe is deferred. The driver core repeats it
 * when any driver binds to a device, which includes the driver of the interface;
 * an interface that only changes back its namespace goes unnoticed.
 */
#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "erdma.h"

/* Unbinding work outlives the erdma_dev it removes: it has a queue of its own */
static struct workqueue_struct *netdev_wq;

struct netdev_gone_work {
	struct work_struct work;
	struct pci_dev *pdev;
	struct device_driver *driver;
};

/**
 * erdma_netdev_module_init - for the module
 *
 * Return: 0 or -ENOMEM.
 */
int erdma_netdev_module_init(void)
{
	netdev_wq = alloc_workqueue("erdma-netdev", WQ_UNBOUND, 0);
	return netdev_wq ? 0 : -ENOMEM;
}

/**
 * erdma_netdev_module_exit - for the module, after all devices are removed
 */
void erdma_netdev_module_exit(void)
{
	destroy_workqueue(netdev_wq);
}

static struct net_device *netdev_find(const u8 *mac)
{
	struct net_device *netdev;

	ASSERT_RTNL();
	for_each_netdev(&init_net, netdev)
		if (netdev->addr_len == ETH_ALEN && ether_addr_equal(netdev->perm_addr, mac))
			return netdev;
	return NULL;
}

/**
 * erdma_netdev_pair - find and hold the interface with the adapter's MAC address
 * @dev: @attrs.mac is known; the RDMA device is allocated, not registered
 *
 * Context: process, takes rtnl.
 * Return: 0; -EPROBE_DEFER: there is no such interface yet. The driver core
 * probes again whenever another driver binds to a device.
 */
int erdma_netdev_pair(struct erdma_dev *dev)
{
	struct net_device *netdev;
	int err;

	rtnl_lock();
	netdev = netdev_find(dev->attrs.mac);
	if (netdev)
		dev_hold(netdev);
	rtnl_unlock();
	if (!netdev) {
		dev_info(&dev->pdev->dev,
			 "waiting for a network interface with permanent address %pM\n",
			 dev->attrs.mac);
		return dev_err_probe(&dev->pdev->dev, -EPROBE_DEFER,
				     "no network interface with permanent address %pM\n",
				     dev->attrs.mac);
	}

	err = ib_device_set_netdev(&dev->ibdev, netdev, 1);
	if (err) {
		dev_put(netdev);
		return err;
	}
	dev->netdev = netdev;
	dev->mtu = ETH_DATA_LEN; /* what the device assumes after INIT */
	dev->link_up = false;
	dev->netdev_gone = false;
	return 0;
}

/**
 * erdma_netdev_unpair - let go of the interface
 * @dev: paired, not registered any more
 *
 * Context: process.
 */
void erdma_netdev_unpair(struct erdma_dev *dev)
{
	ib_device_set_netdev(&dev->ibdev, NULL, 1);
	dev_put(dev->netdev);
	dev->netdev = NULL;
}

/* Section 5.3.4: a failure has no consequence here */
static void netdev_mtu_work(struct work_struct *work)
{
	struct erdma_dev *dev = container_of(work, struct erdma_dev, mtu_work);
	u32 mtu = READ_ONCE(dev->netdev->mtu);

	if (mtu == dev->mtu)
		return;
	if (erdma_exec_conf_mtu(dev, mtu))
		ibdev_warn_ratelimited(&dev->ibdev, "the device does not know the new MTU %u\n",
				       mtu);
	else
		erdma_dbg(dev, INIT, INFO, "MTU %u\n", mtu);
	dev->mtu = mtu;
}

static void netdev_event(struct erdma_dev *dev, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &dev->ibdev,
		.event = type,
		.element.port_num = 1,
	};

	ib_dispatch_event(&event);
}

static void netdev_link_changed(struct erdma_dev *dev)
{
	bool up = netif_running(dev->netdev) && netif_carrier_ok(dev->netdev);

	if (up == dev->link_up)
		return;
	dev->link_up = up;
	erdma_dbg(dev, INIT, INFO, "port %s\n", up ? "active" : "down");
	netdev_event(dev, up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
}

static void netdev_reprobe(struct work_struct *work)
{
	struct netdev_gone_work *gone = container_of(work, struct netdev_gone_work, work);
	int err;

	/* Somebody else may have unbound it meanwhile, and wants it that way */
	if (READ_ONCE(gone->pdev->dev.driver) == gone->driver) {
		err = device_reprobe(&gone->pdev->dev);
		if (err)
			dev_err(&gone->pdev->dev, "not probed again: %pe\n", ERR_PTR(err));
	}
	pci_dev_put(gone->pdev);
	kfree(gone);
}

/* Repeated once a second while we hold the interface */
static void netdev_unregistered(struct erdma_dev *dev)
{
	struct netdev_gone_work *gone;

	gone = kmalloc(sizeof(*gone), GFP_KERNEL);
	if (!gone)
		return;
	dev->netdev_gone = true;
	dev_info(&dev->pdev->dev, "network interface %s goes away, so does the RDMA device\n",
		 dev->netdev->name);
	INIT_WORK(&gone->work, netdev_reprobe);
	gone->pdev = pci_dev_get(dev->pdev);
	gone->driver = dev->pdev->dev.driver;
	queue_work(netdev_wq, &gone->work);
}

/* Under rtnl */
static int netdev_handle_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct erdma_dev *dev = container_of(nb, struct erdma_dev, netdev_notifier);
	struct net_device *netdev = netdev_notifier_info_to_dev(ptr);

	if (netdev != dev->netdev || dev->netdev_gone)
		return NOTIFY_DONE;

	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		netdev_link_changed(dev);
		break;
	case NETDEV_CHANGEMTU:
		schedule_work(&dev->mtu_work);
		break;
	case NETDEV_CHANGEADDR:
		netdev_event(dev, IB_EVENT_GID_CHANGE);
		break;
	case NETDEV_CHANGENAME:
		strscpy(dev->ibdev.iw_ifname, netdev->name, sizeof(dev->ibdev.iw_ifname));
		break;
	case NETDEV_UNREGISTER:
		netdev_unregistered(dev);
		break;
	default:
		return NOTIFY_DONE;
	}
	return NOTIFY_OK;
}

/**
 * erdma_netdev_watch - follow the interface from now on
 * @dev: paired and registered
 *
 * Reports the state of the port as it is now, and configures the device with an
 * MTU that it would not assume.
 *
 * Context: process, takes rtnl.
 * Return: 0 or the error of register_netdevice_notifier().
 */
int erdma_netdev_watch(struct erdma_dev *dev)
{
	int err;

	INIT_WORK(&dev->mtu_work, netdev_mtu_work);
	dev->netdev_notifier.notifier_call = netdev_handle_event;
	err = register_netdevice_notifier(&dev->netdev_notifier);
	if (err)
		return err;
	schedule_work(&dev->mtu_work);
	return 0;
}

/**
 * erdma_netdev_unwatch - undo erdma_netdev_watch()
 * @dev: still registered
 *
 * Context: process, takes rtnl. No notification runs on return.
 */
void erdma_netdev_unwatch(struct erdma_dev *dev)
{
	/* Unregistration replays "down" and "unregister" of every interface */
	rtnl_lock();
	dev->netdev_gone = true;
	rtnl_unlock();
	unregister_netdevice_notifier(&dev->netdev_notifier);
	cancel_work_sync(&dev->mtu_work);
}
