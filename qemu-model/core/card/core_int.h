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

#include "hooks.h"
#include "mr_int.h"
#include "qp_int.h"
#include "queue_int.h"

/* ---- commands (cmd.c, cmd_query.c) ---- */

/* enum erdma_cmd_status */
unsigned erdma_cmd_execute(ErdmaCore *c, ErdmaCmd *cmd);
/* Capabilities (6), in @cmd->resp0 and resp1; all: enum erdma_cmd_status */
unsigned erdma_cmd_query_device(ErdmaCore *c, ErdmaCmd *cmd);
/* Firmware version (5.3.3) */
unsigned erdma_cmd_query_fw(ErdmaCore *c, ErdmaCmd *cmd);
/* Into guest memory, of at most the LENGTH asked for: statistics (14) */
unsigned erdma_cmd_get_stats(ErdmaCore *c, ErdmaCmd *cmd);
/* The same for a QP (A.1), a CQ (A.2), an EQ (A.3) */
unsigned erdma_cmd_query_qpc(ErdmaCore *c, ErdmaCmd *cmd);
unsigned erdma_cmd_query_cqc(ErdmaCore *c, ErdmaCmd *cmd);
unsigned erdma_cmd_query_eqc(ErdmaCore *c, ErdmaCmd *cmd);
/* Extended attributes (A.4) */
unsigned erdma_cmd_set_ext_attr(ErdmaCore *c, ErdmaCmd *cmd);
unsigned erdma_cmd_get_ext_attr(ErdmaCore *c, ErdmaCmd *cmd);

/* ---- the card (erdma_core.c, mmio.c, regs.c, doorbell.c) ---- */

/* Register contents as the guest wrote them; latched by INIT */
typedef struct ErdmaRegs {
    uint32_t status;
    uint32_t sq_lo, sq_hi, cq_lo, cq_hi, cmdq_depth;
    uint32_t eq_lo, eq_hi, eq_depth;
    uint32_t aeq_lo, aeq_hi, aeq_depth;
    uint64_t sq_dbrec, cq_dbrec, eq_dbrec, aeq_dbrec;
} ErdmaRegs;

/* For who unplugs the card */
typedef struct ErdmaPower {
    void (*off)(ErdmaCore *c);  /* all objects are gone, nothing comes later */
    void (*on)(ErdmaCore *c);   /* registers as after power-on */
} ErdmaPower;

struct ErdmaCore {
    ErdmaConfig cfg;
    const ErdmaOps *ops;
    void *opaque;
    ErdmaFabric *fabric;
    ErdmaLogLevel log_level;

    ErdmaRegs regs;
    bool ready;                 /* INIT done */
    ErdmaCmdq cmdq;
    ErdmaEq eq[ERDMA_MAX_VECTORS];      /* 0: command EQ, n: CEQ n */
    ErdmaEq aeq;

    ErdmaTable qps, cqs, mrs;
    uint32_t queue_pages;       /* page addresses stored, all queues */
    ErdmaDbContext *db_ctx;
    uint32_t db_ctx_limit, db_ctx_used, db_ctx_next;

    ErdmaSched sched;
    ErdmaLink qp_run;           /* ErdmaQp.run_link: QPs that have work */
    ErdmaKick qp_kick;
    ErdmaTimerQueue held;       /* ErdmaQp.hold */
    ErdmaTimerQueue watched;    /* ErdmaRemote.watch */
    ErdmaTimerQueue parked;     /* ErdmaShaper.timer */

    uint32_t points;            /* ERDMA_POINT_* at which to ask the hooks */
    uint32_t hooks_epoch;       /* counts changes of what they answer */
    const ErdmaHooks *hooks;    /* NULL: nobody registered any */
    ErdmaFaults *faults;        /* NULL until the first one */
    const ErdmaPower *power;
    bool gone;                  /* unplugged */
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
/* Register at @offset of BAR0, @size 1, 2, 4 or 8 bytes; unknown ones read 0 */
uint64_t erdma_reg_read(ErdmaCore *c, uint64_t offset, unsigned size);
/* 4 or 8 bytes; what is not a register is a guest error and changes nothing */
void erdma_reg_write(ErdmaCore *c, uint64_t offset, uint64_t value,
                     unsigned size);
/* A write behind the registers: the queue it names has work (2.6, 2.7, 9.7) */
void erdma_doorbell_write(ErdmaCore *c, uint64_t offset, uint64_t value,
                          unsigned size);

/* remote_req.c; once, at creation of the card */
void erdma_remote_register(ErdmaCore *c);

/* ---- interrupts (irq.c) ---- */

/* Send MSI-X message @vector */
void erdma_irq(ErdmaCore *c, unsigned vector);
/* The same past all hooks */
void erdma_irq_send(ErdmaCore *c, unsigned vector);

/* Messages count as packets of one MTU each, an empty one as one (14) */
static inline uint64_t erdma_packets(const ErdmaCore *c, uint64_t bytes)
{
    return bytes ? (bytes + c->mtu - 1) / c->mtu : 1;
}

static inline ErdmaQp *erdma_qp_get(const ErdmaCore *c, uint32_t qpn)
{
    return erdma_table_get(&c->qps, qpn);
}

static inline ErdmaCq *erdma_cq_get(const ErdmaCore *c, uint32_t cqn)
{
    return erdma_table_get(&c->cqs, cqn);
}

/* Is there anybody to be asked about one of these ERDMA_POINT_*? Mostly not. */
#define erdma_fault_at(c, point) \
    __builtin_expect(((c)->points & (point)) != 0, 0)

/* ErdmaHooks.payload, spoil, cuts and repeats */
static inline ErdmaFate erdma_fault_payload(const ErdmaQp *qp)
{
    return qp->core->hooks->payload(qp);
}

static inline void erdma_fault_spoil(const ErdmaQp *qp, uint8_t *dst,
                                     uint64_t n)
{
    qp->core->hooks->spoil(qp, dst, n);
}

static inline bool erdma_fault_cuts(const ErdmaQp *qp)
{
    return qp->core->hooks->cuts(qp);
}

static inline bool erdma_fault_again(const ErdmaQp *qp)
{
    return qp->core->hooks->repeats(qp);
}

/* ---- guest memory (dma.c) ---- */

/* Copy @len bytes; false: not all of it is memory, and @dst is undefined */
bool erdma_dma_read(ErdmaCore *c, uint64_t addr, void *dst, size_t len);
/* The same the other way; false: some of it may have been written */
bool erdma_dma_write(ErdmaCore *c, uint64_t addr, const void *src, size_t len);
/*
 * Write an entry so that its first @head bytes (4 or 8), which hold the owner
 * bit, become visible after the rest (3.3).
 */
bool erdma_dma_publish(ErdmaCore *c, uint64_t addr, const void *entry,
                       size_t len, size_t head);

/* ---- messages (log.c) ---- */

/* One line; not limited in number, so not for what guests or peers cause */
void erdma_log(ErdmaCore *c, ErdmaLogLevel level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The guest did what it must not: counted, the first few of a second logged */
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
