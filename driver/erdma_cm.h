/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What the files of the connection manager share: erdma_cm.c (operations of the
 * IW CM), erdma_cep.c (life of an endpoint), erdma_listen.c (listeners).
 * States, references and locks: docs/connections.md.
 */
#ifndef ERDMA_CM_H
#define ERDMA_CM_H

#include <linux/net.h>
#include <net/sock.h>

#include "erdma.h"

#define ERDMA_CM_ACCEPT_MS	60000	/* the application answers a request */

/**
 * enum erdma_cep_state - life of an endpoint; erdma_cep_set_state() knows what
 *	may follow what
 * @ERDMA_CEP_NEW: being set up
 * @ERDMA_CEP_LISTEN: listening socket
 * @ERDMA_CEP_CONNECTING: active, TCP connection is under way
 * @ERDMA_CEP_WAIT_REPLY: active, MPA request sent
 * @ERDMA_CEP_WAIT_REQUEST: passive, MPA request expected
 * @ERDMA_CEP_REQUESTED: passive, application was asked
 * @ERDMA_CEP_CONNECTED: the QP is RTS, the socket idle
 * @ERDMA_CEP_CLOSED: owns nothing any more
 */
enum erdma_cep_state {
	ERDMA_CEP_NEW = 0,
	ERDMA_CEP_LISTEN,
	ERDMA_CEP_CONNECTING,
	ERDMA_CEP_WAIT_REPLY,
	ERDMA_CEP_WAIT_REQUEST,
	ERDMA_CEP_REQUESTED,
	ERDMA_CEP_CONNECTED,
	ERDMA_CEP_CLOSED,
	ERDMA_CEP_STATE_COUNT,
};

/**
 * struct erdma_cep - a connection endpoint: one kernel TCP socket and what it
 *	is for
 * @refs: the endpoint itself until CLOSED, its queued work, its armed timer,
 *	children of a listening endpoint, and everybody who looked it up
 * @dev: device
 * @lock: protects what has no other lock here. Taken before qp->state_lock and
 *	dev->cep_lock. Two at once only: a listening endpoint, then a new child
 * @state: written under @lock
 * @dev_node: in dev->ceps until freed, under dev->cep_lock
 * @sock: NULL once CLOSED
 * @saved_data_ready: callback of the socket before it was ours
 * @saved_state_change: ditto
 * @work: something happened on the socket
 * @timer: limit of the state
 * @timed: @timer counts
 * @deadline: jiffies, when @timed
 * @cm_id: of the IW CM, with a reference; of a listening endpoint written under
 *	dev->cep_lock, too
 * @qp: attached QP, with a reference; qp->cep points back, under dev->cep_lock
 * @id: number by which the IW CM names a requested connection, 0 = none
 * @parent: listening endpoint, with a reference, while its backlog counts this
 *	one; under dev->cep_lock
 * @sibling: in @parent's @children, under dev->cep_lock
 * @children: LISTEN: connections not accepted by the application yet, under
 *	dev->cep_lock
 * @n_children: their number, ditto
 * @backlog: LISTEN: limit of @n_children
 * @addr: LISTEN: address it is bound to
 * @listen_node: LISTEN: in erdma_listen.socks, under the mutex of the listeners
 * @ird: reported to the IW CM
 * @ord: ditto
 * @peer: the peer's frame; REQUESTED and later
 * @len: bytes in @frame
 * @frame: CONNECTING: request to send; later: what was received
 */
struct erdma_cep {
	struct kref refs;
	struct erdma_dev *dev;
	struct mutex lock;	/* see above */
	enum erdma_cep_state state;
	struct list_head dev_node;
	struct socket *sock;
	void (*saved_data_ready)(struct sock *sk);
	void (*saved_state_change)(struct sock *sk);
	struct work_struct work;
	struct delayed_work timer;
	bool timed;
	unsigned long deadline;
	struct iw_cm_id *cm_id;
	struct erdma_qp *qp;
	u32 id;
	struct erdma_cep *parent;
	struct list_head sibling;
	struct list_head children;
	u32 n_children;
	u32 backlog;
	__be32 addr;
	struct list_head listen_node;
	u8 ird;
	u8 ord;
	struct erdma_mpa_info peer;
	u16 len;
	u8 frame[ERDMA_MPA_FIXED_SIZE + ERDMA_MPA_MAX_PDATA + 1] __aligned(4);
};

/* ---- erdma_cep.c: life of an endpoint ------------------------------------ */

int erdma_cep_init(void);
void erdma_cep_exit(void);
struct erdma_cep *erdma_cep_alloc(struct erdma_dev *dev);
void erdma_cep_put(struct erdma_cep *cep);
struct erdma_cep *erdma_cep_by_qp(struct erdma_qp *qp, bool last);
struct erdma_cep *erdma_cep_by_id(struct erdma_dev *dev, u32 id);
struct erdma_cep *erdma_cep_next_live(struct erdma_dev *dev);
void erdma_cep_set_state(struct erdma_cep *cep, enum erdma_cep_state to);
const char *erdma_cep_state_name(enum erdma_cep_state state);
void erdma_cep_queue(struct erdma_cep *cep);
void erdma_cep_limit(struct erdma_cep *cep, unsigned int ms);
void erdma_cep_unlimit(struct erdma_cep *cep);
int erdma_cep_new_sock(struct erdma_cep *cep, const struct sockaddr_in *local, int tos);
void erdma_cep_adopt_sock(struct erdma_cep *cep, struct socket *sock,
			  const struct erdma_cep *listening);
void erdma_cep_discard_sock(struct socket *sock, const struct erdma_cep *from);
int erdma_cep_publish(struct erdma_cep *cep);
int erdma_cep_attach_qp(struct erdma_cep *cep, struct erdma_qp *qp);
void erdma_cep_leave_parent(struct erdma_cep *cep);
void erdma_cep_close(struct erdma_cep *cep);

/* ---- erdma_cm.c: what an endpoint does when its socket or timer says so ---- */

void erdma_cm_connecting(struct erdma_cep *cep);
void erdma_cm_wait_reply(struct erdma_cep *cep);
void erdma_cm_wait_request(struct erdma_cep *cep);
void erdma_cm_requested(struct erdma_cep *cep);
void erdma_cm_connected(struct erdma_cep *cep);
void erdma_cm_fail(struct erdma_cep *cep, int err);

/* ---- erdma_listen.c: listeners -------------------------------------------- */

int erdma_listen_init(void);
void erdma_listen_exit(void);
void erdma_listen_ready(struct erdma_cep *cep);

#endif /* ERDMA_CM_H */
