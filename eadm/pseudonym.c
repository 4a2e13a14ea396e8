// SPDX-License-Identifier: GPL-2.0-or-later
/* Pseudonyms of keys and addresses: numbers in a file, words in a document. */
#include <stdlib.h>

#include "erdma/erdma_field.h"
#include "erdma/erdma_hw.h"

#include "pseudonym.h"
#include "schema.h"

#define IN_REGION	ERDMA_MASK64(63, 63)
#define REGION		ERDMA_MASK64(62, 43)
#define OFFSET		ERDMA_MASK64(42, 0)

/**
 * pseudonym_in_region - a place in a region as a number
 * @index: number of the region
 * @offset: bytes from its first address
 * @pseudonym: filled
 *
 * Return: false if it does not fit.
 */
bool pseudonym_in_region(uint32_t index, uint64_t offset, uint64_t *pseudonym)
{
	if (ERDMA_GET(REGION, ERDMA_PREP(REGION, index)) != index || offset > OFFSET)
		return false;
	*pseudonym = IN_REGION | ERDMA_PREP(REGION, index) | offset;
	return true;
}

/**
 * pseudonym_key - the word for a key
 * @p: memory
 * @v: pseudonym
 *
 * Return: text.
 */
char *pseudonym_key(struct pool *p, uint32_t v)
{
	return pool_printf(p, "key-%u", v);
}

/**
 * pseudonym_addr - the word for an address
 * @p: memory
 * @v: pseudonym
 *
 * Return: text.
 */
char *pseudonym_addr(struct pool *p, uint64_t v)
{
	if (v & IN_REGION)
		return pool_printf(p, "mr-%u+0x%llx", (unsigned int)ERDMA_GET(REGION, v),
				   (unsigned long long)(v & OFFSET));
	return pool_printf(p, "addr-%llu", (unsigned long long)v);
}

static void show_words(struct pool *p, struct words *w)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		w->w[i] = pseudonym_addr(p, strtoull(w->w[i], NULL, 16));
}

static void show_field(struct obj *o, unsigned int field)
{
	const struct field *f = &o->schema->fields[field];
	struct val *v = &o->v[field];

	if (f->flags & F_DATA && (v->kind == V_U64 || v->kind == V_BYTES))
		v->kind = V_WITHHELD;
	if (!(f->flags & (F_KEY | F_ADDR)))
		return;
	if (v->kind == V_WORDS)
		show_words(o->pool, v->w);
	else if (v->kind == V_U64 && v->u)
		obj_str(o, field, f->type == T_HEX32 ? pseudonym_key(o->pool, (uint32_t)v->u) :
						       pseudonym_addr(o->pool, v->u));
}

/**
 * pseudonyms_show - words instead of numbers, in an object and all within it; what such a
 *	file does not have is withheld
 * @o: object of a file that was redacted to pseudonyms
 */
void pseudonyms_show(struct obj *o)
{
	struct obj *inner;
	unsigned int i;

	for (i = 0; i < o->schema->n_fields; i++) {
		if (o->v[i].kind == V_LIST)
			for (inner = o->v[i].l->first; inner; inner = inner->next)
				pseudonyms_show(inner);
		else if (o->v[i].kind == V_OBJ)
			pseudonyms_show(o->v[i].o);
		else
			show_field(o, i);
	}
}
