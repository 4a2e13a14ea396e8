/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "info erdma" of the human monitor: every card, or one view of every card. The
 * command's name is in hmp-commands-info.hx, so a QEMU that was built without
 * it does not have this file either.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "monitor/monitor.h"
#include "erdma_qom.h"

#ifndef ERDMA_PRELOAD

/* Structures in lists are lines, others are blocks */
typedef struct ToMonitor {
    Monitor *mon;
    unsigned depth;
    unsigned line;              /* depth at which a line began, 0 = none */
} ToMonitor;

static void monitor_indent(ToMonitor *t)
{
    if (!t->line) {
        monitor_printf(t->mon, "%*s", 2 * t->depth, "");
    }
}

static void monitor_begin(void *opaque, const char *name)
{
    ToMonitor *t = opaque;

    monitor_indent(t);
    if (name) {
        monitor_printf(t->mon, "%s:%s", name, t->line ? " " : "\n");
    } else if (!t->line && t->depth) {
        t->line = t->depth;
    }
    t->depth++;
}

static void monitor_end_line(ToMonitor *t)
{
    t->depth--;
    if (t->line == t->depth && t->depth) {
        t->line = 0;
        monitor_printf(t->mon, "\n");
    }
}

static void monitor_end(void *opaque)
{
    monitor_end_line(opaque);
}

static void monitor_begin_list(void *opaque, const char *name)
{
    ToMonitor *t = opaque;

    monitor_indent(t);
    if (name) {
        monitor_printf(t->mon, "%s:\n", name);
    }
    t->depth++;
}

static void monitor_end_list(void *opaque)
{
    ToMonitor *t = opaque;

    t->depth--;
}

G_GNUC_PRINTF(3, 4)
static void monitor_value(ToMonitor *t, const char *name, const char *fmt, ...)
{
    g_autofree char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    text = g_strdup_vprintf(fmt, ap);
    va_end(ap);
    monitor_indent(t);
    monitor_printf(t->mon, "%s%s%s%s", name ?: "", name ? " " : "", text,
                   t->line ? "  " : "\n");
}

/* Addresses and registers are read in hexadecimal */
static bool monitor_is_address(const char *name)
{
    return name && (strstr(name, "address") || strstr(name, "base") ||
                    strstr(name, "dbrec") || strstr(name, "version") ||
                    strstr(name, "mac"));
}

static void monitor_number(void *opaque, const char *name, uint64_t value)
{
    if (monitor_is_address(name)) {
        monitor_value(opaque, name, "0x%" PRIx64, value);
    } else {
        monitor_value(opaque, name, "%" PRIu64, value);
    }
}

static void monitor_flag(void *opaque, const char *name, bool value)
{
    monitor_value(opaque, name, "%s", value ? "yes" : "no");
}

static void monitor_text(void *opaque, const char *name, const char *value)
{
    monitor_value(opaque, name, "%s", value);
}

static const ErdmaShowOps to_monitor = {
    .begin = monitor_begin,
    .end = monitor_end,
    .begin_list = monitor_begin_list,
    .end_list = monitor_end_list,
    .number = monitor_number,
    .flag = monitor_flag,
    .text = monitor_text,
};

typedef struct Wanted {
    Monitor *mon;
    const char *view;           /* NULL: an overview */
    unsigned cards;
} Wanted;

static void monitor_show_view(Monitor *mon, ErdmaPci *s, const char *view)
{
    ToMonitor t = { .mon = mon };
    Error *err = NULL;

    if (!erdma_host_show(s, view, &to_monitor, &t, &err)) {
        monitor_printf(mon, "%s\n", error_get_pretty(err));
        error_free(err);
    }
}

static int monitor_show_card(Object *obj, void *opaque)
{
    static const char *const overview[] = {
        "statistics", "peers", "connections", "faults",
    };
    Wanted *w = opaque;
    ErdmaPci *s = (ErdmaPci *)object_dynamic_cast(obj, TYPE_ERDMA);
    g_autofree char *path = NULL;
    unsigned i;

    if (!s) {
        return 0;
    }
    w->cards++;
    path = object_get_canonical_path(obj);
    monitor_printf(w->mon, "%s, mac %02x:%02x:%02x:%02x:%02x:%02x\n", path,
                   s->cfg.mac[0], s->cfg.mac[1], s->cfg.mac[2], s->cfg.mac[3],
                   s->cfg.mac[4], s->cfg.mac[5]);
    if (w->view) {
        monitor_show_view(w->mon, s, w->view);
        return 0;
    }
    for (i = 0; i < G_N_ELEMENTS(overview); i++) {
        monitor_printf(w->mon, "%s:\n", overview[i]);
        monitor_show_view(w->mon, s, overview[i]);
    }
    return 0;
}

static void monitor_info_erdma(Monitor *mon, const QDict *qdict)
{
    Wanted w = { .mon = mon, .view = qdict_get_try_str(qdict, "view") };

    object_child_foreach_recursive(object_get_root(), monitor_show_card, &w);
    if (!w.cards) {
        monitor_printf(mon, "no card\n");
    }
}

static void monitor_register(void)
{
    monitor_register_hmp("erdma", true, monitor_info_erdma);
}

type_init(monitor_register)

#endif /* ERDMA_PRELOAD */
