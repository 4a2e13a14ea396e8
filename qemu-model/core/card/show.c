/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looking at a card: registers, counters, queues, objects. Reads only; usable
 * before INIT and after removal. Lists are bounded and say where they ended.
 */
#include <stdio.h>

#include "show.h"
#include "wire_int.h"

/* ---- the card ---- */

static void show_registers(const Show *s)
{
    static const struct {
        const char *name;
        uint16_t offset;
        uint8_t size;
    } reg[] = {
        { "version", ERDMA_REG_VERSION, 4 },
        { "proto", ERDMA_REG_PROTO, 4 },
        { "status", ERDMA_REG_STATUS, 4 },
        { "mac-lo", ERDMA_REG_MAC_LO, 4 },
        { "mac-hi", ERDMA_REG_MAC_HI, 4 },
        { "cmdq-sq-base-lo", ERDMA_REG_CMDQ_SQ_BASE_LO, 4 },
        { "cmdq-sq-base-hi", ERDMA_REG_CMDQ_SQ_BASE_HI, 4 },
        { "cmdq-cq-base-lo", ERDMA_REG_CMDQ_CQ_BASE_LO, 4 },
        { "cmdq-cq-base-hi", ERDMA_REG_CMDQ_CQ_BASE_HI, 4 },
        { "cmdq-depth", ERDMA_REG_CMDQ_DEPTH, 4 },
        { "cmdq-eq-depth", ERDMA_REG_CMDQ_EQ_DEPTH, 4 },
        { "cmdq-eq-base-lo", ERDMA_REG_CMDQ_EQ_BASE_LO, 4 },
        { "cmdq-eq-base-hi", ERDMA_REG_CMDQ_EQ_BASE_HI, 4 },
        { "aeq-base-lo", ERDMA_REG_AEQ_BASE_LO, 4 },
        { "aeq-base-hi", ERDMA_REG_AEQ_BASE_HI, 4 },
        { "aeq-depth", ERDMA_REG_AEQ_DEPTH, 4 },
        { "grp-num", ERDMA_REG_GRP_NUM, 4 },
        { "cmdq-sq-dbrec", ERDMA_REG_CMDQ_SQ_DBREC, 8 },
        { "cmdq-cq-dbrec", ERDMA_REG_CMDQ_CQ_DBREC, 8 },
        { "cmdq-eq-dbrec", ERDMA_REG_CMDQ_EQ_DBREC, 8 },
        { "aeq-dbrec", ERDMA_REG_AEQ_DBREC, 8 },
    };

    show_begin(s, NULL);
    for (unsigned i = 0; i < sizeof(reg) / sizeof(reg[0]); i++) {
        show_number(s, reg[i].name, erdma_reg_read(s->core, reg[i].offset,
                                                   reg[i].size));
    }
    show_flag(s, "ready", s->core->ready);
    show_flag(s, "removed", s->core->gone);
    show_end(s);
}

static void show_statistics(const Show *s)
{
    ErdmaCounters n;

    erdma_core_counters(s->core, &n);
    show_begin(s, NULL);
#define SHOW(field, name) show_number(s, name, n.field)
    SHOW(mmio_reads, "mmio-reads");
    SHOW(mmio_writes, "mmio-writes");
    SHOW(commands, "commands");
    SHOW(commands_failed, "commands-failed");
    SHOW(doorbells_sq, "doorbells-sq");
    SHOW(doorbells_rq, "doorbells-rq");
    SHOW(doorbells_cq, "doorbells-cq");
    SHOW(doorbells_eq, "doorbells-eq");
    SHOW(doorbells_dropped, "doorbells-dropped");
    SHOW(cqes, "cqes");
    SHOW(cqes_error, "cqes-error");
    SHOW(ceqes, "ceqes");
    SHOW(aeqes, "aeqes");
    SHOW(irqs, "irqs");
    SHOW(tx_reqs, "tx-requests");
    SHOW(tx_pkts, "tx-packets");
    SHOW(tx_bytes, "tx-bytes");
    SHOW(rx_pkts, "rx-packets");
    SHOW(rx_bytes, "rx-bytes");
    SHOW(held, "held");
    SHOW(retry_exceeded, "retry-exceeded");
    SHOW(tx_lost, "tx-lost");
    SHOW(metered_bytes, "metered-bytes");
    SHOW(metered_messages, "metered-messages");
    SHOW(faults, "faults");
    SHOW(guest_errors, "guest-errors");
    SHOW(qps, "qps");
    SHOW(cqs, "cqs");
    SHOW(eqs, "eqs");
    SHOW(mrs, "mrs");
    SHOW(db_contexts, "doorbell-contexts");
#undef SHOW
    show_flag(s, "ready", n.ready);
    show_end(s);
}

/* ---- queues of the card ---- */

static void show_eq_body(const Show *s, const ErdmaEq *eq)
{
    unsigned held = 0;

    if (eq->live) {
        for (ErdmaLink *l = eq->held.next; l != &eq->held; l = l->next) {
            held++;
        }
    }
    show_flag(s, "live", eq->live);
    show_number(s, "vector", eq->vector);
    show_number(s, "depth", eq->depth);
    show_number(s, "address", eq->base);
    show_number(s, "pi", eq->pi);
    show_number(s, "ci", eq->ci);
    show_flag(s, "armed", eq->armed);
    show_flag(s, "overflowed", eq->overflowed);
    show_number(s, "held", held);
    show_number(s, "cqs", eq->users);
}

static void show_eq(const Show *s, const char *name, int number,
                    const ErdmaEq *eq)
{
    show_begin(s, name);
    if (number >= 0) {
        show_number(s, "eqn", number);
    }
    show_eq_body(s, eq);
    show_end(s);
}

static void show_cmdq(const Show *s)
{
    const ErdmaCmdq *q = &s->core->cmdq;

    show_begin(s, "cmdq");
    show_number(s, "depth", q->depth);
    show_number(s, "sq-address", q->sq_base);
    show_number(s, "cq-address", q->cq_base);
    show_number(s, "sq-pi", q->sq_pi);
    show_number(s, "sq-ci", q->sq_ci);
    show_number(s, "cq-pi", q->cq_pi);
    show_flag(s, "armed", q->armed);
    show_end(s);
}

static void show_queues(const Show *s)
{
    ErdmaCore *c = s->core;

    show_begin(s, NULL);
    show_cmdq(s);
    show_eq(s, "command-eq", -1, &c->eq[0]);
    show_eq(s, "aeq", -1, &c->aeq);
    show_list(s, "ceqs");
    for (int i = 1; i < ERDMA_MAX_VECTORS; i++) {
        if (c->eq[i].live) {
            show_eq(s, NULL, i, &c->eq[i]);
        }
    }
    show_list_end(s);
    show_end(s);
}

/* ---- objects: short in lists, in full alone ---- */

static void show_qp(const Show *s, const ErdmaQp *qp, bool full)
{
    show_begin(s, NULL);
    show_number(s, "qpn", qp->qpn);
    show_text(s, "state", erdma_name_qp_state(qp->state));
    show_number(s, "pd", qp->pd);
    show_flag(s, "kernel", qp->kernel);
    show_number(s, "sq-depth", qp->sq.depth);
    show_number(s, "sq-pi", qp->sq_pi);
    show_number(s, "sq-ci", qp->sq_ci);
    show_number(s, "rq-depth", qp->rq.depth);
    show_number(s, "rq-pi", qp->rq_pi);
    show_number(s, "rq-ci", qp->rq_ci);
    show_number(s, "send-cqn", qp->scq->cqn);
    show_number(s, "recv-cqn", qp->rcq->cqn);
    show_flag(s, "held", erdma_timer_armed(&qp->hold));
    show_flag(s, "parked", erdma_timer_armed(&qp->shaper.timer));
    if (full) {
        show_number(s, "cookie", qp->cookie);
        show_number(s, "in-flight", qp->inflight);
        show_flag(s, "active", qp->active);
        show_number(s, "moved-bytes", qp->active ? qp->done : 0);
        show_number(s, "send-cqes", qp->sq_cqes);
        show_number(s, "recv-cqes", qp->rq_cqes);
        show_number(s, "tx-packets", qp->tx_pkts);
        show_number(s, "rx-packets", qp->rx_pkts);
        show_number(s, "rx-error-drops", qp->rx_err_drops);
        show_number(s, "retransmissions", erdma_qp_timeouts(qp));
        show_number(s, "sq-address", qp->sq_addr);
        show_number(s, "rq-address", qp->rq_addr);
        show_flag(s, "doorbell-pages", qp->db_assoc);
        show_number(s, "doorbell-context", qp->db_ctx);
    }
    show_end(s);
}

static void show_cq(const Show *s, const ErdmaCq *cq, bool full)
{
    show_begin(s, NULL);
    show_number(s, "cqn", cq->cqn);
    show_number(s, "depth", cq->q.depth);
    show_number(s, "pi", cq->pi);
    show_number(s, "eqn", cq->eq - s->core->eq);
    show_flag(s, "armed", cq->armed);
    show_number(s, "users", cq->users);
    show_flag(s, "broken", cq->broken);
    if (full) {
        uint64_t addr;

        erdma_queue_locate(&cq->q, 0, &addr);
        show_number(s, "address", addr);
        show_flag(s, "armed-solicited", cq->armed && cq->armed_solicited);
        show_number(s, "duplicate-doorbells", cq->dup_dbs);
        show_number(s, "out-of-order-doorbells", cq->ooo_dbs);
        show_flag(s, "doorbell-pages", cq->db_assoc);
        show_number(s, "doorbell-context", cq->db_ctx);
    }
    show_end(s);
}

static void show_mr(const Show *s, const ErdmaMr *mr, bool full)
{
    show_begin(s, NULL);
    show_number(s, "index", mr->index);
    show_text(s, "type", erdma_name_mr_type(mr->type));
    show_flag(s, "valid", mr->valid);
    show_number(s, "pd", mr->pd);
    show_number(s, "address", mr->base);
    show_number(s, "length", mr->length);
    show_number(s, "rights", mr->rights);
    if (full) {
        show_number(s, "level", mr->level);
        show_number(s, "page-shift", mr->page_shift);
        show_number(s, "pages", mr->npages);
    }
    show_end(s);
}

static void show_ip(const Show *s, const char *name, uint32_t ip,
                    uint16_t port)
{
    const uint8_t *b = (const uint8_t *)&ip;
    char text[32];

    snprintf(text, sizeof(text), "%u.%u.%u.%u:%u", b[0], b[1], b[2], b[3],
             be16toh(port));
    show_text(s, name, text);
}

static void show_connection(const Show *s, const ErdmaQp *qp)
{
    const ErdmaRemote *r = qp->remote;

    show_begin(s, NULL);
    show_number(s, "qpn", qp->qpn);
    show_ip(s, "local", qp->conn.sip, qp->conn.sport);
    show_ip(s, "remote", qp->conn.dip, qp->conn.dport);
    show_number(s, "remote-cookie", qp->conn.cookie);
    show_number(s, "congestion-control", qp->conn.cc);
    show_text(s, "peer", qp->peer ? "local" : r && r->wire ? "remote" :
              "none");
    if (qp->peer) {
        show_number(s, "peer-qpn", qp->peer->qpn);
    }
    show_flag(s, "held", erdma_timer_armed(&qp->hold));
    show_flag(s, "parked", erdma_timer_armed(&qp->shaper.timer));
    show_number(s, "in-flight", qp->inflight);
    show_end(s);
}

/* ---- lists ---- */

typedef enum ListKind {
    LIST_QPS, LIST_CQS, LIST_MRS, LIST_CONNECTIONS,
} ListKind;

static bool show_member(const Show *s, ListKind kind, const void *object)
{
    switch (kind) {
    case LIST_QPS:
        show_qp(s, object, false);
        return true;
    case LIST_CQS:
        show_cq(s, object, false);
        return true;
    case LIST_MRS:
        show_mr(s, object, false);
        return true;
    default:
        if (((const ErdmaQp *)object)->state != ERDMA_QPS_RTS) {
            return false;
        }
        show_connection(s, object);
        return true;
    }
}

static const ErdmaTable *show_table(const ErdmaCore *c, ListKind kind)
{
    return kind == LIST_CQS ? &c->cqs : kind == LIST_MRS ? &c->mrs : &c->qps;
}

/* "next" is the number to go on with, if the list did not end */
static void show_objects(const Show *s, ListKind kind, const char *name,
                         uint32_t from)
{
    const ErdmaTable *t = show_table(s->core, kind);
    uint32_t i = from, shown = 0;
    void *object;

    show_begin(s, NULL);
    show_number(s, "total", t->count);
    show_list(s, name);
    while (shown < SHOW_OBJECTS && (object = erdma_table_next(t, &i))) {
        shown += show_member(s, kind, object);
        i++;
    }
    show_list_end(s);
    if (shown == SHOW_OBJECTS && erdma_table_next(t, &i)) {
        show_number(s, "next", i);
    }
    show_end(s);
}

/* ---- what was asked for ---- */

static bool show_parse_word(const char **at, const char *want)
{
    size_t n = strlen(want);

    if (strncmp(*at, want, n) || ((*at)[n] && (*at)[n] != ' ')) {
        return false;
    }
    *at += n;
    *at += strspn(*at, " ");
    return true;
}

static bool show_parse_number(const char **at, uint32_t *out)
{
    uint64_t v = 0;
    size_t n = strspn(*at, "0123456789");

    if (!n || n > 10 || ((*at)[n] && (*at)[n] != ' ')) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        v = v * 10 + ((*at)[i] - '0');
    }
    *at += n;
    *at += strspn(*at, " ");
    *out = v;
    return v <= UINT32_MAX;
}

typedef struct Asked {
    enum { ASK_REGISTERS, ASK_STATISTICS, ASK_QUEUES, ASK_FAULTS, ASK_LIST,
           ASK_QP, ASK_CQ, ASK_MR, ASK_EQ, ASK_RING } what;
    ListKind list;
    const char *name;
    uint32_t number;
    ShowRing ring;
} Asked;

static bool show_parse_ring(const char **at, ShowRing *r)
{
    static const struct {
        const char *name;
        int kind;
        bool numbered;
    } rings[] = {
        { "cmdq", RING_CMDQ, false }, { "cmdq-cq", RING_CMDCQ, false },
        { "command-eq", RING_CMDEQ, false }, { "aeq", RING_AEQ, false },
        { "ceq", RING_CEQ, true }, { "sq", RING_SQ, true },
        { "rq", RING_RQ, true }, { "cq", RING_CQ, true },
    };
    unsigned i;

    for (i = 0; i < sizeof(rings) / sizeof(rings[0]); i++) {
        if (show_parse_word(at, rings[i].name)) {
            break;
        }
    }
    if (i == sizeof(rings) / sizeof(rings[0])) {
        return false;
    }
    r->kind = rings[i].kind;
    r->count = 16;
    if (rings[i].numbered && !show_parse_number(at, &r->number)) {
        return false;
    }
    if (show_parse_word(at, "from")) {
        r->from_given = show_parse_number(at, &r->from);
        if (!r->from_given) {
            return false;
        }
    }
    return !show_parse_word(at, "count") ||
           (show_parse_number(at, &r->count) && r->count <= SHOW_ENTRIES);
}

static bool show_parse(const char *at, Asked *a)
{
    static const struct {
        const char *name;
        int what;
        ListKind list;
    } views[] = {
        { "registers", ASK_REGISTERS, 0 }, { "statistics", ASK_STATISTICS, 0 },
        { "queues", ASK_QUEUES, 0 }, { "faults", ASK_FAULTS, 0 },
        { "qps", ASK_LIST, LIST_QPS }, { "cqs", ASK_LIST, LIST_CQS },
        { "mrs", ASK_LIST, LIST_MRS },
        { "connections", ASK_LIST, LIST_CONNECTIONS },
        { "qp", ASK_QP, 0 }, { "cq", ASK_CQ, 0 }, { "mr", ASK_MR, 0 },
        { "eq", ASK_EQ, 0 }, { "ring", ASK_RING, 0 },
    };
    unsigned i;

    memset(a, 0, sizeof(*a));
    at += strspn(at, " ");
    for (i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
        if (show_parse_word(&at, views[i].name)) {
            break;
        }
    }
    if (i == sizeof(views) / sizeof(views[0])) {
        return false;
    }
    a->what = views[i].what;
    a->list = views[i].list;
    a->name = views[i].name;
    switch (a->what) {
    case ASK_LIST:
        if (*at && !show_parse_number(&at, &a->number)) {
            return false;
        }
        break;
    case ASK_QP:
    case ASK_CQ:
    case ASK_MR:
    case ASK_EQ:
        if (!show_parse_number(&at, &a->number)) {
            return false;
        }
        break;
    case ASK_RING:
        if (!show_parse_ring(&at, &a->ring)) {
            return false;
        }
        break;
    default:
        break;
    }
    return !*at;
}

/* One object; false: there is none of this number */
static bool show_object(const Show *s, const Asked *a)
{
    ErdmaCore *c = s->core;
    void *object = a->what == ASK_QP ? (void *)erdma_qp_get(c, a->number) :
                   a->what == ASK_CQ ? (void *)erdma_cq_get(c, a->number) :
                   a->what == ASK_MR ? erdma_table_get(&c->mrs, a->number) :
                   NULL;

    switch (a->what) {
    case ASK_RING:
        return erdma_show_ring(s, &a->ring);
    case ASK_EQ:
        if (a->number >= ERDMA_MAX_VECTORS || !c->eq[a->number].live) {
            return false;
        }
        show_eq(s, NULL, a->number, &c->eq[a->number]);
        return true;
    default:
        break;
    }
    if (!object) {
        return false;
    }
    if (a->what == ASK_QP) {
        show_qp(s, object, true);
    } else if (a->what == ASK_CQ) {
        show_cq(s, object, true);
    } else {
        show_mr(s, object, true);
    }
    return true;
}

bool erdma_core_show(ErdmaCore *c, const char *what, const ErdmaShowOps *ops,
                     void *opaque, char *why, size_t len)
{
    const Show s = { .core = c, .ops = ops, .opaque = opaque };
    Asked a;

    if (!show_parse(what, &a)) {
        snprintf(why, len, "'%.60s' is not one of: registers, statistics, "
                 "queues, faults, qps [FROM], cqs [FROM], mrs [FROM], "
                 "connections [FROM], qp N, cq N, mr N, eq N, ring "
                 "cmdq|cmdq-cq|command-eq|aeq|ceq N|sq N|rq N|cq N "
                 "[from INDEX] [count 1..%u]", what, SHOW_ENTRIES);
        return false;
    }
    if (!ops) {
        return true;
    }
    switch (a.what) {
    case ASK_REGISTERS:
        show_registers(&s);
        return true;
    case ASK_STATISTICS:
        show_statistics(&s);
        return true;
    case ASK_QUEUES:
        show_queues(&s);
        return true;
    case ASK_FAULTS:
        erdma_show_faults(&s);
        return true;
    case ASK_LIST:
        show_objects(&s, a.list, a.name, a.number);
        return true;
    default:
        if (show_object(&s, &a)) {
            return true;
        }
        snprintf(why, len, "there is no such object: %.60s", what);
        return false;
    }
}
