// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Connection endpoints: references, states, socket callbacks, work, timer.
 *
 * A live endpoint (not CLOSED) holds one reference to itself. Whoever points to
 * it without a reference of his own (sk_user_data, qp->ep, the table of ids,
 * the children of a listener) relies on that one; erdma_ep_close() cuts all
 * these pointers, under their locks, before it drops it.
 *
 * What happens on a socket or when a time is up is handled by work that holds a
 * reference and takes the endpoint's lock; see docs/connections.md.
 */
#include <linux/in.h>
#include <linux/sched/mm.h>
#include <linux/tcp.h>
#include <linux/xarray.h>
#include <net/ip.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "erdma_cm.h"

/*
 * What sets a connection up waits for no command of the device: in the order of what happened,
 * so that requests arrive in the order of rdma_connect() and reach the application in that of
 * their arrival. The rest sleeps in commands, of one connection beside those of others.
 */
static struct workqueue_struct *ep_setup_wq;
static struct workqueue_struct *ep_wq;

#define EP_SETUP	(BIT(ERDMA_EP_LISTEN) | BIT(ERDMA_EP_CONNECTING) |	\
			 BIT(ERDMA_EP_WAIT_REQUEST))

static const char * const ep_state_names[] = {
	[ERDMA_EP_NEW] = "new",
	[ERDMA_EP_LISTEN] = "listening",
	[ERDMA_EP_CONNECTING] = "connecting",
	[ERDMA_EP_WAIT_REPLY] = "waiting for the reply",
	[ERDMA_EP_WAIT_REQUEST] = "waiting for the request",
	[ERDMA_EP_REQUESTED] = "waiting for the application",
	[ERDMA_EP_CONNECTED] = "connected",
	[ERDMA_EP_CLOSED] = "closed",
};

static_assert(ARRAY_SIZE(ep_state_names) == ERDMA_EP_STATE_COUNT);

static const u16 ep_successors[ERDMA_EP_STATE_COUNT] = {
	[ERDMA_EP_NEW] = BIT(ERDMA_EP_LISTEN) | BIT(ERDMA_EP_CONNECTING) |
			  BIT(ERDMA_EP_WAIT_REQUEST) | BIT(ERDMA_EP_CLOSED),
	[ERDMA_EP_LISTEN] = BIT(ERDMA_EP_CLOSED),
	[ERDMA_EP_CONNECTING] = BIT(ERDMA_EP_WAIT_REPLY) | BIT(ERDMA_EP_CLOSED),
	[ERDMA_EP_WAIT_REPLY] = BIT(ERDMA_EP_CONNECTED) | BIT(ERDMA_EP_CLOSED),
	[ERDMA_EP_WAIT_REQUEST] = BIT(ERDMA_EP_REQUESTED) | BIT(ERDMA_EP_CLOSED),
	[ERDMA_EP_REQUESTED] = BIT(ERDMA_EP_CONNECTED) | BIT(ERDMA_EP_CLOSED),
	[ERDMA_EP_CONNECTED] = BIT(ERDMA_EP_CLOSED),
};

/* Stages of a connection, for its recorder, by state; 0 = no other one */
static const u8 ep_stages[ERDMA_EP_STATE_COUNT] = {
	[ERDMA_EP_CONNECTING] = ERDMA_DIAG_CM_TCP,
	[ERDMA_EP_WAIT_REPLY] = ERDMA_DIAG_CM_MPA,
	[ERDMA_EP_WAIT_REQUEST] = ERDMA_DIAG_CM_MPA,
	[ERDMA_EP_REQUESTED] = ERDMA_DIAG_CM_APP,
	[ERDMA_EP_CONNECTED] = ERDMA_DIAG_CM_DONE,
};

/* What work does by state; states without an entry have nothing to do */
static void (* const ep_handlers[ERDMA_EP_STATE_COUNT])(struct erdma_ep *ep) = {
	[ERDMA_EP_LISTEN] = erdma_listen_accept,
	[ERDMA_EP_CONNECTING] = erdma_cm_handle_connecting,
	[ERDMA_EP_WAIT_REPLY] = erdma_cm_handle_wait_reply,
	[ERDMA_EP_WAIT_REQUEST] = erdma_cm_handle_wait_request,
	[ERDMA_EP_REQUESTED] = erdma_cm_handle_requested,
	[ERDMA_EP_CONNECTED] = erdma_cm_handle_connected,
};

static void ep_free(struct kref *refs)
{
	struct erdma_ep *ep = container_of(refs, struct erdma_ep, refs);
	struct erdma_dev *dev = ep->dev;

	WARN_ON_ONCE(ep->state != ERDMA_EP_CLOSED);
	xa_erase(&dev->eps, ep->num);
	if (ep->asked)
		put_task_struct(ep->asked);

	/* The device may go as soon as the lock is free: nothing of it behind that */
	spin_lock(&dev->ep_lock);
	list_del(&ep->dev_node);
	if (list_empty(&dev->endpoints))
		wake_up_all(&dev->endpoints_wait);
	spin_unlock(&dev->ep_lock);

	mutex_destroy(&ep->lock);
	kfree(ep);
}

/**
 * erdma_ep_put - drop a reference
 * @ep: endpoint
 *
 * Context: process; without dev->ep_lock. Any context if another reference is
 * known to exist.
 */
void erdma_ep_put(struct erdma_ep *ep)
{
	kref_put(&ep->refs, ep_free);
}

/* How many endpoints reached a stage */
static void ep_count_stage(struct erdma_ep *ep, enum erdma_ep_state to)
{
	static const enum erdma_sw_stat stat[ERDMA_EP_STATE_COUNT] = {
		[ERDMA_EP_LISTEN] = ERDMA_STAT_CM_STAGE_LISTEN,
		[ERDMA_EP_CONNECTING] = ERDMA_STAT_CM_STAGE_CONNECTING,
		[ERDMA_EP_WAIT_REPLY] = ERDMA_STAT_CM_STAGE_WAIT_REPLY,
		[ERDMA_EP_WAIT_REQUEST] = ERDMA_STAT_CM_STAGE_WAIT_REQUEST,
		[ERDMA_EP_REQUESTED] = ERDMA_STAT_CM_STAGE_REQUESTED,
		[ERDMA_EP_CONNECTED] = ERDMA_STAT_CM_STAGE_CONNECTED,
		[ERDMA_EP_CLOSED] = ERDMA_STAT_CM_STAGE_CLOSED,
	};

	if (to != ERDMA_EP_NEW)		/* nothing becomes new */
		erdma_stat_inc(&ep->dev->stats, stat[to]);
}

/**
 * erdma_ep_set_state - the only place that changes an endpoint's state
 * @ep: endpoint, locked
 * @to: new state
 */
void erdma_ep_set_state(struct erdma_ep *ep, enum erdma_ep_state to)
{
	lockdep_assert_held(&ep->lock);

	WARN_ONCE(!(ep_successors[ep->state] & BIT(to)),
		  "erdma: endpoint goes from \"%s\" to \"%s\"\n",
		  ep_state_names[ep->state], ep_state_names[to]);
	erdma_dbg(ep->dev, CM, DBG, "endpoint %u: %s -> %s\n", ep->num,
		  ep_state_names[ep->state], ep_state_names[to]);
	if (ep_stages[to])
		erdma_rec_cm_stage(ep, ep_stages[to]);
	WRITE_ONCE(ep->state_ns, ep_stages[to] ? ep->log.entered_ns : ktime_get_coarse_ns());
	/* Who looks without the lock finds what was recorded before */
	smp_store_release(&ep->state, to);
	ep_count_stage(ep, to);
}

/**
 * erdma_ep_state_name - a state in words
 * @state: state
 *
 * Context: any.
 * Return: static string.
 */
const char *erdma_ep_state_name(enum erdma_ep_state state)
{
	return ep_state_names[state];
}

/* ---- work and timer ------------------------------------------------------- */

static bool ep_state_is_setup(enum erdma_ep_state state)
{
	return BIT(state) & EP_SETUP;
}

/*
 * The peer of a lost device may notice before consumers are notified of the removal: they are
 * notified of nothing else. Connections end when QPs are stopped, or with the device.
 */
static bool ep_waits_for_removal(const struct erdma_ep *ep)
{
	return erdma_is_lost(ep->dev) && !READ_ONCE(ep->dev->flushing);
}

static void ep_handle(struct erdma_ep *ep, bool setup)
{
	if (ep_waits_for_removal(ep))
		return;
	if (!ep_handlers[ep->state])
		return;
	if (ep_state_is_setup(ep->state) == setup)
		ep_handlers[ep->state](ep);
	else
		erdma_ep_queue(ep);	/* the state has changed since this was queued */
}

/* A disk may wait for the connection: what needs memory for it must not wait for a disk */
static void ep_look(struct erdma_ep *ep, bool setup)
{
	unsigned int noio = memalloc_noio_save();

	mutex_lock(&ep->lock);
	ep_handle(ep, setup);
	mutex_unlock(&ep->lock);
	erdma_ep_put(ep);
	memalloc_noio_restore(noio);
}

/* Who holds the lock of an endpoint that was set up may wait for a command */
static void ep_setup_work(struct work_struct *work)
{
	struct erdma_ep *ep = container_of(work, struct erdma_ep, setup_work);

	if (ep_state_is_setup(READ_ONCE(ep->state))) {
		ep_look(ep, true);
	} else {
		erdma_ep_queue(ep);
		erdma_ep_put(ep);
	}
}

static void ep_work(struct work_struct *work)
{
	ep_look(container_of(work, struct erdma_ep, work), false);
}

/**
 * erdma_ep_queue - have the socket of an endpoint looked at
 * @ep: endpoint; the caller knows that a reference exists
 *
 * Context: any.
 */
void erdma_ep_queue(struct erdma_ep *ep)
{
	bool setup = ep_state_is_setup(READ_ONCE(ep->state)), queued;

	kref_get(&ep->refs);
	if (setup)
		queued = queue_work(ep_setup_wq, &ep->setup_work);
	else
		queued = queue_work(ep_wq, &ep->work);
	if (!queued)
		erdma_ep_put(ep);	/* pending work has its own: not the last */
}

/**
 * erdma_ep_queue_missed - have the socket looked at if something happened on it before
 *	the endpoint would have noticed
 * @ep: endpoint with a connected socket that has our callbacks, locked
 *
 * What comes after the callbacks were set queues the endpoint itself; it takes
 * sk_callback_lock after it has changed what is looked at here.
 *
 * Context: process.
 */
void erdma_ep_queue_missed(struct erdma_ep *ep)
{
	struct sock *sk = ep->sock->sk;

	lockdep_assert_held(&ep->lock);

	if (READ_ONCE(sk->sk_state) != TCP_ESTABLISHED ||
	    !skb_queue_empty_lockless(&sk->sk_receive_queue))
		erdma_ep_queue(ep);
}

static void ep_arm_timer(struct erdma_ep *ep, unsigned long delay)
{
	ep->expires = ep->deadline;
	kref_get(&ep->refs);
	if (mod_delayed_work(ep_wq, &ep->timer, delay))
		erdma_ep_put(ep);	/* was armed, with a reference */
}

static void ep_time_is_up(struct erdma_ep *ep)
{
	ep->timed = false;
	if (ep_waits_for_removal(ep))
		return;
	if (ep->state == ERDMA_EP_LISTEN)
		erdma_listen_accept(ep);
	else
		erdma_cm_fail(ep, -ETIMEDOUT);
}

static void ep_timeout(struct work_struct *work)
{
	struct erdma_ep *ep = container_of(to_delayed_work(work), struct erdma_ep, timer);
	unsigned int noio = memalloc_noio_save();
	long left;

	mutex_lock(&ep->lock);
	left = ep->deadline - jiffies;
	if (ep->timed && left > 0)
		ep_arm_timer(ep, left);		/* it was put off */
	else if (ep->timed)
		ep_time_is_up(ep);
	mutex_unlock(&ep->lock);
	erdma_ep_put(ep);
	memalloc_noio_restore(noio);
}

/**
 * erdma_ep_set_deadline - limit the time of a state: then -ETIMEDOUT; a listening
 *	endpoint tries again to accept
 * @ep: endpoint, locked
 * @ms: limit; replaces the previous one
 *
 * A timer that is armed for an earlier time is left alone, and armed again when it runs
 * out: most often it never does.
 *
 * Context: process.
 */
void erdma_ep_set_deadline(struct erdma_ep *ep, unsigned int ms)
{
	unsigned long delay = msecs_to_jiffies(ms);
	bool armed = ep->timed;

	lockdep_assert_held(&ep->lock);

	ep->timed = true;
	ep->deadline = jiffies + delay;
	if (!armed || time_before(ep->deadline, ep->expires))
		ep_arm_timer(ep, delay);
}

/**
 * erdma_ep_clear_deadline - the state is no longer limited in time
 * @ep: endpoint, locked
 *
 * Context: process. Does not wait for a timer that just ran out; that one sees
 * erdma_ep.timed and does nothing.
 */
void erdma_ep_clear_deadline(struct erdma_ep *ep)
{
	lockdep_assert_held(&ep->lock);

	ep->timed = false;
	if (cancel_delayed_work(&ep->timer))
		erdma_ep_put(ep);
}

/* ---- socket --------------------------------------------------------------- */

/*
 * Both callbacks. They run in softirq or under the socket's lock: only work is
 * queued here. sk_user_data is not copied to the children of a listening socket
 * (which do get the callback), so it is NULL until they are adopted.
 */
static void ep_sk_event(struct sock *sk)
{
	struct erdma_ep *ep;

	read_lock_bh(&sk->sk_callback_lock);
	ep = erdma_sk_user_data(sk, SK_USER_DATA_NOCOPY);
	if (ep)
		erdma_ep_queue(ep);
	read_unlock_bh(&sk->sk_callback_lock);
}

/* For those who look, who do not have the lock */
static void ep_record_addr(struct erdma_ep *ep, const struct inet_sock *inet)
{
	WRITE_ONCE(ep->sip, inet->inet_saddr);
	WRITE_ONCE(ep->dip, inet->inet_daddr);
	WRITE_ONCE(ep->sport, inet->inet_sport);
	WRITE_ONCE(ep->dport, inet->inet_dport);
}

/**
 * erdma_ep_adopt_sock - make a socket the endpoint's
 * @ep: endpoint, locked; owns @sock from now on
 * @sock: TCP socket
 * @listening: endpoint whose listening socket produced @sock, else NULL. @sock
 *	inherited our callbacks; the original ones are those of @listening
 *
 * What happened on the socket before is not noticed: erdma_ep_queue_missed().
 *
 * Context: process.
 */
void erdma_ep_adopt_sock(struct erdma_ep *ep, struct socket *sock,
			 const struct erdma_ep *listening)
{
	struct sock *sk = sock->sk;

	ep->sock = sock;
	write_lock_bh(&sk->sk_callback_lock);
	ep->saved_data_ready = listening ? listening->saved_data_ready : sk->sk_data_ready;
	ep->saved_state_change = listening ? listening->saved_state_change :
					      sk->sk_state_change;
	sk->sk_data_ready = ep_sk_event;
	sk->sk_state_change = ep_sk_event;
	__rcu_assign_sk_user_data_with_flags(sk, ep, SK_USER_DATA_NOCOPY);
	write_unlock_bh(&sk->sk_callback_lock);
	sk->sk_allocation = GFP_NOIO;	/* as ep_work(); also for the FIN */
	ep_record_addr(ep, inet_sk(sk));
}

/**
 * erdma_ep_new_sock - give the endpoint a socket bound to a local address, in the
 *	network namespace of the interface
 * @ep: endpoint, locked
 * @local: address and port of the local end
 * @tos: type of service, negative for the default
 *
 * The socket is not bound to an interface: packets between two addresses of this
 * host travel through lo.
 *
 * Context: process.
 * Return: 0 or -errno, e.g. -EADDRINUSE; then the endpoint has no socket.
 */
int erdma_ep_new_sock(struct erdma_ep *ep, const struct sockaddr_in *local, int tos)
{
	struct sockaddr_in addr = *local;
	struct socket *sock;
	int err;

	err = sock_create_kern(dev_net(ep->dev->netdev), AF_INET, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (err)
		return err;

	sock_set_reuseaddr(sock->sk);	/* the port may be in TIME_WAIT */
	tcp_sock_set_nodelay(sock->sk);
	if (tos >= 0)
		ip_sock_set_tos(sock->sk, tos);

	err = erdma_kernel_bind(sock, (struct sockaddr *)&addr, sizeof(addr));
	if (err) {
		sock_release(sock);
		return err;
	}
	erdma_ep_adopt_sock(ep, sock, NULL);
	return 0;
}

/**
 * erdma_ep_discard_sock - close a socket without our callbacks
 * @sock: TCP socket
 * @from: endpoint that has the original callbacks: its own, or the listening one
 *
 * The sock may outlive the socket (FIN_WAIT) and this module.
 *
 * Context: process.
 */
void erdma_ep_discard_sock(struct socket *sock, const struct erdma_ep *from)
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

/* In qp->ep of a QP that gets no connection any more */
#define EP_REFUSED	ERR_PTR(-ESHUTDOWN)

/**
 * erdma_ep_by_qp - find the connection of a QP
 * @qp: QP, held by the caller
 * @last: the QP is being destroyed or reset: it gets no other connection until
 *	erdma_ep_admit_qp()
 *
 * Context: process.
 * Return: endpoint with a reference, not locked; NULL without one.
 */
struct erdma_ep *erdma_ep_by_qp(struct erdma_qp *qp, bool last)
{
	struct erdma_ep *ep;

	spin_lock(&qp->dev->ep_lock);
	ep = IS_ERR(qp->ep) ? NULL : qp->ep;
	if (ep)
		kref_get(&ep->refs);
	if (last)
		qp->ep = EP_REFUSED;
	spin_unlock(&qp->dev->ep_lock);
	return ep;
}

/**
 * erdma_ep_admit_qp - a QP may have a connection again
 * @qp: QP of erdma_ep_by_qp() with @last, which begins anew
 *
 * Context: process.
 */
void erdma_ep_admit_qp(struct erdma_qp *qp)
{
	spin_lock(&qp->dev->ep_lock);
	if (qp->ep == EP_REFUSED)
		qp->ep = NULL;
	spin_unlock(&qp->dev->ep_lock);
}

/**
 * erdma_ep_attach_qp - tie a QP to the endpoint
 * @ep: endpoint, locked
 * @qp: QP; the caller's reference goes to the endpoint on success
 *
 * Context: process.
 * Return: 0; -EISCONN if the QP has a connection; -ESHUTDOWN if it is going.
 */
int erdma_ep_attach_qp(struct erdma_ep *ep, struct erdma_qp *qp)
{
	int err;

	lockdep_assert_held(&ep->lock);

	spin_lock(&ep->dev->ep_lock);
	err = qp->ep && !IS_ERR(qp->ep) ? -EISCONN : PTR_ERR(qp->ep);
	if (!err) {
		qp->ep = ep;
		ep->qp = qp;
	}
	spin_unlock(&ep->dev->ep_lock);
	return err;
}

/**
 * erdma_ep_detach_qp - undo erdma_ep_attach_qp()
 * @ep: endpoint, locked; with or without a QP
 *
 * Drops the endpoint's reference of the QP, which may have another connection from now on.
 *
 * Context: process.
 */
void erdma_ep_detach_qp(struct erdma_ep *ep)
{
	struct erdma_qp *qp = ep->qp;

	lockdep_assert_held(&ep->lock);

	if (!qp)
		return;

	spin_lock(&ep->dev->ep_lock);
	if (qp->ep == ep)
		qp->ep = NULL;
	ep->qp = NULL;
	spin_unlock(&ep->dev->ep_lock);
	erdma_qp_put(qp);
}

/**
 * erdma_ep_leave_parent - count no longer against the listener's backlog
 * @ep: endpoint, held by the caller; locked or not
 *
 * Context: process; without dev->ep_lock.
 */
void erdma_ep_leave_parent(struct erdma_ep *ep)
{
	struct erdma_ep *parent;
	bool was_full = false;

	spin_lock(&ep->dev->ep_lock);
	parent = ep->parent;
	ep->parent = NULL;
	if (parent) {
		list_del_init(&ep->sibling);
		was_full = parent->n_children-- >= parent->backlog;
	}
	spin_unlock(&ep->dev->ep_lock);

	if (!parent)
		return;
	if (was_full)
		erdma_ep_queue(parent);	/* it may accept another one */
	erdma_ep_put(parent);
}

static void ep_drop_cm_id(struct erdma_ep *ep)
{
	struct iw_cm_id *id = ep->cm_id;

	spin_lock(&ep->dev->ep_lock);
	ep->cm_id = NULL;
	spin_unlock(&ep->dev->ep_lock);
	if (id)
		id->rem_ref(id);
}

/* ---- beginning and end ---------------------------------------------------- */

/**
 * erdma_ep_alloc - a new endpoint
 * @dev: device
 *
 * Context: process.
 * Return: endpoint in state NEW with a reference for the caller, who also ends
 * its life with erdma_ep_close(); NULL without memory.
 */
struct erdma_ep *erdma_ep_alloc(struct erdma_dev *dev)
{
	struct erdma_ep *ep;

	ep = kzalloc(sizeof(*ep), GFP_KERNEL);
	if (!ep)
		return NULL;

	kref_init(&ep->refs);
	kref_get(&ep->refs);
	ep->dev = dev;
	ep->created_ns = ktime_get_coarse_ns();
	ep->state_ns = ep->created_ns;
	mutex_init(&ep->lock);
	INIT_WORK(&ep->setup_work, ep_setup_work);
	INIT_WORK(&ep->work, ep_work);
	INIT_DELAYED_WORK(&ep->timer, ep_timeout);
	INIT_LIST_HEAD(&ep->sibling);
	INIT_LIST_HEAD(&ep->children);
	INIT_LIST_HEAD(&ep->listen_node);
	if (xa_alloc_cyclic(&dev->eps, &ep->num, ep, xa_limit_32b, &dev->next_ep,
			    GFP_KERNEL) < 0) {
		mutex_destroy(&ep->lock);
		kfree(ep);
		return NULL;
	}

	spin_lock(&dev->ep_lock);
	list_add_tail(&ep->dev_node, &dev->endpoints);
	spin_unlock(&dev->ep_lock);
	return ep;
}

/**
 * erdma_ep_close - end of an endpoint: everything it owns goes
 * @ep: endpoint, locked, with a reference of the caller
 *
 * Closes the socket (the peer sees FIN), drops the QP and the IW CM's id
 * without notifying either. Idempotent.
 *
 * Context: process.
 */
void erdma_ep_close(struct erdma_ep *ep)
{
	lockdep_assert_held(&ep->lock);

	if (ep->state == ERDMA_EP_CLOSED)
		return;

	erdma_ep_set_state(ep, ERDMA_EP_CLOSED);
	erdma_ep_clear_deadline(ep);
	if (ep->sock)
		erdma_ep_discard_sock(ep->sock, ep);
	ep->sock = NULL;
	erdma_ep_leave_parent(ep);
	erdma_ep_detach_qp(ep);
	ep_drop_cm_id(ep);
	erdma_ep_put(ep);
}

/**
 * erdma_ep_next_live - any endpoint that is not CLOSED
 * @dev: device
 *
 * Context: process.
 * Return: endpoint with a reference, not locked; NULL if all are closed.
 */
struct erdma_ep *erdma_ep_next_live(struct erdma_dev *dev)
{
	struct erdma_ep *ep;

	spin_lock(&dev->ep_lock);
	list_for_each_entry(ep, &dev->endpoints, dev_node) {
		if (READ_ONCE(ep->state) != ERDMA_EP_CLOSED &&
		    kref_get_unless_zero(&ep->refs)) {
			spin_unlock(&dev->ep_lock);
			return ep;
		}
	}
	spin_unlock(&dev->ep_lock);
	return NULL;
}

/**
 * erdma_ep_get - find an endpoint by its number
 * @dev: device
 * @num: number, need not exist
 *
 * The IW CM has the number of a requested connection, not a pointer: it forgets
 * requests when a listener goes or memory is short, and endpoints vanish when the
 * peer does.
 *
 * Context: process.
 * Return: endpoint with a reference, not locked, in any state; NULL: there is none.
 */
struct erdma_ep *erdma_ep_get(struct erdma_dev *dev, u32 num)
{
	struct erdma_ep *ep;

	xa_lock(&dev->eps);
	ep = xa_load(&dev->eps, num);
	if (ep && !kref_get_unless_zero(&ep->refs))
		ep = NULL;
	xa_unlock(&dev->eps);
	return ep;
}

/**
 * erdma_ep_next - the lowest number of an endpoint
 * @dev: device
 * @num: at least this; becomes that number
 *
 * Context: process.
 * Return: false if there is none.
 */
bool erdma_ep_next(struct erdma_dev *dev, u32 *num)
{
	unsigned long index = *num;

	if (!xa_find(&dev->eps, &index, U32_MAX, XA_PRESENT))
		return false;
	*num = index;
	return true;
}

/**
 * erdma_ep_set_asked - record for whom an endpoint is, while it has no QP
 * @ep: endpoint in NEW, locked
 * @asked: process, NULL: the kernel, or not known
 * @kernel: the kernel
 *
 * Context: process.
 */
void erdma_ep_set_asked(struct erdma_ep *ep, struct task_struct *asked, bool kernel)
{
	lockdep_assert_held(&ep->lock);

	/* Those who look see the state first: it is not NEW any more */
	ep->asked = asked ? get_task_struct(asked) : NULL;
	ep->asked_kernel = kernel;
}

/**
 * erdma_ep_module_init - module initialization
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int erdma_ep_module_init(void)
{
	/* A disk may wait for a connection */
	ep_setup_wq = alloc_ordered_workqueue("erdma_cm_setup", WQ_MEM_RECLAIM);
	if (!ep_setup_wq)
		return -ENOMEM;
	ep_wq = alloc_workqueue("erdma_cm", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!ep_wq) {
		destroy_workqueue(ep_setup_wq);
		return -ENOMEM;
	}
	return 0;
}

/**
 * erdma_ep_module_exit - module exit; no endpoint is left
 *
 * Context: process. Waits for work that is about to return.
 */
void erdma_ep_module_exit(void)
{
	destroy_workqueue(ep_wq);
	destroy_workqueue(ep_setup_wq);
}
