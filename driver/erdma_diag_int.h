/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Between the files of the diagnostics node:
 *   erdma_diag.c           life of the node, dispatcher
 *   erdma_diag_scope.c     who may see what
 *   erdma_diag_info.c      INFO, DEBUG
 *   erdma_diag_owner.c     whose an object is
 *   erdma_diag_list.c      LIST, CONTEXT
 *   erdma_diag_objects.c   records of objects
 *   erdma_diag_memory.c    records of memory regions, PDs, user contexts
 *   erdma_diag_cm.c        records of listeners and connections
 *   erdma_diag_hw.c        contexts asked from the device
 *   erdma_diag_queue.c     one ring as the driver knows it
 *   erdma_diag_mask.c      ring entries without secrets
 *   erdma_diag_ring.c      rings, RING_READ
 *   erdma_diag_snapshot.c  SNAPSHOT
 *   erdma_diag_log.c       LOG, poll()
 *   erdma_diag_recover.c   RECOVER
 * The rules are in docs/abi.md.
 */
#ifndef ERDMA_DIAG_INT_H
#define ERDMA_DIAG_INT_H

#include <linux/cdev.h>
#include <linux/cred.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/rwsem.h>
#include <linux/wait.h>

#include "erdma.h"

#define ERDMA_DIAG_ABI		1		/* reported by rdma netlink, never changes */
#define ERDMA_DIAG_CHUNK	(64 * 1024)	/* kernel memory of one call at most */
#define ERDMA_DIAG_HW_CREDITS	2		/* device commands at a time */
#define ERDMA_DIAG_HW_MS	2000		/* each of them, and the wait for a credit */
#define ERDMA_DIAG_HW_MAX_STUCK	8		/* timed-out commands before we stop asking */

/* Every user-visible size; a 32-bit caller sees the same numbers */
static_assert(sizeof(struct erdma_diag_rec) == 8);
static_assert(sizeof(struct erdma_diag_owner) == 24);
static_assert(sizeof(struct erdma_diag_owner_more) == 16);
static_assert(sizeof(struct erdma_diag_queue) == 48);
static_assert(sizeof(struct erdma_diag_qp) == 280);
static_assert(sizeof(struct erdma_diag_cq) == 152);
static_assert(sizeof(struct erdma_diag_eq) == 176);
static_assert(sizeof(struct erdma_diag_cmdq) == 248);
static_assert(sizeof(struct erdma_diag_mr) == 152);
static_assert(sizeof(struct erdma_diag_pd) == 72);
static_assert(sizeof(struct erdma_diag_ctx) == 88);
static_assert(sizeof(struct erdma_diag_cm_id) == 144);
static_assert(sizeof(struct erdma_diag_hw) == 272);
static_assert(sizeof(struct erdma_diag_info) == 456);
static_assert(sizeof(struct erdma_diag_list) == 56);
static_assert(sizeof(struct erdma_diag_context) == 40);
static_assert(sizeof(struct erdma_diag_ring_read) == 72);
static_assert(sizeof(struct erdma_diag_ring_part) == 48);
static_assert(sizeof(struct erdma_diag_snapshot) == 72);
static_assert(sizeof(struct erdma_diag_debug) == 136);
static_assert(sizeof(struct erdma_diag_log) == 64);
static_assert(sizeof(struct erdma_diag_recover) == 32);
static_assert(sizeof(struct erdma_diag_log_head) == 40);
static_assert(sizeof(struct erdma_diag_log_cmd) == 88);
static_assert(sizeof(struct erdma_diag_log_cmd_time) == 176);
static_assert(sizeof(struct erdma_diag_log_event) == 64);
static_assert(sizeof(struct erdma_diag_log_cm) == 152);
static_assert(sizeof(struct erdma_diag_log_fail) == 72);
static_assert(sizeof(struct erdma_diag_log_key) == 64);
static_assert(sizeof(struct erdma_diag_log_reset) == 104);
static_assert(sizeof(struct erdma_diag_log_link) == 56);
static_assert(sizeof(struct erdma_diag_log_debug) == 168);

/**
 * struct erdma_diag - a node
 * @dev: class device; its reference count is the node's
 * @cdev: character device
 * @rwsem: read: a call runs; write: the adapter goes away
 * @edev: adapter; NULL once it is gone
 * @hw_credits: device commands the node may still have in flight
 * @hw_wait: somebody waits for a credit
 * @snapshots: number of the newest snapshot
 * @rec: recorders of the adapter, with a reference: files wait there
 */
struct erdma_diag {
	struct device dev;
	struct cdev cdev;
	struct rw_semaphore rwsem;
	struct erdma_dev *edev;
	atomic_t hw_credits;
	wait_queue_head_t hw_wait;
	atomic64_t snapshots;
	struct erdma_rec *rec;
};

/**
 * struct erdma_diag_file - an open file of a node
 * @diag: node, with a reference
 * @next: by kind: what the last ERDMA_DIAG_LOG returned as out_next, plus one; 0 = the
 *	kind was never asked for
 */
struct erdma_diag_file {
	struct erdma_diag *diag;
	atomic64_t next[ERDMA_DIAG_LOG_COUNT];
};

/* ---- erdma_diag_scope.c ------------------------------------------------- */

/**
 * enum erdma_diag_scope - what a call wants
 * @ERDMA_DIAG_SCOPE_OPEN: S0: identity, limits, counters
 * @ERDMA_DIAG_SCOPE_METADATA: S1: driver or device record of an object
 * @ERDMA_DIAG_SCOPE_CONTENT: S2: ring entries
 * @ERDMA_DIAG_SCOPE_SET: S3: change a setting, or what waits in a queue
 */
enum erdma_diag_scope {
	ERDMA_DIAG_SCOPE_OPEN,
	ERDMA_DIAG_SCOPE_METADATA,
	ERDMA_DIAG_SCOPE_CONTENT,
	ERDMA_DIAG_SCOPE_SET,
};

/**
 * enum erdma_diag_rel - whose object it is, seen from the caller
 * @ERDMA_DIAG_REL_DEVICE: the adapter's own: event and command queues
 * @ERDMA_DIAG_REL_KERNEL: of a kernel consumer
 * @ERDMA_DIAG_REL_SELF: of the calling process, or of one it could ptrace
 * @ERDMA_DIAG_REL_USER: of another process of the calling user
 * @ERDMA_DIAG_REL_OTHER: of somebody else
 */
enum erdma_diag_rel {
	ERDMA_DIAG_REL_DEVICE,
	ERDMA_DIAG_REL_KERNEL,
	ERDMA_DIAG_REL_SELF,
	ERDMA_DIAG_REL_USER,
	ERDMA_DIAG_REL_OTHER,
};

/**
 * struct erdma_diag_who - a caller's rights, of its own and of the file's opener
 * @opener: credentials the file was opened with; NULL: the driver itself, which owns nothing
 * @net_admin: both have CAP_NET_ADMIN
 * @ptrace: both have CAP_SYS_PTRACE
 * @secrets: may see keys and bus addresses of any object
 * @known: what was found out about an owner, for the next object of the same; NULL:
 *	nothing is remembered
 */
struct erdma_diag_who {
	const struct cred *opener;
	bool net_admin;
	bool ptrace;
	bool secrets;
	struct erdma_diag_known *known;
};

void erdma_diag_who_init(struct erdma_diag_who *who, const struct file *file);
enum erdma_diag_rel erdma_diag_task_relation(const struct erdma_diag_who *who,
					     struct task_struct *task);
enum erdma_diag_rel erdma_diag_user_relation(const struct erdma_diag_who *who, kuid_t uid);
bool erdma_diag_is_allowed(const struct erdma_diag_who *who, enum erdma_diag_scope scope,
			   enum erdma_diag_rel rel);

/* ---- erdma_diag_owner.c ------------------------------------------------- */

/**
 * struct erdma_diag_origin - whose an object is
 * @kernel: the kernel's
 * @comm: @kernel: who in the kernel
 * @task: process, with a reference; NULL: the kernel's, or not known
 */
struct erdma_diag_origin {
	bool kernel;
	char comm[ERDMA_DIAG_COMM_LEN];
	struct task_struct *task;
};

/**
 * struct erdma_diag_known - what a caller is shown of a process, found out a moment ago
 *
 * One process often has all objects of a list. What is here is as old as the call of a
 * handler, which waits for nobody between two objects.
 *
 * @task: process, with a reference; NULL: none yet
 * @rel: whose it is
 * @owner: what records say of it
 * @more: the rest of it
 */
struct erdma_diag_known {
	struct task_struct *task;
	enum erdma_diag_rel rel;
	struct erdma_diag_owner owner;
	struct erdma_diag_owner_more more;
};

int erdma_diag_origin_of_res(struct rdma_restrack_entry *res, struct erdma_diag_origin *origin);
void erdma_diag_origin_of_task(struct task_struct *task, struct erdma_diag_origin *origin);
void erdma_diag_put_origin(struct erdma_diag_origin *origin);
bool erdma_diag_may_see(const struct erdma_diag_who *who,
			const struct erdma_diag_origin *origin);
enum erdma_diag_rel erdma_diag_relation(const struct erdma_diag_who *who,
					struct rdma_restrack_entry *res);
void erdma_diag_fill_owner(const struct erdma_diag_who *who,
			   const struct erdma_diag_origin *origin,
			   struct erdma_diag_owner *owner, struct erdma_diag_owner_more *more);
void erdma_diag_forget_owner(struct erdma_diag_known *known);

/* ---- erdma_diag.c: dispatcher ------------------------------------------- */

/* A handler that returns this is called again after its chunk was copied out */
#define ERDMA_DIAG_MORE 1

/**
 * struct erdma_diag_req - one call, seen by its handler
 * @diag: node
 * @file: open file; NULL: none, it is the driver itself
 * @who: caller
 * @arg: kernel copy of the argument; written back on success and on -EMSGSIZE
 * @buf_len: bytes of the user's buffer
 * @chunk: filled by the handler and copied to the user's buffer once no lock
 *	and no reference is held, as user memory may take for ever to fault in
 * @chunk_size: room in @chunk
 * @chunk_len: bytes the handler filled
 * @copied: bytes of earlier chunks
 * @cursor: the handler's own; 0 on its first call
 * @ident: the handler's own; 0 on its first call
 * @deadline: the handler's own; 0 on its first call; see erdma_diag_hw_left()
 * @state: the handler's own, of kvmalloc(), freed by the dispatcher; NULL on its first
 *	call
 */
struct erdma_diag_req {
	struct erdma_diag *diag;
	struct erdma_diag_file *file;
	const struct erdma_diag_who *who;
	void *arg;
	u32 buf_len;
	u8 *chunk;
	u32 chunk_size;
	u32 chunk_len;
	u32 copied;
	u64 cursor;
	u64 ident;
	unsigned long deadline;
	void *state;
};

/**
 * struct erdma_diag_ubuf - a buffer of the user
 * @addr: address
 * @len: bytes
 */
struct erdma_diag_ubuf {
	void __user *addr;
	u32 len;
};

/**
 * struct erdma_diag_op - one command
 * @cmd: full command number
 * @size: of the argument as this kernel knows it
 * @min_size: of the argument in the first version of this command
 * @flags: known flag bits
 * @set_flags: those that change a setting (S3)
 * @sets: every call does (S3)
 * @buf: reads the user's buffer from the argument; NULL = it has none
 * @rsvd: reads the fields of the argument that must be zero; NULL = it has none
 * @fn: handler, called with the node's rwsem held for reading; returns 0,
 *	ERDMA_DIAG_MORE or -errno
 */
struct erdma_diag_op {
	unsigned int cmd;
	u32 size;
	u32 min_size;
	u32 flags;
	u32 set_flags;
	bool sets;
	struct erdma_diag_ubuf (*buf)(const void *arg);
	u32 (*rsvd)(const void *arg);
	int (*fn)(struct erdma_dev *dev, struct erdma_diag_req *req);
};

struct erdma_diag *erdma_diag_enter(struct erdma_dev *dev);
void erdma_diag_leave(struct erdma_diag *diag);
const struct erdma_diag_op *erdma_diag_find_op(unsigned int cmd);
int erdma_diag_check_size(const struct erdma_diag_op *op, size_t size);
int erdma_diag_check_arg(const struct erdma_diag_op *op, const void *arg,
			 const struct erdma_diag_who *who);

int erdma_diag_handle_info(struct erdma_dev *dev, struct erdma_diag_req *req);
int erdma_diag_handle_debug(struct erdma_dev *dev, struct erdma_diag_req *req);
int erdma_diag_handle_list(struct erdma_dev *dev, struct erdma_diag_req *req);
int erdma_diag_handle_context(struct erdma_dev *dev, struct erdma_diag_req *req);
int erdma_diag_handle_ring_read(struct erdma_dev *dev, struct erdma_diag_req *req);
int erdma_diag_handle_snapshot(struct erdma_dev *dev, struct erdma_diag_req *req);
int erdma_diag_handle_log(struct erdma_dev *dev, struct erdma_diag_req *req);
int erdma_diag_handle_recover(struct erdma_dev *dev, struct erdma_diag_req *req);

/* ---- erdma_diag_log.c ---------------------------------------------------- */

__poll_t erdma_diag_poll(struct file *file, poll_table *wait);

/* ---- erdma_diag_objects.c ------------------------------------------------ */

/* The structure of a record, without its header */
union erdma_diag_object {
	struct erdma_diag_qp qp;
	struct erdma_diag_cq cq;
	struct erdma_diag_eq eq;
	struct erdma_diag_cmdq cmdq;
	struct erdma_diag_mr mr;
	struct erdma_diag_pd pd;
	struct erdma_diag_ctx ctx;
	struct erdma_diag_cm_id cm_id;
};

/**
 * struct erdma_diag_object_ops - one type of object
 * @rec: type of its record
 * @hw_rec: type of the record of the device's view; 0: the device has no such context
 * @size: bytes of its structure in the record
 * @next: advance to the first number >= *id that is in use; false: none
 * @fill: fill the zeroed structure, return 0, -ENOENT or -EPERM; may set record flags
 */
struct erdma_diag_object_ops {
	u16 rec;
	u16 hw_rec;
	u32 size;
	bool (*next)(struct erdma_dev *dev, u32 *id);
	int (*fill)(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 id,
		    union erdma_diag_object *data, u16 *flags);
};

/**
 * struct erdma_diag_object_rec - record of an object
 * @hdr: header; its length is erdma_diag_object_len()
 * @data: structure, in part
 */
struct erdma_diag_object_rec {
	struct erdma_diag_rec hdr;
	union erdma_diag_object data;
};

/**
 * struct erdma_diag_hw_rec - record of the device's context of an object
 * @hdr: header
 * @data: context
 */
struct erdma_diag_hw_rec {
	struct erdma_diag_rec hdr;
	struct erdma_diag_hw data;
};

const struct erdma_diag_object_ops *erdma_diag_object_find(u32 obj);
u32 erdma_diag_object_len(const struct erdma_diag_object_ops *ops);
int erdma_diag_object_fill(struct erdma_dev *dev, const struct erdma_diag_who *who,
			   const struct erdma_diag_object_ops *ops, u32 id,
			   struct erdma_diag_object_rec *rec);
void erdma_diag_object_fill_hw(struct erdma_dev *dev, const struct erdma_diag_req *req,
			       const struct erdma_diag_object_ops *ops, u32 obj, u32 id,
			       u32 timeout_ms, struct erdma_diag_hw_rec *rec);

extern const struct erdma_diag_object_ops erdma_diag_mr_ops;
extern const struct erdma_diag_object_ops erdma_diag_pd_ops;
extern const struct erdma_diag_object_ops erdma_diag_ctx_ops;
extern const struct erdma_diag_object_ops erdma_diag_cm_ops;

/* ---- erdma_diag_queue.c ------------------------------------------------- */

void erdma_diag_fill_sq(struct erdma_qp *qp, struct erdma_diag_queue *q);
void erdma_diag_fill_rq(struct erdma_qp *qp, struct erdma_diag_queue *q);
void erdma_diag_fill_cq(struct erdma_cq *cq, struct erdma_diag_queue *q);
void erdma_diag_fill_eq(const struct erdma_eq *eq, struct erdma_diag_queue *q);
void erdma_diag_fill_cmdq_sq(struct erdma_cmdq *cmdq, struct erdma_diag_queue *q);
void erdma_diag_fill_cmdq_cq(struct erdma_cmdq *cmdq, struct erdma_diag_queue *q);
void erdma_diag_hide_queue(struct erdma_diag_queue *q);
bool erdma_diag_cq_is_user(const struct erdma_cq *cq);
struct erdma_eq *erdma_diag_find_eq(struct erdma_dev *dev, u32 id);

/* ---- erdma_diag_hw.c ---------------------------------------------------- */

bool erdma_diag_has_hw(const struct erdma_dev *dev);
int erdma_diag_raw_hw(struct erdma_dev *dev, u32 obj, u32 id, struct erdma_diag_hw *hw);
u32 erdma_diag_hw_left(const struct erdma_diag_req *req);
void erdma_diag_query_hw(struct erdma_dev *dev, const struct erdma_diag_req *req,
			 u32 obj, u32 id, u32 timeout_ms, struct erdma_diag_hw *hw);

/* ---- erdma_diag_mask.c -------------------------------------------------- */

/**
 * struct erdma_diag_mask - what is needed to hide secrets in ring entries
 * @ring: ERDMA_DIAG_RING_*
 * @depth: entries of the ring
 * @qpn: SQ: owner of the ring
 */
struct erdma_diag_mask {
	u32 ring;
	u32 depth;
	u32 qpn;
};

void erdma_diag_mask_entries(const struct erdma_diag_mask *mask, void *entries,
			     u32 first, u32 count);

/* ---- erdma_diag_ring.c -------------------------------------------------- */

struct erdma_diag_ring_type;

/**
 * struct erdma_diag_ring - an open ring
 * @type: how to handle it
 * @ring: ERDMA_DIAG_RING_*
 * @entry_size: bytes
 * @rel: whose it is
 * @qp: held, for SQ and RQ
 * @cq: held, for a CQ
 * @eq: for an EQ
 * @cmdq: for the rings of the command queue
 * @mem: kernel ring; NULL if it is an application's
 * @umem: memory of an application's ring
 * @umem_start: of the ring in @umem
 * @q: geometry, and indices when it was opened
 * @ident: distinguishes its object from a later one with the same number
 */
struct erdma_diag_ring {
	const struct erdma_diag_ring_type *type;
	u32 ring;
	u32 entry_size;
	enum erdma_diag_rel rel;
	struct erdma_qp *qp;
	struct erdma_cq *cq;
	struct erdma_eq *eq;
	struct erdma_cmdq *cmdq;
	const void *mem;
	struct ib_umem *umem;
	size_t umem_start;
	struct erdma_diag_queue q;
	u64 ident;
};

int erdma_diag_ring_open(struct erdma_dev *dev, const struct erdma_diag_who *who, u32 ring,
			 u32 id, bool content, struct erdma_diag_ring *r);
void erdma_diag_ring_close(struct erdma_diag_ring *r);
u32 erdma_diag_ring_flags(const struct erdma_diag_ring *r);
int erdma_diag_ring_copy(const struct erdma_diag_ring *r, const struct erdma_diag_who *who,
			 void *to, u32 slot, u32 count, u32 *flags);

#endif /* ERDMA_DIAG_INT_H */
