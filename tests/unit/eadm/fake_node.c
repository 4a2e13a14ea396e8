// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * To be preloaded into an unmodified eadm: answers the ioctls of a node from the
 * first adapter of the scenario $EADM_SCENARIO, so that source_kernel.c runs
 * without a kernel that has one.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "uapi/erdma_diag.h"

#include "fake_diag.h"

int ioctl(int fd, unsigned long request, ...)
{
	static struct fake *scenario;
	static int (*real)(int fd, unsigned long request, ...);
	va_list ap;
	void *arg;
	int ret;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (_IOC_TYPE(request) != ERDMA_DIAG_IOC_TYPE) {
		if (!real)
			real = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
		return real(fd, request, arg);
	}
	if (!scenario)
		scenario = fake_load(getenv("EADM_SCENARIO"));
	ret = fake_call(scenario, 0, (unsigned int)request, arg);
	if (ret >= 0)
		return ret;
	errno = -ret;
	return -1;
}
