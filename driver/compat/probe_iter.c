// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Where are the iterators over blocks of pinned memory? */
#ifdef ERDMA_PROBE_ITER_HEADER
#include <rdma/iter.h>
#endif

#ifdef ERDMA_PROBE_ITER_IN_UMEM
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>

#ifndef rdma_umem_for_each_dma_block
#error "not here"
#endif
#endif
