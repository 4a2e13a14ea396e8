// SPDX-License-Identifier: GPL-2.0-or-later
/* The MTUs of the two ends of a connection, by the size of segments of its TCP handshake. */
#include <netinet/in.h>
#include <string.h>

#include "why.h"

#define IP_AND_TCP	40	/* bytes of headers that a segment's size does not count */
#define NETWORK_MTU_MAX	16384	/* no network has more; the interface lo has 65536 */

static bool same_ip(const uint8_t *a, const uint8_t *b)
{
	static const uint8_t hidden[4];

	return !memcmp(a, b, sizeof(hidden)) && memcmp(a, hidden, sizeof(hidden));
}

/**
 * struct find_ip - does this host have an address?
 * @ip: address
 * @found: it does
 */
struct find_ip {
	const uint8_t *ip;
	bool found;
};

static void note_ip(void *arg, uint32_t id, const struct rec *rec)
{
	struct erdma_diag_cm_id cm;
	struct find_ip *l = arg;

	(void)id;
	if (rec->type != ERDMA_DIAG_REC_CM_ID)
		return;
	rec_copy(rec, &cm, sizeof(cm));
	l->found |= cm.family == AF_INET && same_ip(cm.saddr, l->ip);
}

/*
 * TCP between two addresses of one host takes the interface lo, whatever the device's MTU is.
 * The other end may be somebody else's, and not in the list.
 */
static bool is_local(const struct inquiry *q, const struct end *e)
{
	struct find_ip l = { .ip = e->qp->daddr, .found = same_ip(e->qp->saddr, e->qp->daddr) };
	const struct known_qp *k;

	for (k = q->qps; !l.found && k < q->qps + q->n_qps; k++)
		l.found = k->dev->file == e->dev->file && k->qp.family == AF_INET &&
			  same_ip(k->qp.saddr, l.ip);
	if (!l.found)
		source_list(&q->c->src, e->dev, ERDMA_DIAG_OBJ_CM_ID, 0, UINT32_MAX, note_ip, &l);
	return l.found;
}

/**
 * mtus_differ - has the peer another MTU than this end?
 * @q: inquiry
 * @e: end of a connection
 *
 * Return: true if the size of segments of the handshake says so.
 */
bool mtus_differ(const struct inquiry *q, const struct end *e)
{
	uint32_t mtu = e->qp->peer_mss + IP_AND_TCP;

	return e->qp->peer_mss && mtu != e->dev->info.mtu && mtu <= NETWORK_MTU_MAX &&
	       !is_local(q, e);
}

/**
 * say_mtus - it has
 * @q: inquiry
 * @e: end of a connection
 * @id: RULE_MTU_STUCK or RULE_MTU_DIFFERS
 * @f: findings
 */
void say_mtus(struct inquiry *q, const struct end *e, enum rule_id id, struct findings *f)
{
	struct ctx *c = q->c;

	found(f, id, "qp", text_qp(c, e->qp->qpn), "mtu", text_u(c, e->dev->info.mtu), "where",
	      e->place ? pool_printf(&c->pool, "at %s", e->place) : "here",
	      "mss", text_u(c, e->qp->peer_mss), "peer",
	      text_peer(c, e->qp->daddr, e->qp->dport), NULL);
}
