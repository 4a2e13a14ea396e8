// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Without the driver's node, as in a container that has only uverbs and rdma_cm, and of devices
 * of other drivers: what rdma netlink and sysfs know. What they do not know stays away; of an
 * adapter a note says so.
 */
#include <rdma/ib_user_ioctl_verbs.h>

#include "erdma/erdma_hw.h"
#include "erdma/erdma_names.h"

#include "fallback.h"
#include "schema.h"
#include "schema_mem.h"

/**
 * fallback_note - say what is missing
 * @c: run
 * @dev: device
 * @what: what is not known
 */
void fallback_note(struct ctx *c, const struct dev *dev, const char *what)
{
	ctx_note(c, "NO_NODE", dev_title(dev), "no diagnostic node here: this is what rdma netlink "
		 "and sysfs know. Not known: %s", what);
}

static void set_known(struct obj *o, unsigned int field, long v)
{
	if (v >= 0)
		obj_u64(o, field, (uint64_t)v);
}

static void set_text(struct obj *o, unsigned int field, const char *s)
{
	if (*s)
		obj_str(o, field, s);
}

static void set_link(struct obj *o, unsigned int field, int link)
{
	if (link >= 0)
		obj_str(o, field, link ? "up" : "down");
}

/* Facts that there are, and that only the node knows */
static void rest_unknown(struct obj *o, const unsigned int *fields, size_t n)
{
	while (n--)
		obj_missing(o, fields[n], V_UNKNOWN);
}

#define REST_UNKNOWN(o, fields)	rest_unknown(o, fields, sizeof(fields) / sizeof((fields)[0]))

/**
 * fallback_row - a line of "list dev"
 * @o: object of schema_dev_list
 * @f: what is known
 */
void fallback_row(struct obj *o, const struct dev_facts *f)
{
	set_text(o, DL_DRIVER_VERSION, f->driver_version);
	set_text(o, DL_FW, f->fw);
	set_link(o, DL_LINK, f->link);
	set_known(o, DL_NUMA, f->numa);
	set_known(o, DL_QP, f->n_qp);
	set_known(o, DL_CQ, f->n_cq);
	set_known(o, DL_MR, f->n_mr);
}

/**
 * fallback_info - "info dev"
 * @o: object of schema_dev_info
 * @dev: device
 * @f: what is known
 */
void fallback_info(struct obj *o, const struct dev *dev, const struct dev_facts *f)
{
	static const unsigned int unknown[] = {
		DI_HEALTH, DI_DRIVER_VERSION, DI_FW, DI_NODE_GUID, DI_LINK, DI_CAPS, DI_QP_USED,
		DI_CQ_USED, DI_MR_USED, DI_PD_USED,
	};
	uint64_t guid = f->node_guid;

	set_text(o, DI_DRIVER_VERSION, f->driver_version);
	set_text(o, DI_FW, f->fw);
	if (guid)
		obj_strf(o, DI_NODE_GUID, "%04x:%04x:%04x:%04x", (unsigned int)(guid >> 48),
			 (unsigned int)(guid >> 32 & 0xffff), (unsigned int)(guid >> 16 & 0xffff),
			 (unsigned int)(guid & 0xffff));
	obj_str(o, DI_PCI, dev->pci);
	obj_strf(o, DI_PCI_ID, "%04x:%04x", ERDMA_PCI_VENDOR_ID, ERDMA_PCI_DEVICE_ID);
	set_known(o, DI_PCI_REV, f->pci_rev);
	set_known(o, DI_NUMA, f->numa);
	set_text(o, DI_NETDEV, dev->netdev);
	set_link(o, DI_LINK, f->link);
	set_known(o, DI_QP_USED, f->n_qp);
	set_known(o, DI_CQ_USED, f->n_cq);
	set_known(o, DI_MR_USED, f->n_mr);
	set_known(o, DI_PD_USED, f->n_pd);
	REST_UNKNOWN(o, unknown);
}

/* The states of the verbs as the driver's, by enum ib_qp_state: it has no RESET and INIT */
static const char *state_name(uint8_t state)
{
	static const uint8_t ours[] = {
		ERDMA_QPS_IDLE,		/* RESET */
		ERDMA_QPS_IDLE,		/* INIT */
		ERDMA_QPS_RTR,
		ERDMA_QPS_RTS,
		ERDMA_QPS_CLOSING,	/* SQD */
		ERDMA_QPS_TERMINATE,	/* SQE */
		ERDMA_QPS_ERROR,
	};

	return state < sizeof(ours) ? erdma_name_qp_state(ours[state]) : NULL;
}

static void set_owner(struct obj *o, unsigned int pid, unsigned int comm, unsigned int kernel,
		      const struct res *res)
{
	const unsigned int process[] = { pid, comm }, all[] = { pid, comm, kernel };

	/* Of a process of another PID namespace nothing is known */
	if (!res->pid && !res->comm[0]) {
		REST_UNKNOWN(o, all);
		return;
	}
	if (res->pid)
		obj_u64(o, pid, res->pid);
	set_text(o, comm, res->comm);
	obj_u64(o, kernel, !res->pid);
	if (res->pid)
		REST_UNKNOWN(o, process);
}

/* Others, as UD, have no peer */
static bool is_connected_type(uint8_t type)
{
	return type == IB_UVERBS_QPT_RC || type == IB_UVERBS_QPT_UC ||
	       type == IB_UVERBS_QPT_XRC_INI || type == IB_UVERBS_QPT_XRC_TGT;
}

static void qp_facts(struct obj *o, const struct res *res)
{
	static const unsigned int unknown[] = {
		QL_TYPE, QL_STATE, QL_STOPPED, QL_SQ_DEPTH, QL_SQ_PI, QL_SQ_CI, QL_SQ_USED,
		QL_RQ_DEPTH, QL_RQ_PI, QL_RQ_CI, QL_RQ_USED, QL_SEND_CQN, QL_RECV_CQN, QL_PDN,
		QL_AGE, QL_STATE_AGE, QL_ASYNC, QL_LAST_ASYNC,
	};
	static const unsigned int connection[] = {
		QL_PEER_ADDR, QL_PEER_PORT, QL_LOCAL_ADDR, QL_LOCAL_PORT, QL_FAMILY, QL_ROLE,
	};

	set_known(o, QL_QPN, res->id);
	set_known(o, QL_PDN, res->pdn);
	set_known(o, QL_SEND_CQN, res->send_cqn);
	set_known(o, QL_RECV_CQN, res->recv_cqn);
	set_owner(o, QL_PID, QL_COMM, QL_KERNEL, res);
	if (is_connected_type(res->type))
		REST_UNKNOWN(o, connection);
	REST_UNKNOWN(o, unknown);
}

/**
 * fallback_qp - a line of "list qp"
 * @o: object of schema_qp_list
 * @res: what is known
 */
void fallback_qp(struct obj *o, const struct res *res)
{
	const char *state = state_name(res->state);

	if (res->type == IB_UVERBS_QPT_RC)
		obj_str(o, QL_TYPE, "RC");
	if (state)
		obj_str(o, QL_STATE, state);
	qp_facts(o, res);
}

/**
 * fallback_cq - a line of "list cq"
 * @o: object of schema_cq_list
 * @res: what is known
 */
void fallback_cq(struct obj *o, const struct res *res)
{
	static const unsigned int unknown[] = {
		CL_CQN, CL_EQN, CL_VECTOR, CL_MSIX, CL_DEPTH, CL_CI, CL_ARMED_CI, CL_ARM_COUNT, CL_CMDSN,
		CL_NOTIFY, CL_EVENTS, CL_ASYNC, CL_AGE,
	};

	set_known(o, CL_CQN, res->id);
	set_known(o, CL_DEPTH, res->depth);
	set_owner(o, CL_PID, CL_COMM, CL_KERNEL, res);
	REST_UNKNOWN(o, unknown);
}

/* ---- devices of other drivers ------------------------------------------- */

/* By enum ib_qp_type, as rdma(8) writes them */
static const char *verbs_type(uint8_t type)
{
	static const char *const names[] = {
		"SMI", "GSI", "RC", "UC", "UD", "RAW_IPV6", "RAW_ETHERTYPE", NULL, "RAW_PACKET",
		"XRC_INI", "XRC_TGT",
	};

	if (type == IB_UVERBS_QPT_DRIVER)
		return "DRIVER";
	return type < COUNT_OF(names) ? names[type] : NULL;
}

/**
 * fallback_verbs_state - name of a QP's state as the verbs have it
 * @state: enum ib_qp_state
 *
 * Return: name, or NULL.
 */
const char *fallback_verbs_state(unsigned int state)
{
#define STATE_NAME(code, name, meaning) [code] = name,
	static const char *const names[] = { VERBS_QP_STATES(STATE_NAME) };
#undef STATE_NAME

	return state < COUNT_OF(names) ? names[state] : NULL;
}

/**
 * other_driver - whose device it is
 * @o: object
 * @field: its field for the name of a driver
 * @dev: device; an adapter has no such field
 */
void other_driver(struct obj *o, unsigned int field, const struct dev *dev)
{
	if (dev->state != DEV_OTHER)
		return;
	set_text(o, field, dev->driver);
	obj_missing(o, field, V_UNKNOWN);
}

/**
 * other_qp - a line of "list qp"
 * @o: object of schema_qp_list
 * @dev: device of another driver
 * @res: what is known
 */
void other_qp(struct obj *o, const struct dev *dev, const struct res *res)
{
	other_driver(o, QL_DRIVER, dev);
	if (verbs_type(res->type))
		obj_str(o, QL_TYPE, verbs_type(res->type));
	if (fallback_verbs_state(res->state))
		obj_str(o, QL_STATE, fallback_verbs_state(res->state));
	set_known(o, QL_REMOTE_QPN, res->remote_qpn);
	qp_facts(o, res);
}

/**
 * other_cq - a line of "list cq"
 * @o: object of schema_cq_list
 * @dev: device of another driver
 * @res: what is known
 *
 * Its number is the one that rdma(8) shows.
 */
void other_cq(struct obj *o, const struct dev *dev, const struct res *res)
{
	other_driver(o, CL_DRIVER, dev);
	set_known(o, CL_CQN, res->core_id);
	fallback_cq(o, res);
}

static void set_key(struct obj *o, unsigned int field, int64_t key)
{
	if (key >= 0)
		obj_u64(o, field, (uint64_t)key);
	else
		obj_missing(o, field, V_WITHHELD);
}

/**
 * other_mr - a line of "list mr"
 * @o: object of schema_mr_list
 * @dev: device of another driver
 * @res: what is known; the kernel shows keys to those with CAP_NET_ADMIN
 */
void other_mr(struct obj *o, const struct dev *dev, const struct res *res)
{
	static const unsigned int unknown[] = {
		MR_INDEX, ML_RES_ID, MR_TYPE, MR_LENGTH, MR_IOVA, MR_MEMORY, MR_ACCESS, MR_PDN, MR_PAGES,
		MR_PAGE_SIZE, ML_AGE,
	};

	other_driver(o, MR_DRIVER, dev);
	set_known(o, MR_INDEX, res->core_id);
	set_known(o, ML_RES_ID, res->core_id);
	set_known(o, MR_PDN, res->pdn);
	set_key(o, MR_LKEY, res->lkey);
	set_key(o, MR_RKEY, res->rkey);
	if (res->has_length)
		obj_u64(o, MR_LENGTH, res->length);
	if (res->has_iova)
		obj_u64(o, MR_IOVA, res->iova);
	set_owner(o, ML_PID, ML_COMM, ML_KERNEL, res);
	REST_UNKNOWN(o, unknown);
}
