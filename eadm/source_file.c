// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A source whose adapters are in a snapshot file (--from FILE). Answers the calls of
 * the node from the records of the file, so that every command works on a file as on a
 * kernel. What was not taken is -ENODATA; what could not be taken fails as it did then.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "erdma/erdma_snapshot.h"

#include "snap.h"
#include "snap_system.h"
#include "source_file.h"

/**
 * struct file_source - a file in use
 * @in: its records
 * @file: the record of the file itself, or NULL
 * @ring: ring whose entries were read last
 * @moment: of contexts and owners; 0: of the time at which the file was made
 * @label: of the adapters of each file, if there are several; else NULL
 * @devices: adapters of each of these
 * @src: source that this is the backend of
 */
struct file_source {
	struct snap_in *in;
	const struct snap_item *file;
	const struct snap_item *ring;
	uint32_t moment;
	char *const *label;
	const uint32_t *devices;
	struct source *src;
};

static uint32_t number_of(const struct source *src, const struct dev *dev)
{
	const struct dev *d;
	uint32_t n = 0;

	for (d = src->devs; d != dev; d = d->next)
		n++;
	return n;
}

/* ---- lines ------------------------------------------------------------------ */

static long line_number(const struct snap_item *i, const char *name, long otherwise)
{
	char text[32], *end;
	long v;

	if (!i || !lines_find(i->body, i->len, name, text, sizeof(text)))
		return otherwise;
	errno = 0;
	v = strtol(text, &end, 10);
	return errno || end == text || *end ? otherwise : v;
}

static void line_text(const struct snap_item *i, const char *name, char *out, size_t size)
{
	out[0] = '\0';
	if (i)
		lines_find(i->body, i->len, name, out, size);
}

/**
 * source_file_line - what a file says of itself
 * @src: source, of source_from_snapshot()
 * @name: of the line
 * @out: filled; empty if there is no such line
 * @size: its size
 */
void source_file_line(const struct source *src, const char *name, char *out, size_t size)
{
	const struct file_source *f = src->priv;

	line_text(f->file, name, out, size);
}

/* ---- devices ---------------------------------------------------------------- */

static struct dev *new_device(struct source *src, const struct snap_item *i)
{
	struct dev *d = pool_alloc(src->pool, sizeof(*d));
	long state = line_number(i, "state", DEV_NO_DRIVER), err = line_number(i, "errno", 0);

	line_text(i, "name", d->name, sizeof(d->name));
	line_text(i, "pci", d->pci, sizeof(d->pci));
	line_text(i, "driver", d->driver, sizeof(d->driver));
	line_text(i, "netdev", d->netdev, sizeof(d->netdev));
	line_text(i, "node", d->node, sizeof(d->node));
	d->index = line_number(i, "index", -1);
	d->state = state >= DEV_OK && state <= DEV_NO_DRIVER ? (enum dev_state)state :
							       DEV_NO_DRIVER;
	d->err = err > 0 && err < 4096 ? (int)err : 0;
	d->fd = -1;
	return d;
}

/* Two of them, and a colon, are the name of a device */
#define LABEL_MAX	(DEV_NAME_LEN / 2 - 1)

/* Of several files: "server:erdma_0" */
static void label_device(const struct file_source *f, struct dev *d, uint32_t dev)
{
	char name[DEV_NAME_LEN];
	size_t i = 0;

	if (!f->label || !d->name[0])
		return;
	for (; dev >= f->devices[i]; i++)
		dev -= f->devices[i];
	snprintf(name, sizeof(name), "%.*s:%.*s", LABEL_MAX, f->label[i], LABEL_MAX, d->name);
	strcpy(d->name, name);
	d->file = (unsigned int)i;
}

static int file_devices(struct source *src)
{
	const struct file_source *f = src->priv;
	struct dev **tail = &src->devs;
	const struct snap_item *i;
	uint32_t n;

	for (n = 0; (i = snap_find(f->in, n, ERDMA_SNAP_DEVICE, 0, 0)); n++) {
		*tail = new_device(src, i);
		label_device(f, *tail, n);
		tail = &(*tail)->next;
	}
	src->netlink_err = -(int)line_number(f->file, "netlink_errno", 0);
	return 0;
}

/* The errno with which something could not be taken, else @otherwise */
static int why_missing(const struct file_source *f, uint32_t dev, uint16_t type, uint32_t obj,
		       uint32_t id, int otherwise)
{
	const struct snap_item *i = snap_find(f->in, dev, ERDMA_SNAP_PROBLEM, obj, id), *end;
	char why[128];
	long err;

	end = f->in->item + f->in->n;
	for (; i && i < end && i->dev == dev && i->type == ERDMA_SNAP_PROBLEM && i->obj == obj &&
	       i->id == id; i++) {
		err = line_number(i, "errno", 0);
		if (line_number(i, "type", -1) != type || err <= 0 || err >= 4096)
			continue;
		line_text(i, "why", why, sizeof(why));
		if (why[0])
			f->src->why = pool_strdup(f->src->pool, why);
		return -(int)err;
	}
	return otherwise;
}

static int file_open(struct source *src, struct dev *dev)
{
	const struct file_source *f = src->priv;
	uint32_t n = number_of(src, dev);

	if (!snap_find(f->in, n, ERDMA_SNAP_INFO, 0, 0))
		return why_missing(f, n, ERDMA_SNAP_INFO, 0, 0, -ENODATA);
	/* An open device has a descriptor */
	dev->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return dev->fd < 0 ? -errno : 0;
}

/* ---- calls ------------------------------------------------------------------ */

static void copy_struct(void *to, size_t size, const struct snap_item *i)
{
	memset(to, 0, size);
	memcpy(to, i->body, i->len < size ? i->len : size);
}

static int call_info(const struct file_source *f, uint32_t dev, void *arg)
{
	const struct snap_item *i = snap_find(f->in, dev, ERDMA_SNAP_INFO, 0, 0);

	if (!i)
		return why_missing(f, dev, ERDMA_SNAP_INFO, 0, 0, -ENODATA);
	copy_struct(arg, sizeof(struct erdma_diag_info), i);
	return 0;
}

static int call_debug(const struct file_source *f, uint32_t dev, struct erdma_diag_debug *dbg)
{
	const struct snap_item *i = snap_find(f->in, dev, ERDMA_SNAP_DEBUG, 0, 0);

	if (dbg->flags & ERDMA_DIAG_DEBUG_SET)
		return -EROFS;
	if (!i)
		return why_missing(f, dev, ERDMA_SNAP_DEBUG, 0, 0, -ENODATA);
	copy_struct(dbg, sizeof(*dbg), i);
	return 0;
}

static const struct {
	uint16_t rec;
	uint16_t hw;
} types[] = {
	[ERDMA_DIAG_OBJ_QP] = { ERDMA_DIAG_REC_QP, ERDMA_DIAG_REC_QP_HW },
	[ERDMA_DIAG_OBJ_CQ] = { ERDMA_DIAG_REC_CQ, ERDMA_DIAG_REC_CQ_HW },
	[ERDMA_DIAG_OBJ_EQ] = { ERDMA_DIAG_REC_EQ, ERDMA_DIAG_REC_EQ_HW },
	[ERDMA_DIAG_OBJ_CMDQ] = { ERDMA_DIAG_REC_CMDQ, 0 },
	[ERDMA_DIAG_OBJ_MR] = { ERDMA_DIAG_REC_MR, 0 },
	[ERDMA_DIAG_OBJ_PD] = { ERDMA_DIAG_REC_PD, 0 },
	[ERDMA_DIAG_OBJ_CTX] = { ERDMA_DIAG_REC_CTX, 0 },
	[ERDMA_DIAG_OBJ_CM_ID] = { ERDMA_DIAG_REC_CM_ID, 0 },
};

static bool known_object(uint32_t obj)
{
	return obj < COUNT_OF(types) && types[obj].rec;
}

/* False if it does not fit */
static bool put_record(uint8_t *buf, uint32_t buf_len, uint32_t *len, const struct snap_item *i)
{
	struct erdma_diag_rec hdr = {
		.len = (uint32_t)sizeof(hdr) + i->len, .type = i->type, .flags = i->flags,
	};

	if (hdr.len < i->len || hdr.len > buf_len - *len)
		return false;
	memcpy(buf + *len, &hdr, sizeof(hdr));
	memcpy(buf + *len + sizeof(hdr), i->body, i->len);
	*len += hdr.len;
	return true;
}

static int call_list(const struct file_source *f, uint32_t dev, struct erdma_diag_list *l)
{
	const struct snap_item *i;
	uint32_t id = l->start_id;

	if (!known_object(l->obj))
		return -ENODATA;
	l->out_len = l->out_count = l->more = 0;
	for (;;) {
		i = snap_from(f->in, dev, types[l->obj].rec, id);
		if (!i)
			break;
		if (!put_record((uint8_t *)(uintptr_t)l->buf, l->buf_len, &l->out_len, i)) {
			l->more = 1;
			l->next_id = i->id;
			return l->out_count ? 0 : -EMSGSIZE;
		}
		l->out_count++;
		if (i->id == UINT32_MAX)
			break;
		id = i->id + 1;
	}
	return l->out_count ? 0 : why_missing(f, dev, types[l->obj].rec, l->obj, 0, 0);
}

/* A context that was not asked for when the file was taken */
static const struct snap_item *no_context(struct snap_item *i, uint8_t *body, uint16_t type)
{
	const struct erdma_diag_hw hw = { .status = ENODATA };

	memcpy(body, &hw, sizeof(hw));
	*i = (struct snap_item){ .type = type, .body = body, .len = sizeof(hw) };
	return i;
}

/* The device's own context: NULL if there is none, as it was when the file was taken */
static const struct snap_item *context_of(const struct file_source *f, uint32_t dev,
					  const struct erdma_diag_context *c,
					  struct snap_item *made, uint8_t *body)
{
	const struct snap_item *hw;
	uint16_t type = types[c->obj].hw;

	if (!(c->flags & ERDMA_DIAG_CONTEXT_HW) || !type)
		return NULL;
	hw = snap_at(f->in, dev, type, c->obj, c->id, f->moment);
	return hw || !line_number(f->file, "no_hw", 0) ? hw : no_context(made, body, type);
}

static int call_context(const struct file_source *f, uint32_t dev, struct erdma_diag_context *c)
{
	uint8_t *buf = (uint8_t *)(uintptr_t)c->buf, none[sizeof(struct erdma_diag_hw)];
	const struct snap_item *rec, *hw;
	struct snap_item made;
	int err = 0;

	if (!known_object(c->obj))
		return -ENODATA;
	if (c->flags & ERDMA_DIAG_CONTEXT_HW)
		err = why_missing(f, dev, types[c->obj].hw, c->obj, c->id, 0);
	if (!err)
		err = why_missing(f, dev, types[c->obj].rec, c->obj, c->id, 0);
	rec = snap_at(f->in, dev, types[c->obj].rec, c->obj, c->id, f->moment);
	if (err || !rec)
		return err ? err : -ENOENT;
	hw = context_of(f, dev, c, &made, none);
	c->out_len = 0;
	c->time_ns = rec->time_ns;
	if (put_record(buf, c->buf_len, &c->out_len, rec) &&
	    (!hw || put_record(buf, c->buf_len, &c->out_len, hw)))
		return 0;
	c->out_len = rec->len + (hw ? hw->len : 0) + 2 * (uint32_t)sizeof(struct erdma_diag_rec);
	return -EMSGSIZE;
}

/* The structure in front of the entries; false if they are not all there */
static bool ring_head(const struct snap_item *i, struct erdma_diag_ring_read *head)
{
	uint64_t bytes;

	if (i->len < sizeof(*head))
		return false;
	memcpy(head, i->body, sizeof(*head));
	bytes = (uint64_t)head->out_depth * head->out_entry_size;
	return head->out_entry_size && bytes <= i->len - sizeof(*head);
}

static int copy_entries(const struct snap_item *i, const struct erdma_diag_ring_read *head,
			struct erdma_diag_ring_read *r)
{
	const uint8_t *from = i->body + sizeof(*head);
	uint8_t *to = (uint8_t *)(uintptr_t)r->buf;
	uint32_t n, size = head->out_entry_size;

	if (r->count > head->out_depth)
		return -EINVAL;
	if ((uint64_t)r->count * size > r->buf_len)
		return -EMSGSIZE;
	for (n = 0; n < r->count; n++)
		memcpy(to + (size_t)n * size,
		       from + (size_t)((r->first + n) & (head->out_depth - 1)) * size, size);
	return 0;
}

/*
 * Indices are asked for before and after the entries: the second time they are those of
 * the end, which the file has as how far PI went on.
 */
static int call_ring(struct file_source *f, uint32_t dev, struct erdma_diag_ring_read *r)
{
	const struct snap_item *i = snap_find(f->in, dev, ERDMA_SNAP_RING, r->ring, r->id);
	struct erdma_diag_ring_read head;
	int ret = 0;

	if (!i)
		return why_missing(f, dev, ERDMA_SNAP_RING, r->ring, r->id, -ENODATA);
	if (!ring_head(i, &head))
		return -EBADMSG;
	r->out_entry_size = head.out_entry_size;
	r->out_count = r->count;
	r->out_depth = head.out_depth;
	r->out_pi = head.out_pi;
	r->out_ci = head.out_ci;
	r->out_flags = head.out_flags;
	r->out_time_ns = head.out_time_ns;
	if (r->count) {
		ret = copy_entries(i, &head, r);
		f->ring = i;
	} else if (f->ring == i) {
		r->out_pi += head.rsvd;
		f->ring = NULL;
	}
	return ret;
}

/* Entries are in the order in which they were read */
static int call_log(const struct file_source *f, uint32_t dev, struct erdma_diag_log *l)
{
	uint16_t type = (uint16_t)ERDMA_DIAG_REC_LOG(l->kind);
	const struct snap_item *i, *end = f->in->item + f->in->n;
	struct erdma_diag_log_head head;

	if (!l->kind || l->kind >= ERDMA_DIAG_LOG_COUNT)
		return -EOPNOTSUPP;
	l->out_next = l->seq;
	l->out_lost = l->out_len = l->out_count = l->out_more = 0;
	i = snap_from(f->in, dev, type, 0);
	for (; i && i < end && i->dev == dev && i->type == type; i++) {
		copy_struct(&head, sizeof(head), i);
		if (head.seq < l->out_next)
			continue;
		if (!put_record((uint8_t *)(uintptr_t)l->buf, l->buf_len, &l->out_len, i)) {
			l->out_more = 1;
			return l->out_count ? 0 : -EMSGSIZE;
		}
		l->out_next = head.seq + 1;
		l->out_count++;
	}
	return l->out_count ? 0 : why_missing(f, dev, type, 0, 0, 0);
}

static int file_call(struct source *src, struct dev *dev, unsigned int cmd, void *arg)
{
	struct file_source *f = src->priv;
	uint32_t n = number_of(src, dev);

	switch (cmd) {
	case ERDMA_DIAG_INFO:
		return call_info(f, n, arg);
	case ERDMA_DIAG_LIST:
		return call_list(f, n, arg);
	case ERDMA_DIAG_CONTEXT:
		return call_context(f, n, arg);
	case ERDMA_DIAG_RING_READ:
		return call_ring(f, n, arg);
	case ERDMA_DIAG_DEBUG:
		return call_debug(f, n, arg);
	case ERDMA_DIAG_LOG:
		return call_log(f, n, arg);
	}
	return -ENODATA;
}

/* ---- without the node --------------------------------------------------------- */

typedef const struct snap_item *(*find_fn)(const struct snap_in *s, uint32_t dev, uint16_t type,
					   uint32_t obj, uint32_t id);

static int give_counters(struct source *src, struct dev *dev, unsigned int port, find_fn find,
			 counter_fn fn, void *arg)
{
	const struct file_source *f = src->priv;
	uint32_t n = number_of(src, dev);
	const struct snap_item *i = find(f->in, n, ERDMA_SNAP_COUNTERS, 0, port);
	char name[DEV_NAME_LEN], value[32], *end;
	unsigned long long v;
	size_t pos = 0;

	if (!i)
		return why_missing(f, n, ERDMA_SNAP_COUNTERS, 0, port, -ENODATA);
	while (lines_next(i->body, i->len, &pos, name, sizeof(name), value, sizeof(value))) {
		v = strtoull(value, &end, 10);
		if (end != value && !*end)
			fn(arg, name, v);
	}
	return 0;
}

static int file_counters(struct source *src, struct dev *dev, unsigned int port, counter_fn fn,
			 void *arg)
{
	return give_counters(src, dev, port, snap_find, fn, arg);
}

static int file_counters_after(struct source *src, struct dev *dev, unsigned int port,
			       counter_fn fn, void *arg)
{
	return give_counters(src, dev, port, snap_last, fn, arg);
}

static int file_driver_version(struct source *src, char *out, size_t size)
{
	const struct file_source *f = src->priv;
	long err = line_number(f->file, "module_errno", 0);

	line_text(f->file, "module_version", out, size);
	return out[0] ? 0 : err == ENODATA ? -ENODATA : -ENOENT;
}

static bool file_facts(struct source *src, const struct dev *dev, struct dev_facts *facts)
{
	const struct file_source *f = src->priv;
	const struct snap_item *i = snap_find(f->in, number_of(src, dev), ERDMA_SNAP_FACTS, 0, 0);
	char guid[32];

	line_text(i, "driver_version", facts->driver_version, sizeof(facts->driver_version));
	line_text(i, "fw", facts->fw, sizeof(facts->fw));
	line_text(i, "node_guid", guid, sizeof(guid));
	facts->node_guid = strtoull(guid, NULL, 10);
	facts->link = (int)line_number(i, "link", -1);
	facts->numa = (int)line_number(i, "numa", -1);
	facts->pci_rev = (int)line_number(i, "pci_rev", -1);
	facts->n_qp = line_number(i, "n_qp", -1);
	facts->n_cq = line_number(i, "n_cq", -1);
	facts->n_mr = line_number(i, "n_mr", -1);
	facts->n_pd = line_number(i, "n_pd", -1);
	return line_number(i, "good", 0);
}

static uint8_t line_byte(const struct snap_item *i, const char *name)
{
	return (uint8_t)line_number(i, name, 0);
}

static int file_objects(struct source *src, const struct dev *dev, enum res_kind kind, res_fn fn,
			void *arg)
{
	const struct file_source *f = src->priv;
	uint32_t obj = kind == RES_QP ? ERDMA_DIAG_OBJ_QP : ERDMA_DIAG_OBJ_CQ, n, id;
	const struct snap_item *i;
	struct res res;

	/* It is asked about devices of other drivers only, which no file has */
	if (kind == RES_MR)
		return -ENODATA;
	n = number_of(src, dev);
	for (id = 0; (i = snap_find(f->in, n, ERDMA_SNAP_OBJECT, obj, id)); id++) {
		res = (struct res){
			.core_id = -1, .remote_qpn = -1, .lkey = -1, .rkey = -1,
			.id = line_number(i, "id", -1), .type = line_byte(i, "type"),
			.state = line_byte(i, "state"), .pdn = line_number(i, "pdn", -1),
			.send_cqn = line_number(i, "send_cqn", -1),
			.recv_cqn = line_number(i, "recv_cqn", -1),
			.depth = line_number(i, "depth", -1),
			.pid = (uint32_t)line_number(i, "pid", 0),
		};
		line_text(i, "comm", res.comm, sizeof(res.comm));
		fn(arg, &res);
	}
	return id ? 0 : why_missing(f, n, ERDMA_SNAP_OBJECT, obj, 0, 0);
}

/* ---- the host ----------------------------------------------------------------- */

static uint64_t line_u64(const struct snap_item *i, const char *name)
{
	char text[32];

	line_text(i, name, text, sizeof(text));
	return strtoull(text, NULL, 10);
}

static int file_process(struct source *src, const struct dev *dev, uint32_t pid, bool newest,
			struct process *out)
{
	const struct file_source *f = src->priv;
	uint32_t n = number_of(src, dev);
	const struct snap_item *i =
		f->moment ? snap_at(f->in, n, ERDMA_SNAP_PROCESS, 0, pid, f->moment) :
		newest ? snap_last(f->in, n, ERDMA_SNAP_PROCESS, 0, pid) :
			 snap_find(f->in, n, ERDMA_SNAP_PROCESS, 0, pid);
	char state[8];

	*out = (struct process){ 0 };
	if (!i)
		return -ENOENT;
	line_text(i, "state", state, sizeof(state));
	out->state = state[0];
	line_text(i, "comm", out->comm, sizeof(out->comm));
	line_text(i, "pinned", out->pinned, sizeof(out->pinned));
	line_text(i, "locked_limits", out->limits, sizeof(out->limits));
	out->utime = line_u64(i, "utime_ticks");
	out->stime = line_u64(i, "stime_ticks");
	out->threads = (unsigned int)line_u64(i, "threads");
	out->held_us = line_u64(i, "held_us");
	out->net_ns = line_u64(i, "net");
	out->pid_ns = line_u64(i, "pid");
	return 0;
}

/* Of each there is whether it is up, also where the address itself is hidden */
static int file_addresses(struct source *src, const struct dev *dev)
{
	const struct file_source *f = src->priv;
	const struct snap_item *i = snap_last(f->in, number_of(src, dev), ERDMA_SNAP_HOST, 0, 0);
	char name[DEV_NAME_LEN], value[64];
	size_t pos = 0;
	int n = 0;

	if (!i)
		return -ENODATA;
	while (lines_next(i->body, i->len, &pos, name, sizeof(name), value, sizeof(value)))
		n += !strcmp(name, "up");
	return n;
}

/* Of one host: what several have cannot be one */
static int file_host(struct source *src, struct host *out)
{
	const struct file_source *f = src->priv;
	const struct snap_item *i = snap_find(f->in, ERDMA_SNAP_NO_DEV, ERDMA_SNAP_SYSTEM, 0, 0);

	if (!i || src->joined)
		return -ENODATA;
	system_read(i->body, i->len, out);
	return 0;
}

static int file_irq_cpu(struct source *src, const struct dev *dev, unsigned int irq)
{
	const struct file_source *f = src->priv;
	const struct snap_item *i = snap_last(f->in, number_of(src, dev), ERDMA_SNAP_HOST, 0, 0);
	char name[32];

	snprintf(name, sizeof(name), "irq_cpu.%u", irq);
	return i ? (int)line_number(i, name, -1) : -1;
}

static int64_t file_moment(struct source *src, const struct dev *dev, unsigned int n)
{
	struct file_source *f = src->priv;
	const struct snap_item *i = n ? snap_at(f->in, number_of(src, dev), ERDMA_SNAP_MOMENT, 0, 0,
						n) : NULL;

	if (n && !i)
		return -1;
	f->moment = n;
	return n ? (int64_t)(line_u64(i, "ns") & INT64_MAX) : 0;
}

static uint64_t file_real_ns(struct source *src)
{
	const struct file_source *f = src->priv;
	char text[32];

	line_text(f->file, "time_real_ns", text, sizeof(text));
	return strtoull(text, NULL, 10);
}

static bool file_lockdown(struct source *src)
{
	const struct file_source *f = src->priv;

	return line_number(f->file, "lockdown", 0);
}

static bool file_no_module(struct source *src, char *release, size_t size)
{
	const struct file_source *f = src->priv;

	line_text(f->file, "no_module", release, size);
	return release[0];
}

static const struct source_ops file_ops = {
	.kind = "file",
	.fixed = true,
	.devices = file_devices,
	.open = file_open,
	.call = file_call,
	.counters = file_counters,
	.counters_after = file_counters_after,
	.driver_version = file_driver_version,
	.facts = file_facts,
	.objects = file_objects,
	.process = file_process,
	.addresses = file_addresses,
	.host = file_host,
	.irq_cpu = file_irq_cpu,
	.moment = file_moment,
	.real_ns = file_real_ns,
	.lockdown = file_lockdown,
	.no_module = file_no_module,
};

static void look_at_redaction(struct source *src)
{
	const struct file_source *f = src->priv;
	const struct snap_item *i;
	enum redact_level level;
	char redact[16];
	uint32_t n;

	src->pseudonyms = f->file;
	for (n = 0; (i = snap_find(f->in, ERDMA_SNAP_NO_DEV, ERDMA_SNAP_FILE, 0, n)); n++) {
		line_text(i, "redact", redact, sizeof(redact));
		level = redact_level_of(redact);
		src->pseudonyms &= level == REDACT_IDS;
		src->nameless |= level != REDACT_NONE;
	}
	src->joined = n > 1;
	src->nameless &= src->joined;
}

/**
 * source_from_snapshot - take facts from records instead of the kernel
 * @src: source, of source_init()
 * @in: records, of snap_parse(); in use as long as @src
 */
void source_from_snapshot(struct source *src, struct snap_in *in)
{
	struct file_source *f = pool_alloc(src->pool, sizeof(*f));

	*f = (struct file_source){ .in = in, .src = src };
	f->file = snap_find(in, ERDMA_SNAP_NO_DEV, ERDMA_SNAP_FILE, 0, 0);
	src->ops = &file_ops;
	src->priv = f;
	look_at_redaction(src);
	src->chosen = line_number(f->file, "chosen", 0);
}

/* The name of a file without folder and ending, as far as it is shown */
static char *label_of(struct pool *p, char *path)
{
	const char *name = basename(path), *dot = strrchr(name, '.');
	size_t n = dot && dot > name ? (size_t)(dot - name) : strlen(name);

	return pool_printf(p, "%.*s", n < LABEL_MAX ? (int)n : LABEL_MAX, name);
}

/* Names of files; their numbers if two of them look alike */
static char **labels_of(struct pool *p, char *const *path, size_t n)
{
	char **label = pool_alloc(p, n * sizeof(*label));
	bool alike = false;
	size_t i, k;

	for (i = 0; i < n; i++) {
		label[i] = label_of(p, path[i]);
		for (k = 0; k < i; k++)
			alike |= !strcmp(label[i], label[k]);
	}
	for (i = 0; alike && i < n; i++)
		label[i] = pool_printf(p, "%zu", i + 1);
	return label;
}

/**
 * source_from_files - take facts from several files, as of one host
 * @src: source, of source_init()
 * @path: snapshot files
 * @n: their number
 * @bad: set on failure: which of them
 * @damage: set: why the end of one is missing, or NULL
 *
 * The names of adapters begin with that of their file.
 *
 * Return: 0; a negative error number of snap_load().
 */
int source_from_files(struct source *src, char *const *path, size_t n, size_t *bad,
		      const char **damage)
{
	struct snap_in **in = pool_alloc(src->pool, n * sizeof(*in)), *all;
	uint32_t *devices = pool_alloc(src->pool, n * sizeof(*devices));
	struct file_source *f;
	size_t i;
	int err;

	for (i = 0; i < n; i++) {
		in[i] = snap_load(src->pool, path[i], &err);
		*bad = i;
		if (!in[i])
			return -err;
		devices[i] = snap_devices(in[i]);
	}
	all = n == 1 ? in[0] : snap_join(src->pool, in, n);
	*damage = all->damage;
	source_from_snapshot(src, all);
	if (n == 1)
		return 0;
	f = src->priv;
	f->label = labels_of(src->pool, path, n);
	f->devices = devices;
	return 0;
}

/**
 * source_from_file - take facts from a file instead of the kernel
 * @src: source, of source_init()
 * @path: snapshot file
 * @damage: set: why the end of the file is missing, or NULL
 *
 * Return: 0; a negative error number of snap_load().
 */
int source_from_file(struct source *src, const char *path, const char **damage)
{
	char *one = pool_strdup(src->pool, path);
	size_t bad;

	return source_from_files(src, &one, 1, &bad, damage);
}
