// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Lets the Nth fault point (allocation) of a function fail, whoever runs it:
 *
 *	insmod nth_fault.ko function=erdma:recover_work
 *	echo 17 >/sys/module/nth_fault/parameters/nth
 *	cat /sys/module/nth_fault/parameters/nth
 *
 * That is what /proc/PID/fail-nth does for a process; work of a driver runs in
 * threads of the kernel that nobody knows beforehand. N counts through all calls
 * of the function; of two calls at once only the first counts. It reads as
 *
 *	idle		not called since N was written, or N was never written
 *	running		a call counts
 *	left M		all calls ended before their Nth point was reached
 *	struck		it was reached, and failed
 */
#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>

static char *function;
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "MODULE:FUNCTION");

enum nth_state { NTH_IDLE, NTH_RUNNING, NTH_ENDED };

static atomic_t left;		/* fault points until the one that fails */
static atomic_t state = ATOMIC_INIT(NTH_IDLE);

/**
 * struct nth_call - one call of the function
 * @counts: its fault points count
 */
struct nth_call {
	bool counts;
};

static int nth_enter(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct nth_call *call = (struct nth_call *)ri->data;
	int n = atomic_xchg(&left, 0);

	call->counts = n > 0;
	if (!call->counts)
		return 0;
	atomic_set(&state, NTH_RUNNING);
	WRITE_ONCE(current->fail_nth, n);
	return 0;
}

static int nth_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct nth_call *call = (struct nth_call *)ri->data;

	if (!call->counts)
		return 0;
	atomic_set(&left, READ_ONCE(current->fail_nth));
	WRITE_ONCE(current->fail_nth, 0);
	atomic_set(&state, NTH_ENDED);
	return 0;
}

static struct kretprobe probe = {
	.entry_handler = nth_enter,
	.handler = nth_return,
	.data_size = sizeof(struct nth_call),
	.maxactive = 32,
};

static int nth_set(const char *text, const struct kernel_param *param)
{
	unsigned int n;
	int err = kstrtouint(text, 0, &n);

	if (err)
		return err;
	if (n > INT_MAX)
		return -EINVAL;
	if (atomic_read(&state) == NTH_RUNNING)
		return -EBUSY;
	atomic_set(&state, NTH_IDLE);
	atomic_set(&left, n);
	return 0;
}

static int nth_get(char *text, const struct kernel_param *param)
{
	switch (atomic_read(&state)) {
	case NTH_IDLE:
		return sysfs_emit(text, "idle\n");
	case NTH_RUNNING:
		return sysfs_emit(text, "running\n");
	default:
		break;
	}
	if (!atomic_read(&left))
		return sysfs_emit(text, "struck\n");
	return sysfs_emit(text, "left %d\n", atomic_read(&left));
}

static const struct kernel_param_ops nth_ops = { .set = nth_set, .get = nth_get };

module_param_cb(nth, &nth_ops, NULL, 0600);
MODULE_PARM_DESC(nth, "this fault point fails, 0: none");

static int __init nth_init(void)
{
	if (!function)
		return -EINVAL;
	probe.kp.symbol_name = function;
	return register_kretprobe(&probe);
}

static void __exit nth_exit(void)
{
	unregister_kretprobe(&probe);
}

module_init(nth_init);
module_exit(nth_exit);
MODULE_DESCRIPTION("Lets a fault point of a function fail");
MODULE_LICENSE("Dual BSD/GPL");
