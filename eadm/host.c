// SPDX-License-Identifier: GPL-2.0-or-later
/* What the host has for a device to work: module, headers, libibverbs, interrupts. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host.h"
#include "root.h"

#define MODULE_MAX	(64 << 20)	/* bytes of a file that is taken for a module */

/* ---- modules on disk ---------------------------------------------------------- */

/* The first line of FILE that is about a module erdma.ko, packed or not: its path */
static bool names_module(FILE *f, char *out, size_t size)
{
	char *line = NULL, *name;
	bool found = false;
	size_t room = 0;

	while (!found && getline(&line, &room, f) > 0) {
		line[strcspn(line, ": \n")] = '\0';
		name = strrchr(line, '/');
		found = name && !strncmp(name, "/erdma.ko", 9) && (!name[9] || name[9] == '.');
	}
	if (found)
		snprintf(out, size, "%s", line);
	free(line);
	return found;
}

/* 1: a list of the kernel's modules has it, 0: it has not; -1: there is no such list */
static int list_has_module(const char *folder, const char *list, char *out, size_t size)
{
	char path[PATH_MAX];
	bool found;
	FILE *f;

	f = path_join(path, sizeof(path), folder, list) ? fopen(path, "re") : NULL;
	if (!f)
		return -1;
	found = names_module(f, out, size);
	fclose(f);
	return found;
}

/**
 * host_no_module - is there certainly no module of the driver for the kernel that runs?
 * @release: its release is stored here
 * @size: bytes of @release
 *
 * Return: true only if the lists of its modules can be read, and have none of ours.
 */
bool host_no_module(char *release, size_t size)
{
	char folder[PATH_MAX], path[PATH_MAX];
	struct utsname host;

	if (path_exists(root_sysfs(), "module/erdma") || uname(&host) ||
	    !path_join(folder, sizeof(folder), root_modules(), host.release))
		return false;
	snprintf(release, size, "%s", host.release);
	return !list_has_module(folder, "modules.dep", path, sizeof(path)) &&
	       list_has_module(folder, "modules.builtin", path, sizeof(path)) != 1;
}

/* "NAME=value" of the section .modinfo, which is in no packed file */
static void find_info(const char *bytes, size_t len, const char *name, char *out, size_t size)
{
	size_t n = strlen(name), left;
	const char *s = bytes, *end = bytes + len;

	while ((s = memmem(s, (size_t)(end - s), name, n))) {
		left = (size_t)(end - s) - n;
		if (s > bytes && !s[-1] && memchr(s + n, '\0', left < size ? left : size)) {
			snprintf(out, size, "%s", s + n);
			return;
		}
		s += n;
	}
}

static void read_module(const char *path, struct module_file *m)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *bytes;
	size_t len;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= MODULE_MAX) {
		len = (size_t)st.st_size;
		bytes = malloc(len);
		if (bytes && pread(fd, bytes, len, 0) == (ssize_t)len) {
			find_info(bytes, len, "version=", m->version, sizeof(m->version));
			find_info(bytes, len, "srcversion=", m->srcversion, sizeof(m->srcversion));
		}
		free(bytes);
	}
	close(fd);
}

static void look_at_module(struct host *h)
{
	char folder[PATH_MAX], path[PATH_MAX], line[8];

	h->is_loaded = path_join(folder, sizeof(folder), root_sysfs(), "module/erdma") &&
		       !access(folder, F_OK);
	if (h->is_loaded) {
		path_line(folder, "version", h->loaded.version, sizeof(h->loaded.version));
		path_line(folder, "srcversion", h->loaded.srcversion, sizeof(h->loaded.srcversion));
		if (path_line(folder, "parameters/compat_mode", line, sizeof(line)))
			h->compat_mode = line[0];
	}
	if (!path_join(folder, sizeof(folder), root_modules(), h->release))
		return;
	if (list_has_module(folder, "modules.dep", h->disk_path, sizeof(h->disk_path)) == 1 &&
	    path_join(path, sizeof(path), folder, h->disk_path))
		read_module(path, &h->disk);
	h->headers = path_exists(folder, "build");
}

/* ---- libibverbs --------------------------------------------------------------- */

static const char *const libdirs[] = { "/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib" };

static bool in_libdirs(const char *name, char *out, size_t size)
{
	char pattern[128];
	size_t i;

	for (i = 0; i < sizeof(libdirs) / sizeof(libdirs[0]); i++) {
		snprintf(pattern, sizeof(pattern), "%s/%s", libdirs[i], name);
		if (path_matches(pattern, out, size))
			return true;
	}
	return false;
}

/* "libibverbs.so.1.14.44.0" is of rdma-core 44.0 */
static unsigned int rdma_core_of(const char *link)
{
	char target[256];
	const char *name;
	unsigned int release;
	ssize_t n = readlink(link, target, sizeof(target) - 1);

	if (n <= 0)
		return 0;
	target[n] = '\0';
	name = strrchr(target, '/');
	name = name ? name + 1 : target;
	return sscanf(name, "libibverbs.so.1.%*u.%u", &release) == 1 ? release : 0;
}

static void look_at_libibverbs(struct host *h)
{
	char path[PATH_MAX];

	h->libibverbs = in_libdirs("libibverbs.so.1", path, sizeof(path));
	if (h->libibverbs)
		h->rdma_core = rdma_core_of(path);
	h->provider = in_libdirs("libibverbs/liberdma-rdmav*.so", NULL, 0) &&
		      path_matches("/etc/libibverbs.d/erdma.driver", NULL, 0);
}

/* ---- all of it ---------------------------------------------------------------- */

/**
 * host_read - look at the host
 * @h: filled; @h->exclusive is left unknown, which is a matter of rdma netlink
 */
void host_read(struct host *h)
{
	struct utsname host;
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	*h = (struct host){ .exclusive = -1, .cpus = n > 0 ? (unsigned int)n : 0 };
	if (!uname(&host))
		snprintf(h->release, sizeof(h->release), "%.*s", MODULE_WORD_LEN - 1, host.release);
	h->dkms = path_matches("/usr/src/erdma-*/dkms.conf", NULL, 0);
	look_at_module(h);
	look_at_libibverbs(h);
}

/* The CPU in a file of an interrupt; -ERANGE: several, -ENODATA: not known */
static int irq_cpu_in(unsigned int irq, const char *name)
{
	char folder[PATH_MAX], line[64], *end;
	long cpu;

	snprintf(folder, sizeof(folder), "%s/proc/irq/%u", root_files(), irq);
	if (!path_line(folder, name, line, sizeof(line)))
		return -ENODATA;
	cpu = strtol(line, &end, 10);
	if (end == line || cpu < 0 || cpu > INT_MAX)
		return -ENODATA;
	return *end ? -ERANGE : (int)cpu;
}

/**
 * host_irq_cpu - the CPU that an interrupt goes to
 * @irq: Linux interrupt number
 *
 * What was asked for last takes effect with the next interrupt: until then the effective CPU
 * is an old one.
 *
 * Return: number of the CPU; -ERANGE: there are several; -ENODATA: not known.
 */
int host_irq_cpu(unsigned int irq)
{
	int cpu = irq_cpu_in(irq, "smp_affinity_list");

	return cpu >= 0 ? cpu : irq_cpu_in(irq, "effective_affinity_list");
}
