// SPDX-License-Identifier: GPL-2.0-or-later
/* Bodies of lines "name=value". Values have no line ends: \n and \\ are written as such. */
#include <stdio.h>
#include <string.h>

#include "snap.h"

static void put_bytes(struct snap_lines *l, const char *s, size_t n)
{
	size_t cap = l->cap ? l->cap : 512;
	char *grown;

	while (l->len + n > cap)
		cap *= 2;
	if (cap != l->cap) {
		grown = pool_alloc(l->pool, cap);
		if (l->len)
			memcpy(grown, l->text, l->len);
		l->text = grown;
		l->cap = cap;
	}
	memcpy(l->text + l->len, s, n);
	l->len += n;
}

static void put_value(struct snap_lines *l, const char *s)
{
	for (; *s; s++) {
		if (*s == '\n')
			put_bytes(l, "\\n", 2);
		else if (*s == '\\')
			put_bytes(l, "\\\\", 2);
		else
			put_bytes(l, s, 1);
	}
}

/**
 * lines_add - one more line
 * @l: lines; starts as zeros with a pool
 * @cls: class of the value; what may not be shown is left out
 * @name: name, without '='
 * @fmt: as printf: the value
 */
void lines_add(struct snap_lines *l, enum field_class cls, const char *name, const char *fmt, ...)
{
	const char *value;
	va_list ap;

	va_start(ap, fmt);
	value = pool_vprintf(l->pool, fmt, ap);
	va_end(ap);
	if (l->redact)
		value = redact_text(l->redact, cls, value);
	if (!value)
		return;
	put_bytes(l, name, strlen(name));
	put_bytes(l, "=", 1);
	put_value(l, value);
	put_bytes(l, "\n", 1);
}

/* The value of a line, without what was written for its line ends; cut if it is too long */
static void copy_value(const char *from, size_t n, char *value, size_t size)
{
	size_t i, to = 0;

	for (i = 0; i < n && to + 1 < size; i++) {
		if (from[i] == '\\' && i + 1 < n)
			value[to++] = from[++i] == 'n' ? '\n' : from[i];
		else
			value[to++] = from[i];
	}
	value[to] = '\0';
}

/**
 * lines_next - one line after the other
 * @body: lines, of a file: nothing of them is trusted
 * @len: bytes
 * @pos: where to look, 0 at first
 * @name: set
 * @name_size: its room; a line whose name does not fit is skipped
 * @value: set
 * @value_size: its room
 *
 * Return: false at the end.
 */
bool lines_next(const uint8_t *body, size_t len, size_t *pos, char *name, size_t name_size,
		char *value, size_t value_size)
{
	const char *line, *end, *eq;

	while (*pos < len && body[*pos]) {
		line = (const char *)body + *pos;
		end = memchr(line, '\n', len - *pos);
		if (!end)
			return false;
		*pos += (size_t)(end - line) + 1;
		eq = memchr(line, '=', (size_t)(end - line));
		if (!eq || (size_t)(eq - line) >= name_size)
			continue;
		memcpy(name, line, (size_t)(eq - line));
		name[eq - line] = '\0';
		copy_value(eq + 1, (size_t)(end - eq - 1), value, value_size);
		return true;
	}
	return false;
}

/**
 * lines_find - the value of a name
 * @body: lines
 * @len: bytes
 * @name: name
 * @value: set; "" if there is no such line
 * @size: its room
 *
 * Return: is there such a line?
 */
bool lines_find(const uint8_t *body, size_t len, const char *name, char *value, size_t size)
{
	char found[64];
	size_t pos = 0;

	while (lines_next(body, len, &pos, found, sizeof(found), value, size))
		if (!strcmp(found, name))
			return true;
	value[0] = '\0';
	return false;
}
