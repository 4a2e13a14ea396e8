// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RDMA devices of other drivers: names from sysfs, the rest from rdma netlink. There is no
 * node, and nothing that is peculiar to a driver.
 */
#include <dirent.h>
#include <limits.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "root.h"
#include "source_other.h"

#define CLASS		"class/infiniband"
#define PORTS_MAX	254	/* of the InfiniBand specification */

/* ---- sysfs -------------------------------------------------------------------- */

static bool is_adapters(const struct source *src, const char *name)
{
	const struct dev *d;

	for (d = src->devs; d; d = d->next)
		if (!strcmp(d->name, name))
			return true;
	return false;
}

static int is_name(const struct dirent *e)
{
	return e->d_name[0] != '.' && strlen(e->d_name) < DEV_NAME_LEN;
}

static bool is_pci_address(const char *s)
{
	unsigned int domain, bus, slot, function;
	int end = 0;

	return sscanf(s, "%x:%x:%x.%x%n", &domain, &bus, &slot, &function, &end) == 4 && !s[end];
}

/* The function that the device belongs to, and its driver */
static void read_parent(struct dev *dev)
{
	char dir[PATH_MAX], name[DEV_NAME_LEN];

	snprintf(dir, sizeof(dir), "%s/" CLASS "/%s", root_sysfs(), dev->name);
	if (!path_target(dir, "device", name, sizeof(name)))
		return;
	if (is_pci_address(name) && strlen(name) < sizeof(dev->pci))
		strcpy(dev->pci, name);
	path_target(dir, "device/driver", dev->driver, sizeof(dev->driver));
}

static struct dev *new_other(struct source *src, const char *name)
{
	struct dev *dev = pool_alloc(src->pool, sizeof(*dev));

	*dev = (struct dev){ .index = -1, .fd = -1, .ports = 1, .state = DEV_OTHER };
	strcpy(dev->name, name);
	read_parent(dev);
	return dev;
}

/* ---- netlink ------------------------------------------------------------------ */

static void take_index(void *arg, uint32_t index, const char *name)
{
	struct source *src = arg;
	struct dev *d;

	for (d = src->others; d; d = d->next)
		if (!strcmp(d->name, name))
			d->index = index;
}

/*
 * Software devices: what sysfs has as their parent, if anything, is that of the interface
 * below. Names are those of modules, as those of PCI drivers mostly are.
 */
static void set_software(struct dev *dev, int driver_id)
{
	static const struct {
		int id;
		const char *name;
	} drivers[] = { { RDMA_DRIVER_RXE, "rdma_rxe" }, { RDMA_DRIVER_SIW, "siw" } };
	size_t i;

	for (i = 0; i < COUNT_OF(drivers); i++)
		if (drivers[i].id == driver_id) {
			strcpy(dev->driver, drivers[i].name);
			dev->pci[0] = '\0';
		}
	if (driver_id == RDMA_DRIVER_ERDMA && !dev->driver[0])
		strcpy(dev->driver, "erdma");
}

static void ask_netlink(struct dev *dev, struct nl_rdma *nl)
{
	uint32_t index = (uint32_t)dev->index;

	nl_rdma_netdev(nl, index, dev->netdev, sizeof(dev->netdev));
	nl_rdma_ports(nl, index, &dev->ports);
	if (dev->ports > PORTS_MAX)
		dev->ports = PORTS_MAX;
	/* Asking must not load the module */
	if (path_exists(root_sysfs(), "class/infiniband_verbs"))
		set_software(dev, nl_rdma_driver_id(nl, index));
}

/* A device that netlink does not show belongs to another network namespace, or is gone */
static void drop_hidden(struct source *src)
{
	struct dev **d = &src->others;

	while (*d)
		if ((*d)->index < 0)
			*d = (*d)->next;
		else
			d = &(*d)->next;
}

/**
 * others_find - fill the list of RDMA devices of other drivers
 * @src: source that has its adapters
 * @nl: connection, NULL: rdma netlink is of no use, names and counters are all there is
 */
void others_find(struct source *src, struct nl_rdma *nl)
{
	struct dev **tail = &src->others, *d;
	struct dirent **entries;
	char dir[PATH_MAX];
	int i, n;

	if (!path_join(dir, sizeof(dir), root_sysfs(), CLASS))
		return;
	n = scandir(dir, &entries, is_name, alphasort);
	for (i = 0; i < n; i++) {
		if (!is_adapters(src, entries[i]->d_name)) {
			*tail = new_other(src, entries[i]->d_name);
			tail = &(*tail)->next;
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	if (!nl || !src->others || nl_rdma_devices(nl, take_index, src))
		return;
	drop_hidden(src);
	for (d = src->others; d; d = d->next)
		ask_netlink(d, nl);
}

/* ---- facts -------------------------------------------------------------------- */

/**
 * other_facts - what sysfs knows of a device of another driver
 * @dev: device
 * @facts: version of its driver and firmware are filled in
 */
void other_facts(const struct dev *dev, struct dev_facts *facts)
{
	char dir[PATH_MAX];

	if (dev->driver[0]) {
		snprintf(dir, sizeof(dir), "%s/module/%s", root_sysfs(), dev->driver);
		path_line(dir, "version", facts->driver_version, sizeof(facts->driver_version));
	}
	snprintf(dir, sizeof(dir), "%s/" CLASS "/%s", root_sysfs(), dev->name);
	path_line(dir, "fw_ver", facts->fw, sizeof(facts->fw));
}
