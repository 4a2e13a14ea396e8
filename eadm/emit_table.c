// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects as the lines of a table, with details below a line if wanted. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "emit.h"

#define MAX_COLS	32
#define DETAIL_INDENT	8
#define DETAIL_WIDTH	100
#define TEXT_INDENT	8	/* of texts below their row */
#define TEXT_MIN	32	/* columns for a text beside the others; else it stands below */
#define TEXT_WIDTH	80	/* of a table with texts, if there is no terminal */

/**
 * text_heading - write a heading, bold if colours are wanted
 * @c: run
 * @s: heading
 */
void text_heading(struct ctx *c, const char *s)
{
	fprintf(c->out, "%s%s%s", c->opt.color ? "\033[1m" : "", s, c->opt.color ? "\033[0m" : "");
}

static void pad(FILE *f, size_t n)
{
	while (n--)
		fputc(' ', f);
}

/* ---- columns ------------------------------------------------------------ */

/* A column called @name; else one made of the field with that key */
static bool column_named(const struct schema *s, const char *name, struct column *col)
{
	unsigned int i;
	int field;

	for (i = 0; i < s->n_cols; i++)
		if (*name && !strcasecmp(s->cols[i].head, name)) {
			*col = s->cols[i];
			col->level = 0;
			col->flags &= ~(unsigned int)COL_MAYBE;
			return true;
		}
	field = schema_field(s, name);
	if (field < 0 || s->fields[field].type == T_LIST || s->fields[field].type == T_OBJ)
		return false;
	*col = (struct column){ .head = s->fields[field].key, .a = (unsigned int)field + 1 };
	return true;
}

/**
 * columns_known - does a schema have the columns of --columns?
 * @s: schema
 * @columns: names, separated by commas
 * @bad: the unknown one, if false
 *
 * Return: true if it has all of them.
 */
bool columns_known(const struct schema *s, const char *columns, const char **bad)
{
	struct column col;
	char name[64];
	size_t n;

	for (; *columns; columns += n + (columns[n] == ',')) {
		n = strcspn(columns, ",");
		*bad = columns;
		if (n >= sizeof(name))
			return false;
		memcpy(name, columns, n);
		name[n] = '\0';
		if (!column_named(s, name, &col))
			return false;
	}
	return true;
}

static unsigned int chosen_columns(struct ctx *c, const struct schema *s, struct column *cols)
{
	char *list = pool_strdup(&c->pool, c->opt.columns), *name, *save;
	unsigned int n = 0;

	for (name = strtok_r(list, ",", &save); name && n < MAX_COLS;
	     name = strtok_r(NULL, ",", &save))
		if (column_named(s, name, &cols[n]))
			n++;
	return n;
}

static bool column_used(const struct column *col, const struct list *rows)
{
	const struct obj *o;

	for (o = rows->first; o; o = o->next)
		if ((col->more && col->more(o)) || (col->a && obj_applies(o, col->a - 1)) ||
		    (col->b && obj_applies(o, col->b - 1)))
			return true;
	return false;
}

static unsigned int pick_columns(struct ctx *c, const struct schema *s, const struct list *rows,
				 struct column *cols)
{
	unsigned int i, n = 0;

	if (c->opt.columns)
		return chosen_columns(c, s, cols);
	for (i = 0; i < s->n_cols && n < MAX_COLS; i++)
		if ((int)s->cols[i].level <= c->opt.verbose &&
		    (!(s->cols[i].flags & COL_MAYBE) || column_used(&s->cols[i], rows)))
			cols[n++] = s->cols[i];
	return n;
}

/* ---- cells -------------------------------------------------------------- */

struct cell {
	const char *s;
	size_t len;
};

/* A row has several, if it has long texts: @more of them follow the first */
struct table_line {
	struct table_line *next;
	bool more;
	struct cell cell[];
};

static const char *part(struct ctx *c, const struct obj *o, unsigned int a)
{
	const char *s = a ? value_text(&c->pool, o->schema->fields[a - 1].type, obj_val(o, a - 1),
				       c->opt.exact) : "";

	return *s ? s : NULL;
}

static const char *joined(struct pool *p, const char *a, char sep, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	char *s = pool_alloc(p, na + nb + 2);

	memcpy(s, a, na);
	s[na] = sep;
	memcpy(s + na + 1, b, nb);
	return s;
}

/* Both fields are missing for the same reason */
static bool both_missing(const struct obj *o, const struct column *col)
{
	return col->b && !obj_has(o, col->a - 1) &&
	       obj_val(o, col->a - 1)->kind == obj_val(o, col->b - 1)->kind;
}

static const char *cell_text(struct ctx *c, const struct obj *o, const struct column *col)
{
	const char *a, *b, *more = col->more ? col->more(o) : NULL;

	if (col->when && obj_get_u64(o, col->when - 1, 0))
		return col->word;
	a = part(c, o, col->a);
	b = both_missing(o, col) ? NULL : part(c, o, col->b);
	if (a && b)
		a = joined(&c->pool, a, col->sep, b);
	if (a && more)
		return joined(&c->pool, a, ' ', more);
	return a ? a : more ? more : "";
}

static bool same_number(const struct obj *o, const struct obj *other, unsigned int a)
{
	const struct val *v, *w;

	if (!a)
		return true;
	v = obj_val(o, a - 1);
	w = obj_val(other, a - 1);
	return v->kind == V_U64 && w->kind == V_U64 && v->u == w->u;
}

/* Rows of a long list have most numbers in common, and making text of them costs most */
static bool same_cell(const struct obj *o, const struct obj *above, const struct column *col)
{
	return !col->more && !col->when && same_number(o, above, col->a) &&
	       same_number(o, above, col->b);
}

static void put_head(struct ctx *c, const char *const *cells, const struct column *cols,
		     const size_t *width, unsigned int n, unsigned int indent)
{
	unsigned int i;
	size_t gap = 0, len;

	pad(c->out, indent);
	for (i = 0; i < n; i++) {
		if (cols[i].flags & COL_SKIP)
			continue;
		len = strlen(cells[i]);
		if (cols[i].flags & COL_RIGHT)
			gap += width[i] - len;
		pad(c->out, gap);
		text_heading(c, cells[i]);
		gap = 2 + (cols[i].flags & COL_RIGHT ? 0 : width[i] - len);
	}
	fputc('\n', c->out);
}

/* A cell, red if it is bad; @to has room. Returns the bytes */
static size_t put_cell(struct ctx *c, const struct column *col, const struct cell *cell, char *to)
{
	char *end = to;

	if (!c->opt.color || !col->bad || !col->bad(cell->s)) {
		memcpy(to, cell->s, cell->len);
		return cell->len;
	}
	end = stpcpy(end, RED);
	end = stpcpy(end, cell->s);
	return (size_t)(stpcpy(end, PLAIN) - to);
}

/* In one piece: there may be many thousands. @line: @size bytes, room for it */
static void put_row(struct ctx *c, const struct cell *cells, const struct column *cols,
		    const size_t *width, unsigned int n, unsigned int indent, char *line,
		    size_t size)
{
	size_t gap = indent, at = 0;
	unsigned int i;

	memset(line, ' ', size);
	for (i = 0; i < n; i++) {
		if (cols[i].flags & COL_SKIP)
			continue;
		if (cols[i].flags & COL_RIGHT)
			gap += width[i] - cells[i].len;
		/* No blanks at the end of a line */
		if (cells[i].len) {
			at += gap;
			at += put_cell(c, &cols[i], &cells[i], line + at);
			gap = 0;
		}
		gap += 2 + (cols[i].flags & COL_RIGHT ? 0 : width[i] - cells[i].len);
	}
	while (at && line[at - 1] == ' ')
		at--;
	line[at++] = '\n';
	fwrite(line, 1, at, c->out);
}

/* ---- details ------------------------------------------------------------ */

struct detail {
	struct ctx *c;
	unsigned int indent;
	size_t col;	/* where the line ends, 0 = nothing written yet */
};

static void detail_item(struct detail *d, bool new_line, const char *label, const char *text)
{
	size_t len = strlen(label) + 1 + strlen(text);

	if (d->col && (new_line || d->col + 2 + len > DETAIL_WIDTH)) {
		fputc('\n', d->c->out);
		d->col = 0;
	}
	if (!d->col) {
		pad(d->c->out, d->indent);
		d->col = d->indent;
	} else {
		fputs("  ", d->c->out);
		d->col += 2;
	}
	fprintf(d->c->out, "%s %s", label, text);
	d->col += len;
}

/* 16 bytes a line: hex and characters */
static void detail_dump(struct detail *d, const char *label, const uint8_t *p, size_t n)
{
	char line[16 * 3 + 16 + 24], *s;
	size_t at, i;

	for (at = 0; at < n; at += 16) {
		s = line + sprintf(line, "%3zu ", at);
		for (i = at; i < at + 16; i++)
			s += i < n ? sprintf(s, " %02x", p[i]) : sprintf(s, "   ");
		s += sprintf(s, "  |");
		for (i = at; i < at + 16 && i < n; i++)
			*s++ = (char)(p[i] >= 0x20 && p[i] < 0x7f ? p[i] : '.');
		strcpy(s, "|");
		detail_item(d, true, label, line);
	}
	if (!n)
		detail_item(d, true, label, "empty");
}

static void detail_list(struct detail *d, const char *label, const struct list *l)
{
	const struct obj *o;
	unsigned int i, k = 0;

	for (o = l->first; o; o = o->next, k++)
		for (i = 0; i < o->schema->n_fields; i++)
			if (obj_applies(o, i))
				detail_item(d, !i, i ? o->schema->fields[i].label :
					    pool_printf(&d->c->pool, "%s[%u]", label, k),
					    value_text(&d->c->pool, o->schema->fields[i].type,
						       obj_val(o, i), d->c->opt.exact));
}

static void detail_field(struct detail *d, const struct field *f, const struct val *v)
{
	const char *text;

	switch (v->kind) {
	case V_NONE:
		return;
	case V_LIST:
		detail_list(d, f->label, v->l);
		return;
	case V_BYTES:
		detail_dump(d, f->label, v->b, v->n);
		return;
	default:
		text = value_text(&d->c->pool, f->type, v, d->c->opt.exact);
		if (*text)
			detail_item(d, f->flags & F_LINE, f->label, text);
	}
}

static void put_details(struct ctx *c, const struct obj *o, unsigned int indent)
{
	struct detail d = { c, indent + DETAIL_INDENT, 0 };
	unsigned int i;

	for (i = 0; i < o->schema->n_fields; i++)
		if (o->schema->fields[i].flags & F_DETAIL &&
		    (c->opt.verbose || !(o->schema->fields[i].flags & F_V1)))
			detail_field(&d, &o->schema->fields[i], obj_val(o, i));
	if (d.col)
		fputc('\n', c->out);
}

/* ---- table -------------------------------------------------------------- */

/* Cells of all rows, and how wide each column is because of them */
static struct table_line *make_lines(struct ctx *c, const struct list *rows,
				     const struct column *cols, size_t *width, unsigned int n)
{
	struct table_line *first = NULL, **end = &first, *line, *above_line = NULL;
	const struct obj *o, *above = NULL;
	struct cell *cell;
	unsigned int i;

	for (o = rows->first; o; above = o, above_line = line, o = o->next) {
		line = pool_alloc(&c->pool, sizeof(*line) + n * sizeof(*cell));
		*end = line;
		end = &line->next;
		for (i = 0, cell = line->cell; i < n; i++, cell++) {
			if (above && same_cell(o, above, &cols[i])) {
				*cell = above_line->cell[i];
				continue;
			}
			cell->s = cell_text(c, o, &cols[i]);
			cell->len = strlen(cell->s);
			width[i] = cell->len > width[i] ? cell->len : width[i];
		}
	}
	return first;
}

/* ---- long texts ---------------------------------------------------------- */

/* Where the texts of a table go: in lines of @room bytes, in their column or below the row */
struct texts {
	unsigned int first;
	size_t room;
	bool below;
};

/* A text in lines, if the table is too wide; not for programs, which have a line for each row */
static bool texts_wrap(struct ctx *c, const struct column *cols, const size_t *width,
		       unsigned int n, unsigned int indent, struct texts *t)
{
	size_t limit = c->opt.width ? c->opt.width : TEXT_WIDTH, total = indent, before = 0;
	unsigned int i;

	t->first = n;
	for (i = 0; i < n; i++) {
		if (cols[i].flags & COL_TEXT && t->first == n) {
			t->first = i;
			before = total;
		}
		total += width[i] + 2;
	}
	if (t->first == n || total - 2 <= limit || c->opt.columns || c->opt.no_header)
		return false;
	t->below = before + TEXT_MIN > limit;
	if (t->below)
		before = indent + TEXT_INDENT;
	t->room = before + TEXT_INDENT < limit ? limit - before : TEXT_INDENT;
	return true;
}

/* Up to the last blank that has room; a word without one is whole */
static size_t text_line(const char *s, size_t room)
{
	size_t n = strlen(s);

	if (n <= room)
		return n;
	for (n = room; n && s[n] != ' '; n--)
		;
	return n ? n : strcspn(s, " ");
}

/* Write a text from @line on, which may have it, and in more behind. Returns the last of them */
static struct table_line *add_text(struct ctx *c, struct table_line *line, unsigned int n,
				   const struct texts *t, const char *text)
{
	struct table_line *more;
	struct cell *cell;
	size_t len;

	for (; *text; text += len + strspn(text + len, " ")) {
		len = text_line(text, t->room);
		if (t->below || line->cell[t->first].len) {
			more = pool_alloc(&c->pool, sizeof(*more) + n * sizeof(*cell));
			more->next = line->next;
			more->more = true;
			line->next = more;
			line = more;
		}
		cell = &line->cell[t->below ? 0 : t->first];
		cell->s = pool_printf(&c->pool, "%*s%.*s", t->below ? TEXT_INDENT : 0, "",
				      (int)len, text);
		cell->len = strlen(cell->s);
	}
	return line;
}

/* The first text is in the column of its heading; others are behind it, with theirs */
static void wrap_texts(struct ctx *c, struct table_line *line, struct column *cols,
		       size_t *width, unsigned int n, const struct texts *t)
{
	const struct cell *row;
	unsigned int i;

	for (; line; line = line->next) {
		row = memcpy(pool_alloc(&c->pool, n * sizeof(*row)), line->cell, n * sizeof(*row));
		memset(&line->cell[t->first], 0, (n - t->first) * sizeof(*row));
		for (i = t->first; i < n; i++)
			if (row[i].len)
				line = add_text(c, line, n, t, i == t->first ? row[i].s :
						pool_printf(&c->pool, "%s: %s", cols[i].head,
							    row[i].s));
	}
	for (i = t->first + 1; i < n; i++)
		cols[i].flags |= COL_SKIP;
	width[t->first] += TEXT_INDENT + t->room;	/* room for the longest line */
}

/**
 * table_text - write objects as a table
 * @c: run
 * @s: their schema
 * @rows: objects
 * @indent: of every line
 * @details: also write the fields marked F_DETAIL, below each line
 */
void table_text(struct ctx *c, const struct schema *s, const struct list *rows,
		unsigned int indent, bool details)
{
	const char *heads[MAX_COLS];
	struct column cols[MAX_COLS];
	size_t width[MAX_COLS], len;
	unsigned int i, n = pick_columns(c, s, rows, cols);
	struct table_line *line;
	const struct obj *o;
	struct texts texts;
	char *room;

	for (i = 0; i < n; i++) {
		heads[i] = cols[i].head;
		width[i] = c->opt.no_header ? 0 : strlen(cols[i].head);
	}
	line = make_lines(c, rows, cols, width, n);
	fit_columns(c, cols, width, n, indent);
	if (texts_wrap(c, cols, width, n, indent, &texts))
		wrap_texts(c, line, cols, width, n, &texts);
	if (!c->opt.no_header)
		put_head(c, heads, cols, width, n, indent);
	for (i = 0, len = indent + 1; i < n; i++)
		len += width[i] + 2 + strlen(RED PLAIN);
	room = pool_alloc(&c->pool, len);
	for (o = rows->first; o; o = o->next) {
		do {
			put_row(c, line->cell, cols, width, n, indent, room, len);
			line = line->next;
		} while (line && line->more);
		if (details && !c->opt.columns)
			put_details(c, o, indent);
	}
}
