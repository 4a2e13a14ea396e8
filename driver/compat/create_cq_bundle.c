// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Compiles if ib_device_ops.create_cq is given the whole bundle of attributes. */
#include <rdma/ib_verbs.h>

static int create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		     struct uverbs_attr_bundle *attrs)
{
	return 0;
}

const struct ib_device_ops probe = {
	.create_cq = create_cq,
};
