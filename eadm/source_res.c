// SPDX-License-Identifier: GPL-2.0-or-later
/* RDMA netlink: what it knows of a device and its objects without the driver's node. */
#include <errno.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <rdma/rdma_netlink.h>
#include <string.h>

#include "source.h"

#define PORT_ACTIVE	4	/* of enum ib_port_state */

/* ---- facts -------------------------------------------------------------- */

/**
 * nl_parse_facts - replies of RDMA_NLDEV_CMD_GET and RDMA_NLDEV_CMD_PORT_GET
 * @msg: message
 * @facts: what the message has is filled in
 *
 * Return: 0 or -EPROTO.
 */
int nl_parse_facts(struct nlmsghdr *msg, struct dev_facts *facts)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];

	if (nl_parse_attrs(msg, tb))
		return -EPROTO;
	if (tb[RDMA_NLDEV_ATTR_FW_VERSION])
		nla_strlcpy(facts->fw, tb[RDMA_NLDEV_ATTR_FW_VERSION], sizeof(facts->fw));
	if (tb[RDMA_NLDEV_ATTR_NODE_GUID])
		facts->node_guid = nla_get_u64(tb[RDMA_NLDEV_ATTR_NODE_GUID]);
	/* Of several ports one is enough */
	if (tb[RDMA_NLDEV_ATTR_PORT_STATE] && facts->link != 1)
		facts->link = nla_get_u8(tb[RDMA_NLDEV_ATTR_PORT_STATE]) == PORT_ACTIVE;
	return 0;
}

/**
 * nl_parse_ports - reply of RDMA_NLDEV_CMD_GET: the number of ports
 * @msg: message
 * @ports: unchanged if the message has none
 *
 * Return: 0 or -EPROTO.
 */
int nl_parse_ports(struct nlmsghdr *msg, unsigned int *ports)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];

	if (nl_parse_attrs(msg, tb))
		return -EPROTO;
	if (tb[RDMA_NLDEV_ATTR_PORT_INDEX])
		*ports = nla_get_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX]);
	return 0;
}

static void set_number_of(struct dev_facts *facts, const char *name, uint64_t n)
{
	if (!strcmp(name, "qp"))
		facts->n_qp = (long)n;
	else if (!strcmp(name, "cq"))
		facts->n_cq = (long)n;
	else if (!strcmp(name, "mr"))
		facts->n_mr = (long)n;
	else if (!strcmp(name, "pd"))
		facts->n_pd = (long)n;
}

/**
 * nl_parse_summary - reply of RDMA_NLDEV_CMD_RES_GET
 * @msg: message
 * @facts: the numbers of objects are filled in
 *
 * Return: 0 or -EPROTO.
 */
int nl_parse_summary(struct nlmsghdr *msg, struct dev_facts *facts)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX], *entry[RDMA_NLDEV_ATTR_MAX], *pos;
	int left;

	if (nl_parse_attrs(msg, tb) || !tb[RDMA_NLDEV_ATTR_RES_SUMMARY])
		return -EPROTO;
	nla_for_each_nested(pos, tb[RDMA_NLDEV_ATTR_RES_SUMMARY], left) {
		if (nl_parse_entry(pos, entry) || !entry[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME] ||
		    !entry[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR])
			return -EPROTO;
		set_number_of(facts, nla_get_string(entry[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME]),
			      nla_get_u64(entry[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR]));
	}
	return left ? -EPROTO : 0;
}

static int on_facts(void *arg, struct nlmsghdr *msg)
{
	return nl_parse_facts(msg, arg);
}

static int on_summary(void *arg, struct nlmsghdr *msg)
{
	return nl_parse_summary(msg, arg);
}

static int on_ports(void *arg, struct nlmsghdr *msg)
{
	return nl_parse_ports(msg, arg);
}

/**
 * nl_rdma_ports - number of ports of a device
 * @nl: handle
 * @index: RDMA index
 * @ports: result
 *
 * Return: 0 or -errno.
 */
int nl_rdma_ports(struct nl_rdma *nl, uint32_t index, unsigned int *ports)
{
	return nl_rdma_ask(nl, RDMA_NLDEV_CMD_GET, NLM_F_ACK, index, 0, on_ports, ports);
}

/**
 * nl_rdma_facts - identity, state of the ports, numbers of objects
 * @nl: handle
 * @index: RDMA index
 * @ports: number of ports; the link is up if that of one of them is
 * @facts: result
 *
 * Return: 0 or -errno.
 */
int nl_rdma_facts(struct nl_rdma *nl, uint32_t index, unsigned int ports, struct dev_facts *facts)
{
	int ret = nl_rdma_ask(nl, RDMA_NLDEV_CMD_GET, NLM_F_ACK, index, 0, on_facts, facts);
	unsigned int port;

	for (port = 1; !ret && port <= ports; port++)
		ret = nl_rdma_ask(nl, RDMA_NLDEV_CMD_PORT_GET, NLM_F_ACK, index, port, on_facts,
				  facts);
	if (!ret)
		ret = nl_rdma_ask(nl, RDMA_NLDEV_CMD_RES_GET, NLM_F_ACK, index, 0, on_summary,
				  facts);
	return ret;
}

/* ---- network namespaces ------------------------------------------------- */

/**
 * nl_parse_exclusive - reply of RDMA_NLDEV_CMD_SYS_GET
 * @msg: message
 *
 * Return: 1: RDMA devices belong to one network namespace each, 0: to all; -1: it does not say.
 */
int nl_parse_exclusive(struct nlmsghdr *msg)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];

	if (nl_parse_attrs(msg, tb) || !tb[RDMA_NLDEV_SYS_ATTR_NETNS_MODE])
		return -1;
	return !nla_get_u8(tb[RDMA_NLDEV_SYS_ATTR_NETNS_MODE]);
}

static int on_system(void *arg, struct nlmsghdr *msg)
{
	*(int *)arg = nl_parse_exclusive(msg);
	return 0;
}

/**
 * nl_rdma_exclusive - does an RDMA device belong to one network namespace?
 * @nl: connection
 *
 * Return: 1, 0; -1 if it is not known.
 */
int nl_rdma_exclusive(struct nl_rdma *nl)
{
	int exclusive = -1;

	nl_rdma_ask(nl, RDMA_NLDEV_CMD_SYS_GET, NLM_F_ACK, 0, 0, on_system, &exclusive);
	return exclusive;
}

/* ---- objects ------------------------------------------------------------ */

static const struct {
	int op;
	int table;
	int id;
} kinds[] = {
	[RES_QP] = { RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_LQPN },
	[RES_CQ] = { RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_ATTR_RES_CQ, RDMA_NLDEV_ATTR_RES_CQN },
	[RES_MR] = { RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MRN },
};

static long number_or_none(struct nlattr *attr)
{
	return attr ? (long)nla_get_u32(attr) : -1;
}

/* Numbers that the driver adds to what the RDMA core knows */
static void set_detail(struct res *res, enum res_kind kind, const char *name, uint32_t v)
{
	if (kind == RES_CQ && !strcmp(name, "cqn"))
		res->id = v;
	else if (kind == RES_CQ && !strcmp(name, "depth"))
		res->depth = v;
	else if (!strcmp(name, "send_cqn"))
		res->send_cqn = v;
	else if (!strcmp(name, "recv_cqn"))
		res->recv_cqn = v;
}

/* Names and values follow each other */
static void fill_details(struct res *res, enum res_kind kind, struct nlattr *details)
{
	const char *name = "";
	struct nlattr *pos;
	int left;

	nla_for_each_nested(pos, details, left) {
		if (nla_type(pos) == RDMA_NLDEV_ATTR_DRIVER_STRING && nla_len(pos) > 0 &&
		    !((const char *)nla_data(pos))[nla_len(pos) - 1])
			name = nla_get_string(pos);
		else if (nla_type(pos) == RDMA_NLDEV_ATTR_DRIVER_U32 &&
			 nla_len(pos) >= (int)sizeof(uint32_t))
			set_detail(res, kind, name, nla_get_u32(pos));
	}
}

static void fill_mr(struct res *res, struct nlattr **entry)
{
	res->has_length = entry[RDMA_NLDEV_ATTR_RES_MRLEN];
	if (res->has_length)
		res->length = nla_get_u64(entry[RDMA_NLDEV_ATTR_RES_MRLEN]);
	res->has_iova = entry[RDMA_NLDEV_ATTR_RES_IOVA];
	if (res->has_iova)
		res->iova = nla_get_u64(entry[RDMA_NLDEV_ATTR_RES_IOVA]);
	res->lkey = number_or_none(entry[RDMA_NLDEV_ATTR_RES_LKEY]);
	res->rkey = number_or_none(entry[RDMA_NLDEV_ATTR_RES_RKEY]);
}

static void fill_res(struct res *res, enum res_kind kind, struct nlattr **entry)
{
	*res = (struct res){ .id = -1, .core_id = -1, .send_cqn = -1, .recv_cqn = -1,
			     .lkey = -1, .rkey = -1 };
	/* The core's number of a CQ or MR is its own */
	if (kind == RES_QP)
		res->id = number_or_none(entry[RDMA_NLDEV_ATTR_RES_LQPN]);
	else
		res->core_id = number_or_none(entry[kinds[kind].id]);
	if (kind == RES_MR)
		fill_mr(res, entry);
	res->remote_qpn = number_or_none(entry[RDMA_NLDEV_ATTR_RES_RQPN]);
	res->pdn = number_or_none(entry[RDMA_NLDEV_ATTR_RES_PDN]);
	res->depth = number_or_none(entry[RDMA_NLDEV_ATTR_RES_CQE]);
	if (entry[RDMA_NLDEV_ATTR_RES_TYPE])
		res->type = nla_get_u8(entry[RDMA_NLDEV_ATTR_RES_TYPE]);
	if (entry[RDMA_NLDEV_ATTR_RES_STATE])
		res->state = nla_get_u8(entry[RDMA_NLDEV_ATTR_RES_STATE]);
	if (entry[RDMA_NLDEV_ATTR_DRIVER])
		fill_details(res, kind, entry[RDMA_NLDEV_ATTR_DRIVER]);
	if (entry[RDMA_NLDEV_ATTR_RES_PID])
		res->pid = nla_get_u32(entry[RDMA_NLDEV_ATTR_RES_PID]);
	else if (entry[RDMA_NLDEV_ATTR_RES_KERN_NAME])
		nla_strlcpy(res->comm, entry[RDMA_NLDEV_ATTR_RES_KERN_NAME], sizeof(res->comm));
}

/**
 * nl_parse_objects - reply of RDMA_NLDEV_CMD_RES_QP_GET, _CQ_GET or _MR_GET
 * @msg: message
 * @kind: which of them
 * @fn: called for each object; those before a broken one are handed over
 * @arg: its first argument
 *
 * Return: 0 or -EPROTO.
 */
int nl_parse_objects(struct nlmsghdr *msg, enum res_kind kind, res_fn fn, void *arg)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX], *entry[RDMA_NLDEV_ATTR_MAX], *pos;
	struct res res;
	int left;

	if (nl_parse_attrs(msg, tb) || !tb[kinds[kind].table])
		return -EPROTO;
	nla_for_each_nested(pos, tb[kinds[kind].table], left) {
		if (nl_parse_entry(pos, entry) || !entry[kinds[kind].id])
			return -EPROTO;
		fill_res(&res, kind, entry);
		fn(arg, &res);
	}
	return left ? -EPROTO : 0;
}

struct objects_arg {
	enum res_kind kind;
	res_fn fn;
	void *arg;
};

static int on_objects(void *arg, struct nlmsghdr *msg)
{
	struct objects_arg *a = arg;

	return nl_parse_objects(msg, a->kind, a->fn, a->arg);
}

/**
 * nl_rdma_objects - objects that belong to processes of this PID namespace, or to the
 *	kernel
 * @nl: handle
 * @index: RDMA index
 * @kind: which
 * @fn: called for each
 * @arg: its first argument
 *
 * Return: 0 or -errno.
 */
int nl_rdma_objects(struct nl_rdma *nl, uint32_t index, enum res_kind kind, res_fn fn, void *arg)
{
	struct objects_arg a = { kind, fn, arg };

	return nl_rdma_ask(nl, kinds[kind].op, NLM_F_DUMP, index, 0, on_objects, &a);
}
