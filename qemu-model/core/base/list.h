/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Circular lists; a link that is on no list has next == NULL. */
#ifndef ERDMA_LIST_H
#define ERDMA_LIST_H

#include "erdma_core.h"

#define ERDMA_ENTRY(link, type, member) \
    ((type *)((char *)(link) - offsetof(type, member)))

typedef struct ErdmaLink {
    struct ErdmaLink *next, *prev;
} ErdmaLink;

static inline void erdma_list_init(ErdmaLink *head)
{
    head->next = head->prev = head;
}

static inline bool erdma_link_used(const ErdmaLink *link)
{
    return link->next != NULL;
}

static inline ErdmaLink *erdma_list_first(const ErdmaLink *head)
{
    return head->next == head ? NULL : head->next;
}

static inline void erdma_list_add_tail(ErdmaLink *head, ErdmaLink *link)
{
    link->next = head;
    link->prev = head->prev;
    head->prev->next = link;
    head->prev = link;
}

/* No matter whether @link is on a list */
static inline void erdma_list_del(ErdmaLink *link)
{
    if (link->next) {
        link->prev->next = link->next;
        link->next->prev = link->prev;
        link->next = link->prev = NULL;
    }
}

#endif /* ERDMA_LIST_H */
