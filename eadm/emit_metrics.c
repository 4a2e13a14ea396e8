// SPDX-License-Identifier: GPL-2.0-or-later
/* Metrics in Prometheus' text format, version 0.0.4, which node_exporter reads from files, too. */
#include <string.h>

#include "emit.h"

/* Backslash and line feed have escapes everywhere, the quote in values of labels */
static void put_escaped(FILE *f, const char *s, bool quote)
{
	for (; *s; s++) {
		if (*s == '\n')
			fputs("\\n", f);
		else if (*s == '\\' || (quote && *s == '"'))
			fprintf(f, "\\%c", *s);
		else
			fputc(*s, f);
	}
}

static void put_sample(FILE *f, const struct obj *sample)
{
	const struct obj *label = obj_val(sample, MS_LABELS)->l->first;
	const char *sep = "{";

	fputs(obj_get_str(sample, MS_NAME, ""), f);
	for (; label; label = label->next) {
		fprintf(f, "%s%s=\"", sep, obj_get_str(label, MB_NAME, ""));
		put_escaped(f, obj_get_str(label, MB_VALUE, ""), true);
		fputc('"', f);
		sep = ",";
	}
	fprintf(f, "%s %s\n", *sep == ',' ? "}" : "", obj_get_str(sample, MS_VALUE, ""));
}

/**
 * metrics_text - objects of schema_metrics as text
 * @c: run
 * @metrics: objects
 */
void metrics_text(struct ctx *c, const struct list *metrics)
{
	const struct obj *o, *sample;
	const char *name;

	for (o = metrics->first; o; o = o->next) {
		name = obj_get_str(o, MF_NAME, "");
		fprintf(c->out, "# HELP %s ", name);
		put_escaped(c->out, obj_get_str(o, MF_HELP, ""), false);
		fprintf(c->out, "\n# TYPE %s %s\n", name, obj_get_str(o, MF_TYPE, ""));
		for (sample = obj_val(o, MF_SAMPLES)->l->first; sample; sample = sample->next)
			put_sample(c->out, sample);
	}
}
