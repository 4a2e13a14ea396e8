// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The real source: adapters from sysfs, names and nodes from rdma netlink, calls
 * by ioctl. The only file with an ioctl.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "erdma/erdma_hw.h"

#include "clock.h"
#include "holders.h"
#include "host.h"
#include "ifaddr.h"
#include "proc.h"
#include "root.h"
#include "source.h"
#include "source_other.h"

#define NODE_TYPE "erdma_diag"

/* ---- adapters, from sysfs ----------------------------------------------- */

static bool read_hex(const char *dir, const char *file, unsigned int *value)
{
	char path[PATH_MAX];
	FILE *f;
	int n;

	if (!path_join(path, sizeof(path), dir, file))
		return false;
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fscanf(f, "%x", value);
	fclose(f);
	return n == 1;
}

/* First entry of a directory, in no particular order: there is one */
static bool first_entry(const char *dir, const char *sub, char *name, size_t size)
{
	char path[PATH_MAX];
	struct dirent *e;
	bool found = false;
	DIR *d;

	if (!path_join(path, sizeof(path), dir, sub))
		return false;
	d = opendir(path);
	if (!d)
		return false;
	while (!found && (e = readdir(d)))
		if (e->d_name[0] != '.' && strlen(e->d_name) < size) {
			strcpy(name, e->d_name);
			found = true;
		}
	closedir(d);
	return found;
}

/* "erdma!diag0", as the kernel writes a name with a slash */
static void unbang(char *name)
{
	for (; *name; name++)
		if (*name == '!')
			*name = '/';
}

/* The node below the adapter, for kernels whose netlink does not report it */
static void find_node_sysfs(struct dev *dev, const char *dir)
{
	char sub[DEV_NAME_LEN + 32], name[DEV_NAME_LEN];

	snprintf(sub, sizeof(sub), "infiniband/%s/%s", dev->name, NODE_TYPE);
	if (!first_entry(dir, NODE_TYPE, name, sizeof(name)) &&
	    !first_entry(dir, sub, name, sizeof(name)))
		return;
	unbang(name);
	if (!path_join(dev->node, sizeof(dev->node), root_dev(), name))
		dev->node[0] = '\0';
}

static struct dev *add_adapter(struct source *src, const char *dir, const char *pci)
{
	struct dev *dev = pool_alloc(src->pool, sizeof(*dev));

	dev->index = -1;
	dev->fd = -1;
	strcpy(dev->pci, pci);
	path_target(dir, "driver", dev->driver, sizeof(dev->driver));
	first_entry(dir, "infiniband", dev->name, sizeof(dev->name));
	dev->state = dev->name[0] ? DEV_NO_NODE : dev->driver[0] ? DEV_NO_RDMA : DEV_NO_DRIVER;
	if (dev->name[0])
		find_node_sysfs(dev, dir);
	return dev;
}

static bool is_adapter(const char *bus, const char *name, char *dir, size_t size)
{
	unsigned int vendor, device;

	return name[0] != '.' && strlen(name) < sizeof(((struct dev *)NULL)->pci) &&
	       path_join(dir, size, bus, name) &&
	       read_hex(dir, "vendor", &vendor) && vendor == ERDMA_PCI_VENDOR_ID &&
	       read_hex(dir, "device", &device) && device == ERDMA_PCI_DEVICE_ID;
}

static int by_address(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int find_adapters(struct source *src)
{
	char bus[PATH_MAX], dir[PATH_MAX];
	struct dev **tail = &src->devs;
	struct dirent **entries;
	int i, n;

	if (!path_join(bus, sizeof(bus), root_sysfs(), "bus/pci/devices"))
		return -ENAMETOOLONG;
	n = scandir(bus, &entries, NULL, by_address);
	if (n < 0)
		return errno == ENOENT ? 0 : -errno;
	for (i = 0; i < n; i++) {
		if (is_adapter(bus, entries[i]->d_name, dir, sizeof(dir))) {
			*tail = add_adapter(src, dir, entries[i]->d_name);
			tail = &(*tail)->next;
		}
		free(entries[i]);
	}
	free(entries);
	return 0;
}

/* ---- names and nodes, from netlink -------------------------------------- */

static void on_device(void *arg, uint32_t index, const char *name)
{
	struct source *src = arg;
	struct dev *d;

	for (d = src->devs; d; d = d->next)
		if (!strcmp(d->name, name))
			d->index = index;
}

/* dev_t as the kernel encodes it for user space */
static dev_t decode_rdev(uint64_t v)
{
	return makedev((v >> 8) & 0xfff, (v & 0xff) | ((v >> 12) & 0xfff00));
}

static bool is_node(const char *path, dev_t rdev)
{
	struct stat st;

	return !stat(path, &st) && S_ISCHR(st.st_mode) && st.st_rdev == rdev;
}

/* A node by the name the kernel gave it, below /dev or /dev/erdma */
static void find_node(struct dev *dev, const char *name, uint64_t rdev)
{
	char base[DEV_NAME_LEN + 8], path[DEV_PATH_LEN];
	const char *last;

	strcpy(base, name);
	unbang(base);
	dev->rdev = rdev;
	if (!path_join(dev->node, sizeof(dev->node), root_dev(), base) ||
	    is_node(dev->node, decode_rdev(rdev)))
		return;
	last = strrchr(base, '/');
	snprintf(base, sizeof(base), "erdma/%s", last ? name + (last + 1 - base) : name);
	if (path_join(path, sizeof(path), root_dev(), base) && is_node(path, decode_rdev(rdev)))
		strcpy(dev->node, path);
}

static void ask_netlink(struct source *src, struct nl_rdma *nl)
{
	char name[DEV_NAME_LEN];
	uint64_t rdev;
	struct dev *d;
	int ret;

	src->netlink_err = nl_rdma_devices(nl, on_device, src);
	for (d = src->devs; d; d = d->next) {
		if (d->index < 0)
			continue;
		nl_rdma_netdev(nl, (uint32_t)d->index, d->netdev, sizeof(d->netdev));
		ret = nl_rdma_chardev(nl, (uint32_t)d->index, NODE_TYPE, name, sizeof(name),
				      &rdev);
		if (!ret)
			find_node(d, name, rdev);
		else
			d->err = -ret;
	}
}

static int kernel_devices(struct source *src)
{
	struct nl_rdma *nl;
	struct dev *d;
	int ret;

	ret = find_adapters(src);
	if (ret)
		return ret;
	nl = src->priv ? src->priv : nl_rdma_open(src->timeout_ms, &src->netlink_err);
	src->priv = nl;
	if (nl)
		ask_netlink(src, nl);
	others_find(src, src->netlink_err ? NULL : nl);
	for (d = src->devs; d; d = d->next)
		if (d->node[0])
			d->state = DEV_OK;
	return 0;
}

static void kernel_close(struct source *src)
{
	nl_rdma_close(src->priv);
	src->priv = NULL;
}

/* ---- calls -------------------------------------------------------------- */

static int kernel_open(struct source *src, struct dev *dev)
{
	struct stat st;

	(void)src;
	/* Enough for every call: the driver asks for capabilities. A group may only read. */
	dev->fd = open(dev->node, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (dev->fd < 0)
		return -errno;
	if (secure_getenv("EADM_DEVROOT"))
		return 0;
	/* The name is only a name: what was opened must be the node */
	if (fstat(dev->fd, &st) || !S_ISCHR(st.st_mode) ||
	    (dev->rdev && st.st_rdev != decode_rdev(dev->rdev))) {
		close(dev->fd);
		dev->fd = -1;
		return -ENXIO;
	}
	return 0;
}

static int kernel_call(struct source *src, struct dev *dev, unsigned int cmd, void *arg)
{
	(void)src;
	return ioctl(dev->fd, cmd, arg) < 0 ? -errno : 0;
}

static int kernel_reset(struct source *src, struct dev *dev)
{
	char path[PATH_MAX];
	int fd, ret;

	(void)src;
	snprintf(path, sizeof(path), "%s/bus/pci/devices/%s/reset", root_sysfs(), dev->pci);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = write(fd, "1", 1) == 1 ? 0 : -errno;
	close(fd);
	return ret;
}

static int netlink_counters(struct source *src, struct dev *dev, unsigned int port,
			    counter_fn fn, void *arg)
{
	char name[DEV_NAME_LEN];
	int ret;

	ret = nl_rdma_counters(src->priv, (uint32_t)dev->index, port, fn, arg);
	/* Netlink has the same answer for no such device and for no counters */
	if (ret == -EINVAL)
		ret = nl_rdma_netdev(src->priv, (uint32_t)dev->index, name, sizeof(name)) ?
		      -ENODEV : -EOPNOTSUPP;
	return ret;
}

static int counter_file(const struct dirent *e)
{
	return e->d_name[0] != '.' && strcmp(e->d_name, "lifespan");
}

/* Counters that have a file each */
static int sysfs_counters(const char *dir, counter_fn fn, void *arg)
{
	struct dirent **entries;
	unsigned long long v;
	char line[32], *end;
	int i, n;

	n = scandir(dir, &entries, counter_file, by_address);
	if (n < 0)
		return -errno;
	for (i = 0; i < n; i++) {
		if (path_line(dir, entries[i]->d_name, line, sizeof(line))) {
			v = strtoull(line, &end, 10);
			if (end != line && !*end)
				fn(arg, entries[i]->d_name, v);
		}
		free(entries[i]);
	}
	free(entries);
	return 0;
}

/* The same counters as rdma netlink has, where that is of no use */
static int port_counters(const struct source *src, const struct dev *dev, unsigned int port,
			 counter_fn fn, void *arg)
{
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%s/class/infiniband/%s/ports/%u/hw_counters", root_sysfs(),
		 dev->name, port);
	if (!sysfs_counters(dir, fn, arg))
		return 0;
	return src->netlink_err ? src->netlink_err : -ENODEV;
}

/* Counters that the InfiniBand specification has for each port; some drivers have them, too */
static int standard_counters(const struct dev *dev, unsigned int port, counter_fn fn, void *arg)
{
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%s/class/infiniband/%s/ports/%u/counters", root_sysfs(),
		 dev->name, port);
	return sysfs_counters(dir, fn, arg);
}

/* Those of the RDMA device are not in rdma netlink; not every driver has some */
static int device_counters(const struct dev *dev, counter_fn fn, void *arg)
{
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%s/class/infiniband/%s/hw_counters", root_sysfs(), dev->name);
	return sysfs_counters(dir, fn, arg);
}

static int kernel_counters(struct source *src, struct dev *dev, unsigned int port,
			   counter_fn fn, void *arg)
{
	bool known = src->priv && dev->index >= 0, other = dev->state == DEV_OTHER, more = false;
	int ret;

	if (known)
		ret = netlink_counters(src, dev, port, fn, arg);
	else
		ret = port_counters(src, dev, port, fn, arg);
	if (other)
		more = !standard_counters(dev, port, fn, arg);
	/* A device of another driver may have only one kind of them */
	if (ret && !(other && (ret == -EOPNOTSUPP || !known)))
		return ret;
	if (!src->port_only && port == 1)
		more |= !device_counters(dev, fn, arg);
	return more ? 0 : ret;
}

/* ---- without the node --------------------------------------------------- */

static int kernel_driver_version(struct source *src, char *out, size_t size)
{
	char dir[PATH_MAX];

	(void)src;
	if (!path_join(dir, sizeof(dir), root_sysfs(), "module/erdma") || access(dir, F_OK))
		return -ENOENT;
	return path_line(dir, "version", out, size) ? 0 : -ENODATA;
}

static bool kernel_facts(struct source *src, const struct dev *dev, struct dev_facts *facts)
{
	char dir[PATH_MAX], line[32];
	unsigned int rev;

	*facts = (struct dev_facts){ .link = -1, .numa = -1, .pci_rev = -1, .n_qp = -1,
				     .n_cq = -1, .n_mr = -1, .n_pd = -1 };
	if (dev->state == DEV_OTHER)
		other_facts(dev, facts);
	else
		kernel_driver_version(src, facts->driver_version, sizeof(facts->driver_version));
	snprintf(dir, sizeof(dir), "%s/bus/pci/devices/%s", root_sysfs(), dev->pci);
	if (dev->pci[0] && path_line(dir, "numa_node", line, sizeof(line)))
		facts->numa = atoi(line);
	if (dev->pci[0] && read_hex(dir, "revision", &rev))
		facts->pci_rev = (int)rev;
	if (!src->priv || dev->index < 0)
		return false;
	return !nl_rdma_facts(src->priv, (uint32_t)dev->index,
			      dev->state == DEV_OTHER ? dev->ports : 1, facts);
}

struct named_objects {
	res_fn fn;
	void *arg;
};

/* Netlink has the owner's number; its name is in /proc */
static void name_owner(void *arg, const struct res *res)
{
	struct named_objects *n = arg;
	struct res named = *res;
	char dir[32];

	if (res->pid) {
		snprintf(dir, sizeof(dir), "/proc/%u", res->pid);
		if (!path_line(dir, "comm", named.comm, sizeof(named.comm)))
			named.comm[0] = '\0';
	}
	n->fn(n->arg, &named);
}

static int kernel_objects(struct source *src, const struct dev *dev, enum res_kind kind,
			  res_fn fn, void *arg)
{
	struct named_objects n = { fn, arg };

	if (!src->priv || dev->index < 0)
		return src->netlink_err ? src->netlink_err : -ENODEV;
	return nl_rdma_objects(src->priv, (uint32_t)dev->index, kind, name_owner, &n);
}

/* ---- the host ----------------------------------------------------------- */

static int kernel_process(struct source *src, const struct dev *dev, uint32_t pid, bool newest,
			  struct process *out)
{
	(void)src;
	(void)dev;
	(void)newest;
	return process_read(pid, out);
}

static int kernel_addresses(struct source *src, const struct dev *dev)
{
	struct ifaddrs *all, *a;
	int n = 0;

	(void)src;
	if (!dev->netdev[0] || getifaddrs(&all))
		return -ENODATA;
	for (a = all; a; a = a->ifa_next)
		n += is_ipv4_of(a, dev->netdev);
	freeifaddrs(all);
	return n;
}

/* ---- the rest ----------------------------------------------------------- */

static bool kernel_lockdown(struct source *src)
{
	char path[PATH_MAX], line[128] = "";
	FILE *f;

	(void)src;
	if (!path_join(path, sizeof(path), root_sysfs(), "kernel/security/lockdown"))
		return false;
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	fclose(f);
	return strstr(line, "[integrity]") || strstr(line, "[confidentiality]");
}

static bool kernel_no_module(struct source *src, char *release, size_t size)
{
	(void)src;
	return host_no_module(release, size);
}

static int kernel_host(struct source *src, struct host *out)
{
	host_read(out);
	if (src->priv)
		out->exclusive = nl_rdma_exclusive(src->priv);
	return 0;
}

static int kernel_irq_cpu(struct source *src, const struct dev *dev, unsigned int irq)
{
	(void)src;
	(void)dev;
	return host_irq_cpu(irq);
}

static int kernel_holders(struct source *src, const struct dev *dev, holder_fn fn, void *arg)
{
	(void)src;
	return holders_read(dev->name, fn, arg);
}

static uint64_t kernel_real_ns(struct source *src)
{
	(void)src;
	return clock_ns(CLOCK_REALTIME);
}

const struct source_ops source_backend = {
	.kind = "kernel",
	.devices = kernel_devices,
	.open = kernel_open,
	.call = kernel_call,
	.reset = kernel_reset,
	.counters = kernel_counters,
	.driver_version = kernel_driver_version,
	.facts = kernel_facts,
	.objects = kernel_objects,
	.process = kernel_process,
	.addresses = kernel_addresses,
	.lockdown = kernel_lockdown,
	.no_module = kernel_no_module,
	.host = kernel_host,
	.irq_cpu = kernel_irq_cpu,
	.holders = kernel_holders,
	.real_ns = kernel_real_ns,
	.close = kernel_close,
};
