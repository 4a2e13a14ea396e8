/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Surprise removal: the card leaves its slot without asking the guest. Behind a
 * PCI Express port the guest sees it as with hardware, by the presence bit;
 * elsewhere (bus 0) there is no such bit, so the dead card stays where it is
 * and reads as ones, configuration space included.
 */
#include "qemu/osdep.h"
#include "hw/pci/msi.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci_bridge.h"
#include "hw/pci/pci_bus.h"
#include "hw/pci/pcie.h"
#include "hw/pci/pcie_port.h"
#include "erdma_qom.h"
#include "trace.h"

/* The port above, if it is one that reports hot-plug events itself */
static PCIDevice *unplug_native_port(PCIDevice *card)
{
    PCIDevice *port = pci_get_bus(card)->parent_dev;
    uint8_t *cap;

    if (!port || !object_dynamic_cast(OBJECT(port), TYPE_PCIE_SLOT) ||
        !port->exp.exp_cap) {
        return NULL;
    }
    cap = port->config + port->exp.exp_cap;
    return pci_get_long(cap + PCI_EXP_SLTCAP) & PCI_EXP_SLTCAP_HPC ? port :
           NULL;
}

/*
 * Nobody there, and the link is down: what the port saw. A port with an
 * attention button is listened to for that alone (and for changes of the link,
 * which QEMU's ports cannot take back), so it seems to be pressed: the guest
 * looks, and sees what else there is.
 */
static void unplug_notify_guest(PCIDevice *port)
{
    uint8_t *cap = port->config + port->exp.exp_cap;
    uint16_t wanted;

    pci_word_test_and_clear_mask(cap + PCI_EXP_SLTSTA, PCI_EXP_SLTSTA_PDS);
    pci_word_test_and_clear_mask(cap + PCI_EXP_LNKSTA, PCI_EXP_LNKSTA_DLLLA);
    pci_word_test_and_set_mask(cap + PCI_EXP_SLTSTA,
                               PCI_EXP_SLTSTA_PDC | PCI_EXP_SLTSTA_ABP);
    wanted = pci_get_word(cap + PCI_EXP_SLTCTL);
    if (!(wanted & PCI_EXP_SLTCTL_HPIE) ||
        !(wanted & (PCI_EXP_SLTCTL_PDCE | PCI_EXP_SLTCTL_ABPE)) ||
        port->exp.hpev_notified) {
        return;
    }
    port->exp.hpev_notified = true;
    if (msix_enabled(port)) {
        msix_notify(port, pcie_cap_flags_get_vector(port));
    } else if (msi_enabled(port)) {
        msi_notify(port, pcie_cap_flags_get_vector(port));
    } else if (pci_intx(port) != -1) {
        pci_set_irq(port, 1);
    }
}

static void unplug_pull_out(void *opaque)
{
    ErdmaPci *s = opaque;
    DeviceState *dev = DEVICE(s);
    PCIDevice *port;

    if (dev->realized && s->core) {
        port = unplug_native_port(PCI_DEVICE(s));
        trace_erdma_unplug(s->parent_obj.name, port != NULL);
        if (port) {
            qdev_unrealize(dev);
            object_unparent(OBJECT(dev));
            unplug_notify_guest(port);
        }
    }
    object_unref(OBJECT(s));
}

void erdma_unplug_later(ErdmaPci *s)
{
    object_ref(OBJECT(s));
    aio_bh_schedule_oneshot(qemu_get_aio_context(), unplug_pull_out, s);
}
