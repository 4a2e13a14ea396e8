/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What whoever runs the VM can see of a card and do to it: QOM properties of
 * the device, which work over QMP (qom-get, qom-set) and on the command line
 * (-device erdma,fault=...). Views are structures, so QMP has typed values.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "erdma_pci.h"
#include "erdma_qom.h"

/* ---- views ---- */

typedef struct ToVisitor {
    Visitor *v;
    const char *name;           /* of the outermost */
} ToVisitor;

/* Members of lists have no name, the outermost has that of the property */
static const char *qom_name_of(ToVisitor *t, const char *name)
{
    const char *use = name ?: t->name;

    t->name = NULL;
    return use;
}

/* Nothing here can fail: it is an output visitor that walks no memory */
static void qom_begin(void *opaque, const char *name)
{
    ToVisitor *t = opaque;

    visit_start_struct(t->v, qom_name_of(t, name), NULL, 0, &error_abort);
}

static void qom_end(void *opaque)
{
    ToVisitor *t = opaque;

    visit_check_struct(t->v, &error_abort);
    visit_end_struct(t->v, NULL);
}

static void qom_begin_list(void *opaque, const char *name)
{
    ToVisitor *t = opaque;

    visit_start_list(t->v, qom_name_of(t, name), NULL, 0, &error_abort);
}

static void qom_end_list(void *opaque)
{
    ToVisitor *t = opaque;

    visit_check_list(t->v, &error_abort);
    visit_end_list(t->v, NULL);
}

static void qom_number(void *opaque, const char *name, uint64_t value)
{
    ToVisitor *t = opaque;

    visit_type_uint64(t->v, qom_name_of(t, name), &value, &error_abort);
}

static void qom_flag(void *opaque, const char *name, bool value)
{
    ToVisitor *t = opaque;

    visit_type_bool(t->v, qom_name_of(t, name), &value, &error_abort);
}

static void qom_text(void *opaque, const char *name, const char *value)
{
    ToVisitor *t = opaque;
    char *text = (char *)value;

    visit_type_str(t->v, qom_name_of(t, name), &text, &error_abort);
}

static const ErdmaShowOps to_visitor = {
    .begin = qom_begin,
    .end = qom_end,
    .begin_list = qom_begin_list,
    .end_list = qom_end_list,
    .number = qom_number,
    .flag = qom_flag,
    .text = qom_text,
};

static void qom_get_view(Object *obj, Visitor *v, const char *what,
                         const char *name, Error **errp)
{
    ToVisitor t = { .v = v, .name = name };

    if (visit_is_input(v)) {
        error_setg(errp, "property '%s' can only be read", name);
        return;
    }
    erdma_host_show(ERDMA(obj), what, &to_visitor, &t, errp);
}

/* The name of the property is that of the view */
static void qom_get_named(Object *obj, Visitor *v, const char *name,
                          void *opaque, Error **errp)
{
    qom_get_view(obj, v, opaque, name, errp);
}

static void qom_get_shown(Object *obj, Visitor *v, const char *name,
                          void *opaque, Error **errp)
{
    ErdmaPci *s = ERDMA(obj);

    if (!s->show) {
        error_setg(errp, "set property 'show' first, for instance to \"qp 1\"");
        return;
    }
    qom_get_view(obj, v, s->show, name, errp);
}

static char *qom_get_show(Object *obj, Error **errp)
{
    return g_strdup(ERDMA(obj)->show ?: "");
}

static void qom_set_show(Object *obj, const char *value, Error **errp)
{
    ErdmaPci *s = ERDMA(obj);

    if (s->core && !erdma_host_show(s, value, NULL, NULL, errp)) {
        return;
    }
    g_free(s->show);
    s->show = g_strdup(value);
}

/* ---- faults ---- */

/*
 * Several lines stand between semicolons. All of them are in force, or, if one
 * is wrong, none is.
 */
static bool qom_add_faults(ErdmaPci *s, const char *text, Error **errp)
{
    g_auto(GStrv) lines = g_strsplit_set(text, ";\n", -1);
    g_autoptr(GArray) added = g_array_new(false, false, sizeof(uint32_t));
    bool any = false;
    unsigned i;

    for (i = 0; lines[i]; i++) {
        uint32_t id;

        if (!*g_strstrip(lines[i])) {
            continue;
        }
        any = true;
        if (!erdma_host_add_fault(s, lines[i], &id, errp)) {
            break;
        }
        g_array_append_val(added, id);
    }
    if (!lines[i] && any) {
        return true;
    }
    if (!any) {
        error_setg(errp, "no fault given");
    }
    for (i = 0; i < added->len; i++) {
        g_autofree char *id = g_strdup_printf("%u", g_array_index(added,
                                                                  uint32_t,
                                                                  i));

        erdma_host_clear_fault(s, id, NULL);
    }
    return false;
}

/* Before there is a card the lines are stored for it */
static void qom_set_fault(Object *obj, const char *value, Error **errp)
{
    ErdmaPci *s = ERDMA(obj);

    if (s->core) {
        qom_add_faults(s, value, errp);
    } else if (s->first_faults) {
        g_autofree char *before = s->first_faults;

        s->first_faults = g_strconcat(before, ";", value, NULL);
    } else {
        s->first_faults = g_strdup(value);
    }
}

static void qom_set_fault_clear(Object *obj, const char *value, Error **errp)
{
    ErdmaPci *s = ERDMA(obj);

    if (!s->core) {
        g_free(s->first_faults);
        s->first_faults = NULL;
        return;
    }
    erdma_host_clear_fault(s, value, errp);
}

/* ---- meters ---- */

static uint64_t *qom_limit_of(ErdmaPci *s, void *opaque)
{
    return (uint64_t *)((char *)&s->limits + (uintptr_t)opaque);
}

static void qom_get_limit(Object *obj, Visitor *v, const char *name,
                          void *opaque, Error **errp)
{
    uint64_t value = *qom_limit_of(ERDMA(obj), opaque);

    visit_type_size(v, name, &value, errp);
}

/* At any time, also while the guest works */
static void qom_set_limit(Object *obj, Visitor *v, const char *name,
                          void *opaque, Error **errp)
{
    ErdmaPci *s = ERDMA(obj);
    uint64_t *limit = qom_limit_of(s, opaque), before = *limit;
    uint64_t value;

    if (!visit_type_size(v, name, &value, errp)) {
        return;
    }
    if (value > INT64_MAX) {            /* -1 comes as 2^64 - 1 */
        error_setg(errp, "property '%s' is not negative", name);
        return;
    }
    *limit = value;
    if (s->core && !erdma_host_set_limits(s, errp)) {
        *limit = before;
    }
}

/* ---- all of them ---- */

static void qom_add_view(ObjectClass *oc, const char *name, const char *text)
{
    object_class_property_add(oc, name, "struct", qom_get_named, NULL, NULL,
                              (void *)name);
    object_class_property_set_description(oc, name, text);
}

static void qom_add_limit(ObjectClass *oc, const char *name, size_t offset,
                          const char *text)
{
    object_class_property_add(oc, name, "size", qom_get_limit, qom_set_limit,
                              NULL, (void *)offset);
    object_class_property_set_description(oc, name, text);
}

#define ADD_LIMIT(oc, name, field, text) \
    qom_add_limit(oc, name, offsetof(ErdmaLimits, field), text)

void erdma_qom_class_init(ObjectClass *oc)
{
    qom_add_view(oc, "registers", "registers as they are inside the card");
    qom_add_view(oc, "statistics", "what the card counted since reset");
    qom_add_view(oc, "queues", "command queue and event queues");
    qom_add_view(oc, "qps", "queue pairs, the first 256");
    qom_add_view(oc, "cqs", "completion queues, the first 256");
    qom_add_view(oc, "mrs", "memory regions, the first 256");
    qom_add_view(oc, "connections", "connected queue pairs, the first 256");
    qom_add_view(oc, "peers", "other processes in the fabric's directory");
    qom_add_view(oc, "faults", "faults in force and their hits");
    object_class_property_add_str(oc, "show", qom_get_show, qom_set_show);
    object_class_property_set_description(oc, "show",
        "what 'shown' shows: qp N, ring cq N, qps FROM, ...");
    object_class_property_add(oc, "shown", "struct", qom_get_shown, NULL, NULL,
                              NULL);
    object_class_property_set_description(oc, "shown",
                                          "what 'show' asked for");
    object_class_property_add_str(oc, "fault", NULL, qom_set_fault);
    object_class_property_set_description(oc, "fault",
        "things that go wrong on purpose: 'drop cqe qpn=17 count=1; ...'");
    object_class_property_add_str(oc, "fault-clear", NULL, qom_set_fault_clear);
    object_class_property_set_description(oc, "fault-clear",
                                          "number of a fault, or 'all'");
    ADD_LIMIT(oc, "rate-limit", bytes, "bytes per second, 0 = no limit");
    ADD_LIMIT(oc, "message-limit", messages, "messages per second");
    ADD_LIMIT(oc, "qp-rate-limit", qp_bytes, "bytes per second of each QP");
    ADD_LIMIT(oc, "qp-message-limit", qp_messages,
              "messages per second of each QP");
}

/* The card is there: what was asked for before takes effect */
bool erdma_qom_realize(ErdmaPci *s, Error **errp)
{
    if (s->show && !erdma_host_show(s, s->show, NULL, NULL, errp)) {
        return false;
    }
    return erdma_host_set_limits(s, errp) &&
           (!s->first_faults || qom_add_faults(s, s->first_faults, errp));
}

void erdma_qom_finalize(ErdmaPci *s)
{
    g_free(s->show);
    g_free(s->first_faults);
}
