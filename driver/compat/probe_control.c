// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Are the command line and the compiler right? GOOD compiles with every kernel and
 * uses what the headers need from the command line; the others never compile.
 */
#include <linux/module.h>
#include <linux/net.h>
#include <rdma/ib_umem.h>
#include <rdma/uverbs_ioctl.h>

int probe(void);

#ifdef ERDMA_PROBE_CONTROL_GOOD
int probe(void)
{
	ib_umem_release(NULL);
	pr_info("%s\n", KBUILD_MODNAME);
	return kernel_listen(NULL, 0);
}
MODULE_LICENSE("Dual BSD/GPL");
#endif

#ifdef ERDMA_PROBE_CONTROL_BAD_TYPE
static int dealloc_ucontext(struct ib_ucontext *ctx)
{
	return 0;
}

/* Returns nothing and takes one argument since 5.2 */
const struct ib_device_ops probe_ops = {
	.disassociate_ucontext = dealloc_ucontext,
};
#endif

#ifdef ERDMA_PROBE_CONTROL_BAD_NAME
int probe(void)
{
	return erdma_no_such_function();
}
#endif
