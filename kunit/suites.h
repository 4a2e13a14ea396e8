/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The suites, one per file; listed again in kunit_main.c */
#ifndef ERDMA_KUNIT_SUITES_H
#define ERDMA_KUNIT_SUITES_H

#include <kunit/test.h>

#define ERDMA_SUITES(X)			\
	X(erdma_ring)			\
	X(erdma_hw)			\
	X(erdma_names)			\
	X(erdma_mpa)			\
	X(erdma_cmd)			\
	X(erdma_cmdq)			\
	X(erdma_eq)			\
	X(erdma_caps)			\
	X(erdma_idtab)			\
	X(erdma_debug)			\
	X(erdma_diag)			\
	X(erdma_diag_objects)

#define ERDMA_SUITE_DECLARE(name) extern struct kunit_suite name##_suite;
ERDMA_SUITES(ERDMA_SUITE_DECLARE)
#undef ERDMA_SUITE_DECLARE

#endif /* ERDMA_KUNIT_SUITES_H */
