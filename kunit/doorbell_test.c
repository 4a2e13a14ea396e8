// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Doorbell pages of user contexts: which answers of a device are taken, who gets pages */
#include <linux/bitmap.h>

#include "fake_dev.h"
#include "suites.h"

static int doorbell_test_init(struct kunit *test)
{
	int err = fake_init(test);

	if (!err)
		erdma_cmdq_start_events(&fake_of(test)->dev->cmdq);
	return err;
}

/* What the device answers to ALLOC_DB */
static int alloc_pages_of(struct fake_dev *f, struct erdma_ucontext *ctx, u64 sdb, u64 rdb, u64 cdb)
{
	f->dev->attrs.flags |= ERDMA_FLAG_EXT_DB;
	f->dev->mmio.len = SZ_1M;
	f->default_answer.resp[0] = FIELD_PREP(ERDMA_ALLOC_DB_SDB, sdb) |
				    FIELD_PREP(ERDMA_ALLOC_DB_RDB, rdb) |
				    FIELD_PREP(ERDMA_ALLOC_DB_CDB, cdb);
	return erdma_ucontext_alloc_db(f->dev, ctx);
}

static void doorbell_pages_of_another_context_are_refused(struct kunit *test)
{
	static const u8 given[][3] = {
		{ 0x90, 0x91, 0x92 }, { 0xa0, 0x90, 0xa1 }, { 0xa0, 0xa1, 0x91 },
		{ 0x92, 0xa0, 0xa1 }, { 0xa0, 0xa0, 0x90 },
	};
	struct erdma_ucontext *first = fake_context(test), *second = fake_context(test);
	struct fake_dev *f = fake_of(test);
	int i;

	KUNIT_ASSERT_EQ(test, alloc_pages_of(f, first, 0x90, 0x91, 0x92), 0);
	for (i = 0; i < ARRAY_SIZE(given); i++) {
		KUNIT_EXPECT_EQ(test, alloc_pages_of(f, second, given[i][0], given[i][1],
						     given[i][2]), -EIO);
		KUNIT_EXPECT_FALSE(test, second->db.valid);
	}
	/* FREE_DB would take them from the first one */
	KUNIT_EXPECT_EQ(test, f->total, 1 + ARRAY_SIZE(given));
	/* Nothing is left of the refused ones; of one context they may be the same */
	KUNIT_EXPECT_EQ(test, alloc_pages_of(f, second, 0xa0, 0xa1, 0xa1), 0);
	KUNIT_EXPECT_TRUE(test, fake_gives_pages_back(f, first));
	KUNIT_EXPECT_TRUE(test, fake_gives_pages_back(f, second));
	KUNIT_EXPECT_TRUE(test, bitmap_empty(f->dev->db_used, U16_MAX + 1));
}

/* The device may have them, or it may go on taking doorbells there for the first one's queues */
static void doorbell_pages_that_were_not_given_back_are_refused(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct erdma_ucontext *ctx = fake_context(test);

	KUNIT_ASSERT_EQ(test, alloc_pages_of(f, ctx, 0x90, 0x91, 0x92), 0);
	f->default_answer.syndrome = ERDMA_CMD_EINVAL;
	KUNIT_EXPECT_TRUE(test, fake_gives_pages_back(f, ctx));
	f->default_answer.syndrome = 0;
	KUNIT_EXPECT_EQ(test, alloc_pages_of(f, fake_context(test), 0x90, 0x91, 0x92), -EIO);

	ctx = fake_context(test);
	KUNIT_ASSERT_EQ(test, alloc_pages_of(f, ctx, 0xa0, 0xa1, 0xa2), 0);
	ctx->retained = true;
	KUNIT_EXPECT_FALSE(test, fake_gives_pages_back(f, ctx));
	KUNIT_EXPECT_EQ(test, alloc_pages_of(f, fake_context(test), 0xa0, 0xa1, 0xa2), -EIO);
}

/* Answers of which a page is below those of contexts, or beyond BAR0 */
static const struct bad_pages {
	u16 sdb, rdb, cdb;
	u32 valid;
} bad_pages[] = {
	{ 0xffff, 0xb1, 0xb2, ERDMA_EXT_DB_RQ | ERDMA_EXT_DB_CQ },
	{ 0xb0, 0x100, 0xb2, ERDMA_EXT_DB_SQ | ERDMA_EXT_DB_CQ },
	{ 0xb0, 0xb1, 0x7f, ERDMA_EXT_DB_SQ | ERDMA_EXT_DB_RQ },
	{ 0, 0, 0xff, ERDMA_EXT_DB_CQ },
	{ 0xb0, 0xb0, 0, ERDMA_EXT_DB_SQ | ERDMA_EXT_DB_RQ },
};

/* FREE_DB names the pages that can be, and no others */
static void expect_freed(struct kunit *test, const struct bad_pages *bad)
{
	const struct erdma_cmd_ext_db *req = fake_last_slot(fake_of(test));

	KUNIT_EXPECT_EQ(test, FIELD_GET(ERDMA_CMD_HDR_OPCODE, le64_to_cpu(req->hdr)),
			(u64)ERDMA_CMD_FREE_DB);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(req->mask), bad->valid);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(req->sdb),
			bad->valid & ERDMA_EXT_DB_SQ ? bad->sdb : 0);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(req->rdb),
			bad->valid & ERDMA_EXT_DB_RQ ? bad->rdb : 0);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(req->cdb),
			bad->valid & ERDMA_EXT_DB_CQ ? bad->cdb : 0);
}

/* The device would keep them until it is reset */
static void valid_doorbell_pages_beside_a_wrong_one_are_given_back(struct kunit *test)
{
	struct erdma_ucontext *ctx = fake_context(test);
	struct fake_dev *f = fake_of(test);
	const struct bad_pages *bad;

	for (bad = bad_pages; bad < bad_pages + ARRAY_SIZE(bad_pages); bad++) {
		u32 sent = f->total;

		KUNIT_EXPECT_EQ(test, alloc_pages_of(f, ctx, bad->sdb, bad->rdb, bad->cdb), -EIO);
		KUNIT_EXPECT_FALSE(test, ctx->db.valid);
		KUNIT_EXPECT_EQ(test, f->total, sent + 2);
		expect_freed(test, bad);
	}
	KUNIT_EXPECT_TRUE(test, bitmap_empty(f->dev->db_used, U16_MAX + 1));
	/* There is nothing to give back */
	KUNIT_EXPECT_EQ(test, alloc_pages_of(f, ctx, 0, 0x7f, 0xffff), -EIO);
	KUNIT_EXPECT_EQ(test, f->total, 2 * ARRAY_SIZE(bad_pages) + 1);
}

static void refuse_free_db(struct fake_dev *f, const struct fake_cmd *cmd, struct fake_answer *a)
{
	u64 hdr = le64_to_cpup((__le64 *)cmd->slot);

	if (FIELD_GET(ERDMA_CMD_HDR_OPCODE, hdr) == ERDMA_CMD_FREE_DB)
		a->syndrome = ERDMA_CMD_EINVAL;
}

/* As those of a context are: the device says that it has not got them back */
static void valid_doorbell_pages_that_are_not_taken_back_stay_taken(struct kunit *test)
{
	struct erdma_ucontext *ctx = fake_context(test);
	struct fake_dev *f = fake_of(test);

	f->answer = refuse_free_db;
	KUNIT_EXPECT_EQ(test, alloc_pages_of(f, ctx, 0xffff, 0xb1, 0xb2), -EIO);
	KUNIT_EXPECT_TRUE(test, test_bit(0xb1, f->dev->db_used));
	f->answer = NULL;
	KUNIT_EXPECT_EQ(test, alloc_pages_of(f, ctx, 0xa0, 0xb1, 0xa2), -EIO);
	KUNIT_EXPECT_EQ(test, alloc_pages_of(f, ctx, 0xa0, 0xa1, 0xa2), 0);
	KUNIT_EXPECT_TRUE(test, fake_gives_pages_back(f, ctx));
	KUNIT_EXPECT_TRUE(test, test_bit(0xb1, f->dev->db_used));
}

/* FREE_DB would take it from that one, whose queues would not be rung any more */
static void doorbell_page_of_another_context_beside_a_wrong_one_stays(struct kunit *test)
{
	struct erdma_ucontext *first = fake_context(test), *second = fake_context(test);
	struct fake_dev *f = fake_of(test);

	KUNIT_ASSERT_EQ(test, alloc_pages_of(f, first, 0x90, 0x91, 0x92), 0);
	KUNIT_EXPECT_EQ(test, alloc_pages_of(f, second, 0xa0, 0x91, 0xffff), -EIO);
	KUNIT_EXPECT_EQ(test, f->total, 2);
	KUNIT_EXPECT_TRUE(test, test_bit(0x91, f->dev->db_used));
	KUNIT_EXPECT_FALSE(test, test_bit(0xa0, f->dev->db_used));
	KUNIT_EXPECT_TRUE(test, fake_gives_pages_back(f, first));
	KUNIT_EXPECT_TRUE(test, bitmap_empty(f->dev->db_used, U16_MAX + 1));
}

static void expect_pages(struct kunit *test, const struct erdma_ucontext *ctx, u16 first)
{
	KUNIT_EXPECT_TRUE(test, ctx->db.valid);
	KUNIT_EXPECT_EQ(test, ctx->db.sdb, first);
	KUNIT_EXPECT_EQ(test, ctx->db.rdb, first + 1);
	KUNIT_EXPECT_EQ(test, ctx->db.cdb, first + 2);
}

static void doorbell_pages_of_one_context_are_for_the_next(struct kunit *test)
{
	struct erdma_ucontext *ctx[4];
	struct fake_dev *f = fake_of(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(ctx); i++)
		ctx[i] = fake_context(test);
	KUNIT_ASSERT_EQ(test, alloc_pages_of(f, ctx[0], 0x90, 0x91, 0x92), 0);
	erdma_dealloc_ucontext(&ctx[0]->ibucontext);
	KUNIT_EXPECT_EQ(test, f->total, 1);
	KUNIT_EXPECT_EQ(test, alloc_pages_of(f, ctx[1], 0xa0, 0xa1, 0xa2), 0);
	KUNIT_EXPECT_EQ(test, f->total, 1);
	expect_pages(test, ctx[1], 0x90);

	/* They are for one; the one after it asks the device */
	KUNIT_EXPECT_EQ(test, alloc_pages_of(f, ctx[2], 0xa0, 0xa1, 0xa2), 0);
	KUNIT_EXPECT_EQ(test, f->total, 2);
	expect_pages(test, ctx[2], 0xa0);

	/* One set waits for the next context, the other goes back */
	erdma_dealloc_ucontext(&ctx[1]->ibucontext);
	KUNIT_EXPECT_EQ(test, f->total, 2);
	erdma_dealloc_ucontext(&ctx[2]->ibucontext);
	KUNIT_EXPECT_EQ(test, f->total, 3);
	KUNIT_EXPECT_TRUE(test, test_bit(0x90, f->dev->db_used));
	KUNIT_EXPECT_FALSE(test, test_bit(0xa0, f->dev->db_used));

	/* The device must not give the first set to somebody else */
	f->dev->db_spare.valid = false;
	KUNIT_EXPECT_EQ(test, alloc_pages_of(f, ctx[3], 0xb0, 0x91, 0xb1), -EIO);
}

/* The device goes on taking doorbells there for a queue of the one that ended */
static void doorbell_pages_of_a_retained_context_are_for_nobody(struct kunit *test)
{
	struct erdma_ucontext *ctx = fake_context(test);
	struct fake_dev *f = fake_of(test);

	KUNIT_ASSERT_EQ(test, alloc_pages_of(f, ctx, 0x90, 0x91, 0x92), 0);
	ctx->retained = true;
	erdma_dealloc_ucontext(&ctx->ibucontext);
	KUNIT_EXPECT_FALSE(test, f->dev->db_spare.valid);
	KUNIT_EXPECT_EQ(test, f->total, 1);
}

static void lost_device_has_no_doorbell_pages_for_a_context(struct kunit *test)
{
	struct erdma_ucontext *first = fake_context(test), *second = fake_context(test);
	struct fake_dev *f = fake_of(test);

	KUNIT_ASSERT_EQ(test, alloc_pages_of(f, first, 0x90, 0x91, 0x92), 0);
	erdma_dealloc_ucontext(&first->ibucontext);
	f->dev->lost = ERDMA_LOST_PCI_RESET;
	f->default_answer.syndrome = ERDMA_CMD_EINVAL;
	KUNIT_EXPECT_EQ(test, alloc_pages_of(f, second, 0xa0, 0xa1, 0xa2), -EIO);
	KUNIT_EXPECT_FALSE(test, second->db.valid);
	f->dev->lost = ERDMA_LOST_NOT;
}

/* ---- entries for mmap(), which are part of the context ---------------------- */

static unsigned long pgoff_of(struct erdma_mmap_entry *entry)
{
	return rdma_user_mmap_get_offset(&entry->rdma) >> PAGE_SHIFT;
}

/* The core warns of what is left */
static void context_takes_its_pages_with_it(struct kunit *test)
{
	struct erdma_ucontext *ctx = fake_context(test);
	struct ib_ucontext *ib = &ctx->ibucontext;

	KUNIT_EXPECT_FALSE(test, xa_empty(&ib->mmap_xa));
	erdma_dealloc_ucontext(ib);
	KUNIT_EXPECT_TRUE(test, xa_empty(&ib->mmap_xa));
	KUNIT_EXPECT_EQ(test, kref_read(&ctx->sq_page.rdma.ref), 0);
	KUNIT_EXPECT_EQ(test, kref_read(&ctx->rq_page.rdma.ref), 0);
	KUNIT_EXPECT_EQ(test, kref_read(&ctx->cq_page.rdma.ref), 0);
}

static void page_can_be_mapped_until_it_is_removed(struct kunit *test)
{
	struct erdma_ucontext *ctx = fake_context(test);
	struct ib_ucontext *ib = &ctx->ibucontext;
	struct erdma_mmap_entry *page = &ctx->rq_page;
	struct rdma_user_mmap_entry *held;
	int i;

	/* Mapped, unmapped and mapped again: it is the same one, with one reference of ours */
	for (i = 0; i < 3; i++) {
		held = rdma_user_mmap_entry_get_pgoff(ib, pgoff_of(page));
		KUNIT_ASSERT_PTR_EQ(test, held, &page->rdma);
		KUNIT_EXPECT_EQ(test, kref_read(&held->ref), 2);
		if (i < 2)
			rdma_user_mmap_entry_put(held);
	}
	/* A mapping that is still there has its entry, which nobody else can get */
	erdma_dealloc_ucontext(ib);
	KUNIT_EXPECT_EQ(test, kref_read(&held->ref), 1);
	KUNIT_EXPECT_PTR_EQ(test, xa_load(&ib->mmap_xa, pgoff_of(page)), (void *)held);
	KUNIT_EXPECT_FALSE(test, rdma_user_mmap_entry_get_pgoff(ib, pgoff_of(page)));
	/* The last reference takes it out, once */
	rdma_user_mmap_entry_put(held);
	KUNIT_EXPECT_TRUE(test, xa_empty(&ib->mmap_xa));
}

static struct kunit_case doorbell_cases[] = {
	KUNIT_CASE(doorbell_pages_of_another_context_are_refused),
	KUNIT_CASE(doorbell_pages_that_were_not_given_back_are_refused),
	KUNIT_CASE(valid_doorbell_pages_beside_a_wrong_one_are_given_back),
	KUNIT_CASE(valid_doorbell_pages_that_are_not_taken_back_stay_taken),
	KUNIT_CASE(doorbell_page_of_another_context_beside_a_wrong_one_stays),
	KUNIT_CASE(doorbell_pages_of_one_context_are_for_the_next),
	KUNIT_CASE(doorbell_pages_of_a_retained_context_are_for_nobody),
	KUNIT_CASE(lost_device_has_no_doorbell_pages_for_a_context),
	KUNIT_CASE(context_takes_its_pages_with_it),
	KUNIT_CASE(page_can_be_mapped_until_it_is_removed),
	{}
};

struct kunit_suite erdma_doorbell_suite = {
	.name = "erdma_doorbell",
	.init = doorbell_test_init,
	.exit = fake_exit,
	.test_cases = doorbell_cases,
};
