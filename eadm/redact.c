// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a file does not show: fields by their class (layout.h), bytes that no table names.
 * Pseudonyms are numbers in the order in which values appear: equal values stay equal.
 */
#include <arpa/inet.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "erdma/erdma_hw.h"
#include "erdma/erdma_snapshot.h"
#include "uapi/erdma_diag.h"

#include "snap.h"

/**
 * struct pseudonym - a value and the number it got
 * @cls: its class
 * @n: number, from 1
 * @len: bytes
 * @value: they
 */
struct pseudonym {
	enum field_class cls;
	uint32_t n;
	size_t len;
	uint8_t value[];
};

struct redact {
	struct pool *pool;
	enum redact_level level;
	void *tree;
	uint32_t last[FC_COUNT];
};

/**
 * redact_new - begin
 * @p: memory
 * @level: how much is left
 *
 * Return: for redact_end().
 */
struct redact *redact_new(struct pool *p, enum redact_level level)
{
	struct redact *r = pool_alloc(p, sizeof(*r));

	*r = (struct redact){ .pool = p, .level = level };
	return r;
}

static void keep(void *p)
{
	(void)p;	/* of the pool */
}

/**
 * redact_end - end
 * @r: not to be used any more
 */
void redact_end(struct redact *r)
{
	tdestroy(r->tree, keep);
	r->tree = NULL;
}

/**
 * redact_level - how much is left
 * @r: redaction, or NULL
 *
 * Return: level.
 */
enum redact_level redact_level(const struct redact *r)
{
	return r ? r->level : REDACT_NONE;
}

static const char *const redact_names[] = {
	[REDACT_NONE] = "none", [REDACT_IDS] = "ids", [REDACT_FULL] = "full",
};

/**
 * redact_name - the level as a word of --redact
 * @r: redaction, or NULL
 *
 * Return: static string.
 */
const char *redact_name(const struct redact *r)
{
	return redact_names[redact_level(r)];
}

/**
 * redact_level_of - a word of --redact as a level
 * @word: word, or NULL
 *
 * Return: level; REDACT_NONE for what is no such word.
 */
enum redact_level redact_level_of(const char *word)
{
	enum redact_level level = REDACT_FULL;

	while (level != REDACT_NONE && (!word || strcmp(word, redact_names[level])))
		level--;
	return level;
}

static int compare(const void *a, const void *b)
{
	const struct pseudonym *x = a, *y = b;

	if (x->cls != y->cls)
		return x->cls < y->cls ? -1 : 1;
	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return memcmp(x->value, y->value, x->len);
}

static uint32_t number_of(struct redact *r, enum field_class cls, const void *value, size_t len)
{
	struct pseudonym *p = pool_alloc(r->pool, sizeof(*p) + len), **found;

	p->cls = cls;
	p->len = len;
	memcpy(p->value, value, len);
	found = tsearch(p, &r->tree, compare);
	if (!found)
		return 0;
	if (*found == p)
		p->n = ++r->last[cls];
	return (*found)->n;
}

/* ---- structures ------------------------------------------------------------ */

static bool is_zero(const uint8_t *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

/* Addresses of the class E of IPv4, which nobody has; eadm shows them as "ip-N" */
static void pseudo_ip(uint8_t *p, uint32_t n)
{
	n = htonl(0xf0000000 | (n & 0xffffff));
	memcpy(p, &n, sizeof(n));
}

static void pseudo_number(uint8_t *p, size_t len, uint32_t n)
{
	uint64_t v = n;

	if (len == 4)
		memcpy(p, &n, len);
	else if (len == 8)
		memcpy(p, &v, len);
	else if (len)
		p[len - 1] = (uint8_t)n;
}

static void pseudo_string(uint8_t *p, size_t len, const char *word, uint32_t n)
{
	snprintf((char *)p, len, "%s-%u", word, n);
}

static void field_pseudonym(struct redact *r, const struct layout_field *f, uint8_t *p, size_t len)
{
	size_t used = f->cls == FC_NAME || f->cls == FC_COMM ? strnlen((char *)p, len) :
		      f->cls == FC_IP ? 4 : len;
	uint32_t n = number_of(r, f->cls, p, used);

	memset(p, 0, len);
	if (f->cls == FC_IP)
		pseudo_ip(p, n);
	else if (f->cls == FC_NAME)
		pseudo_string(p, len, "name", n);
	else if (f->cls == FC_COMM)
		pseudo_string(p, len, "comm", n);
	else
		pseudo_number(p, len, n);
}

/* True if something was taken away */
static bool redact_field(struct redact *r, const struct layout_field *f, uint8_t *p, size_t len)
{
	if (f->cls == FC_PLAIN || is_zero(p, len))
		return false;
	if (r->level == REDACT_IDS && f->cls != FC_ADDR && f->cls != FC_KEY) {
		field_pseudonym(r, f, p, len);
		return false;
	}
	memset(p, 0, len);
	return true;
}

/* All that a table names; the rest is zeroed */
static bool redact_fields(struct redact *r, const struct layout *l, uint8_t *body, size_t len)
{
	const struct layout_field *f;
	size_t end = 0, n;
	bool hidden = false;

	for (f = l->f; f < l->f + l->n; f++) {
		if (f->off > len)
			break;
		memset(body + end, 0, f->off - end);
		n = (size_t)f->width * f->count;
		if (n > len - f->off)
			break;
		hidden |= redact_field(r, f, body + f->off, n);
		end = f->off + n;
	}
	if (len > end)
		memset(body + end, 0, len - end);
	return hidden;
}

/* The device's own context, in struct erdma_diag_hw.data */
static bool redact_context(struct redact *r, const struct layout *l, uint8_t *body, size_t len)
{
	const size_t at = offsetof(struct erdma_diag_hw, data);

	return len > at && redact_fields(r, l, body + at, len - at);
}

/* The local DMA key is a part of the word */
static void redact_caps(uint8_t *body, size_t len)
{
	const size_t at = offsetof(struct erdma_diag_info, cap1);
	uint64_t cap1;

	if (len < at + sizeof(cap1))
		return;
	memcpy(&cap1, body + at, sizeof(cap1));
	cap1 &= ~ERDMA_CAP1_LOCAL_DMA_KEY;
	memcpy(body + at, &cap1, sizeof(cap1));
}

/**
 * redact_record - take from a structure what the file is not to show
 * @r: redaction
 * @type: type of the record
 * @body: structure, in the byte order of this machine
 * @len: its bytes
 *
 * Lines were redacted when they were made. A type without a table loses all.
 *
 * Return: was something taken away that has no pseudonym?
 */
bool redact_record(struct redact *r, uint16_t type, uint8_t *body, size_t len)
{
	const struct layout *l = layout_of_record(type), *context = layout_of_context(type);
	bool hidden;

	if (r->level == REDACT_NONE || (type >= ERDMA_SNAP_TOOL && !l))
		return false;
	if (type == ERDMA_SNAP_INFO)
		redact_caps(body, len);
	if (!l) {
		memset(body, 0, len);
		return true;
	}
	hidden = redact_fields(r, l, body, len);
	return context ? redact_context(r, context, body, len) | hidden : hidden;
}

/* ---- text ------------------------------------------------------------------- */

static const char *text_ip(struct redact *r, const char *text)
{
	struct in_addr a;
	uint32_t n;

	if (inet_pton(AF_INET, text, &a) != 1)
		return NULL;
	n = number_of(r, FC_IP, &a, sizeof(a));
	return pool_printf(r->pool, "240.%u.%u.%u", n >> 16 & 0xff, n >> 8 & 0xff, n & 0xff);
}

/**
 * redact_text - what a line of the file shows instead
 * @r: redaction
 * @cls: class of the value
 * @text: value
 *
 * Return: text; NULL if the line is to be left out.
 */
const char *redact_text(struct redact *r, enum field_class cls, const char *text)
{
	static const char *const words[FC_COUNT] = { [FC_NAME] = "name", [FC_COMM] = "comm" };
	unsigned long pid;

	if (r->level == REDACT_NONE || cls == FC_PLAIN || !*text)
		return text;
	if (r->level == REDACT_FULL)
		return NULL;
	if (cls == FC_IP)
		return text_ip(r, text);
	if (words[cls])
		return pool_printf(r->pool, "%s-%u", words[cls],
				   number_of(r, cls, text, strlen(text)));
	if (cls != FC_PID)
		return NULL;
	pid = strtoul(text, NULL, 10);
	return pool_printf(r->pool, "%u", number_of(r, FC_PID, &(uint32_t){ (uint32_t)pid }, 4));
}
