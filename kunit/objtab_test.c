// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Objects by number: erdma_objtab_*(), erdma_ref_*() */
#include <linux/slab.h>

#include "fake_dev.h"
#include "suites.h"

#define LAST	20000	/* numbers of several leaves and batches */

static int objtab_test_init(struct kunit *test)
{
	struct erdma_objtab *tab = kunit_kzalloc(test, sizeof(*tab), GFP_KERNEL);

	if (!tab)
		return -ENOMEM;
	erdma_objtab_init(tab);
	test->priv = tab;
	return erdma_objtab_size(tab, 1, LAST);
}

static void objtab_test_exit(struct kunit *test)
{
	if (test->priv)
		fake_objtab_exit(test->priv);
}

/* An object with the next number, from @next on */
static struct erdma_ref *add(struct kunit *test, u32 next)
{
	struct erdma_objtab *tab = test->priv;
	struct erdma_ref *ref = kunit_kzalloc(test, sizeof(*ref), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ref);
	erdma_ref_init(ref);
	tab->ids.next = next;
	KUNIT_ASSERT_EQ(test, erdma_objtab_alloc(tab), next);
	erdma_objtab_publish(tab, next, ref);
	return ref;
}

static void object_is_found_while_it_is_published(struct kunit *test)
{
	struct erdma_objtab *tab = test->priv;
	struct erdma_ref *ref = add(test, 7);

	KUNIT_EXPECT_PTR_EQ(test, erdma_objtab_get(tab, 7), ref);
	KUNIT_EXPECT_EQ(test, kref_read(&ref->count), 2);
	erdma_ref_put(ref);
	erdma_objtab_withdraw(tab, 7);
	KUNIT_EXPECT_PTR_EQ(test, erdma_objtab_get(tab, 7), (struct erdma_ref *)NULL);
}

/* Events name whatever the device likes */
static void numbers_without_object_are_not_found(struct kunit *test)
{
	static const u32 ids[] = { 0, 8, LAST, LAST + 1, LAST + 100000, U32_MAX };
	struct erdma_objtab *tab = test->priv;
	int i;

	add(test, 7);
	for (i = 0; i < ARRAY_SIZE(ids); i++)
		KUNIT_EXPECT_PTR_EQ(test, erdma_objtab_get(tab, ids[i]), (struct erdma_ref *)NULL);
}

/* They may come before there are objects, and when there are none any more */
static void table_without_numbers_has_no_objects(struct kunit *test)
{
	struct erdma_objtab tab;
	u32 id = 0;

	erdma_objtab_init(&tab);
	KUNIT_EXPECT_PTR_EQ(test, erdma_objtab_get(&tab, 0), (struct erdma_ref *)NULL);
	KUNIT_EXPECT_PTR_EQ(test, erdma_objtab_get_from(&tab, 0), (struct erdma_ref *)NULL);
	KUNIT_ASSERT_EQ(test, erdma_objtab_size(&tab, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, erdma_objtab_alloc(&tab), -ENOMEM);
	erdma_objtab_exit(&tab);
	KUNIT_EXPECT_PTR_EQ(test, erdma_objtab_get(&tab, 1), (struct erdma_ref *)NULL);
	KUNIT_EXPECT_FALSE(test, erdma_objtab_next(&tab, &id));
}

static void objects_are_listed_by_number(struct kunit *test)
{
	static const u32 ids[] = { 3, 511, 512, 4095, 4096, 13000, LAST };
	struct erdma_objtab *tab = test->priv;
	struct erdma_ref *refs[ARRAY_SIZE(ids)], *ref;
	u32 i, id = 0;

	for (i = 0; i < ARRAY_SIZE(ids); i++)
		refs[i] = add(test, ids[i]);
	for (i = 0; i < ARRAY_SIZE(ids); i++, id++) {
		ref = erdma_objtab_get_from(tab, id);
		KUNIT_ASSERT_PTR_EQ(test, ref, refs[i]);
		erdma_ref_put(ref);
		KUNIT_ASSERT_TRUE(test, erdma_objtab_next(tab, &id));
		KUNIT_EXPECT_EQ(test, id, ids[i]);
	}
	KUNIT_EXPECT_FALSE(test, erdma_objtab_next(tab, &id));
	KUNIT_EXPECT_PTR_EQ(test, erdma_objtab_get_from(tab, id), (struct erdma_ref *)NULL);
}

static bool is_any(struct erdma_ref *ref)
{
	return true;
}

/* Somebody holds it */
static bool is_held(struct erdma_ref *ref)
{
	return kref_read(&ref->count) > 1;
}

static void wanted_objects_are_held_some_at_a_time(struct kunit *test)
{
	struct erdma_ref *refs[ERDMA_OBJTAB_SOME], *ref[50];
	struct erdma_objtab *tab = test->priv;
	struct erdma_objtab_walk walk = {};
	u32 i, n, found = 0;

	for (i = 0; i < ARRAY_SIZE(ref); i++) {
		ref[i] = add(test, 10 + i * 300);
		if (i & 1)
			kref_get(&ref[i]->count);
	}
	do {
		n = erdma_objtab_get_some(tab, &walk, is_held, refs);
		KUNIT_ASSERT_LE(test, n, (u32)ERDMA_OBJTAB_SOME);
		for (i = 0; i < n; i++, found++) {
			KUNIT_EXPECT_PTR_EQ(test, refs[i], ref[2 * found + 1]);
			KUNIT_EXPECT_EQ(test, kref_read(&refs[i]->count), 3);
		}
	} while (walk.next);
	KUNIT_EXPECT_EQ(test, found, ARRAY_SIZE(ref) / 2);
	for (i = 0; i < ARRAY_SIZE(ref); i += 2)
		KUNIT_EXPECT_EQ(test, kref_read(&ref[i]->count), 1);
}

/* Nothing is looked for in the numbers behind the last one that is in use */
static void walk_ends_with_the_last_object(struct kunit *test)
{
	struct erdma_ref *refs[ERDMA_OBJTAB_SOME];
	struct erdma_objtab *tab = test->priv;
	struct erdma_objtab_walk walk = {};

	KUNIT_EXPECT_EQ(test, erdma_objtab_get_some(tab, &walk, is_any, refs), 0);
	KUNIT_EXPECT_EQ(test, walk.next, 0);
	add(test, 3);
	add(test, 8000);
	KUNIT_EXPECT_EQ(test, erdma_objtab_get_some(tab, &walk, is_any, refs), 1);
	KUNIT_EXPECT_NE(test, walk.next, 0);
	KUNIT_EXPECT_EQ(test, erdma_objtab_get_some(tab, &walk, is_any, refs), 1);
	KUNIT_EXPECT_EQ(test, walk.next, 0);
	/* Nor is there a number behind the highest one */
	add(test, LAST);
	walk.next = 8001;
	walk.seen = 0;
	while (walk.next)
		KUNIT_EXPECT_LE(test, erdma_objtab_get_some(tab, &walk, is_any, refs), 1U);
}

static void walk_over_a_table_without_numbers_ends(struct kunit *test)
{
	struct erdma_objtab_walk walk = { .next = 7, .seen = 3 };
	struct erdma_ref *refs[ERDMA_OBJTAB_SOME];
	struct erdma_objtab tab;

	erdma_objtab_init(&tab);
	KUNIT_EXPECT_EQ(test, erdma_objtab_get_some(&tab, &walk, is_any, refs), 0);
	KUNIT_EXPECT_EQ(test, walk.next, 0);
}

/* Of an object that the device did not give back */
static void taken_numbers_without_object_are_passed_over(struct kunit *test)
{
	struct erdma_objtab *tab = test->priv;
	u32 id = 1;

	add(test, 5);
	erdma_objtab_withdraw(tab, 5);
	add(test, 6);
	KUNIT_ASSERT_TRUE(test, erdma_objtab_next(tab, &id));
	KUNIT_EXPECT_EQ(test, id, 6);
	tab->ids.next = 5;
	KUNIT_EXPECT_EQ(test, erdma_objtab_alloc(tab), 7);
	erdma_objtab_free(tab, 5);
	tab->ids.next = 5;
	KUNIT_EXPECT_EQ(test, erdma_objtab_alloc(tab), 5);
}

struct holder {
	struct work_struct work;
	struct erdma_ref *ref;
	bool dropped;
};

static void drop_late(struct work_struct *work)
{
	struct holder *h = container_of(work, struct holder, work);

	usleep_range(20000, 30000);
	WRITE_ONCE(h->dropped, true);
	erdma_ref_put(h->ref);
}

static void end_waits_for_who_holds_the_object(struct kunit *test)
{
	struct erdma_objtab *tab = test->priv;
	struct holder h = { .ref = add(test, 9) };

	KUNIT_ASSERT_PTR_EQ(test, erdma_objtab_get(tab, 9), h.ref);
	INIT_WORK_ONSTACK(&h.work, drop_late);
	schedule_work(&h.work);
	erdma_objtab_withdraw(tab, 9);
	erdma_ref_end(h.ref);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(h.dropped));
	flush_work(&h.work);
	destroy_work_on_stack(&h.work);
}

static struct kunit_case objtab_cases[] = {
	KUNIT_CASE(object_is_found_while_it_is_published),
	KUNIT_CASE(numbers_without_object_are_not_found),
	KUNIT_CASE(table_without_numbers_has_no_objects),
	KUNIT_CASE(objects_are_listed_by_number),
	KUNIT_CASE(wanted_objects_are_held_some_at_a_time),
	KUNIT_CASE(walk_ends_with_the_last_object),
	KUNIT_CASE(walk_over_a_table_without_numbers_ends),
	KUNIT_CASE(taken_numbers_without_object_are_passed_over),
	KUNIT_CASE(end_waits_for_who_holds_the_object),
	{}
};

struct kunit_suite erdma_objtab_suite = {
	.name = "erdma_objtab",
	.init = objtab_test_init,
	.exit = objtab_test_exit,
	.test_cases = objtab_cases,
};
