/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From objects to bytes on stdout. */
#ifndef EADM_EMIT_H
#define EADM_EMIT_H

#include <stdio.h>

#include "cmd.h"
#include "model.h"
#include "schema.h"

/* A finished document, in the words of the schemas */
struct obj *doc_build(struct ctx *c);

void emit_json(struct ctx *c, const struct obj *doc);
void emit_json_lines(struct ctx *c, const struct obj *doc);
void emit_text(struct ctx *c);
#define TIME_LEN 40
void time_rfc3339(uint64_t ns, char text[TIME_LEN]);
const char *value_text(struct pool *p, enum field_type type, const struct val *v, bool exact);

/* emit_schema.c */
void emit_json_schema(struct ctx *c, const struct schema *s);
const char *json_schema_title(struct pool *p, const struct schema *s);

/* emit_fit.c */
#define RED	"\033[31m"
#define PLAIN	"\033[0m"
unsigned int terminal_width(void);
bool terminal_codes(int fd);
void fit_columns(struct ctx *c, struct column *cols, const size_t *width, unsigned int n,
		 unsigned int indent);
const char *red_text(struct ctx *c, const char *s);

/* emit_moved.c */
void moved_line(struct ctx *c, const struct obj *o);

/* emit_answer.c */
void answer_text(struct ctx *c, const struct obj *o);

/* emit_summary.c */
void summary_text(struct ctx *c, const struct obj *o);
/* emit_metrics.c */
void metrics_text(struct ctx *c, const struct list *metrics);

/* emit_table.c */
void table_text(struct ctx *c, const struct schema *s, const struct list *rows,
		unsigned int indent, bool details);
void text_heading(struct ctx *c, const char *s);
bool columns_known(const struct schema *s, const char *columns, const char **bad);

#endif /* EADM_EMIT_H */
