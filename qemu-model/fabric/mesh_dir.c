/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names in the directory. All of it goes through a descriptor of the directory:
 * a path of any length works, and the directory cannot be replaced under us.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "mesh_int.h"

#define TEMP_PREFIX ".new-"

/* "0123456789abcdef-PID-01234567": time of start, process, random */
bool mesh_name_valid(const char *name)
{
    static const char hex[] = "0123456789abcdef";
    size_t n = strspn(name, hex), pid;

    if (n != 16 || name[16] != '-') {
        return false;
    }
    pid = strspn(name + 17, "0123456789");
    if (pid < 1 || pid > 10 || name[17 + pid] != '-') {
        return false;
    }
    name += 18 + pid;
    return strspn(name, hex) == 8 && !name[8];
}

static void dir_make_name(char *name)
{
    struct timespec ts;
    uint32_t noise;

    clock_gettime(CLOCK_REALTIME, &ts);
    if (getrandom(&noise, sizeof(noise), GRND_NONBLOCK) != sizeof(noise)) {
        noise = (uint32_t)ts.tv_nsec;
    }
    snprintf(name, MESH_NAME_LEN, "%016llx-%d-%08x",
             (unsigned long long)ts.tv_sec * 1000000000ull + ts.tv_nsec,
             (int)getpid(), noise);
}

static struct sockaddr_un dir_address(const ErdmaMesh *m, const char *prefix,
                                      const char *name)
{
    struct sockaddr_un sun = { .sun_family = AF_UNIX };

    snprintf(sun.sun_path, sizeof(sun.sun_path), "/proc/self/fd/%d/%s%s",
             m->dir, prefix, name);
    return sun;
}

bool mesh_dir_open(ErdmaMesh *m, const char *path, char *error, size_t len)
{
    struct stat st;

    if (mkdir(path, 0700) && errno != EEXIST) {
        snprintf(error, len, "cannot make directory '%s': %s", path,
                 strerror(errno));
        return false;
    }
    m->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (m->dir < 0 || fstat(m->dir, &st)) {
        snprintf(error, len, "cannot open directory '%s': %s", path,
                 strerror(errno));
        return false;
    }
    if (st.st_uid != geteuid()) {
        snprintf(error, len, "directory '%s' belongs to user %u, not to us "
                 "(%u)", path, (unsigned)st.st_uid, (unsigned)geteuid());
        return false;
    }
    if (st.st_mode & 022) {
        snprintf(error, len, "directory '%s' has mode %03o: others could "
                 "put their sockets there; chmod 700 it", path,
                 (unsigned)st.st_mode & 0777);
        return false;
    }
    m->dev = st.st_dev;
    m->ino = st.st_ino;
    return true;
}

bool erdma_mesh_is(const ErdmaMesh *m, const char *path)
{
    struct stat st;

    return !stat(path, &st) && st.st_dev == m->dev && st.st_ino == m->ino;
}

/* The name appears when the socket listens; see mesh.h */
static bool dir_publish(ErdmaMesh *m)
{
    struct sockaddr_un sun = dir_address(m, TEMP_PREFIX, m->name);
    char temp[sizeof(TEMP_PREFIX) + MESH_NAME_LEN];
    int err;

    snprintf(temp, sizeof(temp), TEMP_PREFIX "%s", m->name);
    m->listen.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                          0);
    if (m->listen.fd < 0 ||
        bind(m->listen.fd, (struct sockaddr *)&sun, sizeof(sun))) {
        return false;
    }
    if (!fchmodat(m->dir, temp, 0600, 0) &&
        !listen(m->listen.fd, MESH_MAX_PEERS) &&
        !renameat(m->dir, temp, m->dir, m->name)) {
        m->published = true;
        return true;
    }
    err = errno;
    unlinkat(m->dir, temp, 0);
    errno = err;
    return false;
}

bool mesh_dir_publish(ErdmaMesh *m, char *error, size_t len)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", m->dir);
    m->notify.fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (m->notify.fd < 0 ||
        inotify_add_watch(m->notify.fd, path, IN_MOVED_TO | IN_ONLYDIR) < 0) {
        snprintf(error, len, "cannot watch the directory (inotify): %s",
                 strerror(errno));
        return false;
    }
    dir_make_name(m->name);
    if (!dir_publish(m)) {
        snprintf(error, len, "cannot make a socket in the directory: %s",
                 strerror(errno));
        return false;
    }
    return true;
}

void erdma_mesh_unlink(ErdmaMesh *m)
{
    if (m->published) {
        m->published = false;
        unlinkat(m->dir, m->name, 0);
    }
}

static int dir_connect_to(ErdmaMesh *m, const char *prefix, const char *name)
{
    struct sockaddr_un sun = dir_address(m, prefix, name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int err;

    if (fd >= 0 && connect(fd, (struct sockaddr *)&sun, sizeof(sun))) {
        err = errno;
        close(fd);
        errno = err;
        fd = -1;
    }
    return fd;
}

int mesh_dir_connect(ErdmaMesh *m, const char *name)
{
    return dir_connect_to(m, "", name);
}

/* Nobody will ever listen under this name again */
void mesh_dir_remove(ErdmaMesh *m, const char *name)
{
    struct stat st;

    if (!fstatat(m->dir, name, &st, AT_SYMLINK_NOFOLLOW) &&
        S_ISSOCK(st.st_mode) && !unlinkat(m->dir, name, 0)) {
        m->info.stale_removed++;
        mesh_log(m, false, "removed %s: its process is gone", name);
    }
}

/*
 * A start that did not come to its end. Younger ones may still be under way:
 * bound, but not listening yet.
 */
static void dir_check_temp(ErdmaMesh *m, const char *temp)
{
    const char *name = temp + strlen(TEMP_PREFIX);
    struct timespec now;
    struct stat st;
    int fd;

    clock_gettime(CLOCK_REALTIME, &now);
    if (!mesh_name_valid(name) ||
        fstatat(m->dir, temp, &st, AT_SYMLINK_NOFOLLOW) ||
        !S_ISSOCK(st.st_mode) ||
        now.tv_sec - st.st_mtim.tv_sec < MESH_TEMP_AGE_S) {
        return;
    }
    fd = dir_connect_to(m, TEMP_PREFIX, name);
    if (fd >= 0) {
        close(fd);
    } else if (errno == ECONNREFUSED) {
        mesh_dir_remove(m, temp);
    }
}

void mesh_dir_scan(ErdmaMesh *m)
{
    int fd = openat(m->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *e;

    if (!d) {
        mesh_log(m, true, "cannot read the directory: %s", strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return;
    }
    for (unsigned n = 0; n < MESH_MAX_NAMES && (e = readdir(d)); n++) {
        if (!strncmp(e->d_name, TEMP_PREFIX, strlen(TEMP_PREFIX))) {
            dir_check_temp(m, e->d_name);
        } else {
            mesh_peer_found(m, e->d_name);
        }
    }
    closedir(d);
}

/* Somebody appeared: a name is moved to its place when its socket listens */
void mesh_dir_event(MeshWatch *w, bool readable, bool writable)
{
    union {
        char bytes[4096];
        struct inotify_event align;
    } buf;
    bool rescan = false;
    ssize_t n;

    (void)readable;
    (void)writable;
    n = read(w->fd, buf.bytes, sizeof(buf.bytes));
    for (ssize_t at = 0; at + (ssize_t)sizeof(struct inotify_event) <= n;) {
        const struct inotify_event *e = (const void *)(buf.bytes + at);

        if (e->mask & IN_Q_OVERFLOW) {
            rescan = true;
        } else if (e->len && memchr(e->name, 0, e->len)) {
            mesh_peer_found(w->mesh, e->name);
        }
        at += sizeof(*e) + e->len;
    }
    if (rescan) {
        mesh_dir_scan(w->mesh);
    }
}
