/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals that are caught, unless whoever started the program wants them ignored. */
#ifndef EADM_SIGNALS_H
#define EADM_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

bool signal_catch(int sig, void (*fn)(int sig), int flags, struct sigaction *before);

#endif /* EADM_SIGNALS_H */
