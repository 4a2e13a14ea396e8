/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writer of TAP (version 12) of user space programs: plain C and libc.
 *
 * As a runner of cases: a case is a function, its name is the claim, the first
 * failed check ends it. Link tap.c and cases; main() is there, or a program has
 * its own and calls tap_main():
 *
 *     TEST(rings_wrap)
 *     {
 *         CHECK_EQ(used(2, 0xfffe), 4);
 *     }
 *
 * As a plain writer: tap_plan(), tap_ok() and tap_skipped() for each result,
 * tap_end().
 *
 * One thread. Standard output is line buffered, so that a crash loses nothing.
 */
#ifndef ERDMA_TAP_H
#define ERDMA_TAP_H

#include <stdbool.h>
#include <stdint.h>

/* ---- the plain writer ---- */

/* "1..@n"; first, or not at all: then tap_end() writes it */
void tap_plan(unsigned n);
/* One result; @fmt is its name. Returns @good. */
bool tap_ok(bool good, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* One result that could not be had, and why */
void tap_skipped(const char *name, const char *why);
/* A line of explanation, "# ..." */
void tap_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Nothing can be tested: "1..0 # SKIP why". Exit status of the program, 0. */
int tap_skip_all(const char *why);
/* Count results; exit status of the program: 0 if there were any, all good */
int tap_end(void);

/* ---- cases ---- */

typedef struct TapCase {
    const char *name;           /* of the function */
    const char *file;
    void (*fn)(void);
    unsigned tag;               /* what it is to tap_skip_cases() */
    struct TapCase *next;
} TapCase;

/* Append @tc, which must stay, to the cases; TEST() does so */
void tap_register(TapCase *tc);
/*
 * Accept arguments that begin with @prefix ("--map="); @set gets the rest and
 * returns false if it is not understood. At most 8; before tap_main().
 */
void tap_option(const char *prefix, bool (*set)(const char *value));
/* Skip cases for which @why returns a reason; before tap_main() */
void tap_skip_cases(const char *(*why)(const TapCase *tc));
/* The case that runs failed there, because: does not return */
void tap_fail(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), noreturn));
/* The case that runs cannot run here: does not return */
void tap_skip(const char *why) __attribute__((noreturn));
/*
 * Run the cases. Arguments: --first stop at the first failure, --list print
 * names, options of tap_option(), PATTERN only cases whose name contains it.
 * Returns the exit status: 0 all good, 1 failed or none found, 2 usage.
 */
int tap_main(int argc, char **argv);

#define TEST(id) TEST_CASE(id, 0)

#define TEST_CASE(id, tag_)                                                 \
    static void id(void);                                                   \
    __attribute__((constructor)) static void id##_register(void)            \
    {                                                                       \
        static TapCase tc = { .name = #id, .file = __FILE__, .fn = id,      \
                              .tag = (tag_) };                              \
        tap_register(&tc);                                                  \
    }                                                                       \
    static void id(void)

#define CHECK(cond) do { \
    if (!(cond)) { \
        tap_fail(__FILE__, __LINE__, "%s", #cond); \
    } \
} while (0)

#define CHECK_EQ(have, want) do { \
    uint64_t have_ = (uint64_t)(have), want_ = (uint64_t)(want); \
    if (have_ != want_) { \
        tap_fail(__FILE__, __LINE__, "%s is 0x%llx, not 0x%llx (%s)", #have, \
                 (unsigned long long)have_, (unsigned long long)want_, \
                 #want); \
    } \
} while (0)

#endif /* ERDMA_TAP_H */
