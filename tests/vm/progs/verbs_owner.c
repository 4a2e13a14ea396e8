// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who may connect which QP: verbs_owner
 *	hold ADDRESS			has an idle QP, prints "qpn N", stays
 *	serve ADDRESS PORT		accepts whoever connects, prints "serving", stays
 *	listen ADDRESS PORT		prints "listening" or "listen errno N", stays
 *	late ADDRESS PORT		prints "bound"; as listen on SIGUSR1
 *	connect ADDRESS PORT QP		prints "connect EVENT" or "connect errno N"
 *	accept ADDRESS PORT QP		the same for one request
 *	noise ADDRESS PORT QP COUNT	COUNT times connect; prints the number of refusals
 * QP is a number, which need not be of this process, or
 *	own	made here
 *	thread	made here by a thread that has ended
 *	forked	made here; there was a child since
 *	parent	made here, but a child connects it
 * Exit status 1: it did not come so far.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rdma_ids.h"
#include "rdma_pair.h"

#define BACKLOG	16

static void *new_qp_thread(void *verbs)
{
	return new_qp(verbs);
}

/* The number of the QP to connect; a child is forked if it is about one */
static uint32_t choose_qp(struct ibv_context *verbs, const char *which)
{
	bool in_child = !strcmp(which, "parent");
	struct ibv_qp *qp;
	pthread_t thread;
	int status;
	pid_t pid;

	if (!strcmp(which, "thread")) {
		if (pthread_create(&thread, NULL, new_qp_thread, verbs) ||
		    pthread_join(thread, (void **)&qp))
			die("thread");
		return qp->qp_num;
	}
	if (strcmp(which, "own") && strcmp(which, "forked") && !in_child)
		return (uint32_t)atoi(which);

	qp = new_qp(verbs);
	if (!strcmp(which, "own"))
		return qp->qp_num;
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid == in_child)
		return qp->qp_num;
	if (!pid)
		_exit(0);
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	if (in_child)
		exit(WEXITSTATUS(status));
	return qp->qp_num;
}

static void report(const char *what, struct rdma_cm_id *id, int failed)
{
	struct rdma_cm_event *e;

	if (failed) {
		printf("%s errno %d\n", what, errno);
		return;
	}
	e = next_event(id->channel);
	printf("%s %s\n", what, e ? rdma_event_str(e->event) : "nothing");
}

static void stay(void)
{
	fflush(stdout);
	pause();
}

static int do_hold(char **argv)
{
	struct rdma_cm_id *id = bound_id(argv[0], "0");

	printf("qpn %u\n", new_qp(id->verbs)->qp_num);
	stay();
	return 0;
}

static int listen_on(struct rdma_cm_id *id)
{
	if (rdma_listen(id, BACKLOG))
		printf("listen errno %d\n", errno);
	else
		printf("listening\n");
	stay();
	return 0;
}

static int do_listen(char **argv)
{
	return listen_on(bound_id(argv[0], argv[1]));
}

/* librdmacm makes no id without a device; one of before may listen without */
static int do_late(char **argv)
{
	struct rdma_cm_id *id;
	sigset_t wanted;
	int number;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGUSR1);
	sigprocmask(SIG_BLOCK, &wanted, NULL);
	id = bound_id(argv[0], argv[1]);
	printf("bound\n");
	fflush(stdout);
	if (sigwait(&wanted, &number))
		die("sigwait");
	return listen_on(id);
}

static int do_serve(char **argv)
{
	struct rdma_cm_id *id = bound_id(argv[0], argv[1]);
	struct rdma_conn_param param;
	struct rdma_cm_event *e;

	if (rdma_listen(id, BACKLOG))
		die("rdma_listen");
	printf("serving\n");
	fflush(stdout);
	while (!rdma_get_cm_event(id->channel, &e)) {
		struct rdma_cm_id *child = e->id;
		bool request = e->event == RDMA_CM_EVENT_CONNECT_REQUEST;

		rdma_ack_cm_event(e);
		if (!request)
			continue;
		param = param_of(new_qp(child->verbs)->qp_num);
		if (rdma_accept(child, &param))
			printf("not accepted: errno %d\n", errno);
	}
	return 1;
}

static int do_connect(char **argv)
{
	struct rdma_cm_id *id = resolved_id(argv[0], argv[1]);
	struct rdma_conn_param param = param_of(choose_qp(id->verbs, argv[2]));

	/* A child cannot use what its parent opened */
	if (!strcmp(argv[2], "parent"))
		id = resolved_id(argv[0], argv[1]);
	report("connect", id, rdma_connect(id, &param));
	return 0;
}

static int do_noise(char **argv)
{
	struct rdma_cm_id *id = resolved_id(argv[0], argv[1]);
	struct rdma_conn_param param = param_of((uint32_t)atoi(argv[2]));
	int refused = 0;

	/* A refusal leaves the id as it was */
	for (int i = 0; i < atoi(argv[3]); i++)
		refused += rdma_connect(id, &param) && errno == EPERM;
	printf("%d refused\n", refused);
	return 0;
}

static int do_accept(char **argv)
{
	struct rdma_cm_id *id = bound_id(argv[0], argv[1]);
	struct rdma_conn_param param;
	struct rdma_cm_event *e;

	if (rdma_listen(id, BACKLOG))
		die("rdma_listen");
	printf("listening\n");
	fflush(stdout);
	e = next_event(id->channel);
	if (!e || e->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		die("no request");
	param = param_of(choose_qp(e->id->verbs, argv[2]));
	report("accept", id, rdma_accept(e->id, &param));
	return 0;
}

static const struct mode {
	const char *name;
	int args;
	int (*run)(char **argv);
} modes[] = {
	{ "hold", 1, do_hold },
	{ "serve", 2, do_serve },
	{ "listen", 2, do_listen },
	{ "late", 2, do_late },
	{ "connect", 3, do_connect },
	{ "accept", 3, do_accept },
	{ "noise", 4, do_noise },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (argc == modes[i].args + 2 && !strcmp(argv[1], modes[i].name))
			return modes[i].run(argv + 2);
	fprintf(stderr, "usage: see verbs_owner.c\n");
	return 1;
}
