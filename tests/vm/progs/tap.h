/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TAP output for small test programs: a table of functions, one line each. */
#ifndef TAP_H
#define TAP_H

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>

struct tap_test {
	const char *name;
	bool (*run)(void);		/* prints "# why" lines itself when it fails */
};

/* In a test: leave with "failed" and say where and why. */
#define EXPECT(cond, fmt, ...)							\
	do {									\
		if (!(cond)) {							\
			printf("# %s:%d: " fmt "\n", __func__, __LINE__, ##__VA_ARGS__);	\
			return false;						\
		}								\
	} while (0)

static inline int tap_run(const struct tap_test *tests, int count, const char *only)
{
	int failed = 0, ran = 0;

	for (int i = 0; i < count; i++)
		ran += !only || !fnmatch(only, tests[i].name, 0);
	printf("1..%d\n", ran);
	ran = 0;
	for (int i = 0; i < count; i++) {
		bool good;

		if (only && fnmatch(only, tests[i].name, 0))
			continue;
		good = tests[i].run();
		failed += !good;
		printf("%sok %d - %s\n", good ? "" : "not ", ++ran, tests[i].name);
		fflush(stdout);
	}
	return failed || !ran;
}

#endif
