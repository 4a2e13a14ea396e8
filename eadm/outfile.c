// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file is written under another name beside the target, and renamed when it is complete. A
 * reader finds the old content or the new one. No symbolic link is followed: the temporary
 * file is made new, and rename() replaces a name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "outfile.h"

/**
 * outfile_open - begin a file
 * @o: filled
 * @p: memory
 * @path: its name; only a regular file of that name is replaced
 * @mode: its permissions, whatever the umask is
 *
 * Return: 0, or a negative error number: -EEXIST if the target is no regular file.
 */
int outfile_open(struct outfile *o, struct pool *p, const char *path, mode_t mode)
{
	struct stat st;
	int fd, err;

	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		return -EEXIST;
	*o = (struct outfile){ .path = path, .temporary = pool_printf(p, "%s.XXXXXX", path) };
	fd = mkostemp(o->temporary, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	o->f = fchmod(fd, mode) ? NULL : fdopen(fd, "w");
	if (o->f)
		return 0;
	err = errno;
	close(fd);
	unlink(o->temporary);
	return -err;
}

/**
 * outfile_finish - the file gets its name
 * @o: file, not to be used any more
 *
 * Nothing waits for the disk: after a crash of the host the next file is there soon.
 *
 * Return: 0, or a negative error number: then the old file, if there was one, is as it was.
 */
int outfile_finish(struct outfile *o)
{
	int err = 0;

	errno = 0;
	if (fflush(o->f) || ferror(o->f))
		err = errno ? errno : EIO;
	if (fclose(o->f) && !err)
		err = errno;
	if (!err && rename(o->temporary, o->path))
		err = errno;
	if (err)
		unlink(o->temporary);
	return -err;
}

/**
 * outfile_drop - there is to be no file; what had its name stays
 * @o: file, not to be used any more
 */
void outfile_drop(struct outfile *o)
{
	fclose(o->f);
	unlink(o->temporary);
}
