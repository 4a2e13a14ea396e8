// SPDX-License-Identifier: GPL-2.0-or-later
/* All counters of a device at one time. */
#include <stdlib.h>
#include <string.h>

#include "counter_set.h"
#include "counters.h"
#include "other_counters.h"

/* All zero; NULL without memory */
static struct counter *new_counter(struct counter_set *s)
{
	struct counter *grown;

	if (s->n == s->cap) {
		grown = realloc(s->v, (s->cap ? 2 * s->cap : 64) * sizeof(*grown));
		if (!grown)
			return NULL;
		s->v = grown;
		s->cap = s->cap ? 2 * s->cap : 64;
	}
	memset(&s->v[s->n], 0, sizeof(s->v[0]));
	return &s->v[s->n++];
}

static void add_counter(void *arg, const char *name, uint64_t value)
{
	struct counter *c = new_counter(arg);

	if (!c)
		return;
	if (counter_canonical(name, c->name, sizeof(c->name)))
		strncpy(c->native, name, sizeof(c->native) - 1);
	c->group = counter_group(c->name);
	c->error = counter_is_error(c->name);
	c->value = value;
}

/* Of another driver: a name is a name. What it has twice is one counter */
static void add_other(void *arg, const char *name, uint64_t value)
{
	const struct other_counter *known = other_counter_find(name);
	struct counter *c;

	if (counter_set_find(arg, name))
		return;
	c = new_counter(arg);
	if (!c)
		return;
	strncpy(c->name, name, sizeof(c->name) - 1);
	c->group = known ? known->group : "other";
	c->error = known && known->error;
	c->value = value;
}

/**
 * counter_set_read - read all counters of a port
 * @s: empty set
 * @src: source
 * @dev: device
 * @port: port
 *
 * Return: 0, or the negative error number of the source; @s may have counters then, too.
 */
int counter_set_read(struct counter_set *s, struct source *src, struct dev *dev, unsigned int port)
{
	uint64_t from = source_mono_ns(src);
	bool other = dev->state == DEV_OTHER;
	int ret = src->ops->counters(src, dev, port, other ? add_other : add_counter, s);

	s->time_ns = from + (source_mono_ns(src) - from) / 2;
	return ret;
}

/**
 * counter_set_read_sum - read all counters of a device, sums of all of its ports
 * @s: empty set
 * @src: source
 * @dev: device
 *
 * Return: 0, or the negative error number of the source; @s may have counters then, too.
 */
int counter_set_read_sum(struct counter_set *s, struct source *src, struct dev *dev)
{
	int ret = counter_set_read(s, src, dev, 1);
	struct counter_set more;
	const struct counter *c;
	unsigned int port;
	size_t i;

	for (port = 2; !ret && port <= dev->ports; port++) {
		more = (struct counter_set){ 0 };
		ret = counter_set_read(&more, src, dev, port);
		for (i = 0; i < s->n; i++) {
			c = counter_set_find(&more, s->v[i].name);
			s->v[i].value += c ? c->value : 0;
		}
		counter_set_free(&more);
	}
	return ret;
}

/**
 * counter_set_group - bring the counters of a group together
 * @s: set
 *
 * Drivers add new counters behind those they have. Groups keep the order in which they first
 * appear, counters theirs within a group.
 */
void counter_set_group(struct counter_set *s)
{
	struct counter c;
	size_t i, j;

	for (i = 1; i < s->n; i++) {
		for (j = i; j && strcmp(s->v[j - 1].group, s->v[i].group); j--)
			;
		if (!j)
			continue;	/* the first of its group */
		c = s->v[i];
		memmove(&s->v[j + 1], &s->v[j], (i - j) * sizeof(c));
		s->v[j] = c;
	}
}

/**
 * counter_set_find - find a counter
 * @s: set, or NULL
 * @name: name of this driver
 *
 * Return: counter, or NULL.
 */
const struct counter *counter_set_find(const struct counter_set *s, const char *name)
{
	size_t i;

	for (i = 0; s && i < s->n; i++)
		if (!strcmp(s->v[i].name, name))
			return &s->v[i];
	return NULL;
}

/**
 * counter_set_free - free the counters of a set
 * @s: set; empty then
 */
void counter_set_free(struct counter_set *s)
{
	free(s->v);
	*s = (struct counter_set){ 0 };
}

/* The counters that a counter of the vendor's is made of; false if one is not there */
static bool vendor_value(const struct counter_set *s, const struct vendor_counter *v,
			 struct counter *out)
{
	const struct counter *part;
	size_t i;

	out->group = v->group;
	for (i = 0; i < 2 && v->from[i]; i++) {
		part = counter_set_find(s, v->from[i]);
		if (!part)
			return false;
		out->value += part->value;
		out->group = part->group;
		out->error |= part->error;
		if (!v->from[1])
			memcpy(out->native, part->native[0] ? part->native : part->name,
			       sizeof(out->native));
	}
	return true;
}

/**
 * counter_set_to_vendor - give a set the names of the vendor's driver, and what they count
 * @s: set
 */
void counter_set_to_vendor(struct counter_set *s)
{
	struct counter_set theirs = { .time_ns = s->time_ns };
	const struct vendor_counter *v;
	struct counter *c, made;
	size_t i;

	for (i = 0; (v = vendor_counter(i)); i++) {
		made = (struct counter){ 0 };
		if (!vendor_value(s, v, &made))
			continue;
		c = new_counter(&theirs);
		if (!c)
			break;
		*c = made;
		strncpy(c->name, v->name, sizeof(c->name) - 1);
		if (!strcmp(c->native, c->name))
			c->native[0] = '\0';
	}
	counter_set_free(s);
	*s = theirs;
}
