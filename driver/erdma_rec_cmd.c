// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Recorders of commands (CMD, CMD_FIRST, CMD_TIME), of the keys that they end (KEY), and
 * of the verbs that fail because of them, or for another reason (FAIL).
 */
#include "erdma.h"
#include "erdma_rec_int.h"

static_assert((int)ERDMA_DIAG_CMD_NOT_SENT == (int)ERDMA_CMD_NOT_SENT);
static_assert((int)ERDMA_DIAG_CMD_ANSWERED == (int)ERDMA_CMD_ANSWERED);
static_assert((int)ERDMA_DIAG_CMD_UNANSWERED == (int)ERDMA_CMD_UNANSWERED);

/* ---- commands ----------------------------------------------------------- */

/*
 * The first refusal, the first command that was not answered: what led to it stays,
 * whatever comes later.
 */
static void cmd_freeze(struct erdma_rec *rec, u32 outcome)
{
	struct erdma_rec_ring *ring = &rec->ring[ERDMA_DIAG_LOG_CMD];
	struct erdma_rec_slot *slot;
	u64 seq;

	if (outcome == ERDMA_CMD_NOT_SENT || rec->frozen & BIT(outcome))
		return;
	rec->frozen |= BIT(outcome);
	seq = ring->next > ERDMA_REC_FREEZE ? ring->next - ERDMA_REC_FREEZE : 0;
	for (; seq < ring->next; seq++) {
		slot = erdma_rec_slot(ring, seq);
		erdma_rec_store(rec, ERDMA_DIAG_LOG_CMD_FIRST,
				erdma_rec_next_slot(rec, ERDMA_DIAG_LOG_CMD_FIRST), &slot->owner,
				(struct erdma_diag_log_head *)slot->data);
	}
}

static void cmd_count_time(struct erdma_rec *rec, u32 submod, u32 opcode,
			   const struct erdma_cmd_result *res)
{
	u64 answer_ns = res->answer_ns, ns = answer_ns - res->submit_ns;
	u32 i = submod * ERDMA_REC_OPCODES + opcode;
	struct erdma_diag_log_cmd_time *row;
	struct erdma_rec_slot *slot;
	u64 us;

	if (!answer_ns || i >= ERDMA_REC_SUBMODS * ERDMA_REC_OPCODES)
		return;
	slot = erdma_rec_row(rec, i);
	slot->seq = i;
	row = (struct erdma_diag_log_cmd_time *)slot->data;
	us = div_u64(ns, NSEC_PER_USEC);
	row->count++;
	row->failed += !!res->syndrome;
	row->sum_ns += ns;
	if (ns >= row->max_ns) {
		row->max_ns = ns;
		row->head.time_ns = answer_ns;
	}
	row->bucket[min_t(u32, fls64(us), ERDMA_DIAG_LOG_BUCKETS - 1)]++;
}

/* The command in @cmd, which returned @err, was to end a key */
static void cmd_add_key(struct erdma_rec *rec, const struct erdma_rec_slot *cmd,
			const struct erdma_rec_key *key, int err)
{
	struct erdma_rec_slot *slot = erdma_rec_next_slot(rec, ERDMA_DIAG_LOG_KEY);
	struct erdma_diag_log_key *entry = (struct erdma_diag_log_key *)slot->data;

	slot->owner = cmd->owner;
	entry->head.time_ns = ((const struct erdma_diag_log_head *)cmd->data)->time_ns;
	entry->stag = key->stag;
	entry->index = FIELD_GET(ERDMA_STAG_INDEX, key->stag);
	entry->pdn = key->pdn;
	entry->type = key->type;
	entry->err = -err;
}

/**
 * erdma_rec_cmd - record a command
 * @rec: recorders; NULL, or switched off: nothing happens
 * @submod: enum erdma_submod
 * @opcode: opcode within @submod
 * @object: number of what it is about
 * @key: key that it was to end, or NULL
 * @err: what it returned
 * @res: what became of it
 *
 * Every command pays for it: one lock, and the entries are written where they stay
 * (tests/vm/test_control_cost.py).
 *
 * Context: process; the caller of the command.
 */
void erdma_rec_cmd(struct erdma_rec *rec, u32 submod, u32 opcode, u32 object,
		   const struct erdma_rec_key *key, int err,
		   const struct erdma_cmd_result *res)
{
	struct erdma_diag_log_cmd *entry;
	struct erdma_rec_slot *slot;

	if (!erdma_rec_is_on(rec))
		return;
	spin_lock(&rec->cmd_lock);
	slot = erdma_rec_next_slot(rec, ERDMA_DIAG_LOG_CMD);
	erdma_rec_fill_current(&slot->owner);
	entry = (struct erdma_diag_log_cmd *)slot->data;
	entry->head.time_ns = res->answer_ns ?: ktime_get_ns();
	entry->cmd_seq = slot->seq;
	entry->submit_ns = res->submit_ns;
	entry->answer_ns = res->answer_ns;
	entry->submod = submod;
	entry->opcode = opcode;
	entry->object = object;
	entry->outcome = res->outcome;
	entry->syndrome = res->syndrome;
	entry->err = -err;
	cmd_count_time(rec, submod, opcode, res);
	if (key)
		cmd_add_key(rec, slot, key, err);
	if (err && !res->hurried)
		cmd_freeze(rec, res->outcome);
	spin_unlock(&rec->cmd_lock);
	erdma_rec_wake(rec);
}

/* ---- verbs -------------------------------------------------------------- */

#define VERB_CMDS	4	/* at most, of what failed and of what was undone after it */

/*
 * The newest command of the calling thread that failed with what the verb returned. Older ones
 * were of other verbs.
 */
static void fail_add_cmd(struct erdma_rec *rec, struct erdma_diag_log_fail *entry, pid_t tid)
{
	struct erdma_rec_ring *ring = &rec->ring[ERDMA_DIAG_LOG_CMD];
	const struct erdma_diag_log_cmd *cmd;
	struct erdma_rec_slot *slot;
	u32 n = min(ring->next, ring->mask + 1);
	u64 seq = ring->next;
	u32 own = 0;

	while (n-- && own < VERB_CMDS) {
		slot = erdma_rec_slot(ring, --seq);
		cmd = (const struct erdma_diag_log_cmd *)slot->data;
		if (slot->owner.tid != tid)
			continue;
		own++;
		if (cmd->err != entry->err)
			continue;
		entry->cmd = 1;
		entry->submod = cmd->submod;
		entry->opcode = cmd->opcode;
		entry->syndrome = cmd->syndrome;
		return;
	}
}

/* The threads of the kernel are one owner */
static bool fail_is_owner(const struct erdma_rec_owner *a, const struct erdma_rec_owner *b)
{
	if (a->kernel || b->kernel)
		return a->kernel && b->kernel;
	return a->pid == b->pid && a->start_ns == b->start_ns;
}

/* The slot of this verb and process, else an empty one, else the oldest */
static struct erdma_rec_slot *fail_slot(struct erdma_rec_ring *ring, u32 verb,
					const struct erdma_rec_owner *owner, u32 *count)
{
	struct erdma_rec_slot *slot, *best = erdma_rec_slot(ring, 0);
	const struct erdma_diag_log_fail *fail;
	u32 i;

	for (i = 0; i <= ring->mask; i++) {
		slot = erdma_rec_slot(ring, i);
		fail = (const struct erdma_diag_log_fail *)slot->data;
		if (slot->seq != ERDMA_REC_EMPTY && fail->verb == verb &&
		    fail_is_owner(&slot->owner, owner)) {
			*count = fail->count;
			return slot;
		}
		/* An empty slot's number plus one is zero */
		if (slot->seq + 1 < best->seq + 1)
			best = slot;
	}
	return best;
}

/* An errno that only a command gives */
static bool fail_is_of_cmd(int err)
{
	return err == -EIO || err == -ETIMEDOUT || err == -ENODEV;
}

/**
 * erdma_rec_fail - record that a verb failed
 * @rec: recorders; NULL, or switched off: nothing happens
 * @verb: verb
 * @object: number of the object, 0 if it got none
 * @err: what the verb returns
 *
 * Context: process; the caller of the verb.
 */
void erdma_rec_fail(struct erdma_rec *rec, enum erdma_diag_verb verb, u32 object, int err)
{
	struct erdma_diag_log_fail entry = {
		.verb = verb,
		.err = -err,
		.object = object,
	};
	struct erdma_rec_owner owner;
	struct erdma_rec_slot *slot;

	if (!erdma_rec_is_on(rec))
		return;
	erdma_rec_current(&owner);
	entry.head.time_ns = ktime_get_ns();
	spin_lock(&rec->cmd_lock);
	if (fail_is_of_cmd(err))
		fail_add_cmd(rec, &entry, owner.tid);
	slot = fail_slot(&rec->ring[ERDMA_DIAG_LOG_FAIL], verb, &owner, &entry.count);
	entry.count++;
	erdma_rec_number(rec, ERDMA_DIAG_LOG_FAIL, slot);
	erdma_rec_store(rec, ERDMA_DIAG_LOG_FAIL, slot, &owner, &entry.head);
	spin_unlock(&rec->cmd_lock);
	erdma_rec_wake(rec);
}
