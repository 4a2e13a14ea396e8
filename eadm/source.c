// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls with a time budget, and the checks every reply has to pass. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "erdma/erdma_hw.h"
#include "erdma/erdma_ring.h"

#include "clock.h"
#include "ring.h"
#include "source.h"

#define LIST_BUF	(64U * 1024)
#define CONTEXT_BUF	(4U * 1024)
#define CONTEXT_BUF_MAX	(1024U * 1024)
#define SNAPSHOT_BUF	(64U * 1024)
#define SNAPSHOT_BUF_MAX (64U << 20)
#define RING_CHUNK	4096U	/* entries of one call */

/* ---- calls -------------------------------------------------------------- */

#define SOURCE_RESET	0	/* no number of an ioctl */

/*
 * A call that hangs in the kernel can only be left by ending the process, so
 * it is made by a thread that may be left behind. Its argument is a copy: the
 * kernel may write to it after the caller has given up.
 */
struct worker {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct source *src;
	struct dev *dev;
	unsigned int cmd;	/* SOURCE_RESET: no call, but a reset */
	void *arg;
	int ret;
	enum { IDLE, CALLING, DONE, QUIT } state;
	bool lost;
	pthread_t thread;
};

static int worker_do(const struct worker *w)
{
	return w->cmd == SOURCE_RESET ? w->src->ops->reset(w->src, w->dev) :
	       w->src->ops->call(w->src, w->dev, w->cmd, w->arg);
}

static void *worker_main(void *p)
{
	struct worker *w = p;
	int ret;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		while (w->state != CALLING && w->state != QUIT)
			pthread_cond_wait(&w->wake, &w->lock);
		pthread_mutex_unlock(&w->lock);
		if (w->state == QUIT)
			return NULL;
		ret = worker_do(w);
		pthread_mutex_lock(&w->lock);
		w->ret = ret;
		w->state = DONE;
		pthread_cond_broadcast(&w->wake);
	}
}

static struct worker *worker_new(struct source *src)
{
	struct worker *w = calloc(1, sizeof(*w));
	pthread_condattr_t attr;

	if (!w)
		return NULL;
	w->src = src;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->wake, &attr);
	pthread_condattr_destroy(&attr);
	if (!pthread_create(&w->thread, NULL, worker_main, w))
		return w;
	free(w);
	return NULL;
}

static int worker_call(struct worker *w, unsigned int timeout_ms)
{
	struct timespec until;
	int ret = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_mutex_lock(&w->lock);
	w->state = CALLING;
	pthread_cond_broadcast(&w->wake);
	while (w->state != DONE && !ret)
		ret = pthread_cond_timedwait(&w->wake, &w->lock, &until);
	if (w->state == DONE) {
		ret = w->ret;
		w->state = IDLE;
	} else {
		ret = -ETIMEDOUT;
		w->lost = true;
	}
	pthread_mutex_unlock(&w->lock);
	return ret;
}

/* The thread that makes calls; NULL: there is none, *ret says why */
static struct worker *worker_of(struct source *src, struct dev *dev, unsigned int cmd, int *ret)
{
	struct worker *w = src->worker;

	if (!w)
		w = src->worker = worker_new(src);
	*ret = !w ? -EAGAIN : w->lost ? -ETIMEDOUT : 0;
	if (*ret)
		return NULL;
	w->dev = dev;
	w->cmd = cmd;
	return w;
}

/**
 * source_reset - reset the PCI function of a device, within the time budget
 * @src: source
 * @dev: device
 *
 * Return: 0 or -errno; -ETIMEDOUT: it goes on.
 */
int source_reset(struct source *src, struct dev *dev)
{
	struct worker *w;
	int ret;

	if (!src->ops->reset)
		return -EROFS;
	w = worker_of(src, dev, SOURCE_RESET, &ret);
	return w ? worker_call(w, src->timeout_ms) : ret;
}

/**
 * source_call - one call of a node, within the time budget
 * @src: source
 * @dev: open device
 * @cmd: ERDMA_DIAG_*
 * @arg: structure, buffers it points to must live in the pool
 * @size: its bytes
 *
 * After a call that did not come back the source is of no use any more: every
 * further call fails with -ETIMEDOUT at once.
 *
 * Return: 0 or -errno.
 */
int source_call(struct source *src, struct dev *dev, unsigned int cmd, void *arg, size_t size)
{
	struct worker *w;
	int ret;

	if (src->ops->fixed)
		return src->ops->call(src, dev, cmd, arg);
	w = worker_of(src, dev, cmd, &ret);
	if (!w)
		return ret;
	w->arg = pool_alloc(src->pool, size);
	memcpy(w->arg, arg, size);
	ret = worker_call(w, src->timeout_ms);
	if (ret != -ETIMEDOUT || !w->lost)
		memcpy(arg, w->arg, size);
	return ret;
}

/**
 * source_init - start to use the backend that is linked in
 * @src: source
 * @pool: memory
 */
void source_init(struct source *src, struct pool *pool)
{
	*src = (struct source){ .ops = &source_backend, .pool = pool, .timeout_ms = 5000 };
}

/**
 * source_close - close the nodes, end the thread
 * @src: source
 *
 * Return: false if a call is still on its way: the pool must stay.
 */
bool source_close(struct source *src)
{
	struct worker *w = src->worker;
	struct dev *d;

	if (w && w->lost)
		return false;
	if (w) {
		pthread_mutex_lock(&w->lock);
		w->state = QUIT;
		pthread_cond_broadcast(&w->wake);
		pthread_mutex_unlock(&w->lock);
		pthread_join(w->thread, NULL);
		free(w);
		src->worker = NULL;
	}
	for (d = src->devs; d; d = d->next) {
		if (d->fd >= 0)
			close(d->fd);
		d->fd = -1;
	}
	if (src->ops->close)
		src->ops->close(src);
	return true;
}

/**
 * source_is_lost - did a call not come back?
 * @src: source
 *
 * Return: true: it may still write into the pool, and no call works any more.
 */
bool source_is_lost(const struct source *src)
{
	return src->worker && src->worker->lost;
}

/**
 * source_mono_ns - time for intervals
 * @src: source
 *
 * Return: CLOCK_MONOTONIC in nanoseconds.
 */
uint64_t source_mono_ns(const struct source *src)
{
	return src->ops->mono_ns ? src->ops->mono_ns(src) : clock_ns(CLOCK_MONOTONIC);
}

/**
 * source_pass - let time pass
 * @src: source
 * @ns: nanoseconds
 */
void source_pass(struct source *src, uint64_t ns)
{
	struct timespec t = { .tv_sec = (time_t)(ns / 1000000000),
			      .tv_nsec = (long)(ns % 1000000000) };

	if (src->ops->pass)
		src->ops->pass(src, ns);
	else
		while (nanosleep(&t, &t) && errno == EINTR)
			;
}

static int broken(struct source *src, const char *why)
{
	src->why = why;
	return -EPROTO;
}

/**
 * source_open_dev - open a node and ask who it is
 * @src: source
 * @dev: device with a node
 *
 * Return: 0 or -errno.
 */
int source_open_dev(struct source *src, struct dev *dev)
{
	struct erdma_diag_info info = { .size = sizeof(info) };
	int ret = 0;

	if (dev->info.size)
		return 0;
	if (dev->fd < 0)
		ret = src->ops->open(src, dev);
	if (!ret)
		ret = source_call(src, dev, ERDMA_DIAG_INFO, &info, sizeof(info));
	if (ret)
		return ret;
	if (info.size < offsetof(struct erdma_diag_info, abi_debug_cats))
		return broken(src, "the node's identity is too short");
	dev->info = info;
	if (!dev->netdev[0] && info.netdev[0])
		memcpy(dev->netdev, info.netdev, sizeof(info.netdev) - 1);
	return 0;
}

/* ---- records ------------------------------------------------------------ */

/**
 * rec_next - next record of a reply
 * @buf: reply
 * @len: its bytes
 * @pos: where to look; moved behind the record
 * @rec: result
 * @why: what is wrong, after -EPROTO
 *
 * Return: 1 for a record, 0 at the end, -EPROTO if the rest makes no sense.
 */
int rec_next(const uint8_t *buf, uint32_t len, uint32_t *pos, struct rec *rec, const char **why)
{
	struct erdma_diag_rec hdr;
	uint32_t left = len - *pos;

	if (!left)
		return 0;
	if (left < sizeof(hdr)) {
		*why = "the reply ends inside the header of a record";
		return -EPROTO;
	}
	memcpy(&hdr, buf + *pos, sizeof(hdr));
	if (hdr.len < sizeof(hdr) || hdr.len % 8) {
		*why = "a record has an impossible length";
		return -EPROTO;
	}
	if (hdr.len > left) {
		*why = "the reply ends inside a record";
		return -EPROTO;
	}
	*rec = (struct rec){ hdr.type, hdr.flags, buf + *pos + sizeof(hdr),
			     hdr.len - (uint32_t)sizeof(hdr) };
	*pos += hdr.len;
	return 1;
}

/**
 * rec_find - first record of a type
 * @buf: reply
 * @len: its bytes
 * @type: ERDMA_DIAG_REC_*
 * @rec: result
 *
 * Return: @rec, or NULL without such a record.
 */
const struct rec *rec_find(const uint8_t *buf, uint32_t len, uint16_t type, struct rec *rec)
{
	uint32_t pos = 0;
	const char *why;

	while (rec_next(buf, len, &pos, rec, &why) == 1)
		if (rec->type == type)
			return rec;
	return NULL;
}

/**
 * rec_copy - structure of a record; what it does not have is zero
 * @rec: record
 * @out: structure
 * @size: its bytes
 */
void rec_copy(const struct rec *rec, void *out, size_t size)
{
	memset(out, 0, size);
	memcpy(out, rec->body, rec->len < size ? rec->len : size);
}

/* ---- LIST --------------------------------------------------------------- */

/**
 * rec_id - number of the object that a record of the driver is about
 * @rec: record
 *
 * All objects start with their number; the command queue has none.
 *
 * Return: number, 0 for the command queue.
 */
uint32_t rec_id(const struct rec *rec)
{
	uint32_t id = 0;

	if (rec->type != ERDMA_DIAG_REC_CMDQ)
		rec_copy(rec, &id, sizeof(id));
	return id;
}

struct list_walk {
	uint32_t first;
	uint32_t last;
	void (*fn)(void *arg, uint32_t id, const struct rec *rec);
	void *arg;
};

static int list_reply(struct source *src, const uint8_t *buf, const struct erdma_diag_list *l,
		      const struct list_walk *w)
{
	uint32_t pos = 0, count = 0, id;
	struct rec rec;
	int ret;

	if (l->out_len > l->buf_len)
		return broken(src, "more bytes than there was room for");
	while ((ret = rec_next(buf, l->out_len, &pos, &rec, &src->why)) == 1) {
		id = rec_id(&rec);
		count++;
		if (id >= w->first && id <= w->last)
			w->fn(w->arg, id, &rec);
	}
	if (!ret && count != l->out_count)
		return broken(src, "the number of records is not the one promised");
	return ret;
}

/**
 * source_list - records of all objects in a range
 * @src: source
 * @dev: open device
 * @obj: ERDMA_DIAG_OBJ_*
 * @first: lowest number
 * @last: highest number
 * @fn: called for each record; records before a broken one are handed over
 * @arg: its first argument
 *
 * Return: 0 or -errno.
 */
int source_list(struct source *src, struct dev *dev, uint32_t obj, uint32_t first, uint32_t last,
		void (*fn)(void *arg, uint32_t id, const struct rec *rec), void *arg)
{
	struct list_walk w = { first, last, fn, arg };
	uint8_t *buf = pool_alloc(src->pool, LIST_BUF);
	struct erdma_diag_list l;
	uint32_t start = first;
	int ret;

	for (;;) {
		l = (struct erdma_diag_list){ .size = sizeof(l), .obj = obj, .start_id = start,
					      .buf = (uintptr_t)buf, .buf_len = LIST_BUF };
		ret = source_call(src, dev, ERDMA_DIAG_LIST, &l, sizeof(l));
		if (!ret)
			ret = list_reply(src, buf, &l, &w);
		if (ret || !l.more || l.next_id > last)
			return ret;
		if (l.next_id <= start)
			return broken(src, "the list does not get on");
		start = l.next_id;
	}
}

/* Records of one reply with those of the device, each with the number of its object */
static int list_hw_reply(struct source *src, const uint8_t *buf, const struct erdma_diag_list *l,
			 const struct list_walk *w)
{
	uint32_t pos = 0, id = 0;
	struct rec rec;
	int ret;

	if (l->out_len > l->buf_len)
		return broken(src, "more bytes than there was room for");
	while ((ret = rec_next(buf, l->out_len, &pos, &rec, &src->why)) == 1) {
		if (rec.type < ERDMA_DIAG_REC_QP_HW || rec.type > ERDMA_DIAG_REC_EQ_HW)
			id = rec_id(&rec);
		if (id >= w->first && id <= w->last)
			w->fn(w->arg, id, &rec);
	}
	return ret;
}

/**
 * source_list_hw - records of objects in a range, each with that of the device
 * @src: source
 * @dev: open device
 * @l: obj, start_id and hw_budget_ms are set: one call; on return next_id and more are
 * @last: highest number
 * @n: number of objects there are in this range; not many more are asked about
 * @fn: called for each record, with the number of its object
 * @arg: its first argument
 *
 * The device is asked until the time is over; objects may come without its record.
 *
 * Return: 0 or -errno.
 */
int source_list_hw(struct source *src, struct dev *dev, struct erdma_diag_list *l, uint32_t last,
		   uint32_t n, void (*fn)(void *arg, uint32_t id, const struct rec *rec), void *arg)
{
	const uint32_t one = 2 * sizeof(struct erdma_diag_rec) + sizeof(struct erdma_diag_qp) +
			     sizeof(struct erdma_diag_hw);
	struct list_walk w = { l->start_id, last, fn, arg };
	uint32_t size = n < LIST_BUF / one ? n * one : LIST_BUF;
	uint8_t *buf;
	int ret;

	for (;;) {
		buf = pool_alloc(src->pool, size);
		l->size = sizeof(*l);
		l->flags = ERDMA_DIAG_LIST_HW;
		l->buf = (uintptr_t)buf;
		l->buf_len = size;
		ret = source_call(src, dev, ERDMA_DIAG_LIST, l, sizeof(*l));
		/* Records of a newer driver are longer */
		if (ret != -EMSGSIZE || l->out_len <= size || l->out_len > LIST_BUF)
			break;
		size = LIST_BUF;
	}
	return ret ? ret : list_hw_reply(src, buf, l, &w);
}

/* ---- CONTEXT ------------------------------------------------------------ */

/**
 * source_context - everything about one object
 * @src: source
 * @dev: open device
 * @obj: ERDMA_DIAG_OBJ_*
 * @id: its number
 * @hw: also ask the device, unless that is forbidden or impossible
 * @buf: result: records
 * @len: their bytes
 *
 * Return: 0 or -errno.
 */
int source_context(struct source *src, struct dev *dev, uint32_t obj, uint32_t id, bool hw,
		   const uint8_t **buf, uint32_t *len)
{
	struct erdma_diag_context c;
	uint32_t size = CONTEXT_BUF, pos = 0;
	struct rec rec;
	uint8_t *data;
	int ret;

	hw = hw && !src->no_hw && dev->info.abi_flags & ERDMA_DIAG_ABI_HW_CONTEXT;
	for (;;) {
		data = pool_alloc(src->pool, size);
		c = (struct erdma_diag_context){ .size = sizeof(c), .obj = obj, .id = id,
						 .flags = hw ? ERDMA_DIAG_CONTEXT_HW : 0,
						 .buf = (uintptr_t)data, .buf_len = size };
		ret = source_call(src, dev, ERDMA_DIAG_CONTEXT, &c, sizeof(c));
		if (ret != -EMSGSIZE || c.out_len <= size || c.out_len > CONTEXT_BUF_MAX)
			break;
		size = c.out_len;
	}
	if (ret)
		return ret;
	if (c.out_len > size)
		return broken(src, "more bytes than there was room for");
	while ((ret = rec_next(data, c.out_len, &pos, &rec, &src->why)) == 1)
		;
	*buf = data;
	*len = c.out_len;
	return ret;
}

/* ---- SNAPSHOT ----------------------------------------------------------- */

/**
 * source_snapshot - an object and all that belongs to it, in one call
 * @src: source
 * @dev: open device
 * @s: what is wanted; its buffer is set here
 * @b: buffer, all zero at first; grows, and serves for later calls
 *
 * Return: 0: @s->out_len bytes of @b are records; or -errno.
 */
int source_snapshot(struct source *src, struct dev *dev, struct erdma_diag_snapshot *s,
		    struct snapshot_buf *b)
{
	uint32_t need = b->size ? b->size : SNAPSHOT_BUF, pos = 0;
	struct rec rec;
	int ret;

	s->size = sizeof(*s);
	do {
		if (need > b->size) {
			b->data = pool_alloc(src->pool, need);
			b->size = need;
		}
		s->buf = (uintptr_t)b->data;
		s->buf_len = b->size;
		ret = source_call(src, dev, ERDMA_DIAG_SNAPSHOT, s, sizeof(*s));
		need = s->out_len;
	} while (ret == -EMSGSIZE && need > b->size && need <= SNAPSHOT_BUF_MAX);
	if (ret)
		return ret;
	if (s->out_len > b->size)
		return broken(src, "more bytes than there was room for");
	while ((ret = rec_next(b->data, s->out_len, &pos, &rec, &src->why)) == 1)
		;
	return ret;
}

/* ---- RING_READ ---------------------------------------------------------- */

static int ring_check(struct source *src, uint32_t ring, uint32_t asked,
		      const struct erdma_diag_ring_read *r)
{
	uint32_t size = ring == ERDMA_DIAG_RING_EQ ? ERDMA_EQE_SIZE : ERDMA_WQEBB_SIZE;
	uint32_t max = ring == ERDMA_DIAG_RING_CQ ? RING_MAX_DEPTH : RING_MAX_SQ_DEPTH;

	if (!erdma_ring_valid_depth(r->out_depth, max))
		return broken(src, "the ring has an impossible depth");
	if (r->out_entry_size != size)
		return broken(src, "the ring has entries of an unknown size");
	if (r->out_count != asked)
		return broken(src, "the ring was not read as far as asked for");
	return 0;
}

static int ring_call(struct source *src, struct dev *dev, struct erdma_diag_ring_read *r)
{
	uint32_t asked = r->count;
	int ret;

	r->size = sizeof(*r);
	ret = source_call(src, dev, ERDMA_DIAG_RING_READ, r, sizeof(*r));
	return ret ? ret : ring_check(src, r->ring, asked, r);
}

/* All entries, in pieces */
static int ring_copy_all(struct source *src, struct dev *dev, uint32_t ring, uint32_t id,
			 struct ring_data *out)
{
	struct erdma_diag_ring_read r;
	uint32_t slot, count;
	int ret;

	for (slot = 0; slot < out->depth; slot += count) {
		count = out->depth - slot < RING_CHUNK ? out->depth - slot : RING_CHUNK;
		r = (struct erdma_diag_ring_read){
			.ring = ring, .id = id, .first = slot, .count = count,
			.buf = (uintptr_t)(out->data + (size_t)slot * out->entry_size),
			.buf_len = count * out->entry_size,
		};
		ret = ring_call(src, dev, &r);
		if (ret)
			return ret;
		if (r.out_depth != out->depth)
			return broken(src, "the ring changed its depth");
		out->flags |= r.out_flags & ERDMA_DIAG_RING_HIDDEN;
	}
	return 0;
}

/**
 * source_ring - all entries of a ring
 * @src: source
 * @dev: open device
 * @ring: ERDMA_DIAG_RING_*
 * @id: its owner
 * @out: result
 *
 * The ring is in use meanwhile. Indices are those of the beginning; what the
 * producer overwrites until the end is reported by @out->moved.
 *
 * Return: 0 or -errno.
 */
int source_ring(struct source *src, struct dev *dev, uint32_t ring, uint32_t id,
		struct ring_data *out)
{
	const struct erdma_diag_ring_read ask = { .ring = ring, .id = id };
	struct erdma_diag_ring_read r = ask;
	int ret;

	ret = ring_call(src, dev, &r);
	if (ret)
		return ret;
	*out = (struct ring_data){ .depth = r.out_depth, .entry_size = r.out_entry_size,
				   .pi = r.out_pi, .ci = r.out_ci, .time_ns = r.out_time_ns };
	out->flags = r.out_flags & (ERDMA_DIAG_RING_PI | ERDMA_DIAG_RING_CI);
	out->data = pool_alloc(src->pool, (size_t)out->depth * out->entry_size);
	ret = ring_copy_all(src, dev, ring, id, out);
	if (ret)
		return ret;
	r = ask;
	ret = ring_call(src, dev, &r);
	out->moved = (r.out_pi - out->pi) & 0xffff;
	return ret;
}

/* ---- RECOVER ------------------------------------------------------------ */

/**
 * source_recover - have the driver take what waits in a queue
 * @src: source
 * @dev: open device
 * @r: object; on return what was done
 *
 * Return: 0 or -errno.
 */
int source_recover(struct source *src, struct dev *dev, struct erdma_diag_recover *r)
{
	r->size = sizeof(*r);
	return source_call(src, dev, ERDMA_DIAG_RECOVER, r, sizeof(*r));
}

/* ---- DEBUG -------------------------------------------------------------- */

/**
 * source_debug - debug levels: set, if asked for, and show
 * @src: source
 * @dev: open device
 * @dbg: what to do; on return the levels, at most ERDMA_DIAG_DEBUG_MAX_CATS
 *
 * Return: 0 or -errno.
 */
int source_debug(struct source *src, struct dev *dev, struct erdma_diag_debug *dbg)
{
	int ret;

	dbg->size = sizeof(*dbg);
	ret = source_call(src, dev, ERDMA_DIAG_DEBUG, dbg, sizeof(*dbg));
	if (!ret && dbg->out_count > ERDMA_DIAG_DEBUG_MAX_CATS)
		return broken(src, "more debug categories than there was room for");
	return ret;
}
