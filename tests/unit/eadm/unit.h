/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the unit tests share. */
#ifndef EADM_UNIT_H
#define EADM_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model.h"
#include "schema.h"

int unit_decode(void);
int unit_decode_cmd(void);
int unit_decode_ctx(void);
int unit_decode_mem(void);
int unit_ring(void);
int unit_source(void);
int unit_parse(void);
int unit_emit(void);
int unit_redact(void);
int unit_snap(void);
int unit_rules(void);
int unit_why(void);
int unit_top(void);

/* Memory of the test that runs; freed after it */
extern struct pool test_pool;
int test_setup(void **state);
int test_teardown(void **state);

/* Bytes in hex, blanks ignored, in a block of exactly their size */
uint8_t *hex(const char *s, size_t *len);
struct obj *decoded(const struct schema *schema, void (*fn)(struct obj *, const void *, size_t),
		    const char *bytes);
const char *words_of(const struct obj *o, unsigned int field);
uint32_t next_random(void);

#define has_num(o, field, v)	assert_int_equal(obj_get_u64(o, field, ~0ULL), v)
#define has_str(o, field, s)	assert_string_equal(obj_get_str(o, field, "(none)"), s)
#define has_words(o, field, s)	assert_string_equal(words_of(o, field), s)
#define has_none(o, field)	assert_false(obj_has(o, field))

#define TEST(f)	cmocka_unit_test_setup_teardown(f, test_setup, test_teardown)

#endif /* EADM_UNIT_H */
