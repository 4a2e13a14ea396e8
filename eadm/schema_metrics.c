// SPDX-License-Identifier: GPL-2.0-or-later
/* Metrics and their samples. Values are text, as Prometheus' own HTTP API has them. */
#include "schema_int.h"

static const struct field label_fields[] = {
	[MB_NAME] = { "name", "name", T_STR },
	[MB_VALUE] = { "value", "value", T_STR },
};

const struct schema schema_metric_label = { FIELDS(label_fields, MB_COUNT) };

static const struct field sample_fields[] = {
	[MS_NAME] = { "name", "name", T_STR },
	[MS_LABELS] = { "labels", "labels", T_LIST, .sub = &schema_metric_label },
	[MS_VALUE] = { "value", "value", T_STR },
};

const struct schema schema_metric_sample = { FIELDS(sample_fields, MS_COUNT) };

static const struct field metric_fields[] = {
	[MF_NAME] = { "name", "name", T_STR },
	[MF_TYPE] = { "type", "type", T_STR },
	[MF_HELP] = { "help", "help", T_STR },
	[MF_SAMPLES] = { "samples", "samples", T_LIST, .sub = &schema_metric_sample },
};

const struct schema schema_metrics = {
	.name = NAME("metrics"), FIELDS(metric_fields, MF_COUNT), .view = VIEW_METRICS,
};
