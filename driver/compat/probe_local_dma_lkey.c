// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Which flags of a device say that it has a local DMA key. */
#include <rdma/ib_verbs.h>

void probe(struct ib_device_attr *attr);

void probe(struct ib_device_attr *attr)
{
#ifdef ERDMA_PROBE_LKEY_IN_KERNEL_FLAGS
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
#endif
#ifdef ERDMA_PROBE_LKEY_IN_DEVICE_FLAGS
	attr->device_cap_flags = IB_DEVICE_LOCAL_DMA_LKEY;
#endif
}
