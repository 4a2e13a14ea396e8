/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What the files of the connection manager share: erdma_cm.c (operations of the
 * IW CM), erdma_cm_frame.c (the exchange), erdma_cm_access.c (who may), erdma_ep.c
 * (life of an endpoint), erdma_listen.c (listeners).
 * States, references and locks: docs/connections.md.
 */
#ifndef ERDMA_CM_H
#define ERDMA_CM_H

#include <linux/net.h>
#include <net/sock.h>

#include "erdma.h"

#define ERDMA_CM_ACCEPT_MS	60000	/* the application answers a request */

/**
 * enum erdma_ep_state - life of an endpoint; erdma_ep_set_state() knows what
 *	may follow what
 * @ERDMA_EP_NEW: being set up
 * @ERDMA_EP_LISTEN: listening socket
 * @ERDMA_EP_CONNECTING: active, TCP connection is under way
 * @ERDMA_EP_WAIT_REPLY: active, MPA request sent
 * @ERDMA_EP_WAIT_REQUEST: passive, MPA request expected
 * @ERDMA_EP_REQUESTED: passive, application was asked
 * @ERDMA_EP_CONNECTED: the QP is RTS, the socket idle
 * @ERDMA_EP_CLOSED: owns nothing any more
 * @ERDMA_EP_STATE_COUNT: number of states
 */
enum erdma_ep_state {
	ERDMA_EP_NEW = 0,
	ERDMA_EP_LISTEN,
	ERDMA_EP_CONNECTING,
	ERDMA_EP_WAIT_REPLY,
	ERDMA_EP_WAIT_REQUEST,
	ERDMA_EP_REQUESTED,
	ERDMA_EP_CONNECTED,
	ERDMA_EP_CLOSED,
	ERDMA_EP_STATE_COUNT,
};

/**
 * struct erdma_ep_log - what the recorder will say of a connection (erdma_rec_cm.c)
 * @owner: who connects, listens or accepts
 * @entered_ns: when @stage began; 0 = not a connection
 * @stage: ERDMA_DIAG_CM_*
 * @stage_us: microseconds in each stage
 * @qpn: as the application named it
 * @active: this side connects
 * @frame: the peer's frame came
 * @done: recorded
 * @saddr: local address, 0 = not known, as all of these
 * @daddr: remote address
 * @sport: local port
 * @dport: remote port
 */
struct erdma_ep_log {
	struct erdma_rec_owner owner;
	u64 entered_ns;
	u32 stage;
	u32 stage_us[ERDMA_DIAG_CM_STAGES];
	u32 qpn;
	bool active;
	bool frame;
	bool done;
	__be32 saddr;
	__be32 daddr;
	__be16 sport;
	__be16 dport;
};

/**
 * struct erdma_ep - a connection endpoint: one kernel TCP socket and what it
 *	is for
 * @refs: the endpoint itself until CLOSED, its queued work, its armed timer,
 *	children of a listening endpoint, and everybody who looked it up
 * @dev: device
 * @lock: protects what has no other lock here. Taken before qp->state_lock and
 *	dev->ep_lock. Two at once only: a listening endpoint, then a new child
 * @state: written under @lock
 * @num: number in dev->eps, for those who look, and by which the IW CM names a
 *	requested connection
 * @dev_node: in dev->endpoints until freed, under dev->ep_lock
 * @sock: NULL once CLOSED
 * @saved_data_ready: callback of the socket before it was ours
 * @saved_state_change: ditto
 * @setup_work: something happened on the socket while the connection is set up
 * @work: the same, later
 * @timer: limit of the state
 * @timed: @timer counts
 * @deadline: jiffies, when @timed
 * @expires: jiffies for which @timer is armed, when @timed; at most @deadline
 * @asked: process in whose call the listener was made, with a reference, and of the
 *	connections it brings; NULL: the kernel's, or not known
 * @asked_kernel: the kernel's
 * @passive: accepted from a listener
 * @sip: local address, set once
 * @dip: remote address, ditto
 * @sport: local port, ditto
 * @dport: remote port, ditto
 * @created_ns: ktime_get_coarse_ns()
 * @state_ns: CLOCK_MONOTONIC of the last change of @state
 * @cm_id: of the IW CM, with a reference; of a listening endpoint written under
 *	dev->ep_lock, too
 * @qp: attached QP, with a reference, written under dev->ep_lock, too; qp->ep points
 *	back, under dev->ep_lock
 * @parent: listening endpoint, with a reference, while its backlog counts this
 *	one; under dev->ep_lock
 * @sibling: in @parent's @children, under dev->ep_lock
 * @children: LISTEN: connections not accepted by the application yet, under
 *	dev->ep_lock
 * @n_children: their number, ditto
 * @backlog: LISTEN: limit of @n_children
 * @addr: LISTEN: address it is bound to
 * @listen_node: LISTEN: in erdma_listen.socks, under the mutex of the listeners
 * @ird: reported to the IW CM
 * @ord: ditto
 * @log: for the recorder; of a listening endpoint only the owner
 * @peer: the peer's frame; REQUESTED and later
 * @len: bytes in @frame
 * @frame: CONNECTING: request to send; later: what was received
 */
struct erdma_ep {
	struct kref refs;
	struct erdma_dev *dev;
	struct mutex lock;	/* see above */
	enum erdma_ep_state state;
	u32 num;
	struct list_head dev_node;
	struct socket *sock;
	void (*saved_data_ready)(struct sock *sk);
	void (*saved_state_change)(struct sock *sk);
	struct work_struct setup_work;
	struct work_struct work;
	struct delayed_work timer;
	bool timed;
	unsigned long deadline;
	unsigned long expires;
	struct task_struct *asked;
	bool asked_kernel;
	bool passive;
	__be32 sip;
	__be32 dip;
	__be16 sport;
	__be16 dport;
	u64 created_ns;
	u64 state_ns;
	struct iw_cm_id *cm_id;
	struct erdma_qp *qp;
	struct erdma_ep *parent;
	struct list_head sibling;
	struct list_head children;
	u32 n_children;
	u32 backlog;
	__be32 addr;
	struct list_head listen_node;
	u8 ird;
	u8 ord;
	struct erdma_ep_log log;
	struct erdma_mpa_info peer;
	u16 len;
	u8 frame[ERDMA_MPA_FIXED_SIZE + ERDMA_MPA_MAX_PDATA + 1] __aligned(4);
};

/* ---- erdma_ep.c: life of an endpoint ------------------------------------ */

int erdma_ep_module_init(void);
void erdma_ep_module_exit(void);
struct erdma_ep *erdma_ep_alloc(struct erdma_dev *dev);
void erdma_ep_put(struct erdma_ep *ep);
struct erdma_ep *erdma_ep_by_qp(struct erdma_qp *qp, bool last);
struct erdma_ep *erdma_ep_next_live(struct erdma_dev *dev);
struct erdma_ep *erdma_ep_get(struct erdma_dev *dev, u32 num);
bool erdma_ep_next(struct erdma_dev *dev, u32 *num);
void erdma_ep_set_asked(struct erdma_ep *ep, struct task_struct *asked, bool kernel);
void erdma_ep_set_state(struct erdma_ep *ep, enum erdma_ep_state to);
const char *erdma_ep_state_name(enum erdma_ep_state state);
void erdma_ep_queue(struct erdma_ep *ep);
void erdma_ep_queue_missed(struct erdma_ep *ep);
void erdma_ep_set_deadline(struct erdma_ep *ep, unsigned int ms);
void erdma_ep_clear_deadline(struct erdma_ep *ep);
int erdma_ep_new_sock(struct erdma_ep *ep, const struct sockaddr_in *local, int tos);
void erdma_ep_adopt_sock(struct erdma_ep *ep, struct socket *sock,
			 const struct erdma_ep *listening);
void erdma_ep_discard_sock(struct socket *sock, const struct erdma_ep *from);
int erdma_ep_attach_qp(struct erdma_ep *ep, struct erdma_qp *qp);
void erdma_ep_detach_qp(struct erdma_ep *ep);
void erdma_ep_leave_parent(struct erdma_ep *ep);
void erdma_ep_close(struct erdma_ep *ep);

/* ---- erdma_cm.c: what an endpoint does when its socket or timer says so ---- */

void erdma_cm_handle_connecting(struct erdma_ep *ep);
void erdma_cm_handle_wait_reply(struct erdma_ep *ep);
void erdma_cm_handle_wait_request(struct erdma_ep *ep);
void erdma_cm_handle_requested(struct erdma_ep *ep);
void erdma_cm_handle_connected(struct erdma_ep *ep);
void erdma_cm_fail(struct erdma_ep *ep, int err);

/* ---- erdma_cm_frame.c: the exchange on the socket -------------------------- */

int erdma_cm_send(struct erdma_ep *ep, void *head, size_t head_len, const void *pdata,
		  size_t pdata_len);
int erdma_cm_receive(struct erdma_ep *ep, bool reply);
int erdma_cm_send_reject(struct erdma_ep *ep, const void *pdata, u8 len);
int erdma_cm_snapshot(struct erdma_ep *ep, struct erdma_conn *conn);

/* ---- erdma_cm_access.c: who may -------------------------------------------- */

bool erdma_cm_same_net(const struct erdma_dev *dev, const struct iw_cm_id *id);
int erdma_cm_ask_security(const struct erdma_dev *dev);
bool erdma_qp_is_owned(const struct erdma_qp *qp, const struct ib_qp *of_id);
bool erdma_cm_owns_qp(const struct iw_cm_id *id, const struct erdma_qp *qp);

/* ---- erdma_rec_cm.c: recorder of connections --------------------------------- */

void erdma_rec_cm_begin(struct erdma_ep *ep, bool active, const struct erdma_rec_owner *owner);
void erdma_rec_cm_active(struct erdma_ep *ep, const struct iw_cm_id *id, u32 qpn);
void erdma_rec_cm_passive(struct erdma_ep *ep, const struct erdma_rec_owner *owner);
void erdma_rec_cm_accept(struct erdma_ep *ep, u32 qpn);
void erdma_rec_cm_stage(struct erdma_ep *ep, u32 stage);
void erdma_rec_cm(struct erdma_ep *ep, int err, bool rejected);

/* ---- erdma_listen.c: listeners -------------------------------------------- */

int erdma_listen_module_init(void);
void erdma_listen_module_exit(void);
void erdma_listen_accept(struct erdma_ep *ep);

#endif /* ERDMA_CM_H */
