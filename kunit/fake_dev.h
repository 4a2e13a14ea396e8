/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A device that plays on the driver's rings: registers, doorbells, the command
 * queue with its EQ, and interrupts (docs/erdma-hardware.md, sections 2 to 4).
 * It finds the rings through the registers the driver wrote.
 */
#ifndef ERDMA_KUNIT_FAKE_DEV_H
#define ERDMA_KUNIT_FAKE_DEV_H

#include <kunit/test.h>
#include <linux/workqueue.h>

#include "erdma.h"

#define FAKE_TIMEOUT_MS	3000	/* of commands that are answered; TCG is slow */
#define FAKE_SHORT_MS	60	/* of commands that are not */
#define FAKE_SLOT_BYTES	(ERDMA_CMDQ_SLOT_WQEBBS * ERDMA_WQEBB_SIZE)
#define FAKE_MAX_CMDS	160
#define FAKE_NUMBERS	1000	/* of objects of a kind */
#define FAKE_VERSION	0x02000000	/* of the function, as it is read (2.3) */

/**
 * struct fake_cmd - a command the device has fetched
 * @index: SQ index of its slot, 16 bits
 * @slot: bytes of the slot
 * @answered: the CQE has been written
 */
struct fake_cmd {
	u16 index;
	u8 slot[FAKE_SLOT_BYTES];
	bool answered;
};

/**
 * struct fake_answer - what the device answers
 * @syndrome: 0 = success
 * @wrong: bits of the header of the completion that are not as they should be
 * @resp: response words
 */
struct fake_answer {
	u8 syndrome;
	u32 wrong;
	u64 resp[2];
};

/**
 * struct fake_dev - the device and the driver's view of it
 * @dev: driver side; its cmdq is initialised and in poll mode
 * @pci: function, good for names and for DMA memory
 * @platform: parent of the DMA pools
 * @lock: protects everything below
 * @regs: what was written last, by register
 * @wide: the same for registers of 64 bits
 * @writes: number of register writes
 * @sq_ci: next WQEBB to fetch
 * @cq_pi: next CQE to write
 * @eq_pi: next entry of the command EQ to write
 * @cq_armed: the next CQE makes an event
 * @eq_armed: the next event makes an interrupt; an EQ is born armed
 * @hold: do not answer; fake_answer_cmd() does it later
 * @late: answer, but not before the doorbell has been rung: @answerer does it
 * @mute: interrupts get lost
 * @unplugged: no answer in configuration space
 * @no_reset: a reset is not confirmed
 * @is_master: nor the end of bus mastering
 * @masters_stopped: how often that was asked for
 * @default_answer: for every command without @answer
 * @answer: decides per command
 * @cmds: newest commands, oldest first
 * @n_cmds: number of @cmds, all commands are counted in @total
 * @total: commands fetched
 * @lost: interrupts lost because of @mute
 * @arms: arm doorbells of the command CQ
 * @last_arm: newest of them
 * @irq: calls the driver's handler
 * @answerer: answers what was not answered yet
 * @owner: whoever needs more than a fake device
 */
struct fake_dev {
	struct erdma_dev *dev;
	struct pci_dev *pci;
	struct platform_device *platform;
	spinlock_t lock;	/* protects everything below */
	u32 regs[ERDMA_REG_SPACE / 4];
	u64 wide[ERDMA_REG_SPACE / 8];
	u32 writes;
	u16 sq_ci;
	u32 cq_pi;
	u32 eq_pi;
	bool cq_armed;
	bool eq_armed;
	bool hold;
	bool late;
	bool mute;
	bool unplugged;
	bool no_reset;
	bool is_master;
	u32 masters_stopped;
	struct fake_answer default_answer;
	void (*answer)(struct fake_dev *f, const struct fake_cmd *cmd, struct fake_answer *a);
	struct fake_cmd cmds[FAKE_MAX_CMDS];
	u32 n_cmds;
	u32 total;
	u32 lost;
	u32 arms;
	u64 last_arm;
	struct work_struct irq;
	struct work_struct answerer;
	void *owner;
};

int fake_init(struct kunit *test);
void *fake_init_owner(struct kunit *test, size_t size);
int fake_objtab_init(struct erdma_objtab *tab);
void fake_objtab_exit(struct erdma_objtab *tab);
void fake_publish(struct erdma_objtab *tab, u32 id, struct erdma_ref *ref);
struct erdma_ucontext *fake_context(struct kunit *test);
bool fake_gives_pages_back(struct fake_dev *f, struct erdma_ucontext *ctx);
void fake_exit(struct kunit *test);
struct fake_dev *fake_of(struct kunit *test);
void *fake_virt(u64 bus);
const void *fake_last_slot(struct fake_dev *f);
int fake_exec(struct fake_dev *f, u8 opcode, struct erdma_cmd_result *res);
int fake_exec_for(struct fake_dev *f, struct erdma_cmd_result *res, u32 timeout_ms);
int fake_exec_short(struct fake_dev *f);
void fake_answer_cmd(struct fake_dev *f, u32 n, const struct fake_answer *a);
void fake_answer_all(struct fake_dev *f);
void fake_write_cqe(struct fake_dev *f, u32 owner_of, u32 index, u32 hdr);
void fake_event(struct fake_dev *f);
void fake_settle(struct fake_dev *f);

#endif /* ERDMA_KUNIT_FAKE_DEV_H */
