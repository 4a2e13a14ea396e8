// SPDX-License-Identifier: GPL-2.0-or-later
/* See rdma_pair.h. */
#include "rdma_pair.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static int complain(const char *what)
{
	int err = errno ? errno : EIO;

	fprintf(stderr, "# %s: %s\n", what, strerror(err));
	return -err;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

struct rdma_cm_event *next_event(struct rdma_event_channel *channel)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *e;

	errno = ETIMEDOUT;
	if (poll(&fd, 1, PAIR_WAIT_MS) != 1)
		return NULL;
	if (rdma_get_cm_event(channel, &e))
		return NULL;
	return e;
}

/* Waits for one event that must be of this type. */
static int want_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type,
		      struct rdma_cm_id **id, struct pair_options *o)
{
	struct rdma_cm_event *e = next_event(channel);
	int ret = 0;

	if (!e) {
		fprintf(stderr, "# waited %d ms for %s\n", PAIR_WAIT_MS, rdma_event_str(type));
		return -ETIMEDOUT;
	}
	if (e->event != type) {
		o->connect_event = e->event;
		o->connect_status = e->status;
		if (!o->reject)
			fprintf(stderr, "# got event %s (status %d) instead of %s\n",
				rdma_event_str(e->event), e->status, rdma_event_str(type));
		ret = -EPROTO;
	} else if (id) {
		*id = e->id;
		o->got_private_len = e->param.conn.private_data_len;
		if (e->param.conn.private_data)
			memcpy(o->got_private, e->param.conn.private_data, o->got_private_len);
	}
	rdma_ack_cm_event(e);
	return ret;
}

static int side_open(struct pair_side *s, const struct pair_options *o)
{
	uint32_t send_wr = o->send_wr ? o->send_wr : 64, recv_wr = o->recv_wr ? o->recv_wr : 64;
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = o->all_signaled,
		.cap = {
			.max_send_wr = send_wr,
			.max_recv_wr = recv_wr,
			.max_send_sge = o->send_sge ? o->send_sge : 1,
			.max_recv_sge = 1,
			.max_inline_data = o->inline_bytes,
		},
	};

	s->pd = ibv_alloc_pd(s->id->verbs);
	if (!s->pd)
		return complain("ibv_alloc_pd");
	s->events = ibv_create_comp_channel(s->id->verbs);
	if (!s->events)
		return complain("ibv_create_comp_channel");
	s->cq = ibv_create_cq(s->id->verbs, (int)(send_wr + recv_wr) * 2, NULL, s->events, 0);
	if (!s->cq)
		return complain("ibv_create_cq");
	attr.send_cq = s->cq;
	attr.recv_cq = s->cq;
	if (rdma_create_qp(s->id, s->pd, &attr))
		return complain("rdma_create_qp");
	s->qp = s->id->qp;
	return 0;
}

static void side_close(struct pair_side *s)
{
	if (s->qp)
		rdma_destroy_qp(s->id);
	if (s->cq)
		ibv_destroy_cq(s->cq);
	if (s->events)
		ibv_destroy_comp_channel(s->events);
	if (s->pd)
		ibv_dealloc_pd(s->pd);
	if (s->id)
		rdma_destroy_id(s->id);
}

static int set_address(struct sockaddr_in *in, const char *text)
{
	memset(in, 0, sizeof(*in));
	in->sin_family = AF_INET;
	if (text && inet_pton(AF_INET, text, &in->sin_addr) != 1) {
		errno = EINVAL;
		return complain(text);
	}
	return 0;
}

/*
 * Does not block: librdmacm waits for the next event when it could not do its part
 * for a connection request, and there may be none.
 */
static struct rdma_event_channel *channel_new(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	if (channel && fcntl(channel->fd, F_SETFL, O_NONBLOCK)) {
		rdma_destroy_event_channel(channel);
		return NULL;
	}
	return channel;
}

static int start_listening(struct pair *p, struct sockaddr_in *to)
{
	if (rdma_create_id(p->channel_b, &p->listener, NULL, RDMA_PS_TCP))
		return complain("rdma_create_id");
	if (rdma_bind_addr(p->listener, (struct sockaddr *)to))
		return complain("rdma_bind_addr");
	if (rdma_listen(p->listener, 16))
		return complain("rdma_listen");
	to->sin_port = rdma_get_src_port(p->listener);
	return 0;
}

static int reach_peer(struct pair *p, struct pair_options *o, struct sockaddr_in *to)
{
	struct sockaddr_in from;
	int ret = set_address(&from, o->address_a);

	if (ret)
		return ret;
	if (rdma_create_id(p->channel_a, &p->a.id, NULL, RDMA_PS_TCP))
		return complain("rdma_create_id");
	if (rdma_resolve_addr(p->a.id, o->address_a ? (struct sockaddr *)&from : NULL,
			      (struct sockaddr *)to, 10000))
		return complain("rdma_resolve_addr");
	ret = want_event(p->channel_a, RDMA_CM_EVENT_ADDR_RESOLVED, NULL, o);
	if (ret)
		return ret;
	if (rdma_resolve_route(p->a.id, 10000))
		return complain("rdma_resolve_route");
	return want_event(p->channel_a, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL, o);
}

static struct rdma_conn_param conn_param(void)
{
	return (struct rdma_conn_param){
		.responder_resources = 16,
		.initiator_depth = 16,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
}

static int request(struct pair *p, const struct pair_options *o)
{
	struct rdma_conn_param param = conn_param();

	param.private_data = o->private_data;
	param.private_data_len = o->private_len;
	return rdma_connect(p->a.id, &param) ? complain("rdma_connect") : 0;
}

int pair_connect(struct pair *p)
{
	return request(p, &(struct pair_options){});
}

int pair_answer(struct pair *p, struct pair_options *o)
{
	int ret = want_event(p->channel_b, RDMA_CM_EVENT_CONNECT_REQUEST, &p->b.id, o);

	return ret || o->reject ? ret : side_open(&p->b, o);
}

int pair_accept(struct pair *p)
{
	struct rdma_conn_param param = conn_param();

	return rdma_accept(p->b.id, &param) ? complain("rdma_accept") : 0;
}

int pair_established(struct pair *p, struct pair_options *o)
{
	/* Taking this event is what completes the handshake on RoCE devices. */
	int ret = want_event(p->channel_a, RDMA_CM_EVENT_ESTABLISHED, NULL, o);

	return ret ? ret : want_event(p->channel_b, RDMA_CM_EVENT_ESTABLISHED, NULL, o);
}

static int shake_hands(struct pair *p, struct pair_options *o)
{
	int ret = request(p, o);

	if (!ret)
		ret = pair_answer(p, o);
	if (ret)
		return ret;
	if (o->reject) {
		if (rdma_reject(p->b.id, o->private_data, o->private_len))
			return complain("rdma_reject");
		return want_event(p->channel_a, RDMA_CM_EVENT_ESTABLISHED, NULL, o);
	}
	ret = pair_accept(p);
	return ret ? ret : pair_established(p, o);
}

int pair_prepare(struct pair *p, struct pair_options *o)
{
	struct sockaddr_in to;
	int ret;

	memset(p, 0, sizeof(*p));
	ret = set_address(&to, o->address_b);
	if (ret)
		return ret;
	p->channel_a = channel_new();
	p->channel_b = channel_new();
	if (!p->channel_a || !p->channel_b)
		return complain("rdma_create_event_channel");
	ret = start_listening(p, &to);
	if (!ret)
		ret = reach_peer(p, o, &to);
	return ret ? ret : side_open(&p->a, o);
}

int pair_open(struct pair *p, struct pair_options *o)
{
	int ret = pair_prepare(p, o);

	return ret ? ret : shake_hands(p, o);
}

void pair_close(struct pair *p)
{
	side_close(&p->a);
	side_close(&p->b);
	if (p->listener)
		rdma_destroy_id(p->listener);
	if (p->channel_a)
		rdma_destroy_event_channel(p->channel_a);
	if (p->channel_b)
		rdma_destroy_event_channel(p->channel_b);
	memset(p, 0, sizeof(*p));
}

int region_new(struct region *r, struct pair_side *s, size_t len, size_t offset, int access)
{
	r->map_len = len + offset;
	r->map = mmap(NULL, r->map_len ? r->map_len : 1, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r->map == MAP_FAILED) {
		r->map = NULL;
		return complain("mmap");
	}
	r->p = (uint8_t *)r->map + offset;
	r->len = len;
	r->mr = ibv_reg_mr(s->pd, r->p, len, access);
	return r->mr ? 0 : complain("ibv_reg_mr");
}

void region_free(struct region *r)
{
	if (r->mr)
		ibv_dereg_mr(r->mr);
	if (r->map)
		munmap(r->map, r->map_len ? r->map_len : 1);
	memset(r, 0, sizeof(*r));
}

static uint8_t pattern_at(size_t i, uint32_t seed)
{
	uint32_t x = (uint32_t)i * 2654435761u + seed * 40503u;

	return (uint8_t)(x >> 24 ^ x >> 11);
}

void pattern_fill(void *p, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++)
		((uint8_t *)p)[i] = pattern_at(i, seed);
}

bool pattern_is(const void *p, size_t len, uint32_t seed)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < len; i++) {
		if (b[i] != pattern_at(i, seed)) {
			fprintf(stderr, "# byte %zu of %zu is %02x instead of %02x\n", i, len, b[i],
				pattern_at(i, seed));
			return false;
		}
	}
	return true;
}

bool next_wc(struct ibv_cq *cq, struct ibv_wc *wc)
{
	uint64_t end = now_ms() + PAIR_WAIT_MS;
	int n;

	do {
		n = ibv_poll_cq(cq, 1, wc);
		if (n)
			return n == 1;
		sched_yield();
	} while (now_ms() < end);
	fprintf(stderr, "# waited %d ms for a completion\n", PAIR_WAIT_MS);
	return false;
}

bool next_cq_event(struct pair_side *s)
{
	struct pollfd fd = { .fd = s->events->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&fd, 1, PAIR_WAIT_MS) != 1) {
		fprintf(stderr, "# waited %d ms for a completion event\n", PAIR_WAIT_MS);
		return false;
	}
	if (ibv_get_cq_event(s->events, &cq, &context))
		return false;
	ibv_ack_cq_events(cq, 1);
	return cq == s->cq;
}
