// SPDX-License-Identifier: GPL-2.0-or-later
/* What the host knows of an adapter and of the owners of its objects: /proc, /sys, addresses. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "erdma/erdma_snapshot.h"

#include "snap_take.h"

/* ---- lines of files --------------------------------------------------------- */

/* The value behind "NAME:" in a file of such lines, without blanks around it */
static bool file_value(const char *path, const char *name, char *value, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n = strlen(name);
	bool found = false;
	char line[512], *v;

	while (f && !found && fgets(line, sizeof(line), f)) {
		if (strncmp(line, name, n))
			continue;
		v = line + n;
		v += strspn(v, ": \t");
		v[strcspn(v, "\n")] = '\0';
		snprintf(value, size, "%s", v);
		found = true;
	}
	if (f)
		fclose(f);
	return found;
}

/* ---- the adapter ------------------------------------------------------------ */

static void add_addresses(struct snap_lines *l, const struct dev *d)
{
	struct ifaddrs *all, *a;
	char text[INET_ADDRSTRLEN];
	const struct sockaddr_in *in;

	if (!d->netdev[0] || getifaddrs(&all))
		return;
	for (a = all; a; a = a->ifa_next) {
		if (strcmp(a->ifa_name, d->netdev) || !a->ifa_addr ||
		    a->ifa_addr->sa_family != AF_INET)
			continue;
		in = (const void *)a->ifa_addr;
		if (inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text)))
			lines_add(l, FC_IP, "address", "%s", text);
		lines_add(l, FC_PLAIN, "up", "%d", !!(a->ifa_flags & IFF_UP));
	}
	freeifaddrs(all);
}

static bool all_digits(const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (s[i] < '0' || s[i] > '9')
			return false;
	return n;
}

/* "24: 11 0 ... erdma-common@pci:0000:00:05.0": the sum over all CPUs */
static void add_interrupts(struct snap_lines *l, const struct dev *d)
{
	FILE *f = fopen("/proc/interrupts", "re");
	char *line = NULL, *word, *save, name[32];
	unsigned long long sum;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0) {
		if (!strstr(line, "erdma") || !strstr(line, d->pci))
			continue;
		word = strtok_r(line, " \n", &save);
		snprintf(name, sizeof(name), "irq.%.*s", word ? (int)strcspn(word, ":") : 0, word);
		for (sum = 0; (word = strtok_r(NULL, " \n", &save)) &&
		     all_digits(word, strlen(word));)
			sum += strtoull(word, NULL, 10);
		lines_add(l, FC_PLAIN, name, "%llu", sum);
	}
	free(line);
	if (f)
		fclose(f);
}

/**
 * take_host - the interface, addresses and interrupts of an adapter
 * @t: file
 * @d: adapter
 * @dev: its number
 */
void take_host(struct taking *t, const struct dev *d, uint32_t dev)
{
	struct snap_lines l = take_lines(t);

	add_addresses(&l, d);
	add_interrupts(&l, d);
	if (l.len)
		take_put_lines(t, ERDMA_SNAP_HOST, dev, 0, &l);
}

/* ---- owners ----------------------------------------------------------------- */

/* Fields 3, 14 and 15 of /proc/PID/stat, behind a name that may hold anything */
static void add_stat(struct snap_lines *l, const char *folder)
{
	unsigned long long utime, stime;
	char path[64], line[1024], state;
	const char *rest;
	FILE *f;

	snprintf(path, sizeof(path), "%s/stat", folder);
	f = fopen(path, "re");
	if (!f)
		return;
	rest = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	fclose(f);
	if (!rest || sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
			    &state, &utime, &stime) != 3)
		return;
	lines_add(l, FC_PLAIN, "state", "%c", state);
	lines_add(l, FC_PLAIN, "utime_ticks", "%llu", utime);
	lines_add(l, FC_PLAIN, "stime_ticks", "%llu", stime);
}

static void add_file_value(struct snap_lines *l, const char *folder, const char *file,
			   const char *from, enum field_class cls, const char *name)
{
	char path[64], value[256];

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	if (file_value(path, from, value, sizeof(value)))
		lines_add(l, cls, name, "%s", value);
}

static void add_namespace(struct snap_lines *l, const char *folder, const char *kind)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "%s/ns/%s", folder, kind);
	if (!stat(path, &st))
		lines_add(l, FC_PLAIN, kind, "%llu", (unsigned long long)st.st_ino);
}

/**
 * take_process - an owner of objects
 * @t: file
 * @dev: number of the device
 * @pid: its process id
 */
void take_process(struct taking *t, uint32_t dev, uint32_t pid)
{
	struct snap_lines l = take_lines(t);
	char folder[32], number[16];
	const char *id = number;

	snprintf(number, sizeof(number), "%u", pid);
	if (t->redact)
		id = redact_text(t->redact, FC_PID, number);
	if (!id)
		return;
	snprintf(folder, sizeof(folder), "/proc/%u", pid);
	add_file_value(&l, folder, "status", "Name", FC_COMM, "comm");
	add_stat(&l, folder);
	add_file_value(&l, folder, "status", "VmPin", FC_PLAIN, "pinned");
	add_file_value(&l, folder, "limits", "Max locked memory", FC_PLAIN, "locked_limits");
	add_namespace(&l, folder, "net");
	add_namespace(&l, folder, "pid");
	if (l.len)
		take_put_lines(t, ERDMA_SNAP_PROCESS, dev, (uint32_t)strtoul(id, NULL, 10), &l);
}
