// SPDX-License-Identifier: GPL-2.0-or-later
/* Records of the driver and contexts of the device to facts. */
#include <sys/socket.h>

#include "decode.h"
#include "unit.h"

#define NOW 100000000000ULL

static struct erdma_diag_qp some_qp(void)
{
	return (struct erdma_diag_qp){
		.qpn = 17, .pdn = 3, .type = 2, .state = 2, .send_cqn = 5, .recv_cqn = 6,
		.flags = ERDMA_DIAG_QP_PASSIVE | ERDMA_DIAG_QP_SIG_ALL, .cookie = 0x11,
		.peer_cookie = 0x2b, .cc = 1, .family = AF_INET, .sport = 49152, .dport = 7471,
		.saddr = { 10, 0, 0, 1 }, .daddr = { 10, 0, 0, 7 }, .max_send_wr = 4,
		.created_ns = 90000000000ULL, .state_ns = 99000000000ULL,
		.owner = { .pid = 4711, .comm = "ib_write_bw" },
	};
}

static void qp_row_of_a_user_qp(void **state)
{
	struct obj *o = obj_new(&test_pool, &schema_qp_list);
	struct erdma_diag_qp qp = some_qp();

	(void)state;
	qp.sq = (struct erdma_diag_queue){ .depth = 16, .pi = 6, .dbrec = 0x0000002A00000006ULL,
					   .valid = ERDMA_DIAG_Q_PI | ERDMA_DIAG_Q_DBREC };
	/* a record the driver does not trust */
	qp.rq = (struct erdma_diag_queue){ .depth = 8, .pi = 9, .valid = ERDMA_DIAG_Q_DBREC,
					   .dbrec = 0x1234002Abeef0001ULL };
	decode_qp_row(o, &qp, NOW);
	has_num(o, QL_QPN, 17);
	has_str(o, QL_TYPE, "RC");
	has_str(o, QL_STATE, "RTS");
	has_str(o, QL_PEER_ADDR, "10.0.0.7");
	has_num(o, QL_PEER_PORT, 7471);
	has_str(o, QL_LOCAL_ADDR, "10.0.0.1");
	has_num(o, QL_LOCAL_PORT, 49152);
	has_str(o, QL_ROLE, "passive");
	has_num(o, QL_SQ_PI, 6);
	has_none(o, QL_SQ_CI);
	has_none(o, QL_SQ_USED);
	has_none(o, QL_RQ_PI);
	has_num(o, QL_SEND_CQN, 5);
	has_num(o, QL_RECV_CQN, 6);
	has_num(o, QL_AGE, 10000000000ULL);
	has_num(o, QL_STATE_AGE, 1000000000ULL);
	has_num(o, QL_PID, 4711);
	has_str(o, QL_COMM, "ib_write_bw");
	has_num(o, QL_KERNEL, 0);
	has_none(o, QL_LAST_ASYNC);
}

static void qp_row_counts_over_the_16_bit_boundary(void **state)
{
	struct obj *o = obj_new(&test_pool, &schema_qp_list);
	struct erdma_diag_qp qp = some_qp();

	(void)state;
	qp.sq = (struct erdma_diag_queue){ .depth = 16, .pi = 2, .ci = 65530,
					   .valid = ERDMA_DIAG_Q_PI | ERDMA_DIAG_Q_CI };
	qp.rq = (struct erdma_diag_queue){ .depth = 16, .pi = 2, .ci = 3,
					   .valid = ERDMA_DIAG_Q_PI | ERDMA_DIAG_Q_CI };
	qp.async_events = 3;
	qp.last_ae_type = 1;
	decode_qp_row(o, &qp, NOW);
	has_num(o, QL_SQ_USED, 8);
	has_none(o, QL_RQ_USED);
	has_num(o, QL_ASYNC, 3);
	has_str(o, QL_LAST_ASYNC, "QP_RQ_ERR");
}

static void qp_row_of_a_qp_without_connection(void **state)
{
	struct obj *o = obj_new(&test_pool, &schema_qp_list);
	struct erdma_diag_qp qp = some_qp();

	(void)state;
	qp.family = 0;
	qp.type = 9;
	qp.state = 77;
	decode_qp_row(o, &qp, 0);
	has_none(o, QL_PEER_ADDR);
	has_none(o, QL_AGE);
	has_str(o, QL_TYPE, "unknown-9");
	has_str(o, QL_STATE, "unknown-77");
}

/* D: CQ doorbell, CQN 0x12, IDX 3, CMDSN 2, CI 0x45, SOL 0 */
static void cq_row_takes_ci_from_the_last_arm(void **state)
{
	struct obj *o = obj_new(&test_pool, &schema_cq_list);
	struct erdma_diag_cq cq = {
		.cqn = 0x12, .eqn = 1, .cmdsn = 2, .events = 2,
		.cq = { .depth = 64, .valid = ERDMA_DIAG_Q_DBREC, .dbrec = 0x03000012A0000045ULL },
	};

	(void)state;
	decode_cq_row(o, &cq, NOW);
	has_num(o, CL_ARMED_CI, 0x45);
	has_none(o, CL_CI);
	has_none(o, CL_NOTIFY);
	/* the value a provider stores before the first arm (8.6) */
	cq.cq.dbrec = 0xff000012b0000000ULL & ~0x80000000ULL;
	o = obj_new(&test_pool, &schema_cq_list);
	decode_cq_row(o, &cq, NOW);
	has_none(o, CL_ARMED_CI);
}

static void eq_row_splits_events_of_the_aeq_only(void **state)
{
	struct erdma_diag_eq eq = { .eqn = ERDMA_DIAG_EQ_AEQ, .by_type = { 1, 2, 3, 4, 5, 6 } };
	struct obj *o = obj_new(&test_pool, &schema_eq_list);

	(void)state;
	decode_eq_row(o, &eq, sizeof(eq));
	has_str(o, EL_EQ, "aeq");
	has_num(o, EL_BY_TYPE0, 1);
	has_num(o, EL_BY_TYPE0 + 3, 4);
	has_num(o, EL_BY_OTHER, 6);
	eq.eqn = 3;
	o = obj_new(&test_pool, &schema_eq_list);
	decode_eq_row(o, &eq, sizeof(eq));
	has_str(o, EL_EQ, "3");
	has_none(o, EL_BY_TYPE0);
}

/* D: CAP0 and CAP1; MAC 00:16:3e:12:34:56 */
static void info_of_a_device(void **state)
{
	struct erdma_diag_info info = {
		.cap0 = 0x00041400A80F0A1FULL, .cap1 = 0xFFFFFF0010400000ULL,
		.mac = { 0x00, 0x16, 0x3e, 0x12, 0x34, 0x56 }, .cc_default = 1, .fw_version = 0x225,
		.pci_vendor = 0x1ded, .pci_device = 0x107f, .numa_node = -1, .reg_status = 2,
		.abi_cmds = 0x183, .driver_version = "0.1.0", .link_up = 1,
	};
	struct obj *o = obj_new(&test_pool, &schema_dev_info);

	(void)state;
	memcpy(&info.node_guid, "\x02\x16\x3e\xff\xfe\x12\x34\x56", 8);
	decode_info(o, &info);
	has_words(o, DI_CAPS, "ext-db,mtt-va,atomic");
	has_str(o, DI_CC, "cubic");
	has_num(o, DI_LOCAL_DMA_KEY, 0xffffff00);
	has_str(o, DI_FW, "0.2.37");
	has_str(o, DI_MAC, "00:16:3e:12:34:56");
	has_str(o, DI_NODE_GUID, "0216:3eff:fe12:3456");
	has_str(o, DI_PCI_ID, "1ded:107f");
	has_words(o, DI_REG_STATUS_WORDS, "init-done");
	has_words(o, DI_ABI_CMDS, "info,list,recover,8");
	has_str(o, DI_PROTO, "iWARP");
	has_str(o, DI_LINK, "up");
	has_none(o, DI_LINK_REASON);
	has_none(o, DI_NUMA);
	has_none(o, DI_NETDEV);
}

static void link_without_a_carrier(void **state)
{
	struct erdma_diag_info info = { .netdev_flags = ERDMA_DIAG_NETDEV_UP };
	struct obj *o = obj_new(&test_pool, &schema_dev_info);

	(void)state;
	decode_info(o, &info);
	has_str(o, DI_LINK, "down");
	has_words(o, DI_LINK_REASON, "no-carrier");
	info.netdev_flags = ERDMA_DIAG_NETDEV_CARRIER;
	o = obj_new(&test_pool, &schema_dev_info);
	decode_info(o, &info);
	has_str(o, DI_LINK, "down");
	has_none(o, DI_LINK_REASON);
}

static void text_from_the_kernel_is_tamed(void **state)
{
	struct obj *o = obj_new(&test_pool, &schema_qp_list);
	struct erdma_diag_qp qp = some_qp();

	(void)state;
	memcpy(qp.owner.comm, "\033[31mx\xff\n89012345", ERDMA_DIAG_COMM_LEN);
	decode_qp_row(o, &qp, NOW);
	has_str(o, QL_COMM, "?[31mx??89012345");
}

/* A.1, with every field different */
static void qp_context_of_the_device(void **state)
{
	struct obj *o = decoded(&schema_qp_side, decode_qp_device,
		"6655 00 00 11000000 0000000000000000"
		"01 02 03 0a 1000 0f00  01 04 05 09 2000 1f00"
		"2100 2200 2300 2400 2500 2600 2700 2800"
		"29000000 2a000000 2b000000 2c00 2d00 2e00 01 00 2f00 3000"
		"31000000 32000000 3300000000000000 3400000000000000"
		"3500000000000000 3600000000000000 3700000000000000 3800000000000000"
		"0a000001 0a000007 c000 1d2f 00000000");

	(void)state;
	has_num(o, QS_SQ_ENABLED, 1);
	has_num(o, QS_SQ_PAGE_OFF, 2);
	has_num(o, QS_SQ_PAGE_SIZE, 32768);
	has_num(o, QS_SQ_DEPTH, 1024);
	has_num(o, QS_SQ_PI, 16);
	has_num(o, QS_SQ_CI, 15);
	has_num(o, QS_RQ_DEPTH, 512);
	has_num(o, QS_RQ_PI, 32);
	has_num(o, QS_RQ_CI, 31);
	has_num(o, QS_SQ_LAST, 0x21);
	has_num(o, QS_RQ_LAST, 0x22);
	has_num(o, QS_SQ_CQES, 0x23);
	has_num(o, QS_RQ_CQES, 0x24);
	has_num(o, QS_TX_PKTS, 0x25);
	has_num(o, QS_RX_PKTS, 0x26);
	has_num(o, QS_RX_ERR_DROPS, 0x27);
	has_num(o, QS_RX_INV_DROPS, 0x28);
	has_num(o, QS_TIMEOUTS, 0x29);
	has_num(o, QS_REMOTE_QPN, 0x2a);
	has_num(o, QS_PDN, 0x2b);
	has_num(o, QS_SQ_FW_PI, 0x2c);
	has_num(o, QS_SQ_FW_CI, 0x2d);
	has_num(o, QS_RQ_FW_CI, 0x2e);
	has_num(o, QS_SQ_FLUSHING, 1);
	has_num(o, QS_RQ_FLUSHING, 0);
	has_num(o, QS_SQ_FLUSHED, 0x2f);
	has_num(o, QS_RQ_FLUSHED, 0x30);
	has_num(o, QS_SEND_CQN, 0x31);
	has_num(o, QS_RECV_CQN, 0x32);
	has_num(o, QS_SQ_ADDR, 0x33);
	has_num(o, QS_RQ_ADDR, 0x34);
	has_num(o, QS_SQ_DBREC_ADDR, 0x35);
	has_num(o, QS_RQ_DBREC_ADDR, 0x36);
	has_num(o, QS_SQ_DBREC, 0x37);
	has_num(o, QS_RQ_DBREC, 0x38);
	has_str(o, QS_LOCAL_ADDR, "10.0.0.1");
	has_str(o, QS_PEER_ADDR, "10.0.0.7");
	has_num(o, QS_LOCAL_PORT, 49152);
	has_num(o, QS_PEER_PORT, 7471);
}

/* A.2 */
static void cq_context_of_the_device(void **state)
{
	struct obj *o = decoded(&schema_cq_side, decode_cq_device,
		"6655 00 00 12000000 0000000000000000"
		"46000000 01 06 01 01 45000000 02 03 0000 0010000000000000 450000a0 12000003");

	(void)state;
	has_num(o, CS_PI, 0x46);
	has_num(o, CS_ENABLED, 1);
	has_num(o, CS_DEPTH, 64);
	has_num(o, CS_OWNER, 1);
	has_str(o, CS_BAD_DB, "out-of-order");
	has_num(o, CS_BAD_DB_CI, 0x45);
	has_num(o, CS_OOO_DBS, 2);
	has_num(o, CS_DUP_DBS, 3);
	has_num(o, CS_ADDR, 0x1000);
	has_num(o, CS_DBREC, 0x03000012A0000045ULL);
}

/* A.3 */
static void eq_context_of_the_device(void **state)
{
	struct obj *o = decoded(&schema_eq_side, decode_eq_device,
		"6655 00 00 02000000 0000000000000000"
		"0010 0100 01 01 00 07 05000000 03000000 0010000000000000 0801000000000000"
		"0310008000000000");

	(void)state;
	has_num(o, ES_DEPTH, 4096);
	has_num(o, ES_VECTOR, 1);
	has_num(o, ES_SUPPRESSED, 1);
	has_num(o, ES_TAIL_OWNER, 1);
	has_num(o, ES_HEAD_OWNER, 0);
	has_num(o, ES_OVERFLOW, 7);
	has_num(o, ES_PI, 5);
	has_num(o, ES_CI, 3);
	has_num(o, ES_ADDR, 0x1000);
	has_num(o, ES_DB_ADDR, 0x108);
	has_num(o, ES_DBREC, 0x80001003);
}

static void command_queue(void **state)
{
	struct erdma_diag_cmdq q = { .state = 3, .credits = 128, .in_flight = 2, .quarantined = 5,
				     .timeouts = 6, .oldest_ns = 9 };
	struct obj *o = obj_new(&test_pool, &schema_cmdq_info);

	(void)state;
	decode_cmdq(o, &q);
	has_str(o, MI_STATE, "dead");
	has_num(o, MI_FREE, 121);
	has_num(o, MI_TIMEOUTS, 6);
	has_num(o, MI_OLDEST, 9);
	has_none(o, MI_SQ_PI);
	q = (struct erdma_diag_cmdq){ .state = 2, .credits = 1, .quarantined = 9, .oldest_ns = 9 };
	o = obj_new(&test_pool, &schema_cmdq_info);
	decode_cmdq(o, &q);
	has_num(o, MI_FREE, 0);
	has_none(o, MI_OLDEST);
}

static void names_of_event_queues(void **state)
{
	char buf[16];

	(void)state;
	assert_string_equal(eq_name(0, buf), "cmdq");
	assert_string_equal(eq_name(32, buf), "aeq");
	assert_string_equal(eq_name(7, buf), "7");
	assert_string_equal(errno_name(2), "ENOENT");
	assert_string_equal(errno_name(99999), "EUNKNOWN");
}

int unit_decode_ctx(void)
{
	const struct CMUnitTest tests[] = {
		TEST(qp_row_of_a_user_qp), TEST(qp_row_counts_over_the_16_bit_boundary),
		TEST(qp_row_of_a_qp_without_connection), TEST(cq_row_takes_ci_from_the_last_arm),
		TEST(eq_row_splits_events_of_the_aeq_only), TEST(info_of_a_device),
		TEST(link_without_a_carrier), TEST(text_from_the_kernel_is_tamed),
		TEST(qp_context_of_the_device),
		TEST(cq_context_of_the_device), TEST(eq_context_of_the_device),
		TEST(command_queue), TEST(names_of_event_queues),
	};

	return cmocka_run_group_tests_name("contexts", tests, NULL, NULL);
}
