// SPDX-License-Identifier: GPL-2.0-or-later
/* Files of the host. */
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "root.h"

static const char *place(const char *variable, const char *otherwise)
{
	const char *s = secure_getenv(variable);

	return s ? s : otherwise;
}

/**
 * root_sysfs - where sysfs is
 *
 * Return: path.
 */
const char *root_sysfs(void)
{
	return place("EADM_SYSFS", "/sys");
}

/**
 * root_dev - where nodes are
 *
 * Return: path.
 */
const char *root_dev(void)
{
	return place("EADM_DEVROOT", "/dev");
}

/**
 * root_modules - where modules of kernels are
 *
 * Return: path.
 */
const char *root_modules(void)
{
	return place("EADM_MODULES", "/lib/modules");
}

/**
 * root_files - where all other files are
 *
 * Return: path, "" for the host's own.
 */
const char *root_files(void)
{
	return place("EADM_ROOT", "");
}

/**
 * path_join - a file in a directory
 * @out: result
 * @size: its size
 * @dir: directory
 * @name: file
 *
 * Return: false if it does not fit; no path of ours is that long.
 */
bool path_join(char *out, size_t size, const char *dir, const char *name)
{
	return (size_t)snprintf(out, size, "%s/%s", dir, name) < size;
}

/**
 * path_exists - is a file there?
 * @dir: directory
 * @name: file
 *
 * Return: true if it is; a link has to lead somewhere.
 */
bool path_exists(const char *dir, const char *name)
{
	char path[PATH_MAX];

	return path_join(path, sizeof(path), dir, name) && !access(path, F_OK);
}

/**
 * path_line - first line of a file
 * @dir: directory
 * @file: file
 * @out: result, without its end
 * @size: its size
 *
 * Return: true if there is one.
 */
bool path_line(const char *dir, const char *file, char *out, size_t size)
{
	char path[PATH_MAX];
	bool good;
	FILE *f;

	if (!path_join(path, sizeof(path), dir, file))
		return false;
	f = fopen(path, "re");
	if (!f)
		return false;
	good = fgets(out, (int)size, f);
	fclose(f);
	if (good)
		out[strcspn(out, "\n")] = '\0';
	return good;
}

/**
 * path_target - last component of where a link leads to
 * @dir: directory
 * @file: link
 * @out: result; unchanged without a link
 * @size: its size
 *
 * Return: true if there is a link, and the name fits.
 */
bool path_target(const char *dir, const char *file, char *out, size_t size)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *base;
	ssize_t n;

	if (!path_join(path, sizeof(path), dir, file))
		return false;
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return false;
	target[n] = '\0';
	base = strrchr(target, '/');
	base = base ? base + 1 : target;
	if (strlen(base) >= size)
		return false;
	strcpy(out, base);
	return true;
}

/**
 * path_matches - first file below root_files() that a pattern matches
 * @pattern: as the shell's, beginning with a slash
 * @out: its path, or NULL
 * @size: size of @out
 *
 * Return: true if there is one.
 */
bool path_matches(const char *pattern, char *out, size_t size)
{
	char path[PATH_MAX];
	bool found;
	glob_t g;

	if ((size_t)snprintf(path, sizeof(path), "%s%s", root_files(), pattern) >= sizeof(path) ||
	    glob(path, GLOB_NOSORT, NULL, &g))
		return false;
	found = g.gl_pathc;
	if (found && out)
		found = (size_t)snprintf(out, size, "%s", g.gl_pathv[0]) < size;
	globfree(&g);
	return found;
}
