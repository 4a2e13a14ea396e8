// SPDX-License-Identifier: GPL-2.0-or-later
/* RDMA netlink: devices, their nodes, counters. */
#include <errno.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "source.h"

/* RDMA_NLDEV_ATTR_DRIVER_DETAILS: headers of older kernels lack it */
#define ATTR_DRIVER_DETAILS	97

struct nl_rdma {
	struct nl_sock *sk;
	struct nl_cb *cb;
	/* of the request in progress */
	int (*parse)(void *arg, struct nlmsghdr *msg);
	void *arg;
	int ret;
	bool done;
};

static struct nla_policy policy[RDMA_NLDEV_ATTR_MAX] = {
	[RDMA_NLDEV_ATTR_DEV_INDEX] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_DEV_NAME] = { .type = NLA_STRING },
	[RDMA_NLDEV_ATTR_PORT_INDEX] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_NDEV_NAME] = { .type = NLA_STRING },
	[RDMA_NLDEV_ATTR_CHARDEV_NAME] = { .type = NLA_STRING },
	[RDMA_NLDEV_ATTR_CHARDEV] = { .type = NLA_U64 },
	[RDMA_NLDEV_ATTR_FW_VERSION] = { .type = NLA_STRING },
	[RDMA_NLDEV_ATTR_NODE_GUID] = { .type = NLA_U64 },
	[RDMA_NLDEV_ATTR_PORT_STATE] = { .type = NLA_U8 },
	[RDMA_NLDEV_ATTR_RES_SUMMARY] = { .type = NLA_NESTED },
	[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME] = { .type = NLA_STRING },
	[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR] = { .type = NLA_U64 },
	[RDMA_NLDEV_ATTR_RES_QP] = { .type = NLA_NESTED },
	[RDMA_NLDEV_ATTR_RES_LQPN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_TYPE] = { .type = NLA_U8 },
	[RDMA_NLDEV_ATTR_RES_STATE] = { .type = NLA_U8 },
	[RDMA_NLDEV_ATTR_RES_PDN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_PID] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_KERN_NAME] = { .type = NLA_STRING },
	[RDMA_NLDEV_ATTR_RES_CQ] = { .type = NLA_NESTED },
	[RDMA_NLDEV_ATTR_RES_CQN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_DRIVER] = { .type = NLA_NESTED },
	[RDMA_NLDEV_ATTR_RES_CQE] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_RQPN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_MR] = { .type = NLA_NESTED },
	[RDMA_NLDEV_ATTR_RES_MRN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_MRLEN] = { .type = NLA_U64 },
	[RDMA_NLDEV_ATTR_RES_IOVA] = { .type = NLA_U64 },
	[RDMA_NLDEV_ATTR_RES_LKEY] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_RKEY] = { .type = NLA_U32 },
	[RDMA_NLDEV_SYS_ATTR_NETNS_MODE] = { .type = NLA_U8 },
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS] = { .type = NLA_NESTED },
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME] = { .type = NLA_STRING },
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE] = { .type = NLA_U64 },
};

/* ---- replies ------------------------------------------------------------ */

/**
 * nl_parse_attrs - attributes of a reply
 * @msg: message
 * @tb: result, RDMA_NLDEV_ATTR_MAX of them
 *
 * Return: 0 or -EPROTO.
 */
int nl_parse_attrs(struct nlmsghdr *msg, struct nlattr **tb)
{
	return nlmsg_parse(msg, 0, tb, RDMA_NLDEV_ATTR_MAX - 1, policy) < 0 ? -EPROTO : 0;
}

/**
 * nl_parse_entry - attributes of an entry of a table
 * @attr: entry
 * @tb: result, RDMA_NLDEV_ATTR_MAX of them
 *
 * Return: 0 or -EPROTO.
 */
int nl_parse_entry(struct nlattr *attr, struct nlattr **tb)
{
	return nla_parse_nested(tb, RDMA_NLDEV_ATTR_MAX - 1, attr, policy) < 0 ? -EPROTO : 0;
}

static void copy_string(char *to, size_t size, struct nlattr *attr)
{
	nla_strlcpy(to, attr, size);
}

/**
 * nl_parse_device - reply of RDMA_NLDEV_CMD_GET
 * @msg: message
 * @index: RDMA index
 * @name: device name
 * @size: room for it
 *
 * Return: 0, or -EPROTO if something is missing.
 */
int nl_parse_device(struct nlmsghdr *msg, uint32_t *index, char *name, size_t size)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];

	if (nl_parse_attrs(msg, tb) || !tb[RDMA_NLDEV_ATTR_DEV_INDEX] ||
	    !tb[RDMA_NLDEV_ATTR_DEV_NAME])
		return -EPROTO;
	*index = nla_get_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
	copy_string(name, size, tb[RDMA_NLDEV_ATTR_DEV_NAME]);
	return 0;
}

/**
 * nl_parse_chardev - reply of RDMA_NLDEV_CMD_GET_CHARDEV
 * @msg: message
 * @name: name of the node
 * @size: room for it
 * @rdev: its device number, as the kernel encodes it
 *
 * Return: 0, or -EPROTO if something is missing.
 */
int nl_parse_chardev(struct nlmsghdr *msg, char *name, size_t size, uint64_t *rdev)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];

	if (nl_parse_attrs(msg, tb) || !tb[RDMA_NLDEV_ATTR_CHARDEV_NAME] ||
	    !tb[RDMA_NLDEV_ATTR_CHARDEV])
		return -EPROTO;
	copy_string(name, size, tb[RDMA_NLDEV_ATTR_CHARDEV_NAME]);
	*rdev = nla_get_u64(tb[RDMA_NLDEV_ATTR_CHARDEV]);
	return 0;
}

/**
 * nl_parse_driver_id - reply of RDMA_NLDEV_CMD_GET_CHARDEV about uverbs
 * @msg: message
 * @id: enum rdma_driver_id; unchanged if the message has none
 *
 * Return: 0 or -EPROTO.
 */
int nl_parse_driver_id(struct nlmsghdr *msg, int *id)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX], *attr;

	if (nl_parse_attrs(msg, tb))
		return -EPROTO;
	attr = tb[RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID];
	/* The header says 64 bits, kernels send 32 */
	if (attr && nla_len(attr) == sizeof(uint32_t))
		*id = (int)nla_get_u32(attr);
	else if (attr && nla_len(attr) == sizeof(uint64_t))
		*id = (int)nla_get_u64(attr);
	return 0;
}

/**
 * nl_parse_counters - reply of RDMA_NLDEV_CMD_STAT_GET for a port
 * @msg: message
 * @fn: called for each counter; those before a broken one are handed over
 * @arg: its first argument
 *
 * Return: 0 or -EPROTO.
 */
int nl_parse_counters(struct nlmsghdr *msg, counter_fn fn, void *arg)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX], *entry[RDMA_NLDEV_ATTR_MAX], *pos;
	char name[DEV_NAME_LEN];
	int left;

	if (nl_parse_attrs(msg, tb) || !tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS])
		return -EPROTO;
	nla_for_each_nested(pos, tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS], left) {
		if (nl_parse_entry(pos, entry) ||
		    !entry[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME] ||
		    !entry[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE])
			return -EPROTO;
		copy_string(name, sizeof(name),
			    entry[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME]);
		fn(arg, name, nla_get_u64(entry[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE]));
	}
	return left ? -EPROTO : 0;
}

/* ---- transport ---------------------------------------------------------- */

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct nl_rdma *nl = arg;
	int ret = nl->parse(nl->arg, nlmsg_hdr(msg));

	if (ret && !nl->ret)
		nl->ret = ret;
	return NL_OK;
}

static int on_end(struct nl_msg *msg, void *arg)
{
	struct nl_rdma *nl = arg;

	(void)msg;
	nl->done = true;
	return NL_STOP;
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *err, void *arg)
{
	struct nl_rdma *nl = arg;

	(void)from;
	nl->ret = err->error ? err->error : -EIO;
	nl->done = true;
	return NL_STOP;
}

/**
 * nl_rdma_open - open a socket
 * @timeout_ms: budget of one request, at least 1
 * @err: result: why it failed, as a negative error number
 *
 * Return: handle or NULL. -EPROTONOSUPPORT means that ib_core is not loaded.
 */
struct nl_rdma *nl_rdma_open(unsigned int timeout_ms, int *err)
{
	struct timeval limit = { .tv_sec = timeout_ms / 1000,
				 .tv_usec = timeout_ms % 1000 * 1000 };
	struct nl_rdma *nl = calloc(1, sizeof(*nl));

	*err = -ENOMEM;
	if (!nl)
		return NULL;
	nl->sk = nl_socket_alloc();
	nl->cb = nl_cb_alloc(NL_CB_CUSTOM);
	if (!nl->sk || !nl->cb)
		goto err_free;
	errno = 0;
	if (nl_connect(nl->sk, NETLINK_RDMA) < 0) {
		*err = errno ? -errno : -EPROTONOSUPPORT;
		goto err_free;
	}
	setsockopt(nl_socket_get_fd(nl->sk), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	nl_cb_set(nl->cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, nl);
	nl_cb_set(nl->cb, NL_CB_FINISH, NL_CB_CUSTOM, on_end, nl);
	nl_cb_set(nl->cb, NL_CB_ACK, NL_CB_CUSTOM, on_end, nl);
	nl_cb_err(nl->cb, NL_CB_CUSTOM, on_error, nl);
	*err = 0;
	return nl;

err_free:
	nl_rdma_close(nl);
	return NULL;
}

/**
 * nl_rdma_close - close a socket
 * @nl: handle or NULL
 */
void nl_rdma_close(struct nl_rdma *nl)
{
	if (!nl)
		return;
	if (nl->cb)
		nl_cb_put(nl->cb);
	if (nl->sk)
		nl_socket_free(nl->sk);
	free(nl);
}

/* One request and all of its replies */
static int request(struct nl_rdma *nl, struct nl_msg *msg,
		   int (*parse)(void *arg, struct nlmsghdr *msg), void *arg)
{
	int err;

	nl->parse = parse;
	nl->arg = arg;
	nl->ret = 0;
	nl->done = false;
	err = nl_send_auto(nl->sk, msg);
	while (err >= 0 && !nl->done)
		err = nl_recvmsgs(nl->sk, nl->cb);
	if (nl->ret)
		return nl->ret;
	if (err >= 0 || nl->done)
		return 0;
	return err == -NLE_AGAIN ? -ETIMEDOUT : err == -NLE_MSG_TRUNC ? -EPROTO : -EIO;
}

static struct nl_msg *new_request(int op, int flags, uint32_t index, uint32_t port)
{
	struct nl_msg *msg = nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op),
						NLM_F_REQUEST | flags);

	if (!msg)
		return NULL;
	if (!(flags & NLM_F_DUMP) && nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, index) < 0)
		goto err_free;
	if (port && nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, port) < 0)
		goto err_free;
	return msg;

err_free:
	nlmsg_free(msg);
	return NULL;
}

/**
 * nl_rdma_ask - one request and all of its replies
 * @nl: handle
 * @op: RDMA_NLDEV_CMD_*
 * @flags: NLM_F_DUMP or NLM_F_ACK
 * @index: RDMA index
 * @port: port, 0 without one
 * @parse: called for each reply
 * @arg: its first argument
 *
 * Return: 0 or -errno.
 */
int nl_rdma_ask(struct nl_rdma *nl, int op, int flags, uint32_t index, uint32_t port,
		int (*parse)(void *arg, struct nlmsghdr *msg), void *arg)
{
	struct nl_msg *msg = new_request(op, flags, index, port);
	int ret;

	if (!msg)
		return -ENOMEM;
	/* Of all dumps only that of the devices is not about one of them; objects with
	 * what their driver knows
	 */
	if (flags & NLM_F_DUMP && op != RDMA_NLDEV_CMD_GET &&
	    (nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, index) < 0 ||
	     nla_put_u8(msg, ATTR_DRIVER_DETAILS, 1) < 0))
		ret = -ENOMEM;
	else
		ret = request(nl, msg, parse, arg);
	nlmsg_free(msg);
	return ret;
}

/* ---- requests ----------------------------------------------------------- */

struct devices_arg {
	void (*fn)(void *arg, uint32_t index, const char *name);
	void *arg;
};

static int on_device(void *arg, struct nlmsghdr *msg)
{
	struct devices_arg *a = arg;
	char name[DEV_NAME_LEN];
	uint32_t index;
	int ret = nl_parse_device(msg, &index, name, sizeof(name));

	if (!ret)
		a->fn(a->arg, index, name);
	return ret;
}

/**
 * nl_rdma_devices - all RDMA devices of this network namespace
 * @nl: handle
 * @fn: called for each
 * @arg: its first argument
 *
 * Return: 0 or -errno.
 */
int nl_rdma_devices(struct nl_rdma *nl, void (*fn)(void *arg, uint32_t index, const char *name),
		    void *arg)
{
	struct devices_arg a = { fn, arg };

	return nl_rdma_ask(nl, RDMA_NLDEV_CMD_GET, NLM_F_DUMP, 0, 0, on_device, &a);
}

struct name_arg {
	char *name;
	size_t size;
	uint64_t *rdev;
};

static int on_port(void *arg, struct nlmsghdr *msg)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
	struct name_arg *a = arg;

	if (nl_parse_attrs(msg, tb))
		return -EPROTO;
	if (tb[RDMA_NLDEV_ATTR_NDEV_NAME])
		copy_string(a->name, a->size, tb[RDMA_NLDEV_ATTR_NDEV_NAME]);
	return 0;
}

/**
 * nl_rdma_netdev - network interface of port 1
 * @nl: handle
 * @index: RDMA index
 * @name: result, unchanged if the port has none
 * @size: room for it
 *
 * Return: 0 or -errno.
 */
int nl_rdma_netdev(struct nl_rdma *nl, uint32_t index, char *name, size_t size)
{
	struct name_arg a = { name, size, NULL };

	return nl_rdma_ask(nl, RDMA_NLDEV_CMD_PORT_GET, NLM_F_ACK, index, 1, on_port, &a);
}

static int on_chardev(void *arg, struct nlmsghdr *msg)
{
	struct name_arg *a = arg;

	return nl_parse_chardev(msg, a->name, a->size, a->rdev);
}

static struct nl_msg *new_chardev_request(uint32_t index, const char *type)
{
	struct nl_msg *msg = new_request(RDMA_NLDEV_CMD_GET_CHARDEV, NLM_F_ACK, index, 0);

	if (msg && nla_put_string(msg, RDMA_NLDEV_ATTR_CHARDEV_TYPE, type) < 0) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

/**
 * nl_rdma_chardev - character device of a kind
 * @nl: handle
 * @index: RDMA index
 * @type: kind, "erdma_diag"
 * @name: result: name of the node
 * @size: room for it
 * @rdev: result: its device number
 *
 * Return: 0 or -errno.
 */
int nl_rdma_chardev(struct nl_rdma *nl, uint32_t index, const char *type, char *name, size_t size,
		    uint64_t *rdev)
{
	struct nl_msg *msg = new_chardev_request(index, type);
	struct name_arg a = { name, size, rdev };
	int ret;

	if (!msg)
		return -ENOMEM;
	name[0] = '\0';
	ret = request(nl, msg, on_chardev, &a);
	nlmsg_free(msg);
	return ret || name[0] ? ret : -EPROTO;
}

static int on_driver_id(void *arg, struct nlmsghdr *msg)
{
	return nl_parse_driver_id(msg, arg);
}

/**
 * nl_rdma_driver_id - which driver a device is of, as uverbs has it
 * @nl: handle
 * @index: RDMA index
 *
 * The kernel loads the module ib_uverbs for this request: ask only if it is loaded.
 *
 * Return: enum rdma_driver_id; -ENODATA: the driver is known by its PCI function only; or another
 * negative error number.
 */
int nl_rdma_driver_id(struct nl_rdma *nl, uint32_t index)
{
	struct nl_msg *msg = new_chardev_request(index, "uverbs");
	int ret, id = -ENODATA;

	if (!msg)
		return -ENOMEM;
	ret = request(nl, msg, on_driver_id, &id);
	nlmsg_free(msg);
	return ret ? ret : id;
}

struct counters_arg {
	counter_fn fn;
	void *arg;
	bool seen;
};

static int on_counters(void *arg, struct nlmsghdr *msg)
{
	struct counters_arg *a = arg;

	a->seen = true;
	return nl_parse_counters(msg, a->fn, a->arg);
}

/**
 * nl_rdma_counters - hardware counters of a port
 * @nl: handle
 * @index: RDMA index
 * @port: port, from 1
 * @fn: called for each counter
 * @arg: its first argument
 *
 * Return: 0 or -errno.
 */
int nl_rdma_counters(struct nl_rdma *nl, uint32_t index, uint32_t port, counter_fn fn, void *arg)
{
	struct counters_arg a = { fn, arg, false };
	int ret = nl_rdma_ask(nl, RDMA_NLDEV_CMD_STAT_GET, NLM_F_ACK, index, port, on_counters,
			      &a);

	return ret || a.seen ? ret : -EPROTO;
}
