/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands on a snapshot file: of --from, or inside of another command. */
#ifndef EADM_ON_FILE_H
#define EADM_ON_FILE_H

#include "cmd.h"

int on_files_read(struct ctx *c, struct source *src, char *const *path, size_t n);
int on_file_read(struct ctx *c, struct source *src, const char *path);
void on_file_init(const struct ctx *c, struct ctx *sub, const char *path);
void on_file_run(struct ctx *sub, const char *verb, const char *object, const struct args *a);
void on_file_forget(struct ctx *sub);
void on_file_end(struct ctx *sub);

#endif /* EADM_ON_FILE_H */
