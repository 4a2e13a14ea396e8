/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Taking what a snapshot file consists of. */
#ifndef EADM_SNAP_TAKE_H
#define EADM_SNAP_TAKE_H

#include "cmd.h"
#include "snap.h"

/**
 * struct taking - a file while it is filled
 * @c: run
 * @out: file
 * @redact: applied to it
 * @n_devs: devices so far
 * @qps: only these QPs, and the CQs and EQs that belong to them; NULL: everything
 * @cqs: only these CQs, ditto
 * @ring_bytes: of rings so far
 * @problems: what could not be taken
 */
struct taking {
	struct ctx *c;
	struct snap_out *out;
	struct redact *redact;
	uint32_t n_devs;
	const struct id_set *qps;
	const struct id_set *cqs;
	uint64_t ring_bytes;
	uint32_t problems;
};

struct snap_lines take_lines(const struct taking *t);
void take_put_lines(struct taking *t, uint16_t type, uint32_t dev, uint32_t id,
		    const struct snap_lines *l);
void take_problem(struct taking *t, uint16_t type, uint32_t dev, uint32_t obj, uint32_t id,
		  int err);
int take_all(struct taking *t, const char *path);

/* snap_objects.c */
void take_objects(struct taking *t, struct dev *d, uint32_t dev);

/* snap_host.c: what the host knows */
void take_system(struct taking *t);
void take_host(struct taking *t, struct dev *d, uint32_t dev);
void take_process(struct taking *t, const struct dev *d, uint32_t dev, uint32_t pid);

#endif /* EADM_SNAP_TAKE_H */
