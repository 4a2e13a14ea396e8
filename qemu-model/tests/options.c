/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a run of the core's tests may vary: --map=direct|bounce|short how the
 * host maps memory, --wire=off|shared|bytes how cards of different hosts reach
 * each other (one process, or one each).
 */
#include <string.h>

#include "fakehost.h"
#include "fakewire.h"
#include "guest.h"
#include "tap.h"

static bool option_find(const char *value, const char *const *names,
                        unsigned *found)
{
    for (unsigned i = 0; i < 3; i++) {
        if (!strcmp(value, names[i])) {
            *found = i;
            return true;
        }
    }
    return false;
}

static bool option_map(const char *value)
{
    static const char *const names[] = { "direct", "bounce", "short" };
    unsigned i = 0;
    bool good = option_find(value, names, &i);

    fake_default_mode = (MapMode)i;
    return good;
}

static bool option_wire(const char *value)
{
    static const char *const names[] = { "off", "shared", "bytes" };
    unsigned i = 0;
    bool good = option_find(value, names, &i);

    fake_wire_mode = (WireMode)i;
    return good;
}

static const char *option_skips(const TapCase *tc)
{
    return tc->tag == CASE_OWN_WIRES && fake_wire_mode != WIRE_MODE_OFF ?
           "chooses its own wires or none" : NULL;
}

__attribute__((constructor)) static void options_register(void)
{
    tap_option("--map=", option_map);
    tap_option("--wire=", option_wire);
    tap_skip_cases(option_skips);
}
