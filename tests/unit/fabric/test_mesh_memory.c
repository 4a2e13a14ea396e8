/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory passed between processes: what arrives, and what is refused. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "meshhost.h"

#define SIZE    (256u * 1024)
#define SEALED  (F_SEAL_SHRINK | F_SEAL_GROW)
#define UNSEALED F_SEAL_SEAL        /* and nobody can seal it later */

/* Any number that is not a pointer to be followed */
static const void *host_at(uint64_t n)
{
    return (const void *)(uintptr_t)(0x100000000ull + n);
}

static void add(Host *h, uint64_t at, uint64_t len, int fd, uint64_t offset)
{
    const char *why = NULL;

    if (!erdma_mesh_region_add(h->m, host_at(at), len, fd, offset, &why)) {
        tap_fail(__FILE__, __LINE__, "not announced: %s", why);
    }
    erdma_mesh_flush_all(h->m);
}

static bool pull_ok(MeshPeer *p, uint32_t region, uint64_t offset, size_t len,
                    uint64_t first)
{
    uint8_t *buf = malloc(len + 1);
    bool good;

    buf[len] = 0x5a;
    good = erdma_mesh_pull(p, region, offset, buf, len);
    for (size_t i = 0; good && i < len; i++) {
        good = buf[i] == memory_byte(first + i);
    }
    good = good && buf[len] == 0x5a;
    free(buf);
    return good;
}

static void check_bounds(MeshPeer *p, uint32_t id, uint64_t len)
{
    static uint8_t buf[64];

    CHECK(erdma_mesh_pull(p, id, len - 1, buf, 1));
    CHECK(erdma_mesh_pull(p, id, len, buf, 0));
    CHECK(!erdma_mesh_pull(p, id, len, buf, 1));
    CHECK(!erdma_mesh_pull(p, id, len - 1, buf, 2));
    CHECK(!erdma_mesh_pull(p, id, len + 1, buf, 0));
    CHECK(!erdma_mesh_pull(p, id, UINT64_MAX, buf, 1));
    CHECK(!erdma_mesh_pull(p, id, UINT64_MAX - 7, buf, 16));
    CHECK(!erdma_mesh_pull(p, id, 1ull << 63, buf, 1));
    CHECK(!erdma_mesh_pull(p, id + 1, 0, buf, 1));
    CHECK(!erdma_mesh_pull(p, 0, 0, buf, 1));
}

MESH_TEST(sealed_memory_is_mapped_and_read)
{
    int fd = memory_new(SIZE, SEALED);
    MeshPeerInfo info;
    Host *a, *b;

    hosts_pair(&a, &b);
    add(a, 0, SIZE, fd, 0);
    close(fd);
    hosts_settle();
    CHECK(erdma_mesh_peer_info(b->m, 0, &info));
    CHECK_EQ(info.regions, 1);
    CHECK_EQ(info.mapped, 1);
    CHECK(pull_ok(b->wires->peer, 1, 0, SIZE, 0));
    CHECK(pull_ok(b->wires->peer, 1, 4097, 8191, 4097));
    check_bounds(b->wires->peer, 1, SIZE);
    host_free(a);
    host_free(b);
}

MESH_TEST(memory_that_may_shrink_is_read_without_mapping)
{
    int fd = memory_new(SIZE, UNSEALED);
    MeshPeerInfo info;
    uint8_t buf[16];
    Host *a, *b;

    hosts_pair(&a, &b);
    add(a, 0, SIZE, fd, 0);
    hosts_settle();
    CHECK(erdma_mesh_peer_info(b->m, 0, &info));
    CHECK_EQ(info.regions, 1);
    CHECK_EQ(info.mapped, 0);
    CHECK(pull_ok(b->wires->peer, 1, 0, SIZE, 0));
    check_bounds(b->wires->peer, 1, SIZE);
    CHECK(!ftruncate(fd, 4096));            /* no SIGBUS */
    CHECK(erdma_mesh_pull(b->wires->peer, 1, 0, buf, 16));
    CHECK(!erdma_mesh_pull(b->wires->peer, 1, SIZE - 16, buf, 16));
    CHECK(!erdma_mesh_pull(b->wires->peer, 1, 4088, buf, 16));
    close(fd);
    host_free(a);
    host_free(b);
}

/* A file of any size costs a peer nothing, but us addresses if we map it */
MESH_TEST(mappings_are_bounded_and_what_is_beyond_is_read)
{
    const uint64_t len = MESH_MAX_REGION;
    const unsigned fit = MESH_MAX_MAPPED / MESH_MAX_REGION;
    MeshPeerInfo info;
    uint8_t buf[16];
    Host *a, *b;
    int fd;

    fd = memfd_create("large", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK(fd >= 0 && !ftruncate(fd, len) && !fcntl(fd, F_ADD_SEALS, SEALED));
    hosts_pair(&a, &b);
    for (unsigned i = 0; i < fit + 2; i++) {
        add(a, i * len, len, fd, 0);
    }
    close(fd);
    hosts_settle();
    CHECK(erdma_mesh_peer_info(b->m, 0, &info));
    CHECK_EQ(info.regions, fit + 2);
    CHECK_EQ(info.mapped, fit);
    for (unsigned i = 1; i <= fit + 2; i++) {
        CHECK(erdma_mesh_pull(b->wires->peer, i, len - 16, buf, 16));
    }
    erdma_mesh_region_del(a->m, host_at(0));    /* there is room again */
    fd = memory_new(SIZE, SEALED);
    add(a, 0, SIZE, fd, 0);
    close(fd);
    hosts_settle();
    CHECK(erdma_mesh_peer_info(b->m, 0, &info));
    CHECK_EQ(info.regions, fit + 2);
    CHECK_EQ(info.mapped, fit);
    host_free(a);
    hosts_settle();
    CHECK_EQ(b->m->held.mapped, 0);
    CHECK_EQ(b->m->held.fds, 0);
    host_free(b);
}

MESH_TEST(an_ordinary_file_is_read_without_mapping)
{
    char path[300];
    Host *a, *b;
    int fd;

    hosts_pair(&a, &b);
    snprintf(path, sizeof(path), "%s/ram", mesh_dir_path);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    for (unsigned i = 0; i < 8192; i++) {
        uint8_t c = memory_byte(i);

        CHECK(write(fd, &c, 1) == 1);
    }
    add(a, 0, 8192, fd, 0);
    hosts_settle();
    CHECK(pull_ok(b->wires->peer, 1, 100, 8000, 100));
    CHECK(!ftruncate(fd, 0));
    CHECK(!pull_ok(b->wires->peer, 1, 100, 8000, 100));
    close(fd);
    host_free(a);
    host_free(b);
}

MESH_TEST(a_region_may_begin_anywhere_in_its_file)
{
    static const uint64_t offsets[] = { 0, 1, 4095, 4096, 70000 };

    for (unsigned sealed = 0; sealed < 2; sealed++) {
        int fd = memory_new(SIZE, sealed ? SEALED : UNSEALED);
        Host *a, *b;

        hosts_pair(&a, &b);
        for (unsigned i = 0; i < 5; i++) {
            add(a, i * SIZE, 50000, fd, offsets[i]);
        }
        hosts_settle();
        for (unsigned i = 0; i < 5; i++) {
            CHECK(pull_ok(b->wires->peer, i + 1, 0, 50000, offsets[i]));
            check_bounds(b->wires->peer, 5, 50000);
        }
        close(fd);
        host_free(a);
        host_free(b);
    }
}

MESH_TEST(regions_come_before_the_wire_and_follow_changes)
{
    int fd = memory_new(SIZE, SEALED);
    Host *a = host_new(), *b;
    MeshPeer *p;

    add(a, 0, SIZE, fd, 0);
    b = host_new();
    add(b, 0, SIZE / 2, fd, 0);
    hosts_settle();
    p = host_wire(b, a)->peer;
    CHECK_EQ(p->nregions, 1);
    CHECK(pull_ok(p, 1, 0, SIZE, 0));
    CHECK(pull_ok(host_wire(a, b)->peer, 1, 0, SIZE / 2, 0));
    add(a, SIZE, 4096, fd, 4096);
    hosts_settle();
    CHECK(pull_ok(p, 2, 0, 4096, 4096));
    erdma_mesh_region_del(a->m, host_at(0));
    erdma_mesh_flush_all(a->m);
    hosts_settle();
    CHECK(!pull_ok(p, 1, 0, 16, 0));
    CHECK(pull_ok(p, 2, 0, 4096, 4096));
    add(a, 0, 4096, fd, 0);                 /* a new number */
    hosts_settle();
    CHECK(!pull_ok(p, 1, 0, 16, 0));
    CHECK(pull_ok(p, 3, 0, 4096, 0));
    close(fd);
    host_free(a);
    host_free(b);
}

MESH_TEST(share_finds_a_place_and_cuts_at_its_end)
{
    int fd = memory_new(SIZE, SEALED);
    uint64_t len, offset;
    Host *a = host_new();
    uint32_t region;

    add(a, 0x10000, 0x8000, fd, 0);
    add(a, 0x18000, 0x1000, fd, 0x4000);
    for (unsigned round = 0; round < 2; round++) {
        len = 100;
        CHECK(erdma_mesh_share(a->m, host_at(0x10000), &len, &region,
                               &offset));
        CHECK(len == 100 && region == 1 && offset == 0);
        len = 100;
        CHECK(erdma_mesh_share(a->m, host_at(0x17ff0), &len, &region,
                               &offset));
        CHECK(len == 16 && region == 1 && offset == 0x7ff0);
        len = UINT64_MAX;
        CHECK(erdma_mesh_share(a->m, host_at(0x18001), &len, &region,
                               &offset));
        CHECK(len == 0xfff && region == 2 && offset == 1);
        len = 1;
        CHECK(!erdma_mesh_share(a->m, host_at(0x19000), &len, &region,
                                &offset));
        CHECK(!erdma_mesh_share(a->m, host_at(0xffff), &len, &region,
                                &offset));
        CHECK(!erdma_mesh_share(a->m, NULL, &len, &region, &offset));
    }
    erdma_mesh_region_del(a->m, host_at(0x10000));
    erdma_mesh_region_del(a->m, host_at(0x12345));
    len = 1;
    CHECK(!erdma_mesh_share(a->m, host_at(0x10000), &len, &region, &offset));
    CHECK(erdma_mesh_share(a->m, host_at(0x18000), &len, &region, &offset));
    close(fd);
    host_free(a);
}

MESH_TEST(own_memory_that_cannot_be_shared_stays_private)
{
    int fd = memory_new(SIZE, 0), pipefd[2], null;
    const char *why;
    Host *a = host_new();

    CHECK(!pipe2(pipefd, O_CLOEXEC));
    null = open("/dev/zero", O_RDWR | O_CLOEXEC);
    CHECK(!erdma_mesh_region_add(a->m, host_at(0), SIZE, pipefd[0], 0, &why));
    CHECK(!erdma_mesh_region_add(a->m, host_at(0), SIZE, null, 0, &why));
    CHECK(!erdma_mesh_region_add(a->m, host_at(0), SIZE, -1, 0, &why));
    CHECK(!erdma_mesh_region_add(a->m, host_at(0), SIZE + 1, fd, 0, &why));
    CHECK(!erdma_mesh_region_add(a->m, host_at(0), SIZE, fd, 1, &why));
    CHECK(!erdma_mesh_region_add(a->m, host_at(0), 0, fd, 0, &why));
    for (unsigned i = 0; i < MESH_MAX_REGIONS; i++) {
        add(a, i * SIZE, SIZE, fd, 0);
    }
    CHECK(!erdma_mesh_region_add(a->m, host_at(0), SIZE, fd, 0, &why));
    CHECK(strstr(why, "expected at most"));
    close(fd);
    close(null);
    close(pipefd[0]);
    close(pipefd[1]);
    host_free(a);
}

/* All that may be announced arrives, descriptors and all */
MESH_TEST(the_full_number_of_regions_passes)
{
    int fd = memory_new(SIZE, SEALED);
    Host *a = host_new(), *b;

    for (unsigned i = 0; i < MESH_MAX_REGIONS; i++) {
        add(a, i * SIZE, SIZE - i, fd, i);
    }
    b = host_new();
    hosts_settle();
    CHECK_EQ(b->wires->peer->nregions, MESH_MAX_REGIONS);
    for (unsigned i = 0; i < MESH_MAX_REGIONS; i++) {
        CHECK(pull_ok(b->wires->peer, i + 1, 0, 512, i));
    }
    close(fd);
    host_free(a);
    host_free(b);
}

/* ---- what a peer gets ---- */

static int receive_fd(int sock)
{
    char control[CMSG_SPACE(8 * sizeof(int))], byte[4096];
    struct iovec iov = { .iov_base = byte, .iov_len = sizeof(byte) };
    int fd = -1;

    for (unsigned i = 0; i < 100 && fd < 0; i++) {
        struct msghdr msg = {
            .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
            .msg_controllen = sizeof(control),
        };
        struct cmsghdr *c;

        hosts_round(5);
        if (recvmsg(sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0) {
            continue;
        }
        c = CMSG_FIRSTHDR(&msg);
        if (c && c->cmsg_type == SCM_RIGHTS) {
            memcpy(&fd, CMSG_DATA(c), sizeof(int));
        }
    }
    return fd;
}

MESH_TEST(a_peer_gets_memory_for_reading_only)
{
    int memory = memory_new(SIZE, UNSEALED), sock, fd;
    Host *a = host_new();

    add(a, 0, SIZE, memory, 0);
    sock = raw_open(a);
    fd = receive_fd(sock);
    CHECK(fd >= 0);
    CHECK_EQ(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
    CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) ==
          MAP_FAILED);
    CHECK(write(fd, "x", 1) < 0);
    CHECK(ftruncate(fd, 0) < 0);
    CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) < 0);
    close(fd);
    close(sock);
    close(memory);
    hosts_settle();
    host_free(a);
}

/* Everything a process can do to a file of which it has a descriptor */
static bool file_can_be_changed(int fd)
{
    char path[64];
    bool changed;
    int again;
    void *p;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    again = open(path, O_RDWR | O_CLOEXEC);
    if (again < 0) {
        return false;
    }
    p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, again, 0);
    changed = p != MAP_FAILED;
    changed |= pwrite(again, "changed", 7, 0) == 7;
    changed |= !fallocate(again, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                          4096);
    changed |= !ftruncate(again, SIZE * 2);
    changed |= !ftruncate(again, 4096);
    changed |= !fcntl(again, F_ADD_SEALS, F_SEAL_WRITE);
    if (p != MAP_FAILED) {
        munmap(p, 4096);
    }
    close(again);
    return changed;
}

/* ... which is open for reading only, but can be opened again for writing */
MESH_TEST(a_peer_cannot_change_memory_that_could_be_sealed)
{
    static const unsigned seals[] = { 0, F_SEAL_GROW, SEALED };

    for (unsigned i = 0; i < 3; i++) {
        int memory = memory_new(SIZE, seals[i]), sock, fd;
        uint8_t *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
                          memory, 0);
        Host *a = host_new();

        CHECK(p != MAP_FAILED);
        add(a, 0, SIZE, memory, 0);
        sock = raw_open(a);
        fd = receive_fd(sock);
        CHECK(fd >= 0);
        CHECK(!file_can_be_changed(fd));
        CHECK_EQ(a->troubles, 0);
        p[0] = 0x77;                        /* the owner still can */
        CHECK(pread(fd, p + 1, 1, 0) == 1 && p[1] == 0x77);
        munmap(p, SIZE);
        close(fd);
        close(sock);
        close(memory);
        hosts_settle();
        host_free(a);
    }
}

/* QEMU's own memory-backend-memfd is such: seal=on and seal=off alike */
MESH_TEST(memory_that_cannot_be_sealed_is_reported_once)
{
    int memory = memory_new(SIZE, SEALED | F_SEAL_SEAL);
    Host *a = host_new();

    CHECK(file_can_be_changed(memory));
    add(a, 0, SIZE, memory, 0);
    CHECK_EQ(a->troubles, 1);
    CHECK(strstr(a->last_trouble, "not sealed"));
    add(a, SIZE, SIZE, memory, 0);
    CHECK_EQ(a->troubles, 1);
    close(memory);
    host_free(a);
}

/* ---- a peer that announces memory wrongly ---- */

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

static void expect_bad_region(uint64_t len, uint64_t offset, int memory,
                              const char *words)
{
    Host *h = host_new();
    int fd = raw_open(h);

    raw_region(fd, 1, len, offset, memory);
    expect_closed(h, fd, words);
    host_free(h);
}

MESH_TEST(a_region_must_be_what_it_says)
{
    int fd = memory_new(SIZE, SEALED), pipefd[2], zero, dir, ro;
    char path[64];

    CHECK(!pipe2(pipefd, O_CLOEXEC));
    zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    dir = open("/tmp", O_RDONLY | O_CLOEXEC);
    expect_bad_region(SIZE + 1, 0, fd, "bytes of the file");
    expect_bad_region(SIZE, 1, fd, "bytes of the file");
    expect_bad_region(1, SIZE, fd, "bytes of the file");
    expect_bad_region(UINT64_MAX, 0, fd, "length 0x");
    expect_bad_region(1, UINT64_MAX, fd, "offset 0x");
    expect_bad_region(UINT64_MAX - 4095, 8192, fd, "length 0x");
    expect_bad_region(MESH_MAX_REGION, MESH_MAX_REGION, fd, "of the file");
    expect_bad_region(0, 0, fd, "length 0x");
    expect_bad_region(SIZE, 0, pipefd[0], "expected a regular file");
    expect_bad_region(SIZE, 0, zero, "expected a regular file");
    expect_bad_region(SIZE, 0, dir, "expected a regular file");
    snprintf(path, sizeof(path), "/proc/self/status");
    ro = open(path, O_RDONLY | O_CLOEXEC);
    expect_bad_region(1, 0, ro, "file system");
    close(ro);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    ro = open(path, O_WRONLY | O_CLOEXEC);
    expect_bad_region(SIZE, 0, ro, "can be read");
    close(ro);
    close(fd);
    close(zero);
    close(dir);
    close(pipefd[0]);
    close(pipefd[1]);
}

MESH_TEST(a_region_needs_a_descriptor)
{
    const MeshRegionFrame r = { .id = 1, .len = SIZE };
    Host *h = host_new();
    int fd = raw_open(h);

    raw_frame(fd, MESH_FRAME_REGION, &r, sizeof(r));
    expect_closed(h, fd, "without a descriptor");
    host_free(h);
}

MESH_TEST(a_region_number_is_used_once)
{
    int fd, memory = memory_new(SIZE, SEALED);
    Host *h = host_new();

    fd = raw_open(h);
    raw_region(fd, 7, SIZE, 0, memory);
    hosts_settle();
    CHECK_EQ(host_wires(h), 1);
    raw_region(fd, 7, SIZE, 0, memory);
    expect_closed(h, fd, "announced twice");
    close(memory);
    host_free(h);
}

MESH_TEST(regions_are_counted)
{
    int fd, memory = memory_new(SIZE, SEALED);
    Host *h = host_new();

    fd = raw_open(h);
    for (unsigned i = 0; i < MESH_MAX_REGIONS; i++) {
        raw_region(fd, i, SIZE, 0, memory);
        hosts_round(0);
    }
    hosts_settle();
    CHECK_EQ(host_wires(h), 1);
    raw_region(fd, MESH_MAX_REGIONS, SIZE, 0, memory);
    expect_closed(h, fd, "expected at most");
    close(memory);
    host_free(h);
}

MESH_TEST(a_region_that_never_was_cannot_go)
{
    const MeshGone g = { .id = 3 };
    Host *h = host_new();
    int fd = raw_open(h);

    raw_frame(fd, MESH_FRAME_GONE, &g, sizeof(g));
    expect_closed(h, fd, "never announced");
    host_free(h);
}

/* ---- floods of descriptors ---- */

MESH_TEST(descriptors_without_a_region_are_counted)
{
    static const MeshFrame data = { MESH_FRAME_DATA, 1u << 20 };
    int fd, memory = memory_new(4096, 0);
    Host *h = host_new();

    fd = raw_open(h);
    raw_send(fd, &data, sizeof(data));
    for (unsigned i = 0; i < MESH_FDS; i++) {
        raw_send_fds(fd, "x", 1, &memory, 1);
        hosts_round(0);
    }
    hosts_settle();
    CHECK_EQ(host_wires(h), 1);
    raw_send_fds(fd, "x", 1, &memory, 1);
    expect_closed(h, fd, "more descriptors");
    close(memory);
    host_free(h);
}

MESH_TEST(many_descriptors_at_once_close)
{
    static const unsigned counts[] = { 5, 64, 253 };
    int memory = memory_new(4096, 0), fds[253];

    for (unsigned i = 0; i < 253; i++) {
        fds[i] = memory;
    }
    for (unsigned i = 0; i < 3; i++) {
        Host *h = host_new();
        int fd = raw_open(h);

        raw_send_fds(fd, "x", 1, fds, counts[i]);
        expect_closed(h, fd, "more descriptors");
        host_free(h);
    }
    close(memory);
}

MESH_TEST(descriptors_may_come_with_the_name_in_one_read)
{
    MeshHello hello = { .magic = MESH_MAGIC, .version = MESH_VERSION,
                        .name = RAW_NAME };
    int memory = memory_new(SIZE, SEALED);
    Host *h = host_new();
    int fd = raw_connect(h);

    raw_frame(fd, MESH_FRAME_HELLO, &hello, sizeof(hello));
    raw_region(fd, 1, SIZE, 0, memory);
    hosts_settle();
    CHECK_EQ(host_wires(h), 1);
    CHECK(pull_ok(h->wires->peer, 1, 0, SIZE, 0));
    close(fd);
    close(memory);
    hosts_settle();
    host_free(h);
}

/* A bound per connection would be none: there may be 64 of them */
MESH_TEST(descriptors_are_counted_over_all_peers)
{
    static const MeshFrame data = { MESH_FRAME_DATA, 1u << 20 };
    enum { PEERS = MESH_MAX_FDS / MESH_FDS + 1 };
    int memory = memory_new(4096, 0), socks[PEERS];
    unsigned before = count_fds(), most = 0;
    char name[MESH_NAME_LEN];
    Host *h = host_new();

    for (unsigned i = 0; i < PEERS; i++) {
        socks[i] = raw_connect(h);
        snprintf(name, sizeof(name), "ffffffffffffffff-1-%08x", i);
        raw_hello(socks[i], name);
        hosts_settle();
        raw_send(socks[i], &data, sizeof(data));
        for (unsigned k = 0; k < MESH_FDS; k++) {
            raw_send_fds(socks[i], "x", 1, &memory, 1);
            hosts_round(0);
        }
        hosts_settle();
        most = h->m->held.fds > most ? h->m->held.fds : most;
    }
    CHECK_EQ(most, MESH_MAX_FDS);
    CHECK_EQ(host_wires(h), PEERS - 1);
    CHECK(strstr(h->last_trouble, "512 of all peers"));
    CHECK(count_fds() <= before + MESH_MAX_FDS + 2 * PEERS + 8);
    for (unsigned i = 0; i < PEERS; i++) {
        close(socks[i]);
    }
    close(memory);
    hosts_settle();
    CHECK_EQ(h->m->held.fds, 0);
    host_free(h);
}

/* What had come and was not used goes with the connection (checked by the end
 * of every case) */
MESH_TEST(unused_descriptors_are_closed_with_the_peer)
{
    static const MeshFrame data = { MESH_FRAME_DATA, 1u << 20 };
    int fd, memory = memory_new(4096, 0);
    Host *h = host_new();

    fd = raw_open(h);
    raw_send(fd, &data, sizeof(data));
    for (unsigned i = 0; i < 10; i++) {
        raw_send_fds(fd, "x", 1, &memory, 1);
    }
    hosts_settle();
    CHECK_EQ(h->wires->peer->in_nfds, 10);
    close(fd);
    close(memory);
    hosts_settle();
    host_free(h);
}
