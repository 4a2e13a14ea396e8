/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See meshhost.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "fakehost.h"
#include "fakewire.h"
#include "meshhost.h"

/* What tap.c can choose for tests of the core; there is none here */
MapMode fake_default_mode;
WireMode fake_wire_mode;

#define MAX_HOSTS 16

static Host *hosts[MAX_HOSTS];

static uint64_t real_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

/* ---- MeshOps ---- */

static void op_watch(void *opaque, MeshWatch *w)
{
    Host *h = opaque;

    CHECK(w->fd >= 0 && w->fd < HOST_FDS);
    CHECK(!h->watches[w->fd] || h->watches[w->fd] == w);
    h->watches[w->fd] = w->read || w->write ? w : NULL;
}

static void op_kick(void *opaque)
{
    ((Host *)opaque)->kicked = true;
}

static void op_set_timer(void *opaque, uint64_t deadline_ms)
{
    ((Host *)opaque)->timer = deadline_ms;
}

static uint64_t op_now(void *opaque)
{
    return real_ms() + ((Host *)opaque)->skew;
}

static void op_log(void *opaque, bool trouble, const char *text)
{
    Host *h = opaque;

    if (getenv("MESH_LOG")) {
        printf("# %s %s\n", trouble ? "trouble:" : "info:", text);
    }
    if (trouble) {
        h->troubles++;
        snprintf(h->last_trouble, sizeof(h->last_trouble), "%s", text);
    }
}

static void *op_wire_new(void *opaque, MeshPeer *peer)
{
    Host *h = opaque;
    Wire *w;

    if (h->refuse_wires) {
        return NULL;
    }
    w = calloc(1, sizeof(*w));
    w->host = h;
    w->peer = peer;
    w->next = h->wires;
    h->wires = w;
    h->made++;
    return w;
}

void wire_keep(Wire *w, const void *data, size_t len)
{
    w->rx = realloc(w->rx, w->rx_len + len + 1);
    memcpy(w->rx + w->rx_len, data, len);
    w->rx_len += len;
}

static size_t op_wire_input(void *wire, const void *data, size_t len,
                            bool *again)
{
    Wire *w = wire;

    CHECK(len);
    w->calls++;
    if (w->host->input) {
        return w->host->input(w, data, len, again);
    }
    wire_keep(w, data, len);
    return len;
}

static void op_wire_free(void *wire)
{
    Wire *w = wire, **at = &w->host->wires;

    while (*at != w) {
        at = &(*at)->next;
    }
    *at = w->next;
    w->host->freed++;
    free(w->rx);
    free(w);
}

static const MeshOps ops = {
    .watch = op_watch,
    .kick = op_kick,
    .set_timer = op_set_timer,
    .now = op_now,
    .log = op_log,
    .wire_new = op_wire_new,
    .wire_input = op_wire_input,
    .wire_free = op_wire_free,
};

/* ---- life ---- */

Host *host_try(const char *path, char *error, size_t len)
{
    Host *h = calloc(1, sizeof(*h));

    h->m = erdma_mesh_new(path, &ops, h, error, len);
    if (!h->m) {
        for (unsigned i = 0; i < HOST_FDS; i++) {
            CHECK(!h->watches[i]);
        }
        free(h);
        return NULL;
    }
    for (unsigned i = 0; i < MAX_HOSTS; i++) {
        if (!hosts[i]) {
            hosts[i] = h;
            return h;
        }
    }
    abort();
}

Host *host_new(void)
{
    char error[256] = "";
    Host *h = host_try(mesh_dir_path, error, sizeof(error));

    if (!h) {
        tap_fail(__FILE__, __LINE__, "no mesh: %s", error);
    }
    return h;
}

void host_free(Host *h)
{
    for (unsigned i = 0; i < MAX_HOSTS; i++) {
        if (hosts[i] == h) {
            hosts[i] = NULL;
        }
    }
    erdma_mesh_free(h->m);
    for (unsigned i = 0; i < HOST_FDS; i++) {
        CHECK(!h->watches[i]);
    }
    CHECK(!h->wires);
    CHECK_EQ(h->made, h->freed);
    free(h);
}

void host_forward(Host *h, uint64_t ms)
{
    h->skew += ms;
}

unsigned host_wires(const Host *h)
{
    unsigned n = 0;

    for (Wire *w = h->wires; w; w = w->next) {
        n++;
    }
    return n;
}

Wire *host_wire(Host *h, Host *to)
{
    for (Wire *w = h->wires; w; w = w->next) {
        if (!strcmp(w->peer->name, to->m->name)) {
            return w;
        }
    }
    return NULL;
}

/* ---- the loop ---- */

static bool run_due(Host *h)
{
    bool did = false;

    if (h->kicked) {
        h->kicked = false;
        erdma_mesh_run(h->m);
        did = true;
    }
    if (h->timer && h->timer <= op_now(h)) {
        h->timer = 0;
        erdma_mesh_timer(h->m);
        did = true;
    }
    return did;
}

bool hosts_round(int ms)
{
    struct pollfd fds[HOST_FDS];
    Host *owner[HOST_FDS];
    unsigned n = 0;
    bool did = false;

    for (unsigned i = 0; i < MAX_HOSTS; i++) {
        Host *h = hosts[i];

        if (!h) {
            continue;
        }
        did |= run_due(h);
        for (int fd = 0; fd < HOST_FDS; fd++) {
            MeshWatch *w = h->watches[fd];

            if (w) {
                fds[n] = (struct pollfd) {
                    .fd = fd, .events = (w->read ? POLLIN : 0) |
                                        (w->write ? POLLOUT : 0),
                };
                owner[n++] = h;
            }
        }
        did |= h->kicked;
    }
    if (poll(fds, n, did ? 0 : ms) <= 0) {
        return did;
    }
    for (unsigned i = 0; i < n; i++) {
        MeshWatch *w = owner[i]->watches[fds[i].fd];
        short r = fds[i].revents;

        /* like QEMU: an error makes both ready */
        if (w && r) {
            erdma_mesh_ready(w, r & (POLLIN | POLLHUP | POLLERR),
                             r & (POLLOUT | POLLERR));
        }
    }
    return true;
}

void hosts_until(bool (*cond)(void *), void *arg, int ms, const char *what)
{
    uint64_t end = real_ms() + ms;

    while (!cond(arg)) {
        if (real_ms() > end) {
            tap_fail(__FILE__, __LINE__, "waited %d ms for %s", ms, what);
        }
        hosts_round(10);
    }
}

void hosts_settle(void)
{
    unsigned quiet = 0;

    for (unsigned i = 0; i < 10000 && quiet < 3; i++) {
        quiet = hosts_round(2) ? 0 : quiet + 1;
    }
    CHECK_EQ(quiet, 3);
}

void hosts_pair(Host **a, Host **b)
{
    *a = host_new();
    *b = host_new();
    hosts_settle();
    CHECK_EQ(host_wires(*a), 1);
    CHECK_EQ(host_wires(*b), 1);
}

/* ---- raw peers ---- */

int raw_connect(Host *h)
{
    struct sockaddr_un sun = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int n = snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/%s",
                     mesh_dir_path, h->m->name);

    CHECK(n > 0 && (size_t)n < sizeof(sun.sun_path));
    CHECK(!connect(fd, (struct sockaddr *)&sun, sizeof(sun)));
    return fd;
}

/* The other end may have closed already: that is for raw_closed() to say */
void raw_send(int fd, const void *data, size_t len)
{
    CHECK(send(fd, data, len, MSG_NOSIGNAL) == (ssize_t)len ||
          errno == EPIPE || errno == ECONNRESET);
}

void raw_frame(int fd, uint32_t type, const void *body, size_t len)
{
    uint8_t buf[512];
    MeshFrame f = { .type = type, .len = len };

    CHECK(len <= sizeof(buf) - sizeof(f));
    memcpy(buf, &f, sizeof(f));
    memcpy(buf + sizeof(f), body, len);
    raw_send(fd, buf, sizeof(f) + len);
}

void raw_send_fds(int fd, const void *data, size_t len, const int *fds,
                  unsigned nfds)
{
    char control[CMSG_SPACE(256 * sizeof(int))] = { 0 };
    struct iovec iov = { .iov_base = (void *)data, .iov_len = len };
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
        .msg_controllen = CMSG_SPACE(nfds * sizeof(int)),
    };
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(nfds * sizeof(int));
    memcpy(CMSG_DATA(c), fds, nfds * sizeof(int));
    CHECK(sendmsg(fd, &msg, MSG_NOSIGNAL) == (ssize_t)len ||
          errno == EPIPE || errno == ECONNRESET);
}

void raw_hello(int fd, const char *name)
{
    MeshHello h = { .magic = MESH_MAGIC, .version = MESH_VERSION };

    strncpy(h.name, name, sizeof(h.name) - 1);
    raw_frame(fd, MESH_FRAME_HELLO, &h, sizeof(h));
}

int raw_open(Host *h)
{
    unsigned before = host_wires(h);
    int fd = raw_connect(h);

    raw_hello(fd, RAW_NAME);
    hosts_settle();
    CHECK_EQ(host_wires(h), before + 1);
    return fd;
}

void raw_region(int fd, uint32_t id, uint64_t len, uint64_t fd_offset,
                int memory)
{
    struct {
        MeshFrame f;
        MeshRegionFrame r;
    } msg = {
        { MESH_FRAME_REGION, sizeof(MeshRegionFrame) },
        { .id = id, .len = len, .fd_offset = fd_offset },
    };

    raw_send_fds(fd, &msg, sizeof(msg), &memory, 1);
}

bool raw_closed(int fd)
{
    char buf[4096];

    for (unsigned i = 0; i < 200; i++) {
        ssize_t n;

        hosts_round(10);
        do {
            n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
        } while (n > 0);
        if (!n || (errno != EAGAIN && errno != EINTR)) {
            return true;
        }
    }
    return false;
}

/* ---- memory ---- */

uint8_t memory_byte(uint64_t offset)
{
    return (uint8_t)(offset * 7 + (offset >> 8) * 13 + (offset >> 16));
}

int memory_new(size_t len, unsigned seals)
{
    int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    uint8_t *p;

    CHECK(fd >= 0 && !ftruncate(fd, len));
    p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(p != MAP_FAILED);
    for (size_t i = 0; i < len; i++) {
        p[i] = memory_byte(i);
    }
    munmap(p, len);
    CHECK(!seals || !fcntl(fd, F_ADD_SEALS, seals));
    return fd;
}

unsigned count_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    unsigned n = 0;

    CHECK(d);
    while (readdir(d)) {
        n++;
    }
    closedir(d);
    return n;
}

/* ---- a directory per case ---- */

char mesh_dir_path[256];
static char base[] = "/tmp/erdma-mesh-XXXXXX";

/*
 * Whatever way the tests end, failed cases and crashes included: a child waits
 * for the end of a pipe that nobody writes to, and removes the directory.
 */
static void clean_up_later(void)
{
    int alive[2];
    char c;

    if (!mkdtemp(base) || pipe(alive)) {
        abort();
    }
    switch (fork()) {
    case -1:
        abort();
    case 0:
        close(alive[1]);
        setsid();
        while (read(alive[0], &c, 1) < 0 && errno == EINTR) {
            ;
        }
        execlp("rm", "rm", "-rf", base, NULL);
        _exit(1);
    default:
        close(alive[0]);            /* the other end stays open */
    }
}

void mesh_case_begin(void)
{
    static unsigned n;

    if (!n) {
        clean_up_later();
    }
    memset(hosts, 0, sizeof(hosts));
    snprintf(mesh_dir_path, sizeof(mesh_dir_path), "%s/%u", base, ++n);
}

/* A child never outlives a case that failed */
void mesh_case_begin_child(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    memset(hosts, 0, sizeof(hosts));
}
