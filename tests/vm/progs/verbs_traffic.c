// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Traffic between two machines in which every byte is checked, and which says
 * how a connection ended.
 *
 *   verbs_traffic serve ADDRESS PORT LIMIT_MS
 *   verbs_traffic run ADDRESS PORT LIMIT_MS ROUNDS [CONNECTIONS]   ROUNDS 0: endless
 *   verbs_traffic hold ADDRESS PORT LIMIT_MS CONNECTIONS   one round, then silence
 *
 * A round of a client: four messages that the server checks and sends back, a
 * WRITE of 256 KiB, a READ of the same place into another buffer, and a FETCH
 * AND ADD, all posted at once. No wait is longer than LIMIT_MS.
 *
 * A line per connection says how it ended. Exit status: 0 as planned; 1 wrong
 * data, or something else that must not be; 3 the connection was lost and
 * that was reported (error completion or disconnect); 4 nothing came for LIMIT_MS;
 * 5 no connection came about.
 */
#include "rdma_pair.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE = 4096, BATCH = 4, BULK = 256 * 1024, RECEIVES = 16, SENDS = 32, MAX_CLIENTS = 64 };
enum outcome { FINE = 0, BROKEN = 1, LOST = 3, SILENT = 4, UNCONNECTED = 5 };

/* Work request IDs: what, and which buffer of it */
enum { ID_RECV = 0x100, ID_SEND = 0x200, ID_WRITE = 0x300, ID_READ, ID_ATOMIC };

/* What the server says in its reply: where the client may write and read. */
struct invitation {
	uint64_t address;
	uint32_t key;
} __attribute__((packed));

struct buffers {
	uint8_t recv[RECEIVES][MESSAGE];
	uint8_t send[RECEIVES][MESSAGE];
	uint8_t bulk[BULK], back[BULK];		/* client: source, sink; server: target */
	uint64_t counter;
};

struct connection {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_comp_channel *completions;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct buffers *buf;
	struct invitation there;
	uint32_t seed;
	uint64_t rounds, last_good_ms;
	bool opened;
	char why[128];
};

static int limit_ms;
static bool hold;			/* do nothing after the first round */
static volatile sig_atomic_t stopping, wrong;	/* wrong: some client's end was BROKEN */

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static enum outcome ended(struct connection *c, enum outcome how, const char *what,
			  const char *detail)
{
	snprintf(c->why, sizeof(c->why), "%s%s%s", what, *detail ? ": " : "", detail);
	return how;
}

static enum outcome failed_call(struct connection *c, const char *what)
{
	return ended(c, BROKEN, what, strerror(errno));
}

/* ---- opening ---- */

/* The next event of the connection manager; must be @type, or NULL and a reason in c->why. */
static struct rdma_cm_event *want(struct connection *c, enum rdma_cm_event_type type)
{
	struct pollfd fd = { .fd = c->channel->fd, .events = POLLIN };
	struct rdma_cm_event *e;

	if (poll(&fd, 1, limit_ms) != 1) {
		ended(c, UNCONNECTED, "nothing received instead of", rdma_event_str(type));
		return NULL;
	}
	if (rdma_get_cm_event(c->channel, &e)) {
		failed_call(c, "rdma_get_cm_event");
		return NULL;
	}
	if (e->event == type)
		return e;
	ended(c, UNCONNECTED, rdma_event_str(e->event), strerror(abs(e->status)));
	rdma_ack_cm_event(e);
	return NULL;
}

static bool expect(struct connection *c, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *e = want(c, type);

	return e && !rdma_ack_cm_event(e);
}

static enum outcome post_receive(struct connection *c, unsigned n)
{
	struct ibv_sge sge = { (uintptr_t)c->buf->recv[n], MESSAGE, c->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = ID_RECV + n, .sg_list = &sge, .num_sge = 1 }, *bad;

	return ibv_post_recv(c->id->qp, &wr, &bad) ? failed_call(c, "ibv_post_recv") : FINE;
}

static enum outcome open_queues(struct connection *c)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = SENDS, .max_recv_wr = RECEIVES, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	c->opened = true;
	c->buf = calloc(1, sizeof(*c->buf));
	c->pd = ibv_alloc_pd(c->id->verbs);
	c->completions = ibv_create_comp_channel(c->id->verbs);
	if (!c->buf || !c->pd || !c->completions)
		return failed_call(c, "opening");
	c->cq = ibv_create_cq(c->id->verbs, SENDS + RECEIVES, NULL, c->completions, 0);
	if (!c->cq)
		return failed_call(c, "ibv_create_cq");
	c->mr = ibv_reg_mr(c->pd, c->buf, sizeof(*c->buf),
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	if (!c->mr)
		return failed_call(c, "ibv_reg_mr");
	attr.send_cq = c->cq;
	attr.recv_cq = c->cq;
	if (rdma_create_qp(c->id, c->pd, &attr))
		return failed_call(c, "rdma_create_qp");
	for (unsigned n = 0; n < RECEIVES; n++) {
		if (post_receive(c, n))
			return BROKEN;
	}
	return FINE;
}

static void close_all(struct connection *c)
{
	if (c->id && c->id->qp)
		rdma_destroy_qp(c->id);
	if (c->mr)
		ibv_dereg_mr(c->mr);
	if (c->cq)
		ibv_destroy_cq(c->cq);
	if (c->completions)
		ibv_destroy_comp_channel(c->completions);
	if (c->pd)
		ibv_dealloc_pd(c->pd);
	if (c->id)
		rdma_destroy_id(c->id);
	if (c->channel)
		rdma_destroy_event_channel(c->channel);
	free(c->buf);
}

/* ---- one completion ---- */

/* An event of an open connection: all but its end are of no interest. */
static enum outcome look_at_event(struct connection *c)
{
	struct rdma_cm_event *e;
	enum rdma_cm_event_type type;

	if (rdma_get_cm_event(c->channel, &e))
		return failed_call(c, "rdma_get_cm_event");
	type = e->event;
	rdma_ack_cm_event(e);
	if (type == RDMA_CM_EVENT_ESTABLISHED)
		return FINE;
	return ended(c, LOST, "event", rdma_event_str(type));
}

static enum outcome look_at_completions(struct connection *c)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(c->completions, &cq, &context))
		return failed_call(c, "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	return FINE;
}

static enum outcome take(struct connection *c, struct ibv_wc *wc)
{
	uint64_t begin = now_ms();
	bool armed = false;

	for (;;) {
		struct pollfd fds[2] = { { .fd = c->completions->fd, .events = POLLIN },
					 { .fd = c->channel->fd, .events = POLLIN } };
		enum outcome how = FINE;
		uint64_t waited;
		int n = ibv_poll_cq(c->cq, 1, wc);

		if (n < 0)
			return failed_call(c, "ibv_poll_cq");
		if (n && wc->status)
			return ended(c, LOST, "completion", ibv_wc_status_str(wc->status));
		if (n) {
			c->last_good_ms = now_ms();
			return FINE;
		}
		if (!armed) {			/* and look again: it may have come before */
			if (ibv_req_notify_cq(c->cq, 0))
				return failed_call(c, "ibv_req_notify_cq");
			armed = true;
			continue;
		}
		waited = now_ms() - begin;
		if (waited >= (uint64_t)limit_ms)
			return ended(c, SILENT, "nothing received", "");
		if (poll(fds, 2, limit_ms - (int)waited) < 0 && errno != EINTR)
			return failed_call(c, "poll");
		if (stopping)
			return ended(c, FINE, "stopped", "");
		if (fds[0].revents) {
			how = look_at_completions(c);
			armed = false;
		}
		if (!how && fds[1].revents)
			how = look_at_event(c);
		if (how)
			return how;
	}
}

static enum outcome post(struct connection *c, struct ibv_send_wr *wr, void *at, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)at, len, c->mr->lkey };
	struct ibv_send_wr *bad;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	return ibv_post_send(c->id->qp, wr, &bad) ? failed_call(c, "ibv_post_send") : FINE;
}

/* A message starts with its seed. */
static void write_message(uint8_t *m, uint32_t seed)
{
	memcpy(m, &seed, sizeof(seed));
	pattern_fill(m + sizeof(seed), MESSAGE - sizeof(seed), seed);
}

static bool right_message(const uint8_t *m)
{
	uint32_t seed;

	memcpy(&seed, m, sizeof(seed));
	return pattern_is(m + sizeof(seed), MESSAGE - sizeof(seed), seed);
}

/* ---- the server ---- */

static enum outcome answer(struct connection *c, const struct ibv_wc *wc)
{
	unsigned n = (unsigned)wc->wr_id - ID_RECV;
	struct ibv_send_wr wr = { .wr_id = ID_SEND + n, .opcode = IBV_WR_SEND };

	if (wc->byte_len != MESSAGE || !right_message(c->buf->recv[n]))
		return ended(c, BROKEN, "wrong data in a message", "");
	memcpy(c->buf->send[n], c->buf->recv[n], MESSAGE);
	c->rounds += n == 0;
	if (post_receive(c, n))
		return BROKEN;
	return post(c, &wr, c->buf->send[n], MESSAGE);
}

static enum outcome serve_client(struct connection *c)
{
	for (;;) {
		struct ibv_wc wc;
		enum outcome how = take(c, &wc);

		if (!how && !*c->why && wc.opcode == IBV_WC_RECV)
			how = answer(c, &wc);
		if (how || *c->why)
			return how;
	}
}

static void *client_thread(void *arg)
{
	struct connection *c = arg;
	enum outcome how = serve_client(c);

	printf("connection from %s ended with %d after %llu messages: %s\n",
	       inet_ntoa(((struct sockaddr_in *)rdma_get_peer_addr(c->id))->sin_addr), how,
	       (unsigned long long)c->rounds * RECEIVES, c->why);
	fflush(stdout);
	if (how == BROKEN)
		wrong = 1;
	close_all(c);
	free(c);
	return NULL;
}

/* A connection request: accept it and give it a thread and an event channel. */
static enum outcome take_client(struct rdma_cm_id *id, pthread_t *thread)
{
	struct connection *c = calloc(1, sizeof(*c));
	struct invitation here;
	struct rdma_conn_param param = {
		.responder_resources = 16, .initiator_depth = 16, .retry_count = 7,
		.rnr_retry_count = 7, .private_data = &here, .private_data_len = sizeof(here),
	};

	if (!c)
		return BROKEN;
	c->id = id;
	c->channel = rdma_create_event_channel();
	if (!c->channel || rdma_migrate_id(id, c->channel) || open_queues(c))
		goto bad;
	here.address = (uintptr_t)&c->buf->bulk;
	here.key = c->mr->rkey;
	if (rdma_accept(id, &param) || pthread_create(thread, NULL, client_thread, c))
		goto bad;
	return FINE;
bad:
	printf("a connection could not be taken: %s %s\n", c->why, strerror(errno));
	close_all(c);
	free(c);
	return BROKEN;
}

static void stop(int sig)
{
	(void)sig;
	stopping = 1;
}

static struct sockaddr_in place(const char *address, const char *port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };

	if (inet_pton(AF_INET, address, &in.sin_addr) != 1) {
		fprintf(stderr, "%s is not an address\n", address);
		exit(2);
	}
	return in;
}

static int serve(struct sockaddr_in *at)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *listener;

	if (!channel || rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)at) || rdma_listen(listener, MAX_CLIENTS)) {
		perror("listening");
		return UNCONNECTED;
	}
	while (!stopping) {
		struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
		struct rdma_cm_event *e;
		struct rdma_cm_id *id;
		pthread_t thread;

		if (poll(&fd, 1, 500) != 1)
			continue;
		if (rdma_get_cm_event(channel, &e))
			break;
		id = e->event == RDMA_CM_EVENT_CONNECT_REQUEST ? e->id : NULL;
		rdma_ack_cm_event(e);
		if (id && !take_client(id, &thread))
			pthread_detach(thread);
	}
	return wrong ? BROKEN : FINE;
}

/* ---- the client ---- */

static enum outcome connect_to(struct connection *c, struct sockaddr_in *to)
{
	struct rdma_conn_param param = {
		.responder_resources = 16, .initiator_depth = 16, .retry_count = 7,
		.rnr_retry_count = 7,
	};
	struct rdma_cm_event *e;

	c->channel = rdma_create_event_channel();
	if (!c->channel || rdma_create_id(c->channel, &c->id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(c->id, NULL, (struct sockaddr *)to, limit_ms))
		return failed_call(c, "resolving the address");
	if (!expect(c, RDMA_CM_EVENT_ADDR_RESOLVED))
		return UNCONNECTED;
	if (rdma_resolve_route(c->id, limit_ms))
		return failed_call(c, "rdma_resolve_route");
	if (!expect(c, RDMA_CM_EVENT_ROUTE_RESOLVED))
		return UNCONNECTED;
	if (open_queues(c))
		return BROKEN;
	if (rdma_connect(c->id, &param))
		return failed_call(c, "rdma_connect");
	e = want(c, RDMA_CM_EVENT_ESTABLISHED);
	if (!e)
		return UNCONNECTED;
	if (e->param.conn.private_data_len >= sizeof(c->there))
		memcpy(&c->there, e->param.conn.private_data, sizeof(c->there));
	rdma_ack_cm_event(e);
	return FINE;
}

static enum outcome post_round(struct connection *c)
{
	struct ibv_send_wr write = { .wr_id = ID_WRITE, .opcode = IBV_WR_RDMA_WRITE };
	struct ibv_send_wr read = { .wr_id = ID_READ, .opcode = IBV_WR_RDMA_READ };
	struct ibv_send_wr add = { .wr_id = ID_ATOMIC, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD };

	for (unsigned n = 0; n < BATCH; n++) {
		struct ibv_send_wr send = { .wr_id = ID_SEND + n, .opcode = IBV_WR_SEND };

		write_message(c->buf->send[n], c->seed + n);
		if (post(c, &send, c->buf->send[n], MESSAGE))
			return BROKEN;
	}
	pattern_fill(c->buf->bulk, BULK, c->seed);
	memset(c->buf->back, 0, BULK);
	write.wr.rdma.remote_addr = read.wr.rdma.remote_addr = c->there.address;
	write.wr.rdma.rkey = read.wr.rdma.rkey = c->there.key;
	add.wr.atomic.remote_addr = c->there.address + offsetof(struct buffers, counter) -
		offsetof(struct buffers, bulk);
	add.wr.atomic.rkey = c->there.key;
	add.wr.atomic.compare_add = 1;
	if (post(c, &write, c->buf->bulk, BULK) || post(c, &read, c->buf->back, BULK))
		return BROKEN;
	return post(c, &add, &c->buf->counter, sizeof(c->buf->counter));
}

static enum outcome check_round(struct connection *c, unsigned *messages)
{
	for (unsigned left = 2 * BATCH + 3; left; left--) {
		struct ibv_wc wc;
		enum outcome how = take(c, &wc);
		unsigned n;

		if (how || *c->why)
			return how;
		if (wc.opcode != IBV_WC_RECV)
			continue;
		n = (unsigned)wc.wr_id - ID_RECV;
		if (wc.byte_len != MESSAGE || !right_message(c->buf->recv[n]) ||
		    memcmp(c->buf->recv[n], c->buf->send[*messages % BATCH], MESSAGE))
			return ended(c, BROKEN, "wrong data in an answer", "");
		++*messages;
		if (post_receive(c, n))
			return BROKEN;
	}
	if (!pattern_is(c->buf->back, BULK, c->seed))
		return ended(c, BROKEN, "what was written is not what was read", "");
	if (c->buf->counter != c->rounds)
		return ended(c, BROKEN, "wrong value of an atomic counter", "");
	return FINE;
}

static enum outcome keep_quiet(struct connection *c)
{
	while (!stopping) {
		struct pollfd fd = { .fd = c->channel->fd, .events = POLLIN };
		enum outcome how = poll(&fd, 1, 1000) == 1 ? look_at_event(c) : FINE;

		if (how)
			return how;
	}
	return ended(c, FINE, "stopped", "");
}

static enum outcome client(struct connection *c, struct sockaddr_in *to, uint64_t rounds)
{
	enum outcome how = connect_to(c, to);
	unsigned messages = 0;

	while (!how && !*c->why && (!rounds || c->rounds < rounds)) {
		how = post_round(c);
		if (!how)
			how = check_round(c, &messages);
		if (how || *c->why)
			break;
		c->seed += BATCH;
		c->rounds++;
		if (c->rounds == 1) {
			printf("moving\n");
			fflush(stdout);
		}
		if (hold)
			return keep_quiet(c);
	}
	return how;
}

struct job {
	struct sockaddr_in to;
	uint64_t rounds;
	unsigned index;
	pthread_t thread;
	enum outcome how;
};

static void *job_thread(void *arg)
{
	struct job *job = arg;
	struct connection c = { .seed = job->index * 1000003u };

	c.last_good_ms = now_ms();
	job->how = client(&c, &job->to, job->rounds);
	printf("connection %u: %llu rounds, ended with %d, %llu ms after the last good completion%s%s\n",
	       job->index, (unsigned long long)c.rounds, job->how,
	       (unsigned long long)(now_ms() - c.last_good_ms), *c.why ? ": " : "", c.why);
	fflush(stdout);
	close_all(&c);
	return NULL;
}

static int run(struct sockaddr_in *to, uint64_t rounds, unsigned connections)
{
	static struct job jobs[MAX_CLIENTS];
	int worst = 0;

	if (!connections || connections > MAX_CLIENTS)
		return 2;
	for (unsigned i = 0; i < connections; i++) {
		jobs[i] = (struct job){ .to = *to, .rounds = rounds, .index = i };
		if (pthread_create(&jobs[i].thread, NULL, job_thread, &jobs[i]))
			return BROKEN;
	}
	for (unsigned i = 0; i < connections; i++) {
		pthread_join(jobs[i].thread, NULL);
		if (jobs[i].how == BROKEN || (worst != BROKEN && (int)jobs[i].how > worst))
			worst = jobs[i].how;
	}
	return worst;
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = stop };
	const char *what = argc > 1 ? argv[1] : "";
	struct sockaddr_in in;
	unsigned connections = 1;
	uint64_t rounds = 1;

	hold = !strcmp(what, "hold");
	if (!((argc == 5 && !strcmp(what, "serve")) || (argc == 6 && hold) ||
	      ((argc == 6 || argc == 7) && !strcmp(what, "run")))) {
		fprintf(stderr, "usage: verbs_traffic serve ADDRESS PORT LIMIT_MS |\n"
			"       run ADDRESS PORT LIMIT_MS ROUNDS [CONNECTIONS] |\n"
			"       hold ADDRESS PORT LIMIT_MS CONNECTIONS\n");
		return 2;
	}
	sigaction(SIGTERM, &act, NULL);
	in = place(argv[2], argv[3]);
	limit_ms = atoi(argv[4]);
	if (!strcmp(what, "serve"))
		return serve(&in);
	if (hold)
		connections = (unsigned)atoi(argv[5]);
	else
		rounds = strtoull(argv[5], NULL, 10);
	if (argc == 7)
		connections = (unsigned)atoi(argv[6]);
	return run(&in, rounds, connections);
}
