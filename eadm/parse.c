// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers, ranges and durations as users write them. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

static bool parse_u64(const char *s, uint64_t *v, const char **end)
{
	char *e;

	if (!isdigit((unsigned char)s[0]))
		return false;
	errno = 0;
	*v = strtoull(s, &e, s[0] == '0' && (s[1] | 0x20) == 'x' ? 16 : 10);
	*end = e;
	return !errno && e != s;
}

/**
 * parse_u32 - a number, decimal or with 0x
 * @s: text
 * @v: result
 *
 * Return: true if it is one, all of it.
 */
bool parse_u32(const char *s, uint32_t *v)
{
	const char *end;
	uint64_t n;

	if (!parse_u64(s, &n, &end) || *end || n > UINT32_MAX)
		return false;
	*v = (uint32_t)n;
	return true;
}

/**
 * parse_duration - a time: 500ms, 10s, 5m, 1h; without unit seconds
 * @s: text
 * @ms: result in milliseconds, at least 1
 *
 * Return: true if it is one.
 */
bool parse_duration(const char *s, uint64_t *ms)
{
	static const struct {
		const char *unit;
		double ms;
	} units[] = { { "", 1000 }, { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 } };
	double v;
	char *end;
	size_t i;

	if (!isdigit((unsigned char)s[0]) || (s[1] | 0x20) == 'x')
		return false;
	errno = 0;
	v = strtod(s, &end);
	for (i = 0; i < COUNT_OF(units); i++)
		if (!errno && !strcmp(end, units[i].unit)) {
			v *= units[i].ms;
			if (!(v >= 1) || v > 1e15)
				return false;
			*ms = (uint64_t)v;
			return true;
		}
	return false;
}

/**
 * parse_range - A-B inclusive, or A
 * @s: text
 * @first: A
 * @last: B, not below A
 *
 * Return: true if it is one.
 */
bool parse_range(const char *s, uint32_t *first, uint32_t *last)
{
	const char *end;
	uint64_t a, b;

	if (!parse_u64(s, &a, &end))
		return false;
	b = a;
	if (*end == '-' && !parse_u64(end + 1, &b, &end))
		return false;
	if (*end || a > b || b > UINT32_MAX)
		return false;
	*first = (uint32_t)a;
	*last = (uint32_t)b;
	return true;
}

static bool id_add(struct pool *p, struct id_set *set, const char *item)
{
	struct id_range *r;

	if (!(set->n & (set->n - 1))) {
		r = pool_alloc(p, (set->n ? 2 * set->n : 1) * sizeof(*r));
		if (set->n)
			memcpy(r, set->r, set->n * sizeof(*r));
		set->r = r;
	}
	r = &set->r[set->n];
	if (!parse_range(item, &r->first, &r->last))
		return false;
	r->single = !strchr(item, '-');
	set->n++;
	return true;
}

/**
 * parse_ids - numbers and ranges, as words and separated by commas
 * @p: memory
 * @v: words
 * @n: their number
 * @out: result
 * @bad: the part that is none, if false
 *
 * Return: true if all are.
 */
bool parse_ids(struct pool *p, char *const *v, int n, struct id_set *out, const char **bad)
{
	char *word, *item, *save;
	int i;

	*out = (struct id_set){ 0 };
	for (i = 0; i < n; i++) {
		*bad = v[i];
		if (!*v[i] || *v[i] == ',' || v[i][strlen(v[i]) - 1] == ',')
			return false;
		word = pool_strdup(p, v[i]);
		for (item = strtok_r(word, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
			*bad = item;
			if (!id_add(p, out, item))
				return false;
		}
	}
	return true;
}

/**
 * ids_have - is a number among those that were given?
 * @ids: ranges
 * @id: number
 *
 * Return: true if it is.
 */
bool ids_have(const struct id_set *ids, uint32_t id)
{
	size_t i;

	for (i = 0; i < ids->n; i++)
		if (id >= ids->r[i].first && id <= ids->r[i].last)
			return true;
	return false;
}

/**
 * parse_eq - name of an event queue
 * @s: "aeq", "cmdq" or a number
 * @eqn: result, ERDMA_DIAG_EQ_*
 *
 * Return: true if it is one.
 */
bool parse_eq(const char *s, uint32_t *eqn)
{
	if (!strcmp(s, "aeq"))
		*eqn = ERDMA_DIAG_EQ_AEQ;
	else if (!strcmp(s, "cmdq"))
		*eqn = ERDMA_DIAG_EQ_CMDQ;
	else
		return parse_u32(s, eqn);
	return true;
}

/**
 * parse_peer - an IPv4 address with or without a port
 * @s: 10.0.0.7 or 10.0.0.7:49152
 * @addr: result: the address as text
 * @port: result
 * @have_port: a port was given
 *
 * Return: true if it is one.
 */
bool parse_peer(const char *s, char addr[46], uint32_t *port, bool *have_port)
{
	const char *colon = strchr(s, ':');
	size_t n = colon ? (size_t)(colon - s) : strlen(s);
	struct in_addr in;

	*have_port = colon;
	if (n >= 46 || (colon && (!parse_u32(colon + 1, port) || *port > 65535)))
		return false;
	memcpy(addr, s, n);
	addr[n] = '\0';
	return inet_pton(AF_INET, addr, &in) == 1;
}
