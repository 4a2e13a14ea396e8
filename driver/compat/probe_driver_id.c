// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Does the kernel's list of RDMA drivers have this one? */
#include <rdma/ib_user_ioctl_verbs.h>

#ifdef ERDMA_PROBE_DRIVER_ID_KNOWN
const enum rdma_driver_id probe = RDMA_DRIVER_ERDMA;
#endif

#ifdef ERDMA_PROBE_DRIVER_ID_UNKNOWN
/* Clashes with the one of kernels that have it */
int RDMA_DRIVER_ERDMA;
#endif
