// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What follows the loss of a device, in two parts.
 *
 * Stop (erdma_stop_work(), of the device): reset, bus mastering off, QPs stopped
 * and their connections closed, kernel consumers served by erdma_flush.c. It
 * takes no lock that somebody may hold who waits for a QP to drain.
 *
 * Replace (recover_work(), of the adapter): the RDMA device is unregistered, all
 * its memory is freed, and a fresh one is registered under the same name.
 * Consumers see the removal and connect again; no file of an application
 * survives. It runs under the lock of the PCI function's struct device, as probe
 * and removal do, and never under rtnl.
 */
#include <linux/jiffies.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "compat/compat.h"
#include "erdma_recovery.h"
#include "erdma_trace.h"

/*
 * The work outlives the binding: it has a queue of its own. Not during suspend. No
 * WQ_MEM_RECLAIM: the RDMA core flushes a queue without, and the work itself allocates.
 */
static struct workqueue_struct *recovery_wq;

/*
 * From the removal of a lost device until QPs are stopped that their consumers have not stopped:
 * most often the removal is over by then
 */
#define ERDMA_REMOVAL_FIRST_MS 2000
/* From a reset or resume until QPs are stopped, if the removal has not begun by then */
#define ERDMA_REMOVAL_LATE_MS 10000

/* ---- stop ---------------------------------------------------------------- */

static void visit_qps(struct erdma_dev *dev, void (*fn)(struct erdma_qp *qp))
{
	struct erdma_qp *qp;
	u32 qpn = 0;

	while ((qp = erdma_qp_get_from(dev, qpn))) {
		qpn = qp->qpn + 1;
		fn(qp);
		erdma_qp_put(qp);
		cond_resched();
	}
}

/* Whoever stopped a QP waits for its requests. After DMA has ended no REFLUSH is needed */
static void flush_if_stopped(struct erdma_qp *qp)
{
	if (READ_ONCE(qp->stopped))
		erdma_reflush_schedule(qp);
}

static void stop_if_applications(struct erdma_qp *qp)
{
	if (qp->is_user)
		erdma_qp_device_lost(qp);
}

static void adapter_free(struct kref *refs)
{
	struct erdma_adapter *adapter = container_of(refs, struct erdma_adapter, refs);

	pci_dev_put(adapter->pdev);
	erdma_rec_put(adapter->rec);
	kfree(adapter->saved);
	kfree(adapter);
}

/* A retry that waits for its time is brought forward; what is due at once is not put off */
static void adapter_schedule(struct erdma_adapter *adapter, unsigned int delay_s)
{
	bool pending;

	kref_get(&adapter->refs);
	if (delay_s)
		pending = !queue_delayed_work(recovery_wq, &adapter->recover, delay_s * HZ);
	else
		pending = mod_delayed_work(recovery_wq, &adapter->recover, 0);
	if (pending)	/* with a reference of its own */
		kref_put(&adapter->refs, adapter_free);
}

/*
 * Consumers are notified of the removal first, and of flushed requests and lost
 * connections after that: what connects again to a lost device gets an error, which the
 * NFS client passes on to applications, and what is connecting again when the removal
 * comes crashes Linux 6.1: NFS's client expects none before it has stored its
 * connection's id. Whoever drains a QP stops it, and its requests come back at once; a
 * removal that waits for another QP's waits until all are stopped.
 */
static bool stop_removes_first(struct erdma_dev *dev)
{
	if (READ_ONCE(dev->removal_begun))
		return false;
	WRITE_ONCE(dev->removal_begun, true);
	/* The core sends DEVICE_FATAL to each application when the device is unregistered */
	adapter_schedule(dev->adapter, 0);
	queue_delayed_work(dev->reflusher, &dev->stop_work,
			   msecs_to_jiffies(ERDMA_REMOVAL_FIRST_MS));
	return true;
}

/**
 * erdma_stop_work - stop a lost device and everything that waits for it
 * @work: erdma_dev.stop_work
 *
 * Runs twice: DMA ends and the removal begins, then the QPs are stopped.
 *
 * Context: process; takes erdma_ep.lock and state_lock.
 */
void erdma_stop_work(struct work_struct *work)
{
	struct erdma_dev *dev = container_of(to_delayed_work(work), struct erdma_dev,
					     stop_work);

	if (!READ_ONCE(dev->dma_off)) {
		WRITE_ONCE(dev->dma_off, erdma_stop_dma(&dev->mmio));
		visit_qps(dev, flush_if_stopped);
		erdma_coredump_lost(dev);
	}
	if (READ_ONCE(dev->adapter->away))
		return;		/* adapter_give_back() queues it again */
	if (stop_removes_first(dev))
		return;
	WRITE_ONCE(dev->flushing, true);
	visit_qps(dev, erdma_qp_device_lost);
}

/**
 * erdma_stop_qps_soon - the removal begins now: it ends when the QPs of a lost device are stopped
 * @dev: device, lost or not
 *
 * Those of applications are stopped at once: their QPs go with the removal, and the events
 * come before. After a suspend it begins when all devices are resumed.
 *
 * Context: process; takes erdma_ep.lock and state_lock.
 */
void erdma_stop_qps_soon(struct erdma_dev *dev)
{
	if (!READ_ONCE(dev->removal_begun) || READ_ONCE(dev->flushing))
		return;
	visit_qps(dev, stop_if_applications);
	mod_delayed_work(dev->reflusher, &dev->stop_work,
			 msecs_to_jiffies(ERDMA_REMOVAL_FIRST_MS));
}

/* ---- replace ------------------------------------------------------------- */

/* Not at once, although the device was lost while it came up */
static void adapter_retry(struct erdma_adapter *adapter)
{
	if (cancel_delayed_work(&adapter->recover))
		kref_put(&adapter->refs, adapter_free);
	adapter_schedule(adapter, ERDMA_RECOVERY_RETRY_S);
}

static void adapter_record(struct erdma_adapter *adapter, u32 event,
			   enum erdma_lost_reason lost, int err)
{
	const char *reason = erdma_lost_reason_text(lost);

	erdma_rec_reset(adapter->rec, event, reason, err);
	trace_erdma_reset(adapter->pdev, event, reason, err);
}

/* Each try ends here until the function is back; one record is enough */
static void adapter_left_bus(struct erdma_adapter *adapter)
{
	dev_err(&adapter->pdev->dev, "not recovered: the function has left the bus\n");
	if (adapter->left_bus)
		return;
	adapter->left_bus = true;
	adapter_record(adapter, ERDMA_DIAG_RESET_GAVE_UP, ERDMA_LOST_UNPLUGGED, 0);
}

static bool adapter_take_try(struct erdma_adapter *adapter)
{
	u64 *oldest = &adapter->tries[adapter->n_tries % ERDMA_RECOVERY_TRIES];
	u64 now = get_jiffies_64();

	if (adapter->n_tries >= ERDMA_RECOVERY_TRIES &&
	    time_before64(now, *oldest + ERDMA_RECOVERY_WINDOW_S * HZ))
		return false;
	*oldest = now;
	adapter->n_tries++;
	return true;
}

static bool adapter_may_try(struct erdma_adapter *adapter)
{
	struct device *parent = &adapter->pdev->dev;

	if (adapter->frozen)
		dev_info(parent, "not recovered yet: the PCI core has the function\n");
	if (adapter->frozen || adapter->gave_up)
		return false;
	if (!pci_device_is_present(adapter->pdev)) {
		adapter_left_bus(adapter);
		return false;
	}
	adapter->left_bus = false;
	if (adapter->requested)
		return true;
	if (adapter_take_try(adapter))
		return true;
	adapter->gave_up = true;
	adapter_record(adapter, ERDMA_DIAG_RESET_GAVE_UP, adapter->reason, 0);
	dev_err(parent, "not recovered: %u tries within %u s, last loss: %s. Reset the function or bind the driver again\n",
		ERDMA_RECOVERY_TRIES, ERDMA_RECOVERY_WINDOW_S,
		erdma_lost_reason_text(adapter->reason));
	return false;
}

/* Where the PCI core put the function */
static u64 pci_read_bar0(struct pci_dev *pdev)
{
	u32 lo, hi;

	pci_read_config_dword(pdev, PCI_BASE_ADDRESS_0, &lo);
	pci_read_config_dword(pdev, PCI_BASE_ADDRESS_1, &hi);
	return (u64)hi << 32 | lo;
}

/*
 * What the PCI core saves before each reset and suspend, and restores after it, is nothing
 * if the function did not answer then, or has never recovered from the reset before.
 */
static void adapter_restore_config(struct erdma_adapter *adapter)
{
	if (!adapter->saved || pci_read_bar0(adapter->pdev) == adapter->bar0)
		return;
	dev_info(&adapter->pdev->dev, "the function lost its configuration: restored\n");
	pci_load_saved_state(adapter->pdev, adapter->saved);
	pci_restore_state(adapter->pdev);
}

static void adapter_bring_up(struct erdma_adapter *adapter)
{
	struct device *parent = &adapter->pdev->dev;
	int err;

	if (!adapter_may_try(adapter))
		return;
	adapter_restore_config(adapter);
	adapter->requested = false;
	err = erdma_up(adapter);
	if (err == -EPROBE_DEFER) {
		/* Not the device's fault: erdma_adapter_interface_came(), and that is no try */
		adapter->requested = true;
		return;
	}
	if (err) {
		erdma_stat_inc(&adapter->stats, ERDMA_STAT_RECOVERY_FAILED);
		adapter_record(adapter, ERDMA_DIAG_RESET_FAILED, adapter->reason, err);
		dev_err(parent, "not recovered: %pe, next try in %u s\n", ERR_PTR(err),
			ERDMA_RECOVERY_RETRY_S);
		adapter_retry(adapter);
		return;
	}
	WRITE_ONCE(adapter->generation, adapter->generation + 1);
	adapter_record(adapter, ERDMA_DIAG_RESET_RECOVERED, adapter->reason, 0);
	erdma_stat_inc(&adapter->dev->stats, ERDMA_STAT_RECOVERED);
	dev_info(parent, "recovered as %s, generation %u, after: %s\n",
		 dev_name(&adapter->dev->ibdev.dev), adapter->generation,
		 erdma_lost_reason_text(adapter->reason));
}

/* A disk may wait for the device: what needs memory to bring it up must not wait for a disk */
static void recover_work(struct work_struct *work)
{
	struct erdma_adapter *adapter = container_of(to_delayed_work(work),
						     struct erdma_adapter, recover);
	struct device *parent = &adapter->pdev->dev;
	unsigned int noio = memalloc_noio_save();

	device_lock(parent);
	if (!adapter->removed) {
		if (adapter->dev && erdma_is_lost(adapter->dev)) {
			WRITE_ONCE(adapter->reason, adapter->dev->lost);
			WRITE_ONCE(adapter->lost_ns, READ_ONCE(adapter->dev->lost_ns));
			erdma_down(adapter);
		}
		if (!adapter->dev)
			adapter_bring_up(adapter);
	}
	device_unlock(parent);
	kref_put(&adapter->refs, adapter_free);
	memalloc_noio_restore(noio);
}

/* ---- adapters ------------------------------------------------------------ */

/*
 * Functions without an adapter whose latest reset was not confirmed, by their place: whoever
 * binds the driver again enables their bus mastering, also after the function was removed
 * from the bus and found again. Another card at the same place is reset once too often.
 */
static DEFINE_XARRAY(unconfirmed);

static unsigned long place_of(struct pci_dev *pdev)
{
	return (unsigned long)pci_domain_nr(pdev->bus) << 16 | pci_dev_id(pdev);
}

static bool unconfirmed_take(struct pci_dev *pdev)
{
	return xa_erase(&unconfirmed, place_of(pdev));
}

static void unconfirmed_remember(struct pci_dev *pdev)
{
	int err = xa_err(xa_store(&unconfirmed, place_of(pdev), xa_mk_value(1), GFP_KERNEL));

	if (err)
		dev_err(&pdev->dev, "reset was not confirmed, and that is forgotten: %pe: reset the function before the driver is bound again\n",
			ERR_PTR(err));
}

/**
 * erdma_adapter_create - an adapter without device
 * @pdev: PCI function
 *
 * A reset that was not confirmed is remembered from one adapter of a function to the
 * next, for as long as the module is loaded.
 *
 * Context: process.
 * Return: adapter, for erdma_adapter_destroy(); NULL: no memory.
 */
struct erdma_adapter *erdma_adapter_create(struct pci_dev *pdev)
{
	struct erdma_adapter *adapter = kzalloc(sizeof(*adapter), GFP_KERNEL);

	if (!adapter)
		return NULL;
	adapter->rec = erdma_rec_create();
	if (!adapter->rec) {
		kfree(adapter);
		return NULL;
	}
	kref_init(&adapter->refs);
	adapter->pdev = pci_dev_get(pdev);
	adapter->reset_unconfirmed = unconfirmed_take(pdev);
	INIT_DELAYED_WORK(&adapter->recover, recover_work);
	adapter->diag_minor = erdma_diag_alloc_minor();
	if (adapter->diag_minor >= 0)
		snprintf(adapter->name, sizeof(adapter->name), "erdma_%d", adapter->diag_minor);
	erdma_debug_init(&adapter->dbg);
	pci_save_state(pdev);
	adapter->saved = pci_store_saved_state(pdev);
	adapter->bar0 = pci_read_bar0(pdev);
	return adapter;
}

/**
 * erdma_adapter_retire - never bring up a device for this adapter again
 * @adapter: adapter
 *
 * Context: process, under the lock of the PCI function's struct device.
 */
void erdma_adapter_retire(struct erdma_adapter *adapter)
{
	adapter->removed = true;
	if (cancel_delayed_work(&adapter->recover))
		kref_put(&adapter->refs, adapter_free);
}

/**
 * erdma_adapter_shutdown - reboot, power-off, kexec: no DMA into the next kernel's memory
 * @adapter: adapter; its objects stay as they are
 *
 * Context: process, under the lock of the PCI function's struct device.
 */
void erdma_adapter_shutdown(struct erdma_adapter *adapter)
{
	erdma_adapter_retire(adapter);
	if (!adapter->dev)
		return;
	erdma_cmdq_kill(&adapter->dev->cmdq);
	erdma_stop_dma(&adapter->dev->mmio);
}

/**
 * erdma_adapter_destroy - undo erdma_adapter_create()
 * @adapter: adapter without device
 *
 * Context: process, under the lock of the PCI function's struct device.
 */
void erdma_adapter_destroy(struct erdma_adapter *adapter)
{
	erdma_adapter_retire(adapter);
	if (pci_device_is_present(adapter->pdev))
		adapter_restore_config(adapter);	/* for whoever is bound next */
	if (adapter->reset_unconfirmed)
		unconfirmed_remember(adapter->pdev);
	erdma_debug_exit(&adapter->dbg);
	erdma_diag_free_minor(adapter->diag_minor);
	kref_put(&adapter->refs, adapter_free);
}

/**
 * erdma_adapter_interface_came - the network interface of an adapter is there
 * @pdev: PCI function that the adapter is for, if our driver has it
 *
 * Brings up the device of an adapter that has none. One that is up is left alone.
 *
 * Context: process; takes the lock of the PCI function's struct device.
 */
void erdma_adapter_interface_came(struct pci_dev *pdev)
{
	const struct pci_driver *driver;
	struct erdma_adapter *adapter;

	device_lock(&pdev->dev);
	driver = pci_dev_driver(pdev);
	adapter = pci_get_drvdata(pdev);
	if (driver && driver->err_handler == &erdma_pci_err_handler && adapter && !adapter->dev)
		adapter_schedule(adapter, 0);
	device_unlock(&pdev->dev);
}

/* ---- events of the PCI function, under the lock of its struct device -------- */

/* On return the device reaches no memory, and the driver sends it no command */
static void adapter_freeze(struct pci_dev *pdev, enum erdma_lost_reason reason)
{
	struct erdma_adapter *adapter = pci_get_drvdata(pdev);

	adapter->frozen = true;
	if (!adapter->dev)
		return;
	erdma_device_lost(adapter->dev, reason);
	erdma_lost_wait_stopped(adapter->dev);
}

static void adapter_thaw(struct pci_dev *pdev)
{
	struct erdma_adapter *adapter = pci_get_drvdata(pdev);

	adapter->frozen = false;
	adapter->gave_up = false;
	adapter->n_tries = 0;
	adapter->requested = true;
	adapter_schedule(adapter, 0);
}

static pci_ers_result_t pci_error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	struct erdma_adapter *adapter = pci_get_drvdata(pdev);

	adapter_freeze(pdev, ERDMA_LOST_PCI_ERROR);
	if (state != pci_channel_io_perm_failure)
		return PCI_ERS_RESULT_NEED_RESET;
	/* The PCI core calls nothing else */
	adapter->gave_up = true;
	adapter_record(adapter, ERDMA_DIAG_RESET_GAVE_UP, ERDMA_LOST_PCI_ERROR, 0);
	dev_err(&pdev->dev, "not recovered: the PCI core has given the function up. Reset it or bind the driver again\n");
	return PCI_ERS_RESULT_DISCONNECT;
}

static pci_ers_result_t pci_slot_reset(struct pci_dev *pdev)
{
	const struct erdma_adapter *adapter = pci_get_drvdata(pdev);

	/* What the PCI core saved has been used up by each reset of the function and resume */
	if (adapter->saved)
		pci_load_saved_state(pdev, adapter->saved);
	pci_restore_state(pdev);
	return PCI_ERS_RESULT_RECOVERED;
}

/* An error is no request: it counts as a try */
static void pci_error_resume(struct pci_dev *pdev)
{
	struct erdma_adapter *adapter = pci_get_drvdata(pdev);

	adapter->frozen = false;
	adapter_schedule(adapter, 0);
}

/* Until adapter_give_back(): consumers are notified of nothing before */
static void adapter_take_away(struct pci_dev *pdev, enum erdma_lost_reason reason)
{
	struct erdma_adapter *adapter = pci_get_drvdata(pdev);

	WRITE_ONCE(adapter->away, true);
	adapter_freeze(pdev, reason);
}

static void adapter_give_back(struct pci_dev *pdev)
{
	struct erdma_adapter *adapter = pci_get_drvdata(pdev);

	WRITE_ONCE(adapter->away, false);
	if (adapter->dev) {
		WRITE_ONCE(adapter->dev->removal_begun, true);	/* by adapter_thaw() */
		queue_delayed_work(adapter->dev->reflusher, &adapter->dev->stop_work,
				   msecs_to_jiffies(ERDMA_REMOVAL_LATE_MS));
	}
	adapter_thaw(pdev);
}

static void pci_reset_prepare(struct pci_dev *pdev)
{
	adapter_take_away(pdev, ERDMA_LOST_PCI_RESET);
}

const struct pci_error_handlers erdma_pci_err_handler = {
	.error_detected = pci_error_detected,
	.slot_reset = pci_slot_reset,
	.resume = pci_error_resume,
	.reset_prepare = pci_reset_prepare,
	.reset_done = adapter_give_back,
};

static int pm_suspend_device(struct device *parent)
{
	adapter_take_away(to_pci_dev(parent), ERDMA_LOST_SUSPEND);
	return 0;
}

static int pm_resume_device(struct device *parent)
{
	adapter_give_back(to_pci_dev(parent));
	return 0;
}

const struct dev_pm_ops erdma_pm_ops = {
	SYSTEM_SLEEP_PM_OPS(pm_suspend_device, pm_resume_device)
};

/* ---- module -------------------------------------------------------------- */

/**
 * erdma_recovery_module_init - for the module
 *
 * Return: 0 or -ENOMEM.
 */
int erdma_recovery_module_init(void)
{
	recovery_wq = alloc_workqueue("erdma-recovery", WQ_UNBOUND | WQ_FREEZABLE, 0);
	return recovery_wq ? 0 : -ENOMEM;
}

/**
 * erdma_recovery_module_exit - for the module, after all adapters are removed
 */
void erdma_recovery_module_exit(void)
{
	destroy_workqueue(recovery_wq);
	xa_destroy(&unconfirmed);
}
