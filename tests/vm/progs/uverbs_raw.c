// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What no provider would send: uverbs commands by hand, and the limits of what
 * the driver maps and registers. uverbs_raw [TEST]
 *
 * The driver-private parts are those of docs/erdma-hardware.md, section 13.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"
#include "uapi/erdma-abi.h"

#define PAGE		4096
#define RIGHTS		(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)
#define DEVICE_ID	0x107f
#define KERNEL_ADDRESS	0xffff888000000000ull
#define RING_LEN	(1 << 20)	/* of the memory at ring */

#define COUNT_OF(a)	((int)(sizeof(a) / sizeof((a)[0])))

/* ---- commands ------------------------------------------------------------- */

/* What CREATE_CQ and CREATE_QP carry, and room for more than they should */
struct request {
	struct erdma_abi_create_qp in;
	uint64_t tail[4];
};

_Static_assert(sizeof(struct erdma_abi_create_cq) == sizeof(struct erdma_abi_create_qp), "");

static struct ibv_device *device;
static int fd = -1;
static uint32_t pd_handle;
static uint8_t *ring;		/* RING_LEN bytes */
static uint8_t *record;		/* one page, nothing behind it */

/* 0 or a negative errno. The response is where the core's part points to. */
static int command(int number, const void *core, size_t core_len, const void *drv, size_t drv_len,
		   size_t resp_len)
{
	struct ib_uverbs_cmd_hdr hdr = { .command = (uint32_t)number };
	uint8_t message[512] = { 0 };
	size_t len = sizeof(hdr) + core_len + drv_len;

	hdr.in_words = (uint16_t)(len / 4);
	hdr.out_words = (uint16_t)(resp_len / 4);
	memcpy(message, &hdr, sizeof(hdr));
	memcpy(message + sizeof(hdr), core, core_len);
	if (drv_len)
		memcpy(message + sizeof(hdr) + core_len, drv, drv_len);
	return write(fd, message, len) == (ssize_t)len ? 0 : -errno;
}

static int get_context(struct erdma_abi_context_resp *ctx, size_t drv_resp_len)
{
	struct {
		struct ib_uverbs_get_context_resp core;
		struct erdma_abi_context_resp drv;
		uint64_t room[8];
	} resp;
	struct ib_uverbs_get_context cmd = { .response = (uintptr_t)&resp };
	int err;

	memset(&resp, 0xaa, sizeof(resp));
	err = command(IB_USER_VERBS_CMD_GET_CONTEXT, &cmd, sizeof(cmd), NULL, 0,
		      sizeof(resp.core) + drv_resp_len);
	memcpy(ctx, &resp.drv, sizeof(*ctx));
	return err;
}

static int alloc_pd(void)
{
	struct ib_uverbs_alloc_pd_resp resp = { 0 };
	struct ib_uverbs_alloc_pd cmd = { .response = (uintptr_t)&resp };
	int err;

	err = command(IB_USER_VERBS_CMD_ALLOC_PD, &cmd, sizeof(cmd), NULL, 0, sizeof(resp));
	pd_handle = resp.pd_handle;
	return err;
}

struct cq_resp {
	struct ib_uverbs_create_cq_resp core;
	struct erdma_abi_create_cq_resp drv;
};

static int create_cq(struct cq_resp *resp, uint32_t cqe, uint32_t vector,
		     const struct request *r, size_t drv_len, size_t drv_resp_len)
{
	struct ib_uverbs_create_cq cmd = {
		.response = (uintptr_t)resp,
		.cqe = cqe,
		.comp_vector = vector,
		.comp_channel = -1,
	};

	memset(resp, 0, sizeof(*resp));
	return command(IB_USER_VERBS_CMD_CREATE_CQ, &cmd, sizeof(cmd), r, drv_len,
		       sizeof(resp->core) + drv_resp_len);
}

static int destroy_cq(uint32_t handle)
{
	struct ib_uverbs_destroy_cq_resp resp;
	struct ib_uverbs_destroy_cq cmd = { .response = (uintptr_t)&resp, .cq_handle = handle };

	return command(IB_USER_VERBS_CMD_DESTROY_CQ, &cmd, sizeof(cmd), NULL, 0, sizeof(resp));
}

struct qp_resp {
	struct ib_uverbs_create_qp_resp core;
	struct erdma_abi_create_qp_resp drv;
};

struct qp_size {
	uint32_t sends, receives;
	uint8_t type;
};

static const struct qp_size small_qp = { 16, 16, IBV_QPT_RC };

static int create_qp(struct qp_resp *resp, uint32_t cq, struct qp_size size,
		     const struct request *r, size_t drv_len, size_t drv_resp_len)
{
	struct ib_uverbs_create_qp cmd = {
		.response = (uintptr_t)resp,
		.pd_handle = pd_handle,
		.send_cq_handle = cq,
		.recv_cq_handle = cq,
		.max_send_wr = size.sends,
		.max_recv_wr = size.receives,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.qp_type = size.type,
	};

	memset(resp, 0, sizeof(*resp));
	return command(IB_USER_VERBS_CMD_CREATE_QP, &cmd, sizeof(cmd), r, drv_len,
		       sizeof(resp->core) + drv_resp_len);
}

static int destroy_qp(uint32_t handle)
{
	struct ib_uverbs_destroy_qp_resp resp;
	struct ib_uverbs_destroy_qp cmd = { .response = (uintptr_t)&resp, .qp_handle = handle };

	return command(IB_USER_VERBS_CMD_DESTROY_QP, &cmd, sizeof(cmd), NULL, 0, sizeof(resp));
}

/* ---- with an open file, and what it needs --------------------------------- */

static bool open_file(void)
{
	char path[128];

	snprintf(path, sizeof(path), "/dev/infiniband/%s", device->dev_name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	EXPECT(fd >= 0, "%s: %s", path, strerror(errno));
	return true;
}

/* A raw context with a PD; closing takes with it what the test left */
static bool with_context(bool (*test)(void))
{
	struct erdma_abi_context_resp ctx;
	bool good;

	if (!open_file())
		return false;
	good = !get_context(&ctx, sizeof(ctx)) && !alloc_pd();
	if (!good)
		printf("# no context or PD: %s\n", strerror(errno));
	good = good && test();
	close(fd);
	return good;
}

static bool with_cq(bool (*test)(uint32_t cq))
{
	struct request r = { .in = { (uintptr_t)record, (uintptr_t)ring, RING_LEN, 0 } };
	struct cq_resp cq;
	int err;

	err = create_cq(&cq, 4096, 0, &r, sizeof(r.in), sizeof(cq.drv));
	EXPECT(!err, "CQ: %d", err);
	return test(cq.core.cq_handle);
}

/* ---- context --------------------------------------------------------------- */

static bool short_context(void)
{
	static const size_t lens[] = { 0, 8, 32, 36 };
	struct erdma_abi_context_resp ctx;
	int err;

	for (int i = 0; i < COUNT_OF(lens); i++) {
		if (!open_file())
			return false;
		err = get_context(&ctx, lens[i]);
		close(fd);
		EXPECT(err == -EINVAL, "%zu bytes: %d", lens[i], err);
	}
	return true;
}

static bool context(void)
{
	struct erdma_abi_context_resp ctx;
	int err;

	if (!open_file())
		return false;
	err = get_context(&ctx, sizeof(ctx));
	close(fd);
	EXPECT(!err, "%d", err);
	EXPECT(ctx.pci_device == DEVICE_ID, "device %x", ctx.pci_device);
	EXPECT(!ctx.rsvd && !ctx.sq_db_kind && !ctx.sq_db_start, "%x %x %x", ctx.rsvd, ctx.sq_db_kind,
	       ctx.sq_db_start);
	EXPECT(ctx.sq_db_page != ctx.rq_db_page && ctx.rq_db_page != ctx.cq_db_page && ctx.sq_db_page != ctx.cq_db_page, "one page for two");
	return true;
}

static bool mappings_of(int file, const uint64_t page[3])
{
	const int shared = MAP_SHARED;
	void *p;

	for (int i = 0; i < 3; i++) {
		p = mmap(NULL, PAGE, PROT_WRITE, shared, file, (off_t)page[i]);
		EXPECT(p != MAP_FAILED, "page %d: %s", i, strerror(errno));
		munmap(p, PAGE);
	}
	p = mmap(NULL, 2 * PAGE, PROT_WRITE, shared, file, (off_t)page[0]);
	EXPECT(p == MAP_FAILED, "two pages at once");
	p = mmap(NULL, PAGE, PROT_WRITE, MAP_PRIVATE, file, (off_t)page[0]);
	EXPECT(p == MAP_FAILED, "a private mapping");
	p = mmap(NULL, PAGE, PROT_WRITE, shared, file, 3 * PAGE);
	EXPECT(p == MAP_FAILED, "a fourth page");
	p = mmap(NULL, PAGE, PROT_WRITE, shared, file, (off_t)1 << 40);
	EXPECT(p == MAP_FAILED, "a page far away");
	return true;
}

static bool mappings(void)
{
	struct erdma_abi_context_resp ctx;
	bool good;

	if (!open_file())
		return false;
	EXPECT(!get_context(&ctx, sizeof(ctx)), "context");
	good = mappings_of(fd, (uint64_t[]){ ctx.sq_db_page, ctx.rq_db_page, ctx.cq_db_page });
	close(fd);
	return good;
}

/* The context ends with its last mapping, which is after its file was closed */
static bool mapped_again(void)
{
	struct erdma_abi_context_resp ctx;
	void *p[3];
	int file;

	if (!open_file())
		return false;
	file = fd;
	EXPECT(!get_context(&ctx, sizeof(ctx)), "context");
	for (int i = 0; i < COUNT_OF(p); i++) {
		p[i] = mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, file, (off_t)ctx.sq_db_page);
		EXPECT(p[i] != MAP_FAILED, "mapping %d: %s", i, strerror(errno));
		if (i)
			munmap(p[i - 1], PAGE);
	}
	p[0] = mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, file, (off_t)ctx.sq_db_page);
	p[1] = mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, file, (off_t)ctx.cq_db_page);
	close(file);
	for (int i = 0; i < COUNT_OF(p); i++)
		EXPECT(p[i] != MAP_FAILED && !munmap(p[i], PAGE), "mapping %d", i);
	return true;
}

/* ---- CQs and QPs ------------------------------------------------------------ */

/* A request that is refused: any error if @want is 0 */
struct bad_case {
	const char *what;
	uint32_t a, b;		/* CQ: entries, vector; QP: sends, receives */
	struct request r;
	size_t drv_len, resp_len;
	int want;
};

#define IN	sizeof(struct erdma_abi_create_qp)
#define CQ_OUT	sizeof(struct erdma_abi_create_cq_resp)
#define QP_OUT	sizeof(struct erdma_abi_create_qp_resp)
#define REQ(db, buf, len)	{ .in = { db, buf, len, 0 } }

static bool refused(const struct bad_case *c, int err)
{
	EXPECT(c->want ? err == c->want : err < 0, "%s: %d instead of %d", c->what, err, c->want);
	return true;
}

static bool good_cqs(void)
{
	const uintptr_t rec = (uintptr_t)record;
	struct request r = REQ(rec, (uintptr_t)ring, PAGE);
	struct cq_resp cq;
	int err;

	err = create_cq(&cq, 100, 0, &r, IN, CQ_OUT);
	EXPECT(!err, "%d", err);
	EXPECT(cq.drv.cqn && cq.drv.depth >= 100, "CQN %u, %u entries", cq.drv.cqn,
	       cq.drv.depth);
	EXPECT(!destroy_cq(cq.core.cq_handle), "destroy: %s", strerror(errno));
	EXPECT(destroy_cq(cq.core.cq_handle), "destroyed twice");
	/* What a newer provider may send */
	err = create_cq(&cq, 100, 0, &r, IN + 16, CQ_OUT);
	EXPECT(!err, "zeros behind the request: %d", err);
	destroy_cq(cq.core.cq_handle);
	r.in.dbrec_addr = rec + PAGE - 8;
	err = create_cq(&cq, 100, 0, &r, IN, CQ_OUT);
	EXPECT(!err, "last record of a page: %d", err);
	destroy_cq(cq.core.cq_handle);
	return true;
}

static bool bad_cqs(void)
{
	const uint64_t rec = (uintptr_t)record, buf = (uintptr_t)ring;
	const uint32_t many = 1 << 20, all = UINT32_MAX;
	const struct bad_case cases[] = {
		{ "a tail", 100, 0, { { rec, buf, PAGE, 0 }, { 1 } }, IN + 16, CQ_OUT, -EINVAL },
		{ "a short request", 100, 0, REQ(rec, buf, PAGE), 16, CQ_OUT, -EINVAL },
		{ "no request", 100, 0, REQ(rec, buf, PAGE), 0, CQ_OUT, -EINVAL },
		{ "no room for the response", 100, 0, REQ(rec, buf, PAGE), IN, 0, -EINVAL },
		{ "half of the response", 100, 0, REQ(rec, buf, PAGE), IN, 4, -EINVAL },
		{ "a short buffer", 100, 0, REQ(rec, buf, PAGE - 1), IN, CQ_OUT, -EINVAL },
		{ "an empty buffer", 1, 0, REQ(rec, buf, 0), IN, CQ_OUT, -EINVAL },
		{ "an odd buffer", 100, 0, REQ(rec, buf + 64, PAGE), IN, CQ_OUT, -EINVAL },
		{ "a buffer at 0", 100, 0, REQ(rec, 0, PAGE), IN, CQ_OUT, 0 },
		{ "a kernel buffer", 100, 0, REQ(rec, KERNEL_ADDRESS, PAGE), IN, CQ_OUT, 0 },
		{ "a buffer at the end", 100, 0, REQ(rec, ~0xfffull, PAGE), IN, CQ_OUT, 0 },
		{ "an odd record", 100, 0, REQ(rec + 4, buf, PAGE), IN, CQ_OUT, -EINVAL },
		{ "a record at 0", 100, 0, REQ(0, buf, PAGE), IN, CQ_OUT, 0 },
		{ "a record at the end", 100, 0, REQ(~7ull, buf, PAGE), IN, CQ_OUT, 0 },
		{ "a record in a hole", 100, 0, REQ(rec + PAGE, buf, PAGE), IN, CQ_OUT, 0 },
		{ "a kernel record", 100, 0, REQ(KERNEL_ADDRESS, buf, PAGE), IN, CQ_OUT, 0 },
		{ "0 entries", 0, 0, REQ(rec, buf, PAGE), IN, CQ_OUT, -EINVAL },
		{ "more than fit", 129, 0, REQ(rec, buf, PAGE), IN, CQ_OUT, -EINVAL },
		{ "2^32 - 1 entries", all, 0, REQ(rec, buf, PAGE), IN, CQ_OUT, -EINVAL },
		{ "2^31 entries", 1u << 31, 0, REQ(rec, buf, PAGE), IN, CQ_OUT, -EINVAL },
		{ "more than the most", many + 1, 0, REQ(rec, buf, all), IN, CQ_OUT, -EINVAL },
		{ "no such vector", 100, 31, REQ(rec, buf, PAGE), IN, CQ_OUT, -EINVAL },
		{ "a buffer with holes", many, 0, REQ(rec, buf, all), IN, CQ_OUT, 0 },
	};
	struct cq_resp cq;

	for (int i = 0; i < COUNT_OF(cases); i++) {
		const struct bad_case *c = &cases[i];

		if (!refused(c, create_cq(&cq, c->a, c->b, &c->r, c->drv_len, c->resp_len)))
			return false;
	}
	return true;
}

static bool good_qps_of(uint32_t cq)
{
	const uintptr_t rec = (uintptr_t)record;
	struct request r = REQ(rec, (uintptr_t)ring, 2 * PAGE);
	struct qp_resp qp;
	int err;

	err = create_qp(&qp, cq, small_qp, &r, IN, QP_OUT);
	EXPECT(!err, "%d", err);
	EXPECT(qp.drv.sq_depth == 64 && qp.drv.rq_depth == 16 && qp.drv.rq_start == PAGE,
	       "%u blocks, %u receives at %u", qp.drv.sq_depth, qp.drv.rq_depth, qp.drv.rq_start);
	EXPECT(!destroy_qp(qp.core.qp_handle), "destroy: %s", strerror(errno));
	r.in.ring_bytes = PAGE + 512;
	err = create_qp(&qp, cq, small_qp, &r, IN, QP_OUT);
	EXPECT(!err, "no byte too many: %d", err);
	destroy_qp(qp.core.qp_handle);
	r.in.dbrec_addr = rec + PAGE - 16;
	err = create_qp(&qp, cq, small_qp, &r, IN, QP_OUT);
	EXPECT(!err, "last records of a page: %d", err);
	destroy_qp(qp.core.qp_handle);
	/* 512 and 256 KiB; stays, closing the file must take it */
	r.in.ring_bytes = RING_LEN;
	err = create_qp(&qp, cq, (struct qp_size){ 4096, 8192, IBV_QPT_RC }, &r, IN, QP_OUT);
	EXPECT(!err, "large: %d", err);
	return true;
}

static bool good_qps_in_context(void)
{
	return with_cq(good_qps_of);
}

static bool good_qps(void)
{
	return with_context(good_qps_in_context);
}

static bool bad_qps_of(uint32_t cq)
{
	const uint64_t rec = (uintptr_t)record, buf = (uintptr_t)ring;
	const uint32_t two = 2 * PAGE, all = UINT32_MAX;
	const struct bad_case cases[] = {
		{ "a short request", 16, 16, REQ(rec, buf, two), 16, QP_OUT, -EINVAL },
		{ "half of the response", 16, 16, REQ(rec, buf, two), IN, 8, -EINVAL },
		{ "a byte too few", 16, 16, REQ(rec, buf, PAGE + 511), IN, QP_OUT, -EINVAL },
		{ "an empty buffer", 16, 16, REQ(rec, buf, 0), IN, QP_OUT, -EINVAL },
		{ "an odd buffer", 16, 16, REQ(rec, buf + 8, two), IN, QP_OUT, -EINVAL },
		{ "a buffer at 0", 16, 16, REQ(rec, 0, two), IN, QP_OUT, 0 },
		{ "a buffer at the end", 16, 16, REQ(rec, ~0xfffull, two), IN, QP_OUT, 0 },
		{ "a kernel buffer", 16, 16, REQ(rec, KERNEL_ADDRESS, two), IN, QP_OUT, 0 },
		{ "receives in a hole", 16, 16, REQ(rec, rec, two), IN, QP_OUT, 0 },
		{ "records in two pages", 16, 16, REQ(rec + 4088, buf, two), IN, QP_OUT, -EINVAL },
		{ "a kernel record", 16, 16, REQ(KERNEL_ADDRESS, buf, two), IN, QP_OUT, 0 },
		{ "no sends", 0, 16, REQ(rec, buf, two), IN, QP_OUT, -EINVAL },
		{ "no receives", 16, 0, REQ(rec, buf, two), IN, QP_OUT, -EINVAL },
		{ "too many sends", 8193, 16, REQ(rec, buf, two), IN, QP_OUT, -EINVAL },
		{ "2^30 + 1 sends", (1u << 30) + 1, 16, REQ(rec, buf, two), IN, QP_OUT, -EINVAL },
		{ "2^32 - 1 receives", 16, all, REQ(rec, buf, two), IN, QP_OUT, -EINVAL },
		{ "a buffer with holes", 8192, 32768, REQ(rec, buf, all & ~0xfffu), IN, QP_OUT, 0 },
	};
	struct request r = REQ(rec, buf, two);
	struct qp_resp qp;
	int err;

	for (int i = 0; i < COUNT_OF(cases); i++) {
		const struct bad_case *c = &cases[i];
		struct qp_size size = { c->a, c->b, IBV_QPT_RC };

		if (!refused(c, create_qp(&qp, cq, size, &c->r, c->drv_len, c->resp_len)))
			return false;
	}
	err = create_qp(&qp, cq, (struct qp_size){ 16, 16, IBV_QPT_UD }, &r, IN, QP_OUT);
	EXPECT(err == -EOPNOTSUPP, "UD: %d", err);
	return true;
}

static bool bad_qps_in_context(void)
{
	return with_cq(bad_qps_of);
}

static bool bad_qps(void)
{
	return with_context(bad_qps_in_context);
}

static bool good_cqs_alone(void)
{
	return with_context(good_cqs);
}

static bool bad_cqs_alone(void)
{
	return with_context(bad_cqs);
}

/* The kernel can post and poll on behalf of a program; not with this device,
 * whose queues are the program's.
 */
static bool through_kernel_of(uint32_t cq)
{
	struct {
		struct ib_uverbs_poll_cq_resp core;
		struct ib_uverbs_wc wc;
	} resp;
	struct {
		struct ib_uverbs_post_send cmd;
		struct ib_uverbs_send_wr wr;
	} send = { .cmd = { .wr_count = 1, .wqe_size = sizeof(send.wr) } };
	struct {
		struct ib_uverbs_post_recv cmd;
		struct ib_uverbs_recv_wr wr;
	} recv = { .cmd = { .wr_count = 1, .wqe_size = sizeof(recv.wr) } };
	struct ib_uverbs_poll_cq poll = { (uintptr_t)&resp, cq, 1 };
	struct ib_uverbs_req_notify_cq arm = { .cq_handle = cq };
	struct request r = REQ((uintptr_t)record, (uintptr_t)ring, 2 * PAGE);
	struct qp_resp qp;

	EXPECT(!create_qp(&qp, cq, small_qp, &r, IN, QP_OUT), "QP: %s", strerror(errno));
	send.cmd.response = recv.cmd.response = (uintptr_t)&resp;
	send.cmd.qp_handle = recv.cmd.qp_handle = qp.core.qp_handle;
	EXPECT(command(IB_USER_VERBS_CMD_POST_SEND, &send, sizeof(send), NULL, 0,
		       sizeof(struct ib_uverbs_post_send_resp)), "posted a send");
	EXPECT(command(IB_USER_VERBS_CMD_POST_RECV, &recv, sizeof(recv), NULL, 0,
		       sizeof(struct ib_uverbs_post_recv_resp)), "posted a receive");
	EXPECT(command(IB_USER_VERBS_CMD_POLL_CQ, &poll, sizeof(poll), NULL, 0, sizeof(resp)),
	       "polled");
	EXPECT(command(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, &arm, sizeof(arm), NULL, 0, 0), "armed");
	return true;
}

static bool through_kernel_in_context(void)
{
	return with_cq(through_kernel_of);
}

static bool through_kernel(void)
{
	return with_context(through_kernel_in_context);
}

/* ---- regions, through the library ------------------------------------------ */

static struct ibv_context *verbs;
static struct ibv_pd *pd;

static bool bad_regions(void)
{
	uint8_t *p = ring;

	EXPECT(!ibv_reg_mr(pd, p, 0, RIGHTS), "0 bytes");
	EXPECT(!ibv_reg_mr(pd, (void *)~0xfffull, 2 * PAGE, RIGHTS), "around the end of memory");
	EXPECT(!ibv_reg_mr(pd, (void *)KERNEL_ADDRESS, PAGE, RIGHTS), "of the kernel");
	EXPECT(!ibv_reg_mr(pd, record, 2 * PAGE, RIGHTS), "with a hole");
	EXPECT(!ibv_reg_mr(pd, p, (1ull << 31) + 1, RIGHTS), "too long");
	EXPECT(!ibv_reg_mr(pd, p, PAGE, IBV_ACCESS_MW_BIND), "for memory windows");
	EXPECT(errno == EOPNOTSUPP, "for memory windows: %s", strerror(errno));
	EXPECT(!ibv_reg_mr(pd, p, PAGE, IBV_ACCESS_ON_DEMAND), "on demand");
	EXPECT(!ibv_reg_mr(pd, p, PAGE, IBV_ACCESS_REMOTE_WRITE), "remote but not local write");
	EXPECT(!ibv_reg_mr_iova(pd, p, PAGE, 0x123456789001ull, RIGHTS), "another offset");
	return true;
}

static bool good_regions(void)
{
	static const size_t lens[] = {
		1, PAGE, PAGE + 1, 16384, 16385, 4 << 20, 32 << 20, (64 << 20) - 5
	};
	const size_t size = 64 << 20;
	uint8_t *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr;

	EXPECT(p != MAP_FAILED, "no memory");
	for (int i = 0; i < COUNT_OF(lens); i++) {
		mr = ibv_reg_mr(pd, p + 5, lens[i], RIGHTS);
		EXPECT(mr, "%zu bytes: %s", lens[i], strerror(errno));
		EXPECT(!ibv_dereg_mr(mr), "%zu bytes", lens[i]);
	}
	mr = ibv_reg_mr_iova(pd, p + PAGE, 2 * PAGE, 0x123456789000ull, RIGHTS);
	EXPECT(mr, "other addresses: %s", strerror(errno));
	EXPECT(!ibv_dereg_mr(mr), "other addresses");
	munmap(p, size);
	return true;
}

static bool key_in_use(void)
{
	struct ibv_mr *first = ibv_reg_mr(pd, ring, PAGE, RIGHTS), *mr;

	EXPECT(first, "%s", strerror(errno));
	for (int i = 0; i < 1000; i++) {
		mr = ibv_reg_mr(pd, ring, 2 * PAGE, RIGHTS);
		EXPECT(mr, "region %d: %s", i, strerror(errno));
		EXPECT(mr->lkey && mr->lkey >> 8 != first->lkey >> 8, "region %d: key %x of %x", i,
		       mr->lkey, first->lkey);
		EXPECT(!ibv_dereg_mr(mr), "region %d", i);
	}
	EXPECT(!ibv_dereg_mr(first), "%s", strerror(errno));
	return true;
}

static bool many(void)
{
	enum { MANY = 500 };
	static struct ibv_mr *mr[MANY];
	static struct ibv_cq *cq[MANY];
	static struct ibv_qp *qp[MANY];
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 } };

	for (int i = 0; i < MANY; i++) {
		mr[i] = ibv_reg_mr(pd, ring, 2 * PAGE, RIGHTS);
		EXPECT(mr[i], "region %d: %s", i, strerror(errno));
		cq[i] = ibv_create_cq(verbs, 1, NULL, NULL, 0);
		EXPECT(cq[i], "CQ %d: %s", i, strerror(errno));
		attr.send_cq = attr.recv_cq = cq[i];
		qp[i] = ibv_create_qp(pd, &attr);
		EXPECT(qp[i], "QP %d: %s", i, strerror(errno));
	}
	for (int i = 0; i < MANY; i++) {
		EXPECT(!ibv_destroy_qp(qp[i]), "QP %d", i);
		EXPECT(!ibv_destroy_cq(cq[i]), "CQ %d", i);
		EXPECT(!ibv_dereg_mr(mr[i]), "region %d", i);
	}
	return true;
}

/* ---- all ------------------------------------------------------------------- */

static const struct tap_test tests[] = {
	{ "a context needs room for its response", short_context },
	{ "a context describes the doorbell pages", context },
	{ "three pages can be mapped, nothing else", mappings },
	{ "a page can be mapped again, and outlives its file", mapped_again },
	{ "CQs at the limits", good_cqs_alone },
	{ "CQs beyond the limits", bad_cqs_alone },
	{ "QPs at the limits", good_qps },
	{ "QPs beyond the limits", bad_qps },
	{ "the kernel does not post or poll for a program", through_kernel },
	{ "regions of many lengths", good_regions },
	{ "regions that cannot be", bad_regions },
	{ "no key is given out twice", key_in_use },
	{ "many objects at once", many },
};

static void *memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		printf("Bail out! no memory\n");
		exit(2);
	}
	return p;
}

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	device = list ? list[0] : NULL;
	verbs = device ? ibv_open_device(device) : NULL;
	pd = verbs ? ibv_alloc_pd(verbs) : NULL;
	if (!pd) {
		printf("Bail out! no device\n");
		return 2;
	}
	/* Behind each of them is a hole, whatever else is mapped */
	ring = memory(RING_LEN + PAGE);
	munmap(ring + RING_LEN, PAGE);
	record = memory(2 * PAGE);
	munmap(record + PAGE, PAGE);
	return tap_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
