/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the fuzzer gives: little endian, zeros when it is used up. */
#ifndef ERDMA_FUZZ_INPUT_H
#define ERDMA_FUZZ_INPUT_H

#include <stdint.h>
#include <string.h>

#include "erdma_core.h"

typedef struct Input {
    const uint8_t *p, *end;
} Input;

static inline uint64_t take(Input *in, unsigned bytes)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < bytes && in->p < in->end; i++) {
        v |= (uint64_t)*in->p++ << (8 * i);
    }
    return v;
}

static inline void take_bytes(Input *in, void *dst, size_t len)
{
    size_t have = in->end - in->p;

    memset(dst, 0, len);
    if (len > have) {
        len = have;
    }
    memcpy(dst, in->p, len);
    in->p += len;
}

/* monitor_input.c: whoever runs the card sets a fault or a meter, or looks at it */
void step_monitor(ErdmaCore *core, Input *in);

#endif /* ERDMA_FUZZ_INPUT_H */
