/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rings to objects: which entries, in which state, with which marks. */
#ifndef EADM_DUMP_H
#define EADM_DUMP_H

#include "cmd.h"
#include "ring.h"
#include "schema.h"

/**
 * struct selector - which entries are wanted
 * @range: entries @first..@last, as slots modulo the depth
 * @inflight: all that the consumer has not seen
 * @newest: number of newest entries, 0 = not given
 * @first: of @range
 * @last: of @range
 * @hex: also their bytes
 * @raw: only their bytes
 * @strict: a ring that changed while it was read is a failure
 * @skip_idle: leave out rings without anything in flight
 */
struct selector {
	bool range;
	bool inflight;
	uint32_t newest;
	uint32_t first;
	uint32_t last;
	bool hex;
	bool raw;
	bool strict;
	bool skip_idle;
};

/**
 * struct dump - one ring on its way to the document
 * @c: run
 * @dev: device
 * @sel: which entries
 * @target: what the ring belongs to
 * @id: its number
 * @name: "qp 17"
 * @ring_name: "sq"
 * @kind: what its entries are: "requests"
 * @unit: what depth and indices count: "blocks" or "entries"
 * @schema: of the entries
 * @decode: bytes to facts
 * @raw_field: field for the bytes; the one before is for problems
 * @fmt: rings of requests: format of their headers
 * @owner_byte: rings that the device writes: byte whose top bit is the owner bit
 * @index_mask: width of the indices; 0 = 32 bits
 * @producer: who writes entries: "app", "driver" or "card"
 * @consumer: who reads them
 * @data: what the driver returned
 * @r: the same with indices
 * @pi_from: where PI is from
 * @ci_from: where CI is from
 * @ci_missing: why CI is not known; 0 = nobody can know it
 * @card_pi: rings that the device writes: its PI before and after the ring was read, which
 *	make the indices absolute; used if @have_card_pi
 * @have_card_pi: see @card_pi
 * @modulo: the indices are known modulo this only, 0 = no
 * @problems: sentences about the ring as a whole
 * @n_problems: their number
 */
struct dump {
	struct ctx *c;
	struct dev *dev;
	const struct selector *sel;
	enum target target;
	uint32_t id;
	const char *name;
	const char *ring_name;
	const char *kind;
	const char *unit;
	const struct schema *schema;
	void (*decode)(struct obj *o, const void *buf, size_t len);
	unsigned int raw_field;
	const struct req_format *fmt;
	uint32_t owner_byte;
	uint32_t index_mask;
	const char *producer;
	const char *consumer;
	struct ring_data data;
	struct ring r;
	const char *pi_from;
	const char *ci_from;
	enum val_kind ci_missing;
	uint32_t card_pi[2];
	bool have_card_pi;
	uint32_t modulo;
	const char *problems[4];
	unsigned int n_problems;
};

int dump_selector(struct ctx *c, const struct args *a, struct selector *sel);
int dump_read(struct dump *d, uint32_t ring);
void dump_problem(struct dump *d, const char *text);
void dump_show(struct dump *d);
void dump_decode(struct dump *d, struct obj *o, uint32_t index, uint32_t blocks);

#endif /* EADM_DUMP_H */
