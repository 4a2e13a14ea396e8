/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * User contexts, memory regions, CQs and QPs. Included through erdma.h.
 */
#ifndef ERDMA_OBJECTS_H
#define ERDMA_OBJECTS_H

#include "erdma_objtab.h"

/* ---- erdma_query.c: device and port -------------------------------------- */

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
 * @max_mr_size: bytes
 * @local_dma_key: device-wide local lkey; see erdma_has_local_dma_key()
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
	u64 max_mr_size;
	u32 local_dma_key;
	u8 cc;
	u32 fw_version;
	u8 mac[ETH_ALEN];
};

bool erdma_has_local_dma_key(const struct erdma_attrs *attrs);
int erdma_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		       struct ib_udata *udata);
int erdma_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr);
int erdma_query_gid(struct ib_device *ibdev, u32 port, int index, union ib_gid *gid);
int erdma_get_port_immutable(struct ib_device *ibdev, u32 port,
			     struct ib_port_immutable *immutable);
extern const struct attribute_group erdma_attr_group;
void erdma_get_dev_fw_str(struct ib_device *ibdev, char *str);

/* ---- erdma_pd.c: protection domains --------------------------------------- */

/**
 * struct erdma_pd - protection domain
 * @ibpd: core's part
 * @pdn: number
 * @ref: in dev->pds; every lookup holds it
 * @retained: the device may have an object that names @pdn
 * @ctx: the application's context, NULL: the kernel's. It outlives the PD
 * @n_qp: QPs in it
 * @n_mr: memory regions in it
 * @created: jiffies
 */
struct erdma_pd {
	struct ib_pd ibpd;
	u32 pdn;
	struct erdma_ref ref;
	bool retained;
	struct erdma_ucontext *ctx;
	atomic_t n_qp;
	atomic_t n_mr;
	u64 created;
};

int erdma_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int erdma_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
void erdma_pd_count_qp(struct erdma_pd *pd, int n);
void erdma_pd_count_mr(struct erdma_pd *pd, int n);

static inline void erdma_pd_put(struct erdma_pd *pd)
{
	erdma_ref_put(&pd->ref);
}

/* ---- erdma_ucontext.c: contexts of applications, doorbell pages ------------ */

/**
 * struct erdma_mmap_entry - a doorbell page an application may map
 * @rdma: core's part, which begins with zeros
 * @phys: physical address of the page
 */
struct erdma_mmap_entry {
	struct rdma_user_mmap_entry rdma;
	phys_addr_t phys;
};

/**
 * struct erdma_ucontext - an application's context
 * @ibucontext: core's part
 * @id: number
 * @ref: in dev->ctxs; every lookup holds it
 * @db: doorbell pages
 * @retained: the device may have an object that these pages ring
 * @sq_page: mmap entry of the SQ doorbell page
 * @rq_page: mmap entry of the RQ doorbell page
 * @cq_page: mmap entry of the CQ doorbell page
 * @dbrec_lock: protects @dbrec_pages
 * @dbrec_pages: pinned pages of doorbell records (struct erdma_dbrec_page)
 * @n_pd: PDs made in it
 * @n_mr: memory regions made in it
 * @n_cq: CQs made in it
 * @n_qp: QPs made in it
 * @created: jiffies
 */
struct erdma_ucontext {
	struct ib_ucontext ibucontext;
	u32 id;
	struct erdma_ref ref;
	struct erdma_db_pages db;
	bool retained;
	struct erdma_mmap_entry sq_page;
	struct erdma_mmap_entry rq_page;
	struct erdma_mmap_entry cq_page;
	struct mutex dbrec_lock;
	struct list_head dbrec_pages;
	atomic_t n_pd;
	atomic_t n_mr;
	atomic_t n_cq;
	atomic_t n_qp;
	u64 created;
};

static inline void erdma_ucontext_put(struct erdma_ucontext *ctx)
{
	erdma_ref_put(&ctx->ref);
}

int erdma_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata);
void erdma_dealloc_ucontext(struct ib_ucontext *ibctx);
int erdma_ucontext_alloc_db(struct erdma_dev *dev, struct erdma_ucontext *ctx);
int erdma_db_init(struct erdma_dev *dev);
void erdma_db_exit(struct erdma_dev *dev);
void erdma_disassociate_ucontext(struct ib_ucontext *ibctx);
int erdma_mmap(struct ib_ucontext *ibctx, struct vm_area_struct *vma);

/* ---- erdma_dbrec.c: doorbell records of applications ----------------------- */

/**
 * struct erdma_dbrec_page - a pinned user page with doorbell records
 * @ctx: context, NULL when it has ended
 * @list: in erdma_ucontext.dbrec_pages
 * @umem: pinned page
 * @words: the page in the kernel's address space, while it is pinned
 * @va: user address of the page
 * @refs: records in use, under dbrec_lock
 */
struct erdma_dbrec_page {
	struct erdma_ucontext *ctx;
	struct list_head list;
	struct ib_umem *umem;
	const __le64 *words;
	u64 va;
	int refs;
};

void erdma_dbrec_init(struct erdma_ucontext *ctx);
void erdma_dbrec_exit(struct erdma_ucontext *ctx);
struct erdma_dbrec_page *erdma_dbrec_map(struct erdma_ucontext *ctx, u64 va,
					 u32 len, dma_addr_t *dma);
void erdma_dbrec_unmap(struct erdma_dbrec_page *page);
void erdma_dbrec_retain(struct erdma_dbrec_page *page);
bool erdma_dbrec_read(const struct erdma_dbrec_page *page, u64 va, u64 *value);

/* ---- erdma_udata.c: requests of the provider ------------------------------- */

int erdma_udata_fetch(struct ib_udata *udata, void *req, size_t size);

/* ---- erdma_deferred.c: deferred free of what the device may still use --------- */

/**
 * struct erdma_free_kind - how to free the memory of a kind of object
 * @name: for the message
 * @size: bytes of the object
 * @free: frees its memory, given a copy of the object
 */
struct erdma_free_kind {
	const char *name;
	size_t size;
	void (*free)(struct erdma_dev *dev, void *object);
};

bool erdma_defer_free(struct erdma_dev *dev, const struct erdma_free_kind *kind,
		      const void *object, u32 id, int err);
void erdma_free_deferred(struct erdma_dev *dev);

/* ---- erdma_mtt.c: translation tables ------------------------------------ */

/**
 * struct erdma_mtt_table - one table
 * @va: entries
 * @dma: bus address
 * @size: bytes
 */
struct erdma_mtt_table {
	__le64 *va;
	dma_addr_t dma;
	size_t size;
};

/**
 * struct erdma_mtt - translation table of a ring or region
 * @umem: pinned user memory that it owns, NULL if it owns none
 * @page_shift: log2 of the page size
 * @page_cnt: entries
 * @level: 0 = inline (at most four entries), 1..3 = tables
 * @first_off: offset of the first byte in the first page
 * @inline_page: entries when @level is 0
 * @only_table: the table, if there is one (private to erdma_mtt.c, like @tables)
 * @tables: if there are more: tables of level 1..3, top table first
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
	struct erdma_mtt_table only_table;
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
 * @start: user address; of a dma-buf: offset in it
 * @iova: address by which work requests refer to it
 * @len: bytes, not 0
 * @access: IB_ACCESS_*
 * @is_dmabuf: part of a dma-buf
 * @fd: of the dma-buf
 */
struct erdma_user_range {
	u64 start;
	u64 iova;
	u64 len;
	int access;
	bool is_dmabuf;
	int fd;
};

unsigned long erdma_mtt_find_page_size(struct ib_umem *umem, u64 page_sizes, u64 iova,
				       bool is_dmabuf);
int erdma_mtt_init_user(struct erdma_dev *dev, struct erdma_mtt *mtt,
			const struct erdma_user_range *range, enum erdma_mtt_kind kind);
int erdma_mtt_init_part(struct erdma_dev *dev, struct erdma_mtt *mtt, struct ib_umem *umem,
			size_t offset, size_t len, enum erdma_mtt_kind kind);
int erdma_mtt_init_table(struct erdma_dev *dev, struct erdma_mtt *mtt, u32 page_cnt);
u32 erdma_mtt_tree_level(u32 page_cnt);
void erdma_mtt_set(struct erdma_mtt *mtt, u32 i, u64 page);
u64 erdma_mtt_entry(const struct erdma_mtt *mtt, u32 i);
void erdma_mtt_exit(struct erdma_dev *dev, struct erdma_mtt *mtt);
void erdma_mtt_size(const struct erdma_mtt *mtt, u32 *tables, u64 *bytes);

/* ---- erdma_mr.c: memory regions ----------------------------------------- */

/**
 * struct erdma_mr - memory region
 * @ibmr: core's part
 * @mtt: translation
 * @index: MR index
 * @ref: in dev->mrs; every lookup holds it
 * @pd: PD
 * @type: enum erdma_mr_type
 * @rights: ERDMA_RIGHT_*
 * @range: user memory: what was asked for
 * @created_ns: ktime_get_ns() when the device had made it
 * @frmr_max_pages: FRMR: room in the level 1 table
 * @frmr_pages: FRMR: pages of the next REG_MR work request, in that table
 */
struct erdma_mr {
	struct ib_mr ibmr;
	struct erdma_mtt mtt;
	u32 index;
	struct erdma_ref ref;
	struct erdma_pd *pd;
	u32 type;
	u32 rights;
	struct erdma_user_range range;
	u64 created_ns;
	u32 frmr_max_pages;
	u32 frmr_pages;
};

static inline void erdma_mr_put(struct erdma_mr *mr)
{
	erdma_ref_put(&mr->ref);
}

struct ib_mr *erdma_get_dma_mr(struct ib_pd *ibpd, int access);
struct ib_mr *erdma_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 len, u64 virt,
				int access, struct ib_udata *udata);
struct ib_mr *erdma_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 len, u64 virt, int fd,
				       int access);
struct ib_mr *erdma_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_sg);
int erdma_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		    unsigned int *sg_offset);
int erdma_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);
u32 erdma_access_to_rights(int access);
u32 erdma_mr_rights(const struct erdma_dev *dev, int access);

/* ---- erdma_cq.c --------------------------------------------------------- */

/**
 * struct erdma_cq - completion queue
 * @ibcq: core's part
 * @cqn: number
 * @retained: the device may have a QP that names @cqn
 * @eqn: completion EQ, 1..31
 * @depth: entries
 * @ref: in dev->cqs; every lookup holds it
 * @kernel: data path state of a kernel CQ
 * @user: memory of a user CQ
 * @db: doorbell pages of the owner
 * @ctx: the application's context, NULL: the kernel's. It outlives the CQ
 * @cmdsn: completion events taken, incremented by the CEQ handler
 * @events: completion events delivered
 * @async_events: AEQ entries
 * @broken: the consumer was notified that the CQ is of no use any more
 * @event_of: what the CQ was armed with at the newest event
 * @look: what erdma_cq_look() saw last: the arm that lacks an event, or 0; whether
 *	the completion at @ci hides later ones
 * @created_ns: ktime_get_coarse_ns()
 * @maker: who created it
 */
struct erdma_cq {
	struct ib_cq ibcq;
	u32 cqn;
	bool retained;
	u32 eqn;
	u32 depth;
	struct erdma_ref ref;
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
			u64 arm;		/* doorbell of the last arm */
			struct list_head queues; /* erdma_kqueue.link, under lock */
			u64 walks;		/* of queues so far, under lock */
			struct erdma_qp *last_qp; /* of the newest completion, under lock */
			bool flush;		/* look at queues when the ring is empty */
		} kernel;
		struct {
			struct erdma_mtt mtt;
			struct erdma_dbrec_page *dbrec_page;
			dma_addr_t dbrec_dma;
			u64 dbrec_va;
			atomic_t events_of_arm;	/* since @event_of changed */
		} user;
	};
	struct erdma_db_pages db;
	struct erdma_ucontext *ctx;
	atomic_t cmdsn;
	atomic64_t events;
	atomic_t async_events;
	atomic_t broken;
	u64 event_of;
	struct {
		u64 arm;
		u32 ci;
		bool hidden;
	} look;
	u64 created_ns;
	struct erdma_rec_owner maker;
};

/* A program that made a CQ without a channel for its events polls, and nothing else */
static inline bool erdma_cq_is_awaited(const struct erdma_cq *cq)
{
	return !cq->ctx || cq->ibcq.cq_context;
}

int erdma_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct ib_udata *udata);
int erdma_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int erdma_poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc);
int erdma_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
void erdma_cq_purge(struct erdma_cq *cq, u32 qpn);

static inline void erdma_cq_put(struct erdma_cq *cq)
{
	erdma_ref_put(&cq->ref);
}

/* ---- erdma_cq_event.c ------------------------------------------------------ */

void erdma_cq_notify(struct erdma_cq *cq);
/* From the EQ handlers, which count; false if nobody waits for the event */
bool erdma_cq_event(struct erdma_dev *dev, u32 cqn);
bool erdma_cq_async_event(struct erdma_dev *dev, u32 cqn, u32 type);
bool erdma_cq_deliver(struct erdma_cq *cq);
void erdma_cq_hidden(struct erdma_cq *cq);

/* ---- erdma_cq_look.c: what no interrupt shows ------------------------------ */

bool erdma_cq_look(struct erdma_cq *cq);
bool erdma_cqs_look(struct erdma_dev *dev);
bool erdma_cq_recover(struct erdma_cq *cq, bool *armed);

/* ---- erdma_qp.c --------------------------------------------------------- */

/**
 * struct erdma_kqueue - one ring of a kernel QP
 * @buf: entries
 * @dma: bus address
 * @dbrec: doorbell record
 * @dbrec_dma: its bus address
 * @db: doorbell
 * @db_base: number of the QP where the doorbell has it, and the header of a request
 * @wr_id: work request ids by slot
 * @room: RQ: bytes that the receive in a slot has room for
 * @blocks: SQ: WQEBBs of the request that starts in a slot, 0 = none starts
 *	there; the device cannot change it
 * @lock: protects @pi, @buf and the doorbell
 * @pi: producer index, 16 bits significant; SQ in WQEBBs, RQ in RQEs
 * @ci: consumer index; moved by erdma_poll_cq() under the CQ's lock
 * @link: in erdma_cq.kernel.queues of its CQ
 * @walk: newest of the walks of its CQ that found nothing left in it; under the CQ's lock
 * @qp: its QP, once linked
 * @is_overdue: the device should have flushed everything before @overdue_pi; under
 *	the CQ's lock, as @overdue_pi is
 * @overdue_pi: producer index, 16 bits significant
 */
struct erdma_kqueue {
	void *buf;
	dma_addr_t dma;
	__le64 *dbrec;
	dma_addr_t dbrec_dma;
	void __iomem *db;
	u64 db_base;
	u64 *wr_id;
	u32 *room;
	u8 *blocks;
	spinlock_t lock;
	u16 pi;
	u16 ci;
	struct list_head link;
	u64 walk;
	struct erdma_qp *qp;
	bool is_overdue;
	u16 overdue_pi;
};

/**
 * struct erdma_qp - queue pair
 * @ibqp: core's part
 * @dev: device
 * @qpn: number
 * @ref: in dev->qps; connections and every lookup hold it
 * @sq_depth: WQEBBs
 * @rq_depth: RQEs
 * @cap: as asked for
 * @sig_all: every send is signaled
 * @hdr_base: kernel QP: what the headers of all send requests have in common
 * @is_user: rings belong to an application
 * @owner: process whose application it is, with a reference; NULL: the kernel's
 * @ksq: kernel SQ
 * @krq: kernel RQ
 * @user_rings: pinned memory of an application's rings: SQ, then RQ from erdma_rq_offset()
 * @user_sq: its SQ
 * @user_rq: its RQ
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
 * @fatal: the device stopped it; set under the lock of dev->qps, cleared by RESET only
 * @at_device: the device has it, or may have it
 * @resetting: a RESET goes on
 * @fatal_work: ends the connection after that
 * @reflush_timer: sends the newest indices of a stopped kernel QP to the device
 * @overdue_timer: the device had the time to flush up to these indices
 * @flushed_sq_pi: of the last REFLUSH
 * @flushed_rq_pi: of the last REFLUSH
 * @ep: connection, owned by erdma_cm.c (under its locks)
 * @state_ns: ktime_get_coarse_ns() of the last state change
 * @created_ns: ktime_get_coarse_ns()
 * @async_events: AEQ entries
 * @last_ae_type: newest of them
 * @maker: who created it
 */
struct erdma_qp {
	struct ib_qp ibqp;
	struct erdma_dev *dev;
	u32 qpn;
	struct erdma_ref ref;
	u32 sq_depth;
	u32 rq_depth;
	struct ib_qp_cap cap;
	bool sig_all;
	u64 hdr_base;
	bool is_user;
	struct pid *owner;
	struct erdma_kqueue ksq;
	struct erdma_kqueue krq;
	struct ib_umem *user_rings;
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
	bool fatal;
	bool at_device;
	atomic_t resetting;
	struct work_struct fatal_work;
	struct delayed_work reflush_timer;
	struct delayed_work overdue_timer;
	u16 flushed_sq_pi;
	u16 flushed_rq_pi;
	struct erdma_ep *ep;
	u64 state_ns;
	u64 created_ns;
	atomic_t async_events;
	u32 last_ae_type;
	struct erdma_rec_owner maker;
};

int erdma_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
		    struct ib_udata *udata);
int erdma_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int erdma_qp_create_at_device(struct erdma_dev *dev, struct erdma_qp *qp);
void erdma_qp_publish(struct erdma_dev *dev, struct erdma_qp *qp);
int erdma_qp_withdraw(struct erdma_dev *dev, struct erdma_qp *qp);

/* Another reference: it is held already */
static inline void erdma_qp_hold(struct erdma_qp *qp)
{
	kref_get(&qp->ref.count);
}

static inline void erdma_qp_put(struct erdma_qp *qp)
{
	erdma_ref_put(&qp->ref);
}

/* ---- erdma_qp_post.c ------------------------------------------------------- */

int erdma_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad);
int erdma_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad);

/* ---- erdma_qp_state.c ------------------------------------------------------ */

int erdma_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata);
int erdma_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init_attr);
/*
 * For the connection manager; both may sleep and take state_lock.
 * erdma_qp_to_rts() hands a connection to the device (IDLE/RTR -> RTS).
 * erdma_qp_stop() moves to CLOSING, TERMINATE or ERROR after table 11.1, is
 * idempotent, starts the REFLUSH of kernel QPs and never calls the connection
 * manager back.
 */
int erdma_qp_to_rts(struct erdma_qp *qp, const struct erdma_conn *conn);
int erdma_qp_stop(struct erdma_qp *qp, enum erdma_qp_state to);
enum erdma_qp_state erdma_qp_read_state(struct erdma_qp *qp);
void erdma_qp_mark_stopped(struct erdma_qp *qp);
void erdma_qp_end(struct erdma_qp *qp);
void erdma_qp_begin(struct erdma_qp *qp);

/* ---- erdma_qp_reset.c ------------------------------------------------------ */

int erdma_qp_reset(struct erdma_qp *qp);

/* ---- erdma_qp_fatal.c: QPs that end without being asked to ----------------- */

void erdma_qp_fatal_work(struct work_struct *work);
/* From the AEQ handler, which counts; false if there is no such QP (any more) */
bool erdma_qp_async_event(struct erdma_dev *dev, u32 qpn, u32 type);
void erdma_qp_device_lost(struct erdma_qp *qp);

/* ---- erdma_reflush.c ------------------------------------------------------- */

void erdma_reflush_init(struct erdma_qp *qp);
void erdma_reflush_schedule(struct erdma_qp *qp);
void erdma_reflush_cancel(struct erdma_qp *qp);

/* ---- erdma_flush.c: flush completions for a lost device -------------------- */

u16 erdma_kqueue_pi(struct erdma_kqueue *q);
void erdma_flush_add_qp(struct erdma_qp *qp);
void erdma_flush_remove_qp(struct erdma_qp *qp);
void erdma_flush_overdue(struct erdma_qp *qp, u16 sq_pi, u16 rq_pi);
bool erdma_flush_turn(struct erdma_cq *cq, u64 *walk, int num, struct ib_wc *wc, int *n);
int erdma_flush_poll(struct erdma_cq *cq, int num, struct ib_wc *wc);
bool erdma_flush_is_due(struct erdma_cq *cq);

#endif /* ERDMA_OBJECTS_H */
