// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a program that may have no sockets of the internet: nosock CGROUP PROGRAM [ARG]...
 *
 * CGROUP is a folder of a cgroup2 file system. It gets a program that refuses each such
 * socket, as a container's may have one, and this process.
 */
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* Its result is 0: no */
static int load_refusal(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_CGROUP_SOCK,
		.expected_attach_type = BPF_CGROUP_INET_SOCK_CREATE,
		.insns = (uintptr_t)insns,
		.insn_cnt = 2,
		.license = (uintptr_t)"GPL",
	};

	return (int)bpf(BPF_PROG_LOAD, &attr);
}

static int enter(const char *cgroup)
{
	union bpf_attr attr = { .attach_type = BPF_CGROUP_INET_SOCK_CREATE };
	int dir = open(cgroup, O_RDONLY | O_DIRECTORY);
	int prog = load_refusal(), procs;

	if (dir < 0 || prog < 0)
		return -1;
	attr.target_fd = (uint32_t)dir;
	attr.attach_bpf_fd = (uint32_t)prog;
	if (bpf(BPF_PROG_ATTACH, &attr))
		return -1;
	procs = openat(dir, "cgroup.procs", O_WRONLY);
	return procs < 0 || write(procs, "0", 1) != 1 ? -1 : 0;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: nosock CGROUP PROGRAM [ARG]...\n");
		return 1;
	}
	if (enter(argv[1])) {
		perror(argv[1]);
		return 1;
	}
	execv(argv[2], argv + 2);
	perror(argv[2]);
	return 1;
}
