// SPDX-License-Identifier: GPL-2.0-or-later
/* Entries of rings in a file of pseudonyms: what is left, and that nothing else is. */
#include <endian.h>

#include "erdma/erdma_field.h"
#include "erdma/erdma_hw.h"
#include "uapi/erdma_diag.h"

#include "pseudonym.h"
#include "redact_int.h"
#include "snap.h"
#include "unit.h"

#define QPN	17
#define DEPTH	8
#define BLOCK	ERDMA_WQEBB_SIZE
#define IOVA	0x7f1234560000ULL
#define LKEY	0x705
#define SECRET	0xee

/* A file that has one region: index 7, 64 KiB */
static struct redact *redaction(void)
{
	struct redact *r = redact_new(&test_pool, REDACT_IDS);
	struct erdma_diag_mr mr = { .index = 7, .lkey = LKEY, .rkey = LKEY, .iova = IOVA,
				    .addr = IOVA, .length = 65536, .dma = 0xabcdef000 };

	assert_false(redact_record(r, ERDMA_DIAG_REC_MR, (uint8_t *)&mr, sizeof(mr)));
	assert_string_equal(pseudonym_addr(&test_pool, mr.iova), "mr-7+0x0");
	assert_true(mr.addr == mr.iova && mr.lkey == 1 && mr.rkey == 1 && mr.length == 65536);
	assert_string_equal(pseudonym_addr(&test_pool, mr.dma), "addr-1");
	return r;
}

static uint64_t header(uint32_t opcode, uint32_t pi_after, uint32_t blocks, uint32_t sgl,
		       uint64_t flags)
{
	return htole64(ERDMA_PREP(ERDMA_SQE_HDR_PI, pi_after) | flags |
		       ERDMA_PREP(ERDMA_SQE_HDR_OPCODE, opcode) |
		       ERDMA_PREP(ERDMA_SQE_HDR_QPN, QPN) |
		       ERDMA_PREP(ERDMA_SQE_HDR_WQEBBS, blocks - 1) |
		       ERDMA_PREP(ERDMA_SQE_HDR_SGL_LEN, sgl));
}

static size_t secrets(const uint8_t *p, size_t len)
{
	size_t n = 0;

	while (len--)
		n += *p++ == SECRET;
	return n;
}

/* @plain: bytes of numbers that are left */
static void request_loses(struct redact *r, uint32_t opcode, uint64_t flags, uint32_t sgl,
			  size_t plain)
{
	uint8_t ring[DEPTH * BLOCK];
	uint64_t hdr = header(opcode, 4, 4, sgl, flags);

	memset(ring, SECRET, sizeof(ring));
	memcpy(ring, &hdr, sizeof(hdr));
	redact_ring(r, ERDMA_DIAG_RING_SQ, QPN, ring, DEPTH, BLOCK);
	assert_memory_equal(ring, &hdr, sizeof(hdr));
	assert_int_equal(secrets(ring, sizeof(ring)), plain);
}

static void requests_lose_all_but_numbers(void **state)
{
	struct redact *r = redaction();

	(void)state;
	request_loses(r, ERDMA_OP_WRITE, 0, 1, 4 + 4);
	request_loses(r, ERDMA_OP_WRITE_IMM, 0, 2, 4 + 8);
	request_loses(r, ERDMA_OP_WRITE, ERDMA_SQE_HDR_INLINE, 96, 4);
	request_loses(r, ERDMA_OP_SEND, 0, 1, 4 + 4);
	request_loses(r, ERDMA_OP_SEND_IMM, 0, 6, 4 + 24);
	request_loses(r, ERDMA_OP_SEND_INV, 0, 255, 4 + 28);
	request_loses(r, ERDMA_OP_SEND, ERDMA_SQE_HDR_INLINE, 96, 4);
	request_loses(r, ERDMA_OP_READ, 0, 1, 4 + 4);
	request_loses(r, ERDMA_OP_READ_INV, 0, 1, 4 + 4);
	request_loses(r, ERDMA_OP_ATOMIC_CAS, 0, 1, 4);
	request_loses(r, ERDMA_OP_ATOMIC_FAA, 0, 1, 4);
	request_loses(r, ERDMA_OP_REG_MR, 0, 0, 4 + 4);
	request_loses(r, ERDMA_OP_LOCAL_INV, 0, 0, 0);
	request_loses(r, 31, 0, 1, 0);
	redact_end(r);
}

/* A request that goes on in slot 0; what is between requests is of older ones */
static void a_request_may_wrap(void **state)
{
	struct erdma_sqe_send send = { .hdr = header(ERDMA_OP_SEND, 2, 4, 6, 0) };
	struct erdma_sge sge = { .addr = htole64(IOVA + 0x1000), .length = htole32(32),
				 .key = htole32(LKEY) };
	struct redact *r = redaction();
	uint8_t ring[DEPTH * BLOCK], *wrapped;
	uint64_t at;
	uint32_t key;

	(void)state;
	memset(ring, SECRET, sizeof(ring));
	memcpy(ring + 6 * BLOCK, &send, sizeof(send));
	memcpy(ring + BLOCK, &sge, sizeof(sge));
	wrapped = ring + BLOCK;
	redact_ring(r, ERDMA_DIAG_RING_SQ, QPN, ring, DEPTH, BLOCK);
	memcpy(&at, wrapped, sizeof(at));
	memcpy(&key, wrapped + 12, sizeof(key));
	assert_string_equal(pseudonym_addr(&test_pool, le64toh(at)), "mr-7+0x1000");
	assert_string_equal(pseudonym_key(&test_pool, le32toh(key)), "key-1");
	assert_int_equal(secrets(ring + 2 * BLOCK, 4 * BLOCK), 0);
	redact_end(r);
}

static void receives_and_completions(void **state)
{
	struct erdma_rqe rqe[2] = { { .qe_idx = htole16(1), .qpn = htole32(QPN),
				      .addr = htole64(IOVA + 65536), .length = htole32(9),
				      .stag = htole32(LKEY), .rsvd1 = ~0ULL } };
	struct erdma_cqe cqe[2] = {
		{ .hdr = htobe32(ERDMA_PREP(ERDMA_CQE_OPCODE, ERDMA_OP_RECV_SEND_IMM)),
		  .imm = ~0U, .size = htobe32(5), .rsvd = { ~0U, ~0U } },
		{ .hdr = htobe32(ERDMA_PREP(ERDMA_CQE_OPCODE, ERDMA_OP_RECV_INV)),
		  .imm = htobe32(LKEY) },
	};
	struct redact *r = redaction();

	(void)state;
	redact_ring(r, ERDMA_DIAG_RING_RQ, QPN, (uint8_t *)rqe, 2, sizeof(rqe[0]));
	assert_int_equal(le32toh(rqe[0].length), 9);
	/* Behind the end of the region: a number */
	assert_string_equal(pseudonym_addr(&test_pool, le64toh(rqe[0].addr)), "addr-2");
	assert_true(le32toh(rqe[0].stag) == 1 && !rqe[0].rsvd1);
	redact_ring(r, ERDMA_DIAG_RING_CQ, 1, (uint8_t *)cqe, 2, sizeof(cqe[0]));
	assert_true(!cqe[0].imm && !cqe[0].rsvd[0] && be32toh(cqe[0].size) == 5);
	assert_int_equal(be32toh(cqe[1].imm), 1);
	redact_ring(r, ERDMA_DIAG_RING_CMDQ_CQ, 0, (uint8_t *)cqe, 2, sizeof(cqe[0]));
	assert_true(!cqe[0].size && !cqe[1].imm && cqe[1].hdr);
	redact_end(r);
}

static void commands(void **state)
{
	struct erdma_cmd_reg_mr *mr;
	struct erdma_cmd_modify_qp *qp;
	struct erdma_diag_cmdq cmdq = { .slot_wqebbs = 4 };
	uint8_t ring[3 * 4 * BLOCK + 4 * BLOCK] = { 0 };
	struct redact *r = redaction();

	(void)state;
	redact_record(r, ERDMA_DIAG_REC_CMDQ, (uint8_t *)&cmdq, sizeof(cmdq));
	memset(ring, SECRET, sizeof(ring));
	mr = (struct erdma_cmd_reg_mr *)ring;
	mr->hdr = htole64(ERDMA_PREP(ERDMA_CMD_HDR_PI, 4) | ERDMA_PREP(ERDMA_CMD_HDR_WQEBBS, 3) |
			  ERDMA_PREP(ERDMA_CMD_HDR_OPCODE, ERDMA_CMD_REG_MR));
	mr->cfg0 = htole32(ERDMA_PREP(ERDMA_REG_MR_KEY, 0xa5) | 7);
	qp = (struct erdma_cmd_modify_qp *)(ring + 4 * BLOCK);
	qp->hdr = htole64(ERDMA_PREP(ERDMA_CMD_HDR_PI, 8) | ERDMA_PREP(ERDMA_CMD_HDR_WQEBBS, 3) |
			  ERDMA_PREP(ERDMA_CMD_HDR_OPCODE, ERDMA_CMD_MODIFY_QP));
	qp->dip = htobe32(0x0a000007);
	/* Of another size, and one whose place is wrong */
	memcpy(ring + 8 * BLOCK, &(uint64_t){ htole64(ERDMA_PREP(ERDMA_CMD_HDR_PI, 9)) }, 8);
	memcpy(ring + 12 * BLOCK, ring, 8);
	redact_ring(r, ERDMA_DIAG_RING_CMDQ_SQ, 0, ring, 16, BLOCK);
	assert_int_equal(le32toh(mr->cfg0), 7);
	assert_int_equal(secrets((uint8_t *)mr->page, sizeof(mr->page)), 0);
	assert_true(mr->start_va != 0xeeeeeeeeeeeeeeeeULL && mr->page[0] && mr->page[0] == mr->page[3]);
	assert_int_equal(be32toh(qp->dip), 0xf0000001);
	assert_int_equal(secrets((uint8_t *)&qp->rsvd, sizeof(qp->rsvd)), 0);
	assert_int_equal(secrets(ring + 4 * BLOCK + sizeof(*qp), 12 * BLOCK - sizeof(*qp)), 0);
	assert_int_equal(*(uint64_t *)(ring + 8 * BLOCK), 0);
	assert_int_equal(*(uint64_t *)(ring + 12 * BLOCK), 0);
	redact_end(r);
}

/* A ring that no table covers, or of entries that are too small */
static void unknown_rings_are_empty(void **state)
{
	uint8_t ring[DEPTH * 4];
	struct redact *r = redaction();

	(void)state;
	memset(ring, SECRET, sizeof(ring));
	redact_ring(r, 99, 0, ring, 4, 8);
	assert_int_equal(secrets(ring, sizeof(ring)), 0);
	memset(ring, SECRET, sizeof(ring));
	redact_ring(r, ERDMA_DIAG_RING_CQ, 0, ring, DEPTH, 4);
	assert_int_equal(secrets(ring, sizeof(ring)), 0);
	redact_ring(NULL, ERDMA_DIAG_RING_CQ, 0, ring, DEPTH, 4);
	redact_end(r);
}

/* Peers name it by another key than its owner does */
static void a_region_is_known_by_both_keys(void **state)
{
	struct redact *r = redact_new(&test_pool, REDACT_IDS);
	struct erdma_diag_mr mr = { .index = 7, .lkey = LKEY, .rkey = LKEY + 1, .iova = IOVA,
				    .length = 65536 };

	(void)state;
	redact_record(r, ERDMA_DIAG_REC_MR, (uint8_t *)&mr, sizeof(mr));
	assert_string_equal(pseudonym_addr(&test_pool, redact_addr(r, IOVA + 0x1000, LKEY)),
			    "mr-7+0x1000");
	assert_string_equal(pseudonym_addr(&test_pool, redact_addr(r, IOVA + 0x1000, LKEY + 1)),
			    "mr-7+0x1000");
	assert_string_equal(pseudonym_addr(&test_pool, redact_addr(r, IOVA + 65536, LKEY)), "addr-1");
	assert_string_equal(pseudonym_addr(&test_pool, redact_addr(r, IOVA, LKEY + 2)), "addr-2");
	redact_end(r);
}

/* Where the number of a region and an offset have no room, an address is a number */
static void places_have_bounds(void **state)
{
	uint64_t v;

	(void)state;
	assert_true(pseudonym_in_region(0xfffff, (1ULL << 43) - 1, &v));
	assert_string_equal(pseudonym_addr(&test_pool, v), "mr-1048575+0x7ffffffffff");
	assert_false(pseudonym_in_region(0x100000, 0, &v));
	assert_false(pseudonym_in_region(1, 1ULL << 43, &v));
}

int unit_redact(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(requests_lose_all_but_numbers),
		TEST(a_request_may_wrap),
		TEST(receives_and_completions),
		TEST(commands),
		TEST(unknown_rings_are_empty),
		TEST(a_region_is_known_by_both_keys),
		TEST(places_have_bounds),
	};

	return cmocka_run_group_tests_name("redact", tests, NULL, NULL);
}
