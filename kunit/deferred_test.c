// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Memory of objects whose destruction the device did not confirm: erdma_deferred.c */
#include <linux/pci.h>
#include <linux/slab.h>

#include "erdma.h"
#include "suites.h"

struct object {
	u32 *frees;
	u32 value;
};

/* Adds what the copy says, so that two frees or a wrong copy are seen */
static void object_free(struct erdma_dev *dev, void *object)
{
	struct object *copy = object;

	*copy->frees += copy->value;
}

static const struct erdma_free_kind kind = {
	.name = "object",
	.size = sizeof(struct object),
	.free = object_free,
};

static int deferred_test_init(struct kunit *test)
{
	struct erdma_dev *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);

	if (!dev)
		return -ENOMEM;
	dev->pdev = kunit_kzalloc(test, sizeof(*dev->pdev), GFP_KERNEL);
	if (!dev->pdev)
		return -ENOMEM;
	INIT_LIST_HEAD(&dev->deferred);
	mutex_init(&dev->deferred_lock);
	test->priv = dev;
	return 0;
}

static void confirmed_end_defers_nothing(struct kunit *test)
{
	struct erdma_dev *dev = test->priv;
	u32 frees = 0;
	struct object object = { &frees, 1 };

	KUNIT_EXPECT_FALSE(test, erdma_defer_free(dev, &kind, &object, 7, 0));
	KUNIT_EXPECT_TRUE(test, list_empty(&dev->deferred));
	erdma_free_deferred(dev);
	KUNIT_EXPECT_EQ(test, frees, 0);
}

static void deferred_memory_is_freed_once_after_the_reset(struct kunit *test)
{
	struct erdma_dev *dev = test->priv;
	u32 frees = 0;
	struct object one = { &frees, 1 }, ten = { &frees, 10 };

	KUNIT_EXPECT_TRUE(test, erdma_defer_free(dev, &kind, &one, 1, -EIO));
	KUNIT_EXPECT_TRUE(test, erdma_defer_free(dev, &kind, &ten, 2, -ETIMEDOUT));
	memset(&one, 0xff, sizeof(one));	/* the objects themselves go */
	memset(&ten, 0xff, sizeof(ten));
	KUNIT_EXPECT_EQ(test, frees, 0);
	erdma_free_deferred(dev);
	KUNIT_EXPECT_EQ(test, frees, 11);
	erdma_free_deferred(dev);
	KUNIT_EXPECT_EQ(test, frees, 11);
}

static struct kunit_case deferred_cases[] = {
	KUNIT_CASE(confirmed_end_defers_nothing),
	KUNIT_CASE(deferred_memory_is_freed_once_after_the_reset),
	{}
};

struct kunit_suite erdma_deferred_suite = {
	.name = "erdma_deferred",
	.init = deferred_test_init,
	.test_cases = deferred_cases,
};
