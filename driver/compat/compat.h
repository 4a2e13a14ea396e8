/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What differs between kernels. Each ERDMA_COMPAT_NAME is set by Kbuild when
 * compat/name.c compiles: it is the kernel's headers that are asked, not a
 * version number, which says nothing about a distribution's kernel.
 */
#ifndef ERDMA_COMPAT_H
#define ERDMA_COMPAT_H

#include <rdma/uverbs_ioctl.h>

#include "../erdma.h"

#ifdef ERDMA_COMPAT_DEVNODE_CONST
#define erdma_devnode_const const
#else
#define erdma_devnode_const
#endif

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

#endif
