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

#include "pseudonym.h"
#include "redact_int.h"

/* Bytes of a value that gets a pseudonym; longer ones differ only by these */
#define VALUE_MAX	512

/**
 * struct named - a value and the number it got
 * @cls: its class
 * @n: number, from 1
 * @len: bytes
 * @value: they
 */
struct named {
	enum field_class cls;
	uint32_t n;
	size_t len;
	uint8_t value[];
};

/**
 * struct region - a memory region, by one of its keys
 * @key: key
 * @index: its number
 * @iova: first address
 * @len: bytes
 */
struct region {
	uint32_t key;
	uint32_t index;
	uint64_t iova;
	uint64_t len;
};

/**
 * struct redact - a file that is redacted
 * @pool: memory of texts
 * @own: memory of what is below, as long as the file is written
 * @level: how much is left
 * @names: struct named, a tree
 * @regions: struct region, a tree; in the file before the rings
 * @slot_wqebbs: blocks of a slot of the command queue, from its record; 0: unknown
 * @last: numbers that were given, by class
 * @probe: a struct named, looked for
 */
struct redact {
	struct pool *pool;
	struct pool own;
	enum redact_level level;
	void *names;
	void *regions;
	uint32_t slot_wqebbs;
	uint32_t last[FC_COUNT];
	struct named *probe;
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
	r->probe = pool_alloc(p, sizeof(*r->probe) + VALUE_MAX);
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
	tdestroy(r->names, keep);
	tdestroy(r->regions, keep);
	r->names = r->regions = NULL;
	pool_free(&r->own);
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

static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	if (x->cls != y->cls)
		return x->cls < y->cls ? -1 : 1;
	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return memcmp(x->value, y->value, x->len);
}

static uint32_t number_of(struct redact *r, enum field_class cls, const void *value, size_t len)
{
	struct named **found, *n = r->probe;

	n->cls = cls;
	n->len = len < VALUE_MAX ? len : VALUE_MAX;
	memcpy(n->value, value, n->len);
	found = tfind(n, &r->names, compare_named);
	if (found)
		return (*found)->n;
	n = pool_alloc(&r->own, sizeof(*n) + n->len);
	memcpy(n, r->probe, sizeof(*n) + r->probe->len);
	n->n = ++r->last[cls];
	return tsearch(n, &r->names, compare_named) ? n->n : 0;
}

/* ---- regions ---------------------------------------------------------------- */

static int compare_region(const void *a, const void *b)
{
	const struct region *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static void note_region(struct redact *r, const struct erdma_diag_mr *mr, uint32_t key)
{
	struct region *region;

	if (!key)
		return;
	region = pool_alloc(&r->own, sizeof(*region));
	*region = (struct region){ key, mr->index, mr->iova, mr->length };
	tsearch(region, &r->regions, compare_region);
}

/* What later records need of this one */
static void note_record(struct redact *r, uint16_t type, const uint8_t *body, size_t len)
{
	struct erdma_diag_cmdq cmdq = { 0 };
	struct erdma_diag_mr mr = { 0 };

	if (type == ERDMA_DIAG_REC_MR) {
		memcpy(&mr, body, len < sizeof(mr) ? len : sizeof(mr));
		note_region(r, &mr, mr.lkey);
		note_region(r, &mr, mr.rkey);
	} else if (type == ERDMA_DIAG_REC_CMDQ) {
		memcpy(&cmdq, body, len < sizeof(cmdq) ? len : sizeof(cmdq));
		r->slot_wqebbs = cmdq.slot_wqebbs;
	}
}

/**
 * redact_slot_wqebbs - size of a slot of the command queue
 * @r: redaction
 *
 * Return: blocks; 0 if its record is not in the file yet.
 */
uint32_t redact_slot_wqebbs(const struct redact *r)
{
	return r->slot_wqebbs;
}

/**
 * redact_key - the pseudonym of a key
 * @r: redaction
 * @key: key
 *
 * Return: its number, or 0 for 0.
 */
uint32_t redact_key(struct redact *r, uint32_t key)
{
	return key ? number_of(r, FC_KEY, &key, sizeof(key)) : 0;
}

/**
 * redact_addr - the pseudonym of an address
 * @r: redaction
 * @addr: address
 * @key: key of the region that it is to be in, 0: none
 *
 * Return: place in the region, if it is one of this file; else a number; 0 for 0.
 */
uint64_t redact_addr(struct redact *r, uint64_t addr, uint32_t key)
{
	const struct region probe = { .key = key }, *mr;
	void *found = key ? tfind(&probe, &r->regions, compare_region) : NULL;
	uint64_t pseudonym;

	mr = found ? *(struct region **)found : NULL;
	if (mr && addr - mr->iova < mr->len &&
	    pseudonym_in_region(mr->index, addr - mr->iova, &pseudonym))
		return pseudonym;
	return addr ? number_of(r, FC_ADDR, &addr, sizeof(addr)) : 0;
}

/**
 * redact_ip - an IPv4 address gets its pseudonym: of the class E, which nobody has;
 *	eadm shows it as "ip-N"
 * @r: redaction
 * @p: its four bytes, in network order
 */
void redact_ip(struct redact *r, uint8_t *p)
{
	uint32_t n = htonl(0xf0000000 | (number_of(r, FC_IP, p, 4) & 0xffffff));

	memcpy(p, &n, sizeof(n));
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

static void text_pseudonym(struct redact *r, enum field_class cls, uint8_t *p, size_t len)
{
	uint32_t n = number_of(r, cls, p, strnlen((char *)p, len));

	memset(p, 0, len);
	pseudo_string(p, len, cls == FC_NAME ? "name" : "comm", n);
}

static void key_pseudonym(struct redact *r, uint8_t *p)
{
	uint32_t key;

	memcpy(&key, p, sizeof(key));
	key = redact_key(r, key);
	memcpy(p, &key, sizeof(key));
}

static void addr_pseudonym(struct redact *r, uint8_t *p, uint32_t key)
{
	uint64_t addr;

	memcpy(&addr, p, sizeof(addr));
	addr = redact_addr(r, addr, key);
	memcpy(p, &addr, sizeof(addr));
}

static void field_pseudonym(struct redact *r, const struct layout_field *f, uint8_t *p, size_t len,
			    uint32_t key)
{
	uint32_t n;

	switch (f->cls) {
	case FC_IP:
		redact_ip(r, p);
		memset(p + 4, 0, len - 4);
		break;
	case FC_NAME:
	case FC_COMM:
		text_pseudonym(r, f->cls, p, len);
		break;
	case FC_KEY:
		key_pseudonym(r, p);
		break;
	case FC_ADDR:
		addr_pseudonym(r, p, 0);
		break;
	case FC_PLACE:
		addr_pseudonym(r, p, key);
		break;
	default:
		n = number_of(r, f->cls, p, len);
		memset(p, 0, len);
		pseudo_number(p, len, n);
	}
}

/* @key: of the region that a place is in. True if something was taken away. */
static bool redact_field(struct redact *r, const struct layout_field *f, uint8_t *p, size_t len,
			 uint32_t key)
{
	if (f->cls == FC_PLAIN || (is_zero(p, len) && f->cls != FC_PLACE))
		return false;
	if (r->level == REDACT_IDS && f->cls != FC_DATA) {
		field_pseudonym(r, f, p, len, key);
		return false;
	}
	memset(p, 0, len);
	return true;
}

/* All that a table names; the rest is zeroed */
static bool redact_fields(struct redact *r, const struct layout *l, uint8_t *body, size_t len,
			  uint32_t key)
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
		hidden |= redact_field(r, f, body + f->off, n, key);
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

	return len > at && redact_fields(r, l, body + at, len - at, 0);
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

/* Of a region's record */
static uint32_t key_of(uint16_t type, const uint8_t *body, size_t len)
{
	const size_t at = offsetof(struct erdma_diag_mr, lkey);
	uint32_t key = 0;

	if (type == ERDMA_DIAG_REC_MR && len >= at + sizeof(key))
		memcpy(&key, body + at, sizeof(key));
	return key;
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
	note_record(r, type, body, len);
	hidden = redact_fields(r, l, body, len, key_of(type, body, len));
	return context ? redact_context(r, context, body, len) | hidden : hidden;
}

/* ---- text ------------------------------------------------------------------- */

static const char *text_ip(struct redact *r, const char *text)
{
	struct in_addr a;
	uint32_t n;

	if (inet_pton(AF_INET, text, &a) != 1)
		return NULL;
	redact_ip(r, (uint8_t *)&a);
	n = ntohl(a.s_addr);
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
