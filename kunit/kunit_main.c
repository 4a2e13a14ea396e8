// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Runs the suites: by itself on a kernel without CONFIG_KUNIT, see "tools/setup kunit" */
#include <linux/module.h>

#include "suites.h"

static struct kunit_suite *suites[] = {
	&erdma_ring_suite,
	&erdma_hw_suite,
	&erdma_names_suite,
	&erdma_mpa_suite,
	&erdma_cmd_suite,
	&erdma_cmdq_suite,
	&erdma_cmdq_answer_suite,
	&erdma_cmdq_lost_suite,
	&erdma_eq_suite,
	&erdma_cq_suite,
	&erdma_cq_look_suite,
	&erdma_verbs_suite,
	&erdma_qp_suite,
	&erdma_qp_state_suite,
	&erdma_qp_reset_suite,
	&erdma_ep_suite,
	&erdma_caps_suite,
	&erdma_idtab_suite,
	&erdma_objtab_suite,
	&erdma_deferred_suite,
	&erdma_flush_suite,
	&erdma_outcome_suite,
	&erdma_doorbell_suite,
	&erdma_bringup_suite,
	&erdma_recovery_suite,
	&erdma_watchdog_suite,
	&erdma_debug_suite,
	&erdma_diag_suite,
	&erdma_diag_objects_suite,
	&erdma_diag_facts_suite,
	&erdma_diag_memory_suite,
	&erdma_diag_ring_suite,
	&erdma_diag_snapshot_suite,
	&erdma_diag_recover_suite,
	&erdma_coredump_suite,
	&erdma_restrack_suite,
	&erdma_stats_suite,
	&erdma_pma_suite,
	&erdma_rec_suite,
};

static char *only;
module_param(only, charp, 0444);
MODULE_PARM_DESC(only, "name of the suite to run (default: all)");

/* What runs: all of @suites, or one */
static struct kunit_suite **first = suites;
static int n_suites = ARRAY_SIZE(suites);

static int __init erdma_kunit_init(void)
{
	if (only) {
		while (n_suites && strcmp((*first)->name, only)) {
			first++;
			n_suites--;
		}
		if (!n_suites)
			return -ENOENT;
		n_suites = 1;
	}
	return __kunit_test_suites_init(first, n_suites);
}

static void __exit erdma_kunit_exit(void)
{
	__kunit_test_suites_exit(first, n_suites);
}

module_init(erdma_kunit_init);
module_exit(erdma_kunit_exit);

MODULE_DESCRIPTION("KUnit suites of the erdma driver");
MODULE_LICENSE("Dual BSD/GPL");
