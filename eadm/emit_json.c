// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects to JSON. The keys are those of the schemas; a dot nests. */
#include <json-c/json.h>
#include <math.h>
#include <string.h>

#include "emit.h"

static json_object *obj_json(const struct ctx *c, const struct obj *o);

static json_object *hex_json(uint64_t v, int digits)
{
	char s[24];

	snprintf(s, sizeof(s), "0x%0*llx", digits, (unsigned long long)v);
	return json_object_new_string(s);
}

static json_object *bytes_json(const uint8_t *p, size_t n)
{
	static const char digit[] = "0123456789abcdef";
	json_object *j;
	char *s;
	size_t i;

	s = malloc(2 * n + 1);
	if (!s)
		return NULL;
	for (i = 0; i < n; i++) {
		s[2 * i] = digit[p[i] >> 4];
		s[2 * i + 1] = digit[p[i] & 15];
	}
	j = json_object_new_string_len(s, (int)(2 * n));
	free(s);
	return j;
}

static json_object *number_json(const struct ctx *c, enum field_type type, uint64_t v)
{
	char s[24];

	switch (type) {
	case T_BOOL:
		return json_object_new_boolean(v != 0);
	case T_HEX:
		return hex_json(v, 1);
	case T_HEX32:
		return hex_json(v, 8);
	case T_HEX64:
		return hex_json(v, 16);
	case T_U64:
	case T_SIZE:
	case T_NS:
		if (c->opt.u64_string) {
			snprintf(s, sizeof(s), "%llu", (unsigned long long)v);
			return json_object_new_string(s);
		}
		/* fall through */
	default:
		return json_object_new_uint64(v);
	}
}

static json_object *words_json(const struct words *w)
{
	json_object *a = json_object_new_array();
	size_t i;

	for (i = 0; i < w->n; i++)
		json_object_array_add(a, json_object_new_string(w->w[i]));
	return a;
}

static json_object *list_json(const struct ctx *c, const struct list *l)
{
	json_object *a = json_object_new_array();
	const struct obj *o;

	for (o = l->first; o; o = o->next)
		json_object_array_add(a, obj_json(c, o));
	return a;
}

static json_object *double_json(double v)
{
	char s[40];

	if (!isfinite(v))
		return NULL;
	snprintf(s, sizeof(s), "%.3f", v);
	return json_object_new_double_s(v, s);
}

static json_object *value_json(const struct ctx *c, enum field_type type, const struct val *v)
{
	switch (v->kind) {
	case V_U64:
		return number_json(c, type, v->u);
	case V_I64:
		return json_object_new_int64(v->i);
	case V_DBL:
		return double_json(v->d);
	case V_STR:
		return json_object_new_string(v->s);
	case V_BYTES:
		return bytes_json(v->b, v->n);
	case V_WORDS:
		return words_json(v->w);
	case V_LIST:
		return list_json(c, v->l);
	case V_OBJ:
		return obj_json(c, v->o);
	default:
		break;
	}
	return NULL;
}

/* The object a dotted key belongs into, and the last part of the key */
static json_object *nested(json_object *j, const char *key, const char **last)
{
	json_object *inner;
	const char *rest;
	char part[64];

	while ((rest = schema_key_part(key, part, sizeof(part)))) {
		if (!json_object_object_get_ex(j, part, &inner)) {
			inner = json_object_new_object();
			json_object_object_add(j, part, inner);
		}
		j = inner;
		key = rest;
	}
	*last = key;
	return j;
}

/* A field that is a time, as a string; what is an age needs the time of the document */
static void add_time(const struct ctx *c, json_object *j, const struct field *f, uint64_t ns)
{
	char text[TIME_LEN];
	const char *key;

	if (f->flags & (F_PAST | F_AHEAD)) {
		if (!c->time_ns || (f->flags & F_PAST && ns > c->time_ns))
			return;
		ns = f->flags & F_PAST ? c->time_ns - ns : c->time_ns + ns;
	}
	j = nested(j, f->at, &key);
	time_rfc3339(ns, text);
	json_object_object_add(j, key, json_object_new_string(text));
}

/* The keys of facts that exist but are not there, and why */
static void put_missing(json_object *j, const struct obj *o, enum val_kind why, const char *name)
{
	json_object *keys = NULL;
	unsigned int i;

	for (i = 0; i < o->schema->n_fields; i++) {
		if (obj_val(o, i)->kind != why)
			continue;
		if (!keys)
			keys = json_object_new_array();
		json_object_array_add(keys, json_object_new_string(o->schema->fields[i].key));
	}
	if (keys)
		json_object_object_add(j, name, keys);
}

static json_object *obj_json(const struct ctx *c, const struct obj *o)
{
	json_object *j = json_object_new_object(), *in;
	const struct field *f;
	const char *key;
	unsigned int i;

	for (i = 0; i < o->schema->n_fields; i++) {
		f = &o->schema->fields[i];
		if (!obj_has(o, i))
			continue;
		in = nested(j, f->key, &key);
		json_object_object_add(in, key, value_json(c, f->type, obj_val(o, i)));
		if (f->at)
			add_time(c, j, f, obj_get_u64(o, i, 0));
	}
	put_missing(j, o, V_UNKNOWN, KEY_UNKNOWN);
	put_missing(j, o, V_WITHHELD, KEY_WITHHELD);
	return j;
}

static void put(struct ctx *c, json_object *j, int flags)
{
	fputs(json_object_to_json_string_ext(j, flags | JSON_C_TO_STRING_NOSLASHESCAPE), c->out);
	fputc('\n', c->out);
	json_object_put(j);
}

/**
 * emit_json - write a document
 * @c: run
 * @doc: document
 */
void emit_json(struct ctx *c, const struct obj *doc)
{
	put(c, obj_json(c, doc), c->opt.pretty ? JSON_C_TO_STRING_PRETTY |
	    JSON_C_TO_STRING_SPACED : JSON_C_TO_STRING_PLAIN);
}

/* {"schema": ..., and the members of the object */
static json_object *line_json(const struct ctx *c, const char *schema, const struct obj *o)
{
	json_object *j = json_object_new_object(), *members = obj_json(c, o);

	json_object_object_add(j, schema_doc.fields[DOC_SCHEMA].key,
			       json_object_new_string(schema));
	json_object_object_foreach(members, key, value)
		json_object_object_add(j, key, json_object_get(value));
	json_object_put(members);
	return j;
}

/**
 * emit_json_lines - write a document as one line per object
 * @c: run
 * @doc: document; warnings follow the data, an error is one line
 */
void emit_json_lines(struct ctx *c, const struct obj *doc)
{
	struct obj *o, *line;

	if (doc->schema != &schema_doc) {
		put(c, obj_json(c, doc), JSON_C_TO_STRING_PLAIN);
		return;
	}
	for (o = obj_val(doc, DOC_DATA)->l->first; o; o = o->next)
		put(c, line_json(c, c->cmd->schema->name, o), JSON_C_TO_STRING_PLAIN);
	for (o = obj_val(doc, DOC_WARNINGS)->l->first; o; o = o->next) {
		line = obj_new(&c->pool, &schema_warning_line);
		obj_str(line, WL_SCHEMA, schema_warning_line.name);
		line->v[WL_WARNING] = (struct val){ .kind = V_OBJ, .o = o };
		put(c, obj_json(c, line), JSON_C_TO_STRING_PLAIN);
	}
}
