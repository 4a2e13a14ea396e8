// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is different in two snapshot files of one host. Both are read by the commands that
 * list objects, so whatever these show can be compared; an object is the same in both if
 * adapter, number and time of creation are.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "emit.h"
#include "on_file.h"
#include "schema.h"
#include "schema_mem.h"

#define CLOCK_NS	10000000	/* by so much times of creation may differ */

/**
 * struct diff_kind - objects that are compared
 * @word: in the output
 * @verb: command that lists them
 * @object: ditto
 * @dev: field with the device's name
 * @id: field with the number; -1: one per device
 * @age: field with the age; -1: they have none
 */
struct diff_kind {
	const char *word;
	const char *verb;
	const char *object;
	int dev;
	int id;
	int age;
};

static const struct diff_kind diff_kinds[] = {
	{ "device", "info", "dev", DI_DEV, -1, -1 },
	{ "qp", "list", "qp", QL_DEV, QL_QPN, QL_AGE },
	{ "cq", "list", "cq", CL_DEV, CL_CQN, CL_AGE },
	{ "eq", "list", "eq", EL_DEV, EL_EQN, -1 },
	{ "mr", "list", "mr", ML_DEV, MR_INDEX, ML_AGE },
	{ "pd", "list", "pd", ML_DEV, PD_PDN, ML_AGE },
	{ "ctx", "list", "ctx", ML_DEV, CX_ID, ML_AGE },
	{ "cm", "list", "cm", ML_DEV, CM_ID, ML_AGE },
	{ "cmdq", "info", "cmdq", MI_DEV, -1, -1 },
	{ "counter", "stat", NULL, ST_DEV, -1, -1 },
};

/**
 * struct diff_side - one of the two files
 * @path: file
 * @c: run of commands on it
 * @damaged: its end is missing
 * @partial: the last list may lack objects
 */
struct diff_side {
	const char *path;
	struct ctx c;
	bool damaged;
	bool partial;
};

/**
 * struct diff - one run
 * @c: context of the command
 * @kind: what is being compared
 * @pci: adapter, and its name in the newer file that has it
 * @dev: see @pci
 * @id: object, -1 = none
 * @whole: both lists have all objects, so one that is in one of them is new or gone
 */
struct diff {
	struct ctx *c;
	const struct diff_kind *kind;
	const char *pci;
	const char *dev;
	int64_t id;
	bool whole;
};

/* ---- the files ------------------------------------------------------------ */

/* Return: 0, or a negative error number after reporting it */
static int side_open(struct ctx *c, struct diff_side *s, const char *path)
{
	int ret;

	s->path = path;
	on_file_init(c, &s->c, path);
	ret = on_file_read(c, &s->c.src, path);
	if (ret < 0)
		return ret;
	s->damaged = ret;
	if (s->c.src.chosen)
		ctx_note(c, "CHOSEN", NULL, "%s: only what was chosen when it was written is compared",
			 path);
	return 0;
}

/* What the file does not have is missing in the comparison */
static void side_report(struct ctx *c, struct diff_side *s)
{
	const struct problem *p;

	s->partial = s->damaged || s->c.src.chosen;
	for (p = s->c.problems; p; p = p->next) {
		if (p->note)
			continue;
		s->partial = true;
		ctx_problem_exit(c, EX_PARTIAL, ENODATA,
				 p->object ? pool_strdup(&c->pool, p->object) : NULL, NULL, "%s: %s",
				 s->path, p->text);
	}
	on_file_forget(&s->c);
}

/* Objects of one device, for there are commands that take one only */
static const struct list *side_list(struct ctx *c, struct diff_side *s,
				    const struct diff_kind *kind, const struct dev *dev)
{
	const struct args none = { 0 };

	s->c.opt.device = dev_title(dev);
	on_file_run(&s->c, kind->verb, kind->object, &none);
	side_report(c, s);
	return &s->c.data;
}

static int see_dev(struct ctx *c, struct dev *dev, void *arg)
{
	(void)c;
	(void)dev;
	(void)arg;
	return 0;
}

/* The adapters, with what each one is. Return: 0, or negative after reporting it */
static int side_find_devices(struct ctx *c, struct diff_side *s)
{
	int ret;

	s->c.cmd = c->cmd;
	ret = ctx_each_dev(&s->c, DEVS_MANY | DEVS_ANY, see_dev, NULL);
	if (ret)
		side_report(c, s);
	on_file_forget(&s->c);
	return ret;
}

static const struct dev *side_dev(const struct diff_side *s, const char *pci)
{
	const struct dev *d;

	for (d = s->c.src.devs; d; d = d->next)
		if (!strcmp(d->pci, pci))
			return d;
	return NULL;
}

/* ---- rows ------------------------------------------------------------------ */

static struct obj *diff_row(const struct diff *d, const char *what, const char *key)
{
	struct pool *p = &d->c->pool;
	struct obj *o = obj_new(p, &schema_diff);

	obj_str(o, DF_DEV, pool_strdup(p, d->dev));
	obj_str(o, DF_PCI, pool_strdup(p, d->pci));
	obj_str(o, DF_KIND, d->kind->word);
	if (d->id >= 0)
		obj_u64(o, DF_ID, (uint64_t)d->id);
	obj_str(o, DF_WHAT, what);
	if (key)
		obj_str(o, DF_KEY, pool_strdup(p, key));
	ctx_add(d->c, o);
	return o;
}

static void row_add_delta(struct obj *o, enum field_type type, uint64_t a, uint64_t b)
{
	struct val size = { .kind = V_U64, .u = b > a ? b - a : a - b };

	if (type == T_BOOL || type == T_HEX || type == T_HEX32 || type == T_HEX64)
		return;
	obj_i64(o, DF_DELTA, (int64_t)(b - a));
	obj_strf(o, DF_CHANGE, "%c%s", b >= a ? '+' : '-',
		 value_text(o->pool, type, &size, false));
}

static void diff_add_change(const struct diff *d, const struct field *f, const struct val *a,
			    const struct val *b)
{
	struct obj *o = diff_row(d, "changed", f->key);

	obj_str(o, DF_BEFORE, value_text(o->pool, f->type, a, true));
	obj_str(o, DF_AFTER, value_text(o->pool, f->type, b, true));
	if (a->kind == V_U64 && b->kind == V_U64)
		row_add_delta(o, f->type, a->u, b->u);
}

/* ---- comparison ------------------------------------------------------------ */

static bool val_is_known(const struct val *v)
{
	return v->kind != V_UNKNOWN && v->kind != V_WITHHELD && v->kind != V_UNASKED;
}

/* Times pass by themselves; inner objects, and what is of the file, are not compared */
static bool field_is_compared(const struct field *f, const struct val *a, const struct val *b)
{
	return f->key && f->type != T_NS && f->type != T_LIST && f->type != T_OBJ &&
	       strcmp(f->key, "dev_index") && val_is_known(a) && val_is_known(b);
}

static void diff_fields_of(const struct diff *d, const struct obj *a, const struct obj *b)
{
	const struct schema *s = a->schema;
	unsigned int i;

	for (i = 0; i < s->n_fields; i++)
		if (field_is_compared(&s->fields[i], &a->v[i], &b->v[i]) &&
		    !val_equal(&a->v[i], &b->v[i]))
			diff_add_change(d, &s->fields[i], &a->v[i], &b->v[i]);
}

static void diff_counters(const struct diff *d, const struct obj *a, const struct obj *b)
{
	const struct val *va = obj_val(a, ST_COUNTERS), *vb = obj_val(b, ST_COUNTERS);
	const struct obj *x, *y;
	uint64_t before, after;
	struct obj *o;

	if (va->kind != V_LIST || vb->kind != V_LIST)
		return;
	for (y = vb->l->first; y; y = y->next) {
		for (x = va->l->first; x; x = x->next)
			if (!strcmp(obj_get_str(x, SC_NAME, ""), obj_get_str(y, SC_NAME, "")))
				break;
		if (!x || !obj_has(x, SC_VALUE) || !obj_has(y, SC_VALUE))
			continue;
		before = obj_get_u64(x, SC_VALUE, 0);
		after = obj_get_u64(y, SC_VALUE, 0);
		if (before == after)
			continue;
		o = diff_row(d, "changed", obj_get_str(y, SC_NAME, ""));
		obj_strf(o, DF_BEFORE, "%" PRIu64, before);
		obj_strf(o, DF_AFTER, "%" PRIu64, after);
		row_add_delta(o, T_NUM, before, after);
	}
}

/* CLOCK_MONOTONIC of an object's creation; 0: not known */
static uint64_t created(const struct diff_kind *kind, const struct dev *dev, const struct obj *o)
{
	uint64_t age;

	if (kind->age < 0 || !obj_has(o, (unsigned int)kind->age))
		return 0;
	age = obj_get_u64(o, (unsigned int)kind->age, 0);
	return age < dev->info.time_mono_ns ? dev->info.time_mono_ns - age : 0;
}

static bool is_same(uint64_t a, uint64_t b)
{
	return !a || !b || (a > b ? a - b : b - a) <= CLOCK_NS;
}

static bool is_of(const struct diff_kind *kind, const struct obj *o, const struct dev *dev)
{
	return !strcmp(obj_get_str(o, (unsigned int)kind->dev, ""), dev_title(dev));
}

static int64_t id_of(const struct diff_kind *kind, const struct obj *o)
{
	return kind->id < 0 ? -1 : (int64_t)obj_get_u64(o, (unsigned int)kind->id, 0);
}

/* The object that O, of device DEV, is in a list of device OTHER; or NULL */
static const struct obj *find_same(const struct diff_kind *kind, const struct obj *o,
				   const struct dev *dev, const struct list *list,
				   const struct dev *other)
{
	const struct obj *x;

	for (x = list->first; x; x = x->next)
		if (is_of(kind, x, other) && id_of(kind, x) == id_of(kind, o) &&
		    is_same(created(kind, dev, o), created(kind, other, x)))
			return x;
	return NULL;
}

static void diff_objects(struct diff *d, const struct dev *a, const struct list *la,
			 const struct dev *b, const struct list *lb)
{
	const struct diff_kind *kind = d->kind;
	const struct obj *o, *was;

	for (o = la->first; o; o = o->next) {
		if (!d->whole || !is_of(kind, o, a) || find_same(kind, o, a, lb, b))
			continue;
		d->id = id_of(kind, o);
		diff_row(d, "gone", NULL);
	}
	for (o = lb->first; o; o = o->next) {
		if (!is_of(kind, o, b))
			continue;
		d->id = id_of(kind, o);
		was = find_same(kind, o, b, la, a);
		if (!was && d->whole)
			diff_row(d, "new", NULL);
		else if (!was)
			continue;
		else if (o->schema == &schema_stat)
			diff_counters(d, was, o);
		else
			diff_fields_of(d, was, o);
	}
}

static void diff_kind(struct ctx *c, const struct diff_kind *kind, struct diff_side *a,
		      struct diff_side *b)
{
	struct diff d = { .c = c, .kind = kind, .id = -1 };
	const struct list *la, *lb;
	const struct dev *x, *y;

	for (x = a->c.src.devs; x; x = x->next) {
		y = side_dev(b, x->pci);
		if (!y)
			continue;
		la = side_list(c, a, kind, x);
		lb = side_list(c, b, kind, y);
		d.whole = !a->partial && !b->partial;
		d.pci = x->pci;
		d.dev = dev_title(y);
		diff_objects(&d, x, la, y, lb);
	}
}

/* ---- devices ---------------------------------------------------------------- */

/* Devices that only one of the files has, and how much time is between the two */
static void diff_devices(struct ctx *c, struct diff_side *a, struct diff_side *b)
{
	struct diff d = { .c = c, .kind = &diff_kinds[0], .id = -1 };
	const struct dev *x, *y;
	struct obj *o;

	for (x = a->c.src.devs; x; x = x->next) {
		d.pci = x->pci;
		d.dev = dev_title(x);
		if (!side_dev(b, x->pci))
			diff_row(&d, "gone", NULL);
	}
	for (y = b->c.src.devs; y; y = y->next) {
		d.pci = y->pci;
		d.dev = dev_title(y);
		x = side_dev(a, y->pci);
		if (!x) {
			diff_row(&d, "new", NULL);
			continue;
		}
		/* Reading what a device is also fills in its time */
		side_list(c, a, d.kind, x);
		side_list(c, b, d.kind, y);
		if (x->info.time_real_ns && y->info.time_real_ns) {
			o = diff_row(&d, "read", "time_ns");
			row_add_delta(o, T_NS, x->info.time_real_ns, y->info.time_real_ns);
		}
	}
}

/**
 * cmd_diff - what is different in two snapshot files
 * @c: run
 * @a: arguments: the files, the older one first
 *
 * Return: 0, or a negative error number after reporting it.
 */
int cmd_diff(struct ctx *c, const struct args *a)
{
	struct diff_side sides[2] = { 0 };
	size_t i;
	int ret;

	ret = side_open(c, &sides[0], a->v[0]);
	if (!ret)
		ret = side_open(c, &sides[1], a->v[1]);
	if (!ret)
		ret = side_find_devices(c, &sides[0]);
	if (!ret)
		ret = side_find_devices(c, &sides[1]);
	if (!ret)
		diff_devices(c, &sides[0], &sides[1]);
	for (i = 0; !ret && i < COUNT_OF(diff_kinds); i++)
		diff_kind(c, &diff_kinds[i], &sides[0], &sides[1]);
	on_file_end(&sides[0].c);
	on_file_end(&sides[1].c);
	return ret;
}
