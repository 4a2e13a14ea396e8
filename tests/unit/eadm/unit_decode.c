// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ring entries to facts. The bytes are written out from the tables of
 * docs/erdma-hardware.md; those of appendix D are marked with a D.
 */
#include "decode.h"
#include "unit.h"

/* ---- send queue (9.2, 9.3) ---------------------------------------------- */

/* D: SEND, inline 5 bytes, signaled, at index 0, QPN 0x2A */
static void send_inline(void **state)
{
	struct obj *o = decoded(&schema_wqe, decode_wqe,
		"010040122a000005 efbeadde05000000 68656c6c6f00000000000000deadbeef");

	(void)state;
	has_str(o, W_OPCODE, "SEND");
	has_num(o, W_OPCODE_NUM, 2);
	has_num(o, W_PI_AFTER, 1);
	has_num(o, W_QPN, 0x2a);
	has_num(o, W_WQEBBS, 1);
	has_num(o, W_SGL_LEN, 5);
	has_num(o, W_LENGTH, 5);
	has_words(o, W_FLAGS, "CE,INLINE");
	assert_int_equal(obj_val(o, W_INLINE)->n, 5);
	assert_memory_equal(obj_val(o, W_INLINE)->b, "hello", 5);
	has_none(o, W_IMM);
	has_none(o, W_SGL);
	has_none(o, W_PROBLEMS);
}

/* D: WRITE, 2 SGEs, signaled, at index 4 */
static void write_two_sges(void **state)
{
	struct obj *o = decoded(&schema_wqe, decode_wqe,
		"060040002a001002 55555555 30000000 12010000 00001f9a 0c7f0000 efbeadde"
		"000020aa117f0000 10000000 34020000 000030aa117f0000 20000000 35020000");
	struct obj *s;

	(void)state;
	has_str(o, W_OPCODE, "RDMA_WRITE");
	has_num(o, W_PI_AFTER, 6);
	has_num(o, W_WQEBBS, 2);
	has_num(o, W_SGL_LEN, 2);
	has_words(o, W_FLAGS, "CE");
	has_num(o, W_LENGTH, 0x30);
	has_num(o, W_RKEY, 0x112);
	has_num(o, W_REMOTE_ADDR, 0x00007f0c9a1f0000);
	has_none(o, W_IMM);
	assert_int_equal(obj_val(o, W_SGL)->l->n, 2);
	s = obj_val(o, W_SGL)->l->first;
	has_num(s, S_ADDR, 0x00007f11aa200000);
	has_num(s, S_LENGTH, 0x10);
	has_num(s, S_KEY, 0x234);
	has_num(s->next, S_ADDR, 0x00007f11aa300000);
	has_num(s->next, S_LENGTH, 0x20);
	has_num(s->next, S_KEY, 0x235);
}

static void write_with_immediate(void **state)
{
	struct obj *o = decoded(&schema_wqe, decode_wqe,
		"0200804a 2a001004 11223344 04000000 06030000 00600000 00000001 efbeadde"
		"01020304 00000000 0000000000000000 0000000000000000 0000000000000000");

	(void)state;
	has_str(o, W_OPCODE, "RDMA_WRITE_WITH_IMM");
	has_words(o, W_FLAGS, "SE,INLINE");
	has_num(o, W_IMM, 0x11223344);
	has_num(o, W_REMOTE_ADDR, 0x0100000000006000);
	assert_int_equal(obj_val(o, W_INLINE)->n, 4);
	assert_memory_equal(obj_val(o, W_INLINE)->b, "\1\2\3\4", 4);
}

static void send_with_immediate(void **state)
{
	struct obj *o = decoded(&schema_wqe, decode_wqe,
		"0a00001911000001 11223344 00020000 0030000000 7f0000 00020000 03030000");

	(void)state;
	has_str(o, W_OPCODE, "SEND_WITH_IMM");
	has_words(o, W_FLAGS, "FENCE");
	has_num(o, W_IMM, 0x11223344);
	has_num(o, W_LENGTH, 512);
	assert_int_equal(obj_val(o, W_SGL)->l->n, 1);
	has_num(obj_val(o, W_SGL)->l->first, S_ADDR, 0x00007f0000003000);
}

static void send_with_invalidate(void **state)
{
	struct obj *o = decoded(&schema_wqe, decode_wqe,
		"1200406c11000001 77070000 00010000 0070000000 7f0000 00010000 07030000");

	(void)state;
	has_str(o, W_OPCODE, "SEND_WITH_INV");
	has_words(o, W_FLAGS, "CE,DWQE");
	has_num(o, W_INV_STAG, 0x777);
	has_none(o, W_IMM);
}

/* The fixed part is the local side */
static void read_is_inverted(void **state)
{
	struct obj *o = decoded(&schema_wqe, decode_wqe,
		"0900000811001000 00000000 00100000 01030000 00100000 007f0000 efbeadde"
		"00200000007f0000 00100000 02030000 0000000000000000 0000000000000000");

	(void)state;
	has_str(o, W_OPCODE, "RDMA_READ");
	has_words(o, W_FLAGS, "");
	has_num(o, W_LENGTH, 4096);
	has_num(o, W_LOCAL_ADDR, 0x00007f0000001000);
	has_num(o, W_LKEY, 0x301);
	has_num(o, W_REMOTE_ADDR, 0x00007f0000002000);
	has_num(o, W_REMOTE_LEN, 4096);
	has_num(o, W_RKEY, 0x302);
	has_none(o, W_INV_STAG);
	has_none(o, W_SGL);
}

static void read_with_invalidate(void **state)
{
	struct obj *o = decoded(&schema_wqe, decode_wqe,
		"0500408012001000 03090000 00200000 04090000 00100000 00000000 efbeadde"
		"0020000000000000 00200000 05090000 0000000000000000 0000000000000000");

	(void)state;
	has_str(o, W_OPCODE, "RDMA_READ_WITH_INV");
	has_num(o, W_INV_STAG, 0x903);
	has_num(o, W_LKEY, 0x904);
	has_num(o, W_RKEY, 0x905);
}

static void compare_and_swap(void **state)
{
	struct obj *o = decoded(&schema_wqe, decode_wqe,
		"0c00408811001000 efbeaddeefbeadde 1111000000000000 2222000000000000"
		"00400000007f0000 efbeadde 04030000 00500000007f0000 08000000 05030000");

	(void)state;
	has_str(o, W_OPCODE, "ATOMIC_CMP_AND_SWP");
	has_num(o, W_SWAP, 0x1111);
	has_num(o, W_COMPARE, 0x2222);
	has_none(o, W_ADD);
	has_num(o, W_REMOTE_ADDR, 0x00007f0000004000);
	has_num(o, W_RKEY, 0x304);
	has_none(o, W_REMOTE_LEN);
	has_num(o, W_LOCAL_ADDR, 0x00007f0000005000);
	has_num(o, W_LOCAL_LEN, 8);
	has_num(o, W_LKEY, 0x305);
	has_num(o, W_LENGTH, 8);
}

static void fetch_and_add(void **state)
{
	struct obj *o = decoded(&schema_wqe, decode_wqe,
		"0e00409111001000 efbeaddeefbeadde 3333000000000000 efbeadde00000000"
		"08400000007f0000 efbeadde 04030000 08500000007f0000 08000000 05030000");

	(void)state;
	has_str(o, W_OPCODE, "ATOMIC_FETCH_AND_ADD");
	has_words(o, W_FLAGS, "CE,FENCE");
	has_num(o, W_ADD, 0x3333);
	has_none(o, W_SWAP);
	has_none(o, W_COMPARE);
}

/* D: attributes 0x303C: local read and write, remote read and write, 3 pages */
static void reg_mr_inline(void **state)
{
	struct obj *o = decoded(&schema_wqe, decode_wqe,
		"0300407012001000 00000100007f0000 00300000 02090000 3c300000 efbeadde"
		"00a0000000000000 00b0000000000000 00c0000000000000 ffffffffffffffff");

	(void)state;
	has_str(o, W_OPCODE, "REG_MR");
	has_num(o, W_IOVA, 0x00007f0000010000);
	has_num(o, W_LENGTH, 12288);
	has_num(o, W_STAG, 0x902);
	has_num(o, W_PAGE_CNT, 3);
	has_str(o, W_KIND, "inline");
	has_words(o, W_RIGHTS, "local-read,local-write,remote-read,remote-write");
	has_words(o, W_PAGES, "0x000000000000a000,0x000000000000b000,0x000000000000c000");
	has_none(o, W_PROBLEMS);
}

static void reg_mr_table(void **state)
{
	struct obj *o = decoded(&schema_wqe, decode_wqe,
		"0600407012000000 00000200007f0000 00001000 06090000 4e001000 efbeadde");

	(void)state;
	has_str(o, W_KIND, "of-the-region");
	has_num(o, W_PAGE_CNT, 256);
	has_words(o, W_RIGHTS, "local-read,local-write,remote-atomic");
	has_none(o, W_PAGES);
}

static void local_invalidate(void **state)
{
	struct obj *o = decoded(&schema_wqe, decode_wqe,
		"0100407812000000 01000000 02000000 03000000 01090000 0400000000000000");

	(void)state;
	has_str(o, W_OPCODE, "LOCAL_INV");
	has_num(o, W_STAG, 0x901);
	has_none(o, W_LENGTH);
}

static void opcodes_that_cannot_be_posted(void **state)
{
	static const int bad[] = { 4, 5, 6, 7, 8, 10, 11, 12, 19, 31 };
	uint8_t wqe[32];
	struct obj *o;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(wqe, 0, sizeof(wqe));
		wqe[3] = (uint8_t)(bad[i] << 3);
		o = obj_new(&test_pool, &schema_wqe);
		decode_wqe(o, wqe, sizeof(wqe));
		has_num(o, W_OPCODE_NUM, bad[i]);
		has_words(o, W_PROBLEMS, "this opcode cannot be posted");
	}
	has_str(o, W_OPCODE, "unknown-31");
}

static void sgl_longer_than_request(void **state)
{
	struct obj *o = decoded(&schema_wqe, decode_wqe,
		"060040002a001006 00000000 30000000 12010000 00000000 00000000 00000000"
		"0100000000000000 01000000 01000000 0200000000000000 01000000 01000000");

	(void)state;
	has_num(o, W_SGL_LEN, 6);
	assert_int_equal(obj_val(o, W_SGL)->l->n, 2);
	has_words(o, W_PROBLEMS, "more SGEs than the request has room for");
}

static void inline_longer_than_request(void **state)
{
	struct obj *o = decoded(&schema_wqe, decode_wqe,
		"010040122a0000ff 00000000 ff000000 68656c6c6f00000000000000deadbeef");

	(void)state;
	assert_int_equal(obj_val(o, W_INLINE)->n, 16);
	has_words(o, W_PROBLEMS, "inline data longer than the request");
}

static void withheld_keys_are_not_zero(void **state)
{
	struct obj *o = decoded(&schema_wqe, decode_wqe,
		"060040002a001001 00000000 30000000 00000000 00001f9a 0c7f0000 efbeadde"
		"000020aa117f0000 10000000 00000000 0000000000000000 0000000000000000");

	(void)state;
	has_num(o, W_RKEY, 0);
	hide_keys(o);
	has_none(o, W_RKEY);
	has_num(o, W_REMOTE_ADDR, 0x00007f0c9a1f0000);
	has_none(obj_val(o, W_SGL)->l->first, S_KEY);
	has_num(obj_val(o, W_SGL)->l->first, S_LENGTH, 0x10);
}

/* ---- receive queue (9.5) ------------------------------------------------ */

static void receive_request(void **state)
{
	struct obj *o = decoded(&schema_rqe, decode_rqe,
		"0500efbe 11000000 efbeaddeefbeadde 00401000007f0000 00100000 01040000");

	(void)state;
	has_num(o, R_QE_IDX, 5);
	has_num(o, R_QPN, 17);
	has_num(o, R_ADDR, 0x00007f0000104000);
	has_num(o, R_LENGTH, 4096);
	has_num(o, R_LKEY, 0x401);
}

static void receive_request_without_buffer(void **state)
{
	struct obj *o = decoded(&schema_rqe, decode_rqe,
		"0500efbe 11000000 efbeaddeefbeadde 00401000007f0000 00000000 01040000");

	(void)state;
	has_num(o, R_LENGTH, 0);
	has_none(o, R_ADDR);
	has_none(o, R_LKEY);
}

/* ---- completions (8.2) -------------------------------------------------- */

/* D: receive of SEND_IMM, RQ, success, first pass; immediate 0x11223344 */
static void completion_of_receive_with_immediate(void **state)
{
	struct obj *o = decoded(&schema_cqe, decode_cqe,
		"800c0100 0000fffe 00000011 44332211 00000064 00000000 00000000 00000000");

	(void)state;
	has_num(o, C_OWNER, 1);
	has_str(o, C_OPCODE, "RECV_WITH_IMM");
	has_num(o, C_OPCODE_NUM, 12);
	has_str(o, C_QTYPE, "RQ");
	has_str(o, C_SYNDROME, "success");
	has_num(o, C_QE_IDX, 0xfffe);
	has_num(o, C_QPN, 17);
	has_num(o, C_SIZE, 100);
	has_num(o, C_IMM, 0x11223344);
	has_none(o, C_INV_STAG);
	has_none(o, C_TEXT);
}

/* D: flushed SEND, SQ, first pass */
static void completion_flushed(void **state)
{
	struct obj *o = decoded(&schema_cqe, decode_cqe,
		"8002000f 00010007 fff00015 00000000 00000000 00000000 00000000 00000001");

	(void)state;
	has_str(o, C_OPCODE, "SEND");
	has_str(o, C_QTYPE, "SQ");
	has_str(o, C_SYNDROME, "flushed");
	has_num(o, C_SYNDROME_NUM, 15);
	has_num(o, C_QE_IDX, 7);
	has_num(o, C_QPN, 0x15);
	has_num(o, C_RC, 1);
	has_str(o, C_TEXT, "the queue pair stopped before this request was executed");
	has_none(o, C_IMM);
}

static void completion_of_receive_with_invalidate(void **state)
{
	struct obj *o = decoded(&schema_cqe, decode_cqe,
		"00060100 00000004 00000011 00000777 00000040 00000000 00000000 00000000");

	(void)state;
	has_num(o, C_OWNER, 0);
	has_str(o, C_OPCODE, "RECV_WITH_INV");
	has_num(o, C_INV_STAG, 0x777);
	has_none(o, C_IMM);
}

static void completion_write_immediate_is_5(void **state)
{
	struct obj *o = decoded(&schema_cqe, decode_cqe,
		"80050100 00000003 00000011 44332211 00001000 00000000 00000000 00000000");

	(void)state;
	has_str(o, C_OPCODE, "RECV_RDMA_WITH_IMM");
	has_num(o, C_IMM, 0x11223344);
	has_num(o, C_SIZE, 4096);
}

static void completion_with_unknown_codes(void **state)
{
	struct obj *o = decoded(&schema_cqe, decode_cqe,
		"80ff09ff 00000003 00000011 44332211 00001000 00000000 00000000 00000000");

	(void)state;
	has_str(o, C_OPCODE, "unknown-255");
	has_str(o, C_QTYPE, "unknown-9");
	has_str(o, C_SYNDROME, "unknown-255");
	has_none(o, C_TEXT);
}

/* D: command CQE of CREATE_CQ; the responses of ALLOC_DB and QUERY_DEVICE (4.4) */
static void command_completion(void **state)
{
	struct obj *o = decoded(&schema_ccqe, decode_cmd_cqe,
		"80040200 00000008 00000080 00810082 a80f0a1f 00041400 00000000 00000000");

	(void)state;
	has_num(o, K_OWNER, 1);
	has_num(o, K_OPCODE_NUM, 4);
	has_str(o, K_QTYPE, "CMDQ");
	has_num(o, K_SYNDROME, 0);
	has_str(o, K_SYNDROME_TEXT, "success");
	has_num(o, K_SQ_IDX, 8);
	has_num(o, K_RESP0, 0x0081008200000080);
	has_num(o, K_RESP1, 0x00041400a80f0a1f);
}

static void command_completion_failed(void **state)
{
	struct obj *o = decoded(&schema_ccqe, decode_cmd_cqe,
		"00040216 00000008 00000000 00000000 00000000 00000000 00000000 00000000");

	(void)state;
	has_num(o, K_OWNER, 0);
	has_num(o, K_SYNDROME, 22);
	has_str(o, K_SYNDROME_TEXT, "EINVAL");
	has_none(o, K_RESP0);
	has_none(o, K_RESP1);
}

/* ---- events (7.2) ------------------------------------------------------- */

/* D: CQN 0x12, PI 0x46, first pass */
static void completion_event(void **state)
{
	struct obj *o = decoded(&schema_ceqe, decode_ceqe, "12000080 46000000 0000000000000000");

	(void)state;
	has_num(o, E_OWNER, 1);
	has_num(o, E_CQN, 0x12);
	has_num(o, E_PI, 0x46);
	has_num(o, E_DB, 0);
}

static void completion_event_by_arm(void **state)
{
	struct obj *o = decoded(&schema_ceqe, decode_ceqe, "bccd0a00 56341280 0000000000000000");

	(void)state;
	has_num(o, E_OWNER, 0);
	has_num(o, E_CQN, 0xacdbc);
	has_num(o, E_PI, 0x123456);
	has_num(o, E_DB, 1);
}

static void asynchronous_events(void **state)
{
	struct obj *o = decoded(&schema_aeqe, decode_aeqe, "04000280 15000000 07000000 00000000");

	(void)state;
	has_num(o, A_OWNER, 1);
	has_str(o, A_TYPE, "QP_ACCESS_ERR");
	has_num(o, A_TYPE_NUM, 2);
	has_num(o, A_SUBTYPE, 4);
	has_num(o, A_QPN, 21);
	has_none(o, A_CQN);
	has_num(o, A_DATA, 7);
	has_str(o, A_TEXT, "refused remote access");

	o = decoded(&schema_aeqe, decode_aeqe, "00000300 05000000 00000000 00000000");
	has_num(o, A_OWNER, 0);
	has_str(o, A_TYPE, "CQ_ERR");
	has_num(o, A_CQN, 5);
	has_none(o, A_QPN);

	o = decoded(&schema_aeqe, decode_aeqe, "00000980 05000000 00000000 00000000");
	has_str(o, A_TYPE, "unknown-9");
	has_str(o, A_TEXT, "reserved type, handled like a fatal error");
}

/* ---- anything ----------------------------------------------------------- */

static const struct {
	const struct schema *schema;
	void (*decode)(struct obj *o, const void *buf, size_t len);
} decoders[] = {
	{ &schema_wqe, decode_wqe }, { &schema_rqe, decode_rqe }, { &schema_cqe, decode_cqe },
	{ &schema_ccqe, decode_cmd_cqe }, { &schema_ceqe, decode_ceqe },
	{ &schema_aeqe, decode_aeqe }, { &schema_cmd, decode_cmd },
	{ &schema_qp_side, decode_qp_device }, { &schema_cq_side, decode_cq_device },
	{ &schema_eq_side, decode_eq_device },
};

/* No length and no content makes a decoder read outside its buffer */
static void no_decoder_leaves_its_buffer(void **state)
{
	size_t d, len, i;
	unsigned int round;
	uint8_t *buf;

	(void)state;
	for (d = 0; d < sizeof(decoders) / sizeof(decoders[0]); d++)
		for (len = 0; len <= 260; len++)
			for (round = 0; round < 12; round++) {
				buf = malloc(len ? len : 1);
				for (i = 0; i < len; i++)
					buf[i] = round < 2 ? (uint8_t)(0 - round) :
						 (uint8_t)next_random();
				decoders[d].decode(obj_new(&test_pool, decoders[d].schema),
						   buf, len);
				free(buf);
				pool_free(&test_pool);
			}
}

int unit_decode(void)
{
	const struct CMUnitTest tests[] = {
		TEST(send_inline), TEST(write_two_sges), TEST(write_with_immediate),
		TEST(send_with_immediate), TEST(send_with_invalidate), TEST(read_is_inverted),
		TEST(read_with_invalidate), TEST(compare_and_swap), TEST(fetch_and_add),
		TEST(reg_mr_inline), TEST(reg_mr_table), TEST(local_invalidate),
		TEST(opcodes_that_cannot_be_posted), TEST(sgl_longer_than_request),
		TEST(inline_longer_than_request), TEST(withheld_keys_are_not_zero),
		TEST(receive_request), TEST(receive_request_without_buffer),
		TEST(completion_of_receive_with_immediate), TEST(completion_flushed),
		TEST(completion_of_receive_with_invalidate),
		TEST(completion_write_immediate_is_5), TEST(completion_with_unknown_codes),
		TEST(command_completion), TEST(command_completion_failed), TEST(completion_event),
		TEST(completion_event_by_arm), TEST(asynchronous_events),
		TEST(no_decoder_leaves_its_buffer),
	};

	return cmocka_run_group_tests_name("decode", tests, NULL, NULL);
}
