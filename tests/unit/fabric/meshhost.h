/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands around a mesh in the tests: a poll loop, a clock that can be put
 * forward, a user that keeps what it receives. Several hosts can live in one
 * process: the mesh has no global state.
 */
#ifndef ERDMA_MESHHOST_H
#define ERDMA_MESHHOST_H

#include "mesh_int.h"
#include "cases.h"

#define HOST_FDS    1024

typedef struct Host Host;

typedef struct Wire {
    struct Wire *next;
    Host *host;
    MeshPeer *peer;
    uint8_t *rx;                /* what was taken */
    size_t rx_len;
    unsigned calls;
} Wire;

struct Host {
    ErdmaMesh *m;
    MeshWatch *watches[HOST_FDS];
    bool kicked;
    uint64_t timer, skew;
    Wire *wires;
    unsigned made, freed, troubles;
    char last_trouble[256];
    /* How the user behaves; NULL: takes everything */
    size_t (*input)(Wire *w, const void *data, size_t len, bool *again);
    bool refuse_wires;
    unsigned max_calls;         /* of wire_input() in one event */
};

/* A case has a directory of its own, and leaves no descriptor open */
void mesh_case_begin(void);
void mesh_case_begin_child(void);   /* forked: forget the parent's */
#define MESH_TEST(id)                                                       \
    static void id##_body(void);                                            \
    TEST(id)                                                                \
    {                                                                       \
        unsigned fds_before;                                                \
                                                                            \
        mesh_case_begin();                                                  \
        fds_before = count_fds();                                           \
        id##_body();                                                        \
        CHECK_EQ(count_fds(), fds_before);                                  \
    }                                                                       \
    static void id##_body(void)

extern char mesh_dir_path[];    /* of this case, not made yet */

Host *host_new(void);           /* joins mesh_dir_path */
Host *host_try(const char *path, char *error, size_t len);
void host_free(Host *h);

/* Let @ms pass for the timer of @h */
void host_forward(Host *h, uint64_t ms);

/* One round of events of all hosts; false if none came within @ms */
bool hosts_round(int ms);
/* Until @cond(@arg) holds; the case fails after @ms, saying @what */
void hosts_until(bool (*cond)(void *), void *arg, int ms, const char *what);
/* Until nothing happens any more */
void hosts_settle(void);

unsigned host_wires(const Host *h);
/* The wire that leads to @to; NULL: none */
Wire *host_wire(Host *h, Host *to);

/* Two hosts with a wire each */
void hosts_pair(Host **a, Host **b);

void wire_keep(Wire *w, const void *data, size_t len);

/* ---- a peer that is no mesh: it writes what it likes ---- */

#define RAW_NAME "ffffffffffffffff-1-00000000"

/* Connected to @h, nothing said yet */
int raw_connect(Host *h);
void raw_send(int fd, const void *data, size_t len);
void raw_frame(int fd, uint32_t type, const void *body, size_t len);
/* With @nfds descriptors */
void raw_send_fds(int fd, const void *data, size_t len, const int *fds,
                  unsigned nfds);
void raw_hello(int fd, const char *name);
/* Connected, and known under RAW_NAME */
int raw_open(Host *h);
void raw_region(int fd, uint32_t id, uint64_t len, uint64_t fd_offset,
                int memory);
/* Did @h close it, within two seconds? */
bool raw_closed(int fd);

/* A memfd of @len bytes with seals and a pattern */
int memory_new(size_t len, unsigned seals);
uint8_t memory_byte(uint64_t offset);
unsigned count_fds(void);

#endif /* ERDMA_MESHHOST_H */
