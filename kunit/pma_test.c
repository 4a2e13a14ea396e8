// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The port's counters as performance management has them: erdma_pma.c */
#include <rdma/ib_pma.h>

#include "fake_dev.h"
#include "suites.h"

#define ANSWERED (IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY)

static int pma_init(struct kunit *test)
{
	struct erdma_traffic *t;
	int ret = fake_init(test);

	if (ret)
		return ret;
	/* As if the device had just answered */
	t = &fake_of(test)->dev->traffic;
	t->valid = true;
	t->asked = true;
	t->next = jiffies + 3600 * HZ;
	return 0;
}

/* What the core sends for sysfs */
static struct ib_pma_mad request(__be16 attr)
{
	struct ib_pma_mad in = {
		.mad_hdr = {
			.base_version = IB_MGMT_BASE_VERSION,
			.mgmt_class = IB_MGMT_CLASS_PERF_MGMT,
			.class_version = 1,
			.method = IB_MGMT_METHOD_GET,
			.attr_id = attr,
		},
	};

	if (attr != IB_PMA_CLASS_PORT_INFO)
		in.data[1] = 1;
	return in;
}

static int send(struct kunit *test, const struct ib_pma_mad *in, struct ib_pma_mad *out)
{
	size_t size = sizeof(*out);
	u16 pkey = 7;

	memset(out, 0xff, sizeof(*out));
	return erdma_process_mad(&fake_of(test)->dev->ibdev, IB_MAD_IGNORE_MKEY, 1, NULL, NULL,
				 (const void *)in, (void *)out, &size, &pkey);
}

static const void *get(struct kunit *test, __be16 attr, struct ib_pma_mad *out)
{
	struct ib_pma_mad in = request(attr);

	KUNIT_EXPECT_EQ(test, send(test, &in, out), ANSWERED);
	return out->data;
}

static void class_has_counters_of_64_bits(struct kunit *test)
{
	struct ib_pma_mad out;
	const struct ib_class_port_info *cpi = get(test, IB_PMA_CLASS_PORT_INFO, &out);

	KUNIT_EXPECT_EQ(test, out.mad_hdr.method, IB_MGMT_METHOD_GET_RESP);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(out.mad_hdr.status), 0);
	KUNIT_EXPECT_EQ(test, cpi->base_version, 1);
	KUNIT_EXPECT_EQ(test, cpi->class_version, 1);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(cpi->capability_mask), 1 << 9);
}

static void data_counts_words_of_four_bytes(struct kunit *test)
{
	u64 *v = fake_of(test)->dev->traffic.v;
	struct ib_pma_mad out;
	const struct ib_pma_portcounters_ext *ext;
	const struct ib_pma_portcounters *p;

	v[ERDMA_TRAFFIC_TX_BYTES] = 4003;
	v[ERDMA_TRAFFIC_RX_BYTES] = 8000;
	v[ERDMA_TRAFFIC_TX_PKTS] = 3;
	v[ERDMA_TRAFFIC_RX_PKTS] = 5;
	p = get(test, IB_PMA_PORT_COUNTERS, &out);
	KUNIT_EXPECT_EQ(test, p->port_select, 1);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(p->port_xmit_data), 1000U);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(p->port_rcv_data), 2000U);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(p->port_xmit_packets), 3U);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(p->port_rcv_packets), 5U);
	ext = get(test, IB_PMA_PORT_COUNTERS_EXT, &out);
	KUNIT_EXPECT_EQ(test, ext->port_select, 1);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(ext->port_xmit_data), 1000ULL);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(ext->port_rcv_data), 2000ULL);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(ext->port_xmit_packets), 3ULL);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(ext->port_unicast_xmit_packets), 3ULL);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(ext->port_unicast_rcv_packets), 5ULL);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(ext->port_multicast_rcv_packets), 0ULL);
}

static void drops_are_discards_and_errors(struct kunit *test)
{
	u64 *v = fake_of(test)->dev->traffic.v;
	struct ib_pma_mad out;
	const struct ib_pma_portcounters *p;

	v[ERDMA_TRAFFIC_TX_DISABLE_DROPS] = 1;
	v[ERDMA_TRAFFIC_TX_BPS_LIMIT_DROPS] = 20;
	v[ERDMA_TRAFFIC_TX_PPS_LIMIT_DROPS] = 300;
	v[ERDMA_TRAFFIC_RX_DISABLE_DROPS] = 4;
	v[ERDMA_TRAFFIC_RX_BPS_LIMIT_DROPS] = 50;
	v[ERDMA_TRAFFIC_RX_PPS_LIMIT_DROPS] = 600;
	p = get(test, IB_PMA_PORT_COUNTERS, &out);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(p->port_xmit_discards), 321);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(p->port_rcv_errors), 654);
}

/* A field that is full stays full, and does not begin again from 0 */
static void counters_saturate_at_the_width_of_their_field(struct kunit *test)
{
	struct erdma_dev *dev = fake_of(test)->dev;
	struct ib_pma_mad out;
	const struct ib_pma_portcounters *p;
	const struct ib_pma_portcounters_ext *ext;
	u64 *v = dev->traffic.v;

	v[ERDMA_TRAFFIC_TX_BYTES] = 4 * (u64)U32_MAX;
	v[ERDMA_TRAFFIC_RX_BYTES] = 4 * ((u64)U32_MAX + 1);
	v[ERDMA_TRAFFIC_TX_PKTS] = (u64)U32_MAX + 7;
	v[ERDMA_TRAFFIC_RX_PKTS] = U64_MAX;
	v[ERDMA_TRAFFIC_TX_DISABLE_DROPS] = U16_MAX - 1;
	v[ERDMA_TRAFFIC_RX_DISABLE_DROPS] = U64_MAX;	/* the sum is one more than 64 bits */
	v[ERDMA_TRAFFIC_RX_BPS_LIMIT_DROPS] = 1;
	atomic64_set(&dev->stats.v[ERDMA_STAT_LINK_DOWNED], 256);
	p = get(test, IB_PMA_PORT_COUNTERS, &out);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(p->port_xmit_data), U32_MAX);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(p->port_rcv_data), U32_MAX);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(p->port_xmit_packets), U32_MAX);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(p->port_rcv_packets), U32_MAX);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(p->port_xmit_discards), U16_MAX - 1);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(p->port_rcv_errors), U16_MAX);
	KUNIT_EXPECT_EQ(test, p->link_downed_counter, U8_MAX);
	ext = get(test, IB_PMA_PORT_COUNTERS_EXT, &out);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(ext->port_rcv_data), (u64)U32_MAX + 1);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(ext->port_xmit_packets), (u64)U32_MAX + 7);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(ext->port_rcv_packets), U64_MAX);
}

static void other_requests_are_not_answered(struct kunit *test)
{
	struct ib_pma_mad in, out;

	in = request(IB_PMA_PORT_COUNTERS);
	KUNIT_ASSERT_EQ(test, send(test, &in, &out), ANSWERED);
	in.mad_hdr.method = IB_MGMT_METHOD_SET;		/* would reset them */
	KUNIT_EXPECT_EQ(test, send(test, &in, &out), IB_MAD_RESULT_FAILURE);
	in = request(IB_PMA_PORT_COUNTERS);
	in.mad_hdr.mgmt_class = IB_MGMT_CLASS_SUBN_LID_ROUTED;
	KUNIT_EXPECT_EQ(test, send(test, &in, &out), IB_MAD_RESULT_FAILURE);
	in = request(IB_PMA_PORT_COUNTERS);
	in.mad_hdr.base_version = 2;
	KUNIT_EXPECT_EQ(test, send(test, &in, &out), IB_MAD_RESULT_FAILURE);
	in = request(IB_PMA_PORT_COUNTERS);
	in.mad_hdr.class_version = 2;
	KUNIT_EXPECT_EQ(test, send(test, &in, &out), IB_MAD_RESULT_FAILURE);
	in = request(IB_PMA_PORT_SAMPLES_CONTROL);
	KUNIT_EXPECT_EQ(test, send(test, &in, &out), IB_MAD_RESULT_FAILURE);
	in = request(IB_PMA_PORT_COUNTERS);
	in.data[1] = 2;
	KUNIT_EXPECT_EQ(test, send(test, &in, &out), IB_MAD_RESULT_FAILURE);
	in = request(IB_PMA_PORT_COUNTERS_EXT);
	in.data[1] = 0xff;
	KUNIT_EXPECT_EQ(test, send(test, &in, &out), IB_MAD_RESULT_FAILURE);
}

/* No QP 0 or 1 exists that a packet could have come in by */
static void packets_are_not_answered(struct kunit *test)
{
	struct ib_pma_mad in = request(IB_PMA_PORT_COUNTERS), out;
	struct ib_device *ibdev = &fake_of(test)->dev->ibdev;
	size_t size = sizeof(out);
	struct ib_grh grh = {};
	struct ib_wc wc = {};
	u16 pkey;

	KUNIT_EXPECT_EQ(test, erdma_process_mad(ibdev, 0, 1, &wc, NULL, (void *)&in, (void *)&out,
						&size, &pkey), IB_MAD_RESULT_FAILURE);
	KUNIT_EXPECT_EQ(test, erdma_process_mad(ibdev, 0, 1, NULL, &grh, (void *)&in, (void *)&out,
						&size, &pkey), IB_MAD_RESULT_FAILURE);
	KUNIT_EXPECT_EQ(test, erdma_process_mad(ibdev, 0, 2, NULL, NULL, (void *)&in, (void *)&out,
						&size, &pkey), IB_MAD_RESULT_FAILURE);
	size = 24;
	KUNIT_EXPECT_EQ(test, erdma_process_mad(ibdev, 0, 1, NULL, NULL, (void *)&in, (void *)&out,
						&size, &pkey), IB_MAD_RESULT_FAILURE);
}

/* Everybody may read sysfs */
static void requests_share_one_question(struct kunit *test)
{
	struct fake_dev *f = fake_of(test);
	struct ib_pma_mad out;
	int i;

	for (i = 0; i < 100; i++)
		get(test, IB_PMA_PORT_COUNTERS, &out);
	KUNIT_EXPECT_EQ(test, f->total, 0);

	/* Refused: the old numbers are what is known, and it is not asked at once again */
	f->default_answer.syndrome = ERDMA_CMD_EINVAL;
	f->dev->traffic.next = jiffies - 1;
	get(test, IB_PMA_PORT_COUNTERS, &out);
	KUNIT_EXPECT_EQ(test, f->total, 1);
	KUNIT_EXPECT_TRUE(test, time_after(f->dev->traffic.next, jiffies - 1));
	f->dev->traffic.next = jiffies + 3600 * HZ;
	get(test, IB_PMA_PORT_COUNTERS, &out);
	KUNIT_EXPECT_EQ(test, f->total, 1);
}

/* Zeros would be a lie */
static void device_that_never_answered_has_no_counters(struct kunit *test)
{
	struct ib_pma_mad in = request(IB_PMA_PORT_COUNTERS), out;
	struct fake_dev *f = fake_of(test);

	f->dev->traffic.valid = false;
	f->dev->traffic.asked = false;
	f->default_answer.syndrome = ERDMA_CMD_EINVAL;
	KUNIT_EXPECT_EQ(test, send(test, &in, &out), IB_MAD_RESULT_FAILURE);
	get(test, IB_PMA_CLASS_PORT_INFO, &out);
}

static struct kunit_case pma_cases[] = {
	KUNIT_CASE(class_has_counters_of_64_bits),
	KUNIT_CASE(data_counts_words_of_four_bytes),
	KUNIT_CASE(drops_are_discards_and_errors),
	KUNIT_CASE(counters_saturate_at_the_width_of_their_field),
	KUNIT_CASE(other_requests_are_not_answered),
	KUNIT_CASE(packets_are_not_answered),
	KUNIT_CASE(requests_share_one_question),
	KUNIT_CASE(device_that_never_answered_has_no_counters),
	{}
};

struct kunit_suite erdma_pma_suite = {
	.name = "erdma_pma",
	.init = pma_init,
	.exit = fake_exit,
	.test_cases = pma_cases,
};
