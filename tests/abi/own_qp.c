// SPDX-License-Identifier: GPL-2.0-or-later
/* An unconnected QP of this process, made with the stock libibverbs. */
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

#include "diag_abi.h"

#define CQ_DEPTH 4096
#define MAX_WR 16

struct verbs {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	char mem[4096];
};

static struct ibv_context *open_first(void)
{
	struct ibv_device **devs = ibv_get_device_list(NULL);
	struct ibv_context *ctx = devs && devs[0] ? ibv_open_device(devs[0]) : NULL;

	if (devs)
		ibv_free_device_list(devs);
	return ctx;
}

static bool make(struct verbs *v)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = MAX_WR, .max_recv_wr = MAX_WR, .max_send_sge = 2,
			 .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};

	v->ctx = open_first();
	v->pd = v->ctx ? ibv_alloc_pd(v->ctx) : NULL;
	v->mr = v->pd ? ibv_reg_mr(v->pd, v->mem, sizeof(v->mem), IBV_ACCESS_LOCAL_WRITE) : NULL;
	v->cq = v->mr ? ibv_create_cq(v->ctx, CQ_DEPTH, NULL, NULL, 0) : NULL;
	attr.send_cq = v->cq;
	attr.recv_cq = v->cq;
	v->qp = v->cq ? ibv_create_qp(v->pd, &attr) : NULL;
	return v->qp;
}

bool own_qp_open(struct own_qp *q)
{
	static uint8_t buf[1024];
	struct erdma_diag_list arg = { .obj = ERDMA_DIAG_OBJ_QP };
	struct verbs *v = calloc(1, sizeof(*v));
	const struct erdma_diag_qp *rec;

	q->priv = v;
	if (!v || !make(v))
		return false;
	q->qpn = v->qp->qp_num;
	q->sq_depth = MAX_WR * 4;
	q->lkey = v->mr->lkey;
	q->rkey = v->mr->rkey;
	q->addr = (uintptr_t)v->mem;
	q->length = sizeof(v->mem);
	/* libibverbs does not report the CQN */
	q->cqn = 0;
	arg.start_id = q->qpn;
	if (!list(node, &arg, buf, 8 + sizeof(*rec)))
		rec = find_record(buf, arg.out_len, ERDMA_DIAG_REC_QP);
	else
		rec = NULL;
	if (rec && rec->qpn == q->qpn)
		q->cqn = rec->send_cqn;
	return true;
}

/* Receive i has 64 + i bytes. */
bool own_qp_post(struct own_qp *q, int count)
{
	struct verbs *v = q->priv;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	struct ibv_sge sge = { .addr = (uintptr_t)v->mem, .lkey = v->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_modify_qp(v->qp, &attr, IBV_QP_STATE))
		return false;
	for (int i = 0; i < count; i++) {
		wr.wr_id = i;
		sge.length = 64 + i;
		if (ibv_post_recv(v->qp, &wr, &bad))
			return false;
	}
	return true;
}

void own_qp_close(struct own_qp *q)
{
	struct verbs *v = q->priv;

	ibv_destroy_qp(v->qp);
	ibv_destroy_cq(v->cq);
	ibv_dereg_mr(v->mr);
	ibv_dealloc_pd(v->pd);
	ibv_close_device(v->ctx);
	free(v);
}
