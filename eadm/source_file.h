/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts from a snapshot file. */
#ifndef EADM_SOURCE_FILE_H
#define EADM_SOURCE_FILE_H

#include "snap.h"
#include "source.h"

void source_from_snapshot(struct source *src, struct snap_in *in);
void source_file_line(const struct source *src, const char *name, char *out, size_t size);
int source_from_file(struct source *src, const char *path, const char **damage);

#endif /* EADM_SOURCE_FILE_H */
