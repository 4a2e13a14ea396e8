// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Who may see what over the diagnostics node (docs/abi.md, "Rights").
 *
 * A right counts only if both the caller and the one who opened the file have
 * it: neither a file handed to a privileged program nor a file left open while
 * privileges were dropped gives more than one of them alone.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/security.h>

#include "compat/compat.h"
#include "erdma_diag_int.h"

static bool scope_is_capable(const struct file *file, int cap)
{
	return ns_capable_noaudit(&init_user_ns, cap) &&
	       file_ns_capable(file, &init_user_ns, cap);
}

/**
 * erdma_diag_who_init - find out what a caller may do
 * @who: filled
 * @file: the file the call came through
 */
void erdma_diag_who_init(struct erdma_diag_who *who, const struct file *file)
{
	*who = (struct erdma_diag_who){
		.opener = file->f_cred,
		.net_admin = scope_is_capable(file, CAP_NET_ADMIN),
		.ptrace = scope_is_capable(file, CAP_SYS_PTRACE),
	};
	/*
	 * There is no lockdown reason of our own. This one is about keys held
	 * by the kernel too, and of the right level, confidentiality.
	 */
	who->secrets = who->net_admin && !security_locked_down(ERDMA_LOCKDOWN_SECRETS);
}

/* The same user in every respect, as ptrace demands */
static bool scope_has_same_ids(const struct cred *c, const struct cred *t)
{
	return uid_eq(c->uid, t->uid) && uid_eq(c->uid, t->euid) && uid_eq(c->uid, t->suid) &&
	       gid_eq(c->gid, t->gid) && gid_eq(c->gid, t->egid) && gid_eq(c->gid, t->sgid);
}

/* A file opened by somebody else shows nothing; a thread of the kernel is nobody's */
static bool scope_is_opener(const struct erdma_diag_who *who)
{
	const struct cred *mine = current_cred();

	return who->opener && uid_eq(who->opener->uid, mine->uid) &&
	       uid_eq(who->opener->euid, mine->euid);
}

/**
 * erdma_diag_task_relation - whose process is it?
 * @who: caller
 * @task: process, held by the caller of this function
 *
 * What ptrace_may_access(PTRACE_MODE_READ_REALCREDS) checks, as far as a module
 * can: that function is not exported, nor is the hook of security modules.
 *
 * Return: ERDMA_DIAG_REL_SELF, ERDMA_DIAG_REL_USER or ERDMA_DIAG_REL_OTHER.
 */
enum erdma_diag_rel erdma_diag_task_relation(const struct erdma_diag_who *who,
					     struct task_struct *task)
{
	const struct cred *mine = current_cred(), *tcred;
	bool user, same;

	if (!scope_is_opener(who))
		return ERDMA_DIAG_REL_OTHER;
	if (same_thread_group(task, current))
		return ERDMA_DIAG_REL_SELF;

	rcu_read_lock();
	tcred = __task_cred(task);
	user = uid_eq(mine->uid, tcred->uid);
	same = scope_has_same_ids(mine, tcred) && mine->user_ns == tcred->user_ns &&
	       cap_issubset(tcred->cap_permitted, mine->cap_permitted);
	rcu_read_unlock();

	/* Dumpability is read after the credentials, see kernel/ptrace.c */
	smp_rmb();
	if (same && erdma_task_is_dumpable(task))
		return ERDMA_DIAG_REL_SELF;
	return user ? ERDMA_DIAG_REL_USER : ERDMA_DIAG_REL_OTHER;
}

/**
 * erdma_diag_user_relation - whose is what a user left behind?
 * @who: caller
 * @uid: user who caused it; the process may be gone
 *
 * Return: USER or OTHER.
 */
enum erdma_diag_rel erdma_diag_user_relation(const struct erdma_diag_who *who, kuid_t uid)
{
	if (!scope_is_opener(who) || !uid_eq(current_uid(), uid))
		return ERDMA_DIAG_REL_OTHER;
	return ERDMA_DIAG_REL_USER;
}

/**
 * erdma_diag_is_allowed - is a caller allowed to do this?
 * @who: caller
 * @scope: what it wants
 * @rel: whose object it is about
 *
 * Return: true if it is.
 */
bool erdma_diag_is_allowed(const struct erdma_diag_who *who, enum erdma_diag_scope scope,
			   enum erdma_diag_rel rel)
{
	if (who->net_admin)
		return true;

	switch (scope) {
	case ERDMA_DIAG_SCOPE_OPEN:
		return true;
	case ERDMA_DIAG_SCOPE_METADATA:
		return rel == ERDMA_DIAG_REL_DEVICE || rel == ERDMA_DIAG_REL_SELF ||
		       rel == ERDMA_DIAG_REL_USER;
	case ERDMA_DIAG_SCOPE_CONTENT:
		return rel == ERDMA_DIAG_REL_SELF ||
		       (who->ptrace && (rel == ERDMA_DIAG_REL_USER ||
					rel == ERDMA_DIAG_REL_OTHER));
	default:
		return false;
	}
}
