// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Posts a fixed list of work requests, prints as JSON what it posted, and keeps
 * everything open until standard input ends: verbs_dump ADDRESS
 *
 * A test compares the output with what "eadm dump qp" decodes from the ring.
 * The index of a request is that of its first 32-byte block (sections 9.1-9.3
 * of docs/erdma-hardware.md): a write has a fixed part of 32 bytes, a send of
 * 16, then 16 bytes per piece or the inline data; a read 48 and an atomic 64.
 */
#include <arpa/inet.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"

#define IMM	0x11223344u

static unsigned int next_index, printed;

static const char *opcode_name(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:			return "RDMA_WRITE";
	case IBV_WR_RDMA_WRITE_WITH_IMM:	return "RDMA_WRITE_WITH_IMM";
	case IBV_WR_SEND:			return "SEND";
	case IBV_WR_SEND_WITH_IMM:		return "SEND_WITH_IMM";
	case IBV_WR_RDMA_READ:			return "RDMA_READ";
	case IBV_WR_ATOMIC_CMP_AND_SWP:		return "ATOMIC_CMP_AND_SWP";
	case IBV_WR_ATOMIC_FETCH_AND_ADD:	return "ATOMIC_FETCH_AND_ADD";
	default:				return "?";
	}
}

static unsigned int blocks_of(const struct ibv_send_wr *wr, uint32_t bytes)
{
	unsigned int tail = wr->send_flags & IBV_SEND_INLINE ? bytes : 16u * (unsigned int)wr->num_sge;

	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return (32 + tail + 31) / 32;
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return (16 + tail + 31) / 32;
	default:
		return 2;
	}
}

static void print_request(const struct ibv_send_wr *wr)
{
	bool one_sided_op = wr->opcode == IBV_WR_RDMA_WRITE || wr->opcode == IBV_WR_RDMA_READ ||
			    wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	bool atomic_op = wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
			 wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	uint32_t bytes = 0;

	for (int i = 0; i < wr->num_sge; i++)
		bytes += wr->sg_list[i].length;
	printf("%s{\"index\":%u,\"blocks\":%u,\"opcode\":\"%s\",\"length\":%u,\"signaled\":%s,"
	       "\"inline\":%s", printed++ ? ",\n" : "", next_index, blocks_of(wr, bytes),
	       opcode_name(wr->opcode), bytes, wr->send_flags & IBV_SEND_SIGNALED ? "true" : "false",
	       wr->send_flags & IBV_SEND_INLINE ? "true" : "false");
	if (one_sided_op || atomic_op)
		printf(",\"remote_addr\":\"0x%llx\",\"rkey\":\"0x%x\"",
		       (unsigned long long)(atomic_op ? wr->wr.atomic.remote_addr :
					    wr->wr.rdma.remote_addr),
		       atomic_op ? wr->wr.atomic.rkey : wr->wr.rdma.rkey);
	if (wr->opcode == IBV_WR_SEND_WITH_IMM || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		printf(",\"imm\":\"0x%08x\"", ntohl(wr->imm_data));
	if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
		printf(",\"compare\":\"0x%llx\",\"swap\":\"0x%llx\"",
		       (unsigned long long)wr->wr.atomic.compare_add,
		       (unsigned long long)wr->wr.atomic.swap);
	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		printf(",\"add\":\"0x%llx\"", (unsigned long long)wr->wr.atomic.compare_add);
	if (wr->send_flags & IBV_SEND_INLINE) {
		printf(",\"data\":\"");
		for (uint32_t i = 0; i < bytes; i++)
			printf("%02x", ((uint8_t *)(uintptr_t)wr->sg_list[0].addr)[i]);
		printf("\"");
	} else {
		printf(",\"sge\":[");
		for (int i = 0; i < wr->num_sge; i++)
			printf("%s{\"addr\":\"0x%llx\",\"length\":%u,\"lkey\":\"0x%x\"}",
			       i ? "," : "", (unsigned long long)wr->sg_list[i].addr,
			       wr->sg_list[i].length, wr->sg_list[i].lkey);
		printf("]");
	}
	printf("}");
	next_index += blocks_of(wr, bytes);
}

static bool post_and_print(struct bed *t, struct ibv_send_wr wr)
{
	wr.wr_id = printed;
	if (!post(&t->p.a, wr))
		return false;
	print_request(&wr);
	return true;
}

static bool post_all(struct bed *t)
{
	struct ibv_sge one = sge_of(&t->a, 4096, 65536), small = sge_of(&t->a, 8, 20);
	struct ibv_sge three[] = { sge_of(&t->a, 0, 100), sge_of(&t->a, 5000, 200),
				   sge_of(&t->a, 70001, 333) };
	struct ibv_sge eight = sge_of(&t->a, 64, 8);
	struct ibv_send_wr wr;

	if (!post_and_print(t, one_sided(IBV_WR_RDMA_WRITE, 0, &one, 1, &t->b, 12345)) ||
	    !post_and_print(t, one_sided(IBV_WR_RDMA_WRITE, 0, three, 3, &t->b, 1)))
		return false;
	wr = one_sided(IBV_WR_RDMA_WRITE_WITH_IMM, 0, &small, 1, &t->b, 99);
	wr.imm_data = htonl(IMM);
	if (!post_and_print(t, wr) || !post_and_print(t, signaled(IBV_WR_SEND, 0, three, 2)))
		return false;
	wr = signaled(IBV_WR_SEND_WITH_IMM, 0, &small, 1);
	wr.imm_data = htonl(IMM);
	wr.send_flags |= IBV_SEND_INLINE;
	if (!post_and_print(t, wr) ||
	    !post_and_print(t, one_sided(IBV_WR_RDMA_READ, 0, &one, 1, &t->b, 777)))
		return false;
	wr = signaled(IBV_WR_ATOMIC_CMP_AND_SWP, 0, &eight, 1);
	wr.wr.atomic.remote_addr = (uintptr_t)t->b.p + 16;
	wr.wr.atomic.rkey = t->b.mr->rkey;
	wr.wr.atomic.compare_add = 0x0102030405060708;
	wr.wr.atomic.swap = 0x1112131415161718;
	if (!post_and_print(t, wr))
		return false;
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	wr.wr.atomic.compare_add = 0xa1a2a3a4a5a6a7a8;
	if (!post_and_print(t, wr))
		return false;
	wr = one_sided(IBV_WR_RDMA_WRITE, 0, &small, 1, &t->b, 5);
	wr.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
	return post_and_print(t, wr);
}

static bool run(struct bed *t)
{
	char c;

	pattern_fill(t->a.p, t->a.len, 1);
	printf("{\"qpn\":%u,\"peer_qpn\":%u,\"received\":[\n", t->p.a.qp->qp_num,
	       t->p.b.qp->qp_num);
	for (uint64_t i = 0; i < 8; i++) {
		struct ibv_sge sge = sge_of(&t->b, 1000 * i, 900 + i);

		if (!post_recv(&t->p.b, sge, i))
			return false;
		printf("%s{\"index\":%llu,\"addr\":\"0x%llx\",\"length\":%u,\"lkey\":\"0x%x\"}",
		       i ? ",\n" : "", (unsigned long long)i, (unsigned long long)sge.addr,
		       sge.length, sge.lkey);
	}
	printf("],\"posted\":[\n");
	if (!post_all(t))
		return false;
	for (unsigned int i = 0; i < printed; i++) {
		struct ibv_wc wc;

		EXPECT(next_wc(t->p.a.cq, &wc) && wc.status == IBV_WC_SUCCESS && wc.wr_id == i,
		       "request %u", i);
	}
	printf("],\"pi\":%u}\n", next_index);
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return true;
}

int main(int argc, char **argv)
{
	static const struct tap_test none[] = { { "", NULL } };

	if (argc != 2)
		return bed_main(1, argv, none, 0);
	bed_set_addresses(argv[1]);
	return !with_bed(128 * 1024, (struct pair_options){ .send_sge = 6, .inline_bytes = 96 }, run);
}
