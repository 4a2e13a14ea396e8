// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Does the IW CM say that a listener is not for other address families? */
#include <rdma/iw_cm.h>

#ifdef ERDMA_PROBE_IW_AFONLY
bool probe(struct iw_cm_id *id);

bool probe(struct iw_cm_id *id)
{
	return id->afonly;
}
#endif

#ifdef ERDMA_PROBE_IW_NO_AFONLY
/* Clashes with the member of kernels that have it (-fms-extensions) */
struct probe {
	struct iw_cm_id;
	bool afonly;
};
#endif
