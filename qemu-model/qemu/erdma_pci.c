/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Elastic RDMA Adapter, PCI 1ded:107f: the PCI function.
 *
 * Usage: -device virtio-net-pci,netdev=n0,mac=52:54:00:77:00:01
 *        -device erdma,mac=52:54:00:77:00:01
 *
 * "mac" must be the permanent address of a network card of the same guest: the
 * driver pairs the two by it. All cards of one QEMU process reach each other;
 * with fabric=DIR, all those of any process that name the same directory.
 *
 * The card itself is in erdma_core.h; section numbers refer to
 * docs/erdma-hardware.md of the erdma project.
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "hw/pci/msix.h"
#include "hw/pci/pcie.h"
#include "erdma/erdma_hw.h"
#include "erdma_pci.h"
#include "erdma_qom.h"
#include "trace.h"

#define CAP_PM_OFFSET       0x40
#define CAP_MSIX_OFFSET     0x50
#define CAP_PCIE_OFFSET     0x80

#define MSIX_BAR_SIZE       (4 * KiB)
#define MSIX_PBA_OFFSET     0x800

/* ---- BAR0 ---- */

static uint64_t pci_fn_regs_read(void *opaque, hwaddr addr, unsigned size)
{
    ErdmaPci *s = opaque;

    if (unlikely(s->asleep)) {
        return UINT64_MAX;
    }
    return erdma_host_mmio_read(s, addr, size);
}

static void pci_fn_regs_write(void *opaque, hwaddr addr, uint64_t value,
                              unsigned size)
{
    ErdmaPci *s = opaque;

    if (likely(!s->asleep)) {
        erdma_host_mmio_write(s, addr, value, size);
    }
}

/* Every size and alignment gets to the core, which knows what to ignore. */
static const MemoryRegionOps pci_fn_regs_ops = {
    .read = pci_fn_regs_read,
    .write = pci_fn_regs_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = {
        .min_access_size = 1,
        .max_access_size = 8,
        .unaligned = true,
    },
    .impl = {
        .min_access_size = 1,
        .max_access_size = 8,
        .unaligned = true,
    },
};

/* ---- configuration space ---- */

/* Asleep means powered down: leaving D3hot resets, as PM_CTRL announces. */
static void pci_fn_update_power(PCIDevice *pci_dev)
{
    ErdmaPci *s = ERDMA(pci_dev);
    uint16_t ctrl = pci_get_word(pci_dev->config + CAP_PM_OFFSET + PCI_PM_CTRL);
    bool asleep = (ctrl & PCI_PM_CTRL_STATE_MASK) == 3;

    if (asleep == s->asleep) {
        return;
    }
    trace_erdma_power(pci_dev->name, asleep);
    s->asleep = asleep;
    if (asleep) {
        erdma_host_reset(s);
    } else {
        pci_device_reset(pci_dev);
    }
}

/* A card that was pulled out, or is not ready after a reset, answers nothing. */
static uint32_t pci_fn_config_read(PCIDevice *pci_dev, uint32_t addr, int len)
{
    ErdmaPci *s = ERDMA(pci_dev);

    if (unlikely(s->core && erdma_core_silent(s->core))) {
        return UINT32_MAX >> (32 - 8 * len);
    }
    return pci_default_read_config(pci_dev, addr, len);
}

static void pci_fn_config_write(PCIDevice *pci_dev, uint32_t addr, uint32_t val,
                                int len)
{
    ErdmaPci *s = ERDMA(pci_dev);

    if (unlikely(s->core && erdma_core_silent(s->core))) {
        return;
    }
    pci_default_write_config(pci_dev, addr, val, len);
    pcie_cap_flr_write_config(pci_dev, addr, val, len);
    pci_fn_update_power(pci_dev);
}

static bool pci_fn_init_caps(ErdmaPci *s, Error **errp)
{
    PCIDevice *pci_dev = PCI_DEVICE(s);

    if (pci_add_capability(pci_dev, PCI_CAP_ID_PM, CAP_PM_OFFSET,
                           PCI_PM_SIZEOF, errp) < 0) {
        return false;
    }
    pci_set_word(pci_dev->config + CAP_PM_OFFSET + PCI_PM_PMC,
                 PCI_PM_CAP_VER_1_2);
    pci_set_word(pci_dev->wmask + CAP_PM_OFFSET + PCI_PM_CTRL,
                 PCI_PM_CTRL_STATE_MASK);

    if (pcie_endpoint_cap_init(pci_dev, CAP_PCIE_OFFSET) < 0) {
        error_setg(errp, "cannot add the PCI Express capability");
        return false;
    }
    pcie_cap_flr_init(pci_dev);
    return true;
}

static bool pci_fn_init_msix(ErdmaPci *s, Error **errp)
{
    PCIDevice *pci_dev = PCI_DEVICE(s);
    unsigned i;

    memory_region_init(&s->msix, OBJECT(s), "erdma-msix", MSIX_BAR_SIZE);
    if (msix_init(pci_dev, s->cfg.vectors, &s->msix, ERDMA_BAR_MSIX, 0,
                  &s->msix, ERDMA_BAR_MSIX, MSIX_PBA_OFFSET, CAP_MSIX_OFFSET,
                  errp) < 0) {
        return false;
    }
    pci_register_bar(pci_dev, ERDMA_BAR_MSIX, PCI_BASE_ADDRESS_SPACE_MEMORY,
                     &s->msix);
    for (i = 0; i < s->cfg.vectors; i++) {
        msix_vector_use(pci_dev, i);
    }
    return true;
}

/* ---- life ---- */

static bool pci_fn_check_config(ErdmaPci *s, Error **errp)
{
    ERRP_GUARD();
    static const MACAddr none;
    const char *wrong;

    if (!memcmp(&s->mac, &none, sizeof(none))) {
        error_setg(errp, "property 'mac' is missing");
        error_append_hint(errp, "It must be the MAC address of a network card "
                          "of the same VM, which the driver pairs with this "
                          "one: -device virtio-net-pci,mac=M,... "
                          "-device erdma,mac=M\n");
        return false;
    }
    if (PCI_DEVICE(s)->romfile && *PCI_DEVICE(s)->romfile) {
        error_setg(errp, "the card has no option ROM: leave out 'romfile'");
        return false;
    }
    memcpy(s->cfg.mac, s->mac.a, sizeof(s->cfg.mac));
    s->cfg.hold_ns = (uint64_t)s->hold_ms * 1000000;
    wrong = erdma_core_config_check(&s->cfg);
    if (wrong) {
        g_autofree char *text = g_strdup(wrong);

        /* it speaks of the fields of ErdmaConfig */
        error_setg(errp, "%s", g_strdelimit(text, "_", '-'));
        return false;
    }
    return true;
}

/*
 * Connections lead into the memory of other cards and cannot move with one VM,
 * so there is no state to save: migration and snapshots are refused, by name.
 */
static bool pci_fn_refuse_migration(ErdmaPci *s, Error **errp)
{
    error_setg(&s->no_migration, "erdma card '%s' cannot be migrated or saved: "
               "its connections lead into the memory of other cards; "
               "unplug it before",
               PCI_DEVICE(s)->qdev.id ?: PCI_DEVICE(s)->name);
    return erdma_block_migration(&s->no_migration, errp);
}

static void pci_fn_realize(PCIDevice *pci_dev, Error **errp)
{
    ErdmaPci *s = ERDMA(pci_dev);

    if (!pci_fn_check_config(s, errp) || !pci_fn_refuse_migration(s, errp)) {
        return;
    }
    if (!erdma_host_init(s, errp)) {
        goto err_allow_migration;
    }
    if (!pci_fn_init_caps(s, errp)) {
        goto err_exit_host;
    }
    memory_region_init_io(&s->regs, OBJECT(s), &pci_fn_regs_ops, s,
                          "erdma-regs", s->cfg.bar0_size);
    pci_register_bar(pci_dev, ERDMA_BAR_REGS,
                     PCI_BASE_ADDRESS_SPACE_MEMORY |
                     PCI_BASE_ADDRESS_MEM_TYPE_64, &s->regs);
    if (!pci_fn_init_msix(s, errp)) {
        goto err_exit_host;
    }
    if (!erdma_qom_realize(s, errp)) {
        goto err_exit_msix;
    }
    return;

err_exit_msix:
    msix_unuse_all_vectors(pci_dev);
    msix_uninit(pci_dev, &s->msix, &s->msix);
err_exit_host:
    erdma_host_exit(s);
err_allow_migration:
    erdma_allow_migration(&s->no_migration);
}

static void pci_fn_unrealize(PCIDevice *pci_dev)
{
    ErdmaPci *s = ERDMA(pci_dev);

    erdma_host_exit(s);
    erdma_allow_migration(&s->no_migration);
    msix_unuse_all_vectors(pci_dev);
    msix_uninit(pci_dev, &s->msix, &s->msix);
}

/* System reset, reset of a bridge above, function-level reset, D3hot -> D0 */
static void pci_fn_reset(DeviceState *dev)
{
    ErdmaPci *s = ERDMA(dev);

    pci_word_test_and_clear_mask(s->parent_obj.config + CAP_PM_OFFSET +
                                 PCI_PM_CTRL, PCI_PM_CTRL_STATE_MASK);
    s->asleep = false;
    erdma_host_reset(s);
}

static void pci_fn_init(Object *obj)
{
    ErdmaPci *s = ERDMA(obj);

    erdma_core_config_init(&s->cfg);
    s->hold_ms = s->cfg.hold_ns / 1000000;
}

static void pci_fn_finalize(Object *obj)
{
    erdma_qom_finalize(ERDMA(obj));
}

/* The defaults come from the core, in pci_fn_init(). */
#define PROP(name, field, kind, type) \
    DEFINE_PROP(name, ErdmaPci, field, qdev_prop_##kind, type)

static ErdmaProperty pci_fn_properties[] = {
    DEFINE_PROP_MACADDR("mac", ErdmaPci, mac),
    PROP("bar0-size", cfg.bar0_size, size32, uint32_t),
    PROP("vectors", cfg.vectors, uint32, uint32_t),
    PROP("version", cfg.version, uint32, uint32_t),
    PROP("fw-version", cfg.fw_version, uint32, uint32_t),
    PROP("flags", cfg.flags, uint8, uint8_t),
    PROP("max-mr-size", cfg.max_mr_size, uint8, uint8_t),
    PROP("max-recv-wr", cfg.max_recv_wr, uint8, uint8_t),
    PROP("max-cqe", cfg.max_cqe, uint8, uint8_t),
    PROP("max-ah", cfg.max_ah, uint8, uint8_t),
    PROP("max-gid", cfg.max_gid, uint8, uint8_t),
    PROP("max-mw", cfg.max_mw, uint8, uint8_t),
    PROP("qblock", cfg.qblock, uint16, uint16_t),
    PROP("default-cc", cfg.default_cc, uint8, uint8_t),
    PROP("local-dma-key", cfg.local_dma_key, uint32, uint32_t),
    PROP("grp-num", cfg.grp_num, uint8, uint8_t),
    PROP("hold-ms", hold_ms, uint32, uint32_t),
    DEFINE_PROP_STRING("fabric", ErdmaPci, fabric_dir),
    ERDMA_PROP_END
};

static void pci_fn_class_init(ObjectClass *klass, ErdmaClassData *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);

    pc->realize = pci_fn_realize;
    pc->exit = pci_fn_unrealize;
    pc->config_read = pci_fn_config_read;
    pc->config_write = pci_fn_config_write;
    pc->vendor_id = ERDMA_PCI_VENDOR_ID;
    pc->device_id = ERDMA_PCI_DEVICE_ID;
    pc->class_id = ERDMA_PCI_CLASS >> 8;
    pc->revision = 1;
    erdma_set_reset(dc, pci_fn_reset);
    device_class_set_props(dc, pci_fn_properties);
    erdma_qom_class_init(klass);
    dc->desc = "Elastic RDMA Adapter";
    set_bit(DEVICE_CATEGORY_NETWORK, dc->categories);
}

static const TypeInfo pci_fn_type = {
    .name = TYPE_ERDMA,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(ErdmaPci),
    .instance_init = pci_fn_init,
    .instance_finalize = pci_fn_finalize,
    .class_init = pci_fn_class_init,
    /* Not also conventional PCI: QEMU could not know on which bus then. */
    .interfaces = (InterfaceInfo[]) {
        { INTERFACE_PCIE_DEVICE },
        { }
    },
};

static void pci_fn_register(void)
{
    type_register_static(&pci_fn_type);
}

ERDMA_TYPE_INIT(pci_fn_register)
