/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Peers that break rules, send nothing, connect too often, end; and many that keep the rules. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "meshhost.h"

static void expect_closed(Host *h, int fd, const char *words)
{
    CHECK(raw_closed(fd));
    close(fd);
    hosts_settle();
    CHECK_EQ(host_wires(h), 0);
    CHECK_EQ(h->m->npeers, 0);
    if (!strstr(h->last_trouble, words)) {
        tap_fail(__FILE__, __LINE__, "'%s', not '%s'", h->last_trouble, words);
    }
}

/* ---- broken rules ---- */

static void expect_bad_hello(const MeshHello *hello, const char *words)
{
    Host *h = host_new();
    int fd = raw_connect(h);

    raw_frame(fd, MESH_FRAME_HELLO, hello, sizeof(*hello));
    expect_closed(h, fd, words);
    CHECK_EQ(h->made, 0);
    host_free(h);
}

MESH_TEST(a_hello_is_checked)
{
    const MeshHello good = {
        .magic = MESH_MAGIC, .version = MESH_VERSION, .name = RAW_NAME,
    };
    MeshHello bad = good;

    bad.magic ^= 1;
    expect_bad_hello(&bad, "magic");
    bad = good;
    bad.version++;
    expect_bad_hello(&bad, "version");
    bad = good;
    strcpy(bad.name, "0000000000000001-1-00000000");   /* ours to connect to */
    expect_bad_hello(&bad, "name");
    bad = good;
    strcpy(bad.name, "../../etc/passwd");
    expect_bad_hello(&bad, "name");
    bad = good;
    memset(bad.name, 'f', sizeof(bad.name));
    expect_bad_hello(&bad, "name");
    bad = good;
    bad.name[0] = 0;
    expect_bad_hello(&bad, "name");
}

MESH_TEST(our_own_name_is_not_anothers)
{
    Host *h = host_new();
    int fd = raw_connect(h);

    raw_hello(fd, h->m->name);
    expect_closed(h, fd, "name");
    host_free(h);
}

MESH_TEST(a_hello_comes_first_and_once)
{
    Host *h = host_new();
    int fd = raw_connect(h);

    raw_frame(fd, MESH_FRAME_DATA, "x", 1);
    expect_closed(h, fd, "expected HELLO");
    CHECK_EQ(h->made, 0);
    fd = raw_open(h);
    raw_hello(fd, RAW_NAME);
    expect_closed(h, fd, "second HELLO");
    host_free(h);
}

/* One who took another's name: the other one keeps it */
MESH_TEST(a_name_belongs_to_its_process)
{
    Host *h = host_new();
    int fd = raw_open(h), status;
    pid_t pid = fork();

    if (!pid) {
        char buf[256];
        int mine;

        mesh_case_begin_child();
        mine = raw_connect(h);
        raw_hello(mine, RAW_NAME);
        while (recv(mine, buf, sizeof(buf), 0) > 0) {
            ;
        }
        _exit(0);
    }
    for (unsigned i = 0; i < 200 && h->m->info.accepts < 2; i++) {
        hosts_round(10);
    }
    hosts_settle();
    CHECK(strstr(h->last_trouble, "belongs to process"));
    CHECK_EQ(host_wires(h), 1);
    CHECK(waitpid(pid, &status, 0) == pid && !status);
    raw_frame(fd, MESH_FRAME_DATA, "x", 1);
    hosts_settle();
    CHECK_EQ(h->wires->rx_len, 1);
    close(fd);
    hosts_settle();
    host_free(h);
}

MESH_TEST(a_process_that_comes_again_replaces_its_connection)
{
    Host *h = host_new();
    int one = raw_open(h), two = raw_connect(h);

    raw_hello(two, RAW_NAME);
    hosts_settle();
    CHECK_EQ(host_wires(h), 1);
    CHECK_EQ(h->made, 2);
    raw_frame(two, MESH_FRAME_DATA, "x", 1);
    hosts_settle();
    CHECK_EQ(h->wires->rx_len, 1);
    CHECK(raw_closed(one));
    close(one);
    close(two);
    hosts_settle();
    host_free(h);
}

MESH_TEST(frames_are_checked)
{
    static const MeshFrame bad[] = {
        { 0, 0 }, { 5, 4 }, { UINT32_MAX, 4 }, { 1u << 31, 0 },
        { MESH_FRAME_DATA, 0 }, { MESH_FRAME_DATA, MESH_MAX_WAITING + 1 },
        { MESH_FRAME_DATA, UINT32_MAX }, { MESH_FRAME_GONE, 3 },
        { MESH_FRAME_GONE, 5 }, { MESH_FRAME_REGION, 23 },
        { MESH_FRAME_REGION, UINT32_MAX }, { MESH_FRAME_HELLO, 0 },
    };

    for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        Host *h = host_new();
        int fd = raw_open(h);

        raw_send(fd, &bad[i], sizeof(bad[i]));
        expect_closed(h, fd, "expected ");
        host_free(h);
    }
}

MESH_TEST(garbage_closes)
{
    unsigned seed = 12345;

    for (unsigned round = 0; round < 300; round++) {
        uint8_t buf[300];
        Host *h = host_new();
        int fd = round % 2 ? raw_open(h) : raw_connect(h);
        unsigned len = 1 + rand_r(&seed) % sizeof(buf);

        for (unsigned i = 0; i < len; i++) {
            buf[i] = rand_r(&seed) >> 8;
        }
        if (round % 3 == 0 && len > 8) {        /* nearly right */
            memset(buf + 1, 0, 3);
            buf[0] = 1 + buf[0] % 4;
            memset(buf + 6, 0, 2);
        }
        raw_send(fd, buf, len);
        hosts_settle();
        close(fd);
        hosts_settle();
        CHECK_EQ(host_wires(h), 0);
        CHECK_EQ(h->m->npeers, 0);
        host_free(h);
    }
}

/* ---- peers that send nothing, many peers ---- */

MESH_TEST(a_peer_that_does_not_say_its_name_is_closed)
{
    Host *h = host_new();
    int fd = raw_connect(h);

    raw_send(fd, "\1\0\0\0", 4);                /* and no more */
    hosts_settle();
    CHECK_EQ(h->m->npeers, 1);
    CHECK(h->timer);
    host_forward(h, MESH_HELLO_MS - 1000);
    hosts_settle();
    CHECK_EQ(h->m->npeers, 1);
    host_forward(h, 1100);
    expect_closed(h, fd, "no HELLO came");
    CHECK_EQ(h->timer, 0);
    host_free(h);
}

MESH_TEST(connections_are_counted)
{
    Host *h = host_new();
    int fds[MESH_MAX_PEERS + 6];

    for (unsigned i = 0; i < MESH_MAX_PEERS + 6; i++) {
        fds[i] = raw_connect(h);
        hosts_round(0);
    }
    hosts_settle();
    CHECK_EQ(h->m->npeers, MESH_MAX_PEERS);
    CHECK_EQ(h->m->info.refused, 6);
    CHECK(raw_closed(fds[MESH_MAX_PEERS + 5]));
    for (unsigned i = 0; i < MESH_MAX_PEERS + 6; i++) {
        close(fds[i]);
    }
    hosts_settle();
    CHECK_EQ(h->m->npeers, 0);
    close(raw_open(h));
    hosts_settle();
    host_free(h);
}

MESH_TEST(running_out_of_descriptors_does_not_spin)
{
    struct rlimit old, low;
    Host *h = host_new();
    int fd = raw_connect(h);
    unsigned rounds = 0;

    CHECK(!getrlimit(RLIMIT_NOFILE, &old));
    low = old;
    low.rlim_cur = fd + 1;
    CHECK(!setrlimit(RLIMIT_NOFILE, &low));
    while (hosts_round(20)) {
        CHECK(++rounds < 20);
    }
    CHECK(strstr(h->last_trouble, "cannot take a connection"));
    CHECK_EQ(h->m->npeers, 0);
    CHECK(!setrlimit(RLIMIT_NOFILE, &old));
    host_forward(h, 1100);
    hosts_settle();
    CHECK_EQ(h->m->npeers, 1);
    close(fd);
    hosts_settle();
    host_free(h);
}

/* ---- other processes ---- */

/* A child runs until it is killed, sending to everybody it knows */
static pid_t fork_sender(void)
{
    pid_t pid = fork();

    if (!pid) {
        static uint8_t block[50000];
        Host *h;

        mesh_case_begin_child();
        h = host_new();
        for (;;) {
            hosts_round(1);
            for (Wire *w = h->wires; w; w = w->next) {
                w->rx_len = 0;
                if (mesh_out_waiting(&w->peer->out) < 1000000) {
                    erdma_mesh_send(w->peer, block, sizeof(block), false);
                }
            }
            erdma_mesh_flush_all(h->m);
        }
    }
    return pid;
}

static bool receives(void *h)
{
    Host *host = h;

    return host->wires && host->wires->rx_len > 100000;
}

static bool alone(void *h)
{
    return ((Host *)h)->m->npeers == 0;
}

MESH_TEST(a_killed_peer_is_lost_and_forgotten)
{
    Host *h = host_new();

    for (unsigned i = 0; i < 10; i++) {
        pid_t pid = fork_sender();

        hosts_until(receives, h, 5000, "bytes of the child");
        kill(pid, SIGKILL);
        CHECK(waitpid(pid, NULL, 0) == pid);
        hosts_until(alone, h, 2000, "the loss to be noticed");
        CHECK_EQ(h->freed, i + 1);
    }
    CHECK_EQ(h->troubles, 0);
    host_free(h);
}

/* The older ends: the younger, which connects, finds nobody there */
MESH_TEST(a_killed_elder_is_not_asked_for_ever)
{
    pid_t pid = fork_sender();
    Host *h;

    usleep(100000);
    h = host_new();
    hosts_until(receives, h, 5000, "bytes of the child");
    kill(pid, SIGKILL);
    CHECK(waitpid(pid, NULL, 0) == pid);
    hosts_until(alone, h, 2000, "the loss to be noticed");
    CHECK_EQ(h->m->info.stale_removed, 1);
    CHECK_EQ(h->timer, 0);
    host_free(h);
}

static bool piled_up(void *h)
{
    return !((Host *)h)->wires;
}

MESH_TEST(a_stopped_peer_costs_bounded_memory)
{
    static uint8_t block[1 << 20];
    Host *h = host_new();
    pid_t pid = fork_sender();

    hosts_until(receives, h, 5000, "bytes of the child");
    kill(pid, SIGSTOP);
    while (h->wires &&
           erdma_mesh_send(h->wires->peer, block, sizeof(block), false)) {
        erdma_mesh_flush_all(h->m);
        hosts_round(0);
        CHECK(!h->wires ||
              mesh_out_waiting(&h->wires->peer->out) <= MESH_MAX_WAITING);
    }
    hosts_until(piled_up, h, 2000, "the connection to be closed");
    CHECK(strstr(h->last_trouble, "takes nothing"));
    kill(pid, SIGKILL);
    CHECK(waitpid(pid, NULL, 0) == pid);
    host_free(h);
}

/*
 * @n processes start at the same moment. Each must end up with one wire to each
 * other, on which it gets the other's number exactly once. Exit 0: so it was.
 */
static void run_member(unsigned me, unsigned n, int start)
{
    bool got[64] = { false };
    unsigned greeted = 0, received = 0;
    Wire *done[64];
    char c;
    Host *h;

    mesh_case_begin_child();
    if (read(start, &c, 1)) {
        _exit(2);
    }
    h = host_new();
    for (unsigned i = 0; i < 1000 && (received < n - 1 || greeted < n - 1);
         i++) {
        hosts_round(10);
        for (Wire *w = h->wires; w; w = w->next) {
            bool known = false;

            for (unsigned k = 0; k < greeted; k++) {
                known |= done[k] == w;
            }
            if (!known && greeted < 64) {
                uint8_t b = (uint8_t)me;

                done[greeted++] = w;
                if (!erdma_mesh_send(w->peer, &b, 1, false)) {
                    _exit(3);
                }
            }
            for (; w->rx_len; w->rx_len--) {
                uint8_t who = w->rx[w->rx_len - 1];

                if (who >= n || who == me || got[who]) {
                    _exit(4);
                }
                got[who] = true;
                received++;
            }
        }
        erdma_mesh_flush_all(h->m);
    }
    /* All stay until all have received from all. */
    for (unsigned i = 0; i < 20; i++) {
        hosts_round(5);
    }
    _exit(received == n - 1 && greeted == n - 1 &&
          h->m->info.connects + h->m->info.accepts == n - 1 ? 0 : 5);
}

static void run_members(unsigned n)
{
    pid_t pids[64];
    int start[2];

    CHECK(!pipe(start));
    for (unsigned i = 0; i < n; i++) {
        pids[i] = fork();
        if (!pids[i]) {
            close(start[1]);
            run_member(i, n, start[0]);
        }
    }
    close(start[0]);
    close(start[1]);
    for (unsigned i = 0; i < n; i++) {
        int status;

        CHECK(waitpid(pids[i], &status, 0) == pids[i]);
        CHECK_EQ(status, 0);
    }
}

MESH_TEST(four_processes_are_all_connected)
{
    for (unsigned i = 0; i < 15; i++) {
        run_members(4);
    }
}

MESH_TEST(sixteen_processes_are_all_connected)
{
    run_members(16);
}

/* ---- how fast ---- */

MESH_TEST(ping_pong)
{
    enum { ROUNDS = 2000 };
    struct timespec t0, t1;
    Host *a, *b;

    hosts_pair(&a, &b);
    clock_gettime(CLOCK_MONOTONIC, &t0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        a->wires->rx_len = b->wires->rx_len = 0;
        CHECK(erdma_mesh_send(a->wires->peer, "0123456789012345", 16, false));
        erdma_mesh_flush_all(a->m);
        hosts_round(100);
        CHECK_EQ(b->wires->rx_len, 16);
    }
    clock_gettime(CLOCK_MONOTONIC, &t1);
    printf("# %.1f us per message, with sanitizers, in one process\n",
           ((t1.tv_sec - t0.tv_sec) * 1e6 + (t1.tv_nsec - t0.tv_nsec) / 1e3) /
           ROUNDS);
    host_free(a);
    host_free(b);
}
