// SPDX-License-Identifier: GPL-2.0-or-later
/* The file itself and its devices; their objects are in snap_objects.c. */
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "erdma/erdma_snapshot.h"

#include "clock.h"
#include "decode.h"
#include "snap_take.h"

#define PORT 1

/**
 * take_lines - empty lines of a file
 * @t: file
 *
 * Return: for take_put_lines().
 */
struct snap_lines take_lines(const struct taking *t)
{
	return (struct snap_lines){ .pool = &t->c->pool, .redact = t->redact };
}

/**
 * take_put_lines - add a record of lines
 * @t: file
 * @type: ERDMA_SNAP_*
 * @dev: number of the device
 * @id: number of what it is about
 * @l: lines
 */
void take_put_lines(struct taking *t, uint16_t type, uint32_t dev, uint32_t id,
		    const struct snap_lines *l)
{
	const struct snap_key key = { .type = type, .dev = dev, .id = id };

	snap_put(t->out, &key, l->text ? l->text : "", l->len, NULL, 0);
}

/**
 * take_problem - something could not be taken
 * @t: file
 * @type: of the record that is missing
 * @dev: number of the device
 * @obj: kind of object, or ring
 * @id: its number
 * @err: negative error number
 */
void take_problem(struct taking *t, uint16_t type, uint32_t dev, uint32_t obj, uint32_t id, int err)
{
	const struct snap_key key = { .type = ERDMA_SNAP_PROBLEM, .dev = dev, .obj = obj, .id = id };
	struct snap_lines l = take_lines(t);

	lines_add(&l, FC_PLAIN, "type", "%u", type);
	lines_add(&l, FC_PLAIN, "errno", "%d", -err);
	lines_add(&l, FC_PLAIN, "code", "%s", errno_name(-err));
	if (err == -EPROTO && t->c->src.why)
		lines_add(&l, FC_PLAIN, "why", "%s", t->c->src.why);
	snap_put(t->out, &key, l.text, l.len, NULL, 0);
	t->problems++;
}

/* ---- the file --------------------------------------------------------------- */

static void add_module(struct taking *t, struct snap_lines *l)
{
	struct source *src = &t->c->src;
	char version[DEV_NAME_LEN] = "", release[128];
	int ret = src->ops->driver_version(src, version, sizeof(version));

	if (ret)
		lines_add(l, FC_PLAIN, "module_errno", "%d", -ret);
	else
		lines_add(l, FC_PLAIN, "module_version", "%s", version);
	if (src->ops->lockdown)
		lines_add(l, FC_PLAIN, "lockdown", "%d", src->ops->lockdown(src));
	if (src->ops->no_module && src->ops->no_module(src, release, sizeof(release)))
		lines_add(l, FC_PLAIN, "no_module", "%s", release);
	if (src->netlink_err)
		lines_add(l, FC_PLAIN, "netlink_errno", "%d", -src->netlink_err);
}

/* Who takes the file, where and when */
static void take_file(struct taking *t)
{
	struct snap_lines l = take_lines(t);
	struct utsname host = { 0 };

	uname(&host);
	lines_add(&l, FC_PLAIN, "tool", "eadm %s", EADM_VERSION);
	lines_add(&l, FC_PLAIN, "redact", "%s", redact_name(t->redact));
	lines_add(&l, FC_NAME, "host", "%s", host.nodename);
	lines_add(&l, FC_PLAIN, "kernel", "%s", host.release);
	lines_add(&l, FC_PLAIN, "machine", "%s", host.machine);
	lines_add(&l, FC_PLAIN, "chosen", "%d", t->qps || t->cqs);
	lines_add(&l, FC_PLAIN, "no_hw", "%d", t->c->opt.no_hw);
	lines_add(&l, FC_PLAIN, "euid_is_root", "%d", !geteuid());
	lines_add(&l, FC_PLAIN, "time_real_ns", "%llu",
		  (unsigned long long)t->c->src.ops->real_ns(&t->c->src));
	lines_add(&l, FC_PLAIN, "time_mono_ns", "%llu",
		  (unsigned long long)clock_ns(CLOCK_MONOTONIC));
	lines_add(&l, FC_PLAIN, "time_boot_ns", "%llu",
		  (unsigned long long)clock_ns(CLOCK_BOOTTIME));
	add_module(t, &l);
	take_put_lines(t, ERDMA_SNAP_FILE, ERDMA_SNAP_NO_DEV, 0, &l);
}

/* ---- a device --------------------------------------------------------------- */

static void put_device(struct taking *t, const struct dev *d, uint32_t dev)
{
	struct snap_lines l = take_lines(t);

	lines_add(&l, FC_PLAIN, "name", "%s", d->name);
	lines_add(&l, FC_PLAIN, "index", "%ld", d->index);
	lines_add(&l, FC_PLAIN, "pci", "%s", d->pci);
	lines_add(&l, FC_PLAIN, "driver", "%s", d->driver);
	lines_add(&l, FC_NAME, "netdev", "%s", d->netdev);
	lines_add(&l, FC_PLAIN, "node", "%s", d->node);
	lines_add(&l, FC_PLAIN, "state", "%d", d->state);
	lines_add(&l, FC_PLAIN, "errno", "%d", d->err);
	take_put_lines(t, ERDMA_SNAP_DEVICE, dev, 0, &l);
}

static void put_facts(struct taking *t, struct dev *d, uint32_t dev)
{
	struct snap_lines l = take_lines(t);
	struct dev_facts f;

	if (!d->name[0])
		return;
	lines_add(&l, FC_PLAIN, "good", "%d", t->c->src.ops->facts(&t->c->src, d, &f));
	lines_add(&l, FC_PLAIN, "driver_version", "%s", f.driver_version);
	lines_add(&l, FC_PLAIN, "fw", "%s", f.fw);
	lines_add(&l, FC_MAC, "node_guid", "%llu", (unsigned long long)f.node_guid);
	lines_add(&l, FC_PLAIN, "link", "%d", f.link);
	lines_add(&l, FC_PLAIN, "numa", "%d", f.numa);
	lines_add(&l, FC_PLAIN, "pci_rev", "%d", f.pci_rev);
	lines_add(&l, FC_PLAIN, "n_qp", "%ld", f.n_qp);
	lines_add(&l, FC_PLAIN, "n_cq", "%ld", f.n_cq);
	lines_add(&l, FC_PLAIN, "n_mr", "%ld", f.n_mr);
	lines_add(&l, FC_PLAIN, "n_pd", "%ld", f.n_pd);
	take_put_lines(t, ERDMA_SNAP_FACTS, dev, 0, &l);
}

static void add_counter(void *arg, const char *name, uint64_t value)
{
	lines_add(arg, FC_PLAIN, name, "%llu", (unsigned long long)value);
}

static void put_counters(struct taking *t, struct dev *d, uint32_t dev)
{
	struct snap_lines l = take_lines(t);
	int ret;

	if (!d->name[0])
		return;
	ret = t->c->src.ops->counters(&t->c->src, d, PORT, add_counter, &l);
	if (ret)
		take_problem(t, ERDMA_SNAP_COUNTERS, dev, 0, PORT, ret);
	else
		take_put_lines(t, ERDMA_SNAP_COUNTERS, dev, PORT, &l);
}

static void put_debug(struct taking *t, struct dev *d, uint32_t dev)
{
	const struct snap_key key = { .type = ERDMA_SNAP_DEBUG, .dev = dev };
	struct erdma_diag_debug dbg = { 0 };
	int ret = source_debug(&t->c->src, d, &dbg);

	if (ret)
		take_problem(t, ERDMA_SNAP_DEBUG, dev, 0, 0, ret);
	else
		snap_put(t->out, &key, &dbg, sizeof(dbg), NULL, 0);
}

struct netlink_list {
	struct taking *t;
	uint32_t dev;
	uint32_t obj;
	uint32_t n;
};

static void put_netlink_object(void *arg, const struct res *res)
{
	struct netlink_list *list = arg;
	struct taking *t = list->t;
	const struct snap_key key = { .type = ERDMA_SNAP_OBJECT, .dev = list->dev,
				      .obj = list->obj, .id = list->n++ };
	struct snap_lines l = take_lines(t);

	lines_add(&l, FC_PLAIN, "id", "%ld", res->id);
	lines_add(&l, FC_PLAIN, "type", "%u", res->type);
	lines_add(&l, FC_PLAIN, "state", "%u", res->state);
	lines_add(&l, FC_PLAIN, "pdn", "%ld", res->pdn);
	lines_add(&l, FC_PLAIN, "send_cqn", "%ld", res->send_cqn);
	lines_add(&l, FC_PLAIN, "recv_cqn", "%ld", res->recv_cqn);
	lines_add(&l, FC_PLAIN, "depth", "%ld", res->depth);
	lines_add(&l, FC_PID, "pid", "%u", res->pid);
	lines_add(&l, FC_COMM, "comm", "%s", res->comm);
	snap_put(t->out, &key, l.text, l.len, NULL, 0);
}

/* Where there is no node */
static void take_netlink(struct taking *t, struct dev *d, uint32_t dev)
{
	static const struct {
		enum res_kind kind;
		uint32_t obj;
	} kinds[] = { { RES_QP, ERDMA_DIAG_OBJ_QP }, { RES_CQ, ERDMA_DIAG_OBJ_CQ } };
	struct netlink_list list = { .t = t, .dev = dev };
	size_t i;
	int ret;

	for (i = 0; i < COUNT_OF(kinds); i++) {
		list.obj = kinds[i].obj;
		list.n = 0;
		ret = t->c->src.ops->objects(&t->c->src, d, kinds[i].kind, put_netlink_object,
					     &list);
		if (ret)
			take_problem(t, ERDMA_SNAP_OBJECT, dev, list.obj, 0, ret);
	}
}

/* What needs the node */
static int take_node(struct taking *t, struct dev *d, uint32_t dev)
{
	const struct snap_key key = { .type = ERDMA_SNAP_INFO, .dev = dev };
	int ret = source_open_dev(&t->c->src, d);

	if (ret) {
		take_problem(t, ERDMA_SNAP_INFO, dev, 0, 0, ret);
		t->problems -= ret == -ENOENT || ret == -ENXIO;
		take_netlink(t, d, dev);
		return ret;
	}
	snap_put(t->out, &key, &d->info, sizeof(d->info), NULL, 0);
	put_debug(t, d, dev);
	take_objects(t, d, dev);
	return 0;
}

/* All that can be had of an adapter, in whatever state */
static int take_device(struct ctx *c, struct dev *d, void *arg)
{
	struct taking *t = arg;
	uint32_t dev = t->n_devs++;
	int ret = 0;

	put_device(t, d, dev);
	put_facts(t, d, dev);
	put_counters(t, d, dev);
	take_host(t, d, dev);
	if (d->state == DEV_OK)
		ret = take_node(t, d, dev);
	else if (d->name[0])
		take_netlink(t, d, dev);
	put_counters(t, d, dev);
	take_host(t, d, dev);
	/* Without the node, as in a container, the file has what netlink knows */
	if (!ret || ret == -ENOENT || ret == -ENXIO)
		return 0;
	return ctx_call_failed(c, d, ret, TARGET_DEV, 0);
}

/**
 * take_all - write a snapshot file
 * @t: what is wanted; on return what it became
 * @path: file; NULL: in memory
 *
 * Return: 0, or a negative error number after reporting it: there is no file then.
 */
int take_all(struct taking *t, const char *path)
{
	struct ctx *c = t->c;
	int err, ret;

	t->out = snap_create(&c->pool, path, t->redact, &err);
	if (!t->out)
		return ctx_problem(c, err, NULL, err == EEXIST ? "only a regular file is replaced." :
				   NULL, "cannot write %s: %s", path ? path : "to memory",
				   strerror(err));
	take_file(t);
	take_system(t);
	ret = ctx_each_dev(c, DEVS_MANY | DEVS_ANY, take_device, t);
	if (!t->n_devs) {
		snap_abort(t->out);
		return ret;
	}
	err = snap_finish(t->out);
	if (err)
		return ctx_problem(c, err, NULL, NULL, "cannot write %s: %s",
				   path ? path : "to memory", strerror(err));
	if (t->problems && redact_level(t->redact) == REDACT_NONE)
		ctx_problem_exit(c, EX_PARTIAL, ENODATA, NULL,
				 "run as root; 'eadm --from FILE' says of each object why.",
				 "not taken: %u", t->problems);
	return 0;
}
