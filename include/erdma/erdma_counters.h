/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The port counters, one list for who counts and who shows them. Each list is an
 * X-macro of X(suffix of the enum, name, suffix of the group, is error): the name is
 * that of rdma netlink and sysfs; an error counts what went wrong.
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
	X(TX_REQS, "tx_reqs", TRAFFIC, 0) \
	X(TX_PKTS, "tx_pkts", TRAFFIC, 0) \
	X(TX_BYTES, "tx_bytes", TRAFFIC, 0) \
	X(TX_DISABLE_DROPS, "tx_disable_drops", TRAFFIC, 1) \
	X(TX_BPS_LIMIT_DROPS, "tx_bps_limit_drops", TRAFFIC, 1) \
	X(TX_PPS_LIMIT_DROPS, "tx_pps_limit_drops", TRAFFIC, 1) \
	X(RX_PKTS, "rx_pkts", TRAFFIC, 0) \
	X(RX_BYTES, "rx_bytes", TRAFFIC, 0) \
	X(RX_DISABLE_DROPS, "rx_disable_drops", TRAFFIC, 1) \
	X(RX_BPS_LIMIT_DROPS, "rx_bps_limit_drops", TRAFFIC, 1) \
	X(RX_PPS_LIMIT_DROPS, "rx_pps_limit_drops", TRAFFIC, 1)

/* Of the driver */
#define ERDMA_DRIVER_COUNTERS(X) \
	X(CMDQ_SUBMITTED, "cmdq_submitted", CMDQ, 0) \
	X(CMDQ_COMPLETED, "cmdq_completed", CMDQ, 0) \
	X(CMDQ_FAILED, "cmdq_failed", CMDQ, 1) \
	X(CMDQ_TIMEOUTS, "cmdq_timeouts", CMDQ, 1) \
	X(CMDQ_LATE, "cmdq_late", CMDQ, 1) \
	X(CMDQ_LOST, "cmdq_lost", CMDQ, 1) \
	X(CMDQ_LOST_IRQS, "cmdq_lost_irqs", CMDQ, 1) \
	X(CMDQ_BAD_CQES, "cmdq_bad_cqes", CMDQ, 1) \
	X(CMDQ_EVENTS, "cmdq_events", CMDQ, 0) \
	X(CMDQ_ARMS, "cmdq_arms", CMDQ, 0) \
	X(CMDQ_EQ_ARMS, "cmdq_eq_arms", CMDQ, 0) \
	X(GET_STATS_FAILED, "get_stats_failed", VERBS, 1) \
	X(AEQ_EVENTS, "aeq_events", EVENTS, 0) \
	X(AEQ_ARMS, "aeq_arms", EVENTS, 0) \
	X(AEQ_QP_FATAL, "aeq_qp_fatal", EVENTS, 1) \
	X(AEQ_RQ_ERR, "aeq_rq_err", EVENTS, 1) \
	X(AEQ_ACCESS_ERR, "aeq_access_err", EVENTS, 1) \
	X(AEQ_CQ_ERR, "aeq_cq_err", EVENTS, 1) \
	X(AEQ_OTHER, "aeq_other", EVENTS, 1) \
	X(AEQ_UNKNOWN, "aeq_unknown", EVENTS, 1) \
	X(AEQ_LOST_IRQS, "aeq_lost_irqs", EVENTS, 1) \
	X(CEQ_EVENTS, "ceq_events", EVENTS, 0) \
	X(CEQ_UNKNOWN, "ceq_unknown", EVENTS, 1) \
	X(CEQ_LOST_IRQS, "ceq_lost_irqs", EVENTS, 1) \
	X(CEQ_LOST_EVENTS, "ceq_lost_events", EVENTS, 1) \
	X(CQ_HIDDEN, "cq_hidden", EVENTS, 1) \
	X(LOST_CMDQ_DEAD, "lost_cmdq_dead", EVENTS, 1) \
	X(LOST_QP_STOP, "lost_qp_stop", EVENTS, 1) \
	X(LOST_EQ_HIDDEN, "lost_eq_hidden", EVENTS, 1) \
	X(LOST_PCI_ERROR, "lost_pci_error", EVENTS, 1) \
	X(LOST_PCI_RESET, "lost_pci_reset", EVENTS, 0) \
	X(LOST_SUSPEND, "lost_suspend", EVENTS, 0) \
	X(LOST_UNPLUGGED, "lost_unplugged", EVENTS, 1) \
	X(RECOVERED, "recovered", EVENTS, 0) \
	X(RECOVERY_FAILED, "recovery_failed", EVENTS, 1) \
	X(CM_LISTEN, "cm_listen", CM, 0) \
	X(CM_LISTEN_FAILED, "cm_listen_failed", CM, 1) \
	X(CM_LISTEN_DESTROY, "cm_listen_destroy", CM, 0) \
	X(CM_ACCEPT, "cm_accept", CM, 0) \
	X(CM_ACCEPT_OK, "cm_accept_ok", CM, 0) \
	X(CM_ACCEPT_FAILED, "cm_accept_failed", CM, 1) \
	X(CM_REJECT, "cm_reject", CM, 0) \
	X(CM_REJECT_FAILED, "cm_reject_failed", CM, 1) \
	X(CM_CONNECT, "cm_connect", CM, 0) \
	X(CM_CONNECT_OK, "cm_connect_ok", CM, 0) \
	X(CM_CONNECT_FAILED, "cm_connect_failed", CM, 1) \
	X(CM_CONNECT_TIMEOUTS, "cm_connect_timeouts", CM, 1) \
	X(CM_CONNECT_REJECTED, "cm_connect_rejected", CM, 1) \
	X(CM_CONNECT_RESET, "cm_connect_reset", CM, 1) \
	X(CM_MPA_ERR, "cm_mpa_err", CM, 1) \
	X(CM_DISCONNECT, "cm_disconnect", CM, 0) \
	X(ALLOC_PD, "alloc_pd", VERBS, 0) \
	X(ALLOC_PD_FAILED, "alloc_pd_failed", VERBS, 1) \
	X(DEALLOC_PD, "dealloc_pd", VERBS, 0) \
	X(ALLOC_UCTX, "alloc_uctx", VERBS, 0) \
	X(ALLOC_UCTX_FAILED, "alloc_uctx_failed", VERBS, 1) \
	X(DEALLOC_UCTX, "dealloc_uctx", VERBS, 0) \
	X(CREATE_CQ, "create_cq", VERBS, 0) \
	X(CREATE_CQ_FAILED, "create_cq_failed", VERBS, 1) \
	X(DESTROY_CQ, "destroy_cq", VERBS, 0) \
	X(DESTROY_CQ_FAILED, "destroy_cq_failed", VERBS, 1) \
	X(CREATE_QP, "create_qp", VERBS, 0) \
	X(CREATE_QP_FAILED, "create_qp_failed", VERBS, 1) \
	X(DESTROY_QP, "destroy_qp", VERBS, 0) \
	X(DESTROY_QP_FAILED, "destroy_qp_failed", VERBS, 1) \
	X(GET_DMA_MR, "get_dma_mr", VERBS, 0) \
	X(GET_DMA_MR_FAILED, "get_dma_mr_failed", VERBS, 1) \
	X(ALLOC_MR, "alloc_mr", VERBS, 0) \
	X(ALLOC_MR_FAILED, "alloc_mr_failed", VERBS, 1) \
	X(REG_USER_MR, "reg_user_mr", VERBS, 0) \
	X(REG_USER_MR_FAILED, "reg_user_mr_failed", VERBS, 1) \
	X(DEREG_MR, "dereg_mr", VERBS, 0) \
	X(DEREG_MR_FAILED, "dereg_mr_failed", VERBS, 1) \
	X(MMAP_FAILED, "mmap_failed", VERBS, 1)

#endif /* ERDMA_COUNTERS_H */
