/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Elastic RDMA Adapter as plain C: no QEMU header, no globals.
 *
 * A card (ErdmaCore) reaches its surroundings through ErdmaOps only, so the
 * same code runs inside QEMU, in unit tests and in a fuzzer. Everything that
 * enters through this interface or is read from guest memory is hostile.
 *
 * Threads: none. All calls for all cards of one fabric come from one thread at
 * a time (in QEMU: under the big lock). No call blocks, and each call does a
 * bounded amount of work; when more is left the core asks for another turn with
 * ops->kick().
 *
 * Sections refer to docs/erdma-hardware.md.
 */
#ifndef ERDMA_CORE_H
#define ERDMA_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ErdmaCore ErdmaCore;
typedef struct ErdmaFabric ErdmaFabric;

typedef enum ErdmaLogLevel {
    ERDMA_LOG_GUEST_ERROR,      /* the guest did something it must not do */
    ERDMA_LOG_INFO,             /* life of objects and connections */
    ERDMA_LOG_TRACE,            /* each command, doorbell, work request */
} ErdmaLogLevel;

/*
 * What a card needs from its surroundings. @opaque is the pointer given to
 * erdma_core_new(). No callback may call back into the core, except that
 * @kick and @set_timer schedule a later erdma_core_run()/erdma_core_timer().
 */
typedef struct ErdmaOps {
    /*
     * Map guest memory at bus address @addr for access by the card. On entry
     * *@len is the number of bytes wanted, on return the number available
     * (at least 1). Only RAM is ever mapped. NULL: not RAM, not mapped, or
     * the guest has bus mastering off. Each map is undone by one unmap before
     * the call into the core returns.
     */
    void *(*map)(void *opaque, uint64_t addr, uint64_t *len, bool is_write);
    /* @done: bytes that were accessed; @is_write as in @map */
    void (*unmap)(void *opaque, void *host, uint64_t len, bool is_write,
                  uint64_t done);
    /* Copy from / to guest memory; false if any byte is not reachable RAM */
    bool (*read)(void *opaque, uint64_t addr, void *dst, size_t len);
    bool (*write)(void *opaque, uint64_t addr, const void *src, size_t len);
    /* Send MSI-X message @vector (the guest's masking applies) */
    void (*irq)(void *opaque, unsigned vector);
    /* Ask for erdma_core_run() from a fresh stack, soon, once */
    void (*kick)(void *opaque);
    /* One timer: call erdma_core_timer() at @deadline_ns of now(); 0 = never */
    void (*set_timer)(void *opaque, uint64_t deadline_ns);
    /* Monotonic nanoseconds */
    uint64_t (*now)(void *opaque);
    /*
     * Where @host, which came from @map, lies in memory that other processes
     * can read: a region announced to them and an offset in it. False, or a
     * NULL callback: not shared; payload then travels as bytes. The range
     * @len starts in the region and may end behind it: *@len is cut.
     */
    bool (*share)(void *opaque, const void *host, uint64_t *len,
                  uint32_t *region, uint64_t *offset);
    /* Unplug the card, later; NULL: it cannot be pulled */
    void (*unplug)(void *opaque);
    /* May be NULL; @text is one line without newline */
    void (*log)(void *opaque, ErdmaLogLevel level, const char *text);
} ErdmaOps;

/* Fixed at creation. erdma_core_config_init() gives the recommended values. */
typedef struct ErdmaConfig {
    uint8_t mac[6];
    uint32_t bar0_size;         /* bytes, power of two, >= 512 KiB; 16 MiB */
    unsigned vectors;           /* MSI-X vectors, 2..32; 32 */
    uint32_t version;           /* register VERSION; 0x02000000 */
    uint32_t fw_version;        /* 0x00000225 */
    uint8_t flags;              /* FLAGS byte of CAP0, section 6.3; 0xe8 */
    uint8_t max_mr_size;        /* log2 bytes; 31 */
    uint8_t max_recv_wr;        /* log2, <= 15; 15 */
    uint8_t max_cqe;            /* log2, <= 20; 20 */
    uint8_t max_ah;             /* log2; 10 */
    uint8_t max_gid;            /* log2; 4 */
    uint8_t max_mw;             /* log2; 0 */
    uint16_t qblock;            /* blocks of 1024 QPs, 1..512; 64 */
    uint8_t default_cc;         /* 1 */
    uint32_t local_dma_key;     /* 0xffffff00 */
    uint8_t grp_num;            /* 0 */
    uint64_t hold_ns;           /* hold-and-retry bound of 12.6; 10 s */
} ErdmaConfig;

/* All but the MAC address */
void erdma_core_config_init(ErdmaConfig *cfg);

/* NULL if @cfg is usable, else a sentence that says what is wrong with it */
const char *erdma_core_config_check(const ErdmaConfig *cfg);

/*
 * The set of cards that can reach each other. The in-process fabric has no
 * address: connections are matched by mirrored 4-tuple, cookies and sequence
 * numbers (12.5) over all QPs of all its cards. A fabric outlives its cards.
 */
ErdmaFabric *erdma_fabric_new(void);
void erdma_fabric_free(ErdmaFabric *fabric);    /* must have no cards left */

/*
 * Memory of the fabric that all other processes can read, as @region: there they
 * look, before and after they copy out of guest memory, whether its QP exists and
 * the key of its memory region is valid. To be given before the first wire,
 * zeroed, 4 bytes for each QP that may be connected and each region that may be
 * named, which are half of them at most; valid until the fabric is freed. Without
 * it a QP that is destroyed, or a region that is revoked, while its data is on the
 * way may have other data delivered.
 */
void erdma_fabric_share(ErdmaFabric *fabric, void *host, size_t len,
                        uint32_t region);

/*
 * A wire leads to the fabric of one other process. The surroundings move bytes
 * in order (in QEMU: a Unix socket) and know the other's shared regions; what
 * the bytes mean is known to the core alone. Everything that comes in is
 * hostile: a malformed stream costs its QPs their connection, nothing else.
 */
typedef struct ErdmaWire ErdmaWire;

typedef struct ErdmaWireOps {
    /*
     * Append to the stream; sent at the latest when the call into the core
     * that led here has returned. With @later it may stay until something is
     * sent without it, or until bytes from the other end were given to
     * erdma_wire_input(), which are sure to come: one system call and one
     * wake-up of the other process then serve many messages. Never blocks.
     * False: closed or too much is waiting; the core then treats the wire as
     * broken.
     */
    bool (*send)(void *opaque, const void *data, size_t len, bool later);
    /* Copy out of the other's shared @region; false if it is not there */
    bool (*pull)(void *opaque, uint32_t region, uint64_t offset, void *dst,
                 size_t len);
    /*
     * Answers may wait a moment for something that goes the same way. True: the
     * surroundings call erdma_wire_settle() within a millisecond, whatever
     * happens meanwhile. False, or NULL: they do not wait.
     */
    bool (*linger)(void *opaque);
    /*
     * The stream is malformed or cannot be continued; nothing is sent any
     * more. The surroundings call erdma_wire_free() later, not from here.
     */
    void (*broken)(void *opaque, const char *why);
} ErdmaWireOps;

/* Largest message on a wire, bytes: what an input buffer must be able to hold */
#define ERDMA_WIRE_MESSAGE_MAX  (128u * 1024)

/* NULL when out of memory. Says hello and offers all QPs that wait. */
ErdmaWire *erdma_wire_new(ErdmaFabric *fabric, const ErdmaWireOps *ops,
                          void *opaque);
/*
 * Bytes arrived. Returns how many were used: whole messages, bounded work. The
 * rest is to be offered again, with what follows; if at least one whole message
 * was left for want of budget, *@again is set and the caller comes back soon
 * without waiting for more bytes.
 */
size_t erdma_wire_input(ErdmaWire *wire, const void *data, size_t len,
                        bool *again);
/* The moment that answers may wait is over */
void erdma_wire_settle(ErdmaWire *wire);
/* The other end is gone: its QPs are peers that stopped (12.7) */
void erdma_wire_free(ErdmaWire *wire);

/* NULL when out of memory. @cfg is copied and must have passed the check. */
ErdmaCore *erdma_core_new(const ErdmaConfig *cfg, const ErdmaOps *ops,
                          void *opaque, ErdmaFabric *fabric);
/* Destroys all objects of the guest; NULL is allowed */
void erdma_core_free(ErdmaCore *core);

/* Messages above this level are not even formatted; ERDMA_LOG_INFO at first */
void erdma_core_set_log_level(ErdmaCore *core, ErdmaLogLevel level);

/* Power-on state: function-level reset, system reset, D3 */
void erdma_core_reset(ErdmaCore *core);

/*
 * BAR0 access. @size 1, 2, 4 or 8; any offset and value is survived. Writes
 * may process small work on the spot; larger or endless work is left to
 * erdma_core_run(). Reads never have side effects.
 */
uint64_t erdma_core_mmio_read(ErdmaCore *core, uint64_t offset, unsigned size);
/* The same for a write; executes what it asks for, bounded */
void erdma_core_mmio_write(ErdmaCore *core, uint64_t offset, uint64_t value,
                           unsigned size);

/* A turn asked for by ops->kick(). Bounded. */
void erdma_core_run(ErdmaCore *core);
/* The deadline set by ops->set_timer() passed. Bounded. */
void erdma_core_timer(ErdmaCore *core);

/*
 * Faults: things that go wrong on purpose. A line of words says which and when;
 * docs/qemu-model-faults.md has the language. Faults belong to whoever runs the
 * card: a reset by the guest does not end them. At most 64 at a time. False: @why
 * is a sentence about the word that is wrong, and nothing has changed.
 */
bool erdma_core_fault_add(ErdmaCore *core, const char *line, uint32_t *id,
                          char *why, size_t len);
/* @which: a number, or "all" */
bool erdma_core_fault_clear(ErdmaCore *core, const char *which, char *why,
                            size_t len);
/*
 * A fault pulled the card out, or a reset takes its time: configuration space
 * reads as ones, too
 */
bool erdma_core_silent(const ErdmaCore *core);

/*
 * Looking at the card, at any time, without changing it. What is seen is handed
 * out piece by piece to whoever prints it. @name is NULL for the outermost and
 * for members of lists.
 */
typedef struct ErdmaShowOps {
    void (*begin)(void *opaque, const char *name);
    void (*end)(void *opaque);
    void (*begin_list)(void *opaque, const char *name);
    void (*end_list)(void *opaque);
    void (*number)(void *opaque, const char *name, uint64_t value);
    void (*flag)(void *opaque, const char *name, bool value);
    void (*text)(void *opaque, const char *name, const char *value);
} ErdmaShowOps;

/*
 * @what: registers, statistics, queues, faults, or qps, cqs, mrs, connections
 * with the number to begin at if not 0 ("qps 500"); one object ("qp 17"); or
 * entries of a ring ("ring cq 3", "ring sq 17 from 40 count 8"). NULL @ops: only
 * look whether @what is understood. False: @why says what is wrong with it.
 */
bool erdma_core_show(ErdmaCore *core, const char *what, const ErdmaShowOps *ops,
                     void *opaque, char *why, size_t len);

/* Meters, 0 = none. What is above them waits; nothing is lost. */
typedef struct ErdmaLimits {
    uint64_t bytes;             /* per second, whole card */
    uint64_t messages;
    uint64_t qp_bytes;          /* per second, each QP */
    uint64_t qp_messages;
} ErdmaLimits;

/* In force at once, for what waits, too */
void erdma_core_set_limits(ErdmaCore *core, const ErdmaLimits *limits);

/* What the card counted since reset, for monitors and tests */
typedef struct ErdmaCounters {
    uint64_t mmio_reads, mmio_writes;
    uint64_t commands, commands_failed;
    uint64_t doorbells_sq, doorbells_rq, doorbells_cq, doorbells_eq;
    uint64_t doorbells_dropped;         /* unknown or unauthorised */
    uint64_t cqes, cqes_error, ceqes, aeqes, irqs;
    uint64_t tx_reqs, tx_pkts, tx_bytes, rx_pkts, rx_bytes;
    uint64_t held, retry_exceeded;
    uint64_t faults;                    /* hits */
    uint64_t tx_lost;                   /* packets, by a fault */
    uint64_t metered_bytes, metered_messages;   /* requests that had to wait */
    uint64_t guest_errors;
    uint32_t qps, cqs, eqs, mrs, db_contexts;   /* objects now */
    bool ready;                         /* INIT done */
} ErdmaCounters;

/* Copy them out; at any time */
void erdma_core_counters(const ErdmaCore *core, ErdmaCounters *out);

#endif /* ERDMA_CORE_H */
