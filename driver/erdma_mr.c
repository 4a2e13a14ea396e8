// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Memory regions (docs/erdma-hardware.md, sections 5.2.9, 5.2.10 and 10).
 *
 * The driver chooses the index of a region and its first key byte, which is
 * random: indices are handed out in order, and whoever guesses the key of a
 * region reaches it. Consumers of fast-registration regions change the byte.
 */
#include <linux/random.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "erdma.h"

/* IB_ACCESS_HUGETLB is a hint; optional flags may be ignored */
#define MR_ACCESS_SUPPORTED							\
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |	\
	 IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_HUGETLB | IB_ACCESS_OPTIONAL)

#define MR_FRMR_RIGHTS	(ERDMA_RIGHT_ALL & ~ERDMA_RIGHT_REMOTE_ATOMIC)

/**
 * erdma_access_to_rights - verbs access flags as the device wants them (10.5)
 * @access: IB_ACCESS_*
 *
 * Return: ERDMA_RIGHT_*; local read is always granted.
 */
u32 erdma_access_to_rights(int access)
{
	u32 rights = ERDMA_RIGHT_LOCAL_READ;

	if (access & IB_ACCESS_LOCAL_WRITE)
		rights |= ERDMA_RIGHT_LOCAL_WRITE;
	if (access & IB_ACCESS_REMOTE_READ)
		rights |= ERDMA_RIGHT_REMOTE_READ;
	if (access & IB_ACCESS_REMOTE_WRITE)
		rights |= ERDMA_RIGHT_REMOTE_WRITE;
	if (access & IB_ACCESS_REMOTE_ATOMIC)
		rights |= ERDMA_RIGHT_REMOTE_ATOMIC;
	return rights;
}

/* Index 0 is legal (6.4), but a key of 0 would look like "no key" */
static u32 mr_new_key(u32 index)
{
	/* Of a batch: getting a byte alone costs a block of the cipher each time */
	u8 byte = get_random_u32();

	if (!index && !byte)
		byte = 1;
	return FIELD_PREP(ERDMA_STAG_INDEX, index) | FIELD_PREP(ERDMA_STAG_KEY, byte);
}

/**
 * erdma_mr_rights - what a region grants at this device
 * @dev: device
 * @access: IB_ACCESS_*
 *
 * Return: ERDMA_RIGHT_*. A device without atomics is not given a right to them.
 */
u32 erdma_mr_rights(const struct erdma_dev *dev, int access)
{
	if (!(dev->attrs.flags & ERDMA_FLAG_ATOMIC))
		access &= ~IB_ACCESS_REMOTE_ATOMIC;
	return erdma_access_to_rights(access);
}

static struct erdma_mr *mr_alloc(struct erdma_dev *dev, u32 type, u32 rights)
{
	struct erdma_mr *mr;
	int index;

	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	index = erdma_objtab_alloc(&dev->mrs);
	if (index < 0) {
		kfree(mr);
		return ERR_PTR(index);
	}
	mr->index = index;
	erdma_ref_init(&mr->ref);
	mr->type = type;
	mr->rights = rights;
	mr->ibmr.lkey = mr_new_key(index);
	mr->ibmr.rkey = mr->ibmr.lkey;
	return mr;
}

static void mr_free(struct erdma_dev *dev, struct erdma_mr *mr)
{
	erdma_mtt_exit(dev, &mr->mtt);
	erdma_objtab_free(&dev->mrs, mr->index);
	kfree(mr);
}

/* The number stays taken: the device may still know the region by it */
static void mr_free_mem(struct erdma_dev *dev, void *object)
{
	struct erdma_mr *mr = object;

	erdma_mtt_exit(dev, &mr->mtt);
}

static const struct erdma_free_kind mr_free_kind = {
	.name = "MR",
	.size = sizeof(struct erdma_mr),
	.free = mr_free_mem,
};

/* The consumer of a fast-registration region changes the key byte */
static u32 mr_stag(const struct erdma_mr *mr)
{
	return FIELD_PREP(ERDMA_STAG_INDEX, mr->index) | (mr->ibmr.lkey & ERDMA_STAG_KEY);
}

/* Takes the region away from the device and frees what it cannot reach any more */
static int mr_release(struct erdma_dev *dev, struct erdma_mr *mr, struct ib_pd *ibpd)
{
	struct erdma_rec_key key = {
		.stag = mr_stag(mr),
		.pdn = pd_of(ibpd)->pdn,
		.type = mr->type,
	};
	int err;

	/* Nobody finds the region any more; its number stays taken for now */
	erdma_objtab_withdraw(&dev->mrs, mr->index);
	err = erdma_exec_dereg_mr(dev, &key);
	erdma_ref_end(&mr->ref);
	if (erdma_defer_free(dev, &mr_free_kind, mr, mr->index, err)) {
		WRITE_ONCE(pd_of(ibpd)->retained, true);
		kfree(mr);
	} else {
		mr_free(dev, mr);
	}
	return err;
}

static void mr_publish(struct erdma_dev *dev, struct erdma_mr *mr, struct ib_pd *ibpd,
		       u64 created_ns)
{
	mr->pd = pd_of(ibpd);
	mr->created_ns = created_ns;
	erdma_pd_count_mr(mr->pd, 1);
	erdma_objtab_publish(&dev->mrs, mr->index, &mr->ref);
	erdma_dbg(dev, MR, INFO, "mr %u type %u rights %#x length %llu: %u pages of %lu, level %u\n",
		  mr->index, mr->type, mr->rights, mr->range.len, mr->mtt.page_cnt,
		  BIT(mr->mtt.page_shift), mr->mtt.level);
}

/* Makes the region known to the device; on failure it is freed */
static int mr_register(struct erdma_dev *dev, struct erdma_mr *mr, struct ib_pd *ibpd,
		       u64 va, u64 len)
{
	struct erdma_mr_spec spec = {
		.index = mr->index,
		.key = mr->ibmr.lkey & ERDMA_STAG_KEY,
		.pdn = pd_of(ibpd)->pdn,
		.type = mr->type,
		.rights = mr->rights,
		.va = va,
		.len = len,
		.page_shift = mr->mtt.page_shift,
		.page_cnt = mr->mtt.page_cnt,
		.level = mr->mtt.level,
	};
	struct erdma_cmd_result res;
	int err;

	if (mr->mtt.level)
		spec.page[0] = mr->mtt.top_dma;
	else
		memcpy(spec.page, mr->mtt.inline_page, sizeof(spec.page));

	err = erdma_exec_reg_mr(dev, &spec, &res);
	if (err)
		erdma_dbg(dev, MR, INFO,
			  "no mr: type %u rights %#x length %llu, %u pages of %llu, level %u: %pe\n",
			  mr->type, mr->rights, len, mr->mtt.page_cnt,
			  BIT_ULL(mr->mtt.page_shift), mr->mtt.level, ERR_PTR(err));
	if (erdma_cmd_may_still_run(res.outcome))
		mr_release(dev, mr, ibpd);
	else if (err)
		mr_free(dev, mr);
	else
		mr_publish(dev, mr, ibpd, res.answer_ns);
	return err;
}

/* What a verb returns; counts and records it */
static struct ib_mr *mr_result(struct erdma_dev *dev, struct erdma_mr *mr, int err,
			       enum erdma_sw_stat ok, enum erdma_sw_stat failed,
			       enum erdma_diag_verb verb)
{
	erdma_stat_inc(&dev->stats, err ? failed : ok);
	if (!err)
		return &mr->ibmr;
	erdma_rec_fail(dev->rec, verb, 0, err);
	erdma_dbg(dev, MR, INFO, "no mr: %pe\n", ERR_PTR(err));
	return ERR_PTR(err);
}

/**
 * erdma_get_dma_mr - ib_device_ops.get_dma_mr: all bus addresses (10.1)
 * @ibpd: protection domain
 * @access: IB_ACCESS_*
 *
 * Context: may sleep.
 * Return: region, or ERR_PTR: -ENOMEM: also no index left; the command's.
 */
struct ib_mr *erdma_get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct erdma_dev *dev = dev_of(ibpd->device);
	struct erdma_mr *mr;
	int err;

	mr = mr_alloc(dev, ERDMA_MR_DMA, erdma_mr_rights(dev, access));
	err = PTR_ERR_OR_ZERO(mr);
	if (!err)
		err = mr_register(dev, mr, ibpd, 0, 0);
	return mr_result(dev, mr, err, ERDMA_STAT_GET_DMA_MR, ERDMA_STAT_GET_DMA_MR_FAILED,
			 ERDMA_DIAG_VERB_DMA_MR);
}

static int mr_pin(struct erdma_dev *dev, struct erdma_mr *mr, struct ib_pd *ibpd,
		  const struct erdma_user_range *range)
{
	int err = erdma_mtt_init_user(dev, &mr->mtt, range, ERDMA_MTT_MR);

	if (err) {
		mr_free(dev, mr);
		return err;
	}
	mr->range = *range;
	return mr_register(dev, mr, ibpd, range->iova, range->len);
}

static struct ib_mr *mr_reg_user(struct ib_pd *ibpd, const struct erdma_user_range *range)
{
	struct erdma_dev *dev = dev_of(ibpd->device);
	struct erdma_mr *mr = NULL;
	int err = -EINVAL;

	if (!range->len || range->len > dev->attrs.max_mr_size)
		goto out;
	err = -EOPNOTSUPP;
	if (range->access & ~MR_ACCESS_SUPPORTED)
		goto out;
	mr = mr_alloc(dev, ERDMA_MR_NORMAL, erdma_mr_rights(dev, range->access));
	err = PTR_ERR_OR_ZERO(mr);
	if (!err)
		err = mr_pin(dev, mr, ibpd, range);
out:
	return mr_result(dev, mr, err, ERDMA_STAT_REG_USER_MR, ERDMA_STAT_REG_USER_MR_FAILED,
			 ERDMA_DIAG_VERB_REG_MR);
}

/**
 * erdma_reg_user_mr - ib_device_ops.reg_user_mr
 * @ibpd: protection domain
 * @start: user address
 * @len: bytes
 * @virt: address by which peers and work requests refer to @start
 * @access: IB_ACCESS_*
 * @udata: unused
 *
 * A region of length 0 would have no pages for the device to check an access
 * against; it is refused.
 *
 * Context: may sleep, in the process that owns the memory.
 * Return: region, or ERR_PTR: -EINVAL: empty, longer than the device says it can,
 * or no page size fits; -E2BIG: more pages than the device's tables hold, without
 * FLAGS.MTT_VA 1048575; -EOPNOTSUPP: access flags the device does not know; -ENOMEM:
 * also no index left, or no contiguous memory for the table that a device without
 * FLAGS.MTT_VA needs; errors of ib_umem_get(); the command's.
 */
struct ib_mr *erdma_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 len, u64 virt,
				int access, struct ib_udata *udata)
{
	struct erdma_user_range range = {
		.start = start,
		.iova = virt,
		.len = len,
		.access = access,
	};

	return mr_reg_user(ibpd, &range);
}

/**
 * erdma_reg_user_mr_dmabuf - ib_device_ops.reg_user_mr_dmabuf: memory of another device
 * @ibpd: protection domain
 * @offset: in the dma-buf
 * @len: bytes
 * @virt: address by which peers and work requests refer to @offset
 * @fd: dma-buf
 * @access: IB_ACCESS_*
 *
 * There is no command for pages that move: the exporter must leave them where
 * they are until the region is deregistered.
 *
 * Context: may sleep, in the process that has the file.
 * Return: see erdma_reg_user_mr(); errors of ib_umem_dmabuf_get_pinned(), among
 * them -EBADF and -EINVAL: no dma-buf, or it is shorter.
 */
struct ib_mr *erdma_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 len, u64 virt, int fd,
				       int access)
{
	const struct erdma_user_range range = {
		.start = offset,
		.iova = virt,
		.len = len,
		.access = access,
		.is_dmabuf = true,
		.fd = fd,
	};

	return mr_reg_user(ibpd, &range);
}

/**
 * erdma_alloc_mr - ib_device_ops.alloc_mr: region for fast registration (10.6)
 * @ibpd: protection domain
 * @type: IB_MR_TYPE_MEM_REG
 * @max_sg: pages it can hold
 *
 * Unusable until a REG_MR work request gives it memory.
 *
 * Context: may sleep.
 * Return: region, or ERR_PTR: -EOPNOTSUPP: other type; -EINVAL: @max_sg is 0
 * or above 524288; -ENOMEM: also no index left; the command's.
 */
struct ib_mr *erdma_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_sg)
{
	struct erdma_dev *dev = dev_of(ibpd->device);
	struct erdma_mr *mr = NULL;
	int err = -EOPNOTSUPP;

	if (type != IB_MR_TYPE_MEM_REG)
		goto out;
	err = -EINVAL;
	if (!max_sg || max_sg > ERDMA_MAX_FRMR_PAGES)
		goto out;
	mr = mr_alloc(dev, ERDMA_MR_FRMR, MR_FRMR_RIGHTS);
	err = PTR_ERR_OR_ZERO(mr);
	if (err)
		goto out;
	mr->frmr_max_pages = max_sg;
	err = erdma_mtt_init_table(dev, &mr->mtt, max_sg);
	if (err)
		mr_free(dev, mr);
	else
		err = mr_register(dev, mr, ibpd, 0, 0);
out:
	return mr_result(dev, mr, err, ERDMA_STAT_ALLOC_MR, ERDMA_STAT_ALLOC_MR_FAILED,
			 ERDMA_DIAG_VERB_ALLOC_MR);
}

static int mr_set_page(struct ib_mr *ibmr, u64 page)
{
	struct erdma_mr *mr = mr_of(ibmr);

	if (mr->frmr_pages >= mr->frmr_max_pages)
		return -ENOMEM;
	erdma_mtt_set(&mr->mtt, mr->frmr_pages++, page);
	return 0;
}

/**
 * erdma_map_mr_sg - ib_device_ops.map_mr_sg: pages of the next REG_MR request
 * @ibmr: of erdma_alloc_mr(), invalid at the device
 * @sg: DMA-mapped list
 * @sg_nents: its entries
 * @sg_offset: bytes to skip; see ib_sg_to_pages()
 *
 * Context: any; serialised by the consumer.
 * Return: entries mapped; -EINVAL: other page size than that of the device's
 * region, or bad arguments.
 */
int erdma_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		    unsigned int *sg_offset)
{
	struct erdma_mr *mr = mr_of(ibmr);

	if (mr->type != ERDMA_MR_FRMR || ibmr->page_size != PAGE_SIZE)
		return -EINVAL;
	mr->frmr_pages = 0;
	return ib_sg_to_pages(ibmr, sg, sg_nents, sg_offset, mr_set_page);
}

/**
 * erdma_dereg_mr - ib_device_ops.dereg_mr
 * @ibmr: region
 * @udata: unused
 *
 * The region is gone afterwards, whatever the device answers; see
 * erdma_defer_free() for what happens to its memory then.
 *
 * Context: may sleep.
 * Return: 0.
 */
int erdma_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct erdma_dev *dev = dev_of(ibmr->device);
	struct erdma_mr *mr = mr_of(ibmr);
	u32 index = mr->index;
	int err;

	erdma_dbg(dev, MR, INFO, "mr %u deregistered\n", index);
	erdma_pd_count_mr(mr->pd, -1);
	err = mr_release(dev, mr, ibmr->pd);
	if (err) {
		erdma_stat_inc(&dev->stats, ERDMA_STAT_DEREG_MR_FAILED);
		erdma_rec_fail(dev->rec, ERDMA_DIAG_VERB_DEREG_MR, index, err);
	} else {
		erdma_stat_inc(&dev->stats, ERDMA_STAT_DEREG_MR);
	}
	return 0;
}
