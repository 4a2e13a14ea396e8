/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* What differs between the RDMA cores of kernels; see compat.h. */
#ifndef ERDMA_COMPAT_RDMA_H
#define ERDMA_COMPAT_RDMA_H

#include <linux/build_bug.h>

#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>
/* Older kernels have its contents in the first two */
#ifdef ERDMA_COMPAT_ITER_HEADER
#include <rdma/iter.h>
#endif

/* Who reports changes of the port's state to consumers: the core, or the driver */
#ifdef ERDMA_COMPAT_PORT_EVENT_CORE
#define ERDMA_CORE_REPORTS_PORT true
#else
#define ERDMA_CORE_REPORTS_PORT false
#endif

/* By this number libibverbs finds the provider */
#define ERDMA_RDMA_DRIVER_ID 19
#ifdef ERDMA_COMPAT_DRIVER_ID_KNOWN
static_assert(RDMA_DRIVER_ERDMA == ERDMA_RDMA_DRIVER_ID);
#endif

#ifdef ERDMA_COMPAT_QP_ATTR_MASK_UNNAMED
#define IB_QP_ATTR_STANDARD_BITS GENMASK(20, 0)
#endif

#ifdef ERDMA_COMPAT_HW_STATS_NAMES
/* These kernels have an array of names: an array of this is one */
struct rdma_stat_desc {
	const char *name;
};

static_assert(sizeof(struct rdma_stat_desc) == sizeof(const char *));
#endif

/**
 * erdma_alloc_hw_stats - rdma_alloc_hw_stats_struct()
 * @descs: descriptors, which have names only
 * @count: of them
 * @lifespan: milliseconds for which values are not read again
 *
 * Return: freed by the core; NULL: no memory.
 */
static inline struct rdma_hw_stats *erdma_alloc_hw_stats(const struct rdma_stat_desc *descs,
							 int count, unsigned long lifespan)
{
#ifdef ERDMA_COMPAT_HW_STATS_NAMES
	return rdma_alloc_hw_stats_struct(&descs->name, count, lifespan);
#else
	return rdma_alloc_hw_stats_struct(descs, count, lifespan);
#endif
}

/**
 * erdma_set_local_dma_lkey - say that a device has a local DMA key
 * @attr: of the device; its device_cap_flags are set
 */
static inline void erdma_set_local_dma_lkey(struct ib_device_attr *attr)
{
#ifdef ERDMA_COMPAT_LKEY_IN_KERNEL_FLAGS
	attr->kernel_cap_flags |= IBK_LOCAL_DMA_LKEY;
#else
	attr->device_cap_flags |= IB_DEVICE_LOCAL_DMA_LKEY;
#endif
}

/**
 * erdma_iw_afonly - does a listener refuse other address families?
 * @id: of the listener
 *
 * Return: true if it does; false, too, where the IW CM does not say it.
 */
static inline bool erdma_iw_afonly(const struct iw_cm_id *id)
{
#ifdef ERDMA_COMPAT_IW_AFONLY
	return id->afonly;
#else
	return false;
#endif
}

/**
 * erdma_umem_get - pin memory of the calling process
 * @ibdev: device
 * @addr: user address
 * @size: bytes
 * @access: IB_ACCESS_*
 *
 * Context: may sleep.
 * Return: the memory, or ERR_PTR() of the core's errors.
 */
static inline struct ib_umem *erdma_umem_get(struct ib_device *ibdev, unsigned long addr,
					     size_t size, int access)
{
#ifdef ERDMA_COMPAT_UMEM_GET_VA
	return ib_umem_get_va(ibdev, addr, size, access);
#else
	return ib_umem_get(ibdev, addr, size, access);
#endif
}

/**
 * erdma_umem_dmabuf_get - pin part of a dma-buf
 * @ibdev: device
 * @offset: in the dma-buf
 * @size: bytes
 * @fd: dma-buf
 * @access: IB_ACCESS_*
 *
 * Context: may sleep, in the process that has the file.
 * Return: the memory, or ERR_PTR() of the core's errors, -EOPNOTSUPP: this
 * kernel has no such thing.
 */
static inline struct ib_umem *erdma_umem_dmabuf_get(struct ib_device *ibdev, unsigned long offset,
						    size_t size, int fd, int access)
{
#ifdef ERDMA_COMPAT_DMABUF_NONE
	return ERR_PTR(-EOPNOTSUPP);
#else
	struct ib_umem_dmabuf *buf = ib_umem_dmabuf_get_pinned(ibdev, offset, size, fd, access);

	return IS_ERR(buf) ? ERR_CAST(buf) : &buf->umem;
#endif
}

/**
 * erdma_umem_sgl - scatter list of pinned memory
 * @umem: memory
 *
 * Return: its first entry, mapped for DMA.
 */
static inline struct scatterlist *erdma_umem_sgl(const struct ib_umem *umem)
{
#ifdef ERDMA_COMPAT_UMEM_SG_APPEND
	return umem->sgt_append.sgt.sgl;
#else
	return umem->sg_head.sgl;
#endif
}

/**
 * erdma_umem_nents - entries of erdma_umem_sgl() that are mapped for DMA
 * @umem: memory
 *
 * Return: their number.
 */
static inline unsigned int erdma_umem_nents(const struct ib_umem *umem)
{
#ifdef ERDMA_COMPAT_UMEM_SG_APPEND
	return umem->sgt_append.sgt.nents;
#else
	return umem->nmap;
#endif
}

#endif
