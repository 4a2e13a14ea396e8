/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the card's core needs from its surroundings, by means of QEMU.
 *
 * All of it runs under QEMU's big lock. The core is never entered a second
 * time while a call into it is in progress, by whatever road:
 *
 * - the core reaches RAM only, so its own DMA cannot become an MMIO access;
 * - an interrupt is a memory write to an address chosen by the guest, which may
 *   be a register of this or another card, configuration space, or a hot-plug
 *   port. So interrupts are noted, and sent after the core has returned;
 * - what remains (a vIOMMU reading tables that the guest placed on our
 *   registers) finds the core busy, and nothing happens.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/log.h"
#include "qapi/error.h"
#include "hw/pci/msix.h"
#include "erdma_pci.h"
#include "erdma_qom.h"
#include "fabric.h"
#include "trace.h"

/* Messages sent in one go before the main loop has its turn again */
#define IRQ_BUDGET 256

/* Cards of this process can share a fabric, hence also "busy" */
static struct {
    bool busy;                      /* inside a call into the core */
    bool delivering;                /* inside host_send_irqs() */
    QTAILQ_HEAD(, ErdmaPci) irq_cards;
} host = {
    .irq_cards = QTAILQ_HEAD_INITIALIZER(host.irq_cards),
};

static const char *host_card_id(ErdmaPci *s)
{
    return s->parent_obj.qdev.id ?: s->parent_obj.name;
}

static void host_irq_queue(ErdmaPci *s)
{
    if (!s->irq_queued) {
        s->irq_queued = true;
        QTAILQ_INSERT_TAIL(&host.irq_cards, s, irq_link);
    }
}

static void host_irq_unqueue(ErdmaPci *s)
{
    s->irqs = 0;
    if (s->irq_queued) {
        s->irq_queued = false;
        QTAILQ_REMOVE(&host.irq_cards, s, irq_link);
    }
}

/*
 * The core has returned: send the interrupts. A message can lead to anything,
 * including the removal of the card, so nothing is retained across it.
 */
static void host_send_irqs(void)
{
    unsigned budget = IRQ_BUDGET;
    ErdmaPci *s;

    if (host.delivering) {
        return;                     /* the outer one goes on */
    }
    host.delivering = true;
    while ((s = QTAILQ_FIRST(&host.irq_cards)) && budget) {
        unsigned vector = ctz32(s->irqs);

        s->irqs &= s->irqs - 1;
        if (!s->irqs) {
            host_irq_unqueue(s);
        }
        budget--;
        msix_notify(&s->parent_obj, vector);
    }
    host.delivering = false;
    if (s) {
        qemu_bh_schedule(s->bh);
    }
}

static inline ErdmaLogLevel host_log_level(void)
{
    if (trace_event_get_state_backends(TRACE_ERDMA_DEBUG)) {
        return ERDMA_LOG_TRACE;
    }
    if (trace_event_get_state_backends(TRACE_ERDMA_INFO)) {
        return ERDMA_LOG_INFO;
    }
    return ERDMA_LOG_GUEST_ERROR;
}

/* Every call into the core stands between these two. */
static inline bool host_enter(ErdmaPci *s)
{
    if (unlikely(host.busy || !s->core)) {
        return false;
    }
    if (unlikely(s->log_level != host_log_level())) {
        s->log_level = host_log_level();
        erdma_core_set_log_level(s->core, s->log_level);
    }
    host.busy = true;
    rcu_read_lock();                /* map() looks up the memory map */
    return true;
}

/* Other processes first: they work while our guest takes its interrupts. */
static inline void host_leave(void)
{
    rcu_read_unlock();
    erdma_fabric_flush();
    host.busy = false;
    if (unlikely(!QTAILQ_EMPTY(&host.irq_cards))) {
        host_send_irqs();
    }
}

bool erdma_host_enter(void)
{
    if (host.busy) {
        return false;
    }
    host.busy = true;
    rcu_read_lock();
    return true;
}

void erdma_host_leave(void)
{
    host_leave();
}

static void host_note_reentry(ErdmaPci *s, const char *what)
{
    qemu_log_mask(LOG_GUEST_ERROR, "erdma %s: %s while the card works: the "
                  "guest made it access itself\n", host_card_id(s), what);
}

/* ---- ErdmaOps: guest memory ---- */

static AddressSpace *host_card_memory(ErdmaPci *s)
{
    return pci_get_address_space(&s->parent_obj);
}

/*
 * Like address_space_map(), but for RAM only: a bounce buffer would mean MMIO
 * from inside the core. With bus mastering off the address space is empty.
 */
static void *host_map(void *opaque, uint64_t addr, uint64_t *len,
                      bool is_write)
{
    ErdmaPci *s = opaque;
    hwaddr got = *len, xlat = 0;
    MemoryRegion *mr;
    void *host_addr;

    if (unlikely(!s->core || !got)) {
        return NULL;
    }
    mr = address_space_translate(host_card_memory(s), addr, &xlat, &got,
                                 is_write,
                                 MEMTXATTRS_UNSPECIFIED);
    if (unlikely(!memory_region_is_ram(mr) ||
                 !erdma_access_is_direct(mr, is_write) || !got)) {
        trace_erdma_no_dma(host_card_id(s), addr, *len, is_write);
        return NULL;
    }
    host_addr = qemu_map_ram_ptr(mr->ram_block, xlat);
    if (is_write) {
        memory_region_ref(mr);      /* given back by address_space_unmap() */
    }
    *len = got;
    return host_addr;
}

/*
 * After writing, address_space_unmap() marks the pages dirty and throws away
 * code translated from them. Reading leaves nothing to do: the big lock and the
 * RCU section of host_enter() holds the memory where it was.
 */
static void host_unmap(void *opaque, void *host_addr, uint64_t len,
                       bool is_write, uint64_t done)
{
    ErdmaPci *s = opaque;

    if (is_write) {
        address_space_unmap(host_card_memory(s), host_addr, len, done > 0,
                            done);
    }
}

static bool host_copy(ErdmaPci *s, uint64_t addr, void *buf, size_t len,
                      bool is_write)
{
    uint8_t *p = buf;

    while (len) {
        uint64_t got = len;
        void *host_addr = host_map(s, addr, &got, is_write);

        if (!host_addr) {
            return false;
        }
        if (is_write) {
            memcpy(host_addr, p, got);
        } else {
            memcpy(p, host_addr, got);
        }
        host_unmap(s, host_addr, got, is_write, got);
        addr += got;
        p += got;
        len -= got;
    }
    return true;
}

static bool host_read(void *opaque, uint64_t addr, void *dst, size_t len)
{
    return host_copy(opaque, addr, dst, len, false);
}

static bool host_write(void *opaque, uint64_t addr, const void *src,
                       size_t len)
{
    return host_copy(opaque, addr, (void *)src, len, true);
}

static bool host_share(void *opaque, const void *host_addr, uint64_t *len,
                       uint32_t *region, uint64_t *offset)
{
    ErdmaPci *s = opaque;

    return s->fabric->mesh &&
           erdma_mesh_share(s->fabric->mesh, host_addr, len, region, offset);
}

/* ---- ErdmaOps: interrupts, time, messages ---- */

static void host_irq(void *opaque, unsigned vector)
{
    ErdmaPci *s = opaque;

    if (s->core && vector < s->cfg.vectors) {
        trace_erdma_irq(host_card_id(s), vector);
        s->irqs |= 1u << vector;
        host_irq_queue(s);
    }
}

static void host_kick(void *opaque)
{
    ErdmaPci *s = opaque;

    if (s->core) {
        trace_erdma_kick(host_card_id(s));
        qemu_bh_schedule(s->bh);
    }
}

/*
 * The card lives in the guest's time: while the VM stands still, or is traced
 * instruction by instruction, the processors cannot do their part and no
 * deadline of the card may pass. It also makes tests exact (clock_step).
 */
static uint64_t host_now(void *opaque)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

static void host_set_timer(void *opaque, uint64_t deadline_ns)
{
    ErdmaPci *s = opaque;

    if (!s->core) {
        return;
    }
    if (deadline_ns) {
        trace_erdma_timer(host_card_id(s),
                          (int64_t)(deadline_ns - host_now(s)) / SCALE_MS);
        timer_mod_ns(s->timer, MIN(deadline_ns, INT64_MAX));
    } else {
        timer_del(s->timer);
    }
}

static void host_log(void *opaque, ErdmaLogLevel level, const char *text)
{
    ErdmaPci *s = opaque;

    switch (level) {
    case ERDMA_LOG_GUEST_ERROR:
        trace_erdma_guest_error(host_card_id(s), text);
        qemu_log_mask(LOG_GUEST_ERROR, "erdma %s: %s\n", host_card_id(s), text);
        break;
    case ERDMA_LOG_INFO:
        trace_erdma_info(host_card_id(s), text);
        break;
    case ERDMA_LOG_TRACE:
        trace_erdma_debug(host_card_id(s), text);
        break;
    }
}

static void host_unplug(void *opaque)
{
    erdma_unplug_later(opaque);
}

static const ErdmaOps host_ops = {
    .map = host_map,
    .unmap = host_unmap,
    .read = host_read,
    .write = host_write,
    .irq = host_irq,
    .kick = host_kick,
    .set_timer = host_set_timer,
    .now = host_now,
    .share = host_share,
    .unplug = host_unplug,
    .log = host_log,
};

/* ---- calls into the core ---- */

uint64_t erdma_host_mmio_read(ErdmaPci *s, uint64_t addr, unsigned size)
{
    uint64_t value = 0;

    if (unlikely(!host_enter(s))) {
        host_note_reentry(s, "register read");
        return 0;
    }
    value = erdma_core_mmio_read(s->core, addr, size);
    host_leave();
    trace_erdma_mmio_read(host_card_id(s), addr, size, value);
    return value;
}

void erdma_host_mmio_write(ErdmaPci *s, uint64_t addr, uint64_t value,
                           unsigned size)
{
    trace_erdma_mmio_write(host_card_id(s), addr, size, value);
    if (unlikely(!host_enter(s))) {
        host_note_reentry(s, "register write");
        return;
    }
    erdma_core_mmio_write(s->core, addr, value, size);
    host_leave();
}

/* A stopped VM's memory stands still, too. */
static bool host_may_run(ErdmaPci *s)
{
    s->run_on_resume |= !runstate_is_running();
    return !s->run_on_resume;
}

static void host_run(void *opaque)
{
    ErdmaPci *s = opaque;

    if (host_may_run(s) && host_enter(s)) {
        erdma_core_run(s->core);
        host_leave();
    }
}

static void host_timer(void *opaque)
{
    ErdmaPci *s = opaque;

    if (host_enter(s)) {
        erdma_core_timer(s->core);
        host_leave();
    }
}

static void host_vm_change(void *opaque, bool running, RunState state)
{
    ErdmaPci *s = opaque;

    if (running && s->run_on_resume) {
        s->run_on_resume = false;
        qemu_bh_schedule(s->bh);
    }
}

void erdma_host_reset(ErdmaPci *s)
{
    if (!s->core) {
        return;
    }
    trace_erdma_reset(host_card_id(s));
    host_irq_unqueue(s);
    if (host_enter(s)) {
        erdma_core_reset(s->core);
        host_leave();
    } else {
        host_note_reentry(s, "reset");
    }
}

bool erdma_host_init(ErdmaPci *s, Error **errp)
{
    s->fabric = erdma_fabric_get(s->fabric_dir, errp);
    if (!s->fabric) {
        return false;
    }
    s->core = erdma_core_new(&s->cfg, &host_ops, s, s->fabric->core);
    if (!s->core) {
        erdma_fabric_put(s->fabric);
        error_setg(errp, "not enough memory for the card");
        return false;
    }
    s->log_level = ERDMA_LOG_GUEST_ERROR;
    erdma_core_set_log_level(s->core, s->log_level);
    s->bh = qemu_bh_new_guarded(host_run, s,
                                &DEVICE(s)->mem_reentrancy_guard);
    s->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, host_timer, s);
    s->vm_change = qdev_add_vm_change_state_handler(DEVICE(s), host_vm_change,
                                                    s);
    return true;
}

void erdma_host_exit(ErdmaPci *s)
{
    ErdmaCore *core = s->core;

    host_irq_unqueue(s);
    qemu_del_vm_change_state_handler(s->vm_change);
    timer_free(s->timer);
    qemu_bh_delete(s->bh);
    if (!host_enter(s)) {
        host_note_reentry(s, "removal");
        object_ref(OBJECT(s));      /* rather leaked than used after free */
        s->core = NULL;
        return;
    }
    s->core = NULL;                 /* its callbacks find nobody */
    erdma_core_free(core);
    host_leave();                   /* peers may have got interrupts */
    erdma_fabric_put(s->fabric);
}

/* ---- who runs the VM looks and interferes ---- */

/* The core, for a call out of the monitor; NULL and @errp if that is not so */
static ErdmaCore *host_enter_core(ErdmaPci *s, Error **errp)
{
    if (!s->core) {
        error_setg(errp, "the card is not realized");
        return NULL;
    }
    if (!host_enter(s)) {
        error_setg(errp, "the card is busy");
        return NULL;
    }
    return s->core;
}

#define WHY_LEN 1024

bool erdma_host_show(ErdmaPci *s, const char *what, const ErdmaShowOps *ops,
                     void *opaque, Error **errp)
{
    ErdmaCore *core = host_enter_core(s, errp);
    char why[WHY_LEN];
    bool ok;

    if (!core) {
        return false;
    }
    if (!strcmp(what, "peers")) {
        if (ops) {
            erdma_fabric_show(s->fabric, ops, opaque);
        }
        host_leave();
        return true;
    }
    ok = erdma_core_show(core, what, ops, opaque, why, sizeof(why));
    host_leave();
    if (!ok) {
        error_setg(errp, "%s", why);
    }
    return ok;
}

bool erdma_host_add_fault(ErdmaPci *s, const char *line, uint32_t *id,
                          Error **errp)
{
    ErdmaCore *core = host_enter_core(s, errp);
    char why[WHY_LEN];
    bool ok;

    if (!core) {
        return false;
    }
    ok = erdma_core_fault_add(core, line, id, why, sizeof(why));
    host_leave();
    if (!ok) {
        error_setg(errp, "fault '%s': %s", line, why);
    }
    return ok;
}

bool erdma_host_clear_fault(ErdmaPci *s, const char *which, Error **errp)
{
    ErdmaCore *core = host_enter_core(s, errp);
    char why[WHY_LEN];
    bool ok;

    if (!core) {
        return false;
    }
    ok = erdma_core_fault_clear(core, which, why, sizeof(why));
    host_leave();
    if (!ok) {
        error_setg(errp, "%s", why);
    }
    return ok;
}

bool erdma_host_set_limits(ErdmaPci *s, Error **errp)
{
    ErdmaCore *core = host_enter_core(s, errp);

    if (!core) {
        return false;
    }
    erdma_core_set_limits(core, &s->limits);
    host_leave();
    return true;
}
