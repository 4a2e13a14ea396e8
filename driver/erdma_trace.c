// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The one place where the trace points of erdma_trace.h are made */
#include <linux/types.h>

#include "uapi/erdma_diag.h"

#define TRACE_CASE(code, word)	case (code): return (word);

static const char *trace_cm_stage(u32 stage)
{
	switch (stage) {
	ERDMA_DIAG_CM_STAGE_NAMES(TRACE_CASE)
	}
	return NULL;
}

static const char *trace_reset_event(u32 event)
{
	switch (event) {
	ERDMA_DIAG_RESET_EVENTS(TRACE_CASE)
	}
	return NULL;
}

#define CREATE_TRACE_POINTS
#include "erdma_trace.h"
