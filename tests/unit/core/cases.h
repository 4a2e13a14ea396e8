/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Test cases in C, printed as TAP (../tap.h). A case is a function; its name is the claim. The
 * first failed check ends the case.
 */
#ifndef ERDMA_CASES_H
#define ERDMA_CASES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct TapCase {
    const char *name;
    const char *file;
    void (*fn)(void);
    bool one_process;
    struct TapCase *next;
} TapCase;

void tap_register(TapCase *tc);
void tap_fail(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), noreturn));

#define TEST(id) TEST_CASE(id, false)
/* Not run again when each card is a process */
#define TEST_ONE_PROCESS(id) TEST_CASE(id, true)    /* about one process */
#define TEST_OWN_WIRES(id) TEST_CASE(id, true)      /* has the wires it needs */

#define TEST_CASE(id, one)                                                  \
    static void id(void);                                                   \
    __attribute__((constructor)) static void id##_register(void)            \
    {                                                                       \
        static TapCase tc = { .name = #id, .file = __FILE__, .fn = id,      \
                              .one_process = one };                         \
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

#endif /* ERDMA_CASES_H */
