// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The MPA exchange on a kernel TCP socket, and the state of the connection that the
 * device takes over (docs/erdma-hardware.md, 12.3 and 12.5). What is in a frame
 * knows erdma_mpa.c.
 */
#include <linux/sched/mm.h>
#include <linux/tcp.h>
#include <net/tcp.h>

#include "erdma_cm.h"

/*
 * TCP takes the page for the bytes from the task, which has one, if the socket allows it to
 * wait for a file system; else it gives the socket pages of its own, 32 KiB for as long as it
 * lives. Nothing waits for IO all the same.
 */
static int cm_send_msg(struct erdma_ep *ep, struct kvec *vec, size_t n, size_t len)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	unsigned int noio = memalloc_noio_save();
	struct sock *sk = ep->sock->sk;
	int sent;

	sk->sk_allocation = GFP_KERNEL;
	sent = kernel_sendmsg(ep->sock, &msg, vec, n, len);
	sk->sk_allocation = GFP_NOIO;
	memalloc_noio_restore(noio);
	return sent;
}

/**
 * erdma_cm_send - send a frame
 * @ep: endpoint whose socket is connected, locked
 * @head: fixed part
 * @head_len: bytes
 * @pdata: private data behind it
 * @pdata_len: bytes
 *
 * Context: process.
 * Return: 0, -ENOBUFS, or what TCP says.
 */
int erdma_cm_send(struct erdma_ep *ep, void *head, size_t head_len, const void *pdata,
		  size_t pdata_len)
{
	struct kvec vec[] = {
		{ .iov_base = head, .iov_len = head_len },
		{ .iov_base = (void *)pdata, .iov_len = pdata_len },
	};
	int sent = cm_send_msg(ep, vec, ARRAY_SIZE(vec), head_len + pdata_len);

	if (sent < 0)
		return sent;
	/* At most 283 bytes in an empty send buffer */
	return sent == head_len + pdata_len ? 0 : -ENOBUFS;
}

/**
 * erdma_cm_receive - read what there is of one frame
 * @ep: endpoint, locked
 * @reply: a reply is expected, else a request
 *
 * Context: process.
 * Return: 0: @ep->peer is the frame; -EAGAIN: not complete yet; -ECONNRESET: it
 * ends early; -EPROTO: not the frame expected; or what TCP says.
 */
int erdma_cm_receive(struct erdma_ep *ep, bool reply)
{
	int err = -EAGAIN;

	while (err == -EAGAIN) {
		struct msghdr msg = {};
		struct kvec vec = {
			.iov_base = ep->frame + ep->len,
			.iov_len = sizeof(ep->frame) - ep->len,
		};
		int got;

		got = kernel_recvmsg(ep->sock, &msg, &vec, 1, vec.iov_len, MSG_DONTWAIT);
		if (got < 0)
			return got;
		if (!got)
			return -ECONNRESET;	/* FIN within the frame */
		ep->len += got;
		err = erdma_mpa_parse(ep->frame, ep->len, &ep->peer);
	}
	ep->log.frame = !err;
	if (!err && ep->peer.reply != reply)
		err = -EPROTO;
	if (!err && !reply && ep->peer.reject)
		err = -EPROTO;
	return err;
}

/**
 * erdma_cm_send_reject - send a reply that refuses the connection (12.8)
 * @ep: endpoint with the peer's request, locked
 * @pdata: private data
 * @len: bytes
 *
 * Context: process.
 * Return: as erdma_cm_send().
 */
int erdma_cm_send_reject(struct erdma_ep *ep, const void *pdata, u8 len)
{
	struct erdma_mpa_info info = {
		.reply = true,
		.reject = true,
		.cookie = ep->peer.cookie,	/* 12.8: the request's own */
		.cc = ep->peer.cc,
		.pdata_len = len,
	};
	struct erdma_mpa_frame frame;

	erdma_mpa_build(&frame, &info);
	return erdma_cm_send(ep, &frame, sizeof(frame), pdata, len);
}

/**
 * erdma_cm_snapshot - the TCP connection as the device shall continue it
 * @ep: endpoint that has the peer's frame, locked
 * @conn: filled
 *
 * Both sequence numbers are final: the stack sends nothing any more of its own
 * accord but ACKs, and what we sent went out, because an empty connection has the
 * window and the peer answered it.
 *
 * Context: process.
 * Return: 0; -ECONNRESET: the peer closed it; -EPROTO: it sent more than its frame
 * (12.3).
 */
int erdma_cm_snapshot(struct erdma_ep *ep, struct erdma_conn *conn)
{
	struct sock *sk = ep->sock->sk;
	const struct inet_sock *inet = inet_sk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	int err = 0;

	lock_sock(sk);
	if (sk->sk_state != TCP_ESTABLISHED)
		err = -ECONNRESET;
	else if (tp->rcv_nxt != tp->copied_seq || tp->snd_nxt != tp->write_seq)
		err = -EPROTO;
	*conn = (struct erdma_conn) {
		.sip = inet->inet_saddr,
		.dip = inet->inet_daddr,
		.sport = inet->inet_sport,
		.dport = inet->inet_dport,
		.send_nxt = tp->write_seq,
		.recv_nxt = tp->rcv_nxt,
		.peer_cookie = ep->peer.cookie,
		.mss = tp->rx_opt.mss_clamp,
		.cc = erdma_mpa_pick_cc(ep->dev->attrs.cc, ep->peer.cc),
	};
	release_sock(sk);
	return err;
}
