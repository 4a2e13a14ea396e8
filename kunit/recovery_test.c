// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What PM and PCI call: suspend, resume, errors of the bus, reset of the function
 * (erdma_recovery.c). On return the device is stopped, or a fresh one is to come.
 */
#include <linux/slab.h>

#include "erdma_rec_int.h"
#include "erdma_recovery.h"
#include "erdma_trace.h"
#include "fake_dev.h"
#include "suites.h"

/**
 * struct recovery_setup - an adapter with a device
 * @adapter: adapter, whose work only counts
 * @f: device
 * @scheduled: how often the work ran
 * @reports: how often a loss was reported
 * @reports_early: how often nothing was queued by then
 */
struct recovery_setup {
	struct erdma_adapter adapter;
	struct fake_dev *f;
	int scheduled;
	int reports;
	int reports_early;
};

static struct recovery_setup *setup_of(struct kunit *test)
{
	return fake_of(test)->owner;
}

static void nobody_frees_it(struct kref *refs)
{
}

static void count_recover(struct work_struct *work)
{
	struct recovery_setup *s = container_of(to_delayed_work(work), struct recovery_setup,
						adapter.recover);

	s->scheduled++;
	kref_put(&s->adapter.refs, nobody_frees_it);
}

static int recovery_test_init(struct kunit *test)
{
	struct recovery_setup *s = fake_init_owner(test, sizeof(*s));
	struct erdma_dev *dev;

	if (!s)
		return -ENOMEM;
	s->f = fake_of(test);
	dev = s->f->dev;
	dev->reflusher = alloc_workqueue("erdma_kunit", WQ_UNBOUND, 0);
	if (!dev->reflusher)
		return -ENOMEM;
	INIT_DELAYED_WORK(&dev->stop_work, erdma_stop_work);
	spin_lock_init(&dev->lost_lock);
	dev->adapter = &s->adapter;
	kref_init(&s->adapter.refs);
	s->adapter.pdev = s->f->pci;
	s->adapter.dev = dev;
	INIT_DELAYED_WORK(&s->adapter.recover, count_recover);
	pci_set_drvdata(s->f->pci, &s->adapter);
	erdma_lost_watch(dev);
	return erdma_recovery_module_init();
}

static void recovery_test_exit(struct kunit *test)
{
	struct recovery_setup *s = fake_of(test) ? setup_of(test) : NULL;

	if (s) {
		erdma_lost_unwatch(s->f->dev);
		flush_delayed_work(&s->adapter.recover);
		erdma_recovery_module_exit();
		destroy_workqueue(s->f->dev->reflusher);
	}
	fake_exit(test);
}

static void expect_frozen(struct kunit *test, enum erdma_lost_reason reason)
{
	struct recovery_setup *s = setup_of(test);

	KUNIT_EXPECT_TRUE(test, s->adapter.frozen);
	KUNIT_EXPECT_EQ(test, s->f->dev->lost, reason);
	KUNIT_EXPECT_TRUE(test, s->f->dev->dma_off);
	KUNIT_EXPECT_EQ(test, fake_exec(s->f, 0, NULL), -ENODEV);
}

/* The removal was asked for, QPs are stopped in a moment */
static void expect_removal_first(struct kunit *test, enum erdma_lost_reason reason)
{
	struct erdma_dev *dev = setup_of(test)->f->dev;

	expect_frozen(test, reason);
	/* What it waited for was the end of DMA */
	flush_work(&dev->stop_work.work);
	KUNIT_EXPECT_TRUE(test, dev->removal_begun);
	flush_delayed_work(&dev->stop_work);
	KUNIT_EXPECT_TRUE(test, dev->flushing);
}

/* @requested: what comes then was asked for, and is no try */
static void expect_scheduled(struct kunit *test, bool requested)
{
	struct recovery_setup *s = setup_of(test);

	flush_delayed_work(&s->adapter.recover);
	KUNIT_EXPECT_FALSE(test, s->adapter.frozen);
	KUNIT_EXPECT_EQ(test, s->adapter.requested, requested);
	KUNIT_EXPECT_EQ(test, s->adapter.n_tries, requested ? 0 : 2);
	KUNIT_EXPECT_EQ(test, s->scheduled, 1);
	KUNIT_EXPECT_EQ(test, kref_read(&s->adapter.refs), 1);
}

/* What was left to do when the device stopped is done */
static void forget_the_stop(struct recovery_setup *s)
{
	flush_delayed_work(&s->adapter.recover);
	s->scheduled = 0;
	s->adapter.n_tries = 2;
}

/* Consumers see the removal, which begins after the resume, before their QPs stop */
static void suspend_stops_and_resume_brings_back(struct kunit *test)
{
	struct recovery_setup *s = setup_of(test);
	struct erdma_dev *dev = s->f->dev;

	if (!erdma_pm_ops.suspend)
		kunit_skip(test, "no CONFIG_PM_SLEEP");
	KUNIT_EXPECT_EQ(test, erdma_pm_ops.suspend(&s->f->pci->dev), 0);
	expect_frozen(test, ERDMA_LOST_SUSPEND);
	KUNIT_EXPECT_EQ(test, s->scheduled, 0);
	forget_the_stop(s);
	KUNIT_EXPECT_EQ(test, erdma_pm_ops.resume(&s->f->pci->dev), 0);
	expect_scheduled(test, true);
	KUNIT_EXPECT_FALSE(test, dev->flushing);
	flush_delayed_work(&dev->stop_work);
	KUNIT_EXPECT_TRUE(test, dev->flushing);
}

static void hibernation_stops_too(struct kunit *test)
{
	struct recovery_setup *s = setup_of(test);

	if (!erdma_pm_ops.freeze)
		kunit_skip(test, "no CONFIG_PM_SLEEP");
	KUNIT_EXPECT_EQ(test, erdma_pm_ops.freeze(&s->f->pci->dev), 0);
	expect_frozen(test, ERDMA_LOST_SUSPEND);
	KUNIT_EXPECT_EQ(test, erdma_pm_ops.thaw(&s->f->pci->dev), 0);
	KUNIT_EXPECT_FALSE(test, s->adapter.frozen);
	/* The one that was in the image */
	KUNIT_EXPECT_EQ(test, erdma_pm_ops.poweroff(&s->f->pci->dev), 0);
	KUNIT_EXPECT_TRUE(test, s->adapter.frozen);
	forget_the_stop(s);
	KUNIT_EXPECT_EQ(test, erdma_pm_ops.restore(&s->f->pci->dev), 0);
	expect_scheduled(test, true);
}

static void error_of_the_bus_stops_and_is_a_try(struct kunit *test)
{
	struct recovery_setup *s = setup_of(test);

	KUNIT_EXPECT_EQ(test, erdma_pci_err_handler.error_detected(s->f->pci,
								   pci_channel_io_frozen),
			(pci_ers_result_t)PCI_ERS_RESULT_NEED_RESET);
	expect_removal_first(test, ERDMA_LOST_PCI_ERROR);
	forget_the_stop(s);
	erdma_pci_err_handler.resume(s->f->pci);
	expect_scheduled(test, false);
}

static void permanent_error_is_the_end(struct kunit *test)
{
	struct recovery_setup *s = setup_of(test);

	KUNIT_EXPECT_EQ(test, erdma_pci_err_handler.error_detected(s->f->pci,
								   pci_channel_io_perm_failure),
			(pci_ers_result_t)PCI_ERS_RESULT_DISCONNECT);
	expect_removal_first(test, ERDMA_LOST_PCI_ERROR);
	KUNIT_EXPECT_TRUE(test, s->adapter.gave_up);
	forget_the_stop(s);
	/* An administrator's reset is another beginning */
	erdma_pci_err_handler.reset_done(s->f->pci);
	KUNIT_EXPECT_FALSE(test, s->adapter.gave_up);
	expect_scheduled(test, true);
}

/* By hand: the second half comes two seconds later */
static void lost_device_is_removed_before_its_qps_stop(struct kunit *test)
{
	struct recovery_setup *s = setup_of(test);
	struct erdma_dev *dev = s->f->dev;

	erdma_lost_unwatch(dev);
	erdma_device_lost(dev, ERDMA_LOST_CMDQ_DEAD);
	erdma_stop_work(&dev->stop_work.work);
	KUNIT_EXPECT_TRUE(test, cancel_delayed_work_sync(&dev->stop_work));
	KUNIT_EXPECT_TRUE(test, dev->dma_off);
	KUNIT_EXPECT_FALSE(test, dev->flushing);
	flush_delayed_work(&s->adapter.recover);
	KUNIT_EXPECT_EQ(test, s->scheduled, 1);
	erdma_stop_work(&dev->stop_work.work);
	KUNIT_EXPECT_TRUE(test, dev->flushing);
	flush_delayed_work(&s->adapter.recover);
	KUNIT_EXPECT_EQ(test, s->scheduled, 1);
}

static void notice_loss(void *data, const struct pci_dev *pdev, u32 event, const char *reason,
			int err)
{
	struct recovery_setup *s = data;
	struct erdma_dev *dev = s->f->dev;

	if (event != ERDMA_DIAG_RESET_LOST)
		return;
	s->reports++;
	if (!READ_ONCE(dev->dma_off) && !work_busy(&dev->stop_work.work))
		s->reports_early++;
}

/*
 * By hand, with an hour until the second half: neither a freeze just then nor memory that is
 * freed stops them before consumers saw the removal
 */
static void freeze_of_a_lost_device_does_not_stop_its_qps(struct kunit *test)
{
	struct recovery_setup *s = setup_of(test);
	struct erdma_dev *dev = s->f->dev;

	dev->lost = ERDMA_LOST_CMDQ_DEAD;
	erdma_stop_work(&dev->stop_work.work);
	KUNIT_EXPECT_TRUE(test, mod_delayed_work(dev->reflusher, &dev->stop_work, 3600 * HZ));
	erdma_pci_err_handler.error_detected(s->f->pci, pci_channel_io_frozen);
	KUNIT_EXPECT_FALSE(test, dev->flushing);
	/* They looked before the first half was over */
	dev->dma_off = false;
	erdma_pci_err_handler.error_detected(s->f->pci, pci_channel_io_frozen);
	KUNIT_EXPECT_FALSE(test, erdma_lost_wait_stopped(dev));
	KUNIT_EXPECT_FALSE(test, dev->flushing);
	flush_delayed_work(&dev->stop_work);
	KUNIT_EXPECT_TRUE(test, dev->flushing);
}

/* Whoever comes second waits for the work that stops the device: it has to be queued by then */
static void loss_is_reported_after_its_work_is_queued(struct kunit *test)
{
	struct recovery_setup *s = setup_of(test);

	if (!IS_ENABLED(CONFIG_TRACEPOINTS))
		kunit_skip(test, "a kernel without tracepoints");
	KUNIT_ASSERT_EQ(test, register_trace_erdma_reset(notice_loss, s), 0);
	erdma_device_lost(s->f->dev, ERDMA_LOST_CMDQ_DEAD);
	erdma_device_lost(s->f->dev, ERDMA_LOST_PCI_RESET);
	unregister_trace_erdma_reset(notice_loss, s);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_EQ(test, s->reports, 1);
	KUNIT_EXPECT_EQ(test, s->reports_early, 0);
}

/**
 * struct loss_reader - a reader of the recorders that is woken by the loss
 * @wait: where it waits
 * @dev: device
 * @woken: how often it was woken
 * @woken_late: how often the work was queued by then
 */
struct loss_reader {
	struct wait_queue_entry wait;
	struct erdma_dev *dev;
	int woken;
	int woken_late;
};

static int note_loss(struct wait_queue_entry *wait, unsigned int mode, int flags, void *key)
{
	struct loss_reader *r = container_of(wait, struct loss_reader, wait);

	r->woken++;
	r->woken_late += !!work_busy(&r->dev->stop_work.work);
	return 0;
}

/* The work writes a core dump, of which the recorders are a part */
static void loss_is_recorded_before_its_work_is_queued(struct kunit *test)
{
	struct erdma_dev *dev = setup_of(test)->f->dev;
	struct loss_reader r = { .dev = dev };

	dev->rec = erdma_rec_create();
	KUNIT_ASSERT_NOT_NULL(test, dev->rec);
	init_waitqueue_func_entry(&r.wait, note_loss);
	add_wait_queue(&dev->rec->wait, &r.wait);
	erdma_device_lost(dev, ERDMA_LOST_CMDQ_DEAD);
	remove_wait_queue(&dev->rec->wait, &r.wait);
	KUNIT_EXPECT_EQ(test, r.woken, 1);
	KUNIT_EXPECT_EQ(test, r.woken_late, 0);
	flush_delayed_work(&dev->stop_work);
	erdma_rec_put(dev->rec);
	dev->rec = NULL;
}

/* Who frees memory meanwhile needs no more than the end of DMA */
static void what_is_freed_in_a_reset_does_not_stop_the_qps(struct kunit *test)
{
	struct erdma_dev *dev = setup_of(test)->f->dev;

	KUNIT_EXPECT_FALSE(test, erdma_lost_wait_stopped(dev));
	erdma_pci_err_handler.reset_prepare(setup_of(test)->f->pci);
	KUNIT_EXPECT_TRUE(test, erdma_lost_wait_stopped(dev));
	KUNIT_EXPECT_FALSE(test, dev->flushing);
}

static void nothing_to_free(struct erdma_dev *dev, void *object)
{
}

static const struct erdma_free_kind some_object = {
	.name = "object",
	.size = sizeof(u64),
	.free = nothing_to_free,
};

static bool is_retained(struct erdma_dev *dev)
{
	u64 object = 0;

	return erdma_defer_free(dev, &some_object, &object, 1, -ENODEV);
}

static void stopped_device_retains_nothing(struct kunit *test)
{
	struct erdma_dev *dev = setup_of(test)->f->dev;

	INIT_LIST_HEAD(&dev->deferred);
	mutex_init(&dev->deferred_lock);
	KUNIT_EXPECT_TRUE(test, is_retained(dev));
	erdma_device_lost(dev, ERDMA_LOST_CMDQ_DEAD);
	KUNIT_EXPECT_FALSE(test, is_retained(dev));
	KUNIT_EXPECT_TRUE(test, list_is_singular(&dev->deferred));
	erdma_free_deferred(dev);
}

static void lost_device_that_does_not_stop_retains_all(struct kunit *test)
{
	struct fake_dev *f = setup_of(test)->f;
	struct erdma_dev *dev = f->dev;

	INIT_LIST_HEAD(&dev->deferred);
	mutex_init(&dev->deferred_lock);
	f->no_reset = true;
	f->is_master = true;
	erdma_device_lost(dev, ERDMA_LOST_CMDQ_DEAD);
	KUNIT_EXPECT_TRUE(test, is_retained(dev));
	KUNIT_EXPECT_FALSE(test, dev->dma_off);
	erdma_free_deferred(dev);
}

static void reset_of_the_function_is_a_request(struct kunit *test)
{
	struct recovery_setup *s = setup_of(test);

	s->adapter.gave_up = true;
	erdma_pci_err_handler.reset_prepare(s->f->pci);
	expect_frozen(test, ERDMA_LOST_PCI_RESET);
	forget_the_stop(s);
	erdma_pci_err_handler.reset_done(s->f->pci);
	expect_scheduled(test, true);
	KUNIT_EXPECT_FALSE(test, s->adapter.gave_up);
}

/* Consumers see the removal, which is under way, before their QPs stop */
static void reset_of_the_function_stops_the_qps_last(struct kunit *test)
{
	struct recovery_setup *s = setup_of(test);
	struct erdma_dev *dev = s->f->dev;

	erdma_pci_err_handler.reset_prepare(s->f->pci);
	flush_delayed_work(&dev->stop_work);
	KUNIT_EXPECT_FALSE(test, dev->flushing);
	KUNIT_EXPECT_EQ(test, s->scheduled, 0);
	erdma_pci_err_handler.reset_done(s->f->pci);
	flush_delayed_work(&s->adapter.recover);
	KUNIT_EXPECT_EQ(test, s->scheduled, 1);
	KUNIT_EXPECT_FALSE(test, dev->flushing);
	flush_delayed_work(&dev->stop_work);
	KUNIT_EXPECT_TRUE(test, dev->flushing);
}

/* There is none after three tries, or while it comes up again */
static void adapter_without_device_is_prepared_for_all(struct kunit *test)
{
	struct recovery_setup *s = setup_of(test);

	s->adapter.dev = NULL;
	s->adapter.n_tries = 2;
	erdma_pci_err_handler.reset_prepare(s->f->pci);
	KUNIT_EXPECT_TRUE(test, s->adapter.frozen);
	KUNIT_EXPECT_EQ(test, s->f->dev->lost, ERDMA_LOST_NOT);
	erdma_pci_err_handler.reset_done(s->f->pci);
	expect_scheduled(test, true);
}

/* The next kernel has other things where this one has its queues */
static void shutdown_stops_the_device_for_good(struct kunit *test)
{
	struct recovery_setup *s = setup_of(test);
	u32 status;

	erdma_adapter_shutdown(&s->adapter);
	status = erdma_read32(&s->f->dev->mmio, ERDMA_REG_STATUS);
	KUNIT_EXPECT_EQ(test, status, (u32)ERDMA_STATUS_RESET_DONE);
	KUNIT_EXPECT_EQ(test, s->f->masters_stopped, 1);
	KUNIT_EXPECT_EQ(test, fake_exec(s->f, 0, NULL), -ENODEV);
	KUNIT_EXPECT_TRUE(test, s->adapter.removed);
	/* There may be none */
	s->adapter.dev = NULL;
	erdma_adapter_shutdown(&s->adapter);
	KUNIT_EXPECT_EQ(test, s->f->masters_stopped, 1);
}

/* ---- tries ------------------------------------------------------------------ */

/* The function answers, and has no BARs: nothing can come up */
static int read_config(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 *value)
{
	*value = where == PCI_VENDOR_ID ? ERDMA_PCI_VENDOR_ID | ERDMA_PCI_DEVICE_ID << 16 : 0;
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops function_without_bars = { .read = read_config };

/*
 * The device is lost, as in pci_error_resume(), and the work runs at once. It queues itself
 * for later: flush_delayed_work() would run that too.
 */
static void try_once(struct erdma_adapter *adapter)
{
	erdma_pci_err_handler.resume(adapter->pdev);
	flush_work(&adapter->recover.work);
	if (cancel_delayed_work(&adapter->recover))
		kref_put(&adapter->refs, nobody_frees_it);
}

#define ROOM_OF_SYSDATA 256		/* of any architecture */

/* One whose device cannot come up; for erdma_adapter_destroy() */
static struct erdma_adapter *make_adapter(struct kunit *test)
{
	struct pci_dev *pci = setup_of(test)->f->pci;
	struct erdma_adapter *adapter;

	pci->bus = kunit_kzalloc(test, sizeof(*pci->bus), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pci->bus);
	pci->bus->ops = &function_without_bars;
	pci->bus->sysdata = kunit_kzalloc(test, ROOM_OF_SYSDATA, GFP_KERNEL);	/* domain 0 */
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pci->bus->sysdata);
	device_initialize(&pci->dev);
	atomic_set(&pci->enable_cnt, 1);
	adapter = erdma_adapter_create(pci);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, adapter);
	pci_set_drvdata(pci, adapter);
	return adapter;
}

static int read_nothing(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 *value)
{
	*value = U32_MAX;
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops function_that_left = { .read = read_nothing };

static s64 failures_of(const struct erdma_adapter *adapter)
{
	return atomic64_read(&adapter->stats.v[ERDMA_STAT_RECOVERY_FAILED]);
}

static void adapter_is_given_up_after_three_tries_in_ten_minutes(struct kunit *test)
{
	struct erdma_adapter *adapter = make_adapter(test);
	int i;

	for (i = 1; i <= 5; i++) {
		try_once(adapter);
		KUNIT_EXPECT_EQ(test, adapter->gave_up, i > 3);
		KUNIT_EXPECT_EQ(test, failures_of(adapter), (s64)min(i, 3));
	}
	/* The oldest one was long ago */
	adapter->gave_up = false;
	adapter->tries[0] -= (u64)ERDMA_RECOVERY_WINDOW_S * HZ;
	try_once(adapter);
	KUNIT_EXPECT_FALSE(test, adapter->gave_up);
	try_once(adapter);
	KUNIT_EXPECT_TRUE(test, adapter->gave_up);
	erdma_adapter_destroy(adapter);
}

#define CONFIG_DWORDS 64

static u32 config[CONFIG_DWORDS];

static int read_dword(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 *value)
{
	*value = where / 4 < CONFIG_DWORDS ? config[where / 4] >> where % 4 * 8 : 0;
	*value &= size == 4 ? U32_MAX : BIT(size * 8) - 1;
	return PCIBIOS_SUCCESSFUL;
}

static int write_dword(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 value)
{
	if (size == 4 && where / 4 < CONFIG_DWORDS)
		config[where / 4] = value;
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops function_with_config = { .read = read_dword, .write = write_dword };

static void config_is_restored_if_the_function_lost_it(struct kunit *test)
{
	struct pci_bus *bus;
	struct erdma_adapter *adapter = make_adapter(test);

	bus = adapter->pdev->bus;
	erdma_adapter_destroy(adapter);
	memset(config, 0, sizeof(config));
	config[0] = ERDMA_PCI_VENDOR_ID | ERDMA_PCI_DEVICE_ID << 16;
	config[PCI_BASE_ADDRESS_0 / 4] = 0x04;		/* and 64 bits: above 4 GiB */
	config[PCI_BASE_ADDRESS_1 / 4] = 0x38;
	bus->ops = &function_with_config;
	adapter = erdma_adapter_create(setup_of(test)->f->pci);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, adapter);
	pci_set_drvdata(adapter->pdev, adapter);

	/* What it has is left alone */
	config[PCI_BASE_ADDRESS_2 / 4] = 0x1000;
	try_once(adapter);
	KUNIT_EXPECT_EQ(test, config[PCI_BASE_ADDRESS_2 / 4], 0x1000u);
	/* A try to come back, and the end of the binding */
	config[PCI_BASE_ADDRESS_1 / 4] = 0;
	try_once(adapter);
	KUNIT_EXPECT_EQ(test, config[PCI_BASE_ADDRESS_1 / 4], 0x38u);
	KUNIT_EXPECT_EQ(test, config[PCI_BASE_ADDRESS_2 / 4], 0u);
	config[PCI_BASE_ADDRESS_1 / 4] = 0;
	erdma_adapter_destroy(adapter);
	KUNIT_EXPECT_EQ(test, config[PCI_BASE_ADDRESS_1 / 4], 0x38u);
}

/* The work alone, without an event of the function */
static void recover_once(struct erdma_adapter *adapter)
{
	kref_get(&adapter->refs);
	queue_delayed_work(system_wq, &adapter->recover, 0);
	flush_work(&adapter->recover.work);
	if (cancel_delayed_work(&adapter->recover))
		kref_put(&adapter->refs, nobody_frees_it);
}

static void adapter_that_waits_for_somebody_tries_nothing(struct kunit *test)
{
	struct erdma_adapter *adapter = make_adapter(test);

	adapter->frozen = true;
	recover_once(adapter);
	adapter->frozen = false;
	adapter->gave_up = true;
	recover_once(adapter);
	adapter->gave_up = false;
	adapter->removed = true;
	recover_once(adapter);
	adapter->removed = false;
	KUNIT_EXPECT_EQ(test, failures_of(adapter), 0LL);
	KUNIT_EXPECT_EQ(test, adapter->n_tries, 0);
	recover_once(adapter);
	KUNIT_EXPECT_EQ(test, failures_of(adapter), 1LL);
	KUNIT_EXPECT_EQ(test, adapter->n_tries, 1);
	erdma_adapter_destroy(adapter);
}

static int reads, reads_with_io;

static int read_and_look(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 *value)
{
	reads++;
	reads_with_io += !(current->flags & PF_MEMALLOC_NOIO);
	*value = 0;
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops function_that_looks = { .read = read_and_look };

/* Reclaim may wait for a disk that waits for this device */
static void recovery_does_not_wait_for_io(struct kunit *test)
{
	struct erdma_adapter *adapter = make_adapter(test);

	adapter->pdev->bus->ops = &function_that_looks;
	reads = 0;
	reads_with_io = 0;
	recover_once(adapter);
	KUNIT_EXPECT_GT(test, reads, 0);
	KUNIT_EXPECT_EQ(test, reads_with_io, 0);
	erdma_adapter_destroy(adapter);
}

/* While udev renames the device of another adapter its name is free */
static void adapter_has_a_name_of_its_own(struct kunit *test)
{
	struct erdma_adapter *adapter = make_adapter(test);
	char name[IB_DEVICE_NAME_MAX];

	KUNIT_ASSERT_GE(test, adapter->diag_minor, 0);
	snprintf(name, sizeof(name), "erdma_%d", adapter->diag_minor);
	KUNIT_EXPECT_STREQ(test, adapter->name, name);
	erdma_adapter_destroy(adapter);
}

/* Whoever asks may ask often; what follows by itself counts again */
static void what_was_asked_for_is_no_try(struct kunit *test)
{
	struct erdma_adapter *adapter = make_adapter(test);
	int i;

	for (i = 1; i <= 5; i++) {
		adapter->requested = true;
		recover_once(adapter);
		KUNIT_EXPECT_EQ(test, failures_of(adapter), (s64)i);
		KUNIT_EXPECT_EQ(test, adapter->n_tries, 0);
		KUNIT_EXPECT_FALSE(test, adapter->requested);
	}
	recover_once(adapter);
	KUNIT_EXPECT_EQ(test, adapter->n_tries, 1);
	erdma_adapter_destroy(adapter);
}

/* The records that the function has left the bus, which are nothing else since number @from */
static u64 expect_left_bus(struct kunit *test, struct erdma_adapter *adapter, u64 from)
{
	struct erdma_rec_found found;
	u64 n;

	for (n = 0; erdma_rec_find(adapter->rec, ERDMA_DIAG_LOG_RESET, from + n, &found); n++) {
		KUNIT_EXPECT_EQ(test, found.entry.reset.event, (u32)ERDMA_DIAG_RESET_GAVE_UP);
		KUNIT_EXPECT_STREQ(test, (const char *)found.entry.reset.reason,
				   erdma_lost_reason_text(ERDMA_LOST_UNPLUGGED));
	}
	return n;
}

static void function_that_left_the_bus_is_recorded_once(struct kunit *test)
{
	struct erdma_adapter *adapter = make_adapter(test);
	u64 from = erdma_rec_end(adapter->rec, ERDMA_DIAG_LOG_RESET);
	int i;

	adapter->reason = ERDMA_LOST_CMDQ_DEAD;
	adapter->pdev->bus->ops = &function_that_left;
	for (i = 0; i < 3; i++)
		try_once(adapter);
	KUNIT_EXPECT_EQ(test, expect_left_bus(test, adapter, from), 1ULL);
	KUNIT_EXPECT_EQ(test, failures_of(adapter), 0LL);
	KUNIT_EXPECT_EQ(test, adapter->n_tries, 0);
	/* It was back meanwhile: another time */
	adapter->pdev->bus->ops = &function_without_bars;
	try_once(adapter);
	KUNIT_EXPECT_EQ(test, failures_of(adapter), 1LL);
	adapter->pdev->bus->ops = &function_that_left;
	from = erdma_rec_end(adapter->rec, ERDMA_DIAG_LOG_RESET);
	try_once(adapter);
	KUNIT_EXPECT_EQ(test, expect_left_bus(test, adapter, from), 1ULL);
	erdma_adapter_destroy(adapter);
}

/* Whoever binds the driver again enables bus mastering */
static void unconfirmed_reset_outlives_the_binding(struct kunit *test)
{
	struct erdma_adapter *adapter = make_adapter(test);
	struct pci_dev *pci = setup_of(test)->f->pci;
	unsigned int refs = kref_read(&pci->dev.kobj.kref);
	int i;

	KUNIT_EXPECT_FALSE(test, adapter->reset_unconfirmed);
	adapter->reset_unconfirmed = true;
	for (i = 0; i < 2; i++) {
		erdma_adapter_destroy(adapter);
		adapter = erdma_adapter_create(pci);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, adapter);
		KUNIT_EXPECT_TRUE(test, adapter->reset_unconfirmed);
		KUNIT_EXPECT_EQ(test, kref_read(&pci->dev.kobj.kref), refs);
	}
	adapter->reset_unconfirmed = false;
	erdma_adapter_destroy(adapter);
	adapter = erdma_adapter_create(pci);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, adapter);
	KUNIT_EXPECT_FALSE(test, adapter->reset_unconfirmed);
	erdma_adapter_destroy(adapter);
	KUNIT_EXPECT_EQ(test, kref_read(&pci->dev.kobj.kref), refs - 1);
}

static struct kunit_case recovery_cases[] = {
	KUNIT_CASE(suspend_stops_and_resume_brings_back),
	KUNIT_CASE(hibernation_stops_too),
	KUNIT_CASE(error_of_the_bus_stops_and_is_a_try),
	KUNIT_CASE(permanent_error_is_the_end),
	KUNIT_CASE(lost_device_is_removed_before_its_qps_stop),
	KUNIT_CASE(freeze_of_a_lost_device_does_not_stop_its_qps),
	KUNIT_CASE(loss_is_reported_after_its_work_is_queued),
	KUNIT_CASE(loss_is_recorded_before_its_work_is_queued),
	KUNIT_CASE(what_is_freed_in_a_reset_does_not_stop_the_qps),
	KUNIT_CASE(stopped_device_retains_nothing),
	KUNIT_CASE(lost_device_that_does_not_stop_retains_all),
	KUNIT_CASE(reset_of_the_function_is_a_request),
	KUNIT_CASE(reset_of_the_function_stops_the_qps_last),
	KUNIT_CASE(adapter_without_device_is_prepared_for_all),
	KUNIT_CASE(shutdown_stops_the_device_for_good),
	KUNIT_CASE(adapter_is_given_up_after_three_tries_in_ten_minutes),
	KUNIT_CASE(config_is_restored_if_the_function_lost_it),
	KUNIT_CASE(adapter_that_waits_for_somebody_tries_nothing),
	KUNIT_CASE(recovery_does_not_wait_for_io),
	KUNIT_CASE(adapter_has_a_name_of_its_own),
	KUNIT_CASE(what_was_asked_for_is_no_try),
	KUNIT_CASE(function_that_left_the_bus_is_recorded_once),
	KUNIT_CASE(unconfirmed_reset_outlives_the_binding),
	{}
};

struct kunit_suite erdma_recovery_suite = {
	.name = "erdma_recovery",
	.init = recovery_test_init,
	.exit = recovery_test_exit,
	.test_cases = recovery_cases,
};
