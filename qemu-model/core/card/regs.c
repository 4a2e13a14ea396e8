/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Register file, reset and INIT handshake (2.2 to 2.4). */
#include "core_int.h"

/* ---- reading ---- */

static uint64_t counter(const ErdmaCore *c, uint32_t offset)
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

/* Where a queue register that is written as one word is kept */
static uint32_t *word_register(ErdmaRegs *r, uint32_t offset)
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

static uint64_t *long_register(ErdmaRegs *r, uint32_t offset)
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

static uint32_t read_word(ErdmaCore *c, uint32_t offset)
{
    const uint8_t *mac = c->cfg.mac;
    const uint32_t *word = word_register(&c->regs, offset);
    const uint64_t *lng = long_register(&c->regs, offset & ~7u);

    if (word) {
        return *word;
    }
    if (lng) {
        return *lng >> (offset & 4) * 8;
    }
    if (offset >= ERDMA_REG_ST_TSO_IN_PKTS &&
        offset < ERDMA_REG_ST_RX_PPS_DROP_PKTS + 8) {
        return counter(c, offset & ~7u) >> (offset & 4) * 8;
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
    value = read_word(c, offset & ~3u);
    if (size == 8) {
        return value | (uint64_t)read_word(c, offset + 4) << 32;
    }
    value >>= (offset & 3) * 8;
    return value & (0xffffffffu >> (32 - 8 * size));
}

/* ---- reset and init ---- */

static void clear_soft_state(ErdmaCore *c)
{
    memset(&c->n, 0, sizeof(c->n));
    c->mtu = 1500;
    c->retrans = 24;
    c->ext_mask = 0;
    c->ext_delack = 0;
}

static void reset(ErdmaCore *c)
{
    erdma_core_quiesce(c);
    clear_soft_state(c);
    memset(&c->regs, 0, sizeof(c->regs));
    c->regs.status = ERDMA_STATUS_RESET_DONE;
    erdma_info(c, "reset");
}

static uint64_t base(uint32_t hi, uint32_t lo)
{
    return (uint64_t)hi << 32 | lo;
}

static bool registers_valid(const ErdmaRegs *r)
{
    return erdma_ring_valid_depth(r->cmdq_depth, ERDMA_LIMIT_CMDQ_DEPTH) &&
           erdma_ring_valid_depth(r->eq_depth, ERDMA_LIMIT_EQ_DEPTH) &&
           erdma_ring_valid_depth(r->aeq_depth, ERDMA_LIMIT_EQ_DEPTH) &&
           !(r->sq_lo % ERDMA_WQEBB_SIZE) && !(r->cq_lo % ERDMA_CQE_SIZE) &&
           !(r->eq_lo % ERDMA_EQE_SIZE) && !(r->aeq_lo % ERDMA_EQE_SIZE);
}

/* Power-on state: unlike RESET, nothing says that a reset was done */
void erdma_core_reset(ErdmaCore *c)
{
    reset(c);
    c->regs.status = 0;
}

/* From any state: a function left running is stopped first (2.4) */
static void init(ErdmaCore *c)
{
    ErdmaRegs *r = &c->regs;

    if (c->ready) {
        erdma_core_quiesce(c);
    }
    clear_soft_state(c);
    r->status &= ~ERDMA_STATUS_INIT_DONE;
    if (!registers_valid(r)) {
        erdma_guest_error(c, "INIT: depths %u, %u, %u or base addresses are "
                          "not usable", r->cmdq_depth, r->eq_depth,
                          r->aeq_depth);
        return;
    }
    erdma_cmdq_start(c, base(r->sq_hi, r->sq_lo), base(r->cq_hi, r->cq_lo),
                     r->cmdq_depth);
    erdma_eq_init(&c->eq[0], base(r->eq_hi, r->eq_lo), r->eq_depth,
                  ERDMA_VECTOR_COMMON, r->eq_dbrec);
    erdma_eq_init(&c->aeq, base(r->aeq_hi, r->aeq_lo), r->aeq_depth,
                  ERDMA_VECTOR_COMMON, r->aeq_dbrec);
    c->ready = true;
    r->status |= ERDMA_STATUS_INIT_DONE;
    if (c->hooks) {
        c->hooks->started(c);
    }
    erdma_info(c, "ready, command queue of %u blocks", r->cmdq_depth);
}

/* ---- writing ---- */

static void write_ctrl(ErdmaCore *c, uint32_t value)
{
    if (value & ERDMA_CTRL_RESET) {
        reset(c);
    } else if (value & ERDMA_CTRL_INIT) {
        init(c);
    }
}

static void write_eq_doorbell(ErdmaCore *c, ErdmaEq *eq, uint64_t offset,
                              uint64_t value)
{
    if (!c->ready || !eq->live) {
        erdma_db_drop(c, offset, value);
        return;
    }
    c->n.doorbells_eq++;
    erdma_eq_doorbell(c, eq, value);
}

static void write_long(ErdmaCore *c, uint32_t offset, uint64_t value)
{
    uint64_t *lng = long_register(&c->regs, offset);

    if (lng) {
        *lng = value;
    } else if (offset == ERDMA_REG_AEQ_DB) {
        write_eq_doorbell(c, &c->aeq, offset, value);
    } else if (offset >= ERDMA_REG_EQ_DB(0) &&
               offset < ERDMA_REG_EQ_DB(ERDMA_MAX_VECTORS)) {
        write_eq_doorbell(c, &c->eq[(offset - ERDMA_REG_EQ_DB(0)) / 8], offset,
                          value);
    } else if (offset == ERDMA_REG_CMDQ_SQ_DB) {
        erdma_cmdq_doorbell(c, value);
    } else if (offset == ERDMA_REG_CMDQ_CQ_DB) {
        erdma_cmdq_arm(c, value);
    } else {
        erdma_guest_error(c, "write to register 0x%x", offset);
    }
}

void erdma_reg_write(ErdmaCore *c, uint64_t offset, uint64_t value,
                     unsigned size)
{
    uint32_t *word = word_register(&c->regs, offset);

    if (size == 8 && offset % 8 == 0) {
        write_long(c, offset, value);
    } else if (size == 4 && offset == ERDMA_REG_CTRL) {
        write_ctrl(c, value);
    } else if (size == 4 && word) {
        *word = value;
    } else {
        erdma_guest_error(c, "write of %u bytes to register 0x%llx", size,
                          (unsigned long long)offset);
    }
}
