/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread of the wires. See wire_thread_run.h.
 *
 * It waits without the big lock, so what it knows may be outdated when it
 * has the lock: any change of what is watched makes it ask again. Descriptors
 * are level-triggered, nothing is lost by that. Time is one of them, a timerfd:
 * milliseconds are too coarse, and epoll_pwait2() needs Linux 5.11, glibc 2.35.
 */
#include "qemu/osdep.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include "qemu/error-report.h"
#include "qemu/rcu.h"
#include "qemu/thread.h"
#include "qemu/timer.h"
#include "qapi/error.h"
#include "compat.h"
#include "wire_thread.h"

#define EVENTS          16
#define SHORT_TURN_NS   100000      /* the shortest that Linux gives */
/*
 * Longer than a turn of two programs in ping-pong, so that we do not
 * wake up for what a request took along; short for whoever waits in vain, once.
 */
#define LINGER_NS       500000

struct ErdmaWireThread {
    int epoll;
    int quit_event;
    int timer;                      /* of settle_at */
    unsigned changes;               /* of what is watched; big lock */
    bool quit;                      /* big lock */
    int64_t settle_at;              /* 0: nothing lingers; big lock */
    const ErdmaWireThreadOps *ops;
    void *opaque;
};

/* That of the thread which asks */
static __thread ErdmaWireThread *here;

/*
 * Who asks for short turns gets them soon (Linux 6.12 and later): a message is
 * then not answered milliseconds later because processors of guests spin on all
 * cores of the host. Without privileges; where it is not known nothing happens.
 */
static void wire_thread_ask_short_turns(void)
{
#if defined(SYS_sched_getattr) && defined(SYS_sched_setattr)
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attr = { .size = sizeof(attr) };

    if (!syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) &&
        attr.policy == SCHED_OTHER) {
        attr.runtime = SHORT_TURN_NS;
        (void)syscall(SYS_sched_setattr, 0, &attr, 0);
    }
#endif
}

/* False: the end */
static bool wire_thread_look(ErdmaWireThread *t,
                             const struct epoll_event *event, int n,
                             unsigned changes)
{
    for (int i = 0; i < n && !t->quit && t->changes == changes; i++) {
        bool over = event[i].events & (EPOLLHUP | EPOLLERR);
        uint64_t expired;

        if (event[i].data.ptr == &t->timer) {
            /* Not ready any more; wire_thread_settle() looks at the clock */
            (void)!read(t->timer, &expired, sizeof(expired));
            continue;
        }
        t->ops->ready(event[i].data.ptr, over || event[i].events & EPOLLIN,
                      over || event[i].events & EPOLLOUT);
    }
    return !t->quit;
}

static void wire_thread_settle(ErdmaWireThread *t)
{
    if (t->settle_at && get_clock() >= t->settle_at) {
        t->settle_at = 0;
        t->ops->settle(t->opaque);
    }
}

static void wire_thread_close(ErdmaWireThread *t)
{
    const int fds[] = { t->epoll, t->quit_event, t->timer };

    for (unsigned i = 0; i < G_N_ELEMENTS(fds); i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
    g_free(t);
}

static void *wire_thread_run(void *opaque)
{
    ErdmaWireThread *t = opaque;
    struct epoll_event event[EVENTS];
    unsigned changes;
    bool go_on;
    int n;

    here = t;
    rcu_register_thread();
    wire_thread_ask_short_turns();
    erdma_bql_lock();
    do {
        changes = t->changes;
        erdma_bql_unlock();
        n = epoll_wait(t->epoll, event, EVENTS, -1);
        erdma_bql_lock();
        go_on = wire_thread_look(t, event, n, changes);
        if (go_on) {
            wire_thread_settle(t);
        }
    } while (go_on);
    erdma_bql_unlock();
    wire_thread_close(t);
    rcu_unregister_thread();
    return NULL;
}

ErdmaWireThread *erdma_wire_thread_new(const ErdmaWireThreadOps *ops,
                                       void *opaque, Error **errp)
{
    ErdmaWireThread *t = g_new0(ErdmaWireThread, 1);
    struct epoll_event quit = { .events = EPOLLIN };
    struct epoll_event timer = { .events = EPOLLIN, .data.ptr = &t->timer };
    QemuThread thread;

    t->ops = ops;
    t->opaque = opaque;
    t->epoll = epoll_create1(EPOLL_CLOEXEC);
    t->quit_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    t->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (t->epoll < 0 || t->quit_event < 0 || t->timer < 0 ||
        epoll_ctl(t->epoll, EPOLL_CTL_ADD, t->quit_event, &quit) ||
        epoll_ctl(t->epoll, EPOLL_CTL_ADD, t->timer, &timer)) {
        error_setg_errno(errp, errno, "fabric: cannot wait for peers");
        wire_thread_close(t);
        return NULL;
    }
    qemu_thread_create(&thread, "erdma-wire", wire_thread_run, t,
                       QEMU_THREAD_DETACHED);
    return t;
}

bool erdma_wire_thread_linger(ErdmaWireThread *t)
{
    int64_t at = get_clock() + LINGER_NS;
    const struct itimerspec when = {
        .it_value = {
            .tv_sec = at / NANOSECONDS_PER_SECOND,
            .tv_nsec = at % NANOSECONDS_PER_SECOND,
        },
    };

    if (here != t) {
        return false;
    }
    if (!t->settle_at) {
        if (timerfd_settime(t->timer, TFD_TIMER_ABSTIME, &when, NULL)) {
            return false;
        }
        t->settle_at = at;
    }
    return true;
}

void erdma_wire_thread_watch(ErdmaWireThread *t, MeshWatch *w)
{
    struct epoll_event event = {
        .events = (w->read ? EPOLLIN : 0) | (w->write ? EPOLLOUT : 0),
        .data.ptr = w,
    };
    bool was = w->priv, wanted = w->read || w->write;

    if (wanted &&
        epoll_ctl(t->epoll, was ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, w->fd,
                  &event)) {
        error_report("erdma: cannot wait for a peer: %s", strerror(errno));
        return;
    }
    if (was && !wanted) {
        epoll_ctl(t->epoll, EPOLL_CTL_DEL, w->fd, NULL);
        t->changes++;               /* @w may go now */
    }
    w->priv = wanted ? t : NULL;
}

/* The thread may be waiting for the lock that we hold: it ends by itself. */
void erdma_wire_thread_free(ErdmaWireThread *t)
{
    const uint64_t one = 1;

    if (t) {
        t->quit = true;
        if (write(t->quit_event, &one, sizeof(one)) < 0) {
            error_report("erdma: cannot end a thread: %s", strerror(errno));
        }
    }
}
