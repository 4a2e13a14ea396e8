/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entries of a ring as they lie in guest memory, as bytes and, where an entry
 * stands for itself, in words. A send request can begin at any block, so blocks
 * of send queues are only bytes.
 */
#include <stdio.h>

#include "show.h"

/* A ring of any kind */
typedef struct View {
    const ErdmaQueue *q;        /* or: */
    uint64_t base;
    uint32_t depth, size;       /* entries, bytes */
    uint32_t pi, ci;
    uint32_t mask;              /* of an index */
    bool has_ci, has_owner;
    bool be;                    /* the owner bit is in a big-endian word */
} View;

static void show_ring_view_queue(View *v, const ErdmaQueue *q, uint32_t pi,
                                 uint32_t ci)
{
    *v = (View) {
        .q = q, .depth = q->depth, .size = ERDMA_WQEBB_SIZE, .pi = pi,
        .ci = ci, .mask = 0xffff, .has_ci = true,
    };
}

static void show_ring_view_eq(View *v, const ErdmaEq *eq)
{
    *v = (View) {
        .base = eq->base, .depth = eq->live ? eq->depth : 0,
        .size = ERDMA_EQE_SIZE, .pi = eq->pi, .ci = eq->ci, .mask = 0xffff,
        .has_ci = true, .has_owner = true,
    };
}

static void show_ring_view_cmdq(View *v, const ErdmaCmdq *q, bool cq)
{
    *v = (View) {
        .base = cq ? q->cq_base : q->sq_base, .depth = q->depth,
        .size = ERDMA_CQE_SIZE, .pi = cq ? q->cq_pi : q->sq_pi,
        .ci = q->sq_ci, .mask = cq ? UINT32_MAX : 0xffff, .has_ci = !cq,
        .has_owner = cq, .be = true,
    };
}

static bool show_ring_view_cq(View *v, const ErdmaCq *cq)
{
    if (cq) {
        *v = (View) {
            .q = &cq->q, .depth = cq->q.depth, .size = ERDMA_CQE_SIZE,
            .pi = cq->pi, .mask = UINT32_MAX, .has_owner = true, .be = true,
        };
    }
    return cq != NULL;
}

static bool show_ring_find(const ErdmaCore *c, const ShowRing *r, View *v)
{
    const ErdmaQp *qp;

    v->depth = 0;
    switch (r->kind) {
    case RING_CMDQ:
    case RING_CMDCQ:
        show_ring_view_cmdq(v, &c->cmdq, r->kind == RING_CMDCQ);
        break;
    case RING_CMDEQ:
        show_ring_view_eq(v, &c->eq[0]);
        break;
    case RING_AEQ:
        show_ring_view_eq(v, &c->aeq);
        break;
    case RING_CEQ:
        if (r->number && r->number < ERDMA_MAX_VECTORS) {
            show_ring_view_eq(v, &c->eq[r->number]);
        }
        break;
    case RING_CQ:
        return show_ring_view_cq(v, erdma_cq_get(c, r->number));
    default:
        qp = erdma_qp_get(c, r->number);
        if (qp && r->kind == RING_SQ) {
            show_ring_view_queue(v, &qp->sq, qp->sq_pi, qp->sq_ci);
        } else if (qp) {
            show_ring_view_queue(v, &qp->rq, qp->rq_pi, qp->rq_ci);
        }
        break;
    }
    return v->depth != 0;
}

static bool show_ring_read(ErdmaCore *c, const View *v, uint32_t index,
                           uint8_t *entry)
{
    if (v->q) {
        return erdma_queue_read(c, v->q, index, 1, entry);
    }
    return erdma_dma_read(c, v->base + (uint64_t)
                          erdma_ring_slot(index, v->depth) * v->size, entry,
                          v->size);
}

/* ---- one entry ---- */

static void show_ring_cqe(const Show *s, const uint8_t *entry, bool command)
{
    struct erdma_cqe cqe;
    uint32_t hdr, opcode;

    memcpy(&cqe, entry, sizeof(cqe));
    hdr = be32toh(cqe.hdr);
    opcode = ERDMA_GET(ERDMA_CQE_OPCODE, hdr);
    show_number(s, "opcode", opcode);
    show_number(s, "queue", ERDMA_GET(ERDMA_CQE_QTYPE, hdr));
    show_number(s, "syndrome", ERDMA_GET(ERDMA_CQE_SYNDROME, hdr));
    show_number(s, "qe-index", be32toh(cqe.qe_idx));
    if (!command) {
        show_text(s, "operation", erdma_name_wr_opcode(opcode));
        show_text(s, "result", erdma_name_syndrome(
            ERDMA_GET(ERDMA_CQE_SYNDROME, hdr)));
        show_number(s, "qpn", be32toh(cqe.qpn));
        show_number(s, "size", be32toh(cqe.size));
    }
}

static void show_ring_event(const Show *s, const uint8_t *entry, bool aeqe)
{
    uint64_t word;

    memcpy(&word, entry, sizeof(word));
    word = le64toh(word);
    if (aeqe) {
        uint32_t type = ERDMA_GET(ERDMA_AEQE_TYPE, (uint32_t)word);

        show_number(s, "type", type);
        show_text(s, "event", erdma_name_ae_type(type));
        show_number(s, "object", word >> 32);
    } else {
        show_number(s, "cqn", ERDMA_GET(ERDMA_CEQE_CQN, word));
        show_number(s, "cq-pi", ERDMA_GET(ERDMA_CEQE_PI, word));
    }
}

static void show_ring_rqe(const Show *s, const uint8_t *entry)
{
    struct erdma_rqe rqe;

    memcpy(&rqe, entry, sizeof(rqe));
    show_number(s, "qe-index", le16toh(rqe.qe_idx));
    show_number(s, "qpn", le32toh(rqe.qpn));
    show_number(s, "address", le64toh(rqe.addr));
    show_number(s, "length", le32toh(rqe.length));
    show_number(s, "key", le32toh(rqe.stag));
}

static void show_ring_command(const Show *s, const uint8_t *entry)
{
    uint64_t hdr;

    memcpy(&hdr, entry, sizeof(hdr));
    hdr = le64toh(hdr);
    show_text(s, "command-if-first",
              erdma_name_cmd(ERDMA_GET(ERDMA_CMD_HDR_SUBMOD, hdr),
                             ERDMA_GET(ERDMA_CMD_HDR_OPCODE, hdr)));
}

static void show_ring_fields(const Show *s, const ShowRing *r,
                             const uint8_t *entry)
{
    switch (r->kind) {
    case RING_CMDCQ:
    case RING_CQ:
        show_ring_cqe(s, entry, r->kind == RING_CMDCQ);
        break;
    case RING_CMDEQ:
    case RING_CEQ:
    case RING_AEQ:
        show_ring_event(s, entry, r->kind == RING_AEQ);
        break;
    case RING_RQ:
        show_ring_rqe(s, entry);
        break;
    case RING_CMDQ:
        show_ring_command(s, entry);
        break;
    default:
        break;
    }
}

static void show_ring_entry(const Show *s, const ShowRing *r, const View *v,
                            uint32_t index)
{
    uint8_t entry[ERDMA_CQE_SIZE] = { 0 };
    char hex[2 * sizeof(entry) + 1];
    bool readable = show_ring_read(s->core, v, index, entry);

    for (unsigned i = 0; i < v->size; i++) {
        snprintf(hex + 2 * i, 3, "%02x", entry[i]);
    }
    show_begin(s, NULL);
    show_number(s, "index", index);
    show_number(s, "slot", erdma_ring_slot(index, v->depth));
    show_flag(s, "readable", readable);
    if (readable) {
        show_text(s, "bytes", hex);
        if (v->has_owner) {
            show_flag(s, "owner", entry[v->be ? 0 : 3] >> 7);
            show_flag(s, "written", (entry[v->be ? 0 : 3] >> 7) ==
                      erdma_ring_owner(index, v->depth));
        }
        show_ring_fields(s, r, entry);
    }
    show_end(s);
}

/* Without "from": the last ones before the producer index */
bool erdma_show_ring(const Show *s, const ShowRing *r)
{
    uint32_t count, from;
    View v;

    if (!show_ring_find(s->core, r, &v)) {
        return false;
    }
    count = r->count < v.depth ? r->count : v.depth;
    from = r->from_given ? r->from : v.pi - count;
    show_begin(s, NULL);
    show_number(s, "depth", v.depth);
    show_number(s, "pi", v.pi);
    if (v.has_ci) {
        show_number(s, "ci", v.ci);
    }
    show_list(s, "entries");
    for (uint32_t i = 0; i < count; i++) {
        show_ring_entry(s, r, &v, (from + i) & v.mask);
    }
    show_list_end(s);
    show_end(s);
    return true;
}
