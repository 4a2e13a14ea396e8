// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * ERDMA_DIAG_LOG and poll(): entries of the recorders (docs/abi.md, "Recorders").
 */
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "erdma_diag_int.h"

/* A record of any kind */
struct log_rec {
	struct erdma_diag_rec hdr;
	union erdma_rec_entry entry;
};

/* Whose the entries of a kind are; else their owner's */
static bool log_is_device(u32 kind)
{
	return kind == ERDMA_DIAG_LOG_CMD_TIME || kind == ERDMA_DIAG_LOG_RESET ||
	       kind == ERDMA_DIAG_LOG_LINK;
}

static bool log_may_see(const struct erdma_diag_who *who, u32 kind,
			const struct erdma_rec_owner *owner)
{
	enum erdma_diag_rel rel = ERDMA_DIAG_REL_DEVICE;

	if (!log_is_device(kind))
		rel = owner->kernel ? ERDMA_DIAG_REL_KERNEL :
				      erdma_diag_user_relation(who, owner->uid);
	return erdma_diag_is_allowed(who, ERDMA_DIAG_SCOPE_METADATA, rel);
}

/*
 * The recorder has the number in the initial namespace. In another one it is looked
 * up, and is that of the same process only if that began at the same time.
 */
static void log_translate_pid(const struct erdma_rec_owner *owner, struct erdma_diag_owner *out)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	struct task_struct *task;

	if (owner->kernel || ns == &init_pid_ns)
		return;
	out->pid = 0;
	rcu_read_lock();
	task = pid_task(find_pid_ns(owner->pid, &init_pid_ns), PIDTYPE_TGID);
	if (task && task->start_boottime == owner->start_ns)
		out->pid = task_tgid_nr_ns(task, ns);
	rcu_read_unlock();
	if (!out->pid)
		memset(out->comm, 0, sizeof(out->comm));
}

static void log_fill(const struct erdma_diag_who *who, u32 kind, u32 len,
		     const struct erdma_rec_found *found, struct log_rec *rec)
{
	rec->hdr.len = len;
	rec->hdr.type = ERDMA_DIAG_REC_LOG(kind);
	rec->hdr.flags = 0;
	memcpy(&rec->entry, &found->entry, len - sizeof(rec->hdr));
	log_translate_pid(&found->owner, &rec->entry.head.owner);
	if (kind == ERDMA_DIAG_LOG_KEY && !who->secrets) {
		rec->entry.key.stag = 0;
		rec->hdr.flags |= ERDMA_DIAG_REC_F_HIDDEN;
	}
}

/* Return: 0; -EINVAL: a number that no call gave */
static int log_begin(const struct erdma_dev *dev, struct erdma_diag_req *req)
{
	struct erdma_diag_log *arg = req->arg;
	u64 end = erdma_rec_end(dev->rec, arg->kind);

	if (arg->seq == ERDMA_DIAG_LOG_END)
		arg->seq = end;
	if (arg->seq > end)
		return -EINVAL;
	req->cursor = 1;
	req->ident = end;
	arg->out_next = arg->seq;
	arg->out_lost = 0;
	arg->out_len = 0;
	arg->out_count = 0;
	arg->out_more = 0;
	return 0;
}

/* From now on the file's poll() looks for what comes after this call */
static int log_end(const struct erdma_diag_req *req)
{
	const struct erdma_diag_log *arg = req->arg;

	if (req->file)
		atomic64_set(&req->file->next[arg->kind], arg->out_next + 1);
	return 0;
}

/**
 * erdma_diag_handle_log - ERDMA_DIAG_LOG
 * @dev: device
 * @req: struct erdma_diag_log; ident is the end: entries added later are not returned
 *
 * Entries the caller may not see are left out.
 *
 * Return: 0, ERDMA_DIAG_MORE, or -errno.
 */
int erdma_diag_handle_log(struct erdma_dev *dev, struct erdma_diag_req *req)
{
	struct erdma_diag_log *arg = req->arg;
	u32 size = erdma_rec_entry_size(arg->kind), len = size + sizeof(struct erdma_diag_rec);
	u32 room = min_t(u32, req->buf_len, ERDMA_DIAG_LIST_MAX_BYTES) - req->copied;
	struct erdma_rec_found found;
	int ret;

	if (!size || !dev->rec)
		return -EOPNOTSUPP;
	if (!req->cursor) {
		ret = log_begin(dev, req);
		if (ret)
			return ret;
	}

	while (arg->out_next < req->ident) {
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		if (!erdma_rec_find(dev->rec, arg->kind, arg->out_next, &found) ||
		    found.seq >= req->ident) {
			/* Those until the end are gone, or were never there */
			if (arg->kind != ERDMA_DIAG_LOG_CMD_TIME)
				arg->out_lost += req->ident - arg->out_next;
			arg->out_next = req->ident;
			break;
		}
		if (log_may_see(req->who, arg->kind, &found.owner)) {
			if (len > room - req->chunk_len) {
				if (arg->out_count) {
					arg->out_more = 1;
					break;
				}
				arg->out_len = len;
				return -EMSGSIZE;
			}
			if (len > req->chunk_size - req->chunk_len)
				return ERDMA_DIAG_MORE;
			log_fill(req->who, arg->kind, len, &found,
				 (struct log_rec *)(req->chunk + req->chunk_len));
			req->chunk_len += len;
			arg->out_len += len;
			arg->out_count++;
		}
		arg->out_lost += found.lost;
		arg->out_next = found.seq + 1;
	}
	return log_end(req);
}

/**
 * erdma_diag_poll - file_operations.poll of the node
 * @file: open file
 * @wait: table of the caller
 *
 * Readable if there is an entry that the file's last ERDMA_DIAG_LOG call of its kind
 * did not reach; kinds that were never asked for do not count.
 *
 * Context: process.
 * Return: EPOLL*; EPOLLERR and EPOLLHUP when the adapter is gone.
 */
__poll_t erdma_diag_poll(struct file *file, poll_table *wait)
{
	struct erdma_diag_file *df = file->private_data;
	struct erdma_diag *diag = df->diag;
	u32 kind;
	u64 next;

	poll_wait(file, erdma_rec_wait(diag->rec), wait);
	if (!READ_ONCE(diag->edev))
		return EPOLLERR | EPOLLHUP;
	for (kind = 1; kind < ERDMA_DIAG_LOG_COUNT; kind++) {
		next = atomic64_read(&df->next[kind]);
		/* The number after the next one; 0 = never asked for */
		if (next && erdma_rec_end(diag->rec, kind) >= next)
			return EPOLLIN | EPOLLRDNORM;
	}
	return 0;
}
