/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the host has for a device to work: the module, the provider of applications, interrupts. */
#ifndef EADM_HOST_H
#define EADM_HOST_H

#include <stdbool.h>
#include <stddef.h>

#define MODULE_WORD_LEN	64

/**
 * struct module_file - a build of the module
 * @version: its version, "" if it states none
 * @srcversion: checksum of its source, "" if unknown
 */
struct module_file {
	char version[MODULE_WORD_LEN];
	char srcversion[MODULE_WORD_LEN];
};

/**
 * struct host - facts about a host
 * @release: of the kernel that runs, as uname -r prints it
 * @loaded: the module of the kernel, if @is_loaded
 * @is_loaded: there is one
 * @disk: the file that modprobe would load, if @disk_path
 * @disk_path: its path below /lib/modules/RELEASE, "" if there is none, or it is not known
 * @dkms: DKMS has the source of the module
 * @headers: there are headers of the kernel that runs
 * @libibverbs: applications can be linked with libibverbs
 * @provider: it has the provider of this device
 * @rdma_core: release of rdma-core that libibverbs belongs to, 0 if unknown
 * @compat_mode: parameter of the loaded module: 'Y', 'N'; 0 if unknown
 * @exclusive: the RDMA devices belong to one network namespace each: 1, 0, -1 if unknown
 * @cpus: CPUs that are online, 0 if unknown
 */
struct host {
	char release[MODULE_WORD_LEN];
	struct module_file loaded;
	bool is_loaded;
	struct module_file disk;
	char disk_path[256];
	bool dkms;
	bool headers;
	bool libibverbs;
	bool provider;
	unsigned int rdma_core;
	char compat_mode;
	int exclusive;
	unsigned int cpus;
};

void host_read(struct host *h);
bool host_no_module(char *release, size_t size);
int host_irq_cpu(unsigned int irq);

#endif /* EADM_HOST_H */
