// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* MPA frames: erdma_mpa.c (docs/erdma-hardware.md, 12.3) */
#include "erdma.h"
#include "suites.h"

#define FRAME_MAX (ERDMA_MPA_FIXED_SIZE + ERDMA_MPA_MAX_PDATA)

/* A request: cookie 0x12345678, CUBIC, no private data. Written out by hand. */
static const u8 request[ERDMA_MPA_FIXED_SIZE] = {
	'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'q', ' ', 'F', 'r', 'a', 'm', 'e',
	0x00, 0x81, 0x00, 0x00, 0x12, 0x34, 0x56, 0x78, 0x00, 0x00, 0x00, 0x01,
};

struct mpa_frame {
	u8 bytes[FRAME_MAX + 2];
};

static struct mpa_frame *frame_new(struct kunit *test)
{
	struct mpa_frame *frame = kunit_kzalloc(test, sizeof(*frame), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, frame);
	memcpy(frame->bytes, request, sizeof(request));
	return frame;
}

static void request_is_parsed(struct kunit *test)
{
	struct erdma_mpa_info info;

	memset(&info, 0xff, sizeof(info));
	KUNIT_ASSERT_EQ(test, erdma_mpa_parse(request, sizeof(request), &info), 0);
	KUNIT_EXPECT_FALSE(test, info.reply);
	KUNIT_EXPECT_FALSE(test, info.reject);
	KUNIT_EXPECT_FALSE(test, info.markers);
	KUNIT_EXPECT_FALSE(test, info.crc);
	KUNIT_EXPECT_EQ(test, info.cookie, 0x12345678);
	KUNIT_EXPECT_EQ(test, info.cc, ERDMA_CC_CUBIC);
	KUNIT_EXPECT_EQ(test, info.pdata_len, 0);
}

static void reply_is_distinguished_from_request(struct kunit *test)
{
	struct mpa_frame *frame = frame_new(test);
	struct erdma_mpa_info info;

	memcpy(frame->bytes + 7, "Rep", 3);
	KUNIT_ASSERT_EQ(test, erdma_mpa_parse(frame->bytes, ERDMA_MPA_FIXED_SIZE, &info), 0);
	KUNIT_EXPECT_TRUE(test, info.reply);
}

struct byte_case {
	const char *name;
	u8 at;
	u8 value;
	int want;
};

static void byte_desc(const struct byte_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

/* The good request with one byte changed */
static const struct byte_case byte_cases[] = {
	{ "key_first_byte", 0, 'm', -EPROTO },
	{ "key_last_byte", 15, 'E', -EPROTO },
	{ "key_terminated", 15, 0, -EPROTO },
	{ "key_neither_req_nor_rep", 9, 'x', -EPROTO },
	{ "revision_1", 17, 1, -EPROTO },
	{ "revision_2", 17, 2, -EPROTO },
	{ "revision_0", 17, 0, -EPROTO },
	{ "revision_255", 17, 255, -EPROTO },
	{ "length_high_byte", 18, 1, -EPROTO },
	{ "length_absurd", 18, 0xff, -EPROTO },
	{ "length_without_data", 19, 1, -EAGAIN },
	{ "reserved_flag_ignored", 16, 0x10, 0 },
	{ "all_reserved_flags_ignored", 16, 0x1f, 0 },
	{ "extension_reserved_ignored", 24, 0xff, 0 },
	{ "unknown_cc_reported", 27, 0x0f, 0 },
	{ "cookie_all_ones", 20, 0xff, 0 },
};

KUNIT_ARRAY_PARAM(byte, byte_cases, byte_desc);

static void each_field_is_judged(struct kunit *test)
{
	const struct byte_case *c = test->param_value;
	struct mpa_frame *frame = frame_new(test);
	struct erdma_mpa_info info;

	frame->bytes[c->at] = c->value;
	KUNIT_EXPECT_EQ(test, erdma_mpa_parse(frame->bytes, ERDMA_MPA_FIXED_SIZE, &info), c->want);
}

struct flag_case {
	const char *name;
	u8 byte;
	bool markers;
	bool crc;
	bool reject;
};

static void flag_desc(const struct flag_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

static const struct flag_case flag_cases[] = {
	{ "none", 0x00, false, false, false },
	{ "markers", 0x80, true, false, false },
	{ "crc", 0x40, false, true, false },
	{ "reject", 0x20, false, false, true },
	{ "all", 0xff, true, true, true },
};

KUNIT_ARRAY_PARAM(flag, flag_cases, flag_desc);

static void flags_are_reported(struct kunit *test)
{
	const struct flag_case *c = test->param_value;
	struct mpa_frame *frame = frame_new(test);
	struct erdma_mpa_info info;

	frame->bytes[16] = c->byte;
	KUNIT_ASSERT_EQ(test, erdma_mpa_parse(frame->bytes, ERDMA_MPA_FIXED_SIZE, &info), 0);
	KUNIT_EXPECT_EQ(test, info.markers, c->markers);
	KUNIT_EXPECT_EQ(test, info.crc, c->crc);
	KUNIT_EXPECT_EQ(test, info.reject, c->reject);
}

/* A frame that arrives byte by byte is never taken too early */
static void every_prefix_asks_for_more(struct kunit *test)
{
	struct mpa_frame *frame = frame_new(test);
	struct erdma_mpa_info info;
	size_t len;

	frame->bytes[19] = 10;
	for (len = 0; len < ERDMA_MPA_FIXED_SIZE + 10; len++)
		KUNIT_EXPECT_EQ(test, erdma_mpa_parse(frame->bytes, len, &info), -EAGAIN);
	KUNIT_EXPECT_EQ(test, erdma_mpa_parse(frame->bytes, len, &info), 0);
	KUNIT_EXPECT_EQ(test, info.pdata_len, 10);
}

/* A wrong key is noticed with its first byte, not after 28 */
static void wrong_key_fails_early(struct kunit *test)
{
	struct erdma_mpa_info info;

	KUNIT_EXPECT_EQ(test, erdma_mpa_parse("GET / HTTP/1.1", 1, &info), -EPROTO);
	KUNIT_EXPECT_EQ(test, erdma_mpa_parse("MPA ID RxX", 9, &info), -EPROTO);
	KUNIT_EXPECT_EQ(test, erdma_mpa_parse("MPA ID Re", 9, &info), -EAGAIN);
}

static void byte_behind_frame_is_refused(struct kunit *test)
{
	struct mpa_frame *frame = frame_new(test);
	struct erdma_mpa_info info;

	KUNIT_EXPECT_EQ(test, erdma_mpa_parse(frame->bytes, ERDMA_MPA_FIXED_SIZE + 1, &info),
			-EPROTO);
	frame->bytes[19] = 255;
	KUNIT_EXPECT_EQ(test, erdma_mpa_parse(frame->bytes, FRAME_MAX + 1, &info), -EPROTO);
}

static void longest_private_data_is_255(struct kunit *test)
{
	struct mpa_frame *frame = frame_new(test);
	struct erdma_mpa_info info;

	frame->bytes[19] = 255;
	KUNIT_ASSERT_EQ(test, erdma_mpa_parse(frame->bytes, FRAME_MAX, &info), 0);
	KUNIT_EXPECT_EQ(test, info.pdata_len, 255);

	frame->bytes[18] = 1;
	frame->bytes[19] = 0;		/* 256 */
	KUNIT_EXPECT_EQ(test, erdma_mpa_parse(frame->bytes, FRAME_MAX + 1, &info), -EPROTO);
}

static void failure_leaves_result_alone(struct kunit *test)
{
	struct erdma_mpa_info info, before;

	memset(&info, 0x5a, sizeof(info));
	before = info;
	KUNIT_EXPECT_EQ(test, erdma_mpa_parse(request, 20, &info), -EAGAIN);
	KUNIT_EXPECT_EQ(test, memcmp(&info, &before, sizeof(info)), 0);
}

static void unaligned_frame_is_parsed(struct kunit *test)
{
	struct mpa_frame *frame = frame_new(test);
	struct erdma_mpa_info info;

	memmove(frame->bytes + 1, frame->bytes, ERDMA_MPA_FIXED_SIZE);
	KUNIT_ASSERT_EQ(test, erdma_mpa_parse(frame->bytes + 1, ERDMA_MPA_FIXED_SIZE, &info), 0);
	KUNIT_EXPECT_EQ(test, info.cookie, 0x12345678);
}

static void built_request_has_documented_bytes(struct kunit *test)
{
	const struct erdma_mpa_info info = { .cookie = 0x12345678, .cc = ERDMA_CC_CUBIC };
	struct erdma_mpa_frame frame;

	memset(&frame, 0xff, sizeof(frame));
	erdma_mpa_build(&frame, &info);
	KUNIT_EXPECT_EQ(test, memcmp(&frame, request, sizeof(request)), 0);
}

static void built_reply_is_parsed_back(struct kunit *test)
{
	const struct erdma_mpa_info in = {
		.reply = true, .reject = true, .markers = true, .crc = true,
		.cookie = 0xfedcba98, .cc = ERDMA_CC_HPCC_INT, .pdata_len = 0,
	};
	struct erdma_mpa_info out = {};
	struct erdma_mpa_frame frame;

	erdma_mpa_build(&frame, &in);
	KUNIT_ASSERT_EQ(test, erdma_mpa_parse(&frame, sizeof(frame), &out), 0);
	KUNIT_EXPECT_EQ(test, out.reply, in.reply);
	KUNIT_EXPECT_EQ(test, out.reject, in.reject);
	KUNIT_EXPECT_EQ(test, out.markers, in.markers);
	KUNIT_EXPECT_EQ(test, out.crc, in.crc);
	KUNIT_EXPECT_EQ(test, out.cookie, in.cookie);
	KUNIT_EXPECT_EQ(test, out.cc, in.cc);
}

static void cc_that_differs_becomes_cubic(struct kunit *test)
{
	u8 own, peer;

	for (own = 0; own < ERDMA_CC_COUNT; own++)
		for (peer = 0; peer < 16; peer++)
			KUNIT_EXPECT_EQ(test, erdma_mpa_pick_cc(own, peer),
					own == peer ? own : ERDMA_CC_CUBIC);
}

static struct kunit_case mpa_cases[] = {
	KUNIT_CASE(request_is_parsed),
	KUNIT_CASE(reply_is_distinguished_from_request),
	KUNIT_CASE_PARAM(each_field_is_judged, byte_gen_params),
	KUNIT_CASE_PARAM(flags_are_reported, flag_gen_params),
	KUNIT_CASE(every_prefix_asks_for_more),
	KUNIT_CASE(wrong_key_fails_early),
	KUNIT_CASE(byte_behind_frame_is_refused),
	KUNIT_CASE(longest_private_data_is_255),
	KUNIT_CASE(failure_leaves_result_alone),
	KUNIT_CASE(unaligned_frame_is_parsed),
	KUNIT_CASE(built_request_has_documented_bytes),
	KUNIT_CASE(built_reply_is_parsed_back),
	KUNIT_CASE(cc_that_differs_becomes_cubic),
	{}
};

struct kunit_suite erdma_mpa_suite = {
	.name = "erdma_mpa",
	.test_cases = mpa_cases,
};
