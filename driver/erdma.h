/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Private structures and prototypes of the erdma driver, grouped by file.
 *
 * Layers, each knows only those below it:
 *   erdma_main      probe and removal
 *   erdma_cm        connections over kernel TCP sockets
 *   erdma_verbs, erdma_qp, erdma_cq, erdma_mr    objects and data path
 *   erdma_cmd       one function per device command
 *   erdma_cmdq, erdma_eq     command transport, event rings
 *   erdma_mmio      registers
 * The diagnostics (erdma_diag*, erdma_restrack, erdma_stats) read objects
 * through references and never own them.
 *
 * Locks, in the order they are taken: docs/locking.md.
 */
#ifndef ERDMA_H
#define ERDMA_H

#include <linux/atomic.h>
#include <linux/bitfield.h>
#include <linux/completion.h>
#include <linux/dmapool.h>
#include <linux/idr.h>
#include <linux/io.h>
#include <linux/kref.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

#include "erdma/erdma_hw.h"
#include "erdma/erdma_mpa.h"
#include "erdma/erdma_ring.h"
#include "uapi/erdma_diag.h"

#define ERDMA_DRV_NAME "erdma"

struct erdma_dev;
struct erdma_qp;
struct erdma_cq;
struct erdma_cep;
struct erdma_diag;

/* ---- erdma_debug.c: debug prints by category and level, rate-limited ---- */

/**
 * struct erdma_debug - debug-print levels of one device
 * @level: ERDMA_DIAG_LEVEL_* per category, read without lock
 * @expires: jiffies when a category returns to its default, 0 = never
 * @lock: protects changes of @level and @expires
 * @rs: one rate limit for all messages of the device
 * @expire_work: returns expired categories to their default
 * @printed: messages printed
 * @suppressed: messages not printed because of @rs
 * @reported: how many of them the log was told about
 */
struct erdma_debug {
	u8 level[ERDMA_DIAG_DEBUG_MAX_CATS];
	unsigned long expires[ERDMA_DIAG_DEBUG_MAX_CATS];
	struct mutex lock;
	struct ratelimit_state rs;
	struct delayed_work expire_work;
	atomic64_t printed;
	atomic64_t suppressed;
	atomic64_t reported;
};

#define ERDMA_DEBUG_DEFAULT ERDMA_DIAG_LEVEL_ERR

void erdma_debug_init(struct erdma_debug *dbg);
void erdma_debug_exit(struct erdma_debug *dbg);
int erdma_debug_set(struct erdma_debug *dbg, u32 mask, u32 level, u32 duration_ms);
void erdma_debug_get(struct erdma_debug *dbg, struct erdma_diag_debug *out);
__printf(4, 5) void __erdma_dbg(struct erdma_dev *dev, u32 cat, u32 level,
				const char *fmt, ...);

/*
 * erdma_dbg(dev, QP, INFO, "qp %u created\n", qpn). The test of the level is all
 * that happens when the category is quiet. Usable in any context.
 */
#define erdma_dbg(dev, cat, lvl, fmt, ...)					\
do {										\
	struct erdma_dev *__dev = (dev);					\
										\
	if (READ_ONCE(__dev->dbg.level[ERDMA_DIAG_CAT_##cat]) >=		\
	    ERDMA_DIAG_LEVEL_##lvl)						\
		__erdma_dbg(__dev, ERDMA_DIAG_CAT_##cat,			\
			    ERDMA_DIAG_LEVEL_##lvl, fmt, ##__VA_ARGS__);	\
} while (0)

/* ---- erdma_stats.c: counters -------------------------------------------- */

/* Software counters: X(enum suffix, name in rdma netlink and sysfs) */
#define ERDMA_SW_STATS(X)				\
	X(CMDQ_SUBMITTED, "cmdq_submitted")		\
	X(CMDQ_COMPLETED, "cmdq_completed")		\
	X(CMDQ_FAILED, "cmdq_failed")			\
	X(CMDQ_TIMEOUTS, "cmdq_timeouts")		\
	X(CMDQ_LATE, "cmdq_late")			\
	X(CMDQ_LOST_IRQS, "cmdq_lost_irqs")		\
	X(CMDQ_BAD_CQES, "cmdq_bad_cqes")		\
	X(CMDQ_EVENTS, "cmdq_events")			\
	X(CMDQ_ARMS, "cmdq_arms")			\
	X(GET_STATS_FAILED, "get_stats_failed")		\
	X(AEQ_EVENTS, "aeq_events")			\
	X(AEQ_QP_FATAL, "aeq_qp_fatal")			\
	X(AEQ_RQ_ERR, "aeq_rq_err")			\
	X(AEQ_ACCESS_ERR, "aeq_access_err")		\
	X(AEQ_CQ_ERR, "aeq_cq_err")			\
	X(AEQ_OTHER, "aeq_other")			\
	X(AEQ_UNKNOWN, "aeq_unknown")			\
	X(CEQ_EVENTS, "ceq_events")			\
	X(CEQ_UNKNOWN, "ceq_unknown")			\
	X(CM_LISTEN, "cm_listen")			\
	X(CM_LISTEN_FAILED, "cm_listen_failed")		\
	X(CM_LISTEN_DESTROY, "cm_listen_destroy")	\
	X(CM_ACCEPT, "cm_accept")			\
	X(CM_ACCEPT_FAILED, "cm_accept_failed")		\
	X(CM_REJECT, "cm_reject")			\
	X(CM_CONNECT, "cm_connect")			\
	X(CM_CONNECT_OK, "cm_connect_ok")		\
	X(CM_CONNECT_FAILED, "cm_connect_failed")	\
	X(CM_CONNECT_TIMEOUTS, "cm_connect_timeouts")	\
	X(CM_CONNECT_REJECTED, "cm_connect_rejected")	\
	X(CM_MPA_ERR, "cm_mpa_err")			\
	X(CM_DISCONNECT, "cm_disconnect")		\
	X(ALLOC_PD, "alloc_pd")				\
	X(ALLOC_PD_FAILED, "alloc_pd_failed")		\
	X(DEALLOC_PD, "dealloc_pd")			\
	X(ALLOC_UCTX, "alloc_uctx")			\
	X(ALLOC_UCTX_FAILED, "alloc_uctx_failed")	\
	X(DEALLOC_UCTX, "dealloc_uctx")			\
	X(CREATE_CQ, "create_cq")			\
	X(CREATE_CQ_FAILED, "create_cq_failed")		\
	X(DESTROY_CQ, "destroy_cq")			\
	X(DESTROY_CQ_FAILED, "destroy_cq_failed")	\
	X(CREATE_QP, "create_qp")			\
	X(CREATE_QP_FAILED, "create_qp_failed")		\
	X(DESTROY_QP, "destroy_qp")			\
	X(DESTROY_QP_FAILED, "destroy_qp_failed")	\
	X(GET_DMA_MR, "get_dma_mr")			\
	X(GET_DMA_MR_FAILED, "get_dma_mr_failed")	\
	X(ALLOC_MR, "alloc_mr")				\
	X(ALLOC_MR_FAILED, "alloc_mr_failed")		\
	X(REG_USER_MR, "reg_user_mr")			\
	X(REG_USER_MR_FAILED, "reg_user_mr_failed")	\
	X(DEREG_MR, "dereg_mr")				\
	X(DEREG_MR_FAILED, "dereg_mr_failed")		\
	X(MMAP_FAILED, "mmap_failed")

enum erdma_sw_stat {
#define ERDMA_SW_STAT_ENUM(id, name) ERDMA_STAT_##id,
	ERDMA_SW_STATS(ERDMA_SW_STAT_ENUM)
#undef ERDMA_SW_STAT_ENUM
	ERDMA_STAT_COUNT,
};

/**
 * struct erdma_stats - software counters of a device
 * @v: one per enum erdma_sw_stat; never touched on the data path
 */
struct erdma_stats {
	atomic64_t v[ERDMA_STAT_COUNT];
};

static inline void erdma_stat_inc(struct erdma_stats *stats, enum erdma_sw_stat stat)
{
	atomic64_inc(&stats->v[stat]);
}

struct rdma_hw_stats *erdma_alloc_hw_port_stats(struct ib_device *ibdev, u32 port_num);
int erdma_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		       u32 port, int index);

/* ---- erdma_mmio.c: registers -------------------------------------------- */

/**
 * struct erdma_mmio_ops - how to reach BAR0: the real one, or a fake in KUnit
 * @read32: read a 32-bit register
 * @read64: read a 64-bit register
 * @write32: write a 32-bit register
 * @write64: write a 64-bit register or doorbell
 */
struct erdma_mmio_ops {
	u32 (*read32)(void *ctx, u32 off);
	u64 (*read64)(void *ctx, u32 off);
	void (*write32)(void *ctx, u32 off, u32 value);
	void (*write64)(void *ctx, u32 off, u64 value);
};

/**
 * struct erdma_mmio - BAR0
 * @ops: access functions
 * @ctx: their first argument
 * @bar: mapping of BAR0, NULL with a fake; the data path rings here directly
 * @phys: bus address of BAR0, for mmap of doorbell pages
 * @len: bytes
 */
struct erdma_mmio {
	const struct erdma_mmio_ops *ops;
	void *ctx;
	void __iomem *bar;
	phys_addr_t phys;
	resource_size_t len;
};

static inline u32 erdma_read32(const struct erdma_mmio *m, u32 off)
{
	return m->ops->read32(m->ctx, off);
}

static inline u64 erdma_read64(const struct erdma_mmio *m, u32 off)
{
	return m->ops->read64(m->ctx, off);
}

static inline void erdma_write32(const struct erdma_mmio *m, u32 off, u32 value)
{
	m->ops->write32(m->ctx, off, value);
}

static inline void erdma_write64(const struct erdma_mmio *m, u32 off, u64 value)
{
	m->ops->write64(m->ctx, off, value);
}

int erdma_mmio_init(struct erdma_mmio *m, struct pci_dev *pdev);
void erdma_mmio_exit(struct erdma_mmio *m, struct pci_dev *pdev);
int erdma_reset_device(const struct erdma_mmio *m);
int erdma_wait_init(const struct erdma_mmio *m);

/* ---- erdma_eq.c: event rings -------------------------------------------- */

/**
 * struct erdma_eq - one event ring in host memory
 * @mmio: BAR0
 * @buf: entries, 16 bytes each
 * @dma: bus address of @buf
 * @dbrec: doorbell record
 * @dbrec_dma: its bus address
 * @depth: entries
 * @db: offset of the doorbell in BAR0
 * @ci: consumer index, free-running; the doorbell carries its low 16 bits.
 *	Written by the interrupt handler only
 * @events: entries consumed
 * @interrupts: handler runs
 * @notifies: doorbells rung
 * @unknown: entries naming an object that does not exist
 * @by_type: AEQ: entries per enum erdma_ae_type, [5] = other types
 */
struct erdma_eq {
	const struct erdma_mmio *mmio;
	void *buf;
	dma_addr_t dma;
	__le64 *dbrec;
	dma_addr_t dbrec_dma;
	u32 depth;
	u32 db;
	u32 ci;
	atomic64_t events;
	atomic64_t interrupts;
	atomic64_t notifies;
	atomic64_t unknown;
	atomic64_t by_type[8];
};

/**
 * struct erdma_ceq - a completion EQ with its vector
 * @dev: device
 * @eq: ring
 * @eqn: 1..31, also the MSI-X vector
 * @irq: Linux interrupt number
 * @ready: created at the device, handler installed
 * @name: interrupt name
 * @affinity: CPU hint
 */
struct erdma_ceq {
	struct erdma_dev *dev;
	struct erdma_eq eq;
	u32 eqn;
	int irq;
	bool ready;
	char name[40];
	cpumask_t affinity;
};

int erdma_eq_init(struct erdma_eq *eq, struct device *dma_dev, struct dma_pool *dbrec_pool,
		  const struct erdma_mmio *mmio, u32 depth, u32 db);
void erdma_eq_exit(struct erdma_eq *eq, struct device *dma_dev, struct dma_pool *dbrec_pool);
bool erdma_eq_next(struct erdma_eq *eq, void *entry);
void erdma_eq_arm(struct erdma_eq *eq);
int erdma_aeq_init(struct erdma_dev *dev);
void erdma_aeq_exit(struct erdma_dev *dev);
void erdma_aeq_irq(struct erdma_dev *dev);
int erdma_ceqs_init(struct erdma_dev *dev);
void erdma_ceqs_exit(struct erdma_dev *dev);

/* ---- erdma_cmdq.c: command transport ------------------------------------ */

/**
 * enum erdma_cmd_state - life of a command context; 0 = free
 * @ERDMA_CMD_UNUSED: may be taken
 * @ERDMA_CMD_SUBMITTED: the device has it, a waiter waits
 * @ERDMA_CMD_DONE: answered; the waiter has not looked yet
 * @ERDMA_CMD_QUARANTINED: the waiter gave up; only the late answer or a reset
 *	of the device frees it
 */
enum erdma_cmd_state {
	ERDMA_CMD_UNUSED = 0,
	ERDMA_CMD_SUBMITTED,
	ERDMA_CMD_DONE,
	ERDMA_CMD_QUARANTINED,
};

/**
 * struct erdma_resp_buf - memory the device writes a response to by DMA
 * @pool: where it comes from
 * @virt: buffer, NULL = none
 * @dma: its bus address
 */
struct erdma_resp_buf {
	struct dma_pool *pool;
	void *virt;
	dma_addr_t dma;
};

/**
 * struct erdma_cmd_slot - one command; owns its result
 * @state: see enum erdma_cmd_state
 * @done: completed when @state becomes DONE
 * @sq_index: free-running WQEBB index of the slot in the SQ
 * @submod: enum erdma_submod
 * @opcode: opcode within @submod
 * @syndrome: device status, 0 = success
 * @resp: response words
 * @submit_ns: ktime_get_ns() at submission
 * @buf: of a QUARANTINED command: freed when the device cannot write it any more
 */
struct erdma_cmd_slot {
	enum erdma_cmd_state state;
	struct completion done;
	u16 sq_index;
	u8 submod;
	u8 opcode;
	u8 syndrome;
	u64 resp[2];
	u64 submit_ns;
	struct erdma_resp_buf buf;
};

/* Commands in a row that timed out, nothing answered in between: queue is dead */
#define ERDMA_CMDQ_MAX_STUCK 4
#define ERDMA_CMDQ_NO_CTX 0xff

/**
 * struct erdma_cmdq - command SQ, CQ and EQ
 * @mmio: BAR0
 * @dma_dev: for DMA memory
 * @dbrec_pool: doorbell records
 * @stats: counters
 * @dev: for messages; NULL in KUnit
 * @lock: protects everything below but @eq
 * @credits: free slots; taken before @lock
 * @state: ERDMA_DIAG_CMDQ_*
 * @sq: WQEBBs
 * @sq_dma: bus address of @sq
 * @sq_dbrec: doorbell record
 * @sq_dbrec_dma: its bus address
 * @sq_pi: producer index in WQEBBs, 16 bits
 * @cq: CQEs
 * @cq_dma: bus address of @cq
 * @cq_dbrec: doorbell record
 * @cq_dbrec_dma: its bus address
 * @cq_ci: consumer index
 * @cmdsn: event sequence number, carried by the arm doorbell
 * @slots: contexts; the number of a slot is the CTX field of its header
 * @pos_ctx: by slot position in the SQ: context of the unanswered command
 *	there, ERDMA_CMDQ_NO_CTX = none
 * @in_flight: submitted and not answered
 * @max_in_flight: high-water mark
 * @quarantined: slots in ERDMA_CMD_QUARANTINED
 * @stuck: commands that timed out since the device answered one
 * @timeout_ms: per command; ERDMA_CMDQ_TIMEOUT_MS, shorter in KUnit
 * @eq: EQ 0
 */
struct erdma_cmdq {
	const struct erdma_mmio *mmio;
	struct device *dma_dev;
	struct dma_pool *dbrec_pool;
	struct erdma_stats *stats;
	struct erdma_dev *dev;
	spinlock_t lock;
	struct semaphore credits;
	u32 state;
	void *sq;
	dma_addr_t sq_dma;
	__le64 *sq_dbrec;
	dma_addr_t sq_dbrec_dma;
	u16 sq_pi;
	struct erdma_cqe *cq;
	dma_addr_t cq_dma;
	__le64 *cq_dbrec;
	dma_addr_t cq_dbrec_dma;
	u32 cq_ci;
	u32 cmdsn;
	struct erdma_cmd_slot slots[ERDMA_CMDQ_SLOTS];
	u8 pos_ctx[ERDMA_CMDQ_SLOTS];
	u32 in_flight;
	u32 max_in_flight;
	u32 quarantined;
	u32 stuck;
	u32 timeout_ms;
	struct erdma_eq eq;
};

/**
 * struct erdma_cmd_result - what the device answered
 * @resp: response words, valid after success
 * @syndrome: device status if the command failed with -EIO
 */
struct erdma_cmd_result {
	u64 resp[2];
	u8 syndrome;
};

int erdma_cmdq_init(struct erdma_cmdq *q);
void erdma_cmdq_exit(struct erdma_cmdq *q);
void erdma_cmdq_start_events(struct erdma_cmdq *q);
void erdma_cmdq_irq(struct erdma_cmdq *q);
void erdma_cmdq_kill(struct erdma_cmdq *q);
int erdma_cmdq_exec(struct erdma_cmdq *q, u8 submod, u8 opcode, const void *req, size_t size,
		    struct erdma_cmd_result *res, u32 timeout_ms);
int erdma_cmdq_exec_buf(struct erdma_cmdq *q, u8 submod, u8 opcode, const void *req,
			size_t size, struct erdma_cmd_result *res, u32 timeout_ms,
			struct erdma_resp_buf *buf);

/* ---- erdma_cmd.c: one function per command ------------------------------ */

/**
 * struct erdma_queue_mem - where the device finds a ring
 * @page_code: page size 4096 << code
 * @level: 1 = @addr is a table of page addresses
 * @page_cnt: entries
 * @first_off: byte offset of the ring in its first page
 * @addr: page or table
 * @page: entries 1..3 if @level is 0 and @page_cnt > 1
 * @dbrec: bus address of the doorbell record
 */
struct erdma_queue_mem {
	u32 page_code;
	u32 level;
	u32 page_cnt;
	u32 first_off;
	u64 addr;
	u64 page[3];
	u64 dbrec;
};

/**
 * struct erdma_db_pages - doorbell pages of a user context, as indices from the
 *	start of BAR0
 * @valid: allocated from the device (FLAGS.EXT_DB)
 * @sdb: SQ doorbell page
 * @rdb: passed as the RQ page in CREATE_QP, mapped as the *CQ* page (2.7)
 * @cdb: passed as the CQ page in CREATE_CQ, mapped as the *RQ* page (2.7)
 */
struct erdma_db_pages {
	bool valid;
	u16 sdb;
	u16 rdb;
	u16 cdb;
};

/**
 * struct erdma_conn - a TCP connection handed to the device (12.5)
 * @sip: local address
 * @dip: remote address
 * @sport: local port
 * @dport: remote port
 * @send_nxt: next sequence number to send
 * @recv_nxt: next sequence number expected
 * @peer_cookie: of the peer's CREATE_QP
 * @cc: enum erdma_cc
 * @passive: this side accepted
 */
struct erdma_conn {
	__be32 sip;
	__be32 dip;
	__be16 sport;
	__be16 dport;
	u32 send_nxt;
	u32 recv_nxt;
	u32 peer_cookie;
	u8 cc;
	bool passive;
};

/**
 * struct erdma_mr_spec - a memory region for REG_MR
 * @index: MR index
 * @key: key byte
 * @pdn: PD number
 * @type: enum erdma_mr_type
 * @rights: ERDMA_RIGHT_*
 * @va: start address (normal)
 * @len: bytes (normal)
 * @page_shift: log2
 * @page_cnt: pages
 * @level: translation levels, 0 = @page holds the pages
 * @page: pages, or page[0] = table
 */
struct erdma_mr_spec {
	u32 index;
	u8 key;
	u32 pdn;
	u32 type;
	u32 rights;
	u64 va;
	u64 len;
	u32 page_shift;
	u32 page_cnt;
	u32 level;
	u64 page[ERDMA_INLINE_MTT_CNT];
};

struct erdma_attrs;

int erdma_parse_caps(struct erdma_attrs *attrs, u64 cap0, u64 cap1);
int erdma_cmd_query_device(struct erdma_dev *dev, u64 *cap0, u64 *cap1);
int erdma_cmd_query_fw(struct erdma_dev *dev, u32 *fw_version);
int erdma_cmd_conf_device(struct erdma_dev *dev);
int erdma_cmd_conf_mtu(struct erdma_dev *dev, u32 mtu);
int erdma_cmd_create_eq(struct erdma_dev *dev, const struct erdma_ceq *ceq);
int erdma_cmd_destroy_eq(struct erdma_dev *dev, const struct erdma_ceq *ceq);
int erdma_cmd_alloc_db(struct erdma_dev *dev, struct erdma_db_pages *db);
int erdma_cmd_free_db(struct erdma_dev *dev, const struct erdma_db_pages *db);
int erdma_cmd_create_cq(struct erdma_dev *dev, u32 cqn, u32 depth, u32 eqn,
			const struct erdma_queue_mem *mem, const struct erdma_db_pages *db);
int erdma_cmd_destroy_cq(struct erdma_dev *dev, u32 cqn);
int erdma_cmd_create_qp(struct erdma_dev *dev, const struct erdma_qp *qp, u32 *cookie);
int erdma_cmd_destroy_qp(struct erdma_dev *dev, u32 qpn);
int erdma_cmd_modify_qp(struct erdma_dev *dev, u32 qpn, enum erdma_qp_state state,
			const struct erdma_conn *conn);
int erdma_cmd_reflush(struct erdma_dev *dev, u32 qpn, u16 sq_pi, u16 rq_pi);
int erdma_cmd_reg_mr(struct erdma_dev *dev, const struct erdma_mr_spec *spec);
int erdma_cmd_dereg_mr(struct erdma_dev *dev, u32 stag);
int erdma_cmd_get_stats(struct erdma_dev *dev, struct erdma_resp_stats *out);
int erdma_cmd_query_ctx(struct erdma_dev *dev, u8 submod, u8 opcode, u32 index,
			void *buf, size_t len, u8 *syndrome, u32 timeout_ms);

/* ---- erdma_verbs.c: device, PD, user context, mmap ---------------------- */

/**
 * struct erdma_attrs - limits, from the capability words (6.4)
 * @cap0: as the device gave it
 * @cap1: as the device gave it
 * @flags: ERDMA_FLAG_*
 * @max_qp: QPNs 1 .. @max_qp - 1
 * @max_cq: CQNs 1 .. @max_cq - 1
 * @max_mr: MR indices 0 .. @max_mr - 1
 * @max_cqe: per CQ
 * @max_send_wr: per QP
 * @max_recv_wr: per QP
 * @max_mw: reported only
 * @max_mr_size: bytes
 * @local_dma_key: device-wide local lkey
 * @cc: enum erdma_cc of every new QP
 * @fw_version: QUERY_FW_INFO
 * @mac: MAC_HI:MAC_LO
 */
struct erdma_attrs {
	u64 cap0;
	u64 cap1;
	u32 flags;
	u32 max_qp;
	u32 max_cq;
	u32 max_mr;
	u32 max_cqe;
	u32 max_send_wr;
	u32 max_recv_wr;
	u32 max_mw;
	u64 max_mr_size;
	u32 local_dma_key;
	u8 cc;
	u32 fw_version;
	u8 mac[ETH_ALEN];
};

/**
 * struct erdma_idtab - numbers handed out "next free, then wrap" (6.4)
 * @ida: numbers in use
 * @lock: protects @next
 * @min: lowest number ever handed out
 * @max: highest number
 * @next: where the search starts
 * @used: numbers in use
 */
struct erdma_idtab {
	struct ida ida;
	spinlock_t lock;
	u32 min;
	u32 max;
	u32 next;
	atomic_t used;
};

void erdma_idtab_init(struct erdma_idtab *tab, u32 first, u32 min, u32 max);
void erdma_idtab_exit(struct erdma_idtab *tab);
int erdma_idtab_alloc(struct erdma_idtab *tab);
void erdma_idtab_free(struct erdma_idtab *tab, u32 id);

struct erdma_pd {
	struct ib_pd ibpd;
	u32 pdn;
};

/**
 * struct erdma_mmap_entry - a doorbell page an application may map
 * @rdma: core's part
 * @phys: physical address of the page
 */
struct erdma_mmap_entry {
	struct rdma_user_mmap_entry rdma;
	phys_addr_t phys;
};

/**
 * struct erdma_ucontext - an application's context
 * @ibucontext: core's part
 * @db: doorbell pages
 * @sdb: mmap entry of the SQ doorbell page
 * @rdb: mmap entry of the RQ doorbell page
 * @cdb: mmap entry of the CQ doorbell page
 * @dbrec_lock: protects @dbrec_pages
 * @dbrec_pages: pinned pages of doorbell records (struct erdma_dbrec_page)
 */
struct erdma_ucontext {
	struct ib_ucontext ibucontext;
	struct erdma_db_pages db;
	struct rdma_user_mmap_entry *sdb;
	struct rdma_user_mmap_entry *rdb;
	struct rdma_user_mmap_entry *cdb;
	struct mutex dbrec_lock;
	struct list_head dbrec_pages;
};

/**
 * struct erdma_dbrec_page - a pinned user page with doorbell records
 * @ctx: context
 * @list: in erdma_ucontext.dbrec_pages
 * @umem: pinned page
 * @va: user address of the page
 * @refs: records in use, under dbrec_lock
 */
struct erdma_dbrec_page {
	struct erdma_ucontext *ctx;
	struct list_head list;
	struct ib_umem *umem;
	u64 va;
	int refs;
};

int erdma_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		       struct ib_udata *udata);
int erdma_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr);
int erdma_query_gid(struct ib_device *ibdev, u32 port, int index, union ib_gid *gid);
int erdma_get_port_immutable(struct ib_device *ibdev, u32 port,
			     struct ib_port_immutable *immutable);
void erdma_get_dev_fw_str(struct ib_device *ibdev, char *str);
int erdma_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata);
void erdma_dealloc_ucontext(struct ib_ucontext *ibctx);
void erdma_disassociate_ucontext(struct ib_ucontext *ibctx);
int erdma_mmap(struct ib_ucontext *ibctx, struct vm_area_struct *vma);
void erdma_mmap_free(struct rdma_user_mmap_entry *entry);
int erdma_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int erdma_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
struct erdma_dbrec_page *erdma_dbrec_map(struct erdma_ucontext *ctx, u64 va,
					 u32 len, dma_addr_t *dma);
void erdma_dbrec_unmap(struct erdma_dbrec_page *page);
int erdma_copy_ureq(struct ib_udata *udata, void *req, size_t size);
bool erdma_keep_memory(struct erdma_dev *dev, const char *what, u32 id, int err);

/* ---- erdma_mtt.c: translation tables ------------------------------------ */

/**
 * struct erdma_mtt - translation table of a ring or region
 * @umem: pinned user memory, NULL for kernel tables
 * @page_shift: log2 of the page size
 * @page_cnt: entries
 * @level: 0 = inline (at most four entries), 1..3 = tables
 * @first_off: offset of the first byte in the first page
 * @inline_page: entries when @level is 0
 * @tables: tables of level 1..3, top table first (private to erdma_mtt.c)
 * @n_tables: their number
 * @top_dma: bus address of the top table
 */
struct erdma_mtt {
	struct ib_umem *umem;
	u32 page_shift;
	u32 page_cnt;
	u32 level;
	u32 first_off;
	u64 inline_page[ERDMA_INLINE_MTT_CNT];
	struct erdma_mtt_table *tables;
	u32 n_tables;
	dma_addr_t top_dma;
};

/**
 * enum erdma_mtt_kind - what a translation is for; decides page sizes and format
 * @ERDMA_MTT_CQ: ring of a user CQ
 * @ERDMA_MTT_QP: ring of a user QP
 * @ERDMA_MTT_MR: memory region
 */
enum erdma_mtt_kind {
	ERDMA_MTT_CQ,
	ERDMA_MTT_QP,
	ERDMA_MTT_MR,
};

/**
 * struct erdma_user_range - user memory to pin and translate
 * @start: user address
 * @iova: address by which the device is told about it
 * @len: bytes, not 0
 * @access: IB_ACCESS_*
 */
struct erdma_user_range {
	u64 start;
	u64 iova;
	u64 len;
	int access;
};

int erdma_mtt_init_user(struct erdma_dev *dev, struct erdma_mtt *mtt,
			const struct erdma_user_range *range, enum erdma_mtt_kind kind);
int erdma_mtt_init_table(struct erdma_dev *dev, struct erdma_mtt *mtt, u32 page_cnt);
void erdma_mtt_set(struct erdma_mtt *mtt, u32 i, u64 page);
u64 erdma_mtt_entry(const struct erdma_mtt *mtt, u32 i);
void erdma_mtt_exit(struct erdma_dev *dev, struct erdma_mtt *mtt);

/* ---- erdma_mr.c: memory regions ----------------------------------------- */

struct erdma_mr {
	struct ib_mr ibmr;
	struct erdma_mtt mtt;
	u32 index;
	u32 type;
	u32 rights;
	/* FRMR: pages of the next REG_MR work request, in the level 1 table */
	u32 frmr_max_pages;
	u32 frmr_pages;
};

struct ib_mr *erdma_get_dma_mr(struct ib_pd *ibpd, int access);
struct ib_mr *erdma_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 len, u64 virt,
				int access, struct ib_udata *udata);
struct ib_mr *erdma_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_sg);
int erdma_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		    unsigned int *sg_offset);
int erdma_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);
u32 erdma_access_to_rights(int access);

/* ---- erdma_cq.c --------------------------------------------------------- */

/**
 * struct erdma_cq - completion queue
 * @ibcq: core's part
 * @cqn: number
 * @eqn: completion EQ, 1..31
 * @depth: entries
 * @refs: dev->cq_xa and every lookup; the last one completes @free
 * @free: nobody uses the CQ any more
 * @kernel: data path state of a kernel CQ
 * @user: memory of a user CQ
 * @db: doorbell pages of the owner
 * @cmdsn: completion events taken, incremented by the CEQ handler
 * @events: completion events delivered
 * @async_events: AEQ entries
 * @created_ns: ktime_get_ns()
 */
struct erdma_cq {
	struct ib_cq ibcq;
	u32 cqn;
	u32 eqn;
	u32 depth;
	struct kref refs;
	struct completion free;
	union {
		struct {
			struct erdma_cqe *buf;
			dma_addr_t dma;
			__le64 *dbrec;
			dma_addr_t dbrec_dma;
			spinlock_t lock;	/* protects ci, arm_count, notify */
			u32 ci;
			u32 arm_count;
			u32 notify;		/* last arm: 0 none, 1 next, 2 solicited */
		} kernel;
		struct {
			struct erdma_mtt mtt;
			struct erdma_dbrec_page *dbrec_page;
			dma_addr_t dbrec_dma;
			u64 dbrec_va;
		} user;
	};
	struct erdma_db_pages db;
	atomic_t cmdsn;
	atomic64_t events;
	atomic_t async_events;
	u64 created_ns;
};

int erdma_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct ib_udata *udata);
int erdma_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int erdma_poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc);
int erdma_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
struct erdma_cq *erdma_cq_get(struct erdma_dev *dev, u32 cqn);
void erdma_cq_put(struct erdma_cq *cq);
void erdma_cq_purge(struct erdma_cq *cq, u32 qpn);
/* From the EQ handlers, which count; false if there is no such CQ (any more) */
bool erdma_cq_event(struct erdma_dev *dev, u32 cqn);
bool erdma_cq_async_event(struct erdma_dev *dev, u32 cqn, u32 type);

/* ---- erdma_qp.c --------------------------------------------------------- */

/**
 * struct erdma_kqueue - one ring of a kernel QP
 * @buf: entries
 * @dma: bus address
 * @dbrec: doorbell record
 * @dbrec_dma: its bus address
 * @db: doorbell
 * @wr_id: work request ids by slot
 * @blocks: SQ: WQEBBs of the request that starts in a slot, 0 = none starts
 *	there; the device cannot change it
 * @lock: protects @pi, @buf and the doorbell
 * @pi: producer index, 16 bits significant; SQ in WQEBBs, RQ in RQEs
 * @ci: consumer index; moved by erdma_poll_cq() under the CQ's lock
 */
struct erdma_kqueue {
	void *buf;
	dma_addr_t dma;
	__le64 *dbrec;
	dma_addr_t dbrec_dma;
	void __iomem *db;
	u64 *wr_id;
	u8 *blocks;
	spinlock_t lock;
	u16 pi;
	u16 ci;
};

/**
 * struct erdma_qp - queue pair
 * @ibqp: core's part
 * @dev: device
 * @qpn: number
 * @refs: dev->qp_xa, connections and every lookup; the last completes @free
 * @free: nobody uses the QP any more
 * @sq_depth: WQEBBs
 * @rq_depth: RQEs
 * @cap: as asked for
 * @sig_all: every send is signaled
 * @is_user: rings belong to an application
 * @ksq: kernel SQ
 * @krq: kernel RQ
 * @user_sq: user SQ
 * @user_rq: user RQ
 * @dbrec_page: pinned page of the user doorbell records
 * @dbrec_dma: bus address of the SQ record; the RQ record is 8 bytes behind
 * @dbrec_va: user address of the records
 * @db: doorbell pages of the owner
 * @scq: send CQ
 * @rcq: receive CQ
 * @pd: PD
 * @cookie: own cookie
 * @state_lock: protects @state, @conn, @connected, @iw_state; may sleep
 * @state: as the driver recorded it, enum erdma_qp_state
 * @connected: @conn is valid
 * @conn: connection handed to the device
 * @stopped: set with WRITE_ONCE when the QP left RTS: posts schedule a REFLUSH
 * @reflush_work: tells the device the newest indices of a stopped kernel QP
 * @cep: connection, owned by erdma_cm.c (under its locks)
 * @state_ns: ktime_get_ns() of the last state change
 * @created_ns: ktime_get_ns()
 * @async_events: AEQ entries
 * @last_ae_type: newest of them
 */
struct erdma_qp {
	struct ib_qp ibqp;
	struct erdma_dev *dev;
	u32 qpn;
	struct kref refs;
	struct completion free;
	u32 sq_depth;
	u32 rq_depth;
	struct ib_qp_cap cap;
	bool sig_all;
	bool is_user;
	struct erdma_kqueue ksq;
	struct erdma_kqueue krq;
	struct erdma_mtt user_sq;
	struct erdma_mtt user_rq;
	struct erdma_dbrec_page *dbrec_page;
	dma_addr_t dbrec_dma;
	u64 dbrec_va;
	struct erdma_db_pages db;
	struct erdma_cq *scq;
	struct erdma_cq *rcq;
	struct erdma_pd *pd;
	u32 cookie;
	struct rw_semaphore state_lock;
	enum erdma_qp_state state;
	bool connected;
	struct erdma_conn conn;
	bool stopped;
	struct delayed_work reflush_work;
	struct erdma_cep *cep;
	u64 state_ns;
	u64 created_ns;
	atomic_t async_events;
	u32 last_ae_type;
};

int erdma_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
		    struct ib_udata *udata);
int erdma_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int erdma_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata);
int erdma_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init_attr);
/* erdma_qp_post.c */
int erdma_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad);
int erdma_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad);
/* Caller must erdma_qp_put(). NULL if @qpn is unknown or going away. Any context. */
struct erdma_qp *erdma_qp_get(struct erdma_dev *dev, u32 qpn);
void erdma_qp_hold(struct erdma_qp *qp);
void erdma_qp_put(struct erdma_qp *qp);
/* From the AEQ handler, which counts; false if there is no such QP (any more) */
bool erdma_qp_async_event(struct erdma_dev *dev, u32 qpn, u32 type);
/*
 * For the connection manager; both may sleep and take state_lock.
 * erdma_qp_to_rts() hands a connection to the device (IDLE/RTR -> RTS).
 * erdma_qp_stop() moves to CLOSING, TERMINATE or ERROR after table 11.1, is
 * idempotent, starts the REFLUSH of kernel QPs and never calls the connection
 * manager back.
 */
int erdma_qp_to_rts(struct erdma_qp *qp, const struct erdma_conn *conn);
int erdma_qp_stop(struct erdma_qp *qp, enum erdma_qp_state to);
enum erdma_qp_state erdma_qp_state(struct erdma_qp *qp);
void erdma_qp_kick_reflush(struct erdma_qp *qp);

/* ---- erdma_mpa.c: frames, no sockets ------------------------------------ */

/**
 * struct erdma_mpa_info - a parsed frame, host order
 * @reply: reply frame, else request
 * @reject: reject bit
 * @markers: marker bit
 * @crc: CRC bit
 * @cookie: sender's QP
 * @cc: congestion control code, as sent
 * @pdata_len: bytes of private data that follow, <= ERDMA_MPA_MAX_PDATA
 */
struct erdma_mpa_info {
	bool reply;
	bool reject;
	bool markers;
	bool crc;
	u32 cookie;
	u8 cc;
	u16 pdata_len;
};

int erdma_mpa_parse(const void *buf, size_t len, struct erdma_mpa_info *info);
void erdma_mpa_build(struct erdma_mpa_frame *frame, const struct erdma_mpa_info *info);
u8 erdma_mpa_pick_cc(u8 own, u8 peer);

/* ---- erdma_cm.c: connections -------------------------------------------- */

int erdma_cm_init(void);		/* module: work queue */
void erdma_cm_exit(void);
void erdma_cm_dev_init(struct erdma_dev *dev);
void erdma_cm_dev_exit(struct erdma_dev *dev);	/* after unregistration; waits for all endpoints */
int erdma_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int erdma_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int erdma_reject(struct iw_cm_id *id, const void *pdata, u8 len);
int erdma_create_listen(struct iw_cm_id *id, int backlog);
int erdma_destroy_listen(struct iw_cm_id *id);
void erdma_iw_add_ref(struct ib_qp *ibqp);
void erdma_iw_rem_ref(struct ib_qp *ibqp);
struct ib_qp *erdma_iw_get_qp(struct ib_device *ibdev, int qpn);
/*
 * The consumer moved the QP out of RTS (verbs modify or destroy): close the
 * connection and tell the IW CM. May sleep; called without state_lock; the QP
 * is held by the caller. With @destroy the endpoint must have let go of the QP
 * (its reference dropped or about to be dropped by running work) on return.
 */
void erdma_cm_qp_stopped(struct erdma_qp *qp, bool destroy);

/* ---- erdma_restrack.c: rdma netlink details ------------------------------ */

int erdma_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp);
int erdma_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq);
int erdma_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr);

/* ---- erdma_diag.c: the node --------------------------------------------- */

int erdma_diag_module_init(void);	/* class, char device region, ib client */
void erdma_diag_module_exit(void);
int erdma_diag_add(struct erdma_dev *dev);	/* after registration */
void erdma_diag_remove(struct erdma_dev *dev);	/* before unregistration; open files get ENODEV */

/* ---- erdma_netdev.c: the paired network interface ------------------------ */

int erdma_netdev_module_init(void);	/* module: work queue */
void erdma_netdev_module_exit(void);
int erdma_netdev_pair(struct erdma_dev *dev);	/* before registration */
void erdma_netdev_unpair(struct erdma_dev *dev);
int erdma_netdev_watch(struct erdma_dev *dev);	/* after registration */
void erdma_netdev_unwatch(struct erdma_dev *dev);

/* ---- erdma_main.c: device ------------------------------------------------ */

/**
 * struct erdma_dev - one adapter
 * @ibdev: core's part
 * @pdev: PCI function
 * @netdev: paired interface, held while registered; NULL before
 * @netdev_nb: MTU and link changes
 * @netdev_gone: changes of the interface are not of interest any more, because it
 *	or the device goes away; under rtnl
 * @link_up: port state last reported, under rtnl
 * @mtu: last MTU told to the device
 * @mtu_work: tells the device a new MTU
 * @mmio: BAR0
 * @proto: enum erdma_proto
 * @vectors: MSI-X vectors in use
 * @common_irq: Linux interrupt of vector 0
 * @common_name: its name
 * @dbrec_pool: doorbell records of kernel queues, 8 bytes
 * @resp_pool: response buffers, ERDMA_RESP_BUF_SIZE, 256-byte aligned
 * @attrs: limits
 * @cmdq: command queue
 * @aeq: asynchronous EQ
 * @ceqs: completion EQs, [n - 1] = EQ n
 * @n_ceqs: their number
 * @qp_xa: QPs by number, locked with irqs off; entries hold a reference
 * @cq_xa: CQs by number, ditto
 * @next_qpn: cyclic allocation
 * @next_cqn: cyclic allocation
 * @pd_ids: PD numbers
 * @mr_ids: MR indices
 * @n_ctx: user contexts
 * @n_qp: QPs
 * @n_cq: CQs
 * @reflush_wq: REFLUSH of stopped QPs
 * @cep_lock: protects @ceps
 * @ceps: all connection endpoints
 * @cep_wait: woken when @ceps becomes empty
 * @dbg: debug prints
 * @stats: software counters
 * @diag: the node, NULL without one
 */
struct erdma_dev {
	struct ib_device ibdev;
	struct pci_dev *pdev;
	struct net_device *netdev;
	struct notifier_block netdev_nb;
	bool netdev_gone;
	bool link_up;
	u32 mtu;
	struct work_struct mtu_work;
	struct erdma_mmio mmio;
	u32 proto;
	int vectors;
	int common_irq;
	char common_name[40];
	struct dma_pool *dbrec_pool;
	struct dma_pool *resp_pool;
	struct erdma_attrs attrs;
	struct erdma_cmdq cmdq;
	struct erdma_eq aeq;
	struct erdma_ceq ceqs[ERDMA_MAX_CEQS];
	u32 n_ceqs;
	struct xarray qp_xa;
	struct xarray cq_xa;
	u32 next_qpn;
	u32 next_cqn;
	struct erdma_idtab pd_ids;
	struct erdma_idtab mr_ids;
	atomic_t n_ctx;
	atomic_t n_qp;
	atomic_t n_cq;
	struct workqueue_struct *reflush_wq;
	spinlock_t cep_lock;
	struct list_head ceps;
	wait_queue_head_t cep_wait;
	struct erdma_debug dbg;
	struct erdma_stats stats;
	struct erdma_diag *diag;
};

static inline struct erdma_dev *to_edev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct erdma_dev, ibdev);
}

static inline struct erdma_pd *to_epd(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct erdma_pd, ibpd);
}

static inline struct erdma_mr *to_emr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct erdma_mr, ibmr);
}

static inline struct erdma_cq *to_ecq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct erdma_cq, ibcq);
}

static inline struct erdma_qp *to_eqp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct erdma_qp, ibqp);
}

static inline struct erdma_ucontext *to_ectx(struct ib_ucontext *ibctx)
{
	return container_of(ibctx, struct erdma_ucontext, ibucontext);
}

#endif /* ERDMA_H */
