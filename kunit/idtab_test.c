// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Numbers of PDs and MRs: erdma_idtab_*() (docs/erdma-hardware.md, 6.4) */
#include <linux/bitmap.h>

#include "erdma.h"
#include "suites.h"

static int idtab_test_init(struct kunit *test)
{
	struct erdma_idtab *tab = kunit_kzalloc(test, sizeof(*tab), GFP_KERNEL);

	if (!tab)
		return -ENOMEM;
	test->priv = tab;
	return erdma_idtab_init(tab, 1, 0, 7);
}

static void idtab_test_exit(struct kunit *test)
{
	erdma_idtab_exit(test->priv);
}

static void starts_at_first_then_wraps_to_lowest(struct kunit *test)
{
	struct erdma_idtab *tab = test->priv;
	int i;

	for (i = 1; i <= 7; i++)
		KUNIT_EXPECT_EQ(test, erdma_idtab_alloc(tab), i);
	KUNIT_EXPECT_EQ(test, erdma_idtab_alloc(tab), 0);
}

static void freed_number_rests(struct kunit *test)
{
	struct erdma_idtab *tab = test->priv;

	KUNIT_ASSERT_EQ(test, erdma_idtab_alloc(tab), 1);
	erdma_idtab_free(tab, 1);
	KUNIT_EXPECT_EQ(test, erdma_idtab_alloc(tab), 2);
}

static void full_table_refuses(struct kunit *test)
{
	struct erdma_idtab *tab = test->priv;
	int i;

	for (i = 0; i < 8; i++)
		KUNIT_ASSERT_GE(test, erdma_idtab_alloc(tab), 0);
	KUNIT_EXPECT_EQ(test, erdma_idtab_alloc(tab), -ENOMEM);
	erdma_idtab_free(tab, 5);
	KUNIT_EXPECT_EQ(test, erdma_idtab_alloc(tab), 5);
}

static void reserved_number_is_never_handed_out(struct kunit *test)
{
	struct erdma_idtab *tab = test->priv;
	int i, id;

	erdma_idtab_reserve(tab, 4);
	for (i = 0; i < 7; i++) {
		id = erdma_idtab_alloc(tab);
		KUNIT_EXPECT_GE(test, id, 0);
		KUNIT_EXPECT_NE(test, id, 4);
	}
	KUNIT_EXPECT_EQ(test, erdma_idtab_alloc(tab), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&tab->used), 7);
}

static void use_is_counted(struct kunit *test)
{
	struct erdma_idtab *tab = test->priv;
	int id = erdma_idtab_alloc(tab);

	erdma_idtab_alloc(tab);
	KUNIT_EXPECT_EQ(test, atomic_read(&tab->used), 2);
	erdma_idtab_free(tab, id);
	KUNIT_EXPECT_EQ(test, atomic_read(&tab->used), 1);
}

#define TAKERS	4
#define TAKEN	20000	/* numbers of each, so many that all of them run at once */

struct taker {
	struct work_struct work;
	struct erdma_idtab *tab;
};

static void take_numbers(struct work_struct *work)
{
	struct taker *t = container_of(work, struct taker, work);
	int i;

	for (i = 0; i < TAKEN; i++)
		erdma_idtab_alloc(t->tab);
}

/* As many as there are, on all CPUs at once: each has one owner */
static void numbers_taken_at_once_differ(struct kunit *test)
{
	struct taker *t = kunit_kcalloc(test, TAKERS, sizeof(*t), GFP_KERNEL);
	struct erdma_idtab tab;
	int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, t);
	KUNIT_ASSERT_EQ(test, erdma_idtab_init(&tab, 1, 0, TAKERS * TAKEN - 1), 0);
	for (i = 0; i < TAKERS; i++) {
		t[i].tab = &tab;
		INIT_WORK(&t[i].work, take_numbers);
		queue_work(system_unbound_wq, &t[i].work);
	}
	for (i = 0; i < TAKERS; i++)
		flush_work(&t[i].work);
	KUNIT_EXPECT_TRUE(test, bitmap_full(tab.map, TAKERS * TAKEN));
	KUNIT_EXPECT_EQ(test, atomic_read(&tab.used), TAKERS * TAKEN);
	KUNIT_EXPECT_EQ(test, erdma_idtab_alloc(&tab), -ENOMEM);
	erdma_idtab_exit(&tab);
}

static struct kunit_case idtab_cases[] = {
	KUNIT_CASE(starts_at_first_then_wraps_to_lowest),
	KUNIT_CASE(freed_number_rests),
	KUNIT_CASE(full_table_refuses),
	KUNIT_CASE(reserved_number_is_never_handed_out),
	KUNIT_CASE(use_is_counted),
	KUNIT_CASE(numbers_taken_at_once_differ),
	{}
};

struct kunit_suite erdma_idtab_suite = {
	.name = "erdma_idtab",
	.init = idtab_test_init,
	.exit = idtab_test_exit,
	.test_cases = idtab_cases,
};
