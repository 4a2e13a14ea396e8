// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every way of moving data, with every byte checked: verbs_data ADDRESS [TEST]
 * (verbs_data PASSIVE,ACTIVE connects between two cards).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "fixture.h"
#include "tap.h"

#define MIB		(1024u * 1024)

/* ---- sizes and places ---------------------------------------------------- */

static const size_t sizes[] = {
	0, 1, 2, 7, 8, 63, 64, 65, 511, 4095, 4096, 4097, 8192, 65535, MIB + 5,
};
static const size_t places[] = { 0, 1, 4093 };

#define EACH_SIZE_AND_PLACE(len, at)						\
	for (size_t i_ = 0; i_ < sizeof(sizes) / sizeof(sizes[0]); i_++)	\
		for (size_t j_ = 0, len = sizes[i_], at = 0;			\
		     j_ < sizeof(places) / sizeof(places[0]) && (at = places[j_], true); j_++)

static bool untouched(const struct region *r, size_t at, size_t len)
{
	EXPECT(!at || !r->p[at - 1], "the byte before the data was written");
	EXPECT(!r->p[at + len], "the byte after the data was written");
	return true;
}

static bool send_body(struct bed *t)
{
	uint32_t seed = 0;

	EACH_SIZE_AND_PLACE(len, at) {
		struct ibv_sge from = sge_of(&t->a, at, len), to = sge_of(&t->b, at, len);
		struct ibv_wc wc;

		pattern_fill(t->a.p + at, len, ++seed);
		memset(t->b.p, 0, t->b.len);
		if (!post_recv(&t->p.b, to, seed) ||
		    !post(&t->p.a, signaled(IBV_WR_SEND, 1000 + seed, &from, 1)) ||
		    !done(&t->p.b, seed, IBV_WC_RECV, &wc) ||
		    !done(&t->p.a, 1000 + seed, IBV_WC_SEND, NULL))
			return false;
		EXPECT(wc.byte_len == len, "received %u bytes instead of %zu", wc.byte_len, len);
		if (!pattern_is(t->b.p + at, len, seed) || !untouched(&t->b, at, len))
			return false;
	}
	return true;
}

static bool send_all_sizes(void)
{
	return with_bed(2 * MIB, (struct pair_options){}, send_body);
}

static bool write_body(struct bed *t)
{
	uint32_t seed = 0;

	EACH_SIZE_AND_PLACE(len, at) {
		struct ibv_sge from = sge_of(&t->a, 8192 - at, len);

		pattern_fill(t->a.p + 8192 - at, len, ++seed);
		memset(t->b.p, 0, t->b.len);
		if (!post(&t->p.a, one_sided(IBV_WR_RDMA_WRITE, seed, &from, 1, &t->b, at)) ||
		    !done(&t->p.a, seed, IBV_WC_RDMA_WRITE, NULL) ||
		    !pattern_is(t->b.p + at, len, seed) || !untouched(&t->b, at, len))
			return false;
	}
	return true;
}

static bool write_all_sizes(void)
{
	return with_bed(2 * MIB, (struct pair_options){}, write_body);
}

static bool read_body(struct bed *t)
{
	uint32_t seed = 100;

	EACH_SIZE_AND_PLACE(len, at) {
		struct ibv_sge to = sge_of(&t->a, at, len);

		pattern_fill(t->b.p + 8192 - at, len, ++seed);
		memset(t->a.p, 0, t->a.len);
		if (!post(&t->p.a, one_sided(IBV_WR_RDMA_READ, seed, &to, 1, &t->b, 8192 - at)) ||
		    !done(&t->p.a, seed, IBV_WC_RDMA_READ, NULL) ||
		    !pattern_is(t->a.p + at, len, seed) || !untouched(&t->a, at, len))
			return false;
	}
	return true;
}

static bool read_all_sizes(void)
{
	return with_bed(2 * MIB, (struct pair_options){}, read_body);
}

static bool passive_sends_body(struct bed *t)
{
	struct ibv_sge from = sge_of(&t->b, 0, 300), to = sge_of(&t->a, 0, 300);

	pattern_fill(t->b.p, 300, 5);
	return post_recv(&t->p.a, to, 1) && post(&t->p.b, signaled(IBV_WR_SEND, 2, &from, 1)) &&
	       done(&t->p.a, 1, IBV_WC_RECV, NULL) && done(&t->p.b, 2, IBV_WC_SEND, NULL) &&
	       pattern_is(t->a.p, 300, 5);
}

static bool passive_side_sends_first(void)
{
	return with_bed(4096, (struct pair_options){}, passive_sends_body);
}

/* ---- immediate data ------------------------------------------------------ */

static bool imm_body(struct bed *t)
{
	struct ibv_sge from = sge_of(&t->a, 0, 100), to = sge_of(&t->b, 0, 200);
	struct ibv_send_wr wr = signaled(IBV_WR_SEND_WITH_IMM, 1, &from, 1);
	struct ibv_wc wc;

	pattern_fill(t->a.p, 100, 9);
	wr.imm_data = htonl(0x11223344);
	if (!post_recv(&t->p.b, to, 2) || !post(&t->p.a, wr) ||
	    !done(&t->p.b, 2, IBV_WC_RECV, &wc) || !done(&t->p.a, 1, IBV_WC_SEND, NULL))
		return false;
	EXPECT(wc.wc_flags & IBV_WC_WITH_IMM, "no immediate flag (flags 0x%x)", wc.wc_flags);
	EXPECT(ntohl(wc.imm_data) == 0x11223344, "immediate %08x", ntohl(wc.imm_data));
	EXPECT(wc.byte_len == 100, "%u bytes", wc.byte_len);
	return pattern_is(t->b.p, 100, 9);
}

static bool send_with_immediate(void)
{
	return with_bed(4096, (struct pair_options){}, imm_body);
}

static bool write_imm_body(struct bed *t)
{
	for (uint32_t len = 0; len <= 3000; len += 1000) {
		struct ibv_sge from = sge_of(&t->a, 0, len), to = sge_of(&t->b, 0, 8);
		struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE_WITH_IMM, 1, &from, 1, &t->b,
						  100);
		struct ibv_wc wc;

		memset(t->b.p, 0, t->b.len);
		pattern_fill(t->a.p, len, len);
		wr.imm_data = htonl(0xa1b2c3d4 + len);
		if (!post_recv(&t->p.b, to, 2) || !post(&t->p.a, wr) ||
		    !done(&t->p.b, 2, IBV_WC_RECV_RDMA_WITH_IMM, &wc) ||
		    !done(&t->p.a, 1, IBV_WC_RDMA_WRITE, NULL))
			return false;
		EXPECT(wc.wc_flags & IBV_WC_WITH_IMM, "no immediate flag");
		EXPECT(ntohl(wc.imm_data) == 0xa1b2c3d4 + len, "immediate %08x", ntohl(wc.imm_data));
		EXPECT(wc.byte_len == len, "%u bytes instead of %u", wc.byte_len, len);
		EXPECT(!t->b.p[0], "the posted buffer was touched");
		if (!pattern_is(t->b.p + 100, len, len))
			return false;
	}
	return true;
}

static bool write_with_immediate(void)
{
	return with_bed(8192, (struct pair_options){}, write_imm_body);
}

/* ---- atomics ------------------------------------------------------------- */

static bool atomic(struct bed *t, enum ibv_wr_opcode opcode, uint64_t operand, uint64_t swap,
		   uint64_t *before)
{
	struct ibv_sge result = sge_of(&t->a, 64, 8);
	struct ibv_send_wr wr = signaled(opcode, 7, &result, 1);

	wr.wr.atomic.remote_addr = (uintptr_t)t->b.p + 128;
	wr.wr.atomic.rkey = t->b.mr->rkey;
	wr.wr.atomic.compare_add = operand;
	wr.wr.atomic.swap = swap;
	if (!post(&t->p.a, wr) ||
	    !done(&t->p.a, 7, opcode == IBV_WR_ATOMIC_CMP_AND_SWP ? IBV_WC_COMP_SWAP :
		  IBV_WC_FETCH_ADD, NULL))
		return false;
	memcpy(before, t->a.p + 64, 8);
	return true;
}

static bool cas_body(struct bed *t)
{
	uint64_t *target = (uint64_t *)(t->b.p + 128), before;

	*target = 0x1122334455667788;
	if (!atomic(t, IBV_WR_ATOMIC_CMP_AND_SWP, 0x1122334455667788, 42, &before))
		return false;
	EXPECT(before == 0x1122334455667788, "old value %#llx", (unsigned long long)before);
	EXPECT(*target == 42, "not swapped: %#llx", (unsigned long long)*target);
	if (!atomic(t, IBV_WR_ATOMIC_CMP_AND_SWP, 41, 99, &before))
		return false;
	EXPECT(before == 42, "old value %#llx", (unsigned long long)before);
	EXPECT(*target == 42, "swapped although different: %#llx", (unsigned long long)*target);
	return true;
}

static bool compare_and_swap(void)
{
	return with_bed(4096, (struct pair_options){}, cas_body);
}

static bool faa_body(struct bed *t)
{
	uint64_t *target = (uint64_t *)(t->b.p + 128), before, want = UINT64_MAX - 2;

	*target = want;
	for (int i = 0; i < 6; i++, want++) {
		if (!atomic(t, IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 0, &before))
			return false;
		EXPECT(before == want, "old value %#llx instead of %#llx",
		       (unsigned long long)before, (unsigned long long)want);
	}
	EXPECT(*target == 3, "sum %#llx", (unsigned long long)*target);
	return true;
}

static bool fetch_and_add_wraps(void)
{
	return with_bed(4096, (struct pair_options){}, faa_body);
}

/* ---- inline and lists ---------------------------------------------------- */

static bool inline_body(struct bed *t)
{
	for (uint32_t len = 0; len <= 96; len++) {
		uint8_t data[96];
		struct ibv_sge from = { (uintptr_t)data, len, 0 }, to = sge_of(&t->b, 0, 200);
		struct ibv_send_wr send = signaled(IBV_WR_SEND, 1, &from, 1);
		struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, 3, &from, 1, &t->b, 1000);
		struct ibv_wc wc;

		send.send_flags |= IBV_SEND_INLINE;
		write.send_flags |= IBV_SEND_INLINE;
		pattern_fill(data, len, len);
		memset(t->b.p, 0, t->b.len);
		if (!post_recv(&t->p.b, to, 2) || !post(&t->p.a, send) || !post(&t->p.a, write))
			return false;
		memset(data, 0xee, sizeof(data));	/* ours again at once */
		if (!done(&t->p.b, 2, IBV_WC_RECV, &wc) ||
		    !done(&t->p.a, 1, IBV_WC_SEND, NULL) ||
		    !done(&t->p.a, 3, IBV_WC_RDMA_WRITE, NULL) ||
		    !pattern_is(t->b.p, len, len) || !pattern_is(t->b.p + 1000, len, len))
			return false;
		EXPECT(wc.byte_len == len, "%u bytes instead of %u", wc.byte_len, len);
	}
	return true;
}

static bool inline_every_length(void)
{
	return with_bed(4096, (struct pair_options){ .inline_bytes = 96 }, inline_body);
}

/* Fills @list with pieces of the region whose bytes form one pattern. */
static size_t scatter(struct bed *t, struct ibv_sge *list, int num, uint32_t seed)
{
	uint8_t all[6 * 400];
	size_t total = 0;

	pattern_fill(all, sizeof(all), seed);
	for (int i = 0; i < num; i++) {
		size_t len = i == 2 ? 0 : 17 + (size_t)i * 61, at = 5000 - (size_t)i * 700;

		list[i] = sge_of(&t->a, at, len);
		memcpy(t->a.p + at, all + total, len);
		total += len;
	}
	return total;
}

static bool lists_body(struct bed *t)
{
	for (int num = 1; num <= 6; num++) {
		struct ibv_sge list[6], to = sge_of(&t->b, 0, 4096);
		size_t total = scatter(t, list, num, (uint32_t)num);
		struct ibv_wc wc;

		memset(t->b.p, 0, t->b.len);
		if (!post_recv(&t->p.b, to, 2) ||
		    !post(&t->p.a, signaled(IBV_WR_SEND, 1, list, num)) ||
		    !post(&t->p.a, one_sided(IBV_WR_RDMA_WRITE, 3, list, num, &t->b, 4097)) ||
		    !done(&t->p.b, 2, IBV_WC_RECV, &wc) ||
		    !done(&t->p.a, 1, IBV_WC_SEND, NULL) ||
		    !done(&t->p.a, 3, IBV_WC_RDMA_WRITE, NULL) ||
		    !pattern_is(t->b.p, total, (uint32_t)num) ||
		    !pattern_is(t->b.p + 4097, total, (uint32_t)num))
			return false;
		EXPECT(wc.byte_len == total, "%u bytes instead of %zu", wc.byte_len, total);
	}
	return true;
}

static bool lists_of_one_to_six(void)
{
	return with_bed(3 * 4096, (struct pair_options){ .send_sge = 6 }, lists_body);
}

/* ---- rings --------------------------------------------------------------- */

#define MANY	45000u		/* two blocks each: the 16-bit index wraps */

static bool wrap_body(struct bed *t)
{
	uint64_t next = 0;

	for (uint32_t i = 0; i < MANY; i++) {
		struct ibv_sge list[2] = { sge_of(&t->a, 0, 4), sge_of(&t->a, 4, 4) };
		struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, i, list, 2, &t->b, 8 * (i % 64));
		struct ibv_wc wc;

		if (i % 32 != 31)
			wr.send_flags = 0;
		if (!post(&t->p.a, wr))
			return false;
		if (i % 32 == 31) {
			EXPECT(next_wc(t->p.a.cq, &wc), "no completion of request %u", i);
			EXPECT(wc.status == IBV_WC_SUCCESS && wc.wr_id == i,
			       "request %u: %s, id %llu", i, ibv_wc_status_str(wc.status),
			       (unsigned long long)wc.wr_id);
			next = i;
		}
	}
	EXPECT(next > MANY - 64, "only %llu completions", (unsigned long long)next);
	return true;
}

static bool send_index_wraps(void)
{
	return with_bed(4096, (struct pair_options){ .send_sge = 2 }, wrap_body);
}

static bool recv_wrap_body(struct bed *t)
{
	const uint32_t count = 70000, ahead = 16;

	for (uint32_t i = 0; i < count + ahead; i++) {
		struct ibv_sge to = sge_of(&t->b, 8 * (i % 64), 8);
		uint8_t data[4];
		struct ibv_sge from = { (uintptr_t)data, 4, 0 };
		struct ibv_send_wr wr = { .wr_id = i, .opcode = IBV_WR_SEND, .sg_list = &from,
					  .num_sge = 1, .send_flags = IBV_SEND_INLINE };

		if (i < count && !post_recv(&t->p.b, to, i))
			return false;
		if (i < ahead)
			continue;
		memcpy(data, &i, 4);
		if (i % 16 == 0)
			wr.send_flags |= IBV_SEND_SIGNALED;
		if (!post(&t->p.a, wr) || !done(&t->p.b, i - ahead, IBV_WC_RECV, NULL) ||
		    (i % 16 == 0 && !done(&t->p.a, i, IBV_WC_SEND, NULL)))
			return false;
		EXPECT(!memcmp(t->b.p + 8 * ((i - ahead) % 64), &i, 4), "wrong data in message %u", i);
	}
	return true;
}

static bool receive_index_wraps(void)
{
	return with_bed(4096, (struct pair_options){ .inline_bytes = 4 }, recv_wrap_body);
}

static bool full_body(struct bed *t)
{
	struct ibv_sge from = sge_of(&t->a, 0, 8);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, 0, &from, 1, &t->b, 0), *bad;
	uint64_t posted = 0;
	int err = 0;

	/* Nothing is polled, so the library cannot know that entries are free. */
	while (!err && posted < 100000) {
		wr.wr_id = posted;
		err = ibv_post_send(t->p.a.qp, &wr, &bad);
		posted += !err;
	}
	/* The library of Debian 12 returns the errno with its sign turned. */
	EXPECT(err == ENOMEM || err == -ENOMEM, "error %d after %llu requests", err, (unsigned long long)posted);
	EXPECT(posted >= 64, "full after %llu requests, 64 were asked for",
	       (unsigned long long)posted);
	for (uint64_t i = 0; i < posted; i++)
		if (!done(&t->p.a, i, IBV_WC_RDMA_WRITE, NULL))
			return false;
	return post(&t->p.a, wr) && done(&t->p.a, posted, IBV_WC_RDMA_WRITE, NULL);
}

static bool full_queue_refuses_then_recovers(void)
{
	return with_bed(4096, (struct pair_options){}, full_body);
}

static bool chain_body(struct bed *t)
{
	struct ibv_send_wr wr[20], *bad;
	struct ibv_sge sge[20];
	int err;

	for (unsigned int i = 0; i < 20; i++) {
		sge[i] = sge_of(&t->a, i * 100, 100);
		pattern_fill(t->a.p + i * 100, 100, i);
		wr[i] = one_sided(IBV_WR_RDMA_WRITE, i, &sge[i], 1, &t->b, i * 100);
		wr[i].next = i < 19 ? &wr[i + 1] : NULL;
	}
	err = ibv_post_send(t->p.a.qp, wr, &bad);
	EXPECT(!err, "ibv_post_send: %s", strerror(err));
	for (unsigned int i = 0; i < 20; i++)
		if (!done(&t->p.a, i, IBV_WC_RDMA_WRITE, NULL) ||
		    !pattern_is(t->b.p + i * 100, 100, i))
			return false;
	return true;
}

static bool chain_of_requests(void)
{
	return with_bed(4096, (struct pair_options){}, chain_body);
}

/* ---- order and events ---------------------------------------------------- */

static bool early_body(struct bed *t)
{
	struct ibv_sge from = sge_of(&t->a, 0, 64), to = sge_of(&t->b, 0, 64);

	pattern_fill(t->a.p, 64, 77);
	return post(&t->p.a, signaled(IBV_WR_SEND, 1, &from, 1)) && post_recv(&t->p.b, to, 2) &&
	       done(&t->p.b, 2, IBV_WC_RECV, NULL) && done(&t->p.a, 1, IBV_WC_SEND, NULL) &&
	       pattern_is(t->b.p, 64, 77);
}

static bool send_waits_for_receive(void)
{
	return with_bed(4096, (struct pair_options){}, early_body);
}

static bool fence_body(struct bed *t)
{
	struct ibv_sge to = sge_of(&t->a, 0, 4096), recv = sge_of(&t->b, 4096, 4096);

	for (uint32_t i = 0; i < 200; i++) {
		struct ibv_send_wr read = one_sided(IBV_WR_RDMA_READ, 1, &to, 1, &t->b, 0);
		struct ibv_send_wr send = signaled(IBV_WR_SEND, 2, &to, 1), *bad;

		pattern_fill(t->b.p, 4096, i);
		read.next = &send;
		send.send_flags |= IBV_SEND_FENCE;
		if (!post_recv(&t->p.b, recv, 3))
			return false;
		EXPECT(!ibv_post_send(t->p.a.qp, &read, &bad), "ibv_post_send");
		if (!done(&t->p.a, 1, IBV_WC_RDMA_READ, NULL) ||
		    !done(&t->p.a, 2, IBV_WC_SEND, NULL) ||
		    !done(&t->p.b, 3, IBV_WC_RECV, NULL) || !pattern_is(t->b.p + 4096, 4096, i))
			return false;
	}
	return true;
}

static bool fenced_send_sees_read_data(void)
{
	return with_bed(2 * 4096, (struct pair_options){}, fence_body);
}

/* The event comes whether the completion is older or younger than the request for it. */
static bool events_body(struct bed *t)
{
	for (uint64_t i = 0; i < 200; i++) {
		struct ibv_sge from = sge_of(&t->a, 0, 8), to = sge_of(&t->b, 0, 8);
		struct ibv_send_wr wr = signaled(IBV_WR_SEND, i, &from, 1);

		wr.send_flags = i % 8 == 7 ? IBV_SEND_SIGNALED : 0;
		if (!post_recv(&t->p.b, to, i))
			return false;
		if (i % 2)
			EXPECT(!ibv_req_notify_cq(t->p.b.cq, 0), "ibv_req_notify_cq");
		if (!post(&t->p.a, wr))
			return false;
		if (!(i % 2))
			EXPECT(!ibv_req_notify_cq(t->p.b.cq, 0), "ibv_req_notify_cq");
		EXPECT(next_cq_event(&t->p.b), "round %llu", (unsigned long long)i);
		if (!done(&t->p.b, i, IBV_WC_RECV, NULL) ||
		    (i % 8 == 7 && !done(&t->p.a, i, IBV_WC_SEND, NULL)))
			return false;
	}
	return true;
}

static bool completion_events(void)
{
	return with_bed(4096, (struct pair_options){}, events_body);
}

static bool solicited_body(struct bed *t)
{
	struct ibv_sge from = sge_of(&t->a, 0, 8), to = sge_of(&t->b, 0, 8);
	struct ibv_send_wr wr = signaled(IBV_WR_SEND, 1, &from, 1);

	if (!post_recv(&t->p.b, to, 1) || !post_recv(&t->p.b, to, 2))
		return false;
	EXPECT(!ibv_req_notify_cq(t->p.b.cq, 1), "ibv_req_notify_cq");
	if (!post(&t->p.a, wr) || !done(&t->p.a, 1, IBV_WC_SEND, NULL))
		return false;
	wr.send_flags |= IBV_SEND_SOLICITED;
	if (!post(&t->p.a, wr))
		return false;
	EXPECT(next_cq_event(&t->p.b), "after the solicited send");
	return done(&t->p.b, 1, IBV_WC_RECV, NULL) && done(&t->p.b, 2, IBV_WC_RECV, NULL) &&
	       done(&t->p.a, 1, IBV_WC_SEND, NULL);
}

static bool solicited_event(void)
{
	return with_bed(4096, (struct pair_options){}, solicited_body);
}

/* ---- memory regions ------------------------------------------------------ */

static bool region_body(struct bed *t)
{
	/* Around the limits of every table level: 4 inline, 512 per page, two levels. */
	static const size_t pages[] = { 1, 3, 4, 5, 511, 512, 513, 1025, 16384 };

	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		size_t offset = i % 2 ? 123 : 0, len = pages[i] * 4096 - offset;
		struct ibv_sge from = sge_of(&t->a, 0, 6000);
		struct region r = {};
		bool good = !region_new(&r, &t->p.b, len, offset, ALL_RIGHTS);

		for (uint32_t k = 0; good && k < 8; k++) {
			size_t n = len < 6000 ? len / 2 : 6000, at = (len - n) / 7 * k;

			from.length = (uint32_t)n;
			pattern_fill(t->a.p, n, k);
			good = post(&t->p.a, one_sided(IBV_WR_RDMA_WRITE, k, &from, 1, &r, at)) &&
			       done(&t->p.a, k, IBV_WC_RDMA_WRITE, NULL) &&
			       pattern_is(r.p + at, n, k);
		}
		region_free(&r);
		EXPECT(good, "region of %zu pages", pages[i]);
	}
	return true;
}

static bool regions_of_every_table_level(void)
{
	return with_bed(8192, (struct pair_options){}, region_body);
}

static bool last_byte_body(struct bed *t)
{
	struct ibv_sge from = sge_of(&t->a, 0, 1), all = sge_of(&t->a, 0, 4096);

	t->a.p[0] = 0x5a;
	if (!post(&t->p.a, one_sided(IBV_WR_RDMA_WRITE, 1, &from, 1, &t->b, 4095)) ||
	    !done(&t->p.a, 1, IBV_WC_RDMA_WRITE, NULL))
		return false;
	EXPECT(t->b.p[4095] == 0x5a, "last byte is %02x", t->b.p[4095]);
	return post(&t->p.a, one_sided(IBV_WR_RDMA_READ, 2, &all, 1, &t->b, 0)) &&
	       done(&t->p.a, 2, IBV_WC_RDMA_READ, NULL);
}

static bool last_byte_of_a_region(void)
{
	return with_bed(4096, (struct pair_options){}, last_byte_body);
}

static const struct tap_test tests[] = {
	{ "send of every size and place", send_all_sizes },
	{ "write of every size and place", write_all_sizes },
	{ "read of every size and place", read_all_sizes },
	{ "passive side sends first", passive_side_sends_first },
	{ "send with immediate", send_with_immediate },
	{ "write with immediate", write_with_immediate },
	{ "compare and swap", compare_and_swap },
	{ "fetch and add wraps at 64 bits", fetch_and_add_wraps },
	{ "inline send and write of every length", inline_every_length },
	{ "lists of one to six pieces", lists_of_one_to_six },
	{ "send index wraps past 65536", send_index_wraps },
	{ "receive index wraps past 65536", receive_index_wraps },
	{ "full send queue refuses, then recovers", full_queue_refuses_then_recovers },
	{ "chain of requests in one post", chain_of_requests },
	{ "send waits for a receive", send_waits_for_receive },
	{ "fenced send sees the data of a read", fenced_send_sees_read_data },
	{ "completion events, armed before and after", completion_events },
	{ "solicited event", solicited_event },
	{ "regions of every table level", regions_of_every_table_level },
	{ "last byte of a region", last_byte_of_a_region },
};

int main(int argc, char **argv)
{
	return bed_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
