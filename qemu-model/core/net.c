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

/* 12.5: 4-tuple, cookies and sequence numbers must all agree */
static bool matches(const ErdmaQp *a, const ErdmaQp *b)
{
    if (a == b || !mirrored(&a->conn, &b->conn)) {
        return false;
    }
    if (a->conn.cookie != b->cookie || b->conn.cookie != a->cookie) {
        erdma_info(a->core, "QP %u: QP %u has the other end's addresses but "
                   "not its cookie", a->qpn, b->qpn);
        return false;
    }
    if (a->conn.send_nxt != b->conn.recv_nxt ||
        b->conn.send_nxt != a->conn.recv_nxt) {
        erdma_info(a->core, "QP %u: sequence numbers %u, %u do not agree with "
                   "those of QP %u: %u, %u", a->qpn, a->conn.send_nxt,
                   a->conn.recv_nxt, b->qpn, b->conn.recv_nxt,
                   b->conn.send_nxt);
        return false;
    }
    return true;
}

static void local_connect(ErdmaQp *qp)
{
    ErdmaLink *head = bucket(qp->core->fabric, &qp->conn);

    for (ErdmaLink *l = head->next; l != head; l = l->next) {
        ErdmaQp *other = ERDMA_ENTRY(l, ErdmaQp, fabric_link);

        if (matches(qp, other)) {
            erdma_list_del(&other->fabric_link);
            qp->peer = other;
            other->peer = qp;
            erdma_info(qp->core, "QP %u is connected to QP %u", qp->qpn,
                       other->qpn);
            erdma_qp_wake(other);
            return;
        }
    }
    erdma_list_add_tail(head, &qp->fabric_link);
}

/*
 * The other end is not stopped: its host learns from TCP. Work it still has is
 * held and times out unless that happens first (12.7).
 */
static void local_disconnect(ErdmaQp *qp)
{
    ErdmaQp *peer = qp->peer;

    erdma_list_del(&qp->fabric_link);
    if (peer) {
        peer->peer = NULL;
        qp->peer = NULL;
    }
}

/* A peer that waits for receives goes on at once: we are its network */
static void local_recv_posted(ErdmaQp *qp)
{
    ErdmaQp *peer = qp->peer;

    if (peer && erdma_link_used(&peer->hold_link)) {
        erdma_qp_unhold(peer);
        erdma_qp_work_now(peer);
    }
}

const ErdmaTransport erdma_transport_local = {
    .connect = local_connect,
    .disconnect = local_disconnect,
    .step = erdma_local_step,
    .recv_posted = local_recv_posted,
};

ErdmaFabric *erdma_fabric_new(void)
{
    ErdmaFabric *f = calloc(1, sizeof(*f));

    if (f) {
        f->transport = &erdma_transport_local;
        for (unsigned i = 0; i < ERDMA_FABRIC_BUCKETS; i++) {
            erdma_list_init(&f->waiting[i]);
        }
    }
    return f;
}

void erdma_fabric_free(ErdmaFabric *f)
{
    free(f);
}
