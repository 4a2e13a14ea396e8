// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The type of port numbers. */
#include <rdma/ib_verbs.h>

#ifdef ERDMA_PROBE_PORT_NUM_U32
static int query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr)
{
	return 0;
}
#endif

#ifdef ERDMA_PROBE_PORT_NUM_U8
static int query_port(struct ib_device *ibdev, u8 port, struct ib_port_attr *attr)
{
	return 0;
}
#endif

const struct ib_device_ops probe_ops = {
	.query_port = query_port,
};
