/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a peer sends: frames with our own business, and data frames, which are
 * the user's stream. The buffer holds
 *
 *      in_head: in_user bytes of the user's   not looked at yet :in_tail
 *
 * A data frame holds whole messages of the user's: a sender puts what belongs
 * together into one. So a message is contiguous without being moved, and a peer
 * cannot make us move much by sending little.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mesh_int.h"

/* ---- our own frames ---- */

static bool input_hello(MeshPeer *p, const void *body)
{
    ErdmaMesh *m = p->watch.mesh;
    MeshPeer *same;
    MeshHello h;

    memcpy(&h, body, sizeof(h));
    if (p->state != MESH_HELLO) {
        mesh_peer_fail(p, "a second HELLO of %s, expected one per connection",
                       p->name);
        return false;
    }
    if (h.magic != MESH_MAGIC) {
        mesh_peer_fail(p, "HELLO magic 0x%x, expected 0x%x", h.magic,
                       MESH_MAGIC);
        return false;
    }
    if (h.version != MESH_VERSION) {
        mesh_peer_fail(p, "HELLO version %u, expected %u", h.version,
                       MESH_VERSION);
        return false;
    }
    if (h.name[MESH_NAME_LEN - 1] || !mesh_name_valid(h.name)) {
        mesh_peer_fail(p, "HELLO name is malformed, expected time-pid-number");
        return false;
    }
    if (p->active ? strcmp(h.name, p->name) != 0 :
                     strcmp(h.name, m->name) <= 0) {
        mesh_peer_fail(p, "HELLO name %s, expected %s%s", h.name,
                       p->active ? "" : "one after ",
                       p->active ? p->name : m->name);
        return false;
    }
    same = p->active ? NULL : mesh_peer_by_name(m, h.name);
    if (same && same->pid != p->pid) {
        mesh_peer_fail(p, "HELLO name belongs to process %d, this is %d",
                       (int)same->pid, (int)p->pid);
        return false;
    }
    if (same) {
        /* It closed the old connection before it came again. */
        mesh_peer_lost(same);
    }
    strcpy(p->name, h.name);
    mesh_peer_opened(p);
    return p->state == MESH_OPEN;
}

static MeshPeerRegion *input_find_region(MeshPeer *p, uint32_t id)
{
    for (unsigned n = 0, i = p->last_region; n < p->nregions; n++) {
        if (p->regions[i].id == id) {
            p->last_region = i;
            return &p->regions[i];
        }
        i = i + 1 < p->nregions ? i + 1 : 0;
    }
    return NULL;
}

static bool input_region(MeshPeer *p, const void *body)
{
    MeshRegionFrame f;
    char why[MESH_WHY_LEN];
    int fd;

    memcpy(&f, body, sizeof(f));
    if (!p->in_nfds) {
        mesh_peer_fail(p, "REGION %u without a descriptor, expected one", f.id);
        return false;
    }
    if (p->nregions == MESH_MAX_REGIONS) {
        mesh_peer_fail(p, "REGION %u: it is region number %u, expected at most "
                       "%u", f.id, p->nregions + 1, MESH_MAX_REGIONS);
        return false;
    }
    if (input_find_region(p, f.id)) {
        mesh_peer_fail(p, "REGION %u: announced twice, expected a new number",
                       f.id);
        return false;
    }
    fd = p->in_fds[0];
    p->in_nfds--;
    memmove(&p->in_fds[0], &p->in_fds[1], p->in_nfds * sizeof(int));
    if (!mesh_region_map(&p->regions[p->nregions], &f, fd,
                         &p->watch.mesh->held, why)) {
        mesh_peer_fail(p, "REGION %u: %s", f.id, why);
        return false;
    }
    p->nregions++;
    return true;
}

static bool input_gone(MeshPeer *p, const void *body)
{
    MeshPeerRegion *r;
    MeshGone g;

    memcpy(&g, body, sizeof(g));
    r = input_find_region(p, g.id);
    if (!r) {
        mesh_peer_fail(p, "GONE region %u, which was never announced", g.id);
        return false;
    }
    mesh_region_unmap(r, &p->watch.mesh->held);
    *r = p->regions[--p->nregions];
    p->last_region = 0;
    return true;
}

bool erdma_mesh_pull(MeshPeer *p, uint32_t region, uint64_t offset, void *dst,
                     size_t len)
{
    MeshPeerRegion *r = input_find_region(p, region);

    if (!r || !mesh_region_pull(r, offset, dst, len)) {
        return false;
    }
    p->pulled_bytes += len;
    return true;
}

static const struct {
    uint32_t len;
    bool (*fn)(MeshPeer *p, const void *body);
} input_frames[] = {
    [MESH_FRAME_HELLO] = { sizeof(MeshHello), input_hello },
    [MESH_FRAME_REGION] = { sizeof(MeshRegionFrame), input_region },
    [MESH_FRAME_GONE] = { sizeof(MeshGone), input_gone },
};

/* ---- the buffer ---- */

/* A frame begins here, no byte of the user's waits. False: not all is there. */
static bool input_next_frame(MeshPeer *p)
{
    const uint8_t *at = p->in + p->in_head;
    size_t raw = p->in_tail - p->in_head;
    MeshFrame f;

    if (raw < sizeof(f)) {
        return false;
    }
    memcpy(&f, at, sizeof(f));
    if (p->state == MESH_HELLO && f.type != MESH_FRAME_HELLO) {
        mesh_peer_fail(p, "frame type %u, expected HELLO (%u)", f.type,
                       MESH_FRAME_HELLO);
        return false;
    }
    if (f.type == MESH_FRAME_DATA) {
        if (!f.len || f.len > MESH_MAX_WAITING) {
            mesh_peer_fail(p, "DATA frame of %u bytes, expected 1 to %u", f.len,
                           MESH_MAX_WAITING);
            return false;
        }
        p->frame_left = f.len;
        p->in_head += sizeof(f);
        return true;
    }
    if (f.type < MESH_FRAME_HELLO || f.type > MESH_FRAME_GONE ||
        f.len != input_frames[f.type].len) {
        mesh_peer_fail(p, "frame type %u of %u bytes, expected one that exists",
                       f.type, f.len);
        return false;
    }
    if (raw < sizeof(f) + f.len ||
        !input_frames[f.type].fn(p, at + sizeof(f))) {
        return false;
    }
    p->in_head += sizeof(f) + f.len;
    return true;
}

/* The user takes what it wants. False: not now, or the peer is dead. */
static bool input_give_user(MeshPeer *p)
{
    ErdmaMesh *m = p->watch.mesh;
    size_t used;

    p->again = false;
    used = m->ops->wire_input(p->wire, p->in + p->in_head, p->in_user,
                              &p->again);
    if (mesh_out_waiting(&p->out)) {
        mesh_peer_flush(p);         /* it was to go later: now */
    }
    if (p->state != MESH_OPEN) {
        return false;
    }
    if (used > p->in_user) {
        used = p->in_user;
    }
    p->in_head += used;
    p->in_user -= used;
    if (p->again && p->in_user) {
        m->ops->kick(m->opaque);
        return false;
    }
    p->again = false;
    if (p->in_user >= MESH_MESSAGE_MAX) {
        mesh_peer_fail(p, "a message too long: %zu bytes without its end, "
                       "at most %u",
                       p->in_user, MESH_MESSAGE_MAX);
        return false;
    }
    if (p->in_user && !p->frame_left) {
        mesh_peer_fail(p, "a message ends behind its DATA frame, %zu bytes are "
                       "left",
                       p->in_user);
        return false;
    }
    return true;
}

/* Work on what is in the buffer, as far as it goes */
void mesh_input_run(MeshPeer *p)
{
    unsigned budget = MESH_FRAME_BUDGET;
    bool fresh = p->again;

    p->again = false;
    while (p->state == MESH_HELLO || p->state == MESH_OPEN) {
        size_t raw = p->in_tail - p->in_head - p->in_user;
        size_t n = raw < p->frame_left ? raw : p->frame_left;

        if (p->state == MESH_OPEN && p->watch.mesh->paused) {
            p->again = true;        /* erdma_mesh_pause() comes back */
            return;
        }
        p->in_user += n;
        p->frame_left -= n;
        fresh |= n > 0;
        if (fresh && p->in_user && !input_give_user(p)) {
            return;
        }
        fresh = false;
        if (p->frame_left) {
            return;
        }
        if (!budget--) {
            p->again = true;
            p->watch.mesh->ops->kick(p->watch.mesh->opaque);
            return;
        }
        if (!input_next_frame(p)) {
            return;
        }
    }
}

static bool input_make_room(MeshPeer *p)
{
    if (!p->in) {
        p->in = malloc(MESH_IN_SIZE);
        if (!p->in) {
            mesh_peer_fail(p, "no memory");
            return false;
        }
    }
    if (p->in_head == p->in_tail) {
        p->in_head = p->in_tail = 0;
    } else if (MESH_IN_SIZE - p->in_tail < MESH_IN_MIN) {
        memmove(p->in, p->in + p->in_head, p->in_tail - p->in_head);
        p->in_tail -= p->in_head;
        p->in_head = 0;
    }
    return true;
}

/* ---- the socket ---- */

/*
 * Descriptors that came along, as many as there is room for. They may come with
 * the first read already, together with the name.
 */
static bool input_take_fds(MeshPeer *p, struct msghdr *msg)
{
    MeshHeld *held = &p->watch.mesh->held;
    bool good = !(msg->msg_flags & MSG_CTRUNC);

    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        size_t n;

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
            if (good && p->in_nfds < MESH_FDS && !mesh_held_fds_full(held)) {
                p->in_fds[p->in_nfds++] = fd;
                held->fds++;
            } else {
                close(fd);
                good = false;
            }
        }
    }
    if (!good) {
        mesh_peer_fail(p, "more descriptors than it may send: %u of it, %u of "
                       "all peers, at most %u and %u", p->in_nfds, held->fds,
                       MESH_FDS, MESH_MAX_FDS);
    }
    return good;
}

/* Read once. False: nothing more to be had for now. */
static bool input_receive(MeshPeer *p)
{
    union {
        char bytes[CMSG_SPACE(4 * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec iov;
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1,
        .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes),
    };
    ssize_t n;

    iov.iov_base = p->in + p->in_tail;
    iov.iov_len = MESH_IN_SIZE - p->in_tail;
    do {
        n = recvmsg(p->watch.fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        return false;
    }
    if (n <= 0) {
        mesh_peer_lost(p);
        return false;
    }
    p->in_tail += n;
    p->rx_bytes += n;
    if (msg.msg_controllen && !input_take_fds(p, &msg)) {
        return false;
    }
    /* A full buffer or a descriptor: there may be more */
    return (size_t)n == iov.iov_len || msg.msg_controllen;
}

/*
 * A descriptor stays ready while work that came before waits for another turn.
 * This is one: who waits for descriptors would turn in circles until the kick.
 */
void mesh_input_ready(MeshWatch *w, bool readable, bool writable)
{
    MeshPeer *p = (MeshPeer *)((char *)w - offsetof(MeshPeer, watch));
    bool more = readable && !p->again;

    if (writable) {
        mesh_peer_flush(p);
    }
    if (readable && p->again) {
        mesh_input_run(p);
    }
    for (unsigned i = 0; more && i < MESH_RECV_BUDGET; i++) {
        if ((p->state != MESH_HELLO && p->state != MESH_OPEN) ||
            (w->mesh->paused && p->state == MESH_OPEN) || !input_make_room(p)) {
            return;
        }
        more = input_receive(p);
        mesh_input_run(p);
        more &= !p->again;
    }
}

void mesh_input_free(MeshPeer *p)
{
    while (p->in_nfds) {
        close(p->in_fds[--p->in_nfds]);
        p->watch.mesh->held.fds--;
    }
    free(p->in);
    p->in = NULL;
    p->in_head = p->in_tail = p->in_user = p->frame_left = 0;
    p->again = false;
}
