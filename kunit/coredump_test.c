// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* State of a fake device as a file: erdma_coredump.c */
#include <linux/sizes.h>
#include <linux/vmalloc.h>

#include "diag_setup.h"
#include "erdma_coredump.h"
#include "erdma/erdma_snapshot.h"
#include "suites.h"

static u8 *file;
static size_t file_len;

static int coredump_init(struct kunit *test)
{
	file = NULL;
	return diag_setup_init(test);
}

static void coredump_exit(struct kunit *test)
{
	vfree(file);
	diag_setup_exit(test);
}

static void make(struct kunit *test, u32 qpn, size_t size)
{
	struct diag_setup *s = setup_of(test);

	vfree(file);
	file = erdma_coredump_make(s->f->dev, &s->diag, "a test", qpn, size, &file_len);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	KUNIT_ASSERT_LE(test, file_len, size);
	diag_expect_no_reference_left(test);
}

/* The record after @rec, NULL: the file is at its end */
static const struct erdma_snap_rec *next_rec(struct kunit *test, const struct erdma_snap_rec *rec)
{
	const u8 *at = rec ? (const u8 *)rec + le32_to_cpu(rec->len) :
			     file + sizeof(struct erdma_snap_header);

	KUNIT_EXPECT_LE(test, (size_t)(at - file), file_len);
	if (at >= file + file_len)
		return NULL;
	rec = (const void *)at;
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rec->len) % 8, 0);
	KUNIT_EXPECT_GE(test, (size_t)le32_to_cpu(rec->len), sizeof(*rec));
	return le32_to_cpu(rec->len) >= sizeof(*rec) ? rec : NULL;
}

static const struct erdma_snap_rec *find(struct kunit *test, u16 type, u32 obj, u32 id)
{
	const struct erdma_snap_rec *rec = NULL;

	while ((rec = next_rec(test, rec)))
		if (le16_to_cpu(rec->type) == type && le32_to_cpu(rec->obj) == obj &&
		    le32_to_cpu(rec->id) == id)
			return rec;
	return NULL;
}

static u32 count(struct kunit *test, u16 type)
{
	const struct erdma_snap_rec *rec = NULL;
	u32 n = 0;

	while ((rec = next_rec(test, rec)))
		n += le16_to_cpu(rec->type) == type;
	return n;
}

/* CRC-32C bit by bit, to compare with the kernel's */
static u32 crc32c_of(const u8 *p, size_t len)
{
	u32 crc = ~0U;
	int bit;

	while (len--) {
		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? 0x82f63b78 ^ (crc >> 1) : crc >> 1;
	}
	return ~crc;
}

static void file_is_complete(struct kunit *test)
{
	const struct erdma_snap_header *h;
	const struct erdma_snap_rec *rec = NULL, *last = NULL;
	const struct erdma_snap_end *end;
	u32 n = 0;

	make(test, 0, SZ_1M);
	h = (const void *)file;
	KUNIT_EXPECT_EQ(test, memcmp(h->magic, ERDMA_SNAP_MAGIC, sizeof(h->magic)), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(h->version), ERDMA_SNAP_VERSION);
	while ((rec = next_rec(test, rec))) {
		KUNIT_EXPECT_EQ(test, le32_to_cpu(rec->seq), n);
		n++;
		last = rec;
	}
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, last);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(last->type), ERDMA_SNAP_END);
	end = (const void *)(last + 1);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(end->records), n - 1);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(end->crc), crc32c_of(file, (const u8 *)last - file));
}

static void every_object_is_there_once(struct kunit *test)
{
	int i;

	make(test, 0, SZ_1M);
	KUNIT_EXPECT_EQ(test, count(test, ERDMA_SNAP_FILE), 1);
	KUNIT_EXPECT_EQ(test, count(test, ERDMA_SNAP_DEVICE), 1);
	KUNIT_EXPECT_EQ(test, count(test, ERDMA_SNAP_INFO), 1);
	KUNIT_EXPECT_EQ(test, count(test, ERDMA_SNAP_COUNTERS), 1);
	KUNIT_EXPECT_EQ(test, count(test, ERDMA_DIAG_REC_QP), N_QPS);
	KUNIT_EXPECT_EQ(test, count(test, ERDMA_DIAG_REC_CQ), 1);
	KUNIT_EXPECT_EQ(test, count(test, ERDMA_DIAG_REC_CMDQ), 1);
	for (i = 0; i < N_QPS; i++)
		KUNIT_EXPECT_NOT_ERR_OR_NULL(test, find(test, ERDMA_DIAG_REC_QP, ERDMA_DIAG_OBJ_QP,
							diag_qpns[i]));
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, find(test, ERDMA_SNAP_RING, ERDMA_DIAG_RING_CMDQ_SQ, 0));
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, find(test, ERDMA_SNAP_RING, ERDMA_DIAG_RING_EQ,
						ERDMA_DIAG_EQ_AEQ));
	KUNIT_EXPECT_EQ(test, count(test, ERDMA_SNAP_PROBLEM), 0);
}

/* The device is lost: its answer is not waited for. It stopped a QP: it is asked. */
static void device_is_asked_only_about_a_stopped_qp(struct kunit *test)
{
	setup_of(test)->f->dev->attrs.flags = ERDMA_FLAG_QUERY_QC;
	make(test, 0, SZ_1M);
	KUNIT_EXPECT_EQ(test, setup_of(test)->f->total, 0);
	KUNIT_EXPECT_EQ(test, count(test, ERDMA_DIAG_REC_QP_HW), 0);
	make(test, 2, SZ_1M);
	/* The QP and its CQ */
	KUNIT_EXPECT_EQ(test, setup_of(test)->f->total, 2);
	KUNIT_EXPECT_EQ(test, count(test, ERDMA_DIAG_REC_QP_HW), 1);
}

static void rings_of_a_stopped_qp_have_no_secrets(struct kunit *test)
{
	struct erdma_qp *qp = setup_of(test)->qp[1];
	const struct erdma_diag_ring_read *head;
	const struct erdma_snap_rec *rec;
	const struct erdma_diag_qp *out;
	const u8 *entries;
	u32 i;

	memset(qp->ksq.buf, 0x5a, SQ_DEPTH * ERDMA_WQEBB_SIZE);
	make(test, 2, SZ_1M);
	rec = find(test, ERDMA_SNAP_RING, ERDMA_DIAG_RING_SQ, 2);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, rec);
	head = (const void *)(rec + 1);
	KUNIT_EXPECT_EQ(test, head->out_depth, SQ_DEPTH);
	KUNIT_EXPECT_EQ(test, head->out_flags & ERDMA_DIAG_RING_HIDDEN, ERDMA_DIAG_RING_HIDDEN);
	entries = (const u8 *)(head + 1);
	for (i = 0; i < SQ_DEPTH * ERDMA_WQEBB_SIZE; i++)
		KUNIT_ASSERT_EQ(test, entries[i], 0);
	rec = find(test, ERDMA_DIAG_REC_QP, ERDMA_DIAG_OBJ_QP, 2);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, rec);
	out = (const void *)(rec + 1);
	KUNIT_EXPECT_EQ(test, out->sq.dma, 0ULL);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(rec->flags), ERDMA_DIAG_REC_F_HIDDEN);
}

/* What has no room is left out, and the file says so and is still one */
static void small_file_is_cut_and_says_so(struct kunit *test)
{
	const struct erdma_snap_rec *rec = NULL, *last = NULL;
	size_t size;

	for (size = SZ_4K; size < SZ_64K; size += 1000) {
		make(test, 0, size);
		while ((rec = next_rec(test, rec)))
			last = rec;
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, last);
		KUNIT_EXPECT_EQ(test, le16_to_cpu(last->type), ERDMA_SNAP_END);
	}
	/* No ring of 512 entries of 32 bytes */
	make(test, 0, SZ_16K);
	KUNIT_EXPECT_EQ(test, count(test, ERDMA_SNAP_PROBLEM), 1);
}

static void unknown_qp_is_no_trouble(struct kunit *test)
{
	make(test, 3, SZ_1M);
	KUNIT_EXPECT_EQ(test, count(test, ERDMA_DIAG_REC_QP), N_QPS);
	KUNIT_EXPECT_EQ(test, count(test, ERDMA_DIAG_REC_QP_HW), 0);
}

static struct kunit_case coredump_cases[] = {
	KUNIT_CASE(file_is_complete),
	KUNIT_CASE(every_object_is_there_once),
	KUNIT_CASE(device_is_asked_only_about_a_stopped_qp),
	KUNIT_CASE(rings_of_a_stopped_qp_have_no_secrets),
	KUNIT_CASE(small_file_is_cut_and_says_so),
	KUNIT_CASE(unknown_qp_is_no_trouble),
	{}
};

struct kunit_suite erdma_coredump_suite = {
	.name = "erdma_coredump",
	.init = coredump_init,
	.exit = coredump_exit,
	.test_cases = coredump_cases,
};
