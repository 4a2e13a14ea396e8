// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The function that pins user memory at an address. */
#include <rdma/ib_umem.h>

struct ib_umem *probe(struct ib_device *ibdev);

struct ib_umem *probe(struct ib_device *ibdev)
{
#ifdef ERDMA_PROBE_UMEM_GET
	return ib_umem_get(ibdev, 0UL, 1, 0);
#endif
#ifdef ERDMA_PROBE_UMEM_GET_VA
	return ib_umem_get_va(ibdev, 0UL, 1, 0);
#endif
}
