// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Is there a reason of lockdown that is about keys? */
#include <linux/security.h>

#ifdef ERDMA_PROBE_LOCKDOWN_KEYS
const enum lockdown_reason probe = LOCKDOWN_XFRM_SECRET;
#endif

#ifdef ERDMA_PROBE_LOCKDOWN_NO_KEYS
/* Clashes with the one of kernels that have it */
int LOCKDOWN_XFRM_SECRET;
#endif
