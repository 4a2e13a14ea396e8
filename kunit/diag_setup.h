/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* A device with objects, for the suites of the diagnostics handlers */
#ifndef ERDMA_KUNIT_DIAG_SETUP_H
#define ERDMA_KUNIT_DIAG_SETUP_H

#include "erdma_diag_int.h"
#include "erdma_recovery.h"
#include "fake_dev.h"

#define N_QPS		3
#define SQ_DEPTH	16
#define RQ_DEPTH	8
#define CQ_DEPTH	32
#define BUF_LEN		ERDMA_DIAG_CHUNK

/* QPNs of the QPs, with a hole, so that a cursor can fall into it */
extern const u32 diag_qpns[N_QPS];

/* Callers */
extern const struct erdma_diag_who diag_admin;
extern const struct erdma_diag_who diag_locked_down;
extern const struct erdma_diag_who diag_nobody;

/**
 * struct diag_setup - a device with three kernel QPs and a CQ, and a call to it
 * @f: fake device
 * @qp: in f->dev->qps
 * @cq: in f->dev->cqs, used by all QPs
 * @pd: of all QPs
 * @adapter: of the device
 * @diag: node, not registered
 * @req: a call by an administrator
 */
struct diag_setup {
	struct fake_dev *f;
	struct erdma_qp *qp[N_QPS];
	struct erdma_cq *cq;
	struct erdma_pd pd;
	struct erdma_adapter adapter;
	struct erdma_diag diag;
	struct erdma_diag_req req;
};

int diag_setup_init(struct kunit *test);
void diag_setup_exit(struct kunit *test);
struct diag_setup *setup_of(struct kunit *test);
void diag_expect_no_reference_left(struct kunit *test);

#endif /* ERDMA_KUNIT_DIAG_SETUP_H */
