/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of memory regions, protection domains, user contexts and connections to facts. */
#ifndef EADM_DECODE_MEM_H
#define EADM_DECODE_MEM_H

#include "decode.h"
#include "schema_mem.h"

void decode_mr_row(struct obj *o, const struct erdma_diag_mr *mr, uint64_t now_ns);
void decode_mr_hidden(struct obj *o);
void decode_pd_row(struct obj *o, const struct erdma_diag_pd *pd, uint64_t now_ns);
void decode_ctx_row(struct obj *o, const struct erdma_diag_ctx *ctx, uint64_t now_ns);
void decode_cm_row(struct obj *o, const struct erdma_diag_cm_id *cm, uint64_t now_ns);

#endif /* EADM_DECODE_MEM_H */
