// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which queue pairs of this host are the two ends of one connection: those whose
 * addresses, ports and cookies mirror each other. The device matches them by the same.
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "peers.h"

/* One side of a connection; compared byte by byte, so without padding */
struct side {
	uint8_t addr[16];
	uint32_t cookie;
	uint32_t port;
};

/**
 * struct peer_end - a queue pair
 * @local: its own side
 * @remote: the other
 * @qpn: number
 * @dev: device
 * @o: object that shows it, NULL if nobody asks for its peer
 */
struct peer_end {
	struct side local;
	struct side remote;
	uint32_t qpn;
	const struct dev *dev;
	struct obj *o;
};

static struct peer_end end_of_qp(const struct dev *dev, const struct erdma_diag_qp *qp,
				 struct obj *o, bool by_ports)
{
	struct peer_end e = {
		.local = { .cookie = qp->cookie, .port = qp->sport },
		.remote = { .cookie = qp->peer_cookie, .port = qp->dport },
		.qpn = qp->qpn, .dev = dev, .o = o,
	};

	if (by_ports)
		return e;
	memcpy(e.local.addr, qp->saddr, sizeof(e.local.addr));
	memcpy(e.remote.addr, qp->daddr, sizeof(e.remote.addr));
	return e;
}

/**
 * peers_add - a queue pair that was seen
 * @p: queue pairs
 * @dev: its device
 * @qp: its record
 * @o: object that shows it, or NULL
 */
void peers_add(struct peers *p, const struct dev *dev, const struct erdma_diag_qp *qp,
	       struct obj *o)
{
	if (qp->family != AF_INET)
		return;
	p->sorted = false;
	p->end = pool_grow(p->pool, p->end, p->n, &p->cap, sizeof(*p->end));
	p->end[p->n++] = end_of_qp(dev, qp, o, p->by_ports);
}

static int by_sides(const void *a, const void *b)
{
	return memcmp(a, b, 2 * sizeof(struct side));
}

/* The one queue pair with these sides; there may be an old one with the same: then none */
static const struct peer_end *find_end(const struct peers *p, const struct side *local,
				       const struct side *remote)
{
	const struct peer_end key = { .local = *local, .remote = *remote };
	const struct peer_end *e = bsearch(&key, p->end, p->n, sizeof(*p->end), by_sides);

	if (!e || (e > p->end && !by_sides(e - 1, e)) ||
	    (e + 1 < p->end + p->n && !by_sides(e + 1, e)))
		return NULL;
	return e;
}

/* Of two with the same sides neither has a peer: nobody knows which of them is connected */
static const struct peer_end *find_peer(const struct peers *p, const struct peer_end *e)
{
	return find_end(p, &e->local, &e->remote) ? find_end(p, &e->remote, &e->local) : NULL;
}

static void sort_ends(struct peers *p)
{
	if (!p->sorted && p->n)
		qsort(p->end, p->n, sizeof(*p->end), by_sides);
	p->sorted = true;
}

/**
 * peers_find - the other end of a queue pair's connection
 * @p: queue pairs, it is one of them; their order changes
 * @dev: its device
 * @qp: its record
 * @peer_dev: result: the other's device
 * @peer_qpn: result: its number
 *
 * Return: false: it is not on this host.
 */
bool peers_find(struct peers *p, const struct dev *dev, const struct erdma_diag_qp *qp,
		const struct dev **peer_dev, uint32_t *peer_qpn)
{
	const struct peer_end me = end_of_qp(dev, qp, NULL, p->by_ports), *peer;

	sort_ends(p);
	if (qp->family != AF_INET || !p->n)
		return false;
	peer = find_peer(p, &me);
	if (!peer || (peer->dev == dev && peer->qpn == qp->qpn))
		return false;
	*peer_dev = peer->dev;
	*peer_qpn = peer->qpn;
	return true;
}

/**
 * peers_join - set the peers of all queue pairs that are shown
 * @p: queue pairs; their order changes
 * @qpn_field: field for the peer's number
 * @dev_field: field for the peer's device
 */
void peers_join(struct peers *p, unsigned int qpn_field, unsigned int dev_field)
{
	const struct peer_end *e, *peer;

	if (p->n < 2)
		return;
	sort_ends(p);
	for (e = p->end; e < p->end + p->n; e++) {
		if (!e->o)
			continue;
		peer = find_peer(p, e);
		if (!peer || peer == e)
			continue;
		obj_u64(e->o, qpn_field, peer->qpn);
		obj_str(e->o, dev_field, dev_title(peer->dev));
	}
}
