// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Regions in dma-bufs: verbs_dmabuf ADDRESS [TEST]
 *
 * The buffers are memfds behind /dev/udmabuf. The provider has no function for such
 * regions; the command is sent by hand.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fixture.h"
#include "tap.h"

#define PAGE	4096u
#define IOVA	0x7000000000ull

/* ---- commands -------------------------------------------------------------- */

struct command {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attr[9];
};

static struct ib_uverbs_attr *add(struct command *c, uint16_t id, uint16_t len, uint64_t data)
{
	struct ib_uverbs_attr *a = &c->attr[c->hdr.num_attrs++];

	*a = (struct ib_uverbs_attr){ .attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY,
				      .data = data };
	return a;
}

/* 0 or an errno */
static int run(struct ibv_context *context, struct command *c, uint16_t method)
{
	c->hdr.length = (uint16_t)(sizeof(c->hdr) + c->hdr.num_attrs * sizeof(c->attr[0]));
	c->hdr.object_id = UVERBS_OBJECT_MR;
	c->hdr.method_id = method;
	c->hdr.driver_id = RDMA_DRIVER_ERDMA;
	return ioctl(context->cmd_fd, RDMA_VERBS_IOCTL, c) ? errno : 0;
}

struct part {
	int fd;
	uint64_t offset, len, iova;
	uint64_t access;
};

/* What libibverbs would fill in; 0 or an errno */
static int dmabuf_reg(struct ibv_pd *pd, const struct part *part, struct ibv_mr *mr)
{
	struct command c = { .hdr.num_attrs = 0 };
	struct ib_uverbs_attr *handle;
	int err;

	memset(mr, 0, sizeof(*mr));
	handle = add(&c, UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0, 0);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, 0, pd->handle);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 8, part->offset);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 8, part->len);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_IOVA, 8, part->iova);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_FD, 4, (uint32_t)part->fd);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, 8, part->access);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, 4, (uintptr_t)&mr->lkey);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, 4, (uintptr_t)&mr->rkey);
	err = run(pd->context, &c, UVERBS_METHOD_REG_DMABUF_MR);
	mr->context = pd->context;
	mr->handle = (uint32_t)handle->data;
	return err;
}

static int dmabuf_dereg(struct ibv_mr *mr)
{
	struct command c = { .hdr.num_attrs = 0 };

	add(&c, UVERBS_ATTR_DESTROY_MR_HANDLE, 0, mr->handle);
	return run(mr->context, &c, UVERBS_METHOD_MR_DESTROY);
}

/* ---- buffers ---------------------------------------------------------------- */

/* Pages are touched in an order that scatters them */
struct buffer {
	int memfd, fd;
	size_t len;
	uint8_t *p;
};

static bool buffer_new(struct buffer *b, size_t len)
{
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC, .size = len };
	int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);

	EXPECT(dev >= 0, "/dev/udmabuf: %s", strerror(errno));
	b->len = len;
	b->memfd = memfd_create("dmabuf", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	EXPECT(b->memfd >= 0 && !ftruncate(b->memfd, (off_t)len), "memfd");
	EXPECT(!fcntl(b->memfd, F_ADD_SEALS, F_SEAL_SHRINK), "seal: %s", strerror(errno));
	b->p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, b->memfd, 0);
	EXPECT(b->p != MAP_FAILED, "mmap: %s", strerror(errno));
	for (size_t first = 0; first < 2; first++)
		for (size_t at = first * PAGE; at < len; at += 2 * PAGE)
			b->p[at] = 0xee;
	create.memfd = (uint32_t)b->memfd;
	b->fd = ioctl(dev, UDMABUF_CREATE, &create);
	EXPECT(b->fd >= 0, "UDMABUF_CREATE: %s", strerror(errno));
	close(dev);
	return true;
}

static void buffer_free(struct buffer *b)
{
	munmap(b->p, b->len);
	close(b->fd);
	close(b->memfd);
}

/* ---- tests ------------------------------------------------------------------- */

/* @n bytes by RDMA to the byte @at of a region and back */
static bool there_and_back(struct fixture *t, struct ibv_mr *mr, size_t at, size_t n,
			   const uint8_t *seen)
{
	const struct region remote = { .p = (uint8_t *)IOVA, .mr = mr };
	struct ibv_sge from = sge_of(&t->a, 0, n), to = sge_of(&t->a, n, n);
	const uint32_t seed = (uint32_t)at + 1;

	pattern_fill(t->a.p, n, seed);
	memset(t->a.p + n, 0, n);
	return post(&t->p.a, one_sided(IBV_WR_RDMA_WRITE, 1, &from, 1, &remote, at)) &&
	       done(&t->p.a, 1, IBV_WC_RDMA_WRITE, NULL) && (!seen || pattern_is(seen, n, seed)) &&
	       post(&t->p.a, one_sided(IBV_WR_RDMA_READ, 2, &to, 1, &remote, at)) &&
	       done(&t->p.a, 2, IBV_WC_RDMA_READ, NULL) && pattern_is(t->a.p + n, n, seed);
}

/* Sizes for inline pages and for tables of one and two levels */
static bool every_size_body(struct fixture *t)
{
	static const size_t pages[] = { 1, 3, 300, 1500 };

	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		struct buffer b;
		struct ibv_mr mr;
		bool good;
		int err;

		if (!buffer_new(&b, pages[i] * PAGE))
			return false;
		err = dmabuf_reg(t->p.b.pd, &(struct part){ .fd = b.fd, .len = b.len, .iova = IOVA,
							    .access = ALL_RIGHTS }, &mr);
		EXPECT(!err, "%zu pages: %s", pages[i], strerror(err));
		good = there_and_back(t, &mr, 0, PAGE, b.p) &&
		       there_and_back(t, &mr, b.len - 77, 77, b.p + b.len - 77) &&
		       there_and_back(t, &mr, b.len / 2, b.len / 2, b.p + b.len / 2);
		err = dmabuf_dereg(&mr);
		EXPECT(!err, "%zu pages: %s", pages[i], strerror(err));
		buffer_free(&b);
		EXPECT(good, "%zu pages", pages[i]);
	}
	return true;
}

static bool write_and_read_every_size(void)
{
	return with_fixture(8u << 20, (struct pair_options){}, every_size_body);
}

/* A part that begins and ends inside of pages; nothing else is reached */
static bool part_body(struct fixture *t)
{
	const uint64_t offset = 5 * PAGE + 123, len = 20 * PAGE;
	struct ibv_sge from = sge_of(&t->a, 0, 8);
	struct buffer b;
	struct region r;
	struct ibv_mr mr;
	int err;

	if (!buffer_new(&b, 64 * PAGE))
		return false;
	err = dmabuf_reg(t->p.b.pd, &(struct part){ b.fd, offset, len, IOVA + 123, ALL_RIGHTS },
			 &mr);
	EXPECT(!err, "%s", strerror(err));
	if (!there_and_back(t, &mr, 123, 3 * PAGE, b.p + offset) ||
	    !there_and_back(t, &mr, 123 + len - 50, 50, b.p + offset + len - 50))
		return false;
	EXPECT(b.p[0] == 0xee && b.p[4 * PAGE] == 0xee && b.p[26 * PAGE] == 0xee,
	       "pages of others were written");
	r = (struct region){ .p = (uint8_t *)IOVA, .mr = &mr };
	if (!post(&t->p.a, one_sided(IBV_WR_RDMA_WRITE, 3, &from, 1, &r, 123 + len - 7)) ||
	    !failed(&t->p.a, 3, IBV_WC_REM_ACCESS_ERR))
		return false;
	EXPECT(!dmabuf_dereg(&mr), "deregister");
	buffer_free(&b);
	return true;
}

static bool part_of_a_buffer(void)
{
	return with_fixture(65536, (struct pair_options){}, part_body);
}

/* The region holds the pages, whoever else lets go of them */
static bool pinned_body(struct fixture *t)
{
	struct buffer b;
	struct ibv_mr mr;
	bool good;
	int err;

	if (!buffer_new(&b, 16 * PAGE))
		return false;
	err = dmabuf_reg(t->p.b.pd, &(struct part){ b.fd, 0, b.len, IOVA, ALL_RIGHTS }, &mr);
	EXPECT(!err, "%s", strerror(err));
	buffer_free(&b);
	good = there_and_back(t, &mr, 100, 10 * PAGE, NULL);
	EXPECT(!dmabuf_dereg(&mr), "deregister");
	return good;
}

static bool region_outlives_its_files(void)
{
	return with_fixture(1u << 20, (struct pair_options){}, pinned_body);
}

static bool refused_body(struct fixture *t)
{
	struct buffer b;
	struct ibv_mr mr;

	if (!buffer_new(&b, 4 * PAGE))
		return false;
	const struct {
		const char *what;
		struct part part;
		int want;
	} cases[] = {
		{ "no file", { -1, 0, PAGE, IOVA, ALL_RIGHTS }, EBADF },
		{ "no dma-buf", { b.memfd, 0, PAGE, IOVA, ALL_RIGHTS }, EINVAL },
		{ "nothing", { b.fd, 0, 0, IOVA, ALL_RIGHTS }, EINVAL },
		{ "behind the end", { b.fd, PAGE, 4 * PAGE, IOVA, ALL_RIGHTS }, EINVAL },
		{ "longer than the device can", { b.fd, 0, 1ull << 60, IOVA, ALL_RIGHTS }, EINVAL },
		{ "another place in the page", { b.fd, 0, PAGE, IOVA + 8, ALL_RIGHTS }, EINVAL },
		{ "address that wraps", { b.fd, 0, PAGE, -4096ull, ALL_RIGHTS }, EINVAL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int err = dmabuf_reg(t->p.b.pd, &cases[i].part, &mr);

		EXPECT(err == cases[i].want, "%s: %s", cases[i].what, strerror(err));
	}
	buffer_free(&b);
	return true;
}

static bool what_is_refused(void)
{
	return with_fixture(PAGE, (struct pair_options){}, refused_body);
}

static const struct tap_test tests[] = {
	{ "write and read every size", write_and_read_every_size },
	{ "part of a buffer", part_of_a_buffer },
	{ "region outlives its files", region_outlives_its_files },
	{ "what is refused", what_is_refused },
};

int main(int argc, char **argv)
{
	return fixture_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
