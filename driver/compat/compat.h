/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What differs between kernels. compat/probe.sh sets each ERDMA_COMPAT_NAME, by
 * compiling: it is the kernel's headers that are asked, not a version number,
 * which says nothing about a distribution's kernel. Of two names for one API one
 * is always set.
 */
#ifndef ERDMA_COMPAT_H
#define ERDMA_COMPAT_H

#include <linux/crc32.h>
#include <linux/net.h>
#include <linux/pm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>
#include <linux/sched/task.h>
#include <linux/socket.h>

#include <net/sock.h>

#ifdef ERDMA_COMPAT_DUMPABLE_EXEC_STATE
#include <linux/sched/exec_state.h>
#endif

/* Of the argument of class.devnode */
#ifdef ERDMA_COMPAT_DEVNODE_CONST
#define erdma_devnode_const const
#else
#define erdma_devnode_const
#endif

#ifdef ERDMA_COMPAT_SOCKADDR_UNSIZED
#define erdma_sockaddr sockaddr_unsized
#else
#define erdma_sockaddr sockaddr
#endif

/* Reason of lockdown, of the level confidentiality, for what may have keys in it */
#ifdef ERDMA_COMPAT_LOCKDOWN_KEYS
#define ERDMA_LOCKDOWN_SECRETS LOCKDOWN_XFRM_SECRET
#else
#define ERDMA_LOCKDOWN_SECRETS LOCKDOWN_KCORE
#endif

/* Castagnoli, bits reversed; neither the start value nor the result is inverted */
#ifdef ERDMA_COMPAT_CRC32C_PLAIN
#define erdma_crc32c crc32c
#else
#define erdma_crc32c __crc32c_le
#endif

/* The same under their names of today */
#ifdef ERDMA_COMPAT_DEV_PRINTK_PLAIN
#define _dev_printk dev_printk
#endif

#ifdef ERDMA_COMPAT_IRQ_AFFINITY_BY_HINT
#define irq_set_affinity_and_hint irq_set_affinity_hint
#define irq_update_affinity_hint irq_set_affinity_hint
#endif

#ifndef pm_sleep_ptr
#define pm_sleep_ptr(ptr) (IS_ENABLED(CONFIG_PM_SLEEP) ? (ptr) : NULL)
#endif

#ifndef SYSTEM_SLEEP_PM_OPS
#define SYSTEM_SLEEP_PM_OPS(suspend_fn, resume_fn) \
	SET_SYSTEM_SLEEP_PM_OPS(suspend_fn, resume_fn)
#endif

/**
 * erdma_sk_user_data - user data of a socket, if all of these flags are set
 * @sk: socket, its sk_callback_lock held
 * @flags: SK_USER_DATA_*
 *
 * Return: the data, or NULL.
 */
static inline void *erdma_sk_user_data(const struct sock *sk, uintptr_t flags)
{
#ifdef ERDMA_COMPAT_SK_USER_DATA_LOCKED
	return __locked_read_sk_user_data_with_flags(sk, flags);
#else
	void *data;

	/* For lockdep: it is the lock that protects it */
	rcu_read_lock();
	data = __rcu_dereference_sk_user_data_with_flags(sk, flags);
	rcu_read_unlock();
	return data;
#endif
}

/**
 * erdma_kernel_bind - kernel_bind()
 * @sock: socket
 * @addr: address
 * @len: bytes of the address
 *
 * Context: may sleep.
 * Return: 0 or the socket's error.
 */
static inline int erdma_kernel_bind(struct socket *sock, struct sockaddr *addr, int len)
{
	return kernel_bind(sock, (struct erdma_sockaddr *)addr, len);
}

/**
 * erdma_kernel_connect - kernel_connect()
 * @sock: socket
 * @addr: address
 * @len: bytes of the address
 * @flags: O_NONBLOCK or 0
 *
 * Context: may sleep.
 * Return: 0 or the socket's error.
 */
static inline int erdma_kernel_connect(struct socket *sock, struct sockaddr *addr, int len,
				       int flags)
{
	return kernel_connect(sock, (struct erdma_sockaddr *)addr, len, flags);
}

#ifdef ERDMA_COMPAT_DUMPABLE_EXEC_STATE
/*
 * Lives beside the memory and longer than it. exec() replaces both together, under
 * task_lock(), so with that lock held the two belong together.
 */
static inline bool erdma_is_dumpable_locked(struct task_struct *task)
{
	const struct task_exec_state *state =
		rcu_dereference_protected(task->exec_state, lockdep_is_held(&task->alloc_lock));

	return state && READ_ONCE(state->dumpable) == TASK_DUMPABLE_OWNER;
}
#else
static inline bool erdma_is_dumpable_locked(struct task_struct *task)
{
	return get_dumpable(task->mm) == SUID_DUMP_USER;
}
#endif

/**
 * erdma_task_is_dumpable - may those who have a task's ids look into its memory?
 * @task: held by the caller
 *
 * The same answer on all kernels: a task without memory, a kernel thread or one
 * that has ended, may not be looked into, although newer kernels still know what
 * it was.
 *
 * Context: not in interrupts; takes task_lock().
 * Return: true if they may.
 */
static inline bool erdma_task_is_dumpable(struct task_struct *task)
{
	bool ret;

	task_lock(task);
	ret = task->mm && erdma_is_dumpable_locked(task);
	task_unlock(task);
	return ret;
}

#endif
