/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes on one machine that find each other in a directory and connect in
 * pairs. No daemon, no thread, no polling: file descriptors and one timer.
 *
 * Each process has a listening Unix socket in the directory. Its name begins
 * with the time of its start, and of two processes the younger connects to the
 * older, so there is exactly one connection per pair. A name appears only when
 * the socket listens, and is never used again: one that refuses a connection
 * belongs to a dead process and is removed by whoever sees it.
 *
 * A process announces memory (regions) to all others by passing file
 * descriptors that are open for reading only; the file is sealed against
 * writing where its creator allowed that, see mesh_region.c. What a peer sends
 * is hostile: a peer that breaks a rule or floods loses its connection,
 * nothing else.
 *
 * POSIX and Linux only, no QEMU header. All calls come from one thread at a
 * time (in QEMU: under the big lock); none blocks.
 */
#ifndef ERDMA_MESH_H
#define ERDMA_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ErdmaMesh ErdmaMesh;
typedef struct MeshPeer MeshPeer;

/* A descriptor to be watched. The surroundings own @priv. */
typedef struct MeshWatch {
    int fd;
    bool read, write;               /* what is waited for */
    void (*ready)(struct MeshWatch *w, bool readable, bool writable);
    ErdmaMesh *mesh;
    void *priv;
} MeshWatch;

typedef struct MeshOps {
    /*
     * w->read or w->write changed: call erdma_mesh_ready() when w->fd is.
     * Both false: @w is forgotten and its descriptor about to be closed.
     */
    void (*watch)(void *opaque, MeshWatch *w);
    /* Call erdma_mesh_run() soon, once, from a fresh stack */
    void (*kick)(void *opaque);
    /* One timer: call erdma_mesh_timer() at @deadline of now(); 0 = never */
    void (*set_timer)(void *opaque, uint64_t deadline_ms);
    /* Monotonic milliseconds */
    uint64_t (*now)(void *opaque);
    /* One line without newline. @trouble: the user should hear of it */
    void (*log)(void *opaque, bool trouble, const char *text);

    /*
     * The user of the bytes. A wire is a peer that has shown its name.
     * wire_new() may send; NULL closes the connection. wire_input() takes what
     * it wants of @data and returns how much; it sets @again if more could be
     * taken in another turn. Called from erdma_mesh_ready(), _run(), _timer()
     * and _free() only, hence never from inside a send.
     */
    void *(*wire_new)(void *opaque, MeshPeer *peer);
    size_t (*wire_input)(void *wire, const void *data, size_t len,
                         bool *again);
    void (*wire_free)(void *wire);
} MeshOps;

/*
 * Longest part of the stream that wire_input() may leave as incomplete. A
 * message is handed over between two flushes: the other end refuses one that
 * does not end in the data frame in which it began.
 */
#define MESH_MESSAGE_MAX    (128u * 1024)

/**
 * erdma_mesh_new - join the processes in a directory
 * @path: the directory, made if it is missing
 * @ops: what the mesh needs of its surroundings
 * @opaque: passed to all of @ops
 * @error: at least 256 bytes, for the reason
 * @error_len: size of @error
 *
 * Return: NULL if it failed; @error says why.
 */
ErdmaMesh *erdma_mesh_new(const char *path, const MeshOps *ops, void *opaque,
                          char *error, size_t error_len);
/** erdma_mesh_free - leave: remove the name, close all connections */
void erdma_mesh_free(ErdmaMesh *m);
/** erdma_mesh_unlink - only remove the name: the process is about to end */
void erdma_mesh_unlink(ErdmaMesh *m);

/** erdma_mesh_is - is @path the directory of @m? */
bool erdma_mesh_is(const ErdmaMesh *m, const char *path);

/* ---- events ---- */

/** erdma_mesh_ready - the descriptor of @w is ready */
void erdma_mesh_ready(MeshWatch *w, bool readable, bool writable);
/** erdma_mesh_run - the turn that MeshOps.kick asked for */
void erdma_mesh_run(ErdmaMesh *m);
/** erdma_mesh_timer - the deadline of MeshOps.set_timer has come */
void erdma_mesh_timer(ErdmaMesh *m);
/**
 * erdma_mesh_pause - take nothing from the wires, or go on
 * @m: the mesh
 * @pause: true: from now on nothing; peers can still come and go
 */
void erdma_mesh_pause(ErdmaMesh *m, bool pause);

/* ---- the stream to a peer ---- */

/**
 * erdma_mesh_send - append to the stream
 * @p: the peer
 * @data: whole messages, or a part of one that is complete before a flush
 * @len: bytes of it
 * @later: not worth a flush of its own; it goes with the next that is, or when
 *         something was taken from this peer's stream, or with much more
 *
 * Return: false if the connection is broken, or too much is waiting.
 */
bool erdma_mesh_send(MeshPeer *p, const void *data, size_t len, bool later);
/**
 * erdma_mesh_pull - copy out of memory that the peer announced
 * @p: the peer
 * @region: its number of the region
 * @offset: from the start of the region
 * @dst: where to
 * @len: bytes
 *
 * Return: false if the region or that part of it is not there.
 */
bool erdma_mesh_pull(MeshPeer *p, uint32_t region, uint64_t offset, void *dst,
                     size_t len);
/**
 * erdma_mesh_broken - the peer broke a rule of the user's
 * @p: the peer; it is closed later, not from inside
 * @why: for the log
 */
void erdma_mesh_broken(MeshPeer *p, const char *why);

/**
 * erdma_mesh_flush_all - send what was appended
 * @m: the mesh
 *
 * To be called when the user's turn is over. If there is nothing to send it
 * costs one test.
 */
void erdma_mesh_flush_all(ErdmaMesh *m);
/** erdma_mesh_must_flush - was something appended that should go now? */
bool erdma_mesh_must_flush(const ErdmaMesh *m);

/* ---- own memory ---- */

/**
 * erdma_mesh_region_add - announce memory to all peers, and seal it if possible
 * @m: the mesh
 * @host: where this process sees it
 * @len: bytes
 * @fd: the file behind it; the caller may close it afterwards
 * @fd_offset: where in the file it begins
 * @why: set to the reason if it cannot be announced
 *
 * Return: false: it stays private, which is no error.
 */
bool erdma_mesh_region_add(ErdmaMesh *m, const void *host, uint64_t len,
                           int fd, uint64_t fd_offset, const char **why);
/** erdma_mesh_region_del - withdraw what was announced at @host */
void erdma_mesh_region_del(ErdmaMesh *m, const void *host);
/**
 * erdma_mesh_share - ErdmaOps.share of erdma_core.h
 * @m: the mesh
 * @host: an address
 * @len: in: bytes wanted; out: those in the same region
 * @region: set to its number
 * @offset: set to the place in it
 *
 * Return: false if @host is in no region.
 */
bool erdma_mesh_share(ErdmaMesh *m, const void *host, uint64_t *len,
                      uint32_t *region, uint64_t *offset);

/* ---- to look at ---- */

typedef struct MeshPeerInfo {
    const char *name;
    int pid;
    bool open;                      /* there is a wire */
    unsigned regions, mapped;       /* announced by it; mapped, not read */
    uint64_t tx_bytes, rx_bytes;    /* on the socket */
    uint64_t pulled_bytes;          /* out of its memory */
    uint64_t waiting_bytes;         /* not taken by the socket yet */
} MeshPeerInfo;

typedef struct MeshInfo {
    const char *name;               /* of our own socket */
    unsigned regions;               /* that we announce */
    unsigned peers;                 /* connections, open or under way */
    uint64_t connects, accepts, lost, stale_removed, refused;
} MeshInfo;

/** erdma_mesh_info - this process */
void erdma_mesh_info(const ErdmaMesh *m, MeshInfo *out);
/** erdma_mesh_peer_info - the @index-th connection; false: no more */
bool erdma_mesh_peer_info(const ErdmaMesh *m, unsigned index,
                          MeshPeerInfo *out);

#endif /* ERDMA_MESH_H */
