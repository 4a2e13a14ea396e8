// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Data that arrives where it should.
 */
#include "kverbs.h"

#define EVERY_RIGHT \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
	 IB_ACCESS_REMOTE_ATOMIC)
#define ODD	12	/* start of regions: no page, but a word */

static void one_send(struct kv_pair *p, u32 i, u32 len, int flags)
{
	struct kv_side *a = &p->a, *b = &p->b;
	struct ib_wc wc;

	kv_fill(a->buf, len, i);
	memset(b->buf, 0, KV_BUF_SIZE);
	kv_check(!kv_post_recv(b, 100 + i, 3, 32768), "length %u", len);
	kv_check(!kv_post_send(a, IB_WR_SEND, i, len, IB_SEND_SIGNALED | flags, 0), "length %u",
		 len);
	kv_good(a->scq, i, IB_WC_SEND, &wc);
	kv_good(b->rcq, 100 + i, IB_WC_RECV, &wc);
	kv_check(wc.byte_len == len, "%u instead of %u", wc.byte_len, len);
	kv_check(wc.qp == b->id->qp, "length %u", len);
	kv_check(!memcmp(a->buf, b->buf + 3, len), "length %u", len);
	kv_check(!b->buf[2] && !b->buf[3 + len], "length %u: written around it", len);
}

/* Every length that matters, then immediate data */
void kv_sends(struct ib_device *dev)
{
	static const u32 lens[] = { 0, 1, 7, 95, 96, 97, 4095, 4096, 4097, 16384, 20000 };
	struct kv_pair *p = kv_open(64, IB_SIGNAL_REQ_WR, true);
	struct ib_wc wc;
	int i;

	if (!p)
		return;
	kv_check(kv_qp_state(&p->a) == IB_QPS_RTS, "%d", kv_qp_state(&p->a));
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		one_send(p, i, lens[i], 0);
		if (lens[i] <= KV_MAX_INLINE)
			one_send(p, i, lens[i], IB_SEND_INLINE);
	}

	kv_check(!kv_post_recv(&p->b, 1, 0, 64), "receive");
	kv_check(!kv_post_send(&p->a, IB_WR_SEND_WITH_IMM, 2, 8, IB_SEND_SIGNALED, KV_IMM),
		 "send");
	kv_good(p->b.rcq, 1, IB_WC_RECV, &wc);
	kv_check(wc.wc_flags & IB_WC_WITH_IMM, "flags %x", wc.wc_flags);
	kv_check(wc.ex.imm_data == cpu_to_be32(KV_IMM), "%x", be32_to_cpu(wc.ex.imm_data));
	kv_good(p->a.scq, 2, IB_WC_SEND, &wc);
	kv_close(p);
}

/* ---- fast registration -------------------------------------------------- */

static bool registered(struct kv_side *s, u32 len)
{
	struct ib_wc wc;

	return kv_check(!kv_post_reg(s, 5, ODD, len, EVERY_RIGHT), "length %u", len) &&
	       kv_good(s->scq, 5, IB_WC_REG_MR, &wc);
}

static void write_and_read(struct kv_pair *p, u32 len, u8 seed)
{
	struct kv_side *a = &p->a, *b = &p->b;
	struct ib_wc wc;

	kv_fill(a->buf, len, seed);
	memset(b->buf, 0, KV_BUF_SIZE);
	if (!registered(b, len))
		return;
	kv_check(!kv_post_rdma(a, IB_WR_RDMA_WRITE, 6, len, b->mr, IB_SEND_SIGNALED),
		 "length %u", len);
	kv_good(a->scq, 6, IB_WC_RDMA_WRITE, &wc);
	kv_check(!memcmp(a->buf, b->buf + ODD, len), "length %u", len);
	kv_check(!b->buf[ODD - 1] && !b->buf[ODD + len], "length %u: written around it", len);

	memset(a->buf, 0, KV_BUF_SIZE);
	kv_check(!kv_post_rdma(a, IB_WR_RDMA_READ, 7, len, b->mr, IB_SEND_SIGNALED),
		 "length %u", len);
	kv_good(a->scq, 7, IB_WC_RDMA_READ, &wc);
	kv_check(wc.byte_len == len, "%u instead of %u", wc.byte_len, len);
	kv_check(!memcmp(a->buf, b->buf + ODD, len), "length %u", len);
}

static void invalidate(struct kv_side *s)
{
	struct ib_wc wc;

	kv_check(!kv_post_send(s, IB_WR_LOCAL_INV, 11, 0, IB_SEND_SIGNALED, s->mr->rkey),
		 "key %x", s->mr->rkey);
	kv_good(s->scq, 11, IB_WC_LOCAL_INV, &wc);
}

static void invalidate_by_peer(struct kv_side *s, struct kv_side *peer)
{
	u32 key = s->mr->rkey;
	struct ib_wc wc;

	kv_check(!kv_post_recv(s, 12, 0, 64), "receive");
	kv_check(!kv_post_send(peer, IB_WR_SEND_WITH_INV, 13, 8, IB_SEND_SIGNALED, key),
		 "key %x", key);
	kv_good(s->rcq, 12, IB_WC_RECV, &wc);
	kv_check(wc.wc_flags & IB_WC_WITH_INVALIDATE, "flags %x", wc.wc_flags);
	kv_check(wc.ex.invalidate_rkey == key, "%x instead of %x", wc.ex.invalidate_rkey, key);
	kv_good(peer->scq, 13, IB_WC_SEND, &wc);
}

/* Regions of 1, 4, 5, 6 and 15 pages */
void kv_memory(struct ib_device *dev)
{
	static const u32 lens[] = { 100, 4 * 4096 - ODD, 4 * 4096, 5 * 4096, 60000 };
	struct kv_pair *p = kv_open(64, IB_SIGNAL_REQ_WR, true);
	int i;

	if (!p)
		return;
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		write_and_read(p, lens[i], 3 + i);
		if (i % 2)
			invalidate(&p->b);
		else
			invalidate_by_peer(&p->b, &p->a);
	}
	kv_close(p);
}

static void one_atomic(struct kv_pair *p, enum ib_wr_opcode op, u64 add, u64 swap, u64 before,
		       u64 after)
{
	struct kv_side *a = &p->a, *b = &p->b;
	struct ib_sge sge = { a->dma + 8192, 8, a->pd->local_dma_lkey };
	u64 *got = (u64 *)(a->buf + 8192), *word = (u64 *)(b->buf + ODD + 4);
	struct ib_atomic_wr wr = {
		.wr = {
			.wr_id = 8,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = op,
			.send_flags = IB_SEND_SIGNALED,
		},
		.remote_addr = b->mr->iova + 4,
		.compare_add = add,
		.swap = swap,
		.rkey = b->mr->rkey,
	};
	struct ib_wc wc;

	*got = ~0ull;
	*word = before;
	kv_check(!ib_post_send(a->id->qp, &wr.wr, NULL), "opcode %d", op);
	kv_good(a->scq, 8, op == IB_WR_ATOMIC_CMP_AND_SWP ? IB_WC_COMP_SWAP : IB_WC_FETCH_ADD,
		&wc);
	kv_check(*got == before, "%llx instead of %llx", *got, before);
	kv_check(*word == after, "%llx instead of %llx", *word, after);
}

void kv_atomics(struct ib_device *dev)
{
	struct kv_pair *p = kv_open(64, IB_SIGNAL_REQ_WR, true);
	struct ib_wc wc;

	if (!p)
		return;
	if (registered(&p->b, 100)) {
		one_atomic(p, IB_WR_ATOMIC_FETCH_AND_ADD, 5, 0, 40, 45);
		one_atomic(p, IB_WR_ATOMIC_FETCH_AND_ADD, 1, 0, 0x1ffffffffull, 0x200000000ull);
		one_atomic(p, IB_WR_ATOMIC_CMP_AND_SWP, 45, 99, 45, 99);
		one_atomic(p, IB_WR_ATOMIC_CMP_AND_SWP, 46, 99, 45, 45);

		kv_fill(p->a.buf, 16, 77);
		kv_check(!kv_post_recv(&p->b, 9, 40000, 64), "receive");
		kv_check(!kv_post_rdma(&p->a, IB_WR_RDMA_WRITE_WITH_IMM, 10, 16, p->b.mr,
				       IB_SEND_SIGNALED | IB_SEND_INLINE), "write");
		kv_good(p->b.rcq, 9, IB_WC_RECV_RDMA_WITH_IMM, &wc);
		kv_check(wc.wc_flags & IB_WC_WITH_IMM, "flags %x", wc.wc_flags);
		kv_check(wc.ex.imm_data == cpu_to_be32(KV_IMM), "%x",
			 be32_to_cpu(wc.ex.imm_data));
		kv_check(wc.byte_len == 16, "%u", wc.byte_len);
		kv_check(!memcmp(p->b.buf + ODD, p->a.buf, 16), "wrong data");
		kv_good(p->a.scq, 10, IB_WC_RDMA_WRITE, &wc);
	}
	kv_close(p);
}

/* It ends the connection: the rest is flushed */
void kv_revoked(struct ib_device *dev)
{
	struct kv_pair *p = kv_open(64, IB_SIGNAL_REQ_WR, true);
	struct ib_wc wc;

	if (!p)
		return;
	if (registered(&p->b, 100)) {
		invalidate(&p->b);
		memset(p->a.buf, 0xff, 8);
		kv_check(!kv_post_rdma(&p->a, IB_WR_RDMA_WRITE, 20, 8, p->b.mr, 0), "write");
		kv_check(!kv_post_rdma(&p->a, IB_WR_RDMA_WRITE, 21, 8, p->b.mr, 0), "write");
		kv_fails(p->a.scq, 20, IB_WC_REM_ACCESS_ERR, &wc);
		kv_check(wc.vendor_err == 2, "%x", wc.vendor_err);
		kv_fails(p->a.scq, 21, IB_WC_WR_FLUSH_ERR, &wc);
		kv_check(!p->b.buf[ODD], "a refused write changed memory");
	}
	kv_close(p);
}
