// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects to text: tables, blocks, driver and device side by side, rings. */
#include <string.h>

#include "emit.h"

/* A stopped queue pair is red */
static const char *title_label(struct ctx *c, const char *label)
{
	return strncmp(label, QP_DEAD, strlen(QP_DEAD)) ? label : red_text(c, label);
}

/* Fields of a title: the plain ones, a colon, the others with their labels */
static void put_title(struct ctx *c, const struct obj *o)
{
	const struct schema *s = o->schema;
	const char *text, *title = "", *rest = "";
	const struct field *f;
	unsigned int i;

	for (i = 0; i < s->n_fields; i++) {
		f = &s->fields[i];
		if (!(f->flags & F_TITLE) || !obj_applies(o, i))
			continue;
		text = value_text(&c->pool, f->type, obj_val(o, i), c->opt.exact);
		if (f->type == T_BOOL) {
			if (obj_get_u64(o, i, 0))
				rest = pool_printf(&c->pool, "%s%s%s", rest, *rest ? ", " : "",
						   title_label(c, f->label));
		} else if (f->flags & F_PLAIN) {
			title = pool_printf(&c->pool, "%s%s%s", title, *title ? " " : "", text);
		} else {
			rest = pool_printf(&c->pool, "%s%s%s%s%s", rest, !*rest ? "" :
					   f->flags & F_JOIN ? " " : ", ", f->label,
					   *f->label ? " " : "", text);
		}
	}
	text_heading(c, title);
	fprintf(c->out, "%s%s\n", *rest && *title ? ": " : "", rest);
}

static bool shown_in_block(struct ctx *c, const struct field *f)
{
	return !(f->flags & F_TITLE) && (!(f->flags & F_V1) || c->opt.verbose);
}

static void put_line(struct ctx *c, const char *label, const char *text)
{
	if (*text)
		fprintf(c->out, "    %-28s %s\n", label, text);
	else
		fprintf(c->out, "    %s\n", label);
}

/* "3 of 65535", "warning: link down" */
static const char *text_of(struct ctx *c, const struct obj *o, unsigned int i, const char *text)
{
	const struct field *next = &o->schema->fields[i + 1];
	const char *rest;

	if (!(o->schema->fields[i].flags & F_OF) || !obj_has(o, i + 1))
		return text;
	rest = value_text(&c->pool, next->type, obj_val(o, i + 1), c->opt.exact);
	if (!*rest)
		return text;
	if (next->type == T_WORDS)
		return red_text(c, pool_printf(&c->pool, "%s: %s", text, rest));
	return pool_printf(&c->pool, "%s of %s", text, rest);
}

/* Stands beside the field before, as a limit beside what is used of it */
static bool shown_before(const struct obj *o, unsigned int i)
{
	return i && o->schema->fields[i - 1].flags & F_OF && obj_applies(o, i - 1);
}

/* A line per field, below the headings of their groups */
static void put_block(struct ctx *c, const struct obj *o)
{
	const char *group = NULL, *text;
	const struct schema *s = o->schema;
	const struct field *f;
	unsigned int i;

	put_title(c, o);
	for (i = 0; i < s->n_fields; i++) {
		f = &s->fields[i];
		group = f->group ? f->group : group;
		if (!shown_in_block(c, f) || shown_before(o, i) ||
		    (!obj_applies(o, i) && !(f->flags & F_ALWAYS)))
			continue;
		text = text_of(c, o, i, value_text(&c->pool, f->type, obj_val(o, i), c->opt.exact));
		if (group && *group) {
			fprintf(c->out, "  %s\n", group);
			group = "";
		}
		put_line(c, f->label, obj_has(o, i) && !*text ? "none" : text);
	}
}

/* ---- driver and device -------------------------------------------------- */

static const char *side_value(struct ctx *c, const struct obj *o, unsigned int i)
{
	const char *s = value_text(&c->pool, o->schema->fields[i].type, obj_val(o, i),
				   c->opt.exact);

	return *s || !obj_has(o, i) ? s : "none";
}

/* The device's: if there is nothing at all, @missing says why */
static const char *device_value(struct ctx *c, const struct obj *hw, const struct field *f,
				unsigned int i, const char *missing)
{
	if (hw)
		return side_value(c, hw, i);
	return f->flags & F_DEVICE ? missing : "";
}

/* Room for the widest value of the driver */
static int side_width(struct ctx *c, const struct obj *drv)
{
	size_t n, width = strlen("DRIVER");
	unsigned int i;

	for (i = 0; i < drv->schema->n_fields; i++) {
		n = drv->schema->fields[i].type == T_DUMP ? 0 : strlen(side_value(c, drv, i));
		width = n > width ? n : width;
	}
	return (int)width;
}

static void put_side_line(struct ctx *c, bool differs, const char *label, int width,
			  const char *drv, const char *hw)
{
	const char *mark = differs ? "  !" : "   ";

	if (*hw)
		fprintf(c->out, "%s %-28s %-*s  %s\n", mark, label, width, drv, hw);
	else if (*drv)
		fprintf(c->out, "%s %-28s %s\n", mark, label, drv);
	else
		fprintf(c->out, "%s %s\n", mark, label);
}

/* What the sides disagree on is always shown */
static bool shown_in_sides(struct ctx *c, const struct obj *o, const struct field *f)
{
	return f->type != T_DUMP && (!(f->flags & F_V1) || c->opt.verbose ||
				     obj_has_word(o, SI_DIFFERS, f->key));
}

/* What is wrong with both sides, below them */
static void put_remarks(struct ctx *c, const struct obj *o)
{
	const struct field *f;
	unsigned int i;

	for (i = 0; i < o->schema->n_fields; i++) {
		f = &o->schema->fields[i];
		if (f->type == T_BOOL && !(f->flags & F_TITLE) && obj_get_u64(o, i, 0))
			fprintf(c->out, "  (%s)\n", f->label);
	}
}

static void put_sides(struct ctx *c, const struct obj *o)
{
	const struct obj *drv = obj_val(o, o->schema->side[0])->o, *hw = NULL;
	const struct schema *s = drv->schema;
	const struct field *f;
	const char *group = NULL, *missing;
	int width = side_width(c, drv);
	unsigned int i;

	missing = value_text(&c->pool, T_OBJ, obj_val(o, o->schema->side[1]), false);
	if (obj_has(o, o->schema->side[1]))
		hw = obj_val(o, o->schema->side[1])->o;
	put_title(c, o);
	if (!c->opt.no_header)
		fprintf(c->out, "    %-28s %-*s  %s\n", "", width, "DRIVER", "DEVICE");
	for (i = 0; i < s->n_fields; i++) {
		f = &s->fields[i];
		group = f->group ? f->group : group;
		if ((!obj_applies(drv, i) && !(hw && obj_applies(hw, i))) ||
		    !shown_in_sides(c, o, f))
			continue;
		if (group && *group) {
			fprintf(c->out, "  %s\n", group);
			group = "";
		}
		put_side_line(c, obj_has_word(o, SI_DIFFERS, f->key), f->label, width,
			      side_value(c, drv, i), device_value(c, hw, f, i, missing));
	}
	put_remarks(c, o);
}

/* ---- rings, counters ---------------------------------------------------- */

static void put_problems(struct ctx *c, const struct obj *o, unsigned int field)
{
	const struct val *v = obj_val(o, field);
	size_t i;

	for (i = 0; v->kind == V_WORDS && i < v->w->n; i++)
		fprintf(c->out, "  %s: %s\n", o->schema->fields[field].label,
			red_text(c, v->w->w[i]));
}

static void put_entries(struct ctx *c, const struct obj *o, bool details)
{
	const struct val *v = obj_val(o, o->schema->entries);

	put_title(c, o);
	if (o->schema->view == VIEW_RING)
		put_problems(c, o, RI_PROBLEMS);
	if (v->kind == V_LIST && v->l->first)
		table_text(c, v->l->first->schema, v->l, 2, details);
}

/* "label: value" */
static void put_fields(struct ctx *c, const struct obj *o)
{
	const struct field *f = o->schema->fields;
	const char *text;
	unsigned int i;

	for (i = 0; i < o->schema->n_fields; i++) {
		text = value_text(&c->pool, f[i].type, obj_val(o, i), c->opt.exact);
		if (*text || f[i].flags & F_ALWAYS)
			fprintf(c->out, "%s: %s\n", f[i].label, *text ? text : "-");
	}
}

/* "name : value", as the vendor's eadm; several devices have a line above theirs */
static void put_counters(struct ctx *c, const struct obj *o)
{
	const struct obj *row;

	if (c->data.n > 1)
		fprintf(c->out, "%s:\n", obj_get_str(o, ST_DEV, "-"));
	for (row = obj_val(o, ST_COUNTERS)->l->first; row; row = row->next)
		fprintf(c->out, "%s : %llu\n", obj_get_str(row, SC_NAME, "-"),
			(unsigned long long)obj_get_u64(row, SC_VALUE, 0));
}

/**
 * emit_text - write the objects of a run as text
 * @c: run
 */
void emit_text(struct ctx *c)
{
	const struct schema *s = c->cmd->schema;
	const struct obj *o;

	if (s->view == VIEW_TABLE) {
		table_text(c, s, &c->data, 0, false);
		return;
	}
	if (s->view == VIEW_METRICS) {
		metrics_text(c, &c->data);
		return;
	}
	for (o = c->data.first; o; o = o->next) {
		if (s->view == VIEW_BLOCK)
			put_block(c, o);
		else if (s->view == VIEW_SIDES)
			put_sides(c, o);
		else if (s->view == VIEW_LINES)
			put_fields(c, o);
		else if (s->view == VIEW_ANSWER)
			answer_text(c, o);
		else if (s->view == VIEW_SUMMARY)
			summary_text(c, o);
		else if (c->lines == LINES_VENDOR)
			put_counters(c, o);
		else if (c->lines == LINES_MOVED)
			moved_line(c, o);
		else
			put_entries(c, o, s->view == VIEW_RING);
		if (o->next && c->lines != LINES_MOVED)
			fputc('\n', c->out);
	}
}
