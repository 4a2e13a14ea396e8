// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * In front of the C library's calls: a socket of rdma netlink is the one that the program was
 * started with, $EADM_NETLINK_FD, at whose other end a test answers. Without that variable there
 * is no rdma netlink; $EADM_NETLINK_ERRNO: how the socket fails.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int rdma_fd = -1;

int socket(int domain, int type, int protocol)
{
	const char *fd = getenv("EADM_NETLINK_FD"), *err = getenv("EADM_NETLINK_ERRNO");

	if (domain != AF_NETLINK || protocol != NETLINK_RDMA)
		return (int)syscall(SYS_socket, domain, type, protocol);
	errno = err ? atoi(err) : EPROTONOSUPPORT;
	if (fd && !err)
		rdma_fd = dup(atoi(fd));
	return fd && !err ? rdma_fd : -1;
}

int bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	return fd == rdma_fd ? 0 : (int)syscall(SYS_bind, fd, addr, len);
}

static void kernels_address(void *to)
{
	*(struct sockaddr_nl *)to = (struct sockaddr_nl){ .nl_family = AF_NETLINK };
}

int getsockname(int fd, struct sockaddr *restrict addr, socklen_t *restrict len)
{
	if (fd != rdma_fd)
		return (int)syscall(SYS_getsockname, fd, addr, len);
	kernels_address(addr);
	*len = sizeof(struct sockaddr_nl);
	return 0;
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	struct msghdr m = *msg;

	if (fd == rdma_fd) {
		m.msg_name = NULL;
		m.msg_namelen = 0;
	}
	return syscall(SYS_sendmsg, fd, &m, flags);
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	void *name = msg->msg_name;
	ssize_t n;

	if (fd != rdma_fd)
		return syscall(SYS_recvmsg, fd, msg, flags);
	msg->msg_name = NULL;
	n = syscall(SYS_recvmsg, fd, msg, flags);
	msg->msg_name = name;
	if (n >= 0 && name) {
		kernels_address(name);
		msg->msg_namelen = sizeof(struct sockaddr_nl);
	}
	return n;
}
