// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Listeners: the IW CM's listening ids, their sockets and accepting from them.
 *
 * A listener on an address has one socket, bound to that address. A listener on
 * the wildcard address has one socket per IPv4 address of the paired interface,
 * and follows when addresses come and go. Neither is bound to the interface:
 *  - a connection between two addresses of this host arrives through lo, which a
 *    socket bound to the interface does not receive from;
 *  - rdma_cm listens on every device for a wildcard, and one socket on INADDR_ANY
 *    per device would find its port taken by the first device's.
 * Addresses of other interfaces stay free for others, as they are not ours.
 *
 * A wildcard listener for IPv6 alone has no socket at all: the device speaks IPv4.
 * It is no error, since rdma_cm listens on all devices or on none, and ours would
 * take the listener from those that can (the NFS server asks for one). Nor has one
 * of another network namespace than the interface's, for the same reason; a
 * listener on one address is refused there.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/inetdevice.h>
#include <linux/sched/task.h>
#include <net/inet_connection_sock.h>
#include <net/ipv6.h>

#include "compat/compat_rdma.h"
#include "erdma_cm.h"

#define LISTEN_MAX_ADDRS	64	/* of an interface; more are not served */
#define LISTEN_MAX_BACKLOG	1024
#define LISTEN_TCP_BACKLOG	128	/* connections that TCP keeps for us, at least */
#define LISTEN_RETRY_MS		200	/* after a failure, e.g. for want of memory */
#define LISTEN_BUDGET		16	/* connections per run of the work */

/**
 * struct erdma_listener - a listening id of the IW CM
 * @dev: device
 * @cm_id: id; its provider_data points here
 * @asked: process that asked for it, with a reference; NULL: the kernel, or not known
 * @asked_kernel: the kernel
 * @node: in wildcards if @any
 * @socks: listening endpoints
 * @any: every IPv4 address of the interface
 * @port: port
 * @backlog: per socket
 * @owner: who listens
 */
struct erdma_listener {
	struct erdma_dev *dev;
	struct iw_cm_id *cm_id;
	struct task_struct *asked;
	bool asked_kernel;
	struct list_head node;
	struct list_head socks;
	bool any;
	__be16 port;
	u32 backlog;
	struct erdma_rec_owner owner;
};

/* Protects listeners and their lists; taken before the lock of an endpoint */
static DEFINE_MUTEX(listen_mutex);
static LIST_HEAD(wildcards);

static void listen_follow(struct work_struct *work);
static DECLARE_WORK(listen_follow_work, listen_follow);

/* ---- accepting ------------------------------------------------------------ */

static bool listen_has_room(struct erdma_ep *ep)
{
	bool room;

	spin_lock(&ep->dev->ep_lock);
	room = ep->n_children < ep->backlog;
	spin_unlock(&ep->dev->ep_lock);
	return room;
}

static void listen_add_child(struct erdma_ep *ep, struct erdma_ep *child)
{
	kref_get(&ep->refs);
	spin_lock(&ep->dev->ep_lock);
	child->parent = ep;
	list_add_tail(&child->sibling, &ep->children);
	ep->n_children++;
	spin_unlock(&ep->dev->ep_lock);
}

/* Takes one connection from TCP's queue. -EAGAIN: none there, or no room for it */
static int listen_accept(struct erdma_ep *ep)
{
	struct erdma_ep *child;
	struct socket *sock;
	int err;

	/* kernel_accept() would make a socket to find that out; its callback queues us */
	if (reqsk_queue_empty(&inet_csk(ep->sock->sk)->icsk_accept_queue))
		return -EAGAIN;
	if (!listen_has_room(ep))
		return -EAGAIN;
	err = kernel_accept(ep->sock, &sock, O_NONBLOCK);
	if (err)
		return err;

	child = erdma_ep_alloc(ep->dev);
	if (!child) {
		erdma_ep_discard_sock(sock, ep);
		erdma_stat_inc(&ep->dev->stats, ERDMA_STAT_CM_ACCEPT_FAILED);
		return 0;
	}

	mutex_lock_nested(&child->lock, SINGLE_DEPTH_NESTING);
	erdma_ep_adopt_sock(child, sock, ep);
	child->passive = true;
	erdma_ep_set_asked(child, ep->asked, ep->asked_kernel);
	erdma_rec_cm_passive(child, &ep->log.owner);
	listen_add_child(ep, child);
	erdma_ep_set_state(child, ERDMA_EP_WAIT_REQUEST);
	erdma_ep_set_deadline(child, ERDMA_MPA_REQUEST_MS);
	erdma_ep_queue_missed(child);
	mutex_unlock(&child->lock);
	erdma_ep_put(child);
	return 0;
}

/**
 * erdma_listen_accept - connections may wait in TCP's queue
 * @ep: endpoint in LISTEN, locked
 *
 * Takes what the backlog allows. The rest stays with TCP, which bounds it, until
 * erdma_ep_leave_parent() queues the endpoint again.
 *
 * Context: process.
 */
void erdma_listen_accept(struct erdma_ep *ep)
{
	int i, err;

	for (i = 0; i < LISTEN_BUDGET; i++) {
		err = listen_accept(ep);
		if (err == -EAGAIN)
			return;
		if (err) {
			erdma_stat_inc(&ep->dev->stats, ERDMA_STAT_CM_ACCEPT_FAILED);
			erdma_dbg(ep->dev, CM, INFO, "cannot take a connection: %pe\n",
				  ERR_PTR(err));
			erdma_ep_set_deadline(ep, LISTEN_RETRY_MS);
			return;
		}
	}
	erdma_ep_queue(ep);
}

/* ---- sockets of a listener ------------------------------------------------ */

static int listen_open(struct erdma_listener *l, struct erdma_ep *ep)
{
	struct iw_cm_id *id = l->cm_id;
	struct sockaddr_in local = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = ep->addr,
		.sin_port = l->port,
	};
	int err;

	err = erdma_ep_new_sock(ep, &local, id->tos_set ? id->tos : -1);
	if (err)
		return err;

	id->add_ref(id);
	spin_lock(&ep->dev->ep_lock);
	ep->cm_id = id;
	spin_unlock(&ep->dev->ep_lock);
	ep->backlog = l->backlog;
	erdma_ep_set_asked(ep, l->asked, l->asked_kernel);
	ep->log.owner = l->owner;
	erdma_ep_set_state(ep, ERDMA_EP_LISTEN);
	/* A full queue costs the peer a second, until it repeats its SYN */
	return kernel_listen(ep->sock, max_t(u32, l->backlog, LISTEN_TCP_BACKLOG));
}

static int listen_add(struct erdma_listener *l, __be32 addr)
{
	struct erdma_ep *ep = erdma_ep_alloc(l->dev);
	int err;

	lockdep_assert_held(&listen_mutex);

	if (!ep)
		return -ENOMEM;

	mutex_lock(&ep->lock);
	ep->addr = addr;
	err = listen_open(l, ep);
	if (err)
		erdma_ep_close(ep);
	mutex_unlock(&ep->lock);

	if (err) {
		erdma_dbg(l->dev, CM, INFO, "cannot listen on %pI4:%u: %pe\n",
			  &addr, ntohs(l->port), ERR_PTR(err));
		erdma_ep_put(ep);
		return err;
	}
	list_add_tail(&ep->listen_node, &l->socks);	/* with the reference */
	erdma_dbg(l->dev, CM, INFO, "listening on %pI4:%u\n", &addr, ntohs(l->port));
	return 0;
}

/*
 * Connections whose request has not arrived go with the listener. Those the
 * application was asked about live on, it may still accept them.
 */
static void listen_drop_children(struct erdma_ep *ep)
{
	struct erdma_dev *dev = ep->dev;
	struct erdma_ep *child;

	for (;;) {
		spin_lock(&dev->ep_lock);
		child = list_first_entry_or_null(&ep->children, struct erdma_ep, sibling);
		if (child)
			kref_get(&child->refs);
		spin_unlock(&dev->ep_lock);
		if (!child)
			return;

		erdma_ep_leave_parent(child);
		mutex_lock(&child->lock);
		if (child->state == ERDMA_EP_WAIT_REQUEST) {
			erdma_rec_cm(child, -ECONNABORTED, false);
			erdma_ep_close(child);
		}
		mutex_unlock(&child->lock);
		erdma_ep_put(child);
	}
}

static void listen_remove(struct erdma_ep *ep)
{
	lockdep_assert_held(&listen_mutex);

	list_del(&ep->listen_node);
	mutex_lock(&ep->lock);
	erdma_ep_close(ep);
	mutex_unlock(&ep->lock);
	listen_drop_children(ep);
	erdma_ep_put(ep);
}

/* ---- wildcard listeners --------------------------------------------------- */

static int listen_get_addrs(struct net_device *netdev, __be32 *addrs, int max)
{
	const struct in_ifaddr *ifa;
	struct in_device *in_dev;
	int n = 0;

	rcu_read_lock();
	in_dev = __in_dev_get_rcu(netdev);
	if (in_dev) {
		in_dev_for_each_ifa_rcu(ifa, in_dev) {
			if (n == max)
				break;
			addrs[n++] = ifa->ifa_local;
		}
	}
	rcu_read_unlock();
	return n;
}

static bool listen_has(const struct erdma_listener *l, __be32 addr)
{
	const struct erdma_ep *ep;

	list_for_each_entry(ep, &l->socks, listen_node)
		if (ep->addr == addr)
			return true;
	return false;
}

/* Closes the sockets of addresses that went away */
static void listen_prune(struct erdma_listener *l)
{
	__be32 addrs[LISTEN_MAX_ADDRS];
	struct erdma_ep *ep, *next;
	int i, n;

	n = listen_get_addrs(l->dev->netdev, addrs, LISTEN_MAX_ADDRS);
	list_for_each_entry_safe(ep, next, &l->socks, listen_node) {
		for (i = 0; i < n; i++)
			if (addrs[i] == ep->addr)
				break;
		if (i == n)
			listen_remove(ep);
	}
}

/* Opens sockets for new addresses; goes on after an error and returns the first */
static int listen_extend(struct erdma_listener *l)
{
	__be32 addrs[LISTEN_MAX_ADDRS];
	int i, n, err, first = 0;

	n = listen_get_addrs(l->dev->netdev, addrs, LISTEN_MAX_ADDRS);
	for (i = 0; i < n; i++) {
		if (listen_has(l, addrs[i]))
			continue;
		err = listen_add(l, addrs[i]);
		if (!first)
			first = err;
	}
	return first;
}

static void listen_follow(struct work_struct *work)
{
	struct erdma_listener *l;

	mutex_lock(&listen_mutex);
	/* An address may have moved from one device to another: first close, then open */
	list_for_each_entry(l, &wildcards, node)
		listen_prune(l);
	list_for_each_entry(l, &wildcards, node)
		listen_extend(l);
	mutex_unlock(&listen_mutex);
}

/* Called with rtnl: the work is done elsewhere */
static int listen_addr_event(struct notifier_block *nb, unsigned long event, void *data)
{
	schedule_work(&listen_follow_work);
	return NOTIFY_DONE;
}

static struct notifier_block listen_addr_nb = {
	.notifier_call = listen_addr_event,
};

/* ---- operations ----------------------------------------------------------- */

static void listen_destroy(struct erdma_listener *l)
{
	struct erdma_ep *ep, *next;

	mutex_lock(&listen_mutex);
	list_del(&l->node);
	list_for_each_entry_safe(ep, next, &l->socks, listen_node)
		listen_remove(ep);
	mutex_unlock(&listen_mutex);
	if (l->asked)
		put_task_struct(l->asked);
	kfree(l);
}

/*
 * rdma_cm repeats the listeners of all for a device that is registered: then it is
 * not known whose it is.
 */
static void listen_record_caller(struct erdma_listener *l)
{
	if (current == READ_ONCE(l->dev->registering))
		return;
	erdma_rec_current(&l->owner);
	l->asked_kernel = current->flags & PF_KTHREAD;
	if (!l->asked_kernel)
		l->asked = get_task_struct(current->group_leader);
}

static bool listen_is_ipv6_only(const struct iw_cm_id *id)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)&id->m_local_addr;

	return sin6->sin6_family == AF_INET6 && ipv6_addr_any(&sin6->sin6_addr) &&
	       erdma_iw_afonly(id);
}

/* Which address to listen on; [::] stands for every IPv4 address, too */
static int listen_parse(const struct iw_cm_id *id, __be32 *addr, __be16 *port)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)&id->m_local_addr;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)&id->m_local_addr;

	if (sin->sin_family == AF_INET) {
		*addr = sin->sin_addr.s_addr;
		*port = sin->sin_port;
	} else if (sin->sin_family == AF_INET6 && ipv6_addr_any(&sin6->sin6_addr)) {
		*addr = htonl(INADDR_ANY);
		*port = sin6->sin6_port;
	} else {
		return -EAFNOSUPPORT;
	}
	return *port ? 0 : -EINVAL;	/* each socket would get another one */
}

/* Sockets are for those who may have them; 0 if @any shall have none */
static int listen_check_caller(const struct iw_cm_id *id, bool *any, __be32 addr)
{
	struct erdma_dev *dev = dev_of(id->device);
	bool wildcard = addr == htonl(INADDR_ANY);

	if (wildcard && !*any)
		return 0;
	if (!erdma_cm_same_net(dev, id)) {
		erdma_dbg(dev, CM, INFO, "no sockets for a listener of another network namespace\n");
		*any = false;
		return wildcard ? 0 : -EPERM;
	}
	return erdma_cm_ask_security(dev);
}

static struct erdma_listener *listen_create(struct iw_cm_id *id, int backlog)
{
	struct erdma_listener *l;
	__be32 addr;
	__be16 port;
	bool any;
	int err;

	err = listen_parse(id, &addr, &port);
	if (err)
		return ERR_PTR(err);
	any = addr == htonl(INADDR_ANY) && !listen_is_ipv6_only(id);
	err = listen_check_caller(id, &any, addr);
	if (err)
		return ERR_PTR(err);
	l = kzalloc(sizeof(*l), GFP_KERNEL);
	if (!l)
		return ERR_PTR(-ENOMEM);

	l->dev = dev_of(id->device);
	l->cm_id = id;
	listen_record_caller(l);
	l->any = any;
	l->port = port;
	l->backlog = clamp(backlog, 1, LISTEN_MAX_BACKLOG);
	INIT_LIST_HEAD(&l->node);
	INIT_LIST_HEAD(&l->socks);

	mutex_lock(&listen_mutex);
	if (l->any) {
		list_add_tail(&l->node, &wildcards);
		err = listen_extend(l);
	} else if (addr != htonl(INADDR_ANY)) {
		err = listen_add(l, addr);
	}
	mutex_unlock(&listen_mutex);
	if (err) {
		listen_destroy(l);
		return ERR_PTR(err);
	}
	return l;
}

/**
 * erdma_create_listen - listen for connections
 * @id: of the IW CM, with the address
 * @backlog: connections per address that the application has not accepted yet;
 *	more wait in TCP's queue
 *
 * A wildcard listener without any address is no error: rdma_cm listens on all
 * devices or on none, and an address may be added later.
 *
 * Context: process.
 * Return: 0; -EAFNOSUPPORT for an IPv6 address other than [::], -EINVAL
 * without a port, -EPERM for an address in another network namespace than the
 * interface's, or as erdma_cm_ask_security(), -ENOMEM, or what TCP says, e.g.
 * -EADDRINUSE.
 */
int erdma_create_listen(struct iw_cm_id *id, int backlog)
{
	struct erdma_dev *dev = dev_of(id->device);
	struct erdma_listener *l = listen_create(id, backlog);

	if (IS_ERR(l)) {
		erdma_stat_inc(&dev->stats, ERDMA_STAT_CM_LISTEN_FAILED);
		erdma_rec_fail(dev->rec, ERDMA_DIAG_VERB_LISTEN, 0, PTR_ERR(l));
		erdma_dbg(dev, CM, INFO, "cannot listen: %pe\n", l);
		return PTR_ERR(l);
	}
	id->provider_data = l;
	erdma_stat_inc(&dev->stats, ERDMA_STAT_CM_LISTEN);
	return 0;
}

/**
 * erdma_destroy_listen - end listening
 * @id: of the IW CM
 *
 * Context: process. No event for @id comes after this.
 * Return: 0.
 */
int erdma_destroy_listen(struct iw_cm_id *id)
{
	listen_destroy(id->provider_data);
	id->provider_data = NULL;
	erdma_stat_inc(&dev_of(id->device)->stats, ERDMA_STAT_CM_LISTEN_DESTROY);
	return 0;
}

/**
 * erdma_listen_module_init - module initialization
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int erdma_listen_module_init(void)
{
	return register_inetaddr_notifier(&listen_addr_nb);
}

/**
 * erdma_listen_module_exit - module exit; no listener is left
 *
 * Context: process.
 */
void erdma_listen_module_exit(void)
{
	unregister_inetaddr_notifier(&listen_addr_nb);
	cancel_work_sync(&listen_follow_work);
}
