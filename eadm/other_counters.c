// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counters of RDMA devices of other drivers. The first part are those that the InfiniBand
 * specification has for every port, with the names of sysfs; metrics are called as in
 * node_exporter. The second part are well-known ones of drivers, whose names are all that is
 * common. Of a counter that is in neither only name and value are known.
 */
#include <string.h>

#include "model.h"
#include "other_counters.h"

#define TRAFFIC	"traffic"
#define OTHER	"other"

#define PORT(name, group, error, metric, factor, text) \
	{ name, group, error, metric, factor, text }
#define DRIVER(name, group, error) { name, group, error, NULL, 1, NULL }

static const struct other_counter counters[] = {
	PORT("port_xmit_data", TRAFFIC, false, "port_data_transmitted_bytes", 4,
	     "Bytes sent by the port"),
	PORT("port_rcv_data", TRAFFIC, false, "port_data_received_bytes", 4,
	     "Bytes received by the port"),
	PORT("port_xmit_packets", TRAFFIC, false, "port_packets_transmitted", 1,
	     "Packets sent by the port"),
	PORT("port_rcv_packets", TRAFFIC, false, "port_packets_received", 1,
	     "Packets received by the port"),
	PORT("unicast_xmit_packets", TRAFFIC, false, "unicast_packets_transmitted", 1,
	     "Unicast packets sent"),
	PORT("unicast_rcv_packets", TRAFFIC, false, "unicast_packets_received", 1,
	     "Unicast packets received"),
	PORT("multicast_xmit_packets", TRAFFIC, false, "multicast_packets_transmitted", 1,
	     "Multicast packets sent"),
	PORT("multicast_rcv_packets", TRAFFIC, false, "multicast_packets_received", 1,
	     "Multicast packets received"),
	PORT("port_xmit_wait", TRAFFIC, false, "port_transmit_wait", 1,
	     "Ticks in which the port had data to send and could not"),
	PORT("port_xmit_discards", TRAFFIC, true, "port_discards_transmitted", 1,
	     "Packets to be sent that the port discarded"),
	PORT("port_xmit_constraint_errors", TRAFFIC, true, "port_constraint_errors_transmitted", 1,
	     "Packets not sent because of partition or raw filters"),
	PORT("port_rcv_constraint_errors", TRAFFIC, true, "port_constraint_errors_received", 1,
	     "Packets discarded on arrival because of partition or raw filters"),
	PORT("port_rcv_errors", TRAFFIC, true, "port_errors_received", 1,
	     "Packets received with an error"),
	PORT("port_rcv_remote_physical_errors", TRAFFIC, true,
	     "port_receive_remote_physical_errors", 1,
	     "Packets received that were marked bad on their way"),
	PORT("port_rcv_switch_relay_errors", TRAFFIC, true, "port_receive_switch_relay_errors", 1,
	     "Packets that could not be forwarded by the switch"),
	PORT("VL15_dropped", TRAFFIC, true, "vl15_dropped", 1,
	     "Management packets dropped for want of room"),
	PORT("excessive_buffer_overrun_errors", OTHER, true, "excessive_buffer_overrun_errors", 1,
	     "Overruns of the port's buffers"),
	PORT("local_link_integrity_errors", OTHER, true, "local_link_integrity_errors", 1,
	     "Times that local physical errors were above the threshold"),
	PORT("link_downed", OTHER, true, "link_downed", 1,
	     "Times that the link went down because recovery failed"),
	PORT("link_error_recovery", OTHER, true, "link_error_recovery", 1,
	     "Times that the link recovered from an error"),
	PORT("symbol_error", OTHER, true, "symbol_error", 1,
	     "Symbol errors on a lane of the link"),

	DRIVER("tx_bytes", TRAFFIC, false),
	DRIVER("rx_bytes", TRAFFIC, false),
	DRIVER("tx_pkts", TRAFFIC, false),
	DRIVER("rx_pkts", TRAFFIC, false),
	DRIVER("sent_bytes", TRAFFIC, false),
	DRIVER("rcvd_bytes", TRAFFIC, false),
	DRIVER("sent_pkts", TRAFFIC, false),
	DRIVER("rcvd_pkts", TRAFFIC, false),
	DRIVER("rx_drops", TRAFFIC, true),
	DRIVER("send_err", TRAFFIC, true),
	DRIVER("duplicate_request", TRAFFIC, true),
	DRIVER("out_of_seq_request", TRAFFIC, true),
	DRIVER("out_of_sequence", TRAFFIC, true),
	DRIVER("out_of_buffer", TRAFFIC, true),
	DRIVER("packet_seq_err", TRAFFIC, true),
	DRIVER("implied_nak_seq_err", TRAFFIC, true),
	DRIVER("local_ack_timeout_err", TRAFFIC, true),
	DRIVER("rcvd_rnr_err", TRAFFIC, true),
	DRIVER("send_rnr_err", TRAFFIC, true),
	DRIVER("rnr_nak_retry_err", TRAFFIC, true),
	DRIVER("rcvd_seq_err", TRAFFIC, true),
	DRIVER("completer_retry_err", TRAFFIC, true),
	DRIVER("retry_exceeded_err", TRAFFIC, true),
	DRIVER("retry_rnr_exceeded_err", TRAFFIC, true),
	DRIVER("req_cqe_error", TRAFFIC, true),
	DRIVER("req_remote_access_errors", TRAFFIC, true),
	DRIVER("req_remote_invalid_request", TRAFFIC, true),
	DRIVER("resp_cqe_error", TRAFFIC, true),
	DRIVER("resp_local_length_error", TRAFFIC, true),
	DRIVER("resp_remote_access_errors", TRAFFIC, true),
};

/**
 * other_counter_at - walk over the counters that are known
 * @i: number, from 0
 *
 * Return: a counter, or NULL after the last one.
 */
const struct other_counter *other_counter_at(size_t i)
{
	return i < COUNT_OF(counters) ? &counters[i] : NULL;
}

/**
 * other_counter_find - a counter by its name
 * @name: name
 *
 * Return: the counter, or NULL if it is not known.
 */
const struct other_counter *other_counter_find(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT_OF(counters); i++)
		if (!strcmp(counters[i].name, name))
			return &counters[i];
	return NULL;
}
