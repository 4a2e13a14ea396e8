// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The lines of earlier shells: $XDG_STATE_HOME/eadm/history, for its owner only. Root has
 * none unless one is named: with sudo, HOME may be that of somebody else.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <readline/history.h>

#include "shell_history.h"

#define LINES_MAX	1000

static const char *default_path(struct pool *p)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *folder, *end;

	if (!geteuid() || ((!state || *state != '/') && (!home || *home != '/')))
		return NULL;
	folder = state && *state == '/' ? pool_printf(p, "%s/eadm/", state) :
					  pool_printf(p, "%s/.local/state/eadm/", home);
	for (end = strchr(folder + 1, '/'); end; end = strchr(end + 1, '/')) {
		*end = '\0';
		mkdir(folder, 0700);
		*end = '/';
	}
	return pool_printf(p, "%shistory", folder);
}

/* A file of this user that nobody else reads, and no link */
static bool is_ours(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat st;
	bool ours;

	if (fd < 0)
		return false;
	ours = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       !fchmod(fd, 0600);
	close(fd);
	return ours;
}

/**
 * shell_history_open - read the lines of earlier shells
 * @p: memory
 * @path: file; NULL: the user's
 *
 * Return: file for shell_history_add(); NULL if there is to be none, or it is not this
 * user's own.
 */
const char *shell_history_open(struct pool *p, const char *path)
{
	using_history();
	stifle_history(LINES_MAX);
	if (!path)
		path = default_path(p);
	if (!path || !is_ours(path))
		return NULL;
	history_truncate_file(path, LINES_MAX);
	read_history(path);
	return path;
}

/**
 * shell_history_add - one more line
 * @path: of shell_history_open()
 * @text: line
 */
void shell_history_add(const char *path, const char *text)
{
	add_history(text);
	if (path)
		append_history(1, path);
}
