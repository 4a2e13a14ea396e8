/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands that make, change and end objects (section 5).
 *
 * The request is a private copy. Bytes the reference does not define for the
 * case at hand are stale data and never looked at.
 */
#include "core_int.h"

static unsigned cmd_create_cq(ErdmaCore *c, ErdmaCmd *cmd)
{
    return erdma_cq_create(c, (struct erdma_cmd_create_cq *)cmd->request);
}

static unsigned cmd_destroy_cq(ErdmaCore *c, ErdmaCmd *cmd)
{
    struct erdma_cmd_destroy_cq *req = (void *)cmd->request;
    ErdmaCq *cq = erdma_cq_get(c, le32toh(req->cqn));

    if (!cq) {
        return ERDMA_CMD_ENOENT;
    }
    if (cq->users) {
        return ERDMA_CMD_EBUSY;
    }
    erdma_cq_destroy(cq);
    return ERDMA_CMD_OK;
}

static unsigned cmd_create_qp(ErdmaCore *c, ErdmaCmd *cmd)
{
    struct erdma_cmd_create_qp *req = (void *)cmd->request;

    return erdma_qp_create(c, req, cmd->bytes >= sizeof(*req), &cmd->resp0);
}

static unsigned cmd_destroy_qp(ErdmaCore *c, ErdmaCmd *cmd)
{
    struct erdma_cmd_destroy_qp *req = (void *)cmd->request;
    ErdmaQp *qp = erdma_qp_get(c, le32toh(req->qpn));

    if (!qp) {
        return ERDMA_CMD_ENOENT;
    }
    erdma_qp_destroy(qp);
    return ERDMA_CMD_OK;
}

static unsigned cmd_modify_qp(ErdmaCore *c, ErdmaCmd *cmd)
{
    struct erdma_cmd_modify_qp *req = (void *)cmd->request;
    ErdmaQp *qp = erdma_qp_get(c, ERDMA_GET(ERDMA_MODIFY_QP_QPN,
                                            le32toh(req->cfg)));

    return qp ? erdma_qp_modify(qp, req) : ERDMA_CMD_ENOENT;
}

static unsigned cmd_reflush(ErdmaCore *c, ErdmaCmd *cmd)
{
    struct erdma_cmd_reflush *req = (void *)cmd->request;
    ErdmaQp *qp = erdma_qp_get(c, le32toh(req->qpn));

    return qp ? erdma_qp_reflush(qp, le32toh(req->sq_pi),
                                 le32toh(req->rq_pi)) : ERDMA_CMD_ENOENT;
}

static unsigned cmd_reg_mr(ErdmaCore *c, ErdmaCmd *cmd)
{
    return erdma_mr_register(c, (struct erdma_cmd_reg_mr *)cmd->request);
}

static unsigned cmd_dereg_mr(ErdmaCore *c, ErdmaCmd *cmd)
{
    struct erdma_cmd_dereg_mr *req = (void *)cmd->request;

    return erdma_mr_deregister(c, ERDMA_GET(ERDMA_DEREG_MR_INDEX,
                                            le32toh(req->cfg)));
}

static unsigned cmd_create_eq(ErdmaCore *c, ErdmaCmd *cmd)
{
    struct erdma_cmd_create_eq *req = (void *)cmd->request;
    uint64_t addr = le64toh(req->addr);
    uint64_t dbrec = le32toh(req->dbrec_lo) |
                     (uint64_t)le32toh(req->dbrec_hi) << 32;

    if (!req->eqn || req->eqn >= c->cfg.vectors || !req->vector ||
        req->vector >= c->cfg.vectors || req->type != ERDMA_EQ_CEQ ||
        req->depth > 15 || addr % ERDMA_EQE_SIZE) {
        erdma_guest_error(c, "CREATE_EQ %u: vector %u, depth 2^%u, type %u, "
                          "expected EQN and vector 1 to %u, depth up to 2^15, "
                          "type %u", req->eqn, req->vector, req->depth,
                          req->type, c->cfg.vectors - 1, ERDMA_EQ_CEQ);
        return ERDMA_CMD_EINVAL;
    }
    if (c->eq[req->eqn].live) {
        return ERDMA_CMD_EEXIST;
    }
    erdma_eq_init(&c->eq[req->eqn], addr, 1u << req->depth, req->vector,
                  dbrec);
    return ERDMA_CMD_OK;
}

static unsigned cmd_destroy_eq(ErdmaCore *c, ErdmaCmd *cmd)
{
    struct erdma_cmd_destroy_eq *req = (void *)cmd->request;
    ErdmaEq *eq = &c->eq[req->eqn % ERDMA_MAX_VECTORS];

    if (!req->eqn || req->eqn >= ERDMA_MAX_VECTORS || !eq->live ||
        req->type != ERDMA_EQ_CEQ) {
        return ERDMA_CMD_ENOENT;
    }
    if (eq->users) {
        return ERDMA_CMD_EBUSY;
    }
    erdma_eq_stop(eq);
    return ERDMA_CMD_OK;
}

static unsigned cmd_conf_mtu(ErdmaCore *c, ErdmaCmd *cmd)
{
    struct erdma_cmd_conf_mtu *req = (void *)cmd->request;
    uint32_t mtu = le32toh(req->mtu);

    if (mtu < 68 || mtu > 65536) {
        return ERDMA_CMD_EINVAL;
    }
    c->mtu = mtu;
    return ERDMA_CMD_OK;
}

static unsigned cmd_conf_device(ErdmaCore *c, ErdmaCmd *cmd)
{
    struct erdma_cmd_conf_device *req = (void *)cmd->request;
    uint32_t cfg = le32toh(req->cfg);

    if ((cfg & ERDMA_CONF_PAGE_ENABLE) &&
        ERDMA_GET(ERDMA_CONF_PAGE_SHIFT, cfg) != ERDMA_DB_PAGE_SHIFT) {
        erdma_guest_error(c, "CONF_DEVICE: pages of 2^%u bytes, expected 2^%u",
                          ERDMA_GET(ERDMA_CONF_PAGE_SHIFT, cfg),
                          ERDMA_DB_PAGE_SHIFT);
        return ERDMA_CMD_EINVAL;
    }
    return ERDMA_CMD_OK;
}

static unsigned cmd_alloc_db(ErdmaCore *c, ErdmaCmd *cmd)
{
    struct erdma_cmd_ext_db *req = (void *)cmd->request;

    return erdma_db_alloc(c, le32toh(req->mask), &cmd->resp0);
}

static unsigned cmd_free_db(ErdmaCore *c, ErdmaCmd *cmd)
{
    return erdma_db_release(c, (struct erdma_cmd_ext_db *)cmd->request);
}

static unsigned cmd_set_retrans(ErdmaCore *c, ErdmaCmd *cmd)
{
    struct erdma_cmd_set_retrans *req = (void *)cmd->request;
    uint32_t count = le32toh(req->count);

    if (count < 1 || count > 255) {
        return ERDMA_CMD_EINVAL;
    }
    c->retrans = count;
    return ERDMA_CMD_OK;
}

/* ---- table ---- */

typedef struct CmdOp {
    unsigned (*fn)(ErdmaCore *c, ErdmaCmd *cmd);
    uint32_t flag;              /* capability the device must have announced */
    uint32_t bytes;             /* of the request */
} CmdOp;

#define OP(fn, flag, type) { fn, flag, sizeof(type) }

static const CmdOp rdma_ops[] = {
    [ERDMA_CMD_QUERY_DEVICE] = { erdma_cmd_query_device, 0, 8 },
    [ERDMA_CMD_CREATE_QP] = { cmd_create_qp, 0, ERDMA_CREATE_QP_SHORT },
    [ERDMA_CMD_DESTROY_QP] =
        OP(cmd_destroy_qp, 0, struct erdma_cmd_destroy_qp),
    [ERDMA_CMD_MODIFY_QP] = OP(cmd_modify_qp, 0, struct erdma_cmd_modify_qp),
    [ERDMA_CMD_CREATE_CQ] = OP(cmd_create_cq, 0, struct erdma_cmd_create_cq),
    [ERDMA_CMD_DESTROY_CQ] =
        OP(cmd_destroy_cq, 0, struct erdma_cmd_destroy_cq),
    [ERDMA_CMD_REFLUSH] = OP(cmd_reflush, 0, struct erdma_cmd_reflush),
    [ERDMA_CMD_REG_MR] = OP(cmd_reg_mr, 0, struct erdma_cmd_reg_mr),
    [ERDMA_CMD_DEREG_MR] = OP(cmd_dereg_mr, 0, struct erdma_cmd_dereg_mr),
    [ERDMA_CMD_QUERY_QPC] =
        OP(erdma_cmd_query_qpc, ERDMA_FLAG_QUERY_QC, struct erdma_cmd_query),
    [ERDMA_CMD_QUERY_CQC] =
        OP(erdma_cmd_query_cqc, ERDMA_FLAG_QUERY_QC, struct erdma_cmd_query),
};

static const CmdOp common_ops[] = {
    [ERDMA_CMD_CREATE_EQ] = OP(cmd_create_eq, 0, struct erdma_cmd_create_eq),
    [ERDMA_CMD_DESTROY_EQ] =
        OP(cmd_destroy_eq, 0, struct erdma_cmd_destroy_eq),
    [ERDMA_CMD_QUERY_FW_INFO] = { erdma_cmd_query_fw, 0, 8 },
    [ERDMA_CMD_CONF_MTU] = OP(cmd_conf_mtu, 0, struct erdma_cmd_conf_mtu),
    [ERDMA_CMD_GET_STATS] =
        OP(erdma_cmd_get_stats, 0, struct erdma_cmd_query),
    [ERDMA_CMD_CONF_DEVICE] =
        OP(cmd_conf_device, ERDMA_FLAG_EXT_DB, struct erdma_cmd_conf_device),
    [ERDMA_CMD_QUERY_EQC] =
        OP(erdma_cmd_query_eqc, ERDMA_FLAG_QUERY_QC, struct erdma_cmd_query),
    [ERDMA_CMD_SET_RETRANS_NUM] =
        OP(cmd_set_retrans, 0, struct erdma_cmd_set_retrans),
    [ERDMA_CMD_ALLOC_DB] =
        OP(cmd_alloc_db, ERDMA_FLAG_EXT_DB, struct erdma_cmd_ext_db),
    [ERDMA_CMD_FREE_DB] =
        OP(cmd_free_db, ERDMA_FLAG_EXT_DB, struct erdma_cmd_ext_db),
    [ERDMA_CMD_SET_EXT_ATTR] = { erdma_cmd_set_ext_attr, 0, 16 },
    [ERDMA_CMD_GET_EXT_ATTR] =
        OP(erdma_cmd_get_ext_attr, 0, struct erdma_cmd_query),
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

unsigned erdma_cmd_execute(ErdmaCore *c, ErdmaCmd *cmd)
{
    const CmdOp *op = NULL;

    if (cmd->submod == ERDMA_SUBMOD_RDMA && cmd->opcode < COUNT(rdma_ops)) {
        op = &rdma_ops[cmd->opcode];
    } else if (cmd->submod == ERDMA_SUBMOD_COMMON &&
               cmd->opcode < COUNT(common_ops)) {
        op = &common_ops[cmd->opcode];
    }
    if (!op || !op->fn || (op->flag && !(c->cfg.flags & op->flag))) {
        erdma_guest_error(c, "command %u/%u is not supported", cmd->submod,
                          cmd->opcode);
        return ERDMA_CMD_ENOTSUPP;
    }
    if (cmd->bytes < op->bytes) {
        erdma_guest_error(c, "command %u/%u: %u bytes, expected at least %u",
                          cmd->submod, cmd->opcode, cmd->bytes, op->bytes);
        return ERDMA_CMD_EINVAL;
    }
    return op->fn(c, cmd);
}
