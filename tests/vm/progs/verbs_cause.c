// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A real cause for each verdict of eadm that an application is to blame for:
 * verbs_cause ADDRESS CAUSE [NUMBER]
 *
 * Connects two QPs of this process, a and b, prints "open qp A B", brings the cause about, prints
 * "ready" and stays until it is killed. On SIGUSR1 it does once what it should have done: it takes
 * events and completions, arms b's CQ, posts a receive at b, and prints "mended". Causes:
 *	idle		nothing is posted
 *	unknown-key	a writes with a key that there never was
 *	gone-key	a writes with the key of a region that was deregistered
 *	past-end	a writes one byte too far
 *	no-right	a writes to a region that may only be read
 *	other-domain	a writes to a region of another protection domain
 *	local-key	a writes from a region that there never was
 *	small-receive	a sends more than b's receive has room for
 *	no-receive	a sends, b posts no receive; the process polls
 *	asleep		the same; the process sleeps
 *	event-ignored	the same; b's CQ was armed, and nobody takes its event
 *	event-untaken	b has another receive; its CQ was armed, and nobody takes its event
 *	solicited	b's CQ is armed for solicited events, and a's send is none; "event"
 *			when there was one
 *	write		a writes, and has not looked whether that is done
 *	posting		the same, and goes on: 60 writes, one each 300 ms
 *	blocked		a sends, and the process waits in the kernel, uninterruptibly
 *	orphan		the process exits, a child of it stays
 *	unreaped	the same, and its parent does not wait for it; NUMBER: a sends before
 *	zombie		the process exits, and its parent does not wait for it; no child
 *	first-thread	a sends, the first thread ends, and another one polls
 *	small-cq	a QP without connection has 64 requests in a CQ of 32
 *	small-cq-signaled	the same, and each of its sends completes
 *	pin		NUMBER bytes are registered, if that may be; "pin errno N"
 *	register	NUMBER threads register and deregister regions without end
 *	mute		a asks for a connection that b's side never answers
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"

#define LEN	4096
#define NO_KEY	0x00abcd00u

static unsigned long number;

/* ---- requests that the card refuses ------------------------------------------------ */

/* Its completion was there when this returns */
static bool write_to(struct fixture *t, struct ibv_send_wr wr)
{
	struct ibv_wc wc;

	return post(&t->p.a, wr) && next_wc(t->p.a.cq, &wc) && wc.status != IBV_WC_SUCCESS;
}

static bool unknown_key(struct fixture *t)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 64);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, 1, &sge, 1, &t->b, 0);

	wr.wr.rdma.rkey = NO_KEY;
	return write_to(t, wr);
}

static bool gone_key(struct fixture *t)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 64);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, 1, &sge, 1, &t->b, 0);
	struct region r = {};

	if (region_new(&r, &t->p.b, LEN, 0, ALL_RIGHTS))
		return false;
	wr.wr.rdma.rkey = r.mr->rkey;
	wr.wr.rdma.remote_addr = (uintptr_t)r.p;
	region_free(&r);
	return write_to(t, wr);
}

static bool past_end(struct fixture *t)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 64);

	return write_to(t, one_sided(IBV_WR_RDMA_WRITE, 1, &sge, 1, &t->b, LEN - 63));
}

static bool no_right(struct fixture *t)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 64);
	static struct region r;

	return !region_new(&r, &t->p.b, LEN, 0, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ) &&
	       write_to(t, one_sided(IBV_WR_RDMA_WRITE, 1, &sge, 1, &r, 0));
}

static bool other_domain(struct fixture *t)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 64);
	struct pair_side stranger = t->p.b;
	static struct region r;

	stranger.pd = ibv_alloc_pd(t->p.b.id->verbs);
	EXPECT(stranger.pd, "ibv_alloc_pd");
	return !region_new(&r, &stranger, LEN, 0, ALL_RIGHTS) &&
	       write_to(t, one_sided(IBV_WR_RDMA_WRITE, 1, &sge, 1, &r, 0));
}

static bool local_key(struct fixture *t)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 64);

	sge.lkey = NO_KEY;
	return write_to(t, one_sided(IBV_WR_RDMA_WRITE, 1, &sge, 1, &t->b, 0));
}

static bool small_receive(struct fixture *t)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 64);

	return post_recv(&t->p.b, sge_of(&t->b, 0, 63), 1) &&
	       write_to(t, signaled(IBV_WR_SEND, 2, &sge, 1));
}

/* ---- requests that wait ------------------------------------------------------------- */

static bool send_one(struct fixture *t)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 64);

	return post(&t->p.a, signaled(IBV_WR_SEND, 1, &sge, 1));
}

static bool idle(struct fixture *t)
{
	(void)t;
	return true;
}

static bool event_ignored(struct fixture *t)
{
	struct ibv_wc wc;

	return post_recv(&t->p.b, sge_of(&t->b, 0, 64), 1) && !ibv_req_notify_cq(t->p.b.cq, 0) &&
	       send_one(t) && next_wc(t->p.a.cq, &wc) && send_one(t);
}

static bool event_untaken(struct fixture *t)
{
	struct ibv_wc wc;

	return post_recv(&t->p.b, sge_of(&t->b, 0, 64), 1) &&
	       post_recv(&t->p.b, sge_of(&t->b, 64, 64), 2) &&
	       !ibv_req_notify_cq(t->p.b.cq, 0) && send_one(t) && next_wc(t->p.a.cq, &wc);
}

static void *wait_for_event(void *arg)
{
	struct pair_side *s = arg;
	struct ibv_cq *cq;
	void *context;

	if (!ibv_get_cq_event(s->events, &cq, &context)) {
		ibv_ack_cq_events(cq, 1);
		puts("event");
		fflush(stdout);
	}
	return NULL;
}

static bool solicited(struct fixture *t)
{
	struct ibv_wc wc;
	pthread_t thread;

	return post_recv(&t->p.b, sge_of(&t->b, 0, 64), 1) && !ibv_req_notify_cq(t->p.b.cq, 1) &&
	       send_one(t) && next_wc(t->p.a.cq, &wc) &&
	       !pthread_create(&thread, NULL, wait_for_event, &t->p.b);
}

static bool write_one(struct fixture *t)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 64);

	return post(&t->p.a, one_sided(IBV_WR_RDMA_WRITE, 1, &sge, 1, &t->b, 0));
}

/* ---- completion queues without room ------------------------------------------------- */

static bool small_cq(struct fixture *t)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .sq_sig_all = number != 0,
		.cap = { .max_send_wr = 64, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp;

	attr.send_cq = attr.recv_cq = ibv_create_cq(t->p.a.id->verbs, 32, NULL, NULL, 0);
	EXPECT(attr.send_cq, "ibv_create_cq: %s", strerror(errno));
	qp = ibv_create_qp(t->p.a.pd, &attr);
	EXPECT(qp, "ibv_create_qp: %s", strerror(errno));
	printf("third qp %u\n", qp->qp_num);
	return true;
}

static bool small_cq_signaled(struct fixture *t)
{
	number = 1;
	return small_cq(t);
}

/* ---- the process -------------------------------------------------------------------- */

/* What a command prints counts until it ends: the child says that it is ready before that */
static bool orphan(struct fixture *t)
{
	int ends[2];
	pid_t pid;
	char c;

	if (number && !send_one(t))
		return false;
	fflush(stdout);
	EXPECT(!pipe(ends), "pipe: %s", strerror(errno));
	pid = fork();
	EXPECT(pid >= 0, "fork: %s", strerror(errno));
	close(ends[!!pid]);
	if (pid)
		_exit(read(ends[0], &c, 1) ? 1 : 0);
	puts("ready");
	fflush(stdout);
	close(ends[1]);
	return true;
}

/* Goes on in a child. Who started it never waits for that */
static void below_a_careless_parent(void)
{
	pid_t pid = fork();

	if (pid < 0) {
		perror("fork");
		exit(1);
	}
	while (pid)
		pause();
}

static bool zombie(struct fixture *t)
{
	(void)t;
	puts("ready");
	fflush(stdout);
	_exit(0);
}

static void *poll_endlessly(void *arg)
{
	struct fixture *t = arg;
	struct ibv_wc wc;

	printf("ready\n");
	fflush(stdout);
	for (;;)
		ibv_poll_cq(t->p.a.cq, 1, &wc);
	return NULL;
}

static bool without_first_thread(struct fixture *t)
{
	pthread_t thread;

	EXPECT(send_one(t) && !pthread_create(&thread, NULL, poll_endlessly, t), "no thread");
	pthread_exit(NULL);
}

/* The parent of a vfork() runs again when the child has ended */
static void block(void)
{
	if (!vfork())
		for (;;)
			pause();
}

static bool pin(struct fixture *t)
{
	static struct region r;

	errno = 0;
	printf("pin errno %d\n", region_new(&r, &t->p.a, number, 0, ALL_RIGHTS) ? errno : 0);
	return true;
}

static void *register_endlessly(void *arg)
{
	struct fixture *t = arg;
	static uint8_t bytes[LEN];
	struct ibv_mr *mr;

	for (;;) {
		mr = ibv_reg_mr(t->p.a.pd, bytes, LEN, IBV_ACCESS_LOCAL_WRITE);
		if (!mr || ibv_dereg_mr(mr))
			usleep(100000);
	}
	return NULL;
}

static bool register_many(struct fixture *t)
{
	pthread_t thread;

	for (unsigned long i = 0; i < number; i++)
		EXPECT(!pthread_create(&thread, NULL, register_endlessly, t), "thread %lu", i);
	return true;
}

/* ---- the cure ----------------------------------------------------------------------- */

static volatile sig_atomic_t to_mend;

static void ask_to_mend(int sig)
{
	(void)sig;
	to_mend = 1;
}

static void mend(struct fixture *t)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;

	to_mend = 0;
	fcntl(t->p.b.events->fd, F_SETFL, O_NONBLOCK);
	while (!ibv_get_cq_event(t->p.b.events, &cq, &context))
		ibv_ack_cq_events(cq, 1);
	while (ibv_poll_cq(t->p.b.cq, 1, &wc) > 0 || ibv_poll_cq(t->p.a.cq, 1, &wc) > 0)
		;
	if (!post_recv(&t->p.b, sge_of(&t->b, 128, 64), 9) || ibv_req_notify_cq(t->p.b.cq, 0))
		exit(1);
	puts("mended");
	fflush(stdout);
}

/* ---- all of them -------------------------------------------------------------------- */

/* CARELESS: asleep, below a parent that does not wait for its children */
enum then { SLEEP, POLL, BLOCK, POST, CARELESS };

static const struct cause {
	const char *name;
	bool (*bring_about)(struct fixture *t);
	enum then then;
} causes[] = {
	{ "idle", idle, SLEEP },
	{ "unknown-key", unknown_key, SLEEP },
	{ "gone-key", gone_key, SLEEP },
	{ "past-end", past_end, SLEEP },
	{ "no-right", no_right, SLEEP },
	{ "other-domain", other_domain, SLEEP },
	{ "local-key", local_key, SLEEP },
	{ "small-receive", small_receive, SLEEP },
	{ "no-receive", send_one, POLL },
	{ "asleep", send_one, SLEEP },
	{ "event-ignored", event_ignored, SLEEP },
	{ "event-untaken", event_untaken, SLEEP },
	{ "solicited", solicited, SLEEP },
	{ "write", write_one, SLEEP },
	{ "posting", write_one, POST },
	{ "blocked", send_one, BLOCK },
	{ "orphan", orphan, SLEEP },
	{ "unreaped", orphan, CARELESS },
	{ "zombie", zombie, CARELESS },
	{ "first-thread", without_first_thread, SLEEP },
	{ "small-cq", small_cq, SLEEP },
	{ "small-cq-signaled", small_cq_signaled, SLEEP },
	{ "pin", pin, SLEEP },
	{ "register", register_many, SLEEP },
};

/* No more than there is room for */
static void go_on_posting(struct fixture *t)
{
	for (int n = 1; n < 60 && write_one(t); n++)
		usleep(300000);
}

static void stay(enum then then, struct fixture *t)
{
	struct ibv_wc wc;

	signal(SIGUSR1, ask_to_mend);
	printf("ready\n");
	fflush(stdout);
	if (then == BLOCK)
		block();
	if (then == POST)
		go_on_posting(t);
	for (;;) {
		if (then == POLL)
			ibv_poll_cq(t->p.a.cq, 1, &wc);
		else
			pause();
		if (to_mend)
			mend(t);
	}
}

static int mute(void)
{
	struct pair_options o = { .address_b = fixture_passive(), .address_a = fixture_active() };
	struct pair p;

	if (pair_prepare(&p, &o) || pair_connect(&p))
		return 1;
	printf("open qp %u\n", p.a.qp->qp_num);
	stay(SLEEP, NULL);
	return 0;
}

static const struct cause *cause_called(const char *name)
{
	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (!strcmp(causes[i].name, name))
			return &causes[i];
	return NULL;
}

int main(int argc, char **argv)
{
	const struct cause *c = argc < 3 ? NULL : cause_called(argv[2]);
	static struct fixture t;

	if (argc > 2)
		fixture_set_addresses(argv[1]);
	if (argc > 2 && !strcmp(argv[2], "mute"))
		return mute();
	if (!c) {
		fprintf(stderr, "usage: see verbs_cause.c\n");
		return 1;
	}
	number = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
	if (c->then == CARELESS)
		below_a_careless_parent();
	if (!fixture_open(&t, LEN, (struct pair_options){}))
		return 2;
	printf("open qp %u %u\n", t.p.a.qp->qp_num, t.p.b.qp->qp_num);
	fflush(stdout);
	if (!c->bring_about(&t)) {
		fprintf(stderr, "%s did not come about\n", argv[2]);
		return 1;
	}
	stay(c->then, &t);
	return 0;
}
