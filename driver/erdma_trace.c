// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The one place where the trace points of erdma_trace.h are made */
#include <linux/types.h>

#include "uapi/erdma_diag.h"

#define TRACE_WORD(code, word) \
	[code] = word,

/* Unused in kernels without trace points */
static const char * const trace_cm_stages[] __maybe_unused = {
	ERDMA_DIAG_CM_STAGE_NAMES(TRACE_WORD)
};

static const char * const trace_reset_events[] __maybe_unused = {
	ERDMA_DIAG_RESET_EVENTS(TRACE_WORD)
};

#define CREATE_TRACE_POINTS
#include "erdma_trace.h"
