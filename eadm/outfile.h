/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A text file that is replaced as a whole, or not at all. */
#ifndef EADM_OUTFILE_H
#define EADM_OUTFILE_H

#include <stdio.h>
#include <sys/types.h>

#include "model.h"

/**
 * struct outfile - a file that is being written
 * @f: where to write
 * @path: its name in the end
 * @temporary: its name until then
 */
struct outfile {
	FILE *f;
	const char *path;
	char *temporary;
};

int outfile_open(struct outfile *o, struct pool *p, const char *path, mode_t mode);
int outfile_finish(struct outfile *o);
void outfile_drop(struct outfile *o);

#endif /* EADM_OUTFILE_H */
