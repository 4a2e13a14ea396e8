/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process among others: joining, leaving, events. See mesh.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mesh_int.h"

void mesh_log(ErdmaMesh *m, bool trouble, const char *fmt, ...)
{
    char text[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    m->ops->log(m->opaque, trouble, text);
}

void mesh_watch(MeshWatch *w, bool read, bool write)
{
    if (w->fd >= 0 && (w->read != read || w->write != write)) {
        w->read = read;
        w->write = write;
        w->mesh->ops->watch(w->mesh->opaque, w);
    }
}

/* ---- joining and leaving ---- */

static void mesh_init_watch(ErdmaMesh *m, MeshWatch *w,
                            void (*ready)(MeshWatch *, bool, bool))
{
    w->fd = -1;
    w->mesh = m;
    w->ready = ready;
}

ErdmaMesh *erdma_mesh_new(const char *path, const MeshOps *ops, void *opaque,
                          char *error, size_t error_len)
{
    ErdmaMesh *m = calloc(1, sizeof(*m));

    if (!m) {
        snprintf(error, error_len, "not enough memory");
        return NULL;
    }
    m->ops = ops;
    m->opaque = opaque;
    m->dir = -1;
    m->next_region = 1;
    mesh_init_watch(m, &m->listen, mesh_peer_accept);
    mesh_init_watch(m, &m->notify, mesh_dir_event);
    if (!mesh_dir_open(m, path, error, error_len) ||
        !mesh_dir_publish(m, error, error_len)) {
        erdma_mesh_free(m);
        return NULL;
    }
    mesh_watch(&m->listen, true, false);
    mesh_watch(&m->notify, true, false);
    mesh_dir_scan(m);
    erdma_mesh_flush_all(m);
    return m;
}

void erdma_mesh_free(ErdmaMesh *m)
{
    MeshWatch *const watches[] = { &m->listen, &m->notify };

    erdma_mesh_unlink(m);
    mesh_peers_free(m);
    for (unsigned i = 0; i < 2; i++) {
        if (watches[i]->fd >= 0) {
            mesh_watch(watches[i], false, false);
            close(watches[i]->fd);
        }
    }
    while (m->nregions) {
        close(m->regions[--m->nregions].fd);
    }
    if (m->timer) {
        m->ops->set_timer(m->opaque, 0);
    }
    if (m->dir >= 0) {
        close(m->dir);
    }
    free(m);
}

/* ---- events ---- */

void erdma_mesh_ready(MeshWatch *w, bool readable, bool writable)
{
    ErdmaMesh *m = w->mesh;

    if (w->read || w->write) {
        w->ready(w, readable && w->read, writable && w->write);
        erdma_mesh_flush_all(m);
    }
}

void erdma_mesh_run(ErdmaMesh *m)
{
    mesh_peers_run(m);
    if (m->scan_due) {
        m->scan_due = false;
        mesh_dir_scan(m);
    }
    erdma_mesh_flush_all(m);
}

/* Something with a deadline was added: look once more */
void mesh_set_timer(ErdmaMesh *m)
{
    uint64_t first = m->accept_again;

    for (MeshPeer *p = m->peers; p; p = p->next) {
        if ((p->state == MESH_HELLO || p->state == MESH_RETRY) &&
            (!first || p->deadline < first)) {
            first = p->deadline;
        }
    }
    if (first != m->timer) {
        m->timer = first;
        m->ops->set_timer(m->opaque, first);
    }
}

void erdma_mesh_timer(ErdmaMesh *m)
{
    uint64_t now = m->ops->now(m->opaque);

    m->timer = 0;
    if (m->accept_again && m->accept_again <= now) {
        m->accept_again = 0;
        mesh_watch(&m->listen, true, false);
    }
    mesh_peers_timer(m, now);
    mesh_set_timer(m);
    erdma_mesh_flush_all(m);
}

/* ---- to look at ---- */

void erdma_mesh_info(const ErdmaMesh *m, MeshInfo *out)
{
    *out = m->info;
    out->name = m->name;
    out->regions = m->nregions;
    out->peers = m->npeers;
}

bool erdma_mesh_peer_info(const ErdmaMesh *m, unsigned index,
                          MeshPeerInfo *out)
{
    const MeshPeer *p = m->peers;

    while (p && index--) {
        p = p->next;
    }
    if (!p) {
        return false;
    }
    *out = (MeshPeerInfo) {
        .name = p->name, .pid = p->pid, .open = p->state == MESH_OPEN,
        .regions = p->nregions, .tx_bytes = p->tx_bytes,
        .rx_bytes = p->rx_bytes, .pulled_bytes = p->pulled_bytes,
        .waiting_bytes = mesh_out_waiting(&p->out),
    };
    for (unsigned i = 0; i < p->nregions; i++) {
        out->mapped += p->regions[i].map != NULL;
    }
    return true;
}
