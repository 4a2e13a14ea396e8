// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A connection of this machine with itself; posting and polling.
 */
#include <linux/delay.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "kverbs.h"

#define RESOLVE_MS	5000

static void count_event(struct ib_cq *cq, void *context)
{
	struct kv_side *s = context;

	atomic_inc(&s->events);
}

/* ---- setting up --------------------------------------------------------- */

/* On failure side_exit() frees what there is */
static int side_init(struct kv_pair *p, struct kv_side *s, struct rdma_cm_id *id)
{
	struct ib_cq_init_attr cq_attr = { .cqe = 2 * p->depth + 16 };
	struct ib_qp_init_attr attr = {
		.qp_type = IB_QPT_RC,
		.sq_sig_type = p->sig_type,
		.cap = {
			.max_send_wr = p->depth,
			.max_recv_wr = p->depth,
			.max_send_sge = KV_MAX_SGE,
			.max_recv_sge = 1,
			.max_inline_data = KV_MAX_INLINE,
		},
	};
	int err;

	s->id = id;
	s->pd = ib_alloc_pd(id->device, 0);
	if (IS_ERR(s->pd))
		return PTR_ERR(s->pd);
	s->scq = ib_create_cq(id->device, count_event, NULL, s, &cq_attr);
	if (IS_ERR(s->scq))
		return PTR_ERR(s->scq);
	s->rcq = ib_create_cq(id->device, count_event, NULL, s, &cq_attr);
	if (IS_ERR(s->rcq))
		return PTR_ERR(s->rcq);

	attr.send_cq = s->scq;
	attr.recv_cq = s->rcq;
	err = rdma_create_qp(id, s->pd, &attr);
	if (err)
		return err;
	s->mr = ib_alloc_mr(s->pd, IB_MR_TYPE_MEM_REG, 300);
	if (IS_ERR(s->mr))
		return PTR_ERR(s->mr);

	s->buf = (u8 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(KV_BUF_SIZE));
	if (!s->buf)
		return -ENOMEM;
	s->dma = ib_dma_map_single(id->device, s->buf, KV_BUF_SIZE, DMA_BIDIRECTIONAL);
	return ib_dma_mapping_error(id->device, s->dma);
}

static void side_exit(struct kv_side *s)
{
	if (IS_ERR_OR_NULL(s->id))
		return;
	if (s->id->qp)
		rdma_destroy_qp(s->id);
	if (!IS_ERR_OR_NULL(s->mr))
		ib_dereg_mr(s->mr);
	if (!IS_ERR_OR_NULL(s->scq))
		ib_destroy_cq(s->scq);
	if (!IS_ERR_OR_NULL(s->rcq))
		ib_destroy_cq(s->rcq);
	if (s->buf) {
		ib_dma_unmap_single(s->id->device, s->dma, KV_BUF_SIZE, DMA_BIDIRECTIONAL);
		free_pages((unsigned long)s->buf, get_order(KV_BUF_SIZE));
	}
	if (!IS_ERR_OR_NULL(s->pd))
		ib_dealloc_pd(s->pd);
	rdma_destroy_id(s->id);
}

static struct rdma_conn_param conn_param(void)
{
	return (struct rdma_conn_param){ .responder_resources = 16, .initiator_depth = 16 };
}

static int passive_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct rdma_conn_param param = conn_param();
	struct kv_pair *p = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		p->err_b = side_init(p, &p->b, id);
		if (!p->err_b)
			p->err_b = rdma_accept(id, &param);
		if (p->err_b) {
			rdma_reject(id, NULL, 0, 0);
			complete(&p->done_b);
		}
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		complete(&p->done_b);
		break;
	default:
		break;
	}
	return 0;
}

static int active_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct kv_pair *p = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		p->err_a = rdma_resolve_route(id, RESOLVE_MS);
		if (p->err_a)
			complete(&p->done_a);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ESTABLISHED:
		p->err_a = event->status;
		complete(&p->done_a);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		p->err_a = event->status ?: -EIO;
		complete(&p->done_a);
		break;
	}
	return 0;
}

static int wait_done(struct completion *done, const int *err)
{
	if (!wait_for_completion_timeout(done, msecs_to_jiffies(kv_patience_ms())))
		return -ETIMEDOUT;
	return *err;
}

/* An endpoint that knows the way to the listener; its events are those of @a */
static struct rdma_cm_id *resolved_id(struct kv_pair *p)
{
	struct rdma_cm_id *id;
	int err;

	id = rdma_create_id(&init_net, active_event, p, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return id;
	reinit_completion(&p->done_a);
	err = rdma_resolve_addr(id, NULL, (struct sockaddr *)&p->listener->route.addr.src_addr,
				RESOLVE_MS);
	if (!err)
		err = wait_done(&p->done_a, &p->err_a);
	if (!err)
		return id;
	rdma_destroy_id(id);
	return ERR_PTR(err);
}

/* Both ends with their queues, @a knows the way to @b */
static int pair_init(struct kv_pair *p)
{
	struct rdma_cm_id *id;
	int err;

	p->listener = kv_bound_id(passive_event, p, 0);
	if (IS_ERR(p->listener))
		return PTR_ERR(p->listener);
	err = rdma_listen(p->listener, 4);
	if (err)
		return err;
	id = resolved_id(p);
	if (IS_ERR(id))
		return PTR_ERR(id);
	return side_init(p, &p->a, id);
}

/**
 * kv_connect - connects the ends
 * @p: pair, @a has its queues, @b gets them
 *
 * Return: 0 or -errno.
 */
int kv_connect(struct kv_pair *p)
{
	struct rdma_conn_param param = conn_param();
	int err;

	reinit_completion(&p->done_a);
	reinit_completion(&p->done_b);
	err = rdma_connect(p->a.id, &param);
	if (err)
		return err;
	err = wait_done(&p->done_a, &p->err_a);
	if (err)
		return err;
	return wait_done(&p->done_b, &p->err_b);
}

/**
 * kv_open - two ends
 * @depth: requests of each queue
 * @sig_type: which sends complete
 * @connect: connect them; else only @a has queues
 *
 * Return: the pair, or NULL, which is a failed check.
 */
struct kv_pair *kv_open(u32 depth, enum ib_sig_type sig_type, bool connect)
{
	struct kv_pair *p = kzalloc(sizeof(*p), GFP_KERNEL);
	int err;

	if (!kv_check(p, "no memory"))
		return NULL;
	init_completion(&p->done_a);
	init_completion(&p->done_b);
	p->depth = depth;
	p->sig_type = sig_type;
	err = pair_init(p);
	if (!err && connect)
		err = kv_connect(p);
	if (kv_check(!err, "%d", err))
		return p;
	kv_close(p);
	return NULL;
}

/**
 * kv_close - disconnects and frees
 * @p: pair, NULL is fine
 */
void kv_close(struct kv_pair *p)
{
	if (!p)
		return;
	if (!IS_ERR_OR_NULL(p->a.id) && p->a.id->qp)
		rdma_disconnect(p->a.id);
	/* First, so that no @b appears any more */
	if (!IS_ERR_OR_NULL(p->listener))
		rdma_destroy_id(p->listener);
	side_exit(&p->a);
	side_exit(&p->b);
	kfree(p);
}

/**
 * kv_connect_as - an endpoint without a QP names one that is not its own
 * @p: pair, not connected
 * @qpn: number of the QP
 *
 * Return: what the attempt to connect says.
 */
int kv_connect_as(struct kv_pair *p, u32 qpn)
{
	struct rdma_conn_param param = conn_param();
	struct rdma_cm_id *id = resolved_id(p);
	int err;

	if (IS_ERR(id))
		return PTR_ERR(id);
	param.qp_num = qpn;
	err = rdma_connect(id, &param);
	rdma_destroy_id(id);
	return err;
}

/**
 * kv_connect_again - gives the QP of the active end another connection
 * @p: pair whose connection ended; the QP of @a was reset, @b begins anew
 *
 * An rdma_cm_id is good for one connection, and a new one has its QP from rdma_create_qp().
 * Without a QP it takes a number from the caller, and keeps it: that attempt is refused, as
 * the QP is not its own. Then it gets the QP.
 *
 * Return: 0 or -errno.
 */
int kv_connect_again(struct kv_pair *p)
{
	struct rdma_conn_param param = conn_param();
	struct rdma_cm_id *id = resolved_id(p);

	if (IS_ERR(id))
		return PTR_ERR(id);
	side_exit(&p->b);
	memset(&p->b, 0, sizeof(p->b));
	param.qp_num = p->a.id->qp->qp_num;
	kv_check(rdma_connect(id, &param) == -EPERM, "a QP of another endpoint");
	id->qp = p->a.id->qp;
	p->a.id->qp = NULL;
	rdma_destroy_id(p->a.id);
	p->a.id = id;
	return kv_connect(p);
}

/* ---- completions -------------------------------------------------------- */

/**
 * kv_get_wc - waits for a completion
 * @cq: CQ
 * @wc: filled
 *
 * Return: 1; 0: none came; the error of the poll.
 */
int kv_get_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	unsigned long end = jiffies + msecs_to_jiffies(kv_patience_ms());
	int n;

	for (;;) {
		n = ib_poll_cq(cq, 1, wc);
		if (n || time_after(jiffies, end))
			return n;
		usleep_range(50, 100);
	}
}

/**
 * kv_completes - checks the next completion
 * @func: where
 * @line: where
 * @cq: CQ
 * @wr_id: of the request
 * @status: wanted
 * @opcode: wanted, when @status is success
 * @wc: filled
 *
 * Return: it is the wanted one.
 */
bool kv_completes(const char *func, int line, struct ib_cq *cq, u64 wr_id,
		  enum ib_wc_status status, enum ib_wc_opcode opcode, struct ib_wc *wc)
{
	bool good;
	int n;

	memset(wc, 0, sizeof(*wc));
	n = kv_get_wc(cq, wc);
	good = n == 1 && wc->wr_id == wr_id && wc->status == status &&
	       (status != IB_WC_SUCCESS || wc->opcode == opcode);
	if (n != 1)
		return kv_result(false, func, line, "%d completions, want request %llu", n, wr_id);
	return kv_result(good, func, line,
			 "request %llu (want %llu) status %d (want %d) opcode %d (want %d) vendor %x",
			 wc->wr_id, wr_id, wc->status, status, wc->opcode, opcode,
			 wc->vendor_err);
}

/**
 * kv_events - waits for completion events
 * @s: side
 * @want: so many in all
 *
 * Return: there are so many, and no more.
 */
bool kv_events(struct kv_side *s, int want)
{
	unsigned long end = jiffies + msecs_to_jiffies(kv_patience_ms());

	while (atomic_read(&s->events) < want && time_before(jiffies, end))
		usleep_range(50, 100);
	return atomic_read(&s->events) == want;
}

/* ---- requests ----------------------------------------------------------- */

/**
 * kv_post_recv - posts a receive
 * @s: side
 * @wr_id: of the request
 * @off: where in its buffer
 * @len: bytes
 *
 * Return: what ib_post_recv() returns.
 */
int kv_post_recv(struct kv_side *s, u64 wr_id, u32 off, u32 len)
{
	struct ib_sge sge = { s->dma + off, len, s->pd->local_dma_lkey };
	struct ib_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(s->id->qp, &wr, NULL);
}

static struct ib_sge first_bytes(const struct kv_side *s, u32 len, int flags)
{
	struct ib_sge sge = { s->dma, len, s->pd->local_dma_lkey };

	if (flags & IB_SEND_INLINE)
		sge.addr = (uintptr_t)s->buf;
	return sge;
}

/**
 * kv_post_send - posts a send, or a local invalidation
 * @s: side
 * @op: operation
 * @wr_id: of the request
 * @len: bytes, from the start of its buffer
 * @flags: IB_SEND_*
 * @extra: immediate data or key
 *
 * Return: what ib_post_send() returns.
 */
int kv_post_send(struct kv_side *s, enum ib_wr_opcode op, u64 wr_id, u32 len, int flags,
		 u32 extra)
{
	struct ib_sge sge = first_bytes(s, len, flags);
	struct ib_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = op,
		.send_flags = flags,
	};

	if (op == IB_WR_SEND_WITH_INV || op == IB_WR_LOCAL_INV)
		wr.ex.invalidate_rkey = extra;
	else
		wr.ex.imm_data = cpu_to_be32(extra);
	return ib_post_send(s->id->qp, &wr, NULL);
}

/**
 * kv_post_rdma - posts a read or write
 * @s: side
 * @op: operation; KV_IMM is the immediate data
 * @wr_id: of the request
 * @len: bytes, from the start of its buffer
 * @remote: region of the other side, from its start
 * @flags: IB_SEND_*
 *
 * Return: what ib_post_send() returns.
 */
int kv_post_rdma(struct kv_side *s, enum ib_wr_opcode op, u64 wr_id, u32 len,
		 struct ib_mr *remote, int flags)
{
	struct ib_sge sge = first_bytes(s, len, flags);
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_id = wr_id,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = op,
			.send_flags = flags,
			.ex.imm_data = cpu_to_be32(KV_IMM),
		},
		.remote_addr = remote->iova,
		.rkey = remote->rkey,
	};

	return ib_post_send(s->id->qp, &wr.wr, NULL);
}

/**
 * kv_post_reg - registers a part of the buffer with the side's region
 * @s: side
 * @wr_id: of the request
 * @off: where in its buffer
 * @len: bytes
 * @access: IB_ACCESS_*
 *
 * Return: what ib_post_send() returns; -EINVAL: it does not fit.
 */
int kv_post_reg(struct kv_side *s, u64 wr_id, u32 off, u32 len, int access)
{
	struct ib_reg_wr wr = { .mr = s->mr, .access = access };
	struct scatterlist sg;

	sg_init_one(&sg, s->buf + off, len);
	sg_dma_address(&sg) = s->dma + off;
	sg_dma_len(&sg) = len;
	if (ib_map_mr_sg(s->mr, &sg, 1, NULL, PAGE_SIZE) != 1)
		return -EINVAL;
	ib_update_fast_reg_key(s->mr, ib_inc_rkey(s->mr->rkey));
	wr.wr.opcode = IB_WR_REG_MR;
	wr.wr.wr_id = wr_id;
	wr.wr.send_flags = IB_SEND_SIGNALED;
	wr.key = s->mr->rkey;
	return ib_post_send(s->id->qp, &wr.wr, NULL);
}

/**
 * kv_qp_state - asks for it
 * @s: side
 *
 * Return: the state, IB_QPS_RESET when the query fails.
 */
enum ib_qp_state kv_qp_state(struct kv_side *s)
{
	struct ib_qp_init_attr init_attr;
	struct ib_qp_attr attr = {};

	if (ib_query_qp(s->id->qp, &attr, IB_QP_STATE, &init_attr))
		return IB_QPS_RESET;
	return attr.qp_state;
}

/**
 * kv_fill - data that differs from byte to byte
 * @buf: where
 * @len: bytes
 * @seed: another seed, other data
 */
void kv_fill(u8 *buf, u32 len, u8 seed)
{
	u32 i;

	for (i = 0; i < len; i++)
		buf[i] = seed + i * 7;
}
