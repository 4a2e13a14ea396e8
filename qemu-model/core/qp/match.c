/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fabric: which QP is connected to which (section 12).
 *
 * A QP that became RTS waits in a bucket until the other end is there. Its
 * requests are held meanwhile (qp.c) and run when it is found.
 *
 * The guest chooses most of what picks the bucket, so it can fill one; a search
 * looks at a bounded number of entries. Whoever is behind these in a bucket is
 * not found, as if its peer had never come.
 */
#include <stdlib.h>

#include "core_int.h"

/*
 * Entries of a bucket that a search looks at, each a step of the budget. All
 * QPs of a card waiting at once are four in a bucket.
 */
#define MATCH_CHAIN     64u
/* Entries that are looked at for a message about what almost agrees */
#define MATCH_EXPLAIN   16u

/* ---- buckets ---- */

static uint32_t match_mix(uint32_t h, uint32_t v)
{
    h = (h ^ v) * 2654435761u;
    return h ^ h >> 15;
}

/*
 * The same for both ends: mirroring swaps the two of a pair, so pairs are mixed
 * by their sum and by their exclusive or.
 */
static uint32_t match_pair(uint32_t h, uint32_t a, uint32_t b)
{
    return match_mix(match_mix(h, a + b), a ^ b);
}

static uint32_t match_tuple_hash(const ErdmaConn *conn)
{
    return match_pair(match_pair(0, conn->sip, conn->dip), conn->sport,
                      conn->dport);
}

/* By 4-tuple, cookies and sequence numbers */
static ErdmaLink *match_bucket(ErdmaFabric *f, const ErdmaConn *conn,
                               uint32_t cookie)
{
    uint32_t h = match_tuple_hash(conn);

    h = match_pair(h, cookie, conn->cookie);
    h = match_mix(h, conn->send_nxt + conn->recv_nxt);
    return &f->waiting[h % ERDMA_FABRIC_BUCKETS];
}

static ErdmaLink *match_tuple_bucket(ErdmaFabric *f, const ErdmaConn *conn)
{
    return &f->tuples[match_tuple_hash(conn) % ERDMA_FABRIC_BUCKETS];
}

static void match_add(ErdmaQp *qp)
{
    ErdmaFabric *f = qp->core->fabric;

    erdma_list_add_tail(match_bucket(f, &qp->conn, qp->cookie),
                        &qp->match_link);
    erdma_list_add_tail(match_tuple_bucket(f, &qp->conn), &qp->tuple_link);
}

void erdma_match_remove(ErdmaQp *qp)
{
    erdma_list_del(&qp->match_link);
    erdma_list_del(&qp->tuple_link);
}

/* ---- matching (12.5) ---- */

static bool match_mirrored(const ErdmaConn *a, const ErdmaConn *b)
{
    return a->sip == b->dip && a->dip == b->sip && a->sport == b->dport &&
           a->dport == b->sport;
}

static bool match_cookies(const ErdmaQp *a, const ErdmaConn *conn,
                          uint32_t cookie)
{
    return a->conn.cookie == cookie && conn->cookie == a->cookie;
}

static bool match_sequence(const ErdmaConn *a, const ErdmaConn *b)
{
    return a->send_nxt == b->recv_nxt && b->send_nxt == a->recv_nxt;
}

/*
 * Nobody was found: is there an end whose addresses agree? Then say what does
 * not, to @seeker, or to that end if the seeker is of another process.
 */
static void match_explain(ErdmaFabric *f, const ErdmaConn *conn,
                          uint32_t cookie, const ErdmaQp *seeker)
{
    const ErdmaLink *head = match_tuple_bucket(f, conn);
    const ErdmaLink *l = head->next;

    for (unsigned i = 0; i < MATCH_EXPLAIN && l != head; i++, l = l->next) {
        const ErdmaQp *a = ERDMA_ENTRY(l, ErdmaQp, tuple_link);
        const ErdmaQp *to = seeker ? seeker : a;

        if (!match_mirrored(&a->conn, conn)) {
            continue;
        }
        if (!match_cookies(a, conn, cookie)) {
            erdma_peer_info(to->core, "QP %u: cookies of the two ends do not "
                            "agree: 0x%x, expected 0x%x, and 0x%x, expected "
                            "0x%x", to->qpn, a->conn.cookie, cookie,
                            conn->cookie, a->cookie);
        } else {
            erdma_peer_info(to->core, "QP %u: sequence numbers of the two ends "
                            "do not agree: sends %u, expected %u, and receives "
                            "%u, expected %u", to->qpn, a->conn.send_nxt,
                            conn->recv_nxt, a->conn.recv_nxt, conn->send_nxt);
        }
    }
}

ErdmaQp *erdma_match_find(ErdmaFabric *f, const ErdmaConn *conn,
                          uint32_t cookie, const ErdmaQp *seeker)
{
    ErdmaLink *head = match_bucket(f, conn, cookie);
    ErdmaLink *l = head->next;

    for (unsigned i = 0; i < MATCH_CHAIN && l != head; i++, l = l->next) {
        ErdmaQp *qp = ERDMA_ENTRY(l, ErdmaQp, match_link);

        erdma_sched_spend(f, 1);
        if (match_mirrored(&qp->conn, conn) &&
            match_cookies(qp, conn, cookie) &&
            match_sequence(&qp->conn, conn)) {
            erdma_match_remove(qp);
            return qp;
        }
    }
    match_explain(f, conn, cookie, seeker);
    return NULL;
}

/* ---- connections ---- */

/* Close what other processes know of @qp, if they know it */
static void match_forget_remote(ErdmaQp *qp)
{
    if (qp->remote) {
        qp->core->fabric->remote_ops->forget(qp);
    }
}

/* A QP is on no list yet when it looks for its peer: it never finds itself */
void erdma_match_connect(ErdmaQp *qp)
{
    ErdmaFabric *f = qp->core->fabric;
    ErdmaQp *other = erdma_match_find(f, &qp->conn, qp->cookie, qp);

    if (!other) {
        match_add(qp);
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

void erdma_match_disconnect(ErdmaQp *qp)
{
    erdma_match_remove(qp);
    if (qp->transport) {
        qp->transport->disconnect(qp);
        qp->transport = NULL;
    }
    match_forget_remote(qp);
}

/* ---- the fabric ---- */

ErdmaFabric *erdma_fabric_new(void)
{
    ErdmaFabric *f = calloc(1, sizeof(*f));

    if (f) {
        erdma_list_init(&f->wires);
        for (unsigned i = 0; i < ERDMA_FABRIC_BUCKETS; i++) {
            erdma_list_init(&f->waiting[i]);
            erdma_list_init(&f->tuples[i]);
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
