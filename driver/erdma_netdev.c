// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The network interface the adapter belongs to: pairing by permanent MAC
 * address, MTU and link changes (docs/erdma-hardware.md, section 12.2).
 *
 * The interface is held from pairing until removal, so everybody may use
 * erdma_dev.netdev without a lock while the device exists. When the interface
 * goes away or leaves the initial network namespace, the driver is unbound from
 * the adapter and probed again: the probe is deferred. The driver core repeats it
 * when any driver binds to a device. An interface that comes back from another
 * namespace is no such event: adapters that wait are on a list, and probed when
 * an interface with their address appears. So are adapters that have a driver, but
 * no device, because the interface was missing after a reset.
 */
#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "compat/compat_rdma.h"
#include "erdma.h"

#define MTU_TRIES	5
#define MTU_RETRY_MS	10000

/* Unbinding work outlives the erdma_dev it removes: it has a queue of its own */
static struct workqueue_struct *netdev_wq;
static void (*netdev_bring_up)(struct pci_dev *pdev);

struct netdev_gone_work {
	struct work_struct work;
	struct pci_dev *pdev;
	struct device_driver *driver;
};

/**
 * struct netdev_waiting - an adapter without its interface
 * @list: in netdev_waiting
 * @work: probes it, or has its device brought up
 * @pdev: held
 * @mac: of the interface
 */
struct netdev_waiting {
	struct list_head list;
	struct work_struct work;
	struct pci_dev *pdev;
	u8 mac[ETH_ALEN];
};

/* Under rtnl */
static LIST_HEAD(netdev_waiting);

/* ---- adapters that wait ------------------------------------------------------ */

static void netdev_probe(struct work_struct *work)
{
	struct netdev_waiting *w = container_of(work, struct netdev_waiting, work);
	int ret;

	/* The probe may fail for another reason, or have to wait again. 1: there is a driver */
	ret = device_attach(&w->pdev->dev);
	if (ret == 1)
		netdev_bring_up(w->pdev);
	else if (ret < 0 && ret != -EPROBE_DEFER)
		dev_err(&w->pdev->dev, "not probed again: %pe\n", ERR_PTR(ret));
	pci_dev_put(w->pdev);
	kfree(w);
}

static int netdev_wait(struct erdma_dev *dev)
{
	struct netdev_waiting *w;

	ASSERT_RTNL();
	list_for_each_entry(w, &netdev_waiting, list)
		if (w->pdev == dev->pdev)
			return 0;
	w = kzalloc(sizeof(*w), GFP_KERNEL);
	if (!w)
		return -ENOMEM;
	w->pdev = pci_dev_get(dev->pdev);
	ether_addr_copy(w->mac, dev->attrs.mac);
	INIT_WORK(&w->work, netdev_probe);
	list_add(&w->list, &netdev_waiting);
	return 0;
}

/* It waits no longer */
static void netdev_forget(struct pci_dev *pdev)
{
	struct netdev_waiting *w, *next;

	ASSERT_RTNL();
	list_for_each_entry_safe(w, next, &netdev_waiting, list) {
		if (pdev && w->pdev != pdev)
			continue;
		list_del(&w->list);
		pci_dev_put(w->pdev);
		kfree(w);
	}
}

static bool netdev_is_of(const struct net_device *netdev, const u8 *mac)
{
	return netdev->addr_len == ETH_ALEN && ether_addr_equal(netdev->perm_addr, mac);
}

/* Under rtnl */
static int netdev_appeared(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(ptr);
	struct netdev_waiting *w, *next;

	if (event != NETDEV_REGISTER || !net_eq(dev_net(netdev), &init_net))
		return NOTIFY_DONE;
	list_for_each_entry_safe(w, next, &netdev_waiting, list) {
		if (!netdev_is_of(netdev, w->mac))
			continue;
		list_del(&w->list);
		queue_work(netdev_wq, &w->work);
	}
	return NOTIFY_OK;
}

static struct notifier_block netdev_appeared_nb = { .notifier_call = netdev_appeared };

/**
 * erdma_netdev_module_init - for the module
 * @bring_up: called in process context, without a lock, when the interface of an
 *	adapter with a driver appeared that waited for it
 *
 * Return: 0 or -errno.
 */
int erdma_netdev_module_init(void (*bring_up)(struct pci_dev *pdev))
{
	int err;

	netdev_bring_up = bring_up;
	netdev_wq = alloc_workqueue("erdma-netdev", WQ_UNBOUND, 0);
	if (!netdev_wq)
		return -ENOMEM;
	err = register_netdevice_notifier(&netdev_appeared_nb);
	if (err)
		destroy_workqueue(netdev_wq);
	return err;
}

/**
 * erdma_netdev_module_exit - for the module, after all devices are removed
 */
void erdma_netdev_module_exit(void)
{
	unregister_netdevice_notifier(&netdev_appeared_nb);
	destroy_workqueue(netdev_wq);
	rtnl_lock();
	netdev_forget(NULL);
	rtnl_unlock();
}

/**
 * erdma_netdev_forget - an adapter waits no longer for its interface
 * @pdev: its PCI function, which the driver leaves
 *
 * Context: process, takes rtnl.
 */
void erdma_netdev_forget(struct pci_dev *pdev)
{
	rtnl_lock();
	netdev_forget(pdev);
	rtnl_unlock();
}

/* ---- the interface of an adapter ---------------------------------------------- */

static struct net_device *netdev_find(const u8 *mac)
{
	struct net_device *netdev;

	ASSERT_RTNL();
	for_each_netdev(&init_net, netdev)
		if (netdev_is_of(netdev, mac))
			return netdev;
	return NULL;
}

/**
 * erdma_netdev_pair - find and hold the interface with the adapter's MAC address
 * @dev: @attrs.mac is known; the RDMA device is allocated, not registered
 *
 * Context: process, takes rtnl.
 * Return: 0; -EPROBE_DEFER: there is no such interface yet. The adapter is probed,
 * or its device brought up, when it appears; a probe is also repeated whenever
 * another driver binds to a device. -ENOMEM: nobody would notice that it appears.
 */
int erdma_netdev_pair(struct erdma_dev *dev)
{
	struct net_device *netdev;
	int err = 0;

	rtnl_lock();
	netdev = netdev_find(dev->attrs.mac);
	if (netdev) {
		dev_hold(netdev);
		netdev_forget(dev->pdev);
	} else {
		err = netdev_wait(dev);
	}
	rtnl_unlock();
	if (err)
		return err;
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

/* For those who look */
static void netdev_record_mtu(struct erdma_dev *dev, u32 mtu, int err)
{
	WRITE_ONCE(dev->mtu_cmd.mtu, mtu);
	WRITE_ONCE(dev->mtu_cmd.err, -err);
	WRITE_ONCE(dev->mtu_cmd.failures, err ? dev->mtu_cmd.failures + 1 : 0);
	WRITE_ONCE(dev->mtu_cmd.ns, ktime_get_ns());
}

/* Section 5.3.4. A device that did not confirm an MTU is asked again, and not for ever. */
static void netdev_mtu_work(struct work_struct *work)
{
	struct erdma_dev *dev = container_of(to_delayed_work(work), struct erdma_dev, mtu_work);
	u32 mtu = READ_ONCE(dev->netdev->mtu);
	int err;

	if (mtu == dev->mtu)
		return;
	err = erdma_exec_conf_mtu(dev, mtu);
	netdev_record_mtu(dev, mtu, err);
	if (!err) {
		WRITE_ONCE(dev->mtu, mtu);
		dev->mtu_tries = 0;
		erdma_rec_link(dev->rec, ERDMA_DIAG_LINK_MTU, mtu, 0);
		erdma_dbg(dev, INIT, INFO, "MTU %u\n", mtu);
		return;
	}
	WRITE_ONCE(dev->mtu, 0);
	erdma_rec_link(dev->rec, ERDMA_DIAG_LINK_MTU, mtu, err);
	erdma_dbg(dev, INIT, ERR, "the device does not know the new MTU %u\n", mtu);
	if (++dev->mtu_tries < MTU_TRIES)
		queue_delayed_work(netdev_wq, &dev->mtu_work, msecs_to_jiffies(MTU_RETRY_MS));
	else
		dev->mtu_tries = 0;
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
	if (!up)
		erdma_stat_inc(&dev->stats, ERDMA_STAT_LINK_DOWNED);
	erdma_rec_link(dev->rec, up ? ERDMA_DIAG_LINK_UP : ERDMA_DIAG_LINK_DOWN,
		       READ_ONCE(dev->netdev->mtu), 0);
	erdma_dbg(dev, INIT, INFO, "port %s\n", up ? "active" : "down");
	if (!ERDMA_CORE_REPORTS_PORT)
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
	erdma_rec_link(dev->rec, ERDMA_DIAG_LINK_GONE, READ_ONCE(dev->netdev->mtu), 0);
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
		mod_delayed_work(netdev_wq, &dev->mtu_work, 0);
		break;
	case NETDEV_CHANGEADDR:
		netdev_event(dev, IB_EVENT_GID_CHANGE);
		break;
	case NETDEV_REGISTER:
		/* Replayed for us: it may have been moved or renamed since it was paired */
		if (!net_eq(dev_net(netdev), &init_net)) {
			netdev_unregistered(dev);
			break;
		}
		fallthrough;
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

	INIT_DELAYED_WORK(&dev->mtu_work, netdev_mtu_work);
	dev->netdev_notifier.notifier_call = netdev_handle_event;
	err = register_netdevice_notifier(&dev->netdev_notifier);
	if (err)
		return err;
	queue_delayed_work(netdev_wq, &dev->mtu_work, 0);
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
	cancel_delayed_work_sync(&dev->mtu_work);
}
