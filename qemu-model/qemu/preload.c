/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device as a shared object for a QEMU that was built without it:
 *
 *     env LD_PRELOAD=/path/erdma-qemu.so qemu-system-x86_64 -device erdma,...
 *
 * QEMU's structures are private to one build of it. So this object knows what
 * it was built for and refuses everything else, before QEMU's main(). All of
 * its undefined symbols are weak: in a process that is not QEMU (timeout, a
 * shell, a helper) it loads, and does nothing.
 */
#include "qemu/osdep.h"
#include <dlfcn.h>
#include <link.h>
#include "qapi/qapi-types-control.h"
#include "qapi/qapi-commands-control.h"
#include "hw/pci/msix.h"
#include "erdma_pci.h"

#define ME "erdma-qemu.so: "

/* Symbols that the C runtime leaves undefined on purpose */
static bool preload_optional_symbol(const char *name)
{
    return g_str_has_prefix(name, "_ITM_") || !strcmp(name, "__gmon_start__");
}

/*
 * Is everything there that the device is going to call? The dynamic symbol
 * table is read from our own image: DT_HASH says how long it is.
 */
static const char *preload_missing_symbol(void)
{
    const ElfW(Sym) *sym = NULL;
    const uint32_t *hash = NULL;
    const char *names = NULL;
    struct link_map *map;
    const ElfW(Dyn) *d;
    Dl_info info;
    uint32_t i;

    if (!dladdr1(preload_missing_symbol, &info, (void **)&map,
                 RTLD_DL_LINKMAP)) {
        return "dladdr";
    }
    for (d = map->l_ld; d->d_tag != DT_NULL; d++) {
        switch (d->d_tag) {
        case DT_SYMTAB:
            sym = (const void *)d->d_un.d_ptr;
            break;
        case DT_STRTAB:
            names = (const void *)d->d_un.d_ptr;
            break;
        case DT_HASH:
            hash = (const void *)d->d_un.d_ptr;
            break;
        }
    }
    if (!sym || !names || !hash) {
        return "DT_HASH";
    }
    for (i = 1; i < hash[1]; i++) {
        const char *name = names + sym[i].st_name;

        if (sym[i].st_shndx == SHN_UNDEF && !preload_optional_symbol(name) &&
            !dlsym(RTLD_DEFAULT, name)) {
            return name;
        }
    }
    return NULL;
}

/*
 * "Debian 1:7.2+dfsg-7+deb12u18+b3" was built from the source package
 * 1:7.2+dfsg-7+deb12u18, whose headers we have.
 */
static bool preload_same_package(const char *running)
{
    const char *at = strstr(running, ERDMA_QEMU_PACKAGE);

    if (!*ERDMA_QEMU_PACKAGE) {
        return true;                /* not a distribution's source */
    }
    if (!at) {
        return false;
    }
    at += strlen(ERDMA_QEMU_PACKAGE);
    if (g_str_has_prefix(at, "+b")) {
        at += 2;
        while (g_ascii_isdigit(*at)) {
            at++;
        }
    }
    return !*at || *at == ')';
}

/* Not error_report(): the monitor it would ask for does not exist yet. */
G_GNUC_PRINTF(1, 2)
static void preload_refuse(const char *fmt, ...)
{
    va_list ap;

    fputs(ME, stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputs("\n" ME "install the erdma-qemu-model made for this QEMU, or build "
          "it from source: make model\n", stderr);
    _exit(1);
}

static void preload_check_version(void)
{
    VersionInfo *v = qmp_query_version(NULL);

    if (v->qemu->major != QEMU_VERSION_MAJOR ||
        v->qemu->minor != QEMU_VERSION_MINOR ||
        v->qemu->micro != QEMU_VERSION_MICRO ||
        !preload_same_package(v->package)) {
        preload_refuse("made for QEMU %d.%d.%d (%s), but this is %d.%d.%d (%s)",
                       QEMU_VERSION_MAJOR, QEMU_VERSION_MINOR,
                       QEMU_VERSION_MICRO, ERDMA_QEMU_PACKAGE,
                       (int)v->qemu->major, (int)v->qemu->minor,
                       (int)v->qemu->micro, v->package);
    }
    qapi_free_VersionInfo(v);
}

/*
 * The same source, but other configure switches? All types are registered when
 * QEMU calls this.
 */
static void preload_check_layout(void)
{
    static const struct {
        const char *type;
        size_t size;
    } known[] = {
        { TYPE_DEVICE, sizeof(DeviceState) },
        { TYPE_PCI_DEVICE, sizeof(PCIDevice) },
        { TYPE_MEMORY_REGION, sizeof(MemoryRegion) },
        { TYPE_MACHINE, sizeof(MachineState) },
    };
    unsigned i;

    for (i = 0; i < G_N_ELEMENTS(known); i++) {
        size_t size = object_type_get_instance_size(known[i].type);

        if (size != known[i].size) {
            preload_refuse("a '%s' has %zu bytes in this QEMU, %zu expected",
                           known[i].type, size, known[i].size);
        }
    }
}

static void __attribute__((constructor)) preload(void)
{
    const char *missing;

    if (!dlsym(RTLD_DEFAULT, "register_module_init") ||
        !dlsym(RTLD_DEFAULT, "pci_register_bar") ||
        !dlsym(RTLD_DEFAULT, "qmp_query_version")) {
        return;
    }
    unsetenv("LD_PRELOAD");         /* not for what QEMU starts */
    preload_check_version();
    missing = preload_missing_symbol();
    if (missing) {
        preload_refuse("this QEMU does not offer the symbol '%s'", missing);
    }
    register_module_init(trace_hw_erdma_register_events, MODULE_INIT_TRACE);
    register_module_init(erdma_register_types, MODULE_INIT_QOM);
    register_module_init(preload_check_layout, MODULE_INIT_MIGRATION);
}
