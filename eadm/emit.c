// SPDX-License-Identifier: GPL-2.0-or-later
/* Documents: which one, in which form, and the messages beside it. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "decode.h"
#include "emit.h"
#include "pseudonym.h"

/* "erdma_0/qp/99" concerns erdma_0, which is named unless the text does so */
static void put_device(const struct problem *p, FILE *f)
{
	size_t n = p->object ? strcspn(p->object, "/") : 0;
	const char *s;

	for (s = p->text; *s; s++)
		if (n && !strncmp(s, p->object, n))
			return;
	if (n)
		fprintf(f, "%.*s: ", (int)n, p->object);
}

/**
 * emit_problems - write messages
 * @c: run
 * @f: where to
 *
 * Notes are left out with --quiet, and in JSON they are in the document.
 */
void emit_problems(struct ctx *c, FILE *f)
{
	const struct problem *p;

	for (p = c->problems; p; p = p->next) {
		if (p->note && (c->opt.quiet || c->opt.format != FMT_TEXT))
			continue;
		fputs("eadm: ", f);
		put_device(p, f);
		if (p->note)
			fprintf(f, "note: %s\n", p->text);
		else
			fprintf(f, "%s%s [%s]%s\n", c->opt.color_err ? RED : "", p->text,
				p->code, c->opt.color_err ? PLAIN : "");
		if (p->hint && (!p->next || !p->next->hint || strcmp(p->hint, p->next->hint)))
			fprintf(f, "Hint: %s\n", p->hint);
	}
}

static void fill_warning(struct obj *o, const struct problem *p)
{
	obj_str(o, WA_CODE, p->code);
	if (p->object)
		obj_str(o, WA_OBJECT, p->object);
	obj_str(o, WA_TEXT, p->text);
	if (p->hint)
		obj_str(o, WA_HINT, p->hint);
}

static void add_warnings(struct obj *doc, unsigned int field, const struct problem *p)
{
	struct list *l = obj_list(doc, field);
	struct obj *o;

	for (; p; p = p->next) {
		o = obj_new(doc->pool, &schema_warning);
		fill_warning(o, p);
		list_add(l, o);
	}
}

static struct obj *doc_error(struct ctx *c)
{
	struct obj *doc = obj_new(&c->pool, &schema_error_doc);
	const struct problem *p = c->problems;

	while (p->note)
		p = p->next;
	obj_str(doc, ED_SCHEMA, schema_error_doc.name);
	obj_u64(doc, ED_OK, 0);
	obj_u64(doc, ED_EXIT, ctx_exit(c));
	fill_warning(obj_sub(doc, ED_ERROR), p);
	add_warnings(doc, ED_WARNINGS, p->next);
	return doc;
}

/**
 * doc_build - the document of a run
 * @c: run
 *
 * Return: data and warnings, or an error if nothing was achieved.
 */
struct obj *doc_build(struct ctx *c)
{
	enum exit_code code = ctx_exit(c);
	struct obj *doc, *src;

	if (!exit_with_data(code))
		return doc_error(c);
	doc = obj_new(&c->pool, &schema_doc);
	obj_str(doc, DOC_SCHEMA, c->cmd->schema->name);
	obj_u64(doc, DOC_OK, 1);
	obj_u64(doc, DOC_EXIT, code);
	src = obj_sub(doc, DOC_SOURCE);
	obj_str(src, SRC_KIND, c->src.devs || c->src.others ? c->src.ops->kind : "none");
	if (c->driver) {
		obj_str(src, SRC_DRIVER, c->driver);
		obj_u64(src, SRC_ABI, 1);
	}
	if (c->time_ns)
		obj_u64(src, SRC_TIME, c->time_ns);
	add_warnings(doc, DOC_WARNINGS, c->problems);
	*obj_list(doc, DOC_DATA) = c->data;
	return doc;
}

/**
 * emit_document - write what a run found
 * @c: run
 *
 * Text has no document for errors: they are on stderr.
 */
void emit_document(struct ctx *c)
{
	enum exit_code code = ctx_exit(c);
	struct obj *o;

	c->printed = true;
	for (o = c->src.pseudonyms ? c->data.first : NULL; o; o = o->next)
		pseudonyms_show(o);
	if (c->raw_mode && c->opt.format == FMT_TEXT) {
		if (c->raw_len && exit_with_data(code))
			fwrite(c->raw, 1, c->raw_len, c->out);
		return;
	}
	switch (c->opt.format) {
	case FMT_JSON:
		emit_json(c, doc_build(c));
		break;
	case FMT_JSONL:
		emit_json_lines(c, doc_build(c));
		break;
	case FMT_TEXT:
		if (exit_with_data(code))
			emit_text(c);
		break;
	}
}

/*
 * The stream remembers that a write failed and not why: another one says it. What was
 * written so far has no end anyway.
 */
static int write_error(FILE *out)
{
	errno = 0;
	return write(fileno(out), "\n", 1) < 0 ? errno : EIO;
}

/**
 * emit_flush - make sure that everything was written
 * @c: run
 *
 * A reader that went away is no reason for a message.
 *
 * Return: 0 or -1.
 */
int emit_flush(struct ctx *c)
{
	int err;

	errno = 0;
	if (!fflush(c->out) && !ferror(c->out))
		return 0;
	err = errno ?: write_error(c->out);
	if (err != EPIPE)
		fprintf(stderr, "eadm: cannot write: %s [%s]\n", strerror(err),
			errno_name(err));
	return -1;
}
