/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command queue: slots in, completions and events out (section 4).
 *
 * Slots of any size of the header's WQEBBS field are stepped over. Commands are
 * executed strictly in order, one at a time.
 */
#include "core_int.h"

static void cmdq_post_event(ErdmaCore *c, bool by_doorbell)
{
    ErdmaCmdq *q = &c->cmdq;
    uint64_t word = ERDMA_PREP(ERDMA_CEQE_PI, (uint64_t)q->cq_pi);

    if (by_doorbell) {
        word |= ERDMA_CEQE_DB;
    }
    q->armed = false;
    erdma_eq_post(c, &c->eq[0], &q->event, word, 0);
}

void erdma_cmdq_write(ErdmaCore *c, struct erdma_cqe *cqe, unsigned flags)
{
    ErdmaCmdq *q = &c->cmdq;
    uint32_t slot = erdma_ring_slot(q->cq_pi, q->depth);
    bool owner = erdma_ring_owner(q->cq_pi, q->depth);

    cqe->hdr &= ~htobe32(ERDMA_CQE_OWNER);
    if (owner != !!(flags & ERDMA_ENTRY_WRONG_OWNER)) {
        cqe->hdr |= htobe32(ERDMA_CQE_OWNER);
    }
    if (!erdma_dma_publish(c, q->cq_base + (uint64_t)slot * ERDMA_CQE_SIZE,
                           cqe, sizeof(*cqe), sizeof(cqe->hdr))) {
        erdma_guest_error(c, "command CQ: entry %u of 0x%llx is not writable "
                          "memory", slot, (unsigned long long)q->cq_base);
    }
    q->cq_pi++;
    if (q->armed) {
        cmdq_post_event(c, false);
    }
}

static void cmdq_complete(ErdmaCore *c, const ErdmaCmd *cmd, uint16_t index,
                          unsigned status)
{
    struct erdma_cqe cqe = { 0 };
    unsigned flags = 0;
    uint32_t hdr = ERDMA_PREP(ERDMA_CQE_OPCODE, cmd->opcode) |
                   ERDMA_PREP(ERDMA_CQE_QTYPE, ERDMA_CQE_QTYPE_CMDQ) |
                   ERDMA_PREP(ERDMA_CQE_SYNDROME, status);

    cqe.hdr = htobe32(hdr);
    cqe.qe_idx = htobe32(index);
    if (!status) {              /* low word first, each word BE */
        cqe.resp[0] = htobe32(cmd->resp0);
        cqe.resp[1] = htobe32(cmd->resp0 >> 32);
        cqe.resp[2] = htobe32(cmd->resp1);
        cqe.resp[3] = htobe32(cmd->resp1 >> 32);
    }
    if (erdma_fault_at(c, ERDMA_POINT_COMMAND) &&
        c->hooks->command(c, cmd, &cqe, &flags)) {
        return;
    }
    erdma_cmdq_write(c, &cqe, flags);
}

/*
 * Copy the slot at the consumer index out and find its size. What is behind its
 * end, and behind the last posted block, reads as zero.
 */
static unsigned cmdq_fetch(ErdmaCore *c, ErdmaCmd *cmd, uint32_t *blocks)
{
    ErdmaCmdq *q = &c->cmdq;
    uint32_t slot = erdma_ring_slot(q->sq_ci, q->depth);
    uint32_t used = erdma_ring_used16(q->sq_pi, q->sq_ci);
    uint32_t room = q->depth - slot;
    uint32_t n = used < room ? used : room;
    uint64_t hdr;

    memset(cmd, 0, sizeof(*cmd));
    *blocks = used;             /* nothing behind a bad slot can be trusted */
    n = n < ERDMA_SQE_MAX_WQEBBS ? n : ERDMA_SQE_MAX_WQEBBS;
    if (!erdma_dma_read(c, q->sq_base + (uint64_t)slot * ERDMA_WQEBB_SIZE,
                        cmd->request, n * ERDMA_WQEBB_SIZE)) {
        erdma_guest_error(c, "command SQ: %u blocks from %u of 0x%llx are not "
                          "memory", n, slot, (unsigned long long)q->sq_base);
        return ERDMA_CMD_EFAULT;
    }
    memcpy(&hdr, cmd->request, sizeof(hdr));
    hdr = le64toh(hdr);
    cmd->opcode = ERDMA_GET(ERDMA_CMD_HDR_OPCODE, hdr);
    cmd->submod = ERDMA_GET(ERDMA_CMD_HDR_SUBMOD, hdr);
    n = ERDMA_GET(ERDMA_CMD_HDR_WQEBBS, hdr) + 1;
    if (n > used || n > room ||
        ERDMA_GET(ERDMA_CMD_HDR_PI, hdr) != ((q->sq_ci + n) & 0xffff)) {
        erdma_guest_error(c, "command at %u: header 0x%llx: %u blocks, PI %u, "
                          "expected at most %u, PI %u", q->sq_ci,
                          (unsigned long long)hdr, n,
                          (unsigned)ERDMA_GET(ERDMA_CMD_HDR_PI, hdr),
                          used < room ? used : room, (q->sq_ci + n) & 0xffff);
        return ERDMA_CMD_EINVAL;
    }
    *blocks = n;
    cmd->bytes = n * ERDMA_WQEBB_SIZE;
    if (cmd->bytes > sizeof(cmd->request)) {
        cmd->bytes = sizeof(cmd->request);
    }
    memset(cmd->request + cmd->bytes, 0, sizeof(cmd->request) - cmd->bytes);
    return ERDMA_CMD_OK;
}

static void cmdq_execute_one(ErdmaCore *c)
{
    ErdmaCmdq *q = &c->cmdq;
    uint16_t index = q->sq_ci;
    uint32_t blocks;
    ErdmaCmd cmd;
    unsigned status = cmdq_fetch(c, &cmd, &blocks);
    const char *name;

    if (!status) {
        status = c->cmdq.execute(c, &cmd);
    }
    name = erdma_name_cmd(cmd.submod, cmd.opcode);
    c->n.commands++;
    if (status) {
        c->n.commands_failed++;
        erdma_info(c, "command %s (%u/%u) failed: status %u", name ? name : "?",
                   cmd.submod, cmd.opcode, status);
    } else {
        erdma_trace(c, "command %s done", name ? name : "?");
    }
    q->sq_ci += blocks;
    cmdq_complete(c, &cmd, index, status);
}

/* Execute what was posted, bounded */
static void cmdq_run(ErdmaCore *c)
{
    ErdmaCmdq *q = &c->cmdq;

    for (unsigned i = 0; c->ready && q->sq_ci != q->sq_pi; i++) {
        if (erdma_fault_at(c, ERDMA_POINT_CMDQ) && c->hooks->cmdq_stalled(c)) {
            return;
        }
        if (i == ERDMA_LIMIT_COMMANDS || !erdma_sched_spend(c->fabric, 1)) {
            erdma_kick(c, &q->kick);
            return;
        }
        cmdq_execute_one(c);
    }
}

void erdma_cmdq_register(ErdmaCore *c,
                         unsigned (*execute)(ErdmaCore *c, ErdmaCmd *cmd))
{
    erdma_kick_init(&c->cmdq.kick, cmdq_run);
    c->cmdq.execute = execute;
}

void erdma_cmdq_start(ErdmaCore *c, uint64_t sq_base, uint64_t cq_base,
                      uint32_t depth)
{
    ErdmaCmdq *q = &c->cmdq;

    erdma_cmdq_stop(c);
    q->sq_base = sq_base;
    q->cq_base = cq_base;
    q->depth = depth;
}

void erdma_cmdq_stop(ErdmaCore *c)
{
    ErdmaCmdq *q = &c->cmdq;

    erdma_event_cancel(&q->event);
    erdma_kick_cancel(&q->kick);
    q->sq_base = q->cq_base = 0;
    q->depth = q->cq_pi = 0;
    q->sq_pi = q->sq_ci = 0;
    q->armed = false;
}

void erdma_cmdq_doorbell(ErdmaCore *c, uint64_t value)
{
    ErdmaCmdq *q = &c->cmdq;
    uint16_t pi = value & 0xffff;
    bool idle;

    if (!c->ready) {
        erdma_db_drop(c, ERDMA_REG_CMDQ_SQ_DB, value);
        return;
    }
    if (erdma_ring_used16(pi, q->sq_ci) > q->depth ||
        erdma_ring_used16(pi, q->sq_ci) <
        erdma_ring_used16(q->sq_pi, q->sq_ci)) {
        erdma_guest_error(c, "command doorbell: PI %u, expected %u to %u", pi,
                          q->sq_pi, (q->sq_ci + q->depth) & 0xffff);
        return;
    }
    idle = q->sq_ci == q->sq_pi;
    q->sq_pi = pi;
    if (idle) {
        cmdq_run(c);
    }
}

void erdma_cmdq_arm(ErdmaCore *c, uint64_t value)
{
    ErdmaCmdq *q = &c->cmdq;
    uint32_t ci = ERDMA_GET(ERDMA_CQ_DB_CI, value);

    if (!c->ready || !(value & ERDMA_CQ_DB_ARM)) {
        erdma_db_drop(c, ERDMA_REG_CMDQ_CQ_DB, value);
        return;
    }
    c->n.doorbells_cq++;
    q->armed = true;
    if (erdma_ring_used24(q->cq_pi, ci)) {
        cmdq_post_event(c, true);
    }
}
