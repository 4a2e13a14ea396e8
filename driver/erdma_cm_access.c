// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Who may connect, accept and listen: owners of QPs, network namespaces, security
 * modules (docs/connections.md, "Who may connect what").
 */
#include <linux/in.h>
#include <linux/net.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <rdma/rdma_cm.h>

#include "erdma_cm.h"

/*
 * The rdma_cm_id behind an id. rdma_cm is the only user of the IW CM; its context
 * begins with the rdma_cm_id, in every kernel so far.
 */
static const struct rdma_cm_id *cm_rdma_id(const struct iw_cm_id *id)
{
	const struct rdma_cm_id *rdma_id = id->context;

	return rdma_id && rdma_id->device == id->device ? rdma_id : NULL;
}

/**
 * erdma_cm_same_net - does an id belong to the interface's network namespace?
 * @dev: device
 * @id: of the IW CM
 *
 * rdma_cm finds iWARP devices by MAC address, which anybody can give to an
 * interface in a namespace of his own. An id keeps the namespace of who asked
 * for it, also one that rdma_cm makes later for a wildcard listener, wherever
 * that happens.
 *
 * Context: any; the device is registered.
 * Return: true if connections of the id may use the interface.
 */
bool erdma_cm_same_net(const struct erdma_dev *dev, const struct iw_cm_id *id)
{
	const struct rdma_cm_id *rdma_id = cm_rdma_id(id);

	return rdma_id && net_eq(rdma_id->route.addr.dev_addr.net, dev_net(dev->netdev));
}

/**
 * erdma_cm_ask_security - may the caller have TCP sockets?
 * @dev: device
 *
 * The sockets here are the kernel's, which no security module is asked about,
 * and the hooks of bind and connect are not exported. What can be done for
 * someone in user space is to create a socket of his own and see: security
 * modules and the sock_create programs of his control group decide.
 *
 * Context: process, of who asks for a connection or listener.
 * Return: 0, also in the kernel's own threads, and in the task that registers the
 * device, when rdma_cm repeats what others asked for (why: docs/connections.md, "Who may
 * connect what"); -EPERM, -EACCES.
 */
int erdma_cm_ask_security(const struct erdma_dev *dev)
{
	struct socket *sock;
	int err;

	if (current->flags & PF_KTHREAD || current == READ_ONCE(dev->registering))
		return 0;
	err = sock_create(AF_INET, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (!err)
		sock_release(sock);
	return err;
}

/**
 * erdma_qp_is_owned - may the caller connect a QP?
 * @qp: QP
 * @of_id: QP that the core ties to the connection's id, NULL if it names none,
 *	as those of applications do not
 *
 * An application's QP: in the process that created it, whichever of its files
 * and threads it uses. A kernel QP: through the id it was created for, in any
 * context.
 *
 * Context: the caller of the connection manager.
 * Return: true if it may.
 */
bool erdma_qp_is_owned(const struct erdma_qp *qp, const struct ib_qp *of_id)
{
	if (qp->is_user)
		return !of_id && qp->owner == task_tgid(current);
	return of_id == &qp->ibqp;
}

/**
 * erdma_cm_owns_qp - may the caller connect a QP through an id?
 * @id: of the IW CM
 * @qp: QP that the caller named
 *
 * Context: the caller of the connection manager.
 * Return: true if it may.
 */
bool erdma_cm_owns_qp(const struct iw_cm_id *id, const struct erdma_qp *qp)
{
	const struct rdma_cm_id *rdma_id = cm_rdma_id(id);

	return rdma_id && erdma_qp_is_owned(qp, rdma_id->qp);
}
