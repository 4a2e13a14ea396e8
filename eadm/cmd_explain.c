// SPDX-License-Identifier: GPL-2.0-or-later
/* Codes and words: what they mean, and how sure that is. */
#include <errno.h>
#include <string.h>

#include "cmd.h"
#include "meanings.h"
#include "schema.h"

#define MAX_SPACES 64

struct question {
	const char *space;
	const char *word;
	bool is_code;
	uint32_t code;
};

static bool asked_for(const struct question *q, const struct meaning *m)
{
	if (q->space && !meaning_in(m, q->space))
		return false;
	if (!q->word)
		return true;
	return q->is_code ? m->code == q->code : meaning_called(m, q->word);
}

static void add_meaning(struct ctx *c, const struct meaning *m)
{
	struct obj *o = obj_new(&c->pool, &schema_explain);
	const char *doubt = meaning_doubt(m);

	obj_str(o, EX_SPACE, m->space);
	if (m->code >= 0)
		obj_u64(o, EX_CODE, (uint64_t)m->code);
	if (m->hex)
		obj_u64(o, EX_HEX, (uint64_t)m->code);
	if (m->word)
		obj_str(o, EX_WORD, m->word);
	obj_str(o, EX_TEXT, meaning_text(&c->pool, m));
	obj_u64(o, EX_PROVEN, !doubt);
	if (doubt)
		obj_str(o, EX_DOUBT, doubt);
	ctx_add(c, o);
}

static size_t answer(struct ctx *c, const struct question *q)
{
	const struct meaning *m;
	size_t i, n = 0;

	for (i = 0; (m = meaning_at(i)); i++)
		if (m->space && asked_for(q, m)) {
			add_meaning(c, m);
			n++;
		}
	return n;
}

/**
 * explain_spaces - names of the namespaces, each once
 * @names: result
 * @max: room in @names
 *
 * Return: their number.
 */
size_t explain_spaces(const char **names, size_t max)
{
	const struct meaning *m;
	size_t i, n = 0;

	for (i = 0; (m = meaning_at(i)) && n < max; i++)
		if (m->space && (!n || strcmp(names[n - 1], m->space)))
			names[n++] = m->space;
	return n;
}

static bool is_space(const char *word)
{
	const struct meaning *m;
	size_t i;

	for (i = 0; (m = meaning_at(i)); i++)
		if (m->space && meaning_in(m, word))
			return true;
	return false;
}

static int unknown_space(struct ctx *c, const char *word)
{
	const char *names[MAX_SPACES], *hint;
	size_t i, n = explain_spaces(names, MAX_SPACES);

	hint = nearest_word(&c->pool, word, names, n);
	if (!hint) {
		hint = "one of:";
		for (i = 0; i < n; i++)
			hint = pool_printf(&c->pool, "%s%s %s", hint, i ? "," : "", names[i]);
	}
	return ctx_usage(c, hint, "no namespace '%s'", word);
}

/**
 * cmd_explain - what codes and words mean
 * @c: run
 * @a: arguments: a namespace and a number or a word, one of them, or nothing for all
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_explain(struct ctx *c, const struct args *a)
{
	struct question q = { .word = a->n ? a->v[a->n - 1] : NULL };
	size_t n;

	if (a->n == 2) {
		q.space = a->v[0];
		if (!is_space(q.space))
			return unknown_space(c, q.space);
	}
	q.is_code = q.word && parse_u32(q.word, &q.code);
	n = answer(c, &q);
	/* A word may be both, as cm: then the namespace comes behind */
	if (a->n == 1 && !q.is_code && is_space(q.word))
		n += answer(c, &(struct question){ .space = q.word });
	if (n)
		return 0;
	return ctx_problem(c, ENOENT, NULL, a->n == 2 ?
			   pool_printf(&c->pool, "'eadm explain %s' shows all of it.", q.space) :
			   "'eadm explain' shows all codes and words.",
			   "nothing%s%s is called '%s'", q.space ? " in " : "",
			   q.space ? q.space : "", q.word);
}
