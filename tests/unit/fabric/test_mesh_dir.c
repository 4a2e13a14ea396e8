/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directory: who may be in it, who is found, what the dead leave behind. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "meshhost.h"

static void expect_refusal(const char *path, const char *words)
{
    char error[256] = "";
    Host *h = host_try(path, error, sizeof(error));

    if (h || !strstr(error, words)) {
        tap_fail(__FILE__, __LINE__, "'%s', not '%s'",
                 h ? "accepted" : error, words);
    }
}

static bool in_dir(const char *name)
{
    char path[400];

    snprintf(path, sizeof(path), "%s/%s", mesh_dir_path, name);
    return !access(path, F_OK);
}

/* A child that joins and ends without leaving; its name is returned */
static void leave_a_dead_one(char *name)
{
    int pipefd[2];
    pid_t pid;

    CHECK(!pipe(pipefd));
    pid = fork();
    if (!pid) {
        Host *h;

        mesh_case_begin_child();
        h = host_new();
        if (write(pipefd[1], h->m->name, MESH_NAME_LEN) < 0) {
            _exit(1);
        }
        _exit(0);
    }
    close(pipefd[1]);
    CHECK(read(pipefd[0], name, MESH_NAME_LEN) == MESH_NAME_LEN);
    close(pipefd[0]);
    CHECK(waitpid(pid, NULL, 0) == pid);
    CHECK(in_dir(name));
}

static int listen_at(const char *name, bool do_listen)
{
    struct sockaddr_un sun = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/%s", mesh_dir_path,
                   name) < (int)sizeof(sun.sun_path));
    CHECK(!bind(fd, (struct sockaddr *)&sun, sizeof(sun)));
    CHECK(!do_listen || !listen(fd, 1));
    return fd;
}

MESH_TEST(dir_is_made_private)
{
    struct stat st;
    Host *h = host_new();

    CHECK(!stat(mesh_dir_path, &st));
    CHECK_EQ(st.st_mode & 0777, 0700);
    CHECK(in_dir(h->m->name));
    CHECK(mesh_name_valid(h->m->name));
    host_free(h);
}

MESH_TEST(dir_that_others_can_write_is_refused)
{
    CHECK(!mkdir(mesh_dir_path, 0700));
    CHECK(!chmod(mesh_dir_path, 0702));
    expect_refusal(mesh_dir_path, "702");
    CHECK(!chmod(mesh_dir_path, 0720));
    expect_refusal(mesh_dir_path, "720");
    CHECK(!chmod(mesh_dir_path, 01777));
    expect_refusal(mesh_dir_path, "777");
    CHECK(!chmod(mesh_dir_path, 0755));
    host_free(host_new());
}

MESH_TEST(dir_of_another_user_is_refused)
{
    if (geteuid()) {
        printf("# only root can make one\n");
        return;
    }
    CHECK(!mkdir(mesh_dir_path, 0700));
    CHECK(!chown(mesh_dir_path, 65534, 65534));
    expect_refusal(mesh_dir_path, "belongs to user 65534");
}

MESH_TEST(dir_that_cannot_be_is_refused)
{
    char path[300];

    snprintf(path, sizeof(path), "%s/a/b", mesh_dir_path);
    expect_refusal(path, "cannot make directory");
    close(open(mesh_dir_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    expect_refusal(mesh_dir_path, "cannot open directory");
}

MESH_TEST(dir_path_may_be_long)
{
    char path[256];
    size_t n = strlen(mesh_dir_path);
    Host *a, *b;

    CHECK(!mkdir(mesh_dir_path, 0700));
    memset(path, 'x', sizeof(path));
    memcpy(path, mesh_dir_path, n);
    path[n] = '/';
    path[n + 180] = 0;
    CHECK(!mkdir(path, 0700));
    strcpy(mesh_dir_path, path);
    hosts_pair(&a, &b);
    host_free(a);
    host_free(b);
}

MESH_TEST(dir_is_known_by_what_it_is)
{
    char path[300];
    Host *h = host_new();

    snprintf(path, sizeof(path), "%s/../%s/.", mesh_dir_path,
             strrchr(mesh_dir_path, '/') + 1);
    CHECK(erdma_mesh_is(h->m, path));
    CHECK(!erdma_mesh_is(h->m, "/tmp"));
    CHECK(!erdma_mesh_is(h->m, "/nowhere"));
    host_free(h);
}

MESH_TEST(names_are_checked)
{
    static const char *const bad[] = {
        "", "x", ".", "..", "0123456789abcdef-1-0123456",
        "0123456789abcdef-1-012345678", "0123456789abcdef--01234567",
        "0123456789abcdeF-1-01234567", "0123456789abcdef-12345678901-01234567",
        "0123456789abcdef-1-0123456g", "0123456789abcdef-1x01234567",
        "0123456789abcde-1-01234567", "0123456789abcdef-1-01234567/x",
    };

    CHECK(mesh_name_valid("0123456789abcdef-1-01234567"));
    CHECK(mesh_name_valid("0123456789abcdef-1234567890-01234567"));
    for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        if (mesh_name_valid(bad[i])) {
            tap_fail(__FILE__, __LINE__, "'%s' is a name", bad[i]);
        }
    }
}

MESH_TEST(two_find_each_other_and_connect_once)
{
    Host *a, *b;

    hosts_pair(&a, &b);
    CHECK_EQ(a->m->info.connects + b->m->info.connects, 1);
    CHECK_EQ(a->m->info.accepts + b->m->info.accepts, 1);
    CHECK_EQ(b->m->info.connects, 1);       /* the younger */
    CHECK(host_wire(a, b) && host_wire(b, a));
    host_free(b);
    hosts_settle();
    CHECK_EQ(host_wires(a), 0);
    host_free(a);
}

/* The older name appears later: only inotify shows it to the other */
MESH_TEST(an_older_name_that_appears_later_is_found)
{
    Host *a = host_new(), *b;
    char from[400], to[400];
    int fd;

    (void)a;
    fd = listen_at("hidden", true);
    snprintf(from, sizeof(from), "%s/hidden", mesh_dir_path);
    snprintf(to, sizeof(to), "%s/0000000000000001-1-00000000", mesh_dir_path);
    hosts_settle();
    CHECK_EQ(a->m->npeers, 0);
    CHECK(!rename(from, to));
    hosts_settle();
    CHECK_EQ(a->m->npeers, 1);
    CHECK_EQ(a->m->info.connects, 1);
    b = host_new();
    hosts_settle();
    CHECK_EQ(b->m->npeers, 2);
    CHECK_EQ(host_wires(b), 1);
    close(fd);
    host_free(a);
    host_free(b);
}

/* The queue of events had no room for all that came and went */
MESH_TEST(none_is_missed_when_events_were_lost)
{
    static const char name[] = "0000000000000001-1-00000000";
    Host *h = host_new();
    unsigned long most = 0;
    FILE *f = fopen("/proc/sys/fs/inotify/max_queued_events", "r");
    char one[400], other[400];
    int fd;

    CHECK(f && fscanf(f, "%lu", &most) == 1 && most < 1000000);
    fclose(f);
    snprintf(one, sizeof(one), "%s/one", mesh_dir_path);
    snprintf(other, sizeof(other), "%s/other", mesh_dir_path);
    close(open(one, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    for (unsigned long i = 0; i <= most; i += 2) {
        CHECK(!rename(one, other) && !rename(other, one));
    }
    fd = listen_at(name, true);         /* not moved here: no event */
    hosts_settle();
    CHECK(mesh_peer_by_name(h->m, name));
    close(fd);
    host_free(h);
}

MESH_TEST(the_dead_are_removed_and_the_living_are_not)
{
    char dead[3][MESH_NAME_LEN];
    Host *a = host_new(), *b;

    for (unsigned i = 0; i < 3; i++) {
        leave_a_dead_one(dead[i]);
    }
    b = host_new();
    hosts_settle();
    for (unsigned i = 0; i < 3; i++) {
        CHECK(!in_dir(dead[i]));
    }
    CHECK(in_dir(a->m->name));
    CHECK(b->m->info.stale_removed >= 1);   /* each removed those before it */
    CHECK_EQ(b->m->npeers, 1);
    CHECK_EQ(host_wires(b), 1);
    host_free(a);
    CHECK(in_dir(b->m->name));
    host_free(b);
}

/* Its queue of connections is full: it is asked again, at growing intervals */
MESH_TEST(one_that_takes_no_connection_is_not_forgotten)
{
    static const char name[] = "0000000000000001-1-00000000";
    struct sockaddr_un sun = { .sun_family = AF_UNIX };
    int fd, waiting[2];
    Host *h;

    CHECK(!mkdir(mesh_dir_path, 0700));
    fd = listen_at(name, true);
    snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/%s", mesh_dir_path, name);
    for (unsigned i = 0; i < 2; i++) {
        waiting[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        CHECK(!connect(waiting[i], (struct sockaddr *)&sun, sizeof(sun)));
    }
    h = host_new();
    hosts_settle();
    host_forward(h, MESH_RETRY_MIN_MS + 1);
    hosts_settle();
    CHECK_EQ(h->m->info.connects, 0);
    CHECK(in_dir(name) && mesh_peer_by_name(h->m, name));
    for (unsigned i = 0; i < 2; i++) {
        close(accept(fd, NULL, NULL));
        close(waiting[i]);
    }
    host_forward(h, MESH_RETRY_MIN_MS + 1);
    hosts_settle();
    CHECK_EQ(h->m->info.connects, 0);
    host_forward(h, MESH_RETRY_MIN_MS + 1);
    hosts_settle();
    CHECK_EQ(h->m->info.connects, 1);
    host_free(h);
    close(fd);
}

MESH_TEST(what_is_no_socket_stays)
{
    static const char name[] = "0000000000000001-1-00000000";
    char path[400];
    Host *h;

    CHECK(!mkdir(mesh_dir_path, 0700));
    snprintf(path, sizeof(path), "%s/%s", mesh_dir_path, name);
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    snprintf(path, sizeof(path), "%s/readme", mesh_dir_path);
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    h = host_new();
    hosts_settle();
    CHECK(in_dir(name) && in_dir("readme"));
    CHECK_EQ(h->m->npeers, 0);
    host_free(h);
}

/* A start under way is not taken for one that failed */
MESH_TEST(a_starting_process_is_left_alone)
{
    static const char *const temp[] = {
        ".new-0000000000000001-1-00000000", ".new-0000000000000002-1-00000000",
        ".new-0000000000000003-1-00000000",
    };
    const struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
    char path[400];
    int fds[3];

    CHECK(!mkdir(mesh_dir_path, 0700));
    for (unsigned i = 0; i < 3; i++) {
        fds[i] = listen_at(temp[i], i == 2);
        if (i) {
            snprintf(path, sizeof(path), "%s/%s", mesh_dir_path, temp[i]);
            CHECK(!utimensat(AT_FDCWD, path, old, 0));
        }
    }
    host_free(host_new());
    CHECK(in_dir(temp[0]));         /* not listening yet, but young */
    CHECK(!in_dir(temp[1]));        /* nobody will ever listen there */
    CHECK(in_dir(temp[2]));         /* alive */
    for (unsigned i = 0; i < 3; i++) {
        close(fds[i]);
    }
}

/* The 65th is not forgotten: when one of the 64 ends it is looked for again */
MESH_TEST(one_that_was_left_out_is_found_when_there_is_room)
{
    enum { ALL = MESH_MAX_PEERS + 1 };
    char name[MESH_NAME_LEN];
    int fds[ALL], out = -1, gone;
    Host *h;

    CHECK(!mkdir(mesh_dir_path, 0700));
    for (int i = 0; i < ALL; i++) {
        snprintf(name, sizeof(name), "0000000000000001-1-%08x", i);
        fds[i] = listen_at(name, true);
    }
    h = host_new();
    hosts_settle();
    CHECK_EQ(h->m->npeers, MESH_MAX_PEERS);
    for (int i = 0; i < ALL; i++) {
        snprintf(name, sizeof(name), "0000000000000001-1-%08x", i);
        if (!mesh_peer_by_name(h->m, name)) {
            CHECK(out < 0);
            out = i;
        }
    }
    CHECK(out >= 0);
    CHECK(strstr(h->last_trouble, "left out"));
    gone = out ? 0 : 1;
    close(fds[gone]);
    hosts_settle();
    host_forward(h, MESH_RETRY_MIN_MS + 1);
    hosts_settle();
    snprintf(name, sizeof(name), "0000000000000001-1-%08x", gone);
    CHECK(!mesh_peer_by_name(h->m, name));
    snprintf(name, sizeof(name), "0000000000000001-1-%08x", out);
    CHECK(mesh_peer_by_name(h->m, name));
    CHECK_EQ(h->m->npeers, MESH_MAX_PEERS);
    for (int i = 0; i < ALL; i++) {
        if (i != gone) {
            close(fds[i]);
        }
    }
    host_free(h);
}

MESH_TEST(a_removed_directory_costs_only_new_peers)
{
    char cmd[400];
    Host *a, *b;

    hosts_pair(&a, &b);
    snprintf(cmd, sizeof(cmd), "rm -r '%s'", mesh_dir_path);
    CHECK(!system(cmd));
    hosts_settle();
    CHECK_EQ(host_wires(a), 1);
    CHECK(erdma_mesh_send(a->wires->peer, "x", 1, false));
    erdma_mesh_flush_all(a->m);
    hosts_settle();
    CHECK_EQ(b->wires->rx_len, 1);
    host_free(a);
    host_free(b);
}

MESH_TEST(an_unlinked_name_is_gone_at_once)
{
    Host *a = host_new();

    erdma_mesh_unlink(a->m);
    CHECK(!in_dir(a->m->name));
    erdma_mesh_unlink(a->m);
    host_free(a);
}

/* ---- other users ---- */

/* A child of another user that gets in although the directory is ours */
MESH_TEST(another_user_is_refused_who_connects)
{
    char path[400];
    Host *a;
    int go[2];
    pid_t pid;

    if (geteuid()) {
        printf("# only root can become somebody else\n");
        return;
    }
    a = host_new();
    CHECK(!chmod(mesh_dir_path, 0755));
    snprintf(path, sizeof(path), "%s/..", mesh_dir_path);
    CHECK(!chmod(path, 0755));
    snprintf(path, sizeof(path), "%s/%s", mesh_dir_path, a->m->name);
    CHECK(!chmod(path, 0666));
    CHECK(!pipe(go));
    pid = fork();
    if (!pid) {
        char c;
        int fd;

        if (setgid(65534) || setuid(65534)) {
            _exit(9);
        }
        mesh_case_begin_child();
        fd = raw_connect(a);
        raw_hello(fd, RAW_NAME);
        close(go[1]);
        _exit(read(go[0], &c, 1) != 0);
    }
    close(go[0]);
    for (unsigned i = 0; i < 500 && !a->m->info.accepts; i++) {
        hosts_round(10);
    }
    CHECK_EQ(a->m->info.accepts, 1);
    hosts_settle();
    CHECK_EQ(a->m->info.refused, 1);
    CHECK_EQ(a->made, 0);
    CHECK(strstr(a->last_trouble, "another user"));
    close(go[1]);
    CHECK(waitpid(pid, NULL, 0) == pid);
    host_free(a);
}

MESH_TEST(another_user_is_refused_who_listens)
{
    int ready[2];
    Host *a;
    pid_t pid;
    char c;

    if (geteuid()) {
        printf("# only root can become somebody else\n");
        return;
    }
    CHECK(!mkdir(mesh_dir_path, 0700));
    CHECK(!pipe(ready));
    pid = fork();
    if (!pid) {
        int fd = listen_at("0000000000000001-1-00000000", false);

        if (setgid(65534) || setuid(65534) || listen(fd, 1) ||
            write(ready[1], "x", 1) != 1) {
            _exit(9);
        }
        mesh_case_begin_child();
        pause();
        _exit(0);
    }
    CHECK(read(ready[0], &c, 1) == 1);
    close(ready[0]);
    close(ready[1]);
    a = host_new();
    hosts_settle();
    CHECK_EQ(a->m->info.connects, 1);
    CHECK_EQ(a->m->info.refused, 1);
    CHECK_EQ(a->made, 0);
    kill(pid, SIGKILL);
    CHECK(waitpid(pid, NULL, 0) == pid);
    host_free(a);
}
