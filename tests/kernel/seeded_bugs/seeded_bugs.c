// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Seeded bugs, one of each kind that a test kernel is there to find:
 * insmod seeded_bugs.ko what=KIND. ../test_seeded_bugs.py is the user.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#define RACE_MS		3000

static char *what = "";
module_param(what, charp, 0);
MODULE_PARM_DESC(what, "heap, shift, leak, locks, race");

static void write_behind_the_end(void)
{
	size_t size = 24;
	char *p = kmalloc(size, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(size);
	if (p)
		WRITE_ONCE(p[size], 1);
	kfree(p);
}

static void shift_too_far(void)
{
	unsigned int by = 40;
	int one = 1;

	OPTIMIZER_HIDE_VAR(by);
	OPTIMIZER_HIDE_VAR(one);
	one <<= by;
	OPTIMIZER_HIDE_VAR(one);
}

static void forget_memory(void)
{
	int i;

	/* The last pointer may survive in a register */
	for (i = 0; i < 8; i++) {
		void *p = kmalloc(100, GFP_KERNEL);

		OPTIMIZER_HIDE_VAR(p);
	}
}

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);

/* Nobody is deadlocked: the order alone is wrong */
static void lock_both_ways(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);

	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static unsigned long shared;

static int count(void *unused)
{
	while (!kthread_should_stop()) {
		shared++;
		cond_resched();
	}
	return 0;
}

static void write_from_two_threads(void)
{
	struct task_struct *a = kthread_run(count, NULL, "seeded-a");
	struct task_struct *b = kthread_run(count, NULL, "seeded-b");

	msleep(RACE_MS);
	if (!IS_ERR(a))
		kthread_stop(a);
	if (!IS_ERR(b))
		kthread_stop(b);
}

static const struct {
	const char *name;
	void (*make)(void);
} bugs[] = {
	{ "heap", write_behind_the_end },
	{ "shift", shift_too_far },
	{ "leak", forget_memory },
	{ "locks", lock_both_ways },
	{ "race", write_from_two_threads },
};

static int __init seeded_bugs_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(bugs); i++) {
		if (!strcmp(what, bugs[i].name)) {
			bugs[i].make();
			return 0;
		}
	}
	return -EINVAL;
}

static void __exit seeded_bugs_exit(void)
{
}

module_init(seeded_bugs_init);
module_exit(seeded_bugs_exit);
MODULE_DESCRIPTION("Seeded bugs that a test kernel must find");
MODULE_LICENSE("Dual BSD/GPL");
