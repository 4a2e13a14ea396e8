// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Connections: the operations of the IW CM, and what an endpoint does from the
 * request to the disconnect (docs/erdma-hardware.md, 12). Frames are sent and
 * received by erdma_cm_frame.c, erdma_cm_access.c knows who may connect.
 *
 * Events are delivered under the endpoint's lock: cm_id->event_handler() only
 * queues, and so ESTABLISHED, DISCONNECT, CLOSE keep their order. The IW CM stops
 * the machine on an event it does not expect, so exactly these are delivered:
 *   listening   CONNECT_REQUEST per request
 *   active      CONNECT_REPLY once if erdma_connect() returned 0, and after a
 *               good one [DISCONNECT] CLOSE once
 *   passive     ESTABLISHED once if erdma_accept() returned 0, then as above
 */
#include <linux/in.h>
#include <linux/tcp.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "erdma_cm.h"

#define CM_EXIT_WAIT_S	10	/* between two messages */
#define CM_EXIT_WAITS	6

/* ---- events --------------------------------------------------------------- */

static void cm_fill_addr(struct sockaddr_storage *to, __be32 addr, __be16 port)
{
	struct sockaddr_in *sin = (struct sockaddr_in *)to;

	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = addr;
	sin->sin_port = port;
}

static int cm_request_event(struct erdma_ep *ep, const struct erdma_conn *conn)
{
	struct iw_cm_event ev = {
		.event = IW_CM_EVENT_CONNECT_REQUEST,
		.provider_data = (void *)(uintptr_t)ep->num,
		.private_data = ep->frame + ERDMA_MPA_FIXED_SIZE,
		.private_data_len = ep->peer.pdata_len,
		.ird = ERDMA_MAX_IRD,	/* the frame has no such fields */
		.ord = ERDMA_MAX_ORD,
	};
	struct erdma_ep *parent;
	int err = -ECONNABORTED;

	cm_fill_addr(&ev.local_addr, conn->sip, conn->sport);
	cm_fill_addr(&ev.remote_addr, conn->dip, conn->dport);

	/* The lock keeps the listener's id: no event after erdma_destroy_listen() */
	spin_lock(&ep->dev->ep_lock);
	parent = ep->parent;
	if (parent && parent->cm_id)
		err = parent->cm_id->event_handler(parent->cm_id, &ev);
	spin_unlock(&ep->dev->ep_lock);
	return err;
}

static int cm_reply_event(struct erdma_ep *ep, int status, u8 pdata_len)
{
	struct iw_cm_id *id = ep->cm_id;
	struct iw_cm_event ev = {
		.event = IW_CM_EVENT_CONNECT_REPLY,
		.status = status,
		.private_data = ep->frame + ERDMA_MPA_FIXED_SIZE,
		.private_data_len = pdata_len,
		.ird = ep->ird,
		.ord = ep->ord,
	};

	if (!status) {
		ev.local_addr = id->m_local_addr;
		ev.remote_addr = id->m_remote_addr;
	}
	return id->event_handler(id, &ev);
}

static int cm_event(struct erdma_ep *ep, enum iw_cm_event_type type)
{
	struct iw_cm_event ev = { .event = type, .ird = ep->ird, .ord = ep->ord };

	return ep->cm_id->event_handler(ep->cm_id, &ev);
}

/* ---- failure and end ------------------------------------------------------ */

static void cm_report_failure(struct erdma_ep *ep, int err)
{
	bool rejected = ep->peer.reply && ep->peer.reject;
	struct erdma_stats *stats = &ep->dev->stats;

	erdma_stat_inc(stats, ERDMA_STAT_CM_CONNECT_FAILED);
	if (err == -ETIMEDOUT)
		erdma_stat_inc(stats, ERDMA_STAT_CM_CONNECT_TIMEOUTS);
	if (rejected)
		erdma_stat_inc(stats, ERDMA_STAT_CM_CONNECT_REJECTED);
	else if (err == -ECONNRESET)
		erdma_stat_inc(stats, ERDMA_STAT_CM_CONNECT_RESET);

	/* A rejecting peer may say why. Without private data nothing is allocated */
	if (!rejected || cm_reply_event(ep, err, ep->peer.pdata_len))
		cm_reply_event(ep, err, 0);
}

/* In which stage connections fail */
static void cm_count_failure(struct erdma_ep *ep)
{
	static const enum erdma_sw_stat stat[ERDMA_EP_STATE_COUNT] = {
		[ERDMA_EP_CONNECTING] = ERDMA_STAT_CM_CONNECTING_FAILED,
		[ERDMA_EP_WAIT_REPLY] = ERDMA_STAT_CM_WAIT_REPLY_FAILED,
		[ERDMA_EP_WAIT_REQUEST] = ERDMA_STAT_CM_WAIT_REQUEST_FAILED,
		[ERDMA_EP_REQUESTED] = ERDMA_STAT_CM_REQUESTED_FAILED,
	};

	if (stat[ep->state])
		erdma_stat_inc(&ep->dev->stats, stat[ep->state]);
}

/**
 * erdma_cm_fail - a connection did not come about
 * @ep: endpoint, locked, held by the caller; any state before CONNECTED
 * @err: why
 *
 * Notifies the IW CM if it waits for the outcome and closes the endpoint. The consumer
 * may connect its QP again as soon as it is notified.
 *
 * Context: process.
 */
void erdma_cm_fail(struct erdma_ep *ep, int err)
{
	erdma_dbg(ep->dev, CM, INFO, "connection failed while %s: %pe\n",
		  erdma_ep_state_name(ep->state), ERR_PTR(err));

	cm_count_failure(ep);
	erdma_rec_cm(ep, err, false);
	if (err == -EPROTO)
		erdma_stat_inc(&ep->dev->stats, ERDMA_STAT_CM_MPA_ERR);
	erdma_ep_detach_qp(ep);
	switch (ep->state) {
	case ERDMA_EP_CONNECTING:
	case ERDMA_EP_WAIT_REPLY:
		cm_report_failure(ep, err);
		break;
	case ERDMA_EP_WAIT_REQUEST:
	case ERDMA_EP_REQUESTED:
		erdma_stat_inc(&ep->dev->stats, ERDMA_STAT_CM_ACCEPT_FAILED);
		break;
	default:
		break;
	}
	erdma_ep_close(ep);
}

/* End of a connection whose QP has been stopped */
static void cm_close_connected(struct erdma_ep *ep, const char *who)
{
	erdma_dbg(ep->dev, CM, INFO, "qp %u disconnected by %s\n", ep->qp->qpn, who);
	erdma_stat_inc(&ep->dev->stats, ERDMA_STAT_CM_DISCONNECT);
	erdma_ep_detach_qp(ep);		/* the consumer may reset it and connect it again */
	cm_event(ep, IW_CM_EVENT_CLOSE);
	erdma_ep_close(ep);
}

static const char *cm_qp_end_name(const struct erdma_qp *qp, bool destroy)
{
	if (destroy)
		return "destroying or resetting it";
	return READ_ONCE(qp->fatal) ? "the device" : "modifying it";
}

/**
 * erdma_cm_disconnect_qp - end the connection of a QP that does not go on
 * @qp: QP, held by the caller: the consumer or the device stopped it, or the
 *	device did not confirm that it did
 * @destroy: the QP is being destroyed or reset: it gets no other connection
 *
 * Closes the connection and notifies the IW CM, or gives up connecting. The
 * endpoint has dropped its reference of @qp on return, and with @destroy no other
 * one takes it. Section 12.7.
 *
 * Context: process, without qp->state_lock.
 */
void erdma_cm_disconnect_qp(struct erdma_qp *qp, bool destroy)
{
	struct erdma_ep *ep = erdma_ep_by_qp(qp, destroy);

	if (!ep)
		return;

	mutex_lock(&ep->lock);
	if (ep->state == ERDMA_EP_CONNECTED)
		cm_close_connected(ep, cm_qp_end_name(qp, destroy));
	else if (ep->state != ERDMA_EP_CLOSED)
		erdma_cm_fail(ep, -ECONNABORTED);
	mutex_unlock(&ep->lock);
	erdma_ep_put(ep);
}

/* ---- active side ---------------------------------------------------------- */

static int cm_get_addr(struct sockaddr_in *to, const struct sockaddr_storage *from)
{
	if (from->ss_family != AF_INET)
		return -EAFNOSUPPORT;
	memcpy(to, from, sizeof(*to));
	return 0;
}

static int cm_check_param(struct erdma_dev *dev, const struct iw_cm_conn_param *param)
{
	if (param->private_data_len <= ERDMA_MPA_MAX_PDATA &&
	    param->ird <= ERDMA_MAX_IRD && param->ord <= ERDMA_MAX_ORD)
		return 0;
	erdma_dbg(dev, CM, INFO, "qp %u: private data of %u bytes, ird %u, ord %u; expected at most %u, %u, %u\n",
		  param->qpn, param->private_data_len, param->ird, param->ord,
		  ERDMA_MPA_MAX_PDATA, ERDMA_MAX_IRD, ERDMA_MAX_ORD);
	return -EINVAL;
}

/*
 * Takes its own reference of the QP; @ep has it afterwards. The number comes from
 * the application, which may name any QP.
 */
static int cm_take_qp(struct erdma_ep *ep, const struct iw_cm_id *id, u32 qpn)
{
	struct erdma_qp *qp = erdma_qp_get(ep->dev, qpn);
	int err = -EINVAL;

	if (!qp)
		return err;
	if (!erdma_cm_owns_qp(id, qp))
		err = -EPERM;
	else if (erdma_qp_read_state(qp) <= ERDMA_QPS_RTR)
		err = erdma_ep_attach_qp(ep, qp);
	if (err) {
		erdma_dbg(ep->dev, CM, INFO, "qp %u cannot be used for a connection: %pe\n",
			  qpn, ERR_PTR(err));
		erdma_qp_put(qp);
	}
	return err;
}

static void cm_make_request(struct erdma_ep *ep, const struct iw_cm_conn_param *param)
{
	struct erdma_mpa_info info = {
		.cookie = ep->qp->cookie,
		.cc = ep->dev->attrs.cc,
		.pdata_len = param->private_data_len,
	};

	erdma_mpa_build((struct erdma_mpa_frame *)ep->frame, &info);
	if (info.pdata_len)
		memcpy(ep->frame + ERDMA_MPA_FIXED_SIZE, param->private_data, info.pdata_len);
	ep->len = ERDMA_MPA_FIXED_SIZE + info.pdata_len;
}

static int cm_start_connect(struct erdma_ep *ep, struct iw_cm_id *id,
			    const struct iw_cm_conn_param *param)
{
	struct sockaddr_in local, remote;
	int err;

	err = cm_check_param(ep->dev, param);
	if (err)
		return err;
	if (!erdma_cm_same_net(ep->dev, id))
		return -EPERM;
	err = erdma_cm_ask_security(ep->dev);
	if (err)
		return err;
	err = cm_get_addr(&local, &id->m_local_addr) ?: cm_get_addr(&remote, &id->m_remote_addr);
	if (err) {
		erdma_dbg(ep->dev, CM, INFO, "qp %u: connections are IPv4 only\n", param->qpn);
		return err;
	}
	err = cm_take_qp(ep, id, param->qpn);
	if (err)
		return err;
	err = erdma_ep_new_sock(ep, &local, id->tos_set ? id->tos : -1);
	if (err)
		return err;

	erdma_dbg(ep->dev, CM, INFO, "qp %u connects from %pISpc to %pISpc\n",
		  param->qpn, &local, &remote);
	cm_make_request(ep, param);
	ep->ird = param->ird;
	ep->ord = param->ord;
	id->add_ref(id);
	ep->cm_id = id;
	WRITE_ONCE(ep->dip, remote.sin_addr.s_addr);
	WRITE_ONCE(ep->dport, remote.sin_port);
	erdma_ep_set_state(ep, ERDMA_EP_CONNECTING);
	erdma_ep_set_deadline(ep, ERDMA_MPA_CONNECT_MS);

	/* Whatever comes of it changes the socket's state, and that queues the endpoint */
	err = erdma_kernel_connect(ep->sock, (struct sockaddr *)&remote, sizeof(remote),
				   O_NONBLOCK);
	return err == -EINPROGRESS ? 0 : err;
}

/**
 * erdma_connect - start connecting a QP (12.5, active side)
 * @id: of the IW CM, with both addresses
 * @param: QPN, IRD, ORD and private data
 *
 * Context: process.
 * Return: 0, then one CONNECT_REPLY event reports the outcome; -EINVAL for wrong
 * parameters, -EPERM if the QP is not the caller's, the network namespace not the
 * interface's, or as erdma_cm_ask_security(), -EAFNOSUPPORT for other addresses
 * than IPv4, -EISCONN if the QP has a connection, or what TCP says, e.g.
 * -EADDRINUSE, -ENETUNREACH.
 */
int erdma_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct erdma_dev *dev = dev_of(id->device);
	struct erdma_ep *ep;
	int err = -ENOMEM;

	erdma_stat_inc(&dev->stats, ERDMA_STAT_CM_CONNECT);
	ep = erdma_ep_alloc(dev);
	if (ep) {
		mutex_lock(&ep->lock);
		erdma_rec_cm_active(ep, id, param->qpn);
		err = cm_start_connect(ep, id, param);
		if (err) {
			erdma_rec_cm(ep, err, false);
			erdma_ep_close(ep);
		}
		mutex_unlock(&ep->lock);
		erdma_ep_put(ep);
	}
	if (err) {
		erdma_stat_inc(&dev->stats, ERDMA_STAT_CM_CONNECT_FAILED);
		erdma_rec_fail(dev->rec, ERDMA_DIAG_VERB_CONNECT, param->qpn, err);
		erdma_dbg(dev, CM, INFO, "qp %u cannot connect: %pe\n", param->qpn, ERR_PTR(err));
	}
	return err;
}

/**
 * erdma_cm_handle_connecting - TCP may be connected: send the request
 * @ep: endpoint in CONNECTING, locked
 *
 * Context: process.
 */
void erdma_cm_handle_connecting(struct erdma_ep *ep)
{
	struct sock *sk = ep->sock->sk;
	int state = READ_ONCE(sk->sk_state);
	int err;

	if (state == TCP_SYN_SENT || state == TCP_SYN_RECV)
		return;

	if (state == TCP_CLOSE)
		err = sock_error(sk) ?: -ECONNREFUSED;
	else
		err = erdma_cm_send(ep, ep->frame, ep->len, NULL, 0);
	if (err) {
		erdma_cm_fail(ep, err);
		return;
	}

	ep->len = 0;
	erdma_ep_set_state(ep, ERDMA_EP_WAIT_REPLY);
	erdma_ep_set_deadline(ep, ERDMA_MPA_REPLY_MS);
	erdma_ep_queue_missed(ep);	/* what came meanwhile was for CONNECTING */
}

static int cm_finish_connect(struct erdma_ep *ep)
{
	struct erdma_conn conn;
	int err;

	if (ep->peer.reject)
		return -ECONNRESET;	/* 12.8 */
	if (ep->peer.markers || ep->peer.crc)
		return -ECONNREFUSED;	/* 12.3 */

	err = erdma_cm_snapshot(ep, &conn);
	if (err)
		return err;
	erdma_rec_cm_stage(ep, ERDMA_DIAG_CM_DEVICE);
	err = erdma_qp_to_rts(ep->qp, &conn);
	if (err)
		return err;
	err = cm_reply_event(ep, 0, ep->peer.pdata_len);
	if (err) {
		erdma_qp_stop(ep->qp, ERDMA_QPS_ERROR);
		return err;
	}
	erdma_ep_set_state(ep, ERDMA_EP_CONNECTED);
	erdma_ep_clear_deadline(ep);
	erdma_rec_cm(ep, 0, false);
	erdma_stat_inc(&ep->dev->stats, ERDMA_STAT_CM_CONNECT_OK);
	erdma_dbg(ep->dev, CM, INFO, "qp %u connected, peer's cookie %#x\n",
		  ep->qp->qpn, conn.peer_cookie);
	return 0;
}

/**
 * erdma_cm_handle_wait_reply - the reply may be there: the device takes over
 * @ep: endpoint in WAIT_REPLY, locked
 *
 * Context: process.
 */
void erdma_cm_handle_wait_reply(struct erdma_ep *ep)
{
	int err = erdma_cm_receive(ep, true);

	if (err == -EAGAIN)
		return;
	if (!err)
		err = cm_finish_connect(ep);
	if (err)
		erdma_cm_fail(ep, err);
}

/* ---- passive side --------------------------------------------------------- */

static int cm_report_request(struct erdma_ep *ep)
{
	struct erdma_conn conn;
	int err;

	if (ep->peer.markers || ep->peer.crc) {
		erdma_cm_send_reject(ep, NULL, 0);	/* 12.3 */
		return -EPROTO;
	}
	err = erdma_cm_snapshot(ep, &conn);
	if (err)
		return err;

	erdma_dbg(ep->dev, CM, DBG, "request from %pI4:%u to %pI4:%u\n",
		  &conn.dip, ntohs(conn.dport), &conn.sip, ntohs(conn.sport));
	erdma_ep_set_state(ep, ERDMA_EP_REQUESTED);
	erdma_ep_set_deadline(ep, ERDMA_CM_ACCEPT_MS);
	return cm_request_event(ep, &conn);
}

/**
 * erdma_cm_handle_wait_request - the request may be there: ask the application
 * @ep: endpoint in WAIT_REQUEST, locked
 *
 * Context: process.
 */
void erdma_cm_handle_wait_request(struct erdma_ep *ep)
{
	int err = erdma_cm_receive(ep, false);

	if (err == -EAGAIN)
		return;
	if (!err)
		err = cm_report_request(ep);
	if (err)
		erdma_cm_fail(ep, err);
}

/**
 * erdma_cm_handle_requested - the peer did something while the application decides
 * @ep: endpoint in REQUESTED, locked
 *
 * Bytes are against the protocol, FIN and RST mean that the peer gave up.
 *
 * Context: process.
 */
void erdma_cm_handle_requested(struct erdma_ep *ep)
{
	struct erdma_conn conn;
	int err = erdma_cm_snapshot(ep, &conn);

	if (err)
		erdma_cm_fail(ep, err);
}

static int cm_accept(struct erdma_ep *ep, struct iw_cm_id *id,
		     const struct iw_cm_conn_param *param)
{
	struct erdma_mpa_info info = { .reply = true };
	struct erdma_mpa_frame frame;
	struct erdma_conn conn;
	int err;

	erdma_rec_cm_accept(ep, param->qpn);
	err = cm_check_param(ep->dev, param) ?: cm_take_qp(ep, id, param->qpn);
	if (err)
		return err;
	err = erdma_cm_snapshot(ep, &conn);
	if (err)
		return err;

	/* The device continues behind the reply, which is sent afterwards (12.5) */
	conn.passive = true;
	conn.send_nxt += ERDMA_MPA_FIXED_SIZE + param->private_data_len;
	erdma_rec_cm_stage(ep, ERDMA_DIAG_CM_DEVICE);
	err = erdma_qp_to_rts(ep->qp, &conn);
	if (err)
		return err;

	info.cookie = ep->qp->cookie;
	info.cc = conn.cc;
	info.pdata_len = param->private_data_len;
	erdma_mpa_build(&frame, &info);
	ep->ird = param->ird;
	ep->ord = param->ord;
	id->add_ref(id);
	ep->cm_id = id;
	err = erdma_cm_send(ep, &frame, sizeof(frame), param->private_data, info.pdata_len);
	if (!err)
		err = cm_event(ep, IW_CM_EVENT_ESTABLISHED);
	if (err) {
		erdma_qp_stop(ep->qp, ERDMA_QPS_ERROR);
		return err;
	}

	erdma_ep_set_state(ep, ERDMA_EP_CONNECTED);
	erdma_ep_clear_deadline(ep);
	erdma_ep_leave_parent(ep);
	erdma_rec_cm(ep, 0, false);
	erdma_stat_inc(&ep->dev->stats, ERDMA_STAT_CM_ACCEPT_OK);
	erdma_dbg(ep->dev, CM, INFO, "qp %u accepted %pI4:%u, peer's cookie %#x\n",
		  ep->qp->qpn, &conn.dip, ntohs(conn.dport), conn.peer_cookie);
	return 0;
}

/**
 * erdma_accept - accept a requested connection (12.5, passive side)
 * @id: of the IW CM, made by it for the CONNECT_REQUEST event
 * @param: QPN, IRD, ORD and private data
 *
 * Context: process.
 * Return: 0, and ESTABLISHED was delivered; -ECONNRESET if the peer is gone,
 * -EINVAL for wrong parameters, -EPERM if the QP is not the caller's, -EISCONN if
 * the QP has a connection, or the device's error. An error ends the connection.
 */
int erdma_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct erdma_dev *dev = dev_of(id->device);
	struct erdma_ep *ep;
	int err = -ECONNRESET;

	erdma_stat_inc(&dev->stats, ERDMA_STAT_CM_ACCEPT);
	ep = erdma_ep_get(dev, (uintptr_t)id->provider_data);
	if (!ep) {
		erdma_stat_inc(&dev->stats, ERDMA_STAT_CM_ACCEPT_FAILED);
		goto out;
	}

	mutex_lock(&ep->lock);
	if (ep->state == ERDMA_EP_REQUESTED) {
		err = cm_accept(ep, id, param);
		if (err)
			erdma_cm_fail(ep, err);
	} else {
		erdma_stat_inc(&dev->stats, ERDMA_STAT_CM_ACCEPT_FAILED);
	}
	mutex_unlock(&ep->lock);
	erdma_ep_put(ep);
out:
	if (err)
		erdma_rec_fail(dev->rec, ERDMA_DIAG_VERB_ACCEPT, param->qpn, err);
	return err;
}

/**
 * erdma_reject - refuse a requested connection (12.8)
 * @id: of the IW CM, made by it for the CONNECT_REQUEST event
 * @pdata: private data for the peer
 * @len: bytes
 *
 * Context: process.
 * Return: 0, or -ECONNRESET if the peer is gone, or what TCP says.
 */
int erdma_reject(struct iw_cm_id *id, const void *pdata, u8 len)
{
	struct erdma_dev *dev = dev_of(id->device);
	struct erdma_ep *ep;
	int err = -ECONNRESET;

	erdma_stat_inc(&dev->stats, ERDMA_STAT_CM_REJECT);
	ep = erdma_ep_get(dev, (uintptr_t)id->provider_data);
	if (ep) {
		mutex_lock(&ep->lock);
		if (ep->state == ERDMA_EP_REQUESTED) {
			err = erdma_cm_send_reject(ep, pdata, len);
			erdma_rec_cm(ep, err, true);
			erdma_ep_close(ep);
		}
		mutex_unlock(&ep->lock);
		erdma_ep_put(ep);
	}
	if (err) {
		erdma_stat_inc(&dev->stats, ERDMA_STAT_CM_REJECT_FAILED);
		erdma_rec_fail(dev->rec, ERDMA_DIAG_VERB_REJECT, 0, err);
	}
	return err;
}

/* ---- connected ------------------------------------------------------------ */

/**
 * erdma_cm_handle_connected - something happened on the idle socket
 * @ep: endpoint in CONNECTED, locked
 *
 * FIN and RST are the peer's disconnect (12.7), data are ignored.
 *
 * Context: process.
 */
void erdma_cm_handle_connected(struct erdma_ep *ep)
{
	if (READ_ONCE(ep->sock->sk->sk_state) == TCP_ESTABLISHED)
		return;

	cm_event(ep, IW_CM_EVENT_DISCONNECT);
	erdma_qp_stop(ep->qp, ERDMA_QPS_CLOSING);
	cm_close_connected(ep, "the peer");
}

/* ---- QPs for the IW CM ---------------------------------------------------- */

/**
 * erdma_iw_get_qp - find the QP that shall be connected
 * @ibdev: device
 * @qpn: number, from the application
 *
 * The IW CM calls this and then erdma_iw_add_ref(), under a spinlock of its own
 * but with nothing that keeps the QP in between. So the reference for which it
 * calls the second is taken here, by the lookup.
 *
 * Context: any.
 * Return: QP with a reference, NULL if there is none.
 */
struct ib_qp *erdma_iw_get_qp(struct ib_device *ibdev, int qpn)
{
	struct erdma_qp *qp = erdma_qp_get(dev_of(ibdev), qpn);

	return qp ? &qp->ibqp : NULL;
}

/**
 * erdma_iw_add_ref - the IW CM wants a reference
 * @ibqp: QP just returned by erdma_iw_get_qp(), which took it
 *
 * Context: any.
 */
void erdma_iw_add_ref(struct ib_qp *ibqp)
{
}

/**
 * erdma_iw_rem_ref - the IW CM drops its reference
 * @ibqp: QP
 *
 * Context: any.
 */
void erdma_iw_rem_ref(struct ib_qp *ibqp)
{
	erdma_qp_put(qp_of(ibqp));
}

/* ---- device and module ---------------------------------------------------- */

/**
 * erdma_cm_dev_init - prepare a device, before registration
 * @dev: device
 *
 * Context: process.
 */
void erdma_cm_dev_init(struct erdma_dev *dev)
{
	spin_lock_init(&dev->ep_lock);
	INIT_LIST_HEAD(&dev->endpoints);
	xa_init_flags(&dev->eps, XA_FLAGS_ALLOC1);
	init_waitqueue_head(&dev->endpoints_wait);
}

static void cm_abort(struct erdma_ep *ep)
{
	mutex_lock(&ep->lock);
	if (ep->state == ERDMA_EP_CONNECTED) {
		erdma_qp_stop(ep->qp, ERDMA_QPS_ERROR);
		cm_close_connected(ep, "removal");
	} else if (ep->state != ERDMA_EP_CLOSED) {
		erdma_cm_fail(ep, -ENODEV);
	}
	mutex_unlock(&ep->lock);
}

/**
 * erdma_cm_dev_exit - close what is left of a device's connections
 * @dev: device, unregistered: no operation of the IW CM runs or begins
 *
 * Left are connections that no application ever saw, and work about to return.
 *
 * Context: process. Waits until all endpoints are freed, at most a minute;
 * none can be busy longer than a device command lasts. If one is, the device's
 * memory is never freed.
 */
void erdma_cm_dev_exit(struct erdma_dev *dev)
{
	struct erdma_ep *ep;
	int i;

	while ((ep = erdma_ep_next_live(dev))) {
		cm_abort(ep);
		erdma_ep_put(ep);
	}

	for (i = 0; i < CM_EXIT_WAITS; i++) {
		if (wait_event_timeout(dev->endpoints_wait, list_empty_careful(&dev->endpoints),
				       CM_EXIT_WAIT_S * HZ))
			break;
		dev_warn(&dev->pdev->dev, "waiting for connections to close, %d s\n",
			 (i + 1) * CM_EXIT_WAIT_S);
	}
	/* Whoever has one still has the device's lock and counters: their memory is leaked */
	if (WARN(i == CM_EXIT_WAITS, "erdma: connections of a removed device are in use\n"))
		get_device(&dev->ibdev.dev);

	/* ep_free() of the last one may still hold it */
	spin_lock(&dev->ep_lock);
	spin_unlock(&dev->ep_lock);
}

/**
 * erdma_cm_module_init - module initialization
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int erdma_cm_module_init(void)
{
	int err;

	err = erdma_ep_module_init();
	if (err)
		return err;
	err = erdma_listen_module_init();
	if (err)
		erdma_ep_module_exit();
	return err;
}

/**
 * erdma_cm_module_exit - module exit, after the last device is gone
 *
 * Context: process.
 */
void erdma_cm_module_exit(void)
{
	erdma_listen_module_exit();
	erdma_ep_module_exit();
}
