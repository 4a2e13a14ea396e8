// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Command transport (docs/erdma-hardware.md, section 4).
 *
 * A command takes a credit, then, under the lock, a context and the next slot of
 * the send ring. The context owns the result; whoever waits owns
 * the context until it is DONE and looked at. A waiter that gives up leaves it
 * QUARANTINED: its number and its slot stay in use until the device
 * answers after all, or is reset. When the ring comes round to that position the
 * device has answered later commands, and it answers in order: then the command
 * is lost, context and position are used again, and only a buffer that the device
 * was to write stays until the reset.
 *
 * What the device writes is read once and checked against the driver's own
 * records (slot_ctx, opcode), never against ring memory, which the device can write.
 */
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/sched/task.h>

#include "erdma.h"
#include "erdma/erdma_names.h"

#define CMDQ_SLOT_SIZE	(ERDMA_CMDQ_SLOT_WQEBBS * ERDMA_WQEBB_SIZE)
#define CMDQ_CQ_BUDGET	ERDMA_CMDQ_SLOTS	/* completions per look at the CQ */
#define CMDQ_MAX_EMPTY	64			/* empty events in a row before arming stops */
#define CMDQ_POLL_US	20			/* first pause in poll mode, doubles */
#define CMDQ_POLL_MAX_US 2000
#define CMDQ_GONE_MS	1000			/* between looks whether the device is there */

static_assert(ERDMA_CMDQ_SLOTS <= ERDMA_CMDQ_NO_CTX);

/* Applications can bring these about: they are limited like all other messages of that kind */
#define cmdq_err(q, fmt, ...)	erdma_dbg((q)->dev, CMDQ, ERR, fmt, ##__VA_ARGS__)

static const char *ctx_name(const struct erdma_cmd_ctx *ctx)
{
	return erdma_name_cmd(ctx->submod, ctx->opcode) ?: "unknown command";
}

/* The only place where the state of a context changes; @to is constant, little is left of it */
static __always_inline void ctx_set_state(struct erdma_cmdq *q, struct erdma_cmd_ctx *ctx,
					  enum erdma_cmd_state to)
{
	static const u8 legal[] = {
		[ERDMA_CMD_UNUSED] = BIT(ERDMA_CMD_SUBMITTED),
		[ERDMA_CMD_SUBMITTED] = BIT(ERDMA_CMD_DONE) | BIT(ERDMA_CMD_QUARANTINED),
		[ERDMA_CMD_DONE] = BIT(ERDMA_CMD_UNUSED),
		[ERDMA_CMD_QUARANTINED] = BIT(ERDMA_CMD_UNUSED),
	};

	lockdep_assert_held(&q->lock);
	WARN_ONCE(!(legal[ctx->state] & BIT(to)), "erdma: command context changes from state %u to %u\n",
		  ctx->state, to);
	if (ctx->state == ERDMA_CMD_QUARANTINED)
		q->quarantined--;
	if (to == ERDMA_CMD_QUARANTINED)
		q->quarantined++;
	ctx->state = to;
}

static const char * const death_reasons[] = {
	[ERDMA_DIAG_DEAD_OVERTAKEN] = "the device overtakes its oldest command",
	[ERDMA_DIAG_DEAD_UNPLUGGED] = "the device has left the bus",
	[ERDMA_DIAG_DEAD_NO_ANSWER] = "the device answers no command any more",
	[ERDMA_DIAG_DEAD_NO_CONTEXT] = "no command context is left, all wait for an answer",
};

/* Who waits for the command is sleeping in cmdq_wait_irq() or polling, or is the caller */
static void death_record(struct erdma_cmdq *q, const struct erdma_cmd_ctx *ctx, u32 reason)
{
	struct erdma_cmdq_death *death = &q->death;

	lockdep_assert_held(&q->lock);
	death->reason = reason;
	death->ns = ktime_get_ns();
	if (!ctx)
		return;
	death->submod = ctx->submod;
	death->opcode = ctx->opcode;
	death->waited_ns = death->ns - ctx->submit_ns;
	death->caller = get_task_struct(ctx->task);
}

/* Commands in flight will not be answered and no new ones are accepted */
static void cmdq_set_dead(struct erdma_cmdq *q)
{
	int i;

	lockdep_assert_held(&q->lock);
	if (q->state == ERDMA_DIAG_CMDQ_DEAD)
		return;
	WRITE_ONCE(q->state, ERDMA_DIAG_CMDQ_DEAD);
	for (i = 0; i < ERDMA_CMDQ_SLOTS; i++)
		if (q->ctxs[i].state == ERDMA_CMD_SUBMITTED)
			complete(&q->ctxs[i].done);
	/* Wakes one who waits for a credit; it fails and wakes the next one */
	up(&q->credits);
}

static void cmdq_die(struct erdma_cmdq *q, const struct erdma_cmd_ctx *ctx, u32 reason)
{
	const char *why = death_reasons[reason];

	if (q->state == ERDMA_DIAG_CMDQ_DEAD)
		return;
	death_record(q, ctx, reason);
	dev_err(q->dma_dev,
		"command queue is dead: %s (%s, submitted %llu ms ago). Every command fails until the device is replaced\n",
		why, ctx_name(ctx), div_u64(ktime_get_ns() - ctx->submit_ns, NSEC_PER_MSEC));
	cmdq_set_dead(q);
	if (q->on_dead)
		q->on_dead(q, why);
}

/* 4.6: with the true CI, so that the device notices what we have not seen */
static void cmdq_arm(struct erdma_cmdq *q)
{
	u64 db = ERDMA_CQ_DB_ARM |
		 FIELD_PREP(ERDMA_CQ_DB_CI, q->cq_ci & ERDMA_CQ_CI_MASK) |
		 FIELD_PREP(ERDMA_CQ_DB_CMDSN, q->cmdsn & 3) |
		 FIELD_PREP(ERDMA_CQ_DB_IDX, q->cmdsn & 0xff);

	lockdep_assert_held(&q->lock);
	q->armed = true;
	WRITE_ONCE(*q->cq_dbrec, cpu_to_le64(db));
	wmb(); /* record before doorbell */
	erdma_write64(q->mmio, ERDMA_REG_CMDQ_CQ_DB, db);
	erdma_stat_inc(q->stats, ERDMA_STAT_CMDQ_ARMS);
}

/* The device answered @ctx */
static void ctx_complete(struct erdma_cmdq *q, struct erdma_cmd_ctx *ctx)
{
	q->in_flight--;
	q->stuck = 0;
	ctx->answer_ns = ktime_get_ns();
	erdma_stat_inc(q->stats, ctx->syndrome ? ERDMA_STAT_CMDQ_FAILED :
						  ERDMA_STAT_CMDQ_COMPLETED);
	erdma_stat_cmd(q->stats, ctx->submod, ctx->opcode,
		       ctx->syndrome ? ERDMA_CMD_COUNT_REFUSED : ERDMA_CMD_COUNT_OK);
	if (ctx->state == ERDMA_CMD_QUARANTINED) {
		erdma_stat_inc(q->stats, ERDMA_STAT_CMDQ_LATE);
		erdma_resp_buf_free(ctx->buf);
		ctx->buf = NULL;
		ctx_set_state(q, ctx, ERDMA_CMD_UNUSED);
		up(&q->credits);
		return;
	}
	ctx_set_state(q, ctx, ERDMA_CMD_DONE);
	if (ctx->waited)
		complete(&ctx->done);
}

/*
 * Drivers have never looked at these fields, so a device may leave them zero. The
 * first commands show whether it does: there is one at a time then.
 */
static bool cqe_echoes(struct erdma_cmdq *q, u32 field, u32 got, u32 want)
{
	if (!(q->cq_echo & field) || !((got ^ want) & field))
		return true;
	if (q->state != ERDMA_DIAG_CMDQ_POLL || got & field)
		return false;
	q->cq_echo &= ~field;
	return true;
}

/* Which command in flight does a completion answer? By position, opcode and kind. */
static struct erdma_cmd_ctx *cqe_find_ctx(struct erdma_cmdq *q, u32 hdr, u32 index)
{
	u32 n = q->slot_ctx[index / ERDMA_CMDQ_SLOT_WQEBBS];
	struct erdma_cmd_ctx *ctx;

	if (index % ERDMA_CMDQ_SLOT_WQEBBS || n == ERDMA_CMDQ_NO_CTX) {
		cmdq_err(q, "command completion names sq index %u, expected that of a command in flight\n",
			 index);
		return NULL;
	}
	ctx = &q->ctxs[n];
	if (!cqe_echoes(q, ERDMA_CQE_OPCODE, hdr, FIELD_PREP(ERDMA_CQE_OPCODE, ctx->opcode)) ||
	    !cqe_echoes(q, ERDMA_CQE_QTYPE, hdr,
			FIELD_PREP(ERDMA_CQE_QTYPE, ERDMA_CQE_QTYPE_CMDQ))) {
		cmdq_err(q, "command completion of sq index %u has header %#x, expected opcode %u (%s), kind %u\n",
			 index, hdr, ctx->opcode, ctx_name(ctx), ERDMA_CQE_QTYPE_CMDQ);
		return NULL;
	}
	return ctx;
}

/* The next entry of the CQ, or NULL if the device has not written it */
static struct erdma_cqe *cmdq_peek(struct erdma_cmdq *q, u32 *hdr)
{
	struct erdma_cqe *cqe = &q->cq[erdma_ring_slot(q->cq_ci, ERDMA_CMDQ_DEPTH)];

	*hdr = be32_to_cpu(READ_ONCE(cqe->hdr));
	if (FIELD_GET(ERDMA_CQE_OWNER, *hdr) != erdma_ring_owner(q->cq_ci, ERDMA_CMDQ_DEPTH))
		return NULL;
	return cqe;
}

/*
 * Take one completion (4.4). One that answers no command in flight is counted and
 * has no other effect: the command at its position goes on waiting for its own.
 *
 * Return: false if there is none.
 */
static bool cmdq_poll_one(struct erdma_cmdq *q)
{
	struct erdma_cmd_ctx *ctx;
	struct erdma_cqe *cqe;
	u32 index, hdr;
	int i;

	cqe = cmdq_peek(q, &hdr);
	if (!cqe)
		return false;
	dma_rmb(); /* owner bit before the rest */
	q->cq_ci++;

	/* Full or wrapped index: both exist (4.4) */
	index = erdma_ring_slot(be32_to_cpu(READ_ONCE(cqe->qe_idx)), ERDMA_CMDQ_DEPTH);
	ctx = cqe_find_ctx(q, hdr, index);
	if (!ctx) {
		erdma_stat_inc(q->stats, ERDMA_STAT_CMDQ_BAD_CQES);
		return true;
	}
	q->slot_ctx[index / ERDMA_CMDQ_SLOT_WQEBBS] = ERDMA_CMDQ_NO_CTX;

	ctx->syndrome = FIELD_GET(ERDMA_CQE_SYNDROME, hdr);
	for (i = 0; i < 2; i++)
		ctx->resp[i] = be32_to_cpu(READ_ONCE(cqe->resp[2 * i])) |
				(u64)be32_to_cpu(READ_ONCE(cqe->resp[2 * i + 1])) << 32;
	ctx_complete(q, ctx);
	return true;
}

/* Return: completions taken, at most CMDQ_CQ_BUDGET */
static int cmdq_poll(struct erdma_cmdq *q)
{
	int n = 0;

	lockdep_assert_held(&q->lock);
	while (n < CMDQ_CQ_BUDGET && cmdq_poll_one(q))
		n++;
	return n;
}

/*
 * After every event the CQ is armed again while a command is in flight, also if there
 * was no completion: it may have been taken by who waited for it (4.6). If none is ever
 * to be seen, the device has written one that we cannot see and would interrupt for
 * ever: as in erdma_eq_rearm().
 */
static void cmdq_rearm(struct erdma_cmdq *q)
{
	lockdep_assert_held(&q->lock);
	q->armed = false;
	if (q->cq_ci != q->seen_ci) {
		q->seen_ci = q->cq_ci;
		q->empty_events = 0;
	}
	if (!q->in_flight || q->empty_events == CMDQ_MAX_EMPTY)
		return;
	q->empty_events++;
	cmdq_arm(q);
}

/**
 * erdma_cmdq_irq - serve the command EQ
 * @q: command queue
 *
 * Section 4.6: consumes events, then completions, arms the CQ as cmdq_rearm() says
 * and the EQ as erdma_eq_rearm() does. What exceeds the budgets makes the device
 * interrupt again, because both doorbells carry the true CI.
 *
 * Context: interrupt handler of vector 0, never on two CPUs at once.
 */
void erdma_cmdq_irq(struct erdma_cmdq *q)
{
	struct erdma_ceqe entry;
	unsigned long flags;
	int n = 0;

	atomic64_inc(&q->eq.interrupts);
	if (READ_ONCE(q->state) == ERDMA_DIAG_CMDQ_DOWN)
		return;

	while (n < ERDMA_CMDQ_EQ_DEPTH && erdma_eq_next(&q->eq, &entry))
		n++;
	if (n) {
		atomic64_add(n, &q->stats->v[ERDMA_STAT_CMDQ_EVENTS]);
		spin_lock_irqsave(&q->lock, flags);
		q->cmdsn++;
		cmdq_poll(q);
		if (q->state == ERDMA_DIAG_CMDQ_RUN)
			cmdq_rearm(q);
		spin_unlock_irqrestore(&q->lock, flags);
	}
	erdma_eq_rearm(&q->eq, n);
}

/**
 * erdma_cmdq_start_events - leave poll mode
 * @q: command queue in poll mode; the handler of vector 0 calls erdma_cmdq_irq()
 *
 * Context: process. First arm of the command CQ (15.1, step 9).
 */
void erdma_cmdq_start_events(struct erdma_cmdq *q)
{
	unsigned long flags;

	spin_lock_irqsave(&q->lock, flags);
	if (q->state == ERDMA_DIAG_CMDQ_POLL) {
		WRITE_ONCE(q->state, ERDMA_DIAG_CMDQ_RUN);
		cmdq_arm(q);
	}
	spin_unlock_irqrestore(&q->lock, flags);
}

/**
 * erdma_cmdq_kill - give up on the device
 * @q: command queue
 *
 * Everybody who waits fails with -ENODEV at once, so does every later command.
 * For a device that was pulled out or is being reset; final.
 *
 * Context: any. Takes @q->lock.
 */
void erdma_cmdq_kill(struct erdma_cmdq *q)
{
	unsigned long flags;

	spin_lock_irqsave(&q->lock, flags);
	if (q->state != ERDMA_DIAG_CMDQ_DOWN && q->state != ERDMA_DIAG_CMDQ_DEAD) {
		death_record(q, NULL, ERDMA_DIAG_DEAD_LOST);
		cmdq_set_dead(q);
	}
	spin_unlock_irqrestore(&q->lock, flags);
}

/* A credit guarantees that there is one. Any will do; most often it is @start. */
static struct erdma_cmd_ctx *cmdq_take_ctx(struct erdma_cmdq *q, u32 start)
{
	u32 i, n;

	for (i = 0; i < ERDMA_CMDQ_SLOTS; i++) {
		n = (start + i) % ERDMA_CMDQ_SLOTS;
		if (q->ctxs[n].state == ERDMA_CMD_UNUSED)
			return &q->ctxs[n];
	}
	WARN_ONCE(1, "erdma: command credit without a free context\n");
	return NULL;
}

/* 4.3: body, rest of the slot zero, header, record, doorbell */
static void cmdq_post(struct erdma_cmdq *q, struct erdma_cmd_ctx *ctx, const void *req,
		      size_t size)
{
	u8 *wqe = q->sq + erdma_ring_slot(q->sq_pi, ERDMA_CMDQ_DEPTH) * ERDMA_WQEBB_SIZE;
	u64 hdr, db;

	q->sq_pi += ERDMA_CMDQ_SLOT_WQEBBS;
	hdr = FIELD_PREP(ERDMA_CMD_HDR_PI, q->sq_pi) |
	      FIELD_PREP(ERDMA_CMD_HDR_OPCODE, ctx->opcode) |
	      FIELD_PREP(ERDMA_CMD_HDR_SUBMOD, ctx->submod) |
	      FIELD_PREP(ERDMA_CMD_HDR_CTX, ctx - q->ctxs) |
	      FIELD_PREP(ERDMA_CMD_HDR_WQEBBS, ERDMA_CMDQ_SLOT_WQEBBS - 1);
	memcpy(wqe + sizeof(hdr), req + sizeof(hdr), size - sizeof(hdr));
	memset(wqe + size, 0, CMDQ_SLOT_SIZE - size);
	dma_wmb(); /* body before header */
	WRITE_ONCE(*(__le64 *)wqe, cpu_to_le64(hdr));

	db = q->sq_pi;
	WRITE_ONCE(*q->sq_dbrec, cpu_to_le64(db));
	wmb(); /* slot and record before doorbell */
	erdma_write64(q->mmio, ERDMA_REG_CMDQ_SQ_DB, db);
}

/*
 * The ring came round to a command that was not answered, though a later one
 * must have been: else there would be no credit. If nobody waits for it any more
 * it is lost, else the device does not keep the order (4.4). Of a lost command
 * remains what the device could still write.
 */
static bool cmdq_retire(struct erdma_cmdq *q, struct erdma_cmd_ctx *ctx)
{
	if (ctx->state != ERDMA_CMD_QUARANTINED) {
		cmdq_die(q, ctx, ERDMA_DIAG_DEAD_OVERTAKEN);
		return false;
	}
	cmdq_err(q, "%s at sq index %u was not answered, expected before all later commands\n",
		 ctx_name(ctx), ctx->sq_index);
	erdma_stat_inc(q->stats, ERDMA_STAT_CMDQ_LOST);
	q->in_flight--;
	if (ctx->buf)
		list_add(&ctx->buf->list, &q->lost_bufs);
	ctx->buf = NULL;
	ctx_set_state(q, ctx, ERDMA_CMD_UNUSED);
	up(&q->credits);
	return true;
}

/* Hand a command to the device. Return: its context, ERR_PTR(-ENODEV). */
static struct erdma_cmd_ctx *cmdq_submit(struct erdma_cmdq *q, u8 submod, u8 opcode,
					 const void *req, size_t size)
{
	u32 pos = erdma_ring_slot(q->sq_pi, ERDMA_CMDQ_DEPTH) / ERDMA_CMDQ_SLOT_WQEBBS;
	struct erdma_cmd_ctx *ctx;

	lockdep_assert_held(&q->lock);
	if (q->state != ERDMA_DIAG_CMDQ_POLL && q->state != ERDMA_DIAG_CMDQ_RUN)
		return ERR_PTR(-ENODEV);
	if (q->slot_ctx[pos] != ERDMA_CMDQ_NO_CTX &&
	    !cmdq_retire(q, &q->ctxs[q->slot_ctx[pos]]))
		return ERR_PTR(-ENODEV);
	ctx = cmdq_take_ctx(q, pos);
	if (!ctx)
		return ERR_PTR(-ENODEV);

	ctx->waited = false;
	ctx->sq_index = q->sq_pi;
	ctx->submod = submod;
	ctx->opcode = opcode;
	ctx->syndrome = 0;
	ctx->task = current;
	ctx->submit_ns = ktime_get_ns();
	ctx->answer_ns = 0;
	ctx_set_state(q, ctx, ERDMA_CMD_SUBMITTED);
	q->slot_ctx[pos] = ctx - q->ctxs;
	q->in_flight++;
	q->max_in_flight = max(q->max_in_flight, q->in_flight);
	erdma_stat_inc(q->stats, ERDMA_STAT_CMDQ_SUBMITTED);
	erdma_stat_cmd(q->stats, submod, opcode, ERDMA_CMD_COUNT_SENT);
	cmdq_post(q, ctx, req, size);
	return ctx;
}

/**
 * struct cmdq_wait - waiting for one command
 * @ctx: command
 * @deadline: jiffies when the waiter gives up
 * @check_gone: jiffies of the next look whether the device is there
 * @waiting: the last look found a completion at @waiting_ci
 * @waiting_ci: see @waiting
 */
struct cmdq_wait {
	struct erdma_cmd_ctx *ctx;
	unsigned long deadline;
	unsigned long check_gone;
	bool waiting;
	u32 waiting_ci;
};

static void cmdq_wait_init(struct cmdq_wait *w, struct erdma_cmd_ctx *ctx, u32 timeout_ms)
{
	*w = (struct cmdq_wait){
		.ctx = ctx,
		.deadline = jiffies + msecs_to_jiffies(timeout_ms),
		.check_gone = jiffies + msecs_to_jiffies(CMDQ_GONE_MS),
	};
}

/* Nobody answers from an empty slot: that shows long before the time is over */
static void cmdq_check_gone(struct erdma_cmdq *q, struct cmdq_wait *w)
{
	unsigned long flags;

	if (time_before(jiffies, w->check_gone))
		return;
	w->check_gone = jiffies + msecs_to_jiffies(CMDQ_GONE_MS);
	if (!erdma_device_is_gone(q->mmio))
		return;
	spin_lock_irqsave(&q->lock, flags);
	cmdq_die(q, w->ctx, ERDMA_DIAG_DEAD_UNPLUGGED);
	spin_unlock_irqrestore(&q->lock, flags);
}

static bool cmdq_wait_is_over(const struct erdma_cmdq *q, const struct cmdq_wait *w)
{
	lockdep_assert_held(&q->lock);
	return w->ctx->state != ERDMA_CMD_SUBMITTED || q->state == ERDMA_DIAG_CMDQ_DEAD;
}

/* Poll mode: look at the CQ until the command is answered or the time is over */
static void cmdq_wait_polling(struct erdma_cmdq *q, struct cmdq_wait *w)
{
	u32 pause = CMDQ_POLL_US;
	unsigned long flags;
	bool last, done;

	do {
		last = time_after(jiffies, w->deadline);
		spin_lock_irqsave(&q->lock, flags);
		cmdq_poll(q);
		done = cmdq_wait_is_over(q, w);
		spin_unlock_irqrestore(&q->lock, flags);
		if (done || last)
			return;
		cmdq_check_gone(q, w);
		usleep_range(pause, 2 * pause);
		pause = min(2 * pause, (u32)CMDQ_POLL_MAX_US);
	} while (1);
}

/*
 * Has a completion been there since the look before, without an interrupt that
 * made the handler take it? Then the interrupt, or the event, is lost.
 */
static bool cmdq_lost_irq(struct erdma_cmdq *q, struct cmdq_wait *w, bool last)
{
	bool before = w->waiting && w->waiting_ci == q->cq_ci;
	u32 hdr;

	w->waiting = cmdq_peek(q, &hdr);
	w->waiting_ci = q->cq_ci;
	if (!w->waiting || !(before || last))
		return false;
	cmdq_poll(q);
	if (q->state == ERDMA_DIAG_CMDQ_RUN)
		cmdq_arm(q);
	return true;
}

/* Return: true if there is nothing to wait for any more */
static bool cmdq_look(struct erdma_cmdq *q, struct cmdq_wait *w, bool last)
{
	bool done, lost = false;
	unsigned long flags;

	spin_lock_irqsave(&q->lock, flags);
	if (!cmdq_wait_is_over(q, w))
		lost = cmdq_lost_irq(q, w, last);
	done = last || cmdq_wait_is_over(q, w);
	spin_unlock_irqrestore(&q->lock, flags);
	if (!lost)
		return done;

	/* An event may have been written: the doorbell makes the device repeat it */
	erdma_eq_arm(&q->eq);
	erdma_stat_inc(q->stats, ERDMA_STAT_CMDQ_LOST_IRQS);
	cmdq_err(q, "commands were answered, but no interrupt came\n");
	return done;
}

/* A lost interrupt costs two looks, not the whole time (4.6) */
static void cmdq_wait_irq(struct erdma_cmdq *q, struct cmdq_wait *w)
{
	unsigned long look = msecs_to_jiffies(ERDMA_LOOK_MS);
	unsigned long now, left;

	do {
		now = jiffies;
		left = time_before(now, w->deadline) ? w->deadline - now : 0;
		if (wait_for_completion_timeout(&w->ctx->done, min(left, look)))
			return;
		cmdq_check_gone(q, w);
	} while (!cmdq_look(q, w, left <= look));
}

/* The waiter gives up: see the top of this file */
static int ctx_abandon(struct erdma_cmdq *q, struct erdma_cmd_ctx *ctx, u32 timeout_ms,
		       struct erdma_resp_buf **buf)
{
	ctx_set_state(q, ctx, ERDMA_CMD_QUARANTINED);
	if (buf)
		swap(ctx->buf, *buf);
	if (q->state == ERDMA_DIAG_CMDQ_DEAD)
		return -ENODEV;

	erdma_stat_inc(q->stats, ERDMA_STAT_CMDQ_TIMEOUTS);
	erdma_stat_cmd(q->stats, ctx->submod, ctx->opcode, ERDMA_CMD_COUNT_TIMEOUTS);
	/* A query that was in a hurry says nothing about the device's health */
	if (timeout_ms >= q->timeout_ms)
		q->stuck++;
	if (erdma_device_is_gone(q->mmio))
		cmdq_die(q, ctx, ERDMA_DIAG_DEAD_UNPLUGGED);
	else if (q->stuck >= ERDMA_CMDQ_MAX_STUCK)
		cmdq_die(q, ctx, ERDMA_DIAG_DEAD_NO_ANSWER);
	else if (q->quarantined == ERDMA_CMDQ_SLOTS)
		cmdq_die(q, ctx, ERDMA_DIAG_DEAD_NO_CONTEXT);
	return -ETIMEDOUT;
}

/* Take the result of an answered command and give its context back */
static int ctx_collect(struct erdma_cmdq *q, struct erdma_cmd_ctx *ctx,
		       struct erdma_cmd_result *res)
{
	res->outcome = ERDMA_CMD_ANSWERED;
	res->syndrome = ctx->syndrome;
	res->submit_ns = ctx->submit_ns;
	res->answer_ns = ctx->answer_ns;
	ctx_set_state(q, ctx, ERDMA_CMD_UNUSED);
	if (ctx->syndrome)
		return -EIO;
	memcpy(res->resp, ctx->resp, sizeof(res->resp));
	return 0;
}

/* The waiter has waited; it may give up */
static int cmdq_finish(struct erdma_cmdq *q, struct erdma_cmd_ctx *ctx, u32 timeout_ms,
		       struct erdma_cmd_result *res, struct erdma_resp_buf **buf)
{
	unsigned long flags;
	bool done;
	int err;

	spin_lock_irqsave(&q->lock, flags);
	done = ctx->state == ERDMA_CMD_DONE;
	if (done) {
		err = ctx_collect(q, ctx, res);
	} else {
		res->outcome = ERDMA_CMD_UNANSWERED;
		res->submit_ns = ctx->submit_ns;
		err = ctx_abandon(q, ctx, timeout_ms, buf);
	}
	spin_unlock_irqrestore(&q->lock, flags);
	if (done)
		up(&q->credits);
	return err;
}

/*
 * Was a command answered while its doorbell was rung? Else somebody is to wait for it:
 * only then an event is of use, and the CQ is armed.
 */
static bool cmdq_answered_at_once(struct erdma_cmdq *q, struct erdma_cmd_ctx *ctx)
{
	if (q->state != ERDMA_DIAG_CMDQ_RUN)
		return false;
	cmdq_poll(q);
	if (ctx->state == ERDMA_CMD_DONE)
		return true;
	reinit_completion(&ctx->done);
	ctx->waited = true;
	if (!q->armed)
		cmdq_arm(q);
	return false;
}

static int cmdq_get_credit(struct erdma_cmdq *q, u32 timeout_ms)
{
	if (READ_ONCE(q->state) == ERDMA_DIAG_CMDQ_DEAD)
		return -ENODEV;
	if (!down_trylock(&q->credits) ||
	    !down_timeout(&q->credits, msecs_to_jiffies(timeout_ms)))
		return 0;
	return -ETIMEDOUT;
}

/**
 * erdma_cmdq_exec_buf - run a command whose response the device writes by DMA
 * @q: command queue
 * @submod: enum erdma_submod
 * @opcode: opcode within @submod
 * @req: request; its header is filled in on the way
 * @size: bytes of @req with the header, 8..128
 * @res: zeroed, then filled with the outcome and the answer; may be NULL
 * @timeout_ms: how long to wait for a context and for the answer; 0 = the queue's
 *	default. A shorter one never counts as evidence that the device is dead
 * @buf: buffer named in the request, or NULL
 *
 * If the command is not answered the device may still write @buf: the queue
 * then keeps it, clears *@buf, and frees it when that is safe.
 *
 * Context: process, sleeps, takes @q->credits then @q->lock.
 * Return: 0; -EIO: the device refused, see @res->syndrome; -ETIMEDOUT: no answer
 * or no free context; -ENODEV: the queue is not running (any more); -EINVAL: @size.
 * Whether the device has the command is in @res->outcome, not in the error.
 */
int erdma_cmdq_exec_buf(struct erdma_cmdq *q, u8 submod, u8 opcode, const void *req,
			size_t size, struct erdma_cmd_result *res, u32 timeout_ms,
			struct erdma_resp_buf **buf)
{
	struct erdma_cmd_result unwanted;
	struct erdma_cmd_ctx *ctx;
	struct cmdq_wait wait;
	unsigned long flags;
	bool polling, done;
	int err;

	if (!res)
		res = &unwanted;
	*res = (struct erdma_cmd_result){};
	if (WARN_ON_ONCE(size < sizeof(__le64) || size > CMDQ_SLOT_SIZE))
		return -EINVAL;
	if (!timeout_ms)
		timeout_ms = q->timeout_ms;

	err = cmdq_get_credit(q, timeout_ms);
	if (err)
		return err;
	spin_lock_irqsave(&q->lock, flags);
	polling = q->state == ERDMA_DIAG_CMDQ_POLL;
	ctx = cmdq_submit(q, submod, opcode, req, size);
	err = PTR_ERR_OR_ZERO(ctx);
	done = !err && cmdq_answered_at_once(q, ctx);
	if (done)
		err = ctx_collect(q, ctx, res);
	spin_unlock_irqrestore(&q->lock, flags);
	if (done || err) {
		up(&q->credits);
		return err;
	}

	cmdq_wait_init(&wait, ctx, timeout_ms);
	if (polling)
		cmdq_wait_polling(q, &wait);
	else
		cmdq_wait_irq(q, &wait);
	return cmdq_finish(q, ctx, timeout_ms, res, buf);
}
