// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A device that is started and stopped (erdma_bringup.c): what is freed if its reset is
 * confirmed, and what is not. One that does not come up is stopped the same way.
 */
#include <linux/dmapool.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/slab.h>

#include "erdma_recovery.h"
#include "fake_dev.h"
#include "suites.h"

/**
 * struct bringup_setup - what a device needs to be started
 * @adapter: its adapter
 * @irq: of vector 0, which never comes
 * @frees: objects that were freed
 */
struct bringup_setup {
	struct erdma_adapter adapter;
	int irq;
	u32 frees;
};

static struct bringup_setup *setup_of(struct kunit *test)
{
	return fake_of(test)->owner;
}

static int bringup_test_init(struct kunit *test)
{
	struct bringup_setup *s = fake_init_owner(test, sizeof(*s));
	struct erdma_dev *dev;

	if (!s)
		return -ENOMEM;
	dev = fake_of(test)->dev;
	dev->adapter = &s->adapter;
	INIT_LIST_HEAD(&dev->deferred);
	mutex_init(&dev->deferred_lock);
	/* erdma_bringup_init() makes it */
	erdma_cmdq_exit(&dev->cmdq);
	memset(&dev->cmdq, 0, sizeof(dev->cmdq));
	s->irq = irq_alloc_desc(NUMA_NO_NODE);
	if (s->irq < 0)
		return s->irq;
	irq_set_chip_and_handler(s->irq, &dummy_irq_chip, handle_simple_irq);
	irq_clear_status_flags(s->irq, IRQ_NOREQUEST);
	fake_of(test)->pci->irq = s->irq;
	return 0;
}

/* What the device in the test may go on using is freed here */
static void bringup_test_exit(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_dev *dev = f ? f->dev : NULL;
	struct bringup_setup *s = f ? f->owner : NULL;

	if (!s)
		return fake_exit(test);
	if (dev->cmdq.eq.buf)
		erdma_cmdq_exit(&dev->cmdq);
	if (dev->aeq.buf)
		erdma_async_eq_exit(dev);
	erdma_free_deferred(dev);
	if (s->irq > 0)
		irq_free_desc(s->irq);
	/* fake_exit() undoes what fake_init() did */
	memset(&dev->cmdq, 0, sizeof(dev->cmdq));
	dev->cmdq.mmio = &dev->mmio;
	dev->cmdq.dma_dev = &dev->pdev->dev;
	dev->cmdq.dbrec_pool = dev->dbrec_pool;
	dev->cmdq.stats = &dev->stats;
	WARN_ON(erdma_cmdq_init(&dev->cmdq));
	fake_exit(test);
}

/* ---- a reset, and the end of bus mastering ------------------------------------ */

static void reset_that_is_confirmed_is_enough(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	f->is_master = true;
	KUNIT_EXPECT_TRUE(test, erdma_stop_dma(&f->dev->mmio));
}

static void without_bus_mastering_memory_is_safe(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	f->no_reset = true;
	KUNIT_EXPECT_TRUE(test, erdma_stop_dma(&f->dev->mmio));
	KUNIT_EXPECT_EQ(test, f->masters_stopped, 1);
}

/* An earlier reset left RESET_DONE behind */
static void reset_that_leaves_the_device_running_is_none(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	f->no_reset = true;
	f->regs[ERDMA_REG_STATUS / 4] = ERDMA_STATUS_RESET_DONE | ERDMA_STATUS_INIT_DONE;
	KUNIT_EXPECT_EQ(test, erdma_reset_device(&f->dev->mmio), -ETIMEDOUT);
}

/* Enabling bus mastering would let it reach memory that was freed */
static void function_that_ignores_its_reset_is_not_used_again(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_mmio *m = &f->dev->mmio;

	KUNIT_EXPECT_EQ(test, erdma_reset_leftover(m, false), 0);
	f->no_reset = true;
	KUNIT_EXPECT_TRUE(test, erdma_stop_dma(m));
	KUNIT_EXPECT_TRUE(test, m->unconfirmed);
	KUNIT_EXPECT_EQ(test, erdma_reset_leftover(m, m->unconfirmed), -ETIMEDOUT);
	f->regs[ERDMA_REG_STATUS / 4] = ERDMA_STATUS_INIT_DONE;
	KUNIT_EXPECT_EQ(test, erdma_reset_leftover(m, false), -ETIMEDOUT);
	f->no_reset = false;
	KUNIT_EXPECT_EQ(test, erdma_reset_leftover(m, true), 0);
	KUNIT_EXPECT_TRUE(test, erdma_stop_dma(m));
	KUNIT_EXPECT_FALSE(test, m->unconfirmed);
}

static void device_that_does_not_stop_keeps_the_memory(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	f->no_reset = true;
	f->is_master = true;
	KUNIT_EXPECT_FALSE(test, erdma_stop_dma(&f->dev->mmio));
}

/* ---- start and stop ----------------------------------------------------------- */

static void count_free(struct erdma_dev *dev, void *object)
{
	struct bringup_setup **s = object;

	(*s)->frees++;
}

static const struct erdma_free_kind some_object = {
	.name = "object",
	.size = sizeof(struct bringup_setup *),
	.free = count_free,
};

/* Memory of an object that the device may still use */
static void defer_object(struct kunit *test)
{
	struct bringup_setup *s = setup_of(test);

	KUNIT_ASSERT_TRUE(test, erdma_defer_free(fake_of(test)->dev, &some_object, &s, 1, -EIO));
}

static void expect_freed(struct kunit *test, bool freed)
{
	struct erdma_dev *dev = fake_of(test)->dev;

	KUNIT_EXPECT_EQ(test, dev->dma_off, freed);
	KUNIT_EXPECT_EQ(test, !dev->aeq.buf, freed);
	KUNIT_EXPECT_EQ(test, !dev->cmdq.eq.buf, freed);
	KUNIT_EXPECT_EQ(test, setup_of(test)->frees, freed ? 1 : 0);
}

/* It reads as ones, so nobody waits */
static void bring_up_nothing(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	defer_object(test);
	f->regs[ERDMA_REG_STATUS / 4] = U32_MAX;
	KUNIT_ASSERT_EQ(test, erdma_bringup_init(f->dev), -ENODEV);
	KUNIT_EXPECT_EQ(test, f->masters_stopped, 1);
}

static void device_that_does_not_come_up_is_reset(struct kunit *test)
{
	struct bringup_setup *s = setup_of(test);

	s->adapter.reset_unconfirmed = true;
	bring_up_nothing(test);
	expect_freed(test, true);
	KUNIT_EXPECT_FALSE(test, s->adapter.reset_unconfirmed);
}

/* Bus mastering is off: it reaches no memory, and must not get it back */
static void reset_that_is_not_confirmed_is_remembered(struct kunit *test)
{
	struct bringup_setup *s = setup_of(test);
	struct fake_dev *f = fake_of(test);

	f->no_reset = true;
	bring_up_nothing(test);
	expect_freed(test, true);
	KUNIT_EXPECT_TRUE(test, s->adapter.reset_unconfirmed);

	KUNIT_EXPECT_EQ(test, erdma_pci_stop_leftovers(f->dev), -ENODEV);
	KUNIT_EXPECT_TRUE(test, s->adapter.reset_unconfirmed);
	/* It looks as if it had never been started */
	f->regs[ERDMA_REG_STATUS / 4] = 0;
	KUNIT_EXPECT_EQ(test, erdma_pci_stop_leftovers(f->dev), -ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, s->adapter.reset_unconfirmed);
	f->no_reset = false;
	KUNIT_EXPECT_EQ(test, erdma_pci_stop_leftovers(f->dev), 0);
	KUNIT_EXPECT_FALSE(test, s->adapter.reset_unconfirmed);
}

/* Of a crashed kernel, whose memory is somebody else's now */
static void leftover_of_another_kernel_is_reset(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	u32 writes = f->writes;

	KUNIT_EXPECT_EQ(test, erdma_pci_stop_leftovers(f->dev), 0);
	KUNIT_EXPECT_EQ(test, f->writes, writes);
	f->regs[ERDMA_REG_STATUS / 4] = ERDMA_STATUS_INIT_DONE;
	f->no_reset = true;
	KUNIT_EXPECT_EQ(test, erdma_pci_stop_leftovers(f->dev), -ETIMEDOUT);
	f->no_reset = false;
	KUNIT_EXPECT_EQ(test, erdma_pci_stop_leftovers(f->dev), 0);
	KUNIT_EXPECT_EQ(test, f->regs[ERDMA_REG_STATUS / 4], (u32)ERDMA_STATUS_RESET_DONE);
}

static void expect_leaked(struct kunit *test)
{
	struct erdma_dev *dev = fake_of(test)->dev;

	expect_freed(test, false);
	KUNIT_EXPECT_TRUE(test, setup_of(test)->adapter.reset_unconfirmed);
	KUNIT_EXPECT_EQ(test, list_is_singular(&dev->deferred), 1);
	erdma_pools_exit(dev);
	KUNIT_EXPECT_TRUE(test, dev->dbrec_pool && dev->response_pool);
}

static void bring_up_of_a_device_that_does_not_stop_leaks(struct kunit *test)
{
	fake_of(test)->no_reset = true;
	fake_of(test)->is_master = true;
	bring_up_nothing(test);
	expect_leaked(test);
}

static void removal_of_a_device_that_does_not_stop_leaks(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	f->no_reset = true;
	f->is_master = true;
	f->regs[ERDMA_REG_STATUS / 4] = ERDMA_STATUS_INIT_DONE;
	KUNIT_ASSERT_EQ(test, erdma_bringup_init(f->dev), 0);
	KUNIT_EXPECT_FALSE(test, f->dev->dma_off);
	defer_object(test);
	erdma_bringup_exit(f->dev);
	expect_leaked(test);
}

static void removal_of_a_device_that_stops_frees_all(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);

	f->regs[ERDMA_REG_STATUS / 4] = ERDMA_STATUS_INIT_DONE;
	KUNIT_ASSERT_EQ(test, erdma_bringup_init(f->dev), 0);
	defer_object(test);
	erdma_bringup_exit(f->dev);
	expect_freed(test, true);
	KUNIT_EXPECT_FALSE(test, setup_of(test)->adapter.reset_unconfirmed);
}

static struct kunit_case bringup_cases[] = {
	KUNIT_CASE(reset_that_is_confirmed_is_enough),
	KUNIT_CASE(without_bus_mastering_memory_is_safe),
	KUNIT_CASE(reset_that_leaves_the_device_running_is_none),
	KUNIT_CASE(function_that_ignores_its_reset_is_not_used_again),
	KUNIT_CASE(device_that_does_not_stop_keeps_the_memory),
	KUNIT_CASE(device_that_does_not_come_up_is_reset),
	KUNIT_CASE(reset_that_is_not_confirmed_is_remembered),
	KUNIT_CASE(leftover_of_another_kernel_is_reset),
	KUNIT_CASE(bring_up_of_a_device_that_does_not_stop_leaks),
	KUNIT_CASE(removal_of_a_device_that_does_not_stop_leaks),
	KUNIT_CASE(removal_of_a_device_that_stops_frees_all),
	{}
};

struct kunit_suite erdma_bringup_suite = {
	.name = "erdma_bringup",
	.init = bringup_test_init,
	.exit = bringup_test_exit,
	.test_cases = bringup_cases,
};
