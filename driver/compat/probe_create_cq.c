// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* What ib_device_ops.create_cq is given: driver data, or all attributes of the command. */
#include <rdma/ib_verbs.h>

#ifdef ERDMA_PROBE_CREATE_CQ_UDATA
static int create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		     struct ib_udata *udata)
{
	return 0;
}
#endif

#ifdef ERDMA_PROBE_CREATE_CQ_BUNDLE
static int create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		     struct uverbs_attr_bundle *attrs)
{
	return 0;
}
#endif

const struct ib_device_ops probe_ops = {
	.create_cq = create_cq,
};
