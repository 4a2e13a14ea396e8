// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The port's counters as the performance management class of InfiniBand has them.
 *
 * An iWARP device has no queue pairs for management packets, and the core sends none.
 * But it makes /sys/class/infiniband/NAME/ports/1/counters from what process_mad
 * answers, and monitors read that folder of every RDMA device: some give up on
 * all if one has none. So three attributes can be read, and nothing else is answered.
 *
 * Every counter stays at the largest number its field has room for.
 */
#include <linux/overflow.h>

#include <rdma/ib_pma.h>

#include "erdma.h"

#define PMA_RESP_TIME	18	/* 4.096 us << 18: a second */
#define PMA_WORD	4	/* PortXmitData and PortRcvData count words of 4 bytes */

static u8 pma_sat8(u64 v)
{
	return min_t(u64, v, U8_MAX);
}

static __be16 pma_sat16(u64 v)
{
	return cpu_to_be16(min_t(u64, v, U16_MAX));
}

static __be32 pma_sat32(u64 v)
{
	return cpu_to_be32(min_t(u64, v, U32_MAX));
}

/* Sum of three numbers that may be anything */
static u64 pma_sum(const u64 *v, int a, int b, int c)
{
	u64 sum;

	if (check_add_overflow(v[a], v[b], &sum) || check_add_overflow(sum, v[c], &sum))
		return U64_MAX;
	return sum;
}

static void pma_class_port_info(struct ib_class_port_info *cpi)
{
	cpi->base_version = IB_MGMT_BASE_VERSION;
	cpi->class_version = 1;
	cpi->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
	cpi->cap_mask2_resp_time = cpu_to_be32(PMA_RESP_TIME);
}

static void pma_counters(struct erdma_dev *dev, const u64 *v, struct ib_pma_portcounters *p)
{
	p->port_select = 1;
	p->link_downed_counter = pma_sat8(atomic64_read(&dev->stats.v[ERDMA_STAT_LINK_DOWNED]));
	p->port_rcv_errors = pma_sat16(pma_sum(v, ERDMA_TRAFFIC_RX_DISABLE_DROPS,
					       ERDMA_TRAFFIC_RX_BPS_LIMIT_DROPS,
					       ERDMA_TRAFFIC_RX_PPS_LIMIT_DROPS));
	p->port_xmit_discards = pma_sat16(pma_sum(v, ERDMA_TRAFFIC_TX_DISABLE_DROPS,
						  ERDMA_TRAFFIC_TX_BPS_LIMIT_DROPS,
						  ERDMA_TRAFFIC_TX_PPS_LIMIT_DROPS));
	p->port_xmit_data = pma_sat32(v[ERDMA_TRAFFIC_TX_BYTES] / PMA_WORD);
	p->port_rcv_data = pma_sat32(v[ERDMA_TRAFFIC_RX_BYTES] / PMA_WORD);
	p->port_xmit_packets = pma_sat32(v[ERDMA_TRAFFIC_TX_PKTS]);
	p->port_rcv_packets = pma_sat32(v[ERDMA_TRAFFIC_RX_PKTS]);
}

/* All traffic is that of connections: unicast */
static void pma_counters_ext(const u64 *v, struct ib_pma_portcounters_ext *p)
{
	p->port_select = 1;
	p->port_xmit_data = cpu_to_be64(v[ERDMA_TRAFFIC_TX_BYTES] / PMA_WORD);
	p->port_rcv_data = cpu_to_be64(v[ERDMA_TRAFFIC_RX_BYTES] / PMA_WORD);
	p->port_xmit_packets = cpu_to_be64(v[ERDMA_TRAFFIC_TX_PKTS]);
	p->port_rcv_packets = cpu_to_be64(v[ERDMA_TRAFFIC_RX_PKTS]);
	p->port_unicast_xmit_packets = p->port_xmit_packets;
	p->port_unicast_rcv_packets = p->port_rcv_packets;
}

/* Return: false if there is no such attribute, or nothing is known */
static bool pma_answer(struct erdma_dev *dev, const struct ib_pma_mad *in, struct ib_pma_mad *out)
{
	const struct ib_pma_portcounters *select = (const void *)in->data;
	u64 v[ERDMA_TRAFFIC_COUNT];

	if (in->mad_hdr.attr_id == IB_PMA_CLASS_PORT_INFO) {
		pma_class_port_info((void *)out->data);
		return true;
	}
	/* Both attributes of counters have it at the same place */
	if (select->port_select != 1 || erdma_traffic_read(dev, v))
		return false;
	if (in->mad_hdr.attr_id == IB_PMA_PORT_COUNTERS)
		pma_counters(dev, v, (void *)out->data);
	else
		pma_counters_ext(v, (void *)out->data);
	return true;
}

static bool pma_is_known(const struct ib_mad_hdr *hdr)
{
	return hdr->base_version == IB_MGMT_BASE_VERSION &&
	       hdr->mgmt_class == IB_MGMT_CLASS_PERF_MGMT && hdr->class_version == 1 &&
	       hdr->method == IB_MGMT_METHOD_GET &&
	       (hdr->attr_id == IB_PMA_CLASS_PORT_INFO || hdr->attr_id == IB_PMA_PORT_COUNTERS ||
		hdr->attr_id == IB_PMA_PORT_COUNTERS_EXT);
}

/**
 * erdma_process_mad - ib_device_ops.process_mad
 * @ibdev: device
 * @flags: ignored: there are no keys to check
 * @port: 1
 * @in_wc: NULL: the core asks for itself; no packet ever comes in
 * @in_grh: ditto
 * @in: request: only Get of ClassPortInfo, PortCounters and PortCountersExtended
 * @out: filled with the answer
 * @out_size: bytes of @out
 * @out_pkey_index: set
 *
 * The device is asked as erdma_traffic_read() does, not for every request.
 *
 * Context: process, may sleep.
 * Return: IB_MAD_RESULT_*; FAILURE: anything else, or a device that never answered.
 */
int erdma_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *in_wc,
		      const struct ib_grh *in_grh, const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_size, u16 *out_pkey_index)
{
	static_assert(sizeof(struct ib_pma_mad) == sizeof(struct ib_mad));

	if (in_wc || in_grh || port != 1 || *out_size < sizeof(*out) || !pma_is_known(&in->mad_hdr))
		return IB_MAD_RESULT_FAILURE;
	memset(out, 0, sizeof(*out));
	out->mad_hdr = in->mad_hdr;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	if (!pma_answer(dev_of(ibdev), (const void *)in, (void *)out))
		return IB_MAD_RESULT_FAILURE;
	*out_size = sizeof(*out);
	*out_pkey_index = 0;
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
