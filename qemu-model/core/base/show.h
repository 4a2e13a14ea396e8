/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the views of show.c and show_ring.c have in common. */
#ifndef ERDMA_SHOW_H
#define ERDMA_SHOW_H

#include "core_int.h"

/* Members of a list that are handed out at once */
#define SHOW_OBJECTS    256u
#define SHOW_ENTRIES    64u

typedef struct Show {
    ErdmaCore *core;
    const ErdmaShowOps *ops;
    void *opaque;
} Show;

static inline void show_begin(const Show *s, const char *name)
{
    s->ops->begin(s->opaque, name);
}

static inline void show_end(const Show *s)
{
    s->ops->end(s->opaque);
}

static inline void show_list(const Show *s, const char *name)
{
    s->ops->begin_list(s->opaque, name);
}

static inline void show_list_end(const Show *s)
{
    s->ops->end_list(s->opaque);
}

static inline void show_number(const Show *s, const char *name, uint64_t value)
{
    s->ops->number(s->opaque, name, value);
}

static inline void show_flag(const Show *s, const char *name, bool value)
{
    s->ops->flag(s->opaque, name, value);
}

static inline void show_text(const Show *s, const char *name,
                             const char *value)
{
    s->ops->text(s->opaque, name, value ? value : "?");
}

/* Which entries of which ring */
typedef struct ShowRing {
    enum { RING_CMDQ, RING_CMDCQ, RING_CMDEQ, RING_AEQ, RING_CEQ, RING_SQ,
           RING_RQ, RING_CQ } kind;
    uint32_t number;
    bool from_given;
    uint32_t from, count;
} ShowRing;

/* False: the ring does not exist */
bool erdma_show_ring(const Show *s, const ShowRing *ring);

/* fault.c knows what they look like */
void erdma_show_faults(const Show *s);

#endif /* ERDMA_SHOW_H */
