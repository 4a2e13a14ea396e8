// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Whose an object is, for the diagnostics node: the process or kernel module that
 * made it, seen from the caller (docs/abi.md, "Rights").
 *
 * The core drops its reference of the process when it untracks an object, which
 * many kernels do before they destroy it: a reference of the driver's does not
 * keep the process. One of the core's tracking does.
 */
#include <linux/cgroup.h>
#include <linux/nsproxy.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "erdma_diag_int.h"

static_assert(ERDMA_DIAG_COMM_LEN == TASK_COMM_LEN);

/**
 * erdma_diag_origin_of_res - whose an object is that the core tracks
 * @res: of the object, which the caller holds
 * @origin: filled; for erdma_diag_put_origin()
 *
 * Context: process.
 * Return: 0; -ENOENT: an application's object that the core does not track yet or
 * any more.
 */
int erdma_diag_origin_of_res(struct rdma_restrack_entry *res, struct erdma_diag_origin *origin)
{
	*origin = (struct erdma_diag_origin){ .kernel = rdma_is_kernel_res(res) };
	if (origin->kernel) {
		if (res->kern_name)
			strscpy(origin->comm, res->kern_name, sizeof(origin->comm));
		return 0;
	}
	if (!rdma_restrack_get(res))
		return -ENOENT;
	if (res->task)
		origin->task = get_task_struct(res->task);
	rdma_restrack_put(res);
	return 0;
}

/**
 * erdma_diag_origin_of_task - whose an object is that the core does not track
 * @task: process, which the caller holds; NULL: not known
 * @origin: filled; for erdma_diag_put_origin()
 */
void erdma_diag_origin_of_task(struct task_struct *task, struct erdma_diag_origin *origin)
{
	*origin = (struct erdma_diag_origin){};
	if (task && task->flags & PF_KTHREAD) {
		origin->kernel = true;
		get_task_comm(origin->comm, task);
	} else if (task) {
		origin->task = get_task_struct(task);
	}
}

/**
 * erdma_diag_put_origin - drop the reference of the process
 * @origin: of erdma_diag_origin_of_res() or erdma_diag_origin_of_task()
 */
void erdma_diag_put_origin(struct erdma_diag_origin *origin)
{
	if (origin->task)
		put_task_struct(origin->task);
}

#ifdef CONFIG_CGROUPS
/* 0: the caller's cgroup namespace does not contain the group */
static u64 owner_cgroup(struct task_struct *task)
{
	const struct cgroup_namespace *ns = current->nsproxy->cgroup_ns;
	struct cgroup *group;
	u64 id = 0;

	rcu_read_lock();
	group = rcu_dereference(task->cgroups)->dfl_cgrp;
	if (cgroup_is_descendant(group, ns->root_cset->dfl_cgrp))
		id = cgroup_id(group);
	rcu_read_unlock();
	return id;
}
#else
static u64 owner_cgroup(struct task_struct *task)
{
	return 0;
}
#endif

/*
 * The thread that made the object may have ended while others of its process live.
 * Return: the first thread, with a reference; NULL: the process has ended.
 */
static struct task_struct *owner_get_leader(struct task_struct *task)
{
	struct task_struct *leader;

	if (!atomic_read(&task->signal->live))
		return NULL;
	rcu_read_lock();
	leader = pid_task(task_tgid(task), PIDTYPE_TGID);
	if (leader)
		get_task_struct(leader);
	rcu_read_unlock();
	return leader;
}

static u32 owner_namespaces(struct task_struct *task)
{
	u32 flags = 0;

	rcu_read_lock();
	if (ns_of_pid(task_tgid(task)) != task_active_pid_ns(current))
		flags |= ERDMA_DIAG_OWNER_PID_NS;
	rcu_read_unlock();
	task_lock(task);
	if (task->nsproxy && task->nsproxy->net_ns != current->nsproxy->net_ns)
		flags |= ERDMA_DIAG_OWNER_NET_NS;
	task_unlock(task);
	return flags;
}

static void owner_fill_more(struct task_struct *task, struct erdma_diag_owner_more *more)
{
	struct task_struct *leader = owner_get_leader(task);

	if (!leader) {
		more->flags = ERDMA_DIAG_OWNER_EXITED;
		return;
	}
	more->flags = owner_namespaces(leader);
	more->cgroup_id = owner_cgroup(leader);
	put_task_struct(leader);
}

/* What the caller is shown of a process */
static void owner_fill_task(struct task_struct *task, struct erdma_diag_owner *owner,
			    struct erdma_diag_owner_more *more)
{
	char comm[TASK_COMM_LEN];

	owner_fill_more(task, more);
	owner->pid = task_tgid_nr_ns(task, task_active_pid_ns(current));
	/* The name has no meaning in a namespace that cannot see the process */
	if (!owner->pid)
		return;
	get_task_comm(comm, task);
	memcpy(owner->comm, comm, sizeof(owner->comm));
}

/* What is known of a process, found out unless it is the one of before */
static const struct erdma_diag_known *owner_known(const struct erdma_diag_who *who,
						  struct task_struct *task)
{
	struct erdma_diag_known *known = who->known;

	if (known->task == task)
		return known;
	erdma_diag_forget_owner(known);
	known->task = get_task_struct(task);
	known->rel = erdma_diag_task_relation(who, task);
	owner_fill_task(task, &known->owner, &known->more);
	return known;
}

static enum erdma_diag_rel owner_relation(const struct erdma_diag_who *who,
					  const struct erdma_diag_origin *origin)
{
	if (origin->kernel)
		return ERDMA_DIAG_REL_KERNEL;
	if (!origin->task)
		return ERDMA_DIAG_REL_OTHER;
	if (who->known)
		return owner_known(who, origin->task)->rel;
	return erdma_diag_task_relation(who, origin->task);
}

/**
 * erdma_diag_may_see - may a caller see that an object exists?
 * @who: caller
 * @origin: whose it is
 *
 * Return: true if it may.
 */
bool erdma_diag_may_see(const struct erdma_diag_who *who,
			const struct erdma_diag_origin *origin)
{
	return erdma_diag_is_allowed(who, ERDMA_DIAG_SCOPE_METADATA,
				     owner_relation(who, origin));
}

/**
 * erdma_diag_relation - whose object is it?
 * @who: caller
 * @res: of the object, which the caller of this function holds
 *
 * Return: see enum erdma_diag_rel.
 */
enum erdma_diag_rel erdma_diag_relation(const struct erdma_diag_who *who,
					struct rdma_restrack_entry *res)
{
	struct erdma_diag_origin origin;
	enum erdma_diag_rel rel;

	if (erdma_diag_origin_of_res(res, &origin))
		return ERDMA_DIAG_REL_OTHER;
	rel = owner_relation(who, &origin);
	erdma_diag_put_origin(&origin);
	return rel;
}

/**
 * erdma_diag_fill_owner - who created an object
 * @who: caller
 * @origin: whose it is
 * @owner: zeroed by the caller
 * @more: zeroed by the caller
 *
 * Context: process; takes task_lock().
 */
void erdma_diag_fill_owner(const struct erdma_diag_who *who,
			   const struct erdma_diag_origin *origin,
			   struct erdma_diag_owner *owner, struct erdma_diag_owner_more *more)
{
	if (origin->kernel) {
		owner->kernel = 1;
		memcpy(owner->comm, origin->comm, sizeof(owner->comm));
	} else if (!origin->task) {
		more->flags = ERDMA_DIAG_OWNER_UNKNOWN;
	} else if (who->known) {
		*owner = owner_known(who, origin->task)->owner;
		*more = who->known->more;
	} else {
		owner_fill_task(origin->task, owner, more);
	}
}

/**
 * erdma_diag_forget_owner - forget what was found out about a process
 * @known: nothing is in it afterwards
 */
void erdma_diag_forget_owner(struct erdma_diag_known *known)
{
	if (known->task)
		put_task_struct(known->task);
	*known = (struct erdma_diag_known){};
}
