/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between snap_objects.c, which knows which objects, and snap_whole.c, which reads them. */
#ifndef EADM_SNAP_OBJECTS_H
#define EADM_SNAP_OBJECTS_H

#include "snap_take.h"

#define RINGS_MAX	(256ULL << 20)	/* bytes of all rings of a file */

/**
 * struct numbers - numbers of objects, each once
 * @n: their number
 * @cap: room
 * @id: they
 */
struct numbers {
	size_t n;
	size_t cap;
	uint32_t *id;
};

/**
 * struct objects - the objects of one device
 * @t: file
 * @d: device
 * @dev: its number
 * @qps: to be taken
 * @cqs: to be taken
 * @eqs: to be taken
 * @pids: owners
 * @buf: of take_whole()
 * @done: CQs and EQs that are in the file, with their rings: by ERDMA_DIAG_OBJ_*
 */
struct objects {
	struct taking *t;
	struct dev *d;
	uint32_t dev;
	struct numbers qps;
	struct numbers cqs;
	struct numbers eqs;
	struct numbers pids;
	struct snapshot_buf buf;
	struct numbers done[ERDMA_DIAG_OBJ_EQ + 1];
};

void push_once(struct objects *o, struct numbers *to, uint32_t id);
void note_related(struct objects *o, const struct rec *rec);
void put_ring(struct objects *o, uint32_t ring, uint32_t id, struct ring_data *r);
int may_have_rings(const struct objects *o);

/* snap_moments.c */
void take_moments(struct objects *o);

/* snap_whole.c */
bool take_whole(struct objects *o, uint32_t obj, uint32_t id);

#endif /* EADM_SNAP_OBJECTS_H */
