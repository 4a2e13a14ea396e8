// SPDX-License-Identifier: GPL-2.0-or-later
/* What /proc says of a process. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "proc.h"

/* The value behind "NAME:" in a file of such lines, without blanks around it */
static void file_value(const char *folder, const char *file, const char *name, char *value,
		       size_t size)
{
	char path[64], line[512], *v;
	size_t n = strlen(name);
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	f = fopen(path, "re");
	while (f && !*value && fgets(line, sizeof(line), f)) {
		if (strncmp(line, name, n))
			continue;
		v = line + n;
		v += strspn(v, ": \t");
		v[strcspn(v, "\n")] = '\0';
		snprintf(value, size, "%s", v);
	}
	if (f)
		fclose(f);
}

/* Fields 3, 14, 15 and 20 of /proc/PID/stat, behind a name that may hold anything */
static bool read_stat(const char *folder, struct process *p)
{
	unsigned long long utime, stime;
	char path[64], line[1024];
	const char *rest;
	FILE *f;

	snprintf(path, sizeof(path), "%s/stat", folder);
	f = fopen(path, "re");
	if (!f)
		return false;
	rest = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	fclose(f);
	if (!rest || sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu "
			    "%*d %*d %*d %*d %u", &p->state, &utime, &stime, &p->threads) != 4) {
		p->state = '\0';
		p->threads = 0;
		return false;
	}
	p->utime = utime;
	p->stime = stime;
	return true;
}

static uint64_t namespace_of(const char *folder, const char *kind)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "%s/ns/%s", folder, kind);
	return stat(path, &st) ? 0 : (uint64_t)st.st_ino;
}

/**
 * process_read - look at a process
 * @pid: its number in the caller's pid namespace
 * @out: filled; what the caller may not see is empty
 *
 * Return: 0; -ENOENT: there is no such process.
 */
int process_read(uint32_t pid, struct process *out)
{
	char folder[32];

	*out = (struct process){ 0 };
	snprintf(folder, sizeof(folder), "/proc/%u", pid);
	if (!read_stat(folder, out))
		return -ENOENT;
	file_value(folder, "status", "Name", out->comm, sizeof(out->comm));
	/* The line of version 2 has no controller: "0::/system.slice/app.service" */
	file_value(folder, "cgroup", "0::", out->cgroup, sizeof(out->cgroup));
	file_value(folder, "status", "VmPin", out->pinned, sizeof(out->pinned));
	file_value(folder, "limits", "Max locked memory", out->limits, sizeof(out->limits));
	out->net_ns = namespace_of(folder, "net");
	out->pid_ns = namespace_of(folder, "pid");
	return 0;
}

/**
 * process_may_pin - the soft limit of locked memory
 * @p: process
 * @bytes: the limit
 *
 * Return: false: there is none, or it is not known.
 */
bool process_may_pin(const struct process *p, unsigned long long *bytes)
{
	char *end;

	/* "65536 8388608 bytes": soft and hard limit */
	*bytes = strtoull(p->limits, &end, 10);
	return end != p->limits;
}

/**
 * process_pinned - memory that is pinned
 * @p: process
 *
 * Return: bytes, 0 if it is not known.
 */
unsigned long long process_pinned(const struct process *p)
{
	return strtoull(p->pinned, NULL, 10) * 1024;
}
