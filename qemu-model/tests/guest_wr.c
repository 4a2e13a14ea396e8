/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work requests and the usual fixture. */
#include <stdlib.h>

#include "guest.h"

/* ---- rings ---- */

static void *ring_entry(FakeHost *h, const uint64_t *page, QueueKind kind,
                        uint32_t depth, uint16_t index)
{
    uint64_t off = (uint64_t)erdma_ring_slot(index, depth) * 32;
    uint64_t addr = kind == QUEUE_KERNEL ? page[0] + off :
                    page[off / 4096] + off % 4096;

    return fake_ptr(h, addr, 32);
}

void *qp_block(Qp *qp, uint16_t index)
{
    return ring_entry(qp->card->h, qp->sq_page, qp->kind, qp->sq_depth, index);
}

void *qp_rqe(Qp *qp, uint16_t index)
{
    return ring_entry(qp->card->h, qp->rq_page, qp->kind, qp->rq_depth, index);
}

uint64_t sq_db_value(const Qp *qp, uint16_t pi)
{
    return ERDMA_PREP(ERDMA_SQE_HDR_QPN, (uint64_t)qp->qpn) | pi;
}

/* The bits between are uninitialised memory of the provider */
uint64_t rq_db_value(const Qp *qp, uint16_t pi)
{
    return ERDMA_PREP(ERDMA_RQ_DB_QPN, (uint64_t)qp->qpn) |
           (qp->kind == QUEUE_KERNEL ? 0 : 0xdead0000) | pi;
}

void qp_ring(Qp *qp)
{
    card_write64(qp->card, qp->sq_db, sq_db_value(qp, qp->sq_pi));
}

void qp_ring_recv(Qp *qp)
{
    card_write64(qp->card, qp->rq_db, rq_db_value(qp, qp->rq_pi));
}

/* ---- building ---- */

static unsigned put_local(uint8_t *wqe, unsigned off, const Wr *wr,
                          uint32_t *total)
{
    *total = wr->length_delta;
    if (wr->is_inline) {
        memcpy(wqe + off, wr->data, wr->data_len);
        *total += wr->data_len;
        return off + wr->data_len;
    }
    for (unsigned i = 0; i < wr->nsge; i++) {
        struct erdma_sge sge = {
            .addr = htole64(wr->sge[i].addr),
            .length = htole32(wr->sge[i].len),
            .key = htole32(wr->sge[i].key),
        };

        memcpy(wqe + off + i * sizeof(sge), &sge, sizeof(sge));
        *total += wr->sge[i].len;
    }
    return off + wr->nsge * sizeof(struct erdma_sge);
}

static unsigned put_write(uint8_t *wqe, const Wr *wr)
{
    struct erdma_sqe_write *w = (void *)wqe;
    uint32_t total;
    unsigned len = put_local(wqe, sizeof(*w), wr, &total);

    if (wr->opcode == ERDMA_OP_WRITE_IMM) {
        memcpy(&w->imm, &wr->imm, 4);
    }
    w->length = htole32(total);
    w->rkey = htole32(wr->rkey);
    w->raddr_lo = htole32(wr->raddr);
    w->raddr_hi = htole32(wr->raddr >> 32);
    return len;
}

static unsigned put_send(uint8_t *wqe, const Wr *wr)
{
    struct erdma_sqe_send *s = (void *)wqe;
    uint32_t total;
    unsigned len = put_local(wqe, sizeof(*s), wr, &total);

    if (wr->opcode != ERDMA_OP_SEND) {
        memcpy(&s->imm, &wr->imm, 4);
    }
    s->length = htole32(total);
    return len;
}

static unsigned put_read(uint8_t *wqe, const Wr *wr)
{
    struct erdma_sqe_read *r = (void *)wqe;

    if (wr->opcode == ERDMA_OP_READ_INV) {
        memcpy(&r->inv_stag, &wr->imm, 4);
    }
    r->length = htole32(wr->sge[0].len);
    r->lkey = htole32(wr->sge[0].key);
    r->laddr_lo = htole32(wr->sge[0].addr);
    r->laddr_hi = htole32(wr->sge[0].addr >> 32);
    r->remote.addr = htole64(wr->raddr);
    r->remote.length = r->length;
    r->remote.key = htole32(wr->rkey);
    return sizeof(*r);
}

/* The remote length stays garbage, as no software writes it */
static unsigned put_atomic(uint8_t *wqe, const Wr *wr)
{
    struct erdma_sqe_atomic *a = (void *)wqe;

    a->swap_add = htole64(wr->swap_add);
    if (wr->opcode == ERDMA_OP_ATOMIC_CAS) {
        a->compare = htole64(wr->compare);
    }
    a->remote.addr = htole64(wr->raddr);
    a->remote.key = htole32(wr->rkey);
    a->local.addr = htole64(wr->sge[0].addr);
    a->local.length = htole32(wr->sge[0].len);
    a->local.key = htole32(wr->sge[0].key);
    return sizeof(*a);
}

static unsigned put_reg_mr(uint8_t *wqe, const Wr *wr)
{
    struct erdma_sqe_reg_mr *r = (void *)wqe;

    r->iova = htole64(wr->raddr);
    r->length = htole32(wr->sge[0].len);
    r->stag = htole32(wr->rkey);
    r->attr = htole32(ERDMA_PREP(ERDMA_SQE_REG_MR_PAGE_CNT, wr->npages) |
                      ERDMA_PREP(ERDMA_SQE_REG_MR_KIND, wr->table) |
                      (wr->rights & ERDMA_SQE_REG_MR_RIGHTS));
    for (uint32_t i = 0; !wr->table && i < wr->npages && i < 4; i++) {
        uint64_t page = htole64(wr->page[i]);

        memcpy(wqe + sizeof(*r) + i * 8, &page, 8);
    }
    return sizeof(*r) + (wr->table ? 0 : wr->npages * 8);
}

static unsigned put_body(uint8_t *wqe, const Wr *wr)
{
    switch (wr->opcode) {
    case ERDMA_OP_WRITE:
    case ERDMA_OP_WRITE_IMM:
        return put_write(wqe, wr);
    case ERDMA_OP_READ:
    case ERDMA_OP_READ_INV:
        return put_read(wqe, wr);
    case ERDMA_OP_ATOMIC_CAS:
    case ERDMA_OP_ATOMIC_FAA:
        return put_atomic(wqe, wr);
    case ERDMA_OP_REG_MR:
        return put_reg_mr(wqe, wr);
    case ERDMA_OP_LOCAL_INV:
        ((struct erdma_sqe_local_inv *)(void *)wqe)->stag = htole32(wr->rkey);
        return sizeof(struct erdma_sqe_local_inv);
    default:
        return put_send(wqe, wr);
    }
}

static bool has_sgl(const Wr *wr)
{
    return wr->opcode == ERDMA_OP_WRITE || wr->opcode == ERDMA_OP_WRITE_IMM ||
           wr->opcode == ERDMA_OP_SEND || wr->opcode == ERDMA_OP_SEND_IMM ||
           wr->opcode == ERDMA_OP_SEND_INV;
}

uint16_t qp_post(Qp *qp, const Wr *wr)
{
    uint16_t index = qp->sq_pi;
    uint8_t wqe[256] __attribute__((aligned(8)));
    unsigned blocks;
    uint64_t hdr;

    memset(wqe, qp->card->garbage, sizeof(wqe));
    blocks = (put_body(wqe, wr) + 31) / 32 + wr->blocks_delta;
    qp->sq_pi += blocks;
    hdr = ERDMA_PREP(ERDMA_SQE_HDR_PI, (uint64_t)qp->sq_pi) |
          (wr->unsignaled ? 0 : ERDMA_SQE_HDR_CE) |
          (wr->solicited ? ERDMA_SQE_HDR_SE : 0) |
          (wr->fence ? ERDMA_SQE_HDR_FENCE : 0) |
          (wr->is_inline ? ERDMA_SQE_HDR_INLINE : 0) |
          ERDMA_PREP(ERDMA_SQE_HDR_OPCODE, (uint64_t)wr->opcode) |
          ERDMA_PREP(ERDMA_SQE_HDR_QPN, (uint64_t)qp->qpn) |
          ERDMA_PREP(ERDMA_SQE_HDR_WQEBBS, (uint64_t)(blocks - 1)) |
          ERDMA_PREP(ERDMA_SQE_HDR_SGL_LEN, (uint64_t)
                     (!has_sgl(wr) ? 0 : wr->is_inline ? wr->data_len :
                      wr->nsge));
    hdr = htole64(hdr);
    memcpy(wqe, &hdr, 8);
    for (unsigned i = 0; i < blocks; i++) {
        memcpy(qp_block(qp, index + i), wqe + i * 32, 32);
    }
    return index;
}

uint16_t qp_send(Qp *qp, const Wr *wr)
{
    uint16_t index = qp_post(qp, wr);

    qp_ring(qp);
    return index;
}

void qp_post_recv(Qp *qp, uint64_t addr, uint32_t len, uint32_t key)
{
    struct erdma_rqe rqe;

    memset(&rqe, qp->card->garbage, sizeof(rqe));
    rqe.qe_idx = htole16(qp->rq_pi + 1);
    rqe.qpn = htole32(qp->qpn);
    rqe.length = htole32(len);
    if (len) {
        rqe.addr = htole64(addr);
        rqe.stag = htole32(key);
    }
    memcpy(qp_rqe(qp, qp->rq_pi), &rqe, sizeof(rqe));
    qp->rq_pi++;
}

void qp_recv(Qp *qp, uint64_t addr, uint32_t len, uint32_t key)
{
    qp_post_recv(qp, addr, len, key);
    qp_ring_recv(qp);
}

/* ---- fixture ---- */

static Fixture *fixture_new_mode(unsigned cards, QueueKind kind, uint64_t size,
                                 void (*tweak)(ErdmaConfig *cfg), WireMode mode)
{
    Fixture *s = calloc(1, sizeof(*s));

    hosts_init_wired(&s->hosts, cards, cards, tweak, mode);
    s->size = size;
    for (unsigned i = 0; i < cards; i++) {
        card_up(&s->hosts.card[i], 4, 2);
    }
    s->a = &s->hosts.card[0];
    s->b = &s->hosts.card[cards - 1];
    cq_init(&s->acq, s->a, 1024, 1);
    cq_init(&s->bcq, s->b, 1024, 2);
    qp_init(&s->aqp, s->a, &s->acq, kind);
    qp_init(&s->bqp, s->b, &s->bcq, kind);
    s->abuf = fake_alloc(s->a->h, size);
    s->bbuf = fake_alloc(s->b->h, size);
    s->akey = mr_reg(s->a, s->abuf, s->abuf, size, ALL_RIGHTS);
    s->bkey = mr_reg(s->b, s->bbuf, s->bbuf, size, ALL_RIGHTS);
    pattern(fixture_a(s, 0), size, 1);
    return s;
}

Fixture *fixture_new_idle(unsigned cards, QueueKind kind, uint64_t size,
                          void (*tweak)(ErdmaConfig *cfg))
{
    return fixture_new_mode(cards, kind, size, tweak, fake_wire_mode);
}

Fixture *fixture_new_wired(WireMode mode, uint64_t size, bool connected,
                           void (*tweak)(ErdmaConfig *cfg))
{
    Fixture *s = fixture_new_mode(2, QUEUE_KERNEL, size, tweak, mode);

    if (connected) {
        qp_connect(&s->aqp, &s->bqp);
        hosts_run(&s->hosts);
    }
    return s;
}

Fixture *fixture_new_cfg(unsigned cards, QueueKind kind, uint64_t size,
                         void (*tweak)(ErdmaConfig *cfg))
{
    Fixture *s = fixture_new_idle(cards, kind, size, tweak);

    qp_connect(&s->aqp, &s->bqp);
    hosts_run(&s->hosts);
    return s;
}

Fixture *fixture_new(unsigned cards, QueueKind kind, uint64_t size)
{
    return fixture_new_cfg(cards, kind, size, NULL);
}

void fixture_free(Fixture *s)
{
    hosts_run(&s->hosts);
    cq_free(&s->acq);
    cq_free(&s->bcq);
    hosts_free(&s->hosts);
    free(s);
}

uint8_t *fixture_a(Fixture *s, uint64_t off)
{
    return fake_ptr(s->a->h, s->abuf + off, s->size - off);
}

uint8_t *fixture_b(Fixture *s, uint64_t off)
{
    return fake_ptr(s->b->h, s->bbuf + off, s->size - off);
}

Wr fixture_write(Fixture *s, uint64_t aoff, uint64_t boff, uint32_t len)
{
    return (Wr) {
        .opcode = ERDMA_OP_WRITE,
        .sge = { { s->abuf + aoff, len, s->akey } }, .nsge = 1,
        .raddr = s->bbuf + boff, .rkey = s->bkey,
    };
}

Wr fixture_send(Fixture *s, uint64_t aoff, uint32_t len)
{
    return (Wr) {
        .opcode = ERDMA_OP_SEND,
        .sge = { { s->abuf + aoff, len, s->akey } }, .nsge = 1,
    };
}

Wr fixture_read(Fixture *s, uint64_t aoff, uint64_t boff, uint32_t len)
{
    Wr wr = fixture_write(s, aoff, boff, len);

    wr.opcode = ERDMA_OP_READ;
    return wr;
}

void fixture_recv(Fixture *s, uint64_t boff, uint32_t len)
{
    qp_recv(&s->bqp, s->bbuf + boff, len, s->bkey);
}

void pattern(uint8_t *p, size_t len, unsigned seed)
{
    for (size_t i = 0; i < len; i++) {
        p[i] = (i * 7 + i / 251 + seed * 13) ^ (i >> 8);
    }
}

bool is_pattern(const uint8_t *p, size_t len, unsigned seed)
{
    for (size_t i = 0; i < len; i++) {
        if (p[i] != (uint8_t)((i * 7 + i / 251 + seed * 13) ^ (i >> 8))) {
            return false;
        }
    }
    return true;
}

bool is_fill(const uint8_t *p, size_t len, uint8_t value)
{
    for (size_t i = 0; i < len; i++) {
        if (p[i] != value) {
            return false;
        }
    }
    return true;
}
