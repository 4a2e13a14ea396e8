/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts from a snapshot file. */
#ifndef EADM_SOURCE_FILE_H
#define EADM_SOURCE_FILE_H

#include "snap.h"
#include "source.h"

void source_from_snapshot(struct source *src, struct snap_in *in);
int source_from_files(struct source *src, char *const *path, size_t n, size_t *bad,
		      const char **damage);
void source_file_line(const struct source *src, const char *name, char *out, size_t size);
int source_from_file(struct source *src, const char *path, const char **damage);

#endif /* EADM_SOURCE_FILE_H */
