// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of eadm, without a kernel. */
#include "unit.h"

struct pool test_pool;

int test_setup(void **state)
{
	(void)state;
	return 0;
}

int test_teardown(void **state)
{
	(void)state;
	pool_free(&test_pool);
	return 0;
}

/* Pool memory has exactly the size asked for, so ASan sees every byte too far */
uint8_t *hex(const char *s, size_t *len)
{
	size_t n = 0, max = strlen(s) / 2 + 1;
	uint8_t *tmp = malloc(max), *exact;
	unsigned int v;

	while (*s) {
		if (*s == ' ') {
			s++;
			continue;
		}
		assert_int_equal(sscanf(s, "%2x", &v), 1);
		tmp[n++] = (uint8_t)v;
		s += 2;
	}
	exact = pool_alloc(&test_pool, n);
	memcpy(exact, tmp, n);
	free(tmp);
	*len = n;
	return exact;
}

struct obj *decoded(const struct schema *schema, void (*fn)(struct obj *, const void *, size_t),
		    const char *bytes)
{
	struct obj *o = obj_new(&test_pool, schema);
	size_t len;
	uint8_t *p = hex(bytes, &len);

	fn(o, p, len);
	return o;
}

const char *words_of(const struct obj *o, unsigned int field)
{
	const struct val *v = obj_val(o, field);
	const char *s = "";
	size_t i;

	if (v->kind != V_WORDS)
		return "(none)";
	for (i = 0; i < v->w->n; i++)
		s = pool_printf(&test_pool, "%s%s%s", s, i ? "," : "", v->w->w[i]);
	return s;
}

uint32_t next_random(void)
{
	static uint32_t x = 0x12345678;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return x;
}

int main(void)
{
	return unit_decode() + unit_decode_cmd() + unit_decode_ctx() + unit_decode_mem() +
	       unit_ring() + unit_source() + unit_parse() + unit_emit() + unit_snap() + unit_redact() +
	       unit_rules() + unit_why() + unit_top();
}
