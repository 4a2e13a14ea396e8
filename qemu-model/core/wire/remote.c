/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections to QPs of other processes: ids, offers, loss.
 *
 * A QP that finds no peer in its own process offers itself to all others. Who
 * has the mirror image connects and accepts; when both did that at once, each
 * finds itself accepted by the QP it is connected to already. Offers are not
 * kept: the end that becomes RTS later makes its own.
 */
#include <stdlib.h>

#include "wire_int.h"

#define MAX_IDS     (1u << 20)
#define MIN_IDS     64u

/* ---- ids ---- */

static bool grow(ErdmaFabric *f)
{
    uint32_t n = f->ids ? 2 * f->ids : MIN_IDS;
    ErdmaRemote **id;
    uint32_t *free_id;

    if (n > MAX_IDS) {
        return false;
    }
    id = calloc(n, sizeof(*id));
    free_id = calloc(n, sizeof(*free_id));
    if (!id || !free_id) {
        free(id);
        free(free_id);
        return false;
    }
    if (f->ids) {
        memcpy(id, f->id, f->ids * sizeof(*id));
        memcpy(free_id, f->free_id, f->free_ids * sizeof(*free_id));
    }
    free(f->id);
    free(f->free_id);
    f->id = id;
    f->free_id = free_id;
    f->ids = n;
    return true;
}

/* Seen by other processes before anything that follows */
static void set_alive(ErdmaFabric *f, const ErdmaRemote *r, uint32_t gen)
{
    if (f->alive) {
        __atomic_store_n(&f->alive[r->id], htole32(gen), __ATOMIC_SEQ_CST);
    }
}

void erdma_fabric_share(ErdmaFabric *f, void *host, size_t len,
                        uint32_t region)
{
    size_t slots = len / sizeof(*f->alive);

    f->alive = host;
    f->alive_slots = slots < MAX_IDS ? slots : MAX_IDS;
    f->alive_region = region;
}

bool erdma_remote_alive(const ErdmaRemote *r)
{
    ErdmaWire *w = r->wire;
    uint64_t offset = (uint64_t)r->peer_id * sizeof(uint32_t);
    uint32_t gen;

    if (!w->alive_len) {
        return true;
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return offset < w->alive_len &&
           w->ops->pull(w->opaque, w->alive_region, offset, &gen,
                        sizeof(gen)) && le32toh(gen) == r->peer_gen;
}

static bool give_id(ErdmaFabric *f, ErdmaRemote *r)
{
    if (!f->free_ids && ((f->alive && f->ids_used == f->alive_slots) ||
                         (f->ids_used == f->ids && !grow(f)))) {
        return false;
    }
    r->id = f->free_ids ? f->free_id[--f->free_ids] : f->ids_used++;
    if (!++f->generation) {
        f->generation++;                /* 0 in the table means: none */
    }
    r->gen = f->generation;
    f->id[r->id] = r;
    set_alive(f, r, r->gen);
    return true;
}

static void take_id(ErdmaFabric *f, ErdmaRemote *r)
{
    set_alive(f, r, 0);
    f->id[r->id] = NULL;
    f->free_id[f->free_ids++] = r->id;
}

static ErdmaRemote *by_id(ErdmaFabric *f, __le32 id, __le32 gen)
{
    uint32_t n = le32toh(id);
    ErdmaRemote *r = n < f->ids_used ? f->id[n] : NULL;

    return r && r->gen == le32toh(gen) ? r : NULL;
}

ErdmaRemote *erdma_remote_find(ErdmaWire *w, const WireHdr *h)
{
    ErdmaRemote *r = by_id(w->fabric, h->id, h->gen);

    return r && r->wire == w ? r : NULL;
}

/* ---- life ---- */

static ErdmaRemote *get(ErdmaQp *qp)
{
    ErdmaRemote *r = qp->remote;

    if (r) {
        return r;
    }
    r = calloc(1, sizeof(*r));
    if (!r || !give_id(qp->core->fabric, r)) {
        erdma_peer_info(qp->core, "QP %u: no memory to look for its peer",
                   qp->qpn);
        free(r);
        return NULL;
    }
    r->qp = qp;
    r->read_ask.remote = r->push_ask.remote = r;
    r->read_ask.type = WIRE_READ_CREDIT;
    r->push_ask.type = WIRE_PUSH_CREDIT;
    qp->remote = r;
    return r;
}

void erdma_remote_free(ErdmaRemote *r)
{
    free(r);
}

static void send_close(ErdmaWire *w, uint32_t id, uint32_t gen)
{
    WireHdr h = WIRE_HDR(WIRE_CLOSE, sizeof(h), id, gen);

    erdma_wire_send(w, &h, sizeof(h));
}

void erdma_remote_lose(ErdmaRemote *r)
{
    ErdmaQp *qp = r->qp;

    erdma_ask_end(&r->read_ask);
    erdma_ask_end(&r->push_ask);
    erdma_resp_drop(r);
    erdma_list_del(&r->wire_link);
    erdma_list_del(&r->todo_link);
    erdma_list_del(&r->linger_link);
    r->wire = NULL;
    if (qp) {
        erdma_peer_info(qp->core, "QP %u: its peer, or the process of "
                        "its peer, has gone", qp->qpn);
    }
}

/* The QP is not on any list of QPs that wait for a peer */
static void remote_forget(ErdmaQp *qp)
{
    ErdmaRemote *r = qp->remote;
    ErdmaWire *w;

    if (!r) {
        return;
    }
    w = r->wire;
    if (w && !r->serving) {
        erdma_resp_tell(r);
        send_close(w, r->peer_id, r->peer_gen);
    }
    erdma_req_drop(r);
    take_id(qp->core->fabric, r);
    qp->remote = NULL;
    r->qp = NULL;
    if (!r->serving) {
        erdma_remote_lose(r);
        erdma_remote_free(r);
    }
}

static void remote_fabric_free(ErdmaFabric *f)
{
    while (f->spare) {
        ErdmaFlight *next = f->spare->next;

        free(f->spare);
        f->spare = next;
    }
    free(f->scratch);
    free(f->id);
    free(f->free_id);
}

/* ---- finding each other ---- */

static void send_offer(ErdmaWire *w, const ErdmaRemote *r)
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
        if (w->hello && get(qp)) {
            send_offer(w, qp->remote);
        }
    }
}

void erdma_remote_offer_all(ErdmaWire *w)
{
    for (unsigned i = 0; i < ERDMA_FABRIC_BUCKETS; i++) {
        ErdmaLink *head = &w->fabric->waiting[i];

        for (ErdmaLink *l = head->next; l != head; l = l->next) {
            ErdmaQp *qp = ERDMA_ENTRY(l, ErdmaQp, fabric_link);

            if (get(qp)) {
                send_offer(w, qp->remote);
            }
        }
    }
}

/* @qp waits no longer */
static void connect_to(ErdmaWire *w, ErdmaQp *qp, uint32_t id, uint32_t gen)
{
    ErdmaRemote *r = qp->remote;

    r->wire = w;
    r->peer_id = id;
    r->peer_gen = gen;
    erdma_list_add_tail(&w->remotes, &r->wire_link);
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
    ErdmaQp *qp = erdma_net_match(w->fabric, &conn, le32toh(o->cookie),
                                  NULL);
    uint32_t id = le32toh(o->h.id), gen = le32toh(o->h.gen);

    if (!qp) {
        return;
    }
    if (!get(qp)) {
        send_close(w, id, gen);
        return;
    }
    connect_to(w, qp, id, gen);
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
    ErdmaRemote *r = by_id(w->fabric, a->h.id, a->h.gen);
    uint32_t id = le32toh(a->id), gen = le32toh(a->gen);

    if (r && erdma_link_used(&r->qp->fabric_link)) {
        erdma_list_del(&r->qp->fabric_link);
        connect_to(w, r->qp, id, gen);
    } else if (!r || r->wire != w || r->peer_id != id || r->peer_gen != gen) {
        send_close(w, id, gen);
    }
}

/* ---- transport ---- */

static void remote_disconnect(ErdmaQp *qp)
{
    (void)qp;                   /* remote_forget() follows */
}

static bool remote_work(ErdmaQp *qp, ErdmaBudget *b)
{
    ErdmaRemote *r = qp->remote;
    bool more = erdma_req_pump(r, b);

    if (qp->remote == r) {
        more |= erdma_resp_run(r, b);
    }
    if (qp->remote == r) {
        erdma_resp_tell_soon(r);
    }
    return more && qp->remote == r;
}

static void remote_recv_posted(ErdmaQp *qp)
{
    if (qp->remote->backlog.end) {
        erdma_qp_work_now(qp);
    }
}

const ErdmaTransport erdma_transport_remote = {
    .disconnect = remote_disconnect,
    .step = erdma_req_step,
    .work = remote_work,
    .recv_posted = remote_recv_posted,
};

const ErdmaRemoteOps erdma_remote_ops = {
    .offer = remote_offer,
    .forget = remote_forget,
    .fabric_free = remote_fabric_free,
};

void erdma_remote_todo(ErdmaRemote *r, ErdmaBudget *b)
{
    ErdmaQp *qp = r->qp;

    erdma_resp_tell_soon(r);
    if (!r->wire || erdma_link_used(&qp->run_link)) {
        return;                 /* has its turn */
    }
    if (b->steps) {
        erdma_qp_work(qp, b);
    } else {
        erdma_qp_schedule(qp);  /* perhaps for the peer's requests alone */
    }
}
