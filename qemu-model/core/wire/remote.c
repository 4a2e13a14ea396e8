/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections to QPs of other processes: references, states, offers, loss.
 *
 * A QP that finds no peer in its own process offers itself to all others. Who
 * has the mirror image connects and accepts; when both did that at once, each
 * finds itself accepted by the QP it is connected to already. Offers are not
 * stored: the end that becomes RTS later makes its own.
 */
#include <assert.h>
#include <stdlib.h>

#include "wire_int.h"

/* ---- states ---- */

#define REMOTE_BIT(state)   (1u << ERDMA_REMOTE_##state)

/* Legal successors of each state */
static const uint8_t remote_next[ERDMA_REMOTE_STATES] = {
    [ERDMA_REMOTE_OFFERED] = REMOTE_BIT(CONNECTED) | REMOTE_BIT(CLOSED),
    [ERDMA_REMOTE_CONNECTED] = REMOTE_BIT(CLOSING) | REMOTE_BIT(LOST) |
                               REMOTE_BIT(CLOSED),
    [ERDMA_REMOTE_CLOSING] = REMOTE_BIT(CLOSED),
    [ERDMA_REMOTE_LOST] = REMOTE_BIT(CLOSED),
};

/* What is there in each state */
static const uint8_t remote_has_qp = REMOTE_BIT(OFFERED) |
                                     REMOTE_BIT(CONNECTED) | REMOTE_BIT(LOST);
static const uint8_t remote_has_wire = REMOTE_BIT(CONNECTED) |
                                       REMOTE_BIT(CLOSING);

/* The members must fit @next already. A failed assertion is a bug in here. */
static void remote_state(ErdmaRemote *r, ErdmaRemoteState next)
{
    assert(remote_next[r->state] & 1u << next);
    assert(!r->qp == !(remote_has_qp & 1u << next));
    assert(!r->wire == !(remote_has_wire & 1u << next));
    r->state = next;
}

/* ---- references ---- */

ErdmaRemote *erdma_remote_get(ErdmaRemote *r)
{
    r->refs++;
    return r;
}

void erdma_remote_put(ErdmaRemote *r)
{
    assert(r->refs);
    if (!--r->refs) {
        assert(r->state == ERDMA_REMOTE_CLOSED);
        assert(!r->oldest && !r->backlog.buf);
        assert(!erdma_link_used(&r->todo_link) &&
               !erdma_link_used(&r->linger_link) &&
               !erdma_timer_armed(&r->watch));
        free(r);
    }
}

/* The connection of @qp, made if there is none; the QP has the reference */
static ErdmaRemote *remote_of(ErdmaQp *qp)
{
    ErdmaRemote *r = qp->remote;

    if (r) {
        return r;
    }
    r = calloc(1, sizeof(*r));
    if (!r || !erdma_id_alloc(qp->core->fabric, r)) {
        erdma_peer_info(qp->core, "QP %u: no memory to look for its peer",
                        qp->qpn);
        free(r);
        return NULL;
    }
    r->refs = 1;
    r->state = ERDMA_REMOTE_OFFERED;
    r->rx_state = ERDMA_RX_IDLE;
    r->qp = qp;
    r->read_credit.remote = r->push_credit.remote = r;
    r->read_credit.type = WIRE_READ_CREDIT;
    r->push_credit.type = WIRE_PUSH_CREDIT;
    qp->remote = r;
    return r;
}

/* ---- loss and end ---- */

static void remote_send_close(ErdmaWire *w, uint32_t id, uint32_t gen)
{
    WireHdr h = WIRE_HDR(WIRE_CLOSE, sizeof(h), id, gen);

    erdma_wire_send(w, &h, sizeof(h));
}

/*
 * Off the wire; the state is the caller's. What others may be granted now may
 * break the wire, which loses the connections on its list: not this one again.
 */
static void remote_leave_wire(ErdmaRemote *r)
{
    erdma_list_del(&r->wire_link);
    erdma_credit_end(&r->read_credit);
    erdma_credit_end(&r->push_credit);
    erdma_responder_stop(r);
    erdma_list_del(&r->todo_link);
    erdma_list_del(&r->linger_link);
    r->wire = NULL;
}

void erdma_remote_lose(ErdmaRemote *r)
{
    remote_leave_wire(r);
    remote_state(r, r->qp ? ERDMA_REMOTE_LOST : ERDMA_REMOTE_CLOSED);
    if (r->qp) {
        erdma_peer_info(r->qp->core, "QP %u: peer lost: the other QP or its "
                        "process is gone", r->qp->qpn);
    }
}

void erdma_remote_close(ErdmaRemote *r)
{
    if (r->wire) {
        erdma_ack_now(r);
    }
    if (r->wire) {
        remote_send_close(r->wire, r->peer_id, r->peer_gen);
    }
    if (r->wire) {
        remote_leave_wire(r);
        remote_state(r, ERDMA_REMOTE_CLOSED);
    }
}

/* The QP is not on any list of QPs that wait for a peer */
static void remote_forget(ErdmaQp *qp)
{
    ErdmaRemote *r = qp->remote;
    bool answers;

    if (!r) {
        return;
    }
    answers = erdma_remote_connected(r) && r->rx_state == ERDMA_RX_EXECUTING;
    erdma_flight_drop(r);
    erdma_id_free(qp->core->fabric, r);
    qp->remote = NULL;
    r->qp = NULL;
    if (erdma_remote_connected(r)) {
        remote_state(r, ERDMA_REMOTE_CLOSING);
        if (!answers) {
            erdma_remote_close(r);
        }
    } else {
        remote_state(r, ERDMA_REMOTE_CLOSED);
    }
    erdma_remote_put(r);
}

static void remote_fabric_free(ErdmaFabric *f)
{
    erdma_flight_fabric_free(f);
    erdma_id_fabric_free(f);
    free(f->scratch);
}

/* ---- offers ---- */

static void remote_send_offer(ErdmaWire *w, const ErdmaRemote *r)
{
    const ErdmaConn *conn = &r->qp->conn;
    WireOffer offer = {
        .h = WIRE_HDR(WIRE_OFFER, sizeof(offer), r->id, r->gen),
        .sip = conn->sip, .dip = conn->dip,
        .sport = conn->sport, .dport = conn->dport,
        .cookie = htole32(r->qp->cookie), .peer_cookie = htole32(conn->cookie),
        .send_nxt = htole32(conn->send_nxt),
        .recv_nxt = htole32(conn->recv_nxt),
    };

    erdma_wire_send(w, &offer, sizeof(offer));
}

static void remote_offer(ErdmaQp *qp)
{
    ErdmaFabric *f = qp->core->fabric;
    ErdmaLink *next;

    for (ErdmaLink *l = f->wires.next; l != &f->wires; l = next) {
        ErdmaWire *w = ERDMA_ENTRY(l, ErdmaWire, link);

        next = l->next;
        if (w->hello && remote_of(qp)) {
            remote_send_offer(w, qp->remote);
        }
    }
}

void erdma_remote_offer_all(ErdmaWire *w)
{
    for (unsigned i = 0; i < ERDMA_FABRIC_BUCKETS; i++) {
        ErdmaLink *head = &w->fabric->waiting[i];

        for (ErdmaLink *l = head->next; l != head; l = l->next) {
            ErdmaQp *qp = ERDMA_ENTRY(l, ErdmaQp, match_link);

            if (remote_of(qp)) {
                remote_send_offer(w, qp->remote);
            }
        }
    }
}

/* @qp waits no longer */
static void remote_connect(ErdmaWire *w, ErdmaQp *qp, uint32_t id,
                           uint32_t gen)
{
    ErdmaRemote *r = qp->remote;

    r->wire = w;
    r->peer_id = id;
    r->peer_gen = gen;
    erdma_list_add_tail(&w->remotes, &r->wire_link);
    remote_state(r, ERDMA_REMOTE_CONNECTED);
    qp->transport = &erdma_transport_remote;
    erdma_peer_info(qp->core, "QP %u is connected to a QP of another process",
                    qp->qpn);
    erdma_qp_wake(qp);
}

void erdma_remote_on_offer(ErdmaWire *w, const WireOffer *o)
{
    const ErdmaConn conn = {
        .cookie = le32toh(o->peer_cookie), .sip = o->sip, .dip = o->dip,
        .sport = o->sport, .dport = o->dport,
        .send_nxt = le32toh(o->send_nxt), .recv_nxt = le32toh(o->recv_nxt),
    };
    ErdmaQp *qp = erdma_match_find(w->fabric, &conn, le32toh(o->cookie),
                                   NULL);
    uint32_t id = le32toh(o->h.id), gen = le32toh(o->h.gen);

    if (!qp) {
        return;
    }
    if (!remote_of(qp)) {
        remote_send_close(w, id, gen);
        return;
    }
    remote_connect(w, qp, id, gen);
    {
        WireAccept accept = {
            .h = WIRE_HDR(WIRE_ACCEPT, sizeof(accept), id, gen),
            .id = htole32(qp->remote->id), .gen = htole32(qp->remote->gen),
        };

        erdma_wire_send(w, &accept, sizeof(accept));
    }
}

void erdma_remote_on_accept(ErdmaWire *w, const WireAccept *a)
{
    ErdmaRemote *r = erdma_id_find(w->fabric, a->h.id, a->h.gen);
    uint32_t id = le32toh(a->id), gen = le32toh(a->gen);

    if (r && erdma_match_waits(r->qp)) {
        erdma_match_remove(r->qp);
        remote_connect(w, r->qp, id, gen);
    } else if (!r || r->wire != w || r->peer_id != id || r->peer_gen != gen) {
        remote_send_close(w, id, gen);
    }
}

/* ---- transport ---- */

static void remote_disconnect(ErdmaQp *qp)
{
    (void)qp;                   /* remote_forget() follows */
}

static bool remote_work(ErdmaQp *qp, ErdmaBudget *b)
{
    ErdmaRemote *r = erdma_remote_get(qp->remote);
    bool more = erdma_requester_pump(r, b);

    more |= erdma_responder_run(r, b);
    erdma_ack_soon(r);
    more = more && erdma_remote_connected(r);
    erdma_remote_put(r);
    return more;
}

static void remote_recv_posted(ErdmaQp *qp)
{
    if (erdma_backlog_used(qp->remote)) {
        erdma_qp_work_now(qp);
    }
}

const ErdmaTransport erdma_transport_remote = {
    .disconnect = remote_disconnect,
    .step = erdma_requester_step,
    .work = remote_work,
    .recv_posted = remote_recv_posted,
};

const ErdmaRemoteOps erdma_remote_ops = {
    .offer = remote_offer,
    .forget = remote_forget,
    .mr_revoked = erdma_id_mr_revoked,
    .mr_gone = erdma_id_mr_gone,
    .fabric_free = remote_fabric_free,
};

void erdma_remote_todo(ErdmaRemote *r, ErdmaBudget *b)
{
    ErdmaQp *qp = r->qp;

    erdma_ack_soon(r);
    if (!erdma_remote_connected(r) || erdma_link_used(&qp->run_link)) {
        return;                 /* lost, or it has its turn */
    }
    if (b->steps) {
        erdma_qp_work(qp, b);
    } else {
        erdma_qp_schedule(qp);  /* perhaps for the peer's requests alone */
    }
}
