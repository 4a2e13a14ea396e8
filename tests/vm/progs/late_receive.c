/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two processes, of which one sends, and the other posts the receive for it at a signal.
 *
 *     late_receive listen ADDRESS PORT    "listening", "connected"; SIGUSR1: "posted"
 *     late_receive send ADDRESS PORT      "connected", "sent" when there was a receive for it
 *
 * Both stay until they are killed.
 */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

static char buffer[4096];

static struct rdma_cm_id *endpoint(const char *address, const char *port, int flags)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP, .ai_flags = flags }, *found;
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.sq_sig_all = 1,
	};
	struct rdma_cm_id *id;

	if (rdma_getaddrinfo(address, port, &hints, &found) ||
	    rdma_create_ep(&id, found, NULL, &attr))
		err(1, "%s port %s", address, port);
	return id;
}

static struct ibv_mr *region(struct rdma_cm_id *id)
{
	struct ibv_mr *mr = rdma_reg_msgs(id, buffer, sizeof(buffer));

	if (!mr)
		err(1, "a region");
	return mr;
}

static void say(const char *what)
{
	puts(what);
	fflush(stdout);
}

static void serve(const char *address, const char *port, const sigset_t *signals)
{
	struct rdma_cm_id *listener = endpoint(address, port, RAI_PASSIVE), *id;
	int sig;

	if (rdma_listen(listener, 1))
		err(1, "listen");
	say("listening");
	if (rdma_get_request(listener, &id) || rdma_accept(id, NULL))
		err(1, "accept");
	say("connected");
	sigwait(signals, &sig);
	if (rdma_post_recv(id, NULL, buffer, sizeof(buffer), region(id)))
		err(1, "a receive");
	say("posted");
}

static void send_one(const char *address, const char *port)
{
	struct rdma_cm_id *id = endpoint(address, port, 0);
	struct ibv_wc wc;

	if (rdma_connect(id, NULL))
		err(1, "connect");
	say("connected");
	if (rdma_post_send(id, NULL, buffer, sizeof(buffer), region(id), 0) ||
	    rdma_get_send_comp(id, &wc) != 1 || wc.status)
		err(1, "a send");
	say("sent");
}

int main(int argc, char **argv)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	if (argc == 4 && !strcmp(argv[1], "listen"))
		serve(argv[2], argv[3], &signals);
	else if (argc == 4 && !strcmp(argv[1], "send"))
		send_one(argv[2], argv[3]);
	else
		errx(2, "usage: late_receive listen|send ADDRESS PORT");
	for (;;)
		pause();
}
