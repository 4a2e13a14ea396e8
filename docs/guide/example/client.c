// SPDX-License-Identifier: GPL-2.0-or-later
/* client ADDRESS: says hello, and reads the server's text out of its memory. */
#include "message.h"

static void say(struct rdma_cm_id *id, struct message *msg, struct ibv_mr *mr, const char *text)
{
	struct ibv_wc wc;

	memset(msg, 0, sizeof(*msg));
	strncpy(msg->text, text, TEXT_SIZE - 1);
	if (rdma_post_send(id, NULL, msg, sizeof(*msg), mr, 0))
		err(1, "send");
	completed(rdma_get_send_comp(id, &wc), &wc, "send");
}

int main(int argc, char **argv)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP };
	struct rdma_conn_param param = { .initiator_depth = 1 };
	struct ibv_qp_init_attr attr = one_request;
	struct ibv_mr *msg_mr, *in_mr, *text_mr;
	struct rdma_addrinfo *res;
	char text[TEXT_SIZE] = "";
	struct message msg, in;
	struct rdma_cm_id *id;
	struct ibv_wc wc;

	if (argc != 2)
		errx(2, "usage: client ADDRESS");
	if (rdma_getaddrinfo(argv[1], PORT, &hints, &res))
		err(1, "address");
	if (rdma_create_ep(&id, res, NULL, &attr))
		err(1, "no way to %s", argv[1]);

	msg_mr = rdma_reg_msgs(id, &msg, sizeof(msg));
	in_mr = rdma_reg_msgs(id, &in, sizeof(in));
	text_mr = rdma_reg_msgs(id, text, sizeof(text));
	if (!msg_mr || !in_mr || !text_mr)
		err(1, "memory");
	if (rdma_post_recv(id, NULL, &in, sizeof(in), in_mr))
		err(1, "receive");
	if (rdma_connect(id, &param))
		err(1, "connect");

	say(id, &msg, msg_mr, "hello");
	completed(rdma_get_recv_comp(id, &wc), &wc, "receive");
	printf("client: the server says \"%.*s\"\n", TEXT_SIZE, in.text);

	if (rdma_post_read(id, NULL, text, sizeof(text), text_mr, 0, in.addr, in.rkey))
		err(1, "read");
	completed(rdma_get_send_comp(id, &wc), &wc, "read");
	printf("client: the server's memory says \"%.*s\"\n", TEXT_SIZE, text);
	say(id, &msg, msg_mr, "thank you");

	rdma_disconnect(id);
	rdma_dereg_mr(text_mr);
	rdma_dereg_mr(in_mr);
	rdma_dereg_mr(msg_mr);
	rdma_destroy_ep(id);
	rdma_freeaddrinfo(res);
	return 0;
}
