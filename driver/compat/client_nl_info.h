/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The answer of ib_client.get_nl_info(). The type is part of that interface but
 * its definition is in a header of the core that is not installed
 * (drivers/infiniband/core/core_priv.h); this is its layout in 6.1.
 */
#ifndef ERDMA_COMPAT_CLIENT_NL_INFO_H
#define ERDMA_COMPAT_CLIENT_NL_INFO_H

#include <linux/types.h>

struct device;
struct sk_buff;

/**
 * struct ib_client_nl_info - what a client reports about its character device
 * @nl_msg: message that the attributes are added to
 * @cdev: the device; the core takes a reference
 * @port: port, if the client has one device for each
 * @abi: number of the client's interface
 */
struct ib_client_nl_info {
	struct sk_buff *nl_msg;
	struct device *cdev;
	u32 port;
	u64 abi;
};

#endif
