// SPDX-License-Identifier: GPL-2.0-or-later
/* The system's copy, that the stock provider was built with. */
#include <rdma/erdma-abi.h>

#include "uverbs_abi.h"

const struct abi_field system_abi[] = { ABI_FIELDS(SYSTEM_S, SYSTEM_F) };
const int n_system_abi = sizeof(system_abi) / sizeof(system_abi[0]);
const int system_abi_version = ERDMA_ABI_VERSION;
