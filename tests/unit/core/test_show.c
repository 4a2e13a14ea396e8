/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looking at a card. */
#include <stdio.h>
#include <stdlib.h>

#include "guest_fault.h"

/* What was handed out, as text: {name=1,list=[{...}]} */
typedef struct Text {
    char s[65536];
    size_t n;
    char open[16];
    int depth;
} Text;

static void put(Text *t, const char *name, const char *value)
{
    bool first = !t->n || strchr("{[", t->s[t->n - 1]);

    CHECK(t->depth == 0 || (name != NULL) == (t->open[t->depth - 1] == '{'));
    t->n += snprintf(t->s + t->n, sizeof(t->s) - t->n, "%s%s%s%s",
                     first ? "" : ",", name ? name : "", name ? "=" : "",
                     value);
    CHECK(t->n < sizeof(t->s));
}

static void enter(Text *t, const char *name, char kind)
{
    put(t, name, kind == '{' ? "{" : "[");
    CHECK(t->depth < 15);
    t->open[t->depth++] = kind;
}

static void leave(Text *t, char kind)
{
    CHECK(t->depth > 0 && t->open[--t->depth] == kind);
    t->n += snprintf(t->s + t->n, sizeof(t->s) - t->n, "%c",
                     kind == '{' ? '}' : ']');
    CHECK(t->n < sizeof(t->s));
}

static void on_begin(void *o, const char *name)
{
    enter(o, name, '{');
}

static void on_end(void *o)
{
    leave(o, '{');
}

static void on_list(void *o, const char *name)
{
    enter(o, name, '[');
}

static void on_list_end(void *o)
{
    leave(o, '[');
}

static void on_number(void *o, const char *name, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    put(o, name, text);
}

static void on_flag(void *o, const char *name, bool value)
{
    put(o, name, value ? "true" : "false");
}

static void on_text(void *o, const char *name, const char *value)
{
    put(o, name, value);
}

static const ErdmaShowOps to_text = {
    .begin = on_begin, .end = on_end, .begin_list = on_list,
    .end_list = on_list_end, .number = on_number, .flag = on_flag,
    .text = on_text,
};

/* The view as text, good until the next call */
static const char *show(Card *c, const char *what)
{
    static Text t;
    char why[512];

    memset(&t, 0, sizeof(t));
    if (!erdma_core_show(c->core, what, &to_text, &t, why, sizeof(why))) {
        tap_fail(__FILE__, __LINE__, "%s: %s", what, why);
    }
    CHECK_EQ(t.depth, 0);
    CHECK_EQ(c->h->open_maps, 0);
    return t.s;
}

static void shows(Card *c, const char *what, const char *part)
{
    const char *text = show(c, what);

    if (!strstr(text, part)) {
        tap_fail(__FILE__, __LINE__, "%s has no \"%s\": %.300s", what, part,
                 text);
    }
}

TEST(views_show_what_the_card_is_doing)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    Wr wr = fixture_write(s, 0, 0, 64);

    qp_send(&s->aqp, &wr);
    fixture_recv(s, 0, 64);
    shows(s->a, "registers", "{version=33554432,proto=0,status=2,");
    shows(s->a, "registers", "ready=true");
    shows(s->a, "statistics", "tx-bytes=64,");
    shows(s->a, "statistics", "qps=2,cqs=2,eqs=4,mrs=2,");
    shows(s->a, "queues", "cmdq={depth=512,");
    shows(s->a, "queues", "ceqs=[{eqn=1,live=true,vector=1,depth=4096,");
    shows(s->a, "qps", "{total=2,qps=[{qpn=1,state=RTS,pd=3,");
    shows(s->a, "qps 2", "{total=2,qps=[{qpn=2,");
    shows(s->a, "qps 3", "{total=2,qps=[]}");
    shows(s->a, "qp 2", "rq-pi=1,rq-ci=0,");
    shows(s->a, "qp 1", "tx-packets=1,");
    shows(s->a, "cqs", "cqs=[{cqn=1,depth=1024,pi=1,eqn=1,");
    shows(s->a, "cq 2", "{cqn=2,");
    shows(s->a, "mrs", "type=normal,valid=true,pd=3,");
    shows(s->a, "mr 1", "{index=1,");
    shows(s->a, "eq 2", "{eqn=2,live=true,vector=2,");
    shows(s->a, "connections", "local=10.0.0.1:40000,remote=10.0.0.1:18515,");
    shows(s->a, "connections", "peer=local,peer-qpn=2,");
    fixture_free(s);
}

TEST(events_that_wait_for_room_are_counted)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    Cq cq[3];

    CHECK_EQ(eq_create(s->a, 3, 0), 0);
    for (unsigned i = 0; i < 3; i++) {
        cq_init(&cq[i], s->a, 64, 3);
        cq[i].ci = 7;                       /* PI is 0: to arm it is an event */
        cq_arm(&cq[i], false);
    }
    shows(s->a, "eq 3", "held=2,cqs=3}");
    CHECK(eq_poll(s->a, &s->a->eq[3], NULL, NULL));
    ceq_arm(s->a, 3);
    shows(s->a, "eq 3", "held=1,cqs=3}");
    fixture_free(s);
}

TEST(rings_are_shown_entry_by_entry)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    Wr wr = fixture_write(s, 0, 0, 64);

    for (unsigned i = 0; i < 3; i++) {
        qp_send(&s->aqp, &wr);
    }
    fixture_recv(s, 0, 64);
    shows(s->a, "ring cq 1 count 1", "{depth=1024,pi=3,entries=[{index=2,"
          "slot=2,readable=true,bytes=80000000");
    shows(s->a, "ring cq 1 count 1", "operation=RDMA_WRITE,result=success,"
          "qpn=1,size=64}]}");
    shows(s->a, "ring cq 1 from 3 count 1", "written=false");
    shows(s->a, "ring sq 1 from 0 count 2", "{depth=256,pi=6,ci=6,");
    shows(s->a, "ring rq 2 count 1", "qe-index=1,qpn=2,");
    shows(s->a, "ring cmdq", "command-if-first=");
    shows(s->a, "ring cmdq-cq count 1", "queue=2,syndrome=0,");
    shows(s->a, "ring aeq", "event=");
    shows(s->a, "ring command-eq", "cqn=0");
    shows(s->a, "ring ceq 1 from 65535 count 2", "{index=65535,slot=4095,");
    s->a->f.bus_master = false;
    shows(s->a, "ring cq 1 count 1", "readable=false}");
    s->a->f.bus_master = true;
    fixture_free(s);
}

TEST(views_that_do_not_exist_are_refused_with_the_list)
{
    static const char *const bad[] = {
        "", " ", "qp", "qp x", "qp 1 2", "qp -1", "register", "registers 1",
        "qps x", "ring", "ring 1", "ring cq", "ring cq 1 count 0x3",
        "ring cq 1 count 65", "ring cq 1 from", "ring qp 1", "ring aeq 1",
        "everything", "qp 99999999999", "ring cq 1 count 3 from 1",
    };
    static const char *const missing[] = {
        "qp 77", "qp 0", "cq 77", "mr 77", "eq 9", "eq 77", "ring cq 9",
        "ring sq 0", "ring rq 4294967295", "ring ceq 0", "ring ceq 77",
        "qp 4294967295",
    };
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    char why[1024];

    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK(!erdma_core_show(s->a->core, bad[i], &to_text, NULL, why,
                               sizeof(why)));
        CHECK(strstr(why, "connections"));
        CHECK(!erdma_core_show(s->a->core, bad[i], NULL, NULL, why,
                               sizeof(why)));
    }
    for (unsigned i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
        CHECK(!erdma_core_show(s->a->core, missing[i], &to_text, NULL, why,
                               sizeof(why)));
        CHECK(strstr(why, "no such object"));
        CHECK(erdma_core_show(s->a->core, missing[i], NULL, NULL, why,
                              sizeof(why)));
    }
    fixture_free(s);
}

static void look_everywhere(Card *c)
{
    static const char *const views[] = {
        "registers", "statistics", "queues", "faults", "qps", "cqs", "mrs",
        "connections",
    };
    static const char *const rings[] = {
        "ring cmdq", "ring cmdq-cq", "ring command-eq", "ring aeq",
        "ring ceq 1", "ring sq 1", "ring rq 1", "ring cq 1", "qp 1", "cq 1",
        "mr 1", "eq 1",
    };
    char why[512];
    Text t;

    for (unsigned i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
        show(c, views[i]);
    }
    for (unsigned i = 0; i < sizeof(rings) / sizeof(rings[0]); i++) {
        memset(&t, 0, sizeof(t));
        erdma_core_show(c->core, rings[i], &to_text, &t, why, sizeof(why));
        CHECK_EQ(t.depth, 0);
    }
}

TEST(looking_is_possible_at_any_time_and_changes_nothing)
{
    ErdmaCounters before, after;
    Fixture *s;
    Hosts b;

    hosts_init(&b, 1, 1);
    look_everywhere(&b.card[0]);
    card_start(&b.card[0], 4);
    look_everywhere(&b.card[0]);
    fault(&b.card[0], "remove");
    look_everywhere(&b.card[0]);
    shows(&b.card[0], "registers", "removed=true");
    hosts_free(&b);

    s = fixture_new(2, QUEUE_TABLE, 4096);
    before = counters(s->a);
    look_everywhere(s->a);
    fake_hole(s->a->h, RAM_BASE, RAM_SIZE);
    look_everywhere(s->a);
    fake_fill_holes(s->a->h);
    after = counters(s->a);
    CHECK(!memcmp(&before, &after, sizeof(before)));
    card_write32(s->a, ERDMA_REG_CTRL, ERDMA_CTRL_RESET);
    look_everywhere(s->a);
    fixture_free(s);
}

/* A removed card does not lie about its registers to those who look inside */
TEST(faults_do_not_deceive_who_looks_inside)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);

    fault(s->a, "registers all-ones");
    shows(s->a, "registers", "{version=33554432,");
    fixture_free(s);
}

TEST(faults_show_their_line_and_hits)
{
    Fixture *s = fixture_new(1, QUEUE_KERNEL, 4096);
    Wr wr = fixture_write(s, 0, 0, 64);

    shows(s->a, "faults", "[]");
    fault(s->a, "drop cqe after=1 count=2");
    fault(s->a, "flood irq vector=1 count=3");
    for (unsigned i = 0; i < 3; i++) {
        qp_send(&s->aqp, &wr);
    }
    hosts_run(&s->hosts);
    shows(s->a, "faults", "[{id=1,line=drop cqe after=1 count=2,seen=3,"
          "hits=2,spent=true},{id=2,line=flood irq vector=1 count=3,seen=0,"
          "hits=3,spent=true}]");
    faults_over(s->a);
    shows(s->a, "faults", "[]");
    fault(s->a, "stall cmdq ms=1");
    shows(s->a, "faults", "spent=false");
    hosts_advance(&s->hosts, MS);
    shows(s->a, "faults", "line=stall cmdq ms=1,seen=0,hits=0,spent=true}]");
    fault_over(s->a, 3);
    fixture_free(s);
}

TEST(long_lists_are_shown_in_parts)
{
    const char *text, *next;
    unsigned total = 0;
    char what[32];
    Hosts b;

    hosts_init(&b, 1, 1);
    card_up(&b.card[0], 4, 1);
    for (unsigned i = 0; i < 600; i++) {
        mr_dma(&b.card[0], PD, ALL_RIGHTS);
    }
    snprintf(what, sizeof(what), "mrs");
    for (unsigned part = 0; part < 3; part++) {
        text = show(&b.card[0], what);
        CHECK(strstr(text, "{total=600,"));
        for (const char *p = text; (p = strstr(p, "{index=")); p++) {
            total++;
        }
        next = strstr(text, "next=");
        CHECK((next != NULL) == (part < 2));
        if (next) {
            snprintf(what, sizeof(what), "mrs %u", atoi(next + 5));
        }
    }
    CHECK_EQ(total, 600);
    hosts_free(&b);
}
