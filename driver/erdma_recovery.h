/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * An adapter: what outlives the loss of its device.
 */
#ifndef ERDMA_RECOVERY_H
#define ERDMA_RECOVERY_H

#include <linux/kref.h>
#include <linux/pci.h>
#include <linux/pm.h>
#include <linux/workqueue.h>

#include "erdma.h"

#define ERDMA_RECOVERY_TRIES	3	/* in ERDMA_RECOVERY_WINDOW_S */
#define ERDMA_RECOVERY_WINDOW_S	600
#define ERDMA_RECOVERY_RETRY_S	5	/* after a device that did not come up */

/**
 * struct erdma_adapter - a PCI function that the driver is bound to
 * @refs: the driver's binding, and @recover while it is queued
 * @pdev: PCI function
 * @saved: configuration of the function for a slot reset, and for when it lost it;
 *	NULL: no memory for it
 * @bar0: registers BAR0 and BAR1 in @saved
 * @dev: its device, NULL while there is none
 * @recover: takes down a lost device and brings up a fresh one
 * @removed: the driver is not bound any more
 * @frozen: a reset or suspend is under way: bring up nothing
 * @away: the function is reset or suspended: consumers are notified afterwards
 * @reset_unconfirmed: no reset was confirmed since the function had addresses of memory
 * @gave_up: too many tries: bring up nothing until an administrator resets it
 * @left_bus: the function was not there at the latest try, and that is recorded
 * @requested: the next bring-up was asked for and is no try
 * @reason: of the latest loss
 * @lost_ns: ktime_get_ns() of the latest loss
 * @generation: devices brought up after a loss
 * @coredump_ns: ktime_get_boottime_ns() of the latest state for devcoredump, 0: none
 * @tries: jiffies_64 of the latest tries, oldest replaced first
 * @n_tries: tries since the last reset that was asked for
 * @diag_minor: reserved for the diagnostics node, or negative
 * @name: of the RDMA device, once there was one
 * @rec: recorders
 * @stats: counters while there is no device
 * @dbg: debug levels while there is no device
 *
 * All but @refs and @recover is protected by the lock of the PCI function's
 * struct device; the stop work reads @away without it, diagnostics @reason,
 * @lost_ns and @generation; @coredump_ns is taken by cmpxchg().
 */
struct erdma_adapter {
	struct kref refs;
	struct pci_dev *pdev;
	struct pci_saved_state *saved;
	u64 bar0;
	struct erdma_dev *dev;
	struct delayed_work recover;
	bool removed;
	bool frozen;
	bool away;
	bool reset_unconfirmed;
	bool gave_up;
	bool left_bus;
	bool requested;
	enum erdma_lost_reason reason;
	u64 lost_ns;
	u32 generation;
	u64 coredump_ns;
	u64 tries[ERDMA_RECOVERY_TRIES];
	u32 n_tries;
	int diag_minor;
	char name[IB_DEVICE_NAME_MAX];
	struct erdma_rec *rec;
	struct erdma_stats stats;
	struct erdma_debug dbg;
};

/* erdma_bringup.c */
int erdma_pci_stop_leftovers(struct erdma_dev *dev);
void erdma_pools_exit(struct erdma_dev *dev);
int erdma_bringup_init(struct erdma_dev *dev);
void erdma_bringup_exit(struct erdma_dev *dev);
int erdma_up(struct erdma_adapter *adapter);
void erdma_down(struct erdma_adapter *adapter);

/* erdma_recovery.c */
struct erdma_adapter *erdma_adapter_create(struct pci_dev *pdev);
void erdma_adapter_retire(struct erdma_adapter *adapter);
void erdma_adapter_shutdown(struct erdma_adapter *adapter);
void erdma_adapter_destroy(struct erdma_adapter *adapter);
void erdma_adapter_interface_came(struct pci_dev *pdev);
void erdma_stop_work(struct work_struct *work);
void erdma_stop_qps_soon(struct erdma_dev *dev);
int erdma_recovery_module_init(void);
void erdma_recovery_module_exit(void);

extern const struct pci_error_handlers erdma_pci_err_handler;
extern const struct dev_pm_ops erdma_pm_ops;

#endif /* ERDMA_RECOVERY_H */
