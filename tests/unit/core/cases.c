/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cases as TAP: cases.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../tap.h"
#include "cases.h"

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
static const char *skip_reason;
static jmp_buf escape;

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

static Outcome case_run(const TapCase *tc)
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
static bool cases_take_option(const char *arg)
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

static bool case_chosen(const TapCase *tc, const char *pattern)
{
    return !pattern || strstr(tc->name, pattern);
}

static int cases_run(const char *pattern, bool first_only)
{
    unsigned total = 0;

    for (TapCase *tc = first; tc; tc = tc->next) {
        total += case_chosen(tc, pattern);
    }
    tap_plan(total);
    for (TapCase *tc = first; tc && !(failed && first_only); tc = tc->next) {
        Outcome outcome;

        if (!case_chosen(tc, pattern)) {
            continue;
        }
        outcome = case_run(tc);
        failed += outcome == OUTCOME_FAILED;
        skipped += outcome == OUTCOME_SKIPPED;
        tap_result(++results, outcome != OUTCOME_FAILED, tc->name,
                   outcome == OUTCOME_SKIPPED ? skip_reason : NULL);
    }
    printf("# %u passed, %u failed, %u skipped\n",
           results - failed - skipped, failed, skipped);
    if (failed || !results) {
        fflush(stdout);
        _exit(1);               /* a failed case leaks what it had */
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
        } else if (cases_take_option(argv[i])) {
            continue;
        } else if (argv[i][0] == '-') {
            fprintf(stderr, "%s: unknown option %s\n", argv[0], argv[i]);
            return 2;
        } else {
            pattern = argv[i];
        }
    }
    if (!list) {
        return cases_run(pattern, first_only);
    }
    for (TapCase *tc = first; tc; tc = tc->next) {
        if (case_chosen(tc, pattern)) {
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
