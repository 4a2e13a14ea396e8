// SPDX-License-Identifier: GPL-2.0-or-later
/* The host: module, headers, libibverbs, interrupts, limits of processes. For doctor. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proc.h"
#include "why.h"

#define RDMA_CORE_MIN	44	/* docs: the oldest that is tested */
#define NEAR_PERCENT	90
#define OWNERS_MAX	64	/* processes whose limits are looked at */

/* ---- module ------------------------------------------------------------------- */

/* Not a part of the kernel's own package */
static bool is_added(const char *path)
{
	return path[0] && strncmp(path, "kernel/", 7);
}

static bool differ(const char *a, const char *b)
{
	return a[0] && b[0] && strcmp(a, b);
}

/* Ours states a version, and so does its file, unless that is packed or the kernel's own */
static void judge_module(struct ctx *c, const struct host *h, struct findings *f)
{
	const struct module_file *loaded = &h->loaded, *disk = &h->disk;

	if (!h->is_loaded)
		return;
	if (!loaded->version[0])
		found(f, RULE_MODULE_OTHER, "disk", is_added(h->disk_path) ?
		      pool_printf(&c->pool, ", and it is not %s, which modprobe would load",
				  h->disk_path) : "", NULL);
	else if (disk->version[0] && (differ(loaded->version, disk->version) ||
				      differ(loaded->srcversion, disk->srcversion)))
		found(f, RULE_MODULE_OLD, "version", loaded->version, "file", h->disk_path, "other",
		      disk->version, NULL);
	if (loaded->version[0] && h->compat_mode == 'Y')
		found(f, RULE_COMPAT_MODE, NULL);
}

static void judge_headers(const struct host *h, struct findings *f)
{
	if (h->dkms && !h->headers && !is_added(h->disk_path))
		found(f, RULE_HEADERS_MISSING, "release", h->release, NULL);
}

/* ---- libibverbs --------------------------------------------------------------- */

static void judge_provider(struct ctx *c, const struct host *h, struct findings *f)
{
	if (!h->libibverbs)
		return;
	if (!h->provider)
		found(f, RULE_PROVIDER_MISSING, NULL);
	else if (h->rdma_core && h->rdma_core < RDMA_CORE_MIN)
		found(f, RULE_PROVIDER_OLD, "release", text_u(c, h->rdma_core), "min",
		      text_u(c, RDMA_CORE_MIN), NULL);
}

/* ---- the host ----------------------------------------------------------------- */

/* A file says of the module only whether one that states no version was loaded */
static bool read_host(struct source *src, struct host *h)
{
	char version[DEV_NAME_LEN];

	if (src->ops->host && !src->ops->host(src, h))
		return true;
	*h = (struct host){ .exclusive = -1, .headers = true };
	h->is_loaded = src->ops->driver_version(src, version, sizeof(version)) == -ENODATA;
	return h->is_loaded;
}

/**
 * judge_host - what rules say of the host
 * @q: inquiry
 * @f: findings
 */
void judge_host(struct inquiry *q, struct findings *f)
{
	struct host h;

	if (!read_host(&q->c->src, &h))
		return;
	judge_module(q->c, &h, f);
	judge_headers(&h, f);
	judge_provider(q->c, &h, f);
}

/**
 * host_hides - may the RDMA device of an adapter be in another network namespace?
 * @c: run
 * @dev: adapter
 *
 * Return: true if this driver is bound, its device cannot be seen, and RDMA devices belong to
 * one namespace each.
 */
bool host_hides(struct ctx *c, const struct dev *dev)
{
	struct host h;

	return dev->state == DEV_NO_RDMA && !strcmp(dev->driver, "erdma") &&
	       read_host(&c->src, &h) && h.exclusive == 1;
}

/* ---- interrupts --------------------------------------------------------------- */

/**
 * struct irqs - interrupts of completion event queues
 * @src: source
 * @dev: device
 * @n: event queues
 * @cpu: the CPU of all of them so far
 * @one: there is such a CPU
 */
struct irqs {
	struct source *src;
	const struct dev *dev;
	unsigned int n;
	int cpu;
	bool one;
};

static void look_at_irq(void *arg, uint32_t id, const struct rec *rec)
{
	struct irqs *all = arg;
	struct erdma_diag_eq eq;
	int cpu;

	if (rec->type != ERDMA_DIAG_REC_EQ || id == ERDMA_DIAG_EQ_CMDQ || id == ERDMA_DIAG_EQ_AEQ)
		return;
	rec_copy(rec, &eq, sizeof(eq));
	cpu = all->src->ops->irq_cpu(all->src, all->dev, eq.irq);
	all->one = cpu >= 0 && (!all->n || (all->one && cpu == all->cpu));
	all->cpu = cpu;
	all->n++;
}

static void judge_irqs(struct inquiry *q, struct dev *dev, struct findings *f)
{
	struct source *src = &q->c->src;
	struct irqs all = { .src = src, .dev = dev };
	struct ctx *c = q->c;
	struct host h;

	if (!src->ops->irq_cpu || !read_host(src, &h) || h.cpus < 2 ||
	    source_list(src, dev, ERDMA_DIAG_OBJ_EQ, 0, UINT32_MAX, look_at_irq, &all))
		return;
	if (all.n > 1 && all.one)
		found(f, RULE_IRQS_ONE_CPU, "n", text_u(c, all.n), "dev", dev_title(dev), "cpu",
		      text_u(c, (unsigned int)all.cpu), "cpus", text_u(c, h.cpus), NULL);
}

/* ---- owners ------------------------------------------------------------------- */

/* One that is above its limit has CAP_IPC_LOCK: for it there is none */
static void judge_pinned(struct inquiry *q, const struct dev *dev,
			 const struct erdma_diag_owner *owner, struct findings *f)
{
	struct source *src = &q->c->src;
	unsigned long long limit, pinned;
	struct process p;
	struct ctx *c = q->c;

	if (src->ops->process(src, dev, owner->pid, true, &p) || !process_may_pin(&p, &limit))
		return;
	pinned = process_pinned(&p);
	if (pinned > limit || pinned * 100 < limit * NEAR_PERCENT || !pinned)
		return;
	found(f, RULE_PINNED_NEAR, "who", text_owner(c, owner), "pinned", p.pinned, "max",
	      pool_printf(&c->pool, "%llu kB", limit / 1024), NULL);
}

static void judge_processes(struct inquiry *q, const struct dev *dev, struct findings *f)
{
	const struct erdma_diag_owner *owner;
	uint32_t seen[OWNERS_MAX];
	size_t i, k, n = 0;

	for (i = 0; i < q->n_qps; i++) {
		owner = &q->qps[i].qp.owner;
		if (q->qps[i].dev != dev || owner->kernel || !owner->pid)
			continue;
		for (k = 0; k < n && seen[k] != owner->pid; k++)
			;
		if (k < n)
			continue;
		if (n == OWNERS_MAX)
			break;
		seen[n++] = owner->pid;
		judge_pinned(q, dev, owner, f);
	}
	if (i < q->n_qps)
		ctx_note(q->c, "NOT_ASKED", dev_title(dev), "%s: the locked memory of %u processes "
			 "was looked at, and more have queue pairs", dev_title(dev), OWNERS_MAX);
}

/**
 * judge_surroundings - what the host has for a device
 * @q: inquiry
 * @dev: open device
 * @f: findings
 */
void judge_surroundings(struct inquiry *q, struct dev *dev, struct findings *f)
{
	if (dev->info.abi_flags & ERDMA_DIAG_ABI_LOG_OFF)
		found(f, RULE_RECORDERS_OFF, "dev", dev_title(dev), NULL);
	judge_irqs(q, dev, f);
	if (!q->only || q->only[RULE_PINNED_NEAR])
		judge_processes(q, dev, f);
}
