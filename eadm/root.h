/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of the host. EADM_SYSFS, EADM_DEVROOT, EADM_MODULES and EADM_ROOT move /sys, /dev,
 * /lib/modules and / for tests; a set-uid program ignores them.
 */
#ifndef EADM_ROOT_H
#define EADM_ROOT_H

#include <stdbool.h>
#include <stddef.h>

const char *root_sysfs(void);
const char *root_dev(void);
const char *root_modules(void);
const char *root_files(void);

bool path_join(char *out, size_t size, const char *dir, const char *name);
bool path_exists(const char *dir, const char *name);
bool path_line(const char *dir, const char *file, char *out, size_t size);
bool path_target(const char *dir, const char *file, char *out, size_t size);
bool path_matches(const char *pattern, char *out, size_t size);

#endif /* EADM_ROOT_H */
