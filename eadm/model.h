/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts: objects with numbered fields whose meaning is in a schema (schema.h).
 * Commands fill objects, emitters print them; neither knows the other. All
 * memory belongs to a pool and goes away at once.
 */
#ifndef EADM_MODEL_H
#define EADM_MODEL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNT_OF(array)	(sizeof(array) / sizeof((array)[0]))

struct schema;
struct pool_block;

/**
 * struct pool - memory that is freed together
 * @blocks: everything that was allocated
 * @free: what is left of the newest block; NULL: what follows begins one
 * @left: bytes
 */
struct pool {
	struct pool_block *blocks;
	char *free;
	size_t left;
};

void *pool_alloc(struct pool *p, size_t size);
void *pool_grow(struct pool *p, void *v, size_t n, size_t *cap, size_t size);
char *pool_strdup(struct pool *p, const char *s);
char *pool_printf(struct pool *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *pool_vprintf(struct pool *p, const char *fmt, va_list ap);
void pool_free(struct pool *p);
void pool_take(struct pool *p, struct pool *from);
struct pool_block *pool_mark(struct pool *p);
void pool_release(struct pool *p, struct pool_block *mark);

/**
 * enum val_kind - kind of a value
 * @V_NONE: does not apply; as text it is blank
 * @V_U64: unsigned number
 * @V_I64: signed number
 * @V_DBL: fraction
 * @V_STR: string
 * @V_BYTES: bytes
 * @V_WORDS: list of words
 * @V_LIST: list of objects
 * @V_OBJ: object
 * @V_UNKNOWN: there is a value, and nobody who was asked knows it; "?"
 * @V_WITHHELD: there is a value, and the caller may not see it; "hidden"
 * @V_UNASKED: there may be a value, and the device was not asked for it; "-"
 */
enum val_kind {
	V_NONE = 0,
	V_U64,
	V_I64,
	V_DBL,
	V_STR,
	V_BYTES,
	V_WORDS,
	V_LIST,
	V_OBJ,
	V_UNKNOWN,
	V_WITHHELD,
	V_UNASKED,
};

/**
 * struct words - a growing list of words
 * @w: the words
 * @n: their number
 * @cap: room in @w
 */
struct words {
	const char **w;
	size_t n;
	size_t cap;
};

struct obj;

/**
 * struct list - objects of one schema, in order
 * @first: first object or NULL
 * @last: last object or NULL
 * @n: number of objects
 */
struct list {
	struct obj *first;
	struct obj *last;
	size_t n;
};

/**
 * struct val - one value
 * @kind: which member holds it
 * @n: V_BYTES: their number
 * @u: V_U64
 * @i: V_I64
 * @d: V_DBL
 * @s: V_STR
 * @b: V_BYTES
 * @w: V_WORDS
 * @l: V_LIST
 * @o: V_OBJ
 */
struct val {
	enum val_kind kind;
	uint32_t n;
	union {
		uint64_t u;
		int64_t i;
		double d;
		const char *s;
		const uint8_t *b;
		struct words *w;
		struct list *l;
		struct obj *o;
	};
};

/**
 * struct obj - one object
 * @schema: what the fields mean
 * @pool: where its memory comes from
 * @next: in a struct list
 * @v: values, by field number
 */
struct obj {
	const struct schema *schema;
	struct pool *pool;
	struct obj *next;
	struct val v[];
};

struct obj *obj_new(struct pool *p, const struct schema *schema);
void obj_missing(struct obj *o, unsigned int field, enum val_kind why);
void obj_u64(struct obj *o, unsigned int field, uint64_t v);
void obj_i64(struct obj *o, unsigned int field, int64_t v);
void obj_dbl(struct obj *o, unsigned int field, double v);
void obj_str(struct obj *o, unsigned int field, const char *s);
void obj_const(struct obj *o, unsigned int field, const char *s);
void obj_strn(struct obj *o, unsigned int field, const void *s, size_t max);
void obj_strf(struct obj *o, unsigned int field, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void obj_bytes(struct obj *o, unsigned int field, const void *p, size_t n);
void obj_word(struct obj *o, unsigned int field, const char *word);
struct list *obj_list(struct obj *o, unsigned int field);
struct obj *obj_sub(struct obj *o, unsigned int field);

bool obj_has(const struct obj *o, unsigned int field);
bool obj_applies(const struct obj *o, unsigned int field);
const struct val *obj_val(const struct obj *o, unsigned int field);
uint64_t obj_get_u64(const struct obj *o, unsigned int field, uint64_t otherwise);
const char *obj_get_str(const struct obj *o, unsigned int field, const char *otherwise);
bool obj_has_word(const struct obj *o, unsigned int field, const char *word);
bool val_equal(const struct val *a, const struct val *b);

void list_add(struct list *l, struct obj *o);
void list_sort(struct list *l, unsigned int field, bool descending);

#endif /* EADM_MODEL_H */
