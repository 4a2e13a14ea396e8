// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Where it is recorded whether a process may be dumped: its memory, or its exec state. */
#include <linux/sched.h>
#include <linux/sched/coredump.h>
#ifdef ERDMA_PROBE_DUMPABLE_EXEC_STATE
#include <linux/sched/exec_state.h>
#endif

bool probe(struct task_struct *task);

bool probe(struct task_struct *task)
{
#ifdef ERDMA_PROBE_DUMPABLE_MM
	return get_dumpable(task->mm) == SUID_DUMP_USER;
#endif
#ifdef ERDMA_PROBE_DUMPABLE_EXEC_STATE
	return rcu_access_pointer(task->exec_state)->dumpable == TASK_DUMPABLE_OWNER;
#endif
}
