// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * States of queue pairs: who may move a QP from where to where, and what the device
 * is asked for then (docs/erdma-hardware.md, section 11).
 */
#include "compat/compat_rdma.h"
#include "erdma.h"
#include "erdma/erdma_names.h"
#include "erdma_trace.h"

#define QP_STOP_TRIES	4	/* each waits for a command context */

/**
 * enum qp_move - what to do when a state is asked for
 * @MOVE_NONE: nothing
 * @MOVE_RECORD: record the state, the device is not involved
 * @MOVE_STOP: stop the QP at the device, then record
 * @MOVE_CM: only the connection manager can do it
 * @MOVE_LATE: the QP is stopping already
 * @MOVE_NEVER: the device has no way back but erdma_qp_reset()
 */
enum qp_move {
	MOVE_NONE,
	MOVE_RECORD,
	MOVE_STOP,
	MOVE_CM,
	MOVE_LATE,
	MOVE_NEVER,
};

/* Table 11.1: [recorded][asked for] */
static const u8 qp_state_moves[ERDMA_QPS_COUNT][ERDMA_QPS_COUNT] = {
	[ERDMA_QPS_IDLE] = {
		[ERDMA_QPS_RTS] = MOVE_CM,
		[ERDMA_QPS_ERROR] = MOVE_STOP,
	},
	[ERDMA_QPS_RTR] = {
		[ERDMA_QPS_RTS] = MOVE_CM,
		[ERDMA_QPS_ERROR] = MOVE_STOP,
	},
	[ERDMA_QPS_RTS] = {
		[ERDMA_QPS_CLOSING] = MOVE_STOP,
		[ERDMA_QPS_TERMINATE] = MOVE_STOP,
		[ERDMA_QPS_ERROR] = MOVE_STOP,
	},
	[ERDMA_QPS_CLOSING] = {
		[ERDMA_QPS_IDLE] = MOVE_RECORD,
		[ERDMA_QPS_RTR] = MOVE_LATE,
		[ERDMA_QPS_RTS] = MOVE_LATE,
		[ERDMA_QPS_TERMINATE] = MOVE_LATE,
		[ERDMA_QPS_ERROR] = MOVE_STOP,
	},
	[ERDMA_QPS_TERMINATE] = {
		[ERDMA_QPS_IDLE] = MOVE_LATE,
		[ERDMA_QPS_RTR] = MOVE_LATE,
		[ERDMA_QPS_RTS] = MOVE_LATE,
		[ERDMA_QPS_CLOSING] = MOVE_LATE,
		[ERDMA_QPS_ERROR] = MOVE_RECORD,
	},
	[ERDMA_QPS_ERROR] = {
		[ERDMA_QPS_IDLE] = MOVE_NEVER,
		[ERDMA_QPS_RTR] = MOVE_NEVER,
		[ERDMA_QPS_RTS] = MOVE_NEVER,
	},
};

static void qp_record_state(struct erdma_qp *qp, enum erdma_qp_state to)
{
	lockdep_assert_held_write(&qp->state_lock);
	erdma_dbg(qp->dev, QP, INFO, "qp %u: %s -> %s\n", qp->qpn,
		  erdma_name_qp_state(qp->state), erdma_name_qp_state(to));
	trace_erdma_qp_state(qp->dev, qp->qpn, qp->state, to);
	/* Posting reads it without the lock */
	WRITE_ONCE(qp->state, to);
	qp->state_ns = ktime_get_coarse_ns();
}

/*
 * The work that notifies the device reads the indices under the locks of posting.
 * A post it missed came after it took them, and sees this flag.
 */
static void qp_record_stop(struct erdma_qp *qp, enum erdma_qp_state to)
{
	WRITE_ONCE(qp->stopped, true);
	qp_record_state(qp, to);
	erdma_reflush_schedule(qp);
}

/* While others have all contexts the device knows nothing of it: it is not at fault */
static int qp_send_stop(struct erdma_qp *qp, enum erdma_qp_state to, bool *no_context)
{
	struct erdma_cmd_result res;
	int err, tries = 0;

	do {
		err = erdma_exec_modify_qp(qp->dev, qp->qpn, to, NULL, &res);
		*no_context = erdma_cmd_found_no_context(err, &res);
	} while (*no_context && ++tries < QP_STOP_TRIES);
	return err;
}

/*
 * A device that does not stop a QP goes on reaching memory that the consumer
 * wants back: it is lost. That stops the QP too, so it counts as stopped: draining
 * it ends after the device was reset. Only an application's QP that the device
 * refuses to stop, or never was asked to, stays what it is, so that it can be tried again.
 */
static int qp_stop_at_device(struct erdma_qp *qp, enum erdma_qp_state to)
{
	bool no_context;
	int err;

	err = qp_send_stop(qp, to, &no_context);
	if (!err) {
		qp_record_stop(qp, to);
		return 0;
	}
	if (!erdma_is_lost(qp->dev))	/* else it stops with the device */
		erdma_dbg(qp->dev, QP, ERR, "qp %u: not stopped: %pe\n", qp->qpn, ERR_PTR(err));
	if ((err == -EIO || no_context) && qp->is_user)
		return err;
	erdma_device_lost(qp->dev, ERDMA_LOST_QP_STOP);
	qp_record_stop(qp, ERDMA_QPS_ERROR);
	return 0;
}

static int qp_change_state(struct erdma_qp *qp, enum erdma_qp_state to)
{
	int err = 0;

	down_write(&qp->state_lock);
	switch (qp_state_moves[qp->state][to]) {
	case MOVE_STOP:
		err = qp_stop_at_device(qp, to);
		break;
	case MOVE_RECORD:
		qp_record_state(qp, to);
		break;
	case MOVE_CM:
		err = -EINVAL;
		break;
	case MOVE_LATE:
		err = -ECONNABORTED;
		break;
	case MOVE_NEVER:
		erdma_dbg(qp->dev, QP, INFO, "qp %u: no way from %s to %s, %s\n", qp->qpn,
			  erdma_name_qp_state(qp->state), erdma_name_qp_state(to),
			  qp->is_user ? "destroy it" : "but by RESET");
		err = -EINVAL;
		break;
	}
	up_write(&qp->state_lock);
	return err;
}

/* Only DESTROY_QP may follow; nobody waits for what was posted */
static void qp_record_useless(struct erdma_qp *qp)
{
	WRITE_ONCE(qp->stopped, true);
	qp_record_state(qp, ERDMA_QPS_ERROR);
}

/*
 * The device may have taken the connection, or take it later, whatever it said.
 * Commands are executed in their order, so one to stop the QP undoes that. If this
 * one gets lost, too, the QP still is of no use to anybody but DESTROY_QP.
 */
static void qp_undo_rts(struct erdma_qp *qp)
{
	if (qp_stop_at_device(qp, ERDMA_QPS_ERROR))
		qp_record_useless(qp);
}

/**
 * erdma_qp_mark_stopped - record that the device does nothing any more for a QP
 * @qp: in any state; its device is stopped
 *
 * Context: may sleep; takes state_lock.
 */
void erdma_qp_mark_stopped(struct erdma_qp *qp)
{
	down_write(&qp->state_lock);
	qp_record_stop(qp, ERDMA_QPS_ERROR);
	up_write(&qp->state_lock);
}

/**
 * erdma_qp_to_rts - hand a connection to the device (11.3, 12.5)
 * @qp: never connected before
 * @conn: both ends of the TCP connection
 *
 * After an error of the command the QP is in ERROR, unless the command was not sent because
 * others had all contexts: then it is as before.
 *
 * Context: may sleep; takes state_lock.
 * Return: 0; -EINVAL: connected already; -ECONNABORTED: stopped; the command's.
 */
int erdma_qp_to_rts(struct erdma_qp *qp, const struct erdma_conn *conn)
{
	struct erdma_cmd_result res;
	int err;

	down_write(&qp->state_lock);
	err = -ECONNABORTED;
	if (qp->stopped || READ_ONCE(qp->fatal))
		goto out;
	err = -EINVAL;
	if (qp_state_moves[qp->state][ERDMA_QPS_RTS] != MOVE_CM)
		goto out;
	err = erdma_exec_modify_qp(qp->dev, qp->qpn, ERDMA_QPS_RTS, conn, &res);
	if (err) {
		if (!erdma_cmd_found_no_context(err, &res))
			qp_undo_rts(qp);
		goto out;
	}
	qp->conn = *conn;
	qp->connected = true;
	qp_record_state(qp, ERDMA_QPS_RTS);
out:
	up_write(&qp->state_lock);
	return err;
}

/**
 * erdma_qp_stop - stop a QP after table 11.1
 * @qp: in any state
 * @to: CLOSING, TERMINATE or ERROR
 *
 * Stopping a QP that is stopped already, or closing one that never was
 * connected, succeeds without doing anything. The connection manager is not
 * called back.
 *
 * Context: may sleep; takes state_lock.
 * Return: 0; -ECONNABORTED: it is stopping in another way; the command's.
 */
int erdma_qp_stop(struct erdma_qp *qp, enum erdma_qp_state to)
{
	return qp_change_state(qp, to);
}

/**
 * erdma_qp_end - stop a QP that is destroyed next
 * @qp: in any state
 *
 * The device need not be asked to stop what never was connected: DESTROY_QP is
 * legal in any state (11.6). Nothing can connect it any more.
 *
 * Context: may sleep; takes state_lock.
 */
void erdma_qp_end(struct erdma_qp *qp)
{
	bool never;

	down_write(&qp->state_lock);
	/* One that was closed is IDLE again, but not at the device */
	never = !qp->stopped && (qp->state == ERDMA_QPS_IDLE || qp->state == ERDMA_QPS_RTR);
	if (never)
		qp_record_useless(qp);
	up_write(&qp->state_lock);
	if (!never)
		erdma_qp_stop(qp, ERDMA_QPS_ERROR);
}

/**
 * erdma_qp_begin - as after its creation
 * @qp: kernel QP that the device has created again; no event finds it
 *
 * Context: may sleep; takes state_lock.
 */
void erdma_qp_begin(struct erdma_qp *qp)
{
	down_write(&qp->state_lock);
	qp_record_state(qp, ERDMA_QPS_IDLE);
	qp->connected = false;
	WRITE_ONCE(qp->fatal, false);
	WRITE_ONCE(qp->last_ae_type, 0);
	atomic_set(&qp->async_events, 0);
	WRITE_ONCE(qp->stopped, false);
	up_write(&qp->state_lock);
}

/**
 * erdma_qp_read_state - state as the driver recorded it
 * @qp: QP
 *
 * Context: any.
 * Return: enum erdma_qp_state.
 */
enum erdma_qp_state erdma_qp_read_state(struct erdma_qp *qp)
{
	return READ_ONCE(qp->state);
}

static const u8 qp_state_of_ib[] = {
	[IB_QPS_RESET] = ERDMA_QPS_IDLE,
	[IB_QPS_INIT] = ERDMA_QPS_IDLE,
	[IB_QPS_RTR] = ERDMA_QPS_RTR,
	[IB_QPS_RTS] = ERDMA_QPS_RTS,
	[IB_QPS_SQD] = ERDMA_QPS_CLOSING,
	[IB_QPS_SQE] = ERDMA_QPS_TERMINATE,
	[IB_QPS_ERR] = ERDMA_QPS_ERROR,
};

static const u8 ib_state_of_qp[ERDMA_QPS_COUNT] = {
	[ERDMA_QPS_IDLE] = IB_QPS_INIT,
	[ERDMA_QPS_RTR] = IB_QPS_RTR,
	[ERDMA_QPS_RTS] = IB_QPS_RTS,
	[ERDMA_QPS_CLOSING] = IB_QPS_ERR,
	[ERDMA_QPS_TERMINATE] = IB_QPS_ERR,
	[ERDMA_QPS_ERROR] = IB_QPS_ERR,
};

/**
 * erdma_modify_qp - ib_device_ops.modify_qp
 * @ibqp: QP
 * @attr: only the state means something to the device
 * @mask: which attributes are set
 * @udata: unused
 *
 * A QP becomes RTS through the connection manager only. A QP that is stopped
 * here takes its connection with it, also if the device does not confirm it:
 * the peer and the IW CM would wait for ever. From ERR there is no way back but RESET,
 * and for an application's QP none: a provider does not begin its rings anew (11.1).
 *
 * Context: may sleep; takes state_lock.
 * Return: 0; -EOPNOTSUPP: attributes beyond the standard; -EINVAL: no such
 * state, RTS, or back from ERR; -ECONNABORTED: the QP is stopping; of erdma_qp_reset();
 * the command's.
 */
int erdma_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata)
{
	struct erdma_qp *qp = qp_of(ibqp);
	enum erdma_qp_state to;
	int err;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	if (!(mask & IB_QP_STATE))
		return 0;
	if (attr->qp_state >= ARRAY_SIZE(qp_state_of_ib))
		return -EINVAL;

	to = qp_state_of_ib[attr->qp_state];
	if (attr->qp_state == IB_QPS_RESET && !qp->is_user)
		err = erdma_qp_reset(qp);
	else
		err = qp_change_state(qp, to);
	if (err)
		erdma_rec_fail(qp->dev->rec, ERDMA_DIAG_VERB_MODIFY_QP, qp->qpn, err);
	if (to < ERDMA_QPS_CLOSING)
		return err;
	if (err || erdma_qp_read_state(qp) >= ERDMA_QPS_CLOSING)
		erdma_cm_disconnect_qp(qp, false);
	return err;
}

/*
 * What is asked for with a mask of 0. All of @attr is set: the core copies it to the application,
 * whatever is in there. Of @init_attr it is @cap and @sq_sig_type.
 */
static __always_inline void qp_query_least(struct erdma_qp *qp, struct ib_qp_attr *attr,
					   struct ib_qp_init_attr *init_attr)
{
	*attr = (struct ib_qp_attr){};
	attr->qp_state = unlikely(READ_ONCE(qp->fatal)) ? IB_QPS_ERR :
							  ib_state_of_qp[erdma_qp_read_state(qp)];
	attr->cur_qp_state = attr->qp_state;
	init_attr->cap = qp->cap;
	init_attr->sq_sig_type = qp->sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
}

/* Not inline: it would save registers for the above, too */
static noinline void qp_query_all(struct erdma_qp *qp, struct ib_qp_attr *attr,
				  struct ib_qp_init_attr *init_attr)
{
	struct net_device *netdev = READ_ONCE(qp->dev->netdev);
	const struct ib_qp *ibqp = &qp->ibqp;

	*init_attr = (struct ib_qp_init_attr){
		.event_handler = ibqp->event_handler,
		.qp_context = ibqp->qp_context,
		.send_cq = ibqp->send_cq,
		.recv_cq = ibqp->recv_cq,
		.qp_type = ibqp->qp_type,
	};
	qp_query_least(qp, attr, init_attr);
	attr->path_mtu = netdev ? ib_mtu_int_to_enum(READ_ONCE(netdev->mtu)) : IB_MTU_1024;
	attr->qp_access_flags = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
				IB_ACCESS_REMOTE_READ;
	attr->max_rd_atomic = ERDMA_MAX_ORD;
	attr->max_dest_rd_atomic = ERDMA_MAX_IRD;
	attr->port_num = 1;
	attr->cap = qp->cap;
}

/**
 * erdma_query_qp - ib_device_ops.query_qp
 * @ibqp: QP
 * @attr: filled from the driver's records; ERR as soon as the device reported
 *	that it stopped the QP
 * @mask: what is asked for. Everything is reported, whatever it is, but for 0 and a QP of an
 *	application
 * @init_attr: filled
 *
 * For each QP that it lists the core asks with @mask 0 (fill_res_qp_entry_query() in nldev.c), and
 * reads nothing but the state. Beside that only the application asks for its QP: it gets all of
 * @attr but has asked for nothing, and of @init_attr the limits and how sends are signaled
 * (ib_uverbs_query_qp()). Nobody reads what is left out then.
 *
 * Context: any.
 * Return: 0.
 */
int erdma_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init_attr)
{
	struct erdma_qp *qp = qp_of(ibqp);

	if (!mask && qp->is_user)
		qp_query_least(qp, attr, init_attr);
	else
		qp_query_all(qp, attr, init_attr);
	return 0;
}
