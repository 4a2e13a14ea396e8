// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Where pinned memory has its scatter list, and how many entries of it are mapped. */
#include <rdma/ib_umem.h>

struct scatterlist *probe(struct ib_umem *umem, unsigned int *nents);

struct scatterlist *probe(struct ib_umem *umem, unsigned int *nents)
{
#ifdef ERDMA_PROBE_UMEM_SG_APPEND
	*nents = umem->sgt_append.sgt.nents;
	return umem->sgt_append.sgt.sgl;
#endif
#ifdef ERDMA_PROBE_UMEM_SG_HEAD
	*nents = umem->nmap;
	return umem->sg_head.sgl;
#endif
}
