/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Elastic RDMA Adapter: registers, commands, queue entries.
 *
 * Facts only. Section numbers refer to docs/erdma-hardware.md. Everything the
 * host writes for the device is little endian; completion entries are big
 * endian per 32-bit word. Bits that are not named here are reserved: written
 * as zero, never looked at.
 *
 * The driver uses FIELD_PREP()/FIELD_GET() on these masks; everybody else uses
 * ERDMA_PREP()/ERDMA_GET() of erdma_field.h.
 */
#ifndef ERDMA_HW_H
#define ERDMA_HW_H

#include "erdma_reg.h"
#include "erdma_queue.h"
#include "erdma_cmd.h"

#endif /* ERDMA_HW_H */
