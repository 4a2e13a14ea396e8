// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * PCI driver and module: probe, removal, shutdown (docs/erdma-hardware.md,
 * sections 15.1 to 15.3). What happens in between is in erdma_recovery.c.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/pci.h>

#include "compat/compat.h"
#include "erdma.h"
#include "erdma_recovery.h"
#include "erdma_trace.h"

static const struct pci_device_id erdma_pci_ids[] = {
	{ PCI_DEVICE(ERDMA_PCI_VENDOR_ID, ERDMA_PCI_DEVICE_ID) },
	{ }
};
MODULE_DEVICE_TABLE(pci, erdma_pci_ids);

/* The stack of the vendor's driver loads it with compat_mode=Y or =N */
static bool compat_mode;
module_param(compat_mode, bool, 0444);
MODULE_PARM_DESC(compat_mode, "accepted without effect: the device is always an iWARP RNIC");

static int erdma_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct erdma_adapter *adapter;
	int err;

	adapter = erdma_adapter_create(pdev);
	if (!adapter)
		return -ENOMEM;
	err = erdma_up(adapter);
	if (err) {
		erdma_adapter_destroy(adapter);
		return err;
	}
	pci_set_drvdata(pdev, adapter);
	erdma_rec_reset(adapter->rec, ERDMA_DIAG_RESET_PROBED, NULL, 0);
	trace_erdma_reset(pdev, ERDMA_DIAG_RESET_PROBED, NULL, 0);
	return 0;
}

static void erdma_remove(struct pci_dev *pdev)
{
	struct erdma_adapter *adapter = pci_get_drvdata(pdev);
	struct erdma_dev *dev = adapter->dev;

	if (dev) {
		/* Nobody answers from a slot that is empty: do not wait for it */
		if (erdma_device_is_gone(&dev->mmio))
			erdma_device_lost(dev, ERDMA_LOST_UNPLUGGED);
		erdma_down(adapter);
	}
	erdma_netdev_forget(pdev);
	erdma_adapter_destroy(adapter);
}

static void erdma_shutdown(struct pci_dev *pdev)
{
	erdma_adapter_shutdown(pci_get_drvdata(pdev));
}

static struct pci_driver erdma_pci_driver = {
	.name = ERDMA_DRV_NAME,
	.id_table = erdma_pci_ids,
	.probe = erdma_probe,
	.remove = erdma_remove,
	.shutdown = erdma_shutdown,
	.err_handler = &erdma_pci_err_handler,
	.driver.pm = pm_sleep_ptr(&erdma_pm_ops),
};

static int __init erdma_module_init(void)
{
	int err;

	if (compat_mode)
		pr_warn("erdma: compat_mode=Y has no effect. Not supported: RoCE v2, connections without rdma_cm (out of band, from QPNs), UD and management datagrams. Supported: RC over iWARP, connected by rdma_cm\n");
	err = erdma_netdev_module_init(erdma_adapter_interface_came);
	if (err)
		return err;
	err = erdma_cm_module_init();
	if (err)
		goto err_netdev;
	err = erdma_diag_module_init();
	if (err)
		goto err_cm;
	err = erdma_recovery_module_init();
	if (err)
		goto err_diag;
	err = pci_register_driver(&erdma_pci_driver);
	if (err)
		goto err_recovery;
	return 0;

err_recovery:
	erdma_recovery_module_exit();
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
	/* Before what a probe needs, because these may still be probing */
	erdma_netdev_module_exit();
	erdma_recovery_module_exit();
	erdma_diag_module_exit();
	erdma_cm_module_exit();
}

module_init(erdma_module_init);
module_exit(erdma_module_exit);

MODULE_AUTHOR("The erdma project");
MODULE_DESCRIPTION("Alibaba Elastic RDMA Adapter");
MODULE_VERSION(ERDMA_DRV_VERSION);
MODULE_LICENSE("Dual BSD/GPL");
