/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The counters, one list for who counts and who shows them. Each list is an
 * X-macro of X(suffix of the enum, name, suffix of the group, is error, what it counts):
 * the name is that of rdma netlink and sysfs; an error counts what went wrong.
 *
 * Those of the port are in rdma netlink, too, which has room for a page of them:
 * what is counted in detail is a counter of the RDMA device, in sysfs only.
 */
#ifndef ERDMA_COUNTERS_H
#define ERDMA_COUNTERS_H

/* Groups: X(suffix of the enum, name) */
#define ERDMA_COUNTER_GROUPS(X) \
	X(TRAFFIC, "traffic") \
	X(CMDQ, "cmdq") \
	X(EVENTS, "events") \
	X(CM, "cm") \
	X(VERBS, "verbs")

/* Of the device (docs/erdma-hardware.md, section 14), in the order of its response */
#define ERDMA_DEVICE_COUNTERS(X) \
	X(TX_REQS, "tx_reqs", TRAFFIC, 0, "requests that the device began to send") \
	X(TX_PKTS, "tx_pkts", TRAFFIC, 0, "packets sent") \
	X(TX_BYTES, "tx_bytes", TRAFFIC, 0, "bytes sent") \
	X(TX_DISABLE_DROPS, "tx_disable_drops", TRAFFIC, 1, \
	  "packets not sent: sending was disabled") \
	X(TX_BPS_LIMIT_DROPS, "tx_bps_limit_drops", TRAFFIC, 1, \
	  "packets not sent: limit of bytes per second") \
	X(TX_PPS_LIMIT_DROPS, "tx_pps_limit_drops", TRAFFIC, 1, \
	  "packets not sent: limit of packets per second") \
	X(RX_PKTS, "rx_pkts", TRAFFIC, 0, "packets received") \
	X(RX_BYTES, "rx_bytes", TRAFFIC, 0, "bytes received") \
	X(RX_DISABLE_DROPS, "rx_disable_drops", TRAFFIC, 1, \
	  "packets dropped on arrival: receiving was disabled") \
	X(RX_BPS_LIMIT_DROPS, "rx_bps_limit_drops", TRAFFIC, 1, \
	  "packets dropped on arrival: limit of bytes per second") \
	X(RX_PPS_LIMIT_DROPS, "rx_pps_limit_drops", TRAFFIC, 1, \
	  "packets dropped on arrival: limit of packets per second")

/* Of the driver */
#define ERDMA_DRIVER_COUNTERS(X) \
	X(CMDQ_SUBMITTED, "cmdq_submitted", CMDQ, 0, "commands sent to the device") \
	X(CMDQ_COMPLETED, "cmdq_completed", CMDQ, 0, "commands that the device did") \
	X(CMDQ_FAILED, "cmdq_failed", CMDQ, 1, "commands that the device refused") \
	X(CMDQ_TIMEOUTS, "cmdq_timeouts", CMDQ, 1, "commands without an answer within 15 s") \
	X(CMDQ_LATE, "cmdq_late", CMDQ, 1, "answers that came after the timeout") \
	X(CMDQ_LOST, "cmdq_lost", CMDQ, 1, \
	  "commands that were never answered, though later ones were") \
	X(CMDQ_LOST_IRQS, "cmdq_lost_irqs", CMDQ, 1, "answers found without an interrupt") \
	X(CMDQ_BAD_CQES, "cmdq_bad_cqes", CMDQ, 1, "completions of commands that fit no command") \
	X(CMDQ_EVENTS, "cmdq_events", CMDQ, 0, "events of the command queue") \
	X(CMDQ_ARMS, "cmdq_arms", CMDQ, 0, "arm doorbells of the command CQ") \
	X(CMDQ_EQ_ARMS, "cmdq_eq_arms", CMDQ, 0, "arm doorbells of the command EQ") \
	X(GET_STATS_FAILED, "get_stats_failed", CMDQ, 1, \
	  "GET_STATS commands that failed: the traffic counters were the last known ones") \
	X(AEQ_EVENTS, "aeq_events", EVENTS, 0, "asynchronous events") \
	X(AEQ_ARMS, "aeq_arms", EVENTS, 0, "arm doorbells of the asynchronous EQ") \
	X(AEQ_QP_FATAL, "aeq_qp_fatal", EVENTS, 1, "events: fatal error of a QP") \
	X(AEQ_RQ_ERR, "aeq_rq_err", EVENTS, 1, "events: error of a receive queue") \
	X(AEQ_ACCESS_ERR, "aeq_access_err", EVENTS, 1, "events: remote access refused") \
	X(AEQ_CQ_ERR, "aeq_cq_err", EVENTS, 1, "events: completion queue unusable") \
	X(AEQ_OTHER, "aeq_other", EVENTS, 1, \
	  "events: other error of a QP, or a type that is reserved") \
	X(AEQ_UNKNOWN, "aeq_unknown", EVENTS, 1, "events about an object that does not exist") \
	X(AEQ_LOST_IRQS, "aeq_lost_irqs", EVENTS, 1, \
	  "asynchronous events found without an interrupt") \
	X(CEQ_EVENTS, "ceq_events", EVENTS, 0, "completion events") \
	X(CEQ_UNKNOWN, "ceq_unknown", EVENTS, 1, \
	  "completion events about a CQ that does not exist") \
	X(CEQ_LOST_IRQS, "ceq_lost_irqs", EVENTS, 1, \
	  "completion events found without an interrupt") \
	X(CEQ_LOST_EVENTS, "ceq_lost_events", EVENTS, 1, \
	  "completion events that never came; the driver delivered them itself") \
	X(CQ_HIDDEN, "cq_hidden", EVENTS, 1, \
	  "CQs with an entry whose owner bit is wrong, which hides all later ones") \
	X(LOST_CMDQ_DEAD, "lost_cmdq_dead", EVENTS, 1, "device lost: the command queue is dead") \
	X(LOST_QP_STOP, "lost_qp_stop", EVENTS, 1, "device lost: a QP could not be stopped") \
	X(LOST_EQ_HIDDEN, "lost_eq_hidden", EVENTS, 1, \
	  "device lost: an entry of an event queue has a wrong owner bit") \
	X(LOST_PCI_ERROR, "lost_pci_error", EVENTS, 1, "device lost: PCI error") \
	X(LOST_PCI_RESET, "lost_pci_reset", EVENTS, 0, "device reset through PCI") \
	X(LOST_SUSPEND, "lost_suspend", EVENTS, 0, "device reset because the machine slept") \
	X(LOST_UNPLUGGED, "lost_unplugged", EVENTS, 1, "device lost: unplugged") \
	X(RECOVERED, "recovered", EVENTS, 0, "recoveries of a lost device") \
	X(RECOVERY_FAILED, "recovery_failed", EVENTS, 1, "recoveries that failed") \
	X(CM_LISTEN, "cm_listen", CM, 0, "listeners made") \
	X(CM_LISTEN_FAILED, "cm_listen_failed", CM, 1, "listeners that could not be made") \
	X(CM_LISTEN_DESTROY, "cm_listen_destroy", CM, 0, "listeners removed") \
	X(CM_ACCEPT, "cm_accept", CM, 0, "connection requests accepted by an application") \
	X(CM_ACCEPT_OK, "cm_accept_ok", CM, 0, "accepted connections that came about") \
	X(CM_ACCEPT_FAILED, "cm_accept_failed", CM, 1, \
	  "incoming connections that failed, accepted or not") \
	X(CM_REJECT, "cm_reject", CM, 0, "connection requests rejected by an application") \
	X(CM_REJECT_FAILED, "cm_reject_failed", CM, 1, "rejections that failed") \
	X(CM_CONNECT, "cm_connect", CM, 0, "connections begun by this host") \
	X(CM_CONNECT_OK, "cm_connect_ok", CM, 0, "connections begun by this host that came about") \
	X(CM_CONNECT_FAILED, "cm_connect_failed", CM, 1, \
	  "connections begun by this host that failed") \
	X(CM_CONNECT_TIMEOUTS, "cm_connect_timeouts", CM, 1, \
	  "connections that failed: no answer in time") \
	X(CM_CONNECT_REJECTED, "cm_connect_rejected", CM, 1, \
	  "connections that failed: rejected by the peer") \
	X(CM_CONNECT_RESET, "cm_connect_reset", CM, 1, \
	  "connections that failed: closed or reset by the peer") \
	X(CM_MPA_ERR, "cm_mpa_err", CM, 1, "MPA frames that make no sense") \
	X(CM_DISCONNECT, "cm_disconnect", CM, 0, "connections that ended") \
	X(ALLOC_PD, "alloc_pd", VERBS, 0, "protection domains made") \
	X(ALLOC_PD_FAILED, "alloc_pd_failed", VERBS, 1, \
	  "protection domains that could not be made") \
	X(DEALLOC_PD, "dealloc_pd", VERBS, 0, "protection domains removed") \
	X(ALLOC_UCTX, "alloc_uctx", VERBS, 0, "user contexts opened") \
	X(ALLOC_UCTX_FAILED, "alloc_uctx_failed", VERBS, 1, \
	  "user contexts that could not be opened") \
	X(DEALLOC_UCTX, "dealloc_uctx", VERBS, 0, "user contexts closed") \
	X(CREATE_CQ, "create_cq", VERBS, 0, "completion queues made") \
	X(CREATE_CQ_FAILED, "create_cq_failed", VERBS, 1, \
	  "completion queues that could not be made") \
	X(DESTROY_CQ, "destroy_cq", VERBS, 0, "completion queues removed") \
	X(DESTROY_CQ_FAILED, "destroy_cq_failed", VERBS, 1, \
	  "completion queues whose removal failed at the device") \
	X(CREATE_QP, "create_qp", VERBS, 0, "queue pairs made") \
	X(CREATE_QP_FAILED, "create_qp_failed", VERBS, 1, "queue pairs that could not be made") \
	X(DESTROY_QP, "destroy_qp", VERBS, 0, "queue pairs removed") \
	X(DESTROY_QP_FAILED, "destroy_qp_failed", VERBS, 1, \
	  "queue pairs whose removal failed at the device") \
	X(GET_DMA_MR, "get_dma_mr", VERBS, 0, "regions of all memory made for the kernel") \
	X(GET_DMA_MR_FAILED, "get_dma_mr_failed", VERBS, 1, \
	  "regions of all memory that could not be made") \
	X(ALLOC_MR, "alloc_mr", VERBS, 0, "fast-registration regions made") \
	X(ALLOC_MR_FAILED, "alloc_mr_failed", VERBS, 1, \
	  "fast-registration regions that could not be made") \
	X(REG_USER_MR, "reg_user_mr", VERBS, 0, "regions of applications registered") \
	X(REG_USER_MR_FAILED, "reg_user_mr_failed", VERBS, 1, \
	  "regions of applications that could not be registered") \
	X(DEREG_MR, "dereg_mr", VERBS, 0, "regions deregistered") \
	X(DEREG_MR_FAILED, "dereg_mr_failed", VERBS, 1, \
	  "regions whose deregistration failed at the device") \
	X(MMAP_FAILED, "mmap_failed", VERBS, 1, "doorbell pages that could not be mapped") \
	X(LINK_DOWNED, "link_downed", EVENTS, 1, "times that the port went down")

/* Of the port, too: what is made from others, and named as generic monitors expect */
#define ERDMA_SUM_COUNTERS(X) \
	X(TX_DROPS, "tx_drops", TRAFFIC, 1, "packets not sent, for any reason") \
	X(RX_DROPS, "rx_drops", TRAFFIC, 1, "packets dropped on arrival, for any reason")

/* ---- in detail: of the RDMA device -------------------------------------------- */

/* Commands that the driver sends: Y(X, sub-module, suffix of the opcode, name) */
#define ERDMA_COUNTED_CMDS(Y, X) \
	Y(X, RDMA, QUERY_DEVICE, "query_device") \
	Y(X, RDMA, CREATE_QP, "create_qp") \
	Y(X, RDMA, DESTROY_QP, "destroy_qp") \
	Y(X, RDMA, MODIFY_QP, "modify_qp") \
	Y(X, RDMA, CREATE_CQ, "create_cq") \
	Y(X, RDMA, DESTROY_CQ, "destroy_cq") \
	Y(X, RDMA, REFLUSH, "reflush") \
	Y(X, RDMA, REG_MR, "reg_mr") \
	Y(X, RDMA, DEREG_MR, "dereg_mr") \
	Y(X, RDMA, QUERY_QPC, "query_qpc") \
	Y(X, RDMA, QUERY_CQC, "query_cqc") \
	Y(X, COMMON, CREATE_EQ, "create_eq") \
	Y(X, COMMON, DESTROY_EQ, "destroy_eq") \
	Y(X, COMMON, QUERY_FW_INFO, "query_fw_info") \
	Y(X, COMMON, CONF_MTU, "conf_mtu") \
	Y(X, COMMON, GET_STATS, "get_stats") \
	Y(X, COMMON, CONF_DEVICE, "conf_device") \
	Y(X, COMMON, QUERY_EQC, "query_eqc") \
	Y(X, COMMON, ALLOC_DB, "alloc_db") \
	Y(X, COMMON, FREE_DB, "free_db")

/*
 * The states of a command, in the order of enum erdma_cmd_count. One that was not
 * answered in time and is answered later counts as both.
 */
#define ERDMA_CMD_COUNTER_ROWS(X, submod, id, name) \
	X(CMD_##id##_SENT, "cmd_" name "_sent", CMDQ, 0, "commands " name " sent") \
	X(CMD_##id##_OK, "cmd_" name "_ok", CMDQ, 0, "commands " name " that the device did") \
	X(CMD_##id##_REFUSED, "cmd_" name "_refused", CMDQ, 1, \
	  "commands " name " that the device refused") \
	X(CMD_##id##_TIMEOUTS, "cmd_" name "_timeouts", CMDQ, 1, \
	  "commands " name " without an answer in time")

enum erdma_cmd_count {
	ERDMA_CMD_COUNT_SENT,
	ERDMA_CMD_COUNT_OK,
	ERDMA_CMD_COUNT_REFUSED,
	ERDMA_CMD_COUNT_TIMEOUTS,
	ERDMA_CMD_COUNTS,
};

/* Asynchronous events by type, in the order of enum erdma_ae_type, the last is unknown */
#define ERDMA_COUNTED_EVENTS(Y, X) \
	Y(X, QP_FATAL, "qp_fatal") \
	Y(X, RQ_ERR, "rq_err") \
	Y(X, ACCESS_ERR, "access_err") \
	Y(X, CQ_ERR, "cq_err") \
	Y(X, OTHER, "other") \
	Y(X, UNKNOWN_TYPE, "unknown_type")

/* By subtype: what they mean is not known (docs/erdma-hardware.md, section 7.2) */
#define ERDMA_EVENT_COUNTER_ROWS(X, id, name) \
	X(AEQ_##id##_SUB0, "aeq_" name "_sub0", EVENTS, 1, \
	  "events " name " of subtype 0") \
	X(AEQ_##id##_SUB1, "aeq_" name "_sub1", EVENTS, 1, \
	  "events " name " of subtype 1") \
	X(AEQ_##id##_SUB2, "aeq_" name "_sub2", EVENTS, 1, \
	  "events " name " of subtype 2") \
	X(AEQ_##id##_SUB3, "aeq_" name "_sub3", EVENTS, 1, \
	  "events " name " of subtype 3") \
	X(AEQ_##id##_SUBX, "aeq_" name "_subx", EVENTS, 1, \
	  "events " name " of any other subtype")
#define ERDMA_EVENT_SUBTYPES	5	/* the last one stands for all others */

/* Failed requests of kernel consumers by cause, in the order of enum erdma_wc_syndrome */
#define ERDMA_WC_COUNTERS(X) \
	X(WC_GENERAL_ERR, "wc_general_error", VERBS, 1, \
	  "failed requests of the kernel: general error") \
	X(WC_RQE_FORMAT, "wc_rqe_format", VERBS, 1, \
	  "failed requests of the kernel: rqe format") \
	X(WC_RECV_STAG, "wc_recv_key_invalid", VERBS, 1, \
	  "failed requests of the kernel: recv key invalid") \
	X(WC_RECV_BOUNDS, "wc_recv_out_of_bounds", VERBS, 1, \
	  "failed requests of the kernel: recv out of bounds") \
	X(WC_RECV_RIGHTS, "wc_recv_no_right", VERBS, 1, \
	  "failed requests of the kernel: recv no right") \
	X(WC_RECV_PD, "wc_recv_wrong_pd", VERBS, 1, \
	  "failed requests of the kernel: recv wrong pd") \
	X(WC_RECV_WRAP, "wc_recv_address_wrap", VERBS, 1, \
	  "failed requests of the kernel: recv address wrap") \
	X(WC_SQE_FORMAT, "wc_sqe_format", VERBS, 1, \
	  "failed requests of the kernel: sqe format") \
	X(WC_ORD, "wc_ord_exceeded", VERBS, 1, \
	  "failed requests of the kernel: ord exceeded") \
	X(WC_SEND_STAG, "wc_send_key_invalid", VERBS, 1, \
	  "failed requests of the kernel: send key invalid") \
	X(WC_SEND_BOUNDS, "wc_send_out_of_bounds", VERBS, 1, \
	  "failed requests of the kernel: send out of bounds") \
	X(WC_SEND_RIGHTS, "wc_send_no_right", VERBS, 1, \
	  "failed requests of the kernel: send no right") \
	X(WC_SEND_PD, "wc_send_wrong_pd", VERBS, 1, \
	  "failed requests of the kernel: send wrong pd") \
	X(WC_SEND_WRAP, "wc_send_address_wrap", VERBS, 1, \
	  "failed requests of the kernel: send address wrap") \
	X(WC_FLUSHED, "wc_flushed", VERBS, 0, \
	  "failed requests of the kernel: flushed") \
	X(WC_RETRY_EXC, "wc_retry_exceeded", VERBS, 1, \
	  "failed requests of the kernel: retry exceeded")

/* Endpoints by the stage they reached, and by the one in which they failed */
#define ERDMA_STAGE_COUNTERS(X) \
	X(CM_STAGE_LISTEN, "cm_stage_listen", CM, 0, \
	  "connections that reached the stage: listen") \
	X(CM_STAGE_CONNECTING, "cm_stage_connecting", CM, 0, \
	  "connections that reached the stage: connecting") \
	X(CM_STAGE_WAIT_REPLY, "cm_stage_wait_reply", CM, 0, \
	  "connections that reached the stage: wait reply") \
	X(CM_STAGE_WAIT_REQUEST, "cm_stage_wait_request", CM, 0, \
	  "connections that reached the stage: wait request") \
	X(CM_STAGE_REQUESTED, "cm_stage_requested", CM, 0, \
	  "connections that reached the stage: requested") \
	X(CM_STAGE_CONNECTED, "cm_stage_connected", CM, 0, \
	  "connections that reached the stage: connected") \
	X(CM_STAGE_CLOSED, "cm_stage_closed", CM, 0, \
	  "connections that reached the stage: closed") \
	X(CM_CONNECTING_FAILED, "cm_connecting_failed", CM, 1, \
	  "connections that failed in the stage: connecting") \
	X(CM_WAIT_REPLY_FAILED, "cm_wait_reply_failed", CM, 1, \
	  "connections that failed in the stage: wait reply") \
	X(CM_WAIT_REQUEST_FAILED, "cm_wait_request_failed", CM, 1, \
	  "connections that failed in the stage: wait request") \
	X(CM_REQUESTED_FAILED, "cm_requested_failed", CM, 1, \
	  "connections that failed in the stage: requested")

#define ERDMA_DETAIL_COUNTERS(X) \
	ERDMA_COUNTED_CMDS(ERDMA_CMD_COUNTER_ROWS, X) \
	ERDMA_COUNTED_EVENTS(ERDMA_EVENT_COUNTER_ROWS, X) \
	ERDMA_WC_COUNTERS(X) \
	ERDMA_STAGE_COUNTERS(X)

#endif /* ERDMA_COUNTERS_H */
