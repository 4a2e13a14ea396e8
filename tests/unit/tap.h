/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The TAP writer of test programs in C: a table of functions, one result each.
 *
 *	static bool test_send(void)
 *	{
 *		EXPECT(post() == 0, "errno %d", errno);
 *		return true;
 *	}
 *	static const struct tap_test tests[] = { { "send", test_send } };
 *
 *	return tap_run(tests, 1, argc > 1 ? argv[1] : NULL);
 *
 * A program without a C library defines TAP_PUT(text) before it includes this.
 */
#ifndef TAP_H
#define TAP_H

#include <stdbool.h>
#include <stddef.h>

struct tap_test {
	const char *name;
	bool (*run)(void);		/* false: failed; EXPECT() has printed why */
};

/* Why the running test is skipped. One for all files of a program. */
__attribute__((weak)) const char *tap_skip_reason;

/* In a test: leave, it cannot run here. */
#define SKIP(why)								\
	do {									\
		tap_skip_reason = (why);					\
		return true;							\
	} while (0)

#ifdef TAP_PUT

static inline bool tap_matches(const char *pattern, const char *name)
{
	(void)pattern;
	(void)name;
	return true;
}

static inline void tap_flush(void)
{
}

#else

#include <fnmatch.h>
#include <stdio.h>

#define TAP_PUT(text)	fputs(text, stdout)

/* In a test: leave with "failed", and print where and why. */
#define EXPECT(cond, fmt, ...)							\
	do {									\
		if (!(cond)) {							\
			printf("# %s:%d: " fmt "\n", __func__, __LINE__, ##__VA_ARGS__);	\
			return false;						\
		}								\
	} while (0)

static inline bool tap_matches(const char *pattern, const char *name)
{
	return !fnmatch(pattern, name, 0);
}

static inline void tap_flush(void)
{
	fflush(stdout);
}

#endif

static inline void tap_put_number(unsigned int n)
{
	char text[12];
	size_t at = sizeof(text) - 1;

	text[at] = '\0';
	do {
		text[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	TAP_PUT(text + at);
}

/* The plan: how many results follow. */
static inline void tap_plan(unsigned int count)
{
	TAP_PUT("1..");
	tap_put_number(count);
	TAP_PUT("\n");
	tap_flush();
}

/* Result @number, from 1. @skip: why the test did not run, or NULL. */
static inline void tap_result(unsigned int number, bool good, const char *name, const char *skip)
{
	TAP_PUT(good ? "ok " : "not ok ");
	tap_put_number(number);
	TAP_PUT(" - ");
	TAP_PUT(name);
	if (good && skip) {
		TAP_PUT(" # SKIP ");
		TAP_PUT(skip);
	}
	TAP_PUT("\n");
	tap_flush();
}

/*
 * Run the tests whose names match the pattern @only; NULL: all. Returns the exit
 * status of the program: 1 when one failed or none ran.
 */
static inline int tap_run(const struct tap_test *tests, int count, const char *only)
{
	unsigned int failed = 0, ran = 0;

	for (int i = 0; i < count; i++)
		ran += !only || tap_matches(only, tests[i].name);
	tap_plan(ran);
	ran = 0;
	for (int i = 0; i < count; i++) {
		bool good;

		if (only && !tap_matches(only, tests[i].name))
			continue;
		tap_skip_reason = NULL;
		good = tests[i].run();
		failed += !good;
		tap_result(++ran, good, tests[i].name, tap_skip_reason);
	}
	return failed || !ran;
}

#endif
