// SPDX-License-Identifier: GPL-2.0-or-later
/* Serves one client: prints what it says, and lets it read a text. */
#include "message.h"

int main(int argc, char **argv)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP };
	struct rdma_conn_param param = { .responder_resources = 1 };
	char text[TEXT_SIZE] = "read without my help";
	struct ibv_qp_init_attr attr = one_request;
	struct rdma_cm_id *listener, *id;
	struct ibv_mr *msg_mr, *text_mr;
	struct rdma_addrinfo *res;
	struct message msg;
	struct ibv_wc wc;

	if (rdma_getaddrinfo(argc > 1 ? argv[1] : NULL, PORT, &hints, &res))
		err(1, "address");
	if (rdma_create_ep(&listener, res, NULL, &attr) || rdma_listen(listener, 1))
		err(1, "listen");
	puts("server: waiting");
	fflush(stdout);
	if (rdma_get_request(listener, &id))
		err(1, "request");

	msg_mr = rdma_reg_msgs(id, &msg, sizeof(msg));
	text_mr = rdma_reg_read(id, text, sizeof(text));
	if (!msg_mr || !text_mr)
		err(1, "memory");
	if (rdma_post_recv(id, NULL, &msg, sizeof(msg), msg_mr) || rdma_accept(id, &param))
		err(1, "accept");

	completed(rdma_get_recv_comp(id, &wc), &wc, "receive");
	printf("server: the client says \"%.*s\"\n", TEXT_SIZE, msg.text);

	msg = (struct message){ .text = "read this", .addr = (uintptr_t)text, .rkey = text_mr->rkey };
	if (rdma_post_send(id, NULL, &msg, sizeof(msg), msg_mr, 0))
		err(1, "send");
	completed(rdma_get_send_comp(id, &wc), &wc, "send");

	if (rdma_post_recv(id, NULL, &msg, sizeof(msg), msg_mr))
		err(1, "receive");
	completed(rdma_get_recv_comp(id, &wc), &wc, "receive");
	printf("server: the client says \"%.*s\"\n", TEXT_SIZE, msg.text);

	rdma_disconnect(id);
	rdma_dereg_mr(text_mr);
	rdma_dereg_mr(msg_mr);
	rdma_destroy_ep(id);
	rdma_destroy_ep(listener);
	rdma_freeaddrinfo(res);
	return 0;
}
