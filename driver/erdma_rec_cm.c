// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Recorder of connections (CM): an endpoint collects how far it got and how long each
 * stage took, and writes one entry when the attempt ends, well or badly.
 */
#include <linux/in.h>
#include <net/inet_sock.h>

#include "erdma_cm.h"
#include "erdma_trace.h"

/**
 * erdma_rec_cm_begin - an endpoint is for a connection
 * @ep: new endpoint, locked
 * @active: this side connects
 * @owner: who connects or listens
 */
void erdma_rec_cm_begin(struct erdma_ep *ep, bool active, const struct erdma_rec_owner *owner)
{
	ep->log.active = active;
	ep->log.owner = *owner;
	ep->log.entered_ns = ktime_get_ns();
}

/**
 * erdma_rec_cm_active - the connection that an application asks for
 * @ep: new endpoint, locked
 * @id: of the IW CM, with both addresses
 * @qpn: number, from the application
 *
 * Context: process; the caller of the verb.
 */
void erdma_rec_cm_active(struct erdma_ep *ep, const struct iw_cm_id *id, u32 qpn)
{
	const struct sockaddr_in *local = (const struct sockaddr_in *)&id->m_local_addr;
	const struct sockaddr_in *remote = (const struct sockaddr_in *)&id->m_remote_addr;
	struct erdma_rec_owner owner;

	erdma_rec_current(&owner);
	erdma_rec_cm_begin(ep, true, &owner);
	ep->log.qpn = qpn;
	if (local->sin_family != AF_INET || remote->sin_family != AF_INET)
		return;
	ep->log.saddr = local->sin_addr.s_addr;
	ep->log.daddr = remote->sin_addr.s_addr;
	ep->log.sport = local->sin_port;
	ep->log.dport = remote->sin_port;
}

/**
 * erdma_rec_cm_passive - the connection that a listening socket got
 * @ep: new endpoint with its socket, locked
 * @owner: who listens
 */
void erdma_rec_cm_passive(struct erdma_ep *ep, const struct erdma_rec_owner *owner)
{
	const struct inet_sock *inet = inet_sk(ep->sock->sk);

	erdma_rec_cm_begin(ep, false, owner);
	ep->log.saddr = inet->inet_saddr;
	ep->log.daddr = inet->inet_daddr;
	ep->log.sport = inet->inet_sport;
	ep->log.dport = inet->inet_dport;
}

/**
 * erdma_rec_cm_accept - an application accepts the connection
 * @ep: endpoint, locked
 * @qpn: number, from the application
 *
 * Context: process; the caller of the verb.
 */
void erdma_rec_cm_accept(struct erdma_ep *ep, u32 qpn)
{
	erdma_rec_current(&ep->log.owner);
	ep->log.qpn = qpn;
}

/**
 * erdma_rec_cm_stage - an endpoint reached the next stage
 * @ep: endpoint, locked
 * @stage: ERDMA_DIAG_CM_*
 */
void erdma_rec_cm_stage(struct erdma_ep *ep, u32 stage)
{
	u64 now = ktime_get_ns();

	ep->log.stage_us[ep->log.stage] += div_u64(now - ep->log.entered_ns, NSEC_PER_USEC);
	ep->log.entered_ns = now;
	if (ep->log.stage == stage)
		return;
	ep->log.stage = stage;
	trace_erdma_cm(ep, false, 0);
}

static u32 cm_flags(const struct erdma_ep *ep, bool rejected)
{
	u32 flags = ep->log.active ? ERDMA_DIAG_CM_ACTIVE : 0;

	if (rejected)
		flags |= ERDMA_DIAG_CM_REJECTED;
	if (!ep->log.frame)
		return flags;
	flags |= ERDMA_DIAG_CM_FRAME;
	if (ep->peer.reply && ep->peer.reject)
		flags |= ERDMA_DIAG_CM_REJECTED;
	if (ep->peer.markers)
		flags |= ERDMA_DIAG_CM_MARKERS;
	if (ep->peer.crc)
		flags |= ERDMA_DIAG_CM_CRC;
	return flags;
}

/**
 * erdma_rec_cm - record the end of an attempt to connect
 * @ep: endpoint, locked; not closed yet
 * @err: why there is no connection, 0 if there is one, or if this side rejected it
 * @rejected: this side rejected it
 *
 * Only the first call for an endpoint has an effect.
 *
 * Context: process.
 */
void erdma_rec_cm(struct erdma_ep *ep, int err, bool rejected)
{
	struct erdma_diag_log_cm entry = {
		.flags = cm_flags(ep, rejected),
		.err = -err,
		.qpn = ep->log.qpn,
		.cookie = ep->qp ? ep->qp->cookie : 0,
	};

	if (ep->log.done || !ep->log.entered_ns)
		return;
	ep->log.done = true;
	if (ep->log.stage != ERDMA_DIAG_CM_DONE)	/* no time passes in that one */
		erdma_rec_cm_stage(ep, ep->log.stage);
	entry.stage = ep->log.stage;
	trace_erdma_cm(ep, true, err);
	memcpy(entry.stage_us, ep->log.stage_us, sizeof(ep->log.stage_us));
	if (ep->log.daddr) {
		entry.family = AF_INET;
		entry.sport = ntohs(ep->log.sport);
		entry.dport = ntohs(ep->log.dport);
		memcpy(entry.saddr, &ep->log.saddr, sizeof(ep->log.saddr));
		memcpy(entry.daddr, &ep->log.daddr, sizeof(ep->log.daddr));
	}
	if (ep->log.frame) {
		entry.peer_cookie = ep->peer.cookie;
		entry.peer_cc = ep->peer.cc;
		entry.pdata_len = ep->peer.pdata_len;
	}
	erdma_rec_add(ep->dev->rec, ERDMA_DIAG_LOG_CM, &ep->log.owner, &entry);
}
