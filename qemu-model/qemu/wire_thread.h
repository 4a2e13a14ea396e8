/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that sleeps until a peer has sent something. Everything it does it
 * does under the big lock, as the main loop would; but it does not stand behind
 * all else that the main loop looks after, nor behind processors of the guest
 * that spin.
 */
#ifndef HW_ERDMA_WIRE_THREAD_H
#define HW_ERDMA_WIRE_THREAD_H

#include "mesh.h"

typedef struct ErdmaWireThread ErdmaWireThread;

typedef struct ErdmaWireThreadOps {
    /* For one descriptor at a time */
    void (*ready)(MeshWatch *w, bool readable, bool writable);
    /* What was asked for with erdma_wire_thread_linger() */
    void (*settle)(void *opaque);
} ErdmaWireThreadOps;

/**
 * erdma_wire_thread_new - start the thread
 * @ops: called in it, under the big lock
 * @opaque: passed to settle()
 * @errp: the reason, if it cannot be started
 */
ErdmaWireThread *erdma_wire_thread_new(const ErdmaWireThreadOps *ops,
                                       void *opaque, Error **errp);
/**
 * erdma_wire_thread_linger - call settle() in a moment
 * @t: the thread
 *
 * Return: false, and nothing happens: we are in another thread, and to wake
 * this one would cost more than what shall wait; or there is no timer.
 */
bool erdma_wire_thread_linger(ErdmaWireThread *t);
/** erdma_wire_thread_watch - MeshOps.watch; under the big lock */
void erdma_wire_thread_watch(ErdmaWireThread *t, MeshWatch *w);
/**
 * erdma_wire_thread_free - end the thread; under the big lock
 * @t: the thread or NULL; when this returns nothing is called any more
 */
void erdma_wire_thread_free(ErdmaWireThread *t);

#endif /* HW_ERDMA_WIRE_THREAD_H */
