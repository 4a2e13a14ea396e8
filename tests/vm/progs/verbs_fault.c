// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What an application meets when the card does wrong: verbs_fault ADDRESS MS OP...
 *
 * Connects two QPs of this process and does what it is asked to, one line of output
 * for each: send, write, read (4096 bytes, checked), esend (waits for events
 * instead of polling), long (1 MiB write), many (200 sends, 20 at a time), refused
 * (a write with a key that does not exist, which ends the connection), stay (MS
 * milliseconds without doing anything), stop (side a goes to ERR), state (of the
 * QPs), async (how many fatal events each QP had, MS milliseconds long), cm (each
 * side's next event of the connection). A completion that does not come within MS
 * milliseconds is "none". Whatever happens, everything is destroyed in the end.
 * Exit status 2: no connection; then the state of the QPs is shown.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fixture.h"

#define LEN	4096
#define LONG	(1 << 20)
#define MANY	200
#define BATCH	20

static int limit_ms;

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static const char *word(enum ibv_wc_status status)
{
	static char number[16];

	switch (status) {
	case IBV_WC_SUCCESS:
		return "ok";
	case IBV_WC_WR_FLUSH_ERR:
		return "flushed";
	case IBV_WC_RETRY_EXC_ERR:
		return "retry-exceeded";
	case IBV_WC_GENERAL_ERR:
		return "general-error";
	case IBV_WC_REM_ACCESS_ERR:
		return "remote-access";
	default:
		snprintf(number, sizeof(number), "status-%d", status);
		return number;
	}
}

/* The next completion of this request; others are counted and left out */
static const char *wait_wc(struct pair_side *s, uint64_t id, int *strange)
{
	uint64_t end = now_ms() + (uint64_t)limit_ms;
	struct ibv_wc wc;

	do {
		int n = ibv_poll_cq(s->cq, 1, &wc);

		if (n < 0)
			return "poll-error";
		if (n == 1 && wc.wr_id == id)
			return word(wc.status);
		*strange += n == 1;
	} while (now_ms() < end);
	return "none";
}

static bool wait_event(struct pair_side *s)
{
	struct pollfd fd = { .fd = s->events->fd, .events = POLLIN };

	return poll(&fd, 1, limit_ms) == 1 && next_cq_event(s);
}

static uint64_t next_id = 1;

static void do_send(struct fixture *t, bool events)
{
	uint64_t id = next_id++;
	struct ibv_sge to = sge_of(&t->b, 0, LEN), from = sge_of(&t->a, 0, LEN);
	const char *a, *b, *ea = "", *eb = "";
	int strange = 0;

	memset(t->b.p, 0, LEN);
	pattern_fill(t->a.p, LEN, (uint32_t)id);
	if (events && (ibv_req_notify_cq(t->p.a.cq, 0) || ibv_req_notify_cq(t->p.b.cq, 0))) {
		printf("esend cannot-arm\n");
		return;
	}
	if (!post_recv(&t->p.b, to, id) || !post(&t->p.a, signaled(IBV_WR_SEND, id, &from, 1))) {
		printf("send not-posted\n");
		return;
	}
	if (events) {
		ea = wait_event(&t->p.a) ? " a-event" : " a-no-event";
		eb = wait_event(&t->p.b) ? " b-event" : " b-no-event";
	}
	a = strdup(wait_wc(&t->p.a, id, &strange));
	b = wait_wc(&t->p.b, id, &strange);
	printf("%s a=%s b=%s data=%s strange=%d%s%s\n", events ? "esend" : "send", a, b,
	       pattern_is(t->b.p, LEN, (uint32_t)id) ? "good" : "bad", strange, ea, eb);
	free((void *)a);
}

static void do_one_sided(struct fixture *t, const char *what, enum ibv_wr_opcode opcode, size_t len)
{
	uint64_t id = next_id++;
	struct ibv_sge sge = sge_of(&t->a, 0, len);
	struct region *to = opcode == IBV_WR_RDMA_READ ? &t->a : &t->b;
	struct region *from = opcode == IBV_WR_RDMA_READ ? &t->b : &t->a;
	const char *a;
	int strange = 0;

	memset(to->p, 0, len);
	pattern_fill(from->p, len, (uint32_t)id);
	if (!post(&t->p.a, one_sided(opcode, id, &sge, 1, &t->b, 0))) {
		printf("%s not-posted\n", what);
		return;
	}
	a = wait_wc(&t->p.a, id, &strange);
	printf("%s a=%s data=%s strange=%d\n", what, a,
	       pattern_is(to->p, len, (uint32_t)id) ? "good" : "bad", strange);
}

static void do_refused(struct fixture *t)
{
	uint64_t id = next_id++;
	struct ibv_sge sge = sge_of(&t->a, 0, LEN);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, id, &sge, 1, &t->b, 0);
	int strange = 0;

	wr.wr.rdma.rkey ^= 0xffff00;
	if (!post(&t->p.a, wr)) {
		printf("refused not-posted\n");
		return;
	}
	printf("refused a=%s\n", wait_wc(&t->p.a, id, &strange));
}

/* ---- the connection -------------------------------------------------------- */

static const char *state_word(struct ibv_qp *qp)
{
	static const char * const words[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (!qp)
		return "none";
	if (ibv_query_qp(qp, &attr, IBV_QP_STATE, &init))
		return "error";
	return attr.qp_state <= IBV_QPS_ERR ? words[attr.qp_state] : "unknown";
}

/* The end of the other side comes over the network: it may take a moment */
static void show_state(struct pair *p)
{
	int i;

	for (i = 0; i < 300 && (!strcmp(state_word(p->a.qp), "RTS") ||
				!strcmp(state_word(p->b.qp), "RTS")); i++)
		poll(NULL, 0, 10);
	printf("state a=%s b=%s\n", state_word(p->a.qp), state_word(p->b.qp));
}

static void do_stop(struct pair *p)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	printf("stop a=%d\n", ibv_modify_qp(p->a.qp, &attr, IBV_QP_STATE));
}

/* Both sides may be of one context or of two: each event names its QP; [2]: of CQs */
static void count_async(struct ibv_context *ctx, const struct pair *p, int n[3])
{
	struct ibv_async_event e;

	while (!ibv_get_async_event(ctx, &e)) {
		if (e.event_type == IBV_EVENT_QP_FATAL) {
			n[0] += e.element.qp == p->a.qp;
			n[1] += e.element.qp == p->b.qp;
		}
		n[2] += e.event_type == IBV_EVENT_CQ_ERR;
		ibv_ack_async_event(&e);
	}
}

static void do_async(struct pair *p)
{
	int n[3] = {};

	poll(NULL, 0, limit_ms);
	fcntl(p->a.id->verbs->async_fd, F_SETFL, O_NONBLOCK);
	fcntl(p->b.id->verbs->async_fd, F_SETFL, O_NONBLOCK);
	count_async(p->a.id->verbs, p, n);
	count_async(p->b.id->verbs, p, n);
	printf("async a=%d b=%d\n", n[0], n[1]);
	if (n[2])
		printf("async cq-errors=%d\n", n[2]);
}

static const char *cm_word(struct rdma_event_channel *channel)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *e;
	const char *text;

	if (poll(&fd, 1, limit_ms) != 1 || rdma_get_cm_event(channel, &e))
		return "none";
	text = e->event == RDMA_CM_EVENT_DISCONNECTED ? "disconnected" : "other";
	rdma_ack_cm_event(e);
	return text;
}

static void do_cm(struct pair *p)
{
	const char *a = cm_word(p->a.id->channel), *b = cm_word(p->b.id->channel);

	printf("cm a=%s b=%s\n", a, b);
}

static void do_many(struct fixture *t)
{
	struct ibv_sge to = sge_of(&t->b, 0, 64), from = sge_of(&t->a, 0, 64);
	int good = 0, other = 0, strange = 0;

	for (int n = 0; n < MANY; n += BATCH) {
		uint64_t first = next_id;

		next_id += BATCH;
		for (int i = 0; i < BATCH; i++)
			if (!post_recv(&t->p.b, to, first + (uint64_t)i))
				goto out;
		for (int i = 0; i < BATCH; i++)
			if (!post(&t->p.a, signaled(IBV_WR_SEND, first + (uint64_t)i, &from, 1)))
				goto out;
		for (int i = 0; i < BATCH; i++) {
			if (strcmp(wait_wc(&t->p.a, first + (uint64_t)i, &strange), "ok"))
				other++;
			else
				good++;
			if (strcmp(wait_wc(&t->p.b, first + (uint64_t)i, &strange), "ok"))
				other++;
			else
				good++;
			if (other > 3)
				goto out;
		}
	}
out:
	printf("many good=%d other=%d strange=%d\n", good, other, strange);
}

static bool do_op(struct fixture *t, const char *op)
{
	if (!strcmp(op, "send"))
		do_send(t, false);
	else if (!strcmp(op, "esend"))
		do_send(t, true);
	else if (!strcmp(op, "write"))
		do_one_sided(t, op, IBV_WR_RDMA_WRITE, LEN);
	else if (!strcmp(op, "read"))
		do_one_sided(t, op, IBV_WR_RDMA_READ, LEN);
	else if (!strcmp(op, "long"))
		do_one_sided(t, op, IBV_WR_RDMA_WRITE, LONG);
	else if (!strcmp(op, "many"))
		do_many(t);
	else if (!strcmp(op, "refused"))
		do_refused(t);
	else if (!strcmp(op, "stay"))
		poll(NULL, 0, limit_ms);
	else if (!strcmp(op, "stop"))
		do_stop(&t->p);
	else if (!strcmp(op, "state"))
		show_state(&t->p);
	else if (!strcmp(op, "async"))
		do_async(&t->p);
	else if (!strcmp(op, "cm"))
		do_cm(&t->p);
	else
		return false;
	fflush(stdout);
	return true;
}

int main(int argc, char **argv)
{
	struct pair_options o = {};
	uint64_t began = now_ms();
	struct fixture t = {};

	if (argc < 3) {
		fprintf(stderr, "usage: verbs_fault ADDRESS MS OP...\n");
		return 1;
	}
	limit_ms = atoi(argv[2]);
	fixture_set_addresses(argv[1]);
	if (!fixture_open(&t, LONG, o)) {
		show_state(&t.p);
		printf("open failed after %d ms\n", (int)(now_ms() - began));
		fixture_close(&t);
		return 2;
	}
	printf("open qp %u %u\n", t.p.a.qp->qp_num, t.p.b.qp->qp_num);
	fflush(stdout);
	for (int i = 3; i < argc; i++) {
		if (!do_op(&t, argv[i])) {
			fprintf(stderr, "no such operation: %s\n", argv[i]);
			return 1;
		}
	}
	began = now_ms();
	fixture_close(&t);
	printf("closed in %d ms\n", (int)(now_ms() - began));
	return 0;
}
