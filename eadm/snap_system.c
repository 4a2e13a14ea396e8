// SPDX-License-Identifier: GPL-2.0-or-later
/* What the host has for its devices, as lines: one table, by which they are written and read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "snap.h"
#include "snap_system.h"

enum kind { KIND_TEXT, KIND_BOOL, KIND_UINT, KIND_INT, KIND_CHAR };

/*
 * Nothing here is of a person or of one machine: versions, a path below /lib/modules, what is
 * installed. So all of it is there in redacted files, too.
 */
static const struct {
	const char *name;
	enum kind kind;
	size_t at;
	size_t size;
} facts[] = {
#define FACT(name, kind, member) \
	{ name, kind, offsetof(struct host, member), sizeof(((struct host *)NULL)->member) }
	FACT("release", KIND_TEXT, release),
	FACT("loaded", KIND_BOOL, is_loaded),
	FACT("loaded.version", KIND_TEXT, loaded.version),
	FACT("loaded.srcversion", KIND_TEXT, loaded.srcversion),
	FACT("disk", KIND_TEXT, disk_path),
	FACT("disk.version", KIND_TEXT, disk.version),
	FACT("disk.srcversion", KIND_TEXT, disk.srcversion),
	FACT("dkms", KIND_BOOL, dkms),
	FACT("headers", KIND_BOOL, headers),
	FACT("libibverbs", KIND_BOOL, libibverbs),
	FACT("provider", KIND_BOOL, provider),
	FACT("rdma_core", KIND_UINT, rdma_core),
	FACT("compat_mode", KIND_CHAR, compat_mode),
	FACT("exclusive", KIND_INT, exclusive),
	FACT("cpus", KIND_UINT, cpus),
};

static void add_fact(struct snap_lines *l, size_t i, const void *at)
{
	const char *name = facts[i].name;

	switch (facts[i].kind) {
	case KIND_TEXT:
		if (*(const char *)at)
			lines_add(l, FC_PLAIN, name, "%s", (const char *)at);
		break;
	case KIND_BOOL:
		lines_add(l, FC_PLAIN, name, "%d", *(const bool *)at);
		break;
	case KIND_UINT:
		lines_add(l, FC_PLAIN, name, "%u", *(const unsigned int *)at);
		break;
	case KIND_INT:
		lines_add(l, FC_PLAIN, name, "%d", *(const int *)at);
		break;
	case KIND_CHAR:
		if (*(const char *)at)
			lines_add(l, FC_PLAIN, name, "%c", *(const char *)at);
		break;
	}
}

/**
 * system_write - facts about a host as lines
 * @l: lines to add to
 * @h: facts
 */
void system_write(struct snap_lines *l, const struct host *h)
{
	size_t i;

	for (i = 0; i < COUNT_OF(facts); i++)
		add_fact(l, i, (const char *)h + facts[i].at);
}

static void set_fact(size_t i, void *at, const char *value)
{
	switch (facts[i].kind) {
	case KIND_TEXT:
		snprintf(at, facts[i].size, "%s", value);
		break;
	case KIND_BOOL:
		*(bool *)at = !strcmp(value, "1");
		break;
	case KIND_UINT:
		*(unsigned int *)at = (unsigned int)strtoul(value, NULL, 10);
		break;
	case KIND_INT:
		*(int *)at = (int)strtol(value, NULL, 10);
		break;
	case KIND_CHAR:
		*(char *)at = value[0];
		break;
	}
}

/**
 * system_read - facts about a host from lines
 * @body: lines, from a file
 * @len: their bytes
 * @h: filled; what no line has is as unknown as it can be
 */
void system_read(const uint8_t *body, size_t len, struct host *h)
{
	char value[sizeof(h->disk_path)];
	size_t i;

	*h = (struct host){ .exclusive = -1, .headers = true };
	for (i = 0; i < COUNT_OF(facts); i++)
		if (lines_find(body, len, facts[i].name, value, sizeof(value)))
			set_fact(i, (char *)h + facts[i].at, value);
}
