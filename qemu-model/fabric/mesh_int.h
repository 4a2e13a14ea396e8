/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the mesh; see mesh.h for what it is. */
#ifndef ERDMA_MESH_INT_H
#define ERDMA_MESH_INT_H

#include <sys/types.h>

#include "mesh.h"

/* ---- every bound, once ---- */

#define MESH_MAX_PEERS      64          /* connections, open or under way */
#define MESH_MAX_NAMES      4096        /* directory entries looked at */
#define MESH_MAX_REGIONS    64          /* of one process */
#define MESH_MAX_REGION     (1ull << 42)    /* bytes of one */
#define MESH_WHY_LEN        160         /* reason for the log */
#define MESH_MAX_MAPPED     (1ull << 44)    /* of all; the rest is read */
#define MESH_MAX_WAITING    (64u << 20)     /* output not taken yet */
#define MESH_ACCEPT_BUDGET  16          /* connections taken in one turn */
#define MESH_RECV_BUDGET    4           /* reads in one turn */
#define MESH_HELLO_MS       5000        /* for a peer to show its name */
#define MESH_RETRY_MIN_MS   50          /* a lost peer: is it still there? */
#define MESH_RETRY_MAX_MS   60000
#define MESH_STEADY_MS      10000       /* so long open: a fresh start */
#define MESH_TEMP_AGE_S     60          /* leftover of a start that failed */

#define MESH_IN_SIZE        (2 * MESH_MESSAGE_MAX + 4096)
#define MESH_IN_MIN         (64u * 1024)    /* worth a read */
#define MESH_OUT_RETAIN     (256u * 1024)   /* buffer not freed when empty */
#define MESH_LATER_MAX      (32u * 1024)    /* output that waits for more */
#define MESH_FDS            64          /* descriptors waiting, each way */
#define MESH_MAX_FDS        512         /* ... and of regions, of all peers */
#define MESH_FRAME_BUDGET   128         /* frames of a peer in one turn */

#define MESH_NAME_LEN       48          /* with the final 0 */

/* ---- frames on the socket, host byte order: both ends are one machine ---- */

#define MESH_MAGIC          0x6d445245u     /* "ERDm" */
#define MESH_VERSION        1u

enum {
    MESH_FRAME_HELLO = 1,       /* first, once */
    MESH_FRAME_REGION,          /* carries a descriptor */
    MESH_FRAME_GONE,
    MESH_FRAME_DATA,            /* the user's stream */
};

typedef struct MeshFrame {
    uint32_t type;
    uint32_t len;               /* of what follows */
} MeshFrame;

typedef struct MeshHello {
    uint32_t magic;
    uint32_t version;
    char name[MESH_NAME_LEN];
} MeshHello;

typedef struct MeshRegionFrame {
    uint32_t id;
    uint32_t zero;
    uint64_t len;
    uint64_t fd_offset;
} MeshRegionFrame;

typedef struct MeshGone {
    uint32_t id;
} MeshGone;

/*
 * What all connections of this process hold together. A bound per connection is
 * none: 64 peers would take every descriptor of the process.
 */
typedef struct MeshHeld {
    unsigned fds;               /* received, or about to be sent */
    uint64_t mapped;            /* bytes of peers' memory */
} MeshHeld;

static inline bool mesh_held_fds_full(const MeshHeld *h)
{
    return h->fds >= MESH_MAX_FDS;
}

/* ---- output: bytes, and descriptors that go with some of them ---- */

typedef struct MeshOut {
    uint8_t *buf;
    size_t head, tail, cap;
    size_t frame;               /* the data frame that grows, if frame_open */
    bool frame_open;
    MeshHeld *held;
    unsigned nfds;
    struct {
        size_t at;              /* goes with the byte at buf[at] */
        int fd;
    } fds[MESH_FDS];
} MeshOut;

/* 0 = all sent, 1 = the socket is full, -1 = the connection is over */
int mesh_out_flush(MeshOut *o, int sock, uint64_t *sent);
bool mesh_out_data(MeshOut *o, const void *data, size_t len);
/* Takes @fd (-1: none), counted in o->held, also when it fails */
bool mesh_out_frame(MeshOut *o, uint32_t type, const void *body, size_t len,
                    int fd);
void mesh_out_free(MeshOut *o);

static inline size_t mesh_out_waiting(const MeshOut *o)
{
    return o->tail - o->head;
}

/* ---- memory ---- */

typedef struct MeshOwnRegion {
    uint32_t id;
    int fd;                     /* open for reading only */
    uintptr_t start;
    uint64_t len, fd_offset;
} MeshOwnRegion;

typedef struct MeshPeerRegion {
    uint32_t id;
    int fd;                     /* -1 when mapped */
    void *map;                  /* NULL: read from fd */
    size_t map_len;
    uint64_t len, fd_offset;
    uint64_t map_skip;          /* from the start of the mapping */
} MeshPeerRegion;

/* Usable? False: @why says what is wrong with it. */
bool mesh_region_check(int fd, uint64_t len, uint64_t fd_offset,
                       char why[MESH_WHY_LEN]);
/* Takes @fd, counted in @held, also when it fails: then @why is the reason */
bool mesh_region_map(MeshPeerRegion *r, const MeshRegionFrame *f, int fd,
                     MeshHeld *held, char why[MESH_WHY_LEN]);
void mesh_region_unmap(MeshPeerRegion *r, MeshHeld *held);
bool mesh_region_pull(const MeshPeerRegion *r, uint64_t offset, void *dst,
                      size_t len);

/* ---- peers ---- */

typedef enum MeshState {
    MESH_RETRY,                 /* no socket; connect when retry_at has come */
    MESH_HELLO,                 /* connected, its name not received yet */
    MESH_OPEN,                  /* there is a wire */
    MESH_DEAD,                  /* to be closed in the next turn */
} MeshState;

struct MeshPeer {
    MeshPeer *next;
    MeshWatch watch;
    MeshState state;
    bool active;                /* we connect to it */
    bool flush_due;             /* on the list of those to be flushed */
    MeshPeer *flush_next;
    char name[MESH_NAME_LEN];   /* passive: empty until hello */
    pid_t pid;
    char why[MESH_WHY_LEN];     /* MESH_DEAD: what it did, or empty */
    void *wire;
    uint64_t deadline;          /* RETRY: connect; HELLO: end; OPEN: since */
    uint64_t retry_ms;

    uint8_t *in;
    size_t in_head, in_tail;
    size_t in_user;             /* bytes at in_head that are the user's */
    size_t frame_left;          /* of the data frame, not received yet */
    bool again;                 /* the user asked for another turn */
    int in_fds[MESH_FDS];
    unsigned in_nfds;

    MeshOut out;
    MeshPeerRegion regions[MESH_MAX_REGIONS];
    unsigned nregions;
    unsigned last_region;       /* hit by the last pull */
    uint64_t tx_bytes, rx_bytes, pulled_bytes;
};

struct ErdmaMesh {
    const MeshOps *ops;
    void *opaque;
    int dir;                    /* the directory */
    dev_t dev;
    ino_t ino;
    char name[MESH_NAME_LEN];
    MeshWatch listen, notify;
    bool published;
    bool paused;
    bool left_out;              /* a process, because MESH_MAX_PEERS are here */
    bool scan_due;              /* ... and now there is room */
    bool warned_unsealed;
    uint64_t accept_again;      /* out of descriptors: not before */
    MeshPeer *peers;
    unsigned npeers;
    MeshPeer *flush;            /* those with output, NULL-terminated */
    uint64_t timer;             /* that is set */

    MeshOwnRegion regions[MESH_MAX_REGIONS];
    unsigned nregions;
    unsigned last_region;       /* hit by the last share */
    uint32_t next_region;
    char why[MESH_WHY_LEN];     /* a region of ours cannot be announced */
    MeshHeld held;

    MeshInfo info;
};

/* mesh.c */
void mesh_log(ErdmaMesh *m, bool trouble, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void mesh_watch(MeshWatch *w, bool read, bool write);
void mesh_set_timer(ErdmaMesh *m);

/* mesh_dir.c: names and sockets in the directory */
bool mesh_dir_open(ErdmaMesh *m, const char *path, char *error, size_t len);
bool mesh_dir_publish(ErdmaMesh *m, char *error, size_t len);
void mesh_dir_scan(ErdmaMesh *m);
void mesh_dir_event(MeshWatch *w, bool readable, bool writable);
bool mesh_name_valid(const char *name);
/* A connected socket, or -1 and errno */
int mesh_dir_connect(ErdmaMesh *m, const char *name);
void mesh_dir_remove(ErdmaMesh *m, const char *name);

/* mesh_peer.c: life of a connection */
void mesh_peer_found(ErdmaMesh *m, const char *name);
void mesh_peer_accept(MeshWatch *w, bool readable, bool writable);
/* It broke a rule: close it in the next turn, and say why */
void mesh_peer_fail(MeshPeer *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* It closed the connection, or the user of the stream did: no more to say */
void mesh_peer_lost(MeshPeer *p);
void mesh_peer_flush(MeshPeer *p);
void mesh_peer_opened(MeshPeer *p);
void mesh_peers_run(ErdmaMesh *m);
void mesh_peers_timer(ErdmaMesh *m, uint64_t now);
void mesh_peers_free(ErdmaMesh *m);
bool mesh_peer_announce(MeshPeer *p, const MeshOwnRegion *r);
MeshPeer *mesh_peer_by_name(ErdmaMesh *m, const char *name);

/* mesh_input.c: what a peer sends */
void mesh_input_ready(MeshWatch *w, bool readable, bool writable);
void mesh_input_run(MeshPeer *p);
void mesh_input_free(MeshPeer *p);

#endif /* ERDMA_MESH_INT_H */
