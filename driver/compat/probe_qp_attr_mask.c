// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Has the mask of the attributes that all devices have a name? */
#include <rdma/ib_verbs.h>

#ifdef ERDMA_PROBE_QP_ATTR_MASK_NAMED
const int probe = IB_QP_ATTR_STANDARD_BITS;
#endif

#ifdef ERDMA_PROBE_QP_ATTR_MASK_UNNAMED
/* Clashes with the one of kernels that have it */
int IB_QP_ATTR_STANDARD_BITS;
#endif
