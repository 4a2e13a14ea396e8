// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The type of addresses that kernel_bind() and kernel_connect() take. */
#include <linux/net.h>
#include <linux/socket.h>

int probe(struct socket *sock, struct sockaddr_storage *storage);

int probe(struct socket *sock, struct sockaddr_storage *storage)
{
#ifdef ERDMA_PROBE_SOCKADDR_PLAIN
	struct sockaddr *addr = (struct sockaddr *)storage;
#endif
#ifdef ERDMA_PROBE_SOCKADDR_UNSIZED
	struct sockaddr_unsized *addr = (struct sockaddr_unsized *)storage;
#endif

	return kernel_bind(sock, addr, 0) ?: kernel_connect(sock, addr, 0, 0);
}
