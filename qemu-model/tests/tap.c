/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results and cases as TAP: tap.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

#define MAX_OPTIONS 8

typedef enum Outcome {
    OUTCOME_GOOD,
    OUTCOME_FAILED,
    OUTCOME_SKIPPED,
} Outcome;

static struct {
    const char *prefix;
    bool (*set)(const char *value);
} options[MAX_OPTIONS];
static unsigned noptions;
static const char *(*skip_why)(const TapCase *tc);
static TapCase *first, **last = &first;

static unsigned results, failed, skipped;
static bool planned;
static const char *skip_reason;
static jmp_buf escape;

/* ---- the plain writer ---- */

static void tap_start(void)
{
    if (!planned && !results) {
        setvbuf(stdout, NULL, _IOLBF, 0);
    }
}

void tap_plan(unsigned n)
{
    tap_start();
    planned = true;
    printf("1..%u\n", n);
}

bool tap_ok(bool good, const char *fmt, ...)
{
    va_list ap;

    tap_start();
    results++;
    failed += !good;
    printf("%sok %u - ", good ? "" : "not ", results);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    return good;
}

void tap_skipped(const char *name, const char *why)
{
    tap_start();
    results++;
    skipped++;
    printf("ok %u - %s # SKIP %s\n", results, name, why);
}

void tap_note(const char *fmt, ...)
{
    va_list ap;

    printf("# ");
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
}

int tap_skip_all(const char *why)
{
    printf("1..0 # SKIP %s\n", why);
    return 0;
}

int tap_end(void)
{
    if (!planned) {
        printf("1..%u\n", results);
    }
    tap_note("%u passed, %u failed, %u skipped", results - failed - skipped,
             failed, skipped);
    fflush(stdout);
    return failed || !results ? 1 : 0;
}

/* ---- cases ---- */

void tap_register(TapCase *tc)
{
    *last = tc;
    last = &tc->next;
}

void tap_option(const char *prefix, bool (*set)(const char *value))
{
    if (noptions == MAX_OPTIONS) {
        fprintf(stderr, "tap_option: more than %d\n", MAX_OPTIONS);
        exit(2);
    }
    options[noptions].prefix = prefix;
    options[noptions++].set = set;
}

void tap_skip_cases(const char *(*why)(const TapCase *tc))
{
    skip_why = why;
}

void tap_fail(const char *file, int line, const char *fmt, ...)
{
    va_list ap;

    printf("# %s:%d: ", file, line);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    longjmp(escape, OUTCOME_FAILED);
}

void tap_skip(const char *why)
{
    skip_reason = why;
    longjmp(escape, OUTCOME_SKIPPED);
}

static Outcome tap_run(const TapCase *tc)
{
    skip_reason = skip_why ? skip_why(tc) : NULL;
    if (skip_reason) {
        return OUTCOME_SKIPPED;
    }
    switch (setjmp(escape)) {
    case OUTCOME_FAILED:
        return OUTCOME_FAILED;
    case OUTCOME_SKIPPED:
        return OUTCOME_SKIPPED;
    default:
        tc->fn();
        return OUTCOME_GOOD;
    }
}

/* True: @arg is an option. Exits if its value is not understood. */
static bool tap_take_option(const char *arg)
{
    for (unsigned i = 0; i < noptions; i++) {
        size_t len = strlen(options[i].prefix);

        if (strncmp(arg, options[i].prefix, len)) {
            continue;
        }
        if (!options[i].set(arg + len)) {
            fprintf(stderr, "%s: unknown value '%s'\n", options[i].prefix,
                    arg + len);
            exit(2);
        }
        return true;
    }
    return false;
}

static bool tap_chosen(const TapCase *tc, const char *pattern)
{
    return !pattern || strstr(tc->name, pattern);
}

static int tap_run_all(const char *pattern, bool first_only)
{
    unsigned total = 0;
    int status;

    for (TapCase *tc = first; tc; tc = tc->next) {
        total += tap_chosen(tc, pattern);
    }
    tap_plan(total);
    for (TapCase *tc = first; tc && !(failed && first_only); tc = tc->next) {
        Outcome outcome;

        if (!tap_chosen(tc, pattern)) {
            continue;
        }
        outcome = tap_run(tc);
        if (outcome == OUTCOME_SKIPPED) {
            tap_skipped(tc->name, skip_reason);
        } else {
            tap_ok(outcome == OUTCOME_GOOD, "%s", tc->name);
        }
    }
    status = tap_end();
    if (status) {
        _exit(status);          /* a failed case leaks what it had */
    }
    return 0;
}

int tap_main(int argc, char **argv)
{
    const char *pattern = NULL;
    bool first_only = false, list = false;

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--first")) {
            first_only = true;
        } else if (!strcmp(argv[i], "--list")) {
            list = true;
        } else if (tap_take_option(argv[i])) {
            continue;
        } else if (argv[i][0] == '-') {
            fprintf(stderr, "%s: unknown option %s\n", argv[0], argv[i]);
            return 2;
        } else {
            pattern = argv[i];
        }
    }
    if (!list) {
        return tap_run_all(pattern, first_only);
    }
    for (TapCase *tc = first; tc; tc = tc->next) {
        if (tap_chosen(tc, pattern)) {
            printf("%s\n", tc->name);
        }
    }
    return 0;
}

/* For programs that only have cases */
__attribute__((weak)) int main(int argc, char **argv)
{
    return tap_main(argc, argv);
}
