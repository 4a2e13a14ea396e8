// SPDX-License-Identifier: GPL-2.0-or-later
/* A source whose adapters are in the file $EADM_SCENARIO. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source.h"

#include "fake_diag.h"

#define FAKE_BOOT_NS	100000000000ULL

static void set_string(char *to, size_t size, json_object *o, const char *key)
{
	const char *s = fake_string(o, key);

	if (s)
		strncpy(to, s, size - 1);
}

static enum dev_state state_of(const struct dev *d)
{
	return d->node[0] ? DEV_OK : d->name[0] ? DEV_NO_NODE : d->driver[0] ? DEV_NO_RDMA :
	       DEV_NO_DRIVER;
}

/* With $EADM_FAKE_ONE all sources of a run are one: its time goes on */
static struct fake *one_fake;

static int fake_begin(struct source *src)
{
	const char *path = getenv("EADM_SCENARIO");

	if (!path)
		return -ENOENT;
	if (!src->priv)
		src->priv = one_fake ? one_fake : fake_load(path);
	if (getenv("EADM_FAKE_ONE"))
		one_fake = src->priv;
	return 0;
}

static struct dev *new_dev(struct source *src, json_object *a)
{
	struct dev *d = pool_alloc(src->pool, sizeof(*d));

	d->fd = -1;
	d->index = (long)fake_number(a, "index", (uint64_t)-1);
	set_string(d->name, sizeof(d->name), a, "name");
	set_string(d->pci, sizeof(d->pci), a, "pci");
	set_string(d->driver, sizeof(d->driver), a, "driver");
	set_string(d->netdev, sizeof(d->netdev), a, "netdev");
	set_string(d->node, sizeof(d->node), a, "node");
	return d;
}

static void fake_others(struct source *src)
{
	struct dev **tail = &src->others, *d;
	json_object *a;
	size_t i;

	for (i = 0; (a = fake_other(src->priv, i)); i++) {
		d = *tail = new_dev(src, a);
		tail = &d->next;
		d->state = DEV_OTHER;
		d->ports = (unsigned int)fake_number(a, "ports", 1);
	}
}

static int fake_devices(struct source *src)
{
	struct dev **tail = &src->devs, *d;
	json_object *a;
	size_t i;

	if (fake_begin(src))
		return -ENOENT;
	fake_others(src);
	for (i = 0; (a = fake_adapter(src->priv, i)); i++) {
		d = *tail = new_dev(src, a);
		tail = &d->next;
		d->state = state_of(d);
		if (fake_string(a, "netlink_errno"))
			src->netlink_err = -fake_errno(fake_string(a, "netlink_errno"));
	}
	return 0;
}

static size_t number_of(const struct source *src, const struct dev *dev)
{
	const struct dev *d;
	size_t n = 0;

	for (d = src->devs; d != dev; d = d->next)
		n++;
	return n;
}

/* The member of the scenario that a device is made of */
static json_object *object_of(struct source *src, const struct dev *dev)
{
	const struct dev *d;
	size_t n = 0;

	if (dev->state != DEV_OTHER)
		return fake_adapter(src->priv, number_of(src, dev));
	for (d = src->others; d != dev; d = d->next)
		n++;
	return fake_other(src->priv, n);
}

static int fake_open(struct source *src, struct dev *dev)
{
	const char *err = fake_string(fake_adapter(src->priv, number_of(src, dev)), "open_errno");

	if (err)
		return -fake_errno(err);
	dev->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return dev->fd < 0 ? -errno : 0;
}

static int source_fake_call(struct source *src, struct dev *dev, unsigned int cmd, void *arg)
{
	return fake_call(src->priv, number_of(src, dev), cmd, arg);
}

static int fake_reset(struct source *src, struct dev *dev)
{
	json_object *a = fake_adapter(src->priv, number_of(src, dev));
	const char *err = fake_string(a, "reset_errno");

	usleep((useconds_t)(1000 * fake_number(a, "reset_ms", 0)));
	return err ? -fake_errno(err) : 0;
}

static int source_fake_counters(struct source *src, struct dev *dev, unsigned int port,
				counter_fn fn, void *arg)
{
	json_object *a = object_of(src, dev);
	char member[32] = "counters";

	if (src->netlink_err)
		return src->netlink_err;
	if (port > 1)
		snprintf(member, sizeof(member), "counters%u", port);
	return fake_counters(a, member, fn, arg);
}

static int fake_driver_version(struct source *src, char *out, size_t size)
{
	const char *v;

	if (fake_begin(src))
		return -ENOENT;
	v = fake_string(fake_adapter(src->priv, 0), "module_version");
	if (!v)
		return -ENOENT;
	snprintf(out, size, "%s", v);
	return *v ? 0 : -ENODATA;
}

/* The member "netlink" of an adapter: what can be known without its node */
static json_object *netlink_of(struct source *src, const struct dev *dev)
{
	json_object *o = NULL;

	json_object_object_get_ex(object_of(src, dev), "netlink", &o);
	return o;
}

static bool fake_facts(struct source *src, const struct dev *dev, struct dev_facts *facts)
{
	json_object *o = netlink_of(src, dev);

	*facts = (struct dev_facts){ .link = -1, .numa = -1, .pci_rev = -1, .n_qp = -1,
				     .n_cq = -1, .n_mr = -1, .n_pd = -1 };
	if (!o)
		return false;
	if (dev->state == DEV_OTHER)
		set_string(facts->driver_version, sizeof(facts->driver_version), o,
			   "driver_version");
	else
		fake_driver_version(src, facts->driver_version, sizeof(facts->driver_version));
	set_string(facts->fw, sizeof(facts->fw), o, "fw");
	facts->node_guid = fake_number(o, "node_guid", 0);
	facts->link = (int)fake_number(o, "link", (uint64_t)-1);
	facts->numa = (int)fake_number(o, "numa", (uint64_t)-1);
	facts->pci_rev = (int)fake_number(o, "pci_rev", (uint64_t)-1);
	facts->n_qp = (long)fake_number(o, "n_qp", (uint64_t)-1);
	facts->n_cq = (long)fake_number(o, "n_cq", (uint64_t)-1);
	facts->n_mr = (long)fake_number(o, "n_mr", (uint64_t)-1);
	facts->n_pd = (long)fake_number(o, "n_pd", (uint64_t)-1);
	return true;
}

static bool fake_has(json_object *o, const char *key, uint64_t *v)
{
	*v = fake_number(o, key, 0);
	return json_object_object_get_ex(o, key, NULL);
}

static int fake_objects(struct source *src, const struct dev *dev, enum res_kind kind,
			res_fn fn, void *arg)
{
	static const char *const names[] = { "qp", "cq", "mr" };
	json_object *list, *o;
	struct res res;
	size_t i;

	if (!json_object_object_get_ex(netlink_of(src, dev), names[kind], &list))
		return -ENODEV;
	for (i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		res = (struct res){ .id = (long)fake_number(o, "id", (uint64_t)-1) };
		res.send_cqn = (long)fake_number(o, "send_cqn", (uint64_t)-1);
		res.recv_cqn = (long)fake_number(o, "recv_cqn", (uint64_t)-1);
		res.core_id = (long)fake_number(o, "core_id", (uint64_t)-1);
		res.remote_qpn = (long)fake_number(o, "remote_qpn", (uint64_t)-1);
		res.lkey = (int64_t)fake_number(o, "lkey", (uint64_t)-1);
		res.rkey = (int64_t)fake_number(o, "rkey", (uint64_t)-1);
		res.has_length = fake_has(o, "length", &res.length);
		res.has_iova = fake_has(o, "iova", &res.iova);
		res.type = (uint8_t)fake_number(o, "type", 0);
		res.state = (uint8_t)fake_number(o, "state", 0);
		res.pdn = (long)fake_number(o, "pdn", (uint64_t)-1);
		res.depth = (long)fake_number(o, "depth", (uint64_t)-1);
		res.pid = (uint32_t)fake_number(o, "pid", 0);
		set_string(res.comm, sizeof(res.comm), o, "comm");
		fn(arg, &res);
	}
	return 0;
}

static void set_number(uint64_t *to, json_object *o, const char *key)
{
	*to = fake_number(o, key, 0);
}

static int fake_process(struct source *src, const struct dev *dev, uint32_t pid, bool newest,
			struct process *out)
{
	json_object *list, *o;
	const char *state;
	size_t i;

	(void)newest;
	*out = (struct process){ 0 };
	if (!json_object_object_get_ex(fake_adapter(src->priv, number_of(src, dev)), "proc", &list))
		return -ENOENT;
	for (i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		if (fake_number(o, "pid", 0) != pid)
			continue;
		state = fake_string(o, "state");
		out->state = state ? state[0] : 'S';
		out->threads = (unsigned int)fake_number(o, "threads", 1);
		set_string(out->comm, sizeof(out->comm), o, "comm");
		set_string(out->cgroup, sizeof(out->cgroup), o, "cgroup");
		set_string(out->pinned, sizeof(out->pinned), o, "pinned");
		set_string(out->limits, sizeof(out->limits), o, "locked_limits");
		set_number(&out->utime, o, "utime");
		set_number(&out->stime, o, "stime");
		set_number(&out->held_us, o, "held_us");
		set_number(&out->net_ns, o, "net_ns");
		set_number(&out->pid_ns, o, "pid_ns");
		return 0;
	}
	return -ENOENT;
}

static int fake_addresses(struct source *src, const struct dev *dev)
{
	return (int)fake_number(fake_adapter(src->priv, number_of(src, dev)), "addresses",
				(uint64_t)-ENODATA);
}

/* Time that was let pass */
static uint64_t passed_ns;

/* At once, or in steps of $EADM_FAKE_STEP_MS, each of which stands for all of @ns */
static void fake_pass(struct source *src, uint64_t ns)
{
	const char *step = getenv("EADM_FAKE_STEP_MS");

	if (step)
		usleep((useconds_t)(1000 * atoi(step)));
	passed_ns += ns;
	if (src->priv || one_fake)
		fake_next(src->priv ? src->priv : one_fake);
}

static uint64_t fake_mono_ns(const struct source *src)
{
	(void)src;
	return FAKE_BOOT_NS + passed_ns;
}

static bool fake_lockdown(struct source *src)
{
	(void)src;
	return getenv("EADM_FAKE_LOCKDOWN") != NULL;
}

static bool fake_no_module(struct source *src, char *release, size_t size)
{
	const char *s = getenv("EADM_FAKE_NO_MODULE");

	(void)src;
	snprintf(release, size, "%s", s ? s : "");
	return s != NULL;
}

/* The member "host" of the first adapter */
static json_object *host_of(struct source *src)
{
	json_object *o = NULL;

	if (!fake_begin(src))
		json_object_object_get_ex(fake_adapter(src->priv, 0), "host", &o);
	return o;
}

static int fake_host(struct source *src, struct host *out)
{
	json_object *o = host_of(src);

	if (!o)
		return -ENODATA;
	*out = (struct host){ .is_loaded = fake_number(o, "loaded", 0),
			      .dkms = fake_number(o, "dkms", 0),
			      .headers = fake_number(o, "headers", 0),
			      .libibverbs = fake_number(o, "libibverbs", 0),
			      .provider = fake_number(o, "provider", 0),
			      .rdma_core = (unsigned int)fake_number(o, "rdma_core", 0),
			      .exclusive = (int)fake_number(o, "exclusive", (uint64_t)-1),
			      .cpus = (unsigned int)fake_number(o, "cpus", 0) };
	set_string(out->release, sizeof(out->release), o, "release");
	set_string(out->loaded.version, sizeof(out->loaded.version), o, "version");
	set_string(out->loaded.srcversion, sizeof(out->loaded.srcversion), o, "srcversion");
	set_string(out->disk.version, sizeof(out->disk.version), o, "disk_version");
	set_string(out->disk.srcversion, sizeof(out->disk.srcversion), o, "disk_srcversion");
	set_string(out->disk_path, sizeof(out->disk_path), o, "disk_path");
	if (fake_string(o, "compat_mode"))
		out->compat_mode = fake_string(o, "compat_mode")[0];
	return 0;
}

/* "irq_cpu": interrupt to CPU; one that is not there has several */
static int fake_irq_cpu(struct source *src, const struct dev *dev, unsigned int irq)
{
	json_object *map;
	char key[16];

	(void)dev;
	if (!json_object_object_get_ex(host_of(src), "irq_cpu", &map))
		return -ENODATA;
	snprintf(key, sizeof(key), "%u", irq);
	return (int)fake_number(map, key, (uint64_t)-ERANGE);
}

static int fake_holders(struct source *src, const struct dev *dev, holder_fn fn, void *arg)
{
	json_object *list, *o;
	size_t i;

	if (!json_object_object_get_ex(fake_adapter(src->priv, number_of(src, dev)), "holders",
				       &list))
		return -ENODATA;
	for (i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		fn(arg, (uint32_t)fake_number(o, "pid", 0), fake_string(o, "comm"));
	}
	return 0;
}

static void fake_close(struct source *src)
{
	if (src->priv && src->priv != one_fake)
		fake_free(src->priv);
	src->priv = NULL;
}

static uint64_t fake_real_ns(struct source *src)
{
	(void)src;
	return 1795222108123456789ULL + passed_ns;
}

const struct source_ops source_backend = {
	.kind = "fake",
	.devices = fake_devices,
	.open = fake_open,
	.call = source_fake_call,
	.reset = fake_reset,
	.counters = source_fake_counters,
	.driver_version = fake_driver_version,
	.real_ns = fake_real_ns,
	.mono_ns = fake_mono_ns,
	.facts = fake_facts,
	.objects = fake_objects,
	.process = fake_process,
	.addresses = fake_addresses,
	.pass = fake_pass,
	.lockdown = fake_lockdown,
	.no_module = fake_no_module,
	.host = fake_host,
	.irq_cpu = fake_irq_cpu,
	.holders = fake_holders,
	.close = fake_close,
};
