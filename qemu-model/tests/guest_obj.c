/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Completion queues, memory regions, queue pairs. */
#include <stdlib.h>

#include "guest.h"

/* Pages that are never neighbours */
static uint64_t lone_page(FakeHost *h)
{
    return fake_zalloc(h, 8192) + (rand() & 1 ? 4096 : 0);
}

static uint64_t make_table(FakeHost *h, const uint64_t *page, uint32_t n)
{
    uint64_t addr = fake_alloc(h, n * 8 + 64);
    uint64_t *p = fake_ptr(h, addr, n * 8);

    for (uint32_t i = 0; i < n; i++) {
        p[i] = htole64(page[i]);
    }
    return addr;
}

/* ---- CQ ---- */

static unsigned cq_create(Cq *cq, uint32_t page_code, uint32_t mtt_cnt,
                          uint32_t level, uint64_t addr)
{
    struct erdma_cmd_create_cq req = { 0 };

    req.cfg0 = htole32(
        ERDMA_PREP(ERDMA_CREATE_CQ_DEPTH, __builtin_ctz(cq->depth)) |
        ERDMA_PREP(ERDMA_CREATE_CQ_PAGE, page_code) |
        ERDMA_PREP(ERDMA_CREATE_CQ_CQN, cq->cqn));
    req.addr_lo = htole32(addr);
    req.addr_hi = htole32(addr >> 32);
    req.cfg1 = htole32(ERDMA_PREP(ERDMA_CREATE_CQ_MTT_CNT, mtt_cnt) |
                       ERDMA_PREP(ERDMA_CREATE_CQ_LEVEL, level) |
                       ERDMA_PREP(ERDMA_CREATE_CQ_EQN, cq->eqn));
    req.cfg2 = htole32(0xffffffff);     /* padding of old drivers */
    return CMD_RDMA(cq->card, ERDMA_CMD_CREATE_CQ, req);
}

void cq_init(Cq *cq, Card *c, uint32_t depth, uint32_t eqn)
{
    *cq = (Cq) {
        .card = c, .cqn = c->next_cqn++, .depth = depth, .eqn = eqn,
    };
    fake_alloc(c->h, 4096);
    cq->addr = fake_zalloc(c->h, (uint64_t)depth * ERDMA_CQE_SIZE);
    CHECK_EQ(cq_create(cq, ERDMA_KERNEL_CQ_PAGE_CODE, 1, 0, cq->addr), 0);
}

void cq_init_user(Cq *cq, Card *c, uint32_t depth, uint32_t eqn)
{
    uint32_t n = (depth * ERDMA_CQE_SIZE + 4095) / 4096;

    *cq = (Cq) {
        .card = c, .cqn = c->next_cqn++, .depth = depth, .eqn = eqn,
    };
    cq->page = calloc(n, sizeof(*cq->page));
    for (uint32_t i = 0; i < n; i++) {
        cq->page[i] = lone_page(c->h);
    }
    CHECK_EQ(cq_create(cq, 0, n, 1, n == 1 ? cq->page[0] :
                       make_table(c->h, cq->page, n)), 0);
}

void cq_free(Cq *cq)
{
    free(cq->page);
    cq->page = NULL;
}

unsigned cq_destroy(Cq *cq)
{
    struct erdma_cmd_destroy_cq req = { .cqn = htole32(cq->cqn) };

    return CMD_RDMA(cq->card, ERDMA_CMD_DESTROY_CQ, req);
}

struct erdma_cqe *cq_entry(Cq *cq, uint32_t index)
{
    uint64_t off = erdma_ring_slot(index, cq->depth) * ERDMA_CQE_SIZE;
    uint64_t addr = cq->page ? cq->page[off / 4096] + off % 4096 :
                               cq->addr + off;

    return fake_ptr(cq->card->h, addr, ERDMA_CQE_SIZE);
}

bool cq_poll(Cq *cq, Wc *wc)
{
    const struct erdma_cqe *cqe = cq_entry(cq, cq->ci);
    uint32_t hdr = be32toh(cqe->hdr);

    CHECK_EQ(cq->card->h->open_maps, 0);
    if (ERDMA_GET(ERDMA_CQE_OWNER, hdr) !=
        erdma_ring_owner(cq->ci, cq->depth)) {
        return false;
    }
    cq->ci++;
    wc->opcode = ERDMA_GET(ERDMA_CQE_OPCODE, hdr);
    wc->qtype = ERDMA_GET(ERDMA_CQE_QTYPE, hdr);
    wc->syndrome = ERDMA_GET(ERDMA_CQE_SYNDROME, hdr);
    wc->qe_idx = be32toh(cqe->qe_idx);
    wc->qpn = be32toh(cqe->qpn);
    wc->imm = be32toh(cqe->imm);
    wc->size = be32toh(cqe->size);
    CHECK(wc->opcode < ERDMA_OP_COUNT);
    CHECK(wc->syndrome < ERDMA_WC_COUNT);
    CHECK(wc->qe_idx <= 0xffff);
    return true;
}

Wc cq_expect(Cq *cq)
{
    Wc wc;

    CHECK(cq_poll(cq, &wc));
    return wc;
}

void cq_arm(Cq *cq, bool solicited)
{
    uint64_t v = ERDMA_PREP(ERDMA_CQ_DB_CI, (uint64_t)cq->ci) |
                 ERDMA_PREP(ERDMA_CQ_DB_CMDSN, (uint64_t)cq->cmdsn) |
                 (solicited ? ERDMA_CQ_DB_SOL : 0) | ERDMA_CQ_DB_ARM |
                 ERDMA_PREP(ERDMA_CQ_DB_CQN, (uint64_t)cq->cqn) |
                 ERDMA_PREP(ERDMA_CQ_DB_IDX, (uint64_t)cq->idx);

    cq->idx++;
    card_write64(cq->card, ERDMA_DB_CQ_BASE, v);
}

/* ---- MR ---- */

/* Table pages of 4 KiB with 512 slots each; address of the top one */
static uint64_t build_levels(Card *c, const MrOpt *o)
{
    uint32_t n = o->npages;
    uint64_t *page = calloc(n, sizeof(*page));
    unsigned level = o->level;
    uint64_t top;

    memcpy(page, o->page, n * sizeof(*page));
    while (level > 1) {
        uint32_t tables = (n + 511) / 512;
        uint64_t *up = calloc(tables, sizeof(*up));

        for (uint32_t i = 0; i < tables; i++) {
            uint32_t left = n - i * 512;
            uint64_t *p;

            up[i] = lone_page(c->h);
            p = fake_ptr(c->h, up[i], 4096);
            for (uint32_t k = 0; k < 512 && k < left; k++) {
                p[k] = htole64(page[i * 512 + k]);
            }
        }
        free(page);
        page = up;
        n = tables;
        level--;
    }
    top = make_table(c->h, page, n);
    free(page);
    return top;
}

unsigned mr_reg_opt(Card *c, const MrOpt *o)
{
    struct erdma_cmd_reg_mr req;
    bool normal = o->type == ERDMA_MR_NORMAL;

    memset(&req, c->garbage, sizeof(req));
    req.cfg0 = htole32(ERDMA_PREP(ERDMA_REG_MR_VALID, normal) |
                       ERDMA_PREP(ERDMA_REG_MR_VERSION, o->version1) |
                       ERDMA_PREP(ERDMA_REG_MR_KEY, o->key) |
                       ERDMA_PREP(ERDMA_REG_MR_INDEX, o->index));
    req.cfg1 = htole32(ERDMA_PREP(ERDMA_REG_MR_PD, o->pd) |
                       ERDMA_PREP(ERDMA_REG_MR_TYPE, o->type) |
                       (o->rights & ERDMA_REG_MR_RIGHTS));
    req.cfg2 = htole32(
        ERDMA_PREP(ERDMA_REG_MR_PAGE_SHIFT, o->page_shift ? o->page_shift :
                                            12) |
        ERDMA_PREP(ERDMA_REG_MR_LEVEL, o->level) |
        ERDMA_PREP(ERDMA_REG_MR_PAGE_CNT, o->npages));
    if (normal) {
        req.start_va = htole64(o->va);
        req.size = htole32(o->len);
    }
    if (o->table) {
        req.page[0] = htole64(o->table);
    } else if (o->level && o->page) {
        req.page[0] = htole64(build_levels(c, o));
    } else {
        for (uint32_t i = 0; o->page && i < o->npages && i < 4; i++) {
            req.page[i] = htole64(o->page[i]);
        }
    }
    if (o->version1) {
        req.v1.size_hi = htole32(o->len >> 32);
        req.v1.page_cnt_hi = htole32(o->npages >> 20);
    }
    return CMD_RDMA(c, ERDMA_CMD_REG_MR, req);
}

uint32_t mr_reg(Card *c, uint64_t va, uint64_t addr, uint64_t len,
                uint32_t rights)
{
    uint32_t n = (va % 4096 + len + 4095) / 4096;
    uint64_t *page = calloc(n, sizeof(*page));
    MrOpt o = {
        .index = c->next_mr++, .pd = PD, .rights = rights, .va = va,
        .len = len, .page = page, .npages = n, .level = n > 4,
    };

    for (uint32_t i = 0; i < n; i++) {
        page[i] = (addr & ~4095ull) + i * 4096ull;
    }
    CHECK_EQ(mr_reg_opt(c, &o), 0);
    free(page);
    return o.index << 8;
}

uint32_t mr_dma(Card *c, uint32_t pd, uint32_t rights)
{
    MrOpt o = {
        .index = c->next_mr++, .pd = pd, .rights = rights,
        .type = ERDMA_MR_DMA, .page_shift = 31,
    };

    CHECK_EQ(mr_reg_opt(c, &o), 0);
    return o.index << 8;
}

uint32_t mr_frmr(Card *c, uint32_t capacity, uint64_t *table)
{
    MrOpt o = {
        .index = c->next_mr++, .pd = PD, .type = ERDMA_MR_FRMR,
        .rights = ALL_RIGHTS & ~ERDMA_RIGHT_REMOTE_ATOMIC, .level = 1,
        .npages = capacity,
        .table = fake_zalloc(c->h, capacity * 8 + 8),
    };

    CHECK_EQ(mr_reg_opt(c, &o), 0);
    if (table) {
        *table = o.table;
    }
    return o.index << 8;
}

unsigned mr_dereg(Card *c, uint32_t stag)
{
    struct erdma_cmd_dereg_mr req = { 0 };

    req.cfg = htole32(ERDMA_PREP(ERDMA_DEREG_MR_KEY, stag & 0xff) |
                      ERDMA_PREP(ERDMA_DEREG_MR_INDEX, stag >> 8));
    return CMD_RDMA(c, ERDMA_CMD_DEREG_MR, req);
}

/* ---- QP ---- */

static uint32_t ring_pages(Card *c, QueueKind kind, uint32_t depth,
                           uint64_t *page)
{
    uint32_t bytes = depth * 32;
    uint32_t n = kind == QUEUE_KERNEL ? 1 : (bytes + 4095) / 4096;

    if (kind == QUEUE_KERNEL) {
        fake_alloc(c->h, 4096);         /* never aligned to 1 MiB */
        page[0] = fake_zalloc(c->h, bytes);
        return 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        page[i] = lone_page(c->h);
        /* user rings are not cleared */
        memset(fake_ptr(c->h, page[i], 4096), c->garbage, 4096);
    }
    return n;
}

static void fill_queue_cfg(Card *c, const QpOpt *o, const uint64_t *page,
                           uint32_t n, __le32 *cfg, uint32_t cqn, __le64 *addr,
                           __le32 *mtt, __le64 *more)
{
    uint32_t code = o->kind == QUEUE_KERNEL ? ERDMA_KERNEL_QP_PAGE_CODE : 0;

    *cfg = htole32(ERDMA_PREP(ERDMA_CREATE_QP_PAGE, code) |
                   ERDMA_PREP(ERDMA_CREATE_QP_CQN, cqn));
    *mtt = htole32(ERDMA_PREP(ERDMA_CREATE_QP_MTT_CNT, n) |
                   ERDMA_PREP(ERDMA_CREATE_QP_LEVEL, o->kind == QUEUE_TABLE));
    *addr = htole64(o->kind == QUEUE_TABLE ? make_table(c->h, page, n) :
                                             page[0]);
    for (uint32_t i = 1; o->kind == QUEUE_INLINE && i < n; i++) {
        more[i - 1] = htole64(page[i]);
    }
}

unsigned qp_try(Qp *qp, Card *c, const QpOpt *o)
{
    struct erdma_cmd_create_qp req;
    uint64_t resp = 0;
    unsigned err;

    *qp = (Qp) {
        .card = c, .kind = o->kind, .sq_depth = o->sq_depth,
        .rq_depth = o->rq_depth, .scq = o->scq, .rcq = o->rcq,
        .qpn = o->qpn ? o->qpn : c->next_qpn++,
    };
    memset(&req, c->garbage, sizeof(req));
    qp->nsq = ring_pages(c, o->kind, o->sq_depth, qp->sq_page);
    qp->nrq = ring_pages(c, o->kind, o->rq_depth, qp->rq_page);
    fill_queue_cfg(c, o, qp->sq_page, qp->nsq, &req.sq_cfg, o->scq->cqn,
                   &req.sq_addr, &req.sq_mtt, req.sq_page);
    fill_queue_cfg(c, o, qp->rq_page, qp->nrq, &req.rq_cfg, o->rcq->cqn,
                   &req.rq_addr, &req.rq_mtt, req.rq_page);
    req.cfg0 = htole32(
        ERDMA_PREP(ERDMA_CREATE_QP_SQ_DEPTH, __builtin_ctz(o->sq_depth)) |
        ERDMA_PREP(ERDMA_CREATE_QP_QPN, qp->qpn));
    req.cfg1 = htole32(
        ERDMA_PREP(ERDMA_CREATE_QP_RQ_DEPTH, __builtin_ctz(o->rq_depth)) |
        ERDMA_PREP(ERDMA_CREATE_QP_PD, o->pd ? o->pd : PD));
    qp->sq_db = o->kind == QUEUE_KERNEL ? ERDMA_DB_KERNEL_SQ :
                ERDMA_DB_SQ_BASE + qp->qpn % 32 * 128;
    qp->rq_db = ERDMA_DB_RQ_BASE + (o->kind == QUEUE_KERNEL ? 0 :
                                    qp->qpn % 128 * 32);
    if (o->db_assoc) {
        req.sq_cfg |= htole32(ERDMA_CREATE_QP_DB_ASSOC);
        req.db_cfg = htole32(ERDMA_PREP(ERDMA_CREATE_QP_SQ_DB, o->sdb) |
                             ERDMA_PREP(ERDMA_CREATE_QP_RQ_DB, o->rdb));
        qp->sq_db = o->sdb * 4096ull + qp->qpn % 32 * 128;
        /* crossed, as the stock driver maps them */
        qp->rq_db = o->cdb * 4096ull + qp->qpn % 128 * 32;
    }
    err = card_cmd(c, ERDMA_SUBMOD_RDMA, ERDMA_CMD_CREATE_QP, &req,
                   sizeof(req), &resp, NULL);
    qp->cookie = resp;
    return err;
}

void qp_init_opt(Qp *qp, Card *c, const QpOpt *o)
{
    CHECK_EQ(qp_try(qp, c, o), 0);
}

void qp_init(Qp *qp, Card *c, Cq *cq, QueueKind kind)
{
    QpOpt o = {
        .kind = kind, .sq_depth = 256, .rq_depth = 128, .scq = cq, .rcq = cq,
    };

    qp_init_opt(qp, c, &o);
}

unsigned qp_destroy(Qp *qp)
{
    struct erdma_cmd_destroy_qp req = { .qpn = htole32(qp->qpn) };

    return CMD_RDMA(qp->card, ERDMA_CMD_DESTROY_QP, req);
}

unsigned qp_modify(Qp *qp, unsigned state)
{
    struct erdma_cmd_modify_qp req;

    memset(&req, qp->card->garbage, sizeof(req));
    req.cfg = htole32(ERDMA_PREP(ERDMA_MODIFY_QP_STATE, state) |
                      ERDMA_PREP(ERDMA_MODIFY_QP_QPN, qp->qpn));
    return CMD_RDMA(qp->card, ERDMA_CMD_MODIFY_QP, req);
}

unsigned qp_reflush(Qp *qp)
{
    struct erdma_cmd_reflush req = {
        .qpn = htole32(qp->qpn), .sq_pi = htole32(qp->sq_pi),
        .rq_pi = htole32(qp->rq_pi),
    };

    return CMD_RDMA(qp->card, ERDMA_CMD_REFLUSH, req);
}

struct erdma_cmd_modify_qp qp_rts_cmd(const Qp *qp, const Qp *peer,
                                      uint16_t port, bool active)
{
    struct erdma_cmd_modify_qp req;
    uint32_t ip = 0x0a000001 + (qp->card - qp->card->hosts->card);
    uint32_t peer_ip = 0x0a000001 + (peer->card - peer->card->hosts->card);
    uint32_t active_nxt = 1000 + 28 + port, passive_nxt = 7777 + 28 + port;

    memset(&req, qp->card->garbage, sizeof(req));
    req.cfg = htole32(ERDMA_PREP(ERDMA_MODIFY_QP_STATE, ERDMA_QPS_RTS) |
                      ERDMA_PREP(ERDMA_MODIFY_QP_CC, ERDMA_CC_CUBIC) |
                      ERDMA_PREP(ERDMA_MODIFY_QP_QPN, qp->qpn));
    req.cookie = htole32(peer->cookie);
    req.sip = htobe32(ip);
    req.dip = htobe32(peer_ip);
    req.sport = htobe16(active ? port : 18515);
    req.dport = htobe16(active ? 18515 : port);
    req.send_nxt = htole32(active ? active_nxt : passive_nxt);
    req.recv_nxt = htole32(active ? passive_nxt : active_nxt);
    return req;
}

unsigned qp_rts(Qp *qp, const Qp *peer, uint16_t port, bool active)
{
    struct erdma_cmd_modify_qp req = qp_rts_cmd(qp, peer, port, active);

    return CMD_RDMA(qp->card, ERDMA_CMD_MODIFY_QP, req);
}

void qp_connect(Qp *active, Qp *passive)
{
    uint16_t port = active->card->hosts->next_port++;

    CHECK_EQ(qp_rts(passive, active, port, false), 0);
    CHECK_EQ(qp_rts(active, passive, port, true), 0);
}
