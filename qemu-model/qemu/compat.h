/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One source for QEMU 7.2 up to today: where headers moved and signatures
 * changed is known here and nowhere else. Include after qemu/osdep.h.
 */
#ifndef HW_ERDMA_COMPAT_H
#define HW_ERDMA_COMPAT_H

#define ERDMA_QEMU_SINCE(major, minor) \
    (QEMU_VERSION_MAJOR > (major) || \
     (QEMU_VERSION_MAJOR == (major) && QEMU_VERSION_MINOR >= (minor)))

#if __has_include("hw/pci/pci_device.h")        /* 8.0 */
#include "hw/pci/pci_device.h"
#else
#include "hw/pci/pci.h"
#endif

#if __has_include("hw/core/qdev-properties.h")
#include "hw/core/qdev-properties.h"
#else
#include "hw/qdev-properties.h"
#endif

#if __has_include("system/runstate.h")          /* 10.0 */
#include "system/runstate.h"
#else
#include "sysemu/runstate.h"
#endif

#if __has_include("system/memory.h")            /* 10.1 */
#include "system/memory.h"
#else
#include "exec/memory.h"
#endif

#if __has_include("system/ramblock.h")          /* 10.1 */
#include "system/ramblock.h"
#else
#include "exec/ramblock.h"
#endif

#if __has_include("system/system.h")            /* 10.0 */
#include "system/system.h"
#else
#include "sysemu/sysemu.h"
#endif

#if __has_include("hw/core/boards.h")           /* 10.2 */
#include "hw/core/boards.h"
#else
#include "hw/boards.h"
#endif

#include "qapi/error.h"
#include "migration/blocker.h"
#if __has_include("qobject/qdict.h")            /* 10.0 */
#include "qobject/qdict.h"
#else
#include "qapi/qmp/qdict.h"
#endif

#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "qemu/notify.h"

/* 8.1, and stable updates of 7.2 */
#ifndef qemu_bh_new_guarded
#define qemu_bh_new_guarded(cb, opaque, guard)  qemu_bh_new((cb), (opaque))
#endif

/* 10.0: property lists are const and have no terminator */
#if ERDMA_QEMU_SINCE(10, 0)
typedef const Property ErdmaProperty;
#define ERDMA_PROP_END
#else
typedef Property ErdmaProperty;
#define ERDMA_PROP_END  DEFINE_PROP_END_OF_LIST()
#endif

/* 10.1: class data is const */
#if ERDMA_QEMU_SINCE(10, 1)
typedef const void ErdmaClassData;
#else
typedef void ErdmaClassData;
#endif

static inline void erdma_set_reset(DeviceClass *dc, void (*fn)(DeviceState *))
{
#if ERDMA_QEMU_SINCE(9, 2)
    device_class_set_legacy_reset(dc, fn);
#else
    dc->reset = fn;
#endif
}

/* 10.0: the access attributes matter; earlier trees take two arguments */
static inline bool erdma_access_is_direct(MemoryRegion *mr, bool is_write)
{
#if ERDMA_QEMU_SINCE(10, 0)
    return memory_access_is_direct(mr, is_write, MEMTXATTRS_UNSPECIFIED);
#else
    return memory_access_is_direct(mr, is_write);
#endif
}

/* 8.1: a memory backend can begin in the middle of its file */
static inline uint64_t erdma_ram_fd_offset(const RAMBlock *rb)
{
#if ERDMA_QEMU_SINCE(8, 1)
    return rb->fd_offset;
#else
    return 0;
#endif
}

/* 9.0: the big lock got a shorter name */
static inline void erdma_bql_lock(void)
{
#if ERDMA_QEMU_SINCE(9, 0)
    bql_lock();
#else
    qemu_mutex_lock_iothread();
#endif
}

static inline void erdma_bql_unlock(void)
{
#if ERDMA_QEMU_SINCE(9, 0)
    bql_unlock();
#else
    qemu_mutex_unlock_iothread();
#endif
}

/* 8.2: the reason is owned by the list of blockers */
static inline bool erdma_block_migration(Error **reason, Error **errp)
{
#if ERDMA_QEMU_SINCE(8, 2)
    return migrate_add_blocker(reason, errp) == 0;
#else
    if (migrate_add_blocker(*reason, errp) < 0) {
        error_free(*reason);
        *reason = NULL;
        return false;
    }
    return true;
#endif
}

static inline void erdma_allow_migration(Error **reason)
{
#if ERDMA_QEMU_SINCE(8, 2)
    migrate_del_blocker(reason);
#else
    if (*reason) {
        migrate_del_blocker(*reason);
        error_free(*reason);
        *reason = NULL;
    }
#endif
}

/*
 * The preloaded build registers the type itself, after it has made sure that
 * it runs inside the QEMU it was built for (preload.c); the trace events, too.
 */
#ifdef ERDMA_PRELOAD
void erdma_register_types(void);
void trace_hw_erdma_register_events(void);
#define ERDMA_TYPE_INIT(fn) void erdma_register_types(void) { fn(); }
#else
#define ERDMA_TYPE_INIT(fn) type_init(fn)
#endif

#endif /* HW_ERDMA_COMPAT_H */
