// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Codes and words: include/erdma/erdma_names.h, erdma_counters.h */
#include "erdma.h"
#include "erdma/erdma_names.h"
#include "suites.h"

struct list {
	const char *name;
	const char *(*word)(u32 code);
	const char *(*text)(u32 code);
	u32 count;		/* codes 0..count - 1 all have a word */
};

static void list_desc(const struct list *l, char *desc)
{
	strscpy(desc, l->name, KUNIT_PARAM_DESC_SIZE);
}

static const struct list lists[] = {
	{ "wr_opcode", erdma_name_wr_opcode, erdma_text_wr_opcode, ERDMA_OP_COUNT },
	{ "syndrome", erdma_name_syndrome, erdma_text_syndrome, ERDMA_WC_COUNT },
	{ "qp_state", erdma_name_qp_state, erdma_text_qp_state, ERDMA_QPS_COUNT },
	{ "ae_type", erdma_name_ae_type, erdma_text_ae_type, ERDMA_AE_COUNT },
	{ "cc", erdma_name_cc, erdma_text_cc, ERDMA_CC_COUNT },
	{ "mr_type", erdma_name_mr_type, erdma_text_mr_type, ERDMA_MR_DMA + 1 },
	{ "cmd_common", erdma_name_cmd_common, erdma_text_cmd_common,
	  ERDMA_CMD_GET_EXT_ATTR + 1 },
};

KUNIT_ARRAY_PARAM(list, lists, list_desc);

static void every_code_has_word_and_sentence(struct kunit *test)
{
	const struct list *l = test->param_value;
	u32 i;

	for (i = 0; i < l->count; i++) {
		KUNIT_EXPECT_NOT_ERR_OR_NULL(test, l->word(i));
		KUNIT_EXPECT_NOT_ERR_OR_NULL(test, l->text(i));
	}
}

static void code_outside_list_has_no_word(struct kunit *test)
{
	const struct list *l = test->param_value;

	KUNIT_EXPECT_TRUE(test, !l->word(l->count));
	KUNIT_EXPECT_TRUE(test, !l->word(0xffffffff));
	KUNIT_EXPECT_TRUE(test, !l->text(l->count));
}

static void words_are_unique_within_list(struct kunit *test)
{
	const struct list *l = test->param_value;
	u32 i, j;

	for (i = 0; i < l->count; i++)
		for (j = i + 1; j < l->count; j++)
			KUNIT_EXPECT_STRNEQ(test, l->word(i), l->word(j));
}

static void commands_are_named_per_submodule(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, erdma_name_cmd(ERDMA_SUBMOD_RDMA, 4), "CREATE_CQ");
	KUNIT_EXPECT_STREQ(test, erdma_name_cmd(ERDMA_SUBMOD_COMMON, 4), "GET_STATS");
	KUNIT_EXPECT_TRUE(test, !erdma_name_cmd(2, 0));
	/* Holes of 5.1 */
	KUNIT_EXPECT_TRUE(test, !erdma_name_cmd(ERDMA_SUBMOD_RDMA, 7));
	KUNIT_EXPECT_TRUE(test, !erdma_name_cmd(ERDMA_SUBMOD_RDMA, 13));
}

#define STAT_NAME(id, name, group, error, text) name,
static const char * const stat_names[] = {
	ERDMA_DEVICE_COUNTERS(STAT_NAME)
	ERDMA_DRIVER_COUNTERS(STAT_NAME)
	ERDMA_SUM_COUNTERS(STAT_NAME)
	ERDMA_DETAIL_COUNTERS(STAT_NAME)
};

static void counter_names_are_unique_words(struct kunit *test)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
	u32 i, j;

	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(stat_names),
			ERDMA_HW_STATS_COUNT + ERDMA_STAT_COUNT + 2);
	for (i = 0; i < ARRAY_SIZE(stat_names); i++) {
		KUNIT_EXPECT_EQ(test, strspn(stat_names[i], letters),
				strlen(stat_names[i]));
		for (j = i + 1; j < ARRAY_SIZE(stat_names); j++)
			KUNIT_EXPECT_STRNEQ(test, stat_names[i], stat_names[j]);
	}
}

static struct kunit_case names_cases[] = {
	KUNIT_CASE_PARAM(every_code_has_word_and_sentence, list_gen_params),
	KUNIT_CASE_PARAM(code_outside_list_has_no_word, list_gen_params),
	KUNIT_CASE_PARAM(words_are_unique_within_list, list_gen_params),
	KUNIT_CASE(commands_are_named_per_submodule),
	KUNIT_CASE(counter_names_are_unique_words),
	{}
};

struct kunit_suite erdma_names_suite = {
	.name = "erdma_names",
	.test_cases = names_cases,
};
