/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Private structures and prototypes of the erdma driver, grouped by file.
 *
 * Layers, each knows only those below it:
 *   erdma_main      PCI driver: probe and removal
 *   erdma_recovery  what follows the loss of a device: stop it, get a fresh one
 *   erdma_bringup   a device from nothing and back, in steps
 *   erdma_eq        events of the AEQ and of the completion EQs
 *   erdma_cm*, erdma_ep, erdma_listen    connections over kernel TCP sockets
 *   erdma_qp*, erdma_reflush, erdma_flush    queue pairs and their end
 *   erdma_cq*, erdma_mr, erdma_ucontext, erdma_query, erdma_pd    verbs
 *   erdma_mtt, erdma_dbrec, erdma_udata, erdma_idtab, erdma_objtab, erdma_deferred    their parts
 *   erdma_cmd       one function per device command
 *   erdma_cmdq      command transport
 *   erdma_eq_ring, erdma_mmio    event rings, registers
 *   erdma_lost      mark a device as lost and start the work that handles it
 *   erdma_rec*      recorders: what the driver remembers of all of these
 * Connections and QPs call each other: a connection stops its QP, a QP that is
 * stopped closes its connection.
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

#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

#include "erdma/erdma_counters.h"
#include "erdma/erdma_hw.h"
#include "erdma/erdma_mpa.h"
#include "erdma/erdma_ring.h"
#include "uapi/erdma_diag.h"

#define ERDMA_DRV_NAME "erdma"

struct erdma_dev;
struct erdma_qp;
struct erdma_cq;
struct erdma_ep;
struct erdma_diag;

/* ---- erdma_debug.c: debug prints by category and level, rate-limited ---- */

/**
 * struct erdma_debug - debug-print levels of one device
 * @level: ERDMA_DIAG_LEVEL_* per category, read without lock
 * @expires: jiffies when a category returns to its default, 0 = never
 * @lock: protects changes of @level and @expires
 * @rs: rate limit of the messages that are there without anybody asking for them
 * @rs_asked: rate limit of those for which an administrator raised a level
 * @expire_work: returns expired categories to their default
 * @printed: messages printed
 * @suppressed: messages not printed because of these
 * @reported: how many of them the log mentions
 */
struct erdma_debug {
	u8 level[ERDMA_DIAG_DEBUG_MAX_CATS];
	unsigned long expires[ERDMA_DIAG_DEBUG_MAX_CATS];
	struct mutex lock;
	struct ratelimit_state rs;
	struct ratelimit_state rs_asked;
	struct delayed_work expire_work;
	atomic64_t printed;
	atomic64_t suppressed;
	atomic64_t reported;
};

#define ERDMA_DEBUG_DEFAULT ERDMA_DIAG_LEVEL_ERR

void erdma_debug_init(struct erdma_debug *dbg);
void erdma_debug_exit(struct erdma_debug *dbg);
void erdma_debug_copy(struct erdma_debug *to, struct erdma_debug *from);
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

#include "erdma_stats.h"
#include "erdma_rec.h"
#include "erdma_transport.h"
#include "erdma_objects.h"

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

int erdma_cm_module_init(void);		/* module: work queue */
void erdma_cm_module_exit(void);
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
 * connection and notify the IW CM. May sleep; called without state_lock; the QP
 * is held by the caller. With @destroy the endpoint must have dropped its
 * reference of the QP, or running work is about to, on return.
 */
void erdma_cm_disconnect_qp(struct erdma_qp *qp, bool destroy);
/* After @destroy: the QP was reset and may be connected again */
void erdma_ep_admit_qp(struct erdma_qp *qp);

/* ---- erdma_pma.c: the port's counters as performance management knows them -- */

int erdma_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *in_wc,
		      const struct ib_grh *in_grh, const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_size, u16 *out_pkey_index);

/* ---- erdma_restrack.c: rdma netlink details ------------------------------ */

int erdma_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp);
int erdma_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq);
int erdma_fill_res_qp_entry_raw(struct sk_buff *msg, struct ib_qp *ibqp);
int erdma_fill_res_cq_entry_raw(struct sk_buff *msg, struct ib_cq *ibcq);
int erdma_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr);

/* ---- erdma_diag.c: the node --------------------------------------------- */

int erdma_diag_module_init(void);	/* class, char device region, ib client */
void erdma_diag_module_exit(void);
int erdma_diag_alloc_minor(void);
void erdma_diag_free_minor(int minor);
bool erdma_diag_has_node(const struct erdma_dev *dev);	/* after registration */
void erdma_diag_remove(struct erdma_dev *dev);	/* before unregistration; open files get ENODEV */

/* ---- erdma_coredump.c: state of a device for devcoredump ------------------ */

void erdma_coredump_lost(struct erdma_dev *dev);
void erdma_coredump_qp(struct erdma_dev *dev, u32 qpn);	/* any context */
void erdma_coredump_work(struct work_struct *work);

/* ---- erdma_netdev.c: the paired network interface ------------------------ */

/* module: work queue; who brings up a device whose interface has appeared */
int erdma_netdev_module_init(void (*bring_up)(struct pci_dev *pdev));
void erdma_netdev_module_exit(void);
void erdma_netdev_forget(struct pci_dev *pdev);	/* the driver leaves the adapter */
int erdma_netdev_pair(struct erdma_dev *dev);	/* before registration */
void erdma_netdev_unpair(struct erdma_dev *dev);
int erdma_netdev_watch(struct erdma_dev *dev);	/* after registration */
void erdma_netdev_unwatch(struct erdma_dev *dev);

/* ---- erdma_lost.c: a device that does not work any more --------------------- */

/* X(id, text): ERDMA_LOST_id, ERDMA_STAT_LOST_id */
#define ERDMA_LOST_REASONS(X)						\
	X(CMDQ_DEAD, "the command queue is dead")			\
	X(QP_STOP, "a QP could not be stopped")				\
	X(EQ_HIDDEN, "an event queue cannot be read any more")		\
	X(PCI_ERROR, "PCI error")					\
	X(PCI_RESET, "reset of the PCI function")			\
	X(SUSPEND, "suspend")						\
	X(UNPLUGGED, "it has left the bus")

/* ERDMA_LOST_NOT: the device works */
enum erdma_lost_reason {
	ERDMA_LOST_NOT,
#define ERDMA_LOST_ENUM(id, text) ERDMA_LOST_##id,
	ERDMA_LOST_REASONS(ERDMA_LOST_ENUM)
#undef ERDMA_LOST_ENUM
	ERDMA_LOST_COUNT,
};

const char *erdma_lost_reason_text(enum erdma_lost_reason reason);
void erdma_device_lost(struct erdma_dev *dev, enum erdma_lost_reason reason);
void erdma_lost_cmdq_died(struct erdma_cmdq *q, const char *why);
void erdma_lost_watch(struct erdma_dev *dev);
void erdma_lost_unwatch(struct erdma_dev *dev);
bool erdma_lost_wait_stopped(struct erdma_dev *dev);

/* ---- erdma_watchdog.c: a device that hangs ----------------------------------- */

int erdma_watchdog_start(struct erdma_dev *dev);
void erdma_watchdog_stop(struct erdma_dev *dev);

/* ---- erdma_bringup.c: device ---------------------------------------------- */

struct erdma_adapter;

/**
 * struct erdma_dev - the device of an adapter, from bring-up to its loss or removal
 * @ibdev: core's part
 * @adapter: whose device it is
 * @pdev: PCI function
 * @probed_ns: ktime_get_ns() when it was brought up, 0 before
 * @lost: enum erdma_lost_reason, set once by erdma_device_lost()
 * @lost_ns: ktime_get_ns() of that
 * @lost_lock: protects @lost_watch
 * @lost_watch: a loss starts @stop_work
 * @stop_work: stops a lost device and its QPs
 * @removal_begun: @stop_work, a reset or a resume asked for the removal; QPs are stopped next
 * @flushing: the device is stopped for good: completions come from erdma_flush.c
 * @dma_off: no DMA can come: not started yet, or stopped by erdma_stop_dma()
 * @netdev: paired interface, held while registered; NULL before
 * @netdev_notifier: MTU and link changes
 * @netdev_gone: changes of the interface are not of interest any more, because it
 *	or the device goes away; under rtnl
 * @link_up: port state last reported, under rtnl
 * @mtu: last MTU configured at the device, 0 = not known
 * @mtu_tries: how often @mtu_work failed in a row
 * @mtu_work: configures a new MTU at the device
 * @mtu_cmd: its last command: MTU asked for, errno (positive), failures in a row,
 *	ktime_get_ns() of the answer; written by it alone
 * @mmio: BAR0
 * @proto: enum erdma_proto
 * @vectors: MSI-X vectors in use
 * @common_irq: Linux interrupt of vector 0
 * @common_name: its name
 * @dbrec_pool: doorbell records of kernel queues, 8 bytes
 * @response_pool: response buffers and small translation tables, ERDMA_RESP_BUF_SIZE,
 *	256-byte aligned
 * @attrs: limits
 * @cmdq: command queue
 * @aeq: asynchronous EQ
 * @comp_eqs: completion EQs, [n - 1] = EQ n
 * @n_comp_eqs: their number
 * @eq_watcher: runs @eq_look and @watchdog
 * @eq_look: looks after the event queues while there are CQs
 * @eq_looks: how often it ran
 * @eq_quiet: looks in a row that found nothing new, at most EQ_IDLE_LOOKS
 * @eq_seen: events handled until the look before
 * @eq_idle: @eq_look runs rarely; who expects, or has got, an event clears it with
 *	erdma_eqs_stir()
 * @cq_walk: the CQs that it looks at next
 * @watchdog: sends a command when none was answered for long
 * @watchdog_answers: commands answered until it ran last
 * @qps: QPs by number
 * @cqs: CQs by number
 * @pds: PDs by number
 * @mrs: memory regions by index
 * @ctxs: user contexts by number
 * @n_ctx: user contexts
 * @db_used: doorbell pages of user contexts, one bit each; of some that have ended, too:
 *	the device did not confirm FREE_DB, or may ring a queue by them
 * @db_spare: doorbell pages for the next user context, if valid
 * @db_lock: protects @db_spare
 * @n_qp: QPs
 * @n_cq: CQs
 * @n_cq_awaited: those of which somebody can wait for an event
 * @deferred: memory that the device may still use (struct erdma_deferred)
 * @deferred_lock: protects @deferred
 * @reflusher: REFLUSH of stopped QPs, their end, @coredump_work
 * @coredump_work: writes down the state after the device stopped a QP
 * @coredump_qpn: that QP
 * @ep_lock: protects @endpoints
 * @endpoints: all connection endpoints
 * @endpoints_wait: woken when @endpoints becomes empty
 * @eps: the same endpoints by number
 * @next_ep: next number
 * @dbg: debug prints
 * @rec: recorders of the adapter; NULL in KUnit
 * @stats: software counters
 * @traffic: the device's counters as it was last asked for them
 * @stats_paused: the last GET_STATS was not answered
 * @stats_resume: jiffies when the next one may be sent then
 * @diag_minor: number of the node, negative: it gets none
 * @diag: the node, NULL without one
 * @registering: task in which the core registers the device: rdma_cm repeats listeners
 */
struct erdma_dev {
	struct ib_device ibdev;
	struct erdma_adapter *adapter;
	struct pci_dev *pdev;
	u64 probed_ns;
	enum erdma_lost_reason lost;
	u64 lost_ns;
	spinlock_t lost_lock;
	bool lost_watch;
	struct delayed_work stop_work;
	bool removal_begun;
	bool flushing;
	bool dma_off;
	struct net_device *netdev;
	struct notifier_block netdev_notifier;
	bool netdev_gone;
	bool link_up;
	u32 mtu;
	u32 mtu_tries;
	struct delayed_work mtu_work;
	struct {
		u32 mtu;
		u32 err;
		u32 failures;
		u64 ns;
	} mtu_cmd;
	struct erdma_mmio mmio;
	u32 proto;
	int vectors;
	int common_irq;
	char common_name[40];
	struct dma_pool *dbrec_pool;
	struct dma_pool *response_pool;
	struct erdma_attrs attrs;
	struct erdma_cmdq cmdq;
	struct erdma_eq aeq;
	struct erdma_ceq comp_eqs[ERDMA_MAX_CEQS];
	u32 n_comp_eqs;
	struct workqueue_struct *eq_watcher;
	struct delayed_work eq_look;
	u32 eq_looks;
	u32 eq_quiet;
	s64 eq_seen;
	bool eq_idle;
	struct erdma_objtab_walk cq_walk;
	struct delayed_work watchdog;
	s64 watchdog_answers;
	struct erdma_objtab qps;
	struct erdma_objtab cqs;
	struct erdma_objtab pds;
	struct erdma_objtab mrs;
	struct erdma_objtab ctxs;
	atomic_t n_ctx;
	unsigned long *db_used;
	struct erdma_db_pages db_spare;
	spinlock_t db_lock;
	atomic_t n_qp;
	atomic_t n_cq;
	atomic_t n_cq_awaited;
	struct list_head deferred;
	struct mutex deferred_lock;
	struct workqueue_struct *reflusher;
	struct work_struct coredump_work;
	u32 coredump_qpn;
	spinlock_t ep_lock;
	struct list_head endpoints;
	wait_queue_head_t endpoints_wait;
	struct xarray eps;
	u32 next_ep;
	struct erdma_debug dbg;
	struct erdma_rec *rec;
	struct erdma_stats stats;
	struct erdma_traffic traffic;
	bool stats_paused;
	unsigned long stats_resume;
	int diag_minor;
	struct erdma_diag *diag;
	const struct task_struct *registering;
};

/**
 * erdma_is_lost - is the device lost?
 * @dev: device
 *
 * Context: any.
 * Return: true if it is, for good.
 */
static inline bool erdma_is_lost(const struct erdma_dev *dev)
{
	return READ_ONCE(dev->lost) != ERDMA_LOST_NOT;
}

/**
 * erdma_eqs_stir - an event came, or may come soon: look for lost ones often
 * @dev: device
 *
 * Context: any.
 */
static inline void erdma_eqs_stir(struct erdma_dev *dev)
{
	if (unlikely(READ_ONCE(dev->eq_idle)))
		erdma_eqs_wake(dev);
}

/**
 * dev_of - our device
 * @ibdev: the core's part of it
 *
 * Return: the structure around @ibdev.
 */
static inline struct erdma_dev *dev_of(struct ib_device *ibdev)
{
	return container_of(ibdev, struct erdma_dev, ibdev);
}

/**
 * pd_of - our protection domain
 * @ibpd: the core's part of it
 *
 * Return: the structure around @ibpd.
 */
static inline struct erdma_pd *pd_of(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct erdma_pd, ibpd);
}

/**
 * mr_of - our memory region
 * @ibmr: the core's part of it
 *
 * Return: the structure around @ibmr.
 */
static inline struct erdma_mr *mr_of(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct erdma_mr, ibmr);
}

/**
 * cq_of - our CQ
 * @ibcq: the core's part of it
 *
 * Return: the structure around @ibcq.
 */
static inline struct erdma_cq *cq_of(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct erdma_cq, ibcq);
}

/**
 * qp_of - our QP
 * @ibqp: the core's part of it
 *
 * Return: the structure around @ibqp.
 */
static inline struct erdma_qp *qp_of(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct erdma_qp, ibqp);
}

/**
 * ucontext_of - our user context
 * @ibctx: the core's part of it
 *
 * Return: the structure around @ibctx.
 */
static inline struct erdma_ucontext *ucontext_of(struct ib_ucontext *ibctx)
{
	return container_of(ibctx, struct erdma_ucontext, ibucontext);
}

/**
 * erdma_page_size_fits - can a doorbell page be mapped alone?
 * @size: bytes of the kernel's pages
 *
 * Return: true if no other doorbell page is in the same one.
 */
static inline bool erdma_page_size_fits(unsigned long size)
{
	return size <= BIT(ERDMA_DB_PAGE_SHIFT);
}

/* ---- objects by number: erdma_objtab.c --------------------------------------- */

static inline struct erdma_qp *qp_of_ref(struct erdma_ref *ref)
{
	return ref ? container_of(ref, struct erdma_qp, ref) : NULL;
}

static inline struct erdma_cq *cq_of_ref(struct erdma_ref *ref)
{
	return ref ? container_of(ref, struct erdma_cq, ref) : NULL;
}

/**
 * erdma_qp_find - erdma_objtab_find() of a QP
 * @dev: device; its table is locked by the caller
 * @qpn: number, need not exist
 *
 * Return: QP or NULL.
 */
static inline struct erdma_qp *erdma_qp_find(struct erdma_dev *dev, u32 qpn)
{
	return qp_of_ref(erdma_objtab_find(&dev->qps, qpn));
}

/**
 * erdma_qp_get - erdma_objtab_get() of a QP
 * @dev: device
 * @qpn: number, need not exist
 *
 * Context: any.
 * Return: QP, to be given to erdma_qp_put(); NULL: unknown or going away.
 */
static inline struct erdma_qp *erdma_qp_get(struct erdma_dev *dev, u32 qpn)
{
	return qp_of_ref(erdma_objtab_get(&dev->qps, qpn));
}

/**
 * erdma_qp_get_from - erdma_objtab_get_from() of a QP
 * @dev: device
 * @qpn: at least this
 *
 * Context: any.
 * Return: QP, to be given to erdma_qp_put(); NULL: there is none.
 */
static inline struct erdma_qp *erdma_qp_get_from(struct erdma_dev *dev, u32 qpn)
{
	return qp_of_ref(erdma_objtab_get_from(&dev->qps, qpn));
}

/**
 * erdma_cq_get - erdma_objtab_get() of a CQ
 * @dev: device
 * @cqn: number, need not exist
 *
 * Context: any.
 * Return: CQ, to be given to erdma_cq_put(); NULL: unknown or going away.
 */
static inline struct erdma_cq *erdma_cq_get(struct erdma_dev *dev, u32 cqn)
{
	return cq_of_ref(erdma_objtab_get(&dev->cqs, cqn));
}

/**
 * erdma_pd_get - erdma_objtab_get() of a PD
 * @dev: device
 * @pdn: number, need not exist
 *
 * Context: any.
 * Return: PD, to be given to erdma_pd_put(); NULL: unknown or going away.
 */
static inline struct erdma_pd *erdma_pd_get(struct erdma_dev *dev, u32 pdn)
{
	struct erdma_ref *ref = erdma_objtab_get(&dev->pds, pdn);

	return ref ? container_of(ref, struct erdma_pd, ref) : NULL;
}

/**
 * erdma_mr_get - erdma_objtab_get() of a memory region
 * @dev: device
 * @index: number, need not exist
 *
 * Context: any.
 * Return: region, to be given to erdma_mr_put(); NULL: unknown or going away.
 */
static inline struct erdma_mr *erdma_mr_get(struct erdma_dev *dev, u32 index)
{
	struct erdma_ref *ref = erdma_objtab_get(&dev->mrs, index);

	return ref ? container_of(ref, struct erdma_mr, ref) : NULL;
}

/**
 * erdma_ucontext_get - erdma_objtab_get() of a user context
 * @dev: device
 * @id: number, need not exist
 *
 * Context: any.
 * Return: context, to be given to erdma_ucontext_put(); NULL: unknown or going away.
 */
static inline struct erdma_ucontext *erdma_ucontext_get(struct erdma_dev *dev, u32 id)
{
	struct erdma_ref *ref = erdma_objtab_get(&dev->ctxs, id);

	return ref ? container_of(ref, struct erdma_ucontext, ref) : NULL;
}

#endif /* ERDMA_H */
