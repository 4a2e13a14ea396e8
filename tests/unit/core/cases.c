/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs all registered cases. Options: --map=direct|bounce|short how the host
 * maps memory, --wire=off|shared|bytes how cards of different hosts reach each
 * other (one process, or one each), --first stop at the first failure, PATTERN
 * only cases whose name contains it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fakehost.h"
#include "fakewire.h"
#include "../tap.h"
#include "cases.h"

static TapCase *first, **last = &first;
static jmp_buf escape;

void tap_register(TapCase *tc)
{
    *last = tc;
    last = &tc->next;
}

void tap_fail(const char *file, int line, const char *fmt, ...)
{
    va_list ap;

    printf("# %s:%d: ", file, line);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    longjmp(escape, 1);
}

static void choose_map(const char *name)
{
    static const char *const names[] = { "direct", "bounce", "short" };

    for (unsigned i = 0; i < 3; i++) {
        if (!strcmp(name, names[i])) {
            fake_default_mode = (MapMode)i;
            return;
        }
    }
    fprintf(stderr, "no such map mode: %s\n", name);
    exit(2);
}

static void choose_wire(const char *name)
{
    static const char *const names[] = { "off", "shared", "bytes" };

    for (unsigned i = 0; i < 3; i++) {
        if (!strcmp(name, names[i])) {
            fake_wire_mode = (WireMode)i;
            return;
        }
    }
    fprintf(stderr, "no such wire mode: %s\n", name);
    exit(2);
}

static bool run_case(const TapCase *tc)
{
    if (setjmp(escape)) {
        return false;
    }
    tc->fn();
    return true;
}

int main(int argc, char **argv)
{
    const char *filter = NULL;
    unsigned n = 0, failed = 0, total = 0, skips = 0;
    bool first_only = false;

    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "--map=", 6)) {
            choose_map(argv[i] + 6);
        } else if (!strncmp(argv[i], "--wire=", 7)) {
            choose_wire(argv[i] + 7);
        } else if (!strcmp(argv[i], "--first")) {
            first_only = true;
        } else {
            filter = argv[i];
        }
    }
    for (TapCase *tc = first; tc; tc = tc->next) {
        total += !filter || strstr(tc->name, filter);
    }
    tap_plan(total);
    for (TapCase *tc = first; tc && !(failed && first_only); tc = tc->next) {
        bool good;

        if (filter && !strstr(tc->name, filter)) {
            continue;
        }
        if (tc->one_process && fake_wire_mode != WIRE_MODE_OFF) {
            tap_result(++n, true, tc->name, "chooses its own wires or none");
            skips++;
            continue;
        }
        good = run_case(tc);
        failed += !good;
        tap_result(++n, good, tc->name, NULL);
    }
    printf("# %u passed, %u failed, %u skipped\n", n - failed - skips, failed,
           skips);
    if (failed || !n) {
        fflush(stdout);
        _exit(1);               /* a failed case leaks what it had */
    }
    return 0;
}
