/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Life of a connection. Whoever notices that it is over only says so
 * (mesh_peer_fail()); mesh_peers_run() takes it apart, from a fresh stack,
 * because the user may be in the middle of sending to it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mesh_int.h"

static void peer_watch(MeshPeer *p)
{
    bool live = p->state == MESH_HELLO || p->state == MESH_OPEN;

    mesh_watch(&p->watch,
               live && !(p->watch.mesh->paused && p->state == MESH_OPEN),
               live && mesh_out_waiting(&p->out));
}

MeshPeer *mesh_peer_by_name(ErdmaMesh *m, const char *name)
{
    for (MeshPeer *p = m->peers; p; p = p->next) {
        if (p->state != MESH_DEAD && !strcmp(p->name, name)) {
            return p;
        }
    }
    return NULL;
}

static MeshPeer *peer_new(ErdmaMesh *m, bool active)
{
    MeshPeer *p;

    if (m->npeers == MESH_MAX_PEERS) {
        m->info.refused++;
        if (!m->left_out) {
            mesh_log(m, true, "more than %u processes: one is left out until "
                     "another ends", MESH_MAX_PEERS);
        }
        m->left_out = true;
        return NULL;
    }
    p = calloc(1, sizeof(*p));
    if (!p) {
        return NULL;
    }
    p->watch.fd = -1;
    p->watch.mesh = m;
    p->watch.ready = mesh_input_ready;
    p->active = active;
    p->out.held = &m->held;
    p->retry_ms = MESH_RETRY_MIN_MS;
    p->next = m->peers;
    m->peers = p;
    m->npeers++;
    return p;
}

static void peer_drop(ErdmaMesh *m, MeshPeer *p)
{
    MeshPeer **at = &m->peers;

    while (*at != p) {
        at = &(*at)->next;
    }
    *at = p->next;
    m->npeers--;
    free(p);
    /* One that connects to us comes again by itself; the others we look for. */
    if (m->left_out && m->published) {
        m->left_out = false;
        m->scan_due = true;
        m->ops->kick(m->opaque);
    }
}

void mesh_peer_fail(MeshPeer *p, const char *fmt, ...)
{
    va_list ap;

    if (p->state == MESH_HELLO || p->state == MESH_OPEN) {
        va_start(ap, fmt);
        vsnprintf(p->why, sizeof(p->why), fmt, ap);
        va_end(ap);
    }
    mesh_peer_lost(p);
}

void mesh_peer_lost(MeshPeer *p)
{
    ErdmaMesh *m = p->watch.mesh;

    if (p->state == MESH_HELLO || p->state == MESH_OPEN) {
        if (p->state == MESH_OPEN &&
            m->ops->now(m->opaque) - p->deadline >= MESH_STEADY_MS) {
            p->retry_ms = MESH_RETRY_MIN_MS;
        }
        p->state = MESH_DEAD;
        peer_watch(p);
        m->ops->kick(m->opaque);
    }
}

void erdma_mesh_broken(MeshPeer *p, const char *why)
{
    mesh_peer_fail(p, "%s", why);
}

/* ---- sending ---- */

void mesh_peer_flush(MeshPeer *p)
{
    ErdmaMesh *m = p->watch.mesh;

    if (!p->flush_due) {
        p->flush_due = true;
        p->flush_next = m->flush;
        m->flush = p;
    }
}

bool erdma_mesh_must_flush(const ErdmaMesh *m)
{
    return m->flush;
}

void erdma_mesh_flush_all(ErdmaMesh *m)
{
    MeshPeer *p;

    while ((p = m->flush)) {
        m->flush = p->flush_next;
        p->flush_due = false;
        if (p->state != MESH_HELLO && p->state != MESH_OPEN) {
            continue;
        }
        if (mesh_out_flush(&p->out, p->watch.fd, &p->tx_bytes) < 0) {
            mesh_peer_lost(p);
        } else {
            peer_watch(p);
        }
    }
}

bool erdma_mesh_send(MeshPeer *p, const void *data, size_t len, bool later)
{
    if (p->state != MESH_OPEN) {
        return false;
    }
    if (!mesh_out_data(&p->out, data, len)) {
        mesh_peer_fail(p, "too much output is waiting, more than %u bytes: "
                       "it takes nothing", MESH_MAX_WAITING);
        return false;
    }
    if (!later || mesh_out_waiting(&p->out) > MESH_LATER_MAX) {
        mesh_peer_flush(p);
    }
    return true;
}

bool mesh_peer_announce(MeshPeer *p, const MeshOwnRegion *r)
{
    const MeshRegionFrame f = {
        .id = r->id, .len = r->len, .fd_offset = r->fd_offset,
    };
    MeshHeld *held = p->out.held;
    int fd = mesh_held_fds_full(held) ? -1 : fcntl(r->fd, F_DUPFD_CLOEXEC, 0);

    held->fds += fd >= 0;
    return fd >= 0 &&
           mesh_out_frame(&p->out, MESH_FRAME_REGION, &f, sizeof(f), fd);
}

/* ---- coming ---- */

/* All sockets are of one user: the directory's. Root may do what it likes. */
static bool peer_is_same_user(MeshPeer *p)
{
    struct ucred cred;
    socklen_t len = sizeof(cred);

    if (getsockopt(p->watch.fd, SOL_SOCKET, SO_PEERCRED, &cred, &len)) {
        return false;
    }
    p->pid = cred.pid;
    return cred.uid == geteuid() || cred.uid == 0;
}

static void peer_connected(ErdmaMesh *m, MeshPeer *p, int fd)
{
    MeshHello hello = { .magic = MESH_MAGIC, .version = MESH_VERSION };

    strcpy(hello.name, m->name);
    p->watch.fd = fd;
    p->state = MESH_HELLO;
    p->deadline = m->ops->now(m->opaque) + MESH_HELLO_MS;
    if (!peer_is_same_user(p)) {
        m->info.refused++;
        mesh_peer_fail(p, "it belongs to another user");
    } else if (!mesh_out_frame(&p->out, MESH_FRAME_HELLO, &hello,
                               sizeof(hello), -1)) {
        mesh_peer_fail(p, "no memory");
    } else {
        mesh_peer_flush(p);
        peer_watch(p);
    }
    mesh_set_timer(m);
}

/* False: the process is gone, forget it */
static bool peer_connect(ErdmaMesh *m, MeshPeer *p)
{
    int fd = mesh_dir_connect(m, p->name);

    if (fd >= 0) {
        m->info.connects++;
        peer_connected(m, p, fd);
        return true;
    }
    if (errno == ECONNREFUSED) {
        mesh_dir_remove(m, p->name);
        return false;
    }
    if (errno == ENOENT) {
        return false;
    }
    /* Its queue is full, or we are out of descriptors: later */
    p->state = MESH_RETRY;
    p->deadline = m->ops->now(m->opaque) + p->retry_ms;
    p->retry_ms = p->retry_ms * 2 < MESH_RETRY_MAX_MS ? p->retry_ms * 2 :
                  MESH_RETRY_MAX_MS;
    mesh_set_timer(m);
    return true;
}

void mesh_peer_found(ErdmaMesh *m, const char *name)
{
    MeshPeer *p;

    /* The younger connects to the older; younger ones come by themselves. */
    if (!mesh_name_valid(name) || strcmp(name, m->name) >= 0 ||
        mesh_peer_by_name(m, name)) {
        return;
    }
    p = peer_new(m, true);
    if (!p) {
        return;
    }
    strcpy(p->name, name);
    if (!peer_connect(m, p)) {
        peer_drop(m, p);
    }
}

void mesh_peer_accept(MeshWatch *w, bool readable, bool writable)
{
    ErdmaMesh *m = w->mesh;

    (void)readable;
    (void)writable;
    for (unsigned i = 0; i < MESH_ACCEPT_BUDGET; i++) {
        int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        MeshPeer *p;

        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
                errno == ENOBUFS) {
                mesh_log(m, true, "cannot take a connection: %s",
                         strerror(errno));
                m->accept_again = m->ops->now(m->opaque) + 1000;
                mesh_watch(w, false, false);
                mesh_set_timer(m);
            }
            return;
        }
        m->info.accepts++;
        p = peer_new(m, false);
        if (!p) {
            close(fd);
            continue;
        }
        peer_connected(m, p, fd);
    }
}

/* Its hello was good: our memory first, then the user's stream */
void mesh_peer_opened(MeshPeer *p)
{
    ErdmaMesh *m = p->watch.mesh;

    p->state = MESH_OPEN;
    p->deadline = m->ops->now(m->opaque);
    for (unsigned i = 0; i < m->nregions; i++) {
        if (!mesh_peer_announce(p, &m->regions[i])) {
            mesh_peer_fail(p, "cannot pass our memory");
            return;
        }
    }
    mesh_peer_flush(p);
    mesh_log(m, false, "%s: connected", p->name);
    p->wire = m->ops->wire_new(m->opaque, p);
    if (!p->wire) {
        mesh_peer_fail(p, "no memory");
    }
    peer_watch(p);
    mesh_set_timer(m);
}

/* ---- going ---- */

static void peer_close(ErdmaMesh *m, MeshPeer *p)
{
    MeshPeer **at = &m->flush;

    if (p->wire) {
        m->ops->wire_free(p->wire);
        p->wire = NULL;
        m->info.lost++;
    }
    while (p->flush_due && *at != p) {
        at = &(*at)->flush_next;
    }
    if (p->flush_due) {
        *at = p->flush_next;
        p->flush_due = false;
    }
    mesh_watch(&p->watch, false, false);
    if (p->watch.fd >= 0) {
        close(p->watch.fd);
        p->watch.fd = -1;
    }
    mesh_input_free(p);
    mesh_out_free(&p->out);
    while (p->nregions) {
        mesh_region_unmap(&p->regions[--p->nregions], &m->held);
    }
}

static void peer_end(ErdmaMesh *m, MeshPeer *p)
{
    const char *name = *p->name ? p->name : "a process without a name";

    if (*p->why) {
        mesh_log(m, true, "%s: connection closed: %s", name, p->why);
    } else {
        mesh_log(m, false, "%s: gone", name);
    }
    peer_close(m, p);
    if (!p->active) {
        peer_drop(m, p);
        return;
    }
    /* Most likely it died; if so, the next connection is refused. */
    p->state = MESH_RETRY;
    *p->why = 0;
    p->deadline = m->ops->now(m->opaque) + p->retry_ms;
    p->retry_ms = p->retry_ms * 2 < MESH_RETRY_MAX_MS ? p->retry_ms * 2 :
                  MESH_RETRY_MAX_MS;
    mesh_set_timer(m);
}

void mesh_peers_run(ErdmaMesh *m)
{
    MeshPeer *p, *next;

    for (p = m->peers; p; p = p->next) {
        if (p->state == MESH_OPEN && p->again && !m->paused) {
            mesh_input_run(p);
        }
    }
    /* Freeing one wire may break another, which then dies in the next turn */
    for (p = m->peers; p; p = next) {
        next = p->next;
        if (p->state == MESH_DEAD) {
            peer_end(m, p);
        }
    }
}

void mesh_peers_timer(ErdmaMesh *m, uint64_t now)
{
    MeshPeer *p, *next;

    for (p = m->peers; p; p = next) {
        next = p->next;
        if (p->state == MESH_HELLO && p->deadline <= now) {
            mesh_peer_fail(p, "no HELLO came, expected one within %u ms",
                           MESH_HELLO_MS);
        } else if (p->state == MESH_RETRY && p->deadline <= now &&
                   !peer_connect(m, p)) {
            peer_drop(m, p);
        }
    }
}

void mesh_peers_free(ErdmaMesh *m)
{
    while (m->peers) {
        peer_close(m, m->peers);
        peer_drop(m, m->peers);
    }
}

void erdma_mesh_pause(ErdmaMesh *m, bool pause)
{
    m->paused = pause;
    for (MeshPeer *p = m->peers; p; p = p->next) {
        peer_watch(p);
    }
    if (!pause) {
        m->ops->kick(m->opaque);
    }
}
