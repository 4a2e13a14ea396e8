/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The only place that turns codes into words. Each list is an X-macro of
 * X(code, word, sentence); erdma_name_*() return the word, or NULL for a code
 * the list does not have.
 */
#ifndef ERDMA_NAMES_H
#define ERDMA_NAMES_H

#include "erdma_hw.h"

#define ERDMA_WR_OPCODES(X) \
	X(ERDMA_OP_WRITE, "RDMA_WRITE", "write to remote memory") \
	X(ERDMA_OP_READ, "RDMA_READ", "read from remote memory") \
	X(ERDMA_OP_SEND, "SEND", "send") \
	X(ERDMA_OP_SEND_IMM, "SEND_WITH_IMM", "send with immediate data") \
	X(ERDMA_OP_RECV, "RECV", "receive of a send") \
	X(ERDMA_OP_RECV_WRITE_IMM, "RECV_RDMA_WITH_IMM", "receive of a write with immediate") \
	X(ERDMA_OP_RECV_INV, "RECV_WITH_INV", "receive of a send with invalidate") \
	X(ERDMA_OP_REQ_ERR, "REQ_ERR", "device internal: request error") \
	X(ERDMA_OP_READ_RESP, "READ_RESP", "device internal: read response") \
	X(ERDMA_OP_WRITE_IMM, "RDMA_WRITE_WITH_IMM", "write with immediate data") \
	X(ERDMA_OP_RECV_ERR, "RECV_ERR", "device internal: receive error") \
	X(ERDMA_OP_INVALIDATE, "INVALIDATE", "device internal: invalidate") \
	X(ERDMA_OP_RECV_SEND_IMM, "RECV_WITH_IMM", "receive of a send with immediate") \
	X(ERDMA_OP_SEND_INV, "SEND_WITH_INV", "send and invalidate a remote key") \
	X(ERDMA_OP_REG_MR, "REG_MR", "register a fast-registration memory region") \
	X(ERDMA_OP_LOCAL_INV, "LOCAL_INV", "invalidate a local key") \
	X(ERDMA_OP_READ_INV, "RDMA_READ_WITH_INV", "read, then invalidate the local key") \
	X(ERDMA_OP_ATOMIC_CAS, "ATOMIC_CMP_AND_SWP", "atomic compare and swap") \
	X(ERDMA_OP_ATOMIC_FAA, "ATOMIC_FETCH_AND_ADD", "atomic fetch and add")

#define ERDMA_SYNDROMES(X) \
	X(ERDMA_WC_SUCCESS, "success", "completed") \
	X(ERDMA_WC_GENERAL_ERR, "general-error", "error of the peer, or one without a reason") \
	X(ERDMA_WC_RQE_FORMAT, "rqe-format", "malformed receive request") \
	X(ERDMA_WC_RECV_STAG, "recv-key-invalid", "receive: key unknown or invalidated") \
	X(ERDMA_WC_RECV_BOUNDS, "recv-out-of-bounds", \
	  "receive: address range outside the region or the buffer") \
	X(ERDMA_WC_RECV_RIGHTS, "recv-no-right", "receive: the region does not grant this access") \
	X(ERDMA_WC_RECV_PD, "recv-wrong-pd", \
	  "receive: the region belongs to another protection domain") \
	X(ERDMA_WC_RECV_WRAP, "recv-address-wrap", "receive: address range wraps around") \
	X(ERDMA_WC_SQE_FORMAT, "sqe-format", "malformed send request") \
	X(ERDMA_WC_ORD, "ord-exceeded", "too many outstanding reads or atomics") \
	X(ERDMA_WC_SEND_STAG, "send-key-invalid", "local key unknown or invalidated") \
	X(ERDMA_WC_SEND_BOUNDS, "send-out-of-bounds", "local address range outside its region") \
	X(ERDMA_WC_SEND_RIGHTS, "send-no-right", "local region does not grant this access") \
	X(ERDMA_WC_SEND_PD, "send-wrong-pd", "local region belongs to another protection domain") \
	X(ERDMA_WC_SEND_WRAP, "send-address-wrap", "local address range wraps around") \
	X(ERDMA_WC_FLUSHED, "flushed", "the queue pair stopped before this request was executed") \
	X(ERDMA_WC_RETRY_EXC, "retry-exceeded", "the peer did not answer in time")

/* How the verbs report a syndrome (8.4): X(code, verbs status, vendor_err) */
#define ERDMA_SYNDROME_RESULTS(X) \
	X(ERDMA_WC_SUCCESS, SUCCESS, 0) \
	X(ERDMA_WC_GENERAL_ERR, GENERAL_ERR, 0) \
	X(ERDMA_WC_RQE_FORMAT, GENERAL_ERR, 0x01) \
	X(ERDMA_WC_RECV_STAG, REM_ACCESS_ERR, 0x02) \
	X(ERDMA_WC_RECV_BOUNDS, REM_ACCESS_ERR, 0x03) \
	X(ERDMA_WC_RECV_RIGHTS, REM_ACCESS_ERR, 0x04) \
	X(ERDMA_WC_RECV_PD, REM_ACCESS_ERR, 0x05) \
	X(ERDMA_WC_RECV_WRAP, REM_ACCESS_ERR, 0x06) \
	X(ERDMA_WC_SQE_FORMAT, LOC_QP_OP_ERR, 0x20) \
	X(ERDMA_WC_ORD, GENERAL_ERR, 0x21) \
	X(ERDMA_WC_SEND_STAG, LOC_ACCESS_ERR, 0x30) \
	X(ERDMA_WC_SEND_BOUNDS, LOC_ACCESS_ERR, 0x31) \
	X(ERDMA_WC_SEND_RIGHTS, LOC_ACCESS_ERR, 0x32) \
	X(ERDMA_WC_SEND_PD, LOC_ACCESS_ERR, 0x33) \
	X(ERDMA_WC_SEND_WRAP, LOC_ACCESS_ERR, 0x34) \
	X(ERDMA_WC_FLUSHED, WR_FLUSH_ERR, 0) \
	X(ERDMA_WC_RETRY_EXC, RETRY_EXC_ERR, 0)

#define ERDMA_QP_STATES(X) \
	X(ERDMA_QPS_IDLE, "IDLE", "not connected") \
	X(ERDMA_QPS_RTR, "RTR", "ready to receive") \
	X(ERDMA_QPS_RTS, "RTS", "connected, ready to send") \
	X(ERDMA_QPS_CLOSING, "CLOSING", "disconnecting; queues flush") \
	X(ERDMA_QPS_TERMINATE, "TERM", "terminating; queues flush") \
	X(ERDMA_QPS_ERROR, "ERR", "stopped; queues flush")

#define ERDMA_AE_TYPES(X) \
	X(ERDMA_AE_QP_FATAL, "QP_FATAL", "fatal error of a queue pair") \
	X(ERDMA_AE_RQ_ERR, "QP_RQ_ERR", "error of a receive queue") \
	X(ERDMA_AE_ACCESS_ERR, "QP_ACCESS_ERR", "refused remote access") \
	X(ERDMA_AE_CQ_ERR, "CQ_ERR", "completion queue unusable") \
	X(ERDMA_AE_OTHER, "OTHER", "other error of a queue pair")

#define ERDMA_CCS(X) \
	X(ERDMA_CC_NEWRENO, "newreno", "NewReno") \
	X(ERDMA_CC_CUBIC, "cubic", "CUBIC") \
	X(ERDMA_CC_HPCC_RTT, "hpcc-rtt", "HPCC, round-trip time") \
	X(ERDMA_CC_HPCC_ECN, "hpcc-ecn", "HPCC, ECN") \
	X(ERDMA_CC_HPCC_INT, "hpcc-int", "HPCC, in-band telemetry")

#define ERDMA_CMDS_RDMA(X) \
	X(ERDMA_CMD_QUERY_DEVICE, "QUERY_DEVICE", "capability words") \
	X(ERDMA_CMD_CREATE_QP, "CREATE_QP", "create a queue pair") \
	X(ERDMA_CMD_DESTROY_QP, "DESTROY_QP", "destroy a queue pair") \
	X(ERDMA_CMD_MODIFY_QP, "MODIFY_QP", "change a queue pair's state") \
	X(ERDMA_CMD_CREATE_CQ, "CREATE_CQ", "create a completion queue") \
	X(ERDMA_CMD_DESTROY_CQ, "DESTROY_CQ", "destroy a completion queue") \
	X(ERDMA_CMD_REFLUSH, "REFLUSH", "flush up to the newest producer indices") \
	X(ERDMA_CMD_REG_MR, "REG_MR", "register a memory region") \
	X(ERDMA_CMD_DEREG_MR, "DEREG_MR", "deregister a memory region") \
	X(ERDMA_CMD_QUERY_QPC, "QUERY_QPC", "device context of a queue pair") \
	X(ERDMA_CMD_QUERY_CQC, "QUERY_CQC", "device context of a completion queue") \
	X(ERDMA_CMD_SET_GID, "SET_GID", "set or delete a GID") \
	X(ERDMA_CMD_CREATE_AH, "CREATE_AH", "create an address handle") \
	X(ERDMA_CMD_DESTROY_AH, "DESTROY_AH", "destroy an address handle") \
	X(ERDMA_CMD_QUERY_QP, "QUERY_QP", "query a queue pair")

#define ERDMA_CMDS_COMMON(X) \
	X(ERDMA_CMD_CREATE_EQ, "CREATE_EQ", "create an event queue") \
	X(ERDMA_CMD_DESTROY_EQ, "DESTROY_EQ", "destroy an event queue") \
	X(ERDMA_CMD_QUERY_FW_INFO, "QUERY_FW_INFO", "firmware version") \
	X(ERDMA_CMD_CONF_MTU, "CONF_MTU", "MTU of the network interface") \
	X(ERDMA_CMD_GET_STATS, "GET_STATS", "traffic counters") \
	X(ERDMA_CMD_CONF_DEVICE, "CONF_DEVICE", "host page size") \
	X(ERDMA_CMD_QUERY_EQC, "QUERY_EQC", "device context of an event queue") \
	X(ERDMA_CMD_SET_RETRANS_NUM, "SET_RETRANS_NUM", "retransmission count") \
	X(ERDMA_CMD_ALLOC_DB, "ALLOC_DB", "allocate doorbell pages") \
	X(ERDMA_CMD_FREE_DB, "FREE_DB", "free doorbell pages") \
	X(ERDMA_CMD_SET_EXT_ATTR, "SET_EXT_ATTR", "set extended attributes") \
	X(ERDMA_CMD_GET_EXT_ATTR, "GET_EXT_ATTR", "get extended attributes")

#define ERDMA_MR_TYPES(X) \
	X(ERDMA_MR_NORMAL, "normal", "registered memory") \
	X(ERDMA_MR_FRMR, "frmr", "fast registration") \
	X(ERDMA_MR_DMA, "dma", "all bus addresses")

/* Capability flags, section 6.3 */
#define ERDMA_CAP_FLAGS(X) \
	X(ERDMA_FLAG_EXT_DB, "ext-db", "doorbell pages per context") \
	X(ERDMA_FLAG_IPV6, "ipv6", "IPv6 connections") \
	X(ERDMA_FLAG_MTT_VA, "mtt-va", "scattered translation tables") \
	X(ERDMA_FLAG_QUERY_QC, "query-qc", "device contexts can be read") \
	X(ERDMA_FLAG_ATOMIC, "atomic", "atomic operations")

#define ERDMA_NAME_CASE(code, word, text)	case (code): return (word);
#define ERDMA_TEXT_CASE(code, word, text)	case (code): return (text);

#define ERDMA_NAME_FN(fn, list)						\
static inline const char *erdma_name_##fn(__u32 code)			\
{									\
	switch (code) {							\
	list(ERDMA_NAME_CASE)						\
	}								\
	return (const char *)0;						\
}									\
static inline const char *erdma_text_##fn(__u32 code)			\
{									\
	switch (code) {							\
	list(ERDMA_TEXT_CASE)						\
	}								\
	return (const char *)0;						\
}

ERDMA_NAME_FN(wr_opcode, ERDMA_WR_OPCODES)
ERDMA_NAME_FN(syndrome, ERDMA_SYNDROMES)
ERDMA_NAME_FN(qp_state, ERDMA_QP_STATES)
ERDMA_NAME_FN(ae_type, ERDMA_AE_TYPES)
ERDMA_NAME_FN(cc, ERDMA_CCS)
ERDMA_NAME_FN(cmd_rdma, ERDMA_CMDS_RDMA)
ERDMA_NAME_FN(cmd_common, ERDMA_CMDS_COMMON)
ERDMA_NAME_FN(mr_type, ERDMA_MR_TYPES)
ERDMA_NAME_FN(cap_flag, ERDMA_CAP_FLAGS)

static inline const char *erdma_name_cmd(__u32 submod, __u32 opcode)
{
	return submod == ERDMA_SUBMOD_RDMA ? erdma_name_cmd_rdma(opcode) :
	       submod == ERDMA_SUBMOD_COMMON ? erdma_name_cmd_common(opcode) :
	       (const char *)0;
}

#endif /* ERDMA_NAMES_H */
