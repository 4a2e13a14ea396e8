/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The port counters, one list for who counts and who shows them. Each list is an
 * X-macro of X(suffix of the enum, name, suffix of the group, is error, what it counts):
 * the name is that of rdma netlink and sysfs; an error counts what went wrong.
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
	X(MMAP_FAILED, "mmap_failed", VERBS, 1, "doorbell pages that could not be mapped")

#endif /* ERDMA_COUNTERS_H */
