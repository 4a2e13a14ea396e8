/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fabric: which QP is connected to which (section 12).
 *
 * A QP that became RTS waits in a bucket of its 4-tuple until the other end is
 * there. Its requests are held meanwhile (qp.c) and run when it is found.
 */
#include <stdlib.h>

#include "core_int.h"

/* The same for both ends: mirroring swaps what is mixed symmetrically */
static ErdmaLink *bucket(ErdmaFabric *f, const ErdmaConn *conn)
{
    uint32_t h = (conn->sip ^ conn->dip) * 2654435761u;

    h ^= (uint32_t)(conn->sport ^ conn->dport) * 40503u;
    h += conn->sport + conn->dport;
    h ^= h >> 16;
    return &f->waiting[h % ERDMA_FABRIC_BUCKETS];
}

static bool mirrored(const ErdmaConn *a, const ErdmaConn *b)
{
    return a->sip == b->dip && a->dip == b->sip && a->sport == b->dport &&
           a->dport == b->sport;
}

/*
 * 12.5: 4-tuple, cookies and sequence numbers must all agree. @told: whose host
 * may have made the mistake.
 */
static bool matches(const ErdmaQp *a, const ErdmaConn *conn, uint32_t cookie,
                    const ErdmaQp *told)
{
    if (!mirrored(&a->conn, conn)) {
        return false;
    }
    if (a->conn.cookie != cookie || conn->cookie != a->cookie) {
        erdma_peer_info(told->core, "QP %u: what has the other end's "
                        "addresses has not its cookie", told->qpn);
        return false;
    }
    if (a->conn.send_nxt != conn->recv_nxt ||
        conn->send_nxt != a->conn.recv_nxt) {
        erdma_peer_info(told->core, "QP %u: sequence numbers of the two ends "
                        "do not agree: %u, %u and %u, %u", told->qpn,
                        a->conn.send_nxt, a->conn.recv_nxt, conn->recv_nxt,
                        conn->send_nxt);
        return false;
    }
    return true;
}

ErdmaQp *erdma_net_match(ErdmaFabric *f, const ErdmaConn *conn,
                         uint32_t cookie, const ErdmaQp *seeker)
{
    ErdmaLink *head = bucket(f, conn);

    for (ErdmaLink *l = head->next; l != head; l = l->next) {
        ErdmaQp *qp = ERDMA_ENTRY(l, ErdmaQp, fabric_link);

        if (matches(qp, conn, cookie, seeker ? seeker : qp)) {
            erdma_list_del(&qp->fabric_link);
            return qp;
        }
    }
    return NULL;
}

static void match_forget_remote(ErdmaQp *qp)
{
    if (qp->remote) {
        qp->core->fabric->remote_ops->forget(qp);
    }
}

/* A QP is on no list yet when it looks for its peer: it never finds itself */
void erdma_net_connect(ErdmaQp *qp)
{
    ErdmaFabric *f = qp->core->fabric;
    ErdmaQp *other = erdma_net_match(f, &qp->conn, qp->cookie, qp);

    if (!other) {
        erdma_list_add_tail(bucket(f, &qp->conn), &qp->fabric_link);
        if (f->remote_ops) {
            f->remote_ops->offer(qp);
        }
        return;
    }
    qp->peer = other;
    other->peer = qp;
    qp->transport = other->transport = &erdma_transport_local;
    erdma_info(qp->core, "QP %u is connected to QP %u", qp->qpn, other->qpn);
    match_forget_remote(other);
    erdma_qp_wake(other);
}

void erdma_net_disconnect(ErdmaQp *qp)
{
    erdma_list_del(&qp->fabric_link);
    if (qp->transport) {
        qp->transport->disconnect(qp);
        qp->transport = NULL;
    }
    match_forget_remote(qp);
}

ErdmaFabric *erdma_fabric_new(void)
{
    ErdmaFabric *f = calloc(1, sizeof(*f));

    if (f) {
        erdma_list_init(&f->wires);
        for (unsigned i = 0; i < ERDMA_FABRIC_BUCKETS; i++) {
            erdma_list_init(&f->waiting[i]);
        }
    }
    return f;
}

void erdma_fabric_free(ErdmaFabric *f)
{
    if (f) {
        if (f->remote_ops) {
            f->remote_ops->fabric_free(f);
        }
        free(f);
    }
}
