/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the model: the card, and all headers of its objects.
 *
 * Sections refer to docs/erdma-hardware.md. Nothing in here trusts the guest:
 * a value is copied out of guest memory or a register once, bounded, then
 * used. Host pointers to guest memory never outlive the function that mapped
 * them.
 */
#ifndef ERDMA_CORE_INT_H
#define ERDMA_CORE_INT_H

#include <endian.h>
#include <stdarg.h>
#include <string.h>

#include "fault_int.h"
#include "mr_int.h"
#include "qp_int.h"
#include "queue_int.h"

/* ---- command queue (cmdq.c, cmd.c, cmd_query.c) ---- */

typedef struct ErdmaCmdq {
    uint64_t sq_base, cq_base;
    uint32_t depth;
    uint16_t sq_pi, sq_ci;
    uint32_t cq_pi;
    bool armed;
    ErdmaEvent event;
} ErdmaCmdq;

struct ErdmaCmd {
    uint8_t slot[ERDMA_SQE_MAX_SIZE];   /* zero behind the slot's end */
    uint32_t bytes;             /* size of the slot */
    uint8_t submod, opcode;
    uint64_t resp0, resp1;
};

void erdma_cmdq_doorbell(ErdmaCore *c, uint64_t value);
void erdma_cmdq_arm(ErdmaCore *c, uint64_t value);
/* Execute what was posted, bounded */
void erdma_cmdq_run(ErdmaCore *c);
/* Put a finished completion into the command CQ */
void erdma_cmdq_write(ErdmaCore *c, struct erdma_cqe *cqe, unsigned flags);
/* enum erdma_cmd_status */
unsigned erdma_cmd_execute(ErdmaCore *c, ErdmaCmd *cmd);
unsigned erdma_cmd_query_device(ErdmaCore *c, ErdmaCmd *cmd);
unsigned erdma_cmd_query_fw(ErdmaCore *c, ErdmaCmd *cmd);
unsigned erdma_cmd_get_stats(ErdmaCore *c, ErdmaCmd *cmd);
unsigned erdma_cmd_query_qpc(ErdmaCore *c, ErdmaCmd *cmd);
unsigned erdma_cmd_query_cqc(ErdmaCore *c, ErdmaCmd *cmd);
unsigned erdma_cmd_query_eqc(ErdmaCore *c, ErdmaCmd *cmd);
unsigned erdma_cmd_set_ext_attr(ErdmaCore *c, ErdmaCmd *cmd);
unsigned erdma_cmd_get_ext_attr(ErdmaCore *c, ErdmaCmd *cmd);

/* ---- the card (erdma_core.c, regs.c) ---- */

/* Register contents as the guest wrote them; latched by INIT */
typedef struct ErdmaRegs {
    uint32_t status;
    uint32_t sq_lo, sq_hi, cq_lo, cq_hi, cmdq_depth;
    uint32_t eq_lo, eq_hi, eq_depth;
    uint32_t aeq_lo, aeq_hi, aeq_depth;
    uint64_t sq_dbrec, cq_dbrec, eq_dbrec, aeq_dbrec;
} ErdmaRegs;

struct ErdmaCore {
    ErdmaConfig cfg;
    const ErdmaOps *ops;
    void *opaque;
    ErdmaFabric *fabric;
    ErdmaLogLevel log_level;

    ErdmaRegs regs;
    bool ready;                 /* INIT done */
    bool kicked;                /* a run was asked for and did not start */
    ErdmaCmdq cmdq;
    ErdmaEq eq[ERDMA_MAX_VECTORS];      /* 0: command EQ, n: CEQ n */
    ErdmaEq aeq;

    ErdmaTable qps, cqs, mrs;
    uint32_t queue_pages;       /* page addresses kept, all queues */
    ErdmaDbContext *db_ctx;
    uint32_t db_ctx_limit, db_ctx_used, db_ctx_next;

    ErdmaLink run;              /* ErdmaQp.run_link */
    ErdmaLink held;             /* ErdmaQp.hold_link, oldest first */
    ErdmaLink watched;          /* ErdmaRemote.watch_link, oldest first */
    ErdmaLink parked;           /* ErdmaGate.link, earliest first */
    uint64_t timer;             /* deadline last given to ops->set_timer() */

    uint32_t points;            /* ERDMA_POINT_* that are watched */
    ErdmaFaults *faults;        /* NULL until the first one */
    bool gone;                  /* pulled out of its slot */
    ErdmaLimits limit;
    uint64_t bytes_at, messages_at;     /* meters of the card */

    uint32_t mtu;
    uint8_t retrans;
    uint32_t ext_mask;
    uint8_t ext_delack;

    uint64_t log_second;
    uint32_t log_lines;
    ErdmaCounters n;
};

/* Drop all objects and the bootstrap queues; registers stay */
void erdma_core_quiesce(ErdmaCore *c);
void erdma_core_kick(ErdmaCore *c);
void erdma_core_update_timer(ErdmaCore *c);
/* Be called at @deadline or before */
void erdma_core_timer_by(ErdmaCore *c, uint64_t deadline);
uint64_t erdma_reg_read(ErdmaCore *c, uint64_t offset, unsigned size);
void erdma_reg_write(ErdmaCore *c, uint64_t offset, uint64_t value,
                     unsigned size);
void erdma_doorbell_write(ErdmaCore *c, uint64_t offset, uint64_t value,
                          unsigned size);
/* Unknown or not allowed: normal, counted, never an error (15.5) */
void erdma_doorbell_drop(ErdmaCore *c, uint64_t offset, uint64_t value);
void erdma_irq(ErdmaCore *c, unsigned vector);
/* The same past all faults */
void erdma_irq_send(ErdmaCore *c, unsigned vector);
uint64_t erdma_packets(const ErdmaCore *c, uint64_t bytes);

static inline ErdmaQp *erdma_qp_get(const ErdmaCore *c, uint32_t qpn)
{
    return erdma_table_get(&c->qps, qpn);
}

static inline ErdmaCq *erdma_cq_get(const ErdmaCore *c, uint32_t cqn)
{
    return erdma_table_get(&c->cqs, cqn);
}

/* ---- guest memory (dma.c) ---- */

bool erdma_dma_read(ErdmaCore *c, uint64_t addr, void *dst, size_t len);
bool erdma_dma_write(ErdmaCore *c, uint64_t addr, const void *src, size_t len);
/*
 * Write an entry so that its first @head bytes (4 or 8), which hold the owner
 * bit, become visible after the rest (3.3).
 */
bool erdma_dma_publish(ErdmaCore *c, uint64_t addr, const void *entry,
                       size_t len, size_t head);

/* ---- messages (log.c) ---- */

void erdma_log(ErdmaCore *c, ErdmaLogLevel level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void erdma_guest_error(ErdmaCore *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* What a peer may cause any number of times */
void erdma_peer_info(ErdmaCore *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#define erdma_info(c, ...) do { \
    if ((c)->log_level >= ERDMA_LOG_INFO) { \
        erdma_log((c), ERDMA_LOG_INFO, __VA_ARGS__); \
    } \
} while (0)

#define erdma_trace(c, ...) do { \
    if (__builtin_expect((c)->log_level >= ERDMA_LOG_TRACE, 0)) { \
        erdma_log((c), ERDMA_LOG_TRACE, __VA_ARGS__); \
    } \
} while (0)

#endif /* ERDMA_CORE_INT_H */
