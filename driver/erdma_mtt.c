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
#include "compat/compat_rdma.h"
#include "erdma.h"

#define MTT_TABLE_SIZE		4096	/* MTT page code 0 */
#define MTT_TABLE_ENTRIES	(MTT_TABLE_SIZE / sizeof(__le64))
#define MTT_MAX_LEVEL1		FIELD_MAX(ERDMA_REG_MR_PAGE_CNT)
#define MTT_MAX_LEVEL3		(MTT_TABLE_ENTRIES * MTT_TABLE_ENTRIES * MTT_TABLE_ENTRIES)

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

/* Objects are copied when their free is deferred: nothing points into them */
static struct erdma_mtt_table *mtt_tables(const struct erdma_mtt *mtt)
{
	return mtt->n_tables == 1 ? (struct erdma_mtt_table *)&mtt->only_table : mtt->tables;
}

/* Small tables share pages */
static bool mtt_is_small(size_t size)
{
	return size <= ERDMA_RESP_BUF_SIZE;
}

static int mtt_alloc_table(struct erdma_dev *dev, struct erdma_mtt_table *table, size_t size)
{
	table->size = size;
	if (mtt_is_small(size))
		table->va = dma_pool_zalloc(dev->response_pool, GFP_KERNEL | __GFP_NOWARN,
					    &table->dma);
	else
		table->va = dma_alloc_coherent(&dev->pdev->dev, size, &table->dma,
					       GFP_KERNEL | __GFP_NOWARN);
	return table->va ? 0 : -ENOMEM;
}

static void mtt_free_table(struct erdma_dev *dev, const struct erdma_mtt_table *table)
{
	if (mtt_is_small(table->size))
		dma_pool_free(dev->response_pool, table->va, table->dma);
	else
		dma_free_coherent(&dev->pdev->dev, table->size, table->va, table->dma);
}

/**
 * erdma_mtt_size - what the tables of a translation take
 * @mtt: translation
 * @tables: their number
 * @bytes: of memory
 *
 * Context: any.
 */
void erdma_mtt_size(const struct erdma_mtt *mtt, u32 *tables, u64 *bytes)
{
	const struct erdma_mtt_table *table = mtt_tables(mtt);
	u32 i;

	*tables = mtt->n_tables;
	*bytes = 0;
	for (i = 0; i < mtt->n_tables; i++)
		*bytes += table[i].size;
}

static void mtt_free_tables(struct erdma_dev *dev, struct erdma_mtt *mtt)
{
	struct erdma_mtt_table *tables = mtt_tables(mtt);
	u32 i;

	for (i = 0; i < mtt->n_tables && tables[i].va; i++)
		mtt_free_table(dev, &tables[i]);
	if (mtt->n_tables > 1)
		kvfree(mtt->tables);
	mtt->tables = NULL;
	mtt->n_tables = 0;
}

/* @count zeroed tables of @size bytes */
static int mtt_alloc_tables(struct erdma_dev *dev, struct erdma_mtt *mtt, u32 count, size_t size)
{
	struct erdma_mtt_table *tables;
	u32 i;

	if (count > 1) {
		mtt->tables = kvcalloc(count, sizeof(*mtt->tables), GFP_KERNEL);
		if (!mtt->tables)
			return -ENOMEM;
	}
	mtt->n_tables = count;
	tables = mtt_tables(mtt);

	for (i = 0; i < count; i++) {
		if (mtt_alloc_table(dev, &tables[i], size)) {
			mtt_free_tables(dev, mtt);
			return -ENOMEM;
		}
		cond_resched();
	}
	mtt->top_dma = tables[0].dma;
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

static int mtt_too_many(struct erdma_dev *dev, const struct erdma_mtt *mtt, u32 most)
{
	erdma_dbg(dev, MR, INFO, "%u pages of %llu bytes, tables of this device hold %u\n",
		  mtt->page_cnt, BIT_ULL(mtt->page_shift), most);
	return -E2BIG;
}

/* One contiguous table; the page allocator has none of more than some MiB */
static int mtt_alloc_array(struct erdma_dev *dev, struct erdma_mtt *mtt)
{
	size_t size = array_size(mtt->page_cnt, sizeof(__le64));
	int err;

	if (mtt->page_cnt > MTT_MAX_LEVEL1)
		return mtt_too_many(dev, mtt, MTT_MAX_LEVEL1);
	mtt->level = 1;
	err = mtt_alloc_tables(dev, mtt, 1, size);
	if (err)
		erdma_dbg(dev, MR, INFO, "%u pages of %llu bytes, no table of %zu bytes: %pe\n",
			  mtt->page_cnt, BIT_ULL(mtt->page_shift), size, ERR_PTR(err));
	return err;
}

/**
 * erdma_mtt_tree_level - how many tables lead to a page (10.4)
 * @page_cnt: pages, at least 1
 *
 * Return: 1 to 3, tables of 4 KiB each; 0: more pages than three levels hold.
 */
u32 erdma_mtt_tree_level(u32 page_cnt)
{
	if (page_cnt <= MTT_TABLE_ENTRIES)
		return 1;
	if (page_cnt <= MTT_TABLE_ENTRIES * MTT_TABLE_ENTRIES)
		return 2;
	return page_cnt <= MTT_MAX_LEVEL3 ? 3 : 0;
}

/* Tables of one page each: top, pointers in between if needed, leaves */
static int mtt_alloc_tree(struct erdma_dev *dev, struct erdma_mtt *mtt)
{
	u32 leaves = DIV_ROUND_UP(mtt->page_cnt, (u32)MTT_TABLE_ENTRIES);
	u32 middle = DIV_ROUND_UP(leaves, (u32)MTT_TABLE_ENTRIES);
	int err;

	mtt->level = erdma_mtt_tree_level(mtt->page_cnt);
	if (!mtt->level)
		return mtt_too_many(dev, mtt, MTT_MAX_LEVEL3);
	if (mtt->level == 1)
		return mtt_alloc_tables(dev, mtt, 1, MTT_TABLE_SIZE);
	if (mtt->level == 2) {
		err = mtt_alloc_tables(dev, mtt, 1 + leaves, MTT_TABLE_SIZE);
		if (!err)
			mtt_link(mtt, 0, 1, leaves);
		return err;
	}
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
		return &mtt->only_table.va[i];
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

/**
 * struct mtt_cursor - where the next entry goes
 * @mtt: to fill
 * @entry: place of entry @i, unless a table begins with it
 * @i: its number
 */
struct mtt_cursor {
	struct erdma_mtt *mtt;
	__le64 *entry;
	u32 i;
};

/* Entries of one table are neighbours: only the first is looked for. False: no room. */
static __always_inline bool mtt_append(struct mtt_cursor *c, u64 page)
{
	struct erdma_mtt *mtt = c->mtt;

	if (c->i >= mtt->page_cnt)
		return false;
	if (!mtt->level) {
		mtt->inline_page[c->i++] = page;
		return true;
	}
	if (c->i % MTT_TABLE_ENTRIES == 0) {
		cond_resched();
		c->entry = mtt_find_entry(mtt, c->i);
	}
	*c->entry++ = cpu_to_le64(page);
	c->i++;
	return true;
}

/*
 * Pages of PAGE_SIZE from page number @first on: each entry of the scatter list is a run
 * of whole ones.
 */
static void mtt_fill_pages(struct mtt_cursor *cursor, struct ib_umem *umem, u64 first)
{
	struct scatterlist *sg;
	u64 page, end, pages;
	u32 i;

	for_each_sg(erdma_umem_sgl(umem), sg, erdma_umem_nents(umem), i) {
		page = ALIGN_DOWN(sg_dma_address(sg), (u64)PAGE_SIZE);
		end = sg_dma_address(sg) + sg_dma_len(sg);
		if (unlikely(first)) {
			pages = min_t(u64, first, PHYS_PFN(PAGE_ALIGN(end) - page));
			page += PFN_PHYS(pages);
			first -= pages;
		}
		for (; page < end; page += PAGE_SIZE)
			if (!mtt_append(cursor, page))
				return;
	}
}

static void mtt_fill_blocks(struct mtt_cursor *cursor, struct ib_umem *umem)
{
	struct ib_block_iter iter;

	rdma_umem_for_each_dma_block(umem, &iter, BIT_ULL(cursor->mtt->page_shift))
		if (!mtt_append(cursor, rdma_block_iter_dma_address(&iter)))
			return;
}

/*
 * From page number @first of @umem on, which is of PAGE_SIZE unless it is 0. An exporter of
 * dma-bufs may divide its memory anywhere, not only between pages.
 */
static void mtt_fill(struct erdma_mtt *mtt, struct ib_umem *umem, u64 first, bool is_dmabuf)
{
	struct mtt_cursor cursor = { .mtt = mtt };

	if (mtt->page_shift == PAGE_SHIFT && !is_dmabuf)
		mtt_fill_pages(&cursor, umem, first);
	else
		mtt_fill_blocks(&cursor, umem);
	WARN_ON_ONCE(cursor.i != mtt->page_cnt);
}

/*
 * Is it clear at once that pages of PAGE_SIZE are the largest? They are if there is only
 * one, or if the memory breaks where no two of them make a larger one. Of memory of single
 * pages one of the first two is such a place; other memory has few entries.
 */
static bool mtt_wants_small_pages(struct ib_umem *umem, u64 iova)
{
	struct scatterlist *sg = erdma_umem_sgl(umem);
	unsigned int i, n = min(erdma_umem_nents(umem), 3U);
	u64 va = ALIGN_DOWN(iova, (u64)PAGE_SIZE);

	if (offset_in_page(umem->address) != offset_in_page(iova))
		return false;
	if (offset_in_page(iova) + umem->length <= PAGE_SIZE)
		return true;
	for (i = 1; i < n; i++, sg = sg_next(sg)) {
		va += sg_dma_len(sg);
		if (va & PAGE_SIZE)
			return true;
	}
	return false;
}

/**
 * erdma_mtt_find_page_size - the largest pages that pinned memory is made of
 * @umem: memory
 * @page_sizes: of the device, a bit each
 * @iova: address by which work requests refer to it
 * @is_dmabuf: an exporter made its scatter list, whose entries need not be whole pages
 *
 * Context: any.
 * Return: bytes; 0: none fits.
 */
unsigned long erdma_mtt_find_page_size(struct ib_umem *umem, u64 page_sizes, u64 iova,
				       bool is_dmabuf)
{
	if (page_sizes & PAGE_SIZE && !is_dmabuf && mtt_wants_small_pages(umem, iova))
		return PAGE_SIZE;
	return ib_umem_find_best_pgsz(umem, page_sizes, iova);
}

/* Pages of @page_size for @len bytes from @start on, whose low bits say where in the first */
static int mtt_layout(struct erdma_dev *dev, struct erdma_mtt *mtt, u64 start, u64 len,
		      unsigned long page_size, const struct mtt_format *format)
{
	size_t count;

	count = (ALIGN(start + len, page_size) - ALIGN_DOWN(start, page_size)) >> __ffs(page_size);
	if (!count)
		return -EINVAL;
	if (count > U32_MAX)
		return -E2BIG;

	mtt->page_shift = __ffs(page_size);
	mtt->page_cnt = count;
	mtt->first_off = start & (page_size - 1);
	mtt->level = 0;
	if (count <= format->max_inline)
		return 0;
	if (format->tree && dev->attrs.flags & ERDMA_FLAG_MTT_VA)
		return mtt_alloc_tree(dev, mtt);
	return mtt_alloc_array(dev, mtt);
}

/* The pages of a range, which erdma_mtt_exit() releases */
static struct ib_umem *mtt_pin(struct erdma_dev *dev, const struct erdma_user_range *range)
{
	if (range->is_dmabuf)
		return erdma_umem_dmabuf_get(&dev->ibdev, range->start, range->len, range->fd,
					     range->access);
	return erdma_umem_get(&dev->ibdev, range->start, range->len, range->access);
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
 * its addresses; -E2BIG: more pages than the device's tables hold; -ENOMEM:
 * also above RLIMIT_MEMLOCK; other errors of ib_umem_get() and
 * ib_umem_dmabuf_get_pinned().
 */
int erdma_mtt_init_user(struct erdma_dev *dev, struct erdma_mtt *mtt,
			const struct erdma_user_range *range, enum erdma_mtt_kind kind)
{
	const struct mtt_format *format = &mtt_formats[kind];
	unsigned long page_size;
	u64 end;
	int err;

	memset(mtt, 0, sizeof(*mtt));
	if (!range->len || check_add_overflow(range->start, range->len, &end) ||
	    check_add_overflow(range->iova, range->len, &end))
		return -EINVAL;

	mtt->umem = mtt_pin(dev, range);
	if (IS_ERR(mtt->umem)) {
		err = PTR_ERR(mtt->umem);
		mtt->umem = NULL;
		return err;
	}
	err = -EINVAL;
	page_size = erdma_mtt_find_page_size(mtt->umem, format->page_sizes, range->iova,
					     range->is_dmabuf);
	if (page_size)
		err = mtt_layout(dev, mtt, range->iova, range->len, page_size, format);
	if (err) {
		erdma_mtt_exit(dev, mtt);
		return err;
	}
	mtt_fill(mtt, mtt->umem, 0, range->is_dmabuf);
	return 0;
}

/**
 * erdma_mtt_init_part - describe a part of pinned user memory to the device
 * @dev: device
 * @mtt: to initialise; does not own @umem
 * @umem: memory, to be released after erdma_mtt_exit()
 * @offset: of the part in @umem
 * @len: its bytes, at least 1
 * @kind: what for; with pages of PAGE_SIZE
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: not within @umem, or pages of PAGE_SIZE are not for @kind;
 * -E2BIG: more pages than the device's tables hold; -ENOMEM.
 */
int erdma_mtt_init_part(struct erdma_dev *dev, struct erdma_mtt *mtt, struct ib_umem *umem,
			size_t offset, size_t len, enum erdma_mtt_kind kind)
{
	const struct mtt_format *format = &mtt_formats[kind];
	u64 start = ib_umem_offset(umem) + (u64)offset;
	int err;

	memset(mtt, 0, sizeof(*mtt));
	if (!(format->page_sizes & PAGE_SIZE) || !len || offset > umem->length ||
	    len > umem->length - offset)
		return -EINVAL;
	err = mtt_layout(dev, mtt, start, len, PAGE_SIZE, format);
	if (!err)
		mtt_fill(mtt, umem, PHYS_PFN(start), false);
	return err;
}

/**
 * erdma_mtt_init_table - an empty table, to be filled with erdma_mtt_set()
 * @dev: device
 * @mtt: to initialise
 * @page_cnt: entries, pages of PAGE_SIZE
 *
 * Context: may sleep.
 * Return: 0; -E2BIG; -ENOMEM.
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
