/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counters of the vendor's driver by ours, for programs that know those names
 * (eadm stat --style vendor). Each line is X(its name, group of those that have no
 * counter here, our counter, second counter): its value is the sum of ours. What has
 * no counter here cannot happen with this driver and is always 0.
 */
#ifndef EADM_VENDOR_H
#define EADM_VENDOR_H

#define VENDOR_COUNTERS(X) \
	/* Listeners: tries are those that came about and those that did not */ \
	X("listen_create_cnt", NULL, "cm_listen", "cm_listen_failed") \
	/* No socket is ever made for IPv6: the card speaks IPv4 */ \
	X("listen_ipv6_cnt", "cm", NULL, NULL) \
	X("listen_success_cnt", NULL, "cm_listen", NULL) \
	X("listen_failed_cnt", NULL, "cm_listen_failed", NULL) \
	X("listen_destroy_cnt", NULL, "cm_listen_destroy", NULL) \
	X("accept_total_cnt", NULL, "cm_accept", NULL) \
	X("accept_success_cnt", NULL, "cm_accept_ok", NULL) \
	X("accept_failed_cnt", NULL, "cm_accept_failed", NULL) \
	X("reject_cnt", NULL, "cm_reject", NULL) \
	X("reject_failed_cnt", NULL, "cm_reject_failed", NULL) \
	X("connect_total_cnt", NULL, "cm_connect", NULL) \
	X("connect_success_cnt", NULL, "cm_connect_ok", NULL) \
	X("connect_failed_cnt", NULL, "cm_connect_failed", NULL) \
	X("connect_timeout_cnt", NULL, "cm_connect_timeouts", NULL) \
	X("connect_reset_cnt", NULL, "cm_connect_reset", NULL) \
	/* Command queue: answers are good and bad ones */ \
	X("cmdq_submitted_cnt", NULL, "cmdq_submitted", NULL) \
	X("cmdq_comp_cnt", NULL, "cmdq_completed", "cmdq_failed") \
	X("cmdq_eq_notify_cnt", NULL, "cmdq_eq_arms", NULL) \
	X("cmdq_eq_event_cnt", NULL, "cmdq_events", NULL) \
	X("cmdq_cq_armed_cnt", NULL, "cmdq_arms", NULL) \
	X("erdma_aeq_event_cnt", NULL, "aeq_events", NULL) \
	X("erdma_aeq_notify_cnt", NULL, "aeq_arms", NULL) \
	/* Verbs */ \
	X("verbs_alloc_mr_cnt", NULL, "alloc_mr", NULL) \
	X("verbs_alloc_mr_failed_cnt", NULL, "alloc_mr_failed", NULL) \
	X("verbs_alloc_pd_cnt", NULL, "alloc_pd", NULL) \
	X("verbs_alloc_pd_failed_cnt", NULL, "alloc_pd_failed", NULL) \
	X("verbs_alloc_uctx_cnt", NULL, "alloc_uctx", NULL) \
	X("verbs_alloc_uctx_failed_cnt", NULL, "alloc_uctx_failed", NULL) \
	X("verbs_create_cq_cnt", NULL, "create_cq", NULL) \
	X("verbs_create_cq_failed_cnt", NULL, "create_cq_failed", NULL) \
	X("verbs_create_qp_cnt", NULL, "create_qp", NULL) \
	X("verbs_create_qp_failed_cnt", NULL, "create_qp_failed", NULL) \
	X("verbs_dealloc_pd_cnt", NULL, "dealloc_pd", NULL) \
	X("verbs_dealloc_uctx_cnt", NULL, "dealloc_uctx", NULL) \
	X("verbs_dereg_mr_cnt", NULL, "dereg_mr", NULL) \
	X("verbs_dereg_mr_failed_cnt", NULL, "dereg_mr_failed", NULL) \
	X("verbs_destroy_cq_cnt", NULL, "destroy_cq", NULL) \
	X("verbs_destroy_cq_failed_cnt", NULL, "destroy_cq_failed", NULL) \
	X("verbs_destroy_qp_cnt", NULL, "destroy_qp", NULL) \
	X("verbs_destroy_qp_failed_cnt", NULL, "destroy_qp_failed", NULL) \
	X("verbs_get_dma_mr_cnt", NULL, "get_dma_mr", NULL) \
	X("verbs_get_dma_mr_failed_cnt", NULL, "get_dma_mr_failed", NULL) \
	X("verbs_reg_usr_mr_cnt", NULL, "reg_user_mr", NULL) \
	X("verbs_reg_usr_mr_failed_cnt", NULL, "reg_user_mr_failed", NULL) \
	/* Of the device; three of those for sending do not say so */ \
	X("hw_tx_reqs_cnt", NULL, "tx_reqs", NULL) \
	X("hw_tx_packets_cnt", NULL, "tx_pkts", NULL) \
	X("hw_tx_bytes_cnt", NULL, "tx_bytes", NULL) \
	X("hw_disable_drop_cnt", NULL, "tx_disable_drops", NULL) \
	X("hw_bps_limit_drop_cnt", NULL, "tx_bps_limit_drops", NULL) \
	X("hw_pps_limit_drop_cnt", NULL, "tx_pps_limit_drops", NULL) \
	X("hw_rx_packets_cnt", NULL, "rx_pkts", NULL) \
	X("hw_rx_bytes_cnt", NULL, "rx_bytes", NULL) \
	X("hw_rx_disable_drop_cnt", NULL, "rx_disable_drops", NULL) \
	X("hw_rx_bps_limit_drop_cnt", NULL, "rx_bps_limit_drops", NULL) \
	X("hw_rx_pps_limit_drop_cnt", NULL, "rx_pps_limit_drops", NULL)

#endif /* EADM_VENDOR_H */
