// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Is ib_device_ops.reg_user_mr given a DMA handle (TLP hints of the caller)? */
#include <rdma/ib_verbs.h>

#ifdef ERDMA_PROBE_REG_USER_MR_PLAIN
static struct ib_mr *reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt, int access,
				 struct ib_udata *udata)
{
	return NULL;
}
#endif

#ifdef ERDMA_PROBE_REG_USER_MR_DMAH
static struct ib_mr *reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt, int access,
				 struct ib_dmah *dmah, struct ib_udata *udata)
{
	return NULL;
}
#endif

const struct ib_device_ops probe_ops = {
	.reg_user_mr = reg_user_mr,
};
