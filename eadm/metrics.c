// SPDX-License-Identifier: GPL-2.0-or-later
/* Metrics as facts: each name once, with the samples of all devices. */
#include <ctype.h>
#include <string.h>

#include "metrics.h"
#include "other_counters.h"
#include "schema.h"

static const struct {
	const char *name;
	enum metric_type type;
	const char *labels;
	const char *help;
} metrics[METRIC_COUNT] = {
#define METRIC_ROW(id, name, type, labels, help) \
	[METRIC_##id] = { METRIC_PREFIX name, METRIC_##type, labels, help },
	METRICS(METRIC_ROW)
#define OTHER_ROW(id, name, type, labels, help) \
	[METRIC_##id] = { METRIC_OTHER name, METRIC_##type, labels, help },
	OTHER_METRICS(OTHER_ROW)
};

#define OTHER_FIRST	METRIC_OTHER_DEVICES

static const char *type_name(enum metric_type type)
{
	return type == METRIC_HISTOGRAM ? "histogram" : type == METRIC_COUNTS ? "counter" : "gauge";
}

/* Those that are metrics of their own come first */
static size_t port_counters(void)
{
	const struct other_counter *oc;
	size_t n = 0;

	while ((oc = other_counter_at(n)) && oc->metric)
		n++;
	return n;
}

/**
 * metrics_init - begin without a sample
 * @m: metrics
 * @c: run
 */
void metrics_init(struct metrics *m, struct ctx *c)
{
	*m = (struct metrics){ .c = c };
	m->counter = pool_alloc(&c->pool, counter_count() * sizeof(*m->counter));
	m->port = pool_alloc(&c->pool, port_counters() * sizeof(*m->port));
}

/* ---- values ------------------------------------------------------------------- */

/**
 * metric_u64 - a value
 * @c: run
 * @v: number
 *
 * Return: text.
 */
const char *metric_u64(struct ctx *c, uint64_t v)
{
	return pool_printf(&c->pool, "%llu", (unsigned long long)v);
}

/**
 * metric_seconds - a time in the base unit, without loss
 * @c: run
 * @ns: nanoseconds
 *
 * Return: text: seconds.
 */
const char *metric_seconds(struct ctx *c, uint64_t ns)
{
	char *s = pool_printf(&c->pool, "%llu.%09llu", (unsigned long long)(ns / 1000000000),
			      (unsigned long long)(ns % 1000000000));
	size_t n = strlen(s);

	while (s[n - 1] == '0')
		n--;
	s[s[n - 1] == '.' ? n - 1 : n] = '\0';
	return s;
}

/* ---- samples ------------------------------------------------------------------ */

static void add_label(struct obj *sample, const char *name, const char *value)
{
	struct obj *o = obj_new(sample->pool, &schema_metric_label);

	obj_str(o, MB_NAME, name);
	obj_str(o, MB_VALUE, value ? value : "");
	list_add(obj_list(sample, MS_LABELS), o);
}

static struct obj *new_sample(struct obj *family, const char *suffix, const char *value)
{
	struct obj *o = obj_new(family->pool, &schema_metric_sample);

	obj_strf(o, MS_NAME, "%s%s", obj_get_str(family, MF_NAME, ""), suffix);
	obj_list(o, MS_LABELS);
	obj_str(o, MS_VALUE, value);
	list_add(obj_list(family, MF_SAMPLES), o);
	return o;
}

static struct obj *new_family(struct ctx *c, const char *name, const char *type, const char *help)
{
	struct obj *o = obj_new(&c->pool, &schema_metrics);

	obj_str(o, MF_NAME, name);
	obj_str(o, MF_TYPE, type);
	obj_str(o, MF_HELP, help);
	obj_list(o, MF_SAMPLES);
	return o;
}

static void add_sample(struct metrics *m, enum metric_id id, const char *suffix,
		       const char *value, va_list labels)
{
	struct obj *sample;
	const char *name;

	if (!m->family[id])
		m->family[id] = new_family(m->c, metrics[id].name, type_name(metrics[id].type),
					   metrics[id].help);
	sample = new_sample(m->family[id], suffix, value);
	while ((name = va_arg(labels, const char *)))
		add_label(sample, name, va_arg(labels, const char *));
}

/**
 * metric_add - a sample
 * @m: metrics
 * @id: metric
 * @value: text
 * @...: labels
 */
void metric_add(struct metrics *m, enum metric_id id, const char *value, ...)
{
	va_list ap;

	va_start(ap, value);
	add_sample(m, id, "", value, ap);
	va_end(ap);
}

/**
 * metric_add_part - a sample of a histogram
 * @m: metrics
 * @id: metric
 * @suffix: "_bucket", "_sum" or "_count"
 * @value: text
 * @...: labels
 */
void metric_add_part(struct metrics *m, enum metric_id id, const char *suffix, const char *value,
		     ...)
{
	va_list ap;

	va_start(ap, value);
	add_sample(m, id, suffix, value, ap);
	va_end(ap);
}

/* ---- counters ----------------------------------------------------------------- */

/* A driver may give a counter any name */
static const char *counter_metric(struct ctx *c, const char *name)
{
	char *s = pool_printf(&c->pool, METRIC_PREFIX "%s" METRIC_COUNTER, name), *p;

	for (p = s; *p; p++)
		if (!isalnum((unsigned char)*p))
			*p = '_';
	return s;
}

static struct obj *other_counter(struct metrics *m, const char *name)
{
	const char *metric = counter_metric(m->c, name);
	struct obj *o;

	for (o = m->others.first; o; o = o->next)
		if (!strcmp(obj_get_str(o, MF_NAME, ""), metric))
			return o;
	o = new_family(m->c, metric, "counter", "a counter of the driver that eadm does not know");
	list_add(&m->others, o);
	return o;
}

static struct obj *counter_family(struct metrics *m, const char *name)
{
	int n = counter_number(name);

	if (n < 0)
		return other_counter(m, name);
	if (!m->counter[n])
		m->counter[n] = new_family(m->c, counter_metric(m->c, name), "counter",
					   counter_text(name));
	return m->counter[n];
}

/* Two counters of a driver may have one name here: a series must not be there twice */
static bool has_device(const struct obj *family, const char *device)
{
	const struct obj *last = obj_val(family, MF_SAMPLES)->l->last;

	return last && !strcmp(obj_get_str(obj_val(last, MS_LABELS)->l->first, MB_VALUE, ""),
			       device);
}

/**
 * metric_add_counter - a counter of a device
 * @m: metrics
 * @name: canonical name
 * @value: number
 * @device: name of the device
 * @port: number of the port, NULL: it belongs to the device
 */
void metric_add_counter(struct metrics *m, const char *name, uint64_t value, const char *device,
			const char *port)
{
	struct obj *family = counter_family(m, name), *sample;

	if (has_device(family, device))
		return;
	sample = new_sample(family, "", metric_u64(m->c, value));
	add_label(sample, "device", device);
	if (port)
		add_label(sample, "port", port);
}

/* ---- counters of other drivers ------------------------------------------------ */

static struct obj *port_family(struct metrics *m, const struct other_counter *oc)
{
	struct obj **family = &m->port[oc - other_counter_at(0)];

	if (!*family)
		*family = new_family(m->c, pool_printf(&m->c->pool, METRIC_OTHER "%s" METRIC_COUNTER,
						       oc->metric), "counter", oc->text);
	return *family;
}

/**
 * metric_add_other_counter - a counter of another driver's device
 * @m: metrics
 * @name: the driver's name
 * @value: number
 * @device: name of the device
 * @port: number of the port
 */
void metric_add_other_counter(struct metrics *m, const char *name, uint64_t value,
			      const char *device, const char *port)
{
	const struct other_counter *oc = other_counter_find(name);
	struct obj *sample;

	if (!oc || !oc->metric) {
		metric_add(m, METRIC_OTHER_COUNTER, metric_u64(m->c, value), "device", device,
			   "port", port, "counter", name, NULL);
		return;
	}
	sample = new_sample(port_family(m, oc), "", metric_u64(m->c, value * oc->factor));
	add_label(sample, "device", device);
	add_label(sample, "port", port);
}

/* ---- all of them -------------------------------------------------------------- */

static void hand_over(struct metrics *m, struct obj **family, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (family[i])
			ctx_add(m->c, family[i]);
}

/**
 * metrics_finish - hand the metrics over as objects of the run, in the order of the tables
 * @m: metrics
 */
void metrics_finish(struct metrics *m)
{
	struct obj *o, *next;

	hand_over(m, m->family, OTHER_FIRST);
	hand_over(m, m->counter, counter_count());
	for (o = m->others.first; o; o = next) {
		next = o->next;
		o->next = NULL;
		ctx_add(m->c, o);
	}
	hand_over(m, m->family + OTHER_FIRST, METRIC_COUNT - OTHER_FIRST);
	hand_over(m, m->port, port_counters());
}

static void reference_rows(FILE *f, size_t from, size_t to)
{
	size_t i;

	for (i = from; i < to; i++)
		fprintf(f, "| `%s` | %s | %s | %s |\n", metrics[i].name,
			type_name(metrics[i].type), metrics[i].labels, metrics[i].help);
}

/**
 * metrics_reference - the table of all metrics, in Markdown
 * @f: where to
 */
void metrics_reference(FILE *f)
{
	const struct other_counter *oc;
	const char *name;
	size_t i;

	fputs("| metric | type | labels | |\n|---|---|---|---|\n", f);
	reference_rows(f, 0, OTHER_FIRST);
	for (i = 0; (name = counter_at(i)); i++)
		fprintf(f, "| `" METRIC_PREFIX "%s" METRIC_COUNTER "` | counter | %s | %s |\n", name,
			counter_of_port(name) ? "device, port" : "device", counter_text(name));
	reference_rows(f, OTHER_FIRST, METRIC_COUNT);
	for (i = 0; i < port_counters(); i++) {
		oc = other_counter_at(i);
		fprintf(f, "| `" METRIC_OTHER "%s" METRIC_COUNTER "` | counter | device, port | %s |\n",
			oc->metric, oc->text);
	}
}
