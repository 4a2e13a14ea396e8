// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Who allocates QPs, and frees them: the core, or the driver. */
#include <rdma/ib_verbs.h>

#ifdef ERDMA_PROBE_QP_OF_CORE
static int create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	return 0;
}
#endif

#ifdef ERDMA_PROBE_QP_OF_DRIVER
static struct ib_qp *create_qp(struct ib_pd *ibpd, struct ib_qp_init_attr *attr,
			       struct ib_udata *udata)
{
	return NULL;
}
#endif

const struct ib_device_ops probe_ops = {
	.create_qp = create_qp,
};
