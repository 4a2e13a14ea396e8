// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Does the core report changes of a port's state, from what its interface does? */
#include <rdma/ib_verbs.h>

#ifdef ERDMA_PROBE_PORT_EVENT_CORE
void *const probe = ib_dispatch_port_state_event;
#endif

#ifdef ERDMA_PROBE_PORT_EVENT_DRIVER
/* Clashes with the one of kernels that have it */
int ib_dispatch_port_state_event;
#endif
