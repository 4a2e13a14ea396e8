/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every bound of the model in one place. What the guest asks for is checked
 * against these before anything is allocated, mapped or looped over.
 */
#ifndef ERDMA_LIMITS_H
#define ERDMA_LIMITS_H

#include "erdma/erdma_hw.h"

/* ---- rings the guest describes, in log2 or entries ---- */
#define ERDMA_LIMIT_CMDQ_DEPTH          4096u
#define ERDMA_LIMIT_EQ_DEPTH            32768u  /* 16-bit indices need < 2^16 */
#define ERDMA_LIMIT_QP_DEPTH_LOG        15u     /* ERDMA_MAX_QUEUE_DEPTH */
#define ERDMA_LIMIT_PAGE_SHIFT_MIN      12u
#define ERDMA_LIMIT_PAGE_SHIFT_MAX      30u

/* Page addresses of queues that one card stores, all queues together */
#define ERDMA_LIMIT_QUEUE_PAGES         (64u * 1024 * 1024 / 8)

/* ---- configuration ---- */
#define ERDMA_LIMIT_BAR0_SIZE           (256u * 1024 * 1024)
#define ERDMA_LIMIT_MR_SIZE_LOG         39u
#define ERDMA_LIMIT_GRP_NUM             24u
#define ERDMA_LIMIT_HOLD_NS             (3600ull * 1000000000ull)

/* ---- one message ---- */
#define ERDMA_LIMIT_MESSAGE             (1ull << 31)

/* ---- work per call into the core ---- */

/*
 * Steps of one entry into the core, all work together: a command, a request
 * that is flushed or timed out, a connection that is looked at to find a peer.
 */
#define ERDMA_LIMIT_ENTRY_STEPS         4160u

/*
 * Inside a doorbell write: only whole messages, so that a large one is neither
 * copied on the processor that rang nor torn in two by a thread switch.
 */
#define ERDMA_LIMIT_DOORBELL_BYTES      (64ull * 1024)
#define ERDMA_LIMIT_DOORBELL_WQES       64u

/* One erdma_core_run(), and the share of one QP before the next has its turn */
#define ERDMA_LIMIT_RUN_BYTES           (4ull * 1024 * 1024)
#define ERDMA_LIMIT_RUN_WQES            1024u
#define ERDMA_LIMIT_SLICE_BYTES         (1024ull * 1024)
#define ERDMA_LIMIT_SLICE_WQES          128u

/* Of these, flush completions of one queue pair */
#define ERDMA_LIMIT_FLUSH               4096u
/* Commands executed inside one doorbell write or run */
#define ERDMA_LIMIT_COMMANDS            64u
/* Timers of one kind in one call */
#define ERDMA_LIMIT_TIMEOUTS            64u

/*
 * Requests to other processes in flight, all cards of this one together. Each QP
 * may always have one, so nobody waits for another.
 */
#define ERDMA_LIMIT_FLIGHTS             32768u

/* Requests of another process that wait here for receives, as messages */
#define ERDMA_LIMIT_BACKLOG             (16u * 1024 * 1024)

/* WQEBBs fetched ahead with one read of guest memory */
#define ERDMA_LIMIT_FETCH               16u
/* Translation entries fetched with one read of guest memory */
#define ERDMA_LIMIT_MTT_FETCH           64u

/* ---- faults ---- */
#define ERDMA_LIMIT_FAULTS              64u
#define ERDMA_LIMIT_FAULT_LINE          160u
#define ERDMA_LIMIT_FAULT_MS            3600000u
/* Entries and interrupts that wait because of a fault, all kinds together */
#define ERDMA_LIMIT_DELAYED             256u
/* Entries that a flood writes in one turn */
#define ERDMA_LIMIT_FLOOD               64u

/* ---- log lines about guest errors per second ---- */
#define ERDMA_LIMIT_LOG_PER_SECOND      20u
#define ERDMA_LIMIT_LOG_LINE            256u

#endif /* ERDMA_LIMITS_H */
