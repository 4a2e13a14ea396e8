/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What faults.c lets fail: operations, in fault_ops.c and fault_objects.c. */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdbool.h>

/* Exit status of a try: what the fault did to the operation. */
enum outcome { DONE, HIT_AND_DONE, HIT_AND_FAILED, BROKEN };

/*
 * A try is a process: prepare(), then run() with the fault armed, then settle() without,
 * which knows whether it struck. They return 0 or an errno. after() checks in the parent what a try left behind.
 */
struct operation {
	const char *name;
	int args;
	bool ordered;	/* no library takes part that may crash */
	int (*prepare)(void);
	int (*run)(void);
	int (*settle)(bool struck);
	bool (*after)(enum outcome o);
};

extern const char *arg1, *arg2;		/* of the operation */

int write_word(const char *path, const char *word);

extern const struct operation driver_operations[];	/* fault_ops.c; the last has no name */
extern const struct operation object_operations[];	/* fault_objects.c; the same */

#endif
