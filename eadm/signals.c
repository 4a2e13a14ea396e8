// SPDX-License-Identifier: GPL-2.0-or-later
/* Signals that are caught, unless whoever started the program wants them ignored. */
#include "signals.h"

/**
 * signal_catch - catch a signal, unless it is ignored
 * @sig: signal
 * @fn: handler
 * @flags: SA_*
 * @before: filled with what was done before, or NULL
 *
 * nohup has SIGHUP ignored, a shell without job control SIGINT and SIGQUIT of what it runs in the
 * background: that stays so.
 *
 * Return: true if @fn gets it from now on.
 */
bool signal_catch(int sig, void (*fn)(int sig), int flags, struct sigaction *before)
{
	struct sigaction act = { .sa_handler = fn, .sa_flags = flags }, was;

	if (sigaction(sig, NULL, &was) || was.sa_handler == SIG_IGN)
		return false;
	if (before)
		*before = was;
	return !sigaction(sig, &act, NULL);
}
