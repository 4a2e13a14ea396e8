/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The person at the monitor: faults, meters, views. The lines that make sense
 * are listed, so that the fuzzer finds what they do, not only how they are read.
 */
#include <stdio.h>
#include <stdlib.h>

#include "input.h"

static const char *const faults[] = {
    "drop command", "delay command us=20", "delay command us=20 overtake",
    "duplicate command", "corrupt command", "wrong-owner command",
    "hostile-index command", "corrupt command magic", "drop cqe", "delay cqe us=20",
    "delay cqe us=20 overtake", "duplicate cqe", "corrupt cqe",
    "wrong-owner cqe", "hostile-index cqe", "drop event", "delay event us=20",
    "duplicate event", "corrupt ceqe number", "hostile-index event",
    "drop irq", "delay irq us=20", "duplicate irq",
    "flood irq vector=1 count=40", "drop payload", "duplicate payload",
    "corrupt payload", "delay payload us=20", "stall cmdq us=20",
    "flood cmdq count=40", "stall sq us=20", "stall rq us=20",
    "stall ceq us=20", "stall aeq us=20", "flood ceq eqn=1 count=40",
    "flood aeq count=40", "flood cq cqn=1 count=40", "link down us=20",
    "silent peer us=20", "silent peer qpn=1", "loss prob=0.5 seed=1",
    "latency us=20", "registers all-ones us=20", "delay reset us=20",
    "corrupt register offset=0x14 value=3", "remove",
};

static const char *const views[] = {
    "registers", "statistics", "queues", "faults", "qps", "cqs 1", "mrs",
    "connections", "qp 1", "cq 1", "mr 1", "eq 1", "ring cmdq", "ring cmdq-cq",
    "ring command-eq", "ring aeq", "ring ceq 1", "ring sq 1", "ring rq 1 count 64",
    "ring cq 1 from 4294967290 count 20",
};

/* ---- views: handed out in pairs, with names and texts that end ---- */

static unsigned depth;

static void see(const char *text)
{
    if (text && strlen(text) > 1000) {
        abort();
    }
}

static void see_begin(void *opaque, const char *name)
{
    see(name);
    depth++;
}

static void see_end(void *opaque)
{
    if (!depth--) {
        abort();
    }
}

static void see_number(void *opaque, const char *name, uint64_t value)
{
    see(name);
}

static void see_flag(void *opaque, const char *name, bool value)
{
    see(name);
}

static void see_text(void *opaque, const char *name, const char *value)
{
    see(name);
    see(value);
}

static const ErdmaShowOps see_ops = {
    .begin = see_begin,
    .end = see_end,
    .begin_list = see_begin,
    .end_list = see_end,
    .number = see_number,
    .flag = see_flag,
    .text = see_text,
};

/* ---- steps ---- */

static void show(ErdmaCore *core, const char *what)
{
    char why[256];

    depth = 0;
    if (!erdma_core_show(core, what, &see_ops, NULL, why, sizeof(why))) {
        see(why);
    } else if (depth) {
        abort();
    }
}

static void add_fault(ErdmaCore *core, const char *line)
{
    char why[256];
    uint32_t id;

    if (!erdma_core_fault_add(core, line, &id, why, sizeof(why))) {
        see(why);
    }
}

static void listed_fault(ErdmaCore *core, Input *in)
{
    unsigned which = take(in, 1) % (sizeof(faults) / sizeof(faults[0]));
    unsigned more = take(in, 1);
    char line[128];

    snprintf(line, sizeof(line), "%s%s%s", faults[which],
             more & 1 && !strstr(faults[which], "count=") ? " count=2" : "",
             more & 2 && !strstr(faults[which], "prob=") ? " prob=0.5 seed=3" :
             "");
    add_fault(core, line);
}

static void set_limits(ErdmaCore *core, Input *in)
{
    ErdmaLimits limits = {
        .bytes = take(in, 4), .messages = take(in, 2),
        .qp_bytes = take(in, 4), .qp_messages = take(in, 2),
    };

    erdma_core_set_limits(core, &limits);
}

void step_monitor(ErdmaCore *core, Input *in)
{
    char text[128] = "", why[256];
    unsigned what = take(in, 1);

    switch (what % 8) {
    case 0:
    case 1:
    case 2:
        listed_fault(core, in);
        break;
    case 3:
        show(core, views[take(in, 1) % (sizeof(views) / sizeof(views[0]))]);
        break;
    case 4:
        set_limits(core, in);
        break;
    case 5:
        erdma_core_fault_clear(core, "all", why, sizeof(why));
        break;
    case 6:
        take_bytes(in, text, take(in, 1) % sizeof(text));
        add_fault(core, text);
        break;
    default:
        take_bytes(in, text, take(in, 1) % sizeof(text));
        show(core, text);
        break;
    }
}
