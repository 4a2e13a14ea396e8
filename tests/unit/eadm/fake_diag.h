/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adapters out of a scenario file: a node that answers the calls of
 * include/uapi/erdma_diag.h, and counters. The format of scenarios is described
 * in tests/cli/README.md.
 */
#ifndef EADM_FAKE_DIAG_H
#define EADM_FAKE_DIAG_H

#include <json-c/json.h>
#include <stdint.h>

struct fake;

struct fake *fake_load(const char *path);
struct fake *fake_parse(const char *text);
void fake_free(struct fake *f);
json_object *fake_adapter(struct fake *f, size_t n);
json_object *fake_other(struct fake *f, size_t n);
int fake_call(struct fake *f, size_t n, unsigned int cmd, void *arg);
int fake_counters(json_object *dev, const char *member,
		  void (*fn)(void *arg, const char *name, uint64_t v), void *arg);
void fake_next(struct fake *f);
int fake_errno(const char *name);
const char *fake_string(json_object *o, const char *key);
uint64_t fake_number(json_object *o, const char *key, uint64_t otherwise);

#endif /* EADM_FAKE_DIAG_H */
