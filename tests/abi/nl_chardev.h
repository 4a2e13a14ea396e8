/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks rdma netlink for the character device of an RDMA device. */
#ifndef NL_CHARDEV_H
#define NL_CHARDEV_H

#include <stdint.h>

struct nl_chardev {
	uint32_t major;
	uint32_t minor;
	uint32_t abi;
	char name[64];
};

/* Returns 0 or the errno. */
int nl_get_chardev(uint32_t ib_index, const char *type, struct nl_chardev *out);

#endif
