// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Translation tables: from byte offsets to bus addresses, as the device reads
 * them (docs/erdma-hardware.md, sections 5.2.2, 5.2.4 and 10.4).
 *
 * Few pages are handed over in the command itself. More pages go into one
 * contiguous array, or, for regions on a device with FLAGS.MTT_VA, into a tree
 * of 4 KiB tables. Tables are coherent DMA memory: the device may read them
 * whenever it likes, through an IOMMU or a bounce-free window if there is one.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include <rdma/iter.h>

#include "erdma.h"

#define MTT_TABLE_SIZE		4096	/* MTT page code 0 */
#define MTT_TABLE_ENTRIES	(MTT_TABLE_SIZE / sizeof(__le64))
#define MTT_MAX_LEVEL1		FIELD_MAX(ERDMA_REG_MR_PAGE_CNT)

/**
 * struct erdma_mtt_table - one table
 * @va: entries
 * @dma: bus address
 * @size: bytes
 */
struct erdma_mtt_table {
	__le64 *va;
	dma_addr_t dma;
	size_t size;
};

/**
 * struct mtt_format - what the device accepts for one kind of object
 * @page_sizes: bit n: pages of 2^n bytes
 * @max_inline: pages that fit into the command
 * @tree: tables may be scattered, if the device can do it at all
 */
struct mtt_format {
	u64 page_sizes;
	u32 max_inline;
	bool tree;
};

static const struct mtt_format mtt_formats[] = {
	[ERDMA_MTT_CQ] = { GENMASK_ULL(25, 12), 1, false },
	[ERDMA_MTT_QP] = { GENMASK_ULL(19, 12), ERDMA_INLINE_MTT_CNT, false },
	[ERDMA_MTT_MR] = { ERDMA_PAGE_SIZE_CAP, ERDMA_INLINE_MTT_CNT, true },
};

static void mtt_free_tables(struct erdma_dev *dev, struct erdma_mtt *mtt)
{
	u32 i;

	for (i = 0; i < mtt->n_tables && mtt->tables[i].va; i++)
		dma_free_coherent(&dev->pdev->dev, mtt->tables[i].size, mtt->tables[i].va,
				  mtt->tables[i].dma);
	kvfree(mtt->tables);
	mtt->tables = NULL;
	mtt->n_tables = 0;
}

/* @count zeroed tables of @size bytes */
static int mtt_alloc_tables(struct erdma_dev *dev, struct erdma_mtt *mtt, u32 count, size_t size)
{
	u32 i;

	mtt->tables = kvcalloc(count, sizeof(*mtt->tables), GFP_KERNEL);
	if (!mtt->tables)
		return -ENOMEM;
	mtt->n_tables = count;

	for (i = 0; i < count; i++) {
		struct erdma_mtt_table *table = &mtt->tables[i];

		table->size = size;
		table->va = dma_alloc_coherent(&dev->pdev->dev, size, &table->dma,
					       GFP_KERNEL | __GFP_NOWARN);
		if (!table->va) {
			mtt_free_tables(dev, mtt);
			return -ENOMEM;
		}
		cond_resched();
	}
	mtt->top_dma = mtt->tables[0].dma;
	return 0;
}

/* Let @parents tables from number @first on point to @children tables behind them */
static void mtt_link(struct erdma_mtt *mtt, u32 first, u32 parents, u32 children)
{
	u32 i;

	for (i = 0; i < children; i++) {
		struct erdma_mtt_table *parent = &mtt->tables[first + i / MTT_TABLE_ENTRIES];

		parent->va[i % MTT_TABLE_ENTRIES] =
			cpu_to_le64(mtt->tables[first + parents + i].dma);
	}
}

/* One contiguous table */
static int mtt_alloc_array(struct erdma_dev *dev, struct erdma_mtt *mtt)
{
	if (mtt->page_cnt > MTT_MAX_LEVEL1)
		return -ENOMEM;
	mtt->level = 1;
	return mtt_alloc_tables(dev, mtt, 1, array_size(mtt->page_cnt, sizeof(__le64)));
}

/* Tables of one page each: top, pointers in between if needed, leaves */
static int mtt_alloc_tree(struct erdma_dev *dev, struct erdma_mtt *mtt)
{
	u32 leaves = DIV_ROUND_UP(mtt->page_cnt, (u32)MTT_TABLE_ENTRIES);
	u32 middle = DIV_ROUND_UP(leaves, (u32)MTT_TABLE_ENTRIES);
	int err;

	if (middle > MTT_TABLE_ENTRIES)
		return -EINVAL;
	if (leaves == 1) {
		mtt->level = 1;
		return mtt_alloc_tables(dev, mtt, 1, MTT_TABLE_SIZE);
	}
	if (middle == 1) {
		mtt->level = 2;
		err = mtt_alloc_tables(dev, mtt, 1 + leaves, MTT_TABLE_SIZE);
		if (!err)
			mtt_link(mtt, 0, 1, leaves);
		return err;
	}
	mtt->level = 3;
	err = mtt_alloc_tables(dev, mtt, 1 + middle + leaves, MTT_TABLE_SIZE);
	if (err)
		return err;
	mtt_link(mtt, 0, 1, middle);
	mtt_link(mtt, 1, middle, leaves);
	return 0;
}

static __le64 *mtt_find_entry(const struct erdma_mtt *mtt, u32 i)
{
	u32 leaves;

	if (mtt->n_tables == 1)
		return &mtt->tables[0].va[i];
	leaves = DIV_ROUND_UP(mtt->page_cnt, (u32)MTT_TABLE_ENTRIES);
	return &mtt->tables[mtt->n_tables - leaves + i / MTT_TABLE_ENTRIES]
			.va[i % MTT_TABLE_ENTRIES];
}

/**
 * erdma_mtt_set - store one entry
 * @mtt: translation
 * @i: entry, below erdma_mtt.page_cnt
 * @page: bus address
 *
 * Context: any; the caller serialises.
 */
void erdma_mtt_set(struct erdma_mtt *mtt, u32 i, u64 page)
{
	if (mtt->level)
		*mtt_find_entry(mtt, i) = cpu_to_le64(page);
	else
		mtt->inline_page[i] = page;
}

/**
 * erdma_mtt_entry - fetch one entry
 * @mtt: translation
 * @i: entry, below erdma_mtt.page_cnt
 *
 * Context: any.
 * Return: bus address.
 */
u64 erdma_mtt_entry(const struct erdma_mtt *mtt, u32 i)
{
	return mtt->level ? le64_to_cpu(*mtt_find_entry(mtt, i)) : mtt->inline_page[i];
}

static void mtt_fill(struct erdma_mtt *mtt)
{
	struct ib_block_iter iter;
	u32 i = 0;

	rdma_umem_for_each_dma_block(mtt->umem, &iter, BIT_ULL(mtt->page_shift)) {
		if (WARN_ON_ONCE(i >= mtt->page_cnt))
			return;
		erdma_mtt_set(mtt, i++, rdma_block_iter_dma_address(&iter));
		if (i % MTT_TABLE_ENTRIES == 0)
			cond_resched();
	}
}

static int mtt_layout(struct erdma_dev *dev, struct erdma_mtt *mtt,
		      const struct erdma_user_range *range, const struct mtt_format *format)
{
	unsigned long page_size;
	size_t count;

	page_size = ib_umem_find_best_pgsz(mtt->umem, format->page_sizes, range->iova);
	if (!page_size)
		return -EINVAL;
	count = ib_umem_num_dma_blocks(mtt->umem, page_size);
	if (!count || count > U32_MAX)
		return -EINVAL;

	mtt->page_shift = __ffs(page_size);
	mtt->page_cnt = count;
	mtt->first_off = range->iova & (page_size - 1);
	mtt->level = 0;
	if (count <= format->max_inline)
		return 0;
	if (format->tree && dev->attrs.flags & ERDMA_FLAG_MTT_VA)
		return mtt_alloc_tree(dev, mtt);
	return mtt_alloc_array(dev, mtt);
}

/**
 * erdma_mtt_init_user - pin user memory and describe it to the device
 * @dev: device
 * @mtt: to initialise
 * @range: memory
 * @kind: what for
 *
 * Context: may sleep, in the process that owns the memory.
 * Return: 0; -EINVAL: the range is empty or wraps, or no page size fits both
 * its addresses; -ENOMEM: also above RLIMIT_MEMLOCK; other errors of
 * ib_umem_get().
 */
int erdma_mtt_init_user(struct erdma_dev *dev, struct erdma_mtt *mtt,
			const struct erdma_user_range *range, enum erdma_mtt_kind kind)
{
	u64 end;
	int err;

	memset(mtt, 0, sizeof(*mtt));
	if (!range->len || check_add_overflow(range->start, range->len, &end) ||
	    check_add_overflow(range->iova, range->len, &end))
		return -EINVAL;

	mtt->umem = ib_umem_get(&dev->ibdev, range->start, range->len, range->access);
	if (IS_ERR(mtt->umem)) {
		err = PTR_ERR(mtt->umem);
		mtt->umem = NULL;
		return err;
	}
	err = mtt_layout(dev, mtt, range, &mtt_formats[kind]);
	if (err) {
		erdma_mtt_exit(dev, mtt);
		return err;
	}
	mtt_fill(mtt);
	return 0;
}

/**
 * erdma_mtt_init_table - an empty table, to be filled with erdma_mtt_set()
 * @dev: device
 * @mtt: to initialise
 * @page_cnt: entries, pages of PAGE_SIZE
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM.
 */
int erdma_mtt_init_table(struct erdma_dev *dev, struct erdma_mtt *mtt, u32 page_cnt)
{
	memset(mtt, 0, sizeof(*mtt));
	mtt->page_shift = PAGE_SHIFT;
	mtt->page_cnt = page_cnt;
	return mtt_alloc_array(dev, mtt);
}

/**
 * erdma_mtt_exit - free tables and unpin memory
 * @dev: device; it does not read the tables any more
 * @mtt: initialised, or zero
 *
 * Context: may sleep.
 */
void erdma_mtt_exit(struct erdma_dev *dev, struct erdma_mtt *mtt)
{
	mtt_free_tables(dev, mtt);
	ib_umem_release(mtt->umem);
	mtt->umem = NULL;
}
