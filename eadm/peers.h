/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which queue pairs of this host are the two ends of one connection. */
#ifndef EADM_PEERS_H
#define EADM_PEERS_H

#include "cmd.h"

struct peer_end;

/**
 * struct peers - queue pairs that were seen, and those whose peer is wanted
 * @pool: memory
 * @end: queue pairs
 * @n: their number
 * @cap: room in @end
 * @sorted: by their sides
 * @by_ports: addresses are not known: ports and cookies have to do
 */
struct peers {
	struct pool *pool;
	struct peer_end *end;
	size_t n;
	size_t cap;
	bool sorted;
	bool by_ports;
};

void peers_add(struct peers *p, const struct dev *dev, const struct erdma_diag_qp *qp,
	       struct obj *o);
bool peers_find(struct peers *p, const struct dev *dev, const struct erdma_diag_qp *qp,
		const struct dev **peer_dev, uint32_t *peer_qpn);
void peers_join(struct peers *p, unsigned int qpn_field, unsigned int dev_field);

#endif /* EADM_PEERS_H */
