// SPDX-License-Identifier: GPL-2.0-or-later
/* What the driver recorded, as one timeline. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "decode.h"
#include "schema.h"

#define LOOK_MS	1000	/* at least so often a device is asked again */

/**
 * struct log_pos - how far a device was read
 * @next: next position
 * @dev: device
 * @seq: next number of each kind
 */
struct log_pos {
	struct log_pos *next;
	const struct dev *dev;
	uint64_t seq[ERDMA_DIAG_LOG_COUNT];
};

/**
 * struct log_run - one run
 * @c: context
 * @kinds: bit n: kind n is wanted
 * @last: newest entries wanted, 0 = all
 * @qps: only what is about these queue pairs; empty: everything
 * @only_new: not what there is already
 * @again: not the first reading: what is lost is worth a line
 * @pos: positions
 * @dev: device that is being read
 * @wall_ns: its wall clock minus CLOCK_MONOTONIC
 */
struct log_run {
	struct ctx *c;
	uint32_t kinds;
	uint32_t last;
	struct id_set qps;
	bool only_new;
	bool again;
	struct log_pos *pos;
	struct dev *dev;
	uint64_t wall_ns;
};

static volatile sig_atomic_t log_interrupted;

static void log_on_signal(int sig)
{
	(void)sig;
	log_interrupted = 1;
}

/* ---- arguments ---------------------------------------------------------- */

/* Tables and copies of what is in another kind are no part of a timeline */
static uint32_t timeline_kinds(void)
{
	uint32_t all = (1U << ERDMA_DIAG_LOG_COUNT) - 2;

	return all & ~(1U << ERDMA_DIAG_LOG_CMD_FIRST | 1U << ERDMA_DIAG_LOG_CMD_TIME);
}

static int parse_kinds(struct ctx *c, const char *spec, uint32_t *kinds)
{
	char *copy = pool_strdup(&c->pool, spec), *word, *save;
	uint32_t kind;

	*kinds = 0;
	for (word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		for (kind = 1; kind < ERDMA_DIAG_LOG_COUNT; kind++)
			if (!strcmp(log_kind_name(kind), word))
				break;
		if (kind == ERDMA_DIAG_LOG_COUNT)
			return ctx_usage(c, "kinds: cmd, cmd-first, cmd-time, event, cm, fail, key, "
					 "reset, link, debug", "no kind '%s'", word);
		*kinds |= 1U << kind;
	}
	return *kinds ? 0 : ctx_usage(c, "--kind cm,fail", "no kind named");
}

/* ---- one reading -------------------------------------------------------- */

static struct log_pos *pos_of(struct log_run *run, const struct dev *dev)
{
	struct log_pos *pos;

	for (pos = run->pos; pos; pos = pos->next)
		if (pos->dev == dev)
			return pos;
	pos = pool_alloc(&run->c->pool, sizeof(*pos));
	pos->dev = dev;
	pos->next = run->pos;
	run->pos = pos;
	return pos;
}

static struct obj *log_row(struct log_run *run)
{
	struct obj *o = obj_new(&run->c->pool, &schema_log);

	obj_str(o, LG_DEV, dev_title(run->dev));
	if (run->dev->index >= 0)
		obj_u64(o, LG_INDEX, (uint64_t)run->dev->index);
	return o;
}

static bool log_wants(const struct log_run *run, const struct obj *o)
{
	const char *object = obj_get_str(o, LG_OBJECT, "");
	uint32_t qpn;

	return !run->qps.n || (!strncmp(object, "qp/", 3) && parse_u32(object + 3, &qpn) &&
			       ids_have(&run->qps, qpn));
}

static void log_add(void *arg, uint32_t kind, const struct rec *rec)
{
	struct log_run *run = arg;
	struct obj *o = log_row(run);

	decode_log(o, kind, rec, run->wall_ns);
	if (log_wants(run, o))
		ctx_add(run->c, o);
}

/* Without a time: it comes first */
static void log_add_lost(struct log_run *run, uint32_t kind, uint64_t lost)
{
	struct obj *o = log_row(run);

	obj_str(o, LG_KIND, log_kind_name(kind));
	obj_str(o, LG_WHAT, "lost");
	obj_strf(o, LG_TEXT, "%llu entries were replaced before they were read",
		 (unsigned long long)lost);
	ctx_add(run->c, o);
}

static bool log_is_there(const struct dev *dev, uint32_t kind)
{
	return dev->info.abi_flags & ERDMA_DIAG_ABI_LOG(kind);
}

static int log_dev(struct ctx *c, struct dev *dev, void *arg)
{
	struct log_run *run = arg;
	struct log_pos *pos = pos_of(run, dev);
	uint64_t lost;
	uint32_t kind;
	int ret = 0;

	run->dev = dev;
	if (!run->again && dev->info.abi_flags & ERDMA_DIAG_ABI_LOG_OFF)
		ctx_note(c, "RECORDERS_OFF", dev_title(dev),
			 "nothing is recorded: /sys/module/erdma/parameters/recorders is N");
	run->wall_ns = dev->info.time_real_ns - dev->info.time_mono_ns;
	for (kind = 1; !ret && kind < ERDMA_DIAG_LOG_COUNT; kind++) {
		/* A table does not grow at its end */
		if (!(run->kinds >> kind & 1) || (run->again && kind == ERDMA_DIAG_LOG_CMD_TIME))
			continue;
		lost = 0;
		ret = !log_is_there(dev, kind) ? -EOPNOTSUPP :
		      source_log(&c->src, dev, kind, &pos->seq[kind], &lost, log_add, run);
		if (!ret && lost && run->again)
			log_add_lost(run, kind, lost);
	}
	if (ret == -EOPNOTSUPP)
		return ctx_problem(c, EOPNOTSUPP, dev_title(dev), "load the driver that comes with eadm.",
				   "the driver does not record '%s'", log_kind_name(kind - 1));
	return ret ? ctx_call_failed(c, dev, ret, TARGET_DEV, 0) : 0;
}

/* All devices, by time; the newest only */
static int log_read(struct log_run *run)
{
	struct ctx *c = run->c;
	int ret = ctx_each_dev(c, DEVS_NODE | DEVS_MANY, log_dev, run);

	list_sort(&c->data, LG_TIME_NS, false);
	while (run->last && c->data.n > run->last) {
		c->data.first = c->data.first->next;
		c->data.n--;
	}
	return ret;
}

/* ---- --follow ----------------------------------------------------------- */

static void log_wait(const struct log_run *run)
{
	struct pollfd fds[64];
	const struct log_pos *pos;
	nfds_t n = 0;

	for (pos = run->pos; pos && n < COUNT_OF(fds); pos = pos->next)
		fds[n++] = (struct pollfd){ .fd = pos->dev->fd, .events = POLLIN };
	poll(fds, n, LOOK_MS);
}

static int log_follow(struct log_run *run)
{
	struct sigaction act = { .sa_handler = log_on_signal };
	struct ctx *c = run->c;
	struct pool_block *mark;
	int ret;

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	ret = log_read(run);
	if (run->only_new)
		c->data = (struct list){ 0 };
	run->again = true;
	run->last = 0;
	mark = pool_mark(&c->pool);
	while (!ret) {
		if (c->data.n) {
			emit_document(c);
			c->opt.no_header = true;
			c->data = (struct list){ 0 };
			if (emit_flush(c))
				return ctx_problem(c, EIO, NULL, NULL, "cannot write");
		}
		/* It may run for days, and see much that is not wanted */
		pool_release(&c->pool, mark);
		log_wait(run);
		if (log_interrupted)
			return ctx_problem(c, EINTR, NULL, NULL, "interrupted");
		ret = log_read(run);
	}
	return ret;
}

/**
 * cmd_log - what the driver recorded
 * @c: run
 * @a: arguments
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_log(struct ctx *c, const struct args *a)
{
	struct log_run run = { .c = c, .kinds = timeline_kinds() };

	if (a->opt[OPT_KIND] && parse_kinds(c, a->opt[OPT_KIND], &run.kinds))
		return -EINVAL;
	if (option_numbers(c, "QP", a->opt[OPT_QP], &run.qps))
		return -EINVAL;
	if (a->opt[OPT_COUNT] && (!parse_u32(a->opt[OPT_COUNT], &run.last) ||
				  (!run.last && !a->opt[OPT_FOLLOW])))
		return ctx_usage(c, "-n 20", "bad number '%s'", a->opt[OPT_COUNT]);
	if (a->opt[OPT_FOLLOW] && c->opt.from)
		return ctx_usage(c, NULL, "--follow needs a kernel: a file does not grow");
	run.only_new = a->opt[OPT_COUNT] && !run.last;
	return a->opt[OPT_FOLLOW] ? log_follow(&run) : log_read(&run);
}
