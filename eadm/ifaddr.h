/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IPv4 addresses of network interfaces. */
#ifndef EADM_IFADDR_H
#define EADM_IFADDR_H

#include <ifaddrs.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

/**
 * is_ipv4_of - is it an IPv4 address of an interface?
 * @a: entry of getifaddrs()
 * @netdev: name of the interface
 *
 * The name of an address with a label is that, as in "ip address add ... label eth0:1".
 *
 * Return: true if it is.
 */
static inline bool is_ipv4_of(const struct ifaddrs *a, const char *netdev)
{
	size_t n = strlen(netdev);

	return a->ifa_addr && a->ifa_addr->sa_family == AF_INET &&
	       !strncmp(a->ifa_name, netdev, n) && (!a->ifa_name[n] || a->ifa_name[n] == ':');
}

#endif /* EADM_IFADDR_H */
