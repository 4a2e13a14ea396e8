// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A TCG plugin for QEMU: counts the guest instructions between two marks (mark.h).
 *
 *   qemu-system-x86_64 -plugin insn_count.so,out=FILE[,profile=on] ...
 *
 * At each end of a section FILE gets a line "TAG KERNEL USER": instructions of the vCPU
 * that executed the marks, in the upper half of the address space and in the lower one.
 * Interrupts that it took meanwhile are among them. With profile=on, for a machine with one
 * vCPU, the line is followed by "@ADDRESS INSTRUCTIONS" of each block of kernel code that
 * was executed in the section.
 *
 * A block of instructions is counted when it is entered: what a fault cuts off is counted
 * twice. A repeated string instruction is one, however often it repeats, as processors
 * count it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <qemu-plugin.h>

#include "mark.h"

#define MAX_VCPUS	8
#define KERNEL_START	0xffff800000000000ull
#define NO_TAG		(~0u)

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

/**
 * struct block - translated code
 * @vaddr: of its first instruction
 * @insns: instructions
 * @rep: address of its last instruction if that repeats itself, each time as a block of
 *	its own; else 0
 * @runs: how often it was entered in the current section; while profiling
 * @next: profiled before
 */
struct block {
	uint64_t vaddr;
	uint64_t insns;
	uint64_t rep;
	uint64_t runs;
	struct block *next;
};

/**
 * struct vcpu - a processor
 * @count: instructions since it started: of user space, of the kernel
 * @base: the same at the beginning of the section
 * @rep: of the block before
 * @tag: bits of the next section's number until now
 * @section: number of the section, NO_TAG outside of one
 */
struct vcpu {
	uint64_t count[2];
	uint64_t base[2];
	uint64_t rep;
	unsigned int tag;
	unsigned int section;
};

/* Each vCPU writes its own counters only; the list of a profile is that of the only vCPU */
static struct vcpu vcpus[MAX_VCPUS];
static struct block *profiled;
static bool profiling;
static FILE *out;

static bool is_kernel(uint64_t vaddr)
{
	return vaddr >= KERNEL_START;
}

/* ---- what is executed ---------------------------------------------------- */

/* A part of a block as the argument of a callback: instructions, and where they are */
static void *pack(uint64_t n, bool kernel)
{
	return (void *)(uintptr_t)(n << 1 | kernel);
}

static void on_block(unsigned int cpu, void *arg)
{
	struct block *b = arg;
	struct vcpu *v = &vcpus[cpu];
	bool repeated;

	if (cpu >= MAX_VCPUS)
		return;
	repeated = b->rep && b->rep == b->vaddr && v->rep == b->rep;
	v->rep = b->rep;
	if (repeated)
		return;
	v->count[is_kernel(b->vaddr)] += b->insns;
	if (v->section != NO_TAG)
		b->runs++;
}

static void on_zero(unsigned int cpu, void *arg)
{
	(void)arg;
	if (cpu < MAX_VCPUS)
		vcpus[cpu].tag <<= 1;
}

static void on_one(unsigned int cpu, void *arg)
{
	(void)arg;
	if (cpu < MAX_VCPUS)
		vcpus[cpu].tag = vcpus[cpu].tag << 1 | 1;
}

/* @arg: what its block has counted already of what stands behind it */
static void on_begin(unsigned int cpu, void *arg)
{
	uintptr_t packed = (uintptr_t)arg;
	struct vcpu *v = &vcpus[cpu];

	if (cpu >= MAX_VCPUS)
		return;
	memcpy(v->base, v->count, sizeof(v->base));
	v->base[packed & 1] -= packed >> 1;
	v->section = v->tag & ((1u << MARK_TAG_BITS) - 1);
	v->tag = 0;
}

static void print_profile(void)
{
	for (struct block *b = profiled; b; b = b->next) {
		if (b->runs && is_kernel(b->vaddr))
			fprintf(out, "@%llx %llu\n", (unsigned long long)b->vaddr,
				(unsigned long long)(b->runs * b->insns));
		b->runs = 0;
	}
}

/* @arg: what its block has counted already, from this mark on */
static void on_end(unsigned int cpu, void *arg)
{
	uintptr_t packed = (uintptr_t)arg;
	struct vcpu *v = &vcpus[cpu];
	uint64_t n[2];

	if (cpu >= MAX_VCPUS || v->section == NO_TAG)
		return;
	for (int i = 0; i < 2; i++)
		n[i] = v->count[i] - v->base[i];
	n[packed & 1] -= packed >> 1;
	fprintf(out, "%u %llu %llu\n", v->section, (unsigned long long)n[1],
		(unsigned long long)n[0]);
	if (profiling)
		print_profile();
	fflush(out);
	v->section = NO_TAG;
}

/* ---- what is translated --------------------------------------------------- */

/* Which mark is it? -1: none */
static int mark_of(const struct qemu_plugin_insn *insn)
{
	static const uint8_t opcode[] = MARK_OPCODE;
	const uint8_t *data = qemu_plugin_insn_data(insn);
	uint32_t displacement;

	if (qemu_plugin_insn_size(insn) != sizeof(opcode) + sizeof(displacement) ||
	    memcmp(data, opcode, sizeof(opcode)))
		return -1;
	memcpy(&displacement, data + sizeof(opcode), sizeof(displacement));
	return (displacement & ~MARK_CODE) == MARK_MAGIC ? (int)(displacement & MARK_CODE) : -1;
}

static void watch_mark(struct qemu_plugin_insn *insn, int code, uint64_t behind, bool kernel)
{
	static const qemu_plugin_vcpu_udata_cb_t on_mark[] = {
		[MARK_ZERO] = on_zero,
		[MARK_ONE] = on_one,
		[MARK_BEGIN] = on_begin,
		[MARK_END] = on_end,
	};

	qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark[code], QEMU_PLUGIN_CB_NO_REGS,
					       pack(behind + (code == MARK_END), kernel));
}

/* Is it MOVS, STOS, CMPS, SCAS, LODS, INS or OUTS with a prefix that repeats it? */
static bool is_rep(const struct qemu_plugin_insn *insn)
{
	const uint8_t *data = qemu_plugin_insn_data(insn);
	size_t i, size = qemu_plugin_insn_size(insn);
	bool rep = false;

	for (i = 0; i < size; i++) {
		if (data[i] == 0xf2 || data[i] == 0xf3)
			rep = true;
		else if (data[i] != 0x66 && data[i] != 0x67 && (data[i] & 0xf0) != 0x40)
			break;
	}
	if (!rep || i + 1 != size)
		return false;
	return (data[i] >= 0xa4 && data[i] <= 0xa7) || (data[i] >= 0xaa && data[i] <= 0xaf) ||
	       (data[i] >= 0x6c && data[i] <= 0x6f);
}

static void watch_block(struct qemu_plugin_tb *tb, uint64_t n)
{
	struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, n - 1);
	/* It lives as long as QEMU: nobody says when a translation is dropped */
	struct block *b = calloc(1, sizeof(*b));

	if (!b)
		abort();
	*b = (struct block){ .vaddr = qemu_plugin_tb_vaddr(tb), .insns = n };
	if (is_rep(last))
		b->rep = qemu_plugin_insn_vaddr(last);
	if (profiling) {
		b->next = profiled;
		profiled = b;
	}
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, b);
}

static void on_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	uint64_t n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	watch_block(tb, n);
	for (uint64_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		int code = mark_of(insn);

		if (code >= 0)
			watch_mark(insn, code, n - i - 1,
				   is_kernel(qemu_plugin_tb_vaddr(tb)));
	}
}

/* ---- start ---------------------------------------------------------------- */

static int fail(const char *what, const char *arg)
{
	fprintf(stderr, "insn_count: %s: %s\n", what, arg);
	return -1;
}

static int parse(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4)) {
			out = fopen(argv[i] + 4, "ae");
			if (!out)
				return fail("cannot write", argv[i] + 4);
		} else if (!strcmp(argv[i], "profile=on")) {
			profiling = true;
		} else {
			return fail("unknown argument", argv[i]);
		}
	}
	return out ? 0 : fail("missing argument", "out=FILE");
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info,
					   int argc, char **argv)
{
	if (strcmp(info->target_name, "x86_64") || !info->system_emulation)
		return fail("only for a machine with x86-64", info->target_name);
	if (info->system.max_vcpus > MAX_VCPUS)
		return fail("only for up to 8 vCPUs", "-smp");
	for (int i = 0; i < MAX_VCPUS; i++)
		vcpus[i].section = NO_TAG;
	if (parse(argc, argv))
		return -1;
	if (profiling && info->system.smp_vcpus != 1)
		return fail("a profile is only for one vCPU", "-smp");
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
	return 0;
}
