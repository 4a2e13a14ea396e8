/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that sleeps until a peer has said something. Everything it does it
 * does under the big lock, as the main loop would; but it does not stand behind
 * all else that the main loop looks after, nor behind processors of the guest
 * that spin.
 */
#ifndef HW_ERDMA_WIRE_THREAD_H
#define HW_ERDMA_WIRE_THREAD_H

#include "mesh.h"

typedef struct ErdmaWireThread ErdmaWireThread;

/* @ready is called under the big lock, for one descriptor at a time */
ErdmaWireThread *erdma_wire_thread_new(void (*ready)(MeshWatch *w,
                                                     bool readable,
                                                     bool writable),
                                       Error **errp);
/* MeshOps.watch; under the big lock */
void erdma_wire_thread_watch(ErdmaWireThread *t, MeshWatch *w);
/* Under the big lock. When it returns @ready is called no more. */
void erdma_wire_thread_free(ErdmaWireThread *t);

#endif /* HW_ERDMA_WIRE_THREAD_H */
