/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that is shared with peers: our own, and theirs.
 *
 * A peer gets a descriptor opened anew for reading only. That alone stops no
 * peer: it can open the file again for writing through /proc/self/fd. So the
 * file is sealed where that is possible: then nobody, whatever descriptor it
 * has, can write it (but we through the mapping we have) or change its size.
 * Where it is not possible the user is warned, once.
 *
 * The other's memory is mapped only if nothing can make an access to it
 * fail: a memfd sealed against shrinking. Everything else is read with pread(),
 * which answers with an error where a mapping would kill us (SIGBUS): a file
 * that was cut off, huge pages that ran out, a disk error. So is what would
 * take too much of our address space: a file of any size costs a peer nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "mesh_int.h"

#ifndef F_ADD_SEALS
#define F_ADD_SEALS         1033
#define F_GET_SEALS         1034
#define F_SEAL_SEAL         0x0001
#define F_SEAL_SHRINK       0x0002
#define F_SEAL_GROW         0x0004
#endif
#ifndef F_SEAL_FUTURE_WRITE             /* Linux 5.1 */
#define F_SEAL_FUTURE_WRITE 0x0010
#endif
#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC     0x58465342
#endif

/*
 * File systems of this machine whose read() cannot wait for a process (FUSE)
 * or another machine (NFS)
 */
static bool region_fs_is_local(int fd, uint32_t *type)
{
    struct statfs fs;

    *type = 0;
    if (fstatfs(fd, &fs)) {
        return false;
    }
    *type = fs.f_type;
    switch (*type) {
    case TMPFS_MAGIC:
    case RAMFS_MAGIC:
    case HUGETLBFS_MAGIC:
    case EXT4_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
        return true;
    default:
        return false;
    }
}

static bool __attribute__((format(printf, 2, 3)))
region_wrong(char why[MESH_WHY_LEN], const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(why, MESH_WHY_LEN, fmt, ap);
    va_end(ap);
    return false;
}

bool mesh_region_check(int fd, uint64_t len, uint64_t fd_offset,
                       char why[MESH_WHY_LEN])
{
    struct stat st = { 0 };
    uint32_t fs;

    if (!len || len > MESH_MAX_REGION) {
        return region_wrong(why, "length 0x%" PRIx64 ", expected 1 to 0x%llx",
                            len, MESH_MAX_REGION);
    }
    if (fd_offset > MESH_MAX_REGION) {
        return region_wrong(why, "offset 0x%" PRIx64 ", expected at most "
                            "0x%llx", fd_offset, MESH_MAX_REGION);
    }
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        return region_wrong(why, "file type 0%o, expected a regular file, 0%o",
                            st.st_mode & S_IFMT, S_IFREG);
    }
    if (!region_fs_is_local(fd, &fs)) {
        return region_wrong(why, "file system 0x%x, expected tmpfs, ramfs, "
                            "hugetlbfs, ext4, xfs or btrfs", fs);
    }
    if (st.st_size < 0 || (uint64_t)st.st_size < fd_offset ||
        (uint64_t)st.st_size - fd_offset < len) {
        return region_wrong(why, "offset 0x%" PRIx64 ", length 0x%" PRIx64
                            ", expected at most 0x%" PRIx64 " bytes of the "
                            "file", fd_offset, len, (uint64_t)st.st_size);
    }
    return true;
}

/* Can no access to a mapping of it ever fail? */
static bool region_can_map(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);
    struct statfs fs;

    return seals != -1 && (seals & F_SEAL_SHRINK) && !fstatfs(fd, &fs) &&
           (uint32_t)fs.f_type == TMPFS_MAGIC;
}

static void region_map(MeshPeerRegion *r, MeshHeld *held)
{
    uint64_t len = r->len + r->map_skip;
    void *p;

    if (len > MESH_MAX_MAPPED - held->mapped) {
        return;
    }
    p = mmap(NULL, len, PROT_READ, MAP_SHARED | MAP_NORESERVE, r->fd,
             (off_t)(r->fd_offset - r->map_skip));
    if (p == MAP_FAILED) {
        return;
    }
    (void)madvise(p, len, MADV_DONTDUMP);
    (void)madvise(p, len, MADV_DONTFORK);
    close(r->fd);
    held->fds--;
    r->fd = -1;
    r->map = p;
    r->map_len = len;
    held->mapped += len;
}

bool mesh_region_map(MeshPeerRegion *r, const MeshRegionFrame *f, int fd,
                     MeshHeld *held, char why[MESH_WHY_LEN])
{
    int mode = fcntl(fd, F_GETFL);
    /*
     * First the seal, then the size: a file that was sealed in between cannot
     * have become shorter after we looked.
     */
    bool map = region_can_map(fd);
    bool good = mesh_region_check(fd, f->len, f->fd_offset, why);
    uint64_t page = sysconf(_SC_PAGESIZE);

    if (good && (mode == -1 || (mode & O_ACCMODE) == O_WRONLY)) {
        good = region_wrong(why, "descriptor open for writing only, expected "
                            "one that can be read");
    }
    if (!good) {
        close(fd);
        held->fds--;
        return false;
    }
    *r = (MeshPeerRegion) {
        .id = f->id, .fd = fd, .len = f->len, .fd_offset = f->fd_offset,
        .map_skip = f->fd_offset % page,
    };
    if (map) {
        region_map(r, held);
    }
    return true;
}

void mesh_region_unmap(MeshPeerRegion *r, MeshHeld *held)
{
    if (r->map) {
        munmap(r->map, r->map_len);
        held->mapped -= r->map_len;
    }
    if (r->fd >= 0) {
        close(r->fd);
        held->fds--;
    }
    r->map = NULL;
    r->fd = -1;
}

bool mesh_region_pull(const MeshPeerRegion *r, uint64_t offset, void *dst,
                      size_t len)
{
    uint8_t *p = dst;

    if (offset > r->len || len > r->len - offset) {
        return false;
    }
    if (r->map) {
        memcpy(dst, (const uint8_t *)r->map + r->map_skip + offset, len);
        return true;
    }
    offset += r->fd_offset;
    while (len) {
        ssize_t n = pread(r->fd, p, len, (off_t)offset);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;           /* cut off meanwhile */
        }
        p += n;
        offset += n;
        len -= n;
    }
    return true;
}

/* ---- our own ---- */

/*
 * Can nobody write the file or change its size by a descriptor? Seals are added
 * if its creator allowed that; mappings that exist are not concerned.
 */
static bool region_seal(int fd)
{
    const int fixed = F_SEAL_SHRINK | F_SEAL_GROW;
    const int all = fixed | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
    int seals = fcntl(fd, F_GET_SEALS);

    if (seals != -1 && !(seals & F_SEAL_SEAL)) {
        if (fcntl(fd, F_ADD_SEALS, all)) {
            (void)fcntl(fd, F_ADD_SEALS, fixed);    /* an older kernel */
        }
        seals = fcntl(fd, F_GET_SEALS);
    }
    return seals >= 0 && (seals & all) == all;
}

static void region_warn_unsealed(ErdmaMesh *m)
{
    if (!m->warned_unsealed) {
        m->warned_unsealed = true;
        mesh_log(m, true, "the memory that is shared is not sealed: a process "
                 "of the fabric can write it or cut it off; docs/qemu-model.md "
                 "says how to have it sealed");
    }
}

/* Read-only, whatever @fd is */
static int region_reopen(int fd)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

static void region_to_all(ErdmaMesh *m, const MeshOwnRegion *r, bool gone)
{
    const MeshGone g = { .id = r->id };

    for (MeshPeer *p = m->peers; p; p = p->next) {
        bool good = true;

        if (p->state != MESH_OPEN) {
            continue;
        }
        if (gone) {
            good = mesh_out_frame(&p->out, MESH_FRAME_GONE, &g, sizeof(g), -1);
        } else {
            good = mesh_peer_announce(p, r);
        }
        if (!good) {
            mesh_peer_fail(p, "too much output is waiting, more than %u bytes",
                           MESH_MAX_WAITING);
        } else {
            mesh_peer_flush(p);
        }
    }
}

bool erdma_mesh_region_add(ErdmaMesh *m, const void *host, uint64_t len,
                           int fd, uint64_t fd_offset, const char **why)
{
    MeshOwnRegion *r = &m->regions[m->nregions];
    bool sealed;

    *why = m->why;
    if (m->nregions == MESH_MAX_REGIONS) {
        return region_wrong(m->why, "region %u, expected at most %u",
                            m->nregions + 1, MESH_MAX_REGIONS);
    }
    if (!mesh_region_check(fd, len, fd_offset, m->why)) {
        return false;
    }
    sealed = region_seal(fd);
    fd = region_reopen(fd);
    if (fd < 0) {
        *why = strerror(errno);
        return false;
    }
    if (!sealed) {
        region_warn_unsealed(m);
    }
    *r = (MeshOwnRegion) {
        .id = m->next_region++, .fd = fd, .start = (uintptr_t)host,
        .len = len, .fd_offset = fd_offset,
    };
    m->nregions++;
    *why = NULL;
    region_to_all(m, r, false);
    return true;
}

void erdma_mesh_region_del(ErdmaMesh *m, const void *host)
{
    for (unsigned i = 0; i < m->nregions; i++) {
        MeshOwnRegion *r = &m->regions[i];

        if (r->start == (uintptr_t)host) {
            region_to_all(m, r, true);
            close(r->fd);
            *r = m->regions[--m->nregions];
            m->last_region = 0;
            return;
        }
    }
}

bool erdma_mesh_share(ErdmaMesh *m, const void *host, uint64_t *len,
                      uint32_t *region, uint64_t *offset)
{
    uintptr_t at = (uintptr_t)host;

    for (unsigned n = 0, i = m->last_region; n < m->nregions; n++) {
        const MeshOwnRegion *r = &m->regions[i];

        if (at >= r->start && at - r->start < r->len) {
            uint64_t left = r->len - (at - r->start);

            m->last_region = i;
            *region = r->id;
            *offset = at - r->start;
            *len = *len < left ? *len : left;
            return true;
        }
        i = i + 1 < m->nregions ? i + 1 : 0;
    }
    return false;
}
