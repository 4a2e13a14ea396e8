/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The receiving side of a request, whatever transport brought it. */
#include "core_int.h"

bool erdma_resp_take(ErdmaQp *peer, ErdmaRecv *recv, uint8_t *syndrome)
{
    struct erdma_rqe rqe;

    *syndrome = 0;
    if (peer->rq_ci == peer->rq_pi) {
        return false;
    }
    if (!erdma_queue_read(peer->core, &peer->rq, peer->rq_ci, 1, &rqe) ||
        le16toh(rqe.qe_idx) != (uint16_t)(peer->rq_ci + 1) ||
        le32toh(rqe.qpn) != peer->qpn) {
        erdma_guest_error(peer->core, "QP %u: malformed receive at %u",
                          peer->qpn, peer->rq_ci);
        *syndrome = ERDMA_WC_RQE_FORMAT;
        return false;
    }
    recv->span.va = le64toh(rqe.addr);
    recv->span.len = le32toh(rqe.length);
    recv->span.key = le32toh(rqe.stag);
    recv->taken = true;
    return true;
}

void erdma_resp_recv_error(ErdmaQp *peer, uint8_t syndrome)
{
    ErdmaWc wc = {
        .opcode = ERDMA_OP_RECV,
        .syndrome = syndrome,
    };

    erdma_guest_error(peer->core, "QP %u: receive %u failed: %s", peer->qpn,
                      peer->rq_ci, erdma_name_syndrome(syndrome));
    peer->rx_err_drops++;
    erdma_qp_post_recv_wc(peer, &wc);
    erdma_qp_fatal(peer, ERDMA_AE_RQ_ERR);
}

void erdma_resp_refuse(ErdmaQp *peer, uint8_t syndrome)
{
    erdma_guest_error(peer->core, "QP %u: refused remote access: %s",
                      peer->qpn, erdma_name_syndrome(syndrome));
    peer->rx_err_drops++;
    erdma_qp_fatal(peer, ERDMA_AE_ACCESS_ERR);
}

static uint8_t recv_opcode(uint8_t opcode)
{
    switch (opcode) {
    case ERDMA_OP_SEND_IMM:
        return ERDMA_OP_RECV_SEND_IMM;
    case ERDMA_OP_SEND_INV:
        return ERDMA_OP_RECV_INV;
    case ERDMA_OP_WRITE_IMM:
        return ERDMA_OP_RECV_WRITE_IMM;
    default:
        return ERDMA_OP_RECV;
    }
}

bool erdma_resp_complete(ErdmaQp *peer, const ErdmaReq *req)
{
    ErdmaWc wc = {
        .opcode = recv_opcode(req->opcode),
        .solicited = req->se,
        .size = req->length,
        .imm = req->opcode == ERDMA_OP_SEND ? 0 : req->imm,
    };

    if (req->opcode == ERDMA_OP_SEND_INV &&
        !erdma_mr_invalidate(peer, req->imm)) {
        erdma_resp_recv_error(peer, ERDMA_WC_RECV_STAG);
        return false;
    }
    erdma_qp_post_recv_wc(peer, &wc);
    return true;
}
