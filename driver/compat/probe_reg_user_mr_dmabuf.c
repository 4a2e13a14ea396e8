// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* What is ib_device_ops.reg_user_mr_dmabuf given, if there is one? */
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>

#ifdef ERDMA_PROBE_DMABUF_NONE
/* Clashes with the function of kernels that have it */
int ib_umem_dmabuf_get_pinned;
#endif

#ifdef ERDMA_PROBE_DMABUF_UDATA
static struct ib_mr *reg(struct ib_pd *pd, u64 offset, u64 length, u64 virt, int fd, int access,
			 struct ib_udata *udata)
{
	return NULL;
}

const struct ib_device_ops probe_ops = {
	.reg_user_mr_dmabuf = reg,
};
#endif

#ifdef ERDMA_PROBE_DMABUF_BUNDLE
static struct ib_mr *reg(struct ib_pd *pd, u64 offset, u64 length, u64 virt, int fd, int access,
			 struct uverbs_attr_bundle *attrs)
{
	return NULL;
}

const struct ib_device_ops probe_ops = {
	.reg_user_mr_dmabuf = reg,
};
#endif

#ifdef ERDMA_PROBE_DMABUF_DMAH
static struct ib_mr *reg(struct ib_pd *pd, u64 offset, u64 length, u64 virt, int fd, int access,
			 struct ib_dmah *dmah, struct uverbs_attr_bundle *attrs)
{
	return NULL;
}

const struct ib_device_ops probe_ops = {
	.reg_user_mr_dmabuf = reg,
};
#endif
