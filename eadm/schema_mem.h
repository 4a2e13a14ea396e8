/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of memory regions, protection domains, user contexts and connections. */
#ifndef EADM_SCHEMA_MEM_H
#define EADM_SCHEMA_MEM_H

#include "schema.h"

extern const struct schema schema_mr_list, schema_pd_list, schema_ctx_list, schema_cm_list;

/* What each of these objects starts with */
enum {
	ML_DEV, ML_INDEX, ML_AGE, ML_RES_ID, ML_PID, ML_COMM, ML_KERNEL, ML_EXITED, ML_PID_NS,
	ML_NET_NS, ML_UNKNOWN, ML_CGROUP, ML_TORN, ML_HIDDEN,
	ML_COUNT
};

/* list mr */
enum {
	MR_INDEX = ML_COUNT, MR_TYPE, MR_LKEY, MR_RKEY, MR_LENGTH, MR_IOVA, MR_ADDR, MR_MEMORY,
	MR_ACCESS, MR_RIGHTS, MR_PDN, MR_CTX, MR_PAGE_SIZE, MR_PAGES, MR_MAX_PAGES, MR_MTT_LEVEL,
	MR_MTT_TABLES, MR_MTT_BYTES, MR_DMA, MR_DRIVER,
	MR_COUNT
};

/* list pd */
enum {
	PD_PDN = ML_COUNT, PD_CTX, PD_QP, PD_MR,
	PD_COUNT
};

/* list ctx */
enum {
	CX_ID = ML_COUNT, CX_SQ_PAGE, CX_RQ_PAGE, CX_CQ_PAGE, CX_OWN_PAGES, CX_PD, CX_MR, CX_CQ,
	CX_QP,
	CX_COUNT
};

/* list cm */
enum {
	CM_ID = ML_COUNT, CM_STATE, CM_ROLE, CM_LOCAL_ADDR, CM_LOCAL_PORT, CM_PEER_ADDR,
	CM_PEER_PORT, CM_QPN, CM_LISTENER, CM_BACKLOG, CM_WAITING, CM_PEER_COOKIE, CM_IRD, CM_ORD,
	CM_LEFT, CM_STATE_AGE,
	CM_COUNT
};

#endif /* EADM_SCHEMA_MEM_H */
