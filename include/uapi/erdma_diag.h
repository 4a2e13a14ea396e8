/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause */
/*
 * Diagnostics ABI of the erdma driver: ioctls of /dev/erdma/diagN and the
 * records they return.
 *
 * Rules. Every argument starts with its size as the caller knows it; the kernel
 * accepts older and newer callers (unknown non-zero tail: E2BIG). Reserved
 * fields are zero. Unknown flag bits are EOPNOTSUPP. What a driver offers is
 * reported by the capability words of ERDMA_DIAG_INFO, never by a version.
 * Objects are returned as records: a header with length and type, then a
 * structure that only ever grows at its end. Readers skip types they do not
 * know and treat missing fields as zero.
 */
#ifndef ERDMA_DIAG_H
#define ERDMA_DIAG_H

#include <linux/types.h>
#include <linux/ioctl.h>

#define ERDMA_DIAG_IOC_TYPE	0xE7

#define ERDMA_DIAG_INFO		_IO(ERDMA_DIAG_IOC_TYPE, 0)	/* struct erdma_diag_info */
#define ERDMA_DIAG_LIST		_IO(ERDMA_DIAG_IOC_TYPE, 1)	/* struct erdma_diag_list */
#define ERDMA_DIAG_CONTEXT	_IO(ERDMA_DIAG_IOC_TYPE, 2)	/* struct erdma_diag_context */
#define ERDMA_DIAG_RING_READ	_IO(ERDMA_DIAG_IOC_TYPE, 3)	/* struct erdma_diag_ring_read */
#define ERDMA_DIAG_DEBUG	_IO(ERDMA_DIAG_IOC_TYPE, 4)	/* struct erdma_diag_debug */
#define ERDMA_DIAG_LOG		_IO(ERDMA_DIAG_IOC_TYPE, 5)	/* struct erdma_diag_log */
#define ERDMA_DIAG_SNAPSHOT	_IO(ERDMA_DIAG_IOC_TYPE, 6)	/* struct erdma_diag_snapshot */
#define ERDMA_DIAG_RECOVER	_IO(ERDMA_DIAG_IOC_TYPE, 7)	/* struct erdma_diag_recover */
#define ERDMA_DIAG_CMD_COUNT	8

#define ERDMA_DIAG_MAX_SIZE	4096	/* of an argument; E2BIG above */

/* ---- records ------------------------------------------------------------ */

/**
 * struct erdma_diag_rec - header of a record
 * @len: bytes of the record with this header, a multiple of 8
 * @type: ERDMA_DIAG_REC_*; receivers skip unknown types
 * @flags: ERDMA_DIAG_REC_F_*
 */
struct erdma_diag_rec {
	__u32 len;
	__u16 type;
	__u16 flags;
};

#define ERDMA_DIAG_REC_QP	1	/* struct erdma_diag_qp */
#define ERDMA_DIAG_REC_CQ	2	/* struct erdma_diag_cq */
#define ERDMA_DIAG_REC_EQ	3	/* struct erdma_diag_eq */
#define ERDMA_DIAG_REC_CMDQ	4	/* struct erdma_diag_cmdq */
#define ERDMA_DIAG_REC_QP_HW	5	/* struct erdma_diag_hw, QUERY_QPC response */
#define ERDMA_DIAG_REC_CQ_HW	6	/* struct erdma_diag_hw, QUERY_CQC response */
#define ERDMA_DIAG_REC_EQ_HW	7	/* struct erdma_diag_hw, QUERY_EQC response */
#define ERDMA_DIAG_REC_MR	16	/* struct erdma_diag_mr */
#define ERDMA_DIAG_REC_PD	17	/* struct erdma_diag_pd */
#define ERDMA_DIAG_REC_CTX	18	/* struct erdma_diag_ctx */
#define ERDMA_DIAG_REC_CM_ID	19	/* struct erdma_diag_cm_id */
#define ERDMA_DIAG_REC_RING	20	/* struct erdma_diag_ring_part */
/* 33..47: ERDMA_DIAG_REC_LOG(), entries of the recorders */

/* The object changed while the record was filled */
#define ERDMA_DIAG_REC_F_TORN	(1 << 0)
/* Fields were withheld for want of a privilege and are zero */
#define ERDMA_DIAG_REC_F_HIDDEN	(1 << 1)

/* Object types of LIST and CONTEXT. The device has contexts of the first four */
#define ERDMA_DIAG_OBJ_QP	1	/* id: QPN */
#define ERDMA_DIAG_OBJ_CQ	2	/* id: CQN */
#define ERDMA_DIAG_OBJ_EQ	3	/* ids as ERDMA_DIAG_EQ_* */
#define ERDMA_DIAG_OBJ_CMDQ	4	/* id 0 */
#define ERDMA_DIAG_OBJ_MR	5	/* id: index, the key without its low byte */
#define ERDMA_DIAG_OBJ_PD	6	/* id: PD number */
#define ERDMA_DIAG_OBJ_CTX	7	/* id: a number of the driver's */
#define ERDMA_DIAG_OBJ_CM_ID	8	/* id: a number of the driver's */

/* Numbers of event queues: one numbering for everything in this ABI */
#define ERDMA_DIAG_EQ_CMDQ	0	/* command EQ, vector 0 */
#define ERDMA_DIAG_EQ_CEQ(n)	(n)	/* completion EQ n = 1..31, vector n */
#define ERDMA_DIAG_EQ_AEQ	32	/* asynchronous EQ, vector 0 */
#define ERDMA_DIAG_EQ_COUNT	33

#define ERDMA_DIAG_COMM_LEN	16

/**
 * struct erdma_diag_owner - who created an object
 * @pid: process id in the caller's pid namespace; 0 for kernel objects and for
 *	 processes the caller's namespace cannot see
 * @kernel: 1 = created by the kernel
 * @comm: process or kernel module name, NUL-terminated
 */
struct erdma_diag_owner {
	__u32 pid;
	__u32 kernel;
	__u8 comm[ERDMA_DIAG_COMM_LEN];
};

/**
 * struct erdma_diag_owner_more - more about the one in struct erdma_diag_owner
 * @flags: ERDMA_DIAG_OWNER_*; 0 for kernel objects
 * @rsvd: 0
 * @cgroup_id: of its control group (cgroup v2): the inode number of the group's
 *	directory; 0 if the process ended, or the caller's cgroup namespace does not
 *	contain the group
 */
struct erdma_diag_owner_more {
	__u32 flags;
	__u32 rsvd;
	__aligned_u64 cgroup_id;
};

/* The process has ended; another one uses the object, or it is being destroyed */
#define ERDMA_DIAG_OWNER_EXITED		(1 << 0)
/* The process is in another pid namespace than the caller */
#define ERDMA_DIAG_OWNER_PID_NS		(1 << 1)
/* The process is in another network namespace than the caller */
#define ERDMA_DIAG_OWNER_NET_NS		(1 << 2)
/* The driver does not know who it is */
#define ERDMA_DIAG_OWNER_UNKNOWN	(1 << 3)

/**
 * struct erdma_diag_queue - one ring as the driver knows it
 * @depth: entries (SQ: WQEBBs)
 * @pi: producer index
 * @ci: consumer index
 * @valid: ERDMA_DIAG_Q_*, which indices are known
 * @page_shift: log2 of the page size of the ring's translation
 * @page_cnt: pages of the ring
 * @dma: bus address of the ring or of its table; CAP_NET_ADMIN, else 0
 * @dbrec_dma: bus address of the doorbell record; CAP_NET_ADMIN, else 0
 * @dbrec: content of the doorbell record, if ERDMA_DIAG_Q_DBREC
 */
struct erdma_diag_queue {
	__u32 depth;
	__u32 pi;
	__u32 ci;
	__u32 valid;
	__u32 page_shift;
	__u32 page_cnt;
	__aligned_u64 dma;
	__aligned_u64 dbrec_dma;
	__aligned_u64 dbrec;
};

#define ERDMA_DIAG_Q_PI		(1 << 0)
#define ERDMA_DIAG_Q_CI		(1 << 1)
#define ERDMA_DIAG_Q_DBREC	(1 << 2)	/* dbrec holds the record's content */

/**
 * struct erdma_diag_qp - driver side of a QP
 * @qpn: QP number
 * @pdn: PD number
 * @type: enum ib_qp_type
 * @state: enum erdma_qp_state as the driver recorded it
 * @send_cqn: send CQ
 * @recv_cqn: receive CQ
 * @flags: ERDMA_DIAG_QP_*
 * @cookie: own cookie, from CREATE_QP
 * @peer_cookie: peer's cookie, from the MPA frame
 * @cc: enum erdma_cc
 * @family: AF_INET once connected, else 0
 * @sport: local TCP port, host order
 * @dport: remote TCP port, host order
 * @saddr: local address, network order; IPv4 in the first 4 bytes
 * @daddr: remote address
 * @max_send_wr: as asked for
 * @max_recv_wr: as asked for
 * @max_send_sge: as asked for
 * @max_inline: bytes
 * @sdb: SQ doorbell page index, 0 without extended doorbells
 * @rdb: RQ doorbell page index
 * @sq: send queue
 * @rq: receive queue
 * @created_ns: CLOCK_MONOTONIC when the QP was created
 * @state_ns: CLOCK_MONOTONIC of the last state change
 * @async_events: AEQ entries seen for this QP
 * @last_ae_type: enum erdma_ae_type of the newest, if @async_events
 * @owner: creator
 * @owner_more: see there
 * @peer_mss: maximum segment size of the TCP connection, from the handshake; 0 if
 *	never connected
 * @ctx: number of the user context, 0 for kernel objects
 * @res_id: number in the RDMA core's list of QPs
 * @rsvd: 0
 */
struct erdma_diag_qp {
	__u32 qpn;
	__u32 pdn;
	__u32 type;
	__u32 state;
	__u32 send_cqn;
	__u32 recv_cqn;
	__u32 flags;
	__u32 cookie;
	__u32 peer_cookie;
	__u32 cc;
	__u32 family;
	__u16 sport;
	__u16 dport;
	__u8 saddr[16];
	__u8 daddr[16];
	__u32 max_send_wr;
	__u32 max_recv_wr;
	__u32 max_send_sge;
	__u32 max_inline;
	__u32 sdb;
	__u32 rdb;
	struct erdma_diag_queue sq;
	struct erdma_diag_queue rq;
	__aligned_u64 created_ns;
	__aligned_u64 state_ns;
	__u32 async_events;
	__u32 last_ae_type;
	struct erdma_diag_owner owner;
	struct erdma_diag_owner_more owner_more;
	__u32 peer_mss;
	__u32 ctx;
	__u32 res_id;
	__u32 rsvd;
};

#define ERDMA_DIAG_QP_ACTIVE	(1 << 0)	/* this side connected (client) */
#define ERDMA_DIAG_QP_PASSIVE	(1 << 1)	/* this side accepted (server) */
#define ERDMA_DIAG_QP_SIG_ALL	(1 << 2)	/* every send is signaled */
#define ERDMA_DIAG_QP_DB_ASSOC	(1 << 3)	/* bound to doorbell pages */
#define ERDMA_DIAG_QP_FATAL	(1 << 4)	/* the device stopped it, or is lost itself */

/**
 * struct erdma_diag_cq - driver side of a CQ
 * @cqn: CQ number
 * @eqn: completion EQ it reports to, 1..31
 * @comp_vector: verbs completion vector, @eqn - 1
 * @flags: reserved, 0
 * @cq: the ring; PI is never known to the driver, CI for kernel CQs only
 * @arm_count: arm doorbells rung (kernel CQs)
 * @cmdsn: completion events taken
 * @notify: last arm, 0 none, 1 next, 2 solicited (kernel CQs)
 * @cdb: CQ doorbell page index, 0 without extended doorbells
 * @created_ns: CLOCK_MONOTONIC
 * @events: completion events delivered
 * @async_events: AEQ entries seen
 * @rsvd: 0
 * @owner: creator
 * @owner_more: see there
 * @ctx: number of the user context, 0 for kernel objects
 * @res_id: cqn in "rdma resource show"
 */
struct erdma_diag_cq {
	__u32 cqn;
	__u32 eqn;
	__u32 comp_vector;
	__u32 flags;
	struct erdma_diag_queue cq;
	__u32 arm_count;
	__u32 cmdsn;
	__u32 notify;
	__u32 cdb;
	__aligned_u64 created_ns;
	__aligned_u64 events;
	__u32 async_events;
	__u32 rsvd;
	struct erdma_diag_owner owner;
	struct erdma_diag_owner_more owner_more;
	__u32 ctx;
	__u32 res_id;
};

/**
 * struct erdma_diag_eq - driver side of an EQ
 * @eqn: ERDMA_DIAG_EQ_*
 * @vector: MSI-X vector
 * @irq: Linux interrupt number
 * @flags: reserved, 0
 * @eq: the ring
 * @events: entries consumed
 * @interrupts: handler runs
 * @notifies: doorbells rung
 * @unknown: entries that named an object which does not exist (any more)
 * @by_type: AEQ only: entries per enum erdma_ae_type, [5] = unknown types
 * @served: handler runs that found entries. The AEQ and the command EQ share a
 *	vector, and an interrupt runs the handlers of both: this shows which of them
 *	it was for
 * @lost_irqs: entries found without the interrupt that should have come
 */
struct erdma_diag_eq {
	__u32 eqn;
	__u32 vector;
	__u32 irq;
	__u32 flags;
	struct erdma_diag_queue eq;
	__aligned_u64 events;
	__aligned_u64 interrupts;
	__aligned_u64 notifies;
	__aligned_u64 unknown;
	__aligned_u64 by_type[8];
	__aligned_u64 served;
	__aligned_u64 lost_irqs;
};

/**
 * struct erdma_diag_cmdq - driver side of the command queue
 * @state: ERDMA_DIAG_CMDQ_*
 * @credits: command contexts in all
 * @in_flight: commands the device has not answered
 * @quarantined: contexts whose command timed out
 * @max_in_flight: high-water mark
 * @slot_wqebbs: WQEBBs of one slot
 * @sq: command SQ, in WQEBBs
 * @cq: command CQ
 * @submitted: commands handed to the device
 * @completed: commands answered with success
 * @failed: commands answered with a syndrome
 * @timeouts: commands not answered in time
 * @late: answers that came after the timeout
 * @lost_irqs: answers found by polling because no interrupt came
 * @bad_cqes: completions the driver refused as nonsense
 * @oldest_ns: age of the oldest command in flight, 0 if none
 * @dead_reason: ERDMA_DIAG_DEAD_*: why @state is ERDMA_DIAG_CMDQ_DEAD
 * @dead_submod: enum erdma_submod of the command that showed it
 * @dead_opcode: opcode of that command, within @dead_submod
 * @dead_waited_ms: how long that command had waited for its answer
 * @dead_ns: CLOCK_MONOTONIC when the queue died, 0 if it did not
 * @dead_caller: who waited for that command; all zero without a command, and with
 *	ERDMA_DIAG_REC_F_HIDDEN if the caller may not see that process
 * @dead_caller_more: see there
 */
struct erdma_diag_cmdq {
	__u32 state;
	__u32 credits;
	__u32 in_flight;
	__u32 quarantined;
	__u32 max_in_flight;
	__u32 slot_wqebbs;
	struct erdma_diag_queue sq;
	struct erdma_diag_queue cq;
	__aligned_u64 submitted;
	__aligned_u64 completed;
	__aligned_u64 failed;
	__aligned_u64 timeouts;
	__aligned_u64 late;
	__aligned_u64 lost_irqs;
	__aligned_u64 bad_cqes;
	__aligned_u64 oldest_ns;
	__u32 dead_reason;
	__u32 dead_submod;
	__u32 dead_opcode;
	__u32 dead_waited_ms;
	__aligned_u64 dead_ns;
	struct erdma_diag_owner dead_caller;
	struct erdma_diag_owner_more dead_caller_more;
};

#define ERDMA_DIAG_CMDQ_DOWN	0	/* not started */
#define ERDMA_DIAG_CMDQ_POLL	1	/* bring-up: completions are polled */
#define ERDMA_DIAG_CMDQ_RUN	2	/* completions by interrupt */
#define ERDMA_DIAG_CMDQ_DEAD	3	/* the device stopped answering */

#define ERDMA_DIAG_DEAD_NOT		0
#define ERDMA_DIAG_DEAD_OVERTAKEN	1	/* later commands were answered, this one was not */
#define ERDMA_DIAG_DEAD_UNPLUGGED	2	/* the device has left the bus */
#define ERDMA_DIAG_DEAD_NO_ANSWER	3	/* it answers no command any more */
#define ERDMA_DIAG_DEAD_NO_CONTEXT	4	/* all command contexts wait for an answer */
#define ERDMA_DIAG_DEAD_LOST		5	/* the device was lost otherwise; no command */

/**
 * struct erdma_diag_mr - memory region
 * @index: number
 * @lkey: local key; CAP_NET_ADMIN, else 0
 * @rkey: remote key; CAP_NET_ADMIN, else 0
 * @pdn: PD number
 * @type: enum erdma_mr_type
 * @flags: ERDMA_DIAG_MR_*
 * @access: IB_ACCESS_* as asked for; 0 for fast registration, whose requests say it
 * @rights: ERDMA_RIGHT_* as registered at the device
 * @iova: address by which work requests refer to the region
 * @length: bytes; 0 with ERDMA_DIAG_MR_ALL
 * @addr: user address, or offset in the dma-buf; 0 for kernel objects
 * @page_shift: log2 of the page size of the translation, 0 if there is none
 * @page_cnt: pages of the translation; fast registration: of the last request
 * @mtt_level: levels of translation tables, 0 = the pages are in the command
 * @mtt_tables: translation tables
 * @mtt_bytes: their bytes
 * @max_pages: fast registration: room for pages
 * @ctx: number of the user context, 0 for kernel objects
 * @res_id: mrn in "rdma resource show"
 * @rsvd: 0
 * @dma: bus address of the page or of the top table; CAP_NET_ADMIN, else 0
 * @created_ns: CLOCK_MONOTONIC
 * @owner: creator
 * @owner_more: see there
 */
struct erdma_diag_mr {
	__u32 index;
	__u32 lkey;
	__u32 rkey;
	__u32 pdn;
	__u32 type;
	__u32 flags;
	__u32 access;
	__u32 rights;
	__aligned_u64 iova;
	__aligned_u64 length;
	__aligned_u64 addr;
	__u32 page_shift;
	__u32 page_cnt;
	__u32 mtt_level;
	__u32 mtt_tables;
	__aligned_u64 mtt_bytes;
	__u32 max_pages;
	__u32 ctx;
	__u32 res_id;
	__u32 rsvd;
	__aligned_u64 dma;
	__aligned_u64 created_ns;
	struct erdma_diag_owner owner;
	struct erdma_diag_owner_more owner_more;
};

#define ERDMA_DIAG_MR_USER	(1 << 0)	/* memory of an application is pinned */
#define ERDMA_DIAG_MR_DMABUF	(1 << 1)	/* memory of another device */
#define ERDMA_DIAG_MR_ALL	(1 << 2)	/* all bus addresses, without translation */

/**
 * struct erdma_diag_pd - protection domain
 * @pdn: number
 * @ctx: number of the user context, 0 for kernel objects
 * @n_qp: QPs in it
 * @n_mr: memory regions in it
 * @res_id: pdn in "rdma resource show"
 * @rsvd: 0
 * @created_ns: CLOCK_MONOTONIC
 * @owner: creator
 * @owner_more: see there
 */
struct erdma_diag_pd {
	__u32 pdn;
	__u32 ctx;
	__u32 n_qp;
	__u32 n_mr;
	__u32 res_id;
	__u32 rsvd;
	__aligned_u64 created_ns;
	struct erdma_diag_owner owner;
	struct erdma_diag_owner_more owner_more;
};

/**
 * struct erdma_diag_ctx - an application's context
 * @id: number
 * @flags: ERDMA_DIAG_CTX_*
 * @sq_page: doorbell page of send queues: number of the page in BAR0
 * @rq_page: doorbell page of receive queues
 * @cq_page: doorbell page of CQs
 * @res_id: ctxn in "rdma resource show"
 * @n_pd: PDs made in it
 * @n_mr: memory regions made in it
 * @n_cq: CQs made in it
 * @n_qp: QPs made in it
 * @created_ns: CLOCK_MONOTONIC
 * @owner: creator
 * @owner_more: see there
 */
struct erdma_diag_ctx {
	__u32 id;
	__u32 flags;
	__u32 sq_page;
	__u32 rq_page;
	__u32 cq_page;
	__u32 res_id;
	__u32 n_pd;
	__u32 n_mr;
	__u32 n_cq;
	__u32 n_qp;
	__aligned_u64 created_ns;
	struct erdma_diag_owner owner;
	struct erdma_diag_owner_more owner_more;
};

#define ERDMA_DIAG_CTX_OWN_PAGES	(1 << 0)	/* no other context has these pages */

/**
 * struct erdma_diag_cm_id - a listener on one address, or a connection
 * @id: number
 * @state: ERDMA_DIAG_CM_*
 * @qpn: its QP, 0 = none yet
 * @listener: a connection that is not accepted yet: id of the listener
 * @backlog: listener: connections at a time that are not accepted yet
 * @n_waiting: listener: how many there are
 * @flags: ERDMA_DIAG_CM_F_*
 * @family: AF_INET
 * @sport: local TCP port, host order
 * @dport: remote TCP port, host order; 0 for listeners
 * @rsvd: 0
 * @saddr: local address, network order; IPv4 in the first 4 bytes
 * @daddr: remote address; zero for listeners
 * @peer_cookie: from the peer's MPA frame, once it is there
 * @ird: reads that the peer may have in flight, as reported to the IW CM
 * @ord: reads in flight to the peer, as reported to the IW CM
 * @left_ms: time left until the connection fails in this state, 0 = unlimited
 * @created_ns: CLOCK_MONOTONIC
 * @state_ns: CLOCK_MONOTONIC of the last state change
 * @owner: creator of the QP; without one the process in whose call the listener
 *	was made
 * @owner_more: see there
 */
struct erdma_diag_cm_id {
	__u32 id;
	__u32 state;
	__u32 qpn;
	__u32 listener;
	__u32 backlog;
	__u32 n_waiting;
	__u32 flags;
	__u32 family;
	__u16 sport;
	__u16 dport;
	__u32 rsvd;
	__u8 saddr[16];
	__u8 daddr[16];
	__u32 peer_cookie;
	__u32 ird;
	__u32 ord;
	__u32 left_ms;
	__aligned_u64 created_ns;
	__aligned_u64 state_ns;
	struct erdma_diag_owner owner;
	struct erdma_diag_owner_more owner_more;
};

#define ERDMA_DIAG_CM_F_PASSIVE	(1 << 0)	/* the peer connected, else this side */

#define ERDMA_DIAG_CM_NEW		0
#define ERDMA_DIAG_CM_LISTEN		1
#define ERDMA_DIAG_CM_CONNECTING	2
#define ERDMA_DIAG_CM_WAIT_REPLY	3
#define ERDMA_DIAG_CM_WAIT_REQUEST	4
#define ERDMA_DIAG_CM_REQUESTED		5
#define ERDMA_DIAG_CM_CONNECTED		6

#define ERDMA_DIAG_CM_STATES(X) \
	X(ERDMA_DIAG_CM_NEW, "NEW", "being set up") \
	X(ERDMA_DIAG_CM_LISTEN, "LISTEN", "listening socket") \
	X(ERDMA_DIAG_CM_CONNECTING, "CONNECTING", "the TCP connection is being set up") \
	X(ERDMA_DIAG_CM_WAIT_REPLY, "WAIT-REPLY", "the request is sent, the reply expected") \
	X(ERDMA_DIAG_CM_WAIT_REQUEST, "WAIT-REQUEST", "accepted by TCP, the request expected") \
	X(ERDMA_DIAG_CM_REQUESTED, "REQUESTED", "the application has to accept or reject") \
	X(ERDMA_DIAG_CM_CONNECTED, "CONNECTED", "the QP has the connection")

/**
 * struct erdma_diag_hw - the device's own context of an object
 * @status: 0, or the errno (positive) why @data is empty
 * @syndrome: device status word of the failed query, 0 if none
 * @len: bytes valid in @data
 * @rsvd: 0
 * @data: the response of QUERY_QPC, QUERY_CQC or QUERY_EQC as the device wrote
 *	  it (little endian; docs/erdma-hardware.md, appendix A), bus addresses
 *	  zeroed without CAP_NET_ADMIN
 */
struct erdma_diag_hw {
	__u32 status;
	__u32 syndrome;
	__u32 len;
	__u32 rsvd;
	__u8 data[256];
};

/* ---- ERDMA_DIAG_INFO, scope S0 ------------------------------------------ */

#define ERDMA_DIAG_DRV_VER_LEN	32
#define ERDMA_DIAG_NAME_LEN	64
#define ERDMA_DIAG_IFNAME_LEN	16
#define ERDMA_DIAG_PCI_LEN	16

/* erdma_diag_info.abi_flags */
#define ERDMA_DIAG_ABI_HW_CONTEXT	(1 << 0)	/* the device answers context queries */
#define ERDMA_DIAG_ABI_LIST_HW		(1 << 1)	/* LIST knows ERDMA_DIAG_LIST_HW */
#define ERDMA_DIAG_ABI_LOG_OFF		(1 << 2)	/* recorders are off: LOG has old entries */

/* The interface, in INFO; the port is active if it has both */
#define ERDMA_DIAG_NETDEV_UP		(1 << 0)	/* somebody has set it up */
#define ERDMA_DIAG_NETDEV_CARRIER	(1 << 1)

/* erdma_diag_info.last_loss */
#define ERDMA_DIAG_LOSS_NONE		0
#define ERDMA_DIAG_LOSS_CMDQ_DEAD	1	/* the command queue is dead */
#define ERDMA_DIAG_LOSS_QP_STOP		2	/* a QP could not be stopped */
#define ERDMA_DIAG_LOSS_EQ_HIDDEN	3	/* an event queue cannot be read any more */
#define ERDMA_DIAG_LOSS_PCI_ERROR	4	/* PCI error */
#define ERDMA_DIAG_LOSS_PCI_RESET	5	/* reset of the PCI function */
#define ERDMA_DIAG_LOSS_SUSPEND		6	/* suspend */
#define ERDMA_DIAG_LOSS_UNPLUGGED	7	/* it has left the bus */

#define ERDMA_DIAG_LOSSES(X) \
	X(ERDMA_DIAG_LOSS_CMDQ_DEAD, "cmdq-dead") \
	X(ERDMA_DIAG_LOSS_QP_STOP, "qp-stop") \
	X(ERDMA_DIAG_LOSS_EQ_HIDDEN, "eq-hidden") \
	X(ERDMA_DIAG_LOSS_PCI_ERROR, "pci-error") \
	X(ERDMA_DIAG_LOSS_PCI_RESET, "pci-reset") \
	X(ERDMA_DIAG_LOSS_SUSPEND, "suspend") \
	X(ERDMA_DIAG_LOSS_UNPLUGGED, "unplugged")

/**
 * struct erdma_diag_info - identity, limits, use
 * @size: bytes of this structure as the caller knows it; on return the bytes
 *	  the kernel knows
 * @flags: in, 0
 * @abi_cmds: bit n: command number n exists
 * @abi_flags: ERDMA_DIAG_ABI_*
 * @abi_objs: bit n: object type n exists
 * @abi_rings: bit n: ring type n exists
 * @abi_debug_cats: number of debug categories
 * @abi_debug_levels: number of debug levels
 * @ib_index: index of the RDMA device, survives renames
 * @netdev_ifindex: paired network interface in the caller's namespace, or 0
 * @driver_version: NUL-terminated, as all strings
 * @ib_name: RDMA device name
 * @netdev: interface name
 * @pci: address, dddd:bb:dd.f
 * @pci_vendor: 0x1ded
 * @pci_device: 0x107f
 * @pci_rev: revision
 * @numa_node: -1 if none
 * @vectors: MSI-X vectors in use
 * @proto: enum erdma_proto
 * @reg_version: VERSION register
 * @reg_status: STATUS register
 * @fw_version: of QUERY_FW_INFO
 * @bar0_len: bytes
 * @mac: of the device, octet 0 first
 * @cc_default: enum erdma_cc
 * @node_guid: network order
 * @cap0: capability words as the device gave them; CAP1 without the local DMA
 *	  key unless CAP_NET_ADMIN
 * @cap1: second word
 * @max_qp: limits as reported to verbs
 * @max_cq: see @max_qp
 * @max_mr: see @max_qp
 * @max_pd: see @max_qp
 * @max_ctx: user contexts
 * @max_cqe: per CQ
 * @max_send_wr: per QP
 * @max_recv_wr: per QP
 * @max_mr_size: bytes
 * @n_qp: objects in existence
 * @n_cq: see @n_qp
 * @n_mr: see @n_qp
 * @n_pd: see @n_qp
 * @n_ctx: see @n_qp
 * @n_eq: event queues, with the AEQ and the command EQ
 * @mtu: of the interface
 * @link_up: 1 = port active
 * @time_mono_ns: CLOCK_MONOTONIC
 * @time_real_ns: CLOCK_REALTIME
 * @probed_ns: CLOCK_MONOTONIC when this device was brought up
 * @lost_ns: CLOCK_MONOTONIC of the latest loss, 0 if there was none
 * @generation: devices brought up after a loss, since the driver was bound
 * @last_loss: ERDMA_DIAG_LOSS_*: reason of the latest loss since then
 * @mtu_device: MTU that the device is known to use, 0 = not known
 * @mtu_asked: MTU of the last CONF_MTU command, 0 = there was none
 * @mtu_status: its outcome: 0 or an errno (positive)
 * @mtu_failures: such commands that failed in a row
 * @mtu_ns: CLOCK_MONOTONIC of that outcome
 * @max_send_sge: effective limits, which the driver enforces whatever the device
 *	could: scatter/gather elements of a send
 * @max_recv_sge: of a receive
 * @max_read_sge: of an RDMA READ
 * @max_inline: bytes of inline data
 * @max_ird: reads of the peer in flight, per QP
 * @max_ord: reads in flight, per QP
 * @max_frmr_pages: pages of a region for fast registration, as reported to verbs
 * @max_private_data: bytes of private data of a connection request
 * @page_sizes: bit n: regions may have pages of 2^n bytes
 * @peak_qp: most objects at a time since @probed_ns, with those that were being made
 * @peak_cq: see @peak_qp
 * @peak_mr: see @peak_qp
 * @peak_pd: see @peak_qp
 * @peak_ctx: see @peak_qp
 * @netdev_flags: ERDMA_DIAG_NETDEV_*: why the port is down; 0 from a driver that does not say
 */
struct erdma_diag_info {
	__u32 size;
	__u32 flags;
	__aligned_u64 abi_cmds;
	__aligned_u64 abi_flags;
	__aligned_u64 abi_objs;
	__aligned_u64 abi_rings;
	__u32 abi_debug_cats;
	__u32 abi_debug_levels;
	__u32 ib_index;
	__u32 netdev_ifindex;
	__u8 driver_version[ERDMA_DIAG_DRV_VER_LEN];
	__u8 ib_name[ERDMA_DIAG_NAME_LEN];
	__u8 netdev[ERDMA_DIAG_IFNAME_LEN];
	__u8 pci[ERDMA_DIAG_PCI_LEN];
	__u16 pci_vendor;
	__u16 pci_device;
	__u32 pci_rev;
	__s32 numa_node;
	__u32 vectors;
	__u32 proto;
	__u32 reg_version;
	__u32 reg_status;
	__u32 fw_version;
	__aligned_u64 bar0_len;
	__u8 mac[6];
	__u16 cc_default;
	__aligned_u64 node_guid;
	__aligned_u64 cap0;
	__aligned_u64 cap1;
	__u32 max_qp;
	__u32 max_cq;
	__u32 max_mr;
	__u32 max_pd;
	__u32 max_ctx;
	__u32 max_cqe;
	__u32 max_send_wr;
	__u32 max_recv_wr;
	__aligned_u64 max_mr_size;
	__u32 n_qp;
	__u32 n_cq;
	__u32 n_mr;
	__u32 n_pd;
	__u32 n_ctx;
	__u32 n_eq;
	__u32 mtu;
	__u32 link_up;
	__aligned_u64 time_mono_ns;
	__aligned_u64 time_real_ns;
	__aligned_u64 probed_ns;
	__aligned_u64 lost_ns;
	__u32 generation;
	__u32 last_loss;
	__u32 mtu_device;
	__u32 mtu_asked;
	__u32 mtu_status;
	__u32 mtu_failures;
	__aligned_u64 mtu_ns;
	__u32 max_send_sge;
	__u32 max_recv_sge;
	__u32 max_read_sge;
	__u32 max_inline;
	__u32 max_ird;
	__u32 max_ord;
	__u32 max_frmr_pages;
	__u32 max_private_data;
	__aligned_u64 page_sizes;
	__u32 peak_qp;
	__u32 peak_cq;
	__u32 peak_mr;
	__u32 peak_pd;
	__u32 peak_ctx;
	__u32 netdev_flags;
};

/* ---- ERDMA_DIAG_LIST, scope S1 ------------------------------------------ */

#define ERDMA_DIAG_LIST_MAX_BYTES	(256 * 1024)	/* larger buffers are not an error */

/* Also ask the device; each object of which it has a context comes with a second
 * record, ERDMA_DIAG_REC_*_HW, until the time is over
 */
#define ERDMA_DIAG_LIST_HW	(1 << 0)

#define ERDMA_DIAG_LIST_HW_MAX_MS	10000

/**
 * struct erdma_diag_list - records of many objects, by ascending id
 * @size: as in struct erdma_diag_info
 * @flags: ERDMA_DIAG_LIST_*
 * @obj: ERDMA_DIAG_OBJ_*
 * @start_id: first id wanted
 * @buf: user buffer for records
 * @buf_len: its bytes; EMSGSIZE if not even one record fits
 * @out_len: bytes filled
 * @out_count: objects listed
 * @next_id: continue here, if @more
 * @more: 1 = there are objects after the last one
 * @rsvd: 0
 * @hw_budget_ms: with ERDMA_DIAG_LIST_HW: time of this call for asking the device,
 *	1..ERDMA_DIAG_LIST_HW_MAX_MS; EINVAL otherwise. 0 without the flag, else EINVAL
 * @out_hw: records of the device; they are not among @out_count
 */
struct erdma_diag_list {
	__u32 size;
	__u32 flags;
	__u32 obj;
	__u32 start_id;
	__aligned_u64 buf;
	__u32 buf_len;
	__u32 out_len;
	__u32 out_count;
	__u32 next_id;
	__u32 more;
	__u32 rsvd;
	__u32 hw_budget_ms;
	__u32 out_hw;
};

/* ---- ERDMA_DIAG_CONTEXT, scope S1 --------------------------------------- */

/* Also ask the device; adds a record ERDMA_DIAG_REC_*_HW if it has a context */
#define ERDMA_DIAG_CONTEXT_HW	(1 << 0)

/**
 * struct erdma_diag_context - everything about one object
 * @size: as in struct erdma_diag_info
 * @flags: ERDMA_DIAG_CONTEXT_*
 * @obj: ERDMA_DIAG_OBJ_*
 * @id: its number, as said at ERDMA_DIAG_OBJ_*; ENOENT if unknown
 * @buf: user buffer for records
 * @buf_len: its bytes; EMSGSIZE with @out_len set if too small
 * @out_len: bytes filled, or needed
 * @time_ns: CLOCK_MONOTONIC
 */
struct erdma_diag_context {
	__u32 size;
	__u32 flags;
	__u32 obj;
	__u32 id;
	__aligned_u64 buf;
	__u32 buf_len;
	__u32 out_len;
	__aligned_u64 time_ns;
};

/* ---- ERDMA_DIAG_RING_READ, scope S2 ------------------------------------- */

#define ERDMA_DIAG_RING_SQ	1	/* id: QPN; entries of 32 bytes (WQEBB) */
#define ERDMA_DIAG_RING_RQ	2	/* id: QPN; 32 bytes */
#define ERDMA_DIAG_RING_CQ	3	/* id: CQN; 32 bytes */
#define ERDMA_DIAG_RING_EQ	4	/* id: ERDMA_DIAG_EQ_*; 16 bytes */
#define ERDMA_DIAG_RING_CMDQ_SQ	5	/* id: 0; 32 bytes (WQEBB) */
#define ERDMA_DIAG_RING_CMDQ_CQ	6	/* id: 0; 32 bytes */

/* out_flags */
#define ERDMA_DIAG_RING_TORN	(1 << 0)	/* indices moved while the ring was copied */
#define ERDMA_DIAG_RING_HIDDEN	(1 << 1)	/* keys and bus addresses were zeroed */
#define ERDMA_DIAG_RING_PI	(1 << 2)	/* out_pi is known */
#define ERDMA_DIAG_RING_CI	(1 << 3)	/* out_ci is known */

/**
 * struct erdma_diag_ring_read - raw entries of a ring
 * @size: as in struct erdma_diag_info
 * @flags: in, 0
 * @ring: ERDMA_DIAG_RING_*
 * @id: owner of the ring
 * @first: index of the first entry, reduced modulo the depth
 * @count: entries, 1..depth; EINVAL otherwise. 0 asks for the out_ fields only,
 *	   which needs no more than ERDMA_DIAG_CONTEXT does (S1)
 * @buf: user buffer
 * @buf_len: its bytes; EMSGSIZE with @out_entry_size set if too small
 * @out_entry_size: bytes
 * @out_count: entries copied
 * @out_depth: entries of the ring
 * @out_pi: producer index, if ERDMA_DIAG_RING_PI
 * @out_ci: consumer index, if ERDMA_DIAG_RING_CI
 * @out_flags: ERDMA_DIAG_RING_*
 * @rsvd: in, 0
 * @out_time_ns: CLOCK_MONOTONIC
 */
struct erdma_diag_ring_read {
	__u32 size;
	__u32 flags;
	__u32 ring;
	__u32 id;
	__u32 first;
	__u32 count;
	__aligned_u64 buf;
	__u32 buf_len;
	__u32 out_entry_size;
	__u32 out_count;
	__u32 out_depth;
	__u32 out_pi;
	__u32 out_ci;
	__u32 out_flags;
	__u32 rsvd;
	__aligned_u64 out_time_ns;
};

/* ---- ERDMA_DIAG_SNAPSHOT, scope S1; contents of rings: S2 ----------------- */

/* Also ask the device for its contexts, twice: hw_budget_ms */
#define ERDMA_DIAG_SNAPSHOT_HW		(1 << 0)
/* Also the rings; each in parts of at most ERDMA_DIAG_RING_PART_BYTES */
#define ERDMA_DIAG_SNAPSHOT_RINGS	(1 << 1)

#define ERDMA_DIAG_RING_PART_BYTES	32768

/**
 * struct erdma_diag_ring_part - some entries of a ring; they follow
 * @ring: ERDMA_DIAG_RING_*
 * @id: whose, as said there
 * @status: 0, or the errno (positive) why there are no entries
 * @flags: ERDMA_DIAG_RING_*
 * @entry_size: bytes
 * @depth: entries of the ring
 * @first: slot of the first entry
 * @count: entries
 * @pi: producer index before they were copied, if ERDMA_DIAG_RING_PI
 * @ci: consumer index, if ERDMA_DIAG_RING_CI
 * @time_ns: CLOCK_MONOTONIC
 */
struct erdma_diag_ring_part {
	__u32 ring;
	__u32 id;
	__u32 status;
	__u32 flags;
	__u32 entry_size;
	__u32 depth;
	__u32 first;
	__u32 count;
	__u32 pi;
	__u32 ci;
	__aligned_u64 time_ns;
};

/* What moved, or may have moved, between out_start_ns and out_end_ns */
#define ERDMA_DIAG_SNAPSHOT_TORN_QP	(1 << 0)
#define ERDMA_DIAG_SNAPSHOT_TORN_CQ	(1 << 1)
#define ERDMA_DIAG_SNAPSHOT_TORN_EQ	(1 << 2)
#define ERDMA_DIAG_SNAPSHOT_TORN_CMDQ	(1 << 3)
#define ERDMA_DIAG_SNAPSHOT_TORN_HW	(1 << 4)	/* also: it was not asked twice */

/**
 * struct erdma_diag_snapshot - an object with all that belongs to it, in one call
 * @size: as in struct erdma_diag_info
 * @flags: ERDMA_DIAG_SNAPSHOT_HW, ERDMA_DIAG_SNAPSHOT_RINGS
 * @obj: ERDMA_DIAG_OBJ_QP: a QP, its CQs, their EQs; ERDMA_DIAG_OBJ_CQ: a CQ, its EQ;
 *	 ERDMA_DIAG_OBJ_EQ: an EQ; ERDMA_DIAG_OBJ_CMDQ: the command queue, its EQ, the AEQ;
 *	 EOPNOTSUPP otherwise
 * @id: its number; ENOENT if unknown, also if it vanished meanwhile
 * @buf: user buffer for records: those of the objects, of the device's contexts, of the
 *	 rings, in this order. What belongs to the object and the caller may not see is
 *	 left out
 * @buf_len: its bytes; EMSGSIZE with @out_len set if too small
 * @out_len: bytes filled, or needed
 * @hw_budget_ms: with ERDMA_DIAG_SNAPSHOT_HW: time of this call for asking the device,
 *	1..ERDMA_DIAG_LIST_HW_MAX_MS; EINVAL otherwise. 0 without the flag, else EINVAL
 * @out_count: records filled
 * @out_torn: ERDMA_DIAG_SNAPSHOT_TORN_*: 0 = every record and every context asked for
 *	was the same before and after everything else was read
 * @rsvd: in, 0
 * @out_seq: number of this snapshot; the node counts them from 1
 * @out_start_ns: CLOCK_MONOTONIC before the first record
 * @out_end_ns: CLOCK_MONOTONIC after everything was read a second time
 */
struct erdma_diag_snapshot {
	__u32 size;
	__u32 flags;
	__u32 obj;
	__u32 id;
	__aligned_u64 buf;
	__u32 buf_len;
	__u32 out_len;
	__u32 hw_budget_ms;
	__u32 out_count;
	__u32 out_torn;
	__u32 rsvd;
	__aligned_u64 out_seq;
	__aligned_u64 out_start_ns;
	__aligned_u64 out_end_ns;
};

/* ---- ERDMA_DIAG_DEBUG, get: scope S0, set: scope S3 --------------------- */

#define ERDMA_DIAG_DEBUG_SET		(1 << 0)
#define ERDMA_DIAG_DEBUG_MAX_CATS	16

/* Categories; names in ERDMA_DIAG_DEBUG_CATS() */
#define ERDMA_DIAG_CAT_INIT	0
#define ERDMA_DIAG_CAT_CMDQ	1
#define ERDMA_DIAG_CAT_EQ	2
#define ERDMA_DIAG_CAT_CQ	3
#define ERDMA_DIAG_CAT_QP	4
#define ERDMA_DIAG_CAT_MR	5
#define ERDMA_DIAG_CAT_CM	6
#define ERDMA_DIAG_CAT_CTX	7
#define ERDMA_DIAG_CAT_DIAG	8
#define ERDMA_DIAG_CAT_COUNT	9

#define ERDMA_DIAG_DEBUG_CATS(X) \
	X(ERDMA_DIAG_CAT_INIT, "init", "probe, removal, network interface") \
	X(ERDMA_DIAG_CAT_CMDQ, "cmdq", "commands to the device") \
	X(ERDMA_DIAG_CAT_EQ, "eq", "event queues and interrupts") \
	X(ERDMA_DIAG_CAT_CQ, "cq", "completion queues") \
	X(ERDMA_DIAG_CAT_QP, "qp", "queue pairs") \
	X(ERDMA_DIAG_CAT_MR, "mr", "memory regions") \
	X(ERDMA_DIAG_CAT_CM, "cm", "connections") \
	X(ERDMA_DIAG_CAT_CTX, "ctx", "user contexts and doorbell pages") \
	X(ERDMA_DIAG_CAT_DIAG, "diag", "this interface")

/* Levels: a message of level n is printed if n <= the category's level */
#define ERDMA_DIAG_LEVEL_OFF	0
#define ERDMA_DIAG_LEVEL_ERR	1
#define ERDMA_DIAG_LEVEL_INFO	2
#define ERDMA_DIAG_LEVEL_DBG	3
#define ERDMA_DIAG_LEVEL_TRACE	4
#define ERDMA_DIAG_LEVEL_COUNT	5

#define ERDMA_DIAG_DEBUG_LEVELS(X) \
	X(ERDMA_DIAG_LEVEL_OFF, "off", "nothing") \
	X(ERDMA_DIAG_LEVEL_ERR, "err", "failures") \
	X(ERDMA_DIAG_LEVEL_INFO, "info", "life of objects and connections") \
	X(ERDMA_DIAG_LEVEL_DBG, "dbg", "each step") \
	X(ERDMA_DIAG_LEVEL_TRACE, "trace", "each event")

#define ERDMA_DIAG_DEBUG_MAX_MS	(24U * 60 * 60 * 1000)

/**
 * struct erdma_diag_debug - debug-print levels of this device
 * @size: as in struct erdma_diag_info
 * @flags: ERDMA_DIAG_DEBUG_SET: set first; needs CAP_NET_ADMIN
 * @mask: set: bit n: category n
 * @level: set: ERDMA_DIAG_LEVEL_*
 * @duration_ms: set: back to the default after this time, 0 = never,
 *		 at most ERDMA_DIAG_DEBUG_MAX_MS. These three are zero without
 *		 ERDMA_DIAG_DEBUG_SET, else EINVAL
 * @out_count: categories
 * @out_level: level of each category
 * @out_default: level each category returns to
 * @out_left_ms: time left of each category's setting, 0 = unlimited
 * @out_suppressed: messages not printed because of the rate limit
 * @out_printed: messages printed
 */
struct erdma_diag_debug {
	__u32 size;
	__u32 flags;
	__u32 mask;
	__u32 level;
	__u32 duration_ms;
	__u32 out_count;
	__u8 out_level[ERDMA_DIAG_DEBUG_MAX_CATS];
	__u8 out_default[ERDMA_DIAG_DEBUG_MAX_CATS];
	__u32 out_left_ms[ERDMA_DIAG_DEBUG_MAX_CATS];
	__aligned_u64 out_suppressed;
	__aligned_u64 out_printed;
};

/* ---- ERDMA_DIAG_RECOVER, scope S3 ---------------------------------------- */

/* The doorbell of the event queue was rung: the next event makes an interrupt */
#define ERDMA_DIAG_RECOVER_RUNG		(1 << 0)
/* The completion queue is armed, and no event came since */
#define ERDMA_DIAG_RECOVER_ARMED	(1 << 1)

/**
 * struct erdma_diag_recover - take what waits without an interrupt, deliver what got lost
 * @size: as in struct erdma_diag_info
 * @flags: in, 0
 * @obj: ERDMA_DIAG_OBJ_EQ: the entries that are there are handled as after an interrupt,
 *	at most a ring of them, and the doorbell is rung. ERDMA_DIAG_OBJ_CQ: if the CQ is
 *	armed, and has a completion, and no event comes within 20 ms, the consumer gets it
 * @id: number of the object
 * @out_flags: ERDMA_DIAG_RECOVER_*
 * @out_events: EQ: entries handled
 * @out_delivered: EQ: of these, those that an object wanted; CQ: completion events
 * @rsvd: in, 0
 */
struct erdma_diag_recover {
	__u32 size;
	__u32 flags;
	__u32 obj;
	__u32 id;
	__u32 out_flags;
	__u32 out_events;
	__u32 out_delivered;
	__u32 rsvd;
};

/* ---- ERDMA_DIAG_LOG ------------------------------------------------------ */

/* What the driver records */
#define ERDMA_DIAG_LOG_CMD		1	/* commands to the device */
#define ERDMA_DIAG_LOG_CMD_FIRST	2	/* what led to the first failures; stays */
#define ERDMA_DIAG_LOG_CMD_TIME		3	/* times of commands by opcode; a table */
#define ERDMA_DIAG_LOG_EVENT		4	/* asynchronous events */
#define ERDMA_DIAG_LOG_CM		5	/* connections, established or not */
#define ERDMA_DIAG_LOG_FAIL		6	/* last failure per verb and owner */
#define ERDMA_DIAG_LOG_KEY		7	/* deregistered memory regions */
#define ERDMA_DIAG_LOG_RESET		8	/* losses of the device and what followed */
#define ERDMA_DIAG_LOG_LINK		9	/* port and MTU */
#define ERDMA_DIAG_LOG_DEBUG		10	/* debug messages; CAP_NET_ADMIN */
#define ERDMA_DIAG_LOG_COUNT		11

#define ERDMA_DIAG_LOGS(X) \
	X(ERDMA_DIAG_LOG_CMD, "cmd", "commands to the device") \
	X(ERDMA_DIAG_LOG_CMD_FIRST, "cmd-first", "commands that led to the first failures") \
	X(ERDMA_DIAG_LOG_CMD_TIME, "cmd-time", "times of commands by opcode") \
	X(ERDMA_DIAG_LOG_EVENT, "event", "asynchronous events") \
	X(ERDMA_DIAG_LOG_CM, "cm", "connections, established or not") \
	X(ERDMA_DIAG_LOG_FAIL, "fail", "last failure per verb and owner") \
	X(ERDMA_DIAG_LOG_KEY, "key", "deregistered memory regions") \
	X(ERDMA_DIAG_LOG_RESET, "reset", "losses of the device and what followed") \
	X(ERDMA_DIAG_LOG_LINK, "link", "port and MTU") \
	X(ERDMA_DIAG_LOG_DEBUG, "debug", "debug messages")

/* Type of the records of a kind, ERDMA_DIAG_REC_* */
#define ERDMA_DIAG_REC_LOG(kind)	(32 + (kind))

/* Bit of a kind in erdma_diag_info.abi_flags */
#define ERDMA_DIAG_ABI_LOG(kind)	(1ULL << (32 + (kind)))

/**
 * struct erdma_diag_log_head - what every entry begins with
 * @seq: sequence number, counted per kind from 0; CMD_TIME: number of the row
 * @time_ns: CLOCK_MONOTONIC when it was written
 * @owner: who caused it; kernel: the driver itself or a kernel consumer. @pid is 0 and
 *	@comm empty for a process that the caller's pid namespace cannot see, and, but in
 *	the initial one, for a process that has exited
 */
struct erdma_diag_log_head {
	__aligned_u64 seq;
	__aligned_u64 time_ns;
	struct erdma_diag_owner owner;
};

/**
 * struct erdma_diag_log_cmd - entry of CMD and CMD_FIRST
 * @head: see there; CMD_FIRST counts its own entries
 * @cmd_seq: sequence number in CMD
 * @submit_ns: CLOCK_MONOTONIC when the device got it, 0 if it never did
 * @answer_ns: CLOCK_MONOTONIC when its completion was taken, 0 without one
 * @submod: enum erdma_submod
 * @opcode: opcode within @submod
 * @object: number of what it is about: QPN, CQN, MR index, EQ, MTU; else 0
 * @outcome: ERDMA_DIAG_CMD_*
 * @syndrome: status of the device, 0 if it did not refuse
 * @err: errno (positive) of the command, 0 after success
 */
struct erdma_diag_log_cmd {
	struct erdma_diag_log_head head;
	__aligned_u64 cmd_seq;
	__aligned_u64 submit_ns;
	__aligned_u64 answer_ns;
	__u32 submod;
	__u32 opcode;
	__u32 object;
	__u32 outcome;
	__u32 syndrome;
	__u32 err;
};

#define ERDMA_DIAG_CMD_NOT_SENT		0
#define ERDMA_DIAG_CMD_ANSWERED		1
#define ERDMA_DIAG_CMD_UNANSWERED	2

#define ERDMA_DIAG_LOG_BUCKETS		24

/**
 * struct erdma_diag_log_cmd_time - row of CMD_TIME: answered commands of one opcode
 * @head: its time is that of the slowest command, its owner the kernel
 * @submod: enum erdma_submod
 * @opcode: opcode within @submod
 * @count: commands
 * @failed: those among them that the device refused
 * @sum_ns: time from submission to answer, of all
 * @max_ns: of the slowest
 * @bucket: [n]: commands that took less than 2^n and at least 2^(n-1) microseconds;
 *	[0]: less than one; the last: all longer ones, too
 */
struct erdma_diag_log_cmd_time {
	struct erdma_diag_log_head head;
	__u32 submod;
	__u32 opcode;
	__aligned_u64 count;
	__aligned_u64 failed;
	__aligned_u64 sum_ns;
	__aligned_u64 max_ns;
	__u32 bucket[ERDMA_DIAG_LOG_BUCKETS];
};

/**
 * struct erdma_diag_log_event - entry of EVENT: an entry of the AEQ
 * @head: its owner is that of the object
 * @type: enum erdma_ae_type, as the device wrote it
 * @subtype: as the device wrote it
 * @object: QPN or CQN
 * @obj: ERDMA_DIAG_OBJ_QP or ERDMA_DIAG_OBJ_CQ
 * @data: as the device wrote it
 * @known: 1 = the object existed
 */
struct erdma_diag_log_event {
	struct erdma_diag_log_head head;
	__u32 type;
	__u32 subtype;
	__u32 object;
	__u32 obj;
	__u32 data;
	__u32 known;
};

/* Stages of a connection, in their order */
#define ERDMA_DIAG_CM_SETUP	0	/* address, QP, socket */
#define ERDMA_DIAG_CM_TCP	1	/* active: TCP connection */
#define ERDMA_DIAG_CM_MPA	2	/* active: reply; passive: request of the peer */
#define ERDMA_DIAG_CM_APP	3	/* passive: answer of the application */
#define ERDMA_DIAG_CM_DEVICE	4	/* the device takes over */
#define ERDMA_DIAG_CM_DONE	5	/* established */
#define ERDMA_DIAG_CM_STAGES	6

#define ERDMA_DIAG_CM_STAGE_NAMES(X) \
	X(ERDMA_DIAG_CM_SETUP, "setup") \
	X(ERDMA_DIAG_CM_TCP, "tcp") \
	X(ERDMA_DIAG_CM_MPA, "mpa") \
	X(ERDMA_DIAG_CM_APP, "application") \
	X(ERDMA_DIAG_CM_DEVICE, "device") \
	X(ERDMA_DIAG_CM_DONE, "established")

/* erdma_diag_log_cm.flags */
#define ERDMA_DIAG_CM_ACTIVE	(1 << 0)	/* this side connected, else it accepted */
#define ERDMA_DIAG_CM_REJECTED	(1 << 1)	/* the peer said no; passive: we said no */
#define ERDMA_DIAG_CM_FRAME	(1 << 2)	/* the peer's frame came: its fields are valid */
#define ERDMA_DIAG_CM_MARKERS	(1 << 3)	/* the peer wants markers */
#define ERDMA_DIAG_CM_CRC	(1 << 4)	/* the peer wants CRCs */

/**
 * struct erdma_diag_log_cm - entry of CM: end of an attempt to connect, good or bad
 * @head: owner: who connects, who accepts, or who listens before somebody accepted
 * @stage: ERDMA_DIAG_CM_*: the last one reached
 * @flags: ERDMA_DIAG_CM_*
 * @err: errno (positive), 0 if established or rejected by us
 * @qpn: 0 before a QP was named
 * @family: AF_INET, 0 = the addresses are not known
 * @sport: local TCP port, host order
 * @dport: remote TCP port, host order
 * @saddr: local address, network order; IPv4 in the first 4 bytes
 * @daddr: remote address
 * @cookie: own cookie, 0 without a QP
 * @peer_cookie: of the peer's frame
 * @peer_cc: congestion control code of the peer's frame
 * @pdata_len: bytes of private data in the peer's frame
 * @rsvd: 0
 * @stage_us: microseconds in each stage; 0 for those that were not reached
 */
struct erdma_diag_log_cm {
	struct erdma_diag_log_head head;
	__u32 stage;
	__u32 flags;
	__u32 err;
	__u32 qpn;
	__u32 family;
	__u16 sport;
	__u16 dport;
	__u8 saddr[16];
	__u8 daddr[16];
	__u32 cookie;
	__u32 peer_cookie;
	__u32 peer_cc;
	__u32 pdata_len;
	__u32 rsvd[2];
	__u32 stage_us[8];
};

/* Verbs of FAIL */
#define ERDMA_DIAG_VERBS(X) \
	X(ALLOC_CTX, 0, "alloc_ucontext") \
	X(MMAP, 1, "mmap") \
	X(ALLOC_PD, 2, "alloc_pd") \
	X(CREATE_CQ, 3, "create_cq") \
	X(DESTROY_CQ, 4, "destroy_cq") \
	X(CREATE_QP, 5, "create_qp") \
	X(MODIFY_QP, 6, "modify_qp") \
	X(DESTROY_QP, 7, "destroy_qp") \
	X(REG_MR, 8, "reg_user_mr") \
	X(DMA_MR, 9, "get_dma_mr") \
	X(ALLOC_MR, 10, "alloc_mr") \
	X(DEREG_MR, 11, "dereg_mr") \
	X(CONNECT, 12, "connect") \
	X(ACCEPT, 13, "accept") \
	X(REJECT, 14, "reject") \
	X(LISTEN, 15, "listen")

enum erdma_diag_verb {
#define ERDMA_DIAG_VERB_ENUM(id, nr, name) ERDMA_DIAG_VERB_##id = nr,
	ERDMA_DIAG_VERBS(ERDMA_DIAG_VERB_ENUM)
#undef ERDMA_DIAG_VERB_ENUM
	ERDMA_DIAG_VERB_COUNT = 16,
};

/**
 * struct erdma_diag_log_fail - entry of FAIL; a later failure of the same verb and
 *	process replaces it
 * @head: see there
 * @verb: enum erdma_diag_verb
 * @err: errno (positive) that the verb returned
 * @object: number of the object, 0 if it got none
 * @count: failures of this verb and process so far
 * @cmd: 1 = a command to the device failed with this errno; the fields below are valid
 * @submod: enum erdma_submod
 * @opcode: opcode within @submod
 * @syndrome: status of the device, 0 if it did not refuse
 */
struct erdma_diag_log_fail {
	struct erdma_diag_log_head head;
	__u32 verb;
	__u32 err;
	__u32 object;
	__u32 count;
	__u32 cmd;
	__u32 submod;
	__u32 opcode;
	__u32 syndrome;
};

/**
 * struct erdma_diag_log_key - entry of KEY: a deregistered memory region
 * @head: owner: who deregistered it
 * @stag: the newest key; CAP_NET_ADMIN, else 0
 * @index: MR index
 * @pdn: PD number
 * @type: enum erdma_mr_type
 * @err: errno (positive) of the command; the device may still know the region
 * @rsvd: 0
 */
struct erdma_diag_log_key {
	struct erdma_diag_log_head head;
	__u32 stag;
	__u32 index;
	__u32 pdn;
	__u32 type;
	__u32 err;
	__u32 rsvd;
};

#define ERDMA_DIAG_RESET_PROBED		0	/* the driver has the adapter, the device is up */
#define ERDMA_DIAG_RESET_LOST		1	/* the device is lost, for @reason */
#define ERDMA_DIAG_RESET_RECOVERED	2	/* a fresh device is up */
#define ERDMA_DIAG_RESET_FAILED		3	/* it did not come up: @err; tried again */
#define ERDMA_DIAG_RESET_GAVE_UP	4	/* too many tries, or it has left the bus */

#define ERDMA_DIAG_RESET_EVENTS(X) \
	X(ERDMA_DIAG_RESET_PROBED, "probed") \
	X(ERDMA_DIAG_RESET_LOST, "lost") \
	X(ERDMA_DIAG_RESET_RECOVERED, "recovered") \
	X(ERDMA_DIAG_RESET_FAILED, "failed") \
	X(ERDMA_DIAG_RESET_GAVE_UP, "gave-up")

#define ERDMA_DIAG_LOG_REASON_LEN	48

/**
 * struct erdma_diag_log_reset - entry of RESET
 * @head: its owner is the kernel
 * @event: ERDMA_DIAG_RESET_*
 * @generation: devices that were recovered before
 * @err: errno (positive) of FAILED
 * @rsvd: 0
 * @reason: of the latest loss, in words, NUL-terminated
 */
struct erdma_diag_log_reset {
	struct erdma_diag_log_head head;
	__u32 event;
	__u32 generation;
	__u32 err;
	__u32 rsvd;
	__u8 reason[ERDMA_DIAG_LOG_REASON_LEN];
};

#define ERDMA_DIAG_LINK_DOWN		0
#define ERDMA_DIAG_LINK_UP		1
#define ERDMA_DIAG_LINK_MTU		2	/* the device has the MTU, or @err */
#define ERDMA_DIAG_LINK_GONE		3	/* the network interface goes away */

#define ERDMA_DIAG_LINK_EVENTS(X) \
	X(ERDMA_DIAG_LINK_DOWN, "down") \
	X(ERDMA_DIAG_LINK_UP, "up") \
	X(ERDMA_DIAG_LINK_MTU, "mtu") \
	X(ERDMA_DIAG_LINK_GONE, "gone")

/**
 * struct erdma_diag_log_link - entry of LINK
 * @head: its owner is the kernel
 * @event: ERDMA_DIAG_LINK_*
 * @mtu: of the network interface
 * @err: errno (positive) of the command of MTU
 * @rsvd: 0
 */
struct erdma_diag_log_link {
	struct erdma_diag_log_head head;
	__u32 event;
	__u32 mtu;
	__u32 err;
	__u32 rsvd;
};

#define ERDMA_DIAG_LOG_TEXT_LEN	120

/**
 * struct erdma_diag_log_debug - entry of DEBUG
 * @head: see there
 * @category: ERDMA_DIAG_CAT_*
 * @level: ERDMA_DIAG_LEVEL_*
 * @text: message, NUL-terminated, cut if it is longer
 */
struct erdma_diag_log_debug {
	struct erdma_diag_log_head head;
	__u32 category;
	__u32 level;
	__u8 text[ERDMA_DIAG_LOG_TEXT_LEN];
};

/* Start behind the newest entry: nothing is returned, @out_next is where to go on */
#define ERDMA_DIAG_LOG_END	(~0ULL)

/**
 * struct erdma_diag_log - entries of one kind, oldest first
 * @size: as in struct erdma_diag_info
 * @flags: in, 0
 * @kind: ERDMA_DIAG_LOG_*
 * @buf_len: bytes of @buf; EMSGSIZE with @out_len set if not even one record fits
 * @seq: first sequence number wanted: 0 = the oldest there is, @out_next of the call
 *	before = go on, ERDMA_DIAG_LOG_END; EINVAL if it is greater than the next one
 *	that will be given
 * @buf: user buffer for records
 * @out_next: continue here
 * @out_lost: entries from @seq until @out_next that are not there any more, whosever
 *	they were
 * @out_len: bytes filled, at most ERDMA_DIAG_LIST_MAX_BYTES
 * @out_count: records filled
 * @out_more: 1 = the buffer is full and there may be more
 * @rsvd: in, 0
 */
struct erdma_diag_log {
	__u32 size;
	__u32 flags;
	__u32 kind;
	__u32 buf_len;
	__aligned_u64 seq;
	__aligned_u64 buf;
	__aligned_u64 out_next;
	__aligned_u64 out_lost;
	__u32 out_len;
	__u32 out_count;
	__u32 out_more;
	__u32 rsvd;
};

#endif /* ERDMA_DIAG_H */
