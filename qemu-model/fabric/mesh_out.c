/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output to one peer: a bounded buffer that is handed to the socket in one
 * piece when the user's turn is over. What the user appends during a turn
 * becomes one data frame. A descriptor goes with the first byte of its frame.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mesh_int.h"

static void out_shift_down(MeshOut *o)
{
    memmove(o->buf, o->buf + o->head, o->tail - o->head);
    for (unsigned i = 0; i < o->nfds; i++) {
        o->fds[i].at -= o->head;
    }
    o->frame -= o->frame_open ? o->head : 0;
    o->tail -= o->head;
    o->head = 0;
}

static bool out_reserve(MeshOut *o, size_t need)
{
    size_t cap = o->cap ? o->cap : 4096;
    uint8_t *buf;

    if (need <= o->cap - o->tail) {
        return true;
    }
    if (need > MESH_MAX_WAITING ||
        mesh_out_waiting(o) > MESH_MAX_WAITING - need) {
        return false;
    }
    /* Little room in front is not worth moving a long queue: a slow peer's */
    if (o->head && o->head >= mesh_out_waiting(o) / 4) {
        out_shift_down(o);
    }
    while (cap - o->tail < need) {
        cap *= 2;
    }
    if (cap != o->cap) {
        buf = realloc(o->buf, cap);
        if (!buf) {
            return false;
        }
        o->buf = buf;
        o->cap = cap;
    }
    return true;
}

static void out_append(MeshOut *o, const void *data, size_t len)
{
    memcpy(o->buf + o->tail, data, len);
    o->tail += len;
}

static void out_close_frame(MeshOut *o)
{
    MeshFrame f = { .type = MESH_FRAME_DATA };

    if (o->frame_open) {
        f.len = o->tail - o->frame - sizeof(f);
        memcpy(o->buf + o->frame, &f, sizeof(f));
        o->frame_open = false;
    }
}

bool mesh_out_data(MeshOut *o, const void *data, size_t len)
{
    static const MeshFrame later;

    if (!len) {
        return true;
    }
    if (len > MESH_MAX_WAITING || !out_reserve(o, len + sizeof(later))) {
        return false;
    }
    if (!o->frame_open) {
        o->frame = o->tail;
        o->frame_open = true;
        out_append(o, &later, sizeof(later));
    }
    out_append(o, data, len);
    return true;
}

bool mesh_out_frame(MeshOut *o, uint32_t type, const void *body, size_t len,
                    int fd)
{
    MeshFrame f = { .type = type, .len = len };

    out_close_frame(o);
    if ((fd >= 0 && o->nfds == MESH_FDS) || !out_reserve(o, sizeof(f) + len)) {
        if (fd >= 0) {
            close(fd);
            o->held->fds--;
        }
        return false;
    }
    if (fd >= 0) {
        o->fds[o->nfds].at = o->tail;
        o->fds[o->nfds++].fd = fd;
    }
    out_append(o, &f, sizeof(f));
    out_append(o, body, len);
    return true;
}

/* Bytes up to the next descriptor, with the one that is due */
static ssize_t out_send_some(MeshOut *o, int sock)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec iov = { .iov_base = o->buf + o->head };
    struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
    bool carries = o->nfds && o->fds[0].at == o->head;
    size_t end = o->tail;

    if (o->nfds > carries) {
        end = o->fds[carries].at;
    }
    iov.iov_len = end - o->head;
    if (carries) {
        struct cmsghdr *c;

        memset(&control, 0, sizeof(control));
        msg.msg_control = control.bytes;
        msg.msg_controllen = sizeof(control.bytes);
        c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &o->fds[0].fd, sizeof(int));
    }
    return sendmsg(sock, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void out_drop_first_fd(MeshOut *o)
{
    close(o->fds[0].fd);
    o->held->fds--;
    o->nfds--;
    memmove(&o->fds[0], &o->fds[1], o->nfds * sizeof(o->fds[0]));
}

int mesh_out_flush(MeshOut *o, int sock, uint64_t *sent)
{
    out_close_frame(o);
    while (o->head < o->tail) {
        ssize_t n = out_send_some(o, sock);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return errno == EAGAIN || errno == EWOULDBLOCK ? 1 : -1;
        }
        if (o->nfds && o->fds[0].at == o->head) {
            out_drop_first_fd(o);
        }
        o->head += n;
        *sent += n;
    }
    o->head = o->tail = 0;
    if (o->cap > MESH_OUT_RETAIN) {
        free(o->buf);
        o->buf = NULL;
        o->cap = 0;
    }
    return 0;
}

void mesh_out_free(MeshOut *o)
{
    while (o->nfds) {
        out_drop_first_fd(o);
    }
    free(o->buf);
    *o = (MeshOut) { .held = o->held };
}
