/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fixture whose cards are in different processes: looking into the wire between
 * them, slowing it down, cutting it.
 */
#ifndef ERDMA_TESTS_TWO_HOSTS_H
#define ERDMA_TESTS_TWO_HOSTS_H

#include "guest.h"
#include "wire_msg.h"

#define SECOND  1000000000ull
#define MIB     (1u << 20)

/* With shared memory, and without */
extern const WireMode modes[2];

WireEnd *a_end(Fixture *s);
WireEnd *b_end(Fixture *s);
/* Messages of @type that wait at this end; 0: of any */
unsigned waiting(const WireEnd *e, unsigned type);

/* Its wire delivers only on request, until it settles */
Fixture *slow_fixture(WireMode mode, uint64_t size, bool connected);
void settle(Fixture *s);
/* Everything that is on its way one way, once */
void to_b(Fixture *s);
void to_a(Fixture *s);
/* All of it, and what that leads to at this end */
void deliver_all(WireEnd *e);
/* @n messages, each followed by a turn; false: came to rest before */
bool deliver_some(Fixture *s, unsigned n);

void kill_wire(Fixture *s);
void new_wire(Fixture *s);
/* A SEND of @len bytes arrives */
bool works(Fixture *s, Qp *a, Qp *b, uint32_t len);
/* Two more queue pairs between the same cards work */
bool anew(Fixture *s, uint32_t len);

typedef struct Ends {
    unsigned good, retry, flushed, other;
} Ends;

/* How the requests or receives of a CQ ended; the order is checked */
Ends ends(Cq *cq, uint32_t qtype);

#endif /* ERDMA_TESTS_TWO_HOSTS_H */
