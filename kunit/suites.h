/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The suites, one per file; kunit_main.c runs them */
#ifndef ERDMA_KUNIT_SUITES_H
#define ERDMA_KUNIT_SUITES_H

#include <kunit/test.h>

extern struct kunit_suite erdma_ring_suite;
extern struct kunit_suite erdma_hw_suite;
extern struct kunit_suite erdma_names_suite;
extern struct kunit_suite erdma_mpa_suite;
extern struct kunit_suite erdma_cmd_suite;
extern struct kunit_suite erdma_cmdq_suite;
extern struct kunit_suite erdma_cmdq_answer_suite;
extern struct kunit_suite erdma_cmdq_lost_suite;
extern struct kunit_suite erdma_eq_suite;
extern struct kunit_suite erdma_cq_suite;
extern struct kunit_suite erdma_cq_look_suite;
extern struct kunit_suite erdma_verbs_suite;
extern struct kunit_suite erdma_qp_suite;
extern struct kunit_suite erdma_qp_state_suite;
extern struct kunit_suite erdma_qp_reset_suite;
extern struct kunit_suite erdma_ep_suite;
extern struct kunit_suite erdma_caps_suite;
extern struct kunit_suite erdma_idtab_suite;
extern struct kunit_suite erdma_objtab_suite;
extern struct kunit_suite erdma_deferred_suite;
extern struct kunit_suite erdma_flush_suite;
extern struct kunit_suite erdma_outcome_suite;
extern struct kunit_suite erdma_doorbell_suite;
extern struct kunit_suite erdma_bringup_suite;
extern struct kunit_suite erdma_recovery_suite;
extern struct kunit_suite erdma_watchdog_suite;
extern struct kunit_suite erdma_debug_suite;
extern struct kunit_suite erdma_diag_suite;
extern struct kunit_suite erdma_diag_objects_suite;
extern struct kunit_suite erdma_diag_facts_suite;
extern struct kunit_suite erdma_diag_memory_suite;
extern struct kunit_suite erdma_diag_ring_suite;
extern struct kunit_suite erdma_diag_snapshot_suite;
extern struct kunit_suite erdma_diag_recover_suite;
extern struct kunit_suite erdma_coredump_suite;
extern struct kunit_suite erdma_restrack_suite;
extern struct kunit_suite erdma_stats_suite;
extern struct kunit_suite erdma_pma_suite;
extern struct kunit_suite erdma_rec_suite;

#endif /* ERDMA_KUNIT_SUITES_H */
