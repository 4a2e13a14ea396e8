// SPDX-License-Identifier: GPL-2.0-or-later
/* A source whose adapters are in the file $EADM_SCENARIO. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "source.h"

#include "fake_diag.h"

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

static int fake_devices(struct source *src)
{
	const char *path = getenv("EADM_SCENARIO");
	struct dev **tail = &src->devs, *d;
	json_object *a;
	size_t i;

	if (!path)
		return -ENOENT;
	src->priv = fake_load(path);
	for (i = 0; (a = fake_adapter(src->priv, i)); i++) {
		d = *tail = pool_alloc(src->pool, sizeof(*d));
		tail = &d->next;
		d->fd = -1;
		d->index = (long)fake_number(a, "index", (uint64_t)-1);
		set_string(d->name, sizeof(d->name), a, "name");
		set_string(d->pci, sizeof(d->pci), a, "pci");
		set_string(d->driver, sizeof(d->driver), a, "driver");
		set_string(d->netdev, sizeof(d->netdev), a, "netdev");
		set_string(d->node, sizeof(d->node), a, "node");
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

static int source_fake_counters(struct source *src, struct dev *dev, unsigned int port,
				counter_fn fn, void *arg)
{
	(void)port;
	if (src->netlink_err)
		return src->netlink_err;
	return fake_counters(src->priv, number_of(src, dev), fn, arg);
}

static bool fake_lockdown(struct source *src)
{
	(void)src;
	return getenv("EADM_FAKE_LOCKDOWN") != NULL;
}

static void fake_close(struct source *src)
{
	if (src->priv)
		fake_free(src->priv);
	src->priv = NULL;
}

const struct source_ops source_backend = {
	.kind = "fake",
	.devices = fake_devices,
	.open = fake_open,
	.call = source_fake_call,
	.counters = source_fake_counters,
	.lockdown = fake_lockdown,
	.close = fake_close,
};
