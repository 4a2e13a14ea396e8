// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes that have files of the verbs open, by the links in /proc/PID/fd. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "holders.h"
#include "root.h"

#define SCAN_NS		500000000ULL	/* what is not found within this time is left out */

/* "uverbs0": the node of a device; false if it has none */
static bool uverbs_of(const char *rdma_dev, char *name, size_t size)
{
	char folder[PATH_MAX], dir[PATH_MAX], line[DEV_NAME_LEN];
	struct dirent *e;
	bool found = false;
	DIR *d;

	if (!path_join(folder, sizeof(folder), root_sysfs(), "class/infiniband_verbs"))
		return false;
	d = opendir(folder);
	while (d && !found && (e = readdir(d)))
		found = strlen(e->d_name) < size && path_join(dir, sizeof(dir), folder, e->d_name) &&
			path_line(dir, "ibdev", line, sizeof(line)) && !strcmp(line, rdma_dev) &&
			strcpy(name, e->d_name);
	if (d)
		closedir(d);
	return found;
}

/* By name: to look at the file itself may block, as on a network file system */
static bool leads_to(const char *link, const char *node)
{
	char target[PATH_MAX];
	const char *name;
	ssize_t n = readlink(link, target, sizeof(target) - 1);

	if (n <= 0)
		return false;
	target[n] = '\0';
	name = strrchr(target, '/');
	return name && !strcmp(name + 1, node);
}

/* 1: it does, 0: it does not; -EACCES: its files cannot be seen */
static int has_open(const char *process, const char *node, uint64_t until)
{
	char folder[PATH_MAX], link[PATH_MAX];
	struct dirent *e;
	int found = 0;
	DIR *d;

	if (!path_join(folder, sizeof(folder), process, "fd"))
		return 0;
	d = opendir(folder);
	if (!d)
		return errno == EACCES || errno == EPERM ? -EACCES : 0;
	while (!found && (e = readdir(d)) && clock_ns(CLOCK_MONOTONIC) < until)
		found = path_join(link, sizeof(link), folder, e->d_name) && leads_to(link, node);
	closedir(d);
	return found;
}

/* A process that ends meanwhile has no name any more */
static void hand_over(const char *process, const char *pid, holder_fn fn, void *arg)
{
	char comm[DEV_NAME_LEN];

	if (path_line(process, "comm", comm, sizeof(comm)))
		fn(arg, (uint32_t)strtoul(pid, NULL, 10), comm);
}

/**
 * holders_read - who has files of the verbs of a device open?
 * @rdma_dev: name of the RDMA device
 * @fn: called for each process
 * @arg: its first argument
 *
 * Return: 0; -ENODATA: the device has no node; -EACCES: the files of some processes cannot be
 * seen; -ETIMEDOUT: there are too many of them.
 */
int holders_read(const char *rdma_dev, holder_fn fn, void *arg)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + SCAN_NS;
	char root[PATH_MAX], process[PATH_MAX], node[DEV_NAME_LEN];
	struct dirent *e;
	int ret = 0, has;
	DIR *d;

	if (!uverbs_of(rdma_dev, node, sizeof(node)) ||
	    !path_join(root, sizeof(root), root_files(), "proc"))
		return -ENODATA;
	d = opendir(root);
	if (!d)
		return -ENODATA;
	while ((e = readdir(d))) {
		if (e->d_name[0] < '0' || e->d_name[0] > '9' ||
		    !path_join(process, sizeof(process), root, e->d_name))
			continue;
		if (clock_ns(CLOCK_MONOTONIC) >= until) {
			ret = -ETIMEDOUT;
			break;
		}
		has = has_open(process, node, until);
		if (has > 0)
			hand_over(process, e->d_name, fn, arg);
		else if (has < 0)
			ret = has;
	}
	closedir(d);
	return ret;
}
