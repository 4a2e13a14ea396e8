// SPDX-License-Identifier: GPL-2.0-or-later
/* All counters of a device at one time. */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "counter_set.h"
#include "counters.h"

/**
 * counter_set_new - one more counter
 * @s: set
 *
 * Return: counter, all zero; NULL without memory.
 */
struct counter *counter_set_new(struct counter_set *s)
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
	struct counter *c = counter_set_new(arg);

	if (!c)
		return;
	if (counter_canonical(name, c->name, sizeof(c->name)))
		strncpy(c->native, name, sizeof(c->native) - 1);
	c->group = counter_group(c->name);
	c->error = counter_is_error(c->name);
	c->value = value;
}

/**
 * counter_set_read - read all counters of a device
 * @s: empty set
 * @src: source
 * @dev: device
 * @port: port
 *
 * Return: 0, or the negative error number of the source; @s may have counters then, too.
 */
int counter_set_read(struct counter_set *s, struct source *src, struct dev *dev, unsigned int port)
{
	s->time_ns = clock_ns(CLOCK_MONOTONIC);
	return src->ops->counters(src, dev, port, add_counter, s);
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
