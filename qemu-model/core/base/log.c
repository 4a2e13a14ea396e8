/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages for whoever runs the card. Guests and peers cannot flood them. */
#include <stdio.h>

#include "core_int.h"

static void log_line(ErdmaCore *c, ErdmaLogLevel level, const char *fmt,
                     va_list ap)
{
    char line[ERDMA_LIMIT_LOG_LINE];

    vsnprintf(line, sizeof(line), fmt, ap);
    c->ops->log(c->opaque, level, line);
}

void erdma_log(ErdmaCore *c, ErdmaLogLevel level, const char *fmt, ...)
{
    va_list ap;

    if (c->ops->log) {
        va_start(ap, fmt);
        log_line(c, level, fmt, ap);
        va_end(ap);
    }
}

/* The first few of each second */
static bool log_may(ErdmaCore *c)
{
    uint64_t second;

    if (!c->ops->log) {
        return false;
    }
    second = c->ops->now(c->opaque) / 1000000000ull;
    if (second != c->log_second) {
        c->log_second = second;
        c->log_lines = 0;
    }
    if (c->log_lines >= ERDMA_LIMIT_LOG_PER_SECOND) {
        return false;
    }
    c->log_lines++;
    return true;
}

void erdma_peer_info(ErdmaCore *c, const char *fmt, ...)
{
    va_list ap;

    if (c->log_level >= ERDMA_LOG_INFO && log_may(c)) {
        va_start(ap, fmt);
        log_line(c, ERDMA_LOG_INFO, fmt, ap);
        va_end(ap);
    }
}

/* Every guest error is counted */
void erdma_guest_error(ErdmaCore *c, const char *fmt, ...)
{
    va_list ap;

    c->n.guest_errors++;
    if (!log_may(c)) {
        return;
    }
    va_start(ap, fmt);
    log_line(c, ERDMA_LOG_GUEST_ERROR, fmt, ap);
    va_end(ap);
}
