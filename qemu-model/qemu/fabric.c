/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fabrics: the core's wires on the mesh's connections. See fabric.h.
 *
 * Sockets are handled where everything else of the card is, under the big lock:
 * in a thread of their own when something arrives, and in the thread that rang
 * the doorbell when something is sent, at the end of the call into the core.
 */
#include "qemu/osdep.h"
#include <sys/mman.h>
#include "qemu/accel.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "qapi/error.h"
#include "erdma_pci.h"
#include "fabric.h"
#include "wire_thread.h"
#include "trace.h"

/* Most warnings in WARN_SECONDS, whatever peers do */
#define WARN_LINES          20
#define WARN_SECONDS        10

/* What the core may leave as incomplete must fit into the mesh's buffer */
QEMU_BUILD_BUG_ON(ERDMA_WIRE_MESSAGE_MAX > MESH_MESSAGE_MAX);

static QTAILQ_HEAD(, ErdmaHostFabric) meshed =
    QTAILQ_HEAD_INITIALIZER(meshed);
static ErdmaHostFabric *in_process;

/* What the core knows as ErdmaWire and the mesh as MeshPeer */
typedef struct HostWire {
    ErdmaWire *core;
    MeshPeer *peer;
    ErdmaHostFabric *fabric;
    bool lingers;                       /* in ErdmaHostFabric.lingering */
    QTAILQ_ENTRY(HostWire) link;
} HostWire;

/* ---- ErdmaWireOps ---- */

static bool fabric_wire_send(void *opaque, const void *data, size_t len,
                             bool later)
{
    HostWire *w = opaque;

    return erdma_mesh_send(w->peer, data, len, later);
}

static bool fabric_wire_pull(void *opaque, uint32_t region, uint64_t offset,
                             void *dst, size_t len)
{
    HostWire *w = opaque;

    return erdma_mesh_pull(w->peer, region, offset, dst, len);
}

static bool fabric_wire_linger(void *opaque)
{
    HostWire *w = opaque;
    bool will = erdma_wire_thread_linger(w->fabric->thread);

    if (will && !w->lingers) {
        w->lingers = true;
        QTAILQ_INSERT_TAIL(&w->fabric->lingering, w, link);
    }
    return will;
}

static void fabric_wire_broken(void *opaque, const char *why)
{
    HostWire *w = opaque;

    erdma_mesh_broken(w->peer, why);
}

static const ErdmaWireOps fabric_wire_ops = {
    .send = fabric_wire_send,
    .pull = fabric_wire_pull,
    .linger = fabric_wire_linger,
    .broken = fabric_wire_broken,
};

/* ---- MeshOps: wires; always inside erdma_host_enter() ---- */

static void *fabric_wire_new(void *opaque, MeshPeer *peer)
{
    ErdmaHostFabric *f = opaque;
    HostWire *w = g_new0(HostWire, 1);

    w->peer = peer;
    w->fabric = f;
    w->core = erdma_wire_new(f->core, &fabric_wire_ops, w);
    if (!w->core) {
        g_free(w);
        return NULL;
    }
    return w;
}

static size_t fabric_wire_input(void *wire, const void *data, size_t len,
                                bool *again)
{
    HostWire *w = wire;

    return erdma_wire_input(w->core, data, len, again);
}

static void fabric_wire_free(void *wire)
{
    HostWire *w = wire;

    if (w->lingers) {
        QTAILQ_REMOVE(&w->fabric->lingering, w, link);
    }
    erdma_wire_free(w->core);
    g_free(w);
}

/* ---- MeshOps: events ---- */

/* If the core is at work the descriptor stays ready: we are called again. */
static void fabric_on_ready(MeshWatch *w, bool readable, bool writable)
{
    if (erdma_host_enter()) {
        erdma_mesh_ready(w, readable, writable);
        erdma_host_leave();
    }
}

static void fabric_on_settle(void *opaque)
{
    ErdmaHostFabric *f = opaque;
    HostWire *w;

    if (!erdma_host_enter()) {
        erdma_wire_thread_linger(f->thread);
        return;
    }
    while ((w = QTAILQ_FIRST(&f->lingering))) {
        w->lingers = false;
        QTAILQ_REMOVE(&f->lingering, w, link);
        erdma_wire_settle(w->core);
    }
    erdma_host_leave();
}

static const ErdmaWireThreadOps thread_ops = {
    .ready = fabric_on_ready,
    .settle = fabric_on_settle,
};

static void fabric_watch(void *opaque, MeshWatch *w)
{
    ErdmaHostFabric *f = opaque;

    erdma_wire_thread_watch(f->thread, w);
}

static void fabric_kick(void *opaque)
{
    ErdmaHostFabric *f = opaque;

    qemu_bh_schedule(f->bh);
}

static void fabric_on_bh(void *opaque)
{
    ErdmaHostFabric *f = opaque;

    if (!erdma_host_enter()) {
        qemu_bh_schedule(f->bh);
        return;
    }
    erdma_mesh_run(f->mesh);
    erdma_host_leave();
}

/* Other processes live in the host's time, whatever the guest's does. */
static uint64_t fabric_now(void *opaque)
{
    return qemu_clock_get_ms(QEMU_CLOCK_REALTIME);
}

static void fabric_set_timer(void *opaque, uint64_t deadline_ms)
{
    ErdmaHostFabric *f = opaque;

    if (deadline_ms) {
        timer_mod(f->timer, deadline_ms);
    } else {
        timer_del(f->timer);
    }
}

static void fabric_on_timer(void *opaque)
{
    ErdmaHostFabric *f = opaque;

    if (!erdma_host_enter()) {
        timer_mod(f->timer, fabric_now(f) + 1);
        return;
    }
    erdma_mesh_timer(f->mesh);
    erdma_host_leave();
}

static void fabric_log(void *opaque, bool trouble, const char *text)
{
    ErdmaHostFabric *f = opaque;
    int64_t now = fabric_now(f);

    trace_erdma_fabric(text);
    if (!trouble) {
        return;
    }
    if (now - f->warned_since > WARN_SECONDS * 1000) {
        f->warned_since = now;
        f->warned = 0;
    }
    if (f->warned++ < WARN_LINES) {
        warn_report("erdma: fabric: %s", text);
    }
}

static const MeshOps mesh_ops = {
    .watch = fabric_watch,
    .kick = fabric_kick,
    .set_timer = fabric_set_timer,
    .now = fabric_now,
    .log = fabric_log,
    .wire_new = fabric_wire_new,
    .wire_input = fabric_wire_input,
    .wire_free = fabric_wire_free,
};

/* ---- what QEMU does meanwhile ---- */

/*
 * Memory that others may read is what the user made so: share=on, with a file
 * behind it. Called for all that exists when the notifier is added, then for
 * what is plugged in.
 */
static void fabric_on_ram_added(RAMBlockNotifier *n, void *host, size_t size,
                                size_t max_size)
{
    ErdmaHostFabric *f = container_of(n, ErdmaHostFabric, ram);
    const char *why;
    ram_addr_t offset;
    RAMBlock *rb;

    RCU_READ_LOCK_GUARD();
    rb = qemu_ram_block_from_host(host, false, &offset);
    if (!rb || offset || !qemu_ram_is_shared(rb) || qemu_ram_get_fd(rb) < 0) {
        return;
    }
    if (erdma_mesh_region_add(f->mesh, host, size, qemu_ram_get_fd(rb),
                              erdma_ram_fd_offset(rb), &why)) {
        trace_erdma_share(qemu_ram_get_idstr(rb), size);
        erdma_mesh_flush_all(f->mesh);
    } else {
        warn_report("erdma: memory '%s' is not shared: %s",
                    qemu_ram_get_idstr(rb), why);
    }
}

static void fabric_on_ram_removed(RAMBlockNotifier *n, void *host, size_t size,
                                  size_t max_size)
{
    ErdmaHostFabric *f = container_of(n, ErdmaHostFabric, ram);

    erdma_mesh_region_del(f->mesh, host);
    erdma_mesh_flush_all(f->mesh);
}

/* A stopped VM's memory stands still: nothing is taken from the wires. */
static void fabric_on_vm_change(void *opaque, bool running, RunState state)
{
    ErdmaHostFabric *f = opaque;

    erdma_mesh_pause(f->mesh, !running);
}

static void fabric_on_exit(Notifier *n, void *data)
{
    erdma_mesh_unlink(container_of(n, ErdmaHostFabric, exit)->mesh);
}

/* ---- life ---- */

/* Room for the ids of a million QPs; what is not touched takes no memory */
#define ALIVE_BYTES     (4u << 20)

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

/* Memory that only we can write, for good, whatever others do with @fd */
static void *fabric_map_alive(int fd)
{
    void *p;

    if (fd < 0 || ftruncate(fd, ALIVE_BYTES)) {
        return MAP_FAILED;
    }
    p = mmap(NULL, ALIVE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p != MAP_FAILED &&
        (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) ||
         fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL))) {
        munmap(p, ALIVE_BYTES);
        return MAP_FAILED;
    }
    return p;
}

/* Where other processes see which QPs still exist: before the first wire */
static bool fabric_share_alive(ErdmaHostFabric *f, Error **errp)
{
    int fd = memfd_create("erdma-alive", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    uint64_t len = ALIVE_BYTES, offset;
    void *p = fabric_map_alive(fd);
    const char *why = NULL;
    uint32_t region;

    if (p == MAP_FAILED) {
        why = strerror(errno);
    } else {
        f->alive = p;
        if (erdma_mesh_region_add(f->mesh, p, ALIVE_BYTES, fd, 0, &why) &&
            erdma_mesh_share(f->mesh, p, &len, &region, &offset)) {
            erdma_fabric_share(f->core, p, ALIVE_BYTES, region);
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    if (why) {
        error_setg(errp, "fabric: no shared memory: %s", why);
    }
    return !why;
}

static void fabric_free(ErdmaHostFabric *f)
{
    if (f->mesh) {
        QTAILQ_REMOVE(&meshed, f, link);
        qemu_remove_exit_notifier(&f->exit);
        qemu_del_vm_change_state_handler(f->vm_change);
        ram_block_notifier_remove(&f->ram);
        erdma_mesh_free(f->mesh);
    }
    erdma_wire_thread_free(f->thread);
    if (f->bh) {
        qemu_bh_delete(f->bh);
        timer_free(f->timer);
    }
    erdma_fabric_free(f->core);
    if (f->alive) {
        munmap(f->alive, ALIVE_BYTES);
    }
    g_free(f);
}

/*
 * For a guest that can never have a second processor TCG makes plain loads and
 * stores of locked instructions. Then an atomic operation of a peer, which is
 * executed by a thread of ours, can come between the two and be lost.
 */
static void fabric_warn_plain_atomics(void)
{
    const MachineState *machine = MACHINE(qdev_get_machine());
    static bool warned;

    if (!warned && machine->smp.max_cpus == 1 &&
        !strcmp(current_accel_name(), "tcg")) {
        warned = true;
        warn_report("erdma: fabric: accelerator tcg, maxcpus 1, expected 2 or "
                    "more: atomic operations of peers can be lost; use -smp "
                    "1,maxcpus=2");
    }
}

static bool fabric_join(ErdmaHostFabric *f, const char *dir, Error **errp)
{
    char why[256];

    fabric_warn_plain_atomics();
    QTAILQ_INIT(&f->lingering);
    f->thread = erdma_wire_thread_new(&thread_ops, f, errp);
    if (!f->thread) {
        return false;
    }
    f->bh = qemu_bh_new(fabric_on_bh, f);
    f->timer = timer_new_ms(QEMU_CLOCK_REALTIME, fabric_on_timer, f);
    f->mesh = erdma_mesh_new(dir, &mesh_ops, f, why, sizeof(why));
    if (!f->mesh) {
        error_setg(errp, "fabric: %s", why);
        return false;
    }
    if (!fabric_share_alive(f, errp)) {
        erdma_mesh_free(f->mesh);
        f->mesh = NULL;
        return false;
    }
    QTAILQ_INSERT_TAIL(&meshed, f, link);
    erdma_mesh_pause(f->mesh, !runstate_is_running());
    f->vm_change = qemu_add_vm_change_state_handler(fabric_on_vm_change, f);
    f->exit.notify = fabric_on_exit;
    qemu_add_exit_notifier(&f->exit);
    f->ram.ram_block_added = fabric_on_ram_added;
    f->ram.ram_block_removed = fabric_on_ram_removed;
    ram_block_notifier_add(&f->ram);
    return true;
}

static ErdmaHostFabric *fabric_find(const char *dir)
{
    ErdmaHostFabric *f;

    QTAILQ_FOREACH(f, &meshed, link) {
        if (erdma_mesh_is(f->mesh, dir)) {
            return f;
        }
    }
    return NULL;
}

ErdmaHostFabric *erdma_fabric_get(const char *dir, Error **errp)
{
    bool local = !dir || !*dir;
    ErdmaHostFabric *f = local ? in_process : fabric_find(dir);

    if (!f) {
        f = g_new0(ErdmaHostFabric, 1);
        f->core = erdma_fabric_new();
        if (!f->core) {
            error_setg(errp, "not enough memory for the fabric");
            g_free(f);
            return NULL;
        }
        if (local) {
            in_process = f;
        } else if (!fabric_join(f, dir, errp)) {
            fabric_free(f);
            return NULL;
        }
    }
    f->cards++;
    return f;
}

void erdma_fabric_put(ErdmaHostFabric *f)
{
    if (--f->cards) {
        return;
    }
    if (!erdma_host_enter()) {
        f->cards++;                 /* a leak, not a use after free */
        return;
    }
    if (f == in_process) {
        in_process = NULL;
    }
    fabric_free(f);
    erdma_host_leave();
}

static void fabric_show_peer(const MeshPeerInfo *p, const ErdmaShowOps *ops,
                             void *v)
{
    ops->begin(v, NULL);
    ops->text(v, "name", p->name);
    ops->number(v, "pid", p->pid);
    ops->flag(v, "connected", p->open);
    ops->number(v, "regions", p->regions);
    ops->number(v, "regions-mapped", p->mapped);
    ops->number(v, "sent-bytes", p->tx_bytes);
    ops->number(v, "received-bytes", p->rx_bytes);
    ops->number(v, "read-bytes", p->pulled_bytes);
    ops->number(v, "waiting-bytes", p->waiting_bytes);
    ops->end(v);
}

void erdma_fabric_show(const ErdmaHostFabric *f, const ErdmaShowOps *ops,
                       void *v)
{
    MeshInfo info = { .name = "" };
    MeshPeerInfo peer;
    unsigned i;

    if (f->mesh) {
        erdma_mesh_info(f->mesh, &info);
    }
    ops->begin(v, NULL);
    ops->text(v, "name", info.name);
    ops->number(v, "cards", f->cards);
    ops->number(v, "regions", info.regions);
    ops->number(v, "connections-made", info.connects);
    ops->number(v, "connections-taken", info.accepts);
    ops->number(v, "connections-refused", info.refused);
    ops->number(v, "connections-lost", info.lost);
    ops->begin_list(v, "peers");
    for (i = 0; f->mesh && erdma_mesh_peer_info(f->mesh, i, &peer); i++) {
        fabric_show_peer(&peer, ops, v);
    }
    ops->end_list(v);
    ops->end(v);
}

void erdma_fabric_flush(void)
{
    ErdmaHostFabric *f;

    QTAILQ_FOREACH(f, &meshed, link) {
        if (erdma_mesh_must_flush(f->mesh)) {
            erdma_mesh_flush_all(f->mesh);
        }
    }
}
