/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The language of faults: what is understood, and what is said about the rest. */
#include <stdlib.h>

#include "guest_fault.h"

TEST(fault_lines_of_every_kind_are_understood)
{
    static const char *const good[] = {
        "drop command", "delay command ms=5", "duplicate command",
        "corrupt command", "corrupt command status=22",
        "corrupt command magic", "corrupt command owner",
        "corrupt command index", "corrupt command resp0=0x12345678",
        "corrupt command type=9", "corrupt command kind",
        "wrong-owner command", "hostile-index command value=77",
        "delay command opcode=create_qp ms=50",
        "delay command opcode=GET-STATS ms=50 overtake",
        "drop command opcode=261 count=1",
        "drop cqe qpn=17 count=1", "delay cqe cqn=3 us=10 overtake",
        "duplicate cqe opcode=send", "corrupt cqe syndrome=1",
        "corrupt cqe type=200", "corrupt cqe kind=9", "corrupt cqe number=5",
        "corrupt cqe size", "corrupt cqe imm=1", "wrong-owner cqe",
        "hostile-index cqe value=0xffffffff",
        "drop event", "duplicate event", "delay event us=1",
        "corrupt event number=9", "wrong-owner event", "hostile-index event",
        "drop ceqe eqn=1 cqn=2", "corrupt ceqe index=5", "drop aeqe qpn=3",
        "corrupt aeqe type=9", "drop command-event count=1",
        "drop irq vector=3 count=2", "delay irq ms=1", "duplicate irq",
        "drop payload", "corrupt payload prob=0.01 seed=7", "delay payload us=3",
        "duplicate payload qpn=1", "stall cmdq", "stall sq qpn=1", "stall rq",
        "stall ceq eqn=2 ms=5", "stall aeq", "flood ceq", "flood aeq type=4",
        "flood aeq cqn=3",
        "flood cmdq count=10", "flood cq cqn=1 count=1", "flood irq vector=1",
        "wrong-owner aeqe after=2", "registers all-ones",
        "delay reset ms=100", "registers all-ones offset=20", "corrupt register offset=0x14 value=0",
        "link down", "link down ms=100", "silent peer qpn=4",
        "loss prob=0.5", "loss prob=1 qpn=2 us=10", "loss prob=1 minlen=1461",
        "latency us=100",
        "  latency   ms=1  ", "drop cqe prob=.5", "drop cqe prob=1.0",
        "drop cqe prob=0",
    };
    Hosts b;

    hosts_init(&b, 1, 1);
    for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        fault_over(&b.card[0], fault(&b.card[0], good[i]));
    }
    hosts_free(&b);
}

/* Refused, and the sentence has both texts */
static void refused(Card *c, const char *line, const char *says,
                    const char *also)
{
    uint32_t id = 4711;
    char why[1024];

    if (erdma_core_fault_add(c->core, line, &id, why, sizeof(why))) {
        tap_fail(__FILE__, __LINE__, "accepted: \"%s\"", line);
    }
    CHECK_EQ(id, 4711);
    if (!strstr(why, says) || (also && !strstr(why, also))) {
        tap_fail(__FILE__, __LINE__, "\"%s\": \"%s\" does not say \"%s\" "
                 "and \"%s\"", line, why, says, also ? also : "");
    }
}

TEST(fault_that_is_not_understood_names_the_word_and_the_alternatives)
{
    char longest[400];
    Card *c;
    Hosts b;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    memset(longest, 'x', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    refused(c, "", "empty", "hostile-index");
    refused(c, "   ", "empty", "remove");
    refused(c, "break cqe", "'break'", "duplicate");
    refused(c, "drop", "needs one of", "payload");
    refused(c, "drop table", "'table'", "irq");
    refused(c, "drop link", "'link'", "cqe");
    refused(c, "stall cqe", "'cqe'", "cmdq");
    refused(c, "drop cqe vector=1", "'vector'", "cqn=");
    refused(c, "drop irq qpn=1", "'qpn'", "vector=");
    refused(c, "drop cqe ms=1", "'ms'", "after=");
    refused(c, "drop cqe qpn", "needs a value", "qpn=");
    refused(c, "drop cqe qpn=", "not a number", "1048575");
    refused(c, "drop cqe qpn=x", "'x'", "qpn");
    refused(c, "drop cqe qpn=-1", "'-1'", NULL);
    refused(c, "drop cqe qpn=1048576", "1048576", NULL);
    refused(c, "drop cqe count=99999999999999999999999", "not a number", NULL);
    refused(c, "drop cqe qpn=1 qpn=2", "twice", NULL);
    refused(c, "drop cqe prob=1.1", "probability", NULL);
    refused(c, "drop cqe prob=2", "probability", NULL);
    refused(c, "drop cqe prob=", "probability", NULL);
    refused(c, "drop cqe prob=1e-3", "probability", NULL);
    refused(c, "drop cqe prob=0.0000000001", "probability", NULL);
    refused(c, "drop command opcode=nothing", "'nothing'", "CREATE_QP");
    refused(c, "drop cqe opcode=create_qp", "'create_qp'", "RDMA_WRITE");
    refused(c, "delay command", "needs", "ms=");
    refused(c, "delay cqe ms=1 us=1", "not both", NULL);
    refused(c, "delay cqe ms=3600001", "3600000", NULL);
    refused(c, "delay irq ms=1 overtake", "'overtake'", "vector=");
    refused(c, "delay cqe ms=1 overtake=1", "no value", NULL);
    refused(c, "loss", "needs", "prob=");
    refused(c, "loss prob=1 minlen=x", "'x'", "minlen");
    refused(c, "drop cqe minlen=1", "'minlen'", "after=");
    refused(c, "latency", "needs", "us=");
    refused(c, "flood cq", "needs", "cqn=");
    refused(c, "flood moon", "'moon'", "aeq");
    refused(c, "corrupt register", "needs", "offset=");
    refused(c, "corrupt cqe syndrome=1 size=3", "one field", NULL);
    refused(c, "corrupt cqe status=1", "'status'", "syndrome");
    refused(c, "corrupt cqe owner=1", "no value", NULL);
    refused(c, "link up", "'up'", "down");
    refused(c, "link down qpn=1", "'qpn'", "ms=");
    refused(c, "remove now", "'now'", "nothing");
    refused(c, longest, "longer", NULL);
    CHECK_EQ(c->f.kicks, 0);
    hosts_free(&b);
}

TEST(faults_are_cleared_by_number_or_all)
{
    char why[256];
    uint32_t one, two;
    Card *c;
    Hosts b;

    hosts_init(&b, 1, 1);
    c = &b.card[0];
    CHECK(erdma_core_fault_clear(c->core, "all", why, sizeof(why)));
    CHECK(!erdma_core_fault_clear(c->core, "1", why, sizeof(why)));
    CHECK(strstr(why, "no fault 1"));
    one = fault(c, "drop cqe");
    two = fault(c, "drop irq");
    CHECK(one != two);
    fault_over(c, one);
    CHECK(!erdma_core_fault_clear(c->core, "1", why, sizeof(why)));
    CHECK(!erdma_core_fault_clear(c->core, "", why, sizeof(why)));
    CHECK(!erdma_core_fault_clear(c->core, "some", why, sizeof(why)));
    CHECK(strstr(why, "'some'"));
    CHECK(!erdma_core_fault_clear(c->core, "99999999999", why, sizeof(why)));
    fault_over(c, two);
    hosts_free(&b);
}

TEST(number_of_faults_is_bounded)
{
    char why[256];
    uint32_t id;
    Hosts b;

    hosts_init(&b, 1, 1);
    for (unsigned i = 0; i < 64; i++) {
        fault(&b.card[0], "drop cqe");
    }
    CHECK(!erdma_core_fault_add(b.card[0].core, "drop cqe", &id, why,
                                sizeof(why)));
    CHECK(strstr(why, "64"));
    faults_over(&b.card[0]);
    fault(&b.card[0], "drop cqe");
    hosts_free(&b);
}

/* Any bytes at all */
TEST(garbage_as_fault_lines_is_survived)
{
    uint32_t id, seed = 7;
    char why[64], line[200];
    Hosts b;

    hosts_init(&b, 1, 1);
    for (unsigned i = 0; i < 20000; i++) {
        static const char *const word[] = {
            "drop", "corrupt", "delay", "flood", "cqe", "command", "=", " ",
            "qpn=", "9", "ms=", "loss", "prob=", "0.", "irq", "opcode=", "\t",
            "-", "remove", "link", "down", "0x", "\377", "%s%n",
        };

        line[0] = '\0';
        while (strlen(line) < 160 && (seed = seed * 1664525 + 1013904223) >>
               24 > 20) {
            strcat(line, word[(seed >> 8) % (sizeof(word) / sizeof(word[0]))]);
            strcat(line, seed & 0x80 ? " " : "");
        }
        if (erdma_core_fault_add(b.card[0].core, line, &id, why,
                                 sizeof(why))) {
            faults_over(&b.card[0]);
        } else {
            CHECK(why[0] && strlen(why) < sizeof(why));
        }
    }
    hosts_free(&b);
}
