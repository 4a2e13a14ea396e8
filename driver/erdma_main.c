// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Probe and removal: a ladder of steps, undone in reverse order
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

#include "compat/compat.h"
#include "erdma.h"
#include "uapi/erdma-abi.h"

static const struct pci_device_id erdma_pci_ids[] = {
	{ PCI_DEVICE(ERDMA_PCI_VENDOR_ID, ERDMA_PCI_DEVICE_ID) },
	{ }
};
MODULE_DEVICE_TABLE(pci, erdma_pci_ids);

static const struct ib_device_ops erdma_dev_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_ERDMA,
	.uverbs_abi_ver = ERDMA_ABI_VERSION,

	.alloc_hw_port_stats = erdma_alloc_hw_port_stats,
	.alloc_mr = erdma_alloc_mr,
	.alloc_pd = erdma_alloc_pd,
	.alloc_ucontext = erdma_alloc_ucontext,
	.create_cq = erdma_create_cq_op,
	.create_qp = erdma_create_qp,
	.dealloc_pd = erdma_dealloc_pd,
	.dealloc_ucontext = erdma_dealloc_ucontext,
	.dereg_mr = erdma_dereg_mr,
	.destroy_cq = erdma_destroy_cq,
	.destroy_qp = erdma_destroy_qp,
	.disassociate_ucontext = erdma_disassociate_ucontext,
	.fill_res_cq_entry = erdma_fill_res_cq_entry,
	.fill_res_mr_entry = erdma_fill_res_mr_entry,
	.fill_res_qp_entry = erdma_fill_res_qp_entry,
	.get_dev_fw_str = erdma_get_dev_fw_str,
	.get_dma_mr = erdma_get_dma_mr,
	.get_hw_stats = erdma_get_hw_stats,
	.get_port_immutable = erdma_get_port_immutable,
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
	.mmap_free = erdma_mmap_free,
	.modify_qp = erdma_modify_qp,
	.poll_cq = erdma_poll_cq,
	.post_recv = erdma_post_recv,
	.post_send = erdma_post_send,
	.query_device = erdma_query_device,
	.query_gid = erdma_query_gid,
	.query_port = erdma_query_port,
	.query_qp = erdma_query_qp,
	.reg_user_mr = erdma_reg_user_mr,
	.req_notify_cq = erdma_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_cq, erdma_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_pd, erdma_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, erdma_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, erdma_ucontext, ibucontext),
};

/* ---- PCI function -------------------------------------------------------- */

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

/* A crashed or kexec'ed kernel may have left its queues behind (15.3) */
static void pci_stop_leftovers(struct erdma_dev *dev)
{
	u32 status = erdma_read32(&dev->mmio, ERDMA_REG_STATUS);
	int err;

	if (!(status & ERDMA_STATUS_INIT_DONE))
		return;
	dev_info(&dev->pdev->dev, "the function was left running (status %#x): reset\n", status);
	err = erdma_reset_device(&dev->mmio);
	if (err)
		dev_warn(&dev->pdev->dev, "reset was not confirmed: %pe\n", ERR_PTR(err));
}

static int erdma_pci_init(struct erdma_dev *dev)
{
	struct pci_dev *pdev = dev->pdev;
	int err;

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
	pci_stop_leftovers(dev);
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

static void erdma_pools_exit(struct erdma_dev *dev)
{
	dma_pool_destroy(dev->response_pool);
	dma_pool_destroy(dev->dbrec_pool);
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
	err = erdma_cmdq_init(&dev->cmdq);
	if (err)
		erdma_async_eq_exit(dev);
	return err;
}

/*
 * AEQ, command queue, vector 0, INIT. The rings exist before their handler is
 * installed, and until after it is removed.
 */
static int erdma_bringup_init(struct erdma_dev *dev)
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
	err = erdma_wait_init(&dev->mmio);
	if (err) {
		dev_err(parent, "the function does not become ready: %pe\n", ERR_PTR(err));
		goto err_reset;
	}
	return 0;

err_reset:
	erdma_reset_device(&dev->mmio);
	free_irq(dev->common_irq, dev);
err_queues:
	erdma_cmdq_exit(&dev->cmdq);
	erdma_async_eq_exit(dev);
	return err;
}

static void erdma_bringup_exit(struct erdma_dev *dev)
{
	/* If it does not reset, it at least reaches no memory any more */
	if (erdma_reset_device(&dev->mmio))
		pci_clear_master(dev->pdev);
	free_irq(dev->common_irq, dev);
	erdma_cmdq_exit(&dev->cmdq);
	erdma_async_eq_exit(dev);
	erdma_free_deferred(dev);
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

static void attrs_read_mac(struct erdma_dev *dev)
{
	u32 lo = erdma_read32(&dev->mmio, ERDMA_REG_MAC_LO);
	u32 hi = erdma_read32(&dev->mmio, ERDMA_REG_MAC_HI);

	u64_to_ether_addr((u64)(hi & 0xffff) << 32 | lo, dev->attrs.mac);
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
	if (FIELD_GET(ERDMA_STAG_INDEX, dev->attrs.local_dma_key) < dev->attrs.max_mr)
		dev_warn(parent, "local DMA key %#x names a memory region, expected index %u or above\n",
			 dev->attrs.local_dma_key, dev->attrs.max_mr);

	err = erdma_exec_query_fw(dev, &dev->attrs.fw_version);
	if (err)
		return err;
	if (dev->attrs.flags & ERDMA_FLAG_EXT_DB) {
		err = erdma_exec_conf_device(dev);
		if (err)
			return err;
	}
	attrs_read_mac(dev);
	return 0;
}

/* Numbers, tables and work queues of the objects */
static int erdma_objects_init(struct erdma_dev *dev)
{
	dev->reflusher = alloc_workqueue("erdma-reflush-%s", WQ_UNBOUND, 0,
					 pci_name(dev->pdev));
	if (!dev->reflusher)
		return -ENOMEM;

	/* First number 1; the lowest may be handed out once it is its turn (6.4) */
	erdma_idtab_init(&dev->pd_ids, 1, 0, ERDMA_MAX_PD - 1);
	erdma_idtab_init(&dev->mr_ids, 1, 0, dev->attrs.max_mr - 1);
	dev->next_qpn = 1;
	dev->next_cqn = 1;
	erdma_cm_dev_init(dev);
	return 0;
}

static void erdma_objects_exit(struct erdma_dev *dev)
{
	erdma_cm_dev_exit(dev);
	destroy_workqueue(dev->reflusher);
	erdma_idtab_exit(&dev->mr_ids);
	erdma_idtab_exit(&dev->pd_ids);
	WARN_ON(!xa_empty(&dev->qps));
	WARN_ON(!xa_empty(&dev->cqs));
}

/* ---- registration -------------------------------------------------------- */

static int erdma_register(struct erdma_dev *dev)
{
	struct ib_device *ibdev = &dev->ibdev;
	int err;

	ibdev->num_comp_vectors = dev->n_comp_eqs;
	ibdev->local_dma_lkey = dev->attrs.local_dma_key;
	addrconf_addr_eui48((u8 *)&ibdev->node_guid, dev->netdev->dev_addr);
	strscpy(ibdev->iw_ifname, dev->netdev->name, sizeof(ibdev->iw_ifname));
	ibdev->iw_driver_flags = IW_F_NO_PORT_MAP; /* TCP ports are real ones (12.1) */
	ib_set_device_ops(ibdev, &erdma_dev_ops);

	err = ib_register_device(ibdev, "erdma_%d", &dev->pdev->dev);
	if (err) {
		dev_err(&dev->pdev->dev, "no RDMA device: %pe\n", ERR_PTR(err));
		return err;
	}
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

/* ---- probe and removal --------------------------------------------------- */

/* In the order of section 15.1; removal goes backwards */
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
	{ erdma_register, erdma_unregister },
};

static void erdma_undo_steps(struct erdma_dev *dev, int n)
{
	while (n--)
		if (erdma_steps[n].exit)
			erdma_steps[n].exit(dev);
}

static void erdma_free(struct erdma_dev *dev)
{
	xa_destroy(&dev->cqs);
	xa_destroy(&dev->qps);
	mutex_destroy(&dev->deferred_lock);
	erdma_debug_exit(&dev->dbg);
	ib_dealloc_device(&dev->ibdev);
}

static int erdma_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	char fw[IB_FW_VERSION_NAME_MAX];
	struct erdma_dev *dev;
	int err, i;

	dev = ib_alloc_device(erdma_dev, ibdev);
	if (!dev)
		return -ENOMEM;
	dev->pdev = pdev;
	dev->ibdev.dev.parent = &pdev->dev;
	dev->ibdev.node_type = RDMA_NODE_RNIC;
	dev->ibdev.phys_port_cnt = 1;
	erdma_debug_init(&dev->dbg);
	INIT_LIST_HEAD(&dev->deferred);
	mutex_init(&dev->deferred_lock);
	xa_init_flags(&dev->qps, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&dev->cqs, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	pci_set_drvdata(pdev, dev);

	for (i = 0; i < ARRAY_SIZE(erdma_steps); i++) {
		err = erdma_steps[i].init(dev);
		if (err)
			goto err_undo;
	}
	erdma_get_dev_fw_str(&dev->ibdev, fw);
	ibdev_info(&dev->ibdev, "paired with %s, firmware %s, completion vectors: %u\n",
		   netdev_name(dev->netdev), fw, dev->n_comp_eqs);
	return 0;

err_undo:
	erdma_undo_steps(dev, i);
	erdma_free(dev);
	return err;
}

static void erdma_remove(struct pci_dev *pdev)
{
	struct erdma_dev *dev = pci_get_drvdata(pdev);

	/* Nobody answers from a slot that is empty: do not wait for it */
	if (erdma_device_is_gone(&dev->mmio))
		erdma_cmdq_kill(&dev->cmdq);
	erdma_undo_steps(dev, ARRAY_SIZE(erdma_steps));
	erdma_free(dev);
}

/* Reboot, power-off, kexec: no DMA into the next kernel's memory */
static void erdma_shutdown(struct pci_dev *pdev)
{
	struct erdma_dev *dev = pci_get_drvdata(pdev);

	erdma_cmdq_kill(&dev->cmdq);
	erdma_reset_device(&dev->mmio);
	pci_clear_master(pdev);
}

static struct pci_driver erdma_pci_driver = {
	.name = ERDMA_DRV_NAME,
	.id_table = erdma_pci_ids,
	.probe = erdma_probe,
	.remove = erdma_remove,
	.shutdown = erdma_shutdown,
};

static int __init erdma_module_init(void)
{
	int err;

	err = erdma_netdev_module_init();
	if (err)
		return err;
	err = erdma_cm_module_init();
	if (err)
		goto err_netdev;
	err = erdma_diag_module_init();
	if (err)
		goto err_cm;
	err = pci_register_driver(&erdma_pci_driver);
	if (err)
		goto err_diag;
	return 0;

err_diag:
	erdma_diag_module_exit();
err_cm:
	erdma_cm_module_exit();
err_netdev:
	erdma_netdev_module_exit();
	return err;
}

static void __exit erdma_module_exit(void)
{
	pci_unregister_driver(&erdma_pci_driver);
	/* Before what a probe needs, because it may still be probing */
	erdma_netdev_module_exit();
	erdma_diag_module_exit();
	erdma_cm_module_exit();
}

module_init(erdma_module_init);
module_exit(erdma_module_exit);

MODULE_AUTHOR("The erdma project");
MODULE_DESCRIPTION("Alibaba Elastic RDMA Adapter");
MODULE_VERSION(ERDMA_DRV_VERSION);
MODULE_LICENSE("Dual BSD/GPL");
