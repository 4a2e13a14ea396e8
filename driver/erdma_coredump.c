// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * State of a device for /sys/class/devcoredump, when a QP was stopped by the device
 * and when the device is lost. The format is that of the snapshot file
 * (include/erdma/erdma_snapshot.h, docs/snapshot-file.md): "eadm --from" reads it.
 *
 * It is made by the calls of the diagnostics node, on behalf of a caller who may see
 * all objects and no secret: keys, bus addresses and contents of requests are zero.
 */
#include <linux/devcoredump.h>
#include <linux/ktime.h>
#include <linux/sched/mm.h>
#include <linux/sizes.h>
#include <linux/utsname.h>
#include <linux/vmalloc.h>

#include "compat/compat.h"
#include "erdma_coredump.h"
#include "erdma_recovery.h"
#include "erdma/erdma_snapshot.h"

#define CORE_HW_MS	1000	/* for all contexts of the device */
#define CORE_PORT	1
#define CORE_LEFT_OUT	64	/* bytes of the lines that count what has no room */

/**
 * struct core - a dump under way
 * @dev: device
 * @req: calls of the node that fill it
 * @buf: result
 * @size: room
 * @len: bytes so far
 * @records: records so far
 * @left_out: records without room
 */
struct core {
	struct erdma_dev *dev;
	struct erdma_diag_req req;
	u8 *buf;
	size_t size;
	size_t len;
	u32 records;
	u32 left_out;
};

/**
 * struct core_key - what a record is about
 * @type: ERDMA_DIAG_REC_* or ERDMA_SNAP_*
 * @flags: ERDMA_DIAG_REC_F_*
 * @obj: ERDMA_DIAG_OBJ_*, or kind of ring
 * @id: number
 */
struct core_key {
	u16 type;
	u16 flags;
	u32 obj;
	u32 id;
};

/* ---- records ------------------------------------------------------------- */

/* The last record always has room */
#define CORE_END	(sizeof(struct erdma_snap_rec) + sizeof(struct erdma_snap_end))

/* Where the body of the next record goes, NULL: there is no room for @len bytes */
static void *core_body(struct core *c, size_t len)
{
	size_t room = c->size - c->len - CORE_END;

	if (c->size - c->len < CORE_END + sizeof(struct erdma_snap_rec) ||
	    ALIGN(len, 8) > room - sizeof(struct erdma_snap_rec)) {
		c->left_out++;
		return NULL;
	}
	return c->buf + c->len + sizeof(struct erdma_snap_rec);
}

/* The body is there: put the envelope in front of it */
static void core_commit(struct core *c, const struct core_key *key, size_t len)
{
	struct erdma_snap_rec *rec = (void *)(c->buf + c->len);
	size_t total = sizeof(*rec) + ALIGN(len, 8);

	memset((u8 *)(rec + 1) + len, 0, total - sizeof(*rec) - len);
	*rec = (struct erdma_snap_rec){
		.len = cpu_to_le32(total),
		.type = cpu_to_le16(key->type),
		.flags = cpu_to_le16(key->flags),
		.obj = cpu_to_le32(key->obj),
		.id = cpu_to_le32(key->id),
		.seq = cpu_to_le32(c->records++),
		.time_ns = cpu_to_le64(ktime_get_ns()),
	};
	if (key->type == ERDMA_SNAP_FILE || key->type == ERDMA_SNAP_END)
		rec->dev = cpu_to_le32(ERDMA_SNAP_NO_DEV);
	c->len += total;
}

static void core_put(struct core *c, const struct core_key *key, const void *body, size_t len)
{
	void *to = core_body(c, len);

	if (!to)
		return;
	memcpy(to, body, len);
	core_commit(c, key, len);
}

/* Records of the node, with their headers, one behind the other */
static void core_put_all(struct core *c, u32 obj, u32 id, const void *recs, u32 len)
{
	const struct erdma_diag_rec *rec;
	struct core_key key = { .obj = obj, .id = id };
	u32 at;

	for (at = 0; at < len; at += rec->len) {
		rec = recs + at;
		key.type = rec->type;
		key.flags = rec->flags;
		core_put(c, &key, rec + 1, rec->len - sizeof(*rec));
	}
}

/**
 * struct core_lines - lines of a record
 * @text: where they are; NULL: there is no room
 * @size: room
 * @len: bytes so far
 */
struct core_lines {
	char *text;
	size_t size;
	size_t len;
};

static struct core_lines core_lines(struct core *c, size_t size)
{
	return (struct core_lines){ .text = core_body(c, size), .size = size };
}

static __printf(2, 3) void core_line(struct core_lines *l, const char *fmt, ...)
{
	va_list args;

	if (!l->text)
		return;
	va_start(args, fmt);
	l->len += vscnprintf(l->text + l->len, l->size - l->len, fmt, args);
	va_end(args);
}

static void core_put_lines(struct core *c, const struct core_key *key, const struct core_lines *l)
{
	if (l->text)
		core_commit(c, key, l->len);
}

/* ---- what goes into it ---------------------------------------------------- */

static void core_header(struct core *c)
{
	struct erdma_snap_header h = {
		.version = cpu_to_le32(ERDMA_SNAP_VERSION), .len = cpu_to_le32(sizeof(h)),
	};

	memcpy(h.magic, ERDMA_SNAP_MAGIC, sizeof(h.magic));
	memcpy(c->buf, &h, sizeof(h));
	c->len = sizeof(h);
}

static void core_file(struct core *c, const char *reason, bool hw)
{
	const struct core_key key = { .type = ERDMA_SNAP_FILE };
	struct core_lines l = core_lines(c, 1024);

	core_line(&l, "tool=erdma " ERDMA_DRV_VERSION "\nreason=%s\nredact=none\n", reason);
	core_line(&l, "host=%s\nkernel=%s\nmachine=%s\n", init_utsname()->nodename,
		  init_utsname()->release, init_utsname()->machine);
	core_line(&l, "chosen=0\nno_hw=%d\neuid_is_root=1\n", !hw);
	core_line(&l, "time_real_ns=%llu\ntime_mono_ns=%llu\ntime_boot_ns=%llu\n",
		  ktime_get_real_ns(), ktime_get_ns(), ktime_get_boottime_ns());
	core_line(&l, "module_version=" ERDMA_DRV_VERSION "\n");
	core_put_lines(c, &key, &l);
}

static void core_device(struct core *c)
{
	const struct core_key key = { .type = ERDMA_SNAP_DEVICE }, info_key = {
		.type = ERDMA_SNAP_INFO,
	};
	struct core_lines l = core_lines(c, 512);
	struct erdma_diag_info info;

	c->req.arg = &info;
	erdma_diag_handle_info(c->dev, &c->req);
	info.size = sizeof(info);
	core_line(&l, "name=%s\nindex=%u\npci=%s\ndriver=erdma\nnetdev=%s\n", info.ib_name,
		  info.ib_index, info.pci, info.netdev);
	core_line(&l, "node=/dev/erdma/diag%d\nstate=0\nerrno=0\n", c->dev->diag_minor);
	core_put_lines(c, &key, &l);
	core_put(c, &info_key, &info, sizeof(info));
}

static void core_counter(void *arg, const char *name, u64 value)
{
	core_line(arg, "%s=%llu\n", name, value);
}

static void core_counters(struct core *c)
{
	const struct core_key key = { .type = ERDMA_SNAP_COUNTERS, .id = CORE_PORT };
	struct core_lines l = core_lines(c, 16384);

	erdma_stats_each(c->dev, core_counter, &l);
	core_put_lines(c, &key, &l);
}

static void core_objects(struct core *c, u32 obj)
{
	const struct erdma_diag_object_ops *ops = erdma_diag_object_find(obj);
	struct erdma_diag_object_rec rec;
	u32 id = 0;

	while (ops->next(c->dev, &id)) {
		if (!erdma_diag_object_fill(c->dev, c->req.who, ops, id, &rec))
			core_put_all(c, obj, id, &rec, rec.hdr.len);
		if (!++id)
			break;
		cond_resched();
	}
}

static void core_context(struct core *c, u32 obj, u32 id)
{
	const struct erdma_diag_object_ops *ops = erdma_diag_object_find(obj);
	struct erdma_diag_hw_rec rec;

	erdma_diag_object_fill_hw(c->dev, &c->req, ops, obj, id, erdma_diag_hw_left(&c->req),
				  &rec);
	core_put_all(c, obj, id, &rec, sizeof(rec));
}

/* In the form of the file: what RING_READ returns, then all entries */
static void core_ring(struct core *c, u32 ring, u32 id)
{
	const struct core_key key = { .type = ERDMA_SNAP_RING, .obj = ring, .id = id };
	struct erdma_diag_ring_read *head;
	struct erdma_diag_ring r;
	size_t len;

	if (erdma_diag_ring_open(c->dev, c->req.who, ring, id, true, &r))
		return;
	len = sizeof(*head) + (size_t)r.q.depth * r.entry_size;
	head = core_body(c, len);
	if (!head)
		goto close;
	*head = (struct erdma_diag_ring_read){
		.size = sizeof(*head), .ring = ring, .id = id, .count = r.q.depth,
		.out_entry_size = r.entry_size, .out_count = r.q.depth,
		.out_depth = r.q.depth, .out_pi = r.q.pi, .out_ci = r.q.ci,
		.out_flags = erdma_diag_ring_flags(&r), .out_time_ns = ktime_get_ns(),
	};
	if (!erdma_diag_ring_copy(&r, c->req.who, head + 1, 0, r.q.depth, &head->out_flags))
		core_commit(c, &key, len);
close:
	erdma_diag_ring_close(&r);
}

/* A QP that the device stopped, with what the device says of it now */
static void core_qp(struct core *c, u32 qpn)
{
	struct erdma_qp *qp = erdma_qp_get(c->dev, qpn);
	u32 scqn, rcqn;

	if (!qp)
		return;
	scqn = qp->scq->cqn;
	rcqn = qp->rcq->cqn;
	erdma_qp_put(qp);
	core_context(c, ERDMA_DIAG_OBJ_QP, qpn);
	core_context(c, ERDMA_DIAG_OBJ_CQ, scqn);
	core_ring(c, ERDMA_DIAG_RING_SQ, qpn);
	core_ring(c, ERDMA_DIAG_RING_RQ, qpn);
	core_ring(c, ERDMA_DIAG_RING_CQ, scqn);
	if (rcqn == scqn)
		return;
	core_context(c, ERDMA_DIAG_OBJ_CQ, rcqn);
	core_ring(c, ERDMA_DIAG_RING_CQ, rcqn);
}

static void core_log(struct core *c, u32 kind)
{
	struct erdma_diag_log arg = { .kind = kind };

	c->req.arg = &arg;
	do {
		c->req.cursor = 0;
		c->req.chunk_len = 0;
		if (erdma_diag_handle_log(c->dev, &c->req) < 0)
			return;
		core_put_all(c, 0, 0, c->req.chunk, c->req.chunk_len);
		arg.seq = arg.out_next;
	} while (arg.out_more);
}

static void core_left_out(struct core *c)
{
	const struct core_key key = { .type = ERDMA_SNAP_PROBLEM };
	struct core_lines l;

	/* There is room: core_fill() */
	c->size += sizeof(struct erdma_snap_rec) + CORE_LEFT_OUT;
	if (!c->left_out)
		return;
	l = core_lines(c, CORE_LEFT_OUT);
	core_line(&l, "left_out=%u\nerrno=%d\ncode=ENOSPC\n", c->left_out, ENOSPC);
	core_put_lines(c, &key, &l);
}

static u32 core_crc(const void *p, size_t len)
{
	return ~erdma_crc32c(~0U, p, len);
}

static void core_end(struct core *c)
{
	const struct core_key key = { .type = ERDMA_SNAP_END };
	struct erdma_snap_end end = {
		.records = cpu_to_le32(c->records),
		.crc = cpu_to_le32(core_crc(c->buf, c->len)),
	};

	memcpy(c->buf + c->len + sizeof(struct erdma_snap_rec), &end, sizeof(end));
	core_commit(c, &key, sizeof(end));
}

/* The most important first: what does not fit is at the end */
static void core_fill(struct core *c, const char *reason, u32 qpn)
{
	static const u32 objs[] = {
		ERDMA_DIAG_OBJ_CMDQ, ERDMA_DIAG_OBJ_EQ, ERDMA_DIAG_OBJ_QP, ERDMA_DIAG_OBJ_CQ,
		ERDMA_DIAG_OBJ_CTX, ERDMA_DIAG_OBJ_CM_ID, ERDMA_DIAG_OBJ_PD, ERDMA_DIAG_OBJ_MR,
	};
	u32 i;

	c->size -= sizeof(struct erdma_snap_rec) + CORE_LEFT_OUT;
	core_header(c);
	core_file(c, reason, qpn);
	core_device(c);
	core_counters(c);
	if (qpn)
		core_qp(c, qpn);
	core_ring(c, ERDMA_DIAG_RING_CMDQ_SQ, 0);
	core_ring(c, ERDMA_DIAG_RING_CMDQ_CQ, 0);
	core_ring(c, ERDMA_DIAG_RING_EQ, ERDMA_DIAG_EQ_CMDQ);
	core_ring(c, ERDMA_DIAG_RING_EQ, ERDMA_DIAG_EQ_AEQ);
	for (i = 1; i < ERDMA_DIAG_LOG_COUNT; i++)
		core_log(c, i);
	for (i = 0; i < ARRAY_SIZE(objs); i++)
		core_objects(c, objs[i]);
	core_left_out(c);
	core_end(c);
}

/**
 * erdma_coredump_make - write down the state of a device
 * @dev: device that the caller holds
 * @diag: its node
 * @reason: why, in words
 * @qpn: QP that the device stopped: its rings and contexts come as well, and the device
 *	is asked; 0: none, and it is not
 * @size: room, at least 4 KiB; what does not fit is left out, and counted
 * @len: filled
 *
 * Context: process; waits at most CORE_HW_MS for the device.
 * Return: the file, for vfree(); NULL: no memory.
 */
void *erdma_coredump_make(struct erdma_dev *dev, struct erdma_diag *diag, const char *reason,
			  u32 qpn, size_t size, size_t *len)
{
	/* Sees all objects and owns none: a worker has the credentials of root's processes */
	const struct erdma_diag_who who = { .net_admin = true };
	struct core c = {
		.dev = dev, .size = size,
		.req = { .diag = diag, .who = &who, .buf_len = ERDMA_DIAG_CHUNK,
			 .chunk_size = ERDMA_DIAG_CHUNK,
			 .deadline = jiffies + msecs_to_jiffies(CORE_HW_MS) },
	};

	/* Structures of the ABI are little endian in the file */
	if (IS_ENABLED(CONFIG_CPU_BIG_ENDIAN))
		return NULL;
	c.buf = __vmalloc(size, GFP_KERNEL | __GFP_NOWARN);
	c.req.chunk = __vmalloc(ERDMA_DIAG_CHUNK, GFP_KERNEL | __GFP_NOWARN);
	if (c.buf && c.req.chunk) {
		core_fill(&c, reason, qpn);
		*len = c.len;
	} else {
		vfree(c.buf);
		c.buf = NULL;
	}
	vfree(c.req.chunk);
	return c.buf;
}

/* ---- when ------------------------------------------------------------------ */

/* One in ERDMA_COREDUMP_MIN_S seconds: who stops many QPs leaves the first one's state */
static bool coredump_is_due(struct erdma_adapter *adapter)
{
	u64 now = ktime_get_boottime_ns(), last = READ_ONCE(adapter->coredump_ns);

	if (last && now - last < ERDMA_COREDUMP_MIN_S * (u64)NSEC_PER_SEC)
		return false;
	return cmpxchg64(&adapter->coredump_ns, last, now) == last;
}

/* Room for the rings, the recorders and the objects that there are */
static size_t coredump_size(struct erdma_dev *dev)
{
	u64 objects = (u64)atomic_read(&dev->n_qp) + atomic_read(&dev->n_cq) +
		      atomic_read(&dev->mrs.ids.used) + atomic_read(&dev->pds.ids.used) +
		      atomic_read(&dev->n_ctx);

	return min_t(u64, SZ_1M + objects * 2 * sizeof(struct erdma_diag_object_rec), SZ_8M);
}

/* A removal waits until this is done */
static void *coredump_by_node(struct erdma_dev *dev, const char *reason, u32 qpn, size_t *len)
{
	struct erdma_diag *diag = erdma_diag_enter(dev);
	void *buf;

	if (!diag)
		return NULL;
	buf = erdma_coredump_make(dev, diag, reason, qpn, coredump_size(dev), len);
	erdma_diag_leave(diag);
	return buf;
}

static void coredump(struct erdma_dev *dev, const char *reason, u32 qpn)
{
	unsigned int noio;
	size_t len;
	void *buf;

	if (!coredump_is_due(dev->adapter))
		return;
	/* Reclaim may wait for QPs that are stopped after this */
	noio = memalloc_noio_save();
	buf = coredump_by_node(dev, reason, qpn, &len);
	/* From now on the core's: until somebody writes to the file, or for five minutes */
	if (buf)
		dev_coredumpv(&dev->pdev->dev, buf, len, GFP_KERNEL);
	memalloc_noio_restore(noio);
}

/**
 * erdma_coredump_lost - the state of a device that is lost
 * @dev: device, whose objects are all there
 *
 * A suspend is no trouble.
 *
 * Context: process; does not ask the device.
 */
void erdma_coredump_lost(struct erdma_dev *dev)
{
	if (dev->lost != ERDMA_LOST_SUSPEND)
		coredump(dev, erdma_lost_reason_text(dev->lost), 0);
}

/**
 * erdma_coredump_work - the state of a device that stopped a QP
 * @work: erdma_dev.coredump_work
 *
 * Context: process; sends commands.
 */
void erdma_coredump_work(struct work_struct *work)
{
	struct erdma_dev *dev = container_of(work, struct erdma_dev, coredump_work);

	if (!erdma_is_lost(dev))
		coredump(dev, "the device stopped a queue pair", READ_ONCE(dev->coredump_qpn));
}

/**
 * erdma_coredump_qp - the device stopped a QP
 * @dev: device
 * @qpn: a QP that exists: its work queue does, too
 *
 * Context: any.
 */
void erdma_coredump_qp(struct erdma_dev *dev, u32 qpn)
{
	if (work_pending(&dev->coredump_work))
		return;
	WRITE_ONCE(dev->coredump_qpn, qpn);
	queue_work(dev->reflusher, &dev->coredump_work);
}
