// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A device from nothing and back: a ladder of steps, undone in reverse order
 * (docs/erdma-hardware.md, sections 1, 2.4, 15.1 and 15.2).
 */
#include <linux/cpumask.h>
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/pci.h>

#include <net/addrconf.h>

#include <rdma/ib_verbs.h>

#include "compat/compat_ops.h"
#include "erdma.h"
#include "erdma_recovery.h"
#include "uapi/erdma-abi.h"

static const struct ib_device_ops erdma_dev_ops = {
	.owner = THIS_MODULE,
	.driver_id = ERDMA_RDMA_DRIVER_ID,
	.uverbs_abi_ver = ERDMA_ABI_VERSION,

	ERDMA_ALLOC_HW_STATS_OPS
	.alloc_mr = erdma_alloc_mr,
	.alloc_pd = erdma_alloc_pd,
	.alloc_ucontext = erdma_alloc_ucontext,
	.create_cq = erdma_create_cq_op,
	.create_qp = erdma_create_qp_op,
	.dealloc_pd = erdma_dealloc_pd,
	.dealloc_ucontext = erdma_dealloc_ucontext,
	.dereg_mr = erdma_dereg_mr_op,
	.destroy_cq = erdma_destroy_cq,
	.destroy_qp = erdma_destroy_qp_op,
	.disassociate_ucontext = erdma_disassociate_ucontext,
	.fill_res_cq_entry = erdma_fill_res_cq_entry,
	.fill_res_cq_entry_raw = erdma_fill_res_cq_entry_raw,
	.fill_res_mr_entry = erdma_fill_res_mr_entry,
	.fill_res_qp_entry = erdma_fill_res_qp_entry,
	.fill_res_qp_entry_raw = erdma_fill_res_qp_entry_raw,
	.get_dev_fw_str = erdma_get_dev_fw_str,
	.get_dma_mr = erdma_get_dma_mr,
	.get_hw_stats = erdma_get_hw_stats_op,
	.get_port_immutable = erdma_get_port_immutable_op,
	.iw_accept = erdma_accept,
	.iw_add_ref = erdma_iw_add_ref,
	.iw_connect = erdma_connect,
	.iw_create_listen = erdma_create_listen,
	.iw_destroy_listen = erdma_destroy_listen,
	.iw_get_qp = erdma_iw_get_qp,
	.iw_reject = erdma_reject,
	.iw_rem_ref = erdma_iw_rem_ref,
	.map_mr_sg = erdma_map_mr_sg,
	.mmap = erdma_mmap,
	.modify_qp = erdma_modify_qp,
	.poll_cq = erdma_poll_cq,
	.post_recv = erdma_post_recv,
	.post_send = erdma_post_send,
	.process_mad = erdma_process_mad_op,
	.query_device = erdma_query_device,
	.query_gid = erdma_query_gid_op,
	.query_port = erdma_query_port_op,
	.query_qp = erdma_query_qp,
	.reg_user_mr = erdma_reg_user_mr_op,
	ERDMA_REG_USER_MR_DMABUF_OP
	.req_notify_cq = erdma_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_cq, erdma_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_pd, erdma_pd, ibpd),
	ERDMA_QP_SIZE_OP
	INIT_RDMA_OBJ_SIZE(ib_ucontext, erdma_ucontext, ibucontext),
};

/* ---- PCI function -------------------------------------------------------- */

/* Mapped as part of a larger page, an application would get its neighbours', too (2.6) */
static int pci_check_page_size(struct erdma_dev *dev)
{
	if (erdma_page_size_fits(PAGE_SIZE))
		return 0;
	dev_err(&dev->pdev->dev,
		"doorbell pages have %lu bytes, pages of this kernel %lu: not supported\n",
		BIT(ERDMA_DB_PAGE_SHIFT), PAGE_SIZE);
	return -EOPNOTSUPP;
}

/* Registers that show whether we can drive this function (2.2, 2.3) */
static int pci_identify(struct erdma_dev *dev)
{
	struct device *parent = &dev->pdev->dev;
	u32 version = erdma_read32(&dev->mmio, ERDMA_REG_VERSION);

	if (version == 0 || version == U32_MAX) {
		dev_err(parent,
			"the function is not usable: version register is %#x, expected neither 0 nor %#x\n",
			version, U32_MAX);
		return -ENODEV;
	}
	dev->proto = erdma_read32(&dev->mmio, ERDMA_REG_PROTO);
	if (dev->proto != ERDMA_PROTO_IWARP) {
		dev_err(parent, "protocol register is %u (%s), expected %u (iWARP)\n", dev->proto,
			dev->proto == ERDMA_PROTO_ROCEV2 ? "RoCEv2" : "unknown protocol",
			ERDMA_PROTO_IWARP);
		return -EOPNOTSUPP;
	}
	return 0;
}

/**
 * erdma_pci_stop_leftovers - reset a function that may know addresses
 * @dev: device, BAR0 is mapped
 *
 * They may be those of memory that was freed since.
 *
 * Context: process, may sleep a second. Bus mastering is off, and stays off on error.
 * Return: 0: bus mastering may be enabled; see erdma_reset_leftover().
 */
int erdma_pci_stop_leftovers(struct erdma_dev *dev)
{
	int err = erdma_reset_leftover(&dev->mmio, dev->adapter->reset_unconfirmed);

	if (err)
		dev_err(&dev->pdev->dev, "reset was not confirmed: %pe: the function stays without bus mastering\n",
			ERR_PTR(err));
	else
		dev->adapter->reset_unconfirmed = false;
	return err;
}

static int erdma_pci_init(struct erdma_dev *dev)
{
	struct pci_dev *pdev = dev->pdev;
	int err;

	err = pci_check_page_size(dev);
	if (err)
		return err;
	err = pci_enable_device(pdev);
	if (err)
		return err;
	err = erdma_mmio_init(&dev->mmio, pdev);
	if (err)
		goto err_disable;
	err = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (err)
		goto err_mmio;
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	err = pci_identify(dev);
	if (err)
		goto err_mmio;
	err = erdma_pci_stop_leftovers(dev);
	if (err)
		goto err_mmio;
	pci_set_master(pdev);
	return 0;

err_mmio:
	erdma_mmio_exit(&dev->mmio, pdev);
err_disable:
	pci_disable_device(pdev);
	return err;
}

static void erdma_pci_exit(struct erdma_dev *dev)
{
	erdma_mmio_exit(&dev->mmio, dev->pdev);
	pci_disable_device(dev->pdev); /* also clears bus mastering */
}

/* ---- vectors and pools --------------------------------------------------- */

static int erdma_vectors_init(struct erdma_dev *dev)
{
	int want = min_t(int, num_possible_cpus() + 1, ERDMA_MAX_VECTORS);
	int got;

	/* One is not enough: it serves no completion EQ (1.4) */
	got = pci_alloc_irq_vectors(dev->pdev, 2, want, PCI_IRQ_MSIX);
	if (got < 0) {
		dev_err(&dev->pdev->dev, "no MSI-X vectors: %pe, expected 2 to %d\n",
			ERR_PTR(got), want);
		return got;
	}
	dev->vectors = got;
	return 0;
}

static void erdma_vectors_exit(struct erdma_dev *dev)
{
	pci_free_irq_vectors(dev->pdev);
}

static int erdma_pools_init(struct erdma_dev *dev)
{
	struct device *parent = &dev->pdev->dev;

	dev->dbrec_pool = dma_pool_create("erdma_dbrec", parent, ERDMA_DBREC_SIZE,
					  ERDMA_DBREC_SIZE, 0);
	if (!dev->dbrec_pool)
		return -ENOMEM;
	dev->response_pool = dma_pool_create("erdma_resp", parent, ERDMA_RESP_BUF_SIZE,
					     ERDMA_RESP_BUF_SIZE, 0);
	if (!dev->response_pool) {
		dma_pool_destroy(dev->dbrec_pool);
		return -ENOMEM;
	}
	return 0;
}

/**
 * erdma_pools_exit - destroy the DMA pools if the device reaches no memory
 * @dev: device; else they are leaked, with what it may still use of them
 *
 * Context: process.
 */
void erdma_pools_exit(struct erdma_dev *dev)
{
	if (!dev->dma_off)
		return;
	dma_pool_destroy(dev->response_pool);
	dma_pool_destroy(dev->dbrec_pool);
	dev->response_pool = NULL;
	dev->dbrec_pool = NULL;
}

/* ---- bring-up ------------------------------------------------------------ */

static irqreturn_t common_irq(int irq, void *arg)
{
	struct erdma_dev *dev = arg;

	erdma_cmdq_irq(&dev->cmdq);
	erdma_async_eq_irq(dev);
	return IRQ_HANDLED;
}

static int bringup_queues(struct erdma_dev *dev)
{
	int err;

	err = erdma_async_eq_init(dev);
	if (err)
		return err;

	dev->cmdq.mmio = &dev->mmio;
	dev->cmdq.dma_dev = &dev->pdev->dev;
	dev->cmdq.dbrec_pool = dev->dbrec_pool;
	dev->cmdq.stats = &dev->stats;
	dev->cmdq.dev = dev;
	dev->cmdq.on_dead = erdma_lost_cmdq_died;
	err = erdma_cmdq_init(&dev->cmdq);
	if (err)
		erdma_async_eq_exit(dev);
	return err;
}

/**
 * erdma_bringup_exit - stop the device and free what it used
 * @dev: device that was started; without objects
 *
 * Leaks all of it unless the device certainly does not use it any more: @dev->dma_off
 * says so afterwards.
 *
 * Context: process, may sleep a second.
 */
void erdma_bringup_exit(struct erdma_dev *dev)
{
	WRITE_ONCE(dev->dma_off, erdma_stop_dma(&dev->mmio));
	dev->adapter->reset_unconfirmed = dev->mmio.unconfirmed;
	free_irq(dev->common_irq, dev);
	if (!dev->dma_off) {
		dev_err(&dev->pdev->dev,
			"neither the reset nor the end of bus mastering was confirmed: memory is leaked, the device may still write to buffers of consumers\n");
		erdma_cmdq_forget_caller(&dev->cmdq);
		return;
	}
	erdma_cmdq_exit(&dev->cmdq);
	erdma_async_eq_exit(dev);
	erdma_free_deferred(dev);
}

/**
 * erdma_bringup_init - AEQ, command queue, vector 0, INIT
 * @dev: device with vectors and pools, not started
 *
 * The rings exist before their handler is installed, and until after it is removed.
 *
 * Context: process, may sleep 11 seconds.
 * Return: 0; -ENOMEM; of request_irq(); of erdma_wait_init(): the device is stopped as
 * by erdma_bringup_exit().
 */
int erdma_bringup_init(struct erdma_dev *dev)
{
	struct device *parent = &dev->pdev->dev;
	int err;

	err = bringup_queues(dev);
	if (err)
		return err;

	dev->common_irq = pci_irq_vector(dev->pdev, ERDMA_VECTOR_COMMON);
	snprintf(dev->common_name, sizeof(dev->common_name), "erdma-common@pci:%s",
		 pci_name(dev->pdev));
	err = request_irq(dev->common_irq, common_irq, 0, dev->common_name, dev);
	if (err) {
		dev_err(parent, "no common interrupt: %pe\n", ERR_PTR(err));
		goto err_queues;
	}
	dev->dma_off = false;
	err = erdma_wait_init(&dev->mmio);
	if (err) {
		dev_err(parent, "the function does not become ready: %pe\n", ERR_PTR(err));
		erdma_bringup_exit(dev);
		return err;
	}
	return 0;

err_queues:
	erdma_cmdq_exit(&dev->cmdq);
	erdma_async_eq_exit(dev);
	return err;
}

/* Completion EQs are created while completions are still polled (15.1, step 8) */
static int erdma_events_init(struct erdma_dev *dev)
{
	int err;

	err = erdma_comp_eqs_init(dev);
	if (err) {
		dev_err(&dev->pdev->dev, "no completion EQs: %pe\n", ERR_PTR(err));
		return err;
	}
	erdma_cmdq_start_events(&dev->cmdq);
	return 0;
}

static void erdma_events_exit(struct erdma_dev *dev)
{
	erdma_comp_eqs_exit(dev);
}

/* ---- what the device is and has ------------------------------------------ */

/* Interfaces without an address have zeros there, the loopback interface among them */
static int attrs_read_mac(struct erdma_dev *dev)
{
	u32 lo = erdma_read32(&dev->mmio, ERDMA_REG_MAC_LO);
	u32 hi = erdma_read32(&dev->mmio, ERDMA_REG_MAC_HI);

	u64_to_ether_addr((u64)(hi & 0xffff) << 32 | lo, dev->attrs.mac);
	if (is_valid_ether_addr(dev->attrs.mac))
		return 0;
	dev_err(&dev->pdev->dev, "the device has MAC address %pM, expected that of its network interface\n",
		dev->attrs.mac);
	return -ENODEV;
}

static int erdma_attrs_init(struct erdma_dev *dev)
{
	struct device *parent = &dev->pdev->dev;
	u64 cap0, cap1;
	int err;

	err = erdma_exec_query_device(dev, &cap0, &cap1);
	if (err)
		return err;
	err = erdma_parse_caps(&dev->attrs, cap0, cap1);
	if (err) {
		dev_err(parent, "the device offers no queue pairs: QBLOCK of capability word %#llx is 0\n",
			cap1);
		return err;
	}
	if (!erdma_has_local_dma_key(&dev->attrs))
		dev_warn(parent, "local DMA key %#x names a memory region, expected index %u or above: not used\n",
			 dev->attrs.local_dma_key, dev->attrs.max_mr);

	err = erdma_exec_query_fw(dev, &dev->attrs.fw_version);
	if (err)
		return err;
	if (dev->attrs.flags & ERDMA_FLAG_EXT_DB) {
		err = erdma_exec_conf_device(dev);
		if (err)
			return err;
	}
	return attrs_read_mac(dev);
}

static void tables_exit(struct erdma_dev *dev)
{
	erdma_db_exit(dev);
	erdma_objtab_exit(&dev->cqs);
	erdma_objtab_exit(&dev->qps);
	erdma_objtab_exit(&dev->ctxs);
	erdma_objtab_exit(&dev->mrs);
	erdma_objtab_exit(&dev->pds);
}

/* The first number is 1; the lowest may be handed out once it is its turn (6.4) */
static int tables_init(struct erdma_dev *dev)
{
	int err;

	err = erdma_objtab_size(&dev->pds, 0, ERDMA_MAX_PD - 1) ?:
	      erdma_objtab_size(&dev->mrs, 0, dev->attrs.max_mr - 1) ?:
	      erdma_objtab_size(&dev->ctxs, 1, ERDMA_MAX_CONTEXTS) ?:
	      erdma_objtab_size(&dev->qps, 1, max(dev->attrs.max_qp, 1U) - 1) ?:
	      erdma_objtab_size(&dev->cqs, 1, max(dev->attrs.max_cq, 1U) - 1) ?:
	      erdma_db_init(dev);
	if (err) {
		tables_exit(dev);
		return err;
	}
	if (!erdma_has_local_dma_key(&dev->attrs))
		erdma_idtab_reserve(&dev->mrs.ids, FIELD_GET(ERDMA_STAG_INDEX,
							     dev->attrs.local_dma_key));
	return 0;
}

/* Numbers, tables and work queues of the objects */
static int erdma_objects_init(struct erdma_dev *dev)
{
	int err;

	/* Reclaim may wait for a QP to be flushed */
	dev->reflusher = alloc_workqueue("erdma-reflush-%s", WQ_UNBOUND | WQ_MEM_RECLAIM, 0,
					 pci_name(dev->pdev));
	if (!dev->reflusher)
		return -ENOMEM;

	err = tables_init(dev);
	if (err) {
		destroy_workqueue(dev->reflusher);
		return err;
	}
	erdma_cm_dev_init(dev);
	erdma_lost_watch(dev);
	return 0;
}

static void erdma_objects_exit(struct erdma_dev *dev)
{
	erdma_cm_dev_exit(dev);
	erdma_lost_unwatch(dev);
	destroy_workqueue(dev->reflusher);
	tables_exit(dev);
}

/* ---- registration -------------------------------------------------------- */

/*
 * Under the name of the device before, if that is still free. The first is that of the
 * adapter's number: udev may be renaming the device of another, whose name is free meanwhile.
 */
static int register_by_name(struct erdma_dev *dev)
{
	const char *name = dev->adapter->name;
	int err = -ENFILE;

	/* What an administrator called it is no pattern */
	if (*name && !strchr(name, '%'))
		err = ib_register_device(&dev->ibdev, name, &dev->pdev->dev);
	if (err == -ENFILE)
		err = ib_register_device(&dev->ibdev, "erdma_%d", &dev->pdev->dev);
	return err;
}

static int erdma_register(struct erdma_dev *dev)
{
	struct ib_device *ibdev = &dev->ibdev;
	int err;

	ibdev->num_comp_vectors = dev->n_comp_eqs;
	if (erdma_has_local_dma_key(&dev->attrs))
		ibdev->local_dma_lkey = dev->attrs.local_dma_key;
	addrconf_addr_eui48((u8 *)&ibdev->node_guid, dev->netdev->dev_addr);
	strscpy(ibdev->iw_ifname, dev->netdev->name, sizeof(ibdev->iw_ifname));
	ibdev->iw_driver_flags = IW_F_NO_PORT_MAP; /* TCP ports are real ones (12.1) */
	ib_set_device_ops(ibdev, &erdma_dev_ops);
	erdma_allow_commands(ibdev);

	WRITE_ONCE(dev->registering, current);
	err = register_by_name(dev);
	WRITE_ONCE(dev->registering, NULL);
	if (err) {
		dev_err(&dev->pdev->dev, "no RDMA device: %pe\n", ERR_PTR(err));
		return err;
	}
	/* Gone with the directory they are in */
	err = sysfs_create_group(&ibdev->dev.kobj, &erdma_attr_group);
	if (!err)
		err = erdma_netdev_watch(dev);
	if (err)
		goto err_unregister;
	/* The adapter works without its diagnostics node */
	if (!erdma_diag_has_node(dev))
		ibdev_warn(ibdev, "no diagnostics node\n");
	return 0;

err_unregister:
	ib_unregister_device(ibdev);
	return err;
}

static void erdma_unregister(struct erdma_dev *dev)
{
	erdma_diag_remove(dev);
	erdma_netdev_unwatch(dev);
	ib_unregister_device(&dev->ibdev);
}

/* ---- up and down ---------------------------------------------------------- */

/* In the order of section 15.1; the way down goes backwards */
static const struct erdma_step {
	int (*init)(struct erdma_dev *dev);
	void (*exit)(struct erdma_dev *dev);
} erdma_steps[] = {
	{ erdma_pci_init, erdma_pci_exit },
	{ erdma_vectors_init, erdma_vectors_exit },
	{ erdma_pools_init, erdma_pools_exit },
	{ erdma_bringup_init, erdma_bringup_exit },
	{ erdma_events_init, erdma_events_exit },
	{ erdma_attrs_init, NULL },
	{ erdma_netdev_pair, erdma_netdev_unpair },
	{ erdma_objects_init, erdma_objects_exit },
	{ erdma_watchdog_start, erdma_watchdog_stop },
	{ erdma_register, erdma_unregister },
};

static void erdma_undo_steps(struct erdma_dev *dev, int n)
{
	while (n--)
		if (erdma_steps[n].exit)
			erdma_steps[n].exit(dev);
}

static struct erdma_dev *erdma_alloc(struct erdma_adapter *adapter)
{
	struct erdma_dev *dev;

	dev = ib_alloc_device(erdma_dev, ibdev);
	if (!dev)
		return NULL;
	dev->adapter = adapter;
	dev->pdev = adapter->pdev;
	dev->diag_minor = adapter->diag_minor;
	dev->stats = adapter->stats;
	dev->rec = adapter->rec;
	dev->ibdev.dev.parent = &dev->pdev->dev;
	dev->ibdev.node_type = RDMA_NODE_RNIC;
	dev->ibdev.phys_port_cnt = 1;
	dev->dma_off = true;	/* not started */
	spin_lock_init(&dev->lost_lock);
	INIT_DELAYED_WORK(&dev->stop_work, erdma_stop_work);
	INIT_WORK(&dev->coredump_work, erdma_coredump_work);
	erdma_debug_init(&dev->dbg);
	erdma_debug_copy(&dev->dbg, &adapter->dbg);
	INIT_LIST_HEAD(&dev->deferred);
	mutex_init(&dev->deferred_lock);
	erdma_stats_init(dev);
	erdma_objtab_init(&dev->pds);
	erdma_objtab_init(&dev->mrs);
	erdma_objtab_init(&dev->ctxs);
	erdma_objtab_init(&dev->qps);
	erdma_objtab_init(&dev->cqs);
	return dev;
}

static void erdma_free(struct erdma_dev *dev)
{
	mutex_destroy(&dev->deferred_lock);
	erdma_debug_exit(&dev->dbg);
	ib_dealloc_device(&dev->ibdev);
}

/**
 * erdma_up - bring up a device for an adapter that has none
 * @adapter: adapter; on success @adapter->dev is its registered device
 *
 * Context: process, under the lock of the PCI function's struct device.
 * Return: 0; -EPROBE_DEFER: no network interface yet; the error of a step.
 */
int erdma_up(struct erdma_adapter *adapter)
{
	char fw[IB_FW_VERSION_NAME_MAX];
	struct erdma_dev *dev;
	int err, i;

	dev = erdma_alloc(adapter);
	if (!dev)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(erdma_steps); i++) {
		err = erdma_steps[i].init(dev);
		if (err)
			goto err_undo;
	}
	adapter->dev = dev;
	WRITE_ONCE(dev->probed_ns, ktime_get_ns());
	erdma_get_dev_fw_str(&dev->ibdev, fw);
	ibdev_info(&dev->ibdev, "paired with %s, firmware %s, completion vectors: %u\n",
		   netdev_name(dev->netdev), fw, dev->n_comp_eqs);
	return 0;

err_undo:
	erdma_undo_steps(dev, i);
	adapter->stats = dev->stats;
	erdma_free(dev);
	return err;
}

/**
 * erdma_down - take down the device of an adapter
 * @adapter: adapter with a device, lost or not
 *
 * Unregisters the RDMA device and waits for its consumers to leave. Counters, debug
 * levels and the name of the RDMA device stay for the next erdma_up().
 *
 * Context: process, under the lock of the PCI function's struct device.
 */
void erdma_down(struct erdma_adapter *adapter)
{
	struct erdma_dev *dev = adapter->dev;

	erdma_stop_qps_soon(dev);
	adapter->dev = NULL;
	strscpy(adapter->name, dev_name(&dev->ibdev.dev), sizeof(adapter->name));
	erdma_undo_steps(dev, ARRAY_SIZE(erdma_steps));
	adapter->stats = dev->stats;
	erdma_debug_copy(&adapter->dbg, &dev->dbg);
	erdma_free(dev);
}
