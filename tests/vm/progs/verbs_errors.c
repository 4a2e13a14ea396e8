// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What must go wrong, and how; connections that end: verbs_errors ADDRESS [TEST]
 *
 * The statuses are those of docs/erdma-hardware.md sections 8.4, 9.8, 11.5 and 17.
 */
#include <errno.h>
#include <string.h>

#include "fixture.h"

#define NO_KEY	0x00abcd00u

/* ---- the remote side refuses ---------------------------------------------- */

/* One request that the remote side must refuse; the next ones are flushed. */
static bool refused(struct bed *t, struct ibv_send_wr wr)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 8);
	struct ibv_send_wr after = one_sided(IBV_WR_RDMA_WRITE, 51, &sge, 1, &t->b, 0);

	wr.wr_id = 50;
	return post_recv(&t->p.b, sge_of(&t->b, 0, 8), 60) && post(&t->p.a, wr) &&
	       post(&t->p.a, after) && failed(&t->p.a, 50, IBV_WC_REM_ACCESS_ERR) &&
	       failed(&t->p.a, 51, IBV_WC_WR_FLUSH_ERR) &&
	       failed(&t->p.b, 60, IBV_WC_WR_FLUSH_ERR);
}

static bool write_bad_key(struct bed *t)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 64);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, 0, &sge, 1, &t->b, 0);

	wr.wr.rdma.rkey = NO_KEY;
	return refused(t, wr);
}

static bool write_with_unknown_key(void)
{
	return with_bed(4096, (struct pair_options){}, write_bad_key);
}

static bool write_wrong_byte(struct bed *t)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 64);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, 0, &sge, 1, &t->b, 0);

	wr.wr.rdma.rkey ^= 1;		/* the key byte, not the index */
	return refused(t, wr);
}

static bool write_with_wrong_key_byte(void)
{
	return with_bed(4096, (struct pair_options){}, write_wrong_byte);
}

static bool write_past_end(struct bed *t)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 64);
	bool good;

	memset(t->b.p, 0, t->b.len);
	memset(t->a.p, 0xff, 64);
	good = refused(t, one_sided(IBV_WR_RDMA_WRITE, 0, &sge, 1, &t->b, 4096 - 63));
	EXPECT(!t->b.p[4095], "a refused write changed the region");
	return good;
}

static bool write_one_byte_too_far(void)
{
	return with_bed(4096, (struct pair_options){}, write_past_end);
}

static bool read_before_start(struct bed *t)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 64);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_READ, 0, &sge, 1, &t->b, 0);

	wr.wr.rdma.remote_addr--;
	return refused(t, wr);
}

static bool read_one_byte_too_early(void)
{
	return with_bed(4096, (struct pair_options){}, read_before_start);
}

static bool write_wraps(struct bed *t)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 64);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, 0, &sge, 1, &t->b, 0);

	wr.wr.rdma.remote_addr = UINT64_MAX - 7;
	return refused(t, wr);
}

static bool write_around_the_end_of_memory(void)
{
	return with_bed(4096, (struct pair_options){}, write_wraps);
}

/* The remote region has no right but @rights. */
static bool without_right(struct bed *t, enum ibv_wr_opcode opcode, int rights)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 8);
	struct ibv_send_wr wr;
	struct region r = {};
	bool good;

	if (region_new(&r, &t->p.b, 4096, 0, rights))
		return false;
	wr = one_sided(opcode, 0, &sge, 1, &r, 0);
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)r.p;
		wr.wr.atomic.rkey = r.mr->rkey;
		wr.wr.atomic.compare_add = 1;
	}
	good = refused(t, wr);
	region_free(&r);
	return good;
}

static bool write_right(struct bed *t)
{
	return without_right(t, IBV_WR_RDMA_WRITE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
}

static bool write_needs_the_right(void)
{
	return with_bed(4096, (struct pair_options){}, write_right);
}

static bool read_right(struct bed *t)
{
	return without_right(t, IBV_WR_RDMA_READ, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
}

static bool read_needs_the_right(void)
{
	return with_bed(4096, (struct pair_options){}, read_right);
}

static bool atomic_right(struct bed *t)
{
	return without_right(t, IBV_WR_ATOMIC_FETCH_AND_ADD,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
			     IBV_ACCESS_REMOTE_WRITE);
}

static bool atomic_needs_the_right(void)
{
	return with_bed(4096, (struct pair_options){}, atomic_right);
}

static bool atomic_misaligned(struct bed *t)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 8);
	struct ibv_send_wr wr = signaled(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, &sge, 1);

	wr.wr.atomic.remote_addr = (uintptr_t)t->b.p + 4;
	wr.wr.atomic.rkey = t->b.mr->rkey;
	wr.wr.atomic.compare_add = 1;
	return refused(t, wr);
}

static bool atomic_must_be_aligned(void)
{
	return with_bed(4096, (struct pair_options){}, atomic_misaligned);
}

/* A key of another protection domain is no key. */
static bool other_domain(struct bed *t)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 64);
	struct pair_side stranger = t->p.b;
	struct region r = {};
	bool good = false;

	stranger.pd = ibv_alloc_pd(t->p.b.id->verbs);
	EXPECT(stranger.pd, "ibv_alloc_pd");
	if (!region_new(&r, &stranger, 4096, 0, ALL_RIGHTS))
		good = refused(t, one_sided(IBV_WR_RDMA_WRITE, 0, &sge, 1, &r, 0));
	region_free(&r);
	ibv_dealloc_pd(stranger.pd);
	return good;
}

static bool key_of_another_domain(void)
{
	return with_bed(4096, (struct pair_options){}, other_domain);
}

static bool key_after_dereg(struct bed *t)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 64);
	struct ibv_send_wr wr = one_sided(IBV_WR_RDMA_WRITE, 0, &sge, 1, &t->b, 0);
	struct region r = {};

	if (region_new(&r, &t->p.b, 4096, 0, ALL_RIGHTS))
		return false;
	wr.wr.rdma.rkey = r.mr->rkey;
	wr.wr.rdma.remote_addr = (uintptr_t)r.p;
	region_free(&r);
	return refused(t, wr);
}

static bool key_of_a_gone_region(void)
{
	return with_bed(4096, (struct pair_options){}, key_after_dereg);
}

/* ---- the local side is wrong ---------------------------------------------- */

static bool wrong_here(struct bed *t, struct ibv_sge sge, enum ibv_wr_opcode opcode)
{
	struct ibv_sge good = sge_of(&t->a, 0, 8);

	return post(&t->p.a, one_sided(opcode, 1, &sge, 1, &t->b, 0)) &&
	       post(&t->p.a, one_sided(IBV_WR_RDMA_WRITE, 2, &good, 1, &t->b, 0)) &&
	       failed(&t->p.a, 1, IBV_WC_LOC_ACCESS_ERR) &&
	       failed(&t->p.a, 2, IBV_WC_WR_FLUSH_ERR);
}

static bool bad_lkey(struct bed *t)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 64);

	sge.lkey = NO_KEY;
	return wrong_here(t, sge, IBV_WR_RDMA_WRITE);
}

static bool unknown_local_key(void)
{
	return with_bed(4096, (struct pair_options){}, bad_lkey);
}

static bool local_too_far(struct bed *t)
{
	return wrong_here(t, sge_of(&t->a, 4090, 64), IBV_WR_RDMA_WRITE);
}

static bool local_address_too_far(void)
{
	return with_bed(4096, (struct pair_options){}, local_too_far);
}

static bool sink_read_only(struct bed *t)
{
	struct region r = {};
	bool good = false;

	if (!region_new(&r, &t->p.a, 4096, 0, 0))
		good = wrong_here(t, sge_of(&r, 0, 64), IBV_WR_RDMA_READ);
	region_free(&r);
	return good;
}

static bool read_into_a_read_only_region(void)
{
	return with_bed(4096, (struct pair_options){}, sink_read_only);
}

static bool recv_read_only(struct bed *t)
{
	struct ibv_sge from = sge_of(&t->a, 0, 64);
	struct region r = {};
	bool good = false;

	if (!region_new(&r, &t->p.b, 4096, 0, 0))
		good = post_recv(&t->p.b, sge_of(&r, 0, 64), 1) &&
		       post(&t->p.a, signaled(IBV_WR_SEND, 2, &from, 1)) &&
		       failed(&t->p.b, 1, IBV_WC_REM_ACCESS_ERR) &&
		       failed(&t->p.a, 2, IBV_WC_GENERAL_ERR);
	region_free(&r);
	return good;
}

static bool receive_into_a_read_only_region(void)
{
	return with_bed(4096, (struct pair_options){}, recv_read_only);
}

static bool recv_small(struct bed *t)
{
	struct ibv_sge from = sge_of(&t->a, 0, 64);

	memset(t->b.p, 0, t->b.len);
	memset(t->a.p, 0xff, 64);
	if (!post_recv(&t->p.b, sge_of(&t->b, 0, 63), 1) ||
	    !post_recv(&t->p.b, sge_of(&t->b, 128, 63), 3) ||
	    !post(&t->p.a, signaled(IBV_WR_SEND, 2, &from, 1)) ||
	    !failed(&t->p.b, 1, IBV_WC_REM_ACCESS_ERR) ||
	    !failed(&t->p.b, 3, IBV_WC_WR_FLUSH_ERR) ||
	    !failed(&t->p.a, 2, IBV_WC_GENERAL_ERR))
		return false;
	EXPECT(!t->b.p[63], "the byte after the buffer was written");
	return true;
}

static bool receive_buffer_too_small(void)
{
	return with_bed(4096, (struct pair_options){}, recv_small);
}

static bool zero_body(struct bed *t)
{
	struct ibv_sge sge = { 0x123, 0, NO_KEY };
	struct ibv_send_wr write = one_sided(IBV_WR_RDMA_WRITE, 1, &sge, 1, &t->b, 0);
	struct ibv_send_wr read = one_sided(IBV_WR_RDMA_READ, 2, &sge, 1, &t->b, 0);

	write.wr.rdma.rkey = NO_KEY;
	read.wr.rdma.rkey = NO_KEY;
	read.wr.rdma.remote_addr = UINT64_MAX;
	return post(&t->p.a, write) && post(&t->p.a, read) &&
	       done(&t->p.a, 1, IBV_WC_RDMA_WRITE, NULL) &&
	       done(&t->p.a, 2, IBV_WC_RDMA_READ, NULL);
}

static bool zero_length_needs_no_key(void)
{
	return with_bed(4096, (struct pair_options){}, zero_body);
}

/* ---- flush ---------------------------------------------------------------- */

static bool flush_body(struct bed *t)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_qp_init_attr init;
	int err;

	for (uint64_t i = 0; i < 40; i++)
		if (!post_recv(&t->p.b, sge_of(&t->b, 0, 64), i))
			return false;
	err = ibv_modify_qp(t->p.b.qp, &attr, IBV_QP_STATE);
	EXPECT(!err, "ibv_modify_qp: %s", strerror(err));
	for (uint64_t i = 0; i < 40; i++)
		if (!failed(&t->p.b, i, IBV_WC_WR_FLUSH_ERR))
			return false;
	err = ibv_query_qp(t->p.b.qp, &attr, IBV_QP_STATE, &init);
	EXPECT(!err && attr.qp_state == IBV_QPS_ERR, "state %d (%s)", attr.qp_state, strerror(err));
	return true;
}

static bool error_state_flushes_receives_in_order(void)
{
	return with_bed(4096, (struct pair_options){}, flush_body);
}

/* Sends wait because nothing is posted; unsignaled ones must be flushed too. */
static bool flush_sends_body(struct bed *t)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_sge from = sge_of(&t->a, 0, 64);

	for (uint64_t i = 0; i < 20; i++) {
		struct ibv_send_wr wr = signaled(IBV_WR_SEND, i, &from, 1);

		wr.send_flags = i % 2 ? IBV_SEND_SIGNALED : 0;
		if (!post(&t->p.a, wr))
			return false;
	}
	EXPECT(!ibv_modify_qp(t->p.a.qp, &attr, IBV_QP_STATE), "ibv_modify_qp");
	for (uint64_t i = 0; i < 20; i++)
		if (!failed(&t->p.a, i, IBV_WC_WR_FLUSH_ERR))
			return false;
	return true;
}

static bool error_state_flushes_waiting_sends(void)
{
	return with_bed(4096, (struct pair_options){}, flush_sends_body);
}

/* ---- connections ----------------------------------------------------------- */

static bool leaves(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *e = next_event(channel);

	EXPECT(e, "no event after the disconnect");
	EXPECT(e->event == RDMA_CM_EVENT_DISCONNECTED, "event %s", rdma_event_str(e->event));
	rdma_ack_cm_event(e);
	return true;
}

static bool disconnect_body(struct bed *t)
{
	if (!post_recv(&t->p.a, sge_of(&t->a, 0, 64), 1) ||
	    !post_recv(&t->p.b, sge_of(&t->b, 0, 64), 2))
		return false;
	EXPECT(!rdma_disconnect(t->p.a.id), "rdma_disconnect: %s", strerror(errno));
	return leaves(t->p.channel_a) && leaves(t->p.channel_b) &&
	       failed(&t->p.a, 1, IBV_WC_WR_FLUSH_ERR) && failed(&t->p.b, 2, IBV_WC_WR_FLUSH_ERR);
}

static bool disconnect_reaches_both_sides(void)
{
	return with_bed(4096, (struct pair_options){}, disconnect_body);
}

static bool reconnect(void)
{
	for (int i = 0; i < 30; i++)
		if (!with_bed(4096, (struct pair_options){}, disconnect_body))
			return false;
	return true;
}

static bool private_data(void)
{
	static const uint8_t lengths[] = { 0, 1, 56, 200 };
	uint8_t text[255];

	for (size_t i = 0; i < sizeof(lengths); i++) {
		struct pair_options o = { .private_data = text, .private_len = lengths[i] };
		struct pair p;
		int ret;

		pattern_fill(text, sizeof(text), (uint32_t)i);
		o.address_b = bed_passive();
		o.address_a = bed_active();
		ret = pair_open(&p, &o);
		pair_close(&p);
		EXPECT(!ret, "connect with %u bytes: %d", lengths[i], ret);
		EXPECT(pattern_is(o.got_private, lengths[i], (uint32_t)i), "of %u bytes", lengths[i]);
	}
	return true;
}

static bool reject(void)
{
	struct pair_options o = { .reject = true, .private_data = "no", .private_len = 2 };
	struct pair p;
	int ret;

	o.address_b = bed_passive();
	o.address_a = bed_active();
	ret = pair_open(&p, &o);
	pair_close(&p);
	EXPECT(ret == -EPROTO, "connect returned %d", ret);
	EXPECT(o.connect_event == RDMA_CM_EVENT_REJECTED, "event %s",
	       rdma_event_str(o.connect_event));
	return true;
}

static bool many_connections(void)
{
	enum { COUNT = 64 };
	static struct bed beds[COUNT];
	bool good = true;
	int n;

	for (n = 0; n < COUNT && good; n++) {
		good = bed_open(&beds[n], 4096, (struct pair_options){ .send_wr = 16, .recv_wr = 16 });
		pattern_fill(beds[n].a.p, 100, (uint32_t)n);
	}
	for (int i = 0; i < n && good; i++) {
		struct ibv_sge from = sge_of(&beds[i].a, 0, 100);

		good = post(&beds[i].p.a,
			    one_sided(IBV_WR_RDMA_WRITE, 1, &from, 1, &beds[i].b, 0)) &&
		       done(&beds[i].p.a, 1, IBV_WC_RDMA_WRITE, NULL) &&
		       pattern_is(beds[i].b.p, 100, (uint32_t)i);
	}
	while (n--)
		bed_close(&beds[n]);
	return good;
}

/* ---- what the verbs must refuse --------------------------------------------- */

static bool refusals_body(struct bed *t)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct ibv_device_attr dev;

	EXPECT(!ibv_query_device(t->p.a.id->verbs, &dev), "ibv_query_device");
	EXPECT(!ibv_create_srq(t->p.a.pd, &srq), "an SRQ was created");
	EXPECT(!ibv_create_cq(t->p.a.id->verbs, dev.max_cqe + 1, NULL, NULL, 0), "CQ too deep");
	EXPECT(!ibv_create_cq(t->p.a.id->verbs, 16, NULL, NULL, 1000), "CQ on vector 1000");
	EXPECT(ibv_dealloc_pd(t->p.a.pd), "a PD in use was freed");
	return true;
}

static bool impossible_objects_are_refused(void)
{
	return with_bed(4096, (struct pair_options){}, refusals_body);
}

static const struct tap_test tests[] = {
	{ "write with an unknown key", write_with_unknown_key },
	{ "write with a wrong key byte", write_with_wrong_key_byte },
	{ "write one byte too far", write_one_byte_too_far },
	{ "read one byte too early", read_one_byte_too_early },
	{ "write around the end of memory", write_around_the_end_of_memory },
	{ "write needs the right", write_needs_the_right },
	{ "read needs the right", read_needs_the_right },
	{ "atomic needs the right", atomic_needs_the_right },
	{ "atomic must be aligned", atomic_must_be_aligned },
	{ "key of another protection domain", key_of_another_domain },
	{ "key of a region that is gone", key_of_a_gone_region },
	{ "unknown local key", unknown_local_key },
	{ "local address too far", local_address_too_far },
	{ "read into a read-only region", read_into_a_read_only_region },
	{ "receive into a read-only region", receive_into_a_read_only_region },
	{ "receive buffer too small", receive_buffer_too_small },
	{ "zero length needs no key", zero_length_needs_no_key },
	{ "error state flushes receives in order", error_state_flushes_receives_in_order },
	{ "error state flushes waiting sends", error_state_flushes_waiting_sends },
	{ "disconnect reaches both sides", disconnect_reaches_both_sides },
	{ "30 connections one after another", reconnect },
	{ "private data arrives", private_data },
	{ "reject is told", reject },
	{ "64 connections at once", many_connections },
	{ "impossible objects are refused", impossible_objects_are_refused },
};

int main(int argc, char **argv)
{
	return bed_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
