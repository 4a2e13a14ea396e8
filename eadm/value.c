// SPDX-License-Identifier: GPL-2.0-or-later
/* Values as text. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "emit.h"

/* Decimal digits of a number, then @tail */
static const char *digits_text(struct pool *p, uint64_t v, const char *tail)
{
	/* What most cells of a long list are */
	static const char small[][2] = { "0", "1", "2", "3", "4", "5", "6", "7", "8", "9" };
	size_t n = 1, len = strlen(tail);
	uint64_t rest;
	char *s;

	if (v < COUNT_OF(small) && !len)
		return small[v];
	for (rest = v; rest > 9; rest /= 10)
		n++;
	s = pool_alloc(p, n + len + 1);
	memcpy(s + n, tail, len);
	do {
		s[--n] = (char)('0' + v % 10);
		v /= 10;
	} while (n);
	return s;
}

static const char *size_text(struct pool *p, uint64_t v, bool exact)
{
	static const char units[] = "KMGTPE";
	int u = -1;

	if (exact || v < 1024)
		return digits_text(p, v, "");
	while (v >= 1024 && !(v % 1024) && u < 5) {
		v /= 1024;
		u++;
	}
	return digits_text(p, v, u < 0 ? "" : (const char[]){ units[u], 'i', '\0' });
}

static const char *duration_text(struct pool *p, uint64_t ns, bool exact)
{
	uint64_t s = ns / 1000000000;

	if (exact)
		return pool_printf(p, "%llu.%09llus", (unsigned long long)s,
				   (unsigned long long)(ns % 1000000000));
	if (ns < 1000000)
		return digits_text(p, ns / 1000, "us");
	if (s < 1)
		return digits_text(p, ns / 1000000, "ms");
	if (s < 60)
		return digits_text(p, s, (const char[]){ '.', (char)('0' + ns / 100000000 % 10),
							 's', '\0' });
	if (s < 3600)
		return pool_printf(p, "%llum%02llus", (unsigned long long)(s / 60),
				   (unsigned long long)(s % 60));
	if (s < 86400)
		return pool_printf(p, "%lluh%02llum", (unsigned long long)(s / 3600),
				   (unsigned long long)(s / 60 % 60));
	return pool_printf(p, "%llud%02lluh", (unsigned long long)(s / 86400),
			   (unsigned long long)(s / 3600 % 24));
}

static char *rate_text(struct pool *p, double v, bool exact)
{
	static const char units[] = "KMGT";
	int u = -1;

	if (exact)
		return pool_printf(p, "%.3f", v);
	while (v >= (u < 0 ? 10000 : 1000) && u < 3) {
		v /= 1000;
		u++;
	}
	if (u < 0)
		return pool_printf(p, "%.*f", v == floor(v) ? 0 : 1, v);
	return pool_printf(p, "%.1f%c", v, units[u]);
}

static char *words_text(struct pool *p, const struct words *w)
{
	size_t i, n = 1;
	char *s, *end;

	for (i = 0; i < w->n; i++)
		n += strlen(w->w[i]) + 1;
	s = end = pool_alloc(p, n);
	for (i = 0; i < w->n; i++) {
		if (i)
			*end++ = ',';
		end = stpcpy(end, w->w[i]);
	}
	return s;
}

static char *bytes_text(struct pool *p, const uint8_t *b, size_t n)
{
	char *s = pool_alloc(p, 2 * n + 1);
	size_t i;

	for (i = 0; i < n; i++)
		snprintf(s + 2 * i, 3, "%02x", b[i]);
	return s;
}

static const char *number_text(struct pool *p, enum field_type type, uint64_t v, bool exact)
{
	switch (type) {
	case T_SIZE:
		return size_text(p, v, exact);
	case T_NS:
		return duration_text(p, v, exact);
	case T_BOOL:
		return v ? "yes" : "no";
	case T_HEX:
		return pool_printf(p, "0x%llx", (unsigned long long)v);
	case T_HEX32:
		return pool_printf(p, "0x%08llx", (unsigned long long)v);
	case T_HEX64:
		return pool_printf(p, "0x%016llx", (unsigned long long)v);
	default:
		return digits_text(p, v, "");
	}
}

/**
 * value_text - a value as text
 * @p: memory
 * @type: how to show it
 * @v: value
 * @exact: no units, no rounding
 *
 * Return: the text, "" if the value does not apply or is empty. It lives as long as the value
 * and the memory.
 */
const char *value_text(struct pool *p, enum field_type type, const struct val *v, bool exact)
{
	switch (v->kind) {
	case V_U64:
		return number_text(p, type, v->u, exact);
	case V_I64:
		return pool_printf(p, "%lld", (long long)v->i);
	case V_DBL:
		return rate_text(p, v->d, exact);
	case V_STR:
		return v->s;
	case V_WORDS:
		return words_text(p, v->w);
	case V_BYTES:
		return bytes_text(p, v->b, v->n);
	case V_UNKNOWN:
		return "?";
	case V_WITHHELD:
		return "hidden";
	case V_UNASKED:
		return "-";
	default:
		return "";
	}
}

/**
 * time_rfc3339 - a point in time as RFC 3339 has it, in UTC
 * @ns: nanoseconds since 1970
 * @text: result: "2026-11-24T23:35:54.123456789Z"
 */
void time_rfc3339(uint64_t ns, char text[TIME_LEN])
{
	time_t s = (time_t)(ns / 1000000000);
	struct tm tm;
	size_t n;

	gmtime_r(&s, &tm);
	n = strftime(text, TIME_LEN, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, TIME_LEN - n, ".%09uZ", (unsigned int)(ns % 1000000000));
}
