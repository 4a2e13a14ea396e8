// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Contexts as the device keeps them (appendix A of docs/erdma-hardware.md).
 *
 * Questions to the device must never hurt its users: few at a time, a short
 * timeout each, none while many commands are lost to timeouts, and
 * no object is held while the device thinks.
 */
#include <linux/jiffies.h>
#include <linux/security.h>
#include <linux/wait.h>

#include "compat/compat.h"
#include "erdma_diag_int.h"

/* Offset of a bus address in a response */
#define HW_SECRET(type, field) offsetof(struct erdma_resp_##type, field)

/**
 * struct hw_query - how to ask for one type of object
 * @submod: enum erdma_submod
 * @opcode: opcode within @submod
 * @len: bytes of the response that have a meaning
 * @secret: offsets of bus addresses, ended by 0
 */
struct hw_query {
	u8 submod;
	u8 opcode;
	u16 len;
	u16 secret[5];
};

static const struct hw_query hw_qpc = {
	.submod = ERDMA_SUBMOD_RDMA,
	.opcode = ERDMA_CMD_QUERY_QPC,
	.len = sizeof(struct erdma_resp_qpc),
	.secret = { HW_SECRET(qpc, sq_addr), HW_SECRET(qpc, rq_addr),
		    HW_SECRET(qpc, sq_dbrec_addr), HW_SECRET(qpc, rq_dbrec_addr) },
};

static const struct hw_query hw_cqc = {
	.submod = ERDMA_SUBMOD_RDMA,
	.opcode = ERDMA_CMD_QUERY_CQC,
	.len = sizeof(struct erdma_resp_cqc),
	.secret = { HW_SECRET(cqc, addr) },
};

static const struct hw_query hw_eqc = {
	.submod = ERDMA_SUBMOD_COMMON,
	.opcode = ERDMA_CMD_QUERY_EQC,
	.len = sizeof(struct erdma_resp_eqc),
	.secret = { HW_SECRET(eqc, addr), HW_SECRET(eqc, db_addr) },
};

static_assert(sizeof_field(struct erdma_diag_hw, data) == ERDMA_RESP_BUF_SIZE);

/* Our numbers of event queues are not the device's (A.3) */
static u32 hw_eq_index(u32 id)
{
	switch (id) {
	case ERDMA_DIAG_EQ_CMDQ:
		return ERDMA_EQC_INDEX_CMDQ;
	case ERDMA_DIAG_EQ_AEQ:
		return ERDMA_EQC_INDEX_AEQ;
	default:
		return ERDMA_EQC_INDEX_CEQ(id);
	}
}

static const struct hw_query *hw_find(u32 obj, u32 id, u32 *index)
{
	*index = id;
	switch (obj) {
	case ERDMA_DIAG_OBJ_QP:
		return &hw_qpc;
	case ERDMA_DIAG_OBJ_CQ:
		return &hw_cqc;
	case ERDMA_DIAG_OBJ_EQ:
		*index = hw_eq_index(id);
		return &hw_eqc;
	case ERDMA_DIAG_OBJ_CMDQ:	/* the command CQ is CQ 0 (A.2) */
		*index = 0;
		return &hw_cqc;
	default:
		return NULL;
	}
}

static int hw_take_credit(struct erdma_diag *diag, u32 timeout_ms)
{
	long ret;

	ret = wait_event_killable_timeout(diag->hw_wait,
					  atomic_dec_if_positive(&diag->hw_credits) >= 0,
					  msecs_to_jiffies(timeout_ms));
	if (ret < 0)
		return -EINTR;
	return ret ? 0 : -EBUSY;
}

static void hw_give_credit(struct erdma_diag *diag)
{
	atomic_inc(&diag->hw_credits);
	wake_up(&diag->hw_wait);
}

/**
 * erdma_diag_has_hw - does the device answer context queries?
 * @dev: device
 *
 * Return: true if it says so.
 */
bool erdma_diag_has_hw(const struct erdma_dev *dev)
{
	return dev->attrs.flags & ERDMA_FLAG_QUERY_QC;
}

/* Zero the bus addresses of a context */
static void hw_hide(const struct hw_query *query, struct erdma_diag_hw *hw)
{
	const u16 *secret;

	for (secret = query->secret; *secret; secret++)
		memset(hw->data + *secret, 0, sizeof(__le64));
}

/* Once, and not while many commands wait for an answer in vain */
static int hw_ask(struct erdma_dev *dev, const struct hw_query *query, u32 index,
		  u32 timeout_ms, struct erdma_diag_hw *hw)
{
	u8 syndrome = 0;
	int ret;

	if (READ_ONCE(dev->cmdq.quarantined) >= ERDMA_DIAG_HW_MAX_STUCK)
		return -EBUSY;
	ret = erdma_exec_query(dev, query->submod, query->opcode, index, hw->data, query->len,
			       &syndrome, timeout_ms);
	hw->syndrome = syndrome;
	hw->len = ret ? 0 : query->len;
	return ret;
}

/**
 * erdma_diag_raw_hw - the context of an object, for rdma netlink
 * @dev: device
 * @obj: ERDMA_DIAG_OBJ_*
 * @id: its number; need not exist
 * @hw: zeroed by the caller; its data and length are filled
 *
 * The caller is an administrator: the core asks for raw contexts on behalf of nobody
 * else. Bus addresses are zero if the kernel is locked down for confidentiality.
 *
 * Context: process; sends a command.
 * Return: 0; -EOPNOTSUPP: the device has no such query; else see erdma_exec_query().
 */
int erdma_diag_raw_hw(struct erdma_dev *dev, u32 obj, u32 id, struct erdma_diag_hw *hw)
{
	const struct hw_query *query;
	u32 index;
	int ret;

	query = hw_find(obj, id, &index);
	if (!query || !erdma_diag_has_hw(dev))
		return -EOPNOTSUPP;
	ret = hw_ask(dev, query, index, ERDMA_DIAG_HW_MS, hw);
	if (!ret && security_locked_down(ERDMA_LOCKDOWN_SECRETS))
		hw_hide(query, hw);
	return ret;
}

/**
 * erdma_diag_hw_left - how long the device may take for the next answer
 * @req: a call that has a budget of time for the device, with its deadline
 *
 * Return: milliseconds, 0: the time is over.
 */
u32 erdma_diag_hw_left(const struct erdma_diag_req *req)
{
	unsigned long now = jiffies;

	if (time_after_eq(now, req->deadline))
		return 0;
	return min_t(u32, jiffies_to_msecs(req->deadline - now), ERDMA_DIAG_HW_MS);
}

/**
 * erdma_diag_query_hw - ask the device for the context of an object
 * @dev: device
 * @req: the call
 * @obj: ERDMA_DIAG_OBJ_*
 * @id: number of an object that existed a moment ago; not held
 * @timeout_ms: for the wait until it is this call's turn, and for the answer; 0: the
 *	device is not asked, the status is ETIMEDOUT
 * @hw: zeroed by the caller; a failure is reported in its status
 */
void erdma_diag_query_hw(struct erdma_dev *dev, const struct erdma_diag_req *req,
			 u32 obj, u32 id, u32 timeout_ms, struct erdma_diag_hw *hw)
{
	const struct hw_query *query;
	u32 index;
	int ret;

	query = hw_find(obj, id, &index);
	if (!query || !erdma_diag_has_hw(dev)) {
		hw->status = EOPNOTSUPP;
		return;
	}
	if (!timeout_ms) {
		hw->status = ETIMEDOUT;
		return;
	}
	ret = hw_take_credit(req->diag, timeout_ms);
	if (!ret) {
		ret = hw_ask(dev, query, index, timeout_ms, hw);
		hw_give_credit(req->diag);
	}
	if (ret) {
		memset(hw->data, 0, sizeof(hw->data));
		hw->status = -ret;
		return;
	}
	if (!req->who->secrets)
		hw_hide(query, hw);
}
