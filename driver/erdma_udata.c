// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What the provider sends with a verb (docs/erdma-hardware.md, section 13).
 */
#include <rdma/uverbs_ioctl.h>

#include "erdma.h"
#include "uapi/erdma-abi.h"

static_assert(sizeof(struct erdma_abi_context_resp) == 40);
static_assert(sizeof(struct erdma_abi_create_cq) == 24);
static_assert(sizeof(struct erdma_abi_create_cq_resp) == 8);
static_assert(sizeof(struct erdma_abi_create_qp) == 24);
static_assert(sizeof(struct erdma_abi_create_qp_resp) == 16);

/**
 * erdma_udata_fetch - fetch the driver's part of a uverbs request (section 13)
 * @udata: of the command
 * @req: destination
 * @size: bytes of the request as we know it
 *
 * A newer provider may send more, as long as the rest is zero.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: too short, or something we do not know; -EFAULT.
 */
int erdma_udata_fetch(struct ib_udata *udata, void *req, size_t size)
{
	if (udata->inlen < size)
		return -EINVAL;
	if (udata->inlen > size && !ib_is_udata_cleared(udata, size, udata->inlen - size))
		return -EINVAL;
	return ib_copy_from_udata(req, udata, size);
}
