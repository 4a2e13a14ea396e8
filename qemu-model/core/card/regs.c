/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Register file, reset and INIT handshake (2.2 to 2.4). */
#include "core_int.h"

/* ---- reading ---- */

static uint64_t regs_counter(const ErdmaCore *c, uint32_t offset)
{
    switch (offset) {
    case ERDMA_REG_ST_TSO_IN_PKTS:
        return c->n.tx_reqs;
    case ERDMA_REG_ST_TSO_OUT_PKTS:
        return c->n.tx_pkts;
    case ERDMA_REG_ST_TSO_OUT_BYTES:
        return c->n.tx_bytes;
    case ERDMA_REG_ST_TX_BPS_DROP_PKTS:
        return c->n.metered_bytes;
    case ERDMA_REG_ST_TX_PPS_DROP_PKTS:
        return c->n.metered_messages;
    case ERDMA_REG_ST_RX_PKTS:
        return c->n.rx_pkts;
    case ERDMA_REG_ST_RX_BYTES:
        return c->n.rx_bytes;
    default:
        return 0;               /* nothing is ever dropped */
    }
}

/* Where a queue register that is written as one word is stored */
static uint32_t *regs_word(ErdmaRegs *r, uint32_t offset)
{
    switch (offset) {
    case ERDMA_REG_CMDQ_SQ_BASE_LO:
        return &r->sq_lo;
    case ERDMA_REG_CMDQ_SQ_BASE_HI:
        return &r->sq_hi;
    case ERDMA_REG_CMDQ_CQ_BASE_LO:
        return &r->cq_lo;
    case ERDMA_REG_CMDQ_CQ_BASE_HI:
        return &r->cq_hi;
    case ERDMA_REG_CMDQ_DEPTH:
        return &r->cmdq_depth;
    case ERDMA_REG_CMDQ_EQ_DEPTH:
        return &r->eq_depth;
    case ERDMA_REG_CMDQ_EQ_BASE_LO:
        return &r->eq_lo;
    case ERDMA_REG_CMDQ_EQ_BASE_HI:
        return &r->eq_hi;
    case ERDMA_REG_AEQ_BASE_LO:
        return &r->aeq_lo;
    case ERDMA_REG_AEQ_BASE_HI:
        return &r->aeq_hi;
    case ERDMA_REG_AEQ_DEPTH:
        return &r->aeq_depth;
    default:
        return NULL;
    }
}

static uint64_t *regs_long(ErdmaRegs *r, uint32_t offset)
{
    switch (offset) {
    case ERDMA_REG_CMDQ_SQ_DBREC:
        return &r->sq_dbrec;
    case ERDMA_REG_CMDQ_CQ_DBREC:
        return &r->cq_dbrec;
    case ERDMA_REG_CMDQ_EQ_DBREC:
        return &r->eq_dbrec;
    case ERDMA_REG_AEQ_DBREC:
        return &r->aeq_dbrec;
    default:
        return NULL;
    }
}

static uint32_t regs_read_word(ErdmaCore *c, uint32_t offset)
{
    const uint8_t *mac = c->cfg.mac;
    const uint32_t *word = regs_word(&c->regs, offset);
    const uint64_t *lng = regs_long(&c->regs, offset & ~7u);

    if (word) {
        return *word;
    }
    if (lng) {
        return *lng >> (offset & 4) * 8;
    }
    if (offset >= ERDMA_REG_ST_TSO_IN_PKTS &&
        offset < ERDMA_REG_ST_RX_PPS_DROP_PKTS + 8) {
        return regs_counter(c, offset & ~7u) >> (offset & 4) * 8;
    }
    switch (offset) {
    case ERDMA_REG_VERSION:
        return c->cfg.version;
    case ERDMA_REG_PROTO:
        return ERDMA_PROTO_IWARP;
    case ERDMA_REG_STATUS:
        return c->regs.status;
    case ERDMA_REG_MAC_LO:
        return (uint32_t)mac[2] << 24 | mac[3] << 16 | mac[4] << 8 | mac[5];
    case ERDMA_REG_MAC_HI:
        return mac[0] << 8 | mac[1];
    case ERDMA_REG_GRP_NUM:
        return c->cfg.grp_num;
    default:
        return 0;
    }
}

uint64_t erdma_reg_read(ErdmaCore *c, uint64_t offset, unsigned size)
{
    uint64_t value;

    if (size > 8 || offset % size) {
        return 0;
    }
    value = regs_read_word(c, offset & ~3u);
    if (size == 8) {
        return value | (uint64_t)regs_read_word(c, offset + 4) << 32;
    }
    value >>= (offset & 3) * 8;
    return value & (0xffffffffu >> (32 - 8 * size));
}

/* ---- reset and init ---- */

static void regs_clear_soft_state(ErdmaCore *c)
{
    memset(&c->n, 0, sizeof(c->n));
    c->mtu = 1500;
    c->retrans = 24;
    c->ext_mask = 0;
    c->ext_delack = 0;
}

static void regs_reset(ErdmaCore *c)
{
    erdma_core_quiesce(c);
    regs_clear_soft_state(c);
    memset(&c->regs, 0, sizeof(c->regs));
    c->regs.status = ERDMA_STATUS_RESET_DONE;
    erdma_info(c, "reset");
}

static uint64_t regs_base(uint32_t hi, uint32_t lo)
{
    return (uint64_t)hi << 32 | lo;
}

static bool regs_depth_valid(ErdmaCore *c, const char *ring, uint32_t depth,
                             uint32_t max)
{
    if (!erdma_ring_valid_depth(depth, max)) {
        erdma_guest_error(c, "INIT: depth of the %s is %u, expected a power of "
                          "two up to %u", ring, depth, max);
        return false;
    }
    return true;
}

static bool regs_base_valid(ErdmaCore *c, const char *ring, uint32_t lo,
                            uint32_t entry)
{
    if (lo % entry) {
        erdma_guest_error(c, "INIT: low base address of the %s is 0x%x, "
                          "expected a multiple of %u", ring, lo, entry);
        return false;
    }
    return true;
}

static bool regs_valid(ErdmaCore *c)
{
    const ErdmaRegs *r = &c->regs;

    return regs_depth_valid(c, "CMDQ", r->cmdq_depth, ERDMA_LIMIT_CMDQ_DEPTH) &&
           regs_depth_valid(c, "CMDQ EQ", r->eq_depth, ERDMA_LIMIT_EQ_DEPTH) &&
           regs_depth_valid(c, "AEQ", r->aeq_depth, ERDMA_LIMIT_EQ_DEPTH) &&
           regs_base_valid(c, "CMDQ SQ", r->sq_lo, ERDMA_WQEBB_SIZE) &&
           regs_base_valid(c, "CMDQ CQ", r->cq_lo, ERDMA_CQE_SIZE) &&
           regs_base_valid(c, "CMDQ EQ", r->eq_lo, ERDMA_EQE_SIZE) &&
           regs_base_valid(c, "AEQ", r->aeq_lo, ERDMA_EQE_SIZE);
}

/* Power-on state: unlike RESET, nothing says that a reset was done */
void erdma_core_reset(ErdmaCore *c)
{
    regs_reset(c);
    c->regs.status = 0;
    if (erdma_fault_at(c, ERDMA_POINT_RESET)) {
        c->hooks->was_reset(c);
    }
}

/* From any state: a function left running is stopped first (2.4) */
static void regs_init(ErdmaCore *c)
{
    ErdmaRegs *r = &c->regs;

    if (c->ready) {
        erdma_core_quiesce(c);
    }
    regs_clear_soft_state(c);
    r->status &= ~ERDMA_STATUS_INIT_DONE;
    if (!regs_valid(c)) {
        return;
    }
    erdma_cmdq_start(c, regs_base(r->sq_hi, r->sq_lo),
                     regs_base(r->cq_hi, r->cq_lo), r->cmdq_depth);
    erdma_eq_init(&c->eq[0], regs_base(r->eq_hi, r->eq_lo), r->eq_depth,
                  ERDMA_VECTOR_COMMON, r->eq_dbrec);
    erdma_eq_init(&c->aeq, regs_base(r->aeq_hi, r->aeq_lo), r->aeq_depth,
                  ERDMA_VECTOR_COMMON, r->aeq_dbrec);
    c->ready = true;
    r->status |= ERDMA_STATUS_INIT_DONE;
    if (c->hooks) {
        c->hooks->started(c);
    }
    erdma_info(c, "ready, command queue of %u blocks", r->cmdq_depth);
}

/* ---- writing ---- */

static void regs_write_ctrl(ErdmaCore *c, uint32_t value)
{
    if (value & ERDMA_CTRL_RESET) {
        regs_reset(c);
    } else if (value & ERDMA_CTRL_INIT) {
        regs_init(c);
    }
}

static void regs_write_eq_doorbell(ErdmaCore *c, ErdmaEq *eq, uint64_t offset,
                                   uint64_t value)
{
    if (!c->ready || !eq->live) {
        erdma_db_drop(c, offset, value);
        return;
    }
    c->n.doorbells_eq++;
    erdma_eq_doorbell(c, eq, value);
}

static void regs_write_long(ErdmaCore *c, uint32_t offset, uint64_t value)
{
    uint64_t *lng = regs_long(&c->regs, offset);

    if (lng) {
        *lng = value;
    } else if (offset == ERDMA_REG_AEQ_DB) {
        regs_write_eq_doorbell(c, &c->aeq, offset, value);
    } else if (offset >= ERDMA_REG_EQ_DB(0) &&
               offset < ERDMA_REG_EQ_DB(ERDMA_MAX_VECTORS)) {
        regs_write_eq_doorbell(c, &c->eq[(offset - ERDMA_REG_EQ_DB(0)) / 8],
                               offset, value);
    } else if (offset == ERDMA_REG_CMDQ_SQ_DB) {
        erdma_cmdq_doorbell(c, value);
    } else if (offset == ERDMA_REG_CMDQ_CQ_DB) {
        erdma_cmdq_arm(c, value);
    } else {
        erdma_guest_error(c,
                          "write of 8 bytes to offset 0x%x, expected a "
                          "register of "
                          "8 bytes",
                          offset);
    }
}

void erdma_reg_write(ErdmaCore *c, uint64_t offset, uint64_t value,
                     unsigned size)
{
    uint32_t *word = regs_word(&c->regs, offset);

    if (size == 8 && offset % 8 == 0) {
        regs_write_long(c, offset, value);
    } else if (size == 4 && offset == ERDMA_REG_CTRL) {
        regs_write_ctrl(c, value);
    } else if (size == 4 && word) {
        *word = value;
    } else {
        erdma_guest_error(c, "write of %u bytes to offset 0x%llx, expected a "
                          "writable register of that size", size,
                          (unsigned long long)offset);
    }
}
