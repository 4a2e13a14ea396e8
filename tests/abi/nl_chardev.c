// SPDX-License-Identifier: GPL-2.0-or-later
/* RDMA_NLDEV_CMD_GET_CHARDEV on a plain socket. */
#include <errno.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nl_chardev.h"

struct request {
	struct nlmsghdr hdr;
	char attrs[128];
};

static void put(struct request *req, int type, const void *data, size_t len)
{
	struct nlattr *a = (void *)((char *)req + NLMSG_ALIGN(req->hdr.nlmsg_len));

	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	memcpy((char *)a + NLA_HDRLEN, data, len);
	req->hdr.nlmsg_len = NLMSG_ALIGN(req->hdr.nlmsg_len) + NLA_ALIGN(a->nla_len);
}

static void get(const struct nlattr *a, struct nl_chardev *out)
{
	const void *data = (const char *)a + NLA_HDRLEN;
	uint64_t v;

	switch (a->nla_type & NLA_TYPE_MASK) {
	case RDMA_NLDEV_ATTR_CHARDEV:
		memcpy(&v, data, sizeof(v));
		/* huge_encode_dev() */
		out->major = v >> 8 & 0xfff;
		out->minor = (v & 0xff) | (v >> 12 & 0xfff00);
		break;
	case RDMA_NLDEV_ATTR_CHARDEV_ABI:
		memcpy(&v, data, sizeof(v));
		out->abi = v;
		break;
	case RDMA_NLDEV_ATTR_CHARDEV_NAME:
		strncpy(out->name, data, sizeof(out->name) - 1);
		break;
	}
}

static int answer(const char *msg, ssize_t len, struct nl_chardev *out)
{
	const struct nlmsghdr *hdr = (const void *)msg;
	const struct nlattr *a;
	size_t at = NLMSG_HDRLEN;

	if (len < NLMSG_HDRLEN || hdr->nlmsg_len > (size_t)len)
		return EPROTO;
	if (hdr->nlmsg_type == NLMSG_ERROR)
		return -((const struct nlmsgerr *)NLMSG_DATA(hdr))->error;
	while (at + NLA_HDRLEN <= hdr->nlmsg_len) {
		a = (const void *)(msg + at);
		if (a->nla_len < NLA_HDRLEN)
			return EPROTO;
		get(a, out);
		at += NLA_ALIGN(a->nla_len);
	}
	return 0;
}

int nl_get_chardev(uint32_t ib_index, const char *type, struct nl_chardev *out)
{
	struct request req = {
		.hdr = {
			.nlmsg_len = NLMSG_HDRLEN,
			.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET_CHARDEV),
			.nlmsg_flags = NLM_F_REQUEST,
		},
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	char msg[4096];
	int err = EPROTO;
	ssize_t len;

	if (fd < 0)
		return errno;
	put(&req, RDMA_NLDEV_ATTR_DEV_INDEX, &ib_index, sizeof(ib_index));
	put(&req, RDMA_NLDEV_ATTR_CHARDEV_TYPE, type, strlen(type) + 1);
	if (send(fd, &req, req.hdr.nlmsg_len, 0) == (ssize_t)req.hdr.nlmsg_len) {
		len = recv(fd, msg, sizeof(msg), 0);
		err = answer(msg, len, out);
	}
	close(fd);
	return err;
}
