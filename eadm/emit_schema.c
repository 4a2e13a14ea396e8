// SPDX-License-Identifier: GPL-2.0-or-later
/* The schemas as JSON Schema, for whoever reads the documents. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "emit.h"

/* In a file of snapshot --redact ids */
#define ADDR_PSEUDONYM	"addr-[0-9]+|mr-[0-9]+[+]0x[0-9a-f]+"
#define DRAFT	"https://json-schema.org/draft/2020-12/schema"

static json_object *object_schema(const struct schema *s);

static void put(json_object *j, const char *key, json_object *v)
{
	json_object_object_add(j, key, v);
}

static json_object *string(const char *s)
{
	return json_object_new_string(s);
}

static json_object *typed(const char *type)
{
	json_object *j = json_object_new_object();

	put(j, "type", string(type));
	return j;
}

static json_object *pattern(const char *regex)
{
	json_object *j = typed("string");

	put(j, "pattern", string(regex));
	return j;
}

static json_object *constant(json_object *value)
{
	json_object *j = json_object_new_object();

	put(j, "const", value);
	return j;
}

static json_object *array_of(json_object *items)
{
	json_object *j = typed("array");

	put(j, "items", items);
	return j;
}

/* What one of --u64 number and --u64 string gives */
static json_object *counter_schema(void)
{
	json_object *j = json_object_new_object(), *forms = json_object_new_array();
	json_object *n = typed("integer");

	put(n, "minimum", json_object_new_int(0));
	json_object_array_add(forms, n);
	json_object_array_add(forms, pattern("^[0-9]+$"));
	put(j, "anyOf", forms);
	return j;
}

/* An entry of any ring */
static json_object *entry_schema(void)
{
	static const struct schema *const entries[] = {
		&schema_wqe, &schema_rqe, &schema_cqe, &schema_ccqe, &schema_ceqe, &schema_aeqe,
		&schema_cmd,
	};
	json_object *j = json_object_new_object(), *forms = json_object_new_array();
	size_t i;

	for (i = 0; i < COUNT_OF(entries); i++)
		json_object_array_add(forms, object_schema(entries[i]));
	put(j, "anyOf", forms);
	return j;
}

static json_object *field_schema(const struct field *f)
{
	bool may_be_pseudonym = f->flags & (F_KEY | F_ADDR) && !(f->flags & F_DATA);

	switch (f->type) {
	case T_NUM:
		return typed("integer");
	case T_U64:
	case T_SIZE:
	case T_NS:
		return counter_schema();
	case T_RATE:
		return typed("number");
	case T_HEX:
		return pattern(may_be_pseudonym ? "^(0x[0-9a-f]+|" ADDR_PSEUDONYM ")$" :
						  "^0x[0-9a-f]+$");
	case T_HEX32:
		return pattern(may_be_pseudonym ? "^(0x[0-9a-f]{8}|key-[0-9]+)$" :
						  "^0x[0-9a-f]{8}$");
	case T_HEX64:
		return pattern(may_be_pseudonym ? "^(0x[0-9a-f]{16}|" ADDR_PSEUDONYM ")$" :
						  "^0x[0-9a-f]{16}$");
	case T_BOOL:
		return typed("boolean");
	case T_BYTES:
	case T_DUMP:
		return pattern("^([0-9a-f]{2})*$");
	case T_WORDS:
		return array_of(typed("string"));
	case T_LIST:
		return array_of(f->sub ? object_schema(f->sub) : entry_schema());
	case T_OBJ:
		return object_schema(f->sub);
	case T_STR:
		break;
	}
	return typed("string");
}

/* The "properties" that a dotted key belongs into, and the last part of the key */
static json_object *properties_of(json_object *properties, const char *key, const char **last)
{
	json_object *inner;
	const char *rest;
	char part[64];

	while ((rest = schema_key_part(key, part, sizeof(part)))) {
		if (!json_object_object_get_ex(properties, part, &inner)) {
			inner = typed("object");
			put(inner, "properties", json_object_new_object());
			put(properties, part, inner);
		}
		json_object_object_get_ex(inner, "properties", &properties);
		key = rest;
	}
	*last = key;
	return properties;
}

/* A time is there as a number and as a string */
static void add_time(json_object *properties, const struct field *f)
{
	json_object *p = pattern("^[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9:]{8}[.][0-9]{9}Z$");
	const char *key;

	put(p, "format", string("date-time"));
	put(p, "description", string(f->flags & F_PAST ? "since then" : f->flags & F_AHEAD ?
				     "until then" : "time"));
	properties = properties_of(properties, f->at, &key);
	put(properties, key, p);
}

static void put_missing(json_object *properties, const char *name, const char *why)
{
	json_object *j = array_of(typed("string"));

	put(j, "description", string(why));
	put(properties, name, j);
}

/* A fact that is not there has no member: none is required */
static json_object *object_schema(const struct schema *s)
{
	json_object *j = typed("object"), *properties = json_object_new_object(), *in, *p;
	const char *key;
	unsigned int i;

	for (i = 0; i < s->n_fields; i++) {
		p = field_schema(&s->fields[i]);
		put(p, "description", string(s->fields[i].label));
		in = properties_of(properties, s->fields[i].key, &key);
		put(in, key, p);
		if (s->fields[i].at)
			add_time(properties, &s->fields[i]);
	}
	put_missing(properties, KEY_UNKNOWN, "keys of facts that nobody who was asked knows");
	put_missing(properties, KEY_WITHHELD, "keys of facts that the caller may not see");
	put(j, "properties", properties);
	put(j, "minProperties", json_object_new_int(1));
	return j;
}

static void require_all(json_object *j, const struct schema *s)
{
	json_object *names = json_object_new_array();
	unsigned int i;

	for (i = 0; i < s->n_fields; i++)
		json_object_array_add(names, string(s->fields[i].key));
	put(j, "required", names);
}

/* What an object of the document is stands once, in "$defs" */
static json_object *reference(void)
{
	json_object *j = json_object_new_object();

	put(j, "$ref", string("#/$defs/object"));
	return j;
}

/* Members whose value is given by the document being this one */
static void set_constants(json_object *j, const struct schema *s, const char *ok, bool value)
{
	json_object *properties = json_object_object_get(j, "properties");

	put(properties, schema_doc.fields[DOC_SCHEMA].key, constant(string(s->name)));
	if (ok)
		put(properties, ok, constant(json_object_new_boolean(value)));
}

/* -j: all objects in one document */
static json_object *document_schema(const struct schema *s)
{
	json_object *j = typed("object"), *properties = json_object_new_object();
	unsigned int i;

	for (i = 0; i < schema_doc.n_fields; i++)
		put(properties, schema_doc.fields[i].key,
		    i == DOC_DATA ? array_of(reference()) :
		    field_schema(&schema_doc.fields[i]));
	put(j, "properties", properties);
	require_all(j, &schema_doc);
	set_constants(j, s, schema_doc.fields[DOC_OK].key, true);
	return j;
}

/* -o jsonl: the members of an object, behind the name of the schema */
static json_object *line_schema(const struct schema *s)
{
	json_object *j = reference(), *names = json_object_new_array();

	put(j, "properties", json_object_new_object());
	set_constants(j, s, NULL, false);
	json_object_array_add(names, string(schema_doc.fields[DOC_SCHEMA].key));
	put(j, "required", names);
	return j;
}

static json_object *document_or_line(const struct schema *s)
{
	json_object *j = json_object_new_object(), *is_document = json_object_new_object();
	json_object *names = json_object_new_array(), *defs = json_object_new_object();

	json_object_array_add(names, string(schema_doc.fields[DOC_DATA].key));
	put(is_document, "required", names);
	put(defs, "object", object_schema(s));
	put(j, "$defs", defs);
	put(j, "if", is_document);
	put(j, "then", document_schema(s));
	put(j, "else", line_schema(s));
	return j;
}

static json_object *whole_schema(const struct schema *s)
{
	json_object *j;

	if (s != &schema_error_doc && s != &schema_warning_line)
		return document_or_line(s);
	j = object_schema(s);
	require_all(j, s);
	set_constants(j, s, s == &schema_error_doc ? schema_doc.fields[DOC_OK].key : NULL, false);
	return j;
}

/**
 * json_schema_title - what documents of a schema are
 * @p: memory
 * @s: schema with a name
 *
 * Return: "eadm list qp: queue pairs: ...".
 */
const char *json_schema_title(struct pool *p, const struct schema *s)
{
	const struct cmd *cmd;

	for (cmd = cmd_table; cmd->verb; cmd++)
		if (cmd->schema == s)
			return pool_printf(p, "eadm %s%s%s: %s", cmd->verb, cmd->object ? " " : "",
					   cmd->object ? cmd->object : "", cmd->help);
	return s == &schema_error_doc ? "a command that achieved nothing" :
	       "a warning, as a line of -o jsonl";
}

/**
 * emit_json_schema - write a schema as JSON Schema
 * @c: run
 * @s: schema with a name
 */
void emit_json_schema(struct ctx *c, const struct schema *s)
{
	json_object *j = json_object_new_object(), *whole = whole_schema(s);

	put(j, "$schema", string(DRAFT));
	put(j, "$comment", string("SPDX-License-Identifier: GPL-2.0-or-later"));
	put(j, "title", string(json_schema_title(&c->pool, s)));
	json_object_object_foreach(whole, key, value)
		put(j, key, json_object_get(value));
	json_object_put(whole);
	fprintf(c->out, "%s\n", json_object_to_json_string_ext(j, JSON_C_TO_STRING_PRETTY |
		JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(j);
}
