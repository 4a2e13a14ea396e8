// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding requests and indices in rings. */
#include "erdma/erdma_hw.h"

#include "ring.h"
#include "unit.h"

#define QPN 17

static const struct req_format sq = {
	.blocks_mask = ERDMA_SQE_HDR_WQEBBS, .id_mask = ERDMA_SQE_HDR_QPN,
	.id = (uint64_t)QPN << 32,
};

static const struct req_format rq = {
	.id_mask = ERDMA_RQ_DB_QPN, .id = (uint64_t)QPN << 32,
};

static uint8_t *new_data(uint32_t depth, uint32_t size)
{
	return pool_alloc(&test_pool, (size_t)depth * size);
}

/* Header of a request of @blocks at @index, in a ring of 32-byte blocks */
static void put_req(uint8_t *data, uint32_t depth, uint32_t index, uint32_t blocks)
{
	uint64_t hdr = ((index + blocks) & 0xffff) | (uint64_t)QPN << 32 |
		       (uint64_t)(blocks - 1) << 52;
	uint32_t i;

	for (i = 0; i < 8; i++)
		data[(index % depth) * 32 + i] = (uint8_t)(hdr >> (8 * i));
	/* The other blocks hold addresses and data */
	for (i = 1; i < blocks; i++)
		memset(data + ((index + i) % depth) * 32, 0xa5, 32);
}

static struct ring ring_of(const uint8_t *data, uint32_t depth)
{
	return (struct ring){ .data = data, .depth = depth, .entry_size = 32 };
}

static void header_must_fit_its_place(void **state)
{
	uint8_t *data = new_data(8, 32);
	struct ring r = ring_of(data, 8);

	(void)state;
	put_req(data, 8, 3, 2);
	assert_int_equal(req_header(&r, &sq, 3), 2);
	assert_int_equal(req_header(&r, &sq, 4), 0);
	/* the same slot in another pass */
	assert_int_equal(req_header(&r, &sq, 11), 0);
	assert_int_equal(req_header(&r, &sq, 3 + 65536), 2);
}

static void header_must_have_the_number_of_the_queue(void **state)
{
	struct req_format other = sq;
	uint8_t *data = new_data(8, 32);
	struct ring r = ring_of(data, 8);

	(void)state;
	put_req(data, 8, 3, 1);
	other.id = (uint64_t)18 << 32;
	assert_int_equal(req_header(&r, &other, 3), 0);
}

static void walk_between_known_indices(void **state)
{
	uint8_t *data = new_data(8, 32);
	struct ring r = ring_of(data, 8);
	struct req q[9];

	(void)state;
	put_req(data, 8, 0, 1);
	put_req(data, 8, 1, 2);
	put_req(data, 8, 3, 1);
	r.have_pi = r.have_ci = true;
	r.pi = 4;
	r.ci = 1;
	assert_int_equal(req_walk(&r, &sq, q), 3);
	assert_int_equal(q[0].index, 0);
	assert_true(q[0].done);
	assert_int_equal(q[1].index, 1);
	assert_int_equal(q[1].blocks, 2);
	assert_false(q[1].done);
	assert_false(q[1].bad);
	assert_int_equal(q[2].index, 3);
}

static void walk_wraps_at_the_end_of_the_ring(void **state)
{
	uint8_t *data = new_data(8, 32);
	struct ring r = ring_of(data, 8);
	struct req q[9];

	(void)state;
	put_req(data, 8, 4, 3);
	put_req(data, 8, 7, 4);
	r.have_pi = true;
	r.pi = 11;
	assert_int_equal(req_walk(&r, &sq, q), 2);
	assert_int_equal(q[1].index, 7);
	assert_int_equal(q[1].blocks, 4);
	assert_false(q[1].done);
}

static void walk_over_the_16_bit_boundary(void **state)
{
	uint8_t *data = new_data(16, 32);
	struct ring r = ring_of(data, 16);
	struct req q[17];

	(void)state;
	put_req(data, 16, 65532, 2);
	put_req(data, 16, 65534, 3);
	put_req(data, 16, 65537, 1);
	r.have_pi = r.have_ci = true;
	r.pi = 2;
	r.ci = 65534;
	assert_int_equal(req_walk(&r, &sq, q), 3);
	assert_int_equal(q[0].index, 65532);
	assert_true(q[0].done);
	assert_int_equal(q[1].index, 65534);
	assert_int_equal(q[2].index, 1);
}

static void walk_ignores_requests_of_the_last_pass(void **state)
{
	uint8_t *data = new_data(8, 32);
	struct ring r = ring_of(data, 8);
	struct req q[9];

	(void)state;
	put_req(data, 8, 5, 1);		/* last pass */
	put_req(data, 8, 14, 1);
	put_req(data, 8, 15, 1);
	r.have_pi = true;
	r.pi = 16;
	assert_int_equal(req_walk(&r, &sq, q), 2);
	assert_int_equal(q[0].index, 14);
}

/* Data inside a request that looks like a header leads nowhere */
static void walk_is_not_fooled_by_data(void **state)
{
	uint8_t *data = new_data(8, 32);
	struct ring r = ring_of(data, 8);
	struct req q[9];

	(void)state;
	put_req(data, 8, 0, 4);
	put_req(data, 8, 1, 3);		/* overwrites data of the first one */
	r.have_pi = r.have_ci = true;
	r.pi = 4;
	r.ci = 0;
	assert_int_equal(req_walk(&r, &sq, q), 1);
	assert_int_equal(q[0].index, 0);
	assert_int_equal(q[0].blocks, 4);
}

static void walk_reports_rubbish_in_flight(void **state)
{
	uint8_t *data = new_data(8, 32);
	struct ring r = ring_of(data, 8);
	struct req q[9];

	(void)state;
	put_req(data, 8, 0, 1);
	memset(data + 32, 0xff, 64);
	put_req(data, 8, 3, 1);
	r.have_pi = r.have_ci = true;
	r.pi = 4;
	r.ci = 0;
	assert_int_equal(req_walk(&r, &sq, q), 3);
	assert_false(q[0].bad);
	assert_int_equal(q[0].blocks, 1);
	assert_true(q[1].bad);
	assert_int_equal(q[1].index, 1);
	assert_int_equal(q[1].blocks, 2);
	assert_false(q[2].bad);
	assert_int_equal(q[2].index, 3);
}

static void walk_of_a_full_ring(void **state)
{
	uint8_t *data = new_data(4, 32);
	struct ring r = ring_of(data, 4);
	struct req q[5];
	uint32_t i;

	(void)state;
	for (i = 4; i < 8; i++)
		put_req(data, 4, i, 1);
	r.have_pi = r.have_ci = true;
	r.pi = 8;
	r.ci = 4;
	assert_int_equal(req_walk(&r, &sq, q), 4);
	assert_int_equal(q[0].index, 4);
	assert_false(q[0].done);
}

static void walk_of_an_unused_ring(void **state)
{
	uint8_t *data = new_data(16, 32);
	struct ring r = ring_of(data, 16);
	struct req q[17];
	uint32_t pi;

	(void)state;
	r.have_pi = r.have_ci = true;
	assert_int_equal(req_walk(&r, &sq, q), 0);
	assert_false(req_find_pi(&r, &sq, &pi));
}

static void walk_of_a_receive_queue(void **state)
{
	uint8_t *data = new_data(4, 32);
	struct ring r = ring_of(data, 4);
	struct req q[5];
	uint32_t i;

	(void)state;
	for (i = 2; i < 6; i++) {
		data[(i % 4) * 32] = (uint8_t)(i + 1);
		data[(i % 4) * 32 + 2] = 0xbe;	/* never written by software */
		data[(i % 4) * 32 + 4] = QPN;
	}
	r.have_pi = true;
	r.pi = 6;
	assert_int_equal(req_walk(&r, &rq, q), 4);
	assert_int_equal(q[3].index, 5);
	assert_int_equal(q[3].blocks, 1);
}

static void producer_found_by_scan(void **state)
{
	uint8_t *data = new_data(16, 32);
	struct ring r = ring_of(data, 16);
	uint32_t pi = 0;

	(void)state;
	put_req(data, 16, 14, 1);
	put_req(data, 16, 15, 3);
	put_req(data, 16, 18, 2);
	put_req(data, 16, 7, 1);	/* older, shorter chain */
	assert_true(req_find_pi(&r, &sq, &pi));
	assert_int_equal(pi, 20);
}

/* Rings of random bytes: nothing but a number of requests that fits */
static void random_rings(void **state)
{
	uint32_t depth, i, pi;
	struct req *q;
	uint8_t *data;
	struct ring r;
	int round;

	(void)state;
	for (round = 0; round < 3000; round++) {
		depth = 1U << next_random() % 7;
		data = malloc((size_t)depth * 32);
		q = malloc((depth + 1) * sizeof(*q));
		for (i = 0; i < depth * 32; i++)
			data[i] = (uint8_t)(next_random() % 3 ? next_random() : 0);
		for (i = 0; i < depth; i++)
			if (next_random() % 2)
				put_req(data, depth, i, 1 + next_random() %
					(depth < 4 ? depth : 4));
		r = ring_of(data, depth);
		r.have_ci = next_random() % 2;
		r.pi = next_random() % 65536;
		r.ci = next_random() % 65536;
		assert_true(req_walk(&r, &sq, q) <= depth);
		req_find_pi(&r, &sq, &pi);
		owner_find_pi(&r, 0, &pi);
		owner_unread(&r, 3);
		free(q);
		free(data);
	}
}

/* ---- owner bits (3.2) --------------------------------------------------- */

/* A ring the device has written @pi entries to */
static void write_owned(uint8_t *data, uint32_t depth, uint32_t pi)
{
	uint32_t i;

	memset(data, 0, (size_t)depth * 32);
	for (i = 0; i < pi; i++)
		data[(i % depth) * 32] = i & depth ? 0 : 0x80;
}

static void producer_found_by_owner_bits(void **state)
{
	uint32_t depth, pi, found;
	uint8_t *data = new_data(16, 32);
	struct ring r;

	(void)state;
	for (depth = 1; depth <= 16; depth *= 2)
		for (pi = 0; pi < 4 * depth; pi++) {
			write_owned(data, depth, pi);
			r = ring_of(data, depth);
			assert_true(owner_find_pi(&r, 0, &found));
			assert_int_equal(found, pi % (2 * depth));
		}
}

static void unread_entries_by_owner_bits(void **state)
{
	uint8_t *data = new_data(8, 32);
	struct ring r = ring_of(data, 8);
	uint32_t pi, ci;

	(void)state;
	for (pi = 0; pi < 40; pi++) {
		write_owned(data, 8, pi);
		for (ci = pi < 8 ? 0 : pi - 8; ci <= pi; ci++) {
			r.ci = ci;
			assert_int_equal(owner_unread(&r, 0), pi - ci);
		}
	}
}

static void owner_bits_that_make_no_sense(void **state)
{
	uint8_t *data = new_data(8, 32);
	struct ring r = ring_of(data, 8);
	uint32_t pi;

	(void)state;
	data[0] = data[2 * 32] = data[4 * 32] = 0x80;
	assert_false(owner_find_pi(&r, 0, &pi));
}

static void entries_copied_over_the_end(void **state)
{
	uint8_t *data = new_data(4, 32), out[96];
	struct ring r = ring_of(data, 4);

	(void)state;
	memset(data + 96, 3, 32);
	memset(data, 4, 32);
	memset(data + 32, 5, 32);
	ring_copy(&r, 3, 3, out);
	assert_int_equal(out[0], 3);
	assert_int_equal(out[32], 4);
	assert_int_equal(out[95], 5);
}

int unit_ring(void)
{
	const struct CMUnitTest tests[] = {
		TEST(header_must_fit_its_place), TEST(header_must_have_the_number_of_the_queue),
		TEST(walk_between_known_indices), TEST(walk_wraps_at_the_end_of_the_ring),
		TEST(walk_over_the_16_bit_boundary), TEST(walk_ignores_requests_of_the_last_pass),
		TEST(walk_is_not_fooled_by_data), TEST(walk_reports_rubbish_in_flight),
		TEST(walk_of_a_full_ring), TEST(walk_of_an_unused_ring),
		TEST(walk_of_a_receive_queue), TEST(producer_found_by_scan), TEST(random_rings),
		TEST(producer_found_by_owner_bits), TEST(unread_entries_by_owner_bits),
		TEST(owner_bits_that_make_no_sense), TEST(entries_copied_over_the_end),
	};

	return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
