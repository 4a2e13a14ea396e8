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
	char path[PROC_CGROUP_LEN + 64], line[512], *v;
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

/*
 * Path of its control group, "" if it has none: "0::/system.slice/app.service" of version 2, where
 * @controller is "", "4:freezer:/docker/b5c0" of version 1. One that is too long is cut.
 */
static void read_group(const char *folder, const char *controller, char *group)
{
	char path[64], line[PROC_CGROUP_LEN + 64], *names, *at;
	size_t n = strlen(controller);
	FILE *f;

	*group = '\0';
	snprintf(path, sizeof(path), "%s/cgroup", folder);
	f = fopen(path, "re");
	while (f && !*group && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		names = strchr(line, ':');
		at = names ? strchr(names + 1, ':') : NULL;
		if (at && (size_t)(at - names - 1) == n && !strncmp(names + 1, controller, n))
			snprintf(group, PROC_CGROUP_LEN, "%s", at + 1);
	}
	if (f)
		fclose(f);
}

#define GROUPS		"/sys/fs/cgroup"
#define FREEZERS	"/sys/fs/cgroup/freezer"	/* of version 1 */

/* The value of the line "NAME VALUE" in a file of a control group; false: there is none */
static bool group_value(const char *mount, const char *group, const char *file, const char *name,
			char *value, size_t size)
{
	char folder[PROC_CGROUP_LEN + 32];

	*value = '\0';
	snprintf(folder, sizeof(folder), "%s%s", mount, group);
	file_value(folder, file, name, value, size);
	return *value;
}

/*
 * Is its control group frozen, or one above it? The kernel says so in each of them. In version 1
 * ("4:freezer:/docker/b5c0") the freezer has groups of its own.
 */
static bool is_frozen(const char *folder, const struct process *p)
{
	char group[PROC_CGROUP_LEN], value[16];

	if (group_value(GROUPS, p->cgroup, "cgroup.events", "frozen", value, sizeof(value)))
		return !strcmp(value, "1");
	read_group(folder, "freezer", group);
	return *group && group_value(FREEZERS, group, "freezer.state", "", value, sizeof(value)) &&
	       !strcmp(value, "FROZEN");
}

/*
 * A limit counts in the group that has it, which may be any of those above the process. The topmost
 * one has none, and to read it costs the kernel a walk through all.
 */
static uint64_t held_back(const struct process *p)
{
	char group[PROC_CGROUP_LEN], value[24], *name;
	uint64_t us = 0;

	memcpy(group, p->cgroup, sizeof(group));
	while ((name = strrchr(group, '/')) && name[1]) {
		if (group_value(GROUPS, group, "cpu.stat", "throttled_usec", value, sizeof(value)))
			us += strtoull(value, NULL, 10);
		*name = '\0';
	}
	return us;
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
	read_group(folder, "", out->cgroup);
	if (out->state != 'Z' && is_frozen(folder, out))
		out->state = PROC_FROZEN;
	out->held_us = held_back(out);
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
