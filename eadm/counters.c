// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of counters. The set is open: a driver may have more than this knows,
 * so groups go by prefix and errors by ending.
 */
#include <stdio.h>
#include <string.h>

#include "counters.h"

static bool starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
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
 * Return: name of the group.
 */
const char *counter_group(const char *name)
{
	static const struct {
		const char *prefix;
		const char *group;
	} groups[] = {
		{ "tx_", "traffic" }, { "rx_", "traffic" }, { "cmdq_", "cmdq" },
		{ "aeq_", "events" }, { "ceq_", "events" }, { "eq_", "events" },
		{ "cm_", "cm" }, { "mpa_", "cm" },
		{ "alloc_", "verbs" }, { "dealloc_", "verbs" }, { "create_", "verbs" },
		{ "destroy_", "verbs" }, { "modify_", "verbs" }, { "get_", "verbs" },
		{ "reg_", "verbs" }, { "dereg_", "verbs" }, { "mmap_", "verbs" },
	};
	size_t i;

	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (starts(name, groups[i].prefix))
			return groups[i].group;
	return "other";
}

/**
 * counter_is_error - does a counter count things that went wrong?
 * @name: canonical name
 *
 * Return: true if it does.
 */
bool counter_is_error(const char *name)
{
	static const char *const endings[] = {
		"_drops", "_failed", "_err", "_errs", "_errors", "_timeouts", "_rejected",
		"_unknown", "_late", "_lost_irqs", "_bad_cqes", "_fatal",
	};
	size_t i;

	for (i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (ends(name, endings[i]))
			return true;
	return !strcmp(name, "aeq_other");
}

/* One word for another at the end of a name */
static void replace_end(char *s, size_t size, const char *from, const char *to)
{
	size_t n = strlen(s), m = strlen(from);

	if (ends(s, from) && n - m + strlen(to) < size)
		strcpy(s + n - m, to);
}

/**
 * counter_canonical - our name for a counter of another driver
 * @name: its name there
 * @out: result
 * @size: room for it
 *
 * The in-tree and the vendor's driver append "_cnt", and differ in some words.
 *
 * Return: true if the name was another one.
 */
bool counter_canonical(const char *name, char *out, size_t size)
{
	static const struct {
		const char *theirs;
		const char *ours;
	} words[] = {
		{ "listen_create", "cm_listen" }, { "listen_failed", "cm_listen_failed" },
		{ "listen_destroy", "cm_listen_destroy" }, { "accept_success", "cm_accept" },
		{ "accept_failed", "cm_accept_failed" }, { "reject", "cm_reject" },
		{ "connect_total", "cm_connect" }, { "connect_success", "cm_connect_ok" },
		{ "connect_failed", "cm_connect_failed" },
		{ "connect_timeout", "cm_connect_timeouts" },
	};
	size_t i;

	snprintf(out, size, "%s", name);
	if (!ends(out, "_cnt"))
		return false;
	replace_end(out, size, "_cnt", "");
	replace_end(out, size, "_packets", "_pkts");
	replace_end(out, size, "_drop", "_drops");
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(out, words[i].theirs))
			snprintf(out, size, "%s", words[i].ours);
	if (starts(out, "verbs_"))
		memmove(out, out + 6, strlen(out + 6) + 1);
	return true;
}
