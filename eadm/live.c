// SPDX-License-Identifier: GPL-2.0-or-later
/* Commands that go on: intervals, signals, devices that are replaced. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live.h"
#include "signals.h"

#define INTERVAL_MS_MIN	100
#define INTERVAL_MS_MAX	86400000
#define NODES_MAX	64	/* more are read at each interval */

static volatile sig_atomic_t interrupted, resized;

/* A signal ends a wait by a byte in this pipe: any thread may be the one that gets it */
static int wake[2] = { -1, -1 };

static void on_signal(int sig)
{
	int saved = errno;

	if (sig == SIGWINCH)
		resized = 1;
	else
		interrupted = 1;
	if (write(wake[1], "", 1) < 0)
		errno = saved;
	errno = saved;
}

/**
 * live_options - --interval and --count
 * @c: run
 * @a: arguments
 * @ms: the interval, if one is given
 * @count: the number, if one is given
 *
 * Return: 0, or -EINVAL after reporting a bad value.
 */
int live_options(struct ctx *c, const struct args *a, uint64_t *ms, uint32_t *count)
{
	const char *every = a->opt[OPT_INTERVAL], *n = a->opt[OPT_COUNT];

	if (every && (!parse_duration(every, ms) || *ms < INTERVAL_MS_MIN || *ms > INTERVAL_MS_MAX))
		return ctx_usage(c, "from 100ms to 24h: -i 1, -i 500ms, -i 5m.",
				 "bad interval '%s'", every);
	if (n && (!parse_u32(n, count) || !*count))
		return ctx_usage(c, NULL, "bad number '%s' of option --count", n);
	return 0;
}

/**
 * live_begin - from now on
 * @l: filled
 * @c: run
 * @ms: length of an interval
 * @count: number of intervals, 0: no limit
 *
 * SIGINT, SIGTERM, SIGHUP and SIGWINCH end a wait from now on, those that are not ignored.
 *
 * Return: 0, or a negative error number after reporting it.
 */
int live_begin(struct live *l, struct ctx *c, uint64_t ms, uint32_t count)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGWINCH };
	size_t i;

	*l = (struct live){ .c = c, .interval_ns = ms * 1000000, .count = count };
	if (pipe2(wake, O_CLOEXEC | O_NONBLOCK))
		return ctx_problem(c, errno, NULL, NULL, "cannot make a pipe");
	for (i = 0; i < COUNT_OF(signals); i++)
		signal_catch(signals[i], on_signal, SA_RESTART, NULL);
	l->base = l->mark = pool_mark(&c->pool);
	l->next_ns = source_mono_ns(&c->src);
	return 0;
}

/* ---- devices ------------------------------------------------------------------ */

static int add_dev(struct ctx *c, struct dev *dev, void *arg)
{
	struct live *l = arg;
	struct live_dev **end = &l->devs, *d = calloc(1, sizeof(*d));

	if (!d)
		return ctx_problem(c, ENOMEM, NULL, NULL, "out of memory");
	snprintf(d->name, sizeof(d->name), "%s", dev_title(dev));
	d->dev = dev;
	while (*end)
		end = &(*end)->next;
	*end = d;
	return 0;
}

/**
 * live_find - find the devices that are meant
 * @l: after live_begin()
 * @flags: DEVS_*
 *
 * Return: 0, or a negative error number after reporting it.
 */
int live_find(struct live *l, unsigned int flags)
{
	int ret = ctx_each_dev(l->c, flags, add_dev, l);

	l->mark = pool_mark(&l->c->pool);
	return ret;
}

/**
 * live_gone - a device does not answer because it is lost or unplugged
 * @l: run
 * @d: device, not gone so far
 */
void live_gone(struct live *l, struct live_dev *d)
{
	d->dev = NULL;
	ctx_note(l->c, "GONE", d->name, "the device is gone; this goes on when there is a fresh "
		 "one of this name");
}

static bool is_usable(struct ctx *c, struct dev *dev, unsigned int flags)
{
	if (dev->state == DEV_NO_DRIVER || dev->state == DEV_NO_RDMA)
		return false;
	if (dev->state == DEV_OTHER)
		return flags & DEVS_OTHERS;
	if (!(flags & DEVS_NODE))
		return true;
	return dev->state == DEV_OK && !source_open_dev(&c->src, dev) && !ctx_open_dev(c, dev);
}

static struct dev *find_usable(struct live *l, struct dev *dev, const char *name,
			       unsigned int flags)
{
	for (; dev; dev = dev->next)
		if (!strcmp(dev_title(dev), name) && is_usable(l->c, dev, flags))
			return dev;
	return NULL;
}

static void find_again(struct live *l, struct live_dev *d, unsigned int flags)
{
	bool was_gone = !d->dev;
	struct dev *dev;

	dev = find_usable(l, l->c->src.devs, d->name, flags);
	if (!dev && flags & DEVS_OTHERS)
		dev = find_usable(l, l->c->src.others, d->name, flags);
	d->dev = dev;
	if (was_gone && dev)
		ctx_note(l->c, "BACK", d->name, "there is a fresh device");
	else if (!was_gone && !dev)
		live_gone(l, d);
}

static bool any_gone(const struct live *l)
{
	const struct live_dev *d;

	for (d = l->devs; d; d = d->next)
		if (!d->dev)
			return true;
	return false;
}

/**
 * live_next - begin an interval
 * @l: run; what belongs to the interval before is freed
 * @flags: of live_find()
 *
 * While a device is gone, all devices are looked for again: the index of the fresh one and its
 * node are others.
 */
void live_next(struct live *l, unsigned int flags)
{
	struct ctx *c = l->c;
	struct live_dev *d;

	c->data = (struct list){ 0 };
	/* What the first reading said is shown with the first interval */
	if (!l->begun && !any_gone(l)) {
		l->mark = pool_mark(&c->pool);
		l->begun = true;
		return;
	}
	l->begun = true;
	c->problems = c->last_problem = NULL;
	if (!any_gone(l)) {
		pool_release(&c->pool, l->mark);
		return;
	}
	ctx_forget_devices(c);
	pool_release(&c->pool, l->base);
	if (c->src.ops->devices(&c->src))
		return;
	c->looked = true;
	for (d = l->devs; d; d = d->next)
		find_again(l, d, flags);
	l->mark = pool_mark(&c->pool);
}

/* ---- time --------------------------------------------------------------------- */

static void drain(void)
{
	char bytes[64];

	while (read(wake[0], bytes, sizeof(bytes)) > 0)
		;
}

/* Files to wait for; those of a scenario are none */
static nfds_t add_nodes(const struct live *l, struct pollfd *fds)
{
	const struct live_dev *d;
	nfds_t n = 0;

	if (!l->nodes || l->c->src.ops->pass)
		return 0;
	for (d = l->devs; d && n < NODES_MAX; d = d->next)
		if (d->dev)
			fds[n++] = (struct pollfd){ .fd = d->dev->fd, .events = POLLIN };
	return n;
}

/* Until something happens, at most so long. LIVE_TICK: nothing did */
static enum live_event wait_ms(const struct live *l, int ms)
{
	struct pollfd fds[3 + NODES_MAX] = {
		{ .fd = wake[0], .events = POLLIN },
		{ .fd = STDOUT_FILENO },
		{ .fd = l->keys ? STDIN_FILENO : -1, .events = POLLIN },
	};
	nfds_t n = 3 + add_nodes(l, fds + 3);

	poll(fds, n, ms);
	if (fds[0].revents)
		drain();
	if (interrupted)
		return LIVE_INTERRUPTED;
	if (fds[1].revents & POLLERR)
		return LIVE_CLOSED;
	if (resized) {
		resized = 0;
		return LIVE_RESIZED;
	}
	if (fds[2].revents)
		return LIVE_KEY;
	while (n > 3)
		if (fds[--n].revents)
			return LIVE_NEWS;
	return LIVE_TICK;
}

/* The source is a scenario: its time passes at once */
static enum live_event pass(struct live *l, uint64_t ns)
{
	enum live_event e = wait_ms(l, 0);

	if (e != LIVE_TICK)
		return e;
	l->c->src.ops->pass(&l->c->src, ns);
	return wait_ms(l, 0);
}

/**
 * live_wait - wait for the next interval
 * @l: run
 *
 * An interval that was missed because the one before took long is left out.
 *
 * Return: what happened.
 */
enum live_event live_wait(struct live *l)
{
	struct source *src = &l->c->src;
	uint64_t now = source_mono_ns(src), until, left;
	enum live_event e = LIVE_TICK;

	if (l->count && l->done == l->count)
		return LIVE_DONE;
	if (l->next_ns <= now)
		l->next_ns += ((now - l->next_ns) / l->interval_ns + 1) * l->interval_ns;
	until = l->end_ns && l->end_ns < l->next_ns ? l->end_ns : l->next_ns;
	while (e == LIVE_TICK && (now = source_mono_ns(src)) < until) {
		left = until - now;
		e = src->ops->pass ? pass(l, left) : wait_ms(l, (int)((left + 999999) / 1000000));
	}
	if (e == LIVE_TICK && until != l->next_ns)
		return LIVE_DONE;
	if (e == LIVE_TICK)
		l->done++;
	return e;
}

/**
 * live_ended - the loop is over
 * @l: run
 * @why: the event that ended it
 *
 * Return: 0, or a negative error number after reporting it.
 */
int live_ended(struct live *l, enum live_event why)
{
	if (why == LIVE_INTERRUPTED)
		return ctx_problem(l->c, EINTR, NULL, NULL, "interrupted");
	l->c->closed = why == LIVE_CLOSED;
	return 0;
}

/**
 * live_emit - write what an interval has shown, with its notes
 * @l: run
 *
 * Return: 0; -EPIPE, or another error that was reported: nothing can be written any more.
 */
int live_emit(struct live *l)
{
	struct ctx *c = l->c;

	if (c->data.n || (c->problems && c->opt.format != FMT_TEXT))
		emit_document(c);
	if (emit_flush(c)) {
		c->closed = true;
		return -EPIPE;
	}
	if (c->opt.format == FMT_TEXT)
		emit_problems(c, stderr);
	c->problems = c->last_problem = NULL;
	return 0;
}

/**
 * live_end - forget the devices
 * @l: run
 * @drop: frees what the command has of a device, or NULL
 */
void live_end(struct live *l, void (*drop)(void *priv))
{
	struct live_dev *d;

	while ((d = l->devs)) {
		l->devs = d->next;
		if (drop)
			drop(d->priv);
		free(d);
	}
}
