// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Connection endpoints: references, states, socket callbacks, work, timer.
 *
 * A live endpoint (not CLOSED) holds one reference to itself. Whoever points to
 * it without a reference of his own (sk_user_data, qp->cep, the table of ids,
 * the children of a listener) relies on that one; erdma_cep_close() cuts all
 * these pointers, under their locks, before it drops it.
 *
 * What happens on a socket or when a time is up is handled by work that holds a
 * reference and takes the endpoint's lock; see docs/connections.md.
 */
#include <linux/in.h>
#include <linux/tcp.h>
#include <net/ip.h>
#include <net/tcp.h>

#include "erdma_cm.h"

static struct workqueue_struct *cep_wq;

/* Requested connections by the number that the IW CM has for them */
static DEFINE_XARRAY_ALLOC1(cep_ids);
static u32 cep_next_id;

static const char * const cep_state_names[] = {
	[ERDMA_CEP_NEW] = "new",
	[ERDMA_CEP_LISTEN] = "listening",
	[ERDMA_CEP_CONNECTING] = "connecting",
	[ERDMA_CEP_WAIT_REPLY] = "waiting for the reply",
	[ERDMA_CEP_WAIT_REQUEST] = "waiting for the request",
	[ERDMA_CEP_REQUESTED] = "waiting for the application",
	[ERDMA_CEP_CONNECTED] = "connected",
	[ERDMA_CEP_CLOSED] = "closed",
};

static_assert(ARRAY_SIZE(cep_state_names) == ERDMA_CEP_STATE_COUNT);

static const u16 cep_successors[ERDMA_CEP_STATE_COUNT] = {
	[ERDMA_CEP_NEW] = BIT(ERDMA_CEP_LISTEN) | BIT(ERDMA_CEP_CONNECTING) |
			  BIT(ERDMA_CEP_WAIT_REQUEST) | BIT(ERDMA_CEP_CLOSED),
	[ERDMA_CEP_LISTEN] = BIT(ERDMA_CEP_CLOSED),
	[ERDMA_CEP_CONNECTING] = BIT(ERDMA_CEP_WAIT_REPLY) | BIT(ERDMA_CEP_CLOSED),
	[ERDMA_CEP_WAIT_REPLY] = BIT(ERDMA_CEP_CONNECTED) | BIT(ERDMA_CEP_CLOSED),
	[ERDMA_CEP_WAIT_REQUEST] = BIT(ERDMA_CEP_REQUESTED) | BIT(ERDMA_CEP_CLOSED),
	[ERDMA_CEP_REQUESTED] = BIT(ERDMA_CEP_CONNECTED) | BIT(ERDMA_CEP_CLOSED),
	[ERDMA_CEP_CONNECTED] = BIT(ERDMA_CEP_CLOSED),
};

/* What work does by state; states without an entry have nothing to do */
static void (* const cep_ready[ERDMA_CEP_STATE_COUNT])(struct erdma_cep *cep) = {
	[ERDMA_CEP_LISTEN] = erdma_listen_ready,
	[ERDMA_CEP_CONNECTING] = erdma_cm_connecting,
	[ERDMA_CEP_WAIT_REPLY] = erdma_cm_wait_reply,
	[ERDMA_CEP_WAIT_REQUEST] = erdma_cm_wait_request,
	[ERDMA_CEP_REQUESTED] = erdma_cm_requested,
	[ERDMA_CEP_CONNECTED] = erdma_cm_connected,
};

static void cep_free(struct kref *refs)
{
	struct erdma_cep *cep = container_of(refs, struct erdma_cep, refs);
	struct erdma_dev *dev = cep->dev;

	WARN_ON_ONCE(cep->state != ERDMA_CEP_CLOSED);

	/* The device may go as soon as the lock is free: nothing of it behind that */
	spin_lock(&dev->cep_lock);
	list_del(&cep->dev_node);
	if (list_empty(&dev->ceps))
		wake_up_all(&dev->cep_wait);
	spin_unlock(&dev->cep_lock);

	mutex_destroy(&cep->lock);
	kfree(cep);
}

/**
 * erdma_cep_put - drop a reference
 * @cep: endpoint
 *
 * Context: process; without dev->cep_lock. Any context if another reference is
 * known to exist.
 */
void erdma_cep_put(struct erdma_cep *cep)
{
	kref_put(&cep->refs, cep_free);
}

/**
 * erdma_cep_set_state - the only place that changes an endpoint's state
 * @cep: endpoint, locked
 * @to: new state
 */
void erdma_cep_set_state(struct erdma_cep *cep, enum erdma_cep_state to)
{
	lockdep_assert_held(&cep->lock);

	WARN_ONCE(!(cep_successors[cep->state] & BIT(to)),
		  "erdma: endpoint goes from \"%s\" to \"%s\"\n",
		  cep_state_names[cep->state], cep_state_names[to]);
	erdma_dbg(cep->dev, CM, DBG, "endpoint %p: %s -> %s\n", cep,
		  cep_state_names[cep->state], cep_state_names[to]);
	WRITE_ONCE(cep->state, to);
}

/**
 * erdma_cep_state_name - a state in words
 * @state: state
 *
 * Context: any.
 * Return: static string.
 */
const char *erdma_cep_state_name(enum erdma_cep_state state)
{
	return cep_state_names[state];
}

/* ---- work and timer ------------------------------------------------------- */

static void cep_work(struct work_struct *work)
{
	struct erdma_cep *cep = container_of(work, struct erdma_cep, work);

	mutex_lock(&cep->lock);
	if (cep_ready[cep->state])
		cep_ready[cep->state](cep);
	mutex_unlock(&cep->lock);
	erdma_cep_put(cep);
}

/**
 * erdma_cep_queue - have the socket of an endpoint looked at
 * @cep: endpoint; the caller knows that a reference exists
 *
 * Context: any.
 */
void erdma_cep_queue(struct erdma_cep *cep)
{
	kref_get(&cep->refs);
	if (!queue_work(cep_wq, &cep->work))
		erdma_cep_put(cep);	/* pending work has its own: not the last */
}

static void cep_timeout(struct work_struct *work)
{
	struct erdma_cep *cep = container_of(to_delayed_work(work), struct erdma_cep, timer);

	mutex_lock(&cep->lock);
	if (cep->timed && time_after_eq(jiffies, cep->deadline)) {
		cep->timed = false;
		if (cep->state == ERDMA_CEP_LISTEN)
			erdma_listen_ready(cep);
		else
			erdma_cm_fail(cep, -ETIMEDOUT);
	}
	mutex_unlock(&cep->lock);
	erdma_cep_put(cep);
}

/**
 * erdma_cep_limit - the state must be left within a time, else -ETIMEDOUT;
 *	a listening endpoint tries again to accept
 * @cep: endpoint, locked
 * @ms: limit; replaces the previous one
 *
 * Context: process.
 */
void erdma_cep_limit(struct erdma_cep *cep, unsigned int ms)
{
	unsigned long delay = msecs_to_jiffies(ms);

	lockdep_assert_held(&cep->lock);

	cep->timed = true;
	cep->deadline = jiffies + delay;
	kref_get(&cep->refs);
	if (mod_delayed_work(cep_wq, &cep->timer, delay))
		erdma_cep_put(cep);	/* was armed, with a reference */
}

/**
 * erdma_cep_unlimit - the state may last
 * @cep: endpoint, locked
 *
 * Context: process. Does not wait for a timer that just ran out; that one sees
 * erdma_cep.timed and does nothing.
 */
void erdma_cep_unlimit(struct erdma_cep *cep)
{
	lockdep_assert_held(&cep->lock);

	cep->timed = false;
	if (cancel_delayed_work(&cep->timer))
		erdma_cep_put(cep);
}

/* ---- socket --------------------------------------------------------------- */

/*
 * Both callbacks. They run in softirq or under the socket's lock: only work is
 * queued here. sk_user_data is not copied to the children of a listening socket
 * (which do get the callback), so it is NULL until they are adopted.
 */
static void cep_sk_event(struct sock *sk)
{
	struct erdma_cep *cep;

	read_lock_bh(&sk->sk_callback_lock);
	cep = __locked_read_sk_user_data_with_flags(sk, SK_USER_DATA_NOCOPY);
	if (cep)
		erdma_cep_queue(cep);
	read_unlock_bh(&sk->sk_callback_lock);
}

/**
 * erdma_cep_adopt_sock - make a socket the endpoint's
 * @cep: endpoint, locked; owns @sock from now on
 * @sock: TCP socket
 * @listening: endpoint whose listening socket produced @sock, else NULL. @sock
 *	inherited our callbacks; the original ones are those of @listening
 *
 * What happened on the socket before is not noticed: erdma_cep_queue().
 *
 * Context: process.
 */
void erdma_cep_adopt_sock(struct erdma_cep *cep, struct socket *sock,
			  const struct erdma_cep *listening)
{
	struct sock *sk = sock->sk;

	cep->sock = sock;
	write_lock_bh(&sk->sk_callback_lock);
	cep->saved_data_ready = listening ? listening->saved_data_ready : sk->sk_data_ready;
	cep->saved_state_change = listening ? listening->saved_state_change :
					      sk->sk_state_change;
	sk->sk_data_ready = cep_sk_event;
	sk->sk_state_change = cep_sk_event;
	__rcu_assign_sk_user_data_with_flags(sk, cep, SK_USER_DATA_NOCOPY);
	write_unlock_bh(&sk->sk_callback_lock);
}

/**
 * erdma_cep_new_sock - give the endpoint a socket bound to a local address
 * @cep: endpoint, locked
 * @local: address and port of the local end
 * @tos: type of service, negative for the default
 *
 * The socket is not bound to an interface: packets between two addresses of this
 * host travel through lo.
 *
 * Context: process.
 * Return: 0 or -errno, e.g. -EADDRINUSE; then the endpoint has no socket.
 */
int erdma_cep_new_sock(struct erdma_cep *cep, const struct sockaddr_in *local, int tos)
{
	struct sockaddr_in addr = *local;
	struct socket *sock;
	int err;

	err = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (err)
		return err;

	sock_set_reuseaddr(sock->sk);	/* the port may be in TIME_WAIT */
	tcp_sock_set_nodelay(sock->sk);
	if (tos >= 0)
		ip_sock_set_tos(sock->sk, tos);

	err = kernel_bind(sock, (struct sockaddr *)&addr, sizeof(addr));
	if (err) {
		sock_release(sock);
		return err;
	}
	erdma_cep_adopt_sock(cep, sock, NULL);
	return 0;
}

/**
 * erdma_cep_discard_sock - close a socket without our callbacks
 * @sock: TCP socket
 * @from: endpoint that has the original callbacks: its own, or the listening one
 *
 * The sock may outlive the socket (FIN_WAIT) and this module.
 *
 * Context: process.
 */
void erdma_cep_discard_sock(struct socket *sock, const struct erdma_cep *from)
{
	struct sock *sk = sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_data_ready = from->saved_data_ready;
	sk->sk_state_change = from->saved_state_change;
	rcu_assign_sk_user_data(sk, NULL);
	write_unlock_bh(&sk->sk_callback_lock);
	sock_release(sock);
}

/* ---- ties to other objects ------------------------------------------------ */

/**
 * erdma_cep_publish - give a requested connection a number
 * @cep: endpoint, locked
 *
 * The IW CM keeps the number, not a pointer: it forgets requests when a listener
 * goes or memory is short, and endpoints vanish when the peer does.
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int erdma_cep_publish(struct erdma_cep *cep)
{
	int err;

	lockdep_assert_held(&cep->lock);

	err = xa_alloc_cyclic(&cep_ids, &cep->id, cep, xa_limit_32b, &cep_next_id,
			      GFP_KERNEL);
	return min(err, 0);	/* 1: wrapped */
}

static void cep_unpublish(struct erdma_cep *cep)
{
	if (cep->id)
		xa_erase(&cep_ids, cep->id);
	cep->id = 0;
}

/**
 * erdma_cep_by_id - find a requested connection
 * @dev: device
 * @id: number given by erdma_cep_publish()
 *
 * Context: process.
 * Return: endpoint with a reference, not locked; NULL if it is gone.
 */
struct erdma_cep *erdma_cep_by_id(struct erdma_dev *dev, u32 id)
{
	struct erdma_cep *cep;

	xa_lock(&cep_ids);
	cep = xa_load(&cep_ids, id);
	if (cep && cep->dev == dev)
		kref_get(&cep->refs);
	else
		cep = NULL;
	xa_unlock(&cep_ids);
	return cep;
}

/* In qp->cep of a QP that gets no connection any more */
#define CEP_REFUSED	ERR_PTR(-ESHUTDOWN)

/**
 * erdma_cep_by_qp - find the connection of a QP
 * @qp: QP, held by the caller
 * @last: the QP is being destroyed: it gets no other connection
 *
 * Context: process.
 * Return: endpoint with a reference, not locked; NULL without one.
 */
struct erdma_cep *erdma_cep_by_qp(struct erdma_qp *qp, bool last)
{
	struct erdma_cep *cep;

	spin_lock(&qp->dev->cep_lock);
	cep = IS_ERR(qp->cep) ? NULL : qp->cep;
	if (cep)
		kref_get(&cep->refs);
	if (last)
		qp->cep = CEP_REFUSED;
	spin_unlock(&qp->dev->cep_lock);
	return cep;
}

/**
 * erdma_cep_attach_qp - tie a QP to the endpoint
 * @cep: endpoint, locked
 * @qp: QP; the caller's reference goes to the endpoint on success
 *
 * Context: process.
 * Return: 0; -EISCONN if the QP has a connection; -ESHUTDOWN if it is going.
 */
int erdma_cep_attach_qp(struct erdma_cep *cep, struct erdma_qp *qp)
{
	int err;

	lockdep_assert_held(&cep->lock);

	spin_lock(&cep->dev->cep_lock);
	err = qp->cep && !IS_ERR(qp->cep) ? -EISCONN : PTR_ERR(qp->cep);
	if (!err) {
		qp->cep = cep;
		cep->qp = qp;
	}
	spin_unlock(&cep->dev->cep_lock);
	return err;
}

static void cep_detach_qp(struct erdma_cep *cep)
{
	struct erdma_qp *qp = cep->qp;

	if (!qp)
		return;

	spin_lock(&cep->dev->cep_lock);
	if (qp->cep == cep)
		qp->cep = NULL;
	spin_unlock(&cep->dev->cep_lock);
	cep->qp = NULL;
	erdma_qp_put(qp);
}

/**
 * erdma_cep_leave_parent - count no longer against the listener's backlog
 * @cep: endpoint, held by the caller; locked or not
 *
 * Context: process; without dev->cep_lock.
 */
void erdma_cep_leave_parent(struct erdma_cep *cep)
{
	struct erdma_cep *parent;

	spin_lock(&cep->dev->cep_lock);
	parent = cep->parent;
	cep->parent = NULL;
	if (parent) {
		list_del_init(&cep->sibling);
		parent->n_children--;
	}
	spin_unlock(&cep->dev->cep_lock);

	if (parent) {
		erdma_cep_queue(parent);	/* it may accept another one */
		erdma_cep_put(parent);
	}
}

static void cep_drop_cm_id(struct erdma_cep *cep)
{
	struct iw_cm_id *id = cep->cm_id;

	spin_lock(&cep->dev->cep_lock);
	cep->cm_id = NULL;
	spin_unlock(&cep->dev->cep_lock);
	if (id)
		id->rem_ref(id);
}

/* ---- beginning and end ---------------------------------------------------- */

/**
 * erdma_cep_alloc - a new endpoint
 * @dev: device
 *
 * Context: process.
 * Return: endpoint in state NEW with a reference for the caller, who also ends
 * its life with erdma_cep_close(); NULL without memory.
 */
struct erdma_cep *erdma_cep_alloc(struct erdma_dev *dev)
{
	struct erdma_cep *cep;

	cep = kzalloc(sizeof(*cep), GFP_KERNEL);
	if (!cep)
		return NULL;

	kref_init(&cep->refs);
	kref_get(&cep->refs);
	cep->dev = dev;
	mutex_init(&cep->lock);
	INIT_WORK(&cep->work, cep_work);
	INIT_DELAYED_WORK(&cep->timer, cep_timeout);
	INIT_LIST_HEAD(&cep->sibling);
	INIT_LIST_HEAD(&cep->children);
	INIT_LIST_HEAD(&cep->listen_node);

	spin_lock(&dev->cep_lock);
	list_add_tail(&cep->dev_node, &dev->ceps);
	spin_unlock(&dev->cep_lock);
	return cep;
}

/**
 * erdma_cep_close - end of an endpoint: everything it owns goes
 * @cep: endpoint, locked, with a reference of the caller
 *
 * Closes the socket (the peer sees FIN), lets go of the QP and of the IW CM's id
 * without telling either. Idempotent.
 *
 * Context: process.
 */
void erdma_cep_close(struct erdma_cep *cep)
{
	lockdep_assert_held(&cep->lock);

	if (cep->state == ERDMA_CEP_CLOSED)
		return;

	erdma_cep_set_state(cep, ERDMA_CEP_CLOSED);
	erdma_cep_unlimit(cep);
	if (cep->sock)
		erdma_cep_discard_sock(cep->sock, cep);
	cep->sock = NULL;
	cep_unpublish(cep);
	erdma_cep_leave_parent(cep);
	cep_detach_qp(cep);
	cep_drop_cm_id(cep);
	erdma_cep_put(cep);
}

/**
 * erdma_cep_next_live - any endpoint that is not CLOSED
 * @dev: device
 *
 * Context: process.
 * Return: endpoint with a reference, not locked; NULL if all are closed.
 */
struct erdma_cep *erdma_cep_next_live(struct erdma_dev *dev)
{
	struct erdma_cep *cep;

	spin_lock(&dev->cep_lock);
	list_for_each_entry(cep, &dev->ceps, dev_node) {
		if (READ_ONCE(cep->state) != ERDMA_CEP_CLOSED &&
		    kref_get_unless_zero(&cep->refs)) {
			spin_unlock(&dev->cep_lock);
			return cep;
		}
	}
	spin_unlock(&dev->cep_lock);
	return NULL;
}

/**
 * erdma_cep_init - module initialization
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int erdma_cep_init(void)
{
	/* Unbound: work sleeps in device commands */
	cep_wq = alloc_workqueue("erdma_cm", WQ_UNBOUND, 0);
	return cep_wq ? 0 : -ENOMEM;
}

/**
 * erdma_cep_exit - module exit; no endpoint is left
 *
 * Context: process. Waits for work that is about to return.
 */
void erdma_cep_exit(void)
{
	destroy_workqueue(cep_wq);
	WARN_ON(!xa_empty(&cep_ids));
}
