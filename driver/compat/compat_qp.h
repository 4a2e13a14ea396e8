/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Kernels on which the driver allocates QPs and frees them, and on which the core
 * does not wait for those who still read what it tracks. Newer ones need nothing of it.
 */
#ifndef ERDMA_COMPAT_QP_H
#define ERDMA_COMPAT_QP_H

#include <linux/slab.h>

#include <rdma/ib_verbs.h>
#include <rdma/restrack.h>

#include "../erdma.h"

#ifdef ERDMA_COMPAT_QP_OF_CORE
#define erdma_create_qp_op erdma_create_qp
#define erdma_destroy_qp_op erdma_destroy_qp
#define erdma_dereg_mr_op erdma_dereg_mr
#define ERDMA_QP_SIZE_OP INIT_RDMA_OBJ_SIZE(ib_qp, erdma_qp, ibqp),

static inline void erdma_allow_commands(struct ib_device *ibdev)
{
}
#else
#define ERDMA_QP_SIZE_OP

/**
 * erdma_allow_commands - say which commands of uverbs applications may use
 * @ibdev: not registered yet
 *
 * Newer cores go by the entries of struct ib_device_ops.
 */
static inline void erdma_allow_commands(struct ib_device *ibdev)
{
	ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_GET_CONTEXT) |
				  BIT_ULL(IB_USER_VERBS_CMD_QUERY_DEVICE) |
				  BIT_ULL(IB_USER_VERBS_CMD_QUERY_PORT) |
				  BIT_ULL(IB_USER_VERBS_CMD_ALLOC_PD) |
				  BIT_ULL(IB_USER_VERBS_CMD_DEALLOC_PD) |
				  BIT_ULL(IB_USER_VERBS_CMD_REG_MR) |
				  BIT_ULL(IB_USER_VERBS_CMD_DEREG_MR) |
				  BIT_ULL(IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL) |
				  BIT_ULL(IB_USER_VERBS_CMD_CREATE_CQ) |
				  BIT_ULL(IB_USER_VERBS_CMD_DESTROY_CQ) |
				  BIT_ULL(IB_USER_VERBS_CMD_CREATE_QP) |
				  BIT_ULL(IB_USER_VERBS_CMD_QUERY_QP) |
				  BIT_ULL(IB_USER_VERBS_CMD_MODIFY_QP) |
				  BIT_ULL(IB_USER_VERBS_CMD_DESTROY_QP);
}

/*
 * rdma_restrack_del() of these kernels only takes QPs and MRs out of the table: it
 * neither gives back its reference, which holds the owner's task, too, nor waits
 * for those who dump the object.
 */
static inline void erdma_end_tracking(struct rdma_restrack_entry *res)
{
	if (!kref_read(&res->kref))
		return;
	rdma_restrack_put(res);
	wait_for_completion(&res->comp);
}

/**
 * erdma_create_qp_op - ib_device_ops.create_qp
 * @ibpd: PD
 * @attr: attributes
 * @udata: driver data, NULL for kernel consumers
 *
 * The core fills in the QP when it has it. What is needed before is set here; not the
 * event handler, which may run only when all is there.
 *
 * Return: the QP, or ERR_PTR() of -ENOMEM or of erdma_create_qp().
 */
static inline struct ib_qp *erdma_create_qp_op(struct ib_pd *ibpd, struct ib_qp_init_attr *attr,
					       struct ib_udata *udata)
{
	struct erdma_qp *qp = kzalloc(sizeof(*qp), GFP_KERNEL);
	int err;

	if (!qp)
		return ERR_PTR(-ENOMEM);
	qp->ibqp.device = ibpd->device;
	qp->ibqp.pd = ibpd;
	qp->ibqp.qp_type = attr->qp_type;
	qp->ibqp.send_cq = attr->send_cq;
	qp->ibqp.recv_cq = attr->recv_cq;
	err = erdma_create_qp(&qp->ibqp, attr, udata);
	if (err) {
		kfree(qp);
		return ERR_PTR(err);
	}
	return &qp->ibqp;
}

/**
 * erdma_destroy_qp_op - ib_device_ops.destroy_qp
 * @ibqp: QP, freed if this succeeds
 * @udata: NULL for kernel consumers
 *
 * Return: see erdma_destroy_qp().
 */
static inline int erdma_destroy_qp_op(struct ib_qp *ibqp, struct ib_udata *udata)
{
	int err = erdma_destroy_qp(ibqp, udata);

	if (err)
		return err;
	erdma_end_tracking(&ibqp->res);
	kfree(qp_of(ibqp));
	return 0;
}

/**
 * erdma_dereg_mr_op - ib_device_ops.dereg_mr
 * @ibmr: region, which the core does not track any more
 * @udata: NULL for kernel consumers
 *
 * Return: see erdma_dereg_mr().
 */
static inline int erdma_dereg_mr_op(struct ib_mr *ibmr, struct ib_udata *udata)
{
	erdma_end_tracking(&ibmr->res);
	return erdma_dereg_mr(ibmr, udata);
}
#endif

#endif
