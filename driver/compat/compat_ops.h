/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Entries of struct ib_device_ops whose arguments differ between kernels. */
#ifndef ERDMA_COMPAT_OPS_H
#define ERDMA_COMPAT_OPS_H

#include <rdma/uverbs_ioctl.h>

#include "../erdma.h"
#include "compat_qp.h"
#include "compat_rdma.h"

#ifdef ERDMA_COMPAT_CREATE_CQ_BUNDLE
/**
 * erdma_create_cq_op - ib_device_ops.create_cq of newer kernels
 * @ibcq: to fill
 * @attr: attributes
 * @attrs: bundle of the command, NULL for kernel consumers
 *
 * Return: see erdma_create_cq().
 */
static inline int erdma_create_cq_op(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
				     struct uverbs_attr_bundle *attrs)
{
	return erdma_create_cq(ibcq, attr, attrs ? &attrs->driver_udata : NULL);
}
#else
#define erdma_create_cq_op erdma_create_cq
#endif

#ifdef ERDMA_COMPAT_REG_USER_MR_DMAH
/**
 * erdma_reg_user_mr_op - ib_device_ops.reg_user_mr of newer kernels
 * @ibpd: PD
 * @start: user address
 * @len: bytes
 * @virt: address by which work requests refer to it
 * @access: IB_ACCESS_*
 * @dmah: DMA hints, which the device has no use for
 * @udata: driver data
 *
 * Return: see erdma_reg_user_mr(); -EOPNOTSUPP: with a DMA handle.
 */
static inline struct ib_mr *erdma_reg_user_mr_op(struct ib_pd *ibpd, u64 start, u64 len, u64 virt,
						 int access, struct ib_dmah *dmah,
						 struct ib_udata *udata)
{
	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	return erdma_reg_user_mr(ibpd, start, len, virt, access, udata);
}
#else
#define erdma_reg_user_mr_op erdma_reg_user_mr
#endif

/* Line of struct ib_device_ops, where there is such an entry */
#ifdef ERDMA_COMPAT_DMABUF_NONE
#define ERDMA_REG_USER_MR_DMABUF_OP
#else
#define ERDMA_REG_USER_MR_DMABUF_OP .reg_user_mr_dmabuf = erdma_reg_user_mr_dmabuf_op,

/**
 * erdma_reg_user_mr_dmabuf_op - ib_device_ops.reg_user_mr_dmabuf
 * @ibpd: PD
 * @offset: in the dma-buf
 * @len: bytes
 * @virt: address by which work requests refer to it
 * @fd: dma-buf
 * @access: IB_ACCESS_*
 * @dmah: newest kernels: DMA hints, which the device has no use for
 * @attrs: driver data, there is none
 *
 * Return: see erdma_reg_user_mr_dmabuf(); -EOPNOTSUPP: with a DMA handle.
 */
static inline struct ib_mr *erdma_reg_user_mr_dmabuf_op(struct ib_pd *ibpd, u64 offset, u64 len,
							u64 virt, int fd, int access,
#if defined(ERDMA_COMPAT_DMABUF_DMAH)
							struct ib_dmah *dmah,
							struct uverbs_attr_bundle *attrs)
#elif defined(ERDMA_COMPAT_DMABUF_BUNDLE)
							struct uverbs_attr_bundle *attrs)
#else
							struct ib_udata *attrs)
#endif
{
#ifdef ERDMA_COMPAT_DMABUF_DMAH
	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
#endif
	return erdma_reg_user_mr_dmabuf(ibpd, offset, len, virt, fd, access);
}
#endif

/* Lines of struct ib_device_ops */
#ifdef ERDMA_COMPAT_HW_STATS_DESCS
#define ERDMA_ALLOC_HW_STATS_OPS				\
	.alloc_hw_device_stats = erdma_alloc_hw_device_stats,	\
	.alloc_hw_port_stats = erdma_alloc_hw_port_stats,
#else
#define ERDMA_ALLOC_HW_STATS_OPS .alloc_hw_stats = erdma_alloc_hw_stats_op,

/**
 * erdma_alloc_hw_stats_op - ib_device_ops.alloc_hw_stats
 * @ibdev: device
 * @port: 0 for counters of the device
 *
 * Return: see erdma_alloc_hw_port_stats().
 */
static inline struct rdma_hw_stats *erdma_alloc_hw_stats_op(struct ib_device *ibdev, u8 port)
{
	return port ? erdma_alloc_hw_port_stats(ibdev, port) : erdma_alloc_hw_device_stats(ibdev);
}
#endif

#ifdef ERDMA_COMPAT_PORT_NUM_U32
#define erdma_get_hw_stats_op erdma_get_hw_stats
#define erdma_get_port_immutable_op erdma_get_port_immutable
#define erdma_process_mad_op erdma_process_mad
#define erdma_query_gid_op erdma_query_gid
#define erdma_query_port_op erdma_query_port
#else
static inline int erdma_get_hw_stats_op(struct ib_device *ibdev, struct rdma_hw_stats *stats,
					u8 port, int index)
{
	return erdma_get_hw_stats(ibdev, stats, port, index);
}

static inline int erdma_get_port_immutable_op(struct ib_device *ibdev, u8 port,
					      struct ib_port_immutable *immutable)
{
	return erdma_get_port_immutable(ibdev, port, immutable);
}

static inline int erdma_process_mad_op(struct ib_device *ibdev, int flags, u8 port,
				       const struct ib_wc *in_wc, const struct ib_grh *in_grh,
				       const struct ib_mad *in, struct ib_mad *out,
				       size_t *out_size, u16 *out_pkey_index)
{
	return erdma_process_mad(ibdev, flags, port, in_wc, in_grh, in, out, out_size,
				 out_pkey_index);
}

static inline int erdma_query_gid_op(struct ib_device *ibdev, u8 port, int index,
				     union ib_gid *gid)
{
	return erdma_query_gid(ibdev, port, index, gid);
}

static inline int erdma_query_port_op(struct ib_device *ibdev, u8 port, struct ib_port_attr *attr)
{
	return erdma_query_port(ibdev, port, attr);
}
#endif

#endif
