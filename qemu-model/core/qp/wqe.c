/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Send requests: from the blocks of the ring to an ErdmaReq (9.2, 9.3).
 *
 * @sqe is a private copy, so values cannot change between check and use. What
 * the reference leaves arbitrary for an opcode is not looked at.
 */
#include "core_int.h"

typedef struct Sqe {
    const uint8_t *data;
    uint32_t bytes;             /* of the blocks the header claims */
    uint64_t hdr;
} Sqe;

/* Copy @len bytes at @off out; false if the request is shorter */
static bool wqe_get(const Sqe *sqe, uint32_t off, void *dst, uint32_t len)
{
    if (off > sqe->bytes || len > sqe->bytes - off) {
        return false;
    }
    memcpy(dst, sqe->data + off, len);
    return true;
}

/* SGL or inline data at @off; their sum must be @total */
static uint8_t wqe_decode_local(const Sqe *sqe, uint32_t off, uint32_t total,
                                ErdmaReq *req)
{
    uint32_t n = ERDMA_GET(ERDMA_SQE_HDR_SGL_LEN, sqe->hdr);

    req->length = 0;
    if (sqe->hdr & ERDMA_SQE_HDR_INLINE) {
        if (n > ERDMA_MAX_INLINE || !wqe_get(sqe, off, req->data, n)) {
            return ERDMA_WC_SQE_FORMAT;
        }
        req->is_inline = true;
        req->length = n;
        return total == n ? 0 : ERDMA_WC_SQE_FORMAT;
    }
    if (n > ERDMA_MAX_SEND_SGE) {
        return ERDMA_WC_SQE_FORMAT;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct erdma_sge sge;
        ErdmaSpan *span = &req->local[req->nlocal];

        if (!wqe_get(sqe, off + i * sizeof(sge), &sge, sizeof(sge))) {
            return ERDMA_WC_SQE_FORMAT;
        }
        if (!sge.length) {
            continue;
        }
        span->va = le64toh(sge.addr);
        span->len = le32toh(sge.length);
        span->key = le32toh(sge.key);
        req->length += span->len;
        req->nlocal++;
    }
    if (req->length != total || req->length > ERDMA_LIMIT_MESSAGE) {
        return ERDMA_WC_SQE_FORMAT;
    }
    return 0;
}

static uint8_t wqe_decode_write(const Sqe *sqe, ErdmaReq *req)
{
    struct erdma_sqe_write w;
    uint8_t syndrome;

    if (!wqe_get(sqe, 0, &w, sizeof(w))) {
        return ERDMA_WC_SQE_FORMAT;
    }
    req->imm = le32toh(w.imm);
    syndrome = wqe_decode_local(sqe, sizeof(w), le32toh(w.length), req);
    req->remote.va = (uint64_t)le32toh(w.raddr_hi) << 32 | le32toh(w.raddr_lo);
    req->remote.len = req->length;
    req->remote.key = le32toh(w.rkey);
    return syndrome;
}

static uint8_t wqe_decode_send(const Sqe *sqe, ErdmaReq *req)
{
    struct erdma_sqe_send s;

    if (!wqe_get(sqe, 0, &s, sizeof(s))) {
        return ERDMA_WC_SQE_FORMAT;
    }
    req->imm = le32toh(s.inv_stag);
    return wqe_decode_local(sqe, sizeof(s), le32toh(s.length), req);
}

/* The fixed part is the local side, the SGE the remote one */
static uint8_t wqe_decode_read(const Sqe *sqe, ErdmaReq *req)
{
    struct erdma_sqe_read r;

    if (!wqe_get(sqe, 0, &r, sizeof(r))) {
        return ERDMA_WC_SQE_FORMAT;
    }
    req->imm = le32toh(r.inv_stag);
    req->length = le32toh(r.length);
    req->nlocal = req->length != 0;
    req->local[0].va = (uint64_t)le32toh(r.laddr_hi) << 32 |
                       le32toh(r.laddr_lo);
    req->local[0].len = req->length;
    req->local[0].key = le32toh(r.lkey);
    req->remote.va = le64toh(r.remote.addr);
    req->remote.len = req->length;
    req->remote.key = le32toh(r.remote.key);
    return req->length > ERDMA_LIMIT_MESSAGE ? ERDMA_WC_SQE_FORMAT : 0;
}

static uint8_t wqe_decode_atomic(const Sqe *sqe, ErdmaReq *req)
{
    struct erdma_sqe_atomic a;

    if (!wqe_get(sqe, 0, &a, sizeof(a))) {
        return ERDMA_WC_SQE_FORMAT;
    }
    req->length = sizeof(uint64_t);
    req->swap_add = le64toh(a.swap_add);
    req->compare = le64toh(a.compare);
    req->nlocal = 1;
    req->local[0].va = le64toh(a.local.addr);
    req->local[0].len = sizeof(uint64_t);
    req->local[0].key = le32toh(a.local.key);
    req->remote.va = le64toh(a.remote.addr);
    req->remote.len = sizeof(uint64_t);     /* its length is never written */
    req->remote.key = le32toh(a.remote.key);
    return le32toh(a.local.length) < sizeof(uint64_t) ?
           ERDMA_WC_SEND_BOUNDS : 0;
}

static uint8_t wqe_decode_reg_mr(const Sqe *sqe, ErdmaReq *req)
{
    struct erdma_sqe_reg_mr r;
    uint64_t page[ERDMA_INLINE_MTT_CNT] = { 0 };
    uint32_t attr;

    if (!wqe_get(sqe, 0, &r, sizeof(r))) {
        return ERDMA_WC_SQE_FORMAT;
    }
    attr = le32toh(r.attr);
    req->reg.iova = le64toh(r.iova);
    req->reg.length = le32toh(r.length);
    req->reg.stag = le32toh(r.stag);
    req->reg.rights = attr & ERDMA_SQE_REG_MR_RIGHTS;
    req->reg.kind = ERDMA_GET(ERDMA_SQE_REG_MR_KIND, attr);
    req->reg.npages = ERDMA_GET(ERDMA_SQE_REG_MR_PAGE_CNT, attr);
    if (req->reg.kind > ERDMA_REG_MR_TABLE) {
        return ERDMA_WC_SQE_FORMAT;
    }
    if (req->reg.kind == ERDMA_REG_MR_INLINE &&
        (req->reg.npages > ERDMA_INLINE_MTT_CNT ||
         !wqe_get(sqe, sizeof(r), page, req->reg.npages * sizeof(page[0])))) {
        return ERDMA_WC_SQE_FORMAT;
    }
    for (unsigned i = 0; i < ERDMA_INLINE_MTT_CNT; i++) {
        req->reg.page[i] = le64toh(page[i]);
    }
    return 0;
}

static uint8_t wqe_decode_local_inv(const Sqe *sqe, ErdmaReq *req)
{
    struct erdma_sqe_local_inv l;

    if (!wqe_get(sqe, 0, &l, sizeof(l))) {
        return ERDMA_WC_SQE_FORMAT;
    }
    req->imm = le32toh(l.stag);
    return 0;
}

uint8_t erdma_wqe_decode(const ErdmaQp *qp, uint16_t index, const uint8_t *data,
                         ErdmaReq *req)
{
    Sqe sqe = { .data = data };

    memcpy(&sqe.hdr, data, sizeof(sqe.hdr));
    sqe.hdr = le64toh(sqe.hdr);
    req->opcode = ERDMA_GET(ERDMA_SQE_HDR_OPCODE, sqe.hdr);
    req->wqebbs = ERDMA_GET(ERDMA_SQE_HDR_WQEBBS, sqe.hdr) + 1;
    req->ce = sqe.hdr & ERDMA_SQE_HDR_CE;
    req->se = sqe.hdr & ERDMA_SQE_HDR_SE;
    req->fence = sqe.hdr & ERDMA_SQE_HDR_FENCE;
    req->is_inline = false;
    req->nlocal = 0;
    req->imm = 0;
    req->length = 0;
    sqe.bytes = req->wqebbs * ERDMA_WQEBB_SIZE;
    if (req->wqebbs > ERDMA_SQE_MAX_WQEBBS ||
        req->wqebbs > erdma_ring_used16(qp->sq_pi, index)) {
        return ERDMA_WC_SQE_FORMAT;
    }
    if (ERDMA_GET(ERDMA_SQE_HDR_QPN, sqe.hdr) != qp->qpn ||
        ERDMA_GET(ERDMA_SQE_HDR_PI, sqe.hdr) !=
        ((index + req->wqebbs) & 0xffff)) {
        return ERDMA_WC_SQE_FORMAT;
    }
    switch (req->opcode) {
    case ERDMA_OP_WRITE:
    case ERDMA_OP_WRITE_IMM:
        return wqe_decode_write(&sqe, req);
    case ERDMA_OP_SEND:
    case ERDMA_OP_SEND_IMM:
    case ERDMA_OP_SEND_INV:
        return wqe_decode_send(&sqe, req);
    case ERDMA_OP_READ:
    case ERDMA_OP_READ_INV:
        return wqe_decode_read(&sqe, req);
    case ERDMA_OP_ATOMIC_CAS:
    case ERDMA_OP_ATOMIC_FAA:
        return wqe_decode_atomic(&sqe, req);
    case ERDMA_OP_REG_MR:
        return wqe_decode_reg_mr(&sqe, req);
    case ERDMA_OP_LOCAL_INV:
        return wqe_decode_local_inv(&sqe, req);
    default:
        return ERDMA_WC_SQE_FORMAT;
    }
}

uint8_t erdma_wqe_cqe_opcode(uint8_t opcode)
{
    return opcode < ERDMA_OP_COUNT ? opcode : ERDMA_OP_WRITE;
}
