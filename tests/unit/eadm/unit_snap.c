// SPDX-License-Identifier: GPL-2.0-or-later
/* The snapshot file: layouts, redaction, lines, and files that make no sense. */
#include <unistd.h>

#include "erdma/erdma_hw.h"
#include "erdma/erdma_snapshot.h"
#include "uapi/erdma_diag.h"

#include "snap.h"
#include "unit.h"

static const uint16_t record_types[] = {
	ERDMA_DIAG_REC_QP, ERDMA_DIAG_REC_CQ, ERDMA_DIAG_REC_EQ, ERDMA_DIAG_REC_CMDQ,
	ERDMA_DIAG_REC_QP_HW, ERDMA_DIAG_REC_CQ_HW, ERDMA_DIAG_REC_EQ_HW,
	ERDMA_DIAG_REC_MR, ERDMA_DIAG_REC_PD, ERDMA_DIAG_REC_CTX, ERDMA_DIAG_REC_CM_ID,
#define LOG_RECORD(kind, name, text) ERDMA_DIAG_REC_LOG(kind),
	ERDMA_DIAG_LOGS(LOG_RECORD)
	ERDMA_SNAP_INFO, ERDMA_SNAP_DEBUG, ERDMA_SNAP_RING,
};

#define N_TYPES	(sizeof(record_types) / sizeof(record_types[0]))

/* A field that is missing would be neither turned round nor redacted */
static void layouts_name_every_byte_once(void **state)
{
	const struct layout *l;
	size_t i, j, end;

	(void)state;
	for (i = 0; i < N_TYPES; i++) {
		l = layout_of_record(record_types[i]);
		assert_non_null(l);
		for (j = 0, end = 0; j < l->n; j++) {
			assert_int_equal(l->f[j].off, end);
			end += (size_t)l->f[j].width * l->f[j].count;
		}
		assert_int_equal(end, l->size);
	}
	assert_null(layout_of_record(ERDMA_SNAP_FILE));
	assert_null(layout_of_record(0x1234));
}

static void layouts_turn_bytes_round(void **state)
{
	const struct layout *l = layout_of_record(ERDMA_DIAG_REC_QP);
	struct erdma_diag_qp qp = { .qpn = 0x01020304, .sport = 0x0506, .saddr = { 1, 2, 3, 4 },
				    .created_ns = 0x0102030405060708 };

	(void)state;
	layout_swap(l, (uint8_t *)&qp, sizeof(qp));
	assert_int_equal(qp.qpn, 0x04030201);
	assert_int_equal(qp.sport, 0x0605);
	assert_int_equal(qp.saddr[0], 1);
	assert_true(qp.created_ns == 0x0807060504030201);
	/* Of a structure of an older driver, what there is; an element that is cut stays */
	qp.pdn = 0x01020304;
	layout_swap(l, (uint8_t *)&qp, 6);
	assert_int_equal(qp.qpn, 0x01020304);
	assert_int_equal(qp.pdn, 0x01020304);
}

/* In network order in the file as in the structure */
static void a_guid_is_not_turned_round(void **state)
{
	static const uint8_t guid[] = { 2, 0x16, 0x3e, 0xff, 0xfe, 0x12, 0x34, 0x56 };
	const struct layout *l = layout_of_record(ERDMA_SNAP_INFO);
	struct erdma_diag_info info = { .cap0 = 1 };

	(void)state;
	memcpy(&info.node_guid, guid, sizeof(guid));
	layout_swap(l, (uint8_t *)&info, sizeof(info));
	assert_memory_equal(&info.node_guid, guid, sizeof(guid));
	assert_true(info.cap0 == 1ULL << 56);
}

static void checksum_is_crc32c(void **state)
{
	uint32_t crc = snap_crc32c(0, "123456789", 9);

	(void)state;
	assert_int_equal(crc, 0xe3069283);
	assert_int_equal(snap_crc32c(snap_crc32c(0, "1234", 4), "56789", 5), crc);
}

static void lines_keep_any_value(void **state)
{
	struct snap_lines l = { .pool = &test_pool };
	char name[16], value[16];
	size_t pos = 0;

	(void)state;
	lines_add(&l, FC_PLAIN, "a", "%s", "x\ny\\n=z");
	lines_add(&l, FC_PLAIN, "a name that does not fit", "%d", 1);
	lines_add(&l, FC_PLAIN, "b", "%s", "");
	lines_add(&l, FC_PLAIN, "c", "%s", "0123456789abcdefgh");
	assert_true(lines_next((uint8_t *)l.text, l.len, &pos, name, 16, value, 16));
	assert_string_equal(name, "a");
	assert_string_equal(value, "x\ny\\n=z");
	assert_true(lines_next((uint8_t *)l.text, l.len, &pos, name, 16, value, 16));
	assert_string_equal(name, "b");
	assert_string_equal(value, "");
	assert_true(lines_next((uint8_t *)l.text, l.len, &pos, name, 16, value, 16));
	assert_string_equal(value, "0123456789abcde");
	assert_false(lines_next((uint8_t *)l.text, l.len, &pos, name, 16, value, 16));
	assert_false(lines_find((uint8_t *)l.text, l.len, "d", value, 16));
	/* A line without an end, or without '=' */
	pos = 0;
	assert_false(lines_next((const uint8_t *)"x=1", 3, &pos, name, 16, value, 16));
	pos = 0;
	assert_true(lines_next((const uint8_t *)"x\ny=2\n", 6, &pos, name, 16, value, 16));
	assert_string_equal(name, "y");
}

/* ---- redaction -------------------------------------------------------------- */

static struct erdma_diag_qp secret_qp(void)
{
	return (struct erdma_diag_qp){
		.qpn = 17, .saddr = { 10, 0, 0, 7 }, .daddr = { 10, 0, 0, 8 }, .sport = 1234,
		.sq = { .dma = 0xabcdef012345, .pi = 9 }, .cookie = 77,
		.owner = { .pid = 4711, .comm = "secretd" },
	};
}

static void pseudonyms_keep_equality(void **state)
{
	struct redact *r = redact_new(&test_pool, REDACT_IDS);
	struct erdma_diag_qp a = secret_qp(), b = secret_qp();

	(void)state;
	b.daddr[3] = 7;
	assert_false(redact_record(r, ERDMA_DIAG_REC_QP, (uint8_t *)&a, sizeof(a)));
	redact_record(r, ERDMA_DIAG_REC_QP, (uint8_t *)&b, sizeof(b));
	assert_memory_equal(a.saddr, b.saddr, 16);
	assert_memory_equal(b.saddr, b.daddr, 16);
	assert_memory_not_equal(a.saddr, a.daddr, 16);
	assert_int_equal(a.saddr[0], 240);
	assert_int_equal(a.owner.pid, b.owner.pid);
	assert_int_not_equal(a.owner.pid, 4711);
	assert_string_equal((char *)a.owner.comm, (char *)b.owner.comm);
	assert_string_not_equal((char *)a.owner.comm, "secretd");
	assert_true(a.sq.dma == 1 && b.sq.dma == 1 && a.sq.pi == 9 && a.sport == 1234 && a.cookie == 77);
	/* Text gets the same number as the structure */
	assert_string_equal(redact_text(r, FC_PID, "4711"), "1");
	assert_string_equal(redact_text(r, FC_IP, "10.0.0.7"), "240.0.0.1");
	assert_string_equal(redact_text(r, FC_COMM, "secretd"), (char *)a.owner.comm);
	assert_null(redact_text(r, FC_MAC, "52:54:00:12:34:56"));
	redact_end(r);
}

static void full_leaves_plain_fields_only(void **state)
{
	struct redact *r = redact_new(&test_pool, REDACT_FULL);
	struct erdma_diag_qp a = secret_qp();
	struct erdma_diag_info info = { .cap1 = 0x1234567800000003, .mac = { 2, 1 },
					.netdev = "eth0", .max_qp = 5 };

	(void)state;
	assert_true(redact_record(r, ERDMA_DIAG_REC_QP, (uint8_t *)&a, sizeof(a)));
	assert_true(a.qpn == 17 && a.sq.pi == 9 && a.sport == 1234);
	assert_true(!a.saddr[0] && !a.owner.pid && !a.owner.comm[0] && !a.sq.dma);
	redact_record(r, ERDMA_SNAP_INFO, (uint8_t *)&info, sizeof(info));
	assert_true(info.cap1 == 3 && !info.mac[0] && !info.netdev[0] && info.max_qp == 5);
	assert_null(redact_text(r, FC_NAME, "eth0"));
	assert_string_equal(redact_text(r, FC_PLAIN, "eth0"), "eth0");
	redact_end(r);
}

static void bytes_without_a_name_are_zeroed(void **state)
{
	struct redact *r = redact_new(&test_pool, REDACT_IDS);
	struct erdma_resp_qpc qpc = { .sq_addr = 0xabcdef, .rsvd = 0x55555555 };
	struct erdma_diag_hw hw = { .len = sizeof(qpc) };
	uint8_t unknown[16], longer[sizeof(struct erdma_diag_qp) + 8];

	(void)state;
	memset(hw.data, 0xee, sizeof(hw.data));
	memcpy(hw.data, &qpc, sizeof(qpc));
	assert_false(redact_record(r, ERDMA_DIAG_REC_QP_HW, (uint8_t *)&hw, sizeof(hw)));
	memcpy(&qpc, hw.data, sizeof(qpc));
	assert_true(qpc.sq_addr == 1 && !qpc.rsvd && !hw.data[sizeof(qpc)] && !hw.data[255]);
	assert_int_equal(hw.len, sizeof(qpc));
	/* A record of a newer driver, and the end of one */
	memset(unknown, 0xee, sizeof(unknown));
	assert_true(redact_record(r, 0x77, unknown, sizeof(unknown)));
	assert_true(!unknown[0] && !unknown[15]);
	memset(longer, 0xee, sizeof(longer));
	redact_record(r, ERDMA_DIAG_REC_QP, longer, sizeof(longer));
	assert_true(!longer[sizeof(struct erdma_diag_qp)] && !longer[sizeof(longer) - 1]);
	redact_end(r);
}

/* ---- files ------------------------------------------------------------------ */

static char file_name[64];

/* A file of three records; returns its bytes */
static uint8_t *small_file(size_t *len)
{
	struct snap_key key = { .type = ERDMA_DIAG_REC_QP, .dev = 0, .obj = ERDMA_DIAG_OBJ_QP };
	struct erdma_diag_qp qp = secret_qp();
	struct snap_out *out;
	uint8_t *bytes;
	FILE *f;
	int err;

	snprintf(file_name, sizeof(file_name), "/tmp/eadm-unit-%d", (int)getpid());
	out = snap_create(&test_pool, file_name, NULL, &err);
	assert_non_null(out);
	for (key.id = 30; key.id > 0; key.id -= 10)
		snap_put(out, &key, &qp, sizeof(qp), NULL, 0);
	assert_int_equal(snap_finish(out), 0);
	f = fopen(file_name, "r");
	assert_non_null(f);
	bytes = pool_alloc(&test_pool, 1 << 16);
	*len = fread(bytes, 1, 1 << 16, f);
	fclose(f);
	unlink(file_name);
	return bytes;
}

static void files_are_read_back(void **state)
{
	const struct snap_item *i;
	struct snap_in *in;
	uint8_t *bytes;
	size_t len;

	(void)state;
	bytes = small_file(&len);
	in = snap_parse(&test_pool, bytes, len);
	assert_non_null(in);
	assert_null(in->damage);
	assert_int_equal(in->n, 3);
	i = snap_find(in, 0, ERDMA_DIAG_REC_QP, ERDMA_DIAG_OBJ_QP, 20);
	assert_non_null(i);
	assert_true(i->id == 20 && i->len == sizeof(struct erdma_diag_qp) && i->seq == 1);
	assert_int_equal(((struct erdma_diag_qp *)i->body)->qpn, 17);
	assert_null(snap_find(in, 0, ERDMA_DIAG_REC_QP, ERDMA_DIAG_OBJ_QP, 21));
	assert_null(snap_find(in, 1, ERDMA_DIAG_REC_QP, ERDMA_DIAG_OBJ_QP, 20));
	assert_int_equal(snap_from(in, 0, ERDMA_DIAG_REC_QP, 21)->id, 30);
	assert_null(snap_from(in, 0, ERDMA_DIAG_REC_QP, 31));
	assert_non_null(snap_last(in, 0, ERDMA_DIAG_REC_QP, ERDMA_DIAG_OBJ_QP, 30));
}

/* Cut anywhere: the records before it are there, and it is noticed */
static void a_cut_file_is_read_to_the_cut(void **state)
{
	uint8_t *bytes, *copy;
	size_t len, cut, whole;
	struct snap_in *in;

	(void)state;
	bytes = small_file(&len);
	for (cut = 0; cut < len; cut++) {
		copy = malloc(cut ? cut : 1);
		memcpy(copy, bytes, cut);
		in = snap_parse(&test_pool, copy, cut);
		if (cut < sizeof(struct erdma_snap_header)) {
			assert_null(in);
		} else {
			whole = (cut - sizeof(struct erdma_snap_header)) /
				(sizeof(struct erdma_snap_rec) + sizeof(struct erdma_diag_qp));
			assert_int_equal(in->n, whole < 3 ? whole : 3);
			assert_non_null(in->item);
			assert_non_null(in->damage);
		}
		free(copy);
	}
}

/* Any bit that is wrong is noticed: by the checksum, or because nothing can be read */
static void a_changed_file_is_noticed(void **state)
{
	uint8_t *bytes, *copy;
	struct snap_in *in;
	size_t len, i;

	(void)state;
	bytes = small_file(&len);
	copy = malloc(len);
	for (i = 0; i < len; i++) {
		memcpy(copy, bytes, len);
		copy[i] ^= 1 << (i % 8);
		in = snap_parse(&test_pool, copy, len);
		/* The envelope of the last record is not in the checksum */
		if (i < len - sizeof(struct erdma_snap_end) - sizeof(struct erdma_snap_rec))
			assert_true(!in || in->damage);
	}
	free(copy);
}

int unit_snap(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(layouts_name_every_byte_once),
		TEST(layouts_turn_bytes_round),
		TEST(a_guid_is_not_turned_round),
		TEST(checksum_is_crc32c),
		TEST(lines_keep_any_value),
		TEST(pseudonyms_keep_equality),
		TEST(full_leaves_plain_fields_only),
		TEST(bytes_without_a_name_are_zeroed),
		TEST(files_are_read_back),
		TEST(a_cut_file_is_read_to_the_cut),
		TEST(a_changed_file_is_noticed),
	};

	return cmocka_run_group_tests_name("snap", tests, NULL, NULL);
}
