/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration of a card: recommended values, and what cannot be. */
#include "core_int.h"

void erdma_core_config_init(ErdmaConfig *cfg)
{
    *cfg = (ErdmaConfig) {
        .bar0_size = 16 * 1024 * 1024,
        .vectors = ERDMA_MAX_VECTORS,
        .version = ERDMA_VERSION_2,
        .fw_version = 0x00000225,
        .flags = ERDMA_FLAG_EXT_DB | ERDMA_FLAG_MTT_VA | ERDMA_FLAG_QUERY_QC |
                 ERDMA_FLAG_ATOMIC,
        .max_mr_size = 31,
        .max_recv_wr = ERDMA_MAX_RECV_WR_LOG,
        .max_cqe = ERDMA_MAX_CQE_LOG,
        .max_ah = 10,
        .max_gid = 4,
        .max_mw = 0,
        .qblock = 64,
        .default_cc = ERDMA_CC_CUBIC,
        .local_dma_key = 0xffffff00,
        .grp_num = 0,
        .hold_ns = 10ull * 1000000000,
    };
}

static const char *config_check_identity(const ErdmaConfig *cfg)
{
    static const uint8_t none[6];

    if (!memcmp(cfg->mac, none, sizeof(none))) {
        return "mac is not set: it must be that of the paired network adapter";
    }
    if (cfg->mac[0] & 1) {
        return "mac is a multicast address";
    }
    if (!cfg->version) {
        return "version 0 means that the function is not usable";
    }
    return NULL;
}

static const char *config_check_shape(const ErdmaConfig *cfg)
{
    if (cfg->bar0_size < ERDMA_BAR0_MIN_SIZE ||
        cfg->bar0_size > ERDMA_LIMIT_BAR0_SIZE ||
        cfg->bar0_size & (cfg->bar0_size - 1)) {
        return "bar0_size must be a power of two from 512 KiB to 256 MiB";
    }
    if ((cfg->flags & ERDMA_FLAG_EXT_DB) && !erdma_db_context_count(cfg)) {
        return "flag ext-db needs a bar0_size of at least 1 MiB";
    }
    if (cfg->vectors < 2 || cfg->vectors > ERDMA_MAX_VECTORS) {
        return "vectors must be 2 to 32";
    }
    if (cfg->grp_num > ERDMA_LIMIT_GRP_NUM) {
        return "grp_num must be 0 to 24";
    }
    if (!cfg->hold_ns || cfg->hold_ns > ERDMA_LIMIT_HOLD_NS) {
        return "hold time must be more than 0 and at most one hour";
    }
    return NULL;
}

static const char *config_check_limits(const ErdmaConfig *cfg)
{
    uint32_t mrs = 2u * cfg->qblock * ERDMA_QPS_PER_QBLOCK;

    if (cfg->qblock < 1 || cfg->qblock > ERDMA_MAX_QBLOCK) {
        return "qblock must be 1 to 512";
    }
    if (cfg->max_recv_wr > ERDMA_MAX_RECV_WR_LOG) {
        return "max_recv_wr is a power of two of at most 15";
    }
    if (cfg->max_cqe > ERDMA_MAX_CQE_LOG) {
        return "max_cqe is a power of two of at most 20";
    }
    if (cfg->max_mr_size < ERDMA_LIMIT_PAGE_SHIFT_MIN ||
        cfg->max_mr_size > ERDMA_LIMIT_MR_SIZE_LOG) {
        return "max_mr_size is a power of two from 12 to 39";
    }
    if (cfg->max_ah > 31 || cfg->max_gid > 15 || cfg->max_mw > 31) {
        return "max_ah and max_mw are powers of two of at most 31, max_gid 15";
    }
    if (cfg->default_cc >= ERDMA_CC_COUNT) {
        return "default_cc must be 0 to 4";
    }
    if (ERDMA_GET(ERDMA_STAG_INDEX, cfg->local_dma_key) < mrs) {
        return "local_dma_key could be the key of a memory region";
    }
    return NULL;
}

const char *erdma_core_config_check(const ErdmaConfig *cfg)
{
    const char *wrong = config_check_identity(cfg);

    if (!wrong) {
        wrong = config_check_shape(cfg);
    }
    return wrong ? wrong : config_check_limits(cfg);
}
