// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of counters. Groups and errors are those of the list that the driver counts
 * by. The set is open: another driver may have more.
 */
#include <stdio.h>
#include <string.h>

#include "counters.h"
#include "model.h"
#include "erdma/erdma_counters.h"
#include "vendor.h"

struct counter_row {
	const char *name;
	const char *group;
	bool error;
	const char *text;
	bool device;
};

#define GROUP_CONST(id, group_name) static const char group_##id[] = group_name;
ERDMA_COUNTER_GROUPS(GROUP_CONST)

#define COUNTER_ROW(id, counter_name, group_id, is_error, counter_text) \
	{ counter_name, group_##group_id, is_error, counter_text, false },
#define DETAIL_ROW(id, counter_name, group_id, is_error, counter_text) \
	{ counter_name, group_##group_id, is_error, counter_text, true },
static const struct counter_row counters[] = {
	ERDMA_DEVICE_COUNTERS(COUNTER_ROW)
	ERDMA_DRIVER_COUNTERS(COUNTER_ROW)
	ERDMA_SUM_COUNTERS(COUNTER_ROW)
	ERDMA_DETAIL_COUNTERS(DETAIL_ROW)
};

static const struct counter_row *counter_find(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT_OF(counters); i++)
		if (!strcmp(counters[i].name, name))
			return &counters[i];
	return NULL;
}

/**
 * counter_count - how many counters the list has
 *
 * Return: their number.
 */
size_t counter_count(void)
{
	return COUNT_OF(counters);
}

/**
 * counter_at - walk over the list
 * @i: number, from 0
 *
 * Return: canonical name, or NULL after the last one.
 */
const char *counter_at(size_t i)
{
	return i < COUNT_OF(counters) ? counters[i].name : NULL;
}

/**
 * counter_number - place of a counter in the list
 * @name: canonical name
 *
 * Return: number, from 0; -1 for a counter that the list does not have.
 */
int counter_number(const char *name)
{
	const struct counter_row *c = counter_find(name);

	return c ? (int)(c - counters) : -1;
}

/**
 * counter_of_port - does a counter belong to a port?
 * @name: canonical name
 *
 * Return: true if it does; false if to the RDMA device. One that the list does not have comes
 * from a driver that counts by port only.
 */
bool counter_of_port(const char *name)
{
	const struct counter_row *c = counter_find(name);

	return !c || !c->device;
}

static bool ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && !strcmp(s + n - m, suffix);
}

/**
 * counter_group - what a counter is about
 * @name: canonical name
 *
 * Return: name of the group, "other" for a counter that the list does not have.
 */
const char *counter_group(const char *name)
{
	const struct counter_row *c = counter_find(name);

	return c ? c->group : "other";
}

/**
 * counter_is_error - does a counter count things that went wrong?
 * @name: canonical name
 *
 * Return: true if it does; false too for a counter that the list does not have.
 */
bool counter_is_error(const char *name)
{
	const struct counter_row *c = counter_find(name);

	return c && c->error;
}

/**
 * counter_text - what a counter counts
 * @name: canonical name
 *
 * Return: text, NULL for a counter that the list does not have.
 */
const char *counter_text(const char *name)
{
	const struct counter_row *c = counter_find(name);

	return c ? c->text : NULL;
}

/* One word for another at the end of a name */
static void replace_end(char *s, size_t size, const char *from, const char *to)
{
	size_t n = strlen(s), m = strlen(from);

	if (ends(s, from) && n - m + strlen(to) < size)
		strcpy(s + n - m, to);
}

static const struct vendor_counter vendor_counters[] = {
#define VENDOR_ROW(name, group, a, b) { name, group, { a, b } },
	VENDOR_COUNTERS(VENDOR_ROW)
};

/**
 * vendor_counter - walk over the counters of the vendor's driver
 * @i: number, from 0
 *
 * Return: a counter, or NULL after the last one.
 */
const struct vendor_counter *vendor_counter(size_t i)
{
	return i < COUNT_OF(vendor_counters) ? &vendor_counters[i] :
	       NULL;
}

/**
 * vendor_find - a counter of the vendor's driver
 * @name: its name there
 *
 * Return: the counter, or NULL if that driver has none of this name.
 */
const struct vendor_counter *vendor_find(const char *name)
{
	const struct vendor_counter *v;
	size_t i;

	for (i = 0; (v = vendor_counter(i)); i++)
		if (!strcmp(v->name, name))
			return v;
	return NULL;
}

/**
 * counter_canonical - our name for a counter of another driver
 * @name: its name there
 * @out: result
 * @size: room for it
 *
 * The in-tree and the vendor's driver append "_cnt", and differ in some words. What
 * the vendor's counts together has no name of ours.
 *
 * Return: true if the name was another one.
 */
bool counter_canonical(const char *name, char *out, size_t size)
{
	const struct vendor_counter *v = vendor_find(name);

	snprintf(out, size, "%s", v && v->from[0] && !v->from[1] ? v->from[0] : name);
	if (!ends(out, "_cnt"))
		return strcmp(out, name);
	replace_end(out, size, "_cnt", "");
	replace_end(out, size, "_packets", "_pkts");
	replace_end(out, size, "_drop", "_drops");
	return true;
}
