// SPDX-License-Identifier: GPL-2.0-or-later
/* Records of memory regions, protection domains, user contexts and connections to facts. */
#include <sys/socket.h>

#include "erdma/erdma_hw.h"

#include "decode_mem.h"
#include "unit.h"

#define NOW 100000000000ULL

static struct erdma_diag_mr some_mr(void)
{
	return (struct erdma_diag_mr){
		.index = 4, .lkey = 0x401, .rkey = 0x401, .pdn = 3, .type = 0,
		.flags = ERDMA_DIAG_MR_USER, .access = 5, .rights = 0x3c, .iova = 0x7000,
		.length = 8192, .addr = 0x7000, .page_shift = 12, .page_cnt = 2, .ctx = 9,
		.res_id = 11, .created_ns = 90000000000ULL,
		.owner = { .pid = 4711, .comm = "ib_write_bw" },
		.owner_more = { .cgroup_id = 77 },
	};
}

static void region_of_an_application(void **state)
{
	struct obj *o = obj_new(&test_pool, &schema_mr_list);
	struct erdma_diag_mr mr = some_mr();

	(void)state;
	decode_mr_row(o, &mr, NOW);
	has_num(o, MR_INDEX, 4);
	has_num(o, MR_LKEY, 0x401);
	has_num(o, MR_LENGTH, 8192);
	has_num(o, MR_IOVA, 0x7000);
	has_str(o, MR_MEMORY, "user");
	has_num(o, MR_PAGE_SIZE, 4096);
	has_num(o, MR_CTX, 9);
	has_num(o, ML_RES_ID, 11);
	has_num(o, ML_AGE, 10000000000ULL);
	has_num(o, ML_PID, 4711);
	has_num(o, ML_EXITED, 0);
	has_num(o, ML_CGROUP, 77);
	has_none(o, MR_MAX_PAGES);
	assert_true(obj_has(o, MR_ACCESS));
}

/* Zero stands for what was withheld: it is no key */
static void withheld_keys_are_not_shown(void **state)
{
	struct obj *o = obj_new(&test_pool, &schema_mr_list);
	struct erdma_diag_mr mr = some_mr();

	(void)state;
	mr.lkey = 0;
	mr.rkey = 0;
	decode_mr_row(o, &mr, NOW);
	has_none(o, MR_LKEY);
	has_none(o, MR_RKEY);
	has_none(o, MR_DMA);
	has_num(o, MR_LENGTH, 8192);
}

static void region_of_all_memory(void **state)
{
	struct obj *o = obj_new(&test_pool, &schema_mr_list);
	struct erdma_diag_mr mr = { .index = 1, .type = ERDMA_MR_DMA, .flags = ERDMA_DIAG_MR_ALL,
				    .owner = { .kernel = 1, .comm = "nvme_rdma" } };

	(void)state;
	decode_mr_row(o, &mr, NOW);
	has_str(o, MR_MEMORY, "all");
	has_none(o, MR_LENGTH);
	has_none(o, MR_PAGES);
	has_none(o, MR_ACCESS);
	has_none(o, ML_AGE);
	has_num(o, ML_KERNEL, 1);
}

/* A page size that no shift by it can give */
static void absurd_page_size_is_none(void **state)
{
	struct obj *o = obj_new(&test_pool, &schema_mr_list);
	struct erdma_diag_mr mr = some_mr();

	(void)state;
	mr.page_shift = 64;
	mr.type = 99;
	mr.flags = 0;
	decode_mr_row(o, &mr, NOW);
	has_none(o, MR_PAGE_SIZE);
	has_str(o, MR_MEMORY, "kernel");
}

static void owner_elsewhere(void **state)
{
	struct obj *o = obj_new(&test_pool, &schema_pd_list);
	struct erdma_diag_pd pd = {
		.pdn = 3, .n_qp = 2, .n_mr = 5,
		.owner_more = { .flags = ERDMA_DIAG_OWNER_PID_NS | ERDMA_DIAG_OWNER_NET_NS },
	};

	(void)state;
	decode_pd_row(o, &pd, NOW);
	has_num(o, PD_PDN, 3);
	has_num(o, PD_QP, 2);
	has_num(o, PD_MR, 5);
	has_none(o, PD_CTX);
	has_none(o, ML_PID);
	has_none(o, ML_COMM);
	has_num(o, ML_PID_NS, 1);
	has_num(o, ML_NET_NS, 1);
	has_num(o, ML_EXITED, 0);
	has_none(o, ML_CGROUP);
}

static void context_of_an_application(void **state)
{
	struct obj *o = obj_new(&test_pool, &schema_ctx_list);
	struct erdma_diag_ctx ctx = {
		.id = 2, .flags = ERDMA_DIAG_CTX_OWN_PAGES, .sq_page = 128, .rq_page = 130,
		.cq_page = 129, .n_pd = 1, .n_mr = 2, .n_cq = 3, .n_qp = 4,
		.owner_more = { .flags = ERDMA_DIAG_OWNER_EXITED },
	};

	(void)state;
	decode_ctx_row(o, &ctx, NOW);
	has_num(o, CX_ID, 2);
	has_num(o, CX_RQ_PAGE, 130);
	has_num(o, CX_CQ_PAGE, 129);
	has_num(o, CX_OWN_PAGES, 1);
	has_num(o, CX_QP, 4);
	has_num(o, ML_EXITED, 1);
}

static void listener_has_no_peer(void **state)
{
	struct obj *o = obj_new(&test_pool, &schema_cm_list);
	struct erdma_diag_cm_id cm = {
		.id = 1, .state = ERDMA_DIAG_CM_LISTEN, .family = AF_INET, .sport = 4420,
		.saddr = { 10, 0, 0, 1 }, .backlog = 64, .n_waiting = 3,
		.owner_more = { .flags = ERDMA_DIAG_OWNER_UNKNOWN },
	};

	(void)state;
	decode_cm_row(o, &cm, NOW);
	has_str(o, CM_STATE, "LISTEN");
	has_str(o, CM_ROLE, "listener");
	has_str(o, CM_LOCAL_ADDR, "10.0.0.1");
	has_num(o, CM_LOCAL_PORT, 4420);
	has_num(o, CM_BACKLOG, 64);
	has_num(o, CM_WAITING, 3);
	has_none(o, CM_PEER_ADDR);
	has_none(o, CM_QPN);
	has_num(o, ML_UNKNOWN, 1);
}

static void connection_waits_for_its_application(void **state)
{
	struct obj *o = obj_new(&test_pool, &schema_cm_list);
	struct erdma_diag_cm_id cm = {
		.id = 4, .state = ERDMA_DIAG_CM_REQUESTED, .flags = ERDMA_DIAG_CM_F_PASSIVE,
		.family = AF_INET, .sport = 4420, .dport = 50001, .saddr = { 10, 0, 0, 1 },
		.daddr = { 10, 0, 0, 7 }, .listener = 1, .peer_cookie = 0x2c, .left_ms = 59000,
		.state_ns = 99000000000ULL,
	};

	(void)state;
	decode_cm_row(o, &cm, NOW);
	has_str(o, CM_STATE, "REQUESTED");
	has_str(o, CM_ROLE, "passive");
	has_str(o, CM_PEER_ADDR, "10.0.0.7");
	has_num(o, CM_LISTENER, 1);
	has_num(o, CM_PEER_COOKIE, 0x2c);
	has_num(o, CM_LEFT, 59000000000ULL);
	has_num(o, CM_STATE_AGE, 1000000000ULL);
	has_none(o, CM_IRD);
	has_none(o, CM_BACKLOG);
}

static void state_of_a_newer_driver(void **state)
{
	struct obj *o = obj_new(&test_pool, &schema_cm_list);
	struct erdma_diag_cm_id cm = { .id = 4, .state = 42 };

	(void)state;
	decode_cm_row(o, &cm, NOW);
	assert_true(obj_has(o, CM_STATE));
	has_none(o, CM_LOCAL_ADDR);
}

int unit_decode_mem(void)
{
	const struct CMUnitTest tests[] = {
		TEST(region_of_an_application), TEST(withheld_keys_are_not_shown),
		TEST(region_of_all_memory), TEST(absurd_page_size_is_none), TEST(owner_elsewhere),
		TEST(context_of_an_application), TEST(listener_has_no_peer),
		TEST(connection_waits_for_its_application), TEST(state_of_a_newer_driver),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
