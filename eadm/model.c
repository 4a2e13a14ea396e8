// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts: objects with numbered fields, and the pools they live in. */
#include <assert.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "model.h"
#include "schema.h"

/*
 * Bytes of a block, from which pieces are handed out. Sanitizers see only what is
 * a block of its own: with them each piece is.
 */
#ifndef __has_feature			/* clang's way to ask */
#define __has_feature(x)	0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define POOL_BLOCK	0
#define POOL_HUGE	0
#else
#define POOL_BLOCK	(256 * 1024)		/* mmap() has zeroes */
#define POOL_HUGE	(2 * 1024 * 1024)	/* one page fault instead of hundreds */
#endif

struct pool_block {
	struct pool_block *next;
	max_align_t data[];
};

static char *pool_add_block(struct pool *p, struct pool_block *b)
{
	if (!b)
		errx(1, "out of memory [ENOMEM]");
	b->next = p->blocks;
	p->blocks = b;
	return (char *)b->data;
}

static char *pool_new_block(struct pool *p, size_t size)
{
	return pool_add_block(p, calloc(1, sizeof(struct pool_block) + size));
}

/* Bytes for pieces. Who has filled a block has thousands of objects: it gets a huge page */
static void pool_refill(struct pool *p)
{
	struct pool_block *b;

	if (!p->free || !POOL_HUGE) {
		p->left = POOL_BLOCK;
		p->free = pool_new_block(p, p->left);
		return;
	}
	b = aligned_alloc(POOL_HUGE, POOL_HUGE);
	if (b) {
		madvise(b, POOL_HUGE, MADV_HUGEPAGE);	/* without it the pages are small */
		memset(b, 0, POOL_HUGE);
	}
	p->left = POOL_HUGE - sizeof(*b);
	p->free = pool_add_block(p, b);
}

/* What follows is in blocks of its own */
static void pool_cut(struct pool *p)
{
	p->free = NULL;
	p->left = 0;
}

/**
 * pool_alloc - zeroed memory that lives as long as the pool
 * @p: pool
 * @size: bytes
 *
 * Return: the memory; without memory the program ends with status 1.
 */
void *pool_alloc(struct pool *p, size_t size)
{
	const size_t align = _Alignof(max_align_t);
	char *piece;

	if (size + 1 > POOL_BLOCK / 4)
		return pool_new_block(p, size);
	size = (size + align - 1) & ~(align - 1);
	if (size > p->left)
		pool_refill(p);
	piece = p->free;
	p->free += size;
	p->left -= size;
	return piece;
}

/**
 * pool_grow - room for one more in an array
 * @p: pool
 * @v: array, NULL at first
 * @n: what is in it
 * @cap: its room, which grows
 * @size: bytes of each
 *
 * Return: the array; elsewhere if it was full.
 */
void *pool_grow(struct pool *p, void *v, size_t n, size_t *cap, size_t size)
{
	void *grown;

	if (n < *cap)
		return v;
	*cap = *cap ? 2 * *cap : 64;
	grown = pool_alloc(p, *cap * size);
	return n ? memcpy(grown, v, n * size) : grown;
}

/**
 * pool_strdup - copy of a string
 * @p: pool
 * @s: string
 *
 * Return: the copy.
 */
char *pool_strdup(struct pool *p, const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(pool_alloc(p, n), s, n);
}

/**
 * pool_vprintf - formatted string
 * @p: pool
 * @fmt: as printf
 * @ap: arguments
 *
 * Return: the string.
 */
char *pool_vprintf(struct pool *p, const char *fmt, va_list ap)
{
	va_list again;
	char *s;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	s = pool_alloc(p, (size_t)(n < 0 ? 0 : n) + 1);
	if (n > 0)
		vsnprintf(s, (size_t)n + 1, fmt, again);
	va_end(again);
	return s;
}

/**
 * pool_printf - formatted string
 * @p: pool
 * @fmt: as printf
 *
 * Return: the string.
 */
char *pool_printf(struct pool *p, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = pool_vprintf(p, fmt, ap);
	va_end(ap);
	return s;
}

/**
 * pool_mark - begin something whose memory is freed before that of the pool
 * @p: pool
 *
 * Return: for pool_release().
 */
struct pool_block *pool_mark(struct pool *p)
{
	pool_cut(p);
	return p->blocks;
}

/**
 * pool_release - free what was allocated since
 * @p: pool
 * @mark: of pool_mark() at that time
 */
void pool_release(struct pool *p, struct pool_block *mark)
{
	struct pool_block *b;

	while ((b = p->blocks) != mark) {
		p->blocks = b->next;
		free(b);
	}
	pool_cut(p);
}

/**
 * pool_free - free everything
 * @p: pool, empty and usable afterwards
 */
void pool_free(struct pool *p)
{
	pool_release(p, NULL);
}

/**
 * pool_take - what is in one pool belongs to another one from now on
 * @p: pool
 * @from: the other, empty afterwards
 */
void pool_take(struct pool *p, struct pool *from)
{
	struct pool_block **end = &from->blocks;

	while (*end)
		end = &(*end)->next;
	*end = p->blocks;
	p->blocks = from->blocks;
	pool_cut(p);
	*from = (struct pool){ 0 };
}

/**
 * obj_new - object without any facts
 * @p: pool
 * @schema: what its fields mean
 *
 * Return: the object.
 */
struct obj *obj_new(struct pool *p, const struct schema *schema)
{
	struct obj *o = pool_alloc(p, sizeof(*o) + schema->n_fields * sizeof(o->v[0]));

	o->schema = schema;
	o->pool = p;
	return o;
}

static struct val *slot(struct obj *o, unsigned int field)
{
	assert(field < o->schema->n_fields);
	return &o->v[field];
}

/**
 * obj_missing - say why a value is not there, unless it is
 * @o: object
 * @field: field
 * @why: V_UNKNOWN, V_WITHHELD or V_UNASKED
 */
void obj_missing(struct obj *o, unsigned int field, enum val_kind why)
{
	if (!obj_has(o, field))
		slot(o, field)->kind = why;
}

/**
 * obj_u64 - set an unsigned number
 * @o: object
 * @field: field
 * @v: value
 */
void obj_u64(struct obj *o, unsigned int field, uint64_t v)
{
	*slot(o, field) = (struct val){ .kind = V_U64, .u = v };
}

/**
 * obj_i64 - set a signed number
 * @o: object
 * @field: field
 * @v: value
 */
void obj_i64(struct obj *o, unsigned int field, int64_t v)
{
	*slot(o, field) = (struct val){ .kind = V_I64, .i = v };
}

/**
 * obj_dbl - set a fraction
 * @o: object
 * @field: field
 * @v: value
 */
void obj_dbl(struct obj *o, unsigned int field, double v)
{
	*slot(o, field) = (struct val){ .kind = V_DBL, .d = v };
}

/**
 * obj_strn - set a string from a byte array that need not be terminated
 * @o: object
 * @field: field
 * @s: bytes, possibly hostile: what is no printable ASCII becomes '?'
 * @max: their number
 */
void obj_strn(struct obj *o, unsigned int field, const void *s, size_t max)
{
	size_t i, n = strnlen(s, max);
	char *copy = pool_alloc(o->pool, n + 1);

	memcpy(copy, s, n);
	for (i = 0; i < n; i++)
		if (copy[i] < 0x20 || copy[i] > 0x7e)
			copy[i] = '?';
	*slot(o, field) = (struct val){ .kind = V_STR, .s = copy };
}

/**
 * obj_str - set a string
 * @o: object
 * @field: field
 * @s: string, copied
 */
void obj_str(struct obj *o, unsigned int field, const char *s)
{
	obj_strn(o, field, s, strlen(s));
}

/**
 * obj_const - set a string that is not copied
 * @o: object
 * @field: field
 * @s: printable string that lives as long as the program
 */
void obj_const(struct obj *o, unsigned int field, const char *s)
{
	*slot(o, field) = (struct val){ .kind = V_STR, .s = s };
}

/**
 * obj_strf - set a formatted string
 * @o: object
 * @field: field
 * @fmt: as printf
 */
void obj_strf(struct obj *o, unsigned int field, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	obj_str(o, field, pool_vprintf(o->pool, fmt, ap));
	va_end(ap);
}

/**
 * obj_bytes - set raw bytes
 * @o: object
 * @field: field
 * @p: bytes, copied
 * @n: their number
 */
void obj_bytes(struct obj *o, unsigned int field, const void *p, size_t n)
{
	uint8_t *copy = pool_alloc(o->pool, n);

	if (n)
		memcpy(copy, p, n);
	*slot(o, field) = (struct val){ .kind = V_BYTES, .b = copy, .n = (uint32_t)n };
}

/**
 * obj_word - append to a list of words; NULL makes an empty list
 * @o: object
 * @field: field
 * @word: a string that outlives the object, or NULL
 */
void obj_word(struct obj *o, unsigned int field, const char *word)
{
	struct val *v = slot(o, field);
	const char **grown;

	if (v->kind != V_WORDS)
		*v = (struct val){ .kind = V_WORDS, .w = pool_alloc(o->pool, sizeof(*v->w)) };
	if (!word)
		return;
	if (v->w->n == v->w->cap) {
		v->w->cap = v->w->cap ? 2 * v->w->cap : 4;
		grown = pool_alloc(o->pool, v->w->cap * sizeof(*grown));
		if (v->w->n)
			memcpy(grown, v->w->w, v->w->n * sizeof(*grown));
		v->w->w = grown;
	}
	v->w->w[v->w->n++] = word;
}

/**
 * obj_list - a list of objects inside an object, made when first asked for
 * @o: object
 * @field: field
 *
 * Return: the list.
 */
struct list *obj_list(struct obj *o, unsigned int field)
{
	struct val *v = slot(o, field);

	if (v->kind != V_LIST)
		*v = (struct val){ .kind = V_LIST, .l = pool_alloc(o->pool, sizeof(*v->l)) };
	return v->l;
}

/**
 * obj_sub - an object inside an object, made when first asked for
 * @o: object
 * @field: field, of a type with a schema of its own
 *
 * Return: the inner object.
 */
struct obj *obj_sub(struct obj *o, unsigned int field)
{
	struct val *v = slot(o, field);

	if (v->kind != V_OBJ)
		*v = (struct val){ .kind = V_OBJ,
				   .o = obj_new(o->pool, o->schema->fields[field].sub) };
	return v->o;
}

/**
 * obj_has - is the fact known?
 * @o: object
 * @field: field
 *
 * Return: true if it is.
 */
bool obj_has(const struct obj *o, unsigned int field)
{
	enum val_kind kind = obj_val(o, field)->kind;

	return kind != V_NONE && kind < V_UNKNOWN;
}

/**
 * obj_applies - does the fact exist, known or not?
 * @o: object
 * @field: field
 *
 * Return: true if it does.
 */
bool obj_applies(const struct obj *o, unsigned int field)
{
	return obj_val(o, field)->kind != V_NONE;
}

/**
 * obj_val - a value
 * @o: object
 * @field: field
 *
 * Return: the value; its kind says why there is none.
 */
const struct val *obj_val(const struct obj *o, unsigned int field)
{
	assert(field < o->schema->n_fields);
	return &o->v[field];
}

/**
 * obj_get_u64 - a number
 * @o: object
 * @field: field
 * @otherwise: result if it is not known
 *
 * Return: the number.
 */
uint64_t obj_get_u64(const struct obj *o, unsigned int field, uint64_t otherwise)
{
	const struct val *v = obj_val(o, field);

	return v->kind == V_U64 ? v->u : otherwise;
}

/**
 * obj_get_str - a string
 * @o: object
 * @field: field
 * @otherwise: result if it is not known
 *
 * Return: the string.
 */
const char *obj_get_str(const struct obj *o, unsigned int field, const char *otherwise)
{
	const struct val *v = obj_val(o, field);

	return v->kind == V_STR ? v->s : otherwise;
}

/**
 * obj_has_word - does a list of words have this word?
 * @o: object
 * @field: field
 * @word: word
 *
 * Return: true if it does.
 */
bool obj_has_word(const struct obj *o, unsigned int field, const char *word)
{
	const struct val *v = obj_val(o, field);
	size_t i;

	if (v->kind != V_WORDS)
		return false;
	for (i = 0; i < v->w->n; i++)
		if (!strcmp(v->w->w[i], word))
			return true;
	return false;
}

static int val_cmp(const struct val *a, const struct val *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	switch (a->kind) {
	case V_U64:
		return a->u < b->u ? -1 : a->u > b->u;
	case V_I64:
		return a->i < b->i ? -1 : a->i > b->i;
	case V_DBL:
		return a->d < b->d ? -1 : a->d > b->d;
	case V_STR:
		return strcmp(a->s, b->s);
	default:
		return 0;
	}
}

/**
 * val_equal - are two values the same?
 * @a: one
 * @b: the other
 *
 * Return: true for equal numbers or strings.
 */
bool val_equal(const struct val *a, const struct val *b)
{
	return !val_cmp(a, b);
}

/**
 * list_add - append an object
 * @l: list
 * @o: object, in no other list
 */
void list_add(struct list *l, struct obj *o)
{
	if (l->last)
		l->last->next = o;
	else
		l->first = o;
	l->last = o;
	l->n++;
}

struct sort_key {
	struct obj *o;
	const struct val *v;
	size_t seq;
};

static int sort_up(const void *pa, const void *pb)
{
	const struct sort_key *a = pa, *b = pb;
	int c = val_cmp(a->v, b->v);

	return c ? c : (a->seq < b->seq ? -1 : 1);
}

static int sort_down(const void *pa, const void *pb)
{
	const struct sort_key *a = pa, *b = pb;
	int c = val_cmp(b->v, a->v);

	return c ? c : (a->seq < b->seq ? -1 : 1);
}

/**
 * list_sort - order a list by one field; equal objects keep their order
 * @l: list
 * @field: field
 * @descending: largest first
 */
void list_sort(struct list *l, unsigned int field, bool descending)
{
	struct sort_key *keys;
	struct obj *o;
	size_t i = 0, n = l->n;

	if (n < 2)
		return;
	keys = pool_alloc(l->first->pool, n * sizeof(*keys));
	for (o = l->first; o; o = o->next, i++)
		keys[i] = (struct sort_key){ o, obj_val(o, field), i };
	qsort(keys, n, sizeof(*keys), descending ? sort_down : sort_up);
	*l = (struct list){ 0 };
	for (i = 0; i < n; i++) {
		keys[i].o->next = NULL;
		list_add(l, keys[i].o);
	}
}
