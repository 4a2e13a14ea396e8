/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The snapshot file (include/erdma/erdma_snapshot.h): writing and reading it.
 * What is in its records is the business of snap_take.c and source_file.c.
 */
#ifndef EADM_SNAP_H
#define EADM_SNAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout.h"
#include "model.h"

uint32_t snap_crc32c(uint32_t crc, const void *p, size_t len);

/* ---- redaction ------------------------------------------------------------ */

/**
 * enum redact_level - how much a file shows of its owner
 * @REDACT_NONE: everything that was to be had
 * @REDACT_IDS: pseudonyms that keep equality; no contents of applications
 * @REDACT_FULL: of every class but FC_PLAIN nothing
 */
enum redact_level { REDACT_NONE, REDACT_IDS, REDACT_FULL };

struct redact;
struct redact *redact_new(struct pool *p, enum redact_level level);
void redact_end(struct redact *r);
enum redact_level redact_level(const struct redact *r);
const char *redact_name(const struct redact *r);
enum redact_level redact_level_of(const char *word);
bool redact_record(struct redact *r, uint16_t type, uint8_t *body, size_t len);
void redact_ring(struct redact *r, uint32_t ring, uint32_t id, uint8_t *data, uint32_t depth,
		 uint32_t entry_size);
const char *redact_text(struct redact *r, enum field_class cls, const char *text);

/* ---- lines ---------------------------------------------------------------- */

/**
 * struct snap_lines - a body "name=value\n"
 * @pool: memory
 * @redact: applied to values
 * @text: the lines
 * @len: their bytes
 * @cap: room
 */
struct snap_lines {
	struct pool *pool;
	struct redact *redact;
	char *text;
	size_t len;
	size_t cap;
};

void lines_add(struct snap_lines *l, enum field_class cls, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
bool lines_next(const uint8_t *body, size_t len, size_t *pos, char *name, size_t name_size,
		char *value, size_t value_size);
bool lines_find(const uint8_t *body, size_t len, const char *name, char *value, size_t size);

/* ---- writing -------------------------------------------------------------- */

/**
 * struct snap_key - what a record is about
 * @type: ERDMA_DIAG_REC_* or ERDMA_SNAP_*
 * @flags: ERDMA_DIAG_REC_F_*
 * @dev: number of the device, or ERDMA_SNAP_NO_DEV
 * @obj: kind of object, or ring
 * @id: number of the object
 */
struct snap_key {
	uint16_t type;
	uint16_t flags;
	uint32_t dev;
	uint32_t obj;
	uint32_t id;
};

struct snap_out;
struct snap_out *snap_create(struct pool *p, const char *path, struct redact *redact, int *err);
void snap_put(struct snap_out *s, const struct snap_key *k, const void *body, size_t len,
	      const void *tail, size_t tail_len);
int snap_finish(struct snap_out *s);
uint8_t *snap_memory(struct snap_out *s, size_t *len);
void snap_abort(struct snap_out *s);
uint32_t snap_records(const struct snap_out *s);
uint64_t snap_bytes(const struct snap_out *s);

/* ---- reading -------------------------------------------------------------- */

/**
 * struct snap_item - a record of a file
 * @type: ERDMA_DIAG_REC_* or ERDMA_SNAP_*
 * @flags: ERDMA_DIAG_REC_F_*
 * @dev: number of the device
 * @obj: kind of object, or ring
 * @id: number of the object
 * @seq: position in the file
 * @moment: how many ERDMA_SNAP_MOMENT of its device stand before it
 * @time_ns: CLOCK_MONOTONIC when it was taken
 * @body: its structure in the byte order of this machine, or lines
 * @len: bytes
 */
struct snap_item {
	uint16_t type;
	uint16_t flags;
	uint32_t dev;
	uint32_t obj;
	uint32_t id;
	uint32_t seq;
	uint32_t moment;
	uint64_t time_ns;
	uint8_t *body;
	uint32_t len;
};

/**
 * struct snap_in - a file that was read
 * @item: records by device, type, kind, number and position
 * @n: their number
 * @damage: why the rest of the file was not read, or NULL
 */
struct snap_in {
	struct snap_item *item;
	size_t n;
	const char *damage;
};

struct snap_in *snap_load(struct pool *p, const char *path, int *err);
uint32_t snap_devices(const struct snap_in *in);
struct snap_in *snap_join(struct pool *p, struct snap_in *const *in, size_t n);
struct snap_in *snap_parse(struct pool *p, uint8_t *bytes, size_t len);
const struct snap_item *snap_find(const struct snap_in *s, uint32_t dev, uint16_t type,
				  uint32_t obj, uint32_t id);
const struct snap_item *snap_from(const struct snap_in *s, uint32_t dev, uint16_t type,
				  uint32_t id);
const struct snap_item *snap_at(const struct snap_in *s, uint32_t dev, uint16_t type,
				uint32_t obj, uint32_t id, uint32_t moment);
const struct snap_item *snap_last(const struct snap_in *s, uint32_t dev, uint16_t type,
				  uint32_t obj, uint32_t id);

#endif /* EADM_SNAP_H */
