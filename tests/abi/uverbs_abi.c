// SPDX-License-Identifier: GPL-2.0-or-later
/* include/uapi/erdma-abi.h must have the layout that the stock provider uses. */
#include <string.h>

#include "uapi/erdma-abi.h"
#include "tap.h"
#include "uverbs_abi.h"

static const struct abi_field own_abi[] = { ABI_FIELDS(OWN_S, OWN_F) };

static bool structures_equal(void)
{
	const int n = sizeof(own_abi) / sizeof(own_abi[0]);

	EXPECT(n == n_system_abi, "%d fields here, %d there", n, n_system_abi);
	for (int i = 0; i < n; i++) {
		EXPECT(!strcmp(own_abi[i].name, system_abi[i].name), "%s", own_abi[i].name);
		EXPECT(own_abi[i].offset == system_abi[i].offset, "offset of %s: %zu, provider %zu",
		       own_abi[i].name, own_abi[i].offset, system_abi[i].offset);
		EXPECT(own_abi[i].size == system_abi[i].size, "size of %s: %zu, provider %zu",
		       own_abi[i].name, own_abi[i].size, system_abi[i].size);
	}
	return true;
}

static bool versions_equal(void)
{
	EXPECT(ERDMA_ABI_VERSION == system_abi_version, "%d here, %d there", ERDMA_ABI_VERSION,
	       system_abi_version);
	return true;
}

/* docs/erdma-hardware.md, section 13 */
static bool sizes_are_documented_ones(void)
{
	EXPECT(sizeof(struct erdma_abi_create_cq) == 24, "create_cq request");
	EXPECT(sizeof(struct erdma_abi_create_cq_resp) == 8, "create_cq response");
	EXPECT(sizeof(struct erdma_abi_create_qp) == 24, "create_qp request");
	EXPECT(sizeof(struct erdma_abi_create_qp_resp) == 16, "create_qp response");
	EXPECT(sizeof(struct erdma_abi_context_resp) == 40, "get_context response");
	return true;
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "uverbs structures equal the provider's", structures_equal },
		{ "uverbs ABI version equals the provider's", versions_equal },
		{ "uverbs sizes are the documented ones", sizes_are_documented_ones },
	};

	return tap_run(tests, sizeof(tests) / sizeof(tests[0]), NULL);
}
