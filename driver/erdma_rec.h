/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Recorders: what the driver remembers for the diagnostics node, in memory of fixed
 * size that belongs to the adapter. Included through erdma.h.
 *
 * Writing copies an entry under a short lock; nothing is allocated and nothing waits.
 * The data path (post, poll, arm) never writes.
 */
#ifndef ERDMA_REC_H
#define ERDMA_REC_H

#include <linux/kref.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/wait.h>

#include "uapi/erdma_diag.h"

struct erdma_cmd_result;
struct erdma_dev;
struct erdma_rec;

/**
 * struct erdma_rec_owner - who caused an entry
 * @uid: user
 * @pid: process, in the initial pid namespace
 * @tid: thread, ditto
 * @start_ns: when the process began: a later one may have the same number
 * @kernel: a thread of the kernel, or the driver itself: no user and no process
 * @comm: name of the thread
 */
struct erdma_rec_owner {
	kuid_t uid;
	pid_t pid;
	pid_t tid;
	u64 start_ns;
	bool kernel;
	char comm[TASK_COMM_LEN];
};

/**
 * struct erdma_rec_key - a region that is deregistered
 * @stag: its newest key
 * @pdn: PD number
 * @type: enum erdma_mr_type
 */
struct erdma_rec_key {
	u32 stag;
	u32 pdn;
	u32 type;
};

/**
 * union erdma_rec_entry - room for an entry of any kind
 */
union erdma_rec_entry {
	struct erdma_diag_log_head head;
	struct erdma_diag_log_cmd cmd;
	struct erdma_diag_log_cmd_time cmd_time;
	struct erdma_diag_log_event event;
	struct erdma_diag_log_cm cm;
	struct erdma_diag_log_fail fail;
	struct erdma_diag_log_key key;
	struct erdma_diag_log_reset reset;
	struct erdma_diag_log_link link;
	struct erdma_diag_log_debug debug;
};

/**
 * struct erdma_rec_found - an entry that was read
 * @seq: its sequence number
 * @lost: entries between the number asked for and this one that are not there any more
 * @owner: its owner; the name is in the entry
 * @entry: copy
 */
struct erdma_rec_found {
	u64 seq;
	u64 lost;
	struct erdma_rec_owner owner;
	union erdma_rec_entry entry;
};

/* ---- erdma_rec.c: memory, reading ---------------------------------------- */

extern bool erdma_rec_enabled;		/* module parameter "recorders" */

/* Whether anything is to be recorded */
static inline bool erdma_rec_is_on(const struct erdma_rec *rec)
{
	return rec && READ_ONCE(erdma_rec_enabled);
}

struct erdma_rec *erdma_rec_create(void);
struct erdma_rec *erdma_rec_get(struct erdma_rec *rec);
void erdma_rec_put(struct erdma_rec *rec);
void erdma_rec_add(struct erdma_rec *rec, u32 kind, const struct erdma_rec_owner *owner,
		   void *entry);
bool erdma_rec_find(struct erdma_rec *rec, u32 kind, u64 seq, struct erdma_rec_found *found);
u64 erdma_rec_end(struct erdma_rec *rec, u32 kind);
u32 erdma_rec_entry_size(u32 kind);
wait_queue_head_t *erdma_rec_wait(struct erdma_rec *rec);
void erdma_rec_current(struct erdma_rec_owner *owner);

/* ---- erdma_rec_cmd.c: commands, keys, failures of verbs ---------------------- */

void erdma_rec_cmd(struct erdma_rec *rec, u32 submod, u32 opcode, u32 object,
		   const struct erdma_rec_key *key, int err,
		   const struct erdma_cmd_result *res);
void erdma_rec_fail(struct erdma_rec *rec, enum erdma_diag_verb verb, u32 object, int err);

/* ---- erdma_rec_event.c: everything else but connections ---------------------- */

void erdma_rec_event(struct erdma_dev *dev, u32 type, u32 subtype, u32 object, u32 data);
void erdma_rec_reset(struct erdma_rec *rec, u32 event, const char *reason, int err);
void erdma_rec_link(struct erdma_rec *rec, u32 event, u32 mtu, int err);
__printf(4, 0) void erdma_rec_debug(struct erdma_rec *rec, u32 cat, u32 level,
				    const char *fmt, va_list args);

#endif /* ERDMA_REC_H */
