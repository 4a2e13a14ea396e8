// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Commands to facts (4.2, 5). The bytes are written out from the tables of
 * docs/erdma-hardware.md; those of appendix D are marked with a D.
 */
#include "decode.h"
#include "unit.h"

/* D: header of CREATE_CQ, CTX 5, slot at index 8; CFG0, CFG1 */
static void cmd_create_cq(void **state)
{
	struct obj *o = decoded(&schema_cmd, decode_cmd,
		"0c00040005003000 12000006 00402301 01000000 01080100 0820000001000000"
		"40000000 82000000");

	(void)state;
	has_str(o, M_OPCODE, "CREATE_CQ");
	has_num(o, M_SUBMOD, 0);
	has_num(o, M_OPCODE_NUM, 4);
	has_num(o, M_CTX, 5);
	has_num(o, M_PI_AFTER, 12);
	has_num(o, M_WQEBBS, 4);
	has_num(o, M_CQN, 0x12);
	has_num(o, M_DEPTH, 64);
	has_num(o, M_PAGE_SIZE, 4096);
	has_num(o, M_MTT_CNT, 1);
	has_num(o, M_LEVEL, 0);
	has_num(o, M_EQN, 1);
	has_num(o, M_DB_ASSOC, 1);
	has_num(o, M_ADDR, 0x0000000101234000);
	has_num(o, M_DBREC, 0x0000000100002008);
	has_num(o, M_FIRST_OFF, 64);
	has_num(o, M_CQ_DB, 0x82);
}

static void cmd_create_cq_without_doorbell_page(void **state)
{
	struct obj *o = decoded(&schema_cmd, decode_cmd,
		"0c00040005003000 1200d006 00402301 01000000 01000100 0820000001000000"
		"40000000 82000000");

	(void)state;
	has_num(o, M_DB_ASSOC, 0);
	has_num(o, M_PAGE_SIZE, 32 << 20);
	has_none(o, M_CQ_DB);
}

/* D: header of CREATE_EQ, CTX 0, slot at index 0, 2 WQEBBs */
static void cmd_create_eq(void **state)
{
	struct obj *o = decoded(&schema_cmd, decode_cmd,
		"0200000100001000 0000100000000000 03 03 0c 01 00200000 01000000 00000000");

	(void)state;
	has_str(o, M_OPCODE, "CREATE_EQ");
	has_num(o, M_SUBMOD, 1);
	has_num(o, M_WQEBBS, 2);
	has_num(o, M_PI_AFTER, 2);
	has_num(o, M_EQN, 3);
	has_num(o, M_VECTOR, 3);
	has_num(o, M_DEPTH, 4096);
	has_str(o, M_EQ_TYPE, "CEQ");
	has_num(o, M_ADDR, 0x100000);
	has_num(o, M_DBREC, 0x0000000100002000);
}

/* D: CFG0 0x0090002A, CFG1 0x00700003, SQ_CFG 0x02000012, SQ_MTT 0x00000008 */
static const char create_qp[] =
	"1c00010006003000 2a009000 03007000 12000002 13000020"
	"0000010000000000 0000020000000000 08000000 05100000"
	"0030000000000000 0830000000000000"
	"0010010000000000 0020010000000000 0030010000000000"
	"0100000000000000 0200000000000000 0300000000000000"
	"81008000 0f000000";

static void cmd_create_qp(void **state)
{
	struct obj *o = decoded(&schema_cmd, decode_cmd, create_qp);

	(void)state;
	has_str(o, M_OPCODE, "CREATE_QP");
	has_num(o, M_QPN, 0x2a);
	has_num(o, M_SQ_DEPTH, 512);
	has_num(o, M_PD, 3);
	has_num(o, M_RQ_DEPTH, 128);
	has_num(o, M_SEND_CQN, 0x12);
	has_num(o, M_RECV_CQN, 0x13);
	has_num(o, M_SQ_PAGE_SIZE, 4096);
	has_num(o, M_RQ_PAGE_SIZE, 16384);
	has_num(o, M_DB_ASSOC, 1);
	has_num(o, M_SQ_ADDR, 0x10000);
	has_num(o, M_RQ_ADDR, 0x20000);
	has_num(o, M_SQ_MTT_CNT, 4);
	has_num(o, M_SQ_LEVEL, 0);
	has_num(o, M_SQ_OFFSET, 0);
	has_num(o, M_RQ_MTT_CNT, 2);
	has_num(o, M_RQ_LEVEL, 1);
	has_num(o, M_RQ_OFFSET, 0x1000);
	has_words(o, M_SQ_PAGES, "0x0000000000011000,0x0000000000012000,0x0000000000013000");
	has_none(o, M_RQ_PAGES);
	has_num(o, M_SQ_DBREC, 0x3000);
	has_num(o, M_RQ_DBREC, 0x3008);
	has_num(o, M_SQ_DB, 0x80);
	has_num(o, M_RQ_DB, 0x81);
}

/* Older drivers send 64 bytes; what is not there is not shown */
static void cmd_create_qp_short(void **state)
{
	struct obj *o = obj_new(&test_pool, &schema_cmd);
	uint8_t *exact = pool_alloc(&test_pool, 64);
	size_t len;

	(void)state;
	memcpy(exact, hex(create_qp, &len), 64);
	decode_cmd(o, exact, 64);
	has_num(o, M_RQ_DBREC, 0x3008);
	has_none(o, M_SQ_PAGES);
	has_none(o, M_SQ_DB);
}

/* D: MODIFY_QP to RTS, CC 1, QPN 0x2A */
static void cmd_modify_qp_rts(void **state)
{
	struct obj *o = decoded(&schema_cmd, decode_cmd,
		"3000030000003000 2a001002 2b000000 0a000007 0a000001 c000 1d2f"
		"e8030000 d0070000 00000000");

	(void)state;
	has_str(o, M_OPCODE, "MODIFY_QP");
	has_num(o, M_QPN, 0x2a);
	has_str(o, M_STATE_TO, "RTS");
	has_str(o, M_CC, "cubic");
	has_num(o, M_COOKIE, 0x2b);
	has_str(o, M_PEER_ADDR, "10.0.0.7");
	has_str(o, M_LOCAL_ADDR, "10.0.0.1");
	has_num(o, M_LOCAL_PORT, 49152);
	has_num(o, M_PEER_PORT, 7471);
	has_num(o, M_SEND_NXT, 1000);
	has_num(o, M_RECV_NXT, 2000);
}

/* For other states everything else is arbitrary */
static void cmd_modify_qp_error(void **state)
{
	struct obj *o = decoded(&schema_cmd, decode_cmd,
		"3000030000003000 2a00f005 eeeeeeee eeeeeeee eeeeeeee eeeeeeee"
		"eeeeeeee eeeeeeee 00000000");

	(void)state;
	has_num(o, M_QPN, 0x2a);
	has_str(o, M_STATE_TO, "ERR");
	has_none(o, M_CC);
	has_none(o, M_PEER_ADDR);
	has_none(o, M_SEND_NXT);
}

/* D: REG_MR, valid, key 0, index 7; PD 3, all rights but atomic; shift 12, 2 pages */
static void cmd_reg_mr_inline(void **state)
{
	struct obj *o = decoded(&schema_cmd, decode_cmd,
		"2000080000003000 07000080 3c300000 00100000007f0000 00200000 02000060"
		"00a0000000000000 00b0000000000000 00c0000000000000 00d0000000000000");

	(void)state;
	has_str(o, M_OPCODE, "REG_MR");
	has_num(o, M_MR_INDEX, 7);
	has_num(o, M_MR_KEY, 0);
	has_num(o, M_MR_VALID, 1);
	has_num(o, M_MR_VERSION, 0);
	has_num(o, M_PD, 3);
	has_str(o, M_MR_TYPE, "normal");
	has_words(o, M_RIGHTS, "local-read,local-write,remote-read,remote-write");
	has_num(o, M_START_VA, 0x00007f0000001000);
	has_num(o, M_SIZE, 8192);
	has_num(o, M_PAGE_SHIFT, 12);
	has_num(o, M_LEVEL, 0);
	has_num(o, M_PAGE_CNT, 2);
	has_words(o, M_PAGES, "0x000000000000a000,0x000000000000b000");
	has_none(o, M_TABLE);
}

static void cmd_reg_mr_levels(void **state)
{
	struct obj *o = decoded(&schema_cmd, decode_cmd,
		"2400080000003000 0800f09f 3e300000 0000000000 7f0000 00000040 800020a9"
		"00e0000000000000 03000000 01000000 0000000000000000 0000000000000000");

	(void)state;
	has_num(o, M_MR_KEY, 0xff);
	has_num(o, M_MR_VERSION, 1);
	has_num(o, M_PAGE_SHIFT, 21);
	has_num(o, M_LEVEL, 2);
	has_num(o, M_MTT_PAGE, 8192);
	has_num(o, M_TABLE, 0xe000);
	has_num(o, M_SIZE, 0x340000000);
	has_num(o, M_PAGE_CNT, 0x100080);
	has_words(o, M_RIGHTS, "local-read,local-write,remote-read,remote-write,remote-atomic");
	has_none(o, M_PAGES);
}

static void cmd_reg_mr_frmr_and_dma(void **state)
{
	struct obj *o = decoded(&schema_cmd, decode_cmd,
		"2800080000003000 09000000 7c400000 ad0b000000000000 ad0b0000 00011060"
		"00f0000000000000 0000000000000000 0000000000000000 0000000000000000");

	(void)state;
	has_str(o, M_MR_TYPE, "frmr");
	has_num(o, M_MR_VALID, 0);
	has_num(o, M_PAGE_CNT, 256);
	has_num(o, M_TABLE, 0xf000);
	has_none(o, M_START_VA);
	has_none(o, M_SIZE);

	o = decoded(&schema_cmd, decode_cmd,
		"2c00080000003000 0a000000 bc400000 ad0b000000000000 ad0b0000 000000f8"
		"ad0b000000000000 ad0b000000000000 ad0b000000000000 ad0b000000000000");
	has_str(o, M_MR_TYPE, "dma");
	has_num(o, M_PAGE_SHIFT, 31);
	has_none(o, M_PAGES);
	has_none(o, M_TABLE);
}

static void cmd_small_ones(void **state)
{
	struct obj *o;

	(void)state;
	o = decoded(&schema_cmd, decode_cmd, "0400020000003000 2a00f0ff 00000000");
	has_str(o, M_OPCODE, "DESTROY_QP");
	has_num(o, M_QPN, 0x2a);
	o = decoded(&schema_cmd, decode_cmd, "0400050000003000 1200f0ff 00000000");
	has_str(o, M_OPCODE, "DESTROY_CQ");
	has_num(o, M_CQN, 0x12);
	o = decoded(&schema_cmd, decode_cmd, "0400090000003000 09003000 00000000");
	has_str(o, M_OPCODE, "DEREG_MR");
	has_num(o, M_MR_INDEX, 9);
	has_num(o, M_MR_KEY, 3);
	o = decoded(&schema_cmd, decode_cmd, "0400060000003000 2a000000 4d00ffff 4e000000 00000000");
	has_str(o, M_OPCODE, "REFLUSH");
	has_num(o, M_QPN, 0x2a);
	has_num(o, M_SQ_PI, 77);
	has_num(o, M_RQ_PI, 78);
	o = decoded(&schema_cmd, decode_cmd, "0400030100003000 dc050000 00000000");
	has_str(o, M_OPCODE, "CONF_MTU");
	has_num(o, M_MTU, 1500);
	o = decoded(&schema_cmd, decode_cmd, "0400070100003000 18000000 00000000");
	has_str(o, M_OPCODE, "SET_RETRANS_NUM");
	has_num(o, M_RETRANS, 24);
	o = decoded(&schema_cmd, decode_cmd,
		    "0400010100003000 ad0b000000000000 05 06 bb 01 00000000");
	has_str(o, M_OPCODE, "DESTROY_EQ");
	has_num(o, M_VECTOR, 5);
	has_num(o, M_EQN, 6);
	has_str(o, M_EQ_TYPE, "CEQ");
}

static void cmd_queries(void **state)
{
	struct obj *o;

	(void)state;
	o = decoded(&schema_cmd, decode_cmd,
		    "04000b0000003000 00000000 2a000000 0080000000000000 00010000 00000000");
	has_str(o, M_OPCODE, "QUERY_QPC");
	has_num(o, M_INDEX, 0x2a);
	has_num(o, M_TARGET, 0x8000);
	has_num(o, M_TARGET_LEN, 256);
	o = decoded(&schema_cmd, decode_cmd,
		    "0400040100003000 ad0b0000 ad0b0000 0083000000000000 00010000 00000000");
	has_str(o, M_OPCODE, "GET_STATS");
	has_none(o, M_INDEX);
	has_num(o, M_TARGET, 0x8300);
	o = decoded(&schema_cmd, decode_cmd, "0400000000003000");
	has_str(o, M_OPCODE, "QUERY_DEVICE");
	o = decoded(&schema_cmd, decode_cmd, "0400020100003000");
	has_str(o, M_OPCODE, "QUERY_FW_INFO");
}

static void cmd_doorbells_and_device(void **state)
{
	struct obj *o;

	(void)state;
	o = decoded(&schema_cmd, decode_cmd,
		    "0400080100003000 07000000 0000 0000 0000 0000 000000000000000000000000");
	has_str(o, M_OPCODE, "ALLOC_DB");
	has_words(o, M_DB_MASK, "SQ,RQ,CQ");
	has_none(o, M_SQ_DB);
	o = decoded(&schema_cmd, decode_cmd,
		    "0400090100003000 05000000 8100 8000 0000 8200 000000000000000000000000");
	has_str(o, M_OPCODE, "FREE_DB");
	has_words(o, M_DB_MASK, "SQ,CQ");
	has_num(o, M_RQ_DB, 0x81);
	has_num(o, M_SQ_DB, 0x80);
	has_num(o, M_CQ_DB, 0x82);
	o = decoded(&schema_cmd, decode_cmd,
		    "0400050100003000 0c000080 0000000000000000000000000000000000000000");
	has_str(o, M_OPCODE, "CONF_DEVICE");
	has_num(o, M_PAGE_ENABLE, 1);
	has_num(o, M_PAGE_SIZE, 4096);
}

static void cmd_unknown(void **state)
{
	struct obj *o = decoded(&schema_cmd, decode_cmd, "0400630200003000 01000000");

	(void)state;
	has_str(o, M_OPCODE, "unknown-99");
	has_num(o, M_SUBMOD, 2);
}

int unit_decode_cmd(void)
{
	const struct CMUnitTest tests[] = {
		TEST(cmd_create_cq), TEST(cmd_create_cq_without_doorbell_page),
		TEST(cmd_create_eq), TEST(cmd_create_qp), TEST(cmd_create_qp_short),
		TEST(cmd_modify_qp_rts), TEST(cmd_modify_qp_error), TEST(cmd_reg_mr_inline),
		TEST(cmd_reg_mr_levels), TEST(cmd_reg_mr_frmr_and_dma), TEST(cmd_small_ones),
		TEST(cmd_queries), TEST(cmd_doorbells_and_device), TEST(cmd_unknown),
	};

	return cmocka_run_group_tests_name("commands", tests, NULL, NULL);
}
